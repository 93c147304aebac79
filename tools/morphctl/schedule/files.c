// SPDX-License-Identifier: GPL-2.0-or-later
/* Files of other programs: read the bytes that ranks send, and write plans. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <morph/formats.h>

#include "morphctl/input/input.h"
#include "morphctl/schedule/schedule.h"

#define NAME "morphctl" /* name of the algorithm in the file */

/* Options that name a file, and the functions that read it. */
struct source {
	enum option_id option;
	enum exit_code (*read)(struct planning *planning, const char *path);
};

static void name_it(struct planning *planning, const char *path, uint32_t ranks)
{
	const char *name = strrchr(path, '/');

	snprintf(planning->title, sizeof(planning->title), "%.100s among %u rank%s",
		 name ? name + 1 : path, ranks, PLURAL(ranks));
}

/* ----------------------------------------------------------- bytes from each to each */

static void take_matrix(struct planning *planning, const char *path, uint64_t *matrix,
			uint32_t ranks)
{
	planning->matrix = matrix;
	planning->wanted.kind = MORPH_ALL_TO_ALL;
	planning->wanted.ranks = ranks;
	planning->wanted.matrix = matrix;
	name_it(planning, path, ranks);
}

static enum exit_code read_matrix(struct planning *planning, const char *path)
{
	uint64_t *matrix;
	uint32_t ranks;
	enum exit_code code = matrix_read(path, &matrix, &ranks);

	if (!code)
		take_matrix(planning, path, matrix, ranks);
	return code;
}

/*
 * Find the highest rank in the lines that describe messages. Returns that rank plus one, and its
 * line. The reader of the format checks the rest.
 */
static uint32_t ranks_named(const char *text, uint32_t *line)
{
	uint32_t ranks = 0, own, other;

	for (uint32_t number = 1; text; text = strchr(text, '\n'), number++) {
		char kind, begins[64];

		/* Only the beginning matters. sscanf() takes the length of its whole input. */
		text += *text == '\n';
		snprintf(begins, sizeof(begins), "%.*s", (int)strcspn(text, "\n"), text);
		if (sscanf(begins, " %c%*[ \t]%u%*[ \t]%u", &kind, &own, &other) != 3 ||
		    !strchr("EISR", kind))
			continue;
		own = own > other ? own : other;
		if (own < UINT32_MAX && own >= ranks) {
			ranks = own + 1;
			*line = number;
		}
	}
	return ranks;
}

static bool is_there(const char *prefix, uint32_t rank, const char *ending)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s.%u.%s", prefix, rank, ending);
	return !access(path, F_OK);
}

/*
 * Count the files PREFIX.0.ENDING, PREFIX.1.ENDING, and so on. None before the last may be missing.
 */
static enum exit_code count_files(const char *prefix, const char *ending, uint32_t *count)
{
	uint32_t missing = 0;

	*count = 0;
	for (uint32_t rank = 0; rank <= MOST_RANKS; rank++)
		if (is_there(prefix, rank, ending))
			*count = rank + 1;
	while (missing < *count && is_there(prefix, missing, ending))
		missing++;
	if (missing == *count)
		return EXIT_CODE_OK;
	warn_line("%s.%u.%s: %s, but a file of rank %u exists", prefix, missing, ending,
		  strerror(ENOENT), *count - 1);
	return EXIT_CODE_NOT_FOUND;
}

static enum exit_code read_file(const char *path, char **text, size_t *length)
{
	enum exit_code code = input_whole(path, text, length);

	return code || *length ? code : refuse_file(path, "the file is empty");
}

static enum exit_code add_profile(uint64_t *matrix, uint32_t ranks, const char *path)
{
	char *text, why[256];
	size_t length;
	enum exit_code code = read_file(path, &text, &length);

	if (!code && morph_monitoring_read(matrix, ranks, text, length, why, sizeof(why)))
		code = refuse_file(path, why);
	free(text);
	return code;
}

static enum exit_code count_ranks(const char *path, const char *text, uint32_t *ranks)
{
	uint32_t line = 0;

	*ranks = ranks_named(text, &line);
	if (!*ranks)
		return refuse_file(path, "the file has no messages");
	if (*ranks <= MOST_RANKS)
		return EXIT_CODE_OK;
	warn_line("%s: line %u: rank %u; ranks must be below %u", path, line, *ranks - 1,
		  MOST_RANKS);
	return EXIT_CODE_USAGE;
}

static uint64_t *new_matrix(uint32_t ranks)
{
	return needed(calloc((size_t)ranks * ranks, sizeof(uint64_t)));
}

/* Read all ranks from one file. Read it once, because it can be a pipe. */
static enum exit_code read_one_profile(const char *path, uint64_t **matrix, uint32_t *ranks)
{
	char *text, why[256];
	size_t length;
	enum exit_code code = read_file(path, &text, &length);

	if (!code && !*ranks)
		code = count_ranks(path, text, ranks);
	if (!code && *ranks) {
		*matrix = new_matrix(*ranks);
		if (morph_monitoring_read(*matrix, *ranks, text, length, why, sizeof(why)))
			code = refuse_file(path, why);
	}
	free(text);
	if (code == EXIT_CODE_NOT_FOUND)
		warn_line("no file %s.0.prof either", path);
	return code;
}

static enum exit_code read_all_profiles(const char *path, uint32_t files, uint64_t **matrix,
					uint32_t *ranks)
{
	enum exit_code code = EXIT_CODE_OK;

	if (files > MOST_RANKS)
		return refuse_file(path, "files of more than 4096 ranks");
	if (!*ranks)
		*ranks = files;
	*matrix = new_matrix(*ranks);
	for (uint32_t rank = 0; !code && rank < files; rank++) {
		char name[4096];

		snprintf(name, sizeof(name), "%s.%u.prof", path, rank);
		code = add_profile(*matrix, *ranks, name);
	}
	return code;
}

static enum exit_code read_profiles(struct planning *planning, const char *path)
{
	const struct run *run = planning->run;
	uint32_t ranks = planning->wanted.ranks, files = 0;
	uint64_t *matrix = NULL;
	enum exit_code code = EXIT_CODE_OK;

	if (given(run, OPTION_RANKS) && (!ranks || ranks > MOST_RANKS))
		return usage_error(run, "--ranks must be 1 to %u, not '%s'", MOST_RANKS,
				   run->option[OPTION_RANKS]);
	if (strcmp(path, "-") && access(path, F_OK))
		code = count_files(path, "prof", &files);
	if (!code)
		code = files ? read_all_profiles(path, files, &matrix, &ranks) :
			       read_one_profile(path, &matrix, &ranks);
	if (code)
		free(matrix);
	else
		take_matrix(planning, path, matrix, ranks);
	return code;
}

/* ------------------------------------------------------------------- with rounds */

/* The reader of traces does not check that each part is summed once. */
static enum exit_code take_rounds(struct planning *planning, const char *path)
{
	int error = morph_collective_run(planning->collective, NULL);

	if (error == -EBADMSG)
		return refuse_file(path, morph_error_text(planning->run->client->ctx));
	if (error)
		return client_error(planning->run, error);
	planning->rounds_given = true;
	planning->wanted.ranks = collective_info(planning->collective).ranks;
	name_it(planning, path, collective_info(planning->collective).ranks);
	return EXIT_CODE_OK;
}

static enum exit_code read_msccl(struct planning *planning, const char *path)
{
	char *text, why[256];
	size_t length;
	enum exit_code code = input_whole(path, &text, &length);

	if (!code && morph_msccl_read(planning->collective, text, length, planning->wanted.bytes,
				      why, sizeof(why)))
		code = refuse_file(path, why);
	free(text);
	return code ? code : take_rounds(planning, path);
}

static enum exit_code add_trace(struct morph_trace *trace, uint32_t rank, const char *path)
{
	char *data, why[256];
	size_t length;
	enum exit_code code = read_file(path, &data, &length);

	if (!code && morph_trace_read(trace, rank, data, length, why, sizeof(why)))
		code = refuse_file(path, why);
	free(data);
	return code;
}

static enum exit_code read_chakra(struct planning *planning, const char *path)
{
	struct morph_trace *trace = needed(morph_trace_new());
	uint32_t files;
	enum exit_code code = count_files(path, "et", &files);
	char why[256];

	if (!code && !files) {
		warn_line("%s.0.et: %s", path, strerror(ENOENT));
		code = EXIT_CODE_NOT_FOUND;
	}
	for (uint32_t rank = 0; !code && rank < files; rank++) {
		char name[4096];

		snprintf(name, sizeof(name), "%s.%u.et", path, rank);
		code = add_trace(trace, rank, name);
	}
	if (!code && morph_trace_convert(trace, planning->collective, why, sizeof(why)))
		code = refuse_file(path, why);
	morph_trace_free(trace);
	return code ? code : take_rounds(planning, path);
}

/* ------------------------------------------------------------------------- which */

static const struct source sources[] = {
	{ OPTION_MATRIX, read_matrix },
	{ OPTION_FROM_OMPI_PROF, read_profiles },
	{ OPTION_FROM_MSCCL, read_msccl },
	{ OPTION_FROM_CHAKRA, read_chakra },
};

#define SOURCES (sizeof(sources) / sizeof(sources[0]))

static const struct source *source_of(const struct run *run)
{
	const struct source *source = sources;

	while (!given(run, source->option))
		source++;
	return source;
}

/* Reject options that a file with rounds makes meaningless. */
static enum exit_code check_options(const struct run *run)
{
	static const enum option_id of_names[] = { OPTION_TORUS, OPTION_ROOT, OPTION_LATE },
				    of_matrices[] = { OPTION_ALGORITHM, OPTION_RADIX,
						      OPTION_SEGMENTS, OPTION_RANKS };
	const struct source *source = source_of(run);
	bool rounds = source->option == OPTION_FROM_MSCCL || source->option == OPTION_FROM_CHAKRA;
	enum option_id culprit = OPTION_COUNT_OF;

	for (size_t at = 0; at < sizeof(of_names) / sizeof(of_names[0]); at++)
		if (given(run, of_names[at]))
			culprit = of_names[at];
	for (size_t at = 0; rounds && at < sizeof(of_matrices) / sizeof(of_matrices[0]); at++)
		if (given(run, of_matrices[at]))
			culprit = of_matrices[at];
	if (source->option == OPTION_MATRIX && given(run, OPTION_RANKS))
		culprit = OPTION_RANKS;
	if (source->option != OPTION_FROM_MSCCL && given(run, OPTION_BUFFER_BYTES))
		culprit = OPTION_BUFFER_BYTES;
	return culprit == OPTION_COUNT_OF ?
		       EXIT_CODE_OK :
		       usage_error(run, "--%s and --%s are mutually exclusive",
				   option_specs[source->option].name, option_specs[culprit].name);
}

enum exit_code from_file(const struct run *run, bool *file)
{
	int count = run->argc;

	for (size_t at = 0; at < SOURCES; at++)
		count += given(run, sources[at].option);
	if (count != 1)
		return usage_error(
			run,
			"requires exactly one of a collective, --matrix, --from-ompi-prof, --from-msccl and --from-chakra");
	*file = !run->argc;
	if (given(run, OPTION_COMBINE) && !given(run, OPTION_MATRIX) &&
	    !given(run, OPTION_FROM_OMPI_PROF))
		return usage_error(run, "--combine requires --matrix or --from-ompi-prof");
	if (given(run, OPTION_COMBINE) && given(run, OPTION_POLICY) &&
	    strcmp(run->option[OPTION_POLICY], "best") &&
	    strcmp(run->option[OPTION_POLICY], "matchings"))
		return usage_error(run, "--combine requires --policy matchings, not '%s'",
				   run->option[OPTION_POLICY]);
	return *file ? check_options(run) : EXIT_CODE_OK;
}

enum exit_code ask_file(struct planning *planning)
{
	const struct source *source = source_of(planning->run);
	enum exit_code code = source->read(planning, planning->run->option[source->option]);

	return code || planning->rounds_given ? code : plan_check_options(planning);
}

/* ------------------------------------------------------------------------ written */

/* The library's writer runs twice: first for the size, then for the text. */
static ssize_t write_msccl(const struct planning *planning, char *buffer, size_t bytes, char *why,
			   size_t room)
{
	return morph_msccl_write(planning->collective, NAME, buffer, bytes, why, room);
}

/* The name of the algorithm. Rounds of a file have none. */
static const char *name_of(const struct planning *planning)
{
	uint32_t algorithm = planning->wanted.algorithm;

	for (uint32_t at = 1; at < MORPH_ALGORITHMS; at++)
		if (planning->choices[at].chosen)
			algorithm = at;
	return algorithm ? morph_enum_name(MORPH_ENUM_ALGORITHM, algorithm) : "custom";
}

static ssize_t write_segments(const struct planning *planning, char *buffer, size_t bytes,
			      char *why, size_t room)
{
	return morph_segments_write(planning->schedule, planning->collective, planning->delay,
				    name_of(planning), buffer, bytes, why, room);
}

static enum exit_code write_text(const char *path, const char *text, size_t length)
{
	bool standard = !strcmp(path, "-"), written;
	FILE *file = standard ? stdout : fopen(path, "we");

	if (!file) {
		warn_line("%s: %s", path, strerror(errno));
		return EXIT_CODE_FAILED;
	}
	written = fwrite(text, 1, length, file) == length;
	if ((standard ? fflush(file) : fclose(file)) || !written) {
		warn_line("%s: %s", path, strerror(errno));
		return EXIT_CODE_FAILED;
	}
	return EXIT_CODE_OK;
}

static enum exit_code write_one(const struct planning *planning, enum option_id option,
				ssize_t (*write)(const struct planning *planning, char *buffer,
						 size_t bytes, char *why, size_t room))
{
	const char *path = planning->run->option[option];
	char why[256] = "";
	ssize_t bytes = write(planning, NULL, 0, why, sizeof(why));
	char *text = needed(malloc(bytes > 0 ? (size_t)bytes : 1));
	enum exit_code code = EXIT_CODE_FAILED;

	if (bytes > 0)
		bytes = write(planning, text, (size_t)bytes, why, sizeof(why));
	if (bytes <= 0)
		warn_line("cannot write %s: %s", path, why);
	else if (option != OPTION_TO_SEGMENTS ||
		 topologies_return(planning, path, text, (size_t)bytes))
		code = write_text(path, text, (size_t)bytes);
	free(text);
	return code;
}

/* A plan without paths for its circuits has no steps. Report that the file is not written. */
static enum exit_code write_steps(const struct planning *planning, const char *path)
{
	json_t *document;
	enum exit_code code;
	char *text;

	if (planning->light.verdict != MORPH_FEASIBLE) {
		warn_line("cannot write %s: %s", path,
			  planning->light.verdict ? planning->light.why :
						    schedule_result(planning->schedule).why);
		return EXIT_CODE_FAILED;
	}
	document = steps_document(planning->steps);
	text = needed(json_dumps(document, JSON_INDENT(1)));
	code = write_text(path, text, strlen(text));
	free(text);
	json_decref(document);
	return code;
}

static uint32_t count_standard(const struct run *run)
{
	static const enum option_id all[] = { OPTION_TO_MSCCL, OPTION_TO_SEGMENTS,
					      OPTION_TO_STEPS };
	uint32_t count = 0;

	for (size_t at = 0; at < sizeof(all) / sizeof(all[0]); at++)
		count += given(run, all[at]) && !strcmp(run->option[all[at]], "-");
	return count;
}

bool export_is_answer(const struct run *run)
{
	return count_standard(run);
}

enum exit_code export_check(const struct run *run)
{
	uint32_t count = count_standard(run);

	if (count > 1)
		return usage_error(run, "only one file may use standard output, not %u", count);
	if (count && (given(run, OPTION_JSON) || given(run, OPTION_PLAN_FORMAT) ||
		      given(run, OPTION_FIELDS) || given(run, OPTION_LOAD)))
		return usage_error(
			run,
			"a file at '-' replaces the answer: omit --format, --json, --fields and --load");
	return EXIT_CODE_OK;
}

enum exit_code write_files(const struct planning *planning)
{
	const struct run *run = planning->run;
	enum exit_code code = EXIT_CODE_OK;

	if (given(run, OPTION_TO_MSCCL))
		code = write_one(planning, OPTION_TO_MSCCL, write_msccl);
	if (!code && given(run, OPTION_TO_SEGMENTS))
		code = write_one(planning, OPTION_TO_SEGMENTS, write_segments);
	if (!code && given(run, OPTION_TO_STEPS))
		code = write_steps(planning, run->option[OPTION_TO_STEPS]);
	return code;
}

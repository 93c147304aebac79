// SPDX-License-Identifier: GPL-2.0-or-later
/* Plans for other programs: what libmorph-formats writes, into files. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <morph/formats.h>

#include "plan.h"

#define NAME "morphctl"

/* What is written has been asked for twice: for its size, and itself. */
static ssize_t write_msccl(const struct planning *planning, char *buffer, size_t bytes, char *why,
			   size_t room)
{
	return morph_msccl_write(planning->collective, NAME, buffer, bytes, why, room);
}

/* The algorithm's; rounds of a file have none. */
static const char *name_of(const struct planning *planning)
{
	uint32_t algorithm = planning->wanted.algorithm;

	for (uint32_t at = 1; at < MORPH_ALGORITHMS; at++)
		if (planning->choices[at].chosen)
			algorithm = at;
	return algorithm ? morph_algorithm_name(algorithm) : "custom";
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
		warn_line("%s is not written: %s", path, why);
	else if (option != OPTION_TO_SEGMENTS ||
		 topologies_return(planning, path, text, (size_t)bytes))
		code = write_text(path, text, (size_t)bytes);
	free(text);
	return code;
}

/* Where light has no ways there are no steps: that is said with the plan, which comes to nothing then. */
static enum exit_code write_steps(const struct planning *planning, const char *path)
{
	json_t *document;
	enum exit_code code;
	char *text;

	if (planning->light.verdict != MORPH_FEASIBLE) {
		warn_line("%s is not written: %s", path,
			  planning->light.verdict ? planning->light.why :
						    morph_schedule_why(planning->schedule));
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
		return usage_error(run, "one file alone can go to standard output, not %u", count);
	if (count && (given(run, OPTION_JSON) || given(run, OPTION_PLAN_FORMAT) ||
		      given(run, OPTION_FIELDS) || given(run, OPTION_LOAD)))
		return usage_error(
			run,
			"a file that goes to '-' takes the place of the answer: leave out --format, --json, --fields and --load");
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

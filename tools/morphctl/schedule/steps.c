// SPDX-License-Identifier: GPL-2.0-or-later
/* Read and write the file of steps for morphctl schedule load. */
#include <stdlib.h>
#include <string.h>

#include "morphctl/input/input.h"
#include "morphctl/schedule/schedule.h"

struct reader {
	struct run *run;
	const char *path;
	struct morph_steps *steps;
	char where[32]; /* the part being read, and ": " */
};

static enum exit_code wrong(const struct reader *reader, const char *what)
{
	warn_line("%s: %s%s", reader->path, reader->where, what);
	return EXIT_CODE_USAGE;
}

/* Report the library's error with the part of the file. */
static enum exit_code refused(const struct reader *reader, int error)
{
	warn_line("%s: %s%s", reader->path, reader->where,
		  morph_error_text(reader->run->client->ctx));
	return exit_of_errno(-error) == EXIT_CODE_FAILED ? EXIT_CODE_USAGE : exit_of_errno(-error);
}

/* Check that every key is in the list of known keys, which commas separate. */
static enum exit_code check_keys(const struct reader *reader, const json_t *object,
				 const char *known)
{
	char *stray = document_stray_key(object, known, "lanes=lane-mask,guide=guides");

	if (!stray)
		return EXIT_CODE_OK;
	warn_line("%s: %s%s", reader->path, reader->where, stray);
	free(stray);
	return EXIT_CODE_USAGE;
}

/* Read an integer. An absent key leaves *number unchanged. */
static enum exit_code read_number(const struct reader *reader, const json_t *object,
				  const char *key, uint64_t most, uint64_t *value)
{
	if (document_number(object, key, most, value))
		return EXIT_CODE_OK;
	warn_line("%s: %s'%s' must be a number, 0 to %llu", reader->path, reader->where, key,
		  (unsigned long long)most);
	return EXIT_CODE_USAGE;
}

static enum exit_code read_u32(const struct reader *reader, const json_t *object, const char *key,
			       uint32_t *value)
{
	uint64_t number = *value;
	enum exit_code code = read_number(reader, object, key, UINT32_MAX - 1, &number);

	*value = (uint32_t)number;
	return code;
}

/* Read a list of numbers, empty if absent. The caller frees @list. */
static enum exit_code read_numbers(const struct reader *reader, const json_t *object,
				   const char *key, uint32_t **list, size_t *count)
{
	const json_t *numbers = json_object_get(object, key);
	bool good = !numbers || json_is_array(numbers);
	json_t *it;
	size_t i;

	*count = json_array_size(numbers);
	*list = needed(calloc(*count + 1, sizeof(**list)));
	json_array_foreach((json_t *)numbers, i, it)
	{
		if (!json_is_integer(it) || json_integer_value(it) < 0 ||
		    json_integer_value(it) >= UINT32_MAX)
			good = false;
		else
			(*list)[i] = (uint32_t)json_integer_value(it);
	}
	if (good)
		return EXIT_CODE_OK;
	warn_line("%s: %s'%s' must be a list of numbers", reader->path, reader->where, key);
	return EXIT_CODE_USAGE;
}

static enum exit_code read_plane(const struct reader *reader, const json_t *object, const char *key,
				 struct morph_circuit_opts *opts, uint32_t *plane, uint32_t flag)
{
	if (json_object_get(object, key))
		opts->flags |= flag;
	return read_u32(reader, object, key, plane);
}

static enum exit_code add_circuit(const struct reader *reader, const json_t *it)
{
	MORPH_OPTS(morph_circuit_opts, opts);
	uint32_t src = MORPH_ANY, dst = MORPH_ANY, *guides = NULL;
	enum exit_code code;
	int number;

	code = read_u32(reader, it, "src-rank", &src);
	if (!code)
		code = read_u32(reader, it, "dst-rank", &dst);
	if (!code && (src == MORPH_ANY || dst == MORPH_ANY))
		code = wrong(reader, "requires 'src-rank' and 'dst-rank'");
	if (!code)
		code = read_u32(reader, it, "lanes-count", &opts.lanes_count);
	if (!code)
		code = read_number(reader, it, "lane-mask", INT64_MAX, &opts.lanes);
	if (!code)
		code = read_plane(reader, it, "src-plane", &opts, &opts.src_plane,
				  MORPH_CIRCUIT_SRC_PLANE);
	if (!code)
		code = read_plane(reader, it, "dst-plane", &opts, &opts.dst_plane,
				  MORPH_CIRCUIT_DST_PLANE);
	if (!code)
		code = read_numbers(reader, it, "guides", &guides, &opts.guides_count);
	opts.guides = opts.guides_count ? guides : NULL;
	number = code ? 0 : morph_steps_circuit(reader->steps, src, dst, &opts);
	free(guides);
	return number < 0 ? refused(reader, number) : code;
}

static enum exit_code read_begin(const struct reader *reader, const json_t *it,
				 struct morph_step_opts *opts)
{
	static const char *const words[] = { "call", "barrier", "time" };
	const json_t *begin = json_object_get(it, "begin");

	if (!begin)
		return EXIT_CODE_OK;
	for (uint32_t at = 0; json_is_string(begin) && at < sizeof(words) / sizeof(words[0]); at++)
		if (!strcmp(words[at], json_string_value(begin))) {
			opts->begin = at;
			return EXIT_CODE_OK;
		}
	return wrong(reader, "'begin' must be call, barrier or time");
}

static enum exit_code add_step(const struct reader *reader, const json_t *it)
{
	MORPH_OPTS(morph_step_opts, opts);
	uint32_t *circuits = NULL;
	enum exit_code code;
	size_t count = 0;
	int number;

	code = read_begin(reader, it, &opts);
	if (!code)
		code = read_number(reader, it, "after-ns", INT64_MAX, &opts.after_ns);
	if (!code)
		code = read_number(reader, it, "deadline-ns", INT64_MAX, &opts.deadline_ns);
	if (!code)
		code = read_numbers(reader, it, "circuits", &circuits, &count);
	number = code ? 0 : morph_steps_add(reader->steps, circuits, count, &opts);
	free(circuits);
	return number < 0 ? refused(reader, number) : code;
}

typedef enum exit_code add_fn(const struct reader *reader, const json_t *it);

/* Read each entry of a list, which must not be empty. */
static enum exit_code read_list(struct reader *reader, const json_t *document, const char *key,
				const char *what, const char *known, add_fn *add)
{
	const json_t *list = json_object_get(document, key);
	enum exit_code code = EXIT_CODE_OK;
	json_t *it;
	size_t i;

	reader->where[0] = '\0';
	if (!json_is_array(list) || !json_array_size(list)) {
		warn_line("%s: requires a list '%s' with at least one entry", reader->path, key);
		return EXIT_CODE_USAGE;
	}
	json_array_foreach((json_t *)list, i, it)
	{
		snprintf(reader->where, sizeof(reader->where), "%s %zu: ", what, i);
		if (!json_is_object(it))
			code = wrong(reader, "must be a mapping");
		if (!code)
			code = check_keys(reader, it, known);
		if (!code)
			code = add(reader, it);
		if (code)
			return code;
	}
	reader->where[0] = '\0';
	return code;
}

static enum exit_code read_document(struct reader *reader, const json_t *document)
{
	static const char known[] = "loop,generation,profile-checksum,circuits,steps";
	static const char of_circuit[] =
		"src-rank,dst-rank,lanes-count,lane-mask,src-plane,dst-plane,guides";
	static const char of_step[] = "circuits,begin,after-ns,deadline-ns";
	const json_t *loop = json_object_get(document, "loop");
	uint64_t generation = MORPH_GENERATION_ANY;
	MORPH_OPTS(morph_steps_opts, opts, .loop = json_is_true(loop));
	enum exit_code code;

	if (!json_is_object(document))
		return wrong(reader, "must be a mapping with the keys 'circuits' and 'steps'");
	code = check_keys(reader, document, known);
	if (!code && loop && !json_is_boolean(loop))
		code = wrong(reader, "'loop' must be true or false");
	if (!code)
		code = read_number(reader, document, "generation", INT64_MAX, &generation);
	if (!code)
		code = read_u32(reader, document, "profile-checksum", &opts.profile_checksum);
	if (!code)
		code = read_list(reader, document, "circuits", "circuit", of_circuit, add_circuit);
	if (!code)
		code = read_list(reader, document, "steps", "step", of_step, add_step);
	morph_steps_set_generation(reader->steps, generation);
	morph_steps_set_opts(reader->steps, &opts);
	return code;
}

enum exit_code steps_read(struct run *run, const char *path, struct morph_steps *steps)
{
	struct reader reader = { .run = run, .path = path, .steps = steps };
	json_t *document = NULL;
	enum exit_code code = document_read(path, &document);

	if (!code)
		code = read_document(&reader, document);
	json_decref(document);
	return code;
}

/* Writing. */

static void add_number(json_t *record, const char *key, uint64_t value)
{
	if (value)
		json_object_set_new(record, key, json_integer((json_int_t)value));
}

static json_t *numbers_of(const uint32_t *numbers, size_t count)
{
	json_t *list = json_array();

	for (size_t at = 0; at < count; at++)
		json_array_append_new(list, json_integer(numbers[at]));
	return list;
}

static json_t *circuit_record(const struct morph_steps *steps, uint32_t number)
{
	MORPH_OPTS(morph_circuit_opts, opts);
	uint32_t src, dst;
	json_t *record;

	morph_steps_get_circuit(steps, number, &src, &dst, &opts);
	record = json_pack("{s:I, s:I}", "src-rank", (json_int_t)src, "dst-rank", (json_int_t)dst);
	if (opts.flags & MORPH_CIRCUIT_SRC_PLANE)
		json_object_set_new(record, "src-plane", json_integer(opts.src_plane));
	if (opts.flags & MORPH_CIRCUIT_DST_PLANE)
		json_object_set_new(record, "dst-plane", json_integer(opts.dst_plane));
	add_number(record, "lanes-count", opts.lanes_count);
	add_number(record, "lane-mask", opts.lanes);
	if (opts.guides_count)
		json_object_set_new(record, "guides", numbers_of(opts.guides, opts.guides_count));
	return record;
}

static json_t *step_record(const struct morph_steps *steps, uint32_t number)
{
	static const char *const words[] = {
		[MORPH_STEP_CALL] = "call", [MORPH_STEP_BARRIER] = "barrier", [MORPH_STEP_TIME] = "time"
	};
	MORPH_OPTS(morph_step_opts, opts);
	const uint32_t *circuits;
	json_t *record;
	size_t count;

	morph_steps_get(steps, number, &circuits, &count, &opts);
	record = json_pack("{s:o, s:s}", "circuits", numbers_of(circuits, count), "begin",
			   words[opts.begin]);
	add_number(record, "after-ns", opts.after_ns);
	add_number(record, "deadline-ns", opts.deadline_ns);
	return record;
}

json_t *steps_document(const struct morph_steps *steps)
{
	json_t *document = json_object(), *list = json_array();
	MORPH_OPTS(morph_steps_info, info);

	morph_steps_info(steps, &info);
	json_object_set_new(document, "loop", json_boolean(info.loop));
	if (info.generation != MORPH_GENERATION_ANY)
		json_object_set_new(document, "generation",
				    json_integer((json_int_t)info.generation));
	add_number(document, "profile-checksum", info.profile_checksum);
	for (uint32_t at = 0; at < info.circuits; at++)
		json_array_append_new(list, circuit_record(steps, at));
	json_object_set_new(document, "circuits", list);
	list = json_array();
	for (uint32_t at = 0; at < info.steps; at++)
		json_array_append_new(list, step_record(steps, at));
	json_object_set_new(document, "steps", list);
	return document;
}

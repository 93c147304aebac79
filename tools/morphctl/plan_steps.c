// SPDX-License-Identifier: GPL-2.0-or-later
/* morphctl plan --to-steps: the file that morphctl schedule load takes */
#include "plan.h"

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
	add_number(record, "lanes", opts.lanes);
	if (opts.guides_count)
		json_object_set_new(record, "guide", numbers_of(opts.guides, opts.guides_count));
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
	uint32_t circuits, checksum, count = morph_steps_count(steps, &circuits);
	json_t *document = json_object(), *list = json_array();
	uint64_t generation;

	json_object_set_new(document, "loop",
			    json_boolean(morph_steps_loop(steps, &generation, &checksum)));
	if (generation != MORPH_GENERATION_ANY)
		json_object_set_new(document, "generation", json_integer((json_int_t)generation));
	add_number(document, "profile-checksum", checksum);
	for (uint32_t at = 0; at < circuits; at++)
		json_array_append_new(list, circuit_record(steps, at));
	json_object_set_new(document, "circuits", list);
	list = json_array();
	for (uint32_t at = 0; at < count; at++)
		json_array_append_new(list, step_record(steps, at));
	json_object_set_new(document, "steps", list);
	return document;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* morphctl guide, element, edge, hardware, fail; and the verbs of morphctl accelerator */
#include <stdlib.h>
#include <string.h>

#include "morphctl/client/client.h"
#include "morphctl/output/output.h"

#define GUIDE_COLUMNS "id,health,cordoned,free-lane-mask,loss-mdb,a-end,b-end,class,lane-mask"
#define ELEMENT_COLUMNS "id,kind,tile,element-state,pins-count,health,cordoned"
#define EDGE_COLUMNS \
	"id,name,guide,peer-edge,slice,out-lane-mask,in-lane-mask,least-mdbm,most-mdbm,peer-uuid"
#define HARDWARE_COLUMNS "part,index,health,cordoned"
#define HARDWARE_LIST_COLUMNS HARDWARE_COLUMNS ",text"

enum verb {
	CORDON,
	UNCORDON,
	FAIL,
	TEST
};

enum exit_code guide_list(struct run *run)
{
	return client_list(run, MORPH_OBJECT_GUIDE, GUIDE_COLUMNS);
}

enum exit_code element_list(struct run *run)
{
	return client_list(run, MORPH_OBJECT_ELEMENT, ELEMENT_COLUMNS);
}

enum exit_code edge_list(struct run *run)
{
	return client_list(run, MORPH_OBJECT_EDGE, EDGE_COLUMNS);
}

enum exit_code hardware_list(struct run *run)
{
	return client_list(run, MORPH_OBJECT_HARDWARE, HARDWARE_LIST_COLUMNS);
}

static enum exit_code show_numbered(struct run *run, uint32_t type, const char *what)
{
	uint32_t fabric, id;
	enum exit_code code;

	code = resolve_number(run, what, run->argv[0], &id);
	if (!code)
		code = client_fabric(run, &fabric);
	return code ? code : client_show(run, type, fabric, id);
}

enum exit_code guide_show(struct run *run)
{
	return show_numbered(run, MORPH_OBJECT_GUIDE, "guide");
}

enum exit_code element_show(struct run *run)
{
	return show_numbered(run, MORPH_OBJECT_ELEMENT, "element");
}

enum exit_code edge_show(struct run *run)
{
	return show_numbered(run, MORPH_OBJECT_EDGE, "edge");
}

static int request(struct run *run, uint32_t fabric, uint32_t part, uint32_t index, enum verb verb,
		   struct morph_object **object)
{
	struct morph_ctx *ctx = run->client->ctx;

	switch (verb) {
	case CORDON:
	case UNCORDON:
		return morph_admin_hardware_set(ctx, fabric, part, index, verb == CORDON, object);
	case FAIL:
		return morph_admin_hardware_fail(ctx, fabric, part, index, object);
	default:
		return morph_admin_hardware_test(ctx, fabric, part, index,
						 given(run, OPTION_ACCEPT) ? MORPH_TEST_ACCEPT : 0,
						 object);
	}
}

/* Read the part's state after the request. The kernel does not list healthy parts. */
static void refresh(struct run *run, uint32_t fabric, uint32_t part, uint32_t index, json_t *record)
{
	json_t *records, *other;
	size_t i;

	if (client_dump(run, MORPH_OBJECT_HARDWARE, fabric, &records))
		return;
	json_object_set_new(record, "health", json_string("ok"));
	json_array_foreach(records, i, other) if (key_is(other, "part",
							 morph_enum_name(MORPH_ENUM_PART, part)) &&
						  number_of(other, "index", NUMBER_NONE) == index)
		json_object_update(record, other);
	json_decref(records);
}

static enum exit_code act_on(struct run *run, struct act *act, uint32_t fabric, uint32_t part,
			     uint32_t index, enum verb verb, json_t *records)
{
	struct morph_object *object = NULL;
	json_t *record, *end;
	enum exit_code code;
	int error;

	error = request(run, fabric, part, index, verb, &object);
	code = client_reply(run, error, object, &record);
	if (code) {
		json_decref(record);
		return code;
	}
	if (verb == FAIL || verb == TEST) {
		end = json_incref(record);
		code = act_wait(run, act, fabric, "txn", &end);
		json_decref(end);
		if (act->monitor)
			refresh(run, fabric, part, index, record);
	}
	json_array_append_new(records, record);
	return code;
}

static enum exit_code act_on_list(struct run *run, uint32_t fabric, uint32_t part,
				  const uint32_t *indices, size_t count, enum verb verb)
{
	struct tally tally = { 0 };
	json_t *records;
	enum exit_code code;
	struct act act = { 0 };

	/* A cordon takes effect before the call returns. The kernel queues failures and tests. */
	code = client_fields(run, MORPH_OBJECT_HARDWARE);
	if (!code)
		code = verb == FAIL || verb == TEST ? act_begin(run, &act) : client_open(run);
	if (code)
		return code;
	records = json_array();
	for (size_t i = 0; i < count; i++)
		tally_add(&tally, act_on(run, &act, fabric, part, indices[i], verb, records));
	act_end(&act);
	return tally_emit(&tally, run, MORPH_OBJECT_HARDWARE, HARDWARE_COLUMNS, records);
}

static enum exit_code act_on_arguments(struct run *run, uint32_t part, enum verb verb)
{
	uint32_t *indices, fabric;
	enum exit_code code;

	code = client_fabric(run, &fabric);
	if (code)
		return code;
	indices = needed(calloc((size_t)run->argc, sizeof(*indices)));
	for (int i = 0; i < run->argc && !code; i++)
		code = part == MORPH_PART_ACCELERATOR ?
			       resolve_accelerator(run, fabric, run->argv[i], &indices[i]) :
			       resolve_number(run, morph_enum_name(MORPH_ENUM_PART, part),
					      run->argv[i], &indices[i]);
	if (!code)
		code = act_on_list(run, fabric, part, indices, (size_t)run->argc, verb);
	free(indices);
	return code;
}

/* Resolve ACCELERATOR.PLANE of lasers and receivers. The fabric gives the number of planes. */
static enum exit_code port_index(struct run *run, uint32_t fabric, const char *text,
				 uint32_t *index)
{
	const char *dot = strchr(text, '.');
	uint64_t accelerator, plane;
	char first[16];
	json_t *records, *record;
	uint32_t planes = 0;
	enum exit_code code;
	size_t i;

	snprintf(first, sizeof(first), "%.*s", (int)(dot - text), text);
	if (dot - text >= (long)sizeof(first) ||
	    !parse_u64(first, 0, UINT32_MAX - 1, &accelerator) ||
	    !parse_u64(dot + 1, 0, UINT16_MAX, &plane))
		return usage_error(run,
				   "the index of a laser or receiver is a number, or "
				   "ACCELERATOR.PLANE as in 3.1; not '%s'",
				   text);
	code = client_fabric_records(run, &records);
	if (code)
		return code;
	json_array_foreach(records, i, record) if (number_of(record, "id", NUMBER_NONE) == fabric)
		planes = number_of(record, "planes-count", 0);
	json_decref(records);
	if (plane >= planes || accelerator > UINT32_MAX / planes - 1) {
		warn_line("no port %s: accelerators of this fabric have %u planes", text, planes);
		return EXIT_CODE_NOT_FOUND;
	}
	*index = (uint32_t)accelerator * planes + (uint32_t)plane;
	return EXIT_CODE_OK;
}

static enum exit_code act_on_part(struct run *run, enum verb verb)
{
	int64_t part = morph_enum_value(MORPH_ENUM_PART, run->argv[0]);
	const char *text = run->argv[1];
	uint32_t fabric, index = 0;
	enum exit_code code;

	if (part <= MORPH_PART_NONE)
		return usage_error(
			run,
			"unknown kind of part '%s'; known kinds: accelerator, laser, receiver, element, guide and edge",
			run->argv[0]);
	code = client_fabric(run, &fabric);
	if (code)
		return code;
	if (part == MORPH_PART_ACCELERATOR)
		code = resolve_accelerator(run, fabric, text, &index);
	else if ((part == MORPH_PART_LASER || part == MORPH_PART_RECEIVER) && strchr(text, '.'))
		code = port_index(run, fabric, text, &index);
	else
		code = resolve_number(run, run->argv[0], text, &index);
	return code ? code : act_on_list(run, fabric, (uint32_t)part, &index, 1, verb);
}

#define ON_PART(name, verb)                             \
	enum exit_code hardware_##name(struct run *run) \
	{                                               \
		return act_on_part(run, verb);          \
	}
#define ON_ARGUMENTS(object, part, name, verb)            \
	enum exit_code object##_##name(struct run *run)   \
	{                                                 \
		return act_on_arguments(run, part, verb); \
	}
#define VERBS(object, part)                            \
	ON_ARGUMENTS(object, part, cordon, CORDON)     \
	ON_ARGUMENTS(object, part, uncordon, UNCORDON) \
	ON_ARGUMENTS(object, part, fail, FAIL)         \
	ON_ARGUMENTS(object, part, test, TEST)

ON_PART(cordon, CORDON)
ON_PART(uncordon, UNCORDON)
ON_PART(fail, FAIL)
ON_PART(test, TEST)
VERBS(accelerator, MORPH_PART_ACCELERATOR)
VERBS(guide, MORPH_PART_GUIDE)
VERBS(element, MORPH_PART_ELEMENT)

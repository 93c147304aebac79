// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Chakra's execution traces, parsed by hand from protobuf. The reader needs ten fields of three
 * messages, with public numbers. A generated reader would build all other fields too, and a file
 * could make its memory grow.
 */
#include "trace.h"

#include <stdio.h>

#define MOST_BYTES (1U << 30)
#define MOST_OPERATIONS (1U << 24)
#define MOST_DEPENDENCIES (1U << 26)

/* Field numbers. */
enum {
	NODE_ID = 1,
	NODE_NAME = 2,
	NODE_TYPE = 3,
	NODE_CONTROL = 4,
	NODE_DATA = 5,
	NODE_START = 6,
	NODE_DURATION = 7,
	NODE_ATTRIBUTE = 10,
	ATTRIBUTE_NAME = 1,
	ATTRIBUTE_TEXT = 29,
};

/* Node types. */
enum {
	COMPUTES = 4,
	SENDS = 5,
	RECEIVES = 6,
	COLLECTIVE = 7
};

/* Protobuf's encodings of a value. */
enum wire {
	VARINT = 0,
	EIGHT_BYTES = 1,
	BYTES = 2,
	FOUR_BYTES = 5
};

/* A part of the file. */
struct span {
	const uint8_t *at, *end;
};

struct field {
	uint32_t number;
	enum wire wire;
	uint64_t value; /* of a number */
	struct span span; /* of BYTES */
};

struct parse {
	const struct why *why;
	const uint8_t *begin;
	uint32_t own; /* the rank */
	struct rank *rank;
	uint64_t *waits_for; /* ids, instead of dependencies until all are known */
	uint32_t waits_room;
};

static int refuse(const struct parse *parse, const uint8_t *at, const char *what)
{
	return lm_format_fail(parse->why, EINVAL, "byte %zu: %s", (size_t)(at - parse->begin),
			      what);
}

/* --------------------------------------------------------------------- protobuf */

static bool take_varint(struct span *span, uint64_t *value)
{
	*value = 0;
	for (unsigned int shift = 0; shift < 64 && span->at < span->end; shift += 7) {
		uint8_t byte = *span->at++;

		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

static bool take_bytes(struct span *span, uint64_t count, struct span *out)
{
	if (count > (uint64_t)(span->end - span->at))
		return false;
	*out = (struct span){ span->at, span->at + count };
	span->at += count;
	return true;
}

/* Little-endian. */
static bool take_fixed(struct span *span, uint32_t bytes, uint64_t *value)
{
	struct span part;

	if (!take_bytes(span, bytes, &part))
		return false;
	*value = 0;
	for (uint32_t at = bytes; at-- > 0;)
		*value = *value << 8 | part.at[at];
	return true;
}

/* 1: a field, 0: the end, or a noted error. */
static int take_field(const struct parse *parse, struct span *span, struct field *field)
{
	const uint8_t *at = span->at;
	uint64_t key, length;
	bool whole;

	if (span->at == span->end)
		return 0;
	*field = (struct field){ 0 };
	if (!take_varint(span, &key) || key >> 3 == 0 || key >> 3 > (1U << 29) - 1)
		return refuse(parse, at, "the number of a field is missing");
	field->number = (uint32_t)(key >> 3);
	field->wire = (enum wire)(key & 7);
	switch (field->wire) {
	case VARINT:
		whole = take_varint(span, &field->value);
		break;
	case EIGHT_BYTES:
		whole = take_fixed(span, 8, &field->value);
		break;
	case FOUR_BYTES:
		whole = take_fixed(span, 4, &field->value);
		break;
	case BYTES:
		whole = take_varint(span, &length) && take_bytes(span, length, &field->span);
		break;
	default:
		return refuse(parse, at, "the field has an unknown kind");
	}
	return whole ? 1 : refuse(parse, at, "the field is cut off, or longer than its message");
}

/* ------------------------------------------------------------------- attributes */

static bool is_called(struct span span, const char *name)
{
	return (size_t)(span.end - span.at) == strlen(name) && !memcmp(span.at, name, strlen(name));
}

/*
 * Read a field of an attribute as a whole number. False if it is not one, or is negative. Of fields
 * 7 to 27 each odd one is a number: int32, int64, uint32, uint64, sint32, sint64, fixed32, fixed64,
 * sfixed32, sfixed64, bool.
 */
static bool whole_number(const struct field *field, uint64_t *value)
{
	*value = field->value;
	switch (field->number) {
	case 7:
	case 9:
		return field->wire == VARINT && *value <= INT64_MAX;
	case 11:
	case 13:
	case 27:
		return field->wire == VARINT;
	case 15:
	case 17: /* zigzag */
		*value >>= 1;
		return field->wire == VARINT && !(field->value & 1);
	case 19:
		return field->wire == FOUR_BYTES;
	case 21:
		return field->wire == EIGHT_BYTES;
	case 23:
		return field->wire == FOUR_BYTES && *value <= INT32_MAX;
	case 25:
		return field->wire == EIGHT_BYTES && *value <= INT64_MAX;
	default:
		return false;
	}
}

static int add_text(struct parse *parse, struct span text, uint32_t *out)
{
	struct rank *rank = parse->rank;
	uint32_t count = (uint32_t)(text.end - text.at);

	if (GROW_BY(rank->texts, count + 1))
		return lm_format_no_memory(parse->why);
	*out = rank->texts.count;
	if (count)
		memcpy(rank->texts.list + rank->texts.count, text.at, count);
	rank->texts.list[rank->texts.count + count] = '\0';
	rank->texts.count += count + 1;
	return 0;
}

/* Relevant attributes, and their largest values. */
static int set_attribute(struct parse *parse, struct operation *operation, struct span name,
			 const struct field *value)
{
	uint32_t *small = is_called(name, "comm_type") ? &operation->collective :
			  is_called(name, "comm_src")  ? &operation->src :
			  is_called(name, "comm_dst")  ? &operation->dst :
							 NULL;
	uint64_t *large = is_called(name, "comm_size") ? &operation->bytes :
			  is_called(name, "comm_tag")  ? &operation->tag :
							 NULL;
	uint64_t number;

	if (is_called(name, "pg_name") && value->number == ATTRIBUTE_TEXT && value->wire == BYTES)
		return add_text(parse, value->span, &operation->group);
	if (!small && !large)
		return 0;
	if (!whole_number(value, &number))
		return refuse(parse, name.at, "the attribute is not an integer >= 0");
	if (small && number >= MOST_RANKS)
		return refuse(parse, name.at, "the attribute is above 4095");
	if (small)
		*small = (uint32_t)number;
	else
		*large = number;
	return 0;
}

static int read_attribute(struct parse *parse, struct operation *operation, struct span span)
{
	struct span name = { span.at, span.at };
	struct field field, value = { 0 };
	int ret;

	while ((ret = take_field(parse, &span, &field)) > 0) {
		if (field.number == ATTRIBUTE_NAME && field.wire == BYTES)
			name = field.span;
		else if (field.number > ATTRIBUTE_NAME + 1) /* not its description */
			value = field;
	}
	return ret ? ret : set_attribute(parse, operation, name, &value);
}

/* ------------------------------------------------------------------------ nodes */

static int add_wait(struct parse *parse, struct operation *operation, uint64_t id)
{
	struct rank *rank = parse->rank;

	if (rank->dependencies.count == MOST_DEPENDENCIES)
		return lm_format_fail(parse->why, E2BIG, "more than 2^26 dependencies");
	if (lm_format_grow((void **)&parse->waits_for, rank->dependencies.count + 1,
			   &parse->waits_room, sizeof(*parse->waits_for)))
		return lm_format_no_memory(parse->why);
	parse->waits_for[rank->dependencies.count++] = id;
	operation->count++;
	return 0;
}

/* One number, or several in one field. */
static int add_waits(struct parse *parse, struct operation *operation, struct field *field)
{
	const uint8_t *at = field->span.at;
	uint64_t id;
	int ret = 0;

	if (field->wire == VARINT)
		return add_wait(parse, operation, field->value);
	if (field->wire != BYTES)
		return refuse(parse, at, "a dependency is not a number");
	while (!ret && field->span.at < field->span.end)
		ret = take_varint(&field->span, &id) ? add_wait(parse, operation, id) :
						       refuse(parse, at, "a dependency is cut off");
	return ret;
}

/* All fields except the dependencies. */
static int read_field(struct parse *parse, struct operation *operation, const struct field *field)
{
	if (field->wire == BYTES && field->number == NODE_NAME)
		return add_text(parse, field->span, &operation->name);
	if (field->wire == BYTES && field->number == NODE_ATTRIBUTE)
		return read_attribute(parse, operation, field->span);
	if (field->wire != VARINT)
		return 0;
	if (field->number == NODE_ID)
		operation->id = field->value;
	else if (field->number == NODE_TYPE)
		operation->kind = (uint32_t)(field->value < COLLECTIVE + 1 ? field->value : 0);
	else if (field->number == NODE_START)
		operation->start_us = field->value;
	else if (field->number == NODE_DURATION)
		operation->duration_us = field->value;
	return 0;
}

/* Dependencies come in two parts, in any order. */
static int read_waits(struct parse *parse, struct operation *operation, struct span span,
		      uint32_t number)
{
	struct field field;
	int ret;

	while ((ret = take_field(parse, &span, &field)) > 0) {
		if (field.number == number)
			ret = add_waits(parse, operation, &field);
		if (ret < 0)
			return ret;
	}
	return ret;
}

static void set_kind(const struct parse *parse, struct operation *operation)
{
	static const uint8_t kinds[] = {
		[COMPUTES] = MORPH_TRACE_COMPUTE,
		[SENDS] = MORPH_TRACE_SEND,
		[RECEIVES] = MORPH_TRACE_RECEIVE,
		[COLLECTIVE] = MORPH_TRACE_COLLECTIVE,
	};

	operation->kind = kinds[operation->kind];
	if (operation->kind == MORPH_TRACE_SEND)
		operation->src = parse->own;
	if (operation->kind == MORPH_TRACE_RECEIVE)
		operation->dst = parse->own;
}

/* @at: begin of its message, including the length. */
static int read_node(struct parse *parse, const uint8_t *at, struct span span)
{
	struct rank *rank = parse->rank;
	struct operation operation = { .src = NONE,
				       .dst = NONE,
				       .first = rank->dependencies.count,
				       .byte = (uint32_t)(at - parse->begin) };
	struct span rest = span;
	struct field field;
	int ret;

	if (rank->operations.count == MOST_OPERATIONS)
		return lm_format_fail(parse->why, E2BIG, "more than 2^24 operations");
	while ((ret = take_field(parse, &rest, &field)) > 0) {
		ret = read_field(parse, &operation, &field);
		if (ret)
			return ret;
	}
	if (!ret)
		ret = read_waits(parse, &operation, span, NODE_CONTROL);
	if (!ret)
		ret = read_waits(parse, &operation, span, NODE_DATA);
	if (ret)
		return ret;
	set_kind(parse, &operation);
	if (GROW(rank->operations))
		return lm_format_no_memory(parse->why);
	rank->operations.list[rank->operations.count++] = operation;
	return 0;
}

/* The first message describes the trace. */
static int read_messages(struct parse *parse, struct span span)
{
	const struct span empty = { (const uint8_t *)"", (const uint8_t *)"" };
	uint32_t none;
	int ret = add_text(parse, empty, &none);

	for (bool first = true; !ret && span.at < span.end; first = false) {
		const uint8_t *at = span.at;
		struct span message;
		struct field field;
		uint64_t length;

		if (!take_varint(&span, &length) || !take_bytes(&span, length, &message))
			return refuse(parse, at, "the message is cut off");
		if (!first)
			ret = read_node(parse, at, message);
		while (first && (ret = take_field(parse, &message, &field)) > 0)
			;
	}
	return ret;
}

/* ----------------------------------------------------------------- dependencies */

struct known {
	uint64_t id;
	uint32_t number;
};

static int by_id(const void *one, const void *other)
{
	const struct known *a = one, *b = other;

	return a->id < b->id ? -1 : a->id > b->id;
}

static int resolve_all(struct parse *parse, const struct known *known)
{
	struct rank *rank = parse->rank;

	if (!parse->waits_for)
		return 0;
	for (uint32_t at = 0; at < rank->operations.count; at++) {
		const struct operation *operation = &rank->operations.list[at];

		for (uint32_t to = operation->first; to < operation->first + operation->count;
		     to++) {
			const struct known key = { .id = parse->waits_for[to] };
			const struct known *found =
				bsearch(&key, known, rank->operations.count, sizeof(*known), by_id);

			if (!found)
				return lm_format_fail(
					parse->why, EINVAL,
					"byte %u: operation %llu waits for %llu, which does not exist",
					operation->byte, (unsigned long long)operation->id,
					(unsigned long long)key.id);
			rank->dependencies.list[to] = found->number;
		}
	}
	return 0;
}

/* The error names the later one of the two. */
static int is_twice(const struct parse *parse, const struct known *one, const struct known *other)
{
	uint32_t later = one->number > other->number ? one->number : other->number;

	return lm_format_fail(parse->why, EINVAL, "byte %u: operation %llu appears twice",
			      parse->rank->operations.list[later].byte,
			      (unsigned long long)one->id);
}

/* Replace ids by numbers. */
static int resolve(struct parse *parse)
{
	struct rank *rank = parse->rank;
	uint32_t count = rank->operations.count;
	struct known *known = calloc((size_t)count + 1, sizeof(*known));
	int ret = 0;

	rank->dependencies.list =
		calloc((size_t)rank->dependencies.count + 1, sizeof(*rank->dependencies.list));
	if (!known || !rank->dependencies.list)
		ret = lm_format_no_memory(parse->why);
	for (uint32_t at = 0; !ret && at < count; at++)
		known[at] = (struct known){ .id = rank->operations.list[at].id, .number = at };
	if (!ret)
		qsort(known, count, sizeof(*known), by_id);
	for (uint32_t at = 1; !ret && at < count; at++)
		if (known[at].id == known[at - 1].id)
			ret = is_twice(parse, &known[at - 1], &known[at]);
	if (!ret)
		ret = resolve_all(parse, known);
	free(known);
	return ret;
}

/* No operation waits for itself through others. */
static int check_order(const struct parse *parse)
{
	const struct rank *rank = parse->rank;
	uint32_t count = rank->operations.count;
	struct edge *edges = calloc((size_t)rank->dependencies.count + 1, sizeof(*edges));
	uint32_t *order = calloc((size_t)count + 1, sizeof(*order));
	int ret = edges && order ? 0 : -ENOMEM;

	for (uint32_t at = 0; !ret && at < count; at++) {
		const struct operation *operation = &rank->operations.list[at];

		for (uint32_t to = operation->first; to < operation->first + operation->count; to++)
			edges[to] = (struct edge){ rank->dependencies.list[to], at };
	}
	if (!ret)
		ret = lm_format_order(count, edges, rank->dependencies.count, order);
	if (ret == -ENOMEM)
		lm_format_no_memory(parse->why);
	if (ret == -ELOOP)
		ret = lm_format_fail(
			parse->why, EINVAL,
			"byte %u: operation %llu waits for itself through other operations",
			rank->operations.list[order[0]].byte,
			(unsigned long long)rank->operations.list[order[0]].id);
	free(edges);
	free(order);
	return ret;
}

MORPH_API int morph_trace_read(struct morph_trace *trace, uint32_t number, const void *data,
			       size_t length, char *why, size_t room)
{
	const struct why told = { why, room };
	struct rank *rank = NULL;
	struct parse parse = { .why = &told, .begin = data, .own = number };
	int ret;

	if (number >= MOST_RANKS)
		return lm_format_fail(&told, EINVAL, "ranks must be below %u", MOST_RANKS);
	if (trace->list[number])
		return lm_format_fail(&told, EEXIST, "rank %u was already read", number);
	if (length > MOST_BYTES)
		return lm_format_fail(&told, E2BIG, "the file has more than 1 GiB");
	rank = parse.rank = calloc(1, sizeof(*rank));
	if (!rank)
		return lm_format_no_memory(&told);
	ret = read_messages(&parse, (struct span){ data, (const uint8_t *)data + length });
	if (!ret)
		ret = resolve(&parse);
	if (!ret)
		ret = check_order(&parse);
	free(parse.waits_for);
	if (ret) {
		free(rank->operations.list);
		free(rank->dependencies.list);
		free(rank->texts.list);
		free(rank);
		return ret;
	}
	trace->list[number] = rank;
	if (trace->ranks <= number)
		trace->ranks = number + 1;
	return 0;
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/* Objects: values sorted by their slot in the schema, grouped by attribute. */
#include <stdio.h>

#include "internal.h"

#define UUID_TEXT_BYTES 37

struct uuid {
	uint8_t bytes[MORPH_UUID_BYTES];
	char text[UUID_TEXT_BYTES];
};

union value {
	uint64_t number; /* UINT, ENUM, FLAG; SINT in two's complement */
	char *text;
	struct uuid *uuid;
	struct morph_object *object;
};

/* An attribute of an object: its slot in the schema, and its first value. */
struct group {
	uint32_t slot;
	uint32_t first;
};

struct morph_object {
	uint32_t type;
	const char *command;
	union value *values;
	struct group *groups;
	uint32_t values_count;
	uint32_t values_room;
	uint32_t groups_count;
};

static const struct lm_attr *attr_of(const struct morph_object *object, size_t attr)
{
	if (attr >= object->groups_count)
		return NULL;
	return &lm_schemas[object->type].attrs[object->groups[attr].slot];
}

static uint32_t group_end(const struct morph_object *object, size_t group)
{
	return group + 1 < object->groups_count ? object->groups[group + 1].first :
						  object->values_count;
}

/* ------------------------------------------------------------------ making */

struct morph_object *lm_object_new(uint32_t type, const char *command)
{
	const struct lm_schema *schema = lm_schema(type);
	struct morph_object *object = calloc(1, sizeof(*object));

	if (!object)
		return NULL;
	object->type = type;
	object->command = command ? command : "";
	/* space for every attribute, so that only lists of values grow */
	object->groups = calloc(schema->count, sizeof(*object->groups));
	object->values = calloc(schema->count, sizeof(*object->values));
	object->values_room = schema->count;
	if (!object->groups || !object->values) {
		morph_object_free(object);
		return NULL;
	}
	return object;
}

static void value_free(const struct lm_attr *attr, union value *value)
{
	switch (attr->type) {
	case MORPH_ATTR_STRING:
		free(value->text);
		break;
	case MORPH_ATTR_UUID:
		free(value->uuid);
		break;
	case MORPH_ATTR_OBJECT:
		morph_object_free(value->object);
		break;
	}
}

MORPH_API void morph_object_free(struct morph_object *object)
{
	if (!object)
		return;
	for (uint32_t group = 0; group < object->groups_count; group++)
		for (uint32_t at = object->groups[group].first; at < group_end(object, group); at++)
			value_free(attr_of(object, group), &object->values[at]);
	free(object->values);
	free(object->groups);
	free(object);
}

/* Find the group of @slot, or insert it. */
static uint32_t group_get(struct morph_object *object, uint32_t slot)
{
	uint32_t at = object->groups_count;

	while (at && object->groups[at - 1].slot > slot)
		at--;
	if (at && object->groups[at - 1].slot == slot)
		return at - 1;
	memmove(&object->groups[at + 1], &object->groups[at],
		(object->groups_count - at) * sizeof(*object->groups));
	object->groups[at].slot = slot;
	object->groups[at].first = at < object->groups_count ? object->groups[at + 1].first :
							       object->values_count;
	object->groups_count++;
	return at;
}

/* Make space for one more value of attribute @number; NULL when out of memory. */
static union value *value_add(struct morph_object *object, uint32_t number)
{
	const struct lm_schema *schema = &lm_schemas[object->type];
	int slot = lm_schema_slot(schema, number);
	uint32_t group, end;

	if (object->values_count == object->values_room) {
		uint32_t room = object->values_room * 2;
		union value *values = reallocarray(object->values, room, sizeof(*values));

		if (!values)
			return NULL;
		object->values = values;
		object->values_room = room;
	}
	group = group_get(object, (uint32_t)slot);
	end = group_end(object, group);
	if (end > object->groups[group].first && !schema->attrs[slot].list) {
		/* a single-valued attribute keeps the last value, as in the kernel */
		value_free(&schema->attrs[slot], &object->values[end - 1]);
		return &object->values[end - 1];
	}
	memmove(&object->values[end + 1], &object->values[end],
		(object->values_count - end) * sizeof(*object->values));
	object->values_count++;
	while (++group < object->groups_count)
		object->groups[group].first++;
	return &object->values[end];
}

int lm_put_uint(struct morph_object *object, uint32_t number, uint64_t value)
{
	union value *place = value_add(object, number);

	if (!place)
		return -ENOMEM;
	place->number = value;
	return 0;
}

int lm_put_sint(struct morph_object *object, uint32_t number, int64_t value)
{
	return lm_put_uint(object, number, (uint64_t)value);
}

int lm_put_text(struct morph_object *object, uint32_t number, const char *text, size_t room)
{
	char *copy = strndup(text, room);
	union value *place = copy ? value_add(object, number) : NULL;

	if (!place) {
		free(copy);
		return -ENOMEM;
	}
	place->text = copy;
	return 0;
}

int lm_put_uuid(struct morph_object *object, uint32_t number, const void *bytes)
{
	struct uuid *uuid = calloc(1, sizeof(*uuid));
	union value *place = uuid ? value_add(object, number) : NULL;
	char *text;

	if (!place) {
		free(uuid);
		return -ENOMEM;
	}
	memcpy(uuid->bytes, bytes, MORPH_UUID_BYTES);
	text = uuid->text;
	for (int at = 0; at < MORPH_UUID_BYTES; at++)
		text += sprintf(text, at == 4 || at == 6 || at == 8 || at == 10 ? "-%02x" : "%02x",
				uuid->bytes[at]);
	place->uuid = uuid;
	return 0;
}

int lm_put_object(struct morph_object *object, uint32_t number, struct morph_object *inner)
{
	union value *place = inner ? value_add(object, number) : NULL;

	if (!place) {
		morph_object_free(inner);
		return -ENOMEM;
	}
	place->object = inner;
	return 0;
}

MORPH_API struct morph_object *morph_object_new(uint32_t type)
{
	return lm_schema(type) ? lm_object_new(type, NULL) : NULL;
}

/* Whether a value has exactly the member for the type of the attribute. */
static bool is_of(const struct lm_attr *attr, const struct morph_value *value)
{
	bool number = attr->type == MORPH_ATTR_UINT || attr->type == MORPH_ATTR_ENUM ||
		      attr->type == MORPH_ATTR_FLAG;
	bool text = attr->type == MORPH_ATTR_STRING, object = attr->type == MORPH_ATTR_OBJECT;

	return (number || text || object) && (number || !value->uint) && !value->sint &&
	       text == !!value->text && (object || !value->object);
}

static int put_value(struct morph_object *object, const struct lm_attr *attr,
		     const struct morph_value *value)
{
	switch (attr->type) {
	case MORPH_ATTR_STRING:
		return lm_put_text(object, attr->number, value->text, strlen(value->text));
	case MORPH_ATTR_OBJECT:
		return lm_put_object(object, attr->number, (struct morph_object *)value->object);
	default:
		return lm_put_uint(object, attr->number, value->uint);
	}
}

MORPH_API int morph_object_put(struct morph_object *object, const char *name,
			       const struct morph_value *value)
{
	const struct lm_schema *schema = &lm_schemas[object->type];
	int error = lm_opts_check(NULL, value, sizeof(*value), "morph_value");
	struct morph_value mine;

	lm_opts_copy(&mine, value, sizeof(mine));
	for (uint32_t slot = 0; !error && slot < schema->count; slot++)
		if (!strcmp(schema->attrs[slot].name, name) && is_of(&schema->attrs[slot], &mine))
			return put_value(object, &schema->attrs[slot], &mine);
	morph_object_free((struct morph_object *)mine.object);
	return error ? error : -EINVAL;
}

static int value_copy(struct morph_object *copy, const struct lm_attr *attr,
		      const union value *value)
{
	struct morph_object *inner = NULL;

	switch (attr->type) {
	case MORPH_ATTR_STRING:
		return lm_put_text(copy, attr->number, value->text, strlen(value->text));
	case MORPH_ATTR_UUID:
		return lm_put_uuid(copy, attr->number, value->uuid->bytes);
	case MORPH_ATTR_OBJECT:
		morph_object_copy(value->object, &inner);
		return lm_put_object(copy, attr->number, inner);
	default:
		return lm_put_uint(copy, attr->number, value->number);
	}
}

int morph_object_copy(const struct morph_object *object, struct morph_object **out)
{
	struct morph_object *copy = lm_object_new(object->type, object->command);
	int error = copy ? 0 : -ENOMEM;

	for (uint32_t group = 0; !error && group < object->groups_count; group++)
		for (uint32_t at = object->groups[group].first;
		     !error && at < group_end(object, group); at++)
			error = value_copy(copy, attr_of(object, group), &object->values[at]);
	if (error) {
		morph_object_free(copy);
		copy = NULL;
	}
	*out = copy;
	return error;
}

int lm_object_absorb(struct morph_object *object, const struct morph_object *more)
{
	int error = 0;

	for (uint32_t group = 0; !error && group < more->groups_count; group++)
		for (uint32_t at = more->groups[group].first;
		     !error && attr_of(more, group)->list && at < group_end(more, group); at++)
			error = value_copy(object, attr_of(more, group), &more->values[at]);
	return error;
}

/* ----------------------------------------------------------------- reading */

MORPH_API uint32_t morph_object_type(const struct morph_object *object)
{
	return object->type;
}

MORPH_API const char *morph_object_command(const struct morph_object *object)
{
	return object->command;
}

void lm_attr_describe(const struct lm_attr *attr, size_t values, struct morph_attr *out)
{
	struct morph_attr mine = {
		.name = attr->name,
		.doc = attr->doc,
		.type = attr->type,
		.enumeration = attr->enumeration,
		.values = values,
		.is_list = attr->list,
	};

	lm_answer_copy(out, &mine, sizeof(mine));
}

/* The number of values of the attribute of @group. */
static size_t values_of(const struct morph_object *object, size_t group)
{
	return group_end(object, group) - object->groups[group].first;
}

MORPH_API bool morph_object_attr(const struct morph_object *object, size_t position,
				 struct morph_attr *out)
{
	const struct lm_attr *attr = attr_of(object, position);

	if (!attr)
		return false;
	lm_attr_describe(attr, values_of(object, position), out);
	return true;
}

/* The group of the attribute with this name; groups_count if the object does not have it. */
static size_t find(const struct morph_object *object, const char *name)
{
	size_t group = 0;

	while (group < object->groups_count && strcmp(attr_of(object, group)->name, name))
		group++;
	return group;
}

/* A value and its attribute; NULL if the object has no such value. */
static const union value *value_of(const struct morph_object *object, const char *name,
				   size_t index, const struct lm_attr **attr)
{
	size_t group = find(object, name);

	*attr = attr_of(object, group);
	if (!*attr || index >= values_of(object, group))
		return NULL;
	return &object->values[object->groups[group].first + index];
}

bool morph_object_has(const struct morph_object *object, const char *name)
{
	return find(object, name) < object->groups_count;
}

MORPH_API size_t morph_object_values(const struct morph_object *object, const char *name)
{
	size_t group = find(object, name);

	return group < object->groups_count ? values_of(object, group) : 0;
}

static uint64_t uint_of(const struct lm_attr *attr, const union value *value)
{
	switch (attr->type) {
	case MORPH_ATTR_UINT:
	case MORPH_ATTR_ENUM:
	case MORPH_ATTR_FLAG:
		return value->number;
	default:
		return 0;
	}
}

static int64_t sint_of(const struct lm_attr *attr, const union value *value)
{
	switch (attr->type) {
	case MORPH_ATTR_UINT:
	case MORPH_ATTR_SINT:
	case MORPH_ATTR_ENUM:
		return (int64_t)value->number;
	default:
		return 0;
	}
}

static const char *text_of(const struct lm_attr *attr, const union value *value)
{
	switch (attr->type) {
	case MORPH_ATTR_STRING:
		return value->text;
	case MORPH_ATTR_UUID:
		return value->uuid->text;
	case MORPH_ATTR_ENUM:
		return morph_enum_name(attr->enumeration, (uint32_t)value->number);
	default:
		return NULL;
	}
}

static const struct morph_object *object_of(const struct lm_attr *attr, const union value *value)
{
	return attr->type == MORPH_ATTR_OBJECT ? value->object : NULL;
}

uint64_t morph_object_uint_at(const struct morph_object *object, const char *name, size_t index)
{
	const struct lm_attr *attr;
	const union value *value = value_of(object, name, index, &attr);

	return value ? uint_of(attr, value) : 0;
}

int64_t morph_object_sint_at(const struct morph_object *object, const char *name, size_t index)
{
	const struct lm_attr *attr;
	const union value *value = value_of(object, name, index, &attr);

	return value ? sint_of(attr, value) : 0;
}

const char *morph_object_text_at(const struct morph_object *object, const char *name, size_t index)
{
	const struct lm_attr *attr;
	const union value *value = value_of(object, name, index, &attr);

	return value ? text_of(attr, value) : NULL;
}

MORPH_API bool morph_object_value(const struct morph_object *object, const char *name, size_t index,
				  struct morph_value *out)
{
	const struct lm_attr *attr;
	const union value *value = value_of(object, name, index, &attr);
	struct morph_value mine = {
		.uint = value ? uint_of(attr, value) : 0,
		.sint = value ? sint_of(attr, value) : 0,
		.text = value ? text_of(attr, value) : NULL,
		.object = value ? object_of(attr, value) : NULL,
	};

	lm_answer_copy(out, &mine, sizeof(mine));
	return value;
}

const uint8_t *morph_object_bytes_at(const struct morph_object *object, const char *name,
				     size_t index)
{
	const struct lm_attr *attr;
	const union value *value = value_of(object, name, index, &attr);

	return value && attr->type == MORPH_ATTR_UUID ? value->uuid->bytes : NULL;
}

MORPH_API const struct morph_object *morph_object_nested_at(const struct morph_object *object,
							    const char *name, size_t index)
{
	const struct lm_attr *attr;
	const union value *value = value_of(object, name, index, &attr);

	return value ? object_of(attr, value) : NULL;
}

MORPH_API uint64_t morph_object_uint(const struct morph_object *object, const char *name)
{
	return morph_object_uint_at(object, name, 0);
}

int64_t morph_object_sint(const struct morph_object *object, const char *name)
{
	return morph_object_sint_at(object, name, 0);
}

MORPH_API const char *morph_object_text(const struct morph_object *object, const char *name)
{
	return morph_object_text_at(object, name, 0);
}

const uint8_t *morph_object_bytes(const struct morph_object *object, const char *name)
{
	return morph_object_bytes_at(object, name, 0);
}

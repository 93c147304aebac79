// SPDX-License-Identifier: GPL-2.0-or-later
/* Convert objects of libmorph to records: JSON with the keys that json_names.def describes. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "morphctl/client/client.h"

#define KEY_BYTES 64

enum kind {
	KEY,
	BOOLEAN,
	ABSENT,
	EXTRA
};

/* An entry of json_names.def. */
struct json_name {
	enum kind kind;
	uint32_t type; /* enum morph_object_type */
	const char *attribute; /* of EXTRA: the key's old name, or NULL */
	const char *key;
};

static const struct json_name names[] = {
#define NAME(set, attribute, key) { KEY, MORPH_OBJECT_##set, attribute, key },
#define FLAG(set, attribute) { BOOLEAN, MORPH_OBJECT_##set, attribute, attribute },
#define REQUEST(set, attribute) { ABSENT, MORPH_OBJECT_##set, attribute, attribute },
#define ADDED(set, key, old) { EXTRA, MORPH_OBJECT_##set, old, key },
#include "morphctl/client/json_names.def"
#undef ADDED
#undef REQUEST
#undef FLAG
#undef NAME
};

#define NAMES (sizeof(names) / sizeof(names[0]))

static const struct json_name *find_name(uint32_t type, const char *attribute)
{
	for (size_t i = 0; i < NAMES; i++)
		if (names[i].type == type && names[i].kind != EXTRA &&
		    !strcmp(names[i].attribute, attribute))
			return &names[i];
	return NULL;
}

static bool is_kind(const struct json_name *name, enum kind kind)
{
	return name && name->kind == kind;
}

/* The key of an attribute: that of json_names.def, or the attribute's name or its plural. */
static const char *key_of(uint32_t type, const struct morph_attr *attr, char plural[KEY_BYTES])
{
	const struct json_name *name = find_name(type, attr->name);

	if (name)
		return name->key;
	if (!attr->is_list)
		return attr->name;
	snprintf(plural, KEY_BYTES, "%ss", attr->name);
	return plural;
}

/* jansson's integers are signed. A larger number becomes a string of digits. */
static json_t *unsigned_number(uint64_t number)
{
	char digits[24];

	if (number <= INT64_MAX)
		return json_integer((json_int_t)number);
	snprintf(digits, sizeof(digits), "%" PRIu64, number);
	return json_string(digits);
}

static json_t *value_of(const struct morph_object *object, const struct morph_attr *attr,
			size_t value)
{
	const struct json_name *name = find_name(morph_object_type(object), attr->name);
	MORPH_OPTS(morph_value, read);

	morph_object_value(object, attr->name, value, &read);
	switch (attr->type) {
	case MORPH_ATTR_UINT:
		return is_kind(name, BOOLEAN) ? json_boolean(read.uint) :
						unsigned_number(read.uint);
	case MORPH_ATTR_SINT:
		return json_integer(read.sint);
	case MORPH_ATTR_ENUM:
		/* A newer kernel can send values for which this library has no name. */
		return read.text ? json_string(read.text) : unsigned_number(read.uint);
	case MORPH_ATTR_FLAG:
		return json_true();
	case MORPH_ATTR_OBJECT:
		return record_of(read.object);
	default:
		return json_string(read.text ? read.text : "");
	}
}

json_t *record_of(const struct morph_object *object)
{
	struct morph_attr attr = { .sz = sizeof(attr) };
	uint32_t type = morph_object_type(object);
	json_t *record = json_object();

	for (size_t position = 0; morph_object_attr(object, position, &attr); position++) {
		char plural[KEY_BYTES];
		const char *key = key_of(type, &attr, plural);
		json_t *list;

		if (!attr.is_list) {
			json_object_set_new(record, key, value_of(object, &attr, 0));
			continue;
		}
		list = json_array();
		for (size_t i = 0; i < attr.values; i++)
			json_array_append_new(list, value_of(object, &attr, i));
		json_object_set_new(record, key, list);
	}
	return record;
}

json_t *records_of(const struct morph_list *list)
{
	json_t *records = json_array();

	for (size_t i = 0; i < morph_list_count(list); i++)
		json_array_append_new(records, record_of(morph_list_get(list, i)));
	return records;
}

/* Append to a list that commas separate. */
static void append(char **list, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void append(char **list, const char *format, ...)
{
	char *word, *longer;
	va_list arguments;

	va_start(arguments, format);
	word = format_text(format, arguments);
	va_end(arguments);
	if (asprintf(&longer, "%s%s%s", *list, **list ? "," : "", word) < 0)
		longer = NULL;
	free(word);
	free(*list);
	*list = needed(longer);
}

/* Add an attribute to the keys, or to the old names if its key has another name. */
static void add_attribute(uint32_t type, const struct morph_attr *attr, char **keys, char **renamed)
{
	char plural[KEY_BYTES];
	const char *key = key_of(type, attr, plural);

	if (is_kind(find_name(type, attr->name), ABSENT))
		return;
	append(keys, "%s", key);
	if (strcmp(key, attr->name))
		append(renamed, "%s=%s", attr->name, key);
}

void record_keys(uint32_t type, char **keys, char **renamed)
{
	struct morph_attr attr = { .sz = sizeof(attr) };

	*keys = *renamed = NULL;
	if (!morph_schema_attr(type, 0, &attr))
		return;
	*keys = needed(strdup(""));
	*renamed = needed(strdup(""));
	for (size_t i = 0; morph_schema_attr(type, i, &attr); i++)
		add_attribute(type, &attr, keys, renamed);
	for (size_t i = 0; i < NAMES; i++) {
		if (names[i].type != type || names[i].kind != EXTRA)
			continue;
		append(keys, "%s", names[i].key);
		if (names[i].attribute)
			append(renamed, "%s=%s", names[i].attribute, names[i].key);
	}
}

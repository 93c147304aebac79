// SPDX-License-Identifier: GPL-2.0-or-later
/* Snapshots of libmorph to records: JSON with the specification's names. */
#include <inttypes.h>

#include "morphctl/client/client.h"

/* jansson's integers are signed; what does not fit is written as a string of digits. */
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
	const char *text;

	switch (attr->type) {
	case MORPH_ATTR_UINT:
		return unsigned_number(morph_object_uint_at(object, attr->name, value));
	case MORPH_ATTR_SINT:
		return json_integer(morph_object_sint_at(object, attr->name, value));
	case MORPH_ATTR_ENUM:
		text = morph_object_text_at(object, attr->name, value);
		/* A word that a newer kernel knows and this library does not. */
		return text ? json_string(text) :
			      unsigned_number(morph_object_uint_at(object, attr->name, value));
	case MORPH_ATTR_FLAG:
		return json_true();
	case MORPH_ATTR_OBJECT:
		return record_of(morph_object_nested_at(object, attr->name, value));
	default:
		text = morph_object_text_at(object, attr->name, value);
		return json_string(text ? text : "");
	}
}

json_t *record_of(const struct morph_object *object)
{
	struct morph_attr attr = { .sz = sizeof(attr) };
	json_t *record = json_object();

	for (size_t position = 0; morph_object_attr(object, position, &attr); position++) {
		json_t *list;

		if (!attr.is_list) {
			json_object_set_new(record, attr.name, value_of(object, &attr, 0));
			continue;
		}
		list = json_array();
		for (size_t i = 0; i < attr.values; i++)
			json_array_append_new(list, value_of(object, &attr, i));
		json_object_set_new(record, attr.name, list);
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

// SPDX-License-Identifier: GPL-2.0-or-later
/* Convert objects of libmorph to records: JSON with the specification's names. */
#include <inttypes.h>

#include "morphctl/client/client.h"

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
	MORPH_OPTS(morph_value, read);

	morph_object_value(object, attr->name, value, &read);
	switch (attr->type) {
	case MORPH_ATTR_UINT:
		return unsigned_number(read.uint);
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

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Members of records, with a value for those that are absent. */
#ifndef MORPHCTL_VALUE_H
#define MORPHCTL_VALUE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define NUMBER_NONE UINT32_MAX

static inline uint32_t number_of(const json_t *record, const char *key, uint32_t absent)
{
	const json_t *value = json_object_get(record, key);

	return json_is_integer(value) ? (uint32_t)json_integer_value(value) : absent;
}

static inline uint64_t wide_of(const json_t *record, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(record, key));
}

static inline const char *text_of_key(const json_t *record, const char *key)
{
	const char *text = json_string_value(json_object_get(record, key));

	return text ? text : "";
}

static inline bool key_is(const json_t *record, const char *key, const char *text)
{
	return !strcmp(text_of_key(record, key), text);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records for people and programs, and their members. Records are JSON objects with the
 * specification's attribute names.
 */
#ifndef MORPHCTL_OUTPUT_H
#define MORPHCTL_OUTPUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "morphctl/command/command.h"

/*
 * @columns: attributes that a table shows, divided by commas; --fields wins.
 * @attributes: all attributes that there may be, divided by commas, or NULL when that is
 * not known; a field that is none of them is a usage error.
 */
struct view {
	const char *columns;
	const char *attributes;
};

/* Is every field of --fields an attribute of the view? If not, it is said. */
bool emit_knows_fields(const struct run *run, const struct view *view);

/* Emitting takes no reference: the caller keeps its records. */
enum exit_code emit_list(const struct run *run, const struct view *view, json_t *records);
enum exit_code emit_one(const struct run *run, const struct view *view, json_t *record);

/* One record on one line, at once: JSON Lines. */
void emit_line(json_t *record);

/* A JSON document as it is. */
void emit_document(json_t *document);

/* A small table in the text of a larger output. */
void emit_table(const struct run *run, const char *columns, json_t *records);

/* format.c: one value as text for people, in a buffer that the caller frees */
char *format_value(const char *key, const json_t *value);
const char *format_color(const char *key, const char *text);
bool format_is_number(const char *key, const json_t *value);

/* Members of records, with a value for those that are absent. */

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

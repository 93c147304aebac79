/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records for people and programs, and their members. Records are JSON objects. Their keys are
 * described by client/json_names.def.
 */
#ifndef MORPHCTL_OUTPUT_H
#define MORPHCTL_OUTPUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "morphctl/command/command.h"

/*
 * @columns: keys that a table shows, separated by commas; --fields replaces them.
 * @attributes: all keys that records can have, separated by commas, or NULL if they are unknown.
 * Another key in --fields is a usage error.
 * @renamed: old names of keys as OLD=KEY, separated by commas, or NULL. The error names the KEY.
 */
struct view {
	const char *columns;
	const char *attributes;
	const char *renamed;
};

/* Check that each field of --fields is an attribute of the view. Prints a message if not. */
bool emit_knows_fields(const struct run *run, const struct view *view);

/* The emit functions take no reference: the caller keeps its records. */
enum exit_code emit_list(const struct run *run, const struct view *view, json_t *records);
enum exit_code emit_one(const struct run *run, const struct view *view, json_t *record);

/* Print one record on one line and flush it: JSON Lines. */
void emit_line(json_t *record);

/* Print a JSON document unchanged. */
void emit_document(json_t *document);

/* Print a small table inside a larger output. */
void emit_table(const struct run *run, const char *columns, json_t *records);

/* format.c: one value as text for people, in a buffer that the caller frees */
char *format_value(const char *key, const json_t *value);
const char *format_heading(const char *key);
/* A list in a sentence. */
char *format_list(const char *key, const json_t *list);
const char *format_color(const char *key, const char *text);
bool format_is_number(const char *key, const json_t *value);

/* An amount with its unit, for say(). */
struct amount {
	char text[32];
};

struct amount amount_ns(uint64_t ns);
struct amount amount_bytes(uint64_t bytes);

/* The wall clock, or MORPHCTL_BOOT_TIME for recordings of another machine. */
int64_t wall_clock_ns(void);

/* table.c: @names are the keys to show. */
void table_print(const json_t *names, const json_t *records, bool headings);
/* A line for each key. */
void table_print_record(const json_t *names, const json_t *record);

/* people.c: copies of records in which ports, lasers and receivers are ACCELERATOR.PLANE. */
json_t *for_people(const struct run *run, json_t *records);
/* Name the laser or receiver of a record with "part" and "index". @planes: 0 if not known. */
void name_port(json_t *record, uint32_t planes);
/* The part of a record, as "laser 3.1", in a buffer that the caller frees. */
char *part_name(const struct run *run, const json_t *record);

/* Members of records, with a default for absent ones. */

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

static inline bool flag_of(const json_t *record, const char *key)
{
	return json_is_true(json_object_get(record, key));
}

static inline const char *text_of_key(const json_t *record, const char *key)
{
	const char *text = json_string_value(json_object_get(record, key));

	return text ? text : "";
}

/* Return whether a record of a list has a key. */
static inline bool any_has(const json_t *records, const char *key)
{
	const json_t *record;
	size_t i;

	json_array_foreach(records, i, record)
	{
		if (json_object_get(record, key))
			return true;
	}
	return false;
}

static inline bool key_is(const json_t *record, const char *key, const char *text)
{
	return !strcmp(text_of_key(record, key), text);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The one emitter: records are JSON objects with the specification's attribute names. */
#ifndef MORPHCTL_EMIT_H
#define MORPHCTL_EMIT_H

#include "morphctl.h"

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

#endif

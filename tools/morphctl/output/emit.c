// SPDX-License-Identifier: GPL-2.0-or-later
/* Print records as tables by libsmartcols, and as JSON by jansson. */
#include <libsmartcols.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "morphctl/output/output.h"

static bool colored(void)
{
	const char *off = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && !(off && *off) && term && strcmp(term, "dumb");
}

static bool in_list(const char *list, const char *word, size_t length)
{
	while (list && *list) {
		size_t this = strcspn(list, ",");

		if (this == length && !strncmp(list, word, length))
			return true;
		list += this + (list[this] == ',');
	}
	return false;
}

/* Find the key that replaces an old one in a list of OLD=KEY. */
static const char *find_renamed(const char *list, const char *old, size_t length)
{
	while (list && *list) {
		if (!strncmp(list, old, length) && list[length] == '=')
			return list + length + 1;
		list += strcspn(list, ",");
		list += *list == ',';
	}
	return NULL;
}

static void refuse_field(const struct run *run, const struct view *view, const char *word,
			 size_t length)
{
	const char *key = find_renamed(view->renamed, word, length);

	if (key)
		usage_error(run, "--fields: '%.*s' is now '%.*s'", (int)length, word,
			    (int)strcspn(key, ","), key);
	else
		usage_error(run, "--fields: unknown attribute '%.*s'; known attributes: %s",
			    (int)length, word, view->attributes);
}

bool emit_knows_fields(const struct run *run, const struct view *view)
{
	const char *word = run->option[OPTION_FIELDS];

	if (!word || !view->attributes || !strcmp(word, "all"))
		return true;
	/* An empty name is an error, even at the end of the list. */
	for (;;) {
		size_t length = strcspn(word, ",");

		if (!in_list(view->attributes, word, length)) {
			refuse_field(run, view, word, length);
			return false;
		}
		if (!word[length])
			return true;
		word += length + 1;
	}
}

/* The attributes to show, or NULL for all. */
static const char *fields(const struct run *run, const char *columns)
{
	const char *asked = run->option[OPTION_FIELDS];

	if (!asked)
		return columns;
	return strcmp(asked, "all") ? asked : NULL;
}

static json_t *names_of_list(const char *list)
{
	json_t *names = json_array();

	while (*list) {
		size_t length = strcspn(list, ",");

		json_array_append_new(names, json_stringn(list, length));
		list += length + (list[length] == ',');
	}
	return names;
}

/* All keys of all records, in the order of their first occurrence. */
static json_t *names_of_records(json_t *records)
{
	json_t *names = json_array(), *seen = json_object(), *record, *value;
	const char *key;
	size_t i;

	json_array_foreach(records, i, record)
	{
		json_object_foreach(record, key, value)
		{
			if (json_object_get(seen, key))
				continue;
			json_object_set_new(seen, key, json_true());
			json_array_append_new(names, json_string(key));
		}
	}
	json_decref(seen);
	return names;
}

static json_t *selected(json_t *record, const char *list)
{
	json_t *names, *name, *part;
	size_t i;

	if (!list)
		return json_incref(record);
	names = names_of_list(list);
	part = json_object();
	json_array_foreach(names, i, name)
	{
		const char *key = json_string_value(name);
		json_t *value = json_object_get(record, key);

		if (value)
			json_object_set(part, key, value);
	}
	json_decref(names);
	return part;
}

/* Print a table completely or end the program: libsmartcols fails only when memory is short. */
static void done(int error)
{
	needed(error ? NULL : "");
}

/* The table takes over @text. */
static void set_cell(struct libscols_line *line, size_t column, const char *key, char *text)
{
	const char *color = format_color(key, text);

	done(scols_line_refer_data(line, column, text));
	if (color)
		done(scols_cell_set_color(scols_line_get_cell(line, column), color));
}

static void add_line(struct libscols_table *table, json_t *names, json_t *record)
{
	struct libscols_line *line = needed(scols_table_new_line(table, NULL));
	json_t *name;
	size_t i;

	json_array_foreach(names, i, name)
	{
		const char *key = json_string_value(name);

		set_cell(line, i, key, format_value(key, json_object_get(record, key)));
	}
}

static struct libscols_table *new_table(bool noheadings)
{
	struct libscols_table *table = needed(scols_new_table());

	scols_table_enable_noheadings(table, noheadings);
	scols_table_enable_colors(table, colored());
	done(scols_table_set_column_separator(table, "  "));
	/*
	 * Never cut values, because the output of a script must not depend on the width of the
	 * terminal.
	 */
	scols_table_set_termforce(table, SCOLS_TERMFORCE_ALWAYS);
	scols_table_set_termwidth(table, 1 << 15);
	return table;
}

/* The heading of a number of objects is the name of the objects. */
static void add_column(struct libscols_table *table, const char *key, bool right)
{
	static const char count[] = "-count";
	size_t length = strlen(key), i;
	char heading[64];

	if (length > strlen(count) && !strcmp(key + length - strlen(count), count))
		length -= strlen(count);
	for (i = 0; i < sizeof(heading) - 1 && i < length; i++)
		heading[i] = key[i] >= 'a' && key[i] <= 'z' ? key[i] - 32 : key[i];
	heading[i] = 0;
	needed(scols_table_new_column(table, heading, 0, right ? SCOLS_FL_RIGHT : 0));
}

static void print_table(json_t *names, json_t *records, bool noheadings)
{
	struct libscols_table *table = new_table(noheadings);
	json_t *name, *record;
	size_t i;

	json_array_foreach(names, i, name)
	{
		const char *key = json_string_value(name);
		bool number = json_array_size(records);
		size_t k;

		json_array_foreach(records, k, record)
		{
			const json_t *value = json_object_get(record, key);

			number = number && (!value || format_is_number(key, value));
		}
		add_column(table, key, number);
	}
	json_array_foreach(records, i, record) add_line(table, names, record);
	if (json_array_size(records))
		done(scols_print_table(table));
	scols_unref_table(table);
}

void emit_table(const struct run *run, const char *columns, json_t *records)
{
	json_t *names = columns ? names_of_list(columns) : names_of_records(records);

	print_table(names, records, given(run, OPTION_NOHEADINGS));
	json_decref(names);
}

void emit_document(json_t *document)
{
	json_dumpf(document, stdout, JSON_INDENT(2) | JSON_ENCODE_ANY);
	putchar('\n');
}

void emit_line(json_t *record)
{
	json_dumpf(record, stdout, JSON_COMPACT);
	putchar('\n');
	fflush(stdout);
}

enum exit_code emit_list(const struct run *run, const struct view *view, json_t *records)
{
	json_t *list, *record;
	size_t i;

	if (!emit_knows_fields(run, view))
		return EXIT_CODE_USAGE;
	if (!given(run, OPTION_JSON)) {
		emit_table(run, fields(run, view->columns), records);
		return EXIT_CODE_OK;
	}
	list = json_array();
	json_array_foreach(records, i, record)
		json_array_append_new(list, selected(record, fields(run, NULL)));
	emit_document(list);
	json_decref(list);
	return EXIT_CODE_OK;
}

/* Print nested records in a table of their own below. */
static bool is_table(const json_t *value)
{
	return json_is_array(value) && json_is_object(json_array_get(value, 0));
}

static void print_nested(const struct run *run, json_t *record)
{
	const char *key;
	json_t *value;

	json_object_foreach(record, key, value)
	{
		if (!is_table(value) && !json_is_object(value))
			continue;
		printf("\n%s:\n", key);
		if (is_table(value)) {
			emit_table(run, NULL, value);
		} else {
			json_t *list = json_pack("[O]", value);

			emit_table(run, NULL, list);
			json_decref(list);
		}
	}
}

static void print_record(const struct run *run, json_t *record)
{
	struct libscols_table *table = new_table(true);
	const char *key;
	json_t *value;

	add_column(table, "name", false);
	add_column(table, "value", false);
	json_object_foreach(record, key, value)
	{
		struct libscols_line *line;

		if (is_table(value) || json_is_object(value))
			continue;
		line = needed(scols_table_new_line(table, NULL));
		done(scols_line_set_data(line, 0, key));
		set_cell(line, 1, key, format_value(key, value));
	}
	done(scols_print_table(table));
	scols_unref_table(table);
	print_nested(run, record);
}

enum exit_code emit_one(const struct run *run, const struct view *view, json_t *record)
{
	json_t *part;

	if (!emit_knows_fields(run, view))
		return EXIT_CODE_USAGE;
	part = selected(record, fields(run, NULL));
	if (given(run, OPTION_JSON))
		emit_document(part);
	else
		print_record(run, part);
	json_decref(part);
	return EXIT_CODE_OK;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Print records, as tables for people or as JSON. */
#include <string.h>

#include "morphctl/output/output.h"

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

void emit_table(const struct run *run, const char *columns, json_t *records)
{
	json_t *people = for_people(run, records);
	json_t *names = columns ? names_of_list(columns) : names_of_records(people);

	table_print(names, people, !given(run, OPTION_NOHEADINGS));
	json_decref(names);
	json_decref(people);
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

/* Say that a list is empty, so that nobody takes the empty output for an error. */
static void say_empty(const struct run *run)
{
	static const char *const names[][2] = {
		{ "txn list", "transactions" },
		{ "hardware list", "unhealthy or cordoned parts" },
		{ "fault list", "active faults" },
		{ "fault knobs", "faults to inject" },
		{ "fault log", "injected faults" },
		{ "controller reservations", "reservations" },
	};
	const char *name = command_name(run->command);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i][0])) {
			say("no %s\n", names[i][1]);
			return;
		}
	say("no %ss\n", run->command->object);
}

enum exit_code emit_list(const struct run *run, const struct view *view, json_t *records)
{
	json_t *list, *record;
	size_t i;

	if (!emit_knows_fields(run, view))
		return EXIT_CODE_USAGE;
	if (!given(run, OPTION_JSON)) {
		if (json_array_size(records))
			emit_table(run, fields(run, view->columns), records);
		else if (!given(run, OPTION_NOHEADINGS))
			say_empty(run);
		return EXIT_CODE_OK;
	}
	list = json_array();
	json_array_foreach(records, i, record)
		json_array_append_new(list, selected(record, fields(run, NULL)));
	emit_document(list);
	json_decref(list);
	return EXIT_CODE_OK;
}

static void print_record(const struct run *run, json_t *record);

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
		say("\n%s:\n", format_heading(key));
		if (is_table(value))
			emit_table(run, NULL, value);
		else
			print_record(run, value);
	}
}

static void print_record(const struct run *run, json_t *record)
{
	json_t *list = json_pack("[O]", record), *people = for_people(run, list), *flat;
	json_t *names = names_of_records(people), *name;
	size_t i;

	record = json_array_get(people, 0);
	flat = json_array();
	json_array_foreach(names, i, name)
	{
		const json_t *value = json_object_get(record, json_string_value(name));

		if (!is_table(value) && !json_is_object(value))
			json_array_append(flat, name);
	}
	table_print_record(flat, record);
	print_nested(run, record);
	json_decref(flat);
	json_decref(names);
	json_decref(people);
	json_decref(list);
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

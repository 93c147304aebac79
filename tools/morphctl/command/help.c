// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Help at each level, and the dump of the command table. Man pages and completion are generated
 * from the dump.
 */
#include <stdlib.h>
#include <string.h>

#include "morphctl/command/command.h"

#define WIDTH 78
#define SENTENCES 38 /* column where the descriptions of options begin */
#define VERBS 32 /* the same for verbs */
#define TEXT_ROOM 256 /* bytes of an option with its argument */
#define EXAMPLE 2 /* indentation of examples */
#define OBJECTS 14 /* the same for objects */

bool object_known(const char *object)
{
	for (size_t i = 0; i < objects_count; i++)
		if (!strcmp(objects[i].name, object))
			return true;
	return false;
}

static size_t help_width(void)
{
	return text_width() < WIDTH ? text_width() : WIDTH;
}

/* Wrap each line of a text. Lines that begin with a space show a file and stay unchanged. */
static void wrapped(FILE *stream, const char *text)
{
	for (;;) {
		size_t length = strcspn(text, "\n");
		char *line = needed(strndup(text, length));

		if (*line == ' ')
			fputs(line, stream);
		else
			text_wrap(stream, line, 0, 0, help_width());
		fputc('\n', stream);
		free(line);
		if (!text[length])
			return;
		text += length + 1;
	}
}

/* Print @text in a column of its own that begins at @column. */
static void in_column(FILE *stream, const char *text, size_t column)
{
	text_wrap(stream, text, column, column, help_width());
	fputc('\n', stream);
}

/* Continue in @column, on a new line if the text is already past it. */
static void padded(FILE *stream, int width, int column)
{
	if (width > column) {
		fputc('\n', stream);
		width = 0;
	}
	fprintf(stream, "%*s ", column - width, "");
}

static void print_exits(FILE *stream)
{
	fputs("\nExit status:\n", stream);
	for (size_t i = 0; i < exits_count; i++) {
		int column = fprintf(stream, "  %d  ", exit_specs[i].code);

		in_column(stream, exit_specs[i].meaning, (size_t)column);
	}
}

static void print_objects(FILE *stream, bool aliases)
{
	for (size_t i = 0; i < objects_count; i++) {
		if (!object_alias_of(objects[i].name) != !aliases)
			continue;
		padded(stream, fprintf(stream, "  %s", objects[i].name), OBJECTS);
		in_column(stream, objects[i].help, OBJECTS + 1);
	}
}

void help_all(FILE *stream)
{
	fputs("Usage: morphctl OBJECT VERB [ARGUMENTS] [OPTIONS]\n\nAdministers programmable photonic fabrics between accelerators.\n\nObjects:\n",
	      stream);
	print_objects(stream, false);
	fputs("\nAliases:\n", stream);
	print_objects(stream, true);
	fputs("\n'morphctl OBJECT help' lists the verbs of an object.\n'morphctl OBJECT VERB --help' describes one verb.\n",
	      stream);
	print_exits(stream);
}

void help_object(FILE *stream, const char *object)
{
	const struct command *only = command_find(object, NULL);

	if (only && !only->verb) {
		help_command(stream, only);
		return;
	}
	fprintf(stream, "Usage: morphctl %s VERB [ARGUMENTS] [OPTIONS]\n\nVerbs:\n", object);
	for (size_t i = 0; i < commands_count; i++) {
		const struct command *command = &commands[i];
		if (strcmp(command->object, object))
			continue;
		padded(stream, fprintf(stream, "  %s %s", command->verb, command->arguments),
		       VERBS);
		if (command->alias_of)
			fprintf(stream, "alias of '%s'\n", command_name(command->alias_of));
		else
			in_column(stream, command->help, VERBS + 1);
	}
	print_exits(stream);
}

static void option_line(FILE *stream, const struct option_spec *spec)
{
	char letter[] = { ' ',
			  ' ',
			  spec->letter ? '-' : ' ',
			  spec->letter ? spec->letter : ' ',
			  spec->letter ? ',' : ' ',
			  ' ',
			  '\0' };
	char text[TEXT_ROOM];

	snprintf(text, sizeof(text), "--%s%s%s", spec->name, spec->argument ? " " : "",
		 spec->argument ? spec->argument : "");
	fputs(letter, stream);
	text_wrap(stream, text, sizeof(letter) - 1, sizeof(letter) + 1, help_width());
	padded(stream, (int)(sizeof(letter) - 1 + strlen(text)), SENTENCES);
	in_column(stream, spec->help, SENTENCES + 1);
}

static void usage_line(FILE *stream, const char *command, const char *arguments)
{
	char text[TEXT_ROOM];

	snprintf(text, sizeof(text), "Usage: morphctl %s%s%s [OPTIONS]", command,
		 *arguments ? " " : "", arguments);
	text_wrap(stream, text, 0, sizeof("Usage:"), help_width());
	fputs("\n\n", stream);
}

/* Print commands, one on each line. A backslash continues a long one, as in a shell. */
static void print_examples(FILE *stream, const char *examples)
{
	const char *next = examples;

	while (*next) {
		size_t length = strcspn(next, "\n"), size;
		char *line = needed(strndup(next, length)), *lines = NULL;
		FILE *memory = needed(open_memstream(&lines, &size));

		text_wrap(memory, line, EXAMPLE, 2 * EXAMPLE, help_width() - strlen(" \\"));
		fclose(memory);
		fprintf(stream, "%*s", EXAMPLE, "");
		for (const char *at = needed(lines); *at; at++)
			fputs(*at == '\n' ? " \\\n" : (char[]){ *at, 0 }, stream);
		fputc('\n', stream);
		free(lines);
		free(line);
		next += length + (next[length] == '\n');
	}
}

void help_command(FILE *stream, const struct command *command)
{
	usage_line(stream, command_name(command), command->arguments);
	if (command->alias_of)
		fprintf(stream, "Alias of 'morphctl %s'.\n\n", command_name(command->alias_of));
	wrapped(stream, command->help);
	if (command->detail) {
		fputc('\n', stream);
		wrapped(stream, command->detail);
	}
	fputs("\nOptions:\n", stream);
	for (size_t id = 0; id < OPTION_COUNT_OF; id++) {
		if (takes_option(command, id))
			option_line(stream, &option_specs[id]);
	}
	fputs("\nExamples:\n", stream);
	print_examples(stream, command->examples);
	print_exits(stream);
}

static json_t *text_or_null(const char *text)
{
	return text ? json_string(text) : json_null();
}

static json_t *command_json(const struct command *command)
{
	json_t *options = json_array();

	for (size_t id = 0; id < OPTION_COUNT_OF; id++) {
		const struct option_spec *spec = &option_specs[id];
		char letter[2] = { spec->letter, 0 };

		if (takes_option(command, id))
			json_array_append_new(options,
					      json_pack("{s:s, s:s, s:o, s:s}", "name", spec->name,
							"letter", letter, "argument",
							text_or_null(spec->argument), "help",
							spec->help));
	}
	return json_pack("{s:s, s:o, s:o, s:s, s:s, s:o, s:s, s:o}", "object", command->object,
			 "verb", text_or_null(command->verb), "alias-of",
			 text_or_null(command->alias_of ? command_name(command->alias_of) : NULL),
			 "arguments", command->arguments, "help", command->help, "detail",
			 text_or_null(command->detail), "examples", command->examples, "options",
			 options);
}

enum exit_code dump_commands(void)
{
	json_t *list = json_array(), *nouns = json_array(), *exits = json_array(), *all;

	for (size_t i = 0; i < commands_count; i++)
		json_array_append_new(list, command_json(&commands[i]));
	for (size_t i = 0; i < objects_count; i++)
		json_array_append_new(nouns, json_pack("{s:s, s:s}", "name", objects[i].name,
						       "help", objects[i].help));
	for (size_t i = 0; i < exits_count; i++)
		json_array_append_new(exits, json_pack("{s:i, s:s}", "code", exit_specs[i].code,
						       "meaning", exit_specs[i].meaning));
	all = json_pack("{s:s, s:o, s:o, s:o}", "version", MORPHCTL_VERSION, "objects", nouns,
			"exits", exits, "commands", list);
	json_dumpf(all, stdout, JSON_INDENT(1));
	putchar('\n');
	json_decref(all);
	return EXIT_CODE_OK;
}

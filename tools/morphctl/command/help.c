// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Help at each level, and the dump of the command table. Man pages and completion are generated
 * from the dump.
 */
#include <string.h>

#include "morphctl/command/command.h"

#define WIDTH 78
#define SENTENCES 38 /* column where the descriptions of options begin */
#define VERBS 32 /* the same for verbs */

bool object_known(const char *object)
{
	for (size_t i = 0; i < objects_count; i++)
		if (!strcmp(objects[i].name, object))
			return true;
	return false;
}

/* Print words in lines of at most WIDTH columns. Lines that begin with a space stay unchanged. */
static void wrapped(FILE *stream, const char *text)
{
	size_t column = 0;

	while (*text) {
		size_t length = strcspn(text, " \n");

		if (column == 0 && *text == ' ') {
			length = strcspn(text, "\n");
			fprintf(stream, "%.*s", (int)length, text);
			column = length;
		} else {
			if (column && column + 1 + length > WIDTH) {
				fputc('\n', stream);
				column = 0;
			}
			fprintf(stream, "%s%.*s", column ? " " : "", (int)length, text);
			column += length + (column ? 1 : 0);
		}
		text += length;
		if (*text == '\n') {
			fputc('\n', stream);
			column = 0;
		}
		if (*text)
			text++;
	}
	fputc('\n', stream);
}

static void print_exits(FILE *stream)
{
	fputs("\nExit status:\n", stream);
	for (size_t i = 0; i < exits_count; i++)
		fprintf(stream, "  %d  %s\n", exit_specs[i].code, exit_specs[i].meaning);
}

static void print_objects(FILE *stream, bool aliases)
{
	for (size_t i = 0; i < objects_count; i++)
		if (!object_alias_of(objects[i].name) == !aliases)
			fprintf(stream, "  %-12s %s\n", objects[i].name, objects[i].help);
}

void help_all(FILE *stream)
{
	fputs("Usage: morphctl OBJECT VERB [ARGUMENTS] [OPTIONS]\n\nAdministers programmable photonic fabrics between accelerators.\n\nObjects:\n",
	      stream);
	print_objects(stream, false);
	fputs("\nAliases:\n", stream);
	print_objects(stream, true);
	fputs("\n'morphctl OBJECT help' lists the verbs of an object. 'morphctl OBJECT VERB --help'\ndescribes one verb.\n",
	      stream);
	print_exits(stream);
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
			fprintf(stream, "%s\n", command->help);
	}
	print_exits(stream);
}

static void option_line(FILE *stream, const struct option_spec *spec)
{
	int width = fprintf(stream, "  %c%c%c --%s%s%s", spec->letter ? '-' : ' ',
			    spec->letter ? spec->letter : ' ', spec->letter ? ',' : ' ', spec->name,
			    spec->argument ? " " : "", spec->argument ? spec->argument : "");

	padded(stream, width, SENTENCES);
	fprintf(stream, "%s\n", spec->help);
}

void help_command(FILE *stream, const struct command *command)
{
	fprintf(stream, "Usage: morphctl %s%s%s [OPTIONS]\n\n", command_name(command),
		*command->arguments ? " " : "", command->arguments);
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
	fputs("\nExamples:\n  ", stream);
	for (const char *text = command->examples; *text; text++)
		fputs(*text == '\n' ? "\n  " : (char[]){ *text, 0 }, stream);
	fputc('\n', stream);
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

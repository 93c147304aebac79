// SPDX-License-Identifier: GPL-2.0-or-later
/* morphctl: finds the command, parses its options, runs it. */
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "morphctl/client/client.h"
#include "morphctl/command/command.h"

/* Options may precede the object. -f, -o and their long names have a value. */
static bool brings_value(const char *word)
{
	size_t length = strlen(word);

	if (word[1] == '-')
		return !strcmp(word, "--fabric") || !strcmp(word, "--fields");
	return strcspn(word, "fo") == length - 1;
}

static int first_word(int argc, char **argv, int from)
{
	for (int i = from; i < argc; i++) {
		if (argv[i][0] != '-' || !argv[i][1])
			return i;
		if (brings_value(argv[i]))
			i++;
	}
	return argc;
}

static void take_out(int *argc, char **argv, int at)
{
	memmove(&argv[at], &argv[at + 1], (size_t)(*argc - at) * sizeof(*argv));
	(*argc)--;
}

static bool is_help(const char *word)
{
	return !strcmp(word, "help") || !strcmp(word, "--help") || !strcmp(word, "-h");
}

static enum exit_code usage_object(const char *object)
{
	const char *like = suggest_word(NULL, object);

	if (like)
		warn_line("unknown object '%s'; did you mean '%s'?", object, like);
	else
		warn_line("unknown object '%s'; see 'morphctl help'", object);
	return EXIT_CODE_USAGE;
}

static enum exit_code usage_verb(const char *object, const char *verb)
{
	const char *like = verb ? suggest_word(object, verb) : NULL;

	if (like)
		warn_line("%s: unknown verb '%s'; did you mean '%s'? verbs:", object, verb, like);
	else if (verb)
		warn_line("%s: unknown verb '%s'; verbs:", object, verb);
	else
		warn_line("%s: a verb is missing; verbs:", object);
	for (size_t i = 0; i < commands_count; i++)
		if (!strcmp(commands[i].object, object))
			warn_detail("%s", commands[i].verb);
	return EXIT_CODE_USAGE;
}

/* 'help', 'help OBJECT [VERB]' and 'OBJECT help'. Returns -1 for other commands. */
static int try_help(int argc, char **argv)
{
	const struct command *command;

	if (argc < 2 || !is_help(argv[1])) {
		if (argc < 3 || !object_known(argv[1]) || !is_help(argv[2]))
			return -1;
		help_object(stdout, argv[1]);
		return EXIT_CODE_OK;
	}
	if (argc == 2) {
		help_all(stdout);
		return EXIT_CODE_OK;
	}
	if (!object_known(argv[2]))
		return usage_object(argv[2]);
	command = argc > 3 ? command_find(argv[2], argv[3]) : NULL;
	if (argc > 3 && !command)
		return usage_verb(argv[2], argv[3]);
	if (command)
		help_command(stdout, command);
	else
		help_object(stdout, argv[2]);
	return EXIT_CODE_OK;
}

/* Options that parse wrongly are reported as JSON, too. */
static bool asks_json(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "-j") || !strcmp(argv[i], "--json"))
			return true;
	return false;
}

static enum exit_code run_command(const struct command *command, int argc, char **argv)
{
	struct run run = { .command = command };
	enum exit_code code;

	begin_messages(command, asks_json(argc, argv));
	if (!options_parse(&run, argc, argv))
		return EXIT_CODE_USAGE;
	begin_messages(command, given(&run, OPTION_JSON) || given(&run, OPTION_PLAN_JSON));
	if (given(&run, OPTION_HELP)) {
		help_command(stdout, command);
		return EXIT_CODE_OK;
	}
	if (given(&run, OPTION_WIDE))
		text_set_wide();
	code = command->function(&run);
	client_close(&run);
	return code;
}

static enum exit_code dispatch(int argc, char **argv)
{
	const struct command *command;
	int word, help = try_help(argc, argv);
	const char *object;

	if (help >= 0)
		return (enum exit_code)help;
	if (argc == 2 && !strcmp(argv[1], "__dump-commands"))
		return dump_commands();
	if (argc == 2 && (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")))
		return run_command(command_find("version", NULL), 1, argv);
	word = first_word(argc, argv, 1);
	if (word == argc)
		return run_command(command_find("status", NULL), argc, argv);
	object = argv[word];
	if (!object_known(object))
		return usage_object(object);
	take_out(&argc, argv, word);
	command = command_find(object, NULL);
	if (command && !command->verb)
		return run_command(command, argc, argv);
	word = first_word(argc, argv, word);
	if (word == argc)
		return usage_verb(object, NULL);
	command = command_find(object, argv[word]);
	if (!command)
		return usage_verb(object, argv[word]);
	take_out(&argc, argv, word);
	return run_command(command, argc, argv);
}

/* Allocator for jansson, because the tool does not check each jansson call for missing memory. */
static void *json_memory(size_t bytes)
{
	return needed(malloc(bytes));
}

int main(int argc, char **argv)
{
	enum exit_code code;

	resolve_aliases();
	json_set_alloc_funcs(json_memory, free);
	setlocale(LC_CTYPE, "");
	begin_messages(NULL, asks_json(argc, argv));
	code = dispatch(argc, argv);
	if (fflush(stdout) || ferror(stdout)) {
		warn_line("standard output: %s", strerror(errno));
		code = EXIT_CODE_FAILED;
	}
	end_messages(code);
	stop_release();
	return code;
}

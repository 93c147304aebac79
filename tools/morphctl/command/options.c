// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse options and arguments by the command table, and read their values. */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "morphctl/command/command.h"

#define LONG_BASE 256 /* getopt_long() returns LONG_BASE + i for option i */

/* An argument in brackets is optional. */
static bool needs_argument(const struct option_spec *spec)
{
	return spec->argument && *spec->argument != '[';
}

/*
 * Take a number that follows an option with an optional number, so that it does not become an
 * argument.
 */
static char *next_number(int argc, char **argv)
{
	return optind < argc && argv[optind][0] >= '0' && argv[optind][0] <= '9' ? argv[optind++] :
										   NULL;
}

/*
 * Include the options of this command only, because other commands use a long name for other
 * options.
 */
static void build(const struct command *command, struct option *longs, char *shorts)
{
	size_t id, count = 0;

	*shorts++ = ':';
	for (id = 0; id < OPTION_COUNT_OF; id++) {
		const struct option_spec *spec = &option_specs[id];

		if (!takes_option(command, id))
			continue;
		longs[count].name = spec->name;
		longs[count].has_arg = needs_argument(spec) ? required_argument : no_argument;
		longs[count].flag = NULL;
		longs[count++].val = LONG_BASE + (int)id;
		if (!spec->letter)
			continue;
		*shorts++ = spec->letter;
		if (needs_argument(spec))
			*shorts++ = ':';
	}
	memset(&longs[count], 0, sizeof(longs[count]));
	*shorts = 0;
}

static int option_of_letter(const struct command *command, int letter)
{
	size_t id;

	for (id = 0; id < OPTION_COUNT_OF; id++)
		if (takes_option(command, id) && option_specs[id].letter == letter)
			return (int)id;
	return -1;
}

/* Report an error of getopt. optopt is a letter, or the value that build() gave to a long name. */
static void complain(const struct run *run, int found, char **argv)
{
	int id = optopt >= LONG_BASE ? optopt - LONG_BASE :
		 optopt		     ? option_of_letter(run->command, optopt) :
				       -1;

	if (found == ':' && id >= 0)
		usage_error(run, "--%s requires an argument: %s", option_specs[id].name,
			    option_specs[id].argument);
	else if (optopt >= LONG_BASE)
		usage_error(run, "--%s takes no argument", option_specs[id].name);
	else if (optopt)
		usage_error(run, "unknown option -%c", optopt);
	else
		usage_error(run, "unknown or ambiguous option %s", argv[optind - 1]);
}

bool options_parse(struct run *run, int argc, char **argv)
{
	struct option longs[OPTION_COUNT_OF + 1];
	char shorts[2 * OPTION_COUNT_OF + 2];
	const struct command *command = run->command;
	int found, id;

	build(command, longs, shorts);
	opterr = 0;
	optind = 0;
	while ((found = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		if (found == '?' || found == ':') {
			complain(run, found, argv);
			return false;
		}
		id = found >= LONG_BASE ? found - LONG_BASE : option_of_letter(command, found);
		if (found >= LONG_BASE && !optarg && option_specs[id].argument)
			optarg = next_number(argc, argv);
		run->option[id] = optarg ? optarg : "";
	}
	run->argc = argc - optind;
	run->argv = argv + optind;
	if (given(run, OPTION_HELP))
		return true;
	if (run->argc < command->fewest) {
		usage_error(run, "missing argument; usage: %s", command->arguments);
		return false;
	}
	if (run->argc > command->most) {
		usage_error(run, "unexpected argument '%s'%s%s", run->argv[command->most],
			    *command->arguments ? "; usage: " : "", command->arguments);
		return false;
	}
	return true;
}

bool parse_u64(const char *text, uint64_t min, uint64_t max, uint64_t *value)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*value = strtoull(text, &end, text[0] == '0' && (text[1] | 32) == 'x' ? 16 : 10);
	return !errno && !*end && *value >= min && *value <= max;
}

bool parse_seconds(const char *text, int64_t *ns)
{
	char *end;
	double seconds;

	errno = 0;
	seconds = strtod(text, &end);
	if (errno || end == text || *end || !isfinite(seconds) || seconds < 0 || seconds > 1e9)
		return false;
	*ns = (int64_t)(seconds * 1e9);
	return true;
}

bool parse_user(const char *text, uint32_t *uid)
{
	const struct passwd *user;
	uint64_t number;

	if (parse_u64(text, 0, UINT32_MAX - 1, &number)) {
		*uid = (uint32_t)number;
		return true;
	}
	user = getpwnam(text);
	if (!user)
		return false;
	*uid = user->pw_uid;
	return true;
}

/* Leave @value unchanged if the option is absent. */
bool option_u64(const struct run *run, enum option_id id, uint64_t *value)
{
	if (!given(run, id) || parse_u64(run->option[id], 0, UINT64_MAX, value))
		return true;
	usage_error(run, "--%s must be a number, decimal or 0x..., not '%s'", option_specs[id].name,
		    run->option[id]);
	return false;
}

bool option_u32(const struct run *run, enum option_id id, uint32_t *value)
{
	uint64_t wide;

	if (!given(run, id))
		return true;
	if (!parse_u64(run->option[id], 0, UINT32_MAX - 1, &wide)) {
		usage_error(run, "--%s must be an integer from 0 to 4294967294, not '%s'",
			    option_specs[id].name, run->option[id]);
		return false;
	}
	*value = (uint32_t)wide;
	return true;
}

bool option_ns(const struct run *run, enum option_id id, int64_t *value)
{
	if (!given(run, id) || parse_seconds(run->option[id], value))
		return true;
	usage_error(run, "--%s must be seconds, such as 2 or 0.25, not '%s'", option_specs[id].name,
		    run->option[id]);
	return false;
}

/* Read an option whose argument is one of a list of words: *value is the index of the word. */
bool option_word(const struct run *run, enum option_id id, uint32_t *value)
{
	const char *words = option_specs[id].argument, *text = run->option[id];
	uint32_t number = 0;

	if (!given(run, id))
		return true;
	for (const char *word = words;; number++) {
		size_t length = strcspn(word, "|");

		if (strlen(text) == length && !strncmp(word, text, length)) {
			*value = number;
			return true;
		}
		if (!word[length])
			break;
		word += length + 1;
	}
	usage_error(run, "--%s must be %s, not '%s'", option_specs[id].name, words, text);
	return false;
}

/* Read a list of numbers separated by commas; NULL after a message. */
json_t *option_numbers(const struct run *run, enum option_id id)
{
	json_t *list = json_array();
	char *copy = needed(strdup(run->option[id])), *place = NULL;

	for (char *word = strtok_r(copy, ",", &place); word; word = strtok_r(NULL, ",", &place)) {
		uint64_t number;

		if (!parse_u64(word, 0, UINT32_MAX - 1, &number)) {
			usage_error(
				run,
				"--%s must be numbers separated by commas; '%s' is not a number",
				option_specs[id].name, word);
			json_decref(list);
			list = NULL;
			break;
		}
		json_array_append_new(list, json_integer((json_int_t)number));
	}
	free(copy);
	if (list && !json_array_size(list)) {
		usage_error(run, "--%s must be numbers separated by commas", option_specs[id].name);
		json_decref(list);
		list = NULL;
	}
	return list;
}

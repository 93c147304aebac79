// SPDX-License-Identifier: GPL-2.0-only
/* The input is a word typed by a user: numbers, lists, UUIDs, or names of enums. */
#include "fuzz.h"
#include "internal.h"
#include "morphctl/command/command.h"

const struct option_spec option_specs[OPTION_COUNT_OF] = {
	[0] = { "numbers", 'n', "a|list|of", "" },
};

bool takes_option(const struct command *command, size_t id)
{
	(void)command;
	return !id;
}

static unsigned int complaints;

void *needed(void *memory)
{
	MUST(memory);
	return memory;
}

enum exit_code usage_error(const struct run *run, const char *format, ...)
{
	char line[4096];
	va_list arguments;

	(void)run;
	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	complaints++;
	return EXIT_CODE_USAGE;
}

static void numbers(const char *text)
{
	uint64_t wide;
	uint32_t number;
	int64_t ns;

	if (parse_u64(text, 3, 1000, &wide))
		MUST(wide >= 3 && wide <= 1000);
	if (parse_seconds(text, &ns))
		MUST(ns >= 0);
	if (lm_number(text, &number))
		MUST(parse_u64(text, 0, UINT32_MAX, &wide));
}

static void names(const char *text)
{
	uint8_t uuid[MORPH_UUID_BYTES];

	lm_uuid_parse(text, uuid);
	for (uint32_t words = 0; words < 64; words++) {
		int64_t value = morph_enum_value(words, text);

		if (value >= 0)
			MUST(morph_enum_name(words, (uint32_t)value));
	}
}

static void options(const char *text)
{
	struct run run = { .option = { text } };
	json_t *list;
	uint32_t number = 0;

	complaints = 0;
	list = option_numbers(&run, 0);
	MUST(!list == !!complaints);
	MUST(!list || json_array_size(list));
	json_decref(list);
	if (option_word(&run, 0, &number))
		MUST(number < 3);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	char *text = eat_text(&input);

	numbers(text);
	names(text);
	options(text);
	free(text);
	return 0;
}

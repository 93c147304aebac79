// SPDX-License-Identifier: GPL-2.0-or-later
/* Diagnostics as text or JSON, and the exit status for each errno. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "morphctl/command/command.h"

#define MESSAGE_BYTES 2048 /* a longer message is printed as one line */
#define NAME "morphctl: "
#define HANGING 2 /* indentation of the lines that continue a message */

/* With --json, messages are collected, and end_messages() prints them as one object. */
static struct {
	const struct command *command;
	bool json;
	json_t *list; /* NULL: no message yet */
} messages;

void begin_messages(const struct command *command, bool json)
{
	messages.command = command;
	messages.json = json;
}

bool messages_are_json(void)
{
	return messages.json;
}

char *format_text(const char *format, va_list arguments)
{
	char *text;

	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	return needed(text);
}

/* JSON is UTF-8, but arguments of the command line may have any bytes. Changes @text. */
static json_t *text_value(char *text)
{
	json_t *value = json_string(text);

	for (char *at = text; !value && *at; at++)
		if ((unsigned char)*at >= 0x80)
			*at = '?';
	return value ? value : json_string(text);
}

/* Add a message to the list. Returns false without --json. */
static bool collect(const char *format, va_list arguments)
{
	char *text;

	if (!messages.json)
		return false;
	if (!messages.list)
		messages.list = json_array();
	text = format_text(format, arguments);
	json_array_append_new(messages.list, json_pack("{s:o}", "message", text_value(text)));
	free(text);
	return true;
}

static json_t *last_message(void)
{
	size_t count = json_array_size(messages.list);

	return count ? json_array_get(messages.list, count - 1) : NULL;
}

/* Print a message behind @before, on lines as wide as the terminal. Needs no memory. */
static void print_message(const char *before, const char *format, va_list arguments)
{
	size_t column = strlen(before), indent = strspn(before, " ") + HANGING;
	char text[MESSAGE_BYTES];
	va_list copy;
	int length;

	va_copy(copy, arguments);
	length = vsnprintf(text, sizeof(text), format, copy);
	va_end(copy);
	fflush(stdout);
	fputs(before, stderr);
	if (length < 0 || length >= MESSAGE_BYTES ||
	    column + text_columns(text) <= text_width_of_messages())
		vfprintf(stderr, format, arguments);
	else
		text_wrap(stderr, text, column, indent, text_width_of_messages());
	fputc('\n', stderr);
}

void warn_line(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	progress_end();
	if (!collect(format, arguments))
		print_message(NAME, format, arguments);
	va_end(arguments);
}

void warn_detail(const char *format, ...)
{
	json_t *last = last_message();
	va_list arguments;
	char *text;

	va_start(arguments, format);
	if (last) {
		if (!json_object_get(last, "details"))
			json_object_set_new(last, "details", json_array());
		text = format_text(format, arguments);
		json_array_append_new(json_object_get(last, "details"), text_value(text));
		free(text);
	} else {
		print_message("  ", format, arguments);
	}
	va_end(arguments);
}

void warn_object(const char *object)
{
	json_t *last = last_message();

	if (last)
		json_object_set_new(last, "object", json_string(object));
}

void warn_facts(json_t *facts)
{
	json_t *last = last_message();

	if (last)
		json_object_update(last, facts);
	json_decref(facts);
}

enum exit_code usage_error(const struct run *run, const char *format, ...)
{
	const char *name = command_name(run->command);
	char before[96];
	va_list arguments;

	va_start(arguments, format);
	progress_end();
	if (!collect(format, arguments)) {
		snprintf(before, sizeof(before), NAME "%s: ", name);
		print_message(before, format, arguments);
		fprintf(stderr, "See 'morphctl %s --help'.\n", name);
	}
	va_end(arguments);
	return EXIT_CODE_USAGE;
}

/* The word of an exit status: the name in exits.def in lower case, with hyphens. */
static void exit_word(enum exit_code code, char word[32])
{
	static const char *const names[] = {
#define EXIT(id, code, meaning) [code] = #id,
#include "morphctl/command/exits.def"
#undef EXIT
	};
	size_t i;

	for (i = 0; i < 31 && names[code][i]; i++)
		word[i] = names[code][i] == '_' ? '-' : (char)tolower(names[code][i]);
	word[i] = 0;
}

void end_messages(enum exit_code code)
{
	json_t *document;
	char word[32];

	if (!messages.list)
		return;
	document = json_object();
	if (code) {
		exit_word(code, word);
		json_object_set_new(document, "error", json_string(word));
	}
	json_object_set_new(document, "exit-code", json_integer(code));
	if (messages.command)
		json_object_set_new(document, "command",
				    json_string(command_name(messages.command)));
	json_object_set_new(document, "messages", messages.list);
	messages.list = NULL;
	fflush(stdout);
	json_dumpf(document, stderr, JSON_COMPACT);
	fputc('\n', stderr);
	json_decref(document);
}

#define OUT_OF_MEMORY "out of memory"

void *needed(void *memory)
{
	if (memory)
		return memory;
	progress_end();
	fflush(stdout);
	/* This message needs no memory. */
	if (messages.json)
		fprintf(stderr,
			"{\"error\":\"failed\",\"exit-code\":%d,\"messages\":[{\"message\":\"%s\"}]}\n",
			EXIT_CODE_FAILED, OUT_OF_MEMORY);
	else
		fprintf(stderr, "morphctl: %s\n", OUT_OF_MEMORY);
	exit(EXIT_CODE_FAILED);
}

enum exit_code exit_of_errno(int error)
{
	switch (error) {
	case 0:
		return EXIT_CODE_OK;
	case ENOENT:
	case ENODEV:
	case ENXIO:
		return EXIT_CODE_NOT_FOUND;
	case EPERM:
	case EACCES:
	case EBADF: /* a change on a file opened for reading only */
		return EXIT_CODE_PERMISSION;
	case EOPNOTSUPP:
	case ENOTTY:
	case E2BIG:
	case ENOSYS:
		return EXIT_CODE_UNSUPPORTED;
	case EBUSY:
	case EAGAIN:
	case ESTALE:
		return EXIT_CODE_BUSY;
	case ENOSPC:
		return EXIT_CODE_CAPACITY;
	case EDQUOT:
		return EXIT_CODE_QUOTA;
	case EINVAL:
	case ERANGE:
	case EHOSTUNREACH:
		return EXIT_CODE_INVALID;
	default:
		return EXIT_CODE_FAILED;
	}
}

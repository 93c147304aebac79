// SPDX-License-Identifier: GPL-2.0-or-later
/* Read input files, and refuse them. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "morphctl/input/input.h"

#define MOST_FILE_BYTES ((size_t)1 << 30) /* of a file */

enum exit_code refuse_file(const char *path, const char *why)
{
	warn_line("%s: %s", path, why);
	return EXIT_CODE_USAGE;
}

enum exit_code refuse_line(const char *path, size_t line, const char *format, ...)
{
	char what[384];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	warn_line("%s: line %zu: %s", path, line, what);
	return EXIT_CODE_USAGE;
}

enum exit_code refuse_nul(const char *path, const char *text, size_t length)
{
	size_t line = 1;

	if (strlen(text) == length)
		return EXIT_CODE_OK;
	for (const char *at = text; *at; at++)
		line += *at == '\n';
	return refuse_line(path, line, "NUL character; remove it");
}

enum exit_code input_whole(const char *path, char **text, size_t *length)
{
	FILE *file = strcmp(path, "-") ? fopen(path, "re") : stdin;
	enum exit_code code = EXIT_CODE_OK;
	size_t room = 0, got;

	*text = NULL;
	*length = 0;
	if (!file) {
		warn_line("%s: %s", path, strerror(errno));
		return EXIT_CODE_NOT_FOUND;
	}
	do {
		if (*length + 1 >= room)
			*text = needed(realloc(*text, room = room ? 2 * room : 65536));
		got = fread(*text + *length, 1, room - 1 - *length, file);
		*length += got;
	} while (got && *length <= MOST_FILE_BYTES);
	(*text)[*length] = '\0';
	if (ferror(file)) {
		warn_line("%s: %s", path, strerror(errno));
		code = EXIT_CODE_FAILED;
	} else if (*length > MOST_FILE_BYTES) {
		warn_line("%s: more than 2^30 bytes", path);
		code = EXIT_CODE_USAGE;
	}
	if (file != stdin)
		fclose(file);
	return code;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Open input files. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "morphctl/input/input.h"

#define MOST_FILE_BYTES ((size_t)1 << 30) /* of a file */

enum exit_code input_open(const char *path, FILE **file)
{
	*file = strcmp(path, "-") ? fopen(path, "re") : stdin;
	if (*file)
		return EXIT_CODE_OK;
	warn_line("%s: %s", path, strerror(errno));
	return EXIT_CODE_NOT_FOUND;
}

enum exit_code refuse_file(const char *path, const char *why)
{
	warn_line("%s: %s", path, why);
	return EXIT_CODE_USAGE;
}

enum exit_code refuse_line(const char *path, size_t line, const char *format, ...)
{
	char what[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	warn_line("%s: line %zu: %s", path, line, what);
	return EXIT_CODE_USAGE;
}

void input_close(FILE *file)
{
	if (file != stdin)
		fclose(file);
}

enum exit_code input_whole(const char *path, char **text, size_t *length)
{
	enum exit_code code;
	FILE *file = NULL;
	size_t room = 0, got;

	*text = NULL;
	*length = 0;
	code = input_open(path, &file);
	if (code)
		return code;
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
	input_close(file);
	return code;
}

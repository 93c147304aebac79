// SPDX-License-Identifier: GPL-2.0-or-later
/* Opening what is to be read. */
#include <errno.h>
#include <string.h>

#include "input.h"

enum exit_code input_open(const char *path, FILE **file)
{
	*file = strcmp(path, "-") ? fopen(path, "re") : stdin;
	if (*file)
		return EXIT_CODE_OK;
	warn_line("%s: %s", path, strerror(errno));
	return EXIT_CODE_NOT_FOUND;
}

void input_close(FILE *file)
{
	if (file != stdin)
		fclose(file);
}

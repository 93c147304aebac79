// SPDX-License-Identifier: GPL-2.0-only
/*
 * Progress lines of a program that runs for minutes. Its standard output is read after its end;
 * text on $PROGRESS_FD is shown at once.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "progress.h"

void progress(const char *format, ...)
{
	const char *fd = getenv("PROGRESS_FD");
	va_list arguments;
	char line[160];

	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	dprintf(fd ? atoi(fd) : STDERR_FILENO, "# %s\n", line);
}

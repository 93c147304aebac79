// SPDX-License-Identifier: GPL-2.0-or-later
/* Diagnostics, and the exit status for each errno. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

#include "morphctl/command/command.h"

void warn_line(const char *format, ...)
{
	va_list arguments;

	fflush(stdout);
	fputs("morphctl: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
}

enum exit_code usage_error(const struct run *run, const char *format, ...)
{
	const char *name = command_name(run->command);
	va_list arguments;

	fflush(stdout);
	fprintf(stderr, "morphctl: %s: ", name);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fprintf(stderr, "\nSee 'morphctl %s --help'.\n", name);
	return EXIT_CODE_USAGE;
}

void *needed(void *memory)
{
	if (memory)
		return memory;
	warn_line("out of memory");
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
	default:
		return EXIT_CODE_FAILED;
	}
}

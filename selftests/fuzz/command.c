// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>

#include "command.h"
#include "fuzz.h"
#include "morphctl/command/command.h"

const struct option_spec option_specs[OPTION_COUNT_OF];

bool takes_option(const struct command *command, size_t id)
{
	(void)command;
	(void)id;
	return false;
}

unsigned int complaints;

static void complain(const char *format, va_list arguments)
{
	char line[4096];

	vsnprintf(line, sizeof(line), format, arguments);
	complaints++;
}

void warn_line(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	complain(format, arguments);
	va_end(arguments);
}

void warn_detail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	complain(format, arguments);
	va_end(arguments);
}

enum exit_code usage_error(const struct run *run, const char *format, ...)
{
	va_list arguments;

	(void)run;
	va_start(arguments, format);
	complain(format, arguments);
	va_end(arguments);
	return EXIT_CODE_USAGE;
}

void *needed(void *memory)
{
	MUST(memory);
	return memory;
}

int command_file(const uint8_t *data, size_t size, char path[64])
{
	int fd = memfd_create("input", 0);

	MUST(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}

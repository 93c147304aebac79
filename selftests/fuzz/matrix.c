// SPDX-License-Identifier: GPL-2.0-only
/* The input is a file for 'morphctl plan --matrix'. What is read is a matrix, else a sentence says why. */
#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "plan.h"

const struct option_spec option_specs[OPTION_COUNT_OF];

static unsigned int complaints;

static void complain(const char *format, va_list arguments)
{
	char line[4096];

	vsnprintf(line, sizeof(line), format, arguments);
	complaints++;
}

/* In place of morphctl's own: nothing is printed, everything is formatted. */
void warn_line(const char *format, ...)
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("input", 0);
	enum exit_code code;
	uint64_t *matrix = NULL;
	uint32_t ranks = 0;
	char path[64];

	MUST(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	complaints = 0;
	code = matrix_read(path, &matrix, &ranks);
	MUST(!code == !complaints && !code == !!matrix);
	if (!code)
		MUST(ranks && ranks <= MOST_RANKS);
	for (uint32_t cell = 0; cell < ranks * ranks; cell++)
		MUST(matrix[cell] <= MOST_BYTES);
	free(matrix);
	close(fd);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For LD_PRELOAD: let allocation number LACK of the program fail. The program's own calls count,
 * and those of jansson through the program; with LACK_LIBRARY, those of the library whose name
 * contains it. If there are fewer allocations, create the file LACK_NONE.
 */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The C library's own functions, which need no lookup. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);

static unsigned long left; /* 0: no further failure */
static const char *text, *text_end; /* code of the program or of the library */

/* The first object is the program. */
static int find_text(struct dl_phdr_info *object, size_t bytes, void *library)
{
	(void)bytes;
	if (library && !strstr(object->dlpi_name, library))
		return 0;
	for (int at = 0; at < object->dlpi_phnum; at++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[at];

		if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X)) {
			text = (const char *)object->dlpi_addr + segment->p_vaddr;
			text_end = text + segment->p_memsz;
		}
	}
	return 1;
}

__attribute__((constructor)) static void begin(void)
{
	const char *which = getenv("LACK");

	dl_iterate_phdr(find_text, getenv("LACK_LIBRARY"));
	left = which ? strtoul(which, NULL, 10) : 0;
}

__attribute__((destructor)) static void end(void)
{
	const char *none = getenv("LACK_NONE");

	if (left && none)
		close(open(none, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
}

static bool lacks(const char *caller)
{
	if (!left || caller < text || caller >= text_end || --left)
		return false;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t bytes)
{
	return lacks(__builtin_return_address(0)) ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
	return lacks(__builtin_return_address(0)) ? NULL : __libc_calloc(count, bytes);
}

void *realloc(void *old, size_t bytes)
{
	return lacks(__builtin_return_address(0)) ? NULL : __libc_realloc(old, bytes);
}

char *strdup(const char *from)
{
	size_t bytes = strlen(from) + 1;
	char *copy = lacks(__builtin_return_address(0)) ? NULL : __libc_malloc(bytes);

	return copy ? memcpy(copy, from, bytes) : NULL;
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Functions that the library calls, in versions that can fail. The Makefile renames these functions
 * in the library's objects only: NAME becomes fault_NAME.
 */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <jansson.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>

#include "faults.h"

static struct {
	const char *what; /* NULL: nothing fails */
	unsigned int nth, left;
	int error;
	bool struck;
} fault;

void fault_at(const char *what, unsigned int nth, int error)
{
	fault.what = what;
	fault.nth = fault.left = nth;
	fault.error = error;
	fault.struck = false;
}

unsigned int fault_calls(void)
{
	return fault.nth - fault.left;
}

bool fault_struck(void)
{
	fault.what = NULL;
	return fault.struck;
}

int __sanitizer_install_malloc_and_free_hooks(void (*allocated)(const volatile void *, size_t),
					      void (*freed)(const volatile void *))
	__attribute__((weak));

static unsigned long allocated;

static void count_allocation(const volatile void *memory, size_t bytes)
{
	(void)memory;
	(void)bytes;
	allocated++;
}

static void ignore_free(const volatile void *memory)
{
	(void)memory;
}

unsigned long allocations(void)
{
	static bool installed;
	unsigned long count = allocated;

	if (!installed && __sanitizer_install_malloc_and_free_hooks)
		installed =
			__sanitizer_install_malloc_and_free_hooks(count_allocation, ignore_free);
	allocated = 0;
	return count;
}

bool fault_strikes(const char *what)
{
	if (!fault.what || fault.struck || strcmp(fault.what, what) || --fault.left)
		return false;
	fault.struck = true;
	errno = fault.error;
	return true;
}

/* Function @name with @params. It returns @failed if a failure of @what is due. */
#define FAULTY(what, failed, type, name, params, args)             \
	type fault_##name params                                   \
	{                                                          \
		return fault_strikes(what) ? (failed) : name args; \
	}

/* ------------------------------------------------------------------- memory */

#define MEMORY(type, name, params, args) FAULTY("memory", NULL, type, name, params, args)

MEMORY(void *, malloc, (size_t bytes), (bytes))
MEMORY(void *, calloc, (size_t count, size_t bytes), (count, bytes))
MEMORY(void *, realloc, (void *old, size_t bytes), (old, bytes))
MEMORY(void *, reallocarray, (void *old, size_t count, size_t bytes), (old, count, bytes))
MEMORY(char *, strdup, (const char *text), (text))
MEMORY(char *, strndup, (const char *text, size_t room), (text, room))
MEMORY(FILE *, open_memstream, (char **text, size_t *bytes), (text, bytes))
MEMORY(struct nl_msg *, nlmsg_alloc_size, (size_t bytes), (bytes))
MEMORY(struct nl_sock *, nl_socket_alloc, (void), ())

/*
 * Only readers of foreign files link jansson. This program names the function without needing it.
 */
json_t *json_loadb(const char *text, size_t bytes, size_t flags, json_error_t *error)
	__attribute__((weak));

FAULTY("json_loadb", NULL, json_t *, json_loadb,
       (const char *text, size_t bytes, size_t flags, json_error_t *error),
       (text, bytes, flags, error))

/* fclose() closes the stream even if it fails. */
int fault_fclose(FILE *stream)
{
	int result = fclose(stream);

	return fault_strikes("fclose") ? EOF : result;
}

/* ------------------------------------------------------------- system calls */

#define CALL(type, name, params, args) FAULTY(#name, -1, type, name, params, args)

CALL(ssize_t, read, (int fd, void *buffer, size_t bytes), (fd, buffer, bytes))
FAULTY("mmap64", MAP_FAILED, void *, mmap64,
       (void *at, size_t bytes, int protection, int flags, int fd, off64_t offset),
       (at, bytes, protection, flags, fd, offset))
CALL(int, eventfd, (unsigned int value, int flags), (value, flags))
CALL(int, ppoll,
     (struct pollfd * fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask),
     (fds, count, timeout, mask))
CALL(int, setsockopt, (int fd, int level, int option, const void *value, socklen_t bytes),
     (fd, level, option, value, bytes))
CALL(ssize_t, sendto,
     (int fd, const void *buffer, size_t bytes, int flags, const struct sockaddr *to,
      socklen_t length),
     (fd, buffer, bytes, flags, to, length))
CALL(ssize_t, recv, (int fd, void *buffer, size_t bytes, int flags), (fd, buffer, bytes, flags))
CALL(ssize_t, recvfrom,
     (int fd, void *buffer, size_t bytes, int flags, struct sockaddr *from, socklen_t *length),
     (fd, buffer, bytes, flags, from, length))
CALL(int, nl_connect, (struct nl_sock * socket, int protocol), (socket, protocol))

const char *fault_directory;

DIR *fault_opendir(const char *path)
{
	(void)path;
	return fault_directory ? opendir(fault_directory) : NULL;
}

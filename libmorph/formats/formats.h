/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions that readers and writers of files share. They use the public headers of libmorph only.
 */
#ifndef LM_FORMATS_FORMATS_H
#define LM_FORMATS_FORMATS_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <morph/formats.h>
#include <morph/plan.h>

#define MORPH_API __attribute__((visibility("default")))

/* Where a function writes the reason of an error. */
struct why {
	char *text; /* or NULL */
	size_t room;
};

void lm_format_note(const struct why *why, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Note a sentence. Returns -@code. */
#define lm_format_fail(why, code, ...) (lm_format_note(why, __VA_ARGS__), -(code))

static inline int lm_format_no_memory(const struct why *why)
{
	return lm_format_fail(why, ENOMEM, "out of memory");
}

/* Pass on the result of an addition to a collective: 0 or an error. */
int lm_format_added(const struct why *why, int ret);

/* ------------------------------------------------------------------------ lists */

#define LIST_OF(type)                 \
	struct {                      \
		uint32_t count, room; \
		type *list;           \
	}

int lm_format_grow(void **list, uint32_t wanted, uint32_t *room, size_t bytes);

/* Reserve space for @more entries. 0 or -ENOMEM, without a sentence. */
#define GROW_BY(array, more)                                                          \
	lm_format_grow((void **)&(array).list, (array).count + (more), &(array).room, \
		       sizeof(*(array).list))
#define GROW(array) GROW_BY(array, 1)

/* ---------------------------------------------------------------------- writing */

/* Text that is counted, and written as far as space is left. */
struct output {
	char *at; /* or NULL */
	size_t room, bytes;
};

void lm_format_put(struct output *output, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The size, or -ENOSPC. */
ssize_t lm_format_end(const struct output *output);

/* 0, or a noted -EINVAL if a name would need escapes. */
int lm_format_check_name(const struct why *why, const char *name);

/* ------------------------------------------------------------------------ order */

/* @after must come after @before. */
struct edge {
	uint32_t before, after;
};

/*
 * Write all of @nodes into @order, each after those that it waits for, and otherwise by number.
 * O(nodes + edges). Returns 0, -ENOMEM, or -ELOOP with a node of a cycle in order[0].
 */
int lm_format_order(uint32_t nodes, const struct edge *edges, uint32_t edges_count,
		    uint32_t *order);

#endif /* LM_FORMATS_FORMATS_H */

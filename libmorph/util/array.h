/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lists that grow. The owner of a list begins it with zeros and frees @list. A list doubles, so
 * that adding costs O(1) on the mean. The caller serialises calls on one list.
 */
#ifndef LM_UTIL_ARRAY_H
#define LM_UTIL_ARRAY_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "error.h"

#define ARRAY_OF(type)                \
	struct {                      \
		uint32_t count, room; \
		type *list;           \
	}

/* Make room for @more entries of @bytes each; 0 or a noted -ENOMEM of what was to be done. */
static inline int array_grow(struct morph_ctx *ctx, void **list, uint32_t count, uint32_t *room,
			     size_t bytes, uint32_t more, const char *what)
{
	uint32_t wanted = *room ? *room : 16;
	void *grown;

	while (wanted < count + more)
		wanted *= 2;
	if (wanted == *room)
		return 0;
	grown = reallocarray(*list, wanted, bytes);
	if (!grown) {
		lm_no_memory(ctx, "%s", what);
		return -ENOMEM;
	}
	*list = grown;
	*room = wanted;
	return 0;
}

#define ARRAY_GROW(ctx, array, more, what)                                    \
	array_grow(ctx, (void **)&(array).list, (array).count, &(array).room, \
		   sizeof(*(array).list), more, what)

/*
 * Give back what a list has room for and does not use; where that fails it stays. Returns what it
 * takes.
 */
static inline uint64_t array_trim(void **list, uint32_t count, uint32_t *room, size_t bytes)
{
	void *less = count && count < *room ? reallocarray(*list, count, bytes) : NULL;

	if (less) {
		*list = less;
		*room = count;
	}
	return (uint64_t)*room * bytes;
}

#define ARRAY_TRIM(array) \
	array_trim((void **)&(array).list, (array).count, &(array).room, sizeof(*(array).list))

#endif /* LM_UTIL_ARRAY_H */

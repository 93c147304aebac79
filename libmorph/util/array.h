/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lists that grow. */
#ifndef LM_PLAN_ARRAY_H
#define LM_PLAN_ARRAY_H

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

#endif /* LM_PLAN_ARRAY_H */

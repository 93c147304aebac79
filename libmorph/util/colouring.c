// SPDX-License-Identifier: LGPL-2.1-or-later
/* Colouring the edges of a bipartite multigraph, edge by edge. */
#include <stdbool.h>

#include "colouring.h"

static uint32_t first_free(const uint32_t *held)
{
	uint32_t colour = 0;

	while (held[colour] != COLOURING_NONE)
		colour++;
	return colour;
}

/*
 * Free colour @one at node @dst, where @other is free: along the path of edges of these colours
 * that begins there, each gets the other one. The path cannot come to a source where @one is free.
 */
static void exchange(struct colouring *colouring, uint32_t dst, uint32_t one, uint32_t other)
{
	uint32_t edge = *colouring_in(colouring, dst, one);
	bool at_dst = true; /* the path comes to @edge from its destination */

	*colouring_in(colouring, dst, one) = COLOURING_NONE;
	while (edge != COLOURING_NONE) {
		const struct coloured *it = &colouring->edges[edge];
		uint32_t old = it->colour, colour = old == one ? other : one, next;
		uint32_t *far = at_dst ? colouring_out(colouring, it->src, 0) :
					 colouring_in(colouring, it->dst, 0);

		next = far[colour];
		far[old] = COLOURING_NONE;
		colouring_set(colouring, edge, colour);
		edge = next;
		at_dst = !at_dst;
	}
}

void lm_colouring_add(struct colouring *colouring, uint32_t edge)
{
	const struct coloured *it = &colouring->edges[edge];
	uint32_t colour = first_free(colouring_out(colouring, it->src, 0));

	if (*colouring_in(colouring, it->dst, colour) != COLOURING_NONE)
		exchange(colouring, it->dst, colour,
			 first_free(colouring_in(colouring, it->dst, 0)));
	colouring_set(colouring, edge, colour);
}

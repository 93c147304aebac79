/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Colouring the edges of a bipartite multigraph with as many colours as its largest degree, so that
 * the edges at a node have different colours (König, Mathematische Annalen 77, 1916). The caller
 * adds one edge after the other. If the ends of an edge have no free colour in common, a path of
 * edges that alternates between two colours exchanges these colours.
 *
 * The caller owns all memory. Nothing is allocated and nothing fails. Numbers are without unit.
 * The caller serialises calls on one colouring.
 */
#ifndef LM_UTIL_COLOURING_H
#define LM_UTIL_COLOURING_H

#include <stddef.h>
#include <stdint.h>

#define COLOURING_NONE UINT32_MAX

/* An edge from node @src of the one side to node @dst of the other side. */
struct coloured {
	uint32_t src, dst;
	uint32_t colour;
};

struct colouring {
	uint32_t colours;
	struct coloured *edges; /* memory of the caller */
	uint32_t *out,
		/*
		 * by node and colour: the edge that has it there, or COLOURING_NONE; memory of the
		 * caller
		 */
		*in;
};

/* The places of an edge's colour at its two ends. */
static inline uint32_t *colouring_out(const struct colouring *colouring, uint32_t src,
				      uint32_t colour)
{
	return &colouring->out[(size_t)src * colouring->colours + colour];
}

static inline uint32_t *colouring_in(const struct colouring *colouring, uint32_t dst,
				     uint32_t colour)
{
	return &colouring->in[(size_t)dst * colouring->colours + colour];
}

/* Give an edge a colour that is free at both ends. O(1). */
static inline void colouring_set(struct colouring *colouring, uint32_t edge, uint32_t colour)
{
	struct coloured *it = &colouring->edges[edge];

	it->colour = colour;
	*colouring_out(colouring, it->src, colour) = edge;
	*colouring_in(colouring, it->dst, colour) = edge;
}

/*
 * Give an edge the first colour that is free at @src. Where another edge has it at @dst, the path
 * from there exchanges it with the first colour that is free at @dst. Both nodes must have a free
 * colour. O(colours + nodes).
 */
void lm_colouring_add(struct colouring *colouring, uint32_t edge);

#endif /* LM_UTIL_COLOURING_H */

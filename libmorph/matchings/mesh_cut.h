/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A lower bound of the number of rounds from a set of elements and the guides around it. */
#ifndef LM_MATCHINGS_MESH_CUT_H
#define LM_MATCHINGS_MESH_CUT_H

#include "mesh.h"

/* The bound that a set proves: needs / carries, rounded up. */
struct mesh_cut_quotient {
	uint64_t needs; /* circuits that pass the border, or duplex pairs */
	uint64_t carries; /* the most of them in a round; 0: no number of rounds is enough */
};

/*
 * The circuits that all rounds together must have, and memory of the search for a set. The comments
 * name what an array is indexed by.
 */
struct mesh_cut {
	const struct mesh *mesh;
	uint32_t kind; /* enum morph_matchings_kind */
	uint32_t endpoints; /* their number */
	const uint32_t *tx, *rx; /* by endpoint: where its light enters, and where it leaves */
	const uint32_t *targets; /* by endpoint: that which receives its light; NULL: all pairs */
	const uint16_t *togo; /* by column and arc: as in struct rounds */
	const uint32_t *togo_of; /* by end: its column of togo */

	uint8_t *inside; /* by element: whether the present set has it */
	uint32_t *port_first; /* by element: first of its entries in port */
	uint32_t *port; /* endpoint << 2 | its sides that the element changes */
	uint32_t *leaves; /* by end: the element that light leaves there, or MESH_NONE */
	uint32_t *sender; /* by endpoint with targets: whose circuit it receives */
	uint8_t *sides; /* by endpoint: SIDE_TX and SIDE_RX, if these ports are inside */
	uint32_t *key, *order; /* by element; the elements of a sweep in its order */
	uint32_t *count; /* by key, up to twice the number of arcs */
	uint32_t with[4]; /* by sides: number of endpoints */
	uint32_t guides; /* across the border of the present set */
	uint32_t crossing; /* circuits to targets across it */

	uint32_t *best; /* the elements of the best set */
	uint32_t best_count;
	struct mesh_cut_quotient most; /* of the best set */
};

/*
 * Find a set of elements that proves a large bound. A sweep orders the elements by their distance
 * to one endpoint, or by the difference of their distances to two. It tries each set that begins
 * this order. After at most @work / arcs sweeps, single elements move over the border of the best
 * set. Updates best, best_count and most. O(work + elements * passes).
 */
void lm_mesh_cut_search(struct mesh_cut *cut, uint64_t work);

/*
 * Find a duplex pair of which both circuits pass the border of the best set. Follows
 * lm_mesh_cut_search(). Whether there is one. O(endpoints^2).
 */
bool lm_mesh_cut_pair(const struct mesh_cut *cut, uint32_t *src, uint32_t *dst);

/*
 * The best bound, rounded up; UINT32_MAX: no number of rounds is enough, since both circuits of a
 * duplex pair pass a border of one guide.
 */
static inline uint32_t mesh_cut_rounds(const struct mesh_cut *cut)
{
	if (!cut->most.carries)
		return cut->most.needs ? UINT32_MAX : 0;
	return (uint32_t)((cut->most.needs + cut->most.carries - 1) / cut->most.carries);
}

#endif /* LM_MATCHINGS_MESH_CUT_H */

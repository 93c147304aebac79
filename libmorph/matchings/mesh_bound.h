/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lower bounds of the number of rounds for given ports. */
#ifndef LM_MATCHINGS_MESH_BOUND_H
#define LM_MATCHINGS_MESH_BOUND_H

#include "mesh.h"

/*
 * The circuits that all rounds together must have, and memory for their shortest routes. The
 * comments name what an array is indexed by.
 */
struct mesh_bound {
	const struct mesh *mesh;
	uint32_t endpoints; /* their number */
	const uint32_t *tx, *rx; /* by endpoint: where its light enters, and where it leaves */
	bool pairs; /* a pair has one circuit instead of two */
	const uint32_t *targets; /* by endpoint: that which receives its light; NULL: all pairs */

	/* The multipliers. */
	uint32_t *lengths; /* by join: the present length */
	uint32_t *best; /* by join: the length that gave the best bound */
	uint64_t *sums; /* by join: the sum of its lengths in all iterations */
	uint32_t *weights; /* by element: the length of each of its states */
	uint32_t *shares; /* by join: its part of the length of its state */
	uint32_t *flow; /* by join: number of shortest routes that pass it */

	/* The shortest routes of one endpoint. */
	uint64_t *distance; /* by arc: length of the shortest route to it */
	uint32_t *from, *turn; /* by arc: the arc before it on this route, and the turn between */
	uint64_t *heap; /* of arcs that can still become nearer: distance << 20 | arc */
	size_t heap_count; /* entries of the heap */
	uint32_t *end_from, *end_turn; /* by end: as from and turn by arc */
	uint64_t *end_distance; /* by end: as distance by arc */

	uint64_t numerator, denominator; /* of the best bound, a fraction */
};

/* The most arcs that the heap can name. */
#define MESH_BOUND_MOST_ARCS (1u << 20)

/*
 * Find lengths that give a large bound. Updates best, numerator and denominator. O(iterations *
 * endpoints * turns * log).
 */
void lm_mesh_bound_fractional(struct mesh_bound *bound, uint32_t iterations);

/* The sum over elements of the longest state, by lengths[]. O(joins). */
uint64_t lm_mesh_bound_longest(const struct mesh_bound *bound);

/* The best bound, rounded up. */
static inline uint32_t mesh_bound_rounds(const struct mesh_bound *bound)
{
	return (uint32_t)((bound->numerator + bound->denominator - 1) / bound->denominator);
}

#endif /* LM_MATCHINGS_MESH_BOUND_H */

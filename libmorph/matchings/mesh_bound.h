/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lower bounds of the number of rounds for given ports. */
#ifndef LM_MATCHINGS_MESH_BOUND_H
#define LM_MATCHINGS_MESH_BOUND_H

#include "mesh.h"

/* The circuits that all rounds together must have, and memory for their shortest routes. */
struct mesh_bound {
	const struct mesh *mesh;
	uint32_t endpoints;
	const uint32_t *tx, *rx; /* by endpoint: its ends */
	bool pairs; /* one circuit for each pair, instead of two */
	uint32_t *lengths; /* by join */
	uint32_t *best; /* by join: lengths of the best bound */
	uint64_t *sums; /* by join: of the lengths of all iterations */
	uint32_t *weights; /* by element: length of each of its states */
	uint32_t *shares; /* by join: its part of the length of its state */
	uint32_t *flow; /* by join: shortest routes that pass */
	uint64_t *distance; /* by arc */
	uint32_t *from, *turn; /* by arc: the arc before, and the turn that leads here */
	uint64_t *heap; /* distance << 20 | arc */
	size_t heap_count;
	uint32_t *end_from, *end_turn; /* by end: as by arc */
	uint64_t *end_distance;
	uint64_t numerator, denominator; /* of the best bound */
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

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Collectives of shifts on circulants. In each round every rank sends to the rank so many further on. Circulant k joins
 * each rank to the one k further on by one circuit, and over it a shift by d takes h hops, the least h > 0 with
 * h * k = d modulo the ranks. Each circuit then carries h flows, so that the round takes round + h * hop + the time of h
 * times the bytes: no routing, and no program for the solver of Harvest (arXiv 2602.09188).
 */
#ifndef LM_SCHEDULE_CIRCULANTS_H
#define LM_SCHEDULE_CIRCULANTS_H

#include "../collective/collective.h"
#include "segments.h"

struct shift {
	uint32_t by; /* 1 to ranks - 1 */
	uint64_t bytes; /* of each rank */
};

/*
 * Is each round one of all ranks, each to the one so many further on, with as many bytes? Then @shifts has what each of so
 * many ports sends, by round.
 */
bool lm_collective_shifts(const struct morph_collective *collective, uint32_t ports,
			  struct shift *shifts);

/* Circulant k is topology k - 1 of these. */
struct circulants {
	uint32_t ranks; /* 2 to 4096 */
	const struct shift *shifts; /* by round */
	uint32_t rounds;
	const struct costs *costs;
	bool round_each_hop; /* as lm_round_ps() */
	const uint64_t *
		changes; /* as those of struct segments_problem; NULL: what the costs say of all ports */
	uint32_t resident;
};

/* Kept from solve to solve, as struct segments. */
struct circulants_work {
	struct segments segments;
	const struct circulants *circulants;
	ARRAY_OF(uint16_t)
	rows; /* by shift its row of hops; row 0 is of those that are in no round */
	ARRAY_OF(uint16_t) hops; /* [row * topologies + topology]; 0: it does not get there */
	ARRAY_OF(uint64_t) prices; /* of one round, by hops */
};

/*
 * What lm_segments_solve() solves, which stays valid while nothing else is posed with this work. Returns 0, -EINVAL (ranks or
 * shifts that are none, no bandwidth) or -ENOMEM. Takes ranks^2 steps for the hops.
 */
int lm_circulants_pose(struct circulants_work *work, const struct circulants *circulants,
		       struct segments_problem *problem);

/* As lm_circulants_pose() and lm_segments_solve(). */
int lm_circulants_solve(struct circulants_work *work, const struct circulants *circulants,
			struct segments_plan *plan);

/* As lm_segments_baselines(), beside circulant 1, the ring, for all rounds. */
int lm_circulants_baselines(struct circulants_work *work, const struct circulants *circulants,
			    struct segments_baselines *baselines);

/*
 * No schedule of these shifts takes less, whatever its topologies: a rank with so many ports sends its bytes over all of
 * them at best, and one hop at least.
 */
uint64_t lm_circulants_bound_ps(const struct circulants *circulants, uint32_t ports);

void lm_circulants_release(struct circulants_work *work);

/*
 * Halving on a ring (Short-circuiting Rings, arXiv 2510.03491): step i from 0 sends half of what is left 2^i ranks on.
 * It has circuits of its own if they save more than the change takes:
 *
 *	(2^i - 1) * (hop + bytes / 2^(i + 1) / bandwidth) > change
 *
 * which all steps from some one on do. The plan that never comes back to what it held; lm_circulants_solve() has none that
 * takes more.
 */
struct short_cuts {
	uint32_t steps; /* log2 of the ranks */
	uint32_t first; /* that has circuits of its own, and all after it; steps: none */
	uint64_t ps;
};

/* @ranks is a power of two, @bytes what each rank begins with. The ring holds at first. */
struct short_cuts lm_short_cuts(const struct costs *costs, uint32_t ranks, uint64_t bytes);

#endif /* LM_SCHEDULE_CIRCULANTS_H */

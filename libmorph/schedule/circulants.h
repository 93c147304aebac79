/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Collectives of shifts on circulants. In each round, every rank sends to the rank at the same
 * distance. Circulant k joins each rank to the one k further by one circuit. A shift by d takes h
 * hops, the least h > 0 with h * k = d modulo the ranks. Each circuit then carries h flows, so the
 * round takes round + h * hop + the time of h times the bytes. This needs neither routing nor the
 * solver of Harvest (arXiv 2602.09188).
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
 * Is each round a shift of all ranks by the same distance and with the same bytes? If so, @shifts
 * gets the bytes of each port, by round.
 */
bool lm_collective_shifts(const struct morph_collective *collective, uint32_t ports,
			  struct shift *shifts);

/* Circulant k is topology k - 1 of the problem. */
struct circulants {
	uint32_t ranks; /* 2 to 4096 */
	const struct shift *shifts; /* by round */
	uint32_t rounds;
	const struct costs *costs;
	bool round_each_hop; /* as lm_round_ps() */
	const uint64_t *changes; /* as in struct segments_problem; NULL: the costs of all ports */
	uint32_t resident;
};

/* Reused by later calls, as struct segments. */
struct circulants_work {
	struct segments segments;
	const struct circulants *circulants;
	ARRAY_OF(uint16_t)
	rows; /* by shift: its row of hops; row 0 is for shifts that no round has */
	ARRAY_OF(uint16_t) hops; /* [row * topologies + topology]; 0: not reachable */
	ARRAY_OF(uint64_t) prices; /* of one round, by hops */
};

/*
 * Prepare the problem for lm_segments_solve(), valid until this work is used again. Return 0,
 * -EINVAL (invalid ranks or shifts, no bandwidth) or -ENOMEM. Takes ranks^2 steps for the hops.
 */
int lm_circulants_pose(struct circulants_work *work, const struct circulants *circulants,
		       struct segments_problem *problem);

/* Calls lm_circulants_pose() and lm_segments_solve(). */
int lm_circulants_solve(struct circulants_work *work, const struct circulants *circulants,
			struct segments_plan *plan);

/* As lm_segments_baselines(), and circulant 1, the ring, for all rounds. */
int lm_circulants_baselines(struct circulants_work *work, const struct circulants *circulants,
			    struct segments_baselines *baselines);

/*
 * Lower bound for all schedules of these shifts on any topologies: at best, a rank sends its bytes
 * over all of its ports and one hop.
 */
uint64_t lm_circulants_bound_ps(const struct circulants *circulants, uint32_t ports);

void lm_circulants_release(struct circulants_work *work);

/*
 * Halving on a ring (Short-circuiting Rings, arXiv 2510.03491): step i, from 0, sends half of the
 * rest 2^i ranks further. It has its own circuits if they save more than the change takes:
 *
 *	(2^i - 1) * (hop + bytes / 2^(i + 1) / bandwidth) > change
 *
 * If a step satisfies this, all later ones do. This is the plan that never returns to earlier
 * circuits; lm_circulants_solve() finds no plan that takes longer.
 */
struct short_cuts {
	uint32_t steps; /* log2 of the ranks */
	uint32_t first; /* with own circuits, and all after it; steps: none */
	uint64_t ps;
};

/* @ranks is a power of two, @bytes the data of each rank. The ring is lit at first. */
struct short_cuts lm_short_cuts(const struct costs *costs, uint32_t ranks, uint64_t bytes);

#endif /* LM_SCHEDULE_CIRCULANTS_H */

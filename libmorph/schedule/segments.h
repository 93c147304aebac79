/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * When to change the topology inside a collective, one change at a time: each round goes on one of the
 * topologies that are given, and between rounds all circuits may change to those of another one. Rounds that
 * go on the same one after the other are a segment. What is least is found by going through the rounds once: a shortest
 * way through layers of topologies, so that it is exact.
 *
 * Segments: Harvest, arXiv 2602.09188 (SIGCOMM'26). A topology for each round, of a start topology and each
 * round's own circuits: PCCL, arXiv 2509.15450.
 */
#ifndef LM_SCHEDULE_SEGMENTS_H
#define LM_SCHEDULE_SEGMENTS_H

#include "../internal/planner.h"
#include "../util/array.h"
#include "../collective/delay.h"

/* Never: what does not go, and what takes 2^64 picoseconds (half a year) or more. */
#define NEVER_PS UINT64_MAX
/* The price of a round that goes, and takes as long or longer. */
#define TOO_LONG_PS (NEVER_PS - 1)

/* What holds before the first round, where it is none of the topologies. */
#define RESIDENT_ANY UINT32_MAX /* whatever is wanted first: its change is free */
#define RESIDENT_NONE (UINT32_MAX - 1) /* dark: the first one is charged */

#define MOST_TOPOLOGIES UINT16_MAX

struct segments_problem {
	uint32_t rounds, topologies;
	/* Fill in what the round takes on each topology, or @never where it does not go. Returns the least of it. */
	uint64_t (*price)(const struct segments_problem *problem, uint32_t round, uint64_t never,
			  uint64_t *row);
	void *prices; /* for price() */
	uint64_t change_ps; /* from any topology to any other one */
	uint64_t most_ps; /* no round takes more on a topology that it goes on; 0: nobody knows */
	/* Instead of that, or NULL: [from * topologies + to], and as the last row those from the dark. */
	const uint64_t *changes;
	uint32_t resident; /* a topology, or one of those above */
};

/* For price(), of what is a table: [round * topologies + topology] in prices. */
uint64_t lm_segments_price_table(const struct segments_problem *problem, uint32_t round,
				 uint64_t never, uint64_t *row);

/* Cost and, below, changes: of equal costs the one of fewer changes is less. Sums of 2^16 costs of 64 bits have room. */
typedef unsigned __int128 segments_total;

/* Kept from solve to solve, so that what is no larger than before allocates nothing. Begins as zeros with its context. */
struct segments {
	struct morph_ctx *ctx;
	ARRAY_OF(segments_total) now, next; /* least totals by the topology of the last round */
	ARRAY_OF(uint64_t) row;
	ARRAY_OF(uint16_t)
	before; /* [round * topologies + topology]: which one is held before it */
	ARRAY_OF(uint16_t) held; /* the plan: by round */
	/* Where totals are narrow: before the first round, then after each, by topology; and by round above what it pays to change. */
	ARRAY_OF(uint64_t) totals, limits;
};

struct segments_plan {
	uint64_t ps;
	uint32_t changes; /* of these the first, where it is charged */
	uint64_t bound_ps; /* no sequence of these topologies takes less: each round on its best one, changes free */
	const uint16_t *held; /* by round its topology; valid until the next solve */
};

/*
 * Find the sequence of topologies that takes the least, of these the one of fewest changes; which one of
 * several it is depends on the problem alone. Takes time as rounds * topologies where changes are all alike, and a third of it where
 * most_ps says that 64 bits have room for cost and changes together; with a
 * table at most topologies times as much, and less the nearer together the changes are.
 *
 * Returns 0, -ENETUNREACH (a round goes on none of the topologies), -ERANGE (no sequence takes less than NEVER_PS),
 * -EINVAL (no topologies, too many, or the resident is none of them), -ENOMEM.
 */
int lm_segments_solve(struct segments *work, const struct segments_problem *problem,
		      struct segments_plan *plan);

/* What one would do without planning; of what does not go the cost is NEVER_PS. */
struct segments_choice {
	uint64_t ps;
	uint32_t changes;
};

struct segments_baselines {
	struct segments_choice fixed; /* one topology that is given, for all rounds */
	struct segments_choice one_shot; /* the best single one for all rounds */
	struct segments_choice
		every_round; /* for each round the best one, and of these the one that is held */
	struct segments_choice
		ideal; /* that, with all changes free but the cheapest that lights the dark */
	uint32_t one_topology; /* that of one_shot */
};

/* Returns what lm_segments_solve() does, but for -ENETUNREACH and -ERANGE. */
int lm_segments_baselines(struct segments *work, const struct segments_problem *problem,
			  uint32_t fixed, struct segments_baselines *baselines);

void lm_segments_release(struct segments *work);

#endif /* LM_SCHEDULE_SEGMENTS_H */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * When to change the topology during a collective, one change at a time. Each round uses one of the
 * given topologies. Between rounds, all circuits may change to those of another topology.
 * Consecutive rounds on one topology are a segment. One pass over the rounds finds the least total
 * time: it is a shortest path through layers of topologies, and exact.
 *
 * Segments: Harvest, arXiv 2602.09188 (SIGCOMM'26). One topology for each round, from an initial
 * topology and each round's own circuits: PCCL, arXiv 2509.15450.
 */
#ifndef LM_SCHEDULE_SEGMENTS_H
#define LM_SCHEDULE_SEGMENTS_H

#include "../internal/planner.h"
#include "../util/array.h"
#include "../collective/delay.h"

/* Never: the round is impossible, or takes 2^64 picoseconds (half a year) or more. */
#define NEVER_PS UINT64_MAX
/* Limit for the price of a possible round. */
#define TOO_LONG_PS (NEVER_PS - 1)

/* The initial state, if it is none of the topologies. */
#define RESIDENT_ANY UINT32_MAX /* the first topology is free */
#define RESIDENT_NONE (UINT32_MAX - 1) /* dark: the first change has a cost */

#define MOST_TOPOLOGIES UINT16_MAX

struct segments_problem {
	uint32_t rounds, topologies;
	/*
	 * Fill in the time of the round on each topology, or @never if it is impossible. Return the
	 * least.
	 */
	uint64_t (*price)(const struct segments_problem *problem, uint32_t round, uint64_t never,
			  uint64_t *row);
	void *prices; /* for price() */
	uint64_t change_ps; /* from any topology to any other one */
	uint64_t most_ps; /* upper bound for the time of a possible round; 0: unknown */
	/*
	 * In place of change_ps, or NULL: [from * topologies + to], with a last row for a dark
	 * start.
	 */
	const uint64_t *changes;
	uint32_t resident; /* a topology, or one of those above */
};

/* For price(), if the prices are a table: [round * topologies + topology]. */
uint64_t lm_segments_price_table(const struct segments_problem *problem, uint32_t round,
				 uint64_t never, uint64_t *row);

/*
 * Cost in the high bits, changes in the low ones: of equal costs, fewer changes are less. 2^16
 * costs of 64 bits fit in a sum.
 */
typedef unsigned __int128 segments_total;

/*
 * Reused by later calls, so that problems of the same size or smaller allocate nothing. Begins
 * zeroed, with its context.
 */
struct segments {
	struct morph_ctx *ctx;
	ARRAY_OF(segments_total) now, next; /* least totals, by topology of the last round */
	ARRAY_OF(uint64_t) row;
	ARRAY_OF(uint16_t)
	before; /* [round * topologies + topology]: the topology before it */
	ARRAY_OF(uint16_t) held; /* the plan, by round */
	/*
	 * If totals are narrow: before the first round, then after each, by topology; and by round
	 * the limit above which a change pays.
	 */
	ARRAY_OF(uint64_t) totals, limits;
};

struct segments_plan {
	uint64_t ps;
	uint32_t changes; /* includes the first change if it has a cost */
	/* lower bound for all sequences: each round on its best topology, with free changes */
	uint64_t bound_ps;
	const uint16_t *held; /* by round: topology; valid until the next call */
};

/*
 * Find the sequence of topologies that takes the least time and, among these, has the fewest
 * changes. The choice among equals depends on the problem alone. If all changes cost the same, the
 * time is proportional to rounds * topologies. If cost and changes fit in 64 bits by most_ps, it is
 * a third of that. With a table it is at most topologies times as much, and less if the changes
 * cost about the same.
 *
 * Returns 0, -ENETUNREACH (no topology carries a round), -ERANGE (every sequence takes NEVER_PS or
 * more), -EINVAL (no topologies, too many, or an unknown resident), -ENOMEM.
 */
int lm_segments_solve(struct segments *work, const struct segments_problem *problem,
		      struct segments_plan *plan);

/* Plans without optimisation. The cost of impossible ones is NEVER_PS. */
struct segments_choice {
	uint64_t ps;
	uint32_t changes;
};

struct segments_baselines {
	struct segments_choice fixed; /* the given topology for all rounds */
	struct segments_choice one_shot; /* the best topology for all rounds */
	struct segments_choice
		every_round; /* the best topology for each round; of equal ones, the present one */
	struct segments_choice
		/* every_round with free changes, except the cheapest first one from the dark */
		ideal;
	uint32_t one_topology; /* the topology of one_shot */
};

/* Returns as lm_segments_solve(), but never -ENETUNREACH or -ERANGE. */
int lm_segments_baselines(struct segments *work, const struct segments_problem *problem,
			  uint32_t fixed, struct segments_baselines *baselines);

void lm_segments_release(struct segments *work);

#endif /* LM_SCHEDULE_SEGMENTS_H */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rounds over planes that each hold their own matching. A transfer uses one circuit, or several of
 * the same plane in sequence. A plane may leave out rounds and change while others send. This
 * unites the problem of SWOT (arXiv 2510.19322), in time, with that of Harvest (arXiv 2602.09188),
 * in space: which planes carry a round, and over which matching each. A change takes the time of
 * the circuits that the plane lacks (partial reconfiguration, arXiv 1712.06634).
 *
 * A matching joins a rank to at most one other, so there is at most one path. If the circuits of a
 * plane are a subset of another plane's, it carries the same transfers alike.
 *
 * A round begins when the previous one has ended. Planes that carry it receive bytes until all of
 * them end together. A beam search plans the rounds (united_beam.c). Local search improves its plan
 * and those of other planners (policy_united.c). Neither proves that nothing is better.
 *
 * Times are whole picoseconds from the start.
 */
#ifndef LM_SCHEDULE_UNITED_H
#define LM_SCHEDULE_UNITED_H

#include "schedule.h"

#define UNITED_PLANES 16
#define UNITED_ROUNDS 4096
#define UNITED_NONE \
	UINT16_MAX /* a dark plane, or one that leaves out a round; a round without own circuits */
#define UNITED_NEVER UINT64_MAX /* no path */
#define UNITED_LONGEST \
	(1ULL << 48) /* limit for a part of a plan; the sum of all parts fits 64 bits */
#define UNITED_CANDIDATES 8 /* matchings to which a round's planes may change */

/* The cost of a round on a plane that holds a matching. */
struct united_price {
	uint64_t wire_ps; /* time of the bytes of the fullest circuit, or UNITED_NEVER */
	uint64_t bytes; /* bytes of the fullest circuit */
	uint32_t flows, hops; /* transfers on the fullest circuit; circuits of the longest path */
};

/* Matchings that planes may hold. Begins zeroed, with its context and number of ranks. */
struct united_pool {
	struct morph_ctx *ctx;
	uint32_t ranks, count;
	ARRAY_OF(uint32_t)
	next; /* by matching and rank: receiver of its circuit, or UINT32_MAX */
	ARRAY_OF(uint64_t) digests; /* by matching */
	ARRAY_OF(uint32_t) sizes; /* circuits */
	/* by held and wanted matching: number of missing circuits, plus one; 0: not counted yet */
	uint16_t *gaps;
};

struct united_problem {
	const struct costs *costs;
	struct united_pool *pool;
	uint32_t rounds, planes;
	uint64_t bytes[UNITED_ROUNDS]; /* of the fullest transfer */
	bool uniform[UNITED_ROUNDS]; /* all transfers have the same size */
	uint16_t own[UNITED_ROUNDS]; /* the round's own circuits */
	struct united_price *prices; /* by round and matching */
	uint16_t resident[UNITED_PLANES];
};

/*
 * The actions of the planes, by round and plane: the matching that carries the round, and how much
 * earlier than the round the plane ends.
 */
struct united_plan {
	uint16_t *picks;
	uint64_t *early;
	uint64_t finish;
};

struct united_state {
	uint64_t end; /* of the last round */
	uint64_t free[UNITED_PLANES]; /* end of its last send */
	uint16_t held[UNITED_PLANES];
};

/* A plane that takes part in a round. */
struct united_way {
	/* arrival of its first byte if it sent alone; later by the time that it ends early */
	uint64_t begin;
	uint64_t wire; /* all bytes */
	uint32_t plane;
};

/* ---------------------------------------------------------------- the pool */

/*
 * Add a matching, given by the receiver of each rank. Return its number, or that of an equal one; a
 * noted -ENOMEM; or -E2BIG.
 */
int lm_united_add(struct united_pool *pool, const uint32_t *next);

/*
 * Number of circuits that a plane lacks which holds the other matching or is dark. The first call
 * for a pair takes as many steps as there are ranks.
 */
uint32_t lm_united_gap(const struct united_pool *pool, uint16_t held, uint16_t wanted);

/*
 * Compute the prices of all rounds on all matchings. If that takes too long, compute only those of
 * a round's own matching and of the first @always. Return 0 or a noted -ENOMEM. Takes at most
 * rounds * matchings * (ranks + transfers) steps, or rounds * matchings if all rounds are shifts.
 */
int lm_united_price(struct united_problem *problem, const struct morph_collective *collective,
		    uint32_t always);
void lm_united_pool_release(struct united_pool *pool);

static inline const struct united_price *united_price(const struct united_problem *problem,
						      uint32_t round, uint16_t matching)
{
	return &problem->prices[(size_t)round * problem->pool->count + matching];
}

/* Time before the first byte arrives. */
static inline uint64_t united_begin(const struct united_problem *problem,
				    const struct united_price *price)
{
	return problem->costs->round_ps + problem->costs->hop_ps * price->hops;
}

/* -------------------------------------------------------------- one round */

/*
 * Return the arrival of the last byte; @count becomes the number of the sorted paths that carry
 * bytes.
 */
uint64_t lm_united_level(struct united_way *ways, uint32_t *count);

/*
 * Return when a plane may send over a matching. If all planes change together, @together is the
 * time of their change.
 */
uint64_t lm_united_lit(const struct united_problem *problem, const struct united_state *state,
		       uint32_t plane, uint16_t pick, uint64_t together);

/*
 * If all planes stop for a change, return the time of one change of all missing circuits, else 0.
 */
uint64_t lm_united_together(const struct united_problem *problem, const struct united_state *state,
			    const uint16_t *picks);

/*
 * List the planes that carry a round by their picks. Return their number; 0 if one of them has no
 * path.
 */
uint32_t lm_united_ways(const struct united_problem *problem, const struct united_state *state,
			uint32_t round, const uint16_t *picks, const uint64_t *early,
			struct united_way *ways);

/*
 * Continue with a round; planes for which no bytes are left do not take part. Return the number of
 * those that do, or 0 without a path.
 */
uint32_t lm_united_go(const struct united_problem *problem, uint32_t round, const uint16_t *picks,
		      const uint64_t *early, struct united_state *state);
struct united_state lm_united_first(const struct united_problem *problem);

/* ----------------------------------------------------------------- search */

struct united_work;

/* Return NULL, noted, without memory. @width is that of the beam; 0 selects the default. */
struct united_work *lm_united_work_new(struct morph_ctx *ctx, const struct united_problem *problem,
				       uint32_t width);
void lm_united_work_free(struct united_work *work);

/*
 * Plan by a beam search that charges each change a share of its time, in percent: the part that is
 * not hidden. Takes rounds * width * planes^3 steps.
 */
void lm_united_beam(struct united_work *work, uint32_t percent, struct united_plan *plan);

/* Return the number of matchings to which a round's planes may change. */
uint32_t lm_united_candidates(const struct united_work *work, uint32_t round,
			      const uint16_t **candidates);

/* Return the end of the plan, or UINT64_MAX without a path. */
uint64_t lm_united_finish(const struct united_problem *problem, const struct united_plan *plan);

/*
 * Try local changes for this number of steps, each of a plane in a round. Return 0 or a noted
 * -ENOMEM.
 */
int lm_united_improve(struct morph_ctx *ctx, const struct united_problem *problem,
		      const struct united_work *work, uint64_t steps, struct united_plan *plan);

/* Return 0 or a noted -ENOMEM. */
int lm_united_plan_room(struct morph_ctx *ctx, const struct united_problem *problem,
			struct united_plan *plan);
void lm_united_plan_free(struct united_plan *plan);

/* ----------------------------------------------------------------- answers */

/* Lay the plan out in whole bytes, as holds and sends. Return 0 or the noted error. */
int lm_united_lay(struct morph_schedule *schedule, const struct morph_collective *collective,
		  const struct united_problem *problem, const struct united_plan *plan);

/*
 * Find a schedule that ends before another one of the same collective and the same initial
 * circuits. Undecided if there is none. Return 0 or the noted error.
 */
int lm_plan_united(struct morph_schedule *schedule, const struct morph_collective *collective,
		   const struct morph_schedule_opts *opts, const struct morph_schedule *other);

#endif /* LM_SCHEDULE_UNITED_H */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rounds over planes, each of which holds a matching of its own. What goes over one circuit, or over several of the same
 * plane one after the other, goes by it; a plane may leave rounds out, and is changed while others send. So that what
 * SWOT (arXiv 2510.19322) does in time and Harvest (arXiv 2602.09188) in space is one question: which planes carry a round, and
 * over which matching each. A change takes what the circuits take that the plane does not have (partial reconfiguration,
 * arXiv 1712.06634).
 *
 * A matching leads on from a rank to one other at most, so that there is one way at most, and a plane whose circuits are among
 * others' carries what it carries there alike.
 *
 * A round begins when the one before has ended. Planes that carry it are filled like vessels of unequal height and width, until
 * all are at one level. A beam goes through the rounds (united_beam.c); what it finds, and what other planners found, is improved
 * by trying what is near (policy_united.c). Neither proves that nothing is better.
 *
 * Times are whole picoseconds from the start.
 */
#ifndef LM_SCHEDULE_UNITED_H
#define LM_SCHEDULE_UNITED_H

#include "schedule.h"

#define UNITED_PLANES 16
#define UNITED_ROUNDS 4096
#define UNITED_NONE \
	UINT16_MAX /* a plane that is dark, or leaves a round out; a round without circuits of its own */
#define UNITED_NEVER UINT64_MAX /* no way */
#define UNITED_LONGEST \
	(1ULL << 48) /* of a part of a plan, so that all of them together have room */
#define UNITED_CANDIDATES 8 /* matchings that a round's planes may be changed to */

/* A round on a plane that holds a matching. */
struct united_price {
	uint64_t wire_ps; /* of all its bytes over the fullest circuit, or UNITED_NEVER */
	uint64_t bytes; /* over that */
	uint32_t flows, hops; /* transfers that share that; circuits of the longest way */
};

/* Matchings that planes may hold. Begins as zeros with its context and its number of ranks. */
struct united_pool {
	struct morph_ctx *ctx;
	uint32_t ranks, count;
	ARRAY_OF(uint32_t)
	next; /* by matching and rank: the other end of its circuit, or UINT32_MAX */
	ARRAY_OF(uint64_t) digests; /* by matching */
	ARRAY_OF(uint32_t) sizes; /* circuits */
	uint16_t *gaps; /* by matching held and wanted: circuits that are missing, plus one; 0: not counted yet */
};

struct united_problem {
	const struct costs *costs;
	struct united_pool *pool;
	uint32_t rounds, planes;
	uint64_t bytes[UNITED_ROUNDS]; /* of the fullest transfer */
	bool uniform[UNITED_ROUNDS]; /* all have as many */
	uint16_t own[UNITED_ROUNDS]; /* the round's own circuits */
	struct united_price *prices; /* by round and matching */
	uint16_t resident[UNITED_PLANES];
};

/* What planes do: which matching carries a round, and by how much a plane ends before the round does. By round and plane. */
struct united_plan {
	uint16_t *picks;
	uint64_t *early;
	uint64_t finish;
};

struct united_state {
	uint64_t end; /* of the last round */
	uint64_t free[UNITED_PLANES]; /* what it sent last is over */
	uint16_t held[UNITED_PLANES];
};

/* A plane that takes part. */
struct united_way {
	uint64_t begin; /* its first byte arrives, were it alone; and as much later as it is to end early */
	uint64_t wire; /* all bytes */
	uint32_t plane;
};

/* ---------------------------------------------------------------- the pool */

/* A matching, by what follows each rank; its number, that of an equal one if there is one; a noted -ENOMEM; or -E2BIG. */
int lm_united_add(struct united_pool *pool, const uint32_t *next);

/* Circuits of one that a plane lacks that holds the other one, or is dark. Takes as many steps as there are ranks, once. */
uint32_t lm_united_gap(const struct united_pool *pool, uint16_t held, uint16_t wanted);

/*
 * Prices of all rounds on all matchings; of those that take too long to be told only a round's own and the first @always are.
 * 0 or a noted -ENOMEM. Takes rounds * matchings * (ranks + transfers) steps at most, and rounds * matchings where all are shifts.
 */
int lm_united_price(struct united_problem *problem, const struct morph_collective *collective,
		    uint32_t always);
void lm_united_pool_release(struct united_pool *pool);

static inline const struct united_price *united_price(const struct united_problem *problem,
						      uint32_t round, uint16_t matching)
{
	return &problem->prices[(size_t)round * problem->pool->count + matching];
}

/* Before the first byte arrives. */
static inline uint64_t united_begin(const struct united_problem *problem,
				    const struct united_price *price)
{
	return problem->costs->round_ps + problem->costs->hop_ps * price->hops;
}

/* -------------------------------------------------------------- one round */

/* When the last byte arrives; @count becomes how many of the ways, which are sorted, have any. */
uint64_t lm_united_level(struct united_way *ways, uint32_t *count);

/* When a plane may send over a matching; @together: what a change of all planes takes, where they change together. */
uint64_t lm_united_lit(const struct united_problem *problem, const struct united_state *state,
		       uint32_t plane, uint16_t pick, uint64_t together);

/* What one change of all that planes lack takes where all stop for it, or 0. */
uint64_t lm_united_together(const struct united_problem *problem, const struct united_state *state,
			    const uint16_t *picks);

/* Planes that carry a round, as their picks say; how many. 0: one of them has no way. */
uint32_t lm_united_ways(const struct united_problem *problem, const struct united_state *state,
			uint32_t round, const uint16_t *picks, const uint64_t *early,
			struct united_way *ways);

/* Go on by a round; planes for which nothing is left do not take part. How many do; 0: it has no way. */
uint32_t lm_united_go(const struct united_problem *problem, uint32_t round, const uint16_t *picks,
		      const uint64_t *early, struct united_state *state);
struct united_state lm_united_first(const struct united_problem *problem);

/* ----------------------------------------------------------------- search */

struct united_work;

/* NULL and noted where there is no memory. @width: of the beam; 0: as wide as is soon done. */
struct united_work *lm_united_work_new(struct morph_ctx *ctx, const struct united_problem *problem,
				       uint32_t width);
void lm_united_work_free(struct united_work *work);

/*
 * A plan by a beam that thinks that each change costs a share of what it takes, in percent: what of it is not hidden. Takes rounds *
 * width * planes^3 steps.
 */
void lm_united_beam(struct united_work *work, uint32_t percent, struct united_plan *plan);

/* Matchings that a round's planes may be changed to: how many. */
uint32_t lm_united_candidates(const struct united_work *work, uint32_t round,
			      const uint16_t **candidates);

/* When all is over; UINT64_MAX: it has no way. */
uint64_t lm_united_finish(const struct united_problem *problem, const struct united_plan *plan);

/* Try what is near for so many steps of a plane in a round. 0 or a noted -ENOMEM. */
int lm_united_improve(struct morph_ctx *ctx, const struct united_problem *problem,
		      const struct united_work *work, uint64_t steps, struct united_plan *plan);

/* 0 or a noted -ENOMEM. */
int lm_united_plan_room(struct morph_ctx *ctx, const struct united_problem *problem,
			struct united_plan *plan);
void lm_united_plan_free(struct united_plan *plan);

/* ----------------------------------------------------------------- answers */

/* The plan in whole bytes, as holds and sends. 0 or what was noted. */
int lm_united_lay(struct morph_schedule *schedule, const struct morph_collective *collective,
		  const struct united_problem *problem, const struct united_plan *plan);

/*
 * A schedule that is sooner than another one of the same collective, which was planned for the same and to which it owes what it
 * begins with. Undecided where none was found. 0 or what was noted.
 */
int lm_plan_united(struct morph_schedule *schedule, const struct morph_collective *collective,
		   const struct morph_schedule_opts *opts, const struct morph_schedule *other);

#endif /* LM_SCHEDULE_UNITED_H */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rounds over planes that change while others send.
 *
 * Every rank has a port on each of k planes. A round moves a number of bytes of each rank, by
 * circuits that are the same on all planes that take part: its configuration. It begins when the
 * previous round has ended on all planes. A plane that carries d bytes in it sends for d /
 * bandwidth plus a latency. A plane with another configuration first changes, as soon as its last
 * send is over, and is dark meanwhile. The planner decides how many planes take part, which ones,
 * and what each carries; a plane may leave out rounds. This is the problem of SWOT (arXiv
 * 2510.19322), with each plane charged for its real changes.
 *
 * Only the number of planes matters, not which ones take part. Of two plans that differ in two
 * planes only, one is never worse:
 *
 * - a plane that holds the configuration goes before one that does not;
 * - of those that hold it, the one that sent last goes first;
 * - of those that do not, the one that ended first goes first.
 *
 * In each case, let the two planes exchange their parts from that round on. The plane that is then
 * free in the round can hold the configuration of the other before the round ends, because it has
 * time for a change. So a plan is a number of planes for each round, and the times by which planes
 * end before their rounds to change sooner. These times are a linear program (overlap_program.c). A
 * beam search finds the numbers without early ends; the program then tries numbers near them.
 *
 * Times are whole picoseconds.
 */
#ifndef LM_SCHEDULE_OVERLAP_H
#define LM_SCHEDULE_OVERLAP_H

#include "../collective/delay.h"

#define OVERLAP_NONE UINT32_MAX /* no configuration */
#define OVERLAP_PLANES 16
#define OVERLAP_ROUNDS 65536

struct overlap_round {
	uint64_t bytes; /* of each rank */
	uint32_t configuration;
};

struct overlap_problem {
	const struct overlap_round *rounds;
	uint32_t count, planes;
	/* Uses round_ps, change_ps and mbps. The caller adds the times of hops and ports. */
	struct costs costs;
	const uint32_t
		*resident; /* by plane: initial configuration, or OVERLAP_NONE; NULL: all dark */
};

/* Effort; 0 selects a good default. The time grows with each value. */
struct overlap_options {
	uint32_t width; /* of the beam */
	uint32_t programs; /* solved for each window */
	uint32_t proofs; /* of them, to prove the optimum if there is one window */
	uint32_t window; /* rounds planned together; then the first half is final; at most 32 */
};

/* The actions of a plane in a round. */
struct overlap_share {
	uint64_t bytes;
	uint64_t change_from, change_until; /* change before it sends */
	uint64_t from, until; /* time of sending */
	bool used, changed;
};

enum overlap_bound {
	OVERLAP_IDEAL, /* all planes send all the time after the first change */
	OVERLAP_LOADS, /* necessary changes take planes away */
	OVERLAP_OPTIMUM, /* all numbers of planes were tried or excluded */
};

struct overlap_result {
	uint64_t finish_ps;
	uint64_t bound_ps; /* lower bound for all plans */
	enum overlap_bound bound;
	uint32_t changes; /* of planes, including those to a first configuration */
};

struct overlap_work;

/* Memory of lm_overlap_solve(), used by one thread at a time. NULL without memory. */
struct overlap_work *lm_overlap_work_new(struct morph_ctx *ctx);
void lm_overlap_work_free(struct overlap_work *work);

/*
 * Find a plan. @shares has space for count * planes, by round and plane. A call with no more rounds
 * and planes than an earlier one with the same work allocates nothing. The same question gives the
 * same answer. The time is proportional to the rounds.
 *
 * Return: 0, -EINVAL (no rounds, planes or bandwidth, too many, a round without bytes or
 * configuration), -EOVERFLOW (more than 2^62 picoseconds), -ENOMEM.
 */
int lm_overlap_solve(struct overlap_work *work, const struct overlap_problem *problem,
		     const struct overlap_options *options, struct overlap_share *shares,
		     struct overlap_result *result);

/* Plans for comparison. */
enum overlap_baseline {
	OVERLAP_EVERY, /* all planes change together and share each round equally */
	/* equal numbers of planes for each configuration, rounded down, and no later changes */
	OVERLAP_ONE_SHOT,
	OVERLAP_STATIC, /* resident circuits never change */
	OVERLAP_ALWAYS, /* all planes always send; a plan only if there is one configuration */
};

/*
 * Its end; UINT64_MAX if there is no such plan. lm_overlap_solve() must have accepted the problem.
 */
uint64_t lm_overlap_baseline(const struct overlap_problem *problem, enum overlap_baseline kind);

#endif /* LM_SCHEDULE_OVERLAP_H */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rounds over planes that are changed while others send.
 *
 * Every rank has a port on each of k planes. A round moves so many bytes of each rank by circuits
 * that are the same on all planes that take part, its configuration, and begins when the
 * one before has ended on all planes. A plane that carries d bytes in it sends for d / bandwidth and a
 * latency; one that holds another configuration is dark for a change first, which may begin as
 * soon as what it sent last is over. How many planes take part, which, and what each of them carries is up to the
 * planner; a plane may leave rounds out. This is the problem of SWOT (arXiv 2510.19322), where each
 * plane is charged for what it really has to load.
 *
 * Which planes take part is no question, only how many, for of two plans that
 * differ in two planes alone one is never the worse:
 *
 *  - a plane that holds the configuration goes before one that doesn't;
 *  - of those that hold it, the one that sent last goes first;
 *  - of those that don't, the one that ended first goes first.
 *
 * In each case let the two change their parts from that round on: the plane that is free in the round instead can
 * hold whatever the other one held before the round ends, for it had the time of a change.
 * So a plan is a number of planes for each round, and when planes end before their rounds do to be changed the
 * sooner, which is a linear program (overlap_program.c). A beam finds numbers for which nothing ends before
 * its round; those around them are then tried with the program.
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
	/* Of these round_ps, change_ps and mbps: what hops and ports take is added there by who knows them. */
	struct costs costs;
	const uint32_t *
		resident; /* by plane: the configuration that it holds at first, or OVERLAP_NONE; NULL: none does */
};

/* Effort; 0 is a good one each. Time grows with each of them. */
struct overlap_options {
	uint32_t width; /* of the beam */
	uint32_t programs; /* that are solved for each window */
	uint32_t proofs; /* of them to prove that nothing is better, where one window is all */
	uint32_t window; /* rounds that are looked at together, of which the first half is then settled; 32 at most */
};

/* What a plane does in a round. */
struct overlap_share {
	uint64_t bytes;
	uint64_t change_from, change_until; /* where it is changed before it sends */
	uint64_t from, until; /* it sends */
	bool used, changed;
};

enum overlap_bound {
	OVERLAP_IDEAL, /* all planes, always, after the first change */
	OVERLAP_LOADS, /* changes that there must be take planes away */
	OVERLAP_OPTIMUM, /* all numbers of planes were tried, or ruled out */
};

struct overlap_result {
	uint64_t finish_ps;
	uint64_t bound_ps; /* no plan ends before */
	enum overlap_bound bound;
	uint32_t changes; /* of planes, those to a first configuration too */
};

struct overlap_work;

/* Memory of solves; used by one thread at a time. NULL where there is none. */
struct overlap_work *lm_overlap_work_new(struct morph_ctx *ctx);
void lm_overlap_work_free(struct overlap_work *work);

/*
 * A plan. @shares has room for count * planes, by round and plane. Solves of no more rounds and planes than an
 * earlier one of the same work allocate nothing. For the same question the answer is the same.
 * It takes time in proportion to the rounds.
 *
 * Return: 0, -EINVAL (no rounds, planes or bandwidth, too many, a round without bytes or configuration), -EOVERFLOW
 * (it would take more than 2^62 picoseconds), -ENOMEM.
 */
int lm_overlap_solve(struct overlap_work *work, const struct overlap_problem *problem,
		     const struct overlap_options *options, struct overlap_share *shares,
		     struct overlap_result *result);

/* What plans are held against. */
enum overlap_baseline {
	OVERLAP_EVERY, /* each change of configuration is one of all planes, which share all rounds alike */
	OVERLAP_ONE_SHOT, /* as many planes for each configuration, rounded down, and no changes after the first */
	OVERLAP_STATIC, /* what is resident is never changed */
	OVERLAP_ALWAYS, /* all planes send always; no plan, but where there is one configuration */
};

/* When it ends; UINT64_MAX where there is no such plan. The problem is one that lm_overlap_solve() took. */
uint64_t lm_overlap_baseline(const struct overlap_problem *problem, enum overlap_baseline kind);

#endif /* LM_SCHEDULE_OVERLAP_H */

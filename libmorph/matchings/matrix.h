/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * When circuits go where, for what each rank has for each: all-to-all-v, and dispatch and combine of
 * mixtures of experts.
 *
 * On each of some planes every rank has a transmit and a receive port. A send is a circuit from one
 * rank to another on a plane, that is set from set_ps to lit_ps and carries bytes until until_ps; from one
 * to the other both of its ports do nothing else. Ports that a change does not concern keep sending, and a
 * circuit is set as soon as its own two ends are free: nobody waits for a whole matching, and nobody for
 * ranks that have nothing. Where a change stops the plane or the fabric (costs.scope) matchings do wait.
 *
 * Setting a circuit takes change_ps and port_ps, which is for who programs the plane: one circuit after the other, in the order
 * in which their ends are free (lower numbers first). A send on a circuit that is
 * lit round_ps, hop_ps and the time of its bytes on the wire. A circuit that both ports have held
 * since their last send, or at first, is not set again.
 *
 * All is reckoned in integers, and ties go to lower numbers: whoever solves the same comes to the same plan.
 */
#ifndef LM_SCHEDULE_MATRIX_H
#define LM_SCHEDULE_MATRIX_H

#include "../collective/delay.h"

#define MATRIX_NONE UINT32_MAX

/**
 * enum matrix_method - how matchings are found
 * @MATRIX_ROTATION: each to the next, to the one after it and so on. O(ranks^2)
 * @MATRIX_MESH: nothing is changed once it is lit: each pair has planes of its own, the more the more
 *	bytes it has, so that the fullest circuit is least full; only where there are planes for all
 *	partners of each rank. O(ranks * planes * (ranks + planes)) and a binary search
 * @MATRIX_LONGEST: pairs in the order of their bytes, the largest first, each in the first matching in which both of its ends are free; all
 *	that a pair has is sent at once. At most 2 * ranks - 1 matchings, O(ranks^2) and to sort pairs and to find matchings in bits
 * @MATRIX_GREEDY: matchings of greatest weight, of which each pair sends all it has: at most
 *	2 * ranks - 1 of them. O(ranks^4), less where few augment
 * @MATRIX_URGENT: the same, but the weight is how late the plan would be if the pair came next: when both ends
 *	are free, and all that the end with more to do still has to do. O(ranks^4)
 * @MATRIX_SOLSTICE: stuffed to equal sums, then slices of powers of two by perfect matchings (Liu et al.,
 *	2015); what is less than a change is worth as MATRIX_GREEDY, for there is no packet plane.
 *	O(ranks^3) for each slice
 * @MATRIX_ECLIPSE: again and again the duration and matching that carry most for their time, the change
 *	included (Venkatakrishnan et al., SIGMETRICS 2016); of the durations 16 are tried. O(ranks^4)
 * @MATRIX_BIRKHOFF: stuffed to equal sums, then perfect matchings until their least entry is gone:
 *	at most ranks^2 - 2 * ranks + 2 of them (Birkhoff 1946). A baseline where all send to all, good
 *	where few do and changes are short. O(ranks^4)
 */
enum matrix_method {
	MATRIX_ROTATION = 0,
	MATRIX_MESH = 1,
	MATRIX_LONGEST = 2,
	MATRIX_GREEDY = 3,
	MATRIX_URGENT = 4,
	MATRIX_SOLSTICE = 5,
	MATRIX_ECLIPSE = 6,
	MATRIX_BIRKHOFF = 7,
	MATRIX_METHODS = 8,
};

/*
 * Tried when none is named: of matchings of greatest weight and least cost as many as the budget is for, and the last where ranks are few and the
 * others far from the bound. Of few ranks what is longest is not tried first, for matchings of all are as soon found.
 */
#define MATRIX_QUICK                                                                              \
	(1U << MATRIX_ROTATION | 1U << MATRIX_MESH | 1U << MATRIX_LONGEST | 1U << MATRIX_GREEDY | \
	 1U << MATRIX_URGENT | 1U << MATRIX_BIRKHOFF)
#define MATRIX_ALL ((1U << MATRIX_METHODS) - 1)

#define MATRIX_QUICK_RANKS 64 /* up to which matchings of least cost are quick */
#define MATRIX_LOOKS (1ULL << 28) /* some tenths of a second */

struct matrix_circuit {
	uint32_t plane, src, dst;
};

struct matrix_problem {
	uint32_t ranks, planes;
	const uint64_t *bytes; /* [src * ranks + dst]; what a rank has for itself is not sent */
	struct costs costs;
	const struct matrix_circuit *held; /* lit at first */
	uint32_t held_count;
	uint32_t methods; /* a bit for each that is tried; 0: MATRIX_QUICK */
	uint64_t budget; /* pairs that are looked at, where no method is named; 0: MATRIX_LOOKS where ranks are more than quick, else all */
	bool thorough; /* where no method is named and ranks are quick: all are tried, as long as the budget lasts */
};

struct matrix_send {
	uint32_t plane, step; /* step: which matching of the plane */
	uint32_t src, dst;
	uint64_t bytes;
	uint64_t set_ps, lit_ps, until_ps; /* set_ps == lit_ps: the circuit was there */
};

/**
 * enum matrix_bound - why no plan can be sooner
 * @MATRIX_BOUND_NOTHING: there is nothing to send
 * @MATRIX_BOUND_TRANSMIT: the ports of a rank have so much to send and so many circuits to set
 * @MATRIX_BOUND_RECEIVE: the same of what it receives
 * @MATRIX_BOUND_PAIR: one rank has so much for one other, on all planes
 */
enum matrix_bound {
	MATRIX_BOUND_NOTHING = 0,
	MATRIX_BOUND_TRANSMIT = 1,
	MATRIX_BOUND_RECEIVE = 2,
	MATRIX_BOUND_PAIR = 3,
};

/* What came of a method. */
struct matrix_figure {
	bool tried; /* and had a plan */
	uint64_t span_ps;
	uint32_t steps; /* matchings, of the plane that has most */
	uint32_t changes; /* circuits set */
};

/* Sends of a port are in the order of time. What it points to is the solver's, until it solves again. */
struct matrix_plan {
	const struct matrix_send *sends;
	uint32_t count;
	uint64_t span_ps; /* until all have arrived */
	uint64_t load_ps; /* most that a rank sends or receives, over its planes, without any change */
	uint64_t bound_ps; /* no plan is sooner; see matrix_bound.c */
	uint32_t bound, bound_rank,
		bound_peer; /* enum matrix_bound; of a pair the one that receives */
	uint64_t looks; /* at pairs, of the budget: what is planned when it is spent is completed by rotation, at once */
	uint32_t method; /* the one whose plan this is: the first that is soonest */
	struct matrix_figure
		figures[MATRIX_METHODS]; /* once one reaches the bound no more are tried */
};

/* Pairs that may be looked at, of what was asked for. */
static inline uint64_t lm_matrix_budget(uint32_t ranks, uint64_t budget)
{
	if (budget)
		return budget;
	return ranks > MATRIX_QUICK_RANKS ? MATRIX_LOOKS : UINT64_MAX;
}

struct matrix_solver;

/*
 * How a matrix is planned for a schedule, by its policy and budget: MORPH_POLICY_MATCHINGS without a budget is for those who want
 * a plan at once; whoever tries other policies beside it has the time to try all methods.
 */
void lm_matrix_effort(struct matrix_problem *problem, const struct morph_schedule_opts *opts);

/* NULL: out of memory, noted. One thread at a time. */
struct matrix_solver *lm_matrix_new(struct morph_ctx *ctx);
void lm_matrix_free(struct matrix_solver *solver);

/*
 * Plan. With more than one plane each method but the mesh plans three ways to share them, see
 * matrix_share.c, and the soonest counts. Memory is kept from one problem to the next: one that
 * is no larger than those before takes none. O(ranks^2 * planes) and what the methods take;
 * 32 * ranks^2 bytes are kept, and the sends.
 *
 * Returns 0, -EINVAL (no ranks, no planes, no bandwidth, no such scope or method, a circuit held that cannot be), -E2BIG
 * (more than 4096 ranks, 256 planes, or 2^26 pairs on all planes or sends), -EOVERFLOW (it could take
 * more than a few weeks), -ENOENT (none of the methods has a plan: a mesh alone, and there are too few
 * planes) or -ENOMEM.
 */
int lm_matrix_solve(struct matrix_solver *solver, const struct matrix_problem *problem,
		    struct matrix_plan *plan);

/*
 * What was sent by the last plan goes back: the same matchings, transposed, the last first. Time
 * turned round is a plan, so where nothing was held and ports change by themselves, and take no time each, it takes no longer
 * than the one there; what one matching changes when the way is turned is not what it changed before, so
 * planes that change as a whole may take longer. The last plan is gone. @plan: as above, its figures
 * those of the way there. 0, -ENOENT (there was no plan) or -ENOMEM.
 */
int lm_matrix_combine(struct matrix_solver *solver, struct matrix_plan *plan);

#endif /* LM_SCHEDULE_MATRIX_H */

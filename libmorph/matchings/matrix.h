/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Plans the circuits for a matrix of bytes from each rank to each: all-to-all-v, and dispatch and
 * combine of mixtures of experts.
 *
 * On each plane, every rank has a transmit and a receive port. A send is a circuit from one rank to
 * another on a plane. It is set from set_ps to lit_ps, and carries bytes until until_ps. Its ports
 * do nothing else in this time. Other ports keep sending during a change. A circuit is set as soon
 * as its own two ends are free. It waits neither for a whole matching nor for ranks without data.
 * Matchings do wait if a change stops the plane or the fabric (costs.scope).
 *
 * Setting a circuit takes change_ps and port_ps. The device programs a plane's circuits one after
 * another, in the order in which their ends are free (lower numbers first). A send on a lit circuit
 * takes round_ps, hop_ps and the time of its bytes on the wire. A circuit that both ports have held
 * since their last send, or initially, is not set again.
 *
 * All values are integers, and ties go to lower numbers, so the same problem always has the same
 * plan.
 */
#ifndef LM_SCHEDULE_MATRIX_H
#define LM_SCHEDULE_MATRIX_H

#include "../collective/delay.h"

#define MATRIX_NONE UINT32_MAX

/**
 * enum matrix_method - how matchings are found
 * @MATRIX_ROTATION: each rank to the next, then to the one after it, and so on. O(ranks^2)
 * @MATRIX_MESH: no changes after the start. Each pair has its own planes, more for more bytes, so
 *               that the fullest circuit is least full. Needs a plane for each partner of a rank.
 *               O(ranks * planes * (ranks + planes)) and a binary search
 * @MATRIX_LONGEST: pairs by their bytes, the largest first, each in the first matching in which
 *                  both of its ends are free. A pair sends all of its bytes at once. At most 2 *
 *                  ranks - 1 matchings; O(ranks^2), plus sorting pairs and searching matchings in
 *                  bits
 * @MATRIX_GREEDY: matchings of greatest weight. Each pair sends all of its bytes: at most 2 * ranks
 *                 - 1 matchings. O(ranks^4), less if few augment
 * @MATRIX_URGENT: the same, but the weight is the delay of the plan if the pair came next: the time
 *                 at which both ends are free, plus the rest of the busier end. O(ranks^4)
 * @MATRIX_SOLSTICE: stuffed to equal sums, then slices of powers of two by perfect matchings (Liu
 *                   et al., 2015). The rest, which is worth less than a change, goes as in
 *                   MATRIX_GREEDY, because there is no packet plane. O(ranks^3) for each slice
 * @MATRIX_ECLIPSE: repeatedly the duration and matching that carry most for their time, including
 *                  the change (Venkatakrishnan et al., SIGMETRICS 2016). It tries 16 durations.
 *                  O(ranks^4)
 * @MATRIX_BIRKHOFF: stuffed to equal sums, then perfect matchings until their least entry is used
 *                   up: at most ranks^2 - 2 * ranks + 2 (Birkhoff 1946). A baseline if all ranks
 *                   send to all; good if few do and changes are short. O(ranks^4)
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
 * The methods tried by default. The budget limits the number of matchings of greatest weight and of
 * least cost. The last method is tried if ranks are few and the others are far from the bound. For
 * few ranks, MATRIX_LONGEST is not tried first, because matchings of all pairs are found as
 * quickly.
 */
#define MATRIX_QUICK                                                                              \
	(1U << MATRIX_ROTATION | 1U << MATRIX_MESH | 1U << MATRIX_LONGEST | 1U << MATRIX_GREEDY | \
	 1U << MATRIX_URGENT | 1U << MATRIX_BIRKHOFF)
#define MATRIX_ALL ((1U << MATRIX_METHODS) - 1)

/* largest number of ranks for which matchings of least cost are quick */
#define MATRIX_QUICK_RANKS 64
#define MATRIX_LOOKS (1ULL << 28) /* some tenths of a second */

struct matrix_circuit {
	uint32_t plane, src, dst;
};

struct matrix_problem {
	uint32_t ranks, planes;
	const uint64_t *bytes; /* [src * ranks + dst]; the diagonal is ignored */
	struct costs costs;
	const struct matrix_circuit *held; /* initially lit */
	uint32_t held_count;
	uint32_t methods; /* a bit for each method to try; 0: MATRIX_QUICK */
	/*
	 * limit of pairs examined, with default methods; 0: MATRIX_LOOKS above the quick ranks,
	 * else no limit
	 */
	uint64_t budget;
	bool thorough; /* with default methods and few ranks: try all, within the budget */
};

struct matrix_send {
	uint32_t plane, step; /* step: number of the plane's matching */
	uint32_t src, dst;
	uint64_t bytes;
	uint64_t set_ps, lit_ps, until_ps; /* set_ps == lit_ps: the circuit was lit before */
};

/**
 * enum matrix_bound - why no plan can be faster
 * @MATRIX_BOUND_NOTHING: there is nothing to send
 * @MATRIX_BOUND_TRANSMIT: the bytes that a rank's ports must send and the circuits that they must
 *                         set
 * @MATRIX_BOUND_RECEIVE: the same for receiving
 * @MATRIX_BOUND_PAIR: the bytes from one rank to another, on all planes
 */
enum matrix_bound {
	MATRIX_BOUND_NOTHING = 0,
	MATRIX_BOUND_TRANSMIT = 1,
	MATRIX_BOUND_RECEIVE = 2,
	MATRIX_BOUND_PAIR = 3,
};

/* The result of a method. */
struct matrix_figure {
	bool tried; /* and it has a plan */
	uint64_t span_ps;
	uint32_t steps; /* matchings, on the plane with most */
	uint32_t changes; /* circuits that were set */
};

/* Sends of a port are in the order of time. The solver owns the arrays until its next call. */
struct matrix_plan {
	const struct matrix_send *sends;
	uint32_t count;
	uint64_t span_ps; /* arrival of all bytes */
	uint64_t load_ps; /* largest load of a rank over its planes, without changes */
	uint64_t bound_ps; /* lower bound for all plans; see matrix_bound.c */
	uint32_t bound, bound_rank, bound_peer; /* enum matrix_bound; for a pair, the receiver */
	/* pairs examined, of the budget; when it ends, rotation completes the plan */
	uint64_t looks;
	uint32_t method; /* the method of the plan: the first of the fastest */
	struct matrix_figure
		figures[MATRIX_METHODS]; /* no further method is tried when one reaches the bound */
};

/* Number of pairs that may be examined for the request. */
static inline uint64_t lm_matrix_budget(uint32_t ranks, uint64_t budget)
{
	if (budget)
		return budget;
	return ranks > MATRIX_QUICK_RANKS ? MATRIX_LOOKS : UINT64_MAX;
}

struct matrix_solver;

/*
 * Set the effort for a schedule, by its policy and budget. MORPH_POLICY_MATCHINGS without a budget
 * plans quickly. With other policies besides, there is time to try all methods.
 */
void lm_matrix_effort(struct matrix_problem *problem, const struct morph_schedule_opts *opts);

/* NULL, noted, without memory. For one thread at a time. */
struct matrix_solver *lm_matrix_new(struct morph_ctx *ctx);
void lm_matrix_free(struct matrix_solver *solver);

/*
 * Plan. With several planes, each method except the mesh plans three ways to share them
 * (matrix_share.c), and the fastest counts. The solver keeps its memory: a problem that is no
 * larger than earlier ones allocates nothing. O(ranks^2 * planes) and the methods; it keeps 32 *
 * ranks^2 bytes and the sends.
 *
 * Returns 0, -EINVAL (no ranks, no planes, no bandwidth, no such scope or method, an impossible
 * held circuit), -E2BIG (more than 4096 ranks, 256 planes, or 2^26 pairs on all planes or sends),
 * -EOVERFLOW (it could take more than a few weeks), -ENOENT (no method has a plan: a mesh alone,
 * with too few planes) or -ENOMEM.
 */
int lm_matrix_solve(struct matrix_solver *solver, const struct matrix_problem *problem,
		    struct matrix_plan *plan);

/*
 * Reverse the last plan: the same matchings, transposed, the last first. A plan reversed in time is
 * a plan. So if no circuit was held, and ports change independently and without port_ps, it takes
 * no longer. Otherwise a matching may change more circuits than before, so it may take longer if
 * whole planes change. This replaces the last plan. @plan is as above, with the figures of the
 * original direction. Returns 0, -ENOENT (there was no plan) or -ENOMEM.
 */
int lm_matrix_combine(struct matrix_solver *solver, struct matrix_plan *plan);

#endif /* LM_SCHEDULE_MATRIX_H */

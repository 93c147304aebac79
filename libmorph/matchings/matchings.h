/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The search for matchings, behind <morph/matchings.h>. */
#ifndef LM_MATCHINGS_MATCHINGS_H
#define LM_MATCHINGS_MATCHINGS_H

#include "exact.h"
#include "mesh_bound.h"
#include "mesh_cut.h"

/* The problem of the last set-up: fabric, ports and faults. No tx: there is none. */
struct matchings_kept {
	struct morph_matchings_problem problem; /* with a reference to its model */
	struct mesh_block block; /* of its arrays */
};

struct morph_matchings {
	struct morph_ctx *ctx;
	struct matchings_kept kept;
	struct rounds rounds;
	struct mesh_bound bound;
	struct mesh_cut cut;
	struct exact exact;
	uint32_t weights[EXACT_MOST_PAIRS]; /* of a bound by exhaustive search */
	bool joined; /* the first ports have routes for all pairs */
	uint32_t farthest; /* elements on the longest of the shortest routes */
	struct judge namer; /* of rounds that the validator refuses, if the search does not ask */
	struct morph_matchings_answer answer; /* the best so far */
	uint32_t *round_first;
	struct morph_matchings_circuit *circuits;
	struct morph_matchings_hop *hops;
	uint16_t *states;
	uint32_t *tx, *rx;
	uint32_t *refused; /* rounds */
	uint32_t *order; /* of rounds */
	uint32_t *writes; /* by two rounds of the search; at most 2^16 rounds */
	struct mesh_block bound_block, answer_block;
};

/* Routes are shortened with at most this number of moves for each round. */
#define IMPROVE_MOVES 4

/* Lay out the memory of rounds.rounds rounds. Returns 0, or a noted -ENOMEM. */
int lm_matchings_lay_rounds(struct morph_matchings *matchings);

/* ------------------------------------------------------------------ matchings_decide.c */

/*
 * Decide the numbers of rounds from the bound to @last exactly, as long as the budget of @most
 * moves lasts. Raises the bound above those that it refutes. More rounds than pairs are never
 * necessary, so that a bound above this number refuses all. Returns 1 if it found rounds, 0 if not,
 * or a noted error.
 */
int lm_matchings_decide(struct morph_matchings *matchings, uint32_t last, uint64_t most);

/*
 * Set ports that have routes for all pairs, as far as the exact search finds some. Refuses all
 * rounds if there are none. Returns 1, 0, or a noted error.
 */
int lm_matchings_join_ports(struct morph_matchings *matchings);

/* Search one round less than the answer has, and so on. Likewise, but returns 0 at the bound. */
int lm_matchings_descend(struct morph_matchings *matchings, uint64_t most);

/*
 * Decide a number of rounds exactly, in half of the budget. Unlike lm_matchings_decide(), it does
 * not decide smaller numbers first: a refutation refutes these, too. Likewise.
 */
int lm_matchings_decide_at(struct morph_matchings *matchings, uint32_t count, uint64_t most);

/* ------------------------------------------------------------------ matchings_problem.c */

/* Check what does not depend on the fabric. Returns 0, or a noted -EINVAL. O(endpoints). */
int lm_matchings_check(struct morph_ctx *ctx, const struct morph_matchings_problem *problem);

/* Check the ports of endpoints in a fabric of @ends ports. Returns 0, or a noted -EINVAL. */
int lm_matchings_check_ports(struct morph_ctx *ctx, const struct morph_matchings_problem *problem,
			     uint32_t ends);

/* Check the numbers of faulty elements. Returns 0, or a noted -EINVAL. O(faults). */
int lm_matchings_check_faults(struct morph_ctx *ctx, const struct morph_matchings_problem *problem,
			      const struct mesh *mesh);

/* The limit of a route's elements: given, or that of the fabric's loss budget; 0: none. */
uint32_t lm_matchings_limit_hops(const struct morph_matchings_problem *problem);

/* Whether the fabric, ports and faults are those of the last set-up. O(endpoints + faults). */
bool lm_matchings_is_kept(const struct matchings_kept *kept,
			  const struct morph_matchings_problem *problem);

/* Note the problem of a set-up that later searches can use. Returns 0, or a noted -ENOMEM. */
int lm_matchings_keep(struct morph_ctx *ctx, struct matchings_kept *kept,
		      const struct morph_matchings_problem *problem);

/* Forget the last set-up. */
void lm_matchings_forget(struct matchings_kept *kept);

/* ------------------------------------------------------------------ matchings_answer.c */

/*
 * Make the answer of legal rounds, which replaces the last one. Orders the rounds so that few
 * elements are written between them. O(rounds^2 * elements). Returns 0, or a noted -ENOMEM.
 */
int lm_matchings_answer(struct morph_matchings *matchings);

/* matchings_bound.c: the best lower bound of degree and, if ports are given, of distance. */
void lm_matchings_bound(struct morph_matchings *matchings);

/*
 * Find a better lower bound for given ports: of a cut, in at most 500000 / arcs sweeps, and of a
 * fractional flow, in @work / (endpoints * turns) iterations, but at most 1024. A cut names the
 * bound if the flow proves no more rounds. If the cut separates a duplex pair, it sets the verdict
 * and the pair. Follows lm_matchings_bound().
 */
void lm_matchings_raise_bound(struct morph_matchings *matchings, uint64_t work);

#endif /* LM_MATCHINGS_MATCHINGS_H */

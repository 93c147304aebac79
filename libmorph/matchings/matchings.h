/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The search for matchings, behind <morph/matchings.h>. */
#ifndef LM_MATCHINGS_MATCHINGS_H
#define LM_MATCHINGS_MATCHINGS_H

#include "mesh_bound.h"
#include "rounds.h"

struct morph_matchings {
	struct morph_ctx *ctx;
	struct rounds rounds;
	struct mesh_bound bound;
	struct morph_matchings_answer answer; /* the best so far */
	uint32_t *round_first;
	struct morph_matchings_circuit *circuits;
	struct morph_matchings_hop *hops;
	uint16_t *states;
	uint32_t *tx, *rx;
	uint32_t *order; /* of rounds */
	uint32_t *writes; /* by two rounds of the search; at most 2^16 rounds */
	struct mesh_block bound_block, answer_block;
};

/*
 * Make the answer of legal rounds, which replaces the last one. Orders the rounds so that few
 * elements are written between them. O(rounds^2 * elements). Returns 0, or a noted -ENOMEM.
 */
int lm_matchings_answer(struct morph_matchings *matchings);

#endif /* LM_MATCHINGS_MATCHINGS_H */

// SPDX-License-Identifier: LGPL-2.1-or-later
/* The lower bound of the number of rounds, and its proof. */
#include "matchings.h"

#define BOUND_ITERATIONS 1024
#define CUT_WORK 500000

static uint32_t least_rounds(const struct rounds *rounds)
{
	uint32_t n = rounds->endpoints;

	if (rounds->targets)
		return 1;
	/* If n is odd, one endpoint rests in each round, unless senders and receivers differ. */
	return n % 2 && rounds->kind != MORPH_MATCHINGS_DIRECTED ? n : n - 1;
}

void lm_matchings_bound(struct morph_matchings *matchings)
{
	struct rounds *rounds = &matchings->rounds;
	struct mesh_bound *bound = &matchings->bound;
	struct morph_matchings_answer *answer = &matchings->answer;
	uint32_t join, found;
	uint64_t arms;

	answer->bound = least_rounds(rounds);
	answer->bound_kind = MORPH_MATCHINGS_DEGREE;
	if (rounds->choose)
		return;
	bound->mesh = &rounds->mesh;
	for (join = 0; join < rounds->mesh.joins; join++)
		bound->lengths[join] = 1;
	arms = lm_mesh_bound_longest(bound);
	found = (uint32_t)((answer->distance + arms - 1) / arms);
	if (found > answer->bound) {
		answer->bound = found;
		answer->bound_kind = MORPH_MATCHINGS_DISTANCE;
	}
}

/*
 * Set the bound of the best cut if it is larger. If a cut has only one guide for both circuits of a
 * duplex pair, refuse the pair.
 */
static void raise_by_cut(struct morph_matchings *matchings)
{
	struct morph_matchings_answer *answer = &matchings->answer;
	const struct rounds *rounds = &matchings->rounds;
	struct mesh_cut *cut = &matchings->cut;
	uint32_t found;

	cut->mesh = &rounds->mesh;
	cut->kind = rounds->kind;
	cut->endpoints = rounds->endpoints;
	cut->tx = rounds->tx;
	cut->rx = rounds->rx;
	cut->targets = rounds->targets;
	cut->togo = rounds->togo;
	cut->togo_of = rounds->togo_of;
	lm_mesh_cut_search(cut, CUT_WORK);
	found = mesh_cut_rounds(cut);
	if (found <= answer->bound)
		return;
	if (found == UINT32_MAX) {
		answer->verdict = MORPH_INFEASIBLE;
		lm_mesh_cut_pair(cut, &answer->src, &answer->dst);
		found = 0;
	}
	answer->bound = found;
	answer->bound_kind = MORPH_MATCHINGS_CUT;
	answer->cut = cut->best;
	answer->cut_count = cut->best_count;
}

void lm_matchings_raise_bound(struct morph_matchings *matchings, uint64_t work)
{
	struct rounds *rounds = &matchings->rounds;
	struct mesh_bound *bound = &matchings->bound;
	struct morph_matchings_answer *answer = &matchings->answer;
	uint64_t iterations = work / ((uint64_t)rounds->endpoints * rounds->mesh.turns + 1);
	uint32_t degree = least_rounds(rounds), found;
	uint64_t arms;

	if (rounds->choose)
		return;
	raise_by_cut(matchings);
	if (answer->verdict == MORPH_INFEASIBLE)
		return;
	bound->endpoints = rounds->endpoints;
	bound->tx = rounds->tx;
	bound->rx = rounds->rx;
	bound->pairs = rounds->kind == MORPH_MATCHINGS_PAIRS;
	bound->targets = rounds->targets;
	bound->numerator = 0;
	bound->denominator = 1;
	arms = lm_mesh_bound_longest(bound);
	found = (uint32_t)((answer->distance + arms - 1) / arms);
	/* Where the distances are far below the degree, a flow does not exceed it either. */
	if (found * 2 < degree)
		return;
	if (iterations > BOUND_ITERATIONS)
		iterations = BOUND_ITERATIONS;
	lm_mesh_bound_fractional(bound, (uint32_t)iterations);
	found = mesh_bound_rounds(bound);
	if (found <= answer->bound)
		return;
	answer->bound = found;
	answer->bound_kind = MORPH_MATCHINGS_FRACTIONAL;
	answer->lengths = bound->best;
	answer->lengths_count = rounds->mesh.joins;
	answer->cut_count = 0;
}

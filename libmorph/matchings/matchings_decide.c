// SPDX-License-Identifier: LGPL-2.1-or-later
/* Numbers of rounds that the exact search finds or refutes, in small fabrics. */
#include "matchings.h"

/* Part of the budget for an exact search of one round less. */
#define DESCENT_SHARE 8

/* Part of the budget for one number of rounds above the bound, at any ports. */
#define PORTS_SHARE 2

/* Steps for ports that have routes for all pairs, beside the budget. */
#define JOIN_STEPS (1u << 24)

/* Keep rounds that the exact search found, unless the driver's validator refuses one. */
static int keep_exact(struct morph_matchings *matchings)
{
	struct rounds *rounds = &matchings->rounds;
	struct optics_refusal refusal;
	uint32_t round;
	int error;

	for (round = 0; round < rounds->rounds && rounds->judge.graph; round++) {
		if (lm_judge_refuses(&rounds->judge, rounds, round, &refusal))
			return 0;
	}
	lm_rounds_shorten(rounds, 0, (uint64_t)IMPROVE_MOVES * rounds->rounds);
	error = lm_matchings_answer(matchings);
	return error ? error : 1;
}

/* The weights of the last refutation belong to the proof of the bound, at given ports. */
static void keep_weights(struct morph_matchings *matchings)
{
	struct morph_matchings_answer *answer = &matchings->answer;
	const struct exact_cover *cover = &matchings->exact.cover;

	answer->lengths = matchings->weights;
	answer->lengths_count = matchings->rounds.choose ? 0 : cover->pairs;
	memcpy(matchings->weights, cover->weight, answer->lengths_count * sizeof(*cover->weight));
}

/*
 * No ports have routes for all pairs. More rounds than pairs are never necessary, so that a bound
 * above this number refuses all.
 */
static void refuse_ports(struct morph_matchings *matchings)
{
	struct morph_matchings_answer *answer = &matchings->answer;

	answer->bound = matchings->exact.cover.pairs + 1;
	answer->bound_kind = MORPH_MATCHINGS_EXHAUSTIVE;
	answer->verdict = MORPH_INFEASIBLE;
}

/*
 * Search @count rounds exactly, with @steps steps of the budget at most. Raises the bound if it
 * refutes them. Returns an exact_result, or a noted error.
 */
static int decide_count(struct morph_matchings *matchings, uint32_t count, uint64_t steps)
{
	struct morph_matchings_answer *answer = &matchings->answer;
	struct rounds *rounds = &matchings->rounds;
	uint64_t left = steps;
	int result;

	rounds->rounds = count;
	result = lm_matchings_lay_rounds(matchings);
	if (result)
		return result;
	result = lm_exact_search(&matchings->exact, rounds, answer->hops_most, &left);
	rounds->moves += (steps - left) / EXACT_STEPS;
	if (result != EXACT_REFUTED)
		return result;
	answer->bound = count + 1;
	answer->bound_kind = MORPH_MATCHINGS_EXHAUSTIVE;
	keep_weights(matchings);
	answer->cut_count = 0;
	if (matchings->exact.separated)
		refuse_ports(matchings);
	return result;
}

static uint64_t steps_left(const struct morph_matchings *matchings, uint64_t most)
{
	uint64_t moves = matchings->rounds.moves;

	return most > moves ? (most - moves) * EXACT_STEPS : 0;
}

int lm_matchings_decide(struct morph_matchings *matchings, uint32_t last, uint64_t most)
{
	struct morph_matchings_answer *answer = &matchings->answer;
	int result = EXACT_REFUTED;

	while (answer->bound <= last && result == EXACT_REFUTED &&
	       answer->verdict != MORPH_INFEASIBLE)
		result = decide_count(matchings, answer->bound, steps_left(matchings, most));
	return result == EXACT_FOUND ? keep_exact(matchings) : result < 0 ? result : 0;
}

int lm_matchings_join_ports(struct morph_matchings *matchings)
{
	struct rounds *rounds = &matchings->rounds;
	uint64_t left = JOIN_STEPS;
	int result;

	rounds->rounds = matchings->answer.bound;
	result = lm_exact_join(&matchings->exact, rounds, matchings->answer.hops_most, &left);
	rounds->moves += (JOIN_STEPS - left) / EXACT_STEPS;
	if (result == EXACT_REFUTED)
		refuse_ports(matchings);
	return result < 0 ? result : result == EXACT_FOUND;
}

int lm_matchings_decide_at(struct morph_matchings *matchings, uint32_t count, uint64_t most)
{
	int result;

	if (count <= matchings->answer.bound)
		return 0;
	matchings->exact.share = 1;
	result = decide_count(matchings, count, steps_left(matchings, most) / PORTS_SHARE);
	return result == EXACT_FOUND ? keep_exact(matchings) : result < 0 ? result : 0;
}

/* Far from the bound, rounds are mostly found soon or not at all: each search gets a part. */
int lm_matchings_descend(struct morph_matchings *matchings, uint64_t most)
{
	const struct morph_matchings_answer *answer = &matchings->answer;
	int found = 1, result;

	while (found > 0 && answer->rounds > answer->bound + 1) {
		result = decide_count(matchings, answer->rounds - 1,
				      steps_left(matchings, most) / DESCENT_SHARE);
		found = result == EXACT_FOUND ? keep_exact(matchings) : result < 0 ? result : 0;
	}
	return found < 0 ? found : 0;
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What is near a plan: a plane leaves rounds out, takes part in others or over another matching, or ends before a round does to be
 * changed the sooner. Whatever ends sooner is kept, until there is nothing or no time left.
 */
#include "united.h"

#define ROUND_STEPS 6 /* as many as so many planes takes a round, whatever planes there are */
#define HORIZON 8 /* rounds after which a change of the plan that has not paid is given up */

struct improving {
	const struct united_problem *problem;
	const struct united_work *work;
	struct united_plan *plan;
	struct united_state *states; /* before each round, and after the last */
	struct united_state *trial; /* the same of what is tried */
	uint16_t *kept; /* picks that were there before, of those that are tried */
	uint64_t *kept_early;
	uint64_t steps; /* that are left */
	bool better; /* something was, since it was looked at last */
};

static size_t cell_of(const struct improving *it, uint32_t round, uint32_t plane)
{
	return (size_t)round * it->problem->planes + plane;
}

/* Go through the rounds from one on; false where it does not end sooner, as far as that is looked at. */
static bool ends_sooner(struct improving *it, uint32_t from, uint32_t until)
{
	const struct united_problem *problem = it->problem;
	uint32_t steps = problem->planes + ROUND_STEPS;

	it->trial[from] = it->states[from];
	for (uint32_t round = from; round < problem->rounds; round++) {
		size_t cell = cell_of(it, round, 0);

		it->steps -= it->steps < steps ? it->steps : steps;
		it->trial[round + 1] = it->trial[round];
		if (!lm_united_go(problem, round, it->plan->picks + cell, it->plan->early + cell,
				  &it->trial[round + 1]))
			return false;
		if (round >= until + HORIZON &&
		    it->trial[round + 1].end >= it->states[round + 1].end)
			return false;
	}
	return it->trial[problem->rounds].end < it->states[problem->rounds].end;
}

/* Keep what was tried from a round to another one, or take it back. */
static bool settle(struct improving *it, uint32_t from, uint32_t until)
{
	size_t first = cell_of(it, from, 0), count = cell_of(it, until, 0) - first;
	uint32_t rounds = it->problem->rounds;

	if (!ends_sooner(it, from, until)) {
		memcpy(it->plan->picks + first, it->kept, count * sizeof(*it->kept));
		memcpy(it->plan->early + first, it->kept_early, count * sizeof(*it->kept_early));
		return false;
	}
	memcpy(it->states + from, it->trial + from, (rounds + 1 - from) * sizeof(*it->states));
	it->plan->finish = it->states[rounds].end;
	it->better = true;
	return true;
}

static void begin(struct improving *it, uint32_t from, uint32_t until)
{
	size_t first = cell_of(it, from, 0), count = cell_of(it, until, 0) - first;

	memcpy(it->kept, it->plan->picks + first, count * sizeof(*it->kept));
	memcpy(it->kept_early, it->plan->early + first, count * sizeof(*it->kept_early));
}

/* A plane carries rounds over a matching, or none of them. */
static bool try_pick(struct improving *it, uint32_t plane, uint32_t from, uint32_t until,
		     uint16_t pick)
{
	bool differs = false;

	begin(it, from, until);
	for (uint32_t round = from; round < until; round++) {
		size_t cell = cell_of(it, round, plane);

		differs = differs || it->plan->picks[cell] != pick;
		it->plan->picks[cell] = pick;
		it->plan->early[cell] = 0;
	}
	return differs && settle(it, from, until);
}

/* Rounds from one on in which the plane does the same. */
static uint32_t run_of(const struct improving *it, uint32_t plane, uint32_t from)
{
	uint16_t pick = it->plan->picks[cell_of(it, from, plane)];
	uint32_t round = from;

	while (round < it->problem->rounds && it->plan->picks[cell_of(it, round, plane)] == pick)
		round++;
	return round;
}

/* Rounds until which a matching still pays that a plane is to hold: 1, 2, 4 and so on, and as long as the plane does what it does. */
static void try_lengths(struct improving *it, uint32_t plane, uint32_t from, uint16_t pick)
{
	uint32_t rounds = it->problem->rounds, run = run_of(it, plane, from);

	for (uint32_t length = 1; it->steps && length <= 16 && from + length <= rounds; length *= 2)
		if (try_pick(it, plane, from, from + length, pick))
			return;
	if (it->steps)
		try_pick(it, plane, from, run, pick);
}

/*
 * A plane that a round waits for ends the round that it is in before sooner: by half of what it is waited for, and by all of
 * it.
 */
static void try_early(struct improving *it, uint32_t plane, uint32_t round)
{
	const struct united_problem *problem = it->problem;
	uint16_t pick = it->plan->picks[cell_of(it, round, plane)];
	const struct united_state *state = &it->states[round];
	uint32_t before = round;
	uint64_t lit;

	if (pick == UNITED_NONE || problem->costs->scope == MORPH_DELAY_FABRIC_SCOPE)
		return;
	lit = lm_united_lit(problem, state, plane, pick, 0);
	if (lit <= state->end)
		return;
	while (before && it->states[before].free[plane] == state->free[plane])
		before--;
	if (it->states[before].free[plane] == state->free[plane])
		return;
	for (uint32_t part = 1; it->steps && part <= 16; part *= 2) {
		size_t cell = cell_of(it, before, plane);

		begin(it, before, before + 1);
		it->plan->early[cell] += (lit - state->end) / part;
		if (settle(it, before, before + 1))
			return;
	}
	for (uint32_t part = 1; it->steps && part <= 4; part *= 2) {
		size_t cell = cell_of(it, before, plane);

		begin(it, before, before + 1);
		it->plan->early[cell] -= it->plan->early[cell] / part;
		if (settle(it, before, before + 1))
			return;
	}
}

static void try_round(struct improving *it, uint32_t round)
{
	const uint16_t *candidates;
	uint32_t count = lm_united_candidates(it->work, round, &candidates);

	for (uint32_t plane = 0; it->steps && plane < it->problem->planes; plane++) {
		uint16_t held = it->states[round].held[plane];

		if (it->plan->picks[cell_of(it, round, plane)] != UNITED_NONE)
			try_lengths(it, plane, round, UNITED_NONE);
		if (held != UNITED_NONE)
			try_lengths(it, plane, round, held);
		for (uint32_t at = 0; it->steps && at < count; at++)
			if (candidates[at] != held)
				try_lengths(it, plane, round, candidates[at]);
		try_early(it, plane, round);
	}
}

static bool follow(struct improving *it)
{
	const struct united_problem *problem = it->problem;

	it->states[0] = lm_united_first(problem);
	for (uint32_t round = 0; round < problem->rounds; round++) {
		size_t cell = cell_of(it, round, 0);

		it->states[round + 1] = it->states[round];
		if (!lm_united_go(problem, round, it->plan->picks + cell, it->plan->early + cell,
				  &it->states[round + 1]))
			return false;
	}
	it->plan->finish = it->states[problem->rounds].end;
	return true;
}

int lm_united_improve(struct morph_ctx *ctx, const struct united_problem *problem,
		      const struct united_work *work, uint64_t steps, struct united_plan *plan)
{
	size_t rounds = problem->rounds, cells = rounds * problem->planes;
	struct improving it = {
		.problem = problem, .work = work, .plan = plan, .steps = steps, .better = true
	};
	int ret = 0;

	it.states = calloc(rounds + 1, sizeof(*it.states));
	it.trial = calloc(rounds + 1, sizeof(*it.trial));
	it.kept = calloc(cells, sizeof(*it.kept));
	it.kept_early = calloc(cells, sizeof(*it.kept_early));
	if (!it.states || !it.trial || !it.kept || !it.kept_early)
		ret = lm_fail(ctx, ENOMEM, "plan a schedule: out of memory");
	else if (follow(&it))
		while (it.better && it.steps) {
			it.better = false;
			for (uint32_t round = 0; it.steps && round < rounds; round++)
				try_round(&it, round);
		}
	free(it.states);
	free(it.trial);
	free(it.kept);
	free(it.kept_early);
	return ret;
}

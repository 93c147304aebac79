// SPDX-License-Identifier: LGPL-2.1-or-later
/* One round over planes that are ready at unequal times and carry it over unequal ways: see united.h. */
#include "united.h"

/* Earlier ones first. */
static void sort(struct united_way *ways, uint32_t count)
{
	for (uint32_t at = 1; at < count; at++) {
		struct united_way way = ways[at];
		uint32_t place = at;

		for (; place && ways[place - 1].begin > way.begin; place--)
			ways[place] = ways[place - 1];
		ways[place] = way;
	}
}

/*
 * Water that rises over steps of unequal width: a way takes 1 / wire of the bytes in a picosecond. Weights are multiples of a
 * small part of that of the fastest.
 */
uint64_t lm_united_level(struct united_way *ways, uint32_t *count)
{
	uint64_t fastest = UINT64_MAX, weights = 0;
	unsigned __int128 sum;
	uint32_t used = 0, shift;

	sort(ways, *count);
	for (uint32_t at = 0; at < *count; at++)
		fastest = ways[at].wire < fastest ? ways[at].wire : fastest;
	shift = (uint32_t)__builtin_clzll(fastest) - 4;
	sum = fastest << shift;
	while (used < *count) {
		uint64_t above = ways[used].begin - ways[0].begin;
		uint64_t weight = ways[used].wire == fastest ? 1ULL << shift :
							       (fastest << shift) / ways[used].wire;

		if (used && (unsigned __int128)above * weights >= sum)
			break;
		weights += weight;
		sum += (unsigned __int128)above * weight;
		used++;
	}
	*count = used;
	return ways[0].begin + (uint64_t)((sum + weights - 1) / weights);
}

uint64_t lm_united_together(const struct united_problem *problem, const struct united_state *state,
			    const uint16_t *picks)
{
	uint64_t gaps = 0;

	if (problem->costs->scope != MORPH_DELAY_FABRIC_SCOPE)
		return 0;
	for (uint32_t plane = 0; plane < problem->planes; plane++)
		if (picks[plane] != UNITED_NONE)
			gaps += lm_united_gap(problem->pool, state->held[plane], picks[plane]);
	return gaps ? costs_change_ps(problem->costs, gaps) : 0;
}

uint64_t lm_united_lit(const struct united_problem *problem, const struct united_state *state,
		       uint32_t plane, uint16_t pick, uint64_t together)
{
	uint32_t gap = lm_united_gap(problem->pool, state->held[plane], pick);
	uint64_t lit;

	if (together || !gap)
		return state->end + together;
	lit = state->free[plane] + costs_change_ps(problem->costs, gap);
	return lit > state->end ? lit : state->end;
}

uint32_t lm_united_ways(const struct united_problem *problem, const struct united_state *state,
			uint32_t round, const uint16_t *picks, const uint64_t *early,
			struct united_way *ways)
{
	uint64_t together = lm_united_together(problem, state, picks);
	uint32_t count = 0;

	for (uint32_t plane = 0; plane < problem->planes; plane++) {
		const struct united_price *price;

		if (picks[plane] == UNITED_NONE)
			continue;
		price = united_price(problem, round, picks[plane]);
		if (price->wire_ps == UNITED_NEVER)
			return 0;
		ways[count++] = (struct united_way){
			.begin = lm_united_lit(problem, state, plane, picks[plane], together) +
				 united_begin(problem, price) + (early ? early[plane] : 0),
			.wire = price->wire_ps,
			.plane = plane,
		};
	}
	return count;
}

uint32_t lm_united_go(const struct united_problem *problem, uint32_t round, const uint16_t *picks,
		      const uint64_t *early, struct united_state *state)
{
	struct united_way ways[UNITED_PLANES];
	uint32_t count = lm_united_ways(problem, state, round, picks, early, ways);
	uint64_t level, end = 0;

	if (!count)
		return 0;
	level = lm_united_level(ways, &count);
	for (uint32_t at = 0; at < count; at++) {
		uint32_t plane = ways[at].plane;
		uint64_t until = level - (early ? early[plane] : 0);

		if (lm_united_gap(problem->pool, state->held[plane], picks[plane]))
			state->held[plane] = picks[plane];
		state->free[plane] = until;
		end = until > end ? until : end;
	}
	state->end = end;
	return count;
}

struct united_state lm_united_first(const struct united_problem *problem)
{
	struct united_state state = { 0 };

	memcpy(state.held, problem->resident, sizeof(state.held));
	return state;
}

uint64_t lm_united_finish(const struct united_problem *problem, const struct united_plan *plan)
{
	struct united_state state = lm_united_first(problem);

	for (uint32_t round = 0; round < problem->rounds; round++) {
		size_t cell = (size_t)round * problem->planes;

		if (!lm_united_go(problem, round, plan->picks + cell, plan->early + cell, &state))
			return UINT64_MAX;
	}
	return state.end;
}

int lm_united_plan_room(struct morph_ctx *ctx, const struct united_problem *problem,
			struct united_plan *plan)
{
	size_t cells = (size_t)problem->rounds * problem->planes;

	plan->picks = calloc(cells, sizeof(*plan->picks));
	plan->early = calloc(cells, sizeof(*plan->early));
	plan->finish = UINT64_MAX;
	if (plan->picks && plan->early)
		return 0;
	return lm_fail(ctx, ENOMEM, "plan a schedule: out of memory");
}

void lm_united_plan_free(struct united_plan *plan)
{
	free(plan->picks);
	free(plan->early);
}

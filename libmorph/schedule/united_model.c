// SPDX-License-Identifier: LGPL-2.1-or-later
/* Matchings for planes, the cost of rounds on each, and one round over planes: see united.h. */
#include "../util/mix.h"
#include "topologies.h"
#include "united.h"

/* ------------------------------------------------------------------ matchings */

#define MOST_MATCHINGS 1024
#define MOST_STEPS (1ULL << 23) /* of pricing: a hundredth of a second */

static uint64_t digest_of(const uint32_t *next, uint32_t ranks)
{
	uint64_t digest = ranks;

	for (uint32_t rank = 0; rank < ranks; rank++)
		digest = mix(digest ^ next[rank]);
	return digest;
}

int lm_united_add(struct united_pool *pool, const uint32_t *next)
{
	uint64_t digest = digest_of(next, pool->ranks);
	uint32_t size = 0;
	int ret;

	for (uint32_t at = 0; at < pool->count; at++)
		if (pool->digests.list[at] == digest &&
		    !memcmp(&pool->next.list[(size_t)at * pool->ranks], next,
			    pool->ranks * sizeof(*next)))
			return (int)at;
	if (pool->count == MOST_MATCHINGS)
		return -E2BIG;
	ret = ARRAY_GROW(pool->ctx, pool->next, pool->ranks, "plan a schedule");
	if (!ret)
		ret = ARRAY_GROW(pool->ctx, pool->digests, 1, "plan a schedule");
	if (!ret)
		ret = ARRAY_GROW(pool->ctx, pool->sizes, 1, "plan a schedule");
	if (ret)
		return ret;
	for (uint32_t rank = 0; rank < pool->ranks; rank++)
		size += next[rank] != UINT32_MAX;
	memcpy(&pool->next.list[pool->next.count], next, pool->ranks * sizeof(*next));
	pool->next.count += pool->ranks;
	pool->digests.list[pool->digests.count++] = digest;
	pool->sizes.list[pool->sizes.count++] = size;
	return (int)pool->count++;
}

static uint32_t count_gap(const struct united_pool *pool, uint16_t held, uint16_t wanted)
{
	const uint32_t *has = pool->next.list + (size_t)held * pool->ranks;
	const uint32_t *wants = pool->next.list + (size_t)wanted * pool->ranks;
	uint32_t gap = 0;

	for (uint32_t rank = 0; rank < pool->ranks; rank++)
		gap += wants[rank] != UINT32_MAX && wants[rank] != has[rank];
	return gap;
}

uint32_t lm_united_gap(const struct united_pool *pool, uint16_t held, uint16_t wanted)
{
	uint16_t *known;

	if (held == wanted)
		return 0;
	if (held == UNITED_NONE)
		return pool->sizes.list[wanted];
	known = &pool->gaps[(size_t)held * pool->count + wanted];
	if (!*known)
		*known = (uint16_t)(count_gap(pool, held, wanted) + 1);
	return *known - 1U;
}

void lm_united_pool_release(struct united_pool *pool)
{
	free(pool->next.list);
	free(pool->digests.list);
	free(pool->sizes.list);
	free(pool->gaps);
}

/* ----------------------------------------------------------------- pricing */

/* A matching as paths and cycles, one after another. */
struct layout {
	uint32_t *slots; /* by rank: position */
	uint32_t *firsts; /* by position: first position of its path or cycle */
	uint32_t *ends; /* by position: first position after it */
	bool *cycles; /* by position: part of a cycle */
	/*
	 * by position: increase of bytes on its outgoing circuit over the previous one; then of
	 * flows
	 */
	int64_t *loads;
	bool *seen; /* by rank: has an incoming circuit; then: has a position */
};

static void release(struct layout *layout)
{
	free(layout->slots);
	free(layout->firsts);
	free(layout->ends);
	free(layout->cycles);
	free(layout->loads);
	free(layout->seen);
}

static int make_room(struct morph_ctx *ctx, struct layout *layout, uint32_t ranks)
{
	layout->slots = calloc(ranks, sizeof(*layout->slots));
	layout->firsts = calloc(ranks, sizeof(*layout->firsts));
	layout->ends = calloc(ranks, sizeof(*layout->ends));
	layout->cycles = calloc(ranks, sizeof(*layout->cycles));
	layout->loads = calloc(ranks, 2 * sizeof(*layout->loads));
	layout->seen = calloc(ranks, 2 * sizeof(*layout->seen));
	if (layout->slots && layout->firsts && layout->ends && layout->cycles && layout->loads &&
	    layout->seen)
		return 0;
	return lm_no_memory(ctx, "plan a schedule");
}

/* Place the successors of a rank. Return the next free position. */
static uint32_t follow(struct layout *layout, const uint32_t *next, uint32_t ranks, uint32_t rank,
		       uint32_t place, bool cycle)
{
	bool *placed = layout->seen + ranks;
	uint32_t first = place;

	for (; rank != UINT32_MAX && !placed[rank]; rank = next[rank]) {
		placed[rank] = true;
		layout->slots[rank] = place;
		layout->firsts[place] = first;
		layout->cycles[place++] = cycle;
	}
	for (uint32_t at = first; at < place; at++)
		layout->ends[at] = place;
	return place;
}

/* Paths begin at ranks without incoming circuits; the rest are cycles. */
static void lay_out(struct layout *layout, const uint32_t *next, uint32_t ranks)
{
	uint32_t place = 0;

	memset(layout->seen, 0, 2 * (size_t)ranks * sizeof(*layout->seen));
	for (uint32_t rank = 0; rank < ranks; rank++)
		if (next[rank] != UINT32_MAX)
			layout->seen[next[rank]] = true;
	for (uint32_t rank = 0; rank < ranks; rank++)
		if (!layout->seen[rank])
			place = follow(layout, next, ranks, rank, place, false);
	for (uint32_t rank = 0; rank < ranks; rank++)
		place = follow(layout, next, ranks, rank, place, true);
}

/* Add a transfer to the circuits of its path. Return its hops, or 0 without a path. */
static uint32_t load(struct layout *layout, uint32_t ranks, const struct transfer *transfer)
{
	uint32_t from = layout->slots[transfer->src], to = layout->slots[transfer->dst];
	uint32_t first = layout->firsts[from];
	int64_t bytes = (int64_t)transfer->bytes, *flows = layout->loads + ranks;

	if (layout->firsts[to] != first || (to < from && !layout->cycles[from]))
		return 0;
	layout->loads[from] += bytes;
	layout->loads[to] -= bytes;
	flows[from]++;
	flows[to]--;
	if (to > from)
		return to - from;
	layout->loads[first] += bytes;
	flows[first]++;
	return layout->ends[from] - first - (from - to);
}

/* The load of the fullest circuit. */
static void fullest(const struct layout *layout, uint32_t ranks, struct united_price *price)
{
	int64_t bytes = 0, flows = 0;

	for (uint32_t place = 0; place < ranks; place++) {
		bool begins = layout->firsts[place] == place;

		bytes = layout->loads[place] + (begins ? 0 : bytes);
		flows = layout->loads[ranks + place] + (begins ? 0 : flows);
		if ((uint64_t)bytes > price->bytes)
			price->bytes = (uint64_t)bytes;
		if ((uint32_t)flows > price->flows)
			price->flows = (uint32_t)flows;
	}
}

static void settle(const struct united_problem *problem, struct united_price *price)
{
	price->wire_ps = costs_bytes_ps(problem->costs, price->bytes);
	if (price->wire_ps > UNITED_LONGEST || united_begin(problem, price) > UNITED_LONGEST)
		price->wire_ps = UNITED_NEVER;
}

static void price_round(const struct united_problem *problem, struct layout *layout,
			const struct morph_collective *collective, uint32_t round,
			struct united_price *price)
{
	const struct round *of = &collective->rounds.list[round];
	uint32_t ranks = problem->pool->ranks;

	*price = (struct united_price){ .hops = 0 };
	memset(layout->loads, 0, 2 * (size_t)ranks * sizeof(*layout->loads));
	for (uint32_t at = of->first; at < of->first + of->count; at++) {
		uint32_t hops = load(layout, ranks, &collective->transfers.list[at]);

		if (!hops) {
			price->wire_ps = UNITED_NEVER;
			return;
		}
		price->hops = hops > price->hops ? hops : price->hops;
	}
	fullest(layout, ranks, price);
	settle(problem, price);
}

/* The distance at which all ranks send; 0: they differ. */
static uint32_t shift_of(const uint32_t *next, uint32_t ranks)
{
	uint32_t by = next[0] == UINT32_MAX ? 0 : next[0];

	for (uint32_t rank = 0; by && rank < ranks; rank++)
		if (next[rank] != (rank + by) % ranks)
			return 0;
	return by;
}

/* Rounds that are shifts of equal bytes: by round the distance, or 0. */
static void find_shifts(const struct united_problem *problem, uint32_t *shifts)
{
	const struct united_pool *pool = problem->pool;

	for (uint32_t round = 0; round < problem->rounds; round++)
		shifts[round] =
			problem->own[round] == UNITED_NONE || !problem->uniform[round] ?
				0 :
				shift_of(
					&pool->next.list[(size_t)problem->own[round] * pool->ranks],
					pool->ranks);
}

/* A shift on a circulant: each circuit has as many flows as the path has hops. */
static void price_shift(const struct united_problem *problem, const struct layout *layout,
			uint32_t round, uint32_t by, struct united_price *price)
{
	uint32_t hops =
		layout->slots[by] > layout->slots[0] ? layout->slots[by] - layout->slots[0] : 0;

	*price = (struct united_price){ .wire_ps = UNITED_NEVER, .hops = hops, .flows = hops };
	if (!hops || layout->firsts[layout->slots[by]] != layout->firsts[layout->slots[0]])
		return;
	price->bytes = problem->bytes[round] > UINT64_MAX / hops ? UINT64_MAX :
								   problem->bytes[round] * hops;
	settle(problem, price);
}

/* By round: the first with the same transfers. */
static void find_alike(const struct united_problem *problem,
		       const struct morph_collective *collective, uint32_t *alike)
{
	for (uint32_t round = 0; round < problem->rounds; round++) {
		uint32_t earlier = 0;

		while (earlier < round && (problem->own[earlier] != problem->own[round] ||
					   problem->bytes[earlier] != problem->bytes[round] ||
					   !lm_rounds_alike(collective, earlier, round)))
			earlier++;
		alike[round] = earlier;
	}
}

/* Can all rounds be priced on all matchings? */
static bool is_soon(const struct united_problem *problem, const struct morph_collective *collective,
		    const uint32_t *shifts, const uint32_t *alike)
{
	uint64_t steps = 0;

	for (uint32_t round = 0; round < problem->rounds; round++)
		if (!shifts[round] && alike[round] == round)
			steps += problem->pool->ranks + collective->rounds.list[round].count;
	return steps * problem->pool->count <= MOST_STEPS;
}

struct pricing {
	struct layout layout;
	uint32_t *shifts, *alike; /* by round */
	uint32_t always;
	bool soon;
};

static void price_all(struct united_problem *problem, const struct morph_collective *collective,
		      struct pricing *pricing, uint16_t matching)
{
	const struct united_pool *pool = problem->pool;
	const uint32_t *next = pool->next.list + (size_t)matching * pool->ranks;
	uint32_t by = shift_of(next, pool->ranks);

	lay_out(&pricing->layout, next, pool->ranks);
	for (uint32_t round = 0; round < problem->rounds; round++) {
		uint32_t alike = pricing->alike[round];
		struct united_price *price =
			&problem->prices[(size_t)round * pool->count + matching];

		if (alike != round)
			*price = *united_price(problem, alike, matching);
		else if (by && pricing->shifts[round])
			price_shift(problem, &pricing->layout, round, pricing->shifts[round],
				    price);
		else if (pricing->soon || matching < pricing->always ||
			 matching == problem->own[round])
			price_round(problem, &pricing->layout, collective, round, price);
		else
			*price = (struct united_price){ .wire_ps = UNITED_NEVER };
	}
}

int lm_united_price(struct united_problem *problem, const struct morph_collective *collective,
		    uint32_t always)
{
	struct united_pool *pool = problem->pool;
	struct pricing pricing = { .always = always };
	int ret = make_room(pool->ctx, &pricing.layout, pool->ranks);

	pricing.shifts = calloc(problem->rounds, sizeof(*pricing.shifts));
	pricing.alike = calloc(problem->rounds, sizeof(*pricing.alike));
	problem->prices = calloc((size_t)problem->rounds * pool->count, sizeof(*problem->prices));
	pool->gaps = calloc((size_t)pool->count * pool->count, sizeof(*pool->gaps));
	if (!ret && (!pricing.shifts || !pricing.alike || !problem->prices || !pool->gaps)) {
		lm_no_memory(pool->ctx, "plan a schedule");
		ret = -ENOMEM;
	}
	if (!ret) {
		find_shifts(problem, pricing.shifts);
		find_alike(problem, collective, pricing.alike);
		pricing.soon = is_soon(problem, collective, pricing.shifts, pricing.alike);
	}
	for (uint32_t at = 0; !ret && at < pool->count; at++)
		price_all(problem, collective, &pricing, (uint16_t)at);
	release(&pricing.layout);
	free(pricing.shifts);
	free(pricing.alike);
	return ret;
}

/* ------------------------------------------------------------------ one round */

/*
 * One round over planes that are ready at different times and use paths of different costs: see
 * united.h.
 */

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
 * The level rises over steps of different width: a path takes 1 / wire of the bytes per picosecond.
 * Weights are multiples of a small part of the fastest path's weight.
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
	return lm_no_memory(ctx, "plan a schedule");
}

void lm_united_plan_free(struct united_plan *plan)
{
	free(plan->picks);
	free(plan->early);
}

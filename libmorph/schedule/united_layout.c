// SPDX-License-Identifier: LGPL-2.1-or-later
/* A plan of united.h in whole bytes, as holds and sends. */
#include "../util/sort.h"
#include "lay.h"
#include "united.h"

/* The actions of a plane in a round. */
struct share {
	uint64_t bytes; /* of the fullest transfer */
	uint64_t change_from, change_until; /* change before it sends */
	uint64_t from, until; /* time of sending */
	uint16_t pick;
	bool used, changed;
	uint32_t hold;
};

struct laying {
	struct lay lay;
	const struct morph_collective *collective;
	const struct united_problem *problem;
	const struct united_plan *plan;
	struct share *shares; /* by round and plane */
	uint32_t *changes; /* shares that change, by time */
	struct morph_rank_pair *circuits;
	uint32_t *hops; /* holds of a path */
};

/* ----------------------------------------------------------------- shares */

/* Time on the fullest circuit; if transfers differ, each may be rounded up. */
static uint64_t load_of(const struct united_problem *problem, uint32_t round,
			const struct united_price *price, uint64_t bytes)
{
	if (problem->uniform[round])
		return bytes * price->flows;
	return (uint64_t)((unsigned __int128)price->bytes * bytes / problem->bytes[round]) +
	       price->flows + 1;
}

static uint64_t takes(const struct united_problem *problem, uint32_t round,
		      const struct united_price *price, uint64_t bytes)
{
	return united_begin(problem, price) +
	       costs_bytes_ps(problem->costs, load_of(problem, round, price, bytes));
}

/* The most bytes in that time. */
static uint64_t bytes_within(const struct united_problem *problem, uint32_t round,
			     const struct united_price *price, uint64_t ps)
{
	uint64_t begin = united_begin(problem, price), load;
	unsigned __int128 sent;

	if (ps <= begin)
		return 0;
	sent = (unsigned __int128)(ps - begin) * problem->costs->mbps / PS_BITS_PER_BYTE;
	load = sent > UINT64_MAX ? UINT64_MAX : (uint64_t)sent;
	if (problem->uniform[round])
		return load / price->flows;
	if (load <= price->flows + 1)
		return 0;
	return (uint64_t)((unsigned __int128)(load - price->flows - 1) * problem->bytes[round] /
			  price->bytes);
}

/* Bytes that planes carry up to a level. */
static uint64_t carried(const struct laying *it, uint32_t round, const struct united_way *ways,
			uint32_t count, uint64_t level)
{
	const struct united_problem *problem = it->problem;
	uint64_t sum = 0;

	for (uint32_t at = 0; at < count; at++) {
		size_t cell = (size_t)round * problem->planes + ways[at].plane;
		uint64_t until = level - it->plan->early[cell];
		struct share *share = &it->shares[cell];

		share->bytes = until <= share->from ?
				       0 :
				       bytes_within(problem, round,
						    united_price(problem, round, share->pick),
						    until - share->from);
		if (share->bytes > problem->bytes[round] - sum)
			share->bytes = problem->bytes[round] - sum;
		sum += share->bytes;
	}
	return sum;
}

/* Raise the level until all bytes fit. */
static void fill(const struct laying *it, uint32_t round, const struct united_way *ways,
		 uint32_t count, uint64_t level)
{
	for (uint64_t more = 1; carried(it, round, ways, count, level) < it->problem->bytes[round];
	     more *= 2)
		level += more;
}

static void take_part(const struct laying *it, uint32_t round, uint32_t plane, uint64_t together,
		      const struct united_state *state)
{
	const struct united_problem *problem = it->problem;
	size_t cell = (size_t)round * problem->planes + plane;
	struct share *share = &it->shares[cell];
	uint16_t pick = it->plan->picks[cell];
	uint32_t gap = lm_united_gap(problem->pool, state->held[plane], pick);

	share->pick = pick;
	share->from = lm_united_lit(problem, state, plane, pick, together);
	share->changed = gap != 0;
	share->change_from = together ? state->end : state->free[plane];
	share->change_until =
		share->change_from + (together ? together : costs_change_ps(problem->costs, gap));
}

/*
 * Planes that carry the round, without those for which nothing is left, so that these need no
 * change.
 */
static uint32_t find_ways(const struct laying *it, uint32_t round, const struct united_state *state,
			  uint16_t *picks, struct united_way *ways, uint64_t *level)
{
	const uint64_t *early = it->plan->early + (size_t)round * it->problem->planes;

	for (;;) {
		uint32_t all = lm_united_ways(it->problem, state, round, picks, early, ways);
		uint32_t count = all;

		if (!all)
			return 0;
		*level = lm_united_level(ways, &count);
		if (count == all)
			return count;
		for (uint32_t at = count; at < all; at++)
			picks[ways[at].plane] = UNITED_NONE;
	}
}

/* Return whether the whole round is carried. */
static bool share_out(const struct laying *it, uint32_t round, struct united_state *state)
{
	const struct united_problem *problem = it->problem;
	size_t row = (size_t)round * problem->planes;
	struct united_way ways[UNITED_PLANES];
	uint16_t picks[UNITED_PLANES];
	uint64_t together, end = 0, level;
	uint32_t count;

	memcpy(picks, it->plan->picks + row, problem->planes * sizeof(*picks));
	count = find_ways(it, round, state, picks, ways, &level);
	if (!count)
		return false;
	together = lm_united_together(problem, state, picks);
	for (uint32_t at = 0; at < count; at++)
		take_part(it, round, ways[at].plane, together, state);
	fill(it, round, ways, count, level);
	for (uint32_t at = 0; at < count; at++) {
		uint32_t plane = ways[at].plane;
		struct share *share = &it->shares[row + plane];

		if (!share->bytes)
			continue;
		share->used = true;
		share->until = share->from + takes(problem, round,
						   united_price(problem, round, share->pick),
						   share->bytes);
		state->free[plane] = share->until;
		if (share->changed)
			state->held[plane] = share->pick;
		end = share->until > end ? share->until : end;
	}
	state->end = end;
	return true;
}

/* ------------------------------------------------------------------- holds */

static int by_time(const void *one, const void *other, void *context)
{
	const struct share *shares = context;
	uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;

	if (shares[a].change_from != shares[b].change_from)
		return shares[a].change_from < shares[b].change_from ? -1 : 1;
	return a < b ? -1 : a > b;
}

static int matching_of(struct laying *it, uint16_t pick, uint32_t *matching)
{
	const struct united_pool *pool = it->problem->pool;
	const uint32_t *next = pool->next.list + (size_t)pick * pool->ranks;
	uint32_t count = 0;

	for (uint32_t rank = 0; rank < pool->ranks; rank++)
		if (next[rank] != UINT32_MAX)
			it->circuits[count++] = (struct morph_rank_pair){ rank, next[rank] };
	return lm_schedule_sorted_matching(it->lay.schedule, it->circuits, count, matching);
}

/* Holds in the order in which they are set. */
static int lay_changes(struct laying *it)
{
	uint32_t planes = it->problem->planes, count = 0;
	int ret = 0;

	for (uint32_t at = 0; at < it->problem->rounds * planes; at++)
		if (it->shares[at].used && it->shares[at].changed)
			it->changes[count++] = at;
	lm_sort(it->changes, count, sizeof(*it->changes), by_time, it->shares);
	for (uint32_t at = 0; !ret && at < count; at++) {
		struct share *share = &it->shares[it->changes[at]];
		uint32_t plane = it->changes[at] % planes, matching;

		ret = matching_of(it, share->pick, &matching);
		if (!ret)
			ret = lm_lay_hold(&it->lay, plane, matching, share->change_from,
					  share->change_until);
		share->hold = it->lay.now[plane];
	}
	return ret;
}

/* ------------------------------------------------------------------- sends */

/* Circuits of a transfer's path. */
static uint32_t hops_of(const struct laying *it, uint16_t pick, const struct transfer *transfer)
{
	const struct united_pool *pool = it->problem->pool;
	const uint32_t *next = pool->next.list + (size_t)pick * pool->ranks;
	uint32_t hops = 0;

	for (uint32_t rank = transfer->src; rank != transfer->dst; rank = next[rank])
		hops++;
	return hops;
}

/*
 * A plane's part of a transfer: its share of everything up to this plane, less that of earlier
 * planes.
 */
static uint64_t part(uint64_t bytes, uint64_t before, uint64_t share, uint64_t all)
{
	unsigned __int128 until = (unsigned __int128)bytes * (before + share) / all;

	return (uint64_t)(until - (unsigned __int128)bytes * before / all);
}

/* Transfers of a round over a plane. Consecutive ones with equal bytes and hops are one send. */
static int send(struct laying *it, uint32_t round, const struct share *share, uint64_t before)
{
	const struct round *of = &it->collective->rounds.list[round];
	const struct transfer *transfers = &it->collective->transfers.list[of->first];
	int ret = 0;

	for (uint32_t at = 0, next; !ret && at < of->count; at = next) {
		uint32_t hops = hops_of(it, share->pick, &transfers[at]);
		struct send sent = { .round = round,
				     .first = at,
				     .hops = hops,
				     .bytes = part(transfers[at].bytes, before, share->bytes,
						   it->problem->bytes[round]),
				     .from_ps = share->from,
				     .until_ps = share->until };

		for (next = at + 1;
		     next < of->count && transfers[next].bytes == transfers[at].bytes &&
		     hops_of(it, share->pick, &transfers[next]) == hops;
		     next++)
			;
		sent.count = next - at;
		for (uint32_t hop = 0; hop < hops; hop++)
			it->hops[hop] = share->hold;
		ret = lm_schedule_send(it->lay.schedule, &sent, it->hops);
	}
	return ret;
}

static int lay_round(struct laying *it, uint32_t round, uint32_t *now)
{
	uint64_t before = 0;
	int ret = 0;

	for (uint32_t plane = 0; !ret && plane < it->problem->planes; plane++) {
		struct share *share = &it->shares[(size_t)round * it->problem->planes + plane];

		if (!share->used)
			continue;
		if (share->changed)
			now[plane] = share->hold;
		else
			share->hold = now[plane];
		ret = send(it, round, share, before);
		before += share->bytes;
	}
	return ret;
}

static int lay_all(struct laying *it)
{
	struct united_state state = lm_united_first(it->problem);
	uint32_t now[MOST_PLANES];
	int ret;

	for (uint32_t round = 0; round < it->problem->rounds; round++)
		if (!share_out(it, round, &state))
			return lm_schedule_give_up(it->lay.schedule, "its plan has no path");
	memcpy(now, it->lay.now, sizeof(now));
	ret = lay_changes(it);
	for (uint32_t round = 0; !ret && round < it->problem->rounds; round++)
		ret = lay_round(it, round, now);
	if (!ret)
		lm_schedule_end(it->lay.schedule);
	return ret;
}

int lm_united_lay(struct morph_schedule *schedule, const struct morph_collective *collective,
		  const struct united_problem *problem, const struct united_plan *plan)
{
	size_t cells = (size_t)problem->rounds * problem->planes;
	struct laying it = { .lay = lm_lay_begin(schedule),
			     .collective = collective,
			     .problem = problem,
			     .plan = plan };
	int ret;

	it.shares = calloc(cells, sizeof(*it.shares));
	it.changes = calloc(cells, sizeof(*it.changes));
	it.circuits = calloc(schedule->ranks, sizeof(*it.circuits));
	it.hops = calloc(schedule->ranks, sizeof(*it.hops));
	if (it.shares && it.changes && it.circuits && it.hops)
		ret = lay_all(&it);
	else
		ret = lm_no_memory(schedule->ctx, "plan a schedule");
	free(it.shares);
	free(it.changes);
	free(it.circuits);
	free(it.hops);
	return ret;
}

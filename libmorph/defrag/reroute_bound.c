// SPDX-License-Identifier: LGPL-2.1-or-later
/* Proofs that circuits have no routes: lengths of links, derived from fractional flows. */
#include <string.h>

#include "../util/sort.h"
#include "reroute.h"

/* --------------------------------------------------------------------- shares */

/* Fractional flows that minimise overloads of links. */

static int by_ends(const void *one, const void *other, void *context)
{
	const struct bundle *a = one, *b = other;

	(void)context;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	if (a->through != b->through)
		return a->through < b->through ? -1 : 1;
	return a->to < b->to ? -1 : a->to > b->to;
}

static bool alike(const struct bundle *bundle, const struct flow *flow)
{
	return bundle->from == flow->from && bundle->to == flow->to &&
	       bundle->through == flow->through;
}

void lm_shares_bundle(struct reroute *reroute, uint32_t first, uint32_t end)
{
	uint32_t kept = 0;

	for (uint32_t at = first; at < end; at++) {
		const struct flow *flow = &reroute->flows[at];

		reroute->bundles[at - first] = (struct bundle){
			.from = flow->from,
			.to = flow->to,
			.circuits = 1,
			.through = flow->through,
			.shares = SHARES_NONE,
		};
	}
	if (end > first)
		lm_sort(reroute->bundles, end - first, sizeof(*reroute->bundles), by_ends, NULL);
	for (uint32_t at = 0; at < end - first; at++) {
		const struct bundle *bundle = &reroute->bundles[at];

		if (kept && !by_ends(bundle, &reroute->bundles[kept - 1], NULL))
			reroute->bundles[kept - 1].circuits++;
		else
			reroute->bundles[kept++] = *bundle;
	}
	reroute->bundles_count = kept;
	reroute->shares_spare = SHARES_NONE;
	reroute->shares_count = 0;
	memset(reroute->load, 0, reroute->room.sites * sizeof(reroute->load[0]));
}

/* -------------------------------------------------------------------------- ways */

static void charge(struct reroute *reroute, const struct way *way, int32_t amount)
{
	for (uint32_t hop = 0; hop < way->hops; hop++)
		reroute->load[way->sites[hop]][way->sites[hop + 1]] += (uint32_t)amount;
}

/* Space for one more share, or SHARES_NONE. */
static uint32_t spare(struct reroute *reroute)
{
	uint32_t share = reroute->shares_spare;

	if (share != SHARES_NONE)
		reroute->shares_spare = reroute->shares[share].next;
	else if (reroute->shares_count < REROUTE_SHARES)
		share = reroute->shares_count++;
	return share;
}

/* Add a path to a bundle. The first path gets the whole bundle. */
static void offer(struct reroute *reroute, struct bundle *bundle, const struct way *way)
{
	uint32_t at = bundle->shares;

	while (at != SHARES_NONE && !lm_way_same(&reroute->shares[at].way, way))
		at = reroute->shares[at].next;
	if (at != SHARES_NONE)
		return;
	at = spare(reroute);
	if (at == SHARES_NONE)
		return;
	reroute->shares[at].way = *way;
	reroute->shares[at].amount = 0;
	if (bundle->shares == SHARES_NONE) {
		reroute->shares[at].amount = bundle->circuits * REROUTE_WHOLE;
		charge(reroute, way, (int32_t)reroute->shares[at].amount);
	}
	reroute->shares[at].next = bundle->shares;
	bundle->shares = at;
}

int64_t lm_shares_need(struct reroute *reroute, const struct net *room,
		       const struct lengths *lengths, bool lead)
{
	struct shortest search = { 0 };
	const struct bundle *last = NULL;
	int64_t sum = 0;

	for (uint32_t at = 0; at < reroute->bundles_count; at++) {
		struct bundle *bundle = &reroute->bundles[at];
		struct way way;

		if (!last || last->from != bundle->from || last->through != bundle->through)
			lm_lengths_measure(room, lengths, bundle->from, bundle->through, &search);
		last = bundle;
		if (search.cost[bundle->to] == LENGTH_APART)
			return INT64_MAX;
		sum += (int64_t)bundle->circuits * search.cost[bundle->to];
		if (!lead)
			continue;
		way.hops = (uint8_t)shortest_trace(&search, bundle->from, bundle->to, way.sites);
		offer(reroute, bundle, &way);
	}
	return sum;
}

/* -------------------------------------------------------------------------- loads */

static uint32_t excess(const struct reroute *reroute, const struct net *room, uint32_t from,
		       uint32_t to)
{
	uint32_t has = room->room[from][to] * REROUTE_WHOLE, load = reroute->load[from][to];

	return load > has ? load - has : 0;
}

bool lm_shares_excess(struct reroute *reroute, const struct net *room)
{
	bool any = false;

	for (uint32_t from = 0; from < room->sites; from++) {
		for (uint64_t left = room->out[from]; left; left &= left - 1) {
			uint32_t to = net_first(left);

			reroute->excess.of[from][to] = excess(reroute, room, from, to);
			any |= reroute->excess.of[from][to] > 0;
		}
	}
	return any;
}

static uint32_t price(const struct reroute *reroute, const struct net *room, const struct way *way)
{
	uint32_t sum = 0;

	for (uint32_t hop = 0; hop < way->hops; hop++)
		sum += excess(reroute, room, way->sites[hop], way->sites[hop + 1]);
	return sum;
}

/* Links of only one of two paths. */
static uint32_t apart(const struct way *one, const struct way *other)
{
	uint64_t next[NET_SITES] = { 0 };
	uint32_t count = one->hops;

	for (uint32_t hop = 0; hop < one->hops; hop++)
		next[one->sites[hop]] = 1ULL << one->sites[hop + 1];
	for (uint32_t hop = 0; hop < other->hops; hop++) {
		if (next[other->sites[hop]] >> other->sites[hop + 1] & 1)
			count--;
		else
			count++;
	}
	return count;
}

/*
 * Move flow to a cheaper path: a Newton step, as if each link of only one path were overloaded.
 * Returns the amount.
 */
static uint32_t move(struct reroute *reroute, const struct net *room, struct share *from,
		     struct share *to)
{
	uint32_t dear = price(reroute, room, &from->way), cheap = price(reroute, room, &to->way);
	uint32_t amount = dear > cheap ? (dear - cheap) / apart(&from->way, &to->way) : 0;

	if (amount > from->amount)
		amount = from->amount;
	charge(reroute, &from->way, -(int32_t)amount);
	charge(reroute, &to->way, (int32_t)amount);
	from->amount -= amount;
	to->amount += amount;
	return amount;
}

static uint32_t cheapest(const struct reroute *reroute, const struct net *room,
			 const struct bundle *bundle)
{
	uint32_t best = bundle->shares, least = UINT32_MAX;

	for (uint32_t at = best; at != SHARES_NONE; at = reroute->shares[at].next) {
		uint32_t its = price(reroute, room, &reroute->shares[at].way);

		if (its < least) {
			least = its;
			best = at;
		}
	}
	return best;
}

/* Drop paths without flow. */
static void forget(struct reroute *reroute, struct bundle *bundle)
{
	uint32_t *link = &bundle->shares;

	while (*link != SHARES_NONE) {
		uint32_t at = *link;

		if (reroute->shares[at].amount) {
			link = &reroute->shares[at].next;
			continue;
		}
		*link = reroute->shares[at].next;
		reroute->shares[at].next = reroute->shares_spare;
		reroute->shares_spare = at;
	}
}

bool lm_shares_even(struct reroute *reroute, const struct net *room)
{
	uint32_t moved = 0;

	for (uint32_t at = 0; at < reroute->bundles_count; at++) {
		struct bundle *bundle = &reroute->bundles[at];
		uint32_t to = cheapest(reroute, room, bundle);

		for (uint32_t its = bundle->shares; its != SHARES_NONE;
		     its = reroute->shares[its].next)
			moved |= move(reroute, room, &reroute->shares[its], &reroute->shares[to]);
		forget(reroute, bundle);
	}
	return moved;
}

/* ----------------------------------------------------------------------- circuits */

/* The path with the largest remaining share. */
static struct share *largest(struct reroute *reroute, const struct bundle *bundle)
{
	struct share *best = NULL;

	for (uint32_t at = bundle->shares; at != SHARES_NONE; at = reroute->shares[at].next)
		if (!best || reroute->shares[at].amount > best->amount)
			best = &reroute->shares[at];
	return best;
}

void lm_shares_deal(struct reroute *reroute)
{
	for (uint32_t at = 0; at < reroute->count; at++) {
		struct flow *flow = &reroute->flows[at];
		const struct bundle *bundle = reroute->bundles;
		struct share *share;

		while (!alike(bundle, flow))
			bundle++;
		share = largest(reroute, bundle);
		share->amount -= share->amount < REROUTE_WHOLE ? share->amount : REROUTE_WHOLE;
		flow->goes = share->way;
	}
}

/* -------------------------------------------------------------------- lengths */

/* Proofs that flows have no routes: lengths of links. */

#define ROUNDS 200
#define LENGTH_MOST (1U << 15)

void lm_lengths_measure(const struct net *room, const struct lengths *lengths, uint32_t from,
			uint64_t through, struct shortest *search)
{
	uint32_t at;

	for (uint32_t site = 0; site < room->sites; site++)
		search->cost[site] = LENGTH_APART;
	shortest_begin(search, from);
	while ((at = shortest_next(search)) != SHORTEST_NONE)
		for (uint64_t left = room->out[at] & through & ~search->done; left;
		     left &= left - 1)
			shortest_reach(search, at, net_first(left),
				       search->cost[at] + lengths->of[at][net_first(left)]);
}

/* The length of all capacities. */
static int64_t room_length(const struct net *room, const struct lengths *lengths)
{
	int64_t sum = 0;

	for (uint32_t from = 0; from < room->sites; from++)
		for (uint64_t left = room->out[from]; left; left &= left - 1)
			sum += (int64_t)room->room[from][net_first(left)] *
			       lengths->of[from][net_first(left)];
	return sum;
}

/* The length of all capacities minus the need of all bundles. */
static int64_t slack(struct reroute *reroute, const struct net *room, const struct lengths *lengths)
{
	int64_t need = lm_shares_need(reroute, room, lengths, false);

	return need == INT64_MAX ? -1 : room_length(room, lengths) - need;
}

static void clear(const struct net *room, struct lengths *lengths)
{
	memset(lengths, 0, room->sites * sizeof(lengths->of[0]));
}

static void set_to_hops(const struct net *room, struct lengths *lengths)
{
	clear(room, lengths);
	for (uint32_t from = 0; from < room->sites; from++)
		for (uint64_t left = room->out[from]; left; left &= left - 1)
			lengths->of[from][net_first(left)] = 1;
}

/* At least 1, also without any capacity. */
static uint32_t longest(const struct net *room, const struct lengths *lengths)
{
	uint32_t most = 1;

	for (uint32_t from = 0; from < room->sites; from++)
		for (uint64_t left = room->out[from]; left; left &= left - 1)
			if (lengths->of[from][net_first(left)] > most)
				most = lengths->of[from][net_first(left)];
	return most;
}

/* Scale lengths so that the longest becomes @most, with rounding. */
static void scale(const struct net *room, const struct lengths *fine, uint64_t most,
		  struct lengths *coarse)
{
	uint64_t unit = longest(room, fine);

	clear(room, coarse);
	for (uint32_t from = 0; from < room->sites; from++) {
		for (uint64_t left = room->out[from]; left; left &= left - 1) {
			uint32_t to = net_first(left);

			coarse->of[from][to] =
				(uint32_t)((fine->of[from][to] * most + unit / 2) / unit);
		}
	}
}

/*
 * Find the coarsest lengths that still prove it. A cut becomes zeros and ones, without noise of the
 * search. False if rounding loses the proof.
 */
static bool coarsen(struct reroute *reroute, const struct net *room, struct lengths *found)
{
	for (uint64_t most = 1; most <= LENGTH_MOST; most *= 2) {
		scale(room, &reroute->excess, most, found);
		if (slack(reroute, room, found) < 0)
			return true;
	}
	return false;
}

/*
 * Look for lengths that prove that flows from @first on have no routes in @room. The minimised
 * overloads are such lengths: every share takes a shortest path by them, so all shares need the
 * length of the capacities plus the sum of squared overloads.
 */
static bool refute(struct reroute *reroute, const struct net *room, uint32_t first,
		   struct lengths *found)
{
	bool moved = true;

	lm_shares_bundle(reroute, first, reroute->count);
	set_to_hops(room, &reroute->excess);
	for (uint32_t round = 0; round < ROUNDS && moved; round++) {
		if (lm_shares_need(reroute, room, &reroute->excess, true) >
			    room_length(room, &reroute->excess) &&
		    coarsen(reroute, room, found))
			return true;
		moved = lm_shares_even(reroute, room) || !round;
		if (!lm_shares_excess(reroute, room))
			return false;
	}
	return false;
}

/* Keep a metric, with its values for running circuits and for all pairs of sites. */
static void keep(struct reroute *reroute, struct metric *metric)
{
	struct shortest search;

	lm_shares_bundle(reroute, 0, reroute->running);
	metric->slack = slack(reroute, &reroute->room, &metric->lengths);
	for (uint32_t from = 0; from < reroute->room.sites; from++) {
		uint64_t through = reroute->through >> from & 1 ? reroute->through : 0;

		lm_lengths_measure(&reroute->room, &metric->lengths, from, through, &search);
		memcpy(metric->apart[from], search.cost,
		       reroute->room.sites * sizeof(search.cost[0]));
	}
	reroute->metrics_count++;
}

void lm_reroute_count_hops(struct reroute *reroute)
{
	reroute->metrics_count = 0;
	set_to_hops(&reroute->room, &reroute->metrics[0].lengths);
	keep(reroute, &reroute->metrics[0]);
}

bool lm_reroute_refute(struct reroute *reroute)
{
	struct metric *metric = &reroute->metrics[reroute->metrics_count];

	if (!refute(reroute, &reroute->room, 0, &reroute->scratch))
		return false;
	if (reroute->metrics_count < REROUTE_METRICS) {
		metric->lengths = reroute->scratch;
		keep(reroute, metric);
	}
	return true;
}

bool lm_reroute_refute_still(struct reroute *reroute)
{
	struct net room = reroute->room;

	for (uint32_t at = 0; at < reroute->running; at++) {
		const struct way *way = &reroute->flows[at].was;

		for (uint32_t hop = 0; hop < way->hops; hop++)
			lm_net_take(&room, way->sites[hop], way->sites[hop + 1], 1);
	}
	return refute(reroute, &room, reroute->running, &reroute->scratch);
}

bool lm_reroute_refuted(const struct reroute *reroute)
{
	for (uint32_t at = 0; at < reroute->metrics_count; at++) {
		const struct metric *metric = &reroute->metrics[at];
		int64_t left = metric->slack;

		for (uint32_t flow = reroute->running; flow < reroute->count; flow++)
			left -= metric->apart[reroute->flows[flow].from][reroute->flows[flow].to];
		if (left < 0)
			return true;
	}
	return false;
}

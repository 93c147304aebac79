// SPDX-License-Identifier: LGPL-2.1-or-later
/* Shares of circuits, led so that links bear as little too much as can be. */
#include <string.h>

#include "rewire.h"
#include "../util/sort.h"

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

void lm_shares_bundle(struct rewire *rewire, uint32_t first, uint32_t end)
{
	uint32_t kept = 0;

	for (uint32_t at = first; at < end; at++) {
		const struct flow *flow = &rewire->flows[at];

		rewire->bundles[at - first] = (struct bundle){
			.from = flow->from,
			.to = flow->to,
			.circuits = 1,
			.through = flow->through,
			.shares = SHARES_NONE,
		};
	}
	if (end > first)
		lm_sort(rewire->bundles, end - first, sizeof(*rewire->bundles), by_ends, NULL);
	for (uint32_t at = 0; at < end - first; at++) {
		const struct bundle *bundle = &rewire->bundles[at];

		if (kept && !by_ends(bundle, &rewire->bundles[kept - 1], NULL))
			rewire->bundles[kept - 1].circuits++;
		else
			rewire->bundles[kept++] = *bundle;
	}
	rewire->bundles_count = kept;
	rewire->shares_spare = SHARES_NONE;
	rewire->shares_count = 0;
	memset(rewire->load, 0, rewire->room.sites * sizeof(rewire->load[0]));
}

/* -------------------------------------------------------------------------- ways */

static void charge(struct rewire *rewire, const struct way *way, int32_t amount)
{
	for (uint32_t hop = 0; hop < way->hops; hop++)
		rewire->load[way->sites[hop]][way->sites[hop + 1]] += (uint32_t)amount;
}

/* Room for one more share, or SHARES_NONE. */
static uint32_t spare(struct rewire *rewire)
{
	uint32_t share = rewire->shares_spare;

	if (share != SHARES_NONE)
		rewire->shares_spare = rewire->shares[share].next;
	else if (rewire->shares_count < REWIRE_SHARES)
		share = rewire->shares_count++;
	return share;
}

/* A bundle may go this way, too; the first way is that of all of it. */
static void offer(struct rewire *rewire, struct bundle *bundle, const struct way *way)
{
	uint32_t at = bundle->shares;

	while (at != SHARES_NONE && !lm_way_same(&rewire->shares[at].way, way))
		at = rewire->shares[at].next;
	if (at != SHARES_NONE)
		return;
	at = spare(rewire);
	if (at == SHARES_NONE)
		return;
	rewire->shares[at].way = *way;
	rewire->shares[at].amount = 0;
	if (bundle->shares == SHARES_NONE) {
		rewire->shares[at].amount = bundle->circuits * REWIRE_WHOLE;
		charge(rewire, way, (int32_t)rewire->shares[at].amount);
	}
	rewire->shares[at].next = bundle->shares;
	bundle->shares = at;
}

int64_t lm_shares_need(struct rewire *rewire, const struct net *room, const struct lengths *lengths,
		       bool lead)
{
	struct shortest search = { 0 };
	const struct bundle *last = NULL;
	int64_t sum = 0;

	for (uint32_t at = 0; at < rewire->bundles_count; at++) {
		struct bundle *bundle = &rewire->bundles[at];
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
		offer(rewire, bundle, &way);
	}
	return sum;
}

/* -------------------------------------------------------------------------- loads */

static uint32_t excess(const struct rewire *rewire, const struct net *room, uint32_t from,
		       uint32_t to)
{
	uint32_t has = room->room[from][to] * REWIRE_WHOLE, load = rewire->load[from][to];

	return load > has ? load - has : 0;
}

bool lm_shares_excess(struct rewire *rewire, const struct net *room)
{
	bool any = false;

	for (uint32_t from = 0; from < room->sites; from++) {
		for (uint64_t left = room->out[from]; left; left &= left - 1) {
			uint32_t to = net_first(left);

			rewire->excess.of[from][to] = excess(rewire, room, from, to);
			any |= rewire->excess.of[from][to] > 0;
		}
	}
	return any;
}

static uint32_t price(const struct rewire *rewire, const struct net *room, const struct way *way)
{
	uint32_t sum = 0;

	for (uint32_t hop = 0; hop < way->hops; hop++)
		sum += excess(rewire, room, way->sites[hop], way->sites[hop + 1]);
	return sum;
}

/* Links that only one of two ways takes. */
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
 * From a way to a cheaper one: Newton's step, as if each link that only one of them takes bore too
 * much. Returns what was moved.
 */
static uint32_t move(struct rewire *rewire, const struct net *room, struct share *from,
		     struct share *to)
{
	uint32_t dear = price(rewire, room, &from->way), cheap = price(rewire, room, &to->way);
	uint32_t amount = dear > cheap ? (dear - cheap) / apart(&from->way, &to->way) : 0;

	if (amount > from->amount)
		amount = from->amount;
	charge(rewire, &from->way, -(int32_t)amount);
	charge(rewire, &to->way, (int32_t)amount);
	from->amount -= amount;
	to->amount += amount;
	return amount;
}

static uint32_t cheapest(const struct rewire *rewire, const struct net *room,
			 const struct bundle *bundle)
{
	uint32_t best = bundle->shares, least = UINT32_MAX;

	for (uint32_t at = best; at != SHARES_NONE; at = rewire->shares[at].next) {
		uint32_t its = price(rewire, room, &rewire->shares[at].way);

		if (its < least) {
			least = its;
			best = at;
		}
	}
	return best;
}

/* Ways that nothing goes any more. */
static void forget(struct rewire *rewire, struct bundle *bundle)
{
	uint32_t *link = &bundle->shares;

	while (*link != SHARES_NONE) {
		uint32_t at = *link;

		if (rewire->shares[at].amount) {
			link = &rewire->shares[at].next;
			continue;
		}
		*link = rewire->shares[at].next;
		rewire->shares[at].next = rewire->shares_spare;
		rewire->shares_spare = at;
	}
}

bool lm_shares_even(struct rewire *rewire, const struct net *room)
{
	uint32_t moved = 0;

	for (uint32_t at = 0; at < rewire->bundles_count; at++) {
		struct bundle *bundle = &rewire->bundles[at];
		uint32_t to = cheapest(rewire, room, bundle);

		for (uint32_t its = bundle->shares; its != SHARES_NONE;
		     its = rewire->shares[its].next)
			moved |= move(rewire, room, &rewire->shares[its], &rewire->shares[to]);
		forget(rewire, bundle);
	}
	return moved;
}

/* ----------------------------------------------------------------------- circuits */

/* The way that most is left of. */
static struct share *largest(struct rewire *rewire, const struct bundle *bundle)
{
	struct share *best = NULL;

	for (uint32_t at = bundle->shares; at != SHARES_NONE; at = rewire->shares[at].next)
		if (!best || rewire->shares[at].amount > best->amount)
			best = &rewire->shares[at];
	return best;
}

void lm_shares_deal(struct rewire *rewire)
{
	for (uint32_t at = 0; at < rewire->count; at++) {
		struct flow *flow = &rewire->flows[at];
		const struct bundle *bundle = rewire->bundles;
		struct share *share;

		while (!alike(bundle, flow))
			bundle++;
		share = largest(rewire, bundle);
		share->amount -= share->amount < REWIRE_WHOLE ? share->amount : REWIRE_WHOLE;
		flow->goes = share->way;
	}
}

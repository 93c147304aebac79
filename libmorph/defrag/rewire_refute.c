// SPDX-License-Identifier: LGPL-2.1-or-later
/* Proofs that flows have no ways: lengths of links. */
#include <string.h>

#include "rewire.h"

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

/* The length of all room. */
static int64_t room_length(const struct net *room, const struct lengths *lengths)
{
	int64_t sum = 0;

	for (uint32_t from = 0; from < room->sites; from++)
		for (uint64_t left = room->out[from]; left; left &= left - 1)
			sum += (int64_t)room->room[from][net_first(left)] *
			       lengths->of[from][net_first(left)];
	return sum;
}

/* What the room is longer than what all bundles need. */
static int64_t slack(struct rewire *rewire, const struct net *room, const struct lengths *lengths)
{
	int64_t need = lm_shares_need(rewire, room, lengths, false);

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

/* Not 0, as where all room is taken. */
static uint32_t longest(const struct net *room, const struct lengths *lengths)
{
	uint32_t most = 1;

	for (uint32_t from = 0; from < room->sites; from++)
		for (uint64_t left = room->out[from]; left; left &= left - 1)
			if (lengths->of[from][net_first(left)] > most)
				most = lengths->of[from][net_first(left)];
	return most;
}

/* The same lengths, of which the longest becomes @most, rounded. */
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
 * Lengths that say as much, as coarse as can be: a cut becomes zeros and ones, without what is left
 * of the search. False where rounding leaves nothing to say.
 */
static bool coarsen(struct rewire *rewire, const struct net *room, struct lengths *found)
{
	for (uint64_t most = 1; most <= LENGTH_MOST; most *= 2) {
		scale(room, &rewire->excess, most, found);
		if (slack(rewire, room, found) < 0)
			return true;
	}
	return false;
}

/*
 * Look for lengths by which flows from @first on have no ways in @room. What links bear too much, once
 * it can't become less, is such: all shares go ways that are shortest by it, so these need what the
 * room is long, and the sum of its squares besides.
 */
static bool refute(struct rewire *rewire, const struct net *room, uint32_t first,
		   struct lengths *found)
{
	bool moved = true;

	lm_shares_bundle(rewire, first, rewire->count);
	set_to_hops(room, &rewire->excess);
	for (uint32_t round = 0; round < ROUNDS && moved; round++) {
		if (lm_shares_need(rewire, room, &rewire->excess, true) >
			    room_length(room, &rewire->excess) &&
		    coarsen(rewire, room, found))
			return true;
		moved = lm_shares_even(rewire, room) || !round;
		if (!lm_shares_excess(rewire, room))
			return false;
	}
	return false;
}

/* A metric is kept: what it says of what runs, and of any two sites. */
static void keep(struct rewire *rewire, struct metric *metric)
{
	struct shortest search;

	lm_shares_bundle(rewire, 0, rewire->running);
	metric->slack = slack(rewire, &rewire->room, &metric->lengths);
	for (uint32_t from = 0; from < rewire->room.sites; from++) {
		uint64_t through = rewire->through >> from & 1 ? rewire->through : 0;

		lm_lengths_measure(&rewire->room, &metric->lengths, from, through, &search);
		memcpy(metric->apart[from], search.cost,
		       rewire->room.sites * sizeof(search.cost[0]));
	}
	rewire->metrics_count++;
}

void lm_rewire_count_hops(struct rewire *rewire)
{
	rewire->metrics_count = 0;
	set_to_hops(&rewire->room, &rewire->metrics[0].lengths);
	keep(rewire, &rewire->metrics[0]);
}

bool lm_rewire_refute(struct rewire *rewire)
{
	struct metric *metric = &rewire->metrics[rewire->metrics_count];

	if (!refute(rewire, &rewire->room, 0, &rewire->scratch))
		return false;
	if (rewire->metrics_count < REWIRE_METRICS) {
		metric->lengths = rewire->scratch;
		keep(rewire, metric);
	}
	return true;
}

bool lm_rewire_refute_still(struct rewire *rewire)
{
	struct net room = rewire->room;

	for (uint32_t at = 0; at < rewire->running; at++) {
		const struct way *way = &rewire->flows[at].was;

		for (uint32_t hop = 0; hop < way->hops; hop++)
			lm_net_take(&room, way->sites[hop], way->sites[hop + 1], 1);
	}
	return refute(rewire, &room, rewire->running, &rewire->scratch);
}

bool lm_rewire_refuted(const struct rewire *rewire)
{
	for (uint32_t at = 0; at < rewire->metrics_count; at++) {
		const struct metric *metric = &rewire->metrics[at];
		int64_t left = metric->slack;

		for (uint32_t flow = rewire->running; flow < rewire->count; flow++)
			left -= metric->apart[rewire->flows[flow].from][rewire->flows[flow].to];
		if (left < 0)
			return true;
	}
	return false;
}

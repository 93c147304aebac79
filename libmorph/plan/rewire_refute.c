// SPDX-License-Identifier: LGPL-2.1-or-later
/* Proofs that flows have no ways: lengths of links. */
#include <string.h>

#include "rewire.h"

#define ROUNDS 200
#define LENGTH_MOST 30000U

/* Shortest ways from a site, by length; @through as in struct flow. */
static void measure(const struct net *room, const struct metric *metric, uint32_t from,
		    uint64_t through, uint32_t cost[NET_SITES], uint8_t before[NET_SITES])
{
	uint64_t open = 1ULL << from, done = 0;

	for (uint32_t site = 0; site < room->sites; site++)
		cost[site] = METRIC_APART;
	cost[from] = 0;
	while (open) {
		uint32_t at = net_first(open);

		for (uint64_t left = open; left; left &= left - 1)
			if (cost[net_first(left)] < cost[at])
				at = net_first(left);
		open &= ~(1ULL << at);
		done |= 1ULL << at;
		for (uint64_t left = room->out[at] & through & ~done; left; left &= left - 1) {
			uint32_t to = net_first(left);
			uint32_t total = cost[at] + metric->length[at][to];

			if (open >> to & 1 && cost[to] <= total)
				continue;
			open |= 1ULL << to;
			cost[to] = total;
			before[to] = (uint8_t)at;
		}
	}
}

/* The length of all room. */
static int64_t room_length(const struct net *room, const struct metric *metric)
{
	int64_t sum = 0;

	for (uint32_t from = 0; from < room->sites; from++)
		for (uint64_t left = room->out[from]; left; left &= left - 1)
			sum += room->room[from][net_first(left)] *
			       metric->length[from][net_first(left)];
	return sum;
}

/* What some flows need by these lengths, in @room; what the shortest ways take is in used. */
static int64_t need(struct rewire *rewire, const struct net *room, const struct metric *metric,
		    uint32_t first, uint32_t end)
{
	uint32_t cost[NET_SITES] = { 0 };
	uint8_t before[NET_SITES] = { 0 };
	const struct flow *last = NULL;
	int64_t sum = 0;

	memset(rewire->used, 0, sizeof(rewire->used));
	for (uint32_t at = first; at < end; at++) {
		const struct flow *flow = &rewire->flows[at];

		if (flow->least == NET_APART)
			return INT64_MAX;
		if (!last || last->from != flow->from || last->through != flow->through)
			measure(room, metric, flow->from, flow->through, cost, before);
		last = flow;
		if (cost[flow->to] == METRIC_APART)
			return INT64_MAX;
		sum += cost[flow->to];
		for (uint32_t site = flow->to; site != flow->from; site = before[site])
			rewire->used[before[site]][site]++;
	}
	return sum;
}

/* Longer by what is wanted too much, shorter by what is left. False when all are at their end. */
static bool learn(const struct rewire *rewire, const struct net *room, struct metric *metric)
{
	bool more = false;

	for (uint32_t from = 0; from < room->sites; from++) {
		for (uint64_t left = room->out[from]; left; left &= left - 1) {
			uint32_t to = net_first(left);
			int32_t length = metric->length[from][to] + rewire->used[from][to] -
					 room->room[from][to];

			if (length > (int32_t)LENGTH_MOST)
				return false;
			length = length < 0 ? 0 : length;
			more |= length != metric->length[from][to];
			metric->length[from][to] = (uint16_t)length;
		}
	}
	return more;
}

/* A metric is kept: what it says of what runs, and of any two sites. */
static void keep(struct rewire *rewire, struct metric *metric)
{
	uint8_t before[NET_SITES];

	metric->slack = room_length(&rewire->room, metric) -
			need(rewire, &rewire->room, metric, 0, rewire->running);
	for (uint32_t from = 0; from < rewire->room.sites; from++) {
		uint64_t through = rewire->through >> from & 1 ? rewire->through : 0;

		measure(&rewire->room, metric, from, through, metric->apart[from], before);
	}
	rewire->metrics_count++;
}

static void set_to_hops(const struct net *room, struct metric *metric)
{
	memset(metric->length, 0, sizeof(metric->length));
	for (uint32_t from = 0; from < room->sites; from++)
		for (uint64_t left = room->out[from]; left; left &= left - 1)
			metric->length[from][net_first(left)] = 1;
}

/* Look for a metric by which flows from @first on have no ways in @room. */
static bool refute(struct rewire *rewire, const struct net *room, uint32_t first,
		   struct metric *metric)
{
	set_to_hops(room, metric);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		if (need(rewire, room, metric, first, rewire->count) > room_length(room, metric))
			return true;
		if (!learn(rewire, room, metric))
			return false;
	}
	return false;
}

void lm_rewire_count_hops(struct rewire *rewire)
{
	rewire->metrics_count = 0;
	set_to_hops(&rewire->room, &rewire->metrics[0]);
	keep(rewire, &rewire->metrics[0]);
}

bool lm_rewire_refute(struct rewire *rewire)
{
	struct metric *metric = &rewire->metrics[rewire->metrics_count];

	if (rewire->metrics_count == REWIRE_METRICS || !refute(rewire, &rewire->room, 0, metric))
		return false;
	keep(rewire, metric);
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

// SPDX-License-Identifier: LGPL-2.1-or-later
/* Exhaustive search for routes of running and requested circuits. */
#include "reroute.h"

static enum answer reroute_next(struct search *search, uint32_t left, uint32_t moved);

/* Hops from each server to a flow's end over the remaining capacity. */
static void measure_to(const struct room *room, const struct flow *flow, uint32_t hops[MOST_SEATS])
{
	uint32_t queue[MOST_SEATS] = { 0 }, head = 0, tail = 0;

	for (uint32_t seat = 0; seat < room->seats; seat++)
		hops[seat] = NONE;
	hops[flow->to] = 0;
	queue[tail++] = flow->to;
	for (; head < tail; head++) {
		if (!(flow->through >> queue[head] & 1))
			continue;
		for (uint32_t seat = 0; seat < room->seats; seat++) {
			if (hops[seat] != NONE || !room->room[seat][queue[head]])
				continue;
			hops[seat] = hops[queue[head]] + 1;
			queue[tail++] = seat;
		}
	}
}

static int compare(const struct flow *one, const struct flow *other)
{
	if (one->hops != other->hops)
		return one->hops < other->hops ? -1 : 1;
	return memcmp(one->way, other->way, one->hops + 1U);
}

/*
 * Equal flows take routes in order, so that the search visits each set of routes once. If the
 * number of moves counts, running flows are not equal.
 */
static bool in_order(const struct reroute *reroute, const struct flow *flow)
{
	for (const struct flow *other = reroute->flows; other < reroute->flows + reroute->count;
	     other++) {
		int order;

		if (other == flow || !other->led || other->from != flow->from ||
		    other->to != flow->to || other->through != flow->through ||
		    (reroute->limit != NONE && (flow->runs || other->runs)))
			continue;
		order = compare(other, flow);
		if (other < flow ? order > 0 : order < 0)
			return false;
	}
	return true;
}

static enum answer arrive(struct search *search, struct flow *flow, uint32_t left, uint32_t moved)
{
	struct reroute *reroute = search->context;
	enum answer answer = NO;

	if (flow->runs &&
	    (flow->hops != flow->was_hops || memcmp(flow->way, flow->was, flow->hops + 1U) != 0))
		moved++;
	if (reroute->limit != NONE && moved > reroute->limit)
		return NO;
	flow->led = true;
	if (in_order(reroute, flow))
		answer = reroute_next(search, left, moved);
	flow->led = false;
	return answer;
}

static enum answer extend_route(struct search *search, struct flow *flow, const uint32_t *hops,
				uint64_t seen, uint32_t most, uint32_t left, uint32_t moved)
{
	struct room *room = search->room;
	uint32_t at = flow->way[flow->hops];

	if (!ck_spend(search->check))
		return GAVE_UP;
	if (at == flow->to)
		return arrive(search, flow, left, moved);
	for (uint32_t next = 0; next < room->seats; next++) {
		enum answer answer;

		if (seen >> next & 1 || !room->room[at][next] || !(flow->through >> next & 1) ||
		    hops[next] >= most)
			continue;
		room->room[at][next]--;
		flow->way[++flow->hops] = (uint8_t)next;
		answer = extend_route(search, flow, hops, seen | 1ULL << next, most - 1, left - 1,
				      moved);
		flow->hops--;
		room->room[at][next]++;
		if (answer != NO)
			return answer;
	}
	return NO;
}

/* Route the farthest flow. Capacity beyond the need of all flows is for detours. */
static enum answer reroute_next(struct search *search, uint32_t left, uint32_t moved)
{
	struct reroute *reroute = search->context;
	uint32_t farthest = 0, hops[MOST_SEATS], its_hops[MOST_SEATS] = { 0 };
	struct flow *chosen = NULL;
	uint64_t need = 0;

	for (uint32_t at = 0; at < reroute->count; at++) {
		struct flow *flow = &reroute->flows[at];

		if (flow->led)
			continue;
		measure_to(search->room, flow, hops);
		if (hops[flow->from] == NONE || !(flow->through >> flow->from & 1))
			return NO;
		need += hops[flow->from];
		if (chosen && hops[flow->from] <= farthest)
			continue;
		farthest = hops[flow->from];
		chosen = flow;
		memcpy(its_hops, hops, sizeof(hops));
	}
	if (!chosen)
		return YES;
	if (need > left)
		return NO;
	if (!ck_spend(search->check))
		return GAVE_UP;
	chosen->hops = 0;
	chosen->way[0] = (uint8_t)chosen->from;
	return extend_route(search, chosen, its_hops, 1ULL << chosen->from,
			    farthest + (uint32_t)(left - need), left, moved);
}

enum answer ck_reroute_all(struct search *search)
{
	struct reroute *reroute = search->context;

	reroute->count = reroute->running;
	for (uint32_t metric = 0; metric < reroute->metrics; metric++) {
		int64_t left = reroute->slack[metric];

		for (uint32_t at = 0; at < search->demands; at++)
			left -= apart_by(reroute, metric, search->demand[at].from,
					 search->demand[at].to);
		if (left < 0)
			return NO;
	}
	for (uint32_t at = 0; at < search->demands; at++) {
		if (reroute->count == MOST_FLOWS)
			return GAVE_UP;
		reroute->flows[reroute->count++] = (struct flow){
			.from = search->demand[at].from,
			.to = search->demand[at].to,
			.through = reroute->through,
		};
	}
	for (uint32_t at = 0; at < reroute->count; at++)
		reroute->flows[at].led = false;
	return reroute_next(search, search->room->total, 0);
}

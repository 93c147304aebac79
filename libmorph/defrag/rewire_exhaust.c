// SPDX-License-Identifier: LGPL-2.1-or-later
/* Ways by looking at all, with few of what runs moved; where there are none it says so. */
#include <string.h>

#include "rewire.h"

enum flow_state {
	STAYS, /* where it is; may have to go yet */
	PINNED, /* stays */
	OPEN, /* is to be led */
	LED,
};

struct exhaust {
	struct rewire *rewire;
	struct net hard; /* what is led or pinned has taken its part of it */
	uint64_t *steps;
	uint32_t limit, moved;
	uint32_t pins_count;
};

/* A flow on its way. */
struct walk {
	uint32_t number;
	uint32_t hops; /* that it is to have */
	uint8_t left[NET_SITES]; /* hops to its end at least */
};

static enum routes_verdict next_flow(struct exhaust *exhaust);

static bool spend(struct exhaust *exhaust)
{
	if (!*exhaust->steps)
		return false;
	--*exhaust->steps;
	return true;
}

static void hard_take(struct exhaust *exhaust, const struct way *way, int32_t units)
{
	for (uint32_t hop = 0; hop < way->hops; hop++)
		lm_net_take(&exhaust->hard, way->sites[hop], way->sites[hop + 1], units);
}

static bool crosses(const struct way *way, uint32_t from, uint32_t to)
{
	for (uint32_t hop = 0; hop < way->hops; hop++)
		if (way->sites[hop] == from && way->sites[hop + 1] == to)
			return true;
	return false;
}

/* ----------------------------------------------------------------- evictions */

/* A flow stays for good. False where there is no room for it beside what is led. */
static bool pin(struct exhaust *exhaust, uint32_t number)
{
	const struct way *way = &exhaust->rewire->flows[number].was;

	for (uint32_t hop = 0; hop < way->hops; hop++)
		if (!exhaust->hard.room[way->sites[hop]][way->sites[hop + 1]])
			return false;
	hard_take(exhaust, way, 1);
	exhaust->rewire->state[number] = PINNED;
	exhaust->rewire->pins[exhaust->pins_count++] = (uint16_t)number;
	return true;
}

static void unpin(struct exhaust *exhaust, uint32_t count)
{
	while (exhaust->pins_count > count) {
		uint32_t number = exhaust->rewire->pins[--exhaust->pins_count];

		hard_take(exhaust, &exhaust->rewire->flows[number].was, -1);
		exhaust->rewire->state[number] = STAYS;
	}
}

/* Was a flow that is as good as this one pinned since there were @first? */
static bool tried_alike(const struct exhaust *exhaust, uint32_t number, uint32_t first)
{
	const struct flow *flow = &exhaust->rewire->flows[number];

	for (uint32_t at = first; at < exhaust->pins_count; at++) {
		const struct flow *other = &exhaust->rewire->flows[exhaust->rewire->pins[at]];

		if (other->through == flow->through && lm_way_same(&other->was, &flow->was))
			return true;
	}
	return false;
}

static enum routes_verdict make_way(struct exhaust *exhaust, const struct flow *flow);

static enum routes_verdict evict(struct exhaust *exhaust, const struct flow *flow, uint32_t number)
{
	struct rewire *rewire = exhaust->rewire;
	enum routes_verdict verdict;

	rewire->state[number] = OPEN;
	lm_way_charge(rewire->used, &rewire->flows[number].was, -1);
	exhaust->moved++;
	verdict = make_way(exhaust, flow);
	exhaust->moved--;
	lm_way_charge(rewire->used, &rewire->flows[number].was, 1);
	rewire->state[number] = STAYS;
	return verdict;
}

/* Where the way of a flow is wanted by too many, something that stays has to go. */
static enum routes_verdict make_way(struct exhaust *exhaust, const struct flow *flow)
{
	struct rewire *rewire = exhaust->rewire;
	enum routes_verdict verdict = ROUTES_NONE;
	uint32_t hop = 0, pins = exhaust->pins_count, from, to;

	while (hop < flow->goes.hops &&
	       rewire->used[flow->goes.sites[hop]][flow->goes.sites[hop + 1]] <=
		       rewire->room.room[flow->goes.sites[hop]][flow->goes.sites[hop + 1]])
		hop++;
	if (hop == flow->goes.hops)
		return next_flow(exhaust);
	if (exhaust->moved == exhaust->limit)
		return ROUTES_NONE;
	if (!spend(exhaust))
		return ROUTES_UNDECIDED;
	from = flow->goes.sites[hop];
	to = flow->goes.sites[hop + 1];
	for (uint32_t at = 0; at < rewire->running && verdict == ROUTES_NONE; at++) {
		if (rewire->state[at] != STAYS || !crosses(&rewire->flows[at].was, from, to))
			continue;
		if (!tried_alike(exhaust, at, pins))
			verdict = evict(exhaust, flow, at);
		if (verdict == ROUTES_NONE && !pin(exhaust, at))
			break;
	}
	unpin(exhaust, pins);
	return verdict;
}

/* --------------------------------------------------------------------- walks */

static int compare(const struct way *one, const struct way *other)
{
	if (one->hops != other->hops)
		return one->hops < other->hops ? -1 : 1;
	return memcmp(one->sites, other->sites, one->hops + 1U);
}

/* Flows of the request that are alike go ways in their order, not to look at each order. */
static bool in_order(const struct exhaust *exhaust, uint32_t number)
{
	const struct rewire *rewire = exhaust->rewire;
	const struct flow *flow = &rewire->flows[number];

	for (uint32_t at = rewire->running; at < rewire->count; at++) {
		const struct flow *other = &rewire->flows[at];
		int order;

		if (rewire->state[at] != LED || other->from != flow->from || other->to != flow->to)
			continue;
		order = compare(&other->goes, &flow->goes);
		if (at < number ? order > 0 : order < 0)
			return false;
	}
	return true;
}

static enum routes_verdict arrive(struct exhaust *exhaust, uint32_t number)
{
	struct rewire *rewire = exhaust->rewire;
	struct flow *flow = &rewire->flows[number];
	enum routes_verdict verdict;

	/* Where it was it would not have had to go. */
	if (flow->running ? lm_way_same(&flow->goes, &flow->was) : !in_order(exhaust, number))
		return ROUTES_NONE;
	rewire->state[number] = LED;
	lm_way_charge(rewire->used, &flow->goes, 1);
	verdict = make_way(exhaust, flow);
	lm_way_charge(rewire->used, &flow->goes, -1);
	rewire->state[number] = OPEN;
	return verdict;
}

static enum routes_verdict walk(struct exhaust *exhaust, struct walk *it, uint32_t hop,
				uint64_t visited)
{
	struct flow *flow = &exhaust->rewire->flows[it->number];
	uint32_t at = flow->goes.sites[hop];

	if (!spend(exhaust))
		return ROUTES_UNDECIDED;
	if (at == flow->to) {
		flow->goes.hops = (uint8_t)hop;
		return arrive(exhaust, it->number);
	}
	for (uint64_t left = exhaust->hard.out[at] & flow->through & ~visited; left;
	     left &= left - 1) {
		uint32_t to = net_first(left);
		enum routes_verdict verdict;

		if (it->left[to] == NET_APART || hop + 1 + it->left[to] > it->hops ||
		    (to == flow->to && hop + 1 < it->hops))
			continue;
		/* What is there can't go any more. */
		if (exhaust->moved == exhaust->limit &&
		    exhaust->rewire->used[at][to] >= exhaust->rewire->room.room[at][to])
			continue;
		flow->goes.sites[hop + 1] = (uint8_t)to;
		lm_net_take(&exhaust->hard, at, to, 1);
		verdict = walk(exhaust, it, hop + 1, visited | 1ULL << to);
		lm_net_take(&exhaust->hard, at, to, -1);
		if (verdict != ROUTES_NONE)
			return verdict;
	}
	return ROUTES_NONE;
}

/* Hops to a flow's end over what is left. */
static void measure_to(const struct exhaust *exhaust, const struct flow *flow,
		       uint8_t left[NET_SITES])
{
	uint64_t seen = 1ULL << flow->to, ring = seen;

	memset(left, NET_APART, NET_SITES);
	for (uint8_t hops = 0; ring; hops++) {
		uint64_t reached = 0;

		for (; ring; ring &= ring - 1) {
			uint32_t at = net_first(ring);

			left[at] = hops;
			/* What may not be crossed may still be where it begins. */
			if (flow->through >> at & 1 || at == flow->to)
				reached |= exhaust->hard.in[at];
		}
		ring = reached & ~seen;
		seen |= ring;
	}
}

/* Whether the links of each site suffice for what begins and ends there. */
static bool sites_suffice(const struct exhaust *exhaust)
{
	const struct rewire *rewire = exhaust->rewire;
	const struct net *net = &exhaust->hard;
	int32_t out[NET_SITES] = { 0 }, in[NET_SITES] = { 0 };

	for (uint32_t at = 0; at < rewire->count; at++) {
		if (rewire->state[at] != OPEN && rewire->state[at] != STAYS)
			continue;
		out[rewire->flows[at].from]++;
		in[rewire->flows[at].to]++;
	}
	for (uint32_t site = 0; site < net->sites; site++) {
		for (uint64_t left = net->out[site]; left && out[site] > 0; left &= left - 1)
			out[site] -= net->room[site][net_first(left)];
		for (uint64_t left = net->in[site]; left && in[site] > 0; left &= left - 1)
			in[site] -= net->room[net_first(left)][site];
		if (out[site] > 0 || in[site] > 0)
			return false;
	}
	return true;
}

/*
 * Choose the open flow that is longest, which has the fewest ways, and measure what is left to
 * spare if all others go straight: negative where they can't.
 */
static int64_t choose(const struct exhaust *exhaust, struct walk *it)
{
	const struct rewire *rewire = exhaust->rewire;
	int64_t spare = exhaust->hard.room_total;
	uint32_t longest = 0;

	it->number = rewire->count;
	for (uint32_t at = 0; at < rewire->count; at++) {
		const struct flow *flow = &rewire->flows[at];
		uint8_t left[NET_SITES];

		if (rewire->state[at] == STAYS)
			spare -= flow->least;
		if (rewire->state[at] != OPEN)
			continue;
		measure_to(exhaust, flow, left);
		if (left[flow->from] == NET_APART)
			return -1;
		spare -= left[flow->from];
		if (it->number < rewire->count && left[flow->from] <= longest)
			continue;
		longest = left[flow->from];
		it->number = at;
		memcpy(it->left, left, sizeof(left));
	}
	return spare;
}

static enum routes_verdict found(struct rewire *rewire)
{
	for (uint32_t at = 0; at < rewire->running; at++)
		if (rewire->state[at] != LED)
			rewire->flows[at].goes = rewire->flows[at].was;
	return ROUTES_FOUND;
}

static enum routes_verdict next_flow(struct exhaust *exhaust)
{
	enum routes_verdict verdict = ROUTES_NONE;
	struct walk it;
	int64_t spare = choose(exhaust, &it);
	uint64_t longest;
	struct flow *flow;

	if (spare < 0)
		return ROUTES_NONE;
	if (it.number == exhaust->rewire->count)
		return found(exhaust->rewire);
	if (!spend(exhaust))
		return ROUTES_UNDECIDED;
	if (!sites_suffice(exhaust))
		return ROUTES_NONE;
	flow = &exhaust->rewire->flows[it.number];
	it.hops = it.left[flow->from];
	longest = it.hops + (uint64_t)spare;
	if (longest > exhaust->hard.sites - 1)
		longest = exhaust->hard.sites - 1;
	flow->goes.sites[0] = flow->from;
	for (; verdict == ROUTES_NONE && it.hops <= longest; it.hops++)
		verdict = walk(exhaust, &it, 0, 1ULL << flow->from);
	return verdict;
}

enum routes_verdict lm_rewire_exhaust(struct rewire *rewire, uint32_t limit, uint64_t *steps)
{
	struct exhaust exhaust = { .rewire = rewire, .hard = rewire->room, .steps = steps };

	exhaust.limit = limit;
	memset(rewire->used, 0, sizeof(rewire->used));
	for (uint32_t at = 0; at < rewire->count; at++) {
		rewire->state[at] = rewire->flows[at].running ? STAYS : OPEN;
		if (rewire->flows[at].running)
			lm_way_charge(rewire->used, &rewire->flows[at].was, 1);
		else if (rewire->flows[at].least == NET_APART)
			return ROUTES_NONE;
	}
	return next_flow(&exhaust);
}

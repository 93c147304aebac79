// SPDX-License-Identifier: LGPL-2.1-or-later
/* Routes for running and new circuits, by negotiation and by exhaustive search. */
#include <string.h>

#include "reroute.h"

/* ---------------------------------------------------------------------- begin */

/* Negotiation of routes for running and new circuits. */

#define ROUNDS 32
#define ROUNDS_SURE 128 /* if fractional routes exist */
#define HOP 64u /* price of one hop */
#define STAY 8u /* discount of the present path */
#define GRUDGE 40u /* price added for each round in which a link was overloaded */
#define PRESSURE 192u /* price per unit of overload, of 256; grows by two fifths each round */
#define PRESSURE_MOST (1u << 16)

bool lm_way_same(const struct way *one, const struct way *other)
{
	return one->hops == other->hops && !memcmp(one->sites, other->sites, one->hops + 1U);
}

void lm_way_charge(uint16_t used[NET_SITES][NET_SITES], const struct way *way, int units)
{
	for (uint32_t hop = 0; hop < way->hops; hop++) {
		uint16_t *link = &used[way->sites[hop]][way->sites[hop + 1]];

		*link = (uint16_t)(*link + units);
	}
}

/* Hops of a flow's shortest path. */
static uint8_t measure(const struct reroute *reroute, const struct flow *flow)
{
	uint64_t seen = 1ULL << flow->from, ring = seen;

	for (uint8_t hops = 0; ring; hops++) {
		uint64_t reached = 0;

		if (ring >> flow->to & 1)
			return hops;
		for (; ring; ring &= ring - 1)
			reached |= reroute->room.out[net_first(ring)] & flow->through;
		ring = reached & ~seen;
		seen |= ring;
	}
	return NET_APART;
}

void lm_reroute_begin(struct reroute *reroute)
{
	for (uint32_t at = 0; at < reroute->running; at++)
		reroute->flows[at].least = measure(reroute, &reroute->flows[at]);
	reroute->count = reroute->running;
	lm_reroute_count_hops(reroute);
}

bool lm_reroute_add(struct reroute *reroute, uint32_t from, uint32_t to, uint32_t circuit)
{
	struct flow *flow = &reroute->flows[reroute->count];

	if (reroute->count == REROUTE_FLOWS)
		return false;
	*flow = (struct flow){
		.from = (uint8_t)from,
		.to = (uint8_t)to,
		.circuit = circuit,
		.through = reroute->through,
	};
	flow->least = reroute->through >> from & 1 ? measure(reroute, flow) : NET_APART;
	reroute->count++;
	return true;
}

/* ---------------------------------------------------------------- negotiation */

static bool overlaps(const struct reroute *reroute, const struct way *way)
{
	for (uint32_t hop = 0; hop < way->hops; hop++) {
		uint32_t from = way->sites[hop], to = way->sites[hop + 1];

		if (reroute->used[from][to] > reroute->room.room[from][to])
			return true;
	}
	return false;
}

static uint32_t price(const struct reroute *reroute, uint32_t from, uint32_t to, uint32_t pressure)
{
	uint32_t wanted = reroute->used[from][to] + 1U, room = reroute->room.room[from][to];
	uint32_t excess = wanted > room ? wanted - room : 0;

	return (uint32_t)((HOP + reroute->grudge[from][to]) * (256 + (uint64_t)pressure * excess) /
			  256);
}

/* Find the cheapest path at the prices of this round. One always exists. */
static void route_one(const struct reroute *reroute, struct flow *flow, uint32_t pressure)
{
	uint64_t stay[NET_SITES] = { 0 };
	struct shortest search;
	uint32_t at;

	for (uint32_t hop = 0; flow->running && hop < flow->was.hops; hop++)
		stay[flow->was.sites[hop]] |= 1ULL << flow->was.sites[hop + 1];
	shortest_begin(&search, flow->from);
	while ((at = shortest_next(&search)) != flow->to) {
		for (uint64_t left = reroute->room.out[at] & flow->through & ~search.done; left;
		     left &= left - 1) {
			uint32_t to = net_first(left);

			shortest_reach(&search, at, to,
				       search.cost[at] + price(reroute, at, to, pressure) -
					       (stay[at] >> to & 1 ? STAY : 0));
		}
	}
	flow->goes.hops = (uint8_t)shortest_trace(&search, flow->from, flow->to, flow->goes.sites);
}

/* Raise the prices of overloaded links. Returns whether there are any. */
static bool bear_grudges(struct reroute *reroute)
{
	bool clash = false;

	for (uint32_t from = 0; from < reroute->room.sites; from++) {
		for (uint64_t left = reroute->room.out[from]; left; left &= left - 1) {
			uint32_t to = net_first(left);

			if (reroute->used[from][to] <= reroute->room.room[from][to])
				continue;
			reroute->grudge[from][to] += GRUDGE;
			clash = true;
		}
	}
	return clash;
}

/* Move flows back that need not have moved. */
static void settle(struct reroute *reroute)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (uint32_t at = 0; at < reroute->running; at++) {
			struct flow *flow = &reroute->flows[at];

			if (lm_way_same(&flow->was, &flow->goes))
				continue;
			lm_way_charge(reroute->used, &flow->goes, -1);
			lm_way_charge(reroute->used, &flow->was, 1);
			if (!overlaps(reroute, &flow->was)) {
				flow->goes = flow->was;
				changed = true;
				continue;
			}
			lm_way_charge(reroute->used, &flow->was, -1);
			lm_way_charge(reroute->used, &flow->goes, 1);
		}
	}
}

/* Start from the present routes, which can overlap. */
static bool negotiate(struct reroute *reroute, uint32_t rounds)
{
	uint32_t pressure = PRESSURE;

	for (uint32_t round = 0; bear_grudges(reroute); round++) {
		if (round == rounds)
			return false;
		/* New circuits first, so that they avoid running ones if possible. */
		for (uint32_t at = reroute->count; at--;) {
			struct flow *flow = &reroute->flows[at];

			if (flow->stays || !overlaps(reroute, &flow->goes))
				continue;
			lm_way_charge(reroute->used, &flow->goes, -1);
			route_one(reroute, flow, pressure);
			lm_way_charge(reroute->used, &flow->goes, 1);
		}
		if (pressure < PRESSURE_MOST)
			pressure += pressure * 2 / 5;
	}
	settle(reroute);
	return true;
}

static void begin(struct reroute *reroute)
{
	memset(reroute->used, 0, sizeof(reroute->used));
	memset(reroute->grudge, 0, sizeof(reroute->grudge));
}

bool lm_reroute_negotiate(struct reroute *reroute)
{
	for (uint32_t at = reroute->running; at < reroute->count; at++)
		if (reroute->flows[at].least == NET_APART)
			return false;
	begin(reroute);
	for (uint32_t at = 0; at < reroute->count; at++) {
		struct flow *flow = &reroute->flows[at];

		if (flow->running) {
			flow->goes = flow->was;
		} else {
			route_one(reroute, flow, PRESSURE);
		}
		lm_way_charge(reroute->used, &flow->goes, 1);
	}
	return negotiate(reroute, ROUNDS);
}

bool lm_reroute_negotiate_shares(struct reroute *reroute)
{
	begin(reroute);
	lm_shares_deal(reroute);
	for (uint32_t at = 0; at < reroute->count; at++)
		lm_way_charge(reroute->used, &reroute->flows[at].goes, 1);
	return negotiate(reroute, ROUNDS_SURE);
}

uint32_t lm_reroute_moved(const struct reroute *reroute)
{
	uint32_t moved = 0;

	for (uint32_t at = 0; at < reroute->running; at++)
		moved += !lm_way_same(&reroute->flows[at].was, &reroute->flows[at].goes);
	return moved;
}

/* ------------------------------------------------------------------ all paths */

/* Exhaustive search that moves few running circuits. If it finds no routes, none exist. */

enum flow_state {
	STAYS, /* at its old path; can still move */
	PINNED, /* stays at its old path */
	OPEN, /* needs a route */
	LED,
};

struct exhaust {
	struct reroute *reroute;
	struct net hard; /* capacity without routed and pinned flows */
	uint64_t *steps;
	uint32_t limit, moved;
	uint32_t pins_count;
};

/* A partial route. */
struct walk {
	uint32_t number;
	uint32_t hops; /* of the complete route */
	uint8_t left[NET_SITES]; /* least hops to its end */
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

/* Pin a flow. False if it does not fit beside routed flows. */
static bool pin(struct exhaust *exhaust, uint32_t number)
{
	const struct way *way = &exhaust->reroute->flows[number].was;

	for (uint32_t hop = 0; hop < way->hops; hop++)
		if (!exhaust->hard.room[way->sites[hop]][way->sites[hop + 1]])
			return false;
	hard_take(exhaust, way, 1);
	exhaust->reroute->state[number] = PINNED;
	exhaust->reroute->pins[exhaust->pins_count++] = (uint16_t)number;
	return true;
}

static void unpin(struct exhaust *exhaust, uint32_t count)
{
	while (exhaust->pins_count > count) {
		uint32_t number = exhaust->reroute->pins[--exhaust->pins_count];

		hard_take(exhaust, &exhaust->reroute->flows[number].was, -1);
		exhaust->reroute->state[number] = STAYS;
	}
}

/* Whether an equivalent flow was pinned after the first @first ones. */
static bool tried_alike(const struct exhaust *exhaust, uint32_t number, uint32_t first)
{
	const struct flow *flow = &exhaust->reroute->flows[number];

	for (uint32_t at = first; at < exhaust->pins_count; at++) {
		const struct flow *other = &exhaust->reroute->flows[exhaust->reroute->pins[at]];

		if (other->through == flow->through && lm_way_same(&other->was, &flow->was))
			return true;
	}
	return false;
}

static enum routes_verdict make_way(struct exhaust *exhaust, const struct flow *flow);

static enum routes_verdict evict(struct exhaust *exhaust, const struct flow *flow, uint32_t number)
{
	struct reroute *reroute = exhaust->reroute;
	enum routes_verdict verdict;

	reroute->state[number] = OPEN;
	lm_way_charge(reroute->used, &reroute->flows[number].was, -1);
	exhaust->moved++;
	verdict = make_way(exhaust, flow);
	exhaust->moved--;
	lm_way_charge(reroute->used, &reroute->flows[number].was, 1);
	reroute->state[number] = STAYS;
	return verdict;
}

/* If a link is overloaded, one of the flows that stay on it must move. */
static enum routes_verdict make_way(struct exhaust *exhaust, const struct flow *flow)
{
	struct reroute *reroute = exhaust->reroute;
	enum routes_verdict verdict = ROUTES_NONE;
	uint32_t hop = 0, pins = exhaust->pins_count, from, to;

	while (hop < flow->goes.hops &&
	       reroute->used[flow->goes.sites[hop]][flow->goes.sites[hop + 1]] <=
		       reroute->room.room[flow->goes.sites[hop]][flow->goes.sites[hop + 1]])
		hop++;
	if (hop == flow->goes.hops)
		return next_flow(exhaust);
	if (exhaust->moved == exhaust->limit)
		return ROUTES_NONE;
	if (!spend(exhaust))
		return ROUTES_UNDECIDED;
	from = flow->goes.sites[hop];
	to = flow->goes.sites[hop + 1];
	for (uint32_t at = 0; at < reroute->running && verdict == ROUTES_NONE; at++) {
		if (reroute->state[at] != STAYS || !crosses(&reroute->flows[at].was, from, to))
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

/* Equal flows of the request take routes in order, which avoids permutations. */
static bool in_order(const struct exhaust *exhaust, uint32_t number)
{
	const struct reroute *reroute = exhaust->reroute;
	const struct flow *flow = &reroute->flows[number];

	for (uint32_t at = reroute->running; at < reroute->count; at++) {
		const struct flow *other = &reroute->flows[at];
		int order;

		if (reroute->state[at] != LED || other->from != flow->from || other->to != flow->to)
			continue;
		order = compare(&other->goes, &flow->goes);
		if (at < number ? order > 0 : order < 0)
			return false;
	}
	return true;
}

static enum routes_verdict arrive(struct exhaust *exhaust, uint32_t number)
{
	struct reroute *reroute = exhaust->reroute;
	struct flow *flow = &reroute->flows[number];
	enum routes_verdict verdict;

	/* A moved flow must not return to its old path. */
	if (flow->running ? lm_way_same(&flow->goes, &flow->was) : !in_order(exhaust, number))
		return ROUTES_NONE;
	reroute->state[number] = LED;
	lm_way_charge(reroute->used, &flow->goes, 1);
	verdict = make_way(exhaust, flow);
	lm_way_charge(reroute->used, &flow->goes, -1);
	reroute->state[number] = OPEN;
	return verdict;
}

static enum routes_verdict walk(struct exhaust *exhaust, struct walk *it, uint32_t hop,
				uint64_t visited)
{
	struct flow *flow = &exhaust->reroute->flows[it->number];
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
		/* No more flows can move. */
		if (exhaust->moved == exhaust->limit &&
		    exhaust->reroute->used[at][to] >= exhaust->reroute->room.room[at][to])
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

/* Hops to a flow's end over the remaining capacity. */
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
			/* Light can begin in a server that it cannot cross. */
			if (flow->through >> at & 1 || at == flow->to)
				reached |= exhaust->hard.in[at];
		}
		ring = reached & ~seen;
		seen |= ring;
	}
}

/* Whether the links of each server suffice for the circuits that begin and end there. */
static bool sites_suffice(const struct exhaust *exhaust)
{
	const struct reroute *reroute = exhaust->reroute;
	const struct net *net = &exhaust->hard;
	int32_t out[NET_SITES] = { 0 }, in[NET_SITES] = { 0 };

	for (uint32_t at = 0; at < reroute->count; at++) {
		if (reroute->state[at] != OPEN && reroute->state[at] != STAYS)
			continue;
		out[reroute->flows[at].from]++;
		in[reroute->flows[at].to]++;
	}
	for (uint32_t site = 0; site < net->sites; site++)
		if (!net_suffices(net, 1, site, out[site], in[site]))
			return false;
	return true;
}

/*
 * Choose the longest open flow, because it has the fewest alternatives. Returns the links that
 * remain if all other flows are shortest, negative if they do not fit.
 */
static int64_t choose(const struct exhaust *exhaust, struct walk *it)
{
	const struct reroute *reroute = exhaust->reroute;
	int64_t spare = exhaust->hard.room_total;
	uint32_t longest = 0;

	it->number = reroute->count;
	for (uint32_t at = 0; at < reroute->count; at++) {
		const struct flow *flow = &reroute->flows[at];
		uint8_t left[NET_SITES];

		if (reroute->state[at] == STAYS)
			spare -= flow->least;
		if (reroute->state[at] != OPEN)
			continue;
		measure_to(exhaust, flow, left);
		if (left[flow->from] == NET_APART)
			return -1;
		spare -= left[flow->from];
		if (it->number < reroute->count && left[flow->from] <= longest)
			continue;
		longest = left[flow->from];
		it->number = at;
		memcpy(it->left, left, sizeof(left));
	}
	return spare;
}

static enum routes_verdict found(struct reroute *reroute)
{
	for (uint32_t at = 0; at < reroute->running; at++)
		if (reroute->state[at] != LED)
			reroute->flows[at].goes = reroute->flows[at].was;
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
	if (it.number == exhaust->reroute->count)
		return found(exhaust->reroute);
	if (!spend(exhaust))
		return ROUTES_UNDECIDED;
	if (!sites_suffice(exhaust))
		return ROUTES_NONE;
	flow = &exhaust->reroute->flows[it.number];
	it.hops = it.left[flow->from];
	longest = it.hops + (uint64_t)spare;
	if (longest > exhaust->hard.sites - 1)
		longest = exhaust->hard.sites - 1;
	flow->goes.sites[0] = flow->from;
	for (; verdict == ROUTES_NONE && it.hops <= longest; it.hops++)
		verdict = walk(exhaust, &it, 0, 1ULL << flow->from);
	return verdict;
}

enum routes_verdict lm_reroute_exhaust(struct reroute *reroute, uint32_t limit, uint64_t *steps)
{
	struct exhaust exhaust = { .reroute = reroute, .hard = reroute->room, .steps = steps };

	exhaust.limit = limit;
	memset(reroute->used, 0, sizeof(reroute->used));
	for (uint32_t at = 0; at < reroute->count; at++) {
		reroute->state[at] = reroute->flows[at].running ? STAYS : OPEN;
		if (reroute->flows[at].running)
			lm_way_charge(reroute->used, &reroute->flows[at].was, 1);
		else if (reroute->flows[at].least == NET_APART)
			return ROUTES_NONE;
	}
	return next_flow(&exhaust);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Ways for the edges of slices across racks, by negotiated congestion: McMurchie and Ebeling,
 * PathFinder (FPGA 1995). Each of an edge's links has a way of its own.
 */
#include <math.h>
#include <string.h>

#include "crossing.h"

#define ROUNDS 30
#define PRESSURE 0.5
#define RISE 1.3 /* of the pressure, from round to round */
#define GRUDGE 0.5
#define STATES (2 * RACK_SITES) /* servers of the first rack, and of the last: behind a switch */

struct route {
	const struct pod *pod;
	struct plan *plan;
	double pressure;
	float grudge[RACKS][GROUPS];
	uint32_t over; /* links that are wanted beyond those there are */
};

static void count_use(struct route *route, uint32_t rack, uint32_t group, int by)
{
	uint16_t *used = &route->plan->used[rack][group];
	uint32_t room = route->pod->room[rack][group];

	if (by > 0 && (*used)++ >= room)
		route->over++;
	if (by < 0 && --*used >= room)
		route->over--;
}

static double price(const struct route *route, uint32_t rack, uint32_t group)
{
	int over = route->plan->used[rack][group] + 1 - route->pod->room[rack][group];

	return (1 + route->grudge[rack][group]) * (1 + (over > 0 ? over * route->pressure : 0));
}

/* Adds @by to the use of all links on a way. */
static void use(struct route *route, const struct way *way, server from, server to, int by)
{
	for (uint32_t hop = 0; hop < way->hops; hop++) {
		const struct arc *arc = &route->pod->arcs[from % RACK_SITES][way->arcs[hop]];

		count_use(route, from / RACK_SITES, arc->group, by);
		if (arc->face)
			count_use(route, to / RACK_SITES, arc->far_group, by);
		from = crossing_step(route->pod, from, way->arcs[hop], to);
	}
}

struct label {
	double cost;
	uint8_t from, arc; /* the state before, and the way from there */
	bool done;
};

static void relax(const struct route *route, struct label labels[STATES], uint32_t state,
		  uint32_t rack, uint32_t last)
{
	const struct pod *pod = route->pod;
	uint32_t site = state % RACK_SITES, behind = state / RACK_SITES;
	uint32_t here = behind ? last : rack;

	for (uint32_t at = 0; at < pod->arcs_count[site]; at++) {
		const struct arc *arc = &pod->arcs[site][at];
		struct label *label;
		double cost;

		if (!pod->room[here][arc->group] ||
		    (arc->face && (behind || !pod->room[last][arc->far_group])))
			continue;
		cost = labels[state].cost + price(route, here, arc->group);
		if (arc->face)
			cost += price(route, last, arc->far_group);
		label = &labels[(behind || arc->face) * RACK_SITES + arc->to];
		if (cost >= label->cost)
			continue;
		*label = (struct label){ .cost = cost, .from = (uint8_t)state, .arc = (uint8_t)at };
	}
}

/* Dijkstra's algorithm; false where there is no way at all. */
static bool find(const struct route *route, server from, server to, struct way *way)
{
	struct label labels[STATES];
	uint32_t rack = from / RACK_SITES, last = to / RACK_SITES, at = STATES, begin;
	uint8_t arcs[STATES];

	for (uint32_t state = 0; state < STATES; state++)
		labels[state] = (struct label){ .cost = INFINITY };
	begin = from % RACK_SITES;
	labels[begin].cost = 0;
	for (;;) {
		at = STATES;
		for (uint32_t state = 0; state < STATES; state++)
			if (!labels[state].done && isfinite(labels[state].cost) &&
			    (at == STATES || labels[state].cost < labels[at].cost))
				at = state;
		if (at == STATES)
			return false;
		labels[at].done = true;
		if (at % RACK_SITES == to % RACK_SITES && (at >= RACK_SITES || rack == last))
			break;
		relax(route, labels, at, rack, last);
	}
	way->hops = 0;
	for (; at != begin; at = labels[at].from)
		arcs[way->hops++] = labels[at].arc;
	for (uint32_t hop = 0; hop < way->hops; hop++)
		way->arcs[hop] = arcs[way->hops - 1 - hop];
	return true;
}

static bool overused(const struct route *route, const struct way *way, server from, server to)
{
	for (uint32_t hop = 0; hop < way->hops; hop++) {
		const struct arc *arc = &route->pod->arcs[from % RACK_SITES][way->arcs[hop]];
		uint32_t rack = from / RACK_SITES, last = to / RACK_SITES;

		if (route->plan->used[rack][arc->group] > route->pod->room[rack][arc->group])
			return true;
		if (arc->face && route->plan->used[last][arc->far_group] >
					 route->pod->room[last][arc->far_group])
			return true;
		from = crossing_step(route->pod, from, way->arcs[hop], to);
	}
	return false;
}

static void hold_grudges(struct route *route)
{
	for (uint32_t rack = 0; rack < RACKS; rack++)
		for (uint32_t group = 0; group < GROUPS; group++)
			if (route->plan->used[rack][group] > route->pod->room[rack][group])
				route->grudge[rack][group] += GRUDGE;
}

/* One edge of a slice, and its servers. */
struct ends {
	struct way *ways;
	server from, to;
};

static struct ends ends_of(struct plan *plan, uint32_t slice, uint32_t edge)
{
	const server *slots = &plan->slots[slice * CROSSING_SLOTS];

	return (struct ends){ plan->ways[slice][edge], slots[crossing_edges[edge][0]],
			      slots[crossing_edges[edge][1]] };
}

/* Ways of a slice that have a link which is wanted beyond what there is. */
static uint8_t overused_ways(const struct route *route, uint32_t slice)
{
	uint8_t count = 0;

	for (uint32_t at = 0; at < CROSSING_EDGES * CROSSING_WIDE; at++) {
		struct ends ends = ends_of(route->plan, slice, at / CROSSING_WIDE);

		count += overused(route, &ends.ways[at % CROSSING_WIDE], ends.from, ends.to);
	}
	return count;
}

/* Ways of a slice that has none, or new ones for those that overlap with others. */
static bool route_slice(struct route *route, uint32_t slice)
{
	for (uint32_t at = 0; at < CROSSING_EDGES * CROSSING_WIDE; at++) {
		struct ends ends = ends_of(route->plan, slice, at / CROSSING_WIDE);
		struct way *way = &ends.ways[at % CROSSING_WIDE];

		if (route->plan->routed[slice]) {
			if (!overused(route, way, ends.from, ends.to))
				continue;
			use(route, way, ends.from, ends.to, -1);
		}
		if (!find(route, ends.from, ends.to, way))
			return false;
		use(route, way, ends.from, ends.to, 1);
	}
	route->plan->routed[slice] = true;
	return true;
}

uint32_t crossing_route(const struct pod *pod, struct plan *plan)
{
	static struct route route;

	route = (struct route){ .pod = pod, .plan = plan, .pressure = PRESSURE };
	memset(plan->used, 0, sizeof(plan->used));
	memset(plan->bad, 0, sizeof(plan->bad));
	for (uint32_t at = 0; at < plan->slices * CROSSING_EDGES * CROSSING_WIDE; at++) {
		uint32_t slice = at / (CROSSING_EDGES * CROSSING_WIDE);
		struct ends ends = ends_of(plan, slice, at / CROSSING_WIDE % CROSSING_EDGES);

		if (plan->routed[slice])
			use(&route, &ends.ways[at % CROSSING_WIDE], ends.from, ends.to, 1);
	}
	for (uint32_t round = 0; round < ROUNDS; round++, route.pressure *= RISE) {
		for (uint32_t slice = 0; slice < plan->slices; slice++)
			if (!route_slice(&route, slice)) {
				plan->bad[slice] = UINT8_MAX;
				return UINT32_MAX;
			}
		if (!route.over)
			break;
		hold_grudges(&route);
	}
	for (uint32_t slice = 0; slice < plan->slices; slice++)
		plan->bad[slice] = overused_ways(&route, slice);
	return route.over;
}

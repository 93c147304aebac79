// SPDX-License-Identifier: LGPL-2.1-or-later
/* Routes by negotiated congestion. */
#include <string.h>

#include "../util/shortest.h"
#include "routes.h"

#define ROUNDS 12
#define HOP 64u /* price of one hop */
#define GRUDGE 40u /* price added for each round in which a link was overloaded */
#define PRESSURE 128u /* price per unit of overload, of 256; grows by two fifths each round */

static void charge(struct routes_work *work, const struct route *route, int32_t units)
{
	for (uint32_t hop = 0; hop < route->hops; hop++)
		work->used[route->sites[hop]][route->sites[hop + 1]] += (uint32_t)units;
}

static bool overlaps(const struct net *net, const struct routes_work *work,
		     const struct route *route)
{
	for (uint32_t hop = 0; hop < route->hops; hop++) {
		uint32_t from = route->sites[hop], to = route->sites[hop + 1];

		if (work->used[from][to] > net->room[from][to])
			return true;
	}
	return false;
}

static uint32_t price(const struct net *net, const struct routes_work *work, uint32_t from,
		      uint32_t to, uint32_t units, uint32_t pressure)
{
	uint32_t wanted = work->used[from][to] + units;
	uint32_t excess = wanted > net->room[from][to] ? wanted - net->room[from][to] : 0;

	return (HOP + work->grudge[from][to]) * (256 + pressure * excess) / 256;
}

/* Find the cheapest path at the prices of this round. Returns its price; UINT32_MAX: none. */
static uint32_t route_one(const struct net *net, const struct routes_work *work,
			  struct route *route, uint32_t pressure)
{
	struct shortest search;
	uint32_t at;

	shortest_begin(&search, route->from);
	while ((at = shortest_next(&search)) != route->to) {
		if (at == SHORTEST_NONE)
			return UINT32_MAX;
		if (net->stops >> at & 1 && at != route->from)
			continue;
		for (uint64_t left = net->out[at] & ~search.done; left; left &= left - 1) {
			uint32_t to = net_first(left);

			shortest_reach(&search, at, to,
				       search.cost[at] +
					       price(net, work, at, to, route->units, pressure));
		}
	}
	route->hops = (uint8_t)shortest_trace(&search, route->from, route->to, route->sites);
	return search.cost[route->to];
}

/* Route in the band where the path is cheapest. */
static bool route_best(const struct net *nets, uint32_t bands, const struct routes_work *work,
		       struct route *route, uint32_t pressure)
{
	uint32_t least = UINT32_MAX;
	struct route best;

	if (bands == 1)
		return route_one(nets, work, route, pressure) != UINT32_MAX;
	best = *route;
	for (uint32_t band = 0; band < bands; band++) {
		uint32_t cost = route_one(&nets[band], &work[band], route, pressure);

		if (cost >= least)
			continue;
		least = cost;
		best = *route;
		best.band = (uint8_t)band;
	}
	*route = best;
	return least != UINT32_MAX;
}

/* Raise the price of each overloaded link. Returns whether there is one. */
static bool resent(const struct net *net, struct routes_work *work)
{
	bool clash = false;

	for (uint32_t from = 0; from < net->sites; from++) {
		for (uint64_t left = net->out[from]; left; left &= left - 1) {
			uint32_t to = net_first(left);

			if (work->used[from][to] <= net->room[from][to])
				continue;
			work->grudge[from][to] += GRUDGE;
			clash = true;
		}
	}
	return clash;
}

bool lm_routes_negotiate(const struct net *nets, uint32_t bands, struct routes *routes,
			 struct routes_work *work)
{
	uint32_t pressure = PRESSURE;

	memset(work, 0, bands * sizeof(*work));
	for (uint32_t round = 0; round < ROUNDS; round++) {
		bool clash = false;

		for (uint32_t at = 0; at < routes->count; at++) {
			struct route *route = &routes->list[at];

			if (round) {
				if (!overlaps(&nets[route->band], &work[route->band], route))
					continue;
				charge(&work[route->band], route, -(int32_t)route->units);
			}
			if (!route_best(nets, bands, work, route, pressure))
				return false;
			charge(&work[route->band], route, route->units);
		}
		for (uint32_t band = 0; band < bands; band++)
			clash |= resent(&nets[band], &work[band]);
		if (!clash)
			return true;
		pressure += pressure * 2 / 5;
	}
	return false;
}

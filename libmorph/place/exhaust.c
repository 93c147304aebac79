// SPDX-License-Identifier: LGPL-2.1-or-later
/* Exhaustive search for routes. If it finds none, none exist. */
#include <string.h>

#include "routes.h"

struct exhaust {
	struct net *nets;
	uint32_t bands;
	struct routes *routes;
	uint64_t *steps;
	bool routed[PATTERN_DEMANDS];
};

/* A partial route. The search chooses the next route when this one is complete. */
struct way {
	struct route *route;
	const struct route *before; /* the route before it if that has the same ends, or NULL */
	uint32_t hops; /* hops of the complete route */
	uint8_t left[NET_SITES]; /* least hops to its end */
};

static enum routes_verdict next_route(struct exhaust *exhaust);

/*
 * @tied: so far it equals the route before it. Routes with the same ends are interchangeable, so
 * they are in order of hops and then of servers.
 */
static enum routes_verdict walk(struct exhaust *exhaust, struct way *way, uint32_t hop,
				uint64_t visited, bool tied)
{
	struct route *route = way->route;
	struct net *net = &exhaust->nets[route->band];
	uint32_t at = route->sites[hop], least = 0;

	if (at == route->to) {
		route->hops = (uint8_t)hop;
		return next_route(exhaust);
	}
	if (hop && net->stops >> at & 1)
		return ROUTES_NONE;
	if (tied)
		least = way->before->sites[hop + 1];
	for (uint64_t left = net->out[at] & ~visited; left; left &= left - 1) {
		uint32_t to = net_first(left);
		enum routes_verdict verdict;

		if (net->room[at][to] < route->units || way->left[to] == NET_APART ||
		    hop + 1 + way->left[to] > way->hops ||
		    (to == route->to && hop + 1 < way->hops) || to < least)
			continue;
		route->sites[hop + 1] = (uint8_t)to;
		lm_net_take(net, at, to, route->units);
		verdict = walk(exhaust, way, hop + 1, visited | 1ULL << to, tied && to == least);
		lm_net_take(net, at, to, -(int32_t)route->units);
		if (verdict != ROUTES_NONE)
			return verdict;
	}
	return ROUTES_NONE;
}

/* Whether the links of each server suffice for the circuits that begin and end there. */
static bool sites_suffice(const struct exhaust *exhaust)
{
	const struct routes *routes = exhaust->routes;
	int32_t out[NET_SITES] = { 0 }, in[NET_SITES] = { 0 };

	for (uint32_t at = 0; at < routes->count; at++) {
		if (exhaust->routed[at])
			continue;
		out[routes->list[at].from] += routes->list[at].units;
		in[routes->list[at].to] += routes->list[at].units;
	}
	for (uint32_t site = 0; site < exhaust->nets->sites; site++)
		if (!net_suffices(exhaust->nets, exhaust->bands, site, out[site], in[site]))
			return false;
	return true;
}

/* Hops from each server to @end, in the band where they are fewest. */
static void measure_to(const struct exhaust *exhaust, uint32_t end, uint8_t hops[NET_SITES])
{
	uint8_t other[NET_SITES];

	lm_net_measure_to(exhaust->nets, end, hops);
	for (uint32_t band = 1; band < exhaust->bands; band++) {
		lm_net_measure_to(&exhaust->nets[band], end, other);
		for (uint32_t site = 0; site < NET_SITES; site++)
			hops[site] = other[site] < hops[site] ? other[site] : hops[site];
	}
}

/*
 * Choose the longest route, because it has the fewest alternatives. Returns the links that remain
 * if all other routes are shortest, negative if they do not fit. @longest: hops of the chosen
 * route.
 */
static int64_t choose(const struct exhaust *exhaust, uint32_t *chosen, uint32_t *longest)
{
	const struct routes *routes = exhaust->routes;
	int64_t spare = 0;

	for (uint32_t band = 0; band < exhaust->bands; band++)
		spare += exhaust->nets[band].room_total;
	*chosen = routes->count;
	for (uint32_t end = 0; end < exhaust->nets->sites; end++) {
		uint8_t hops[NET_SITES];
		bool measured = false;

		for (uint32_t at = 0; at < routes->count; at++) {
			const struct route *route = &routes->list[at];

			if (exhaust->routed[at] || route->to != end)
				continue;
			if (!measured)
				measure_to(exhaust, end, hops);
			measured = true;
			if (hops[route->from] == NET_APART)
				return -1;
			spare -= (int64_t)route->units * hops[route->from];
			if (*chosen < routes->count && hops[route->from] <= *longest)
				continue;
			*longest = hops[route->from];
			*chosen = at;
		}
	}
	return spare;
}

/* Whether an earlier band has the same capacity everywhere. It then gives the same results. */
static bool band_alike(const struct exhaust *exhaust, uint32_t band)
{
	for (uint32_t other = 0; other < band; other++)
		if (!memcmp(exhaust->nets[other].room, exhaust->nets[band].room,
			    sizeof(exhaust->nets->room)))
			return true;
	return false;
}

/* Route the chosen circuit in a band, in at most @longest hops. */
static enum routes_verdict walk_band(struct exhaust *exhaust, uint32_t chosen, uint32_t band,
				     uint32_t longest)
{
	struct route *route = &exhaust->routes->list[chosen];
	struct way way = { .route = route };
	enum routes_verdict verdict = ROUTES_NONE;

	lm_net_measure_to(&exhaust->nets[band], route->to, way.left);
	if (way.left[route->from] == NET_APART)
		return ROUTES_NONE;
	route->band = (uint8_t)band;
	route->sites[0] = route->from;
	way.hops = way.left[route->from];
	if (chosen && route[-1].from == route->from && route[-1].to == route->to) {
		way.before = &route[-1];
		if (way.hops < way.before->hops)
			way.hops = way.before->hops;
	}
	for (; verdict == ROUTES_NONE && way.hops <= longest; way.hops++)
		verdict = walk(exhaust, &way, 0, 1ULL << route->from,
			       way.before && way.hops == way.before->hops);
	return verdict;
}

static enum routes_verdict next_route(struct exhaust *exhaust)
{
	uint32_t chosen, longest = 0, most = exhaust->nets->sites - 1;
	int64_t spare = choose(exhaust, &chosen, &longest);
	enum routes_verdict verdict = ROUTES_NONE;

	if (chosen == exhaust->routes->count && spare >= 0)
		return ROUTES_FOUND;
	if (!*exhaust->steps)
		return ROUTES_UNDECIDED;
	--*exhaust->steps;
	if (spare < 0 || !sites_suffice(exhaust))
		return ROUTES_NONE;
	longest += (uint32_t)(spare / exhaust->routes->list[chosen].units);
	exhaust->routed[chosen] = true;
	for (uint32_t band = 0; verdict == ROUTES_NONE && band < exhaust->bands; band++)
		if (!band_alike(exhaust, band))
			verdict = walk_band(exhaust, chosen, band, longest < most ? longest : most);
	exhaust->routed[chosen] = false;
	return verdict;
}

enum routes_verdict lm_routes_exhaust(struct net *nets, uint32_t bands, struct routes *routes,
				      uint64_t *steps)
{
	struct exhaust exhaust = { .nets = nets, .bands = bands, .routes = routes, .steps = steps };

	return next_route(&exhaust);
}

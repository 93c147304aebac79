// SPDX-License-Identifier: LGPL-2.1-or-later
/* Routes by looking at all ways; where there are none it says so and is right. */
#include <string.h>

#include "routes.h"

struct exhaust {
	struct net *net;
	struct routes *routes;
	uint64_t *steps;
	bool routed[PATTERN_DEMANDS];
};

/* A route on its way; the routes after it are chosen once it has arrived. */
struct way {
	struct route *route;
	uint32_t hops; /* that it is to have */
	uint8_t left[NET_SITES]; /* hops to its end at least */
};

static enum routes_verdict next_route(struct exhaust *exhaust);

static enum routes_verdict walk(struct exhaust *exhaust, struct way *way, uint32_t hop,
				uint64_t visited)
{
	struct route *route = way->route;
	struct net *net = exhaust->net;
	uint32_t at = route->sites[hop];

	if (at == route->to) {
		route->hops = (uint8_t)hop;
		return next_route(exhaust);
	}
	for (uint64_t left = net->out[at] & ~visited; left; left &= left - 1) {
		uint32_t to = net_first(left);
		enum routes_verdict verdict;

		if (net->room[at][to] < route->units || way->left[to] == NET_APART ||
		    hop + 1 + way->left[to] > way->hops || (to == route->to && hop + 1 < way->hops))
			continue;
		route->sites[hop + 1] = (uint8_t)to;
		lm_net_take(net, at, to, route->units);
		verdict = walk(exhaust, way, hop + 1, visited | 1ULL << to);
		lm_net_take(net, at, to, -(int32_t)route->units);
		if (verdict != ROUTES_NONE)
			return verdict;
	}
	return ROUTES_NONE;
}

/* Whether the links of each site suffice for what begins and ends there. */
static bool sites_suffice(const struct exhaust *exhaust)
{
	const struct routes *routes = exhaust->routes;
	const struct net *net = exhaust->net;
	int32_t out[NET_SITES] = { 0 }, in[NET_SITES] = { 0 };

	for (uint32_t at = 0; at < routes->count; at++) {
		if (exhaust->routed[at])
			continue;
		out[routes->list[at].from] += routes->list[at].units;
		in[routes->list[at].to] += routes->list[at].units;
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
 * Choose the route that is longest, which has the fewest ways, and measure what is left to
 * spare if all others go straight: negative where they can't.
 */
static int64_t choose(const struct exhaust *exhaust, uint32_t *chosen, uint8_t left[NET_SITES])
{
	const struct routes *routes = exhaust->routes;
	int64_t spare = exhaust->net->room_total;
	uint32_t longest = 0;

	*chosen = routes->count;
	for (uint32_t end = 0; end < exhaust->net->sites; end++) {
		uint8_t hops[NET_SITES];
		bool measured = false;

		for (uint32_t at = 0; at < routes->count; at++) {
			const struct route *route = &routes->list[at];

			if (exhaust->routed[at] || route->to != end)
				continue;
			if (!measured)
				lm_net_measure_to(exhaust->net, end, hops);
			measured = true;
			if (hops[route->from] == NET_APART)
				return -1;
			spare -= (int64_t)route->units * hops[route->from];
			if (*chosen < routes->count && hops[route->from] <= longest)
				continue;
			longest = hops[route->from];
			*chosen = at;
			memcpy(left, hops, sizeof(hops));
		}
	}
	return spare;
}

static enum routes_verdict next_route(struct exhaust *exhaust)
{
	struct way way;
	uint32_t chosen, longest;
	int64_t spare = choose(exhaust, &chosen, way.left);
	enum routes_verdict verdict = ROUTES_NONE;

	if (chosen == exhaust->routes->count && spare >= 0)
		return ROUTES_FOUND;
	if (!*exhaust->steps)
		return ROUTES_UNDECIDED;
	--*exhaust->steps;
	if (spare < 0 || !sites_suffice(exhaust))
		return ROUTES_NONE;
	way.route = &exhaust->routes->list[chosen];
	way.hops = way.left[way.route->from];
	way.route->sites[0] = way.route->from;
	longest = way.hops + (uint32_t)(spare / way.route->units);
	if (longest > exhaust->net->sites - 1)
		longest = exhaust->net->sites - 1;
	exhaust->routed[chosen] = true;
	for (; verdict == ROUTES_NONE && way.hops <= longest; way.hops++)
		verdict = walk(exhaust, &way, 0, 1ULL << way.route->from);
	exhaust->routed[chosen] = false;
	return verdict;
}

enum routes_verdict lm_routes_exhaust(struct net *net, struct routes *routes, uint64_t *steps)
{
	struct exhaust exhaust = { .net = net, .routes = routes, .steps = steps };

	return next_route(&exhaust);
}

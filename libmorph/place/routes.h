/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Routes for circuits between sites, all at once within the capacities. If a fibre carries several
 * wavelengths, each *band* of them has its own network of free capacity. Nothing converts
 * wavelengths, so a route stays in one band from end to end.
 */
#ifndef LM_PLAN_ROUTES_H
#define LM_PLAN_ROUTES_H

#include "../util/request.h"
#include "net.h"
#include "pattern.h"

/* Circuits with the same route, and the sites of the route, including both ends. */
struct route {
	uint8_t from, to; /* sites */
	uint8_t units;
	uint8_t band;
	uint8_t hops;
	uint8_t sites[NET_SITES]; /* hops + 1 of them */
};

struct routes {
	uint32_t count;
	struct route list[PATTERN_DEMANDS];
};

/* Add @units circuits from one site to another, in groups of @each with the same route. */
static inline void lm_routes_add(struct routes *routes, uint32_t from, uint32_t to, uint32_t units,
				 uint32_t each)
{
	for (uint32_t at = 0; at < units; at += each)
		routes->list[routes->count++] = (struct route){ .from = (uint8_t)from,
								.to = (uint8_t)to,
								.units = (uint8_t)each };
}

/* Memory of lm_routes_negotiate(), for each band. */
struct routes_work {
	uint32_t used[NET_SITES][NET_SITES];
	uint16_t grudge[NET_SITES][NET_SITES];
};

/*
 * Route everything by negotiated congestion: overlapping routes are routed again at prices that
 * rise from round to round. McMurchie and Ebeling, PathFinder (FPGA 1995). It mostly finds routes;
 * a failure proves nothing. A route takes the band in which it is cheapest. O(rounds * routes *
 * bands * sites * links of a site).
 */
bool lm_routes_negotiate(const struct net *nets, uint32_t bands, struct routes *routes,
			 struct routes_work *work);

enum routes_verdict {
	ROUTES_NONE, /* none exist: the search was complete */
	ROUTES_FOUND,
	ROUTES_UNDECIDED, /* out of steps */
};

/*
 * Search all routes in all bands. @nets change during the search; @steps counts down. Routes with
 * the same ends must be adjacent in the list. Exponential.
 */
enum routes_verdict lm_routes_exhaust(struct net *nets, uint32_t bands, struct routes *routes,
				      uint64_t *steps);

#endif /* LM_PLAN_ROUTES_H */

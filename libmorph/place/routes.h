/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Routes for circuits between sites, all of them at once within the room that there is. Where a
 * fibre carries several wavelengths there is a network of each, its *bands*, with the room that
 * is left in that wavelength: nothing converts, so a route stays in one band from end to end.
 */
#ifndef LM_PLAN_ROUTES_H
#define LM_PLAN_ROUTES_H

#include "../util/request.h"
#include "net.h"
#include "pattern.h"

/* Circuits that go the same way, and the sites of that way, both ends among them. */
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

/* @units circuits from one site to another, @each of which go together. */
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
 * Route everything by negotiated congestion: what overlaps is routed anew at a price that
 * rises from round to round. McMurchie and Ebeling, PathFinder (FPGA 1995). It finds routes
 * mostly, proves nothing otherwise. A route takes the band in which it is cheapest.
 * O(rounds * routes * bands * sites * links of a site).
 */
bool lm_routes_negotiate(const struct net *nets, uint32_t bands, struct routes *routes,
			 struct routes_work *work);

enum routes_verdict {
	ROUTES_NONE, /* there are none: every way was tried */
	ROUTES_FOUND,
	ROUTES_UNDECIDED, /* out of steps */
};

/*
 * Search all ways in all bands. @nets are changed meanwhile; @steps counts down. Routes with the
 * same ends stand side by side in the list. Exponential.
 */
enum routes_verdict lm_routes_exhaust(struct net *nets, uint32_t bands, struct routes *routes,
				      uint64_t *steps);

#endif /* LM_PLAN_ROUTES_H */

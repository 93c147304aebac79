/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Routes for circuits between sites, all of them at once within the room that there is. */
#ifndef LM_PLAN_ROUTES_H
#define LM_PLAN_ROUTES_H

#include "net.h"
#include "pattern.h"

/* Circuits that go the same way, and the sites of that way, both ends among them. */
struct route {
	uint8_t from, to; /* sites */
	uint8_t units;
	uint8_t hops;
	uint8_t sites[NET_SITES]; /* hops + 1 of them */
};

struct routes {
	uint32_t count;
	struct route list[PATTERN_DEMANDS];
};

/* Memory of lm_routes_negotiate(). */
struct routes_work {
	uint32_t used[NET_SITES][NET_SITES];
	uint16_t grudge[NET_SITES][NET_SITES];
};

/*
 * Route everything by negotiated congestion: what overlaps is routed anew at a price that
 * rises from round to round. McMurchie and Ebeling, PathFinder (FPGA 1995). It finds routes
 * mostly, proves nothing otherwise. O(rounds * routes * sites * links of a site).
 */
bool lm_routes_negotiate(const struct net *net, struct routes *routes, struct routes_work *work);

enum routes_verdict {
	ROUTES_NONE, /* there are none: every way was tried */
	ROUTES_FOUND,
	ROUTES_UNDECIDED, /* out of steps */
};

/* Search all ways. @net is changed meanwhile; @steps counts down. Exponential. */
enum routes_verdict lm_routes_exhaust(struct net *net, struct routes *routes, uint64_t *steps);

#endif /* LM_PLAN_ROUTES_H */

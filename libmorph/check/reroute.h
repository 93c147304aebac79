/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A rack whose running circuits are routed again, together with the request. */
#ifndef CHECK_REROUTE_H
#define CHECK_REROUTE_H

#include "defrag.h"
#include "search.h"

#define MOST_FLOWS 4096

/* A circuit to route. */
struct flow {
	uint32_t from, to; /* servers */
	uint64_t through; /* servers */
	bool runs;
	bool led, moved;
	uint32_t hops, was_hops;
	uint8_t way[MOST_SEATS], was[MOST_SEATS];
};

struct reroute {
	struct defrag *defrag;
	uint64_t through; /* of the request */
	uint32_t running, count;
	struct flow *flows;
	uint32_t limit; /* limit of circuits that can take another path; NONE: all */
	uint32_t metrics;
	int64_t *slack; /* by metric */
	int64_t *apart; /* by metric and pair of servers */
	int64_t *left; /* by depth and metric */
};

static inline int64_t apart_by(const struct reroute *reroute, uint32_t metric, uint32_t from,
			       uint32_t to)
{
	return reroute->apart[((size_t)metric * MOST_SEATS + from) * MOST_SEATS + to];
}

/*
 * Route all demands of an embedding together with running circuits. This is search->route of a
 * struct reroute.
 */
enum answer ck_reroute_all(struct search *search);

#endif /* CHECK_REROUTE_H */

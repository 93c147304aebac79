/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Stitching by the published integer program with its objective, by COIN-OR's CBC. */
#ifndef LM_BENCH_PUBLISHED_PLACE_H
#define LM_BENCH_PUBLISHED_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "../place/net.h"
#include "../place/pattern.h"
#include "../place/routes.h"
#include "program.h"

struct published_place {
	const struct net *links; /* capacity of each empty link */
	const struct net *left; /* remaining capacity */
	const struct pattern *pattern; /* its units only, at most one between two slots */
	uint64_t free; /* sites that can take one slot each */
	uint32_t ways_shortest; /* number of shortest paths examined for each pair of sites */
	uint32_t ways_kept; /* number of them kept, those with the least load */
	uint32_t nodes; /* limit of the search */
	bool no_cuts; /* faster, with a possibly lower bound */
};

/* A plan, and proven facts about it. */
struct published_plan {
	bool found;
	bool proven; /* no choice of these paths has a lower load */
	uint32_t load; /* load of the fullest link, including earlier load */
	uint32_t bound; /* proven lower bound with these paths */
	uint8_t seats[PROGRAM_SLOTS]; /* the site of each slot */
	struct routes routes;
};

/*
 * Morphlux (arXiv 2508.03674v3), Algorithm 1: minimise the load of the fullest link. Each pair of
 * sites with neighbouring slots uses one of the paths chosen in advance. The program does not limit
 * the load by capacities, so a plan exists whenever enough sites do. Here its products are linear
 * and tight (program.h). This changes neither its plans nor their objective, and adds no bound. The
 * paper does not state which of the shortest paths it keeps; the authors' code does: those with the
 * least load. Here this is the load of the fullest link, then of all links, then the length.
 *
 * Deterministic: nodes and not time limit the search.
 */
void published_place(const struct published_place *place, struct published_plan *plan);

#endif /* LM_BENCH_PUBLISHED_PLACE_H */

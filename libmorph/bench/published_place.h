/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Stitching by the published integer program and with its objective, by COIN-OR's CBC. */
#ifndef LM_BENCH_PUBLISHED_PLACE_H
#define LM_BENCH_PUBLISHED_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "../place/net.h"
#include "../place/pattern.h"
#include "../place/routes.h"
#include "program.h"

struct published_place {
	const struct net *links; /* what each link has room for when nothing is on it: its capacity */
	const struct net *left; /* what it has room for now */
	const struct pattern *pattern; /* its units only, one from slot to slot at most */
	uint64_t free; /* sites that may take a slot, one each */
	uint32_t ways_shortest; /* of those from one site to another, so many shortest are looked at */
	uint32_t ways_kept; /* and so many of them may be taken, those with least on their links */
	uint32_t nodes; /* of the search, after which it is ended */
	bool no_cuts; /* sooner, with a bound that may be lower */
};

/* A plan, and what of it is known. */
struct published_plan {
	bool found;
	bool proven; /* none of these ways loads the fullest link less */
	uint32_t load; /* of the fullest link, what was on it before included */
	uint32_t bound; /* proven: less is not possible by these ways */
	uint8_t seats[PROGRAM_SLOTS]; /* the site of each slot */
	struct routes routes;
};

/*
 * Morphlux (arXiv 2508.03674v3), Algorithm 1: the load of the fullest link is made least, each pair of
 * sites whose slots are neighbours takes one of the ways that were chosen beforehand, and
 * nothing is held against what links have room for, so that there is a plan whenever there are
 * sites enough. Its products are linear and tight here (program.h), which leaves its plans
 * and their worth as they are; no bound is given that it does not have. Which of the shortest
 * ways are kept is told by the authors' code alone: those with least load, taken here as that of
 * the fullest link, then of all together, then the shorter way.
 *
 * Deterministic: the search ends by nodes and not by time.
 */
void published_place(const struct published_place *place, struct published_plan *plan);

#endif /* LM_BENCH_PUBLISHED_PLACE_H */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Stitching by an integer program, with COIN-OR's CBC: what lm_stitch() is held against. */
#ifndef LM_BENCH_EXACT_PLACE_H
#define LM_BENCH_EXACT_PLACE_H

#include <stdint.h>

#include "../place/net.h"
#include "../place/pattern.h"
#include "../place/routes.h"

enum exact_answer {
	EXACT_NO, /* proven */
	EXACT_YES,
	EXACT_GAVE_UP, /* out of time */
};

struct exact_place {
	const struct net *net;
	const struct pattern *pattern; /* its units only */
	uint64_t free; /* sites that may take a slot, one each */
	/* A plan to begin from: the site of each slot, and routes; or NULL. */
	const uint8_t *seats;
	const struct routes *routes;
	double seconds; /* of processor time for each program, at most */
};

/*
 * Is there a plan? Which slot goes to which site is binary, how many circuits that begin at a site
 * go over a link is whole, and no link has more than it has room for. The published program
 * (Morphlux, Algorithm 1) makes the load of the fullest link least and never holds it against
 * the fibres; as each load here is that of a whole link, its optimum is within the fibres if
 * and only if there is a plan, and that is what is asked, without an objective: published_place.h
 * has it with one. What it has as a product is linear here and tight (program.h), so that distances and all cuts follow for
 * it, too. Without a plan to begin from circuits may be split first: where even so there is no plan
 * that is soon known, and else it takes a while. @took_us: processor time of the solver alone.
 */
enum exact_answer exact_place(const struct exact_place *place, double *took_us);

#endif /* LM_BENCH_EXACT_PLACE_H */

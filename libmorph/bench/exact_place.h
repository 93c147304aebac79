/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Stitching by an integer program with COIN-OR's CBC, as a reference for lm_stitch(). */
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
	uint64_t free; /* sites that can take one slot each */
	/* An initial plan: the site of each slot, and routes; or NULL. */
	const uint8_t *seats;
	const struct routes *routes;
	double seconds; /* limit of processor time for each program */
};

/*
 * Whether a plan exists. The site of each slot is binary. The number of circuits that begin at a
 * site and use a link is integral, and no link exceeds its capacity.
 * The published program (Morphlux, Algorithm 1) minimises the load of the fullest link, without
 * capacities. Each load there is that of a whole link. So its optimum fits into the fibres exactly
 * if a plan exists. This program asks only for existence, without an objective; published_place.h
 * has the objective.
 * The published products are linear and tight here (program.h), so that distances and all cuts
 * follow for it too. Without an initial plan, circuits can be split first. If even then no plan
 * exists, the answer comes soon; otherwise it takes longer. @took_us: processor time of the solver
 * alone.
 */
enum exact_answer exact_place(const struct exact_place *place, double *took_us);

#endif /* LM_BENCH_EXACT_PLACE_H */

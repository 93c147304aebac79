/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A request as placement sees it: slots, each of which gets a site, and demands, which are the
 * circuits from one slot to another.
 */
#ifndef LM_PLAN_PATTERN_H
#define LM_PLAN_PATTERN_H

#include "net.h"

#define PATTERN_SLOTS NET_SITES
#define PATTERN_DEMANDS (PATTERN_SLOTS * (PATTERN_SLOTS - 1))

struct demand {
	uint8_t from, to; /* slots */
	uint8_t units; /* circuits */
};

/* The search gives one slot after the other a site. */
struct pattern_step {
	uint8_t slot;
	uint32_t units; /* to and from the slots before it */
	uint64_t before; /* slots before it that share a demand with it */
	uint64_t below; /* slots before it that must get a lower site, by symmetry */
};

struct pattern {
	uint32_t slots;
	uint32_t demands_count;
	uint32_t units_total;
	uint8_t units[PATTERN_SLOTS][PATTERN_SLOTS]; /* [from][to] */
	uint64_t near[PATTERN_SLOTS]; /* slots with a demand to or from it */
	/* Set by lm_pattern_arrange(). */
	struct pattern_step steps[PATTERN_SLOTS];
	struct demand demands[PATTERN_DEMANDS];
	/* Set by lm_pattern_prepare(). */
	/* Least and most units that leave a set of n slots. If unknown, 0 and the total. */
	uint32_t least_out[PATTERN_SLOTS + 1];
	uint32_t most_out[PATTERN_SLOTS + 1];
};

/* Begin a pattern of @slots slots, 1 to PATTERN_SLOTS, without demands. */
void lm_pattern_init(struct pattern *pattern, uint32_t slots);

/* Add @units circuits from one slot to another. A pair has at most 255. */
void lm_pattern_add(struct pattern *pattern, uint32_t from, uint32_t to, uint32_t units);

/* Add @units circuits in both directions. */
void lm_pattern_join(struct pattern *pattern, uint32_t slot, uint32_t other, uint32_t units);

/* A torus of x by y by z slots: slot (k * y + j) * x + i. An extent of 2 gets one link, not two. */
void lm_pattern_torus(struct pattern *pattern, uint32_t x, uint32_t y, uint32_t z, uint32_t units);

/*
 * Order the slots and find symmetries, so that the search skips equivalent embeddings: Grochow and
 * Kellis, Network Motif Discovery Using Subgraph Enumeration and Symmetry-Breaking (RECOMB 2007).
 */
void lm_pattern_arrange(struct pattern *pattern);

/*
 * lm_pattern_arrange(), and bounds of the units that leave a set of slots. O(2^slots) up to 16
 * slots.
 */
void lm_pattern_prepare(struct pattern *pattern);

#endif /* LM_PLAN_PATTERN_H */

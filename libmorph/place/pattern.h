/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is to be placed, as placement sees it: slots, one for each site that it will take,
 * and demands, the circuits that lead from one slot to another.
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

/* One slot after the other is given a site. */
struct pattern_step {
	uint8_t slot;
	uint32_t units; /* to and from those before it */
	uint64_t before; /* slots before it that it is near to */
	uint64_t below; /* slots before it whose sites may be taken to be lower than its */
};

struct pattern {
	uint32_t slots;
	uint32_t demands_count;
	uint32_t units_total;
	uint8_t units[PATTERN_SLOTS][PATTERN_SLOTS]; /* [from][to] */
	uint64_t near[PATTERN_SLOTS]; /* slots with a demand to or from it */
	/* By lm_pattern_arrange(): */
	struct pattern_step steps[PATTERN_SLOTS];
	struct demand demands[PATTERN_DEMANDS];
	/* By lm_pattern_prepare(): */
	/* Least and most units that leave any so many slots; where not known 0 and the total. */
	uint32_t least_out[PATTERN_SLOTS + 1];
	uint32_t most_out[PATTERN_SLOTS + 1];
};

/* A pattern of @slots slots, 1 to PATTERN_SLOTS, that demands nothing. */
void lm_pattern_init(struct pattern *pattern, uint32_t slots);

/* @units more circuits from one slot to another; 255 at most. */
void lm_pattern_add(struct pattern *pattern, uint32_t from, uint32_t to, uint32_t units);

/* The same, and as many back. */
void lm_pattern_join(struct pattern *pattern, uint32_t slot, uint32_t other, uint32_t units);

/* A torus of x by y by z slots, a dimension of two joined once: slot (k * y + j) * x + i. */
void lm_pattern_torus(struct pattern *pattern, uint32_t x, uint32_t y, uint32_t z, uint32_t units);

/*
 * Order the slots and find what is alike, not to search it twice: Grochow and Kellis, Network
 * Motif Discovery Using Subgraph Enumeration and Symmetry-Breaking (RECOMB 2007).
 */
void lm_pattern_arrange(struct pattern *pattern);

/* The same, and bound what leaves so many slots. O(2^slots) up to 16 slots. */
void lm_pattern_prepare(struct pattern *pattern);

#endif /* LM_PLAN_PATTERN_H */

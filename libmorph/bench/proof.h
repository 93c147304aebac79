/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks an answer of stitching with the search of the checker, and without code of planners. */
#ifndef LM_BENCH_PROOF_H
#define LM_BENCH_PROOF_H

#include <stdbool.h>
#include <stdint.h>

#define PROOF_SITES 16
#define PROOF_SLOTS 16
#define PROOF_BANDS 4

/* The request: circuits between slots, in a rack with capacities of links in each band. */
struct proof_rack {
	uint32_t sites, bands, slots;
	uint64_t free; /* sites that can take one slot each */
	uint8_t room[PROOF_BANDS][PROOF_SITES][PROOF_SITES]; /* [from][to] */
	uint8_t units[PROOF_SLOTS][PROOF_SLOTS]; /* [from][to] */
};

/* Circuits with the same path, which has hops + 1 sites including both ends. */
struct proof_way {
	uint32_t units, band, hops;
	const uint8_t *sites;
};

/* Whether a plan, with a site for each slot and paths, has all circuits and fits. */
bool proof_of_plan(const struct proof_rack *rack, const uint8_t *seats,
		   const struct proof_way *ways, uint32_t count);

/* A refusal, with sets of sites. */
struct proof_refusal {
	uint32_t sets_count;
	const uint64_t *sets;
	/* Some embeddings are refused by a search for routes, not by sets or sums of distances. */
	bool searched;
	uint64_t steps; /* limit of the search */
};

enum proof {
	PROOF_HOLDS,
	PROOF_FAILS,
	PROOF_GAVE_UP, /* out of steps */
};

/*
 * Check all embeddings. Each must need more hops than the capacity, exceed one of the sets, or, if
 * the refusal has searched embeddings, have no routes.
 */
enum proof proof_of_refusal(const struct proof_rack *rack, const struct proof_refusal *refusal);

#endif /* LM_BENCH_PROOF_H */

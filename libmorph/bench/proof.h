/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Is an answer of stitching what it says? By what the checker goes through racks with, and by
 * nothing of planners.
 */
#ifndef LM_BENCH_PROOF_H
#define LM_BENCH_PROOF_H

#include <stdbool.h>
#include <stdint.h>

#define PROOF_SITES 16
#define PROOF_SLOTS 16
#define PROOF_BANDS 4

/* What was asked: circuits from slot to slot, in a rack where links have so much room in each band. */
struct proof_rack {
	uint32_t sites, bands, slots;
	uint64_t free; /* sites that may take a slot, one each */
	uint8_t room[PROOF_BANDS][PROOF_SITES][PROOF_SITES]; /* [from][to] */
	uint8_t units[PROOF_SLOTS][PROOF_SLOTS]; /* [from][to] */
};

/* Circuits that go the same way: both ends are among its hops + 1 sites. */
struct proof_way {
	uint32_t units, band, hops;
	const uint8_t *sites;
};

/* A plan: the site of each slot, and ways for all circuits. Whether it has all, and fits. */
bool proof_of_plan(const struct proof_rack *rack, const uint8_t *seats,
		   const struct proof_way *ways, uint32_t count);

/* A refusal, which names sets of sites. */
struct proof_refusal {
	uint32_t sets_count;
	const uint64_t *sets;
	/* Embeddings of which neither the sets nor sums of distances say why, but a search for their ways. */
	bool searched;
	uint64_t steps; /* that may be looked at */
};

enum proof {
	PROOF_HOLDS,
	PROOF_FAILS,
	PROOF_GAVE_UP, /* out of steps */
};

/*
 * Go through all embeddings: each must want more hops than there is room, or more out of one of
 * the sets than there is; or, where the refusal says that ways were searched, have none.
 */
enum proof proof_of_refusal(const struct proof_rack *rack, const struct proof_refusal *refusal);

#endif /* LM_BENCH_PROOF_H */

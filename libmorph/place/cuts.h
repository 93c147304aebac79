/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Cuts: sets of sites out of which there is little room. What leaves a set of sites can be
 * no more than the room of the links that leave it, wherever it goes afterwards; so an
 * embedding, or a part of one, that wants more is none.
 *
 * What wants to leave depends on the free sites in the set only. Of all sets with the same
 * free sites the one with least room says all that the others say.
 */
#ifndef LM_PLAN_CUTS_H
#define LM_PLAN_CUTS_H

#include "net.h"
#include "pattern.h"

#define CUTS 256 /* that are kept: those with least to spare */
#define CUTS_ACTIVE 32 /* of these, that parts of embeddings are held against */
#define CUT_SITES 20 /* up to which all sets of sites are looked at */
#define CUT_FREE 16 /* the same of free ones */
#define CUT_TAKES (8 * NET_SITES) /* slots that all sites together may take */

struct cut {
	uint64_t set;
	uint32_t room; /* out of the set */
	uint32_t slack; /* that an embedding leaves there at most */
};

struct cuts {
	uint32_t count, active_count;
	bool complete; /* an embedding that keeps to these keeps to all there are */
	struct cut list[CUTS];
	int16_t inside[NET_SITES][CUTS]; /* -1 where the site is in the set, else 0 */
	int16_t active_inside[NET_SITES][CUTS_ACTIVE];
	int16_t active_room[CUTS_ACTIVE];
	struct cut found[1 << CUT_FREE]; /* by the free sites in the set; while they are found */
};

/*
 * The tightest cuts for a pattern; none is active. @takes: how many slots each site may take,
 * CUT_TAKES in all at most, else there are none. O(2^sites).
 */
void lm_cuts_find(struct cuts *cuts, const struct net *net, const struct pattern *pattern,
		  const uint8_t *takes);

/*
 * Hold a whole embedding against all cuts, and make the one active that it violates most.
 * Returns whether there is one.
 */
bool lm_cuts_violated(struct cuts *cuts, const struct pattern *pattern, const uint8_t *sites);

#endif /* LM_PLAN_CUTS_H */

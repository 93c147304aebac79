/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Cuts: sets of sites with little capacity out of them. All circuits that leave a set use the links
 * out of it, so an embedding, or a part of one, that needs more is impossible.
 *
 * The circuits that leave depend only on the free sites in the set. So of all sets with the same
 * free sites, the one with the least capacity is sufficient.
 */
#ifndef LM_PLAN_CUTS_H
#define LM_PLAN_CUTS_H

#include "net.h"
#include "pattern.h"

#define CUTS 256 /* kept cuts: those with the least slack */
#define CUTS_ACTIVE 32 /* of these, tested against partial embeddings */
#define CUT_SITES 20 /* limit of sites for an enumeration of all sets */
#define CUT_FREE 16 /* limit of free sites for it */
#define CUT_TAKES (8 * NET_SITES) /* slots that all sites together can take */

struct cut {
	uint64_t set;
	uint32_t room; /* out of the set */
	uint32_t slack; /* most capacity that an embedding leaves unused there */
};

struct cuts {
	uint32_t count, active_count;
	bool complete; /* an embedding that respects these cuts respects all cuts */
	struct cut list[CUTS];
	int16_t inside[NET_SITES][CUTS]; /* -1 if the site is in the set, else 0 */
	int16_t active_inside[NET_SITES][CUTS_ACTIVE];
	int16_t active_room[CUTS_ACTIVE];
	struct cut found[1 << CUT_FREE]; /* by the free sites in the set; during the enumeration */
};

/*
 * Find the tightest cuts for a pattern; none is active. @takes: slots of each site. If their sum
 * exceeds CUT_TAKES, there are no cuts. O(2^sites).
 */
void lm_cuts_find(struct cuts *cuts, const struct net *net, const struct pattern *pattern,
		  const uint8_t *takes);

/*
 * Check a whole embedding against all cuts, and activate the cut that it violates most. Returns
 * whether there is one.
 */
bool lm_cuts_violated(struct cuts *cuts, const struct pattern *pattern, const uint8_t *sites);

#endif /* LM_PLAN_CUTS_H */

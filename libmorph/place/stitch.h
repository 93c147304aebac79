/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stitching: which free sites take the slots of a pattern, and by which ways their circuits
 * go, so that no link carries more than it has room for. Sites need not be neighbours, and may
 * take several slots, whose circuits with each other then need no way.
 */
#ifndef LM_PLAN_STITCH_H
#define LM_PLAN_STITCH_H

#include "cuts.h"
#include "net.h"
#include "pattern.h"
#include "routes.h"

enum stitch_verdict {
	STITCH_INFEASIBLE,
	STITCH_FEASIBLE,
	STITCH_UNDECIDED, /* out of steps */
};

#define STITCH_DOUBTS 64

/* An embedding: the site of each slot. */
struct embedding {
	uint8_t sites[PATTERN_SLOTS];
};

/* Memory of lm_stitch(), and after it what it found. */
struct stitch {
	const struct net *net; /* of all bands together */
	const struct net *nets;
	uint32_t bands;
	const struct pattern *pattern;
	uint8_t takes[NET_SITES]; /* slots that each site may take */
	/* Found: where everything goes. */
	struct embedding embedding;
	struct routes routes;
	/*
	 * Not found: every embedding wants more hops than there is room, or more out of one of
	 * these sets than there is, but for those whose routes have been searched in vain.
	 */
	struct cuts cuts;
	uint32_t exhausted_count;
	/* While it works. */
	bool cuts_known;
	uint32_t doubts_count;
	struct embedding doubts[STITCH_DOUBTS];
	uint64_t steps;
	uint8_t takes_yet[NET_SITES]; /* slots that each site may take besides those it has */
	bool shared; /* sites may take several */
	uint32_t units_most; /* circuits that may have the same ends */
	uint8_t units[NET_SITES][NET_SITES]; /* circuits from site to site, where they are shared */
	uint32_t least_hops; /* between two free sites */
	uint32_t limit, examined, beyond; /* hops of all circuits together */
	int16_t left[PATTERN_SLOTS + 1][CUTS_ACTIVE]; /* room of each active cut, by depth */
	net_distances distances;
	struct net sum;
	struct routes_work work[BANDS];
	struct net scratch[BANDS];
};

/**
 * lm_stitch() - embed a pattern
 * @stitch: memory, and the answer; nothing in it need be set
 * @net: what there is room for
 * @pattern: what is to be embedded, prepared
 * @free: sites that may take a slot, one each
 * @steps: how many embeddings and partial routes may be looked at, UINT64_MAX for all
 *
 * Embeddings are searched by iterative deepening over the hops that their circuits need
 * at least: Korf, Depth-First Iterative-Deepening (Artificial Intelligence 27, 1985);
 * routes first by negotiation, then, where no cut forbids them, by search. Each embedding
 * that is passed over wants more than there is by a cut, or by the sum of its distances.
 *
 * Exponential in the slots at worst. Deterministic; allocates nothing.
 *
 * Return: the verdict.
 */
enum stitch_verdict lm_stitch(struct stitch *stitch, const struct net *net,
			      const struct pattern *pattern, uint64_t free, uint64_t steps);

/**
 * lm_stitch_bands() - embed a pattern where a fibre carries several wavelengths
 * @stitch: as in lm_stitch()
 * @nets: what there is room for in each band, the same sites in all; from one site to another
 *	NET_ROOM in all bands together at most
 * @bands: how many, 1 to BANDS
 * @pattern: as in lm_stitch()
 * @free: as in lm_stitch()
 * @steps: as in lm_stitch()
 *
 * Each circuit has a route and a band of its own. Embeddings, distances and cuts are those of
 * all bands together: more than these bear no choice of bands does. That there are no
 * wavelengths, though there is room, is found by the search for routes.
 *
 * Return: the verdict; undecided, too, where there are more than PATTERN_DEMANDS circuits.
 */
enum stitch_verdict lm_stitch_bands(struct stitch *stitch, const struct net *nets, uint32_t bands,
				    const struct pattern *pattern, uint64_t free, uint64_t steps);

/* The same, where sites take several slots. @takes: by site, how many; 255 circuits lead from one to another at most. */
enum stitch_verdict lm_stitch_shared(struct stitch *stitch, const struct net *nets, uint32_t bands,
				     const struct pattern *pattern, const uint8_t *takes,
				     uint64_t steps);

#endif /* LM_PLAN_STITCH_H */

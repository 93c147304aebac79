/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stitching: assign free sites to the slots of a pattern, and routes to its circuits, within the
 * capacity of every link. Sites need not be neighbours. A site can take several slots; circuits
 * between these need no route.
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

/* Memory of lm_stitch(), and its result. */
struct stitch {
	const struct net *net; /* of all bands together */
	const struct net *nets;
	uint32_t bands;
	const struct pattern *pattern;
	uint8_t takes[NET_SITES]; /* slots that each site can take */
	/* The embedding, if found. */
	struct embedding embedding;
	struct routes routes;
	/*
	 * If not found: every embedding needs more hops than the capacity, or exceeds one of these
	 * cuts, or had no routes in the full search.
	 */
	struct cuts cuts;
	uint32_t exhausted_count;
	/* During the search. */
	bool cuts_known;
	uint32_t doubts_count;
	struct embedding doubts[STITCH_DOUBTS];
	uint64_t steps;
	uint8_t takes_yet[NET_SITES]; /* slots that each site can still take */
	bool shared; /* a site can take several slots */
	uint32_t units_most; /* most circuits with the same ends */
	uint8_t units[NET_SITES][NET_SITES]; /* circuits between sites, if shared */
	uint32_t least_hops; /* between two free sites */
	uint32_t limit, examined, beyond; /* hops of all circuits together */
	int16_t left[PATTERN_SLOTS + 1][CUTS_ACTIVE]; /* capacity of each active cut, by depth */
	net_distances distances;
	struct net sum;
	struct routes_work work[BANDS];
	struct net scratch[BANDS];
};

/**
 * lm_stitch() - embed a pattern
 * @stitch: memory and result; needs no initialisation
 * @net: the capacities
 * @pattern: the pattern, prepared
 * @free: sites that can take a slot, one each
 * @steps: limit of embeddings and partial routes; UINT64_MAX: none
 *
 * Iterative deepening over the least hops of the circuits: Korf, Depth-First Iterative-Deepening
 * (Artificial Intelligence 27, 1985). Routes come from negotiation first, then, if no cut forbids
 * them, from full search. Each rejected embedding exceeds a cut or the sum of distances.
 *
 * Exponential in the slots in the worst case. Deterministic; allocates nothing.
 *
 * Return: the verdict.
 */
enum stitch_verdict lm_stitch(struct stitch *stitch, const struct net *net,
			      const struct pattern *pattern, uint64_t free, uint64_t steps);

/**
 * lm_stitch_bands() - embed a pattern where a fibre carries several wavelengths
 * @stitch: as in lm_stitch()
 * @nets: capacities of each band, with the same sites; at most NET_ROOM between two sites in all
 * bands together
 * @bands: number of bands, 1 to BANDS
 * @pattern: as in lm_stitch()
 * @free: as in lm_stitch()
 * @steps: as in lm_stitch()
 *
 * Each circuit has its own route and band. Embeddings, distances and cuts use all bands together,
 * which bounds every choice of bands. If capacity exists but no wavelengths, the search for routes
 * finds out.
 *
 * Return: the verdict; also undecided for more than PATTERN_DEMANDS circuits.
 */
enum stitch_verdict lm_stitch_bands(struct stitch *stitch, const struct net *nets, uint32_t bands,
				    const struct pattern *pattern, uint64_t free, uint64_t steps);

/*
 * The same for sites that take several slots. @takes: number of slots by site. At most 255 circuits
 * lead from one site to another.
 */
enum stitch_verdict lm_stitch_shared(struct stitch *stitch, const struct net *nets, uint32_t bands,
				     const struct pattern *pattern, const uint8_t *takes,
				     uint64_t steps);

#endif /* LM_PLAN_STITCH_H */

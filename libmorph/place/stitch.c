// SPDX-License-Identifier: LGPL-2.1-or-later
/* Embedding a pattern in the free sites. */
#include <string.h>

#include "stitch.h"

/* ------------------------------------------------------------------- routes */

/* Slots at the same site share its demands. Demands with the same ends become one. */
static void routes_of_sites(struct stitch *stitch, const struct embedding *embedding, bool apart)
{
	const struct pattern *pattern = stitch->pattern;
	uint32_t sites = stitch->net->sites;

	for (uint32_t from = 0; from < sites; from++)
		memset(stitch->units[from], 0, sites * sizeof(stitch->units[from][0]));
	for (uint32_t at = 0; at < pattern->demands_count; at++) {
		const struct demand *demand = &pattern->demands[at];

		stitch->units[embedding->sites[demand->from]][embedding->sites[demand->to]] +=
			demand->units;
	}
	for (uint32_t from = 0; from < sites; from++)
		for (uint32_t to = 0; to < sites; to++)
			if (from != to)
				lm_routes_add(&stitch->routes, from, to, stitch->units[from][to],
					      apart ? 1 : stitch->units[from][to]);
}

/* @apart: circuits with the same ends can take different routes. */
static void routes_begin(struct stitch *stitch, const struct embedding *embedding, bool apart)
{
	const struct pattern *pattern = stitch->pattern;

	stitch->routes.count = 0;
	if (stitch->shared) {
		routes_of_sites(stitch, embedding, apart);
		return;
	}
	for (uint32_t at = 0; at < pattern->demands_count; at++) {
		const struct demand *demand = &pattern->demands[at];

		lm_routes_add(&stitch->routes, embedding->sites[demand->from],
			      embedding->sites[demand->to], demand->units,
			      apart ? 1 : demand->units);
	}
}

/*
 * First route circuits with the same ends together, which is fast. If this fails, or if there are
 * several bands, route each alone.
 */
static bool negotiate(struct stitch *stitch, const struct embedding *embedding)
{
	bool apart = stitch->bands > 1;

	routes_begin(stitch, embedding, apart);
	if (lm_routes_negotiate(stitch->nets, stitch->bands, &stitch->routes, stitch->work))
		return true;
	if (apart || stitch->units_most == 1)
		return false;
	routes_begin(stitch, embedding, true);
	return lm_routes_negotiate(stitch->nets, stitch->bands, &stitch->routes, stitch->work);
}

static enum stitch_verdict found(struct stitch *stitch, const struct embedding *embedding)
{
	stitch->embedding = *embedding;
	return STITCH_FEASIBLE;
}

/* Search all routes of an embedding, with circuits of the same ends together or apart. */
static enum routes_verdict exhaust_routes(struct stitch *stitch, const struct embedding *embedding,
					  bool apart)
{
	memcpy(stitch->scratch, stitch->nets, stitch->bands * sizeof(*stitch->nets));
	routes_begin(stitch, embedding, apart);
	return lm_routes_exhaust(stitch->scratch, stitch->bands, &stitch->routes, &stitch->steps);
}

/*
 * The same for an embedding that no cut forbids. Try circuits together first, because this is fast.
 */
static enum stitch_verdict exhaust(struct stitch *stitch, const struct embedding *embedding)
{
	enum routes_verdict verdict = ROUTES_NONE;

	if (stitch->bands == 1)
		verdict = exhaust_routes(stitch, embedding, false);
	if (verdict == ROUTES_NONE && (stitch->bands > 1 || stitch->units_most > 1))
		verdict = exhaust_routes(stitch, embedding, true);
	switch (verdict) {
	case ROUTES_FOUND:
		return found(stitch, embedding);
	case ROUTES_NONE:
		stitch->exhausted_count++;
		return STITCH_INFEASIBLE;
	default:
		return STITCH_UNDECIDED;
	}
}

/* --------------------------------------------------------------------- cuts */

/* Subtract the circuits between the slot at @depth and earlier slots from the cuts they leave. */
static void cuts_take(struct stitch *stitch, uint32_t depth, const struct embedding *embedding)
{
	const struct pattern *pattern = stitch->pattern;
	uint32_t slot = pattern->steps[depth].slot;
	const struct cuts *cuts = &stitch->cuts;
	const int16_t *mine = cuts->active_inside[embedding->sites[slot]];
	int16_t left[CUTS_ACTIVE];

	memcpy(left, stitch->left[depth], sizeof(left));
	for (uint64_t near = pattern->steps[depth].before; near; near &= near - 1) {
		uint32_t other = net_first(near);
		const int16_t *its = cuts->active_inside[embedding->sites[other]];
		int16_t out = pattern->units[slot][other], in = pattern->units[other][slot];

		for (uint32_t cut = 0; cut < CUTS_ACTIVE; cut++)
			left[cut] = (int16_t)(left[cut] - (out & mine[cut] & ~its[cut]) -
					      (in & its[cut] & ~mine[cut]));
	}
	memcpy(stitch->left[depth + 1], left, sizeof(left));
}

static bool cuts_allow(const struct stitch *stitch, uint32_t depth)
{
	int16_t all = 0;

	for (uint32_t cut = 0; cut < CUTS_ACTIVE; cut++)
		all |= stitch->left[depth][cut];
	return all >= 0;
}

/* Recompute the cuts' capacities after a cut became active. */
static void compute_cuts(struct stitch *stitch, const struct embedding *embedding)
{
	for (uint32_t cut = 0; cut < CUTS_ACTIVE; cut++)
		stitch->left[0][cut] =
			cut < stitch->cuts.active_count ? stitch->cuts.active_room[cut] : INT16_MAX;
	for (uint32_t depth = 0; depth < stitch->pattern->slots; depth++)
		cuts_take(stitch, depth, embedding);
}

/* Find the cuts only after an embedding had no quick routes, because this takes time. */
static bool cuts_forbid(struct stitch *stitch, const struct embedding *embedding)
{
	if (!stitch->cuts_known)
		lm_cuts_find(&stitch->cuts, stitch->net, stitch->pattern, stitch->takes);
	stitch->cuts_known = true;
	if (!lm_cuts_violated(&stitch->cuts, stitch->pattern, embedding->sites))
		return false;
	compute_cuts(stitch, embedding);
	return true;
}

/* --------------------------------------------------------------- embeddings */

/* All slots have a site. */
static enum stitch_verdict examine(struct stitch *stitch, const struct embedding *embedding)
{
	if (stitch->cuts_known && cuts_forbid(stitch, embedding))
		return STITCH_INFEASIBLE;
	if (negotiate(stitch, embedding))
		return found(stitch, embedding);
	if (!stitch->cuts_known && cuts_forbid(stitch, embedding))
		return STITCH_INFEASIBLE;
	/* Postpone it, because other embeddings can have quick routes. */
	if (stitch->doubts_count < STITCH_DOUBTS) {
		stitch->doubts[stitch->doubts_count++] = *embedding;
		return STITCH_INFEASIBLE;
	}
	return exhaust(stitch, embedding);
}

/* Sites for the slot at @depth, without symmetric cases. */
static uint64_t candidates(const struct stitch *stitch, uint32_t depth, uint64_t free,
			   const struct embedding *embedding)
{
	uint32_t least = 0;

	for (uint64_t left = stitch->pattern->steps[depth].below; left; left &= left - 1)
		if (embedding->sites[net_first(left)] > least)
			least = embedding->sites[net_first(left)];
	return free & ~net_all(least);
}

/* Hops of the circuits between @slot at @site and slots placed before. */
static uint32_t hops_added(const struct stitch *stitch, uint32_t depth, uint32_t site,
			   const struct embedding *embedding)
{
	const struct pattern *pattern = stitch->pattern;
	uint32_t slot = pattern->steps[depth].slot, hops = 0;

	for (uint64_t near = pattern->steps[depth].before; near; near &= near - 1) {
		uint32_t other = net_first(near), its = embedding->sites[other];

		hops += (uint32_t)pattern->units[slot][other] * stitch->distances[site][its] +
			(uint32_t)pattern->units[other][slot] * stitch->distances[its][site];
	}
	return hops;
}

/* @hops: of placed slots, and a lower bound for the rest. */
static enum stitch_verdict place(struct stitch *stitch, uint32_t depth, uint64_t free,
				 uint32_t hops, struct embedding *embedding)
{
	const struct pattern_step *step = &stitch->pattern->steps[depth];
	uint64_t left;

	if (depth == stitch->pattern->slots) {
		if (hops < stitch->examined)
			return STITCH_INFEASIBLE;
		return examine(stitch, embedding);
	}
	for (left = candidates(stitch, depth, free, embedding); left; left &= left - 1) {
		uint32_t site = net_first(left);
		uint32_t more = hops - step->units * stitch->least_hops +
				hops_added(stitch, depth, site, embedding);
		enum stitch_verdict verdict;

		if (!stitch->steps)
			return STITCH_UNDECIDED;
		stitch->steps--;
		if (more > stitch->limit) {
			if (more < stitch->beyond)
				stitch->beyond = more;
			continue;
		}
		embedding->sites[step->slot] = (uint8_t)site;
		if (stitch->cuts.active_count) {
			cuts_take(stitch, depth, embedding);
			if (!cuts_allow(stitch, depth + 1))
				continue;
		}
		stitch->takes_yet[site]--;
		verdict = place(stitch, depth + 1,
				stitch->takes_yet[site] ? free : free & ~(1ULL << site), more,
				embedding);
		stitch->takes_yet[site]++;
		if (verdict != STITCH_INFEASIBLE)
			return verdict;
	}
	return STITCH_INFEASIBLE;
}

/* Sites that can take a slot. */
static uint64_t free_sites(const struct stitch *stitch)
{
	uint64_t free = 0;

	for (uint32_t site = 0; site < NET_SITES; site++)
		free |= (uint64_t) !!stitch->takes[site] << site;
	return free;
}

static void least_hops_find(struct stitch *stitch)
{
	uint64_t free = free_sites(stitch);

	stitch->least_hops = NET_APART;
	for (uint64_t left = free; left; left &= left - 1) {
		const uint8_t *distances = stitch->distances[net_first(left)];

		if (stitch->takes[net_first(left)] > 1)
			stitch->least_hops = 0;
		for (uint64_t rest = free & ~(left & -left); rest; rest &= rest - 1)
			if (distances[net_first(rest)] < stitch->least_hops)
				stitch->least_hops = distances[net_first(rest)];
	}
}

/*
 * The next limit: the least hops above the last limit, plus a quarter, because each restart repeats
 * work. Once cuts are known, the request is hard, and the limit becomes the whole capacity.
 */
static uint32_t next_limit(const struct stitch *stitch)
{
	uint32_t most = stitch->net->room_total, limit = stitch->beyond + stitch->beyond / 4;

	if (stitch->beyond > most)
		return UINT32_MAX;
	return stitch->cuts_known || limit > most ? most : limit;
}

/* Embeddings with few hops first, postponed ones last. */
static enum stitch_verdict search(struct stitch *stitch)
{
	uint32_t hops = stitch->pattern->units_total * stitch->least_hops;
	enum stitch_verdict verdict;
	struct embedding embedding;

	for (stitch->limit = hops; stitch->limit <= stitch->net->room_total;
	     stitch->limit = next_limit(stitch)) {
		stitch->beyond = UINT32_MAX;
		verdict = place(stitch, 0, free_sites(stitch), hops, &embedding);
		if (verdict != STITCH_INFEASIBLE)
			return verdict;
		stitch->examined = stitch->limit + 1;
	}
	for (uint32_t at = 0; at < stitch->doubts_count; at++) {
		verdict = exhaust(stitch, &stitch->doubts[at]);
		if (verdict != STITCH_INFEASIBLE)
			return verdict;
	}
	return STITCH_INFEASIBLE;
}

/* The capacity of all bands together. */
static const struct net *sum_up(struct stitch *stitch)
{
	if (stitch->bands == 1)
		return stitch->nets;
	stitch->sum = stitch->nets[0];
	for (uint32_t band = 1; band < stitch->bands; band++) {
		const struct net *net = &stitch->nets[band];

		for (uint32_t from = 0; from < net->sites; from++)
			for (uint64_t left = net->out[from]; left; left &= left - 1)
				lm_net_take(&stitch->sum, from, net_first(left),
					    -(int32_t)net->room[from][net_first(left)]);
	}
	return &stitch->sum;
}

/* The maximum number of circuits with the same ends. */
static void weigh_units(struct stitch *stitch)
{
	const struct pattern *pattern = stitch->pattern;

	stitch->units_most = 0;
	for (uint32_t at = 0; at < pattern->demands_count; at++)
		if (pattern->demands[at].units > stitch->units_most)
			stitch->units_most = pattern->demands[at].units;
	stitch->shared = false;
	for (uint32_t site = 0; site < NET_SITES; site++)
		stitch->shared |= stitch->takes[site] > 1;
	if (stitch->shared)
		stitch->units_most = pattern->units_total;
}

enum stitch_verdict lm_stitch_shared(struct stitch *stitch, const struct net *nets, uint32_t bands,
				     const struct pattern *pattern, const uint8_t *takes,
				     uint64_t steps)
{
	uint32_t total = 0;

	stitch->nets = nets;
	stitch->bands = bands;
	stitch->net = sum_up(stitch);
	stitch->pattern = pattern;
	memcpy(stitch->takes, takes, sizeof(stitch->takes));
	memcpy(stitch->takes_yet, takes, sizeof(stitch->takes_yet));
	stitch->steps = steps;
	stitch->cuts.count = 0;
	stitch->cuts.active_count = 0;
	stitch->cuts_known = false;
	stitch->exhausted_count = 0;
	stitch->doubts_count = 0;
	stitch->examined = 0;
	for (uint32_t site = 0; site < NET_SITES; site++)
		total += takes[site];
	if (total < pattern->slots)
		return STITCH_INFEASIBLE;
	if (bands > 1 && pattern->units_total > PATTERN_DEMANDS)
		return STITCH_UNDECIDED;
	weigh_units(stitch);
	lm_net_measure(stitch->net, stitch->distances);
	least_hops_find(stitch);
	return search(stitch);
}

enum stitch_verdict lm_stitch_bands(struct stitch *stitch, const struct net *nets, uint32_t bands,
				    const struct pattern *pattern, uint64_t free, uint64_t steps)
{
	uint8_t takes[NET_SITES];

	for (uint32_t site = 0; site < NET_SITES; site++)
		takes[site] = free >> site & 1;
	return lm_stitch_shared(stitch, nets, bands, pattern, takes, steps);
}

enum stitch_verdict lm_stitch(struct stitch *stitch, const struct net *net,
			      const struct pattern *pattern, uint64_t free, uint64_t steps)
{
	return lm_stitch_bands(stitch, net, 1, pattern, free, steps);
}

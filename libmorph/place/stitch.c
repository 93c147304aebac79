// SPDX-License-Identifier: LGPL-2.1-or-later
/* Embedding a pattern in what is free. */
#include <string.h>

#include "stitch.h"

/* ------------------------------------------------------------------- routes */

/* Slots that share a site have the demands of both: those with the same ends are one. */
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

/* @apart: circuits with the same ends may go different ways. */
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
 * Routes at first sight: together, which is quick, and where that is in vain each circuit for
 * itself, as it must where there are several bands.
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

/* Look at all routes of an embedding, with circuits of the same ends together or apart. */
static enum routes_verdict exhaust_routes(struct stitch *stitch, const struct embedding *embedding,
					  bool apart)
{
	memcpy(stitch->scratch, stitch->nets, stitch->bands * sizeof(*stitch->nets));
	routes_begin(stitch, embedding, apart);
	return lm_routes_exhaust(stitch->scratch, stitch->bands, &stitch->routes, &stitch->steps);
}

/* The same of one that no cut forbids: together they are soon found, if there are such. */
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

/* Take from the cuts' room what leaves them between the slot at @depth and those before. */
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

/* One cut more is active. */
static void cuts_reckon(struct stitch *stitch, const struct embedding *embedding)
{
	for (uint32_t cut = 0; cut < CUTS_ACTIVE; cut++)
		stitch->left[0][cut] =
			cut < stitch->cuts.active_count ? stitch->cuts.active_room[cut] : INT16_MAX;
	for (uint32_t depth = 0; depth < stitch->pattern->slots; depth++)
		cuts_take(stitch, depth, embedding);
}

/* Cuts are looked for once an embedding has no routes at first sight, for it takes a while. */
static bool cuts_forbid(struct stitch *stitch, const struct embedding *embedding)
{
	if (!stitch->cuts_known)
		lm_cuts_find(&stitch->cuts, stitch->net, stitch->pattern, stitch->takes);
	stitch->cuts_known = true;
	if (!lm_cuts_violated(&stitch->cuts, stitch->pattern, embedding->sites))
		return false;
	cuts_reckon(stitch, embedding);
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
	/* Others may have routes that are found at once. */
	if (stitch->doubts_count < STITCH_DOUBTS) {
		stitch->doubts[stitch->doubts_count++] = *embedding;
		return STITCH_INFEASIBLE;
	}
	return exhaust(stitch, embedding);
}

/* Sites that the slot at @depth may take, not to look twice at what is alike. */
static uint64_t candidates(const struct stitch *stitch, uint32_t depth, uint64_t free,
			   const struct embedding *embedding)
{
	uint32_t least = 0;

	for (uint64_t left = stitch->pattern->steps[depth].below; left; left &= left - 1)
		if (embedding->sites[net_first(left)] > least)
			least = embedding->sites[net_first(left)];
	return free & ~net_all(least);
}

/* What the circuits between @slot at @site and slots placed before take, in hops. */
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

/* @hops: of what is placed, and of the rest at least. */
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

/* Sites that may take a slot. */
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
 * The next limit: of the hops that were beyond the last one at least, and a quarter more,
 * for to begin again with each would take longer than what it spares. Once cuts are known
 * it is a hard one, and all that there is room for is looked at.
 */
static uint32_t next_limit(const struct stitch *stitch)
{
	uint32_t most = stitch->net->room_total, limit = stitch->beyond + stitch->beyond / 4;

	if (stitch->beyond > most)
		return UINT32_MAX;
	return stitch->cuts_known || limit > most ? most : limit;
}

/* Embeddings with few hops first; at last those that were put off. */
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

/* The room of all bands together. */
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

/* How many circuits may have the same ends? */
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

// SPDX-License-Identifier: LGPL-2.1-or-later
/* Corners of a rack with few fibres, and random running slices. */
#include "../internal/planner.h"
#include "../internal/request.h"
#include "../place/place.h"
#include "fenced.h"
#include "random.h"

#define SERVER_X 1 /* to the next server, by axis */
#define SERVER_Y 2
#define SERVER_Z 4
#define SERVER_CHIPS 4

const uint32_t fenced_block[FENCED_SERVERS] = {
	0, SERVER_X, SERVER_Y, SERVER_X + SERVER_Y, SERVER_Z, SERVER_X + SERVER_Z,
};

static bool is_inside(uint32_t servers, uint32_t host)
{
	for (uint32_t at = 0; at < servers; at++)
		if (fenced_block[at] == host)
			return true;
	return false;
}

void fenced_leave(struct morph_ledger *ledger, uint32_t servers, uint64_t *seed, uint32_t chips,
		  uint32_t fibres)
{
	const struct sites *sites = &ledger->sites;
	uint32_t left = 0;

	for (uint32_t at = 0; at < ledger->graph->accelerators_count; at++) {
		bool keep = is_inside(servers, ledger->graph->accelerators[at].host) &&
			    at % SERVER_CHIPS < chips;

		morph_ledger_mark(ledger, MORPH_PART_ACCELERATOR, at, !keep);
	}
	for (uint32_t at = 0; at < sites->strands_count; at++) {
		const struct strand *strand = &sites->strands[at];
		bool keep = is_inside(servers, strand->from) && is_inside(servers, strand->to);

		if (!at || sites->strands[at - 1].from != strand->from ||
		    sites->strands[at - 1].to != strand->to)
			left = 1 + random_below(seed, fibres);
		keep = keep && left;
		left -= keep;
		morph_ledger_load(ledger, strand->guides[0] >> 1, !keep);
	}
}

void fenced_clear(struct morph_ledger *ledger)
{
	for (uint32_t at = 0; at < ledger->graph->accelerators_count; at++)
		morph_ledger_hold(ledger, at, 0);
	for (uint32_t at = 0; at < ledger->sites.strands_count; at++)
		lm_strand_hold(ledger, &ledger->sites.strands[at], false);
}

int fenced_ask(struct morph_request *request, uint64_t *seed)
{
	uint32_t ranks = 2 + random_below(seed, 3);
	int ret;

	morph_request_set_simplex(request, random_below(seed, 2));
	if (random_below(seed, 3))
		return morph_request_set_shape(request, MORPH_SHAPE_RING, ranks, 1, 1);
	ret = morph_request_set_count(request, ranks);
	for (uint32_t at = 0; at < ranks && !ret; at++) {
		uint32_t src = random_below(seed, ranks), dst = random_below(seed, ranks);

		if (src != dst)
			ret = morph_request_add_circuit(request, src, dst);
	}
	return ret;
}

/* Take a random free path of at most this number of hops, rarely a short one. */
static bool wander(struct morph_ledger *ledger, struct morph_plan *plan, uint32_t host,
		   uint32_t goal, uint64_t seen, uint32_t hops, uint64_t *seed)
{
	const struct sites *sites = &ledger->sites;
	uint32_t first = sites->strands_first[host], count = sites->strands_first[host + 1] - first;
	uint32_t begin = random_below(seed, count ? count : 1);

	if (host == goal)
		return true;
	for (uint32_t at = 0; hops && at < count; at++) {
		const struct strand *strand = &sites->strands[first + (begin + at) % count];

		if (seen >> strand->to & 1 || !lm_strand_free(ledger, strand))
			continue;
		if (lm_plan_add_strand(plan, strand))
			return false;
		lm_strand_hold(ledger, strand, true);
		if (wander(ledger, plan, strand->to, goal, seen | 1ULL << strand->to, hops - 1,
			   seed))
			return true;
		lm_strand_hold(ledger, strand, false);
		plan->strands_count--;
	}
	return false;
}

bool fenced_scatter(struct morph_ledger *ledger, struct morph_plan *plan, uint32_t detour,
		    uint64_t *seed)
{
	const struct optics_graph *graph = ledger->graph;
	bool found = true;

	plan->strands_count = 0;
	for (uint32_t at = 0; at < plan->circuits_count && found; at++) {
		uint32_t src = plan->accelerators[plan->circuits[at].src];
		uint32_t dst = plan->accelerators[plan->circuits[at].dst];
		uint32_t host = graph->accelerators[src].host;
		uint32_t hops = detour ? plan->ways[at].count + detour : NET_SITES;

		plan->ways[at].first = plan->strands_count;
		found = wander(ledger, plan, host, graph->accelerators[dst].host, 1ULL << host,
			       hops, seed);
		plan->ways[at].count = plan->strands_count - plan->ways[at].first;
	}
	for (uint32_t at = 0; at < plan->strands_count; at++)
		lm_strand_hold(ledger, &plan->strands[at], false);
	return found;
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/* Placement: tries racks in order, in each rack the tiers in order, and returns the first plan. */
#include <stdio.h>

#include "place.h"

#define DEFAULT_STEPS (1ULL << 20)
#define DARK 4 /* score of a fibre that is dark in all bands; above that of both tiles */
#define FIRST_STEPS (1ULL << 11) /* of each rack, before the search completes any rack */

/* ---------------------------------------------------------------------- rack */

/* Whether light can cross that server. */
bool lm_may_cross(const struct morph_ledger *ledger, uint32_t host)
{
	const struct sites *sites = &ledger->sites;

	for (uint32_t at = sites->members_first[host]; at < sites->members_first[host + 1]; at++)
		if (ledger->owner[sites->members[at]])
			return false;
	return true;
}

bool lm_may_touch(const struct morph_ledger *ledger, const struct strand *strand)
{
	return !ledger->owner[strand->from_tile] && !ledger->owner[strand->to_tile];
}

/* A fibre has capacity for a circuit in each band in which it is dark. */
static void add_room(struct morph_ledger *ledger, const struct strand *strand, uint32_t from,
		     uint32_t to)
{
	struct rack_search *search = &ledger->search;

	for (uint32_t band = 0; band < search->bands; band++) {
		uint64_t lanes = lm_band_lanes(ledger->graph, search->bands, band);

		if (search->net.room[from][to] == NET_ROOM ||
		    !lm_strand_open(ledger, strand, lanes))
			continue;
		lm_net_take(&search->net, from, to, -1);
		if (search->bands > 1)
			lm_net_take(&search->nets[band], from, to, -1);
	}
}

/* Light cannot cross that server. */
static void stop_at(struct rack_search *search, uint32_t seat)
{
	search->net.stops |= 1ULL << seat;
	for (uint32_t band = 0; search->bands > 1 && band < search->bands; band++)
		search->nets[band].stops |= 1ULL << seat;
}

/* Set the free resources of a rack: accelerators by server, and fibres between servers. */
static void rack_begin(struct morph_ledger *ledger, const struct morph_request *request,
		       uint32_t number, uint64_t steps)
{
	const struct sites *sites = &ledger->sites;
	const struct rack *rack = &sites->racks[number];
	struct rack_search *search = &ledger->search;
	bool own = request->transit == MORPH_TRANSIT_OWN;

	search->rack = number;
	search->steps = steps;
	search->bands = request->bands;
	lm_net_init(&search->net, rack->hosts_count);
	for (uint32_t band = 0; search->bands > 1 && band < search->bands; band++)
		lm_net_init(&search->nets[band], rack->hosts_count);
	for (uint32_t seat = 0; seat < rack->hosts_count; seat++) {
		uint32_t host = sites->rack_hosts[rack->hosts_first + seat];

		search->free[seat] = (uint8_t)ledger->host_free[host];
		if (own && !lm_may_cross(ledger, host))
			stop_at(search, seat);
		for (uint32_t at = sites->strands_first[host]; at < sites->strands_first[host + 1];
		     at++) {
			const struct strand *strand = &sites->strands[at];

			if (sites->host_rack[strand->to] == number &&
			    !(own && !lm_may_touch(ledger, strand)))
				add_room(ledger, strand, seat, sites->host_seat[strand->to]);
		}
	}
	lm_net_measure(&search->net, search->distances);
}

/* The block of accelerators that each server of a rack has. False if they differ. */
static bool find_block(const struct morph_ledger *ledger, uint32_t number, uint32_t block[3])
{
	const struct sites *sites = &ledger->sites;
	const struct rack *rack = &sites->racks[number];
	uint32_t volume, host, first;
	uint8_t far[3] = { 0 };

	if (!rack->extent[0])
		return false;
	/*
	 * The block of the server at the corner of the torus. In a rack of the paper all are equal.
	 */
	host = ledger->graph->accelerators[sites_accelerator(sites, number, 0, 0, 0)].host;
	first = sites->members_first[host];
	volume = sites->members_first[host + 1] - first;
	for (uint32_t at = 0; at < volume; at++) {
		const struct cell *cell = &sites->cells[sites->members[first + at]];

		if (sites_spare(sites, sites->members[first + at]))
			return false;
		far[0] = cell->x > far[0] ? cell->x : far[0];
		far[1] = cell->y > far[1] ? cell->y : far[1];
		far[2] = cell->z > far[2] ? cell->z : far[2];
	}
	for (uint32_t axis = 0; axis < 3; axis++)
		block[axis] = far[axis] + 1U;
	return block[0] * block[1] * block[2] == volume;
}

/* --------------------------------------------------------------------- plan */

void lm_plan_note(struct morph_ledger *ledger, const struct morph_plan *plan,
		  const struct circuit_way *way, uint32_t first, bool given)
{
	uint64_t lanes = lm_band_lanes(ledger->graph, plan->bands, way->band);

	for (uint32_t hop = first; hop < way->first + way->count; hop++) {
		const struct strand *strand = &plan->strands[hop];

		for (uint32_t at = 0; at < strand->guides_count; at++) {
			uint64_t *lit = &ledger->guide_lanes[strand->guides[at] >> 1];

			*lit = given ? *lit | lanes : *lit & ~lanes;
		}
	}
}

/*
 * A fibre between two hosts that is dark in the circuit's band. Prefer one that is dark in all
 * bands, then one at the circuit's tiles.
 */
static const struct strand *pick_strand(const struct morph_ledger *ledger,
					const struct morph_plan *plan, uint32_t circuit,
					uint32_t from, uint32_t to)
{
	const struct sites *sites = &ledger->sites;
	const struct rank_pair *pair = &plan->circuits[circuit];
	uint32_t from_tile = plan->accelerators[pair->src];
	uint32_t to_tile = plan->accelerators[pair->dst];
	uint32_t band = plan->ways[circuit].band, most = 0;
	uint64_t lanes = lm_band_lanes(ledger->graph, plan->bands, band);
	bool own = plan->transit == MORPH_TRANSIT_OWN;
	const struct strand *best = NULL;

	for (uint32_t at = sites->strands_first[from]; at < sites->strands_first[from + 1]; at++) {
		const struct strand *strand = &sites->strands[at];
		uint32_t score =
			1 + (strand->from_tile == from_tile) + (strand->to_tile == to_tile);

		if (strand->to != to || score + DARK <= most ||
		    !lm_strand_open(ledger, strand, lanes) ||
		    (own && !lm_may_touch(ledger, strand)))
			continue;
		if (lm_strand_free(ledger, strand))
			score += DARK;
		if (score <= most)
			continue;
		best = strand;
		most = score;
	}
	return best;
}

static int add_way(struct morph_ledger *ledger, struct morph_plan *plan, uint32_t circuit)
{
	struct rack_search *search = &ledger->search;
	const struct rack *rack = &ledger->sites.racks[search->rack];
	const uint32_t *hosts = &ledger->sites.rack_hosts[rack->hosts_first];
	const struct rank_pair *pair = &plan->circuits[circuit];
	uint32_t from = search->best.seats[pair->src], to = search->best.seats[pair->dst];
	struct circuit_way *way = &plan->ways[circuit];
	struct route *route;

	*way = (struct circuit_way){ .first = plan->strands_count };
	if (from == to)
		return 0;
	route = &search->routes.list[search->route_of[from][to]];
	way->band = route->band;
	/* When this route is used up, the next circuit takes the next route. */
	search->route_of[from][to] += !--route->units;
	for (uint32_t hop = 0; hop < route->hops; hop++) {
		const struct strand *strand = pick_strand(ledger, plan, circuit,
							  hosts[route->sites[hop]],
							  hosts[route->sites[hop + 1]]);

		if (!strand)
			return lm_fail(ledger->ctx, EPROTO,
				       "the routes of a plan use more fibres than the fabric has");
		if (lm_plan_add_strand(plan, strand))
			return -ENOMEM;
		way->count++;
		lm_plan_note(ledger, plan, way, way->first + hop, true);
	}
	return 0;
}

/* The least number of servers in the rack that have @ranks free accelerators together. */
uint32_t lm_place_fewest(const struct rack_search *search, uint32_t ranks)
{
	uint32_t with[RACK_ACCELERATORS + 1] = { 0 }, servers = 0;

	for (uint32_t seat = 0; seat < search->net.sites; seat++)
		with[search->free[seat]]++;
	for (uint32_t free = RACK_ACCELERATORS; free && ranks; free--) {
		for (; with[free] && ranks; with[free]--) {
			ranks -= ranks < free ? ranks : free;
			servers++;
		}
	}
	return servers;
}

static int plan_fill(struct morph_ledger *ledger, const struct morph_request *request,
		     struct morph_plan *plan, uint32_t tier)
{
	struct rack_search *search = &ledger->search;
	uint32_t count = 0;
	int ret = 0;

	plan->verdict = MORPH_FEASIBLE;
	plan->tier = tier;
	plan->fibres_bound = search->best.fibres;
	plan->servers = search->best.servers;
	plan->servers_bound = lm_place_fewest(search, request->ranks);
	plan->refusals_count = 0;
	plan->cuts_count = 0;
	plan->why[0] = '\0';
	memcpy(plan->accelerators, search->best.accelerators,
	       plan->ranks * sizeof(*plan->accelerators));
	for (uint32_t at = search->routes.count; at--;)
		search->route_of[search->routes.list[at].from][search->routes.list[at].to] =
			(uint16_t)at;
	for (; !ret && count < plan->circuits_count; count++)
		ret = add_way(ledger, plan, count);
	while (count--)
		lm_plan_note(ledger, plan, &plan->ways[count], plan->ways[count].first, false);
	if (ret)
		plan->verdict = 0;
	return ret;
}

/* ---------------------------------------------------------------------- tiers */

static enum stitch_verdict refuse_count(struct rack_refusal *refusal, uint32_t have, uint32_t need)
{
	refusal->reason = MORPH_WIRE_COUNT;
	refusal->have = have;
	refusal->need = need;
	return STITCH_INFEASIBLE;
}

/*
 * Search one rack. *tier: where a plan was found. @thorough: search exhaustively if growing fails.
 */
static enum stitch_verdict try_rack(struct morph_ledger *ledger,
				    const struct morph_request *request,
				    const struct morph_plan *plan, uint32_t rack, uint64_t steps,
				    bool thorough, uint32_t *tier, struct rack_refusal *refusal)
{
	struct rack_search *search = &ledger->search;
	enum stitch_verdict boxes, rest = STITCH_INFEASIBLE;

	*refusal = (struct rack_refusal){ .rack = rack, .need = request->ranks };
	if (ledger->rack_free[rack] < request->ranks)
		return refuse_count(refusal, ledger->rack_free[rack], request->ranks);
	rack_begin(ledger, request, rack, steps);
	*tier = MORPH_TIER_CONTIGUOUS;
	search->stitch.cuts.count = 0;
	boxes = lm_place_boxes(ledger, request, false);
	if (boxes != STITCH_FEASIBLE && request->tier > MORPH_TIER_CONTIGUOUS) {
		*tier = MORPH_TIER_STITCHED;
		rest = plan->whole ? lm_place_parts(ledger, request) :
				     lm_place_grow(ledger, request);
		/* The exhaustive search includes boxes. */
		if (rest == STITCH_UNDECIDED && !plan->whole && thorough)
			rest = boxes = lm_place_ranks(ledger, request);
	}
	/* Complete the search of boxes only if everything else is impossible. */
	if (boxes == STITCH_UNDECIDED && rest == STITCH_INFEASIBLE) {
		*tier = MORPH_TIER_CONTIGUOUS;
		boxes = lm_place_boxes(ledger, request, true);
	}
	if (boxes == STITCH_FEASIBLE || rest == STITCH_FEASIBLE)
		return STITCH_FEASIBLE;
	if (boxes == STITCH_INFEASIBLE)
		boxes = rest;
	refusal->reason = boxes == STITCH_UNDECIDED ? MORPH_WIRE_DOUBT : MORPH_WIRE_CUTS;
	return boxes;
}

/*
 * Order the racks for the search: least or most free accelerators first, by the objective. Counting
 * sort, because the keys are small.
 */
void lm_place_order(struct morph_ledger *ledger, const struct morph_request *request)
{
	bool fullest = request->objective == MORPH_OBJECTIVE_FRAGMENTATION;
	uint32_t first[RACK_ACCELERATORS + 2] = { 0 };

	for (uint32_t rack = 0; rack < ledger->sites.racks_count; rack++) {
		uint32_t free = ledger->rack_free[rack];

		first[(fullest ? free : RACK_ACCELERATORS - free) + 1]++;
	}
	for (uint32_t key = 0; key <= RACK_ACCELERATORS; key++)
		first[key + 1] += first[key];
	for (uint32_t rack = 0; rack < ledger->sites.racks_count; rack++) {
		uint32_t free = ledger->rack_free[rack];

		ledger->rack_order[first[fullest ? free : RACK_ACCELERATORS - free]++] = rack;
	}
}

const char *lm_plan_remark(const struct morph_plan *plan)
{
	return plan->not_whole ? "; in whole servers it can't be done" : "";
}

/* The sentence why no rack fits: the reason of the rack that comes closest. */
static void explain(const struct morph_ledger *ledger, struct morph_plan *plan)
{
	uint32_t most = 0, doubts = 0, cut = 0;

	for (uint32_t at = 0; at < plan->refusals_count; at++) {
		const struct rack_refusal *refusal = &plan->refusals[at];

		if (refusal->reason == MORPH_WIRE_COUNT && refusal->have > most)
			most = refusal->have;
		doubts += refusal->reason == MORPH_WIRE_DOUBT;
		cut += refusal->reason == MORPH_WIRE_CUTS;
	}
	if (doubts)
		snprintf(plan->why, sizeof(plan->why),
			 "nothing was found, and nothing proven, in %u of %u racks%s", doubts,
			 ledger->sites.racks_count, lm_plan_remark(plan));
	else if (cut)
		snprintf(
			plan->why, sizeof(plan->why),
			"%u of %u racks have enough free accelerators; in none are there enough fibres%s where they lie",
			cut, ledger->sites.racks_count, plan->whole ? ", or whole servers," : "");
	else
		snprintf(plan->why, sizeof(plan->why),
			 "not enough accelerators in one rack: %u requested, at most %u free",
			 plan->ranks, most);
	plan->verdict = doubts ? MORPH_UNDECIDED : MORPH_INFEASIBLE;
}

/* ---------------------------------------------------------------------- begin */

/* Requests that no fabric of this model can satisfy. */
static int check(const struct morph_ledger *ledger, const struct morph_request *request,
		 struct morph_plan *plan)
{
	const struct optics_params *params = &ledger->graph->params;
	uint64_t lanes = lm_request_lanes(request, ledger->graph);
	uint32_t out[MOST_RANKS], in[MOST_RANKS];

	if (params->wavelengths % request->bands)
		return lm_fail(ledger->ctx, EINVAL,
			       "cannot divide the %u lanes of a fibre evenly by %u wavelengths",
			       params->wavelengths, request->bands);
	if (lanes > params->wavelengths / request->bands)
		return lm_fail(ledger->ctx, EINVAL,
			       "%llu Mb/s requested, a circuit has at most %u lanes of %llu Mb/s",
			       (unsigned long long)request->mbps,
			       params->wavelengths / request->bands,
			       (unsigned long long)params->lane_mbps);
	plan->lanes = (uint32_t)lanes;
	memset(out, 0, request->ranks * sizeof(*out));
	memset(in, 0, request->ranks * sizeof(*in));
	for (uint32_t at = 0; at < request->circuits_count; at++) {
		out[request->circuits[at].src]++;
		in[request->circuits[at].dst]++;
	}
	for (uint32_t rank = 0; rank < request->ranks; rank++)
		if (out[rank] > params->planes || in[rank] > params->planes)
			return lm_fail(
				ledger->ctx, EINVAL,
				"rank %u has %u circuits out and %u in: an accelerator has %u ports each way",
				rank, out[rank], in[rank], params->planes);
	return 0;
}

/* The partners of each rank, which share a circuit with it. */
static int find_partners(struct rack_search *search, const struct morph_request *request,
			 struct morph_ctx *ctx)
{
	uint32_t next[MOST_RANKS];

	if (2 * request->circuits_count > search->partners_room) {
		uint32_t *partners = reallocarray(search->partners, 2 * request->circuits_count,
						  sizeof(*partners));

		if (!partners)
			return lm_no_memory(ctx, "place a slice");
		search->partners = partners;
		search->partners_room = 2 * request->circuits_count;
	}
	memset(next, 0, request->ranks * sizeof(*next));
	for (uint32_t at = 0; at < request->circuits_count; at++) {
		next[request->circuits[at].src]++;
		next[request->circuits[at].dst]++;
	}
	search->partners_first[0] = 0;
	for (uint32_t rank = 0; rank < request->ranks; rank++) {
		search->partners_first[rank + 1] = search->partners_first[rank] + next[rank];
		next[rank] = search->partners_first[rank];
	}
	for (uint32_t at = 0; at < request->circuits_count; at++) {
		const struct rank_pair *pair = &request->circuits[at];

		search->partners[next[pair->src]++] = pair->dst;
		search->partners[next[pair->dst]++] = pair->src | PARTNER_SENDS;
	}
	return 0;
}

int lm_place_begin(struct morph_ledger *ledger, const struct morph_request *request,
		   struct morph_plan *plan)
{
	struct rack_search *search = &ledger->search;
	uint16_t places[MOST_RANKS];
	int ret = lm_request_readable(ledger->ctx, request);

	plan->verdict = 0;
	if (ret)
		return ret;
	plan->checksum = ledger->graph->params.checksum;
	plan->ranks = request->ranks;
	plan->farthest = request->tier;
	plan->transit = request->transit;
	plan->bands = request->bands;
	plan->circuits_count = 0;
	plan->strands_count = 0;
	plan->refusals_count = 0;
	plan->cuts_count = 0;
	plan->why[0] = '\0';
	memcpy(plan->extent, request->extent, sizeof(plan->extent));
	ret = check(ledger, request, plan);
	if (!ret)
		ret = lm_plan_reserve(plan, request);
	if (!ret)
		ret = find_partners(search, request, ledger->ctx);
	if (ret)
		return ret;
	if (request->circuits_count)
		memcpy(plan->circuits, request->circuits,
		       request->circuits_count * sizeof(*plan->circuits));
	plan->circuits_count = request->circuits_count;
	memset(plan->parts, 0, plan->ranks * sizeof(*plan->parts));
	search->prepared = false;
	plan->not_whole = false;
	plan->whole = find_block(ledger, 0, search->block) &&
		      lm_request_cut(request, search->block, plan->parts, places);
	if (request->servers != MORPH_SERVERS_WHOLE) {
		plan->whole &= request->tier > MORPH_TIER_CONTIGUOUS;
		return 0;
	}
	return plan->whole ?
		       0 :
		       lm_fail(ledger->ctx, EINVAL,
			       "whole servers require identical servers, and a torus that divides evenly into the accelerator blocks of a server");
}

bool lm_place_share(struct morph_ledger *ledger, const struct morph_request *request,
		    uint32_t verdict, struct morph_plan *plan)
{
	if (!plan->whole || verdict == MORPH_FEASIBLE || request->servers == MORPH_SERVERS_WHOLE)
		return false;
	plan->not_whole = verdict == MORPH_INFEASIBLE;
	plan->whole = false;
	memset(plan->parts, 0, plan->ranks * sizeof(*plan->parts));
	ledger->search.prepared = false;
	return true;
}

/* Search all racks with @steps for each. Refusals go into the plan. */
static int try_racks(struct morph_ledger *ledger, const struct morph_request *request,
		     struct morph_plan *plan, uint64_t steps, bool thorough)
{
	bool cuts = request->tier != MORPH_TIER_CONTIGUOUS;
	struct rack_refusal refusal;
	uint32_t tier = 0;
	int ret = 0;

	plan->refusals_count = 0;
	plan->cuts_count = 0;
	for (uint32_t at = 0; at < ledger->sites.racks_count && !ret; at++) {
		if (try_rack(ledger, request, plan, ledger->rack_order[at], steps, thorough, &tier,
			     &refusal) == STITCH_FEASIBLE)
			return plan_fill(ledger, request, plan, tier);
		ret = lm_plan_refuse(plan, &refusal,
				     cuts && refusal.reason == MORPH_WIRE_CUTS ?
					     &ledger->search.stitch.cuts :
					     NULL);
	}
	if (!ret)
		explain(ledger, plan);
	return ret;
}

/* Search single racks, then across racks. */
static int place(struct morph_ledger *ledger, const struct morph_request *request,
		 struct morph_plan *plan)
{
	uint64_t steps = request->steps ? request->steps : DEFAULT_STEPS;
	int ret = 0;

	plan->verdict = 0;
	/* First look briefly at all racks, because an easy rack can follow a hard one. */
	if (steps > FIRST_STEPS && ledger->sites.racks_count > 1)
		ret = try_racks(ledger, request, plan, FIRST_STEPS, false);
	if (!ret && (!plan->verdict || plan->verdict == MORPH_UNDECIDED))
		ret = try_racks(ledger, request, plan, steps, true);
	if (ret || plan->verdict == MORPH_FEASIBLE || request->tier < MORPH_TIER_CROSSING)
		return ret;
	return lm_place_crossing(ledger, request, plan, steps);
}

MORPH_API int morph_place(struct morph_ledger *ledger, const struct morph_request *request,
			  struct morph_plan *plan)
{
	int ret = lm_place_begin(ledger, request, plan);

	if (ret)
		return ret;
	lm_place_order(ledger, request);
	ret = place(ledger, request, plan);
	if (!ret && lm_place_share(ledger, request, plan->verdict, plan))
		ret = place(ledger, request, plan);
	return ret;
}

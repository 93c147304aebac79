// SPDX-License-Identifier: LGPL-2.1-or-later
/* The third tier: a slice whose parts lie in servers of any racks that circuit switches join. */
#include <stdio.h>
#include <string.h>

#include "crossing.h"

#define STARTS 16 /* random starts, one after the other */
#define AIRY 8 /* of these leave a quarter of the light of servers unused */
#define MOVES 6000 /* of each start */
#define HOT 6.0
#define COLD 1.0
#define NO_PART UINT16_MAX

/* --------------------------------------------------------------------- shape */

/* Links between parts. A simplex circuit uses a whole link too. */
static bool find_shape(const struct morph_request *request, struct crossing *crossing,
		       uint32_t count)
{
	bool fits = count <= CROSS_SLOTS;

	lm_cross_shape_init(&crossing->shape, fits ? count : 0);
	if (fits)
		memset(crossing->units, 0, (size_t)count * count * sizeof(*crossing->units));
	for (uint32_t rank = 0; fits && rank < request->ranks; rank++)
		crossing->shape.takes[crossing->parts[rank]]++;
	for (uint32_t at = 0; fits && at < request->circuits_count; at++) {
		uint32_t from = crossing->parts[request->circuits[at].src];
		uint32_t to = crossing->parts[request->circuits[at].dst];

		crossing->units[from * count + to] += from != to;
	}
	for (uint32_t one = 0; one < count && fits; one++) {
		for (uint32_t other = one + 1; other < count && fits; other++) {
			uint32_t there = crossing->units[one * count + other];
			uint32_t back = crossing->units[other * count + one];

			if (there || back)
				fits = lm_cross_shape_join(&crossing->shape, one, other,
							   there > back ? there : back);
		}
	}
	return fits;
}

/* -------------------------------------------------------------------- search */

/* Search for @count parts, of which the smallest has @least ranks. */
static int search(struct morph_ledger *ledger, const struct morph_request *request,
		  struct morph_plan *plan, uint32_t least, uint32_t count, uint64_t *steps)
{
	struct crossing *crossing = ledger->crossing;

	if (!crossing->possible || !find_shape(request, crossing, count))
		return -EAGAIN;
	for (uint32_t start = 0; start < STARTS && *steps; start++) {
		struct cross_effort effort = { .moves = *steps < MOVES ? *steps : MOVES,
					       .hot = HOT,
					       .cold = COLD,
					       .thrifty = true };
		uint32_t over;
		int ret;

		if (start % AIRY == 0)
			lm_crossing_room(ledger, request, least, start < AIRY, crossing);
		*steps -= effort.moves;
		over = lm_cross_build(&crossing->cross, &crossing->pod, &crossing->shape, 1,
				      &effort, start);
		if (over == UINT32_MAX)
			break;
		if (over)
			continue;
		ret = lm_crossing_fill(ledger, plan);
		if (ret != -EAGAIN)
			return ret;
	}
	return -EAGAIN;
}

/* Search for parts that fill racks. */
static int search_whole(struct morph_ledger *ledger, const struct morph_request *request,
			struct morph_plan *plan, uint32_t count)
{
	struct crossing *crossing = ledger->crossing;
	cross_server servers[CROSS_SLOTS];
	int ret = -EAGAIN;

	if (!crossing->possible || !find_shape(request, crossing, count))
		return -EAGAIN;
	lm_crossing_room(ledger, request, request->ranks / count, false, crossing);
	if (!lm_crossing_whole(ledger, request, servers))
		return -EAGAIN;
	/* Each plan that fails inside the switches removes leads, so the loop ends. */
	while (ret == -EAGAIN &&
	       !lm_cross_lay(&crossing->cross, &crossing->pod, &crossing->shape, servers)) {
		ret = lm_crossing_fill(ledger, plan);
	}
	return ret;
}

/* The unassigned rank with most circuits to the ranks of part @part; the first one of several. */
static uint32_t nearest(const struct morph_request *request, const struct crossing *crossing,
			uint32_t part)
{
	uint32_t joined[MOST_RANKS] = { 0 }, best = UINT32_MAX;

	for (uint32_t at = 0; at < request->circuits_count; at++) {
		uint32_t src = request->circuits[at].src, dst = request->circuits[at].dst;

		joined[src] += crossing->parts[dst] == part;
		joined[dst] += crossing->parts[src] == part;
	}
	for (uint32_t rank = 0; rank < request->ranks; rank++)
		if (crossing->parts[rank] == NO_PART &&
		    (best == UINT32_MAX || joined[rank] > joined[best]))
			best = rank;
	return best;
}

/*
 * Group connected ranks into parts: @with[n] parts of n ranks, the largest first. Returns the
 * number of parts; *least: ranks of the last one. O(ranks * circuits).
 */
static uint32_t group(const struct morph_request *request, struct crossing *crossing,
		      const uint32_t with[RACK_ACCELERATORS + 1], uint32_t *least)
{
	uint32_t part = 0, done = 0;

	for (uint32_t rank = 0; rank < request->ranks; rank++)
		crossing->parts[rank] = NO_PART;
	for (uint32_t size = RACK_ACCELERATORS; size; size--) {
		for (uint32_t left = with[size]; left && done < request->ranks; left--, part++) {
			for (*least = 0; *least < size && done < request->ranks; done++) {
				uint32_t rank = nearest(request, crossing, part);

				crossing->parts[rank] = (uint16_t)part;
				crossing->places[rank] = (uint16_t)(*least)++;
			}
		}
	}
	return part;
}

/*
 * For requests that do not fill servers. Try parts as large as the largest server has free
 * accelerators, then smaller ones. Finally take the servers with most free accelerators, and give
 * each as many ranks as it has free.
 */
static int search_groups(struct morph_ledger *ledger, const struct morph_request *request,
			 struct morph_plan *plan, uint64_t steps)
{
	uint32_t with[RACK_ACCELERATORS + 1], largest = RACK_ACCELERATORS, least = 0, count;
	int ret = -EAGAIN;

	lm_crossing_rooms(ledger, with);
	while (!with[largest])
		largest--;
	for (uint32_t size = largest; size && steps && ret == -EAGAIN; size--) {
		uint32_t alike[RACK_ACCELERATORS + 1] = { [0] = 0 };

		alike[size] = request->ranks;
		count = group(request, ledger->crossing, alike, &least);
		ret = search(ledger, request, plan, least, count, &steps);
	}
	if (ret != -EAGAIN)
		return ret;
	count = group(request, ledger->crossing, with, &least);
	return search(ledger, request, plan, least, count, &steps);
}

/* Search for parts that fill servers, or else for parts of any size. */
static int search_parts(struct morph_ledger *ledger, const struct morph_request *request,
			struct morph_plan *plan, uint64_t steps)
{
	struct crossing *crossing = ledger->crossing;
	uint32_t count;
	int ret;

	if (!plan->whole)
		return search_groups(ledger, request, plan, steps);
	count = lm_request_cut(request, ledger->search.block, crossing->parts, crossing->places);
	ret = search_whole(ledger, request, plan, count);
	if (ret != -EAGAIN)
		return ret;
	return search(ledger, request, plan, request->ranks / count, count, &steps);
}

/* Ranks without links take any free accelerators, rack by rack. */
static void take_any(struct morph_ledger *ledger, struct morph_plan *plan)
{
	const struct sites *sites = &ledger->sites;
	uint32_t rank = 0;

	for (uint32_t at = 0; at < sites->racks_count; at++) {
		const struct rack *rack = &sites->racks[ledger->rack_order[at]];

		for (uint32_t seat = 0; seat < rack->hosts_count; seat++) {
			uint32_t host = sites->rack_hosts[rack->hosts_first + seat];

			for (uint32_t member = sites->members_first[host];
			     member < sites->members_first[host + 1] && rank < plan->ranks;
			     member++)
				if (lm_ledger_free(ledger, sites->members[member]))
					plan->accelerators[rank++] = sites->members[member];
		}
	}
	plan->strands_count = 0;
	lm_crossing_verdict(ledger, plan);
}

/* ---------------------------------------------------------------------- tier */

/*
 * Free accelerators that the request can use. For parts that fill servers, only those in free
 * servers.
 */
static uint32_t count_free(const struct morph_ledger *ledger, uint32_t part)
{
	uint32_t count = 0;

	for (uint32_t host = 0; host < ledger->graph->hosts_count; host++)
		count += ledger->host_free[host] / part * part;
	return count;
}

static int refuse(struct morph_plan *plan, uint32_t have)
{
	const struct rack_refusal refusal = {
		.rack = UINT32_MAX, .reason = MORPH_WIRE_COUNT, .have = have, .need = plan->ranks
	};

	if (plan->verdict == MORPH_INFEASIBLE)
		snprintf(plan->why, sizeof(plan->why),
			 "not enough accelerators: %u requested, %u free in all racks%s",
			 plan->ranks, have,
			 plan->whole ? ", counting only entirely free servers" : "");
	return lm_plan_refuse(plan, &refusal, NULL);
}

static void doubt(const struct crossing *crossing, struct morph_plan *plan)
{
	plan->verdict = MORPH_UNDECIDED;
	snprintf(plan->why, sizeof(plan->why), "no rack fits; %s%s",
		 !crossing->possible ?
			 "the fabric's racks are not alike or too large, or no switches join them" :
			 "search budget exhausted; raise --steps",
		 lm_plan_remark(plan));
}

bool lm_racks_are_all(const struct morph_ledger *ledger, const struct morph_request *request)
{
	return request->tier < MORPH_TIER_CROSSING || ledger->sites.racks_count == 1;
}

static int begin(struct morph_ledger *ledger)
{
	if (ledger->crossing)
		return 0;
	ledger->crossing = calloc(1, sizeof(*ledger->crossing));
	if (!ledger->crossing)
		return lm_no_memory(ledger->ctx, "place a slice across racks");
	if (!lm_crossing_find(ledger->crossing, &ledger->sites))
		return 0;
	free(ledger->crossing);
	ledger->crossing = NULL;
	lm_no_memory(ledger->ctx, "place a slice across racks");
	return -ENOMEM;
}

int lm_place_crossing(struct morph_ledger *ledger, const struct morph_request *request,
		      struct morph_plan *plan, uint64_t steps)
{
	const uint32_t *block = ledger->search.block;
	uint32_t have = count_free(ledger, plan->whole ? block[0] * block[1] * block[2] : 1);
	int ret;

	if (plan->verdict == MORPH_INFEASIBLE && lm_racks_are_all(ledger, request))
		return 0;
	if (have < request->ranks)
		return refuse(plan, have);
	if (!request->circuits_count) {
		take_any(ledger, plan);
		return 0;
	}
	if (request->bands > 1) {
		plan->verdict = MORPH_UNDECIDED;
		snprintf(plan->why, sizeof(plan->why),
			 "no rack fits; across racks circuits take fibres whole%s",
			 lm_plan_remark(plan));
		return 0;
	}
	ret = begin(ledger);
	if (ret)
		return ret;
	ret = search_parts(ledger, request, plan, steps);
	if (ret == -EAGAIN)
		doubt(ledger->crossing, plan);
	return ret == -EAGAIN ? 0 : ret;
}

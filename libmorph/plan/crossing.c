// SPDX-License-Identifier: LGPL-2.1-or-later
/* The third tier: a slice whose parts lie in servers of any racks that circuit switches join. */
#include <stdio.h>
#include <string.h>

#include "crossing.h"

#define STARTS 16 /* from which a slice grows, one after the other */
#define MOVES 6000 /* from each */
#define HOT 6.0
#define COLD 1.0
#define NO_PART UINT16_MAX

/* --------------------------------------------------------------------- shape */

/* Links between parts. A circuit without one that goes back takes a link all the same. */
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

/* ---------------------------------------------------------------------- plan */

/* The way of light for one hop: any fibre between neighbours, or the one of that face. */
static const struct strand *hop_strand(const struct morph_ledger *ledger, cross_server from,
				       cross_server to, uint32_t fibre)
{
	const struct sites *sites = &ledger->sites;
	struct strand_range range =
		lm_strands_between(sites, crossing_host(sites, from), crossing_host(sites, to));

	for (uint32_t at = range.first; at < range.end; at++) {
		const struct strand *strand = &sites->strands[at];

		if ((fibre == OPTICS_NONE ? strand->guides_count == 1 :
					    strand->guides[0] == fibre) &&
		    lm_strand_free(ledger, strand))
			return strand;
	}
	return NULL;
}

/* The servers and fibres out of faces along a link, from its first slot's server on. */
struct trail {
	uint32_t hops;
	cross_server servers[CROSS_HOPS + 1];
	uint32_t out[CROSS_HOPS], back[CROSS_HOPS]; /* OPTICS_NONE between neighbours */
};

static void follow_way(const struct crossing *crossing, const struct cross_way *way,
		       cross_server from, cross_server to, struct trail *trail)
{
	trail->hops = way->hops;
	trail->servers[0] = from;
	for (uint32_t hop = 0; hop < way->hops; hop++) {
		const struct cross_arc *arc =
			&crossing->pod.arcs[from % CROSS_SEATS][way->arcs[hop]];
		uint32_t here = from / CROSS_SEATS, there = to / CROSS_SEATS;

		trail->out[hop] = arc->face ? crossing->out[here][arc->group] : OPTICS_NONE;
		trail->back[hop] = arc->face ? crossing->out[there][arc->far_group] : OPTICS_NONE;
		from = cross_step(&crossing->pod, from, way->arcs[hop], to);
		trail->servers[hop + 1] = from;
	}
}

/* The next link of the edge between two parts, from the server of @one. */
static void next_link(struct crossing *crossing, uint32_t one, uint32_t other, struct trail *trail)
{
	const struct cross_shape *shape = &crossing->shape;
	const struct cross *cross = &crossing->cross;

	trail->hops = 0;
	for (uint32_t at = 0; at < shape->of_slot_count[one]; at++) {
		uint32_t edge = shape->of_slot[one][at], link;
		uint32_t from = shape->edges[edge].from, to = shape->edges[edge].to;

		if (from != other && to != other)
			continue;
		link = shape->edges[edge].first + --crossing->units[one * shape->slots + other];
		follow_way(crossing, &cross->found.ways[link], cross->found.servers[from],
			   cross->found.servers[to], trail);
		return;
	}
}

/* The fibres of a circuit. A hop that has none, for what is inside a switch is unusable: *hop. */
static int add_way(struct morph_ledger *ledger, struct morph_plan *plan, uint32_t circuit,
		   struct trail *trail, uint32_t *missing)
{
	struct crossing *crossing = ledger->crossing;
	uint32_t one = crossing->parts[plan->circuits[circuit].src];
	uint32_t other = crossing->parts[plan->circuits[circuit].dst];
	struct circuit_way *way = &plan->ways[circuit];

	*way = (struct circuit_way){ .first = plan->strands_count };
	if (one == other)
		return 0;
	next_link(crossing, one, other, trail);
	for (uint32_t step = 0; step < trail->hops; step++) {
		uint32_t hop = one < other ? step : trail->hops - 1 - step;
		cross_server from = trail->servers[hop + (one > other)];
		cross_server to = trail->servers[hop + (one < other)];
		const struct strand *strand = hop_strand(
			ledger, from, to, one < other ? trail->out[hop] : trail->back[hop]);

		if (!strand) {
			*missing = hop;
			return -EAGAIN;
		}
		if (lm_plan_add_strand(plan, strand))
			return -ENOMEM;
		way->count++;
		lm_plan_note(ledger, plan, way, way->first + step, true);
	}
	return 0;
}

/* Places are counted over the free ones, which are all where parts fill servers. */
static void fill_ranks(struct morph_ledger *ledger, struct morph_plan *plan)
{
	const struct crossing *crossing = ledger->crossing;
	uint32_t order[RACK_ACCELERATORS];

	for (uint32_t rank = 0; rank < plan->ranks; rank++) {
		cross_server server = crossing->cross.found.servers[crossing->parts[rank]];
		uint32_t at = 0, place = crossing->places[rank];

		lm_server_order(ledger, crossing_host(&ledger->sites, server), order);
		while (!lm_ledger_free(ledger, order[at]) || place--)
			at++;
		plan->accelerators[rank] = order[at];
	}
}

/* How many servers have so many accelerators free. */
static void count_rooms(const struct morph_ledger *ledger, uint32_t with[RACK_ACCELERATORS + 1])
{
	memset(with, 0, (RACK_ACCELERATORS + 1) * sizeof(*with));
	for (uint32_t host = 0; host < ledger->graph->hosts_count; host++)
		with[ledger->host_free[host]]++;
}

/* Servers, and how many there are at least: of those with most free. */
static void fill_figures(const struct morph_ledger *ledger, struct morph_plan *plan)
{
	const struct optics_graph *graph = ledger->graph;
	uint32_t with[RACK_ACCELERATORS + 1], left = plan->ranks;

	plan->servers = 0;
	plan->servers_bound = 0;
	plan->fibres_bound = 0;
	count_rooms(ledger, with);
	for (uint32_t many = RACK_ACCELERATORS; many && left; many--) {
		for (; with[many] && left; with[many]--) {
			left -= left < many ? left : many;
			plan->servers_bound++;
		}
	}
	for (uint32_t rank = 0; rank < plan->ranks; rank++) {
		uint32_t host = graph->accelerators[plan->accelerators[rank]].host, other = 0;

		while (graph->accelerators[plan->accelerators[other]].host != host)
			other++;
		plan->servers += other == rank;
	}
	for (uint32_t at = 0; at < plan->circuits_count; at++)
		plan->fibres_bound +=
			graph->accelerators[plan->accelerators[plan->circuits[at].src]].host !=
			graph->accelerators[plan->accelerators[plan->circuits[at].dst]].host;
}

static void fill_verdict(const struct morph_ledger *ledger, struct morph_plan *plan)
{
	plan->verdict = MORPH_FEASIBLE;
	plan->tier = MORPH_TIER_CROSSING;
	plan->refusals_count = 0;
	plan->cuts_count = 0;
	plan->why[0] = '\0';
	fill_figures(ledger, plan);
}

/* What the search has found as a plan; -EAGAIN where that does not go through the switches. */
static int fill(struct morph_ledger *ledger, struct morph_plan *plan)
{
	struct crossing *crossing = ledger->crossing;
	uint32_t missing = 0, count = 0;
	struct trail trail;
	int ret = 0;

	plan->strands_count = 0;
	fill_ranks(ledger, plan);
	for (; count < plan->circuits_count && !ret; count++)
		ret = add_way(ledger, plan, count, &trail, &missing);
	while (count--)
		lm_plan_note(ledger, plan, &plan->ways[count], plan->ways[count].first, false);
	if (!ret)
		fill_verdict(ledger, plan);
	if (ret != -EAGAIN)
		return ret;
	plan->strands_count = 0;
	for (uint32_t group = crossing->first_face; group < crossing->pod.groups; group++) {
		uint32_t rack = trail.servers[missing] / CROSS_SEATS;

		if (crossing->out[rack][group] == trail.out[missing])
			crossing->pod.leads[rack][group] &=
				~(1ULL << trail.servers[missing + 1] / CROSS_SEATS);
	}
	return ret;
}

/* -------------------------------------------------------------------- search */

/* Parts, @count of them, the smallest of @least ranks. */
static int search(struct morph_ledger *ledger, const struct morph_request *request,
		  struct morph_plan *plan, uint32_t least, uint32_t count, uint64_t *steps)
{
	struct crossing *crossing = ledger->crossing;

	if (!crossing->possible || !find_shape(request, crossing, count))
		return -EAGAIN;
	lm_crossing_room(ledger, request, least, crossing);
	for (uint32_t start = 0; start < STARTS && *steps; start++) {
		struct cross_effort effort = { .moves = *steps < MOVES ? *steps : MOVES,
					       .hot = HOT,
					       .cold = COLD,
					       .thrifty = true };
		uint32_t over;
		int ret;

		*steps -= effort.moves;
		over = lm_cross_build(&crossing->cross, &crossing->pod, &crossing->shape, 1,
				      &effort, start);
		if (over == UINT32_MAX)
			break;
		if (over)
			continue;
		ret = fill(ledger, plan);
		if (ret != -EAGAIN)
			return ret;
		find_shape(request, crossing, count);
	}
	return -EAGAIN;
}

/* Parts that fill racks. */
static int search_whole(struct morph_ledger *ledger, const struct morph_request *request,
			struct morph_plan *plan, uint32_t count)
{
	struct crossing *crossing = ledger->crossing;
	cross_server servers[CROSS_SLOTS];
	int ret = -EAGAIN;

	if (!crossing->possible || !find_shape(request, crossing, count))
		return -EAGAIN;
	lm_crossing_room(ledger, request, request->ranks / count, crossing);
	if (!lm_crossing_whole(ledger, request, servers))
		return -EAGAIN;
	/* Each plan that does not go through the switches leaves less that might lead somewhere. */
	while (ret == -EAGAIN &&
	       !lm_cross_lay(&crossing->cross, &crossing->pod, &crossing->shape, servers)) {
		ret = fill(ledger, plan);
		if (ret == -EAGAIN)
			find_shape(request, crossing, count);
	}
	return ret;
}

/* A rank without a part that has most circuits to those of part @part, the first of them. */
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
 * Ranks in parts, what is joined together: servers have @with[n] parts of n ranks, the largest
 * come first. Returns how many there are, and the ranks of the last. O(ranks * circuits).
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
 * What fills no servers: in parts as large as the largest server has room for, and then smaller ones;
 * and at last in those servers that have most room, in each as many as it has.
 */
static int search_groups(struct morph_ledger *ledger, const struct morph_request *request,
			 struct morph_plan *plan, uint64_t steps)
{
	uint32_t with[RACK_ACCELERATORS + 1], largest = RACK_ACCELERATORS, least = 0, count;
	int ret = -EAGAIN;

	count_rooms(ledger, with);
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

/* In parts that fill servers, or else as servers have room. */
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

/* Ranks without links lie anywhere: in the racks in their order. */
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
	fill_verdict(ledger, plan);
}

/* ---------------------------------------------------------------------- tier */

/* Free accelerators that can be had: where parts fill servers, those of servers that are free. */
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
			 "%u accelerators are wanted; all racks together have %u free%s",
			 plan->ranks, have, plan->whole ? " in servers of which all are free" : "");
	return lm_plan_refuse(plan, &refusal, NULL);
}

static void doubt(const struct crossing *crossing, struct morph_plan *plan)
{
	plan->verdict = MORPH_UNDECIDED;
	snprintf(plan->why, sizeof(plan->why), "no rack does, and %s",
		 !crossing->possible ?
			 "the fabric's racks are not alike or too large, or no switches join them" :
			 "nothing was found across racks, and nothing proven");
}

static int begin(struct morph_ledger *ledger)
{
	if (ledger->crossing)
		return 0;
	ledger->crossing = calloc(1, sizeof(*ledger->crossing));
	if (!ledger->crossing)
		return lm_fail(ledger->ctx, ENOMEM, "place a slice across racks: out of memory");
	lm_crossing_find(ledger->crossing, &ledger->sites);
	return 0;
}

int lm_place_crossing(struct morph_ledger *ledger, const struct morph_request *request,
		      struct morph_plan *plan, uint64_t steps)
{
	const uint32_t *block = ledger->search.block;
	uint32_t have = count_free(ledger, plan->whole ? block[0] * block[1] * block[2] : 1);
	int ret;

	if (have < request->ranks)
		return refuse(plan, have);
	if (!request->circuits_count) {
		take_any(ledger, plan);
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

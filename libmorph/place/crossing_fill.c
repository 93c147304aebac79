// SPDX-License-Identifier: LGPL-2.1-or-later
/* Plans across racks: accelerators, and a fibre for each hop of each circuit. */
#include <string.h>

#include "crossing.h"

/*
 * Preferences of a circuit among fibres. Light reaches fibres of its own accelerators' tiles most
 * easily, and continues most easily on a fibre of the same tile.
 */
struct wish {
	uint32_t src, dst; /* accelerators, at first */
	bool strict; /* use exactly the fibres out of faces that the search found */
};

static uint32_t suits(const struct strand *strand, const struct wish *wish)
{
	return (strand->from_tile == wish->src) + (strand->to_tile == wish->dst);
}

/*
 * The best fibre for one hop: between neighbours, or out of a face, where the search found @face.
 */
static const struct strand *hop_strand(const struct morph_ledger *ledger, cross_server from,
				       cross_server to, uint32_t face, const struct wish *wish)
{
	const struct sites *sites = &ledger->sites;
	struct strand_range range =
		lm_strands_between(sites, crossing_host(sites, from), crossing_host(sites, to));
	const struct strand *best = NULL;
	uint32_t most = 0;

	for (uint32_t at = range.first; at < range.end; at++) {
		const struct strand *strand = &sites->strands[at];
		bool found = strand->guides[0] == face;
		uint32_t score = 1 + 2 * suits(strand, wish) + found;

		if ((strand->guides_count == 1) != (face == OPTICS_NONE) || score <= most ||
		    (wish->strict && !found && face != OPTICS_NONE) ||
		    !lm_strand_free(ledger, strand) ||
		    (ledger->crossing->own && !lm_may_touch(ledger, strand)))
			continue;
		best = strand;
		most = score;
	}
	return best;
}

/* Servers and face fibres along a link, from the server of its first slot. */
struct trail {
	uint32_t hops;
	cross_server servers[CROSS_HOPS + 1];
	uint32_t out[CROSS_HOPS], back[CROSS_HOPS]; /* OPTICS_NONE between neighbours */
};

static void follow_way(const struct crossing *crossing, uint32_t edge, uint32_t link,
		       struct trail *trail)
{
	const struct cross_shape *shape = &crossing->shape;
	const struct cross_found *found = &crossing->cross.found;
	const struct cross_way *way = &found->ways[shape->edges[edge].first + link];
	cross_server from = found->servers[shape->edges[edge].from];
	cross_server to = found->servers[shape->edges[edge].to];

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

/* The fibre of a step along a trail, or in the opposite direction. */
static const struct strand *step_strand(const struct morph_ledger *ledger,
					const struct trail *trail, uint32_t step, bool back,
					const struct wish *wish)
{
	uint32_t hop = back ? trail->hops - 1 - step : step;

	return hop_strand(ledger, trail->servers[hop + back], trail->servers[hop + !back],
			  back ? trail->back[hop] : trail->out[hop], wish);
}

/* How well a link suits a circuit: whether its fibres begin and end at the circuit's tiles. */
static uint32_t rate(const struct morph_ledger *ledger, const struct trail *trail, bool back,
		     const struct wish *wish)
{
	const struct strand *first = step_strand(ledger, trail, 0, back, wish);
	const struct strand *last = step_strand(ledger, trail, trail->hops - 1, back, wish);

	return first && last ? (first->from_tile == wish->src) + (last->to_tile == wish->dst) : 0;
}

static uint32_t find_edge(const struct cross_shape *shape, uint32_t one, uint32_t other)
{
	uint32_t at = 0, edge;

	do {
		edge = shape->of_slot[one][at++];
	} while (shape->edges[edge].from != other && shape->edges[edge].to != other);
	return edge;
}

/* Take the best unused link between two parts in this direction. One always exists. */
static void take_link(struct morph_ledger *ledger, uint32_t one, uint32_t other,
		      const struct wish *wish, struct trail *trail)
{
	struct crossing *crossing = ledger->crossing;
	uint32_t edge = find_edge(&crossing->shape, one, other), best = 0, most = 0;
	uint64_t *given = &crossing->given[edge][one > other];

	for (uint32_t link = 0; link < crossing->shape.edges[edge].links; link++) {
		uint32_t rating;

		if (*given >> link & 1)
			continue;
		follow_way(crossing, edge, link, trail);
		rating = 1 + rate(ledger, trail, one > other, wish);
		if (rating <= most)
			continue;
		most = rating;
		best = link;
	}
	*given |= 1ULL << best;
	follow_way(crossing, edge, best, trail);
}

/*
 * The fibres of a circuit. *missing: a hop without a fibre, because an element inside a switch is
 * unusable.
 */
static int add_way(struct morph_ledger *ledger, struct morph_plan *plan, uint32_t circuit,
		   bool strict, struct trail *trail, uint32_t *missing)
{
	const struct rank_pair *pair = &plan->circuits[circuit];
	uint32_t one = ledger->crossing->parts[pair->src],
		 other = ledger->crossing->parts[pair->dst];
	struct wish wish = { plan->accelerators[pair->src], plan->accelerators[pair->dst], strict };
	struct circuit_way *way = &plan->ways[circuit];

	*way = (struct circuit_way){ .first = plan->strands_count };
	if (one == other)
		return 0;
	take_link(ledger, one, other, &wish, trail);
	for (uint32_t step = 0; step < trail->hops; step++) {
		const struct strand *strand = step_strand(ledger, trail, step, one > other, &wish);

		if (!strand) {
			*missing = one < other ? step : trail->hops - 1 - step;
			return -EAGAIN;
		}
		if (lm_plan_add_strand(plan, strand))
			return -ENOMEM;
		way->count++;
		lm_plan_note(ledger, plan, way, way->first + step, true);
		wish.src = strand->to_tile;
	}
	return 0;
}

/* Places count only free accelerators. If parts fill servers, these are all. */
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

void lm_crossing_rooms(const struct morph_ledger *ledger, uint32_t with[RACK_ACCELERATORS + 1])
{
	memset(with, 0, (RACK_ACCELERATORS + 1) * sizeof(*with));
	for (uint32_t host = 0; host < ledger->graph->hosts_count; host++)
		with[ledger->host_free[host]]++;
}

/* The number of servers, and a lower bound: the fewest servers with enough free accelerators. */
static void fill_figures(const struct morph_ledger *ledger, struct morph_plan *plan)
{
	const struct optics_graph *graph = ledger->graph;
	uint32_t with[RACK_ACCELERATORS + 1], left = plan->ranks;

	plan->servers = 0;
	plan->servers_bound = 0;
	plan->fibres_bound = 0;
	lm_crossing_rooms(ledger, with);
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

void lm_crossing_verdict(const struct morph_ledger *ledger, struct morph_plan *plan)
{
	plan->verdict = MORPH_FEASIBLE;
	plan->tier = MORPH_TIER_CROSSING;
	plan->refusals_count = 0;
	plan->cuts_count = 0;
	plan->why[0] = '\0';
	fill_figures(ledger, plan);
}

/* Fibres for all circuits. *missing: the hop of @trail that has none. */
static int fill_ways(struct morph_ledger *ledger, struct morph_plan *plan, bool strict,
		     struct trail *trail, uint32_t *missing)
{
	struct crossing *crossing = ledger->crossing;
	uint32_t count = 0;
	int ret = 0;

	plan->strands_count = 0;
	memset(crossing->given, 0, crossing->shape.edges_count * sizeof(*crossing->given));
	for (; count < plan->circuits_count && !ret; count++)
		ret = add_way(ledger, plan, count, strict, trail, missing);
	while (count--)
		lm_plan_note(ledger, plan, &plan->ways[count], plan->ways[count].first, false);
	return ret;
}

/*
 * First let circuits take suitable fibres among those that join the same servers. Then a fibre can
 * be missing at the far end that another circuit uses, so try again with the fibres of the search.
 */
int lm_crossing_fill(struct morph_ledger *ledger, struct morph_plan *plan)
{
	struct crossing *crossing = ledger->crossing;
	uint32_t missing = 0;
	struct trail trail;
	int ret;

	fill_ranks(ledger, plan);
	ret = fill_ways(ledger, plan, false, &trail, &missing);
	if (ret == -EAGAIN)
		ret = fill_ways(ledger, plan, true, &trail, &missing);
	if (!ret)
		lm_crossing_verdict(ledger, plan);
	if (ret != -EAGAIN)
		return ret;
	plan->strands_count = 0;
	for (uint32_t group = crossing->first_face; group < crossing->first_gate; group++) {
		uint32_t rack = trail.servers[missing] / CROSS_SEATS;

		if (crossing->out[rack][group] == trail.out[missing])
			crossing->pod.leads[rack][group] &=
				~(1ULL << trail.servers[missing + 1] / CROSS_SEATS);
	}
	return ret;
}

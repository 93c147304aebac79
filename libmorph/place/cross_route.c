// SPDX-License-Identifier: LGPL-2.1-or-later
/* Paths for the links of slices across racks, and the links that they use. */
#include <string.h>

#include "../util/shortest.h"
#include "cross.h"

#define STATES (2 * CROSS_SEATS) /* positions in the first rack, then in the last one */

void lm_cross_shape_init(struct cross_shape *shape, uint32_t slots)
{
	memset(shape, 0, sizeof(*shape));
	shape->slots = slots;
}

static uint32_t slot_links(const struct cross_shape *shape, uint32_t slot)
{
	uint32_t links = 0;

	for (uint32_t at = 0; at < shape->of_slot_count[slot]; at++)
		links += shape->edges[shape->of_slot[slot][at]].links;
	return links;
}

bool lm_cross_shape_join(struct cross_shape *shape, uint32_t from, uint32_t to, uint32_t links)
{
	uint32_t number = shape->edges_count;

	if (number == CROSS_EDGES || !links || links > CROSS_DEGREE ||
	    shape->links + links > CROSS_WAYS || slot_links(shape, from) + links > CROSS_DEGREE ||
	    slot_links(shape, to) + links > CROSS_DEGREE)
		return false;
	shape->edges[number].from = (uint16_t)from;
	shape->edges[number].to = (uint16_t)to;
	shape->edges[number].links = (uint8_t)links;
	shape->edges[number].first = (uint16_t)shape->links;
	shape->of_slot[from][shape->of_slot_count[from]++] = (uint16_t)number;
	shape->of_slot[to][shape->of_slot_count[to]++] = (uint16_t)number;
	shape->edges_count++;
	shape->links += links;
	return true;
}

/* ---------------------------------------------------------------------- use */

static void count_use(struct cross *cross, uint32_t rack, uint32_t group, int by)
{
	uint16_t *used = &cross->used[rack][group];
	uint32_t room = cross->pod->room[rack][group], number = rack * CROSS_GROUPS + group;

	if (by > 0 && (*used)++ >= room) {
		cross->over++;
		if (*used == room + 1) {
			cross->hot_at[number] = (uint16_t)cross->hot_count;
			cross->hot[cross->hot_count++] = (uint16_t)number;
		}
	} else if (by < 0 && --*used >= room) {
		cross->over--;
		if (*used == room) {
			uint16_t last = cross->hot[--cross->hot_count];

			cross->hot[cross->hot_at[number]] = last;
			cross->hot_at[last] = cross->hot_at[number];
		}
	}
}

static void count_link(struct cross *cross, uint32_t rack, uint32_t group, int by)
{
	cross->taken += (uint32_t)by;
	count_use(cross, rack, group, by);
}

static void count_gate(struct cross *cross, cross_server server, uint32_t times, int by)
{
	uint32_t gate = cross->pod->gates[server % CROSS_SEATS];

	while (gate && times--)
		count_use(cross, server / CROSS_SEATS, gate - 1, by);
}

static void use_way(struct cross *cross, const struct cross_way *way, cross_server from,
		    cross_server to, int by)
{
	/* A link without any path counts as one overload. */
	if (!way->hops)
		cross->over += (uint32_t)by;
	else
		count_gate(cross, from, 1, by);
	for (uint32_t hop = 0; hop < way->hops; hop++) {
		const struct cross_arc *arc = &cross->pod->arcs[from % CROSS_SEATS][way->arcs[hop]];

		count_link(cross, from / CROSS_SEATS, arc->group, by);
		if (arc->face)
			count_link(cross, to / CROSS_SEATS, arc->far_group, by);
		from = cross_step(cross->pod, from, way->arcs[hop], to);
		count_gate(cross, from, hop + 1 < way->hops ? CROSS_PASS : 1, by);
	}
}

struct ends {
	struct cross_way *ways;
	uint32_t links;
	cross_server from, to;
};

static struct ends ends_of(struct cross *cross, uint32_t slice, uint32_t edge)
{
	const struct cross_shape *shape = cross->shape;
	const cross_server *servers = &cross->found.servers[slice * shape->slots];

	return (struct ends){ &cross->found.ways[slice * shape->links + shape->edges[edge].first],
			      shape->edges[edge].links, servers[shape->edges[edge].from],
			      servers[shape->edges[edge].to] };
}

void lm_cross_use(struct cross *cross, uint32_t slice, uint32_t edge, int by)
{
	struct ends ends = ends_of(cross, slice, edge);

	for (uint32_t link = 0; link < ends.links; link++)
		use_way(cross, &ends.ways[link], ends.from, ends.to, by);
}

static bool gate_is(const struct cross_pod *pod, cross_server server, uint32_t rack, uint32_t group)
{
	return server / CROSS_SEATS == rack && pod->gates[server % CROSS_SEATS] == group + 1;
}

static bool way_has(const struct cross_pod *pod, const struct cross_way *way, cross_server from,
		    cross_server to, uint32_t rack, uint32_t group)
{
	if (way->hops && gate_is(pod, from, rack, group))
		return true;
	for (uint32_t hop = 0; hop < way->hops; hop++) {
		const struct cross_arc *arc = &pod->arcs[from % CROSS_SEATS][way->arcs[hop]];

		if ((arc->group == group && from / CROSS_SEATS == rack) ||
		    (arc->face && arc->far_group == group && to / CROSS_SEATS == rack))
			return true;
		from = cross_step(pod, from, way->arcs[hop], to);
		if (gate_is(pod, from, rack, group))
			return true;
	}
	return false;
}

bool lm_cross_who(const struct cross *cross, uint32_t rack, uint32_t group, uint32_t from,
		  uint32_t *slice, uint32_t *edge)
{
	const struct cross_shape *shape = cross->shape;
	uint32_t count = cross->found.slices * shape->edges_count;
	uint32_t next_slice = from / shape->edges_count, next_edge = from % shape->edges_count;

	for (uint32_t at = 0; at < count; at++) {
		struct ends ends = ends_of((struct cross *)(uintptr_t)cross, next_slice, next_edge);

		*slice = next_slice;
		*edge = next_edge;
		/* The caller searches often: no division by the number of edges here. */
		if (++next_edge == shape->edges_count) {
			next_edge = 0;
			if (++next_slice == cross->found.slices)
				next_slice = 0;
		}
		if (ends.from / CROSS_SEATS != rack && ends.to / CROSS_SEATS != rack)
			continue;
		for (uint32_t link = 0; link < ends.links; link++)
			if (way_has(cross->pod, &ends.ways[link], ends.from, ends.to, rack, group))
				return true;
	}
	return false;
}

uint32_t lm_cross_excess(const struct cross *cross, uint32_t slice)
{
	const struct cross_shape *shape = cross->shape;
	const struct cross_pod *pod = cross->pod;
	uint32_t excess = 0;

	for (uint32_t edge = 0; edge < shape->edges_count; edge++) {
		struct ends ends = ends_of((struct cross *)(uintptr_t)cross, slice, edge);

		for (uint32_t at = 0; at < cross->hot_count; at++) {
			uint32_t rack = cross->hot[at] / CROSS_GROUPS;
			uint32_t group = cross->hot[at] % CROSS_GROUPS;

			for (uint32_t link = 0; link < ends.links; link++)
				excess += way_has(pod, &ends.ways[link], ends.from, ends.to, rack,
						  group);
		}
		for (uint32_t link = 0; link < ends.links; link++)
			excess += !ends.ways[link].hops;
	}
	return excess;
}

/* --------------------------------------------------------------------- ways */

/* Links that other paths use, by rack and group. */
typedef uint16_t cross_load[CROSS_RACKS][CROSS_GROUPS];

static uint32_t price(const struct cross_pod *pod, const cross_load load, uint32_t rack,
		      uint32_t group)
{
	return 1 + (load[rack][group] >= pod->room[rack][group] ? CROSS_BEYOND : 0);
}

/* The cost of light that crosses a server. */
static uint32_t toll(const struct cross_pod *pod, const cross_load load, uint32_t rack,
		     uint32_t seat)
{
	uint32_t gate = pod->gates[seat];

	return gate && load[rack][gate - 1] + CROSS_PASS > pod->room[rack][gate - 1] ?
		       CROSS_BEYOND :
		       0;
}

/*
 * Each state is a server position; add CROSS_SEATS in the last rack, behind a switch. The cost is
 * links times STATES, plus hops. So of paths with equally many links, the one with fewer hops wins.
 */
struct labels {
	struct shortest search;
	uint8_t arc[STATES]; /* the arc from the preceding state */
};

static void relax(const struct cross_pod *pod, const cross_load load, struct labels *labels,
		  uint32_t state, uint32_t rack, cross_server to)
{
	uint32_t seat = state % CROSS_SEATS, behind = state / CROSS_SEATS, last = to / CROSS_SEATS;
	uint32_t here = behind ? last : rack;

	for (uint32_t at = 0; at < pod->arcs_count[seat]; at++) {
		const struct cross_arc *arc = &pod->arcs[seat][at];
		uint32_t next = (behind || arc->face ? CROSS_SEATS : 0) + arc->to, cost;
		uint32_t there = next / CROSS_SEATS ? last : here;

		if (labels->search.done >> next & 1 || !pod->room[here][arc->group] ||
		    (arc->face && (behind || !pod->room[last][arc->far_group] ||
				   !(pod->leads[rack][arc->group] >> last & 1))) ||
		    (!(pod->pass[there] >> arc->to & 1) &&
		     (arc->to != to % CROSS_SEATS || there != last)))
			continue;
		cost = price(pod, load, here, arc->group);
		if (arc->face)
			cost += price(pod, load, last, arc->far_group);
		if (arc->to != to % CROSS_SEATS || there != last)
			cost += toll(pod, load, there, arc->to);
		if (shortest_reach(&labels->search, state, next,
				   labels->search.cost[state] + cost * STATES + 1))
			labels->arc[next] = (uint8_t)at;
	}
}

/* Find the cheapest path. It has no hops if there is none. */
static void find(const struct cross_pod *pod, const cross_load load, cross_server from,
		 cross_server to, struct cross_way *way)
{
	uint32_t rack = from / CROSS_SEATS, begin = from % CROSS_SEATS, goal = to % CROSS_SEATS;
	bool near = rack == to / CROSS_SEATS;
	struct labels labels;
	uint8_t states[STATES];
	uint32_t at;

	way->hops = 0;
	shortest_begin(&labels.search, begin);
	do {
		at = shortest_next(&labels.search);
		if (at == SHORTEST_NONE)
			return;
		relax(pod, load, &labels, at, rack, to);
	} while (at % CROSS_SEATS != goal || (at < CROSS_SEATS && !near));
	way->hops = (uint8_t)shortest_trace(&labels.search, begin, at, states);
	for (uint32_t hop = 0; hop < way->hops; hop++)
		way->arcs[hop] = labels.arc[states[hop + 1]];
}

static uint32_t left_in(const struct cross_pod *pod, const cross_load load, uint32_t rack,
			uint32_t group)
{
	uint32_t room = pod->room[rack][group], used = load[rack][group];

	return room > used ? room - used : 0;
}

/* How many links fit on this path; 1 if it is full. */
static uint32_t width(const struct cross_pod *pod, const cross_load load,
		      const struct cross_way *way, cross_server from, cross_server to,
		      uint32_t most)
{
	for (uint32_t hop = 0; hop < way->hops; hop++) {
		const struct cross_arc *arc = &pod->arcs[from % CROSS_SEATS][way->arcs[hop]];
		uint32_t left = left_in(pod, load, from / CROSS_SEATS, arc->group);

		most = left < most ? left : most;
		left = arc->face ? left_in(pod, load, to / CROSS_SEATS, arc->far_group) : most;
		most = left < most ? left : most;
		from = cross_step(pod, from, way->arcs[hop], to);
		if (hop + 1 == way->hops || !pod->gates[from % CROSS_SEATS])
			continue;
		left = left_in(pod, load, from / CROSS_SEATS, pod->gates[from % CROSS_SEATS] - 1U) /
		       CROSS_PASS;
		most = left < most ? left : most;
	}
	return most ? most : 1;
}

void lm_cross_route(struct cross *cross, uint32_t slice, uint32_t edge)
{
	struct ends ends = ends_of(cross, slice, edge);
	uint32_t link = 0;

	while (link < ends.links) {
		struct cross_way *way = &ends.ways[link];
		uint32_t last;

		find(cross->pod, cross->used, ends.from, ends.to, way);
		last = link +
		       width(cross->pod, cross->used, way, ends.from, ends.to, ends.links - link);
		for (; link < last; link++) {
			if (&ends.ways[link] != way)
				ends.ways[link] = *way;
			use_way(cross, way, ends.from, ends.to, 1);
		}
	}
}

/* Add links to a path in @load. Returns their cost per link. */
static uint32_t load_way(const struct cross_pod *pod, cross_load load, const struct cross_way *way,
			 cross_server from, cross_server to, int links)
{
	uint32_t cost = 0;

	for (uint32_t hop = 0; hop < way->hops; hop++) {
		const struct cross_arc *arc = &pod->arcs[from % CROSS_SEATS][way->arcs[hop]];
		uint32_t here = from / CROSS_SEATS, there = to / CROSS_SEATS;

		cost += price(pod, load, here, arc->group);
		load[here][arc->group] = (uint16_t)(load[here][arc->group] + links);
		if (arc->face) {
			cost += price(pod, load, there, arc->far_group);
			load[there][arc->far_group] =
				(uint16_t)(load[there][arc->far_group] + links);
		}
		from = cross_step(pod, from, way->arcs[hop], to);
	}
	return way->hops ? cost : CROSS_ALONE_MOST;
}

uint32_t lm_cross_alone(struct cross *cross, cross_server from, cross_server to)
{
	uint32_t links = cross->shape->edges[0].links, cost = 0, ways = 0, done = 0;
	struct cross_way way[4];
	uint32_t wide[4];

	if (cross->alone[from][to])
		return cross->alone[from][to];
	while (done < links) {
		find(cross->pod, cross->nothing, from, to, &way[ways]);
		wide[ways] = ways == 3 ? links - done :
					 width(cross->pod, cross->nothing, &way[ways], from, to,
					       links - done);
		cost += wide[ways] *
			load_way(cross->pod, cross->nothing, &way[ways], from, to, (int)wide[ways]);
		done += wide[ways++];
	}
	while (ways--)
		load_way(cross->pod, cross->nothing, &way[ways], from, to, -(int)wide[ways]);
	cost = cost < CROSS_ALONE_MOST ? cost : CROSS_ALONE_MOST;
	cross->alone[from][to] = cross->alone[to][from] = (uint8_t)cost;
	return cost;
}

// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * Tolls: lower bounds of the cost from a place to the receiver. Dijkstra's algorithm runs
 * backward over the few arcs of bound.c, before the search over guides that uses the tolls
 * (Holte et al., Hierarchical A*: Searching Abstraction Hierarchies Efficiently, AAAI 1996).
 * It stops when it has reached all transmit ports. All other places are at least as far.
 */
#include "search.h"

#define TOLL_MAX	0xffffff00u

/* Record a chain from @place that costs @toll. */
static void offer(struct search *search, u32 place, u64 toll)
{
	struct search_tolls *tolls = &search->tolls;
	u32 slot, old;

	search->effort++;
	if (toll > TOLL_MAX)
		toll = TOLL_MAX;
	slot = optics_table_find(&tolls->places, place, &old);
	if (old != OPTICS_NONE && tolls->cost[old] <= toll)
		return;
	if (tolls->places.count == tolls->limit) {
		tolls->cut = true;
		return;
	}
	tolls->cost[optics_table_put(&tolls->places, slot, place)] = (u32)toll;
	optics_heap_push(&search->heap, toll << 32 | (tolls->places.count - 1));
}

/* Start from the permitted receivers. */
static void offer_receivers(struct search *search)
{
	const struct optics_graph *graph = search->graph;
	u64 planes;
	u32 base = optics_search_ends(search, true, &planes);

	for (; planes; planes &= planes - 1) {
		u32 code = graph->rx_guide[base + optics_first64(planes)];
		const struct optics_end *end = optics_far_end(graph, code);
		u32 place;

		search->effort++;
		if (end->type != MORPH_END_ELEMENT)
			continue;
		place = optics_place_left(graph, end);
		offer(search, place, (u64)optics_in_place(search, place, graph->slack[code ^ 1]));
	}
}

/* Drop the first transmit ports of @planes whose places have their final toll. */
static u64 without_reached(const struct search *search, u64 planes)
{
	const struct optics_graph *graph = search->graph;
	u64 all;
	u32 base = optics_search_ends(search, false, &all);

	for (; planes; planes &= planes - 1) {
		const struct optics_end *end =
			optics_far_end(graph, graph->tx_guide[base + optics_first64(planes)]);
		u32 entry;

		if (end->type != MORPH_END_ELEMENT)
			continue;
		optics_table_find(&search->tolls.places, optics_place_entered(graph, end), &entry);
		if (entry == OPTICS_NONE || search->tolls.cost[entry] > search->tolls.reach)
			break;
	}
	return planes;
}

void optics_tolls_start(struct search *search)
{
	struct search_tolls *tolls = &search->tolls;

	optics_search_ends(search, false, &tolls->awaited);
	tolls->places.count = 0;
	tolls->reach = 0;
	tolls->cut = false;
	search->heap.count = 0;
	if (!(search->request->rx_accelerator & OPTICS_EDGE))
		offer_receivers(search);
}

bool optics_tolls_continue(struct search *search)
{
	struct search_tolls *tolls = &search->tolls;

	while (search->heap.count && !tolls->cut) {
		u32 at, place, arc;

		if (optics_search_pauses(search))
			return false;
		at = (u32)optics_heap_pop(&search->heap);
		search->effort++;
		if (!optics_table_current(&tolls->places, at))
			continue;
		tolls->reach = tolls->cost[at];
		tolls->awaited = without_reached(search, tolls->awaited);
		if (!tolls->awaited || tolls->reach == TOLL_MAX) {
			tolls->cut = true;
			break;
		}
		place = tolls->places.names[at].key;
		for (arc = search->graph->place_arcs[place]; arc != OPTICS_NONE;
		     arc = search->graph->arcs[arc].next) {
			const struct optics_arc *step = &search->graph->arcs[arc];

			offer(search, step->from, (u64)((s64)tolls->cost[at] +
				optics_in_place(search, step->from, step->out) +
				optics_in_place(search, place, step->in)));
		}
	}
	return true;
}

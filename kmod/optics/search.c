// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * The label search: A* (Hart, Nilsson and Raphael, IEEE Trans. SSC 4(2), 1968) in memory
 * proportional to the step budget. toll.c gives the lower bound of the remaining cost.
 */
#include "search.h"

/* Order of visits: expected cost of the whole path, then longer partial path, then age. */
#define KEY_COST_SHIFT	28
#define KEY_DEPTH_SHIFT	21

static u64 toll_bytes(u32 limit)
{
	return ((u64)limit * sizeof(u32) + optics_table_bytes(limit) + 7) & ~7ull;
}

u64 optics_search_bytes(u32 steps)
{
	return (u64)steps * (sizeof(struct search_label) + sizeof(u64)) +
	       toll_bytes(steps / 2) + optics_table_bytes(steps);
}

void optics_search_init(struct search *search, void *work, u32 steps)
{
	search->labels = work;
	search->heap.keys = (u64 *)(search->labels + steps);
	search->tolls.cost = (u32 *)(search->heap.keys + steps);
	search->tolls.limit = steps / 2;
	optics_table_init(&search->tolls.places, search->tolls.cost + steps / 2, steps / 2);
	optics_table_init(&search->guides,
			  (u8 *)search->tolls.cost + (size_t)toll_bytes(steps / 2), steps);
}

static bool listed(const u32 *sorted, u32 count, u32 value)
{
	u32 low = 0;

	while (low < count) {
		u32 middle = low + (count - low) / 2;

		if (sorted[middle] == value)
			return true;
		if (sorted[middle] < value)
			low = middle + 1;
		else
			count = middle;
	}
	return false;
}

u32 optics_search_ends(const struct search *search, bool receiver, u64 *planes)
{
	const struct optics_route_request *request = search->request;
	u32 place = receiver ? request->rx_accelerator : request->tx_accelerator;

	*planes = 1;
	if (place & OPTICS_EDGE)
		return optics_edge_end(search->graph, place & ~OPTICS_EDGE);
	*planes = (receiver ? request->rx_planes : request->tx_planes) &
		  optics_low_mask(search->graph->params.planes);
	return place * search->graph->params.planes;
}

u64 optics_search_port_lanes(const struct search *search, u32 port, bool receiver)
{
	const struct optics_state *state = search->state;
	u64 lanes = search->lanes;
	u32 owner;

	if (!(search->assume & SEARCH_NO_CLAIMS)) {
		lanes &= ~(receiver ? state->rx_lanes : state->tx_lanes)[port];
		owner = state->owner[optics_end_place(search->graph, port)];
		/* One slice holds all lanes of an edge. The caller checks accelerators. */
		if (optics_end_is_edge(search->graph, port) && owner &&
		    owner != search->request->owner)
			lanes = 0;
	}
	if (!(search->assume & SEARCH_NO_HEALTH))
		lanes &= ~(receiver ? state->rx_dead : state->tx_dead)[port];
	return lanes;
}

/* Whether a path may enter an element. */
static bool may_enter(const struct search *search, u32 element)
{
	const struct optics_route_request *request = search->request;
	u32 tile = search->graph->elements[element].tile;
	u8 marks = search->state->element_marks[element];

	if (marks & OPTICS_HELD && !(search->assume & SEARCH_NO_CLAIMS))
		return false;
	if (marks & ~OPTICS_HELD && !(search->assume & SEARCH_NO_HEALTH))
		return false;
	if (request->transit_own && !(search->assume & SEARCH_NO_CLAIMS) && tile != OPTICS_NONE &&
	    search->state->owner[tile] && search->state->owner[tile] != request->owner)
		return false;
	return !request->avoid_elements_count ||
	       !listed(request->avoid_elements, request->avoid_elements_count, element);
}

static bool enough(const struct search *search, u64 lanes)
{
	u32 need = search->request->lanes_count;

	return need == 1 ? lanes != 0 : optics_weight64(lanes) >= need;
}

/* Whether the end of a guide, which is no element, is a target of the search. */
static bool arrives(const struct optics_route_request *request, const struct optics_end *end,
		    bool backwards)
{
	u32 place = backwards ? request->tx_accelerator : request->rx_accelerator;
	u64 planes = backwards ? request->tx_planes : request->rx_planes;

	if (end->type == MORPH_END_EDGE)
		return place == (OPTICS_EDGE | end->index);
	return end->type == (backwards ? MORPH_END_TX : MORPH_END_RX) && end->index == place &&
	       planes >> end->port & 1;
}

/* The lanes of @lanes that can pass the guide and continue behind it. */
static u64 passing_lanes(struct search *search, u32 code, const struct optics_end *end, u64 lanes)
{
	const struct optics_route_request *request = search->request;
	bool backwards = search->assume & SEARCH_BACKWARDS;
	u32 guide = code >> 1;

	if (!(search->assume & SEARCH_NO_HEALTH) && search->state->guide_marks[guide])
		return 0;
	if (request->avoid_guides_count &&
	    listed(request->avoid_guides, request->avoid_guides_count, guide))
		return 0;
	if (search->assume & SEARCH_NO_COMMON)
		lanes = search->lanes;
	search->state->lanes_visited += optics_weight64(lanes);
	if (!(search->assume & SEARCH_NO_CLAIMS))
		lanes &= ~optics_guide_taken(search->state, guide);
	if (end->type == MORPH_END_ELEMENT)
		return may_enter(search, end->index) ? lanes : 0;
	if (!arrives(request, end, backwards))
		return 0;
	return lanes & optics_search_port_lanes(search, optics_circuit_end(search->graph, end),
						!backwards);
}

/*
 * Add a label for guide @code, unless it has one that is at least as good. A guide keeps one
 * label. If the dropped one had other lanes, the search is no longer exact.
 */
static inline void relax(struct search *search, u32 code, struct search_label *next)
{
	const struct optics_end *end = optics_far_end(search->graph, code);
	u32 left = 0, slot, old;

	search->effort++;
	next->element = end->type == MORPH_END_ELEMENT ? end->index : OPTICS_NONE;
	if (next->element != OPTICS_NONE && !(search->assume & SEARCH_BACKWARDS))
		left = optics_toll(search, code, end);
	if (left == OPTICS_NONE)
		return;
	next->lanes = passing_lanes(search, code, end, next->lanes);
	if (!enough(search, next->lanes))
		return;
	next->cost += optics_cost(search->graph->guides[code >> 1].loss_mdb, 0);
	next->port = end->port;
	slot = optics_table_find(&search->guides, code, &old);
	if (old != OPTICS_NONE) {
		const struct search_label *other = &search->labels[old];
		bool keep = other->cost <= next->cost;

		if (!(search->assume & SEARCH_NO_COMMON) &&
		    (keep ? next->lanes & ~other->lanes : other->lanes & ~next->lanes))
			search->inexact = true;
		if (keep)
			return;
	}
	if (search->guides.count == search->labels_limit) {
		search->exhausted = true;
		return;
	}
	old = optics_table_put(&search->guides, slot, code);
	search->labels[old] = *next;
	optics_heap_push(&search->heap, ((u64)next->cost + left) << KEY_COST_SHIFT |
			 (u64)(OPTICS_MAX_HOPS - next->depth) << KEY_DEPTH_SHIFT | old);
}

/*
 * The state in which the path to label @at has crossed the same element before, or
 * OPTICS_NONE if it has not.
 */
static u32 crossed_before(const struct search *search, u32 at)
{
	const struct search_label *labels = search->labels;
	u32 element = labels[at].element;
	u32 from;

	for (; (from = labels[at].from) != OPTICS_NONE; at = from)
		if (labels[from].element == element)
			return labels[at].state;
	return OPTICS_NONE;
}

/* Cross the element behind label @at in @state. */
static void cross(struct search *search, u32 at, u32 state)
{
	const struct optics_graph *graph = search->graph;
	const struct search_label *label = &search->labels[at];
	u8 joined = optics_joined(graph, label->element, state, label->port);
	struct search_label next;
	u32 code;

	if (joined == MORPH_PORT_NONE)
		return;
	code = graph->port_guide[graph->elements[label->element].first_port + joined];
	if (code == OPTICS_NONE)
		return;
	next.from = at;
	next.lanes = label->lanes;
	next.state = (u8)state;
	next.depth = label->depth + 1;
	next.cost = label->cost +
		    optics_cost(graph->kinds[graph->elements[label->element].kind].loss_mdb,
				search->state->element_state[label->element] != state);
	relax(search, code, &next);
}

/*
 * Expand a label: cross its element in each permitted state. An element that the path has
 * crossed before keeps its state. Light then never meets its own guides, because states
 * join ports in pairs.
 */
static void expand(struct search *search, u32 at)
{
	const struct search_label *label = &search->labels[at];
	const struct optics_graph *graph = search->graph;
	const struct optics_kind *kind = &graph->kinds[graph->elements[label->element].kind];
	u32 now = search->state->element_state[label->element];
	u32 before = OPTICS_NONE, seen, state;

	search->state->elements_visited++;
	if (label->depth == OPTICS_MAX_HOPS) {
		search->inexact = true;
		return;
	}
	if (!(search->assume & SEARCH_NO_PAST))
		before = crossed_before(search, at);
	if (before != OPTICS_NONE) {
		search->inexact = true;
		cross(search, at, before);
		return;
	}
	cross(search, at, now);
	if (!(search->assume & SEARCH_NO_CLAIMS) && search->state->element_pins[label->element])
		return;
	seen = 0;
	if (optics_joined(graph, label->element, now, label->port) != MORPH_PORT_NONE)
		seen = 1u << optics_joined(graph, label->element, now, label->port);
	for (state = 0; state < kind->states && seen != kind->leaks[label->port]; state++) {
		u8 joined = optics_joined(graph, label->element, state, label->port);

		if (joined == MORPH_PORT_NONE || seen >> joined & 1)
			continue;
		seen |= 1u << joined;
		cross(search, at, state);
	}
}

/* Whether any receiver has the lanes. Otherwise a search is useless. */
static bool may_arrive(struct search *search)
{
	u64 planes;
	u32 base = optics_search_ends(search, true, &planes);

	for (; planes; planes &= planes - 1) {
		search->effort++;
		if (enough(search, optics_search_port_lanes(search, base + optics_first64(planes),
							    true)))
			return true;
	}
	return false;
}

/* Add a label for each permitted port at the start. */
static void add_starts(struct search *search)
{
	const struct optics_graph *graph = search->graph;
	bool backwards = search->assume & SEARCH_BACKWARDS;
	u64 planes;
	u32 base = optics_search_ends(search, backwards, &planes);

	for (; planes; planes &= planes - 1) {
		u32 port = base + optics_first64(planes);
		struct search_label label = {
			.lanes = optics_search_port_lanes(search, port, backwards),
			.from = OPTICS_NONE,
			.depth = 1,
		};

		search->effort++;
		if (enough(search, label.lanes))
			relax(search, (backwards ? graph->rx_guide : graph->tx_guide)[port],
			      &label);
	}
}

void optics_search_start(struct search *search)
{
	search->guides.count = 0;
	search->heap.count = 0;
	search->arrived = OPTICS_NONE;
	search->inexact = false;
	search->exhausted = false;
	if (may_arrive(search))
		add_starts(search);
}

bool optics_search_continue(struct search *search)
{
	for (;;) {
		u32 at;

		/* Runs that end at once must pause too, because a request can have many. */
		if (optics_search_pauses(search))
			return false;
		if (!search->heap.count || search->exhausted)
			return true;
		at = (u32)optics_heap_pop(&search->heap) & ((1u << KEY_DEPTH_SHIFT) - 1);
		search->effort++;
		if (!optics_table_current(&search->guides, at))
			continue;
		if (search->labels[at].element == OPTICS_NONE) {
			search->arrived = at;
			return true;
		}
		expand(search, at);
	}
}

void optics_search_path(const struct search *search, u32 label, struct optics_path *path)
{
	const struct optics_graph *graph = search->graph;
	const struct search_label *at = &search->labels[label];
	const struct optics_end *end = optics_far_end(graph, search->guides.names[label].key);
	u32 need = search->request->lanes_count;
	u32 code = 0, state = 0, hop;
	u64 lanes = at->lanes;

	path->rx = optics_circuit_end(graph, end);
	path->loss_mdb = at->cost >> OPTICS_COST_BITS;
	path->hops_count = at->depth;
	path->lanes = 0;
	while (need--) {
		path->lanes |= lanes & -lanes;
		lanes &= lanes - 1;
	}
	for (hop = path->hops_count; hop--; ) {
		at = &search->labels[label];
		code = search->guides.names[label].key;
		path->hops[hop].guide = code;
		path->hops[hop].element = at->element;
		path->hops[hop].state = state;
		state = at->state;
		label = at->from;
	}
	end = &graph->guides[code >> 1].end[code & 1];
	path->tx = optics_circuit_end(graph, end);
}

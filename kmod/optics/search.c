// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* The label search: Dijkstra's algorithm in memory that follows the step budget. */
#include "search.h"

#define TABLE_MIN_BITS	6u
#define BLOCK_BITS	3u	/* neighbouring guides share a block of slots */

/* At least two slots for a label. */
static u32 table_bits(u32 steps)
{
	u32 bits = TABLE_MIN_BITS;

	while (1ull << bits < 2ull * steps)
		bits++;
	return bits;
}

u64 optics_search_bytes(u32 steps)
{
	return (u64)steps * (sizeof(struct search_label) + sizeof(u64)) +
	       (sizeof(u32) << table_bits(steps));
}

void optics_search_init(struct search *search, void *work, u32 steps)
{
	search->labels = work;
	search->heap = (u64 *)(search->labels + steps);
	search->table = (u32 *)(search->heap + steps);
	search->table_bits = table_bits(steps);
}

static void heap_push(struct search *search, u64 key)
{
	u64 *heap = search->heap;
	u32 at = search->heap_count++;

	while (at && heap[(at - 1) / 2] > key) {
		heap[at] = heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	heap[at] = key;
}

static u64 heap_pop(struct search *search)
{
	u64 *heap = search->heap;
	u64 least = heap[0], last = heap[--search->heap_count];
	u32 at = 0, child;

	while ((child = 2 * at + 1) < search->heap_count) {
		if (child + 1 < search->heap_count && heap[child + 1] < heap[child])
			child++;
		if (heap[child] >= last)
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = last;
	return least;
}

/* The label that a slot names, or OPTICS_NONE if the slot is free. */
static u32 slot_label(const struct search *search, u32 slot)
{
	u32 label = search->table[slot];

	if (label < search->labels_count && search->labels[label].slot == slot)
		return label;
	return OPTICS_NONE;
}

/* The slot of a guide, in use or free. */
static u32 find_slot(const struct search *search, u32 guide)
{
	u32 mask = (1u << search->table_bits) - 1;
	u32 block = (guide >> BLOCK_BITS) * 0x9e3779b1u >> (32 - (search->table_bits - BLOCK_BITS));
	u32 slot = block << BLOCK_BITS | (guide & ((1u << BLOCK_BITS) - 1));
	u32 label;

	while ((label = slot_label(search, slot)) != OPTICS_NONE &&
	       search->labels[label].guide != guide)
		slot = (slot + 1) & mask;
	return slot;
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

u64 optics_search_port_lanes(const struct search *search, u32 port, bool receiver)
{
	const struct optics_state *state = search->state;
	u64 lanes = search->lanes;

	if (!(search->assume & SEARCH_NO_CLAIMS))
		lanes &= ~(receiver ? state->rx_lanes : state->tx_lanes)[port];
	if (!(search->assume & SEARCH_NO_HEALTH))
		lanes &= ~(receiver ? state->rx_dead : state->tx_dead)[port];
	return lanes;
}

/* Whether a path may come to an element at all. */
static bool may_enter(const struct search *search, u32 element)
{
	const struct optics_route_request *request = search->request;
	u32 tile = search->graph->elements[element].tile;

	if (!(search->assume & SEARCH_NO_HEALTH) && search->state->element_marks[element])
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

/* Which of @lanes can pass the guide and get somewhere behind it. */
static u64 passing_lanes(struct search *search, u32 code, const struct optics_end *end, u64 lanes)
{
	const struct optics_route_request *request = search->request;
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
		lanes &= ~search->state->guide_lanes[guide];
	if (end->type == MORPH_END_ELEMENT)
		return may_enter(search, end->index) ? lanes : 0;
	if (end->type != MORPH_END_RX || end->index != request->rx_accelerator ||
	    !(request->rx_planes >> end->port & 1))
		return 0;
	return lanes & optics_search_port_lanes(search, end->index * search->graph->params.planes +
					 end->port, true);
}

/*
 * Put a label for the guide that @next names, unless one at least as good is
 * there. Labels come in the order of their loss, so that a later one is better only
 * by fewer changes. Of two labels for a guide one stays; if the other had lanes that
 * it has not, the search is no longer exact.
 */
static void relax(struct search *search, struct search_label *next)
{
	const struct optics_end *end = optics_far_end(search->graph, next->guide);
	u32 old;

	next->lanes = passing_lanes(search, next->guide, end, next->lanes);
	if (!enough(search, next->lanes))
		return;
	next->loss_mdb += search->graph->guides[next->guide >> 1].loss_mdb;
	next->element = end->type == MORPH_END_ELEMENT ? end->index : OPTICS_NONE;
	next->port = end->port;
	next->slot = find_slot(search, next->guide);
	old = slot_label(search, next->slot);
	if (old != OPTICS_NONE) {
		const struct search_label *other = &search->labels[old];
		bool keep = other->loss_mdb < next->loss_mdb || other->changes <= next->changes;

		if (!(search->assume & SEARCH_NO_COMMON) &&
		    (keep ? next->lanes & ~other->lanes : other->lanes & ~next->lanes))
			search->inexact = true;
		if (keep)
			return;
	}
	if (search->labels_count == search->labels_limit) {
		search->exhausted = true;
		return;
	}
	search->labels[search->labels_count] = *next;
	search->table[next->slot] = search->labels_count;
	heap_push(search, (u64)next->loss_mdb << 40 | (u64)next->changes << 32 |
		  search->labels_count);
	search->labels_count++;
}

/*
 * The state in which the path to label @at has crossed its last element before,
 * or OPTICS_NONE if it is there for the first time.
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

	if (joined == MORPH_PORT_NONE)
		return;
	next.guide = graph->port_guide[graph->elements[label->element].first_port + joined];
	if (next.guide == OPTICS_NONE)
		return;
	next.from = at;
	next.lanes = label->lanes;
	next.state = (u8)state;
	next.depth = label->depth + 1;
	next.changes = label->changes + (search->state->element_state[label->element] != state);
	next.loss_mdb = label->loss_mdb +
			graph->kinds[graph->elements[label->element].kind].loss_mdb;
	relax(search, &next);
}

/*
 * Go on from a label: through its element in each state that it may take. One that
 * the path has crossed before keeps its state; light then never meets its own guides,
 * because states join ports in pairs.
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

u32 optics_search_run(struct search *search)
{
	const struct optics_route_request *request = search->request;
	u32 base = request->tx_accelerator * search->graph->params.planes;
	u64 planes = request->tx_planes & optics_low_mask(search->graph->params.planes);

	search->labels_count = 0;
	search->heap_count = 0;
	search->inexact = false;
	search->exhausted = false;
	for (; planes; planes &= planes - 1) {
		u32 port = base + optics_first64(planes);
		struct search_label start = {
			.lanes = optics_search_port_lanes(search, port, false),
			.guide = search->graph->tx_guide[port],
			.from = OPTICS_NONE,
			.depth = 1,
		};

		if (enough(search, start.lanes))
			relax(search, &start);
	}
	while (search->heap_count && !search->exhausted) {
		u32 at = (u32)heap_pop(search);

		if (search->table[search->labels[at].slot] != at)
			continue;
		if (search->labels[at].element == OPTICS_NONE)
			return at;
		expand(search, at);
	}
	return OPTICS_NONE;
}

void optics_search_path(const struct search *search, u32 label, struct optics_path *path)
{
	const struct optics_graph *graph = search->graph;
	const struct search_label *at = &search->labels[label];
	const struct optics_end *end = optics_far_end(graph, at->guide);
	u32 need = search->request->lanes_count;
	u32 state = 0, hop;
	u64 lanes = at->lanes;

	path->rx = end->index * graph->params.planes + end->port;
	path->loss_mdb = at->loss_mdb;
	path->hops_count = at->depth;
	path->lanes = 0;
	while (need--) {
		path->lanes |= lanes & -lanes;
		lanes &= lanes - 1;
	}
	for (hop = path->hops_count; hop--; ) {
		at = &search->labels[label];
		path->hops[hop].guide = at->guide;
		path->hops[hop].element = at->element;
		path->hops[hop].state = state;
		state = at->state;
		label = at->from;
	}
	end = &graph->guides[at->guide >> 1].end[at->guide & 1];
	path->tx = end->index * graph->params.planes + end->port;
}

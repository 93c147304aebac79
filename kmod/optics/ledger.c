// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* Claims of element states and lanes. The caller serialises. */
#include "internal.h"

/* Offsets of the arrays in a state's block. */
struct layout {
	u64 lanes;	/* the arrays of u64, one after the other */
	u64 words;	/* the arrays of u32 */
	u64 bytes;	/* the arrays of u8 */
	u64 end;
};

static struct layout state_layout(const struct optics_graph *graph)
{
	struct layout layout;

	layout.lanes = (sizeof(struct optics_state) + 7) & ~7ull;
	layout.words = layout.lanes +
		       (2ull * graph->guides_count + 5ull * graph->ends_count) * sizeof(u64);
	layout.bytes = layout.words +
		       ((u64)graph->elements_count + graph->accelerators_count +
			graph->edges_count + graph->places_count / 2) * sizeof(u32);
	layout.end = layout.bytes + 2ull * graph->elements_count + graph->guides_count;
	layout.end = (layout.end + 7) & ~7ull;
	return layout;
}

u64 optics_state_bytes(const struct optics_graph *graph)
{
	return state_layout(graph).end;
}

struct optics_state *optics_state_place(void *block, const struct optics_graph *graph)
{
	struct layout layout = state_layout(graph);
	struct optics_state *state = block;
	u8 *base = block;

	memset(state, 0, sizeof(*state));
	state->graph = graph;
	state->guide_lanes = (u64 *)(base + (size_t)layout.lanes);
	state->guide_reserved = state->guide_lanes + graph->guides_count;
	state->lifted = NULL;
	state->tx_lanes = state->guide_reserved + graph->guides_count;
	state->rx_lanes = state->tx_lanes + graph->ends_count;
	state->tx_dead = state->rx_lanes + graph->ends_count;
	state->rx_dead = state->tx_dead + graph->ends_count;
	state->tx_judged = state->rx_dead + graph->ends_count;
	state->element_pins = (u32 *)(base + (size_t)layout.words);
	state->owner = state->element_pins + graph->elements_count;
	state->standing = state->owner + graph->accelerators_count + graph->edges_count;
	state->element_state = base + (size_t)layout.bytes;
	state->element_marks = state->element_state + graph->elements_count;
	state->guide_marks = state->element_marks + graph->elements_count;
	return state;
}

u64 optics_state_arrays(const struct optics_graph *graph)
{
	return state_layout(graph).lanes;
}

struct optics_state *optics_state_init(void *block, const struct optics_graph *graph)
{
	struct optics_state *state;
	u32 i;

	memset(block, 0, (size_t)optics_state_bytes(graph));
	state = optics_state_place(block, graph);
	for (i = 0; i < graph->elements_count; i++) {
		const struct optics_element *element = &graph->elements[i];
		const struct optics_kind *kind = &graph->kinds[element->kind];

		state->element_state[i] = kind->park;
		state->standing[element->place / 2] += kind->joining >> kind->park & 1;
	}
	return state;
}

/* Refuse lanes that are held or dead at one end of the path. */
static int check_end(const struct optics_graph *graph, u32 part, u32 end, u64 lanes, u64 held,
		     u64 dead, struct optics_refusal *refusal)
{
	if (lanes & dead)
		return optics_refuse_end(graph, refusal, OPTICS_UNUSABLE, part, end,
					 optics_weight64(lanes & ~dead), optics_weight64(lanes));
	if (lanes & held)
		return optics_refuse_end(graph, refusal, OPTICS_PORT_BUSY, part, end,
					 optics_weight64(lanes & ~held), optics_weight64(lanes));
	return 0;
}

/* Bits of the guides and elements of earlier hops; several of them may share a bit. */
struct passed {
	u64 guides, elements;
};

/* Record a hop. Return whether the path may have met its guide or element before. */
static int pass(struct passed *passed, u32 guide, u32 element)
{
	u64 guide_bit = 1ULL << guide % 64, element_bit = 1ULL << element % 64;
	int met = (passed->guides & guide_bit) || (passed->elements & element_bit);

	passed->guides |= guide_bit;
	passed->elements |= element_bit;
	return met;
}

/* Check a hop against the ledger, and against earlier hops: a path can meet itself. */
static int check_hop(const struct optics_state *state, const struct optics_path *path, u32 index,
		     struct passed *passed, struct optics_refusal *refusal)
{
	const struct optics_hop *hop = &path->hops[index];
	u32 guide = hop->guide >> 1, element = hop->element;
	u64 taken = optics_guide_taken(state, guide);
	u32 i, earlier = pass(passed, guide, element) ? index : 0;

	for (i = 0; i < earlier; i++) {
		if (path->hops[i].guide >> 1 == guide)
			taken |= path->lanes;
		if (path->hops[i].element == element && path->hops[i].state != hop->state)
			return optics_refuse(refusal, OPTICS_ELEMENT_PINNED, OPTICS_PART_ELEMENT,
					     element, path->hops[i].state, hop->state);
	}
	if (state->guide_marks[guide] & ~state->tolerated)
		return optics_refuse(refusal, OPTICS_UNUSABLE, OPTICS_PART_GUIDE, guide, 0, 0);
	if (path->lanes & taken)
		return optics_refuse(refusal, OPTICS_LANES, OPTICS_PART_GUIDE, guide,
				     optics_weight64(path->lanes & ~taken),
				     optics_weight64(path->lanes));
	if (element == OPTICS_NONE)
		return 0;
	if (state->element_marks[element] & ~(OPTICS_HELD | state->tolerated))
		return optics_refuse(refusal, OPTICS_UNUSABLE, OPTICS_PART_ELEMENT, element, 0, 0);
	if (state->element_marks[element] & OPTICS_HELD ||
	    (state->element_pins[element] && state->element_state[element] != hop->state))
		return optics_refuse(refusal, OPTICS_ELEMENT_PINNED, OPTICS_PART_ELEMENT, element,
				     state->element_state[element], hop->state);
	return 0;
}

/* Return whether the path passes the guide or the element of a hop earlier. */
static int is_repeated(const struct optics_path *path, const struct optics_hop *hop)
{
	const struct optics_hop *other;

	for (other = path->hops; other < hop; other++)
		if (other->guide >> 1 == hop->guide >> 1 || other->element == hop->element)
			return 1;
	return 0;
}

/*
 * Return whether nothing hinders any hop: the path does not meet itself, and the ledger has no
 * obstacle. If not, check_hop() finds the first obstacle, or that the path can meet itself there.
 */
static int is_clear(const struct optics_state *state, const struct optics_path *path)
{
	const struct optics_hop *hop = path->hops, *end = hop + path->hops_count;
	const u64 *guide_lanes = state->guide_lanes, *reserved = state->guide_reserved;
	const u8 *guide_marks = state->guide_marks, *element_marks = state->element_marks;
	struct passed passed = { 0, 0 };
	u64 taken = 0;
	u8 marks = 0;

	for (; hop < end; hop++) {
		u32 guide = hop->guide >> 1, element = hop->element;

		if (pass(&passed, guide, element) && is_repeated(path, hop))
			return 0;
		taken |= guide_lanes[guide] | reserved[guide];
		marks |= guide_marks[guide];
		if (element == OPTICS_NONE)
			continue;
		marks |= element_marks[element];
		if (state->element_pins[element] && state->element_state[element] != hop->state)
			return 0;
	}
	return !(taken & path->lanes) && !marks;
}

static void count_visit(struct optics_state *state, const struct optics_path *path)
{
	state->elements_visited += path->hops_count - 1;
	state->lanes_visited += (u64)path->hops_count * optics_weight64(path->lanes);
}

void optics_claim_again(struct optics_state *state, const struct optics_path *path)
{
	const struct optics_hop *hop = path->hops, *end = hop + path->hops_count;
	u64 *guide_lanes = state->guide_lanes, lanes = path->lanes;
	u32 *pins = state->element_pins;

	for (; hop < end; hop++) {
		guide_lanes[hop->guide >> 1] |= lanes;
		if (hop->element == OPTICS_NONE)
			continue;
		optics_set_state(state, hop->element, hop->state);
		pins[hop->element]++;
	}
	state->tx_lanes[path->tx] |= path->lanes;
	state->rx_lanes[path->rx] |= path->lanes;
}

int optics_claim(struct optics_state *state, const struct optics_path *path,
		 struct optics_refusal *refusal)
{
	struct passed passed = { 0, 0 };
	int error;
	u32 i;

	if (!path->hops_count || path->hops_count > OPTICS_MAX_HOPS || !path->lanes)
		return optics_refuse(refusal, OPTICS_BAD_PATH, OPTICS_PART_NONE, OPTICS_NONE,
				     path->hops_count, OPTICS_MAX_HOPS);
	error = check_end(state->graph, OPTICS_PART_LASER, path->tx, path->lanes,
			  state->tx_lanes[path->tx], state->tx_dead[path->tx], refusal);
	if (!error)
		error = check_end(state->graph, OPTICS_PART_RECEIVER, path->rx, path->lanes,
				  state->rx_lanes[path->rx], state->rx_dead[path->rx], refusal);
	for (i = 0; !error && i < path->hops_count && (i || !is_clear(state, path)); i++)
		error = check_hop(state, path, i, &passed, refusal);
	if (error)
		return error;

	optics_claim_again(state, path);
	count_visit(state, path);
	return 0;
}

static inline void release(struct optics_state *state, const struct optics_path *path, bool parks)
{
	const struct optics_hop *hop = path->hops, *end = hop + path->hops_count;
	u64 *guide_lanes = state->guide_lanes, others = ~path->lanes;
	u32 *pins = state->element_pins;

	for (; hop < end; hop++) {
		guide_lanes[hop->guide >> 1] &= others;
		if (hop->element == OPTICS_NONE)
			continue;
		/* A path that passes the element twice parks it with its last pin. */
		if (!--pins[hop->element] && parks)
			optics_park(state, hop->element);
	}
	state->tx_lanes[path->tx] &= ~path->lanes;
	state->rx_lanes[path->rx] &= ~path->lanes;
	count_visit(state, path);
}

void optics_release(struct optics_state *state, const struct optics_path *path)
{
	release(state, path, false);
}

void optics_release_parked(struct optics_state *state, const struct optics_path *path)
{
	release(state, path, true);
}

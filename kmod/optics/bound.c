// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * A lower bound of the remaining cost of a path, for the router. It is computed once, for
 * the empty and healthy fabric. It holds in every state, because claims and failures make
 * paths longer, never shorter.
 *
 * A place is a set of elements: those of a tile, or one element on no tile. Places follow
 * Sturtevant et al. (Memory-Based Heuristics for Explicit State Spaces, IJCAI 2009) and
 * Bjoernsson and Halldorsson (Improved Heuristics for Optimal Path-finding on Game Maps,
 * AIIDE 2006).
 *
 * Every guide that leaves a place has a price: the least cost at which light from outside
 * reaches it. The slack of light inside a place is the cost of leaving beyond that price,
 * least over all guides. An arc from one place to the next costs the price of a guide,
 * the guide itself, and the slack behind it. Then
 *
 *	slack of the light + cheapest chain of arcs from its place to the receiver
 *
 * never exceeds the remaining cost, whatever the prices are, and no step lowers it by more
 * than its own cost: the bound is admissible and consistent. It is exact if the cost of
 * crossing a place is the sum of an entry part and an exit part. This holds in all
 * interposers. toll.c finds chains at request time.
 *
 * Elements of receivers are separate places, so that the search drops light at once that
 * can only end at a wrong receiver.
 */
#include "internal.h"

#define DEAD		OPTICS_DEAD
#define SWEEPS_MAX	32u	/* paths inside a place are short; otherwise no slack */
#define COST_MAX	0x20000000
#define CHANGES_MAX	64
#define ALIKE_MAX	16u	/* compared arcs */

/* The places that guide @code joins. OPTICS_NONE: no element at its end. */
static u32 place_before(const struct optics_bound *b, u32 code)
{
	const struct optics_end *end = &b->graph->guides[code >> 1].end[code & 1];

	return end->type == MORPH_END_ELEMENT ? optics_place_left(b->graph, end) : OPTICS_NONE;
}

static u32 place_behind(const struct optics_bound *b, u32 code)
{
	const struct optics_end *end = optics_far_end(b->graph, code);

	return end->type == MORPH_END_ELEMENT ? optics_place_entered(b->graph, end) : OPTICS_NONE;
}

static bool inside(const struct optics_bound *b, u32 code)
{
	u32 place = place_before(b, code);

	return place != OPTICS_NONE && place == place_behind(b, code);
}

static bool between(const struct optics_bound *b, u32 code)
{
	u32 from = place_before(b, code), to = place_behind(b, code);

	return from != OPTICS_NONE && to != OPTICS_NONE && from != to;
}

static s32 guide_cost(const struct optics_bound *b, u32 code)
{
	return (s32)optics_cost(b->graph->guides[code >> 1].loss_mdb, 0);
}

/* First round: cost of leaving the place by any guide. Second: less the price of the guide. */
static s32 cost_behind(const struct optics_bound *b, u32 code, bool priced)
{
	if (inside(b, code))
		return b->cost[code] == DEAD ? DEAD : guide_cost(b, code) + b->cost[code];
	if (!priced)
		return 0;
	if (between(b, code))
		return -b->arcs[b->cost[code]].out;
	if (optics_far_end(b->graph, code)->type == MORPH_END_RX)
		return guide_cost(b, code) - b->cost[code];
	return DEAD;
}

/* The least cost of light that reached the element at the end of guide @code. */
static s32 cost_at(const struct optics_bound *b, u32 code, bool priced)
{
	const struct optics_end *at = optics_far_end(b->graph, code);
	const struct optics_element *element = &b->elements[at->index];
	const struct optics_kind *kind = &b->graph->kinds[element->kind];
	s32 least = DEAD;
	u32 ports;

	for (ports = kind->leaks[at->port]; ports; ports &= ports - 1) {
		u32 next = b->graph->port_guide[element->first_port + optics_first64(ports)];
		s32 behind = next == OPTICS_NONE ? DEAD : cost_behind(b, next, priced);

		if (behind < least)
			least = behind;
	}
	return least == DEAD ? DEAD : least + (s32)optics_cost(kind->loss_mdb, 1);
}

/* Bellman-Ford inside all places at once. Returns false if it takes too many sweeps. */
static bool settle(const struct optics_bound *b, bool priced)
{
	u32 codes = 2 * b->graph->guides_count, sweep, i;
	bool changed = true;

	for (sweep = 0; changed && sweep < SWEEPS_MAX; sweep++) {
		changed = false;
		for (i = 0; i < codes; i++) {
			u32 code = sweep & 1 ? i : codes - 1 - i;
			s32 cost;

			if (optics_far_end(b->graph, code)->type != MORPH_END_ELEMENT ||
			    (priced && !inside(b, code)))
				continue;
			cost = cost_at(b, code, priced);
			if (cost >= b->cost[code])
				continue;
			if (cost >= COST_MAX ||
			    cost - optics_cost_without_changes(cost) >= CHANGES_MAX)
				return false;
			b->cost[code] = cost;
			changed = true;
		}
	}
	return !changed;
}

/* Whether light in a place can only reach receivers of a tile. */
static bool at_receivers(const struct optics_bound *b, u32 place)
{
	return place < 2 * b->graph->accelerators_count && place & 1;
}

/*
 * Compute prices from the costs of the opposite direction: elements and guides are
 * reciprocal. All guides to the receivers of a tile have the price of the cheapest one,
 * because light that enters at an expensive guide can reach only some of them.
 */
static void price_guides(const struct optics_bound *b)
{
	u32 guide, arcs = 0, side, i;

	for (guide = 0; guide < b->graph->guides_count; guide++) {
		s32 back[2] = { b->cost[2 * guide + 1], b->cost[2 * guide] };

		for (side = 0; side < 2; side++) {
			u32 code = 2 * guide + side, to = place_behind(b, code);
			s32 price = back[side] == DEAD ? 0 : back[side];

			b->cost[code] = DEAD;
			if (between(b, code)) {
				b->arcs[arcs].from = place_before(b, code);
				b->arcs[arcs].next = to;
				b->arcs[arcs].out = price;
				b->cost[code] = (s32)arcs++;
				if ((u32)price < b->place_arcs[to])
					b->place_arcs[to] = (u32)price;
			} else if (optics_far_end(b->graph, code)->type == MORPH_END_RX) {
				b->cost[code] = price + guide_cost(b, code);
			}
		}
	}
	for (i = 0; i < arcs; i++)
		if (at_receivers(b, b->arcs[i].next))
			b->arcs[i].out = (s32)b->place_arcs[b->arcs[i].next];
	for (i = 0; i < b->graph->places_count; i++)
		b->place_arcs[i] = OPTICS_NONE;
}

/* Add an arc to the list of its place, unless a nearby arc is never more expensive. */
static void add_arc(struct optics_bound *b, u32 to, const struct optics_arc *arc)
{
	s32 out = optics_cost_without_changes(arc->out), in = optics_cost_without_changes(arc->in);
	u32 at, looks = 0;

	for (at = b->place_arcs[to]; at != OPTICS_NONE && looks < ALIKE_MAX; looks++) {
		const struct optics_arc *old = &b->arcs[at];
		s32 old_out = optics_cost_without_changes(old->out);
		s32 old_in = optics_cost_without_changes(old->in);

		if (old->from == arc->from && old_out + old_in <= out + in &&
		    old->out - old_out <= arc->out - out && old->in - old_in <= arc->in - in)
			return;
		at = old->next;
	}
	at = b->graph->arcs_count++;
	b->arcs[at] = *arc;
	b->arcs[at].next = b->place_arcs[to];
	b->place_arcs[to] = at;
}

/* Compute the slack of light that enters places, and the arcs. Drop arcs without exit. */
static void finish(struct optics_bound *b, bool exact)
{
	u32 codes = 2 * b->graph->guides_count, code;

	for (code = 0; code < codes; code++) {
		const struct optics_end *end = optics_far_end(b->graph, code);

		if (end->type == MORPH_END_RX && !exact)
			b->cost[code] = guide_cost(b, code);
		if (end->type != MORPH_END_ELEMENT)
			continue;
		if (between(b, code))
			b->arcs[b->cost[code]].in = exact ? cost_at(b, code, true) : 0;
		else if (!exact)
			b->cost[code] = 0;
		else if (!inside(b, code))
			b->cost[code] = cost_at(b, code, true);
	}
	for (code = 0; code < codes; code++) {
		struct optics_arc arc;

		if (!between(b, code))
			continue;
		arc = b->arcs[b->cost[code]];
		b->cost[code] = arc.in;
		if (arc.in == DEAD)
			continue;
		arc.in += guide_cost(b, code);
		arc.out = exact ? arc.out : 0;
		add_arc(b, place_behind(b, code), &arc);
	}
}

/* A tile has two places: elements with a receiver, and all other elements. */
static void name_places(struct optics_bound *b)
{
	u32 places = 2 * b->graph->accelerators_count, i;

	for (i = 0; i < b->graph->elements_count; i++) {
		b->elements[i].place = b->elements[i].tile == OPTICS_NONE ?
			places : 2 * b->elements[i].tile;
		if (b->elements[i].tile == OPTICS_NONE)
			places += 2;
	}
	b->graph->places_count = places;
	for (i = 0; i < b->graph->ports_count; i++) {
		const struct optics_end *end = optics_far_end(b->graph, b->graph->rx_guide[i]);

		if (end->type == MORPH_END_ELEMENT && b->elements[end->index].tile != OPTICS_NONE)
			b->elements[end->index].place |= 1;
	}
}

void optics_bound_build(struct optics_bound *b)
{
	u32 codes = 2 * b->graph->guides_count, i;
	bool exact;

	name_places(b);
	for (i = 0; i < codes; i++)
		b->cost[i] = DEAD;
	for (i = 0; i < b->graph->places_count; i++)
		b->place_arcs[i] = OPTICS_NONE;
	exact = settle(b, false);
	price_guides(b);
	exact = exact && settle(b, true);
	finish(b, exact);
}

u64 optics_bound_arcs(const void *blob)
{
	const struct morph_profile_header *header = blob;
	u32 elements = le32_to_cpu(header->elements.count), i, side;
	u64 arcs = 0;

	for (i = 0; i < le32_to_cpu(header->guides.count); i++) {
		const struct morph_profile_guide *guide = optics_record(blob, &header->guides, i);
		const struct morph_profile_element *element[2] = {};
		u8 type[2] = { guide->a_type, guide->b_type };
		u32 index[2] = { le32_to_cpu(guide->a_index), le32_to_cpu(guide->b_index) };

		for (side = 0; side < 2; side++)
			if (type[side] == MORPH_END_ELEMENT && index[side] < elements)
				element[side] = optics_record(blob, &header->elements, index[side]);
		for (side = 0; side < 2; side++) {
			const struct morph_profile_kind *kind;

			if (type[side] != MORPH_END_RX || !element[!side])
				continue;
			kind = optics_record(blob, &header->kinds,
					     le32_to_cpu(element[!side]->kind));
			arcs += 2u * kind->ports;
		}
		if (element[0] && element[1] && (element[0]->tile != element[1]->tile ||
						 le32_to_cpu(element[0]->tile) == OPTICS_NONE))
			arcs += 2;
	}
	return arcs;
}

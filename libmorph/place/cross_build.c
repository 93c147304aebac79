// SPDX-License-Identifier: LGPL-2.1-or-later
/* Slices across racks: servers for their slots, by growing and by annealing. */
#include <math.h>
#include <string.h>

#include "cross.h"
#include "../util/mix.h"
#include "net.h"

#define APART 200 /* hops to an unreachable server */

/* -------------------------------------------------------------------- growing */

/* Distances from a server over unused links. */
struct distances {
	uint8_t hops[CROSS_SERVERS];
};

static bool has_room(const struct cross *cross, uint32_t rack, uint32_t group)
{
	return cross->used[rack][group] < cross->pod->room[rack][group];
}

/* Extend known distances within a rack. Bellman and Ford, because a rack is small. */
static void spread(const struct cross *cross, uint32_t rack, uint8_t hops[CROSS_SEATS])
{
	const struct cross_pod *pod = cross->pod;
	bool changed = true;

	while (changed) {
		changed = false;
		for (uint32_t seat = 0; seat < pod->seats; seat++) {
			for (uint32_t at = 0; at < pod->arcs_count[seat] && hops[seat] < APART;
			     at++) {
				const struct cross_arc *arc = &pod->arcs[seat][at];

				if (arc->face || hops[arc->to] <= hops[seat] + 1 ||
				    !has_room(cross, rack, arc->group))
					continue;
				hops[arc->to] = hops[seat] + 1;
				changed = true;
			}
		}
	}
}

static void measure(const struct cross *cross, cross_server from, struct distances *distances)
{
	const struct cross_pod *pod = cross->pod;
	uint32_t rack = from / CROSS_SEATS;
	uint8_t own[CROSS_SEATS];

	memset(own, APART, sizeof(own));
	own[from % CROSS_SEATS] = 0;
	spread(cross, rack, own);
	memset(distances->hops, APART, sizeof(distances->hops));
	memcpy(&distances->hops[rack * CROSS_SEATS], own, sizeof(own));
	for (uint32_t seat = 0; seat < pod->seats; seat++) {
		for (uint32_t at = 0; at < pod->arcs_count[seat] && own[seat] < APART; at++) {
			const struct cross_arc *arc = &pod->arcs[seat][at];

			if (!arc->face || !has_room(cross, rack, arc->group))
				continue;
			for (uint64_t left = pod->leads[rack][arc->group]; left; left &= left - 1) {
				uint32_t to = net_first(left);
				uint8_t *hops = &distances->hops[to * CROSS_SEATS + arc->to];

				if (has_room(cross, to, arc->far_group) && *hops > own[seat] + 2)
					*hops = own[seat] + 2;
			}
		}
	}
	for (uint32_t to = 0; to < pod->racks; to++)
		spread(cross, to, &distances->hops[to * CROSS_SEATS]);
}

static void exchange(struct cross *cross, uint32_t one, uint32_t other)
{
	cross_server a = cross->found.servers[one], b = cross->found.servers[other];

	cross->found.servers[one] = b;
	cross->found.servers[other] = a;
	cross->place[a] = (uint16_t)other;
	cross->place[b] = (uint16_t)one;
}

/* Whether the server at a place is large enough for the slot. */
static bool fits(const struct cross *cross, uint32_t slot, uint32_t place)
{
	return cross->shape->takes[slot] <= cross->pod->takes[cross->found.servers[place]];
}

/* Choose a random server for the first slot. False if none is large enough. */
static bool begin_somewhere(struct cross *cross, uint32_t first)
{
	uint32_t left = cross->found.servers_count - first;
	uint32_t start = mix_below(&cross->random, left);

	for (uint32_t skip = 0; skip < left; skip++) {
		uint32_t place = first + (start + skip) % left;

		if (!fits(cross, 0, place))
			continue;
		exchange(cross, first, place);
		return true;
	}
	return false;
}

/*
 * Choose the servers of a slice: a random first one, then for each slot the server nearest to its
 * placed neighbours. False if no remaining server is large enough.
 */
static bool grow(struct cross *cross, uint32_t slice)
{
	const struct cross_shape *shape = cross->shape;
	uint32_t first = slice * shape->slots, end = cross->found.servers_count;
	uint16_t far[CROSS_SERVERS];
	struct distances distances;

	if (!begin_somewhere(cross, first))
		return false;
	for (uint32_t slot = 1; slot < shape->slots; slot++) {
		uint32_t best = first + slot;

		memset(far, 0, sizeof(far));
		for (uint32_t at = 0; at < shape->of_slot_count[slot]; at++) {
			uint32_t edge = shape->of_slot[slot][at];
			uint32_t other = shape->edges[edge].from == slot ? shape->edges[edge].to :
									   shape->edges[edge].from;

			if (other >= slot)
				continue;
			measure(cross, cross->found.servers[first + other], &distances);
			for (uint32_t one = first + slot; one < end; one++)
				far[one] = (uint16_t)(far[one] +
						      distances.hops[cross->found.servers[one]]);
		}
		while (best < end && !fits(cross, slot, best))
			best++;
		if (best == end)
			return false;
		for (uint32_t one = best + 1; one < end; one++)
			if (far[one] < far[best] && fits(cross, slot, one))
				best = one;
		exchange(cross, first + slot, best);
	}
	for (uint32_t edge = 0; edge < shape->edges_count; edge++)
		lm_cross_route(cross, slice, edge);
	return true;
}

/* ------------------------------------------------------------------- annealing */

/* The cost that annealing minimises. */
static int64_t energy(const struct cross *cross)
{
	return (int64_t)cross->over * CROSS_BEYOND + cross->taken;
}

/*
 * How much a change may add to the cost this time. Metropolis's rule, drawn before the change is
 * known.
 */
static int64_t limit(struct cross *cross, double heat)
{
	return (int64_t)(-heat * log(1 - mix_unit(mix_next(&cross->random))));
}

/* Take away the links of an edge and save them at index @kept, or put them back from there. */
static uint32_t set_aside(struct cross *cross, uint32_t slice, uint32_t edge, uint32_t kept,
			  bool back)
{
	const struct cross_shape *shape = cross->shape;
	struct cross_way *ways =
		&cross->found.ways[slice * shape->links + shape->edges[edge].first];
	size_t bytes = shape->edges[edge].links * sizeof(*ways);

	lm_cross_use(cross, slice, edge, -1);
	memcpy(back ? ways : &cross->kept[kept], back ? &cross->kept[kept] : ways, bytes);
	if (back)
		lm_cross_use(cross, slice, edge, 1);
	return kept + shape->edges[edge].links;
}

static void try_ways(struct cross *cross, uint32_t slice, uint32_t edge, double heat)
{
	int64_t before = energy(cross);

	set_aside(cross, slice, edge, 0, false);
	lm_cross_route(cross, slice, edge);
	if (energy(cross) > before + limit(cross, heat))
		set_aside(cross, slice, edge, 0, true);
}

/* Edges that change if the servers at two places are exchanged. */
struct touched {
	uint32_t count;
	struct {
		uint16_t slice, edge;
	} edges[2 * CROSS_DEGREE];
};

static void touch(const struct cross *cross, uint32_t place, uint32_t but, struct touched *touched)
{
	const struct cross_shape *shape = cross->shape;
	uint32_t slice = place / shape->slots, slot = place % shape->slots;

	if (slice >= cross->found.slices)
		return;
	for (uint32_t at = 0; at < shape->of_slot_count[slot]; at++) {
		uint32_t edge = shape->of_slot[slot][at];
		uint32_t other = shape->edges[edge].from == slot ? shape->edges[edge].to :
								   shape->edges[edge].from;

		if (slice * shape->slots + other == but)
			continue;
		touched->edges[touched->count].slice = (uint16_t)slice;
		touched->edges[touched->count++].edge = (uint16_t)edge;
	}
}

/* The cost of the edges if each of them were alone. */
static int64_t estimate(struct cross *cross, const struct touched *touched)
{
	const struct cross_shape *shape = cross->shape;
	int64_t sum = 0;

	for (uint32_t at = 0; at < touched->count; at++) {
		const cross_server *servers =
			&cross->found.servers[touched->edges[at].slice * shape->slots];
		uint32_t edge = touched->edges[at].edge;

		sum += lm_cross_alone(cross, servers[shape->edges[edge].from],
				      servers[shape->edges[edge].to]);
	}
	return sum;
}

/* This estimate rejects most exchanges. Routing takes much longer. */
static bool worth_a_try(struct cross *cross, const struct touched *touched, uint32_t one,
			uint32_t other, double heat)
{
	int64_t more = -estimate(cross, touched);

	exchange(cross, one, other);
	more += estimate(cross, touched);
	exchange(cross, one, other);
	return more <= limit(cross, heat);
}

static void try_exchange(struct cross *cross, uint32_t one, uint32_t other, double heat)
{
	struct touched touched = { .count = 0 };
	int64_t most = energy(cross) + limit(cross, heat);
	uint32_t kept = 0, laid;

	touch(cross, one, UINT32_MAX, &touched);
	touch(cross, other, one, &touched);
	if (!worth_a_try(cross, &touched, one, other, heat))
		return;
	for (uint32_t at = 0; at < touched.count; at++)
		kept = set_aside(cross, touched.edges[at].slice, touched.edges[at].edge, kept,
				 false);
	exchange(cross, one, other);
	for (laid = 0; laid < touched.count && energy(cross) <= most; laid++)
		lm_cross_route(cross, touched.edges[laid].slice, touched.edges[laid].edge);
	if (energy(cross) <= most)
		return;
	while (laid--)
		lm_cross_use(cross, touched.edges[laid].slice, touched.edges[laid].edge, -1);
	exchange(cross, one, other);
	kept = 0;
	for (uint32_t at = 0; at < touched.count; at++) {
		const struct cross_shape *shape = cross->shape;
		uint32_t slice = touched.edges[at].slice, edge = touched.edges[at].edge;
		uint32_t links = shape->edges[edge].links;

		memcpy(&cross->found.ways[slice * shape->links + shape->edges[edge].first],
		       &cross->kept[kept], links * sizeof(*cross->kept));
		lm_cross_use(cross, slice, edge, 1);
		kept += links;
	}
}

/*
 * Propose a place whose server may be better for @place. Take a random neighbour of @place in its
 * slice. Mostly propose a server, in any rack, at the neighbour's position or at a position that
 * its links lead to. Otherwise propose a server of the neighbour's rack.
 */
static uint32_t propose(struct cross *cross, uint32_t place)
{
	const struct cross_shape *shape = cross->shape;
	const struct cross_pod *pod = cross->pod;
	uint32_t slice = place / shape->slots, slot = place % shape->slots;
	uint32_t edge, seat, other, left;
	cross_server near;

	edge = shape->of_slot[slot][mix_below(&cross->random, shape->of_slot_count[slot])];
	other = shape->edges[edge].from == slot ? shape->edges[edge].to : shape->edges[edge].from;
	near = cross->found.servers[slice * shape->slots + other];
	if (mix_below(&cross->random, 4)) {
		seat = mix_below(&cross->random, pod->arcs_count[near % CROSS_SEATS] + 1U);
		seat = seat == pod->arcs_count[near % CROSS_SEATS] ?
			       near % CROSS_SEATS :
			       pod->arcs[near % CROSS_SEATS][seat].to;
		if (cross->by_seat_count[seat])
			return cross->place[cross->by_seat[seat][mix_below(
				&cross->random, cross->by_seat_count[seat])]];
	}
	left = pod->free[near / CROSS_SEATS];
	for (uint32_t skip = mix_below(&cross->random, net_count(left)); skip; skip--)
		left &= left - 1;
	return cross->place[near / CROSS_SEATS * CROSS_SEATS + net_first(left)];
}

/* Each of the two servers is large enough for the other's slot. */
static bool may_exchange(const struct cross *cross, uint32_t one, uint32_t other)
{
	uint32_t slots = cross->shape->slots, placed = cross->found.slices * slots;

	return fits(cross, one % slots, other) &&
	       (other >= placed || fits(cross, other % slots, one));
}

static void anneal_once(struct cross *cross, double heat)
{
	const struct cross_shape *shape = cross->shape;
	uint32_t one = mix_below(&cross->random, cross->found.slices * shape->slots), other;
	uint32_t slice, edge, hot;

	/* Mostly choose an edge that uses an overloaded link. */
	if (cross->hot_count && mix_below(&cross->random, 4)) {
		hot = cross->hot[mix_below(&cross->random, cross->hot_count)];
		lm_cross_who(cross, hot / CROSS_GROUPS, hot % CROSS_GROUPS,
			     mix_below(&cross->random, cross->found.slices * shape->edges_count),
			     &slice, &edge);
		if (!mix_below(&cross->random, 4)) {
			try_ways(cross, slice, edge, heat);
			return;
		}
		one = slice * shape->slots + (mix_below(&cross->random, 2) ?
						      shape->edges[edge].from :
						      shape->edges[edge].to);
	}
	other = propose(cross, one);
	if (one != other && may_exchange(cross, one, other))
		try_exchange(cross, one, other, heat);
}

/* ---------------------------------------------------------------------- begin */

static void begin(struct cross *cross, const struct cross_pod *pod, const struct cross_shape *shape,
		  uint64_t seed)
{
	cross->pod = pod;
	cross->shape = shape;
	cross->random = seed;
	cross->over = 0;
	cross->taken = 0;
	cross->hot_count = 0;
	cross->found.slices = 0;
	cross->found.servers_count = 0;
	memset(cross->used, 0, sizeof(cross->used));
	memset(cross->nothing, 0, sizeof(cross->nothing));
	memset(cross->alone, 0, sizeof(cross->alone));
	memset(cross->by_seat_count, 0, sizeof(cross->by_seat_count));
	for (uint32_t rack = 0; rack < pod->racks; rack++) {
		for (uint32_t left = pod->free[rack]; left; left &= left - 1) {
			uint32_t seat = net_first(left);
			cross_server at = (cross_server)(rack * CROSS_SEATS + seat);

			cross->by_seat[seat][cross->by_seat_count[seat]++] = at;
			cross->place[at] = (uint16_t)cross->found.servers_count;
			cross->found.servers[cross->found.servers_count++] = at;
		}
	}
}

uint32_t lm_cross_build(struct cross *cross, const struct cross_pod *pod,
			const struct cross_shape *shape, uint32_t wanted,
			const struct cross_effort *effort, uint64_t seed)
{
	double heat = effort->hot, cooling = pow(effort->cold / heat, 1.0 / (double)effort->moves);

	begin(cross, pod, shape, seed);
	if (wanted * shape->slots > cross->found.servers_count ||
	    wanted * shape->links > CROSS_WAYS)
		return UINT32_MAX;
	for (; cross->found.slices < wanted; cross->found.slices++)
		if (!grow(cross, cross->found.slices))
			return UINT32_MAX;
	for (uint64_t move = 0; move < effort->moves && (cross->over || effort->thrifty);
	     move++, heat *= cooling)
		anneal_once(cross, heat);
	return cross->over;
}

uint32_t lm_cross_lay(struct cross *cross, const struct cross_pod *pod,
		      const struct cross_shape *shape, const cross_server *servers)
{
	begin(cross, pod, shape, 0);
	if (shape->links > CROSS_WAYS)
		return UINT32_MAX;
	for (uint32_t slot = 0; slot < shape->slots; slot++) {
		if (!(pod->free[servers[slot] / CROSS_SEATS] >> servers[slot] % CROSS_SEATS & 1))
			return UINT32_MAX;
		exchange(cross, slot, cross->place[servers[slot]]);
	}
	cross->found.slices = 1;
	for (uint32_t edge = 0; edge < shape->edges_count; edge++)
		lm_cross_route(cross, 0, edge);
	return cross->over;
}

/* ----------------------------------------------------------------------- settle */

/* Remove a slice. The last slice takes its number; its servers become unused. */
static void drop(struct cross *cross, uint32_t slice)
{
	const struct cross_shape *shape = cross->shape;
	uint32_t last = cross->found.slices - 1;

	for (uint32_t edge = 0; edge < shape->edges_count; edge++)
		lm_cross_use(cross, slice, edge, -1);
	if (slice != last)
		memcpy(&cross->found.ways[slice * shape->links],
		       &cross->found.ways[last * shape->links],
		       shape->links * sizeof(*cross->found.ways));
	for (uint32_t slot = 0; slot < shape->slots; slot++)
		exchange(cross, slice * shape->slots + slot, last * shape->slots + slot);
	cross->found.slices--;
}

uint32_t lm_cross_settle(struct cross *cross)
{
	while (cross->over) {
		uint32_t worst = 0;

		for (uint32_t slice = 1; slice < cross->found.slices; slice++)
			if (lm_cross_excess(cross, slice) > lm_cross_excess(cross, worst))
				worst = slice;
		drop(cross, worst);
	}
	return cross->found.slices;
}

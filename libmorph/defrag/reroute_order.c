// SPDX-License-Identifier: LGPL-2.1-or-later
/* The order of moves, with as few dark circuits as possible. */
#include <string.h>

#include "../util/mix.h"
#include "reroute.h"

#define ASIDES 3 /* detours, at most, before any circuit goes dark */
#define WANTED 4u /* hops that a detour accepts to avoid a fibre that another flow waits for */

enum place {
	HOME, /* at its old path */
	ASIDE, /* on a detour */
	DARK,
	DONE,
};

struct order {
	struct reroute *reroute;
	uint32_t list_count, pending; /* in reroute->pins: flows to move, and how many are left */
	uint32_t asides, darks; /* how many are still allowed */
	uint32_t nodes;
	uint32_t last; /* slice of the last move */
};

/* ------------------------------------------------------------------------ moves */

static bool fits(const struct reroute *reroute, const struct way *way)
{
	for (uint32_t hop = 0; hop < way->hops; hop++) {
		uint32_t from = way->sites[hop], to = way->sites[hop + 1];

		if (reroute->used[from][to] >= reroute->room.room[from][to])
			return false;
	}
	return true;
}

/* The same after a flow goes dark. */
static bool fits_without(struct reroute *reroute, const struct flow *flow)
{
	bool fit;

	lm_way_charge(reroute->used, &flow->now, -1);
	fit = fits(reroute, &flow->goes);
	lm_way_charge(reroute->used, &flow->now, 1);
	return fit;
}

/* Whether a flow can take its final path now, and how. Without a free port it is switched. */
static bool direct(struct reroute *reroute, uint32_t number, enum action_kind *kind)
{
	const struct flow *flow = &reroute->flows[number];

	if (reroute->state[number] == DARK)
		*kind = ACTION_MAKE;
	else
		*kind = flow->ports ? ACTION_MOVE : ACTION_SWITCH;
	return *kind == ACTION_SWITCH ? fits_without(reroute, flow) : fits(reroute, &flow->goes);
}

/* @grudge counts the fibres that unfinished flows will take. */
static void act(struct order *order, uint32_t number, enum action_kind kind, const struct way *way,
		enum place place)
{
	struct reroute *reroute = order->reroute;
	struct flow *flow = &reroute->flows[number];

	reroute->actions[reroute->actions_count++] =
		(struct action){ .flow = number, .kind = kind, .way = *way };
	if (reroute->state[number] != DARK)
		lm_way_charge(reroute->used, &flow->now, -1);
	if (place != DARK)
		lm_way_charge(reroute->used, way, 1);
	if (place == DONE) {
		lm_way_charge(reroute->grudge, &flow->goes, -1);
		order->pending--;
	}
	reroute->state[number] = (uint8_t)place;
	flow->now = *way;
	order->last = flow->slice;
}

static void undo(struct order *order, enum place place, const struct way *was)
{
	struct reroute *reroute = order->reroute;
	const struct action *action = &reroute->actions[--reroute->actions_count];
	struct flow *flow = &reroute->flows[action->flow];

	if (reroute->state[action->flow] != DARK)
		lm_way_charge(reroute->used, &flow->now, -1);
	if (place != DARK)
		lm_way_charge(reroute->used, was, 1);
	if (reroute->state[action->flow] == DONE) {
		lm_way_charge(reroute->grudge, &flow->goes, 1);
		order->pending++;
	}
	reroute->state[action->flow] = (uint8_t)place;
	flow->now = *was;
}

/* ----------------------------------------------------------------------- search */

static bool finish(struct order *order);

/* Do this action and then the rest, or restore the state. */
static bool finish_after(struct order *order, uint32_t number, enum action_kind kind,
			 const struct way *way, enum place place)
{
	enum place before = order->reroute->state[number];
	struct way was = order->reroute->flows[number].now;
	uint32_t last = order->last;

	act(order, number, kind, way, place);
	if (finish(order))
		return true;
	undo(order, before, &was);
	order->last = last;
	return false;
}

/* Whether the other flows that wait for a fibre of this path still find one. */
static bool harmless(const struct reroute *reroute, const struct flow *flow)
{
	for (uint32_t hop = 0; hop < flow->goes.hops; hop++) {
		uint32_t from = flow->goes.sites[hop], to = flow->goes.sites[hop + 1];

		/* This flow waits for one itself. */
		if (reroute->used[from][to] + reroute->grudge[from][to] >
		    reroute->room.room[from][to])
			return false;
	}
	return true;
}

/* Remember a state. Returns whether it was seen before. */
static bool seen(const struct order *order)
{
	struct reroute *reroute = order->reroute;
	uint64_t key = mix((uint64_t)order->asides << 32 | order->darks), *slot;

	for (uint32_t at = 0; at < order->list_count; at++) {
		uint32_t number = reroute->pins[at];
		uint64_t part = (uint64_t)number << 8 | reroute->state[number];

		for (uint32_t hop = 0;
		     reroute->state[number] == ASIDE && hop <= reroute->flows[number].now.hops;
		     hop++)
			part = mix(part) + reroute->flows[number].now.sites[hop];
		key ^= mix(part);
	}
	slot = &reroute->seen[key % REROUTE_SEEN];
	if (*slot == key)
		return true;
	*slot = key;
	return false;
}

/* Finish flows that can take their final path: dark ones first, then those of the same slice. */
static bool finish_directly(struct order *order, bool *enough)
{
	struct reroute *reroute = order->reroute;
	uint32_t last = order->last;

	for (uint32_t pass = 0; pass < 3; pass++) {
		for (uint32_t at = 0; at < order->list_count; at++) {
			uint32_t number = reroute->pins[at];
			struct flow *flow = &reroute->flows[number];
			uint32_t turn = reroute->state[number] == DARK ? 0 :
					flow->slice == last	       ? 1 :
									 2;
			enum action_kind kind;
			bool sure;

			if (reroute->state[number] == DONE || turn != pass ||
			    !direct(reroute, number, &kind))
				continue;
			sure = harmless(reroute, flow);
			if (finish_after(order, number, kind, &flow->goes, DONE))
				return true;
			*enough = sure;
			if (sure)
				return false;
		}
	}
	return false;
}

/* Find a path over free fibres that avoids fibres that other flows wait for. */
static bool find_aside(const struct reroute *reroute, const struct flow *flow, struct way *way)
{
	struct shortest search;
	uint32_t at;

	shortest_begin(&search, flow->from);
	while ((at = shortest_next(&search)) != flow->to) {
		if (at == SHORTEST_NONE)
			return false;
		for (uint64_t left = reroute->room.out[at] & flow->through & ~search.done; left;
		     left &= left - 1) {
			uint32_t to = net_first(left);

			if (reroute->used[at][to] < reroute->room.room[at][to])
				shortest_reach(&search, at, to,
					       search.cost[at] + 1 +
						       WANTED * reroute->grudge[at][to]);
		}
	}
	way->hops = (uint8_t)shortest_trace(&search, flow->from, flow->to, way->sites);
	return !lm_way_same(way, &flow->now);
}

/* Whether a flow that need not move occupies a fibre that others wait for, while none is left. */
static bool in_the_way(const struct reroute *reroute, const struct flow *flow)
{
	for (uint32_t hop = 0; hop < flow->now.hops; hop++) {
		uint32_t from = flow->now.sites[hop], to = flow->now.sites[hop + 1];

		if (reroute->grudge[from][to] &&
		    reroute->used[from][to] >= reroute->room.room[from][to])
			return true;
	}
	return false;
}

/* Move one flow to a detour: one that must move, or one that must not and returns. */
static bool finish_aside(struct order *order)
{
	struct reroute *reroute = order->reroute;
	struct way way;

	for (uint32_t at = 0; at < order->list_count; at++) {
		uint32_t number = reroute->pins[at];

		if (reroute->state[number] == HOME && reroute->flows[number].ports &&
		    find_aside(reroute, &reroute->flows[number], &way) &&
		    finish_after(order, number, ACTION_MOVE, &way, ASIDE))
			return true;
	}
	for (uint32_t number = 0; number < reroute->running; number++) {
		struct flow *flow = &reroute->flows[number];

		if (reroute->state[number] != DONE || !flow->ports ||
		    !lm_way_same(&flow->was, &flow->goes) || !in_the_way(reroute, flow) ||
		    !find_aside(reroute, flow, &way))
			continue;
		reroute->pins[order->list_count++] = (uint16_t)number;
		reroute->state[number] = HOME;
		order->pending++;
		lm_way_charge(reroute->grudge, &flow->goes, 1);
		if (finish_after(order, number, ACTION_MOVE, &way, ASIDE))
			return true;
		lm_way_charge(reroute->grudge, &flow->goes, -1);
		order->pending--;
		reroute->state[number] = DONE;
		order->list_count--;
	}
	return false;
}

/* Interrupt one flow: only this one, or until it can continue. */
static bool finish_in_the_dark(struct order *order)
{
	struct reroute *reroute = order->reroute;

	for (uint32_t at = 0; at < order->list_count; at++) {
		uint32_t number = reroute->pins[at];
		struct flow *flow = &reroute->flows[number];

		if ((reroute->state[number] == HOME || reroute->state[number] == ASIDE) &&
		    flow->ports && fits_without(reroute, flow) &&
		    finish_after(order, number, ACTION_SWITCH, &flow->goes, DONE))
			return true;
	}
	for (uint32_t at = 0; at < order->list_count; at++) {
		uint32_t number = reroute->pins[at];
		const struct way way = { 0 };

		if ((reroute->state[number] == HOME || reroute->state[number] == ASIDE) &&
		    finish_after(order, number, ACTION_BREAK, &way, DARK))
			return true;
	}
	return false;
}

static bool finish(struct order *order)
{
	bool enough = false, done;

	if (!order->pending)
		return true;
	if (!order->nodes)
		return false;
	order->nodes--;
	if (seen(order))
		return false;
	if (finish_directly(order, &enough))
		return true;
	if (enough)
		return false;
	if (order->asides) {
		order->asides--;
		done = finish_aside(order);
		order->asides++;
		if (done)
			return true;
	}
	if (order->darks) {
		order->darks--;
		done = finish_in_the_dark(order);
		order->darks++;
		if (done)
			return true;
	}
	return false;
}

/* ------------------------------------------------------------------------ begin */

static void begin(struct order *order, uint32_t asides, uint32_t darks, uint32_t nodes)
{
	struct reroute *reroute = order->reroute;

	order->list_count = 0;
	order->asides = asides;
	order->darks = darks;
	order->nodes = nodes;
	order->last = UINT32_MAX;
	reroute->actions_count = 0;
	memset(reroute->used, 0, sizeof(reroute->used));
	memset(reroute->grudge, 0, sizeof(reroute->grudge));
	memset(reroute->seen, 0, sizeof(reroute->seen));
	for (uint32_t at = 0; at < reroute->running; at++) {
		struct flow *flow = &reroute->flows[at];

		flow->now = flow->was;
		lm_way_charge(reroute->used, &flow->was, 1);
		reroute->state[at] = DONE;
		if (lm_way_same(&flow->was, &flow->goes))
			continue;
		reroute->state[at] = HOME;
		reroute->pins[order->list_count++] = (uint16_t)at;
		lm_way_charge(reroute->grudge, &flow->goes, 1);
	}
	order->pending = order->list_count;
}

static bool search(struct order *order, uint32_t nodes)
{
	begin(order, 0, 0, nodes);
	for (uint32_t darks = 0; darks <= order->pending; darks++) {
		for (uint32_t asides = 0; asides <= ASIDES; asides++) {
			begin(order, asides, darks, nodes);
			if (finish(order))
				return true;
		}
	}
	return false;
}

/* All flows go dark, then all are lit. */
static void all_at_once(struct order *order)
{
	struct reroute *reroute = order->reroute;
	const struct way none = { 0 };

	begin(order, 0, 0, 0);
	for (uint32_t at = 0; at < order->list_count; at++)
		act(order, reroute->pins[at], ACTION_BREAK, &none, DARK);
	for (uint32_t at = 0; at < order->list_count; at++)
		act(order, reroute->pins[at], ACTION_MAKE, &reroute->flows[reroute->pins[at]].goes,
		    DONE);
}

void lm_reroute_order(struct reroute *reroute, uint32_t nodes)
{
	struct order order = { .reroute = reroute };

	if (!search(&order, nodes))
		all_at_once(&order);
	/* Count each explored state once. */
	memset(reroute->state, 0, sizeof(reroute->state));
	reroute->interrupted = reroute->touched = 0;
	for (uint32_t at = 0; at < reroute->actions_count; at++) {
		const struct action *action = &reroute->actions[at];
		uint8_t *marks = &reroute->state[action->flow];

		reroute->touched += !(*marks & 1);
		*marks |= 1;
		if (action->kind == ACTION_MOVE || *marks & 2)
			continue;
		reroute->interrupted++;
		*marks |= 2;
	}
}

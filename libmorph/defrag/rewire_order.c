// SPDX-License-Identifier: LGPL-2.1-or-later
/* In which order circuits are moved, so that the light of as few as can be goes out meanwhile. */
#include <string.h>

#include "../util/mix.h"
#include "rewire.h"

#define ASIDES 3 /* circuits that are led aside at most, before any is interrupted */
#define WANTED 4u /* hops that a detour takes not to use a fibre that somebody waits for */

enum place {
	HOME, /* where it was */
	ASIDE, /* where it waits */
	DARK,
	DONE,
};

struct order {
	struct rewire *rewire;
	uint32_t list_count, pending; /* in rewire->pins: what is moved; of these not done yet */
	uint32_t asides, darks; /* that may still be */
	uint32_t nodes;
	uint32_t last; /* slice whose circuit was moved last */
};

/* ------------------------------------------------------------------------ moves */

static bool fits(const struct rewire *rewire, const struct way *way)
{
	for (uint32_t hop = 0; hop < way->hops; hop++) {
		uint32_t from = way->sites[hop], to = way->sites[hop + 1];

		if (rewire->used[from][to] >= rewire->room.room[from][to])
			return false;
	}
	return true;
}

/* The same once a flow is dark. */
static bool fits_without(struct rewire *rewire, const struct flow *flow)
{
	bool fit;

	lm_way_charge(rewire->used, &flow->now, -1);
	fit = fits(rewire, &flow->goes);
	lm_way_charge(rewire->used, &flow->now, 1);
	return fit;
}

/* Can a flow go to its end at once, and how? One without a free port goes dark anyway. */
static bool direct(struct rewire *rewire, uint32_t number, enum action_kind *kind)
{
	const struct flow *flow = &rewire->flows[number];

	if (rewire->state[number] == DARK)
		*kind = ACTION_MAKE;
	else
		*kind = flow->ports ? ACTION_MOVE : ACTION_SWITCH;
	return *kind == ACTION_SWITCH ? fits_without(rewire, flow) : fits(rewire, &flow->goes);
}

/* What is wanted is counted in grudge: fibres that what is not done is to have. */
static void act(struct order *order, uint32_t number, enum action_kind kind, const struct way *way,
		enum place place)
{
	struct rewire *rewire = order->rewire;
	struct flow *flow = &rewire->flows[number];

	rewire->actions[rewire->actions_count++] =
		(struct action){ .flow = number, .kind = kind, .way = *way };
	if (rewire->state[number] != DARK)
		lm_way_charge(rewire->used, &flow->now, -1);
	if (place != DARK)
		lm_way_charge(rewire->used, way, 1);
	if (place == DONE) {
		lm_way_charge(rewire->grudge, &flow->goes, -1);
		order->pending--;
	}
	rewire->state[number] = (uint8_t)place;
	flow->now = *way;
	order->last = flow->slice;
}

static void undo(struct order *order, enum place place, const struct way *was)
{
	struct rewire *rewire = order->rewire;
	const struct action *action = &rewire->actions[--rewire->actions_count];
	struct flow *flow = &rewire->flows[action->flow];

	if (rewire->state[action->flow] != DARK)
		lm_way_charge(rewire->used, &flow->now, -1);
	if (place != DARK)
		lm_way_charge(rewire->used, was, 1);
	if (rewire->state[action->flow] == DONE) {
		lm_way_charge(rewire->grudge, &flow->goes, 1);
		order->pending++;
	}
	rewire->state[action->flow] = (uint8_t)place;
	flow->now = *was;
}

/* ----------------------------------------------------------------------- search */

static bool finish(struct order *order);

/* Do that, then all the rest; or leave all as it was. */
static bool finish_after(struct order *order, uint32_t number, enum action_kind kind,
			 const struct way *way, enum place place)
{
	enum place before = order->rewire->state[number];
	struct way was = order->rewire->flows[number].now;
	uint32_t last = order->last;

	act(order, number, kind, way, place);
	if (finish(order))
		return true;
	undo(order, before, &was);
	order->last = last;
	return false;
}

/* Whoever else waits for a fibre of that way still finds one. */
static bool harmless(const struct rewire *rewire, const struct flow *flow)
{
	for (uint32_t hop = 0; hop < flow->goes.hops; hop++) {
		uint32_t from = flow->goes.sites[hop], to = flow->goes.sites[hop + 1];

		/* It waits for one itself. */
		if (rewire->used[from][to] + rewire->grudge[from][to] > rewire->room.room[from][to])
			return false;
	}
	return true;
}

/* Remember a state; true where it was seen before. */
static bool seen(const struct order *order)
{
	struct rewire *rewire = order->rewire;
	uint64_t key = mix((uint64_t)order->asides << 32 | order->darks), *slot;

	for (uint32_t at = 0; at < order->list_count; at++) {
		uint32_t number = rewire->pins[at];
		uint64_t part = (uint64_t)number << 8 | rewire->state[number];

		for (uint32_t hop = 0;
		     rewire->state[number] == ASIDE && hop <= rewire->flows[number].now.hops; hop++)
			part = mix(part) + rewire->flows[number].now.sites[hop];
		key ^= mix(part);
	}
	slot = &rewire->seen[key % REWIRE_SEEN];
	if (*slot == key)
		return true;
	*slot = key;
	return false;
}

/* What can go to its end: what is dark first, then what is of the same slice. */
static bool finish_directly(struct order *order, bool *enough)
{
	struct rewire *rewire = order->rewire;
	uint32_t last = order->last;

	for (uint32_t pass = 0; pass < 3; pass++) {
		for (uint32_t at = 0; at < order->list_count; at++) {
			uint32_t number = rewire->pins[at];
			struct flow *flow = &rewire->flows[number];
			uint32_t turn = rewire->state[number] == DARK ? 0 :
					flow->slice == last	      ? 1 :
									2;
			enum action_kind kind;
			bool sure;

			if (rewire->state[number] == DONE || turn != pass ||
			    !direct(rewire, number, &kind))
				continue;
			sure = harmless(rewire, flow);
			if (finish_after(order, number, kind, &flow->goes, DONE))
				return true;
			*enough = sure;
			if (sure)
				return false;
		}
	}
	return false;
}

/* Find a path over free fibres that avoids those that other flows wait for. */
static bool find_aside(const struct rewire *rewire, const struct flow *flow, struct way *way)
{
	struct shortest search;
	uint32_t at;

	shortest_begin(&search, flow->from);
	while ((at = shortest_next(&search)) != flow->to) {
		if (at == SHORTEST_NONE)
			return false;
		for (uint64_t left = rewire->room.out[at] & flow->through & ~search.done; left;
		     left &= left - 1) {
			uint32_t to = net_first(left);

			if (rewire->used[at][to] < rewire->room.room[at][to])
				shortest_reach(&search, at, to,
					       search.cost[at] + 1 +
						       WANTED * rewire->grudge[at][to]);
		}
	}
	way->hops = (uint8_t)shortest_trace(&search, flow->from, flow->to, way->sites);
	return !lm_way_same(way, &flow->now);
}

/* Is a flow that is not to be moved on a fibre that is waited for, and none left? */
static bool in_the_way(const struct rewire *rewire, const struct flow *flow)
{
	for (uint32_t hop = 0; hop < flow->now.hops; hop++) {
		uint32_t from = flow->now.sites[hop], to = flow->now.sites[hop + 1];

		if (rewire->grudge[from][to] &&
		    rewire->used[from][to] >= rewire->room.room[from][to])
			return true;
	}
	return false;
}

/* Lead one aside: of what is moved, or of what is not, which comes back. */
static bool finish_aside(struct order *order)
{
	struct rewire *rewire = order->rewire;
	struct way way;

	for (uint32_t at = 0; at < order->list_count; at++) {
		uint32_t number = rewire->pins[at];

		if (rewire->state[number] == HOME && rewire->flows[number].ports &&
		    find_aside(rewire, &rewire->flows[number], &way) &&
		    finish_after(order, number, ACTION_MOVE, &way, ASIDE))
			return true;
	}
	for (uint32_t number = 0; number < rewire->running; number++) {
		struct flow *flow = &rewire->flows[number];

		if (rewire->state[number] != DONE || !flow->ports ||
		    !lm_way_same(&flow->was, &flow->goes) || !in_the_way(rewire, flow) ||
		    !find_aside(rewire, flow, &way))
			continue;
		rewire->pins[order->list_count++] = (uint16_t)number;
		rewire->state[number] = HOME;
		order->pending++;
		lm_way_charge(rewire->grudge, &flow->goes, 1);
		if (finish_after(order, number, ACTION_MOVE, &way, ASIDE))
			return true;
		lm_way_charge(rewire->grudge, &flow->goes, -1);
		order->pending--;
		rewire->state[number] = DONE;
		order->list_count--;
	}
	return false;
}

/* Interrupt one: if that is enough for it alone, or until it can go on. */
static bool finish_in_the_dark(struct order *order)
{
	struct rewire *rewire = order->rewire;

	for (uint32_t at = 0; at < order->list_count; at++) {
		uint32_t number = rewire->pins[at];
		struct flow *flow = &rewire->flows[number];

		if ((rewire->state[number] == HOME || rewire->state[number] == ASIDE) &&
		    flow->ports && fits_without(rewire, flow) &&
		    finish_after(order, number, ACTION_SWITCH, &flow->goes, DONE))
			return true;
	}
	for (uint32_t at = 0; at < order->list_count; at++) {
		uint32_t number = rewire->pins[at];
		const struct way way = { 0 };

		if ((rewire->state[number] == HOME || rewire->state[number] == ASIDE) &&
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
	struct rewire *rewire = order->rewire;

	order->list_count = 0;
	order->asides = asides;
	order->darks = darks;
	order->nodes = nodes;
	order->last = UINT32_MAX;
	rewire->actions_count = 0;
	memset(rewire->used, 0, sizeof(rewire->used));
	memset(rewire->grudge, 0, sizeof(rewire->grudge));
	memset(rewire->seen, 0, sizeof(rewire->seen));
	for (uint32_t at = 0; at < rewire->running; at++) {
		struct flow *flow = &rewire->flows[at];

		flow->now = flow->was;
		lm_way_charge(rewire->used, &flow->was, 1);
		rewire->state[at] = DONE;
		if (lm_way_same(&flow->was, &flow->goes))
			continue;
		rewire->state[at] = HOME;
		rewire->pins[order->list_count++] = (uint16_t)at;
		lm_way_charge(rewire->grudge, &flow->goes, 1);
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

/* All go out, then all are lit. */
static void all_at_once(struct order *order)
{
	struct rewire *rewire = order->rewire;
	const struct way none = { 0 };

	begin(order, 0, 0, 0);
	for (uint32_t at = 0; at < order->list_count; at++)
		act(order, rewire->pins[at], ACTION_BREAK, &none, DARK);
	for (uint32_t at = 0; at < order->list_count; at++)
		act(order, rewire->pins[at], ACTION_MAKE, &rewire->flows[rewire->pins[at]].goes,
		    DONE);
}

void lm_rewire_order(struct rewire *rewire, uint32_t nodes)
{
	struct order order = { .rewire = rewire };

	if (!search(&order, nodes))
		all_at_once(&order);
	/* What was gone through is counted once. */
	memset(rewire->state, 0, sizeof(rewire->state));
	rewire->interrupted = rewire->touched = 0;
	for (uint32_t at = 0; at < rewire->actions_count; at++) {
		const struct action *action = &rewire->actions[at];
		uint8_t *marks = &rewire->state[action->flow];

		rewire->touched += !(*marks & 1);
		*marks |= 1;
		if (action->kind == ACTION_MOVE || *marks & 2)
			continue;
		rewire->interrupted++;
		*marks |= 2;
	}
}

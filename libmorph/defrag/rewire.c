// SPDX-License-Identifier: LGPL-2.1-or-later
/* Ways for what runs and what is to come, by negotiation. */
#include <string.h>

#include "rewire.h"

#define ROUNDS 32
#define ROUNDS_SURE 128 /* where shares of circuits have ways */
#define HOP 64u /* price of one */
#define STAY 8u /* less where it goes already */
#define GRUDGE 40u /* more for each round in which a link was wanted by too many */
#define PRESSURE 192u /* per unit too many, of 256; grows by two fifths each round */
#define PRESSURE_MOST (1u << 16)

bool lm_way_same(const struct way *one, const struct way *other)
{
	return one->hops == other->hops && !memcmp(one->sites, other->sites, one->hops + 1U);
}

void lm_way_charge(uint16_t used[NET_SITES][NET_SITES], const struct way *way, int units)
{
	for (uint32_t hop = 0; hop < way->hops; hop++) {
		uint16_t *link = &used[way->sites[hop]][way->sites[hop + 1]];

		*link = (uint16_t)(*link + units);
	}
}

/* Hops from a flow's beginning to its end, were it alone. */
static uint8_t measure(const struct rewire *rewire, const struct flow *flow)
{
	uint64_t seen = 1ULL << flow->from, ring = seen;

	for (uint8_t hops = 0; ring; hops++) {
		uint64_t reached = 0;

		if (ring >> flow->to & 1)
			return hops;
		for (; ring; ring &= ring - 1)
			reached |= rewire->room.out[net_first(ring)] & flow->through;
		ring = reached & ~seen;
		seen |= ring;
	}
	return NET_APART;
}

void lm_rewire_begin(struct rewire *rewire)
{
	for (uint32_t at = 0; at < rewire->running; at++)
		rewire->flows[at].least = measure(rewire, &rewire->flows[at]);
	rewire->count = rewire->running;
	lm_rewire_count_hops(rewire);
}

bool lm_rewire_add(struct rewire *rewire, uint32_t from, uint32_t to, uint32_t circuit)
{
	struct flow *flow = &rewire->flows[rewire->count];

	if (rewire->count == REWIRE_FLOWS)
		return false;
	*flow = (struct flow){
		.from = (uint8_t)from,
		.to = (uint8_t)to,
		.circuit = circuit,
		.through = rewire->through,
	};
	flow->least = rewire->through >> from & 1 ? measure(rewire, flow) : NET_APART;
	rewire->count++;
	return true;
}

/* ---------------------------------------------------------------- negotiation */

static bool overlaps(const struct rewire *rewire, const struct way *way)
{
	for (uint32_t hop = 0; hop < way->hops; hop++) {
		uint32_t from = way->sites[hop], to = way->sites[hop + 1];

		if (rewire->used[from][to] > rewire->room.room[from][to])
			return true;
	}
	return false;
}

static uint32_t price(const struct rewire *rewire, uint32_t from, uint32_t to, uint32_t pressure)
{
	uint32_t wanted = rewire->used[from][to] + 1U, room = rewire->room.room[from][to];
	uint32_t excess = wanted > room ? wanted - room : 0;

	return (uint32_t)((HOP + rewire->grudge[from][to]) * (256 + (uint64_t)pressure * excess) /
			  256);
}

/* Find the cheapest path at the prices of this round; there always is one. */
static void route_one(const struct rewire *rewire, struct flow *flow, uint32_t pressure)
{
	uint64_t stay[NET_SITES] = { 0 };
	struct shortest search;
	uint32_t at;

	for (uint32_t hop = 0; flow->running && hop < flow->was.hops; hop++)
		stay[flow->was.sites[hop]] |= 1ULL << flow->was.sites[hop + 1];
	shortest_begin(&search, flow->from);
	while ((at = shortest_next(&search)) != flow->to) {
		for (uint64_t left = rewire->room.out[at] & flow->through & ~search.done; left;
		     left &= left - 1) {
			uint32_t to = net_first(left);

			shortest_reach(&search, at, to,
				       search.cost[at] + price(rewire, at, to, pressure) -
					       (stay[at] >> to & 1 ? STAY : 0));
		}
	}
	flow->goes.hops = (uint8_t)shortest_trace(&search, flow->from, flow->to, flow->goes.sites);
}

/* Links that too many want are dearer from now on. Returns whether there are any. */
static bool bear_grudges(struct rewire *rewire)
{
	bool clash = false;

	for (uint32_t from = 0; from < rewire->room.sites; from++) {
		for (uint64_t left = rewire->room.out[from]; left; left &= left - 1) {
			uint32_t to = net_first(left);

			if (rewire->used[from][to] <= rewire->room.room[from][to])
				continue;
			rewire->grudge[from][to] += GRUDGE;
			clash = true;
		}
	}
	return clash;
}

/* What was moved and needn't have been goes back. */
static void settle(struct rewire *rewire)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (uint32_t at = 0; at < rewire->running; at++) {
			struct flow *flow = &rewire->flows[at];

			if (lm_way_same(&flow->was, &flow->goes))
				continue;
			lm_way_charge(rewire->used, &flow->goes, -1);
			lm_way_charge(rewire->used, &flow->was, 1);
			if (!overlaps(rewire, &flow->was)) {
				flow->goes = flow->was;
				changed = true;
				continue;
			}
			lm_way_charge(rewire->used, &flow->was, -1);
			lm_way_charge(rewire->used, &flow->goes, 1);
		}
	}
}

/* From the ways that all go, as they clash. */
static bool negotiate(struct rewire *rewire, uint32_t rounds)
{
	uint32_t pressure = PRESSURE;

	for (uint32_t round = 0; bear_grudges(rewire); round++) {
		if (round == rounds)
			return false;
		/* What is to come first: it is to go round what is lit, if it can. */
		for (uint32_t at = rewire->count; at--;) {
			struct flow *flow = &rewire->flows[at];

			if (flow->stays || !overlaps(rewire, &flow->goes))
				continue;
			lm_way_charge(rewire->used, &flow->goes, -1);
			route_one(rewire, flow, pressure);
			lm_way_charge(rewire->used, &flow->goes, 1);
		}
		if (pressure < PRESSURE_MOST)
			pressure += pressure * 2 / 5;
	}
	settle(rewire);
	return true;
}

static void begin(struct rewire *rewire)
{
	memset(rewire->used, 0, sizeof(rewire->used));
	memset(rewire->grudge, 0, sizeof(rewire->grudge));
}

bool lm_rewire_negotiate(struct rewire *rewire)
{
	for (uint32_t at = rewire->running; at < rewire->count; at++)
		if (rewire->flows[at].least == NET_APART)
			return false;
	begin(rewire);
	for (uint32_t at = 0; at < rewire->count; at++) {
		struct flow *flow = &rewire->flows[at];

		if (flow->running) {
			flow->goes = flow->was;
		} else {
			route_one(rewire, flow, PRESSURE);
		}
		lm_way_charge(rewire->used, &flow->goes, 1);
	}
	return negotiate(rewire, ROUNDS);
}

bool lm_rewire_negotiate_shares(struct rewire *rewire)
{
	begin(rewire);
	lm_shares_deal(rewire);
	for (uint32_t at = 0; at < rewire->count; at++)
		lm_way_charge(rewire->used, &rewire->flows[at].goes, 1);
	return negotiate(rewire, ROUNDS_SURE);
}

uint32_t lm_rewire_moved(const struct rewire *rewire)
{
	uint32_t moved = 0;

	for (uint32_t at = 0; at < rewire->running; at++)
		moved += !lm_way_same(&rewire->flows[at].was, &rewire->flows[at].goes);
	return moved;
}

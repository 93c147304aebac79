// SPDX-License-Identifier: LGPL-2.1-or-later
/* Brute force: every place of a request, every path of every circuit, and every order of moves. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "../defrag/defrag.h"
#include "../util/mix.h"
#include "brute.h"

#define RANKS 16

struct demand_of {
	uint32_t from, to; /* servers */
	uint64_t through;
	bool runs;
	uint32_t was_hops;
	uint8_t was[NET_SITES];
};

struct brute {
	const struct morph_ledger *ledger;
	const struct morph_request *request;
	uint32_t sites, running, count;
	uint8_t room[NET_SITES][NET_SITES];
	struct demand_of demands[BRUTE_DEMANDS];
	uint8_t way[BRUTE_DEMANDS][NET_SITES];
	uint32_t free[NET_SITES], seats[RANKS];
	uint32_t least; /* moves so far; UINT32_MAX: no paths found */
};

static void brute_next(struct brute *brute, uint32_t at, uint32_t moved);

static void brute_walk(struct brute *brute, uint32_t at, uint32_t hop, uint64_t seen,
		       uint32_t moved)
{
	const struct demand_of *demand = &brute->demands[at];
	uint32_t site = brute->way[at][hop];

	if (site == demand->to) {
		bool stays = demand->runs && hop == demand->was_hops &&
			     !memcmp(brute->way[at], demand->was, hop + 1);

		brute_next(brute, at + 1, moved + (demand->runs && !stays));
		return;
	}
	for (uint32_t next = 0; next < brute->sites; next++) {
		if (seen >> next & 1 || !brute->room[site][next] || !(demand->through >> next & 1))
			continue;
		brute->room[site][next]--;
		brute->way[at][hop + 1] = (uint8_t)next;
		brute_walk(brute, at, hop + 1, seen | 1ULL << next, moved);
		brute->room[site][next]++;
	}
}

static void brute_next(struct brute *brute, uint32_t at, uint32_t moved)
{
	if (moved >= brute->least)
		return;
	if (at == brute->count) {
		brute->least = moved;
		return;
	}
	brute->way[at][0] = (uint8_t)brute->demands[at].from;
	brute_walk(brute, at, 0, 1ULL << brute->demands[at].from, moved);
}

/* Try every place of every rank. */
static void brute_place(struct brute *brute, uint32_t rank)
{
	const struct morph_request *request = brute->request;

	if (rank == request->ranks) {
		brute->count = brute->running;
		for (uint32_t at = 0; at < request->circuits_count; at++) {
			uint32_t from = brute->seats[request->circuits[at].src];
			uint32_t to = brute->seats[request->circuits[at].dst];

			if (from != to)
				brute->demands[brute->count++] = (struct demand_of){
					.from = from, .to = to, .through = ~0ULL
				};
		}
		brute_next(brute, 0, 0);
		return;
	}
	for (uint32_t seat = 0; seat < brute->sites; seat++) {
		if (!brute->free[seat])
			continue;
		brute->free[seat]--;
		brute->seats[rank] = seat;
		brute_place(brute, rank + 1);
		brute->free[seat]++;
	}
}

static uint64_t brute_through(const struct morph_ledger *ledger, const struct morph_plan *plan,
			      uint32_t slice)
{
	uint64_t through = ~0ULL;

	for (uint32_t at = 0; at < ledger->graph->accelerators_count; at++)
		if (plan->transit == MORPH_TRANSIT_OWN && ledger->owner[at] &&
		    ledger->owner[at] != slice)
			through &=
				~(1ULL
				  << ledger->sites.host_seat[ledger->graph->accelerators[at].host]);
	return through;
}

/* Release movable circuits and make them demands. */
static void brute_running(struct brute *brute, const struct running *running)
{
	const struct morph_ledger *ledger = brute->ledger;
	const struct morph_plan *plan = running->plan;

	for (uint32_t at = 0; !running->pinned && at < plan->circuits_count; at++) {
		const struct circuit_way *way = &plan->ways[at];
		struct demand_of *demand = &brute->demands[brute->running];

		if (!way->count)
			continue;
		*demand = (struct demand_of){ .runs = true };
		demand->through = brute_through(ledger, plan, running->slice);
		demand->from = ledger->sites.host_seat[plan->strands[way->first].from];
		demand->was[0] = (uint8_t)demand->from;
		for (uint32_t hop = 0; hop < way->count; hop++) {
			uint32_t to = ledger->sites.host_seat[plan->strands[way->first + hop].to];

			brute->room[demand->was[hop]][to]++;
			demand->was[hop + 1] = (uint8_t)to;
			demand->through |= 1ULL << to;
		}
		demand->was_hops = way->count;
		demand->to = demand->was[way->count];
		brute->running++;
		assert(brute->running < BRUTE_DEMANDS / 2);
	}
}

static void brute_begin(struct brute *brute, const struct morph_ledger *ledger,
			const struct morph_request *request, const struct morph_defrag *defrag)
{
	assert(request->ranks <= RANKS && request->circuits_count < BRUTE_DEMANDS / 2);
	brute->ledger = ledger;
	brute->request = request;
	brute->sites = ledger->sites.racks[0].hosts_count;
	brute->least = UINT32_MAX;
	for (uint32_t at = 0; at < ledger->sites.strands_count; at++) {
		const struct strand *strand = &ledger->sites.strands[at];

		if (lm_strand_free(ledger, strand))
			brute->room[ledger->sites.host_seat[strand->from]]
				   [ledger->sites.host_seat[strand->to]]++;
	}
	for (uint32_t at = 0; at < defrag->slices.count; at++)
		brute_running(brute, &defrag->slices.list[at]);
	for (uint32_t at = 0; at < ledger->graph->accelerators_count; at++)
		if (lm_ledger_free(ledger, at))
			brute->free[ledger->sites.host_seat[ledger->graph->accelerators[at].host]]++;
}

uint32_t brute_least(const struct morph_ledger *ledger, const struct morph_request *request,
		     const struct morph_defrag *defrag)
{
	struct brute *brute = calloc(1, sizeof(*brute));
	uint32_t least;

	assert(brute);
	brute_begin(brute, ledger, request, defrag);
	brute_place(brute, 0);
	least = brute->least;
	free(brute);
	return least;
}

/* ---------------------------------------------------------- hitless by brute force */

#define WAYS 64 /* of a circuit */
#define STATES (1U << 18)

/* Paths of each running circuit, and all states reachable without a dark circuit. */
struct reach {
	struct brute brute;
	uint32_t ways_count[BRUTE_DEMANDS];
	uint8_t hops[BRUTE_DEMANDS][WAYS], ways[BRUTE_DEMANDS][WAYS][NET_SITES];
	uint64_t states[STATES]; /* in the order of discovery: indices of paths in base WAYS */
	uint64_t seen[2 * STATES];
	uint32_t count;
	bool all; /* the arrays hold all states */
};

static void list_ways(struct reach *reach, uint32_t at, uint8_t *way, uint32_t hop, uint64_t seen)
{
	const struct demand_of *demand = &reach->brute.demands[at];
	uint32_t count = reach->ways_count[at];

	if (way[hop] == demand->to) {
		if (count == WAYS) {
			reach->all = false;
			return;
		}
		reach->hops[at][count] = (uint8_t)hop;
		memcpy(reach->ways[at][count], way, hop + 1);
		reach->ways_count[at]++;
		return;
	}
	for (uint32_t next = 0; next < reach->brute.sites; next++) {
		if (seen >> next & 1 || !reach->brute.room[way[hop]][next] ||
		    !(demand->through >> next & 1))
			continue;
		way[hop + 1] = (uint8_t)next;
		list_ways(reach, at, way, hop + 1, seen | 1ULL << next);
	}
}

static void find_state(struct reach *reach, uint64_t state)
{
	uint64_t slot = mix(state) % (2 * STATES);

	while (reach->seen[slot] && reach->seen[slot] != state + 1)
		slot = (slot + 1) % (2 * STATES);
	if (reach->seen[slot])
		return;
	if (reach->count == STATES) {
		reach->all = false;
		return;
	}
	reach->seen[slot] = state + 1;
	reach->states[reach->count++] = state;
}

/* Take the capacity of a state, or give it back. */
static void occupy(struct reach *reach, uint64_t state, int units)
{
	for (uint32_t at = 0; at < reach->brute.running; at++, state /= WAYS)
		for (uint32_t hop = 0; hop < reach->hops[at][state % WAYS]; hop++) {
			const uint8_t *way = reach->ways[at][state % WAYS];

			reach->brute.room[way[hop]][way[hop + 1]] =
				(uint8_t)(reach->brute.room[way[hop]][way[hop + 1]] - units);
		}
}

/* Whether the request fits into the remaining capacity of a state. */
static bool request_fits(struct reach *reach)
{
	uint32_t running = reach->brute.running;

	reach->brute.running = 0;
	reach->brute.least = UINT32_MAX;
	brute_place(&reach->brute, 0);
	reach->brute.running = running;
	return !reach->brute.least;
}

/* Add all states that one move leads to. The old path stays lit beside the new one. */
static void spread_from(struct reach *reach, uint64_t state)
{
	uint64_t weight = 1;

	for (uint32_t at = 0; at < reach->brute.running; at++, weight *= WAYS) {
		for (uint32_t way = 0; way < reach->ways_count[at]; way++) {
			bool fits = true;

			for (uint32_t hop = 0; hop < reach->hops[at][way]; hop++)
				fits &= reach->brute.room[reach->ways[at][way][hop]]
							 [reach->ways[at][way][hop + 1]] > 0;
			if (fits)
				find_state(reach,
					   state - state / weight % WAYS * weight + way * weight);
		}
	}
}

int brute_hitless(const struct morph_ledger *ledger, const struct morph_request *request,
		  const struct morph_defrag *defrag)
{
	struct reach *reach = calloc(1, sizeof(*reach));
	uint64_t state = 0, weight = 1;
	int answer = 0;

	assert(reach);
	brute_begin(&reach->brute, ledger, request, defrag);
	reach->all = reach->brute.running <= 10;
	for (uint32_t at = 0; at < reach->brute.running && reach->all; at++, weight *= WAYS) {
		const struct demand_of *demand = &reach->brute.demands[at];
		uint8_t way[NET_SITES] = { (uint8_t)demand->from };
		uint32_t mine = 0;

		list_ways(reach, at, way, 0, 1ULL << demand->from);
		while (mine < reach->ways_count[at] &&
		       (reach->hops[at][mine] != demand->was_hops ||
			memcmp(reach->ways[at][mine], demand->was, demand->was_hops + 1) != 0))
			mine++;
		assert(mine < reach->ways_count[at]);
		state += mine * weight;
	}
	if (reach->all)
		find_state(reach, state);
	for (uint32_t at = 0; at < reach->count && !answer; at++) {
		occupy(reach, reach->states[at], 1);
		answer = request_fits(reach);
		if (!answer)
			spread_from(reach, reach->states[at]);
		occupy(reach, reach->states[at], -1);
	}
	if (!answer && !reach->all)
		answer = -1;
	free(reach);
	return answer;
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/* Ways for all circuits, by negotiated congestion. McMurchie and Ebeling, PathFinder (FPGA 1995). */
#include "light.h"

#define GRUDGE 200 /* of a guide or element that two want: about the loss of a hop */
#define MOST_PRESSURE 64
#define PATIENCE 16 /* rounds in which no fewer quarrel than before */

/* A way costs those who want the same: or does so no longer. */
static void price(struct ways *ways, uint32_t circuit, uint32_t by)
{
	const struct lit *lit = &ways->table.circuits.list[circuit];
	const struct optics_hop *hops = lit_hops(&ways->table, circuit);
	struct way_prices *prices = &ways->prices;

	for (uint32_t hop = 0; hop < lit->hops_count; hop++) {
		uint32_t element = hops[hop].element;

		prices->guide_users[hops[hop].guide >> 1] += by;
		if (element == OPTICS_NONE)
			continue;
		prices->element_users[element] += by;
		prices->state_users[prices->first_state[element] + hops[hop].state] += by;
	}
}

/* All that some step lights together with a circuit, once; @by is 1 or, to take it back, UINT32_MAX. */
static void price_others(struct ways *ways, uint32_t circuit, uint32_t by)
{
	const struct lit_table *table = &ways->table;
	const struct lit *lit = &table->circuits.list[circuit];

	ways->stamps[circuit] = ++ways->stamp;
	for (uint32_t use = lit->uses; use < lit->uses + lit->uses_count; use++) {
		const struct lit_step *step = &table->steps.list[table->used_in[use]];

		for (uint32_t at = step->first; at < step->first + step->count; at++) {
			uint32_t other = table->held.list[at];

			if (ways->stamps[other] == ways->stamp)
				continue;
			ways->stamps[other] = ways->stamp;
			price(ways, other, by);
		}
	}
}

/* How many guides and elements another way that is priced wants too, or the way itself twice. Whoever has them pays. */
static uint32_t quarrels(struct ways *ways, uint32_t circuit, bool grudge)
{
	const struct lit *lit = &ways->table.circuits.list[circuit];
	const struct optics_hop *hops = lit_hops(&ways->table, circuit);
	struct way_prices *prices = &ways->prices;
	uint32_t found = 0;

	price(ways, circuit, 1);
	for (uint32_t hop = 0; hop < lit->hops_count; hop++) {
		uint32_t guide = hops[hop].guide >> 1, element = hops[hop].element;

		if (prices->guide_users[guide] > 1) {
			found++;
			prices->guide_grudge[guide] += grudge ? GRUDGE : 0;
		}
		if (element != OPTICS_NONE &&
		    prices->element_users[element] !=
			    prices->state_users[prices->first_state[element] + hops[hop].state]) {
			found++;
			prices->element_grudge[element] += grudge ? GRUDGE : 0;
		}
	}
	price(ways, circuit, UINT32_MAX);
	return found;
}

void lm_way_grudge(struct ways *ways, uint32_t circuit)
{
	const struct lit *lit = &ways->table.circuits.list[circuit];
	const struct optics_hop *hops = lit_hops(&ways->table, circuit);

	for (uint32_t hop = 0; hop < lit->hops_count; hop++) {
		ways->prices.guide_grudge[hops[hop].guide >> 1] += GRUDGE;
		if (hops[hop].element != OPTICS_NONE)
			ways->prices.element_grudge[hops[hop].element] += GRUDGE;
	}
}

/* Another way, unless nobody else wants this one. *quarrel: somebody does, before or after. */
static bool reroute(struct ways *ways, uint32_t circuit, bool *quarrel)
{
	struct lit *lit = &ways->table.circuits.list[circuit];
	bool routed = lit->hops_count;

	price_others(ways, circuit, 1);
	if (!routed || quarrels(ways, circuit, true)) {
		lm_way_search(ways, circuit);
		ways->rerouted += routed;
		*quarrel = quarrels(ways, circuit, false);
	}
	price_others(ways, circuit, UINT32_MAX);
	return lit->hops_count;
}

enum negotiated lm_ways_negotiate(struct ways *ways, uint32_t first, uint32_t rounds,
				  uint32_t *circuit)
{
	uint32_t count = ways->table.circuits.count, fewest = UINT32_MAX;
	uint32_t patient = PATIENCE + rounds / 8, patience = patient;
	struct optics_refusal ignored;

	for (uint32_t round = first; round < rounds && patience; round++, patience--) {
		uint32_t unsettled = 0;

		ways->prices.pressure = round < MOST_PRESSURE ? 1 + round : MOST_PRESSURE;
		/* One time from the first to the last, then the other way round. */
		for (uint32_t next = 0; next < count; next++) {
			uint32_t at = round & 1 ? count - 1 - next : next;
			bool quarrel = false;

			if (!ways->table.circuits.list[at].uses_count)
				continue;
			if (!reroute(ways, at, &quarrel)) {
				*circuit = at;
				/* The cheapest that is short enough may be hidden by one that is not. */
				if (lm_way_alone(ways, at, &ignored))
					return NEGOTIATED_ALONE;
				quarrel = true; /* looked at in the next round */
			}
			if (quarrel)
				*circuit = at;
			unsettled += quarrel;
		}
		if (!unsettled)
			return NEGOTIATED_ALL;
		if (unsettled < fewest)
			patience = patient;
		fewest = unsettled < fewest ? unsettled : fewest;
	}
	return NEGOTIATED_NOT;
}

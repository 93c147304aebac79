// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Paths for all circuits, by negotiated congestion. McMurchie and Ebeling, PathFinder (FPGA 1995).
 */
#include "light.h"

#define GRUDGE 200 /* penalty for sharing a guide or element: about the loss of a hop */
#define MOST_PRESSURE 64
#define PATIENCE 16 /* iterations without fewer conflicts */

/* Add the price of a path to the guides and elements of it, or remove it. */
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

/*
 * Price all circuits that some step lights together with a circuit, each once; @by is 1, or
 * UINT32_MAX to undo it.
 */
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

/*
 * The number of guides and elements of a path that other priced paths use too, or that it uses
 * twice. Users of these pay.
 */
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

/*
 * Find another path if other circuits want this one. *quarrel: there was a conflict before or
 * after.
 */
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
		/* Alternate the order: forwards, then backwards. */
		for (uint32_t next = 0; next < count; next++) {
			uint32_t at = round & 1 ? count - 1 - next : next;
			bool quarrel = false;

			if (!ways->table.circuits.list[at].uses_count)
				continue;
			if (!reroute(ways, at, &quarrel)) {
				*circuit = at;
				/*
				 * A cheapest path that is too long may hide one that is short
				 * enough.
				 */
				if (lm_way_alone(ways, at, &ignored))
					return NEGOTIATED_ALONE;
				quarrel = true; /* retry in the next iteration */
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

// SPDX-License-Identifier: LGPL-2.1-or-later
/* Mappings of ranks to accelerators: their cost, and the routes of their circuits. */
#include "place.h"

/* Circuits between servers. */
static void count_units(struct rack_search *search, const struct morph_request *request,
			const struct mapping *mapping)
{
	memset(search->units, 0, sizeof(search->units));
	for (uint32_t at = 0; at < request->circuits_count; at++) {
		uint32_t from = mapping->seats[request->circuits[at].src];
		uint32_t to = mapping->seats[request->circuits[at].dst];

		if (from != to)
			search->units[from][to]++;
	}
}

void lm_mapping_weigh(struct rack_search *search, const struct morph_request *request,
		      struct mapping *mapping)
{
	uint8_t taken[NET_SITES] = { 0 };

	mapping->broken = 0;
	mapping->fibres = 0;
	mapping->servers = 0;
	for (uint32_t rank = 0; rank < request->ranks; rank++)
		taken[mapping->seats[rank]]++;
	for (uint32_t seat = 0; seat < search->net.sites; seat++) {
		if (!taken[seat])
			continue;
		mapping->servers++;
		mapping->broken += (uint32_t)(search->free[seat] - taken[seat]);
	}
	for (uint32_t at = 0; at < request->circuits_count; at++)
		mapping->fibres += search->distances[mapping->seats[request->circuits[at].src]]
						    [mapping->seats[request->circuits[at].dst]];
}

void lm_figures_copy(struct mapping *to, const struct mapping *from)
{
	to->broken = from->broken;
	to->fibres = from->fibres;
	to->servers = from->servers;
}

bool lm_mapping_better(const struct morph_request *request, const struct mapping *a,
		       const struct mapping *b)
{
	const uint32_t ours[] = { a->broken, a->fibres, a->servers };
	const uint32_t theirs[] = { b->broken, b->fibres, b->servers };
	uint32_t first = request->objective;

	if (ours[first] != theirs[first])
		return ours[first] < theirs[first];
	for (uint32_t at = 0; at < ARRAY_SIZE(ours); at++)
		if (ours[at] != theirs[at])
			return ours[at] < theirs[at];
	return false;
}

/* @apart: circuits with the same ends can take different routes. */
static bool collect_routes(struct rack_search *search, bool apart)
{
	struct routes *routes = &search->routes;

	routes->count = 0;
	for (uint32_t from = 0; from < search->net.sites; from++) {
		for (uint32_t to = 0; to < search->net.sites; to++) {
			uint32_t units = search->units[from][to];

			if (!units)
				continue;
			if (units > NET_ROOM || search->distances[from][to] == NET_APART)
				return false;
			lm_routes_add(routes, from, to, units, apart ? 1 : units);
		}
	}
	return true;
}

static enum routes_verdict route(struct rack_search *search, bool apart, uint64_t *steps)
{
	const struct net *nets = lm_rack_nets(search);

	if (!collect_routes(search, apart))
		return ROUTES_NONE;
	if (lm_routes_negotiate(nets, search->bands, &search->routes, search->stitch.work))
		return ROUTES_FOUND;
	memcpy(search->stitch.scratch, nets, search->bands * sizeof(*nets));
	return lm_routes_exhaust(search->stitch.scratch, search->bands, &search->routes, steps);
}

enum stitch_verdict lm_mapping_route(struct rack_search *search,
				     const struct morph_request *request,
				     const struct mapping *mapping, uint64_t steps)
{
	enum routes_verdict verdict = ROUTES_NONE;

	count_units(search, request, mapping);
	if (request->circuits_count > PATTERN_DEMANDS)
		return STITCH_UNDECIDED;
	/*
	 * Routing circuits with the same ends together is faster, but only routing each alone is
	 * complete.
	 */
	if (search->bands == 1)
		verdict = route(search, false, &steps);
	if (verdict != ROUTES_FOUND)
		verdict = route(search, true, &steps);
	switch (verdict) {
	case ROUTES_FOUND:
		return STITCH_FEASIBLE;
	case ROUTES_NONE:
		return STITCH_INFEASIBLE;
	default:
		return STITCH_UNDECIDED;
	}
}

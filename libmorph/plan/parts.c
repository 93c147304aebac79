// SPDX-License-Identifier: LGPL-2.1-or-later
/* The second tier for what is made of whole servers: its parts are stitched together. */
#include "place.h"

void lm_server_order(const struct morph_ledger *ledger, uint32_t host, uint32_t *order)
{
	const struct sites *sites = &ledger->sites;
	const uint32_t *members = &sites->members[sites->members_first[host]];
	uint32_t count = sites->members_first[host + 1] - sites->members_first[host];

	/* By cell: few, and mostly in order already. */
	for (uint32_t at = 0; at < count; at++) {
		const struct cell *cell = &sites->cells[members[at]];
		uint32_t key = (uint32_t)cell->z << 16 | (uint32_t)cell->y << 8 | cell->x, to = at;

		for (; to; to--) {
			const struct cell *other = &sites->cells[order[to - 1]];

			if (((uint32_t)other->z << 16 | (uint32_t)other->y << 8 | other->x) <= key)
				break;
			order[to] = order[to - 1];
		}
		order[to] = members[at];
	}
}

void lm_place_lay_parts(struct morph_ledger *ledger, const struct morph_request *request,
			const uint16_t *parts, const uint16_t *places, const uint8_t *sites,
			struct mapping *mapping)
{
	const struct rack *rack = &ledger->sites.racks[ledger->search.rack];
	uint32_t order[MOST_RANKS];

	for (uint32_t rank = 0; rank < request->ranks; rank++) {
		uint32_t seat = sites[parts[rank]];

		lm_server_order(ledger, ledger->sites.rack_hosts[rack->hosts_first + seat], order);
		mapping->accelerators[rank] = order[places[rank]];
		mapping->seats[rank] = (uint16_t)seat;
	}
}

static void take_embedding(struct morph_ledger *ledger, const struct morph_request *request,
			   const uint16_t *parts, const uint16_t *places)
{
	struct rack_search *search = &ledger->search;

	lm_place_lay_parts(ledger, request, parts, places, search->stitch.embedding.sites,
			   &search->best);
	search->routes = search->stitch.routes;
	lm_mapping_weigh(search, request, &search->best);
}

enum stitch_verdict lm_place_parts(struct morph_ledger *ledger, const struct morph_request *request)
{
	struct rack_search *search = &ledger->search;
	const struct rack *rack = &ledger->sites.racks[search->rack];
	struct pattern *pattern = &search->pattern;
	uint16_t parts[MOST_RANKS], places[MOST_RANKS];
	uint32_t size, count;
	enum stitch_verdict verdict;
	uint64_t free = 0;

	count = lm_request_cut(request, search->block, parts, places);
	size = request->ranks / count;
	lm_pattern_init(pattern, count);
	for (uint32_t at = 0; at < request->circuits_count; at++) {
		uint32_t from = parts[request->circuits[at].src];
		uint32_t to = parts[request->circuits[at].dst];

		if (from != to)
			lm_pattern_add(pattern, from, to, 1);
	}
	lm_pattern_prepare(pattern);
	for (uint32_t seat = 0; seat < rack->hosts_count; seat++)
		if (search->free[seat] >= size)
			free |= 1ULL << seat;
	verdict = lm_stitch_bands(&search->stitch, lm_rack_nets(search), search->bands, pattern,
				  free, search->steps);
	if (verdict == STITCH_FEASIBLE)
		take_embedding(ledger, request, parts, places);
	return verdict;
}

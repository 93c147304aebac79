// SPDX-License-Identifier: LGPL-2.1-or-later
/* The second tier by exhaustive search: stitch parts that fill servers, or few single ranks. */
#include "place.h"

void lm_server_order(const struct morph_ledger *ledger, uint32_t host, uint32_t *order)
{
	const struct sites *sites = &ledger->sites;
	const uint32_t *members = &sites->members[sites->members_first[host]];
	uint32_t count = sites->members_first[host + 1] - sites->members_first[host];

	/* By cell. Insertion, because they are few and mostly in order. */
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
	uint32_t order[RACK_ACCELERATORS];

	for (uint32_t rank = 0; rank < request->ranks; rank++) {
		uint32_t seat = sites[parts[rank]];

		lm_server_order(ledger, ledger->sites.rack_hosts[rack->hosts_first + seat], order);
		mapping->accelerators[rank] = order[places[rank]];
		mapping->seats[rank] = (uint16_t)seat;
	}
}

void lm_place_lay_ranks(struct morph_ledger *ledger, const struct morph_request *request,
			const uint8_t *sites, struct mapping *mapping)
{
	const struct sites *all = &ledger->sites;
	const struct rack *rack = &all->racks[ledger->search.rack];
	uint32_t next[NET_SITES];

	for (uint32_t seat = 0; seat < rack->hosts_count; seat++)
		next[seat] = all->members_first[all->rack_hosts[rack->hosts_first + seat]];
	for (uint32_t rank = 0; rank < request->ranks; rank++) {
		uint32_t seat = sites[rank];

		while (!lm_ledger_free(ledger, all->members[next[seat]]))
			next[seat]++;
		mapping->accelerators[rank] = all->members[next[seat]++];
		mapping->seats[rank] = (uint16_t)seat;
	}
}

/* Circuits between slots. */
static void make_pattern(struct rack_search *search, const struct morph_request *request,
			 const uint16_t *slots, uint32_t count)
{
	struct pattern *pattern = &search->pattern;

	lm_pattern_init(pattern, count);
	for (uint32_t at = 0; at < request->circuits_count; at++) {
		uint32_t from = slots[request->circuits[at].src];
		uint32_t to = slots[request->circuits[at].dst];

		if (from != to)
			lm_pattern_add(pattern, from, to, 1);
	}
	lm_pattern_prepare(pattern);
	search->prepared = true;
}

static enum stitch_verdict stitch(struct rack_search *search, const uint8_t *takes)
{
	return lm_stitch_shared(&search->stitch, lm_rack_nets(search), search->bands,
				&search->pattern, takes, search->steps);
}

enum stitch_verdict lm_place_parts(struct morph_ledger *ledger, const struct morph_request *request)
{
	struct rack_search *search = &ledger->search;
	uint16_t parts[RACK_ACCELERATORS], places[RACK_ACCELERATORS];
	uint32_t count = lm_request_cut(request, search->block, parts, places);
	uint8_t takes[NET_SITES] = { 0 };
	enum stitch_verdict verdict;

	if (!search->prepared)
		make_pattern(search, request, parts, count);
	for (uint32_t seat = 0; seat < search->net.sites; seat++)
		takes[seat] = search->free[seat] >= request->ranks / count;
	verdict = stitch(search, takes);
	if (verdict != STITCH_FEASIBLE)
		return verdict;
	lm_place_lay_parts(ledger, request, parts, places, search->stitch.embedding.sites,
			   &search->best);
	search->routes = search->stitch.routes;
	lm_mapping_weigh(search, request, &search->best);
	return verdict;
}

enum stitch_verdict lm_place_ranks(struct morph_ledger *ledger, const struct morph_request *request)
{
	struct rack_search *search = &ledger->search;
	enum stitch_verdict verdict;
	uint16_t slots[RACK_ACCELERATORS];

	if (request->ranks > RANK_SLOTS)
		return STITCH_UNDECIDED;
	for (uint16_t rank = 0; rank < request->ranks; rank++)
		slots[rank] = rank;
	if (!search->prepared)
		make_pattern(search, request, slots, request->ranks);
	verdict = stitch(search, search->free);
	if (verdict != STITCH_FEASIBLE)
		return verdict;
	lm_place_lay_ranks(ledger, request, search->stitch.embedding.sites, &search->best);
	search->routes = search->stitch.routes;
	lm_mapping_weigh(search, request, &search->best);
	return verdict;
}

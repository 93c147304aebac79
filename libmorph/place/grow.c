// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The second tier for requests that do not fill servers. The ranks grow from each server over its
 * nearest servers, in their order. Then ranks exchange positions while this saves fibres. It proves
 * nothing.
 */
#include "place.h"

#define PASSES 4 /* of exchanges */
#define STARTS 4 /* the best first servers, for which ranks are exchanged and routed */

/*
 * Servers in the order of their distance from one server; among equals the one with more free
 * first.
 */
static uint32_t by_distance(const struct rack_search *search, uint32_t seat, uint8_t *order)
{
	uint32_t count = 0;

	for (uint32_t at = 0; at < search->net.sites; at++) {
		uint32_t to = count, key;

		if (!search->free[at] || search->distances[seat][at] == NET_APART)
			continue;
		key = search->distances[seat][at] * 512U + (256U - search->free[at]);
		for (; to; to--) {
			uint32_t other = order[to - 1];

			if (search->distances[seat][other] * 512U + (256U - search->free[other]) <=
			    key)
				break;
			order[to] = order[to - 1];
		}
		order[to] = (uint8_t)at;
		count++;
	}
	return count;
}

/* Fill servers with ranks in this order. Returns whether all ranks fit. */
static bool spread(struct morph_ledger *ledger, const struct morph_request *request,
		   const uint8_t *order, uint32_t count)
{
	struct rack_search *search = &ledger->search;
	const struct sites *sites = &ledger->sites;
	const struct rack *rack = &sites->racks[search->rack];
	uint32_t rank = 0;

	for (uint32_t at = 0; at < count && rank < request->ranks; at++) {
		uint32_t host = sites->rack_hosts[rack->hosts_first + order[at]];

		for (uint32_t member = sites->members_first[host];
		     member < sites->members_first[host + 1] && rank < request->ranks; member++) {
			if (!lm_ledger_free(ledger, sites->members[member]))
				continue;
			search->trial.accelerators[rank] = sites->members[member];
			search->trial.seats[rank++] = order[at];
		}
	}
	return rank == request->ranks;
}

/* The hops of a rank's circuits, if the rank were in this server. */
static uint32_t cost_at(const struct rack_search *search, uint32_t rank, uint32_t seat)
{
	uint32_t cost = 0;

	for (uint32_t at = search->partners_first[rank]; at < search->partners_first[rank + 1];
	     at++) {
		uint32_t partner = search->partners[at];
		uint32_t its = search->trial.seats[partner & ~PARTNER_SENDS];

		cost += partner & PARTNER_SENDS ? search->distances[its][seat] :
						  search->distances[seat][its];
	}
	return cost;
}

static void swap_ranks(struct mapping *mapping, uint32_t a, uint32_t b)
{
	uint32_t chip = mapping->accelerators[a];
	uint16_t seat = mapping->seats[a];

	mapping->accelerators[a] = mapping->accelerators[b];
	mapping->accelerators[b] = chip;
	mapping->seats[a] = mapping->seats[b];
	mapping->seats[b] = seat;
}

/* Exchange ranks while this saves fibres. */
static void improve(struct rack_search *search, const struct morph_request *request)
{
	struct mapping *trial = &search->trial;
	bool better = true;

	for (uint32_t pass = 0; pass < PASSES && better; pass++) {
		better = false;
		for (uint32_t a = 0; a < request->ranks; a++) {
			for (uint32_t b = a + 1; b < request->ranks; b++) {
				uint32_t before, after;

				if (trial->seats[a] == trial->seats[b])
					continue;
				before = cost_at(search, a, trial->seats[a]) +
					 cost_at(search, b, trial->seats[b]);
				swap_ranks(trial, a, b);
				after = cost_at(search, a, trial->seats[a]) +
					cost_at(search, b, trial->seats[b]);
				if (after < before)
					better = true;
				else
					swap_ranks(trial, a, b);
			}
		}
	}
}

/* The first servers from which all ranks fit, in the order of their cost. Returns their number. */
static uint32_t rank_seats(struct morph_ledger *ledger, const struct morph_request *request,
			   uint8_t *seats)
{
	struct rack_search *search = &ledger->search;
	struct mapping figures[NET_SITES]; /* only the figures */
	uint32_t count = 0;

	for (uint32_t seat = 0; seat < search->net.sites; seat++) {
		uint8_t order[NET_SITES];
		uint32_t near, to = count;

		near = search->free[seat] ? by_distance(search, seat, order) : 0;
		if (!spread(ledger, request, order, near))
			continue;
		lm_mapping_weigh(search, request, &search->trial);
		for (; to && lm_mapping_better(request, &search->trial, &figures[to - 1]); to--) {
			lm_figures_copy(&figures[to], &figures[to - 1]);
			seats[to] = seats[to - 1];
		}
		lm_figures_copy(&figures[to], &search->trial);
		seats[to] = (uint8_t)seat;
		count++;
	}
	return count;
}

enum stitch_verdict lm_place_grow(struct morph_ledger *ledger, const struct morph_request *request)
{
	struct rack_search *search = &ledger->search;
	uint8_t seats[NET_SITES] = { 0 }, order[NET_SITES] = { 0 };
	uint32_t count = rank_seats(ledger, request, seats);

	for (uint32_t at = 0; at < count && at < STARTS; at++) {
		spread(ledger, request, order, by_distance(search, seats[at], order));
		improve(search, request);
		if (lm_mapping_route(search, request, &search->trial, 0) != STITCH_FEASIBLE)
			continue;
		lm_mapping_weigh(search, request, &search->trial);
		search->best = search->trial;
		return STITCH_FEASIBLE;
	}
	return STITCH_UNDECIDED;
}

void lm_place_each_growth(struct morph_ledger *ledger, const struct morph_request *request,
			  place_fn each, void *context)
{
	struct rack_search *search = &ledger->search;
	uint8_t seats[NET_SITES] = { 0 }, order[NET_SITES] = { 0 };
	uint32_t count = rank_seats(ledger, request, seats);

	for (uint32_t at = 0; at < count; at++) {
		spread(ledger, request, order, by_distance(search, seats[at], order));
		improve(search, request);
		if (each(context))
			return;
	}
}

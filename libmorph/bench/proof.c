// SPDX-License-Identifier: LGPL-2.1-or-later
/* Checks of plans and refusals of stitching. */
#include "../check/search.h"
#include "proof.h"

/* Remaining capacity and remaining demand. */
struct ledger {
	uint8_t room[PROOF_BANDS][PROOF_SITES][PROOF_SITES];
	uint32_t wanted[PROOF_SITES][PROOF_SITES]; /* circuits from site to site */
};

/* Place each slot on its own free site, and compute the demands. */
static bool sit(const struct proof_rack *rack, const uint8_t *seats, struct ledger *ledger)
{
	uint64_t free = rack->free;

	for (uint32_t slot = 0; slot < rack->slots; slot++) {
		if (seats[slot] >= rack->sites || !(free >> seats[slot] & 1))
			return false;
		free &= ~(1ULL << seats[slot]);
	}
	for (uint32_t from = 0; from < rack->slots; from++)
		for (uint32_t to = 0; to < rack->slots; to++)
			ledger->wanted[seats[from]][seats[to]] += rack->units[from][to];
	return true;
}

/* Take the capacity of a path for demanded circuits. */
static bool go(const struct proof_rack *rack, const struct proof_way *way, struct ledger *ledger)
{
	uint32_t *wanted;

	if (way->band >= rack->bands || !way->hops)
		return false;
	for (uint32_t hop = 0; hop <= way->hops; hop++)
		if (way->sites[hop] >= rack->sites)
			return false;
	wanted = &ledger->wanted[way->sites[0]][way->sites[way->hops]];
	if (*wanted < way->units)
		return false;
	*wanted -= way->units;
	for (uint32_t hop = 0; hop < way->hops; hop++) {
		uint8_t *room = &ledger->room[way->band][way->sites[hop]][way->sites[hop + 1]];

		if (*room < way->units)
			return false;
		*room = (uint8_t)(*room - way->units);
	}
	return true;
}

bool proof_of_plan(const struct proof_rack *rack, const uint8_t *seats,
		   const struct proof_way *ways, uint32_t count)
{
	struct ledger ledger = { .wanted = { { 0 } } };

	memcpy(ledger.room, rack->room, sizeof(ledger.room));
	if (!sit(rack, seats, &ledger))
		return false;
	for (uint32_t at = 0; at < count; at++)
		if (!go(rack, &ways[at], &ledger))
			return false;
	for (uint32_t from = 0; from < rack->sites; from++)
		for (uint32_t to = 0; to < rack->sites; to++)
			if (ledger.wanted[from][to])
				return false;
	return true;
}

/* ------------------------------------------------------------------ refusals */

static void read_room(const struct proof_rack *rack, uint32_t band, struct room *room)
{
	room->seats = rack->sites;
	for (uint32_t from = 0; from < rack->sites; from++) {
		room->free[from] = rack->free >> from & 1;
		for (uint32_t to = 0; to < rack->sites; to++) {
			room->room[from][to] += rack->room[band][from][to];
			room->total += rack->room[band][from][to];
		}
	}
}

/* An embedding that neither distances nor sets refute needs a search of its routes. */
static enum answer search_ways(struct search *search)
{
	const struct proof_refusal *refusal = search->context;

	return refusal->searched ? ck_route_all(search) : YES;
}

static enum proof judge(enum answer answer)
{
	switch (answer) {
	case NO:
		return PROOF_HOLDS;
	case YES:
		return PROOF_FAILS;
	default:
		return PROOF_GAVE_UP;
	}
}

static enum proof refute(const struct proof_rack *rack, const struct proof_refusal *refusal,
			 struct search *search, struct room *rooms)
{
	enum proof proof = PROOF_GAVE_UP;
	enum answer answer;

	for (uint32_t band = 0; band < rack->bands; band++) {
		read_room(rack, band, &rooms[0]);
		read_room(rack, band, &rooms[1 + band]);
		ck_room_measure(&rooms[1 + band]);
	}
	ck_room_measure(&rooms[0]);
	search->room = &rooms[0];
	search->bands = rack->bands;
	search->layers = &rooms[1];
	search->parts = rack->slots;
	search->size = 1;
	for (uint32_t from = 0; from < rack->slots; from++)
		for (uint32_t to = 0; to < rack->slots; to++)
			search->units[from][to] = rack->units[from][to];
	search->bear = ck_cuts_bear;
	search->route = search_ways;
	if (!ck_cuts_new(search, refusal->sets_count)) {
		memcpy(search->sets, refusal->sets, refusal->sets_count * sizeof(*search->sets));
		ck_cuts_weigh(search);
		answer = ck_embed_all(search);
		proof = judge(answer);
	}
	ck_cuts_free(search);
	return proof;
}

enum proof proof_of_refusal(const struct proof_rack *rack, const struct proof_refusal *refusal)
{
	struct check check = { .steps = refusal->steps };
	struct search *search = calloc(1, sizeof(*search));
	struct room *rooms = calloc(1 + rack->bands, sizeof(*rooms));
	struct proof_refusal mine = *refusal;
	enum proof proof = PROOF_GAVE_UP;

	if (search && rooms) {
		search->check = &check;
		search->context = &mine;
		proof = refute(rack, refusal, search, rooms);
	}
	free(search);
	free(rooms);
	return proof;
}

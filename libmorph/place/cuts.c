// SPDX-License-Identifier: LGPL-2.1-or-later
/* Finding the sets of servers with little capacity out of them. */
#include <string.h>

#include "cuts.h"
#include "../util/sort.h"

#define PLANES 8 /* of bits of the capacity of a link */

/* Capacities as bit planes of sets of servers, so that a few bit counts sum many links. */
struct sweep {
	const struct net *net;
	const struct pattern *pattern;
	struct cut *found;
	const uint8_t *takes; /* slots, by server */
	uint32_t takes_total;
	uint64_t free; /* servers that can take a slot */
	uint32_t planes;
	bool symmetric; /* a set and its complement have the same capacity */
	uint64_t out[NET_SITES][PLANES];
	uint64_t in[NET_SITES][PLANES];
	/*
	 * By the slots that fit inside: least and most circuits that leave the set in an embedding.
	 */
	uint32_t least[CUT_TAKES + 1];
	uint32_t most[CUT_TAKES + 1];
};

static void planes_add(struct sweep *sweep, uint32_t from, uint32_t to)
{
	uint32_t room = sweep->net->room[from][to];

	for (uint32_t plane = 0; room >> plane; plane++) {
		uint64_t bit = room >> plane & 1;

		sweep->out[from][plane] |= bit << to;
		sweep->in[to][plane] |= bit << from;
		if (plane >= sweep->planes)
			sweep->planes = plane + 1;
	}
}

static void sweep_init(struct sweep *sweep)
{
	const struct net *net = sweep->net;
	const struct pattern *pattern = sweep->pattern;

	sweep->symmetric = true;
	for (uint32_t from = 0; from < net->sites; from++) {
		for (uint64_t left = net->out[from]; left; left &= left - 1) {
			uint32_t to = net_first(left);

			planes_add(sweep, from, to);
			if (net->room[from][to] != net->room[to][from])
				sweep->symmetric = false;
		}
	}
	for (uint32_t at = 0; at < pattern->demands_count; at++) {
		const struct demand *demand = &pattern->demands[at];

		if (demand->units != pattern->units[demand->to][demand->from])
			sweep->symmetric = false;
	}
}

/*
 * For sets that fit @inside slots: how many slots can be inside, and how many circuits then leave.
 */
static void sweep_bound(struct sweep *sweep)
{
	const struct pattern *pattern = sweep->pattern;

	for (uint32_t inside = 0; inside <= sweep->takes_total; inside++) {
		uint32_t outside = sweep->takes_total - inside;
		uint32_t slots = pattern->slots > outside ? pattern->slots - outside : 0;

		sweep->least[inside] = UINT32_MAX;
		for (; slots <= inside && slots <= pattern->slots; slots++) {
			if (pattern->least_out[slots] < sweep->least[inside])
				sweep->least[inside] = pattern->least_out[slots];
			if (pattern->most_out[slots] > sweep->most[inside])
				sweep->most[inside] = pattern->most_out[slots];
		}
	}
}

/* The increase of the capacity out of @set when @site joins it. */
static uint32_t growth(const struct sweep *sweep, uint64_t set, uint32_t site)
{
	uint32_t room = 0;

	for (uint32_t plane = 0; plane < sweep->planes; plane++)
		room += (net_count(sweep->out[site][plane] & ~set) -
			 net_count(sweep->in[site][plane] & set))
			<< plane;
	return room;
}

/* Visit all sets in Gray code order, so that each differs from the one before by one server. */
static void sweep_all(const struct sweep *sweep)
{
	uint32_t sites = sweep->net->sites - sweep->symmetric;
	uint32_t bits[CUT_SITES] = { 0 }, next = 1, held = 0, room = 0;
	uint64_t set = 0;

	for (uint32_t site = 0; site < sweep->net->sites; site++) {
		bits[site] = sweep->free >> site & 1 ? next : 0;
		next <<= sweep->free >> site & 1;
	}
	for (uint32_t index = 0; index < next; index++)
		sweep->found[index].room = UINT32_MAX;
	for (uint64_t step = 1; step <= net_all(sites); step++) {
		uint32_t site = net_first(step);
		uint64_t bit = 1ULL << site;

		if (set & bit)
			room -= growth(sweep, set & ~bit, site);
		else
			room += growth(sweep, set, site);
		set ^= bit;
		held ^= bits[site];
		if (room < sweep->found[held].room)
			sweep->found[held] = (struct cut){ .set = set, .room = room };
	}
}

/* For too many sets: only single servers and their complements. Returns their number. */
static uint32_t sweep_single(const struct sweep *sweep)
{
	uint64_t all = net_all(sweep->net->sites);
	uint32_t count = 0;

	for (uint32_t site = 0; site < sweep->net->sites; site++) {
		uint64_t sets[2] = { 1ULL << site, all & ~(1ULL << site) };

		for (int at = 0; at < 2; at++)
			sweep->found[count++] = (struct cut){
				.set = sets[at],
				.room = lm_net_room_out(sweep->net, sets[at]),
			};
	}
	return count;
}

static int by_slack(const void *one, const void *other, void *context)
{
	const struct cut *a = one, *b = other;

	(void)context;

	if (a->slack != b->slack)
		return a->slack < b->slack ? -1 : 1;
	return (a->set > b->set) - (a->set < b->set);
}

/* Drop cuts that no embedding can violate. Returns how many remain. */
static uint32_t drop_loose(const struct sweep *sweep, uint32_t count)
{
	uint32_t kept = 0;

	for (uint32_t at = 0; at < count; at++) {
		struct cut cut = sweep->found[at];
		uint32_t inside = 0;

		for (uint64_t left = cut.set & sweep->free; left; left &= left - 1)
			inside += sweep->takes[net_first(left)];
		if (cut.room >= sweep->most[inside])
			continue;
		cut.slack = cut.room > sweep->least[inside] ? cut.room - sweep->least[inside] : 0;
		sweep->found[kept++] = cut;
	}
	return kept;
}

void lm_cuts_find(struct cuts *cuts, const struct net *net, const struct pattern *pattern,
		  const uint8_t *takes)
{
	struct sweep sweep = {
		.net = net,
		.pattern = pattern,
		.found = cuts->found,
		.takes = takes,
	};
	uint32_t count;

	cuts->count = 0;
	cuts->active_count = 0;
	cuts->complete = false;
	for (uint32_t site = 0; site < NET_SITES; site++) {
		sweep.free |= (uint64_t) !!takes[site] << site;
		sweep.takes_total += takes[site];
	}
	/* These would overflow; the search then has no cuts. */
	if (pattern->units_total > INT16_MAX || sweep.takes_total > CUT_TAKES)
		return;
	sweep_init(&sweep);
	sweep_bound(&sweep);
	cuts->complete = net->sites <= CUT_SITES && net_count(sweep.free) <= CUT_FREE;
	if (cuts->complete) {
		sweep_all(&sweep);
		count = 1U << net_count(sweep.free);
	} else {
		count = sweep_single(&sweep);
	}
	count = drop_loose(&sweep, count);
	lm_sort(cuts->found, count, sizeof(cuts->found[0]), by_slack, NULL);
	cuts->complete = cuts->complete && count <= CUTS;
	cuts->count = count < CUTS ? count : CUTS;
	memcpy(cuts->list, cuts->found, cuts->count * sizeof(cuts->list[0]));
	memset(cuts->inside, 0, sizeof(cuts->inside));
	memset(cuts->active_inside, 0, sizeof(cuts->active_inside));
	for (uint32_t at = 0; at < cuts->count; at++)
		for (uint64_t set = cuts->list[at].set; set; set &= set - 1)
			cuts->inside[net_first(set)][at] = -1;
}

static void activate(struct cuts *cuts, uint32_t cut)
{
	uint32_t at = cuts->active_count;

	if (at == CUTS_ACTIVE)
		return;
	cuts->active_count++;
	cuts->active_room[at] = (int16_t)cuts->list[cut].room;
	for (uint32_t site = 0; site < NET_SITES; site++)
		cuts->active_inside[site][at] = cuts->inside[site][cut];
}

bool lm_cuts_violated(struct cuts *cuts, const struct pattern *pattern, const uint8_t *sites)
{
	int16_t wanted[CUTS] = { 0 };
	int32_t most = 0;
	uint32_t worst = 0;

	for (uint32_t at = 0; at < pattern->demands_count; at++) {
		const struct demand *demand = &pattern->demands[at];
		const int16_t *from = cuts->inside[sites[demand->from]];
		const int16_t *to = cuts->inside[sites[demand->to]];
		int16_t units = demand->units;

		for (uint32_t cut = 0; cut < CUTS; cut++)
			wanted[cut] = (int16_t)(wanted[cut] + (units & from[cut] & ~to[cut]));
	}
	for (uint32_t cut = 0; cut < cuts->count; cut++) {
		int32_t excess = wanted[cut] - (int32_t)cuts->list[cut].room;

		if (excess > most) {
			most = excess;
			worst = cut;
		}
	}
	if (most)
		activate(cuts, worst);
	return most > 0;
}

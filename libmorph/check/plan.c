// SPDX-License-Identifier: LGPL-2.1-or-later
/* Checks a feasible plan: each rank has an accelerator, and each circuit free fibres. */
#include <morph/wire.h>

#include "internal.h"

#define TIER_CONTIGUOUS 1
#define TIER_CROSSING 3

static uint32_t accelerator_of(const struct check *check, uint32_t rank)
{
	return word(check->plan.rank_words, 2 * (size_t)rank);
}

static int check_ranks(struct check *check)
{
	const struct fabric *fabric = &check->fabric;
	uint32_t rack = 0;

	for (uint32_t rank = 0; rank < check->plan.ranks; rank++) {
		uint32_t chip = accelerator_of(check, rank);

		if (chip >= fabric->accelerators)
			return ck_wrong(check, EBADMSG, "rank %u has no accelerator", rank);
		if (!ck_free(fabric, chip))
			return ck_wrong(check, EBADMSG, "accelerator %u of rank %u is not free",
					chip, rank);
		for (uint32_t other = 0; other < rank; other++)
			if (accelerator_of(check, other) == chip)
				return ck_wrong(check, EBADMSG,
						"accelerator %u belongs to both ranks %u and %u",
						chip, other, rank);
		if (rank && check->plan.tier < TIER_CROSSING &&
		    fabric->rack[ck_host(fabric, chip)] != rack)
			return ck_wrong(check, EBADMSG, "rank %u is in another rack", rank);
		rack = fabric->rack[ck_host(fabric, chip)];
	}
	return 0;
}

/* No other slice has a part of a server that is taken whole. */
static int check_whole(struct check *check)
{
	const struct fabric *fabric = &check->fabric;
	uint32_t *missing = calloc((size_t)fabric->hosts + 1, sizeof(*missing));
	int ret = 0;

	if (!missing)
		return ck_wrong(check, ENOMEM, "out of memory");
	for (uint32_t at = 0; at < fabric->accelerators; at++)
		missing[ck_host(fabric, at)]++;
	for (uint32_t rank = 0; rank < check->plan.ranks; rank++)
		missing[ck_host(fabric, accelerator_of(check, rank))]--;
	for (uint32_t rank = 0; rank < check->plan.ranks && !ret; rank++)
		if (missing[ck_host(fabric, accelerator_of(check, rank))])
			ret = ck_wrong(check, EBADMSG,
				       "the slice does not have the whole server of rank %u", rank);
	free(missing);
	return ret;
}

/* -------------------------------------------------------------------- the box */

/* First cell and extents of the torus of a rack, without spares. */
static void measure_rack(const struct fabric *fabric, uint32_t rack, uint32_t corner[3],
			 uint32_t extent[3])
{
	uint32_t far[3] = { 0 };

	corner[0] = corner[1] = corner[2] = NONE;
	for (uint32_t at = 0; at < fabric->accelerators; at++) {
		if (fabric->rack[ck_host(fabric, at)] != rack || ck_is_spare(fabric, at))
			continue;
		for (uint32_t axis = 0; axis < 3; axis++) {
			uint32_t place = ck_position(fabric, at, axis);

			corner[axis] = place < corner[axis] ? place : corner[axis];
			far[axis] = place + 1 > far[axis] ? place + 1 : far[axis];
		}
	}
	for (uint32_t axis = 0; axis < 3; axis++)
		extent[axis] = far[axis] - corner[axis];
}

/* The length of the row of taken cells along one dimension; cells must be adjacent. */
static uint32_t row_length(const bool *taken, uint32_t extent)
{
	uint32_t count = 0, begins = 0;

	for (uint32_t at = 0; at < extent; at++) {
		count += taken[at];
		begins += taken[at] && !taken[(at + extent - 1) % extent];
	}
	return begins <= 1 ? count : 0;
}

/* One step in a dimension of the request is one step in one dimension of the rack. */
static bool steps_fit(const struct check *check, const uint32_t extent[3], const uint32_t *cells)
{
	const struct request *request = &check->request;
	uint32_t stride = 1;

	for (uint32_t axis = 0; axis < 3; axis++) {
		uint32_t moves = NONE;

		for (uint32_t rank = 0; rank < check->plan.ranks; rank++) {
			uint32_t moved = 0, along = 0;

			if (rank / stride % request->extent[axis] + 1 == request->extent[axis])
				continue;
			for (uint32_t to = 0; to < 3; to++) {
				uint32_t from = cells[3 * rank + to];
				uint32_t next = cells[3 * (rank + stride) + to];

				if (from == next)
					continue;
				moved++;
				along = to;
				if ((from + 1) % extent[to] != next)
					return false;
			}
			if (moved != 1 || (moves != NONE && moves != along))
				return false;
			moves = along;
		}
		stride *= request->extent[axis];
	}
	return true;
}

static int check_box(struct check *check)
{
	const struct fabric *fabric = &check->fabric;
	uint32_t corner[3], extent[3], cells[3 * MOST_RANKS], volume = 1;
	uint32_t rack = fabric->rack[ck_host(fabric, accelerator_of(check, 0))];

	measure_rack(fabric, rack, corner, extent);
	for (uint32_t axis = 0; axis < 3; axis++) {
		bool taken[MOST_CHIPS] = { false };

		if (extent[axis] > MOST_CHIPS)
			return ck_wrong(check, EINVAL, "the torus of a rack is too large");
		for (uint32_t rank = 0; rank < check->plan.ranks; rank++) {
			uint32_t at = ck_position(fabric, accelerator_of(check, rank), axis) -
				      corner[axis];

			/* A former spare of the profile is outside the torus. */
			if (at >= extent[axis])
				return ck_wrong(check, EBADMSG,
						"the accelerators do not form a box");
			cells[3 * rank + axis] = at;
			taken[at] = true;
		}
		volume *= row_length(taken, extent[axis]);
	}
	if (volume != check->plan.ranks)
		return ck_wrong(check, EBADMSG, "the accelerators do not form a box");
	if (check->request.extent[0] && !steps_fit(check, extent, cells))
		return ck_wrong(check, EBADMSG, "the torus has a wrong position in its box");
	return 0;
}

/* ------------------------------------------------------------------- circuits */

bool ck_touches_others(const struct fabric *fabric, uint32_t first_code, uint32_t last_code)
{
	uint32_t from =
		ck_tile(fabric, ck_guide_end(fabric, first_code >> 1, first_code & 1).index);
	uint32_t to = ck_tile(fabric, ck_guide_end(fabric, last_code >> 1, !(last_code & 1)).index);

	return ck_owner(fabric, from) || ck_owner(fabric, to);
}

/* The same for a hop of the plan that was followed. */
static bool strand_touches_others(const struct check *check, const uint8_t *strand)
{
	uint32_t last = word(strand, 0) - 1;

	return ck_touches_others(&check->fabric, word(strand, 1),
				 word(strand, 1 + 3 * (size_t)last));
}

uint32_t ck_follow_strand(struct check *check, struct used *used, const uint8_t *strand,
			  uint32_t number, uint32_t host)
{
	const struct fabric *fabric = &check->fabric;
	uint32_t count = word(strand, 0);
	struct end end = { 0 };

	for (uint32_t at = 0; at < count; at++) {
		uint32_t code = 1 + 3 * (uint64_t)at < MORPH_WIRE_STRAND ?
					word(strand, 1 + 3 * (size_t)at) :
					NONE;
		uint32_t element = at ? word(strand, 3 * (size_t)at - 1) : NONE;
		uint32_t state = at ? word(strand, 3 * (size_t)at) : NONE;
		struct end begin;

		if (code >= 2 * fabric->guides || ck_guide_class(fabric, code >> 1) != CLASS_FIBRE)
			goto broken;
		begin = ck_guide_end(fabric, code >> 1, code & 1);
		if (begin.type != END_ELEMENT)
			goto broken;
		if (!at && (ck_tile(fabric, begin.index) == NONE ||
			    ck_host(fabric, ck_tile(fabric, begin.index)) != host ||
			    !ck_reaches(fabric, begin, END_TX)))
			goto broken;
		if (at) {
			if (end.index != element || begin.index != element ||
			    ck_tile(fabric, element) != NONE ||
			    ck_joined(fabric, element, state, end.port) != begin.port)
				goto broken;
			if (used->elements[element]) {
				ck_wrong(check, EBADMSG, "switch %u of fibre %u is in use", element,
					 number);
				return NONE;
			}
			used->elements[element] = true;
		}
		if (used->guides[code >> 1]) {
			ck_wrong(check, EBADMSG, "guide %u of fibre %u is in use", code >> 1,
				 number);
			return NONE;
		}
		used->guides[code >> 1] = true;
		end = ck_guide_end(fabric, code >> 1, !(code & 1));
		if (end.type != END_ELEMENT)
			goto broken;
	}
	if (!count || ck_tile(fabric, end.index) == NONE || !ck_reaches(fabric, end, END_RX))
		goto broken;
	return ck_host(fabric, ck_tile(fabric, end.index));
broken:
	ck_wrong(check, EBADMSG, "fibre %u does not lead from host %u to another", number, host);
	return NONE;
}

static uint32_t strand_guides(const struct check *check, uint32_t number)
{
	return word(check->plan.strand_words, MORPH_WIRE_STRAND * (size_t)number);
}

void ck_leave_strand(struct check *check, struct used *used, const uint8_t *strand)
{
	for (uint32_t at = 0; at < word(strand, 0); at++) {
		uint32_t guide = word(strand, 1 + 3 * (size_t)at) >> 1;

		used->guides[guide] = ck_guide_marked(&check->fabric, guide);
		if (at)
			used->elements[word(strand, 3 * (size_t)at - 1)] = false;
	}
}

/* @bands: resources in use in each band. */
static int check_circuit(struct check *check, struct used *bands, uint32_t circuit, uint32_t *next)
{
	const struct fabric *fabric = &check->fabric;
	const uint8_t *pair = check->request.pairs + 8 * (size_t)circuit;
	const uint8_t *way = check->plan.way_words + 8 * (size_t)circuit;
	uint32_t host = ck_host(fabric, accelerator_of(check, word(pair, 0)));
	uint32_t goal = ck_host(fabric, accelerator_of(check, word(pair, 1)));
	uint32_t first = word(way, 0), count = word(way, 1) & 0xffff, switched = 0;
	uint32_t band = word(way, 1) >> 16;

	if (band >= check->request.bands)
		return ck_wrong(check, EBADMSG, "circuit %u has wavelength %u of %u", circuit, band,
				check->request.bands);
	if (first != *next || count > check->plan.strands - first)
		return ck_wrong(check, EBADMSG,
				"the fibres of circuit %u belong to another circuit", circuit);
	*next += count;
	for (uint32_t at = 0; at < count; at++) {
		const uint8_t *strand =
			check->plan.strand_words + 4 * ((size_t)first + at) * MORPH_WIRE_STRAND;

		if (check->request.transit && at && ck_foreign(fabric, host, 0))
			return ck_wrong(check, EBADMSG,
					"circuit %u crosses host %u, which another slice holds",
					circuit, host);
		host = ck_follow_strand(check, &bands[band], strand, first + at, host);
		if (host == NONE)
			return -EBADMSG;
		if (check->request.transit && strand_touches_others(check, strand))
			return ck_wrong(
				check, EBADMSG,
				"fibre %u of circuit %u ends at a tile that another slice holds",
				first + at, circuit);
		switched += strand_guides(check, first + at) > 1;
		if (check->plan.tier == TIER_CROSSING && switched > 1)
			return ck_wrong(check, EBADMSG, "circuit %u crosses circuit switches twice",
					circuit);
	}
	if (host != goal)
		return ck_wrong(check, EBADMSG, "circuit %u ends at host %u, not %u", circuit, host,
				goal);
	return 0;
}

/* A switch leads all wavelengths the same way. */
static int check_states(struct check *check)
{
	uint32_t *states = malloc(((size_t)check->fabric.elements + 1) * sizeof(*states));
	int ret = 0;

	if (!states)
		return ck_wrong(check, ENOMEM, "out of memory");
	memset(states, 0xff, ((size_t)check->fabric.elements + 1) * sizeof(*states));
	for (uint32_t number = 0; number < check->plan.strands && !ret; number++) {
		const uint8_t *strand =
			check->plan.strand_words + 4 * MORPH_WIRE_STRAND * (size_t)number;

		for (uint32_t at = 1; at < word(strand, 0) && !ret; at++) {
			uint32_t element = word(strand, 3 * (size_t)at - 1);
			uint32_t state = word(strand, 3 * (size_t)at);

			if (states[element] != NONE && states[element] != state)
				ret = ck_wrong(check, EBADMSG, "switch %u has two states", element);
			states[element] = state;
		}
	}
	free(states);
	return ret;
}

static int check_ways(struct check *check, struct used *bands)
{
	uint32_t next = 0;
	int ret = 0;

	for (uint32_t at = 0; at < check->request.circuits && !ret; at++)
		ret = check_circuit(check, bands, at, &next);
	if (!ret && next != check->plan.strands)
		ret = ck_wrong(check, EBADMSG, "%u fibres belong to no circuit",
			       check->plan.strands - next);
	if (!ret && check->request.bands > 1)
		ret = check_states(check);
	return ret;
}

static int check_circuits(struct check *check)
{
	struct used *bands = calloc(check->request.bands, sizeof(*bands));
	int ret = 0;

	if (!bands)
		return ck_wrong(check, ENOMEM, "out of memory");
	for (uint32_t band = 0; band < check->request.bands && !ret; band++)
		ret = ck_band_read(check, band, &bands[band]);
	if (!ret)
		ret = check_ways(check, bands);
	for (uint32_t band = 0; band < check->request.bands; band++)
		ck_used_free(&bands[band]);
	free(bands);
	return ret;
}

/* -------------------------------------------------------------------- figures */

/* The fewest servers with this number of free accelerators together. */
static uint32_t fewest(const struct room *room, uint32_t ranks)
{
	bool taken[MOST_SEATS] = { false };
	uint32_t servers = 0, have = 0;

	while (have < ranks && servers < room->seats) {
		uint32_t best = 0;

		for (uint32_t seat = 0; seat < room->seats; seat++)
			if (!taken[seat] && (taken[best] || room->free[seat] > room->free[best]))
				best = seat;
		taken[best] = true;
		have += room->free[best];
		servers++;
	}
	return servers;
}

static int check_figures(struct check *check)
{
	const struct fabric *fabric = &check->fabric;
	struct room *room = malloc(sizeof(*room));
	uint32_t seats[MOST_RANKS], servers = 0, least = 0;
	bool taken[MOST_SEATS] = { false };
	int ret;

	if (!room)
		return ck_wrong(check, ENOMEM, "out of memory");
	ret = ck_rooms_read(check, fabric->rack[ck_host(fabric, accelerator_of(check, 0))], room,
			    NULL);
	for (uint32_t rank = 0; rank < check->plan.ranks && !ret; rank++) {
		uint32_t seat = 0;

		while (room->hosts[seat] != ck_host(fabric, accelerator_of(check, rank)))
			seat++;
		servers += !taken[seat];
		taken[seat] = true;
		seats[rank] = seat;
	}
	for (uint32_t at = 0; at < check->request.circuits && !ret; at++)
		least += room->hops[seats[word(check->request.pairs, 2 * (size_t)at)]]
				   [seats[word(check->request.pairs, 2 * (size_t)at + 1)]];
	if (!ret && check->plan.fibres != check->plan.strands)
		ret = ck_wrong(check, EBADMSG, "the plan has %u fibres, not %u",
			       check->plan.strands, check->plan.fibres);
	if (!ret && check->plan.fibres_bound != least)
		ret = ck_wrong(check, EBADMSG, "the minimum is %u fibres, not %u", least,
			       check->plan.fibres_bound);
	if (!ret && check->plan.servers != servers)
		ret = ck_wrong(check, EBADMSG, "the ranks are in %u servers, not %u", servers,
			       check->plan.servers);
	if (!ret && check->plan.servers_bound != fewest(room, check->plan.ranks))
		ret = ck_wrong(check, EBADMSG, "the minimum is %u servers, not %u",
			       fewest(room, check->plan.ranks), check->plan.servers_bound);
	free(room);
	return ret;
}

/* Across racks: a fibre for each circuit between servers, and the fewest servers of the fabric. */
static int check_crossing_figures(struct check *check)
{
	const struct fabric *fabric = &check->fabric;
	uint32_t *free_of = calloc((size_t)fabric->hosts + 1, sizeof(*free_of));
	uint32_t with[MOST_RANKS + 1] = { 0 }, servers = 0, fewest_of = 0, least = 0, left;
	int ret = 0;

	if (!free_of)
		return ck_wrong(check, ENOMEM, "out of memory");
	for (uint32_t at = 0; at < fabric->accelerators; at++)
		free_of[ck_host(fabric, at)] += ck_free(fabric, at);
	for (uint32_t host = 0; host < fabric->hosts; host++)
		with[free_of[host] < MOST_RANKS ? free_of[host] : MOST_RANKS]++;
	left = check->plan.ranks;
	for (uint32_t many = MOST_RANKS; many && left; many--)
		for (; with[many] && left; with[many]--, fewest_of++)
			left -= left < many ? left : many;
	/* Count each server once. */
	for (uint32_t rank = 0; rank < check->plan.ranks; rank++) {
		uint32_t host = ck_host(fabric, accelerator_of(check, rank));

		servers += free_of[host] != 0;
		free_of[host] = 0;
	}
	free(free_of);
	for (uint32_t at = 0; at < check->request.circuits; at++) {
		const uint8_t *pair = check->request.pairs + 8 * (size_t)at;

		least += ck_host(fabric, accelerator_of(check, word(pair, 0))) !=
			 ck_host(fabric, accelerator_of(check, word(pair, 1)));
	}
	if (check->plan.fibres != check->plan.strands || check->plan.fibres_bound != least)
		ret = ck_wrong(check, EBADMSG,
			       "the plan has %u fibres (minimum %u), not %u (minimum %u)",
			       check->plan.strands, least, check->plan.fibres,
			       check->plan.fibres_bound);
	else if (check->plan.servers != servers || check->plan.servers_bound != fewest_of)
		ret = ck_wrong(check, EBADMSG,
			       "the ranks are in %u servers (minimum %u), not %u (minimum %u)",
			       servers, fewest_of, check->plan.servers, check->plan.servers_bound);
	return ret;
}

int ck_members(struct check *check)
{
	int ret;

	if (check->plan.tier < TIER_CONTIGUOUS || check->plan.tier > check->request.tier)
		return ck_wrong(check, EBADMSG, "tier %u: the request accepts at most %u",
				check->plan.tier, check->request.tier);
	if (check->request.lanes > check->fabric.wavelengths / check->request.bands)
		return ck_wrong(check, EBADMSG, "a circuit has %u lanes, a fibre has %u for it",
				check->request.lanes,
				check->fabric.wavelengths / check->request.bands);
	if (check->request.bands > 1 && check->plan.tier == TIER_CROSSING)
		return ck_wrong(check, EBADMSG, "circuits across racks cannot share fibres");
	ret = check_ranks(check);
	if (!ret && check->request.whole)
		ret = check_whole(check);
	if (!ret && check->plan.tier == TIER_CONTIGUOUS)
		ret = check_box(check);
	return ret;
}

int ck_feasible(struct check *check)
{
	int ret = ck_members(check);

	if (!ret && check->plan.circuits != check->request.circuits)
		ret = ck_wrong(check, EBADMSG, "the plan has %u circuits, not %u",
			       check->plan.circuits, check->request.circuits);
	if (!ret)
		ret = check_circuits(check);
	if (ret)
		return ret;
	return check->plan.tier == TIER_CROSSING ? check_crossing_figures(check) :
						   check_figures(check);
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/* The ledger, as the checker reads it, and the capacity that it leaves in a rack. */
#include <morph/wire.h>

#include "internal.h"

int ck_ledger_read(struct check *check, const struct morph_check_bytes *ledger)
{
	struct fabric *fabric = &check->fabric;
	uint64_t words = MORPH_WIRE_HEAD + 3 + 2 * (uint64_t)fabric->accelerators +
			 fabric->elements + 3 * (uint64_t)fabric->guides;
	const uint8_t *at = ledger->data;

	if (!at || ledger->bytes < 4 * (MORPH_WIRE_HEAD + 3) || word(at, 0) != MORPH_WIRE_MAGIC ||
	    word(at, 1) != MORPH_WIRE_VERSION || word(at, 2) != MORPH_WIRE_LEDGER)
		return ck_wrong(check, EINVAL, "the ledger does not have version 2");
	if (word(at, 3) != fabric->checksum)
		return ck_wrong(check, EINVAL, "the ledger is for profile %08x, not %08x",
				word(at, 3), fabric->checksum);
	if (ledger->bytes != 4 * words || word(at, 4) != words ||
	    word(at, MORPH_WIRE_HEAD) != fabric->accelerators ||
	    word(at, MORPH_WIRE_HEAD + 1) != fabric->elements ||
	    word(at, MORPH_WIRE_HEAD + 2) != fabric->guides)
		return ck_wrong(check, EINVAL, "the ledger does not have the size of its fabric");
	fabric->ledger = at + 4 * (size_t)(MORPH_WIRE_HEAD + 3);
	return 0;
}

uint32_t ck_owner(const struct fabric *fabric, uint32_t accelerator)
{
	return word(fabric->ledger, 2 * (size_t)accelerator);
}

bool ck_free(const struct fabric *fabric, uint32_t accelerator)
{
	return !ck_owner(fabric, accelerator) && !word(fabric->ledger, 2 * (size_t)accelerator + 1);
}

bool ck_spare(const struct fabric *fabric, uint32_t accelerator)
{
	return word(fabric->ledger, 2 * (size_t)accelerator + 1) & 2;
}

bool ck_ready(const struct fabric *fabric, uint32_t accelerator)
{
	return !ck_owner(fabric, accelerator) &&
	       word(fabric->ledger, 2 * (size_t)accelerator + 1) == 2;
}

static uint32_t element_flags(const struct fabric *fabric, uint32_t element)
{
	return word(fabric->ledger, 2 * (size_t)fabric->accelerators + element);
}

bool ck_element_marked(const struct fabric *fabric, uint32_t element)
{
	return element_flags(fabric, element) & 1;
}

bool ck_element_held(const struct fabric *fabric, uint32_t element)
{
	return element_flags(fabric, element) & 2;
}

/* The position of the ledger's words of a guide. */
static size_t guide_at(const struct fabric *fabric, uint32_t guide)
{
	return 2 * (size_t)fabric->accelerators + fabric->elements + 3 * (size_t)guide;
}

bool ck_guide_marked(const struct fabric *fabric, uint32_t guide)
{
	for (uint32_t end = 0; end < 2; end++) {
		struct end it = ck_guide_end(fabric, guide, end);

		if (it.type == END_ELEMENT && ck_element_marked(fabric, it.index))
			return true;
	}
	return word(fabric->ledger, guide_at(fabric, guide)) & 1;
}

bool ck_guide_kept(const struct fabric *fabric, uint32_t guide)
{
	for (uint32_t end = 0; end < 2; end++) {
		struct end it = ck_guide_end(fabric, guide, end);

		if (it.type == END_ELEMENT && element_flags(fabric, it.index) & 4)
			return true;
	}
	return word(fabric->ledger, guide_at(fabric, guide)) & 2;
}

/* The lanes of a guide that are in use. */
static uint64_t guide_lit(const struct fabric *fabric, uint32_t guide)
{
	size_t at = guide_at(fabric, guide);

	return word(fabric->ledger, at + 1) | (uint64_t)word(fabric->ledger, at + 2) << 32;
}

bool ck_guide_dark(const struct fabric *fabric, uint32_t guide)
{
	return !guide_lit(fabric, guide);
}

static int read_used(struct check *check, uint64_t lanes, struct used *used)
{
	const struct fabric *fabric = &check->fabric;

	used->guides = calloc((size_t)fabric->guides + 1, sizeof(bool));
	used->elements = calloc((size_t)fabric->elements + 1, sizeof(bool));
	if (!used->guides || !used->elements)
		return ck_wrong(check, ENOMEM, "out of memory");
	for (uint32_t at = 0; at < fabric->guides; at++)
		used->guides[at] = ck_guide_marked(fabric, at) || ck_guide_kept(fabric, at) ||
				   guide_lit(fabric, at) & lanes;
	for (uint32_t at = 0; at < fabric->elements; at++)
		used->elements[at] = ck_element_held(fabric, at);
	return 0;
}

int ck_used_read(struct check *check, struct used *used)
{
	return read_used(check, UINT64_MAX, used);
}

int ck_band_read(struct check *check, uint32_t band, struct used *used)
{
	uint32_t each = check->fabric.wavelengths / check->request.bands;
	uint64_t lanes = 0;

	for (uint32_t lane = band * each; lane < (band + 1) * each; lane++)
		lanes |= 1ULL << lane;
	return read_used(check, lanes, used);
}

void ck_used_free(struct used *used)
{
	free(used->guides);
	free(used->elements);
}

/* ----------------------------------------------------------------------- room */

uint32_t ck_seat(const struct room *room, uint32_t host)
{
	for (uint32_t seat = 0; seat < room->seats; seat++)
		if (room->hosts[seat] == host)
			return seat;
	return NONE;
}

static int count_strand(struct strand_walk *walk, uint32_t from, uint32_t to)
{
	struct room *room = walk->context;
	uint32_t a = ck_seat(room, from), b = ck_seat(room, to);

	for (uint32_t at = 0; at < walk->count; at++)
		if (walk->used->guides[walk->guides[at] >> 1] ||
		    (at + 1 < walk->count && walk->used->elements[walk->elements[at]]))
			return 0;
	if (a == NONE || b == NONE ||
	    (walk->own &&
	     ck_touches_others(walk->fabric, walk->guides[0], walk->guides[walk->count - 1])))
		return 0;
	room->room[a][b]++;
	room->total++;
	return 0;
}

bool ck_foreign(const struct fabric *fabric, uint32_t host, uint32_t slice)
{
	for (uint32_t at = 0; at < fabric->accelerators; at++)
		if (ck_host(fabric, at) == host && ck_owner(fabric, at) &&
		    ck_owner(fabric, at) != slice)
			return true;
	return false;
}

void ck_room_measure(struct room *room)
{
	for (uint32_t a = 0; a < room->seats; a++)
		for (uint32_t b = 0; b < room->seats; b++)
			room->hops[a][b] = a == b ? 0 : room->room[a][b] ? 1 : NONE;
	/* Floyd and Warshall: slow, but short. */
	for (uint32_t via = 0; via < room->seats; via++)
		for (uint32_t a = 0; a < room->seats; a++)
			for (uint32_t b = 0; b < room->seats && !(room->stops >> via & 1); b++)
				if (room->hops[a][via] != NONE && room->hops[via][b] != NONE &&
				    room->hops[a][via] + room->hops[via][b] < room->hops[a][b])
					room->hops[a][b] = room->hops[a][via] + room->hops[via][b];
}

int ck_room_read(struct check *check, const struct used *used, bool own, uint32_t host,
		 struct room *room)
{
	const struct fabric *fabric = &check->fabric;
	struct strand_walk walk = {
		.fabric = fabric, .used = used, .own = own, .each = count_strand, .context = room
	};

	memset(room, 0, sizeof(*room));
	room->host = host;
	for (uint32_t at = 0; at < fabric->hosts; at++) {
		if (fabric->rack[at] != host)
			continue;
		if (room->seats == MOST_SEATS)
			return ck_wrong(check, EINVAL,
					"the rack of host %u has more servers than %d", host,
					MOST_SEATS);
		room->hosts[room->seats++] = at;
	}
	for (uint32_t at = 0; at < fabric->accelerators; at++)
		if (fabric->rack[ck_host(fabric, at)] == host && ck_free(fabric, at))
			room->free[ck_seat(room, ck_host(fabric, at))]++;
	for (uint32_t code = 0; code < 2 * fabric->guides; code++) {
		struct end end = ck_guide_end(fabric, code >> 1, code & 1);

		if (end.type == END_ELEMENT && ck_tile(fabric, end.index) != NONE &&
		    fabric->rack[ck_host(fabric, ck_tile(fabric, end.index))] == host)
			ck_walk_strands(&walk, code);
	}
	for (uint32_t seat = 0; own && seat < room->seats; seat++)
		room->stops |= (uint64_t)ck_foreign(fabric, room->hosts[seat], 0) << seat;
	ck_room_measure(room);
	return 0;
}

static void add_room(struct room *room, const struct room *band)
{
	room->total += band->total;
	for (uint32_t a = 0; a < room->seats; a++)
		for (uint32_t b = 0; b < room->seats; b++)
			room->room[a][b] += band->room[a][b];
}

int ck_rooms_read(struct check *check, uint32_t host, struct room *room, struct room *bands)
{
	struct room *one = bands ? NULL : malloc(sizeof(*one));
	int ret = 0;

	if (!bands && !one)
		return ck_wrong(check, ENOMEM, "out of memory");
	for (uint32_t band = 0; band < check->request.bands && !ret; band++) {
		struct room *its = bands ? &bands[band] : one;
		struct used used = { NULL, NULL };

		ret = ck_band_read(check, band, &used);
		if (!ret)
			ret = ck_room_read(check, &used, check->request.transit, host, its);
		ck_used_free(&used);
		if (ret)
			break;
		if (band)
			add_room(room, its);
		else
			*room = *its;
	}
	if (!ret)
		ck_room_measure(room);
	free(one);
	return ret;
}

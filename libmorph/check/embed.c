// SPDX-License-Identifier: LGPL-2.1-or-later
/* All places of a request in a rack: boxes, parts that fill servers, ranks anywhere. */
#include "search.h"

bool ck_spend(struct check *check)
{
	if (!check->steps)
		return false;
	check->steps--;
	return true;
}

/* Each circuit is a demand of its own. If some do not fit, all do not fit. */
static void add_demand(struct search *search, uint32_t from, uint32_t to, uint32_t units)
{
	for (; units && search->demands < MOST_DEMANDS; units--) {
		search->demand[search->demands].from = from;
		search->demand[search->demands].to = to;
		search->demand[search->demands].units = 1;
		search->demand[search->demands++].routed = false;
	}
}

/* ---------------------------------------------------------------------- boxes */

static uint32_t seat_of(const struct search *search, uint32_t accelerator)
{
	uint32_t host = ck_host(&search->check->fabric, accelerator), seat = 0;

	while (search->room->hosts[seat] != host)
		seat++;
	return seat;
}

/* The torus of a rack. */
struct grid {
	uint32_t corner[3], extent[3];
	uint32_t cells[MOST_CHIPS];
	bool whole; /* each cell has one accelerator */
};

static void read_grid(const struct search *search, struct grid *grid)
{
	const struct fabric *fabric = &search->check->fabric;
	uint32_t far[3] = { 0 }, count = 0;

	grid->corner[0] = grid->corner[1] = grid->corner[2] = NONE;
	for (uint32_t pass = 0; pass < 2; pass++) {
		for (uint32_t at = 0; at < fabric->accelerators; at++) {
			uint32_t place[3], cell;

			if (fabric->rack[ck_host(fabric, at)] != search->room->host ||
			    ck_is_spare(fabric, at))
				continue;
			for (uint32_t axis = 0; axis < 3; axis++) {
				place[axis] = ck_position(fabric, at, axis);
				if (!pass && place[axis] < grid->corner[axis])
					grid->corner[axis] = place[axis];
				if (!pass && place[axis] + 1 > far[axis])
					far[axis] = place[axis] + 1;
				place[axis] -= grid->corner[axis];
			}
			if (!pass) {
				count++;
				continue;
			}
			cell = (place[2] * grid->extent[1] + place[1]) * grid->extent[0] + place[0];
			grid->whole &= grid->cells[cell] == NONE;
			grid->cells[cell] = at;
		}
		if (pass)
			break;
		grid->whole = count && count <= MOST_CHIPS;
		for (uint32_t axis = 0; axis < 3 && grid->whole; axis++) {
			grid->extent[axis] = far[axis] - grid->corner[axis];
			grid->whole = grid->extent[axis] <= MOST_CHIPS;
		}
		if (!grid->whole ||
		    (uint64_t)grid->extent[0] * grid->extent[1] * grid->extent[2] != count)
			break;
		memset(grid->cells, 0xff, sizeof(grid->cells));
	}
	if (grid->whole)
		grid->whole = (uint64_t)grid->extent[0] * grid->extent[1] * grid->extent[2] ==
			      count;
}

/* Whether the servers of these accelerators have no others. */
static bool servers_filled(const struct search *search, const uint32_t *chips)
{
	uint32_t block[3], servers = 0;
	uint64_t seen = 0;

	for (uint32_t rank = 0; rank < search->check->request.ranks; rank++) {
		uint64_t seat = 1ULL << seat_of(search, chips[rank]);

		servers += !(seen & seat);
		seen |= seat;
	}
	ck_block_read(search, block);
	return servers * block[0] * block[1] * block[2] == search->check->request.ranks;
}

/* Whether a box of this size, with dimensions along @axis and first cell @begin, has a plan. */
static enum answer try_box(struct search *search, const struct grid *grid, const uint32_t size[3],
			   const uint32_t axis[3], const uint32_t begin[3])
{
	const struct request *request = &search->check->request;
	uint32_t chips[MOST_CHIPS] = { 0 };

	for (uint32_t rank = 0; rank < request->ranks; rank++) {
		const uint32_t at[3] = { rank % size[0], rank / size[0] % size[1],
					 rank / size[0] / size[1] };
		uint32_t place[3];

		for (uint32_t dimension = 0; dimension < 3; dimension++)
			place[axis[dimension]] = (begin[axis[dimension]] + at[dimension]) %
						 grid->extent[axis[dimension]];
		chips[rank] =
			grid->cells[(place[2] * grid->extent[1] + place[1]) * grid->extent[0] +
				    place[0]];
		if (!ck_free(&search->check->fabric, chips[rank]))
			return NO;
	}
	if (request->whole && !servers_filled(search, chips))
		return NO;
	/* Ranks that run back and forth are only one way to fill a box. */
	if (!request->extent[0])
		return GAVE_UP;
	search->demands = 0;
	for (uint32_t at = 0; at < request->circuits; at++) {
		uint32_t from = seat_of(search, chips[word(request->pairs, 2 * (size_t)at)]);
		uint32_t to = seat_of(search, chips[word(request->pairs, 2 * (size_t)at + 1)]);

		if (from != to)
			add_demand(search, from, to, 1);
	}
	return search->route(search);
}

static enum answer try_size(struct search *search, const struct grid *grid, const uint32_t size[3])
{
	static const uint32_t turns[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
					      { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };

	for (uint32_t turn = 0; turn < 6; turn++) {
		const uint32_t *axis = turns[turn], *extent = grid->extent;
		uint32_t begin[3];

		if (size[0] > extent[axis[0]] || size[1] > extent[axis[1]] ||
		    size[2] > extent[axis[2]])
			continue;
		for (uint32_t at = 0; at < extent[0] * extent[1] * extent[2]; at++) {
			enum answer answer;

			begin[0] = at % extent[0];
			begin[1] = at / extent[0] % extent[1];
			begin[2] = at / extent[0] / extent[1];
			answer = try_box(search, grid, size, axis, begin);
			if (answer != NO)
				return answer;
		}
	}
	return NO;
}

enum answer ck_try_boxes(struct search *search)
{
	const struct request *request = &search->check->request;
	struct grid grid = { .whole = false };
	enum answer answer = NO;

	read_grid(search, &grid);
	if (!grid.whole)
		return NO;
	if (request->extent[0])
		return try_size(search, &grid, request->extent);
	for (uint32_t x = 1; x <= request->ranks && answer == NO; x++) {
		for (uint32_t y = 1; x * y <= request->ranks && answer == NO; y++) {
			const uint32_t size[3] = { x, y, request->ranks / (x * y) };

			if (x * y * size[2] == request->ranks)
				answer = try_size(search, &grid, size);
		}
	}
	return answer;
}

/* ---------------------------------------------------------------------- parts */

/* Whether the placed parts need more fibres than the rack has. */
static bool too_far(const struct search *search, uint32_t depth)
{
	const struct room *room = search->room;
	uint64_t hops = 0;

	for (uint32_t a = 0; a <= depth; a++) {
		for (uint32_t b = 0; b <= depth; b++) {
			uint32_t from = search->order[a], to = search->order[b];
			uint32_t units = search->units[from][to];

			if (!units)
				continue;
			if (room->hops[search->seat[from]][search->seat[to]] == NONE)
				return true;
			hops += (uint64_t)units * room->hops[search->seat[from]][search->seat[to]];
		}
	}
	return hops > room->total;
}

static enum answer embed(struct search *search, uint32_t depth)
{
	uint32_t part;

	if (depth == search->parts) {
		search->demands = 0;
		for (uint32_t a = 0; a < search->parts; a++)
			for (uint32_t b = 0; b < search->parts; b++)
				if (search->units[a][b] && search->seat[a] != search->seat[b])
					add_demand(search, search->seat[a], search->seat[b],
						   search->units[a][b]);
		return search->route(search);
	}
	part = search->order[depth];
	for (uint32_t seat = 0; seat < search->room->seats; seat++) {
		enum answer answer;

		if (search->room->free[seat] < search->size)
			continue;
		if (!ck_spend(search->check))
			return GAVE_UP;
		search->seat[part] = seat;
		search->room->free[seat] -= search->size;
		answer = NO;
		if (search->bear(search, depth, part) && !too_far(search, depth))
			answer = embed(search, depth + 1);
		search->room->free[seat] += search->size;
		search->seat[part] = NONE;
		if (answer != NO)
			return answer;
	}
	return NO;
}

/* Order parts so that each follows a part that it is joined to, if there is one. */
static void order_parts(struct search *search)
{
	bool placed[MOST_SEATS] = { false };

	for (uint32_t depth = 0; depth < search->parts; depth++) {
		uint32_t best = 0, most = 0;

		for (uint32_t part = 0; part < search->parts; part++) {
			uint32_t near = 0;

			for (uint32_t other = 0; other < search->parts; other++)
				if (placed[other])
					near += search->units[part][other] +
						search->units[other][part];
			if (!placed[part] && (placed[best] || near > most)) {
				best = part;
				most = near;
			}
		}
		placed[best] = true;
		search->order[depth] = best;
	}
}

enum answer ck_embed_all(struct search *search)
{
	for (uint32_t part = 0; part < search->parts; part++)
		search->seat[part] = NONE;
	order_parts(search);
	return embed(search, 0);
}

void ck_block_read(const struct search *search, uint32_t block[3])
{
	const struct fabric *fabric = &search->check->fabric;
	uint32_t near[3] = { NONE, NONE, NONE }, far[3] = { 0 };

	for (uint32_t at = 0; at < fabric->accelerators; at++) {
		if (ck_host(fabric, at) != search->room->host)
			continue;
		for (uint32_t axis = 0; axis < 3; axis++) {
			uint32_t place = ck_position(fabric, at, axis);

			near[axis] = place < near[axis] ? place : near[axis];
			far[axis] = place + 1 > far[axis] ? place + 1 : far[axis];
		}
	}
	for (uint32_t axis = 0; axis < 3; axis++)
		block[axis] = far[axis] > near[axis] ? far[axis] - near[axis] : 1;
}

/* The part of a rank if the torus is cut into blocks of this size. */
static uint32_t part_at(const struct request *request, const uint32_t size[3], uint32_t rank)
{
	uint32_t x = rank % request->extent[0] / size[0];
	uint32_t y = rank / request->extent[0] % request->extent[1] / size[1];
	uint32_t z = rank / request->extent[0] / request->extent[1] / size[2];

	return (z * (request->extent[1] / size[1]) + y) * (request->extent[0] / size[0]) + x;
}

/*
 * Whether the plan's parts are blocks of the size of a server, with fewest circuits between them.
 */
static bool parts_are_valid(const struct search *search, const uint32_t block[3])
{
	static const uint32_t turns[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
					      { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
	const struct request *request = &search->check->request;
	const uint8_t *ranks = search->check->plan.rank_words;
	uint32_t least = NONE, theirs = NONE;

	for (uint32_t turn = 0; turn < 6; turn++) {
		uint32_t size[3], between = 0;
		bool same = true;

		for (uint32_t axis = 0; axis < 3; axis++)
			size[axis] = block[turns[turn][axis]];
		if (request->extent[0] % size[0] || request->extent[1] % size[1] ||
		    request->extent[2] % size[2])
			continue;
		for (uint32_t at = 0; at < request->circuits; at++)
			between += part_at(request, size, word(request->pairs, 2 * (size_t)at)) !=
				   part_at(request, size, word(request->pairs, 2 * (size_t)at + 1));
		for (uint32_t rank = 0; rank < request->ranks; rank++)
			same &= word(ranks, 2 * (size_t)rank + 1) == part_at(request, size, rank);
		least = between < least ? between : least;
		theirs = same ? between : theirs;
	}
	return theirs != NONE && theirs == least;
}

bool ck_parts_read(struct search *search)
{
	const struct request *request = &search->check->request;
	uint32_t block[3];

	if (!search->check->plan.whole || !request->extent[0])
		return false;
	ck_block_read(search, block);
	search->size = block[0] * block[1] * block[2];
	search->parts = request->ranks / search->size;
	return search->parts && parts_are_valid(search, block);
}

enum answer ck_try_parts(struct search *search)
{
	const struct request *request = &search->check->request;
	const uint8_t *ranks = search->check->plan.rank_words;

	if (!ck_parts_read(search) || search->parts > MOST_SEATS)
		return GAVE_UP;
	for (uint32_t at = 0; at < request->circuits; at++) {
		uint32_t src = word(request->pairs, 2 * (size_t)at);
		uint32_t dst = word(request->pairs, 2 * (size_t)at + 1);
		uint32_t a = word(ranks, 2 * (size_t)src + 1), b = word(ranks, 2 * (size_t)dst + 1);

		search->units[a][b] += a != b;
	}
	return ck_embed_all(search);
}

enum answer ck_try_ranks(struct search *search)
{
	const struct request *request = &search->check->request;

	if (request->ranks > MOST_SEATS)
		return GAVE_UP;
	search->size = 1;
	search->parts = request->ranks;
	for (uint32_t at = 0; at < request->circuits; at++)
		search->units[word(request->pairs, 2 * (size_t)at)]
			     [word(request->pairs, 2 * (size_t)at + 1)]++;
	return ck_embed_all(search);
}

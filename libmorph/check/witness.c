// SPDX-License-Identifier: LGPL-2.1-or-later
/* That nothing can be done: is it so in each rack, by what the plan says? All is gone through. */
#include <morph/wire.h>

#include "internal.h"

#define TIER_STITCHED 2
#define TIER_CROSSING 3
#define MOST_CUTS 4096

struct search {
	struct check *check;
	struct room *room;
	/* Circuits from seat to seat, to be routed. */
	uint32_t demands;
	struct {
		uint32_t from, to, units;
		bool routed;
	} demand[MOST_SEATS * MOST_SEATS];
	/* Parts and their embedding. */
	uint32_t parts, size;
	uint32_t units[MOST_SEATS][MOST_SEATS]; /* from part to part */
	uint32_t order[MOST_SEATS];
	uint32_t seat[MOST_SEATS]; /* by part; NONE: none yet */
	/* Sets of seats, and by depth the room that is left out of each. */
	uint32_t cuts_count;
	uint64_t *sets;
	int32_t *left;
};

enum answer {
	NO,
	YES,
	GAVE_UP
};

static bool spend(struct search *search)
{
	if (!search->check->steps)
		return false;
	search->check->steps--;
	return true;
}

/* --------------------------------------------------------------------- routes */

/* Hops from each seat to @to over the fibres that are left, NONE where there is no way. */
static void measure_to(const struct room *room, uint32_t to, uint32_t hops[MOST_SEATS])
{
	uint32_t queue[MOST_SEATS] = { 0 }, head = 0, tail = 0;

	for (uint32_t seat = 0; seat < room->seats; seat++)
		hops[seat] = NONE;
	hops[to] = 0;
	queue[tail++] = to;
	for (; head < tail; head++) {
		for (uint32_t seat = 0; seat < room->seats; seat++) {
			if (hops[seat] != NONE || !room->room[seat][queue[head]])
				continue;
			hops[seat] = hops[queue[head]] + 1;
			queue[tail++] = seat;
		}
	}
}

/* Have the seats where demands begin and end that have no route as many fibres left? */
static bool seats_bear(const struct search *search)
{
	const struct room *room = search->room;
	int32_t out[MOST_SEATS] = { 0 }, in[MOST_SEATS] = { 0 };

	for (uint32_t at = 0; at < search->demands; at++) {
		if (search->demand[at].routed)
			continue;
		out[search->demand[at].from] -= (int32_t)search->demand[at].units;
		in[search->demand[at].to] -= (int32_t)search->demand[at].units;
	}
	for (uint32_t a = 0; a < room->seats; a++) {
		for (uint32_t b = 0; b < room->seats; b++) {
			out[a] += (int32_t)room->room[a][b];
			in[a] += (int32_t)room->room[b][a];
		}
		if (out[a] < 0 || in[a] < 0)
			return false;
	}
	return true;
}

/* Is there room out of each cut for all demands? */
static bool cuts_bear_all(const struct search *search)
{
	for (uint32_t cut = 0; cut < search->cuts_count; cut++) {
		int32_t left = search->left[cut];

		for (uint32_t at = 0; at < search->demands; at++)
			if (search->sets[cut] >> search->demand[at].from & 1 &&
			    !(search->sets[cut] >> search->demand[at].to & 1))
				left -= (int32_t)search->demand[at].units;
		if (left < 0)
			return false;
	}
	return true;
}

static enum answer route_next(struct search *search, uint32_t left);

/* The demand that is being routed, the hops that it may have, and those from each seat on. */
struct walk {
	uint32_t number;
	uint32_t hops[MOST_SEATS];
};

/* On from @at, in at most @hops; @left fibres are left in all. */
static enum answer route_on(struct search *search, const struct walk *walk, uint32_t at,
			    uint64_t seen, uint32_t hops, uint32_t left)
{
	struct room *room = search->room;
	uint32_t units = search->demand[walk->number].units;
	enum answer answer;

	if (at == search->demand[walk->number].to)
		return route_next(search, left);
	for (uint32_t next = 0; next < room->seats; next++) {
		if (seen >> next & 1 || room->room[at][next] < units || walk->hops[next] >= hops)
			continue;
		room->room[at][next] -= units;
		answer = route_on(search, walk, next, seen | 1ULL << next, hops - 1, left - units);
		room->room[at][next] += units;
		if (answer != NO)
			return answer;
	}
	return NO;
}

/*
 * Route the demand that is farthest. What the demands need at least, over the fibres that are
 * left, must be there; what is there besides is for detours.
 */
static enum answer route_next(struct search *search, uint32_t left)
{
	struct walk walk = { .number = NONE };
	uint32_t farthest = 0, hops[MOST_SEATS] = { 0 };
	uint64_t need = 0;
	enum answer answer;

	for (uint32_t at = 0; at < search->demands; at++) {
		uint32_t from = search->demand[at].from;

		if (search->demand[at].routed)
			continue;
		measure_to(search->room, search->demand[at].to, hops);
		if (hops[from] == NONE)
			return NO;
		need += (uint64_t)hops[from] * search->demand[at].units;
		if (walk.number != NONE && hops[from] <= farthest)
			continue;
		farthest = hops[from];
		walk.number = at;
		memcpy(walk.hops, hops, sizeof(hops));
	}
	if (walk.number == NONE)
		return YES;
	if (need > left || !seats_bear(search))
		return NO;
	if (!spend(search))
		return GAVE_UP;
	search->demand[walk.number].routed = true;
	answer = route_on(search, &walk, search->demand[walk.number].from,
			  1ULL << search->demand[walk.number].from,
			  farthest + (uint32_t)((left - need) / search->demand[walk.number].units),
			  left);
	search->demand[walk.number].routed = false;
	return answer;
}

/* Can all demands be routed? What the cuts forbid can't; everything else is tried. */
static enum answer route_all(struct search *search)
{
	return cuts_bear_all(search) ? route_next(search, search->room->total) : NO;
}

static void add_demand(struct search *search, uint32_t from, uint32_t to, uint32_t units)
{
	for (uint32_t at = 0; at < search->demands; at++) {
		if (search->demand[at].from == from && search->demand[at].to == to) {
			search->demand[at].units += units;
			return;
		}
	}
	search->demand[search->demands].from = from;
	search->demand[search->demands].to = to;
	search->demand[search->demands].routed = false;
	search->demand[search->demands++].units = units;
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
	uint32_t cells[MOST_RANKS];
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
		grid->whole = count && count <= MOST_RANKS;
		for (uint32_t axis = 0; axis < 3 && grid->whole; axis++) {
			grid->extent[axis] = far[axis] - grid->corner[axis];
			grid->whole = grid->extent[axis] <= MOST_RANKS;
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

/* A box of that size, its dimensions along those of @axis, from @begin: has it a plan? */
static enum answer try_box(struct search *search, const struct grid *grid, const uint32_t size[3],
			   const uint32_t axis[3], const uint32_t begin[3])
{
	const struct request *request = &search->check->request;
	uint32_t chips[MOST_RANKS];

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
	/* Ranks that go back and forth in a box may lie there in other ways. */
	if (!request->extent[0])
		return GAVE_UP;
	search->demands = 0;
	for (uint32_t at = 0; at < request->circuits; at++) {
		uint32_t from = seat_of(search, chips[word(request->pairs, 2 * (size_t)at)]);
		uint32_t to = seat_of(search, chips[word(request->pairs, 2 * (size_t)at + 1)]);

		if (from != to)
			add_demand(search, from, to, 1);
	}
	return route_all(search);
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

static enum answer try_boxes(struct search *search)
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

/* Take what goes out of each cut between @part and the parts before it. Is there room? */
static bool cuts_bear(struct search *search, uint32_t depth, uint32_t part)
{
	const int32_t *before = &search->left[(size_t)depth * search->cuts_count];
	int32_t *after = &search->left[((size_t)depth + 1) * search->cuts_count];
	bool bear = true;

	memcpy(after, before, search->cuts_count * sizeof(*after));
	for (uint32_t at = 0; at < depth; at++) {
		uint32_t other = search->order[at];
		uint32_t out = search->units[part][other], in = search->units[other][part];

		for (uint32_t cut = 0; (out || in) && cut < search->cuts_count; cut++) {
			bool mine = search->sets[cut] >> search->seat[part] & 1;
			bool its = search->sets[cut] >> search->seat[other] & 1;

			if (mine != its)
				after[cut] -= (int32_t)(mine ? out : in);
		}
	}
	for (uint32_t cut = 0; cut < search->cuts_count; cut++)
		bear &= after[cut] >= 0;
	return bear;
}

/* Do the parts that have a seat want more fibres than there are? */
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

static enum answer embed(struct search *search, uint32_t depth, uint64_t taken)
{
	uint32_t part;

	if (depth == search->parts) {
		search->demands = 0;
		for (uint32_t a = 0; a < search->parts; a++)
			for (uint32_t b = 0; b < search->parts; b++)
				if (search->units[a][b])
					add_demand(search, search->seat[a], search->seat[b],
						   search->units[a][b]);
		return route_all(search);
	}
	part = search->order[depth];
	for (uint32_t seat = 0; seat < search->room->seats; seat++) {
		enum answer answer;

		if (taken >> seat & 1 || search->room->free[seat] < search->size)
			continue;
		if (!spend(search))
			return GAVE_UP;
		search->seat[part] = seat;
		answer = NO;
		if (cuts_bear(search, depth, part) && !too_far(search, depth))
			answer = embed(search, depth + 1, taken | 1ULL << seat);
		search->seat[part] = NONE;
		if (answer != NO)
			return answer;
	}
	return NO;
}

/* Each part after one that it is joined to, if there is one. */
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

/* The extents of what a server has. */
static void read_block(const struct search *search, uint32_t block[3])
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

/* The part of a rank where the torus is cut into blocks of that size. */
static uint32_t part_at(const struct request *request, const uint32_t size[3], uint32_t rank)
{
	uint32_t x = rank % request->extent[0] / size[0];
	uint32_t y = rank / request->extent[0] % request->extent[1] / size[1];
	uint32_t z = rank / request->extent[0] / request->extent[1] / size[2];

	return (z * (request->extent[1] / size[1]) + y) * (request->extent[0] / size[0]) + x;
}

/* Whether the plan's parts are blocks as large as a server, with fewest circuits between. */
static bool parts_sound(const struct search *search, const uint32_t block[3])
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

static enum answer try_parts(struct search *search)
{
	const struct request *request = &search->check->request;
	const uint8_t *ranks = search->check->plan.rank_words;
	uint32_t block[3];

	if (!search->check->plan.whole || !request->extent[0])
		return GAVE_UP;
	read_block(search, block);
	search->size = block[0] * block[1] * block[2];
	search->parts = request->ranks / search->size;
	if (!search->parts || search->parts > MOST_SEATS || !parts_sound(search, block))
		return GAVE_UP;
	for (uint32_t at = 0; at < request->circuits; at++) {
		uint32_t src = word(request->pairs, 2 * (size_t)at);
		uint32_t dst = word(request->pairs, 2 * (size_t)at + 1);
		uint32_t a = word(ranks, 2 * (size_t)src + 1), b = word(ranks, 2 * (size_t)dst + 1);

		search->units[a][b] += a != b;
	}
	for (uint32_t part = 0; part < search->parts; part++)
		search->seat[part] = NONE;
	order_parts(search);
	return embed(search, 0, 0);
}

/* ----------------------------------------------------------------------- racks */

/* The cuts of a refusal, and what room there is out of each. */
static int read_cuts(struct check *check, struct search *search, const uint8_t *refusal)
{
	uint32_t first = word(refusal, 4), count = word(refusal, 5);
	const struct room *room = search->room;

	if (first > check->plan.cuts || count > check->plan.cuts - first || count > MOST_CUTS)
		return ck_wrong(check, EBADMSG, "the rack of host %u has cuts that are not there",
				word(refusal, 0));
	search->cuts_count = count;
	search->sets = calloc((size_t)count + 1, sizeof(*search->sets));
	search->left = calloc(((size_t)count + 1) * (MOST_SEATS + 1), sizeof(*search->left));
	if (!search->sets || !search->left)
		return ck_wrong(check, ENOMEM, "out of memory");
	for (uint32_t cut = 0; cut < count; cut++) {
		uint64_t set = word(check->plan.cut_words, 2 * ((size_t)first + cut)) |
			       (uint64_t)word(check->plan.cut_words, 2 * ((size_t)first + cut) + 1)
				       << 32;

		search->sets[cut] = set;
		for (uint32_t a = 0; a < room->seats; a++)
			for (uint32_t b = 0; b < room->seats; b++)
				if (set >> a & 1 && !(set >> b & 1))
					search->left[cut] += (int32_t)room->room[a][b];
	}
	return 0;
}

static int check_cuts(struct check *check, struct search *search, const uint8_t *refusal)
{
	uint32_t host = word(refusal, 0);
	enum answer answer;
	int ret = read_cuts(check, search, refusal);

	if (ret)
		return ret;
	answer = try_boxes(search);
	if (answer == NO && check->request.tier >= TIER_STITCHED)
		answer = try_parts(search);
	if (answer == NO)
		return 0;
	if (answer == GAVE_UP && !check->steps)
		return ck_wrong(check, EAGAIN, "the rack of host %u: out of steps", host);
	return ck_wrong(check, EBADMSG, "the rack of host %u is refused without a proof", host);
}

static int check_refusal(struct check *check, struct search *search, const uint8_t *refusal)
{
	uint32_t free = 0;
	int ret = ck_room_read(check, word(refusal, 0), search->room);

	if (ret)
		return ret;
	for (uint32_t seat = 0; seat < search->room->seats; seat++)
		free += search->room->free[seat];
	if (word(refusal, 1) == MORPH_WIRE_CUTS)
		return check_cuts(check, search, refusal);
	if (word(refusal, 1) != MORPH_WIRE_COUNT)
		return ck_wrong(check, EBADMSG, "the rack of host %u is in doubt",
				word(refusal, 0));
	if (word(refusal, 2) != free || word(refusal, 3) != check->request.ranks ||
	    free >= check->request.ranks)
		return ck_wrong(check, EBADMSG,
				"the rack of host %u has %u accelerators free, not %u of %u wanted",
				word(refusal, 0), free, word(refusal, 2), word(refusal, 3));
	return 0;
}

/*
 * All racks together have fewer accelerators free than are wanted; where parts fill servers, in
 * servers that have as many free as a part.
 */
static int check_all_racks(struct check *check, struct search *search, struct room *room,
			   const uint8_t *refusal)
{
	const struct fabric *fabric = &check->fabric;
	uint32_t block[3], have = 0;
	uint32_t *free_of;

	memset(search, 0, sizeof(*search));
	search->check = check;
	search->size = 1;
	search->room = room;
	room->host = 0;
	if (check->plan.whole) {
		read_block(search, block);
		search->size = block[0] * block[1] * block[2];
		if (!check->request.extent[0] || !parts_sound(search, block))
			return ck_wrong(check, EBADMSG, "the parts are none that fill a server");
	}
	free_of = calloc((size_t)fabric->hosts + 1, sizeof(*free_of));
	if (!free_of)
		return ck_wrong(check, ENOMEM, "out of memory");
	for (uint32_t at = 0; at < fabric->accelerators; at++)
		free_of[ck_host(fabric, at)] += ck_free(fabric, at);
	for (uint32_t host = 0; host < fabric->hosts; host++)
		have += free_of[host] / search->size * search->size;
	free(free_of);
	if (word(refusal, 0) != NONE || word(refusal, 1) != MORPH_WIRE_COUNT ||
	    word(refusal, 2) != have || word(refusal, 3) != check->request.ranks ||
	    have >= check->request.ranks)
		return ck_wrong(check, EBADMSG,
				"all racks have %u accelerators free, not %u of %u wanted", have,
				word(refusal, 2), word(refusal, 3));
	return 0;
}

/* Each rack is spoken of once, and what is said of it is so. */
static int check_refusals(struct check *check, struct search *search, struct room *room)
{
	const struct fabric *fabric = &check->fabric;
	uint32_t racks = 0, all = check->request.tier >= TIER_CROSSING;
	int ret = 0;

	for (uint32_t host = 0; host < fabric->hosts; host++)
		racks += fabric->rack[host] == host;
	if (check->plan.refusals != racks + all)
		return ck_wrong(check, EBADMSG, "%u of %u racks are spoken of",
				check->plan.refusals, racks + all);
	if (all)
		ret = check_all_racks(check, search, room,
				      check->plan.refusal_words + 24 * (size_t)racks);
	for (uint32_t at = 0; at < racks && !ret; at++) {
		const uint8_t *refusal = check->plan.refusal_words + 24 * (size_t)at;
		uint32_t host = word(refusal, 0);

		if (host >= fabric->hosts || fabric->rack[host] != host)
			return ck_wrong(check, EBADMSG, "host %u is not the first of a rack", host);
		for (uint32_t other = 0; other < at; other++)
			if (word(check->plan.refusal_words + 24 * (size_t)other, 0) == host)
				return ck_wrong(check, EBADMSG,
						"the rack of host %u is spoken of twice", host);
		memset(search, 0, sizeof(*search));
		search->check = check;
		search->room = room;
		ret = check_refusal(check, search, refusal);
		free(search->sets);
		free(search->left);
	}
	return ret;
}

int ck_refused(struct check *check)
{
	struct search *search = calloc(1, sizeof(*search));
	struct room *room = calloc(1, sizeof(*room));
	int ret = search && room ? check_refusals(check, search, room) :
				   ck_wrong(check, ENOMEM, "out of memory");

	free(search);
	free(room);
	return ret;
}

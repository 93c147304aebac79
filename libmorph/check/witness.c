// SPDX-License-Identifier: LGPL-2.1-or-later
/* Checks a proof of infeasibility, for every rack. */
#include <morph/wire.h>

#include "search.h"

#define TIER_CROSSING 3
#define MOST_CUTS 4096

/* --------------------------------------------------------------------- routes */

/* Hops from each server to @to over the remaining fibres, NONE if unreachable. */
static void measure_to(const struct room *room, uint32_t to, uint32_t hops[MOST_SEATS])
{
	uint32_t queue[MOST_SEATS] = { 0 }, head = 0, tail = 0;

	for (uint32_t seat = 0; seat < room->seats; seat++)
		hops[seat] = NONE;
	hops[to] = 0;
	queue[tail++] = to;
	for (; head < tail; head++) {
		for (uint32_t seat = 0; seat < room->seats; seat++) {
			if (hops[seat] != NONE || !room->room[seat][queue[head]] ||
			    (head && room->stops >> queue[head] & 1))
				continue;
			hops[seat] = hops[queue[head]] + 1;
			queue[tail++] = seat;
		}
	}
}

/* Whether the ends of unrouted demands have enough remaining fibres. */
static bool servers_suffice(const struct search *search)
{
	uint32_t seats = search->room->seats;
	int32_t out[MOST_SEATS] = { 0 }, in[MOST_SEATS] = { 0 };

	for (uint32_t at = 0; at < search->demands; at++) {
		if (search->demand[at].routed)
			continue;
		out[search->demand[at].from] -= (int32_t)search->demand[at].units;
		in[search->demand[at].to] -= (int32_t)search->demand[at].units;
	}
	for (uint32_t a = 0; a < seats; a++) {
		for (uint32_t band = 0; band < search->bands; band++) {
			const struct room *room = &search->layers[band];

			for (uint32_t b = 0; b < seats; b++) {
				out[a] += (int32_t)room->room[a][b];
				in[a] += (int32_t)room->room[b][a];
			}
		}
		if (out[a] < 0 || in[a] < 0)
			return false;
	}
	return true;
}

/* Whether each cut has capacity for all demands. */
static bool cuts_bear_all(const struct search *search)
{
	for (uint32_t cut = 0; cut < search->cuts_count; cut++) {
		int32_t left = search->left[cut];

		for (uint32_t at = 0; at < search->demands; at++)
			if (search->sets[cut] >> search->demand[at].from & 1 &&
			    !(search->sets[cut] >> search->demand[at].to & 1))
				left--;
		if (left < 0)
			return false;
	}
	return true;
}

static enum answer route_next(struct search *search, uint32_t left);

/* The demand to route, the capacity of its band, and the hops from each server on. */
struct walk {
	uint32_t number;
	struct room *room;
	const uint8_t *before; /* the route of the preceding equal demand in this band, or NULL */
	uint32_t hops[MOST_SEATS];
};

/*
 * Continue from the server at @depth, in at most @hops; @left fibres remain in all. @tied: so far
 * the route equals the preceding one, so its next server must not be lower, because equal demands
 * are interchangeable.
 */
static enum answer route_on(struct search *search, const struct walk *walk, uint32_t depth,
			    uint64_t seen, uint32_t hops, uint32_t left, bool tied)
{
	uint32_t units = search->demand[walk->number].units;
	uint8_t *way = search->demand[walk->number].way;
	struct room *room = walk->room;
	uint32_t at = way[depth];
	enum answer answer;

	if (at == search->demand[walk->number].to)
		return route_next(search, left);
	if (search->stops >> at & 1 && at != search->demand[walk->number].from)
		return NO;
	for (uint32_t next = tied ? walk->before[depth + 1] : 0; next < room->seats; next++) {
		if (seen >> next & 1 || room->room[at][next] < units || walk->hops[next] >= hops)
			continue;
		room->room[at][next] -= units;
		way[depth + 1] = (uint8_t)next;
		answer = route_on(search, walk, depth + 1, seen | 1ULL << next, hops - 1,
				  left - units, tied && next == walk->before[depth + 1]);
		room->room[at][next] += units;
		if (answer != NO)
			return answer;
	}
	return NO;
}

/* Hops from a server to @to in the band where they are fewest, NONE if unreachable. */
static uint32_t fewest_hops(const struct search *search, uint32_t from, uint32_t to)
{
	uint32_t fewest = NONE, hops[MOST_SEATS] = { 0 };

	for (uint32_t band = 0; band < search->bands; band++) {
		measure_to(&search->layers[band], to, hops);
		fewest = hops[from] < fewest ? hops[from] : fewest;
	}
	return fewest;
}

/*
 * Circuits with the same ends are interchangeable, so they take bands and routes in order. Returns
 * the preceding one that is routed, or NONE.
 */
static uint32_t last_alike(const struct search *search, uint32_t number)
{
	uint32_t last = NONE;

	for (uint32_t at = 0; at < number; at++)
		if (search->demand[at].routed &&
		    search->demand[at].from == search->demand[number].from &&
		    search->demand[at].to == search->demand[number].to)
			last = at;
	return last;
}

/*
 * Route the farthest demand. The remaining fibres must suffice for the least need of all demands;
 * the rest is for detours.
 */
static enum answer route_next(struct search *search, uint32_t left)
{
	struct walk walk = { .number = NONE };
	uint32_t farthest = 0, most, alike;
	uint64_t need = 0;
	enum answer answer = NO;

	for (uint32_t at = 0; at < search->demands; at++) {
		uint32_t hops;

		if (search->demand[at].routed)
			continue;
		hops = fewest_hops(search, search->demand[at].from, search->demand[at].to);
		if (hops == NONE)
			return NO;
		need += (uint64_t)hops * search->demand[at].units;
		if (walk.number != NONE && hops <= farthest)
			continue;
		farthest = hops;
		walk.number = at;
	}
	if (walk.number == NONE)
		return YES;
	if (need > left || !servers_suffice(search))
		return NO;
	if (!ck_spend(search->check))
		return GAVE_UP;
	most = farthest + (uint32_t)((left - need) / search->demand[walk.number].units);
	alike = last_alike(search, walk.number);
	search->demand[walk.number].routed = true;
	search->demand[walk.number].way[0] = (uint8_t)search->demand[walk.number].from;
	for (uint32_t band = alike == NONE ? 0 : search->demand[alike].band;
	     band < search->bands && answer == NO; band++) {
		uint32_t from = search->demand[walk.number].from;

		walk.room = &search->layers[band];
		walk.before = alike != NONE && search->demand[alike].band == band ?
				      search->demand[alike].way :
				      NULL;
		measure_to(walk.room, search->demand[walk.number].to, walk.hops);
		search->demand[walk.number].band = band;
		if (walk.hops[from] <= most)
			answer = route_on(search, &walk, 0, 1ULL << from, most, left, walk.before);
	}
	search->demand[walk.number].routed = false;
	return answer;
}

/*
 * Join circuits with the same ends into one demand with the first of them, or separate them again.
 */
static void gather(struct search *search, bool together)
{
	for (uint32_t at = 0; at < search->demands; at++) {
		uint32_t first = 0;

		search->demand[at].units = 1;
		search->demand[at].routed = false;
		while (search->demand[first].from != search->demand[at].from ||
		       search->demand[first].to != search->demand[at].to)
			first++;
		if (!together || first == at)
			continue;
		search->demand[first].units++;
		search->demand[at].routed = true;
	}
}

/* Joined circuits find routes quickly. Only separate circuits can prove that none exist. */
enum answer ck_route_all(struct search *search)
{
	enum answer answer = NO;

	if (!cuts_bear_all(search))
		return NO;
	if (search->bands <= 1) {
		gather(search, true);
		answer = route_next(search, search->room->total);
		gather(search, false);
	}
	return answer == NO ? route_next(search, search->room->total) : answer;
}

/* ----------------------------------------------------------------------- cuts */

/*
 * Subtract the circuits between @part and the parts before it from each cut. Whether capacity
 * remains.
 */
bool ck_cuts_bear(struct search *search, uint32_t depth, uint32_t part)
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

int ck_cuts_new(struct search *search, uint32_t count)
{
	search->cuts_count = count;
	search->sets = calloc((size_t)count + 1, sizeof(*search->sets));
	search->left = calloc(((size_t)count + 1) * (MOST_SEATS + 1), sizeof(*search->left));
	if (search->sets && search->left)
		return 0;
	return ck_wrong(search->check, ENOMEM, "out of memory");
}

void ck_cuts_weigh(struct search *search)
{
	const struct room *room = search->room;

	for (uint32_t cut = 0; cut < search->cuts_count; cut++) {
		uint64_t set = search->sets[cut];

		search->left[cut] = 0;
		for (uint32_t a = 0; a < room->seats; a++)
			for (uint32_t b = 0; b < room->seats; b++)
				if (set >> a & 1 && !(set >> b & 1))
					search->left[cut] += (int32_t)room->room[a][b];
	}
}

void ck_cuts_free(struct search *search)
{
	free(search->sets);
	free(search->left);
}

/* ----------------------------------------------------------------------- racks */

/* The cuts of a refusal, and the capacity out of each. */
static int read_cuts(struct check *check, struct search *search, const uint8_t *refusal)
{
	uint32_t first = word(refusal, 4), count = word(refusal, 5);
	const uint8_t *words = check->plan.cut_words;
	int ret;

	if (first > check->plan.cuts || count > check->plan.cuts - first || count > MOST_CUTS)
		return ck_wrong(check, EBADMSG,
				"the rack of host %u lists cuts beyond the end of the plan",
				word(refusal, 0));
	ret = ck_cuts_new(search, count);
	if (ret)
		return ret;
	for (uint32_t cut = 0; cut < count; cut++)
		search->sets[cut] = word(words, 2 * ((size_t)first + cut)) |
				    (uint64_t)word(words, 2 * ((size_t)first + cut) + 1) << 32;
	ck_cuts_weigh(search);
	return 0;
}

static int check_cuts(struct check *check, struct search *search, const uint8_t *refusal)
{
	uint32_t host = word(refusal, 0);
	enum answer answer;
	int ret;

	if (check->request.circuits > MOST_DEMANDS)
		return ck_wrong(check, EAGAIN, "too many circuits");
	ret = read_cuts(check, search, refusal);
	if (ret)
		return ret;
	/* The search of ranks anywhere includes boxes. */
	if (!check->plan.whole && check->request.tier >= TIER_STITCHED) {
		answer = ck_try_ranks(search);
	} else {
		answer = ck_try_boxes(search);
		if (answer == NO && check->request.tier >= TIER_STITCHED)
			answer = ck_try_parts(search);
	}
	if (answer == NO)
		return 0;
	if (answer == GAVE_UP && !check->steps)
		return ck_wrong(check, EAGAIN, "the rack of host %u: out of steps", host);
	return ck_wrong(check, EBADMSG, "the refusal of the rack of host %u has no valid proof",
			host);
}

static int check_refusal(struct check *check, struct search *search, const uint8_t *refusal)
{
	uint32_t free = 0;
	int ret = ck_rooms_read(check, word(refusal, 0), search->room, search->layers);

	if (ret)
		return ret;
	search->stops = search->room->stops;
	for (uint32_t seat = 0; seat < search->room->seats; seat++)
		free += search->room->free[seat];
	if (word(refusal, 1) == MORPH_WIRE_CUTS)
		return check_cuts(check, search, refusal);
	if (word(refusal, 1) != MORPH_WIRE_COUNT)
		return ck_wrong(check, EBADMSG, "the rack of host %u is undecided",
				word(refusal, 0));
	if (word(refusal, 2) != free || word(refusal, 3) != check->request.ranks ||
	    free >= check->request.ranks)
		return ck_wrong(
			check, EBADMSG,
			"the rack of host %u has %u free accelerators, not %u of %u requested",
			word(refusal, 0), free, word(refusal, 2), word(refusal, 3));
	return 0;
}

/*
 * All racks together have too few free accelerators. For parts that fill servers, only servers with
 * room for a part count.
 */
static int check_all_racks(struct check *check, struct search *search, struct room *room,
			   const uint8_t *refusal)
{
	const struct fabric *fabric = &check->fabric;
	uint32_t *free_of, have = 0;

	memset(search, 0, sizeof(*search));
	search->check = check;
	search->size = 1;
	search->room = room;
	room->host = 0;
	if (check->plan.whole && !ck_parts_read(search))
		return ck_wrong(check, EBADMSG, "the parts do not fill a server");
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
				"all racks have %u free accelerators, not %u of %u requested", have,
				word(refusal, 2), word(refusal, 3));
	return 0;
}

bool ck_racks_are_all(struct check *check)
{
	uint32_t racks = 0;

	for (uint32_t host = 0; host < check->fabric.hosts; host++)
		racks += check->fabric.rack[host] == host;
	return racks == 1 || check->request.tier < TIER_CROSSING;
}

/* Each rack has one refusal, and each refusal is correct. */
static int check_refusals(struct check *check, struct search *search, struct room *room,
			  struct room *layers)
{
	const struct fabric *fabric = &check->fabric;
	uint32_t racks = 0, all = check->request.tier >= TIER_CROSSING;
	int ret = 0;

	for (uint32_t host = 0; host < fabric->hosts; host++)
		racks += fabric->rack[host] == host;
	if (all && check->plan.refusals == racks && ck_racks_are_all(check))
		all = 0;
	if (check->plan.refusals != racks + all)
		return ck_wrong(check, EBADMSG, "the plan has %u refusals for %u racks",
				check->plan.refusals, racks + all);
	if (all)
		ret = check_all_racks(check, search, room,
				      check->plan.refusal_words + 24 * (size_t)racks);
	for (uint32_t at = 0; at < racks && !ret; at++) {
		const uint8_t *refusal = check->plan.refusal_words + 24 * (size_t)at;
		uint32_t host = word(refusal, 0);

		if (host >= fabric->hosts || fabric->rack[host] != host)
			return ck_wrong(check, EBADMSG, "host %u is not the first host of a rack",
					host);
		for (uint32_t other = 0; other < at; other++)
			if (word(check->plan.refusal_words + 24 * (size_t)other, 0) == host)
				return ck_wrong(check, EBADMSG,
						"the plan refuses the rack of host %u twice", host);
		memset(search, 0, sizeof(*search));
		search->check = check;
		search->room = room;
		search->bands = check->request.bands;
		search->layers = layers;
		search->bear = ck_cuts_bear;
		search->route = ck_route_all;
		ret = check_refusal(check, search, refusal);
		ck_cuts_free(search);
	}
	return ret;
}

int ck_proves_all(struct check *check)
{
	if (check->plan.whole && !check->request.whole)
		return ck_wrong(
			check, EBADMSG,
			"a refusal of whole servers cannot be proven for a request that accepts shared ones");
	return 0;
}

int ck_refused(struct check *check)
{
	struct search *search = calloc(1, sizeof(*search));
	struct room *room = calloc(1, sizeof(*room));
	struct room *layers = calloc(check->request.bands, sizeof(*layers));
	int ret;

	if (search && room && layers) {
		ret = ck_proves_all(check);
		if (!ret)
			ret = check_refusals(check, search, room, layers);
	} else {
		ret = ck_wrong(check, ENOMEM, "out of memory");
	}

	free(search);
	free(room);
	free(layers);
	return ret;
}

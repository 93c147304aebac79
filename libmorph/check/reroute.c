// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Checks that no rerouting makes a request fit. It routes running and requested circuits from
 * scratch, for every place of the request that no metric excludes.
 */
#include <morph/wire.h>

#include "reroute.h"

#define MOST_METRICS 4096
#define APART 0x10000000LL

/* ------------------------------------------------------------------------ flows */

static uint32_t seat_after(const struct defrag *defrag, const struct room *room,
			   const uint8_t *strand)
{
	const struct fabric *fabric = &defrag->check.fabric;
	uint32_t code = word(strand, 1 + 3 * (size_t)(word(strand, 0) - 1));
	struct end end = ck_guide_end(fabric, code >> 1, !(code & 1));

	return ck_seat(room, ck_host(fabric, ck_tile(fabric, end.index)));
}

static uint64_t own_seats(const struct defrag *defrag, const struct room *room, uint32_t slice)
{
	uint64_t own = 0;

	for (uint32_t seat = 0; seat < room->seats; seat++)
		if (!ck_foreign(&defrag->check.fabric, room->hosts[seat], slice))
			own |= 1ULL << seat;
	return own;
}

/* The movable circuits of the rack. Their resources are free in @used. */
static void read_flows(struct reroute *reroute, const struct room *room, struct used *used)
{
	struct defrag *defrag = reroute->defrag;

	reroute->running = 0;
	for (uint32_t at = 0; at < defrag->lit_count; at++) {
		const struct lit *lit = &defrag->lit[at];
		const struct slice *slice = &defrag->slices[lit->slice];
		struct flow *flow = &reroute->flows[reroute->running];

		if (!lit->may_move || ck_seat(room, lit->src_host) == NONE)
			continue;
		*flow = (struct flow){ .runs = true, .from = ck_seat(room, lit->src_host) };
		flow->to = ck_seat(room, lit->dst_host);
		flow->was[0] = (uint8_t)flow->from;
		flow->was_hops = lit->first_count;
		flow->through = slice->transit ? own_seats(defrag, room, slice->number) : ~0ULL;
		flow->through |= 1ULL << flow->from;
		for (uint32_t hop = 0; hop < lit->first_count; hop++) {
			const uint8_t *strand =
				lit->first_strands + 4 * (size_t)hop * MORPH_WIRE_STRAND;
			uint32_t seat = seat_after(defrag, room, strand);

			flow->was[hop + 1] = (uint8_t)seat;
			flow->through |= 1ULL << seat;
			ck_leave_strand(&defrag->check, used, strand);
		}
		reroute->running++;
	}
}

/* ---------------------------------------------------------------------- metrics */

/* Bellman and Ford by these lengths: slow, but short. */
static void measure(const struct room *room, const uint32_t *length, uint32_t from,
		    uint64_t through, int64_t *apart)
{
	bool changed = true;

	for (uint32_t seat = 0; seat < room->seats; seat++)
		apart[seat] = APART;
	apart[from] = 0;
	while (changed) {
		changed = false;
		for (uint32_t a = 0; a < room->seats; a++) {
			for (uint32_t b = 0; b < room->seats && apart[a] < APART; b++) {
				int64_t sum = apart[a] + length[a * MOST_SEATS + b];

				if (!room->room[a][b] || !(through >> b & 1) || apart[b] <= sum)
					continue;
				apart[b] = sum;
				changed = true;
			}
		}
	}
}

static int read_metric(struct reroute *reroute, const struct room *room, uint32_t number,
		       const uint8_t *metric)
{
	struct defrag *defrag = reroute->defrag;
	uint32_t first = word(metric, 0), count = word(metric, 1);
	uint32_t *length = calloc((size_t)MOST_SEATS * MOST_SEATS, sizeof(*length));
	int64_t *slack = &reroute->slack[number], apart[MOST_SEATS] = { 0 };
	int ret = 0;

	if (!length)
		return ck_wrong(&defrag->check, ENOMEM, "out of memory");
	if (first > defrag->answer.lengths || count > defrag->answer.lengths - first)
		ret = ck_wrong(&defrag->check, EBADMSG,
			       "a metric lists lengths beyond the end of the answer");
	for (uint32_t at = 0; at < count && !ret; at++) {
		const uint8_t *words = defrag->answer.length_words + 12 * ((size_t)first + at);
		uint32_t from = word(words, 0), to = word(words, 1);

		if (from >= room->seats || to >= room->seats || word(words, 2) > UINT16_MAX)
			ret = ck_wrong(&defrag->check, EBADMSG, "a length belongs to no link");
		else
			length[from * MOST_SEATS + to] = word(words, 2);
	}
	*slack = 0;
	for (uint32_t a = 0; a < room->seats && !ret; a++)
		for (uint32_t b = 0; b < room->seats; b++)
			*slack += (int64_t)room->room[a][b] * length[a * MOST_SEATS + b];
	for (uint32_t at = 0; at < reroute->running && !ret; at++) {
		const struct flow *flow = &reroute->flows[at];

		measure(room, length, flow->from, flow->through, apart);
		*slack -= apart[flow->to];
	}
	for (uint32_t from = 0; from < room->seats && !ret; from++)
		measure(room, length, from, reroute->through >> from & 1 ? reroute->through : 0,
			&reroute->apart[((size_t)number * MOST_SEATS + from) * MOST_SEATS]);
	free(length);
	return ret;
}

/* Subtract @part at its place, and the parts before it, from the slack of each metric. */
static bool metrics_bear(struct search *search, uint32_t depth, uint32_t part)
{
	struct reroute *reroute = search->context;
	const int64_t *before = depth ? &reroute->left[(size_t)depth * reroute->metrics] :
					reroute->slack;
	int64_t *after = &reroute->left[((size_t)depth + 1) * reroute->metrics];
	uint32_t mine = search->seat[part];
	bool bear = true;

	for (uint32_t metric = 0; metric < reroute->metrics; metric++) {
		after[metric] = before[metric];
		for (uint32_t at = 0; at < depth; at++) {
			uint32_t other = search->order[at], its = search->seat[other];

			if (mine == its)
				continue;
			after[metric] -= (int64_t)search->units[part][other] *
						 apart_by(reroute, metric, mine, its) +
					 (int64_t)search->units[other][part] *
						 apart_by(reroute, metric, its, mine);
		}
		bear &= after[metric] >= 0;
	}
	return bear;
}

/* ------------------------------------------------------------------------- racks */

/* The rack of @host without movable circuits: its capacity, flows, and the metrics of a refusal. */
static int read_rack(struct reroute *reroute, struct search *search, uint32_t host,
		     const uint8_t *refusal)
{
	struct defrag *defrag = reroute->defrag;
	struct check *check = &defrag->check;
	uint32_t first = refusal ? word(refusal, 4) : 0, count = refusal ? word(refusal, 5) : 0;
	struct used used = { NULL, NULL };
	int ret;

	if (first > defrag->answer.metrics || count > defrag->answer.metrics - first ||
	    count > MOST_METRICS)
		return ck_wrong(check, EBADMSG,
				"the rack of host %u lists metrics beyond the end of the answer",
				host);
	reroute->metrics = count;
	reroute->slack = calloc((size_t)count + 1, sizeof(int64_t));
	reroute->apart = calloc(((size_t)count + 1) * MOST_SEATS * MOST_SEATS, sizeof(int64_t));
	reroute->left = calloc(((size_t)count + 1) * (MOST_SEATS + 1), sizeof(int64_t));
	reroute->flows = calloc(MOST_FLOWS, sizeof(*reroute->flows));
	if (!reroute->slack || !reroute->apart || !reroute->left || !reroute->flows)
		return ck_wrong(check, ENOMEM, "out of memory");
	ret = ck_used_read(check, &used);
	/* Once for the servers, and again without the movable circuits. */
	if (!ret)
		ret = ck_room_read(check, &used, false, host, search->room);
	if (!ret && defrag->lit_count > MOST_FLOWS)
		ret = ck_wrong(check, EAGAIN, "too many running circuits");
	/* With limit 0 all circuits stay. */
	if (!ret && reroute->limit) {
		read_flows(reroute, search->room, &used);
		ret = ck_room_read(check, &used, false, host, search->room);
	}
	reroute->through = check->request.transit ? own_seats(defrag, search->room, 0) : ~0ULL;
	for (uint32_t at = 0; at < count && !ret; at++)
		ret = read_metric(reroute, search->room, at,
				  defrag->answer.metric_words + 8 * ((size_t)first + at));
	ck_used_free(&used);
	return ret;
}

static void reroute_free(struct reroute *reroute)
{
	free(reroute->slack);
	free(reroute->apart);
	free(reroute->left);
	free(reroute->flows);
	free(reroute);
}

/* Whether the request has a place in the rack with routes for all circuits. */
static enum answer try_rack(struct search *search)
{
	const struct check *check = search->check;
	enum answer answer = NO;

	/* The search of ranks anywhere includes boxes. */
	if (check->plan.whole || check->request.tier < TIER_STITCHED)
		answer = ck_try_boxes(search);
	if (answer != NO || check->request.tier < TIER_STITCHED)
		return answer;
	return check->plan.whole ? ck_try_parts(search) : ck_try_ranks(search);
}

static int check_rack(struct defrag *defrag, struct search *search, uint32_t host,
		      const uint8_t *refusal, uint32_t limit)
{
	struct reroute *reroute = calloc(1, sizeof(*reroute));
	enum answer answer = NO;
	int ret;

	if (!reroute)
		return ck_wrong(&defrag->check, ENOMEM, "out of memory");
	reroute->defrag = defrag;
	reroute->limit = limit;
	ret = read_rack(reroute, search, host, refusal);
	search->bear = metrics_bear;
	search->route = ck_reroute_all;
	search->context = reroute;
	if (!ret)
		answer = try_rack(search);
	reroute_free(reroute);
	if (ret || answer == NO)
		return ret;
	if (answer == GAVE_UP && !defrag->check.steps)
		return ck_wrong(&defrag->check, EAGAIN, "the rack of host %u: out of steps", host);
	return ck_wrong(&defrag->check, EBADMSG,
			"the refusal of the rack of host %u has no valid proof", host);
}

static uint32_t count_free(const struct defrag *defrag, uint32_t rack)
{
	const struct fabric *fabric = &defrag->check.fabric;
	uint32_t free = 0;

	for (uint32_t at = 0; at < fabric->accelerators; at++)
		free += fabric->rack[ck_host(fabric, at)] == rack && ck_free(fabric, at);
	return free;
}

static int check_refusal(struct defrag *defrag, struct search *search, const uint8_t *refusal)
{
	const struct check *check = &defrag->check;
	uint32_t host = word(refusal, 0), free = count_free(defrag, host);

	if (word(refusal, 1) == MORPH_WIRE_CUTS)
		return check_rack(defrag, search, host, refusal, NONE);
	if (word(refusal, 1) != MORPH_WIRE_COUNT)
		return ck_wrong(&defrag->check, EBADMSG, "the rack of host %u is undecided", host);
	if (word(refusal, 2) != free || word(refusal, 3) != check->request.ranks ||
	    free >= check->request.ranks)
		return ck_wrong(
			&defrag->check, EBADMSG,
			"the rack of host %u has %u free accelerators, not %u of %u requested",
			host, free, word(refusal, 2), word(refusal, 3));
	return 0;
}

static int each_rack(struct defrag *defrag, struct search *search, struct room *room)
{
	const struct fabric *fabric = &defrag->check.fabric;
	uint32_t racks = 0;
	int ret = 0;

	for (uint32_t host = 0; host < fabric->hosts; host++)
		racks += fabric->rack[host] == host;
	if (defrag->answer.refusals != racks)
		return ck_wrong(&defrag->check, EBADMSG, "the answer has %u refusals for %u racks",
				defrag->answer.refusals, racks);
	for (uint32_t at = 0; at < racks && !ret; at++) {
		const uint8_t *refusal = defrag->answer.refusal_words + 24 * (size_t)at;
		uint32_t host = word(refusal, 0);

		if (host >= fabric->hosts || fabric->rack[host] != host)
			return ck_wrong(&defrag->check, EBADMSG,
					"host %u is not the first host of a rack", host);
		for (uint32_t other = 0; other < at; other++)
			if (word(defrag->answer.refusal_words + 24 * (size_t)other, 0) == host)
				return ck_wrong(&defrag->check, EBADMSG,
						"the answer refuses the rack of host %u twice",
						host);
		memset(search, 0, sizeof(*search));
		search->check = &defrag->check;
		search->room = room;
		ret = check_refusal(defrag, search, refusal);
	}
	return ret;
}

int ck_reroute_refused(struct defrag *defrag)
{
	struct search *search = calloc(1, sizeof(*search));
	struct room *room = calloc(1, sizeof(*room));
	int ret;

	if (!search || !room) {
		free(search);
		free(room);
		return ck_wrong(&defrag->check, ENOMEM, "out of memory");
	}
	ret = ck_proves_all(&defrag->check);
	if (!ret && !ck_racks_are_all(&defrag->check))
		ret = ck_wrong(&defrag->check, EBADMSG,
			       "a refusal of a slice across racks cannot be proven");

	if (!ret)
		ret = each_rack(defrag, search, room);
	free(search);
	free(room);
	return ret;
}

int ck_reroute_least(struct defrag *defrag)
{
	const struct fabric *fabric = &defrag->check.fabric;
	struct search *search = calloc(1, sizeof(*search));
	struct room *room = calloc(1, sizeof(*room));
	int ret = 0;

	if (!search || !room) {
		free(search);
		free(room);
		return ck_wrong(&defrag->check, ENOMEM, "out of memory");
	}
	ret = ck_proves_all(&defrag->check);
	for (uint32_t host = 0; host < fabric->hosts && !ret; host++) {
		if (fabric->rack[host] != host ||
		    count_free(defrag, host) < defrag->check.request.ranks)
			continue;
		memset(search, 0, sizeof(*search));
		search->check = &defrag->check;
		search->room = room;
		ret = check_rack(defrag, search, host, NULL, defrag->answer.least - 1);
	}
	free(search);
	free(room);
	return ret;
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reads a written schedule and verifies it: afterwards, all numbers refer to existing objects. */
#include "schedule.h"

#include "../util/words.h"

#define BODY 14 /* words after the head, before the lists */

/* Reads words in sequence. The caller has verified their number. */
struct reader {
	struct morph_ctx *ctx;
	const uint8_t *at;
};

static uint32_t take(struct reader *reader)
{
	reader->at += 4;
	return words_at(reader->at - 4);
}

static uint64_t take_long(struct reader *reader)
{
	reader->at += 8;
	return words_long_at(reader->at - 8);
}

static int malformed(struct reader *reader, const char *what, uint32_t number)
{
	return lm_fail(reader->ctx, EINVAL, "%s %u is malformed", what, number);
}

/* The matchings divide the circuits among them, in sequence. */
static int read_matchings(struct reader *reader, struct morph_schedule *to, uint32_t circuits)
{
	uint32_t next = 0;

	for (uint32_t at = 0; at < to->matchings.count; at++) {
		struct matching *matching = &to->matchings.list[at];

		*matching = (struct matching){ .first = take(reader) };
		matching->count = take(reader);
		if (matching->first != next || !matching->count || matching->count > to->ranks ||
		    matching->count > circuits - next)
			return malformed(reader, "matching", at);
		next += matching->count;
	}
	return next == circuits ? 0 : malformed(reader, "circuit", next);
}

/* In the order of sending ranks; each rank receives from one at most. */
static int read_circuits(struct reader *reader, struct morph_schedule *to, uint32_t *taken)
{
	for (uint32_t number = 0; number < to->matchings.count; number++) {
		const struct matching *matching = &to->matchings.list[number];
		struct morph_rank_pair *circuits = &to->circuits.list[matching->first];

		for (uint32_t at = 0; at < matching->count; at++) {
			circuits[at].src = take(reader);
			circuits[at].dst = take(reader);
			if (circuits[at].src >= to->ranks || circuits[at].dst >= to->ranks ||
			    circuits[at].src == circuits[at].dst ||
			    (at && circuits[at].src <= circuits[at - 1].src) ||
			    taken[circuits[at].dst] == number)
				return malformed(reader, "circuit", matching->first + at);
			taken[circuits[at].dst] = number;
		}
	}
	return 0;
}

static int read_holds(struct reader *reader, struct morph_schedule *to)
{
	uint64_t last_ps = 0;

	for (uint32_t at = 0; at < to->holds.count; at++) {
		struct hold *hold = &to->holds.list[at];

		hold->plane = take(reader);
		hold->matching = take(reader);
		hold->set_ps = take_long(reader);
		hold->lit_ps = take_long(reader);
		hold->dark_ps = take_long(reader);
		if (hold->plane >= to->planes || hold->matching >= to->matchings.count ||
		    hold->set_ps < last_ps || hold->lit_ps < hold->set_ps ||
		    hold->dark_ps < hold->lit_ps || hold->dark_ps > to->finish_ps ||
		    (at < to->residents && hold->lit_ps))
			return malformed(reader, "hold", at);
		last_ps = hold->set_ps;
	}
	return 0;
}

/*
 * Until when ports of a plane have a circuit. The next holder comes later, and none after the end.
 */
static int take_ports(struct reader *reader, const struct morph_schedule *of, uint32_t number,
		      uint64_t *until)
{
	const struct hold *hold = &of->holds.list[number];
	const struct matching *matching = &of->matchings.list[hold->matching];
	uint64_t *sends = &until[(size_t)2 * of->ranks * hold->plane],
		 *receives = sends + of->ranks;

	for (uint32_t at = matching->first; at < matching->first + matching->count; at++) {
		const struct morph_rank_pair *circuit = &of->circuits.list[at];

		/* The time plus one; 0 is for ports without a circuit. */
		if (sends[circuit->src] > hold->set_ps + 1 ||
		    receives[circuit->dst] > hold->set_ps + 1 ||
		    sends[circuit->src] > of->finish_ps || receives[circuit->dst] > of->finish_ps)
			return malformed(reader, "hold", number);
		sends[circuit->src] = receives[circuit->dst] = hold->dark_ps + 1;
	}
	return 0;
}

static int take_turns(struct reader *reader, const struct morph_schedule *of)
{
	uint64_t *until = calloc((size_t)2 * of->ranks * of->planes, sizeof(*until));
	int ret = until ? 0 : lm_no_memory(reader->ctx, "read a schedule");

	for (uint32_t at = 0; !ret && at < of->holds.count; at++)
		ret = take_ports(reader, of, at, until);
	free(until);
	return ret;
}

static int read_sends(struct reader *reader, struct morph_schedule *to,
		      const struct morph_collective *collective)
{
	uint32_t next = 0, last_round = 0;

	for (uint32_t at = 0; at < to->sends.count; at++) {
		struct send *send = &to->sends.list[at];
		uint32_t transfers;

		send->round = take(reader);
		send->first = take(reader);
		send->count = take(reader);
		send->hops_first = take(reader);
		send->hops = take(reader);
		send->bytes = take_long(reader);
		send->from_ps = take_long(reader);
		send->until_ps = take_long(reader);
		transfers = morph_collective_transfers(collective, send->round);
		if (send->round < last_round || !send->count || send->first >= transfers ||
		    send->count > transfers - send->first || send->hops_first != next ||
		    !send->hops || send->hops > to->hops.count - next ||
		    send->until_ps < send->from_ps || send->until_ps > to->finish_ps)
			return malformed(reader, "send", at);
		next += send->hops;
		last_round = send->round;
	}
	return next == to->hops.count ? 0 : malformed(reader, "hop", next);
}

/* Each transfer of a send passes lit circuits in sequence to its receiver. */
static int follow_send(struct reader *reader, const struct morph_schedule *of,
		       const struct morph_collective *collective, uint32_t number)
{
	const struct send *send = &of->sends.list[number];
	const struct round *round = &collective->rounds.list[send->round];

	for (uint32_t at = 0; at < send->count; at++) {
		const struct transfer *transfer =
			&collective->transfers.list[round->first + send->first + at];
		uint32_t where = transfer->src;

		for (uint32_t hop = 0; hop < send->hops && where != UINT32_MAX; hop++) {
			const struct hold *hold =
				&of->holds.list[of->hops.list[send->hops_first + hop]];

			where = send->from_ps < hold->lit_ps || send->until_ps > hold->dark_ps ?
					UINT32_MAX :
					lm_matching_leads(of, hold->matching, where);
		}
		if (where != transfer->dst)
			return malformed(reader, "the path of send", number);
	}
	return 0;
}

static int read_hops(struct reader *reader, struct morph_schedule *to,
		     const struct morph_collective *collective)
{
	int ret = 0;

	for (uint32_t at = 0; at < to->hops.count; at++) {
		to->hops.list[at] = take(reader);
		if (to->hops.list[at] >= to->holds.count)
			return malformed(reader, "hop", at);
	}
	for (uint32_t at = 0; !ret && at < to->sends.count; at++)
		ret = follow_send(reader, to, collective, at);
	return ret;
}

/*
 * Everything before the lists. Their lengths must add up to the total, so that no memory is
 * allocated for missing data.
 */
static int read_head(struct reader *reader, struct morph_schedule *to, size_t words,
		     uint32_t lengths[5])
{
	static const uint32_t sizes[5] = { 2, 2, 8, 11, 1 };
	uint64_t wanted = MORPH_WIRE_HEAD + BODY;
	uint32_t ranks = to->ranks, planes = to->planes, head[MORPH_WIRE_HEAD];

	for (uint32_t at = 0; at < MORPH_WIRE_HEAD; at++)
		head[at] = take(reader);
	if (head[0] != MORPH_WIRE_MAGIC || head[1] != MORPH_WIRE_VERSION ||
	    head[2] != MORPH_WIRE_SCHEDULE || head[3] || head[4] != words)
		return lm_fail(reader->ctx, EINVAL, "the head of its schedule is malformed");
	to->verdict = take(reader);
	to->ranks = take(reader);
	to->planes = take(reader);
	to->finish_ps = take_long(reader);
	to->bound_kind = take(reader);
	to->bound_ps = take_long(reader);
	to->residents = take(reader);
	for (uint32_t at = 0; at < 5; at++) {
		lengths[at] = take(reader);
		wanted += (uint64_t)sizes[at] * lengths[at];
	}
	if (to->verdict != MORPH_FEASIBLE || to->ranks != ranks || to->planes != planes ||
	    to->finish_ps > LONGEST_PS || to->bound_ps > to->finish_ps ||
	    to->bound_kind < MORPH_BOUND_PORTS || to->bound_kind > MORPH_BOUND_CIRCUITS ||
	    to->residents > lengths[2])
		return lm_fail(reader->ctx, EINVAL, "the description of its schedule is malformed");
	if (wanted != words)
		return lm_fail(reader->ctx, EINVAL, "its schedule differs from its declared size");
	return 0;
}

#define ROOM(schedule, array, length) \
	ARRAY_GROW((schedule)->ctx, (schedule)->array, length, "read a schedule")

static int make_room(struct morph_schedule *to, const uint32_t lengths[5])
{
	int ret = ROOM(to, matchings, lengths[0]);

	if (!ret)
		ret = ROOM(to, circuits, lengths[1]);
	if (!ret)
		ret = ROOM(to, holds, lengths[2]);
	if (!ret)
		ret = ROOM(to, sends, lengths[3]);
	if (!ret)
		ret = ROOM(to, hops, lengths[4]);
	if (ret)
		return ret;
	to->matchings.count = lengths[0];
	to->circuits.count = lengths[1];
	to->holds.count = lengths[2];
	to->sends.count = lengths[3];
	to->hops.count = lengths[4];
	return 0;
}

static int read_lists(struct reader *reader, struct morph_schedule *to,
		      const struct morph_collective *collective)
{
	uint32_t *taken = malloc((to->ranks + 1) * sizeof(*taken));
	int ret;

	if (!taken)
		return lm_no_memory(reader->ctx, "read a schedule");
	memset(taken, 0xff, (to->ranks + 1) * sizeof(*taken));
	ret = read_matchings(reader, to, to->circuits.count);
	if (!ret)
		ret = read_circuits(reader, to, taken);
	free(taken);
	if (!ret)
		ret = read_holds(reader, to);
	if (!ret)
		ret = take_turns(reader, to);
	if (!ret)
		ret = read_sends(reader, to, collective);
	return ret ? ret : read_hops(reader, to, collective);
}

int lm_schedule_read(struct morph_schedule *schedule, const struct morph_collective *collective,
		     uint32_t planes, const void *words, size_t count)
{
	struct reader reader = { schedule->ctx, words };
	struct costs costs = schedule->costs;
	uint32_t policy = schedule->policy, lengths[5];
	int ret;

	if (count < MORPH_WIRE_HEAD + BODY)
		return lm_fail(schedule->ctx, EINVAL, "its schedule is cut off");
	lm_schedule_begin(schedule, collective->ranks, planes, &costs);
	schedule->policy = policy;
	schedule->rounds = lm_collective_digest(collective);
	ret = read_head(&reader, schedule, count, lengths);
	if (!ret)
		ret = make_room(schedule, lengths);
	if (!ret)
		ret = read_lists(&reader, schedule, collective);
	if (!ret)
		ret = lm_schedule_count(schedule);
	if (ret)
		schedule->verdict = 0;
	return ret;
}

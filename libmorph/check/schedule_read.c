// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reads collectives and schedules. Afterwards all numbers are in range. */
#include <morph/wire.h>

#include "schedule.h"

#define MOST_BYTES (1ULL << 60) /* of a transfer */
#define MOST_SENT (1ULL << 28) /* chunks, counted once for each send */

/* Reads words one after the other; words after the last are 0. */
struct reader {
	const uint8_t *at;
	size_t words, next;
};

static uint32_t take(struct reader *reader)
{
	return reader->next < reader->words ? word(reader->at, reader->next++) : 0;
}

static uint64_t take_long(struct reader *reader)
{
	uint64_t low = take(reader);

	return low | (uint64_t)take(reader) << 32;
}

/* Memory for @count entries of this size, at least one. */
static void *room_for(uint32_t count, size_t size)
{
	return calloc((size_t)count + 1, size);
}

static bool within(struct part part, uint32_t count)
{
	return part.first <= count && part.count <= count - part.first;
}

static struct part take_part(struct reader *reader)
{
	uint32_t first = take(reader);

	return (struct part){ first, take(reader) };
}

/* --------------------------------------------------------------- collectives */

void ck_collective_free(struct collective *collective)
{
	free(collective->chunks);
	free(collective->rounds);
	free(collective->transfers);
	free(collective->runs);
}

static int read_chunks(struct check *check, struct reader *reader, struct collective *to)
{
	for (uint32_t at = 0; at < to->chunks_count; at++) {
		struct chunk *chunk = &to->chunks[at];

		chunk->begins = take(reader);
		chunk->ends = take(reader);
		chunk->bytes = take_long(reader);
		if ((chunk->begins != NONE && chunk->begins >= to->ranks) ||
		    (chunk->ends != NONE && chunk->ends >= to->ranks) || chunk->bytes > MOST_BYTES)
			return ck_wrong(check, EINVAL, "chunk %u is malformed", at);
	}
	return 0;
}

/* The rounds divide the transfers among them, in order. */
static int read_rounds(struct check *check, struct reader *reader, struct collective *to)
{
	uint32_t next = 0;

	for (uint32_t at = 0; at < to->rounds_count; at++) {
		to->rounds[at] = take_part(reader);
		if (to->rounds[at].first != next || !within(to->rounds[at], to->transfers_count))
			return ck_wrong(check, EINVAL, "round %u is malformed", at);
		next += to->rounds[at].count;
	}
	if (next != to->transfers_count)
		return ck_wrong(check, EINVAL, "a transfer belongs to no round");
	return 0;
}

static int read_transfers(struct check *check, struct reader *reader, struct collective *to)
{
	uint32_t next = 0;

	for (uint32_t at = 0; at < to->transfers_count; at++) {
		struct transfer *transfer = &to->transfers[at];
		uint32_t reduce;

		transfer->src = take(reader);
		transfer->dst = take(reader);
		reduce = take(reader);
		transfer->reduce = reduce;
		transfer->runs = take_part(reader);
		if (transfer->src >= to->ranks || transfer->dst >= to->ranks ||
		    transfer->src == transfer->dst || reduce > 1 || transfer->runs.first != next ||
		    !within(transfer->runs, to->runs_count))
			return ck_wrong(check, EINVAL, "transfer %u is malformed", at);
		next += transfer->runs.count;
	}
	return 0;
}

static int read_runs(struct check *check, struct reader *reader, struct collective *to)
{
	uint64_t sent = 0;

	for (uint32_t at = 0; at < to->runs_count; at++) {
		to->runs[at] = take_part(reader);
		if (!within(to->runs[at], to->chunks_count))
			return ck_wrong(check, EINVAL, "run %u is malformed", at);
		sent += to->runs[at].count;
	}
	if (sent > MOST_SENT)
		return ck_wrong(check, EINVAL, "the collective sends more than 2^28 chunks");
	return 0;
}

static int weigh(struct check *check, struct collective *to)
{
	for (uint32_t at = 0; at < to->transfers_count; at++) {
		struct transfer *transfer = &to->transfers[at];

		for (uint32_t run = 0; run < transfer->runs.count; run++) {
			const struct part *chunks = &to->runs[transfer->runs.first + run];

			for (uint32_t chunk = 0; chunk < chunks->count; chunk++) {
				transfer->bytes += to->chunks[chunks->first + chunk].bytes;
				if (transfer->bytes > MOST_BYTES)
					return ck_wrong(check, EINVAL,
							"transfer %u has too many bytes", at);
			}
		}
	}
	return 0;
}

int ck_collective_read(struct check *check, const struct morph_check_bytes *bytes,
		       struct collective *to)
{
	struct reader reader = { 0 };
	int ret;

	reader.at = ck_body(bytes, MORPH_WIRE_COLLECTIVE, &reader.words);
	if (!reader.at || reader.words < 5)
		return ck_wrong(check, EINVAL, "the collective is malformed");
	to->ranks = take(&reader);
	to->chunks_count = take(&reader);
	to->rounds_count = take(&reader);
	to->transfers_count = take(&reader);
	to->runs_count = take(&reader);
	if (reader.words != 5 + 4 * (uint64_t)to->chunks_count + 2 * (uint64_t)to->rounds_count +
				    5 * (uint64_t)to->transfers_count +
				    2 * (uint64_t)to->runs_count)
		return ck_wrong(check, EINVAL, "the collective differs from its declared size");
	if (!to->ranks || to->ranks > MOST_RANKS)
		return ck_wrong(check, EINVAL, "the collective has %u ranks", to->ranks);
	to->chunks = room_for(to->chunks_count, sizeof(*to->chunks));
	to->rounds = room_for(to->rounds_count, sizeof(*to->rounds));
	to->transfers = room_for(to->transfers_count, sizeof(*to->transfers));
	to->runs = room_for(to->runs_count, sizeof(*to->runs));
	if (!to->chunks || !to->rounds || !to->transfers || !to->runs)
		return ck_wrong(check, ENOMEM, "out of memory");
	ret = read_chunks(check, &reader, to);
	if (!ret)
		ret = read_rounds(check, &reader, to);
	if (!ret)
		ret = read_transfers(check, &reader, to);
	if (!ret)
		ret = read_runs(check, &reader, to);
	return ret ? ret : weigh(check, to);
}

/* ----------------------------------------------------------------- schedules */

void ck_schedule_free(struct schedule *schedule)
{
	free(schedule->matchings);
	free(schedule->circuits);
	free(schedule->holds);
	free(schedule->stays);
	free(schedule->sends);
	free(schedule->hops);
}

/* The matchings divide the circuits among them, in order. */
static int read_matchings(struct check *check, struct reader *reader, struct schedule *to)
{
	uint32_t next = 0;

	for (uint32_t at = 0; at < to->matchings_count; at++) {
		to->matchings[at] = take_part(reader);
		if (!to->matchings[at].count || to->matchings[at].first != next ||
		    !within(to->matchings[at], to->circuits_count))
			return ck_wrong(check, EINVAL, "matching %u is malformed", at);
		next += to->matchings[at].count;
	}
	if (next != to->circuits_count)
		return ck_wrong(check, EINVAL, "a circuit belongs to no matching");
	for (uint32_t at = 0; at < to->circuits_count; at++) {
		to->circuits[at].src = take(reader);
		to->circuits[at].dst = take(reader);
		if (to->circuits[at].src >= to->ranks || to->circuits[at].dst >= to->ranks)
			return ck_wrong(check, EINVAL, "circuit %u is malformed", at);
	}
	return 0;
}

/* A rank sends to one other and receives from one other. Circuits are sorted by sender. */
static int look_at_matchings(struct check *check, const struct schedule *schedule)
{
	uint32_t reached[MOST_RANKS];
	struct joined before = { 0 };

	memset(reached, 0xff, sizeof(reached));
	for (uint32_t at = 0; at < schedule->matchings_count; at++) {
		const struct part *matching = &schedule->matchings[at];

		for (uint32_t next = 0; next < matching->count; next++) {
			const struct joined *circuit = &schedule->circuits[matching->first + next];

			if (circuit->src == circuit->dst)
				return ck_wrong(check, EBADMSG,
						"matching %u connects rank %u to itself", at,
						circuit->src);
			if (next && circuit->src <= before.src)
				return ck_wrong(check, EBADMSG,
						"matching %u uses a port of rank %u twice", at,
						circuit->src);
			if (reached[circuit->dst] == at)
				return ck_wrong(check, EBADMSG,
						"matching %u has two circuits to rank %u", at,
						circuit->dst);
			reached[circuit->dst] = at;
			before = *circuit;
		}
	}
	return 0;
}

static int read_holds(struct check *check, struct reader *reader, struct schedule *to)
{
	uint64_t links = 0;

	for (uint32_t at = 0; at < to->holds_count; at++) {
		struct hold *hold = &to->holds[at];

		hold->plane = take(reader);
		hold->matching = take(reader);
		hold->set = take_long(reader);
		hold->lit = take_long(reader);
		hold->dark = take_long(reader);
		if (hold->plane >= to->planes || hold->matching >= to->matchings_count)
			return ck_wrong(check, EINVAL, "hold %u is malformed", at);
		if (hold->set > hold->lit || hold->lit > hold->dark)
			return ck_wrong(check, EBADMSG, "hold %u ends before it begins", at);
		if (at && hold->set < hold[-1].set)
			return ck_wrong(check, EBADMSG, "hold %u is out of time order", at);
		hold->link = (uint32_t)links;
		links += to->matchings[hold->matching].count;
		if (links >= NONE)
			return ck_wrong(check, EINVAL, "too many circuits");
	}
	to->stays = room_for((uint32_t)links, sizeof(*to->stays));
	return to->stays ? 0 : ck_wrong(check, ENOMEM, "out of memory");
}

static int read_sends(struct check *check, struct reader *reader, struct schedule *to)
{
	uint32_t next = 0;

	for (uint32_t at = 0; at < to->sends_count; at++) {
		struct send *send = &to->sends[at];

		send->round = take(reader);
		send->transfers = take_part(reader);
		send->hops = take_part(reader);
		send->bytes = take_long(reader);
		send->from = take_long(reader);
		send->until = take_long(reader);
		if (!send->transfers.count || !send->hops.count || send->hops.first != next ||
		    !within(send->hops, to->hops_count) || send->bytes > MOST_BYTES)
			return ck_wrong(check, EINVAL, "send %u is malformed", at);
		if (send->from > send->until)
			return ck_wrong(check, EBADMSG, "send %u ends before it begins", at);
		next += send->hops.count;
	}
	for (uint32_t at = 0; at < to->hops_count; at++) {
		to->hops[at] = take(reader);
		if (to->hops[at] >= to->holds_count)
			return ck_wrong(check, EINVAL, "hop %u is malformed", at);
	}
	return 0;
}

static bool make_room(struct schedule *to)
{
	to->matchings = room_for(to->matchings_count, sizeof(*to->matchings));
	to->circuits = room_for(to->circuits_count, sizeof(*to->circuits));
	to->holds = room_for(to->holds_count, sizeof(*to->holds));
	to->sends = room_for(to->sends_count, sizeof(*to->sends));
	to->hops = room_for(to->hops_count, sizeof(*to->hops));
	return to->matchings && to->circuits && to->holds && to->sends && to->hops;
}

int ck_schedule_read(struct check *check, const struct morph_check_bytes *bytes,
		     struct schedule *to)
{
	struct reader reader = { 0 };
	int ret;

	reader.at = ck_body(bytes, MORPH_WIRE_SCHEDULE, &reader.words);
	if (!reader.at || reader.words < 14)
		return ck_wrong(check, EINVAL, "the schedule is malformed");
	to->verdict = take(&reader);
	to->ranks = take(&reader);
	to->planes = take(&reader);
	to->finish = take_long(&reader);
	to->bound_kind = take(&reader);
	to->bound = take_long(&reader);
	to->residents = take(&reader);
	to->matchings_count = take(&reader);
	to->circuits_count = take(&reader);
	to->holds_count = take(&reader);
	to->sends_count = take(&reader);
	to->hops_count = take(&reader);
	if (reader.words != 14 + 2 * ((uint64_t)to->matchings_count + to->circuits_count) +
				    8 * (uint64_t)to->holds_count + 11 * (uint64_t)to->sends_count +
				    to->hops_count)
		return ck_wrong(check, EINVAL, "the schedule differs from its declared size");
	if (to->ranks > MOST_RANKS || !to->planes || to->planes > MOST_PLANES ||
	    to->residents > to->holds_count)
		return ck_wrong(check, EINVAL, "the schedule is malformed");
	if (!make_room(to))
		return ck_wrong(check, ENOMEM, "out of memory");
	ret = read_matchings(check, &reader, to);
	if (!ret)
		ret = look_at_matchings(check, to);
	if (!ret)
		ret = read_holds(check, &reader, to);
	return ret ? ret : read_sends(check, &reader, to);
}

uint32_t ck_circuit_from(const struct schedule *schedule, uint32_t matching, uint32_t src)
{
	const struct part *among = &schedule->matchings[matching];
	uint32_t low = 0, high = among->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (schedule->circuits[among->first + middle].src < src)
			low = middle + 1;
		else
			high = middle;
	}
	return low < among->count && schedule->circuits[among->first + low].src == src ? low : NONE;
}

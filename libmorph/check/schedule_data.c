// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Chunks of a schedule. For each chunk, the set of ranks whose part each rank has, from send to
 * send in the order of time. A send reads its data at its begin; arrived data is present from its
 * arrival on.
 */
#include "schedule.h"

/*
 * The times when transfers read data, and when it arrives. At equal times arrivals come first. Data
 * that is sent in no time arrives after all reads of its round, and before those of the next.
 */
struct event {
	uint64_t ps;
	uint64_t turn; /* order among events of the same time */
	bool reads;
	uint32_t transfer; /* index among those of the chunk */
};

/* The times of a transfer. */
struct times {
	struct part begins; /* of the list */
	uint64_t until;
	uint32_t round;
};

struct data {
	struct schedule_check *it;
	struct times *times; /* by transfer */
	uint64_t *begins;
	struct part *carriers; /* by chunk, of the list */
	uint32_t *carrier; /* transfers */
	uint32_t words; /* of a set */
	uint64_t *sets; /* by rank */
	struct event *events;
	size_t events_count, events_room;
	uint64_t *copies; /* by transfer of the chunk: the set that it read */
	bool *read;
	size_t copies_room; /* transfers */
};

static void data_free(struct data *data)
{
	free(data->times);
	free(data->begins);
	free(data->carriers);
	free(data->carrier);
	free(data->sets);
	free(data->events);
	free(data->copies);
	free(data->read);
}

/* Find when the sends of each transfer begin, and when the last one has arrived. */
static int time_transfers(struct data *data)
{
	const struct collective *collective = &data->it->collective;
	const struct schedule *schedule = &data->it->schedule;
	uint64_t count = 0;

	data->times = calloc((size_t)collective->transfers_count + 1, sizeof(*data->times));
	if (!data->times)
		return -ENOMEM;
	for (uint32_t at = 0; at < schedule->sends_count; at++) {
		const struct send *send = &schedule->sends[at];

		for (uint32_t next = 0; next < send->transfers.count; next++, count++)
			data->times[collective->rounds[send->round].first + send->transfers.first +
				    next]
				.begins.count++;
	}
	data->begins = calloc(count + 1, sizeof(*data->begins));
	if (!data->begins)
		return -ENOMEM;
	for (uint32_t at = 0; at < collective->transfers_count; at++) {
		data->times[at + 1].begins.first =
			data->times[at].begins.first + data->times[at].begins.count;
		data->times[at].begins.count = 0;
	}
	for (uint32_t at = 0; at < schedule->sends_count; at++) {
		const struct send *send = &schedule->sends[at];

		for (uint32_t next = 0; next < send->transfers.count; next++) {
			struct times *times = &data->times[collective->rounds[send->round].first +
							   send->transfers.first + next];

			data->begins[times->begins.first + times->begins.count++] = send->from;
			times->round = send->round;
			times->until = send->until > times->until ? send->until : times->until;
		}
	}
	return 0;
}

/* Count a chunk's carrier, and list it if there is a list. */
static void carry(struct data *data, uint32_t number)
{
	const struct collective *collective = &data->it->collective;
	const struct part *runs = &collective->transfers[number].runs;

	for (uint32_t run = runs->first; run < runs->first + runs->count; run++)
		for (uint32_t at = 0; at < collective->runs[run].count; at++) {
			struct part *part = &data->carriers[collective->runs[run].first + at];

			if (data->carrier)
				data->carrier[part->first + part->count] = number;
			part->count++;
		}
}

/* The carriers of each chunk: counted first, then listed. */
static int index_chunks(struct data *data)
{
	const struct collective *collective = &data->it->collective;
	size_t count = 0;

	data->carriers = calloc((size_t)collective->chunks_count + 1, sizeof(*data->carriers));
	if (!data->carriers)
		return -ENOMEM;
	for (uint32_t at = 0; at < collective->transfers_count; at++)
		carry(data, at);
	for (uint32_t chunk = 0; chunk < collective->chunks_count; chunk++) {
		struct part *part = &data->carriers[chunk];

		part->first = (uint32_t)count;
		count += part->count;
		part->count = 0;
	}
	data->carrier = calloc(count + 1, sizeof(*data->carrier));
	if (!data->carrier)
		return -ENOMEM;
	for (uint32_t at = 0; at < collective->transfers_count; at++)
		carry(data, at);
	return 0;
}

static int by_time(const void *one, const void *other)
{
	const struct event *a = one, *b = other;

	if (a->ps != b->ps)
		return a->ps < b->ps ? -1 : 1;
	if (a->turn != b->turn)
		return a->turn < b->turn ? -1 : 1;
	return a->transfer < b->transfer ? -1 : a->transfer > b->transfer;
}

/* Add the events of one transfer. */
static void add_events(struct data *data, const struct times *times, uint32_t transfer)
{
	uint64_t turn = 2 * (uint64_t)times->round + 1;
	bool at_once = false;

	for (uint32_t from = 0; from < times->begins.count; from++) {
		uint64_t begins = data->begins[times->begins.first + from];

		at_once |= begins == times->until;
		data->events[data->events_count++] = (struct event){ begins, turn, true, transfer };
	}
	data->events[data->events_count++] =
		(struct event){ times->until, at_once ? turn + 1 : 0, false, transfer };
}

static int list_events(struct data *data, const struct part *carriers)
{
	size_t count = 0;

	for (uint32_t at = 0; at < carriers->count; at++)
		count += 1 + data->times[data->carrier[carriers->first + at]].begins.count;
	if (count > data->events_room) {
		free(data->events);
		data->events_room = 2 * count;
		data->events = calloc(data->events_room, sizeof(*data->events));
	}
	if (carriers->count > data->copies_room) {
		free(data->copies);
		free(data->read);
		data->copies_room = 2 * (size_t)carriers->count;
		data->copies = calloc(data->copies_room * data->words, sizeof(*data->copies));
		data->read = calloc(data->copies_room, sizeof(*data->read));
	}
	if ((count && !data->events) || (carriers->count && (!data->copies || !data->read)))
		return -ENOMEM;
	data->events_count = 0;
	for (uint32_t at = 0; at < carriers->count; at++) {
		data->read[at] = false;
		add_events(data, &data->times[data->carrier[carriers->first + at]], at);
	}
	if (count)
		qsort(data->events, count, sizeof(*data->events), by_time);
	return 0;
}

static void begin(struct data *data, const struct chunk *chunk)
{
	memset(data->sets, 0,
	       (size_t)data->it->collective.ranks * data->words * sizeof(*data->sets));
	for (uint32_t rank = 0; rank < data->it->collective.ranks; rank++)
		if (chunk->begins == NONE || chunk->begins == rank)
			data->sets[(size_t)rank * data->words + rank / 64] |= 1ULL << rank % 64;
}

static bool is_empty(const uint64_t *set, uint32_t words)
{
	for (uint32_t at = 0; at < words; at++)
		if (set[at])
			return false;
	return true;
}

static int reads(struct data *data, const struct transfer *transfer, uint32_t number,
		 uint32_t chunk)
{
	uint64_t *copy = &data->copies[(size_t)number * data->words];
	const uint64_t *set = &data->sets[(size_t)transfer->src * data->words];

	if (is_empty(set, data->words))
		return ck_wrong(&data->it->check, EBADMSG,
				"rank %u sends chunk %u, which it does not have", transfer->src,
				chunk);
	if (data->read[number] && memcmp(copy, set, data->words * sizeof(*set)))
		return ck_wrong(&data->it->check, EBADMSG,
				"chunk %u changes at rank %u while it is sent", chunk,
				transfer->src);
	memcpy(copy, set, data->words * sizeof(*set));
	data->read[number] = true;
	return 0;
}

/*
 * Data is summed with present data that shares no part with it. Without a sum it replaces present
 * data, all of which it must contain.
 */
static int arrives(struct data *data, const struct transfer *transfer, uint32_t number,
		   uint32_t chunk)
{
	const uint64_t *copy = &data->copies[(size_t)number * data->words];
	uint64_t *set = &data->sets[(size_t)transfer->dst * data->words];

	for (uint32_t at = 0; at < data->words; at++) {
		if (transfer->reduce && set[at] & copy[at])
			return ck_wrong(&data->it->check, EBADMSG,
					"rank %u sums chunk %u with what it has", transfer->dst,
					chunk);
		if (!transfer->reduce && set[at] & ~copy[at])
			return ck_wrong(&data->it->check, EBADMSG,
					"rank %u loses a part of chunk %u", transfer->dst, chunk);
		set[at] |= copy[at];
	}
	return 0;
}

static int ends(struct data *data, const struct chunk *chunk, uint32_t number)
{
	uint32_t ranks = data->it->collective.ranks;

	for (uint32_t rank = 0; rank < ranks; rank++) {
		const uint64_t *set = &data->sets[(size_t)rank * data->words];
		bool whole = true;

		if (chunk->ends != NONE && chunk->ends != rank)
			continue;
		for (uint32_t part = 0; part < ranks; part++)
			if (chunk->begins == NONE || chunk->begins == part)
				whole &= set[part / 64] >> part % 64 & 1;
		if (!whole)
			return ck_wrong(&data->it->check, EBADMSG,
					"rank %u does not get chunk %u whole", rank, number);
	}
	return 0;
}

static int follow(struct data *data, uint32_t number)
{
	const struct collective *collective = &data->it->collective;
	const struct part carriers = data->carriers[number];
	int ret = list_events(data, &carriers);

	if (ret)
		return ret;
	begin(data, &collective->chunks[number]);
	for (size_t at = 0; !ret && at < data->events_count; at++) {
		const struct event *event = &data->events[at];
		const struct transfer *transfer =
			&collective->transfers[data->carrier[carriers.first + event->transfer]];

		ret = event->reads ? reads(data, transfer, event->transfer, number) :
				     arrives(data, transfer, event->transfer, number);
	}
	return ret ? ret : ends(data, &collective->chunks[number], number);
}

static int prepare(struct data *data)
{
	int ret = time_transfers(data);

	if (!ret)
		ret = index_chunks(data);
	if (ret)
		return ret;
	data->sets = calloc((size_t)data->it->collective.ranks * data->words, sizeof(*data->sets));
	return data->sets ? 0 : -ENOMEM;
}

static int follow_all(struct data *data)
{
	int ret = 0;

	for (uint32_t chunk = 0; !ret && chunk < data->it->collective.chunks_count; chunk++)
		ret = follow(data, chunk);
	return ret;
}

int ck_schedule_data(struct schedule_check *it)
{
	struct data data = { .it = it, .words = (it->collective.ranks + 63) / 64 };
	int ret = prepare(&data);

	if (!ret)
		ret = follow_all(&data);
	data_free(&data);
	return ret == -ENOMEM ? ck_wrong(&it->check, ENOMEM, "out of memory") : ret;
}

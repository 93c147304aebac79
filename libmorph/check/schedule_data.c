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
	uint32_t transfer;
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
	uint32_t words; /* of a set */
	uint64_t *sets; /* by rank */
	uint64_t *all; /* one set: parts of the chunk that its ranks must get */
	struct event *events; /* of all transfers, in the order of time */
	size_t events_count;
	size_t *firsts; /* by chunk, and one beyond: of the list */
	uint32_t *list; /* events */
	uint32_t *numbers; /* by transfer: among those of the chunk */
	uint64_t *copies; /* by transfer of the chunk: the set that it read */
	bool *read;
	size_t copies_room; /* transfers */
};

static void data_free(struct data *data)
{
	free(data->times);
	free(data->begins);
	free(data->sets);
	free(data->all);
	free(data->events);
	free(data->firsts);
	free(data->list);
	free(data->numbers);
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
static void add_events(struct data *data, uint32_t transfer)
{
	const struct times *times = &data->times[transfer];
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

/* Sort events once: chunks share transfers, and each lists its own events in this order. */
static int sort_events(struct data *data)
{
	uint32_t transfers = data->it->collective.transfers_count;
	size_t count = transfers;

	for (uint32_t at = 0; at < transfers; at++)
		count += data->times[at].begins.count;
	if (count > UINT32_MAX)
		return -ENOMEM;
	data->events = calloc(count + 1, sizeof(*data->events));
	if (!data->events)
		return -ENOMEM;
	for (uint32_t at = 0; at < transfers; at++)
		add_events(data, at);
	qsort(data->events, data->events_count, sizeof(*data->events), by_time);
	return 0;
}

/* Count an event of each chunk that its transfer carries, and list it if there is a list. */
static void note_event(struct data *data, uint32_t number)
{
	const struct collective *collective = &data->it->collective;
	const struct part *runs = &collective->transfers[data->events[number].transfer].runs;

	for (uint32_t run = runs->first; run < runs->first + runs->count; run++)
		for (uint32_t at = 0; at < collective->runs[run].count; at++) {
			size_t *next = &data->firsts[collective->runs[run].first + at + 1];

			if (data->list)
				data->list[*next] = number;
			++*next;
		}
}

/* The events of each chunk, in the order of time: counted first, then listed. */
static int index_events(struct data *data)
{
	uint32_t chunks = data->it->collective.chunks_count;
	size_t count = 0;

	data->firsts = calloc((size_t)chunks + 1, sizeof(*data->firsts));
	if (!data->firsts)
		return -ENOMEM;
	for (size_t at = 0; at < data->events_count; at++)
		note_event(data, (uint32_t)at);
	for (uint32_t chunk = 0; chunk < chunks; chunk++) {
		size_t its = data->firsts[chunk + 1];

		data->firsts[chunk + 1] = count;
		count += its;
	}
	data->list = calloc(count + 1, sizeof(*data->list));
	if (!data->list)
		return -ENOMEM;
	/* The begin of a chunk moves on to its end, which is the begin of the next one. */
	for (size_t at = 0; at < data->events_count; at++)
		note_event(data, (uint32_t)at);
	return 0;
}

/* Number the transfers of a chunk by their arrivals, and forget all reads. */
static int number_transfers(struct data *data, uint32_t chunk)
{
	uint32_t count = 0;

	for (size_t at = data->firsts[chunk]; at < data->firsts[chunk + 1]; at++) {
		const struct event *event = &data->events[data->list[at]];

		if (!event->reads)
			data->numbers[event->transfer] = count++;
	}
	if (count > data->copies_room) {
		free(data->copies);
		free(data->read);
		data->copies_room = 2 * (size_t)count;
		data->copies = calloc(data->copies_room * data->words, sizeof(*data->copies));
		data->read = calloc(data->copies_room, sizeof(*data->read));
	}
	if (count && (!data->copies || !data->read))
		return -ENOMEM;
	if (count)
		memset(data->read, 0, count * sizeof(*data->read));
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
				"chunk %u changes at rank %u while the rank sends it", chunk,
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
					"rank %u adds a part of chunk %u twice", transfer->dst,
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

	memset(data->all, 0, data->words * sizeof(*data->all));
	for (uint32_t part = 0; part < ranks; part++)
		if (chunk->begins == NONE || chunk->begins == part)
			data->all[part / 64] |= 1ULL << part % 64;
	for (uint32_t rank = 0; rank < ranks; rank++) {
		const uint64_t *set = &data->sets[(size_t)rank * data->words];
		bool whole = true;

		if (chunk->ends != NONE && chunk->ends != rank)
			continue;
		for (uint32_t at = 0; at < data->words; at++)
			whole &= !(data->all[at] & ~set[at]);
		if (!whole)
			return ck_wrong(&data->it->check, EBADMSG,
					"rank %u does not get all parts of chunk %u", rank, number);
	}
	return 0;
}

static int follow(struct data *data, uint32_t number)
{
	const struct collective *collective = &data->it->collective;
	int ret = number_transfers(data, number);

	if (ret)
		return ret;
	begin(data, &collective->chunks[number]);
	for (size_t at = data->firsts[number]; !ret && at < data->firsts[number + 1]; at++) {
		const struct event *event = &data->events[data->list[at]];
		const struct transfer *transfer = &collective->transfers[event->transfer];
		uint32_t its = data->numbers[event->transfer];

		ret = event->reads ? reads(data, transfer, its, number) :
				     arrives(data, transfer, its, number);
	}
	return ret ? ret : ends(data, &collective->chunks[number], number);
}

static int prepare(struct data *data)
{
	const struct collective *collective = &data->it->collective;
	int ret = time_transfers(data);

	if (!ret)
		ret = sort_events(data);
	if (!ret)
		ret = index_events(data);
	if (ret)
		return ret;
	data->sets = calloc((size_t)collective->ranks * data->words, sizeof(*data->sets));
	data->all = calloc(data->words, sizeof(*data->all));
	data->numbers = calloc((size_t)collective->transfers_count + 1, sizeof(*data->numbers));
	return data->sets && data->all && data->numbers ? 0 : -ENOMEM;
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

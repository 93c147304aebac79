// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Corrupt schedules so that they cannot be valid. The corruption uses only the written schedule,
 * and leaves it unchanged if the result could be valid. Each function states why its result is
 * invalid.
 */
#include "spoiling_words.h"

#include "../bench/random.h"

struct laid lay(uint32_t *schedule)
{
	uint32_t *head = schedule + HEAD;
	struct laid laid = { .head = head,
			     .residents = head[8],
			     .matchings_count = head[9],
			     .circuits_count = head[10],
			     .holds_count = head[11],
			     .sends_count = head[12],
			     .hops_count = head[13] };

	laid.matchings = head + SCHEDULE_HEAD;
	laid.circuits = laid.matchings + 2 * (size_t)laid.matchings_count;
	laid.holds = laid.circuits + 2 * (size_t)laid.circuits_count;
	laid.sends = laid.holds + HOLD * (size_t)laid.holds_count;
	laid.hops = laid.sends + SEND * (size_t)laid.sends_count;
	return laid;
}

struct laid_collective lay_collective(uint32_t *collective)
{
	uint32_t *head = collective + HEAD;
	struct laid_collective laid = { .ranks = head[0],
					.chunks_count = head[1],
					.rounds_count = head[2],
					.transfers_count = head[3] };

	laid.chunks = head + COLLECTIVE_HEAD;
	laid.rounds = laid.chunks + CHUNK * (size_t)laid.chunks_count;
	laid.transfers = laid.rounds + 2 * (size_t)laid.rounds_count;
	laid.runs = laid.transfers + TRANSFER * (size_t)laid.transfers_count;
	return laid;
}

uint32_t sender(const struct written *written, const uint32_t *send, uint32_t number)
{
	struct laid_collective laid = lay_collective(written->collective);

	return laid.transfers[TRANSFER *
			      ((size_t)laid.rounds[2 * (size_t)send[0]] + send[1] + number)];
}

bool leads(const struct laid *laid, const uint32_t *hold, uint32_t src, uint32_t dst)
{
	const uint32_t *matching = &laid->matchings[2 * (size_t)hold[1]];
	const uint32_t *circuit = laid->circuits + 2 * (size_t)matching[0];

	for (uint32_t at = 0; at < matching[1]; at++, circuit += 2)
		if (circuit[0] == src)
			return circuit[1] == dst;
	return false;
}

/* ------------------------------------------------------------------ numbers */

/*
 * Move a send to the next round or transfer, or beyond the last one. A send without bytes can
 * belong to any transfer.
 */
static bool spoil_whose(struct written *written, uint64_t *seed)
{
	struct laid laid = lay(written->schedule);
	uint32_t *send = send_at(&laid, random_below(seed, laid.sends_count));

	send[random_below(seed, 3)]++;
	return long_at(&send[5]);
}

/* Add or remove a byte of a send, which then differs from its transfers. */
static bool spoil_bytes(struct written *written, uint64_t *seed)
{
	struct laid laid = lay(written->schedule);
	uint32_t *send = send_at(&laid, random_below(seed, laid.sends_count));

	add(&send[5], random_below(seed, 2) ? 1 : -1);
	return true;
}

/* A round cannot take less than its minimum time. */
static bool spoil_time(struct written *written, uint64_t *seed)
{
	struct laid laid = lay(written->schedule);
	uint32_t *send = send_at(&laid, random_below(seed, laid.sends_count));

	set_long(&send[9], long_at(&send[7]) + random_below(seed, written->delay[HEAD + 1]));
	return true;
}

/* Remove a send. No rank needs a send without bytes. */
static bool spoil_all(struct written *written, uint64_t *seed)
{
	struct laid laid = lay(written->schedule);
	uint32_t *send = send_at(&laid, random_below(seed, laid.sends_count));
	uint32_t *end = written->schedule + written->schedule_bytes / 4;

	if (!long_at(&send[5]))
		return false;
	memmove(send, send + SEND, (size_t)(end - send - SEND) * 4);
	laid.head[12]--;
	written->schedule_bytes -= SEND * 4;
	written->schedule[4] -= SEND;
	return true;
}

/*
 * Remove a circuit from a matching that carries something. Then the last circuit belongs to no
 * matching.
 */
static bool spoil_matching(struct written *written, uint64_t *seed)
{
	struct laid laid = lay(written->schedule);
	const uint32_t *send = send_at(&laid, random_below(seed, laid.sends_count));

	laid.matchings[2 * (size_t)hold_at(&laid, laid.hops[send[3]])[1] + 1]--;
	return true;
}

/* Change the destination of a circuit that carries something. */
static bool spoil_circuit(struct written *written, uint64_t *seed)
{
	struct laid laid = lay(written->schedule);
	const uint32_t *send = send_at(&laid, random_below(seed, laid.sends_count));
	uint32_t number = hold_at(&laid, laid.hops[send[3]])[1], ranks = laid.head[1];
	uint32_t *circuit = laid.circuits + 2 * (size_t)laid.matchings[2 * (size_t)number];

	while (circuit[0] != sender(written, send, 0))
		circuit += 2;
	circuit[1] = (circuit[1] + 1 + random_below(seed, ranks - 1)) % ranks;
	return true;
}

/* Change the end of the schedule by a picosecond. */
static bool spoil_finish(struct written *written, uint64_t *seed)
{
	struct laid laid = lay(written->schedule);

	add(laid.head + 3, random_below(seed, 2) ? 1 : -1);
	return true;
}

static bool spoil_bound(struct written *written, uint64_t *seed)
{
	struct laid laid = lay(written->schedule);

	add(laid.head + 6, random_below(seed, 2) ? 1 : -1);
	return true;
}

/*
 * Change the verdict, ranks, planes or the circuits at the start. The two bounds often are equal.
 */
static bool spoil_head(struct written *written, uint64_t *seed)
{
	static const uint32_t words[] = { 0, 1, 2, 5, 8 };
	uint32_t word = words[random_below(seed, 5)];
	struct laid laid = lay(written->schedule);

	laid.head[word] += word == 5 ? 2 : 1;
	return true;
}

/* --------------------------------------------------------------------- ways */

static const struct {
	const char *name;
	spoiler *spoil;
} spoilers[] = {
	{ "lit", spoil_lit },	      { "set", spoil_set },	    { "dark", spoil_dark },
	{ "queue", spoil_queue },     { "port", spoil_port },	    { "twice", spoil_twice },
	{ "first", spoil_first },     { "left", spoil_left },	    { "gap", spoil_gap },
	{ "way", spoil_way },	      { "overlap", spoil_overlap }, { "beside", spoil_beside },
	{ "change", spoil_change },   { "turn", spoil_turn },	    { "early", spoil_early },
	{ "sum", spoil_sum },	      { "copy", spoil_copy },	    { "begin", spoil_begin },
	{ "end", spoil_end },	      { "whose", spoil_whose },	    { "bytes", spoil_bytes },
	{ "time", spoil_time },	      { "all", spoil_all },	    { "matching", spoil_matching },
	{ "circuit", spoil_circuit }, { "finish", spoil_finish },   { "bound", spoil_bound },
	{ "head", spoil_head },
};

_Static_assert(sizeof(spoilers) / sizeof(*spoilers) == SPOILINGS, "each way is counted");

const char *spoiling_name(uint32_t way)
{
	return spoilers[way].name;
}

static void *copied(const void *words, size_t bytes, size_t more)
{
	void *copy = words ? malloc(bytes + more) : NULL;

	if (copy)
		memcpy(copy, words, bytes);
	assert_true(copy || !words);
	return copy;
}

/* A copy that may be changed. */
static struct written copy_written(const struct written *of)
{
	struct written copy = *of;

	copy.delay = copied(of->delay, of->delay_bytes, 0);
	copy.collective = copied(of->collective, of->collective_bytes, 0);
	copy.after = copied(of->after, of->after_bytes, 0);
	copy.schedule = copied(of->schedule, of->schedule_bytes, HOLD * sizeof(uint32_t));
	return copy;
}

uint32_t assert_spoilt_are_rejected(const struct written *written, uint64_t seed, uint32_t times,
				    uint32_t made[SPOILINGS])
{
	uint32_t rejected = 0;
	char report[256];

	if (!lay(written->schedule).sends_count)
		return 0;
	for (uint32_t time = 0; time < times; time++) {
		struct written spoilt = copy_written(written);
		uint32_t way = random_below(&seed, SPOILINGS);
		int ret;

		if (spoilers[way].spoil(&spoilt, &seed)) {
			ret = check_written(&spoilt, report);
			if (ret != -EBADMSG && ret != -EINVAL)
				fail_msg("time %u, %s: %d", time, spoiling_name(way), ret);
			assert_true(report[0]);
			rejected++;
			if (made)
				made[way]++;
		}
		forget_written(&spoilt);
	}
	return rejected;
}

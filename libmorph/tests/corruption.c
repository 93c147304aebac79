// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Corrupt schedules so that they cannot be valid. The corruption uses only the written schedule,
 * and leaves it unchanged if the result could be valid. Each function states why its result is
 * invalid.
 */
#include "corruption_words.h"

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
static bool corrupt_whose(struct written *written, uint64_t *seed)
{
	struct laid laid = lay(written->schedule);
	uint32_t *send = send_at(&laid, random_below(seed, laid.sends_count));

	send[random_below(seed, 3)]++;
	return long_at(&send[5]);
}

/* Add or remove a byte of a send, which then differs from its transfers. */
static bool corrupt_bytes(struct written *written, uint64_t *seed)
{
	struct laid laid = lay(written->schedule);
	uint32_t *send = send_at(&laid, random_below(seed, laid.sends_count));

	add(&send[5], random_below(seed, 2) ? 1 : -1);
	return true;
}

/* A round cannot take less than its minimum time. */
static bool corrupt_time(struct written *written, uint64_t *seed)
{
	struct laid laid = lay(written->schedule);
	uint32_t *send = send_at(&laid, random_below(seed, laid.sends_count));

	set_long(&send[9], long_at(&send[7]) + random_below(seed, written->delay[HEAD + 1]));
	return true;
}

/* Remove a send. No rank needs a send without bytes. */
static bool corrupt_all(struct written *written, uint64_t *seed)
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
static bool corrupt_matching(struct written *written, uint64_t *seed)
{
	struct laid laid = lay(written->schedule);
	const uint32_t *send = send_at(&laid, random_below(seed, laid.sends_count));

	laid.matchings[2 * (size_t)hold_at(&laid, laid.hops[send[3]])[1] + 1]--;
	return true;
}

/* Change the destination of a circuit that carries something. */
static bool corrupt_circuit(struct written *written, uint64_t *seed)
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
static bool corrupt_finish(struct written *written, uint64_t *seed)
{
	struct laid laid = lay(written->schedule);

	add(laid.head + 3, random_below(seed, 2) ? 1 : -1);
	return true;
}

static bool corrupt_bound(struct written *written, uint64_t *seed)
{
	struct laid laid = lay(written->schedule);

	add(laid.head + 6, random_below(seed, 2) ? 1 : -1);
	return true;
}

/*
 * Change the verdict, ranks, planes or the circuits at the start. The bounds often are equal.
 */
static bool corrupt_head(struct written *written, uint64_t *seed)
{
	static const uint32_t words[] = { 0, 1, 2, 5, 8 };
	uint32_t word = words[random_below(seed, 5)];
	struct laid laid = lay(written->schedule);

	laid.head[word] += word == 5 ? 3 : 1;
	return true;
}

/* --------------------------------------------------------------------- ways */

static const struct {
	const char *name;
	corrupter *corrupt;
} corrupters[] = {
	{ "lit", corrupt_lit },		{ "set", corrupt_set },
	{ "dark", corrupt_dark },	{ "queue", corrupt_queue },
	{ "port", corrupt_port },	{ "twice", corrupt_twice },
	{ "first", corrupt_first },	{ "left", corrupt_left },
	{ "gap", corrupt_gap },		{ "way", corrupt_way },
	{ "overlap", corrupt_overlap }, { "beside", corrupt_beside },
	{ "change", corrupt_change },	{ "turn", corrupt_turn },
	{ "early", corrupt_early },	{ "sum", corrupt_sum },
	{ "copy", corrupt_copy },	{ "begin", corrupt_begin },
	{ "end", corrupt_end },		{ "whose", corrupt_whose },
	{ "bytes", corrupt_bytes },	{ "time", corrupt_time },
	{ "all", corrupt_all },		{ "matching", corrupt_matching },
	{ "circuit", corrupt_circuit }, { "finish", corrupt_finish },
	{ "bound", corrupt_bound },	{ "head", corrupt_head },
};

_Static_assert(sizeof(corrupters) / sizeof(*corrupters) == CORRUPTIONS, "each way is counted");

const char *corruption_name(uint32_t way)
{
	return corrupters[way].name;
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

uint32_t assert_corrupted_are_rejected(const struct written *written, uint64_t seed, uint32_t times,
				       uint32_t made[CORRUPTIONS])
{
	uint32_t rejected = 0;
	char report[256];

	if (!lay(written->schedule).sends_count)
		return 0;
	for (uint32_t time = 0; time < times; time++) {
		struct written corrupted = copy_written(written);
		uint32_t way = random_below(&seed, CORRUPTIONS);
		int ret;

		if (corrupters[way].corrupt(&corrupted, &seed)) {
			ret = check_written(&corrupted, report);
			if (ret != -EBADMSG && ret != -EINVAL)
				fail_msg("time %u, %s: %d", time, corruption_name(way), ret);
			assert_true(report[0]);
			rejected++;
			if (made)
				made[way]++;
		}
		forget_written(&corrupted);
	}
	return rejected;
}

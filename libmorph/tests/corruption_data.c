// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Corrupt the data: chunks that are sent before they arrive, summed twice or not at all, or that
 * end elsewhere.
 */
#include "corruption_words.h"

#include "../bench/random.h"

#define MOST_STEPS 128

/* The transfers of a chunk, in the order of rounds. */
struct carried {
	uint32_t chunk, count;
	uint32_t steps[MOST_STEPS]; /* transfers */
};

static bool carries(const struct laid_collective *laid, uint32_t transfer, uint32_t chunk)
{
	const uint32_t *at = laid->transfers + TRANSFER * (size_t)transfer;

	for (uint32_t run = at[3]; run < at[3] + at[4]; run++)
		if (chunk >= laid->runs[2 * (size_t)run] &&
		    chunk - laid->runs[2 * (size_t)run] < laid->runs[2 * (size_t)run + 1])
			return true;
	return false;
}

/* Choose a chunk at random. */
static struct carried carry(const struct laid_collective *laid, uint64_t *seed)
{
	struct carried carried = { .chunk = random_below(seed, laid->chunks_count) };

	for (uint32_t at = 0; at < laid->transfers_count && carried.count < MOST_STEPS; at++)
		if (carries(laid, at, carried.chunk))
			carried.steps[carried.count++] = at;
	return carried;
}

static uint32_t round_of(const struct laid_collective *laid, uint32_t transfer)
{
	uint32_t round = 0;

	while (transfer - laid->rounds[2 * (size_t)round] >= laid->rounds[2 * (size_t)round + 1])
		round++;
	return round;
}

/*
 * Check that a chunk goes round by round from rank to rank, visits all ranks, and takes no
 * unnecessary step. If the chunk begins at one rank, that is one pass. If each rank has a part, a
 * first pass sums the parts, and a second one brings the sum to the ranks without it. So each step
 * brings new data to a rank, and a copy that lacks a step is incomplete.
 */
static bool goes_round(const struct laid_collective *laid, const struct carried *carried)
{
	const uint32_t *chunk = laid->chunks + CHUNK * (size_t)carried->chunk;
	uint32_t rounds = chunk[0] == MORPH_EACH_RANK ? 2 : 1;

	if (chunk[1] != MORPH_EACH_RANK || carried->count != rounds * (laid->ranks - 1))
		return false;
	for (uint32_t at = 1; at < carried->count; at++) {
		const uint32_t *before =
			laid->transfers + TRANSFER * (size_t)carried->steps[at - 1];
		const uint32_t *next = laid->transfers + TRANSFER * (size_t)carried->steps[at];

		if (before[1] != next[0] ||
		    round_of(laid, carried->steps[at - 1]) == round_of(laid, carried->steps[at]))
			return false;
	}
	return true;
}

/* Check whether a send belongs to a transfer. */
static bool is_of(const struct laid_collective *laid, const uint32_t *send, uint32_t transfer)
{
	uint32_t round = round_of(laid, transfer);

	return send[0] == round && transfer - laid->rounds[2 * (size_t)round] - send[1] < send[2];
}

/* The time at which a whole transfer has arrived. */
static uint64_t arrival(const struct laid *laid, const struct laid_collective *collective,
			uint32_t transfer)
{
	uint64_t last = 0;

	for (uint32_t at = 0; at < laid->sends_count; at++) {
		const uint32_t *send = send_at(laid, at);

		if (is_of(collective, send, transfer) && long_at(&send[9]) > last)
			last = long_at(&send[9]);
	}
	return last;
}

/* A step of such a chunk, and a send of the next step; or NULL. */
static uint32_t *send_on(const struct laid *laid, const struct laid_collective *collective,
			 uint32_t *step, uint64_t *seed)
{
	struct carried carried = carry(collective, seed);
	uint32_t number, from;

	if (carried.count < 2 || !goes_round(collective, &carried))
		return NULL;
	number = random_below(seed, carried.count - 1);
	*step = carried.steps[number];
	from = random_below(seed, laid->sends_count);
	for (uint32_t at = 0; at < laid->sends_count; at++) {
		uint32_t *send = send_at(laid, (from + at) % laid->sends_count);

		if (is_of(collective, send, carried.steps[number + 1]))
			return send;
	}
	return NULL;
}

/*
 * Exchange two sends of consecutive rounds, so that one comes before the send that delivers its
 * data.
 */
bool corrupt_turn(struct written *written, uint64_t *seed)
{
	struct laid laid = lay(written->schedule);
	struct laid_collective collective = lay_collective(written->collective);
	uint32_t step = 0, *send = send_on(&laid, &collective, &step, seed);

	for (uint32_t at = 0; send && at < laid.sends_count; at++) {
		uint32_t *other = send_at(&laid, at), round = send[0];

		if (other[0] != round_of(&collective, step) || other[1] != send[1] ||
		    other[2] != send[2] || other[4] != send[4] ||
		    long_at(&other[5]) != long_at(&send[5]) ||
		    memcmp(laid.hops + other[3], laid.hops + send[3], send[4] * sizeof(*send)) != 0)
			continue;
		send[0] = other[0];
		other[0] = round;
		if (long_at(&other[7]) < arrival(&laid, &collective, step))
			return true;
		other[0] = send[0];
		send[0] = round;
	}
	return false;
}

/* Let a send begin a moment before its data arrives. */
bool corrupt_early(struct written *written, uint64_t *seed)
{
	struct laid laid = lay(written->schedule);
	struct laid_collective collective = lay_collective(written->collective);
	uint32_t step = 0, *send = send_on(&laid, &collective, &step, seed);

	if (!send)
		return false;
	set_long(&send[7], arrival(&laid, &collective, step) - 1);
	return true;
}

/*
 * Take a chunk of which each rank has a part, and a transfer that sums (or does not), and reverse
 * that.
 */
static bool turn_sum(struct written *written, bool sums, uint64_t *seed)
{
	struct laid_collective collective = lay_collective(written->collective);
	struct carried carried = carry(&collective, seed);
	uint32_t *transfer;

	if (!carried.count || collective.chunks[CHUNK * (size_t)carried.chunk] != MORPH_EACH_RANK)
		return false;
	transfer = collective.transfers +
		   TRANSFER * (size_t)carried.steps[random_below(seed, carried.count)];
	if (transfer[2] != sums)
		return false;
	transfer[2] = !sums;
	return true;
}

/* A transfer that replaced a part is now summed. It contains that part already. */
bool corrupt_sum(struct written *written, uint64_t *seed)
{
	return turn_sum(written, false, seed);
}

/* A transfer without the rank's own part now replaces the part. */
bool corrupt_copy(struct written *written, uint64_t *seed)
{
	return turn_sum(written, true, seed);
}

/* Let a chunk begin at another rank. Then the first sender does not have it. */
bool corrupt_begin(struct written *written, uint64_t *seed)
{
	struct laid_collective collective = lay_collective(written->collective);
	struct carried carried = carry(&collective, seed);
	uint32_t *chunk = collective.chunks + CHUNK * (size_t)carried.chunk;

	if (!carried.count || chunk[0] == MORPH_EACH_RANK)
		return false;
	chunk[0] = (chunk[0] + 1 + random_below(seed, collective.ranks - 1)) % collective.ranks;
	return true;
}

/* Let a chunk end at a rank to which no transfer brings it. */
bool corrupt_end(struct written *written, uint64_t *seed)
{
	struct laid_collective collective = lay_collective(written->collective);
	struct carried carried = carry(&collective, seed);
	uint32_t *chunk = collective.chunks + CHUNK * (size_t)carried.chunk;
	uint32_t rank = random_below(seed, collective.ranks);

	if (chunk[0] == MORPH_EACH_RANK || chunk[0] == rank || carried.count == MOST_STEPS)
		return false;
	for (uint32_t at = 0; at < carried.count; at++)
		if (collective.transfers[TRANSFER * (size_t)carried.steps[at] + 1] == rank)
			return false;
	chunk[1] = rank;
	return true;
}

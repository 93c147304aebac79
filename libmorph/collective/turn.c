// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Dispatch and combine: the participants, the rank that loads the plan, and the reverse direction.
 */
#include "collective.h"

/* ------------------------------------------------------------------ matrices */

/* The data that a rank sends and receives; UINT64_MAX: that or more. */
static struct load load_of(const uint64_t *matrix, uint32_t ranks, uint32_t rank)
{
	struct load load = { 0 };

	for (uint32_t other = 0; other < ranks; other++) {
		uint64_t there = matrix[(size_t)rank * ranks + other];
		uint64_t back = matrix[(size_t)other * ranks + rank];

		if (other == rank)
			continue;
		if (__builtin_add_overflow(load.sent, there, &load.sent))
			load.sent = UINT64_MAX;
		if (__builtin_add_overflow(load.received, back, &load.received))
			load.received = UINT64_MAX;
	}
	return load;
}

/* The participating rank with the least to do, or UINT32_MAX. */
static uint32_t elect(const uint64_t *matrix, uint32_t ranks)
{
	uint32_t elected = UINT32_MAX;
	uint64_t least = 0;

	for (uint32_t rank = 0; rank < ranks; rank++) {
		struct load load = load_of(matrix, ranks, rank);
		uint64_t most = load.sent > load.received ? load.sent : load.received;

		if (most && (elected == UINT32_MAX || most < least)) {
			elected = rank;
			least = most;
		}
	}
	return elected;
}

MORPH_API uint32_t morph_matrix_roles(const uint64_t *matrix, uint32_t ranks, uint32_t *roles,
				      uint32_t *loader)
{
	uint32_t count = 0;

	for (uint32_t rank = 0; rank < ranks; rank++) {
		struct load load = load_of(matrix, ranks, rank);
		uint32_t role = (load.sent ? MORPH_MATRIX_SENDS : 0) |
				(load.received ? MORPH_MATRIX_RECEIVES : 0);

		if (roles)
			roles[rank] = role;
		count += role != 0;
	}
	if (loader)
		*loader = elect(matrix, ranks);
	return count;
}

void morph_matrix_transpose(uint64_t *matrix, uint32_t ranks)
{
	for (uint32_t src = 0; src < ranks; src++) {
		for (uint32_t dst = 0; dst < src; dst++) {
			uint64_t *one = &matrix[(size_t)src * ranks + dst];
			uint64_t *other = &matrix[(size_t)dst * ranks + src];
			uint64_t bytes = *one;

			*one = *other;
			*other = bytes;
		}
	}
}

/* --------------------------------------------------------------- collectives */

static int turn_chunks(struct morph_collective *collective, const struct morph_collective *there)
{
	for (uint32_t at = 0; at < there->chunks.count; at++) {
		const struct chunk *chunk = &there->chunks.list[at];
		int ret;

		if (chunk->begins == MORPH_EACH_RANK || chunk->ends == MORPH_EACH_RANK)
			return lm_fail(
				collective->ctx, EINVAL,
				"the collective cannot be reversed: every rank receives chunk %u",
				at);
		ret = morph_collective_add_chunk(collective, chunk->ends, chunk->begins,
						 chunk->bytes);
		if (ret < 0)
			return ret;
	}
	return 0;
}

static int turn_transfer(struct morph_collective *collective, const struct morph_collective *there,
			 uint32_t number)
{
	const struct transfer *transfer = &there->transfers.list[number];
	int ret;

	if (transfer->reduce)
		return lm_fail(collective->ctx, EINVAL,
			       "the collective cannot be reversed: rank %u sums what it receives",
			       transfer->dst);
	ret = morph_collective_add_transfer(collective, transfer->dst, transfer->src, false);
	for (uint32_t at = 0; ret >= 0 && at < transfer->count; at++) {
		const struct chunk_run *run = &there->runs.list[transfer->first + at];

		ret = morph_collective_add_run(collective, run->first, run->count);
	}
	return ret < 0 ? ret : 0;
}

static int turn_rounds(struct morph_collective *collective, const struct morph_collective *there)
{
	int ret = 0;

	for (uint32_t number = there->rounds.count; ret >= 0 && number-- > 0;) {
		const struct round *round = &there->rounds.list[number];

		ret = morph_collective_add_round(collective);
		for (uint32_t at = 0; ret >= 0 && at < round->count; at++)
			ret = turn_transfer(collective, there, round->first + at);
	}
	return ret < 0 ? ret : 0;
}

int morph_collective_turn(struct morph_collective *collective, const struct morph_collective *there)
{
	int ret;

	if (collective == there)
		return lm_fail(collective->ctx, EINVAL, "a collective cannot be its own reverse");
	ret = morph_collective_begin(collective, there->ranks);
	if (!ret)
		ret = turn_chunks(collective, there);
	if (!ret)
		ret = turn_rounds(collective, there);
	if (ret)
		lm_collective_clear(collective);
	return ret;
}

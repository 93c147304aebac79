// SPDX-License-Identifier: LGPL-2.1-or-later
/* The transfers of a collective, chunk by chunk, read from its wire form. */
#include <morph/wire.h>

#include "../internal/planner.h"
#include "moving.h"

struct morph_collective *empty_collective(void)
{
	struct morph_collective *collective = morph_collective_new(ctx);

	assert_non_null(collective);
	return collective;
}

#define MOST_MOVED 64

/* The words of <morph/wire.h>, and the positions of their parts. */
struct words {
	uint32_t *all;
	size_t bytes;
	uint32_t ranks, chunks_count, rounds_count;
	const uint32_t *chunks, *rounds, *transfers, *runs;
};

static struct words words_of(const struct morph_collective *collective)
{
	ssize_t bytes = morph_collective_write(collective, NULL, 0);
	struct words words = { .all = malloc((size_t)bytes), .bytes = (size_t)bytes };
	const uint32_t *head = words.all + MORPH_WIRE_HEAD;

	assert_non_null(words.all);
	assert_int_equal(morph_collective_write(collective, words.all, (size_t)bytes), bytes);
	words.ranks = head[0];
	words.chunks_count = head[1];
	words.rounds_count = head[2];
	words.chunks = head + 5;
	words.rounds = words.chunks + 4 * (size_t)head[1];
	words.transfers = words.rounds + 2 * (size_t)head[2];
	words.runs = words.transfers + 5 * (size_t)head[3];
	return words;
}

/* The ranks whose parts each rank's copy of a chunk contains, before and after a round. */
struct holders {
	uint64_t before[MOST_MOVED], after[MOST_MOVED];
};

static uint64_t set_of(uint32_t rank, uint32_t ranks)
{
	return rank != MORPH_EACH_RANK ? 1ULL << rank :
	       ranks == 64	       ? UINT64_MAX :
					 (1ULL << ranks) - 1;
}

static void begin_holders(const struct words *words, uint32_t chunk, struct holders *holders)
{
	uint64_t begins = set_of(words->chunks[4 * chunk], words->ranks);

	for (uint32_t rank = 0; rank < words->ranks; rank++)
		holders->after[rank] = begins & 1ULL << rank;
}

static void send_chunk(const uint32_t *transfer, struct holders *holders)
{
	uint64_t sent = holders->before[transfer[0]];
	uint64_t *there = &holders->after[transfer[1]];

	assert_true(sent);
	if (transfer[2]) {
		assert_true(*there);
		assert_false(*there & sent);
		*there |= sent;
	} else {
		*there = sent;
	}
}

/* Check that each chunk ends at its destinations, with the parts of all ranks that have one. */
void assert_done(const struct morph_collective *collective)
{
	struct words words = words_of(collective);

	assert_true(words.ranks <= MOST_MOVED);
	for (uint32_t chunk = 0; chunk < words.chunks_count; chunk++) {
		uint64_t ends = set_of(words.chunks[4 * chunk + 1], words.ranks);
		uint64_t whole = set_of(words.chunks[4 * chunk], words.ranks);
		struct holders holders;

		begin_holders(&words, chunk, &holders);
		for (uint32_t round = 0; round < words.rounds_count; round++) {
			const uint32_t *part = words.rounds + 2 * (size_t)round;

			memcpy(holders.before, holders.after, sizeof(holders.before));
			for (uint32_t at = part[0]; at < part[0] + part[1]; at++) {
				const uint32_t *transfer = words.transfers + 5 * (size_t)at;

				for (uint32_t run = 0; run < transfer[4]; run++) {
					const uint32_t *of =
						words.runs + 2 * ((size_t)transfer[3] + run);

					if (chunk >= of[0] && chunk < of[0] + of[1])
						send_chunk(transfer, &holders);
				}
			}
		}
		for (uint32_t rank = 0; rank < words.ranks; rank++)
			if (ends & 1ULL << rank)
				assert_int_equal(holders.after[rank], whole);
	}
	free(words.all);
}

/* A transfer of a round. @round is 0 if the rounds may differ. */
struct sent {
	uint64_t round, src, dst, bytes, reduce;
};

static int by_all(const void *one, const void *other)
{
	return memcmp(one, other, sizeof(struct sent));
}

static struct sent *list_sent(const struct morph_collective *collective, bool rounds, size_t *count)
{
	uint32_t all = 0, last = morph_collective_rounds(collective);
	struct sent *list;

	for (uint32_t round = 0; round < last; round++)
		all += morph_collective_transfers(collective, round);
	list = calloc((size_t)all + 1, sizeof(*list));
	assert_non_null(list);
	*count = 0;
	for (uint32_t round = 0; round < last; round++) {
		for (uint32_t at = 0; at < morph_collective_transfers(collective, round); at++) {
			struct morph_transfer transfer;

			assert_int_equal(
				morph_collective_transfer(collective, round, at, &transfer), 0);
			list[(*count)++] = (struct sent){ rounds ? round : 0, transfer.src,
							  transfer.dst, transfer.bytes,
							  transfer.reduce };
		}
	}
	qsort(list, all, sizeof(*list), by_all);
	return list;
}

void assert_same_sent(const struct morph_collective *one, const struct morph_collective *other,
		      bool rounds)
{
	size_t count, others;
	struct sent *sent = list_sent(one, rounds, &count);
	struct sent *also = list_sent(other, rounds, &others);

	assert_int_equal(count, others);
	assert_memory_equal(sent, also, count * sizeof(*sent));
	free(sent);
	free(also);
}

void assert_same_words(const struct morph_collective *one, const struct morph_collective *other)
{
	struct words words = words_of(one), others = words_of(other);

	assert_int_equal(words.bytes, others.bytes);
	assert_memory_equal(words.all, others.all, words.bytes);
	free(words.all);
	free(others.all);
}

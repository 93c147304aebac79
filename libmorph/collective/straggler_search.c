// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * StragglAR for numbers of ranks that are no power of two: a search finds the pairs, round by
 * round. Each round is a perfect matching of high value. A sent chunk has more value
 *
 * - the fewer ranks have it, because few ranks can pass it on;
 * - the more chunks the receiver lacks;
 *
 * and a small random value. Each rank sends the most valuable chunk that the other lacks. The late
 * rank meets any rank whose chunk has not begun. A matching begins at random. Exchanges of two
 * pairs improve it until none helps.
 *
 * The result depends on a seed. For each number of ranks, seeds were tried until the rounds were
 * minimal, or for some seconds. straggler_seeds.c stores the best seed, so that one try suffices.
 * About O(ranks^2) for a pass over a matching and O(ranks^3) for a try, which needs several passes
 * for each matching.
 */
#include "../util/mix.h"
#include "straggler.h"

#define WORDS (STRAGGLER_SEARCHED / 64)
#define NONE UINT32_MAX
#define FORBIDDEN (-(1 << 28))

struct search {
	uint32_t ranks, late;
	uint32_t begun; /* chunks, numbered in the order in which they begin */
	uint32_t oldest; /* first chunk that some rank lacks */
	uint32_t rounds;
	uint64_t random;
	uint64_t have[STRAGGLER_SEARCHED][WORDS]; /* chunks, by rank */
	uint32_t owner[STRAGGLER_SEARCHED]; /* rank where the chunk begins */
	bool started[STRAGGLER_SEARCHED]; /* by rank: its chunk has begun */
	uint32_t held[STRAGGLER_SEARCHED]; /* by chunk: how many ranks have it */
	int32_t worth[STRAGGLER_SEARCHED]; /* of a chunk, for any receiver */
	int32_t need[STRAGGLER_SEARCHED]; /* of a rank, for any chunk */
	/* pairs; NONE for the partner of a rank that is alone */
	uint32_t order[STRAGGLER_SEARCHED + 1];
	uint32_t count;
	int32_t values[STRAGGLER_SEARCHED / 2]; /* of pairs */
};

static bool has(const struct search *search, uint32_t rank, uint32_t chunk)
{
	return search->have[rank][chunk / 64] >> chunk % 64 & 1;
}

static void get(struct search *search, uint32_t rank, uint32_t chunk)
{
	search->have[rank][chunk / 64] |= 1ULL << chunk % 64;
	search->held[chunk]++;
}

/* Does the late rank have chunks to begin, so that it may meet only such ranks? */
static bool beginning(const struct search *search)
{
	return search->begun < search->late;
}

/* -------------------------------------------------------------- what is worth what */

/* Of the few weights tried, on up to 128 ranks, these gave the fewest rounds. */
static void weigh(struct search *search)
{
	int32_t ranks = (int32_t)search->ranks;

	for (uint32_t chunk = search->oldest; chunk < search->begun; chunk++)
		search->worth[chunk] = 10 * ranks - 6 * (int32_t)search->held[chunk] +
				       (int32_t)mix_below(&search->random, 3 * search->ranks);
	for (uint32_t rank = 0; rank < search->ranks; rank++) {
		search->need[rank] = 0;
		for (uint32_t chunk = search->oldest; chunk < search->begun; chunk++)
			search->need[rank] += has(search, rank, chunk) ? 0 : 3 * ranks;
	}
}

/* The chunk that @src would send to @dst; NONE: @dst has all of its chunks. */
static uint32_t best_chunk(const struct search *search, uint32_t src, uint32_t dst)
{
	uint32_t best = NONE;

	for (uint32_t word = search->oldest / 64; word <= (search->begun - 1) / 64; word++) {
		uint64_t some = search->have[src][word] & ~search->have[dst][word];

		for (; some; some &= some - 1) {
			uint32_t chunk = word * 64 + (uint32_t)__builtin_ctzll(some);

			if (best == NONE || search->worth[chunk] > search->worth[best])
				best = chunk;
		}
	}
	return best;
}

static int32_t value_of_one(const struct search *search, uint32_t src, uint32_t dst)
{
	uint32_t chunk = search->begun ? best_chunk(search, src, dst) : NONE;

	return chunk == NONE ? 0 : search->worth[chunk] + search->need[dst];
}

static int32_t value(const struct search *search, uint32_t one, uint32_t other)
{
	if (beginning(search) && (one == search->late || other == search->late)) {
		uint32_t met = one == search->late ? other : one;

		return met == NONE || search->started[met] ? FORBIDDEN : 0;
	}
	if (one == NONE || other == NONE)
		return 0;
	return value_of_one(search, one, other) + value_of_one(search, other, one);
}

/* ---------------------------------------------------------------- matching */

static void swap(uint32_t *one, uint32_t *other)
{
	uint32_t kept = *one;

	*one = *other;
	*other = kept;
}

/* Begin at random, but put the late rank first, with a permitted partner. */
static void begin_matching(struct search *search)
{
	uint32_t *order = search->order, at;

	search->count = 0;
	for (uint32_t rank = 0; rank < search->ranks; rank++)
		order[search->count++] = rank;
	for (at = search->ranks - 1; at; at--)
		swap(&order[at], &order[mix_below(&search->random, at + 1)]);
	if (search->ranks % 2)
		order[search->count++] = NONE;
	if (beginning(search)) {
		for (at = 0; order[at] != search->late; at++)
			;
		swap(&order[0], &order[at]);
		for (at = 1; search->started[order[at]]; at++)
			;
		swap(&order[1], &order[at]);
	}
	for (at = 0; at < search->count; at += 2)
		search->values[at / 2] = value(search, order[at], order[at + 1]);
}

/* Exchange the second rank of the pair at @one with the rank at @with of the pair at @other. */
static bool exchange(struct search *search, uint32_t one, uint32_t other, uint32_t with)
{
	uint32_t *order = search->order, stays = with == other ? other + 1 : other;
	int32_t first = value(search, order[one], order[with]);
	int32_t second = value(search, order[one + 1], order[stays]);

	if (first + second <= search->values[one / 2] + search->values[other / 2])
		return false;
	swap(&order[one + 1], &order[with]);
	search->values[one / 2] = first;
	search->values[other / 2] = second;
	return true;
}

/* Each exchange raises the sum of values, so this ends. */
static void improve(struct search *search)
{
	bool better;

	do {
		better = false;
		for (uint32_t one = 0; one < search->count; one += 2)
			for (uint32_t other = one + 2; other < search->count; other += 2)
				better |= exchange(search, one, other, other) ||
					  exchange(search, one, other, other + 1);
	} while (better);
}

/* ------------------------------------------------------------------ rounds */

/*
 * Pairs send what they had before the round. Each rank is in one pair, so the pairs can be
 * processed in turn.
 */
static void send_one(struct search *search, struct writer *writer, uint32_t src, uint32_t dst,
		     uint32_t chunk)
{
	if (chunk == NONE)
		return;
	get(search, dst, chunk);
	if (!writer)
		return;
	lm_write_transfer(writer, src, dst, false);
	lm_write_run(writer, search->owner[chunk], 1);
}

static void meet(struct search *search, struct writer *writer, uint32_t one, uint32_t other)
{
	uint32_t there = best_chunk(search, one, other), back = best_chunk(search, other, one);

	send_one(search, writer, one, other, there);
	send_one(search, writer, other, one, back);
}

static void begin_chunk(struct search *search, struct writer *writer, uint32_t rank)
{
	uint32_t chunk = search->begun++;

	search->owner[chunk] = rank;
	search->started[rank] = true;
	get(search, rank, chunk);
	get(search, search->late, chunk);
	if (writer)
		write_first(writer, rank);
}

static void do_round(struct search *search, struct writer *writer)
{
	uint32_t begins = NONE;

	weigh(search);
	begin_matching(search);
	improve(search);
	if (writer)
		lm_write_round(writer);
	for (uint32_t at = 0; at < search->count; at += 2) {
		uint32_t one = search->order[at], other = search->order[at + 1];

		if (beginning(search) && (one == search->late || other == search->late))
			begins = one == search->late ? other : one;
		else if (search->begun && one != NONE && other != NONE)
			meet(search, writer, one, other);
	}
	if (begins != NONE)
		begin_chunk(search, writer, begins);
	while (search->oldest < search->begun && search->held[search->oldest] == search->ranks)
		search->oldest++;
	search->rounds++;
}

/*
 * Try a seed; NONE if it takes more than @most rounds. It ends: each round begins a chunk or sends
 * one. While something is missing anywhere, two pairs without value would be exchanged.
 */
static uint32_t try_seed(struct search *search, struct writer *writer, uint32_t ranks,
			 uint64_t seed, uint32_t most)
{
	memset(search, 0, sizeof(*search));
	search->ranks = ranks;
	search->late = ranks - 1;
	search->random = seed;
	while (search->oldest < search->late && search->rounds < most)
		do_round(search, writer);
	return search->oldest == search->late ? search->rounds : NONE;
}

uint32_t lm_straggler_try(uint32_t ranks, uint64_t seed, uint32_t most)
{
	struct search *search = calloc(1, sizeof(*search));
	uint32_t rounds = search ? try_seed(search, NULL, ranks, seed, most) : NONE;

	free(search);
	return rounds;
}

void lm_write_straggler_search(struct writer *writer)
{
	uint32_t ranks = writer->opts->ranks;
	struct search *search = lm_writer_alloc(writer, 1, sizeof(*search));

	if (search)
		try_seed(search, writer, ranks, lm_straggler_seeds[ranks], NONE);
	free(search);
}

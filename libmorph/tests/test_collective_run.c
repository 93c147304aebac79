// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Carry out collectives. Compare with a machine that counts instead of keeping sets, on corrupted
 * collectives and on collectives made by hand.
 */
#include <stdio.h>

#include "../internal/planner.h"
#include "../bench/random.h"
#include "../collective/collective.h"
#include "alone.h"

#define REFUSED(errno_wanted, call, words)                                                 \
	do {                                                                               \
		assert_int_equal(call, -(errno_wanted));                                   \
		if (!strstr(morph_error_text(ctx), words))                                 \
			fail_msg("\"%s\" is not in \"%s\"", words, morph_error_text(ctx)); \
	} while (0)

static struct morph_collective *build(const struct morph_collective_opts *opts)
{
	struct morph_collective *collective = morph_collective_new(ctx);

	if (morph_collective_build(collective, opts))
		fail_msg("%s", morph_error_text(ctx));
	return collective;
}

static void prove(const struct morph_collective *collective)
{
	if (morph_collective_run(collective, NULL))
		fail_msg("%s", morph_error_text(ctx));
}

/* ----------------------------------------------------------------- counting */

/*
 * Count the copies of each rank's part in each rank's copy of each chunk. There are no sets, and
 * all chunks advance together.
 */
struct counts {
	uint32_t ranks, chunks;
	uint32_t *now, *before; /* (rank * chunks + chunk) * ranks + whose */
	uint32_t *came; /* by rank and chunk: copies in this round */
};

static uint32_t *counts_of(uint32_t *all, const struct counts *counts, uint32_t rank,
			   uint32_t chunk)
{
	return all + (rank * counts->chunks + chunk) * counts->ranks;
}

static bool begins_at(const struct chunk *chunk, uint32_t rank)
{
	return chunk->begins == MORPH_EACH_RANK || chunk->begins == rank;
}

/* Returns false if the result depends on the order of two transfers. */
static bool count_chunk(struct counts *counts, const struct transfer *transfer, uint32_t chunk)
{
	uint32_t *src = counts_of(counts->before, counts, transfer->src, chunk);
	uint32_t *dst = counts_of(counts->now, counts, transfer->dst, chunk);
	uint32_t *came = &counts->came[transfer->dst * counts->chunks + chunk];
	bool clear = !*came || (*came == 1 && transfer->reduce);

	*came = transfer->reduce ? 1 : 2;
	for (uint32_t whose = 0; whose < counts->ranks; whose++)
		dst[whose] = transfer->reduce ? dst[whose] + src[whose] : src[whose];
	return clear;
}

static bool count_round(struct counts *counts, const struct morph_collective *collective,
			const struct round *round)
{
	size_t cells = (size_t)counts->ranks * counts->chunks;
	bool clear = true;

	memcpy(counts->before, counts->now, cells * counts->ranks * sizeof(*counts->now));
	memset(counts->came, 0, cells * sizeof(*counts->came));
	for (uint32_t at = round->first; at < round->first + round->count; at++) {
		const struct transfer *transfer = &collective->transfers.list[at];

		for (uint32_t run = transfer->first; run < transfer->first + transfer->count; run++)
			for (uint32_t more = 0; more < collective->runs.list[run].count; more++)
				clear &= count_chunk(counts, transfer,
						     collective->runs.list[run].first + more);
	}
	return clear;
}

static bool ends_right(struct counts *counts, const struct morph_collective *collective)
{
	for (uint32_t rank = 0; rank < counts->ranks; rank++)
		for (uint32_t at = 0; at < counts->chunks; at++) {
			const struct chunk *chunk = &collective->chunks.list[at];

			if (chunk->ends != MORPH_EACH_RANK && chunk->ends != rank)
				continue;
			for (uint32_t whose = 0; whose < counts->ranks; whose++)
				if (counts_of(counts->now, counts, rank, at)[whose] !=
				    begins_at(chunk, whose))
					return false;
		}
	return true;
}

static bool counted_right(const struct morph_collective *collective)
{
	struct counts counts = { .ranks = collective->ranks, .chunks = collective->chunks.count };
	size_t cells = (size_t)counts.ranks * counts.chunks;
	bool right = true;

	counts.now = calloc(cells * counts.ranks, sizeof(*counts.now));
	counts.before = calloc(cells * counts.ranks, sizeof(*counts.before));
	counts.came = calloc(cells, sizeof(*counts.came));
	for (uint32_t rank = 0; rank < counts.ranks; rank++)
		for (uint32_t chunk = 0; chunk < counts.chunks; chunk++)
			counts_of(counts.now, &counts, rank, chunk)[rank] =
				begins_at(&collective->chunks.list[chunk], rank);
	for (uint32_t round = 0; round < collective->rounds.count; round++)
		right &= count_round(&counts, collective, &collective->rounds.list[round]);
	right &= ends_right(&counts, collective);
	free(counts.now);
	free(counts.before);
	free(counts.came);
	return right;
}

/* ------------------------------------------------------------------- mutants */

enum mutation {
	DROPPED,
	OTHER_CHUNK,
	TWICE,
	TURNED,
	FLIPPED,
	ROUNDS_SWAPPED,
	MUTATIONS
};

struct mutant {
	enum mutation mutation;
	uint32_t transfer, chunk; /* which, and the chunk in the place of its first */
	uint32_t one, other; /* rounds */
};

static void copy_transfer(struct morph_collective *to, const struct morph_collective *from,
			  uint32_t at, const struct mutant *mutant)
{
	const struct transfer *transfer = &from->transfers.list[at];
	enum mutation mutation = at == mutant->transfer ? mutant->mutation : MUTATIONS;
	bool turned = mutation == TURNED;

	if (mutation == DROPPED)
		return;
	assert_true(morph_collective_add_transfer(to, turned ? transfer->dst : transfer->src,
						  turned ? transfer->src : transfer->dst,
						  transfer->reduce ^ (mutation == FLIPPED)) >= 0);
	for (uint32_t run = transfer->first; run < transfer->first + transfer->count; run++) {
		struct chunk_run chunks = from->runs.list[run];

		if (mutation == OTHER_CHUNK && run == transfer->first) {
			assert_int_equal(morph_collective_add_run(to, mutant->chunk, 1), 0);
			chunks.first++;
			chunks.count--;
		}
		if (chunks.count)
			assert_int_equal(morph_collective_add_run(to, chunks.first, chunks.count),
					 0);
	}
}

static struct morph_collective *copy(const struct morph_collective *from,
				     const struct mutant *mutant)
{
	struct morph_collective *to = morph_collective_new(ctx);
	struct mutant none = { .mutation = MUTATIONS };

	assert_int_equal(morph_collective_begin(to, from->ranks), 0);
	for (uint32_t at = 0; at < from->chunks.count; at++)
		assert_int_equal(morph_collective_add_chunk(to, from->chunks.list[at].begins,
							    from->chunks.list[at].ends,
							    from->chunks.list[at].bytes),
				 at);
	for (uint32_t number = 0; number < from->rounds.count; number++) {
		uint32_t which = number;

		if (mutant->mutation == ROUNDS_SWAPPED)
			which = number == mutant->one	? mutant->other :
				number == mutant->other ? mutant->one :
							  number;
		assert_int_equal(morph_collective_add_round(to), number);
		for (uint32_t at = from->rounds.list[which].first;
		     at < from->rounds.list[which].first + from->rounds.list[which].count; at++) {
			copy_transfer(to, from, at, mutant);
			if (mutant->mutation == TWICE && mutant->transfer == at)
				copy_transfer(to, from, at, &none);
		}
	}
	return to;
}

static void mutate(struct mutant *mutant, const struct morph_collective *from, uint64_t *random)
{
	mutant->mutation = random_below(random, MUTATIONS);
	mutant->transfer = random_below(random, from->transfers.count);
	mutant->chunk = random_below(random, from->chunks.count);
	mutant->one = random_below(random, from->rounds.count);
	mutant->other = random_below(random, from->rounds.count);
}

/* A random algorithm for few ranks. */
static struct morph_collective *any(uint64_t *random)
{
	static const struct {
		uint32_t kind, algorithm;
		bool powers_of_two;
	} all[] = {
		{ MORPH_ALL_REDUCE, MORPH_RING, false },
		{ MORPH_REDUCE_SCATTER, MORPH_RING, false },
		{ MORPH_ALL_GATHER, MORPH_RING, false },
		{ MORPH_ALL_REDUCE, MORPH_HALVING, true },
		{ MORPH_REDUCE_SCATTER, MORPH_HALVING_CYCLIC, true },
		{ MORPH_ALL_REDUCE, MORPH_HALVING_CYCLIC, true },
		{ MORPH_ALL_REDUCE, MORPH_SWING, true },
		{ MORPH_ALL_REDUCE, MORPH_DOUBLING, true },
		{ MORPH_ALL_TO_ALL, MORPH_BRUCK, false },
		{ MORPH_ALL_GATHER, MORPH_BRUCK, false },
		{ MORPH_ALL_TO_ALL, MORPH_SHIFT, false },
		{ MORPH_ALL_TO_ALL, MORPH_PAIRWISE, false },
		{ MORPH_ALL_TO_ALL, MORPH_TERNARY, false },
		{ MORPH_ALL_REDUCE, MORPH_DIRECT, false },
		{ MORPH_BROADCAST, MORPH_BINOMIAL, false },
		{ MORPH_BROADCAST, MORPH_BINARY, false },
		{ MORPH_ALL_REDUCE, MORPH_STRAGGLAR, false },
	};
	uint32_t which = random_below(random, ARRAY_SIZE(all));
	MORPH_OPTS(morph_collective_opts, opts, .kind = all[which].kind,
		   .algorithm = all[which].algorithm, .bytes = 1000,
		   .ranks = all[which].powers_of_two ? 2U << random_below(random, 3) :
						       3 + random_below(random, 6));

	return build(&opts);
}

static void mutated_collectives_are_detected_or_harmless(void **state)
{
	uint32_t told[MUTATIONS] = { 0 }, harmless[MUTATIONS] = { 0 };
	uint64_t random = 1;

	(void)state;
	for (int at = 0; at < 2000; at++) {
		struct morph_collective *from = any(&random), *to;
		struct mutant mutant;
		int ret;

		prove(from);
		assert_true(counted_right(from));
		mutate(&mutant, from, &random);
		to = copy(from, &mutant);
		ret = morph_collective_run(to, NULL);
		if (!ret && !counted_right(to))
			fail_msg("mutation %u of mutant %d has a wrong result, but no error",
				 mutant.mutation, at);
		assert_true(!ret || ret == -EBADMSG);
		if (ret)
			told[mutant.mutation]++;
		else
			harmless[mutant.mutation]++;
		morph_collective_free(from);
		morph_collective_free(to);
	}
	for (uint32_t mutation = 0; mutation < MUTATIONS; mutation++) {
		print_message("mutation %u: %u reported, %u harmless\n", mutation, told[mutation],
			      harmless[mutation]);
		assert_true(told[mutation] > 50);
	}
	/* Every transfer is necessary, so dropping or doubling one always matters. */
	assert_int_equal(harmless[DROPPED], 0);
	assert_int_equal(harmless[TWICE], 0);
}

/* ----------------------------------------------------------------- by hand */

static void give(struct morph_collective *collective, uint32_t src, uint32_t dst, bool reduce,
		 uint32_t chunk)
{
	assert_true(morph_collective_add_transfer(collective, src, dst, reduce) >= 0);
	assert_int_equal(morph_collective_add_run(collective, chunk, 1), 0);
}

static struct morph_collective *three(uint32_t begins, uint32_t ends)
{
	struct morph_collective *collective = morph_collective_new(ctx);

	assert_int_equal(morph_collective_begin(collective, 3), 0);
	assert_int_equal(morph_collective_add_chunk(collective, 0, 0, 1), 0);
	assert_int_equal(morph_collective_add_chunk(collective, begins, ends, 10), 1);
	assert_int_equal(morph_collective_add_round(collective), 0);
	return collective;
}

static void errors_name_round_rank_and_chunk(void **state)
{
	struct morph_collective *collective;

	(void)state;
	collective = three(0, 2);
	give(collective, 0, 1, false, 1);
	give(collective, 1, 2, false, 1); /* what was there before the round */
	REFUSED(EBADMSG, morph_collective_run(collective, NULL),
		"round 0: rank 1 sends chunk 1, but has no part of it");
	morph_collective_free(collective);

	collective = three(MORPH_EACH_RANK, 2);
	give(collective, 0, 1, true, 1);
	assert_int_equal(morph_collective_add_round(collective), 1);
	give(collective, 1, 2, true, 1);
	prove(collective);
	give(collective, 0, 2, true, 1);
	REFUSED(EBADMSG, morph_collective_run(collective, NULL),
		"round 1: rank 2 sums chunk 1 with a part that it already contains");
	morph_collective_free(collective);

	collective = three(0, MORPH_EACH_RANK);
	give(collective, 0, 1, false, 1);
	give(collective, 0, 2, false, 1);
	prove(collective);
	give(collective, 0, 2, false, 1);
	REFUSED(EBADMSG, morph_collective_run(collective, NULL),
		"round 0: rank 2 gets chunk 1 twice in a round, and not as a sum");
	morph_collective_free(collective);

	collective = three(MORPH_EACH_RANK, 2);
	give(collective, 0, 2, false, 1);
	REFUSED(EBADMSG, morph_collective_run(collective, NULL),
		"round 0: rank 2 gets a copy of chunk 1, but the copy lacks parts that the rank has");
	morph_collective_free(collective);

	collective = three(MORPH_EACH_RANK, MORPH_EACH_RANK);
	give(collective, 1, 2, true, 1);
	REFUSED(EBADMSG, morph_collective_run(collective, NULL),
		"after 1 rounds rank 0 has 1 of 3 parts of chunk 1");
	morph_collective_free(collective);

	collective = three(0, 1);
	REFUSED(EBADMSG, morph_collective_run(collective, NULL),
		"rank 1 has 0 of 1 parts of chunk 1");
	morph_collective_free(collective);
}

static void to_sum_into_nothing_is_to_copy(void **state)
{
	struct morph_collective *collective = three(0, 1);
	struct morph_collective_fault fault;

	(void)state;
	give(collective, 0, 1, true, 1);
	prove(collective);
	assert_int_equal(morph_collective_add_round(collective), 1);
	give(collective, 0, 1, false, 1); /* it has that already */
	prove(collective);
	assert_int_equal(morph_collective_add_round(collective), 2);
	give(collective, 0, 1, true, 1);
	REFUSED(EBADMSG, morph_collective_run(collective, NULL), "round 2: rank 1 sums chunk 1");
	assert_int_equal(morph_collective_run(collective, &fault), -EBADMSG);
	assert_int_equal(fault.round, 2);
	assert_int_equal(fault.src, 0);
	assert_int_equal(fault.dst, 1);
	assert_int_equal(fault.chunk, 1);
	morph_collective_free(collective);
}

static void invalid_rounds_are_refused_with_the_reason(void **state)
{
	struct morph_collective *collective = morph_collective_new(ctx);
	struct morph_transfer transfer;

	(void)state;
	assert_int_equal(morph_collective_run(collective, NULL), 0);
	assert_int_equal(morph_collective_bytes(collective), 0);
	REFUSED(EINVAL, morph_collective_begin(collective, 0), "at least one rank");
	REFUSED(E2BIG, morph_collective_begin(collective, 4097), "at most 4096 ranks");
	assert_int_equal(morph_collective_begin(collective, 2), 0);
	REFUSED(ENOENT, morph_collective_add_chunk(collective, 2, 0, 1), "no rank 2");
	REFUSED(ENOENT, morph_collective_add_chunk(collective, 0, 3, 1), "no rank 3");
	REFUSED(E2BIG, morph_collective_add_chunk(collective, 0, 1, (1ULL << 50) + 1),
		"at most 1125899906842624 bytes");
	REFUSED(ENOENT, morph_collective_add_transfer(collective, 0, 1, false),
		"a transfer requires a round");
	assert_int_equal(morph_collective_add_round(collective), 0);
	REFUSED(ENOENT, morph_collective_add_run(collective, 0, 1), "chunks require a transfer");
	REFUSED(ENOENT, morph_collective_add_transfer(collective, 2, 1, false), "no rank 2");
	REFUSED(ENOENT, morph_collective_add_transfer(collective, 0, 2, false), "no rank 2");
	REFUSED(EINVAL, morph_collective_add_transfer(collective, 1, 1, false), "to itself");
	assert_int_equal(morph_collective_add_transfer(collective, 0, 1, false), 0);
	assert_int_equal(morph_collective_add_chunk(collective, 0, 1, 1ULL << 50), 0);
	REFUSED(EINVAL, morph_collective_add_run(collective, 0, 0), "at least one chunk");
	REFUSED(ENOENT, morph_collective_add_run(collective, 1, 1), "no 1 chunks from number 1");
	REFUSED(ENOENT, morph_collective_add_run(collective, 0, UINT32_MAX), "1 were added");
	assert_int_equal(morph_collective_transfers(collective, 1), 0);
	REFUSED(ENOENT, morph_collective_transfer(collective, 0, 1, &transfer),
		"round 0 has no transfer 1");
	REFUSED(ENOENT, morph_collective_transfer(collective, 1, 0, &transfer),
		"round 1 has no transfer 0");
	morph_collective_free(collective);
	morph_collective_free(NULL);
}

static void too_much_of_anything_is_refused(void **state)
{
	struct morph_collective *collective = three(0, 0);

	(void)state;
	give(collective, 0, 1, false, 0);
	collective->runs.count = 1U << 28;
	REFUSED(E2BIG, morph_collective_add_run(collective, 0, 1), "at most 268435456 runs");
	collective->transfers.count = 1U << 26;
	REFUSED(E2BIG, morph_collective_add_transfer(collective, 0, 1, false),
		"at most 67108864 transfers");
	collective->rounds.count = 1U << 16;
	REFUSED(E2BIG, morph_collective_add_round(collective), "at most 65536 rounds");
	collective->chunks.count = 1U << 24;
	REFUSED(E2BIG, morph_collective_add_chunk(collective, 0, 0, 1), "at most 16777216 chunks");
	morph_collective_free(collective);
}

static void byte_counts_saturate(void **state)
{
	struct morph_collective *collective = morph_collective_new(ctx);
	const uint32_t chunks = 1 << 14;
	struct morph_transfer all;

	(void)state;
	assert_int_equal(morph_collective_begin(collective, 2), 0);
	for (uint32_t at = 0; at < chunks; at++)
		assert_int_equal(morph_collective_add_chunk(collective, 0, 1, 1ULL << 50), at);
	assert_int_equal(morph_collective_add_round(collective), 0);
	assert_int_equal(morph_collective_add_transfer(collective, 0, 1, false), 0);
	assert_int_equal(morph_collective_add_run(collective, 0, chunks - 1), 0);
	assert_int_equal(morph_collective_transfer(collective, 0, 0, &all), 0);
	assert_true(all.bytes == (uint64_t)(chunks - 1) << 50);
	assert_true(morph_collective_bytes(collective) == (uint64_t)(chunks - 1) << 50);
	assert_int_equal(morph_collective_add_run(collective, chunks - 1, 1), 0);
	assert_int_equal(morph_collective_transfer(collective, 0, 0, &all), 0);
	assert_true(all.bytes == UINT64_MAX);
	assert_true(morph_collective_bytes(collective) == UINT64_MAX);
	prove(collective);
	morph_collective_free(collective);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(mutated_collectives_are_detected_or_harmless),
		TEST(errors_name_round_rank_and_chunk),
		TEST(to_sum_into_nothing_is_to_copy),
		TEST(invalid_rounds_are_refused_with_the_reason),
		TEST(too_much_of_anything_is_refused),
		TEST(byte_counts_saturate),
	};

	return cmocka_run_group_tests_name("collective_run", tests, NULL, NULL);
}

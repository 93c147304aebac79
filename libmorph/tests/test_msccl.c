// SPDX-License-Identifier: LGPL-2.1-or-later
/* MSCCL's XML: files of other programs, and files that the library wrote. */
#include <morph/formats.h>
#include <stdio.h>

#include "../internal/planner.h"
#include "../bench/random.h"
#include "faults.h"
#include "moving.h"
#include "scheduling.h"

static const char *directory;

static char *read_file(const char *name, size_t *length)
{
	char path[512];
	char *text = calloc(1, 1 << 20);
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_non_null(text);
	*length = fread(text, 1, 1 << 20, file);
	fclose(file);
	return text;
}

/* -------------------------------------------------------------- files of others */

static struct morph_collective *read_whole(const char *name, uint64_t bytes)
{
	struct morph_collective *collective = empty_collective();
	size_t length;
	char *text = read_file(name, &length);
	char why[256] = "";

	if (morph_msccl_read(collective, text, length, bytes, why, sizeof(why)))
		fail_msg("%s: %s", name, why);
	free(text);
	assert_done(collective);
	return collective;
}

/*
 * Fused steps of one threadblock, in place: the ring that this test builds by hand, chunk by chunk.
 */
static void a_ring_in_fused_steps_is_the_ring(void **state)
{
	struct morph_collective *read = read_whole("msccl-ring4.xml", 4096);
	struct morph_collective *built = ring(4, 1024);

	(void)state;
	assert_same_words(read, built);
	morph_collective_free(read);
	morph_collective_free(built);
}

/*
 * In the file, parts stay in scratch until they are summed. In the collective, each is summed when
 * it arrives.
 */
static void parts_in_scratch_are_summed_where_they_arrive(void **state)
{
	struct morph_collective *read = read_whole("msccl-allpairs4.xml", 4096);
	struct morph_transfer transfer;

	(void)state;
	assert_int_equal(morph_collective_chunks(read), 4);
	assert_int_equal(morph_collective_rounds(read), 2);
	for (uint32_t round = 0; round < 2; round++) {
		assert_int_equal(morph_collective_transfers(read, round), 12);
		for (uint32_t at = 0; at < 12; at++) {
			assert_int_equal(morph_collective_transfer(read, round, at, &transfer), 0);
			assert_int_equal(transfer.reduce, !round);
			assert_int_equal(transfer.bytes, 1024);
		}
	}
	morph_collective_free(read);
}

/*
 * A chunk that passes another GPU stays the same chunk. It uses two channels; the sends of a round
 * form one transfer.
 */
static void forwarded_chunks_keep_their_content(void **state)
{
	struct morph_collective *read = read_whole("msccl-twostep4.xml", 4000);
	struct morph_transfer transfer;

	(void)state;
	assert_int_equal(morph_collective_chunks(read), 16);
	assert_int_equal(morph_collective_rounds(read), 2);
	for (uint32_t round = 0; round < 2; round++) {
		assert_int_equal(morph_collective_transfers(read, round), 4);
		for (uint32_t at = 0; at < 4; at++) {
			assert_int_equal(morph_collective_transfer(read, round, at, &transfer), 0);
			assert_int_equal(transfer.bytes, 2000);
			assert_int_equal(transfer.src ^ transfer.dst, round ? 2 : 1);
		}
	}
	morph_collective_free(read);
}

/* ------------------------------------------------------------------- round trips */

/* Append a NUL. */
static char *write_text(const struct morph_collective *collective, size_t *length)
{
	char why[256] = "";
	ssize_t bytes = morph_msccl_write(collective, "some_name-1.0", NULL, 0, why, sizeof(why));
	char *text;

	if (bytes < 0)
		fail_msg("%s", why);
	text = calloc(1, (size_t)bytes + 1);
	assert_non_null(text);
	assert_int_equal(morph_msccl_write(collective, "some_name-1.0", text, (size_t)bytes - 1,
					   why, sizeof(why)),
			 -ENOSPC);
	assert_int_equal(morph_msccl_write(collective, "some_name-1.0", text, (size_t)bytes, why,
					   sizeof(why)),
			 bytes);
	*length = (size_t)bytes;
	return text;
}

/* Write and read a collective, with chunks of @unit bytes in the file. */
static struct morph_collective *trip(const struct morph_collective *collective, uint64_t unit,
				     const char *coll)
{
	struct morph_collective *back = empty_collective();
	char why[256] = "", wanted[64];
	size_t length;
	char *text = write_text(collective, &length), *shares;
	unsigned long per_loop;

	snprintf(wanted, sizeof(wanted), "coll=\"%s\"", coll);
	assert_non_null(strstr(text, wanted));
	shares = strstr(text, "nchunksperloop=\"");
	assert_non_null(shares);
	per_loop = strtoul(shares + strlen("nchunksperloop=\""), NULL, 10);
	if (morph_msccl_read(back, text, length, unit * per_loop, why, sizeof(why)))
		fail_msg("%s: %s", coll, why);
	free(text);
	assert_done(back);
	return back;
}

static void assert_trip(struct morph_collective *collective, uint64_t unit, const char *coll,
			bool rounds)
{
	struct morph_collective *back = trip(collective, unit, coll);

	assert_done(collective);
	assert_same_sent(collective, back, rounds);
	morph_collective_free(collective);
	morph_collective_free(back);
}

static void move(struct morph_collective *collective, uint32_t src, uint32_t dst, bool reduce,
		 uint32_t first, uint32_t count)
{
	assert_true(morph_collective_add_transfer(collective, src, dst, reduce) >= 0);
	assert_int_equal(morph_collective_add_run(collective, first, count), 0);
}

static void chunk(struct morph_collective *collective, uint32_t begins, uint32_t ends,
		  uint64_t bytes)
{
	assert_true(morph_collective_add_chunk(collective, begins, ends, bytes) >= 0);
}

static struct morph_collective *begin_with(uint32_t ranks)
{
	struct morph_collective *collective = empty_collective();

	assert_int_equal(morph_collective_begin(collective, ranks), 0);
	return collective;
}

static void next_round(struct morph_collective *collective)
{
	assert_true(morph_collective_add_round(collective) >= 0);
}

static void rings_come_back_as_they_were(void **state)
{
	(void)state;
	for (uint32_t ranks = 2; ranks <= 9; ranks++)
		assert_trip(ring(ranks, 3000), 3000, "allreduce", true);
}

/* In each round both ranks send the buffer into which they sum: whole buffers, and halves. */
static void exchanges_come_back_as_they_were(void **state)
{
	struct morph_collective *whole = begin_with(8), *halves = begin_with(8);

	(void)state;
	for (uint32_t at = 0; at < 8; at++) {
		chunk(whole, MORPH_EACH_RANK, MORPH_EACH_RANK, 100);
		chunk(halves, MORPH_EACH_RANK, at, 100);
	}
	for (uint32_t bit = 4; bit; bit /= 2) {
		next_round(whole);
		next_round(halves);
		for (uint32_t rank = 0; rank < 8; rank++) {
			uint32_t other = rank ^ bit;

			move(whole, rank, other, true, 0, 8);
			move(halves, rank, other, true, other & ~(bit - 1), bit);
		}
	}
	assert_trip(whole, 100, "allreduce", true);
	assert_trip(halves, 100, "reduce_scatter", true);
}

/* All sums at a rank in one round stay in that round. */
static void many_sums_in_a_round_stay_in_it(void **state)
{
	struct morph_collective *collective = begin_with(5);

	(void)state;
	for (uint32_t at = 0; at < 5; at++)
		chunk(collective, MORPH_EACH_RANK, MORPH_EACH_RANK, 8);
	next_round(collective);
	for (uint32_t rank = 0; rank < 5; rank++)
		for (uint32_t other = 0; other < 5; other++)
			if (other != rank)
				move(collective, rank, other, true, 0, 5);
	assert_trip(collective, 8, "allreduce", true);
}

static void gathers_come_back_as_they_were(void **state)
{
	struct morph_collective *gather = begin_with(6), *tree = begin_with(8);

	(void)state;
	for (uint32_t at = 0; at < 12; at++)
		chunk(gather, at / 2, MORPH_EACH_RANK, 50);
	for (uint32_t round = 0; round < 5; round++) {
		next_round(gather);
		for (uint32_t rank = 0; rank < 6; rank++)
			move(gather, rank, (rank + 1) % 6, false, 2 * ((rank + 6 - round) % 6), 2);
	}
	assert_trip(gather, 50, "allgather", true);
	chunk(tree, 3, MORPH_EACH_RANK, 64);
	for (uint32_t bit = 1; bit < 8; bit *= 2) {
		next_round(tree);
		for (uint32_t rank = 0; rank < bit; rank++)
			move(tree, rank ^ 3, rank ^ bit ^ 3, false, 0, 1);
	}
	assert_trip(tree, 64, "broadcast", true);
}

/* Bytes of each rank for each rank, itself included, by shifts and over one other rank. */
static void all_to_alls_come_back_as_they_were(void **state)
{
	struct morph_collective *shifts = begin_with(5), *relayed = begin_with(4);

	(void)state;
	for (uint32_t at = 0; at < 25; at++)
		chunk(shifts, at / 5, at % 5, 10);
	for (uint32_t shift = 1; shift < 5; shift++) {
		next_round(shifts);
		for (uint32_t rank = 0; rank < 5; rank++)
			move(shifts, rank, (rank + shift) % 5, false, 5 * rank + (rank + shift) % 5,
			     1);
	}
	assert_trip(shifts, 10, "alltoall", true);
	for (uint32_t at = 0; at < 16; at++)
		chunk(relayed, at / 4, at % 4, 10);
	for (uint32_t bit = 1; bit < 4; bit *= 2) {
		next_round(relayed);
		for (uint32_t rank = 0; rank < 4; rank++) {
			assert_true(morph_collective_add_transfer(relayed, rank, rank ^ bit,
								  false) >= 0);
			for (uint32_t at = 0; at < 16; at++) {
				/* Lower bits are already correct, higher bits are not. */
				uint32_t here = (at / 4 & ~(bit - 1)) | (at % 4 & (bit - 1));

				if (here == rank && (at % 4 ^ rank) & bit)
					assert_int_equal(morph_collective_add_run(relayed, at, 1),
							 0);
			}
		}
	}
	assert_trip(relayed, 10, "alltoall", true);
}

/* Several collectives of each kind and of several sizes, at the same time on the same pair. */
static void mixed_collectives_come_back_as_they_were(void **state)
{
	struct morph_collective *collective = begin_with(3);

	(void)state;
	chunk(collective, 0, 1, 30);
	chunk(collective, MORPH_EACH_RANK, MORPH_EACH_RANK, 20);
	chunk(collective, 1, MORPH_EACH_RANK, 50);
	chunk(collective, MORPH_EACH_RANK, 2, 10);
	next_round(collective);
	move(collective, 0, 1, false, 0, 1);
	move(collective, 0, 1, true, 1, 1);
	move(collective, 1, 2, false, 2, 1);
	move(collective, 1, 2, true, 3, 1);
	next_round(collective);
	move(collective, 1, 2, true, 1, 1);
	move(collective, 0, 2, true, 3, 1);
	move(collective, 2, 0, false, 2, 1);
	next_round(collective);
	move(collective, 2, 0, false, 1, 1);
	move(collective, 2, 1, false, 1, 1);
	assert_trip(collective, 10, "custom", true);
}

/* Idle ranks may act earlier. All transfers are the same, and all arrive. */
static void random_rounds_come_back(void **state)
{
	uint64_t seed = 5;

	(void)state;
	for (int trial = 0; trial < 40; trial++) {
		uint32_t ranks = 2 + random_below(&seed, 7);
		struct morph_collective *collective = begin_with(ranks);
		struct morph_collective *back;

		for (uint32_t round = 0; round < 6; round++) {
			next_round(collective);
			for (uint32_t at = 0; at < 4; at++) {
				uint32_t src = random_below(&seed, ranks);
				uint32_t dst = (src + 1 + random_below(&seed, ranks - 1)) % ranks;
				uint64_t bytes = 8 * (1 + random_below(&seed, 9));

				chunk(collective, src, dst, 8 * bytes);
				move(collective, src, dst, false, 4 * round + at, 1);
			}
		}
		/* A chunk that determines the unit. */
		chunk(collective, 0, 1, 8);
		move(collective, 0, 1, false, 24, 1);
		back = trip(collective, 8, "custom");
		assert_true(morph_collective_rounds(back) <= 6);
		assert_int_equal(morph_collective_bytes(back), morph_collective_bytes(collective));
		morph_collective_free(back);
		morph_collective_free(collective);
	}
}

static void schedules_without_a_file_form_are_refused(void **state)
{
	struct morph_collective *collective = begin_with(2);
	char why[256];

	(void)state;
	chunk(collective, 0, 1, 1);
	assert_int_equal(morph_msccl_write(collective, "a b", NULL, 0, why, sizeof(why)), -EINVAL);
	assert_string_equal(
		why, "a name must have 1 to 128 letters, digits, underscores, hyphens and dots");
	assert_int_equal(morph_msccl_write(collective, "", NULL, 0, NULL, 0), -EINVAL);
	chunk(collective, 0, 1, 1ULL << 40);
	assert_int_equal(morph_msccl_write(collective, "a", NULL, 0, why, sizeof(why)), -E2BIG);
	assert_string_equal(
		why,
		"the chunk sizes have 1 bytes as common divisor, and a chunk is more than 1048576 times that size");
	assert_int_equal(morph_collective_begin(collective, 2), 0);
	chunk(collective, 0, 1, 1);
	chunk(collective, 0, 1, 0);
	/* Chunks without transfers are in no file, and need not be in one. */
	assert_true(morph_msccl_write(collective, "a", NULL, 0, NULL, 0) > 0);
	assert_int_equal(morph_collective_add_round(collective), 0);
	assert_int_equal(morph_collective_add_transfer(collective, 0, 1, false), 0);
	assert_int_equal(morph_collective_add_run(collective, 1, 1), 0);
	assert_int_equal(morph_msccl_write(collective, "a", NULL, 0, why, sizeof(why)), -EINVAL);
	assert_string_equal(
		why,
		"round 0: rank 0 sends chunk 1 without bytes together with chunks that have bytes");
	morph_collective_free(collective);
	collective = empty_collective();
	assert_int_equal(morph_msccl_write(collective, "a", NULL, 0, why, sizeof(why)), -EINVAL);
	assert_string_equal(why, "the collective has no ranks");
	morph_collective_free(collective);
}

static void lack_of_memory_for_a_file_is_reported(void **state)
{
	struct morph_collective *built = ring(3, 10);
	char why[256] = "";
	unsigned int failed = 0;
	int ret = -ENOMEM;

	(void)state;
	for (unsigned int nth = 1; ret < 0; nth++) {
		fault_at("memory", nth, ENOMEM);
		ret = (int)morph_msccl_write(built, "a", NULL, 0, why, sizeof(why));
		failed += fault_struck();
		assert_true(ret > 0 || ret == -ENOMEM);
		if (ret < 0)
			assert_string_equal(why, "out of memory");
	}
	assert_true(failed > 8);
	morph_collective_free(built);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ring_in_fused_steps_is_the_ring),
		cmocka_unit_test(parts_in_scratch_are_summed_where_they_arrive),
		cmocka_unit_test(forwarded_chunks_keep_their_content),
		cmocka_unit_test(rings_come_back_as_they_were),
		cmocka_unit_test(exchanges_come_back_as_they_were),
		cmocka_unit_test(many_sums_in_a_round_stay_in_it),
		cmocka_unit_test(gathers_come_back_as_they_were),
		cmocka_unit_test(all_to_alls_come_back_as_they_were),
		cmocka_unit_test(mixed_collectives_come_back_as_they_were),
		cmocka_unit_test(random_rounds_come_back),
		cmocka_unit_test(schedules_without_a_file_form_are_refused),
		cmocka_unit_test(lack_of_memory_for_a_file_is_reported),
	};

	if (argc != 2)
		return 2;
	directory = argv[1];
	return cmocka_run_group_tests(tests, begin, end);
}

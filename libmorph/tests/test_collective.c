// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Algorithms: each collective is carried out, has the rounds and bytes of the formulas, and joins
 * the ranks of the papers. (test_collective_run.c tests the code that carries them out.)
 */
#include "../internal/planner.h"
#include "../bench/random.h"
#include "alone.h"

#define MOST_ROUNDS 2048
#define BYTES(ranks) ((uint64_t)(ranks)*999 + 1) /* shares are rounded up */
#define SHARE 1000

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

static uint32_t power(uint32_t base, uint32_t exponent)
{
	return exponent ? base * power(base, exponent - 1) : 1;
}

/* The smallest exponent whose power is at least the number. */
static uint32_t log_up(uint32_t base, uint32_t number)
{
	uint32_t exponent = 0;

	while (power(base, exponent) < number)
		exponent++;
	return exponent;
}

/* -------------------------------------------------- the same for all ranks */

/* Bytes that each rank sends and receives in each round. */
struct volumes {
	uint32_t count;
	uint64_t bytes[MOST_ROUNDS];
};

static void add(struct volumes *volumes, uint64_t shares)
{
	volumes->bytes[volumes->count++] = shares * SHARE;
}

/* The volumes of a half, as they are or mirrored. */
static void mirror(struct volumes *volumes, uint32_t kind)
{
	uint32_t half = volumes->count;

	if (kind == MORPH_ALL_GATHER)
		for (uint32_t at = 0; at < half / 2; at++) {
			uint64_t kept = volumes->bytes[at];

			volumes->bytes[at] = volumes->bytes[half - 1 - at];
			volumes->bytes[half - 1 - at] = kept;
		}
	if (kind == MORPH_ALL_REDUCE)
		while (half--)
			volumes->bytes[volumes->count++] = volumes->bytes[half];
}

static void check_round(const struct morph_collective *collective, uint32_t round, uint64_t bytes)
{
	uint32_t ranks = morph_collective_ranks(collective);
	uint64_t sent[ranks], received[ranks];
	struct morph_transfer transfer;

	memset(sent, 0, sizeof(sent));
	memset(received, 0, sizeof(received));
	for (uint32_t at = 0; at < morph_collective_transfers(collective, round); at++) {
		assert_int_equal(morph_collective_transfer(collective, round, at, &transfer), 0);
		sent[transfer.src] += transfer.bytes;
		received[transfer.dst] += transfer.bytes;
	}
	for (uint32_t rank = 0; rank < ranks; rank++)
		if (sent[rank] != bytes || received[rank] != bytes)
			fail_msg(
				"round %u of %u ranks: rank %u sends %llu bytes and gets %llu, not %llu",
				round, ranks, rank, (unsigned long long)sent[rank],
				(unsigned long long)received[rank], (unsigned long long)bytes);
}

static void check(const struct morph_collective_opts *opts, const struct volumes *volumes)
{
	struct morph_collective *collective = build(opts);
	uint64_t sum = 0;

	prove(collective);
	assert_int_equal(morph_collective_ranks(collective), opts->ranks);
	assert_int_equal(morph_collective_rounds(collective), volumes->count);
	for (uint32_t round = 0; round < volumes->count; round++) {
		check_round(collective, round, volumes->bytes[round]);
		sum += volumes->bytes[round];
	}
	assert_int_equal(morph_collective_bytes(collective), sum);
	morph_collective_free(collective);
}

static const uint32_t halves[] = { MORPH_REDUCE_SCATTER, MORPH_ALL_GATHER, MORPH_ALL_REDUCE };

static void rings_take_a_share_to_the_next_in_each_round(void **state)
{
	(void)state;
	for (uint32_t ranks = 1; ranks <= 33; ranks++)
		for (uint32_t at = 0; at < 3; at++) {
			MORPH_OPTS(morph_collective_opts, opts, .kind = halves[at],
				   .algorithm = MORPH_RING, .ranks = ranks, .bytes = BYTES(ranks));
			struct volumes volumes = { 0 };

			for (uint32_t round = 0; round + 1 < ranks; round++)
				add(&volumes, 1);
			mirror(&volumes, halves[at]);
			check(&opts, &volumes);
		}
}

static void rings_along_dimensions_take_ever_smaller_blocks(void **state)
{
	static const uint32_t extents[][3] = { { 4, 4, 4 }, { 2, 3, 5 }, { 5, 1, 3 }, { 1, 7, 2 },
					       { 6, 0, 0 }, { 3, 4, 0 }, { 0, 0, 9 }, { 1, 1, 1 } };

	(void)state;
	for (uint32_t which = 0; which < ARRAY_SIZE(extents); which++)
		for (uint32_t at = 0; at < 3; at++) {
			MORPH_OPTS(morph_collective_opts, opts, .kind = halves[at],
				   .algorithm = MORPH_RINGS, .ranks = 1);
			struct volumes volumes = { 0 };
			uint32_t block;

			for (uint32_t dim = 0; dim < 3; dim++) {
				opts.extent[dim] = extents[which][dim];
				opts.ranks *= extents[which][dim] ? extents[which][dim] : 1;
			}
			opts.bytes = BYTES(opts.ranks);
			block = opts.ranks;
			for (uint32_t dim = 0; dim < 3; dim++) {
				block /= opts.extent[dim] ? opts.extent[dim] : 1;
				for (uint32_t round = 1; round < opts.extent[dim]; round++)
					add(&volumes, block);
			}
			mirror(&volumes, halves[at]);
			check(&opts, &volumes);
		}
}

static void halves_are_halved_in_each_round(void **state)
{
	static const uint32_t algorithms[] = { MORPH_HALVING, MORPH_HALVING_CYCLIC, MORPH_SWING };

	(void)state;
	for (uint32_t ranks = 1; ranks <= 256; ranks *= 2)
		for (uint32_t at = 0; at < 9; at++) {
			MORPH_OPTS(morph_collective_opts, opts, .kind = halves[at % 3],
				   .algorithm = algorithms[at / 3], .ranks = ranks,
				   .bytes = BYTES(ranks));
			struct volumes volumes = { 0 };

			for (uint32_t left = ranks / 2; left; left /= 2)
				add(&volumes, left);
			mirror(&volumes, halves[at % 3]);
			check(&opts, &volumes);
		}
}

static void doubling_sends_whole_buffers(void **state)
{
	(void)state;
	for (uint32_t ranks = 1; ranks <= 256; ranks *= 2) {
		MORPH_OPTS(morph_collective_opts, opts, .kind = MORPH_ALL_REDUCE,
			   .algorithm = MORPH_DOUBLING, .ranks = ranks, .bytes = SHARE);
		struct volumes volumes = { 0 };

		for (uint32_t round = 0; round < log_up(2, ranks); round++)
			add(&volumes, 1);
		check(&opts, &volumes);
	}
}

static void shifts_send_each_share_once(void **state)
{
	(void)state;
	for (uint32_t ranks = 1; ranks <= 20; ranks++) {
		MORPH_OPTS(morph_collective_opts, opts, .kind = MORPH_ALL_TO_ALL,
			   .algorithm = MORPH_SHIFT, .ranks = ranks, .bytes = BYTES(ranks));
		struct volumes volumes = { 0 };

		for (uint32_t round = 1; round < ranks; round++)
			add(&volumes, 1);
		check(&opts, &volumes);
	}
}

/* The number of distances with a nonzero digit, in shares. */
static uint32_t with_digit(uint32_t ranks, uint32_t radix, uint32_t digit)
{
	uint32_t count = 0;

	for (uint32_t distance = 0; distance < ranks; distance++)
		count += distance / power(radix, digit) % radix != 0;
	return count;
}

static void bruck_sends_by_digits(void **state)
{
	(void)state;
	for (uint32_t ranks = 1; ranks <= 34; ranks++)
		for (uint32_t radix = 2; radix <= 7; radix++) {
			MORPH_OPTS(morph_collective_opts, opts, .kind = MORPH_ALL_TO_ALL,
				   .algorithm = MORPH_BRUCK, .ranks = ranks, .bytes = BYTES(ranks),
				   .radix = radix == 2 ? 0 : radix);
			struct volumes exchange = { 0 }, gather = { 0 };

			for (uint32_t digit = 0; digit < log_up(radix, ranks); digit++) {
				uint32_t have = power(radix, digit), most = have * radix;

				add(&exchange, with_digit(ranks, radix, digit));
				add(&gather, (most < ranks ? most : ranks) - have);
			}
			check(&opts, &exchange);
			opts.kind = MORPH_ALL_GATHER;
			check(&opts, &gather);
			/* Half of the buffer in each round, as in the table. */
			if (radix == 2 && !(ranks & (ranks - 1)))
				for (uint32_t round = 0; round < exchange.count; round++)
					assert_int_equal(exchange.bytes[round], ranks / 2 * SHARE);
		}
}

/* The balanced ternary digit is the ternary digit of the number plus 11 ... 1, minus 1. */
static uint32_t with_balanced_digit(uint32_t ranks, uint32_t rounds, uint32_t digit)
{
	uint32_t count = 0;

	for (uint32_t distance = 0; distance < ranks; distance++) {
		uint32_t ones = (power(3, rounds) - 1) / 2;
		uint32_t lifted = distance > ranks / 2 ? distance + ones - ranks : distance + ones;

		count += lifted / power(3, digit) % 3 != 1;
	}
	return count;
}

static void balanced_ternary_sends_to_both_sides(void **state)
{
	(void)state;
	for (uint32_t ranks = 1; ranks <= 40; ranks++) {
		MORPH_OPTS(morph_collective_opts, opts, .kind = MORPH_ALL_TO_ALL,
			   .algorithm = MORPH_TERNARY, .ranks = ranks, .bytes = BYTES(ranks));
		uint32_t rounds = log_up(3, ranks);
		struct volumes volumes = { 0 };

		for (uint32_t digit = 0; digit < rounds; digit++)
			add(&volumes, with_balanced_digit(ranks, rounds, digit));
		check(&opts, &volumes);
		/* A third to each side. */
		if (power(3, rounds) == ranks)
			for (uint32_t round = 0; round < rounds; round++)
				assert_int_equal(volumes.bytes[round], ranks / 3 * 2 * SHARE);
	}
}

static void directly_all_goes_at_once(void **state)
{
	(void)state;
	for (uint32_t ranks = 2; ranks <= 17; ranks++)
		for (uint32_t kind = MORPH_ALL_REDUCE; kind <= MORPH_ALL_TO_ALL; kind++) {
			MORPH_OPTS(morph_collective_opts, opts, .kind = kind,
				   .algorithm = MORPH_DIRECT, .ranks = ranks,
				   .bytes = BYTES(ranks));
			struct volumes volumes = { 0 };

			add(&volumes, ranks - 1);
			mirror(&volumes, kind);
			check(&opts, &volumes);
		}
}

/* --------------------------------------------------------- who meets whom */

static struct morph_transfer transfer_of(const struct morph_collective *collective, uint32_t round,
					 uint32_t number)
{
	struct morph_transfer transfer;

	assert_int_equal(morph_collective_transfer(collective, round, number, &transfer), 0);
	return transfer;
}

typedef uint32_t partner_of(uint32_t ranks, uint32_t rank, uint32_t step);

static uint32_t next(uint32_t ranks, uint32_t rank, uint32_t step)
{
	(void)step;
	return (rank + 1) % ranks;
}

static uint32_t flipped(uint32_t ranks, uint32_t rank, uint32_t step)
{
	(void)ranks;
	return rank ^ 1U << step;
}

static uint32_t shifted(uint32_t ranks, uint32_t rank, uint32_t step)
{
	return (rank + (1U << step)) % ranks;
}

static uint32_t swung(uint32_t ranks, uint32_t rank, uint32_t step)
{
	int32_t minus_two = -2, far;

	while (step--)
		minus_two *= -2;
	far = (1 - minus_two) / 3;
	return (uint32_t)((int32_t)(rank + 8 * ranks) + (rank % 2 ? -far : far)) % ranks;
}

static uint32_t further(uint32_t ranks, uint32_t rank, uint32_t step)
{
	return (rank + step + 1) % ranks;
}

static uint32_t differing(uint32_t ranks, uint32_t rank, uint32_t step)
{
	(void)ranks;
	return rank ^ (step + 1);
}

static void partners_are_those_of_the_papers(void **state)
{
	static const struct {
		uint32_t kind, algorithm;
		partner_of *partner;
	} cases[] = {
		{ MORPH_REDUCE_SCATTER, MORPH_RING, next },
		{ MORPH_REDUCE_SCATTER, MORPH_HALVING, flipped },
		{ MORPH_REDUCE_SCATTER, MORPH_HALVING_CYCLIC, shifted },
		{ MORPH_REDUCE_SCATTER, MORPH_SWING, swung },
		{ MORPH_ALL_REDUCE, MORPH_DOUBLING, flipped },
		{ MORPH_ALL_TO_ALL, MORPH_SHIFT, further },
		{ MORPH_ALL_TO_ALL, MORPH_PAIRWISE, differing },
		{ MORPH_ALL_TO_ALL, MORPH_BRUCK, shifted },
		{ MORPH_ALL_GATHER, MORPH_BRUCK, shifted },
	};

	(void)state;
	for (uint32_t at = 0; at < ARRAY_SIZE(cases); at++) {
		MORPH_OPTS(morph_collective_opts, opts, .kind = cases[at].kind,
			   .algorithm = cases[at].algorithm, .ranks = 64, .bytes = 64);
		struct morph_collective *collective = build(&opts);

		for (uint32_t round = 0; round < morph_collective_rounds(collective); round++) {
			assert_int_equal(morph_collective_transfers(collective, round), 64);
			for (uint32_t number = 0; number < 64; number++) {
				struct morph_transfer transfer =
					transfer_of(collective, round, number);

				assert_int_equal(transfer.dst,
						 cases[at].partner(64, transfer.src, round));
			}
		}
		morph_collective_free(collective);
	}
}

/*
 * In an all-reduce, the second half of the rounds mirrors the first: the same pairs, or the same
 * direction.
 */
static void configurations_are_mirrored(void **state)
{
	static const uint32_t algorithms[] = { MORPH_HALVING, MORPH_HALVING_CYCLIC, MORPH_SWING };

	(void)state;
	for (uint32_t at = 0; at < 3; at++) {
		MORPH_OPTS(morph_collective_opts, opts, .kind = MORPH_ALL_REDUCE,
			   .algorithm = algorithms[at], .ranks = 32, .bytes = 32);
		struct morph_collective *collective = build(&opts);

		for (uint32_t round = 0; round < 5; round++)
			for (uint32_t number = 0; number < 32; number++) {
				struct morph_transfer one = transfer_of(collective, round, number);
				struct morph_transfer other =
					transfer_of(collective, 9 - round, number);

				assert_int_equal(one.src, other.src);
				assert_int_equal(one.dst, other.dst);
				assert_int_equal(one.bytes, other.bytes);
				assert_true(one.reduce && !other.reduce);
			}
		morph_collective_free(collective);
	}
}

static void pairs_meet_once_and_none_is_in_two(void **state)
{
	(void)state;
	for (uint32_t ranks = 2; ranks <= 33; ranks++) {
		MORPH_OPTS(morph_collective_opts, opts, .kind = MORPH_ALL_TO_ALL,
			   .algorithm = MORPH_PAIRWISE, .ranks = ranks, .bytes = BYTES(ranks));
		struct morph_collective *collective = build(&opts);
		bool met[33][33] = { { false } };

		prove(collective);
		assert_int_equal(morph_collective_rounds(collective), ranks - !(ranks % 2));
		assert_int_equal(morph_collective_bytes(collective), (ranks - 1) * SHARE);
		for (uint32_t round = 0; round < morph_collective_rounds(collective); round++) {
			uint32_t partner[33];

			memset(partner, 0xff, sizeof(partner));
			assert_int_equal(morph_collective_transfers(collective, round),
					 ranks / 2 * 2);
			for (uint32_t at = 0; at < ranks / 2 * 2; at++) {
				struct morph_transfer pair = transfer_of(collective, round, at);

				assert_int_equal(partner[pair.src], UINT32_MAX);
				partner[pair.src] = pair.dst;
				assert_false(met[pair.src][pair.dst]);
				met[pair.src][pair.dst] = true;
				assert_int_equal(pair.bytes, SHARE);
			}
			for (uint32_t rank = 0; rank < ranks; rank++)
				if (partner[rank] != UINT32_MAX)
					assert_int_equal(partner[partner[rank]], rank);
		}
		morph_collective_free(collective);
	}
}

/* ------------------------------------------------------------------- trees */

static void check_tree(const struct morph_collective_opts *opts, uint32_t rounds, uint32_t segments)
{
	struct morph_collective *collective = build(opts);
	uint64_t received[70] = { 0 };

	prove(collective);
	assert_int_equal(morph_collective_rounds(collective), rounds);
	for (uint32_t round = 0; round < rounds; round++) {
		uint32_t children[70] = { 0 };

		for (uint32_t at = 0; at < morph_collective_transfers(collective, round); at++) {
			struct morph_transfer edge = transfer_of(collective, round, at);

			received[edge.dst] += edge.bytes;
			children[edge.src]++;
			if (opts->algorithm != MORPH_DIRECT)
				assert_true(children[edge.src] <=
					    (opts->algorithm == MORPH_BINARY ? 2 : 1));
		}
	}
	for (uint32_t rank = 0; rank < opts->ranks; rank++)
		assert_int_equal(received[rank], rank == opts->root ? 0 :
								      (opts->bytes + segments - 1) /
									      segments * segments);
	morph_collective_free(collective);
}

static void trees_reach_all_from_any_root(void **state)
{
	(void)state;
	for (uint32_t ranks = 1; ranks <= 70; ranks++) {
		MORPH_OPTS(morph_collective_opts, opts, .kind = MORPH_BROADCAST, .ranks = ranks,
			   .root = ranks * 5 / 7, .bytes = 12345);
		uint32_t levels = log_up(2, ranks + 1) - 1;

		opts.algorithm = MORPH_BINOMIAL;
		check_tree(&opts, log_up(2, ranks), 1);
		opts.algorithm = MORPH_DIRECT;
		check_tree(&opts, ranks > 1, 1);
		opts.algorithm = MORPH_BINARY;
		check_tree(&opts, levels, 1);
		for (opts.segments = 1; opts.segments <= 9; opts.segments += 4)
			check_tree(&opts, levels ? levels + opts.segments - 1 : 0, opts.segments);
	}
}

/* ------------------------------------------------------------------ matrix */

static void make_matrix(uint64_t *matrix, uint32_t ranks, uint64_t *random)
{
	for (uint32_t at = 0; at < ranks * ranks; at++)
		matrix[at] = random_below(random, 3) ? random_below(random, 1000) : 0;
}

/*
 * Direct transfers go between the ranks that the bytes belong to. With or without other ranks in
 * between, the remaining bytes of a rank are its own.
 */
static void check_matrix(const struct morph_collective *collective, const uint64_t *matrix,
			 bool directly)
{
	uint32_t ranks = morph_collective_ranks(collective);
	uint64_t sums[ranks * ranks];
	int64_t left[ranks];

	memset(sums, 0, sizeof(sums));
	memset(left, 0, sizeof(left));
	for (uint32_t round = 0; round < morph_collective_rounds(collective); round++) {
		assert_true(morph_collective_transfers(collective, round));
		for (uint32_t at = 0; at < morph_collective_transfers(collective, round); at++) {
			struct morph_transfer transfer = transfer_of(collective, round, at);

			assert_true(transfer.bytes);
			sums[transfer.src * ranks + transfer.dst] += transfer.bytes;
			left[transfer.src] -= (int64_t)transfer.bytes;
			left[transfer.dst] += (int64_t)transfer.bytes;
		}
	}
	for (uint32_t at = 0; at < ranks * ranks; at++) {
		uint32_t src = at / ranks, dst = at % ranks;

		if (directly && src != dst)
			assert_int_equal(sums[at], matrix[at]);
		left[src] += (int64_t)matrix[at];
		left[dst] -= (int64_t)matrix[at];
	}
	for (uint32_t rank = 0; rank < ranks; rank++)
		assert_int_equal(left[rank], 0);
}

static void a_matrix_has_the_bytes_of_each_pair(void **state)
{
	static const uint32_t algorithms[] = { MORPH_SHIFT, MORPH_PAIRWISE, MORPH_DIRECT,
					       MORPH_BRUCK, MORPH_TERNARY };
	uint64_t random = 1, matrix[17 * 17];

	(void)state;
	for (uint32_t ranks = 1; ranks <= 17; ranks++)
		for (uint32_t at = 0; at < ARRAY_SIZE(algorithms); at++) {
			MORPH_OPTS(morph_collective_opts, opts, .kind = MORPH_ALL_TO_ALL,
				   .algorithm = algorithms[at], .ranks = ranks, .matrix = matrix,
				   .radix = 3);
			struct morph_collective *collective;

			make_matrix(matrix, ranks, &random);
			collective = build(&opts);
			prove(collective);
			check_matrix(collective, matrix, at < 3);
			morph_collective_free(collective);
		}
}

static void rounds_without_sends_are_omitted(void **state)
{
	const uint64_t matrix[16] = { [0 * 4 + 2] = 5, [3 * 4 + 3] = 9 };
	MORPH_OPTS(morph_collective_opts, opts, .kind = MORPH_ALL_TO_ALL, .algorithm = MORPH_SHIFT,
		   .ranks = 4, .matrix = matrix);
	struct morph_collective *collective = build(&opts);
	struct morph_transfer only = transfer_of(collective, 0, 0);

	(void)state;
	prove(collective);
	assert_int_equal(morph_collective_rounds(collective), 1);
	assert_int_equal(morph_collective_transfers(collective, 0), 1);
	assert_true(only.src == 0 && only.dst == 2 && only.bytes == 5);
	assert_int_equal(morph_collective_rounds_before(collective, 2), 0);
	assert_int_equal(morph_collective_rounds_before(collective, 1), 1);
	morph_collective_free(collective);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(rings_take_a_share_to_the_next_in_each_round),
		TEST(rings_along_dimensions_take_ever_smaller_blocks),
		TEST(halves_are_halved_in_each_round),
		TEST(doubling_sends_whole_buffers),
		TEST(shifts_send_each_share_once),
		TEST(bruck_sends_by_digits),
		TEST(balanced_ternary_sends_to_both_sides),
		TEST(directly_all_goes_at_once),
		TEST(partners_are_those_of_the_papers),
		TEST(configurations_are_mirrored),
		TEST(pairs_meet_once_and_none_is_in_two),
		TEST(trees_reach_all_from_any_root),
		TEST(a_matrix_has_the_bytes_of_each_pair),
		TEST(rounds_without_sends_are_omitted),
	};

	return cmocka_run_group_tests_name("collective", tests, NULL, NULL);
}

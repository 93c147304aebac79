// SPDX-License-Identifier: LGPL-2.1-or-later
/* Collectives that the library refuses, with the reasons. */
#include "../internal/planner.h"
#include "alone.h"

#define REFUSED(errno_wanted, call, words)                                                 \
	do {                                                                               \
		assert_int_equal(call, -(errno_wanted));                                   \
		if (!strstr(morph_error_text(ctx), words))                                 \
			fail_msg("\"%s\" is not in \"%s\"", words, morph_error_text(ctx)); \
	} while (0)

static void impossible_collectives_are_refused_with_the_reason(void **state)
{
	static const uint64_t one = 1;
	static const struct {
		struct morph_collective_opts opts;
		const char *words;
	} cases[] = {
		{ { .kind = 0, .algorithm = MORPH_RING, .ranks = 4 },
		  "unknown kind of collective 0" },
		{ { .kind = 6, .algorithm = MORPH_RING, .ranks = 4 },
		  "unknown kind of collective 6" },
		{ { .kind = 1, .algorithm = 0, .ranks = 4 }, "unknown algorithm 0" },
		{ { .kind = 1, .algorithm = 15, .ranks = 4 }, "unknown algorithm 15" },
		{ { .kind = MORPH_ALL_TO_ALL, .algorithm = MORPH_RING, .ranks = 4 },
		  "a ring does not support an all-to-all" },
		{ { .kind = MORPH_BROADCAST, .algorithm = MORPH_RINGS, .ranks = 4 },
		  "rings does not support a broadcast" },
		{ { .kind = MORPH_REDUCE_SCATTER, .algorithm = MORPH_DOUBLING, .ranks = 4 },
		  "doubling does not support a reduce-scatter" },
		{ { .kind = MORPH_ALL_GATHER, .algorithm = MORPH_SHIFT, .ranks = 4 },
		  "shifting does not support an all-gather" },
		{ { .kind = MORPH_ALL_REDUCE, .algorithm = MORPH_BRUCK, .ranks = 4 },
		  "Bruck's algorithm does not support an all-reduce" },
		{ { .kind = MORPH_ALL_REDUCE, .algorithm = MORPH_RING, .ranks = 0 },
		  "at least one rank" },
		{ { .kind = MORPH_ALL_REDUCE, .algorithm = MORPH_HALVING, .ranks = 12 },
		  "halving requires a power of two of ranks, not 12" },
		{ { .kind = MORPH_ALL_REDUCE, .algorithm = MORPH_HALVING_CYCLIC, .ranks = 3 },
		  "cyclic halving requires a power of two" },
		{ { .kind = MORPH_ALL_REDUCE, .algorithm = MORPH_SWING, .ranks = 6 },
		  "Swing requires a power of two of ranks, not 6" },
		{ { .kind = MORPH_ALL_REDUCE, .algorithm = MORPH_DOUBLING, .ranks = 7 },
		  "doubling requires a power of two" },
		{ { .kind = MORPH_BROADCAST, .algorithm = MORPH_BINARY, .ranks = 7, .root = 7 },
		  "one of 7 ranks, not rank 7" },
		{ { .kind = MORPH_ALL_TO_ALL, .algorithm = MORPH_BRUCK, .ranks = 7, .radix = 1 },
		  "the radix must be 2 or more" },
		{ { .kind = MORPH_ALL_REDUCE,
		    .algorithm = MORPH_RINGS,
		    .ranks = 12,
		    .extent = { 2, 3 } },
		  "extents of 2, 3 and 0 do not make 12 ranks" },
		{ { .kind = MORPH_ALL_REDUCE,
		    .algorithm = MORPH_RINGS,
		    .ranks = 12,
		    .extent = { UINT32_MAX, UINT32_MAX, UINT32_MAX } },
		  "do not make 12 ranks" },
		{ { .kind = MORPH_ALL_REDUCE, .algorithm = MORPH_RINGS, .ranks = 13 },
		  "no torus of two dimensions has 13 ranks" },
		{ { .kind = MORPH_ALL_REDUCE, .algorithm = MORPH_RING, .ranks = 1, .matrix = &one },
		  "a matrix requires an all-to-all, not an all-reduce" },
		{ { .kind = MORPH_ALL_REDUCE, .algorithm = MORPH_STRAGGLAR, .ranks = 1 },
		  "requires 2 to 256 ranks, or a power of two, not 1" },
		{ { .kind = MORPH_ALL_REDUCE, .algorithm = MORPH_STRAGGLAR, .ranks = 257 },
		  "not 257" },
	};
	struct morph_collective *collective = morph_collective_new(ctx);

	(void)state;
	for (uint32_t at = 0; at < ARRAY_SIZE(cases); at++) {
		struct morph_collective_opts opts = cases[at].opts;

		opts.sz = sizeof(opts);
		REFUSED(EINVAL, morph_collective_build(collective, &opts), cases[at].words);
		assert_int_equal(morph_collective_rounds(collective), 0);
		assert_int_equal(morph_collective_chunks(collective), 0);
	}
	morph_collective_free(collective);
}

static void oversized_collectives_are_refused(void **state)
{
	MORPH_OPTS(morph_collective_opts, opts, .kind = MORPH_ALL_REDUCE, .algorithm = MORPH_RING,
		   .ranks = 4097);
	struct {
		struct morph_collective_opts opts;
		uint64_t more;
	} large = { .opts = { .sz = sizeof(large) }, .more = 1 };
	struct morph_collective *collective = morph_collective_new(ctx);

	(void)state;
	REFUSED(E2BIG, morph_collective_build(collective, &opts), "at most 4096 ranks");
	opts.ranks = 2;
	opts.bytes = (1ULL << 51) + 1;
	REFUSED(E2BIG, morph_collective_build(collective, &opts), "at most 1125899906842624 bytes");
	opts.bytes = 1ULL << 51;
	assert_int_equal(morph_collective_build(collective, &opts), 0);
	opts.kind = MORPH_BROADCAST;
	opts.algorithm = MORPH_BINARY;
	opts.segments = (1 << 16) + 1;
	REFUSED(E2BIG, morph_collective_build(collective, &opts), "at most 65536 rounds");
	assert_int_equal(morph_collective_rounds(collective), 0);
	REFUSED(E2BIG, morph_collective_build(collective, &large.opts), "morph_collective_opts");
	opts.sz = 1;
	REFUSED(EINVAL, morph_collective_build(collective, &opts), "morph_collective_opts.sz is 1");
	REFUSED(EINVAL, morph_collective_build(collective, NULL), "unknown kind of collective 0");
	morph_collective_free(collective);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(impossible_collectives_are_refused_with_the_reason),
		TEST(oversized_collectives_are_refused),
	};

	return cmocka_run_group_tests_name("collective_refused", tests, NULL, NULL);
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Dispatch and combine: which ranks take part, which rank loads the plan, and the way back as the
 * transpose of the way there.
 */
#include "../internal/planner.h"
#include "../bench/random.h"
#include "scheduling.h"

#define RANKS 8

/* Unequal parts; random ranks have nothing. */
static void draw(uint64_t *seed, uint64_t matrix[RANKS * RANKS])
{
	uint32_t idle = random_below(seed, 1 << RANKS);

	for (uint32_t src = 0; src < RANKS; src++)
		for (uint32_t dst = 0; dst < RANKS; dst++)
			matrix[src * RANKS + dst] = idle >> src & 1 || idle >> dst & 1 ||
								    random_below(seed, 4) == 0 ?
							    0 :
							    1 + random_below(seed, 1 << 20);
}

static struct morph_collective *dispatch_of(const uint64_t *matrix)
{
	MORPH_OPTS(morph_collective_opts, opts, .kind = MORPH_ALL_TO_ALL, .algorithm = MORPH_DIRECT,
		   .ranks = RANKS, .matrix = matrix);
	struct morph_collective *collective = morph_collective_new(ctx);

	assert_non_null(collective);
	assert_int_equal(morph_collective_build(collective, &opts), 0);
	return collective;
}

static uint32_t loader_of(const uint64_t *matrix, uint32_t ranks)
{
	uint32_t loader;

	morph_matrix_roles(matrix, ranks, NULL, &loader);
	return loader;
}

static void participants_are_listed(void **state)
{
	const uint64_t matrix[16] = { 9, 5, 0, 0, /* has something for itself besides */
				      0, 0, 0, 0, /* receives */
				      3, 0, 7, 0, /* sends to the first */
				      0, 0, 0, 8 }; /* none but itself */
	const uint64_t nothing[4] = { 1, 0, 0, 1 };
	uint64_t even[9] = { 0, 4, 0, 0, 0, 4, 4, 0, 0 };
	const uint64_t back[9] = { 0, 0, 4, 4, 0, 0, 0, 4, 0 };
	uint32_t roles[4];

	(void)state;
	assert_int_equal(morph_matrix_roles(matrix, 4, roles, NULL), 3);
	assert_int_equal(roles[0], MORPH_MATRIX_SENDS | MORPH_MATRIX_RECEIVES);
	assert_int_equal(roles[1], MORPH_MATRIX_RECEIVES);
	assert_int_equal(roles[2], MORPH_MATRIX_SENDS);
	assert_int_equal(roles[3], 0);
	assert_int_equal(morph_matrix_roles(matrix, 4, NULL, NULL), 3);
	assert_int_equal(loader_of(matrix, 4), 2);
	assert_int_equal(loader_of(even, 3), 0);
	assert_int_equal(loader_of(nothing, 2), UINT32_MAX);
	assert_int_equal(morph_matrix_roles(nothing, 2, roles, NULL), 0);
	morph_matrix_transpose(even, 3);
	assert_memory_equal(even, back, sizeof(back));
	even[1] = even[2] = UINT64_MAX;
	/* So large that the sum saturates, at each rank. */
	assert_int_equal(loader_of(even, 3), 0);
}

static void the_return_restores_the_circuits(void **state)
{
	static const uint32_t algorithms[] = { MORPH_BRUCK, MORPH_SHIFT, MORPH_PAIRWISE,
					       MORPH_TERNARY, MORPH_DIRECT };
	struct morph_collective *there = morph_collective_new(ctx);
	struct morph_collective *back = morph_collective_new(ctx);
	struct morph_transfer first, last;

	(void)state;
	for (uint32_t at = 0; at < sizeof(algorithms) / sizeof(algorithms[0]); at++) {
		MORPH_OPTS(morph_collective_opts, opts, .kind = MORPH_ALL_TO_ALL,
			   .algorithm = algorithms[at], .ranks = 7, .bytes = 7000);
		uint32_t rounds;

		assert_int_equal(morph_collective_build(there, &opts), 0);
		assert_int_equal(morph_collective_turn(back, there), 0);
		assert_int_equal(morph_collective_run(back, NULL), 0);
		rounds = morph_collective_rounds(there);
		assert_int_equal(morph_collective_rounds(back), rounds);
		assert_int_equal(morph_collective_transfer(there, 0, 1, &first), 0);
		assert_int_equal(morph_collective_transfer(back, rounds - 1, 1, &last), 0);
		assert_int_equal(first.src, last.dst);
		assert_int_equal(first.dst, last.src);
		assert_int_equal(first.bytes, last.bytes);
	}
	morph_collective_free(there);
	there = ring(4, 100);
	assert_int_equal(morph_collective_turn(back, there), -EINVAL);
	assert_string_equal(morph_error_text(ctx),
			    "the collective cannot be reversed: every rank receives chunk 0");
	assert_int_equal(morph_collective_rounds(back), 0);
	assert_int_equal(morph_collective_turn(back, back), -EINVAL);
	morph_collective_free(there);
	morph_collective_free(back);
}

/* Circuits by their ends, with the number of their holds. */
static void count_circuits(const struct morph_schedule *schedule, bool turned,
			   uint32_t counts[RANKS * RANKS])
{
	memset(counts, 0, RANKS * RANKS * sizeof(*counts));
	for (uint32_t at = 0; at < morph_schedule_holds(schedule); at++) {
		struct morph_hold hold;
		uint32_t src, dst;

		assert_int_equal(morph_schedule_hold(schedule, at, &hold), 0);
		for (uint32_t number = 0; number < hold.circuits; number++) {
			morph_schedule_circuit(schedule, at, number, &src, &dst);
			counts[turned ? dst * RANKS + src : src * RANKS + dst]++;
		}
	}
}

static void combine_is_the_transpose_of_dispatch(void **state)
{
	struct morph_schedule *there = morph_schedule_new(ctx), *back = morph_schedule_new(ctx);
	struct morph_collective *rounds = morph_collective_new(ctx);
	uint64_t seed = 1, matrix[RANKS * RANKS];

	(void)state;
	for (uint32_t trial = 0; trial < 120; trial++) {
		uint32_t scope = trial % 3, roles[RANKS];
		MORPH_OPTS(morph_schedule_opts, opts, .policy = MORPH_POLICY_MATCHINGS,
			   .planes = 1 + trial % 4);
		uint32_t counts[RANKS * RANKS], turned[RANKS * RANKS];
		struct morph_delay *delay = some_delay(scope);
		struct morph_collective *dispatch;
		const uint64_t none = 0;

		if (trial % 2)
			assert_int_equal(morph_delay_set_part(delay, MORPH_DELAY_PORT, &none, 1),
					 0);
		draw(&seed, matrix);
		morph_matrix_roles(matrix, RANKS, roles, NULL);
		dispatch = dispatch_of(matrix);
		assert_int_equal(morph_schedule_plan(there, dispatch, delay, &opts), 0);
		assert_int_equal(morph_schedule_combine(back, rounds, dispatch, delay, &opts), 0);
		assert_valid(rounds, delay, opts.planes, NULL, back);
		/* In reverse, ports that take time are programmed in another order. */
		if (scope == MORPH_DELAY_PORT_SCOPE && trial % 2)
			assert_true(morph_schedule_ns(back, NULL) <=
				    morph_schedule_ns(there, NULL));
		count_circuits(there, false, counts);
		count_circuits(back, true, turned);
		assert_memory_equal(counts, turned, sizeof(counts));
		/* No rank waits for a rank without bytes. */
		for (uint32_t pair = 0; pair < RANKS * RANKS; pair++)
			assert_true(!counts[pair] || (roles[pair / RANKS] & MORPH_MATRIX_SENDS &&
						      roles[pair % RANKS] & MORPH_MATRIX_RECEIVES));
		/* With the circuits that dispatch leaves lit. */
		opts.after = there;
		assert_int_equal(morph_schedule_combine(back, rounds, dispatch, delay, &opts), 0);
		assert_valid(rounds, delay, opts.planes, there, back);
		morph_collective_free(dispatch);
		morph_delay_free(delay);
	}
	morph_schedule_free(there);
	morph_schedule_free(back);
	morph_collective_free(rounds);
}

/* No rank waits for a rank without bytes, in any barrier. */
static void barriers_include_participants_only(void **state)
{
	static const uint32_t ranks[] = { 2, 8 };
	static const uint64_t wait_ns[] = { 1000, 100000 };
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct morph_delay *delay = some_delay(MORPH_DELAY_PORT_SCOPE);
	uint64_t two_ns = 0;

	(void)state;
	assert_int_equal(morph_delay_set_barrier(delay, ranks, wait_ns, 2), 0);
	for (uint32_t at = 0; at < 2; at++) {
		uint64_t matrix[8 * 8] = { 0 };
		MORPH_OPTS(morph_collective_opts, opts, .kind = MORPH_ALL_TO_ALL,
			   .algorithm = MORPH_DIRECT, .ranks = ranks[at], .matrix = matrix);
		struct morph_collective *rounds = morph_collective_new(ctx);

		matrix[1] = matrix[ranks[at]] = 1 << 20;
		assert_int_equal(morph_collective_build(rounds, &opts), 0);
		assert_int_equal(morph_collective_busy(rounds), 2);
		assert_int_equal(morph_schedule_plan(schedule, rounds, delay, NULL), 0);
		assert_valid(rounds, delay, 1, NULL, schedule);
		two_ns = at ? two_ns : morph_schedule_ns(schedule, NULL);
		assert_int_equal(morph_schedule_ns(schedule, NULL), two_ns);
		morph_collective_free(rounds);
	}
	morph_delay_free(delay);
	morph_schedule_free(schedule);
}

/* The budget ends in the middle of one method or another. */
static void however_short_the_search_there_are_matchings(void **state)
{
	static uint64_t matrix[16 * 16];
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct morph_delay *delay = some_delay(MORPH_DELAY_PORT_SCOPE);
	uint64_t seed = 5;

	(void)state;
	for (uint32_t trial = 0; trial < 8; trial++) {
		MORPH_OPTS(morph_collective_opts, opts, .kind = MORPH_ALL_TO_ALL,
			   .algorithm = MORPH_DIRECT, .ranks = 16, .matrix = matrix);
		MORPH_OPTS(morph_schedule_opts, how, .policy = MORPH_POLICY_MATCHINGS, .planes = 2,
			   .budget = 1);
		struct morph_collective *rounds = morph_collective_new(ctx);

		for (uint32_t pair = 0; pair < 16 * 16; pair++)
			matrix[pair] = random_below(&seed, 1 << 20);
		assert_int_equal(morph_collective_build(rounds, &opts), 0);
		assert_int_equal(morph_schedule_plan(schedule, rounds, delay, &how), 0);
		assert_valid(rounds, delay, 2, NULL, schedule);
		morph_collective_free(rounds);
	}
	morph_delay_free(delay);
	morph_schedule_free(schedule);
}

static void expensive_circuits_stay_for_the_return(void **state)
{
	struct morph_schedule *schedule = morph_schedule_new(ctx), *once = morph_schedule_new(ctx);
	struct morph_collective *rounds = morph_collective_new(ctx);
	struct morph_delay *delay = some_delay(MORPH_DELAY_PORT_SCOPE);
	uint64_t seed = 3, matrix[RANKS * RANKS];
	MORPH_OPTS(morph_schedule_opts, opts, .policy = MORPH_POLICY_SEGMENTS);
	const uint64_t settle_ns = 10000000;
	struct morph_collective *dispatch;

	(void)state;
	assert_int_equal(morph_delay_set_part(delay, MORPH_DELAY_SETTLE, &settle_ns, 1), 0);
	draw(&seed, matrix);
	dispatch = dispatch_of(matrix);
	assert_int_equal(morph_schedule_combine(schedule, rounds, dispatch, delay, NULL), 0);
	assert_valid(rounds, delay, 1, NULL, schedule);
	assert_int_equal(morph_schedule_plan(once, rounds, delay, &opts), 0);
	assert_int_equal(morph_schedule_verdict(once), MORPH_FEASIBLE);
	assert_true(morph_schedule_ns(schedule, NULL) <= morph_schedule_ns(once, NULL));
	morph_collective_free(dispatch);
	morph_delay_free(delay);
	morph_collective_free(rounds);
	morph_schedule_free(schedule);
	morph_schedule_free(once);
}

static void rounds_go_back_too(void **state)
{
	MORPH_OPTS(morph_collective_opts, opts, .kind = MORPH_ALL_TO_ALL, .algorithm = MORPH_BRUCK,
		   .ranks = 6, .bytes = 60000);
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct morph_collective *there = morph_collective_new(ctx);
	struct morph_collective *back = morph_collective_new(ctx);
	struct morph_delay *delay = some_delay(MORPH_DELAY_PORT_SCOPE);
	MORPH_OPTS(morph_schedule_opts, how, .policy = MORPH_POLICY_SEGMENTS);

	(void)state;
	assert_int_equal(morph_collective_build(there, &opts), 0);
	assert_int_equal(morph_schedule_combine(schedule, back, there, delay, NULL), 0);
	assert_valid(back, delay, 1, NULL, schedule);
	assert_int_equal(morph_schedule_combine(schedule, back, there, delay, &how), -EINVAL);
	assert_string_equal(morph_error_text(ctx),
			    "reversed plans require policy matchings, not 3");
	morph_delay_free(delay);
	morph_collective_free(there);
	morph_collective_free(back);
	morph_schedule_free(schedule);
}

/* Each rank has its own context, and starts from the matrix alone. */
static void every_rank_derives_the_same_plan(void **state)
{
	uint64_t seed = 7, matrix[RANKS * RANKS];
	struct morph_delay *delay = some_delay(MORPH_DELAY_PORT_SCOPE);
	struct written first = { 0 };

	(void)state;
	draw(&seed, matrix);
	for (uint32_t rank = 0; rank < RANKS; rank++) {
		struct morph_ctx *kept = ctx, *own = fake_ctx(&fake_new()->transport);
		struct morph_collective *dispatch, *rounds;
		struct morph_schedule *schedule;
		struct written written;

		ctx = own;
		dispatch = dispatch_of(matrix);
		rounds = morph_collective_new(ctx);
		schedule = morph_schedule_new(ctx);
		assert_int_equal(morph_schedule_combine(schedule, rounds, dispatch, delay, NULL),
				 0);
		written = write_schedule(rounds, delay, 1, NULL, schedule);
		if (!rank) {
			first = written;
		} else {
			assert_int_equal(written.schedule_bytes, first.schedule_bytes);
			assert_memory_equal(written.schedule, first.schedule, first.schedule_bytes);
			forget_written(&written);
		}
		morph_schedule_free(schedule);
		morph_collective_free(rounds);
		morph_collective_free(dispatch);
		morph_ctx_free(own);
		ctx = kept;
	}
	forget_written(&first);
	morph_delay_free(delay);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(participants_are_listed),
		cmocka_unit_test(the_return_restores_the_circuits),
		cmocka_unit_test(combine_is_the_transpose_of_dispatch),
		cmocka_unit_test(barriers_include_participants_only),
		cmocka_unit_test(however_short_the_search_there_are_matchings),
		cmocka_unit_test(expensive_circuits_stay_for_the_return),
		cmocka_unit_test(rounds_go_back_too),
		cmocka_unit_test(every_rank_derives_the_same_plan),
	};

	return cmocka_run_group_tests_name("turn", tests, begin, end);
}

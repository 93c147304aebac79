// SPDX-License-Identifier: LGPL-2.1-or-later
/* Times of rounds and changes, compared with values computed by hand. */
#include "../internal/planner.h"
#include "alone.h"

#define REFUSED(call, words)                                           \
	do {                                                           \
		assert_int_equal(call, -EINVAL);                       \
		assert_non_null(strstr(morph_error_text(ctx), words)); \
	} while (0)

#define MOST (1ULL << 40)

static void set_part(struct morph_delay *delay, uint32_t part, uint64_t ns)
{
	assert_int_equal(morph_delay_set_part(delay, part, &ns, 1), 0);
}

static void at_first_all_is_nothing_but_the_bandwidth_is_missing(void **state)
{
	struct morph_delay *delay = morph_delay_new(ctx);

	(void)state;
	assert_int_equal(morph_delay_change_ns(delay, 64, 64), 0);
	assert_true(morph_delay_round_ns(delay, 0, 0) == UINT64_MAX);
	morph_delay_free(delay);
	morph_delay_free(NULL);
}

/* Facts: 1 MiB / 64 at 800 Gb/s are 163.84 ns, and each round and hop 500 ns. */
static void a_round_is_its_parts_rounded_up_once(void **state)
{
	struct morph_delay *delay = morph_delay_new(ctx);

	(void)state;
	assert_int_equal(morph_delay_set_link(delay, 500, 500, 800000), 0);
	assert_int_equal(morph_delay_round_ns(delay, (1 << 20) / 64, 1), 1164);
	assert_int_equal(morph_delay_round_ns(delay, 3 * (1 << 20) / 64, 3), 500 + 1500 + 492);
	assert_int_equal(morph_delay_round_ns(delay, 0, 0), 500);
	assert_int_equal(morph_delay_set_link(delay, 0, 0, 8000), 0);
	assert_int_equal(morph_delay_round_ns(delay, 1000, 7), 1000);
	/* Round up picoseconds before nanoseconds: a byte at 3 Mb/s. */
	assert_int_equal(morph_delay_set_link(delay, 0, 0, 3), 0);
	assert_int_equal(morph_delay_round_ns(delay, 1, 0), 2667);
	assert_int_equal(morph_delay_round_ns(delay, 3, 0), 8000);
	morph_delay_free(delay);
}

static void times_saturate(void **state)
{
	struct morph_delay *delay = morph_delay_new(ctx);

	(void)state;
	/* 8000 ns a byte at a megabit per second. */
	assert_int_equal(morph_delay_set_link(delay, 0, 0, 1), 0);
	assert_true(morph_delay_round_ns(delay, 1ULL << 50, 0) == 8000ULL << 50);
	assert_true(morph_delay_round_ns(delay, UINT64_MAX / 8000, 0) == UINT64_MAX / 8000 * 8000);
	assert_true(morph_delay_round_ns(delay, UINT64_MAX / 8000 + 1, 0) == UINT64_MAX);
	assert_true(morph_delay_round_ns(delay, UINT64_MAX, 0) == UINT64_MAX);
	assert_int_equal(morph_delay_set_link(delay, 0, MOST, 1), 0);
	assert_true(morph_delay_round_ns(delay, 0, UINT32_MAX) == UINT64_MAX);
	assert_true(morph_delay_round_ns(delay, 0, (1U << 24) - 1) == MOST * ((1U << 24) - 1));
	assert_true(morph_delay_round_ns(delay, 0, 1U << 24) == UINT64_MAX);
	set_part(delay, MORPH_DELAY_PORT, MOST);
	assert_true(morph_delay_change_ns(delay, 2, UINT32_MAX) == UINT64_MAX);
	assert_true(morph_delay_change_ns(delay, 2, 3) == 3 * MOST);
	morph_delay_free(delay);
}

static void a_change_is_the_sum_of_its_parts(void **state)
{
	struct morph_delay *delay = morph_delay_new(ctx);

	(void)state;
	for (uint32_t part = 0; part < MORPH_DELAY_PARTS; part++) {
		uint64_t ns = 1;

		for (uint32_t power = 0; power < part; power++)
			ns *= 10;
		set_part(delay, part, ns);
	}
	assert_int_equal(morph_delay_change_ns(delay, 8, 1), 111111);
	assert_int_equal(morph_delay_change_ns(delay, 8, 7), 117111);
	assert_int_equal(morph_delay_change_ns(delay, 8, 0), 0);
	morph_delay_free(delay);
}

/*
 * The definition: the smallest value such that the given share (in per mille) of the values is not
 * greater.
 */
static uint64_t quantile(const uint64_t *ns, uint32_t count, uint32_t permille)
{
	for (uint32_t at = 0;; at++)
		if ((at + 1) * 1000 >= permille * count)
			return ns[at];
}

static void quantiles_are_those_of_the_numbers(void **state)
{
	struct morph_delay *delay = morph_delay_new(ctx);
	uint64_t ns[64];

	(void)state;
	for (uint32_t at = 0; at < 64; at++)
		ns[at] = at * at;
	for (uint32_t count = 1; count <= 64; count++) {
		assert_int_equal(morph_delay_set_part(delay, MORPH_DELAY_SETTLE, ns, count), 0);
		for (uint32_t permille = 1; permille <= 1000; permille++) {
			assert_int_equal(morph_delay_set_quantile(delay, permille), 0);
			assert_int_equal(morph_delay_change_ns(delay, 1, 1),
					 quantile(ns, count, permille));
		}
	}
	morph_delay_free(delay);
}

static void parts_are_at_one_quantile_and_that_is_990_at_first(void **state)
{
	const uint64_t settle[] = { 10, 20, 30, 40 }, relock[] = { 1, 2 };
	struct morph_delay *delay = morph_delay_new(ctx);

	(void)state;
	assert_int_equal(morph_delay_set_part(delay, MORPH_DELAY_SETTLE, settle, 4), 0);
	assert_int_equal(morph_delay_set_part(delay, MORPH_DELAY_RELOCK, relock, 2), 0);
	assert_int_equal(morph_delay_change_ns(delay, 1, 1), 42);
	assert_int_equal(morph_delay_set_quantile(delay, 500), 0);
	assert_int_equal(morph_delay_change_ns(delay, 1, 1), 21);
	assert_int_equal(morph_delay_set_quantile(delay, 501), 0);
	assert_int_equal(morph_delay_change_ns(delay, 1, 1), 32);
	morph_delay_free(delay);
}

static void barriers_are_interpolated_between_measurements(void **state)
{
	const uint32_t ranks[] = { 2, 8, 64, 256 };
	const uint64_t ns[] = { 2910, 4130, 20040, 41750 };
	const uint64_t falling[] = { 40, 30, 20, 11 };
	struct morph_delay *delay = morph_delay_new(ctx);

	(void)state;
	assert_int_equal(morph_delay_set_barrier(delay, ranks, ns, 4), 0);
	for (uint32_t at = 0; at < 4; at++)
		assert_int_equal(morph_delay_change_ns(delay, ranks[at], 1), ns[at]);
	assert_int_equal(morph_delay_change_ns(delay, 1, 1), 2910);
	assert_int_equal(morph_delay_change_ns(delay, 0, 1), 2910);
	assert_int_equal(morph_delay_change_ns(delay, UINT32_MAX, 1), 41750);
	assert_int_equal(morph_delay_change_ns(delay, 5, 1), (2910 + 4130) / 2);
	assert_int_equal(morph_delay_change_ns(delay, 160, 1), (20040 + 41750) / 2);
	/* 3: 2910 + 1220 / 6, rounded up. */
	assert_int_equal(morph_delay_change_ns(delay, 3, 1), 3114);
	assert_int_equal(morph_delay_set_barrier(delay, ranks, falling, 4), 0);
	assert_int_equal(morph_delay_change_ns(delay, 5, 1), 35);
	assert_int_equal(morph_delay_change_ns(delay, 36, 1), 25);
	/* The last value counts. */
	set_part(delay, MORPH_DELAY_BARRIER, 77);
	assert_int_equal(morph_delay_change_ns(delay, 5, 1), 77);
	assert_int_equal(morph_delay_set_barrier(delay, ranks, ns, 1), 0);
	assert_int_equal(morph_delay_change_ns(delay, 5, 1), 2910);
	morph_delay_free(delay);
}

static void the_widest_line_is_exact(void **state)
{
	const uint32_t ranks[] = { 0, UINT32_MAX };
	const uint64_t ns[] = { 0, MOST };
	struct morph_delay *delay = morph_delay_new(ctx);

	(void)state;
	assert_int_equal(morph_delay_set_barrier(delay, ranks, ns, 2), 0);
	assert_true(morph_delay_change_ns(delay, UINT32_MAX, 1) == MOST);
	/* MOST / (2^32 - 1) is a bit more than 256. */
	assert_true(morph_delay_change_ns(delay, 1, 1) == 257);
	assert_true(morph_delay_change_ns(delay, UINT32_MAX - 1, 1) == MOST - 256);
	morph_delay_free(delay);
}

static void invalid_delays_are_refused_with_the_reason(void **state)
{
	const uint64_t falls[] = { 5, 4 }, long_ns[] = { MOST + 1 };
	const uint32_t alike[] = { 3, 3 };
	uint64_t many[65] = { 0 };
	uint32_t ranks[65];
	struct morph_delay *delay = morph_delay_new(ctx);

	(void)state;
	for (uint32_t at = 0; at < 65; at++)
		ranks[at] = at;
	set_part(delay, MORPH_DELAY_DRAIN, 9);
	REFUSED(morph_delay_set_link(delay, MOST + 1, 0, 1), "at most 1099511627776 ns");
	REFUSED(morph_delay_set_link(delay, 0, MOST + 1, 1), "not 1099511627777");
	REFUSED(morph_delay_set_link(delay, 0, 0, 0), "megabits per second, not 0");
	REFUSED(morph_delay_set_link(delay, 0, 0, MOST + 1), "1 to 1099511627776 megabits");
	REFUSED(morph_delay_set_part(delay, MORPH_DELAY_PARTS, many, 1), "no part 6");
	REFUSED(morph_delay_set_part(delay, 0, many, 0), "1 to 64 numbers, not 0");
	REFUSED(morph_delay_set_part(delay, 0, many, 65), "1 to 64 numbers, not 65");
	REFUSED(morph_delay_set_part(delay, 0, long_ns, 1), "a delay is at most ");
	REFUSED(morph_delay_set_part(delay, 0, falls, 2), "4 ns does not follow 5 ns");
	REFUSED(morph_delay_set_barrier(delay, ranks, many, 0), "1 to 64 numbers, not 0");
	REFUSED(morph_delay_set_barrier(delay, ranks, many, 65), "1 to 64 numbers, not 65");
	REFUSED(morph_delay_set_barrier(delay, ranks, long_ns, 1), "a delay is at most ");
	REFUSED(morph_delay_set_barrier(delay, alike, many, 2), "3 does not follow 3");
	REFUSED(morph_delay_set_quantile(delay, 0), "1 to 1000 per mille, not 0");
	REFUSED(morph_delay_set_quantile(delay, 1001), "not 1001");
	REFUSED(morph_delay_set_scope(delay, 3), "scope 3 must be one of 0 to 2");
	/* A refused call changes nothing. */
	assert_int_equal(morph_delay_change_ns(delay, 2, 1), 9);
	assert_true(morph_delay_round_ns(delay, 1, 1) == UINT64_MAX);
	for (uint32_t scope = 0; scope <= MORPH_DELAY_FABRIC_SCOPE; scope++)
		assert_int_equal(morph_delay_set_scope(delay, scope), 0);
	assert_int_equal(morph_delay_set_link(delay, MOST, MOST, MOST), 0);
	assert_int_equal(morph_delay_set_part(delay, 0, many, 64), 0);
	assert_int_equal(morph_delay_set_barrier(delay, ranks, many, 64), 0);
	morph_delay_free(delay);
}

/* Measurements of the driver; @each is the time of each software part. */
static int observe(struct morph_delay *delay, uint32_t circuits, uint64_t each, uint64_t settle,
		   uint64_t relock)
{
	const struct morph_times times = {
		.phase_ns = { [MORPH_PHASE_DETECT] = 77777, /* no part of a change */
			      [MORPH_PHASE_PLAN] = each,
			      [MORPH_PHASE_PROGRAM] = each,
			      [MORPH_PHASE_SETTLE] = settle,
			      [MORPH_PHASE_RELOCK] = relock,
			      [MORPH_PHASE_VERIFY] = each,
			      [MORPH_PHASE_NOTIFY] = each },
	};
	struct morph_object *object = lm_from_times(&times);
	int ret = morph_delay_observe(delay, object, circuits);

	morph_object_free(object);
	return ret;
}

/* Four parts of 250 ns and 25 for each circuit: a line of 1000 and 100. */
static void measurements_are_divided_by_circuits(void **state)
{
	struct morph_delay *delay = morph_delay_new(ctx);

	(void)state;
	set_part(delay, MORPH_DELAY_DRAIN, 7);
	set_part(delay, MORPH_DELAY_SETTLE, 999999);
	for (uint32_t circuits = 1; circuits <= 16; circuits *= 2)
		assert_int_equal(observe(delay, circuits, 250 + 25 * circuits, 3700, 500), 0);
	assert_int_equal(morph_delay_change_ns(delay, 8, 3), 7 + 1000 + 3 * 100 + 3700 + 500);
	/* With equal numbers of circuits, the time of one circuit is unknown. */
	morph_delay_free(delay);
	delay = morph_delay_new(ctx);
	for (uint32_t at = 0; at < 4; at++)
		assert_int_equal(observe(delay, 8, 100 * at, 0, 0), 0);
	assert_int_equal(morph_delay_change_ns(delay, 8, 1), 1200);
	assert_int_equal(morph_delay_change_ns(delay, 8, 100), 1200);
	/* The same if more circuits take less time. */
	assert_int_equal(observe(delay, 1000, 0, 0, 0), 0);
	assert_int_equal(morph_delay_change_ns(delay, 8, 100), 1200);
	morph_delay_free(delay);
}

/* The last 64 measurements count, and the quantile is theirs. */
static void last_measurements_are_the_quantiles(void **state)
{
	struct morph_delay *delay = morph_delay_new(ctx);

	(void)state;
	for (uint32_t at = 0; at < 64; at++)
		assert_int_equal(observe(delay, 1, 0, 1000000, 0), 0);
	for (uint32_t at = 64; at > 0; at--)
		assert_int_equal(observe(delay, 1, 0, 100 * at, 0), 0);
	assert_int_equal(morph_delay_set_quantile(delay, 500), 0);
	assert_int_equal(morph_delay_change_ns(delay, 2, 1), 3200);
	assert_int_equal(morph_delay_set_quantile(delay, 1000), 0);
	assert_int_equal(morph_delay_change_ns(delay, 2, 1), 6400);
	REFUSED(observe(delay, 0, 0, 0, 0), "at least one circuit");
	REFUSED(observe(delay, 1, MOST + 1, 0, 0), "a delay is");
	REFUSED(observe(delay, 1, 0, MOST + 1, 0), "to settle");
	REFUSED(observe(delay, 1, 0, 0, MOST + 1), "to relock");
	assert_int_equal(morph_delay_change_ns(delay, 2, 1), 6400);
	/* The largest of all. */
	assert_int_equal(observe(delay, UINT32_MAX, MOST, MOST, MOST), 0);
	assert_true(morph_delay_change_ns(delay, 2, 1) >= 2 * MOST);
	morph_delay_free(delay);
}

/* The mean of all runs of a step counts as one change. */
static void a_step_of_a_schedule_is_the_mean_of_its_runs(void **state)
{
	struct morph_schedule_step_info steps[] = {
		{ .changes = 3,
		  .runs = 4,
		  .program_ns = 400,
		  .verify_ns = 80,
		  .settle_ns = 4000,
		  .relock_ns = 800,
		  .wait_ns = 99999,
		  .longest_ns = 99999 },
		{ .changes = 3 },
	};
	const struct morph_schedule_info info = {
		.steps = { .ptr = (uintptr_t)steps, .count = 2, .stride = sizeof(steps[0]) },
	};
	struct morph_object *schedule = lm_from_schedule(&info, 0, 0);
	struct morph_delay *delay = morph_delay_new(ctx);

	(void)state;
	assert_int_equal(morph_delay_observe(delay, morph_object_nested_at(schedule, "step", 0), 3),
			 0);
	assert_int_equal(morph_delay_change_ns(delay, 8, 3), 100 + 20 + 1000 + 200);
	REFUSED(morph_delay_observe(delay, morph_object_nested_at(schedule, "step", 1), 3),
		"the step was not lit yet");
	morph_object_free(schedule);
	morph_delay_free(delay);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

static void all_constants_are_set_at_once(void **state)
{
	MORPH_OPTS(morph_delay_opts, opts, .mbps = 8000, .round_ns = 1, .hop_ns = 2, .drain_ns = 10,
		   .barrier_ns = 20, .program_ns = 40, .port_ns = 80, .settle_ns = 160,
		   .relock_ns = 320, .scope = MORPH_DELAY_PLANE_SCOPE);
	struct morph_delay *delay = morph_delay_new(ctx);

	(void)state;
	assert_int_equal(morph_delay_set(delay, &opts), 0);
	/* 8000 Mb/s are one byte per nanosecond. */
	assert_int_equal(morph_delay_round_ns(delay, 100, 3), 1 + 3 * 2 + 100);
	assert_int_equal(morph_delay_change_ns(delay, 2, 1), 10 + 20 + 40 + 80 + 160 + 320);
	assert_int_equal(morph_delay_change_ns(delay, 2, 2), 10 + 20 + 40 + 2 * 80 + 160 + 320);
	opts.settle_ns = 1;
	opts.relock_ns = MOST + 1;
	REFUSED(morph_delay_set(delay, &opts), "a delay is at most ");
	opts.relock_ns = 1;
	opts.scope = 3;
	REFUSED(morph_delay_set(delay, &opts), "scope 3 must be one of 0 to 2");
	opts.scope = 0;
	opts.mbps = 0;
	REFUSED(morph_delay_set(delay, &opts), "megabits per second, not 0");
	/* A refused call changes nothing. */
	assert_int_equal(morph_delay_change_ns(delay, 2, 1), 10 + 20 + 40 + 80 + 160 + 320);
	morph_delay_free(delay);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(at_first_all_is_nothing_but_the_bandwidth_is_missing),
		TEST(a_round_is_its_parts_rounded_up_once),
		TEST(times_saturate),
		TEST(a_change_is_the_sum_of_its_parts),
		TEST(quantiles_are_those_of_the_numbers),
		TEST(parts_are_at_one_quantile_and_that_is_990_at_first),
		TEST(barriers_are_interpolated_between_measurements),
		TEST(the_widest_line_is_exact),
		TEST(invalid_delays_are_refused_with_the_reason),
		TEST(all_constants_are_set_at_once),
		TEST(measurements_are_divided_by_circuits),
		TEST(last_measurements_are_the_quantiles),
		TEST(a_step_of_a_schedule_is_the_mean_of_its_runs),
	};

	return cmocka_run_group_tests_name("delay", tests, NULL, NULL);
}

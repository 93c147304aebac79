// SPDX-License-Identifier: LGPL-2.1-or-later
/* Schedules on given topologies. */
#include "../internal/planner.h"
#include "scheduling.h"

#include "../bench/random.h"

#define MIB (1 << 20)
#define MOST 16

/* Topologies that join each rank to the one at a given distance. */
static struct given {
	struct morph_pool pool;
	uint32_t firsts[MOST + 1];
	struct morph_joint joints[MOST * 64];
} given;

static const struct morph_pool *circulants(const uint32_t *by, uint32_t count, uint32_t ranks,
					   bool in_turn)
{
	given.pool = (struct morph_pool){ .sz = sizeof(given.pool),
					  .count = count,
					  .firsts = given.firsts,
					  .joints = given.joints,
					  .in_turn = in_turn };
	for (uint32_t at = 0; at <= count; at++)
		given.firsts[at] = at * ranks;
	for (uint32_t at = 0; at < count * ranks; at++)
		given.joints[at] = (struct morph_joint){ at % ranks,
							 (at % ranks + by[at / ranks]) % ranks, 1 };
	return &given.pool;
}

static struct morph_collective *halving(uint32_t ranks, uint64_t bytes)
{
	MORPH_OPTS(morph_collective_opts, opts, .kind = MORPH_ALL_REDUCE,
		   .algorithm = MORPH_HALVING_CYCLIC, .ranks = ranks, .bytes = bytes);
	struct morph_collective *collective = morph_collective_new(ctx);

	assert_int_equal(morph_collective_build(collective, &opts), 0);
	return collective;
}

static int plan_on(struct morph_schedule *schedule, const struct morph_collective *collective,
		   const struct morph_delay *delay, const struct morph_schedule_opts *opts,
		   const struct morph_pool *pool)
{
	MORPH_OPTS(morph_schedule_opts, how);

	if (opts)
		how = *opts;
	how.pool = pool;
	return morph_schedule_plan(schedule, collective, delay, &how);
}

/*
 * 64 ranks, 1 MiB, 800 Gb/s, 500 ns for a round and a hop, 10 us for a change: 75389 ns if the
 * first topology is free.
 */
static void a_published_schedule_takes_its_published_time(void **state)
{
	static const uint32_t published[] = { 1, 1, 1, 8, 8, 8, 8, 8, 8, 1, 1, 1 };
	static const uint32_t spare[] = { 8, 5, 1, 32 };
	struct morph_collective *collective = halving(64, MIB);
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct morph_delay *delay = morph_delay_new(ctx);
	const uint64_t settle = 10000;
	uint64_t ns;

	(void)state;
	assert_int_equal(morph_delay_set_link(delay, 500, 500, 800000), 0);
	assert_int_equal(morph_delay_set_part(delay, MORPH_DELAY_SETTLE, &settle, 1), 0);
	assert_int_equal(
		plan_on(schedule, collective, delay, NULL, circulants(published, 12, 64, true)), 0);
	assert_int_equal(morph_schedule_verdict(schedule), MORPH_FEASIBLE);
	assert_int_equal(morph_schedule_policy(schedule), MORPH_POLICY_SEGMENTS);
	ns = morph_schedule_ns(schedule, NULL);
	assert_in_range(ns, 75389 + settle, 75400 + settle);
	assert_int_equal(morph_schedule_changes(schedule, NULL), 3);
	assert_valid(collective, delay, 1, NULL, schedule);
	/* The planner finds the same for any order, and it is the best of all. */
	assert_int_equal(
		plan_on(schedule, collective, delay, NULL, circulants(spare, 4, 64, false)), 0);
	assert_int_equal(morph_schedule_ns(schedule, NULL), ns);
	assert_valid(collective, delay, 1, NULL, schedule);
	morph_delay_free(delay);
	morph_schedule_free(schedule);
	morph_collective_free(collective);
}

/* Random topologies: the chosen schedule is valid, and no later than any cyclic order of them. */
static void choice_is_no_later_than_a_turn(void **state)
{
	MORPH_OPTS(morph_schedule_opts, opts, .planes = 1);
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct morph_delay *delay = some_delay(MORPH_DELAY_PORT_SCOPE);
	static const uint32_t shifts[] = { 1, 5, 5, 2 };
	uint64_t seed = 3;
	uint32_t feasible = 0, later = 0;

	(void)state;
	for (uint32_t at = 0; at < 200; at++) {
		uint32_t rounds = 1 + at % 4, by[4];
		struct morph_collective *collective = random_rounds(&seed, 6, rounds, 5);
		uint64_t turn;

		for (uint32_t which = 0; which < rounds; which++)
			by[which] = shifts[random_below(&seed, 4)];
		circulants(by, rounds, 6, true);
		assert_int_equal(plan_on(schedule, collective, delay, &opts, &given.pool), 0);
		if (morph_schedule_verdict(schedule) == MORPH_FEASIBLE) {
			turn = morph_schedule_ns(schedule, NULL);
			assert_valid(collective, delay, 1, NULL, schedule);
			given.pool.in_turn = false;
			assert_int_equal(plan_on(schedule, collective, delay, &opts, &given.pool),
					 0);
			assert_int_equal(morph_schedule_verdict(schedule), MORPH_FEASIBLE);
			assert_true(morph_schedule_ns(schedule, NULL) <= turn);
			assert_valid(collective, delay, 1, NULL, schedule);
			later += morph_schedule_ns(schedule, NULL) < turn;
			feasible++;
		} else {
			assert_int_equal(morph_schedule_verdict(schedule), MORPH_INFEASIBLE);
			assert_true(
				strstr(morph_schedule_why(schedule), "no topology fits a round"));
		}
		morph_collective_free(collective);
	}
	print_message("%u feasible, %u sooner\n", feasible, later);
	assert_true(feasible > 50 && feasible < 200 && later > 10);
	morph_delay_free(delay);
	morph_schedule_free(schedule);
}

static void circuits_lit_before_are_one_of_the_topologies(void **state)
{
	MORPH_OPTS(morph_schedule_opts, opts, .planes = 1);
	static const uint32_t far[] = { 3 };
	struct morph_collective *collective = ring(8, 1000);
	struct morph_schedule *before = morph_schedule_new(ctx),
			      *schedule = morph_schedule_new(ctx);
	struct morph_delay *delay = some_delay(MORPH_DELAY_PORT_SCOPE);

	(void)state;
	assert_int_equal(morph_schedule_plan(before, collective, delay, &opts), 0);
	opts.after = before;
	opts.policy = 77; /* is not looked at */
	assert_int_equal(plan_on(schedule, collective, delay, &opts, circulants(far, 1, 8, false)),
			 0);
	assert_int_equal(morph_schedule_changes(schedule, NULL), 0);
	assert_valid(collective, delay, 1, before, schedule);
	morph_delay_free(delay);
	morph_schedule_free(schedule);
	morph_schedule_free(before);
	morph_collective_free(collective);
}

static void refuse(struct morph_schedule *schedule, const struct morph_collective *collective,
		   const struct morph_delay *delay, const char *what)
{
	assert_int_equal(plan_on(schedule, collective, delay, NULL, &given.pool), -EINVAL);
	assert_true(strstr(morph_error_text(ctx), what));
	assert_int_equal(morph_schedule_verdict(schedule), 0);
}

static void invalid_input_is_refused(void **state)
{
	static const uint32_t by[] = { 1, 2, 3 };
	MORPH_OPTS(morph_schedule_opts, opts, .planes = 1);
	struct morph_collective *collective = ring(8, 1000);
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct morph_delay *delay = some_delay(MORPH_DELAY_PORT_SCOPE);

	(void)state;
	circulants(by, 3, 8, true);
	refuse(schedule, collective, delay,
	       "3 topologies in sequence for 14 rounds; must be one for each round");
	circulants(by, 3, 8, false);
	given.pool.count = 0;
	refuse(schedule, collective, delay, "1 to 65535 topologies, not 0");
	circulants(by, 3, 8, false);
	given.joints[9].src = 8;
	refuse(schedule, collective, delay, "topology 1: 1 circuits from rank 8 to 3");
	circulants(by, 3, 8, false);
	given.joints[0].circuits = 0;
	refuse(schedule, collective, delay, "topology 0: 0 circuits");
	circulants(by, 3, 8, false);
	given.firsts[1] = 17;
	refuse(schedule, collective, delay, "topology 1 ends before it begins");
	circulants(by, 3, 8, false);
	given.pool.sz = 2;
	refuse(schedule, collective, delay, "morph_pool");
	circulants(by, 3, 8, false);
	opts.pool = &given.pool;
	assert_int_equal(morph_schedule_baseline(schedule, collective, delay, &opts,
						 MORPH_BASELINE_SET_ONCE),
			 -EINVAL);
	assert_true(strstr(morph_error_text(ctx), "supports a pool of topologies"));
	given.joints[8].circuits = 2;
	assert_int_equal(plan_on(schedule, collective, delay, NULL, &given.pool), 0);
	assert_int_equal(morph_schedule_verdict(schedule), MORPH_INFEASIBLE);
	assert_true(strstr(morph_schedule_why(schedule), "topology 1 has more circuits at a rank"));
	morph_delay_free(delay);
	morph_schedule_free(schedule);
	morph_collective_free(collective);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_published_schedule_takes_its_published_time),
		TEST(choice_is_no_later_than_a_turn),
		TEST(circuits_lit_before_are_one_of_the_topologies),
		TEST(invalid_input_is_refused),
	};

	return cmocka_run_group_tests_name("given", tests, NULL, NULL);
}

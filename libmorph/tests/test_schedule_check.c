// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The checker, which shares no code with the planners, accepts schedules and rejects corrupted
 * ones.
 */
#include <stdio.h>

#include "../internal/planner.h"
#include "corruption.h"

/* Positions of words in a schedule. */
#define FINISH 8
#define BOUND_KIND 10
#define MATCHINGS_COUNT 14
#define HOLDS 16
#define MATCHINGS 19

#define LEAST 100 /* corruptions of each kind */

/* Each rank's chunk goes round a ring. */
static struct morph_collective *gather(uint32_t ranks, uint64_t bytes)
{
	MORPH_OPTS(morph_collective_opts, opts, .kind = MORPH_ALL_GATHER, .algorithm = MORPH_RING,
		   .ranks = ranks, .bytes = bytes);
	struct morph_collective *collective = morph_collective_new(ctx);

	assert_int_equal(morph_collective_build(collective, &opts), 0);
	return collective;
}

/*
 * Draw a schedule of some shape by a policy that supports it, on one to five planes. Every third
 * one follows a similar schedule.
 */
static struct written plan(uint64_t seed)
{
	uint32_t planes = 1 + (uint32_t)(seed / 6 % 5);
	MORPH_OPTS(morph_schedule_opts, opts,
		   .policy = 1 + (uint32_t)(seed / 2 % (MORPH_POLICIES - 1)), .planes = planes);
	MORPH_OPTS(morph_schedule_opts, first, .planes = planes);
	uint64_t chance = seed;
	struct morph_collective *collective = seed % 2 ?
						      random_rounds(&chance, 3 + seed % 7, 4, 9) :
					      seed / 4 % 3 ? ring(3 + seed % 6, 1000 * seed) :
							     gather(3 + seed % 6, 1000 * seed);
	struct morph_delay *delay = some_delay((uint32_t)(seed % 3));
	struct morph_schedule *schedule = morph_schedule_new(ctx), *before = NULL;
	struct written written;

	if (seed % 9 < 3) {
		before = morph_schedule_new(ctx);
		assert_int_equal(morph_schedule_plan(before, collective, delay, &first), 0);
		assert_int_equal(morph_schedule_verdict(before), MORPH_FEASIBLE);
		opts.after = before;
	}
	assert_int_equal(morph_schedule_plan(schedule, collective, delay, &opts), 0);
	if (morph_schedule_verdict(schedule) != MORPH_FEASIBLE) {
		assert_true(morph_schedule_why(schedule)[0]);
		opts.policy = MORPH_POLICY_BEST;
		assert_int_equal(morph_schedule_plan(schedule, collective, delay, &opts), 0);
	}
	assert_int_equal(morph_schedule_verdict(schedule), MORPH_FEASIBLE);
	written = write_schedule(collective, delay, planes, before, schedule);
	morph_schedule_free(schedule);
	morph_schedule_free(before);
	morph_delay_free(delay);
	morph_collective_free(collective);
	return written;
}

static void plans_pass_the_checker(void **state)
{
	char report[256];

	(void)state;
	for (uint64_t seed = 1; seed <= 120; seed++) {
		struct written written = plan(seed);

		if (check_written(&written, report))
			fail_msg("seed %llu: %s", (unsigned long long)seed, report);
		forget_written(&written);
	}
}

/* Each corruption is tried so often that a missing one would be noticed. */
static void corrupt_plans_are_rejected(void **state)
{
	uint32_t made[CORRUPTIONS] = { 0 }, rejected = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 800; seed++) {
		struct written written = plan(seed);

		rejected += assert_corrupted_are_rejected(&written, seed, 80, made);
		forget_written(&written);
	}
	for (uint32_t way = 0; way < CORRUPTIONS; way++)
		if (made[way] < LEAST)
			fail_msg("%s: %u", corruption_name(way), made[way]);
	assert_true(rejected > 25000);
}

/* On a ring with many rounds, the bounds differ. */
static void one_bound_is_not_the_other(void **state)
{
	struct written written = plan(2);
	char report[256];

	(void)state;
	written.schedule[BOUND_KIND] ^= MORPH_BOUND_PORTS ^ MORPH_BOUND_CHAIN;
	assert_int_equal(check_written(&written, report), -EBADMSG);
	assert_non_null(strstr(report, "the bound is"));
	forget_written(&written);
}

/* Circuits that are set together, each in its own hold, on one plane. */
static struct written plan_together(uint32_t scope)
{
	MORPH_OPTS(morph_schedule_opts, opts, .policy = MORPH_POLICY_MATCHINGS, .planes = 1);
	struct morph_collective *collective = ring(5, 4096);
	struct morph_delay *delay = some_delay(scope);
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct written written;

	assert_int_equal(morph_schedule_plan(schedule, collective, delay, &opts), 0);
	assert_valid(collective, delay, 1, NULL, schedule);
	written = write_schedule(collective, delay, 1, NULL, schedule);
	assert_true(written.schedule[HOLDS] >= 5);
	morph_schedule_free(schedule);
	morph_delay_free(delay);
	morph_collective_free(collective);
	return written;
}

/*
 * A change of a plane, or of the fabric, takes its time once, in any number of holds. Two
 * consecutive changes take it twice.
 */
static void circuits_set_together_are_charged_once(void **state)
{
	char report[256];

	(void)state;
	for (uint32_t scope = MORPH_DELAY_PLANE_SCOPE; scope <= MORPH_DELAY_FABRIC_SCOPE; scope++) {
		struct written written = plan_together(scope);
		uint32_t *hold = written.schedule + MATCHINGS +
				 2 * (written.schedule[MATCHINGS_COUNT] +
				      written.schedule[MATCHINGS_COUNT + 1]) +
				 8 * 4; /* the fifth */

		assert_int_equal(hold[2], 0);
		assert_int_equal(hold[4], 3750000);
		hold[4] = 3710000; /* as it would alone */
		assert_int_equal(check_written(&written, report), -EBADMSG);
		assert_non_null(strstr(report, "sets 1 circuits"));
		hold[4] = 3750000;
		hold[2] = 1;
		assert_int_equal(check_written(&written, report), -EBADMSG);
		assert_non_null(strstr(report, "is set during another change"));
		forget_written(&written);
	}
}

/* Ports of a plane are programmed one after the other, whatever holds their circuits are in. */
static void programming_waits_for_other_planes(void **state)
{
	struct written written = plan_together(MORPH_DELAY_PORT_SCOPE);
	uint32_t *holds =
		written.schedule + MATCHINGS +
		2 * (written.schedule[MATCHINGS_COUNT] + written.schedule[MATCHINGS_COUNT + 1]);
	char report[256];

	(void)state;
	for (uint32_t at = 0; at < 5; at++) {
		assert_int_equal(holds[8 * at + 2], 10000 * at);
		assert_int_equal(holds[8 * at + 4], 10000 * at + 3710000);
	}
	/* Requested together with the one before, and completed in time. */
	holds[8 * 4 + 2] = 30000;
	assert_int_equal(check_written(&written, report), 0);
	/* In the time that it takes alone. */
	holds[8 * 4 + 4] = 3740000;
	assert_int_equal(check_written(&written, report), -EBADMSG);
	assert_non_null(strstr(report, "hold 4: plane 0 programs other circuits at that time"));
	holds[8 * 4 + 2] = 39999;
	holds[8 * 4 + 4] = 3749999;
	assert_int_equal(check_written(&written, report), -EBADMSG);
	assert_non_null(strstr(report, "programs other circuits at that time"));
	forget_written(&written);
}

/* Circuits that the schedule before left lit need no setting. All others do. */
static void present_circuits_are_not_set(void **state)
{
	MORPH_OPTS(morph_schedule_opts, opts, .policy = MORPH_POLICY_EACH_ROUND, .planes = 2);
	struct morph_collective *collective = ring(5, 4096);
	struct morph_delay *delay = some_delay(MORPH_DELAY_PORT_SCOPE);
	struct morph_schedule *first = morph_schedule_new(ctx), *second = morph_schedule_new(ctx);
	struct written written;
	uint32_t *hold;
	char report[256];

	(void)state;
	assert_int_equal(morph_schedule_plan(first, collective, delay, &opts), 0);
	assert_int_equal(morph_schedule_changes(first, NULL), 1);
	assert_valid(collective, delay, 2, NULL, first);
	opts.after = first;
	assert_int_equal(morph_schedule_plan(second, collective, delay, &opts), 0);
	assert_int_equal(morph_schedule_changes(second, NULL), 0);
	assert_valid(collective, delay, 2, first, second);
	assert_int_equal(morph_schedule_ns(first, NULL) - morph_schedule_ns(second, NULL),
			 3700 + 5 * 10);
	written = write_schedule(collective, delay, 2, NULL, second);
	assert_int_equal(check_written(&written, report), -EBADMSG);
	assert_non_null(strstr(report, "leaves no circuit"));
	forget_written(&written);
	/* Circuits that are still being set at the end of the first schedule are not lit either. */
	written = write_schedule(collective, delay, 2, first, second);
	assert_int_equal(check_written(&written, report), 0);
	hold = written.after + MATCHINGS +
	       2 * (written.after[MATCHINGS_COUNT] + written.after[MATCHINGS_COUNT + 1]);
	hold[4] = written.after[FINISH] + 1;
	hold[6] = hold[4];
	assert_int_equal(check_written(&written, report), -EBADMSG);
	assert_non_null(strstr(report, "leaves no circuit"));
	forget_written(&written);
	morph_schedule_free(second);
	morph_schedule_free(first);
	morph_delay_free(delay);
	morph_collective_free(collective);
}

static void put_long(uint32_t *words, uint64_t value)
{
	words[0] = (uint32_t)value;
	words[1] = (uint32_t)(value >> 32);
}

/* More bytes than 64 bits can count take their full time: here 2^64 bytes. */
static void many_bytes_take_long(void **state)
{
	struct morph_collective *collective = morph_collective_new(ctx), *one = ring(2, 2);
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct morph_delay *delay = morph_delay_new(ctx);
	/*
	 * Transfers 0 to 15 of round 0 at the same time, over a circuit from rank 0 to rank 1 that
	 * needs no setting.
	 */
	static const uint32_t lists[] = { 0, 1, 0,  1, 0, 0, 0, 0, 0, 0,      100000, 0,
					  0, 0, 16, 0, 1, 0, 0, 0, 0, 100000, 0,      0 };
	struct written written;
	char report[256];
	uint32_t *words;

	(void)state;
	assert_int_equal(morph_delay_set_link(delay, 100, 0, 1ULL << 40), 0);
	assert_int_equal(morph_schedule_plan(schedule, one, delay, NULL), 0);
	assert_int_equal(morph_collective_begin(collective, 2), 0);
	for (uint32_t chunk = 0; chunk < 16 * 1024; chunk++)
		assert_int_equal(morph_collective_add_chunk(collective, 0, 1, 1ULL << 50), chunk);
	assert_int_equal(morph_collective_add_round(collective), 0);
	for (uint32_t at = 0; at < 16; at++) {
		assert_int_equal(morph_collective_add_transfer(collective, 0, 1, false), at);
		assert_int_equal(morph_collective_add_run(collective, 1024 * at, 1024), 0);
	}
	written = write_schedule(collective, delay, 1, NULL, schedule);
	words = realloc(written.schedule, 4 * (MATCHINGS + sizeof(lists) / sizeof(*lists)));
	assert_non_null(words);
	written.schedule = words;
	written.schedule_bytes = 4 * MATCHINGS + sizeof(lists);
	words[4] = (uint32_t)(written.schedule_bytes / 4);
	put_long(&words[FINISH], 100000);
	words[BOUND_KIND] = MORPH_BOUND_PORTS;
	for (uint32_t at = BOUND_KIND + 3; at < MATCHINGS; at++)
		words[at] = at > BOUND_KIND + 3; /* nothing is lit at first; one of each there is */
	memcpy(&words[MATCHINGS], lists, sizeof(lists));
	put_long(&words[MATCHINGS + 17], 1ULL << 60);
	/* The bound includes all 2^64 bytes. With an overflow it would include none. */
	for (uint32_t most = 0; most < 2; most++) {
		put_long(&words[BOUND_KIND + 1], (most ? 8000000ULL << 24 : 0) + 100000);
		assert_int_equal(check_written(&written, report), -EBADMSG);
		assert_non_null(strstr(report, "send 0 takes"));
	}
	forget_written(&written);
	morph_delay_free(delay);
	morph_schedule_free(schedule);
	morph_collective_free(collective);
	morph_collective_free(one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plans_pass_the_checker),
		cmocka_unit_test(corrupt_plans_are_rejected),
		cmocka_unit_test(one_bound_is_not_the_other),
		cmocka_unit_test(circuits_set_together_are_charged_once),
		cmocka_unit_test(programming_waits_for_other_planes),
		cmocka_unit_test(present_circuits_are_not_set),
		cmocka_unit_test(many_bytes_take_long),
	};

	return cmocka_run_group_tests(tests, begin, end);
}

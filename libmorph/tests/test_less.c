// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Circuits lit at the start, and an additional plane, make no plan later. The budget limits the
 * number of planned algorithms.
 */
#include "../internal/planner.h"
#include "../bench/random.h"
#include "scheduling.h"

#define MOST_PLANES 5

/* A random algorithm, or random transfers. */
static struct morph_collective *draw(uint64_t *random, uint32_t ranks)
{
	MORPH_OPTS(morph_collective_opts, opts, .ranks = ranks);
	struct morph_collective *collective;

	if (random_below(random, 4) == 0) {
		uint32_t transfers = 1 + random_below(random, 3 * ranks);

		return random_rounds(random, ranks, 1 + random_below(random, 4), transfers);
	}
	collective = morph_collective_new(ctx);
	assert_non_null(collective);
	do {
		opts.kind = 1 + random_below(random, MORPH_BROADCAST);
		opts.algorithm = 1 + random_below(random, MORPH_ALGORITHMS - 1);
		opts.bytes = 1ULL << (6 + random_below(random, 19));
		opts.radix = 2 + random_below(random, 3);
		opts.segments = 1 + random_below(random, 4);
		opts.extent[1] = opts.algorithm == MORPH_RINGS ? 1 + ranks % 2 : 0;
		opts.extent[0] = opts.extent[1] ? ranks / opts.extent[1] : 0;
	} while (morph_collective_build(collective, &opts));
	return collective;
}

static struct morph_delay *draw_delay(uint64_t *random)
{
	struct morph_delay *delay = some_delay(random_below(random, 3));
	uint64_t settle = random_below(random, random_below(random, 2) ? 10000 : 1000000);
	uint32_t with_ports = random_below(random, 2);
	uint64_t port = with_ports * random_below(random, 1000);
	uint32_t hop = random_below(random, 500), round = 1 + random_below(random, 2000);

	assert_int_equal(morph_delay_set_link(delay, round, hop, 100000), 0);
	assert_int_equal(morph_delay_set_part(delay, MORPH_DELAY_SETTLE, &settle, 1), 0);
	assert_int_equal(morph_delay_set_part(delay, MORPH_DELAY_PORT, &port, 1), 0);
	return delay;
}

static uint64_t plan(struct morph_schedule *schedule, const struct morph_collective *collective,
		     const struct morph_delay *delay, uint32_t planes,
		     const struct morph_schedule *after)
{
	MORPH_OPTS(morph_schedule_opts, opts, .planes = planes, .after = after);
	struct morph_alternative tried;

	assert_int_equal(morph_schedule_plan(schedule, collective, delay, &opts), 0);
	assert_int_equal(morph_schedule_verdict(schedule), MORPH_FEASIBLE);
	assert_valid(collective, delay, planes, after, schedule);
	assert_int_equal(
		morph_schedule_alternative(schedule, morph_schedule_policy(schedule), &tried), 0);
	assert_int_equal(tried.ns, morph_schedule_ns(schedule, NULL));
	return tried.ns;
}

static void more_resources_never_delay(void **state)
{
	struct morph_schedule *schedule = morph_schedule_new(ctx),
			      *before = morph_schedule_new(ctx);
	uint32_t sooner = 0, planned = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 250; seed++) {
		uint64_t random = seed, last = UINT64_MAX;
		uint32_t ranks = 3 + random_below(&random, 10);
		struct morph_collective *one = draw(&random, ranks), *other = draw(&random, ranks);
		struct morph_delay *delay = draw_delay(&random);

		for (uint32_t planes = 1; planes <= MOST_PLANES; planes++) {
			uint64_t dark = plan(schedule, one, delay, planes, NULL), lit;

			if (dark > last)
				fail_msg("seed %u: later on %u planes", (uint32_t)seed, planes);
			last = dark;
			plan(before, other, delay, planes, NULL);
			lit = plan(schedule, one, delay, planes, before);
			if (lit > dark)
				fail_msg("seed %u: later with the lit circuits of %u planes",
					 (uint32_t)seed, planes);
			sooner += lit < dark;
			planned++;
		}
		morph_delay_free(delay);
		morph_collective_free(one);
		morph_collective_free(other);
	}
	print_message("of %u plans %u are faster with lit circuits\n", planned, sooner);
	assert_true(sooner > planned / 4);
	morph_schedule_free(schedule);
	morph_schedule_free(before);
}

/* The number of skipped algorithms. */
static uint32_t choose(uint32_t ranks, uint64_t budget, struct morph_choice *choices)
{
	MORPH_OPTS(morph_collective_opts, wanted, .kind = MORPH_ALL_REDUCE, .ranks = ranks,
		   .bytes = 1 << 20);
	MORPH_OPTS(morph_schedule_opts, opts, .planes = 2, .budget = budget);
	struct morph_collective *collective = morph_collective_new(ctx);
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct morph_delay *delay = some_delay(MORPH_DELAY_PORT_SCOPE);
	uint32_t left_out = 0, chosen = 0;
	uint64_t least = UINT64_MAX;

	assert_int_equal(
		morph_schedule_choose(schedule, collective, &wanted, delay, &opts, choices), 0);
	assert_valid(collective, delay, 2, NULL, schedule);
	for (uint32_t at = 1; at < MORPH_ALGORITHMS; at++) {
		if (!choices[at].algorithm)
			continue;
		assert_true(choices[at].rounds > 0);
		left_out += !choices[at].policy;
		chosen += choices[at].chosen;
		if (choices[at].policy && choices[at].ns < least)
			least = choices[at].ns;
	}
	assert_int_equal(chosen, 1);
	assert_int_equal(morph_schedule_ns(schedule, NULL), least);
	morph_delay_free(delay);
	morph_schedule_free(schedule);
	morph_collective_free(collective);
	return left_out;
}

static void algorithms_are_planned_while_the_budget_lasts(void **state)
{
	struct morph_choice choices[MORPH_ALGORITHMS];

	(void)state;
	assert_int_equal(choose(16, 0, choices), 0);
	assert_int_equal(choose(16, 1, choices), 0);
	/* In rounds in which all ranks send to all, each transfer counts with all ranks. */
	assert_int_equal(choose(256, 1, choices), 1);
	assert_int_equal(choices[MORPH_DIRECT].policy, 0);
	assert_int_equal(choices[MORPH_DIRECT].rounds, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(more_resources_never_delay),
		cmocka_unit_test(algorithms_are_planned_while_the_budget_lasts),
	};

	return cmocka_run_group_tests(tests, begin, end);
}

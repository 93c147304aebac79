// SPDX-License-Identifier: LGPL-2.1-or-later
/* Alternatives to the chosen plan. */
#include "../internal/planner.h"
#include "faults.h"
#include "scheduling.h"

/* A request and its chosen plan, then the alternatives. */
struct asked {
	struct morph_collective_opts wanted;
	struct morph_schedule_opts opts;
	struct morph_schedule *schedule;
	struct morph_collective *collective;
	struct morph_delay *delay;
	struct morph_choice choices[MORPH_ALGORITHMS], list[2 * MORPH_CANDIDATES];
	uint32_t count;
};

static struct asked ask(uint32_t kind, uint32_t ranks, uint64_t bytes, uint32_t planes)
{
	return (struct asked){ .wanted = { .sz = sizeof(struct morph_collective_opts),
					   .kind = kind,
					   .ranks = ranks,
					   .bytes = bytes },
			       .opts = { .sz = sizeof(struct morph_schedule_opts),
					 .planes = planes },
			       .schedule = morph_schedule_new(ctx),
			       .collective = morph_collective_new(ctx),
			       .delay = some_delay(MORPH_DELAY_PORT_SCOPE) };
}

static void forget(struct asked *asked)
{
	morph_delay_free(asked->delay);
	morph_collective_free(asked->collective);
	morph_schedule_free(asked->schedule);
}

static uint64_t choose(struct asked *asked)
{
	assert_int_equal(morph_schedule_choose(asked->schedule, asked->collective, &asked->wanted,
					       asked->delay, &asked->opts, asked->choices),
			 0);
	return morph_schedule_ns(asked->schedule, NULL);
}

static int list(struct asked *asked, uint32_t fewer)
{
	return morph_schedule_candidates(asked->schedule, asked->collective, &asked->wanted,
					 asked->delay, &asked->opts, asked->choices, fewer,
					 asked->list, &asked->count);
}

static uint64_t ends_ns(const struct asked *asked, const struct morph_choice *choice)
{
	uint64_t late_ns = asked->wanted.late_ns;

	return choice->ns + (late_ns > choice->alone_ns ? late_ns - choice->alone_ns : 0);
}

/*
 * Each candidate takes its predicted time when it is planned, and is valid. Candidates are sorted
 * by their end.
 */
static void assert_kept(struct asked *asked)
{
	for (uint32_t at = 0; at < asked->count; at++) {
		const struct morph_choice *choice = &asked->list[at];

		assert_int_equal(morph_schedule_take(asked->schedule, asked->collective,
						     &asked->wanted, asked->delay, &asked->opts,
						     choice),
				 0);
		assert_int_equal(morph_schedule_verdict(asked->schedule), MORPH_FEASIBLE);
		assert_int_equal(morph_schedule_ns(asked->schedule, NULL), choice->ns);
		assert_int_equal(morph_schedule_policy(asked->schedule), choice->policy);
		assert_int_equal(morph_collective_rounds(asked->collective), choice->rounds);
		assert_valid(asked->collective, asked->delay, asked->opts.planes, asked->opts.after,
			     asked->schedule);
		if (at)
			assert_true(ends_ns(asked, choice - 1) <= ends_ns(asked, choice));
	}
}

static void candidates_are_sorted_by_end_and_correct(void **state)
{
	static const uint32_t kinds[] = { MORPH_ALL_REDUCE, MORPH_ALL_TO_ALL, MORPH_BROADCAST };

	(void)state;
	for (size_t at = 0; at < ARRAY_SIZE(kinds); at++) {
		struct asked asked = ask(kinds[at], 12, 1 << 20, 3);
		uint64_t soonest = choose(&asked);
		uint32_t algorithms = 0, policies = 0;

		assert_int_equal(list(&asked, 0), 0);
		for (uint32_t other = 0; other < asked.count; other++) {
			algorithms |= 1U << asked.list[other].algorithm;
			policies |= 1U << asked.list[other].policy;
			assert_int_equal(asked.list[other].planes, 3);
		}
		for (uint32_t other = 1; other < MORPH_ALGORITHMS; other++)
			assert_int_equal(algorithms >> other & 1, asked.choices[other].policy != 0);
		assert_true(__builtin_popcount(policies) > 2);
		assert_true(asked.list[0].ns >= soonest);
		assert_kept(&asked);
		forget(&asked);
	}
}

/* The plan uses the first planes. The others stay dark. */
static void fewer_planes_do_not_change_the_other_planes(void **state)
{
	struct asked asked = ask(MORPH_ALL_REDUCE, 8, 1 << 22, 4);
	uint32_t fewer = 0;

	(void)state;
	choose(&asked);
	assert_int_equal(list(&asked, 2), 0);
	assert_kept(&asked);
	for (uint32_t at = 0; at < asked.count; at++) {
		if (asked.list[at].planes == 4)
			continue;
		assert_int_equal(asked.list[at].planes, 2);
		fewer++;
		assert_int_equal(morph_schedule_take(asked.schedule, asked.collective,
						     &asked.wanted, asked.delay, &asked.opts,
						     &asked.list[at]),
				 0);
		for (uint32_t hold = 0; hold < morph_schedule_holds(asked.schedule); hold++) {
			struct morph_hold held;

			assert_int_equal(morph_schedule_hold(asked.schedule, hold, &held), 0);
			assert_in_range(held.plane, 0, 1);
		}
	}
	assert_true(fewer > 2);
	forget(&asked);
}

/* Circuits on unused planes stay, and the next plan follows them. */
static void plan_after_fewer_planes_begins_with_all_lit_circuits(void **state)
{
	struct asked asked = ask(MORPH_ALL_REDUCE, 8, 1 << 22, 3), next;
	struct morph_choice few = { .algorithm = MORPH_RING,
				    .policy = MORPH_POLICY_ONE_SHOT,
				    .planes = 2 };

	(void)state;
	choose(&asked);
	next = ask(MORPH_ALL_GATHER, 8, 1 << 22, 3);
	next.opts.after = asked.schedule;
	assert_int_equal(morph_schedule_take(next.schedule, next.collective, &next.wanted,
					     next.delay, &next.opts, &few),
			 0);
	assert_valid(next.collective, next.delay, 3, asked.schedule, next.schedule);
	asked.opts.after = next.schedule;
	choose(&asked);
	assert_valid(asked.collective, asked.delay, 3, next.schedule, asked.schedule);
	forget(&next);
	forget(&asked);
}

static void a_late_rank_ranks_algorithms_first_that_do_not_wait(void **state)
{
	struct asked asked = ask(MORPH_ALL_REDUCE, 8, 1 << 24, 1);

	(void)state;
	asked.wanted.late_ns = 1000000000;
	choose(&asked);
	assert_true(asked.choices[MORPH_STRAGGLAR].chosen);
	assert_int_equal(list(&asked, 0), 0);
	assert_int_equal(asked.list[0].algorithm, MORPH_STRAGGLAR);
	assert_kept(&asked);
	asked.wanted.late_ns = 0;
	choose(&asked);
	assert_int_equal(list(&asked, 0), 0);
	for (uint32_t at = 0; at < asked.count; at++)
		assert_int_not_equal(asked.list[at].algorithm, MORPH_STRAGGLAR);
	forget(&asked);
}

/* Given rounds have no algorithm: the candidates are policies. */
static void rounds_that_are_given_have_a_candidate_for_each_plan(void **state)
{
	struct asked asked = ask(0, 6, 0, 2);

	(void)state;
	morph_collective_free(asked.collective);
	asked.collective = ring(6, 6 << 16);
	assert_int_equal(morph_schedule_candidates(asked.schedule, asked.collective, NULL,
						   asked.delay, &asked.opts, NULL, 1, asked.list,
						   &asked.count),
			 0);
	assert_true(asked.count > 2);
	for (uint32_t at = 0; at < asked.count; at++) {
		assert_int_equal(asked.list[at].algorithm, 0);
		assert_int_equal(morph_schedule_take(asked.schedule, asked.collective, NULL,
						     asked.delay, &asked.opts, &asked.list[at]),
				 0);
		assert_int_equal(morph_schedule_ns(asked.schedule, NULL), asked.list[at].ns);
	}
	forget(&asked);
}

static void equal_candidates_are_listed_once(void **state)
{
	struct asked asked = ask(MORPH_BROADCAST, 2, 4096, 1);

	(void)state;
	/* One circuit, for any policy. */
	asked.wanted.algorithm = MORPH_BINOMIAL;
	choose(&asked);
	assert_int_equal(list(&asked, 0), 0);
	assert_int_equal(asked.count, 1);
	forget(&asked);
}

static void a_policy_that_is_asked_for_is_the_only_one(void **state)
{
	struct asked asked = ask(MORPH_ALL_REDUCE, 8, 1 << 20, 2);

	(void)state;
	asked.opts.policy = MORPH_POLICY_SEGMENTS;
	choose(&asked);
	assert_int_equal(list(&asked, 0), 0);
	assert_true(asked.count > 1);
	for (uint32_t at = 0; at < asked.count; at++)
		assert_int_equal(asked.list[at].policy, MORPH_POLICY_SEGMENTS);
	forget(&asked);
}

static void planes_that_there_are_not_are_refused(void **state)
{
	struct asked asked = ask(MORPH_ALL_REDUCE, 4, 4096, 2);
	struct morph_choice choice = { .algorithm = MORPH_RING, .policy = MORPH_POLICY_ONE_SHOT };

	(void)state;
	choose(&asked);
	assert_int_equal(list(&asked, 2), -EINVAL);
	assert_string_equal(morph_error_text(ctx),
			    "the smaller number of planes is 2, must be below 2");
	for (choice.planes = 0; choice.planes <= 3; choice.planes += 3) {
		assert_int_equal(morph_schedule_take(asked.schedule, asked.collective,
						     &asked.wanted, asked.delay, &asked.opts,
						     &choice),
				 -EINVAL);
		assert_non_null(strstr(morph_error_text(ctx), "must have 1 to 2"));
	}
	forget(&asked);
}

static void without_memory_there_is_no_list(void **state)
{
	struct asked asked = ask(MORPH_ALL_REDUCE, 3, 4096, 2);
	bool struck = true;

	(void)state;
	asked.wanted.algorithm = MORPH_RING;
	choose(&asked);
	for (unsigned int nth = 1; struck; nth++) {
		int ret;

		fault_at("memory", nth, ENOMEM);
		ret = list(&asked, 1);
		struck = fault_struck();
		assert_true(struck ? ret == -ENOMEM && !asked.count : !ret && asked.count);
	}
	forget(&asked);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(candidates_are_sorted_by_end_and_correct),
		cmocka_unit_test(fewer_planes_do_not_change_the_other_planes),
		cmocka_unit_test(plan_after_fewer_planes_begins_with_all_lit_circuits),
		cmocka_unit_test(a_late_rank_ranks_algorithms_first_that_do_not_wait),
		cmocka_unit_test(rounds_that_are_given_have_a_candidate_for_each_plan),
		cmocka_unit_test(equal_candidates_are_listed_once),
		cmocka_unit_test(a_policy_that_is_asked_for_is_the_only_one),
		cmocka_unit_test(planes_that_there_are_not_are_refused),
		cmocka_unit_test(without_memory_there_is_no_list),
	};

	return cmocka_run_group_tests(tests, begin, end);
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Matchings of a 3x3 mesh without any one element, and without any two. Each case has rounds and a
 * bound, or a pair of endpoints without a route. The checker accepts both.
 */
#include "../bench/matchings_checked.h"
#include "../internal/planner.h"
#include "faults.h"
#include "searching.h"

#define MOST 12 /* endpoints */
#define ELEMENTS 34

static struct morph_matchings_answer answer;
static uint32_t tx[MOST], rx[MOST], failed[2];
static struct morph_matchings_problem problem;
static uint32_t verdicts[MORPH_UNDECIDED + 1]; /* numbers of answers */
static uint32_t cuts; /* number of duplex pairs refused by one guide */

/* Endpoints evenly along the rim. */
static void ask(uint32_t kind, uint32_t endpoints)
{
	bool pairs = kind == MORPH_MATCHINGS_PAIRS;

	problem = (struct morph_matchings_problem){
		.sz = sizeof(problem),
		.kind = kind,
		.width = 3,
		.height = 3,
		.endpoints = endpoints,
		.tx = tx,
		.rx = pairs ? NULL : rx,
		.failed = failed,
		.first = true,
		.moves = 1000,
	};
	for (uint32_t at = 0; at < endpoints; at++) {
		tx[at] = pairs ? at * 24 / endpoints : 2 * at * 24 / (2 * endpoints);
		rx[at] = (2 * at + 1) * 24 / (2 * endpoints);
	}
	memset(verdicts, 0, sizeof(verdicts));
	cuts = 0;
}

/* Search without elements one and other, or with one of them only if they are equal. */
static void find(uint32_t one, uint32_t other)
{
	char report[256] = "";

	failed[0] = one;
	failed[1] = other;
	problem.failed_count = one == other ? 1 : 2;
	if (morph_matchings_find(search, &problem, &answer))
		fail_msg("%s", morph_error_text(ctx));
	verdicts[answer.verdict]++;
	cuts += answer.verdict == MORPH_INFEASIBLE && answer.cut_count;
	if (answer.verdict == MORPH_UNDECIDED)
		return;
	if (check_matchings(&problem, &answer, (struct morph_check_bytes){ 0 }, report,
			    sizeof(report)))
		fail_msg("without %u and %u: %s", one, other, report);
}

static void find_without_each(void)
{
	for (uint32_t element = 0; element < ELEMENTS; element++)
		find(element, element);
}

static void find_without_each_two(void)
{
	for (uint32_t one = 0; one < ELEMENTS; one++)
		for (uint32_t other = 0; other < one; other++)
			find(one, other);
}

static void expect(uint32_t feasible, uint32_t infeasible, uint32_t undecided)
{
	assert_int_equal(verdicts[MORPH_FEASIBLE], feasible);
	assert_int_equal(verdicts[MORPH_INFEASIBLE], infeasible);
	assert_int_equal(verdicts[MORPH_UNDECIDED], undecided);
}

static void each_element_has_rounds_or_a_separated_pair(void **state)
{
	(void)state;
	ask(MORPH_MATCHINGS_PAIRS, 8);
	find_without_each();
	expect(24, 10, 0);
	ask(MORPH_MATCHINGS_PAIRS, 12);
	find_without_each();
	expect(10, 24, 0);
	ask(MORPH_MATCHINGS_DIRECTED, 6);
	find_without_each();
	expect(18, 16, 0);
	ask(MORPH_MATCHINGS_DUPLEX, 6);
	find_without_each();
	expect(8, 26, 0);
}

static void each_two_elements_have_rounds_or_a_separated_pair(void **state)
{
	(void)state;
	ask(MORPH_MATCHINGS_PAIRS, 8);
	find_without_each_two();
	expect(237, 324, 0);
	ask(MORPH_MATCHINGS_DUPLEX, 4);
	find_without_each_two();
	expect(248, 313, 0);
	assert_int_equal(cuts, 8);
}

/* Each walk between the endpoints passes one element in two states. */
static const struct {
	uint32_t failed[2], src, dst;
} walks[] = {
	{ { 16, 17 }, 2, 6 },
	{ { 23, 26 }, 4, 6 },
	{ { 25, 27 }, 4, 5 },
};

static void a_pair_with_walks_only_is_refused(void **state)
{
	(void)state;
	ask(MORPH_MATCHINGS_PAIRS, 8);
	for (uint32_t at = 0; at < 3; at++) {
		find(walks[at].failed[0], walks[at].failed[1]);
		assert_int_equal(answer.bound, 0);
		assert_int_equal(answer.src, walks[at].src);
		assert_int_equal(answer.dst, walks[at].dst);
	}
	expect(0, 3, 0);
}

static void a_pair_with_walks_only_is_refused_in_any_rounds(void **state)
{
	(void)state;
	ask(MORPH_MATCHINGS_PAIRS, 8);
	problem.first = false;
	for (problem.rounds = 7; problem.rounds < 30; problem.rounds += 11)
		find(walks[0].failed[0], walks[0].failed[1]);
	expect(0, 3, 0);
	assert_int_equal(answer.bound, 0);
	assert_int_equal(answer.src, walks[0].src);
	assert_int_equal(answer.dst, walks[0].dst);
}

static void a_target_with_walks_only_is_refused(void **state)
{
	static const uint32_t targets[] = { 1, MORPH_ANY };

	(void)state;
	ask(MORPH_MATCHINGS_DIRECTED, 2);
	tx[0] = 3 * walks[0].src;
	rx[1] = 3 * walks[0].dst;
	rx[0] = tx[1] = MORPH_ANY;
	problem.targets = targets;
	for (problem.rounds = 0; problem.rounds < 2; problem.rounds++)
		find(walks[0].failed[0], walks[0].failed[1]);
	expect(0, 2, 0);
}

static void a_warm_refusal_allocates_nothing(void **state)
{
	(void)state;
	ask(MORPH_MATCHINGS_PAIRS, 8);
	find(16, 17);
	allocations();
	assert_int_equal(morph_matchings_find(search, &problem, &answer), 0);
	assert_int_equal(allocations(), 0);
	assert_int_equal(answer.verdict, MORPH_INFEASIBLE);
}

/*
 * From one endpoint of a pair, many routes lead to the place that both circuits need. From the
 * other one, few do.
 */
static void a_duplex_pair_is_refused_from_its_better_side(void **state)
{
	(void)state;
	ask(MORPH_MATCHINGS_DUPLEX, 8);
	problem.width = problem.height = 5;
	for (uint32_t at = 0; at < 8; at++) {
		tx[at] = 5 * at;
		rx[at] = (2 * at + 1) * 40 / 16;
	}
	for (problem.rounds = 0; problem.rounds <= 20; problem.rounds += 20) {
		find(39, 39);
		find(45, 45);
	}
	expect(0, 4, 0);
}

/* A pair without a route at some ports proves nothing about other ports. */
static void a_pair_of_chosen_ports_refuses_nothing(void **state)
{
	(void)state;
	ask(MORPH_MATCHINGS_DIRECTED, 4);
	problem.width = 1;
	problem.height = 2;
	problem.tx = problem.rx = NULL;
	problem.failed_count = 0;
	problem.first = false;
	for (problem.seed = 0; problem.seed < 20; problem.seed++) {
		assert_int_equal(morph_matchings_find(search, &problem, &answer), 0);
		assert_int_not_equal(answer.verdict, MORPH_INFEASIBLE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_element_has_rounds_or_a_separated_pair),
		cmocka_unit_test(each_two_elements_have_rounds_or_a_separated_pair),
		cmocka_unit_test(a_pair_with_walks_only_is_refused),
		cmocka_unit_test(a_pair_with_walks_only_is_refused_in_any_rounds),
		cmocka_unit_test(a_target_with_walks_only_is_refused),
		cmocka_unit_test(a_warm_refusal_allocates_nothing),
		cmocka_unit_test(a_duplex_pair_is_refused_from_its_better_side),
		cmocka_unit_test(a_pair_of_chosen_ports_refuses_nothing),
	};

	return cmocka_run_group_tests(tests, begin_search, end_search);
}

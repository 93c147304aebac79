// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Bounds of matchings by a cut. Failed elements leave few guides between two parts of a mesh. The
 * checker accepts the set of elements that the search names, and refuses mutations of it.
 */
#include <stdio.h>

#include "../bench/matchings_checked.h"
#include "../internal/planner.h"
#include "faults.h"
#include "searching.h"

#define MOST 8 /* endpoints */

static struct morph_matchings_answer answer;
static uint32_t tx[MOST], rx[MOST], failed[2], targets[MOST], changed[64];
static struct morph_matchings_problem problem;
static char report[256];

/* Endpoints evenly along the rim of a 3x3 mesh with two failed elements. */
static void ask(uint32_t kind, uint32_t endpoints, uint32_t one, uint32_t other)
{
	bool pairs = kind == MORPH_MATCHINGS_PAIRS;

	failed[0] = one;
	failed[1] = other;
	problem = (struct morph_matchings_problem){
		.sz = sizeof(problem),
		.kind = kind,
		.width = 3,
		.height = 3,
		.endpoints = endpoints,
		.tx = tx,
		.rx = pairs ? NULL : rx,
		.failed = failed,
		.failed_count = 2,
		.moves = 3000,
	};
	for (uint32_t at = 0; at < endpoints; at++) {
		tx[at] = pairs ? at * 24 / endpoints : 2 * at * 24 / (2 * endpoints);
		rx[at] = (2 * at + 1) * 24 / (2 * endpoints);
	}
	if (morph_matchings_find(search, &problem, &answer))
		fail_msg("%s", morph_error_text(ctx));
}

static int check(void)
{
	return check_matchings(&problem, &answer, (struct morph_check_bytes){ 0 }, report,
			       sizeof(report));
}

static void refused(int error, const char *text)
{
	assert_int_equal(check(), error);
	assert_string_equal(report, text);
}

/* The bound is that of a cut, and the checker accepts it. Other bounds are smaller. */
static void expect_cut(uint32_t bound)
{
	uint64_t arms = 2 * (uint64_t)(answer.elements - problem.failed_count);

	assert_int_equal(answer.bound_kind, MORPH_MATCHINGS_CUT);
	assert_int_equal(answer.bound, bound);
	assert_true(answer.bound > problem.endpoints - 1);
	assert_true(answer.bound > (answer.distance + arms - 1) / arms);
	assert_int_equal(answer.lengths_count, 0);
	assert_int_equal(check(), 0);
}

/* A test changes the set of the answer. */
static void copy_set(void)
{
	memcpy(changed, answer.cut, answer.cut_count * sizeof(*changed));
	answer.cut = changed;
}

static void narrow_meshes_have_a_bound_by_a_cut(void **state)
{
	(void)state;
	ask(MORPH_MATCHINGS_PAIRS, 8, 14, 23);
	expect_cut(12);
	ask(MORPH_MATCHINGS_DIRECTED, 6, 14, 23);
	expect_cut(13);
	ask(MORPH_MATCHINGS_DIRECTED, 6, 3, 14);
	expect_cut(10);
	assert_int_equal(answer.rounds, 10);
	ask(MORPH_MATCHINGS_DUPLEX, 8, 3, 30);
	expect_cut(12);
}

/* Both circuits of a duplex pair take two of three guides. Directed circuits have the same flow. */
static void an_odd_cut_exceeds_the_flow_of_duplex_pairs(void **state)
{
	(void)state;
	ask(MORPH_MATCHINGS_DIRECTED, 8, 3, 30);
	assert_int_equal(answer.bound_kind, MORPH_MATCHINGS_FRACTIONAL);
	assert_int_equal(answer.bound, 11);
	ask(MORPH_MATCHINGS_DUPLEX, 8, 3, 30);
	expect_cut(12);
}

static void too_few_rounds_are_refused_by_a_cut(void **state)
{
	(void)state;
	ask(MORPH_MATCHINGS_PAIRS, 8, 14, 23);
	problem.rounds = 11;
	assert_int_equal(morph_matchings_find(search, &problem, &answer), 0);
	assert_int_equal(answer.verdict, MORPH_INFEASIBLE);
	expect_cut(12);
	problem.rounds = 12;
	refused(-EBADMSG, "a bound of 12 rounds does not exclude 12 rounds");
}

/* Six endpoints send to another six; three guides leave the left part of the mesh. */
static void targets_have_a_bound_by_a_cut(void **state)
{
	(void)state;
	ask(MORPH_MATCHINGS_DIRECTED, 6, 3, 14);
	for (uint32_t at = 0; at < 6; at++)
		targets[at] = (at + 3) % 6;
	problem.targets = targets;
	assert_int_equal(morph_matchings_find(search, &problem, &answer), 0);
	assert_int_equal(answer.bound_kind, MORPH_MATCHINGS_CUT);
	assert_int_equal(check(), 0);
}

/* Each other set of one element more or less proves another bound, or the same one. */
static void wrong_sets_are_refused(void **state)
{
	uint32_t refusals = 0;

	(void)state;
	ask(MORPH_MATCHINGS_DIRECTED, 6, 3, 14);
	assert_int_equal(answer.cut_count, 3);
	copy_set();
	for (uint32_t at = 0; at < 3; at++) {
		uint32_t kept = changed[at];

		for (uint32_t element = 0; element < answer.elements; element++) {
			changed[at] = element;
			if (element != kept && check()) {
				assert_non_null(strstr(report, "circuits across the cut: "));
				refusals++;
			}
		}
		changed[at] = kept;
	}
	assert_true(refusals > 80);
	answer.cut_count = 2;
	assert_int_equal(check(), -EBADMSG);
	answer.cut_count = 0;
	refused(-EBADMSG, "no guide leaves the set of the cut");
	changed[0] = 34;
	answer.cut_count = 1;
	refused(-EINVAL, "no element 34 (0-33)");
}

static void a_wrong_number_of_rounds_is_refused(void **state)
{
	(void)state;
	ask(MORPH_MATCHINGS_DIRECTED, 6, 3, 14);
	answer.bound++;
	refused(-EBADMSG, "circuits across the cut: 10, guides: 1; these prove 10 rounds, not 11");
	answer.bound -= 2;
	refused(-EBADMSG, "circuits across the cut: 10, guides: 1; these prove 10 rounds, not 9");
	ask(MORPH_MATCHINGS_DUPLEX, 8, 3, 30);
	answer.bound--;
	refused(-EBADMSG, "circuits across the cut: 24, guides: 3; these prove 12 rounds, not 11");
}

/* Both circuits of the pair would need the only guide that leaves the set. */
static void one_guide_separates_a_duplex_pair(void **state)
{
	(void)state;
	ask(MORPH_MATCHINGS_DUPLEX, 4, 6, 3);
	assert_int_equal(answer.verdict, MORPH_INFEASIBLE);
	assert_int_equal(answer.bound, 0);
	assert_int_equal(answer.src, 0);
	assert_int_equal(answer.dst, 1);
	assert_true(answer.cut_count);
	assert_int_equal(check(), 0);
	answer.dst = 0;
	refused(-EBADMSG, "the refusal has no pair: endpoints 0 and 0");
	answer.src = 2;
	answer.dst = 3;
	refused(-EBADMSG, "guides of the cut: 1; these do not separate endpoints 2 and 3");
	answer.src = 0;
	answer.dst = 1;
	problem.failed_count = 1;
	refused(-EBADMSG, "guides of the cut: 2; these do not separate endpoints 0 and 1");
	problem.failed_count = 2;
	problem.kind = MORPH_MATCHINGS_DIRECTED;
	refused(-EBADMSG, "guides of the cut: 1; these do not separate endpoints 0 and 1");
	answer.cut_count = 0;
	assert_int_equal(check(), -EBADMSG);
	assert_non_null(strstr(report, "endpoint 0 has a route to endpoint 1 of "));
	problem.kind = MORPH_MATCHINGS_DUPLEX;
	assert_int_equal(check(), 0); /* by all routes */
	problem.failed_count = 0;
	refused(-EBADMSG, "one round can join endpoints 0 and 1 both ways by 23 elements");
}

/* The guides of the failed elements carry circuits in the whole mesh. */
static void each_guide_counts(void **state)
{
	(void)state;
	ask(MORPH_MATCHINGS_DIRECTED, 6, 3, 14);
	problem.failed_count = 1;
	refused(-EBADMSG, "circuits across the cut: 10, guides: 2; these prove 5 rounds, not 10");
	problem.failed_count = 0;
	answer.verdict = MORPH_INFEASIBLE; /* without its rounds */
	problem.rounds = 9;
	refused(-EBADMSG, "circuits across the cut: 10, guides: 3; these prove 4 rounds, not 10");
}

static void a_cut_does_not_hold_for_chosen_ports(void **state)
{
	(void)state;
	ask(MORPH_MATCHINGS_PAIRS, 8, 14, 23);
	problem.tx = NULL;
	refused(-EBADMSG, "a bound of kind 2 does not hold for other ports than the chosen ones");
}

static void a_warm_search_for_a_cut_allocates_nothing(void **state)
{
	(void)state;
	ask(MORPH_MATCHINGS_DUPLEX, 8, 3, 30);
	allocations();
	ask(MORPH_MATCHINGS_DUPLEX, 8, 3, 30);
	assert_int_equal(allocations(), 0);
	expect_cut(12);
}

static void memory_of_the_checker_can_run_out(void **state)
{
	uint32_t struck = 0;

	(void)state;
	ask(MORPH_MATCHINGS_PAIRS, 8, 14, 23);
	for (uint32_t nth = 1;; nth++) {
		int ret;

		fault_at("memory", nth, ENOMEM);
		ret = check();
		if (!fault_struck())
			break;
		assert_int_equal(ret, -ENOMEM);
		struck++;
	}
	assert_true(struck > 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(narrow_meshes_have_a_bound_by_a_cut),
		cmocka_unit_test(an_odd_cut_exceeds_the_flow_of_duplex_pairs),
		cmocka_unit_test(too_few_rounds_are_refused_by_a_cut),
		cmocka_unit_test(targets_have_a_bound_by_a_cut),
		cmocka_unit_test(wrong_sets_are_refused),
		cmocka_unit_test(a_wrong_number_of_rounds_is_refused),
		cmocka_unit_test(one_guide_separates_a_duplex_pair),
		cmocka_unit_test(each_guide_counts),
		cmocka_unit_test(a_cut_does_not_hold_for_chosen_ports),
		cmocka_unit_test(a_warm_search_for_a_cut_allocates_nothing),
		cmocka_unit_test(memory_of_the_checker_can_run_out),
	};

	return cmocka_run_group_tests(tests, begin_search, end_search);
}

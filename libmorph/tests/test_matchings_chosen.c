// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Exact searches of ports in small meshes. The checker tries all settings at all ports, without
 * code of the search, and accepts each bound.
 */
#include "../bench/matchings_checked.h"
#include "../internal/planner.h"
#include "faults.h"
#include "searching.h"

static struct morph_matchings_answer answer;
static struct morph_matchings_problem problem;

/* Search ports and the fewest rounds, or some rounds; 0: the fewest. The checker accepts all. */
static void find(uint32_t kind, uint32_t width, uint32_t height, uint32_t endpoints,
		 uint32_t rounds)
{
	char report[256] = "";

	problem = (struct morph_matchings_problem){
		.sz = sizeof(problem),
		.kind = kind,
		.width = width,
		.height = height,
		.endpoints = endpoints,
		.rounds = rounds,
		.seed = 1,
	};
	if (morph_matchings_find(search, &problem, &answer))
		fail_msg("%s", morph_error_text(ctx));
	assert_int_not_equal(answer.verdict, MORPH_UNDECIDED);
	if (check_matchings(&problem, &answer, (struct morph_check_bytes){ 0 }, report,
			    sizeof(report)))
		fail_msg("%s", report);
}

static void small_meshes_have_the_fewest_rounds_for_each_kind(void **state)
{
	static const struct {
		uint32_t kind, width, height, endpoints, rounds;
	} rows[] = {
		{ MORPH_MATCHINGS_DIRECTED, 1, 1, 2, 1 }, { MORPH_MATCHINGS_DIRECTED, 1, 1, 3, 2 },
		{ MORPH_MATCHINGS_DIRECTED, 1, 1, 4, 3 }, { MORPH_MATCHINGS_DIRECTED, 1, 2, 4, 3 },
		{ MORPH_MATCHINGS_DIRECTED, 1, 2, 5, 4 }, { MORPH_MATCHINGS_DUPLEX, 1, 1, 3, 3 },
		{ MORPH_MATCHINGS_DUPLEX, 1, 1, 4, 3 },	  { MORPH_MATCHINGS_DUPLEX, 1, 2, 4, 3 },
		{ MORPH_MATCHINGS_DUPLEX, 3, 1, 3, 3 },	  { MORPH_MATCHINGS_PAIRS, 1, 1, 3, 3 },
		{ MORPH_MATCHINGS_PAIRS, 1, 2, 5, 5 },	  { MORPH_MATCHINGS_PAIRS, 3, 1, 5, 5 },
		{ MORPH_MATCHINGS_PAIRS, 1, 2, 7, 8 },	  { MORPH_MATCHINGS_PAIRS, 1, 3, 7, 7 },
		{ MORPH_MATCHINGS_PAIRS, 1, 2, 9, 12 },	  { MORPH_MATCHINGS_PAIRS, 1, 2, 10, 16 },
		{ MORPH_MATCHINGS_DIRECTED, 3, 1, 4, 3 }, { MORPH_MATCHINGS_DIRECTED, 3, 1, 5, 4 },
		{ MORPH_MATCHINGS_DUPLEX, 3, 1, 4, 3 },	  { MORPH_MATCHINGS_DUPLEX, 1, 2, 5, 6 },
	};

	(void)state;
	for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
		find(rows[row].kind, rows[row].width, rows[row].height, rows[row].endpoints, 0);
		assert_int_equal(answer.verdict, MORPH_FEASIBLE);
		assert_int_equal(answer.rounds, rows[row].rounds);
		assert_int_equal(answer.bound, rows[row].rounds);
	}
}

/* No ports of a single cell have routes for all pairs of five endpoints or more. */
static void a_mesh_without_ports_for_all_pairs_is_refused(void **state)
{
	(void)state;
	for (uint32_t endpoints = 5; endpoints <= 8; endpoints++) {
		find(MORPH_MATCHINGS_PAIRS, 1, 1, endpoints, 0);
		assert_int_equal(answer.verdict, MORPH_INFEASIBLE);
		assert_int_equal(answer.bound_kind, MORPH_MATCHINGS_EXHAUSTIVE);
		assert_int_equal(answer.bound, endpoints * (endpoints - 1) / 2 + 1);
	}
	find(MORPH_MATCHINGS_PAIRS, 1, 1, 5, 5);
	assert_int_equal(answer.verdict, MORPH_INFEASIBLE);
	assert_int_equal(answer.bound, 11);
}

/* A round of an odd number of endpoints leaves one idle, which refutes most ports. */
static void an_odd_number_of_endpoints_is_refused_in_few_moves(void **state)
{
	char report[256] = "";

	(void)state;
	problem = (struct morph_matchings_problem){
		.sz = sizeof(problem),
		.kind = MORPH_MATCHINGS_PAIRS,
		.width = 1,
		.height = 3,
		.endpoints = 9,
		.rounds = 9,
		.seed = 1,
		.moves = 700,
	};
	assert_int_equal(morph_matchings_find(search, &problem, &answer), 0);
	assert_int_equal(answer.verdict, MORPH_INFEASIBLE);
	assert_int_equal(answer.bound, 10);
	if (check_matchings(&problem, &answer, (struct morph_check_bytes){ 0 }, report,
			    sizeof(report)))
		fail_msg("%s", report);
}

/* Symmetries and weights save moves: at most this number is enough. */
static void rounds_of_each_kind_take_few_moves(void **state)
{
	static const struct {
		uint32_t kind, width, height, endpoints, rounds, moves;
	} rows[] = {
		{ MORPH_MATCHINGS_PAIRS, 1, 2, 10, 16, 2000 },
		{ MORPH_MATCHINGS_DUPLEX, 1, 2, 5, 6, 1000 },
		{ MORPH_MATCHINGS_DUPLEX, 3, 1, 4, 3, 100 },
		{ MORPH_MATCHINGS_DIRECTED, 3, 1, 4, 3, 30 },
		{ MORPH_MATCHINGS_DIRECTED, 3, 1, 5, 4, 200 },
	};

	(void)state;
	for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
		problem = (struct morph_matchings_problem){
			.sz = sizeof(problem),
			.kind = rows[row].kind,
			.width = rows[row].width,
			.height = rows[row].height,
			.endpoints = rows[row].endpoints,
			.seed = 1,
			.moves = rows[row].moves,
		};
		assert_int_equal(morph_matchings_find(search, &problem, &answer), 0);
		assert_int_equal(answer.verdict, MORPH_FEASIBLE);
		assert_int_equal(answer.rounds, rows[row].rounds);
		assert_int_equal(answer.bound, rows[row].rounds);
	}
}

/* The refusal needs a search of ports only, of any number of rounds. */
static void a_mesh_without_ports_for_all_pairs_is_refused_in_few_moves(void **state)
{
	char report[256] = "";

	(void)state;
	problem = (struct morph_matchings_problem){
		.sz = sizeof(problem),
		.kind = MORPH_MATCHINGS_PAIRS,
		.width = 3,
		.height = 1,
		.endpoints = 9,
		.seed = 1,
		.moves = 2,
	};
	assert_int_equal(morph_matchings_find(search, &problem, &answer), 0);
	assert_int_equal(answer.verdict, MORPH_INFEASIBLE);
	assert_int_equal(answer.bound, 37);
	if (check_matchings(&problem, &answer, (struct morph_check_bytes){ 0 }, report,
			    sizeof(report)))
		fail_msg("%s", report);
}

/* Evenly spread ports lack routes, and the budget ends before the exact search. */
static void other_ports_have_routes_for_all_pairs(void **state)
{
	static const struct {
		uint32_t kind, width, height, endpoints;
	} rows[] = {
		{ MORPH_MATCHINGS_DUPLEX, 1, 3, 8 },
		{ MORPH_MATCHINGS_DUPLEX, 3, 1, 7 },
		{ MORPH_MATCHINGS_DIRECTED, 3, 1, 6 },
	};
	char report[256] = "";

	(void)state;
	for (size_t row = 0; row < 2 * sizeof(rows) / sizeof(rows[0]); row++) {
		problem = (struct morph_matchings_problem){
			.sz = sizeof(problem),
			.kind = rows[row / 2].kind,
			.width = rows[row / 2].width,
			.height = rows[row / 2].height,
			.endpoints = rows[row / 2].endpoints,
			.seed = 1,
			.moves = row % 2 ? 0 : 300,
			.first = row % 2,
		};
		assert_int_equal(morph_matchings_find(search, &problem, &answer), 0);
		assert_int_equal(answer.verdict, MORPH_FEASIBLE);
		assert_true(answer.moves < 1000);
		if (check_matchings(&problem, &answer, (struct morph_check_bytes){ 0 }, report,
				    sizeof(report)))
			fail_msg("%s", report);
	}
}

/* Six endpoints use all ports of the mesh. */
static void too_few_rounds_of_directed_circuits_are_refused(void **state)
{
	(void)state;
	find(MORPH_MATCHINGS_DIRECTED, 1, 2, 6, 5);
	assert_int_equal(answer.verdict, MORPH_INFEASIBLE);
	assert_int_equal(answer.bound_kind, MORPH_MATCHINGS_EXHAUSTIVE);
	assert_int_equal(answer.bound, 6);
}

/* The bound of a number of rounds is searched without the bounds of smaller ones. */
static void rounds_of_pairs_far_from_the_degree_are_decided(void **state)
{
	(void)state;
	find(MORPH_MATCHINGS_PAIRS, 1, 3, 9, 10);
	assert_int_equal(answer.verdict, MORPH_INFEASIBLE);
	assert_int_equal(answer.bound, 11);
	find(MORPH_MATCHINGS_PAIRS, 1, 3, 12, 18);
	assert_int_equal(answer.verdict, MORPH_FEASIBLE);
}

static void a_warm_search_of_ports_allocates_nothing(void **state)
{
	(void)state;
	for (uint32_t kind = 0; kind <= MORPH_MATCHINGS_PAIRS; kind++) {
		for (uint32_t again = 0; again < 2; again++) {
			allocations();
			problem = (struct morph_matchings_problem){
				.sz = sizeof(problem),
				.kind = kind,
				.width = 1,
				.height = 1 + (kind != MORPH_MATCHINGS_PAIRS),
				.endpoints = kind == MORPH_MATCHINGS_DIRECTED ? 6 : 5,
				.seed = 1,
				.moves = 1000,
			};
			assert_int_equal(morph_matchings_find(search, &problem, &answer), 0);
		}
		assert_int_equal(allocations(), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_meshes_have_the_fewest_rounds_for_each_kind),
		cmocka_unit_test(a_mesh_without_ports_for_all_pairs_is_refused),
		cmocka_unit_test(an_odd_number_of_endpoints_is_refused_in_few_moves),
		cmocka_unit_test(rounds_of_each_kind_take_few_moves),
		cmocka_unit_test(a_mesh_without_ports_for_all_pairs_is_refused_in_few_moves),
		cmocka_unit_test(other_ports_have_routes_for_all_pairs),
		cmocka_unit_test(too_few_rounds_of_directed_circuits_are_refused),
		cmocka_unit_test(rounds_of_pairs_far_from_the_degree_are_decided),
		cmocka_unit_test(a_warm_search_of_ports_allocates_nothing),
	};

	return cmocka_run_group_tests(tests, begin_search, end_search);
}

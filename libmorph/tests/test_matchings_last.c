// SPDX-License-Identifier: LGPL-2.1-or-later
/* The search of all routes for the circuits of the last rounds that clash. */
#include "../bench/matchings_checked.h"
#include "searching.h"

#define PORTS 24 /* of a mesh of 3 x 3 cells */

static struct morph_matchings_answer answer;
static struct morph_matchings_problem problem;
static uint32_t tx[8], rx[8], targets[8];
static uint32_t joined, refused;

/* The checker accepts an answer to the problem. */
static void accept_answer(void)
{
	char report[256] = "";

	if (check_matchings(&problem, &answer, (struct morph_check_bytes){ 0 }, report,
			    sizeof(report)))
		fail_msg("%s", report);
}

/* Join endpoints of which none has a mate in @used in all ways, each way in one round. */
static void join_pairs(uint32_t used)
{
	uint32_t one = (uint32_t)__builtin_ctz(~used);

	if (one == 8) {
		assert_int_equal(morph_matchings_find(search, &problem, &answer), 0);
		joined += answer.verdict == MORPH_FEASIBLE;
		refused += answer.verdict != MORPH_FEASIBLE;
		if (answer.verdict == MORPH_FEASIBLE)
			accept_answer();
		return;
	}
	for (uint32_t other = one + 1; other < 8; other++) {
		if (used >> other & 1)
			continue;
		tx[one] = one * PORTS / 8;
		rx[one] = MORPH_ANY;
		tx[other] = MORPH_ANY;
		rx[other] = other * PORTS / 8;
		targets[one] = other;
		targets[other] = MORPH_ANY;
		join_pairs(used | 1U << one | 1U << other);
	}
}

/* Published counts, which a solver of Boolean formulas has proved. */
static void all_pairings_of_eight_ports_that_fit_are_found(void **state)
{
	(void)state;
	problem = (struct morph_matchings_problem){
		.sz = sizeof(problem),
		.kind = MORPH_MATCHINGS_DIRECTED,
		.width = 3,
		.height = 3,
		.endpoints = 8,
		.tx = tx,
		.rx = rx,
		.targets = targets,
		.rounds = 1,
		.seed = 1,
		.moves = 10,
	};
	join_pairs(0);
	assert_int_equal(joined, 91);
	assert_int_equal(refused, 14);
}

/* Exchanges of circuits alone do not find these rounds in as many moves. */
static void the_last_rounds_that_clash_take_few_moves(void **state)
{
	static const struct {
		uint32_t kind, endpoints, tx[10], rx[10];
	} rows[] = {
		{ MORPH_MATCHINGS_PAIRS, 10, { 19, 22, 16, 7, 2, 21, 9, 6, 18, 1 }, { 0 } },
		{ MORPH_MATCHINGS_PAIRS, 10, { 0, 8, 20, 3, 16, 18, 1, 19, 21, 15 }, { 0 } },
		{ MORPH_MATCHINGS_PAIRS, 10, { 5, 14, 0, 3, 23, 4, 17, 6, 12, 15 }, { 0 } },
		{ MORPH_MATCHINGS_DUPLEX, 6, { 20, 19, 9, 0, 16, 1 }, { 10, 11, 13, 14, 21, 12 } },
		{ MORPH_MATCHINGS_DUPLEX, 6, { 21, 5, 16, 14, 17, 4 }, { 12, 11, 13, 23, 3, 0 } },
		{ MORPH_MATCHINGS_DUPLEX, 6, { 17, 19, 8, 12, 18, 0 }, { 15, 23, 6, 21, 11, 5 } },
	};

	(void)state;
	for (uint32_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
		problem = (struct morph_matchings_problem){
			.sz = sizeof(problem),
			.kind = rows[row].kind,
			.width = 3,
			.height = 3,
			.endpoints = rows[row].endpoints,
			.tx = rows[row].tx,
			.rx = rows[row].kind == MORPH_MATCHINGS_PAIRS ? NULL : rows[row].rx,
			.rounds = rows[row].endpoints - 1,
			.seed = 1,
			.moves = 600,
		};
		assert_int_equal(morph_matchings_find(search, &problem, &answer), 0);
		assert_int_equal(answer.verdict, MORPH_FEASIBLE);
		accept_answer();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_pairings_of_eight_ports_that_fit_are_found),
		cmocka_unit_test(the_last_rounds_that_clash_take_few_moves),
	};

	return cmocka_run_group_tests(tests, begin_search, end_search);
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The order in which the search for matchings minimises: rounds, then the longest route and all
 * routes together, then the elements written between rounds.
 */
#include "../util/mix.h"
#include "searching.h"

#define MOST_ENDPOINTS 16
#define ORDERS 200 /* drawn for each answer */

static struct morph_matchings_answer answer;
static uint32_t tx[MOST_ENDPOINTS], rx[MOST_ENDPOINTS];
static struct morph_matchings_problem problem;

/* Endpoints evenly along the rim of a mesh of @side x @side. */
static void find(uint32_t kind, uint32_t side, uint32_t endpoints)
{
	bool pairs = kind == MORPH_MATCHINGS_PAIRS;
	uint32_t ports = 8 * side;

	problem = (struct morph_matchings_problem){
		.sz = sizeof(problem),
		.kind = kind,
		.width = side,
		.height = side,
		.endpoints = endpoints,
		.tx = tx,
		.rx = pairs ? NULL : rx,
		.seed = 1,
		.moves = 1000,
	};
	for (uint32_t at = 0; at < endpoints; at++) {
		tx[at] = pairs ? at * ports / endpoints : 2 * at * ports / (2 * endpoints);
		rx[at] = (2 * at + 1) * ports / (2 * endpoints);
	}
	if (morph_matchings_find(search, &problem, &answer))
		fail_msg("%s", morph_error_text(ctx));
	assert_int_equal(answer.verdict, MORPH_FEASIBLE);
}

/* The elements that a cycle of rounds in this order writes. An unused element keeps its state. */
static uint64_t count_writes(const uint32_t *order)
{
	uint64_t writes = 0;

	for (uint32_t element = 0; element < answer.elements; element++) {
		uint32_t held = MORPH_MATCHINGS_ANY;

		/* The first of two cycles leaves the states with which the second one begins. */
		for (uint32_t at = 0; at < 2 * answer.rounds; at++) {
			uint32_t round = order[at % answer.rounds];
			uint32_t state = answer.states[round * answer.elements + element];

			if (state == MORPH_MATCHINGS_ANY)
				continue;
			writes += at >= answer.rounds && state != held;
			held = state;
		}
	}
	return writes;
}

/* The order of the answer writes at least a twentieth less than drawn orders in the mean. */
static void expect_few_writes(uint64_t *random)
{
	const uint32_t rounds = answer.rounds;
	uint32_t order[2 * MOST_ENDPOINTS];
	uint64_t sum = 0;

	assert_in_range(rounds, 3, 2 * MOST_ENDPOINTS);
	for (uint32_t at = 0; at < rounds; at++)
		order[at] = at;
	assert_int_equal(answer.writes, count_writes(order));
	for (uint32_t draw = 0; draw < ORDERS; draw++) {
		for (uint32_t at = 0; at < rounds; at++) {
			uint32_t other = mix_below(random, at + 1), kept = order[at];

			order[at] = order[other];
			order[other] = kept;
		}
		sum += count_writes(order);
	}
	assert_true(answer.writes * ORDERS * 20 <= sum * 19);
}

static void the_order_of_rounds_saves_writes(void **state)
{
	uint64_t random = 1;

	(void)state;
	find(MORPH_MATCHINGS_PAIRS, 5, 16);
	expect_few_writes(&random);
	find(MORPH_MATCHINGS_DIRECTED, 5, 9);
	expect_few_writes(&random);
	find(MORPH_MATCHINGS_DUPLEX, 5, 8);
	expect_few_writes(&random);
}

/*
 * A duplex set of 8 endpoints has 7 rounds and routes of at most 14 elements. It is a directed set,
 * too. The search found 15 before it compared the longest routes of sets.
 */
static void the_longest_route_is_short_before_all_are(void **state)
{
	(void)state;
	find(MORPH_MATCHINGS_DIRECTED, 5, 8);
	assert_int_equal(answer.rounds, 7);
	assert_in_range(answer.longest, 1, 14);
	/* Two endpoints have no route of 14 elements. The search found routes of 17. */
	find(MORPH_MATCHINGS_PAIRS, 5, 16);
	assert_int_equal(answer.rounds, 15);
	assert_int_equal(answer.longest, 15);
	assert_in_range(answer.total, answer.distance, answer.distance * 103 / 100);
}

/* The search found routes of 16 and 19 elements while it shortened all routes together only. */
static void chosen_ports_have_a_short_longest_route(void **state)
{
	static const struct {
		uint32_t width, height, longest;
	} rows[] = { { 5, 5, 15 }, { 7, 3, 17 } };

	(void)state;
	for (uint32_t row = 0; row < 2; row++) {
		problem = (struct morph_matchings_problem){
			.sz = sizeof(problem),
			.kind = MORPH_MATCHINGS_PAIRS,
			.width = rows[row].width,
			.height = rows[row].height,
			.endpoints = 16,
			.seed = 1,
			.moves = 20000,
		};
		assert_int_equal(morph_matchings_find(search, &problem, &answer), 0);
		assert_int_equal(answer.rounds, 15);
		assert_in_range(answer.longest, 1, rows[row].longest);
		assert_in_range(answer.total, answer.distance, answer.distance * 106 / 100);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_order_of_rounds_saves_writes),
		cmocka_unit_test(the_longest_route_is_short_before_all_are),
		cmocka_unit_test(chosen_ports_have_a_short_longest_route),
	};

	return cmocka_run_group_tests(tests, begin_search, end_search);
}

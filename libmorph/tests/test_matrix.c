// SPDX-License-Identifier: LGPL-2.1-or-later
/* Plans for matrices. The test replays each plan. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../bench/random.h"
#include "../bench/tokens.h"
#include "alone.h"
#include "faults.h"
#include "matrix_exhaust.h"
#include "matrix_solving.h"

static void every_method_has_a_legal_plan_for_every_matrix(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 400; seed++) {
		struct matrix_problem problem = any_problem(seed);
		uint64_t best = UINT64_MAX;
		struct matrix_plan plan;

		problem.costs.scope = seed % 4 ? MORPH_DELAY_PORT_SCOPE : seed / 4 % 3;
		for (uint32_t method = 0; method < MATRIX_METHODS; method++) {
			problem.methods = 1U << method;
			if (method == MATRIX_MESH)
				continue;
			plan = solve(&problem);
			if (plan.bound_ps)
				assert_int_equal(plan.method, method);
			best = plan.span_ps < best ? plan.span_ps : best;
		}
		problem.methods = MATRIX_ALL;
		plan = solve(&problem);
		assert_true(plan.span_ps <= best);
		for (uint32_t method = 0; plan.bound_ps && method < MATRIX_METHODS; method++) {
			assert_true(plan.figures[method].tried || method == MATRIX_MESH);
			if (plan.figures[method].tried)
				assert_true(plan.figures[method].span_ps >= plan.span_ps);
		}
	}
}

/* Change one property of a send. The plan must then be invalid. */
static void mutate(uint64_t *random, const struct matrix_problem *problem, struct matrix_plan *plan,
		   struct matrix_send *sends)
{
	struct matrix_send *send = &sends[random_below(random, plan->count)];
	uint64_t *times[] = { &send->set_ps, &send->lit_ps, &send->until_ps };
	uint32_t one = 1 + random_below(random, 1000);

	switch (random_below(random, 7)) {
	case 0:
		*send = sends[--plan->count];
		break;
	case 1:
		sends[plan->count++] = *send;
		break;
	case 2:
		send->bytes += one;
		break;
	case 3:
		send->bytes -= one < send->bytes ? one : send->bytes;
		break;
	case 4:
		send->dst =
			(send->dst + 1 + random_below(random, problem->ranks - 1)) % problem->ranks;
		break;
	case 5:
		*times[random_below(random, 3)] += one;
		break;
	default:
		*times[random_below(random, 3)] -= one;
	}
}

static void plans_with_one_thing_changed_are_refused(void **state)
{
	static struct matrix_send sends[SENDS];
	uint64_t random = 1;
	uint32_t mutants = 0;

	(void)state;
	for (uint64_t seed = 1; mutants < 2000; seed++) {
		struct matrix_problem problem = any_problem(seed);
		struct matrix_plan plan = solve(&problem), mutant;

		for (uint32_t at = 0; plan.count && at < 10; at++, mutants++) {
			mutant = plan;
			memcpy(sends, plan.sends, plan.count * sizeof(*sends));
			mutant.sends = sends;
			mutate(&random, &problem, &mutant, sends);
			if (!wrong_with(&problem, &mutant))
				fail_msg("seed %u: the checker accepts a mutant", (uint32_t)seed);
		}
	}
}

/* The measured layer stays within the limits of the bench. */
static void layers_of_experts_are_near_the_load(void **state)
{
	static const struct tokens tokens = TOKENS_LAYER;
	double sum = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct matrix_problem problem = layer(seed, &tokens, TOKENS_CHANGE_PS);
		struct matrix_plan plan = solve(&problem);
		double ratio = (double)plan.span_ps / (double)plan.load_ps;

		assert_true(ratio <= 1.06);
		sum += ratio;
	}
	assert_true(sum / 200 <= 1.02);
}

static void other_sizes_are_near_the_bound(void **state)
{
	static const uint32_t ranks[] = { 4, 8, 16, 32, 64 }, bytes[] = { 1024, 4096, 8192 };
	static const double skews[] = { 0, 0.5, 1 };
	static const uint64_t changes[] = { 0, 3700000, 100000000, 1000000000 };

	(void)state;
	for (uint32_t at = 0; at < 5 * 3 * 3 * 4; at++) {
		struct tokens tokens = { .ranks = ranks[at % 5],
					 .experts = 8 * ranks[at % 5],
					 .tokens = 2048,
					 .chosen = 8,
					 .bytes = bytes[at / 5 % 3],
					 .skew = skews[at / 15 % 3] };
		uint32_t seeds = tokens.ranks < 32 ? 10 : 1;
		double sum = 0;

		for (uint64_t seed = 1; seed <= seeds; seed++) {
			struct matrix_problem problem = layer(seed, &tokens, changes[at / 45]);
			struct matrix_plan plan = solve(&problem);

			sum += (double)plan.span_ps / (double)plan.bound_ps;
		}
		if (sum / seeds > 1.05)
			fail_msg("%u ranks, %u bytes, change %u us: %.3f of the bound",
				 tokens.ranks, tokens.bytes, (uint32_t)(changes[at / 45] / 1000000),
				 sum / seeds);
	}
}

/* ------------------------------------------------------------ exactly known */

/*
 * For few ranks with few units for each other: compare with the best of all orders in whole units.
 */
static void compare_with_all_ways(uint32_t ranks, uint32_t units, uint32_t count, uint32_t equals,
				  double most_over)
{
	const uint64_t unit = 100000; /* bytes: a microsecond */
	double sum = 0, most = 0;
	uint32_t equal = 0, bounds = 0;

	for (uint64_t seed = 1; seed <= count; seed++) {
		struct matrix_problem problem = { .ranks = ranks,
						  .planes = 1,
						  .bytes = matrix,
						  .costs = link,
						  .methods = MATRIX_ALL };
		uint64_t random = seed, best;
		struct matrix_plan plan;
		double gap;

		for (uint32_t cell = 0; cell < ranks * ranks; cell++)
			matrix[cell] =
				cell % (ranks + 1) ? unit * random_below(&random, units + 1) : 0;
		matrix[1] += unit * !matrix[1];
		problem.costs.change_ps = random_below(&random, 5) * 500000;
		plan = solve(&problem);
		best = exhaust_problem(&problem, unit);
		assert_true(plan.bound_ps <= best && best < UINT64_MAX);
		gap = (double)plan.span_ps / (double)best - 1;
		equal += plan.span_ps <= best;
		bounds += plan.bound_ps == best;
		sum += gap;
		most = gap > most ? gap : most;
	}
	printf("%u ranks: %u of %u the best, the bound %u; over the best %.2f %% in the mean, %.2f %% at most\n",
	       ranks, equal, count, bounds, 100 * sum / count, 100 * most);
	assert_true(equal >= equals);
	assert_true(most <= most_over);
}

static void plans_of_few_ranks_are_near_the_optimum(void **state)
{
	(void)state;
	compare_with_all_ways(3, 3, 400, 400, 0);
	compare_with_all_ways(4, 2, 100, 90, 0.2);
}

static void exact_decompositions_keep_birkhoffs_bound(void **state)
{
	static const struct tokens tokens = TOKENS_LAYER;

	(void)state;
	for (uint64_t seed = 1; seed <= 50; seed++) {
		struct matrix_problem problem = layer(seed, &tokens, 0);
		struct matrix_plan plan;

		problem.methods = 1U << MATRIX_BIRKHOFF | 1U << MATRIX_GREEDY;
		plan = solve(&problem);
		assert_in_range(plan.figures[MATRIX_BIRKHOFF].steps, 7, 8 * 8 - 2 * 8 + 2);
		/* With free changes, the plan takes at most the time of the busiest port. */
		assert_true(plan.figures[MATRIX_BIRKHOFF].span_ps <= plan.bound_ps + 64);
		assert_in_range(plan.figures[MATRIX_GREEDY].steps, 7, 2 * 8 - 1);
	}
}

static void zeros_are_an_empty_plan(void **state)
{
	struct matrix_problem problem = { .ranks = 8, .planes = 2, .bytes = matrix, .costs = link };
	struct matrix_plan plan;

	(void)state;
	memset(matrix, 0, sizeof(matrix));
	for (uint32_t rank = 0; rank < 8; rank++)
		matrix[rank * 9] = 1000;
	plan = solve(&problem);
	assert_int_equal(plan.count, 0);
	assert_int_equal(plan.span_ps, 0);
	assert_int_equal(plan.bound, MATRIX_BOUND_NOTHING);
	assert_int_equal(lm_matrix_combine(solver, &plan), 0);
	assert_int_equal(plan.count, 0);
}

/* A rank with a single source, or a single destination. */
static void hot_rows_and_columns_take_no_longer_than_their_port(void **state)
{
	struct matrix_problem problem = { .ranks = 16, .planes = 1, .bytes = matrix, .costs = link };

	(void)state;
	for (uint32_t in = 0; in < 2; in++) {
		struct matrix_plan plan;

		memset(matrix, 0, sizeof(matrix));
		for (uint32_t rank = 0; rank < 16; rank++)
			if (rank != 5)
				matrix[in ? rank * 16 + 5 : 5 * 16 + rank] = 1000 + rank;
		plan = solve(&problem);
		assert_int_equal(plan.span_ps, plan.bound_ps);
		assert_int_equal(plan.bound, in ? MATRIX_BOUND_RECEIVE : MATRIX_BOUND_TRANSMIT);
		assert_int_equal(plan.bound_rank, 5);
		assert_int_equal(plan.count, 15);
	}
}

/* Two independent pairs: neither waits for the other. */
static void ranks_without_bytes_delay_nothing(void **state)
{
	struct matrix_problem problem = { .ranks = 32, .planes = 1, .bytes = matrix, .costs = link };
	struct matrix_plan plan;

	(void)state;
	memset(matrix, 0, sizeof(matrix));
	matrix[3 * 32 + 9] = 1000000;
	matrix[20 * 32 + 3] = 7;
	plan = solve(&problem);
	assert_int_equal(plan.count, 2);
	for (uint32_t at = 0; at < 2; at++)
		assert_int_equal(plan.sends[at].set_ps, 0);
	assert_int_equal(plan.span_ps, TOKENS_CHANGE_PS + 10000000);
}

static void circuits_that_are_held_are_kept_and_not_charged(void **state)
{
	static const struct matrix_circuit held[] = { { 0, 0, 1 }, { 0, 1, 2 }, { 0, 2, 0 } };
	struct matrix_problem problem = { .ranks = 3,
					  .planes = 1,
					  .bytes = matrix,
					  .costs = link,
					  .held = held,
					  .held_count = 3 };
	struct matrix_plan plan;

	(void)state;
	memset(matrix, 0, sizeof(matrix));
	matrix[1] = matrix[5] = matrix[6] = 100000;
	plan = solve(&problem);
	assert_int_equal(plan.span_ps, 1000000);
	assert_int_equal(plan.span_ps, plan.bound_ps);
	assert_int_equal(plan.figures[plan.method].changes, 0);
	matrix[2] = 100000;
	plan = solve(&problem);
	assert_int_equal(plan.span_ps, 2000000 + TOKENS_CHANGE_PS);
	assert_int_equal(plan.span_ps, plan.bound_ps);
	assert_int_equal(plan.figures[plan.method].changes, 1);
}

/* Seven planes for seven partners: from some delay on, never changing is best. */
static void a_mesh_wins_where_changes_take_long(void **state)
{
	static const struct tokens tokens = TOKENS_LAYER;
	struct matrix_problem problem = layer(1, &tokens, 0);
	struct matrix_plan plan;

	(void)state;
	problem.planes = 7;
	problem.costs.change_ps = 1000000000000;
	plan = solve(&problem);
	assert_int_equal(plan.method, MATRIX_MESH);
	assert_int_equal(plan.figures[MATRIX_MESH].steps, 1);
	assert_int_equal(plan.figures[MATRIX_MESH].changes, 7 * 8);
	assert_true(plan.figures[MATRIX_ROTATION].tried);
	problem.costs.change_ps = 100000;
	assert_int_not_equal(solve(&problem).method, MATRIX_MESH);
	problem.planes = 6;
	problem.methods = 1U << MATRIX_MESH;
	assert_int_equal(lm_matrix_solve(solver, &problem, &plan), -ENOENT);
}

/* Additional planes go to the partners with most bytes. A mesh that is held does not change. */
static void a_mesh_is_weighted_and_stays(void **state)
{
	struct matrix_problem problem = { .ranks = 4,
					  .planes = 6,
					  .bytes = matrix,
					  .costs = link,
					  .methods = 1U << MATRIX_MESH };
	struct matrix_plan plan;

	(void)state;
	for (uint32_t cell = 0; cell < 16; cell++)
		matrix[cell] = cell % 5 ? 100000 : 0;
	matrix[1] = matrix[4] = 400000;
	plan = solve(&problem);
	assert_int_equal(plan.span_ps, TOKENS_CHANGE_PS + 1000000);
	for (uint32_t at = 0; at < plan.count; at++)
		circuits[at] = (struct matrix_circuit){ plan.sends[at].plane, plan.sends[at].src,
							plan.sends[at].dst };
	problem.held = circuits;
	problem.held_count = plan.count;
	plan = solve(&problem);
	assert_int_equal(plan.figures[MATRIX_MESH].changes, 0);
	assert_int_equal(plan.span_ps, 1000000);
}

static void planes_share_the_load(void **state)
{
	static const struct tokens tokens = TOKENS_LAYER;

	(void)state;
	for (uint32_t planes = 1; planes <= 8; planes++) {
		double sum = 0;

		for (uint64_t seed = 1; seed <= 20; seed++) {
			struct matrix_problem problem = layer(seed, &tokens, TOKENS_CHANGE_PS);
			struct matrix_plan plan;

			problem.planes = planes;
			problem.costs.mbps = TOKENS_MBPS / planes;
			plan = solve(&problem);
			sum += (double)plan.span_ps / (double)plan.bound_ps;
		}
		assert_true(sum / 20 <= 1.02);
	}
}

/* If matchings of least cost take long, planes share rotations. */
static void more_ranks_than_are_quick_have_a_plan(void **state)
{
	struct matrix_problem problem = { .ranks = 70, .planes = 2, .bytes = matrix, .costs = link };
	uint64_t random = 1;
	struct matrix_plan plan;

	(void)state;
	for (uint32_t cell = 0; cell < 70 * 70; cell++)
		matrix[cell] = 1000000 + random_below(&random, 100000);
	plan = solve(&problem);
	assert_true(plan.figures[MATRIX_LONGEST].tried && !plan.figures[MATRIX_BIRKHOFF].tried);
	assert_true(plan.span_ps <= plan.figures[MATRIX_ROTATION].span_ps);
	assert_true((double)plan.span_ps <= 1.05 * (double)plan.bound_ps);
}

/* Many ranks, each with bytes for a few others. */
static struct matrix_problem sparse_problem(uint64_t seed)
{
	uint64_t random = seed;
	struct matrix_problem problem = {
		.ranks = 128, .planes = 1 + seed % 2, .bytes = matrix, .costs = link
	};
	uint32_t partners = 3 + random_below(&random, 14);

	problem.costs.port_ps = seed % 3 ? 0 : 1000 * random_below(&random, 20);
	for (uint32_t cell = 0; cell < 128 * 128; cell++)
		matrix[cell] = random_below(&random, 128) < partners ?
				       1 + random_below(&random, 3000000) :
				       0;
	return problem;
}

static void where_many_ranks_have_little_it_is_no_rotation(void **state)
{
	double gain = 0, over = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 24; seed++) {
		struct matrix_problem problem = sparse_problem(seed);
		struct matrix_plan plan;
		uint64_t rotation;

		problem.methods = 1U << MATRIX_ROTATION;
		rotation = solve(&problem).span_ps;
		problem.methods = 0;
		plan = solve(&problem);
		assert_true(plan.span_ps < rotation);
		gain += (double)rotation / (double)plan.span_ps;
		over += (double)plan.span_ps / (double)plan.bound_ps;
	}
	printf("128 ranks with few partners: rotation takes %.2f times as long, the plan %.2f of the bound\n",
	       gain / 24, over / 24);
	assert_true(gain / 24 >= 1.5);
	assert_true(over / 24 <= 1.1);
}

/*
 * With any budget for pairs, there is a plan, and it takes at most the work of a matching in
 * addition.
 */
static void budgets_are_kept(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct matrix_problem problem = sparse_problem(seed);
		uint64_t all;

		all = solve(&problem).looks;
		for (problem.budget = 1; problem.budget < all; problem.budget *= 16) {
			struct matrix_plan plan = solve(&problem);

			assert_true(plan.looks < problem.budget + 4 * 128 * 128);
			assert_true(plan.span_ps <= plan.figures[MATRIX_ROTATION].span_ps);
		}
	}
	/* Also for few ranks. */
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct matrix_problem problem = any_problem(seed);

		problem.budget = 1;
		assert_true(solve(&problem).looks <= 4 * 12 * 12);
	}
}

/*
 * 2048 tokens choose 8 of 64 experts each. If all experts are alike, an eighth stays on the rank.
 */
static void tokens_follow_the_described_distribution(void **state)
{
	struct tokens tokens = TOKENS_LAYER;

	(void)state;
	for (uint32_t skewed = 0; skewed < 2; skewed++) {
		uint64_t least = UINT64_MAX, most = 0;

		tokens.skew = skewed;
		tokens_matrix(&tokens, 1, matrix);
		for (uint32_t src = 0; src < 8; src++) {
			uint64_t sum = 0;

			assert_int_equal(matrix[src * 9], 0);
			for (uint32_t dst = 0; dst < 8; dst++) {
				uint64_t bytes = matrix[src * 8 + dst];

				assert_int_equal(bytes % tokens.bytes, 0);
				sum += bytes / tokens.bytes;
				if (src != dst && bytes < least)
					least = bytes;
				most = bytes > most ? bytes : most;
			}
			assert_true(sum <= 2048 * 8);
			if (!skewed)
				assert_in_range(sum, 2048 * 7 - 200, 2048 * 7 + 200);
		}
		assert_true(skewed ? most > 2 * least : most < 2 * least);
	}
}

/* If few pairs send and changes are short, it pays to send in parts. */
static void few_pairs_are_near_the_bound(void **state)
{
	struct matrix_problem problem = { .ranks = 16, .planes = 1, .bytes = matrix, .costs = link };
	double sum = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 50; seed++) {
		uint64_t random = seed;
		struct matrix_plan plan;

		for (uint32_t cell = 0; cell < 16 * 16; cell++)
			matrix[cell] = random_below(&random, 4) ? 0 :
								  random_below(&random, 100000000);
		plan = solve(&problem);
		sum += (double)plan.span_ps / (double)plan.bound_ps;
	}
	assert_true(sum / 50 <= 1.01);
}

/*
 * The way back is a plan for the transposed matrix. Without held circuits, and without times for
 * ports, it takes at most as long.
 */
static void combine_is_dispatch_turned_round(void **state)
{
	static uint64_t transposed[RANKS * RANKS];

	(void)state;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct matrix_problem problem = any_problem(seed), back = problem;
		struct matrix_plan there, plan;
		const char *why;

		problem.costs.scope = back.costs.scope = seed % 5 ? 0 : seed / 5 % 3;
		there = solve(&problem);
		for (uint32_t cell = 0; cell < problem.ranks * problem.ranks; cell++)
			transposed[cell % problem.ranks * problem.ranks + cell / problem.ranks] =
				matrix[cell];
		back.bytes = transposed;
		back.held_count = 0;
		assert_int_equal(lm_matrix_combine(solver, &plan), 0);
		why = wrong_with(&back, &plan);
		if (why)
			fail_msg("seed %u: %s", (uint32_t)seed, why);
		if (problem.held_count)
			continue;
		assert_int_equal(plan.bound_ps, there.bound_ps);
		if (problem.costs.scope == MORPH_DELAY_PORT_SCOPE && !problem.costs.port_ps)
			assert_true(plan.span_ps <= there.span_ps);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_method_has_a_legal_plan_for_every_matrix),
		cmocka_unit_test(plans_with_one_thing_changed_are_refused),
		cmocka_unit_test(layers_of_experts_are_near_the_load),
		cmocka_unit_test(other_sizes_are_near_the_bound),
		cmocka_unit_test(plans_of_few_ranks_are_near_the_optimum),
		cmocka_unit_test(exact_decompositions_keep_birkhoffs_bound),
		cmocka_unit_test(zeros_are_an_empty_plan),
		cmocka_unit_test(hot_rows_and_columns_take_no_longer_than_their_port),
		cmocka_unit_test(ranks_without_bytes_delay_nothing),
		cmocka_unit_test(circuits_that_are_held_are_kept_and_not_charged),
		cmocka_unit_test(a_mesh_wins_where_changes_take_long),
		cmocka_unit_test(a_mesh_is_weighted_and_stays),
		cmocka_unit_test(planes_share_the_load),
		cmocka_unit_test(more_ranks_than_are_quick_have_a_plan),
		cmocka_unit_test(where_many_ranks_have_little_it_is_no_rotation),
		cmocka_unit_test(budgets_are_kept),
		cmocka_unit_test(few_pairs_are_near_the_bound),
		cmocka_unit_test(tokens_follow_the_described_distribution),
		cmocka_unit_test(combine_is_dispatch_turned_round),
	};

	return cmocka_run_group_tests(tests, open_solver, close_solver);
}

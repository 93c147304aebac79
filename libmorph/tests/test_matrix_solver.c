// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Guarantees of the matrix solver for any problem: equal results for equal problems, no growing
 * memory, and errors.
 */
#include <stdlib.h>
#include <string.h>

#include "faults.h"
#include "matrix_solving.h"

static void the_same_matrix_has_the_same_plan(void **state)
{
	static struct matrix_send first[SENDS];

	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct matrix_solver *other = lm_matrix_new(ctx);
		struct matrix_problem problem = any_problem(seed);
		struct matrix_plan one = solve(&problem), again;

		memcpy(first, one.sends, one.count * sizeof(*first));
		assert_int_equal(lm_matrix_solve(other, &problem, &again), 0);
		assert_int_equal(one.count, again.count);
		for (uint32_t at = 0; at < one.count; at++)
			assert_memory_equal(&first[at], &again.sends[at], sizeof(*first));
		lm_matrix_free(other);
	}
}

static void solvers_that_are_warm_take_no_memory(void **state)
{
	static const struct tokens tokens = TOKENS_LAYER;

	(void)state;
	for (uint32_t planes = 1; planes <= 4; planes++) {
		struct matrix_problem problem = layer(planes, &tokens, TOKENS_CHANGE_PS);
		struct matrix_plan plan;

		problem.planes = planes;
		problem.methods = MATRIX_ALL;
		for (uint32_t twice = 0; twice < 2; twice++) {
			assert_int_equal(lm_matrix_solve(solver, &problem, &plan), 0);
			assert_int_equal(lm_matrix_combine(solver, &plan), 0);
		}
		allocations();
		assert_int_equal(lm_matrix_solve(solver, &problem, &plan), 0);
		assert_int_equal(lm_matrix_combine(solver, &plan), 0);
		assert_int_equal(allocations(), 0);
	}
}

/* Each failed allocation is reported, and the next call succeeds. */
static void lack_of_memory_is_reported(void **state)
{
	static const struct tokens tokens = TOKENS_LAYER;
	struct matrix_problem problem = layer(1, &tokens, TOKENS_CHANGE_PS);
	uint32_t failures = 0;

	(void)state;
	problem.planes = 2;
	problem.methods = MATRIX_ALL;
	for (uint32_t nth = 1;; nth++) {
		struct matrix_solver *fresh;
		struct matrix_plan plan;
		int ret = -ENOMEM;

		fault_at("memory", nth, ENOMEM);
		fresh = lm_matrix_new(ctx);
		if (fresh)
			ret = lm_matrix_solve(fresh, &problem, &plan);
		if (!ret)
			ret = lm_matrix_combine(fresh, &plan);
		if (!fault_struck())
			nth = 0;
		else
			assert_int_equal(ret, -ENOMEM);
		if (fresh && nth)
			assert_int_equal(lm_matrix_solve(fresh, &problem, &plan), 0);
		lm_matrix_free(fresh);
		if (!nth)
			break;
		failures++;
	}
	assert_true(failures > 5);
}

static void refuse(struct matrix_problem problem, int error)
{
	struct matrix_plan plan;

	assert_int_equal(lm_matrix_solve(solver, &problem, &plan), error);
	assert_int_equal(lm_matrix_combine(solver, &plan), -ENOENT);
}

static void invalid_problems_are_refused(void **state)
{
	static const struct matrix_circuit far = { 1, 0, 1 }, same = { 0, 1, 1 };
	static const struct matrix_circuit twice[] = { { 0, 0, 1 }, { 0, 2, 1 } };
	const struct matrix_problem good = {
		.ranks = 4, .planes = 1, .bytes = matrix, .costs = link
	};
	struct matrix_problem bad;

	(void)state;
	memset(matrix, 0, sizeof(matrix));
	lm_matrix_free(solver);
	solver = lm_matrix_new(ctx);
#define REFUSE(error, ...)          \
	do {                        \
		bad = good;         \
		__VA_ARGS__;        \
		refuse(bad, error); \
	} while (0)
	REFUSE(-EINVAL, bad.ranks = 0);
	REFUSE(-EINVAL, bad.planes = 0);
	REFUSE(-EINVAL, bad.costs.mbps = 0);
	REFUSE(-EINVAL, bad.costs.scope = 3);
	REFUSE(-EINVAL, bad.methods = MATRIX_ALL + 1);
	REFUSE(-E2BIG, bad.ranks = 4097);
	REFUSE(-E2BIG, bad.planes = 257);
	REFUSE(-E2BIG, bad.ranks = 4096; bad.planes = 256);
	REFUSE(-EINVAL, bad.held = &far; bad.held_count = 1);
	REFUSE(-EINVAL, bad.held = &same; bad.held_count = 1);
	REFUSE(-EINVAL, bad.held = twice; bad.held_count = 2);
	REFUSE(-EOVERFLOW, bad.costs.change_ps = 1ULL << 58);
	matrix[1] = UINT64_MAX;
	REFUSE(-EOVERFLOW, (void)0);
	matrix[1] = 1ULL << 50;
	REFUSE(-EOVERFLOW, bad.costs.mbps = 1);
	matrix[1] = 1ULL << 40;
	solve(&good);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_matrix_has_the_same_plan),
		cmocka_unit_test(solvers_that_are_warm_take_no_memory),
		cmocka_unit_test(lack_of_memory_is_reported),
		cmocka_unit_test(invalid_problems_are_refused),
	};

	return cmocka_run_group_tests(tests, open_solver, close_solver);
}

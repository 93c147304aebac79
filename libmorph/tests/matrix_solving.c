// SPDX-License-Identifier: LGPL-2.1-or-later
#include "../bench/random.h"
#include "matrix_solving.h"

struct matrix_solver *solver;
uint64_t matrix[RANKS * RANKS];
struct matrix_circuit circuits[RANKS * PLANES];
const struct costs link = { .mbps = TOKENS_MBPS, .change_ps = TOKENS_CHANGE_PS };

int open_solver(void **state)
{
	begin(state);
	solver = lm_matrix_new(ctx);
	return !solver;
}

int close_solver(void **state)
{
	lm_matrix_free(solver);
	return end(state);
}

struct matrix_plan solve(const struct matrix_problem *problem)
{
	struct matrix_plan plan;
	const char *why;

	if (lm_matrix_solve(solver, problem, &plan))
		fail_msg("%s", morph_error_text(ctx));
	why = wrong_with(problem, &plan);
	if (why)
		fail_msg("%u ranks, %u planes, method %u: %s", problem->ranks, problem->planes,
			 plan.method, why);
	return plan;
}

/* Draw a problem of a random kind from a seed, with its held circuits. */
struct matrix_problem any_problem(uint64_t seed)
{
	uint64_t random = seed;
	uint32_t ranks = 1 + random_below(&random, 12), planes = 1 + random_below(&random, 4);
	uint64_t mbps = 1 + random_below(&random, 800000);
	struct matrix_problem problem = { .ranks = ranks,
					  .planes = planes,
					  .bytes = matrix,
					  .held = circuits,
					  .costs.mbps = mbps };
	uint32_t shape = random_below(&random, 5);
	uint32_t most = 1U << random_below(&random, 24), hot = random_below(&random, ranks);

	problem.costs.change_ps = random_below(&random, 1U << random_below(&random, 30));
	problem.costs.port_ps = random_below(&random, 2);
	problem.costs.port_ps *= random_below(&random, 1000000);
	problem.costs.round_ps = random_below(&random, 2);
	problem.costs.round_ps *= random_below(&random, 1000000);
	for (uint32_t cell = 0; cell < ranks * ranks; cell++) {
		bool in_row = cell / ranks == hot, in_column = cell % ranks == hot;

		matrix[cell] = random_below(&random, most + 1);
		if ((shape == 1 && random_below(&random, 4)) || (shape == 2 && !in_row) ||
		    (shape == 3 && !in_column))
			matrix[cell] = 0;
		if (shape == 4 && (in_row || in_column))
			matrix[cell] *= 50;
	}
	for (uint32_t plane = 0; seed % 3 == 0 && plane < problem.planes; plane++) {
		uint32_t shift = random_below(&random, ranks);

		for (uint32_t src = 0; shift && src < ranks; src++)
			if (random_below(&random, 2))
				circuits[problem.held_count++] =
					(struct matrix_circuit){ plane, src,
								 (src + shift) % ranks };
	}
	return problem;
}

struct matrix_problem layer(uint64_t seed, const struct tokens *tokens, uint64_t change_ps)
{
	tokens_matrix(tokens, seed, matrix);
	return (struct matrix_problem){ .ranks = tokens->ranks,
					.planes = 1,
					.bytes = matrix,
					.costs = { .mbps = TOKENS_MBPS, .change_ps = change_ps } };
}

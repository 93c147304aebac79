// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Dispatch of experts' tokens. The benchmark compares the length of plans with the load of the
 * fullest port, and with exact decomposition and integer programs on the same matrices. It also
 * measures the planning time.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../matchings/matrix.h"
#include "bench.h"
#include "exact_matrix.h"
#include "tokens.h"

#define LAYERS 200
#define RACED 8U /* of them, also by integer programs */
#define SECONDS 4 /* limit for each of these */
#define PERCENT(value, of) (100 * ((double)(value) / (double)(of)-1))

static uint64_t matrix[TOKENS_RANKS * TOKENS_RANKS];

/* Of one setting. */
struct matrix_rows {
	struct samples load, bound, times; /* per cent above load and bound; processor time */
};

static struct matrix_problem problem_of(const struct tokens *tokens, uint64_t seed,
					uint64_t change_ps, uint32_t methods)
{
	tokens_matrix(tokens, seed, matrix);
	return (struct matrix_problem){ .ranks = tokens->ranks,
					.planes = 1,
					.bytes = matrix,
					.costs = { .mbps = TOKENS_MBPS, .change_ps = change_ps },
					.methods = methods };
}

/* Warm. */
static struct matrix_plan plan(struct morph_ctx *ctx, struct matrix_solver *solver,
			       const struct matrix_problem *problem, struct matrix_rows *rows)
{
	struct matrix_plan plan = { .bound_ps = 1, .load_ps = 1 };
	double begin;

	if (lm_matrix_solve(solver, problem, &plan))
		wrong(morph_error_text(ctx));
	begin = now_us();
	if (lm_matrix_solve(solver, problem, &plan))
		wrong(morph_error_text(ctx));
	sample(&rows->times, now_us() - begin);
	sample(&rows->load, PERCENT(plan.span_ps, plan.load_ps));
	sample(&rows->bound, PERCENT(plan.span_ps, plan.bound_ps));
	if (plan.span_ps < plan.bound_ps)
		wrong("a plan ends before its lower bound");
	return plan;
}

static void report_percent(const char *name, struct samples *samples, enum figure figure,
			   double limit, struct samples *reference)
{
	const struct row row = { .name = name,
				 .unit = "%",
				 .figure = figure,
				 .limit = limit,
				 .reference = reference,
				 .reference_name = "ours" };

	report_row(&row, samples);
}

/* The time of each pair with its change, in microseconds. */
static void times_of(const struct matrix_problem *problem, double *times)
{
	for (uint32_t cell = 0; cell < problem->ranks * problem->ranks; cell++)
		times[cell] =
			problem->bytes[cell] ?
				(double)(costs_bytes_ps(&problem->costs, problem->bytes[cell]) +
					 problem->costs.change_ps) /
					1e6 :
				0;
}

/*
 * The layer of the bars: the time until integer programs without preemption have a plan that ends
 * by then.
 */
static void race_layer(struct morph_ctx *ctx, struct matrix_solver *solver)
{
	static const struct tokens tokens = TOKENS_LAYER;
	static struct matrix_rows rows;
	static struct samples its;
	uint32_t equal = 0;
	char name[64];

	for (uint64_t seed = 1; seed <= RACED; seed++) {
		struct matrix_problem problem = problem_of(&tokens, seed, TOKENS_CHANGE_PS, 0);
		struct matrix_plan found = plan(ctx, solver, &problem, &rows);
		const struct exact_matrix_effort effort = {
			.seconds = SECONDS,
			.enough = (double)found.span_ps / 1e6 * (1 + 1e-6),
		};
		double times[TOKENS_RANKS * TOKENS_RANKS], begin = now_us(), best;

		times_of(&problem, times);
		best = exact_matrix(times, problem.ranks, &effort);
		sample(&its, now_us() - begin);
		equal += best >= 0;
		if (best >= 0 && (double)found.bound_ps / 1e6 > best * (1 + 1e-6))
			wrong("an integer program ends before the bound");
	}
	snprintf(name, sizeof(name), "  the first %u to a plan as good (CBC), %d s at most", RACED,
		 SECONDS);
	report_oracle(name, &its, &rows.times);
	remark("%u of these have one by then", equal);
}

/* The layer of the bars, beside exact decomposition. */
static void measure_layer(struct morph_ctx *ctx, struct matrix_solver *solver)
{
	static const struct tokens tokens = TOKENS_LAYER;
	static struct matrix_rows ours, exact;
	static struct samples matchings;

	for (uint64_t seed = 1; seed <= LAYERS; seed++) {
		struct matrix_problem problem = problem_of(&tokens, seed, TOKENS_CHANGE_PS, 0);

		plan(ctx, solver, &problem, &ours);
		problem.methods = 1U << MATRIX_BIRKHOFF;
		sample(&matchings,
		       plan(ctx, solver, &problem, &exact).figures[MATRIX_BIRKHOFF].steps);
	}
	report("dispatch, 8 ranks, 64 experts, changes of 3.7 us", &ours.times, P99, 50);
	report_percent("  over the load of the fullest port", &ours.load, MEAN, 2, NULL);
	report_percent("  the same, at most", &ours.load, MOST, 6, NULL);
	report_percent("  over the bound with changes", &ours.bound, NO_BAR, 0, NULL);
	report_oracle("  exact decomposition (Birkhoff)", &exact.times, &ours.times);
	report_percent("  its plans over the load", &exact.load, NO_BAR, 0, &ours.load);
	report_row(&(struct row){ .name = "  its matchings", .unit = "count" }, &matchings);
	race_layer(ctx, solver);
}

/* Other sizes: the worst mean over skews and tokens, for each delay and number of ranks. */
static void measure_sizes(struct morph_ctx *ctx, struct matrix_solver *solver, uint64_t change_ps)
{
	static const double skews[] = { 0, 0.5, 1 };
	static struct samples means;
	char name[80];

	means.count = 0;
	for (uint32_t ranks = 4; ranks <= TOKENS_RANKS; ranks *= 2) {
		for (uint32_t at = 0; at < 3 * 4; at++) {
			struct tokens tokens = TOKENS_LAYER;
			static struct matrix_rows rows;
			uint32_t seeds = ranks < 32 ? 20 : 2;
			double sum = 0;

			rows.times.count = rows.load.count = rows.bound.count = 0;
			tokens.ranks = ranks;
			tokens.experts = 8 * ranks;
			tokens.bytes = 1024U << at % 4;
			tokens.skew = skews[at / 4];
			for (uint64_t seed = 1; seed <= seeds; seed++) {
				struct matrix_problem problem =
					problem_of(&tokens, seed, change_ps, 0);

				plan(ctx, solver, &problem, &rows);
				sum += rows.bound.values[rows.bound.count - 1] / seeds;
			}
			sample(&means, sum);
		}
	}
	snprintf(name, sizeof(name), "  4 to 64 ranks, changes of %g us, over the bound",
		 (double)change_ps / 1e6);
	report_percent(name, &means, MOST, 5, NULL);
}

/* The same on several planes with the same total bandwidth. */
static void measure_planes(struct morph_ctx *ctx, struct matrix_solver *solver, uint32_t planes)
{
	static const struct tokens tokens = TOKENS_LAYER;
	static struct matrix_rows rows;
	char name[80];

	rows.times.count = rows.load.count = rows.bound.count = 0;
	for (uint64_t seed = 1; seed <= LAYERS; seed++) {
		struct matrix_problem problem = problem_of(&tokens, seed, TOKENS_CHANGE_PS, 0);

		problem.planes = planes;
		problem.costs.mbps = TOKENS_MBPS / planes;
		plan(ctx, solver, &problem, &rows);
	}
	snprintf(name, sizeof(name), "dispatch, 8 ranks on %u planes", planes);
	report(name, &rows.times, NO_BAR, 0);
	report_percent("  over the load of the fullest ports", &rows.load, NO_BAR, 0, NULL);
	report_percent("  over the bound with changes", &rows.bound, NO_BAR, 0, NULL);
}

/* Even matrices are the hardest. */
static void measure_large(struct morph_ctx *ctx, struct matrix_solver *solver)
{
	static struct matrix_rows rows;
	struct tokens tokens = TOKENS_LAYER;

	tokens.ranks = TOKENS_RANKS;
	tokens.experts = TOKENS_EXPERTS;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct matrix_problem problem;

		tokens.skew = seed % 2 ? 0 : 0.5;
		problem = problem_of(&tokens, seed, TOKENS_CHANGE_PS, 0);
		plan(ctx, solver, &problem, &rows);
	}
	report("dispatch, 64 ranks, 512 experts", &rows.times, MOST, 10000);
	report_percent("  over the bound with changes", &rows.bound, NO_BAR, 0, NULL);
}

/* Four ranks, and the result of integer programs without preemption. */
static void measure_small(struct morph_ctx *ctx, struct matrix_solver *solver)
{
	static struct matrix_rows rows;
	static struct samples its, over;
	const struct exact_matrix_effort proof = { .seconds = 0 };
	struct tokens tokens = TOKENS_LAYER;

	tokens.ranks = 4;
	tokens.experts = 32;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct matrix_problem problem;
		struct matrix_plan found;
		double times[16], begin, best;

		tokens.skew = seed % 2 ? 0 : 1;
		problem =
			problem_of(&tokens, seed, seed % 4 < 2 ? TOKENS_CHANGE_PS : 1000000000, 0);
		found = plan(ctx, solver, &problem, &rows);
		times_of(&problem, times);
		begin = now_us();
		best = exact_matrix(times, 4, &proof);
		sample(&its, now_us() - begin);
		if (best < 0 || (double)found.bound_ps / 1e6 > best * (1 + 1e-6))
			wrong("an integer program ends before the bound");
		sample(&over, PERCENT(found.span_ps, best * 1e6));
	}
	report("dispatch, 4 ranks, 32 experts", &rows.times, NO_BAR, 0);
	report_oracle("  by integer programs (CBC)", &its, &rows.times);
	report_percent("  over theirs, each pair at one go", &over, NO_BAR, 0, NULL);
}

void bench_matrix(struct morph_ctx *ctx)
{
	static const uint64_t changes[] = { 0, TOKENS_CHANGE_PS, 100000000, 1000000000 };
	struct matrix_solver *solver = lm_matrix_new(ctx);

	if (!solver) {
		wrong("no memory");
		return;
	}
	measure_layer(ctx, solver);
	for (size_t at = 0; at < sizeof(changes) / sizeof(changes[0]); at++)
		measure_sizes(ctx, solver, changes[at]);
	for (uint32_t planes = 2; planes <= 8; planes *= 2)
		measure_planes(ctx, solver, planes);
	measure_large(ctx, solver);
	measure_small(ctx, solver);
	lm_matrix_free(solver);
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Rounds over planes that change while others send: planning time on SWOT's evaluation and on
 * longer instances, and the time until an exact program has an equal plan.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "overlap_exact.h"
#include "overlap_grid.h"
#include "overlap_replay.h"

#define FEW 64 /* rounds */
#define FEW_US 10000
#define MANY_US 100000
#define ASKED 8 /* one in this number of instances */
#define ASKED_ROUNDS 8
#define SECONDS 10 /* limit for each instance */
#define BEGUN 2 /* one in this number starts from our plan too */
#define BEGUN_SECONDS 2
#define PROVED_ROUNDS 13
#define PROOFS 300000
#define MEDIAN_PERCENT 1
#define MOST_PERCENT 5

struct overlap_rows {
	struct samples few, many; /* rounds */
	struct samples above; /* excess over the optimum in per cent, if proved */
	struct samples asked, its;
	struct samples begun, begun_its; /* started from our plan */
	uint32_t unequal, proved;
};

static struct overlap_round rounds[GRID_ROUNDS];
static struct overlap_share shares[GRID_ROUNDS * OVERLAP_PLANES];
static struct overlap_share theirs[EXACT_ROUNDS * OVERLAP_PLANES];

static struct overlap_result plan(struct morph_ctx *ctx, struct overlap_work *work,
				  const struct overlap_problem *problem, struct overlap_rows *rows)
{
	struct overlap_result result = { 0 };
	uint64_t finish = 0;
	double begin;

	if (lm_overlap_solve(work, problem, NULL, shares, &result))
		wrong(morph_error_text(ctx));
	begin = now_us();
	if (lm_overlap_solve(work, problem, NULL, shares, &result))
		wrong(morph_error_text(ctx));
	sample(problem->count <= FEW ? &rows->few : &rows->many, now_us() - begin);
	if (overlap_replay(problem, shares, &finish) || finish != result.finish_ps ||
	    finish > lm_overlap_baseline(problem, OVERLAP_EVERY))
		wrong("a plan of overlapped rounds is not valid, or longer than a baseline");
	return result;
}

/* Excess over the optimum, with the effort that this takes. */
static void compare(struct morph_ctx *ctx, struct overlap_work *work,
		    const struct overlap_problem *problem, uint64_t finish,
		    struct overlap_rows *rows)
{
	struct overlap_options options = { .proofs = PROOFS };
	struct overlap_result best = { 0 };

	if (lm_overlap_solve(work, problem, &options, shares, &best))
		wrong(morph_error_text(ctx));
	if (best.bound == OVERLAP_OPTIMUM)
		sample(&rows->above, 100 * ((double)finish / (double)best.finish_ps - 1));
}

/* The first plan of the program that does not end after ours. */
static void ask(const struct overlap_problem *problem, const struct overlap_result *result,
		struct overlap_rows *rows)
{
	struct exact_effort effort = { .seconds = SECONDS, .enough_ps = result->finish_ps };
	struct exact_answer answer;
	uint64_t finish, rounding = problem->count * costs_bytes_ps(&problem->costs, 1);

	exact_overlap(problem, &effort, theirs, &answer);
	sample(&rows->asked, rows->few.values[rows->few.count - 1]);
	sample(&rows->its, answer.seconds * 1e6);
	rows->unequal += !answer.found;
	if (answer.found &&
	    (overlap_replay(problem, theirs, &finish) || finish > result->finish_ps + rounding))
		wrong("a program's plan of overlapped rounds is not valid");
	if (answer.found && result->bound == OVERLAP_OPTIMUM &&
	    finish + rounding < result->bound_ps)
		wrong("a program's plan of overlapped rounds is better than the optimum");
}

/* Start from our plan in @shares. All of the time is for improvements, or for a proof. */
static void begin_from(const struct overlap_problem *problem, const struct overlap_result *result,
		       struct overlap_rows *rows)
{
	struct exact_effort effort = { .seconds = BEGUN_SECONDS, .start = shares };
	struct exact_answer answer;
	uint64_t finish, rounding = problem->count * costs_bytes_ps(&problem->costs, 1);

	exact_overlap(problem, &effort, theirs, &answer);
	sample(&rows->begun, rows->few.values[rows->few.count - 1]);
	sample(&rows->begun_its, answer.seconds * 1e6);
	rows->proved += answer.proved;
	if (!answer.found)
		return;
	if (overlap_replay(problem, theirs, &finish))
		wrong("a program's plan of overlapped rounds is not valid");
	if (result->bound == OVERLAP_OPTIMUM &&
	    (finish + rounding < result->bound_ps ||
	     (answer.proved && finish > result->finish_ps + rounding)))
		wrong("a program has another optimum of overlapped rounds");
}

static void report_all(struct overlap_rows *rows)
{
	struct row above = {
		.name = "  above the optimum, where it is proven",
		.unit = "%",
		.figure = MEDIAN,
		.limit = MEDIAN_PERCENT,
	};
	char name[64];

	report("SWOT's rounds over planes, up to 64", &rows->few, MOST, FEW_US);
	snprintf(name, sizeof(name), "  %u by the exact program (CBC), %d s at most",
		 rows->its.count, SECONDS);
	report_oracle(name, &rows->its, &rows->asked);
	remark("the program finds no equally good plan in time for %u of them", rows->unequal);
	snprintf(name, sizeof(name), "  %u beginning from ours (CBC), %d s at most",
		 rows->begun_its.count, BEGUN_SECONDS);
	report_oracle(name, &rows->begun_its, &rows->begun);
	remark("the program proves the minimum for %u of them", rows->proved);
	report_row(&above, &rows->above);
	above.name = "  above it, the worst";
	above.figure = MOST;
	above.limit = MOST_PERCENT;
	report_row(&above, &rows->above);
	remark("of %u", rows->above.count);
	report("255 and 511 rounds over planes", &rows->many, MOST, MANY_US);
}

void bench_overlap(struct morph_ctx *ctx)
{
	static const struct grid_instance long_ones[] = {
		{ GRID_PAIRWISE, 512, 8, 32000000, 200000, 200000 },
		{ GRID_PAIRWISE, 512, 8, 512000000, 200000, 200000 },
	};
	static struct grid_instance instances[GRID_INSTANCES];
	struct overlap_work *work = lm_overlap_work_new(ctx);
	uint32_t count = grid_instances(instances);
	static struct overlap_rows rows;
	struct overlap_problem problem;

	if (!work)
		wrong(morph_error_text(ctx));
	memset(&rows, 0, sizeof(rows));
	for (uint32_t at = 0; work && at < count; at++) {
		struct overlap_result result;
		bool asked;

		grid_problem(&instances[at], rounds, &problem);
		result = plan(ctx, work, &problem, &rows);
		asked = problem.count <= ASKED_ROUNDS && !(at % ASKED);
		if (asked && !(rows.its.count % BEGUN))
			begin_from(&problem, &result, &rows);
		if (asked)
			ask(&problem, &result, &rows);
		if (problem.count <= PROVED_ROUNDS)
			compare(ctx, work, &problem, result.finish_ps, &rows);
	}
	for (size_t at = 0; work && at < ARRAY_SIZE(long_ones); at++) {
		grid_problem(&long_ones[at], rounds, &problem);
		plan(ctx, work, &problem, &rows);
	}
	report_all(&rows);
	lm_overlap_work_free(work);
}

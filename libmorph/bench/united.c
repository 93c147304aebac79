// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Planes that change while others send, each over one or several topologies: how much earlier this
 * ends than the best of the other policies, and its additional planning time.
 */
#include <stdlib.h>
#include <string.h>

#include "../check/check.h"
#include "../internal/planner.h"
#include "bench.h"

#include "../schedule/united.h"

#define FEW_US 10000
#define MANY_US 100000
#define MEDIAN_PERCENT 1 /* earlier, at least */
#define MOST_PERCENT 20
#define BYTES (8 << 20)
#define WORDS (1 << 22) /* of a checked schedule */

struct algorithm {
	uint32_t kind, algorithm;
};

struct instance {
	struct algorithm of;
	uint32_t ranks, planes, scope;
	uint64_t change_ns;
};

struct united_rows {
	struct samples few, many; /* times, by rounds */
	struct samples sooner; /* per cent */
};

struct planned {
	struct morph_collective *collective;
	struct morph_delay *delay;
	struct morph_schedule *best, *trial;
	struct morph_schedule_opts opts;
};

static struct planned begin(struct morph_ctx *ctx, const struct instance *instance)
{
	MORPH_OPTS(morph_collective_opts, how, .kind = instance->of.kind,
		   .algorithm = instance->of.algorithm, .ranks = instance->ranks, .bytes = BYTES);
	struct planned planned = {
		.collective = morph_collective_new(ctx),
		.delay = morph_delay_new(ctx),
		.best = morph_schedule_new(ctx),
		.trial = morph_schedule_new(ctx),
		.opts = { .sz = sizeof(planned.opts), .planes = instance->planes },
	};

	if (!planned.collective || !planned.delay || !planned.best || !planned.trial ||
	    morph_collective_build(planned.collective, &how) ||
	    morph_delay_set_link(planned.delay, 500, 500, 800000) ||
	    morph_delay_set_part(planned.delay, MORPH_DELAY_SETTLE, &instance->change_ns, 1) ||
	    morph_delay_set_scope(planned.delay, instance->scope)) {
		wrong(morph_error_text(ctx));
		exit(1);
	}
	return planned;
}

static void end(struct planned *planned)
{
	morph_schedule_free(planned->trial);
	morph_schedule_free(planned->best);
	morph_delay_free(planned->delay);
	morph_collective_free(planned->collective);
}

/* The earliest of the other policies in this range. */
static void plan_others(struct morph_ctx *ctx, struct planned *planned, uint32_t first,
			uint32_t last)
{
	for (planned->opts.policy = first; planned->opts.policy <= last; planned->opts.policy++) {
		struct morph_schedule *trial = planned->trial;

		if (morph_schedule_plan(trial, planned->collective, planned->delay, &planned->opts))
			wrong(morph_error_text(ctx));
		if (trial->verdict != MORPH_FEASIBLE ||
		    (planned->best->verdict == MORPH_FEASIBLE &&
		     trial->finish_ps >= planned->best->finish_ps))
			continue;
		planned->trial = planned->best;
		planned->best = trial;
	}
}

static void check(const struct planned *planned)
{
	static uint32_t words[3][WORDS];
	ssize_t collective =
		morph_collective_write(planned->collective, words[0], sizeof(words[0]));
	ssize_t delay = morph_delay_write(planned->delay,
					  morph_collective_busy(planned->collective), words[1],
					  sizeof(words[1]));
	ssize_t schedule = morph_schedule_write(planned->trial, words[2], sizeof(words[2]));
	struct morph_check_schedule_input input = { .planes = planned->trial->planes };
	char report[256];

	/* A schedule that is too long to write is not checked. */
	if (collective < 0 || delay < 0 || schedule < 0)
		return;
	input.collective = (struct morph_check_bytes){ words[0], (size_t)collective };
	input.delay = (struct morph_check_bytes){ words[1], (size_t)delay };
	input.schedule = (struct morph_check_bytes){ words[2], (size_t)schedule };
	if (morph_check_schedule(&input, report, sizeof(report)))
		wrong(report);
}

/* Start from the results of the others. */
static void plan_united(struct morph_ctx *ctx, struct planned *planned, struct samples *times)
{
	struct costs costs =
		lm_delay_costs(planned->delay, morph_collective_busy(planned->collective));
	double from = now_us();

	lm_schedule_begin(planned->trial, planned->best->ranks, planned->best->planes, &costs);
	if (lm_plan_united(planned->trial, planned->collective, &planned->opts, planned->best) ||
	    lm_schedule_bound(planned->trial, planned->collective))
		wrong(morph_error_text(ctx));
	sample(times, now_us() - from);
	if (planned->trial->verdict == MORPH_FEASIBLE &&
	    planned->trial->finish_ps >= planned->best->finish_ps)
		wrong("a united schedule ends later than another one");
}

static void measure(struct morph_ctx *ctx, const struct instance *instance,
		    struct united_rows *rows)
{
	struct planned planned = begin(ctx, instance);
	double sooner = 0;

	plan_others(ctx, &planned, MORPH_POLICY_EACH_ROUND, MORPH_POLICY_MATCHINGS);
	plan_united(ctx, &planned, &rows->few);
	if (planned.trial->verdict == MORPH_FEASIBLE) {
		sooner = 100 *
			 ((double)planned.best->finish_ps / (double)planned.trial->finish_ps - 1);
		planned.trial->policy = MORPH_POLICY_UNITED;
		check(&planned);
	}
	sample(&rows->sooner, sooner);
	end(&planned);
}

/* The other policies of this length are measured elsewhere; one of them is enough as a start. */
static void measure_long(struct morph_ctx *ctx, const struct instance *instance,
			 struct united_rows *rows)
{
	struct planned planned = begin(ctx, instance);

	plan_others(ctx, &planned, MORPH_POLICY_OVERLAP, MORPH_POLICY_OVERLAP);
	plan_united(ctx, &planned, &rows->many);
	end(&planned);
}

static void report_all(struct united_rows *rows)
{
	struct row sooner = { .name = "  faster than the best of the other policies",
			      .unit = "%",
			      .figure = MEDIAN,
			      .at_least = true,
			      .limit = MEDIAN_PERCENT };

	report("segments and overlap in one, up to 63 rounds", &rows->few, MOST, FEW_US);
	report_row(&sooner, &rows->sooner);
	sooner.name = "  faster than the best of the other policies, the most";
	sooner.figure = MOST;
	sooner.limit = MOST_PERCENT;
	report_row(&sooner, &rows->sooner);
	report("segments and overlap in one, 511 rounds", &rows->many, MOST, MANY_US);
}

void bench_united(struct morph_ctx *ctx)
{
	static const struct algorithm algorithms[] = {
		{ MORPH_ALL_TO_ALL, MORPH_SHIFT },	    { MORPH_ALL_TO_ALL, MORPH_BRUCK },
		{ MORPH_ALL_GATHER, MORPH_BRUCK },	    { MORPH_ALL_REDUCE, MORPH_HALVING },
		{ MORPH_ALL_REDUCE, MORPH_HALVING_CYCLIC },
	};
	static const uint32_t ranks[] = { 8, 16, 64 };
	static const uint64_t changes[] = { 10000, 30000, 100000, 300000 };
	static struct united_rows rows;

	memset(&rows, 0, sizeof(rows));
	for (size_t which = 0; which < ARRAY_SIZE(algorithms); which++)
		for (size_t size = 0; size < ARRAY_SIZE(ranks); size++)
			for (uint32_t planes = 2; planes <= 8; planes *= 2)
				for (size_t change = 0; change < ARRAY_SIZE(changes); change++) {
					struct instance instance = {
						.of = algorithms[which],
						.ranks = ranks[size],
						.planes = planes,
						.scope = MORPH_DELAY_PLANE_SCOPE,
						.change_ns = changes[change],
					};

					measure(ctx, &instance, &rows);
				}
	for (size_t change = 0; change < ARRAY_SIZE(changes); change++) {
		struct instance instance = { .of = algorithms[0],
					     .ranks = 512,
					     .planes = 8,
					     .scope = MORPH_DELAY_PLANE_SCOPE,
					     .change_ns = changes[change] };

		measure_long(ctx, &instance, &rows);
	}
	report_all(&rows);
}

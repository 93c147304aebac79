// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planes that change while other planes send, on SWOT's evaluation. The rows compare ends of plans
 * with two baselines: all planes change for each step, and no plane changes after the first step.
 * Steps carry the bytes of SWOT's own tables. An independent replay checks each plan. Each gain has
 * the upper bound beside it.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../libmorph/bench/overlap_grid.h"
#include "../../libmorph/bench/overlap_replay.h"
#include "planned.h"
#include "repro.h"

#define NAME 96
#define CONDITION 256

static struct overlap_round rounds[GRID_ROUNDS];
static struct overlap_share shares[GRID_ROUNDS * OVERLAP_PLANES];

/* One of SWOT's instances, in milliseconds; NAN: no such plan. */
struct answer {
	struct grid_instance instance;
	double ours, bound, each, one_shot;
	bool proved; /* proven to be the best */
};

struct answers {
	struct answer list[GRID_INSTANCES];
	uint32_t count;
};

static const char *const tables[GRID_ALGORITHMS] = {
	[GRID_RS_HD] = "ReduceScatter by halving",
	[GRID_AR_HD] = "AllReduce by halving",
	[GRID_BRUCK_WHOLE] = "Bruck's all-to-all",
	[GRID_PAIRWISE] = "pairwise all-to-all",
};

static double in_ms(uint64_t ps)
{
	return ps == UINT64_MAX ? NAN : (double)ps / 1e9;
}

static void solve(struct overlap_work *work, struct answer *answer)
{
	struct overlap_problem problem;
	struct overlap_result result;
	const char *wrong;
	uint64_t finish;

	grid_problem(&answer->instance, rounds, &problem);
	if (lm_overlap_solve(work, &problem, NULL, shares, &result))
		repro_wrong("rounds over planes have no plan");
	wrong = overlap_replay(&problem, shares, &finish);
	if (wrong || finish != result.finish_ps)
		repro_wrong("a plan is not valid: %s", wrong ? wrong : "its end differs");
	answer->ours = in_ms(finish);
	answer->bound = in_ms(result.bound_ps);
	answer->each = in_ms(lm_overlap_baseline(&problem, OVERLAP_EVERY));
	answer->one_shot = in_ms(lm_overlap_baseline(&problem, OVERLAP_ONE_SHOT));
	answer->proved = result.bound == OVERLAP_OPTIMUM;
}

static void solve_all(struct answers *answers)
{
	static struct grid_instance instances[GRID_INSTANCES];
	struct overlap_work *work;
	struct morph_ctx *ctx;

	if (morph_ctx_new(NULL, &ctx))
		repro_wrong("cannot create a context");
	work = lm_overlap_work_new(ctx);
	if (!work)
		repro_wrong("%s", morph_error_text(ctx));
	answers->count = grid_instances(instances);
	for (uint32_t at = 0; at < answers->count; at++) {
		answers->list[at].instance = instances[at];
		solve(work, &answers->list[at]);
	}
	lm_overlap_work_free(work);
	morph_ctx_free(ctx);
}

/* ---------------------------------------------------------------------- rows */

enum against {
	EACH,
	ONE_SHOT
};

static const char *const names[] = { [EACH] = "changes in each step", [ONE_SHOT] = "one shot" };

static double other(const struct answer *answer, enum against against)
{
	return against == EACH ? answer->each : answer->one_shot;
}

/*
 * The begin of the times that a gain compares. Each plan begins with a change. SWOT's percentages
 * follow from its released configuration only if that change does not count.
 */
enum basis {
	AFTER_FIRST_CHANGE,
	FROM_DARK
};

static const char
	*const figures[] = { [AFTER_FIRST_CHANGE] = "overlap", [FROM_DARK] = "overlap-from-dark" };
static const char *const begins[] = { [AFTER_FIRST_CHANGE] = "times after the first change",
				      [FROM_DARK] = "times with the first change" };

/* The gain of a plan that ends at @ms. */
static double gain(const struct answer *answer, enum basis basis, enum against against, double ms)
{
	double first = basis == FROM_DARK ? 0 : (double)answer->instance.change_ns / 1e6;

	return 1 - (ms - first) / (other(answer, against) - first);
}

/*
 * The time that our plan saves, in the instance with the largest or smallest saving. The upper
 * bound is beside it.
 */
static void extreme_row(const struct answers *answers, enum basis basis, enum grid_algorithm table,
			enum against against, bool most)
{
	const struct answer *best = NULL;
	char name[NAME], condition[CONDITION], its[GRID_NAME];

	for (uint32_t at = 0; at < answers->count; at++) {
		const struct answer *answer = &answers->list[at];
		double mine = gain(answer, basis, against, answer->ours);

		if (answer->instance.algorithm != table || isnan(mine))
			continue;
		if (!best || (mine > gain(best, basis, against, best->ours)) == most)
			best = answer;
	}
	if (!best)
		return;
	snprintf(name, sizeof(name), "%s/%s, less time than %s, %s", figures[basis], tables[table],
		 names[against], most ? "most" : "least");
	grid_name(&best->instance, its);
	snprintf(condition, sizeof(condition),
		 "SWOT's experiments 1.1, 1.2, 2.1 and 2.2, %s, whole planes for one shot; %s is "
		 "at %s (ranks, planes, GB/s of each, MB, ms of a change)",
		 begins[basis], most ? "most" : "least", its);
	row_print(&(struct row){ .name = name,
				 .condition = condition,
				 .ours = gain(best, basis, against, best->ours),
				 .unit = "share of time",
				 .baseline_name = "at most, by any plan",
				 .baseline = gain(best, basis, against, best->bound) });
}

/* Experiment 1.2: 32 MB on four planes. */
static void ranks_row(const struct answers *answers, enum basis basis, enum grid_algorithm table,
		      uint32_t ranks)
{
	const struct grid_instance wanted = { .algorithm = table,
					      .ranks = ranks,
					      .planes = 4,
					      .bytes = 32000000,
					      .mbps = 200000,
					      .change_ns = 200000 };
	char name[NAME], its[GRID_NAME], condition[CONDITION], that[GRID_NAME];

	grid_name(&wanted, that);
	for (uint32_t at = 0; at < answers->count; at++) {
		const struct answer *answer = &answers->list[at];

		grid_name(&answer->instance, its);
		if (strcmp(its, that) != 0)
			continue;
		snprintf(name, sizeof(name), "%s/%s, %u ranks, less time than %s", figures[basis],
			 tables[table], ranks, names[EACH]);
		snprintf(condition, sizeof(condition),
			 "%s: %.4g ms, changes in each step %.4g ms; %s", its, answer->ours,
			 answer->each, begins[basis]);
		row_print(&(struct row){ .name = name,
					 .condition = condition,
					 .ours = gain(answer, basis, EACH, answer->ours),
					 .unit = "share of time",
					 .baseline_name = "at most, by any plan",
					 .baseline = gain(answer, basis, EACH, answer->bound) });
		return;
	}
	repro_wrong("no %s", that);
}

static void proved_row(const struct answers *answers)
{
	char condition[CONDITION];
	uint32_t proved = 0;

	for (uint32_t at = 0; at < answers->count; at++)
		proved += answers->list[at].proved;
	snprintf(condition, sizeof(condition), "%u instances, each verified by a replay",
		 answers->count);
	row_print(&(struct row){ .name = "overlap/plans proven optimal",
				 .condition = condition,
				 .ours = (double)proved / answers->count,
				 .unit = "share of plans" });
}

/* The same algorithms with their own transfers, planned by public functions. */
static void true_row(struct planned *planned, const struct morph_collective_opts *how,
		     const char *what)
{
	const struct planned_costs costs = {
		.round_ns = 20000, .change_ns = 200000, .mbps = 200000, .ports = 4
	};
	double ours = (double)planned_ns(planned, how, &costs, MORPH_POLICY_OVERLAP);
	double shot = (double)planned_ns(planned, how, &costs, MORPH_POLICY_ONE_SHOT);
	double each = (double)planned_ns(planned, how, &costs, MORPH_POLICY_EACH_ROUND);
	double least = shot > 0 && shot < each ? shot : each;
	char name[NAME], condition[CONDITION];

	snprintf(name, sizeof(name), "overlap-true/%s of %g MB", what, (double)how->bytes / 1e6);
	snprintf(condition, sizeof(condition),
		 "%u ranks, 4 planes of 25 GB/s, 0.02 ms a step, 0.2 ms a change, dark at first",
		 how->ranks);
	row_print(
		&(struct row){ .name = name,
			       .condition = condition,
			       .ours = ours / 1e6,
			       .unit = "ms",
			       .baseline_name = least < each ? "one shot" : "changes in each step",
			       .baseline = least / 1e6 });
}

static void true_rows(void)
{
	struct planned planned;

	planned_begin(&planned);
	for (uint64_t mb = 2; mb <= 128; mb *= 4) {
		struct morph_collective_opts how = { .sz = sizeof(how),
						     .ranks = 16,
						     .bytes = mb * 1000000 };

		how.kind = MORPH_REDUCE_SCATTER;
		how.algorithm = MORPH_HALVING;
		true_row(&planned, &how, "ReduceScatter by halving");
		how.kind = MORPH_ALL_REDUCE;
		true_row(&planned, &how, "AllReduce by halving");
		how.kind = MORPH_ALL_TO_ALL;
		how.algorithm = MORPH_BRUCK;
		true_row(&planned, &how, "Bruck's all-to-all");
	}
	planned_end(&planned);
}

int main(int argc, char **argv)
{
	static const enum grid_algorithm order[] = { GRID_RS_HD, GRID_AR_HD, GRID_PAIRWISE,
						     GRID_BRUCK_WHOLE };
	static struct answers answers;
	struct repro repro;

	repro_begin(&repro, argc, argv);
	solve_all(&answers);
	for (enum basis basis = AFTER_FIRST_CHANGE; basis <= FROM_DARK; basis++) {
		for (size_t at = 0; at < sizeof(order) / sizeof(*order); at++) {
			extreme_row(&answers, basis, order[at], ONE_SHOT, true);
			extreme_row(&answers, basis, order[at], EACH, true);
			extreme_row(&answers, basis, order[at], EACH, false);
		}
		ranks_row(&answers, basis, GRID_AR_HD, 64);
		ranks_row(&answers, basis, GRID_AR_HD, 512);
		ranks_row(&answers, basis, GRID_PAIRWISE, 5);
		ranks_row(&answers, basis, GRID_PAIRWISE, 10);
	}
	proved_row(&answers);
	true_rows();
	return 0;
}

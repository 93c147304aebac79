// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Training jobs in racks that one circuit switch joins: aggregation in the network, the order of
 * jobs, and two cohorts. Traces of libmorph's bench replace those of the paper, which are not
 * published. Simulations replace its simulator, and their model is that of <morph/jobs.h>.
 */
#include <stdio.h>
#include <string.h>

#include "../../libmorph/bench/job_traces.h"
#include "../../libmorph/bench/random.h"
#include "repro.h"

#define SITES 64
#define SLOTS 4
#define SEEDS 10
#define QUICK_SEEDS 2
#define SIZES 7
#define GAP 4 /* slots between two decisions of the policies auto and ljf that are compared */
#define SECOND 1000000000ULL
#define CONDITION 320
#define RATIOS 5
#define ERROR 30 /* percent */

/*
 * The policies, without and with slots. The paper's LJF rewires after the given number of slots.
 * The kinds from BACKFILL_COMPARED on use the default traces of the bench.
 */
enum kind {
	FCFS,
	FCFS_INC,
	BACKFILL,
	BACKFILL_INC,
	LJF,
	LJF_INC,
	BACKFILL_COMPARED,
	LJF_COMPARED,
	AUTO_COMPARED,
	KINDS,
};

struct run {
	double mean, end, bound; /* s */
	double events;
};

struct inc {
	struct morph_jobs *planner;
	uint32_t seeds, sizes;
	uint32_t jobs[SIZES];
	double gap; /* slots between two rewirings of the paper's LJF */
	double stays, weights[3];
	struct run runs[SIZES][SEEDS][KINDS];
	struct samples cohorts[RATIOS];
	char approximation[CONDITION];
	struct morph_job beliefs[TRACE_JOBS];
};

static struct job_trace trace;
static struct inc inc;
static const double ratios[RATIOS] = { 1.0 / 4, 1.0 / 2, 1, 2, 4 };

/* ------------------------------------------------------------ simulations */

static struct morph_jobs_outcome simulate(struct morph_jobs_opts *opts)
{
	MORPH_OPTS(morph_jobs_outcome, outcome);

	opts->flags = MORPH_JOBS_DARK_FABRIC;
	opts->slot_ns = SECOND;
	if (morph_jobs_simulate(inc.planner, &trace.problem, opts, &outcome) ||
	    outcome.ended != trace.problem.job_count)
		repro_wrong("a simulation does not end all jobs");
	return outcome;
}

/* Set what the paper leaves open: as given, or the defaults of the bench. */
static void set_conditions(bool fitted)
{
	trace.stays = fitted ? inc.stays : 0;
	memcpy(trace.weights, inc.weights, sizeof(trace.weights));
}

/* First come, first served sets the circuits of each job by itself. */
static uint32_t count_starts(void)
{
	uint32_t starts = 0;

	for (uint32_t at = 0; at < trace.problem.job_count; at++)
		starts += trace.jobs[at].parts > 1;
	return starts;
}

static void run_kind(enum kind kind, uint32_t jobs, uint64_t seed, struct run *run)
{
	static const uint32_t policies[KINDS] = {
		MORPH_JOBS_FCFS,     MORPH_JOBS_FCFS, MORPH_JOBS_BACKFILL,
		MORPH_JOBS_BACKFILL, MORPH_JOBS_LJF,  MORPH_JOBS_LJF,
		MORPH_JOBS_BACKFILL, MORPH_JOBS_LJF,  MORPH_JOBS_AUTO,
	};
	bool compared = kind >= BACKFILL_COMPARED, slots = compared || kind % 2;
	bool holds = kind <= BACKFILL_INC || kind == BACKFILL_COMPARED;
	double gap = holds ? 1 : compared ? GAP : inc.gap;
	MORPH_OPTS(morph_jobs_opts, opts, .policy = policies[kind],
		   .gap_ns = (uint64_t)gap * SECOND);
	struct morph_jobs_outcome outcome;

	set_conditions(!compared);
	job_trace_draw(&trace, SITES, jobs, slots ? SLOTS : 0, seed);
	outcome = simulate(&opts);
	run->mean = (double)outcome.mean_ns / SECOND;
	run->end = (double)outcome.end_ns / SECOND;
	run->bound = (double)outcome.bound_ns / SECOND;
	run->events = holds ? count_starts() : outcome.changes;
}

static void run_all(const struct repro *repro)
{
	for (uint32_t size = 0; size < inc.sizes; size++)
		for (uint32_t seed = 0; seed < inc.seeds; seed++)
			for (uint32_t kind = 0; kind < KINDS; kind++)
				run_kind((enum kind)kind, inc.jobs[size],
					 (repro->seed - 1) * SEEDS + seed + 1,
					 &inc.runs[size][seed][kind]);
}

/* ------------------------------------------------------------ the paper's figures */

static double value_of(const struct run *run, bool events)
{
	return events ? run->events : run->mean;
}

static double saving(uint32_t size, uint32_t seed, enum kind kind, enum kind than, bool events)
{
	const struct run *runs = inc.runs[size][seed];

	return 1 - value_of(&runs[kind], events) / value_of(&runs[than], events);
}

/* The saving on average of all sizes, by seed. */
static struct samples average(enum kind kind, enum kind than, bool events)
{
	struct samples samples = { 0 };

	for (uint32_t seed = 0; seed < inc.seeds; seed++) {
		double sum = 0;

		for (uint32_t size = 0; size < inc.sizes; size++)
			sum += saving(size, seed, kind, than, events);
		samples_add(&samples, sum / inc.sizes);
	}
	return samples;
}

/* The saving for the size with the largest one, by seed. */
static struct samples largest(enum kind kind, enum kind than)
{
	struct samples best = { 0 };

	for (uint32_t size = 0; size < inc.sizes; size++) {
		struct samples samples = { 0 };

		for (uint32_t seed = 0; seed < inc.seeds; seed++)
			samples_add(&samples, saving(size, seed, kind, than, false));
		if (!best.count || samples_mean(&samples) > samples_mean(&best))
			best = samples;
	}
	return best;
}

static void print_saving(const char *name, const char *condition, const struct samples *samples)
{
	struct row row = { .name = name,
			   .condition = condition,
			   .unit = "less",
			   .approximation = inc.approximation };

	samples_row(samples, &row);
	row_print(&row);
}

static void paper_rows(void)
{
	struct samples samples = average(LJF_INC, FCFS, true);

	print_saving("inc/reconfigurations",
		     "large jobs first with aggregation, events that set circuits; first come "
		     "first served without it, where each start of a job that sets circuits is one",
		     &samples);
	samples = average(LJF_INC, FCFS, false);
	print_saving("inc/completion",
		     "mean time from arrival to end: large jobs first with aggregation, against "
		     "first come first served without it",
		     &samples);
	samples = largest(FCFS_INC, FCFS);
	print_saving("inc/aggregation-fcfs",
		     "mean time with aggregation against without it, the best number of jobs",
		     &samples);
	samples = largest(LJF_INC, LJF);
	print_saving("inc/aggregation-ljf",
		     "mean time with aggregation against without it, the best number of jobs",
		     &samples);
	samples = average(LJF, FCFS, false);
	print_saving("inc/order-without",
		     "mean time of large jobs first against first come first served", &samples);
	samples = average(LJF_INC, FCFS_INC, false);
	print_saving("inc/order-with",
		     "mean time of large jobs first against first come first served", &samples);
}

/* ------------------------------------------------------------ overtaking */

static struct samples mean_times(enum kind kind)
{
	struct samples samples = { 0 };

	for (uint32_t seed = 0; seed < inc.seeds; seed++) {
		double sum = 0;

		for (uint32_t size = 0; size < inc.sizes; size++)
			sum += inc.runs[size][seed][kind].mean;
		samples_add(&samples, sum / inc.sizes);
	}
	return samples;
}

static void time_row(const char *name, enum kind kind, enum kind strict, const char *condition)
{
	struct samples samples = mean_times(kind), baseline = mean_times(strict);
	struct row row = { .name = name,
			   .condition = condition,
			   .unit = "s",
			   .approximation = inc.approximation,
			   .baseline_name = "no overtaking",
			   .baseline = samples_mean(&baseline) };

	samples_row(&samples, &row);
	row_print(&row);
}

/* First come, first served with and without overtaking, and the origin of the gain. */
static void overtaking_rows(void)
{
	struct samples strict = mean_times(FCFS), passing = mean_times(BACKFILL),
		       large = mean_times(LJF);
	char condition[CONDITION];

	snprintf(
		condition, sizeof(condition),
		"mean time to the end; overtaking alone gives %.0f percent of the gain of large jobs "
		"first, so most of the gain is head-of-line blocking of the baseline",
		100 * (samples_mean(&strict) - samples_mean(&passing)) /
			(samples_mean(&strict) - samples_mean(&large)));
	time_row("inc-overtaking/first come first served, no overtaking", FCFS, FCFS, condition);
	time_row("inc-overtaking/first come first served, overtaking", BACKFILL, FCFS, condition);
	time_row("inc-overtaking/large jobs first", LJF, FCFS, condition);
	time_row("inc-overtaking/first come first served, no overtaking, aggregation", FCFS_INC,
		 FCFS_INC, condition);
	time_row("inc-overtaking/first come first served, overtaking, aggregation", BACKFILL_INC,
		 FCFS_INC, condition);
	time_row("inc-overtaking/large jobs first, aggregation", LJF_INC, FCFS_INC, condition);
}

/* ------------------------------------------------------------ our policy */

/* A ratio of a policy to another or to its bound, over the sizes of a range. */
enum ratio {
	END_TO_BOUND,
	MEAN_TO_BACKFILL,
	MEAN_TO_LJF,
	EVENTS_TO_LJF
};

static double ratio_of(const struct run *runs, enum ratio ratio)
{
	const struct run *mine = &runs[AUTO_COMPARED];

	switch (ratio) {
	case END_TO_BOUND:
		return mine->end / mine->bound;
	case MEAN_TO_BACKFILL:
		return mine->mean / runs[BACKFILL_COMPARED].mean;
	case MEAN_TO_LJF:
		return mine->mean / runs[LJF_COMPARED].mean;
	default:
		return mine->events / runs[LJF_COMPARED].events;
	}
}

static void auto_row(const char *name, enum ratio ratio, bool large)
{
	struct samples samples = { 0 };
	char full[96], condition[CONDITION];
	struct row row = { .name = full,
			   .condition = condition,
			   .unit = "times",
			   .approximation =
				   "weights of sizes, co-location and iterations of the jobs are "
				   "open in the paper: the defaults of libmorph/bench" };

	for (uint32_t seed = 0; seed < inc.seeds; seed++) {
		double sum = 0;
		uint32_t count = 0;

		for (uint32_t size = 0; size < inc.sizes; size++) {
			if (large != (inc.jobs[size] > 1000))
				continue;
			sum += ratio_of(inc.runs[size][seed], ratio);
			count++;
		}
		samples_add(&samples, sum / count);
	}
	snprintf(full, sizeof(full), "inc-auto/%s jobs, %s", large ? "1100 to 1400" : "800 to 1000",
		 name);
	snprintf(condition, sizeof(condition),
		 "aggregation; auto and large jobs first decide every %d slots, back-filling each "
		 "slot; the fabric is dark for 50 ms at each event",
		 GAP);
	samples_row(&samples, &row);
	row_print(&row);
}

static void auto_rows(void)
{
	for (uint32_t large = 0; large < 2; large++) {
		auto_row("end of all over its bound", END_TO_BOUND, large);
		auto_row("mean time over back-filling", MEAN_TO_BACKFILL, large);
		auto_row("mean time over large jobs first", MEAN_TO_LJF, large);
		auto_row("events over large jobs first", EVENTS_TO_LJF, large);
	}
}

/* ------------------------------------------------------------ cohorts */

static uint64_t order_size(const struct morph_jobs_view *view)
{
	return UINT64_MAX - view->workers * view->job->bytes;
}

static uint64_t value_saving(const struct morph_jobs_view *view)
{
	return (view->part->workers - 1) * view->part->left;
}

static uint64_t circuits_by_filling(const struct morph_jobs_view *view)
{
	(void)view;
	return 0;
}

/* Let each job compute for a multiple of the time of its push and pull over one circuit. */
static void set_computation(double ratio)
{
	for (uint32_t at = 0; at < trace.problem.job_count; at++) {
		struct morph_job *job = &trace.jobs[at];
		double bits = 2 * 8 * (double)job->bytes;

		job->compute_ns =
			(uint64_t)(ratio * bits * SECOND / (double)trace.problem.circuit_bps);
	}
}

/* The mean time with two cohorts, or with the same rules without cohorts. */
static double run_rules(bool cohorts)
{
	static const struct morph_jobs_rules rules = { MORPH_JOBS_FAIR, order_size, value_saving,
						       circuits_by_filling };
	MORPH_OPTS(morph_jobs_opts, opts, .policy = MORPH_JOBS_GROUPED,
		   .rules = cohorts ? NULL : &rules, .gap_ns = (uint64_t)inc.gap * SECOND);

	return (double)simulate(&opts).mean_ns / SECOND;
}

static double run_cohorts(double ratio, uint64_t seed, bool cohorts)
{
	set_conditions(true);
	job_trace_draw(&trace, SITES, inc.jobs[0], SLOTS, seed);
	set_computation(ratio);
	return run_rules(cohorts);
}

/* Two equal jobs on one circuit: the gain of cohorts beside that of the formula. */
static void formula_row(double ratio)
{
	char name[96];
	struct row row = { .name = name,
			   .condition = "two equal jobs on one circuit, mean time from arrival to "
					"end; formula: (tau + 2 t) / max(tau + t, 2 t)",
			   .unit = "times as fast",
			   .baseline_name = "formula",
			   .baseline = (ratio + 2) / (ratio > 1 ? ratio + 1 : 2) };

	job_trace_draw(&trace, 2, 0, 0, 1);
	trace.sites[0].ports = trace.sites[1].ports = 1;
	trace.problem.dark_ns = 0;
	trace.problem.job_count = 2;
	trace.problem.part_count = 4;
	for (uint32_t job = 0; job < 2; job++)
		trace.jobs[job] = (struct morph_job){
			.bytes = SECOND, .iterations = 90, .first = 2 * job, .parts = 2
		};
	for (uint32_t part = 0; part < 4; part++)
		trace.parts[part] = (struct morph_jobs_part){ .site = part % 2,
							      .workers = 1,
							      .left = 2 * 90 * SECOND };
	set_computation(ratio);
	row.ours = run_rules(false) / run_rules(true);
	snprintf(name, sizeof(name), "inc-grouped/two equal jobs, %g", ratio);
	row_print(&row);
}

static void cohort_rows(const struct repro *repro)
{
	for (uint32_t at = 0; at < RATIOS; at++) {
		struct samples samples = { 0 };
		char name[96], condition[CONDITION];
		struct row row = { .name = name,
				   .condition = condition,
				   .unit = "times as fast",
				   .baseline_name = "no cohorts",
				   .baseline = 1,
				   .approximation = inc.approximation };

		for (uint32_t seed = 0; seed < inc.seeds; seed++) {
			uint64_t number = (repro->seed - 1) * SEEDS + seed + 1;

			samples_add(&samples, run_cohorts(ratios[at], number, false) /
						      run_cohorts(ratios[at], number, true));
		}
		snprintf(name, sizeof(name), "inc-grouped/computation to communication %g",
			 ratios[at]);
		snprintf(
			condition, sizeof(condition),
			"%u jobs with aggregation, mean time from arrival to end; communication: push "
			"and pull of one worker over one circuit",
			inc.jobs[0]);
		samples_row(&samples, &row);
		row_print(&row);
	}
	for (uint32_t at = 0; at < RATIOS; at++)
		formula_row(ratios[at]);
}

/* ------------------------------------------------------------ errors */

/* Policies, with the slots between two of their decisions as in the rows about auto. */
static const struct {
	const char *name;
	uint32_t policy, gap; /* slots */
} deciders[] = {
	{ "auto", MORPH_JOBS_AUTO, GAP },
	{ "back-filling", MORPH_JOBS_BACKFILL, 0 },
	{ "large jobs first", MORPH_JOBS_LJF, GAP },
	{ "cohorts", MORPH_JOBS_GROUPED, GAP },
};

#define DECIDERS (sizeof(deciders) / sizeof(deciders[0]))

static uint64_t err(uint64_t number, uint64_t *random)
{
	return number * (100 - ERROR + random_below(random, 2 * ERROR + 1)) / 100;
}

/* Numbers of all jobs as the planner believes them. */
static void draw_beliefs(uint64_t seed)
{
	for (uint32_t at = 0; at < trace.problem.job_count; at++) {
		struct morph_job *job = &inc.beliefs[at];

		*job = trace.jobs[at];
		job->bytes = err(job->bytes, &seed);
		job->compute_ns = err(job->compute_ns, &seed);
	}
}

/* How many times as long as with exact numbers all jobs take to end, and one in the mean. */
static void run_errors(size_t decider, bool computes, uint64_t seed, double *end, double *mean)
{
	MORPH_OPTS(morph_jobs_opts, opts, .policy = deciders[decider].policy,
		   .gap_ns = deciders[decider].gap * SECOND);
	struct morph_jobs_outcome exact, wrong;

	set_conditions(false);
	job_trace_draw(&trace, SITES, inc.jobs[0], SLOTS, seed);
	if (computes)
		set_computation(1);
	draw_beliefs(seed);
	exact = simulate(&opts);
	*end = (double)exact.end_ns;
	*mean = (double)exact.mean_ns;
	opts.believed = inc.beliefs;
	wrong = simulate(&opts);
	*end = (double)wrong.end_ns / *end;
	*mean = (double)wrong.mean_ns / *mean;
}

static void error_row(size_t decider, bool computes, const char *what,
		      const struct samples *samples)
{
	char name[96], condition[CONDITION];
	struct row row = { .name = name,
			   .condition = condition,
			   .unit = "times as long",
			   .baseline_name = "exact numbers",
			   .baseline = 1,
			   .approximation = "traces as for our policy; errors are drawn evenly" };

	snprintf(name, sizeof(name), "inc-errors/%s, %s%s", deciders[decider].name,
		 computes ? "" : "no computation, ", what);
	snprintf(condition, sizeof(condition),
		 "%u jobs with aggregation; the planner errs by up to %d percent in sizes%s",
		 inc.jobs[0], ERROR,
		 computes ? " and in computation, which takes as long as push and pull of a worker "
			    "over one circuit" :
			    "");
	samples_row(samples, &row);
	row_print(&row);
}

static void error_rows(const struct repro *repro, bool computes)
{
	for (size_t decider = 0; decider < DECIDERS; decider++) {
		struct samples ends = { 0 }, means = { 0 };

		for (uint32_t seed = 0; seed < inc.seeds; seed++) {
			uint64_t number = (repro->seed - 1) * SEEDS + seed + 1;
			double end, mean;

			run_errors(decider, computes, number, &end, &mean);
			samples_add(&ends, end);
			samples_add(&means, mean);
		}
		error_row(decider, computes, "mean time", &means);
		error_row(decider, computes, "end of all", &ends);
	}
}

/* ------------------------------------------------------------ all */

int main(int argc, char **argv)
{
	static const uint32_t quick[] = { 800, 1100 };
	struct morph_ctx *ctx;
	struct repro repro;

	repro_begin(&repro, argc, argv);
	inc.stays = repro_given(&repro, "stays");
	inc.weights[0] = repro_given(&repro, "weight_2");
	inc.weights[1] = repro_given(&repro, "weight_4");
	inc.weights[2] = repro_given(&repro, "weight_8");
	inc.gap = repro_given(&repro, "rewire_slots");
	inc.seeds = repro.quick ? QUICK_SEEDS : SEEDS;
	inc.sizes = repro.quick ? 2 : SIZES;
	for (uint32_t size = 0; size < inc.sizes; size++)
		inc.jobs[size] = repro.quick ? quick[size] : 800 + 100 * size;
	snprintf(
		inc.approximation, sizeof(inc.approximation),
		"open in the paper: weights of 2, 4 and 8 workers %g, %g, %g; the next worker stays "
		"in the rack for a share of %g; 90 iterations; no computation; large jobs first "
		"rewires after at least %g slots",
		inc.weights[0], inc.weights[1], inc.weights[2], inc.stays, inc.gap);
	if (morph_ctx_new(NULL, &ctx))
		repro_wrong("out of memory");
	inc.planner = morph_jobs_new(ctx);
	if (!inc.planner)
		repro_wrong("out of memory");
	run_all(&repro);
	paper_rows();
	overtaking_rows();
	auto_rows();
	cohort_rows(&repro);
	error_rows(&repro, false);
	error_rows(&repro, true);
	morph_jobs_free(inc.planner);
	morph_ctx_free(ctx);
	return 0;
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/* Simulations of jobs: bytes, bounds, ageing, and the policies under the paper's conditions. */
#include <string.h>

#include "../bench/job_traces.h"
#include "../util/mix.h"
#include "alone.h"

#define SECOND 1000000000ULL

static struct job_trace trace;

static struct morph_jobs_outcome simulate(struct morph_jobs *jobs,
					  const struct morph_jobs_problem *problem,
					  const struct morph_jobs_opts *opts)
{
	MORPH_OPTS(morph_jobs_outcome, outcome);

	if (morph_jobs_simulate(jobs, problem, opts, &outcome))
		fail_msg("%s", morph_error_text(ctx));
	return outcome;
}

/* Every byte passes a circuit once, no policy beats a bound, and every job ends. */
static void jobs_move_their_bytes_and_respect_bounds(void **state)
{
	struct morph_jobs *jobs = morph_jobs_new(ctx);

	(void)state;
	for (uint32_t at = 0; at < 4 * MORPH_JOBS_POLICIES; at++) {
		MORPH_OPTS(morph_jobs_opts, opts, .policy = at % MORPH_JOBS_POLICIES);
		struct morph_jobs_outcome outcome;
		uint64_t least = 0, bytes = 0;

		opts.flags = at / MORPH_JOBS_POLICIES % 2 ? MORPH_JOBS_DARK_FABRIC : 0;
		opts.gap_ns = at / MORPH_JOBS_POLICIES * SECOND;
		job_trace_draw(&trace, 8, 60, at < 2 * MORPH_JOBS_POLICIES ? 0 : 2, at);
		for (uint32_t job = 0; job < 60; job++) {
			const struct morph_job *it = &trace.jobs[job];

			for (uint32_t part = it->first; part < it->first + it->parts; part++) {
				if (trace.parts[part].site == it->root)
					continue;
				least += trace.parts[part].left;
				bytes += trace.parts[part].left * trace.parts[part].workers;
			}
		}
		outcome = simulate(jobs, &trace.problem, &opts);
		assert_int_equal(outcome.ended, 60);
		assert_true(outcome.moved >= least && outcome.moved <= bytes);
		assert_true(trace.sites[0].slots ? outcome.moved < bytes : outcome.moved == bytes);
		assert_true(outcome.end_ns >= outcome.bound_ns && outcome.bound_ns);
		assert_true(outcome.mean_ns >= outcome.mean_bound_ns && outcome.mean_bound_ns);
		assert_true(outcome.set >= outcome.cleared);
		assert_true(outcome.dark_ns >= outcome.set * SECOND / 20);
	}
	morph_jobs_free(jobs);
}

/*
 * Jobs of 10 s and of 1 s, without common sites; the second one arrives after 5 s. Its circuit is
 * dark for 50 ms. Under the paper's conditions the circuit of the first job is dark, too.
 */
static void only_changed_circuits_go_dark(void **state)
{
	static const uint64_t ends[] = { 10 * SECOND + SECOND / 20, 10 * SECOND + SECOND / 10 };
	struct morph_jobs *jobs = morph_jobs_new(ctx);

	(void)state;
	for (uint32_t fabric = 0; fabric < 2; fabric++) {
		MORPH_OPTS(morph_jobs_opts, opts, .flags = fabric ? MORPH_JOBS_DARK_FABRIC : 0);
		struct morph_jobs_outcome outcome;

		job_trace_draw(&trace, 4, 0, 0, 1);
		trace.problem.circuit_bps = 8 * SECOND;
		trace.problem.dark_ns = SECOND / 20;
		trace.problem.job_count = 2;
		trace.problem.part_count = 4;
		for (uint32_t job = 0; job < 2; job++)
			trace.jobs[job] = (struct morph_job){ .arrival_ns = job * 5 * SECOND,
							      .bytes = SECOND / 2,
							      .iterations = job ? 1 : 10,
							      .root = 2 * job,
							      .first = 2 * job,
							      .parts = 2 };
		for (uint32_t part = 0; part < 4; part++) {
			trace.sites[part].ports = 1;
			trace.parts[part] = (struct morph_jobs_part){
				.site = part, .workers = 1, .left = (part < 2 ? 10 : 1) * SECOND
			};
		}
		outcome = simulate(jobs, &trace.problem, &opts);
		assert_int_equal(outcome.changes, 2);
		assert_int_equal(outcome.set, 2);
		assert_int_equal(outcome.dark_ns, (2 + fabric) * SECOND / 20);
		assert_int_equal(outcome.ends_ns[0], ends[fabric]);
		assert_int_equal(outcome.ends_ns[1], 6 * SECOND + SECOND / 20);
	}
	morph_jobs_free(jobs);
}

/* Two sites with one circuit: a large job, and small ones that arrive as fast as they end. */
static uint64_t end_of_large_job(struct morph_jobs *jobs, uint64_t age_ns)
{
	MORPH_OPTS(morph_jobs_opts, opts, .age_ns = age_ns);
	uint32_t count = 200;

	job_trace_draw(&trace, 2, 0, 0, 1);
	trace.problem.circuit_bps = 8 * SECOND;
	trace.problem.job_count = count;
	trace.problem.part_count = 2 * count;
	trace.sites[0].ports = trace.sites[1].ports = 1;
	for (uint32_t at = 0; at < count; at++) {
		trace.jobs[at] = (struct morph_job){
			.arrival_ns = at * SECOND,
			.bytes = SECOND / 2,
			.iterations = at ? 1 : 10,
			.first = 2 * at,
			.parts = 2,
		};
		for (uint32_t site = 0; site < 2; site++)
			trace.parts[2 * at + site] =
				(struct morph_jobs_part){ .site = site,
							  .workers = 1,
							  .left = trace.jobs[at].iterations *
								  SECOND };
	}
	return simulate(jobs, &trace.problem, &opts).ends_ns[0];
}

static void ageing_prevents_starvation(void **state)
{
	struct morph_jobs *jobs = morph_jobs_new(ctx);

	(void)state;
	assert_true(end_of_large_job(jobs, 0) > 200 * SECOND);
	assert_true(end_of_large_job(jobs, 20 * SECOND) < 40 * SECOND);
	morph_jobs_free(jobs);
}

/* ------------------------------------------------------------ errors of the planner */

static struct morph_job beliefs[TRACE_JOBS];

/* Beliefs about the bytes and the computation of each job, up to 30 percent wrong. */
static void draw_beliefs(uint64_t seed)
{
	for (uint32_t at = 0; at < trace.problem.job_count; at++) {
		beliefs[at] = trace.jobs[at];
		beliefs[at].bytes = beliefs[at].bytes * (70 + mix_below(&seed, 61)) / 100;
		beliefs[at].compute_ns = beliefs[at].compute_ns * (70 + mix_below(&seed, 61)) / 100;
	}
}

static void draw_trace(uint64_t seed)
{
	uint64_t random = seed;

	job_trace_draw(&trace, 8, 60, 2, seed);
	for (uint32_t at = 0; at < 60; at++)
		trace.jobs[at].compute_ns = mix_below(&random, 2000000000);
}

static void correct_beliefs_change_nothing(void **state)
{
	struct morph_jobs *jobs = morph_jobs_new(ctx);

	(void)state;
	for (uint32_t at = 0; at < 4 * MORPH_JOBS_POLICIES; at++) {
		MORPH_OPTS(morph_jobs_opts, opts, .policy = at % MORPH_JOBS_POLICIES);
		struct morph_jobs_outcome exact, believed;
		uint64_t ends[60];

		draw_trace(at);
		exact = simulate(jobs, &trace.problem, &opts);
		memcpy(ends, exact.ends_ns, sizeof(ends));
		opts.believed = trace.jobs;
		believed = simulate(jobs, &trace.problem, &opts);
		assert_memory_equal(ends, believed.ends_ns, sizeof(ends));
		assert_true(exact.decisions == believed.decisions && exact.set == believed.set);
	}
	morph_jobs_free(jobs);
}

/* The jobs move their true bytes, and no belief beats a bound. */
static void wrong_beliefs_change_decisions_only(void **state)
{
	struct morph_jobs *jobs = morph_jobs_new(ctx);

	(void)state;
	for (uint32_t at = 0; at < 4 * MORPH_JOBS_POLICIES; at++) {
		MORPH_OPTS(morph_jobs_opts, opts, .policy = at % MORPH_JOBS_POLICIES);
		struct morph_jobs_outcome outcome;
		uint64_t bytes = 0;

		draw_trace(at);
		draw_beliefs(at);
		for (uint32_t job = 0; job < 60; job++)
			for (uint32_t part = 0; part < trace.jobs[job].parts; part++) {
				uint32_t number = trace.jobs[job].first + part;

				if (trace.parts[number].site != trace.jobs[job].root)
					bytes += trace.parts[number].left;
			}
		opts.believed = beliefs;
		outcome = simulate(jobs, &trace.problem, &opts);
		assert_int_equal(outcome.ended, 60);
		assert_true(outcome.moved >= bytes);
		assert_true(outcome.end_ns >= outcome.bound_ns);
		assert_true(outcome.mean_ns >= outcome.mean_bound_ns);
	}
	morph_jobs_free(jobs);
}

/*
 * Two jobs of 4 and 6 s share a circuit. The planner believes that the longer one is shorter, so
 * it goes first, and the mean grows from 7 to 8 s.
 */
static void order_follows_the_belief(void **state)
{
	MORPH_OPTS(morph_jobs_opts, opts, .believed = NULL);
	struct morph_jobs *jobs = morph_jobs_new(ctx);
	struct morph_jobs_outcome outcome;

	(void)state;
	job_trace_draw(&trace, 2, 0, 0, 1);
	trace.problem.circuit_bps = 8 * SECOND;
	trace.problem.dark_ns = 0;
	trace.problem.job_count = 2;
	trace.problem.part_count = 4;
	trace.sites[0].ports = trace.sites[1].ports = 1;
	for (uint32_t job = 0; job < 2; job++) {
		trace.jobs[job] = (struct morph_job){ .bytes = (4 + 2 * job) * SECOND / 2,
						      .iterations = 1,
						      .first = 2 * job,
						      .parts = 2 };
		beliefs[job] = trace.jobs[job];
		beliefs[job].bytes = (5 - job) * SECOND / 2;
	}
	for (uint32_t part = 0; part < 4; part++)
		trace.parts[part] = (struct morph_jobs_part){
			.site = part % 2, .workers = 1, .left = trace.jobs[part / 2].bytes * 2
		};
	outcome = simulate(jobs, &trace.problem, &opts);
	assert_int_equal(outcome.mean_ns, 7 * SECOND);
	opts.believed = beliefs;
	outcome = simulate(jobs, &trace.problem, &opts);
	assert_int_equal(outcome.mean_ns, 8 * SECOND);
	assert_int_equal(outcome.end_ns, 10 * SECOND);
	morph_jobs_free(jobs);
}

static void invalid_beliefs_are_rejected(void **state)
{
	MORPH_OPTS(morph_jobs_opts, opts, .believed = beliefs);
	MORPH_OPTS(morph_jobs_outcome, outcome);
	struct morph_jobs *jobs = morph_jobs_new(ctx);

	(void)state;
#define REJECTED(code, change)                                                               \
	do {                                                                                 \
		draw_trace(1);                                                               \
		memcpy(beliefs, trace.jobs, sizeof(beliefs));                                \
		change;                                                                      \
		assert_int_equal(morph_jobs_simulate(jobs, &trace.problem, &opts, &outcome), \
				 -(code));                                                   \
	} while (0)

	REJECTED(EINVAL, beliefs[1].arrival_ns++);
	REJECTED(EINVAL, beliefs[1].iterations++);
	REJECTED(EINVAL, beliefs[1].root++);
	REJECTED(EINVAL, beliefs[1].first++);
	REJECTED(EINVAL, beliefs[1].parts++);
	REJECTED(EINVAL, beliefs[1].bytes = 0);
	REJECTED(EINVAL, beliefs[1].bytes = (1ULL << 40) + 1);
	REJECTED(EINVAL, beliefs[1].compute_ns = (1ULL << 60) + 1);
	REJECTED(ERANGE,
		 (trace.jobs[59].iterations = beliefs[59].iterations = 1u << 21,
		  trace.parts[trace.jobs[59].first].left = (1ULL << 21) * 2 * trace.jobs[59].bytes,
		  beliefs[59].bytes = 1ULL << 40));
#undef REJECTED
	morph_jobs_free(jobs);
}

/* Two equal jobs: the simulated time is the period of the formula for each iteration. */
static void interleaved_jobs_run_at_their_period(void **state)
{
	static const uint64_t computes[] = { SECOND / 4, SECOND / 2, SECOND, 2 * SECOND,
					     4 * SECOND };
	struct morph_jobs *jobs = morph_jobs_new(ctx);

	(void)state;
	for (uint32_t at = 0; at < 5; at++) {
		uint64_t tau = computes[at], period = tau > SECOND ? tau + SECOND : 2 * SECOND;
		struct morph_jobs_outcome outcome;

		job_trace_draw(&trace, 2, 0, 0, 1);
		trace.problem.circuit_bps = 8 * SECOND;
		trace.problem.dark_ns = 0;
		trace.problem.job_count = 2;
		trace.problem.part_count = 4;
		trace.sites[0].ports = trace.sites[1].ports = 1;
		for (uint32_t job = 0; job < 2; job++)
			trace.jobs[job] = (struct morph_job){ .bytes = SECOND / 2,
							      .iterations = 100,
							      .compute_ns = tau,
							      .first = 2 * job,
							      .parts = 2 };
		for (uint32_t part = 0; part < 4; part++)
			trace.parts[part] = (struct morph_jobs_part){ .site = part % 2,
								      .workers = 1,
								      .left = 100 * SECOND };
		outcome = simulate(jobs, &trace.problem,
				   &(struct morph_jobs_opts){ .sz = sizeof(struct morph_jobs_opts),
							      .policy = MORPH_JOBS_GROUPED });
		assert_in_range(outcome.end_ns, 100 * period, 100 * period + 1000);
	}
	morph_jobs_free(jobs);
}

/*
 * Two jobs have both ports of site 0 in turn: each of 100 iterations takes 2.1 s, with a dark time
 * of 50 ms before each turn. The decision sets a circuit for each job, and each turn after the
 * first one sets two.
 */
static void turns_count_as_changes(void **state)
{
	struct morph_jobs *jobs = morph_jobs_new(ctx);

	(void)state;
	for (uint32_t fabric = 0; fabric < 2; fabric++) {
		MORPH_OPTS(morph_jobs_opts, opts, .policy = MORPH_JOBS_GROUPED,
			   .flags = fabric ? MORPH_JOBS_DARK_FABRIC : 0);
		struct morph_jobs_outcome outcome;

		job_trace_draw(&trace, 3, 0, 0, 1);
		trace.problem.circuit_bps = 8 * SECOND;
		trace.problem.dark_ns = SECOND / 20;
		trace.problem.job_count = 2;
		trace.problem.part_count = 4;
		for (uint32_t site = 0; site < 3; site++)
			trace.sites[site].ports = 2;
		for (uint32_t job = 0; job < 2; job++)
			trace.jobs[job] = (struct morph_job){ .bytes = SECOND,
							      .iterations = 100,
							      .compute_ns = SECOND,
							      .first = 2 * job,
							      .parts = 2 };
		for (uint32_t part = 0; part < 4; part++)
			trace.parts[part] =
				(struct morph_jobs_part){ .site = part % 2 ? part / 2 + 1 : 0,
							  .workers = 1,
							  .left = 200 * SECOND };
		outcome = simulate(jobs, &trace.problem, &opts);
		assert_in_range(outcome.end_ns, 210 * SECOND + SECOND / 20,
				210 * SECOND + SECOND / 20 + 1000);
		assert_int_equal(outcome.changes, 1 + 200);
		assert_int_equal(outcome.set, 2 + 2 * 200);
		assert_int_equal(outcome.cleared, 2 * 200);
		assert_int_equal(outcome.dark_ns, outcome.set * SECOND / 20);
	}
	morph_jobs_free(jobs);
}

/* ------------------------------------------------------------ the paper's conditions */

struct sums {
	double stretch, mean, events;
};

/*
 * The bar of issue 26: slots, 1,100 to 1,400 jobs, ten seeds. The whole fabric is dark for 50 ms
 * per event; auto and ljf change circuits at most every 4 s, and backfill every second.
 */
static void measure(struct morph_jobs *jobs, uint32_t count, uint32_t policy, struct sums *sums)
{
	MORPH_OPTS(morph_jobs_opts, opts, .policy = policy, .flags = MORPH_JOBS_DARK_FABRIC);

	opts.gap_ns = policy == MORPH_JOBS_BACKFILL ? 0 : 4 * SECOND;
	*sums = (struct sums){ 0 };
	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct morph_jobs_outcome outcome;

		job_trace_draw(&trace, 64, count, 4, seed);
		outcome = simulate(jobs, &trace.problem, &opts);
		assert_int_equal(outcome.ended, count);
		sums->stretch += (double)outcome.end_ns / (double)outcome.bound_ns;
		sums->mean += (double)outcome.mean_ns;
		sums->events += outcome.changes;
	}
}

static void auto_dominates_under_the_conditions_of_the_paper(void **state)
{
	struct morph_jobs *jobs = morph_jobs_new(ctx);

	(void)state;
	for (uint32_t count = 1100; count <= 1400; count += 100) {
		struct sums ours, backfill, ljf;

		measure(jobs, count, MORPH_JOBS_AUTO, &ours);
		measure(jobs, count, MORPH_JOBS_BACKFILL, &backfill);
		measure(jobs, count, MORPH_JOBS_LJF, &ljf);
		print_message("%u jobs: last end %.3f of the bound, mean %.3f of backfill and "
			      "%.3f of ljf, events %.2f of ljf\n",
			      count, ours.stretch / 10, ours.mean / backfill.mean,
			      ours.mean / ljf.mean, ours.events / ljf.events);
		assert_true(ours.stretch <= 10 * 1.10);
		assert_true(ours.mean <= 0.6 * backfill.mean);
		assert_true(ours.mean <= 0.4 * ljf.mean);
		assert_true(ours.events <= 1.5 * ljf.events);
	}
	morph_jobs_free(jobs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_move_their_bytes_and_respect_bounds),
		cmocka_unit_test(only_changed_circuits_go_dark),
		cmocka_unit_test(ageing_prevents_starvation),
		cmocka_unit_test(correct_beliefs_change_nothing),
		cmocka_unit_test(wrong_beliefs_change_decisions_only),
		cmocka_unit_test(order_follows_the_belief),
		cmocka_unit_test(invalid_beliefs_are_rejected),
		cmocka_unit_test(interleaved_jobs_run_at_their_period),
		cmocka_unit_test(turns_count_as_changes),
		cmocka_unit_test(auto_dominates_under_the_conditions_of_the_paper),
	};

	return cmocka_run_group_tests(tests, begin, end);
}

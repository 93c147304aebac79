// SPDX-License-Identifier: LGPL-2.1-or-later
/* Decisions of a running system: after an arrival, an end, a failure, and progress. */
#include <stdlib.h>
#include <string.h>

#include "../bench/job_traces.h"
#include "alone.h"

#define SECOND 1000000000ULL
#define COUNT 1400

/* Jobs at the root 0 and one other site each, with circuits of one byte per nanosecond. */
struct online {
	struct morph_jobs *planner;
	struct morph_jobs_site sites[3];
	struct morph_job jobs[2];
	struct morph_jobs_part parts[4];
	struct morph_jobs_pair lit[3];
	struct morph_jobs_problem problem;
};

/* Two jobs with @seconds of bytes left, at site 0 and at @sites. */
static void set_up(struct online *online, uint32_t ports, const uint32_t *sites,
		   const uint64_t *seconds)
{
	*online = (struct online){ .planner = morph_jobs_new(ctx) };
	for (uint32_t at = 0; at < 3; at++)
		online->sites[at].ports = ports;
	for (uint32_t job = 0; job < 2; job++) {
		online->jobs[job] = (struct morph_job){
			.bytes = SECOND / 2, .iterations = 100, .first = 2 * job, .parts = 2
		};
		online->parts[2 * job] = (struct morph_jobs_part){ .site = 0, .workers = 1 };
		online->parts[2 * job + 1] = (struct morph_jobs_part){
			.site = sites[job], .workers = 1, .left = seconds[job] * SECOND
		};
	}
	online->problem = (struct morph_jobs_problem){
		.sz = sizeof(online->problem),
		.sites = online->sites,
		.site_count = 3,
		.jobs = online->jobs,
		.job_count = 2,
		.parts = online->parts,
		.part_count = 4,
		.lit = online->lit,
		.circuit_bps = 8 * SECOND,
	};
}

static struct morph_jobs_decision decide(struct online *online)
{
	MORPH_OPTS(morph_jobs_decision, decision);

	if (morph_jobs_decide(online->planner, &online->problem, NULL, &decision))
		fail_msg("%s", morph_error_text(ctx));
	return decision;
}

/* The circuits of a decision are now lit. */
static void light(struct online *online, const struct morph_jobs_decision *decision)
{
	memcpy(online->lit, decision->set, decision->set_count * sizeof(*decision->set));
	online->problem.lit_count = decision->set_count;
}

static void arrival_of_a_shorter_job_takes_the_circuit(void **state)
{
	struct morph_jobs_decision decision;
	struct online online;

	(void)state;
	set_up(&online, 1, (uint32_t[]){ 1, 1 }, (uint64_t[]){ 10, 2 });
	online.jobs[1].arrival_ns = 3 * SECOND;
	decision = decide(&online);
	assert_int_equal(decision.jobs[0].reason, MORPH_JOBS_RUNS);
	assert_int_equal(decision.jobs[1].reason, MORPH_JOBS_FUTURE);
	assert_int_equal(decision.set_count, 1);
	light(&online, &decision);
	online.problem.now_ns = 3 * SECOND;
	online.parts[1].left = 7 * SECOND;
	decision = decide(&online);
	assert_false(decision.changed);
	assert_int_equal(decision.jobs[0].reason, MORPH_JOBS_TURN);
	assert_int_equal(decision.jobs[0].end_ns, 12 * SECOND);
	assert_int_equal(decision.jobs[1].reason, MORPH_JOBS_RUNS);
	assert_int_equal(decision.jobs[1].end_ns, 5 * SECOND);
	morph_jobs_free(online.planner);
}

static void end_of_a_job_frees_its_circuit(void **state)
{
	struct morph_jobs_decision decision;
	struct online online;

	(void)state;
	set_up(&online, 1, (uint32_t[]){ 1, 2 }, (uint64_t[]){ 10, 2 });
	decision = decide(&online);
	assert_int_equal(decision.jobs[0].reason, MORPH_JOBS_PORTS);
	assert_int_equal(decision.jobs[0].site, 0);
	assert_int_equal(decision.set[0].other + decision.set[0].one, 2);
	light(&online, &decision);
	online.problem.now_ns = 2 * SECOND;
	online.parts[3].left = 0;
	decision = decide(&online);
	assert_int_equal(decision.jobs[1].reason, MORPH_JOBS_ENDED);
	assert_int_equal(decision.jobs[0].reason, MORPH_JOBS_RUNS);
	assert_int_equal(decision.set_count, 1);
	assert_int_equal(decision.set[0].other + decision.set[0].one, 1);
	assert_int_equal(decision.clear_count, 1);
	assert_int_equal(decision.clear[0].other + decision.clear[0].one, 2);
	morph_jobs_free(online.planner);
}

/* A failed port leaves @ports, and its circuit leaves @lit. The shorter job has the other port. */
static void failure_of_a_port_moves_the_other_circuit(void **state)
{
	struct morph_jobs_decision decision;
	struct online online;

	(void)state;
	set_up(&online, 1, (uint32_t[]){ 1, 2 }, (uint64_t[]){ 10, 2 });
	online.sites[0].ports = 2;
	decision = decide(&online);
	assert_int_equal(decision.set_count, 2);
	online.lit[0] = (struct morph_jobs_pair){ 0, 1, 1 };
	online.problem.lit_count = 1;
	online.sites[0].ports = 1;
	decision = decide(&online);
	assert_int_equal(decision.jobs[1].reason, MORPH_JOBS_RUNS);
	assert_int_equal(decision.set_count, 1);
	assert_int_equal(decision.set[0].other + decision.set[0].one, 2);
	assert_int_equal(decision.clear_count, 1);
	assert_int_equal(decision.jobs[0].reason, MORPH_JOBS_PORTS);
	assert_int_equal(decision.jobs[0].site, 0);
	light(&online, &decision);
	online.sites[0].ports = 2;
	decision = decide(&online);
	assert_int_equal(decision.jobs[0].reason, MORPH_JOBS_RUNS);
	assert_int_equal(decision.set_count, 1);
	assert_int_equal(decision.clear_count, 0);
	morph_jobs_free(online.planner);
}

/*
 * A site loses the slot of a job, as when a lent spare fails or a failover takes it back. The job
 * goes on with a CPU aggregator at its root, more slowly, and no circuit changes.
 */
static void loss_of_a_slot_leaves_a_cpu_aggregator(void **state)
{
	struct morph_jobs_decision decision;
	struct morph_jobs_flow other;
	struct online online;

	(void)state;
	set_up(&online, 1, (uint32_t[]){ 1, 2 }, (uint64_t[]){ 10, 2 });
	online.sites[0].ports = 2;
	online.sites[0].aggregators = 1;
	online.sites[0].nic_bps = 16 * SECOND;
	online.sites[1].slots = 1;
	online.parts[1].workers = 2;
	decision = decide(&online);
	assert_true(decision.flows[1].slot);
	assert_int_equal(decision.jobs[0].aggregators, 0);
	assert_int_equal(decision.jobs[0].end_ns, 10 * SECOND);
	light(&online, &decision);
	other = decision.flows[3];
	online.sites[1].slots = 0;
	decision = decide(&online);
	assert_int_equal(decision.jobs[0].reason, MORPH_JOBS_RUNS);
	assert_false(decision.flows[1].slot);
	assert_int_equal(decision.jobs[0].aggregators, 1);
	assert_int_equal(decision.jobs[0].nic_bps, 16 * SECOND);
	assert_int_equal(decision.jobs[0].end_ns, 20 * SECOND);
	assert_false(decision.changed);
	assert_int_equal(decision.set_count + decision.clear_count, 0);
	assert_memory_equal(&other, &decision.flows[3], sizeof(other));
	morph_jobs_free(online.planner);
}

static void progress_of_a_job_changes_the_order(void **state)
{
	struct morph_jobs_decision decision;
	struct online online;

	(void)state;
	set_up(&online, 1, (uint32_t[]){ 1, 1 }, (uint64_t[]){ 10, 9 });
	decision = decide(&online);
	assert_int_equal(decision.jobs[0].reason, MORPH_JOBS_TURN);
	assert_int_equal(decision.jobs[1].reason, MORPH_JOBS_RUNS);
	light(&online, &decision);
	online.parts[1].left = 8 * SECOND;
	decision = decide(&online);
	assert_int_equal(decision.jobs[0].reason, MORPH_JOBS_RUNS);
	assert_int_equal(decision.jobs[1].reason, MORPH_JOBS_TURN);
	assert_int_equal(decision.jobs[1].end_ns, 17 * SECOND);
	morph_jobs_free(online.planner);
}

/* ------------------------------------------------------------ starvation */

static struct job_trace trace;

static int order_time(const void *one, const void *other)
{
	uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

	return (a > b) - (a < b);
}

/* Sort the times from arrival to end under the paper's conditions. */
static void run_trace(struct morph_jobs *jobs, struct morph_jobs_opts opts, uint64_t seed,
		      uint64_t *times)
{
	MORPH_OPTS(morph_jobs_outcome, outcome);

	opts.flags = MORPH_JOBS_DARK_FABRIC;
	job_trace_draw(&trace, 64, COUNT, 4, seed);
	if (morph_jobs_simulate(jobs, &trace.problem, &opts, &outcome))
		fail_msg("%s", morph_error_text(ctx));
	assert_int_equal(outcome.ended, COUNT);
	for (uint32_t job = 0; job < COUNT; job++)
		times[job] = outcome.ends_ns[job] - trace.jobs[job].arrival_ns;
	qsort(times, COUNT, sizeof(*times), order_time);
}

/* With ageing, the longest time of auto is at most twice the 99th percentile of back-filling. */
static void ageing_bounds_the_longest_time(void **state)
{
	static const uint64_t ages[] = { 20 * SECOND, 60 * SECOND, 120 * SECOND };
	struct morph_jobs *jobs = morph_jobs_new(ctx);
	static uint64_t times[COUNT];

	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++) {
		MORPH_OPTS(morph_jobs_opts, opts, .policy = MORPH_JOBS_BACKFILL);
		uint64_t most;

		run_trace(jobs, opts, seed, times);
		most = 2 * times[COUNT * 99 / 100];
		opts.policy = MORPH_JOBS_AUTO;
		opts.gap_ns = 4 * SECOND;
		for (uint32_t at = 0; at < 3; at++) {
			opts.age_ns = ages[at];
			run_trace(jobs, opts, seed, times);
			assert_in_range(times[COUNT - 1], 1, most);
		}
	}
	morph_jobs_free(jobs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arrival_of_a_shorter_job_takes_the_circuit),
		cmocka_unit_test(end_of_a_job_frees_its_circuit),
		cmocka_unit_test(failure_of_a_port_moves_the_other_circuit),
		cmocka_unit_test(loss_of_a_slot_leaves_a_cpu_aggregator),
		cmocka_unit_test(progress_of_a_job_changes_the_order),
		cmocka_unit_test(ageing_bounds_the_longest_time),
	};

	return cmocka_run_group_tests(tests, begin, end);
}

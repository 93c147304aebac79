// SPDX-License-Identifier: LGPL-2.1-or-later
/* One decision about training jobs: its time by policy, and its value beside an exact oracle. */
#include <stdio.h>

#include "bench.h"
#include "job_traces.h"
#include "jobs_exact.h"
#include "random.h"
#include "small_jobs.h"

#define DRAWS 100
#define MS 1e3 /* microseconds */
#define MOST_CIRCUITS (TRACE_SITES * 24 / 2)

static struct job_trace trace;
static struct morph_jobs_pair lit[MOST_CIRCUITS];

static const struct jobs_case {
	uint32_t sites, jobs;
	double ms; /* bar */
} cases[] = {
	{ 64, 1400, 2 },
	{ 1024, 20000, 50 },
};

static const struct {
	const char *name;
	uint32_t policy;
} policies[] = {
	{ "auto", MORPH_JOBS_AUTO },
	{ "large jobs first", MORPH_JOBS_LJF },
	{ "cohorts", MORPH_JOBS_GROUPED },
};

/*
 * All jobs have arrived, and each part still moves a random share of its bytes. A job computes for
 * a quarter of its time on one circuit to four times this time.
 */
static void draw(const struct jobs_case *this, uint64_t seed)
{
	uint64_t random = seed;

	job_trace_draw(&trace, this->sites, this->jobs, 4, seed);
	trace.problem.now_ns = trace.jobs[this->jobs - 1].arrival_ns;
	for (uint32_t number = 0; number < this->jobs; number++) {
		struct morph_job *job = &trace.jobs[number];
		double bits = 2 * 8 * (double)job->bytes;

		job->compute_ns = (uint64_t)(bits / (double)trace.problem.circuit_bps * 1e9 *
					     (0.25 + 3.75 * random_unit(&random)));
		for (uint32_t part = job->first; part < job->first + job->parts; part++)
			trace.parts[part].left = 1 + (uint64_t)((double)trace.parts[part].left *
								random_unit(&random) * 0.99);
	}
}

static void decide(struct morph_jobs *jobs, uint32_t policy, struct morph_jobs_decision *decision)
{
	MORPH_OPTS(morph_jobs_opts, opts, .policy = policy);

	*decision = (struct morph_jobs_decision){ .sz = sizeof(*decision) };
	if (morph_jobs_decide(jobs, &trace.problem, &opts, decision))
		wrong("a decision about jobs");
}

/* Take the circuits of a decision without lit circuits as lit. */
static void light(const struct morph_jobs_decision *decision)
{
	if (decision->set_count > MOST_CIRCUITS)
		return wrong("more pairs than ports");
	for (uint32_t at = 0; at < decision->set_count; at++)
		lit[at] = decision->set[at];
	trace.problem.lit = lit;
	trace.problem.lit_count = decision->set_count;
}

/*
 * Decide twice: with no circuit lit, and after half of the bytes of each fourth part have passed.
 * An earlier decision has allocated the memory.
 */
static void measure(struct morph_jobs *jobs, const struct jobs_case *this, size_t policy)
{
	static struct samples times;
	char name[96];

	times.count = 0;
	for (uint64_t seed = 1; seed <= DRAWS; seed++) {
		struct morph_jobs_decision decision;

		draw(this, seed);
		if (seed == 1)
			decide(jobs, policies[policy].policy, &decision);
		for (uint32_t again = 0; again < 2; again++) {
			double begin = now_us();

			decide(jobs, policies[policy].policy, &decision);
			sample(&times, now_us() - begin);
			if (again)
				break;
			light(&decision);
			for (uint32_t part = 0; part < trace.problem.part_count; part += 4)
				trace.parts[part].left /= 2;
		}
	}
	snprintf(name, sizeof(name), "decision about %u jobs at %u sites, %s", this->jobs,
		 this->sites, policies[policy].name);
	report(name, &times, P99, this->ms * MS);
}

/* ------------------------------------------------------------ one time slot */

#define INSTANCES 1000

static const struct slot_case {
	const char *name;
	struct small_limits limits;
	uint32_t most; /* circuits of a limited pair; 0: no limits */
} slot_cases[] = {
	{ "4 sites, 4 ports", { 4, 5, 3, 0, 2, 4, 0 }, 0 },
	{ "4 sites, 0 to 4 ports", { 4, 5, 3, 4, 2, 4, 0 }, 0 },
	{ "4 sites, 0 to 2 ports", { 4, 5, 3, 2, 2, 4, 0 }, 0 },
	{ "4 sites, 0 to 4 ports, limits of pairs", { 4, 5, 3, 4, 2, 4, 0 }, 3 },
};

static void draw_slot(const struct slot_case *this, struct small *small)
{
	small_draw(small, &this->limits);
	if (this->most)
		small_limit(small, this->most);
	for (uint32_t at = 0; at < small->problem.site_count && !this->limits.ports; at++)
		small->sites[at].ports = 4;
	small->problem.circuit_bps = 8 * (10 + mix_below(&small->random, 60));
}

/* Bytes of workers that auto delivers in a time slot, beside the most that is possible. */
static void measure_slot(struct morph_jobs *jobs, const struct slot_case *this)
{
	MORPH_OPTS(morph_jobs_opts, opts, .gap_ns = 1000000000);
	static struct samples ratios;
	struct small small = { .random = 1 };
	char name[96];

	ratios.count = 0;
	while (ratios.count < INSTANCES) {
		MORPH_OPTS(morph_jobs_decision, decision);
		uint64_t ours, most;

		draw_slot(this, &small);
		if (morph_jobs_decide(jobs, &small.problem, &opts, &decision))
			return wrong("a decision for one time slot");
		ours = jobs_delivered(&small.problem, &decision);
		most = jobs_exact(&small.problem);
		if (ours > most)
			wrong("a decision delivers more than the optimum");
		if (most)
			sample(&ratios, (double)most / (double)(ours ? ours : 1));
	}
	snprintf(name, sizeof(name), "optimum of one time slot, %s", this->name);
	report_row(&(const struct row){ .name = name, .unit = "times the decision of auto" },
		   &ratios);
}

void bench_jobs(struct morph_ctx *ctx)
{
	struct morph_jobs *jobs = morph_jobs_new(ctx);

	for (size_t at = 0; at < sizeof(cases) / sizeof(cases[0]); at++)
		for (size_t policy = 0; policy < sizeof(policies) / sizeof(policies[0]); policy++)
			measure(jobs, &cases[at], policy);
	for (size_t at = 0; at < sizeof(slot_cases) / sizeof(slot_cases[0]); at++)
		measure_slot(jobs, &slot_cases[at]);
	morph_jobs_free(jobs);
}

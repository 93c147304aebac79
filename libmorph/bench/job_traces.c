// SPDX-License-Identifier: LGPL-2.1-or-later
#include <math.h>
#include <string.h>

#include "job_traces.h"
#include "random.h"

#define ARRIVALS 20 /* per second */
#define ITERATIONS 90
#define SECOND 1000000000ULL

static uint32_t draw_workers(const struct job_trace *trace, uint64_t *random)
{
	double weight = random_unit(random), sum = trace->weights[0];

	if (weight < sum)
		return 2;
	sum += trace->weights[1];
	if (weight < sum)
		return 4;
	return weight < sum + trace->weights[2] ? 8 : 16;
}

/* Place workers in turn. The root is the first site of those with the most workers. */
static void place(struct job_trace *trace, struct morph_job *job, uint64_t *random)
{
	struct morph_jobs_part *parts = trace->parts + job->first;
	uint32_t workers = draw_workers(trace, random), site = 0, most = 0, at;

	for (uint32_t worker = 0; worker < workers; worker++) {
		if (!worker || random_unit(random) >= trace->stays)
			site = random_below(random, trace->problem.site_count);
		for (at = 0; at < job->parts && parts[at].site != site; at++)
			;
		if (at == job->parts) {
			parts[at] = (struct morph_jobs_part){
				.site = site, .left = 2 * job->bytes * job->iterations
			};
			job->parts++;
		}
		parts[at].workers++;
	}
	for (at = 0; at < job->parts; at++) {
		if (parts[at].workers <= most)
			continue;
		most = parts[at].workers;
		job->root = parts[at].site;
	}
}

void job_trace_draw(struct job_trace *trace, uint32_t sites, uint32_t jobs, uint32_t slots,
		    uint64_t seed)
{
	static const uint64_t bytes[] = { 552000000, 3096000000, 4000000000 };
	uint64_t random = seed;
	double time = 0;

	if (trace->stays <= 0) {
		trace->stays = 0.77;
		memcpy(trace->weights, (double[]){ 0.40, 0.25, 0.25 }, sizeof(trace->weights));
	}
	trace->problem = (struct morph_jobs_problem){
		.sz = sizeof(trace->problem),
		.sites = trace->sites,
		.site_count = sites,
		.jobs = trace->jobs,
		.job_count = jobs,
		.parts = trace->parts,
		.circuit_bps = 40 * SECOND,
		.dark_ns = SECOND / 20,
	};
	for (uint32_t at = 0; at < sites; at++)
		trace->sites[at] = (struct morph_jobs_site){ .ports = 24, .slots = slots };
	for (uint32_t at = 0; at < jobs; at++) {
		time += -log(1 - random_unit(&random)) / ARRIVALS;
		trace->jobs[at] = (struct morph_job){
			.arrival_ns = (uint64_t)time * SECOND,
			.bytes = bytes[random_below(&random, 3)],
			.iterations = ITERATIONS,
			.first = trace->problem.part_count,
		};
		place(trace, &trace->jobs[at], &random);
		trace->problem.part_count += trace->jobs[at].parts;
	}
}

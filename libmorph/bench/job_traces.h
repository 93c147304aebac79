/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Traces of training jobs under the conditions of "Accelerating DML Training in OCS-based DCNs"
 * (ONDM 2025): 64 racks with 24 ports of 40 Gbit/s, 4 slots, and 20 arrivals per second. The paper
 * leaves the fields @weights and @stays open. It also leaves open that jobs have 90 iterations and
 * no computation.
 */
#ifndef LM_BENCH_JOB_TRACES_H
#define LM_BENCH_JOB_TRACES_H

#include <morph/plan.h>

#define TRACE_SITES 1024
#define TRACE_JOBS 20000
#define TRACE_WORKERS 16

/*
 * @stays: probability that the next worker is in the same rack; 0: 0.77, and the weights 0.40, 0.25
 *	and 0.25
 * @weights: of jobs with 2, 4 and 8 workers; the rest have 16
 */
struct job_trace {
	double stays, weights[3];
	struct morph_jobs_site sites[TRACE_SITES];
	struct morph_job jobs[TRACE_JOBS];
	struct morph_jobs_part parts[TRACE_JOBS * TRACE_WORKERS];
	struct morph_jobs_problem problem;
};

/* Draw a trace. */
void job_trace_draw(struct job_trace *trace, uint32_t sites, uint32_t jobs, uint32_t slots,
		    uint64_t seed);

#endif /* LM_BENCH_JOB_TRACES_H */

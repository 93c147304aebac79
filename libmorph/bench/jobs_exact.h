/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The best decision about training jobs for one time slot, beside that of a policy. */
#ifndef LM_BENCH_JOBS_EXACT_H
#define LM_BENCH_JOBS_EXACT_H

#include <morph/plan.h>

#define JOBS_EXACT_SITES 5
#define JOBS_EXACT_PARTS 40 /* of all jobs */

/*
 * The most bytes of workers that the network delivers in one time slot of a second, over all
 * choices of slots, circuits and bandwidth. A part with a slot moves the bytes of one worker and
 * delivers those of all. The search is exhaustive, with bounds. Problems without lit circuits and
 * without slots or circuits that jobs hold. Exponential: for tiny problems.
 */
uint64_t jobs_exact(const struct morph_jobs_problem *problem);

/*
 * What a decision of MORPH_JOBS_AUTO delivers in this time: on each circuit the job with the fewest
 * bytes left sends first. All jobs have arrived at the same time and do not compute.
 */
uint64_t jobs_delivered(const struct morph_jobs_problem *problem,
			const struct morph_jobs_decision *decision);

#endif /* LM_BENCH_JOBS_EXACT_H */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Small random problems of jobs, for comparison with brute force. */
#ifndef LM_BENCH_SMALL_JOBS_H
#define LM_BENCH_SMALL_JOBS_H

#include <morph/plan.h>

#define SMALL_SITES 5
#define SMALL_JOBS 8
#define SMALL_PARTS (SMALL_JOBS * SMALL_SITES)
#define SMALL_PAIRS (SMALL_SITES * SMALL_SITES)

struct small {
	struct morph_jobs_site sites[SMALL_SITES];
	struct morph_job jobs[SMALL_JOBS];
	struct morph_jobs_part parts[SMALL_PARTS];
	struct morph_jobs_pair lit[SMALL_PAIRS], most[SMALL_PAIRS];
	struct morph_jobs_problem problem;
	uint64_t random;
};

/* Limits of a draw: numbers of sites and jobs, and the largest of each size. */
struct small_limits {
	uint32_t sites, jobs, parts, ports, slots, workers, nic;
};

/* Draw a problem without lit circuits. The first part of a job is at its root. */
void small_draw(struct small *small, const struct small_limits *limits);

/* Limit the circuits of some pairs. */
void small_limit(struct small *small, uint32_t most);

/* Light some circuits within the ports and the limits of pairs. */
void small_light(struct small *small);

/* The part moves bytes over circuits. */
bool small_flows(const struct small *small, uint32_t job, uint32_t part);

/* Largest number of circuits of a pair. */
uint32_t small_most(const struct small *small, uint32_t one, uint32_t other);

#endif /* LM_BENCH_SMALL_JOBS_H */

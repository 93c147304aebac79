// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Errors of the planner: it decides by jobs whose sizes and computation differ from the true ones.
 *
 * The planner knows how many iterations a part still runs, since jobs report their progress. It
 * multiplies this number by the size that it believes. Between lm_jobs_believe() and
 * lm_jobs_see_truth() the working state has the numbers of the planner. O(parts of active jobs).
 */
#include "jobs.h"

/* Bytes left by the belief. A part that has bytes left keeps at least one. */
static uint64_t scale(uint64_t left, uint64_t bytes, uint64_t believed)
{
	jobs_wide scaled;

	if (!left || bytes == believed)
		return left;
	scaled = (jobs_wide)left * believed / bytes;
	return scaled ? (uint64_t)scaled : 1;
}

static bool is_same(const struct morph_job *one, const struct morph_job *other)
{
	return one->arrival_ns == other->arrival_ns && one->iterations == other->iterations &&
	       one->root == other->root && one->first == other->first && one->parts == other->parts;
}

int lm_jobs_check_beliefs(struct morph_jobs *jobs)
{
	uint64_t volume = 0;

	for (uint32_t number = 0; number < jobs->problem.job_count; number++) {
		const struct morph_job *job = lm_job(jobs, number);
		const struct morph_job *believed = &jobs->opts.believed[number];

		if (!is_same(job, believed) || lm_jobs_check_numbers(believed) ||
		    !job->bytes != !believed->bytes)
			return lm_fail(
				jobs->ctx, EINVAL,
				"job %u: a belief may differ in bytes, but not from or to 0, and in computation",
				number);
		for (uint32_t at = job->first; at < job->first + job->parts; at++) {
			const struct morph_jobs_part *part = &jobs->problem.parts[at];
			uint64_t left = scale(part->left, job->bytes, believed->bytes);

			if ((jobs_wide)volume + (jobs_wide)left * part->workers > JOBS_VOLUME)
				return lm_fail(jobs->ctx, ERANGE, "job %u: more than 2^62 bytes",
					       number);
			volume += left * part->workers;
		}
	}
	return 0;
}

void lm_jobs_believe(struct morph_jobs *jobs)
{
	if (!jobs->opts.believed)
		return;
	for (uint32_t at = 0; at < jobs->active.count; at++) {
		uint32_t number = jobs->active.list[at];
		const struct morph_job *job = lm_job(jobs, number);
		uint64_t believed = jobs->opts.believed[number].bytes;

		for (uint32_t part = job->first; part < job->first + job->parts; part++) {
			jobs->lefts.list[part] = jobs->parts.list[part].left;
			jobs->parts.list[part].left =
				scale(jobs->parts.list[part].left, job->bytes, believed);
		}
	}
	jobs->problem.jobs = jobs->opts.believed;
}

void lm_jobs_see_truth(struct morph_jobs *jobs)
{
	if (!jobs->opts.believed)
		return;
	jobs->problem.jobs = jobs->truth;
	for (uint32_t at = 0; at < jobs->active.count; at++) {
		const struct morph_job *job = lm_job(jobs, jobs->active.list[at]);

		for (uint32_t part = job->first; part < job->first + job->parts; part++)
			jobs->parts.list[part].left = jobs->lefts.list[part];
	}
	for (uint32_t at = 0; at < jobs->flows.count; at++) {
		struct jobs_flow *flow = &jobs->flows.list[at];

		flow->traffic = lm_jobs_traffic(&jobs->parts.list[flow->part]);
	}
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Errors of the planner about the sizes and the computation of jobs, for morphctl jobs run. */
#include <stdlib.h>

#include "morphctl/jobs/jobs.h"

#define MOST_PERCENT 99
#define MOST_PUSH ((uint64_t)1 << 40) /* of libmorph */
#define MOST_NS ((uint64_t)1 << 60)

/* splitmix64 (Steele, Lea and Flood, OOPSLA 2014): the same errors for a seed on every machine. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t value = *state += 0x9e3779b97f4a7c15;

	value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
	value = (value ^ value >> 27) * 0x94d049bb133111eb;
	return value ^ value >> 31;
}

/* A number that is wrong by up to @percent either way, at least @least and at most @most. */
static uint64_t draw(uint64_t number, uint32_t percent, uint64_t least, uint64_t most,
		     uint64_t *random)
{
	uint64_t factor = 1000 - 10 * percent + next_random(random) % (20 * percent + 1);

	number = number / 1000 * factor + number % 1000 * factor / 1000;
	number = number < least ? least : number;
	return number < most ? number : most;
}

enum exit_code jobs_believe(struct jobs_file *file)
{
	uint64_t seed = 1, percent = 0;
	struct run *run = file->run;

	if (!option_u64(run, OPTION_SEED, &seed))
		return EXIT_CODE_USAGE;
	if (!given(run, OPTION_ERRORS))
		return EXIT_CODE_OK;
	if (!parse_u64(run->option[OPTION_ERRORS], 1, MOST_PERCENT, &percent))
		return usage_error(run, "--errors must be an integer from 1 to %u, not '%s'",
				   MOST_PERCENT, run->option[OPTION_ERRORS]);
	file->believed = needed(calloc(file->problem.job_count, sizeof(*file->believed)));
	for (uint32_t at = 0; at < file->problem.job_count; at++) {
		struct morph_job *job = &file->believed[at];

		*job = file->jobs[at];
		job->bytes = draw(job->bytes, (uint32_t)percent, job->bytes > 0, MOST_PUSH, &seed);
		job->compute_ns = draw(job->compute_ns, (uint32_t)percent, 0, MOST_NS, &seed);
	}
	return EXIT_CODE_OK;
}

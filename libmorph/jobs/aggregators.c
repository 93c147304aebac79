// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * CPU aggregators (parameter servers) at the roots of jobs without slots.
 *
 * Each such job gets one, in order, and then more while its circuits carry more than they can
 * receive. A job without an aggregator waits. O(flows + aggregators granted).
 */
#include "jobs.h"

/* Do all workers of a part with several push to the root themselves? */
static bool needs_aggregator(const struct morph_jobs *jobs, const struct jobs_state *state)
{
	for (uint32_t at = state->first; at < state->first + state->flows; at++) {
		const struct morph_jobs_part *part = &jobs->parts.list[jobs->flows.list[at].part];

		if (part->workers > 1 && !part->slot)
			return true;
	}
	return false;
}

/* Bandwidth of the circuits that a job may use. */
static uint64_t find_bandwidth(const struct morph_jobs *jobs, const struct jobs_state *state)
{
	bool holds = jobs->rules.traits & MORPH_JOBS_HOLD;
	uint64_t circuits = 0;

	for (uint32_t at = state->first; at < state->first + state->flows; at++) {
		const struct jobs_flow *flow = &jobs->flows.list[at];

		circuits += holds ? jobs->parts.list[flow->part].circuits :
				    jobs->pairs.list[flow->pair].circuits;
	}
	return circuits * jobs->problem.circuit_bps;
}

static void add(struct morph_jobs *jobs, uint32_t job, uint64_t most)
{
	const struct morph_jobs_site *model = &jobs->problem.sites[lm_job(jobs, job)->root];
	struct jobs_site *site = &jobs->sites.list[lm_job(jobs, job)->root];
	struct morph_jobs_answer *answer = &jobs->answers.list[job];

	while (answer->aggregators < most && (!model->aggregators || site->aggregators)) {
		answer->aggregators++;
		site->aggregators -= model->aggregators ? 1 : 0;
	}
	answer->nic_bps = answer->aggregators * model->nic_bps;
}

void lm_jobs_assign_aggregators(struct morph_jobs *jobs)
{
	bool holds = jobs->rules.traits & MORPH_JOBS_HOLD;

	for (uint32_t at = 0; at < jobs->ranks.count; at++) {
		uint32_t job = jobs->ranks.list[at].job;
		const struct jobs_state *state = &jobs->jobs.list[job];

		if ((holds && !state->started) || !needs_aggregator(jobs, state))
			continue;
		add(jobs, job, 1);
		if (!jobs->answers.list[job].aggregators) {
			jobs->answers.list[job].reason = MORPH_JOBS_AGGREGATORS;
			jobs->answers.list[job].site = lm_job(jobs, job)->root;
		}
	}
	for (uint32_t at = 0; at < jobs->ranks.count; at++) {
		uint32_t job = jobs->ranks.list[at].job;
		uint64_t nic = jobs->problem.sites[lm_job(jobs, job)->root].nic_bps;

		if (!nic || !jobs->answers.list[job].aggregators)
			continue;
		jobs->coupled = true;
		add(jobs, job,
		    find_bandwidth(jobs, &jobs->jobs.list[job]) / nic +
			    (find_bandwidth(jobs, &jobs->jobs.list[job]) % nic != 0));
	}
}

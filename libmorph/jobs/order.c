// SPDX-License-Identifier: LGPL-2.1-or-later
/* The order of jobs: by the key of the policy, but jobs that wait too long first, by arrival. */
#include "../util/sort.h"
#include "jobs.h"

void lm_jobs_view(const struct morph_jobs *jobs, uint32_t job, uint32_t part,
		  struct morph_jobs_view *view)
{
	const struct morph_job *it = lm_job(jobs, job);
	const struct morph_jobs_part *parts = jobs->parts.list;

	*view = (struct morph_jobs_view){
		.job = it,
		.part = part == JOBS_NONE ? NULL : &parts[part],
		.now_ns = jobs->now,
		.gap_ns = jobs->opts.gap_ns ? jobs->opts.gap_ns : jobs->opts.slot_ns,
	};
	for (uint32_t at = it->first; at < it->first + it->parts; at++) {
		view->workers += parts[at].workers;
		if (part == at || (part == JOBS_NONE && lm_jobs_flows(it, &parts[at])))
			view->left += lm_jobs_traffic(&parts[at]);
	}
}

static int order_of(const void *one, const void *other, void *context)
{
	const struct jobs_rank *a = one, *b = other;

	(void)context;
	if (a->young != b->young)
		return a->young < b->young ? -1 : 1;
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	if (a->arrival != b->arrival)
		return a->arrival < b->arrival ? -1 : 1;
	return a->job < b->job ? -1 : a->job > b->job;
}

/* O(jobs log(jobs) + parts). */
void lm_jobs_sort(struct morph_jobs *jobs)
{
	jobs->ranks.count = jobs->active.count;
	for (uint32_t at = 0; at < jobs->active.count; at++) {
		struct jobs_rank *rank = &jobs->ranks.list[at];
		uint64_t age = jobs->opts.age_ns;
		struct morph_jobs_view view;

		rank->job = jobs->active.list[at];
		lm_jobs_view(jobs, rank->job, JOBS_NONE, &view);
		rank->arrival = view.job->arrival_ns;
		rank->young = !age || jobs->now - rank->arrival < age;
		rank->key = rank->young ? jobs->rules.order(&view) : 0;
	}
	lm_sort(jobs->ranks.list, jobs->ranks.count, sizeof(*jobs->ranks.list), order_of, NULL);
}

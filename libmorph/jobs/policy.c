// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The policies of morph_jobs_decide(). First come first served, large jobs first and grouping are
 * those of "Accelerating DML Training in OCS-based DCNs" (ONDM 2025). Back-filling and the
 * automatic policy are baseline and answer of this project: least remaining bytes first is the
 * order that minimises the mean time on one machine (Schrage, Operations Research 16, 1968).
 */
#include "jobs.h"

static uint64_t order_arrival(const struct morph_jobs_view *view)
{
	return view->job->arrival_ns;
}

static uint64_t order_left(const struct morph_jobs_view *view)
{
	return view->left;
}

static uint64_t order_size(const struct morph_jobs_view *view)
{
	return UINT64_MAX - view->workers * view->job->bytes;
}

static uint64_t value_saving(const struct morph_jobs_view *view)
{
	return (view->part->workers - 1) * view->part->left;
}

static uint64_t circuits_by_filling(const struct morph_jobs_view *view)
{
	(void)view;
	return 0;
}

/* The bandwidth that ends the flow within the gap. */
static uint64_t circuits_in_gap(const struct morph_jobs_view *view)
{
	return lm_jobs_time(view->left, view->gap_ns);
}

const struct morph_jobs_rules *lm_jobs_rules(uint32_t policy)
{
	static const struct morph_jobs_rules rules[MORPH_JOBS_POLICIES] = {
		[MORPH_JOBS_AUTO] = { 0, order_left, value_saving, circuits_in_gap },
		[MORPH_JOBS_FCFS] = { MORPH_JOBS_HOLD | MORPH_JOBS_BLOCK, order_arrival,
				      value_saving, circuits_by_filling },
		[MORPH_JOBS_BACKFILL] = { MORPH_JOBS_HOLD, order_arrival, value_saving,
					  circuits_by_filling },
		[MORPH_JOBS_LJF] = { 0, order_size, value_saving, circuits_by_filling },
		[MORPH_JOBS_GROUPED] = { MORPH_JOBS_FAIR | MORPH_JOBS_COHORTS, order_size,
					 value_saving, circuits_by_filling },
	};

	return policy < MORPH_JOBS_POLICIES ? &rules[policy] : NULL;
}

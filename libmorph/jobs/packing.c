// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Slots for jobs that need one at all their parts of several workers: a set packing.
 *
 * Branch and bound, jobs by falling value per slot; the first leaf is the greedy answer. The bound
 * relaxes the sites to one site with all free slots and lets the last job that fits have a
 * fraction. Without an answer after STEPS steps the best one so far stands, without a proof.
 * O(STEPS log(jobs) + parts).
 */
#include "../util/sort.h"
#include "jobs.h"

#define STEPS (1U << 17)

/* Jobs are items. @sums and @sizes are of all items before each. */
struct packing {
	struct morph_jobs *jobs;
	const struct jobs_candidate *items; /* value, and the job instead of a part */
	uint32_t count;
	jobs_wide *sums;
	uint32_t *sizes;
	uint32_t *taken, *best; /* by item: 1 if it has its slots */
	jobs_wide sum, most;
	uint32_t free; /* slots of all sites */
};

static bool needs(const struct morph_job *job, const struct morph_jobs_part *part)
{
	return lm_jobs_flows(job, part) && part->workers > 1 && !part->slot;
}

static uint32_t size_of(const struct morph_jobs *jobs, uint32_t number)
{
	const struct morph_job *job = lm_job(jobs, number);
	uint32_t size = 0;

	for (uint32_t part = job->first; part < job->first + job->parts; part++)
		size += needs(job, &jobs->parts.list[part]);
	return size;
}

static int order_density(const void *one, const void *other, void *context)
{
	const struct jobs_candidate *a = one, *b = other;
	jobs_wide mine = (jobs_wide)a->value * size_of(context, b->part);
	jobs_wide its = (jobs_wide)b->value * size_of(context, a->part);

	if (mine != its)
		return mine > its ? -1 : 1;
	return a->part < b->part ? -1 : a->part > b->part;
}

static bool fits(const struct packing *packing, uint32_t item)
{
	const struct morph_job *job = lm_job(packing->jobs, packing->items[item].part);

	for (uint32_t part = job->first; part < job->first + job->parts; part++) {
		const struct morph_jobs_part *it = &packing->jobs->parts.list[part];

		if (needs(job, it) && !packing->jobs->sites.list[it->site].slots)
			return false;
	}
	return true;
}

static void count(struct packing *packing, uint32_t item, bool take)
{
	const struct morph_job *job = lm_job(packing->jobs, packing->items[item].part);
	uint32_t size = packing->sizes[item + 1] - packing->sizes[item];
	uint64_t value = packing->items[item].value;

	for (uint32_t part = job->first; part < job->first + job->parts; part++) {
		const struct morph_jobs_part *it = &packing->jobs->parts.list[part];

		if (needs(job, it))
			packing->jobs->sites.list[it->site].slots += take ? -1 : 1;
	}
	packing->taken[item] = take;
	packing->sum = take ? packing->sum + value : packing->sum - value;
	packing->free = take ? packing->free - size : packing->free + size;
}

/* The most that the items from @item on can add. */
static jobs_wide bound(const struct packing *packing, uint32_t item)
{
	uint32_t low = item, high = packing->count;
	uint64_t limit = (uint64_t)packing->sizes[item] + packing->free;
	jobs_wide sum;

	while (low < high) {
		uint32_t middle = low + (high - low + 1) / 2;

		if (packing->sizes[middle] <= limit)
			low = middle;
		else
			high = middle - 1;
	}
	sum = packing->sums[low] - packing->sums[item];
	if (low < packing->count) {
		uint32_t size = packing->sizes[low + 1] - packing->sizes[low];

		sum += (jobs_wide)packing->items[low].value * (limit - packing->sizes[low]) / size;
	}
	return sum;
}

static void note_best(struct packing *packing)
{
	if (packing->sum <= packing->most)
		return;
	packing->most = packing->sum;
	memcpy(packing->best, packing->taken, packing->count * sizeof(*packing->best));
}

/* Go back to the last item that is taken, and leave it out. False if there is none. */
static bool go_back(struct packing *packing, uint32_t *item)
{
	while (*item) {
		if (packing->taken[--*item]) {
			count(packing, (*item)++, false);
			return true;
		}
	}
	return false;
}

/* Return whether the search is complete. */
static bool search(struct packing *packing)
{
	uint32_t item = 0;

	for (uint32_t step = 0; step < STEPS; step++) {
		if (item == packing->count)
			note_best(packing);
		if (item == packing->count ||
		    packing->sum + bound(packing, item) <= packing->most) {
			if (!go_back(packing, &item))
				return true;
			continue;
		}
		packing->taken[item] = 0;
		if (fits(packing, item))
			count(packing, item, true);
		item++;
	}
	while (go_back(packing, &item))
		;
	return false;
}

/* The value of a job is the sum of its parts'. */
static uint64_t value_of(const struct morph_jobs *jobs, uint32_t number)
{
	const struct morph_job *job = lm_job(jobs, number);
	uint64_t value = 0;

	for (uint32_t part = job->first; part < job->first + job->parts; part++) {
		struct morph_jobs_view view;

		if (!needs(job, &jobs->parts.list[part]))
			continue;
		lm_jobs_view(jobs, number, part, &view);
		value = lm_sum(value, jobs->rules.slots(&view));
	}
	return value;
}

static void lay_out(struct packing *packing, struct jobs_candidate *items)
{
	struct morph_jobs *jobs = packing->jobs;

	for (uint32_t at = 0; at < jobs->ranks.count; at++) {
		struct jobs_candidate it = { .part = jobs->ranks.list[at].job };

		it.value = value_of(jobs, it.part);
		if (it.value)
			items[packing->count++] = it;
	}
	lm_sort(items, packing->count, sizeof(*items), order_density, jobs);
	packing->sums[0] = 0;
	packing->sizes[0] = 0;
	for (uint32_t at = 0; at < packing->count; at++) {
		packing->sums[at + 1] = packing->sums[at] + items[at].value;
		packing->sizes[at + 1] = packing->sizes[at] + size_of(jobs, items[at].part);
		packing->taken[at] = packing->best[at] = 0;
	}
	for (uint32_t at = 0; at < jobs->sites.count; at++)
		packing->free += jobs->sites.list[at].slots;
}

void lm_jobs_pack(struct morph_jobs *jobs)
{
	struct packing packing = {
		.jobs = jobs,
		.items = jobs->candidates.list,
		.sums = jobs->sums.list,
		.sizes = jobs->heap.list,
		.taken = jobs->taken.list,
		.best = jobs->by_pair.list,
	};

	lay_out(&packing, jobs->candidates.list);
	jobs->decision.slots_proved = search(&packing);
	for (uint32_t at = 0; at < packing.count; at++) {
		const struct morph_job *job = lm_job(jobs, packing.items[at].part);

		for (uint32_t part = job->first; packing.best[at] && part < job->first + job->parts;
		     part++) {
			struct morph_jobs_part *it = &jobs->parts.list[part];

			if (!needs(job, it))
				continue;
			it->slot = true;
			jobs->sites.list[it->site].slots--;
		}
	}
}

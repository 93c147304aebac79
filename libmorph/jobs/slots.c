// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Slots for aggregation in the network.
 *
 * A part outside the root with several workers may have one slot at its site. The slots of
 * different sites are independent, so the largest sum of values grants the free slots of each site
 * to its most valuable parts. A part keeps its slot until its flow ends, because a part that loses
 * it in an iteration loses the sums that the slot holds. Equal values go to the part with the
 * lower number.
 *
 * O(parts log(slots)): a heap per site holds the best candidates so far, the worst of them first.
 */
#include "../util/heap.h"
#include "jobs.h"

struct best {
	struct jobs_candidate *list;
	struct jobs_candidate held;
};

static const struct jobs_candidate *candidate_at(const struct best *best, size_t place)
{
	return place == HEAP_HELD ? &best->held : &best->list[place];
}

static bool is_worse(const struct jobs_candidate *one, const struct jobs_candidate *other)
{
	return one->value != other->value ? one->value < other->value : one->part > other->part;
}

static bool before(const void *context, size_t one, size_t other)
{
	return is_worse(candidate_at(context, one), candidate_at(context, other));
}

static void move(void *context, size_t to, size_t from)
{
	struct best *best = context;
	struct jobs_candidate it = *candidate_at(best, from);

	if (to == HEAP_HELD)
		best->held = it;
	else
		best->list[to] = it;
}

/* May the part have a slot that it does not have? */
static bool may_have(const struct morph_job *job, const struct morph_jobs_part *part)
{
	return lm_jobs_flows(job, part) && part->workers > 1 && !part->slot;
}

/* Divide @candidates among the sites: each gets room for its free slots. */
static void lay_out(struct morph_jobs *jobs)
{
	uint32_t next = 0;

	for (uint32_t at = 0; at < jobs->sites.count; at++)
		jobs->sites.list[at].room = jobs->sites.list[at].count = 0;
	for (uint32_t at = 0; at < jobs->ranks.count; at++) {
		const struct morph_job *job = lm_job(jobs, jobs->ranks.list[at].job);

		for (uint32_t part = job->first; part < job->first + job->parts; part++) {
			struct jobs_site *site = &jobs->sites.list[jobs->parts.list[part].site];

			if (may_have(job, &jobs->parts.list[part]) && site->room < site->slots)
				site->room++;
		}
	}
	for (uint32_t at = 0; at < jobs->sites.count; at++) {
		jobs->sites.list[at].first = next;
		next += jobs->sites.list[at].room;
	}
}

static void offer(struct morph_jobs *jobs, uint32_t number, uint64_t value)
{
	struct jobs_site *site = &jobs->sites.list[jobs->parts.list[number].site];
	struct best best = { .list = jobs->candidates.list + site->first };
	struct jobs_candidate it = { .value = value, .part = number };

	if (site->count < site->room) {
		best.list[site->count++] = it;
		heap_raise(&best, site->count - 1, before, move);
	} else if (site->room && is_worse(&best.list[0], &it)) {
		best.list[0] = it;
		heap_sink(&best, 0, site->count, before, move);
	}
}

void lm_jobs_grant(struct morph_jobs *jobs)
{
	lay_out(jobs);
	for (uint32_t at = 0; at < jobs->ranks.count; at++) {
		uint32_t number = jobs->ranks.list[at].job;
		const struct morph_job *job = lm_job(jobs, number);

		for (uint32_t part = job->first; part < job->first + job->parts; part++) {
			struct morph_jobs_view view;
			uint64_t value;

			if (!may_have(job, &jobs->parts.list[part]))
				continue;
			lm_jobs_view(jobs, number, part, &view);
			value = jobs->rules.slots(&view);
			if (value)
				offer(jobs, part, value);
		}
	}
	for (uint32_t at = 0; at < jobs->sites.count; at++) {
		struct jobs_site *site = &jobs->sites.list[at];

		for (uint32_t rank = 0; rank < site->count; rank++)
			jobs->parts.list[jobs->candidates.list[site->first + rank].part].slot =
				true;
		site->slots -= site->count;
	}
	jobs->decision.slots_proved = true;
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Two cohorts of jobs that send in turn, while the other cohort computes.
 *
 * A component is the jobs that share circuits, directly or over other jobs. Its jobs are sorted by
 * computation to communication. The cut gives both cohorts the same time on the pair with the
 * longest time. Let a and b be the longest times of the cohorts on a pair, and d the dark time. A
 * job that computes for c has the period max(c + a, a + b + 2 d) in the first cohort and
 * max(c + b, a + b + 2 d) in the second. Without grouping it has c plus the longest time of all
 * jobs on one of its pairs. A job for which grouping is longer leaves the cohorts. It then sends
 * in both turns and counts in a and in b. The cohorts are tried again until no job leaves.
 *
 * O(jobs log(jobs) + passes * flows), at most PASSES passes.
 */
#include "../util/sort.h"
#include "jobs.h"

#define PASSES 32

/* Time of one iteration of a flow that has its pair alone. */
static uint64_t time_of(const struct morph_jobs *jobs, const struct jobs_flow *flow)
{
	const struct morph_jobs_part *part = &jobs->parts.list[flow->part];
	uint64_t bytes = 2 * lm_job(jobs, flow->job)->bytes * (part->slot ? 1 : part->workers);

	return lm_jobs_time(bytes,
			    jobs->pairs.list[flow->pair].circuits * jobs->problem.circuit_bps);
}

static uint32_t find_root(uint32_t *parents, uint32_t job)
{
	while (parents[job] != job) {
		parents[job] = parents[parents[job]];
		job = parents[job];
	}
	return job;
}

/* Unite the jobs of each pair. @heap has the parent of each job, at its number. */
static void unite(struct morph_jobs *jobs)
{
	uint32_t *parents = jobs->heap.list;

	for (uint32_t at = 0; at < jobs->ranks.count; at++)
		parents[jobs->ranks.list[at].job] = jobs->ranks.list[at].job;
	for (uint32_t at = 0; at < jobs->used.count; at++) {
		const struct jobs_pair *pair = &jobs->pairs.list[jobs->used.list[at]];
		const uint32_t *flows = jobs->by_pair.list + pair->first;

		for (uint32_t rank = 1; rank < pair->count; rank++) {
			uint32_t one = jobs->flows.list[flows[rank - 1]].job;
			uint32_t other = jobs->flows.list[flows[rank]].job;

			one = find_root(parents, one);
			other = find_root(parents, other);
			parents[one > other ? one : other] = one > other ? other : one;
		}
	}
}

static int order_ratio(const void *one, const void *other, void *context)
{
	const struct jobs_member *a = one, *b = other;
	jobs_wide mine = (jobs_wide)a->compute * b->time;
	jobs_wide its = (jobs_wide)b->compute * a->time;

	(void)context;
	if (a->component != b->component)
		return a->component < b->component ? -1 : 1;
	if (mine != its)
		return mine < its ? -1 : 1;
	return a->job < b->job ? -1 : a->job > b->job;
}

/* List the jobs whose flows all have circuits, by component and ratio. */
static void list_members(struct morph_jobs *jobs)
{
	jobs->members.count = 0;
	for (uint32_t at = 0; at < jobs->ranks.count; at++) {
		uint32_t number = jobs->ranks.list[at].job;
		const struct jobs_state *state = &jobs->jobs.list[number];
		struct jobs_member it = {
			.component = find_root(jobs->heap.list, number),
			.job = number,
			.compute = lm_job(jobs, number)->compute_ns,
		};

		for (uint32_t flow = state->first; flow < state->first + state->flows; flow++) {
			uint64_t time = time_of(jobs, &jobs->flows.list[flow]);

			it.time = time > it.time ? time : it.time;
		}
		if (it.time && it.time != UINT64_MAX)
			jobs->members.list[jobs->members.count++] = it;
	}
	lm_sort(jobs->members.list, jobs->members.count, sizeof(*jobs->members.list), order_ratio,
		NULL);
}

/* The jobs of a component, and their times on its pairs. */
struct component {
	struct jobs_member *members;
	uint32_t count;
	uint64_t *all, *turn[2]; /* by pair: all jobs; those that send in a turn */
	uint64_t longest[2]; /* of a turn, on a pair */
};

/* Call @visit for each flow of the component. */
static void visit_flows(const struct morph_jobs *jobs, struct component *component,
			void (*visit)(const struct morph_jobs *, struct component *,
				      const struct jobs_member *, const struct jobs_flow *))
{
	for (uint32_t at = 0; at < component->count; at++) {
		const struct jobs_member *member = &component->members[at];
		const struct jobs_state *state = &jobs->jobs.list[member->job];

		for (uint32_t rank = 0; rank < state->flows; rank++)
			visit(jobs, component, member, &jobs->flows.list[state->first + rank]);
	}
}

static void reset_times(const struct morph_jobs *jobs, struct component *component,
			const struct jobs_member *member, const struct jobs_flow *flow)
{
	(void)jobs;
	(void)member;
	component->all[flow->pair] = 0;
	component->turn[0][flow->pair] = component->turn[1][flow->pair] = 0;
}

/* A job without a cohort sends in both turns. */
static void add_time(const struct morph_jobs *jobs, struct component *component,
		     const struct jobs_member *member, const struct jobs_flow *flow)
{
	uint64_t time = time_of(jobs, flow);

	component->all[flow->pair] += time;
	for (uint32_t turn = 0; turn < 2; turn++) {
		if (member->cohort && member->cohort != turn + 1)
			continue;
		component->turn[turn][flow->pair] += time;
		if (component->turn[turn][flow->pair] > component->longest[turn])
			component->longest[turn] = component->turn[turn][flow->pair];
	}
}

static void sum_times(const struct morph_jobs *jobs, struct component *component)
{
	component->longest[0] = component->longest[1] = 0;
	visit_flows(jobs, component, reset_times);
	visit_flows(jobs, component, add_time);
}

/* The longest time of all jobs on a pair of this job; *@pair: on this pair. */
static uint64_t find_longest(const struct morph_jobs *jobs, const struct component *component,
			     const struct jobs_member *member, uint32_t *pair)
{
	const struct jobs_state *state = &jobs->jobs.list[member->job];
	uint64_t longest = 0;

	for (uint32_t rank = 0; rank < state->flows; rank++) {
		uint32_t it = jobs->flows.list[state->first + rank].pair;

		if (component->all[it] <= longest)
			continue;
		longest = component->all[it];
		if (pair)
			*pair = it;
	}
	return longest;
}

/* Cut the sorted jobs so that both cohorts have half of the time on the worst pair. */
static void cut(const struct morph_jobs *jobs, struct component *component)
{
	uint32_t worst = JOBS_NONE;
	uint64_t longest = 0, sum = 0;

	for (uint32_t at = 0; at < component->count; at++) {
		uint32_t pair = JOBS_NONE;
		uint64_t time = find_longest(jobs, component, &component->members[at], &pair);

		if (time > longest) {
			longest = time;
			worst = pair;
		}
	}
	for (uint32_t at = 0; at < component->count; at++) {
		struct jobs_member *member = &component->members[at];
		const struct jobs_state *state = &jobs->jobs.list[member->job];
		uint64_t before = sum;

		for (uint32_t rank = 0; rank < state->flows; rank++)
			if (jobs->flows.list[state->first + rank].pair == worst)
				sum += time_of(jobs, &jobs->flows.list[state->first + rank]);
		member->cohort = before + (sum - before) / 2 < longest / 2 ? 1 : 2;
	}
}

static uint64_t find_period(const struct morph_jobs *jobs, const struct component *component,
			    const struct jobs_member *member)
{
	uint64_t both = component->longest[0] + component->longest[1] + 2 * jobs->problem.dark_ns;
	uint64_t alone = member->compute + component->longest[member->cohort - 1];

	return both > alone ? both : alone;
}

/* Take the jobs out of their cohorts whose period grouping makes longer. Return their number. */
static uint32_t leave(const struct morph_jobs *jobs, struct component *component, bool all)
{
	uint32_t left = 0;

	for (uint32_t at = 0; at < component->count; at++) {
		struct jobs_member *member = &component->members[at];

		if (!member->cohort)
			continue;
		if (!all && find_period(jobs, component, member) <=
				    member->compute + find_longest(jobs, component, member, NULL))
			continue;
		member->cohort = 0;
		left++;
	}
	return left;
}

static bool has_both(const struct component *component)
{
	uint32_t has[3] = { 0 };

	for (uint32_t at = 0; at < component->count; at++)
		has[component->members[at].cohort]++;
	return has[1] && has[2];
}

static void answer(struct morph_jobs *jobs, const struct component *component)
{
	for (uint32_t at = 0; at < component->count; at++) {
		const struct jobs_member *member = &component->members[at];
		struct morph_jobs_answer *it = &jobs->answers.list[member->job];

		if (!member->cohort)
			continue;
		it->cohort = member->cohort;
		it->offset_ns = member->cohort == 1 ? 0 :
						      component->longest[0] + jobs->problem.dark_ns;
		it->period_ns = find_period(jobs, component, member);
	}
}

static void group(struct morph_jobs *jobs, struct component *component)
{
	sum_times(jobs, component);
	cut(jobs, component);
	sum_times(jobs, component);
	for (uint32_t pass = 0; leave(jobs, component, pass == PASSES); pass++)
		sum_times(jobs, component);
	if (has_both(component))
		answer(jobs, component);
}

void lm_jobs_group(struct morph_jobs *jobs)
{
	uint64_t *list = jobs->volumes.list;
	uint32_t pairs = jobs->pairs.count, first = 0;

	unite(jobs);
	list_members(jobs);
	for (uint32_t at = 1; at <= jobs->members.count; at++) {
		struct component component = {
			.members = jobs->members.list + first,
			.count = at - first,
			.all = list,
			.turn = { list + pairs, list + 2 * (size_t)pairs },
		};

		if (at < jobs->members.count &&
		    jobs->members.list[at].component == jobs->members.list[first].component)
			continue;
		if (component.count > 1)
			group(jobs, &component);
		first = at;
	}
}

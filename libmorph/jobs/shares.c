// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Bandwidth of flows on their circuits.
 *
 * - Jobs that hold circuits have the whole bandwidth of these.
 * - In order: the first flow of a pair takes what it can use, the next flow has the rest.
 * - Max-min shares, by progressive filling (Bertsekas and Gallager, Data Networks, 6.5.2): all
 *   flows rise together until a pair or the network interface of a job's aggregators is full. Its
 *   flows stop there, and the others rise on. Levels are fixed-point numbers with FRACTION bits,
 *   rounded down. A share is its level, rounded down. So shares never exceed a capacity. A
 *   level is exact within the sum of the errors of the flows that stopped at its resource before.
 *   O((flows + resources) log(resources)).
 */
#include "../util/heap.h"
#include "jobs.h"

#define FRACTION 60
#define RISING UINT64_MAX /* share of a flow that has not stopped */

struct filling {
	struct morph_jobs *jobs;
	uint32_t *heap;
	uint32_t held;
};

static uint32_t resource_at(const struct filling *filling, size_t place)
{
	return place == HEAP_HELD ? filling->held : filling->heap[place];
}

static const struct jobs_resource *resource(const struct filling *filling, size_t place)
{
	return &filling->jobs->resources.list[resource_at(filling, place)];
}

/* By the level that is known, which the level of a resource never falls below. */
static bool before(const void *context, size_t one, size_t other)
{
	const struct jobs_resource *a = resource(context, one), *b = resource(context, other);

	return a->level != b->level ? a->level < b->level :
				      resource_at(context, one) < resource_at(context, other);
}

static void move(void *context, size_t to, size_t from)
{
	struct filling *filling = context;
	uint32_t resource = resource_at(filling, from);

	if (to == HEAP_HELD)
		filling->held = resource;
	else
		filling->heap[to] = resource;
}

/* Resources are the pairs, then the network interfaces of jobs. */
static uint32_t interface_of(const struct morph_jobs *jobs, uint32_t job)
{
	return jobs->pairs.count + job;
}

/* Stop a flow of resource @full at its level. */
static void stop(struct morph_jobs *jobs, struct jobs_flow *flow, uint32_t full, jobs_wide level)
{
	uint32_t interface = interface_of(jobs, flow->job);
	struct jobs_resource *list = jobs->resources.list;
	uint32_t other = full == flow->pair ? interface : flow->pair;

	flow->share = (uint64_t)(level >> FRACTION);
	list[full].rising--;
	if (other == interface && jobs->jobs.list[flow->job].nic == UINT64_MAX)
		return;
	list[other].rising--;
	list[other].left -= level;
}

static void stop_all(struct morph_jobs *jobs, uint32_t full, jobs_wide level)
{
	bool pair = full < jobs->pairs.count;
	uint32_t first, count;

	if (pair) {
		first = jobs->pairs.list[full].first;
		count = jobs->pairs.list[full].count;
	} else {
		first = jobs->jobs.list[full - jobs->pairs.count].first;
		count = jobs->jobs.list[full - jobs->pairs.count].flows;
	}
	for (uint32_t at = first; at < first + count; at++) {
		uint32_t number = pair ? jobs->by_pair.list[at] : at;

		if (jobs->flows.list[number].share == RISING)
			stop(jobs, &jobs->flows.list[number], full, level);
	}
}

/* Let a flow rise. Return the number of its resources in the heap. */
static uint32_t raise(struct filling *filling, struct jobs_flow *flow, uint32_t count)
{
	struct morph_jobs *jobs = filling->jobs;
	uint32_t resources[] = { flow->pair, interface_of(jobs, flow->job) };
	uint64_t capacities[] = { jobs->pairs.list[flow->pair].capacity,
				  jobs->jobs.list[flow->job].nic };

	flow->share = RISING;
	for (uint32_t at = 0; at < 2; at++) {
		struct jobs_resource *it = &jobs->resources.list[resources[at]];

		if (capacities[at] == UINT64_MAX)
			continue;
		if (!it->rising++) {
			it->left = (jobs_wide)capacities[at] << FRACTION;
			it->level = 0;
			filling->heap[count++] = resources[at];
		}
	}
	return count;
}

static void fill(struct morph_jobs *jobs, const uint32_t *flows, uint32_t flow_count)
{
	struct filling filling = { .jobs = jobs, .heap = jobs->heap.list };
	uint32_t count = 0;

	for (uint32_t at = 0; at < flow_count; at++) {
		struct jobs_flow *flow = &jobs->flows.list[flows[at]];

		jobs->resources.list[flow->pair].rising = 0;
		jobs->resources.list[interface_of(jobs, flow->job)].rising = 0;
		flow->share = 0;
	}
	for (uint32_t at = 0; at < flow_count; at++)
		if (jobs->flows.list[flows[at]].traffic)
			count = raise(&filling, &jobs->flows.list[flows[at]], count);
	while (count) {
		uint32_t number = filling.heap[0];
		struct jobs_resource *it = &jobs->resources.list[number];
		jobs_wide level = it->rising ? it->left / it->rising : 0;

		if (it->rising && level > it->level) {
			it->level = level;
		} else {
			if (it->rising)
				stop_all(jobs, number, level);
			filling.heap[0] = filling.heap[--count];
		}
		if (count)
			heap_sink(&filling, 0, count, before, move);
	}
}

/*
 * The time of an iteration in a cohort. A job that differs from the belief does not keep to its
 * turn, so it is at most as fast as without cohorts.
 */
static uint64_t period_of(const struct morph_jobs *jobs, uint32_t number, uint64_t alone)
{
	const struct morph_job *job = lm_job(jobs, number), *believed = jobs->opts.believed;
	uint64_t period = jobs->answers.list[number].period_ns;

	if (!believed || (job->bytes == believed[number].bytes &&
			  job->compute_ns == believed[number].compute_ns))
		return period ? period : alone;
	return period > alone ? period : alone;
}

uint64_t lm_jobs_rate(const struct morph_jobs *jobs, const struct jobs_flow *flow, uint64_t share)
{
	const struct morph_job *job = lm_job(jobs, flow->job);
	const struct morph_jobs_part *part = &jobs->parts.list[flow->part];
	uint64_t bytes = 2 * job->bytes * (part->slot ? 1 : part->workers);
	uint64_t alone;

	if (!share || !flow->traffic)
		return 0;
	if (!jobs->answers.list[flow->job].period_ns && !job->compute_ns)
		return share;
	alone = lm_sum(job->compute_ns, lm_jobs_time(bytes, share));
	return (uint64_t)((jobs_wide)bytes * JOBS_BITS / period_of(jobs, flow->job, alone));
}

static void share_in_order(struct morph_jobs *jobs, const uint32_t *flows, uint32_t count)
{
	for (uint32_t at = 0; at < count; at++)
		jobs->resources.list[jobs->flows.list[flows[at]].pair].used = 0;
	for (uint32_t at = 0; at < count; at++) {
		struct jobs_flow *flow = &jobs->flows.list[flows[at]];
		struct jobs_resource *pair = &jobs->resources.list[flow->pair];
		uint64_t *nic = &jobs->jobs.list[flow->job].nic;
		uint64_t left = jobs->pairs.list[flow->pair].capacity - pair->used;

		flow->rate = flow->share = lm_jobs_rate(jobs, flow, left < *nic ? left : *nic);
		pair->used += flow->share;
		*nic -= *nic == UINT64_MAX ? 0 : flow->share;
	}
}

static uint64_t held_bps(const struct morph_jobs *jobs, const struct jobs_flow *flow)
{
	const struct jobs_pair *pair = &jobs->pairs.list[flow->pair];
	uint64_t bps = jobs->parts.list[flow->part].circuits * jobs->problem.circuit_bps;
	bool dark = jobs->now < jobs->light;

	if (!flow->traffic || (dark && ((flow->fresh && pair->dark) || !pair->capacity)))
		return 0;
	return bps;
}

static void share_held(struct morph_jobs *jobs, const uint32_t *flows, uint32_t count)
{
	for (uint32_t at = 0; at < count; at++) {
		struct jobs_flow *flow = &jobs->flows.list[flows[at]];
		uint64_t *nic = &jobs->jobs.list[flow->job].nic;
		uint64_t share = held_bps(jobs, flow);

		flow->share = share < *nic ? share : *nic;
		*nic -= *nic == UINT64_MAX ? 0 : flow->share;
	}
}

void lm_jobs_share(struct morph_jobs *jobs, const uint32_t *flows, uint32_t count)
{
	for (uint32_t at = 0; at < count; at++) {
		uint32_t job = jobs->flows.list[flows[at]].job;
		const struct morph_jobs_answer *answer = &jobs->answers.list[job];
		bool waits = answer->reason == MORPH_JOBS_AGGREGATORS;

		jobs->jobs.list[job].nic = answer->nic_bps || waits ? answer->nic_bps : UINT64_MAX;
	}
	if (!(jobs->rules.traits & (MORPH_JOBS_HOLD | MORPH_JOBS_FAIR))) {
		share_in_order(jobs, flows, count);
		return;
	}
	if (jobs->rules.traits & MORPH_JOBS_HOLD)
		share_held(jobs, flows, count);
	else
		fill(jobs, flows, count);
	for (uint32_t at = 0; at < count; at++) {
		struct jobs_flow *flow = &jobs->flows.list[flows[at]];

		flow->rate = lm_jobs_rate(jobs, flow, flow->share);
	}
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Components of jobs that have one period: those that share pairs of sites, directly or over other
 * jobs. If circuits change between the turns, pairs lend each other their ports, so a component is
 * the jobs whose circuits share sites. O(sites + pairs + flows).
 */
#include "jobs.h"

static uint32_t find_root(uint32_t *parents, uint32_t node)
{
	while (parents[node] != node) {
		parents[node] = parents[parents[node]];
		node = parents[node];
	}
	return node;
}

static void join(uint32_t *parents, uint32_t one, uint32_t other)
{
	one = find_root(parents, one);
	other = find_root(parents, other);
	parents[one > other ? one : other] = one > other ? other : one;
}

/* List the pairs with circuits whose period is not known. */
static void open_pairs(struct morph_jobs *jobs)
{
	jobs->open.count = 0;
	for (uint32_t at = 0; at < jobs->used.count; at++) {
		const struct jobs_pair *pair = &jobs->pairs.list[jobs->used.list[at]];

		if (pair->circuits && !pair->settled)
			jobs->open.list[jobs->open.count++] = jobs->used.list[at];
	}
}

/* Count the ports without circuits, and those that turns may use. */
static void count_ports(struct morph_jobs *jobs)
{
	for (uint32_t at = 0; at < jobs->sites.count; at++) {
		jobs->sites.list[at].unused = jobs->problem.sites[at].ports;
		jobs->sites.list[at].usable = jobs->problem.sites[at].ports;
		jobs->sites.list[at].load = 0;
	}
	for (uint32_t at = 0; at < jobs->pairs.count; at++) {
		const struct jobs_pair *pair = &jobs->pairs.list[at];
		struct jobs_site *one = &jobs->sites.list[pair->one];
		struct jobs_site *other = &jobs->sites.list[pair->other];

		one->unused -= pair->circuits;
		other->unused -= pair->circuits;
		one->usable -= pair->settled ? pair->circuits : 0;
		other->usable -= pair->settled ? pair->circuits : 0;
	}
}

static void unite_sites(struct morph_jobs *jobs, uint32_t *parents)
{
	for (uint32_t at = 0; at < jobs->open.count; at++) {
		const struct jobs_pair *pair = &jobs->pairs.list[jobs->open.list[at]];

		join(parents, pair->one, pair->other);
	}
	for (uint32_t at = 0; at < jobs->sites.count; at++)
		jobs->sites.list[at].component = find_root(parents, at);
	for (uint32_t at = 0; at < jobs->open.count; at++) {
		struct jobs_pair *pair = &jobs->pairs.list[jobs->open.list[at]];

		pair->component = jobs->sites.list[pair->one].component;
	}
}

static void unite_pairs(struct morph_jobs *jobs, uint32_t *parents)
{
	for (uint32_t at = 0; at < jobs->flows.count; at++) {
		const struct jobs_flow *flow = &jobs->flows.list[at];
		uint32_t first = jobs->jobs.list[flow->job].first;

		join(parents, jobs->flows.list[first].pair, flow->pair);
	}
	for (uint32_t at = 0; at < jobs->open.count; at++)
		jobs->pairs.list[jobs->open.list[at]].component =
			find_root(parents, jobs->open.list[at]);
}

void lm_jobs_unite(struct morph_jobs *jobs)
{
	uint32_t count = jobs->rewires ? jobs->sites.count : jobs->pairs.count;
	uint32_t *parents = jobs->heap.list;

	open_pairs(jobs);
	count_ports(jobs);
	jobs->components.count = count;
	for (uint32_t at = 0; at < count; at++) {
		parents[at] = at;
		jobs->components.list[at] = (struct jobs_component){ .worst = JOBS_NONE };
	}
	if (jobs->rewires)
		unite_sites(jobs, parents);
	else
		unite_pairs(jobs, parents);
}

// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdlib.h>
#include <string.h>

#include "../util/mix.h"
#include "small_jobs.h"

static void draw_job(struct small *small, const struct small_limits *limits, uint32_t number)
{
	struct morph_job *job = &small->jobs[number];
	uint32_t first = small->problem.part_count, sites = limits->sites;
	uint32_t start = mix_below(&small->random, sites);

	if (!sites)
		abort();
	*job = (struct morph_job){
		.bytes = 1 + mix_below(&small->random, 40),
		.iterations = 1 + mix_below(&small->random, 4),
		.first = first,
		.parts = 1 + mix_below(&small->random, limits->parts),
		.root = start,
	};
	for (uint32_t at = 0; at < job->parts; at++)
		small->parts[first + at] = (struct morph_jobs_part){
			.site = (start + at) % sites,
			.workers = 1 + mix_below(&small->random, limits->workers),
			.left = mix_below(&small->random,
					  (uint32_t)(2 * job->bytes * job->iterations) + 1),
		};
	small->problem.part_count += job->parts;
}

void small_draw(struct small *small, const struct small_limits *limits)
{
	small->problem = (struct morph_jobs_problem){
		.sz = sizeof(small->problem),
		.sites = small->sites,
		.site_count = limits->sites,
		.jobs = small->jobs,
		.job_count = 1 + mix_below(&small->random, limits->jobs),
		.parts = small->parts,
		.lit = small->lit,
		.most = small->most,
		.circuit_bps = 1 + mix_below(&small->random, 1000),
	};
	for (uint32_t at = 0; at < limits->sites; at++)
		small->sites[at] = (struct morph_jobs_site){
			.ports = mix_below(&small->random, limits->ports + 1),
			.slots = mix_below(&small->random, limits->slots + 1),
			.nic_bps = limits->nic ? mix_below(&small->random, limits->nic) : 0,
			.aggregators = limits->nic ? 1 + mix_below(&small->random, 3) : 0,
		};
	for (uint32_t at = 0; at < small->problem.job_count; at++)
		draw_job(small, limits, at);
}

void small_limit(struct small *small, uint32_t most)
{
	for (uint32_t one = 0; one < small->problem.site_count; one++)
		for (uint32_t other = one + 1; other < small->problem.site_count; other++)
			if (!mix_below(&small->random, 3))
				small->most[small->problem.most_count++] = (struct morph_jobs_pair){
					other, one, mix_below(&small->random, most + 1)
				};
}

uint32_t small_most(const struct small *small, uint32_t one, uint32_t other)
{
	for (uint32_t at = 0; at < small->problem.most_count; at++) {
		const struct morph_jobs_pair *it = &small->most[at];

		if ((it->one == one && it->other == other) ||
		    (it->one == other && it->other == one))
			return it->circuits;
	}
	return UINT32_MAX;
}

void small_light(struct small *small)
{
	uint32_t free[SMALL_SITES];

	for (uint32_t at = 0; at < small->problem.site_count; at++)
		free[at] = small->sites[at].ports;
	for (uint32_t one = 0; one < small->problem.site_count; one++) {
		for (uint32_t other = one + 1; other < small->problem.site_count; other++) {
			uint32_t most = small_most(small, one, other), circuits;

			most = free[one] < most ? free[one] : most;
			most = free[other] < most ? free[other] : most;
			circuits = mix_below(&small->random, most + 1);
			if (!circuits)
				continue;
			free[one] -= circuits;
			free[other] -= circuits;
			small->lit[small->problem.lit_count++] =
				(struct morph_jobs_pair){ one, other, circuits };
		}
	}
}

bool small_flows(const struct small *small, uint32_t job, uint32_t part)
{
	return small->parts[part].site != small->jobs[job].root && small->parts[part].left;
}

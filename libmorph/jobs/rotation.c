// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Circuits in the turns of two cohorts.
 *
 * A pair that no job uses in a turn lends its ports. Filling gives them to the pairs that send in
 * this turn, by bytes of an iteration per circuit. A pair that sends in both turns keeps at least
 * its circuits, so rewiring makes no turn longer.
 */
#include "jobs.h"

/* Take the circuits of a turn before filling. Return whether a pair lends its ports. */
static bool lend(struct morph_jobs *jobs, uint32_t turn)
{
	bool lends = false;

	for (uint32_t at = 0; at < jobs->sites.count; at++)
		jobs->sites.list[at].free = jobs->sites.list[at].unused;
	for (uint32_t at = 0; at < jobs->open.count; at++) {
		struct jobs_pair *pair = &jobs->pairs.list[jobs->open.list[at]];

		pair->turn_circuits[turn] = pair->circuits;
		if (pair->turn[turn] || !pair->turn[!turn])
			continue;
		pair->turn_circuits[turn] = 0;
		jobs->sites.list[pair->one].free += pair->circuits;
		jobs->sites.list[pair->other].free += pair->circuits;
		lends = true;
	}
	return lends;
}

/* Fill pairs whose sites both have a free port. @demand is 0 for the other pairs. */
static void fill(struct morph_jobs *jobs, uint32_t turn)
{
	for (uint32_t at = 0; at < jobs->open.count; at++) {
		struct jobs_pair *pair = &jobs->pairs.list[jobs->open.list[at]];
		bool rises = jobs->sites.list[pair->one].free && jobs->sites.list[pair->other].free;

		pair->demand = rises ? pair->turn[turn] : 0;
	}
	lm_jobs_fill(jobs, jobs->open.list, jobs->open.count);
	for (uint32_t at = 0; at < jobs->open.count; at++) {
		struct jobs_pair *pair = &jobs->pairs.list[jobs->open.list[at]];
		uint32_t circuits;

		if (!pair->demand)
			continue;
		circuits = pair->circuits;
		pair->circuits = pair->turn_circuits[turn];
		pair->turn_circuits[turn] = circuits;
	}
}

void lm_jobs_rotate(struct morph_jobs *jobs)
{
	const struct morph_jobs_worst worst = jobs->decision.worst;

	for (uint32_t at = 0; at < jobs->sites.count; at++)
		jobs->sites.list[at].kept = jobs->sites.list[at].free;
	for (uint32_t turn = 0; turn < 2; turn++)
		if (lend(jobs, turn))
			fill(jobs, turn);
	for (uint32_t at = 0; at < jobs->sites.count; at++)
		jobs->sites.list[at].free = jobs->sites.list[at].kept;
	jobs->decision.worst = worst;
}

void lm_jobs_list_turns(struct morph_jobs *jobs)
{
	for (uint32_t at = 0; at < jobs->open.count; at++) {
		const struct jobs_pair *pair = &jobs->pairs.list[jobs->open.list[at]];
		const uint32_t *circuits = pair->turn_circuits;
		uint32_t component = jobs->sites.list[pair->one].component;

		if (jobs->sites.list[component].period && circuits[0] != circuits[1])
			jobs->turns.list[jobs->turns.count++] = (struct morph_jobs_turn){
				pair->one, pair->other, { circuits[0], circuits[1] }
			};
	}
}

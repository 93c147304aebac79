// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Bytes, circuits and times of the turns of two cohorts.
 *
 * A pair that no job uses in a turn lends its ports. Filling gives them to the pairs that send in
 * this turn, by bytes of an iteration per circuit. A pair that sends in both turns keeps at least
 * its circuits, so rewiring makes no turn longer.
 */
#include "jobs.h"

static uint64_t larger(uint64_t one, uint64_t other)
{
	return one > other ? one : other;
}

/*
 * The bytes of a pair in each turn. A job without a cohort sends at any time. Max-min shares give
 * it at most the bytes of the longest flow of a turn, unless its own are more.
 */
static void sum_pair(const struct morph_jobs *jobs, struct jobs_pair *pair)
{
	pair->turn[0] = pair->turn[1] = 0;
	for (uint32_t rank = pair->first; rank < pair->first + pair->count; rank++) {
		const struct jobs_flow *flow = &jobs->flows.list[jobs->by_pair.list[rank]];
		uint32_t cohort = jobs->jobs.list[flow->job].cohort;

		for (uint32_t turn = 0; turn < 2; turn++)
			if (!cohort)
				pair->turn[turn] += larger(flow->iteration, pair->longest[turn]);
			else if (cohort == turn + 1)
				pair->turn[turn] += flow->iteration;
	}
}

/* The bytes of each pair in each turn, and the longest flow of a cohort. */
void lm_jobs_sum_turns(struct morph_jobs *jobs)
{
	for (uint32_t at = 0; at < jobs->open.count; at++) {
		struct jobs_pair *pair = &jobs->pairs.list[jobs->open.list[at]];

		pair->longest[0] = pair->longest[1] = 0;
		pair->turn[0] = pair->turn[1] = pair->bytes;
	}
	for (uint32_t at = 0; at < jobs->members.count; at++) {
		const struct jobs_state *state = &jobs->jobs.list[jobs->members.list[at].job];
		uint32_t flow = state->first, end = flow + state->flows;

		for (; state->cohort && flow < end; flow++) {
			struct jobs_pair *pair = &jobs->pairs.list[jobs->flows.list[flow].pair];
			uint64_t *longest = &pair->longest[state->cohort - 1];

			*longest = larger(*longest, jobs->flows.list[flow].iteration);
		}
	}
	for (uint32_t at = 0; at < jobs->open.count; at++) {
		struct jobs_pair *pair = &jobs->pairs.list[jobs->open.list[at]];

		if (pair->longest[0] || pair->longest[1])
			sum_pair(jobs, pair);
	}
}

/* Without rewiring, circuits are the same in both turns. */
void lm_jobs_keep_turns(struct morph_jobs *jobs)
{
	for (uint32_t at = 0; at < jobs->open.count; at++) {
		struct jobs_pair *pair = &jobs->pairs.list[jobs->open.list[at]];

		pair->turn_circuits[0] = pair->turn_circuits[1] = pair->circuits;
	}
}

/* By pair with a cohort: the times of turns. By component: the longest, and if circuits change. */
void lm_jobs_find_turns(struct morph_jobs *jobs)
{
	for (uint32_t at = 0; at < jobs->open.count; at++) {
		struct jobs_pair *pair = &jobs->pairs.list[jobs->open.list[at]];

		lm_jobs_component(jobs, pair)->turn[0] = lm_jobs_component(jobs, pair)->turn[1] = 0;
		lm_jobs_component(jobs, pair)->rewired = false;
	}
	for (uint32_t at = 0; at < jobs->open.count; at++) {
		struct jobs_pair *pair = &jobs->pairs.list[jobs->open.list[at]];
		struct jobs_component *component = lm_jobs_component(jobs, pair);

		component->rewired |= pair->turn_circuits[0] != pair->turn_circuits[1];
		for (uint32_t turn = 0; turn < 2; turn++) {
			uint32_t circuits = pair->turn_circuits[turn];
			uint64_t time = pair->longest[turn] ? pair->time : 0;

			if (time && (circuits != pair->circuits || pair->turn[turn] != pair->bytes))
				time = lm_jobs_pass(jobs, pair->turn[turn], circuits);
			pair->turn_time[turn] = time;
			if (time > component->turn[turn])
				component->turn[turn] = time;
		}
	}
}

/* ------------------------------------------------------------ rewiring */

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

		if (jobs->components.list[pair->component].period && circuits[0] != circuits[1])
			jobs->turns.list[jobs->turns.count++] = (struct morph_jobs_turn){
				pair->one, pair->other, { circuits[0], circuits[1] }
			};
	}
}

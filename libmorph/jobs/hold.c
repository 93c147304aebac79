// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Circuits that jobs hold until their end: the baselines of the paper.
 *
 * A job starts if each of its sites has a free port, and its root one for each of its flows. It
 * takes free slots at its parts of several workers, then one circuit for each flow, then one after
 * the other for the flow with the most bytes per circuit. It stops when this flow cannot rise,
 * since the job would not end sooner. O(parts + circuits * parts of a job).
 */
#include "jobs.h"

static struct jobs_pair *pair_of(const struct morph_jobs *jobs, const struct jobs_flow *flow)
{
	return &jobs->pairs.list[flow->pair];
}

static bool has_room(const struct morph_jobs *jobs, const struct jobs_pair *pair)
{
	return pair->circuits < pair->most && jobs->sites.list[pair->one].free &&
	       jobs->sites.list[pair->other].free;
}

static void hold(struct morph_jobs *jobs, struct jobs_flow *flow)
{
	struct jobs_pair *pair = pair_of(jobs, flow);

	pair->circuits++;
	jobs->parts.list[flow->part].circuits++;
	jobs->sites.list[pair->one].free--;
	jobs->sites.list[pair->other].free--;
}

static void wait(struct morph_jobs *jobs, uint32_t job, uint32_t reason, uint32_t site)
{
	jobs->answers.list[job].reason = reason;
	jobs->answers.list[job].site = site;
}

/* Can the job start? Otherwise note the reason. */
static bool can_start(struct morph_jobs *jobs, uint32_t job)
{
	const struct jobs_state *state = &jobs->jobs.list[job];
	uint32_t root = lm_job(jobs, job)->root;

	if (jobs->sites.list[root].free < state->flows) {
		wait(jobs, job, MORPH_JOBS_PORTS, root);
		return false;
	}
	for (uint32_t at = state->first; at < state->first + state->flows; at++) {
		const struct jobs_flow *flow = &jobs->flows.list[at];
		uint32_t site = jobs->parts.list[flow->part].site;

		if (has_room(jobs, pair_of(jobs, flow)))
			continue;
		wait(jobs, job, jobs->sites.list[site].free ? MORPH_JOBS_MOST : MORPH_JOBS_PORTS,
		     site);
		return false;
	}
	return true;
}

static void take_slots(struct morph_jobs *jobs, const struct jobs_state *state)
{
	for (uint32_t at = state->first; at < state->first + state->flows; at++) {
		struct morph_jobs_part *part = &jobs->parts.list[jobs->flows.list[at].part];
		struct jobs_site *site = &jobs->sites.list[part->site];

		if (part->workers > 1 && !part->slot && site->slots) {
			part->slot = true;
			site->slots--;
		}
		jobs->flows.list[at].traffic = lm_jobs_traffic(part);
	}
}

/* The flow with the most bytes per circuit, if it can rise; else JOBS_NONE. */
static uint32_t find_worst(const struct morph_jobs *jobs, const struct jobs_state *state)
{
	const struct morph_jobs_part *parts = jobs->parts.list;
	uint32_t worst = state->first;

	if (!state->flows)
		return JOBS_NONE;
	for (uint32_t at = state->first; at < state->first + state->flows; at++) {
		const struct jobs_flow *flow = &jobs->flows.list[at];
		const struct jobs_flow *best = &jobs->flows.list[worst];

		if ((jobs_wide)flow->traffic * parts[best->part].circuits >
		    (jobs_wide)best->traffic * parts[flow->part].circuits)
			worst = at;
	}
	return has_room(jobs, pair_of(jobs, &jobs->flows.list[worst])) ? worst : JOBS_NONE;
}

static void start(struct morph_jobs *jobs, struct jobs_state *state)
{
	state->started = true;
	take_slots(jobs, state);
	for (uint32_t at = state->first; at < state->first + state->flows; at++) {
		hold(jobs, &jobs->flows.list[at]);
		jobs->flows.list[at].fresh = true;
	}
	for (uint32_t at = find_worst(jobs, state); at != JOBS_NONE; at = find_worst(jobs, state))
		hold(jobs, &jobs->flows.list[at]);
}

/* Count what running jobs hold, also on circuits whose flow has ended. */
static void keep_held(struct morph_jobs *jobs)
{
	for (uint32_t at = 0; at < jobs->ranks.count; at++) {
		uint32_t number = jobs->ranks.list[at].job;
		const struct morph_job *job = lm_job(jobs, number);

		for (uint32_t part = job->first; part < job->first + job->parts; part++) {
			const struct morph_jobs_part *it = &jobs->parts.list[part];
			struct jobs_pair *pair;

			if (!it->circuits)
				continue;
			pair = &jobs->pairs.list[lm_jobs_find_pair(jobs, it->site, job->root)];
			pair->circuits += it->circuits;
			jobs->sites.list[pair->one].free -= it->circuits;
			jobs->sites.list[pair->other].free -= it->circuits;
			jobs->jobs.list[number].started = true;
		}
	}
}

void lm_jobs_hold_circuits(struct morph_jobs *jobs)
{
	bool blocked = false;

	keep_held(jobs);
	for (uint32_t at = 0; at < jobs->ranks.count; at++) {
		uint32_t job = jobs->ranks.list[at].job;
		struct jobs_state *state = &jobs->jobs.list[job];

		if (state->started)
			continue;
		if (blocked) {
			wait(jobs, job, MORPH_JOBS_BLOCKED, MORPH_ANY);
		} else if (state->flows && !lm_jobs_gap_passed(jobs)) {
			jobs->deferred = true;
			wait(jobs, job, MORPH_JOBS_GAP, MORPH_ANY);
		} else if (can_start(jobs, job)) {
			start(jobs, state);
			continue;
		}
		blocked = jobs->rules.traits & MORPH_JOBS_BLOCK;
	}
}

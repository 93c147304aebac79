// SPDX-License-Identifier: LGPL-2.1-or-later
/* A decision: its steps in turn, predicted ends, and reasons of jobs that wait. */
#include "jobs.h"

static bool holds(const struct morph_jobs *jobs)
{
	return jobs->rules.traits & MORPH_JOBS_HOLD;
}

/* ------------------------------------------------------------ steps */

static void reset(struct morph_jobs *jobs)
{
	for (uint32_t at = 0; at < jobs->sites.count; at++) {
		const struct morph_jobs_site *site = &jobs->problem.sites[at];

		jobs->sites.list[at] = (struct jobs_site){
			.free = site->ports,
			.slots = site->slots,
			.aggregators = site->aggregators,
		};
	}
	for (uint32_t at = 0; at < jobs->pairs.count; at++) {
		struct jobs_pair *pair = &jobs->pairs.list[at];

		pair->circuits = pair->dark = pair->count = 0;
		pair->demand = pair->wanted_bps = 0;
	}
	jobs->decision = (struct morph_jobs_decision){
		.sz = sizeof(jobs->decision),
		.worst = { .one = MORPH_ANY, .other = MORPH_ANY, .site = MORPH_ANY },
	};
	jobs->coupled = jobs->deferred = false;
	jobs->turns.count = 0;
}

/* A part keeps its slot while it has bytes left, or while its job holds circuits. */
static void keep_slots(struct morph_jobs *jobs)
{
	for (uint32_t at = 0; at < jobs->active.count; at++) {
		uint32_t number = jobs->active.list[at];
		const struct morph_job *job = lm_job(jobs, number);

		jobs->jobs.list[number].started = false;
		jobs->answers.list[number] = (struct morph_jobs_answer){ .site = MORPH_ANY };
		for (uint32_t part = job->first; part < job->first + job->parts; part++) {
			struct morph_jobs_part *it = &jobs->parts.list[part];

			if (!lm_jobs_flows(job, it) && !holds(jobs))
				it->slot = false;
			jobs->sites.list[it->site].slots -= it->slot;
		}
	}
}

static void add_flow(struct morph_jobs *jobs, uint32_t job, uint32_t part)
{
	const struct morph_jobs_part *it = &jobs->parts.list[part];
	uint32_t number = lm_jobs_find_pair(jobs, it->site, lm_job(jobs, job)->root);
	struct jobs_pair *pair = &jobs->pairs.list[number];

	jobs->flows.list[jobs->flows.count++] = (struct jobs_flow){
		.job = job,
		.part = part,
		.pair = number,
		.traffic = lm_jobs_traffic(it),
	};
	if (!pair->count++)
		jobs->used.list[jobs->used.count++] = number;
	pair->demand += lm_jobs_traffic(it);
}

static void list_flows(struct morph_jobs *jobs)
{
	jobs->flows.count = jobs->used.count = 0;
	for (uint32_t at = 0; at < jobs->ranks.count; at++) {
		uint32_t number = jobs->ranks.list[at].job;
		const struct morph_job *job = lm_job(jobs, number);
		struct jobs_state *state = &jobs->jobs.list[number];

		state->first = jobs->flows.count;
		for (uint32_t part = job->first; part < job->first + job->parts; part++)
			if (lm_jobs_flows(job, &jobs->parts.list[part]))
				add_flow(jobs, number, part);
		state->flows = jobs->flows.count - state->first;
	}
}

static void index_pairs(struct morph_jobs *jobs)
{
	uint32_t next = 0;

	for (uint32_t at = 0; at < jobs->used.count; at++) {
		struct jobs_pair *pair = &jobs->pairs.list[jobs->used.list[at]];

		pair->first = next;
		next += pair->count;
		pair->count = 0;
	}
	for (uint32_t at = 0; at < jobs->flows.count; at++) {
		struct jobs_pair *pair = &jobs->pairs.list[jobs->flows.list[at].pair];

		jobs->by_pair.list[pair->first + pair->count++] = at;
	}
}

void lm_jobs_set_capacities(struct morph_jobs *jobs)
{
	bool dark = jobs->now < jobs->light;
	bool fabric = jobs->opts.flags & MORPH_JOBS_DARK_FABRIC;

	for (uint32_t at = 0; at < jobs->used.count; at++) {
		struct jobs_pair *pair = &jobs->pairs.list[jobs->used.list[at]];
		uint32_t circuits = pair->circuits;

		if (dark)
			circuits = fabric ? 0 : circuits - pair->dark;
		pair->capacity = circuits * jobs->problem.circuit_bps;
	}
}

void lm_jobs_plan(struct morph_jobs *jobs)
{
	reset(jobs);
	lm_jobs_sort(jobs);
	keep_slots(jobs);
	if (!holds(jobs) && jobs->opts.flags & MORPH_JOBS_ALL_SLOTS)
		lm_jobs_pack(jobs);
	else if (!holds(jobs))
		lm_jobs_grant(jobs);
	list_flows(jobs);
	if (holds(jobs))
		lm_jobs_hold_circuits(jobs);
	else
		lm_jobs_share_circuits(jobs);
	lm_jobs_change(jobs);
	index_pairs(jobs);
	lm_jobs_assign_aggregators(jobs);
	lm_jobs_set_capacities(jobs);
	if (jobs->rules.traits & MORPH_JOBS_COHORTS)
		lm_jobs_group(jobs);
}

/* ------------------------------------------------------------ the answer */

void lm_jobs_share_all(struct morph_jobs *jobs)
{
	const uint32_t *list = jobs->by_pair.list;

	if (jobs->coupled) {
		lm_jobs_share(jobs, jobs->numbers.list, jobs->flows.count);
		return;
	}
	for (uint32_t at = 0; at < jobs->used.count; at++) {
		const struct jobs_pair *pair = &jobs->pairs.list[jobs->used.list[at]];

		if (pair->capacity)
			lm_jobs_share(jobs, list + pair->first, pair->count);
	}
}

/* Note the reason for a flow that has no share. */
static void explain(struct morph_jobs *jobs, const struct jobs_flow *flow)
{
	const struct jobs_pair *pair = &jobs->pairs.list[flow->pair];
	struct morph_jobs_answer *answer = &jobs->answers.list[flow->job];
	uint32_t site = jobs->parts.list[flow->part].site;

	if (answer->reason != MORPH_JOBS_RUNS)
		return;
	answer->site = site;
	if (pair->circuits)
		answer->reason = MORPH_JOBS_TURN;
	else if (!pair->most)
		answer->reason = MORPH_JOBS_MOST;
	else if (jobs->deferred)
		answer->reason = MORPH_JOBS_GAP;
	else
		answer->reason = MORPH_JOBS_PORTS;
	if (answer->reason == MORPH_JOBS_PORTS && jobs->sites.list[site].free)
		answer->site = lm_job(jobs, flow->job)->root;
}

/* Nanoseconds until a flow ends. In order, it waits for the earlier flows of its pair. */
static uint64_t predict(struct morph_jobs *jobs, const struct jobs_flow *flow)
{
	const struct morph_job *job = lm_job(jobs, flow->job);
	uint64_t *queued = &jobs->volumes.list[flow->pair], compute;

	if (jobs->answers.list[flow->job].reason == MORPH_JOBS_AGGREGATORS)
		return UINT64_MAX;
	if (jobs->rules.traits & (MORPH_JOBS_HOLD | MORPH_JOBS_FAIR))
		return lm_jobs_time(flow->traffic, flow->rate);
	*queued += flow->traffic;
	compute = lm_jobs_compute(job, jobs->parts.list[flow->part].left);
	return lm_sum(lm_jobs_time(*queued, jobs->pairs.list[flow->pair].capacity), compute);
}

static void read_flows(struct morph_jobs *jobs)
{
	uint64_t start = lm_sum(jobs->now, jobs->decision.changed ? jobs->problem.dark_ns : 0);

	for (uint32_t at = 0; at < jobs->used.count; at++)
		jobs->volumes.list[jobs->used.list[at]] = 0;
	for (uint32_t at = 0; at < jobs->flows.count; at++) {
		const struct jobs_flow *flow = &jobs->flows.list[at];
		struct morph_jobs_answer *answer = &jobs->answers.list[flow->job];
		const struct morph_jobs_part *part = &jobs->parts.list[flow->part];
		uint64_t end = lm_sum(start, predict(jobs, flow));

		jobs->decided.list[flow->part] = (struct morph_jobs_flow){
			.share_bps = flow->share,
			.circuits = holds(jobs) ? part->circuits :
						  jobs->pairs.list[flow->pair].circuits,
			.slot = part->slot,
		};
		jobs->decision.saved += part->slot ? (part->workers - 1) * part->left : 0;
		if (!flow->share)
			explain(jobs, flow);
		answer->end_ns = end > answer->end_ns ? end : answer->end_ns;
	}
}

/* Jobs without flows end when they have computed; the other jobs do not take part. */
static void read_jobs(struct morph_jobs *jobs)
{
	for (uint32_t number = 0; number < jobs->problem.job_count; number++) {
		struct morph_jobs_answer *answer = &jobs->answers.list[number];
		const struct morph_job *job = lm_job(jobs, number);
		uint64_t left = 0;

		for (uint32_t at = job->first; at < job->first + job->parts; at++)
			left = jobs->parts.list[at].left > left ? jobs->parts.list[at].left : left;
		if (job->arrival_ns > jobs->now) {
			*answer = (struct morph_jobs_answer){ .reason = MORPH_JOBS_FUTURE,
							      .site = MORPH_ANY,
							      .end_ns = UINT64_MAX };
		} else if (!left) {
			*answer = (struct morph_jobs_answer){ .reason = MORPH_JOBS_ENDED,
							      .site = MORPH_ANY,
							      .end_ns = jobs->now };
		} else if (!jobs->jobs.list[number].flows) {
			answer->end_ns = lm_sum(jobs->now, lm_jobs_compute(job, left));
		}
		if (answer->end_ns != UINT64_MAX && answer->end_ns > jobs->decision.end_ns)
			jobs->decision.end_ns = answer->end_ns;
	}
}

MORPH_API int morph_jobs_decide(struct morph_jobs *jobs, const struct morph_jobs_problem *problem,
				const struct morph_jobs_opts *opts, struct morph_jobs_decision *out)
{
	struct morph_jobs_decision *decision = &jobs->decision;
	int err = lm_opts_check(jobs->ctx, out, sizeof(*out), "morph_jobs_decision");

	if (!err)
		err = lm_jobs_load(jobs, problem, opts);
	if (err)
		return err;
	for (uint32_t number = 0; number < problem->job_count; number++)
		if (lm_job(jobs, number)->arrival_ns <= jobs->now)
			jobs->active.list[jobs->active.count++] = number;
	memset(jobs->decided.list, 0, jobs->decided.count * sizeof(*jobs->decided.list));
	lm_jobs_plan(jobs);
	lm_jobs_share_all(jobs);
	decision->changed = jobs->set.count || jobs->clear.count;
	read_flows(jobs);
	read_jobs(jobs);
	decision->bound_ns = lm_jobs_bound(jobs, jobs->now);
	decision->jobs = jobs->answers.list;
	decision->flows = jobs->decided.list;
	decision->set = jobs->set.list;
	decision->set_count = jobs->set.count;
	decision->clear = jobs->clear.list;
	decision->clear_count = jobs->clear.count;
	decision->turns = jobs->turns.list;
	decision->turn_count = jobs->turns.count;
	lm_answer_copy(out, decision, sizeof(*decision));
	return 0;
}

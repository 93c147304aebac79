// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The decisions of a policy against a fluid model.
 *
 * Between two decisions the order of flows, their circuits and slots stay. Shares follow each end
 * of a flow, so circuits stay in use. Without limits of network interfaces the pairs are
 * independent, and each runs through its ends by itself. A circuit that was set carries nothing
 * for the dark time. O(decisions * (cost of a decision) + ends of flows * flows of a pair).
 */
#include "jobs.h"

static uint64_t round_up(const struct morph_jobs *jobs, uint64_t time)
{
	uint64_t over = (time - jobs->problem.now_ns) % jobs->opts.slot_ns;

	return over ? lm_sum(time, jobs->opts.slot_ns - over) : time;
}

/* ------------------------------------------------------------ flows */

static void end_job(struct morph_jobs *jobs, uint32_t number, uint64_t end)
{
	const struct morph_job *job = lm_job(jobs, number);

	jobs->ends.list[number] = end;
	for (uint32_t part = job->first; part < job->first + job->parts; part++) {
		jobs->parts.list[part].circuits = 0;
		jobs->parts.list[part].slot = false;
	}
}

/* Let a flow move what passes until @time, in @ns. */
static void drain(struct morph_jobs *jobs, struct jobs_flow *flow, uint64_t ns, uint64_t time,
		  struct morph_jobs_outcome *out)
{
	struct morph_jobs_part *part = &jobs->parts.list[flow->part];
	struct jobs_state *state = &jobs->jobs.list[flow->job];
	uint64_t factor = part->slot ? 1 : part->workers;
	jobs_wide bytes = (jobs_wide)flow->rate * ns / JOBS_BITS / factor;

	if (bytes > part->left || lm_jobs_time(flow->traffic, flow->rate) <= ns)
		bytes = part->left;
	part->left -= (uint64_t)bytes;
	flow->traffic = part->left * factor;
	out->moved += (uint64_t)bytes * factor;
	if (part->left)
		return;
	state->end = time > state->end ? time : state->end;
	if (!--state->missing)
		end_job(jobs, flow->job, state->end);
}

/* Run flows that have all flows of their pairs. */
static void run_flows(struct morph_jobs *jobs, const uint32_t *list, uint32_t count, uint64_t from,
		      uint64_t until, struct morph_jobs_outcome *out)
{
	while (from < until) {
		uint64_t step = until - from;
		bool moves = false;

		lm_jobs_share(jobs, list, count);
		for (uint32_t at = 0; at < count; at++) {
			const struct jobs_flow *flow = &jobs->flows.list[list[at]];
			uint64_t time;

			if (!flow->rate)
				continue;
			time = lm_jobs_time(flow->traffic, flow->rate);
			step = time < step ? time : step;
			moves = true;
		}
		if (!moves)
			return;
		from += step;
		for (uint32_t at = 0; at < count; at++)
			if (jobs->flows.list[list[at]].rate)
				drain(jobs, &jobs->flows.list[list[at]], step, from, out);
	}
}

static void run_segment(struct morph_jobs *jobs, uint64_t until, struct morph_jobs_outcome *out)
{
	lm_jobs_set_capacities(jobs);
	if (jobs->coupled)
		run_flows(jobs, jobs->numbers.list, jobs->flows.count, jobs->now, until, out);
	for (uint32_t at = 0; !jobs->coupled && at < jobs->used.count; at++) {
		const struct jobs_pair *pair = &jobs->pairs.list[jobs->used.list[at]];

		run_flows(jobs, jobs->by_pair.list + pair->first, pair->count, jobs->now, until,
			  out);
	}
	jobs->now = until;
}

static void run(struct morph_jobs *jobs, uint64_t until, struct morph_jobs_outcome *out)
{
	if (jobs->now < jobs->light && jobs->light < until)
		run_segment(jobs, jobs->light, out);
	run_segment(jobs, until, out);
}

/* ------------------------------------------------------------ turns */

/* How often a turn has begun before @time: at @first, and after each period. */
static uint64_t count_begins(uint64_t time, uint64_t first, uint64_t period)
{
	return time > first ? (time - first - 1) / period + 1 : 0;
}

/* How often the turns of a component begin until @until. The first turn began at the start. */
static void count_turns(const struct morph_jobs *jobs, const struct jobs_component *component,
			uint64_t until, uint64_t begins[2])
{
	uint64_t period = component->rewired ? component->period : 0;
	const uint64_t first[] = { period, lm_jobs_offset(jobs, component) };

	for (uint32_t turn = 0; turn < 2; turn++) {
		begins[turn] = 0;
		if (period)
			begins[turn] = count_begins(until, first[turn], period) -
				       count_begins(jobs->now, first[turn], period);
	}
}

/* Circuits without a flow, which go dark with the fabric. */
static uint64_t count_idle(const struct morph_jobs *jobs)
{
	uint64_t idle = 0;

	for (uint32_t at = 0; at < jobs->pairs.count; at++)
		idle += jobs->pairs.list[at].count ? 0 : jobs->pairs.list[at].circuits;
	return idle;
}

/* Count the circuits that turns of cohorts set and clear until @until. */
static void rotate(const struct morph_jobs *jobs, uint64_t until, struct morph_jobs_outcome *out)
{
	bool fabric = jobs->opts.flags & MORPH_JOBS_DARK_FABRIC;
	uint64_t begins[2], dark = 0, idle = fabric ? count_idle(jobs) : 0;

	for (uint32_t at = 0; at < jobs->components.count; at++) {
		count_turns(jobs, &jobs->components.list[at], until, begins);
		out->changes += (uint32_t)(begins[0] + begins[1]);
		dark += (begins[0] + begins[1]) * idle;
	}
	for (uint32_t at = 0; at < jobs->open.count; at++) {
		const struct jobs_pair *pair = &jobs->pairs.list[jobs->open.list[at]];

		count_turns(jobs, lm_jobs_component(jobs, pair), until, begins);
		for (uint32_t turn = 0; turn < 2; turn++) {
			uint32_t next = pair->turn_circuits[turn];
			uint32_t last = pair->turn_circuits[!turn];
			uint32_t set = next > last ? next - last : 0;

			out->set += begins[turn] * set;
			out->cleared += begins[turn] * (next < last ? last - next : 0);
			dark += begins[turn] * (fabric ? next : set);
		}
	}
	out->dark_ns = lm_sum(out->dark_ns, dark * jobs->problem.dark_ns);
}

/* ------------------------------------------------------------ decisions */

/* Count a decision, and take its circuits as lit. */
static void apply(struct morph_jobs *jobs, struct morph_jobs_outcome *out)
{
	uint64_t dark = jobs->set_circuits;

	out->decisions++;
	out->set += jobs->set_circuits;
	out->cleared += jobs->cleared_circuits;
	if (jobs->opts.flags & MORPH_JOBS_DARK_FABRIC && dark)
		for (uint32_t at = dark = 0; at < jobs->pairs.count; at++)
			dark += jobs->pairs.list[at].circuits;
	out->dark_ns = lm_sum(out->dark_ns, dark * jobs->problem.dark_ns);
	for (uint32_t at = 0; at < jobs->pairs.count; at++)
		jobs->pairs.list[at].lit = jobs->pairs.list[at].circuits;
	if (!dark)
		return;
	out->changes++;
	jobs->changed = jobs->now ? jobs->now : 1;
	jobs->light = lm_sum(jobs->now, jobs->problem.dark_ns);
}

/* End jobs without flows, and drop jobs that have ended. */
static void drop_ended(struct morph_jobs *jobs)
{
	uint32_t kept = 0;

	for (uint32_t at = 0; at < jobs->active.count; at++) {
		uint32_t number = jobs->active.list[at];
		const struct morph_job *job = lm_job(jobs, number);
		const struct jobs_state *state = &jobs->jobs.list[number];
		uint64_t left = 0;

		for (uint32_t part = job->first; part < job->first + job->parts; part++)
			if (jobs->parts.list[part].left > left)
				left = jobs->parts.list[part].left;
		if (jobs->ends.list[number] == UINT64_MAX && !state->missing &&
		    (state->started || !(jobs->rules.traits & MORPH_JOBS_HOLD)))
			end_job(jobs, number, lm_sum(jobs->now, lm_jobs_compute(job, left)));
		if (jobs->ends.list[number] == UINT64_MAX)
			jobs->active.list[kept++] = number;
	}
	jobs->active.count = kept;
}

static void admit(struct morph_jobs *jobs, uint32_t *next)
{
	for (; *next < jobs->arrivals.count; ++*next) {
		uint32_t number = jobs->arrivals.list[*next];
		const struct morph_job *job = lm_job(jobs, number);
		struct jobs_state *state = &jobs->jobs.list[number];

		if (job->arrival_ns > jobs->now)
			return;
		*state = (struct jobs_state){ .end = jobs->now };
		for (uint32_t part = job->first; part < job->first + job->parts; part++)
			state->missing += lm_jobs_flows(job, &jobs->parts.list[part]);
		jobs->active.list[jobs->active.count++] = number;
	}
}

/* The time of the next decision; UINT64_MAX: nothing happens any more. */
static uint64_t find_next(struct morph_jobs *jobs, uint32_t next)
{
	uint64_t least = UINT64_MAX, dark = jobs->now < jobs->light ? jobs->light : 0;

	lm_jobs_set_capacities(jobs);
	lm_jobs_share_all(jobs);
	for (uint32_t at = 0; at < jobs->flows.count; at++) {
		const struct jobs_flow *flow = &jobs->flows.list[at];
		uint64_t end = lm_sum(jobs->now, lm_jobs_time(flow->traffic, flow->rate));

		if (flow->traffic && end < least)
			least = end;
	}
	if (dark && dark < least)
		least = dark;
	if (next < jobs->arrivals.count &&
	    lm_job(jobs, jobs->arrivals.list[next])->arrival_ns < least)
		least = lm_job(jobs, jobs->arrivals.list[next])->arrival_ns;
	if (jobs->deferred && lm_sum(jobs->changed, jobs->opts.gap_ns) < least)
		least = lm_sum(jobs->changed, jobs->opts.gap_ns);
	if (least == UINT64_MAX)
		return least;
	least = least > jobs->now ? least : jobs->now + 1;
	return round_up(jobs, least);
}

/* ------------------------------------------------------------ the answer */

static void sum_up(struct morph_jobs *jobs, struct morph_jobs_outcome *out)
{
	jobs_wide sum = 0;

	for (uint32_t number = 0; number < jobs->problem.job_count; number++) {
		uint64_t end = jobs->ends.list[number];

		if (end == UINT64_MAX)
			continue;
		out->ended++;
		out->end_ns = end > out->end_ns ? end : out->end_ns;
		sum += end - lm_job(jobs, number)->arrival_ns;
	}
	out->ends_ns = jobs->ends.list;
	out->mean_ns = out->ended ? (uint64_t)(sum / out->ended) : 0;
	out->bound_ns = lm_jobs_bound(jobs, UINT64_MAX);
	out->mean_bound_ns = lm_jobs_mean_bound(jobs);
}

MORPH_API int morph_jobs_simulate(struct morph_jobs *jobs, const struct morph_jobs_problem *problem,
				  const struct morph_jobs_opts *opts,
				  struct morph_jobs_outcome *out)
{
	MORPH_OPTS(morph_jobs_outcome, outcome);
	uint32_t next = 0;
	int err = lm_opts_check(jobs->ctx, out, sizeof(*out), "morph_jobs_outcome");

	if (!err)
		err = lm_jobs_load(jobs, problem, opts);
	if (err)
		return err;
	for (uint32_t number = 0; number < problem->job_count; number++)
		jobs->ends.list[number] = UINT64_MAX;
	for (uint64_t time = jobs->now; time != UINT64_MAX;) {
		jobs->now = time;
		admit(jobs, &next);
		lm_jobs_believe(jobs);
		lm_jobs_plan(jobs);
		lm_jobs_see_truth(jobs);
		apply(jobs, &outcome);
		drop_ended(jobs);
		time = find_next(jobs, next);
		if (time != UINT64_MAX && jobs->turns.count)
			rotate(jobs, time, &outcome);
		if (time != UINT64_MAX)
			run(jobs, time, &outcome);
	}
	sum_up(jobs, &outcome);
	lm_answer_copy(out, &outcome, sizeof(outcome));
	return 0;
}

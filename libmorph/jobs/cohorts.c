// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Two cohorts of jobs that send in turn, while the other cohort computes.
 *
 * A component is jobs that share pairs of sites, directly or over other jobs (components.c). Its
 * jobs are sorted by computation to communication. The cut gives both cohorts the same bytes on the
 * pair with the longest time. Let a and b be the longest times of the turns on a pair, and d the
 * dark time, or 0 if no circuit changes. The component has one period, at least a + b + 2 d.
 *
 * A job that computes for c can follow periods from c + s on, where s is the longest time of its
 * turn on its own pairs. Without cohorts it has c + t, if all jobs start together and the flows of
 * a pair have max-min shares. The period is the least one that most jobs can follow and that is at
 * most their c + t. The other jobs leave the cohorts. They send in both turns and count in a and in
 * b, so the rest is tried again, at most ROUNDS times.
 *
 * Components without cohorts get a second chance: circuits may change between the turns
 * (rotation.c). Their jobs form components again, of jobs whose circuits share sites. This is tried
 * if half of the jobs of a component could follow one period with all ports of their sites.
 * Otherwise too many jobs send in both turns, and cohorts seldom remain.
 *
 * Most jobs that cannot follow any period leave before the cut, by a bound: see prune(). It comes
 * first with an estimate of t, so that t is measured for few pairs, and again with t. Jobs that the
 * network interface of their aggregators limits are in no cohort, nor are the other jobs of their
 * component.
 *
 * O(flows log(flows) + rounds * (open pairs + jobs log(jobs) + cost of filling)).
 */
#include "../util/sort.h"
#include "jobs.h"

#define ROUNDS 8

static const struct jobs_pair *pair_of(const struct morph_jobs *jobs, uint32_t flow)
{
	return &jobs->pairs.list[jobs->flows.list[flow].pair];
}

/* ------------------------------------------------------------ without cohorts */

static int order_size(const void *one, const void *other, void *context)
{
	const struct jobs_size *a = one, *b = other;

	(void)context;
	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? -1 : 1;
	return a->flow < b->flow ? -1 : a->flow > b->flow;
}

/* The time of each flow of a pair if all start together, and if it has the pair alone. */
static void measure_pair(struct morph_jobs *jobs, uint32_t number)
{
	struct jobs_pair *pair = &jobs->pairs.list[number];
	struct jobs_size *sizes = jobs->sizes.list;
	uint64_t sum = 0, time = 0;

	if (pair->measured)
		return;
	pair->measured = true;
	for (uint32_t at = 0; at < pair->count; at++) {
		uint32_t flow = jobs->by_pair.list[pair->first + at];

		sizes[at] = (struct jobs_size){ jobs->flows.list[flow].iteration, flow };
	}
	lm_sort(sizes, pair->count, sizeof(*sizes), order_size, NULL);
	for (uint32_t at = 0; at < pair->count; at++) {
		struct jobs_flow *flow = &jobs->flows.list[sizes[at].flow];
		struct jobs_state *state = &jobs->jobs.list[flow->job];
		uint64_t others = (pair->count - at) * flow->iteration;
		uint64_t own = lm_jobs_pass(jobs, flow->iteration, pair->circuits);

		time = lm_jobs_pass(jobs, sum + others, pair->circuits);
		state->shared = time > state->shared ? time : state->shared;
		state->own = own > state->own ? own : state->own;
		sum += flow->iteration;
	}
}

/* Measure the pairs of all members. */
static void measure(struct morph_jobs *jobs)
{
	for (uint32_t at = 0; at < jobs->members.count; at++) {
		struct jobs_member *member = &jobs->members.list[at];
		const struct jobs_state *state = &jobs->jobs.list[member->job];

		for (uint32_t flow = state->first; flow < state->first + state->flows; flow++)
			measure_pair(jobs, jobs->flows.list[flow].pair);
	}
	for (uint32_t at = 0; at < jobs->members.count; at++)
		jobs->members.list[at].time = jobs->jobs.list[jobs->members.list[at].job].shared;
}

/* The ratio of a job is that to its time alone on its circuits. */
static void set_ratios(struct morph_jobs *jobs)
{
	for (uint32_t at = 0; at < jobs->members.count; at++)
		jobs->members.list[at].time = jobs->jobs.list[jobs->members.list[at].job].own;
}

/* ------------------------------------------------------------ the bound by ports */

/* Bytes of an iteration, by open pair and by site. All jobs count twice. */
static void sum_bytes(struct morph_jobs *jobs)
{
	for (uint32_t at = 0; at < jobs->open.count; at++) {
		struct jobs_pair *pair = &jobs->pairs.list[jobs->open.list[at]];

		pair->bytes = 0;
		for (uint32_t rank = pair->first; rank < pair->first + pair->count; rank++) {
			struct jobs_flow *flow = &jobs->flows.list[jobs->by_pair.list[rank]];
			const struct morph_jobs_part *part = &jobs->parts.list[flow->part];

			flow->iteration = 2 * lm_job(jobs, flow->job)->bytes *
					  (part->slot ? 1 : part->workers);
			pair->bytes += flow->iteration;
		}
		pair->time = lm_jobs_pass(jobs, pair->bytes, pair->circuits);
		pair->load = 2 * pair->bytes;
		jobs->sites.list[pair->one].load += 2 * pair->bytes;
		jobs->sites.list[pair->other].load += 2 * pair->bytes;
	}
}

/* Count a member once, or twice again if it sends in both turns. */
static void count_member(struct morph_jobs *jobs, uint32_t number, bool twice)
{
	const struct jobs_state *state = &jobs->jobs.list[number];

	for (uint32_t at = state->first; at < state->first + state->flows; at++) {
		const struct jobs_flow *flow = &jobs->flows.list[at];
		struct jobs_pair *pair = &jobs->pairs.list[flow->pair];
		uint64_t more = twice ? flow->iteration : -flow->iteration;

		pair->load += more;
		jobs->sites.list[pair->one].load += more;
		jobs->sites.list[pair->other].load += more;
	}
}

/*
 * The longest time of a job if the flows of its pairs pass one after the other; 0: it waits, or its
 * period is known.
 */
static uint64_t find_longest(const struct morph_jobs *jobs, const struct jobs_state *state)
{
	uint64_t longest = 0;

	for (uint32_t at = state->first; at < state->first + state->flows; at++) {
		const struct jobs_pair *pair = pair_of(jobs, at);

		if (!pair->circuits || pair->settled)
			return 0;
		longest = pair->time > longest ? pair->time : longest;
	}
	return longest;
}

/* Keep the components of a job that a network interface limits without cohorts. */
static void limit(struct morph_jobs *jobs, const struct jobs_state *state)
{
	for (uint32_t at = state->first; at < state->first + state->flows; at++)
		if (pair_of(jobs, at)->circuits && !pair_of(jobs, at)->settled)
			lm_jobs_component(jobs, pair_of(jobs, at))->limited = true;
}

/* List the jobs whose flows all have circuits. */
static void list_members(struct morph_jobs *jobs)
{
	jobs->members.count = 0;
	for (uint32_t at = 0; at < jobs->ranks.count; at++) {
		uint32_t number = jobs->ranks.list[at].job;
		const struct morph_jobs_answer *answer = &jobs->answers.list[number];

		if (answer->nic_bps || answer->reason == MORPH_JOBS_AGGREGATORS)
			limit(jobs, &jobs->jobs.list[number]);
	}
	for (uint32_t at = 0; at < jobs->ranks.count; at++) {
		uint32_t number = jobs->ranks.list[at].job;
		struct jobs_state *state = &jobs->jobs.list[number];
		struct jobs_member it = {
			.job = number,
			.compute = lm_job(jobs, number)->compute_ns,
			.time = find_longest(jobs, state),
		};

		if (!it.time)
			continue;
		it.component = pair_of(jobs, state->first)->component;
		jobs->components.list[it.component].jobs++;
		state->cohort = 0;
		if (jobs->components.list[it.component].limited)
			continue;
		jobs->members.list[jobs->members.count++] = it;
		count_member(jobs, number, false);
	}
}

static void raise(struct jobs_component *component, uint32_t place, uint64_t time)
{
	if (time <= component->least)
		return;
	component->least = time;
	component->worst = place;
}

/* Both turns together take at least the bytes of a pair, or of a site over all its ports. */
static void raise_all(struct morph_jobs *jobs)
{
	for (uint32_t at = 0; at < jobs->open.count && !jobs->rewires; at++) {
		const struct jobs_pair *pair = &jobs->pairs.list[jobs->open.list[at]];

		raise(lm_jobs_component(jobs, pair), jobs->open.list[at],
		      lm_jobs_pass(jobs, pair->load, pair->circuits));
	}
	for (uint32_t at = 0; at < jobs->sites.count && jobs->rewires; at++) {
		const struct jobs_site *site = &jobs->sites.list[at];

		if (site->load)
			raise(&jobs->components.list[site->component], at,
			      lm_jobs_pass(jobs, site->load, site->usable));
	}
}

/* Remove the jobs that cannot follow any period: longer than their computation and @time. */
static void prune(struct morph_jobs *jobs)
{
	struct jobs_member *list = jobs->members.list;
	uint32_t before;

	do {
		uint32_t kept = 0;

		before = jobs->members.count;
		raise_all(jobs);
		for (uint32_t at = 0; at < before; at++) {
			uint64_t most = lm_sum(list[at].compute, list[at].time);

			if (most >= jobs->components.list[list[at].component].least)
				list[kept++] = list[at];
			else
				count_member(jobs, list[at].job, true);
		}
		jobs->members.count = kept;
	} while (jobs->members.count < before);
}

/* ------------------------------------------------------------ one period */

static int order_time(const void *one, const void *other, void *context)
{
	uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

	(void)context;
	return (a > b) - (a < b);
}

/* The least period, from @least, that is within most of @count ranges; @most: their number. */
static uint64_t find_period(uint64_t *from, uint64_t *until, uint32_t count, uint64_t least,
			    uint32_t *most)
{
	uint32_t begun = 0, ended = 0;
	uint64_t best = least;

	lm_sort(from, count, sizeof(*from), order_time, NULL);
	lm_sort(until, count, sizeof(*until), order_time, NULL);
	while (begun < count && from[begun] <= least)
		begun++;
	for (uint64_t period = least;; period = from[begun++]) {
		while (begun < count && from[begun] <= period)
			begun++;
		while (ended < count && until[ended] < period)
			ended++;
		if (begun - ended > *most) {
			*most = begun - ended;
			best = period;
		}
		if (begun == count)
			return best;
	}
}

/* The least time of a job in its turn, if its pairs have all ports of their sites. */
static uint64_t find_least(const struct morph_jobs *jobs, const struct jobs_state *state)
{
	uint64_t least = 0;

	for (uint32_t at = state->first; at < state->first + state->flows; at++) {
		const struct jobs_pair *pair = pair_of(jobs, at);
		uint32_t one = jobs->sites.list[pair->one].usable;
		uint32_t other = jobs->sites.list[pair->other].usable;
		uint32_t circuits = one < other ? one : other;
		uint64_t time;

		circuits = circuits < pair->most ? circuits : pair->most;
		time = lm_jobs_pass(jobs, jobs->flows.list[at].iteration, circuits);
		least = time > least ? time : least;
	}
	return least;
}

/* Can half of the jobs of a component follow one period, by this bound? */
static bool has_majority(struct morph_jobs *jobs, const struct jobs_member *members, uint32_t count)
{
	const struct jobs_component *component = &jobs->components.list[members->component];
	uint64_t *from = jobs->volumes.list, *until = from + count;
	uint32_t most = 0;

	for (uint32_t at = 0; at < count; at++) {
		const struct jobs_state *state = &jobs->jobs.list[members[at].job];

		from[at] = lm_sum(members[at].compute, find_least(jobs, state));
		until[at] = lm_sum(members[at].compute, state->shared);
	}
	find_period(from, until, count, component->least, &most);
	return 2 * most >= component->jobs;
}

/* ------------------------------------------------------------ the cut */

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

/* Bytes of an iteration of a job at the worst site or pair of its component. */
static uint64_t weigh(const struct morph_jobs *jobs, const struct jobs_member *member)
{
	const struct jobs_state *state = &jobs->jobs.list[member->job];
	uint32_t worst = jobs->components.list[member->component].worst;
	uint64_t sum = 0;

	for (uint32_t at = state->first; at < state->first + state->flows; at++) {
		const struct jobs_flow *flow = &jobs->flows.list[at];
		const struct jobs_pair *pair = &jobs->pairs.list[flow->pair];

		if (jobs->rewires ? pair->one == worst || pair->other == worst :
				    flow->pair == worst)
			sum += flow->iteration;
	}
	return sum;
}

/* Cut the sorted jobs so that both cohorts have half of the bytes at the worst site or pair. */
static uint32_t cut(struct morph_jobs *jobs, const struct jobs_member *members, uint32_t count)
{
	uint64_t all = 0, sum = 0;

	if (jobs->rewires && !has_majority(jobs, members, count))
		return 0;
	for (uint32_t at = 0; at < count; at++)
		all += weigh(jobs, &members[at]);
	for (uint32_t at = 0; at < count; at++) {
		uint64_t weight = weigh(jobs, &members[at]);

		jobs->jobs.list[members[at].job].cohort = sum + weight / 2 < all / 2 ? 1 : 2;
		sum += weight;
	}
	return count > 1;
}

/* ------------------------------------------------------------ periods */

static uint64_t dark_of(const struct morph_jobs *jobs, const struct jobs_component *component)
{
	return component->rewired ? jobs->problem.dark_ns : 0;
}

uint64_t lm_jobs_offset(const struct morph_jobs *jobs, const struct jobs_component *component)
{
	return lm_sum(component->turn[0], dark_of(jobs, component));
}

/* The periods that a job can follow without becoming slower. */
static void find_range(const struct morph_jobs *jobs, const struct jobs_member *member,
		       uint64_t *from, uint64_t *until)
{
	const struct jobs_state *state = &jobs->jobs.list[member->job];
	uint64_t longest = 0;

	for (uint32_t at = state->first; at < state->first + state->flows; at++) {
		uint64_t time = pair_of(jobs, at)->turn_time[state->cohort - 1];

		longest = time > longest ? time : longest;
	}
	*from = lm_sum(member->compute, longest);
	*until = lm_sum(member->compute, state->shared);
}

static uint32_t dissolve(struct morph_jobs *jobs, const struct jobs_member *members, uint32_t count)
{
	jobs->components.list[members->component].period = 0;
	for (uint32_t at = 0; at < count; at++)
		jobs->jobs.list[members[at].job].cohort = 0;
	return 0;
}

/* Choose the period of a component. Return the number of jobs that left it, if others stay. */
static uint32_t choose_period(struct morph_jobs *jobs, const struct jobs_member *members,
			      uint32_t count)
{
	struct jobs_component *component = &jobs->components.list[members->component];
	uint64_t *from = jobs->volumes.list, *until = from + jobs->members.count;
	uint64_t least = lm_sum(lm_sum(component->turn[0], component->turn[1]),
				2 * dark_of(jobs, component));
	uint32_t held = 0, left = 0, most = 0, has[3] = { 0 };

	for (uint32_t at = 0; at < count; at++)
		if (jobs->jobs.list[members[at].job].cohort) {
			find_range(jobs, &members[at], &from[held], &until[held]);
			held++;
		}
	component->period = find_period(from, until, held, least, &most);
	for (uint32_t at = 0; at < count; at++) {
		struct jobs_state *state = &jobs->jobs.list[members[at].job];
		uint64_t first, last;

		if (!state->cohort)
			continue;
		find_range(jobs, &members[at], &first, &last);
		if (first > component->period || last < component->period) {
			state->cohort = 0;
			left++;
		}
		has[state->cohort]++;
	}
	return has[1] && has[2] ? left : dissolve(jobs, members, count);
}

/*
 * In the paper's mode, a change darkens the circuits of all jobs. So the circuits of a component
 * change between its turns only if no other job sends.
 */
static uint32_t spare_others(struct morph_jobs *jobs, const struct jobs_member *members,
			     uint32_t count)
{
	uint32_t others = 0;

	if (!jobs->components.list[members->component].rewired)
		return 0;
	for (uint32_t at = 0; at < jobs->flows.count; at++)
		others += pair_of(jobs, at)->circuits != 0;
	for (uint32_t at = 0; at < count; at++) {
		const struct jobs_state *state = &jobs->jobs.list[members[at].job];

		others -= state->cohort ? state->flows : 0;
	}
	return others ? dissolve(jobs, members, count) : 0;
}

/* ------------------------------------------------------------ all components */

/* Call @visit for the members of each component. Return the sum. */
static uint32_t visit_components(struct morph_jobs *jobs,
				 uint32_t (*visit)(struct morph_jobs *, const struct jobs_member *,
						   uint32_t))
{
	const struct jobs_member *list = jobs->members.list;
	uint32_t first = 0, sum = 0;

	for (uint32_t at = 1; at <= jobs->members.count; at++) {
		if (at < jobs->members.count && list[at].component == list[first].component)
			continue;
		sum += visit(jobs, list + first, at - first);
		first = at;
	}
	return sum;
}

static uint32_t answer(struct morph_jobs *jobs, const struct jobs_member *members, uint32_t count)
{
	const struct jobs_component *component = &jobs->components.list[members->component];

	for (uint32_t at = 0; at < count; at++) {
		struct morph_jobs_answer *it = &jobs->answers.list[members[at].job];

		it->cohort = jobs->jobs.list[members[at].job].cohort;
		if (it->cohort)
			it->period_ns = component->period;
		if (it->cohort == 2)
			it->offset_ns = lm_jobs_offset(jobs, component);
	}
	return 0;
}

/* Form cohorts of the jobs whose period is not known. */
static void form_cohorts(struct morph_jobs *jobs, bool rewires)
{
	uint32_t left = 1;

	jobs->rewires = rewires;
	lm_jobs_unite(jobs);
	sum_bytes(jobs);
	list_members(jobs);
	prune(jobs);
	measure(jobs);
	prune(jobs);
	set_ratios(jobs);
	lm_sort(jobs->members.list, jobs->members.count, sizeof(*jobs->members.list), order_ratio,
		NULL);
	if (!visit_components(jobs, cut))
		return;
	for (uint32_t round = 0; left && round < ROUNDS; round++) {
		lm_jobs_sum_turns(jobs);
		if (rewires)
			lm_jobs_rotate(jobs);
		else
			lm_jobs_keep_turns(jobs);
		lm_jobs_find_turns(jobs);
		left = visit_components(jobs, choose_period);
	}
	if (left)
		visit_components(jobs, dissolve);
	else if (rewires && jobs->opts.flags & MORPH_JOBS_DARK_FABRIC)
		visit_components(jobs, spare_others);
	visit_components(jobs, answer);
}

void lm_jobs_group(struct morph_jobs *jobs)
{
	for (uint32_t at = 0; at < jobs->ranks.count; at++) {
		struct jobs_state *state = &jobs->jobs.list[jobs->ranks.list[at].job];

		state->cohort = 0;
		state->shared = state->own = 0;
	}
	for (uint32_t at = 0; at < jobs->pairs.count; at++)
		jobs->pairs.list[at].settled = jobs->pairs.list[at].measured = false;
	form_cohorts(jobs, false);
	for (uint32_t at = 0; at < jobs->open.count; at++) {
		struct jobs_pair *pair = &jobs->pairs.list[jobs->open.list[at]];

		pair->settled = lm_jobs_component(jobs, pair)->period;
	}
	form_cohorts(jobs, true);
	lm_jobs_list_turns(jobs);
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Hysteresis: circuits change if the least gap has passed and the change pays.
 *
 * A change pays if a pair with bytes left has no lit circuit and gets one. It also pays if the new
 * circuits move more bytes until the horizon than the lit ones, by more than dark circuits lose.
 * The horizon is the gap; without a gap, it is the time in which the slowest pair drains. Circuits
 * that jobs hold change whenever a job starts. O(pairs).
 */
#include "jobs.h"

bool lm_jobs_gap_passed(const struct morph_jobs *jobs)
{
	return !jobs->changed || jobs->now >= lm_sum(jobs->changed, jobs->opts.gap_ns);
}

/* Keep lit circuits whose ports no pair needs. */
static void keep_idle(struct morph_jobs *jobs)
{
	for (uint32_t at = 0; at < jobs->pairs.count; at++) {
		struct jobs_pair *pair = &jobs->pairs.list[at];
		struct jobs_site *one = &jobs->sites.list[pair->one];
		struct jobs_site *other = &jobs->sites.list[pair->other];

		while (pair->circuits < pair->lit && one->free && other->free) {
			pair->circuits++;
			one->free--;
			other->free--;
		}
	}
}

static uint64_t find_horizon(const struct morph_jobs *jobs)
{
	uint64_t horizon = 0;

	if (jobs->opts.gap_ns)
		return jobs->opts.gap_ns;
	for (uint32_t at = 0; at < jobs->used.count; at++) {
		const struct jobs_pair *pair = &jobs->pairs.list[jobs->used.list[at]];
		uint64_t time =
			lm_jobs_time(pair->demand, pair->circuits * jobs->problem.circuit_bps);

		if (pair->circuits && time > horizon)
			horizon = time;
	}
	return horizon;
}

/* Bytes that @bps moves in @ns. */
static jobs_wide moved(uint64_t bps, uint64_t ns)
{
	return (jobs_wide)bps * ns / JOBS_BITS;
}

static bool pays(const struct morph_jobs *jobs)
{
	uint64_t horizon = find_horizon(jobs), bps = jobs->problem.circuit_bps;
	bool fabric = jobs->opts.flags & MORPH_JOBS_DARK_FABRIC;
	jobs_wide before = 0, after = 0, lost = 0;

	for (uint32_t at = 0; at < jobs->used.count; at++) {
		const struct jobs_pair *pair = &jobs->pairs.list[jobs->used.list[at]];
		jobs_wide lit = moved(pair->lit * bps, horizon);
		jobs_wide next = moved(pair->circuits * bps, horizon);
		uint32_t set = pair->circuits > pair->lit ? pair->circuits - pair->lit : 0;

		if (pair->circuits && !pair->lit)
			return true;
		before += lit < pair->demand ? lit : pair->demand;
		after += next < pair->demand ? next : pair->demand;
		lost += moved((fabric ? pair->lit : set) * bps, jobs->problem.dark_ns);
	}
	return after > before + lost;
}

static bool differs(const struct morph_jobs *jobs)
{
	for (uint32_t at = 0; at < jobs->pairs.count; at++)
		if (jobs->pairs.list[at].circuits != jobs->pairs.list[at].lit)
			return true;
	return false;
}

static void list_difference(struct morph_jobs *jobs)
{
	jobs->set.count = jobs->clear.count = 0;
	jobs->set_circuits = jobs->cleared_circuits = 0;
	for (uint32_t at = 0; at < jobs->pairs.count; at++) {
		struct jobs_pair *pair = &jobs->pairs.list[at];
		struct morph_jobs_pair it = { .one = pair->one, .other = pair->other };

		pair->dark = 0;
		if (pair->circuits > pair->lit) {
			it.circuits = pair->dark = pair->circuits - pair->lit;
			jobs->set_circuits += it.circuits;
			jobs->set.list[jobs->set.count++] = it;
		} else if (pair->circuits < pair->lit) {
			it.circuits = pair->lit - pair->circuits;
			jobs->cleared_circuits += it.circuits;
			jobs->clear.list[jobs->clear.count++] = it;
		}
	}
}

void lm_jobs_change(struct morph_jobs *jobs)
{
	bool holds = jobs->rules.traits & MORPH_JOBS_HOLD;

	keep_idle(jobs);
	if (!holds && differs(jobs)) {
		bool passed = lm_jobs_gap_passed(jobs), better = pays(jobs);

		jobs->deferred = better && !passed;
		for (uint32_t at = 0; !(better && passed) && at < jobs->pairs.count; at++)
			jobs->pairs.list[at].circuits = jobs->pairs.list[at].lit;
	}
	list_difference(jobs);
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/* Schedules without planning: see morph_schedule_baseline(). */
#include "schedule.h"

struct question {
	const struct morph_collective *collective;
	const struct morph_delay *delay;
	struct morph_schedule_opts opts;
};

/* If something does not fit, or a time has no number, give up. */
static int settle(struct morph_schedule *schedule, int ret)
{
	if (ret != -E2BIG && ret != -EOVERFLOW && ret != -ERANGE)
		return ret;
	lm_schedule_give_up(schedule, morph_error_text(schedule->ctx));
	lm_error_clear(schedule->ctx);
	return 0;
}

static int by_policy(struct morph_schedule *schedule, const struct question *question,
		     uint32_t policy)
{
	struct morph_schedule_opts opts = question->opts;

	opts.policy = policy;
	return settle(schedule,
		      morph_schedule_plan(schedule, question->collective, question->delay, &opts));
}

/* One topology for all rounds. The arguments were verified. */
static int by_one(struct morph_schedule *schedule, const struct question *question,
		  schedule_planner *planner)
{
	const struct morph_collective *collective = question->collective;
	const struct morph_schedule_opts *opts = &question->opts;
	struct costs costs = lm_delay_costs(question->delay, morph_collective_busy(collective));
	int ret = 0;

	memset(schedule->tried, 0, sizeof(schedule->tried));
	lm_schedule_begin(schedule, collective->ranks, opts->planes ? opts->planes : 1, &costs);
	schedule->policy = MORPH_POLICY_SEGMENTS;
	if (opts->after)
		ret = lm_schedule_resume(schedule, opts->after);
	if (!ret)
		ret = settle(schedule, planner(schedule, collective, opts));
	if (!ret && schedule->verdict == MORPH_FEASIBLE)
		ret = lm_schedule_bound(schedule, collective);
	if (ret)
		schedule->verdict = 0;
	return ret;
}

static bool is_sooner(const struct morph_schedule *one, const struct morph_schedule *other)
{
	if (one->verdict != MORPH_FEASIBLE || other->verdict != MORPH_FEASIBLE)
		return one->verdict == MORPH_FEASIBLE;
	return one->finish_ps < other->finish_ps;
}

static void keep_sooner(struct morph_schedule *schedule, struct morph_schedule *trial)
{
	struct morph_schedule kept = *schedule;

	if (!is_sooner(trial, schedule))
		return;
	*schedule = *trial;
	*trial = kept;
}

static int one_shot(struct morph_schedule *schedule, struct morph_schedule *trial,
		    const struct question *question)
{
	int ret = by_policy(schedule, question, MORPH_POLICY_ONE_SHOT);

	if (!ret)
		ret = by_one(trial, question, lm_plan_one_topology);
	if (!ret)
		keep_sooner(schedule, trial);
	return ret;
}

/* The planner of the policy verifies the arguments. */
static int unchanged(struct morph_schedule *schedule, const struct question *question)
{
	int ret = by_policy(schedule, question, MORPH_POLICY_ONE_SHOT);

	return ret ? ret : by_one(schedule, question, lm_plan_static);
}

/*
 * Does every rank have at most one partner in each round? Then each round's own circuits on all
 * planes are optimal.
 */
static int has_matchings(const struct morph_schedule *schedule,
			 const struct morph_collective *collective)
{
	uint32_t *colours = calloc(lm_widest_round(collective) + 1, sizeof(*colours));
	int most = colours ? 0 : lm_no_memory(schedule->ctx, "plan a schedule");

	for (uint32_t round = 0; most >= 0 && most < 2 && round < collective->rounds.count;
	     round++) {
		const struct round *of = &collective->rounds.list[round];
		int count = lm_colour_round(schedule->ctx, schedule->ranks,
					    &collective->transfers.list[of->first], of->count,
					    colours);

		most = count < 0 || count > most ? count : most;
	}
	free(colours);
	return most < 0 ? most : most < 2;
}

static int ideal(struct morph_schedule *schedule, struct morph_schedule *trial,
		 const struct question *question)
{
	static const uint32_t others[] = { MORPH_POLICY_ONE_SHOT, MORPH_POLICY_MATCHINGS,
					   MORPH_POLICY_SEGMENTS };
	struct morph_delay free_changes = *question->delay;
	struct question without = *question;
	int ret;

	free_changes.barriers = 0;
	for (uint32_t part = 0; part < MORPH_DELAY_PARTS; part++) {
		free_changes.counts[part] = 1;
		free_changes.parts[part][0] = 0;
	}
	without.delay = &free_changes;
	ret = by_policy(schedule, &without, MORPH_POLICY_EACH_ROUND);
	if (ret || (ret = has_matchings(schedule, question->collective)) < 0)
		return ret;
	for (size_t at = ret ? sizeof(others) / sizeof(others[0]) : 0;
	     at < sizeof(others) / sizeof(others[0]); at++) {
		ret = by_policy(trial, &without, others[at]);
		if (ret)
			return ret;
		keep_sooner(schedule, trial);
	}
	return 0;
}

MORPH_API int morph_schedule_baseline(struct morph_schedule *schedule,
				      const struct morph_collective *collective,
				      const struct morph_delay *delay,
				      const struct morph_schedule_opts *opts, uint32_t baseline)
{
	struct question question = { .collective = collective, .delay = delay };
	struct morph_schedule *trial;
	int ret = lm_schedule_opts_check(schedule->ctx, opts);

	if (ret)
		return ret;
	if (baseline >= MORPH_BASELINES)
		return lm_fail(schedule->ctx, EINVAL, "baseline %u must be one of 0 to %d",
			       baseline, MORPH_BASELINES - 1);
	lm_opts_copy(&question.opts, opts, sizeof(question.opts));
	question.opts.sz = sizeof(question.opts);
	if (baseline == MORPH_BASELINE_EVERY_STEP)
		return by_policy(schedule, &question, MORPH_POLICY_EACH_ROUND);
	if (baseline == MORPH_BASELINE_STATIC)
		return unchanged(schedule, &question);
	trial = morph_schedule_new(schedule->ctx);
	if (!trial)
		return -ENOMEM;
	ret = baseline == MORPH_BASELINE_IDEAL ? ideal(schedule, trial, &question) :
						 one_shot(schedule, trial, &question);
	morph_schedule_free(trial);
	return ret;
}

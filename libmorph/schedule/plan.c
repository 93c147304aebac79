// SPDX-License-Identifier: LGPL-2.1-or-later
/* Planning a schedule: what is given is looked at, then the policies are tried. */
#include <stdio.h>

#include "schedule.h"

static const struct {
	schedule_planner *plan;
} policies[MORPH_POLICIES] = {
	[MORPH_POLICY_EACH_ROUND] = { lm_plan_each_round },
};

static int check_after(struct morph_schedule *schedule, const struct morph_collective *collective,
		       const struct morph_schedule_opts *opts)
{
	const struct morph_schedule *after = opts->after;

	if (!after)
		return 0;
	if (after == schedule)
		return lm_fail(schedule->ctx, EINVAL, "a schedule does not follow itself");
	if (after->verdict != MORPH_FEASIBLE)
		return lm_fail(schedule->ctx, EINVAL, "what is followed is no feasible schedule");
	if (after->ranks != collective->ranks || after->planes != opts->planes)
		return lm_fail(schedule->ctx, EINVAL,
			       "what is followed has %u ranks on %u planes, not %u on %u",
			       after->ranks, after->planes, collective->ranks, opts->planes);
	return 0;
}

static int check(struct morph_schedule *schedule, const struct morph_collective *collective,
		 const struct morph_delay *delay, struct morph_schedule_opts *opts)
{
	if (!delay->mbps)
		return lm_fail(schedule->ctx, EINVAL,
			       "the delay has no bandwidth: morph_delay_set_link() sets it");
	if (!opts->planes)
		opts->planes = 1;
	if (opts->planes > MOST_PLANES)
		return lm_fail(schedule->ctx, EINVAL, "a rank has %d ports at most, not %u",
			       MOST_PLANES, opts->planes);
	if (opts->policy >= MORPH_POLICIES)
		return lm_fail(schedule->ctx, EINVAL, "policy %u is none of 0 to %d", opts->policy,
			       MORPH_POLICIES - 1);
	return check_after(schedule, collective, opts);
}

static int try(struct morph_schedule *schedule, const struct morph_collective *collective,
	       const struct costs *costs, const struct morph_schedule_opts *opts)
{
	int ret;

	lm_schedule_begin(schedule, collective->ranks, opts->planes, costs);
	ret = opts->after ? lm_schedule_resume(schedule, opts->after) : 0;
	if (!ret)
		ret = policies[opts->policy].plan(schedule, collective, opts);
	if (!ret && schedule->verdict == MORPH_FEASIBLE)
		ret = lm_schedule_bound(schedule, collective);
	return ret;
}

MORPH_API int morph_schedule_plan(struct morph_schedule *schedule,
				  const struct morph_collective *collective,
				  const struct morph_delay *delay,
				  const struct morph_schedule_opts *opts)
{
	struct morph_schedule_opts mine;
	struct costs costs;
	int ret = lm_opts_check(schedule->ctx, opts, sizeof(mine), "morph_schedule_opts");

	if (ret)
		return ret;
	lm_opts_copy(&mine, opts, sizeof(mine));
	ret = check(schedule, collective, delay, &mine);
	if (ret)
		return ret;
	costs = lm_delay_costs(delay, collective->ranks);
	return try(schedule, collective, &costs, &mine);
}

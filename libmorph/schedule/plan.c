// SPDX-License-Identifier: LGPL-2.1-or-later
/* Planning a schedule: verify the arguments, then try the policies. */
#include "united.h"

static schedule_planner *const policies[MORPH_POLICIES] = {
	[MORPH_POLICY_EACH_ROUND] = lm_plan_each_round, [MORPH_POLICY_ONE_SHOT] = lm_plan_one_shot,
	[MORPH_POLICY_SEGMENTS] = lm_plan_segments,	[MORPH_POLICY_OVERLAP] = lm_plan_overlap,
	[MORPH_POLICY_MATCHINGS] = lm_plan_matchings,
};

/* ------------------------------------------------------------ what is given */

static int check_after(struct morph_schedule *schedule, const struct morph_collective *collective,
		       const struct morph_schedule_opts *opts)
{
	const struct morph_schedule *after = opts->after;

	if (!after)
		return 0;
	if (after == schedule)
		return lm_fail(schedule->ctx, EINVAL, "a schedule cannot follow itself");
	if (after->verdict != MORPH_FEASIBLE)
		return lm_fail(schedule->ctx, EINVAL, "the schedule to follow is not feasible");
	if (after->ranks != collective->ranks || after->planes != opts->planes)
		return lm_fail(schedule->ctx, EINVAL,
			       "the schedule to follow has %u ranks on %u planes, not %u on %u",
			       after->ranks, after->planes, collective->ranks, opts->planes);
	return 0;
}

static int check(struct morph_schedule *schedule, const struct morph_collective *collective,
		 const struct morph_delay *delay, struct morph_schedule_opts *opts)
{
	if (!collective->ranks)
		return lm_fail(schedule->ctx, EINVAL,
			       "the collective has no ranks; call morph_collective_build() first");
	if (!delay->mbps)
		return lm_fail(schedule->ctx, EINVAL,
			       "the delay has no bandwidth; call morph_delay_set() first");
	if (!opts->planes)
		opts->planes = 1;
	if (opts->planes > MOST_PLANES)
		return lm_fail(schedule->ctx, EINVAL, "a rank has at most %d ports, not %u",
			       MOST_PLANES, opts->planes);
	if (opts->policy >= MORPH_POLICIES)
		return lm_fail(schedule->ctx, EINVAL, "policy %u must be one of 0 to %d",
			       opts->policy, MORPH_POLICIES - 1);
	return check_after(schedule, collective, opts);
}

/* -------------------------------------------------------------------- trying */

/* The same request for each policy; MORPH_POLICY_UNITED begins with the results of the others. */
struct question {
	const struct morph_collective *collective;
	struct costs costs;
	const struct morph_schedule_opts *opts;
	/* In place of MORPH_POLICY_MATCHINGS, which is then tried alone; or NULL. */
	schedule_planner *back;
};

static int begin(struct morph_schedule *schedule, const struct question *question, uint32_t policy)
{
	lm_schedule_begin(schedule, question->collective->ranks, question->opts->planes,
			  &question->costs);
	schedule->policy = policy;
	return question->opts->after ? lm_schedule_resume(schedule, question->opts->after) : 0;
}

static void note(struct morph_schedule *schedule)
{
	struct tried *tried = &schedule->tried[schedule->policy];

	*tried = (struct tried){ .verdict = schedule->verdict, .finish_ps = schedule->finish_ps };
	if (schedule->verdict == MORPH_FEASIBLE)
		tried->changes = morph_schedule_changes(schedule, &tried->circuits);
	else
		memcpy(tried->why, schedule->why, sizeof(tried->why));
}

static int try(struct morph_schedule *schedule, const struct question *question, uint32_t policy)
{
	int ret = begin(schedule, question, policy);

	if (!ret)
		ret = (question->back ? question->back : policies[policy])(
			schedule, question->collective, question->opts);
	if (!ret)
		note(schedule);
	/* Some report overflow this way. */
	return ret == -EOVERFLOW ? -ERANGE : ret;
}

/*
 * Among several policies, one that has no space or no number for the request counts as giving up.
 */
static int try_one(struct morph_schedule *schedule, const struct question *question,
		   uint32_t policy)
{
	int ret = try(schedule, question, policy);

	if (ret != -E2BIG && ret != -ERANGE)
		return ret;
	lm_schedule_give_up(schedule, morph_error_text(schedule->ctx));
	lm_error_clear(schedule->ctx);
	note(schedule);
	return 0;
}

/* Of two that end together, the one that sets fewer circuits. */
static bool is_better(const struct tried *one, const struct tried *other)
{
	if (one->verdict != MORPH_FEASIBLE || other->verdict != MORPH_FEASIBLE)
		return one->verdict == MORPH_FEASIBLE && other->verdict != MORPH_FEASIBLE;
	if (one->finish_ps != other->finish_ps)
		return one->finish_ps < other->finish_ps;
	return one->circuits < other->circuits;
}

/* Exchange the schedules, but leave the list of policies tried with the first. */
static void swap(struct morph_schedule *schedule, struct morph_schedule *other)
{
	struct morph_schedule kept = *schedule;

	*schedule = *other;
	*other = kept;
	memcpy(schedule->tried, kept.tried, sizeof(kept.tried));
}

static int try_others(struct morph_schedule *schedule, struct morph_schedule *trial,
		      const struct question *question)
{
	uint32_t best = MORPH_POLICY_EACH_ROUND;
	int ret = try_one(schedule, question, best);

	for (uint32_t policy = best + 1; !ret && policy < MORPH_POLICIES; policy++) {
		if (!policies[policy])
			continue;
		ret = try_one(trial, question, policy);
		if (ret)
			break;
		schedule->tried[policy] = trial->tried[policy];
		if (is_better(&schedule->tried[policy], &schedule->tried[best])) {
			swap(schedule, trial);
			best = policy;
		}
	}
	return ret;
}

/*
 * Use the plan of the others or a better one. If only this policy is wanted, the best of the others
 * is as good, because it may do all that they do.
 */
static int unite(struct morph_schedule *schedule, struct morph_schedule *trial,
		 const struct question *question)
{
	int ret = begin(trial, question, MORPH_POLICY_UNITED);

	if (!ret)
		ret = lm_plan_united(trial, question->collective, question->opts, schedule);
	if (ret)
		return ret;
	if (trial->verdict == MORPH_FEASIBLE)
		swap(schedule, trial);
	schedule->tried[MORPH_POLICY_UNITED] = schedule->tried[schedule->policy];
	if (schedule->policy == MORPH_POLICY_UNITED ||
	    question->opts->policy == MORPH_POLICY_UNITED) {
		schedule->policy = MORPH_POLICY_UNITED;
		note(schedule);
	}
	return 0;
}

static int try_all(struct morph_schedule *schedule, const struct question *question)
{
	struct morph_schedule *trial = morph_schedule_new(schedule->ctx);
	int ret = trial ? try_others(schedule, trial, question) : -ENOMEM;

	if (!ret)
		ret = unite(schedule, trial, question);
	morph_schedule_free(trial);
	return ret;
}

/* ----------------------------------------------------------- less than there is */

/* Can a plan for some planes end before another? */
static int may_be_sooner(struct morph_schedule *trial, const struct question *less,
			 const struct morph_schedule *than)
{
	int ret = begin(trial, less, MORPH_POLICY_BEST);

	if (!ret)
		ret = lm_schedule_bound(trial, less->collective);
	return ret ? ret : than->verdict != MORPH_FEASIBLE || trial->bound_ps < than->finish_ps;
}

static bool is_sooner(const struct morph_schedule *one, const struct morph_schedule *other)
{
	return one->verdict == MORPH_FEASIBLE &&
	       (other->verdict != MORPH_FEASIBLE || one->finish_ps < other->finish_ps);
}

/* Keep a plan that uses less if it is faster. */
static int try_less(struct morph_schedule *schedule, struct morph_schedule *trial,
		    const struct question *question, const struct morph_schedule_opts *opts)
{
	struct question less = *question;
	struct morph_schedule *found;
	int ret;

	less.opts = opts;
	ret = may_be_sooner(trial, &less, schedule);
	if (ret <= 0)
		return ret;
	found = morph_schedule_new(schedule->ctx);
	ret = found ? try_all(found, &less) : -ENOMEM;
	if (!ret && is_sooner(found, schedule)) {
		lm_schedule_begin(trial, question->collective->ranks, question->opts->planes,
				  &question->costs);
		trial->policy = found->policy;
		ret = lm_schedule_take_less(trial, found, question->opts->after);
		if (!ret) {
			swap(schedule, trial);
			note(schedule);
		}
	}
	morph_schedule_free(found);
	return ret;
}

#define LESS_TRANSFERS 32768 /* times planes: some tens of milliseconds */
#define LESS_BITS 12 /* log2 of a step of the budget */

/*
 * Planners are heuristic: with more to use they may find no better plan, or a worse one. So also
 * try a dark start and fewer planes, within the budget, unless the bound excludes a gain.
 */
static int try_with_less(struct morph_schedule *schedule, const struct question *question)
{
	struct morph_schedule *trial = morph_schedule_new(schedule->ctx);
	struct morph_schedule_opts opts = *question->opts;
	uint64_t left = (uint64_t)lm_schedule_budget(&opts) << LESS_BITS;
	int ret = trial ? 0 : -ENOMEM;

	left = left ? left : LESS_TRANSFERS;
	while (!ret && opts.planes) {
		uint64_t transfers = (uint64_t)question->collective->transfers.count * opts.planes;

		opts.after = question->opts->after;
		if (opts.planes < question->opts->planes) {
			if (transfers > left)
				break;
			left -= transfers;
			ret = try_less(schedule, trial, question, &opts);
		}
		if (!ret && opts.after) {
			opts.after = NULL;
			ret = try_less(schedule, trial, question, &opts);
		}
		opts.planes--;
	}
	morph_schedule_free(trial);
	return ret;
}

static int plan(struct morph_schedule *schedule, const struct question *question)
{
	uint32_t policy = question->back ? MORPH_POLICY_MATCHINGS : question->opts->policy;
	int ret;

	memset(schedule->tried, 0, sizeof(schedule->tried));
	ret = policies[policy] ? try(schedule, question, policy) : try_all(schedule, question);
	if (!ret && policy == MORPH_POLICY_BEST)
		ret = try_with_less(schedule, question);
	if (!ret && schedule->verdict == MORPH_FEASIBLE)
		ret = lm_schedule_bound(schedule, question->collective);
	if (ret)
		schedule->verdict = 0;
	return ret;
}

int lm_schedule_plan_costs(struct morph_schedule *schedule,
			   const struct morph_collective *collective, const struct costs *costs,
			   const struct morph_schedule_opts *opts)
{
	struct question question = { .collective = collective, .costs = *costs, .opts = opts };

	return plan(schedule, &question);
}

int lm_schedule_opts_check(struct morph_ctx *ctx, const struct morph_schedule_opts *opts)
{
	struct morph_schedule_opts mine;
	int ret = lm_opts_check(ctx, opts, sizeof(mine), "morph_schedule_opts");

	if (ret)
		return ret;
	lm_opts_copy(&mine, opts, sizeof(mine));
	return mine.pool ? lm_fail(ctx, EINVAL,
				   "only morph_schedule_plan() supports a pool of topologies") :
			   0;
}

MORPH_API int morph_schedule_plan(struct morph_schedule *schedule,
				  const struct morph_collective *collective,
				  const struct morph_delay *delay,
				  const struct morph_schedule_opts *opts)
{
	struct morph_schedule_opts mine;
	struct question question = { .collective = collective, .opts = &mine };
	int ret = lm_opts_check(schedule->ctx, opts, sizeof(mine), "morph_schedule_opts");

	if (ret)
		return ret;
	lm_opts_copy(&mine, opts, sizeof(mine));
	if (mine.pool)
		return lm_schedule_plan_on(schedule, collective, delay, &mine);
	ret = check(schedule, collective, delay, &mine);
	if (ret)
		return ret;
	question.costs = lm_delay_costs(delay, morph_collective_busy(collective));
	return plan(schedule, &question);
}

/*
 * A reversed plan changes with each matching. If changes are expensive, other plans may be faster.
 */
static int try_from_start(struct morph_schedule *schedule, const struct question *question)
{
	struct tried turned = schedule->tried[MORPH_POLICY_MATCHINGS];
	struct morph_schedule *fresh = morph_schedule_new(schedule->ctx);
	struct question all = *question;
	int ret;

	all.back = NULL;
	ret = fresh ? plan(fresh, &all) : -ENOMEM;
	if (!ret) {
		memcpy(schedule->tried, fresh->tried, sizeof(schedule->tried));
		if (is_sooner(fresh, schedule))
			swap(schedule, fresh);
		else
			schedule->tried[MORPH_POLICY_MATCHINGS] = turned;
	}
	morph_schedule_free(fresh);
	return ret;
}

MORPH_API int morph_schedule_combine(struct morph_schedule *schedule,
				     struct morph_collective *collective,
				     const struct morph_collective *there,
				     const struct morph_delay *delay,
				     const struct morph_schedule_opts *opts)
{
	struct morph_schedule_opts mine;
	struct question question = { .collective = collective,
				     .opts = &mine,
				     .back = lm_plan_matchings_back };
	int ret = lm_schedule_opts_check(schedule->ctx, opts);

	if (ret)
		return ret;
	lm_opts_copy(&mine, opts, sizeof(mine));
	if (mine.policy != MORPH_POLICY_BEST && mine.policy != MORPH_POLICY_MATCHINGS)
		return lm_fail(schedule->ctx, EINVAL,
			       "reversed plans require policy matchings, not %u", mine.policy);
	ret = morph_collective_turn(collective, there);
	if (!ret)
		ret = check(schedule, collective, delay, &mine);
	if (ret)
		return ret;
	question.costs = lm_delay_costs(delay, morph_collective_busy(collective));
	ret = plan(schedule, &question);
	return ret || mine.policy == MORPH_POLICY_MATCHINGS ? ret :
							      try_from_start(schedule, &question);
}

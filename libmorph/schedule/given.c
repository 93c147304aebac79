// SPDX-License-Identifier: LGPL-2.1-or-later
/* Schedules on given topologies: see struct morph_pool. */
#include <stdio.h>

#include "segments_lay.h"

static int check_topology(struct morph_schedule *schedule, const struct morph_pool *pool,
			  uint32_t number)
{
	if (pool->firsts[number] > pool->firsts[number + 1])
		return lm_fail(schedule->ctx, EINVAL, "topology %u ends before it begins", number);
	for (uint32_t at = pool->firsts[number]; at < pool->firsts[number + 1]; at++) {
		const struct morph_joint *joint = &pool->joints[at];

		if (joint->src >= schedule->ranks || joint->dst >= schedule->ranks ||
		    joint->src == joint->dst || !joint->circuits)
			return lm_fail(
				schedule->ctx, EINVAL,
				"topology %u: %u circuits from rank %u to %u do not join two of %u ranks",
				number, joint->circuits, joint->src, joint->dst, schedule->ranks);
	}
	return 0;
}

static int check(struct morph_schedule *schedule, const struct morph_collective *collective,
		 const struct morph_pool *pool)
{
	int ret = 0;

	if (!pool->count || pool->count > MOST_TOPOLOGIES)
		return lm_fail(schedule->ctx, EINVAL, "a pool has 1 to %d topologies, not %u",
			       MOST_TOPOLOGIES, pool->count);
	if (pool->in_turn && pool->count != collective->rounds.count)
		return lm_fail(
			schedule->ctx, EINVAL,
			"%u topologies in sequence for %u rounds; must be one for each round",
			pool->count, collective->rounds.count);
	for (uint32_t at = 0; !ret && at < pool->count; at++)
		ret = check_topology(schedule, pool, at);
	return ret;
}

/*
 * Does a topology have more circuits at a rank than planes exist? @ports: by rank outgoing, then
 * incoming circuits.
 */
static bool is_too_wide(const struct morph_schedule *schedule, const struct morph_pool *pool,
			uint64_t *ports, uint32_t *topology)
{
	for (uint32_t number = 0; number < pool->count; number++) {
		*topology = number;
		memset(ports, 0, 2 * (size_t)schedule->ranks * sizeof(*ports));
		for (uint32_t at = pool->firsts[number]; at < pool->firsts[number + 1]; at++) {
			const struct morph_joint *joint = &pool->joints[at];
			uint64_t *out = &ports[joint->src];
			uint64_t *in = &ports[schedule->ranks + joint->dst];

			*out += joint->circuits;
			*in += joint->circuits;
			if (*out > schedule->planes || *in > schedule->planes)
				return true;
		}
	}
	return false;
}

/* Return 0, with a verdict if a topology is too wide, or a noted error. */
static int look_at(struct morph_schedule *schedule, const struct morph_pool *pool)
{
	uint64_t *ports = calloc(schedule->ranks, 2 * sizeof(*ports));
	char why[sizeof(schedule->why)];
	uint32_t topology;

	if (!ports)
		return lm_no_memory(schedule->ctx, "plan a schedule");
	if (is_too_wide(schedule, pool, ports, &topology)) {
		snprintf(why, sizeof(why),
			 "topology %u has more circuits at a rank than the %u planes", topology,
			 schedule->planes);
		lm_schedule_refuse(schedule, why);
	}
	free(ports);
	return 0;
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

static int plan(struct morph_schedule *schedule, const struct morph_collective *collective,
		const struct morph_schedule_opts *opts, const struct morph_pool *pool)
{
	int ret = check(schedule, collective, pool);

	if (!ret && opts->after)
		ret = lm_schedule_resume(schedule, opts->after);
	if (!ret)
		ret = look_at(schedule, pool);
	if (!ret && !schedule->verdict)
		ret = lm_plan_given(schedule, collective, pool);
	if (ret == -E2BIG || ret == -ERANGE) {
		lm_schedule_give_up(schedule, morph_error_text(schedule->ctx));
		lm_error_clear(schedule->ctx);
		ret = 0;
	}
	if (!ret && schedule->verdict == MORPH_FEASIBLE)
		ret = lm_schedule_bound(schedule, collective);
	if (!ret)
		note(schedule);
	return ret;
}

int lm_schedule_plan_on(struct morph_schedule *schedule, const struct morph_collective *collective,
			const struct morph_delay *delay, const struct morph_schedule_opts *opts)
{
	struct morph_schedule_opts mine = *opts;
	struct morph_pool known;
	struct costs costs;
	int ret = lm_opts_check(schedule->ctx, opts->pool, sizeof(known), "morph_pool");

	if (ret)
		return ret;
	lm_opts_copy(&known, opts->pool, sizeof(known));
	mine.sz = sizeof(mine);
	mine.policy = MORPH_POLICY_ONE_SHOT;
	mine.pool = NULL;
	/* The planner of the policy verifies the other arguments. */
	ret = morph_schedule_plan(schedule, collective, delay, &mine);
	if (ret && ret != -ERANGE)
		return ret;
	lm_error_clear(schedule->ctx);
	costs = lm_delay_costs(delay, morph_collective_busy(collective));
	memset(schedule->tried, 0, sizeof(schedule->tried));
	lm_schedule_begin(schedule, collective->ranks, mine.planes ? mine.planes : 1, &costs);
	schedule->policy = MORPH_POLICY_SEGMENTS;
	ret = plan(schedule, collective, &mine, &known);
	if (ret)
		schedule->verdict = 0;
	return ret;
}

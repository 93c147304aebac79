// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Lays out the decisions of segments.c: consecutive rounds share the circuits of all planes. The
 * pool has the initial circuits, each round's own, and the shifts of the participating ranks: in
 * one direction and, with two ports, in both. It also has the circuits of consecutive rounds that
 * fit the ports together.
 */
#include "circulants.h"
#include "segments_lay.h"

#define MOST_STEPS (1ULL << 30) /* of routing: some seconds */
#define MOST_CIRCULANTS 128 /* ranks; above, the pool has the ring only */

/* ------------------------------------------------------------------- the pool */

/* No path passes a rank that takes no part, so that no rank waits for it. */
static bool is_member(const struct segments_planning *planning, uint32_t rank)
{
	const uint32_t *row = planning->pool.row;
	uint32_t low = 0, high = planning->pool.row_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (row[middle] < rank)
			low = middle + 1;
		else
			high = middle;
	}
	return low < planning->pool.row_count && row[low] == rank;
}

static int add_lit(struct segments_planning *planning, uint32_t *number)
{
	struct morph_schedule *schedule = planning->lay.schedule;
	int ret;

	*number = RESIDENT_NONE;
	if (!schedule->residents)
		return 0;
	ret = lm_pool_begin(&planning->pool);
	for (uint32_t at = 0; !ret && at < schedule->residents; at++) {
		const struct matching *matching =
			&schedule->matchings.list[schedule->holds.list[at].matching];

		for (uint32_t next = 0; !ret && next < matching->count; next++) {
			const struct morph_rank_pair *circuit =
				&schedule->circuits.list[matching->first + next];

			if (is_member(planning, circuit->src) && is_member(planning, circuit->dst))
				ret = lm_pool_join(&planning->pool, circuit->src, circuit->dst, 1);
		}
	}
	if (!ret)
		ret = lm_pool_end(&planning->pool);
	if (ret < 0)
		return ret;
	*number = (uint32_t)ret;
	return 0;
}

/* Add all shifts; for many ranks only the shift by one. */
static int add_shifts(struct segments_planning *planning, enum pool_ways ways, uint32_t circuits)
{
	if (planning->pool.row_count <= MOST_CIRCULANTS && !planning->is_unchanged)
		return lm_pool_add_circulants(&planning->pool, ways, circuits);
	return lm_pool_add_circulant(&planning->pool, 1, ways, circuits);
}

/* Add a given topology. Return its number, or a noted error. */
static int add_given(struct segments_planning *planning, uint32_t at)
{
	const struct morph_pool *given = planning->given;
	int ret = lm_pool_begin(&planning->pool);

	for (uint32_t next = given->firsts[at]; !ret && next < given->firsts[at + 1]; next++)
		ret = lm_pool_join(&planning->pool, given->joints[next].src,
				   given->joints[next].dst, given->joints[next].circuits);
	return ret ? ret : lm_pool_end(&planning->pool);
}

static int fill_given(struct segments_planning *planning, uint32_t *resident)
{
	int ret = add_lit(planning, resident);

	for (uint32_t at = 0; ret >= 0 && at < planning->given->count; at++)
		ret = add_given(planning, at);
	return ret < 0 ? ret : 0;
}

/*
 * A round that needs more ports uses topologies of the rest of the pool; the ring carries every
 * round.
 */
static int fill_pool(struct segments_planning *planning, uint32_t *resident)
{
	uint32_t planes = planning->lay.schedule->planes;
	int ret;

	if (planning->given)
		return fill_given(planning, resident);
	ret = add_lit(planning, resident);
	if (planning->is_unchanged && *resident != RESIDENT_NONE)
		return ret;
	for (uint32_t round = 0; ret >= 0 && round < planning->collective->rounds.count; round++) {
		if (planning->is_unchanged || !planning->collective->rounds.list[round].count)
			continue;
		ret = lm_pool_add_round(&planning->pool, planning->collective, round, planes);
		if (ret == -ENOSPC)
			ret = 0;
	}
	if (ret >= 0)
		ret = add_shifts(planning, POOL_FORTH, planes);
	if (ret >= 0 && planes > 1 && planning->pool.row_count > 2)
		ret = add_shifts(planning, POOL_BOTH, planes / 2);
	return ret < 0 ? ret : 0;
}

/* The number of searches on a topology. A round equal to the previous one is not routed again. */
static uint64_t count_searches(const struct morph_collective *collective)
{
	uint64_t searches = 0;

	for (uint32_t round = 0; round < collective->rounds.count; round++)
		if (!round || !lm_rounds_alike(collective, round - 1, round))
			searches += collective->rounds.list[round].count;
	return searches;
}

/*
 * Is all routing fast, with this number of joints besides those of the pool? A search visits each
 * joint.
 */
static bool is_soon(const struct segments_planning *planning, uint64_t searches, uint64_t joints)
{
	return searches * (planning->pool.joints.count + joints) <= MOST_STEPS;
}

/* Rounds that fit together need no change between them. Add all that can be searched quickly. */
static int add_together(struct segments_planning *planning, uint64_t searches)
{
	uint32_t planes = planning->lay.schedule->planes, round = 0;
	uint64_t most = (uint64_t)planes * planning->pool.ranks;
	int ret = 0;

	if (planning->given || planning->is_unchanged)
		return 0;
	while (!ret && round < planning->collective->rounds.count &&
	       is_soon(planning, searches, most) &&
	       planning->pool.topologies.count < MOST_TOPOLOGIES)
		ret = lm_pool_add_rounds(&planning->pool, planning->collective, planes, &round);
	return ret;
}

/* ---------------------------------------------------------------------- plan */

/* The time of all rounds on the lit circuits; NEVER_PS without a path. Return 0 or -ENOMEM. */
static int stay_ps(struct segments_planning *planning, uint32_t resident, uint64_t *ps)
{
	const struct morph_collective *collective = planning->collective;
	uint64_t last = 0;
	int ret = 0;

	*ps = 0;
	for (uint32_t round = 0; !ret && *ps < NEVER_PS && round < collective->rounds.count;
	     round++) {
		struct congestion its;

		if (!round || !lm_rounds_alike(collective, round - 1, round)) {
			ret = lm_pool_route(&planning->work, &planning->pool, resident, collective,
					    round, &its);
			last = !ret && its.reached ? lm_round_ps(&planning->lay.schedule->costs,
								 false, its.hops, its.bytes) :
						     NEVER_PS;
		}
		*ps = lm_sum(*ps, last);
	}
	return ret;
}

/*
 * If one change takes longer than all rounds on the lit circuits, no other topology can be better.
 */
static int stays(struct segments_planning *planning, uint32_t resident, bool *out)
{
	uint64_t ps = NEVER_PS;
	int ret = 0;

	if (resident != RESIDENT_NONE)
		ret = stay_ps(planning, resident, &ps);
	*out = ps < planning->lay.schedule->costs.change_ps;
	return ret;
}

static int lay_one(struct segments_planning *planning, uint32_t topology)
{
	uint32_t rounds = planning->collective->rounds.count;
	uint16_t *held = calloc(rounds, sizeof(*held));
	int ret;

	if (!held)
		return lm_no_memory(planning->lay.schedule->ctx, "plan a schedule");
	for (uint32_t round = 0; round < rounds; round++)
		held[round] = (uint16_t)topology;
	ret = lm_segments_lay(planning, held);
	free(held);
	return ret;
}

/* The topology on which all rounds end first. */
static int solve_one(struct segments_planning *planning, const struct segments_problem *problem)
{
	struct segments_baselines baselines;
	int ret = lm_segments_baselines(&planning->work.segments, problem, 0, &baselines);

	if (ret)
		return ret;
	if (baselines.one_shot.ps == NEVER_PS) {
		struct segments_plan plan;

		/* Paths may exist that take too long. */
		ret = lm_segments_solve(&planning->work.segments, problem, &plan);
		if (ret == -ERANGE || ret == -ENOMEM)
			return ret;
		lm_error_clear(planning->lay.schedule->ctx);
		return lm_schedule_refuse(
			planning->lay.schedule,
			"the circuits do not connect all senders to the receiver");
	}
	return lay_one(planning, baselines.one_topology);
}

static int solve_pool(struct segments_planning *planning, uint32_t resident)
{
	const struct morph_schedule *schedule = planning->lay.schedule;
	struct pool_opts opts = { .costs = &schedule->costs, .resident = resident };
	struct segments_problem problem;
	struct segments_plan plan;
	bool is_fixed;
	int ret = stays(planning, resident, &is_fixed);

	if (!ret && is_fixed)
		return lay_one(planning, resident);
	if (!ret && schedule->planes > 1 && schedule->costs.port_ps) {
		opts.changed = lm_segments_changed;
		opts.context = planning;
		ret = lm_segments_layouts(planning, resident);
	}
	if (!ret)
		ret = lm_pool_pose(&planning->work, &planning->pool, planning->collective, &opts,
				   &problem);
	if (!ret && planning->is_one)
		return solve_one(planning, &problem);
	if (!ret)
		ret = lm_segments_solve(&planning->work.segments, &problem, &plan);
	return ret ? ret : lm_segments_lay(planning, plan.held);
}

/* The circulant that is lit on all planes, or RESIDENT_NONE; the pool has only the lit topology. */
static int find_circulant(struct segments_planning *planning, uint32_t lit, uint32_t *resident)
{
	uint32_t planes = planning->lay.schedule->planes;

	*resident = RESIDENT_NONE;
	for (uint32_t by = 1; lit != RESIDENT_NONE && by < planning->pool.ranks; by++) {
		int ret = lm_pool_add_circulant(&planning->pool, by, POOL_FORTH, planes);

		if (ret < 0)
			return ret;
		if ((uint32_t)ret == lit)
			*resident = by - 1;
	}
	return 0;
}

/*
 * Rounds that are all shifts need no routing: use circulants only, and lay out only those that are
 * held.
 */
static int solve_shifts(struct segments_planning *planning, struct shift *shifts, uint16_t *held)
{
	struct morph_schedule *schedule = planning->lay.schedule;
	struct circulants_work work = { .segments.ctx = schedule->ctx };
	const struct costs costs = costs_of_planes(&schedule->costs, schedule->planes);
	struct circulants circulants = { .ranks = schedule->ranks,
					 .shifts = shifts,
					 .rounds = planning->collective->rounds.count,
					 .costs = &costs };
	struct segments_plan plan;
	uint32_t lit;
	int ret;

	lm_pool_clear(&planning->pool);
	ret = add_lit(planning, &lit);
	if (!ret)
		ret = find_circulant(planning, lit, &circulants.resident);
	if (!ret)
		ret = lm_circulants_solve(&work, &circulants, &plan);
	for (uint32_t round = 0; !ret && round < circulants.rounds; round++) {
		int number = lm_pool_add_circulant(&planning->pool, plan.held[round] + 1U,
						   POOL_FORTH, schedule->planes);

		if (number < 0)
			ret = number;
		else
			held[round] = (uint16_t)number;
	}
	lm_circulants_release(&work);
	return ret ? ret : lm_segments_lay(planning, held);
}

static int solve_large(struct segments_planning *planning)
{
	struct morph_schedule *schedule = planning->lay.schedule;
	size_t rounds = planning->collective->rounds.count;
	struct shift *shifts = calloc(rounds, sizeof(*shifts));
	uint16_t *held = calloc(rounds, sizeof(*held));
	int ret;

	if (!shifts || !held)
		ret = lm_no_memory(schedule->ctx, "plan a schedule");
	else if (!planning->is_one && !planning->given &&
		 lm_collective_shifts(planning->collective, schedule->planes, shifts))
		ret = solve_shifts(planning, shifts, held);
	else
		ret = lm_schedule_give_up(schedule, "its rounds have too many paths to try");
	free(held);
	free(shifts);
	return ret;
}

static int solve(struct segments_planning *planning)
{
	uint64_t searches = count_searches(planning->collective);
	uint32_t resident;
	int ret = fill_pool(planning, &resident);

	if (!ret)
		ret = add_together(planning, searches);
	if (ret)
		return ret;
	return is_soon(planning, searches, 0) ? solve_pool(planning, resident) :
						solve_large(planning);
}

/* Round by round, whatever the pool has. */
static int lay_in_turn(struct segments_planning *planning)
{
	uint32_t rounds = planning->collective->rounds.count;
	uint16_t *held = calloc(rounds, sizeof(*held));
	int ret = held ? 0 : -ENOMEM;

	if (ret)
		lm_no_memory(planning->lay.schedule->ctx, "plan a schedule");
	for (uint32_t round = 0; !ret && round < rounds; round++) {
		int number = add_given(planning, round);

		if (number < 0)
			ret = number;
		else
			held[round] = (uint16_t)number;
	}
	if (!ret)
		ret = lm_segments_lay(planning, held);
	free(held);
	return ret;
}

static int plan(struct morph_schedule *schedule, const struct morph_collective *collective,
		const struct morph_pool *given, bool is_one, bool is_unchanged)
{
	struct segments_planning planning = { .lay = lm_lay_begin(schedule),
					      .collective = collective,
					      .pool = { .ctx = schedule->ctx,
							.ranks = schedule->ranks },
					      .work.segments.ctx = schedule->ctx,
					      .given = given,
					      .is_one = is_one,
					      .is_unchanged = is_unchanged };
	int ret;

	if (!collective->transfers.count) {
		lm_schedule_end(schedule);
		return 0;
	}
	ret = lm_segments_room(&planning);
	if (!ret)
		ret = given && given->in_turn ? lay_in_turn(&planning) : solve(&planning);
	lm_segments_free_room(&planning);
	return ret;
}

int lm_plan_segments(struct morph_schedule *schedule, const struct morph_collective *collective,
		     const struct morph_schedule_opts *opts)
{
	(void)opts;
	return plan(schedule, collective, NULL, false, false);
}

int lm_plan_one_topology(struct morph_schedule *schedule, const struct morph_collective *collective,
			 const struct morph_schedule_opts *opts)
{
	(void)opts;
	return plan(schedule, collective, NULL, true, false);
}

int lm_plan_static(struct morph_schedule *schedule, const struct morph_collective *collective,
		   const struct morph_schedule_opts *opts)
{
	(void)opts;
	return plan(schedule, collective, NULL, true, true);
}

int lm_plan_given(struct morph_schedule *schedule, const struct morph_collective *collective,
		  const struct morph_pool *given)
{
	int ret = plan(schedule, collective, given, false, false);

	if (ret != -ENETUNREACH)
		return ret;
	lm_error_clear(schedule->ctx);
	return lm_schedule_refuse(schedule, "no topology fits a round");
}

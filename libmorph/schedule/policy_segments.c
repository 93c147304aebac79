// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Rounds that follow each other share the circuits of all planes: what segments.c decides of a pool of topologies, laid out.
 * The pool: what is lit at first, each round's own circuits, and shifts of all ranks by as many, in one direction and, where
 * ranks have two ports, in both. A topology's circuits are coloured with as many colours as there are planes; what goes over
 * several circuits between the same two ranks is shared out evenly.
 */
#include "circulants.h"
#include "lay.h"
#include "topologies.h"

#define MOST_STEPS (1ULL << 30) /* of routing: some seconds */
#define MOST_CIRCULANTS 128 /* ranks; beyond, a pool has the ring alone */

/* Copies of joints, each on a plane: transfers for the colouring. */
struct copies {
	struct transfer *list; /* .first: its joint */
	uint32_t count;
	uint32_t *colours;
	uint32_t *firsts; /* by joint: its first copy */
};

struct planning {
	struct lay lay;
	const struct morph_collective *collective;
	struct pool pool;
	struct pool_work work;
	struct ways ways;
	struct copies copies;
	struct joined *circuits;
	uint64_t *loads; /* by plane and rank that sends */
	uint32_t *hops; /* of one send */
	uint32_t planes[MOST_PLANES]; /* by colour */
	bool is_one; /* a topology is held throughout */
	bool is_unchanged; /* that is what is lit, or a ring where nothing is */
};

/* ------------------------------------------------------------------- the pool */

static int add_lit(struct planning *planning, uint32_t *number)
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
			const struct joined *circuit =
				&schedule->circuits.list[matching->first + next];

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

/* Shifts by any number; of many ranks by one. */
static int add_shifts(struct planning *planning, enum pool_ways ways, uint32_t circuits)
{
	if (planning->pool.ranks <= MOST_CIRCULANTS && !planning->is_unchanged)
		return lm_pool_add_circulants(&planning->pool, ways, circuits);
	return lm_pool_add_circulant(&planning->pool, 1, ways, circuits);
}

/* A round that needs more ports than there are goes on what others have; on the ring everything goes. */
static int fill_pool(struct planning *planning, uint32_t *resident)
{
	uint32_t planes = planning->lay.schedule->planes;
	int ret = add_lit(planning, resident);

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
	if (ret >= 0 && planes > 1 && planning->pool.ranks > 2)
		ret = add_shifts(planning, POOL_BOTH, planes / 2);
	return ret < 0 ? ret : 0;
}

/* --------------------------------------------------------------------- light */

/* Each joint as often as it has circuits. */
static void copy_joints(struct planning *planning, const struct topology *topology)
{
	const struct joint *joints = planning->pool.joints.list + topology->first;
	struct copies *copies = &planning->copies;

	copies->count = 0;
	for (uint32_t at = 0; at < topology->count; at++) {
		copies->firsts[at] = copies->count;
		for (uint32_t copy = 0; copy < joints[at].circuits; copy++)
			copies->list[copies->count++] = (struct transfer){ .src = joints[at].src,
									   .dst = joints[at].dst,
									   .first = at };
	}
}

/* The next plane from this one on that has a circuit from one rank to another lit. */
static uint32_t lit_plane(const struct lay *lay, uint32_t plane, const struct transfer *circuit)
{
	const struct morph_schedule *schedule = lay->schedule;

	for (; plane < schedule->planes; plane++)
		if (lay->now[plane] != NO_HOLD &&
		    lm_matching_leads(schedule, schedule->holds.list[lay->now[plane]].matching,
				      circuit->src) == circuit->dst)
			break;
	return plane;
}

/* Where all circuits are lit each stays on its plane, whatever other colours there are: a plane's number is its colour. */
static bool stay(struct planning *planning)
{
	const struct copies *copies = &planning->copies;
	uint32_t planes = planning->lay.schedule->planes;

	for (uint32_t at = 0; at < copies->count; at++) {
		bool again = at && copies->list[at].first == copies->list[at - 1].first;
		uint32_t plane = lit_plane(&planning->lay, again ? copies->colours[at - 1] + 1 : 0,
					   &copies->list[at]);

		if (plane == planes)
			return false;
		copies->colours[at] = plane;
	}
	for (uint32_t plane = 0; plane < planes; plane++)
		planning->planes[plane] = plane;
	return true;
}

/* Set what planes lack of a topology. */
static int light(struct planning *planning, const struct topology *topology)
{
	struct morph_schedule *schedule = planning->lay.schedule;
	const struct copies *copies = &planning->copies;
	uint32_t matchings[MOST_PLANES], wanted[MOST_PLANES];
	bool taken[MOST_PLANES] = { false };
	int colours, ret = 0;

	copy_joints(planning, topology);
	if (stay(planning))
		return 0;
	colours = lm_colour_round(schedule->ctx, schedule->ranks, copies->list, copies->count,
				  copies->colours);
	for (int number = 0; !ret && number < colours; number++) {
		uint32_t count = 0;

		for (uint32_t at = 0; at < copies->count; at++)
			if (copies->colours[at] == (uint32_t)number)
				planning->circuits[count++] =
					(struct joined){ copies->list[at].src,
							 copies->list[at].dst };
		ret = lm_schedule_matching(schedule, planning->circuits, count, &matchings[number]);
	}
	if (colours < 0 || ret)
		return colours < 0 ? colours : ret;
	lm_lay_assign(&planning->lay, matchings, (uint32_t)colours, wanted);
	for (int number = 0; number < colours; number++) {
		uint32_t plane = 0;

		while (taken[plane] || wanted[plane] != matchings[number])
			plane++;
		taken[plane] = true;
		planning->planes[number] = plane;
	}
	return lm_lay_change(&planning->lay, wanted);
}

/* --------------------------------------------------------------------- sends */

/* In how many parts a transfer goes: as many as its way has circuits beside each other, where it has most. */
static uint32_t parts_of(const struct planning *planning, const struct joint *joints, uint32_t at)
{
	const struct ways *ways = &planning->ways;
	uint32_t most = 1;

	for (uint32_t hop = ways->firsts.list[at]; hop < ways->firsts.list[at + 1]; hop++) {
		uint32_t circuits = joints[ways->joints.list[hop]].circuits;

		most = circuits > most ? circuits : most;
	}
	return most;
}

static uint32_t plane_of(const struct planning *planning, const struct joint *joints,
			 uint32_t joint, uint32_t part)
{
	uint32_t copy = planning->copies.firsts[joint] + part % joints[joint].circuits;

	return planning->planes[planning->copies.colours[copy]];
}

static uint64_t part_bytes(uint64_t bytes, uint32_t parts, uint32_t part)
{
	return bytes / parts + (part < bytes % parts);
}

/* What goes over each circuit, and the most; how many hops the longest way has. */
static uint64_t weigh(struct planning *planning, const struct joint *joints,
		      const struct round *round, uint32_t *longest)
{
	uint32_t ranks = planning->lay.schedule->ranks;
	uint64_t most = 0;

	memset(planning->loads, 0,
	       (size_t)planning->lay.schedule->planes * ranks * sizeof(*planning->loads));
	*longest = 0;
	for (uint32_t at = 0; at < round->count; at++) {
		const uint32_t *firsts = planning->ways.firsts.list + at;
		uint32_t parts = parts_of(planning, joints, at), hops = firsts[1] - firsts[0];
		uint64_t bytes = planning->collective->transfers.list[round->first + at].bytes;

		*longest = hops > *longest ? hops : *longest;
		for (uint32_t hop = firsts[0]; hop < firsts[1]; hop++)
			for (uint32_t part = 0; part < parts; part++) {
				uint32_t joint = planning->ways.joints.list[hop];
				uint64_t *load =
					&planning->loads[plane_of(planning, joints, joint, part) *
								 ranks +
							 joints[joint].src];

				*load += part_bytes(bytes, parts, part);
				most = *load > most ? *load : most;
			}
	}
	return most;
}

/* Holds of a part of a transfer; returns how many. */
static uint32_t way_of(struct planning *planning, const struct joint *joints, uint32_t at,
		       uint32_t part)
{
	const uint32_t *firsts = planning->ways.firsts.list + at;
	uint32_t count = 0;

	for (uint32_t hop = firsts[0]; hop < firsts[1]; hop++)
		planning->hops[count++] = planning->lay.now[plane_of(
			planning, joints, planning->ways.joints.list[hop], part)];
	return count;
}

static bool same_way(struct planning *planning, const struct joint *joints, uint32_t at,
		     uint32_t part, uint32_t hops)
{
	const uint32_t *firsts = planning->ways.firsts.list + at;

	if (firsts[1] - firsts[0] != hops)
		return false;
	for (uint32_t hop = 0; hop < hops; hop++)
		if (planning->hops[hop] !=
		    planning->lay.now[plane_of(planning, joints,
					       planning->ways.joints.list[firsts[0] + hop], part)])
			return false;
	return true;
}

/* A part of transfers that have as many bytes and go over the same holds. */
static int send_part(struct planning *planning, const struct joint *joints, struct send send,
		     uint32_t parts, uint32_t part)
{
	const struct round *round = &planning->collective->rounds.list[send.round];
	const struct transfer *transfers = &planning->collective->transfers.list[round->first];
	int ret = 0;

	for (uint32_t at = send.first, next; !ret && at < send.first + send.count; at = next) {
		struct send sent = send;

		sent.hops = way_of(planning, joints, at, part);
		for (next = at + 1; next < send.first + send.count &&
				    same_way(planning, joints, next, part, sent.hops);
		     next++)
			;
		sent.first = at;
		sent.count = next - at;
		sent.bytes = part_bytes(transfers[at].bytes, parts, part);
		ret = lm_schedule_send(planning->lay.schedule, &sent, planning->hops);
	}
	return ret;
}

static int lay_round(struct planning *planning, const struct joint *joints, uint32_t number)
{
	struct lay *lay = &planning->lay;
	const struct round *round = &planning->collective->rounds.list[number];
	const struct transfer *transfers = &planning->collective->transfers.list[round->first];
	uint32_t longest;
	uint64_t most = weigh(planning, joints, round, &longest);
	uint64_t until = lay->clock_ps + costs_send_ps(&lay->schedule->costs, most, longest);
	int ret = 0;

	for (uint32_t at = 0, next; !ret && at < round->count; at = next) {
		uint32_t parts = parts_of(planning, joints, at);

		for (next = at + 1;
		     next < round->count && transfers[next].bytes == transfers[at].bytes &&
		     parts_of(planning, joints, next) == parts;
		     next++)
			;
		for (uint32_t part = 0; !ret && part < parts; part++)
			ret = send_part(planning, joints,
					(struct send){ .round = number,
						       .first = at,
						       .count = next - at,
						       .from_ps = lay->clock_ps,
						       .until_ps = until },
					parts, part);
	}
	if (round->count)
		lay->clock_ps = until;
	return ret;
}

/* ---------------------------------------------------------------------- plan */

static int make_room(struct planning *planning)
{
	uint32_t ranks = planning->lay.schedule->ranks;
	size_t ports = (size_t)ranks * planning->lay.schedule->planes;
	struct copies *copies = &planning->copies;

	copies->list = calloc(ports + 1, sizeof(*copies->list));
	copies->colours = calloc(ports + 1, sizeof(*copies->colours));
	copies->firsts = calloc(ports + 1, sizeof(*copies->firsts));
	planning->circuits = calloc(ranks, sizeof(*planning->circuits));
	planning->loads = calloc(ports, sizeof(*planning->loads));
	planning->hops = calloc(ranks, sizeof(*planning->hops));
	if (copies->list && copies->colours && copies->firsts && planning->circuits &&
	    planning->loads && planning->hops)
		return 0;
	lm_fail(planning->lay.schedule->ctx, ENOMEM, "plan a schedule: out of memory");
	return -ENOMEM;
}

static void free_room(struct planning *planning)
{
	lm_pool_release(&planning->pool);
	lm_pool_work_release(&planning->work);
	lm_pool_ways_release(&planning->ways);
	free(planning->copies.list);
	free(planning->copies.colours);
	free(planning->copies.firsts);
	free(planning->circuits);
	free(planning->loads);
	free(planning->hops);
}

static int lay_all(struct planning *planning, const uint16_t *held)
{
	uint32_t now = UINT32_MAX;
	int ret = 0;

	for (uint32_t round = 0; !ret && round < planning->collective->rounds.count; round++) {
		const struct topology *topology = &planning->pool.topologies.list[held[round]];

		if (!planning->collective->rounds.list[round].count)
			continue;
		if (held[round] != now)
			ret = light(planning, topology);
		now = held[round];
		if (!ret)
			ret = lm_pool_ways(&planning->work, &planning->pool, now,
					   planning->collective, round, &planning->ways);
		if (!ret)
			ret = lay_round(planning, planning->pool.joints.list + topology->first,
					round);
	}
	if (!ret)
		lm_schedule_end(planning->lay.schedule);
	return ret;
}

/* Whether all routing is soon done: a search looks at each joint. Rounds that are as the one before are not routed anew. */
static bool is_soon(const struct planning *planning)
{
	const struct morph_collective *collective = planning->collective;
	uint64_t searches = 0;

	for (uint32_t round = 0; round < collective->rounds.count; round++)
		if (!round || !lm_rounds_alike(collective, round - 1, round))
			searches += collective->rounds.list[round].count;
	return searches * planning->pool.joints.count <= MOST_STEPS;
}

/* What all rounds take over what is lit; NEVER_PS where there is no way. 0 or -ENOMEM. */
static int stay_ps(struct planning *planning, uint32_t resident, uint64_t *ps)
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

/* Where one change alone takes longer than all rounds over what is lit, nothing else needs to be looked at. */
static int stays(struct planning *planning, uint32_t resident, bool *out)
{
	uint64_t ps = NEVER_PS;
	int ret = 0;

	if (resident != RESIDENT_NONE)
		ret = stay_ps(planning, resident, &ps);
	*out = ps < planning->lay.schedule->costs.change_ps;
	return ret;
}

static int lay_one(struct planning *planning, uint32_t topology)
{
	uint32_t rounds = planning->collective->rounds.count;
	uint16_t *held = calloc(rounds, sizeof(*held));
	int ret;

	if (!held)
		return lm_fail(planning->lay.schedule->ctx, ENOMEM,
			       "plan a schedule: out of memory");
	for (uint32_t round = 0; round < rounds; round++)
		held[round] = (uint16_t)topology;
	ret = lay_all(planning, held);
	free(held);
	return ret;
}

/* The topology on which all rounds end first. */
static int solve_one(struct planning *planning, const struct segments_problem *problem)
{
	struct segments_baselines baselines;
	int ret = lm_segments_baselines(&planning->work.segments, problem, 0, &baselines);

	if (ret)
		return ret;
	if (baselines.one_shot.ps == NEVER_PS)
		return lm_schedule_refuse(planning->lay.schedule,
					  "no circuits lead from all that send to who receives");
	return lay_one(planning, baselines.one_topology);
}

static int solve_pool(struct planning *planning, uint32_t resident)
{
	struct pool_opts opts = { .costs = &planning->lay.schedule->costs, .resident = resident };
	struct segments_problem problem;
	struct segments_plan plan;
	bool is_fixed;
	int ret = stays(planning, resident, &is_fixed);

	if (!ret && is_fixed)
		return lay_one(planning, resident);
	if (!ret)
		ret = lm_pool_pose(&planning->work, &planning->pool, planning->collective, &opts,
				   &problem);
	if (!ret && planning->is_one)
		return solve_one(planning, &problem);
	if (!ret)
		ret = lm_segments_solve(&planning->work.segments, &problem, &plan);
	return ret ? ret : lay_all(planning, plan.held);
}

/* Which circulant on all planes is lit, or RESIDENT_NONE; the pool has what is lit alone. */
static int find_circulant(struct planning *planning, uint32_t lit, uint32_t *resident)
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

/* Rounds that all are shifts need no routing: circulants are looked at alone, and only those that are held are laid out. */
static int solve_shifts(struct planning *planning, struct shift *shifts, uint16_t *held)
{
	struct morph_schedule *schedule = planning->lay.schedule;
	struct circulants_work work = { .segments.ctx = schedule->ctx };
	struct circulants circulants = { .ranks = schedule->ranks,
					 .shifts = shifts,
					 .rounds = planning->collective->rounds.count,
					 .costs = &schedule->costs };
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
	return ret ? ret : lay_all(planning, held);
}

static int solve_large(struct planning *planning)
{
	struct morph_schedule *schedule = planning->lay.schedule;
	size_t rounds = planning->collective->rounds.count;
	struct shift *shifts = calloc(rounds, sizeof(*shifts));
	uint16_t *held = calloc(rounds, sizeof(*held));
	int ret;

	if (!shifts || !held)
		ret = lm_fail(schedule->ctx, ENOMEM, "plan a schedule: out of memory");
	else if (!planning->is_one &&
		 lm_collective_shifts(planning->collective, schedule->planes, shifts))
		ret = solve_shifts(planning, shifts, held);
	else
		ret = lm_schedule_give_up(schedule, "its rounds have too many ways to be tried");
	free(held);
	free(shifts);
	return ret;
}

static int solve(struct planning *planning)
{
	uint32_t resident;
	int ret = fill_pool(planning, &resident);

	if (ret)
		return ret;
	return is_soon(planning) ? solve_pool(planning, resident) : solve_large(planning);
}

static int plan(struct morph_schedule *schedule, const struct morph_collective *collective,
		bool is_one, bool is_unchanged)
{
	struct planning planning = { .lay = lm_lay_begin(schedule),
				     .collective = collective,
				     .pool = { .ctx = schedule->ctx, .ranks = schedule->ranks },
				     .work.segments.ctx = schedule->ctx,
				     .is_one = is_one,
				     .is_unchanged = is_unchanged };
	int ret;

	if (schedule->ranks < 2 || !collective->rounds.count) {
		lm_schedule_end(schedule);
		return 0;
	}
	ret = make_room(&planning);
	if (!ret)
		ret = solve(&planning);
	free_room(&planning);
	return ret;
}

int lm_plan_segments(struct morph_schedule *schedule, const struct morph_collective *collective,
		     const struct morph_schedule_opts *opts)
{
	(void)opts;
	return plan(schedule, collective, false, false);
}

int lm_plan_one_topology(struct morph_schedule *schedule, const struct morph_collective *collective,
			 const struct morph_schedule_opts *opts)
{
	(void)opts;
	return plan(schedule, collective, true, false);
}

int lm_plan_static(struct morph_schedule *schedule, const struct morph_collective *collective,
		   const struct morph_schedule_opts *opts)
{
	(void)opts;
	return plan(schedule, collective, true, true);
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Colours the circuits of a topology with one colour per plane. Data that uses several circuits
 * between the same ranks is divided evenly. See segments_lay.h.
 */
#include "segments_lay.h"

/* --------------------------------------------------------------------- light */

/* Each joint, once for each of its circuits. */
static void copy_joints(struct segments_planning *planning, const struct topology *topology)
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

/* The next plane, from this one on, with a lit circuit between two ranks. */
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

/* If all circuits are lit, each stays on its plane. The colour is then the number of the plane. */
static bool stay(struct segments_planning *planning)
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

static int colour(struct segments_planning *planning, uint32_t *matchings)
{
	struct morph_schedule *schedule = planning->lay.schedule;
	const struct copies *copies = &planning->copies;
	int colours = lm_colour_round(schedule->ctx, schedule->ranks, copies->list, copies->count,
				      copies->colours);
	int ret = 0;

	for (int number = 0; !ret && number < colours; number++) {
		uint32_t count = 0;

		for (uint32_t at = 0; at < copies->count; at++)
			if (copies->colours[at] == (uint32_t)number)
				planning->circuits[count++] =
					(struct morph_rank_pair){ copies->list[at].src,
								  copies->list[at].dst };
		ret = lm_schedule_matching(schedule, planning->circuits, count, &matchings[number]);
	}
	return ret ? ret : colours;
}

int lm_segments_colour(struct segments_planning *planning, const struct topology *topology,
		       uint32_t *matchings)
{
	copy_joints(planning, topology);
	return colour(planning, matchings);
}

/* Set what the planes lack of a topology. */
static int light(struct segments_planning *planning, const struct topology *topology)
{
	uint32_t matchings[MOST_PLANES], wanted[MOST_PLANES];
	bool taken[MOST_PLANES] = { false };
	int colours;

	copy_joints(planning, topology);
	if (stay(planning))
		return 0;
	colours = colour(planning, matchings);
	if (colours < 0)
		return colours;
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

/* The number of parts of a transfer: the largest number of parallel circuits on its path. */
static uint32_t parts_of(const struct segments_planning *planning, const struct joint *joints,
			 uint32_t at)
{
	const struct ways *ways = &planning->ways;
	uint32_t most = 1;

	for (uint32_t hop = ways->firsts.list[at]; hop < ways->firsts.list[at + 1]; hop++) {
		uint32_t circuits = joints[ways->joints.list[hop]].circuits;

		most = circuits > most ? circuits : most;
	}
	return most;
}

static uint32_t plane_of(const struct segments_planning *planning, const struct joint *joints,
			 uint32_t joint, uint32_t part)
{
	uint32_t copy = planning->copies.firsts[joint] + part % joints[joint].circuits;

	return planning->planes[planning->copies.colours[copy]];
}

static uint64_t part_bytes(uint64_t bytes, uint32_t parts, uint32_t part)
{
	return bytes / parts + (part < bytes % parts);
}

/* The load of each circuit, the largest load, and the hops of the longest path. */
static uint64_t weigh(struct segments_planning *planning, const struct joint *joints,
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

				*load = lm_sum(*load, part_bytes(bytes, parts, part));
				most = *load > most ? *load : most;
			}
	}
	return most;
}

/* List the holds of a part of a transfer. Return their number. */
static uint32_t way_of(struct segments_planning *planning, const struct joint *joints, uint32_t at,
		       uint32_t part)
{
	const uint32_t *firsts = planning->ways.firsts.list + at;
	uint32_t count = 0;

	for (uint32_t hop = firsts[0]; hop < firsts[1]; hop++)
		planning->hops[count++] = planning->lay.now[plane_of(
			planning, joints, planning->ways.joints.list[hop], part)];
	return count;
}

static bool same_way(struct segments_planning *planning, const struct joint *joints, uint32_t at,
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

/* A part of transfers with equal bytes and holds. */
static int send_part(struct segments_planning *planning, const struct joint *joints,
		     struct send send, uint32_t parts, uint32_t part)
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

static int lay_round(struct segments_planning *planning, const struct joint *joints,
		     uint32_t number)
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

/* ---------------------------------------------------------------------- all */

int lm_segments_room(struct segments_planning *planning)
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
	planning->members = calloc(ranks, sizeof(*planning->members));
	if (!copies->list || !copies->colours || !copies->firsts || !planning->circuits ||
	    !planning->loads || !planning->hops || !planning->members) {
		lm_no_memory(planning->lay.schedule->ctx, "plan a schedule");
		return -ENOMEM;
	}
	planning->pool.row = planning->members;
	planning->pool.row_count = lm_collective_members(planning->collective, planning->members);
	return 0;
}

void lm_segments_free_room(struct segments_planning *planning)
{
	lm_pool_release(&planning->pool);
	lm_pool_work_release(&planning->work);
	lm_pool_ways_release(&planning->ways);
	lm_segments_layouts_release(&planning->layouts);
	free(planning->copies.list);
	free(planning->copies.colours);
	free(planning->copies.firsts);
	free(planning->circuits);
	free(planning->loads);
	free(planning->hops);
	free(planning->members);
}

#define MOST_HOPS (1U << 27) /* half a gigabyte */

int lm_segments_lay(struct segments_planning *planning, const uint16_t *held)
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
		if (!ret && planning->lay.schedule->hops.count > MOST_HOPS)
			return lm_schedule_give_up(planning->lay.schedule,
						   "its rounds have too many hops to record");
	}
	if (!ret)
		lm_schedule_end(planning->lay.schedule);
	return ret;
}

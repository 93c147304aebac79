// SPDX-License-Identifier: GPL-2.0-or-later
/* Slices across racks: the pod, what bounds them, and building them. */
#include <string.h>

#include "../../libmorph/bench/random.h"
#include "crossing.h"
#include "repro.h"

#define ANEW 8 /* slices that are placed anew at once, with those that are missing */
#define LEAST_OUT 12 /* links that leave a part of a slice: three edges, four links each */

const uint8_t crossing_edges[CROSSING_EDGES][2] = {
	{ 0, 1 }, { 2, 3 }, { 4, 5 }, { 6, 7 }, { 0, 2 }, { 2, 4 },
	{ 4, 6 }, { 6, 0 }, { 1, 3 }, { 3, 5 }, { 5, 7 }, { 7, 1 },
};

/* ---------------------------------------------------------------------- pod */

enum {
	DIRECT_X = 0,
	DIRECT_Y = 8,
	DIRECT_Z = 16,
	FACE_X = DIRECT_GROUPS, /* minus, then plus */
	FACE_Y = FACE_X + 16,
	FACE_Z = FACE_Y + 16,
};

static void add_arc(struct pod *pod, uint32_t from, uint32_t to, uint32_t group, uint32_t far_group)
{
	pod->arcs[from][pod->arcs_count[from]++] = (struct arc){
		.to = (uint8_t)to,
		.group = (uint8_t)group,
		.far_group = (uint8_t)far_group,
		.face = group >= DIRECT_GROUPS,
	};
}

/* Direct links to both sides, and the face where the dimension of this extent ends. */
static void add_arcs(struct pod *pod, uint32_t from)
{
	uint32_t x = from & 1, y = from >> 1 & 1, z = from >> 2;
	uint32_t in_x = 2 * z + y, in_y = 2 * z + x, in_z = 2 * y + x;

	add_arc(pod, from, from ^ 1, DIRECT_X + in_x, 0);
	add_arc(pod, from, from ^ 2, DIRECT_Y + in_y, 0);
	if (z < 3)
		add_arc(pod, from, from + 4, DIRECT_Z + 4 * z + in_z, 0);
	if (z > 0)
		add_arc(pod, from, from - 4, DIRECT_Z + 4 * (z - 1) + in_z, 0);
	add_arc(pod, from, from ^ 1, FACE_X + 8 * x + in_x, FACE_X + 8 * !x + in_x);
	add_arc(pod, from, from ^ 2, FACE_Y + 8 * y + in_y, FACE_Y + 8 * !y + in_y);
	if (z == 0 || z == 3)
		add_arc(pod, from, from ^ 12, FACE_Z + 4 * (z > 0) + in_z,
			FACE_Z + 4 * (z == 0) + in_z);
}

/* A slice has the links between its servers, and wraps between those at opposite faces. */
static void take_links(struct pod *pod, const struct racks_slice *slice)
{
	for (uint32_t sites = slice->sites; sites; sites &= sites - 1) {
		uint32_t from = net_first(sites);

		for (uint32_t at = 0; at < pod->arcs_count[from]; at++)
			if (slice->sites >> pod->arcs[from][at].to & 1)
				pod->room[slice->rack][pod->arcs[from][at].group] = 0;
	}
}

void crossing_pod(const struct racks *racks, struct pod *pod)
{
	memset(pod, 0, sizeof(*pod));
	for (uint32_t site = 0; site < RACK_SITES; site++)
		add_arcs(pod, site);
	for (uint32_t rack = 0; rack < RACKS; rack++) {
		pod->free[rack] = racks_free(racks, rack);
		for (uint32_t group = 0; group < GROUPS; group++)
			pod->room[rack][group] =
				(group >= DIRECT_Z && group < FACE_X) || group >= FACE_Z ? 4 : 2;
	}
	for (uint32_t at = 0; at < racks->slices_count; at++)
		if (!racks->slices[at].gone)
			take_links(pod, &racks->slices[at]);
}

server crossing_step(const struct pod *pod, server from, uint32_t arc, server target)
{
	const struct arc *taken = &pod->arcs[from % RACK_SITES][arc];
	uint32_t rack = (taken->face ? target : from) / RACK_SITES;

	return (server)(rack * RACK_SITES + taken->to);
}

/* Takes the links of a slice's ways. */
static void crossing_take(struct pod *pod, const struct plan *plan, uint32_t slice)
{
	const server *slots = &plan->slots[slice * CROSSING_SLOTS];

	for (uint32_t at = 0; at < CROSSING_EDGES * CROSSING_WIDE; at++) {
		uint32_t edge = at / CROSSING_WIDE;
		const struct way *way = &plan->ways[slice][edge][at % CROSSING_WIDE];
		server from = slots[crossing_edges[edge][0]], to = slots[crossing_edges[edge][1]];

		for (uint32_t hop = 0; hop < way->hops; hop++) {
			const struct arc *arc = &pod->arcs[from % RACK_SITES][way->arcs[hop]];
			uint8_t *room = &pod->room[from / RACK_SITES][arc->group];
			uint8_t *far = &pod->room[to / RACK_SITES][arc->far_group];

			*room -= *room > 0;
			if (arc->face)
				*far -= *far > 0;
			from = crossing_step(pod, from, way->arcs[hop], to);
		}
	}
}

/* -------------------------------------------------------------------- bound */

/*
 * A slice takes eight servers. Of a rack whose faces have fewer links left than leave the least
 * part of a slice no part can be used, but only slices as a whole.
 */
void crossing_bound_find(const struct racks *racks, struct crossing_bound *bound)
{
	static struct pod pod;
	uint32_t usable = 0;

	crossing_pod(racks, &pod);
	for (uint32_t rack = 0; rack < RACKS; rack++) {
		uint32_t links = 0, servers = net_count(pod.free[rack]);

		for (uint32_t group = DIRECT_GROUPS; group < GROUPS; group++)
			links += pod.room[rack][group];
		usable += links < LEAST_OUT ? servers / CROSSING_SLOTS * CROSSING_SLOTS : servers;
	}
	bound->by_servers = racks_free_sites(racks) / CROSSING_SLOTS;
	bound->slices = usable / CROSSING_SLOTS;
}

/* -------------------------------------------------------------------- build */

/* The last slice takes the number of one that goes; its servers are left over. */
static void drop(struct plan *plan, uint32_t slice)
{
	uint32_t last = --plan->slices;

	for (uint32_t slot = 0; slot < CROSSING_SLOTS; slot++) {
		server *one = &plan->slots[slice * CROSSING_SLOTS + slot];
		server *other = &plan->slots[last * CROSSING_SLOTS + slot], kept = *one;

		*one = *other;
		*other = kept;
	}
	plan->routed[slice] = plan->routed[last];
	plan->bad[slice] = plan->bad[last];
	memcpy(plan->ways[slice], plan->ways[last], sizeof(plan->ways[slice]));
}

/* Ways for all slices; while they overlap, the one that overlaps most goes. */
static void settle(const struct pod *pod, struct plan *plan)
{
	while (plan->slices && crossing_route(pod, plan)) {
		uint32_t worst = 0;

		for (uint32_t slice = 1; slice < plan->slices; slice++)
			if (plan->bad[slice] > plan->bad[worst])
				worst = slice;
		drop(plan, worst);
	}
}

/* What the slices of a plan leave: of links, and servers that are in none. */
static void pod_left(const struct pod *pod, const struct plan *plan, struct pod *left)
{
	*left = *pod;
	memset(left->free, 0, sizeof(left->free));
	for (uint32_t slice = 0; slice < plan->slices; slice++)
		crossing_take(left, plan, slice);
	for (uint32_t slot = plan->slices * CROSSING_SLOTS; slot < plan->servers; slot++)
		left->free[plan->slots[slot] / RACK_SITES] |=
			(uint16_t)(1U << plan->slots[slot] % RACK_SITES);
}

/* Some slices by chance, and what is left over, are placed anew between the others. */
static void mend(const struct pod *pod, struct plan *plan, uint32_t moves, uint64_t *random)
{
	static struct pod left;
	static struct plan part, whole;
	uint32_t kept, servers;

	whole = *plan;
	for (uint32_t at = 0; at < ANEW && whole.slices; at++)
		drop(&whole, random_below(random, whole.slices));
	kept = whole.slices * CROSSING_SLOTS;
	servers = whole.servers - kept;
	pod_left(pod, &whole, &left);
	memset(&part, 0, sizeof(part));
	part.slices = servers / CROSSING_SLOTS;
	crossing_place(&left, &part, moves, mix_next(random));
	memcpy(&whole.slots[kept], part.slots, servers * sizeof(server));
	memset(&whole.routed[whole.slices], false, part.slices);
	whole.slices += part.slices;
	settle(pod, &whole);
	if (whole.slices >= plan->slices)
		*plan = whole;
}

void crossing_build(const struct racks *racks, uint32_t wanted,
		    const struct crossing_effort *effort, uint64_t seed, struct plan *plan)
{
	static struct pod pod;
	static struct plan next;
	uint64_t random = seed;
	const char *wrong;

	crossing_pod(racks, &pod);
	plan->slices = 0;
	for (uint32_t start = 0; plan->slices < wanted && start < effort->starts; start++) {
		memset(&next, 0, sizeof(next));
		next.slices = wanted;
		crossing_place(&pod, &next, effort->moves, mix_next(&random));
		settle(&pod, &next);
		if (!start || next.slices > plan->slices)
			*plan = next;
	}
	for (uint32_t at = 0; plan->slices < wanted && at < effort->mends; at++)
		mend(&pod, plan, effort->mend_moves, &random);
	wrong = crossing_check(racks, plan);
	if (wrong)
		repro_wrong("a plan across racks: %s", wrong);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Slices across racks: the pod, the upper bound of their number, and the planner's slices. */
#include <string.h>

#include "../../libmorph/bench/random.h"
#include "crossing.h"
#include "repro.h"

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
	FACE_X = DIRECT_GROUPS, /* first the minus face, then the plus face */
	FACE_Y = FACE_X + 16,
	FACE_Z = FACE_Y + 16,
};

static void add_arc(struct cross_pod *pod, uint32_t from, uint32_t to, uint32_t group,
		    uint32_t far_group)
{
	pod->arcs[from][pod->arcs_count[from]++] = (struct cross_arc){
		.to = (uint8_t)to,
		.group = (uint8_t)group,
		.far_group = (uint8_t)far_group,
		.face = group >= DIRECT_GROUPS,
	};
}

/* Add the direct links to both sides, and links of the face where the dimension ends. */
static void add_arcs(struct cross_pod *pod, uint32_t from)
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

/* Take the links between a slice's servers, and the wraps between servers at opposite faces. */
static void take_links(struct cross_pod *pod, const struct racks_slice *slice)
{
	for (uint32_t sites = slice->sites; sites; sites &= sites - 1) {
		uint32_t from = net_first(sites);

		for (uint32_t at = 0; at < pod->arcs_count[from]; at++)
			if (slice->sites >> pod->arcs[from][at].to & 1)
				pod->room[slice->rack][pod->arcs[from][at].group] = 0;
	}
}

void crossing_pod(const struct racks *racks, struct cross_pod *pod)
{
	memset(pod, 0, sizeof(*pod));
	for (uint32_t site = 0; site < RACK_SITES; site++)
		add_arcs(pod, site);
	pod->racks = RACKS;
	pod->seats = RACK_SITES;
	pod->groups = GROUPS;
	for (uint32_t rack = 0; rack < RACKS; rack++) {
		pod->free[rack] = racks_free(racks, rack);
		pod->pass[rack] = UINT16_MAX;
		for (uint32_t group = 0; group < GROUPS; group++) {
			pod->room[rack][group] =
				(group >= DIRECT_Z && group < FACE_X) || group >= FACE_Z ? 4 : 2;
			pod->leads[rack][group] = UINT64_MAX;
		}
	}
	for (uint32_t at = 0; at < racks->slices_count; at++)
		if (!racks->slices[at].gone)
			take_links(pod, &racks->slices[at]);
}

/* -------------------------------------------------------------------- bound */

/*
 * A slice takes eight servers. If a rack's faces have fewer free links than leave the smallest part
 * of a slice, the rack can host only whole slices.
 */
void crossing_bound_find(const struct racks *racks, struct crossing_bound *bound)
{
	static struct cross_pod pod;
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

void crossing_build(const struct racks *racks, uint32_t wanted,
		    const struct crossing_effort *effort, uint64_t seed, struct cross_found *found)
{
	static struct cross_pod pod;
	static struct cross_shape shape;
	static struct cross cross;
	const char *wrong;

	crossing_pod(racks, &pod);
	lm_cross_shape_init(&shape, CROSSING_SLOTS);
	for (uint32_t edge = 0; edge < CROSSING_EDGES; edge++)
		lm_cross_shape_join(&shape, crossing_edges[edge][0], crossing_edges[edge][1],
				    CROSSING_WIDE);
	found->slices = 0;
	for (uint32_t start = 0; found->slices < wanted && start < effort->starts; start++) {
		lm_cross_build(&cross, &pod, &shape, wanted, &effort->each, mix_next(&seed));
		lm_cross_settle(&cross);
		if (!start || cross.found.slices > found->slices)
			*found = cross.found;
	}
	wrong = crossing_check(racks, found);
	if (wrong)
		repro_wrong("slices across racks: %s", wrong);
}

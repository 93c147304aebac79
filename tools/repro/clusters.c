// SPDX-License-Identifier: GPL-2.0-or-later
/* Fill clusters, look for boxes, stitch slices, and replay traces. */
#include "../../libmorph/bench/random.h"
#include "../../libmorph/place/stitch.h"
#include "clusters.h"

#define X 2
#define Y 2
#define Z 4
#define LINK 1 /* a circuit of a slice takes all four fibres: libmorph/bench/racks.h */
#define STITCH_STEPS 50000000

void cluster_begin(struct repro *repro, int argc, char **argv)
{
	repro_begin(repro, argc, argv);
	trace_begin(&repro->trace, repro->trace.path, &repro->given);
}

/* -------------------------------------------------------------------- fills */

void cluster_fill_mix(struct racks *racks, uint64_t seed, const struct mix *mix)
{
	racks_begin(racks, seed);
	while (racks_free_sites(racks))
		racks_take(racks, mix_size(mix, &racks->random));
}

void cluster_fill_sorted(struct racks *racks, uint64_t seed)
{
	racks_begin(racks, seed);
	for (uint32_t size = CLUSTER_SLICE + 1; size-- > 0;)
		for (uint32_t at = 0; at < RACK_SLICES / 4 >> size; at++)
			racks_take(racks, size);
}

void cluster_free_slices(struct racks *racks, uint32_t permille)
{
	uint32_t left = (racks->slices_count * permille + 500) / 1000;

	while (left) {
		uint32_t at = random_below(&racks->random, racks->slices_count);

		if (racks->slices[at].gone)
			continue;
		racks_give_back(racks, at);
		left--;
	}
}

uint64_t cluster_digest(uint64_t digest, const struct racks *racks)
{
	for (uint32_t rack = 0; rack < RACKS; rack++)
		digest = mix(digest ^ racks->taken[rack]) + rack;
	return digest;
}

/* -------------------------------------------------------------------- boxes */

/*
 * Boxes by size in servers. A box that spans the rack in a dimension has a single position there.
 */
static const struct box {
	uint8_t size, x, y, z;
} boxes[] = {
	{ 0, 1, 1, 1 }, { 1, 1, 1, 2 }, { 2, 1, 1, 4 }, { 2, 1, 2, 2 }, { 2, 2, 1, 2 },
	{ 3, 1, 2, 4 }, { 3, 2, 1, 4 }, { 3, 2, 2, 2 }, { 4, 2, 2, 4 },
};

static bool box_free(uint16_t free, const struct box *box, uint32_t at)
{
	for (uint32_t z = 0; z < box->z; z++)
		for (uint32_t y = 0; y < box->y; y++)
			for (uint32_t x = 0; x < box->x; x++)
				if (!(free >> (4 * ((at / 4 + z) % Z) + 2 * ((at / 2 + y) % Y) +
					       (at + x) % X) &
				      1))
					return false;
	return true;
}

bool cluster_anywhere(uint16_t free, uint32_t size)
{
	for (uint32_t box = 0; box < sizeof(boxes) / sizeof(*boxes); box++)
		for (uint32_t at = 0; boxes[box].size == size && at < RACK_SITES; at++)
			if (box_free(free, &boxes[box], at))
				return true;
	return false;
}

bool cluster_aligned(uint16_t free, uint32_t size)
{
	uint16_t sites;

	for (uint32_t at = 0; (sites = racks_box(size, at)); at++)
		if ((free & sites) == sites)
			return true;
	return false;
}

/* ---------------------------------------------------------------- stitching */

static bool stitches(const struct racks *racks, uint32_t rack, const struct pattern *pattern,
		     uint32_t wavelengths)
{
	static struct stitch stitch;
	static struct net nets[BANDS];

	racks_nets(racks, rack, wavelengths, nets);
	switch (lm_stitch_bands(&stitch, nets, wavelengths, pattern, racks_free(racks, rack),
				STITCH_STEPS)) {
	case STITCH_FEASIBLE:
		return true;
	case STITCH_INFEASIBLE:
		return false;
	default:
		repro_wrong("the planner left a rack undecided");
	}
}

bool cluster_stitches_in(const struct racks *racks, uint32_t rack, uint32_t size,
			 uint32_t wavelengths)
{
	static const uint8_t extents[RACK_SIZES][3] = {
		{ 1, 1, 1 }, { 1, 1, 2 }, { 1, 1, 4 }, { 1, 2, 4 }, { 2, 2, 4 },
	};
	static struct pattern patterns[RACK_SIZES];
	struct pattern *pattern = &patterns[size];
	uint16_t free = racks_free(racks, rack);

	if (net_count(free) < 1U << size)
		return false;
	if (cluster_aligned(free, size))
		return true;
	if (!pattern->slots) {
		lm_pattern_torus(pattern, extents[size][0], extents[size][1], extents[size][2],
				 LINK);
		lm_pattern_prepare(pattern);
	}
	return stitches(racks, rack, pattern, wavelengths);
}

bool cluster_stitches(const struct racks *racks, uint32_t rack, uint32_t size)
{
	return cluster_stitches_in(racks, rack, size, 1);
}

bool cluster_stitches_ring(const struct racks *racks, uint32_t rack, uint32_t servers)
{
	static struct pattern patterns[RACK_SITES + 1];
	struct pattern *pattern = &patterns[servers];

	if (net_count(racks_free(racks, rack)) < servers)
		return false;
	if (!pattern->slots) {
		lm_pattern_torus(pattern, 1, 1, servers, LINK);
		lm_pattern_prepare(pattern);
	}
	return stitches(racks, rack, pattern, 1);
}

/* -------------------------------------------------------------------- trace */

void cluster_replay(const struct repro *repro, uint32_t number, enum trace_set set,
		    struct replay *replay)
{
	replay_run(replay, &repro->trace, set, repro_seed(repro, 0), number);
}

void cluster_replay_aligned(const struct repro *repro, uint32_t number, enum trace_set set,
			    struct replay *replay, struct racks *racks)
{
	racks_begin(racks, number);
	replay->placer = &replay_aligned;
	replay->cluster = racks;
	cluster_replay(repro, number, set, replay);
}

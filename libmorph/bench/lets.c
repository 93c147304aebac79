// SPDX-License-Identifier: LGPL-2.1-or-later
/* Racks with slices. */
#include <string.h>

#include "figures.h"
#include "lets.h"
#include "random.h"

void let_racks(struct racks *racks, enum trace_set set, uint32_t cluster)
{
	static struct replay replay;

	if (set == TRACE_SETS) {
		racks_fill(racks, mix(bench.seed) + cluster, 0);
		return;
	}
	racks_begin(racks, cluster);
	replay.placer = &replay_aligned;
	replay.cluster = racks;
	replay_run(&replay, &bench.trace, set, mix(bench.seed), cluster);
}

uint32_t let_rack_of(const struct racks *racks, uint32_t cluster)
{
	uint64_t random = mix(bench.seed) ^ mix(cluster + 1);
	uint32_t rack;

	do {
		rack = random_below(&random, RACKS);
	} while (!racks->taken[rack]);
	return rack;
}

static struct tori_box box_of(uint16_t sites)
{
	uint32_t low[3] = { UINT32_MAX, UINT32_MAX, UINT32_MAX }, high[3] = { 0 };
	struct tori_box box;

	for (uint32_t left = sites; left; left &= left - 1) {
		uint32_t place[3];

		tori_place(4 * net_first(left), place);
		for (int axis = 0; axis < 3; axis++) {
			uint32_t end = place[axis] + (axis < 2 ? 2 : 1);

			low[axis] = place[axis] < low[axis] ? place[axis] : low[axis];
			high[axis] = end > high[axis] ? end : high[axis];
		}
	}
	for (int axis = 0; axis < 3; axis++) {
		box.at[axis] = low[axis];
		box.extent[axis] = high[axis] - low[axis];
	}
	return box;
}

void let_rack(struct morph_coverage *coverage, const struct racks *racks, uint32_t rack,
	      uint32_t slice[TORI_CHIPS])
{
	memset(slice, 0, TORI_CHIPS * sizeof(*slice));
	for (uint32_t at = 0; at < racks->slices_count; at++) {
		const struct racks_slice *this = &racks->slices[at];
		struct tori_box box;

		if (this->gone || this->rack != rack)
			continue;
		box = box_of(this->sites);
		check(tori_light(coverage, &box));
		for (uint32_t chip = 0; chip < TORI_CHIPS; chip++)
			if (this->sites >> chip / 4 & 1)
				slice[chip] = at + 1;
	}
}

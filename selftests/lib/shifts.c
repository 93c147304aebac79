// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>
#include <sys/ioctl.h>

#include "shifts.h"

void shifts_make(struct shifts *shifts, unsigned int advance, bool both_planes)
{
	unsigned int step, rank, at = 0;

	memset(shifts, 0, sizeof(*shifts));
	for (step = 0; step < SHIFT_STEPS; step++) {
		unsigned int plane = both_planes ? step % 2 : 0;

		shifts->steps[step] = (struct morph_schedule_step){ .first = at,
								    .count = SHIFT_RANKS,
								    .advance = advance };
		for (rank = 0; rank < SHIFT_RANKS; rank++, at++) {
			shifts->held[at] = at;
			shifts->circuits[at] = (struct morph_schedule_circuit){
				.src_rank = rank,
				.dst_rank = (rank + step + 1) % SHIFT_RANKS,
				.src_plane = plane,
				.dst_plane = plane,
			};
		}
	}
	shifts->load = (struct morph_schedule_load){
		.head = HEAD(morph_schedule_load),
		.circuits = ARRAY(shifts->circuits, SHIFT_RANKS * SHIFT_STEPS),
		.steps = ARRAY(shifts->steps, SHIFT_STEPS),
		.held = ARRAY(shifts->held, SHIFT_RANKS * SHIFT_STEPS),
		.generation = GENERATION_ANY,
	};
}

int shifts_info(int slice, unsigned int schedule, struct morph_schedule_info *info,
		struct morph_schedule_step_info *steps)
{
	*info = (struct morph_schedule_info){
		.head = HEAD(morph_schedule_info),
		.schedule = schedule,
		.steps = ARRAY(steps, steps ? SHIFT_STEPS : 0),
	};
	return ioctl(slice, MORPH_SCHEDULE_INFO, info);
}

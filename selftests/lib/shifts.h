/* SPDX-License-Identifier: GPL-2.0-only */
/* A schedule for tests of schedules, and how one is read. */
#ifndef SHIFTS_H
#define SHIFTS_H

#include "fabric.h"

#define SHIFT_RANKS 4u
#define SHIFT_STEPS (SHIFT_RANKS - 1)

/* Each step a shift by one more: what all ranks exchange with all. */
struct shifts {
	struct morph_schedule_circuit circuits[SHIFT_RANKS * SHIFT_STEPS];
	struct morph_schedule_step steps[SHIFT_STEPS];
	uint32_t held[SHIFT_RANKS * SHIFT_STEPS];
	struct morph_schedule_load load;
};

/* On plane 0 of all, or on one and the other in turn. */
void shifts_make(struct shifts *shifts, unsigned int advance, bool both_planes);

/* @steps: room for SHIFT_STEPS, or NULL. */
int shifts_info(int slice, unsigned int schedule, struct morph_schedule_info *info,
		struct morph_schedule_step_info *steps);

#endif

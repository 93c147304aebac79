/* SPDX-License-Identifier: GPL-2.0-only */
/* A schedule for tests of schedules, and a function to read one. */
#ifndef SHIFTS_H
#define SHIFTS_H

#include "fabric.h"

#define SHIFT_RANKS 4u
#define SHIFT_STEPS (SHIFT_RANKS - 1)

/* Step i is a shift by i + 1: an exchange of all ranks with all. */
struct shifts {
	struct morph_schedule_circuit circuits[SHIFT_RANKS * SHIFT_STEPS];
	struct morph_schedule_step steps[SHIFT_STEPS];
	uint32_t held[SHIFT_RANKS * SHIFT_STEPS];
	struct morph_schedule_load load;
};

/* All on plane 0, or alternately on two planes. */
void shifts_make(struct shifts *shifts, unsigned int advance, bool both_planes);

/* @steps: space for SHIFT_STEPS, or NULL. */
int shifts_info(int slice, unsigned int schedule, struct morph_schedule_info *info,
		struct morph_schedule_step_info *steps);

#endif

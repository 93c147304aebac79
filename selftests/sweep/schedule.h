/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A schedule for the sweeps, and its queue. Functions return the result of the calls that they
 * make.
 */
#ifndef SELFTESTS_SWEEP_SCHEDULE_H
#define SELFTESTS_SWEEP_SCHEDULE_H

#include "sweep.h"

#define SCHEDULE_RANKS 3u
#define SCHEDULE_TOO_LATE 99 /* begun by call, with a deadline that is always missed */
#define RING_BYTES MORPH_RING_BYTES(8)

/*
 * Load a loop of three steps: a ring, the reverse ring, and one circuit of each. @advance begins
 * the second step, calls begin the others. With @apart the second step has its own ports. Return
 * its number, or -1.
 */
int schedule_load(int slice, unsigned int advance, bool apart, unsigned int *first);
/* @number: the step, or the rank that arrives. */
int schedule_verb(int slice, unsigned int schedule, unsigned int verb, unsigned int number,
		  uint64_t position);
/* Read the first schedule whose number is at least @schedule. */
int schedule_info(int slice, unsigned int schedule, struct morph_schedule_info *info);
/* Read the schedule and its steps. */
int schedule_read(int slice, unsigned int schedule, struct morph_schedule_info *info,
		  struct morph_schedule_step_info steps[3]);
/* Store the circuits of a step, at most three, and return their number. */
unsigned int schedule_step(unsigned int step, unsigned int *circuits);

/* Make a queue in memory of the kernel, or in @memory: its number, or -1. */
int ring_setup(int slice, unsigned int schedule, void *memory);
int ring_act(int slice, unsigned int ring, unsigned int verb);
/* Map a queue, or the state page; NULL on failure. */
void *ring_map(int slice, unsigned int ring);
void *state_map(int slice);
/* Submit the first entry of a queue: 0, or the error of its answer. */
int ring_jump(int slice, unsigned int ring, void *memory, unsigned int step, uint64_t position);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* A schedule for those who sweep, and its ring. Functions return as the calls that they make. */
#ifndef SELFTESTS_SWEEP_SCHEDULE_H
#define SELFTESTS_SWEEP_SCHEDULE_H

#include "sweep.h"

#define SCHEDULE_RANKS 3u
#define SCHEDULE_TOO_LATE 99 /* begun by call, for which it is too late at once */
#define RING_BYTES MORPH_RING_BYTES(8)

/*
 * A loop of three steps: round, the other way round, and one circuit of each. The second is begun
 * as it is said, the others by call. @apart: the second has ports of its own. Its number, or -1.
 */
int schedule_load(int slice, unsigned int advance, bool apart, unsigned int *first);
/* @number: of the step, or of the rank where one arrives. */
int schedule_verb(int slice, unsigned int schedule, unsigned int verb, unsigned int number,
		  uint64_t position);
/* Of the first schedule whose number is at least that. */
int schedule_info(int slice, unsigned int schedule, struct morph_schedule_info *info);
/* With what each of its steps has. */
int schedule_read(int slice, unsigned int schedule, struct morph_schedule_info *info,
		  struct morph_schedule_step_info steps[3]);
/* Which of its circuits a step has, three at most: how many. */
unsigned int schedule_step(unsigned int step, unsigned int *circuits);

/* A ring in memory of the kernel's, or in that one: its number, or -1. */
int ring_setup(int slice, unsigned int schedule, void *memory);
int ring_act(int slice, unsigned int ring, unsigned int verb);
/* Both map what one page, or a ring, has; NULL: they can't. */
void *ring_map(int slice, unsigned int ring);
void *state_map(int slice);
/* The first entry of a ring: 0, or the error that it is answered with. */
int ring_jump(int slice, unsigned int ring, void *memory, unsigned int step, uint64_t position);

#endif

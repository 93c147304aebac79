/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Failing every call in turn. What is checked after each failure knows nothing of the driver
 * but its answers, and nothing of the light but what the simulated hardware shows.
 */
#ifndef SELFTESTS_SWEEP_H
#define SELFTESTS_SWEEP_H

#include "fabric.h"

#define MAX_CIRCUITS 16
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* -------------------------------------------------------------------- say.c */

/* A sentence. It is overwritten by the fourth one after it, so that one may quote another. */
const char *say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ------------------------------------------------------------------ world.c */

/* A slice with all its circuits. */
struct view {
	struct morph_slice_info info;
	struct morph_rank_info ranks[8];
	struct morph_circuit_info circuits[MAX_CIRCUITS];
};

/* 0 or -1, as slice_read(). */
int view_read(int slice, struct view *view);

/* The states that elements of a fabric have which nobody uses. Nothing may be lit. */
void world_parked(const struct sim *sim, unsigned int *parked);
/*
 * Are circuits and hardware one? Lasers, receivers, elements, and the books that the driver
 * keeps of lanes and pins, against the circuits of these files. NULL, or what is wrong.
 */
const char *world_wrong(const struct sim *sim, const unsigned int *parked, const int *slices,
			unsigned int count);
/* Wait until nothing is under way, in the core or in the hardware: false: it never ended. */
bool world_rest(const struct sim *sim);
/* Has a receiver of the slice gone dark since the simulator was told to count that? */
bool world_flickered(const struct sim *sim, const struct view *view);

/* ------------------------------------------------------------------ table.c */

/*
 * How many points were swept must not be less than what is recorded for them, in
 * selftests/sweep/points: a point that is not reached any more is a test that is lost. With
 * --record the file is written anew.
 */
void points_begin(bool record);
/*
 * NULL, or how the number differs from the recorded one: more is good news, and only told; so
 * many less may be chance.
 */
const char *points_check(const char *sweep, const char *name, unsigned int points,
			 unsigned int chance);
/*
 * After a whole sweep: NULL, or what is recorded of it and was not swept, which --record
 * forgets.
 */
const char *points_end(const char *sweep);

#endif

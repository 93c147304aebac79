/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fail every call in turn. The checks after each failure use only the driver's answers and the
 * light in the simulated hardware.
 */
#ifndef SELFTESTS_SWEEP_H
#define SELFTESTS_SWEEP_H

#include "fabric.h"

#define MAX_CIRCUITS 96
#define PICTURE_BYTES 1600 /* for the text of all circuits */
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* -------------------------------------------------------------------- say.c */

/*
 * Format a text. The fourth call after it overwrites the result, so that texts can include others.
 */
const char *say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ------------------------------------------------------------------ world.c */

/* A slice with all its circuits. */
struct view {
	struct morph_slice_info info;
	struct morph_rank_info ranks[8];
	struct morph_circuit_info circuits[MAX_CIRCUITS];
};

/* 0 or -1, like slice_read(). */
int view_read(int slice, struct view *view);

/* Read the states of the elements of an idle fabric. Nothing may be lit. */
void world_parked(const struct sim *sim, unsigned int *parked);
/*
 * Compare lasers, receivers, elements, and the driver's accounts of lanes and pins with the
 * circuits of these slices. Return NULL or a description.
 */
const char *world_wrong(const struct sim *sim, const unsigned int *parked, const int *slices,
			unsigned int count);
/* Wait until no operation is in progress in the core or in the hardware; false after a timeout. */
bool world_rest(const struct sim *sim);
/* Has a receiver of the slice gone dark since the simulator began to count that? */
bool world_flickered(const struct sim *sim, const struct view *view);

/* ------------------------------------------------------------------ table.c */

/*
 * Compare the number of points with the recorded one in selftests/sweep/points. A point that the
 * sweep no longer reaches is a lost test. With --record, the program writes the file again.
 */
void points_begin(bool record);
/*
 * Return NULL, or how the number differs from the recorded one. A higher number is only logged. A
 * number lower by at most @chance may be random.
 */
const char *points_check(const char *sweep, const char *name, unsigned int points,
			 unsigned int chance);
/*
 * After a complete sweep: return NULL, or the recorded points that were not swept, which --record
 * removes.
 */
const char *points_end(const char *sweep);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Circuits at the start: rings, grids and tori. */
#ifndef REPRO_SHAPES_H
#define REPRO_SHAPES_H

#include "planned.h"

/*
 * A circuit joins each rank to the next one of its row or column. Ranks of a row have consecutive
 * numbers.
 */
struct shape {
	const char *what;
	uint32_t sizes[2];
	bool both, wraps; /* directions */
	bool folded; /* a row goes forward over every other position, and back over the rest */
};

/* From now on, schedules begin with these circuits lit. */
void shape_light(struct planned *planned, const struct shape *shape, uint32_t ports);

#endif /* REPRO_SHAPES_H */

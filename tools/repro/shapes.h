/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is lit at first: rings, grids and tori of circuits. */
#ifndef REPRO_SHAPES_H
#define REPRO_SHAPES_H

#include "planned.h"

/*
 * Each rank is joined to the next one of a row, or of a column; ranks of a row follow each other.
 */
struct shape {
	const char *what;
	uint32_t sizes[2];
	bool both, wraps; /* ways */
	bool folded; /* a row goes there over every other place, and back over the rest */
};

/* From now on schedules begin with it lit. */
void shape_light(struct planned *planned, const struct shape *shape, uint32_t ports);

#endif /* REPRO_SHAPES_H */

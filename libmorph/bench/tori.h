/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Slices as tori of accelerators, lit in a model of coverage of rack64. */
#ifndef LM_BENCH_TORI_H
#define LM_BENCH_TORI_H

#include <morph/plan.h>

#include "../internal/coverage.h"

#define TORI_SIDE 4
#define TORI_CHIPS 64 /* of the rack, without spares */

/* A box of accelerators: its first position and its extents. */
struct tori_box {
	uint32_t at[3], extent[3];
};

/* The accelerator at a position of the rack. */
uint32_t tori_chip(const uint32_t place[3]);
void tori_place(uint32_t chip, uint32_t place[3]);

/*
 * Add a box as a slice with a torus. Each circuit has all lanes. A dimension of extent 4 gets a
 * ring in both directions, one of extent 2 gets a circuit in each direction. Returns the slice, or
 * an error.
 */
int tori_light(struct morph_coverage *coverage, const struct tori_box *box);

/* Add all 64 accelerators as a slice with a ring of one lane. Returns the slice, or an error. */
int tori_light_ring(struct morph_coverage *coverage);

#endif /* LM_BENCH_TORI_H */

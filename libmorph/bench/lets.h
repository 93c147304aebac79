/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Assignment of racks to slices, at random or as jobs of a trace run, and the light of these
 * slices.
 */
#ifndef LM_BENCH_LETS_H
#define LM_BENCH_LETS_H

#include "replay.h"
#include "tori.h"

/*
 * With TRACE_SETS a full random cluster, otherwise one that runs jobs. Deterministic for the seed.
 */
void let_racks(struct racks *racks, enum trace_set set, uint32_t cluster);

/* A random rack of the cluster that has a slice. */
uint32_t let_rack_of(const struct racks *racks, uint32_t cluster);

/*
 * Light the slices of a rack, each as a torus. @slice gets the slice of each accelerator, counted
 * from 1; 0: none.
 */
void let_rack(struct morph_coverage *coverage, const struct racks *racks, uint32_t rack,
	      uint32_t slice[TORI_CHIPS]);

#endif /* LM_BENCH_LETS_H */

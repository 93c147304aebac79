/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How racks are let: by chance, or as jobs of a trace run; and their slices, lit. */
#ifndef LM_BENCH_LETS_H
#define LM_BENCH_LETS_H

#include "replay.h"
#include "tori.h"

/* A cluster that is full, by chance, for TRACE_SETS; one in which jobs run else. By the seed. */
void let_racks(struct racks *racks, enum trace_set set, uint32_t cluster);

/* One of its racks by chance, of which something is let. */
uint32_t let_rack_of(const struct racks *racks, uint32_t cluster);

/*
 * Light the slices of a rack, each as a torus. @slice gets that of each accelerator, counted from
 * 1, or 0 where there is none.
 */
void let_rack(struct morph_coverage *coverage, const struct racks *racks, uint32_t rack,
	      uint32_t slice[TORI_CHIPS]);

#endif /* LM_BENCH_LETS_H */

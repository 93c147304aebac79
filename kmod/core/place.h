/* SPDX-License-Identifier: GPL-2.0-only */
/* Which accelerators a slice gets. */
#ifndef MORPH_CORE_PLACE_H
#define MORPH_CORE_PLACE_H

#include "core.h"

/* ------------------------------------------------------------------- place.c */

/* May so many be asked for at all, whoever holds what. */
int morph_place_possible(struct morph_fabric *fabric, u32 count, struct morph_refusal *refusal);
/*
 * Choose count accelerators close to each other; best fit on one host, else
 * neighbouring hosts. fabric->lock held. The cost follows count, not the fabric.
 */
int morph_place(struct morph_fabric *fabric, u32 count, u32 *chosen,
		struct morph_refusal *refusal);
/* Check an explicit list: exists, no duplicates, free, fit, not spare. fabric->lock held. */
int morph_place_check(struct morph_fabric *fabric, const u32 *accelerators, u32 count,
		      struct morph_refusal *refusal);
/*
 * The spare that may replace an accelerator of the slice, at position skip: that which the
 * slice has of its own, the preferred one, or MORPH_ANY, and then the others by distance.
 */
u32 morph_place_spare(struct morph_slice *slice, u32 accelerator, u32 preferred, u32 skip);
/* Is it a spare that may replace it, and could do so now? fabric->lock held. */
bool morph_place_allows(struct morph_slice *slice, u32 accelerator, u32 spare);

/* ----------------------------------------------------------------- why_not.c */

/* chosen has room for count; ring: also try a ring of circuits. Takes the locks itself. */
int morph_why_not(struct morph_fabric *fabric, const u32 *accelerators, u32 count, u32 transit,
		  bool ring, u32 lanes, u32 *chosen, struct morph_refusal *refusal);

#endif /* MORPH_CORE_PLACE_H */

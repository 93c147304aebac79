/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What an electrical rack has left once a spare has taken over. */
#ifndef LM_BENCH_ELECTRICAL_H
#define LM_BENCH_ELECTRICAL_H

#include <stdint.h>

#include "tori.h"

/* As shares of what a link carries by itself. */
struct electrical {
	double slowest; /* link of the slice: what rings over all of it go by */
	double replaced; /* links of the replaced accelerator, on the mean */
	double all; /* links of all slices, on the mean */
};

/*
 * A 4x4x4 torus of accelerators whose links are fixed, one each way between neighbours; a slice
 * uses those between its own. @slice has that of each accelerator, 0 where there is none. The
 * links of accelerator @failed of a slice, whose router is dead, are made by detours to a spare
 * over links that others may use, which are shared evenly. The spares are four, joined to one
 * another as in a server, and to the five servers that rack64's first spare server is joined to, so that
 * each has five links that an accelerator of the torus has not. The best of the four is told.
 */
struct electrical electrical_after(uint32_t failed, const uint32_t slice[TORI_CHIPS]);

/* How many links of an accelerator lead to others of its slice. */
uint32_t electrical_links(uint32_t chip, const uint32_t slice[TORI_CHIPS]);

#endif /* LM_BENCH_ELECTRICAL_H */

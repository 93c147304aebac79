/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What an electrical rack has left once a spare has taken over. */
#ifndef LM_BENCH_ELECTRICAL_H
#define LM_BENCH_ELECTRICAL_H

#include <stdint.h>

/* As shares of what a link carries by itself. */
struct electrical {
	double slowest; /* link of the slice: what rings over all of it go by */
	double replaced; /* links of the replaced accelerator, on the mean */
};

/*
 * A 4x4x4 torus of accelerators whose links are fixed, one each way between neighbours, all in
 * use by one slice. The links of accelerator @failed, whose router is dead, are made by detours
 * to a spare over links that others use, which is shared evenly. The spares are four, joined to one another as
 * in a server, and to the five servers that rack64's first spare server is joined to, so that
 * each has five links that an accelerator of the torus has not. The best of the four is told.
 */
struct electrical electrical_after(uint32_t failed);

#endif /* LM_BENCH_ELECTRICAL_H */

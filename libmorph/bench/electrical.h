/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bandwidth that remains in an electrical rack after a spare has replaced an accelerator. */
#ifndef LM_BENCH_ELECTRICAL_H
#define LM_BENCH_ELECTRICAL_H

#include <stdint.h>

#include "tori.h"

/* As shares of the bandwidth of a link. */
struct electrical {
	double slowest; /* slowest link of the slice, which limits rings over all of it */
	double replaced; /* mean of the links of the replaced accelerator */
	double all; /* mean of the links of all slices */
};

/*
 * A 4x4x4 torus of accelerators with fixed links, one each way between neighbours. A slice uses the
 * links between its own accelerators. @slice has the slice of each accelerator, 0: none. The failed
 * accelerator's router is dead. Detours to a spare replace its links. They use links that other
 * slices may use, with even shares. There are four spares, joined to one another as in a server,
 * and to the five servers that rack64's first spare server is joined to. So each spare has five
 * links that an accelerator of the torus lacks. Returns the result of the best spare.
 */
struct electrical electrical_after(uint32_t failed, const uint32_t slice[TORI_CHIPS]);

/* The number of links of an accelerator within its slice. */
uint32_t electrical_links(uint32_t chip, const uint32_t slice[TORI_CHIPS]);

#endif /* LM_BENCH_ELECTRICAL_H */

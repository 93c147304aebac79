/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The fairest bandwidths by integer programs, with COIN-OR's CBC: what filling is held against. */
#ifndef LM_BENCH_EXACT_H
#define LM_BENCH_EXACT_H

#include <stdbool.h>

#include "groups.h"

/*
 * Bandwidths in ascending order, of which the least is as large as can be, then the next: how high
 * so many groups can be together, then how many of them can be higher, and so on, each an
 * integer program. False when there is no plan, or CBC gave up.
 */
bool exact_bandwidths(const struct groups *groups, uint32_t *sorted);

#endif /* LM_BENCH_EXACT_H */

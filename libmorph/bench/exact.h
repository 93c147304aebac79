/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The fairest bandwidths by integer programs with COIN-OR's CBC, as a reference for filling. */
#ifndef LM_BENCH_EXACT_H
#define LM_BENCH_EXACT_H

#include <stdbool.h>

#include "groups.h"

/*
 * Bandwidths in ascending order, of which the least is as large as possible, then the next. A
 * series of integer programs: the highest common level of all groups, then the number of groups
 * that can be higher, and so on. False if there is no plan, or CBC gave up.
 */
bool exact_bandwidths(const struct groups *groups, uint32_t *sorted);

#endif /* LM_BENCH_EXACT_H */

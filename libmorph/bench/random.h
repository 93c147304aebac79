/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Random numbers, deterministic for a seed. */
#ifndef LM_BENCH_RANDOM_H
#define LM_BENCH_RANDOM_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "../util/mix.h"

/* Below @limit. */
static inline uint32_t random_below(uint64_t *state, uint32_t limit)
{
	return mix_below(state, limit);
}

/* In [0, 1). */
static inline double random_unit(uint64_t *state)
{
	return mix_unit(mix_next(state));
}

/* Normal, of deviation 1: Box and Muller. */
static inline double random_normal(uint64_t *state)
{
	double radius = sqrt(-2 * log(1 - random_unit(state)));

	return radius * cos(2 * 3.14159265358979323846 * random_unit(state));
}

#endif /* LM_BENCH_RANDOM_H */

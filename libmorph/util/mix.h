/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers that look like chance, the same everywhere: splitmix64, Steele, Lea and Flood (OOPSLA 2014). */
#ifndef LM_PLAN_MIX_H
#define LM_PLAN_MIX_H

#include <stdint.h>

static inline uint64_t mix(uint64_t value)
{
	value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
	value = (value ^ value >> 27) * 0x94d049bb133111eb;
	return value ^ value >> 31;
}

static inline uint64_t mix_next(uint64_t *state)
{
	return mix(*state += 0x9e3779b97f4a7c15);
}

/* Below @limit. */
static inline uint32_t mix_below(uint64_t *state, uint32_t limit)
{
	return (uint32_t)((mix_next(state) >> 32) * limit >> 32);
}

/* The number's first bits, in [0, 1). */
static inline double mix_unit(uint64_t number)
{
	return (double)(number >> 11) * 0x1p-53;
}

#endif /* LM_PLAN_MIX_H */

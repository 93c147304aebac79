/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pseudo-random numbers that are the same on every machine: splitmix64 (Steele, Lea and Flood, Fast
 * splittable pseudorandom number generators, OOPSLA 2014). Answers depend on these sequences bit
 * for bit.
 *
 * The functions change nothing but the state that the caller passes, and never fail. Threads need a
 * state each. A call costs a few instructions.
 */
#ifndef LM_UTIL_MIX_H
#define LM_UTIL_MIX_H

#include <stdint.h>

/* Mix the bits of a number: the output function of splitmix64, a bijection. */
static inline uint64_t mix(uint64_t value)
{
	value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
	value = (value ^ value >> 27) * 0x94d049bb133111eb;
	return value ^ value >> 31;
}

/* Return the next 64 bits. The first state is the seed, any number. */
static inline uint64_t mix_next(uint64_t *state)
{
	return mix(*state += 0x9e3779b97f4a7c15);
}

/* Return the first 64 bits of a sequence. */
static inline uint64_t mix_first(uint64_t seed)
{
	return mix_next(&seed);
}

/* Return a number from 0 to @limit - 1, from the upper 32 bits; 0 if @limit is 0. */
static inline uint32_t mix_below(uint64_t *state, uint32_t limit)
{
	return (uint32_t)((mix_next(state) >> 32) * limit >> 32);
}

/* Convert the upper 53 bits of a number to a real number in [0, 1). */
static inline double mix_unit(uint64_t number)
{
	return (double)(number >> 11) * 0x1p-53;
}

#endif /* LM_UTIL_MIX_H */

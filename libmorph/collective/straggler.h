/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All-reduce with a late rank, after the others have summed what is theirs. */
#ifndef LM_SCHEDULE_STRAGGLER_H
#define LM_SCHEDULE_STRAGGLER_H

#include "algorithms.h"

#define STRAGGLER_SEARCHED 256 /* ranks, at most, that are no power of two */

/*
 * As many rounds as it takes at least, for 2 ranks or more, where each rank is in one pair at most in a
 * round, and sends one chunk in it at most. Proof: below, T is the rounds, n the ranks, and "late data" is a
 * sum with a part that the late rank had.
 *
 * 1. The late rank has a part of n - 1 chunks to give, one in a round, so that the last of them first leaves
 *    it in round n - 1 or later. Then 2 ranks have late data of it, and at most twice as many after each
 *    round: T >= n - 1 + ceil(log2(n)) - 1.
 *
 * 2. Each of n - 1 ranks needs to get late data of each of n - 1 chunks, and the late rank needs to get each
 *    of n - 1 chunks: these are n * (n - 1) arrivals, all of them different. In a round each rank gets one at
 *    most, and is in a pair to get it: 2 * floor(n / 2) at most. In round r, from 1 on, at most 2^(r - 1) ranks
 *    have any late data to send, and the late rank gets one: 2^(r - 1) + 1 at most. So the sum over
 *    r = 1 ... T of the lesser of both is n * (n - 1) at least.
 */
uint32_t lm_straggler_bound(uint32_t ranks);

/*
 * straggler_seeds.c: by ranks that are no power of two, with which seed the search takes the fewest rounds, of as many seeds as all
 * together take ranks^3 STRAGGLER_TRIED times, and the first of these; of 227 and 247 ranks of three more, which it takes to be within a round of
 * the bound. They are made anew where anything about the search is changed: test_straggler.c says what they are to be.
 */
#define STRAGGLER_TRIED (1U << 27)
#define STRAGGLER_SEEDS 2000 /* at most */
extern const uint16_t lm_straggler_seeds[STRAGGLER_SEARCHED];

/* How many rounds come of a seed; UINT32_MAX: more than @most, or there is no memory. */
uint32_t lm_straggler_try(uint32_t ranks, uint64_t seed, uint32_t most);

/* The rounds after the others have summed what is theirs: of a number of ranks up to STRAGGLER_SEARCHED. */
void lm_write_straggler_search(struct writer *writer);

/* What the late rank, which is the last, and the other do first with the chunk of that other's number. */
static inline void write_first(struct writer *writer, uint32_t other)
{
	uint32_t late = writer->opts->ranks - 1;

	lm_write_transfer(writer, other, late, true);
	lm_write_run(writer, other, 1);
	lm_write_transfer(writer, late, other, true);
	lm_write_run(writer, other, 1);
}

#endif /* LM_SCHEDULE_STRAGGLER_H */

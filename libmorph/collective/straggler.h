/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All-reduce with a late rank, after the others have summed their data. */
#ifndef LM_SCHEDULE_STRAGGLER_H
#define LM_SCHEDULE_STRAGGLER_H

#include "algorithms.h"

#define STRAGGLER_SEARCHED 256 /* largest number of ranks that is no power of two */

/*
 * Least number of rounds, for 2 ranks or more. Each rank is in at most one pair per round and sends
 * at most one chunk in it. Proof: T is the number of rounds, n that of ranks, and "late data" is a
 * sum that contains a part of the late rank.
 *
 * 1. The late rank has to give n - 1 chunks a part, one per round. The last of them leaves it in
 *    round n - 1 or later. Then 2 ranks have late data of it, and at most twice as many after each
 *    round: T >= n - 1 + ceil(log2(n)) - 1.
 *
 * 2. Each of n - 1 ranks needs late data of each of n - 1 chunks, and the late rank needs each of n
 *    - 1 chunks: n * (n - 1) different arrivals. In a round each rank receives at most one, in a
 *    pair: at most 2 * floor(n / 2). In round r, from 1 on, at most 2^(r - 1) ranks have late data
 *    to send, and the late rank receives one: at most 2^(r - 1) + 1. So the sum over r = 1 ... T of
 *    the smaller of both is at least n * (n - 1).
 */
uint32_t lm_straggler_bound(uint32_t ranks);

/*
 * straggler_seeds.c: for each number of ranks that is no power of two, the seed with which the
 * search finds the fewest rounds. It is the first such seed of those that together take ranks^3
 * STRAGGLER_TRIED times. For 227 and 247 ranks, three more seeds were tried to come within one
 * round of the bound. Recompute the seeds after every change of the search; test_straggler.c says
 * how to verify them.
 */
#define STRAGGLER_TRIED (1U << 27)
#define STRAGGLER_SEEDS 2000 /* at most */
extern const uint16_t lm_straggler_seeds[STRAGGLER_SEARCHED];

/* Number of rounds for a seed; UINT32_MAX: more than @most, or no memory. */
uint32_t lm_straggler_try(uint32_t ranks, uint64_t seed, uint32_t most);

/*
 * Write the rounds after the others have summed their data, for at most STRAGGLER_SEARCHED ranks.
 */
void lm_write_straggler_search(struct writer *writer);

/*
 * The first exchange of the late rank, which is the last, with another one, about the chunk of the
 * other's number.
 */
static inline void write_first(struct writer *writer, uint32_t other)
{
	uint32_t late = writer->opts->ranks - 1;

	lm_write_transfer(writer, other, late, true);
	lm_write_run(writer, other, 1);
	lm_write_transfer(writer, late, other, true);
	lm_write_run(writer, other, 1);
}

#endif /* LM_SCHEDULE_STRAGGLER_H */

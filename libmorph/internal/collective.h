/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of <morph/collective.h> that only the library, its tests and its benches call. */
#ifndef LM_INTERNAL_COLLECTIVE_H
#define LM_INTERNAL_COLLECTIVE_H

#include <morph/plan.h>

/**
 * struct morph_transfer - what one rank sends to another in a round
 * @src: rank that sends
 * @dst: rank that receives
 * @bytes: how much; UINT64_MAX: so much or more
 * @reduce: it is summed with what is there, else takes its place
 */
struct morph_transfer {
	uint32_t src;
	uint32_t dst;
	uint64_t bytes;
	bool reduce;
};

/**
 * morph_collective_turn() - the way back: who received sends
 * @collective: the collective; what was in it is forgotten
 * @there: the way there, in which nothing is summed and each chunk begins and ends at one rank: an
 *         all-to-all
 *
 * Combine, where @there is dispatch: each chunk begins where it ended, rounds come in the reverse
 * order, and each transfer goes from its receiver to its sender.
 *
 * Return: 0, -EINVAL (it is the same collective, sums something, or has a chunk that each rank has
 * or gets), -E2BIG or -ENOMEM. On failure the collective has neither chunks nor rounds.
 */
int morph_collective_turn(struct morph_collective *collective,
			  const struct morph_collective *there);

/**
 * morph_matrix_transpose() - what each has for each on the way back
 * @matrix: what each has for each; rows and columns change places
 * @ranks: how many
 */
void morph_matrix_transpose(uint64_t *matrix, uint32_t ranks);

/**
 * morph_collective_busy() - how many of them send or receive
 * @collective: the collective
 *
 * Those for whom a change waits, and no others. O(transfers).
 *
 * Return: how many.
 */
uint32_t morph_collective_busy(const struct morph_collective *collective);

/**
 * morph_collective_chunks() - how many chunks there are
 * @collective: the collective
 *
 * Return: how many.
 */
uint32_t morph_collective_chunks(const struct morph_collective *collective);

/**
 * morph_collective_transfer() - a transfer of a round
 * @collective: the collective
 * @round: the round
 * @number: which, below morph_collective_transfers()
 * @out: where to put it
 *
 * Return: 0 or -ENOENT.
 */
int morph_collective_transfer(const struct morph_collective *collective, uint32_t round,
			      uint32_t number, struct morph_transfer *out);

/**
 * morph_collective_bytes() - the most that any rank sends or receives in all rounds
 * @collective: the collective
 *
 * Over the bandwidth of all of a rank's ports this bounds from below what the rounds take.
 *
 * Return: bytes; UINT64_MAX: so many or more.
 */
uint64_t morph_collective_bytes(const struct morph_collective *collective);

/**
 * morph_collective_ranks() - how many there are
 * @collective: the collective
 *
 * Return: how many.
 */
uint32_t morph_collective_ranks(const struct morph_collective *collective);

/**
 * morph_collective_rounds() - how many rounds there are
 * @collective: the collective
 *
 * Return: how many.
 */
uint32_t morph_collective_rounds(const struct morph_collective *collective);

/**
 * morph_collective_rounds_before() - how long a rank may be late
 * @collective: the collective
 * @rank: the rank
 *
 * Return: how many rounds go by before the first in which it sends or receives; all, if there is
 * none.
 */
uint32_t morph_collective_rounds_before(const struct morph_collective *collective, uint32_t rank);

#endif /* LM_INTERNAL_COLLECTIVE_H */

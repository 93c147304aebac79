/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of <morph/collective.h> that only the library, its tests and its benches call. */
#ifndef LM_INTERNAL_COLLECTIVE_H
#define LM_INTERNAL_COLLECTIVE_H

#include <morph/plan.h>

/**
 * struct morph_transfer - a transfer from one rank to another in a round
 * @src: rank that sends
 * @dst: rank that receives
 * @bytes: number of bytes; UINT64_MAX: this many or more
 * @reduce: it is added to the present data; if not, it replaces them
 */
struct morph_transfer {
	uint32_t src;
	uint32_t dst;
	uint64_t bytes;
	bool reduce;
};

/**
 * morph_collective_turn() - reverse an all-to-all
 * @collective: the collective; its earlier content is lost
 * @there: an all-to-all: it sums nothing, and each chunk begins and ends at one rank
 *
 * Turns dispatch into combine. Each chunk begins where it ended, rounds come in the reverse order,
 * and each transfer goes from its receiver to its sender.
 *
 * Return: 0, -EINVAL (it is the same collective, sums something, or has a chunk that each rank has
 * or gets), -E2BIG or -ENOMEM. On failure the collective has neither chunks nor rounds.
 */
int morph_collective_turn(struct morph_collective *collective,
			  const struct morph_collective *there);

/**
 * morph_matrix_transpose() - transpose the bytes from each rank to each
 * @matrix: bytes by sender, then receiver; rows and columns change places
 * @ranks: number of ranks
 */
void morph_matrix_transpose(uint64_t *matrix, uint32_t ranks);

/**
 * morph_collective_busy() - count ranks that send or receive
 * @collective: the collective
 *
 * A change waits for these ranks only. O(transfers).
 *
 * Return: the number of ranks.
 */
uint32_t morph_collective_busy(const struct morph_collective *collective);

/**
 * morph_collective_chunks() - read the number of chunks
 * @collective: the collective
 *
 * Return: the number of chunks.
 */
uint32_t morph_collective_chunks(const struct morph_collective *collective);

/**
 * morph_collective_transfer() - read a transfer of a round
 * @collective: the collective
 * @round: the round
 * @number: its number, below morph_collective_transfers()
 * @out: the structure to fill
 *
 * Return: 0 or -ENOENT.
 */
int morph_collective_transfer(const struct morph_collective *collective, uint32_t round,
			      uint32_t number, struct morph_transfer *out);

/**
 * morph_collective_bytes() - read the most bytes that a rank sends or receives in all rounds
 * @collective: the collective
 *
 * Divided by the bandwidth of all ports of a rank, this is a lower bound of the time of the rounds.
 *
 * Return: bytes; UINT64_MAX: this many or more.
 */
uint64_t morph_collective_bytes(const struct morph_collective *collective);

/**
 * morph_collective_ranks() - read the number of ranks
 * @collective: the collective
 *
 * Return: the number of ranks.
 */
uint32_t morph_collective_ranks(const struct morph_collective *collective);

/**
 * morph_collective_rounds() - read the number of rounds
 * @collective: the collective
 *
 * Return: the number of rounds.
 */
uint32_t morph_collective_rounds(const struct morph_collective *collective);

/**
 * morph_collective_rounds_before() - count the rounds that a rank can be late
 * @collective: the collective
 * @rank: the rank
 *
 * Return: the number of rounds before the first one in which it sends or receives; all rounds if
 * there is none.
 */
uint32_t morph_collective_rounds_before(const struct morph_collective *collective, uint32_t rank);

#endif /* LM_INTERNAL_COLLECTIVE_H */

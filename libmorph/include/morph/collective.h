/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libmorph: collectives as rounds. Included by <morph/plan.h>. */
#ifndef MORPH_COLLECTIVE_H
#define MORPH_COLLECTIVE_H

#include <morph/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * DOC: Collectives
 *
 * A collective moves chunks among ranks, in rounds. A chunk begins at one rank, or each rank has a part of its own of
 * it, to be summed; and is to end at one rank, or at each. In a round ranks send chunks to others, all at
 * once: what is sent is what was there before the round. What arrives is summed with what is
 * there, or takes its place.
 *
 *	collective	a chunk begins	and ends
 *	all-reduce	at each rank	at each
 *	reduce-scatter	at each		at one
 *	all-gather	at one		at each
 *	all-to-all	at one		at one
 *	broadcast	at the root	at each
 *
 * morph_collective_build() makes the rounds of a known algorithm, the other calls any. morph_collective_run() carries
 * them out with sets, and reports whether each chunk ends as it should.
 *
 * A collective is used by one thread at a time while it is changed, by any number when it is not.
 */

/**
 * morph_collective_new() - begin a collective, without ranks
 * @ctx: the context, which must outlive it
 *
 * Return: the collective, freed by morph_collective_free(); NULL when out of memory.
 */
struct morph_collective *morph_collective_new(struct morph_ctx *ctx);

/**
 * morph_collective_free() - free a collective
 * @collective: the collective, or NULL
 */
void morph_collective_free(struct morph_collective *collective);

/* ------------------------------------------------------------------ by hand */

/** MORPH_EACH_RANK - where a chunk begins or ends that every rank has or gets */
#define MORPH_EACH_RANK UINT32_MAX

/**
 * morph_collective_begin() - forget what there was, and say how many take part
 * @collective: the collective
 * @ranks: how many
 *
 * Return: 0, -EINVAL (none), -E2BIG (more than 4096) or -ENOMEM.
 */
int morph_collective_begin(struct morph_collective *collective, uint32_t ranks);

/**
 * morph_collective_add_chunk() - something that is to be moved
 * @collective: the collective
 * @begins: the rank that has it, or MORPH_EACH_RANK: each has a part to be summed
 * @ends: the rank that is to have it in the end, or MORPH_EACH_RANK
 * @bytes: its size
 *
 * Return: its number, counted from 0; -ENOENT (no such rank), -E2BIG (more than 2^24 of them, or 2^50
 * bytes) or -ENOMEM.
 */
int morph_collective_add_chunk(struct morph_collective *collective, uint32_t begins, uint32_t ends,
			       uint64_t bytes);

/**
 * morph_collective_add_round() - begin another round
 * @collective: the collective
 *
 * Return: its number, counted from 0; -E2BIG (more than 65536) or -ENOMEM.
 */
int morph_collective_add_round(struct morph_collective *collective);

/**
 * morph_collective_add_transfer() - one more that sends in the round begun last
 * @collective: the collective
 * @src: rank that sends
 * @dst: rank that receives, another one
 * @reduce: what arrives is summed with what is there, else takes its place
 *
 * Return: its number, counted from 0 over all rounds; -ENOENT (no such rank, or no round), -EINVAL (it sends to
 * itself), -E2BIG (more than 2^26) or -ENOMEM.
 */
int morph_collective_add_transfer(struct morph_collective *collective, uint32_t src, uint32_t dst,
				  bool reduce);

/**
 * morph_collective_add_run() - chunks that the transfer begun last sends
 * @collective: the collective
 * @first: number of the first of them
 * @count: how many, with numbers one after the other
 *
 * Return: 0, -ENOENT (no such chunk, or no transfer), -EINVAL (none), -E2BIG (more than 2^28 runs) or -ENOMEM.
 */
int morph_collective_add_run(struct morph_collective *collective, uint32_t first, uint32_t count);

/* ------------------------------------------------------------ by algorithm */

/**
 * enum morph_collective_kind - what is to be done
 * @MORPH_ALL_REDUCE: the sum of all ranks' buffers, for each
 * @MORPH_REDUCE_SCATTER: of the sum, a share for each
 * @MORPH_ALL_GATHER: all ranks' shares, for each
 * @MORPH_ALL_TO_ALL: from each rank something for each other
 * @MORPH_BROADCAST: the root's buffer, for each
 */
enum morph_collective_kind {
	MORPH_ALL_REDUCE = 1,
	MORPH_REDUCE_SCATTER = 2,
	MORPH_ALL_GATHER = 3,
	MORPH_ALL_TO_ALL = 4,
	MORPH_BROADCAST = 5,
};

/**
 * enum morph_algorithm - how it is done
 * @MORPH_RING: each to the next, ranks - 1 rounds for each half; any number of ranks. All but all-to-all and
 *	broadcast
 * @MORPH_RINGS: rings along each dimension, one after the other; all but all-to-all and broadcast
 * @MORPH_HALVING: recursive halving for reduce-scatter, doubling for all-gather, both for all-reduce; partners differ
 *	by one bit of their ranks (Thakur, Rabenseifner and Gropp, IJHPCA 19(1), 2005). Powers of two
 * @MORPH_HALVING_CYCLIC: the same with shifts by powers of two, in one direction. As in the exchange, half
 *	of the buffer goes to the nearest
 * @MORPH_DOUBLING: whole buffers with one who differs by one bit, all-reduce only; powers of two
 * @MORPH_SWING: as halving, but partners swing from side to side (De Sensi et al., NSDI 2024), for powers of two
 * @MORPH_BRUCK: shifts by powers of the radix (Bruck et al., IEEE TPDS 8(11), 1997), a digit in a round: radix - 1
 *	circuits at each rank; all-to-all and all-gather, any number of ranks
 * @MORPH_SHIFT: to the next, to the one after it, and so on: all-to-all, any number of ranks
 * @MORPH_PAIRWISE: with the one whose rank differs by round, in the bits: all-to-all, powers of two; of other
 *	numbers of ranks by the round-robin schedule of tournaments
 * @MORPH_TERNARY: to both sides by powers of three, balanced ternary (arXiv 2605.26930); all-to-all, any number of
 *	ranks
 * @MORPH_DIRECT: all pairs at once, a circuit for each: one round, two for all-reduce; all kinds
 * @MORPH_BINOMIAL: a binomial tree: broadcast
 * @MORPH_BINARY: a binary tree, buffers in segments one after the other, to both children at once: broadcast
 * @MORPH_STRAGGLAR: all-reduce when the last rank is late (arXiv 2505.23523). Without it the others sum, and
 *	scatter the sum among them, on a ring, in as many rounds as morph_collective_info() says.
 *	After these each rank is in one pair in each round, which sends both ways. Up to 256 ranks,
 *	and
 *	powers of two
 * @MORPH_ALGORITHMS: one more than there are
 *
 * morph_enum_name(MORPH_ENUM_ALGORITHM, value) gives the word.
 */
enum morph_algorithm {
	MORPH_RING = 1,
	MORPH_RINGS = 2,
	MORPH_HALVING = 3,
	MORPH_HALVING_CYCLIC = 4,
	MORPH_DOUBLING = 5,
	MORPH_SWING = 6,
	MORPH_BRUCK = 7,
	MORPH_SHIFT = 8,
	MORPH_PAIRWISE = 9,
	MORPH_TERNARY = 10,
	MORPH_DIRECT = 11,
	MORPH_BINOMIAL = 12,
	MORPH_BINARY = 13,
	MORPH_STRAGGLAR = 14,
	MORPH_ALGORITHMS = 15,
};

/**
 * struct morph_collective_opts - what is to be built
 * @sz: sizeof(struct morph_collective_opts)
 * @kind: enum morph_collective_kind
 * @algorithm: enum morph_algorithm
 * @ranks: how many
 * @root: of a broadcast
 * @bytes: the whole buffer: what each rank has before, or after an all-gather; shares are rounded up
 * @radix: of Bruck's algorithm, 2 or more; 0: 2, or what morph_schedule_choose() finds best
 * @segments: of a binary tree, in how many parts the buffer goes; 0: 1, or what morph_schedule_choose() finds best
 * @extent: of MORPH_RINGS: extents of up to three dimensions, whose product is @ranks; rank (k * y + j) * x + i
 *	is at (i, j, k). 0 for 1; all 0: the two above 1 that are most alike, or what morph_schedule_choose() finds best
 * @matrix: of an all-to-all, what each rank has for each: matrix[src * ranks + dst] bytes, instead of @bytes; or
 *	NULL. What a rank has for itself is not moved
 * @late_ns: of an all-reduce that morph_schedule_choose() chooses, how much later than the others the last rank comes, up to 2^40. Who
 *	has another one that is late numbers ranks so that it is the last
 */
struct morph_collective_opts {
	size_t sz;
	uint32_t kind;
	uint32_t algorithm;
	uint32_t ranks;
	uint32_t root;
	uint64_t bytes;
	uint32_t radix;
	uint32_t segments;
	uint32_t extent[3];
	const uint64_t *matrix;
	uint64_t late_ns;
};

/**
 * morph_collective_build() - the rounds of an algorithm
 * @collective: the collective; what was in it is forgotten
 * @opts: which
 *
 * Shares, and what MORPH_HALVING and its like send in a round, are alike for all ranks, since shares are
 * rounded up. The same options always make the same rounds. O(transfers + chunks sent); MORPH_SWING and its
 * like take O(ranks^2 * log(ranks)), and MORPH_STRAGGLAR O(ranks^3) where the number of ranks is no power of
 * two.
 *
 * Return: 0, -EINVAL (the algorithm does not do that, or not with so many ranks; no such root, radix or extents;
 * the text says what), -E2BIG (too much of something, or an option that this library does not know) or
 * -ENOMEM. On failure the collective has neither chunks nor rounds.
 */
int morph_collective_build(struct morph_collective *collective,
			   const struct morph_collective_opts *opts);

/* ---------------------------------------------------- bytes from each to each */

/**
 * enum morph_matrix_role - what a rank does in an all-to-all of unequal parts
 * @MORPH_MATRIX_SENDS: it has something for another
 * @MORPH_MATRIX_RECEIVES: another has something for it
 */
enum morph_matrix_role {
	MORPH_MATRIX_SENDS = 1,
	MORPH_MATRIX_RECEIVES = 2,
};

/**
 * morph_matrix_roles() - find the ranks that take part, and the one that loads the plan
 * @matrix: what each has for each, as in struct morph_collective_opts
 * @ranks: how many
 * @roles: where to put for each rank its enum morph_matrix_role, both added, or 0: it takes no part; or NULL
 * @loader: where to put the rank that loads the plan into the driver, UINT32_MAX where no rank has
 *	anything for another; or NULL
 *
 * No circuit of a plan has an end at a rank that takes no part, so that a barrier before the first circuits needs those only that
 * do: nobody waits for a rank that has nothing. That is so of rounds in which each sends to whom it has something for, as of MORPH_DIRECT; an
 * algorithm that has others pass it on, as Bruck's, has them take part.
 *
 * All ranks derive the same plan and the same @loader from the same matrix. The loader is the rank
 * that takes part and has the least
 * to do, by the larger of what it sends and what it receives. Of several the one with the lowest
 * number.
 *
 * Return: how many take part.
 */
uint32_t morph_matrix_roles(const uint64_t *matrix, uint32_t ranks, uint32_t *roles,
			    uint32_t *loader);

/* ---------------------------------------------------------------- reading */

/**
 * struct morph_collective_fault - where a collective goes wrong first
 * @round: in which round; as many as there are: only after the last, a rank has not what it should
 * @src: who sends there; at the end, the rank
 * @dst: to whom; at the end, the rank
 * @chunk: of which chunk
 */
struct morph_collective_fault {
	uint32_t round;
	uint32_t src;
	uint32_t dst;
	uint32_t chunk;
};

/**
 * morph_collective_run() - check that each chunk ends where and as it should
 * @collective: the collective
 * @fault: where to put the first fault, of the first chunk that does not end so; or NULL. Left
 *	alone unless -EBADMSG is returned
 *
 * Runs the rounds on sets: for each rank and chunk, the ranks whose parts it contains. Verifies
 * these rules:
 *
 *	A rank sends a chunk only if it has a part of it.
 *
 *	No part is summed twice.
 *
 *	A copy replaces only parts that it contains.
 *
 *	If a rank gets a chunk several times in a round, it sums each of them.
 *
 * A chunk that begins at one rank has one part: to sum it into nothing is to copy it.
 *
 * O(chunks sent * ranks / 64), one chunk after the other; it keeps ranks^2 / 4 bytes, and 4 for
 * each chunk sent.
 *
 * Return: 0, -EBADMSG (a chunk does not: the text names round, rank and chunk) or -ENOMEM.
 */
int morph_collective_run(const struct morph_collective *collective,
			 struct morph_collective_fault *fault);

/**
 * struct morph_collective_info - sizes of a collective
 * @sz: size of this structure, set by the caller: MORPH_OPTS()
 * @ranks: number of ranks
 * @rounds: number of rounds
 * @chunks: number of chunks
 * @rounds_before_last: number of rounds before the first in which the last rank sends or receives:
 *	how long it may be late
 * @late_rounds_least: an all-reduce of so many ranks has at least so many rounds once a late rank
 *	is there; 0 of fewer than two ranks. By counting: where the others have summed what is theirs,
 *	each rank is in one pair at most in a round, and sends one of ranks - 1 chunks in it.
 *	MORPH_STRAGGLAR takes as many where ranks are a power of two, and one more at most elsewhere,
 *	of up to 256
 */
struct morph_collective_info {
	size_t sz;
	uint32_t ranks;
	uint32_t rounds;
	uint32_t chunks;
	uint32_t rounds_before_last;
	uint32_t late_rounds_least;
};

/**
 * morph_collective_info() - read the sizes of a collective
 * @collective: the collective
 * @out: where to put them
 *
 * O(transfers of the rounds before the last rank takes part).
 *
 * Return: 0, or -E2BIG (unknown results).
 */
int morph_collective_info(const struct morph_collective *collective,
			  struct morph_collective_info *out);

/**
 * morph_collective_transfers() - count the transfers of a round
 * @collective: the collective
 * @round: the round
 *
 * Return: how many; 0 where there is no such round.
 */
uint32_t morph_collective_transfers(const struct morph_collective *collective, uint32_t round);

#ifdef __cplusplus
}
#endif

#endif /* MORPH_COLLECTIVE_H */

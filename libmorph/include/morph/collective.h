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
 * A collective moves chunks among ranks, in rounds. A chunk begins at one rank; or each rank has a
 * part of it, and the parts are summed. It ends at one rank or at each. In a round, ranks send
 * chunks at the same time, as they were before the round. A received chunk is summed with the
 * present one, or replaces it.
 *
 *	collective	a chunk begins	and ends
 *	all-reduce	at each rank	at each
 *	reduce-scatter	at each		at one
 *	all-gather	at one		at each
 *	all-to-all	at one		at one
 *	broadcast	at the root	at each
 *
 * morph_collective_build() makes the rounds of a known algorithm, the other calls make any.
 * morph_collective_run() executes them with sets, and reports whether each chunk ends as it should.
 *
 * One thread at a time uses a collective while it changes; otherwise any number may read it.
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

/** MORPH_EACH_RANK - every rank has or gets the chunk */
#define MORPH_EACH_RANK UINT32_MAX

/**
 * morph_collective_begin() - start a new collective with a number of ranks
 * @collective: the collective
 * @ranks: number of ranks
 *
 * Return: 0, -EINVAL (none), -E2BIG (more than 4096) or -ENOMEM.
 */
int morph_collective_begin(struct morph_collective *collective, uint32_t ranks);

/**
 * morph_collective_add_chunk() - add a chunk
 * @collective: the collective
 * @begins: the rank that has it, or MORPH_EACH_RANK: each has a part to be summed
 * @ends: the rank at which it ends, or MORPH_EACH_RANK
 * @bytes: its size
 *
 * Return: its number, counted from 0; -ENOENT (no such rank), -E2BIG (more than 2^24 of them, or
 * 2^50 bytes) or -ENOMEM.
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
 * morph_collective_add_transfer() - add a transfer to the last round
 * @collective: the collective
 * @src: rank that sends
 * @dst: rank that receives, another one
 * @reduce: sum the received data with the present data, else replace it
 *
 * Return: its number, counted from 0 over all rounds; -ENOENT (no such rank, or no round), -EINVAL
 * (it sends to itself), -E2BIG (more than 2^26) or -ENOMEM.
 */
int morph_collective_add_transfer(struct morph_collective *collective, uint32_t src, uint32_t dst,
				  bool reduce);

/**
 * morph_collective_add_run() - add chunks to the last transfer
 * @collective: the collective
 * @first: number of the first chunk
 * @count: number of consecutive chunks
 *
 * Return: 0, -ENOENT (no such chunk, or no transfer), -EINVAL (none), -E2BIG (more than 2^28 runs)
 * or -ENOMEM.
 */
int morph_collective_add_run(struct morph_collective *collective, uint32_t first, uint32_t count);

/* ------------------------------------------------------------ by algorithm */

/**
 * enum morph_collective_kind - kinds of collectives
 * @MORPH_ALL_REDUCE: the sum of all ranks' buffers, for each
 * @MORPH_REDUCE_SCATTER: a share of the sum, for each
 * @MORPH_ALL_GATHER: all ranks' shares, for each
 * @MORPH_ALL_TO_ALL: data from each rank for each other
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
 * enum morph_algorithm - algorithms of collectives
 * @MORPH_RING: each to the next, ranks - 1 rounds for each half; any number of ranks. All except
 *	all-to-all and broadcast
 * @MORPH_RINGS: rings along each dimension in turn; all except all-to-all and broadcast
 * @MORPH_HALVING: recursive halving for reduce-scatter, doubling for all-gather, both for
 *	all-reduce. Partners differ by one bit of their ranks (Thakur, Rabenseifner and Gropp,
 *	IJHPCA 19(1), 2005). Powers of two
 * @MORPH_HALVING_CYCLIC: the same with shifts by powers of two in one direction. Half of the buffer
 *	goes to the nearest rank
 * @MORPH_DOUBLING: whole buffers between ranks that differ by one bit; all-reduce, powers of two
 * @MORPH_SWING: as halving, but partners alternate sides (De Sensi et al., NSDI 2024); powers of
 *	two
 * @MORPH_BRUCK: shifts by powers of the radix (Bruck et al., IEEE TPDS 8(11), 1997), one digit per
 *	round: radix - 1 circuits at each rank; all-to-all and all-gather, any number of ranks
 * @MORPH_SHIFT: to the next rank, to the one after it, and so on: all-to-all, any number of ranks
 * @MORPH_PAIRWISE: with the rank that differs by the bits of the round: all-to-all, powers of two.
 *	For other numbers of ranks, the round-robin schedule of tournaments
 * @MORPH_TERNARY: in both directions by powers of three, balanced ternary (arXiv 2605.26930);
 *	all-to-all, any number of ranks
 * @MORPH_DIRECT: all pairs at once, a circuit for each: one round, two for all-reduce; all kinds
 * @MORPH_BINOMIAL: a binomial tree: broadcast
 * @MORPH_BINARY: a binary tree, buffers in consecutive segments, to both children at once:
 *	broadcast
 * @MORPH_STRAGGLAR: all-reduce when the last rank is late (arXiv 2505.23523). The others first sum
 *	their data and scatter the sum on a ring, in the rounds that morph_collective_info()
 *	reports. Then each rank is in one pair in each round, which sends both ways. Up to 256
 *	ranks, and powers of two
 * @MORPH_ALGORITHMS: number of algorithms, plus one
 *
 * morph_enum_name(MORPH_ENUM_ALGORITHM, value) returns the name.
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
 * struct morph_collective_opts - the collective to build
 * @sz: sizeof(struct morph_collective_opts)
 * @kind: enum morph_collective_kind
 * @algorithm: enum morph_algorithm
 * @ranks: number of ranks
 * @root: of a broadcast
 * @bytes: the whole buffer of each rank, before or after an all-gather; shares are rounded up
 * @radix: of Bruck's algorithm, 2 or more; 0: 2, or the best for morph_schedule_choose()
 * @segments: of a binary tree: parts of the buffer; 0: 1, or the best for morph_schedule_choose()
 * @extent: of MORPH_RINGS: extents of up to three dimensions, whose product is @ranks. Rank (k * y
 *	+ j) * x + i is at (i, j, k). 0 means 1. All 0: the two extents above 1 that differ least,
 *	or the best for morph_schedule_choose()
 * @matrix: of an all-to-all: bytes of each pair, matrix[src * ranks + dst], in place of @bytes; or
 *	NULL. The diagonal is ignored
 * @late_ns: of an all-reduce for morph_schedule_choose(): how much later than the others the last
 *	rank comes, up to 2^40. Number the ranks so that the late one is last
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
 * morph_collective_build() - make the rounds of an algorithm
 * @collective: the collective; its content is replaced
 * @opts: the collective to build
 *
 * Shares, and data of MORPH_HALVING and similar algorithms in a round, are equal for all ranks,
 * since shares are rounded up. The same options always make the same rounds. O(transfers + chunks
 * sent). MORPH_SWING and similar ones take O(ranks^2 * log(ranks)), and MORPH_STRAGGLAR O(ranks^3)
 * if the number of ranks is no power of two.
 *
 * Return: 0, -EINVAL (the algorithm does not do this collective or number of ranks; no such root,
 * radix or extents), -E2BIG (a limit is exceeded, or an option is unknown) or -ENOMEM. On failure
 * the collective has neither chunks nor rounds.
 */
int morph_collective_build(struct morph_collective *collective,
			   const struct morph_collective_opts *opts);

/* ---------------------------------------------------- bytes from each to each */

/**
 * enum morph_matrix_role - the part of a rank in an all-to-all of unequal parts
 * @MORPH_MATRIX_SENDS: it has data for another
 * @MORPH_MATRIX_RECEIVES: another has data for it
 */
enum morph_matrix_role {
	MORPH_MATRIX_SENDS = 1,
	MORPH_MATRIX_RECEIVES = 2,
};

/**
 * morph_matrix_roles() - find the ranks that take part, and the one that loads the plan
 * @matrix: bytes of each pair, as in struct morph_collective_opts
 * @ranks: number of ranks
 * @roles: where to put for each rank the sum of its enum morph_matrix_role, or 0: it takes no part;
 *	or NULL
 * @loader: where to put the rank that loads the plan into the driver, UINT32_MAX if there is no
 *	data; or NULL
 *
 * No circuit of a plan ends at a rank that takes no part, so a barrier waits for participants only.
 * This holds for rounds in which each rank sends directly, as in MORPH_DIRECT. In algorithms with
 * intermediate ranks, as Bruck's, these take part.
 *
 * All ranks derive the same plan and the same @loader from the same matrix. The loader is the
 * participant with the least to do: the larger of the bytes that it sends and receives. Of several,
 * it is the one with the lowest number.
 *
 * Return: number of participants.
 */
uint32_t morph_matrix_roles(const uint64_t *matrix, uint32_t ranks, uint32_t *roles,
			    uint32_t *loader);

/* ---------------------------------------------------------------- reading */

/**
 * struct morph_collective_fault - the first fault of a collective
 * @round: its round; the number of rounds if a rank lacks data only at the end
 * @src: the sending rank; at the end, the rank
 * @dst: the receiving rank; at the end, the rank
 * @chunk: the chunk
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
 * @late_rounds_least: lower bound for the rounds of an all-reduce after a late rank has come; 0 for
 *	fewer than two ranks. It follows from counting: the others have summed their data. A rank is
 *	in at most one pair in a round, and sends one of ranks - 1 chunks. MORPH_STRAGGLAR reaches
 *	the bound for powers of two, and needs at most one round more for other numbers up to 256
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
 * Return: the number; 0 if there is no such round.
 */
uint32_t morph_collective_transfers(const struct morph_collective *collective, uint32_t round);

#ifdef __cplusplus
}
#endif

#endif /* MORPH_COLLECTIVE_H */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Data between ranks for a layer of experts. Each rank has an equal share of the experts, and each
 * of its tokens goes to several different experts on any ranks. Data for experts of the own rank is
 * not sent. The popularity of an expert has two parts of equal weight, one common to all ranks and
 * one of the rank. Each falls with the expert's position in a random order, as position^-skew
 * (Zipf): 0 is even, 1/2 mild, 1 strong.
 */
#ifndef LM_BENCH_TOKENS_H
#define LM_BENCH_TOKENS_H

#include <stdint.h>

#define TOKENS_RANKS 64
#define TOKENS_EXPERTS 512

struct tokens {
	uint32_t ranks, experts; /* experts: of all ranks */
	uint32_t tokens; /* of each rank */
	uint32_t chosen; /* experts of each token */
	uint32_t bytes; /* of a token */
	double skew;
};

/*
 * The measured layer: 8 ranks with 8 experts each, 2048 tokens per rank, 8 of 64 experts, rows of
 * 7168 numbers of 2 bytes. With ports of TOKENS_MBPS the fullest is busy for some 2.4 ms.
 */
#define TOKENS_LAYER                                                                       \
	{                                                                                  \
		.ranks = 8, .experts = 64, .tokens = 2048, .chosen = 8, .bytes = 2 * 7168, \
		.skew = 0.5                                                                \
	}
#define TOKENS_MBPS 800000 /* 100 GB/s */
#define TOKENS_CHANGE_PS \
	3700000 /* of switches of Mach-Zehnder interferometers: LUMORPH, arXiv 2501.18169 */

/* matrix[src * ranks + dst] in bytes. Deterministic for a seed. */
void tokens_matrix(const struct tokens *tokens, uint64_t seed, uint64_t *matrix);

#endif /* LM_BENCH_TOKENS_H */

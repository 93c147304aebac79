/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How algorithms write rounds down. */
#ifndef LM_SCHEDULE_ALGORITHMS_H
#define LM_SCHEDULE_ALGORITHMS_H

#include "collective.h"

/*
 * A collective that is written. Its first failure stays, and nothing is written after it, so that
 * who writes need not look. Rounds and transfers without a chunk are left out, and chunks with numbers one
 * after the other become one run.
 */
struct writer {
	struct morph_collective *collective;
	const struct morph_collective_opts *opts;
	int error;
	bool round, transfer; /* begins with the next chunk */
	uint32_t src, dst;
	bool reduce;
	struct chunk_run run; /* not written yet */
};

/* A kind of collectives, in words, as "an all-to-all"; NULL: there is no such kind. */
const char *lm_collective_kind(uint32_t kind);

/* Zeroed, for the caller to free; NULL: after a failure, which is noted. */
void *lm_writer_alloc(struct writer *writer, size_t count, size_t bytes);

void lm_write_chunk(struct writer *writer, uint32_t begins, uint32_t ends, uint64_t bytes);

/* One for each rank, a share of the buffer, as the kind is; but neither for all-to-all nor broadcast. */
void lm_write_shares(struct writer *writer);

void lm_write_round(struct writer *writer);
void lm_write_transfer(struct writer *writer, uint32_t src, uint32_t dst, bool reduce);
void lm_write_run(struct writer *writer, uint32_t first, uint32_t count);

static inline bool scatters(const struct writer *writer)
{
	return writer->opts->kind != MORPH_ALL_GATHER;
}

static inline bool gathers(const struct writer *writer)
{
	return writer->opts->kind != MORPH_REDUCE_SCATTER;
}

static inline uint64_t share_of(uint64_t bytes, uint64_t parts)
{
	return bytes / parts + !!(bytes % parts);
}

/* The torus of so many ranks, of two or three dimensions, whose extents are most alike, each above 1. False: there is none. */
bool lm_even_torus(uint32_t ranks, uint32_t dimensions, uint32_t extent[3]);

/*
 * Each of these writes chunks and rounds of one algorithm or several; morph_collective_build() has looked at
 * what the table there tells of them.
 */
void lm_write_rings(struct writer *writer);
void lm_write_halving(struct writer *writer);
void lm_write_doubling(struct writer *writer);
void lm_write_bruck_gather(struct writer *writer);
void lm_write_shifts(struct writer *writer);
void lm_write_pairwise(struct writer *writer);
void lm_write_direct(struct writer *writer);
void lm_write_binomial(struct writer *writer);
void lm_write_binary(struct writer *writer);
void lm_write_straggler(struct writer *writer);

#endif /* LM_SCHEDULE_ALGORITHMS_H */

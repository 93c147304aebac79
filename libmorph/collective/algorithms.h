/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The interface by which algorithms write rounds. */
#ifndef LM_SCHEDULE_ALGORITHMS_H
#define LM_SCHEDULE_ALGORITHMS_H

#include "collective.h"

/*
 * A collective that is being written. It keeps the first error and ignores later writes, so that
 * writers need not check. It leaves out rounds and transfers without chunks, and joins consecutive
 * chunks into one run.
 */
struct writer {
	struct morph_collective *collective;
	const struct morph_collective_opts *opts;
	int error;
	bool round, transfer; /* starts with the next chunk */
	uint32_t src, dst;
	bool reduce;
	struct chunk_run run; /* not written yet */
};

/* A kind of collectives in words, as "an all-to-all"; NULL: no such kind. */
const char *lm_collective_kind(uint32_t kind);

/* Zeroed memory that the caller frees; NULL, noted, after a failure. */
void *lm_writer_alloc(struct writer *writer, size_t count, size_t bytes);

void lm_write_chunk(struct writer *writer, uint32_t begins, uint32_t ends, uint64_t bytes);

/*
 * Write one chunk for each rank, a share of the buffer, by the kind; not for all-to-all or
 * broadcast.
 */
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

/*
 * The torus of this number of ranks, with two or three dimensions, whose extents differ least, each
 * above 1. False: there is none.
 */
bool lm_even_torus(uint32_t ranks, uint32_t dimensions, uint32_t extent[3]);

/*
 * Each of these writes the chunks and rounds of one algorithm or several. morph_collective_build()
 * has verified the conditions of its table.
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

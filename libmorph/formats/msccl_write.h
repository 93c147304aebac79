/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A collective that becomes a program of MSCCL: its places (msccl_place.c), and its acts and text
 * (msccl_write.c).
 */
#ifndef LM_MSCCL_WRITE_H
#define LM_MSCCL_WRITE_H

#include "formats.h"

#define NONE UINT32_MAX

/* A collective in the form of <morph/wire.h>, parsed. */
struct view {
	uint32_t *words;
	uint32_t ranks, chunks_count, rounds_count, transfers_count, runs_count;
	const uint32_t *chunks, *rounds, *transfers, *runs;
};

enum {
	CHUNK = 4,
	ROUND = 2,
	TRANSFER = 5,
	RUN = 2
}; /* words */

/* The place of a chunk, and its number of file chunks. */
struct spot {
	uint32_t in, out, scratch, units;
};

/* A step of a threadblock on one gpu. */
struct act {
	uint32_t gpu, peer, channel;
	uint32_t round;
	uint32_t first, count; /* chunks, whose places are adjacent on both gpus */
	uint32_t waits_first, waits; /* other acts of the round that it waits for */
	uint32_t gate; /* the gate's step that it waits for, or NONE */
	uint32_t block, step; /* its position in the file */
	bool sends, sums;
};

/* The last act on a chunk. */
struct touch {
	uint32_t gpu, round;
	uint32_t act; /* receiving act, or NONE: it is sent */
};

struct writer {
	const struct why *why;
	struct view view;
	struct spot *spots; /* by chunk */
	const char *coll;
	bool in_place;
	uint32_t in, out, scratch; /* chunks of the file that each gpu has */
	uint32_t channels;
	uint32_t *channel; /* by transfer */
	LIST_OF(struct act) acts;
	LIST_OF(uint32_t) waits; /* acts */
	struct touch *touched; /* by chunk */
	uint32_t *by_block; /* acts, in the order of the file */
	uint32_t *by_round; /* the same, those of each gpu in the order of its gate */
	struct output output;
};

static inline uint32_t lm_msccl_begins(const struct view *view, uint32_t chunk)
{
	return view->chunks[CHUNK * (size_t)chunk];
}

static inline uint32_t lm_msccl_ends(const struct view *view, uint32_t chunk)
{
	return view->chunks[CHUNK * (size_t)chunk + 1];
}

static inline const uint32_t *lm_msccl_transfer(const struct view *view, uint32_t transfer)
{
	return &view->transfers[TRANSFER * (size_t)transfer];
}

/* msccl_place.c: parse the collective. The caller frees writer->view.words. */
int lm_msccl_take_apart(struct writer *writer, const struct morph_collective *collective);
/* Find the place of each chunk and the name of the collective. */
int lm_msccl_place(struct writer *writer);
/* The buffer of a chunk at a rank ('i', 'o' or 's'), and its offset. */
char lm_msccl_buffer(const struct writer *writer, uint32_t chunk, uint32_t rank, uint32_t *offset);

#endif

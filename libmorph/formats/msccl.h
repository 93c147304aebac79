/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Internal structures of MSCCL's XML: a program of threadblocks. */
#ifndef LM_FORMATS_MSCCL_H
#define LM_FORMATS_MSCCL_H

#include "formats.h"

#define NONE UINT32_MAX
#define MOST_GPUS 4096
#define MOST_PLACES (1U << 22) /* of all buffers of all gpus */
#define MOST_MOVES (1U << 22) /* chunks, counted for each step that uses them */

enum buffer {
	INPUT,
	OUTPUT,
	SCRATCH,
	BUFFERS
};

/*
 * Parts of a step: take the received data, or the data at src; sum both; store the result at dst;
 * send it.
 */
enum act {
	RECEIVES = 1,
	SUMS = 2,
	COPIES = 4,
	SENDS = 8,
	READS = 16, /* src */
};

/* As in NCCL's run time: received data is summed with src; re sums src into dst. */
enum step_type {
	STEP_NOP = 0,
	STEP_S = READS | SENDS,
	STEP_R = RECEIVES | COPIES,
	STEP_RCS = RECEIVES | COPIES | SENDS,
	STEP_RRS = RECEIVES | READS | SUMS | SENDS,
	STEP_RRC = RECEIVES | READS | SUMS | COPIES,
	STEP_RRCS = RECEIVES | READS | SUMS | COPIES | SENDS,
	STEP_CPY = READS | COPIES,
	STEP_RE = READS | SUMS | COPIES,
};

struct place {
	uint8_t buffer; /* enum buffer */
	uint32_t offset;
};

struct step {
	uint32_t line, block;
	uint32_t count; /* chunks */
	uint32_t waits_block, waits_step; /* from the file, or NONE */
	uint32_t sender, receiver; /* steps that send to this one, or receive from it; or NONE */
	struct place src, dst;
	uint8_t does; /* enum act */
	bool waited_for; /* hasdep */
};

struct block {
	uint32_t line, gpu;
	uint32_t send, receive, channel; /* gpus, or NONE */
	uint32_t first, count; /* steps */
};

struct gpu {
	uint32_t line, id;
	uint32_t chunks[BUFFERS];
	uint32_t first, count; /* blocks */
};

enum coll {
	ALL_REDUCE,
	ALL_GATHER,
	REDUCE_SCATTER,
	ALL_TO_ALL,
	BROADCAST,
	CUSTOM
};

struct program {
	struct why why;
	uint32_t line; /* of algo */
	enum coll coll;
	bool in_place;
	uint32_t gpus_count, chunks_per_loop; /* 0: not stated */
	LIST_OF(struct gpu) gpus;
	LIST_OF(struct block) blocks;
	LIST_OF(struct step) steps;
	uint32_t *gpu_at; /* by id: index in gpus; NONE: unknown */
};

/* msccl_read.c: parse the text. 0 or a noted error; the caller frees @program in both cases. */
int lm_msccl_parse(struct program *program, const char *text, size_t length);
void lm_msccl_free(struct program *program);

/* msccl_match.c: find the receiving step of each sending step. 0 or a noted error. */
int lm_msccl_match(struct program *program);

/*
 * msccl_follow.c, msccl_chunks.c: follow values from step to step, and make a collective of them. 0
 * or a noted error.
 */
int lm_msccl_follow(const struct program *program, struct morph_collective *collective,
		    uint64_t bytes);

#endif /* LM_FORMATS_MSCCL_H */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The internal form of collectives. */
#ifndef LM_SCHEDULE_COLLECTIVE_H
#define LM_SCHEDULE_COLLECTIVE_H

#include "../util/array.h"
#include "../internal/planner.h"

struct chunk {
	uint32_t begins, ends; /* a rank, or MORPH_EACH_RANK */
	uint64_t bytes;
};

/* Consecutive chunks. */
struct chunk_run {
	uint32_t first, count;
};

struct transfer {
	uint32_t src, dst;
	uint32_t first, count; /* runs */
	uint64_t bytes;
	bool reduce;
};

struct round {
	uint32_t first, count; /* transfers */
};

/* Bytes of a rank in all rounds. */
struct load {
	uint64_t sent, received;
};

struct morph_collective {
	struct morph_ctx *ctx;
	uint32_t ranks;
	struct load *loads; /* of each rank */
	ARRAY_OF(struct chunk) chunks;
	ARRAY_OF(struct round) rounds;
	ARRAY_OF(struct transfer) transfers;
	ARRAY_OF(struct chunk_run) runs;
};

/*
 * List the ranks that send or receive in any round, in order. Return their number. @members has
 * space for all.
 */
uint32_t lm_collective_members(const struct morph_collective *collective, uint32_t *members);

/* A digest of the transfers of the rounds. O(transfers). */
uint64_t lm_collective_digest(const struct morph_collective *collective);

/* Remove everything except the number of ranks. */
void lm_collective_clear(struct morph_collective *collective);

/* Is this number of transfers allowed? Check before adding gigabytes of them. */
int lm_collective_expect(struct morph_collective *collective, uint64_t transfers);

#endif /* LM_SCHEDULE_COLLECTIVE_H */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Collectives inside. */
#ifndef LM_SCHEDULE_COLLECTIVE_H
#define LM_SCHEDULE_COLLECTIVE_H

#include "../util/array.h"
#include "../internal/planner.h"

struct chunk {
	uint32_t begins, ends; /* a rank, or MORPH_EACH_RANK */
	uint64_t bytes;
};

/* Chunks with numbers one after the other. */
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

/* Ranks that send or receive in any round, in order: how many. @members has room for all. */
uint32_t lm_collective_members(const struct morph_collective *collective, uint32_t *members);

/* A number that other transfers, or other rounds of them, don't have, but by chance. O(transfers). */
uint64_t lm_collective_digest(const struct morph_collective *collective);

/* Forget everything but how many ranks there are. */
void lm_collective_clear(struct morph_collective *collective);

/* May there be as many transfers? Who is about to add gigabytes of them asks before. */
int lm_collective_expect(struct morph_collective *collective, uint64_t transfers);

#endif /* LM_SCHEDULE_COLLECTIVE_H */

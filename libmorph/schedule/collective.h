/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Collectives inside. */
#ifndef LM_SCHEDULE_COLLECTIVE_H
#define LM_SCHEDULE_COLLECTIVE_H

#include "../plan/array.h"
#include "../src/internal.h"

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

struct morph_collective {
	struct morph_ctx *ctx;
	uint32_t ranks;
	ARRAY_OF(struct chunk) chunks;
	ARRAY_OF(struct round) rounds;
	ARRAY_OF(struct transfer) transfers;
	ARRAY_OF(struct chunk_run) runs;
};

/*
 * Each of these fills a collective that has been begun with opts->ranks, and returns 0 or what was noted;
 * one for each algorithm, called by morph_collective_build() after it has looked at kind and root.
 */
typedef int collective_builder(struct morph_collective *collective,
			       const struct morph_collective_opts *opts);

#endif /* LM_SCHEDULE_COLLECTIVE_H */

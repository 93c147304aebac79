/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Random schedules that lose some ports. */
#ifndef LM_BENCH_LOSSY_H
#define LM_BENCH_LOSSY_H

#include <morph/plan.h>

#define MOST_LOSSES 4

struct lossy {
	struct morph_collective *collective;
	struct morph_delay *delay;
	struct morph_schedule *schedule;
	struct morph_loss losses[MOST_LOSSES];
	struct morph_replan_opts opts; /* of these */
	uint32_t planes;
};

/* Ranges of the random choice. */
struct lossy_range {
	uint32_t least_ranks, most_ranks;
	uint32_t least_planes, most_planes;
	uint32_t losses; /* at most */
};

/* Draw and plan a schedule. False: the draw has no schedule. The caller frees it in both cases. */
bool lossy_draw(struct morph_ctx *ctx, uint64_t seed, const struct lossy_range *range,
		struct lossy *lossy);
void lossy_free(struct lossy *lossy);

/* Lose one or several ports of a schedule, before it starts or in the middle. */
void lossy_lose(struct lossy *lossy, uint64_t *random, uint32_t most);

#endif /* LM_BENCH_LOSSY_H */

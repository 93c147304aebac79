/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* MSCCL's XML inside: values that are followed, and what becomes of them. */
#ifndef LM_FORMATS_MSCCL_FOLLOW_H
#define LM_FORMATS_MSCCL_FOLLOW_H

#include "msccl.h"

/* Of what something is made; the first is none. */
struct value {
	uint32_t origin; /* one of the inputs in it */
	uint32_t base; /* a value: input, or arrived */
	uint32_t merged; /* arrivals added to the base */
	uint32_t ready; /* the first round in which it can be sent */
	bool arrived; /* it is a base, and no input */
	bool summed; /* it has arrived, and is added to another one */
};

/* Input of a gpu that anything is done with. */
struct origin {
	uint32_t gpu, index;
	uint32_t parent; /* another one that is summed with it, or itself */
	uint32_t chunk; /* of the collective */
	uint32_t line; /* of the first step that reads it; of the gpu where none does */
};

/* Something that a rank gets or sends; @base and @merged of what is sent, @base of what it gets. */
struct event {
	uint32_t rank, origin, round;
	uint32_t base, merged;
	uint32_t line, block; /* of the step, or of the gpu; threadblock that sends */
	uint32_t src;
	bool arrives;
};

struct chunk {
	uint32_t begins, index, parts; /* of how many gpus' input */
	uint32_t line; /* of the first of them */
	uint32_t ends, copies; /* at how many gpus */
	uint32_t last; /* gpu that was counted */
};

/*
 * Rounds in which others can begin. What is sent is read when the round begins, and what arrives is there when it has
 * ended: so who receives need not wait for the next round when it waits for who sends, or who sums too.
 */
struct timing {
	uint32_t next_receive, next_send; /* of the same threadblock */
	uint32_t late_receive, late_send; /* of those that wait for the step */
	uint32_t last; /* in which it sends, or ends */
	uint32_t carried; /* where the values are that it sends */
};

struct follow {
	const struct program *program;
	const struct why *why;
	uint32_t share; /* of an input or output that is cut for the gpus */
	uint32_t inputs, outputs; /* chunks of each gpu; of CUSTOM as the gpu says */
	uint32_t *starts[BUFFERS]; /* by gpu: its places */
	uint32_t *places; /* values */
	uint32_t *carried; /* values */
	struct timing *timing; /* by step */
	uint32_t *order; /* of steps */
	struct edge *edges;
	LIST_OF(struct value) values;
	LIST_OF(struct origin) origins;
	LIST_OF(struct event) events;
	LIST_OF(struct chunk) chunks;
};

static inline uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* ---------------------------------------------------------------- msccl_follow.c */

const struct gpu *lm_follow_gpu_of(const struct follow *follow, uint32_t id);
/* Chunks of a gpu's output. */
uint32_t lm_follow_outputs_of(const struct follow *follow, uint32_t gpu);
/* The input that stands for all that is summed with one. */
uint32_t lm_follow_representative(struct follow *follow, uint32_t origin);
/* What lies at a place; input that is looked at for the first time becomes a value, of that line. A noted failure is negative. */
int64_t lm_follow_read_value(struct follow *follow, uint32_t gpu, uint32_t place, uint32_t line);
int lm_follow_add_event(struct follow *follow, const struct event *event);

/* ---------------------------------------------------------------- msccl_chunks.c */

/* All steps were followed: fill a collective with chunks and transfers. 0, or what was noted. */
int lm_follow_collect(struct follow *follow, struct morph_collective *collective, uint64_t bytes);

#endif /* LM_FORMATS_MSCCL_FOLLOW_H */

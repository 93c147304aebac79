/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Internal structures of MSCCL's XML: followed values, and the resulting collective. */
#ifndef LM_FORMATS_MSCCL_FOLLOW_H
#define LM_FORMATS_MSCCL_FOLLOW_H

#include "msccl.h"

/* The composition of data. The first value is none. */
struct value {
	uint32_t origin; /* one of its inputs */
	uint32_t base; /* a value: an input, or an arrival */
	uint32_t merged; /* arrivals added to the base */
	uint32_t ready; /* the first round in which it can be sent */
	bool arrived; /* it is a base, and no input */
	bool summed; /* it has arrived, and is added to another one */
};

/* An input of a gpu that a step uses. */
struct origin {
	uint32_t gpu, index;
	uint32_t parent; /* another one that is summed with it, or itself */
	uint32_t chunk; /* of the collective */
	uint32_t line; /* of the first step that reads it; else of the gpu */
};

/* A send or an arrival at a rank. A send has @base and @merged; an arrival has @base. */
struct event {
	uint32_t rank, origin, round;
	uint32_t base, merged;
	uint32_t line, block; /* of the step, or of the gpu; sending threadblock */
	uint32_t src;
	bool arrives;
};

struct chunk {
	uint32_t begins, index, parts; /* number of gpus with an input in it */
	uint32_t line; /* of the first of these */
	uint32_t ends, copies; /* number of gpus where it ends */
	uint32_t last; /* last gpu that was counted */
};

/*
 * Rounds in which later steps can begin. A round reads sent data at its begin, and arrived data is
 * present at its end. So a receiver can use the same round as the sender or the summing step that
 * it waits for.
 */
struct timing {
	uint32_t next_receive, next_send; /* of the same threadblock */
	uint32_t late_receive, late_send; /* of the steps that wait for it */
	uint32_t last; /* in which it sends, or ends */
	uint32_t carried; /* position of the values that it sends */
};

struct follow {
	const struct program *program;
	const struct why *why;
	uint32_t share; /* of an input or output that is divided among gpus */
	uint32_t inputs, outputs; /* chunks of each gpu; for CUSTOM as the gpu states */
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
/* Number of chunks of a gpu's output. */
uint32_t lm_follow_outputs_of(const struct follow *follow, uint32_t gpu);
/* The input that represents all inputs summed with this one. */
uint32_t lm_follow_representative(struct follow *follow, uint32_t origin);
/*
 * The value at a place. An input that is read for the first time becomes a value, with this line. A
 * negative result is a noted error.
 */
int64_t lm_follow_read_value(struct follow *follow, uint32_t gpu, uint32_t place, uint32_t line);
int lm_follow_add_event(struct follow *follow, const struct event *event);

/* ---------------------------------------------------------------- msccl_chunks.c */

/* Fill a collective with chunks and transfers after all steps were followed. 0 or a noted error. */
int lm_follow_collect(struct follow *follow, struct morph_collective *collective, uint64_t bytes);

#endif /* LM_FORMATS_MSCCL_FOLLOW_H */

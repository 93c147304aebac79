/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shims inside: plans, what they leave lit, and where they are found. */
#ifndef LM_SCHEDULE_SHIM_H
#define LM_SCHEDULE_SHIM_H

#include <pthread.h>
#include <stdatomic.h>

#include "schedule.h"

#define SHIM_DARK 0 /* the state in which nothing is lit */
#define SHIM_KINDS 5 /* enum morph_collective_kind, from 1 */

/* A circuit that is lit on a plane. */
struct lit {
	uint32_t plane, src, dst;
};

/* Circuits that are lit together, in the order of planes and ranks that send. Each state is kept once. */
struct state {
	struct lit *circuits;
	uint32_t count;
	const struct morph_shim_plan *by; /* leaves it; NULL: SHIM_DARK */
};

struct morph_shim_plan {
	const struct morph_shim *shim;
	uint32_t kind, size; /* size: which bucket */
	uint32_t before, leaves; /* states */
	uint32_t number;
	uint32_t algorithm, radix, segments, extent[3];
	uint64_t bytes, weight; /* weight: memory */
	struct morph_collective *collective;
	struct morph_schedule *schedule; /* not feasible: that is known too */
	struct morph_steps *steps; /* of its light; NULL: nobody asks for ways */
	char *unlit; /* why its light has no ways; NULL: it has some, or nobody asks */
};

/* Plans by question, found without a lock: at most half of the places are ever taken, and none is given up. */
struct table {
	_Atomic(struct morph_shim_plan *) *places;
	uint32_t room; /* a power of two */
};

struct morph_shim {
	/* What does not change. */
	struct morph_shim_opts opts;
	struct morph_lit_opts lit; /* with a ledger: plans are to have ways */
	struct morph_light_opts light;
	uint32_t *accelerators;
	struct morph_delay delay;
	struct costs costs;
	struct table table;
	/* Under the lock: */
	pthread_mutex_t lock;
	struct morph_ctx *ctx; /* knows nobody but notes why something failed */
	struct morph_shim_plan **plans; /* in the order in which they came */
	uint32_t count;
	uint64_t weight;
	bool full; /* a plan was too heavy to be kept beside the others */
	ARRAY_OF(struct state) states;
};

/* The bucket of so many bytes, at least 1 and no more than 2^50, and the size that it ends with. */
uint32_t lm_shim_size(uint32_t parts, uint64_t bytes, uint64_t *ends);
/* The size that a bucket ends with; 0 where there is no such bucket. */
uint64_t lm_shim_ends(uint32_t parts, uint32_t size);

/*
 * A plan for a question, without schedule: NULL, out of memory, noted. lm_shim_finish() reckons what it weighs, and what it
 * leaves lit; nothing is to be added to it any more. 0, or a noted -ENOMEM or -ENOSPC.
 */
struct morph_shim_plan *lm_shim_plan_new(struct morph_shim *shim, uint32_t kind, uint32_t size,
					 uint32_t before);
int lm_shim_finish(struct morph_shim *shim, struct morph_shim_plan *plan);
/* It is a plan to follow: feasible, and with ways where that is asked for. */
bool lm_shim_plan_holds(const struct morph_shim_plan *plan);
void lm_shim_plan_free(struct morph_shim_plan *plan);

/* What the planner asks for. */
struct morph_collective_opts lm_shim_wanted(const struct morph_shim_plan *plan);

/* Forget all plans but the first, and what they left lit; nobody is to have seen the others. */
void lm_shim_cut(struct morph_shim *shim, uint32_t count, uint32_t states);

struct morph_shim_plan *lm_table_find(const struct table *table, uint32_t kind, uint32_t size,
				      uint32_t before);
void lm_table_put(struct table *table, struct morph_shim_plan *plan);

#endif /* LM_SCHEDULE_SHIM_H */

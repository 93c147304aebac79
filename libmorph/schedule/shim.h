/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The internal form of shims: plans, the circuits that they leave lit, and the table. */
#ifndef LM_SCHEDULE_SHIM_H
#define LM_SCHEDULE_SHIM_H

#include <pthread.h>
#include <stdatomic.h>

#include "schedule.h"

#define SHIM_DARK 0 /* the state without lit circuits */
#define SHIM_KINDS 5 /* enum morph_collective_kind, from 1 */

/* A circuit that is lit on a plane. */
struct lit {
	uint32_t plane, src, dst;
};

/*
 * Circuits that are lit together, in the order of planes and sending ranks. Each state is stored
 * once.
 */
struct state {
	struct lit *circuits;
	uint32_t count;
	const struct morph_shim_plan *by; /* the plan that leaves it; NULL: SHIM_DARK */
};

struct morph_shim_plan {
	const struct morph_shim *shim;
	uint32_t kind, size; /* size: which bucket */
	uint32_t before, leaves; /* states */
	uint32_t number;
	uint32_t algorithm, radix, segments, extent[3];
	uint64_t bytes, weight; /* weight: memory */
	struct morph_collective *collective;
	struct morph_schedule *schedule; /* if not feasible, the shim remembers that */
	struct morph_steps *steps; /* steps of its light; NULL: the shim looks for no paths */
	char *unlit; /* why its light has no paths; NULL: it has, or the shim looks for none */
};

/*
 * Plans by question, found without a lock. At most half of the places are used, and none is freed.
 */
struct table {
	_Atomic(struct morph_shim_plan *) *places;
	uint32_t room; /* a power of two */
};

struct morph_shim {
	/* Constant: */
	struct morph_shim_opts opts;
	struct morph_lit_opts lit; /* with a ledger: plans need paths */
	struct morph_light_opts light;
	uint32_t *accelerators;
	struct morph_delay delay;
	struct costs costs;
	struct table table;
	/* Under the lock: */
	pthread_mutex_t lock;
	struct morph_ctx *ctx; /* only notes errors */
	struct morph_shim_plan **plans; /* in the order of arrival */
	uint32_t count;
	uint64_t weight;
	bool full; /* a plan exceeded the limit of bytes */
	ARRAY_OF(struct state) states;
};

/* The bucket of a size from 1 to 2^50, and the largest size of the bucket. */
uint32_t lm_shim_size(uint32_t parts, uint64_t bytes, uint64_t *ends);
/* The largest size of a bucket; 0 if there is no such bucket. */
uint64_t lm_shim_ends(uint32_t parts, uint32_t size);

/*
 * A plan for a question, without schedule: NULL, noted, without memory. lm_shim_finish() computes
 * its weight and the state that it leaves. Nothing may be added to it afterwards. Return 0, or a
 * noted -ENOMEM or -ENOSPC.
 */
struct morph_shim_plan *lm_shim_plan_new(struct morph_shim *shim, uint32_t kind, uint32_t size,
					 uint32_t before);
int lm_shim_finish(struct morph_shim *shim, struct morph_shim_plan *plan);
/* Is the plan usable: feasible, and with paths if the shim looks for them? */
bool lm_shim_plan_holds(const struct morph_shim_plan *plan);
void lm_shim_plan_free(struct morph_shim_plan *plan);

/* The question for the planner. */
struct morph_collective_opts lm_shim_wanted(const struct morph_shim_plan *plan);

/* Remove all plans except the first, and their states. No thread may have seen the others. */
void lm_shim_cut(struct morph_shim *shim, uint32_t count, uint32_t states);

struct morph_shim_plan *lm_table_find(const struct table *table, uint32_t kind, uint32_t size,
				      uint32_t before);
void lm_table_put(struct table *table, struct morph_shim_plan *plan);

#endif /* LM_SCHEDULE_SHIM_H */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of <morph/shim.h> that only the library, its tests and its benches call. */
#ifndef LM_INTERNAL_SHIM_H
#define LM_INTERNAL_SHIM_H

#include <morph/plan.h>

/**
 * morph_shim_bytes() - find the size that is planned for a number of bytes
 * @shim: the shim
 * @bytes: how many
 *
 * Return: the size that the bucket ends with; UINT64_MAX for more than 2^50.
 */
uint64_t morph_shim_bytes(const struct morph_shim *shim, uint64_t bytes);

/**
 * morph_shim_plans() - how many plans there are
 * @shim: the shim
 * @bytes: where to put how much memory they take; or NULL
 *
 * Return: how many, those among them that say that it can't be done.
 */
uint32_t morph_shim_plans(struct morph_shim *shim, uint64_t *bytes);

/**
 * morph_shim_plan_collective() - what is sent in which round
 * @plan: the plan
 *
 * Return: the collective, owned by the shim; it may be read by any number of threads.
 */
const struct morph_collective *morph_shim_plan_collective(const struct morph_shim_plan *plan);

/**
 * morph_shim_plan_steps() - what the driver takes: morph_slice_schedule_load()
 * @plan: the plan
 *
 * Return: steps, owned by the shim, which may be read by any number of threads; NULL where the shim
 * does not know where ranks are.
 */
const struct morph_steps *morph_shim_plan_steps(const struct morph_shim_plan *plan);

/**
 * morph_shim_plan_algorithm() - by which algorithm
 * @plan: the plan
 * @bytes: where to put the size that it is of; or NULL
 *
 * Return: enum morph_algorithm.
 */
uint32_t morph_shim_plan_algorithm(const struct morph_shim_plan *plan, uint64_t *bytes);

/**
 * morph_shim_plan_schedule() - which circuits are held from when to when
 * @plan: the plan
 *
 * Return: the schedule, owned by the shim; it may be read by any number of threads.
 */
const struct morph_schedule *morph_shim_plan_schedule(const struct morph_shim_plan *plan);

/**
 * morph_shim_plan_choice() - read the algorithm of a plan, its parameters and its time
 * @plan: the plan
 * @choice: where to put it
 */
void morph_shim_plan_choice(const struct morph_shim_plan *plan, struct morph_choice *choice);

#endif /* LM_INTERNAL_SHIM_H */

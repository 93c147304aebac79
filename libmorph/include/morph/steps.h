/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libmorph: circuits of a slice step by step. Included by <morph/morph.h>. */
#ifndef MORPH_STEPS_H
#define MORPH_STEPS_H

#include <morph/txn.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * DOC: Steps
 *
 * The driver's form of a schedule: a table of circuits between ranks, and steps. Each step lists
 * its lit circuits and says what begins it. Programs build steps by hand, or from a planned
 * schedule by morph_schedule_light(). morph_slice_schedule_load() loads them. These calls need no
 * kernel.
 *
 *	ping = morph_steps_circuit(steps, 0, 1, NULL);
 *	pong = morph_steps_circuit(steps, 1, 0, NULL);
 *	morph_steps_add(steps, &ping, 1, NULL);
 *	morph_steps_add(steps, &pong, 1, NULL);
 *
 * One thread at a time uses steps.
 */

/**
 * enum morph_step_begin - the begin of a step
 * @MORPH_STEP_CALL: morph_slice_schedule_go(), or MORPH_DEVICE_GO in a queue
 * @MORPH_STEP_BARRIER: all ranks whose circuits change have arrived: morph_slice_schedule_arrive()
 * @MORPH_STEP_TIME: a time after the previous step was lit
 */
enum morph_step_begin {
	MORPH_STEP_CALL = 0,
	MORPH_STEP_BARRIER = 1,
	MORPH_STEP_TIME = 2,
};

/**
 * struct morph_step_opts - the begin of a step
 * @sz: sizeof(struct morph_step_opts)
 * @begin: enum morph_step_begin
 * @after_ns: for MORPH_STEP_TIME: time after the previous step was lit; the driver needs at least
 *	1000, and 100000 if the step changes nothing
 * @deadline_ns: latest time after the previous step was lit; if nothing has begun the step by then,
 *	the schedule stops. 0: no deadline
 */
struct morph_step_opts {
	size_t sz;
	uint32_t begin;
	uint64_t after_ns;
	uint64_t deadline_ns;
};

/**
 * morph_steps_new() - make empty steps
 * @ctx: the context, which must outlive it
 *
 * Return: steps, freed by morph_steps_free(); NULL when out of memory.
 */
struct morph_steps *morph_steps_new(struct morph_ctx *ctx);

/**
 * morph_steps_free() - free steps
 * @steps: the steps, or NULL
 */
void morph_steps_free(struct morph_steps *steps);

/**
 * morph_steps_clear() - remove all circuits and steps
 * @steps: the steps, as new afterwards
 */
void morph_steps_clear(struct morph_steps *steps);

/**
 * morph_steps_circuit() - add a circuit that steps may hold
 * @steps: the steps
 * @src_rank: rank that sends
 * @dst_rank: rank that receives
 * @opts: options, or NULL: the kernel routes it beside the circuits of its steps
 *
 * Return: its number, from 0; -EINVAL (both ranks are the same, an edge, unknown flags, a plane
 * beyond 65534), -E2BIG (unknown options, more than 32768 circuits or 1048576 guides) or -ENOMEM.
 */
int morph_steps_circuit(struct morph_steps *steps, uint32_t src_rank, uint32_t dst_rank,
			const struct morph_circuit_opts *opts);

/**
 * morph_steps_add() - add a step
 * @steps: the steps
 * @circuits: numbers of its circuits
 * @count: number of circuits; 0: it is dark
 * @opts: what begins it, or NULL: a call
 *
 * Return: its number, from 0; -EINVAL (no such circuit, one twice, an unknown begin, a time without
 * MORPH_STEP_TIME), -E2BIG (unknown options, more than 8192 steps or 262144 circuits in all steps)
 * or -ENOMEM.
 */
int morph_steps_add(struct morph_steps *steps, const uint32_t *circuits, size_t count,
		    const struct morph_step_opts *opts);

/**
 * struct morph_steps_opts - options of steps as a whole
 * @sz: size of this structure
 * @profile_checksum: checksum of the fabric's profile that the steps were planned for, see
 *	morph_model_info(); loading fails with ESTALE if it is another one. 0: not stated
 * @loop: the first step follows the last one; what begins the first step then counts
 */
struct morph_steps_opts {
	size_t sz;
	uint32_t profile_checksum;
	bool loop;
};

/**
 * morph_steps_set_opts() - set all options of steps
 * @steps: the steps
 * @opts: options, which replace those set before; NULL: all defaults
 *
 * morph_schedule_light() sets them for what it has planned.
 *
 * Return: 0 or -E2BIG (unknown options). On failure the steps keep their options.
 */
int morph_steps_set_opts(struct morph_steps *steps, const struct morph_steps_opts *opts);

/**
 * morph_steps_set_generation() - set the generation of the slice for which they were planned
 * @steps: the steps
 * @generation: of the slice; loading fails with ESTALE if it has changed. MORPH_GENERATION_ANY:
 *	never
 */
void morph_steps_set_generation(struct morph_steps *steps, uint64_t generation);

/**
 * morph_steps_seal() - keep steps for long, and for several threads
 * @steps: the steps; from now on they are only read and freed, and note no errors
 *
 * Frees the memory for further steps.
 *
 * Return: the bytes that the steps take.
 */
uint64_t morph_steps_seal(struct morph_steps *steps);

/**
 * struct morph_steps_info - steps as a whole
 * @sz: size of this structure, set by the caller: MORPH_OPTS()
 * @generation: generation of the slice that they are for, or MORPH_GENERATION_ANY
 * @profile_checksum: checksum of the profile that they are for, or 0
 * @steps: number of steps
 * @circuits: number of circuits that steps may hold
 * @loop: the first step comes after the last one
 */
struct morph_steps_info {
	size_t sz;
	uint64_t generation;
	uint32_t profile_checksum;
	uint32_t steps;
	uint32_t circuits;
	bool loop;
};

/**
 * morph_steps_info() - read sizes and options of steps
 * @steps: the steps
 * @out: where to put them
 *
 * Return: 0, or -E2BIG (unknown results).
 */
int morph_steps_info(const struct morph_steps *steps, struct morph_steps_info *out);

/**
 * morph_steps_get_circuit() - read a circuit of steps
 * @steps: the steps
 * @number: its number, below @circuits of struct morph_steps_info
 * @src_rank: where to put the rank that sends
 * @dst_rank: where to put the rank that receives
 * @opts: where to put its options, within @opts->sz; guides belong to @steps until one is added. Or
 *	NULL
 *
 * Return: 0 or -ENOENT.
 */
int morph_steps_get_circuit(const struct morph_steps *steps, uint32_t number, uint32_t *src_rank,
			    uint32_t *dst_rank, struct morph_circuit_opts *opts);

/**
 * morph_steps_get() - read a step
 * @steps: the steps
 * @number: its number, below @steps of struct morph_steps_info
 * @circuits: where to put the numbers of its circuits, which belong to @steps until a step is added
 * @count: where to put their number
 * @opts: where to put what begins it, within @opts->sz; or NULL
 *
 * Return: 0 or -ENOENT.
 */
int morph_steps_get(const struct morph_steps *steps, uint32_t number, const uint32_t **circuits,
		    size_t *count, struct morph_step_opts *opts);

#ifdef __cplusplus
}
#endif

#endif /* MORPH_STEPS_H */

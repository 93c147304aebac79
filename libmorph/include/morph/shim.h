/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libmorph: plans for a collective library, by collective and size. Included by <morph/plan.h>. */
#ifndef MORPH_SHIM_H
#define MORPH_SHIM_H

#include <morph/light.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * DOC: Plans for a collective library
 *
 * A *shim* stands between a collective library and the planner of schedules. With each call, the
 * library asks for the best algorithm and circuits for a number of bytes, and cannot wait for the
 * planner. The shim keeps a plan for each (collective, size). The first caller has it planned, or
 * it comes from a file. Later calls look it up in a table.
 *
 *	shim = morph_shim_new(ctx, delay, &opts);
 *	morph_shim_read(shim, file, length);
 *	...
 *	if (!morph_shim_lookup(shim, MORPH_ALL_REDUCE, bytes, before, &plan)) {
 *		morph_shim_plan_info(plan, &info);
 *		run(info.schedule);
 *	}
 *
 * Sizes fall into buckets: they are rounded up to the next power of two, or to one of a few sizes
 * between two of them (@parts). A plan is made for the largest size of its bucket. Smaller sizes
 * can use its rounds and circuits, and its times are upper bounds.
 *
 * The initially lit circuits count too: a plan may continue from those of the plan before. The shim
 * keeps a plan for each (collective, size, lit circuits), and not for each history. An iteration
 * that returns to the same circuits returns to the same plans.
 *
 * A shim that knows the accelerators of the ranks (@lit) returns plans that have paths, with the
 * steps for the driver. Other tenants may hold these resources when the steps are loaded. Then run
 * the collective as without a plan. When the slice gets other accelerators, make another shim.
 *
 * All ranks that ask equal shims the same question get the same plans, whatever they asked before.
 *
 * Any number of threads may look up plans at once. A thread that finds a plan waits for no other.
 * Of the threads that do not, one plans at a time, and so does morph_shim_read(). Plans never
 * change, and end with the shim. Call morph_shim_free() when no thread uses it.
 */

struct morph_shim;
struct morph_shim_plan;

/**
 * struct morph_shim_opts - the questions that a shim answers
 * @sz: sizeof(struct morph_shim_opts)
 * @ranks: number of ranks
 * @planes: ports of each rank; 0: 1
 * @policy: enum morph_policy
 * @root: of broadcasts
 * @budget: search effort for a plan, as in struct morph_schedule_opts
 * @parts: sizes between a power of two and the next, including the next: 1, 2, 4 or 8; 0: 1
 * @profile_checksum: of the fabric's profile, morph_model_info(); files for another one are
 *	rejected. 0: not stated
 * @most_plans: limit of plans, up to 65536; 0: 1024
 * @most_bytes: limit of bytes of all plans; 0: 2^28
 * @late_ns: how much later than the others the last rank comes to an all-reduce, as in struct
 *	morph_collective_opts
 * @lit: where plans need paths; NULL: plans without paths. The accelerators and options are copied.
 *	The ledger must stay unchanged, and without other users, as long as the shim exists
 */
struct morph_shim_opts {
	size_t sz;
	uint32_t ranks;
	uint32_t planes;
	uint32_t policy;
	uint32_t root;
	uint64_t budget;
	uint32_t parts;
	uint32_t profile_checksum;
	uint32_t most_plans;
	uint64_t most_bytes;
	uint64_t late_ns;
	const struct morph_lit_opts *lit;
};

/**
 * morph_shim_new() - make a shim
 * @ctx: where to note errors of this call; it is not kept
 * @delay: durations of rounds and changes; it is copied
 * @opts: the questions
 * @out: the shim, freed by morph_shim_free()
 *
 * Return: 0, -EINVAL, -E2BIG (an unknown option) or -ENOMEM. Causes of -EINVAL: no ranks or more
 * than 4096; more than 64 planes; no such policy, root or parts; more than 65536 plans. Also: no
 * bandwidth; a rank later than 2^40 ns; an error in @opts->lit.
 */
int morph_shim_new(struct morph_ctx *ctx, const struct morph_delay *delay,
		   const struct morph_shim_opts *opts, struct morph_shim **out);

/**
 * morph_shim_free() - free a shim with all its plans
 * @shim: the shim, or NULL; no thread may use it or its plans
 */
void morph_shim_free(struct morph_shim *shim);

/**
 * morph_shim_lookup() - find the plan for a number of bytes
 * @shim: the shim
 * @kind: enum morph_collective_kind
 * @bytes: the whole buffer, as in struct morph_collective_opts
 * @after: the previous plan, whose circuits are lit; NULL: none
 * @out: the plan, owned by @shim
 *
 * Finding an existing plan takes neither memory nor a lock. A missing plan is made by
 * morph_schedule_choose(), with paths if the shim needs them. The shim also remembers that there is
 * none. At its limits, it keeps the existing plans and makes no more.
 *
 * Return: 0, -ENOENT (no feasible schedule with paths), -EINVAL (no such collective, @after is of
 * another shim), -E2BIG (more than 2^50 bytes), -ENOSPC (the limit of plans or bytes), or as
 * morph_schedule_choose(). morph_shim_why() has the message.
 */
int morph_shim_lookup(struct morph_shim *shim, uint32_t kind, uint64_t bytes,
		      const struct morph_shim_plan *after, const struct morph_shim_plan **out);

/**
 * morph_shim_why() - read the message of the last failed call of any thread
 * @shim: the shim
 * @buffer: where to put the sentence
 * @room: its size
 */
void morph_shim_why(struct morph_shim *shim, char *buffer, size_t room);

/* ------------------------------------------------------------------ a plan */

/**
 * struct morph_shim_plan_info - a plan of a shim
 * @sz: size of this structure, set by the caller: MORPH_OPTS()
 * @bytes: the size that it is planned for, the largest of its bucket
 * @schedule: when circuits are held
 * @collective: the rounds
 * @steps: steps for morph_slice_schedule_load(); NULL if the shim does not know the accelerators of
 *	the ranks
 * @choice: the algorithm, its parameters and its duration
 *
 * The shim owns @schedule, @collective and @steps. Any number of threads may read them.
 */
struct morph_shim_plan_info {
	size_t sz;
	uint64_t bytes;
	const struct morph_schedule *schedule;
	const struct morph_collective *collective;
	const struct morph_steps *steps;
	struct morph_choice choice;
};

/**
 * morph_shim_plan_info() - read a plan
 * @plan: the plan
 * @out: where to put its schedule, its rounds and its steps
 *
 * Return: 0, or -E2BIG (unknown results).
 */
int morph_shim_plan_info(const struct morph_shim_plan *plan, struct morph_shim_plan_info *out);

/* ------------------------------------------------------------------ files */

/**
 * morph_shim_write() - write all plans in the format of <morph/wire.h>
 * @shim: the shim
 * @buffer: where to put them; NULL to ask for the size
 * @bytes: its size
 *
 * Questions without a plan are left out. The same plans, made in the same order, give the same
 * bytes.
 *
 * Return: the size in bytes, or -ENOSPC if @bytes is less.
 */
ssize_t morph_shim_write(struct morph_shim *shim, void *buffer, size_t bytes);

/**
 * morph_shim_read() - read written plans
 * @shim: the shim, without plans
 * @data: the written plans
 * @bytes: its size
 *
 * Reads all plans or none. If the shim needs paths, they are searched again, and every plan must
 * have some. The call accepts arbitrary input and verifies that objects exist, times are in order,
 * a port has one circuit at a time, and paths end where they should. It does not verify that a plan
 * moves all data, so read only files of a planner.
 *
 * Return: 0, -ESTALE (other profile, delay, ranks, planes or options, or a plan without paths),
 * -EBADMSG (wrong checksum), -EINVAL (malformed), -EEXIST (there are plans), -ENOSPC (more than the
 * limits) or -ENOMEM. morph_shim_why() has the message.
 */
int morph_shim_read(struct morph_shim *shim, const void *data, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif /* MORPH_SHIM_H */

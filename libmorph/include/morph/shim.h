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
 * What stands between a collective library and the planner of schedules: it asks with each call which algorithm and
 * which circuits are best for so many bytes, and must not wait for the answer. A *shim* keeps a plan for each
 * (collective, size). The first who asks has it planned, or it comes from a file that was written beforehand;
 * from then on it is a look into a table.
 *
 *	shim = morph_shim_new(ctx, delay, &opts);
 *	morph_shim_read(shim, file, length);
 *	...
 *	if (!morph_shim_lookup(shim, MORPH_ALL_REDUCE, bytes, before, &plan)) {
 *		morph_shim_plan_info(plan, &info);
 *		run(info.schedule);
 *	}
 *
 * Sizes fall into buckets: they are rounded up to the next power of two, or to one of a few sizes between two of them
 * (@parts). A plan is of the size that its bucket ends with: for fewer bytes its rounds and circuits are as good as its
 * order, and its times are what they take at most.
 *
 * What circuits are lit before counts too: of two collectives that follow each other the second may be planned
 * after the first. A plan is kept for each (collective, size, what is lit), and not for each history: where an iteration
 * comes round to the same circuits it comes round to the same plans.
 *
 * A shim that knows where the ranks are (@lit) gives plans that have ways there, each with the steps that the driver takes. What others hold
 * of the fabric by then may be in the way of these when they are loaded: then the collective goes on as it would without a plan. Once the
 * slice has other accelerators it is time for another shim.
 *
 * All ranks who ask the same shims for the same come to the same plans, whatever else they asked before: plans depend on the
 * question alone.
 *
 * Any number of threads may look plans up at once. Who finds a plan waits for nobody; of those who do not,
 * one plans at a time. Plans never change, and go with the shim. morph_shim_read() takes its turn too.
 * morph_shim_free() is for when nobody asks any more.
 */

struct morph_shim;
struct morph_shim_plan;

/**
 * struct morph_shim_opts - for whom it plans
 * @sz: sizeof(struct morph_shim_opts)
 * @ranks: how many take part
 * @planes: ports of each rank; 0: 1
 * @policy: enum morph_policy
 * @root: of broadcasts
 * @budget: how long is searched for a plan, as in struct morph_schedule_opts
 * @parts: sizes between a power of two and the next, the next included: 1, 2, 4 or 8; 0: 1
 * @profile_checksum: of the fabric's profile, morph_model_checksum(); a file of another one is not read. 0: not stated
 * @most_plans: how many are kept, up to 65536; 0: 1024
 * @most_bytes: of all plans together; 0: 2^28
 * @late_ns: how much later than the others the last rank comes to an all-reduce, as in struct morph_collective_opts
 * @lit: where plans are to have ways; NULL: nobody asks for ways. Its accelerators and options are copied; its ledger stays as it is, and is used
 *	by nobody else, as long as the shim is there
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
 * morph_shim_new() - begin to keep plans
 * @ctx: where to note why it failed; it is not kept
 * @delay: what rounds and changes take; it is copied
 * @opts: for whom
 * @out: the shim, freed by morph_shim_free()
 *
 * Return: 0, -EINVAL (no ranks or more than 4096, more than 64 planes, no such policy, root or parts, more than 65536 plans,
 * no bandwidth, a rank that is later than 2^40 ns, what is wrong in @opts->lit), -E2BIG (an option that this library does not know) or -ENOMEM.
 */
int morph_shim_new(struct morph_ctx *ctx, const struct morph_delay *delay,
		   const struct morph_shim_opts *opts, struct morph_shim **out);

/**
 * morph_shim_free() - free a shim with all its plans
 * @shim: the shim, or NULL; nobody uses it or its plans
 */
void morph_shim_free(struct morph_shim *shim);

/**
 * morph_shim_lookup() - which plan is for so many bytes?
 * @shim: the shim
 * @kind: enum morph_collective_kind
 * @bytes: the whole buffer, as in struct morph_collective_opts
 * @after: the plan that runs before, whose circuits are lit; NULL: nothing is
 * @out: the plan, owned by @shim
 *
 * A plan that is there takes neither memory nor a lock. One that is not is planned by morph_schedule_choose(), with
 * paths where they are wanted; that it can't be done is kept too. Once there are as many as are kept those stay, and no more are planned.
 *
 * Return: 0, -ENOENT (there is no feasible schedule, or none with ways), -EINVAL (no such collective, @after is of another shim), -E2BIG (more than
 * 2^50 bytes), -ENOSPC (no more plans are kept, or no more bytes of them), or as morph_schedule_choose(). Why, says
 * morph_shim_why().
 */
int morph_shim_lookup(struct morph_shim *shim, uint32_t kind, uint64_t bytes,
		      const struct morph_shim_plan *after, const struct morph_shim_plan **out);

/**
 * morph_shim_why() - why the call that failed last did so, whichever thread's it was
 * @shim: the shim
 * @buffer: where to put the sentence
 * @room: its size
 */
void morph_shim_why(struct morph_shim *shim, char *buffer, size_t room);

/* ------------------------------------------------------------------ a plan */

/**
 * struct morph_shim_plan_info - a plan of a shim
 * @sz: size of this structure, set by the caller: MORPH_OPTS()
 * @bytes: the size of the buffer that it is planned for, the largest of its bucket
 * @schedule: which circuits are held from when to when
 * @collective: what is sent in which round
 * @steps: what the driver takes, see morph_slice_schedule_load(); NULL where the shim does not know
 *	the accelerators of the ranks
 * @choice: the algorithm, its parameters, and the time that it takes
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
 * morph_shim_write() - all plans, in the words of <morph/wire.h>
 * @shim: the shim
 * @buffer: where to; NULL to ask for the size
 * @bytes: its size
 *
 * What can't be done is left out. The same plans, in the order in which they were planned, are the same bytes.
 *
 * Return: the size in bytes, or -ENOSPC when @bytes is less.
 */
ssize_t morph_shim_write(struct morph_shim *shim, void *buffer, size_t bytes);

/**
 * morph_shim_read() - take plans that were written
 * @shim: the shim, without plans
 * @data: what was written
 * @bytes: its size
 *
 * Either all plans are taken or none. Where plans are to have ways these are looked for anew, and all of them are to have some. What is read may be anything: numbers are of things that there are, times are
 * in order, a port is in one circuit at a time, and ways lead where they should. Nothing checks
 * that a plan moves
 * all data: read files only that a planner wrote.
 *
 * Return: 0; -ESTALE (it is of another profile, delay, or number of ranks or planes, or of other options, or a plan has no ways), -EBADMSG (its checksum is
 * wrong), -EINVAL (malformed), -EEXIST (there are plans), -ENOSPC (more than are kept) or -ENOMEM. Why, says
 * morph_shim_why().
 */
int morph_shim_read(struct morph_shim *shim, const void *data, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif /* MORPH_SHIM_H */

// SPDX-License-Identifier: LGPL-2.1-or-later
/* Transactions: the builder, run and step on a slice's file. */
#include "internal.h"

MORPH_API struct morph_txn *morph_txn_new(struct morph_ctx *ctx)
{
	struct morph_txn *txn = calloc(1, sizeof(*txn));

	if (!txn) {
		lm_no_memory(ctx, "begin a transaction");
		return NULL;
	}
	txn->ctx = ctx;
	txn->generation = MORPH_GENERATION_ANY;
	return txn;
}

MORPH_API void morph_txn_truncate(struct morph_txn *txn, size_t count)
{
	while (txn->count > count)
		free((void *)(uintptr_t)txn->changes[--txn->count].guides.ptr);
}

void morph_txn_clear(struct morph_txn *txn)
{
	morph_txn_truncate(txn, 0);
	txn->flags = 0;
	txn->cookie = 0;
	txn->generation = MORPH_GENERATION_ANY;
	txn->lease_ns = 0;
	txn->profile_checksum = 0;
	txn->controller = 0;
	txn->epoch = 0;
}

MORPH_API void morph_txn_free(struct morph_txn *txn)
{
	if (!txn)
		return;
	morph_txn_clear(txn);
	free(txn->changes);
	free(txn);
}

/* Append a change; its number, or a noted failure. */
static int change_add(struct morph_txn *txn, const struct morph_change *change)
{
	if (txn->count == txn->room) {
		uint32_t room = txn->room ? txn->room * 2 : 16;
		struct morph_change *changes = reallocarray(txn->changes, room, sizeof(*changes));

		if (!changes)
			return lm_no_memory(txn->ctx, "add a change");
		txn->changes = changes;
		txn->room = room;
	}
	txn->changes[txn->count] = *change;
	return (int)txn->count++;
}

int lm_circuit_opts_check(struct morph_ctx *ctx, const struct morph_circuit_opts *opts)
{
	if (opts->flags & ~(MORPH_CIRCUIT_SRC_PLANE | MORPH_CIRCUIT_DST_PLANE))
		return lm_fail(ctx, EINVAL, "morph_circuit_opts.flags is 0x%x: an unknown flag",
			       opts->flags);
	if (((opts->flags & MORPH_CIRCUIT_SRC_PLANE) && opts->src_plane >= MORPH_PLANE_ANY) ||
	    ((opts->flags & MORPH_CIRCUIT_DST_PLANE) && opts->dst_plane >= MORPH_PLANE_ANY))
		return lm_fail(ctx, EINVAL, "a plane must be a number below %u", MORPH_PLANE_ANY);
	if (!opts->guides != !opts->guides_count || opts->guides_count > UINT32_MAX)
		return lm_fail(ctx, EINVAL, "morph_circuit_opts.guides: %zu guides at %p",
			       opts->guides_count, (const void *)opts->guides);
	return 0;
}

static int change_add_opts(struct morph_txn *txn, struct morph_change *change,
			   const struct morph_circuit_opts *opts)
{
	struct morph_circuit_opts mine;
	__u32 *guides = NULL;
	int number;

	number = lm_opts_check(txn->ctx, opts, sizeof(mine), "morph_circuit_opts");
	if (number)
		return number;
	lm_opts_copy(&mine, opts, sizeof(mine));
	number = lm_circuit_opts_check(txn->ctx, &mine);
	if (number)
		return number;
	change->src_plane = change->dst_plane = MORPH_PLANE_ANY;
	if (mine.flags & MORPH_CIRCUIT_SRC_PLANE)
		change->src_plane = (__u16)mine.src_plane;
	if (mine.flags & MORPH_CIRCUIT_DST_PLANE)
		change->dst_plane = (__u16)mine.dst_plane;
	change->lanes = mine.lanes;
	change->lanes_count = mine.lanes_count;
	if (mine.guides) {
		guides = reallocarray(NULL, mine.guides_count, sizeof(*guides));
		if (!guides)
			return lm_no_memory(txn->ctx, "add a change");
		memcpy(guides, mine.guides, mine.guides_count * sizeof(*guides));
		change->guides.ptr = (uintptr_t)guides;
		change->guides.count = (__u32)mine.guides_count;
		change->guides.stride = sizeof(*guides);
	}
	number = change_add(txn, change);
	if (number < 0)
		free(guides);
	return number;
}

MORPH_API int morph_txn_add(struct morph_txn *txn, uint32_t src_rank, uint32_t dst_rank,
			    const struct morph_circuit_opts *opts)
{
	struct morph_change change = {
		.op = MORPH_CHANGE_ADD,
		.src_rank = src_rank,
		.dst_rank = dst_rank,
	};

	if (src_rank == dst_rank)
		return lm_fail(txn->ctx, EINVAL, "a circuit from rank %u to itself", src_rank);
	return change_add_opts(txn, &change, opts);
}

MORPH_API int morph_txn_remove(struct morph_txn *txn, uint32_t circuit)
{
	struct morph_change change = { .op = MORPH_CHANGE_REMOVE, .circuit = circuit };

	return change_add(txn, &change);
}

MORPH_API int morph_txn_move(struct morph_txn *txn, uint32_t circuit,
			     const struct morph_circuit_opts *opts)
{
	struct morph_change change = { .op = MORPH_CHANGE_MOVE, .circuit = circuit };

	return change_add_opts(txn, &change, opts);
}

MORPH_API size_t morph_txn_count(const struct morph_txn *txn)
{
	return txn->count;
}

MORPH_API int morph_txn_split(struct morph_txn *txn, struct morph_txn **rest)
{
	uint32_t front = lm_txn_front(txn), back = txn->count - front;
	struct morph_txn *behind;

	*rest = NULL;
	if (!back)
		return 0;
	behind = morph_txn_new(txn->ctx);
	if (!behind)
		return -ENOMEM;
	behind->changes = reallocarray(NULL, back, sizeof(*behind->changes));
	if (!behind->changes) {
		morph_txn_free(behind);
		return lm_no_memory(txn->ctx, "split a transaction");
	}
	memcpy(behind->changes, &txn->changes[front], back * sizeof(*behind->changes));
	behind->count = behind->room = back;
	txn->count = front;
	behind->flags = txn->flags;
	behind->lease_ns = txn->lease_ns;
	behind->profile_checksum = txn->profile_checksum;
	behind->controller = txn->controller;
	behind->epoch = txn->epoch;
	*rest = behind;
	return 0;
}

MORPH_API int morph_txn_set_opts(struct morph_txn *txn, const struct morph_txn_opts *opts)
{
	struct morph_txn_opts mine;
	int error = lm_opts_check(txn->ctx, opts, sizeof(mine), "morph_txn_opts");

	if (error)
		return error;
	lm_opts_copy(&mine, opts, sizeof(mine));
	if (mine.flags & ~(MORPH_TXN_DRY_RUN | MORPH_TXN_EACH))
		return lm_fail(txn->ctx, EINVAL, "morph_txn_opts.flags is 0x%x: an unknown flag",
			       mine.flags);
	if (mine.reserved)
		return lm_fail(txn->ctx, EINVAL, "morph_txn_opts.reserved is not 0");
	txn->flags = mine.flags | (mine.lease_ns ? MORPH_TXN_PREPARE : 0);
	txn->lease_ns = mine.lease_ns;
	txn->controller = mine.controller;
	txn->epoch = mine.epoch;
	txn->profile_checksum = mine.profile_checksum;
	return 0;
}

void morph_txn_set_cookie(struct morph_txn *txn, uint64_t cookie)
{
	txn->cookie = cookie;
}

MORPH_API void morph_txn_set_generation(struct morph_txn *txn, uint64_t generation)
{
	txn->generation = generation;
}

int lm_txn_check(const struct morph_txn *txn)
{
	if (!txn->count)
		return lm_fail(txn->ctx, EINVAL, "the transaction has no changes");
	if (txn->count > LM_MAX_CHANGES)
		return lm_fail(
			txn->ctx, E2BIG,
			"%u changes requested, a transaction has at most %d; call morph_txn_split()",
			txn->count, LM_MAX_CHANGES);
	if (txn->flags & (txn->flags - 1))
		return lm_fail(txn->ctx, EINVAL,
			       "dry run, each and prepare are mutually exclusive");
	return 0;
}

MORPH_API int morph_txn_run(struct morph_slice *slice, const struct morph_txn *txn,
			    struct morph_object **out)
{
	struct morph_change *changes;
	struct morph_txn_run run;
	int error;

	if (out)
		*out = NULL;
	error = lm_txn_check(txn);
	if (error)
		return error;
	/* the kernel writes into the changes, but the builder must not change */
	changes = reallocarray(NULL, txn->count, sizeof(*changes));
	if (!changes)
		return lm_no_memory(slice->ctx, "run a transaction");
	memcpy(changes, txn->changes, txn->count * sizeof(*changes));
	memset(&run, 0, sizeof(run));
	run.head.flags = txn->flags;
	run.changes.ptr = (uintptr_t)changes;
	run.changes.count = txn->count;
	run.changes.stride = sizeof(*changes);
	run.cookie = txn->cookie;
	run.generation = txn->generation;
	run.lease_ns = txn->lease_ns;
	run.profile_checksum = txn->profile_checksum;
	error = lm_ioctl(slice->ctx, slice->fd, MORPH_TXN_RUN, &run, sizeof(run),
			 "change %u circuits of slice %u", txn->count, slice->number);
	run.changes.count = txn->count;
	if (out)
		*out = lm_from_run(&run, slice->fabric, slice->number, error);
	free(changes);
	return error;
}

/* By number; with 0 by cookie. */
static int step_one(struct morph_slice *slice, uint32_t id, uint64_t cookie, uint32_t verb,
		    uint64_t lease_ns, struct morph_object **out)
{
	const char *word = morph_enum_name(MORPH_ENUM_TXN_VERB, verb);
	struct morph_txn_step step;
	int error;

	if (out)
		*out = NULL;
	if (!word)
		return lm_fail(slice->ctx, EINVAL, "unknown transaction verb %u", verb);
	memset(&step, 0, sizeof(step));
	step.txn = id;
	step.cookie = cookie;
	step.verb = verb;
	step.lease_ns = lease_ns;
	error = lm_ioctl(slice->ctx, slice->fd, MORPH_TXN_STEP, &step, sizeof(step),
			 "%s transaction %u", word, id);
	if (out)
		*out = lm_from_step(&step, slice->fabric, slice->number, error);
	return error;
}

MORPH_API int morph_txn_step(struct morph_slice *slice, uint32_t id, uint32_t verb,
			     uint64_t lease_ns, struct morph_object **out)
{
	return step_one(slice, id, 0, verb, lease_ns, out);
}

int morph_txn_step_cookie(struct morph_slice *slice, uint64_t cookie, uint32_t verb,
			  uint64_t lease_ns, struct morph_object **out)
{
	return step_one(slice, 0, cookie, verb, lease_ns, out);
}

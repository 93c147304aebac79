// SPDX-License-Identifier: GPL-2.0-only
/* Commands of the slice file that change circuits. */
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "core/slice/slice.h"
#include "core/txn/txn.h"
#include "ioctl.h"

static int get_path(struct morph_call *call, struct morph_item *item, u32 index)
{
	const struct morph_array *array = &item->change.guides;
	u32 *guides;
	int ret;

	if (!array->ptr && array->count)
		return morph_refuse_field(call, -EINVAL,
					  "changes[%u].guides.ptr is 0, but its count is %u",
					  index, array->count);
	if (!array->ptr)
		return 0;
	if (!array->count || array->count > OPTICS_MAX_HOPS)
		return morph_refuse_field(call, -EINVAL,
					  "changes[%u]: a path has 1 to %u guides, not %u", index,
					  OPTICS_MAX_HOPS, array->count);
	if (array->count <= MORPH_FEW_GUIDES) {
		ret = morph_array_fill_u32(call, array, item->few_guides, "guides");
		item->guides = item->few_guides;
		return ret;
	}
	guides = morph_array_get_u32(call, array, "guides");
	if (IS_ERR(guides))
		return PTR_ERR(guides);
	item->many_guides = guides;
	item->guides = guides;
	return 0;
}

static void __user *change_at(const struct morph_txn_run *args, u32 index)
{
	return u64_to_user_ptr(args->changes.ptr + (u64)args->changes.stride * index);
}

/* A change with the kernel's size needs fewer checks. */
static int copy_change(struct morph_call *call, struct morph_change *change, u32 index)
{
	const struct morph_txn_run *args = &call->txn_run;

	if (args->changes.stride == sizeof(*change))
		return copy_from_user(change, change_at(args, index), sizeof(*change)) ? -EFAULT :
											 0;
	return morph_array_get(call, &args->changes, index, change, sizeof(*change), "changes");
}

static int put_change(const struct morph_txn_run *args, const struct morph_change *change,
		      u32 index)
{
	if (args->changes.stride == sizeof(*change))
		return copy_to_user(change_at(args, index), change, sizeof(*change)) ? -EFAULT : 0;
	return morph_array_put(&args->changes, index, change, 1, sizeof(*change));
}

static int get_change(struct morph_call *call, struct morph_item *item, u32 index)
{
	struct morph_change *change = &item->change;
	int ret;

	ret = copy_change(call, change, index);
	if (!ret)
		ret = morph_check_writable(change_at(&call->txn_run, index), change,
					   min_t(size_t, call->txn_run.changes.stride,
						 sizeof(*change)));
	if (ret)
		return ret;
	change->dark_ns = 0;
	change->status = 0;
	change->reason = MORPH_REASON_NONE;
	change->part = MORPH_PART_NONE;
	change->index = 0;
	return get_path(call, item, index);
}

/* Build the transaction that the call requests, or return an error pointer. */
static struct morph_txn *get_txn(struct morph_call *call)
{
	const struct morph_txn_run *args = &call->txn_run;
	struct morph_txn *txn;
	u32 i;
	int ret = 0;

	txn = morph_txn_alloc(call->file->slice, NULL, NULL, args->changes.count, args->head.flags,
			      GFP_KERNEL_ACCOUNT);
	if (!txn)
		return ERR_PTR(-ENOMEM);
	for (i = 0; i < txn->count && !ret; i++)
		ret = get_change(call, &txn->items[i], i);
	if (ret) {
		morph_txn_put(txn);
		return ERR_PTR(ret);
	}
	txn->cookie = args->cookie;
	txn->generation = args->generation;
	txn->lease_ns = args->lease_ns;
	return txn;
}

static int check_lease(struct morph_call *call, u64 lease_ns, bool may_be_zero)
{
	if (morph_lease_ok(lease_ns) || (!lease_ns && may_be_zero))
		return 0;
	return morph_refuse_field(call, -EINVAL,
				  "lease_ns is %llu, must be %llu to %llu", lease_ns,
				  MORPH_LEAST_LEASE_NS, MORPH_MOST_LEASE_NS);
}

static int check_run(struct morph_call *call)
{
	const struct morph_txn_run *args = &call->txn_run;
	u32 flags = args->head.flags;
	int ret;

	/*
	 * A dry run undoes its staging and holds nothing. So it cannot predict separate changes,
	 * whose later ones depend on the resources left by earlier ones.
	 */
	if (flags & (flags - 1))
		return morph_refuse_field(call, -EINVAL,
					  "MORPH_TXN_DRY_RUN, MORPH_TXN_EACH and MORPH_TXN_PREPARE are mutually exclusive");
	if (!(flags & MORPH_TXN_PREPARE) && args->lease_ns)
		return morph_refuse_field(call, -EINVAL,
					  "lease_ns is only valid with MORPH_TXN_PREPARE");
	ret = check_lease(call, args->lease_ns, !(flags & MORPH_TXN_PREPARE));
	if (ret)
		return ret;
	if (!args->changes.count || args->changes.count > MORPH_MAX_CHANGES)
		return morph_refuse_field(call, -EINVAL,
					  "a transaction has 1 to %u changes, not %u",
					  MORPH_MAX_CHANGES, args->changes.count);
	ret = morph_fabric_check_profile(call->fabric, args->profile_checksum, &call->refusal);
	if (ret)
		return ret;
	return morph_array_check(call, &args->changes, MORPH_ENTRY_LEAST(morph_change, index),
				 "changes");
}

/*
 * Copy the results of each change, also after a failure, and of the transaction. A change that was
 * made stands, even if its results cannot be written any more.
 */
static int answer_run(struct morph_call *call, struct morph_txn *txn, int ret)
{
	struct morph_txn_run *args = &call->txn_run;
	bool numbered = txn->id;
	u32 i;
	int put = 0;

	/* Nobody else can change a transaction without a number: save another wait for the lock. */
	if (numbered)
		morph_fabric_lock(call->fabric);
	args->out_txn = 0;
	if (args->head.flags & MORPH_TXN_PREPARE)
		args->out_txn = txn->repeats ? txn->repeats : txn->id;
	args->out_outcome = txn->outcome;
	args->out_seq = txn->seq;
	args->out_generation = READ_ONCE(call->file->slice->generation);
	args->out_times = txn->session.times;
	if (numbered)
		morph_fabric_unlock(call->fabric);
	if (ret)
		call->refusal = txn->refusal;
	call->stands = !(args->head.flags & MORPH_TXN_DRY_RUN);
	for (i = 0; i < txn->count && !put; i++)
		put = put_change(args, &txn->items[i].change, i);
	return ret || call->stands ? ret : put;
}

int morph_do_txn_run(struct morph_call *call)
{
	struct morph_txn_run *args = &call->txn_run;
	struct morph_txn *txn;
	int ret;

	args->out_txn = 0;
	args->out_outcome = MORPH_OUTCOME_NONE;
	args->out_seq = 0;
	args->out_generation = 0;
	memset(&args->out_times, 0, sizeof(args->out_times));
	ret = check_run(call);
	if (ret)
		return ret;
	txn = get_txn(call);
	if (IS_ERR(txn))
		return PTR_ERR(txn);
	ret = answer_run(call, txn, morph_txn_run(txn));
	morph_txn_put(txn);
	return ret;
}

/* -------------------------------------------------------------------- steps */

static int check_step(struct morph_call *call)
{
	const struct morph_txn_step *args = &call->txn_step;

	if (args->verb < MORPH_TXN_COMMIT || args->verb > MORPH_TXN_VERIFY)
		return morph_refuse_field(call, -EOPNOTSUPP,
					  "verb must be 1 (commit), 2 (confirm), 3 (revert), 4 (query) or 5 (verify), not %u",
					  args->verb);
	if (args->txn && args->cookie)
		return morph_refuse_field(call, -EINVAL,
					  "name the transaction by its number, or by 0 and its cookie");
	if (args->verb == MORPH_TXN_COMMIT || args->verb == MORPH_TXN_VERIFY)
		return check_lease(call, args->lease_ns, true);
	return args->lease_ns ? morph_refuse_field(call, -EINVAL,
						   "lease_ns is only valid with commit and verify")
			      : 0;
}

/* Find the slice's transaction by number or cookie, with a reference. */
static struct morph_txn *find_txn(struct morph_call *call)
{
	struct morph_slice *slice = call->file->slice;
	struct morph_txn *txn;

	morph_fabric_lock(call->fabric);
	if (call->txn_step.txn)
		txn = morph_txn_find(call->fabric, call->txn_step.txn);
	else
		txn = morph_txn_find_cookie(slice, call->txn_step.cookie);
	if (txn && txn->slice_number != slice->number) {
		morph_txn_put(txn);
		txn = NULL;
	}
	morph_fabric_unlock(call->fabric);
	return txn;
}

int morph_do_txn_step(struct morph_call *call)
{
	struct morph_txn_step *args = &call->txn_step;
	struct morph_txn *txn;
	int ret;

	args->out_outcome = MORPH_OUTCOME_NONE;
	args->out_seq = 0;
	args->out_lease_ns = 0;
	memset(&args->out_times, 0, sizeof(args->out_times));
	ret = args->verb == MORPH_TXN_QUERY ? 0 : morph_check_writes(call);
	if (!ret)
		ret = check_step(call);
	if (ret)
		return ret;
	txn = find_txn(call);
	if (!txn && args->cookie)
		return morph_refuse_field(call, -ENOENT,
					  "the slice has no transaction with cookie %llu",
					  args->cookie);
	if (!txn)
		return morph_refuse_field(call, -ENOENT, "the slice has no transaction %u",
					  args->txn);
	args->txn = txn->id;
	call->stands = args->verb != MORPH_TXN_QUERY;
	if (call->stands)
		ret = morph_txn_step(txn, args->verb, args->lease_ns, &call->refusal);
	morph_fabric_lock(call->fabric);
	args->out_outcome = txn->outcome;
	args->out_seq = txn->seq;
	args->out_lease_ns = morph_txn_lease_left(txn);
	args->out_times = txn->session.times;
	morph_fabric_unlock(call->fabric);
	morph_txn_put(txn);
	return ret;
}

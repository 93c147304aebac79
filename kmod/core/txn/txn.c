// SPDX-License-Identifier: GPL-2.0-only
/*
 * Transactions: their lifetime, numbers, and execution. stage.c claims the requested paths, exec.c
 * programs the hardware, lease.c handles prepared transactions.
 */
#include <linux/slab.h>

#include "core/base/base.h"
#include "core/base/trace.h"
#include "core/ledger/ledger.h"
#include "core/txn/txn.h"

const struct morph_txn_kind *morph_txn_kinds[MORPH_TXN_KINDS];

void morph_txn_kind_register(enum morph_txn_kind_id id, const struct morph_txn_kind *kind)
{
	morph_txn_kinds[id] = kind;
}

/* ----------------------------------------------------------------- lifetime */

static struct morph_txn *txn_init(struct morph_txn *txn, struct morph_fabric *fabric, u32 count,
				  gfp_t gfp)
{
	kref_init(&txn->kref);
	INIT_LIST_HEAD(&txn->node);
	txn->fabric = fabric;
	txn->kind = morph_txn_kinds[MORPH_TXN_TENANT];
	txn->gfp = gfp;
	txn->generation = MORPH_GENERATION_ANY;
	txn->refusal.item = MORPH_ANY;
	txn->count = count;
	return txn;
}

struct morph_txn *morph_txn_alloc_bare(struct morph_fabric *fabric, u32 count, gfp_t gfp)
{
	struct morph_txn *txn = kvzalloc(struct_size(txn, items, count), gfp);

	return txn ? txn_init(txn, fabric, count, gfp) : NULL;
}

/*
 * Most transactions change one circuit. A slice keeps the memory of its last such transaction,
 * including the memory for programming, for the next one.
 */
static struct morph_txn *txn_reuse(struct morph_slice *slice)
{
	struct morph_txn *txn = xchg(&slice_txns(slice)->idle_txn, NULL);

	if (txn)
		memset((void *)txn + offsetof(struct morph_txn, kref), 0,
		       struct_size(txn, items, 1) - offsetof(struct morph_txn, kref));
	return txn;
}

static void txn_free(struct morph_txn *txn)
{
	kvfree(txn->reads);
	kvfree(txn);
}

/* Free the memory that a slice kept for its next transaction. The slice has no users any more. */
static void free_idle(struct morph_slice *slice)
{
	if (slice_txns(slice)->idle_txn)
		txn_free(slice_txns(slice)->idle_txn);
}

size_t morph_txn_idle_bytes(void)
{
	return struct_size((struct morph_txn *)NULL, items, 1) +
	       morph_txn_reads_bytes(1, 2 * OPTICS_MAX_HOPS);
}

struct morph_txn *morph_txn_alloc(struct morph_slice *slice, const struct morph_change *changes,
				  u32 **guides, u32 count, u32 flags, gfp_t gfp)
{
	struct morph_txn *txn = count == 1 ? txn_reuse(slice) : NULL;
	u32 i;

	if (!txn)
		txn = kvzalloc(struct_size(txn, items, count), gfp);
	if (!txn)
		return NULL;
	txn_init(txn, slice->fabric, count, gfp);
	kref_get(&slice->kref);
	txn->slice = slice;
	txn->slice_number = slice->number;
	txn->flags = flags;
	for (i = 0; i < count; i++) {
		if (changes)
			txn->items[i].change = changes[i];
		if (!guides)
			continue;
		txn->items[i].many_guides = guides[i];
		txn->items[i].guides = guides[i];
	}
	return txn;
}

static void txn_last_put(struct kref *kref)
{
	struct morph_txn *txn = container_of(kref, struct morph_txn, kref);
	struct morph_slice *slice = txn->slice;
	u32 i;

	for (i = 0; i < txn->count; i++)
		kvfree(txn->items[i].many_guides);
	if (txn->count != 1 || !slice || cmpxchg(&slice_txns(slice)->idle_txn, NULL, txn))
		txn_free(txn);
	if (slice)
		morph_slice_put(slice);
}

struct morph_txn *morph_txn_get(struct morph_txn *txn)
{
	kref_get(&txn->kref);
	return txn;
}

void morph_txn_put(struct morph_txn *txn)
{
	kref_put(&txn->kref, txn_last_put);
}

size_t morph_txn_bytes(const struct morph_txn *txn)
{
	size_t bytes = size_add(struct_size(txn, items, txn->count), txn->reads_bytes);
	u32 i;

	for (i = 0; i < txn->count; i++)
		if (txn->items[i].many_guides)
			bytes += array_size(txn->items[i].change.guides.count, sizeof(u32));
	return bytes;
}

int morph_txn_charge(struct morph_txn *txn, struct morph_user *user,
		     struct morph_refusal *refusal)
{
	size_t bytes = morph_txn_bytes(txn);
	int ret = 0;

	if (refusal)
		ret = morph_user_charge(user, MORPH_RES_BYTES, bytes, refusal);
	else
		morph_user_charge_anyway(user, MORPH_RES_BYTES, bytes);
	if (!ret)
		txn->charged = bytes;
	return ret;
}

void morph_txn_uncharge(struct morph_txn *txn, struct morph_user *user)
{
	morph_user_uncharge(user, MORPH_RES_BYTES, txn->charged);
	txn->charged = 0;
}

struct morph_txn *morph_txn_find(struct morph_fabric *fabric, u32 id)
{
	struct morph_txn *txn;

	lockdep_assert_held(&fabric->lock);
	txn = xa_load(&txns_of(fabric)->txns, id);
	return txn ? morph_txn_get(txn) : NULL;
}

static int take_number(struct morph_txn *txn, u32 *id, gfp_t gfp)
{
	struct morph_txns *txns = txns_of(txn->fabric);

	/* The table's own lock guards txn_next. Until the number is used, it finds nothing. */
	return xa_alloc_cyclic(&txns->txns, id, NULL, XA_LIMIT(1, 0x7fffffff), &txns->txn_next,
			       gfp);
}

int morph_txn_enter(struct morph_txn *txn)
{
	struct morph_fabric *fabric = txn->fabric;
	u32 id;
	int ret;

	lockdep_assert_held(&fabric->lock);
	ret = take_number(txn, &id, MORPH_GFP_LOCKED);
	if (ret == -ENOMEM) {
		morph_fabric_unlock(fabric);
		ret = take_number(txn, &id, GFP_KERNEL);
		morph_fabric_lock(fabric);
	}
	if (ret < 0)
		return ret;
	/* The table has the memory for this entry. */
	xa_store(&txns_of(fabric)->txns, id, txn, MORPH_GFP_LOCKED);
	txn->id = id;
	morph_txn_get(txn);		/* reference of the table */
	return 0;
}

/* Move a numbered transaction to the history, drop its reference to the slice, report the end. */
static void txn_close(struct morph_txn *txn)
{
	if (!txn->id)
		return;
	morph_report_txn_changed(txn);
	morph_history_add(txn);
	if (txn->slice)
		morph_slice_put(txn->slice);
	txn->slice = NULL;
}

/**
 * morph_txn_end() - end a transaction
 * @txn: the transaction; its claims are settled
 * @outcome: enum morph_outcome
 * @status: 0 or a negative errno
 *
 * Counts the outcome and reports the end. A transaction with a number stays in the history,
 * so it drops its reference to the slice.
 *
 * Context: fabric->lock held; the caller holds references to transaction and slice.
 */
void morph_txn_end(struct morph_txn *txn, u32 outcome, int status)
{
	static const u8 stat_of[] = {
		[MORPH_OUTCOME_NONE] = MORPH_STAT_REFUSED,
		[MORPH_OUTCOME_COMMITTED] = MORPH_STAT_COMMITTED,
		[MORPH_OUTCOME_ROLLED_BACK] = MORPH_STAT_ROLLED_BACK,
		[MORPH_OUTCOME_BROKEN] = MORPH_STAT_BROKEN,
		[MORPH_OUTCOME_REVOKED] = MORPH_STAT_REVOKED,
		[MORPH_OUTCOME_EXPIRED] = MORPH_STAT_EXPIRED,
	};

	lockdep_assert_held(&txn->fabric->lock);
	txn->outcome = outcome;
	txn->queued_from = 0;		/* a queued step then does nothing */
	txn->stepping_from = 0;
	txn->status = status;
	/*
	 * Publication has set seq. fabric->seq may be higher now, since the lock may have been
	 * dropped.
	 */
	if (!txn->seq)
		txn->seq = txn->fabric->seq;
	if (outcome < ARRAY_SIZE(stat_of) && !(txn->flags & MORPH_TXN_DRY_RUN))
		morph_stat(txn->fabric, stat_of[outcome]);
	if (!list_empty(&txn->node)) {
		list_del_init(&txn->node);
		morph_txn_uncharge(txn, txn->slice->user);
		morph_user_uncharge(txn->slice->user, MORPH_RES_PREPARED, 1);
		morph_history_keep_record(txn);
		/* A commit has reported the resources that it freed. */
		if (outcome != MORPH_OUTCOME_COMMITTED)
			morph_report_freed(txn->fabric, MORPH_FREED_PATHS);
	}
	trace_morph_txn_end(txn->fabric->id, txn->id, txn->slice_number, outcome, status);
	if (txn->slice && txn->id && !txn->slice->dying)
		morph_report_txn_ended(txn);
	if (txn->slice)
		morph_history_keep_last(txn);
	txn_close(txn);
}

static int created(struct morph_slice *slice, void *by_rank)
{
	INIT_LIST_HEAD(&slice_txns(slice)->txns);
	return 0;
}

static struct morph_slice_waiter waiter = { .created = created, .released = free_idle };

void morph_txn_register(void)
{
	morph_slice_waiter_register(&waiter);
}

/* ---------------------------------------------------------------------- run */

/* Fill the results of each change for the caller. */
static void fill_results(struct morph_txn *txn)
{
	const struct optics_graph *graph = txn->fabric->graph;
	u32 i;

	for (i = 0; i < txn->count; i++) {
		struct morph_item *item = &txn->items[i];

		if (!item->circuit || !item->new)
			continue;
		item->change.circuit = item->circuit->id;
		item->change.src_plane = morph_end_plane(graph, item->new->path.tx);
		item->change.dst_plane = morph_end_plane(graph, item->new->path.rx);
		item->change.lanes = item->new->path.lanes;
	}
}

/* Find the running or last committed transaction with the cookie. */
static struct morph_txn *find_cookie(struct morph_slice *slice, u64 cookie)
{
	struct morph_txn *txn;

	if (!cookie)
		return NULL;
	list_for_each_entry(txn, &slice_txns(slice)->txns, node)
		if (txn->cookie == cookie)
			return txn;
	txn = slice_txns(slice)->last_txn;
	return txn && txn->cookie == cookie ? txn : NULL;
}

struct morph_txn *morph_txn_repeated(struct morph_slice *slice, u64 cookie)
{
	struct morph_txn *txn;

	morph_fabric_lock(slice->fabric);
	txn = find_cookie(slice, cookie);
	if (txn && txn != slice_txns(slice)->last_txn && txn->id)
		morph_txn_get(txn);
	else
		txn = NULL;
	morph_fabric_unlock(slice->fabric);
	return txn;
}

/* Copy the results of a change. The request fields, with user addresses, stay the caller's. */
static void copy_result(struct morph_change *to, const struct morph_change *from)
{
	to->circuit = from->circuit;
	to->src_plane = from->src_plane;
	to->dst_plane = from->dst_plane;
	to->lanes = from->lanes;
	to->dark_ns = from->dark_ns;
	to->status = from->status;
	to->reason = from->reason;
	to->part = from->part;
	to->index = from->index;
}

/*
 * Return whether the request repeats an earlier one; *ret gets the earlier result. Caller holds
 * fabric->lock, and calls again after it has entered the slice, since the earlier one may have been
 * running.
 */
static bool repeated(struct morph_txn *txn, int *ret)
{
	const struct morph_txn *first = find_cookie(txn->slice, txn->cookie);
	u32 i;

	if (!first || first == txn)
		return false;
	*ret = 0;
	if (first->outcome == MORPH_OUTCOME_RUNNING)
		*ret = morph_refuse(&txn->refusal, -EBUSY, MORPH_REASON_STATE, 0, 0,
				    "the transaction with this cookie is under way");
	else if (first->outcome != MORPH_OUTCOME_COMMITTED && txn->id)
		*ret = morph_refuse(&txn->refusal, -EALREADY, MORPH_REASON_STATE, 0, first->id,
				    "transaction %u has this cookie", first->id);
	if (*ret) {
		morph_txn_end(txn, MORPH_OUTCOME_NONE, *ret);
		return true;
	}
	if (first->outcome == MORPH_OUTCOME_COMMITTED) {
		*ret = first->status;
		txn->refusal = first->refusal;
	}
	txn->repeats = first->id;
	txn->outcome = first->outcome;
	txn->status = *ret;
	txn->seq = first->seq;
	txn->session.times = first->session.times;
	for (i = 0; i < min(txn->count, first->count); i++)
		copy_result(&txn->items[i].change, &first->items[i].change);
	txn_close(txn);
	return true;
}

/* Publish the circuits that a prepared transaction would add, with the paths that it holds. */
static void show_prepared(struct morph_txn *txn)
{
	u32 i;

	for (i = 0; i < txn->count; i++) {
		struct morph_item *item = &txn->items[i];

		if (item->change.op != MORPH_CHANGE_ADD)
			continue;
		item->circuit->state = MORPH_CIRCUIT_PREPARED;
		item->circuit->route = item->new;
	}
}

static int prepare(struct morph_txn *txn)
{
	int ret;

	ret = morph_user_charge(txn->slice->user, MORPH_RES_PREPARED, 1, &txn->refusal);
	if (ret)
		goto err_unstage;
	ret = morph_txn_charge(txn, txn->slice->user, &txn->refusal);
	if (ret)
		goto err_uncharge_prepared;
	if (!txn->id) {
		ret = morph_txn_enter(txn);
		if (ret)
			goto err_uncharge_bytes;
	}
	morph_lease_init(txn);
	list_add_tail(&txn->node, &slice_txns(txn->slice)->txns);
	txn->outcome = MORPH_OUTCOME_PREPARED;
	show_prepared(txn);
	morph_lease_start(txn, txn->lease_ns);
	morph_report_txn_changed(txn);
	return 0;

err_uncharge_bytes:
	morph_txn_uncharge(txn, txn->slice->user);
err_uncharge_prepared:
	morph_user_uncharge(txn->slice->user, MORPH_RES_PREPARED, 1);
err_unstage:
	morph_txn_unstage_in_parts(txn);
	return ret;
}

/* A transaction fails as a whole: no change may look as if it had been made. */
static void fail_changes(struct morph_txn *txn, int error)
{
	u32 i;

	for (i = 0; i < txn->count; i++)
		if (!txn->items[i].change.status)
			txn->items[i].change.status = txn->count == 1 ? error : -ECANCELED;
}

/*
 * Run a staged transaction as far as its flags say. The caller has entered the slice and holds
 * fabric->lock.
 */
static int run_staged(struct morph_txn *txn)
{
	fill_results(txn);
	txn->outcome = MORPH_OUTCOME_NONE;
	if (txn->flags & MORPH_TXN_DRY_RUN) {
		morph_txn_unstage_in_parts(txn);
		return 0;
	}
	if (txn->flags & MORPH_TXN_PREPARE)
		return prepare(txn);
	return morph_exec_commit(txn, false);
}

/* The caller has entered the slice and holds fabric->lock. */
static int run_entered(struct morph_txn *txn)
{
	u64 begin = ktime_get_ns();
	int ret;

	ret = morph_txn_plan_and_stage(txn);
	txn->session.times.phase_ns[MORPH_PHASE_PLAN] = ktime_get_ns() - begin;
	if (ret)
		txn->outcome = MORPH_OUTCOME_NONE;
	else
		ret = run_staged(txn);
	if (ret)
		fail_changes(txn, ret);
	if (txn->outcome != MORPH_OUTCOME_PREPARED)
		morph_txn_end(txn, txn->outcome, ret);
	return ret;
}

static int refuse_slice(int ret, struct morph_refusal *refusal)
{
	if (ret == -EAGAIN)
		return morph_refuse(refusal, ret, MORPH_REASON_STATE, 0, 0,
				    "the slice is being repaired; try again");
	if (ret == -ENODEV)
		return morph_refuse(refusal, ret, MORPH_REASON_STATE, 0, 0,
				    "the slice or its fabric is gone");
	return ret;
}

int morph_txn_enter_slice(struct morph_txn *txn, struct morph_refusal *refusal)
{
	return refuse_slice(morph_slice_enter(txn->slice, false), refusal);
}

int morph_txn_check_slice(struct morph_slice *slice, struct morph_refusal *refusal)
{
	return refuse_slice(morph_slice_check(slice), refusal);
}

static int run_one(struct morph_txn *txn)
{
	struct morph_slice *slice = txn->slice;
	struct morph_fabric *fabric = txn->fabric;
	int ret;

	morph_fabric_lock(fabric);
	if (repeated(txn, &ret))
		goto out;
	ret = morph_txn_enter_slice(txn, &txn->refusal);
	if (ret) {
		morph_txn_end(txn, MORPH_OUTCOME_NONE, ret);
		goto out;
	}
	if (!repeated(txn, &ret))
		ret = run_entered(txn);
	morph_slice_leave(slice);
out:
	morph_fabric_unlock(fabric);
	return ret;
}

/*
 * Run one of several changes as a separate transaction. Return its status. *outcome stays unchanged
 * if the change was not run.
 */
static int run_item(struct morph_txn *txn, u32 index, u32 *outcome)
{
	struct morph_item *item = &txn->items[index];
	struct morph_txn *one;
	int ret;

	one = morph_txn_alloc(txn->slice, &item->change, NULL, 1, txn->flags & ~MORPH_TXN_EACH,
			      GFP_KERNEL_ACCOUNT);
	if (!one) {
		item->change.status = -ENOMEM;
		return -ENOMEM;
	}
	one->items[0].guides = item->guides;	/* item->guides keeps the ownership */
	one->generation = txn->generation;
	one->token = txn->token;
	ret = run_one(one);
	item->change = one->items[0].change;
	item->change.status = ret;
	if (!ret)
		*outcome = one->outcome;
	else if (!txn->refusal.error)
		txn->refusal = one->refusal;
	txn->seq = one->seq;
	morph_txn_put(one);
	return ret;
}

/* Begin to run change by change, and publish the transaction for repeated requests. */
static bool each_repeated(struct morph_txn *txn, int *ret)
{
	bool yes;

	morph_fabric_lock(txn->fabric);
	yes = repeated(txn, ret);
	if (!yes) {
		txn->outcome = MORPH_OUTCOME_RUNNING;
		if (txn->cookie)
			list_add_tail(&txn->node, &slice_txns(txn->slice)->txns);
	}
	morph_fabric_unlock(txn->fabric);
	return yes;
}

static void each_end(struct morph_txn *txn, u32 outcome, int status)
{
	morph_fabric_lock(txn->fabric);
	list_del_init(&txn->node);
	morph_slice_serve_waiters(txn->slice);
	if (txn->id) {
		morph_txn_end(txn, outcome, status);
	} else {
		txn->outcome = outcome;
		txn->status = status;
		morph_history_keep_last(txn);
	}
	morph_fabric_unlock(txn->fabric);
}

/* Run each change separately. The transaction gets the first error, each change its own status. */
static int run_each(struct morph_txn *txn)
{
	u32 outcome = MORPH_OUTCOME_NONE, i;
	int first = 0, ret;

	if (each_repeated(txn, &ret))
		return ret;
	for (i = 0; i < txn->count; i++) {
		ret = run_item(txn, i, &outcome);
		if (!ret || first)
			continue;
		first = ret;
		txn->refusal.item = i;
	}
	each_end(txn, outcome, first);
	return first;
}

int morph_txn_run(struct morph_txn *txn)
{
	struct morph_slice *slice = txn->slice;
	int ret;

	/* The end of a numbered transaction drops its slice reference; the caller needs its own. */
	kref_get(&slice->kref);
	ret = txn->flags & MORPH_TXN_EACH ? run_each(txn) : run_one(txn);
	morph_slice_put(slice);
	return ret;
}

static void txn_run_work(struct work_struct *work)
{
	struct morph_txn *txn = container_of(work, struct morph_txn, run_work);
	struct morph_fabric *fabric = txn->fabric;

	morph_txn_run(txn);
	morph_txn_put(txn);
	put_device(&fabric->dev);
}

int morph_txn_launch(struct morph_txn *txn, work_func_t run, u32 *id)
{
	struct morph_fabric *fabric = txn->fabric;
	int ret;

	morph_fabric_lock(fabric);
	ret = morph_txn_enter(txn);
	if (!ret)
		ret = morph_fabric_check(fabric);
	if (!ret) {
		txn->outcome = MORPH_OUTCOME_RUNNING;
		*id = txn->id;
	} else if (txn->id) {
		xa_erase(&txns_of(fabric)->txns, txn->id);
		txn->id = 0;
		morph_txn_put(txn);
	}
	morph_fabric_unlock(fabric);
	if (ret)
		return ret;
	get_device(&fabric->dev);
	morph_txn_get(txn);
	INIT_WORK(&txn->run_work, run);
	queue_work(morph_act_wq, &txn->run_work);
	return 0;
}

int morph_txn_queue(struct morph_txn *txn)
{
	u32 id;

	return morph_txn_launch(txn, txn_run_work, &id);
}


// SPDX-License-Identifier: GPL-2.0-only
/*
 * Transactions in two phases. A transaction is prepared, then committed and confirmed, under a
 * lease on CLOCK_BOOTTIME. Its owner or the end of the lease reverts it.
 */
#include <linux/slab.h>

#include "core/base/base.h"
#include "core/base/trace.h"
#include "core/ledger/ledger.h"
#include "core/txn/txn.h"

/* Restart the timer with the expiry time that the lease already has. */
static void lease_resume(struct morph_txn *txn)
{
	/* References of the timer; lease_work_fn() or lease_stop() drops them. */
	morph_txn_get(txn);
	get_device(&txn->fabric->dev);
	txn->lease_user = morph_user_ref(txn->slice->user);
	hrtimer_start(&txn->lease_timer, ns_to_ktime(txn->lease_until_ns), HRTIMER_MODE_ABS);
}

void morph_lease_start(struct morph_txn *txn, u64 lease_ns)
{
	txn->lease_ns = lease_ns;
	txn->lease_until_ns = ktime_get_boottime_ns() + lease_ns;
	trace_morph_txn_lease(txn->fabric->id, txn->id, txn->slice_number, txn->outcome, lease_ns);
	lease_resume(txn);
}

static void drop_timer_references(struct morph_txn *txn)
{
	struct morph_fabric *fabric = txn->fabric;

	morph_user_put(txn->lease_user);
	morph_txn_put(txn);
	put_device(&fabric->dev);
}

/*
 * Stop the timer and cancel work that it has queued. Work that already runs waits for fabric->lock,
 * checks the lease again, and drops its own reference. So no work is queued when the next lease
 * begins, and the work runs once for each expiry of a timer.
 */
static void lease_stop(struct morph_txn *txn)
{
	if (!hrtimer_cancel(&txn->lease_timer) &&
	    !morph_turn_cancel(&txn->lease_turn, txn->lease_user))
		return;
	drop_timer_references(txn);
}

/* Restore the outcome that the transaction had before a step was queued. */
static bool unqueue(struct morph_txn *txn)
{
	if (!txn->queued_from)
		return false;
	txn->outcome = txn->queued_from;
	txn->queued_from = 0;
	return true;
}

static bool lease_is_over(const struct morph_txn *txn)
{
	return txn->lease_until_ns <= ktime_get_boottime_ns();
}

u64 morph_txn_lease_left(struct morph_txn *txn)
{
	u64 now = ktime_get_boottime_ns();

	if (txn->outcome != MORPH_OUTCOME_PREPARED && txn->outcome != MORPH_OUTCOME_UNCONFIRMED)
		return 0;
	return txn->lease_until_ns > now ? txn->lease_until_ns - now : 0;
}

/*
 * Return whether the step was already taken. Its caller names the transaction, and may have missed
 * the answer. Caller holds fabric->lock.
 */
static bool step_repeated(const struct morph_txn *txn, u32 verb)
{
	if (!txn->cookie || !(txn->flags & MORPH_TXN_PREPARE))
		return false;
	switch (verb) {
	case MORPH_TXN_COMMIT:
		return txn->outcome == MORPH_OUTCOME_UNCONFIRMED;
	case MORPH_TXN_CONFIRM:
		return txn->outcome == MORPH_OUTCOME_COMMITTED;
	case MORPH_TXN_REVERT:
		return txn->outcome == MORPH_OUTCOME_ROLLED_BACK && !txn->status;
	}
	return false;
}

/* Return why a step is not possible now, or 0. Caller holds fabric->lock. */
static int step_check(struct morph_txn *txn, u32 verb, struct morph_refusal *refusal)
{
	switch (txn->outcome) {
	case MORPH_OUTCOME_REVOKED:
		return morph_refuse(refusal, -ECANCELED, MORPH_REASON_STATE, 0, 0,
				    "failover has taken the prepared resources of this transaction");
	case MORPH_OUTCOME_EXPIRED:
		return morph_refuse(refusal, -ETIME, MORPH_REASON_STATE, 0, 0,
				    "the lease has run out");
	case MORPH_OUTCOME_RUNNING:
		return morph_refuse(refusal, -EBUSY, MORPH_REASON_STATE, 0, 0,
				    "another commit, confirm or revert of this transaction is under way");
	case MORPH_OUTCOME_PREPARED:
		if (verb != MORPH_TXN_CONFIRM && verb != MORPH_TXN_VERIFY)
			return 0;
		return morph_refuse(refusal, -EINVAL, MORPH_REASON_STATE, 0, 0,
				    "commit the transaction before verify or confirm");
	case MORPH_OUTCOME_UNCONFIRMED:
		if (verb != MORPH_TXN_COMMIT)
			return 0;
		return morph_refuse(refusal, -EINVAL, MORPH_REASON_STATE, 0, 0,
				    "the transaction is committed; confirm or revert it");
	}
	return morph_refuse(refusal, -EINVAL, MORPH_REASON_STATE, 0, 0,
			    "the transaction has ended");
}

/* Drop the refusal of an earlier step, which does not apply to this step. */
static void forget_refusal(struct morph_txn *txn)
{
	txn->refusal = (struct morph_refusal){ .item = MORPH_ANY };
	txn->status = 0;
}

/* The caller has entered the slice. */
static void end_prepared(struct morph_txn *txn, u32 outcome, int status)
{
	/* RUNNING keeps other steps from being queued while the lock is dropped. */
	txn->outcome = MORPH_OUTCOME_RUNNING;
	morph_txn_unstage_in_parts(txn);
	morph_txn_end(txn, outcome, status);
}

/*
 * Verify the light of a committed transaction, and confirm it if @verb says so; otherwise its lease
 * continues.
 */
static int verify_or_confirm(struct morph_txn *txn, u32 verb, u64 lease_ns)
{
	int ret = 0;

	if (!txn->verified || verb == MORPH_TXN_VERIFY)
		ret = morph_exec_verify(txn);
	txn->stepping_from = 0;
	if (ret) {
		lease_resume(txn);
		return ret;
	}
	if (verb == MORPH_TXN_CONFIRM) {
		morph_exec_confirm(txn);
		morph_txn_end(txn, MORPH_OUTCOME_COMMITTED, 0);
		return 0;
	}
	txn->verified = true;
	morph_lease_start(txn, lease_ns ? lease_ns : txn->lease_ns);
	morph_report_txn_changed(txn);
	return 0;
}

/* Take the step. The caller has entered the slice and holds fabric->lock. */
static int step_entered(struct morph_txn *txn, u32 verb, u64 lease_ns)
{
	int ret = 0;

	lease_stop(txn);
	forget_refusal(txn);
	if (verb == MORPH_TXN_COMMIT) {
		ret = morph_exec_commit(txn, true);
		if (ret) {
			morph_txn_end(txn, txn->outcome, ret);
			return ret;
		}
		txn->outcome = MORPH_OUTCOME_UNCONFIRMED;
		morph_lease_start(txn, lease_ns ? lease_ns : txn->lease_ns);
		morph_report_txn_changed(txn);
	} else if (verb == MORPH_TXN_CONFIRM || verb == MORPH_TXN_VERIFY) {
		ret = verify_or_confirm(txn, verb, lease_ns);
	} else if (txn->outcome == MORPH_OUTCOME_PREPARED) {
		end_prepared(txn, MORPH_OUTCOME_ROLLED_BACK, 0);
	} else {
		ret = morph_exec_revert(txn);
		morph_txn_end(txn, txn->outcome, ret);
	}
	return ret;
}

/*
 * Return whether all light is still on, which shows that the peers have kept the configuration: a
 * peer that reverts switches its lasers off. The caller has entered the slice.
 */
static bool light_witnesses(struct morph_txn *txn)
{
	bool comes_in = false;
	u32 i;

	for (i = 0; i < txn->count; i++)
		comes_in |= txn->items[i].new &&
			    morph_route_comes_in(txn->fabric, txn->items[i].new);
	return txn->verified && comes_in && !morph_exec_verify(txn);
}

/*
 * Return to the old configuration after the lease has expired. A queued step does nothing
 * afterwards: it might be refused, and no timer would be left. A transaction that has ended keeps
 * its status and its refusal. The caller has entered the slice.
 */
static void expire(struct morph_txn *txn)
{
	int ret;

	unqueue(txn);
	if (txn->outcome != MORPH_OUTCOME_PREPARED && txn->outcome != MORPH_OUTCOME_UNCONFIRMED)
		return;
	forget_refusal(txn);
	if (txn->outcome == MORPH_OUTCOME_PREPARED) {
		end_prepared(txn, MORPH_OUTCOME_EXPIRED, -ETIME);
		return;
	}
	/* RUNNING keeps other steps from being queued while the device works. */
	txn->outcome = MORPH_OUTCOME_RUNNING;
	if (light_witnesses(txn)) {
		morph_exec_confirm(txn);
		morph_txn_end(txn, MORPH_OUTCOME_COMMITTED, 0);
	} else {
		ret = morph_exec_revert(txn);
		morph_txn_end(txn, ret ? txn->outcome : MORPH_OUTCOME_EXPIRED, ret ? ret : -ETIME);
	}
}

/* Return whether the token permits the step. Caller holds fabric->lock. */
static int permits(struct morph_txn *txn, const struct morph_token *token,
		   struct morph_refusal *refusal)
{
	const struct morph_txn_kind *kind = txn->kind;

	return kind->permits ? kind->permits(txn->slice, token, refusal) : 0;
}

/* Enter the slice and take the step. Caller holds fabric->lock; the function drops it meanwhile. */
static int step_locked(struct morph_txn *txn, u32 verb, u64 lease_ns,
		       const struct morph_token *token, struct morph_refusal *refusal)
{
	struct morph_slice *slice = txn->slice;
	int ret;

	if (step_repeated(txn, verb))
		return 0;
	ret = step_check(txn, verb, refusal);
	if (ret)
		return ret;
	kref_get(&slice->kref);
	ret = morph_txn_enter_slice(txn, refusal);
	if (ret)
		goto out_put;
	/* morph_slice_enter() may have dropped the lock: check again. */
	if (step_repeated(txn, verb))
		goto out_leave;
	ret = step_check(txn, verb, refusal);
	if (!ret)
		ret = permits(txn, token, refusal);
	if (!ret && !morph_txn_lease_left(txn)) {
		lease_stop(txn);
		expire(txn);
		ret = step_repeated(txn, verb) ? 0 : step_check(txn, verb, refusal);
	} else if (!ret) {
		ret = step_entered(txn, verb, lease_ns);
	}
	if (ret && txn->refusal.error && !refusal->error)
		*refusal = txn->refusal;
out_leave:
	morph_slice_leave(slice);
out_put:
	morph_slice_put(slice);
	return ret;
}

int morph_txn_step(struct morph_txn *txn, u32 verb, u64 lease_ns, struct morph_refusal *refusal)
{
	static const struct morph_token token;	/* the owner needs no token */
	struct morph_fabric *fabric = txn->fabric;
	int ret;

	morph_fabric_lock(fabric);
	ret = step_locked(txn, verb, lease_ns, &token, refusal);
	morph_fabric_unlock(fabric);
	return ret;
}

/* A step that a netlink request has queued. */
struct queued_step {
	struct work_struct work;
	struct morph_fabric *fabric;
	struct morph_txn *txn;
	u32 verb;
	u64 lease_ns;
	struct morph_token token;
};

static void step_work(struct work_struct *work)
{
	struct queued_step *step = container_of(work, struct queued_step, work);
	struct morph_refusal refusal = {};
	int ret;

	morph_fabric_lock(step->fabric);
	if (!unqueue(step->txn))
		goto out;		/* it has been revoked or has expired meanwhile */
	step->txn->stepping_from = step->txn->outcome;
	ret = step_locked(step->txn, step->verb, step->lease_ns, &step->token, &refusal);
	step->txn->stepping_from = 0;
	/* If the step fails, the transaction keeps its state. Report the reason. */
	if (ret && morph_txn_lease_left(step->txn)) {
		step->txn->status = ret;
		step->txn->refusal = refusal;
		morph_report_txn_changed(step->txn);
	}
out:
	morph_fabric_unlock(step->fabric);
	morph_txn_put(step->txn);
	put_device(&step->fabric->dev);
	kfree(step);
}

int morph_txn_step_queue(struct morph_txn *txn, u32 verb, u64 lease_ns,
			 const struct morph_token *token, struct morph_refusal *refusal)
{
	struct morph_fabric *fabric = txn->fabric;
	struct queued_step *step;
	bool repeated;
	int ret;

	if (verb < MORPH_TXN_COMMIT || verb > MORPH_TXN_VERIFY || verb == MORPH_TXN_QUERY)
		return morph_refuse_numbers(refusal, -EOPNOTSUPP, MORPH_REASON_ARGUMENT, 0, 0, 0,
					    verb,
					    "verb must be 1 (commit), 2 (confirm), 3 (revert) or 5 (verify), not {need}");
	step = kzalloc(sizeof(*step), GFP_KERNEL_ACCOUNT);
	if (!step)
		return -ENOMEM;
	morph_fabric_lock(fabric);
	repeated = step_repeated(txn, verb);
	ret = repeated ? 0 : step_check(txn, verb, refusal);
	if (!ret && !repeated)
		ret = permits(txn, token, refusal);
	if (!ret && !repeated) {
		/* Until the step has run, lookups report that it is running. */
		txn->queued_from = txn->outcome;
		txn->outcome = MORPH_OUTCOME_RUNNING;
		txn->status = 0;
	}
	morph_fabric_unlock(fabric);
	if (ret || repeated) {
		kfree(step);
		return ret;
	}
	INIT_WORK(&step->work, step_work);
	get_device(&fabric->dev);
	step->fabric = fabric;
	step->txn = morph_txn_get(txn);
	step->verb = verb;
	step->lease_ns = lease_ns;
	step->token = *token;
	queue_work(morph_act_wq, &step->work);
	return 0;
}

static enum hrtimer_restart lease_timer_fn(struct hrtimer *timer)
{
	struct morph_txn *txn = container_of(timer, struct morph_txn, lease_timer);

	morph_turn_queue(&txn->lease_turn, txn->lease_user);
	return HRTIMER_NORESTART;
}

/* Return to the old configuration after the lease. Drops the reference of the timer. */
static void lease_work_fn(struct work_struct *work)
{
	struct morph_txn *txn = container_of(work, struct morph_txn, lease_turn.work);
	struct morph_fabric *fabric = txn->fabric;
	struct morph_slice *slice;

	morph_fabric_lock(fabric);
	slice = txn->slice;
	if (!slice)
		goto out;		/* the transaction ended while the timer fired */
	kref_get(&slice->kref);
	morph_slice_enter(slice, true);
	/* An earlier step may have set a new lease. */
	if (lease_is_over(txn))
		expire(txn);
	morph_slice_leave(slice);
	morph_fabric_unlock(fabric);
	morph_slice_put(slice);
	goto out_put;
out:
	morph_fabric_unlock(fabric);
out_put:
	morph_turn_end(txn->lease_user);
	drop_timer_references(txn);
}

void morph_lease_init(struct morph_txn *txn)
{
	hrtimer_init(&txn->lease_timer, CLOCK_BOOTTIME, HRTIMER_MODE_ABS);
	txn->lease_timer.function = lease_timer_fn;
	morph_turn_init(&txn->lease_turn, lease_work_fn);
}

/*
 * Return the first prepared or unconfirmed transaction. Those that run change by change have no
 * lease.
 */
static struct morph_txn *first_open(struct morph_slice *slice)
{
	struct morph_txn *txn;

	list_for_each_entry(txn, &slice_txns(slice)->txns, node)
		if (txn->flags & MORPH_TXN_PREPARE)
			return txn;
	return NULL;
}

/*
 * Confirm a committed transaction before a failover or the end of its slice. A transaction with
 * unverified half circuits is reverted instead, so that the peers' light goes out too.
 */
static void settle_unconfirmed(struct morph_txn *txn)
{
	bool half = false;
	u32 i;
	int ret;

	for (i = 0; i < txn->count; i++)
		half |= txn->items[i].new &&
			(morph_route_comes_in(txn->fabric, txn->items[i].new) ||
			 morph_route_leaves(txn->fabric, txn->items[i].new));
	if (half && !txn->verified && !txn->slice->dying) {
		ret = morph_exec_revert(txn);
		morph_txn_end(txn, txn->outcome, ret);
		return;
	}
	morph_exec_confirm(txn);
	morph_txn_end(txn, MORPH_OUTCOME_COMMITTED, 0);
}

/*
 * Revoke a slice's prepared transactions before a failover or the end of the slice. The caller has
 * entered the slice, so no transaction is added. Other tasks get fabric->lock after each one.
 */
void morph_txn_revoke_slice(struct morph_slice *slice)
{
	struct morph_txn *txn;

	lockdep_assert_held(&slice->fabric->lock);
	while ((txn = first_open(slice))) {
		lease_stop(txn);
		unqueue(txn);
		forget_refusal(txn);
		if (txn->outcome == MORPH_OUTCOME_UNCONFIRMED)
			settle_unconfirmed(txn);
		else
			end_prepared(txn, MORPH_OUTCOME_REVOKED, -ECANCELED);
		if (first_open(slice))
			morph_fabric_pause(slice->fabric);
	}
}

static bool route_holds(const struct morph_fabric *fabric, const struct morph_route *route,
			u32 part, u32 index)
{
	u32 h;

	if (part == MORPH_PART_EDGE)
		return route->path.tx == optics_edge_end(fabric->graph, index) ||
		       route->path.rx == optics_edge_end(fabric->graph, index);
	if (part == MORPH_PART_LASER)
		return route->path.tx == index;
	if (part == MORPH_PART_RECEIVER)
		return route->path.rx == index;
	if (part != MORPH_PART_GUIDE && part != MORPH_PART_ELEMENT)
		return false;
	for (h = 0; h < route->path.hops_count; h++)
		if (part == MORPH_PART_GUIDE ? route->hops[h].guide >> 1 == index :
					       route->hops[h].element == index)
			return true;
	return false;
}

static bool txn_holds(const struct morph_txn *txn, u32 part, u32 index)
{
	u32 i;

	for (i = 0; i < txn->count; i++)
		if (txn->items[i].new &&
		    route_holds(txn->fabric, txn->items[i].new, part, index))
			return true;
	return false;
}

/* Return a prepared transaction that holds the part, or NULL. */
static struct morph_txn *find_holder(struct morph_fabric *fabric, u32 part, u32 index)
{
	struct morph_slice *slice;
	struct morph_txn *txn;

	lockdep_assert_held(&fabric->lock);
	list_for_each_entry(slice, &ledger_of(fabric)->slices, node) {
		/* The thread that has entered the slice uses the prepared transaction. */
		if (slice->busy)
			continue;
		list_for_each_entry(txn, &slice_txns(slice)->txns, node)
			if (txn->staged && !txn->keep_old && txn_holds(txn, part, index))
				return txn;
	}
	return NULL;
}

bool morph_txn_has_holder(struct morph_fabric *fabric, u32 part, u32 index)
{
	return find_holder(fabric, part, index);
}

bool morph_txn_revoke_holder(struct morph_fabric *fabric, u32 part, u32 index)
{
	struct morph_txn *txn = find_holder(fabric, part, index);
	struct morph_slice *slice;

	if (!txn)
		return false;
	slice = txn->slice;
	kref_get(&slice->kref);
	/* Does not wait, because no thread has entered the slice. */
	morph_slice_enter(slice, true);
	lease_stop(txn);
	unqueue(txn);
	end_prepared(txn, MORPH_OUTCOME_REVOKED, -ECANCELED);
	morph_slice_leave(slice);
	morph_slice_put(slice);
	return true;
}

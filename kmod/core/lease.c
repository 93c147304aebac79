// SPDX-License-Identifier: GPL-2.0-only
/*
 * Transactions in two phases: prepared, committed and confirmed under a lease on
 * CLOCK_BOOTTIME; or reverted, by their owner or when the lease has run out.
 */
#include <linux/slab.h>

#include "core.h"

void morph_lease_start(struct morph_txn *txn, u64 lease_ns)
{
	txn->lease_ns = lease_ns;
	txn->lease_until_ns = ktime_get_boottime_ns() + lease_ns;
	/* The timer's, given back by lease_work or lease_stop. */
	morph_txn_get(txn);
	get_device(&txn->fabric->dev);
	hrtimer_start(&txn->lease_timer, ns_to_ktime(txn->lease_until_ns), HRTIMER_MODE_ABS);
}

/* True when the timer was stopped before it fired. */
static void lease_stop(struct morph_txn *txn)
{
	if (hrtimer_try_to_cancel(&txn->lease_timer) != 1)
		return;
	put_device(&txn->fabric->dev);
	morph_txn_put(txn);
}

u64 morph_txn_lease_left(struct morph_txn *txn)
{
	u64 now = ktime_get_boottime_ns();

	if (txn->outcome != MORPH_OUTCOME_PREPARED && txn->outcome != MORPH_OUTCOME_UNCONFIRMED)
		return 0;
	return txn->lease_until_ns > now ? txn->lease_until_ns - now : 0;
}

/* Why a step can't be taken now, or 0. fabric->lock held. */
static int step_check(struct morph_txn *txn, u32 verb, struct morph_refusal *refusal)
{
	switch (txn->outcome) {
	case MORPH_OUTCOME_REVOKED:
		return morph_refuse(refusal, -ECANCELED, MORPH_REASON_STATE, 0, 0,
				    "failover has seized what this transaction had prepared");
	case MORPH_OUTCOME_EXPIRED:
		return morph_refuse(refusal, -ETIME, MORPH_REASON_STATE, 0, 0,
				    "the lease has run out");
	case MORPH_OUTCOME_RUNNING:
		return morph_refuse(refusal, -EBUSY, MORPH_REASON_STATE, 0, 0,
				    "another step of this transaction is under way");
	case MORPH_OUTCOME_PREPARED:
		if (verb != MORPH_TXN_CONFIRM)
			return 0;
		return morph_refuse(refusal, -EINVAL, MORPH_REASON_STATE, 0, 0,
				    "the transaction has to be committed before it is confirmed");
	case MORPH_OUTCOME_UNCONFIRMED:
		if (verb != MORPH_TXN_COMMIT)
			return 0;
		return morph_refuse(refusal, -EINVAL, MORPH_REASON_STATE, 0, 0,
				    "the transaction is committed; confirm or revert it");
	}
	return morph_refuse(refusal, -EINVAL, MORPH_REASON_STATE, 0, 0,
			    "the transaction has ended");
}

static void end_prepared(struct morph_txn *txn, u32 outcome, int status)
{
	morph_txn_unstage(txn);
	morph_txn_end(txn, outcome, status);
}

/* Take the step. The slice has been entered, fabric->lock held. */
static int step_entered(struct morph_txn *txn, u32 verb, u64 lease_ns)
{
	int ret = 0;

	lease_stop(txn);
	if (verb == MORPH_TXN_COMMIT) {
		ret = morph_exec_commit(txn, true);
		if (ret) {
			morph_txn_end(txn, txn->outcome, ret);
			return ret;
		}
		txn->outcome = MORPH_OUTCOME_UNCONFIRMED;
		txn->seq = txn->fabric->seq;
		morph_lease_start(txn, lease_ns ? lease_ns : txn->lease_ns);
		morph_netlink_txn(txn);
	} else if (verb == MORPH_TXN_CONFIRM) {
		morph_exec_confirm(txn);
		morph_txn_end(txn, MORPH_OUTCOME_COMMITTED, 0);
	} else if (txn->outcome == MORPH_OUTCOME_PREPARED) {
		end_prepared(txn, MORPH_OUTCOME_ROLLED_BACK, 0);
	} else {
		ret = morph_exec_revert(txn);
		morph_txn_end(txn, txn->outcome, ret);
	}
	return ret;
}

int morph_txn_step(struct morph_txn *txn, u32 verb, u64 lease_ns, struct morph_refusal *refusal)
{
	struct morph_fabric *fabric = txn->fabric;
	struct morph_slice *slice;
	int ret;

	mutex_lock(&fabric->lock);
	ret = step_check(txn, verb, refusal);
	if (ret)
		goto out_unlock;
	slice = txn->slice;
	kref_get(&slice->kref);
	ret = morph_slice_enter(slice, false);
	if (ret)
		goto out_put;
	/* The lock was perhaps dropped: look again. */
	ret = step_check(txn, verb, refusal);
	if (!ret)
		ret = step_entered(txn, verb, lease_ns);
	if (ret && txn->refusal.error && !refusal->error)
		*refusal = txn->refusal;
	morph_slice_leave(slice);
out_put:
	mutex_unlock(&fabric->lock);
	morph_slice_put(slice);
	return ret;
out_unlock:
	mutex_unlock(&fabric->lock);
	return ret;
}

/* A step that netlink asked for. */
struct queued_step {
	struct work_struct work;
	struct morph_fabric *fabric;
	struct morph_txn *txn;
	u32 verb;
	u64 lease_ns;
};

static void step_work(struct work_struct *work)
{
	struct queued_step *step = container_of(work, struct queued_step, work);
	struct morph_refusal refusal = {};

	morph_txn_step(step->txn, step->verb, step->lease_ns, &refusal);
	morph_txn_put(step->txn);
	put_device(&step->fabric->dev);
	kfree(step);
}

int morph_txn_step_queue(struct morph_txn *txn, u32 verb, u64 lease_ns,
			 struct morph_refusal *refusal)
{
	struct morph_fabric *fabric = txn->fabric;
	struct queued_step *step;
	int ret;

	if (verb < MORPH_TXN_COMMIT || verb > MORPH_TXN_REVERT)
		return morph_refuse(refusal, -EOPNOTSUPP, MORPH_REASON_ARGUMENT, 0, 0,
				    "verb must be 1 (commit), 2 (confirm) or 3 (revert), not %u",
				    verb);
	mutex_lock(&fabric->lock);
	ret = step_check(txn, verb, refusal);
	mutex_unlock(&fabric->lock);
	if (ret)
		return ret;
	step = kzalloc(sizeof(*step), GFP_KERNEL_ACCOUNT);
	if (!step)
		return -ENOMEM;
	INIT_WORK(&step->work, step_work);
	get_device(&fabric->dev);
	step->fabric = fabric;
	step->txn = morph_txn_get(txn);
	step->verb = verb;
	step->lease_ns = lease_ns;
	queue_work(morph_wq, &step->work);
	return 0;
}

static enum hrtimer_restart lease_timer_fn(struct hrtimer *timer)
{
	struct morph_txn *txn = container_of(timer, struct morph_txn, lease_timer);

	queue_work(morph_wq, &txn->lease_work);
	return HRTIMER_NORESTART;
}

/* The lease has run out: back to the old configuration. Holds the timer's reference. */
static void lease_work_fn(struct work_struct *work)
{
	struct morph_txn *txn = container_of(work, struct morph_txn, lease_work);
	struct morph_fabric *fabric = txn->fabric;
	struct morph_slice *slice;

	mutex_lock(&fabric->lock);
	slice = txn->slice;
	if (!slice)
		goto out;		/* it ended while the timer fired */
	kref_get(&slice->kref);
	morph_slice_enter(slice, true);
	if (morph_txn_lease_left(txn)) {
		/* a step came first and has a lease of its own */
	} else if (txn->outcome == MORPH_OUTCOME_PREPARED) {
		end_prepared(txn, MORPH_OUTCOME_EXPIRED, -ETIME);
	} else if (txn->outcome == MORPH_OUTCOME_UNCONFIRMED) {
		int ret = morph_exec_revert(txn);

		morph_txn_end(txn, ret ? txn->outcome : MORPH_OUTCOME_EXPIRED, ret ? ret : -ETIME);
	}
	morph_slice_leave(slice);
	mutex_unlock(&fabric->lock);
	morph_slice_put(slice);
	goto out_put;
out:
	mutex_unlock(&fabric->lock);
out_put:
	morph_txn_put(txn);
	put_device(&fabric->dev);
}

void morph_lease_init(struct morph_txn *txn)
{
	hrtimer_init(&txn->lease_timer, CLOCK_BOOTTIME, HRTIMER_MODE_ABS);
	txn->lease_timer.function = lease_timer_fn;
	INIT_WORK(&txn->lease_work, lease_work_fn);
}

/*
 * Failover of a slice, or its end: what it has prepared is revoked, what it has
 * committed and not confirmed counts as confirmed.
 */
void morph_txn_revoke_slice(struct morph_slice *slice)
{
	struct morph_txn *txn, *next;

	lockdep_assert_held(&slice->fabric->lock);
	list_for_each_entry_safe(txn, next, &slice->txns, node) {
		lease_stop(txn);
		if (txn->outcome == MORPH_OUTCOME_PREPARED) {
			end_prepared(txn, MORPH_OUTCOME_REVOKED, -ECANCELED);
		} else if (txn->outcome == MORPH_OUTCOME_UNCONFIRMED) {
			morph_exec_confirm(txn);
			morph_txn_end(txn, MORPH_OUTCOME_COMMITTED, 0);
		}
	}
}

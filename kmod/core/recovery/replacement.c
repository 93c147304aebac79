// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests of a slice's owner and of the operator that concern a rank: report a suspicion, replace
 * its accelerator, and choose the spare that is tried first.
 */
#include "core/base/base.h"
#include "core/hardware/hardware.h"
#include "core/recovery/recovery.h"
#include "core/slice/slice.h"
#include "core/txn/txn.h"

static int check_rank(struct morph_slice *slice, u32 rank, struct morph_refusal *refusal)
{
	if (slice->dying || slice->fabric->state != MORPH_FABRIC_READY)
		return morph_refuse(refusal, -ENODEV, MORPH_REASON_STATE, 0, 0,
				    "the slice or its fabric is gone");
	if (rank >= slice->ranks_count)
		return morph_refuse_numbers(refusal, -ENOENT, MORPH_REASON_ARGUMENT, 0, rank,
					    slice->ranks_count, 0, "no rank {index} (0-{last})");
	return 0;
}

/*
 * Check whether an accelerator may become a rank's spare. The owner may use spares that the slice
 * allows, the operator any free accelerator.
 */
static int check_spare(struct morph_slice *slice, u32 rank, u32 spare, bool allowed_only,
		       struct morph_refusal *refusal)
{
	struct morph_fabric *fabric = slice->fabric;
	u32 use;

	if (spare == MORPH_ANY)
		return 0;
	if (spare >= fabric->graph->accelerators_count)
		return morph_refuse_index(refusal, MORPH_PART_ACCELERATOR, spare,
					  fabric->graph->accelerators_count);
	use = ledger_of(fabric)->chips[spare].use;
	if (!morph_chip_fit(fabric, spare) ||
	    (use == MORPH_USE_HELD && spare != slice_tenancy(slice)->own_spare))
		return morph_refuse_numbers(refusal, -EBUSY, MORPH_REASON_ACCELERATOR_UNFIT,
					    MORPH_PART_ACCELERATOR, spare, 0, 0,
					    "accelerator {index} is held, cordoned or not healthy");
	if (allowed_only && !morph_place_allows(slice, slice->ranks[rank].accelerator, spare))
		return morph_refuse_numbers(refusal, -EBUSY, MORPH_REASON_NO_SPARE,
					    MORPH_PART_ACCELERATOR, spare, 0, 0,
					    "accelerator {index} is not among the spares that the slice allows");
	return 0;
}

/* ------------------------------------------------------- replacements per hour */

#define HOUR_NS		(3600ULL * NSEC_PER_SEC)

u32 morph_repair_replacements(const struct morph_slice *slice)
{
	lockdep_assert_held(&slice->fabric->lock);
	return ktime_get_boottime_ns() - slice_recovery(slice)->hour_since_ns < HOUR_NS ?
	       slice_recovery(slice)->hour_replacements : 0;
}

/*
 * Each slice counts per hour, from the first replacement by its owner. The limit is that of the
 * user. Caller holds fabric->lock.
 */
static int charge_replacement(struct morph_slice *slice, struct morph_refusal *refusal)
{
	struct morph_limits limits, used;
	u32 had = morph_repair_replacements(slice);

	morph_user_limits(slice->user, &limits, &used);
	if (had >= limits.replacements && limits.replacements != MORPH_ANY) {
		morph_refuse(refusal, -EDQUOT, MORPH_REASON_QUOTA, 0, 0,
			     "at most %u replacements in an hour, the slice has had %u",
			     limits.replacements, had);
		refusal->need = 1;
		return -EDQUOT;
	}
	if (!had)
		slice_recovery(slice)->hour_since_ns = ktime_get_boottime_ns();
	slice_recovery(slice)->hour_replacements = had + 1;
	return 0;
}

/* ------------------------------------------------------------------- requests */

static int wait_repaired(struct morph_slice *slice, u32 rank, u32 accelerator, u32 *state,
			 u32 *health)
{
	struct morph_fabric *fabric = slice->fabric;
	int ret;

	ret = wait_event_interruptible(slice->idle, !READ_ONCE(slice->repairing) ||
				       READ_ONCE(slice->dying) ||
				       READ_ONCE(fabric->state) != MORPH_FABRIC_READY);
	mutex_lock(&fabric->lock);
	*state = slice_tenancy(slice)->state;
	*health = ledger_of(fabric)->chips[accelerator].health;
	/* After a replacement return success, even if a signal interrupted the wait. */
	if (ret && slice->ranks[rank].accelerator != accelerator)
		ret = 0;
	mutex_unlock(&fabric->lock);
	return ret ? -EINTR : 0;
}

int morph_repair_report(struct morph_slice *slice, u32 rank, u32 *state, u32 *health,
			struct morph_refusal *refusal)
{
	struct morph_fabric *fabric = slice->fabric;
	struct morph_culprit culprit = { .part = MORPH_PART_ACCELERATOR };
	struct morph_probe probe = {};
	u64 since = ktime_get_ns();
	int ret;

	mutex_lock(&fabric->lock);
	ret = check_rank(slice, rank, refusal);
	if (!ret)
		probe.accelerator = slice->ranks[rank].accelerator;
	mutex_unlock(&fabric->lock);
	if (ret)
		return ret;
	culprit.index = probe.accelerator;
	ret = morph_hw_probe(fabric, NULL, &probe, 1);
	if (ret)
		return morph_refuse(refusal, ret, MORPH_REASON_HARDWARE, MORPH_PART_ACCELERATOR,
				    probe.accelerator,
				    "the device could not query accelerator %u: error %d",
				    probe.accelerator, ret);
	mutex_lock(&fabric->lock);
	if (!probe.alive)
		morph_health_set(fabric, &culprit, MORPH_HEALTH_FAILED, since);
	else
		ledger_of(fabric)->chips[probe.accelerator].last_verified_ns =
			ktime_get_boottime_ns();
	mutex_unlock(&fabric->lock);
	return wait_repaired(slice, rank, probe.accelerator, state, health);
}

/*
 * Mark a rank for replacement, even against the policy. The owner may use spares that the slice
 * allows, the operator any free accelerator. Caller holds fabric->lock.
 */
static int want_replacement(struct morph_slice *slice, u32 rank, u32 spare, bool tenant,
			    struct morph_refusal *refusal)
{
	int ret;

	ret = check_rank(slice, rank, refusal);
	/* Failback: the owner may return to the first accelerator, although it is on no list. */
	if (!ret)
		ret = check_spare(slice, rank, spare, tenant && spare != slice->ranks[rank].first,
				  refusal);
	if (ret)
		return ret;
	if (spare == MORPH_ANY && morph_repair_spare(slice, rank, MORPH_ANY, 0) == MORPH_ANY)
		return morph_refuse(refusal, -ENOSPC, MORPH_REASON_NO_SPARE, 0, 0,
				    "no spare that the slice allows is free and healthy");
	slice->ranks[rank].failed = true;
	rank_recovery(slice, rank)->forced = true;
	rank_recovery(slice, rank)->wanted_spare = spare;
	morph_repair_kick(slice, 0);
	return 0;
}

/*
 * Return the result of a replacement of accelerator @before. @replacements is the number that the
 * rank had had: a failover that takes a lent spare changes the accelerator, too, but replaces
 * nothing. Caller holds fabric->lock.
 */
static int replacement_result(struct morph_slice *slice, u32 rank, u32 before, u32 replacements,
			      struct morph_refusal *refusal)
{
	int ret;

	if (slice->ranks[rank].replacements != replacements)
		return 0;
	ret = check_rank(slice, rank, refusal);
	if (ret)
		return ret;
	if (slice_recovery(slice)->failover_error == -ENOMEM)
		return morph_refuse(refusal, -ENOMEM, MORPH_REASON_HARDWARE,
				    MORPH_PART_ACCELERATOR, before,
				    "no memory to light a spare in place of accelerator %u",
				    before);
	return morph_refuse(refusal, -EBUSY, MORPH_REASON_NO_SPARE, MORPH_PART_ACCELERATOR,
			    before, "no spare could be lit in place of accelerator %u", before);
}

static int replace_and_wait(struct morph_slice *slice, u32 rank, u32 spare, bool tenant,
			    u32 *state, u32 *health, struct morph_refusal *refusal)
{
	struct morph_fabric *fabric = slice->fabric;
	u32 before = 0, replacements = 0;
	int ret = 0;

	mutex_lock(&fabric->lock);
	if (tenant)
		ret = charge_replacement(slice, refusal);
	if (!ret) {
		do
			ret = want_replacement(slice, rank, spare, tenant, refusal);
		while ((ret == -ENOSPC || ret == -EBUSY) && morph_place_wait(fabric, &ret));
		if (ret && tenant)
			slice_recovery(slice)->hour_replacements--;
	}
	if (!ret) {
		before = slice->ranks[rank].accelerator;
		replacements = slice->ranks[rank].replacements;
	}
	mutex_unlock(&fabric->lock);
	if (ret)
		return ret;
	ret = wait_repaired(slice, rank, before, state, health);
	if (ret)
		return ret;
	mutex_lock(&fabric->lock);
	ret = replacement_result(slice, rank, before, replacements, refusal);
	*health = ledger_of(fabric)->chips[before].health;
	mutex_unlock(&fabric->lock);
	return ret;
}

int morph_repair_replace(struct morph_slice *slice, u32 rank, u32 spare, u32 *state, u32 *health,
			 struct morph_refusal *refusal)
{
	return replace_and_wait(slice, rank, spare, true, state, health, refusal);
}

static void replace_work(struct work_struct *work)
{
	struct morph_txn *txn = container_of(work, struct morph_txn, run_work);
	struct morph_fabric *fabric = txn->fabric;
	struct morph_slice *slice = txn->slice;
	u32 state, health;
	int ret;

	kref_get(&slice->kref);
	ret = replace_and_wait(slice, txn->rank, txn->spare, false, &state, &health,
			       &txn->refusal);
	mutex_lock(&fabric->lock);
	if (!ret)
		txn->session.times = recovery_of(fabric)->last_replaced.times;
	morph_txn_end(txn, ret ? MORPH_OUTCOME_ROLLED_BACK : MORPH_OUTCOME_COMMITTED, ret);
	mutex_unlock(&fabric->lock);
	morph_slice_put(slice);
	morph_txn_put(txn);
	put_device(&fabric->dev);
}

int morph_repair_replace_queue(struct morph_slice *slice, u32 rank, u32 spare, u32 *id,
			       struct morph_refusal *refusal)
{
	struct morph_fabric *fabric = slice->fabric;
	struct morph_change none = {};
	struct morph_txn *txn;
	int ret;

	mutex_lock(&fabric->lock);
	ret = check_rank(slice, rank, refusal);
	mutex_unlock(&fabric->lock);
	if (ret)
		return ret;
	txn = morph_txn_alloc(slice, &none, NULL, 0, 0, GFP_KERNEL_ACCOUNT);
	if (!txn)
		return -ENOMEM;
	txn->rank = rank;
	txn->spare = spare;
	ret = morph_txn_launch(txn, replace_work, id);
	morph_txn_put(txn);
	return ret;
}

static int check_preferences(struct morph_slice *slice, const struct morph_preference *list,
			     u32 count, struct morph_refusal *refusal)
{
	int ret = 0;
	u32 i;

	for (i = 0; i < count && !ret; i++) {
		ret = check_rank(slice, list[i].rank, refusal);
		if (!ret)
			ret = check_spare(slice, list[i].rank, list[i].spare, true, refusal);
	}
	return ret;
}

int morph_repair_prefer(struct morph_slice *slice, const struct morph_preference *list, u32 count,
			struct morph_refusal *refusal)
{
	struct morph_fabric *fabric = slice->fabric;
	bool changed = false;
	int ret;
	u32 i;

	mutex_lock(&fabric->lock);
	do
		ret = check_preferences(slice, list, count, refusal);
	while (ret == -EBUSY && morph_place_wait(fabric, &ret));
	for (i = 0; i < count && !ret; i++) {
		struct morph_protection *protection = rank_protection(slice, list[i].rank);

		if (protection->preferred == list[i].spare)
			continue;
		protection->preferred = list[i].spare;
		changed = true;
		/* If the protection uses the preferred spare already, keep it. */
		if (protection->spare != protection->preferred)
			morph_protection_mark_stale(protection);
	}
	if (changed) {
		fabric->seq++;
		morph_report_slice_changed(slice);
	}
	mutex_unlock(&fabric->lock);
	return ret;
}

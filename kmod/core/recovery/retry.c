// SPDX-License-Identifier: GPL-2.0-only
/*
 * Retries of degraded slices, which lack spares or paths. When hardware becomes free or healthy, a
 * worker tries these slices, and moves no circuit: is there a spare for a failed rank, or a path
 * for a circuit? Only then does a repair begin, and the owner's changes get EAGAIN. Each hold of
 * fabric->lock contains at most one search. After a try, the slice waits before the next one, each
 * time twice as long. If other changes have disturbed a search, another try follows.
 */
#include "core/base/base.h"
#include "core/ledger/ledger.h"
#include "core/recovery/recovery.h"
#include "core/slice/slice.h"
#include "core/txn/txn.h"

#define RETRY_DELAY	msecs_to_jiffies(20)
#define MOST_DELAY	msecs_to_jiffies(5000)

/* ----------------------------------------------------------------- back-off */

static bool is_due(const struct morph_backoff *backoff)
{
	return !backoff->delay || time_after_eq(jiffies, backoff->at);
}

/* Double the delay, or begin again after a quiet period. */
static void back_off(struct morph_backoff *backoff)
{
	if (time_after(jiffies, backoff->at + MOST_DELAY))
		backoff->delay = 0;
	backoff->delay = clamp(2 * backoff->delay, RETRY_DELAY, MOST_DELAY);
	backoff->at = jiffies + backoff->delay;
}

/* Let the worker run at a time, unless it runs earlier. Caller holds fabric->lock. */
static void run_at(struct morph_fabric *fabric, unsigned long at)
{
	struct morph_recovery *recovery = recovery_of(fabric);

	lockdep_assert_held(&fabric->lock);
	if (fabric->state != MORPH_FABRIC_READY)
		return;
	if (delayed_work_pending(&recovery->recover_work) &&
	    time_before_eq(recovery->recover_at, at))
		return;
	recovery->recover_at = at;
	mod_delayed_work(morph_wq, &recovery->recover_work,
			 time_after(at, jiffies) ? at - jiffies : 0);
}

void morph_repair_recover(struct morph_fabric *fabric, u32 freed)
{
	struct morph_recovery *recovery = recovery_of(fabric);

	lockdep_assert_held(&fabric->lock);
	if (fabric->state != MORPH_FABRIC_READY)
		return;
	recovery->recoveries++;
	if (freed & MORPH_FREED_PATHS)
		recovery->paths_freed++;
	if (!recovery->degraded && !recovery->lost &&
	    list_empty(&slices_of(fabric)->protections_wanted))
		return;
	recovery->freed = true;
	run_at(fabric, jiffies + RETRY_DELAY);
}

/* Rebuild protections that have no spare, or that hold less than they should. */
static void rebuild_wanted_protections(struct morph_fabric *fabric)
{
	if (list_empty(&slices_of(fabric)->protections_wanted))
		return;
	list_splice_tail_init(&slices_of(fabric)->protections_wanted,
			      &slices_of(fabric)->stale_protections);
	queue_delayed_work(system_unbound_wq, &slices_of(fabric)->protection_work, 0);
}

/* ----------------------------------------------------------- degraded slices */

void morph_retry_repaired(struct morph_slice *slice, bool whole)
{
	struct morph_slice_recovery *recovery = slice_recovery(slice);

	if (whole)
		recovery->retry.delay = 0;
	recovery->woken = false;
	recovery->woken_again = false;
	recovery->retry_circuit = 0;
}

void morph_retry_missed(struct morph_slice *slice)
{
	slice_recovery(slice)->woken = true;
	run_at(slice->fabric, jiffies + RETRY_DELAY);
}

void morph_retry_idle(struct morph_slice *slice)
{
	if (!slice_recovery(slice)->woken)
		return;
	if (list_empty(&slice_txns(slice)->txns))
		run_at(slice->fabric, jiffies);
	else
		morph_slice_wait(slice, &morph_repair_waiter);
}

/* Note which slices to try. A try that has begun continues, so that all circuits have a turn. */
static void wake_slices(struct morph_fabric *fabric)
{
	struct morph_slice *slice;

	list_for_each_entry(slice, &ledger_of(fabric)->slices, node) {
		struct morph_slice_recovery *recovery = slice_recovery(slice);

		if (slice_tenancy(slice)->state != MORPH_SLICE_DEGRADED)
			continue;
		recovery->woken_again |= recovery->retry_circuit != 0;
		recovery->woken = true;
	}
}

/*
 * Return a woken slice whose delay has passed, or NULL. Do not revoke its prepared transactions,
 * nor wait for a change: their end continues the retry.
 */
static struct morph_slice *next_slice(struct morph_fabric *fabric)
{
	struct morph_slice *slice;

	list_for_each_entry(slice, &ledger_of(fabric)->slices, node) {
		struct morph_slice_recovery *recovery = slice_recovery(slice);

		if (!recovery->woken || slice->dying ||
		    slice_tenancy(slice)->state != MORPH_SLICE_DEGRADED)
			continue;
		if (slice->busy || !list_empty(&slice_txns(slice)->txns))
			morph_slice_wait(slice, &morph_repair_waiter);
		else if (!is_due(&recovery->retry))
			run_at(fabric, recovery->retry.at);
		else
			return slice;
	}
	return NULL;
}

/* Find the next circuit whose path must be searched, or NULL. */
static struct morph_circuit *next_circuit(struct morph_slice *slice)
{
	unsigned long index = slice_recovery(slice)->retry_circuit;
	struct morph_circuit *circuit;

	xa_for_each_start(&slice->circuits, index, circuit, index)
		if (morph_circuit_broken(circuit) && !morph_circuit_in_vain(circuit))
			return circuit;
	return NULL;
}

/*
 * Search the path of one circuit, and leave the others for the next hold of the lock. At the end of
 * the try start the repair if it may help. A slice that lacks other resources does not wait longer.
 * The caller holds fabric->lock; the function drops it during the searches.
 */
static void try_slice(struct morph_slice *slice)
{
	struct morph_slice_recovery *recovery = slice_recovery(slice);
	struct morph_circuit *circuit = NULL;
	bool first = !recovery->retry_circuit;
	bool spare = first && morph_failover_has_spare(slice);
	bool useful;

	recovery->disturbed = false;
	useful = first && (morph_slice_whole(slice) || morph_light_may_return(slice) ||
			   (spare && morph_failover_possible(slice)));
	if (!useful && !slice->repairing && !slice->dying)
		circuit = next_circuit(slice);
	if (circuit) {
		recovery->retry_circuit = circuit->id + 1;
		useful = morph_reroute_possible(circuit);
	}
	recovery->woken_again |= recovery->disturbed;
	/* A failure meanwhile has begun a repair, which searches all paths. */
	if (slice->repairing || slice->dying || (circuit && !useful))
		return;
	if (useful || spare || recovery->retry_circuit)
		back_off(&recovery->retry);
	recovery->woken = recovery->woken_again;
	recovery->woken_again = false;
	recovery->retry_circuit = 0;
	if (useful)
		morph_repair_kick(slice, 0);
}

/* ------------------------------------------------------------ healthy slices */

/* Note what healthy slices lack: protections, and the paths of their schedules. */
static void wake_healthy(struct morph_fabric *fabric)
{
	struct morph_recovery *recovery = recovery_of(fabric);
	struct morph_slice *slice;

	if (!recovery->wanted_freed)
		return;
	if (!is_due(&recovery->wanted)) {
		run_at(fabric, recovery->wanted.at);
		return;
	}
	recovery->wanted_freed = false;
	if (!recovery->lost && list_empty(&slices_of(fabric)->protections_wanted))
		return;
	back_off(&recovery->wanted);
	rebuild_wanted_protections(fabric);
	if (!recovery->lost)
		return;
	list_for_each_entry(slice, &ledger_of(fabric)->slices, node)
		slice_recovery(slice)->schedules_woken =
			slice_tenancy(slice)->state != MORPH_SLICE_DEGRADED;
}

void morph_retry_schedules(struct morph_slice *slice)
{
	slice_recovery(slice)->schedules_woken = true;
	run_at(slice->fabric, jiffies);
}

static struct morph_slice *next_healthy(struct morph_fabric *fabric)
{
	struct morph_slice *slice;

	list_for_each_entry(slice, &ledger_of(fabric)->slices, node)
		if (slice_recovery(slice)->schedules_woken)
			return slice;
	return NULL;
}

/* ------------------------------------------------------------------- worker */

/* Retry one slice; return whether there was one. Caller holds fabric->lock. */
static bool retry_next(struct morph_fabric *fabric)
{
	struct morph_slice *slice = next_slice(fabric);

	if (slice) {
		try_slice(slice);
		return true;
	}
	slice = next_healthy(fabric);
	if (!slice)
		return false;
	slice_recovery(slice)->schedules_woken = false;
	morph_report_retried(slice);
	return true;
}

/* A resource became free or healthy: retry the slices that may need it. */
void morph_repair_recover_work(struct work_struct *work)
{
	struct morph_recovery *recovery = container_of(to_delayed_work(work), struct morph_recovery,
						     recover_work);
	struct morph_fabric *fabric = &recovery->slices.txns.ledger.hardware.fabric;

	mutex_lock(&fabric->lock);
	if (recovery->freed)
		wake_slices(fabric);
	recovery->wanted_freed |= recovery->freed;
	recovery->freed = false;
	if (fabric->state == MORPH_FABRIC_READY)
		wake_healthy(fabric);
	while (fabric->state == MORPH_FABRIC_READY && retry_next(fabric)) {
		mutex_unlock(&fabric->lock);
		cond_resched();
		mutex_lock(&fabric->lock);
	}
	mutex_unlock(&fabric->lock);
}

/* ------------------------------------------------------- repairs beside others */

/*
 * A failed repair gives back the spares and lanes that it held. Repairs that ran at the same time
 * may have failed for want of them. Those slices retry one after the other when no repair is
 * running. Each then finds all free resources and takes none from another repair, so the retries
 * end.
 */
void morph_retry_crowded(struct morph_slice *last)
{
	struct morph_slice *slice, *next = NULL;
	struct morph_fabric *fabric = last->fabric;

	if (recovery_of(fabric)->repairs || fabric->state != MORPH_FABRIC_READY)
		return;
	rebuild_wanted_protections(fabric);
	list_for_each_entry(slice, &ledger_of(fabric)->slices, node) {
		/* Do not revoke prepared transactions: their end triggers a retry. */
		if (!slice_recovery(slice)->crowded ||
		    slice_tenancy(slice)->state != MORPH_SLICE_DEGRADED ||
		    !list_empty(&slice_txns(slice)->txns))
			continue;
		if (!next || next == last)
			next = slice;
	}
	if (!next)
		return;
	slice_recovery(next)->crowded = false;
	morph_repair_kick(next, 0);
}

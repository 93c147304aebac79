// SPDX-License-Identifier: GPL-2.0-only
/*
 * Repair of slices. health.c finds failures; this file restores the affected slice.
 *
 * One work item per slice; different slices are repaired at the same time. Each round starts from
 * the current state of the slice, so the next round handles failures that happen during the repair:
 *
 *   1. read the receivers of dark circuits: some may be lit again; for the others find
 *      the failed hardware
 *   2. replace each failed rank by a spare and move its circuits, as one transaction,
 *      from the protection if that is current
 *   3. reroute every other circuit that is dark, or that uses failed hardware
 */
#include "core/base/base.h"
#include "core/base/trace.h"
#include "core/hardware/hardware.h"
#include "core/ledger/ledger.h"
#include "core/recovery/recovery.h"
#include "core/slice/slice.h"
#include "core/txn/txn.h"

#define FAILED_NOW	XA_MARK_1	/* circuits whose failure event is not sent yet */
#define MAX_ROUNDS	8u	/* per repair; each may quarantine further hardware */
#define RECOVER_DELAY	msecs_to_jiffies(20)

/**
 * morph_repair_kick() - start the repair of a slice
 * @slice: the slice
 * @since_ns: CLOCK_MONOTONIC time at which hardware showed it, or 0
 *
 * Until the repair has ended, the core refuses the tenant's changes with EAGAIN.
 *
 * Context: fabric->lock held.
 */
void morph_repair_kick(struct morph_slice *slice, u64 since_ns)
{
	u64 now = ktime_get_ns();

	lockdep_assert_held(&slice->fabric->lock);
	if (slice->dying || slice->fabric->state != MORPH_FABRIC_READY)
		return;
	if (!slice->repairing) {
		slice_recovery(slice)->fault_since_ns = since_ns ? since_ns : now;
		slice_recovery(slice)->fault_noticed_ns = now;
		kref_get(&slice->kref);		/* reference of the work */
		WRITE_ONCE(slice->repairing, true);
		morph_protection_pause(slice->fabric);
		slice_tenancy(slice)->state = MORPH_SLICE_REPAIRING;
		trace_morph_slice_state(slice->fabric->id, slice->number, MORPH_SLICE_REPAIRING);
	}
	queue_work(morph_repair_wq, &slice_recovery(slice)->repair_work);
}

int morph_repair_stage(struct morph_txn *txn)
{
	int ret;

	do {
		txn->refusal = (struct morph_refusal){ .item = MORPH_ANY };
		ret = morph_txn_stage(txn);
	} while (ret && morph_txn_revoke_holder(txn->fabric, txn->refusal.part,
						txn->refusal.index));
	/* A refusal because of hardware known to be failed is no device error: do not retry. */
	return ret == -EIO ? -EHOSTUNREACH : ret;
}

/* ----------------------------------------------------------- dark circuits */

/* Return whether the light of a circuit arrives, or that of a half circuit leaves. No lock held. */
static bool circuit_lit(struct morph_fabric *fabric, const struct morph_route *route, s32 *power)
{
	s32 least = route->verdict.power_mdbm - (s32)fabric->graph->params.window_mdb;
	struct morph_receiver_reading reading = {
		.port = route->path.rx,
		.lanes = route->path.lanes,
	};

	*power = route->verdict.power_mdbm;
	if (morph_route_leaves(fabric, route))
		return !morph_half_verify_leaving(fabric, NULL, route, true);
	if (morph_hw_get_receivers(fabric, NULL, &reading, 1))
		return false;
	*power = reading.min_mdbm;
	return reading.locked == reading.lanes && reading.min_mdbm >= least;
}

/*
 * Read a dark circuit's receiver. If it is still dark, find the failed hardware. Caller holds
 * fabric->lock; the function drops it while the device works. The caller has entered the slice, so
 * the circuit stays.
 */
static void examine(struct morph_circuit *circuit)
{
	struct morph_fabric *fabric = circuit->slice->fabric;
	const struct morph_route *route = circuit->route;
	struct morph_culprit culprit = {};
	u32 src = morph_end_place(circuit->slice, circuit->src_rank);
	u32 alarms = circuit->alarms;
	s32 power;
	bool lit;

	mutex_unlock(&fabric->lock);
	lit = circuit_lit(fabric, route, &power);
	if (lit) {
		mutex_lock(&fabric->lock);
		/* An alarm since the reading has queued another repair. */
		if (circuit->alarms != alarms)
			return;
		circuit->dark = false;
		circuit->state = MORPH_CIRCUIT_LIT;
		circuit->power_mdbm = power;
		circuit->last_verified_ns = ktime_get_boottime_ns();
		morph_hw_seen(fabric, route->path.rx);
		return;
	}
	morph_health_diagnose(fabric, &route->path, src, &culprit);
	mutex_lock(&fabric->lock);
	slice_recovery(circuit->slice)->culprit = culprit;
	morph_health_set(fabric, &culprit,
			 culprit.part == MORPH_PART_GUIDE ? MORPH_HEALTH_QUARANTINED :
							    MORPH_HEALTH_FAILED, 0);
}

/* Return whether the lasers of a route are commanded on. Otherwise darkness is no evidence. */
static bool is_commanded_lit(struct morph_fabric *fabric, const struct morph_route *route)
{
	return morph_route_comes_in(fabric, route) || (hardware_of(fabric)->tx_on[route->path.tx] &
						       route->path.lanes) == route->path.lanes;
}

static void examine_dark(struct morph_slice *slice)
{
	struct morph_fabric *fabric = slice->fabric;
	struct morph_circuit *circuit;
	unsigned long index;

	xa_for_each(&slice->circuits, index, circuit) {
		if (!circuit->listed || !circuit->dark)
			continue;
		/* A known cause needs no diagnosis. */
		if (morph_rank_failed(slice, circuit->src_rank) ||
		    morph_rank_failed(slice, circuit->dst_rank) ||
		    !is_commanded_lit(fabric, circuit->route) ||
		    !morph_route_is_healthy(fabric, circuit->route))
			continue;
		examine(circuit);
	}
}

/* ------------------------------------------------------------------ reroute */

static bool needs_reroute(struct morph_slice *slice, const struct morph_circuit *circuit)
{
	if (!circuit->listed || circuit_txns(circuit)->pending)
		return false;
	if (morph_rank_failed(slice, circuit->src_rank) ||
	    morph_rank_failed(slice, circuit->dst_rank))
		return false;
	if (!morph_route_is_healthy(slice->fabric, circuit->route))
		return true;
	/* If a peer sends no light, another path does not help. */
	return circuit->dark && !morph_route_comes_in(slice->fabric, circuit->route);
}

/* Called at the publication of the light. */
void morph_repair_published(struct morph_txn *txn)
{
	struct morph_repair_job *job = txn->context;

	txn->slice->generation++;
	txn->session.times.phase_ns[MORPH_PHASE_DETECT] =
		slice_recovery(txn->slice)->fault_noticed_ns -
		slice_recovery(txn->slice)->fault_since_ns;
	if (job->published)
		job->published(txn, job);
}

/* Called last, so that receivers of the event find the new state on the state page. */
void morph_repair_announced(struct morph_txn *txn)
{
	struct morph_repair_job *job = txn->context;

	job->announced(txn, job);
}

/* A circuit that is rerouted. */
struct reroute {
	struct morph_repair_job job;
	const struct morph_circuit *circuit;
};

static void reroute_announced(struct morph_txn *txn, struct morph_repair_job *job)
{
	const struct morph_circuit *circuit = container_of(job, struct reroute, job)->circuit;
	struct morph_slice *slice = circuit->slice;
	struct morph_event event;

	morph_event_init(&event, slice, MORPH_EVENT_CIRCUIT_MOVED);
	event.circuit = circuit->id;
	event.part = slice_recovery(slice)->culprit.part;
	event.index = slice_recovery(slice)->culprit.index;
	event.dark_ns = morph_txn_longest_dark(txn);
	event.times = txn->session.times;
	morph_report_event(slice, &event);
}

static int reroute(struct morph_slice *slice, struct morph_circuit *circuit)
{
	struct reroute reroute = { .job.announced = reroute_announced, .circuit = circuit };
	struct morph_change change = {};
	struct morph_txn *txn;
	u64 begin = ktime_get_ns();
	int ret;

	txn = morph_txn_alloc(slice, &change, NULL, 1, 0, MORPH_GFP_REPAIR);
	txn->kind = morph_txn_kinds[MORPH_TXN_REPAIR];
	morph_slice_fill_move(&txn->items[0], circuit);
	ret = morph_repair_stage(txn);
	/* A circuit of a schedule stays on its planes if possible. */
	if (ret && circuit->scheduled) {
		morph_repair_free_routes(txn);
		txn->items[0].change.src_plane = MORPH_PLANE_ANY;
		txn->items[0].change.dst_plane = MORPH_PLANE_ANY;
		ret = morph_repair_stage(txn);
	}
	if (!ret) {
		txn->session.times.phase_ns[MORPH_PHASE_PLAN] = ktime_get_ns() - begin;
		txn->context = &reroute.job;
		ret = morph_exec_commit(txn, false);
	}
	if (!ret)
		morph_stat(slice->fabric, MORPH_STAT_REROUTES);
	morph_repair_free_txn(txn);
	return ret;
}

static int reroute_all(struct morph_slice *slice)
{
	struct morph_circuit *circuit;
	unsigned long index;
	int first = 0, ret;

	if (slice_tenancy(slice)->failover == MORPH_FAILOVER_NONE)
		return 0;
	xa_for_each(&slice->circuits, index, circuit) {
		if (!needs_reroute(slice, circuit))
			continue;
		ret = reroute(slice, circuit);
		if (ret && !first)
			first = ret;
	}
	return first;
}

/* ------------------------------------------------------------------- rounds */

/* Return whether the slice needs no further round. */
static bool is_whole(struct morph_slice *slice)
{
	struct morph_circuit *circuit;
	unsigned long index;
	u32 i;

	for (i = 0; i < slice->ranks_count; i++)
		if (slice->ranks[i].failed)
			return false;
	xa_for_each(&slice->circuits, index, circuit)
		if (circuit->listed &&
		    (circuit->dark || !morph_route_is_healthy(slice->fabric, circuit->route)))
			return false;
	return true;
}

/* Mark circuits failed that no repair could restore. */
static void fail_dark_circuits(struct morph_slice *slice)
{
	struct morph_circuit *circuit;
	unsigned long index;

	xa_for_each(&slice->circuits, index, circuit) {
		bool dark = circuit->dark || morph_rank_failed(slice, circuit->src_rank) ||
			    morph_rank_failed(slice, circuit->dst_rank);

		if (!circuit->listed || circuit->state == MORPH_CIRCUIT_FAILED || !dark)
			continue;
		/* If its accelerator returns, its light must be read before it counts as lit. */
		circuit->dark = true;
		circuit->state = MORPH_CIRCUIT_FAILED;
		xa_set_mark(&slice->circuits, index, FAILED_NOW);
	}
}

/*
 * Send the events of the circuits that have failed. Each event has the remaining bandwidth, and its
 * reader finds the circuit dark on the state page. Caller holds fabric->lock.
 */
static void report_failed_circuits(struct morph_slice *slice)
{
	struct morph_circuit *circuit;
	struct morph_event event;
	unsigned long index;

	morph_event_init(&event, slice, MORPH_EVENT_CIRCUIT_FAILED);
	event.part = slice_recovery(slice)->culprit.part;
	event.index = slice_recovery(slice)->culprit.index;
	xa_for_each_marked(&slice->circuits, index, circuit, FAILED_NOW) {
		xa_clear_mark(&slice->circuits, index, FAILED_NOW);
		event.circuit = circuit->id;
		morph_report_event(slice, &event);
	}
}

/* Cancel requested replacements that failed. The rank keeps its accelerator if that is healthy. */
static void cancel_requested_replacements(struct morph_slice *slice)
{
	u32 i;

	for (i = 0; i < slice->ranks_count; i++) {
		struct morph_rank_recovery *requested = rank_recovery(slice, i);
		struct morph_rank *entry = &slice->ranks[i];

		if (!requested->forced)
			continue;
		requested->forced = false;
		requested->wanted_spare = MORPH_ANY;
		if (ledger_of(slice->fabric)->chips[entry->accelerator].health == MORPH_HEALTH_OK)
			entry->failed = false;
	}
}

/* Return whether a rank is without the lent spare that a failover took, and forget the others. */
static bool lacks_lent_spare(struct morph_slice *slice)
{
	bool lacks = false;
	u32 i;

	for (i = 0; i < slice->ranks_count; i++) {
		rank_recovery(slice, i)->taken &= slice->ranks[i].failed;
		lacks |= rank_recovery(slice, i)->taken;
	}
	return lacks;
}

/* End a repair and report the state of the slice. Caller holds fabric->lock. */
static void repair_end(struct morph_slice *slice)
{
	struct morph_fabric *fabric = slice->fabric;
	bool whole, lacks, was = slice_recovery(slice)->was_degraded;
	struct morph_event event;
	u64 left_mbps;

	cancel_requested_replacements(slice);
	whole = is_whole(slice);
	lacks = lacks_lent_spare(slice);
	WRITE_ONCE(slice->repairing, false);
	morph_protection_unpause(fabric);
	if (slice->dying || fabric->state != MORPH_FABRIC_READY)
		return;
	slice_tenancy(slice)->state = whole ? MORPH_SLICE_OK : MORPH_SLICE_DEGRADED;
	trace_morph_slice_state(fabric->id, slice->number, slice_tenancy(slice)->state);
	slice_recovery(slice)->was_degraded = !whole;
	recovery_of(fabric)->degraded += (int)!whole - (int)was;
	fabric->seq++;
	if (!whole)
		fail_dark_circuits(slice);
	if (!whole && !was)
		slice->generation++;
	morph_report_light_reviewed(slice);
	if (!whole)
		report_failed_circuits(slice);
	left_mbps = morph_slice_bandwidth(slice);
	if (!whole && was && left_mbps == slice_recovery(slice)->degraded_mbps)
		return;			/* an earlier repair has sent the event */
	slice_recovery(slice)->degraded_mbps = left_mbps;
	morph_event_init(&event, slice, whole ? MORPH_EVENT_RECOVERED : MORPH_EVENT_DEGRADED);
	event.part = slice_recovery(slice)->culprit.part;
	event.index = slice_recovery(slice)->culprit.index;
	event.outcome = lacks ? MORPH_OUTCOME_REVOKED : MORPH_OUTCOME_NONE;
	morph_report_event(slice, &event);
	morph_report_slice_changed(slice);
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

/*
 * A failed repair gives back the spares and lanes that it held. Repairs that ran at the same time
 * may have failed for want of them. Those slices retry one after the other when no repair is
 * running. Each then finds all free resources and takes none from another repair, so the retries
 * end.
 */
static void retry_crowded(struct morph_slice *last)
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

void morph_repair_work(struct work_struct *work)
{
	struct morph_slice_recovery *recovery = container_of(work, struct morph_slice_recovery,
							     repair_work);
	struct morph_slice *slice = &recovery->tenancy.txns.slice;
	struct morph_fabric *fabric = slice->fabric;
	u32 round, recoveries, begun;
	bool crowded;
	int ret = 0, rerouted = 0;

	mutex_lock(&fabric->lock);
	morph_slice_enter(slice, true);
	slice_recovery(slice)->entered_by = slice;
	morph_txn_revoke_slice(slice);
	recoveries = recovery_of(fabric)->recoveries;
	crowded = recovery_of(fabric)->repairs++;
	begun = ++recovery_of(fabric)->repairs_begun;
	for (round = 0; round < MAX_ROUNDS; round++) {
		if (slice->dying || fabric->state != MORPH_FABRIC_READY || is_whole(slice))
			break;
		examine_dark(slice);
		ret = morph_failover_run(slice);
		slice_recovery(slice)->failover_error = ret;
		rerouted = reroute_all(slice);
		/*
		 * If a spare failed, retry, even if circuits that do not need it could be rerouted.
		 */
		if (ret != -EIO && ret != -ETIMEDOUT)
			ret = rerouted;
		/* Retry only after a device error. */
		if (ret != -EIO && ret != -ETIMEDOUT)
			break;
	}
	morph_report_repaired(slice);
	/* A failure during the repair has queued the work again: the next run ends the repair. */
	if (!work_pending(work))
		repair_end(slice);
	/*
	 * A resource became free during the repair, when the slice did not count as degraded:
	 * retry.
	 */
	if (slice_tenancy(slice)->state == MORPH_SLICE_DEGRADED &&
	    fabric->state == MORPH_FABRIC_READY &&
	    recovery_of(fabric)->recoveries != recoveries)
		queue_delayed_work(morph_wq, &recovery_of(fabric)->recover_work, RECOVER_DELAY);
	recovery_of(fabric)->repairs--;
	slice_recovery(slice)->crowded = crowded || recovery_of(fabric)->repairs_begun != begun;
	ret = slice->repairing;
	retry_crowded(slice);
	slice_recovery(slice)->entered_by = NULL;
	morph_slice_leave(slice);
	mutex_unlock(&fabric->lock);
	if (!ret)
		morph_slice_put(slice);
}

/* ----------------------------------------------------------------- recovery */

void morph_repair_recover(struct morph_fabric *fabric)
{
	lockdep_assert_held(&fabric->lock);
	if (fabric->state != MORPH_FABRIC_READY)
		return;
	recovery_of(fabric)->recoveries++;
	if (recovery_of(fabric)->degraded || recovery_of(fabric)->lost ||
	    !list_empty(&slices_of(fabric)->protections_wanted))
		queue_delayed_work(morph_wq, &recovery_of(fabric)->recover_work, RECOVER_DELAY);
}

/* A resource became free or healthy: retry the slices that wait for one. */
void morph_repair_recover_work(struct work_struct *work)
{
	struct morph_recovery *recovery = container_of(to_delayed_work(work), struct morph_recovery,
						     recover_work);
	struct morph_fabric *fabric = &recovery->slices.txns.ledger.hardware.fabric;
	struct morph_slice *slice;

	mutex_lock(&fabric->lock);
	list_for_each_entry(slice, &ledger_of(fabric)->slices, node) {
		/* Do not revoke prepared transactions: their end triggers a retry. */
		if (slice_tenancy(slice)->state == MORPH_SLICE_DEGRADED &&
		    list_empty(&slice_txns(slice)->txns))
			morph_repair_kick(slice, 0);
		else
			morph_report_retried(slice);
	}
	rebuild_wanted_protections(fabric);
	mutex_unlock(&fabric->lock);
}

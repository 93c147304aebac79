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

/*
 * Allocate a repair's transaction. The allocation may wait for memory, and drops fabric->lock then.
 * The caller has entered the slice, so its circuits stay.
 */
struct morph_txn *morph_repair_alloc_txn(struct morph_slice *slice, u32 count)
{
	struct morph_fabric *fabric = slice->fabric;
	struct morph_txn *txn = morph_txn_alloc(slice, NULL, NULL, count, 0, MORPH_GFP_LOCKED);

	if (!txn) {
		mutex_unlock(&fabric->lock);
		txn = morph_txn_alloc(slice, NULL, NULL, count, 0, MORPH_GFP_REPAIR);
		mutex_lock(&fabric->lock);
	}
	txn->gfp = MORPH_GFP_REPAIR;
	txn->kind = morph_txn_kinds[MORPH_TXN_REPAIR];
	return txn;
}

void morph_repair_free_routes(struct morph_txn *txn)
{
	u32 i;

	for (i = 0; i < txn->count; i++) {
		if (!txn->items[i].new)
			continue;
		morph_route_unlist(txn->items[i].new);
		morph_route_free(txn->items[i].new);
		txn->items[i].new = NULL;
	}
}

/* Free a repair's transaction that was not executed; its routes claim nothing. */
void morph_repair_free_txn(struct morph_txn *txn)
{
	if (!txn)
		return;
	morph_repair_free_routes(txn);
	morph_txn_put(txn);
}

int morph_repair_stage(struct morph_txn *txn, bool dry)
{
	struct morph_fabric *fabric = txn->fabric;
	int ret;

	for (;;) {
		txn->refusal = (struct morph_refusal){ .item = MORPH_ANY };
		ret = morph_txn_plan_and_stage(txn);
		slice_recovery(txn->slice)->disturbed |= ret == -ESTALE;
		if (!ret || ret == -ESTALE || ret == -ENODEV)
			return ret;
		if (dry && morph_txn_has_holder(fabric, txn->refusal.part, txn->refusal.index))
			return MORPH_REPAIR_BLOCKED;
		if (dry || !morph_txn_revoke_holder(fabric, txn->refusal.part, txn->refusal.index))
			break;
		/* Search again: the refused path need not be the best one now. */
		morph_repair_free_routes(txn);
	}
	/* A refusal because of hardware known to be failed is no device error: do not retry. */
	return ret == -EIO ? -EHOSTUNREACH : ret;
}

struct morph_circuit *morph_loop_next(struct morph_listed_loop *loop)
{
	struct morph_circuit *circuit;

	while (loop->left) {
		/* No circuit has number 0. The next number is likely to exist, and found fast. */
		circuit = xa_load(&loop->slice->circuits, loop->number + 1);
		if (circuit)
			loop->number++;
		else
			circuit = xa_find_after(&loop->slice->circuits, &loop->number, ULONG_MAX,
						XA_PRESENT);
		if (WARN_ON_ONCE(!circuit))
			break;
		if (!circuit->listed)
			continue;
		loop->left--;
		return circuit;
	}
	return NULL;
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
		morph_circuit_set_state(circuit, MORPH_CIRCUIT_LIT);
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

/* Return whether a circuit is dark for no known reason. A known cause needs no diagnosis. */
static bool is_unexplained(const struct morph_circuit *circuit)
{
	const struct morph_slice *slice = circuit->slice;

	return circuit->dark && !morph_rank_failed(slice, circuit->src_rank) &&
	       !morph_rank_failed(slice, circuit->dst_rank) &&
	       is_commanded_lit(slice->fabric, circuit->route) &&
	       morph_route_is_healthy(slice->fabric, circuit->route);
}

static void examine_dark(struct morph_slice *slice)
{
	struct morph_listed_loop loop = morph_loop_listed(slice);
	struct morph_circuit *circuit;

	while ((circuit = morph_loop_next(&loop)))
		if (is_unexplained(circuit))
			examine(circuit);
}

bool morph_light_may_return(struct morph_slice *slice)
{
	struct morph_listed_loop loop = morph_loop_listed(slice);
	struct morph_circuit *circuit;

	while ((circuit = morph_loop_next(&loop)))
		if (is_unexplained(circuit))
			return true;
	return false;
}

/* ------------------------------------------------------------------ reroute */

bool morph_circuit_broken(const struct morph_circuit *circuit)
{
	const struct morph_slice *slice = circuit->slice;

	if (slice_tenancy(slice)->failover == MORPH_FAILOVER_NONE)
		return false;
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

bool morph_circuit_in_vain(const struct morph_circuit *circuit)
{
	u32 paths_freed = recovery_of(circuit->slice->fabric)->paths_freed;

	return circuit->searched && circuit->searched == paths_freed;
}

/*
 * Stage the move of a circuit to another path, and note a search in vain. @dry: only try, as in
 * morph_repair_stage().
 */
static int stage_reroute(struct morph_circuit *circuit, bool dry, struct morph_txn **staged)
{
	struct morph_txn *txn = morph_repair_alloc_txn(circuit->slice, 1);
	int ret;

	morph_slice_fill_move(&txn->items[0], circuit);
	ret = morph_repair_stage(txn, dry);
	/* A circuit of a schedule stays on its planes if possible. */
	if (ret && circuit->scheduled) {
		morph_repair_free_routes(txn);
		txn->items[0].change.src_plane = MORPH_PLANE_ANY;
		txn->items[0].change.dst_plane = MORPH_PLANE_ANY;
		ret = morph_repair_stage(txn, dry);
	}
	circuit->searched = 0;
	if (ret && ret != -EBUSY && ret != -ESTALE && ret != -ENODEV && ret != MORPH_REPAIR_BLOCKED)
		circuit->searched = recovery_of(txn->fabric)->paths_freed;
	if (ret)
		morph_repair_free_txn(txn);
	else
		*staged = txn;
	return ret;
}

bool morph_reroute_possible(struct morph_circuit *circuit)
{
	struct morph_slice *slice = circuit->slice;
	struct morph_txn *txn;
	int ret;

	morph_slice_enter(slice, true);
	ret = stage_reroute(circuit, true, &txn);
	if (!ret) {
		morph_txn_unstage(txn);
		morph_repair_free_txn(txn);
	}
	morph_report_searched(slice);
	morph_slice_leave(slice);
	return !ret || ret == MORPH_REPAIR_BLOCKED;
}

static int reroute(struct morph_slice *slice, struct morph_circuit *circuit)
{
	struct reroute reroute = { .job.announced = reroute_announced, .circuit = circuit };
	u64 begin = ktime_get_ns();
	struct morph_txn *txn;
	int ret;

	ret = stage_reroute(circuit, false, &txn);
	if (ret)
		return ret;
	txn->session.times.phase_ns[MORPH_PHASE_PLAN] = ktime_get_ns() - begin;
	txn->context = &reroute.job;
	ret = morph_exec_commit(txn, false);
	if (!ret)
		morph_stat(slice->fabric, MORPH_STAT_REROUTES);
	morph_repair_free_txn(txn);
	return ret;
}

/* The caller has entered the slice, so its circuits stay. */
bool morph_repair_pause(struct morph_slice *slice)
{
	struct morph_fabric *fabric = slice->fabric;

	mutex_unlock(&fabric->lock);
	cond_resched();
	mutex_lock(&fabric->lock);
	return !slice->dying && fabric->state == MORPH_FABRIC_READY;
}

static int reroute_all(struct morph_slice *slice)
{
	struct morph_listed_loop loop = morph_loop_listed(slice);
	struct morph_circuit *circuit;
	int first = 0, ret;

	while ((circuit = morph_loop_next(&loop))) {
		if (!morph_circuit_broken(circuit))
			continue;
		ret = -EHOSTUNREACH;
		if (!morph_circuit_in_vain(circuit))
			ret = reroute(slice, circuit);
		if (ret && !first)
			first = ret;
		if (ret && !morph_repair_pause(slice))
			break;
	}
	return first;
}

/* ------------------------------------------------------------------- rounds */

bool morph_slice_whole(struct morph_slice *slice)
{
	struct morph_listed_loop loop = morph_loop_listed(slice);
	struct morph_circuit *circuit;
	u32 i;

	for (i = 0; i < slice->ranks_count; i++)
		if (slice->ranks[i].failed)
			return false;
	while ((circuit = morph_loop_next(&loop)))
		if (circuit->dark || !morph_route_is_healthy(slice->fabric, circuit->route))
			return false;
	return true;
}

/* Mark circuits failed that no repair could restore. */
static void fail_dark_circuits(struct morph_slice *slice)
{
	struct morph_listed_loop loop = morph_loop_listed(slice);
	struct morph_circuit *circuit;

	while ((circuit = morph_loop_next(&loop))) {
		bool dark = circuit->dark || morph_rank_failed(slice, circuit->src_rank) ||
			    morph_rank_failed(slice, circuit->dst_rank);

		if (circuit->state == MORPH_CIRCUIT_FAILED || !dark)
			continue;
		/* If its accelerator returns, its light must be read before it counts as lit. */
		circuit->dark = true;
		morph_circuit_set_state(circuit, MORPH_CIRCUIT_FAILED);
		xa_set_mark(&slice->circuits, circuit->id, FAILED_NOW);
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
	whole = morph_slice_whole(slice);
	lacks = lacks_lent_spare(slice);
	WRITE_ONCE(slice->repairing, false);
	morph_protection_unpause(fabric);
	if (slice->dying || fabric->state != MORPH_FABRIC_READY)
		return;
	slice_tenancy(slice)->state = whole ? MORPH_SLICE_OK : MORPH_SLICE_DEGRADED;
	trace_morph_slice_state(fabric->id, slice->number, slice_tenancy(slice)->state);
	slice_recovery(slice)->was_degraded = !whole;
	morph_retry_repaired(slice, whole);
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
	recovery->disturbed = false;
	recoveries = recovery_of(fabric)->recoveries;
	crowded = recovery_of(fabric)->repairs++;
	begun = ++recovery_of(fabric)->repairs_begun;
	for (round = 0; round < MAX_ROUNDS; round++) {
		if (slice->dying || fabric->state != MORPH_FABRIC_READY || morph_slice_whole(slice))
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
	 * A resource became free during the repair, when the slice did not count as degraded, or
	 * other changes have disturbed a search: retry.
	 */
	if (slice_tenancy(slice)->state == MORPH_SLICE_DEGRADED &&
	    fabric->state == MORPH_FABRIC_READY &&
	    (recovery_of(fabric)->recoveries != recoveries || recovery->disturbed))
		morph_retry_missed(slice);
	recovery_of(fabric)->repairs--;
	slice_recovery(slice)->crowded = crowded || recovery_of(fabric)->repairs_begun != begun;
	ret = slice->repairing;
	morph_retry_crowded(slice);
	slice_recovery(slice)->entered_by = NULL;
	morph_slice_leave(slice);
	mutex_unlock(&fabric->lock);
	if (!ret)
		morph_slice_put(slice);
}

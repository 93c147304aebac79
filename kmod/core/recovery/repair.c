// SPDX-License-Identifier: GPL-2.0-only
/*
 * Failover: what failed is found (health.c), here the slice is made whole.
 *
 * One work item per slice; different slices are repaired at the same time. A round
 * looks at the slice as it is now, so failures that come while it is repaired are
 * simply found by the next round:
 *
 *   1. read the receivers of dark circuits: some are lit again; for the rest find
 *      the culprit
 *   2. give each failed rank a spare and move its circuits there, as one transaction,
 *      from the protection where one is current
 *   3. lead every other circuit that is dark, or uses failed hardware, round it
 */
#include "core/base/base.h"
#include "core/base/trace.h"
#include "core/hardware/hardware.h"
#include "core/ledger/ledger.h"
#include "core/recovery/recovery.h"
#include "core/slice/slice.h"
#include "core/txn/txn.h"

#define FAILED_NOW	XA_MARK_1	/* a circuit whose failure is still to be told */
#define MAX_ROUNDS	8u	/* of one repair; each may quarantine what it trusted */
#define RECOVER_DELAY	msecs_to_jiffies(20)

/**
 * morph_repair_kick() - something that a slice uses has failed
 * @slice: the slice
 * @since_ns: CLOCK_MONOTONIC time at which hardware showed it, or 0
 *
 * From now on the tenant's changes answer EAGAIN until the repair has ended.
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
		kref_get(&slice->kref);		/* the work's */
		WRITE_ONCE(slice->repairing, true);
		morph_protection_stand_back(slice->fabric);
		slice_tenancy(slice)->state = MORPH_SLICE_REPAIRING;
		trace_morph_slice_state(slice->fabric->id, slice->number, MORPH_SLICE_REPAIRING);
	}
	queue_work(morph_wq, &slice_recovery(slice)->repair_work);
}

int morph_repair_stage(struct morph_txn *txn)
{
	int ret;

	do {
		txn->refusal = (struct morph_refusal){ .item = MORPH_ANY };
		ret = morph_txn_stage(txn);
	} while (ret && morph_txn_revoke_holder(txn->fabric, txn->refusal.part,
						txn->refusal.index));
	/* What is known to be bad is not device trouble, which would be worth another look. */
	return ret == -EIO ? -EHOSTUNREACH : ret;
}

/* ----------------------------------------------------------- dark circuits */

/* Does the light of a circuit arrive, or that of half a one leave? No lock held. */
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
 * Read a dark circuit's receiver: it may be lit again; if not, find who is to blame.
 * fabric->lock held, dropped while the device works; the slice has been entered, so
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
		/* Dark once more since it was read: that has queued another repair. */
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

/* Was it told to be lit? Of one that was not, darkness tells nothing. */
static bool is_told_lit(struct morph_fabric *fabric, const struct morph_route *route)
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
		/* Known causes need no search. */
		if (morph_rank_failed(slice, circuit->src_rank) ||
		    morph_rank_failed(slice, circuit->dst_rank) ||
		    !is_told_lit(fabric, circuit->route) ||
		    !morph_route_sound(fabric, circuit->route))
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
	if (!morph_route_sound(slice->fabric, circuit->route))
		return true;
	/* What a peer does not send no other way brings. */
	return circuit->dark && !morph_route_comes_in(slice->fabric, circuit->route);
}

/* In the moment in which the light is published. */
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

/* Whoever hears of it finds it on the state page. */
void morph_repair_announced(struct morph_txn *txn)
{
	struct morph_repair_job *job = txn->context;

	job->announced(txn, job);
}

/* A circuit that is moved elsewhere. */
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
	/* One of a schedule stays on its planes where it can. */
	if (ret && circuit->scheduled) {
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

/* Is anything left that a further round could mend? */
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
		    (circuit->dark || !morph_route_sound(slice->fabric, circuit->route)))
			return false;
	return true;
}

/* A circuit that nothing brought back. */
static void fail_dark_circuits(struct morph_slice *slice)
{
	struct morph_circuit *circuit;
	struct morph_event event;
	unsigned long index;

	xa_for_each(&slice->circuits, index, circuit) {
		bool dark = circuit->dark || morph_rank_failed(slice, circuit->src_rank) ||
			    morph_rank_failed(slice, circuit->dst_rank);

		if (!circuit->listed || circuit->state == MORPH_CIRCUIT_FAILED || !dark)
			continue;
		/* Should its accelerator come back, its light is read before it is believed. */
		circuit->dark = true;
		circuit->state = MORPH_CIRCUIT_FAILED;
		xa_set_mark(&slice->circuits, index, FAILED_NOW);
	}
	/* Not before all are marked: each event says what bandwidth is left. */
	morph_event_init(&event, slice, MORPH_EVENT_CIRCUIT_FAILED);
	event.part = slice_recovery(slice)->culprit.part;
	event.index = slice_recovery(slice)->culprit.index;
	xa_for_each_marked(&slice->circuits, index, circuit, FAILED_NOW) {
		xa_clear_mark(&slice->circuits, index, FAILED_NOW);
		event.circuit = circuit->id;
		morph_report_event(slice, &event);
	}
}

/*
 * Replacements that somebody asked for and that could not be had: where the accelerator
 * is sound the rank keeps it.
 */
static void drop_wishes(struct morph_slice *slice)
{
	u32 i;

	for (i = 0; i < slice->ranks_count; i++) {
		struct morph_rank_recovery *wish = rank_recovery(slice, i);
		struct morph_rank *entry = &slice->ranks[i];

		if (!wish->forced)
			continue;
		wish->forced = false;
		wish->wanted_spare = MORPH_ANY;
		if (ledger_of(slice->fabric)->chips[entry->accelerator].health == MORPH_HEALTH_OK)
			entry->failed = false;
	}
}

/* The repair has ended: say how the slice stands. fabric->lock held. */
static void repair_end(struct morph_slice *slice)
{
	struct morph_fabric *fabric = slice->fabric;
	bool whole, was = slice_recovery(slice)->was_degraded;
	struct morph_event event;
	u64 left_mbps;

	drop_wishes(slice);
	whole = is_whole(slice);
	WRITE_ONCE(slice->repairing, false);
	morph_protection_go_on(fabric);
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
	left_mbps = morph_slice_bandwidth(slice);
	if (!whole && was && left_mbps == slice_recovery(slice)->degraded_mbps)
		return;			/* it was said before */
	slice_recovery(slice)->degraded_mbps = left_mbps;
	morph_event_init(&event, slice, whole ? MORPH_EVENT_RECOVERED : MORPH_EVENT_DEGRADED);
	event.part = slice_recovery(slice)->culprit.part;
	event.index = slice_recovery(slice)->culprit.index;
	morph_report_event(slice, &event);
	morph_report_slice_changed(slice);
	morph_protection_touch_slice(slice);
}

/* Protections that found no spare, or not what they should hold, are made once more. */
static void replan(struct morph_fabric *fabric)
{
	if (list_empty(&slices_of(fabric)->protections_wanted))
		return;
	list_splice_tail_init(&slices_of(fabric)->protections_wanted,
			      &slices_of(fabric)->stale_protections);
	queue_delayed_work(system_unbound_wq, &slices_of(fabric)->protection_work, 0);
}

/*
 * A repair in vain gives back the spares and lanes that it held, and others that were under
 * way meanwhile have missed these. They try again once nobody holds anything, one after the
 * other: each then finds all that is free and keeps it from none, so that this ends.
 */
static void retry_crowded(struct morph_slice *last)
{
	struct morph_slice *slice, *next = NULL;
	struct morph_fabric *fabric = last->fabric;

	if (recovery_of(fabric)->repairs || fabric->state != MORPH_FABRIC_READY)
		return;
	replan(fabric);
	list_for_each_entry(slice, &ledger_of(fabric)->slices, node) {
		/* No cause to settle what is prepared: its end lets them try. */
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
		/* A spare that let us down is not made good by circuits that have no need of it. */
		if (ret != -EIO && ret != -ETIMEDOUT)
			ret = rerouted;
		/* Only hardware that let us down is worth another look. */
		if (ret != -EIO && ret != -ETIMEDOUT)
			break;
	}
	morph_report_repaired(slice);
	/* A failure that came meanwhile has queued the work again: it goes on there. */
	if (!work_pending(work))
		repair_end(slice);
	/* Something became free while it was being given up, and found nobody who waited. */
	if (slice_tenancy(slice)->state == MORPH_SLICE_DEGRADED &&
	    fabric->state == MORPH_FABRIC_READY &&
	    recovery_of(fabric)->recoveries != recoveries)
		queue_delayed_work(morph_wq, &recovery_of(fabric)->recover_work, RECOVER_DELAY);
	recovery_of(fabric)->repairs--;
	slice_recovery(slice)->crowded = crowded || recovery_of(fabric)->repairs_begun != begun;
	ret = slice->repairing;
	retry_crowded(slice);
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

/* Something became free or healthy: whoever waits for such a thing tries once more. */
void morph_repair_recover_work(struct work_struct *work)
{
	struct morph_recovery *recovery = container_of(to_delayed_work(work), struct morph_recovery,
						     recover_work);
	struct morph_fabric *fabric = &recovery->slices.txns.ledger.hardware.fabric;
	struct morph_slice *slice;

	mutex_lock(&fabric->lock);
	list_for_each_entry(slice, &ledger_of(fabric)->slices, node) {
		/* No cause to settle what is prepared: its end lets them try. */
		if (slice_tenancy(slice)->state == MORPH_SLICE_DEGRADED &&
		    list_empty(&slice_txns(slice)->txns))
			morph_repair_kick(slice, 0);
		else
			morph_report_retried(slice);
	}
	replan(fabric);
	mutex_unlock(&fabric->lock);
}

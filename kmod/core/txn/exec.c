// SPDX-License-Identifier: GPL-2.0-only
/*
 * Execution of a staged transaction: program the hardware, verify the light by reading
 * receivers back, and publish; or roll back and verify that, too.
 *
 * The executing thread has entered the slice, so no other thread changes its circuits and
 * the lasers of its accelerators. The thread drops fabric->lock while the device works, and
 * takes it for each access to the ledger.
 *
 * Order of a commit:
 *   1. elements that no lit circuit of the transaction uses     (make)
 *   2. lasers off of the old circuits that must go dark first, then the
 *      elements that these share with their successors          (break)
 *   3. settle; the new receivers must be dark
 *   4. lasers of the new circuits on; relock; they must be lit, and the
 *      state of all other receivers that the turned elements reach must be unchanged
 *   5. lasers of the other old circuits off; they must be dark
 *   6. publish, read the lasers of step 2 to verify that they are off, then park
 *      elements that no route uses any more
 */
#include "core/base/base.h"
#include "core/base/trace.h"
#include "core/hardware/hardware.h"
#include "core/ledger/ledger.h"
#include "core/txn/txn.h"
#include "internal.h"

static void phase_end_at(struct exec *exec, enum morph_phase phase, u64 now)
{
	exec->txn->session.times.phase_ns[phase] += now - exec->phase_began;
	exec->phase_began = now;
}

/*
 * End a phase and begin the next one. The time is that of the device's last answer. A phase without
 * an operation of the device took no time.
 */
static void phase_end(struct exec *exec, enum morph_phase phase)
{
	phase_end_at(exec, phase, max(exec->phase_began, exec->txn->session.device_ended_ns));
}

/* Wait for a time that the device needs physically; this is a separate phase. No lock held. */
static int exec_wait(struct exec *exec, enum morph_phase phase, u64 ns)
{
	int ret;

	if (!ns)
		return 0;
	exec->txn->session.times.modelled_ns += ns;
	ret = morph_hw_wait(exec->fabric, ns);
	phase_end_at(exec, phase, ktime_get_ns());
	return ret;
}

/* ---------------------------------------------------------------- the steps */

/* The change @index made the transaction fail: copy the refusal to it. */
static void fail_item(struct morph_txn *txn, u32 index)
{
	struct morph_change *change = &txn->items[index].change;

	txn->refusal.item = index;
	change->status = txn->refusal.error;
	change->reason = txn->refusal.reason;
	change->part = txn->refusal.part;
	change->index = txn->refusal.index;
}

/* Find the hardware that leaves an item unlit; fill refusal and culprit. No lock held. */
static void blame(struct exec *exec, u32 index)
{
	struct morph_item *item = &exec->txn->items[index];
	struct morph_fabric *fabric = exec->fabric;

	morph_report_dark(fabric, &item->new->path, item->new_src, &item->culprit);
	exec->culprit = item->culprit;
	morph_fabric_lock(fabric);
	morph_report_finding(fabric, &item->culprit,
			     item->culprit.part == MORPH_PART_GUIDE ? MORPH_HEALTH_QUARANTINED :
								      MORPH_HEALTH_FAILED);
	morph_fabric_unlock(fabric);
	morph_refuse(&exec->txn->refusal, -EIO, MORPH_REASON_HARDWARE, item->culprit.part,
		     item->culprit.index, "change %u: the light did not arrive", index);
	fail_item(exec->txn, index);
}

static int refuse_device(struct exec *exec, int error, const char *step)
{
	u32 reason = error == -ETIMEDOUT ? MORPH_REASON_TIMEOUT : MORPH_REASON_HARDWARE;

	return morph_refuse(&exec->txn->refusal, error, reason, 0, 0,
			    "the device failed to %s: error %d", step, error);
}

/* Steps 1 to 3 of a commit. */
static int exec_program(struct exec *exec)
{
	struct morph_txn *txn = exec->txn;
	u32 wrong;
	int ret;

	ret = morph_hw_program(exec->fabric, &txn->session, txn->settings, exec->early);
	if (ret)
		return refuse_device(exec, ret, "set elements");
	if (exec->broken)
		ret = exec_set_lasers(exec, BREAK_OLD);
	if (ret < 0)
		return refuse_device(exec, ret, "switch lasers off");
	ret = morph_hw_program(exec->fabric, &txn->session, txn->settings + exec->early,
			       exec->late);
	if (ret)
		return refuse_device(exec, ret, "set elements");
	exec->programmed = true;
	phase_end(exec, MORPH_PHASE_PROGRAM);
	if (exec->early + exec->late) {
		ret = exec_wait(exec, MORPH_PHASE_SETTLE, exec->fabric->graph->params.settle_ns);
		if (ret)
			return refuse_device(exec, ret, "settle");
	}
	ret = exec_verify(exec, LIGHT_NEW, false, &wrong);
	phase_end(exec, MORPH_PHASE_VERIFY);
	if (!ret)
		return 0;
	if (ret < 0)
		return refuse_device(exec, ret, "read receivers");
	morph_refuse(&txn->refusal, -EIO, MORPH_REASON_HARDWARE, MORPH_PART_RECEIVER,
		     txn->items[wrong].new->path.rx,
		     "change %u: the receiver sees light before a laser is on", wrong);
	fail_item(txn, wrong);
	return -EIO;
}

/* Step 4 of a commit. */
static int exec_light(struct exec *exec)
{
	struct morph_txn *txn = exec->txn;
	u32 wrong;
	int ret;

	ret = exec_set_lasers(exec, LIGHT_NEW);
	phase_end(exec, MORPH_PHASE_PROGRAM);
	if (ret < 0)
		return refuse_device(exec, ret, "switch lasers on");
	if (ret) {
		ret = exec_wait(exec, MORPH_PHASE_RELOCK, exec->fabric->graph->params.relock_ns);
		if (ret)
			return refuse_device(exec, ret, "lock");
	}
	ret = exec_verify(exec, LIGHT_NEW, true, &wrong);
	if (!ret) {
		ret = exec_verify_neighbours(exec);
		phase_end(exec, MORPH_PHASE_VERIFY);
		if (ret < 0)
			return refuse_device(exec, ret, "read other receivers");
		if (ret)
			return morph_refuse(&txn->refusal, -EIO, MORPH_REASON_HARDWARE, 0, 0,
					    "the change disturbed a receiver outside it");
		return 0;
	}
	phase_end(exec, MORPH_PHASE_VERIFY);
	if (ret < 0)
		return refuse_device(exec, ret, "read receivers");
	blame(exec, wrong);
	return -EIO;
}

/*
 * A circuit that moved without a dark time now has light on both routes, and soon only on the new
 * one. Report its light, so that a rank that continues to send there sees another generation.
 * Caller holds fabric->lock.
 */
static void report_moved(struct morph_txn *txn)
{
	u32 i;

	if (!exec_light_is_watched(txn))
		return;
	for (i = 0; i < txn->count; i++) {
		struct morph_item *item = &txn->items[i];

		item->light_changed = item->old && item->new;
		item->light_moves = item->light_changed && !item->broken_first && !item->unlit;
	}
	morph_report_light(txn);
}

/*
 * Step 5 of a commit. The new light is verified, so an error here quarantines hardware but does not
 * cause a rollback. The step reads the old receivers into the same array, so it records the power
 * of the new ones first.
 */
static void exec_darken_old(struct exec *exec)
{
	struct morph_fabric *fabric = exec->fabric;
	u32 lasers;
	int ret;

	if (!exec_has_lasers(exec, DARKEN_OLD))
		return;
	morph_fabric_lock(fabric);
	exec_note_power(exec, LIGHT_NEW);
	report_moved(exec->txn);
	exec->noted = true;
	lasers = exec_collect_lasers(exec, DARKEN_OLD);
	morph_fabric_unlock(fabric);
	ret = exec_command_lasers(exec, lasers);
	phase_end(exec, MORPH_PHASE_PROGRAM);
	if (!ret)
		return;			/* only light of peers was to end */
	if (ret < 0)
		exec_set_lasers(exec, DARKEN_OLD);
	exec_see_dark(exec, DARKEN_OLD);
	phase_end(exec, MORPH_PHASE_VERIFY);
}

/* ------------------------------------------------------------------ publish */

static void publish_item(struct exec *exec, struct morph_item *item)
{
	bool looks_in = exec->txn->kind->looks_in;
	struct morph_circuit *circuit = item->circuit;
	u64 since = item->dark_since_ns;

	if (item->change.op == MORPH_CHANGE_ADD)
		morph_circuit_list(circuit);
	if (!item->new) {
		morph_circuit_unlist(circuit);
		return;
	}
	circuit->route = item->new;
	circuit->lanes_count = optics_weight64(item->new->path.lanes);
	item->change.status = 0;
	if (item->unlit) {
		/* The repair that moved the circuit sets its final state. */
		circuit->dark = true;
		if (circuit->state == MORPH_CIRCUIT_LIT)
			morph_circuit_set_state(circuit, MORPH_CIRCUIT_CHANGING);
		return;
	}
	morph_circuit_set_state(circuit, MORPH_CIRCUIT_LIT);
	if (morph_route_comes_in(exec->fabric, item->new)) {
		/*
		 * A repair reads the light at once. A tenant sends VERIFY when the peer has lit it.
		 */
		circuit->dark = looks_in && !item->seen;
		if (!looks_in)
			morph_circuit_set_state(circuit, MORPH_CIRCUIT_WAITING);
	}
	/* Loss of the old light after the new light arrived does not count as a dark time. */
	circuit->dark_ns = since && since < exec->lit_ns ? exec->lit_ns - since : 0;
	item->change.dark_ns = circuit->dark_ns;
}

static void publish(struct exec *exec)
{
	struct morph_txn *txn = exec->txn;
	struct morph_fabric *fabric = exec->fabric;
	const struct morph_txn_kind *kind = txn->kind;
	bool healthy = true;
	u32 i;

	for (i = 0; i < txn->count; i++) {
		publish_item(exec, &txn->items[i]);
		/* Since the verification hardware may have failed, or the light may be gone. */
		if (txn->items[i].new && !txn->items[i].unlit)
			healthy &= !txn->items[i].circuit->dark &&
				 morph_route_is_healthy(fabric, txn->items[i].new);
	}
	txn->seq = ++fabric->seq;
	morph_holds_count(fabric, txn->count);
	morph_stat(fabric, MORPH_STAT_PUBLISHES);
	if (kind->published)
		kind->published(txn);
	morph_report_published(txn);
	if (kind->announced)
		kind->announced(txn);
	if (!healthy)
		morph_report_light_lost(txn->slice);
}

/* Release old routes and removed circuits of some items. Return whether there were any. */
static bool drop_some(struct morph_txn *txn, u32 first, u32 end)
{
	const struct morph_txn_kind *kind = txn->kind;
	struct morph_fabric *fabric = txn->fabric;
	u32 parks = 0, i;
	bool freed = false;

	morph_txn_suspend_holds(txn);
	for (i = first; i < end; i++)
		if (txn->items[i].old)
			morph_route_release(fabric, txn->items[i].old);
	morph_report_paths_freed(txn);
	/*
	 * Do not park elements that a schedule holds again, and do not free them for other slices.
	 */
	if (kind->resume_first)
		kind->resume_first(txn->slice);
	for (i = first; i < end; i++) {
		struct morph_item *item = &txn->items[i];

		circuit_txns(item->circuit)->pending = NULL;
		item->new = NULL;		/* the circuit has taken over the route */
		if (!item->old)
			continue;
		freed = true;
		parks = morph_park_collect(fabric, item->old, txn->settings, parks);
		if (item->change.op == MORPH_CHANGE_REMOVE) {
			item->circuit->route = item->old;
			morph_circuit_drop(item->circuit);
			item->circuit = NULL;
		} else {
			if (kind->charged)
				morph_user_uncharge(txn->slice->user, MORPH_RES_LANES,
						    optics_weight64(item->old->path.lanes));
			morph_route_keep(txn->slice, item->old);
		}
		item->old = NULL;
	}
	if (kind->resume_holds)
		kind->resume_holds(txn->slice);
	morph_park_run(fabric, &txn->session, txn->settings, parks);
	return freed;
}

/* The same for all items. Caller holds fabric->lock; the function drops it meanwhile. */
static void drop_old(struct morph_txn *txn)
{
	u32 first, end;
	bool freed = false;

	if (txn->kind->settle) {
		txn->kind->settle(txn, true);
		return;
	}
	morph_txn_unmark(txn);
	for (first = 0; first < txn->count; first = end) {
		end = min(txn->count, first + MORPH_HOLD_PARTS);
		if (first)
			morph_fabric_pause(txn->fabric);
		freed |= drop_some(txn, first, end);
	}
	txn->staged = false;
	/* A change that only adds circuits frees nothing. */
	if (freed)
		morph_report_freed(txn->fabric, MORPH_FREED_PATHS);
}

/* -------------------------------------------------------------- entry points */

/* Report circuits that go dark, so that ranks stop sending on them. Caller holds fabric->lock. */
static void report_darkening(struct morph_txn *txn)
{
	u32 i;

	if (!exec_light_is_watched(txn))
		return;
	for (i = 0; i < txn->count; i++) {
		struct morph_item *item = &txn->items[i];

		item->light_changed = item->broken_first || item->change.op == MORPH_CHANGE_REMOVE;
		item->light_moves = false;
	}
	morph_report_light(txn);
}

/*
 * @exec: has only the transaction and the fabric. Caller holds fabric->lock; the function drops it
 * at times for many changes.
 */
static void exec_begin(struct exec *exec)
{
	struct morph_txn *txn = exec->txn;
	u32 i;

	exec->phase_began = ktime_get_ns();
	exec->began_ns = exec->phase_began;
	txn->outcome = MORPH_OUTCOME_RUNNING;
	for (i = 0; i < txn->count; i++)
		exec->broken |= txn->items[i].broken_first;
	for (i = 0; i < txn->count; i++) {
		struct morph_item *item = &txn->items[i];

		if (item->old && !item->dead)
			morph_circuit_set_state(item->circuit, MORPH_CIRCUIT_CHANGING);
		if (item->new)
			morph_route_list(txn->fabric, item->new);
		morph_fabric_pause_after(txn->fabric, i + 1);
	}
	exec_collect_new(exec);
	exec_collect_neighbours(exec);
	exec_unmark_turned(exec);
	report_darkening(txn);
}

/* Program and verify; return 0 when all new light is verified. No lock held. */
static int exec_run(struct exec *exec)
{
	struct morph_fabric *fabric = exec->fabric;
	struct morph_txn *txn = exec->txn;
	int ret;

	ret = exec_program(exec);
	if (!ret)
		ret = exec_light(exec);
	if (ret && ret != -ENODEV && !exec->culprit.part)
		morph_hw_read_back(fabric, &txn->session, txn->settings,
				   exec->early + exec->late, exec->programmed);
	if (ret)
		return ret;
	exec->lit_ns = exec->phase_began;	/* the end of the verification */
	if (txn->kind->looks_in)
		exec_look_in(exec, false);
	exec_darken_old(exec);
	return 0;
}

/**
 * morph_exec_commit() - execute a staged transaction
 * @txn: staged; its slice has been entered
 * @keep_old: keep the old configuration's claims until it is confirmed
 *
 * Sets txn->outcome to COMMITTED, ROLLED_BACK or BROKEN. Without @keep_old the only claims
 * that remain are those of the lit circuits.
 *
 * Context: fabric->lock held; the function drops it while the device works.
 * Return: 0 or a negative errno.
 */
int morph_exec_commit(struct morph_txn *txn, bool keep_old)
{
	struct exec exec = { .txn = txn, .fabric = txn->fabric };
	struct morph_fabric *fabric = txn->fabric;
	int ret;

	lockdep_assert_held(&fabric->lock);
	trace_morph_txn_commit(fabric->id, txn->id, txn->slice->number, txn->count);
	exec_begin(&exec);
	morph_fabric_unlock(fabric);
	ret = exec_run(&exec);
	morph_fabric_lock(fabric);
	if (ret) {
		exec_roll_back(&exec);
	} else {
		if (!exec.noted)
			exec_note_power(&exec, LIGHT_NEW);
		publish(&exec);
		txn->keep_old = keep_old;
		if (exec.broken)
			exec_see_broken_off(&exec);
		else if (txn->count > MORPH_HOLD_PARTS)
			morph_fabric_pause(fabric);
		if (!keep_old)
			drop_old(txn);
		/*
		 * Set the outcome last: a reader that sees COMMITTED may turn the released
		 * elements.
		 */
		txn->outcome = MORPH_OUTCOME_COMMITTED;
	}
	morph_hw_done(txn->fabric, &txn->session);
	return ret;
}

/* Refuse with the hardware that made a verification fail. Holds fabric->lock, but drops it. */
static int refuse_unlit(struct exec *exec, u32 wrong)
{
	const struct morph_item *item = &exec->txn->items[wrong];
	struct morph_fabric *fabric = exec->fabric;
	struct morph_culprit culprit = {};

	morph_fabric_unlock(fabric);
	morph_report_dark(fabric, &item->new->path, item->new_src, &culprit);
	morph_fabric_lock(fabric);
	if (culprit.part == MORPH_PART_EDGE && morph_route_comes_in(fabric, item->new))
		return morph_refuse(&exec->txn->refusal, -EAGAIN, MORPH_REASON_PEER, culprit.part,
				    culprit.index, "change %u: no light comes in over edge %u",
				    wrong, culprit.index);
	return morph_refuse(&exec->txn->refusal, -EIO, MORPH_REASON_HARDWARE, culprit.part,
			    culprit.index, "change %u: the light is gone", wrong);
}

int morph_exec_verify(struct morph_txn *txn)
{
	struct exec exec = { .txn = txn, .fabric = txn->fabric };
	struct morph_fabric *fabric = txn->fabric;
	u32 wrong = 0, i;
	int ret;

	lockdep_assert_held(&fabric->lock);
	morph_fabric_unlock(fabric);
	ret = exec_verify(&exec, VERIFY_NEW, true, &wrong);
	morph_fabric_lock(fabric);
	morph_hw_done(txn->fabric, &txn->session);
	if (ret > 0) {
		ret = refuse_unlit(&exec, wrong);
		txn->refusal.item = wrong;
		return ret;
	}
	if (ret)
		return refuse_device(&exec, ret, "read receivers");
	exec_note_power(&exec, VERIFY_NEW);
	for (i = 0; i < txn->count; i++)
		if (txn->items[i].new && txn->items[i].circuit->state == MORPH_CIRCUIT_WAITING)
			morph_circuit_set_state(txn->items[i].circuit, MORPH_CIRCUIT_LIT);
	return 0;
}

/*
 * Release the old configuration. The light of a peer may be gone since its verification, because
 * alarms were ignored meanwhile. Caller holds fabric->lock; the function drops it meanwhile.
 */
void morph_exec_confirm(struct morph_txn *txn)
{
	struct exec exec = { .txn = txn, .fabric = txn->fabric };
	bool dark = false;
	u32 i;

	lockdep_assert_held(&txn->fabric->lock);
	/* RUNNING excludes other steps while the device works. */
	txn->outcome = MORPH_OUTCOME_RUNNING;
	morph_fabric_unlock(txn->fabric);
	exec_look_in(&exec, false);
	morph_fabric_lock(txn->fabric);
	for (i = 0; i < txn->count; i++) {
		struct morph_item *item = &txn->items[i];

		if (!item->new || !morph_route_comes_in(txn->fabric, item->new))
			continue;
		morph_circuit_set_state(item->circuit, MORPH_CIRCUIT_LIT);
		item->circuit->dark = !item->seen;
		dark |= !item->seen;
	}
	drop_old(txn);
	morph_hw_done(txn->fabric, &txn->session);
	txn->seq = ++txn->fabric->seq;
	if (dark)
		morph_report_light_lost(txn->slice);
}

/*
 * Restore the old configuration after a commit that kept it. Caller holds fabric->lock; the
 * function drops it meanwhile.
 */
int morph_exec_revert(struct morph_txn *txn)
{
	struct exec exec = { .txn = txn, .fabric = txn->fabric, .relight_all = true };
	u32 i;

	lockdep_assert_held(&txn->fabric->lock);
	txn->outcome = MORPH_OUTCOME_RUNNING;
	/* Report that the new light goes out, so that no rank sends until the old light is back. */
	for (i = 0; i < txn->count; i++) {
		txn->items[i].light_changed = txn->items[i].new;
		txn->items[i].light_moves = false;
		if (txn->items[i].new)
			morph_circuit_set_state(txn->items[i].circuit, MORPH_CIRCUIT_CHANGING);
	}
	exec_report_light(txn);
	exec_roll_back(&exec);
	morph_hw_done(txn->fabric, &txn->session);
	morph_report_reverted(txn->slice);
	if (txn->outcome == MORPH_OUTCOME_ROLLED_BACK)
		return 0;
	return morph_refuse(&txn->refusal, -EIO, MORPH_REASON_HARDWARE, 0, 0,
			    "the old light did not come back");
}

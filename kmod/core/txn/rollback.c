// SPDX-License-Identifier: GPL-2.0-only
/* Rollback: restore the old light, and report it as restored only after reading it back. */
#include "core/base/base.h"
#include "core/hardware/hardware.h"
#include "core/ledger/ledger.h"
#include "core/txn/txn.h"
#include "internal.h"

/* Switch the new light off and verify darkness by reading receivers. No lock held. */
static bool darken_new(struct exec *exec)
{
	if (exec_set_lasers(exec, DARKEN_NEW) < 0)
		exec_set_lasers(exec, DARKEN_NEW);
	return exec_see_dark(exec, DARKEN_NEW);
}

/* Restore the old light. Return the result of exec_verify(). No lock held. */
static int relight(struct exec *exec)
{
	const struct optics_params *params = &exec->fabric->graph->params;
	struct morph_fabric *fabric = exec->fabric;
	struct morph_txn *txn = exec->txn;
	u32 count, wrong;
	int ret;

	morph_fabric_lock(fabric);
	count = exec_collect_old(exec);
	morph_fabric_unlock(fabric);
	ret = morph_hw_program(fabric, &txn->session, txn->settings, count);
	if (ret)
		ret = morph_hw_program(fabric, &txn->session, txn->settings, count);
	if (ret && ret != -ENODEV)
		morph_hw_read_back(fabric, &txn->session, txn->settings, count, false);
	if (count)
		morph_hw_wait(fabric, params->settle_ns);
	ret = exec_set_lasers(exec, RELIGHT_OLD);
	if (ret < 0)
		ret = exec_set_lasers(exec, RELIGHT_OLD);
	if (ret > 0)
		morph_hw_wait(fabric, params->relock_ns);
	exec_look_in(exec, true);
	return exec_verify(exec, RELIGHT_OLD, true, &wrong);
}

/* Return whether an old circuit is lit after relight(), from the last readings. */
static bool old_is_lit(struct exec *exec, u32 index, u32 *n)
{
	struct morph_item *item = &exec->txn->items[index];

	if (morph_route_comes_in(exec->fabric, item->old))
		return item->seen;
	if (!exec_laser_route(exec, item, RELIGHT_OLD))
		return !item->dead;	/* its lasers were not switched */
	if (morph_route_leaves(exec->fabric, item->old))
		return item->seen;
	return exec_reading_lit(exec->fabric, &exec->txn->reads[(*n)++], item->old);
}

/* Queue a repair. A repair itself retries while that can help, so it must not queue itself. */
static void repair_later(struct morph_txn *txn)
{
	if (!txn->kind->recovers)
		morph_report_light_lost(txn->slice);
}

/* Return the claims of the new route to their previous holder, or release them. */
static void take_new(struct morph_txn *txn, struct morph_item *item)
{
	if (txn->kind->give_claims)
		txn->kind->give_claims(item->circuit);
	else
		morph_route_release(txn->fabric, item->new);
}

/*
 * Settle the ledger after relight(); drop_new() then restores the slice's reservations. Caller
 * holds fabric->lock. Return whether all old circuits are restored.
 */
static bool restore(struct exec *exec, int relit)
{
	struct morph_txn *txn = exec->txn;
	struct morph_fabric *fabric = exec->fabric;
	bool whole = true;
	u32 n = 0, i;

	morph_txn_suspend_holds(txn);
	morph_txn_unmark(txn);
	for (i = 0; i < txn->count; i++)
		if (txn->items[i].new)
			take_new(txn, &txn->items[i]);
	for (i = 0; i < txn->count; i++) {
		struct morph_item *item = &txn->items[i];
		struct morph_circuit *circuit = item->circuit;
		bool lit;

		item->light_changed = true;
		if (!item->old) {
			/* It was not added after all: it may have been lit, unconfirmed. */
			morph_circuit_unlist(circuit);
			continue;
		}
		morph_route_release(fabric, item->old);
		morph_route_reclaim(fabric, item->old);
		circuit->route = item->old;
		circuit->lanes_count = optics_weight64(item->old->path.lanes);
		morph_circuit_list(circuit);
		lit = relit >= 0 && old_is_lit(exec, i, &n);
		if (relit < 0)
			lit = !item->dead && !exec_laser_route(exec, item, RELIGHT_OLD);
		/* An alarm during the change has queued a repair, which handles the circuit. */
		circuit->dark = !lit || circuit->alarms != item->alarms;
		/* A circuit under repair keeps its state; the repair sets it at its end. */
		if (lit)
			morph_circuit_set_state(circuit, MORPH_CIRCUIT_LIT);
		else if (!item->dead || !txn->kind->recovers)
			morph_circuit_set_state(circuit, MORPH_CIRCUIT_FAILED);
		else
			morph_circuit_count(circuit);
		/* Missing light of a peer cannot be restored here. */
		if (!lit && morph_route_comes_in(fabric, item->old))
			repair_later(txn);
		else if (!lit && !item->dead)
			whole = false;
	}
	return whole;
}

/* Free the new route of an item, and its circuit if that is new. */
static void free_new(struct morph_txn *txn, struct morph_item *item)
{
	circuit_txns(item->circuit)->pending = NULL;
	if (item->new) {
		if (txn->kind->charged)
			morph_user_uncharge(txn->slice->user, MORPH_RES_LANES,
					    optics_weight64(item->new->path.lanes));
		morph_route_unlist(item->new);
		morph_route_free(item->new);
		item->new = NULL;
	}
	if (item->change.op == MORPH_CHANGE_ADD) {
		item->circuit->route = NULL;
		morph_circuit_drop(item->circuit);
	}
	item->circuit = NULL;
	item->old = NULL;
}

/*
 * Park the elements of the new routes that were not used, and free the routes. Caller holds
 * fabric->lock; the function drops it meanwhile.
 */
static void drop_new(struct morph_txn *txn)
{
	const struct morph_txn_kind *kind = txn->kind;
	struct morph_fabric *fabric = txn->fabric;
	u32 parks = 0, i;

	if (kind->settle) {
		kind->settle(txn, false);
		morph_txn_resume_holds(txn);
		return;
	}
	/* The reason is in drop_old(). */
	if (kind->resume_first)
		kind->resume_first(txn->slice);
	for (i = 0; i < txn->count; i++)
		if (txn->items[i].new)
			parks = morph_park_collect(fabric, txn->items[i].new, txn->settings, parks);
	if (kind->resume_holds)
		kind->resume_holds(txn->slice);
	morph_park_run(fabric, &txn->session, txn->settings, parks);
	for (i = 0; i < txn->count; i++) {
		if (i && !(i % MORPH_HOLD_PARTS))
			morph_fabric_pause(fabric);
		free_new(txn, &txn->items[i]);
	}
	txn->staged = false;
	/*
	 * Other slices may have failed to get the resources that the change held: let them retry. A
	 * repair must not wake itself; at its end it wakes the slices repaired meanwhile.
	 */
	if (!kind->recovers)
		morph_report_freed(fabric, MORPH_FREED_PATHS);
}

/*
 * Restore the old configuration and verify it. Caller holds fabric->lock; the function drops it
 * meanwhile.
 */
void exec_roll_back(struct exec *exec)
{
	struct morph_txn *txn = exec->txn;
	struct morph_fabric *fabric = exec->fabric;
	bool whole;
	int relit;

	morph_fabric_unlock(fabric);
	whole = darken_new(exec);
	relit = relight(exec);
	morph_fabric_lock(fabric);
	whole &= restore(exec, relit);
	txn->seq = ++fabric->seq;
	morph_holds_count(fabric, txn->count);
	if (!whole)
		txn->slice->generation++;
	exec_report_light(txn);
	if (!whole) {
		morph_report_broken(txn);
		repair_later(txn);
	}
	drop_new(txn);
	/* Set the outcome last: its readers expect the old circuits to be restored. */
	txn->outcome = whole ? MORPH_OUTCOME_ROLLED_BACK : MORPH_OUTCOME_BROKEN;
}

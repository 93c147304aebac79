// SPDX-License-Identifier: GPL-2.0-only
/* Rolling back: the old light is put back, and called back only if it is read back. */
#include "core/base/base.h"
#include "core/hardware/hardware.h"
#include "core/ledger/ledger.h"
#include "core/txn/txn.h"
#include "internal.h"

/*
 * Take the new light away, and see that it is gone: what was told counts for nothing, what
 * is read for all. No lock held.
 */
static bool darken_new(struct exec *exec)
{
	if (exec_set_lasers(exec, DARKEN_NEW) < 0)
		exec_set_lasers(exec, DARKEN_NEW);
	return exec_see_dark(exec, DARKEN_NEW);
}

/* Put the old light back. Returns what read-back says, as exec_verify(). No lock held. */
static int relight(struct exec *exec)
{
	const struct optics_params *params = &exec->fabric->graph->params;
	struct morph_fabric *fabric = exec->fabric;
	struct morph_txn *txn = exec->txn;
	u32 count, wrong;
	int ret;

	mutex_lock(&fabric->lock);
	count = exec_collect_old(exec);
	mutex_unlock(&fabric->lock);
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

/* Which old circuits are lit after relight(): its last readings tell. */
static bool old_is_lit(struct exec *exec, u32 index, u32 *n)
{
	struct morph_item *item = &exec->txn->items[index];

	if (morph_route_comes_in(exec->fabric, item->old))
		return item->seen;
	if (!exec_laser_route(exec, item, RELIGHT_OLD))
		return !item->dead;	/* it was never touched */
	if (morph_route_leaves(exec->fabric, item->old))
		return item->seen;
	return exec_reading_lit(exec->fabric, &exec->txn->reads[(*n)++], item->old);
}

/* A repair looks again by itself, as long as that may help; it would wake itself for ever. */
static void repair_later(struct morph_txn *txn)
{
	if (!txn->kind->recovers)
		morph_report_hurt(txn->slice);
}

/* What the new route claims goes back to whom it was from. */
static void take_new(struct morph_txn *txn, struct morph_item *item)
{
	if (txn->kind->give_claims)
		txn->kind->give_claims(item->circuit);
	else
		morph_route_release(txn->fabric, item->new);
}

/* One that was to come is no circuit of the slice, though it may have been lit and unconfirmed. */
static void forget(struct morph_circuit *circuit)
{
	if (circuit->listed)
		circuit->slice->circuits_count--;
	circuit->listed = false;
}

/*
 * Settle the ledger after relight(); what the slice has reserved waits for drop_new().
 * fabric->lock held. Returns whether all is as before.
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
			forget(circuit);
			continue;
		}
		morph_route_release(fabric, item->old);
		morph_route_reclaim(fabric, item->old);
		circuit->route = item->old;
		circuit->lanes_count = optics_weight64(item->old->path.lanes);
		if (!circuit->listed)
			circuit->slice->circuits_count++;
		circuit->listed = true;
		lit = relit >= 0 && old_is_lit(exec, i, &n);
		if (relit < 0)
			lit = !item->dead && !exec_laser_route(exec, item, RELIGHT_OLD);
		/* An alarm that came meanwhile has queued a repair, which looks into it. */
		circuit->dark = !lit || circuit->alarms != item->alarms;
		/* One under repair keeps its state: who gives it up tells so. */
		if (lit)
			circuit->state = MORPH_CIRCUIT_LIT;
		else if (!item->dead || !txn->kind->recovers)
			circuit->state = MORPH_CIRCUIT_FAILED;
		/* What a peer does not send is not ours to put back. */
		if (!lit && morph_route_comes_in(fabric, item->old))
			repair_later(txn);
		else if (!lit && !item->dead)
			whole = false;
	}
	exec_report_light(txn);
	return whole;
}

/* The routes that were not to be: their elements are parked, their memory goes. */
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
	/* As in drop_old(). */
	if (kind->resume_first)
		kind->resume_first(txn->slice);
	for (i = 0; i < txn->count; i++)
		if (txn->items[i].new)
			parks = morph_park_collect(fabric, txn->items[i].new, txn->settings, parks);
	if (kind->resume_holds)
		kind->resume_holds(txn->slice);
	morph_park_run(fabric, &txn->session, txn->settings, parks);
	for (i = 0; i < txn->count; i++) {
		struct morph_item *item = &txn->items[i];

		circuit_txns(item->circuit)->pending = NULL;
		if (item->new) {
			if (kind->charged)
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
	txn->staged = false;
	/*
	 * What it held meanwhile, others may have missed. A repair would wake itself for ever:
	 * when it has ended, those try again that were repaired beside it.
	 */
	if (!kind->recovers)
		morph_report_freed(fabric);
}

/* Everything back as it was, proven. fabric->lock held, dropped meanwhile. */
void exec_roll_back(struct exec *exec)
{
	struct morph_txn *txn = exec->txn;
	struct morph_fabric *fabric = exec->fabric;
	bool whole;
	int relit;

	mutex_unlock(&fabric->lock);
	whole = darken_new(exec);
	relit = relight(exec);
	mutex_lock(&fabric->lock);
	whole &= restore(exec, relit);
	txn->seq = ++fabric->seq;
	if (!whole) {
		txn->slice->generation++;
		morph_report_broken(txn);
		repair_later(txn);
	}
	drop_new(txn);
	/* Not before: whoever sees this finds the circuits as they were. */
	txn->outcome = whole ? MORPH_OUTCOME_ROLLED_BACK : MORPH_OUTCOME_BROKEN;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Staging of many changes in several holds of fabric->lock.
 *
 * One hold would take too long. If all changes add circuits, or all remove circuits, each of them
 * is staged alone, as if it were a transaction. Its path is claimed, and validated beside all
 * claims of that moment. The claims stay while the lock is dropped, so that other changes cannot
 * take found paths again and again. Others see the circuits only after the publication.
 *
 * A dry run whose paths planning has found and validated needs no claims.
 */
#include "core/base/base.h"
#include "core/base/trace.h"
#include "core/ledger/ledger.h"
#include "core/txn/txn.h"
#include "internal.h"

#define PART_ITEMS	32u	/* staged in one hold at most */
#define PART_JUDGED	8u	/* the same with validation, which takes most of the time */

bool parts_possible(const struct morph_txn *txn)
{
	u32 op = txn->count ? txn->items[0].change.op : 0, i;

	if (!txn->kind->charged || txn->count <= MORPH_HOLD_PARTS ||
	    (op != MORPH_CHANGE_ADD && op != MORPH_CHANGE_REMOVE))
		return false;
	for (i = 1; i < txn->count; i++)
		if (txn->items[i].change.op != op)
			return false;
	return true;
}

/* Validate a path after its claim, unless planning has, in the same ledger. */
static int judge(struct morph_planning *plan, u32 index)
{
	const struct optics_view view = optics_state_view(ledger_of(plan->txn->fabric)->state);
	const struct morph_slice *slice = plan->txn->slice;
	struct morph_route *route = plan->txn->items[index].new;
	struct optics_refusal why = {};
	int ret;

	if (!route)
		return 0;
	if (plan->judged_all) {
		route->verdict = plan->verdicts[index];
		return 0;
	}
	ret = optics_validate(&view, &route->path, 1, slice->number,
			      slice->transit == MORPH_TRANSIT_OWN, &route->verdict, &why);
	return ret ? stage_refuse_path(plan->txn, index, ret, &why) : 0;
}

/* Stage one item. If another change has taken its path since planning, search for another one. */
static int stage_one(struct morph_planning *plan, u32 index, bool claim)
{
	struct morph_txn *txn = plan->txn;
	struct morph_item *item = &txn->items[index];
	bool planned = item->new;
	int ret;

	ret = stage_item(txn, index, claim);
	if (!ret || !planned || ret == -ENOMEM || ret == -EDQUOT)
		return ret;
	plan_forget_refusal(txn);
	morph_route_free(item->new);
	item->new = NULL;
	return stage_item(txn, index, claim);
}

/* Stage some items in one hold. */
static int stage_some(struct morph_planning *plan, u32 *staged, bool claim)
{
	struct morph_txn *txn = plan->txn;
	struct morph_fabric *fabric = txn->fabric;
	u32 end;
	int ret;

	ret = stage_check_generation(txn);
	if (!ret)
		ret = stage_lift_reservations(txn);
	if (ret)
		return ret;
	if (plan->seq != morph_ledger_seq(fabric))
		plan->judged_all = false;
	end = min(txn->count, *staged + (plan->judged_all ? PART_ITEMS : PART_JUDGED));
	morph_path_search_resume(fabric, &plan->search);
	if (claim)
		morph_txn_suspend_holds(txn);
	plan_begin_hold(plan, MORPH_HOLD_STEPS);
	while (!ret && *staged < end && plan_steps_now(plan) < plan->end) {
		ret = stage_one(plan, *staged, claim);
		if (ret)
			break;
		ret = judge(plan, (*staged)++);
	}
	if (claim)
		morph_txn_resume_holds(txn);
	stage_lower_reservations(txn);
	morph_path_search_pause(fabric, &plan->search);
	plan->seq = morph_ledger_seq(fabric);
	return ret;
}

/* Undo the first @staged items, and what was begun of the next one. */
static void undo(struct morph_txn *txn, u32 staged)
{
	struct morph_fabric *fabric = txn->fabric;
	u32 left = staged, end;

	morph_txn_suspend_holds(txn);
	if (staged < txn->count && txn->items[staged].circuit)
		stage_undo_item(txn, staged, false);
	for (;;) {
		end = left > PART_ITEMS ? left - PART_ITEMS : 0;
		while (left > end)
			stage_undo_item(txn, --left, true);
		morph_txn_resume_holds(txn);
		if (!left)
			break;
		morph_fabric_unlock(fabric);
		cond_resched();
		morph_fabric_lock(fabric);
		morph_txn_suspend_holds(txn);
	}
	txn->staged = false;
}

/* Take the next step of staging. Return -EINPROGRESS until all is staged. */
static int stage_step(struct morph_planning *plan, u32 *staged, bool claim)
{
	struct morph_txn *txn = plan->txn;
	int ret;

	if (*staged == txn->count)
		return txn->flags & MORPH_TXN_DRY_RUN ? 0 : morph_txn_reserve(txn);
	ret = stage_some(plan, staged, claim);
	return ret ? ret : -EINPROGRESS;
}

int parts_stage(struct morph_planning *plan)
{
	struct morph_txn *txn = plan->txn;
	bool claim = !(txn->flags & MORPH_TXN_DRY_RUN) || !plan->judged_all;
	u32 staged = 0;
	int ret;

	lockdep_assert_held(&txn->fabric->lock);
	plan->parts = true;
	do {
		ret = stage_step(plan, &staged, claim);
		if (ret != -EINPROGRESS && !(ret && morph_txn_wants_memory(txn)))
			break;
		ret = plan_yield(plan);
	} while (!ret);
	plan->parts = false;
	if (ret) {
		undo(txn, staged);
		return ret;
	}
	txn->staged = true;
	trace_morph_txn_stage(txn->fabric->id, txn->slice->number, txn->count);
	return 0;
}

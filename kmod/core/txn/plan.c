// SPDX-License-Identifier: GPL-2.0-only
/*
 * Planning: find the paths of a large transaction in several holds of fabric->lock.
 *
 * Staging finds, claims and validates all paths in one hold. The searches of many changes would
 * make all other tenants wait. So planning finds the paths first, a few in each hold, and keeps
 * them as routes without claims in txn->items. Staging takes these routes.
 *
 * A search must see the claims of the paths before it in the request, and must not see those of
 * the circuits that the request moves or removes. Planning makes the ledger so in each hold, and
 * restores it before it drops the lock. So no other thread sees a part of the change.
 *
 * If another change has taken a part of a path, planning searches again, from this item on. After
 * MORPH_MOST_RESTARTS it stops. Staging then searches the remaining paths in one hold.
 */
#include <linux/sched/signal.h>

#include "core/base/base.h"
#include "core/ledger/ledger.h"
#include "core/txn/txn.h"
#include "internal.h"

#define PLAN_LEAST	5u	/* staging searches for fewer paths in one hold */

static bool wants_plan(const struct morph_txn *txn)
{
	u32 paths = 0, i;

	if (txn->count < PLAN_LEAST || !txn->kind->checked || !txn->kind->charged ||
	    txn->kind->ends_given)
		return false;
	for (i = 0; i < txn->count && paths < PLAN_LEAST; i++)
		paths += txn->items[i].change.op != MORPH_CHANGE_REMOVE;
	return paths == PLAN_LEAST;
}

/* A number that changes whenever another change may affect a path. */
static u64 surroundings(const struct morph_txn *txn)
{
	return morph_ledger_seq(txn->fabric) + txn->fabric->seq;
}

/* Drop the routes from an item on. */
static void forget_from(struct morph_txn *txn, u32 first)
{
	u32 i;

	for (i = first; i < txn->count; i++) {
		morph_route_free(txn->items[i].new);
		txn->items[i].new = NULL;
	}
}

/* Drop the reason why an attempt failed that will be repeated. */
static void forget_refusal(struct morph_txn *txn)
{
	u32 i;

	txn->refusal = (struct morph_refusal){ .item = MORPH_ANY };
	for (i = 0; i < txn->count; i++) {
		struct morph_change *change = &txn->items[i].change;

		change->status = 0;
		change->reason = 0;
		change->part = 0;
		change->index = 0;
	}
}

/* ---------------------------------------------------------------- one hold */

/* Remove the claims of the circuits that the request moves or removes. */
static int release_old(struct plan *plan)
{
	struct morph_txn *txn = plan->txn;
	int ret = 0;

	plan->released = 0;
	for (plan->resolved = 0; plan->resolved < txn->count && !ret; plan->resolved++) {
		struct morph_item *item = &txn->items[plan->resolved];

		if (item->change.op == MORPH_CHANGE_ADD)
			continue;
		ret = stage_resolve_existing(txn, plan->resolved);
		if (!ret && item->old->role != MORPH_ROUTE_LIVE)
			ret = -EBUSY;
		if (ret && !item->circuit)
			break;
		if (ret)
			continue;
		morph_route_release(txn->fabric, item->old);
		plan->released++;
	}
	return ret;
}

static void reclaim_old(struct plan *plan)
{
	struct morph_txn *txn = plan->txn;

	while (plan->resolved--) {
		struct morph_item *item = &txn->items[plan->resolved];

		if (!item->circuit)
			continue;
		if (item->old->role == MORPH_ROUTE_IDLE)
			morph_route_reclaim(txn->fabric, item->old);
		circuit_txns(item->circuit)->pending = NULL;
		item->circuit = NULL;
		item->old = NULL;
	}
}

static void unclaim_found(struct plan *plan)
{
	struct morph_txn *txn = plan->txn;
	u32 i;

	for (i = 0; i < plan->found; i++)
		if (txn->items[i].new)
			morph_route_try_end(txn->fabric, txn->items[i].new);
}

/* Claim the paths that earlier holds have found. Forget them from the first conflict on. */
static void claim_found(struct plan *plan)
{
	struct morph_txn *txn = plan->txn;
	struct optics_refusal why;
	u32 i;

	for (i = 0; i < plan->found; i++)
		if (txn->items[i].new && morph_route_try(txn->fabric, txn->items[i].new, &why))
			break;
	if (i == plan->found)
		return;
	forget_from(txn, i);
	plan->found = i;
	plan->restarts++;
}

/* Find and claim the path of one item. A refusal is left to staging, which finds it again. */
static int find_one(struct morph_txn *txn, u32 index)
{
	struct morph_item *item = &txn->items[index];
	struct optics_refusal why;
	int ret;

	if (item->change.op == MORPH_CHANGE_REMOVE)
		return 0;
	if (item->change.op == MORPH_CHANGE_ADD) {
		ret = morph_txn_check_add(txn, index);
		if (ret)
			return ret;
		item->new_src = morph_end_place(txn->slice, item->change.src_rank);
		item->new_dst = morph_end_place(txn->slice, item->change.dst_rank);
	} else {
		item->new_src = morph_end_place(txn->slice, item->circuit->src_rank);
		item->new_dst = morph_end_place(txn->slice, item->circuit->dst_rank);
	}
	ret = morph_txn_find_path(txn, item, &why);
	if (ret)
		return ret;
	ret = morph_route_try(txn->fabric, item->new, &why);
	if (ret)
		forget_from(txn, index);
	return ret;
}

/* Find more paths. Return whether to continue in another hold. */
static bool find_some(struct plan *plan, u64 steps)
{
	struct morph_txn *txn = plan->txn;
	u64 end = morph_route_steps(txn->fabric) + steps, claims = 0;

	if (plan->found == txn->count || plan->restarts > MORPH_MOST_RESTARTS)
		return false;
	while (plan->found < txn->count &&
	       morph_route_steps(txn->fabric) + MORPH_CLAIM_STEPS * claims < end) {
		if (find_one(txn, plan->found))
			return false;
		claims += !!txn->items[plan->found].new;
		plan->found++;
	}
	/* If the first hold has found all paths, staging follows in the same hold. */
	return plan->found < txn->count || plan->yielded;
}

bool plan_continue(struct plan *plan, u32 steps)
{
	struct morph_txn *txn = plan->txn;
	u64 light_seq;
	bool more;

	lockdep_assert_held(&txn->fabric->lock);
	if (stage_lift_reservations(txn))
		return false;
	morph_txn_suspend_holds(txn);
	light_seq = ledger_of(txn->fabric)->light_seq;
	more = !release_old(plan);
	if (more) {
		claim_found(plan);
		more = find_some(plan, steps + (u64)MORPH_CLAIM_STEPS *
					       (plan->found + plan->released));
		unclaim_found(plan);
	}
	reclaim_old(plan);
	/* No light has changed. */
	ledger_of(txn->fabric)->light_seq = light_seq;
	morph_txn_resume_holds(txn);
	stage_lower_reservations(txn);
	return more;
}

/* ----------------------------------------------------------------- all holds */

/* Drop fabric->lock for a while. */
static int plan_yield(struct morph_txn *txn)
{
	mutex_unlock(&txn->fabric->lock);
	cond_resched();
	mutex_lock(&txn->fabric->lock);
	return fatal_signal_pending(current) ? -EINTR :
					       morph_txn_check_slice(txn->slice, &txn->refusal);
}

/* Find paths until all are known to be free, or until staging must decide. */
static int find_all(struct plan *plan)
{
	int ret = 0;

	while (!ret && plan_continue(plan, MORPH_HOLD_STEPS)) {
		ret = plan_yield(plan->txn);
		plan->yielded = true;
	}
	/* Staging repeats a search that has failed, which takes long. */
	if (!ret && plan->found < plan->txn->count)
		ret = plan_yield(plan->txn);
	return ret;
}

/*
 * Staging can fail although planning has found free paths, for instance because a new slice owns a
 * part that they cross. If the surroundings have changed, plan again.
 */
int morph_txn_plan_and_stage(struct morph_txn *txn)
{
	struct plan plan = { .txn = txn };
	u64 began, changed;
	int ret;

	lockdep_assert_held(&txn->fabric->lock);
	if (!wants_plan(txn))
		return morph_txn_stage(txn);
	for (;;) {
		began = surroundings(txn);
		plan.found = 0;
		ret = find_all(&plan);
		if (ret)
			break;
		changed = surroundings(txn) - began;
		forget_refusal(txn);
		ret = morph_txn_stage(txn);
		if (!ret || !changed || plan.restarts > MORPH_MOST_RESTARTS)
			break;
		forget_from(txn, 0);
		plan.restarts++;
	}
	if (ret)
		forget_from(txn, 0);
	return ret;
}

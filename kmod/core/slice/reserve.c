// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reserved protection: a slice that was created with MORPH_SLICE_RESERVED holds a spare,
 * and its plans hold in the ledger what putting that spare in the place of any one rank
 * takes.
 *
 * One spare serves one failure, so the plans are alternatives: they overlap each other
 * and the slice's own circuits, never those of others. Hence a route of a plan claims what
 * is free of it at this moment, like the shadow of a circuit that moves, and the rest is
 * the slice's anyway. Elements that the slice has in another state than a plan needs
 * cannot be pinned twice: they are marked, so that nobody else joins them.
 *
 * What is held thus depends on what else the slice claims. Whoever changes that has the
 * plans let go first and take hold again afterwards, in one hold of fabric->lock. The cost
 * is that of all plans of the slice; slices that have reserved nothing pay nothing.
 */
#include "core/base/base.h"
#include "core/interface/interface.h"
#include "core/ledger/ledger.h"
#include "core/slice/slice.h"
#include "core/txn/txn.h"

/* Let go for the moment: the plan still counts on its routes. */
static void plan_unhold(struct morph_plan *plan)
{
	const struct morph_txn *txn = plan->txn;
	u32 i;

	for (i = 0; i < txn->count; i++)
		morph_route_unhold(plan->slice->fabric, txn->items[i].new);
	if (plan->charged)
		morph_user_uncharge(plan->slice->user, MORPH_RES_LANES, plan->charged);
	plan->charged = 0;
}

/* A lane counts once for each route that has something of it: what a circuit there costs. */
static bool plan_hold(struct morph_plan *plan)
{
	const struct morph_txn *txn = plan->txn;
	u32 lanes = 0, i;

	for (i = 0; i < txn->count; i++)
		lanes += morph_route_hold(plan->slice->fabric, txn->items[i].new);
	if (lanes && morph_user_charge(plan->slice->user, MORPH_RES_LANES, lanes, NULL)) {
		plan_unhold(plan);
		return false;
	}
	plan->charged = lanes;
	return true;
}

void morph_reserve_suspend(struct morph_slice *slice)
{
	u32 i;

	lockdep_assert_held(&slice->fabric->lock);
	if (!slice->reserved)
		return;
	for (i = 0; i < slice->ranks_count; i++)
		if (slice->ranks[i].plan.held)
			plan_unhold(&slice->ranks[i].plan);
}

void morph_reserve_resume(struct morph_slice *slice)
{
	u32 i;

	lockdep_assert_held(&slice->fabric->lock);
	if (!slice->reserved)
		return;
	for (i = 0; i < slice->ranks_count; i++) {
		struct morph_plan *plan = &slice->ranks[i].plan;

		if (!plan->held || plan_hold(plan))
			continue;
		/* Past the user's quota: a plan like those of other slices, until there is more. */
		plan->held = false;
		morph_plan_await(plan);
	}
}

void morph_reserve_drop(struct morph_plan *plan)
{
	if (plan->held)
		plan_unhold(plan);
	plan->held = false;
}

void morph_reserve_replenish(struct morph_slice *slice)
{
	struct morph_fabric *fabric = slice->fabric;
	u32 old = slice->own_spare, spare;

	lockdep_assert_held(&fabric->lock);
	if (!slice->reserved || (old != MORPH_ANY && morph_chip_fit(fabric, old)))
		return;
	slice->own_spare = MORPH_ANY;
	spare = morph_place_spare(slice, slice->ranks[0].accelerator, MORPH_ANY, 0);
	if (old != MORPH_ANY) {
		/* It is tested like any other that is idle, and is anybody's then. */
		morph_chip_let_go(fabric, old);
		morph_netlink_accelerator(fabric, old);
	}
	if (spare != MORPH_ANY) {
		slice->own_spare = spare;
		morph_chip_hold(slice, spare, MORPH_ANY);
		morph_netlink_accelerator(fabric, spare);
		morph_plan_touch_slice(slice);
	}
	if (old != slice->own_spare)
		fabric->seq++;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reserved protection. A slice created with MORPH_SLICE_RESERVED holds a spare. Its protections
 * hold, in the ledger, all resources to replace any one rank by that spare.
 *
 * The spare serves one failure, so the protections are alternatives. They overlap each other and
 * the slice's own circuits, but no circuits of other slices. So a route of a protection claims the
 * free part of its path, like the shadow of a moving circuit; the slice already has the rest. An
 * element cannot have pins for two states. If the slice has an element in another state than a
 * protection needs, the element gets a mark that excludes other users.
 *
 * These claims depend on the slice's other claims. Code that changes those first suspends the
 * protections and resumes them afterwards, under one hold of fabric->lock. The cost is proportional
 * to the protections of the slice. Slices without reservation have no cost.
 */
#include "core/base/base.h"
#include "core/ledger/ledger.h"
#include "core/slice/slice.h"
#include "core/txn/txn.h"

/* Release the claims temporarily: the protection keeps its routes. */
static void protection_unhold(struct morph_protection *protection)
{
	const struct morph_txn *txn = protection->txn;
	u32 i;

	for (i = 0; i < txn->count; i++)
		morph_route_unhold(protection->slice->fabric, txn->items[i].new);
	if (protection->charged)
		morph_user_uncharge(protection->slice->user, MORPH_RES_LANES, protection->charged);
	protection->charged = 0;
}

/* Charge a lane once for each route that holds a part of it, like a circuit. */
static bool protection_hold(struct morph_protection *protection)
{
	const struct morph_txn *txn = protection->txn;
	u32 lanes = 0, i;

	for (i = 0; i < txn->count; i++)
		lanes += morph_route_hold(protection->slice->fabric, txn->items[i].new);
	if (lanes && morph_user_charge(protection->slice->user, MORPH_RES_LANES, lanes, NULL)) {
		protection_unhold(protection);
		return false;
	}
	protection->charged = lanes;
	return true;
}

void morph_reserve_suspend(struct morph_slice *slice)
{
	u32 i;

	lockdep_assert_held(&slice->fabric->lock);
	if (!slice_tenancy(slice)->reserved)
		return;
	for (i = 0; i < slice->ranks_count; i++)
		if (rank_protection(slice, i)->held)
			protection_unhold(rank_protection(slice, i));
}

bool morph_reserve_resume(struct morph_slice *slice)
{
	bool all = true;
	u32 i;

	lockdep_assert_held(&slice->fabric->lock);
	if (!slice_tenancy(slice)->reserved)
		return true;
	for (i = 0; i < slice->ranks_count; i++) {
		struct morph_protection *protection = rank_protection(slice, i);

		if (!protection->held || protection_hold(protection))
			continue;
		/*
		 * The user's quota is exceeded: leave the protection unreserved until there is
		 * more.
		 */
		protection->held = false;
		morph_protection_await(protection);
		all = false;
	}
	return all;
}

void morph_reserve_drop(struct morph_protection *protection)
{
	if (protection->held)
		protection_unhold(protection);
	protection->held = false;
}

void morph_reserve_replenish(struct morph_slice *slice)
{
	struct morph_fabric *fabric = slice->fabric;
	u32 old = slice_tenancy(slice)->own_spare, spare, i;

	lockdep_assert_held(&fabric->lock);
	if (!slice_tenancy(slice)->reserved || (old != MORPH_ANY && morph_chip_fit(fabric, old)))
		return;
	morph_reserve_suspend(slice);
	slice_tenancy(slice)->own_spare = MORPH_ANY;
	spare = morph_place_spare(slice, slice->ranks[0].accelerator, MORPH_ANY, 0);
	if (old != MORPH_ANY) {
		/* The old spare is tested like other idle accelerators, and is free then. */
		morph_chip_let_go(fabric, old);
		morph_report_accelerator_changed(fabric, old);
	}
	if (spare != MORPH_ANY) {
		slice_tenancy(slice)->own_spare = spare;
		morph_slice_take_chip(slice, spare, MORPH_ANY);
		morph_report_accelerator_changed(fabric, spare);
		/* Without pauses, since the reserved claims are suspended. */
		for (i = 0; i < slice->ranks_count; i++)
			morph_protection_touch_rank(slice, i);
	}
	morph_reserve_resume(slice);
	if (old != slice_tenancy(slice)->own_spare)
		fabric->seq++;
}

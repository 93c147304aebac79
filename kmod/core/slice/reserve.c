// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reserved protection: a slice that was created with MORPH_SLICE_RESERVED holds a spare,
 * and its protections hold in the ledger what putting that spare in the place of any one rank
 * takes.
 *
 * One spare serves one failure, so the protections are alternatives: they overlap each other
 * and the slice's own circuits, never those of others. Hence a route of a protection claims what
 * is free of it at this moment, like the shadow of a circuit that moves, and the rest is
 * the slice's anyway. Elements that the slice has in another state than a protection needs
 * cannot be pinned twice: they are marked, so that nobody else joins them.
 *
 * What is held thus depends on what else the slice claims. Whoever changes that has the
 * protections let go first and take hold again afterwards, in one hold of fabric->lock. The cost
 * is that of all protections of the slice; slices that have reserved nothing pay nothing.
 */
#include "core/base/base.h"
#include "core/ledger/ledger.h"
#include "core/slice/slice.h"
#include "core/txn/txn.h"

/* Let go for the moment: the protection still counts on its routes. */
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

/* A lane counts once for each route that has something of it: what a circuit there costs. */
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

void morph_reserve_resume(struct morph_slice *slice)
{
	u32 i;

	lockdep_assert_held(&slice->fabric->lock);
	if (!slice_tenancy(slice)->reserved)
		return;
	for (i = 0; i < slice->ranks_count; i++) {
		struct morph_protection *protection = rank_protection(slice, i);

		if (!protection->held || protection_hold(protection))
			continue;
		/* Past the user's quota: like those of other slices, until there is more. */
		protection->held = false;
		morph_protection_await(protection);
	}
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
	u32 old = slice_tenancy(slice)->own_spare, spare;

	lockdep_assert_held(&fabric->lock);
	if (!slice_tenancy(slice)->reserved || (old != MORPH_ANY && morph_chip_fit(fabric, old)))
		return;
	slice_tenancy(slice)->own_spare = MORPH_ANY;
	spare = morph_place_spare(slice, slice->ranks[0].accelerator, MORPH_ANY, 0);
	if (old != MORPH_ANY) {
		/* It is tested like any other that is idle, and is anybody's then. */
		morph_chip_let_go(fabric, old);
		morph_report_accelerator_changed(fabric, old);
	}
	if (spare != MORPH_ANY) {
		slice_tenancy(slice)->own_spare = spare;
		morph_slice_take_chip(slice, spare, MORPH_ANY);
		morph_report_accelerator_changed(fabric, spare);
		morph_protection_touch_slice(slice);
	}
	if (old != slice_tenancy(slice)->own_spare)
		fabric->seq++;
}

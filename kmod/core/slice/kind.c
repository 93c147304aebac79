// SPDX-License-Identifier: GPL-2.0-only
/* The kind of a tenant's transactions; subscriptions of the slice layer to changes and idleness. */
#include <linux/slab.h>

#include "core/base/base.h"
#include "core/ledger/ledger.h"
#include "core/slice/slice.h"
#include "core/txn/txn.h"

/* A change by a controller may use its reservations; a change by the owner may not. */
static void lift_reservations(struct morph_txn *txn)
{
	morph_controller_lift(txn->fabric,
			      txn->token.needed ? slice_tenancy(txn->slice)->controller : 0);
}

static void suspend_holds(struct morph_txn *txn)
{
	morph_reserve_suspend(txn->slice);
}

static const struct morph_txn_kind tenant_kind = {
	.checked = true,
	.charged = true,
	.permits = morph_controller_permits,
	.lift_reservations = lift_reservations,
	.lower_reservations = morph_controller_lower,
	.suspend_holds = suspend_holds,
	.resume_holds = morph_reserve_resume,
};

/*
 * A protection moves the circuits of its rank and uses guides. So a change affects the protections
 * of the ranks at both ends of its circuits, and those whose guides the new paths use. The other
 * protections of a slice stay current, even if the slice changes all the time. Protections do not
 * depend on routes that a schedule holds.
 */
static void published(struct morph_txn *txn)
{
	u32 i;

	for (i = 0; i < txn->count; i++) {
		const struct morph_circuit *circuit = txn->items[i].circuit;

		if (txn->items[i].new && !circuit->scheduled)
			morph_protection_touch_route(txn->fabric, txn->items[i].new);
		if (txn->kind->silent)
			continue;
		morph_protection_touch_rank(circuit->slice, circuit->src_rank);
		morph_protection_touch_rank(circuit->slice, circuit->dst_rank);
	}
}

static void paths_freed(struct morph_txn *txn)
{
	u32 i;

	for (i = 0; i < txn->count; i++)
		if (txn->items[i].old && txn->items[i].old->role == MORPH_ROUTE_IDLE)
			morph_protection_touch_route(txn->fabric, txn->items[i].old);
}

static const struct morph_subscriber subscriber = {
	.published = published,
	.paths_freed = paths_freed,
};

static int created(struct morph_slice *slice, void *by_rank)
{
	struct morph_slice_tenancy *tenancy = slice_tenancy(slice);

	tenancy->own_spare = MORPH_ANY;
	tenancy->protections = by_rank;
	morph_turn_init(&tenancy->release_turn, morph_slice_release_work);
	return 0;
}

static void released(struct morph_slice *slice)
{
	kvfree(slice_tenancy(slice)->spare_list);
}

struct morph_slice_waiter morph_protection_waiter = {
	.created = created,
	.idle = morph_protection_resume,
	.released = released,
	.rank_bytes = sizeof(struct morph_protection),
};

void morph_slices_init(struct morph_fabric *fabric)
{
	struct morph_slices *slices = slices_of(fabric);

	INIT_LIST_HEAD(&slices->stale_protections);
	INIT_LIST_HEAD(&slices->protections_wanted);
	init_waitqueue_head(&slices->test_end);
	INIT_DELAYED_WORK(&slices->protection_work, morph_protection_work);
	morph_controller_init(fabric);
}

void morph_slice_register(void)
{
	morph_txn_kind_register(MORPH_TXN_TENANT, &tenant_kind);
	morph_subscribe(&subscriber);
	morph_slice_waiter_register(&morph_protection_waiter);
}

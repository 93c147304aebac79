// SPDX-License-Identifier: GPL-2.0-only
/* A tenant's change, as a kind of transactions; what slices hear of changes and of idleness. */
#include <linux/slab.h>

#include "core/base/base.h"
#include "core/ledger/ledger.h"
#include "core/slice/slice.h"
#include "core/txn/txn.h"

/* One that a controller makes may use what is reserved for that; one of the owner's may not. */
static void lift_reservations(struct morph_txn *txn)
{
	morph_controller_lift(txn->fabric, txn->token.needed ? txn->slice->tenancy->controller : 0);
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

/* Protections do not count on what a schedule holds. */
static void lit(struct morph_txn *txn, struct morph_circuit *circuit, bool had_path)
{
	if (!circuit->schedule)
		morph_protection_touch_route(txn->fabric, circuit->route);
}

static void published(struct morph_txn *txn)
{
	morph_protection_touch_slice(txn->slice);
}

static const struct morph_subscriber subscriber = {
	.lit = lit,
	.published = published,
	.path_freed = morph_protection_touch_route,
};

static int created(struct morph_slice *slice)
{
	struct morph_slice_tenancy *tenancy = kzalloc(sizeof(*tenancy), GFP_KERNEL_ACCOUNT);

	slice->tenancy = tenancy;
	if (!tenancy)
		return -ENOMEM;
	tenancy->slice = slice;
	tenancy->own_spare = MORPH_ANY;
	INIT_LIST_HEAD(&tenancy->schedules);
	INIT_WORK(&tenancy->release_work, morph_slice_release_work);
	tenancy->teardown_settings = kvcalloc(MORPH_TEARDOWN_CHUNK * OPTICS_MAX_HOPS,
					      sizeof(*tenancy->teardown_settings),
					      GFP_KERNEL_ACCOUNT);
	slice->protections = kvcalloc(slice->ranks_count, sizeof(*slice->protections),
				      GFP_KERNEL_ACCOUNT);
	return tenancy->teardown_settings && slice->protections ? 0 : -ENOMEM;
}

static void released(struct morph_slice *slice)
{
	if (slice->tenancy) {
		kvfree(slice->tenancy->teardown_settings);
		kvfree(slice->tenancy->spare_list);
	}
	kfree(slice->tenancy);
	kvfree(slice->protections);
}

struct morph_slice_waiter morph_protection_waiter = {
	.created = created,
	.idle = morph_protection_resume,
	.released = released,
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

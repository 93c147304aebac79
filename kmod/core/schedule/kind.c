// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kinds of transactions for steps of schedules and for repairs. Schedules release resources
 * only for repairs, because a tenant's request must not take them.
 */
#include <linux/slab.h>

#include "core/base/base.h"
#include "core/ledger/ledger.h"
#include "core/recovery/recovery.h"
#include "core/schedule/schedule.h"
#include "core/slice/slice.h"
#include "core/txn/txn.h"

/* Repairs by the kernel may use reservations, because lit circuits have priority. */
static void lift_reservations(struct morph_txn *txn)
{
	morph_controller_lift(txn->fabric, slice_tenancy(txn->slice)->controller);
}

static void suspend_holds(struct morph_txn *txn)
{
	morph_reserve_suspend(txn->slice);
	morph_schedule_suspend(txn->slice);
}

static const struct morph_txn_kind repair_kind = {
	.ends_given = true,
	.looks_in = true,
	.recovers = true,
	.lift_reservations = lift_reservations,
	.lower_reservations = morph_controller_lower,
	.suspend_holds = suspend_holds,
	.resume_first = morph_schedule_resume,
	.resume_holds = morph_reserve_resume,
	.published = morph_repair_published,
	.announced = morph_repair_announced,
};

static const struct morph_txn_kind step_kind = {
	.charged = true,
	.silent = true,
	.exclusive = true,
	.resume_holds = morph_reserve_resume,
	.give_claims = morph_schedule_take,
	.settle = morph_step_end,
};

/* A repair has rerouted a circuit, perhaps over resources of a schedule. */
static void published(struct morph_txn *txn)
{
	u32 i;

	for (i = 0; txn->kind->recovers && i < txn->count; i++)
		if (txn->items[i].old && txn->items[i].new)
			morph_schedule_moved(txn->items[i].circuit);
}

static int created(struct morph_slice *slice, void *by_rank)
{
	INIT_LIST_HEAD(&slice_scheduling(slice)->schedules);
	slice_scheduling(slice)->schedule_ids = MORPH_SCHEDULE_FIRST_ID;
	return 0;
}

static struct morph_slice_waiter waiter = { .created = created };

static const struct morph_subscriber subscriber = {
	.published = published,
	.repaired = morph_schedule_mend,
	.searched = morph_schedule_hold_all,
	.retried = morph_schedule_recover,
	.slice_darkening = morph_schedule_drop_slice,
};

void morph_schedule_register(void)
{
	morph_txn_kind_register(MORPH_TXN_REPAIR, &repair_kind);
	morph_txn_kind_register(MORPH_TXN_OF_SCHEDULE, &step_kind);
	morph_subscribe(&subscriber);
	morph_slice_waiter_register(&waiter);
	morph_slice_waiter_register(&morph_schedule_recoverer);
	morph_slice_waiter_register(&morph_schedule_stepper);
}

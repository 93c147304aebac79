// SPDX-License-Identifier: GPL-2.0-only
/* Subscriptions of recovery: it applies findings about hardware, and repairs affected slices. */
#include <linux/slab.h>

#include "core/base/base.h"
#include "core/ledger/ledger.h"
#include "core/recovery/recovery.h"
#include "core/txn/txn.h"

static void found(struct morph_fabric *fabric, const struct morph_culprit *culprit, u32 health,
		  bool test)
{
	morph_health_set(fabric, culprit, health, 0);
	if (test)
		morph_suspect_add(fabric, culprit);
}

static void answered(struct morph_fabric *fabric, u32 accelerator)
{
	ledger_of(fabric)->chips[accelerator].last_verified_ns = ktime_get_boottime_ns();
}

static void light_lost(struct morph_slice *slice)
{
	morph_repair_kick(slice, 0);
}

/* A slice ends: first end its repair. No lock held. */
static void slice_stopping(struct morph_slice *slice)
{
	struct morph_fabric *fabric = slice->fabric;

	cancel_work_sync(&slice_recovery(slice)->repair_work);
	mutex_lock(&fabric->lock);
	if (slice->repairing) {
		/* The work was cancelled before it ran, so drop its reference here. */
		WRITE_ONCE(slice->repairing, false);
		morph_protection_unpause(fabric);
		morph_slice_put(slice);
	}
	if (slice_recovery(slice)->was_degraded)
		recovery_of(fabric)->degraded--;
	mutex_unlock(&fabric->lock);
}

static const struct morph_subscriber subscriber = {
	.found = found,
	.doubted = morph_patrol_review,
	.diagnose = morph_health_diagnose,
	.answered = answered,
	.freed = morph_repair_recover,
	.light_lost = light_lost,
	.event = morph_log_event,
	.slice_stopping = slice_stopping,
};

/* An action on hardware changes no circuits. */
static const struct morph_txn_kind test_kind;

static int created(struct morph_slice *slice, void *by_rank)
{
	struct morph_slice_recovery *recovery = slice_recovery(slice);
	u32 i;

	recovery->ranks = by_rank;
	recovery->failover_lists = (u32 *)(recovery->ranks + slice->ranks_count);
	INIT_WORK(&recovery->repair_work, morph_repair_work);
	for (i = 0; i < slice->ranks_count; i++)
		recovery->ranks[i].wanted_spare = MORPH_ANY;
	return 0;
}

struct morph_slice_waiter morph_repair_waiter = {
	.created = created,
	.idle = morph_retry_idle,
	.rank_bytes = sizeof(struct morph_rank_recovery) + 3 * sizeof(u32),
};

void morph_recovery_register(void)
{
	morph_txn_kind_register(MORPH_TXN_TEST, &test_kind);
	morph_subscribe(&subscriber);
	morph_slice_waiter_register(&morph_repair_waiter);
}

// SPDX-License-Identifier: GPL-2.0-only
/* Recovery applies what hardware and transactions find, and repairs what has suffered. */
#include <linux/mm.h>

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

static void hurt(struct morph_slice *slice)
{
	morph_repair_kick(slice, 0);
}

static const struct morph_subscriber subscriber = {
	.found = found,
	.doubted = morph_patrol_review,
	.diagnose = morph_health_diagnose,
	.seen = morph_health_lit,
	.freed = morph_repair_recover,
	.hurt = hurt,
};

/* An act on hardware changes no circuits. */
static const struct morph_txn_kind test_kind;

static void released(struct morph_slice *slice)
{
	kvfree(slice->failover_lists);
}

static struct morph_slice_waiter waiter = { .released = released };

void morph_recovery_register(void)
{
	morph_txn_kind_register(MORPH_TXN_TEST, &test_kind);
	morph_subscribe(&subscriber);
	morph_slice_waiter_register(&waiter);
}

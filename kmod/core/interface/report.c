// SPDX-License-Identifier: GPL-2.0-only
/* Effects of changes on state pages, events and notifications. */
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "core/base/base.h"
#include "core/interface/interface.h"
#include "core/ledger/ledger.h"
#include "core/slice/slice.h"
#include "core/txn/txn.h"

/* Report circuits that a rollback could not restore. Caller holds fabric->lock. */
static void report_broken(struct morph_txn *txn)
{
	struct morph_event event;
	u32 i;

	for (i = 0; i < txn->count; i++) {
		const struct morph_circuit *circuit = txn->items[i].circuit;

		if (!txn->items[i].old || circuit->state != MORPH_CIRCUIT_FAILED ||
		    txn->items[i].dead)
			continue;
		morph_event_init(&event, circuit->slice, MORPH_EVENT_CIRCUIT_FAILED);
		event.part = txn->refusal.part;
		event.index = txn->refusal.index;
		event.circuit = circuit->id;
		morph_event_queue(circuit->slice, &event);
	}
}

static noinline_for_stack void report_end(struct morph_txn *txn)
{
	struct morph_event event;

	morph_event_init(&event, txn->slice, MORPH_EVENT_TXN);
	event.txn = txn->id;
	event.outcome = txn->outcome;
	event.part = txn->refusal.part;
	event.index = txn->refusal.index;
	event.times = txn->session.times;
	morph_event_queue(txn->slice, &event);
}

static void light(struct morph_txn *txn)
{
	morph_state_txn(txn, false);
}

static void published(struct morph_txn *txn)
{
	morph_state_txn(txn, true);
	if (!txn->kind->silent)
		morph_netlink_slice(txn->slice);
}

static void slice_changed(struct morph_slice *slice)
{
	morph_netlink_slice(slice);
	morph_devlink_update(slice->fabric);
}

static void accelerator_changed(struct morph_fabric *fabric, u32 accelerator)
{
	morph_netlink_accelerator(fabric, accelerator);
	morph_devlink_update(fabric);
}

static void hardware_changed(struct morph_fabric *fabric, u32 part, u32 index)
{
	morph_netlink_hardware(fabric, part, index);
	morph_devlink_update(fabric);
}

/* Wake threads that wait on a slice which ends. Caller holds fabric->lock. */
static void slice_dying(struct morph_slice *slice)
{
	morph_event_hangup(slice);
	morph_queue_wake_slice(slice);
}

static void slice_darkening(struct morph_slice *slice)
{
	morph_state_lose(slice, true);
}

static const struct morph_subscriber subscriber = {
	.light = light,
	.published = published,
	.broken = report_broken,
	.txn_changed = morph_netlink_txn,
	.txn_ended = report_end,
	.reverted = morph_netlink_slice,
	.event = morph_event_queue,
	.slice_changed = slice_changed,
	.accelerator_changed = accelerator_changed,
	.hardware_changed = hardware_changed,
	.controller_changed = morph_netlink_controller,
	.schedule_changed = morph_state_schedule,
	.darkened = morph_state_dark,
	.light_reviewed = morph_state_all,
	.slice_dying = slice_dying,
	.slice_darkening = slice_darkening,
	.slice_gone = morph_chardev_del_slice,
};

static int created(struct morph_slice *slice, void *by_rank)
{
	INIT_LIST_HEAD(&slice_interface(slice)->files);
	INIT_LIST_HEAD(&slice_interface(slice)->queues);
	INIT_LIST_HEAD(&slice_interface(slice)->consumers);
	/* Files get changes of light as events. */
	slice->watched = !slice->fabric->simulated;
	return 0;
}

static void released(struct morph_slice *slice)
{
	vfree(slice_interface(slice)->state_page);
}

static struct morph_slice_waiter waiter = { .created = created, .released = released };

void morph_interface_register(void)
{
	morph_subscribe(&subscriber);
	morph_slice_waiter_register(&waiter);
}

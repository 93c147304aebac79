// SPDX-License-Identifier: GPL-2.0-only
/*
 * The end of a slice. Dropping its last user marks it at once. A worker then darkens its circuits,
 * verifies that, and gives its accelerators back. A slice may have thousands of ranks, so the
 * worker drops fabric->lock at times. It has entered the slice, which is dying, so no other thread
 * changes the slice meanwhile.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "core/base/base.h"
#include "core/base/trace.h"
#include "core/ledger/ledger.h"
#include "core/slice/slice.h"
#include "core/txn/txn.h"

/*
 * Darken up to a chunk of circuits, whose elements fit into teardown_settings. Return their number;
 * set *dark to false on failure.
 */
static u32 teardown_some(struct morph_slice *slice, bool *dark)
{
	struct morph_circuit *circuits[MORPH_TEARDOWN_CHUNK], *circuit;
	struct morph_route *routes[MORPH_TEARDOWN_CHUNK];
	struct morph_fabric *fabric = slice->fabric;
	unsigned long index;
	u32 count = 0, settings = 0, i;

	/* Each chunk has a circuit. */
	static_assert(MORPH_TEARDOWN_SETTINGS >= OPTICS_MAX_HOPS);

	xa_for_each(&slice->circuits, index, circuit) {
		settings += circuit->route->path.hops_count;
		if (settings > MORPH_TEARDOWN_SETTINGS)
			break;
		circuits[count] = circuit;
		routes[count] = circuit->route;
		if (++count == MORPH_TEARDOWN_CHUNK)
			break;
	}
	if (!count)
		return 0;
	if (fabric->state == MORPH_FABRIC_READY &&
	    morph_exec_darken(fabric, routes, count, slice_tenancy(slice)->teardown_settings))
		*dark = false;
	for (i = 0; i < count; i++) {
		morph_protection_touch_route(fabric, routes[i]);
		morph_route_release(fabric, routes[i]);		/* may be unregistered */
		morph_circuit_drop(circuits[i]);
	}
	return count;
}

/* No failover takes a lent spare from a slice that ends: its protections need another one. */
static void unlist_lent(struct morph_slice *slice)
{
	struct morph_fabric *fabric = slice->fabric;
	u32 i;

	for (i = 0; i < slice->ranks_count; i++) {
		u32 accelerator = slice->ranks[i].accelerator;

		morph_fabric_pause_after(fabric, i);
		if (!ledger_of(fabric)->chips[accelerator].lent)
			continue;
		morph_chip_update(fabric, accelerator);
		morph_protection_touch_chip(fabric, accelerator);
	}
}

/*
 * Give an accelerator back. Uncharge it before the report, because a subscriber may request the
 * same amount again.
 */
static void teardown_chip(struct morph_slice *slice, u32 accelerator, bool dark)
{
	struct morph_fabric *fabric = slice->fabric;
	struct morph_culprit culprit = { MORPH_PART_ACCELERATOR, accelerator, 0 };

	morph_chip_let_go(fabric, accelerator);
	morph_user_uncharge(slice->user, MORPH_RES_ACCELERATORS, 1);
	if (!dark)
		morph_report_finding(fabric, &culprit, MORPH_HEALTH_QUARANTINED);
	morph_protection_touch_chip(fabric, accelerator);
	morph_report_accelerator_changed(fabric, accelerator);
}

void morph_slice_finish(struct morph_slice *slice)
{
	struct morph_fabric *fabric = slice->fabric;
	bool dark = true;
	u32 i;

	morph_report_slice_stopping(slice);
	morph_fabric_lock(fabric);
	morph_slice_enter(slice, true);
	morph_txn_revoke_slice(slice);
	unlist_lent(slice);
	morph_report_slice_darkening(slice);
	morph_protection_drop_slice(slice);
	while (teardown_some(slice, &dark))
		morph_fabric_pause(fabric);
	if (slice_txns(slice)->comes_in && fabric->state == MORPH_FABRIC_READY) {
		morph_fabric_unlock(fabric);
		dark &= !morph_half_verify_dark(slice);
		morph_fabric_lock(fabric);
	}
	for (i = 0; i < slice->ranks_count; i++) {
		morph_fabric_pause_after(fabric, i);
		teardown_chip(slice, slice->ranks[i].accelerator, dark);
	}
	if (slice_tenancy(slice)->own_spare != MORPH_ANY)
		teardown_chip(slice, slice_tenancy(slice)->own_spare, true);
	else if (slice_tenancy(slice)->reserved)	/* charged, although it has no spare now */
		morph_user_uncharge(slice->user, MORPH_RES_ACCELERATORS, 1);
	morph_history_forget(slice);
	list_del_init(&slice->node);
	ledger_of(fabric)->slices_count--;
	morph_protection_unpause(fabric);
	fabric->seq++;
	morph_stat(fabric, MORPH_STAT_PUBLISHES);
	morph_slice_leave(slice);
	morph_report_freed(fabric, MORPH_FREED_ANY);
	morph_fabric_unlock(fabric);
	trace_morph_slice_release(fabric->id, slice->number, dark);
	morph_report_slice_gone(slice);
	/*
	 * Unpin the provider before the number ends and before the report. A reader of either can
	 * then unload the provider, although files may still refer to the slice.
	 */
	morph_slice_unpin(slice);
	xa_erase(&morph_slices, slice->number);
	morph_fabric_lock(fabric);
	morph_report_slice_changed(slice);
	morph_fabric_unlock(fabric);
}

void morph_slice_release_work(struct work_struct *work)
{
	struct morph_slice_tenancy *tenancy = container_of(work, struct morph_slice_tenancy,
							   release_turn.work);
	struct morph_slice *slice = &tenancy->txns.slice;

	morph_slice_finish(slice);
	morph_turn_end(slice->user);
	morph_slice_put(slice);
}

/* Mark the slice as ending, and report this. Caller holds fabric->lock. */
static void begin_release(struct morph_slice *slice, u32 event_type)
{
	struct morph_fabric *fabric = slice->fabric;
	struct morph_event event;

	lockdep_assert_held(&fabric->lock);
	WRITE_ONCE(slice->dying, true);
	morph_protection_pause(fabric);
	slice_tenancy(slice)->state = MORPH_SLICE_DYING;
	if (event_type) {
		morph_event_init(&event, slice, event_type);
		morph_report_event(slice, &event);
	}
	wake_up_all(&slice->idle);
	morph_report_slice_dying(slice);
}

void morph_slice_release(struct morph_slice *slice, u32 event_type)
{
	if (WARN_ON_ONCE(slice->dying))
		return;
	begin_release(slice, event_type);
	morph_turn_queue(&slice_tenancy(slice)->release_turn, slice->user);
}

bool morph_slice_release_unused(struct morph_slice *slice)
{
	if (!xa_empty(&slice->circuits) || slice_txns(slice)->comes_in || slice->busy ||
	    slice->repairing || slice->dying)
		return false;
	begin_release(slice, 0);
	return true;
}

int morph_slice_delete(struct morph_slice *slice, bool force, struct morph_refusal *refusal)
{
	struct morph_fabric *fabric = slice->fabric;
	int ret = 0;

	morph_fabric_lock(fabric);
	if (slice->dying)
		ret = morph_refuse(refusal, -ENOENT, MORPH_REASON_STATE, 0, 0,
				   "the slice is already being deleted");
	else if (slice_tenancy(slice)->files_count && !force)
		ret = morph_refuse_numbers(refusal, -EBUSY, MORPH_REASON_STATE, 0, slice->number,
					   slice_tenancy(slice)->files_count, 0,
					   "slice {index} has open files ({have}); close them, or force the deletion");
	else
		morph_slice_release(slice, MORPH_EVENT_SLICE_GONE);
	morph_fabric_unlock(fabric);
	return ret;
}


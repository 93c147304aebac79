// SPDX-License-Identifier: GPL-2.0-only
/*
 * Controllers: programs outside the kernel, each of which manages whole slices of a fabric.
 *
 * A controller holds its slices under an epoch and a lease. To take control, a program names a
 * higher epoch. From then on the core refuses requests with an earlier epoch. Staging checks the
 * epoch under fabric->lock, which guards a change of control too. After the lease expires, light,
 * circuits and the epoch stay. The core only refuses changes by that controller until a program
 * takes control again.
 *
 * The clock decides whether a lease is valid. The timer only reports its end.
 */
#include <linux/hrtimer.h>
#include <linux/math64.h>
#include <linux/slab.h>

#include "core/base/base.h"
#include "core/base/trace.h"
#include "core/slice/slice.h"
#include "core/txn/txn.h"

u64 morph_controller_lease_left(const struct morph_controller *controller)
{
	u64 now = ktime_get_boottime_ns();

	return controller->lease_until_ns > now ? controller->lease_until_ns - now : 0;
}

u32 morph_controller_slices(struct morph_fabric *fabric, u32 id)
{
	struct morph_slice *slice;
	u32 count = 0;

	lockdep_assert_held(&fabric->lock);
	list_for_each_entry(slice, &ledger_of(fabric)->slices, node)
		count += slice_tenancy(slice)->controller == id && !slice->dying;
	return count;
}

/* ------------------------------------------------------------------- leases */

/* Set the timer to the end of the next lease whose end is not reported yet. */
static void timer_set(struct morph_fabric *fabric)
{
	struct morph_controller *controller;
	u64 next = U64_MAX;
	unsigned long id;

	xa_for_each(&slices_of(fabric)->controllers, id, controller)
		if (!controller->expiry_reported)
			next = min(next, controller->lease_until_ns);
	if (next != U64_MAX && !morph_fabric_check(fabric))
		hrtimer_start(&slices_of(fabric)->controller_timer, ns_to_ktime(next),
			      HRTIMER_MODE_ABS);
}

static enum hrtimer_restart timer_fn(struct hrtimer *timer)
{
	struct morph_slices *slices = container_of(timer, struct morph_slices, controller_timer);

	queue_work(morph_wq, &slices->controller_work);
	return HRTIMER_NORESTART;
}

static void report_state(struct morph_fabric *fabric, struct morph_controller *controller,
			 u32 state)
{
	trace_morph_controller(fabric->id, controller->id, controller->epoch, state);
	fabric->seq++;
	morph_report_controller_changed(fabric, controller, state);
}

static void controller_work_fn(struct work_struct *work)
{
	struct morph_slices *slices = container_of(work, struct morph_slices, controller_work);
	struct morph_fabric *fabric = &slices->txns.ledger.hardware.fabric;
	struct morph_controller *controller;
	unsigned long id;

	morph_fabric_lock(fabric);
	xa_for_each(&slices_of(fabric)->controllers, id, controller) {
		if (controller->expiry_reported || morph_controller_lease_left(controller))
			continue;
		controller->expiry_reported = true;
		morph_stat(fabric, MORPH_STAT_CONTROLLERS_EXPIRED);
		report_state(fabric, controller, MORPH_CONTROLLER_EXPIRED);
	}
	timer_set(fabric);
	morph_fabric_unlock(fabric);
}

static void lease_begin(struct morph_fabric *fabric, struct morph_controller *controller,
			u64 lease_ns)
{
	controller->lease_until_ns = ktime_get_boottime_ns() + lease_ns;
	controller->expiry_reported = false;
	timer_set(fabric);
}

void morph_controller_init(struct morph_fabric *fabric)
{
	xa_init(&slices_of(fabric)->controllers);
	hrtimer_init(&slices_of(fabric)->controller_timer, CLOCK_BOOTTIME, HRTIMER_MODE_ABS);
	slices_of(fabric)->controller_timer.function = timer_fn;
	INIT_WORK(&slices_of(fabric)->controller_work, controller_work_fn);
}

/* Work that still runs sees the fabric's state and sets no timer. */
void morph_controller_stop(struct morph_fabric *fabric)
{
	hrtimer_cancel(&slices_of(fabric)->controller_timer);
	cancel_work_sync(&slices_of(fabric)->controller_work);
}

static void controller_last_put(struct kref *kref)
{
	struct morph_controller *controller = container_of(kref, struct morph_controller, kref);

	xa_destroy(&controller->reservations);
	kvfree(controller->lanes);
	kfree(controller);
}

struct morph_controller *morph_controller_ref(struct morph_controller *controller)
{
	kref_get(&controller->kref);
	return controller;
}

void morph_controller_put(struct morph_controller *controller)
{
	kref_put(&controller->kref, controller_last_put);
}

void morph_controller_free(struct morph_fabric *fabric)
{
	struct morph_controller *controller;
	unsigned long id;

	xa_for_each(&slices_of(fabric)->controllers, id, controller) {
		morph_controller_yield(fabric, controller);
		morph_controller_put(controller);
	}
	xa_destroy(&slices_of(fabric)->controllers);
}

/* ------------------------------------------------------------------ control */

struct morph_controller *morph_controller_find(struct morph_fabric *fabric, u32 id,
					       struct morph_refusal *refusal)
{
	struct morph_controller *controller = xa_load(&slices_of(fabric)->controllers, id);

	lockdep_assert_held(&fabric->lock);
	if (controller)
		return controller;
	return ERR_PTR(morph_refuse_numbers(refusal, -ENOENT, MORPH_REASON_ARGUMENT, 0, id,
					    slices_of(fabric)->controllers_count, 0,
					    "no controller {index} (controllers: {have})"));
}

static int refuse_epoch(const struct morph_controller *controller, u64 epoch,
			struct morph_refusal *refusal)
{
	return morph_refuse_numbers(refusal, -ESTALE, MORPH_REASON_CONTROLLER, 0, controller->id,
				    min_t(u64, controller->epoch, S64_MAX),
				    min_t(u64, epoch, S64_MAX),
				    "controller {index} is at epoch {have}, not {need}");
}

int morph_controller_check(const struct morph_controller *controller, u64 epoch,
			   struct morph_refusal *refusal)
{
	if (epoch != controller->epoch)
		return refuse_epoch(controller, epoch, refusal);
	if (morph_controller_lease_left(controller))
		return 0;
	return morph_refuse_numbers(refusal, -ETIME, MORPH_REASON_CONTROLLER, 0, controller->id,
				    min_t(u64, controller->epoch, S64_MAX), 0,
				    "the lease of controller {index} has expired; take control with an epoch above {have}");
}

int morph_controller_permits(struct morph_slice *slice, const struct morph_token *token,
			     struct morph_refusal *refusal)
{
	struct morph_controller *controller;
	u32 id = slice_tenancy(slice)->controller;

	lockdep_assert_held(&slice->fabric->lock);
	if (!token->needed || token->controller != id) {
		if (!token->needed)
			return 0;
		if (!id)
			return morph_refuse(refusal, -EPERM, MORPH_REASON_CONTROLLER, 0, 0,
					    "the slice is assigned to no controller");
		return morph_refuse_numbers(refusal, -EPERM, MORPH_REASON_CONTROLLER, 0, id, 0, 0,
					    "the slice is assigned to controller {index}; name it and its epoch");
	}
	if (!id)
		return 0;
	controller = morph_controller_find(slice->fabric, id, refusal);
	return IS_ERR(controller) ? PTR_ERR(controller) :
				    morph_controller_check(controller, token->epoch, refusal);
}

/* A controller in an epoch that has not begun. */
static struct morph_controller *controller_alloc(struct morph_fabric *fabric, u32 id)
{
	struct morph_controller *controller = kzalloc(sizeof(*controller), GFP_KERNEL_ACCOUNT);

	if (!controller)
		return NULL;
	kref_init(&controller->kref);
	controller->id = id;
	xa_init_flags(&controller->reservations, XA_FLAGS_ACCOUNT);
	controller->lanes = kvcalloc(fabric->graph->guides_count, sizeof(*controller->lanes),
				     GFP_KERNEL_ACCOUNT);
	if (!controller->lanes) {
		morph_controller_put(controller);
		return NULL;
	}
	return controller;
}

/* Caller holds fabric->lock. */
static int controller_add(struct morph_fabric *fabric, struct morph_controller *controller,
			  struct morph_refusal *refusal)
{
	int ret;

	if (slices_of(fabric)->controllers_count == MORPH_MAX_CONTROLLERS)
		return morph_refuse_numbers(refusal, -ENOSPC, MORPH_REASON_ARGUMENT, 0,
					    controller->id, MORPH_MAX_CONTROLLERS, 0,
					    "no controller {index}: at most {have}");
	ret = xa_err(xa_store(&slices_of(fabric)->controllers, controller->id, controller,
			      MORPH_GFP_LOCKED));
	if (!ret)
		slices_of(fabric)->controllers_count++;
	return ret;
}

/* A controller that does not exist yet becomes *spare. Caller holds fabric->lock. */
static int take(struct morph_fabric *fabric, u32 id, u64 epoch, u64 lease_ns, bool force,
		struct morph_controller **spare, struct morph_refusal *refusal)
{
	struct morph_controller *controller = xa_load(&slices_of(fabric)->controllers, id);
	u64 left;
	int ret;

	if (!controller) {
		if (!*spare)
			return -ENOMEM;
		ret = controller_add(fabric, *spare, refusal);
		if (ret)
			return ret;
		swap(controller, *spare);
	}
	if (epoch <= controller->epoch)
		return refuse_epoch(controller, epoch, refusal);
	left = morph_controller_lease_left(controller);
	if (left && !force)
		return morph_refuse_numbers(refusal, -EBUSY, MORPH_REASON_CONTROLLER, 0, id,
					    div_u64(left, NSEC_PER_MSEC), 0,
					    "the lease of controller {index} runs for {have} ms more; wait, or use force");
	controller->epoch = epoch;
	lease_begin(fabric, controller, lease_ns);
	report_state(fabric, controller, MORPH_CONTROLLER_ACTIVE);
	return 0;
}

int morph_controller_take(struct morph_fabric *fabric, u32 id, u64 epoch, u64 lease_ns, bool force,
			  struct morph_refusal *refusal)
{
	struct xarray *controllers = &slices_of(fabric)->controllers;
	struct morph_controller *spare = controller_alloc(fabric, id);
	int ret;

	/* Without memory for the table, allocate it with the lock dropped, and begin again. */
	do {
		morph_fabric_lock(fabric);
		ret = morph_fabric_check(fabric);
		if (!ret)
			ret = take(fabric, id, epoch, lease_ns, force, &spare, refusal);
		morph_fabric_unlock(fabric);
	} while (ret == -ENOMEM && spare && !xa_reserve(controllers, id, GFP_KERNEL));
	if (ret)
		xa_release(controllers, id);
	if (spare)
		morph_controller_put(spare);
	return ret;
}

int morph_controller_renew(struct morph_fabric *fabric, u32 id, u64 epoch, u64 lease_ns,
			   struct morph_refusal *refusal)
{
	struct morph_controller *controller;
	int ret;

	morph_fabric_lock(fabric);
	controller = morph_controller_find(fabric, id, refusal);
	ret = PTR_ERR_OR_ZERO(controller);
	if (!ret)
		ret = morph_controller_check(controller, epoch, refusal);
	if (!ret)
		lease_begin(fabric, controller, lease_ns);
	morph_fabric_unlock(fabric);
	return ret;
}

int morph_controller_drop(struct morph_fabric *fabric, u32 id, struct morph_controller *last,
			  struct morph_refusal *refusal)
{
	struct morph_controller *controller;
	u32 slices;
	int ret;

	morph_fabric_lock(fabric);
	controller = morph_controller_find(fabric, id, refusal);
	ret = PTR_ERR_OR_ZERO(controller);
	if (ret)
		goto out;
	slices = morph_controller_slices(fabric, id);
	if (slices) {
		ret = morph_refuse_numbers(refusal, -EBUSY, MORPH_REASON_STATE, 0, id, slices, 0,
					   "controller {index} has slices ({have}); assign them to another one");
		goto out;
	}
	morph_controller_yield(fabric, controller);
	report_state(fabric, controller, MORPH_CONTROLLER_GONE);
	*last = *controller;
	xa_erase(&slices_of(fabric)->controllers, id);
	slices_of(fabric)->controllers_count--;
	morph_controller_put(controller);
	morph_report_freed(fabric, MORPH_FREED_PATHS);
out:
	morph_fabric_unlock(fabric);
	return ret;
}

int morph_controller_assign(struct morph_slice *slice, u32 id, struct morph_refusal *refusal)
{
	struct morph_fabric *fabric = slice->fabric;
	int ret = 0;

	morph_fabric_lock(fabric);
	if (slice->dying || morph_fabric_check(fabric))
		ret = -ENODEV;
	else if (id)
		ret = PTR_ERR_OR_ZERO(morph_controller_find(fabric, id, refusal));
	if (!ret && slice_tenancy(slice)->controller != id) {
		slice_tenancy(slice)->controller = id;
		fabric->seq++;
		morph_protection_touch_slice(slice);
		morph_report_slice_changed(slice);
	}
	morph_fabric_unlock(fabric);
	return ret;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reservations of lanes between servers by controllers.
 *
 * A reservation claims no lanes; it prevents claims by other tenants. The ledger records it
 * separately from claims. So light on reserved lanes can come and go without a change of the
 * reservation, and a reservation can end while its lanes carry light. Lanes of two controllers
 * never overlap. If a change may use a controller's reservations, its staging lifts them, under one
 * hold of fabric->lock.
 */
#include <linux/slab.h>

#include "core/base/base.h"
#include "core/base/trace.h"
#include "core/ledger/ledger.h"
#include "core/slice/slice.h"

void morph_controller_lift(struct morph_fabric *fabric, u32 id)
{
	struct morph_controller *controller =
		id ? xa_load(&slices_of(fabric)->controllers, id) : NULL;

	lockdep_assert_held(&fabric->lock);
	ledger_of(fabric)->state->lifted = controller ? controller->lanes : NULL;
}

void morph_controller_lower(struct morph_fabric *fabric)
{
	lockdep_assert_held(&fabric->lock);
	ledger_of(fabric)->state->lifted = NULL;
}

/* Replace the lanes that the controller has reserved on a guide. */
static void set_lanes(struct morph_fabric *fabric, struct morph_controller *controller, u32 guide,
		      u64 lanes)
{
	u64 *reserved = &ledger_of(fabric)->state->guide_reserved[guide];
	u64 had = controller->lanes[guide];

	*reserved = (*reserved & ~had) | lanes;
	ledger_of(fabric)->marks_seq++;
	controller->lanes_count += optics_weight64(lanes) - optics_weight64(had);
	controller->lanes[guide] = lanes;
}

static void drop(struct morph_fabric *fabric, struct morph_controller *controller, u32 guide)
{
	struct morph_reservation *reservation = xa_erase(&controller->reservations, guide);

	if (!reservation)
		return;
	set_lanes(fabric, controller, guide, 0);
	kfree(reservation);
}

void morph_controller_yield(struct morph_fabric *fabric, struct morph_controller *controller)
{
	struct morph_reservation *reservation;
	unsigned long guide;

	xa_for_each(&controller->reservations, guide, reservation)
		drop(fabric, controller, guide);
}

/* Lanes of a guide that a listed route claims. */
static u64 lanes_claimed(const struct morph_link *link)
{
	switch (link->route->role) {
	case MORPH_ROUTE_LIVE:
		return link->route->path.lanes;
	case MORPH_ROUTE_SHADOW:
	case MORPH_ROUTE_HELD:
		return link->lanes_held;
	}
	return 0;
}

/*
 * Lanes of a guide that slices of a controller hold: for circuits, for reserved protections, and
 * for dark circuits of schedules. O(routes and holds on the guide's lists).
 */
static u64 lanes_in_use(struct morph_fabric *fabric, u32 id, u32 guide)
{
	const struct morph_lanes_held *held;
	const struct morph_link *link;
	u64 lanes = 0;

	hlist_for_each_entry(link, &ledger_of(fabric)->guide_routes[guide], node) {
		const struct morph_route *route = link->route;
		const struct morph_slice *slice = NULL;

		if (route->circuit)
			slice = route->circuit->slice;
		else if (route->protection)
			slice = route->protection->slice;
		if (slice && slice_tenancy(slice)->controller == id)
			lanes |= lanes_claimed(link);
	}
	hlist_for_each_entry(held, &ledger_of(fabric)->guide_holds[guide], node)
		if (slice_tenancy(held->slice)->controller == id)
			lanes |= held->lanes;
	return lanes;
}

/* The lowest @count lanes of a mask. */
static u64 lowest(u64 lanes, u32 count)
{
	u64 rest = lanes;

	while (rest && count--)
		rest &= rest - 1;
	return lanes & ~rest;
}

static int check_wanted(struct morph_fabric *fabric, const struct morph_lanes_wanted *wanted,
			struct morph_refusal *refusal)
{
	const struct optics_graph *graph = fabric->graph;
	u32 guide = wanted->guide;

	if (graph->guides[guide].class != MORPH_GUIDE_FIBRE &&
	    graph->guides[guide].class != MORPH_GUIDE_EDGE)
		return morph_refuse_numbers(refusal, -EINVAL, MORPH_REASON_ARGUMENT,
					    MORPH_PART_GUIDE, guide, 0, 0,
					    "guide {index} does not lead to another server");
	if (wanted->count > optics_weight64(wanted->among & graph->all_lanes))
		return morph_refuse_numbers(refusal, -EINVAL, MORPH_REASON_ARGUMENT, 0, 0,
					    optics_weight64(wanted->among & graph->all_lanes),
					    wanted->count,
					    "{need} lanes requested, the mask has {have}");
	if (wanted->count && ledger_of(fabric)->state->guide_marks[guide])
		return morph_refuse_numbers(refusal, -EIO, MORPH_REASON_UNUSABLE, MORPH_PART_GUIDE,
					    guide, 0, 0,
					    "guide {index} is failed, quarantined or cordoned");
	return 0;
}

static int refuse_conflict(struct morph_fabric *fabric, struct morph_controller *controller,
			   const struct morph_lanes_wanted *wanted, u32 have,
			   struct morph_refusal *refusal)
{
	controller->conflicts++;
	morph_stat(fabric, MORPH_STAT_RESERVATION_CONFLICTS);
	trace_morph_conflict(fabric->id, controller->id, wanted->guide, have, wanted->count);
	return morph_refuse_numbers(refusal, -EBUSY, MORPH_REASON_BLOCKED, MORPH_PART_GUIDE,
				    wanted->guide, have, wanted->count,
				    "not enough lanes on guide {index}: {need} requested, other controllers and tenants leave {have}");
}

/*
 * Choose lanes: first those already reserved, then those that its slices hold, then the lowest free
 * ones. Return 0 if there are too few.
 */
static u64 choose(struct morph_fabric *fabric, const struct morph_lanes_wanted *wanted, u64 had,
		  u32 *have)
{
	u64 others = ledger_of(fabric)->state->guide_reserved[wanted->guide] & ~had;
	u64 used = lanes_in_use(fabric, wanted->controller, wanted->guide);
	u64 taken = others | (ledger_of(fabric)->state->guide_lanes[wanted->guide] & ~(had | used));
	u64 left = wanted->among & fabric->graph->all_lanes & ~taken;
	u64 chosen;

	*have = optics_weight64(left);
	if (*have < wanted->count)
		return 0;
	chosen = lowest(left & had, wanted->count);
	chosen |= lowest(left & used & ~chosen, wanted->count - optics_weight64(chosen));
	chosen |= lowest(left & ~chosen, wanted->count - optics_weight64(chosen));
	return chosen;
}

/* A new reservation takes *spare. Caller holds fabric->lock. */
static int reserve(struct morph_fabric *fabric, struct morph_controller *controller,
		   const struct morph_lanes_wanted *wanted, struct morph_reservation **spare,
		   struct morph_refusal *refusal)
{
	u64 had = controller->lanes[wanted->guide];
	struct morph_reservation *reservation;
	u64 lanes;
	u32 have;
	int ret;

	lanes = choose(fabric, wanted, had, &have);
	if (!lanes)
		return refuse_conflict(fabric, controller, wanted, have, refusal);
	reservation = xa_load(&controller->reservations, wanted->guide);
	if (!reservation) {
		reservation = *spare;
		ret = xa_err(xa_store(&controller->reservations, wanted->guide, reservation,
				      MORPH_GFP_LOCKED));
		if (ret)
			return ret;
		*spare = NULL;
	}
	set_lanes(fabric, controller, wanted->guide, lanes);
	controller->granted++;
	morph_stat(fabric, MORPH_STAT_RESERVATIONS);
	reservation->epoch = wanted->epoch;
	if (lanes & ~had)
		morph_protection_touch_guide(fabric, wanted->guide);
	if (had & ~lanes)
		morph_report_freed(fabric, MORPH_FREED_PATHS);
	return 0;
}

/*
 * Allocate the memory of a table's entry, with fabric->lock dropped. The controller may go
 * meanwhile. An entry that nothing uses ends with the controller.
 */
static int fetch_entry(struct morph_fabric *fabric, struct morph_controller *controller, u32 guide)
{
	int ret;

	morph_controller_ref(controller);
	morph_fabric_unlock(fabric);
	ret = xa_reserve(&controller->reservations, guide, GFP_KERNEL);
	morph_controller_put(controller);
	morph_fabric_lock(fabric);
	return ret;
}

/* Caller holds fabric->lock. -EAGAIN: the function has dropped it, so begin again. */
static int find_and_reserve(struct morph_fabric *fabric, const struct morph_lanes_wanted *wanted,
			    struct morph_reservation **spare, struct morph_refusal *refusal)
{
	struct morph_controller *controller;
	int ret;

	controller = morph_controller_find(fabric, wanted->controller, refusal);
	ret = PTR_ERR_OR_ZERO(controller);
	if (!ret)
		ret = morph_fabric_check(fabric);
	if (!ret)
		ret = morph_controller_check(controller, wanted->epoch, refusal);
	if (!ret)
		ret = check_wanted(fabric, wanted, refusal);
	if (!ret && wanted->count) {
		ret = reserve(fabric, controller, wanted, spare, refusal);
		if (ret == -ENOMEM)
			ret = fetch_entry(fabric, controller, wanted->guide) ?: -EAGAIN;
	} else if (!ret) {
		drop(fabric, controller, wanted->guide);
		morph_report_freed(fabric, MORPH_FREED_PATHS);
	}
	if (!ret)
		fabric->seq++;
	return ret;
}

int morph_controller_reserve(struct morph_fabric *fabric, const struct morph_lanes_wanted *wanted,
			     struct morph_refusal *refusal)
{
	struct morph_reservation *spare = NULL;
	int ret;

	if (wanted->count) {
		spare = kzalloc(sizeof(*spare), GFP_KERNEL_ACCOUNT);
		if (!spare)
			return -ENOMEM;
	}
	morph_fabric_lock(fabric);
	do
		ret = find_and_reserve(fabric, wanted, &spare, refusal);
	while (ret == -EAGAIN);
	morph_fabric_unlock(fabric);
	kfree(spare);
	return ret;
}

int morph_controller_settle(struct morph_fabric *fabric, u32 id, u64 epoch,
			    struct morph_refusal *refusal)
{
	struct morph_controller *controller;
	struct morph_reservation *reservation;
	unsigned long guide;
	int ret;

	morph_fabric_lock(fabric);
	controller = morph_controller_find(fabric, id, refusal);
	ret = PTR_ERR_OR_ZERO(controller);
	if (!ret)
		ret = morph_fabric_check(fabric);
	if (!ret)
		ret = morph_controller_check(controller, epoch, refusal);
	if (ret)
		goto out;
	xa_for_each(&controller->reservations, guide, reservation)
		if (reservation->epoch < epoch)
			drop(fabric, controller, guide);
	fabric->seq++;
	morph_report_freed(fabric, MORPH_FREED_PATHS);
out:
	morph_fabric_unlock(fabric);
	return ret;
}

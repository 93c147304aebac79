// SPDX-License-Identifier: GPL-2.0-only
/*
 * Protection plans: for each rank, how a spare would take its place, worked out
 * before it is needed, with all the memory that doing it takes.
 *
 * A plan is a hint. It claims nothing; its routes hang on the lists of the guides
 * that they would use, and a commit that takes one of these guides, or the spare,
 * marks the plan stale. A worker then makes it anew. Failover stages a plan like
 * any transaction, so what the hint has missed is found by claiming. The plans of a
 * reserved slice do claim, in their own way: reserve.c.
 */
#include <linux/slab.h>

#include "core/base/base.h"
#include "core/ledger/ledger.h"
#include "core/recovery/recovery.h"
#include "core/slice/slice.h"
#include "core/txn/txn.h"

/*
 * Changes come in bursts. A plan that is made anew between two of them is lost work,
 * and its maker holds the mutex: it waits for the next tick.
 */
#define PLAN_DELAY	1	/* jiffies */
#define PLAN_PATIENCE	(HZ / 10)	/* for want of memory */

/* Nobody waits for a plan: it is made with no more than the priority of those who do wait. */
static void plan_queue_work(struct morph_fabric *fabric)
{
	queue_delayed_work(system_unbound_wq, &fabric->plan_work, PLAN_DELAY);
}

void morph_plan_spoil(struct morph_plan *plan)
{
	struct morph_fabric *fabric = plan->slice->fabric;

	lockdep_assert_held(&fabric->lock);
	plan->tries = 0;
	if (plan->queued)
		return;			/* a commit touches the same plan by many guides */
	if (plan->state == MORPH_PLAN_CURRENT)
		plan->state = MORPH_PLAN_STALE;
	if (plan->slice->dying || fabric->state != MORPH_FABRIC_READY)
		return;
	plan->queued = true;
	list_move_tail(&plan->stale_node, &fabric->stale_plans);
	plan_queue_work(fabric);
}

void morph_plan_await(struct morph_plan *plan)
{
	struct morph_fabric *fabric = plan->slice->fabric;

	lockdep_assert_held(&fabric->lock);
	if (!list_empty(&plan->stale_node))
		return;			/* it is going to be made anew */
	plan->tries = 0;
	list_add_tail(&plan->stale_node, &fabric->planless);
}

void morph_plan_init(struct morph_slice *slice, u32 rank)
{
	struct morph_plan *plan = &slice->ranks[rank].plan;

	plan->slice = slice;
	plan->rank = rank;
	plan->spare = MORPH_ANY;
	plan->state = MORPH_PLAN_NONE;
	INIT_LIST_HEAD(&plan->spare_node);
	INIT_LIST_HEAD(&plan->stale_node);
	slice->ranks[rank].wanted_spare = MORPH_ANY;
	slice->ranks[rank].preferred = MORPH_ANY;
}

void morph_plan_touch_guide(struct morph_fabric *fabric, u32 guide)
{
	struct morph_link *link;

	lockdep_assert_held(&fabric->lock);
	hlist_for_each_entry(link, &fabric->guide_routes[guide], node)
		if (link->route->role == MORPH_ROUTE_PLAN)
			morph_plan_spoil(link->route->plan);
}

void morph_plan_touch_route(struct morph_fabric *fabric, const struct morph_route *route)
{
	u32 i;

	for (i = 0; i < route->path.hops_count; i++)
		morph_plan_touch_guide(fabric, route->hops[i].guide >> 1);
}

void morph_plan_touch_chip(struct morph_fabric *fabric, u32 accelerator)
{
	struct morph_plan *plan;

	lockdep_assert_held(&fabric->lock);
	list_for_each_entry(plan, &fabric->chips[accelerator].plans, spare_node)
		morph_plan_spoil(plan);
}

void morph_plan_touch_slice(struct morph_slice *slice)
{
	u32 i;

	lockdep_assert_held(&slice->fabric->lock);
	if (slice->dying || slice->failover == MORPH_FAILOVER_NONE)
		return;
	for (i = 0; i < slice->ranks_count; i++)
		morph_plan_spoil(&slice->ranks[i].plan);
}

void morph_plan_resume(struct morph_slice *slice)
{
	u32 i;

	lockdep_assert_held(&slice->fabric->lock);
	if (!slice->plans_wait || slice->busy || !list_empty(&slice->txns))
		return;
	slice->plans_wait = false;
	for (i = 0; i < slice->ranks_count; i++) {
		struct morph_plan *plan = &slice->ranks[i].plan;

		if (plan->waiting)
			morph_plan_spoil(plan);
		plan->waiting = false;
	}
}

/* Forget what was worked out. fabric->lock held. */
static void plan_clear(struct morph_plan *plan)
{
	struct morph_txn *txn = plan->txn;
	u32 i;

	morph_reserve_drop(plan);
	list_del_init(&plan->spare_node);
	plan->txn = NULL;
	plan->spare = MORPH_ANY;
	plan->state = MORPH_PLAN_NONE;
	if (!txn)
		return;
	for (i = 0; i < txn->count; i++) {
		struct morph_route *route = txn->items[i].new;

		if (!route)
			continue;
		morph_route_unlist(route);
		route->role = MORPH_ROUTE_IDLE;
		morph_route_free(route);
		txn->items[i].new = NULL;
	}
	morph_txn_uncharge(txn, plan->slice->user);
	morph_txn_put(txn);
}

void morph_plan_drop_slice(struct morph_slice *slice)
{
	u32 i;

	lockdep_assert_held(&slice->fabric->lock);
	for (i = 0; i < slice->ranks_count; i++) {
		list_del_init(&slice->ranks[i].plan.stale_node);
		slice->ranks[i].plan.queued = false;
		plan_clear(&slice->ranks[i].plan);
	}
}

struct morph_txn *morph_plan_take(struct morph_slice *slice, u32 rank, u32 *spare)
{
	struct morph_plan *plan = &slice->ranks[rank].plan;
	struct morph_txn *txn = plan->txn;

	lockdep_assert_held(&slice->fabric->lock);
	if (plan->state != MORPH_PLAN_CURRENT || !txn ||
	    !morph_chip_fit(slice->fabric, plan->spare))
		return NULL;
	morph_reserve_drop(plan);
	*spare = plan->spare;
	morph_txn_uncharge(txn, slice->user);
	txn->gfp = MORPH_GFP_REPAIR;
	plan->txn = NULL;
	list_del_init(&plan->spare_node);
	plan->spare = MORPH_ANY;
	plan->state = MORPH_PLAN_NONE;
	/* Should it not come to pass, another one is wanted. */
	morph_plan_spoil(plan);
	return txn;
}

void morph_plan_stand_back(struct morph_fabric *fabric)
{
	lockdep_assert_held(&fabric->lock);
	atomic_inc(&fabric->urgent);
}

void morph_plan_go_on(struct morph_fabric *fabric)
{
	lockdep_assert_held(&fabric->lock);
	atomic_dec(&fabric->urgent);
	morph_plan_wake(fabric);
}

void morph_plan_wake(struct morph_fabric *fabric)
{
	lockdep_assert_held(&fabric->lock);
	if (!atomic_read(&fabric->urgent) && !list_empty(&fabric->stale_plans) &&
	    fabric->state == MORPH_FABRIC_READY)
		plan_queue_work(fabric);
}

u32 morph_plan_state(const struct morph_plan *plan)
{
	return plan->state == MORPH_PLAN_CURRENT && plan->held ? MORPH_PLAN_RESERVED : plan->state;
}

/* ----------------------------------------------------------------- planning */

/* How many circuits touch a rank. */
static u32 circuits_of_rank(struct morph_slice *slice, u32 rank)
{
	struct morph_circuit *circuit;
	unsigned long index;
	u32 count = 0;

	xa_for_each(&slice->circuits, index, circuit)
		if (circuit->listed && (circuit->src_rank == rank || circuit->dst_rank == rank))
			count++;
	return count;
}

/* A transaction that moves each circuit of the rank to the spare; paths not found yet. */
static struct morph_txn *plan_alloc(struct morph_slice *slice, u32 rank, u32 spare)
{
	u32 count = circuits_of_rank(slice, rank);
	struct morph_circuit *circuit;
	struct morph_txn *txn;
	unsigned long index;
	u32 n = 0;

	txn = morph_txn_alloc(slice, NULL, NULL, count, 0, GFP_KERNEL_ACCOUNT);
	if (!txn)
		return NULL;
	txn->kind = MORPH_TXN_REPAIR;
	xa_for_each(&slice->circuits, index, circuit) {
		if (!circuit->listed || (circuit->src_rank != rank && circuit->dst_rank != rank))
			continue;
		morph_repair_fill_item(&txn->items[n], circuit);
		if (circuit->src_rank == rank)
			txn->items[n].new_src = spare;
		else
			txn->items[n].new_dst = spare;
		n++;
	}
	/* A plan must not keep its slice alive: the slice drops it before it goes. */
	morph_slice_put(txn->slice);
	txn->slice = NULL;
	return txn;
}

/* One path after the other, each claimed while the next ones are found. The number of them. */
static u32 claim_paths(struct morph_txn *txn, int *ret)
{
	struct optics_refusal why = {};
	u32 claimed;

	*ret = 0;
	for (claimed = 0; claimed < txn->count; claimed++) {
		struct morph_item *item = &txn->items[claimed];

		*ret = morph_path_find(txn, item, &why);
		if (!*ret)
			*ret = morph_route_claim(txn->fabric, item->new, &why);
		if (*ret)
			break;
	}
	return claimed;
}

/* Orders of the circuits that are tried with one spare. */
#define PLAN_ORDERS	4u

/* All anew, and the circuit that was left without a path comes first. */
static void reorder(struct morph_txn *txn, u32 claimed)
{
	struct morph_item left;
	u32 i;

	for (i = 0; i < claimed; i++)
		morph_route_release(txn->fabric, txn->items[i].new);
	for (i = 0; i <= claimed; i++) {
		if (txn->items[i].new)
			morph_route_free(txn->items[i].new);
		txn->items[i].new = NULL;
	}
	/* The kernel chooses the paths: no item points to guides of its own. */
	left = txn->items[claimed];
	memmove(&txn->items[1], &txn->items[0], claimed * sizeof(left));
	txn->items[0] = left;
}

/* Find paths as if the rank's circuits were gone, each without the others' lanes. */
static int plan_paths(struct morph_slice *slice, struct morph_txn *txn, u32 spare)
{
	struct morph_fabric *fabric = slice->fabric;
	struct morph_circuit *circuit;
	u32 i, claimed, order;
	int ret = 0;

	txn->slice = slice;
	morph_controller_lift(fabric, slice->controller);
	for (i = 0; i < txn->count; i++) {
		circuit = xa_load(&slice->circuits, txn->items[i].change.circuit);
		txn->items[i].old = circuit->route;
		morph_route_release(fabric, circuit->route);
	}
	claimed = claim_paths(txn, &ret);
	for (order = 1; ret && ret != -ENOMEM && order < PLAN_ORDERS; order++) {
		reorder(txn, claimed);
		claimed = claim_paths(txn, &ret);
	}
	if (!ret)
		ret = morph_txn_reserve(txn);
	while (claimed--)
		morph_route_release(fabric, txn->items[claimed].new);
	for (i = 0; i < txn->count; i++) {
		morph_route_reclaim(fabric, txn->items[i].old);
		txn->items[i].old = NULL;
	}
	morph_controller_lower(fabric);
	txn->slice = NULL;
	return ret;
}

/* Hang the plan where those who spoil it will see it. */
static void plan_publish(struct morph_plan *plan, struct morph_txn *txn, u32 spare)
{
	struct morph_fabric *fabric = plan->slice->fabric;
	u32 i;

	for (i = 0; i < txn->count; i++) {
		txn->items[i].new->role = MORPH_ROUTE_PLAN;
		txn->items[i].new->plan = plan;
		morph_route_list(fabric, txn->items[i].new);
	}
	morph_txn_charge(txn, plan->slice->user, NULL);
	plan->txn = txn;
	plan->spare = spare;
	plan->state = MORPH_PLAN_CURRENT;
	plan->held = plan->slice->reserved && spare == plan->slice->own_spare;
	list_add_tail(&plan->spare_node, &fabric->chips[spare].plans);
}

/* Spares that are looked at before a plan is given up. */
#define PLAN_TRIES	4u

/*
 * Try the next spare; if it can't be reached, the one after it is tried in the next turn.
 * 0, also where there is none; or -ENOMEM: this says nothing about the spare, so that the
 * plan stays stale, and is first in the next turn.
 */
static int plan_make(struct morph_plan *plan)
{
	struct morph_slice *slice = plan->slice;
	const struct morph_rank *entry = &slice->ranks[plan->rank];
	u32 try = plan->tries++, spare = MORPH_ANY;
	int ret = -ENOMEM;

	plan_clear(plan);
	if (try < PLAN_TRIES)
		spare = morph_place_spare(slice, entry->accelerator, entry->preferred, try);
	if (spare == MORPH_ANY) {
		morph_plan_await(plan);
		return 0;
	}
	plan->txn = plan_alloc(slice, plan->rank, spare);
	if (plan->txn)
		ret = plan_paths(slice, plan->txn, spare);
	if (!ret) {
		plan_publish(plan, plan->txn, spare);
		return 0;
	}
	plan_clear(plan);
	list_add(&plan->stale_node, &slice->fabric->stale_plans);
	if (ret != -ENOMEM)
		return 0;
	plan->tries = try;
	plan->state = MORPH_PLAN_STALE;
	return ret;
}

/* Does it hold all that its slice has reserved, or else count on the spare that is preferred? */
static bool plan_is_best(const struct morph_plan *plan)
{
	const struct morph_slice *slice = plan->slice;
	u32 preferred = slice->ranks[plan->rank].preferred;

	if (slice->reserved)
		return plan->held;
	return preferred == MORPH_ANY || plan->spare == preferred;
}

/*
 * Make a plan anew, or have it wait for its slice to be at rest. fabric->lock held. 0, or
 * -ENOMEM: it is still to be made.
 */
static int plan_renew(struct morph_plan *plan)
{
	struct morph_slice *slice = plan->slice;
	bool scheduled = !list_empty(&slice->schedules);
	int ret = 0;

	list_del_init(&plan->stale_node);
	plan->queued = false;
	if (slice->dying || slice->failover == MORPH_FAILOVER_NONE)
		return 0;
	/* What it would count on changes with each step: its circuits are moved when they must. */
	if (scheduled)
		plan_clear(plan);
	if (scheduled && !slice->reserved)
		return 0;
	if (slice->busy || !list_empty(&slice->txns)) {
		plan->waiting = true;
		slice->plans_wait = true;
		return 0;
	}
	morph_reserve_suspend(slice);
	morph_reserve_replenish(slice);
	/* This one need not be told of the new spare. */
	list_del_init(&plan->stale_node);
	plan->queued = false;
	if (!scheduled)
		ret = plan_make(plan);
	morph_reserve_resume(slice);
	if (plan->state == MORPH_PLAN_CURRENT && !plan_is_best(plan))
		morph_plan_await(plan);
	return ret;
}

/*
 * Make stale plans anew, one spare at a time, so that nobody waits for the mutex longer
 * than one try takes, and none while a slice is repaired or released, or signals are to
 * be read: then the mutex is wanted by those who have no time. A slice that is being
 * changed is left alone until it is at rest.
 */
void morph_plan_work(struct work_struct *work)
{
	struct morph_fabric *fabric = container_of(to_delayed_work(work), struct morph_fabric,
						   plan_work);
	struct morph_plan *plan;
	bool more;
	int ret = 0;

	do {
		/* Whoever ends it wakes the planner. */
		if (atomic_read(&fabric->urgent) || READ_ONCE(fabric->signal_count))
			return;
		mutex_lock(&fabric->lock);
		plan = list_first_entry_or_null(&fabric->stale_plans, struct morph_plan,
						stale_node);
		more = plan && fabric->state == MORPH_FABRIC_READY;
		if (more)
			ret = plan_renew(plan);
		if (ret)
			queue_delayed_work(system_unbound_wq, &fabric->plan_work, PLAN_PATIENCE);
		mutex_unlock(&fabric->lock);
		cond_resched();
	} while (more && !ret);
}

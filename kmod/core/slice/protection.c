// SPDX-License-Identifier: GPL-2.0-only
/*
 * Protections: for each rank, a prepared failover to a spare, including all memory that it needs.
 *
 * A protection is a hint. It claims nothing; its routes are on the lists of the guides that they
 * would use. A commit that takes one of these guides, or the spare, marks the protection stale, and
 * a worker then rebuilds it. Failover stages a protection like any transaction, so the claims find
 * conflicts that the hint has missed. The protections of a reserved slice do claim resources: see
 * reserve.c.
 *
 * If no idle spare is left, a protection uses a lent one. Its transaction then also removes the
 * circuits of the rank that has the spare, and its paths may use what these circuits claim:
 *
 *   - A published change of such a circuit marks the protection stale, and so does the end of the
 *     borrower. Both happen under fabric->lock. So a current protection names all these circuits.
 *   - The protection has no pointer to the borrower, only numbers of its circuits. Failover adds
 *     the pointer after it has entered the borrower: morph_reclaim_adopt().
 *   - The worker rebuilds no protection while the borrower changes, or has prepared changes. The
 *     protection is stale then, and waits.
 *   - It also waits for an idle spare, and failover uses it only if there is still none.
 *
 * The search for the paths of a protection may take several holds of fabric->lock: see prepared.c.
 * Meanwhile the protection stays the first one on the worker's list, and the failover that it has
 * prepared before stays until the new one is found. A change of its rank or of the spare touches
 * the search, which begins again. After MORPH_MOST_RESTARTS the protection goes to the end of the
 * list.
 *
 * A change of a borrower's rank marks at most MOST_ON_LENT protections. Just after the loan there
 * are more: those that used the spare as an idle one, until the worker rebuilds them.
 */
#include <linux/slab.h>

#include "core/base/base.h"
#include "core/ledger/ledger.h"
#include "core/slice/slice.h"
#include "core/txn/txn.h"

/*
 * Changes come in bursts. A protection that is rebuilt between two changes is wasted work under
 * fabric->lock. So the worker waits for the next tick.
 */
#define PROTECTION_DELAY	1	/* jiffies */
#define PROTECTION_PATIENCE	(HZ / 10)	/* after a failed allocation */
#define PROTECTION_PAUSES	(HZ / 10)	/* of PROTECTION_DELAY, for urgent work */

/* The most protections that use one lent spare. Each change of its circuits marks them stale. */
#define MOST_ON_LENT		64u

/* No request waits for a protection, so use a work queue with normal priority. */
static void protection_queue_work(struct morph_fabric *fabric)
{
	queue_delayed_work(system_unbound_wq, &slices_of(fabric)->protection_work,
			   PROTECTION_DELAY);
}

static noinline void queue_stale(struct morph_protection *protection)
{
	struct morph_fabric *fabric = protection->slice->fabric;

	if (protection->slice->dying || fabric->state != MORPH_FABRIC_READY)
		return;
	protection->queued = true;
	list_move_tail(&protection->stale_node, &slices_of(fabric)->stale_protections);
	protection_queue_work(fabric);
}

/* The prepared failover is obsolete: rebuild it. */
static inline void mark_stale(struct morph_protection *protection)
{
	lockdep_assert_held(&protection->slice->fabric->lock);
	if (protection->state == MORPH_PLAN_CURRENT)
		protection->state = MORPH_PLAN_STALE;
	/* A commit may touch it once per guide. */
	if (!protection->queued)
		queue_stale(protection);
}

void morph_protection_mark_stale(struct morph_protection *protection)
{
	struct morph_prepared_search *search = &slices_of(protection->slice->fabric)->search;

	if (search->protection == protection)
		search->touched = true;
	protection->tries = 0;
	mark_stale(protection);
}

void morph_protection_await(struct morph_protection *protection)
{
	struct morph_fabric *fabric = protection->slice->fabric;

	lockdep_assert_held(&fabric->lock);
	if (!list_empty(&protection->stale_node))
		return;			/* queued already */
	protection->tries = 0;
	list_add_tail(&protection->stale_node, &slices_of(fabric)->protections_wanted);
}

void morph_protection_init(struct morph_slice *slice, u32 rank)
{
	struct morph_protection *protection = rank_protection(slice, rank);

	protection->slice = slice;
	protection->rank = rank;
	protection->spare = MORPH_ANY;
	protection->state = MORPH_PLAN_NONE;
	INIT_LIST_HEAD(&protection->spare_node);
	INIT_LIST_HEAD(&protection->stale_node);
	protection->preferred = MORPH_ANY;
}

static inline void touch_routes(const struct hlist_head *routes)
{
	struct morph_link *link;

	hlist_for_each_entry(link, routes, node)
		/* A search for its new paths finds this change in the ledger. */
		if (link->route->role == MORPH_ROUTE_PROTECTION)
			mark_stale(link->route->protection);
}

void morph_protection_touch_guide(struct morph_fabric *fabric, u32 guide)
{
	lockdep_assert_held(&fabric->lock);
	touch_routes(&ledger_of(fabric)->guide_routes[guide]);
}

void morph_protection_touch_route(struct morph_fabric *fabric, const struct morph_route *route)
{
	const struct hlist_head *lists = ledger_of(fabric)->guide_routes;
	const struct optics_hop *hop = route->hops, *end = hop + route->path.hops_count;

	lockdep_assert_held(&fabric->lock);
	for (; hop < end; hop++)
		touch_routes(&lists[hop->guide >> 1]);
}

void morph_protection_touch_chip(struct morph_fabric *fabric, u32 accelerator)
{
	struct morph_prepared_search *search = &slices_of(fabric)->search;
	struct morph_protection *protection;

	lockdep_assert_held(&fabric->lock);
	if (search->protection && search->spare == accelerator)
		morph_protection_mark_stale(search->protection);
	list_for_each_entry(protection, &ledger_of(fabric)->chips[accelerator].protections,
			    spare_node)
		morph_protection_mark_stale(protection);
}

/* Return the chip of a rank that has a lent spare, or NULL. */
static struct morph_chip *lent_chip(const struct morph_slice *slice, u32 rank)
{
	struct morph_chip *chip =
		&ledger_of(slice->fabric)->chips[slice->ranks[rank].accelerator];

	return chip->lent ? chip : NULL;
}

void morph_protection_touch_rank(struct morph_slice *slice, u32 rank)
{
	lockdep_assert_held(&slice->fabric->lock);
	if (rank & MORPH_RANK_EDGE)
		return;
	/* A protection that uses the rank's lent spare removes the rank's circuits. */
	if (lent_chip(slice, rank))
		morph_protection_touch_chip(slice->fabric, slice->ranks[rank].accelerator);
	if (slice->dying || slice_tenancy(slice)->failover == MORPH_FAILOVER_NONE)
		return;
	morph_protection_mark_stale(rank_protection(slice, rank));
}

void morph_protection_touch_slice(struct morph_slice *slice)
{
	u32 i;

	for (i = 0; i < slice->ranks_count; i++) {
		morph_fabric_pause_after(slice->fabric, i);
		morph_protection_touch_rank(slice, i);
	}
}

static void resume_waiting(struct morph_protection *protection)
{
	if (protection->waiting)
		mark_stale(protection);
	protection->waiting = false;
}

void morph_protection_resume(struct morph_slice *slice)
{
	struct morph_protection *protection;
	struct morph_chip *chip;
	u32 i;

	lockdep_assert_held(&slice->fabric->lock);
	if (slice->busy || !list_empty(&slice_txns(slice)->txns)) {
		morph_slice_wait(slice, &morph_protection_waiter);
		return;
	}
	for (i = 0; i < slice->ranks_count; i++) {
		resume_waiting(rank_protection(slice, i));
		/* Those of other ranks that wait for the slice as borrower: await_borrower(). */
		chip = lent_chip(slice, i);
		if (!chip)
			continue;
		list_for_each_entry(protection, &chip->protections, spare_node)
			resume_waiting(protection);
	}
}

/* Free the prepared failover. Caller holds fabric->lock. */
static void protection_clear(struct morph_protection *protection)
{
	struct morph_txn *txn = protection->txn;
	u32 i;

	morph_reserve_drop(protection);
	list_del_init(&protection->spare_node);
	protection->txn = NULL;
	protection->spare = MORPH_ANY;
	protection->state = MORPH_PLAN_NONE;
	protection->waiting = false;
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
	morph_txn_uncharge(txn, protection->slice->user);
	morph_txn_put(txn);
}

void morph_protection_drop_slice(struct morph_slice *slice)
{
	struct morph_prepared_search *search = &slices_of(slice->fabric)->search;
	u32 i;

	lockdep_assert_held(&slice->fabric->lock);
	if (search->protection && search->protection->slice == slice)
		morph_prepared_drop(search);
	for (i = 0; i < slice->ranks_count; i++) {
		morph_fabric_pause_after(slice->fabric, i);
		list_del_init(&rank_protection(slice, i)->stale_node);
		rank_protection(slice, i)->queued = false;
		protection_clear(rank_protection(slice, i));
	}
}

u32 morph_protection_spare(const struct morph_slice *slice, u32 rank)
{
	const struct morph_protection *protection = rank_protection(slice, rank);

	lockdep_assert_held(&slice->fabric->lock);
	if (protection->state != MORPH_PLAN_CURRENT || !protection->txn ||
	    !morph_chip_fit(slice->fabric, protection->spare))
		return MORPH_ANY;
	/* The worker that ends a borrower marks it stale later. */
	if (morph_chip_use(&ledger_of(slice->fabric)->chips[protection->spare]) ==
	    MORPH_USE_DRAINING)
		return MORPH_ANY;
	return protection->spare;
}

struct morph_txn *morph_protection_take(struct morph_slice *slice, u32 rank, u32 spare)
{
	struct morph_protection *protection = rank_protection(slice, rank);
	struct morph_txn *txn = protection->txn;

	if (spare == MORPH_ANY || morph_protection_spare(slice, rank) != spare)
		return NULL;
	morph_reserve_drop(protection);
	morph_txn_uncharge(txn, slice->user);
	txn->gfp = MORPH_GFP_LOCKED;
	protection->txn = NULL;
	list_del_init(&protection->spare_node);
	protection->spare = MORPH_ANY;
	protection->state = MORPH_PLAN_NONE;
	/* If the failover fails, the rank needs another protection. */
	morph_protection_mark_stale(protection);
	return txn;
}

void morph_protection_pause(struct morph_fabric *fabric)
{
	lockdep_assert_held(&fabric->lock);
	atomic_inc(&slices_of(fabric)->urgent);
}

void morph_protection_unpause(struct morph_fabric *fabric)
{
	lockdep_assert_held(&fabric->lock);
	atomic_dec(&slices_of(fabric)->urgent);
	morph_protection_wake(fabric);
}

void morph_protection_wake(struct morph_fabric *fabric)
{
	lockdep_assert_held(&fabric->lock);
	if (!atomic_read(&slices_of(fabric)->urgent) &&
	    !list_empty(&slices_of(fabric)->stale_protections) &&
	    fabric->state == MORPH_FABRIC_READY)
		protection_queue_work(fabric);
}

u32 morph_protection_state(const struct morph_protection *protection)
{
	if (protection->state == MORPH_PLAN_CURRENT && protection->held)
		return MORPH_PLAN_RESERVED;
	return protection->state;
}

/* ----------------------------------------------------------------- planning */

/* Add the protection to the lists of the guides and the spare that it depends on. */
static void protection_publish(struct morph_protection *protection, struct morph_txn *txn,
			       u32 spare)
{
	struct morph_fabric *fabric = protection->slice->fabric;
	u32 i;

	for (i = 0; i < txn->count; i++) {
		struct morph_route *route = txn->items[i].new;

		if (!route)
			continue;	/* removes a circuit of a borrower */
		route->role = MORPH_ROUTE_PROTECTION;
		route->protection = protection;
		morph_route_list(fabric, route);
	}
	morph_txn_charge(txn, protection->slice->user, NULL);
	protection->txn = txn;
	protection->spare = spare;
	protection->state = MORPH_PLAN_CURRENT;
	protection->held = slice_tenancy(protection->slice)->reserved &&
			   spare == slice_tenancy(protection->slice)->own_spare;
	list_add_tail(&protection->spare_node, &ledger_of(fabric)->chips[spare].protections);
}

/* Number of spares that are tried for a protection. */
#define PROTECTION_TRIES	4u

/*
 * Return the spare to try, or MORPH_ANY. A lent one is tried only if there is no idle one at all,
 * reached or not, because failover uses it only then.
 */
static u32 choose_spare(const struct morph_protection *protection, u32 try)
{
	struct morph_slice *slice = protection->slice;
	u32 accelerator = slice->ranks[protection->rank].accelerator;

	if (morph_place_spare(slice, accelerator, protection->preferred, 0) != MORPH_ANY)
		return morph_place_spare(slice, accelerator, protection->preferred, try);
	return morph_place_any_spare(slice, accelerator, protection->preferred, try);
}

/* Return whether it uses a lent spare and no idle one has come: then it need not be rebuilt. */
static bool keeps_lent_spare(const struct morph_protection *protection)
{
	struct morph_slice *slice = protection->slice;
	u32 accelerator = slice->ranks[protection->rank].accelerator;

	return protection->state == MORPH_PLAN_CURRENT &&
	       ledger_of(slice->fabric)->chips[protection->spare].lent &&
	       morph_place_spare(slice, accelerator, protection->preferred, 0) == MORPH_ANY;
}

/* Return whether the circuits of the slice that has a lent spare may be about to change. */
static bool is_changing(const struct morph_slice *borrower)
{
	return borrower->busy || !list_empty(&slice_txns(borrower)->txns);
}

/*
 * Wait until the borrower is idle, or an idle spare comes. Meanwhile the protection is on the list
 * of the spare, where morph_protection_resume() finds it.
 */
static void await_borrower(struct morph_protection *protection, u32 spare)
{
	struct morph_chip *chip = &ledger_of(protection->slice->fabric)->chips[spare];

	protection->spare = spare;
	protection->state = MORPH_PLAN_STALE;
	protection->waiting = true;
	list_add_tail(&protection->spare_node, &chip->protections);
	morph_slice_wait(chip->slice, &morph_protection_waiter);
	morph_protection_await(protection);
}

/* Return whether no more protections may use a lent spare. */
static bool is_crowded(const struct morph_chip *chip)
{
	const struct list_head *node;
	u32 count = 0;

	list_for_each(node, &chip->protections)
		if (++count == MOST_ON_LENT)
			return true;
	return false;
}

/* Begin to search for the next spare. Return false if there is none, or none is needed. */
static bool begin_search(struct morph_protection *protection, struct morph_prepared_search *search)
{
	u32 spare = MORPH_ANY;

	if (keeps_lent_spare(protection))
		return false;
	if (protection->tries < PROTECTION_TRIES)
		spare = choose_spare(protection, protection->tries);
	if (spare == MORPH_ANY) {
		protection_clear(protection);
		morph_protection_await(protection);
		return false;
	}
	morph_prepared_begin(search, protection, spare);
	return true;
}

/* Replace the protection by the found one. */
static void end_search(struct morph_protection *protection, struct morph_prepared_search *search)
{
	struct morph_txn *txn = search->txn;
	u32 spare = search->spare;

	search->txn = NULL;
	txn->memory = NULL;
	morph_prepared_drop(search);
	search->restarts = 0;
	morph_reserve_suspend(protection->slice);
	protection_clear(protection);
	protection_publish(protection, txn, spare);
	morph_reserve_resume(protection->slice);
}

/*
 * Continue the search for a lent spare only while the borrower is idle. Return 0, -EBUSY, or
 * -ENOSPC if too many other protections use the spare.
 */
static int check_lent(struct morph_protection *protection, u32 spare)
{
	const struct morph_chip *chip = &ledger_of(protection->slice->fabric)->chips[spare];

	if (!chip->lent)
		return 0;
	if (protection->spare != spare && is_crowded(chip))
		return -ENOSPC;
	return is_changing(chip->slice) ? -EBUSY : 0;
}

/*
 * Search for the next spare, in one hold of the lock. The present protection stays until the new
 * one is found, so that a reserved one keeps its resources. If the spare cannot be reached, the
 * next hold tries another one. Return 0, also if there is no spare, or -ENOMEM: the next hold
 * retries.
 */
static int protection_make(struct morph_protection *protection)
{
	struct morph_slices *slices = slices_of(protection->slice->fabric);
	struct morph_prepared_search *search = &slices->search;
	u32 spare;
	int ret;

	if (!search->protection && !begin_search(protection, search))
		return 0;
	spare = search->spare;
	ret = check_lent(protection, spare);
	if (!ret)
		ret = morph_prepared_continue(search, MORPH_HOLD_STEPS);
	if (!ret) {
		end_search(protection, search);
		return 0;
	}
	if (ret != -EINPROGRESS) {
		morph_prepared_drop(search);
		search->restarts = 0;
	}
	if (ret == -EBUSY) {
		protection_clear(protection);
		await_borrower(protection, spare);
		return 0;
	}
	if (ret == -ENOSPC)
		protection->tries++;
	/* It stays the first one. If changes have disturbed the search, others have a turn. */
	protection->queued = true;
	if (ret == -EAGAIN)
		list_add_tail(&protection->stale_node, &slices->stale_protections);
	else
		list_add(&protection->stale_node, &slices->stale_protections);
	return ret == -ENOMEM ? ret : 0;
}

/*
 * End a search that is for another protection, or that a change has touched. Return -EAGAIN if that
 * has happened too often: other protections have a turn then.
 */
static int check_search(struct morph_protection *protection)
{
	struct morph_prepared_search *search = &slices_of(protection->slice->fabric)->search;

	if (search->protection && search->protection != protection) {
		morph_prepared_drop(search);
		search->restarts = 0;
	}
	if (!search->touched)
		return 0;
	morph_prepared_drop(search);
	if (search->restarts++ < MORPH_MOST_RESTARTS)
		return 0;
	search->restarts = 0;
	return -EAGAIN;
}

/* Return whether it holds all reserved resources, or else uses the preferred or an idle spare. */
static bool protection_is_best(const struct morph_protection *protection)
{
	if (slice_tenancy(protection->slice)->reserved)
		return protection->held;
	if (ledger_of(protection->slice->fabric)->chips[protection->spare].lent)
		return false;
	return protection->preferred == MORPH_ANY || protection->spare == protection->preferred;
}

/*
 * Rebuild a protection, or postpone that until its slice is idle. Caller holds fabric->lock. Return
 * 0, or -ENOMEM if the protection is still to be rebuilt.
 */
static int protection_renew(struct morph_protection *protection)
{
	struct morph_slice *slice = protection->slice;
	bool scheduled = slice_tenancy(slice)->schedules_count;
	int ret = 0;

	if (check_search(protection)) {
		list_move_tail(&protection->stale_node,
			       &slices_of(slice->fabric)->stale_protections);
		return 0;
	}
	list_del_init(&protection->stale_node);
	protection->queued = false;
	if (slice->dying || slice_tenancy(slice)->failover == MORPH_FAILOVER_NONE)
		return 0;
	/* A failed rank on a lent spare gets no spare. */
	if (ledger_of(slice->fabric)->chips[slice->ranks[protection->rank].accelerator].lent) {
		protection_clear(protection);
		return 0;
	}
	/*
	 * The steps of a schedule change its paths all the time, so its circuits have no
	 * protection.
	 */
	if (scheduled)
		protection_clear(protection);
	if (scheduled && !slice_tenancy(slice)->reserved)
		return 0;
	if (slice->busy || !list_empty(&slice_txns(slice)->txns)) {
		protection->waiting = true;
		morph_slice_wait(slice, &morph_protection_waiter);
		return 0;
	}
	morph_reserve_replenish(slice);
	/* This protection need not react to the new spare. */
	list_del_init(&protection->stale_node);
	protection->queued = false;
	if (!scheduled)
		ret = protection_make(protection);
	if (protection->state == MORPH_PLAN_CURRENT && !protection_is_best(protection))
		morph_protection_await(protection);
	return ret;
}

/*
 * Return whether protection_work waits for urgent work, which needs fabric->lock at once. Tenants
 * can cause urgent work without end. So after PROTECTION_PAUSES the worker makes one try.
 */
static bool protection_must_pause(struct morph_slices *slices)
{
	bool urgent = atomic_read(&slices->urgent) || READ_ONCE(slices->signal_count);

	return urgent && slices->protection_pauses++ < PROTECTION_PAUSES;
}

/* One hold of protection_work. Return whether there was a protection; *ret is 0 or -ENOMEM. */
static bool renew_first(struct morph_fabric *fabric, int *ret)
{
	struct morph_slices *slices = slices_of(fabric);
	struct morph_protection *protection;

	lockdep_assert_held(&fabric->lock);
	protection = list_first_entry_or_null(&slices->stale_protections, struct morph_protection,
					      stale_node);
	if (!protection || fabric->state != MORPH_FABRIC_READY)
		return false;
	*ret = protection_renew(protection);
	/* A try has ended: wait for urgent work again. */
	if (!slices->search.protection)
		slices->protection_pauses = 0;
	return true;
}

/*
 * Rebuild stale protections. A search may take several holds of fabric->lock; meanwhile its
 * protection stays the first one. Pause while a slice is repaired or released, or signals are
 * queued. Skip a slice with a running change until it is idle.
 */
void morph_protection_work(struct work_struct *work)
{
	struct morph_slices *slices = container_of(to_delayed_work(work), struct morph_slices,
						     protection_work);
	struct morph_fabric *fabric = &slices->txns.ledger.hardware.fabric;
	struct morph_acting acting;
	bool more, idle;
	int ret = 0;

	morph_act_for(&acting, NULL);
	do {
		if (protection_must_pause(slices)) {
			protection_queue_work(fabric);
			goto out;
		}
		morph_fabric_lock(fabric);
		more = renew_first(fabric, &ret);
		idle = !slices->search.protection;
		morph_fabric_unlock(fabric);
		if (!ret)
			ret = morph_prepared_fetch(fabric, &slices->search);
		cond_resched();
	} while (more && !ret);
	if (ret)
		queue_delayed_work(system_unbound_wq, &slices->protection_work,
				   PROTECTION_PATIENCE);
	else if (idle)
		morph_prepared_free(&slices->search);
out:
	morph_act_end(&acting);
}

// SPDX-License-Identifier: GPL-2.0-only
/* The content of slices: their circuits, their lifetime, and admission of one change at a time. */
#include <linux/bug.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include "core/base/base.h"
#include "core/ledger/ledger.h"

DEFINE_XARRAY_ALLOC1(morph_slices);

/* ------------------------------------------------------------------- waiters */

#define WAITERS_MAX	8u

/* Constant after the module has loaded. */
static struct morph_slice_waiter *waiters[WAITERS_MAX];
static u32 waiters_count;

void morph_slice_waiter_register(struct morph_slice_waiter *waiter)
{
	if (WARN_ON_ONCE(waiters_count == WAITERS_MAX))
		return;
	waiter->bit = BIT(waiters_count);
	waiters[waiters_count++] = waiter;
}

/* ------------------------------------------------------------------ lifetime */

/* Constant after the module has loaded. */
static size_t slice_size = sizeof(struct morph_slice);
static size_t circuit_size = sizeof(struct morph_circuit);

void morph_content_set_sizes(size_t slice, size_t circuit)
{
	slice_size = slice;
	circuit_size = circuit;
}

/* Offset of an array by rank, behind the parts that end at @position. */
static size_t array_at(size_t end)
{
	return ALIGN(end, sizeof(u64));
}

size_t morph_slice_bytes(u32 ranks_count)
{
	size_t end = array_at(slice_size) + ranks_count * sizeof(struct morph_rank);
	u32 i;

	for (i = 0; i < waiters_count; i++)
		end = array_at(end) + ranks_count * waiters[i]->rank_bytes;
	return end;
}

struct morph_slice *morph_slice_alloc(struct morph_fabric *fabric, struct morph_user *user,
				      u32 ranks_count)
{
	struct morph_slice *slice;
	size_t end;
	u32 i;

	slice = kvzalloc(morph_slice_bytes(ranks_count), GFP_KERNEL_ACCOUNT);
	if (!slice)
		return NULL;
	kref_init(&slice->kref);
	slice->fabric = fabric;
	slice->user = user;
	slice->ranks_count = ranks_count;
	slice->generation = 1;
	INIT_LIST_HEAD(&slice->node);
	xa_init_flags(&slice->circuits, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	init_waitqueue_head(&slice->idle);
	slice->ranks = (void *)slice + array_at(slice_size);
	end = array_at(slice_size) + ranks_count * sizeof(struct morph_rank);
	for (i = 0; i < waiters_count; i++) {
		if (waiters[i]->created &&
		    waiters[i]->created(slice, (void *)slice + array_at(end))) {
			morph_slice_free(slice);
			return NULL;
		}
		end = array_at(end) + ranks_count * waiters[i]->rank_bytes;
	}
	return slice;
}

void morph_slice_free(struct morph_slice *slice)
{
	u32 i;

	for (i = 0; i < waiters_count; i++)
		if (waiters[i]->released)
			waiters[i]->released(slice);
	morph_route_free(slice->idle_route);
	xa_destroy(&slice->circuits);
	kvfree_rcu(slice, rcu);
}

void morph_slice_unpin(struct morph_slice *slice)
{
	module_put(xchg(&slice->owner_module, NULL));
}

/* Not inlined: a put is seldom the last one. */
static noinline void slice_last_put(struct kref *kref)
{
	struct morph_slice *slice = container_of(kref, struct morph_slice, kref);
	struct morph_fabric *fabric = slice->fabric;
	struct module *owner = xchg(&slice->owner_module, NULL);
	struct morph_user *user = slice->user;

	WARN_ON_ONCE(!xa_empty(&slice->circuits));
	morph_user_uncharge(user, MORPH_RES_BYTES, slice->bytes);
	morph_slice_free(slice);
	morph_user_put(user);
	put_device(&fabric->dev);
	module_put(owner);
}

void morph_slice_put(struct morph_slice *slice)
{
	kref_put(&slice->kref, slice_last_put);
}

/* ---------------------------------------------------- one change at a time */

int morph_slice_check(const struct morph_slice *slice)
{
	if (slice->dying || slice->fabric->state != MORPH_FABRIC_READY)
		return -ENODEV;
	return slice->repairing ? -EAGAIN : 0;
}

/**
 * morph_slice_enter() - enter a slice for a change
 * @slice: the slice
 * @repair: for failover or teardown: wait for the current change, whatever the slice's state
 *
 * Context: fabric->lock held; the function drops it while it waits.
 * Return: 0, and the caller must call morph_slice_leave(); -ENODEV, -EAGAIN or -EINTR.
 */
int morph_slice_enter(struct morph_slice *slice, bool repair)
{
	struct morph_fabric *fabric = slice->fabric;
	int ret = 0;

	lockdep_assert_held(&fabric->lock);
	for (;;) {
		ret = repair ? 0 : morph_slice_check(slice);
		if (ret)
			return ret;
		if (!slice->busy)
			break;
		morph_fabric_unlock(fabric);
		if (repair)
			wait_event(slice->idle, !READ_ONCE(slice->busy));
		else
			ret = wait_event_interruptible(slice->idle, !READ_ONCE(slice->busy));
		morph_fabric_lock(fabric);
		if (ret)
			return -EINTR;
	}
	WRITE_ONCE(slice->busy, true);
	return 0;
}

/* Serve the components that wait for the slice to become idle. One of them may wait again. */
static void serve_waiters(struct morph_slice *slice)
{
	u32 i;

	for (i = 0; i < waiters_count; i++) {
		if (!(slice->waiting & waiters[i]->bit))
			continue;
		slice->waiting &= ~waiters[i]->bit;
		waiters[i]->idle(slice);
	}
}

void morph_slice_leave(struct morph_slice *slice)
{
	lockdep_assert_held(&slice->fabric->lock);
	WRITE_ONCE(slice->busy, false);
	if (slice->waiting)
		serve_waiters(slice);
	if (wq_has_sleeper(&slice->idle))
		wake_up_all(&slice->idle);
}

void morph_slice_serve_waiters(struct morph_slice *slice)
{
	lockdep_assert_held(&slice->fabric->lock);
	if (slice->waiting && !slice->busy)
		serve_waiters(slice);
}

/* ------------------------------------------------------------------ circuits */

static struct morph_circuit *init_circuit(struct morph_circuit *circuit, struct morph_slice *slice,
					  const struct morph_change *change)
{
	circuit->slice = slice;
	circuit->state = MORPH_CIRCUIT_CHANGING;
	circuit->src_rank = change->src_rank;
	circuit->dst_rank = change->dst_rank;
	circuit->any_src_plane = change->src_plane == MORPH_PLANE_ANY;
	circuit->any_dst_plane = change->dst_plane == MORPH_PLANE_ANY;
	return circuit;
}

size_t morph_circuit_bytes(void)
{
	return circuit_size;
}

struct morph_circuit *morph_circuit_place(struct morph_slice *slice,
					  const struct morph_change *change,
					  struct morph_chunk *chunk)
{
	struct morph_circuit *circuit = morph_chunk_take(chunk, circuit_size);

	if (!circuit)
		return NULL;
	circuit->chunk = chunk;
	return init_circuit(circuit, slice, change);
}

struct morph_circuit *morph_circuit_alloc(struct morph_slice *slice,
					  const struct morph_change *change,
					  struct morph_stash *stash,
					  struct morph_refusal *refusal)
{
	struct morph_circuit *circuit;
	int ret;

	if (stash)
		circuit = morph_stash_zalloc(stash, circuit_size);
	else
		circuit = kzalloc(circuit_size, GFP_KERNEL_ACCOUNT);
	if (!circuit)
		return ERR_PTR(-ENOMEM);
	ret = morph_user_charge(slice->user, MORPH_RES_CIRCUITS, 1, refusal);
	if (ret)
		goto err_free;
	ret = morph_user_charge(slice->user, MORPH_RES_BYTES, circuit_size, refusal);
	if (ret)
		goto err_uncharge;
	return init_circuit(circuit, slice, change);

err_uncharge:
	morph_user_uncharge(slice->user, MORPH_RES_CIRCUITS, 1);
err_free:
	kfree(circuit);
	return ERR_PTR(ret);
}

void morph_circuit_free(struct morph_circuit *circuit)
{
	struct morph_slice *slice = circuit->slice;

	morph_user_uncharge(slice->user, MORPH_RES_CIRCUITS, 1);
	if (circuit->chunk) {
		morph_chunk_put(circuit->chunk);
		return;
	}
	morph_user_uncharge(slice->user, MORPH_RES_BYTES, circuit_size);
	kfree(circuit);
}

void morph_circuit_count(struct morph_circuit *circuit)
{
	u32 lanes = 0;

	lockdep_assert_held(&circuit->slice->fabric->lock);
	if (circuit->listed && circuit->state == MORPH_CIRCUIT_LIT)
		lanes = optics_weight64(circuit->route->path.lanes);
	if (lanes == circuit->lit_lanes)
		return;
	circuit->slice->lit_lanes += (s64)lanes - circuit->lit_lanes;
	ledger_of(circuit->slice->fabric)->lit_lanes += (s64)lanes - circuit->lit_lanes;
	circuit->lit_lanes = lanes;
}

void morph_circuit_set_state(struct morph_circuit *circuit, u32 state)
{
	circuit->state = state;
	morph_circuit_count(circuit);
}

void morph_circuit_list(struct morph_circuit *circuit)
{
	struct morph_slice *slice = circuit->slice;

	lockdep_assert_held(&slice->fabric->lock);
	if (circuit->listed)
		return;
	circuit->listed = true;
	morph_circuit_count(circuit);
	slice->circuits_count++;
	if (!(circuit->src_rank & MORPH_RANK_EDGE))
		hlist_add_head(&circuit->src_node, &slice->ranks[circuit->src_rank].sends);
	if (!(circuit->dst_rank & MORPH_RANK_EDGE))
		hlist_add_head(&circuit->dst_node, &slice->ranks[circuit->dst_rank].receives);
}

void morph_circuit_unlist(struct morph_circuit *circuit)
{
	lockdep_assert_held(&circuit->slice->fabric->lock);
	if (!circuit->listed)
		return;
	circuit->listed = false;
	morph_circuit_count(circuit);
	circuit->slice->circuits_count--;
	hlist_del_init(&circuit->src_node);
	hlist_del_init(&circuit->dst_node);
}

void morph_circuit_drop(struct morph_circuit *circuit)
{
	struct morph_slice *slice = circuit->slice;

	xa_erase(&slice->circuits, circuit->id);
	morph_circuit_unlist(circuit);
	if (circuit->route) {
		morph_user_uncharge(slice->user, MORPH_RES_LANES,
				    optics_weight64(circuit->route->path.lanes));
		morph_route_unlist(circuit->route);
		morph_route_free(circuit->route);
	}
	morph_circuit_free(circuit);
}

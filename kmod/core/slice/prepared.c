// SPDX-License-Identifier: GPL-2.0-only
/*
 * The transaction of a protection: the circuits that a failover moves, and their paths. Callers
 * hold fabric->lock.
 *
 * The items are in the order of their circuits' numbers. So the choice of paths does not depend on
 * the history of the slice.
 */
#include <linux/sort.h>

#include "core/base/base.h"
#include "core/ledger/ledger.h"
#include "core/slice/slice.h"
#include "core/txn/txn.h"

/* Number of circuits at a rank. */
static u32 circuits_of_rank(const struct morph_rank *rank)
{
	const struct morph_circuit *circuit;
	u32 count = 0;

	hlist_for_each_entry(circuit, &rank->sends, src_node)
		count++;
	hlist_for_each_entry(circuit, &rank->receives, dst_node)
		count++;
	return count;
}

static int by_circuit(const void *a, const void *b)
{
	const struct morph_item *left = a, *right = b;

	return left->change.circuit < right->change.circuit ? -1 : 1;
}

struct morph_txn *morph_prepared_alloc(struct morph_slice *slice, u32 rank, u32 spare)
{
	const struct morph_rank *entry = &slice->ranks[rank];
	u32 count = circuits_of_rank(entry), n = 0;
	const struct morph_circuit *circuit;
	struct morph_txn *txn;

	txn = morph_txn_alloc(slice, NULL, NULL, count, 0, GFP_KERNEL_ACCOUNT);
	if (!txn)
		return NULL;
	txn->kind = morph_txn_kinds[MORPH_TXN_REPAIR];
	hlist_for_each_entry(circuit, &entry->sends, src_node) {
		morph_slice_fill_move(&txn->items[n], circuit);
		txn->items[n++].new_src = spare;
	}
	hlist_for_each_entry(circuit, &entry->receives, dst_node) {
		morph_slice_fill_move(&txn->items[n], circuit);
		txn->items[n++].new_dst = spare;
	}
	sort(txn->items, count, sizeof(*txn->items), by_circuit, NULL);
	/*
	 * A protection holds no slice reference, so that the slice can end; the slice frees it
	 * then.
	 */
	morph_slice_put(txn->slice);
	txn->slice = NULL;
	return txn;
}

/* Find and claim one path after the other. Return the number of paths found. */
static u32 claim_paths(struct morph_txn *txn, int *ret)
{
	struct optics_refusal why = {};
	u32 claimed;

	*ret = 0;
	for (claimed = 0; claimed < txn->count; claimed++) {
		struct morph_item *item = &txn->items[claimed];

		*ret = morph_txn_find_path(txn, item, NULL, 0, &why);
		if (!*ret)
			*ret = morph_route_claim(txn->fabric, item->new, &why);
		if (*ret)
			break;
	}
	return claimed;
}

/* Number of circuit orders that are tried with one spare. */
#define PREPARED_ORDERS	4u

/* Release all paths, and move the circuit without a path to the front. */
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
	/* Items may be reordered, since the kernel chooses the paths: no item points to guides. */
	left = txn->items[claimed];
	memmove(&txn->items[1], &txn->items[0], claimed * sizeof(left));
	txn->items[0] = left;
}

int morph_prepared_find_paths(struct morph_slice *slice, struct morph_txn *txn)
{
	struct morph_fabric *fabric = slice->fabric;
	struct morph_circuit *circuit;
	u32 i, claimed, order;
	int ret = 0;

	txn->slice = slice;
	morph_controller_lift(fabric, slice_tenancy(slice)->controller);
	for (i = 0; i < txn->count; i++) {
		circuit = xa_load(&slice->circuits, txn->items[i].change.circuit);
		txn->items[i].old = circuit->route;
		morph_route_release(fabric, circuit->route);
	}
	claimed = claim_paths(txn, &ret);
	for (order = 1; ret && ret != -ENOMEM && order < PREPARED_ORDERS; order++) {
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

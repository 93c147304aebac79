// SPDX-License-Identifier: GPL-2.0-only
/*
 * The transaction of a protection: the circuits that a failover moves, their paths, and the
 * circuits of a borrower that it removes. Callers hold fabric->lock.
 *
 * Its first items move the circuits of the rank. If the spare is lent, items follow that remove the
 * circuits of the rank that has it. Both kinds are in the order of their numbers. So the choice of
 * paths does not depend on the history of the slices.
 *
 * The items of a protection have no pointers to circuits or to the borrower, which may end.
 */
#include <linux/sort.h>

#include "core/base/base.h"
#include "core/ledger/ledger.h"
#include "core/slice/slice.h"
#include "core/txn/txn.h"

/* -------------------------------------------------------------------- items */

u32 morph_rank_circuits(const struct morph_rank *rank)
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

/* The rank that has a lent spare, or NULL. */
static const struct morph_rank *borrower_rank(const struct morph_chip *chip)
{
	return chip->lent ? &chip->slice->ranks[chip->rank] : NULL;
}

/* Return whether a circuit begins or ends at a lent spare. */
static bool is_at_loan(const struct morph_circuit *circuit, const struct morph_chip *chip)
{
	return chip->lent && circuit->slice == chip->slice &&
	       (circuit->src_rank == chip->rank || circuit->dst_rank == chip->rank);
}

/*
 * Move the circuits of a rank to the spare. If the same slice borrows the spare, the circuits
 * between both ranks are removed instead. Return the number of items.
 */
static u32 fill_moves(const struct morph_rank *entry, const struct morph_chip *chip, u32 spare,
		      struct morph_item *items)
{
	const struct morph_circuit *circuit;
	u32 n = 0;

	hlist_for_each_entry(circuit, &entry->sends, src_node) {
		if (is_at_loan(circuit, chip))
			continue;
		morph_slice_fill_move(&items[n], circuit);
		items[n++].new_src = spare;
	}
	hlist_for_each_entry(circuit, &entry->receives, dst_node) {
		if (is_at_loan(circuit, chip))
			continue;
		morph_slice_fill_move(&items[n], circuit);
		items[n++].new_dst = spare;
	}
	sort(items, n, sizeof(*items), by_circuit, NULL);
	return n;
}

static void fill_removal(struct morph_item *item, const struct morph_circuit *circuit)
{
	item->change = (struct morph_change){
		.op = MORPH_CHANGE_REMOVE,
		.circuit = circuit->id,
		.src_rank = MORPH_ANY,
		.dst_rank = MORPH_ANY,
	};
}

static u32 fill_removals(const struct morph_rank *lent, struct morph_item *items)
{
	const struct morph_circuit *circuit;
	u32 n = 0;

	hlist_for_each_entry(circuit, &lent->sends, src_node)
		fill_removal(&items[n++], circuit);
	hlist_for_each_entry(circuit, &lent->receives, dst_node)
		fill_removal(&items[n++], circuit);
	sort(items, n, sizeof(*items), by_circuit, NULL);
	return n;
}

struct morph_txn *morph_prepared_alloc(struct morph_slice *slice, u32 rank, u32 spare)
{
	const struct morph_chip *chip = &ledger_of(slice->fabric)->chips[spare];
	const struct morph_rank *entry = &slice->ranks[rank], *lent = borrower_rank(chip);
	u32 count = morph_rank_circuits(entry) + (lent ? morph_rank_circuits(lent) : 0);
	struct morph_txn *txn;

	lockdep_assert_held(&slice->fabric->lock);
	txn = morph_txn_alloc(slice, NULL, NULL, count, 0, GFP_KERNEL_ACCOUNT);
	if (!txn)
		return NULL;
	txn->kind = morph_txn_kinds[MORPH_TXN_REPAIR];
	/* Without the circuits that both ranks share, which are removed and not moved. */
	txn->count = fill_moves(entry, chip, spare, txn->items);
	if (lent)
		txn->count += fill_removals(lent, txn->items + txn->count);
	/*
	 * A protection holds no slice reference, so that the slice can end; the slice frees it
	 * then.
	 */
	morph_slice_put(txn->slice);
	txn->slice = NULL;
	return txn;
}

/* -------------------------------------------------------------------- paths */

/* Find and claim one path after the other. Return the number of paths found. */
static u32 claim_paths(struct morph_txn *txn, int *ret)
{
	struct optics_refusal why = {};
	u32 claimed;

	*ret = 0;
	/* The moves are the first items. */
	for (claimed = 0; claimed < txn->count; claimed++) {
		struct morph_item *item = &txn->items[claimed];

		if (item->change.op != MORPH_CHANGE_MOVE)
			break;
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

/* The circuit that an item moves or removes. The borrower is idle, so none has ended. */
static struct morph_circuit *circuit_of(struct morph_slice *slice, const struct morph_item *item,
					u32 spare)
{
	if (item->change.op == MORPH_CHANGE_REMOVE)
		slice = ledger_of(slice->fabric)->chips[spare].slice;
	return xa_load(&slice->circuits, item->change.circuit);
}

int morph_prepared_find_paths(struct morph_slice *slice, struct morph_txn *txn, u32 spare)
{
	struct morph_fabric *fabric = slice->fabric;
	u32 *owner = &ledger_of(fabric)->state->owner[spare], holder = *owner;
	u32 i, claimed, order;
	int ret = 0;

	lockdep_assert_held(&fabric->lock);
	txn->slice = slice;
	morph_controller_lift(fabric, slice_tenancy(slice)->controller);
	/* As in a failover: with transit "own", no path may enter the tile of another slice. */
	*owner = slice->number;
	for (i = 0; i < txn->count; i++) {
		txn->items[i].old = circuit_of(slice, &txn->items[i], spare)->route;
		morph_route_release(fabric, txn->items[i].old);
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
	*owner = holder;
	morph_controller_lower(fabric);
	txn->slice = NULL;
	return ret;
}

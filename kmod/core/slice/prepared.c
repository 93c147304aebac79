// SPDX-License-Identifier: GPL-2.0-only
/*
 * The transaction of a protection: the circuits that a failover moves, their paths, and the
 * circuits of a borrower that it removes.
 *
 * The search for its paths takes several holds of fabric->lock. Between them the ledger is as
 * before, and the worker allocates memory. If the circuits or the spare change, the search begins
 * again. If another change takes a found path, the search looks for that path again (plan.c).
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

static u32 count_items(const struct morph_protection *protection, u32 spare)
{
	const struct morph_slice *slice = protection->slice;
	const struct morph_rank *lent = borrower_rank(&ledger_of(slice->fabric)->chips[spare]);

	return morph_rank_circuits(&slice->ranks[protection->rank]) +
	       (lent ? morph_rank_circuits(lent) : 0);
}

/* Fill the room with the items. Return 0, or -EINPROGRESS if it is too small. */
static int fill_txn(struct morph_prepared_search *search)
{
	struct morph_slice *slice = search->protection->slice;
	const struct morph_chip *chip = &ledger_of(slice->fabric)->chips[search->spare];
	const struct morph_rank *entry = &slice->ranks[search->protection->rank];
	const struct morph_rank *lent = borrower_rank(chip);
	/* A rank without circuits has a protection, too. */
	u32 count = max(count_items(search->protection, search->spare), 1u);
	struct morph_txn *txn = search->room;

	if (!txn || search->room_items < count) {
		search->items_wanted = count;
		return -EINPROGRESS;
	}
	search->room = NULL;
	txn->kind = morph_txn_kinds[MORPH_TXN_REPAIR];
	txn->slice_number = slice->number;
	/* Without the circuits that both ranks share, which are removed and not moved. */
	txn->count = fill_moves(entry, chip, search->spare, txn->items);
	if (lent)
		txn->count += fill_removals(lent, txn->items + txn->count);
	txn->memory = &search->plan.memory;
	search->txn = txn;
	search->plan.txn = txn;
	return 0;
}

/* -------------------------------------------------------------------- paths */

/* Number of circuit orders that are tried with one spare. */
#define PREPARED_ORDERS	4u

/* Forget all paths, and move the circuit without a path to the front. */
static void reorder(struct morph_planning *plan)
{
	struct morph_item *items = plan->txn->items, left = items[plan->found];
	u32 found = plan->found;

	morph_planning_begin_again(plan);
	/* Items may be reordered, since the kernel chooses the paths: no item points to guides. */
	memmove(&items[1], &items[0], found * sizeof(left));
	items[0] = left;
}

/* Search as in a failover: with transit "own", no path may enter the tile of another slice. */
static bool find_paths(struct morph_prepared_search *search, u32 steps)
{
	struct morph_slice *slice = search->protection->slice;
	struct morph_ledger *ledger = ledger_of(slice->fabric);
	u32 *owner = &ledger->state->owner[search->spare], holder = *owner, i;
	struct morph_txn *txn = search->txn;
	bool more;

	for (i = 0; i < txn->count; i++)
		if (txn->items[i].change.op == MORPH_CHANGE_REMOVE)
			txn->items[i].borrower = ledger->chips[search->spare].slice;
	txn->slice = slice;
	*owner = slice->number;
	more = morph_planning_continue(&search->plan, steps);
	*owner = holder;
	/* The protection has no reference to a slice, so that the slice can end. */
	txn->slice = NULL;
	for (i = 0; i < txn->count; i++)
		txn->items[i].borrower = NULL;
	return more;
}

/* The circuit that an item moves or removes. Planning has just resolved it, so it exists. */
static struct morph_circuit *circuit_of(struct morph_slice *slice, const struct morph_item *item,
					u32 spare)
{
	if (item->change.op == MORPH_CHANGE_REMOVE)
		slice = ledger_of(slice->fabric)->chips[spare].slice;
	return xa_load(&slice->circuits, item->change.circuit);
}

/* Return 0 if the transaction has the memory for programming, or else -EINPROGRESS. */
static int check_reserved(struct morph_prepared_search *search)
{
	struct morph_slice *slice = search->protection->slice;
	struct morph_txn *txn = search->txn;
	u32 settings = 0, i;

	for (i = 0; i < txn->count; i++) {
		const struct morph_item *item = &txn->items[i];

		settings += circuit_of(slice, item, search->spare)->route->path.hops_count;
		if (item->new)
			settings += item->new->path.hops_count;
	}
	if (txn->reads && txn->settings_room >= settings)
		return 0;
	search->reserving = morph_txn_get(txn);
	search->settings_wanted = settings;
	return -EINPROGRESS;
}

/* Planning has ended without some path. Try another order, or return why there is none. */
static int judge_failure(struct morph_prepared_search *search)
{
	struct morph_planning *plan = &search->plan;

	if (plan->unresolved || plan->restarts > MORPH_MOST_RESTARTS ||
	    (plan->error && plan->search.stale))
		return -EAGAIN;
	if (!plan->error)
		return -ENOMEM;
	if (++search->orders == PREPARED_ORDERS)
		return -ENOSPC;
	reorder(plan);
	return -EINPROGRESS;
}

/* ------------------------------------------------------------------- search */

void morph_prepared_begin(struct morph_prepared_search *search,
			  struct morph_protection *protection, u32 spare)
{
	lockdep_assert_held(&protection->slice->fabric->lock);
	search->protection = protection;
	search->spare = spare;
	search->orders = 0;
	search->plan = (struct morph_planning){
		.hint = true,
		.effort = MORPH_HOLD_EFFORT,
		.search.work = search->plan.search.work,
		.search.bytes = search->plan.search.bytes,
		.memory.stash = search->plan.memory.stash,
	};
}

int morph_prepared_continue(struct morph_prepared_search *search, u32 steps)
{
	int ret = 0;

	lockdep_assert_held(&search->protection->slice->fabric->lock);
	if (!search->txn)
		ret = fill_txn(search);
	if (ret)
		return ret;
	if (find_paths(search, steps))
		return -EINPROGRESS;
	if (!search->plan.unresolved && search->plan.found == search->txn->count)
		return check_reserved(search);
	return judge_failure(search);
}

void morph_prepared_drop(struct morph_prepared_search *search)
{
	struct morph_txn *txn = search->txn;
	u32 i;

	search->protection = NULL;
	search->touched = false;
	search->txn = NULL;
	for (i = 0; txn && i < txn->count; i++) {
		morph_route_free(txn->items[i].new);
		txn->items[i].new = NULL;
	}
	if (txn)
		morph_txn_put(txn);
}

static int fetch_room(struct morph_fabric *fabric, struct morph_prepared_search *search)
{
	if (search->room)
		morph_txn_put(search->room);
	search->room = morph_txn_alloc_bare(fabric, search->items_wanted, GFP_KERNEL_ACCOUNT);
	if (!search->room)
		return -ENOMEM;
	search->room->gfp = MORPH_GFP_LOCKED;
	search->room_items = search->items_wanted;
	search->items_wanted = 0;
	return 0;
}

static int fetch_reads(struct morph_prepared_search *search)
{
	struct morph_txn *txn = search->reserving;
	int ret;

	txn->gfp = GFP_KERNEL_ACCOUNT;
	ret = morph_txn_reserve_for(txn, txn->count, search->settings_wanted);
	txn->gfp = MORPH_GFP_LOCKED;
	search->reserving = NULL;
	morph_txn_put(txn);
	return ret;
}

int morph_prepared_fetch(struct morph_fabric *fabric, struct morph_prepared_search *search)
{
	int ret = 0;

	if (search->items_wanted)
		ret = fetch_room(fabric, search);
	if (!ret && search->plan.needs_memory)
		ret = morph_path_search_alloc(&search->plan.search, NULL, NULL);
	search->plan.needs_memory = false;
	/* A block for each route */
	if (!ret && search->plan.memory.stash.wanted)
		ret = morph_stash_fill(&search->plan.memory.stash, search->room_items,
				       GFP_KERNEL_ACCOUNT);
	if (!ret && search->reserving)
		ret = fetch_reads(search);
	return ret;
}

void morph_prepared_free(struct morph_prepared_search *search)
{
	if (search->room)
		morph_txn_put(search->room);
	search->room = NULL;
	morph_stash_empty(&search->plan.memory.stash);
	morph_path_search_free(&search->plan.search);
}

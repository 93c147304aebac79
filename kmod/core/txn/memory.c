// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory for staging. An allocation under fabric->lock must not sleep: all other tenants would wait
 * for the memory of one, up to 2 s if a cgroup throttles it (memory.high).
 */
#include <linux/xarray.h>

#include "core/base/base.h"
#include "core/ledger/ledger.h"
#include "core/txn/txn.h"
#include "internal.h"

#define NUMBERS	XA_LIMIT(0, MORPH_SCHEDULE_FIRST_ID - 1)

bool morph_txn_wants_memory(const struct morph_txn *txn)
{
	const struct morph_txn_memory *memory = txn->memory;

	return memory && (memory->stash.wanted || memory->settings || memory->numbers);
}

int memory_number_circuit(struct morph_txn *txn, struct morph_item *item,
			  struct morph_circuit *circuit)
{
	struct xarray *circuits = &circuit->slice->circuits;
	int ret;

	if (item->kept_number) {
		circuit->id = item->kept_number;
		item->kept_number = 0;
		/* The table has the memory for this entry. */
		return xa_err(xa_store(circuits, circuit->id, circuit, MORPH_GFP_LOCKED));
	}
	ret = xa_alloc(circuits, &circuit->id, circuit, NUMBERS,
		       txn->memory ? MORPH_GFP_LOCKED : GFP_KERNEL_ACCOUNT);
	if (ret == -ENOMEM && txn->memory)
		txn->memory->numbers = true;
	return ret;
}

/* Keep a number for each circuit that the transaction adds. Until it is used, it finds nothing. */
static int keep_numbers(struct morph_txn *txn)
{
	u32 i;
	int ret = 0;

	for (i = 0; i < txn->count && !ret; i++) {
		struct morph_item *item = &txn->items[i];

		if (item->change.op == MORPH_CHANGE_ADD && !item->circuit && !item->kept_number)
			ret = xa_alloc(&txn->slice->circuits, &item->kept_number, NULL, NUMBERS,
				       GFP_KERNEL_ACCOUNT);
	}
	return ret;
}

int morph_txn_fetch_memory(struct morph_txn *txn)
{
	struct morph_txn_memory *memory = txn->memory;
	int ret = 0;

	/* A circuit and a route for each change, so that staging asks once. */
	if (memory->stash.wanted)
		ret = morph_stash_fill(&memory->stash, 2 * txn->count, txn->gfp);
	if (!ret && memory->settings)
		ret = morph_txn_reserve_for(txn, txn->count, memory->settings);
	memory->settings = 0;
	if (!ret && memory->numbers)
		ret = keep_numbers(txn);
	memory->numbers = false;
	return ret;
}

void morph_txn_drop_memory(struct morph_txn *txn)
{
	u32 i;

	morph_stash_empty(&txn->memory->stash);
	for (i = 0; i < txn->count; i++)
		if (txn->items[i].kept_number)
			xa_release(&txn->slice->circuits, txn->items[i].kept_number);
	txn->memory = NULL;
}

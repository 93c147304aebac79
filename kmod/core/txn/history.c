// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of ended transactions. There are three kinds, each with its own limit:
 *
 *   - The history of a fabric serves lookups by number. It has the last MORPH_TXN_HISTORY
 *     transactions, or fewer if they are large: it takes at most MORPH_TXN_HISTORY_BYTES,
 *     not counting the last transaction. No user is charged for it.
 *   - The records of a slice serve a coordinator that prepared a transaction and later
 *     looks up its cookie. Other transactions of the fabric do not displace them.
 *   - The last commit of a slice with a cookie serves a repeated request.
 *
 * The user of the slice is charged for the last two, beyond its limit if necessary, because the
 * interface guarantees these answers. A record keeps only the fields that interfaces report.
 */
#include "core/base/base.h"
#include "core/txn/txn.h"

/* Free the memory for programming, which a record does not need. */
static void trim(struct morph_txn *txn)
{
	morph_free_later(txn->reads, txn->reads_bytes);
	txn->reads = NULL;
	txn->reads_bytes = 0;
}

/* -------------------------------------------------------- records of the fabric */

static void drop_oldest(struct morph_fabric *fabric)
{
	struct morph_txn *txn = txns_of(fabric)->ended[txns_of(fabric)->ended_first];

	txns_of(fabric)->ended_first = (txns_of(fabric)->ended_first + 1) % MORPH_TXN_HISTORY;
	txns_of(fabric)->ended_count--;
	txns_of(fabric)->ended_bytes -= morph_txn_bytes(txn);
	xa_erase(&txns_of(fabric)->txns, txn->id);
	morph_txn_put(txn);
}

void morph_history_add(struct morph_txn *txn)
{
	struct morph_fabric *fabric = txn->fabric;

	lockdep_assert_held(&fabric->lock);
	trim(txn);
	txns_of(fabric)->ended_bytes += morph_txn_bytes(txn);
	while (txns_of(fabric)->ended_count == MORPH_TXN_HISTORY ||
	       (txns_of(fabric)->ended_count &&
		txns_of(fabric)->ended_bytes > MORPH_TXN_HISTORY_BYTES))
		drop_oldest(fabric);
	txns_of(fabric)->ended[(txns_of(fabric)->ended_first + txns_of(fabric)->ended_count++) %
			       MORPH_TXN_HISTORY] = txn;
}

void morph_history_free(struct morph_fabric *fabric)
{
	while (txns_of(fabric)->ended_count)
		drop_oldest(fabric);
}

/* ---------------------------------------------------------- records of a slice */

static void drop_record(struct morph_slice *slice, u32 index)
{
	struct morph_slice_txns *txns = slice_txns(slice);
	struct morph_txn *txn = txns->records[index];

	if (!txn)
		return;
	txns->records[index] = NULL;
	morph_user_uncharge(slice->user, MORPH_RES_BYTES, morph_txn_bytes(txn));
	morph_txn_put(txn);
}

void morph_history_keep_record(struct morph_txn *txn)
{
	struct morph_slice *slice = txn->slice;
	struct morph_slice_txns *txns = slice_txns(slice);
	u32 index = txns->records_next % MORPH_TXN_RECORDS;

	lockdep_assert_held(&slice->fabric->lock);
	if (!txn->cookie || slice->dying)
		return;
	txns->records_next++;
	trim(txn);
	drop_record(slice, index);
	morph_user_charge_anyway(slice->user, MORPH_RES_BYTES, morph_txn_bytes(txn));
	txns->records[index] = morph_txn_get(txn);
}

static void forget_last(struct morph_slice *slice)
{
	struct morph_slice_txns *txns = slice_txns(slice);

	if (!txns->last_txn)
		return;
	morph_txn_uncharge(txns->last_txn, slice->user);
	morph_txn_put(txns->last_txn);
	txns->last_txn = NULL;
}

/* The record drops its reference to the slice, which would otherwise never be freed. */
void morph_history_keep_last(struct morph_txn *txn)
{
	struct morph_slice *slice = txn->slice;

	lockdep_assert_held(&slice->fabric->lock);
	/* A transaction that runs change by change may end after its slice. */
	if (!txn->cookie || slice->dying || txn->outcome != MORPH_OUTCOME_COMMITTED)
		return;
	trim(txn);
	forget_last(slice);
	morph_txn_charge(txn, slice->user, NULL);
	slice_txns(slice)->last_txn = morph_txn_get(txn);
	if (!txn->id) {
		txn->slice = NULL;
		morph_slice_put(slice);
	}
}

struct morph_txn *morph_txn_find_cookie(struct morph_slice *slice, u64 cookie)
{
	struct morph_slice_txns *txns = slice_txns(slice);
	struct morph_txn *txn;
	u32 i;

	lockdep_assert_held(&slice->fabric->lock);
	if (!cookie)
		return NULL;
	list_for_each_entry(txn, &txns->txns, node)
		if (txn->cookie == cookie)
			return morph_txn_get(txn);
	for (i = 1; i <= MORPH_TXN_RECORDS; i++) {
		txn = txns->records[(txns->records_next - i) % MORPH_TXN_RECORDS];
		if (txn && txn->cookie == cookie)
			return morph_txn_get(txn);
	}
	return NULL;
}

void morph_history_forget(struct morph_slice *slice)
{
	u32 i;

	lockdep_assert_held(&slice->fabric->lock);
	forget_last(slice);
	for (i = 0; i < MORPH_TXN_RECORDS; i++)
		drop_record(slice, i);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lent spares that a failover takes back. A slice may hold a spare as a rank, for example to reduce
 * data. If no idle spare is left, a failover of a slice takes such a spare from its borrower:
 *
 *   1. enter the borrower, so that no other change uses its circuits
 *   2. remove the circuits of the borrower's rank in the transaction that moves the failed rank
 *   3. at the publication, the borrower's rank gets the failed accelerator in exchange
 *
 * If the failed rank has a protection that uses the spare, the transaction and its paths are
 * prepared, with the numbers of the circuits to remove: see protection.c. Otherwise the failover
 * finds the paths after it has entered the borrower.
 *
 * So each accelerator has one holder at any time. The borrower's rank counts as failed, gets no
 * other spare, and is usable again when its accelerator has passed a test. If the transaction
 * fails, it restores the borrower's circuits.
 */
#include "core/base/base.h"
#include "core/ledger/ledger.h"
#include "core/recovery/recovery.h"
#include "core/slice/slice.h"
#include "core/txn/txn.h"

u32 morph_repair_spare(struct morph_slice *slice, u32 rank, u32 preferred, u32 skip)
{
	u32 accelerator = slice->ranks[rank].accelerator;

	/* The owner's request for a working accelerator takes no spare from another slice. */
	if (!morph_rank_failed(slice, rank) || ledger_of(slice->fabric)->chips[accelerator].lent)
		return morph_place_spare(slice, accelerator, preferred, skip);
	return morph_place_any_spare(slice, accelerator, preferred, skip);
}

bool morph_reclaims_rank(const struct morph_slice *slice, u32 rank)
{
	const struct morph_chip *chip;

	if (rank & MORPH_RANK_EDGE)
		return false;
	chip = &ledger_of(slice->fabric)->chips[slice->ranks[rank].accelerator];
	return chip->slice != slice || chip->rank != rank;
}

/*
 * Wait for the tenant's change in a borrower. Do not wait for a repair or another failover, which
 * may wait for a slice that this failover has entered. Return whether the borrower is idle.
 *
 * So failovers never wait in a circle: each waits for a slice that was entered after the wait
 * began, by a failover that began its own wait even later.
 */
static bool wait_for_change(struct morph_slice *borrower)
{
	struct morph_fabric *fabric = borrower->fabric;

	while (borrower->busy) {
		if (borrower->dying || slice_recovery(borrower)->entered_by)
			return false;
		mutex_unlock(&fabric->lock);
		wait_event(borrower->idle, !READ_ONCE(borrower->busy));
		mutex_lock(&fabric->lock);
	}
	return true;
}

/* Enter the slice that has a lent spare, and revoke its prepared transactions. */
static bool enter_borrower(struct morph_slice *slice, const struct morph_chip *chip)
{
	struct morph_slice *borrower = chip->slice;

	if (slice_recovery(borrower)->entered_by == slice)
		return true;
	kref_get(&borrower->kref);
	if (!wait_for_change(borrower) || borrower->dying || chip->slice != borrower ||
	    chip->listed != MORPH_LISTED_LENT) {
		morph_slice_put(borrower);
		return false;
	}
	morph_slice_enter(borrower, true);
	slice_recovery(borrower)->entered_by = slice;
	morph_txn_revoke_slice(borrower);
	/* That may have dropped fabric->lock. */
	if (!borrower->dying && chip->slice == borrower && chip->listed == MORPH_LISTED_LENT)
		return true;
	slice_recovery(borrower)->entered_by = NULL;
	morph_slice_leave(borrower);
	morph_slice_put(borrower);
	return false;
}

/* Return whether the failover uses a slice as borrower. */
static bool has_borrower(const struct morph_slice *slice, const struct morph_slice *borrower)
{
	u32 i;

	for (i = 0; i < slice->ranks_count; i++)
		if (rank_recovery(slice, i)->borrower == borrower)
			return true;
	return false;
}

/* The exchange for a rank has ended: leave its borrower after the last one. */
static void end_exchange(struct morph_slice *slice, u32 rank)
{
	struct morph_slice *borrower = rank_recovery(slice, rank)->borrower;

	rank_recovery(slice, rank)->borrower = NULL;
	if (slice == borrower || has_borrower(slice, borrower))
		return;
	slice_recovery(borrower)->entered_by = NULL;
	morph_slice_leave(borrower);
	morph_slice_put(borrower);
}

bool morph_reclaim(struct morph_slice *slice, u32 rank, u32 spare)
{
	struct morph_chip *chip = &ledger_of(slice->fabric)->chips[spare];

	lockdep_assert_held(&slice->fabric->lock);
	if (!enter_borrower(slice, chip))
		return false;
	rank_recovery(slice, rank)->borrower = chip->slice;
	rank_recovery(slice, rank)->borrower_rank = chip->rank;
	morph_chip_let_go(slice->fabric, spare);
	return true;
}

/* The borrower's rank gets an accelerator. */
static void give_to_borrower(const struct morph_rank_recovery *exchange, u32 accelerator)
{
	struct morph_slice *borrower = exchange->borrower;
	struct morph_chip *chip = &ledger_of(borrower->fabric)->chips[accelerator];

	chip->lent = true;
	morph_slice_take_chip(borrower, accelerator, exchange->borrower_rank);
	morph_chip_update(borrower->fabric, accelerator);
	borrower->ranks[exchange->borrower_rank].accelerator = accelerator;
	borrower->ranks[exchange->borrower_rank].failed =
		chip->health != MORPH_HEALTH_OK ||
		rank_recovery(borrower, exchange->borrower_rank)->forced;
}

static bool has_dark_circuits(struct morph_slice *slice)
{
	struct morph_listed_loop loop = morph_loop_listed(slice);
	struct morph_circuit *circuit;

	while ((circuit = morph_loop_next(&loop)))
		if (circuit->dark)
			return true;
	return false;
}

bool morph_reclaim_undo(struct morph_slice *slice, u32 spare, bool to_front)
{
	struct morph_chip *chip = &ledger_of(slice->fabric)->chips[spare];
	u32 host = slice->fabric->graph->accelerators[spare].host, rank = chip->rank;
	struct morph_rank_recovery *exchange = rank_recovery(slice, rank);
	struct morph_slice *borrower = exchange->borrower;

	if (!borrower)
		return false;
	morph_chip_let_go(slice->fabric, spare);
	give_to_borrower(exchange, spare);
	/* The search skips those at the front that it has tried. */
	if (to_front && chip->listed == MORPH_LISTED_LENT)
		list_move(&chip->host_node, &ledger_of(slice->fabric)->hosts[host].lent);
	/* The spare may have failed, or its circuits may not have been restored. */
	if (morph_rank_failed(borrower, exchange->borrower_rank)) {
		slice_recovery(borrower)->culprit.part = MORPH_PART_ACCELERATOR;
		slice_recovery(borrower)->culprit.index = spare;
		morph_repair_kick(borrower, 0);
		morph_repair_report_failing(borrower, exchange->borrower_rank, spare,
					    MORPH_OUTCOME_NONE);
	} else if (has_dark_circuits(borrower)) {
		morph_repair_kick(borrower, 0);
	}
	end_exchange(slice, rank);
	return true;
}

/* Return whether an earlier rank has the same borrower. */
static bool is_repeated(const struct morph_slice *slice, u32 rank)
{
	u32 i;

	for (i = 0; i < rank; i++)
		if (rank_recovery(slice, i)->borrower == rank_recovery(slice, rank)->borrower)
			return true;
	return false;
}

static bool reclaims_circuit(const struct morph_circuit *circuit)
{
	return morph_reclaims_rank(circuit->slice, circuit->src_rank) ||
	       morph_reclaims_rank(circuit->slice, circuit->dst_rank);
}

u32 morph_reclaim_fill(struct morph_slice *slice, struct morph_item *items)
{
	struct morph_circuit *circuit;
	u32 count = 0, i;

	for (i = 0; i < slice->ranks_count; i++) {
		struct morph_slice *borrower = rank_recovery(slice, i)->borrower;
		struct morph_listed_loop loop;

		if (!borrower || is_repeated(slice, i))
			continue;
		loop = morph_loop_listed(borrower);
		while ((circuit = morph_loop_next(&loop))) {
			if (!reclaims_circuit(circuit))
				continue;
			if (items) {
				items[count].change.op = MORPH_CHANGE_REMOVE;
				items[count].change.circuit = circuit->id;
				items[count].change.src_rank = MORPH_ANY;
				items[count].change.dst_rank = MORPH_ANY;
				items[count].borrower = borrower;
			}
			count++;
		}
	}
	return count;
}

/*
 * The removals come from a protection. Since this failover has entered the borrower, its circuits
 * stay, and the pointer is valid until the failover leaves it. An incomplete list would leave light
 * of the borrower at an accelerator that it has no more.
 */
bool morph_reclaim_adopt(struct morph_slice *slice, u32 rank, struct morph_txn *txn)
{
	const struct morph_rank_recovery *exchange = rank_recovery(slice, rank);
	u32 count = 0, i;

	lockdep_assert_held(&slice->fabric->lock);
	for (i = 0; i < txn->count; i++) {
		if (txn->items[i].change.op != MORPH_CHANGE_REMOVE)
			continue;
		txn->items[i].borrower = exchange->borrower;
		count++;
	}
	txn->reclaims = count;
	return count == morph_rank_circuits(&exchange->borrower->ranks[exchange->borrower_rank]);
}

void morph_reclaim_published(struct morph_slice *slice, u32 rank, u32 failed)
{
	struct morph_rank_recovery *exchange = rank_recovery(slice, rank);

	if (!exchange->borrower)
		return;
	give_to_borrower(exchange, failed);
	rank_recovery(exchange->borrower, exchange->borrower_rank)->taken = true;
	exchange->borrower->generation++;
}

void morph_reclaim_announced(struct morph_slice *slice, u32 rank, u32 failed)
{
	const struct morph_rank_recovery *exchange = rank_recovery(slice, rank);
	struct morph_slice *borrower = exchange->borrower;

	if (!borrower)
		return;
	slice_recovery(borrower)->culprit.part = MORPH_PART_ACCELERATOR;
	slice_recovery(borrower)->culprit.index = failed;
	/* The event DEGRADED follows, even if the rank had no circuit. */
	slice_recovery(borrower)->degraded_mbps = U64_MAX;
	morph_repair_kick(borrower, 0);
	morph_repair_report_failing(borrower, exchange->borrower_rank,
				    slice->ranks[rank].accelerator, MORPH_OUTCOME_REVOKED);
	morph_report_slice_changed(borrower);
}

void morph_reclaim_end(struct morph_slice *slice)
{
	u32 i;

	lockdep_assert_held(&slice->fabric->lock);
	for (i = 0; i < slice->ranks_count; i++)
		if (rank_recovery(slice, i)->borrower)
			end_exchange(slice, i);
}

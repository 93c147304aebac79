// SPDX-License-Identifier: GPL-2.0-only
/*
 * Failover: one transaction replaces failed ranks by spares and moves their circuits. It uses the
 * rank's protection if that is current.
 */
#include <linux/slab.h>

#include "core/base/base.h"
#include "core/base/trace.h"
#include "core/ledger/ledger.h"
#include "core/recovery/recovery.h"
#include "core/slice/slice.h"
#include "core/txn/txn.h"

#define MAX_SPARE_TRIES	16u	/* spares tried per rank and repair */

/* One failover of a slice. */
struct failover {
	struct morph_repair_job job;
	struct morph_slice *slice;
	struct morph_txn *txn;
	u32 *ranks;		/* failed ranks that get a spare; all lists belong to the slice */
	u32 *spares;		/* once published: the accelerators that they have replaced */
	u32 *skips;
	u64 published_ns;	/* ktime_get_ns() */
	u32 count;
	u32 reserved;		/* the spare that the slice has reserved */
	bool dry;		/* only find out whether there are spares with paths */
	bool blocked;		/* dry: only a repair takes what another slice has */
};

/* ------------------------------------------------------------------- spares */

static bool may_replace(const struct morph_slice *slice, u32 rank)
{
	u32 accelerator = slice->ranks[rank].accelerator;

	/* A rank on a lent spare gets no other one. */
	return slice->ranks[rank].failed &&
	       (rank_recovery(slice, rank)->forced ||
		(slice_tenancy(slice)->failover == MORPH_FAILOVER_AUTOMATIC &&
		 !ledger_of(slice->fabric)->chips[accelerator].lent));
}

/* The accelerator is free, or a spare that this slice holds. */
static bool is_idle(const struct morph_slice *slice, u32 accelerator)
{
	u32 use = ledger_of(slice->fabric)->chips[accelerator].use;

	return (use == MORPH_USE_FREE || use == MORPH_USE_SPARE ||
		accelerator == slice_tenancy(slice)->own_spare) &&
	       morph_chip_fit(slice->fabric, accelerator);
}

/* The spare becomes the rank's accelerator. Caller holds fabric->lock. */
static void join_spare(struct morph_slice *slice, u32 spare, u32 rank)
{
	if (spare == slice_tenancy(slice)->own_spare) {
		slice_tenancy(slice)->own_spare = MORPH_ANY;
		ledger_of(slice->fabric)->chips[spare].rank = rank;
	} else {
		morph_slice_take_chip(slice, spare, rank);
	}
}

static u32 spare_of(const struct failover *failover, u32 rank)
{
	u32 i;

	for (i = 0; i < failover->count; i++)
		if (failover->ranks[i] == rank)
			return failover->spares[i];
	return MORPH_ANY;
}

/*
 * Take a lent spare from its rank, unless this failover replaces that rank, too: then the spare
 * is not the rank's any more. Caller holds fabric->lock; the function may drop it.
 */
static bool reclaim(struct failover *failover, u32 rank, u32 spare)
{
	const struct morph_chip *chip = &ledger_of(failover->slice->fabric)->chips[spare];

	if (chip->slice == failover->slice && spare_of(failover, chip->rank) != MORPH_ANY)
		return false;
	return morph_reclaim(failover->slice, rank, spare);
}

/* The next spare of a rank; skip lent ones that cannot be taken now. Lock as above. */
static u32 next_usable_spare(struct failover *failover, u32 which)
{
	struct morph_slice *slice = failover->slice;
	const struct morph_chip *chips = ledger_of(slice->fabric)->chips;
	u32 rank = failover->ranks[which], spare;

	while (failover->skips[which] < MAX_SPARE_TRIES) {
		spare = morph_repair_spare(slice, rank, rank_protection(slice, rank)->preferred,
					   failover->skips[which]++);
		if (spare == MORPH_ANY || !chips[spare].lent)
			return spare;
		failover->blocked |= failover->dry;
		if (!failover->dry && reclaim(failover, rank, spare))
			return spare;
	}
	return MORPH_ANY;
}

/*
 * Hold the next spare for a rank that this repair has not held yet. Caller holds fabric->lock; the
 * function may drop it.
 */
static u32 take_spare(struct failover *failover, u32 which)
{
	struct morph_slice *slice = failover->slice;
	u32 rank = failover->ranks[which], *skip = &failover->skips[which];
	u32 spare = rank_recovery(slice, rank)->wanted_spare;

	/* Another rank of this failover gets its lent spare, and the rank a failed accelerator. */
	if (morph_reclaims_rank(slice, rank))
		return MORPH_ANY;
	if (spare != MORPH_ANY) {
		if (*skip || !is_idle(slice, spare))
			return MORPH_ANY;
		++*skip;
	} else {
		spare = next_usable_spare(failover, which);
	}
	if (spare == MORPH_ANY)
		return MORPH_ANY;
	join_spare(slice, spare, rank);
	return spare;
}

/*
 * Give back a spare that was not used. A reserved spare stays reserved. Any other goes to the end
 * of its host's list, or to the front if the caller will try the next ones.
 */
static void give_back_spare(struct failover *failover, u32 spare, bool to_front)
{
	struct morph_slice *slice = failover->slice;
	struct morph_fabric *fabric = slice->fabric;
	struct morph_chip *chip;

	if (spare == MORPH_ANY || morph_reclaim_undo(slice, spare, to_front))
		return;
	chip = &ledger_of(fabric)->chips[spare];
	if (spare == failover->reserved) {
		slice_tenancy(slice)->own_spare = spare;
		chip->rank = MORPH_ANY;
	} else {
		morph_chip_let_go(fabric, spare);
		if (to_front && chip->use == MORPH_USE_SPARE && chip->listed)
			list_move(&chip->host_node,
				  &ledger_of(fabric)
					   ->hosts[fabric->graph->accelerators[spare].host]
					   .spares);
	}
	morph_protection_touch_chip(fabric, spare);
}

/* Return whether the failover moves a circuit of its slice. */
static bool moves(const struct failover *failover, const struct morph_circuit *circuit)
{
	return !morph_reclaims_rank(failover->slice, circuit->src_rank) &&
	       !morph_reclaims_rank(failover->slice, circuit->dst_rank) &&
	       (spare_of(failover, circuit->src_rank) != MORPH_ANY ||
		spare_of(failover, circuit->dst_rank) != MORPH_ANY);
}

/* Return whether this end of a circuit will have an accelerator. */
static bool has_place(const struct failover *failover, u32 rank)
{
	return spare_of(failover, rank) != MORPH_ANY ||
	       !morph_rank_failed(failover->slice, rank);
}

/*
 * A circuit cannot be lit if its other end has failed too and has no spare. The failover moves it
 * anyway and leaves it dark, because no circuit of the slice may end at an accelerator that the
 * slice has given back.
 */
static void mark_unlit(struct failover *failover)
{
	u32 i;

	for (i = 0; i < failover->txn->count; i++) {
		struct morph_item *item = &failover->txn->items[i];

		item->unlit = !has_place(failover, item->change.src_rank) ||
			      !has_place(failover, item->change.dst_rank);
	}
}

/*
 * Build a transaction that moves the circuits of all replaced ranks, and removes those of the ranks
 * that had the lent spares.
 */
static void failover_build(struct failover *failover)
{
	struct morph_slice *slice = failover->slice;
	u32 removed = morph_reclaim_fill(slice, NULL), count = removed, n;
	struct morph_listed_loop loop = morph_loop_listed(slice);
	struct morph_circuit *circuit;

	while ((circuit = morph_loop_next(&loop)))
		count += moves(failover, circuit);
	failover->txn = morph_repair_alloc_txn(slice, count);
	failover->txn->reclaims = removed;
	n = morph_reclaim_fill(slice, failover->txn->items);
	loop = morph_loop_listed(slice);
	while ((circuit = morph_loop_next(&loop))) {
		struct morph_item *item = &failover->txn->items[n];

		if (!moves(failover, circuit))
			continue;
		morph_slice_fill_move(item, circuit);
		if (spare_of(failover, circuit->src_rank) != MORPH_ANY)
			item->new_src = spare_of(failover, circuit->src_rank);
		if (spare_of(failover, circuit->dst_rank) != MORPH_ANY)
			item->new_dst = spare_of(failover, circuit->dst_rank);
		n++;
	}
	mark_unlit(failover);
}

/* Return whether the rank gets a lent spare now. It does not if an idle one has come. */
static bool needs_lent_spare(struct morph_slice *slice, u32 rank)
{
	u32 first = morph_repair_spare(slice, rank, rank_protection(slice, rank)->preferred, 0);

	return first != MORPH_ANY && ledger_of(slice->fabric)->chips[first].lent;
}

/*
 * For a single failed rank with a current protection, use its paths. Its spare may be lent: then
 * take that first, which may drop fabric->lock and so make the protection stale. Return whether the
 * failover has a transaction. It may have got a spare without one.
 */
static bool failover_from_protection(struct failover *failover)
{
	struct morph_slice *slice = failover->slice;
	u32 rank = failover->ranks[0], spare;
	bool lent;

	if (failover->count != 1 || rank_recovery(slice, rank)->wanted_spare != MORPH_ANY)
		return false;
	spare = morph_protection_spare(slice, rank);
	if (spare == MORPH_ANY)
		return false;
	lent = ledger_of(slice->fabric)->chips[spare].lent;
	if (lent && (!needs_lent_spare(slice, rank) || !reclaim(failover, rank, spare)))
		return false;
	/* Before the rank joins the spare, which marks all protections of the spare stale. */
	failover->txn = morph_protection_take(slice, rank, spare);
	join_spare(slice, spare, rank);
	failover->spares[0] = spare;
	if (!failover->txn)
		return false;
	kref_get(&slice->kref);
	failover->txn->slice = slice;
	if (lent && !morph_reclaim_adopt(slice, rank, failover->txn))
		return false;
	mark_unlit(failover);
	return true;
}

/* The protection cannot be used: give its spare back, so that an idle one has precedence. */
static void leave_protection(struct failover *failover)
{
	give_back_spare(failover, failover->spares[0], true);
	failover->spares[0] = MORPH_ANY;
	morph_repair_free_txn(failover->txn);
	failover->txn = NULL;
}

static bool any_spare(const struct failover *failover)
{
	u32 i;

	for (i = 0; i < failover->count; i++)
		if (failover->spares[i] != MORPH_ANY)
			return true;
	return false;
}

/*
 * Choose another spare for the rank whose circuit could not be staged. If there is none, the
 * failover replaces the other ranks without it. Return false if nothing is left to try.
 */
static bool next_spare(struct failover *failover)
{
	const struct morph_txn *txn = failover->txn;
	u32 which = 0, i;

	if (txn->refusal.item < txn->count) {
		const struct morph_change *change = &txn->items[txn->refusal.item].change;

		/* A failed rank without a spare may be at the other end. */
		for (i = 0; i < failover->count; i++)
			if (failover->spares[i] != MORPH_ANY &&
			    (failover->ranks[i] == change->src_rank ||
			     failover->ranks[i] == change->dst_rank))
				which = i;
	}
	if (failover->spares[which] == MORPH_ANY)
		return false;
	give_back_spare(failover, failover->spares[which], true);
	failover->spares[which] = MORPH_ANY;
	if (failover->skips[which] < MAX_SPARE_TRIES)
		failover->spares[which] = take_spare(failover, which);
	return any_spare(failover);
}

/* Find spares and paths until the transaction is staged. Caller holds fabric->lock. */
static int failover_stage(struct failover *failover)
{
	struct morph_slice *slice = failover->slice;
	u32 i;
	int ret;

	if (!failover->dry) {
		if (failover_from_protection(failover) && !morph_txn_stage(failover->txn)) {
			morph_stat(slice->fabric, MORPH_STAT_PLANS_USED);
			return 0;
		}
		leave_protection(failover);
		morph_stat(slice->fabric, MORPH_STAT_PLANS_INLINE);
	}
	for (i = 0; i < failover->count; i++) {
		failover->skips[i] = 0;
		failover->spares[i] = take_spare(failover, i);
	}
	if (!any_spare(failover))
		return -ENOSPC;
	for (;;) {
		failover_build(failover);
		ret = morph_repair_stage(failover->txn, failover->dry);
		failover->blocked |= ret == MORPH_REPAIR_BLOCKED;
		if (!ret || ret == -ENODEV || !next_spare(failover))
			return ret;
		morph_repair_free_txn(failover->txn);
		failover->txn = NULL;
		if (!morph_repair_pause(slice))
			return -ENODEV;
	}
}

/* ------------------------------------------------------------------- events */

u64 morph_txn_longest_dark(const struct morph_txn *txn)
{
	u64 longest = 0;
	u32 i;

	for (i = 0; i < txn->count; i++)
		longest = max(longest, txn->items[i].change.dark_ns);
	return longest;
}

void morph_repair_report_failing(struct morph_slice *slice, u32 rank, u32 accelerator, u32 outcome)
{
	struct morph_event event;

	morph_event_init(&event, slice, MORPH_EVENT_FAILING);
	event.rank = rank;
	event.outcome = outcome;
	event.part = MORPH_PART_ACCELERATOR;
	event.index = accelerator;
	morph_event_fill_old(&event, slice->fabric, accelerator);
	morph_report_event(slice, &event);
}

/* Replace the accelerators of the ranks at the publication of their light. */
static void failover_published(struct morph_txn *txn, struct morph_repair_job *job)
{
	struct failover *failover = container_of(job, struct failover, job);
	struct morph_slice *slice = failover->slice;
	struct morph_fabric *fabric = slice->fabric;
	struct morph_culprit culprit = { .part = MORPH_PART_ACCELERATOR };
	u32 i, old;

	failover->published_ns = ktime_get_ns();
	for (i = 0; i < failover->count; i++) {
		struct morph_rank *entry = &slice->ranks[failover->ranks[i]];
		struct morph_rank_recovery *requested = rank_recovery(slice, failover->ranks[i]);

		if (failover->spares[i] == MORPH_ANY)
			continue;
		old = entry->accelerator;
		swap(entry->accelerator, failover->spares[i]);
		/*
		 * Swap the roles: the old accelerator becomes the spare once it is healthy again.
		 */
		swap(ledger_of(fabric)->chips[old].spare,
		     ledger_of(fabric)->chips[entry->accelerator].spare);
		swap(ledger_of(fabric)->chips[old].lent,
		     ledger_of(fabric)->chips[entry->accelerator].lent);
		morph_chip_update(fabric, entry->accelerator);
		/* A user asked for the replacement, so the old accelerator must pass a test. */
		culprit.index = old;
		if (ledger_of(fabric)->chips[old].health == MORPH_HEALTH_OK)
			morph_health_set(fabric, &culprit, MORPH_HEALTH_QUARANTINED, 0);
		morph_chip_let_go(fabric, old);
		morph_reclaim_published(slice, failover->ranks[i], old);
		entry->replacements++;
		entry->failed = false;
		requested->forced = false;
		requested->wanted_spare = MORPH_ANY;
		rank_protection(slice, failover->ranks[i])->preferred = MORPH_ANY;
		/* The rank may have no circuit, and its spares may be on another host now. */
		morph_protection_touch_rank(slice, failover->ranks[i]);
		morph_stat(fabric, MORPH_STAT_FAILOVERS);
	}
}

static void report_replaced(struct failover *failover, u32 rank, u32 old)
{
	struct morph_times *times = &failover->txn->session.times;
	struct morph_slice *slice = failover->slice;
	struct morph_fabric *fabric = slice->fabric;
	u32 new = slice->ranks[rank].accelerator;
	struct morph_event event;

	morph_event_init(&event, slice, MORPH_EVENT_REPLACED);
	event.rank = rank;
	event.dark_ns = morph_txn_longest_dark(failover->txn);
	morph_event_fill_old(&event, fabric, old);
	morph_event_fill_new(&event, fabric, new);
	times->phase_ns[MORPH_PHASE_NOTIFY] = ktime_get_ns() - failover->published_ns;
	event.times = *times;
	recovery_of(fabric)->last_replaced = event;
	morph_report_event(slice, &event);
	morph_report_accelerator_changed(fabric, old);
	morph_report_accelerator_changed(fabric, new);
	trace_morph_failover(fabric->id, slice->number, rank, old, new, times);
}

static void failover_announced(struct morph_txn *txn, struct morph_repair_job *job)
{
	struct failover *failover = container_of(job, struct failover, job);
	struct morph_slice *slice = failover->slice;
	struct morph_fabric *fabric = slice->fabric;
	u32 i;

	for (i = 0; i < failover->count; i++) {
		struct morph_rank *entry = &slice->ranks[failover->ranks[i]];

		if (failover->spares[i] == MORPH_ANY)
			continue;
		report_replaced(failover, failover->ranks[i], failover->spares[i]);
		morph_reclaim_announced(slice, failover->ranks[i], failover->spares[i]);
		/* The spare may have failed between its choice and now, when it had no rank. */
		if (ledger_of(fabric)->chips[entry->accelerator].health != MORPH_HEALTH_OK) {
			entry->failed = true;
			morph_repair_kick(slice, 0);
			morph_repair_report_failing(slice, failover->ranks[i],
						    entry->accelerator, MORPH_OUTCOME_NONE);
		}
	}
}

/* ----------------------------------------------------------------- failover */

/* List the ranks to replace: those that have failed, or those that still work. */
static void list_ranks(struct failover *failover, bool failed)
{
	u32 i;

	for (i = 0; i < failover->slice->ranks_count; i++) {
		if (!may_replace(failover->slice, i) ||
		    morph_rank_failed(failover->slice, i) != failed)
			continue;
		failover->spares[failover->count] = MORPH_ANY;
		failover->ranks[failover->count++] = i;
	}
}

/* Begin a failover of all failed ranks that the policy permits to replace. */
static void failover_init(struct failover *failover, struct morph_slice *slice)
{
	failover->slice = slice;
	failover->reserved = slice_tenancy(slice)->own_spare;
	failover->ranks = slice_recovery(slice)->failover_lists;
	failover->spares = failover->ranks + slice->ranks_count;
	failover->skips = failover->spares + slice->ranks_count;
	/* Spares go to the failed ranks first, then to those whose replacement was requested. */
	list_ranks(failover, true);
	list_ranks(failover, false);
}

bool morph_failover_has_spare(struct morph_slice *slice)
{
	u32 i;

	for (i = 0; i < slice->ranks_count; i++)
		if (may_replace(slice, i) &&
		    morph_repair_spare(slice, i, rank_protection(slice, i)->preferred, 0) !=
			    MORPH_ANY)
			return true;
	return false;
}

/* Return whether a protection holds a spare and paths for a failed rank. */
static bool has_protection(struct morph_slice *slice)
{
	u32 i;

	for (i = 0; i < slice->ranks_count; i++)
		if (may_replace(slice, i) && rank_protection(slice, i)->state == MORPH_PLAN_CURRENT)
			return true;
	return false;
}

bool morph_failover_possible(struct morph_slice *slice)
{
	struct failover failover = { .dry = true };
	bool possible;
	u32 i;

	if (has_protection(slice))
		return true;
	morph_slice_enter(slice, true);
	failover_init(&failover, slice);
	possible = !failover_stage(&failover) || failover.blocked;
	if (failover.txn)
		morph_txn_unstage(failover.txn);
	for (i = failover.count; i--;)
		give_back_spare(&failover, failover.spares[i], true);
	morph_repair_free_txn(failover.txn);
	morph_report_searched(slice);
	morph_slice_leave(slice);
	return possible;
}

/*
 * Replace all failed ranks that the policy permits. Return 0, or the error if some were not
 * replaced.
 */
int morph_failover_run(struct morph_slice *slice)
{
	struct morph_fabric *fabric = slice->fabric;
	struct failover failover = {};
	u64 begin = ktime_get_ns();
	u32 i;
	int ret;

	failover_init(&failover, slice);
	if (!failover.count)
		return 0;
	/* If there is no other spare, wait for those that are being tested. */
	do
		ret = failover_stage(&failover);
	while (ret == -ENOSPC && !failover.txn && morph_place_wait(fabric, &ret) &&
	       !slice->dying);
	if (!ret) {
		failover.txn->session.times.phase_ns[MORPH_PHASE_PLAN] = ktime_get_ns() - begin;
		failover.job.published = failover_published;
		failover.job.announced = failover_announced;
		failover.txn->context = &failover.job;
		ret = morph_exec_commit(failover.txn, false);
	}
	if (!ret) {
		morph_reclaim_end(slice);
		for (i = 0; i < failover.count; i++)
			if (failover.spares[i] == MORPH_ANY)
				ret = -ENOSPC;
	} else {
		for (i = 0; i < failover.count; i++)
			give_back_spare(&failover, failover.spares[i], false);
		morph_stat(fabric, MORPH_STAT_FAILOVERS_FAILED);
	}
	morph_repair_free_txn(failover.txn);
	return ret;
}

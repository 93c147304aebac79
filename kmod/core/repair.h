/* SPDX-License-Identifier: GPL-2.0-only */
/* Slices that lost light or an accelerator get it back. */
#ifndef MORPH_CORE_REPAIR_H
#define MORPH_CORE_REPAIR_H

#include "slice.h"
#include "txn.h"

void morph_repair_init(struct morph_slice *slice);
/* A change that moves a circuit elsewhere, between the accelerators that it has now. */
void morph_repair_fill_item(struct morph_item *item, const struct morph_circuit *circuit);
/* A repair's transaction that did not come to pass, or is done. fabric->lock held. */
void morph_repair_free_txn(struct morph_txn *txn);
/* Stage; what others have only prepared gives way. fabric->lock held. */
int morph_repair_stage(struct morph_txn *txn);
void morph_repair_tell_failing(struct morph_slice *slice, u32 rank);
/*
 * Replace all failed ranks that may be: 0, or why some were not. fabric->lock held,
 * dropped while the device works.
 */
int morph_failover_run(struct morph_slice *slice);
u64 morph_txn_longest_dark(const struct morph_txn *txn);

/* Is there no accelerator that would answer? One that somebody wants replaced still does. */
static inline bool morph_rank_failed(const struct morph_slice *slice, u32 rank)
{
	const struct morph_rank *entry = &slice->ranks[rank];

	return !(rank & MORPH_RANK_EDGE) && entry->failed &&
	       slice->fabric->chips[entry->accelerator].health != MORPH_HEALTH_OK;
}

/* Something that the slice uses failed. fabric->lock held. */
void morph_repair_kick(struct morph_slice *slice, u64 since_ns);
/* The owner's report and replacement; wait for the end. Take the locks themselves. */
int morph_repair_report(struct morph_slice *slice, u32 rank, u32 *state, u32 *health,
			struct morph_refusal *refusal);
int morph_repair_replace(struct morph_slice *slice, u32 rank, u32 spare, u32 *state, u32 *health,
			 struct morph_refusal *refusal);
/* The operator's replacement: queued; *txn gets the id of the act. */
int morph_repair_replace_queue(struct morph_slice *slice, u32 rank, u32 spare, u32 *txn,
			       struct morph_refusal *refusal);
/* Which spare is to be tried first for a rank; MORPH_ANY: none before others. */
struct morph_preference {
	u32 rank, spare;
};

/* All of them, or none where one is refused. Takes the lock itself. */
int morph_repair_prefer(struct morph_slice *slice, const struct morph_preference *list, u32 count,
			struct morph_refusal *refusal);
/* How many replacements the owner has asked for in the hour that runs. fabric->lock held. */
u32 morph_repair_replacements(const struct morph_slice *slice);
/* Some hardware became usable again: let degraded slices try once more. fabric->lock held. */
void morph_repair_recover(struct morph_fabric *fabric);
void morph_repair_recover_work(struct work_struct *work);
/* Is a circuit's route free of failed hardware? fabric->lock held. */
bool morph_route_sound(struct morph_fabric *fabric, const struct morph_route *route);

#endif /* MORPH_CORE_REPAIR_H */

// SPDX-License-Identifier: GPL-2.0-only
/* Schedules of a slice: their lifetime, and queries. */
#include <linux/slab.h>

#include "core/base/base.h"
#include "core/ledger/ledger.h"
#include "core/recovery/recovery.h"
#include "core/schedule/schedule.h"
#include "core/slice/slice.h"
#include "core/txn/txn.h"

/* ----------------------------------------------------------------- lifetime */

static void schedule_last_put(struct kref *kref)
{
	struct morph_schedule *schedule = container_of(kref, struct morph_schedule, kref);
	struct morph_slice *slice = schedule->slice;

	morph_user_uncharge(slice->user, MORPH_RES_BYTES, schedule->bytes);
	kvfree(schedule->steps);
	kvfree(schedule->circuits);
	kvfree(schedule->held);
	kvfree(schedule->uses);
	kvfree(schedule->arrived);
	kvfree(schedule->rank_stamps);
	kfree(schedule);
	morph_slice_put(slice);
}

struct morph_schedule *morph_schedule_get(struct morph_schedule *schedule)
{
	kref_get(&schedule->kref);
	return schedule;
}

void morph_schedule_put(struct morph_schedule *schedule)
{
	kref_put(&schedule->kref, schedule_last_put);
}

struct morph_schedule *morph_schedule_next(struct morph_slice *slice, u32 id)
{
	struct morph_schedule *schedule;

	lockdep_assert_held(&slice->fabric->lock);
	/* A schedule that is being loaded has no number yet. */
	list_for_each_entry(schedule, &slice_scheduling(slice)->schedules, node)
		if (schedule->id && schedule->id >= id)
			return morph_schedule_get(schedule);
	return NULL;
}

struct morph_schedule *morph_schedule_find(struct morph_slice *slice, u32 id)
{
	struct morph_schedule *schedule = morph_schedule_next(slice, id);

	if (!schedule || schedule->id == id)
		return schedule;
	morph_schedule_put(schedule);
	return NULL;
}

/* A lit circuit becomes a circuit without schedule; a dark one is freed. */
static void drop_circuit(struct morph_schedule *schedule, struct morph_circuit *circuit)
{
	circuit->scheduled = false;
	circuit_scheduling(circuit)->schedule = NULL;
	if (circuit->listed)
		return;
	if (schedule->lanes_charged) {
		morph_circuit_drop(circuit);
		return;
	}
	/* The load has failed before the slice had the circuit. */
	morph_route_free(circuit->route);
	morph_circuit_free(circuit);
}

void morph_schedule_relock(const struct morph_schedule *schedule)
{
	mutex_unlock(&schedule->slice->fabric->lock);
	cond_resched();
	morph_fabric_lock(schedule->slice->fabric);
}

/* Drop the circuits, the last one first. Free their chunks of memory without fabric->lock. */
static void drop_circuits(struct morph_schedule *schedule)
{
	struct morph_chunk *spent[MORPH_SCHEDULE_DROPS], *chunk;
	struct morph_fabric *fabric = schedule->slice->fabric;
	u32 count = 0;

	while (schedule->circuits_count) {
		struct morph_circuit *circuit = schedule->circuits[--schedule->circuits_count];

		chunk = circuit->chunk;
		if (chunk && (!count || chunk != spent[count - 1])) {
			kref_get(&chunk->kref);
			spent[count++] = chunk;
		}
		drop_circuit(schedule, circuit);
		if (schedule->circuits_count % MORPH_SCHEDULE_DROPS)
			continue;
		mutex_unlock(&fabric->lock);
		while (count)
			morph_chunk_put(spent[--count]);
		cond_resched();
		morph_fabric_lock(fabric);
	}
}

/* The transaction of the steps may have much memory, so free it without fabric->lock. */
static void drop_txn(struct morph_schedule *schedule)
{
	struct morph_fabric *fabric = schedule->slice->fabric;
	struct morph_txn *txn = schedule->txn;

	if (!txn)
		return;
	txn->count = 0;
	morph_txn_uncharge(txn, schedule->slice->user);
	schedule->txn = NULL;
	mutex_unlock(&fabric->lock);
	morph_txn_put(txn);
	morph_fabric_lock(fabric);
}

void morph_schedule_drop(struct morph_schedule *schedule)
{
	lockdep_assert_held(&schedule->slice->fabric->lock);
	morph_schedule_run_stop(schedule);
	morph_schedule_unhold(schedule);
	/* Others must not find a schedule that lacks circuits. */
	list_del_init(&schedule->node);
	drop_circuits(schedule);
	drop_txn(schedule);
	slice_tenancy(schedule->slice)->schedules_count--;
	recovery_of(schedule->slice->fabric)->lost -= schedule->lost;
	ledger_of(schedule->slice->fabric)->light_seq++;
}

void morph_schedule_drop_slice(struct morph_slice *slice)
{
	struct list_head *schedules = &slice_scheduling(slice)->schedules;
	struct morph_fabric *fabric = slice->fabric;

	while (!list_empty(schedules)) {
		struct morph_schedule *schedule =
			list_first_entry(schedules, struct morph_schedule, node);

		morph_schedule_unhold(schedule);
		if (fabric->state == MORPH_FABRIC_READY)
			morph_schedule_park(schedule);
		morph_schedule_drop(schedule);
		mutex_unlock(&fabric->lock);
		morph_schedule_put(schedule);
		morph_fabric_lock(fabric);
	}
}

/* --------------------------------------------------------------------- info */

u32 morph_schedule_lit(const struct morph_schedule *schedule)
{
	u32 lit = 0, i;

	for (i = 0; i < schedule->circuits_count; i++)
		lit += schedule->circuits[i]->listed &&
		       schedule->circuits[i]->state != MORPH_CIRCUIT_FAILED;
	return lit;
}

void morph_schedule_fill_info(struct morph_schedule *schedule, struct morph_schedule_info *info)
{
	lockdep_assert_held(&schedule->slice->fabric->lock);
	info->schedule = schedule->id;
	info->state = schedule->state;
	info->flags = schedule->flags;
	info->step = schedule->step;
	info->position = schedule->position;
	info->error = schedule->error;
	info->failed_step = schedule->failed_step;
	info->circuits = schedule->circuits_count;
	info->lit = morph_schedule_lit(schedule);
	info->moved = schedule->moves;
	info->first_circuit = schedule->first_circuit;
}

void morph_schedule_report(struct morph_schedule *schedule, u32 outcome, u32 step)
{
	struct morph_event event;

	morph_event_init(&event, schedule->slice, MORPH_EVENT_SCHEDULE);
	event.txn = schedule->id;
	event.circuit = step;
	event.outcome = outcome;
	event.part = schedule->txn->refusal.part;
	event.index = schedule->txn->refusal.index;
	event.times = schedule->txn->session.times;
	morph_report_event(schedule->slice, &event);
}

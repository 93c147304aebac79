// SPDX-License-Identifier: GPL-2.0-only
/*
 * One step: a transaction that removes and adds circuits, with all paths known in advance. exec.c
 * programs, verifies, publishes or rolls it back like any other. Its circuits get their claims from
 * the schedule and return them to it.
 */
#include "core/base/base.h"
#include "core/hardware/hardware.h"
#include "core/ledger/ledger.h"
#include "core/recovery/recovery.h"
#include "core/schedule/schedule.h"
#include "core/slice/slice.h"
#include "core/txn/txn.h"

/* Reset all fields except the memory. */
void morph_step_renew(struct morph_txn *txn)
{
	txn->outcome = MORPH_OUTCOME_NONE;
	txn->status = 0;
	txn->refusal.error = 0;
	txn->refusal.part = MORPH_PART_NONE;
	txn->refusal.index = 0;
	txn->refusal.item = MORPH_ANY;
	memset(&txn->session.times, 0, sizeof(txn->session.times));
	txn->session.device_ended_ns = 0;
	txn->seq = 0;
	txn->count = 0;
	txn->verified = false;
}

static struct morph_item *add_item(struct morph_txn *txn, struct morph_circuit *circuit, u32 op)
{
	struct morph_item *item = &txn->items[txn->count++];

	item->change.op = op;
	item->change.circuit = circuit->id;
	item->change.status = 0;
	item->change.dark_ns = 0;
	item->circuit = circuit;
	item->old = NULL;
	item->new = NULL;
	item->seen = false;
	item->broken_first = false;
	item->dead = false;
	item->unlit = false;
	item->dark_since_ns = 0;
	item->alarms = circuit->alarms;
	item->culprit.part = MORPH_PART_NONE;
	circuit_txns(circuit)->pending = txn;
	return item;
}

/* Old circuits are dark before new ones are lit. */
static void add_drop(struct morph_txn *txn, struct morph_circuit *circuit)
{
	struct morph_item *item = add_item(txn, circuit, MORPH_CHANGE_REMOVE);

	item->old = circuit->route;
	item->broken_first = true;
	item->dead = circuit->state == MORPH_CIRCUIT_FAILED || circuit->dark;
}

static void add_light(struct morph_txn *txn, struct morph_circuit *circuit)
{
	struct morph_item *item = add_item(txn, circuit, MORPH_CHANGE_ADD);

	item->new = circuit->route;
	item->new_src = morph_end_place(circuit->slice, circuit->src_rank);
	item->new_dst = morph_end_place(circuit->slice, circuit->dst_rank);
	circuit->dark = false;
	morph_schedule_give(circuit);
}

/* Check for hardware that failed after loading and for which no repair has found another path. */
static int check_healthy(struct morph_schedule *schedule, struct morph_circuit *circuit)
{
	struct morph_slice *slice = schedule->slice;

	if (!circuit_scheduling(circuit)->astray &&
	    morph_route_is_healthy(slice->fabric, circuit->route) &&
	    !slice->ranks[circuit->src_rank].failed && !slice->ranks[circuit->dst_rank].failed)
		return 0;
	return morph_refuse(&schedule->txn->refusal, -EIO, MORPH_REASON_UNUSABLE, 0, 0,
			    "circuit %u needs hardware that has failed", circuit->id);
}

/* A call may need several changes. */
static void add_times(struct morph_times *sum, const struct morph_times *times)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(times->phase_ns); i++)
		sum->phase_ns[i] += times->phase_ns[i];
	sum->provider_ns += times->provider_ns;
	sum->modelled_ns += times->modelled_ns;
}

int morph_schedule_change(struct morph_schedule *schedule, const u32 *drop, u32 drops,
			  const u32 *light, u32 lights)
{
	struct morph_txn *txn = schedule->txn;
	u32 i;
	int ret;

	lockdep_assert_held(&schedule->slice->fabric->lock);
	morph_step_renew(txn);
	for (i = 0; i < lights; i++) {
		ret = check_healthy(schedule, schedule->circuits[light[i]]);
		if (ret)
			return ret;
	}
	for (i = 0; i < drops; i++)
		if (schedule->circuits[drop[i]]->listed)
			add_drop(txn, schedule->circuits[drop[i]]);
	for (i = 0; i < lights; i++)
		if (!schedule->circuits[light[i]]->listed)
			add_light(txn, schedule->circuits[light[i]]);
	if (!txn->count)
		return 0;
	txn->staged = true;
	schedule->changing = true;
	ret = morph_exec_commit(txn, false);
	schedule->changing = false;
	add_times(&schedule->times, &txn->session.times);
	return ret;
}

/* Circuits that were removed, or not added, are dark: the schedule takes back their claims. */
static void end_item(struct morph_item *item, bool published)
{
	struct morph_circuit *circuit = item->circuit;

	circuit_txns(circuit)->pending = NULL;
	item->circuit = NULL;
	if (published && item->old) {
		morph_schedule_take(circuit);
		morph_route_unlist(item->old);
	} else if (!published && item->new) {
		morph_route_unlist(item->new);
	}
	item->old = NULL;
	item->new = NULL;
}

void morph_step_end(struct morph_txn *txn, bool published)
{
	u32 i;

	lockdep_assert_held(&txn->fabric->lock);
	if (!published && txn->count)
		morph_schedule_stand(circuit_scheduling(txn->items[0].circuit)->schedule);
	for (i = 0; i < txn->count; i++)
		end_item(&txn->items[i], published);
	txn->staged = false;
}

/* In parts of the transaction's size, since more circuits may be lit than a step has. */
int morph_schedule_darken(struct morph_schedule *schedule)
{
	u32 room = max(2 * schedule->most, 1u), *list = schedule->stamps, n = 0, i;
	int ret = 0;

	for (i = 0; i < schedule->circuits_count && !ret; i++) {
		if (!schedule->circuits[i]->listed)
			continue;
		list[n++] = i;
		if (n < room)
			continue;
		ret = morph_schedule_change(schedule, list, n, NULL, 0);
		n = 0;
	}
	if (n && !ret)
		ret = morph_schedule_change(schedule, list, n, NULL, 0);
	return ret;
}

/* Park elements without a claim. Caller holds fabric->lock; the function drops it meanwhile. */
void morph_schedule_park(struct morph_schedule *schedule)
{
	struct morph_fabric *fabric = schedule->slice->fabric;
	struct morph_txn *txn = schedule->txn;
	u32 parks = 0, i;

	for (i = 0; i < schedule->circuits_count; i++) {
		const struct morph_route *route = schedule->circuits[i]->route;

		if (i % MORPH_SCHEDULE_DROPS == MORPH_SCHEDULE_DROPS - 1)
			morph_schedule_relock(schedule);
		if (route->role != MORPH_ROUTE_IDLE)
			continue;
		if (parks + route->path.hops_count > txn->settings_room) {
			morph_park_run(fabric, &txn->session, txn->settings, parks);
			parks = 0;
		}
		parks = morph_park_collect(fabric, route, txn->settings, parks);
	}
	morph_park_run(fabric, &txn->session, txn->settings, parks);
	morph_hw_done(txn->fabric, &txn->session);
}

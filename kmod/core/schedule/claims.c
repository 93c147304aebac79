// SPDX-License-Identifier: GPL-2.0-only
/*
 * Claims on resources of a schedule. When a circuit is lit, its route gets claims from the
 * schedule. When it goes dark, the schedule takes them back. During a repair the schedule suspends
 * its own claims.
 */
#include <linux/hash.h>

#include "core/base/base.h"
#include "core/ledger/ledger.h"
#include "core/schedule/schedule.h"
#include "core/slice/slice.h"
#include "core/txn/txn.h"

/* Only in one hold of fabric->lock, in morph_schedule_stand(): a lit circuit uses the element. */
#define MARK_LIVE	0x20u

/* -------------------------------------------------------------------- lanes */

static void lanes_suspend(struct morph_held_lanes *entries, u32 count, u64 *claimed)
{
	u32 i;

	for (i = 0; i < count; i++) {
		claimed[entries[i].index] &= ~entries[i].ours;
		entries[i].ours = 0;
	}
}

/* @all: also the lanes that lit circuits of the schedule claim. */
static void lanes_resume(struct morph_held_lanes *entries, u32 count, u64 *claimed, bool all)
{
	u32 i;

	for (i = 0; i < count; i++) {
		u64 others = all ? 0 : claimed[entries[i].index];

		entries[i].ours = entries[i].lanes & ~others;
		claimed[entries[i].index] |= entries[i].ours;
	}
}

/* ----------------------------------------------------------------- elements */

static void element_suspend(struct morph_fabric *fabric, struct morph_held_element *entry)
{
	if (entry->marked)
		ledger_of(fabric)->state->element_marks[entry->element] &= ~OPTICS_HELD;
	if (entry->pinned)
		morph_park_unguard(fabric, entry->element);
	entry->marked = false;
	entry->pinned = false;
}

/* Return false if another user now needs another state of an element. */
static bool elements_resume(struct morph_fabric *fabric, struct morph_hold *hold)
{
	struct optics_state *ledger = ledger_of(fabric)->state;
	bool all = true;
	u32 i;

	for (i = 0; i < hold->elements_count; i++) {
		struct morph_held_element *entry = &hold->elements[i];
		u32 element = entry->element;
		u8 *marks = &ledger->element_marks[element];

		if (!ledger->element_pins[element])
			optics_set_state(ledger, element, entry->alone ?
					 morph_hw_state(fabric, element) : entry->state);
		entry->pinned = entry->alone || ledger->element_state[element] == entry->state;
		if (entry->pinned)
			ledger->element_pins[element]++;
		all &= entry->pinned;
		entry->marked = entry->alone && !(*marks & OPTICS_HELD);
		if (entry->marked)
			*marks |= OPTICS_HELD;
	}
	return all;
}

/* ------------------------------------------------------------------- repair */

/* From now on only lit circuits have claims. Caller holds fabric->lock. */
void morph_schedule_hold_suspend(struct morph_schedule *schedule)
{
	struct morph_fabric *fabric = schedule->slice->fabric;
	struct optics_state *ledger = ledger_of(fabric)->state;
	struct morph_hold *hold = &schedule->hold;
	u32 i, h;

	lockdep_assert_held(&fabric->lock);
	lanes_suspend(hold->guides, hold->guides_count, ledger->guide_lanes);
	lanes_suspend(hold->tx, hold->tx_count, ledger->tx_lanes);
	lanes_suspend(hold->rx, hold->rx_count, ledger->rx_lanes);
	for (i = 0; i < hold->elements_count; i++)
		element_suspend(fabric, &hold->elements[i]);
	for (i = 0; i < schedule->circuits_count; i++) {
		const struct morph_route *route = schedule->circuits[i]->route;

		if (!route || route->role != MORPH_ROUTE_LIVE)
			continue;
		ledger->tx_lanes[route->path.tx] |= route->path.lanes;
		ledger->rx_lanes[route->path.rx] |= route->path.lanes;
		for (h = 0; h < route->path.hops_count; h++)
			ledger->guide_lanes[route->hops[h].guide >> 1] |= route->path.lanes;
	}
}

static void hold_resume(struct morph_schedule *schedule, bool all)
{
	struct morph_fabric *fabric = schedule->slice->fabric;
	struct optics_state *ledger = ledger_of(fabric)->state;
	struct morph_hold *hold = &schedule->hold;

	lanes_resume(hold->guides, hold->guides_count, ledger->guide_lanes, all);
	lanes_resume(hold->tx, hold->tx_count, ledger->tx_lanes, all);
	lanes_resume(hold->rx, hold->rx_count, ledger->rx_lanes, all);
	ledger_of(fabric)->marks_seq++;
	/*
	 * During the repair, another path may have joined a turned element, even if the repair
	 * failed.
	 */
	if (!elements_resume(fabric, hold))
		schedule->crossed = true;
}

/* The repair has not moved the circuits. Caller holds fabric->lock. */
void morph_schedule_hold_restore(struct morph_schedule *schedule)
{
	morph_schedule_hold_suspend(schedule);
	hold_resume(schedule, true);
}

void morph_schedule_hold_all(struct morph_slice *slice)
{
	struct morph_schedule *schedule;

	list_for_each_entry(schedule, &slice_scheduling(slice)->schedules, node) {
		if (!schedule->hold.taken)
			continue;
		/* Only the paths of the search, which are gone, may have crossed its elements. */
		schedule->crossed = false;
		morph_schedule_hold_restore(schedule);
	}
}

void morph_schedule_suspend(struct morph_slice *slice)
{
	struct morph_schedule *schedule;

	list_for_each_entry(schedule, &slice_scheduling(slice)->schedules, node)
		if (schedule->hold.taken)
			morph_schedule_hold_suspend(schedule);
}

void morph_schedule_resume(struct morph_slice *slice)
{
	struct morph_schedule *schedule;

	list_for_each_entry(schedule, &slice_scheduling(slice)->schedules, node)
		if (schedule->hold.taken)
			hold_resume(schedule, false);
}

/* --------------------------------------------------------------- one circuit */

/*
 * Record a new state of an element, and update stance. Only the states change: the schedule holds
 * the lanes in all its steps. Caller holds fabric->lock.
 */
static void turn(struct morph_schedule *schedule, struct morph_ledger *ledger, u32 element,
		 u8 state)
{
	u64 factor = (element ^ schedule->dice) * GOLDEN_RATIO_64, change;

	factor = (factor ^ factor >> 32) * GOLDEN_RATIO_64;
	change = factor * ((u64)state - ledger->state->element_state[element]);
	schedule->stance += change;
	ledger->light_hash += change;
	optics_set_state(ledger->state, element, state);
}

void morph_schedule_give(struct morph_circuit *circuit)
{
	struct morph_schedule *schedule = circuit_scheduling(circuit)->schedule;
	struct morph_fabric *fabric = circuit->slice->fabric;
	struct morph_ledger *ledger = ledger_of(fabric);
	struct morph_route *route = circuit->route;
	const struct optics_hop *hop = route->hops, *end = hop + route->path.hops_count;
	const u8 *states = ledger->state->element_state;
	u32 *pins = ledger->state->element_pins;

	lockdep_assert_held(&fabric->lock);
	if (!schedule->hold.taken) {
		morph_route_reclaim(fabric, route);
		return;
	}
	for (; hop < end; hop++) {
		if (hop->element == OPTICS_NONE)
			continue;
		if (states[hop->element] != hop->state)
			turn(schedule, ledger, hop->element, hop->state);
		pins[hop->element]++;
	}
	route->role = MORPH_ROUTE_LIVE;
}

void morph_schedule_take(struct morph_circuit *circuit)
{
	struct morph_schedule *schedule = circuit_scheduling(circuit)->schedule;
	struct morph_fabric *fabric = circuit->slice->fabric;
	struct morph_route *route = circuit->route;
	const struct optics_hop *hop = route->hops, *end = hop + route->path.hops_count;
	u32 *pins = ledger_of(fabric)->state->element_pins;

	lockdep_assert_held(&fabric->lock);
	if (!schedule->hold.taken) {
		morph_route_release(fabric, route);
		return;
	}
	for (; hop < end; hop++)
		if (hop->element != OPTICS_NONE)
			pins[hop->element]--;
	route->role = MORPH_ROUTE_IDLE;
}

static void mark_live(struct morph_slice *slice, bool on)
{
	u8 *marks = ledger_of(slice->fabric)->state->element_marks;
	struct morph_schedule *schedule;
	u32 i, h;

	list_for_each_entry(schedule, &slice_scheduling(slice)->schedules, node)
		for (i = 0; i < schedule->circuits_count; i++) {
			const struct morph_route *route = schedule->circuits[i]->route;

			if (!route || route->role != MORPH_ROUTE_LIVE)
				continue;
			for (h = 0; h < route->path.hops_count; h++) {
				u32 element = route->hops[h].element;

				if (element == OPTICS_NONE)
					continue;
				if (on)
					marks[element] |= MARK_LIVE;
				else
					marks[element] &= ~MARK_LIVE;
			}
		}
}

/*
 * An element that did not turn may still turn late. The ledger already has the state of the failed
 * step, so neither a review nor the next step would find a difference. Set the ledger to the
 * hardware's state.
 */
void morph_schedule_stand(struct morph_schedule *schedule)
{
	struct morph_fabric *fabric = schedule->slice->fabric;
	struct optics_state *ledger = ledger_of(fabric)->state;
	struct morph_txn *txn = schedule->txn;
	u32 i, h;

	lockdep_assert_held(&fabric->lock);
	if (!schedule->hold.taken)
		return;
	mark_live(schedule->slice, true);
	for (i = 0; i < txn->count; i++) {
		const struct morph_route *route = txn->items[i].new;

		for (h = 0; route && h < route->path.hops_count; h++) {
			u32 element = route->hops[h].element;

			if (element == OPTICS_NONE ||
			    (ledger->element_marks[element] & (OPTICS_HELD | MARK_LIVE)) !=
			    OPTICS_HELD)
				continue;
			if (ledger->element_state[element] !=
			    morph_hw_state(fabric, element))
				turn(schedule, ledger_of(fabric), element,
				     morph_hw_state(fabric, element));
		}
	}
	mark_live(schedule->slice, false);
}

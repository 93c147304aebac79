// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a schedule holds in the ledger, so that no step fails for want of it: all lanes of all of
 * its circuits, and their elements. One that has the same state in all steps is pinned in it, and
 * others may join; one that has several is the slice's alone.
 *
 * While a circuit is lit its route has claims of its own on the same lanes. Outside of repairs
 * the schedule has them all the same: so light that comes and goes leaves the ledger's lanes as
 * they are. A repair moves lit circuits as it moves others. Then the schedule holds what they
 * have left of it, and is mended at the end.
 */
#include <linux/hash.h>
#include <linux/slab.h>

#include "core/base/base.h"
#include "core/ledger/ledger.h"
#include "core/schedule/schedule.h"
#include "core/slice/slice.h"
#include "core/txn/txn.h"

/*
 * In one hold of fabric->lock: the element has its entry in the hold that is being made, or is
 * crossed by what is lit.
 */
#define MARK_ENTERED	0x20u

/* -------------------------------------------------------------------- lanes */

/* Those that no entry before this one has. */
static void enter_lanes(struct morph_held_lanes *entries, u32 *count, u64 *claimed, u32 index,
			u64 lanes)
{
	lanes &= ~claimed[index];
	if (!lanes)
		return;
	claimed[index] |= lanes;
	entries[(*count)++] = (struct morph_held_lanes){ index, lanes, lanes };
}

static void lanes_suspend(struct morph_held_lanes *entries, u32 count, u64 *claimed)
{
	u32 i;

	for (i = 0; i < count; i++) {
		claimed[entries[i].index] &= ~entries[i].ours;
		entries[i].ours = 0;
	}
}

/* @all: what lit circuits of the schedule claim, too. */
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

/* After a sweep: nobody has it in another state, but perhaps a circuit that was entered. */
static int enter_element(struct morph_fabric *fabric, struct morph_hold *hold,
			 const struct optics_hop *hop, struct morph_refusal *refusal)
{
	struct optics_state *ledger = ledger_of(fabric)->state;
	u8 *marks = &ledger->element_marks[hop->element];

	if (!(*marks & MARK_ENTERED)) {
		hold->elements[hold->elements_count++] = (struct morph_held_element){
			.element = hop->element,
			.state = hop->state,
			.pinned = true,
		};
		ledger->element_pins[hop->element]++;
		optics_set_state(ledger, hop->element, hop->state);
		*marks |= MARK_ENTERED;
		return 0;
	}
	if (ledger->element_state[hop->element] == hop->state)
		return 0;
	if (ledger->element_pins[hop->element] > 1)
		return morph_refuse(refusal, -EBUSY, MORPH_REASON_ELEMENT_PINNED,
				    MORPH_PART_ELEMENT, hop->element,
				    "element %u has several states in the steps, and is used by others",
				    hop->element);
	*marks |= OPTICS_HELD;
	return 0;
}

/* All have been entered: those with several states are as they really are. */
static void settle_elements(struct morph_fabric *fabric, struct morph_hold *hold)
{
	u32 i;

	for (i = 0; i < hold->elements_count; i++) {
		struct morph_held_element *entry = &hold->elements[i];
		u8 *marks = &ledger_of(fabric)->state->element_marks[entry->element];

		*marks &= ~MARK_ENTERED;
		entry->alone = *marks & OPTICS_HELD;
		entry->marked = entry->alone;
		if (entry->alone)
			optics_set_state(ledger_of(fabric)->state, entry->element,
					 hardware_of(fabric)->hw_state[entry->element]);
	}
}

static void elements_suspend(struct morph_fabric *fabric, struct morph_hold *hold)
{
	struct optics_state *ledger = ledger_of(fabric)->state;
	u32 i;

	for (i = 0; i < hold->elements_count; i++) {
		struct morph_held_element *entry = &hold->elements[i];

		if (entry->marked)
			ledger->element_marks[entry->element] &= ~OPTICS_HELD;
		if (entry->pinned)
			morph_park_unguard(fabric, entry->element);
		entry->marked = false;
		entry->pinned = false;
	}
}

/* False: others have one of them in another state meanwhile. */
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
					 hardware_of(fabric)->hw_state[element] : entry->state);
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

/* --------------------------------------------------------------------- hold */

static void hold_free(struct morph_schedule *schedule)
{
	struct morph_hold *hold = &schedule->hold;

	kvfree(hold->guides);
	kvfree(hold->tx);
	kvfree(hold->rx);
	kvfree(hold->elements);
	morph_user_uncharge(schedule->slice->user, MORPH_RES_BYTES, hold->bytes);
	*hold = (struct morph_hold){};
}

/* Room for as many entries as there can be, and no more: each guide has its lanes. */
static int hold_alloc(struct morph_schedule *schedule, gfp_t gfp, struct morph_refusal *refusal)
{
	const struct optics_graph *graph = schedule->slice->fabric->graph;
	struct morph_hold *hold = &schedule->hold;
	u32 count = schedule->circuits_count, i;
	size_t hops = 0, guides, elements;
	int ret = 0;

	for (i = 0; i < count; i++)
		hops += schedule->circuits[i]->route->path.hops_count;
	guides = min_t(size_t, hops, array_size(graph->guides_count, graph->params.wavelengths));
	elements = min_t(size_t, hops, graph->elements_count);
	count = min_t(size_t, count, array_size(graph->ports_count, graph->params.wavelengths));
	hold->bytes = size_add(array_size(guides + 2 * (size_t)count, sizeof(*hold->guides)),
			       array_size(elements, sizeof(*hold->elements)));
	if (refusal)
		ret = morph_user_charge(schedule->slice->user, MORPH_RES_BYTES, hold->bytes,
					refusal);
	else
		morph_user_charge_anyway(schedule->slice->user, MORPH_RES_BYTES, hold->bytes);
	if (ret) {
		hold->bytes = 0;
		return ret;
	}
	hold->guides = kvmalloc_array(guides, sizeof(*hold->guides), gfp);
	hold->tx = kvmalloc_array(count, sizeof(*hold->tx), gfp);
	hold->rx = kvmalloc_array(count, sizeof(*hold->rx), gfp);
	hold->elements = kvmalloc_array(elements, sizeof(*hold->elements), gfp);
	if (hold->guides && hold->tx && hold->rx && hold->elements)
		return 0;
	hold_free(schedule);
	return -ENOMEM;
}

static int enter_route(struct morph_schedule *schedule, const struct morph_route *route,
		       struct morph_refusal *refusal)
{
	struct morph_fabric *fabric = schedule->slice->fabric;
	struct optics_state *ledger = ledger_of(fabric)->state;
	const struct optics_path *path = &route->path;
	struct morph_hold *hold = &schedule->hold;
	u32 h;
	int ret = 0;

	enter_lanes(hold->tx, &hold->tx_count, ledger->tx_lanes, path->tx, path->lanes);
	enter_lanes(hold->rx, &hold->rx_count, ledger->rx_lanes, path->rx, path->lanes);
	for (h = 0; h < path->hops_count && !ret; h++) {
		enter_lanes(hold->guides, &hold->guides_count, ledger->guide_lanes,
			    path->hops[h].guide >> 1, path->lanes);
		if (path->hops[h].element != OPTICS_NONE)
			ret = enter_element(fabric, hold, &path->hops[h], refusal);
	}
	return ret;
}

/**
 * morph_schedule_hold() - hold what all circuits of a schedule need
 * @schedule: has paths for all, of which a sweep has found that each step has room for its own
 * @gfp: how to get memory
 * @refusal: filled on failure; NULL: memory is charged past the limit too
 *
 * None of its circuits claims anything: those that are lit are given their claims afterwards.
 * O(circuits * path). Protections that count on any of it are made anew.
 *
 * Context: fabric->lock held.
 * Return: 0, -EBUSY (others use an element that has several states), -EDQUOT or -ENOMEM.
 */
int morph_schedule_hold(struct morph_schedule *schedule, gfp_t gfp, struct morph_refusal *refusal)
{
	struct morph_fabric *fabric = schedule->slice->fabric;
	struct morph_hold *hold = &schedule->hold;
	u32 i;
	int ret;

	lockdep_assert_held(&fabric->lock);
	ret = hold_alloc(schedule, gfp, refusal);
	if (ret)
		return ret;
	for (i = 0; i < schedule->circuits_count && !ret; i++)
		ret = enter_route(schedule, schedule->circuits[i]->route, refusal);
	settle_elements(fabric, hold);
	hold->taken = true;
	if (ret) {
		morph_schedule_unhold(schedule);
		return ret;
	}
	for (i = 0; i < hold->guides_count; i++)
		morph_protection_touch_guide(fabric, hold->guides[i].index);
	ledger_of(fabric)->light_seq++;
	schedule->own_light++;
	return 0;
}

/* What is lit claims its own from now on. fabric->lock held. */
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
	elements_suspend(fabric, hold);
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
	/* Even if the repair is undone: somebody else may have joined what it had turned. */
	if (!elements_resume(fabric, hold))
		schedule->crossed = true;
}

/* The repair has left its circuits where they were. fabric->lock held. */
void morph_schedule_hold_restore(struct morph_schedule *schedule)
{
	morph_schedule_hold_suspend(schedule);
	hold_resume(schedule, true);
}

void morph_schedule_unhold(struct morph_schedule *schedule)
{
	if (!schedule->hold.taken)
		return;
	morph_schedule_hold_suspend(schedule);
	hold_free(schedule);
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

/* The state of an element is another one. fabric->lock held. */
static void turn(struct morph_schedule *schedule, u32 element, u8 state)
{
	struct optics_state *ledger = ledger_of(schedule->slice->fabric)->state;
	u64 factor = (element ^ schedule->dice) * GOLDEN_RATIO_64;

	factor = (factor ^ factor >> 32) * GOLDEN_RATIO_64;
	schedule->stance += factor * ((u64)state - ledger->element_state[element]);
	optics_set_state(ledger, element, state);
}

void morph_schedule_give(struct morph_circuit *circuit)
{
	struct morph_schedule *schedule = circuit_scheduling(circuit)->schedule;
	struct morph_fabric *fabric = circuit->slice->fabric;
	struct morph_route *route = circuit->route;
	u32 h;

	lockdep_assert_held(&fabric->lock);
	if (!schedule->hold.taken) {
		morph_route_reclaim(fabric, route);
		return;
	}
	for (h = 0; h < route->path.hops_count; h++) {
		u32 element = route->hops[h].element;

		if (element == OPTICS_NONE)
			continue;
		if (ledger_of(fabric)->state->element_state[element] != route->hops[h].state)
			turn(schedule, element, route->hops[h].state);
		ledger_of(fabric)->state->element_pins[element]++;
	}
	route->role = MORPH_ROUTE_LIVE;
	ledger_of(fabric)->light_seq++;
	schedule->own_light++;
}

void morph_schedule_take(struct morph_circuit *circuit)
{
	struct morph_schedule *schedule = circuit_scheduling(circuit)->schedule;
	struct morph_fabric *fabric = circuit->slice->fabric;
	struct morph_route *route = circuit->route;
	u32 h;

	lockdep_assert_held(&fabric->lock);
	if (!schedule->hold.taken) {
		morph_route_release(fabric, route);
		return;
	}
	for (h = 0; h < route->path.hops_count; h++)
		if (route->hops[h].element != OPTICS_NONE)
			ledger_of(fabric)->state->element_pins[route->hops[h].element]--;
	route->role = MORPH_ROUTE_IDLE;
	ledger_of(fabric)->light_seq++;
	schedule->own_light++;
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
					marks[element] |= MARK_ENTERED;
				else
					marks[element] &= ~MARK_ENTERED;
			}
		}
}

/*
 * An element that failed to turn may do so late. To the ledger it stood as the step wanted it:
 * neither a review nor who turns it next would find it wrong.
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
			    (ledger->element_marks[element] & (OPTICS_HELD | MARK_ENTERED)) !=
			    OPTICS_HELD)
				continue;
			if (ledger->element_state[element] !=
			    hardware_of(fabric)->hw_state[element])
				turn(schedule, element, hardware_of(fabric)->hw_state[element]);
		}
	}
	mark_live(schedule->slice, false);
}

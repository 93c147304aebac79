// SPDX-License-Identifier: GPL-2.0-only
/*
 * Resources that a schedule holds in the ledger, so that no step fails for lack of them: the lanes
 * and elements of all its circuits. An element with the same state in all steps is pinned, and
 * other paths may join it. An element with several states is exclusive to the slice.
 *
 * The route of a lit circuit has its own claims on the same lanes. Except during repairs, the
 * schedule holds these lanes too, so the ledger's lanes do not change when circuits go on and off.
 * A repair moves lit circuits like any others. During the repair the schedule holds only the free
 * part, and morph_schedule_mend() completes it at the end; morph_schedule_hold_all() does so after
 * the search for a possible repair.
 */
#include <linux/hash.h>
#include <linux/slab.h>

#include "core/base/base.h"
#include "core/ledger/ledger.h"
#include "core/schedule/schedule.h"
#include "core/slice/slice.h"
#include "core/txn/txn.h"

/*
 * Only within one hold of fabric->lock. During morph_schedule_hold(): the element has an entry.
 * During morph_schedule_stand(): a lit circuit uses the element.
 */
#define MARK_ENTERED	0x20u

/* -------------------------------------------------------------------- lanes */

/* Add an entry for lanes that are in no earlier entry. */
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

/* List the lanes by guide, for those who ask which slice holds lanes of a guide. */
static void list_lanes(struct morph_schedule *schedule)
{
	struct hlist_head *lists = ledger_of(schedule->slice->fabric)->guide_holds;
	struct morph_hold *hold = &schedule->hold;
	u32 i;

	for (i = 0; i < hold->guides_count; i++) {
		hold->listed[i].slice = schedule->slice;
		hold->listed[i].lanes = hold->guides[i].lanes;
		hlist_add_head(&hold->listed[i].node, &lists[hold->guides[i].index]);
	}
}

static void unlist_lanes(struct morph_hold *hold)
{
	u32 i;

	for (i = 0; i < hold->guides_count; i++)
		hlist_del(&hold->listed[i].node);
}

/* ----------------------------------------------------------------- elements */

/* The sweep has found no conflicting users, so another state comes from an earlier entry. */
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
				    "the steps need several states of element %u, and other circuits use it",
				    hop->element);
	*marks |= OPTICS_HELD;
	return 0;
}

/* All elements have entries. Set those with several states to their state in hardware. */
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
	kvfree(hold->listed);
	kvfree(hold->tx);
	kvfree(hold->rx);
	kvfree(hold->elements);
	morph_user_uncharge(schedule->slice->user, MORPH_RES_BYTES, hold->bytes);
	*hold = (struct morph_hold){};
}

/* Allocate entries for the largest possible number; lanes bound them at each guide. */
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
	hold->bytes = size_add(hold->bytes, array_size(guides, sizeof(*hold->listed)));
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
	hold->listed = kvmalloc_array(guides, sizeof(*hold->listed), gfp);
	hold->tx = kvmalloc_array(count, sizeof(*hold->tx), gfp);
	hold->rx = kvmalloc_array(count, sizeof(*hold->rx), gfp);
	hold->elements = kvmalloc_array(elements, sizeof(*hold->elements), gfp);
	if (hold->guides && hold->listed && hold->tx && hold->rx && hold->elements)
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
 * morph_schedule_hold() - hold the resources of all circuits of a schedule
 * @schedule: all circuits have paths, and a sweep has checked each step
 * @gfp: flags for allocations
 * @refusal: filled on failure; NULL: charge memory beyond the limit if necessary
 *
 * No circuit may have claims; the caller gives lit circuits their claims afterwards. Protections
 * that use any of the resources are rebuilt. O(circuits * path).
 *
 * Context: fabric->lock held.
 * Return: 0, -EBUSY (another path uses an element with several states), -EDQUOT or -ENOMEM.
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
	list_lanes(schedule);
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

/*
 * The hardware keeps the states of elements that no one holds any more. The caller may not wait for
 * the device, so a worker parks those that are not held again.
 */
void morph_schedule_unhold(struct morph_schedule *schedule)
{
	struct morph_fabric *fabric = schedule->slice->fabric;
	const struct morph_hold *hold = &schedule->hold;
	u32 i;

	if (!hold->taken)
		return;
	morph_schedule_hold_suspend(schedule);
	unlist_lanes(&schedule->hold);
	for (i = 0; i < hold->elements_count; i++)
		morph_park_later(fabric, hold->elements[i].element);
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
					marks[element] |= MARK_ENTERED;
				else
					marks[element] &= ~MARK_ENTERED;
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
			    (ledger->element_marks[element] & (OPTICS_HELD | MARK_ENTERED)) !=
			    OPTICS_HELD)
				continue;
			if (ledger->element_state[element] !=
			    hardware_of(fabric)->hw_state[element])
				turn(schedule, ledger_of(fabric), element,
				     hardware_of(fabric)->hw_state[element]);
		}
	}
	mark_live(schedule->slice, false);
}

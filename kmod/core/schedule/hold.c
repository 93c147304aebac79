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

/* ------------------------------------------------------------------- memory */

static void hold_free(struct morph_schedule *schedule)
{
	struct morph_hold *hold = &schedule->hold;

	kvfree(hold->guides);
	morph_user_uncharge(schedule->slice->user, MORPH_RES_BYTES, hold->bytes);
	*hold = (struct morph_hold){};
}

/* To free much memory takes long, so other threads may take fabric->lock meanwhile. */
static void hold_free_unlocked(struct morph_schedule *schedule)
{
	struct morph_fabric *fabric = schedule->slice->fabric;
	struct morph_hold hold = schedule->hold;

	schedule->hold = (struct morph_hold){};
	mutex_unlock(&fabric->lock);
	kvfree(hold.guides);
	morph_user_uncharge(schedule->slice->user, MORPH_RES_BYTES, hold.bytes);
	cond_resched();
	morph_fabric_lock(fabric);
	schedule->work = 0;
}

int morph_schedule_hold_alloc(struct morph_schedule *schedule, u32 guides, u32 elements, u32 ports,
			      gfp_t gfp, struct morph_refusal *refusal)
{
	struct morph_hold *hold = &schedule->hold;
	int ret = 0;

	hold->bytes = size_add(array_size(guides, sizeof(*hold->guides) + sizeof(*hold->listed)),
			       array_size(ports, sizeof(*hold->tx) + sizeof(*hold->rx)));
	hold->bytes = size_add(hold->bytes, array_size(elements, sizeof(*hold->elements)));
	if (refusal)
		ret = morph_user_charge(schedule->slice->user, MORPH_RES_BYTES, hold->bytes,
					refusal);
	else
		morph_user_charge_anyway(schedule->slice->user, MORPH_RES_BYTES, hold->bytes);
	if (ret) {
		hold->bytes = 0;
		return ret;
	}
	hold->guides = kvmalloc(hold->bytes, gfp);
	if (!hold->guides) {
		hold_free(schedule);
		return -ENOMEM;
	}
	hold->tx = hold->guides + guides;
	hold->rx = hold->tx + ports;
	hold->listed = (void *)(hold->rx + ports);
	hold->elements = (void *)(hold->listed + guides);
	return 0;
}

/* --------------------------------------------------------------------- hold */

/* A resource that the schedule cannot get. */
struct conflict {
	u32 reason, part, index;	/* enum optics_reason, enum morph_part */
	u64 taken;			/* lanes; of an element: any state */
	u8 state;			/* of an element */
};

static int conflicts(struct conflict *conflict, u32 reason, u32 part, u32 index, u64 taken)
{
	*conflict = (struct conflict){
		.reason = reason, .part = part, .index = index, .taken = taken,
	};
	return optics_reason_errno(reason);
}

/* The ledger has changed. With @pause, let other threads take fabric->lock if it is time. */
static int hold_next(struct morph_schedule *schedule, bool pause, struct morph_refusal *refusal)
{
	if (!pause || schedule->work < MORPH_SCHEDULE_MOST_WORK)
		return 0;
	ledger_of(schedule->slice->fabric)->light_seq++;
	schedule->own_light++;
	return morph_schedule_yield(schedule, refusal);
}

/* The lanes are also listed by guide, for those who ask which slice holds lanes of a guide. */
static int hold_guide(struct morph_schedule *schedule, u32 number, struct conflict *conflict)
{
	struct morph_fabric *fabric = schedule->slice->fabric;
	struct morph_held_lanes *entry = &schedule->hold.guides[number];
	struct morph_lanes_held *listed = &schedule->hold.listed[number];
	struct optics_state *ledger = ledger_of(fabric)->state;
	u32 guide = entry->index;
	u64 taken = optics_guide_taken(ledger, guide);

	if (ledger->guide_marks[guide] & ~ledger->tolerated)
		return conflicts(conflict, OPTICS_UNUSABLE, OPTICS_PART_GUIDE, guide, ~0ULL);
	if (taken & entry->lanes)
		return conflicts(conflict, OPTICS_LANES, OPTICS_PART_GUIDE, guide, taken);
	entry->ours = entry->lanes;
	ledger->guide_lanes[guide] |= entry->ours;
	listed->slice = schedule->slice;
	listed->lanes = entry->lanes;
	hlist_add_head(&listed->node, &ledger_of(fabric)->guide_holds[guide]);
	morph_protection_touch_guide(fabric, guide);
	schedule->work += 2 * MORPH_HOP_WORK;
	return 0;
}

static int hold_port(struct morph_schedule *schedule, struct morph_held_lanes *entry, bool tx,
		     struct conflict *conflict)
{
	struct optics_state *ledger = ledger_of(schedule->slice->fabric)->state;
	u64 *lanes = tx ? &ledger->tx_lanes[entry->index] : &ledger->rx_lanes[entry->index];
	u64 dead = tx ? ledger->tx_dead[entry->index] : ledger->rx_dead[entry->index];
	u32 part = tx ? OPTICS_PART_LASER : OPTICS_PART_RECEIVER;

	if (dead & entry->lanes)
		return conflicts(conflict, OPTICS_UNUSABLE, part, entry->index, dead);
	if (*lanes & entry->lanes)
		return conflicts(conflict, OPTICS_PORT_BUSY, part, entry->index, *lanes);
	entry->ours = entry->lanes;
	*lanes |= entry->ours;
	schedule->work += MORPH_HOP_WORK;
	return 0;
}

/*
 * Pin an element. One with several states keeps its state in hardware, and no other path may join
 * it.
 */
static int hold_element(struct morph_schedule *schedule, struct morph_held_element *entry,
			struct conflict *conflict)
{
	struct morph_fabric *fabric = schedule->slice->fabric;
	struct optics_state *ledger = ledger_of(fabric)->state;
	u32 element = entry->element;
	u8 *marks = &ledger->element_marks[element];
	u8 state = ledger->element_state[element];
	bool used = ledger->element_pins[element];

	if (*marks & ~(OPTICS_HELD | ledger->tolerated))
		return conflicts(conflict, OPTICS_UNUSABLE, OPTICS_PART_ELEMENT, element, ~0ULL);
	if (*marks & OPTICS_HELD || (used && (entry->alone || state != entry->state))) {
		conflict->state = state;
		return conflicts(conflict, OPTICS_ELEMENT_PINNED, OPTICS_PART_ELEMENT, element,
				 *marks & OPTICS_HELD ? ~0ULL : 0);
	}
	ledger->element_pins[element]++;
	entry->pinned = true;
	entry->marked = entry->alone;
	if (entry->alone)
		*marks |= OPTICS_HELD;
	optics_set_state(ledger, element, entry->alone ?
			 morph_hw_state(fabric, element) : entry->state);
	schedule->work += MORPH_HOP_WORK;
	return 0;
}

static int hold_all(struct morph_schedule *schedule, bool pause, struct conflict *conflict,
		    struct morph_refusal *refusal)
{
	struct morph_hold *hold = &schedule->hold;
	u32 i;
	int ret = 0;

	for (i = 0; i < hold->tx_count && !ret; i++) {
		ret = hold_port(schedule, &hold->tx[i], true, conflict);
		if (!ret)
			ret = hold_next(schedule, pause, refusal);
	}
	for (i = 0; i < hold->rx_count && !ret; i++) {
		ret = hold_port(schedule, &hold->rx[i], false, conflict);
		if (!ret)
			ret = hold_next(schedule, pause, refusal);
	}
	for (i = 0; i < hold->guides_count && !ret; i++) {
		ret = hold_guide(schedule, i, conflict);
		if (!ret)
			ret = hold_next(schedule, pause, refusal);
	}
	for (i = 0; i < hold->elements_count && !ret; i++) {
		ret = hold_element(schedule, &hold->elements[i], conflict);
		if (!ret)
			ret = hold_next(schedule, pause, refusal);
	}
	return ret;
}

/* Whether a path uses a resource that the schedule cannot get. */
static bool meets(const struct optics_path *path, const struct conflict *conflict, u8 *state)
{
	bool lanes = path->lanes & conflict->taken;
	u32 h;

	if (conflict->part == OPTICS_PART_LASER)
		return lanes && path->tx == conflict->index;
	if (conflict->part == OPTICS_PART_RECEIVER)
		return lanes && path->rx == conflict->index;
	for (h = 0; h < path->hops_count; h++) {
		const struct optics_hop *hop = &path->hops[h];

		*state = hop->state;
		if (conflict->part == OPTICS_PART_GUIDE && lanes &&
		    hop->guide >> 1 == conflict->index)
			return true;
		if (conflict->part == OPTICS_PART_ELEMENT && hop->element == conflict->index &&
		    (conflict->taken || hop->state != conflict->state))
			return true;
	}
	return false;
}

/* Fill the refusal of the first circuit that needs the resource. O(circuits of all steps * path) */
static void refuse_conflict(struct morph_schedule *schedule, const struct conflict *conflict,
			    struct morph_schedule_wrong *wrong, struct morph_refusal *refusal)
{
	struct optics_refusal why = {
		.reason = conflict->reason,
		.part = conflict->part,
		.index = conflict->index,
		.item = OPTICS_NONE,
	};
	const struct optics_path *path = NULL;
	u32 step, i, index;
	u8 state = 0;

	for (step = 0; step < schedule->steps_count && !path; step++)
		for (i = 0; i < schedule->steps[step].count && !path; i++) {
			index = schedule->held[schedule->steps[step].held + i];
			if (!meets(&schedule->circuits[index]->route->path, conflict, &state))
				continue;
			path = &schedule->circuits[index]->route->path;
			*wrong = (struct morph_schedule_wrong){ step, index };
		}
	if (conflict->part == OPTICS_PART_LASER || conflict->part == OPTICS_PART_RECEIVER)
		why.planes = schedule->slice->fabric->graph->params.planes;
	if (conflict->reason == OPTICS_ELEMENT_PINNED) {
		why.have = conflict->state;
		why.need = state;
	} else if (path && conflict->taken != ~0ULL) {
		why.have = optics_weight64(path->lanes & ~conflict->taken);
		why.need = optics_weight64(path->lanes);
	}
	morph_refuse_optics(refusal, 0, &why);
}

/**
 * morph_schedule_hold() - hold the resources of all circuits of a schedule
 * @schedule: morph_schedule_list() has listed its resources
 * @wrong: a step and its circuit whose resource is not free
 * @refusal: filled on failure; NULL: a repair, which does not drop the lock
 *
 * No circuit may have claims; the caller gives lit circuits their claims afterwards. Protections
 * that use any of the resources are rebuilt. After a failure the caller must call
 * morph_schedule_unhold(). O(listed resources).
 *
 * Context: fabric->lock held; the function drops it at times.
 * Return: 0, a conflict with another slice, or an error of morph_schedule_yield().
 */
int morph_schedule_hold(struct morph_schedule *schedule, struct morph_schedule_wrong *wrong,
			struct morph_refusal *refusal)
{
	struct morph_fabric *fabric = schedule->slice->fabric;
	struct morph_hold *hold = &schedule->hold;
	struct conflict conflict = {};
	int ret;

	lockdep_assert_held(&fabric->lock);
	hold->begun = true;
	ret = hold_all(schedule, !!refusal, &conflict, refusal);
	ledger_of(fabric)->light_seq++;
	schedule->own_light++;
	hold->taken = !ret;
	if (!conflict.reason || !refusal)
		return ret;
	mutex_unlock(&fabric->lock);
	refuse_conflict(schedule, &conflict, wrong, refusal);
	morph_fabric_lock(fabric);
	return ret;
}

/* ------------------------------------------------------------------- unhold */

/* The lanes of a guide that lit circuits of the schedule use. */
static u64 lit_in_guide(struct morph_schedule *schedule, u32 guide)
{
	struct morph_fabric *fabric = schedule->slice->fabric;
	const struct morph_link *link;
	u64 lanes = 0;

	hlist_for_each_entry(link, &ledger_of(fabric)->guide_routes[guide], node) {
		const struct morph_route *route = link->route;

		schedule->work++;
		if (route->role == MORPH_ROUTE_LIVE && route->circuit &&
		    circuit_scheduling(route->circuit)->schedule == schedule)
			lanes |= route->path.lanes;
	}
	return lanes;
}

static u64 lit_at_port(struct morph_schedule *schedule, u32 port, bool tx)
{
	struct morph_slice *slice = schedule->slice;
	u32 accelerator = port / slice->fabric->graph->params.planes;
	const struct morph_chip *chip = &ledger_of(slice->fabric)->chips[accelerator];
	const struct morph_circuit *circuit;
	u64 lanes = 0;

	if (chip->slice != slice || chip->rank >= slice->ranks_count)
		return 0;
	if (tx)
		hlist_for_each_entry(circuit, &slice->ranks[chip->rank].sends, src_node)
			if (circuit->route->role == MORPH_ROUTE_LIVE &&
			    circuit->route->path.tx == port)
				lanes |= circuit->route->path.lanes;
	if (!tx)
		hlist_for_each_entry(circuit, &slice->ranks[chip->rank].receives, dst_node)
			if (circuit->route->role == MORPH_ROUTE_LIVE &&
			    circuit->route->path.rx == port)
				lanes |= circuit->route->path.lanes;
	schedule->work += optics_weight64(lanes);
	return lanes;
}

/* The ledger has changed. Let other threads take fabric->lock, which the caller holds. */
static void unhold_pause(struct morph_schedule *schedule)
{
	ledger_of(schedule->slice->fabric)->light_seq++;
	schedule->own_light++;
	morph_schedule_relock(schedule);
	schedule->work = 0;
}

static void unhold_next(struct morph_schedule *schedule, bool pause, u32 work)
{
	schedule->work += work;
	if (pause && schedule->work >= MORPH_SCHEDULE_MOST_WORK)
		unhold_pause(schedule);
}

static void unhold_lanes(struct morph_schedule *schedule, bool pause)
{
	struct optics_state *ledger = ledger_of(schedule->slice->fabric)->state;
	struct morph_hold *hold = &schedule->hold;
	u32 i;

	for (i = 0; i < hold->guides_count; i++) {
		struct morph_held_lanes *entry = &hold->guides[i];

		ledger->guide_lanes[entry->index] &=
			~(entry->ours & ~lit_in_guide(schedule, entry->index));
		hlist_del_init(&hold->listed[i].node);
		unhold_next(schedule, pause, MORPH_HOP_WORK);
	}
	for (i = 0; i < hold->tx_count; i++) {
		ledger->tx_lanes[hold->tx[i].index] &=
			~(hold->tx[i].ours & ~lit_at_port(schedule, hold->tx[i].index, true));
		unhold_next(schedule, pause, MORPH_HOP_WORK);
	}
	for (i = 0; i < hold->rx_count; i++) {
		ledger->rx_lanes[hold->rx[i].index] &=
			~(hold->rx[i].ours & ~lit_at_port(schedule, hold->rx[i].index, false));
		unhold_next(schedule, pause, MORPH_HOP_WORK);
	}
}

static void unhold_elements(struct morph_schedule *schedule, bool pause)
{
	struct morph_fabric *fabric = schedule->slice->fabric;
	struct morph_hold *hold = &schedule->hold;
	u32 i;

	for (i = 0; i < hold->elements_count; i++) {
		element_suspend(fabric, &hold->elements[i]);
		morph_park_later(fabric, hold->elements[i].element);
		unhold_next(schedule, pause, 2 * MORPH_HOP_WORK);
	}
}

/*
 * Lit circuits keep their claims. The hardware keeps the states of elements that no one holds any
 * more. The caller may not wait for the device, so a worker parks those that are not held again.
 */
void morph_schedule_unhold(struct morph_schedule *schedule, bool pause)
{
	lockdep_assert_held(&schedule->slice->fabric->lock);
	if (schedule->hold.begun) {
		schedule->hold.taken = false;
		if (pause)
			unhold_pause(schedule);
		unhold_lanes(schedule, pause);
		unhold_elements(schedule, pause);
		ledger_of(schedule->slice->fabric)->light_seq++;
		schedule->own_light++;
	}
	if (pause)
		hold_free_unlocked(schedule);
	else
		hold_free(schedule);
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

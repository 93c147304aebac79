// SPDX-License-Identifier: GPL-2.0-only
/*
 * Resources that a schedule holds in the ledger, so that no step fails for lack of them: the lanes
 * and elements of all its circuits. An element with the same state in all steps is pinned, and
 * other paths may join it. An element with several states is exclusive to the slice.
 *
 * The route of a lit circuit has its own claims on the same lanes. Except during repairs, the
 * schedule holds these lanes too, so the ledger's lanes do not change when circuits go on and off.
 * A repair moves lit circuits like any others. During the repair the schedule holds only the free
 * part (claims.c), and morph_schedule_mend() completes it at the end.
 *
 * If a repair changes paths of a schedule, the schedule holds other resources afterwards. It first
 * holds the new ones in addition to the old ones, and then releases the old ones. So no other slice
 * can take a resource that the schedule keeps.
 */
#include <linux/bsearch.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "core/base/base.h"
#include "core/ledger/ledger.h"
#include "core/schedule/schedule.h"
#include "core/slice/slice.h"
#include "core/txn/txn.h"

#define FIND_WORK	24u	/* of a search in a sorted hold; see schedule->work */

/* --------------------------------------------------------------- own claims */

static int by_index(const void *a, const void *b)
{
	const struct morph_held_lanes *x = a, *y = b;

	return x->index < y->index ? -1 : x->index > y->index;
}

static int by_element(const void *a, const void *b)
{
	const struct morph_held_element *x = a, *y = b;

	return x->element < y->element ? -1 : x->element > y->element;
}

/* Guides keep their order, which is that of hold->listed. */
static void sort_hold(struct morph_hold *hold)
{
	sort(hold->tx, hold->tx_count, sizeof(*hold->tx), by_index, NULL);
	sort(hold->rx, hold->rx_count, sizeof(*hold->rx), by_index, NULL);
	sort(hold->elements, hold->elements_count, sizeof(*hold->elements), by_element, NULL);
}

/* The entry of an element in a sorted hold, or NULL. */
static const struct morph_held_element *
find_element(struct morph_schedule *schedule, const struct morph_hold *hold, u32 element)
{
	const struct morph_held_element key = { .element = element };

	if (!hold)
		return NULL;
	schedule->work += FIND_WORK;
	return bsearch(&key, hold->elements, hold->elements_count, sizeof(key), by_element);
}

/* The lanes of a guide that a hold claims. */
static u64 held_in_guide(struct morph_schedule *schedule, const struct morph_hold *hold, u32 guide)
{
	struct hlist_head *holds = ledger_of(schedule->slice->fabric)->guide_holds;
	const struct morph_lanes_held *listed;

	if (!hold || !hold->guides_count)
		return 0;
	hlist_for_each_entry(listed, &holds[guide], node) {
		schedule->work++;
		if (listed >= hold->listed && listed < hold->listed + hold->guides_count)
			return hold->guides[listed - hold->listed].ours;
	}
	return 0;
}

/* The lanes of a port that a sorted hold claims. */
static u64 held_at_port(struct morph_schedule *schedule, const struct morph_hold *hold, u32 port,
			bool tx)
{
	const struct morph_held_lanes key = { .index = port }, *found;

	if (!hold)
		return 0;
	schedule->work += FIND_WORK;
	found = bsearch(&key, tx ? hold->tx : hold->rx, tx ? hold->tx_count : hold->rx_count,
			sizeof(key), by_index);
	return found ? found->ours : 0;
}

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

/* ------------------------------------------------------------------- memory */

void morph_schedule_hold_free(struct morph_schedule *schedule)
{
	struct morph_hold *hold = &schedule->hold;

	kvfree(hold->guides);
	morph_user_uncharge(schedule->slice->user, MORPH_RES_BYTES, hold->bytes);
	*hold = (struct morph_hold){};
}

/* To free much memory takes long, so other threads may take fabric->lock meanwhile. */
static void hold_free_unlocked(struct morph_schedule *schedule, struct morph_hold *held)
{
	struct morph_fabric *fabric = schedule->slice->fabric;
	struct morph_hold hold = *held;

	*held = (struct morph_hold){};
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
		morph_schedule_hold_free(schedule);
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

/* A schedule that holds its listed resources. */
struct holding {
	struct morph_schedule *schedule;
	const struct morph_hold *old;	/* in a repair: what it holds already, sorted; else NULL */
	struct morph_refusal *refusal;	/* NULL in a repair */
	struct conflict conflict;
};

/*
 * A repair may use the reservations of the slice's controller, and existing paths may use cordoned
 * hardware.
 */
static void begin_repairing(const struct morph_schedule *schedule)
{
	struct morph_fabric *fabric = schedule->slice->fabric;

	morph_controller_lift(fabric, slice_tenancy(schedule->slice)->controller);
	ledger_of(fabric)->state->tolerated = OPTICS_CORDONED;
}

static void end_repairing(const struct morph_schedule *schedule)
{
	struct morph_fabric *fabric = schedule->slice->fabric;

	ledger_of(fabric)->state->tolerated = 0;
	morph_controller_lower(fabric);
}

/* The ledger has changed. Let other threads take fabric->lock if it is time. */
static int hold_next(struct holding *holding)
{
	struct morph_schedule *schedule = holding->schedule;

	if (schedule->work < MORPH_SCHEDULE_MOST_WORK)
		return 0;
	ledger_of(schedule->slice->fabric)->light_seq++;
	schedule->own_light++;
	if (holding->refusal)
		return morph_schedule_yield(schedule, holding->refusal);
	end_repairing(schedule);
	morph_schedule_relock(schedule);
	begin_repairing(schedule);
	schedule->work = 0;
	return 0;
}

/* The lanes are also listed by guide, for those who ask which slice holds lanes of a guide. */
static int hold_guide(struct holding *holding, u32 number)
{
	struct morph_schedule *schedule = holding->schedule;
	struct morph_fabric *fabric = schedule->slice->fabric;
	struct morph_held_lanes *entry = &schedule->hold.guides[number];
	struct morph_lanes_held *listed = &schedule->hold.listed[number];
	struct optics_state *ledger = ledger_of(fabric)->state;
	u32 guide = entry->index;
	u64 taken = optics_guide_taken(ledger, guide);

	if (holding->old)
		taken &= ~(lit_in_guide(schedule, guide) |
			   held_in_guide(schedule, holding->old, guide));
	if (ledger->guide_marks[guide] & ~ledger->tolerated)
		return conflicts(&holding->conflict, OPTICS_UNUSABLE, OPTICS_PART_GUIDE, guide,
				 ~0ULL);
	if (taken & entry->lanes)
		return conflicts(&holding->conflict, OPTICS_LANES, OPTICS_PART_GUIDE, guide,
				 taken);
	entry->ours = entry->lanes;
	ledger->guide_lanes[guide] |= entry->ours;
	listed->slice = schedule->slice;
	listed->lanes = entry->lanes;
	hlist_add_head(&listed->node, &ledger_of(fabric)->guide_holds[guide]);
	morph_protection_touch_guide(fabric, guide);
	schedule->work += 2 * MORPH_HOP_WORK;
	return 0;
}

static int hold_port(struct holding *holding, struct morph_held_lanes *entry, bool tx)
{
	struct morph_schedule *schedule = holding->schedule;
	struct optics_state *ledger = ledger_of(schedule->slice->fabric)->state;
	u64 *lanes = tx ? &ledger->tx_lanes[entry->index] : &ledger->rx_lanes[entry->index];
	u64 dead = tx ? ledger->tx_dead[entry->index] : ledger->rx_dead[entry->index];
	u32 part = tx ? OPTICS_PART_LASER : OPTICS_PART_RECEIVER;
	u64 taken = *lanes;

	if (holding->old)
		taken &= ~(lit_at_port(schedule, entry->index, tx) |
			   held_at_port(schedule, holding->old, entry->index, tx));
	if (dead & entry->lanes)
		return conflicts(&holding->conflict, OPTICS_UNUSABLE, part, entry->index, dead);
	if (taken & entry->lanes)
		return conflicts(&holding->conflict, OPTICS_PORT_BUSY, part, entry->index, taken);
	entry->ours = entry->lanes;
	*lanes |= entry->ours;
	schedule->work += MORPH_HOP_WORK;
	return 0;
}

/*
 * Pin an element. One with several states keeps its state in hardware, and no other path may join
 * it. An element that a lit circuit of the schedule uses keeps its state too.
 */
static int hold_element(struct holding *holding, struct morph_held_element *entry)
{
	struct morph_schedule *schedule = holding->schedule;
	struct morph_fabric *fabric = schedule->slice->fabric;
	struct optics_state *ledger = ledger_of(fabric)->state;
	u32 element = entry->element;
	const struct morph_held_element *old = find_element(schedule, holding->old, element);
	u8 *marks = &ledger->element_marks[element];
	u8 state = ledger->element_state[element];
	bool used = ledger->element_pins[element] > entry->users + (old && old->pinned);
	bool held = *marks & OPTICS_HELD && !(old && old->marked);

	if (*marks & ~(OPTICS_HELD | ledger->tolerated))
		return conflicts(&holding->conflict, OPTICS_UNUSABLE, OPTICS_PART_ELEMENT, element,
				 ~0ULL);
	if (held || (used && (entry->alone || state != entry->state))) {
		holding->conflict.state = state;
		return conflicts(&holding->conflict, OPTICS_ELEMENT_PINNED, OPTICS_PART_ELEMENT,
				 element, held ? ~0ULL : 0);
	}
	ledger->element_pins[element]++;
	entry->pinned = true;
	entry->marked = entry->alone;
	if (entry->alone)
		*marks |= OPTICS_HELD;
	if (!entry->users)
		optics_set_state(ledger, element, entry->alone ?
				 hardware_of(fabric)->hw_state[element] : entry->state);
	schedule->work += MORPH_HOP_WORK;
	return 0;
}

static int hold_all(struct holding *holding)
{
	struct morph_hold *hold = &holding->schedule->hold;
	u32 i;
	int ret = 0;

	for (i = 0; i < hold->tx_count && !ret; i++) {
		ret = hold_port(holding, &hold->tx[i], true);
		if (!ret)
			ret = hold_next(holding);
	}
	for (i = 0; i < hold->rx_count && !ret; i++) {
		ret = hold_port(holding, &hold->rx[i], false);
		if (!ret)
			ret = hold_next(holding);
	}
	for (i = 0; i < hold->guides_count && !ret; i++) {
		ret = hold_guide(holding, i);
		if (!ret)
			ret = hold_next(holding);
	}
	for (i = 0; i < hold->elements_count && !ret; i++) {
		ret = hold_element(holding, &hold->elements[i]);
		if (!ret)
			ret = hold_next(holding);
	}
	return ret;
}

/* Hold the listed resources. The ledger changes even if that fails. */
static int hold_listed(struct holding *holding)
{
	struct morph_schedule *schedule = holding->schedule;
	int ret;

	schedule->hold.begun = true;
	ret = hold_all(holding);
	ledger_of(schedule->slice->fabric)->light_seq++;
	schedule->own_light++;
	schedule->hold.taken = !ret;
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
 * @refusal: filled on failure
 *
 * No circuit may have claims. Protections that use any of the resources are rebuilt. After a
 * failure the caller must call morph_schedule_unhold(). O(listed resources).
 *
 * Context: fabric->lock held; the function drops it at times.
 * Return: 0, a conflict with another slice, or an error of morph_schedule_yield().
 */
int morph_schedule_hold(struct morph_schedule *schedule, struct morph_schedule_wrong *wrong,
			struct morph_refusal *refusal)
{
	struct morph_fabric *fabric = schedule->slice->fabric;
	struct holding holding = { .schedule = schedule, .refusal = refusal };
	int ret;

	lockdep_assert_held(&fabric->lock);
	ret = hold_listed(&holding);
	if (!holding.conflict.reason)
		return ret;
	mutex_unlock(&fabric->lock);
	refuse_conflict(schedule, &holding.conflict, wrong, refusal);
	morph_fabric_lock(fabric);
	return ret;
}

/* ------------------------------------------------------------------ release */

/* The release of resources that a schedule holds. */
struct releasing {
	struct morph_schedule *schedule;
	struct morph_hold *hold;
	const struct morph_hold *kept;	/* sorted: what the schedule still holds; or NULL */
};

/* The ledger has changed. Let other threads take fabric->lock, which the caller holds. */
static void release_pause(struct morph_schedule *schedule)
{
	ledger_of(schedule->slice->fabric)->light_seq++;
	schedule->own_light++;
	morph_schedule_relock(schedule);
	schedule->work = 0;
}

static void release_next(struct morph_schedule *schedule, u32 work)
{
	schedule->work += work;
	if (schedule->work >= MORPH_SCHEDULE_MOST_WORK)
		release_pause(schedule);
}

static void release_port(const struct releasing *releasing, const struct morph_held_lanes *entry,
			 bool tx)
{
	struct morph_schedule *schedule = releasing->schedule;
	struct optics_state *ledger = ledger_of(schedule->slice->fabric)->state;
	u64 *lanes = tx ? &ledger->tx_lanes[entry->index] : &ledger->rx_lanes[entry->index];

	*lanes &= ~entry->ours | lit_at_port(schedule, entry->index, tx) |
		  held_at_port(schedule, releasing->kept, entry->index, tx);
	release_next(schedule, MORPH_HOP_WORK);
}

static void release_lanes(const struct releasing *releasing)
{
	struct morph_schedule *schedule = releasing->schedule;
	struct optics_state *ledger = ledger_of(schedule->slice->fabric)->state;
	struct morph_hold *hold = releasing->hold;
	u32 i;

	for (i = 0; i < hold->guides_count; i++) {
		struct morph_held_lanes *entry = &hold->guides[i];

		ledger->guide_lanes[entry->index] &=
			~entry->ours | lit_in_guide(schedule, entry->index) |
			held_in_guide(schedule, releasing->kept, entry->index);
		hlist_del_init(&hold->listed[i].node);
		release_next(schedule, MORPH_HOP_WORK);
	}
	for (i = 0; i < hold->tx_count; i++)
		release_port(releasing, &hold->tx[i], true);
	for (i = 0; i < hold->rx_count; i++)
		release_port(releasing, &hold->rx[i], false);
}

/* An element that the schedule keeps in one state gets this state. */
static void release_element(const struct releasing *releasing, struct morph_held_element *entry)
{
	struct morph_schedule *schedule = releasing->schedule;
	const struct morph_held_element *kept = find_element(schedule, releasing->kept,
							     entry->element);
	struct morph_fabric *fabric = schedule->slice->fabric;
	struct optics_state *ledger = ledger_of(fabric)->state;

	if (entry->marked && !(kept && kept->marked))
		ledger->element_marks[entry->element] &= ~OPTICS_HELD;
	if (entry->pinned)
		morph_park_unguard(fabric, entry->element);
	entry->marked = false;
	entry->pinned = false;
	if (kept && kept->pinned && !kept->alone)
		optics_set_state(ledger, entry->element, kept->state);
	else
		morph_park_later(fabric, entry->element);
	release_next(schedule, 2 * MORPH_HOP_WORK);
}

/*
 * Lit circuits keep their claims. The hardware keeps the states of elements that no one holds any
 * more. The caller may not wait for the device, so a worker parks those that are not held again.
 */
static void release(struct morph_schedule *schedule, struct morph_hold *hold,
		    const struct morph_hold *kept)
{
	const struct releasing releasing = { .schedule = schedule, .hold = hold, .kept = kept };
	u32 i;

	if (hold->begun) {
		hold->taken = false;
		release_pause(schedule);
		release_lanes(&releasing);
		for (i = 0; i < hold->elements_count; i++)
			release_element(&releasing, &hold->elements[i]);
		ledger_of(schedule->slice->fabric)->light_seq++;
		schedule->own_light++;
	}
	hold_free_unlocked(schedule, hold);
}

void morph_schedule_unhold(struct morph_schedule *schedule)
{
	lockdep_assert_held(&schedule->slice->fabric->lock);
	release(schedule, &schedule->hold, NULL);
}

/* ------------------------------------------------------------------ replace */

void morph_schedule_hold_sort(struct morph_schedule *schedule, struct morph_hold *old)
{
	sort_hold(&schedule->hold);
	sort_hold(old);
}

int morph_schedule_hold_replace(struct morph_schedule *schedule, struct morph_hold *old)
{
	struct holding holding = { .schedule = schedule, .old = old };
	int ret;

	lockdep_assert_held(&schedule->slice->fabric->lock);
	schedule->work = 0;
	begin_repairing(schedule);
	ret = hold_listed(&holding);
	end_repairing(schedule);
	if (!ret) {
		release(schedule, old, &schedule->hold);
		return 0;
	}
	release(schedule, &schedule->hold, old);
	schedule->hold = *old;
	return ret;
}

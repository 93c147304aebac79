// SPDX-License-Identifier: GPL-2.0-only
/*
 * Changes to a schedule after a repair. Ranks may have other accelerators, and lit circuits may
 * have been rerouted. The dark circuits get matching paths now, so that the schedule can continue
 * from its present step. If some of them have no path, the schedule stops, holds nothing, and
 * retries after the next repair.
 *
 * The paths are searched in a draft of the ledger, without fabric->lock. Meanwhile the schedule
 * still holds its old resources. If other slices take a resource of a new path, the repair starts
 * again with another copy of the ledger.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "core/base/base.h"
#include "core/ledger/ledger.h"
#include "core/recovery/recovery.h"
#include "core/schedule/schedule.h"
#include "core/slice/slice.h"
#include "core/txn/txn.h"

#define CHECKED_AT_ONCE	1024u	/* circuits or guides, in one hold of fabric->lock */

/* The repair of one schedule. Its thread has entered the slice. */
struct mending {
	struct morph_schedule *schedule;
	struct morph_draft *draft;	/* without the claims of the schedule */
	struct morph_item item;		/* for the move of a circuit */
	struct morph_hold old;		/* what the schedule holds in the ledger */
	u64 seq;			/* of the ledger before it was copied */
};

static bool ends_right(const struct morph_circuit *circuit)
{
	const struct optics_path *path = &circuit->route->path;
	u32 planes = circuit->slice->fabric->graph->params.planes;

	return path->tx / planes == morph_end_place(circuit->slice, circuit->src_rank) &&
	       path->rx / planes == morph_end_place(circuit->slice, circuit->dst_rank);
}

/* Return whether a path uses usable hardware in the draft. */
static bool is_healthy(const struct optics_state *state, const struct optics_path *path)
{
	u32 h;

	for (h = 0; h < path->hops_count; h++) {
		u32 element = path->hops[h].element;

		if (state->guide_marks[path->hops[h].guide >> 1] & OPTICS_UNHEALTHY ||
		    (element != OPTICS_NONE && state->element_marks[element] & OPTICS_UNHEALTHY))
			return false;
	}
	return !(path->lanes & (state->tx_dead[path->tx] | state->rx_dead[path->rx]));
}

/*
 * Return whether all dark circuits end at the accelerators of their ranks and use usable hardware.
 * Caller has entered the slice and holds fabric->lock; the function drops it at times.
 */
static bool is_whole(const struct morph_schedule *schedule)
{
	struct morph_fabric *fabric = schedule->slice->fabric;
	u32 i;

	if (schedule->moved || schedule->crossed || schedule->lost)
		return false;
	for (i = 0; i < schedule->circuits_count; i++) {
		const struct morph_circuit *circuit = schedule->circuits[i];

		if (!circuit->listed && !(ends_right(circuit) &&
					  morph_route_is_healthy(fabric, circuit->route)))
			return false;
		if (i % CHECKED_AT_ONCE == CHECKED_AT_ONCE - 1)
			morph_schedule_relock(schedule);
	}
	return true;
}

/* -------------------------------------------------------------------- draft */

static void erase_lanes(const struct morph_held_lanes *entries, u32 count, u64 *lanes)
{
	u32 i;

	for (i = 0; i < count; i++)
		lanes[entries[i].index] &= ~entries[i].ours;
}

/* Remove the claims of the schedule and of its lit circuits. */
static void erase_claims(const struct mending *mending)
{
	const struct morph_schedule *schedule = mending->schedule;
	struct optics_state *state = mending->draft->state;
	const struct morph_hold *hold = &mending->old;
	u32 i;

	erase_lanes(hold->guides, hold->guides_count, state->guide_lanes);
	erase_lanes(hold->tx, hold->tx_count, state->tx_lanes);
	erase_lanes(hold->rx, hold->rx_count, state->rx_lanes);
	for (i = 0; i < hold->elements_count; i++) {
		const struct morph_held_element *entry = &hold->elements[i];

		state->element_pins[entry->element] -= entry->pinned;
		if (entry->marked)
			state->element_marks[entry->element] &= ~OPTICS_HELD;
	}
	for (i = 0; i < schedule->circuits_count; i++)
		if (schedule->circuits[i]->route->role == MORPH_ROUTE_LIVE)
			optics_release_parked(state, &schedule->circuits[i]->route->path);
}

/* The path search may use the reservations of the slice's controller. Takes fabric->lock. */
static void lift_reservations(const struct mending *mending)
{
	struct morph_slice *slice = mending->schedule->slice;
	struct morph_fabric *fabric = slice->fabric;
	struct optics_state *ledger = ledger_of(fabric)->state;
	u64 *reserved = mending->draft->state->guide_reserved;
	u32 i, end;

	for (i = 0; i < fabric->graph->guides_count; i = end) {
		end = min(i + CHECKED_AT_ONCE, fabric->graph->guides_count);
		mutex_lock(&fabric->lock);
		morph_controller_lift(fabric, slice_tenancy(slice)->controller);
		for (; ledger->lifted && i < end; i++)
			reserved[i] &= ~ledger->lifted[i];
		morph_controller_lower(fabric);
		mutex_unlock(&fabric->lock);
		cond_resched();
	}
}

/* -------------------------------------------------------------------- paths */

/*
 * Mark dark circuits of a step astray if they conflict with lit circuits of the step or with other
 * slices. The repair may have rerouted those over resources of the schedule. O(circuits of the step
 * * path).
 */
static void find_crossed(const struct mending *mending, const struct morph_step *step)
{
	struct morph_schedule *schedule = mending->schedule;
	struct optics_state *state = mending->draft->state;
	struct morph_circuit **circuits = schedule->circuits;
	const u32 *held = schedule->held + step->held;
	struct optics_refusal why;
	u32 i;

	/* A path over failed hardware cannot be claimed, so it does not count as a conflict. */
	for (i = 0; i < step->count; i++)
		if (circuits[held[i]]->listed)
			schedule->stamps[held[i]] =
				!optics_claim(state, &circuits[held[i]]->route->path, &why);
	for (i = 0; i < step->count; i++) {
		const struct optics_path *path = &circuits[held[i]]->route->path;
		bool *astray = &circuit_scheduling(circuits[held[i]])->astray;

		if (circuits[held[i]]->listed || *astray)
			continue;
		*astray = optics_claim(state, path, &why);
		if (!*astray)
			optics_release_parked(state, path);
	}
	for (i = 0; i < step->count; i++)
		if (circuits[held[i]]->listed && schedule->stamps[held[i]])
			optics_release_parked(state, &circuits[held[i]]->route->path);
	cond_resched();
}

static void find_astray(const struct mending *mending)
{
	struct morph_schedule *schedule = mending->schedule;
	struct optics_state *state = mending->draft->state;
	u32 i;

	for (i = 0; i < schedule->circuits_count; i++) {
		struct morph_circuit *circuit = schedule->circuits[i];

		circuit_scheduling(circuit)->astray =
			!circuit->listed && !(ends_right(circuit) &&
					      is_healthy(state, &circuit->route->path));
	}
	cond_resched();
	/* Existing paths may use cordoned hardware; new paths avoid it. */
	state->tolerated = OPTICS_CORDONED;
	for (i = 0; i < schedule->steps_count; i++)
		find_crossed(mending, &schedule->steps[i]);
	state->tolerated = 0;
}

/* Find a path for an astray circuit: on its planes, or else on others. */
static int reroute_astray(struct mending *mending, u32 index)
{
	struct morph_schedule *schedule = mending->schedule;
	struct morph_circuit *circuit = schedule->circuits[index];
	struct morph_change *change = &mending->item.change;
	struct morph_fabric *fabric = schedule->slice->fabric;
	int ret;

	mutex_lock(&fabric->lock);
	morph_slice_fill_move(&mending->item, circuit);
	mutex_unlock(&fabric->lock);
	ret = morph_schedule_reroute(schedule, mending->draft, change, index);
	if (ret && (change->src_plane != MORPH_PLANE_ANY || change->dst_plane != MORPH_PLANE_ANY)) {
		change->src_plane = MORPH_PLANE_ANY;
		change->dst_plane = MORPH_PLANE_ANY;
		ret = morph_schedule_reroute(schedule, mending->draft, change, index);
	}
	if (ret)
		return ret;
	circuit_scheduling(circuit)->astray = false;
	schedule->moves++;
	return 0;
}

/* A detour may be longer than the memory allows. */
static void make_room(struct morph_schedule *schedule)
{
	struct morph_txn *txn = schedule->txn;
	u32 changes = max(2 * schedule->most, 1u), hops = 0, i;

	for (i = 0; i < schedule->circuits_count; i++)
		hops = max(hops, schedule->circuits[i]->route->path.hops_count);
	if (changes * hops <= txn->settings_room)
		return;
	morph_txn_uncharge(txn, schedule->slice->user);
	txn->gfp = MORPH_GFP_REPAIR;
	morph_txn_reserve_for(txn, changes, changes * hops);
	/* Charge the whole memory, not only the part of the last step. */
	txn->count = changes;
	morph_txn_charge(txn, schedule->slice->user, NULL);
	txn->count = 0;
}

/* Find paths for all astray circuits, and list the resources of all circuits. No lock held. */
static int find_paths(struct mending *mending)
{
	struct morph_schedule *schedule = mending->schedule;
	u32 i;
	int ret = 0;

	morph_draft_copy(mending->draft, schedule->slice->fabric);
	lift_reservations(mending);
	erase_claims(mending);
	find_astray(mending);
	schedule->traces.mark = 0;
	for (i = 0; i < schedule->circuits_count && !ret; i++)
		if (circuit_scheduling(schedule->circuits[i])->astray)
			ret = reroute_astray(mending, i);
	if (ret)
		return ret;
	ret = morph_schedule_list(schedule, NULL, NULL);
	if (!ret) {
		make_room(schedule);
		morph_schedule_hold_sort(schedule, &mending->old);
	}
	return ret;
}

/* --------------------------------------------------------------------- mend */

static bool has_ended(const struct morph_slice *slice)
{
	return slice->dying || slice->fabric->state != MORPH_FABRIC_READY;
}

/*
 * Find paths and hold them. Other slices may change the ledger meanwhile; then try again. Caller
 * holds fabric->lock; the function drops it.
 */
static int find_and_hold(struct mending *mending)
{
	struct morph_schedule *schedule = mending->schedule;
	struct morph_fabric *fabric = schedule->slice->fabric;
	u32 tries;
	int ret;

	for (tries = 0; tries <= MORPH_MOST_RESTARTS; tries++) {
		mending->seq = morph_ledger_seq(fabric);
		mending->old = schedule->hold;
		schedule->hold = (struct morph_hold){};
		mutex_unlock(&fabric->lock);
		ret = find_paths(mending);
		if (ret)
			morph_schedule_hold_free(schedule);
		mutex_lock(&fabric->lock);
		if (ret)
			schedule->hold = mending->old;
		else
			ret = morph_schedule_hold_replace(schedule, &mending->old);
		if (!ret || has_ended(schedule->slice) ||
		    mending->seq == morph_ledger_seq(fabric))
			break;
	}
	return ret;
}

/*
 * Caller has entered the slice and holds fabric->lock; the function drops it. All memory is
 * allocated without it.
 */
static void mend(struct morph_schedule *schedule)
{
	struct morph_fabric *fabric = schedule->slice->fabric;
	bool moved = schedule->moved, lost = schedule->lost;
	struct mending *mending;
	u32 moves = schedule->moves;
	int ret;

	mutex_unlock(&fabric->lock);
	mending = kzalloc(sizeof(*mending), MORPH_GFP_REPAIR);
	mending->schedule = schedule;
	mending->draft = morph_draft_alloc(fabric, schedule->slice->user, NULL);
	mutex_lock(&fabric->lock);
	ret = find_and_hold(mending);
	if (ret)
		morph_schedule_unhold(schedule);
	mutex_unlock(&fabric->lock);
	morph_draft_free(mending->draft);
	kfree(mending);
	morph_schedule_free_traces(schedule);
	mutex_lock(&fabric->lock);
	if (has_ended(schedule->slice))
		return;
	morph_schedule_unjudge(schedule);
	schedule->moved = false;
	schedule->crossed = false;
	recovery_of(fabric)->lost += !!ret - (int)lost;
	schedule->lost = ret;
	/* Nothing has changed: the repair rerouted circuits without a conflict. */
	if (!moved && lost == schedule->lost && moves == schedule->moves)
		return;
	fabric->seq++;
	schedule->slice->generation++;
	/* The state page also shows the generation. */
	morph_report_light_reviewed(schedule->slice);
	/*
	 * Other slices may wait for its resources. A schedule that was lost before must not wake
	 * itself.
	 */
	if (ret && !lost)
		morph_repair_recover(fabric, MORPH_FREED_PATHS);
	if (ret)
		morph_schedule_lose(schedule, ret);
	else
		morph_schedule_report(schedule, MORPH_OUTCOME_COMMITTED, schedule->step);
}

void morph_schedule_moved(struct morph_circuit *circuit)
{
	struct morph_schedule *schedule;

	lockdep_assert_held(&circuit->slice->fabric->lock);
	list_for_each_entry(schedule, &slice_scheduling(circuit->slice)->schedules, node)
		schedule->crossed = true;
	if (!circuit_scheduling(circuit)->schedule)
		return;
	circuit_scheduling(circuit)->schedule->moved = true;
	circuit_scheduling(circuit)->schedule->moves++;
}

/* A change has ended. The worker mends, because the caller expects to keep fabric->lock. */
struct morph_slice_waiter morph_schedule_recoverer = { .idle = morph_retry_schedules };

/* Find a schedule of the slice without paths, or return NULL. */
static struct morph_schedule *find_lost(struct morph_slice *slice)
{
	struct morph_schedule *schedule;

	list_for_each_entry(schedule, &slice_scheduling(slice)->schedules, node)
		if (schedule->lost)
			return schedule;
	return NULL;
}

void morph_schedule_recover(struct morph_slice *slice)
{
	struct morph_schedule *schedule;

	lockdep_assert_held(&slice->fabric->lock);
	morph_slice_wait_cancel(slice, &morph_schedule_recoverer);
	/* In other states the repair of the slice handles its schedules. */
	if (slice_tenancy(slice)->state != MORPH_SLICE_OK || has_ended(slice) || !find_lost(slice))
		return;
	if (slice->busy) {
		morph_slice_wait(slice, &morph_schedule_recoverer);
		return;
	}
	morph_slice_enter(slice, true);
	list_for_each_entry(schedule, &slice_scheduling(slice)->schedules, node)
		if (schedule->lost && !has_ended(slice))
			mend(schedule);
	morph_slice_leave(slice);
}

/*
 * A lit circuit may have moved, or hardware may have failed: hold all resources again. Caller has
 * entered the slice.
 */
void morph_schedule_mend(struct morph_slice *slice)
{
	struct morph_schedule *schedule;
	bool whole;

	lockdep_assert_held(&slice->fabric->lock);
	list_for_each_entry(schedule, &slice_scheduling(slice)->schedules, node) {
		if (has_ended(slice))
			return;
		if (!schedule->id)
			continue;
		whole = is_whole(schedule);
		if (whole && schedule->hold.taken) {
			morph_schedule_hold_restore(schedule);
			whole = !schedule->crossed;
		}
		if (!whole)
			mend(schedule);
		if (!has_ended(slice))
			morph_schedule_go_on(schedule);
	}
}

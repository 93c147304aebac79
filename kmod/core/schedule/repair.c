// SPDX-License-Identifier: GPL-2.0-only
/*
 * Changes to a schedule after a repair. Ranks may have other accelerators, and lit circuits may
 * have been rerouted. The dark circuits get matching paths now, so that the schedule can continue
 * from its present step. If some of them have no path, the schedule stops, holds nothing, and
 * retries after the next repair.
 */
#include <linux/mm.h>

#include "core/base/base.h"
#include "core/ledger/ledger.h"
#include "core/recovery/recovery.h"
#include "core/schedule/schedule.h"
#include "core/slice/slice.h"
#include "core/txn/txn.h"

/* Return whether a path ends at the accelerators of its ranks and uses usable hardware. */
static bool is_right(const struct morph_circuit *circuit)
{
	struct morph_fabric *fabric = circuit->slice->fabric;
	u32 planes = fabric->graph->params.planes;
	const struct optics_path *path = &circuit->route->path;

	return path->tx / planes == morph_end_place(circuit->slice, circuit->src_rank) &&
	       path->rx / planes == morph_end_place(circuit->slice, circuit->dst_rank) &&
	       morph_route_is_healthy(fabric, circuit->route);
}

static bool is_whole(const struct morph_schedule *schedule)
{
	u32 i;

	if (schedule->moved || schedule->crossed || schedule->lost)
		return false;
	for (i = 0; i < schedule->circuits_count; i++)
		if (!schedule->circuits[i]->listed && !is_right(schedule->circuits[i]))
			return false;
	return true;
}

/*
 * Mark dark circuits of a step astray if they conflict with lit circuits of the step or with other
 * slices. The repair may have rerouted those over resources of the schedule. O(circuits of the step
 * * path).
 */
static void find_crossed(struct morph_schedule *schedule, const struct morph_step *step)
{
	struct morph_fabric *fabric = schedule->slice->fabric;
	struct morph_circuit **circuits = schedule->circuits;
	const u32 *held = schedule->held + step->held;
	struct optics_refusal why;
	u32 i;

	/* A path over failed hardware cannot be claimed, so it does not count as a conflict. */
	for (i = 0; i < step->count; i++)
		if (circuits[held[i]]->listed)
			schedule->stamps[held[i]] =
				!optics_claim(ledger_of(fabric)->state,
					      &circuits[held[i]]->route->path, &why);
	for (i = 0; i < step->count; i++) {
		struct morph_circuit *circuit = circuits[held[i]];
		bool *astray = &circuit_scheduling(circuit)->astray;

		if (!circuit->listed && !*astray)
			*astray = morph_schedule_room(schedule, circuit->route, &why);
	}
	for (i = 0; i < step->count; i++)
		if (circuits[held[i]]->listed && schedule->stamps[held[i]])
			morph_path_unclaim(fabric, &circuits[held[i]]->route->path);
}

/* Find a path for an astray circuit: on its planes, or else on others. */
static int reroute_astray(struct morph_schedule *schedule, struct morph_txn *scratch, u32 index)
{
	struct morph_circuit *circuit = schedule->circuits[index];
	struct morph_change *change = &scratch->items[0].change;
	int ret;

	morph_slice_fill_move(&scratch->items[0], circuit);
	ret = morph_schedule_route(schedule, scratch, index);
	if (ret && (change->src_plane != MORPH_PLANE_ANY || change->dst_plane != MORPH_PLANE_ANY)) {
		change->src_plane = MORPH_PLANE_ANY;
		change->dst_plane = MORPH_PLANE_ANY;
		ret = morph_schedule_route(schedule, scratch, index);
	}
	if (ret)
		return ret;
	circuit_scheduling(circuit)->astray = false;
	schedule->moves++;
	return 0;
}

/*
 * Find paths for all astray circuits. The schedule has no claims and holds nothing. The path search
 * may use the reservations of the slice's controller.
 */
static int reroute_all_astray(struct morph_schedule *schedule)
{
	struct optics_state *ledger = ledger_of(schedule->slice->fabric)->state;
	struct morph_txn *scratch;
	u32 i;
	int ret = 0;

	for (i = 0; i < schedule->circuits_count; i++) {
		struct morph_circuit *circuit = schedule->circuits[i];

		circuit_scheduling(circuit)->astray = !circuit->listed && !is_right(circuit);
	}
	/* Existing paths may use cordoned hardware; new paths avoid it. */
	ledger->tolerated = OPTICS_CORDONED;
	for (i = 0; i < schedule->steps_count; i++)
		find_crossed(schedule, &schedule->steps[i]);
	ledger->tolerated = 0;
	scratch = morph_txn_alloc(schedule->slice, NULL, NULL, 1, 0, MORPH_GFP_REPAIR);
	scratch->kind = morph_txn_kinds[MORPH_TXN_REPAIR];
	for (i = 0; i < schedule->circuits_count && !ret; i++)
		if (circuit_scheduling(schedule->circuits[i])->astray)
			ret = reroute_astray(schedule, scratch, i);
	morph_txn_put(scratch);
	kvfree(schedule->traces.entries);
	schedule->traces = (struct morph_traces){};
	return ret ? ret : morph_schedule_list(schedule, NULL, NULL);
}

/* Existing paths may use cordoned hardware. */
static int hold_again(struct morph_schedule *schedule)
{
	struct optics_state *ledger = ledger_of(schedule->slice->fabric)->state;
	int ret;

	ledger->tolerated = OPTICS_CORDONED;
	ret = morph_schedule_hold(schedule, NULL, NULL);
	ledger->tolerated = 0;
	return ret;
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

/* Release lit circuits; then either their routes claim again, or the schedule holds them. */
static void release_lit(struct morph_schedule *schedule)
{
	u32 i;

	for (i = 0; i < schedule->circuits_count; i++)
		if (schedule->circuits[i]->listed)
			morph_route_release(schedule->slice->fabric,
					    schedule->circuits[i]->route);
}

static void claim_lit(struct morph_schedule *schedule)
{
	u32 i;

	for (i = 0; i < schedule->circuits_count; i++)
		if (schedule->circuits[i]->listed)
			morph_schedule_give(schedule->circuits[i]);
}

static void mend(struct morph_schedule *schedule)
{
	struct morph_fabric *fabric = schedule->slice->fabric;
	bool moved = schedule->moved, lost = schedule->lost;
	u32 moves = schedule->moves;
	int ret;

	morph_schedule_unhold(schedule, false);
	release_lit(schedule);
	morph_controller_lift(fabric, slice_tenancy(schedule->slice)->controller);
	ret = reroute_all_astray(schedule);
	if (!ret)
		ret = hold_again(schedule);
	morph_controller_lower(fabric);
	if (ret)
		morph_schedule_unhold(schedule, false);
	claim_lit(schedule);
	make_room(schedule);
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

struct morph_slice_waiter morph_schedule_recoverer = { .idle = morph_schedule_recover };

void morph_schedule_recover(struct morph_slice *slice)
{
	struct morph_fabric *fabric = slice->fabric;
	struct morph_schedule *schedule;

	lockdep_assert_held(&fabric->lock);
	morph_slice_wait_cancel(slice, &morph_schedule_recoverer);
	/* In other states the repair of the slice handles its schedules. */
	if (slice_tenancy(slice)->state != MORPH_SLICE_OK || slice->dying ||
	    fabric->state != MORPH_FABRIC_READY)
		return;
	list_for_each_entry(schedule, &slice_scheduling(slice)->schedules, node) {
		if (!schedule->lost)
			continue;
		if (slice->busy) {
			morph_slice_wait(slice, &morph_schedule_recoverer);
			return;
		}
		mend(schedule);
	}
}

void morph_schedule_mend(struct morph_slice *slice)
{
	struct morph_fabric *fabric = slice->fabric;
	struct morph_schedule *schedule;
	bool whole;

	lockdep_assert_held(&fabric->lock);
	if (slice->dying || fabric->state != MORPH_FABRIC_READY)
		return;
	list_for_each_entry(schedule, &slice_scheduling(slice)->schedules, node) {
		if (!schedule->id)
			continue;
		whole = is_whole(schedule);
		if (whole && schedule->hold.taken) {
			morph_schedule_hold_restore(schedule);
			whole = !schedule->crossed;
		}
		if (!whole)
			mend(schedule);
		morph_schedule_go_on(schedule);
	}
}

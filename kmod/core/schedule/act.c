// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests of a schedule's owner: start, light the next step or any step, wait, stop, unload. Each
 * enters the slice, which excludes steps begun by time and repairs.
 */
#include "core/base/base.h"
#include "core/recovery/recovery.h"
#include "core/schedule/schedule.h"
#include "core/slice/slice.h"
#include "core/txn/txn.h"

#define MANY_CIRCUITS	4096u	/* a hold of fabric->lock that visits more ends then */

/*
 * Enter the slice of a schedule, which may be unloaded meanwhile. Returns with fabric->lock held on
 * success.
 */
static int enter_locked(struct morph_schedule *schedule, struct morph_refusal *refusal)
{
	struct morph_slice *slice = schedule->slice;
	int ret;

	morph_fabric_lock(slice->fabric);
	schedule->callers++;
	ret = schedule->gone ? morph_run_refuse(schedule, refusal) :
			       morph_schedule_enter(schedule, refusal);
	schedule->callers--;
	if (!ret && schedule->gone) {
		ret = morph_run_refuse(schedule, refusal);
		morph_slice_leave(slice);
	}
	if (ret)
		mutex_unlock(&slice->fabric->lock);
	else
		schedule->times = (struct morph_times){};
	return ret;
}

static void leave_locked(struct morph_schedule *schedule)
{
	morph_slice_leave(schedule->slice);
	mutex_unlock(&schedule->slice->fabric->lock);
}

static void answer(struct morph_schedule *schedule, int ret, struct morph_times *times,
		   struct morph_refusal *refusal)
{
	*times = schedule->times;
	if (ret)
		*refusal = schedule->txn->refusal;
	if (ret && !refusal->error)
		refusal->error = ret;
}

static void mark_wanted(struct morph_schedule *schedule, const struct morph_step *step)
{
	u32 i;

	for (i = 0; i < step->count; i++)
		schedule->stamps[schedule->held[step->held + i]] = 1;
}

/*
 * Collect lit circuits that are neither in the step nor in @kept (may be NULL). The last argument
 * adds circuits of the step that have failed and must be lit again. Stops at the capacity of the
 * transaction. The result is in schedule->stamps; the loop reads each entry before it overwrites
 * it. O(circuits of the schedule). Context as for morph_schedule_change().
 */
static u32 collect_unwanted(struct morph_schedule *schedule, const struct morph_step *step,
			    const struct morph_step *kept, bool restart)
{
	u32 *stamps = schedule->stamps, room = max(2 * schedule->most, 1u), n = 0, i;

	memset(stamps, 0, array_size(schedule->circuits_count, sizeof(u32)));
	mark_wanted(schedule, step);
	if (kept)
		mark_wanted(schedule, kept);
	for (i = 0; i < schedule->circuits_count && n < room; i++) {
		const struct morph_circuit *circuit = schedule->circuits[i];
		bool failed = restart && (circuit->state == MORPH_CIRCUIT_FAILED || circuit->dark);

		if (circuit->listed && (!stamps[i] || failed))
			stamps[n++] = i;
	}
	if (schedule->circuits_count > MANY_CIRCUITS)
		morph_schedule_relock(schedule);
	return n;
}

/* The schedule was stopped: first darken the lit circuits that are not in the step. */
static int clear_for(struct morph_schedule *schedule, const struct morph_step *step)
{
	u32 count;
	int ret = 0;

	while (!ret) {
		count = collect_unwanted(schedule, step, NULL, true);
		if (!count)
			break;
		ret = morph_schedule_change(schedule, schedule->stamps, count, NULL, 0);
		if (!ret)
			schedule->step = MORPH_ANY;	/* the previous step is partly dark now */
	}
	return ret;
}

static int refuse_step(struct morph_schedule *schedule, u32 number, struct morph_refusal *refusal)
{
	return morph_refuse(refusal, -EINVAL, MORPH_REASON_ARGUMENT, 0, number,
			    "no step %u: the schedule has %u steps", number, schedule->steps_count);
}

int morph_schedule_start(struct morph_schedule *schedule, u32 number, struct morph_times *times,
			 struct morph_refusal *refusal)
{
	const struct morph_step *step;
	int ret;

	if (number >= schedule->steps_count)
		return refuse_step(schedule, number, refusal);
	step = &schedule->steps[number];
	ret = enter_locked(schedule, refusal);
	if (ret)
		return ret;
	if (schedule->state == MORPH_SCHEDULE_RUNNING)
		ret = morph_refuse(refusal, -EBUSY, MORPH_REASON_STATE, 0, 0,
				   "the schedule is running");
	else if (schedule->lost)
		ret = morph_refuse(refusal, -EHOSTUNREACH, MORPH_REASON_NO_ROUTE, 0, 0,
				   "after a repair, circuits of the schedule have no path");
	if (!ret)
		ret = morph_run_check_paths(schedule, number, refusal);
	if (ret)
		goto out;
	schedule->error = 0;
	schedule->failed_step = MORPH_ANY;
	schedule->is_ahead = false;
	schedule->wanted = 0;
	memset(schedule->arrived, 0, array_size(schedule->slice->ranks_count, sizeof(u64)));
	WRITE_ONCE(schedule->position, 0);
	WRITE_ONCE(schedule->starts, schedule->starts + 1);
	ret = clear_for(schedule, step);
	if (!ret) {
		morph_run_state(schedule, MORPH_SCHEDULE_RUNNING);
		ret = morph_run_light(schedule, number, NULL, 0, schedule->held + step->held,
				      step->count);
	} else {
		morph_run_stop_at(schedule, number, ret);
	}
	answer(schedule, ret, times, refusal);
out:
	leave_locked(schedule);
	return ret;
}

/*
 * Check that the position is the next one. Return 1 if it is already reached. Caller holds
 * fabric->lock.
 */
static int check_position(struct morph_schedule *schedule, u64 position,
			  struct morph_refusal *refusal)
{
	int ret = morph_run_refuse(schedule, refusal);

	if (ret)
		return ret;
	if (position && position <= schedule->position)
		return 1;
	if (position > schedule->position + 1)
		return morph_refuse(refusal, -EINVAL, MORPH_REASON_ARGUMENT, 0, 0,
				    "position is %llu, the next one is %llu", position,
				    schedule->position + 1);
	return 0;
}

/* Check whether a call may begin the step. */
static int check_called(struct morph_schedule *schedule, u32 step, struct morph_refusal *refusal)
{
	if (step == MORPH_ANY)
		return morph_refuse(refusal, -ENOENT, MORPH_REASON_STATE, 0, 0,
				    "the last step is lit, and the schedule does not loop");
	if (schedule->steps[step].advance != MORPH_ADVANCE_CALL)
		return morph_refuse(refusal, -EINVAL, MORPH_REASON_STATE, 0, step,
				    "%s begins step %u, not a call",
				    schedule->steps[step].advance == MORPH_ADVANCE_TIME ?
				    "time" : "a barrier", step);
	return 0;
}

int morph_schedule_advance(struct morph_schedule *schedule, u64 position,
			   struct morph_times *times, struct morph_refusal *refusal)
{
	int ret = enter_locked(schedule, refusal);

	if (ret)
		return ret;
	ret = check_position(schedule, position, refusal);
	if (!ret)
		ret = check_called(schedule, morph_run_next(schedule), refusal);
	if (!ret)
		ret = morph_run_check_paths(schedule, morph_run_next(schedule), refusal);
	if (!ret) {
		ret = morph_run_light_next(schedule);
		answer(schedule, ret, times, refusal);
	}
	leave_locked(schedule);
	return min(ret, 0);
}

/*
 * First darken circuits that were lit ahead for another step than the requested one, because they
 * may block the changes of the requested step. Circuits of the present step stay lit.
 */
static int darken_ahead(struct morph_schedule *schedule, const struct morph_step *step)
{
	const struct morph_step *now = &schedule->steps[schedule->step];
	u32 count = collect_unwanted(schedule, step, now, false);
	int ret = 0;

	if (count) {
		schedule->stepping = true;
		ret = morph_schedule_change(schedule, schedule->stamps, count, NULL, 0);
		schedule->stepping = false;
	}
	if (!ret)
		schedule->is_ahead = false;
	return ret;
}

/*
 * Light any step; circuits that it shares with the present step stay lit. Context as for
 * morph_run_light().
 */
static int light_any(struct morph_schedule *schedule, u32 number)
{
	const struct morph_step *step = &schedule->steps[number];
	u32 drops;
	int ret = 0;

	if (number != morph_run_next(schedule))
		ret = darken_ahead(schedule, step);
	if (ret) {
		morph_run_stop_at(schedule, number, ret);
		return ret;
	}
	drops = collect_unwanted(schedule, step, NULL, false);
	return morph_run_light(schedule, number, schedule->stamps, drops,
			       schedule->held + step->held, step->count);
}

int morph_schedule_jump(struct morph_schedule *schedule, u32 number, u64 position,
			struct morph_times *times, struct morph_refusal *refusal)
{
	int ret;

	if (number >= schedule->steps_count)
		return refuse_step(schedule, number, refusal);
	ret = enter_locked(schedule, refusal);
	if (ret)
		return ret;
	ret = check_position(schedule, position, refusal);
	if (!ret)
		ret = check_called(schedule, number, refusal);
	if (!ret)
		ret = morph_run_check_paths(schedule, number, refusal);
	if (!ret) {
		ret = light_any(schedule, number);
		answer(schedule, ret, times, refusal);
	}
	leave_locked(schedule);
	return min(ret, 0);
}

static bool is_over(const struct morph_schedule *schedule, u32 starts, u64 position)
{
	return READ_ONCE(schedule->position) >= position || READ_ONCE(schedule->gone) ||
	       READ_ONCE(schedule->starts) != starts ||
	       READ_ONCE(schedule->state) != MORPH_SCHEDULE_RUNNING ||
	       READ_ONCE(schedule->slice->fabric->state) != MORPH_FABRIC_READY;
}

/* wait_event() calls schedule(), hence the parameter's name. */
int morph_schedule_wait(struct morph_schedule *waited, u64 position,
			struct morph_refusal *refusal)
{
	struct morph_slice *slice = waited->slice;
	u32 starts;
	int ret = 0;

	morph_fabric_lock(slice->fabric);
	starts = waited->starts;
	if (waited->state == MORPH_SCHEDULE_LOADED)
		ret = morph_run_refuse(waited, refusal);
	mutex_unlock(&slice->fabric->lock);
	if (ret)
		return ret;
	ret = wait_event_interruptible(waited->changed, is_over(waited, starts, position));
	if (ret)
		return -EINTR;
	morph_fabric_lock(slice->fabric);
	if (slice->dying || slice->fabric->state != MORPH_FABRIC_READY)
		ret = morph_refuse(refusal, -ENODEV, MORPH_REASON_STATE, 0, 0,
				   "the slice or its fabric is gone");
	else if (waited->position < position && waited->state == MORPH_SCHEDULE_STOPPED)
		ret = morph_run_refuse(waited, refusal);
	else if (waited->position < position || waited->starts != starts)
		ret = morph_refuse(refusal, -ECANCELED, MORPH_REASON_STATE, 0, 0,
				   "the schedule was stopped, or unloaded");
	mutex_unlock(&slice->fabric->lock);
	return ret;
}

/* The caller has entered the slice and holds fabric->lock. */
static int stop_entered(struct morph_schedule *schedule)
{
	int ret;

	morph_run_cancel_timers(schedule);
	schedule->wanted = 0;
	morph_step_renew(schedule->txn);
	ret = morph_schedule_darken(schedule);
	if (ret) {
		/* Its timers are cancelled, so the schedule cannot continue. */
		if (schedule->state == MORPH_SCHEDULE_RUNNING)
			morph_run_stop_at(schedule, schedule->step, ret);
		return ret;
	}
	schedule->step = MORPH_ANY;
	schedule->lit_seq = 0;
	schedule->is_ahead = false;
	schedule->error = 0;
	schedule->failed_step = MORPH_ANY;
	WRITE_ONCE(schedule->position, 0);
	morph_run_state(schedule, MORPH_SCHEDULE_LOADED);
	return 0;
}

int morph_schedule_stop(struct morph_schedule *schedule, struct morph_times *times,
			struct morph_refusal *refusal)
{
	int ret = enter_locked(schedule, refusal);

	if (ret)
		return ret;
	ret = stop_entered(schedule);
	answer(schedule, ret, times, refusal);
	leave_locked(schedule);
	return ret;
}

int morph_schedule_unload(struct morph_schedule *schedule, struct morph_refusal *refusal)
{
	struct morph_slice *slice = schedule->slice;
	struct morph_times times;
	int ret = enter_locked(schedule, refusal);

	if (ret)
		return ret;
	ret = stop_entered(schedule);
	answer(schedule, ret, &times, refusal);
	if (!ret) {
		morph_schedule_unhold(schedule);
		morph_schedule_park(schedule);
		morph_schedule_drop(schedule);
		slice->fabric->seq++;
		morph_repair_recover(slice->fabric, MORPH_FREED_PATHS);
		morph_protection_touch_slice(slice);
		morph_schedule_put(schedule);	/* reference of the slice */
	}
	leave_locked(schedule);
	return ret;
}

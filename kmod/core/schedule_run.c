// SPDX-License-Identifier: GPL-2.0-only
/*
 * Going through a schedule: who begins a step, and what happens when nobody does.
 *
 * A step is begun by a call, by the last rank of a barrier, or by time; whoever begins it carries
 * it out, or queues that. What the next step wants and this one leaves room for is lit while it
 * runs. Positions count the steps that were lit, and a wish names the position that it wants: so
 * wishes may be repeated, and those that come late are void.
 *
 * Timers and works are never cancelled: each work holds a reference, and finds the schedule gone,
 * or at another position. Timers are, under fabric->lock, which they never take.
 */
#include <linux/ktime.h>

#include "core.h"
#include "refusal.h"
#include "repair.h"
#include "ring.h"
#include "route.h"
#include "schedule.h"
#include "slice.h"
#include "txn.h"

#define DEADLINE_AGAIN_NS	NSEC_PER_MSEC	/* when it has come while the slice was busy */

/* ------------------------------------------------------------------- queueing */

static void queue_step(struct morph_schedule *schedule, struct work_struct *work)
{
	morph_schedule_get(schedule);
	if (!queue_work(morph_step_wq, work))
		morph_schedule_put(schedule);
}

/* The step after the one that is lit, or MORPH_ANY. */
static u32 next_step(const struct morph_schedule *schedule)
{
	if (schedule->step + 1 < schedule->steps_count)
		return schedule->step + 1;
	return schedule->flags & MORPH_SCHEDULE_LOOP ? 0 : MORPH_ANY;
}

/* fabric->lock held. */
static void cancel_timers(struct morph_schedule *schedule)
{
	if (schedule->due_ns)
		hrtimer_cancel(&schedule->timer);
	if (schedule->deadline_ns)
		hrtimer_cancel(&schedule->deadline);
	schedule->due_ns = 0;
	schedule->deadline_ns = 0;
}

static bool all_arrived(const struct morph_schedule *schedule, const struct morph_step *step)
{
	u32 i;

	for (i = 0; i < step->ranks; i++)
		if (schedule->arrived[schedule->ranks[step->rank + i]] < schedule->position)
			return false;
	return true;
}

/* A step is lit: who begins the next one, and what of it can be lit now? fabric->lock held. */
static void await_next(struct morph_schedule *schedule)
{
	u32 next = next_step(schedule);
	const struct morph_step *step;

	cancel_timers(schedule);
	if (next == MORPH_ANY)
		return;
	step = &schedule->steps[next];
	if (step->deadline_ns) {
		schedule->deadline_ns = schedule->lit_ns + step->deadline_ns;
		hrtimer_start(&schedule->deadline, ns_to_ktime(schedule->deadline_ns),
			      HRTIMER_MODE_ABS);
	}
	if (step->advance == MORPH_ADVANCE_TIME) {
		schedule->due_ns = schedule->lit_ns + step->after_ns;
		hrtimer_start(&schedule->timer, ns_to_ktime(schedule->due_ns), HRTIMER_MODE_ABS);
	}
	if (step->advance == MORPH_ADVANCE_BARRIER && all_arrived(schedule, step)) {
		schedule->wanted = schedule->position + 1;
		queue_step(schedule, &schedule->step_work);
	}
	if (step->ahead)
		queue_step(schedule, &schedule->ahead_work);
}

static enum hrtimer_restart time_has_come(struct hrtimer *timer)
{
	struct morph_schedule *schedule = container_of(timer, struct morph_schedule, timer);

	queue_step(schedule, &schedule->time_work);
	return HRTIMER_NORESTART;
}

static enum hrtimer_restart deadline_has_come(struct hrtimer *timer)
{
	struct morph_schedule *schedule = container_of(timer, struct morph_schedule, deadline);

	queue_step(schedule, &schedule->deadline_work);
	return HRTIMER_NORESTART;
}

/* ---------------------------------------------------------------------- steps */

static void set_state(struct morph_schedule *schedule, u32 state)
{
	WRITE_ONCE(schedule->state, state);
	morph_state_schedule(schedule);
	wake_up_all(&schedule->changed);
}

/* It does not go on by itself; what is lit stays. fabric->lock held. */
static void stop_at(struct morph_schedule *schedule, u32 step, int error)
{
	u32 outcome = schedule->txn->outcome;

	cancel_timers(schedule);
	schedule->wanted = 0;
	schedule->error = error;
	schedule->failed_step = step;
	schedule->slice->fabric->seq++;
	set_state(schedule, MORPH_SCHEDULE_STOPPED);
	if (outcome != MORPH_OUTCOME_BROKEN)
		outcome = MORPH_OUTCOME_ROLLED_BACK;
	morph_schedule_tell(schedule, outcome, step);
}

void morph_schedule_wake(struct morph_slice *slice)
{
	struct morph_schedule *schedule;

	lockdep_assert_held(&slice->fabric->lock);
	list_for_each_entry(schedule, &slice->schedules, node)
		wake_up_all(&schedule->changed);
}

void morph_schedule_lose(struct morph_schedule *schedule, int error)
{
	if (schedule->state != MORPH_SCHEDULE_RUNNING)
		return;
	morph_step_renew(schedule->txn);
	stop_at(schedule, schedule->step, error);
}

/* A circuit that the step goes on with may have failed since it was lit. */
static int check_kept(struct morph_schedule *schedule, const struct morph_step *step)
{
	u32 i;

	for (i = 0; i < step->count; i++) {
		const struct morph_circuit *circuit =
			schedule->circuits[schedule->held[step->held + i]];

		if (!circuit->listed || circuit->state != MORPH_CIRCUIT_FAILED)
			continue;
		return morph_refuse(&schedule->txn->refusal, -EIO, MORPH_REASON_UNUSABLE, 0, 0,
				    "circuit %u of the step is dark", circuit->id);
	}
	return 0;
}

/* Others' light may have changed since the step was judged. */
static int judge_again(struct morph_schedule *schedule, u32 number)
{
	const struct morph_step *step = &schedule->steps[number];
	u32 wrong;

	if (step->judged == morph_schedule_others(schedule))
		return 0;
	return morph_schedule_judge(schedule, number, schedule->held + step->held, step->count,
				    schedule->txn, &wrong);
}

static void count_run(struct morph_schedule *schedule, struct morph_step *step, u64 begin)
{
	const u64 *phases = schedule->txn->times.phase_ns;
	struct morph_schedule_step_info *info = &step->info;
	u64 now = ktime_get_ns();

	info->runs++;
	if (schedule->position)
		info->wait_ns += begin - schedule->lit_ns;
	info->program_ns += phases[MORPH_PHASE_PROGRAM];
	info->settle_ns += phases[MORPH_PHASE_SETTLE];
	info->relock_ns += phases[MORPH_PHASE_RELOCK];
	info->verify_ns += phases[MORPH_PHASE_VERIFY];
	info->longest_ns = max(info->longest_ns, now - begin);
	if (schedule->due_ns && begin > schedule->due_ns)
		info->late_ns += begin - schedule->due_ns;
	if (schedule->deadline_ns && now > schedule->deadline_ns)
		info->late++;
	schedule->lit_ns = now;
}

/*
 * Light a step in place of what is lit. The slice has been entered; fabric->lock held, dropped
 * while the device works. What fails leaves what was lit, and stops the schedule.
 */
static int light_step(struct morph_schedule *schedule, u32 number, const u32 *drop, u32 drops,
		      const u32 *light, u32 lights)
{
	struct morph_step *step = &schedule->steps[number];
	u64 begin = ktime_get_ns();
	int ret;

	schedule->stepping = true;
	morph_step_renew(schedule->txn);
	ret = judge_again(schedule, number);
	if (!ret)
		ret = check_kept(schedule, step);
	if (!ret)
		ret = morph_schedule_change(schedule, drop, drops, light, lights);
	schedule->stepping = false;
	if (ret) {
		stop_at(schedule, number, ret);
		return ret;
	}
	count_run(schedule, step, begin);
	schedule->step = number;
	schedule->is_ahead = false;
	schedule->lit_seq = schedule->slice->fabric->seq;
	WRITE_ONCE(schedule->position, schedule->position + 1);
	morph_state_schedule(schedule);
	await_next(schedule);
	if (wq_has_sleeper(&schedule->changed))
		wake_up_all(&schedule->changed);
	return 0;
}

/* The next step, if it is still wanted. As light_step(). */
static int light_next(struct morph_schedule *schedule)
{
	u32 next = next_step(schedule);
	const struct morph_step *step = &schedule->steps[next];

	return light_step(schedule, next, schedule->changes + step->drop, step->drops,
			  schedule->changes + step->light, step->lights);
}

/*
 * Hardware may have failed on the way of a circuit that was dark, so that nobody has missed it.
 * A repair leads it elsewhere, and comes back to what was wanted. O(circuits of the step * path).
 */
static int check_ways(struct morph_schedule *schedule, u32 number, struct morph_refusal *refusal)
{
	const struct morph_step *step = &schedule->steps[number];
	struct morph_slice *slice = schedule->slice;
	u32 i;

	for (i = 0; i < step->count; i++) {
		const struct morph_circuit *circuit =
			schedule->circuits[schedule->held[step->held + i]];

		/* Of one that is astray a repair has looked for a way already. */
		if (circuit->listed || circuit->astray ||
		    morph_route_sound(slice->fabric, circuit->route))
			continue;
		morph_repair_kick(slice, 0);
		return morph_refuse(refusal, -EAGAIN, MORPH_REASON_UNUSABLE, 0, 0,
				    "circuit %u is being led round failed hardware; try again",
				    circuit->id);
	}
	return 0;
}

int morph_schedule_enter(struct morph_schedule *schedule, struct morph_refusal *refusal)
{
	int ret = morph_slice_enter(schedule->slice, false);

	if (ret == -EAGAIN)
		return morph_refuse(refusal, ret, MORPH_REASON_STATE, 0, 0,
				    "the slice is being repaired; try again");
	if (ret == -ENODEV)
		return morph_refuse(refusal, ret, MORPH_REASON_STATE, 0, 0,
				    "the slice or its fabric is gone");
	return ret;
}

static bool is_wanted(const struct morph_schedule *schedule)
{
	return !schedule->gone && schedule->state == MORPH_SCHEDULE_RUNNING &&
	       schedule->wanted > schedule->position && next_step(schedule) != MORPH_ANY;
}

/*
 * Carry out what a barrier or time asks for: a step, since others want the lock too. During a
 * repair it is left: who ends that comes back to it. fabric->lock held, dropped meanwhile.
 */
static void follow_wish(struct morph_schedule *schedule)
{
	bool mends = false;

	if (!is_wanted(schedule) || morph_slice_enter(schedule->slice, false))
		return;
	if (is_wanted(schedule)) {
		mends = check_ways(schedule, next_step(schedule), NULL);
		if (!mends)
			light_next(schedule);
	}
	morph_slice_leave(schedule->slice);
	if (mends)
		return;
	if (is_wanted(schedule))
		queue_step(schedule, &schedule->step_work);
}

static void step_work_fn(struct work_struct *work)
{
	struct morph_schedule *schedule = container_of(work, struct morph_schedule, step_work);
	struct morph_fabric *fabric = schedule->slice->fabric;

	mutex_lock(&fabric->lock);
	follow_wish(schedule);
	mutex_unlock(&fabric->lock);
	morph_schedule_put(schedule);
}

/* Time is up for the present step, unless that has been taken from it. */
static void time_work_fn(struct work_struct *work)
{
	struct morph_schedule *schedule = container_of(work, struct morph_schedule, time_work);
	struct morph_fabric *fabric = schedule->slice->fabric;

	mutex_lock(&fabric->lock);
	if (schedule->due_ns && ktime_get_ns() >= schedule->due_ns && !schedule->stepping)
		schedule->wanted = schedule->position + 1;
	follow_wish(schedule);
	mutex_unlock(&fabric->lock);
	morph_schedule_put(schedule);
}

static void deadline_work_fn(struct work_struct *work)
{
	struct morph_schedule *schedule = container_of(work, struct morph_schedule, deadline_work);
	struct morph_fabric *fabric = schedule->slice->fabric;

	mutex_lock(&fabric->lock);
	/* One that is under way is late. During a repair nobody can begin it. */
	if (schedule->gone || schedule->state != MORPH_SCHEDULE_RUNNING ||
	    !schedule->deadline_ns || ktime_get_ns() < schedule->deadline_ns ||
	    schedule->stepping || schedule->slice->repairing || is_wanted(schedule))
		goto out;
	if (schedule->slice->busy) {
		/* Who would begin the step may wait for that. It is late nevertheless. */
		hrtimer_start(&schedule->deadline,
			      ns_to_ktime(ktime_get_ns() + DEADLINE_AGAIN_NS),
			      HRTIMER_MODE_ABS);
		goto out;
	}
	morph_step_renew(schedule->txn);
	stop_at(schedule, next_step(schedule), -ETIME);
out:
	mutex_unlock(&fabric->lock);
	morph_schedule_put(schedule);
}

/* What the next step wants, and the present one leaves dark. */
static void ahead_work_fn(struct work_struct *work)
{
	struct morph_schedule *schedule = container_of(work, struct morph_schedule, ahead_work);
	struct morph_fabric *fabric = schedule->slice->fabric;
	const struct morph_step *step;

	mutex_lock(&fabric->lock);
	if (schedule->gone || schedule->is_ahead ||
	    schedule->state != MORPH_SCHEDULE_RUNNING || next_step(schedule) == MORPH_ANY ||
	    is_wanted(schedule) || morph_slice_enter(schedule->slice, false))
		goto out;
	if (!schedule->gone && !schedule->is_ahead &&
	    schedule->state == MORPH_SCHEDULE_RUNNING && next_step(schedule) != MORPH_ANY &&
	    !is_wanted(schedule) && !judge_again(schedule, next_step(schedule))) {
		step = &schedule->steps[next_step(schedule)];
		/* What fails now is tried with the step, whose failure it is then. */
		schedule->is_ahead = !morph_schedule_change(schedule, NULL, 0,
							    schedule->changes + step->light,
							    step->ahead);
	}
	morph_slice_leave(schedule->slice);
out:
	mutex_unlock(&fabric->lock);
	morph_schedule_put(schedule);
}

void morph_schedule_run_init(struct morph_schedule *schedule)
{
	init_waitqueue_head(&schedule->changed);
	hrtimer_init(&schedule->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	hrtimer_init(&schedule->deadline, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	schedule->timer.function = time_has_come;
	schedule->deadline.function = deadline_has_come;
	INIT_WORK(&schedule->step_work, step_work_fn);
	INIT_WORK(&schedule->time_work, time_work_fn);
	INIT_WORK(&schedule->ahead_work, ahead_work_fn);
	INIT_WORK(&schedule->deadline_work, deadline_work_fn);
}

void morph_schedule_run_stop(struct morph_schedule *schedule)
{
	lockdep_assert_held(&schedule->slice->fabric->lock);
	cancel_timers(schedule);
	WRITE_ONCE(schedule->gone, true);
	wake_up_all(&schedule->changed);
}

void morph_schedule_go_on(struct morph_schedule *schedule)
{
	const struct morph_step *step;

	lockdep_assert_held(&schedule->slice->fabric->lock);
	if (schedule->state != MORPH_SCHEDULE_RUNNING || next_step(schedule) == MORPH_ANY)
		return;
	step = &schedule->steps[next_step(schedule)];
	if (is_wanted(schedule)) {
		queue_step(schedule, &schedule->step_work);
		return;
	}
	if (step->ahead)
		queue_step(schedule, &schedule->ahead_work);
	/* The time that the repair took is not the ranks'. */
	if (!schedule->deadline_ns)
		return;
	schedule->deadline_ns += ktime_get_ns() - schedule->slice->fault_noticed_ns;
	hrtimer_start(&schedule->deadline, ns_to_ktime(schedule->deadline_ns), HRTIMER_MODE_ABS);
}

/* ------------------------------------------------------------------ what is asked */

static int refuse_state(struct morph_schedule *schedule, struct morph_refusal *refusal)
{
	if (schedule->gone)
		return morph_refuse(refusal, -ECANCELED, MORPH_REASON_STATE, 0, 0,
				    "the schedule was unloaded");
	if (schedule->state == MORPH_SCHEDULE_LOADED)
		return morph_refuse(refusal, -EINVAL, MORPH_REASON_STATE, 0, 0,
				    "the schedule was not started");
	if (schedule->state == MORPH_SCHEDULE_STOPPED)
		return morph_refuse(refusal, -ECANCELED, MORPH_REASON_STATE, 0,
				    schedule->failed_step,
				    "the schedule has stopped at step %u: error %d",
				    schedule->failed_step, schedule->error);
	return 0;
}

/* Enter the slice for a schedule that may be gone by then. fabric->lock held on success. */
static int enter_locked(struct morph_schedule *schedule, struct morph_refusal *refusal)
{
	struct morph_slice *slice = schedule->slice;
	int ret;

	mutex_lock(&slice->fabric->lock);
	ret = schedule->gone ? refuse_state(schedule, refusal) :
			       morph_schedule_enter(schedule, refusal);
	if (!ret && schedule->gone) {
		ret = refuse_state(schedule, refusal);
		morph_slice_leave(slice);
	}
	if (ret)
		mutex_unlock(&slice->fabric->lock);
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
	*times = schedule->txn->times;
	if (ret)
		*refusal = schedule->txn->refusal;
	if (ret && !refusal->error)
		refusal->error = ret;
}

/*
 * Circuits that are lit, and that the step does not want, or, if @anew, wants anew since they have
 * failed: as many as the transaction has room for. In schedule->stamps, which is read before it
 * is written over. O(circuits of the schedule).
 */
static u32 collect_unwanted(struct morph_schedule *schedule, const struct morph_step *step,
			    bool anew)
{
	u32 *stamps = schedule->stamps, room = max(2 * schedule->most, 1u), n = 0, i;

	memset(stamps, 0, array_size(schedule->circuits_count, sizeof(u32)));
	for (i = 0; i < step->count; i++)
		stamps[schedule->held[step->held + i]] = 1;
	for (i = 0; i < schedule->circuits_count && n < room; i++) {
		const struct morph_circuit *circuit = schedule->circuits[i];
		bool failed = anew && (circuit->state == MORPH_CIRCUIT_FAILED || circuit->dark);

		if (circuit->listed && (!stamps[i] || failed))
			stamps[n++] = i;
	}
	return n;
}

/* The schedule has stopped somewhere: what is lit, and no part of the step, goes first. */
static int clear_for(struct morph_schedule *schedule, const struct morph_step *step)
{
	u32 count;
	int ret = 0;

	while (!ret) {
		count = collect_unwanted(schedule, step, true);
		if (!count)
			break;
		ret = morph_schedule_change(schedule, schedule->stamps, count, NULL, 0);
		if (!ret)
			schedule->step = MORPH_ANY;	/* of the one before a part is dark */
	}
	return ret;
}

static int refuse_step(struct morph_schedule *schedule, u32 number, struct morph_refusal *refusal)
{
	return morph_refuse(refusal, -EINVAL, MORPH_REASON_ARGUMENT, 0, number,
			    "step is %u, the schedule has %u", number, schedule->steps_count);
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
				   "a repair has left circuits of the schedule without a path");
	if (!ret)
		ret = check_ways(schedule, number, refusal);
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
		set_state(schedule, MORPH_SCHEDULE_RUNNING);
		ret = light_step(schedule, number, NULL, 0, schedule->held + step->held,
				 step->count);
	} else {
		stop_at(schedule, number, ret);
	}
	answer(schedule, ret, times, refusal);
out:
	leave_locked(schedule);
	return ret;
}

/* Is the position the next one? 1: it has been reached. fabric->lock held. */
static int check_position(struct morph_schedule *schedule, u64 position,
			  struct morph_refusal *refusal)
{
	int ret = refuse_state(schedule, refusal);

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

/* May the step be begun by a call? */
static int check_called(struct morph_schedule *schedule, u32 step, struct morph_refusal *refusal)
{
	if (step == MORPH_ANY)
		return morph_refuse(refusal, -ENOENT, MORPH_REASON_STATE, 0, 0,
				    "the last step is lit, and the schedule is no loop");
	if (schedule->steps[step].advance != MORPH_ADVANCE_CALL)
		return morph_refuse(refusal, -EINVAL, MORPH_REASON_STATE, 0, step,
				    "step %u is begun by %s", step,
				    schedule->steps[step].advance == MORPH_ADVANCE_TIME ?
				    "time" : "a barrier");
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
		ret = check_called(schedule, next_step(schedule), refusal);
	if (!ret)
		ret = check_ways(schedule, next_step(schedule), refusal);
	if (!ret) {
		ret = light_next(schedule);
		answer(schedule, ret, times, refusal);
	}
	leave_locked(schedule);
	return min(ret, 0);
}

/* What the step before and this one have in common stays. As light_step(). */
static int light_any(struct morph_schedule *schedule, u32 number)
{
	const struct morph_step *step = &schedule->steps[number];
	u32 drops = collect_unwanted(schedule, step, false);
	int ret = 0;

	/* More than a step has, since some are lit ahead: there is no room for both then. */
	if (drops > schedule->most) {
		schedule->stepping = true;
		ret = clear_for(schedule, step);
		schedule->stepping = false;
		drops = 0;
	}
	if (ret) {
		stop_at(schedule, number, ret);
		return ret;
	}
	return light_step(schedule, number, schedule->stamps, drops, schedule->held + step->held,
			  step->count);
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
		ret = check_ways(schedule, number, refusal);
	if (!ret) {
		ret = light_any(schedule, number);
		answer(schedule, ret, times, refusal);
	}
	leave_locked(schedule);
	return min(ret, 0);
}

int morph_schedule_arrive(struct morph_schedule *schedule, u32 rank, u64 position,
			  struct morph_refusal *refusal)
{
	struct morph_slice *slice = schedule->slice;
	u32 next;
	int ret;

	if (rank >= slice->ranks_count)
		return morph_refuse(refusal, -ENOENT, MORPH_REASON_ARGUMENT, 0, rank,
				    "there is no rank %u, the slice has %u", rank,
				    slice->ranks_count);
	mutex_lock(&slice->fabric->lock);
	if (slice->fabric->state != MORPH_FABRIC_READY)
		ret = morph_refuse(refusal, -ENODEV, MORPH_REASON_STATE, 0, 0,
				   "the fabric is gone");
	else
		ret = refuse_state(schedule, refusal);
	if (!ret && (!position || position > schedule->position))
		ret = morph_refuse(refusal, -EINVAL, MORPH_REASON_ARGUMENT, 0, 0,
				   "position %llu can't be done with, %llu is lit", position,
				   schedule->position);
	if (ret)
		goto out;
	schedule->arrived[rank] = max(schedule->arrived[rank], position);
	next = next_step(schedule);
	if (next == MORPH_ANY || schedule->steps[next].advance != MORPH_ADVANCE_BARRIER ||
	    !all_arrived(schedule, &schedule->steps[next]))
		goto out;
	schedule->wanted = schedule->position + 1;
	follow_wish(schedule);
	/* A signal is no reason to leave the others waiting. Queued twice it is queued once. */
	if (is_wanted(schedule))
		queue_step(schedule, &schedule->step_work);
out:
	mutex_unlock(&slice->fabric->lock);
	return ret;
}

static bool is_over(const struct morph_schedule *schedule, u32 starts, u64 position)
{
	return READ_ONCE(schedule->position) >= position || READ_ONCE(schedule->gone) ||
	       READ_ONCE(schedule->starts) != starts ||
	       READ_ONCE(schedule->state) != MORPH_SCHEDULE_RUNNING ||
	       READ_ONCE(schedule->slice->fabric->state) != MORPH_FABRIC_READY;
}

/* wait_event() calls schedule(), hence the name. */
int morph_schedule_wait(struct morph_schedule *waited, u64 position,
			struct morph_refusal *refusal)
{
	struct morph_slice *slice = waited->slice;
	u32 starts;
	int ret = 0;

	mutex_lock(&slice->fabric->lock);
	starts = waited->starts;
	if (waited->state == MORPH_SCHEDULE_LOADED)
		ret = refuse_state(waited, refusal);
	mutex_unlock(&slice->fabric->lock);
	if (ret)
		return ret;
	ret = wait_event_interruptible(waited->changed, is_over(waited, starts, position));
	if (ret)
		return -EINTR;
	mutex_lock(&slice->fabric->lock);
	if (slice->dying || slice->fabric->state != MORPH_FABRIC_READY)
		ret = morph_refuse(refusal, -ENODEV, MORPH_REASON_STATE, 0, 0,
				   "the slice or its fabric is gone");
	else if (waited->position < position && waited->state == MORPH_SCHEDULE_STOPPED)
		ret = refuse_state(waited, refusal);
	else if (waited->position < position || waited->starts != starts)
		ret = morph_refuse(refusal, -ECANCELED, MORPH_REASON_STATE, 0, 0,
				   "the schedule was stopped, or unloaded");
	mutex_unlock(&slice->fabric->lock);
	return ret;
}

/* The slice has been entered, fabric->lock held. */
static int stop_entered(struct morph_schedule *schedule)
{
	int ret;

	cancel_timers(schedule);
	schedule->wanted = 0;
	morph_step_renew(schedule->txn);
	ret = morph_schedule_darken(schedule);
	if (ret) {
		/* Its timers are gone: it does not go on. */
		if (schedule->state == MORPH_SCHEDULE_RUNNING)
			stop_at(schedule, schedule->step, ret);
		return ret;
	}
	schedule->step = MORPH_ANY;
	schedule->lit_seq = 0;
	schedule->is_ahead = false;
	schedule->error = 0;
	schedule->failed_step = MORPH_ANY;
	WRITE_ONCE(schedule->position, 0);
	set_state(schedule, MORPH_SCHEDULE_LOADED);
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
		morph_repair_recover(slice->fabric);
		morph_plan_touch_slice(slice);
		morph_schedule_put(schedule);	/* the slice's */
	}
	leave_locked(schedule);
	return ret;
}

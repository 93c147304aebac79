// SPDX-License-Identifier: GPL-2.0-only
/*
 * Execution of a schedule: begin steps, and stop after a missed deadline.
 *
 * A call, the last rank of a barrier, or time begins a step. The thread that begins it executes it,
 * or queues a work item. Circuits of the next step that fit beside the present step are lit ahead,
 * while the present step runs. Positions count the steps that were lit. A request names the
 * position that it wants, so repeated requests are harmless and late ones have no effect.
 *
 * Timers and work items hold a reference each. Work items are never cancelled: they check whether
 * the schedule is unloaded or at another position. Timers are cancelled under fabric->lock, which
 * their functions never take.
 */
#include <linux/ktime.h>

#include "core/base/base.h"
#include "core/ledger/ledger.h"
#include "core/recovery/recovery.h"
#include "core/schedule/schedule.h"
#include "core/slice/slice.h"
#include "core/txn/txn.h"

#define DEADLINE_AGAIN_NS	NSEC_PER_MSEC	/* retry delay while the slice is busy */

/* ----------------------------------------------------------------- queueing */

static void queue_step(struct morph_schedule *schedule, struct work_struct *work)
{
	morph_schedule_get(schedule);
	if (!queue_work(morph_step_wq, work))
		morph_schedule_put(schedule);
}

/* The step after the one that is lit, or MORPH_ANY. */
u32 morph_run_next(const struct morph_schedule *schedule)
{
	if (schedule->step + 1 < schedule->steps_count)
		return schedule->step + 1;
	return schedule->flags & MORPH_SCHEDULE_LOOP ? 0 : MORPH_ANY;
}

/* Caller holds fabric->lock. */
void morph_run_cancel_timers(struct morph_schedule *schedule)
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

/*
 * A step is lit: start its timers, and queue the circuits to light ahead. Caller holds
 * fabric->lock.
 */
static void await_next(struct morph_schedule *schedule)
{
	u32 next = morph_run_next(schedule);
	const struct morph_step *step;

	morph_run_cancel_timers(schedule);
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

/* -------------------------------------------------------------------- steps */

void morph_run_state(struct morph_schedule *schedule, u32 state)
{
	WRITE_ONCE(schedule->state, state);
	morph_report_schedule_changed(schedule);
	wake_up_all(&schedule->changed);
}

/* Stop the schedule; lit circuits stay lit. Caller holds fabric->lock. */
void morph_run_stop_at(struct morph_schedule *schedule, u32 step, int error)
{
	u32 outcome = schedule->txn->outcome;

	morph_run_cancel_timers(schedule);
	schedule->wanted = 0;
	schedule->error = error;
	schedule->failed_step = step;
	schedule->slice->fabric->seq++;
	morph_run_state(schedule, MORPH_SCHEDULE_STOPPED);
	if (outcome != MORPH_OUTCOME_BROKEN)
		outcome = MORPH_OUTCOME_ROLLED_BACK;
	morph_schedule_report(schedule, outcome, step);
}

void morph_schedule_wake(struct morph_slice *slice)
{
	struct morph_schedule *schedule;

	lockdep_assert_held(&slice->fabric->lock);
	list_for_each_entry(schedule, &slice_scheduling(slice)->schedules, node)
		wake_up_all(&schedule->changed);
}

void morph_schedule_lose(struct morph_schedule *schedule, int error)
{
	morph_step_renew(schedule->txn);
	if (schedule->state == MORPH_SCHEDULE_RUNNING)
		morph_run_stop_at(schedule, schedule->step, error);
	else
		morph_schedule_report(schedule, MORPH_OUTCOME_ROLLED_BACK, schedule->step);
}

/* A circuit that stays lit in the next step may have failed since it was lit. */
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

static void add_phases(struct morph_schedule_step_info *info, const u64 *phases)
{
	info->program_ns += phases[MORPH_PHASE_PROGRAM];
	info->settle_ns += phases[MORPH_PHASE_SETTLE];
	info->relock_ns += phases[MORPH_PHASE_RELOCK];
	info->verify_ns += phases[MORPH_PHASE_VERIFY];
}

static void count_run(struct morph_schedule *schedule, struct morph_step *step, u64 begin)
{
	struct morph_schedule_step_info *info = &step->info;
	u64 now = ktime_get_ns();

	info->runs++;
	if (schedule->position)
		info->wait_ns += begin - schedule->lit_ns;
	add_phases(info, schedule->times.phase_ns);
	if (schedule->is_ahead)
		add_phases(info, schedule->ahead_times.phase_ns);
	info->longest_ns = max(info->longest_ns, now - begin);
	if (schedule->due_ns && begin > schedule->due_ns)
		info->late_ns += begin - schedule->due_ns;
	if (schedule->deadline_ns && now > schedule->deadline_ns)
		info->late++;
	schedule->lit_ns = now;
}

/*
 * Light a step in place of the lit circuits. If that fails, the previous light stays, and the
 * schedule stops. Caller has entered the slice and holds fabric->lock; the function drops it while
 * the device works.
 */
int morph_run_light(struct morph_schedule *schedule, u32 number, const u32 *drop, u32 drops,
		    const u32 *light, u32 lights)
{
	struct morph_step *step = &schedule->steps[number];
	u64 begin = ktime_get_ns();
	int ret;

	schedule->stepping = true;
	morph_step_renew(schedule->txn);
	ret = morph_schedule_judge_again(schedule, number);
	if (!ret)
		ret = check_kept(schedule, step);
	if (!ret)
		ret = morph_schedule_change(schedule, drop, drops, light, lights);
	schedule->stepping = false;
	if (ret) {
		morph_run_stop_at(schedule, number, ret);
		/*
		 * If the failed hardware is known by now, find other paths before the next start.
		 */
		morph_run_check_paths(schedule, number, NULL);
		return ret;
	}
	count_run(schedule, step, begin);
	schedule->step = number;
	schedule->is_ahead = false;
	schedule->lit_seq = schedule->slice->fabric->seq;
	WRITE_ONCE(schedule->position, schedule->position + 1);
	morph_report_schedule_changed(schedule);
	await_next(schedule);
	if (wq_has_sleeper(&schedule->changed))
		wake_up_all(&schedule->changed);
	return 0;
}

/* Light the next step if it is still wanted. Context as for morph_run_light(). */
int morph_run_light_next(struct morph_schedule *schedule)
{
	u32 next = morph_run_next(schedule);
	const struct morph_step *step = &schedule->steps[next];

	return morph_run_light(schedule, next, schedule->changes + step->drop, step->drops,
			       schedule->changes + step->light, step->lights);
}

/*
 * Hardware may have failed on the path of a dark circuit without any alarm. Queue a repair that
 * reroutes the circuit and then continues with the wanted step. O(circuits of the step * path).
 */
int morph_run_check_paths(struct morph_schedule *schedule, u32 number,
			  struct morph_refusal *refusal)
{
	const struct morph_step *step = &schedule->steps[number];
	struct morph_slice *slice = schedule->slice;
	u32 i;

	/* All hardware is healthy. */
	if (!ledger_of(slice->fabric)->impaired)
		return 0;
	for (i = 0; i < step->count; i++) {
		const struct morph_circuit *circuit =
			schedule->circuits[schedule->held[step->held + i]];

		/* The last repair has already searched a path for an astray circuit. */
		if (circuit->listed || circuit_scheduling(circuit)->astray ||
		    morph_route_is_healthy(slice->fabric, circuit->route))
			continue;
		morph_repair_kick(slice, 0);
		return morph_refuse(refusal, -EAGAIN, MORPH_REASON_UNUSABLE, 0, 0,
				    "circuit %u is being rerouted; try again",
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
	       schedule->wanted > schedule->position && morph_run_next(schedule) != MORPH_ANY;
}

static void let_in(struct morph_slice *slice)
{
	struct morph_schedule *schedule;

	lockdep_assert_held(&slice->fabric->lock);
	list_for_each_entry(schedule, &slice_scheduling(slice)->schedules, node) {
		if (!schedule->held_up)
			continue;
		schedule->held_up = false;
		queue_step(schedule, is_wanted(schedule) ? &schedule->step_work :
							   &schedule->ahead_work);
	}
}

struct morph_slice_waiter morph_schedule_stepper = { .idle = let_in };

/*
 * Enter the slice without waiting, since a work item that waits would block others. When the slice
 * becomes idle, morph_schedule_stepper queues the work again. Caller holds fabric->lock.
 */
static bool enter_now(struct morph_schedule *schedule)
{
	struct morph_slice *slice = schedule->slice;

	if (slice->busy) {
		schedule->held_up = true;
		morph_slice_wait(slice, &morph_schedule_stepper);
		return false;
	}
	return !morph_slice_enter(slice, false);
}

/*
 * Light one step that a barrier or time wants, so that the lock is not held for long. During a
 * repair do nothing: its end calls morph_schedule_go_on(). Caller has entered the slice and holds
 * fabric->lock; the function drops it meanwhile.
 */
static void follow_entered(struct morph_schedule *schedule)
{
	bool mends = false;

	if (is_wanted(schedule)) {
		schedule->times = (struct morph_times){};
		mends = morph_run_check_paths(schedule, morph_run_next(schedule), NULL);
		if (!mends)
			morph_run_light_next(schedule);
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
	struct morph_acting acting;

	morph_act_for(&acting, schedule->slice->user);
	morph_fabric_lock(fabric);
	if (is_wanted(schedule) && enter_now(schedule))
		follow_entered(schedule);
	mutex_unlock(&fabric->lock);
	morph_act_end(&acting);
	morph_schedule_put(schedule);
}

/* The time of the present step is over, unless a call has cancelled it. */
static void time_work_fn(struct work_struct *work)
{
	struct morph_schedule *schedule = container_of(work, struct morph_schedule, time_work);
	struct morph_fabric *fabric = schedule->slice->fabric;
	struct morph_acting acting;

	morph_act_for(&acting, schedule->slice->user);
	morph_fabric_lock(fabric);
	if (schedule->due_ns && ktime_get_ns() >= schedule->due_ns && !schedule->stepping)
		schedule->wanted = schedule->position + 1;
	if (is_wanted(schedule) && enter_now(schedule))
		follow_entered(schedule);
	mutex_unlock(&fabric->lock);
	morph_act_end(&acting);
	morph_schedule_put(schedule);
}

static void deadline_work_fn(struct work_struct *work)
{
	struct morph_schedule *schedule = container_of(work, struct morph_schedule, deadline_work);
	struct morph_fabric *fabric = schedule->slice->fabric;
	struct morph_acting acting;

	morph_act_for(&acting, schedule->slice->user);
	morph_fabric_lock(fabric);
	/* A step that is being lit is not late. During a repair no step can begin. */
	if (schedule->gone || schedule->state != MORPH_SCHEDULE_RUNNING ||
	    !schedule->deadline_ns || ktime_get_ns() < schedule->deadline_ns ||
	    schedule->stepping || schedule->slice->repairing || is_wanted(schedule))
		goto out;
	if (schedule->changing || schedule->callers) {
		/*
		 * The present change or call began in time. If it does not begin the step, the step
		 * is late.
		 */
		hrtimer_start(&schedule->deadline,
			      ns_to_ktime(ktime_get_ns() + DEADLINE_AGAIN_NS),
			      HRTIMER_MODE_ABS);
		goto out;
	}
	morph_step_renew(schedule->txn);
	morph_run_stop_at(schedule, morph_run_next(schedule), -ETIME);
out:
	mutex_unlock(&fabric->lock);
	morph_act_end(&acting);
	morph_schedule_put(schedule);
}

/* Light the circuits of the next step that are still dark. */
static void ahead_work_fn(struct work_struct *work)
{
	struct morph_schedule *schedule = container_of(work, struct morph_schedule, ahead_work);
	struct morph_fabric *fabric = schedule->slice->fabric;
	const struct morph_step *step;
	struct morph_acting acting;

	morph_act_for(&acting, schedule->slice->user);
	morph_fabric_lock(fabric);
	if (schedule->gone || schedule->is_ahead ||
	    schedule->state != MORPH_SCHEDULE_RUNNING || morph_run_next(schedule) == MORPH_ANY ||
	    is_wanted(schedule) || !enter_now(schedule))
		goto out;
	step = &schedule->steps[morph_run_next(schedule)];
	schedule->times = (struct morph_times){};
	/* If that is not possible now, the step itself tries again, and reports a failure. */
	if (!morph_schedule_judge_ahead(schedule, morph_run_next(schedule)))
		schedule->is_ahead = !morph_schedule_change(schedule, NULL, 0,
							    schedule->changes + step->light,
							    step->ahead);
	schedule->ahead_times = schedule->times;
	morph_slice_leave(schedule->slice);
out:
	mutex_unlock(&fabric->lock);
	morph_act_end(&acting);
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
	morph_run_cancel_timers(schedule);
	WRITE_ONCE(schedule->gone, true);
	wake_up_all(&schedule->changed);
}

void morph_schedule_go_on(struct morph_schedule *schedule)
{
	const struct morph_step *step;
	u64 from;

	lockdep_assert_held(&schedule->slice->fabric->lock);
	if (schedule->state != MORPH_SCHEDULE_RUNNING || morph_run_next(schedule) == MORPH_ANY)
		return;
	step = &schedule->steps[morph_run_next(schedule)];
	if (is_wanted(schedule))
		queue_step(schedule, &schedule->step_work);
	else if (step->ahead)
		queue_step(schedule, &schedule->ahead_work);
	if (!schedule->deadline_ns)
		return;
	/* Extend the deadline by the time of the repair since the last extension. */
	from = max3(schedule->lit_ns, slice_recovery(schedule->slice)->fault_noticed_ns,
		    schedule->mended_ns);
	schedule->mended_ns = ktime_get_ns();
	schedule->deadline_ns += schedule->mended_ns - from;
	hrtimer_start(&schedule->deadline, ns_to_ktime(schedule->deadline_ns), HRTIMER_MODE_ABS);
}

/* ----------------------------------------------------------------- barriers */

int morph_run_refuse(struct morph_schedule *schedule, struct morph_refusal *refusal)
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

int morph_schedule_arrive(struct morph_schedule *schedule, u32 rank, u64 position,
			  struct morph_refusal *refusal)
{
	struct morph_slice *slice = schedule->slice;
	u32 next;
	int ret;

	if (rank >= slice->ranks_count)
		return morph_refuse_numbers(refusal, -ENOENT, MORPH_REASON_ARGUMENT, 0, rank,
					    slice->ranks_count, 0, "no rank {index} (0-{last})");
	morph_fabric_lock(slice->fabric);
	if (slice->fabric->state != MORPH_FABRIC_READY)
		ret = morph_refuse(refusal, -ENODEV, MORPH_REASON_STATE, 0, 0,
				   "the fabric is gone");
	else
		ret = morph_run_refuse(schedule, refusal);
	if (!ret && (!position || position > schedule->position))
		ret = morph_refuse(refusal, -EINVAL, MORPH_REASON_ARGUMENT, 0, 0,
				   "position %llu cannot have finished, %llu is lit", position,
				   schedule->position);
	if (ret)
		goto out;
	schedule->arrived[rank] = max(schedule->arrived[rank], position);
	next = morph_run_next(schedule);
	if (next == MORPH_ANY || schedule->steps[next].advance != MORPH_ADVANCE_BARRIER ||
	    !all_arrived(schedule, &schedule->steps[next]))
		goto out;
	schedule->wanted = schedule->position + 1;
	if (!morph_slice_enter(slice, false))
		follow_entered(schedule);
	/*
	 * Queue the step even after a signal, so that other ranks need not wait. Queuing twice is
	 * harmless.
	 */
	if (is_wanted(schedule))
		queue_step(schedule, &schedule->step_work);
out:
	mutex_unlock(&slice->fabric->lock);
	return ret;
}

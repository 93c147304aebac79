// SPDX-License-Identifier: GPL-2.0-only
/*
 * Time: a queue of events in order of their due time, and the clock that runs it.
 *
 * The real clock is CLOCK_MONOTONIC, with one hrtimer for the first event. A
 * stepped clock stands still until a test advances it. The queue alone then
 * determines the order, so a run repeats exactly. Events of one time run in the
 * order of their queueing.
 */
#include <linux/ktime.h>

#include "sim.h"

#define SIGNALS_TOGETHER	16u

static bool real(const struct sim_hardware *hw)
{
	return hw->config->clock == SIM_CLOCK_REAL;
}

/* The device's own time. The lock need not be held for the real clock. */
u64 sim_now(const struct sim_hardware *hw)
{
	return real(hw) ? ktime_get_ns() : READ_ONCE(hw->stepped_now);
}

static void arm(struct sim_hardware *hw)
{
	struct timerqueue_node *first = timerqueue_getnext(&hw->queue);

	lockdep_assert_held(hw->lock);
	if (!real(hw) || !first || hw->gone)
		return;
	if (!hrtimer_is_queued(&hw->timer) || hrtimer_get_expires(&hw->timer) != first->expires)
		hrtimer_start(&hw->timer, first->expires, HRTIMER_MODE_ABS_SOFT);
}

/* After each change of the queue: let sim_run_due() see whether any event may be due. */
static void note_first(struct sim_hardware *hw)
{
	struct timerqueue_node *first = timerqueue_getnext(&hw->queue);

	lockdep_assert_held(hw->lock);
	WRITE_ONCE(hw->first_due, first ? ktime_to_ns(first->expires) : U64_MAX);
}

/* Queue an event for a time, or move a queued one. */
void sim_queue(struct sim_hardware *hw, struct sim_event *event, u64 due)
{
	lockdep_assert_held(hw->lock);
	sim_unqueue(hw, event);
	event->node.expires = ns_to_ktime(due);
	if (timerqueue_add(&hw->queue, &event->node))
		arm(hw);
	note_first(hw);
}

void sim_unqueue(struct sim_hardware *hw, struct sim_event *event)
{
	lockdep_assert_held(hw->lock);
	if (!RB_EMPTY_NODE(&event->node.node))
		timerqueue_del(&hw->queue, &event->node);
	note_first(hw);
}

/* Execute a dequeued event. Returns whether there is anything to signal. */
static bool happen(struct sim_hardware *hw, struct sim_event *event, struct morph_signal *signal)
{
	switch (event->type) {
	case SIM_EVENT_FAULT:
		sim_fault_event(hw, event);
		return false;
	case SIM_EVENT_PATROL:
		return sim_patrol(hw, signal);
	default:
		return sim_alarm_signal(hw, event, signal) && !hw->booting;
	}
}

static struct sim_event *first_due(struct sim_hardware *hw, u64 until)
{
	struct timerqueue_node *first = timerqueue_getnext(&hw->queue);

	if (hw->gone || !first || ktime_to_ns(first->expires) > until)
		return NULL;
	return container_of(first, struct sim_event, node);
}

/*
 * Execute the first event that is due by @until, and all events of the same time. A stepped
 * clock advances to it. One call signals all their effects, so that the core never acts on a
 * part of them.
 */
static bool run_one(struct sim_hardware *hw, u64 until)
{
	struct morph_signal signals[SIGNALS_TOGETHER];
	struct sim_request *request = NULL;
	struct sim_event *event;
	unsigned long flags;
	u32 count = 0;
	bool any;

	spin_lock_irqsave(hw->lock, flags);
	event = first_due(hw, until);
	any = event;
	if (!any)
		arm(hw);
	else if (!real(hw) && ktime_to_ns(event->node.expires) > hw->stepped_now)
		WRITE_ONCE(hw->stepped_now, ktime_to_ns(event->node.expires));
	for (; event && !request && count < SIGNALS_TOGETHER;
	     event = first_due(hw, min(until, sim_now(hw)))) {
		if (event->type == SIM_EVENT_REQUEST && count)
			break;
		timerqueue_del(&hw->queue, &event->node);
		if (event->type == SIM_EVENT_REQUEST)
			request = container_of(event, struct sim_request, event);
		else
			count += happen(hw, event, &signals[count]);
	}
	note_first(hw);
	hw->counters.signals += count;
	spin_unlock_irqrestore(hw->lock, flags);
	if (count)
		morph_fabric_signal(hw->fabric, signals, count);
	if (request)
		sim_request_done(hw, request);
	return any;
}

/**
 * sim_run_due() - execute all due events
 * @hw: hardware; its lock must not be held
 */
void sim_run_due(struct sim_hardware *hw)
{
	u64 now = sim_now(hw);

	while (READ_ONCE(hw->first_due) <= now && run_one(hw, now))
		now = sim_now(hw);
}

/**
 * sim_advance_to() - advance a stepped clock, and execute all events on the way
 * @hw: hardware; its lock must not be held
 * @until: time to reach
 */
void sim_advance_to(struct sim_hardware *hw, u64 until)
{
	unsigned long flags;

	while (run_one(hw, until))
		;
	spin_lock_irqsave(hw->lock, flags);
	if (until > hw->stepped_now)
		WRITE_ONCE(hw->stepped_now, until);
	spin_unlock_irqrestore(hw->lock, flags);
}

static enum hrtimer_restart expired(struct hrtimer *timer)
{
	struct sim_hardware *hw = container_of(timer, struct sim_hardware, timer);

	/* Starts the timer again for the first event that is not due yet. */
	while (run_one(hw, sim_now(hw)))
		;
	return HRTIMER_NORESTART;
}

void sim_clock_init(struct sim_hardware *hw)
{
	timerqueue_init_head(&hw->queue);
	hw->first_due = U64_MAX;
	hrtimer_init(&hw->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	hw->timer.function = expired;
	hw->stepped_now = SIM_STEPPED_START;
}

/* After this nothing is signalled or completed. The hardware answers -ENODEV. */
void sim_clock_stop(struct sim_hardware *hw)
{
	unsigned long flags;

	spin_lock_irqsave(hw->lock, flags);
	hw->gone = true;
	spin_unlock_irqrestore(hw->lock, flags);
	hrtimer_cancel(&hw->timer);
}

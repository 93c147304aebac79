// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations of the provider: submit, wait for the completion, keep the deadline.
 *
 * An operation lives on the stack of its waiter. It is found by cookie; once it is
 * off the hash its cookie is dead and a late completion is counted and discarded.
 * Nothing here allocates.
 */
#include <linux/hashtable.h>
#include <linux/delay.h>
#include <linux/ktime.h>

#include "core.h"
#include "trace.h"

/* Shortest deadline: the timer wheel counts in jiffies. */
#define MIN_DEADLINE_JIFFIES	2

static struct hlist_head *op_bucket(struct morph_fabric *fabric, u64 cookie)
{
	return &fabric->ops_in_flight[cookie % ARRAY_SIZE(fabric->ops_in_flight)];
}

static void op_begin(struct morph_fabric *fabric, struct morph_op *op, void *results, size_t bytes)
{
	unsigned long flags;

	init_completion(&op->done);
	op->status = -EINPROGRESS;
	op->results = results;
	op->bytes = bytes;
	spin_lock_irqsave(&fabric->op_lock, flags);
	op->cookie = ++fabric->next_cookie;
	hlist_add_head(&op->node, op_bucket(fabric, op->cookie));
	spin_unlock_irqrestore(&fabric->op_lock, flags);
	morph_stat(fabric, MORPH_STAT_PROVIDER_OPS);
}

/* After this no completion can touch the operation. */
static void op_end(struct morph_fabric *fabric, struct morph_op *op)
{
	unsigned long flags;

	spin_lock_irqsave(&fabric->op_lock, flags);
	hlist_del_init(&op->node);
	spin_unlock_irqrestore(&fabric->op_lock, flags);
}

static unsigned long op_deadline(struct morph_fabric *fabric)
{
	return max_t(unsigned long, MIN_DEADLINE_JIFFIES,
		     nsecs_to_jiffies(fabric->graph->params.deadline_ns) + 1);
}

/*
 * Wait for an operation that was submitted with @result, and finish it. Kernel
 * threads and tenants wait alike and without regard to signals: the deadline
 * bounds it, and light must not be left half changed.
 */
static int op_finish(struct morph_fabric *fabric, struct morph_op *op, int result, bool deadline)
{
	if (result == -EINPROGRESS) {
		if (!wait_for_completion_timeout(&op->done, deadline ? op_deadline(fabric) :
								      MAX_SCHEDULE_TIMEOUT))
			morph_stat(fabric, MORPH_STAT_PROVIDER_TIMEOUTS);
		op_end(fabric, op);
		result = op->status;
		if (result == -EINPROGRESS)
			result = -ETIMEDOUT;
	} else {
		op_end(fabric, op);
		if (result > 0)
			result = -EIO;
	}
	if (result)
		morph_stat(fabric, MORPH_STAT_PROVIDER_ERRORS);
	return result;
}

/* One operation from submission to its end. */
struct call {
	struct morph_op op;
	const char *name;
	u64 begin;
	int srcu;
};

/*
 * The provider's operations to submit one with, or NULL when the provider is gone.
 * The SRCU section covers the call alone, so that a provider which is being removed
 * is not held up by those who wait.
 */
static const struct morph_fabric_ops *call_begin(struct morph_fabric *fabric, struct call *call,
						 const char *name, void *results, size_t bytes)
	__acquires(&fabric->srcu)
{
	op_begin(fabric, &call->op, results, bytes);
	call->name = name;
	call->srcu = srcu_read_lock(&fabric->srcu);
	call->begin = ktime_get_ns();
	return READ_ONCE(fabric->ops);
}

/* What came of an operation that was submitted with @result. */
static int call_end(struct morph_fabric *fabric, struct call *call, struct morph_times *times,
		    int result)
	__releases(&fabric->srcu)
{
	if (times)
		times->provider_ns += ktime_get_ns() - call->begin;
	srcu_read_unlock(&fabric->srcu, call->srcu);
	trace_morph_op_submit(fabric->id, call->op.cookie, call->name, result);
	result = op_finish(fabric, &call->op, result, true);
	if (result)
		trace_morph_op_fail(fabric->id, call->op.cookie, call->name, result);
	return result;
}

/* Nominal time that the device needs to take @count settings. */
static u64 write_time(struct morph_fabric *fabric, u32 count)
{
	const struct optics_params *params = &fabric->graph->params;

	return params->write_fixed_ns + params->write_each_ns * count;
}

int morph_hw_set_elements(struct morph_fabric *fabric, struct morph_times *times,
			  const struct morph_element_setting *settings, u32 count)
{
	const struct morph_fabric_ops *ops;
	struct call call;
	int ret;

	if (!count)
		return 0;
	if (times)
		times->modelled_ns += write_time(fabric, count);
	ops = call_begin(fabric, &call, "set_elements", NULL, 0);
	ret = ops ? ops->set_elements(fabric, call.op.cookie, settings, count) : -ENODEV;
	return call_end(fabric, &call, times, ret);
}

int morph_hw_get_elements(struct morph_fabric *fabric, struct morph_times *times,
			  struct morph_element_setting *settings, u32 count)
{
	const struct morph_fabric_ops *ops;
	struct call call;
	int ret;

	if (!count)
		return 0;
	ops = call_begin(fabric, &call, "get_elements", settings,
			 array_size(count, sizeof(*settings)));
	ret = ops ? ops->get_elements(fabric, call.op.cookie, settings, count) : -ENODEV;
	return call_end(fabric, &call, times, ret);
}

int morph_hw_set_lasers(struct morph_fabric *fabric, struct morph_times *times,
			const struct morph_laser_setting *settings, u32 count)
{
	const struct morph_fabric_ops *ops;
	struct call call;
	int ret;

	if (!count)
		return 0;
	if (times)
		times->modelled_ns += write_time(fabric, count);
	ops = call_begin(fabric, &call, "set_lasers", NULL, 0);
	ret = ops ? ops->set_lasers(fabric, call.op.cookie, settings, count) : -ENODEV;
	return call_end(fabric, &call, times, ret);
}

int morph_hw_get_lasers(struct morph_fabric *fabric, struct morph_times *times,
			struct morph_laser_reading *readings, u32 count)
{
	const struct morph_fabric_ops *ops;
	struct call call;
	int ret;

	if (!count)
		return 0;
	ops = call_begin(fabric, &call, "get_lasers", readings,
			 array_size(count, sizeof(*readings)));
	ret = ops ? ops->get_lasers(fabric, call.op.cookie, readings, count) : -ENODEV;
	return call_end(fabric, &call, times, ret);
}

int morph_hw_get_receivers(struct morph_fabric *fabric, struct morph_times *times,
			   struct morph_receiver_reading *readings, u32 count)
{
	const struct morph_fabric_ops *ops;
	struct call call;
	int ret;

	if (!count)
		return 0;
	ops = call_begin(fabric, &call, "get_receivers", readings,
			 array_size(count, sizeof(*readings)));
	ret = ops ? ops->get_receivers(fabric, call.op.cookie, readings, count) : -ENODEV;
	return call_end(fabric, &call, times, ret);
}

int morph_hw_probe(struct morph_fabric *fabric, struct morph_times *times,
		   struct morph_probe *probes, u32 count)
{
	const struct morph_fabric_ops *ops;
	struct call call;
	int ret;

	if (!count)
		return 0;
	ops = call_begin(fabric, &call, "probe", probes,
			 array_size(count, sizeof(*probes)));
	ret = ops ? ops->probe(fabric, call.op.cookie, probes, count) : -ENODEV;
	return call_end(fabric, &call, times, ret);
}

/* Sleep for @ns of CLOCK_MONOTONIC; short waits spin no longer than the time asked. */
static void sleep_ns(u64 ns)
{
	ktime_t until = ns_to_ktime(ns);

	set_current_state(TASK_UNINTERRUPTIBLE);
	schedule_hrtimeout_range(&until, min_t(u64, ns / 16, 50 * NSEC_PER_USEC), HRTIMER_MODE_REL);
}

/**
 * morph_hw_wait() - let @ns of the device's own time pass
 * @fabric: the fabric
 * @ns: nominal time; 0 returns at once
 *
 * A provider with a clock of its own decides when that is; it has no deadline but
 * the removal of the provider.
 *
 * Context: process context, no lock held.
 * Return: 0, or -ENODEV when the provider went away.
 */
int morph_hw_wait(struct morph_fabric *fabric, u64 ns)
{
	const struct morph_fabric_ops *ops;
	struct morph_op op;
	int idx, ret;

	if (!ns)
		return 0;
	op_begin(fabric, &op, NULL, 0);
	idx = srcu_read_lock(&fabric->srcu);
	ops = READ_ONCE(fabric->ops);
	if (!ops)
		ret = -ENODEV;
	else if (ops->wait)
		ret = ops->wait(fabric, op.cookie, ns);
	else
		ret = -EOPNOTSUPP;
	srcu_read_unlock(&fabric->srcu, idx);
	if (ret == -EOPNOTSUPP) {
		op_end(fabric, &op);
		sleep_ns(ns);
		return READ_ONCE(fabric->ops) ? 0 : -ENODEV;
	}
	return op_finish(fabric, &op, ret, false);
}

/**
 * morph_fabric_complete() - an operation that was in progress has ended
 * @fabric: the fabric
 * @cookie: as it was submitted
 * @status: 0 or a negative errno
 * @results: for reads, the array that was asked for, filled; else NULL
 * @bytes: its size
 *
 * Context: any.
 */
void morph_fabric_complete(struct morph_fabric *fabric, u64 cookie, int status,
			   const void *results, size_t bytes)
{
	struct morph_op *op;
	unsigned long flags;
	bool found = false;

	if (WARN_ON_ONCE(status == -EINPROGRESS))
		status = -EIO;
	spin_lock_irqsave(&fabric->op_lock, flags);
	hlist_for_each_entry(op, op_bucket(fabric, cookie), node) {
		if (op->cookie != cookie || op->status != -EINPROGRESS)
			continue;
		if (!status && op->results) {
			if (bytes == op->bytes && results)
				memcpy(op->results, results, bytes);
			else
				status = -EIO;
		}
		op->status = status;
		complete(&op->done);
		found = true;
		break;
	}
	spin_unlock_irqrestore(&fabric->op_lock, flags);
	if (!found)
		morph_stat(fabric, MORPH_STAT_LATE_COMPLETIONS);
	trace_morph_op_complete(fabric->id, cookie, status, found);
}
EXPORT_SYMBOL_GPL(morph_fabric_complete);

/* Wake everybody who waits for the device; the provider is gone. */
void morph_hw_fail_all(struct morph_fabric *fabric, int status)
{
	struct morph_op *op;
	unsigned long flags;
	u32 i;

	spin_lock_irqsave(&fabric->op_lock, flags);
	for (i = 0; i < ARRAY_SIZE(fabric->ops_in_flight); i++) {
		hlist_for_each_entry(op, &fabric->ops_in_flight[i], node) {
			if (op->status != -EINPROGRESS)
				continue;
			op->status = status;
			complete(&op->done);
		}
	}
	spin_unlock_irqrestore(&fabric->op_lock, flags);
}

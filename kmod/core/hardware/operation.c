// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations of the provider: submit, wait for the completion, enforce the deadline.
 *
 * The upper part of a cookie is the id of a struct morph_op. It belongs to a transaction and serves
 * its operations one after the other, or it is on the stack for one operation. Its cookie is that
 * of the operation in flight. Either the completion or the waiter takes the cookie away, and that
 * one sets the result. So a late completion finds another cookie, or none, and is counted and
 * discarded. Patrol later reads the effects of such an operation on the device.
 *
 * This file allocates no memory.
 */
#include <linux/hashtable.h>
#include <linux/delay.h>
#include <linux/ktime.h>

#include "core/base/base.h"
#include "core/base/trace.h"
#include "core/hardware/hardware.h"

/* Shortest deadline, since the timer wheel counts in jiffies. */
#define MIN_DEADLINE_JIFFIES	2

/* Bits of the cookie that number the operations of one morph_op. */
#define CALL_BITS		16

static struct hlist_head *op_bucket(struct morph_fabric *fabric, u64 id)
{
	return &hardware_of(fabric)
			->ops_in_flight[id % ARRAY_SIZE(hardware_of(fabric)->ops_in_flight)];
}

/* From here on completions can find the operation. */
static void op_open(struct morph_fabric *fabric, struct morph_op *op)
{
	unsigned long flags;

	init_completion(&op->done);
	atomic64_set(&op->cookie, 0);
	op->calls = 0;
	spin_lock_irqsave(&hardware_of(fabric)->op_lock, flags);
	op->id = ++hardware_of(fabric)->last_op;
	hlist_add_head(&op->node, op_bucket(fabric, op->id));
	spin_unlock_irqrestore(&hardware_of(fabric)->op_lock, flags);
}

/* After this no completion can access the operation. */
static void op_close(struct morph_fabric *fabric, struct morph_op *op)
{
	unsigned long flags;

	if (hlist_unhashed(&op->node))
		return;
	spin_lock_irqsave(&hardware_of(fabric)->op_lock, flags);
	hlist_del_init(&op->node);
	spin_unlock_irqrestore(&hardware_of(fabric)->op_lock, flags);
}

void morph_hw_done(struct morph_fabric *fabric, struct morph_hw_session *session)
{
	op_close(fabric, &session->op);
}

/* The cookie of the next operation, which may complete from here on. */
static inline u64 op_begin(struct morph_fabric *fabric, struct morph_op *op, void *results,
			   size_t bytes)
{
	u64 cookie;

	if (++op->calls >> CALL_BITS)
		op_close(fabric, op);
	if (hlist_unhashed(&op->node))
		op_open(fabric, op);
	reinit_completion(&op->done);
	op->results = results;
	op->bytes = bytes;
	cookie = op->id << CALL_BITS | op->calls;
	atomic64_set_release(&op->cookie, cookie);
	morph_stat(fabric, MORPH_STAT_PROVIDER_OPS);
	return cookie;
}

/* Take the cookie away. Return false if a completion was first; it has set the status. */
static bool op_retract(struct morph_op *op, u64 cookie)
{
	if (atomic64_cmpxchg(&op->cookie, cookie, 0) == cookie)
		return true;
	wait_for_completion(&op->done);
	return false;
}

/* The part of a completion. Caller holds op_lock, so that the operation stays in the table. */
static bool op_complete(struct morph_op *op, u64 cookie, int status, const void *results,
			size_t bytes)
{
	if (atomic64_cmpxchg(&op->cookie, cookie, 0) != cookie)
		return false;
	if (!status && op->results) {
		if (bytes == op->bytes && results)
			memcpy(op->results, results, bytes);
		else
			status = -EIO;
	}
	op->status = status;
	complete(&op->done);
	return true;
}

static unsigned long op_deadline(struct morph_fabric *fabric)
{
	return max_t(unsigned long, MIN_DEADLINE_JIFFIES,
		     nsecs_to_jiffies(fabric->graph->params.deadline_ns) + 1);
}

/*
 * Wait for an operation in progress. The wait ignores signals: the deadline bounds it, and a signal
 * must not leave a change half done.
 */
static int op_wait(struct morph_fabric *fabric, struct morph_op *op, u64 cookie, bool deadline)
{
	if (wait_for_completion_timeout(&op->done, deadline ? op_deadline(fabric) :
							      MAX_SCHEDULE_TIMEOUT))
		return op->status;
	morph_stat(fabric, MORPH_STAT_PROVIDER_TIMEOUTS);
	return op_retract(op, cookie) ? -ETIMEDOUT : op->status;
}

/* Finish an operation that was submitted with @result. */
static inline int op_finish(struct morph_fabric *fabric, struct morph_op *op, u64 cookie,
			    int result, bool deadline)
{
	if (result == -EINPROGRESS)
		result = op_wait(fabric, op, cookie, deadline);
	else if (!op_retract(op, cookie))
		result = op->status;	/* the provider did complete it, whatever it returned */
	else if (result > 0)
		result = -EIO;
	if (result)
		morph_stat(fabric, MORPH_STAT_PROVIDER_ERRORS);
	return result;
}

enum call {
	SET_ELEMENTS,
	GET_ELEMENTS,
	SET_LASERS,
	GET_LASERS,
	GET_RECEIVERS,
	PROBE,
};

static const struct {
	const char *name;
	u32 bytes;		/* size of a result; 0: no results */
} calls[] = {
	[SET_ELEMENTS] = { "set_elements", 0 },
	[GET_ELEMENTS] = { "get_elements", sizeof(struct morph_element_setting) },
	[SET_LASERS] = { "set_lasers", 0 },
	[GET_LASERS] = { "get_lasers", sizeof(struct morph_laser_reading) },
	[GET_RECEIVERS] = { "get_receivers", sizeof(struct morph_receiver_reading) },
	[PROBE] = { "probe", sizeof(struct morph_probe) },
};

/* A fabric that was shut down stays dark: refuse to switch lasers on. */
static bool may_light(struct morph_fabric *fabric, const struct morph_laser_setting *settings,
		      u32 count)
{
	u32 i;

	if (READ_ONCE(fabric->state) != MORPH_FABRIC_GONE)
		return true;
	for (i = 0; i < count; i++)
		if (settings[i].lanes)
			return false;
	return true;
}

/* Inside an SRCU read section, for which morph_hw_drain() waits. */
static __always_inline int submit(struct morph_fabric *fabric, const struct morph_fabric_ops *ops,
				  enum call call, u64 cookie, void *array, u32 count)
{
	switch (call) {
	case SET_ELEMENTS:
		return ops->set_elements(fabric, cookie, array, count);
	case GET_ELEMENTS:
		return ops->get_elements(fabric, cookie, array, count);
	case SET_LASERS:
		if (!may_light(fabric, array, count))
			return -ENODEV;
		return ops->set_lasers(fabric, cookie, array, count);
	case GET_LASERS:
		return ops->get_lasers(fabric, cookie, array, count);
	case GET_RECEIVERS:
		return ops->get_receivers(fabric, cookie, array, count);
	case PROBE:
		return ops->probe(fabric, cookie, array, count);
	}
	return -EOPNOTSUPP;
}

/*
 * Run one operation to its end. The SRCU section covers only the provider's function, so that
 * waiting threads do not delay the removal of the provider. Inlined for each @call.
 */
static __always_inline int op_run(struct morph_fabric *fabric, struct morph_hw_session *session,
				  struct morph_op *op, enum call call, void *array, u32 count)
{
	u32 bytes = calls[call].bytes;
	const struct morph_fabric_ops *ops;
	u64 cookie, begin;
	int srcu, result;

	cookie = op_begin(fabric, op, bytes ? array : NULL, (size_t)count * bytes);
	srcu = srcu_read_lock(&hardware_of(fabric)->srcu);
	ops = READ_ONCE(hardware_of(fabric)->ops);
	begin = session ? ktime_get_ns() : 0;
	result = ops ? submit(fabric, ops, call, cookie, array, count) : -ENODEV;
	if (session) {
		session->device_ended_ns = ktime_get_ns();
		session->times.provider_ns += session->device_ended_ns - begin;
	}
	srcu_read_unlock(&hardware_of(fabric)->srcu, srcu);
	trace_morph_op_submit(fabric->id, cookie, calls[call].name, result);
	result = op_finish(fabric, op, cookie, result, true);
	if (result)
		trace_morph_op_fail(fabric->id, cookie, calls[call].name, result);
	return result;
}

static noinline_for_stack int op_run_alone(struct morph_fabric *fabric, enum call call,
					   void *array, u32 count)
{
	struct morph_op op = {};
	int ret;

	ret = op_run(fabric, NULL, &op, call, array, count);
	op_close(fabric, &op);
	return ret;
}

static __always_inline int run(struct morph_fabric *fabric, struct morph_hw_session *session,
			       enum call call, void *array, u32 count)
{
	if (!count)
		return 0;
	if (!session)
		return op_run_alone(fabric, call, array, count);
	return op_run(fabric, session, &session->op, call, array, count);
}

/* Nominal time that the device needs for @count settings. */
static u64 write_time(struct morph_fabric *fabric, u32 count)
{
	const struct optics_params *params = &fabric->graph->params;

	return count ? params->write_fixed_ns + params->write_each_ns * count : 0;
}

int morph_hw_set_elements(struct morph_fabric *fabric, struct morph_hw_session *session,
			  const struct morph_element_setting *settings, u32 count)
{
	if (session)
		session->times.modelled_ns += write_time(fabric, count);
	return run(fabric, session, SET_ELEMENTS, (void *)settings, count);
}

int morph_hw_get_elements(struct morph_fabric *fabric, struct morph_hw_session *session,
			  struct morph_element_setting *settings, u32 count)
{
	return run(fabric, session, GET_ELEMENTS, settings, count);
}

int morph_hw_set_lasers(struct morph_fabric *fabric, struct morph_hw_session *session,
			const struct morph_laser_setting *settings, u32 count)
{
	if (session)
		session->times.modelled_ns += write_time(fabric, count);
	return run(fabric, session, SET_LASERS, (void *)settings, count);
}

int morph_hw_get_lasers(struct morph_fabric *fabric, struct morph_hw_session *session,
			struct morph_laser_reading *readings, u32 count)
{
	return run(fabric, session, GET_LASERS, readings, count);
}

int morph_hw_get_receivers(struct morph_fabric *fabric, struct morph_hw_session *session,
			   struct morph_receiver_reading *readings, u32 count)
{
	return run(fabric, session, GET_RECEIVERS, readings, count);
}

int morph_hw_probe(struct morph_fabric *fabric, struct morph_hw_session *session,
		   struct morph_probe *probes, u32 count)
{
	return run(fabric, session, PROBE, probes, count);
}

void morph_hw_identify(struct morph_fabric *fabric, u32 accelerator,
		       struct morph_identity *identity)
{
	const struct morph_fabric_ops *ops;
	int idx;

	memset(identity, 0, sizeof(*identity));
	idx = srcu_read_lock(&hardware_of(fabric)->srcu);
	ops = READ_ONCE(hardware_of(fabric)->ops);
	if (ops && ops->identify)
		ops->identify(fabric, accelerator, identity);
	srcu_read_unlock(&hardware_of(fabric)->srcu, idx);
}

/* Sleep for @ns of CLOCK_MONOTONIC; a short wait may spin, but at most for @ns. */
static void sleep_ns(u64 ns)
{
	ktime_t until = ns_to_ktime(ns);

	set_current_state(TASK_UNINTERRUPTIBLE);
	schedule_hrtimeout_range(&until, min_t(u64, ns / 16, 50 * NSEC_PER_USEC), HRTIMER_MODE_REL);
}

/**
 * morph_hw_wait() - wait for @ns of the device's own time
 * @fabric: the fabric
 * @ns: nominal time; 0 returns at once
 *
 * A provider with its own clock decides when the time has passed. Only the removal of the
 * provider ends such a wait early.
 *
 * Context: process context, no lock held.
 * Return: 0, or -ENODEV if the provider has unregistered.
 */
int morph_hw_wait(struct morph_fabric *fabric, u64 ns)
{
	const struct morph_fabric_ops *ops;
	struct morph_op op = {};
	int idx, ret;
	u64 cookie;

	if (!ns)
		return 0;
	cookie = op_begin(fabric, &op, NULL, 0);
	idx = srcu_read_lock(&hardware_of(fabric)->srcu);
	ops = READ_ONCE(hardware_of(fabric)->ops);
	if (!ops)
		ret = -ENODEV;
	else if (ops->wait)
		ret = ops->wait(fabric, cookie, ns);
	else
		ret = -EOPNOTSUPP;
	srcu_read_unlock(&hardware_of(fabric)->srcu, idx);
	if (ret == -EOPNOTSUPP) {
		op_close(fabric, &op);
		sleep_ns(ns);
		return READ_ONCE(hardware_of(fabric)->ops) ? 0 : -ENODEV;
	}
	ret = op_finish(fabric, &op, cookie, ret, false);
	op_close(fabric, &op);
	return ret;
}

int morph_hw_wait_more(struct morph_fabric *fabric, struct morph_hw_patience *patience)
{
	const struct optics_params *params = &fabric->graph->params;
	u64 pause;

	if (!patience->pause) {
		patience->pause = max(max(params->settle_ns, params->relock_ns) / 4, 1000ULL);
		patience->left = params->deadline_ns;
	}
	pause = patience->pause;
	if (patience->left < pause)
		return 1;
	patience->left -= pause;
	patience->pause *= 2;
	return morph_hw_wait(fabric, pause);
}

/**
 * morph_fabric_complete() - complete an operation that was in progress
 * @fabric: the fabric
 * @cookie: the cookie of the submission
 * @status: 0 or a negative errno
 * @results: for reads, the filled array of the request; else NULL
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
	spin_lock_irqsave(&hardware_of(fabric)->op_lock, flags);
	hlist_for_each_entry(op, op_bucket(fabric, cookie >> CALL_BITS), node) {
		if (op->id == cookie >> CALL_BITS) {
			found = op_complete(op, cookie, status, results, bytes);
			break;
		}
	}
	spin_unlock_irqrestore(&hardware_of(fabric)->op_lock, flags);
	if (!found) {
		morph_stat(fabric, MORPH_STAT_LATE_COMPLETIONS);
		morph_report_doubt(fabric);
	}
	trace_morph_op_complete(fabric->id, cookie, status, found);
}
EXPORT_SYMBOL_GPL(morph_fabric_complete);

static bool ops_under_way(struct morph_fabric *fabric)
{
	const struct morph_op *op;
	unsigned long flags;
	bool any = false;
	u32 i;

	spin_lock_irqsave(&hardware_of(fabric)->op_lock, flags);
	for (i = 0; i < ARRAY_SIZE(hardware_of(fabric)->ops_in_flight); i++)
		hlist_for_each_entry(op, &hardware_of(fabric)->ops_in_flight[i], node)
			any |= atomic64_read(&op->cookie) != 0;
	spin_unlock_irqrestore(&hardware_of(fabric)->op_lock, flags);
	return any;
}

/* Wait until operations submitted earlier have ended, at most for their deadline. No lock held. */
void morph_hw_drain(struct morph_fabric *fabric)
{
	unsigned long until = jiffies + op_deadline(fabric);

	synchronize_srcu(&hardware_of(fabric)->srcu);
	while (ops_under_way(fabric) && time_before(jiffies, until))
		usleep_range(100, 1000);
}

/* Wake all threads that wait for the device, because the provider has unregistered. */
void morph_hw_fail_all(struct morph_fabric *fabric, int status)
{
	struct morph_op *op;
	unsigned long flags;
	u32 i;

	spin_lock_irqsave(&hardware_of(fabric)->op_lock, flags);
	for (i = 0; i < ARRAY_SIZE(hardware_of(fabric)->ops_in_flight); i++) {
		hlist_for_each_entry(op, &hardware_of(fabric)->ops_in_flight[i], node) {
			u64 cookie = atomic64_read(&op->cookie);

			if (cookie)
				op_complete(op, cookie, status, NULL, 0);
		}
	}
	spin_unlock_irqrestore(&hardware_of(fabric)->op_lock, flags);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libmorph: a slice's events, the monitor, the watch. Included by <morph/morph.h>. */
#ifndef MORPH_EVENT_H
#define MORPH_EVENT_H

#include <morph/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------- events */

/**
 * morph_slice_wait() - wait for a slice's events
 * @slice: the slice
 * @timeout_ns: how long
 *
 * Return: 1 when there are events, 0 when time ran out, -ENODEV when slice or fabric
 * are gone and no events are left, -EINTR, or another negative errno.
 */
int morph_slice_wait(struct morph_slice *slice, int64_t timeout_ns);

/**
 * morph_slice_read_events() - read a slice's events
 * @slice: the slice
 * @out: objects of type "event", oldest first, at most 64; freed by morph_list_free()
 *
 * Does not wait: call morph_slice_wait() or poll the fd before. An event of type
 * "lost" is an event like others: @lost of them are missing, so read the slice again. After
 * -ENOMEM events may be lost without such an event.
 *
 * Return: the number of events read, -EAGAIN when there are none, -ENODEV or another
 * negative errno.
 */
int morph_slice_read_events(struct morph_slice *slice, struct morph_list **out);

/* ------------------------------------------------------------------ monitor */

/**
 * struct morph_monitor_opts - options of morph_monitor_new()
 * @sz: size of this structure
 * @buffer_bytes: size of the socket's receive buffer, 0 for 1 MiB (or what the
 *                system allows)
 * @reserved: 0
 */
struct morph_monitor_opts {
	size_t sz;
	uint32_t buffer_bytes;
	uint32_t reserved;
};

/**
 * morph_monitor_new() - subscribe to the kernel's notifications for administrators
 * @ctx: the context
 * @opts: options, or NULL
 * @out: the monitor, freed by morph_monitor_free()
 *
 * Subscribe first, then dump. In the reverse order, events in between are missed.
 *
 * Return: 0, -EPERM (needs CAP_NET_ADMIN), -ENOENT (the module is not loaded), or another negative
 * errno.
 */
int morph_monitor_new(struct morph_ctx *ctx, const struct morph_monitor_opts *opts,
		      struct morph_monitor **out);

/**
 * morph_monitor_free() - end a subscription
 * @monitor: the monitor, or NULL
 */
void morph_monitor_free(struct morph_monitor *monitor);

/**
 * morph_monitor_wait() - wait for notifications
 * @monitor: the monitor
 * @timeout_ns: how long
 *
 * Return: 1 when there are some, 0 when time ran out, -EINTR or another negative errno.
 */
int morph_monitor_wait(struct morph_monitor *monitor, int64_t timeout_ns);

/**
 * morph_monitor_read() - read notifications
 * @monitor: the monitor
 * @out: objects of the types fabric, accelerator, slice, txn, hardware and event;
 *       morph_object_command() names the notification. If the kernel dropped some, an
 *       object of type "resync" follows the last one that it kept: dump again
 *
 * Does not wait.
 *
 * Return: the number of objects, -EAGAIN when there are none, or another negative errno.
 */
int morph_monitor_read(struct morph_monitor *monitor, struct morph_list **out);

/**
 * morph_monitor_wait_txn() - wait for the end of a transaction
 * @monitor: a monitor made before the action that was queued
 * @fabric: the fabric
 * @txn: the number of the transaction in the reply
 * @timeout_ns: how long to wait
 * @out: object of type "txn"; may be NULL. Given too if the transaction failed
 *
 * Drops other notifications in the meantime: use a separate monitor.
 *
 * Return: 0 if it was committed or prepared; the negative errno of its status if it ended
 * otherwise; -ETIMEDOUT if it is still running.
 */
int morph_monitor_wait_txn(struct morph_monitor *monitor, uint32_t fabric, uint32_t txn,
			   int64_t timeout_ns, struct morph_object **out);

/* -------------------------------------------------------------------- watch */

#ifdef __cplusplus
}
#endif

#endif /* MORPH_EVENT_H */

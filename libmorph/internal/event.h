/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of <morph/event.h> that only the library, its tests and its benches call. */
#ifndef LM_INTERNAL_EVENT_H
#define LM_INTERNAL_EVENT_H

#include <morph/morph.h>

/**
 * morph_monitor_get_fd() - the fd of a subscription
 * @monitor: the monitor
 *
 * Return: the fd, non-blocking, for the caller's own loop; the caller must not close it.
 */
int morph_monitor_get_fd(const struct morph_monitor *monitor);

/**
 * morph_monitor_wait_step() - wait for the end of a step of a prepared transaction
 * @monitor: a monitor made before the step was queued
 * @fabric: the fabric
 * @txn: the number of the transaction
 * @verb: what was queued by morph_admin_txn_step()
 * @timeout_ns: how long
 * @out: object of type "txn"; may be NULL. Given too when the step failed
 *
 * As morph_monitor_wait_txn(), but does not take for the end that the transaction is
 * still where the step found it: prepared for a commit, unconfirmed for a
 * confirmation, either for a reversal.
 *
 * Return: as morph_monitor_wait_txn(); -EINVAL for a @verb that is no step.
 */
int morph_monitor_wait_step(struct morph_monitor *monitor, uint32_t fabric, uint32_t txn,
			    uint32_t verb, int64_t timeout_ns, struct morph_object **out);

/**
 * morph_watch_new() - watch fabrics and named slices come and go
 * @ctx: the context
 * @out: the watch, freed by morph_watch_free()
 *
 * Listens to udev, not to the kernel, so that a node has its permissions when the event arrives.
 * Watch, then call morph_devices().
 *
 * Return: 0, -ENOSYS (udev is not there) or another negative errno.
 */
int morph_watch_new(struct morph_ctx *ctx, struct morph_watch **out);

/**
 * morph_watch_free() - end a watch
 * @watch: the watch, or NULL
 */
void morph_watch_free(struct morph_watch *watch);

/**
 * morph_watch_get_fd() - the fd of a watch
 * @watch: the watch
 *
 * Return: the fd, for the caller's own loop; the caller must not close it.
 */
int morph_watch_get_fd(const struct morph_watch *watch);

/**
 * morph_watch_wait() - wait for a node to come or go
 * @watch: the watch
 * @timeout_ns: how long
 *
 * Return: 1 when there is news, 0 when time ran out, -EINTR or another negative errno.
 */
int morph_watch_wait(struct morph_watch *watch, int64_t timeout_ns);

/**
 * morph_watch_read() - read what came or went
 * @watch: the watch
 * @out: one object of type "device": action ("add", "remove", "change"), kind, number,
 *       path
 *
 * Does not wait.
 *
 * Return: 1, -EAGAIN when there is nothing, or another negative errno.
 */
int morph_watch_read(struct morph_watch *watch, struct morph_object **out);

#endif /* LM_INTERNAL_EVENT_H */

// SPDX-License-Identifier: LGPL-2.1-or-later
/* Notifications: a second socket, whose overrun becomes an event. */
#include <time.h>

#include <netlink/msg.h>

#include <linux/morph_netlink.h>

#include "internal.h"

#define DEFAULT_BUFFER_BYTES (1u << 20)
#define MESSAGES_PER_READ 64
#define SECOND_NS 1000000000LL
#define LONGEST_WAIT_NS (INT64_MAX / 2) /* so that a deadline does not overflow */

struct morph_monitor {
	struct morph_ctx *ctx;
	int fd;
	void *message;
	size_t message_bytes;
	bool lost; /* the kernel has dropped some; reported after the kept ones */
};

MORPH_API int morph_monitor_new(struct morph_ctx *ctx, const struct morph_monitor_opts *opts,
				struct morph_monitor **out)
{
	struct lm_transport *transport = ctx->transport;
	struct morph_monitor_opts mine;
	struct morph_monitor *monitor;
	int error, fd;

	*out = NULL;
	error = lm_opts_check(ctx, opts, sizeof(mine), "morph_monitor_opts");
	if (error)
		return error;
	lm_opts_copy(&mine, opts, sizeof(mine));
	if (mine.reserved)
		return lm_fail(ctx, EINVAL, "morph_monitor_opts.reserved is not 0");
	error = lm_netlink_connect(ctx);
	if (error)
		return error;
	monitor = calloc(1, sizeof(*monitor));
	if (!monitor)
		return lm_no_memory(ctx, "make a monitor");
	fd = transport->ops->netlink_open(transport, mine.buffer_bytes ? mine.buffer_bytes :
									 DEFAULT_BUFFER_BYTES);
	error = fd < 0 ? fd : transport->ops->netlink_join(transport, fd, ctx->monitor_group);
	if (error) {
		if (fd >= 0)
			transport->ops->close(transport, fd);
		free(monitor);
		return lm_fail(ctx, -error, "join the group \"" MORPH_MCGRP_MONITOR "\": %s",
			       strerror(-error));
	}
	monitor->ctx = ctx;
	monitor->fd = fd;
	*out = monitor;
	return 0;
}

MORPH_API void morph_monitor_free(struct morph_monitor *monitor)
{
	if (!monitor)
		return;
	monitor->ctx->transport->ops->close(monitor->ctx->transport, monitor->fd);
	free(monitor->message);
	free(monitor);
}

int morph_monitor_get_fd(const struct morph_monitor *monitor)
{
	return monitor->fd;
}

MORPH_API int morph_monitor_wait(struct morph_monitor *monitor, int64_t timeout_ns)
{
	int events;

	if (monitor->lost)
		return 1;
	events = monitor->ctx->transport->ops->poll(monitor->ctx->transport, monitor->fd,
						    timeout_ns);
	if (events < 0)
		return lm_fail(monitor->ctx, -events, "wait for notifications: %s",
			       strerror(-events));
	/* an overrun is an error on the socket, which a read reports */
	return events != 0;
}

static int resync(struct morph_list *list)
{
	static const char text[] = "notifications were lost; dump again";
	struct morph_object *object = lm_object_new(MORPH_OBJECT_RESYNC, NULL);

	if (object && lm_put_text(object, LM_LOCAL_RESYNC_TEXT, text, sizeof(text))) {
		morph_object_free(object);
		object = NULL;
	}
	return lm_list_add(list, object);
}

/* Read one datagram: 0, -EAGAIN if there is none, or a failure. */
static int read_one(struct morph_monitor *monitor, struct morph_list *list)
{
	struct lm_transport *transport = monitor->ctx->transport;
	ssize_t bytes = transport->ops->netlink_receive(transport, monitor->fd, &monitor->message,
							&monitor->message_bytes);
	const struct nlmsghdr *header = monitor->message;
	int left = (int)bytes;
	int error = 0;

	if (bytes == -ENOBUFS) {
		monitor->lost = true;
		return 0;
	}
	if (bytes < 0)
		return (int)bytes;
	for (; nlmsg_ok(header, left) && !error;
	     header = nlmsg_next((struct nlmsghdr *)header, &left)) {
		struct morph_object *object = lm_decode(monitor->ctx, header, &error);

		if (object)
			error = lm_list_add(list, object);
	}
	return error;
}

/*
 * After an overrun the kernel drops more notifications without another report, until the socket is
 * empty. A dump before that moment could miss changes, and notifications in the socket are older
 * than a dump. So the loss is reported after all of them. This ends, because nothing is added
 * meanwhile.
 */
static int report_loss(struct morph_monitor *monitor, struct morph_list *list)
{
	monitor->lost = false;
	return resync(list);
}

MORPH_API int morph_monitor_read(struct morph_monitor *monitor, struct morph_list **out)
{
	struct morph_list *list = lm_list_new();
	int error = 0;

	*out = NULL;
	if (!list)
		return lm_no_memory(monitor->ctx, "read notifications");
	for (int message = 0; !error && message < MESSAGES_PER_READ; message++)
		error = read_one(monitor, list);
	if (error == -EAGAIN && monitor->lost)
		error = report_loss(monitor, list);
	if ((!error || error == -EAGAIN) && morph_list_count(list)) {
		*out = list;
		return (int)morph_list_count(list);
	}
	morph_list_free(list);
	/* drop notifications read with the failed one */
	if (error && error != -EAGAIN)
		monitor->lost = true;
	if (!error)
		error = -EAGAIN;
	return lm_fail(monitor->ctx, -error, "read notifications: %s", strerror(-error));
}

/* ------------------------------------------------- the end of a transaction */

/* The end condition: the transaction leaves all of these outcomes. */
struct wanted {
	uint32_t fabric;
	uint32_t txn;
	uint32_t outcomes; /* mask, by enum morph_outcome */
};

#define OUTCOME(outcome) (1u << (outcome))

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * SECOND_NS + now.tv_nsec;
}

/* A failure is an end, whatever the outcome. */
static bool has_ended(const struct wanted *wanted, const struct morph_object *txn)
{
	return morph_object_uint(txn, "outcome") >= 32 || morph_object_sint(txn, "status") ||
	       !(wanted->outcomes & OUTCOME((uint32_t)morph_object_uint(txn, "outcome")));
}

/* Look for the end in notifications. A copy of the last one goes to @out. */
static int look_in(const struct morph_list *list, const struct wanted *wanted, bool *lost,
		   struct morph_object **out)
{
	for (size_t at = 0; at < morph_list_count(list); at++) {
		const struct morph_object *object = morph_list_get(list, at);

		if (morph_object_type(object) == MORPH_OBJECT_RESYNC)
			*lost = true;
		if (morph_object_type(object) == MORPH_OBJECT_TXN &&
		    morph_object_uint(object, "fabric") == wanted->fabric &&
		    morph_object_uint(object, "id") == wanted->txn && has_ended(wanted, object))
			return morph_object_copy(object, out);
	}
	return 0;
}

/* Ask the kernel. *out is NULL while the transaction runs. */
static int look_up(struct morph_monitor *monitor, const struct wanted *wanted,
		   struct morph_object **out)
{
	int error = morph_admin_get(monitor->ctx, MORPH_OBJECT_TXN, wanted->fabric, MORPH_ANY,
				    wanted->txn, out);

	if (!error && !has_ended(wanted, *out)) {
		morph_object_free(*out);
		*out = NULL;
	}
	return error;
}

/* Wait for the next notifications and examine them. *out is NULL while the transaction runs. */
static int look_again(struct morph_monitor *monitor, const struct wanted *wanted,
		      int64_t timeout_ns, struct morph_object **out)
{
	struct morph_list *list;
	bool lost = false;
	int result = morph_monitor_wait(monitor, timeout_ns);

	if (result <= 0)
		return result;
	result = morph_monitor_read(monitor, &list);
	if (result < 0)
		return result == -EAGAIN ? 0 : result;
	result = look_in(list, wanted, &lost, out);
	morph_list_free(list);
	if (result)
		return lm_fail(monitor->ctx, -result, "wait for transaction %u of fabric %u: %s",
			       wanted->txn, wanted->fabric, strerror(-result));
	if (lost && !*out)
		result = look_up(monitor, wanted, out);
	return result;
}

static int wait_end(struct morph_monitor *monitor, const struct wanted *wanted, int64_t timeout_ns,
		    struct morph_object **out)
{
	struct morph_object *object = NULL;
	int64_t end;
	int error;

	if (out)
		*out = NULL;
	if (timeout_ns > LONGEST_WAIT_NS)
		timeout_ns = LONGEST_WAIT_NS;
	end = now_ns() + timeout_ns;
	error = look_up(monitor, wanted, &object);
	while (!error && !object) {
		int64_t left = timeout_ns < 0 ? -1 : end - now_ns();

		if (timeout_ns >= 0 && left < 0)
			return lm_fail(monitor->ctx, ETIMEDOUT,
				       "transaction %u of fabric %u is still running", wanted->txn,
				       wanted->fabric);
		error = look_again(monitor, wanted, left, &object);
	}
	if (error)
		return error;
	error = lm_verdict(monitor->ctx, object, "transaction %u of fabric %u", wanted->txn,
			   wanted->fabric);
	if (out)
		*out = object;
	else
		morph_object_free(object);
	return error;
}

MORPH_API int morph_monitor_wait_txn(struct morph_monitor *monitor, uint32_t fabric, uint32_t txn,
				     int64_t timeout_ns, struct morph_object **out)
{
	struct wanted wanted = { fabric, txn, OUTCOME(MORPH_OUTCOME_RUNNING) };

	return wait_end(monitor, &wanted, timeout_ns, out);
}

int morph_monitor_wait_step(struct morph_monitor *monitor, uint32_t fabric, uint32_t txn,
			    uint32_t verb, int64_t timeout_ns, struct morph_object **out)
{
	struct wanted wanted = { fabric, txn, OUTCOME(MORPH_OUTCOME_RUNNING) };

	if (out)
		*out = NULL;
	switch (verb) {
	case MORPH_TXN_COMMIT:
		wanted.outcomes |= OUTCOME(MORPH_OUTCOME_PREPARED);
		break;
	case MORPH_TXN_CONFIRM:
		wanted.outcomes |= OUTCOME(MORPH_OUTCOME_UNCONFIRMED);
		break;
	case MORPH_TXN_REVERT:
		wanted.outcomes |= OUTCOME(MORPH_OUTCOME_PREPARED) |
				   OUTCOME(MORPH_OUTCOME_UNCONFIRMED);
		break;
	default:
		return lm_fail(
			monitor->ctx, EINVAL,
			"unknown step %u of a transaction: expected commit, confirm or revert",
			verb);
	}
	return wait_end(monitor, &wanted, timeout_ns, out);
}

/* SPDX-License-Identifier: GPL-2.0-only */
/* Costs of queues, each of which has a thread of the kernel. */
#ifndef MORPH_CORE_QUEUE_H
#define MORPH_CORE_QUEUE_H

#include "core/base/base.h"

struct morph_queue_owner;

/* What a queue costs. */
struct morph_queue_charge {
	struct morph_user *user; /* of the slice, which keeps it: pays bytes */
	size_t bytes;
	struct morph_queue_owner *owner; /* whose program made the queue: has a thread more */
};

/*
 * Charge a new queue: @bytes and the memory of its thread to @user, and the thread to the user of
 * the calling program. Return 0, -EDQUOT, -EAGAIN beyond RLIMIT_NPROC, or -ENOMEM.
 */
int morph_queue_charge(struct morph_queue_charge *charge, struct morph_user *user, size_t bytes,
		       struct morph_refusal *refusal);
void morph_queue_uncharge(struct morph_queue_charge *charge);

/*
 * Joining the user's cgroups blocks the creation of threads on the whole machine for a moment. So a
 * user that sets up queues repeatedly must wait. Return 0 or -EINTR.
 */
int morph_queue_await_turn(struct morph_user *user);

#endif

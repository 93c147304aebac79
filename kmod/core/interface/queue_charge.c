// SPDX-License-Identifier: GPL-2.0-only
/*
 * Charges for queues. The kernel counts the thread of a queue neither as memory nor as a process of
 * a user. So the driver charges the memory to the user of the slice, and counts the threads of the
 * user whose program makes the queue.
 *
 * As for fork(), RLIMIT_NPROC limits the processes and these threads of a user together, and so do
 * the limits of the user namespaces around the program. Threads count for the outermost user other
 * than root, so subordinate ids have one limit.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/hashtable.h>
#include <linux/hrtimer.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>

#include "core/interface/queue.h"

#define THREAD_BYTES (THREAD_SIZE + sizeof(struct task_struct))
#define SETUP_NS (10 * NSEC_PER_MSEC) /* least time between two set-ups of a user */
#define SETUP_BURST 32u /* after this number of set-ups at once */

/* A user with threads. */
struct morph_queue_owner {
	struct hlist_node node; /* entry in owners, by user; owners_lock */
	struct morph_user *user; /* counted */
	u32 threads; /* owners_lock */
};

static DEFINE_MUTEX(owners_lock);
static DEFINE_HASHTABLE(owners, 6);

static struct morph_queue_owner *owner_find(const struct morph_user *user)
{
	struct morph_queue_owner *owner;

	hash_for_each_possible(owners, owner, node, (unsigned long)user)
		if (owner->user == user)
			return owner;
	return NULL;
}

/* Count a thread of a user; return the record with the new number, or NULL: no memory. */
static struct morph_queue_owner *owner_add_thread(struct morph_user *user, u32 *threads)
{
	struct morph_queue_owner *spare = kzalloc(sizeof(*spare), GFP_KERNEL_ACCOUNT);
	struct morph_queue_owner *owner;

	mutex_lock(&owners_lock);
	owner = owner_find(user);
	if (!owner && spare) {
		owner = spare;
		spare = NULL;
		owner->user = morph_user_ref(user);
		hash_add(owners, &owner->node, (unsigned long)user);
	}
	if (owner)
		*threads = ++owner->threads;
	mutex_unlock(&owners_lock);
	kfree(spare);
	return owner;
}

static void owner_remove_thread(struct morph_queue_owner *owner)
{
	bool last;

	mutex_lock(&owners_lock);
	last = !--owner->threads;
	if (last)
		hash_del(&owner->node);
	mutex_unlock(&owners_lock);
	if (!last)
		return;
	morph_user_put(owner->user);
	kfree(owner);
}

/* Return whether the calling program's user has too many processes and threads. */
static bool exceeds_processes(u32 threads)
{
	long most = min_t(unsigned long, rlimit(RLIMIT_NPROC), LONG_MAX);
	struct ucounts *ucounts;

	for (ucounts = current_ucounts(); ucounts; ucounts = ucounts->ns->ucounts) {
		if (get_rlimit_value(ucounts, UCOUNT_RLIMIT_NPROC) > most - (long)threads)
			return true;
		most = get_userns_rlimit_max(ucounts->ns, UCOUNT_RLIMIT_NPROC);
	}
	return false;
}

/* The same as for fork(). */
static bool ignores_limit(void)
{
	return uid_eq(current_uid(), GLOBAL_ROOT_UID) || capable(CAP_SYS_RESOURCE) ||
	       capable(CAP_SYS_ADMIN);
}

/* Count the thread for the user of the calling program. */
static int charge_thread(struct morph_queue_charge *charge, struct morph_refusal *refusal)
{
	struct morph_user *user = morph_user_of(current_cred());
	u32 threads;

	if (!user)
		return -ENOMEM;
	charge->owner = owner_add_thread(morph_user_payer(user), &threads);
	morph_user_put(user);
	if (!charge->owner)
		return -ENOMEM;
	if (!exceeds_processes(threads) || ignores_limit())
		return 0;
	owner_remove_thread(charge->owner);
	return morph_refuse(refusal, -EAGAIN, MORPH_REASON_QUOTA, 0, 0,
			    "the queue's thread exceeds RLIMIT_NPROC, close queues or end processes");
}

int morph_queue_charge(struct morph_queue_charge *charge, struct morph_user *user, size_t bytes,
		       struct morph_refusal *refusal)
{
	int ret;

	charge->user = user;
	charge->bytes = bytes + THREAD_BYTES;
	ret = morph_user_charge(user, MORPH_RES_BYTES, charge->bytes, refusal);
	if (ret)
		return ret;
	ret = charge_thread(charge, refusal);
	if (ret)
		morph_user_uncharge(user, MORPH_RES_BYTES, charge->bytes);
	return ret;
}

void morph_queue_uncharge(struct morph_queue_charge *charge)
{
	owner_remove_thread(charge->owner);
	morph_user_uncharge(charge->user, MORPH_RES_BYTES, charge->bytes);
}

int morph_queue_await_turn(struct morph_user *user)
{
	const s64 burst = SETUP_BURST * SETUP_NS;

	for (;;) {
		s64 last = atomic64_read(&user->queue_turn_ns), now = ktime_get_ns();
		s64 turn = max(last, now - burst);
		ktime_t until = ns_to_ktime(turn);

		/* Take a turn only when it has come: an interrupted caller takes none. */
		if (turn <= now) {
			if (atomic64_try_cmpxchg(&user->queue_turn_ns, &last, turn + SETUP_NS))
				return 0;
			continue;
		}
		set_current_state(TASK_INTERRUPTIBLE);
		schedule_hrtimeout(&until, HRTIMER_MODE_ABS);
		if (signal_pending(current))
			return -EINTR;
	}
}

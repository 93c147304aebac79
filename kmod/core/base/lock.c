// SPDX-License-Identifier: GPL-2.0-only
/*
 * The order in which tasks get fabric->lock.
 *
 * With a mutex alone, a thread that gives the lock back takes it again before a waiting thread
 * runs, and a user with many threads waits many times. Such a user would delay the short calls of
 * all other users. So one waiting task at a time is admitted: it gets the lock next. It belongs to
 * the waiting user who has held the lock for the shortest time. Tasks of one user get the lock in
 * the order in which they came.
 *
 * The kernel's own work takes the lock with mutex_lock(). It waits for the holder and for at most
 * one admitted task. A kernel thread that works for a user waits like the tasks of this user.
 */
#include <linux/completion.h>
#include <linux/cred.h>
#include <linux/hashtable.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/user_namespace.h>

#include "core/base/base.h"

#ifdef MORPH_HOLDS
#define mutex_lock_plainly(lock)	morph_plain_lock(lock)
#else
#define mutex_lock_plainly(lock)	mutex_lock(lock)
#endif

/* Charged for a hold: at least and at most. A holder that was preempted held it for longer. */
#define LEAST_HOLD_NS	NSEC_PER_USEC
#define MOST_HOLD_NS	NSEC_PER_MSEC

/* Keys of users: ids, numbers of grants, and the kernel itself. */
#define KEY_OF_GRANT(grant)	((u64)(grant) << 32)
#define KEY_OF_KERNEL		(U64_MAX - 1)
#define KEY_OF_NOBODY		U64_MAX

/* A task that waits until it is admitted; on its stack. */
struct waiting_task {
	struct list_head node;		/* head: morph_lock_user.tasks */
	struct completion admitted;
};

/* ---------------------------------------------------- kernel threads for users */

static DEFINE_SPINLOCK(acting_lock);
static DEFINE_HASHTABLE(acting, 6);	/* by address of the thread; acting_lock */

void morph_act_for(struct morph_acting *entry, struct morph_user *user)
{
	entry->thread = current;
	entry->key = KEY_OF_KERNEL;
	if (user)
		user = morph_user_payer(user);
	if (user)
		entry->key = user->grant ? KEY_OF_GRANT(user->grant) : __kuid_val(user->uid);
	spin_lock(&acting_lock);
	hash_add(acting, &entry->node, (unsigned long)current);
	spin_unlock(&acting_lock);
}

void morph_act_end(struct morph_acting *entry)
{
	spin_lock(&acting_lock);
	hash_del(&entry->node);
	spin_unlock(&acting_lock);
}

static bool find_acting(u64 *key)
{
	struct morph_acting *entry;
	bool found = false;

	spin_lock(&acting_lock);
	hash_for_each_possible(acting, entry, node, (unsigned long)current) {
		if (entry->thread != current)
			continue;
		*key = entry->key;
		found = true;
		break;
	}
	spin_unlock(&acting_lock);
	return found;
}

/* The user who answers for the task, as morph_user_payer(). Return false: the kernel itself. */
static bool find_payer(u64 *key)
{
	const struct cred *cred = current_cred();
	const struct user_namespace *ns;
	kuid_t uid = cred->euid;

	if (current->flags & PF_KTHREAD)
		return find_acting(key);
	for (ns = cred->user_ns; ns->level; ns = ns->parent)
		if (!uid_eq(ns->owner, GLOBAL_ROOT_UID))
			uid = ns->owner;
	*key = __kuid_val(uid);
	return true;
}

/* ----------------------------------------------------------------------- users */

void morph_lock_order_init(struct morph_lock_order *order)
{
	u32 i;

	spin_lock_init(&order->lock);
	for (i = 0; i < MORPH_LOCK_USERS; i++) {
		order->users[i].key = KEY_OF_NOBODY;
		INIT_LIST_HEAD(&order->users[i].tasks);
	}
}

/*
 * Count a waiting task, and return the entry of its user. A user gains nothing by a rest: the entry
 * of a user without waiting tasks gets at least the held time of the user who was admitted last. If
 * all entries have waiting tasks, users share one.
 */
static struct morph_lock_user *enter_user(struct morph_lock_order *order, u64 key)
{
	struct morph_lock_user *user, *found = NULL;
	u32 i;

	for (i = 0; i < MORPH_LOCK_USERS; i++) {
		user = &order->users[i];
		if (user->key == key) {
			found = user;
			break;
		}
		if (!user->waiting && (!found || user->held_ns < found->held_ns))
			found = user;
	}
	if (!found)
		found = &order->users[(u32)key % MORPH_LOCK_USERS];
	if (!found->waiting && found->key != key) {
		found->key = key;
		found->held_ns = 0;
		if (order->holder == found)
			WRITE_ONCE(order->holder, NULL);
	}
	if (!found->waiting)
		found->held_ns = max(found->held_ns, order->least_ns);
	found->waiting++;
	return found;
}

/*
 * The last admitted task has held the lock until now; or it gave the lock back before with
 * mutex_unlock(). Caller holds order->lock.
 */
static void charge_holder(struct morph_lock_order *order, u64 now)
{
	if (order->holder)
		order->holder->held_ns +=
			clamp_t(u64, now - order->since_ns, LEAST_HOLD_NS, MOST_HOLD_NS) -
			LEAST_HOLD_NS;
	WRITE_ONCE(order->holder, NULL);
}

void morph_lock_charge(struct morph_lock_order *order)
{
	u64 now = local_clock();

	spin_lock(&order->lock);
	charge_holder(order, now);
	spin_unlock(&order->lock);
}

/* Admit the first task of the waiting user with the shortest time. Caller holds order->lock. */
static void admit_next(struct morph_lock_order *order)
{
	struct morph_lock_user *user, *next = NULL;
	struct waiting_task *task;
	u32 i;

	for (i = 0; i < MORPH_LOCK_USERS; i++) {
		user = &order->users[i];
		if (!list_empty(&user->tasks) && (!next || user->held_ns < next->held_ns))
			next = user;
	}
	order->is_admitted = next;
	if (!next)
		return;
	order->least_ns = max(order->least_ns, next->held_ns);
	task = list_first_entry(&next->tasks, struct waiting_task, node);
	list_del(&task->node);
	complete(&task->admitted);
}

/* ------------------------------------------------------------------------ lock */

/* Wait until the task of a user is admitted, and return the user. */
static struct morph_lock_user *wait_for_admission(struct morph_lock_order *order, u64 key)
{
	struct waiting_task task;
	struct morph_lock_user *user;

	spin_lock(&order->lock);
	user = enter_user(order, key);
	WRITE_ONCE(order->waiting, order->waiting + 1);
	if (!order->is_admitted) {
		order->is_admitted = true;
		order->least_ns = max(order->least_ns, user->held_ns);
		spin_unlock(&order->lock);
		return user;
	}
	init_completion(&task.admitted);
	list_add_tail(&task.node, &user->tasks);
	spin_unlock(&order->lock);
	wait_for_completion(&task.admitted);
	return user;
}

void morph_fabric_lock_in_order(struct morph_fabric *fabric)
{
	struct morph_lock_order *order = &fabric->lock_order;
	struct morph_lock_user *user;
	u64 key, now;

	if (!find_payer(&key)) {
		mutex_lock_plainly(&fabric->lock);
		return;
	}
	user = wait_for_admission(order, key);
	mutex_lock_plainly(&fabric->lock);
	now = local_clock();
	spin_lock(&order->lock);
	charge_holder(order, now);
	user->held_ns += LEAST_HOLD_NS;
	user->waiting--;
	WRITE_ONCE(order->holder, user);
	order->since_ns = now;
	WRITE_ONCE(order->waiting, order->waiting - 1);
	admit_next(order);
	spin_unlock(&order->lock);
}

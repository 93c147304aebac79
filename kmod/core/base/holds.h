/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The longest holds of fabric->lock, for builds with HOLDS=y.
 *
 * Such a build includes this file into each source file of kmod/core and kmod/tests before the
 * file itself. The macros below replace the functions of mutexes there, so that no holder can take
 * or give back fabric->lock unrecorded. Other mutexes pass through. Functions that no macro
 * replaces fail to compile.
 */
#ifndef MORPH_CORE_BASE_HOLDS_H
#define MORPH_CORE_BASE_HOLDS_H

#include <linux/device.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/types.h>

#define MORPH_HOLDS_LISTED 10u	/* at most one hold of each holder */

/* One hold; times in ns of CLOCK_MONOTONIC. */
struct morph_lock_hold {
	const char *holder;	/* function that took the lock */
	u64 running;		/* without the two times below */
	u64 preempted;		/* ready to run, but another task ran, or cpu.max ended its turn */
	u64 slept;
	u32 records;		/* changes published, and records copied for a reader */
};

/* The current hold and the table. fabric->lock guards all fields. */
struct morph_lock_holds {
	struct morph_lock_hold now;
	u64 began, left;
	u64 softirq_base, softirqs;	/* ns of softirqs: when it got the processor, in the hold */
	bool sleeping;			/* the holder has left the processor to sleep */
	u64 ns_per_record;		/* for the order of the table; by the reader */
	/* Ordered by running time without the time of records. */
	struct morph_lock_hold longest[MORPH_HOLDS_LISTED];
	struct morph_lock_hold preempted, slept;	/* the longest of each kind */
	u64 ran;			/* running time of all holds that have ended; some readers
					 * take no lock
					 */
	u32 ended;			/* their number; likewise */
	/* A task whose waits are added up, and the sums, which only this task accesses. */
	struct task_struct *watched;
	u64 waited;			/* running time of the holds that it waited for */
	u32 passed;			/* their number */
#ifdef CONFIG_PREEMPT_NOTIFIERS
	struct preempt_notifier notifier;
#endif
};

static inline void morph_plain_lock(struct mutex *lock)
{
	mutex_lock(lock);
}

static inline int __must_check morph_plain_lock_interruptible(struct mutex *lock)
{
	return mutex_lock_interruptible(lock);
}

void morph_holds_lock(struct mutex *lock, const char *holder);
int __must_check morph_holds_lock_interruptible(struct mutex *lock, const char *holder);
void morph_holds_unlock(struct mutex *lock);

#undef mutex_lock
#undef mutex_lock_interruptible
#define mutex_lock(lock) morph_holds_lock(lock, __func__)
#define mutex_lock_interruptible(lock) morph_holds_lock_interruptible(lock, __func__)
#define mutex_unlock(lock) morph_holds_unlock(lock)

#undef mutex_lock_nested
#undef mutex_lock_killable
#undef mutex_lock_io
#define mutex_lock_nested not_recorded_as_a_hold
#define mutex_lock_killable not_recorded_as_a_hold
#define mutex_lock_io not_recorded_as_a_hold
#define mutex_trylock not_recorded_as_a_hold
#define atomic_dec_and_mutex_lock not_recorded_as_a_hold

#endif /* MORPH_CORE_BASE_HOLDS_H */

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Record the longest holds of fabric->lock; see holds.h.
 *
 * The length of a hold is the holder's own running time. A preempt notifier subtracts the time
 * when another task has the processor. Kernels without preempt notifiers record the time between
 * lock and unlock. Softirqs do not count, because they serve any task: on a pod, one batch of RCU
 * callbacks took 3.4 ms. Other interrupts count as running time. The file waits shows for how long
 * one task has waited for the holds of other tasks.
 */
#include <linux/debugfs.h>
#include <linux/kstrtox.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/timekeeping.h>
#include <linux/tracepoint.h>
#include <linux/uaccess.h>

#include "core/base/base.h"

#undef mutex_lock
#undef mutex_lock_interruptible
#undef mutex_unlock
#undef mutex_trylock

#define MOST_FABRICS 16u	/* fabrics that are recorded */

/* An entry is removed before its fabric is freed, and the lock is in use only before that. */
static struct morph_fabric *recorded[MOST_FABRICS];

static struct morph_fabric *fabric_of(const struct mutex *lock)
{
	struct morph_fabric *fabric;
	u32 i;

	for (i = 0; i < MOST_FABRICS; i++) {
		fabric = READ_ONCE(recorded[i]);
		if (fabric && lock == &fabric->lock)
			return fabric;
	}
	return NULL;
}

/* ------------------------------------------------------------------ softirqs */

static DEFINE_PER_CPU(u64, softirq_began);
static DEFINE_PER_CPU(u64, softirq_ns);		/* all that have ended */

static void softirq_begins(void *unused, unsigned int number)
{
	this_cpu_write(softirq_began, ktime_get_mono_fast_ns());
}

static void softirq_ends(void *unused, unsigned int number)
{
	this_cpu_add(softirq_ns, ktime_get_mono_fast_ns() - this_cpu_read(softirq_began));
}

/* The tracepoints of softirqs are not exported, so find them by name. */
static void find_tracepoint(struct tracepoint *tracepoint, void *found)
{
	struct tracepoint **softirq = found;

	if (!strcmp(tracepoint->name, "softirq_entry"))
		softirq[0] = tracepoint;
	else if (!strcmp(tracepoint->name, "softirq_exit"))
		softirq[1] = tracepoint;
}

static void probe_softirqs(bool probe)
{
	struct tracepoint *softirq[2] = {};

	for_each_kernel_tracepoint(find_tracepoint, softirq);
	if (!softirq[0] || !softirq[1])
		return;
	if (probe) {
		tracepoint_probe_register(softirq[0], softirq_begins, NULL);
		tracepoint_probe_register(softirq[1], softirq_ends, NULL);
		return;
	}
	tracepoint_probe_unregister(softirq[0], softirq_begins, NULL);
	tracepoint_probe_unregister(softirq[1], softirq_ends, NULL);
	tracepoint_synchronize_unregister();
}

/* The holder gets a processor, or leaves it; it may leave twice at the end of a hold. */
static void enter_processor(struct morph_lock_holds *holds)
{
	holds->softirq_base = this_cpu_read(softirq_ns);
}

static void leave_processor(struct morph_lock_holds *holds)
{
	u64 now = this_cpu_read(softirq_ns);

	holds->softirqs += now - holds->softirq_base;
	holds->softirq_base = now;
}

/* ------------------------------------------------------------- running time */

#ifdef CONFIG_PREEMPT_NOTIFIERS

static void holder_leaves(struct preempt_notifier *notifier, struct task_struct *next)
{
	struct morph_lock_holds *holds = container_of(notifier, struct morph_lock_holds, notifier);

	leave_processor(holds);
	holds->left = ktime_get_mono_fast_ns();
	holds->sleeping = READ_ONCE(current->__state) != TASK_RUNNING;
}

static void holder_returns(struct preempt_notifier *notifier, int cpu)
{
	struct morph_lock_holds *holds = container_of(notifier, struct morph_lock_holds, notifier);
	u64 away = ktime_get_mono_fast_ns() - holds->left;

	if (holds->sleeping)
		holds->now.slept += away;
	else
		holds->now.preempted += away;
	enter_processor(holds);
}

static struct preempt_ops notifier_ops = {
	.sched_in = holder_returns,
	.sched_out = holder_leaves,
};

static void watch_holder(struct morph_lock_holds *holds)
{
	preempt_notifier_init(&holds->notifier, &notifier_ops);
	preempt_disable();
	preempt_notifier_register(&holds->notifier);
	preempt_enable();
}

static void unwatch_holder(struct morph_lock_holds *holds)
{
	preempt_disable();
	preempt_notifier_unregister(&holds->notifier);
	preempt_enable();
}

#else

static void watch_holder(struct morph_lock_holds *holds) { }
static void unwatch_holder(struct morph_lock_holds *holds) { }
static void preempt_notifier_inc(void) { }
static void preempt_notifier_dec(void) { }

#endif

/* -------------------------------------------------------------------- table */

/* The running time that the records of a hold do not explain. */
static u64 excess(const struct morph_lock_holds *holds, const struct morph_lock_hold *hold)
{
	u64 explained = hold->records * holds->ns_per_record;

	return hold->running > explained ? hold->running - explained : 0;
}

static void keep(struct morph_lock_holds *holds, const struct morph_lock_hold *hold)
{
	struct morph_lock_hold *least = &holds->longest[0];
	u32 i;

	for (i = 0; i < MORPH_HOLDS_LISTED; i++) {
		struct morph_lock_hold *other = &holds->longest[i];

		if (other->holder == hold->holder) {
			least = other;
			break;
		}
		if (least->holder &&
		    (!other->holder || excess(holds, other) < excess(holds, least)))
			least = other;
	}
	if (!least->holder || excess(holds, hold) > excess(holds, least))
		*least = *hold;
	if (hold->preempted > holds->preempted.preempted)
		holds->preempted = *hold;
	if (hold->slept > holds->slept.slept)
		holds->slept = *hold;
}

/* ---------------------------------------------------------- lock and unlock */

static void begin(struct mutex *lock, const char *holder)
{
	struct morph_fabric *fabric = fabric_of(lock);
	struct morph_lock_holds *holds;

	if (!fabric)
		return;
	holds = &fabric->holds;
	holds->now = (struct morph_lock_hold){ .holder = holder };
	watch_holder(holds);
	holds->softirqs = 0;
	enter_processor(holds);
	holds->began = ktime_get_mono_fast_ns();
}

/*
 * The holds that end while a task waits for the lock delay it. Their length is their running time,
 * so preemption of a holder does not count. The first one counts as a whole.
 */
struct wait {
	struct morph_lock_holds *holds;	/* NULL: nobody watches the task */
	u64 ran;
	u32 ended;
};

static struct wait begin_wait(const struct mutex *lock)
{
	struct morph_fabric *fabric = fabric_of(lock);
	struct wait wait = {};

	if (fabric && READ_ONCE(fabric->holds.watched) == current) {
		wait.holds = &fabric->holds;
		wait.ran = READ_ONCE(wait.holds->ran);
		wait.ended = READ_ONCE(wait.holds->ended);
	}
	return wait;
}

static void end_wait(const struct wait *wait)
{
	if (!wait->holds)
		return;
	wait->holds->waited += wait->holds->ran - wait->ran;
	wait->holds->passed += wait->holds->ended - wait->ended;
}

void morph_holds_lock(struct mutex *lock, const char *holder)
{
	struct wait wait = begin_wait(lock);

	morph_plain_lock(lock);
	end_wait(&wait);
	begin(lock, holder);
}

void morph_holds_lock_in_order(struct morph_fabric *fabric, const char *holder)
{
	struct wait wait = begin_wait(&fabric->lock);

	if (READ_ONCE(fabric->lock_order.waiting) || !mutex_trylock(&fabric->lock))
		morph_fabric_lock_in_order(fabric);
	end_wait(&wait);
	begin(&fabric->lock, holder);
}

int morph_holds_lock_interruptible(struct mutex *lock, const char *holder)
{
	struct wait wait = begin_wait(lock);
	int ret = morph_plain_lock_interruptible(lock);

	if (ret)
		return ret;
	end_wait(&wait);
	begin(lock, holder);
	return 0;
}

void morph_holds_unlock(struct mutex *lock)
{
	struct morph_fabric *fabric = fabric_of(lock);
	struct morph_lock_holds *holds;
	u64 ended;

	if (fabric && fabric->holds.now.holder) {
		holds = &fabric->holds;
		leave_processor(holds);
		ended = ktime_get_mono_fast_ns();
		unwatch_holder(holds);
		holds->now.running = ended - holds->began - holds->now.preempted -
				     holds->now.slept - holds->softirqs;
		keep(holds, &holds->now);
		WRITE_ONCE(holds->ran, holds->ran + holds->now.running);
		WRITE_ONCE(holds->ended, holds->ended + 1);
		holds->now.holder = NULL;
	}
	mutex_unlock(lock);
}

void morph_holds_count(struct morph_fabric *fabric, u32 records)
{
	lockdep_assert_held(&fabric->lock);
	fabric->holds.now.records += records;
}

/* ------------------------------------------------------------------ debugfs */

static void show_hold(struct seq_file *file, const struct morph_lock_hold *hold)
{
	seq_printf(file, "%llu %llu %llu %u %s\n", hold->running, hold->preempted, hold->slept,
		   hold->records, hold->holder);
}

static int holds_show(struct seq_file *file, void *unused)
{
	struct morph_fabric *fabric = file->private;
	struct morph_lock_holds *holds = &fabric->holds;
	bool shown[MORPH_HOLDS_LISTED] = {};
	u32 i, longest;

	seq_puts(file, "# ns running, preempted, slept; records; holder\n");
	morph_plain_lock(&fabric->lock);
	for (;;) {
		longest = MORPH_HOLDS_LISTED;
		for (i = 0; i < MORPH_HOLDS_LISTED; i++)
			if (holds->longest[i].holder && !shown[i] &&
			    (longest == MORPH_HOLDS_LISTED || excess(holds, &holds->longest[i]) >
						       excess(holds, &holds->longest[longest])))
				longest = i;
		if (longest == MORPH_HOLDS_LISTED)
			break;
		show_hold(file, &holds->longest[longest]);
		shown[longest] = true;
	}
	if (holds->preempted.holder) {
		seq_puts(file, "longest preempted: ");
		show_hold(file, &holds->preempted);
	}
	if (holds->slept.holder) {
		seq_puts(file, "longest asleep: ");
		show_hold(file, &holds->slept);
	}
	mutex_unlock(&fabric->lock);
	return 0;
}

static int holds_open(struct inode *inode, struct file *file)
{
	return single_open(file, holds_show, inode->i_private);
}

/* Clear the table. The number written is the running time that each record explains, in ns. */
static ssize_t holds_write(struct file *file, const char __user *text, size_t length, loff_t *at)
{
	struct morph_fabric *fabric = ((struct seq_file *)file->private_data)->private;
	struct morph_lock_holds *holds = &fabric->holds;
	u64 ns_per_record;
	int ret;

	ret = kstrtou64_from_user(text, length, 0, &ns_per_record);
	if (ret)
		return ret;
	morph_plain_lock(&fabric->lock);
	memset(holds->longest, 0, sizeof(holds->longest));
	memset(&holds->preempted, 0, sizeof(holds->preempted));
	memset(&holds->slept, 0, sizeof(holds->slept));
	holds->ns_per_record = ns_per_record;
	mutex_unlock(&fabric->lock);
	return length;
}

static const struct file_operations holds_fops = {
	.owner = THIS_MODULE,
	.open = holds_open,
	.read = seq_read,
	.write = holds_write,
	.llseek = seq_lseek,
	.release = single_release,
};

/* Add up the waits of the task that writes, from now on. */
static ssize_t waits_write(struct file *file, const char __user *text, size_t length, loff_t *at)
{
	struct morph_fabric *fabric = file->private_data;

	fabric->holds.waited = 0;
	fabric->holds.passed = 0;
	WRITE_ONCE(fabric->holds.watched, current);
	return length;
}

static ssize_t waits_read(struct file *file, char __user *buffer, size_t room, loff_t *at)
{
	struct morph_fabric *fabric = file->private_data;
	char text[48];

	scnprintf(text, sizeof(text), "%llu %u\n", fabric->holds.waited, fabric->holds.passed);
	return simple_read_from_buffer(buffer, room, at, text, strlen(text));
}

/* Another task may get the address of one that has ended. */
static int waits_release(struct inode *inode, struct file *file)
{
	struct morph_fabric *fabric = file->private_data;

	WRITE_ONCE(fabric->holds.watched, NULL);
	return 0;
}

static const struct file_operations waits_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = waits_read,
	.write = waits_write,
	.llseek = default_llseek,
	.release = waits_release,
};

void morph_holds_add_file(struct morph_fabric *fabric, struct dentry *directory)
{
	debugfs_create_file("holds", 0600, directory, fabric, &holds_fops);
	debugfs_create_file("waits", 0600, directory, fabric, &waits_fops);
}

/* ------------------------------------------------------- fabrics come and go */

static DEFINE_MUTEX(probing);
static u32 probed;		/* fabrics with holds; guarded by probing */

void morph_holds_start(struct morph_fabric *fabric)
{
	u32 i;

	preempt_notifier_inc();
	mutex_lock(&probing);
	if (!probed++)
		probe_softirqs(true);
	mutex_unlock(&probing);
	for (i = 0; i < MOST_FABRICS; i++)
		if (!cmpxchg(&recorded[i], NULL, fabric))
			return;
}

void morph_holds_stop(struct morph_fabric *fabric)
{
	u32 i;

	for (i = 0; i < MOST_FABRICS; i++)
		cmpxchg(&recorded[i], fabric, NULL);
	mutex_lock(&probing);
	if (!--probed)
		probe_softirqs(false);
	mutex_unlock(&probing);
	preempt_notifier_dec();
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queues: programs or their devices request steps of schedules through shared memory, without a
 * system call. Each queue has a thread, which polls for entries while they arrive, and then sleeps
 * until it is woken.
 *
 * User space can write anything to the memory at any time. So the thread reads each word once,
 * checks it, and keeps private copies of all values that it needs again. The thread holds
 * references to the queue and the module, and ends by itself: no other thread waits for it, since
 * it may be executing a step.
 */
#include <linux/cgroup.h>
#include <linux/delay.h>
#include <linux/freezer.h>
#include <linux/kthread.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "core/base/base.h"
#include "core/interface/interface.h"
#include "core/interface/queue.h"
#include "core/schedule/schedule.h"
#include "core/slice/slice.h"

#define MOST_QUEUES	16u		/* per slice: each is a thread */
#define IDLE_NS		NSEC_PER_MSEC
#define RATE		1000000u
#define BURST_NS	NSEC_PER_MSEC	/* the rate allows bursts of this duration */
#define LOOKS		64u		/* polls between two calls of cond_resched() */

/* For a malformed entry; no errno, since a device operation might return the same. */
#define MEANS_NOTHING	1

struct morph_queue {
	struct kref kref;
	struct morph_slice *slice;	/* with a reference */
	struct morph_schedule *schedule; /* with a reference */
	struct morph_file *file;	/* its creator; fabric->lock */
	struct list_head node;		/* head: slice_interface(slice)->queues; fabric->lock */
	u32 id, entries;
	u32 idle_ns, entry_ns;
	struct morph_queue_charge charge;

	/* The shared memory. */
	struct morph_mapped *mapped;	/* memory of the kernel, or NULL: user pages */
	void *memory;
	struct morph_ring_page *page;
	struct morph_ring_entry *submissions, *completions;
	size_t bytes;
	struct page **pages;		/* user pages, or NULL */
	u32 pages_count;
	struct mm_struct *mm;		/* with mmgrab(): charged for locked memory */

	/* Owned by the thread. */
	u32 taken, answered;
	u64 taken_ever;
	u64 next_ns;			/* when the rate permits the next entry */
	u64 sleeps;
	struct morph_refusal refusal;	/* not reported */
	u32 state;			/* enum morph_ring_state */
	int error;

	wait_queue_head_t wake;
	bool woken, closed;
};

/* ------------------------------------------------------------------- memory */

static void memory_free(struct morph_queue *queue)
{
	if (queue->mapped) {
		morph_mapped_put(queue->mapped);
		return;
	}
	vunmap(queue->memory);
	unpin_user_pages_dirty_lock(queue->pages, queue->pages_count, true);
	account_locked_vm(queue->mm, queue->pages_count, false);
	mmdrop(queue->mm);
	kvfree(queue->pages);
}

/* Return whether a page belongs to a file: pages may not change unnoticed during writeback. */
static bool any_of_a_file(struct page **pages, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		struct folio *folio = page_folio(pages[i]);

		if (folio->mapping && !folio_test_anon(folio) && !folio_test_swapbacked(folio) &&
		    !folio_test_hugetlb(folio))
			return true;
	}
	return false;
}

/* Pin the caller's own memory, which devices may have registered by other means. */
static int memory_pin(struct morph_queue *queue, u64 user_ptr)
{
	u32 count = queue->bytes / PAGE_SIZE;
	int pinned, ret;

	queue->pages = kvcalloc(count, sizeof(*queue->pages), GFP_KERNEL_ACCOUNT);
	if (!queue->pages)
		return -ENOMEM;
	ret = account_locked_vm(current->mm, count, true);
	if (ret)
		goto err_pages;
	pinned = pin_user_pages_fast(user_ptr, count, FOLL_WRITE | FOLL_LONGTERM, queue->pages);
	ret = pinned < 0 ? pinned : -EFAULT;
	if (pinned != count)
		goto err_unpin;
	ret = -EOPNOTSUPP;
	if (any_of_a_file(queue->pages, count))
		goto err_unpin;
	queue->memory = vmap(queue->pages, count, VM_MAP, PAGE_KERNEL);
	ret = -ENOMEM;
	if (!queue->memory)
		goto err_unpin;
	queue->pages_count = count;
	queue->mm = current->mm;
	mmgrab(queue->mm);
	return 0;

err_unpin:
	if (pinned > 0)
		unpin_user_pages(queue->pages, pinned);
	account_locked_vm(current->mm, count, false);
err_pages:
	kvfree(queue->pages);
	queue->pages = NULL;
	return ret;
}

/* Bytes of a queue without its thread. Memory that programs map is charged on its own. */
static size_t queue_bytes(u32 entries, bool user)
{
	return sizeof(struct morph_queue) + (user ? PAGE_ALIGN(MORPH_RING_BYTES(entries)) : 0);
}

static int memory_get(struct morph_queue *queue, const struct morph_ring_setup *setup,
		      struct morph_refusal *refusal)
{
	struct morph_mapped *mapped;
	int ret;

	queue->bytes = PAGE_ALIGN(MORPH_RING_BYTES(queue->entries));
	if (setup->head.flags & MORPH_RING_USER) {
		ret = memory_pin(queue, setup->user_ptr);
		if (ret)
			return ret;
	} else {
		mapped = morph_mapped_create(queue->slice->user, queue->bytes, refusal);
		if (IS_ERR(mapped))
			return PTR_ERR(mapped);
		queue->mapped = mapped;
		queue->memory = mapped->memory;
	}
	queue->page = queue->memory;
	queue->submissions = queue->memory + MORPH_RING_ENTRIES;
	queue->completions = queue->submissions + queue->entries;
	return 0;
}

/* ----------------------------------------------------------------- lifetime */

static void queue_last_put(struct kref *kref)
{
	struct morph_queue *queue = container_of(kref, struct morph_queue, kref);
	struct morph_slice *slice = queue->slice;

	memory_free(queue);
	morph_queue_uncharge(&queue->charge);
	morph_schedule_put(queue->schedule);
	kfree(queue);
	morph_slice_put(slice);
}

static void queue_put(struct morph_queue *queue)
{
	kref_put(&queue->kref, queue_last_put);
}

/* Find a queue and take a reference, or return NULL. Caller holds fabric->lock. */
static struct morph_queue *queue_find(struct morph_slice *slice, u32 id)
{
	struct morph_queue *queue;

	lockdep_assert_held(&slice->fabric->lock);
	list_for_each_entry(queue, &slice_interface(slice)->queues, node)
		if (queue->id == id) {
			kref_get(&queue->kref);
			return queue;
		}
	return NULL;
}

/* ------------------------------------------------------------------ the thread */

static bool is_over(const struct morph_queue *queue)
{
	return READ_ONCE(queue->closed) || READ_ONCE(queue->slice->dying) ||
	       READ_ONCE(queue->slice->fabric->state) != MORPH_FABRIC_READY;
}

static void report_stopped(struct morph_queue *queue)
{
	struct morph_slice *slice = queue->slice;
	struct morph_event event;

	morph_fabric_lock(slice->fabric);
	if (!slice->dying) {
		morph_event_init(&event, slice, MORPH_EVENT_RING);
		event.txn = queue->id;
		event.circuit = queue->taken;
		morph_event_queue(slice, &event);
	}
	morph_fabric_unlock(slice->fabric);
}

/* Stop the queue after a malformed entry, which is an error or an attack. */
static void queue_stop(struct morph_queue *queue, int error)
{
	queue->error = error;
	WRITE_ONCE(queue->state, MORPH_RING_STOPPED);
	WRITE_ONCE(queue->page->state, MORPH_RING_STOPPED);
	report_stopped(queue);
}

/* The lap bit of entry number @count. */
static u64 lap_of(const struct morph_queue *queue, u32 count)
{
	return count / queue->entries & 1 ? 0 : MORPH_RING_LAP;
}

/* Read the next submission; return whether both of its words are written. */
static bool queue_look(const struct morph_queue *queue, struct morph_ring_entry *entry)
{
	const struct morph_ring_entry *at = &queue->submissions[queue->taken % queue->entries];
	u64 lap = lap_of(queue, queue->taken);

	entry->words[0] = READ_ONCE(at->words[0]);
	entry->words[1] = READ_ONCE(at->words[1]);
	return (entry->words[0] & MORPH_RING_LAP) == lap &&
	       (entry->words[1] & MORPH_RING_LAP) == lap;
}

/* Free entries for completions; negative if the program has counted wrongly. */
static int queue_room(const struct morph_queue *queue)
{
	u32 unseen = queue->answered - READ_ONCE(queue->page->seen);

	return unseen > queue->entries ? -EPROTO : (int)(queue->entries - unseen);
}

static void queue_answer(struct morph_queue *queue, u64 asked, int error)
{
	struct morph_ring_entry *at = &queue->completions[queue->answered % queue->entries];
	u64 lap = lap_of(queue, queue->answered);
	u64 position = READ_ONCE(queue->schedule->position) & (MORPH_RING_POSITIONS - 1);

	/* A reader of the completion sees the changes of the state page, too. */
	dma_wmb();
	WRITE_ONCE(at->words[0], lap | (asked & ~MORPH_RING_LAP & ~0xffffffffULL) | (u32)-error);
	WRITE_ONCE(at->words[1], lap | position);
	queue->answered++;
	queue->taken++;
	WRITE_ONCE(queue->taken_ever, queue->taken_ever + 1);
	WRITE_ONCE(queue->page->answered, queue->answered);
	/* Last, since the program may now overwrite the submission. */
	smp_store_release(&queue->page->taken, queue->taken);
}

/* Execute an entry. Return 0, an errno for the completion, or MEANS_NOTHING. */
static int queue_do(struct morph_queue *queue, const struct morph_ring_entry *entry)
{
	u64 position = entry->words[1] & ~MORPH_RING_LAP;
	u32 op = entry->words[0] >> MORPH_RING_OP_SHIFT & 0x7f;
	u32 which = (u32)entry->words[0];	/* rank or step */
	struct morph_times times;

	if (position >= MORPH_RING_POSITIONS)
		return MEANS_NOTHING;
	switch (op) {
	case MORPH_RING_NOP:
		return which || position ? MEANS_NOTHING : 0;
	case MORPH_RING_GO:
		if (which)
			return MEANS_NOTHING;
		return morph_schedule_advance(queue->schedule, position, &times,
					      &queue->refusal);
	case MORPH_RING_ARRIVE:
		if (which >= queue->slice->ranks_count || !position)
			return MEANS_NOTHING;
		return morph_schedule_arrive(queue->schedule, which, position, &queue->refusal);
	case MORPH_RING_JUMP:
		if (which >= queue->schedule->steps_count)
			return MEANS_NOTHING;
		return morph_schedule_jump(queue->schedule, which, position, &times,
					   &queue->refusal);
	}
	return MEANS_NOTHING;
}

/* Take an entry if there is one, and if the rate and free completions permit it. */
static bool queue_take(struct morph_queue *queue)
{
	struct morph_ring_entry entry;
	u64 now;
	int room, error;

	if (!queue_look(queue, &entry))
		return false;
	room = queue_room(queue);
	if (room < 0)
		queue_stop(queue, room);
	if (room <= 0)
		return false;
	now = ktime_get_ns();
	if (queue->next_ns > now + BURST_NS)
		return false;
	queue->next_ns = max(queue->next_ns, now) + queue->entry_ns;
	error = queue_do(queue, &entry);
	if (error == MEANS_NOTHING) {
		queue_stop(queue, -EPROTO);
		return false;
	}
	queue_answer(queue, entry.words[0], error);
	return true;
}

/*
 * Sleep until the program wakes the queue. Return false if an entry has arrived that cannot be
 * taken yet.
 */
static bool queue_sleep(struct morph_queue *queue)
{
	struct morph_ring_entry entry;
	bool slept = false;

	WRITE_ONCE(queue->woken, false);
	WRITE_ONCE(queue->page->asleep, 1);
	/*
	 * An entry written before the program could read asleep is visible here. Pairs with its
	 * barrier.
	 */
	dma_mb();
	if (queue->state != MORPH_RING_RUNNING || !queue_look(queue, &entry)) {
		slept = true;
		queue->sleeps++;
		wait_event_freezable(queue->wake, READ_ONCE(queue->woken) || is_over(queue));
	} else {
		/* The rate, or the space for completions, is used up. */
		usleep_range(50, 200);
	}
	WRITE_ONCE(queue->page->asleep, 0);
	return slept;
}

static int queue_thread(void *data)
{
	struct morph_queue *queue = data;
	u64 last_ns = ktime_get_ns();
	struct morph_acting acting;
	u32 looks = 0;

	morph_act_for(&acting, queue->slice->user);
	set_freezable();
	while (!is_over(queue)) {
		try_to_freeze();
		/* Let other threads and RCU proceed even if the queue is never empty. */
		if (!(++looks % LOOKS))
			cond_resched_tasks_rcu_qs();
		if (queue->state == MORPH_RING_RUNNING && queue_take(queue)) {
			last_ns = ktime_get_ns();
		} else if (queue->state != MORPH_RING_RUNNING ||
			   ktime_get_ns() - last_ns > queue->idle_ns) {
			if (queue_sleep(queue))
				last_ns = ktime_get_ns();
		} else {
			cpu_relax();
		}
	}
	WRITE_ONCE(queue->state, MORPH_RING_GONE);
	WRITE_ONCE(queue->page->state, MORPH_RING_GONE);
	queue_put(queue);
	morph_act_end(&acting);
	module_put_and_kthread_exit(0);
	return 0;
}

/* --------------------------------------------------------------------- set up */

static int check_setup(const struct morph_ring_setup *setup, struct morph_refusal *refusal)
{
	bool user = setup->head.flags & MORPH_RING_USER;

	if (!is_power_of_2(setup->entries) || setup->entries < MORPH_RING_LEAST ||
	    setup->entries > MORPH_RING_MOST)
		return morph_refuse(refusal, -EINVAL, MORPH_REASON_ARGUMENT, 0, setup->entries,
				    "entries must be a power of two from %u to %u, not %u",
				    MORPH_RING_LEAST, MORPH_RING_MOST, setup->entries);
	if (setup->idle_ns > NSEC_PER_SEC)
		return morph_refuse(refusal, -EINVAL, MORPH_REASON_ARGUMENT, 0, 0,
				    "idle_ns is %u, must be at most a second", setup->idle_ns);
	if (setup->rate > RATE)
		return morph_refuse(refusal, -EINVAL, MORPH_REASON_ARGUMENT, 0, 0,
				    "rate is %u, must be at most %u", setup->rate, RATE);
	if (user == !setup->user_ptr || !PAGE_ALIGNED(setup->user_ptr))
		return morph_refuse(refusal, -EINVAL, MORPH_REASON_ARGUMENT, 0, 0,
				    "user_ptr requires MORPH_RING_USER and must be page-aligned");
	return 0;
}

/* Add the queue to its slice. Caller holds fabric->lock. */
static int queue_enter(struct morph_queue *queue, struct morph_file *file, u32 schedule,
		       struct morph_refusal *refusal)
{
	struct morph_slice *slice = queue->slice;
	struct morph_queue *other;
	u32 count = 0;

	if (slice->dying)
		return -ENODEV;
	list_for_each_entry(other, &slice_interface(slice)->queues, node)
		count++;
	if (count >= MOST_QUEUES)
		return morph_refuse(refusal, -EDQUOT, MORPH_REASON_QUOTA, 0, 0,
				    "the slice has %u queues, at most %u are allowed", count,
				    MOST_QUEUES);
	queue->schedule = morph_schedule_find(slice, schedule);
	if (!queue->schedule)
		return morph_refuse(refusal, -ENOENT, MORPH_REASON_ARGUMENT, 0, schedule,
				    "the slice has no schedule %u", schedule);
	queue->id = ++slice_interface(slice)->last_queue;
	queue->file = file;
	kref_get(&slice->kref);
	/* User space can guess the number and close the queue before it runs. */
	kref_get(&queue->kref);		/* reference of the list */
	list_add_tail(&queue->node, &slice_interface(slice)->queues);
	return 0;
}

static struct morph_queue *queue_alloc(struct morph_slice *slice,
				       const struct morph_ring_setup *setup,
				       struct morph_refusal *refusal)
{
	struct morph_queue *queue = kzalloc(sizeof(*queue), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!queue)
		return ERR_PTR(-ENOMEM);
	kref_init(&queue->kref);
	INIT_LIST_HEAD(&queue->node);
	init_waitqueue_head(&queue->wake);
	queue->slice = slice;
	queue->entries = setup->entries;
	queue->idle_ns = setup->idle_ns ? setup->idle_ns : IDLE_NS;
	queue->entry_ns = NSEC_PER_SEC / (setup->rate ? setup->rate : RATE);
	ret = memory_get(queue, setup, refusal);
	if (ret) {
		kfree(queue);
		return ERR_PTR(ret);
	}
	return queue;
}

/* The thread takes over the first reference. */
static int queue_run(struct morph_queue *queue)
{
	struct task_struct *thread;
	int ret;

	thread = kthread_create(queue_thread, queue, "morph-ring/%u.%u", queue->slice->number,
				queue->id);
	if (IS_ERR(thread))
		return PTR_ERR(thread);
	/* Run the thread in the cgroups of its user, at the user's priority. */
	ret = cgroup_attach_task_all(current, thread);
	if (ret) {
		kthread_stop(thread);	/* the thread has not run yet */
		return ret;
	}
	set_user_nice(thread, task_nice(current));
	/* Clear the caller's memory only when no error can follow. */
	memset(queue->memory, 0, MORPH_RING_BYTES(queue->entries));
	__module_get(THIS_MODULE);
	wake_up_process(thread);
	return 0;
}

/* Remove the queue from its slice, unless it is closed already. */
static void queue_leave(struct morph_queue *queue)
{
	bool leaves;

	morph_fabric_lock(queue->slice->fabric);
	leaves = !list_empty(&queue->node);
	list_del_init(&queue->node);
	morph_fabric_unlock(queue->slice->fabric);
	if (leaves)
		queue_put(queue);		/* reference of the list */
}

int morph_queue_setup(struct morph_file *file, const struct morph_ring_setup *setup, u32 *number,
		      struct morph_refusal *refusal)
{
	struct morph_slice *slice = file->slice;
	struct morph_queue_charge charge;
	struct morph_queue *queue;
	int ret;

	ret = check_setup(setup, refusal);
	if (!ret)
		ret = morph_queue_await_turn(morph_user_payer(slice->user));
	if (ret)
		return ret;
	ret = morph_queue_charge(&charge, slice->user,
				 queue_bytes(setup->entries, setup->head.flags & MORPH_RING_USER),
				 refusal);
	if (ret)
		return ret;
	queue = queue_alloc(slice, setup, refusal);
	if (IS_ERR(queue)) {
		morph_queue_uncharge(&charge);
		return PTR_ERR(queue);
	}
	queue->charge = charge;
	morph_fabric_lock(slice->fabric);
	ret = queue_enter(queue, file, setup->schedule, refusal);
	morph_fabric_unlock(slice->fabric);
	if (ret) {
		memory_free(queue);
		kfree(queue);
		morph_queue_uncharge(&charge);
		return ret;
	}
	*number = queue->id;
	ret = queue_run(queue);
	if (ret) {
		queue_leave(queue);
		queue_put(queue);		/* reference for the thread */
	}
	return ret;
}

/* ----------------------------------------------------------------------- requests */

static void queue_close(struct morph_queue *queue)
{
	WRITE_ONCE(queue->closed, true);
	wake_up_all(&queue->wake);
}

int morph_queue_act(struct morph_file *file, struct morph_ring_act *act,
		    struct morph_refusal *refusal)
{
	struct morph_slice *slice = file->slice;
	struct morph_queue *queue;
	bool leaves = false;

	if (act->verb < MORPH_RING_WAKE || act->verb > MORPH_RING_QUERY)
		return morph_refuse(refusal, -EOPNOTSUPP, MORPH_REASON_ARGUMENT, 0, 0,
				    "verb must be 1 (wake), 2 (close) or 3 (query), not %u",
				    act->verb);
	morph_fabric_lock(slice->fabric);
	queue = queue_find(slice, act->ring);
	if (queue && act->verb == MORPH_RING_CLOSE) {
		list_del_init(&queue->node);
		leaves = true;
	}
	morph_fabric_unlock(slice->fabric);
	if (!queue)
		return morph_refuse(refusal, -ENOENT, MORPH_REASON_ARGUMENT, 0, act->ring,
				    "the slice has no queue %u", act->ring);
	if (act->verb == MORPH_RING_WAKE) {
		WRITE_ONCE(queue->woken, true);
		wake_up_all(&queue->wake);
	}
	if (act->verb == MORPH_RING_CLOSE)
		queue_close(queue);
	if (leaves)
		queue_put(queue);		/* reference of the list */
	act->out_state = READ_ONCE(queue->state);
	act->out_error = queue->error;
	act->out_taken = READ_ONCE(queue->taken_ever);
	act->out_sleeps = READ_ONCE(queue->sleeps);
	queue_put(queue);
	return 0;
}

int morph_queue_mmap(struct morph_file *file, u32 number, struct vm_area_struct *vma)
{
	struct morph_slice *slice = file->slice;
	struct morph_queue *queue;
	int ret = -EINVAL;

	morph_fabric_lock(slice->fabric);
	list_for_each_entry(queue, &slice_interface(slice)->queues, node) {
		if (queue->id != number)
			continue;
		/*
		 * The mapping holds a reference to the memory only: dropping the last reference to
		 * a queue may uncharge locked memory, which takes the mmap lock of the caller.
		 */
		if (queue->mapped)
			ret = morph_mapped_map(queue->mapped, vma);
		break;
	}
	morph_fabric_unlock(slice->fabric);
	return ret;
}

void morph_queue_close_file(struct morph_file *file)
{
	struct morph_slice *slice = file->slice;
	struct morph_queue *queue, *next;
	LIST_HEAD(closed);

	morph_fabric_lock(slice->fabric);
	list_for_each_entry_safe(queue, next, &slice_interface(slice)->queues, node)
		if (queue->file == file)
			list_move(&queue->node, &closed);
	morph_fabric_unlock(slice->fabric);
	list_for_each_entry_safe(queue, next, &closed, node) {
		list_del_init(&queue->node);
		queue_close(queue);
		queue_put(queue);		/* reference of the list */
	}
}

void morph_queue_wake_slice(struct morph_slice *slice)
{
	struct morph_queue *queue;

	lockdep_assert_held(&slice->fabric->lock);
	list_for_each_entry(queue, &slice_interface(slice)->queues, node)
		wake_up_all(&queue->wake);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rings: steps of schedules asked for through shared memory, by programs or by their devices,
 * without a call. Each has a thread, which looks for entries as long as they come, and then
 * sleeps until it is woken.
 *
 * What is in the memory is anybody's word: it is read once, checked, and what the kernel needs
 * to know again it keeps for itself. The thread has references to the ring and to the
 * module, and ends by itself: nobody waits for it, and it may be in the middle of a step.
 */
#include <linux/cgroup.h>
#include <linux/delay.h>
#include <linux/freezer.h>
#include <linux/hrtimer.h>
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
#include "core/schedule/schedule.h"
#include "core/slice/slice.h"

#define MOST_RINGS	16u		/* of a slice: each is a thread */
#define IDLE_NS		NSEC_PER_MSEC
#define RATE		1000000u
#define BURST_NS	NSEC_PER_MSEC	/* entries of so much time are taken at once */
#define SETUP_NS	(10 * NSEC_PER_MSEC)	/* from one set-up of a user to the next, */
#define SETUP_BURST	32u		/* when so many have come at once */
#define LOOKS		64u		/* between two times that others may run */

/* Of an entry; no errno, which a device might give as well. */
#define MEANS_NOTHING	1

struct morph_ring {
	struct kref kref;
	struct morph_slice *slice;	/* counted */
	struct morph_schedule *schedule; /* counted */
	struct morph_file *file;	/* that it was made with; fabric->lock */
	struct list_head node;		/* head: slice->rings; fabric->lock */
	u32 id, entries;
	u32 idle_ns, entry_ns;

	/* the memory */
	void *memory;			/* of the kernel's, or of the user's pages */
	struct morph_ring_page *page;
	struct morph_ring_entry *submissions, *completions;
	size_t bytes;
	struct page **pages;		/* of the user's, or NULL */
	u32 pages_count;
	struct mm_struct *mm;		/* grabbed: whose locked memory they are */

	/* the thread's */
	u32 taken, answered;
	u64 taken_ever;
	u64 next_ns;			/* when the next entry is due, by the rate */
	u64 sleeps;
	struct morph_refusal refusal;	/* which nobody reads */
	u32 state;			/* enum morph_ring_state */
	int error;

	wait_queue_head_t wake;
	bool woken, closed;
};

/* ------------------------------------------------------------------- memory */

static void memory_free(struct morph_ring *ring)
{
	if (!ring->pages) {
		vfree(ring->memory);
		return;
	}
	vunmap(ring->memory);
	unpin_user_pages_dirty_lock(ring->pages, ring->pages_count, true);
	account_locked_vm(ring->mm, ring->pages_count, false);
	mmdrop(ring->mm);
	kvfree(ring->pages);
}

/* A file's pages may be written back meanwhile, and are not to change then behind its back. */
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

/* Memory of the caller's own, pinned: devices may have it registered in ways of theirs. */
static int memory_pin(struct morph_ring *ring, u64 user_ptr)
{
	u32 count = ring->bytes / PAGE_SIZE;
	int pinned, ret;

	ring->pages = kvcalloc(count, sizeof(*ring->pages), GFP_KERNEL_ACCOUNT);
	if (!ring->pages)
		return -ENOMEM;
	ret = account_locked_vm(current->mm, count, true);
	if (ret)
		goto err_pages;
	pinned = pin_user_pages_fast(user_ptr, count, FOLL_WRITE | FOLL_LONGTERM, ring->pages);
	ret = pinned < 0 ? pinned : -EFAULT;
	if (pinned != count)
		goto err_unpin;
	ret = -EOPNOTSUPP;
	if (any_of_a_file(ring->pages, count))
		goto err_unpin;
	ring->memory = vmap(ring->pages, count, VM_MAP, PAGE_KERNEL);
	ret = -ENOMEM;
	if (!ring->memory)
		goto err_unpin;
	ring->pages_count = count;
	ring->mm = current->mm;
	mmgrab(ring->mm);
	return 0;

err_unpin:
	if (pinned > 0)
		unpin_user_pages(ring->pages, pinned);
	account_locked_vm(current->mm, count, false);
err_pages:
	kvfree(ring->pages);
	ring->pages = NULL;
	return ret;
}

static int memory_get(struct morph_ring *ring, const struct morph_ring_setup *setup)
{
	int ret = 0;

	ring->bytes = PAGE_ALIGN(MORPH_RING_BYTES(ring->entries));
	if (setup->head.flags & MORPH_RING_USER) {
		ret = memory_pin(ring, setup->user_ptr);
	} else {
		ring->memory = morph_shared_alloc(ring->bytes);
		if (!ring->memory)
			ret = -ENOMEM;
	}
	if (ret)
		return ret;
	ring->page = ring->memory;
	ring->submissions = ring->memory + MORPH_RING_ENTRIES;
	ring->completions = ring->submissions + ring->entries;
	return 0;
}

/* ----------------------------------------------------------------- lifetime */

static void ring_last_put(struct kref *kref)
{
	struct morph_ring *ring = container_of(kref, struct morph_ring, kref);
	struct morph_slice *slice = ring->slice;

	memory_free(ring);
	morph_user_uncharge(slice->user, MORPH_RES_BYTES, sizeof(*ring) + ring->bytes);
	morph_schedule_put(ring->schedule);
	kfree(ring);
	morph_slice_put(slice);
}

static void ring_put(struct morph_ring *ring)
{
	kref_put(&ring->kref, ring_last_put);
}

/* Counted, or NULL. fabric->lock held. */
static struct morph_ring *ring_find(struct morph_slice *slice, u32 id)
{
	struct morph_ring *ring;

	lockdep_assert_held(&slice->fabric->lock);
	list_for_each_entry(ring, &slice->rings, node)
		if (ring->id == id) {
			kref_get(&ring->kref);
			return ring;
		}
	return NULL;
}

/* ------------------------------------------------------------------ the thread */

static bool is_over(const struct morph_ring *ring)
{
	return READ_ONCE(ring->closed) || READ_ONCE(ring->slice->dying) ||
	       READ_ONCE(ring->slice->fabric->state) != MORPH_FABRIC_READY;
}

static void tell_stopped(struct morph_ring *ring)
{
	struct morph_slice *slice = ring->slice;
	struct morph_event event;

	mutex_lock(&slice->fabric->lock);
	if (!slice->dying) {
		morph_event_init(&event, slice, MORPH_EVENT_RING);
		event.txn = ring->id;
		event.circuit = ring->taken;
		morph_event_queue(slice, &event);
	}
	mutex_unlock(&slice->fabric->lock);
}

/* Whoever has written it does not know what he does, or means ill: nothing more is taken. */
static void ring_stop(struct morph_ring *ring, int error)
{
	ring->error = error;
	WRITE_ONCE(ring->state, MORPH_RING_STOPPED);
	WRITE_ONCE(ring->page->state, MORPH_RING_STOPPED);
	tell_stopped(ring);
}

/* The lap bit of the entry that is so many after the first. */
static u64 lap_of(const struct morph_ring *ring, u32 count)
{
	return count / ring->entries & 1 ? 0 : MORPH_RING_LAP;
}

/* The next submission, if both of its words are there. */
static bool ring_look(const struct morph_ring *ring, struct morph_ring_entry *entry)
{
	const struct morph_ring_entry *at = &ring->submissions[ring->taken % ring->entries];
	u64 lap = lap_of(ring, ring->taken);

	entry->words[0] = READ_ONCE(at->words[0]);
	entry->words[1] = READ_ONCE(at->words[1]);
	return (entry->words[0] & MORPH_RING_LAP) == lap &&
	       (entry->words[1] & MORPH_RING_LAP) == lap;
}

/* Places for completions: negative when the program has counted wrongly. */
static int ring_room(const struct morph_ring *ring)
{
	u32 unseen = ring->answered - READ_ONCE(ring->page->seen);

	return unseen > ring->entries ? -EPROTO : (int)(ring->entries - unseen);
}

static void ring_answer(struct morph_ring *ring, u64 asked, int error)
{
	struct morph_ring_entry *at = &ring->completions[ring->answered % ring->entries];
	u64 lap = lap_of(ring, ring->answered);
	u64 position = READ_ONCE(ring->schedule->position) & (MORPH_RING_POSITIONS - 1);

	/* Who sees the answer sees in the state page what it tells of. */
	dma_wmb();
	WRITE_ONCE(at->words[0], lap | (asked & ~MORPH_RING_LAP & ~0xffffffffULL) | (u32)-error);
	WRITE_ONCE(at->words[1], lap | position);
	ring->answered++;
	ring->taken++;
	WRITE_ONCE(ring->taken_ever, ring->taken_ever + 1);
	WRITE_ONCE(ring->page->answered, ring->answered);
	/* Not before: its place may be written over. */
	smp_store_release(&ring->page->taken, ring->taken);
}

/* What an entry asks for. 0, an errno to be answered, or MEANS_NOTHING. */
static int ring_do(struct morph_ring *ring, const struct morph_ring_entry *entry)
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
		return morph_schedule_advance(ring->schedule, position, &times,
					      &ring->refusal);
	case MORPH_RING_ARRIVE:
		if (which >= ring->slice->ranks_count || !position)
			return MEANS_NOTHING;
		return morph_schedule_arrive(ring->schedule, which, position, &ring->refusal);
	case MORPH_RING_JUMP:
		if (which >= ring->schedule->steps_count)
			return MEANS_NOTHING;
		return morph_schedule_jump(ring->schedule, which, position, &times,
					   &ring->refusal);
	}
	return MEANS_NOTHING;
}

/* Take an entry, if there is one, and time and room for it. */
static bool ring_take(struct morph_ring *ring)
{
	struct morph_ring_entry entry;
	u64 now;
	int room, error;

	if (!ring_look(ring, &entry))
		return false;
	room = ring_room(ring);
	if (room < 0)
		ring_stop(ring, room);
	if (room <= 0)
		return false;
	now = ktime_get_ns();
	if (ring->next_ns > now + BURST_NS)
		return false;
	ring->next_ns = max(ring->next_ns, now) + ring->entry_ns;
	error = ring_do(ring, &entry);
	if (error == MEANS_NOTHING) {
		ring_stop(ring, -EPROTO);
		return false;
	}
	ring_answer(ring, entry.words[0], error);
	return true;
}

/*
 * Nothing was taken for a while: sleep until somebody says that something has come. False: it
 * had, but can't be taken yet.
 */
static bool ring_sleep(struct morph_ring *ring)
{
	struct morph_ring_entry entry;
	bool slept = false;

	WRITE_ONCE(ring->woken, false);
	WRITE_ONCE(ring->page->asleep, 1);
	/* Who has written an entry before it could see this is seen here. */
	dma_mb();
	if (ring->state != MORPH_RING_RUNNING || !ring_look(ring, &entry)) {
		slept = true;
		ring->sleeps++;
		wait_event_freezable(ring->wake, READ_ONCE(ring->woken) || is_over(ring));
	} else {
		/* The rate, or the room for completions, is used up. */
		usleep_range(50, 200);
	}
	WRITE_ONCE(ring->page->asleep, 0);
	return slept;
}

static int ring_thread(void *data)
{
	struct morph_ring *ring = data;
	u64 last_ns = ktime_get_ns();
	u32 looks = 0;

	set_freezable();
	while (!is_over(ring)) {
		try_to_freeze();
		/* Busy or not: neither others nor RCU wait for a ring that is never empty. */
		if (!(++looks % LOOKS))
			cond_resched_tasks_rcu_qs();
		if (ring->state == MORPH_RING_RUNNING && ring_take(ring)) {
			last_ns = ktime_get_ns();
		} else if (ring->state != MORPH_RING_RUNNING ||
			   ktime_get_ns() - last_ns > ring->idle_ns) {
			if (ring_sleep(ring))
				last_ns = ktime_get_ns();
		} else {
			cpu_relax();
		}
	}
	WRITE_ONCE(ring->state, MORPH_RING_GONE);
	WRITE_ONCE(ring->page->state, MORPH_RING_GONE);
	ring_put(ring);
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
				    "idle_ns is %u, but at most a second", setup->idle_ns);
	if (setup->rate > RATE)
		return morph_refuse(refusal, -EINVAL, MORPH_REASON_ARGUMENT, 0, 0,
				    "rate is %u, but at most %u", setup->rate, RATE);
	if (user == !setup->user_ptr || !PAGE_ALIGNED(setup->user_ptr))
		return morph_refuse(refusal, -EINVAL, MORPH_REASON_ARGUMENT, 0, 0,
				    "user_ptr goes with MORPH_RING_USER, and is the beginning of a page");
	return 0;
}

/* Enter it into its slice. fabric->lock held. */
static int ring_enter(struct morph_ring *ring, struct morph_file *file, u32 schedule,
		      struct morph_refusal *refusal)
{
	struct morph_slice *slice = ring->slice;
	struct morph_ring *other;
	u32 count = 0;

	if (slice->dying)
		return -ENODEV;
	list_for_each_entry(other, &slice->rings, node)
		count++;
	if (count >= MOST_RINGS)
		return morph_refuse(refusal, -EDQUOT, MORPH_REASON_QUOTA, 0, 0,
				    "the slice has %u rings, at most %u are allowed", count,
				    MOST_RINGS);
	ring->schedule = morph_schedule_find(slice, schedule);
	if (!ring->schedule)
		return morph_refuse(refusal, -ENOENT, MORPH_REASON_ARGUMENT, 0, schedule,
				    "the slice has no schedule %u", schedule);
	ring->id = ++slice->last_ring;
	ring->file = file;
	kref_get(&slice->kref);
	/* Its number can be guessed: it may be closed before it runs. */
	kref_get(&ring->kref);		/* the list's */
	list_add_tail(&ring->node, &slice->rings);
	return 0;
}

static struct morph_ring *ring_alloc(struct morph_slice *slice,
				     const struct morph_ring_setup *setup)
{
	struct morph_ring *ring = kzalloc(sizeof(*ring), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!ring)
		return ERR_PTR(-ENOMEM);
	kref_init(&ring->kref);
	INIT_LIST_HEAD(&ring->node);
	init_waitqueue_head(&ring->wake);
	ring->slice = slice;
	ring->entries = setup->entries;
	ring->idle_ns = setup->idle_ns ? setup->idle_ns : IDLE_NS;
	ring->entry_ns = NSEC_PER_SEC / (setup->rate ? setup->rate : RATE);
	ret = memory_get(ring, setup);
	if (ret) {
		kfree(ring);
		return ERR_PTR(ret);
	}
	return ring;
}

/* The first reference becomes the thread's. */
static int ring_run(struct morph_ring *ring)
{
	struct task_struct *thread;
	int ret;

	thread = kthread_create(ring_thread, ring, "morph-ring/%u.%u", ring->slice->number,
				ring->id);
	if (IS_ERR(thread))
		return PTR_ERR(thread);
	/* Its time is that of whoever wants it, and it comes before others no more than he does. */
	ret = cgroup_attach_task_all(current, thread);
	if (ret) {
		kthread_stop(thread);	/* which was never woken, so that nothing of ours has run */
		return ret;
	}
	set_user_nice(thread, task_nice(current));
	/* What is the caller's own is as it was until nothing can fail any more. */
	memset(ring->memory, 0, MORPH_RING_BYTES(ring->entries));
	__module_get(THIS_MODULE);
	wake_up_process(thread);
	return 0;
}

/* Unless somebody has closed it. */
static void ring_leave(struct morph_ring *ring)
{
	bool leaves;

	mutex_lock(&ring->slice->fabric->lock);
	leaves = !list_empty(&ring->node);
	list_del_init(&ring->node);
	mutex_unlock(&ring->slice->fabric->lock);
	if (leaves)
		ring_put(ring);		/* the list's */
}

/*
 * A thread that joins its user's cgroups keeps all of the machine from making threads meanwhile:
 * whoever makes rings again and again waits.
 */
static int ring_await_turn(struct morph_user *user)
{
	const s64 burst = SETUP_BURST * SETUP_NS;

	for (;;) {
		s64 last = atomic64_read(&user->ring_turn_ns), now = ktime_get_ns();
		s64 turn = max(last, now - burst);
		ktime_t until = ns_to_ktime(turn);

		/* Nobody is charged for a turn that he has not waited for. */
		if (turn <= now) {
			if (atomic64_try_cmpxchg(&user->ring_turn_ns, &last, turn + SETUP_NS))
				return 0;
			continue;
		}
		set_current_state(TASK_INTERRUPTIBLE);
		schedule_hrtimeout(&until, HRTIMER_MODE_ABS);
		if (signal_pending(current))
			return -EINTR;
	}
}

int morph_ring_setup(struct morph_file *file, const struct morph_ring_setup *setup, u32 *number,
		     struct morph_refusal *refusal)
{
	struct morph_slice *slice = file->slice;
	size_t bytes = sizeof(struct morph_ring);
	struct morph_ring *ring;
	int ret;

	ret = check_setup(setup, refusal);
	if (!ret)
		ret = ring_await_turn(slice->user);
	if (ret)
		return ret;
	bytes += PAGE_ALIGN(MORPH_RING_BYTES(setup->entries));
	ret = morph_user_charge(slice->user, MORPH_RES_BYTES, bytes, refusal);
	if (ret)
		return ret;
	ring = ring_alloc(slice, setup);
	if (IS_ERR(ring)) {
		morph_user_uncharge(slice->user, MORPH_RES_BYTES, bytes);
		return PTR_ERR(ring);
	}
	mutex_lock(&slice->fabric->lock);
	ret = ring_enter(ring, file, setup->schedule, refusal);
	mutex_unlock(&slice->fabric->lock);
	if (ret) {
		memory_free(ring);
		kfree(ring);
		morph_user_uncharge(slice->user, MORPH_RES_BYTES, bytes);
		return ret;
	}
	*number = ring->id;
	ret = ring_run(ring);
	if (ret) {
		ring_leave(ring);
		ring_put(ring);		/* that the thread would have had */
	}
	return ret;
}

/* ------------------------------------------------------------------ what is asked */

static void ring_close(struct morph_ring *ring)
{
	WRITE_ONCE(ring->closed, true);
	wake_up_all(&ring->wake);
}

int morph_ring_act(struct morph_file *file, struct morph_ring_act *act,
		   struct morph_refusal *refusal)
{
	struct morph_slice *slice = file->slice;
	struct morph_ring *ring;
	bool leaves = false;

	if (act->verb < MORPH_RING_WAKE || act->verb > MORPH_RING_QUERY)
		return morph_refuse(refusal, -EOPNOTSUPP, MORPH_REASON_ARGUMENT, 0, 0,
				    "verb must be 1 (wake), 2 (close) or 3 (query), not %u",
				    act->verb);
	mutex_lock(&slice->fabric->lock);
	ring = ring_find(slice, act->ring);
	if (ring && act->verb == MORPH_RING_CLOSE) {
		list_del_init(&ring->node);
		leaves = true;
	}
	mutex_unlock(&slice->fabric->lock);
	if (!ring)
		return morph_refuse(refusal, -ENOENT, MORPH_REASON_ARGUMENT, 0, act->ring,
				    "the slice has no ring %u", act->ring);
	if (act->verb == MORPH_RING_WAKE) {
		WRITE_ONCE(ring->woken, true);
		wake_up_all(&ring->wake);
	}
	if (act->verb == MORPH_RING_CLOSE)
		ring_close(ring);
	if (leaves)
		ring_put(ring);		/* the list's */
	act->out_state = READ_ONCE(ring->state);
	act->out_error = ring->error;
	act->out_taken = READ_ONCE(ring->taken_ever);
	act->out_sleeps = READ_ONCE(ring->sleeps);
	ring_put(ring);
	return 0;
}

int morph_ring_mmap(struct morph_file *file, u32 number, struct vm_area_struct *vma)
{
	struct morph_slice *slice = file->slice;
	struct morph_ring *ring;
	int ret = -EINVAL;

	mutex_lock(&slice->fabric->lock);
	list_for_each_entry(ring, &slice->rings, node) {
		if (ring->id != number)
			continue;
		/*
		 * Pages are inserted, and counted each: they outlive the ring where they are
		 * mapped. The ring is not: who gave up the last reference would give back locked
		 * memory, under the very lock that is held by who maps.
		 */
		if (!ring->pages && vma->vm_end - vma->vm_start <= ring->bytes)
			ret = morph_shared_map(vma, ring->memory);
		break;
	}
	mutex_unlock(&slice->fabric->lock);
	return ret;
}

void morph_ring_close_file(struct morph_file *file)
{
	struct morph_slice *slice = file->slice;
	struct morph_ring *ring, *next;
	LIST_HEAD(closed);

	mutex_lock(&slice->fabric->lock);
	list_for_each_entry_safe(ring, next, &slice->rings, node)
		if (ring->file == file)
			list_move(&ring->node, &closed);
	mutex_unlock(&slice->fabric->lock);
	list_for_each_entry_safe(ring, next, &closed, node) {
		list_del_init(&ring->node);
		ring_close(ring);
		ring_put(ring);		/* the list's */
	}
}

void morph_ring_wake_slice(struct morph_slice *slice)
{
	struct morph_ring *ring;

	lockdep_assert_held(&slice->fabric->lock);
	list_for_each_entry(ring, &slice->rings, node)
		wake_up_all(&ring->wake);
}

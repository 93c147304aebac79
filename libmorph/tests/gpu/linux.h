/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stand-ins for the kernel and the core. They let functions of kmod/core/interface/queue.c and
 * state_page.c run in user space. The Makefile takes these functions out of the two files.
 */
#ifndef MORPH_TEST_GPU_LINUX_H
#define MORPH_TEST_GPU_LINUX_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <linux/morph.h>

typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t s64;

#define NSEC_PER_MSEC 1000000ULL
#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, value)                               \
	do {                                               \
		*(volatile __typeof__(x) *)&(x) = (value); \
		linux_interrupt();                         \
	} while (0)
#define smp_store_release(at, value) __atomic_store_n(at, value, __ATOMIC_RELEASE)
#define dma_wmb() __atomic_thread_fence(__ATOMIC_RELEASE)
#define dma_mb() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define max(a, b) ((a) > (b) ? (a) : (b))
#define cpu_relax() __asm__ volatile("" ::: "memory")
#define usleep_range(least, most) linux_sleep_ns((least)*1000)
#define wait_event_freezable(head, condition) \
	do {                                  \
		while (!(condition))          \
			linux_wait(&(head));  \
	} while (0)
#define set_freezable() ((void)0)
#define try_to_freeze() ((void)0)
#define cond_resched_tasks_rcu_qs() ((void)0)
#define lockdep_assert_held(lock) ((void)0)
#define report_stopped(queue) ((void)0)
#define queue_put(queue) ((void)0)
#define module_put_and_kthread_exit(code) ((void)0)
#define slice_interface(slice) (slice)

struct morph_refusal {
	int error;
};

struct morph_fabric {
	u32 state;
};

struct morph_slice {
	struct morph_fabric *fabric;
	struct morph_state_page *state_page;
	u64 generation;
	u32 ranks_count;
	bool dying;
};

struct morph_schedule {
	struct morph_slice *slice;
	u64 position;
	u32 id, state, step, steps_count;
};

struct linux_waiters {
	u64 sleep; /* the value of queue->sleeps in this sleep */
	u64 since_ns; /* when an entry was first seen in this sleep */
};

struct morph_queue {
	struct morph_slice *slice;
	struct morph_schedule *schedule;
	struct morph_ring_page *page;
	struct morph_ring_entry *submissions, *completions;
	u32 entries, idle_ns, entry_ns;
	u32 taken, answered;
	u64 taken_ever, next_ns, sleeps;
	struct morph_refusal refusal;
	u32 state;
	int error;
	struct linux_waiters wake;
	bool woken, closed;
};

u64 ktime_get_ns(void);
void linux_sleep_ns(u64 ns);
void linux_wait(struct linux_waiters *waiters);
void linux_interrupt(void);

/* driver.c has the operations of the schedule. */
int morph_schedule_advance(struct morph_schedule *schedule, u64 position, struct morph_times *times,
			   struct morph_refusal *refusal);
int morph_schedule_arrive(struct morph_schedule *schedule, u32 rank, u64 position,
			  struct morph_refusal *refusal);
int morph_schedule_jump(struct morph_schedule *schedule, u32 step, u64 position,
			struct morph_times *times, struct morph_refusal *refusal);

/* Functions of the driver that driver.c calls. */
bool is_over(const struct morph_queue *queue);
bool queue_look(const struct morph_queue *queue, struct morph_ring_entry *entry);
int queue_thread(void *data);
void state_begin(struct morph_slice *slice);
void state_end(struct morph_slice *slice);
void morph_state_schedule(const struct morph_schedule *schedule);

#endif

// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stddef.h>
#include <string.h>
#include <time.h>
#include "driver.h"

#define ENTRY_NS 1000 /* the maximum rate of the driver */
#define LOST_NS 200000000 /* an entry waits so long for a wake: the wake is lost */
#define REST_NS 1000 /* pause between two changes of the state page: at most 2^9 times this */

static __thread struct driver *running;
static __thread u64 chance;

static u64 draw(u64 below)
{
	chance = job_mix(chance);
	return (chance >> 20) % below;
}

u64 ktime_get_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * 1000000000 + (u64)now.tv_nsec;
}

void linux_sleep_ns(u64 ns)
{
	nanosleep(&(struct timespec){ .tv_nsec = (long)ns }, NULL);
}

static void spin_ns(u64 ns)
{
	u64 end = ktime_get_ns() + ns;

	while (ktime_get_ns() < end)
		cpu_relax();
}

void linux_interrupt(void)
{
	if (running && running->interrupted && !draw(64))
		spin_ns(draw(4000));
}

/* Count a lost wake, and end the wait as MORPH_RING_WAKE would, so that each counts once. */
void linux_wait(struct linux_waiters *waiters)
{
	struct morph_queue *queue = &running->queue;
	struct morph_ring_entry entry;

	linux_sleep_ns(1000);
	if (waiters->sleep != queue->sleeps || !queue_look(queue, &entry)) {
		waiters->sleep = queue->sleeps;
		waiters->since_ns = ktime_get_ns();
	} else if (ktime_get_ns() - waiters->since_ns > LOST_NS) {
		running->mistakes[JOB_NO_WAKE]++;
		queue->woken = true;
	}
}

/* --------------------------------------------------------------- the schedule */

static void check_request(struct driver *driver, u32 op, u32 which, u64 position)
{
	u32 producer = position >> 32, lane;

	if (producer >= driver->producers || (u32)position != driver->served[producer] + 1) {
		driver->mistakes[JOB_ORDER]++;
		return;
	}
	driver->served[producer]++;
	if (op != job_op(position) || which != job_which(position))
		driver->mistakes[JOB_CONTENT]++;
	for (lane = 0; lane < JOB_LANES; lane++) {
		if (driver->payload[job_slot(position, lane)] != job_mix(position + lane)) {
			driver->mistakes[JOB_PAYLOAD_OLD]++;
			return;
		}
	}
}

/* Change all pairs, then the step, each in a write of its own as the driver does. */
static void change_state(struct driver *driver)
{
	struct morph_slice *slice = &driver->slice;
	struct morph_state_pair *pairs = (void *)(slice->state_page + 1);
	u32 i;

	slice->generation++;
	state_begin(slice);
	for (i = 0; i < JOB_PAIRS; i++) {
		WRITE_ONCE(pairs[i].generation, (u32)slice->generation);
		pairs[i].hops = (u32)job_mix(slice->generation);
		pairs[i].mbps = job_mix(slice->generation + i);
	}
	state_end(slice);
	driver->schedule.position++;
	driver->schedule.step = (u32)job_mix(driver->schedule.position);
	morph_state_schedule(&driver->schedule);
}

static int serve(u32 op, u32 which, u64 position)
{
	check_request(running, op, which, position);
	change_state(running);
	return -(int)job_error(position);
}

int morph_schedule_advance(struct morph_schedule *schedule, u64 position, struct morph_times *times,
			   struct morph_refusal *refusal)
{
	(void)schedule, (void)times, (void)refusal;
	return serve(MORPH_RING_GO, 0, position);
}

int morph_schedule_arrive(struct morph_schedule *schedule, u32 rank, u64 position,
			  struct morph_refusal *refusal)
{
	(void)schedule, (void)refusal;
	return serve(MORPH_RING_ARRIVE, rank, position);
}

int morph_schedule_jump(struct morph_schedule *schedule, u32 step, u64 position,
			struct morph_times *times, struct morph_refusal *refusal)
{
	(void)schedule, (void)times, (void)refusal;
	return serve(MORPH_RING_JUMP, step, position);
}

/* ----------------------------------------------------------------- the thread */

void driver_init(struct driver *driver, void *memory, u32 entries, u32 idle_ns,
		 struct morph_state_page *state)
{
	memset(driver, 0, sizeof(*driver));
	driver->fabric.state = MORPH_FABRIC_READY;
	driver->slice.fabric = &driver->fabric;
	driver->slice.state_page = state;
	driver->slice.ranks_count = UINT32_MAX;
	driver->schedule.slice = &driver->slice;
	driver->schedule.id = 1;
	driver->schedule.state = MORPH_SCHEDULE_RUNNING;
	driver->schedule.steps_count = UINT32_MAX;
	driver->queue.slice = &driver->slice;
	driver->queue.schedule = &driver->schedule;
	driver->queue.page = memory;
	driver->queue.submissions = (void *)((char *)memory + MORPH_RING_ENTRIES);
	driver->queue.completions = driver->queue.submissions + entries;
	driver->queue.entries = entries;
	driver->queue.idle_ns = idle_ns;
	driver->queue.entry_ns = ENTRY_NS;
	change_state(driver);
	driver->schedule.position = 0;
	driver->schedule.step = (u32)job_mix(0);
	morph_state_schedule(&driver->schedule);
}

static void *run_queue(void *data)
{
	running = data;
	queue_thread(&running->queue);
	return NULL;
}

static void *rewrite_state(void *data)
{
	running = data;
	while (!is_over(&running->queue)) {
		change_state(running);
		spin_ns(draw(REST_NS << draw(10)));
	}
	return NULL;
}

int driver_run(struct driver *driver)
{
	return pthread_create(&driver->thread, NULL, run_queue, driver);
}

int driver_rewrite(struct driver *driver)
{
	return pthread_create(&driver->thread, NULL, rewrite_state, driver);
}

void driver_wake(struct driver *driver)
{
	WRITE_ONCE(driver->queue.woken, true);
}

void driver_close(struct driver *driver)
{
	WRITE_ONCE(driver->queue.closed, true);
	pthread_join(driver->thread, NULL);
}

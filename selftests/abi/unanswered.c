// SPDX-License-Identifier: GPL-2.0-only
/* Calls whose answer cannot be written: they change nothing. Pages that outlive their queue. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "fabric.h"
#include "kselftest_harness.h"

#define RANKS 4u
#define PAGE 4096u
#define ENTRIES 8u
#define MOST_QUEUES 16u
#define INSTANT "settle_ns=0 relock_ns=0 write_ns=0"

/* A schedule of one step that lights a circuit between the first two ranks. */
static struct morph_schedule_circuit circuit = { .src_rank = 0, .dst_rank = 1 };
static struct morph_schedule_step step = { .count = 1, .advance = MORPH_ADVANCE_CALL };
static uint32_t held;

#define LOAD                                                                                     \
	{                                                                                        \
		.head = HEAD(morph_schedule_load), .circuits = ARRAY(&circuit, 1),               \
		.steps = ARRAY(&step, 1), .held = ARRAY(&held, 1), .generation = GENERATION_ANY, \
	}

static int load(int slice)
{
	struct morph_schedule_load args = LOAD;

	return ioctl(slice, MORPH_SCHEDULE_LOAD, &args) ? -1 : (int)args.out_schedule;
}

static int setup(int slice, struct morph_ring_setup *args, unsigned int schedule,
		 unsigned int entries)
{
	*args = (struct morph_ring_setup){
		.head = HEAD(morph_ring_setup),
		.schedule = schedule,
		.entries = entries,
	};
	return ioctl(slice, MORPH_RING_SETUP, args);
}

static int close_queue(int slice, unsigned int number)
{
	struct morph_ring_act args = {
		.head = HEAD(morph_ring_act),
		.ring = number,
		.verb = MORPH_RING_CLOSE,
	};

	return ioctl(slice, MORPH_RING_ACT, &args);
}

/* The number of queues that the slice may still have. They stay. */
static unsigned int fill_queues(int slice, unsigned int schedule)
{
	struct morph_ring_setup args;
	unsigned int count = 0;

	while (count <= MOST_QUEUES && !setup(slice, &args, schedule, ENTRIES))
		count++;
	return count;
}

/* Whether the slice has a schedule with a higher number. */
static bool has_later_schedule(int slice, unsigned int schedule)
{
	struct morph_schedule_info args = {
		.head = HEAD(morph_schedule_info),
		.schedule = schedule + 1,
	};

	return !ioctl(slice, MORPH_SCHEDULE_INFO, &args);
}

static unsigned int circuits_of(int slice)
{
	struct morph_slice_info info = { .head = HEAD(morph_slice_info) };

	return ioctl(slice, MORPH_SLICE_INFO, &info) ? ~0u : info.circuits.count;
}

FIXTURE(unanswered)
{
	struct sim sim;
	int slice;
	unsigned int schedule;
	void *page;
};

FIXTURE_SETUP(unanswered)
{
	int schedule;

	sim_start(&self->sim, "server8", INSTANT);
	self->slice = slice_create(self->sim.fd, RANKS);
	ASSERT_LE(0, self->slice);
	schedule = load(self->slice);
	ASSERT_LT(0, schedule)
	TH_LOG("%s", last_detail);
	self->schedule = (unsigned int)schedule;
	self->page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->page);
}

FIXTURE_TEARDOWN(unanswered)
{
	munmap(self->page, PAGE);
	close(self->slice);
	EXPECT_TRUE(sim_wait_free(&self->sim, self->sim.info.free));
	sim_stop(&self->sim);
}

/* Write the structure to a page that is read-only afterwards, and call with it. */
static int call_read_only(int slice, void *page, unsigned long number, const void *args,
			  size_t bytes)
{
	if (mprotect(page, PAGE, PROT_READ | PROT_WRITE))
		abort();
	memcpy(page, args, bytes);
	if (mprotect(page, PAGE, PROT_READ))
		abort();
	return ioctl(slice, number, page);
}

TEST_F(unanswered, transaction_changes_no_light)
{
	struct morph_change change = change_add(2, 3);
	struct morph_txn_run args = {
		.head = HEAD(morph_txn_run),
		.changes = ARRAY(&change, 1),
		.generation = GENERATION_ANY,
	};
	unsigned int before = circuits_of(self->slice);

	EXPECT_EQ(-1, call_read_only(self->slice, self->page, MORPH_TXN_RUN, &args, sizeof(args)));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(before, circuits_of(self->slice));
}

/* Here only the results of the change cannot be written. */
TEST_F(unanswered, change_changes_no_light)
{
	struct morph_change *change = self->page;
	struct morph_txn_run args = {
		.head = HEAD(morph_txn_run),
		.changes = ARRAY(change, 1),
		.generation = GENERATION_ANY,
	};
	unsigned int before = circuits_of(self->slice);

	*change = change_add(2, 3);
	ASSERT_EQ(0, mprotect(self->page, PAGE, PROT_READ));
	EXPECT_EQ(-1, ioctl(self->slice, MORPH_TXN_RUN, &args));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(before, circuits_of(self->slice));
}

TEST_F(unanswered, schedule_is_not_loaded)
{
	const struct morph_schedule_load args = LOAD;

	EXPECT_EQ(-1, call_read_only(self->slice, self->page, MORPH_SCHEDULE_LOAD, &args,
				     sizeof(args)));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_FALSE(has_later_schedule(self->slice, self->schedule));
}

TEST_F(unanswered, queue_does_not_run)
{
	const struct morph_ring_setup args = {
		.head = HEAD(morph_ring_setup),
		.schedule = self->schedule,
		.entries = ENTRIES,
	};

	EXPECT_EQ(-1,
		  call_read_only(self->slice, self->page, MORPH_RING_SETUP, &args, sizeof(args)));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(MOST_QUEUES, fill_queues(self->slice, self->schedule));
}

/* A thread that makes the page of an answer read-only and writable in turn. */
struct flicker {
	pthread_t thread;
	void *page;
	atomic_bool stop;
};

static void *flicker_run(void *data)
{
	struct flicker *flicker = data;

	while (!flicker->stop) {
		mprotect(flicker->page, PAGE, PROT_READ);
		mprotect(flicker->page, PAGE, PROT_READ | PROT_WRITE);
	}
	return NULL;
}

/* The memory becomes read-only at any moment of the call: the kernel undoes what it has created. */
TEST_F(unanswered, nothing_stays_that_was_created)
{
	const struct morph_schedule_load schedule = LOAD;
	const struct morph_ring_setup queue = {
		.head = HEAD(morph_ring_setup),
		.schedule = self->schedule,
		.entries = ENTRIES,
	};
	struct morph_schedule_load *load_at = self->page;
	struct morph_ring_setup *setup_at = (void *)(load_at + 1);
	struct flicker flicker = { .page = self->page };
	unsigned int i;

	*load_at = schedule;
	*setup_at = queue;
	ASSERT_EQ(0, pthread_create(&flicker.thread, NULL, flicker_run, &flicker));
	for (i = 0; i < 300; i++)
		if (!ioctl(self->slice, MORPH_SCHEDULE_LOAD, load_at))
			EXPECT_EQ(0, schedule_act(self->slice, load_at->out_schedule,
						  MORPH_SCHEDULE_UNLOAD, NULL));
	for (i = 0; i < 60; i++)
		if (!ioctl(self->slice, MORPH_RING_SETUP, setup_at))
			EXPECT_EQ(0, close_queue(self->slice, setup_at->out_ring));
	flicker.stop = true;
	pthread_join(flicker.thread, NULL);
	EXPECT_FALSE(has_later_schedule(self->slice, self->schedule));
	EXPECT_EQ(MOST_QUEUES, fill_queues(self->slice, self->schedule));
}

/* Pages that a program has mapped stay charged after their queue is closed. */
TEST_F(unanswered, pages_of_a_closed_queue_stay_charged)
{
	struct morph_grant_create limits = GRANT_ALL;
	const size_t bytes = MORPH_RING_BYTES(MORPH_RING_MOST);
	struct morph_ring_setup args;
	int grant, slice, schedule;
	unsigned int i, n;
	void *pages[64];

	limits.bytes = 2u << 20;
	grant = grant_create(self->sim.fd, &limits);
	ASSERT_LE(0, grant);
	slice = slice_create(grant, RANKS);
	ASSERT_LE(0, slice);
	schedule = load(slice);
	ASSERT_LT(0, schedule);
	for (n = 0; n < 64; n++) {
		if (setup(slice, &args, (unsigned int)schedule, MORPH_RING_MOST))
			break;
		pages[n] = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, slice,
				(off_t)MORPH_RING_OFFSET(args.out_ring));
		ASSERT_NE(MAP_FAILED, pages[n]);
		ASSERT_EQ(0, close_queue(slice, args.out_ring));
	}
	ASSERT_LT(0, n);
	EXPECT_GT(64, n);
	EXPECT_EQ(EDQUOT, errno);
	for (i = 0; i < n; i++)
		munmap(pages[i], bytes);
	EXPECT_TRUE(WAIT_UNTIL(!setup(slice, &args, (unsigned int)schedule, MORPH_RING_MOST)));
	close(slice);
	close(grant);
}

TEST_HARNESS_MAIN

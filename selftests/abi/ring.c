// SPDX-License-Identifier: GPL-2.0-only
/* Queues: steps requested through shared memory, also with invalid contents. */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "../../libmorph/include/morph/device.h"
#include "fabric.h"
#include "kselftest_harness.h"

#define RANKS 4u
#define STEPS 3u
#define ENTRIES 8u
#define TENANT 1000 /* the id of a user other than root */
#define INSTANT "settle_ns=0 relock_ns=0 write_ns=0"

/* The header for devices includes nothing, and must agree with the kernel's header. */
_Static_assert(MORPH_DEVICE_LAP == MORPH_RING_LAP, "lap");
_Static_assert(MORPH_DEVICE_POSITION == MORPH_RING_POSITIONS - 1, "position");
_Static_assert(MORPH_DEVICE_ENTRIES == MORPH_RING_ENTRIES, "entries");
_Static_assert(MORPH_DEVICE_GO == MORPH_RING_GO, "go");
_Static_assert(MORPH_DEVICE_ARRIVE == MORPH_RING_ARRIVE, "arrive");
_Static_assert(MORPH_DEVICE_JUMP == MORPH_RING_JUMP, "jump");
_Static_assert(MORPH_DEVICE_ASLEEP * 4 == offsetof(struct morph_ring_page, asleep), "asleep");
_Static_assert(MORPH_DEVICE_TAKEN * 4 == offsetof(struct morph_ring_page, taken), "taken");
_Static_assert(MORPH_DEVICE_SEEN * 4 == offsetof(struct morph_ring_page, seen), "seen");

/* All resources of a test. */
FIXTURE(ring)
{
	struct sim sim;
	int slice;
	unsigned int schedule, number;
	struct morph_device_ring ring;
	size_t bytes;
};

/* Exchanges between four ranks: a loop of three steps. */
static int load(int slice, unsigned int advance)
{
	struct morph_schedule_circuit circuits[RANKS * STEPS] = {};
	struct morph_schedule_step steps[STEPS] = {};
	uint32_t held[RANKS * STEPS];
	struct morph_schedule_load args = {
		.head = HEAD(morph_schedule_load),
		.circuits = ARRAY(circuits, RANKS * STEPS),
		.steps = ARRAY(steps, STEPS),
		.held = ARRAY(held, RANKS * STEPS),
		.generation = GENERATION_ANY,
	};
	unsigned int i;

	for (i = 0; i < RANKS * STEPS; i++) {
		held[i] = i;
		circuits[i].src_rank = i % RANKS;
		circuits[i].dst_rank = (i % RANKS) ^ (i / RANKS + 1);
		steps[i / RANKS] = (struct morph_schedule_step){ .first = i / RANKS * RANKS,
								 .count = RANKS,
								 .advance = advance };
	}
	args.head.flags = MORPH_SCHEDULE_LOOP;
	return ioctl(slice, MORPH_SCHEDULE_LOAD, &args) ? -1 : (int)args.out_schedule;
}

static int setup(int slice, struct morph_ring_setup *args)
{
	args->head = (struct morph_head)HEAD(morph_ring_setup);
	if (args->user_ptr)
		args->head.flags = MORPH_RING_USER;
	if (!args->entries)
		args->entries = ENTRIES;
	return ioctl(slice, MORPH_RING_SETUP, args);
}

static int ring_act(int slice, unsigned int number, unsigned int verb,
		    struct morph_ring_act *result)
{
	struct morph_ring_act args = {
		.head = HEAD(morph_ring_act),
		.ring = number,
		.verb = verb,
	};
	int ret = ioctl(slice, MORPH_RING_ACT, &args);

	if (result)
		*result = args;
	return ret;
}

static unsigned int ring_state(int slice, unsigned int number)
{
	struct morph_ring_act result;

	return ring_act(slice, number, MORPH_RING_QUERY, &result) ? ~0u : result.out_state;
}

static uint64_t ring_sleeps(int slice, unsigned int number)
{
	struct morph_ring_act result;

	return ring_act(slice, number, MORPH_RING_QUERY, &result) ? 0 : result.out_sleeps;
}

/* Read the answer to the latest entry. The thread may need a wake-up. */
static bool answered(int slice, unsigned int number, struct morph_device_ring *ring,
		     struct morph_device_answer *answer)
{
	return WAIT_UNTIL(({
		if (morph_device_asleep(ring))
			ring_act(slice, number, MORPH_RING_WAKE, NULL);
		morph_device_answered(ring, answer);
	}));
}

FIXTURE_SETUP(ring)
{
	struct morph_ring_setup args = {};
	int schedule;

	sim_start(&self->sim, "server8", INSTANT);
	self->slice = slice_create(self->sim.fd, RANKS);
	ASSERT_LE(0, self->slice);
	schedule = load(self->slice, MORPH_ADVANCE_CALL);
	ASSERT_LT(0, schedule)
	TH_LOG("%s", last_detail);
	self->schedule = (unsigned int)schedule;
	args.schedule = self->schedule;
	ASSERT_EQ(0, setup(self->slice, &args))
	TH_LOG("%s", last_detail);
	self->number = args.out_ring;
	self->bytes = MORPH_RING_BYTES(ENTRIES);
	self->ring.entries = ENTRIES;
	self->ring.base = mmap(NULL, self->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, self->slice,
			       (off_t)MORPH_RING_OFFSET(self->number));
	ASSERT_NE(MAP_FAILED, self->ring.base);
	ASSERT_EQ(0, schedule_act(self->slice, self->schedule, MORPH_SCHEDULE_START, NULL));
}

FIXTURE_TEARDOWN(ring)
{
	munmap(self->ring.base, self->bytes);
	close(self->slice);
	EXPECT_TRUE(WAIT_UNTIL(sim_all_dark(&self->sim)));
	EXPECT_TRUE(sim_wait_free(&self->sim, self->sim.info.free));
	sim_stop(&self->sim);
}

TEST_F(ring, steps_are_lit_and_answered_lap_after_lap)
{
	struct morph_device_answer answer;
	unsigned int i;

	for (i = 2; i < 5 * ENTRIES; i++) {
		ASSERT_EQ(0, morph_device_submit(&self->ring, MORPH_DEVICE_GO, i, 0, i));
		ASSERT_TRUE(answered(self->slice, self->number, &self->ring, &answer));
		EXPECT_EQ(i, answer.tag);
		EXPECT_EQ(0, answer.error);
		EXPECT_EQ(i, answer.position);
	}
}

TEST_F(ring, entries_that_a_call_refuses_get_its_error)
{
	struct morph_device_answer answer;

	ASSERT_EQ(0, morph_device_submit(&self->ring, MORPH_DEVICE_GO, 7, 0, 100));
	ASSERT_TRUE(answered(self->slice, self->number, &self->ring, &answer));
	EXPECT_EQ(EINVAL, answer.error);
	EXPECT_EQ(1, answer.position);
	EXPECT_EQ(MORPH_RING_RUNNING, ring_state(self->slice, self->number));
}

TEST_F(ring, any_step_may_follow_any_other)
{
	static const unsigned int steps[] = { 2, 1, 1, 0, 2, 0 };
	struct morph_device_answer answer;
	struct morph_schedule_act args = {};
	unsigned int i;

	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		ASSERT_EQ(0,
			  morph_device_submit(&self->ring, MORPH_DEVICE_JUMP, 0, steps[i], i + 2));
		ASSERT_TRUE(answered(self->slice, self->number, &self->ring, &answer));
		EXPECT_EQ(0, answer.error);
		EXPECT_EQ(i + 2, answer.position);
		args.position = i + 2;
		ASSERT_EQ(0, schedule_act(self->slice, self->schedule, MORPH_SCHEDULE_WAIT, &args));
		EXPECT_EQ(steps[i], args.out_step);
	}
	/* The driver ignores the repetition of an entry. */
	ASSERT_EQ(0, morph_device_submit(&self->ring, MORPH_DEVICE_JUMP, 0, 1, i + 1));
	ASSERT_TRUE(answered(self->slice, self->number, &self->ring, &answer));
	EXPECT_EQ(0, answer.error);
	EXPECT_EQ(i + 1, answer.position);
}

TEST_F(ring, step_that_there_is_not_stops_it)
{
	ASSERT_EQ(0, morph_device_submit(&self->ring, MORPH_DEVICE_JUMP, 0, STEPS, 2));
	EXPECT_TRUE(WAIT_UNTIL((ring_act(self->slice, self->number, MORPH_RING_WAKE, NULL),
				ring_state(self->slice, self->number) == MORPH_RING_STOPPED)));
}

TEST_F(ring, half_an_entry_is_none)
{
	volatile morph_word *entry = lm_device_entry(&self->ring, 0);
	struct morph_device_answer answer;

	ASSERT_TRUE(WAIT_UNTIL(ring_sleeps(self->slice, self->number) == 1));
	entry[0] = MORPH_DEVICE_LAP | (morph_word)MORPH_DEVICE_GO << 56;
	ring_act(self->slice, self->number, MORPH_RING_WAKE, NULL);
	/* The thread has looked and found nothing. */
	ASSERT_TRUE(WAIT_UNTIL(ring_sleeps(self->slice, self->number) == 2));
	EXPECT_EQ(0, morph_device_answered(&self->ring, &answer));
	entry[1] = MORPH_DEVICE_LAP | 2;
	ASSERT_TRUE(answered(self->slice, self->number, &self->ring, &answer));
	EXPECT_EQ(2, answer.position);
}

TEST_F(ring, entry_that_means_nothing_stops_it)
{
	struct morph_ring_act result;
	struct morph_event event;

	ASSERT_EQ(0, morph_device_submit(&self->ring, 77, 0, 0, 2));
	ring_act(self->slice, self->number, MORPH_RING_WAKE, NULL);
	ASSERT_EQ(0, wait_event(self->slice, MORPH_EVENT_RING, PATIENCE_MS, &event));
	EXPECT_EQ(self->number, event.txn);
	EXPECT_EQ(0, event.circuit);
	ASSERT_EQ(0, ring_act(self->slice, self->number, MORPH_RING_QUERY, &result));
	EXPECT_EQ(MORPH_RING_STOPPED, result.out_state);
	EXPECT_EQ(-EPROTO, result.out_error);
	EXPECT_EQ(MORPH_RING_STOPPED, *lm_device_half(&self->ring, 0));
}

TEST_F(ring, rank_that_there_is_not_stops_it)
{
	ASSERT_EQ(0, morph_device_submit(&self->ring, MORPH_DEVICE_ARRIVE, 0, RANKS, 1));
	EXPECT_TRUE(WAIT_UNTIL((ring_act(self->slice, self->number, MORPH_RING_WAKE, NULL),
				ring_state(self->slice, self->number) == MORPH_RING_STOPPED)));
}

TEST_F(ring, completions_counted_wrongly_stop_it)
{
	*lm_device_half(&self->ring, MORPH_DEVICE_SEEN) = 5;
	ASSERT_EQ(0, morph_device_submit(&self->ring, MORPH_DEVICE_GO, 0, 0, 2));
	EXPECT_TRUE(WAIT_UNTIL((ring_act(self->slice, self->number, MORPH_RING_WAKE, NULL),
				ring_state(self->slice, self->number) == MORPH_RING_STOPPED)));
}

TEST_F(ring, unread_answers_stop_the_queue)
{
	struct morph_device_answer answer;
	unsigned int i;

	for (i = 0; i < ENTRIES; i++)
		ASSERT_EQ(0, morph_device_submit(&self->ring, MORPH_DEVICE_GO, 0, 0, i + 2));
	EXPECT_TRUE(WAIT_UNTIL((ring_act(self->slice, self->number, MORPH_RING_WAKE, NULL),
				*lm_device_half(&self->ring, MORPH_DEVICE_TAKEN) == ENTRIES)));
	ASSERT_EQ(0, morph_device_submit(&self->ring, MORPH_DEVICE_GO, 9, 0, ENTRIES + 2));
	/* No event reports that it looked and found no space. */
	usleep(20000);
	EXPECT_EQ(ENTRIES, *lm_device_half(&self->ring, MORPH_DEVICE_TAKEN));
	for (i = 0; i <= ENTRIES; i++)
		ASSERT_TRUE(answered(self->slice, self->number, &self->ring, &answer));
	EXPECT_EQ(9, answer.tag);
	EXPECT_EQ(ENTRIES + 2, answer.position);
}

TEST_F(ring, idle_it_sleeps_until_it_is_woken)
{
	struct morph_device_answer answer;
	struct morph_ring_act result;

	/*
	 * Wait until the thread has looked for the last time, which it does after it has announced
	 * its sleep.
	 */
	ASSERT_TRUE(WAIT_UNTIL(ring_sleeps(self->slice, self->number) == 1));
	EXPECT_TRUE(morph_device_asleep(&self->ring));
	ASSERT_EQ(0, morph_device_submit(&self->ring, MORPH_DEVICE_GO, 0, 0, 2));
	/* A thread that is awake needs less time. No event reports that it does not look. */
	usleep(20000);
	EXPECT_EQ(0, morph_device_answered(&self->ring, &answer));
	ASSERT_EQ(0, ring_act(self->slice, self->number, MORPH_RING_WAKE, &result));
	EXPECT_LE(1, result.out_sleeps);
	EXPECT_TRUE(answered(self->slice, self->number, &self->ring, &answer));
}

TEST_F(ring, pages_are_such_as_devices_register)
{
	struct iovec from = { self->ring.base, 64 };
	char line[256], copy[64];
	bool ours = false;
	unsigned int reported = 0;
	int ends[2];
	FILE *maps;

	/*
	 * Pin the page through a pipe, which fails for VM_IO and VM_PFNMAP. The worker of the queue
	 * writes to this page until it sleeps.
	 */
	ASSERT_TRUE(WAIT_UNTIL(ring_sleeps(self->slice, self->number) == 1));
	ASSERT_EQ(0, pipe(ends));
	EXPECT_EQ(64, vmsplice(ends[1], &from, 1, 0));
	EXPECT_EQ(64, read(ends[0], copy, sizeof(copy)));
	EXPECT_EQ(0, memcmp(copy, self->ring.base, sizeof(copy)));
	close(ends[0]);
	close(ends[1]);
	maps = fopen("/proc/self/smaps", "r");
	ASSERT_NE(NULL, maps);
	while (fgets(line, sizeof(line), maps)) {
		unsigned long begin, end;

		if (sscanf(line, "%lx-%lx ", &begin, &end) == 2)
			ours = begin == (unsigned long)self->ring.base;
		if (ours && !strncmp(line, "VmFlags:", 8)) {
			reported++;
			EXPECT_EQ(NULL, strstr(line, " io"));
			EXPECT_EQ(NULL, strstr(line, " pf"));
		}
	}
	fclose(maps);
	EXPECT_EQ(1, reported);
}

TEST_F(ring, user_memory_is_accepted)
{
	struct morph_ring_setup args = { .schedule = self->schedule };
	struct morph_device_ring own = { .entries = ENTRIES };
	struct morph_device_answer answer;

	own.base = aligned_alloc(4096, self->bytes);
	ASSERT_NE(NULL, own.base);
	args.user_ptr = (uintptr_t)own.base;
	ASSERT_EQ(0, setup(self->slice, &args))
	TH_LOG("%s", last_detail);
	ASSERT_EQ(0, morph_device_submit(&own, MORPH_DEVICE_GO, 3, 0, 2));
	ASSERT_TRUE(answered(self->slice, args.out_ring, &own, &answer));
	EXPECT_EQ(3, answer.tag);
	EXPECT_EQ(0, answer.error);
	EXPECT_EQ(0, ring_act(self->slice, args.out_ring, MORPH_RING_CLOSE, NULL));
	EXPECT_TRUE(WAIT_UNTIL(*lm_device_half(&own, 0) == MORPH_RING_GONE));
	free(own.base);
}

TEST_F(ring, state_is_read_without_a_call)
{
	size_t bytes = MORPH_STATE_BYTES(RANKS * RANKS);
	volatile struct morph_state_page *page;
	volatile struct morph_state_pair *pairs;
	struct morph_device_answer answer;
	unsigned int rank, before;

	page = mmap(NULL, bytes, PROT_READ, MAP_SHARED, self->slice, 0);
	ASSERT_NE(MAP_FAILED, (void *)page);
	pairs = (volatile void *)(page + 1);
	EXPECT_EQ(MAP_FAILED,
		  mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, self->slice, 0));
	EXPECT_EQ(-1, mprotect((void *)page, bytes, PROT_READ | PROT_WRITE));
	EXPECT_EQ(RANKS, page->ranks);
	for (rank = 0; rank < RANKS; rank++)
		EXPECT_NE(0, pairs[rank * RANKS + (rank ^ 1)].mbps);
	before = pairs[1].generation;
	ASSERT_EQ(0, morph_device_submit(&self->ring, MORPH_DEVICE_GO, 0, 0, 2));
	ASSERT_TRUE(answered(self->slice, self->number, &self->ring, &answer));
	EXPECT_EQ(2, page->position);
	EXPECT_EQ(1, page->step);
	EXPECT_EQ(self->schedule, page->schedule);
	EXPECT_EQ(MORPH_SCHEDULE_RUNNING, page->state);
	EXPECT_EQ(0, pairs[1].mbps);
	EXPECT_EQ(0, pairs[1].hops);
	EXPECT_NE(before, pairs[1].generation);
	for (rank = 0; rank < RANKS; rank++) {
		EXPECT_NE(0, pairs[rank * RANKS + (rank ^ 2)].mbps);
		EXPECT_NE(0, pairs[rank * RANKS + (rank ^ 2)].hops);
	}
	ASSERT_EQ(0, schedule_act(self->slice, self->schedule, MORPH_SCHEDULE_STOP, NULL));
	EXPECT_EQ(MORPH_SCHEDULE_LOADED, page->state);
	EXPECT_EQ(0, pairs[2].mbps);
	munmap((void *)page, bytes);
}

TEST_F(ring, invalid_queues_are_refused)
{
	struct morph_ring_setup args = { .schedule = self->schedule, .entries = 12 };

	ASSERT_EQ(-1, setup(self->slice, &args));
	EXPECT_EQ(EINVAL, errno);
	args = (struct morph_ring_setup){ .schedule = 99 };
	ASSERT_EQ(-1, setup(self->slice, &args));
	EXPECT_EQ(ENOENT, errno);
	args = (struct morph_ring_setup){ .schedule = self->schedule, .user_ptr = 4096 };
	ASSERT_EQ(-1, setup(self->slice, &args));
	EXPECT_EQ(EFAULT, errno);
	args = (struct morph_ring_setup){ .schedule = self->schedule, .user_ptr = 17 };
	ASSERT_EQ(-1, setup(self->slice, &args));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, self->bytes, PROT_READ, MAP_SHARED, self->slice,
				   (off_t)MORPH_RING_OFFSET(50)));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 16 * self->bytes, PROT_READ, MAP_SHARED, self->slice,
				   (off_t)MORPH_RING_OFFSET(self->number)));
}

TEST_F(ring, memory_of_ones_own_is_left_alone_when_it_is_refused)
{
	struct morph_ring_setup args = { .schedule = 99 };
	unsigned char *own = aligned_alloc(4096, self->bytes);
	size_t at;

	ASSERT_NE(NULL, own);
	memset(own, 0xa5, self->bytes);
	args.user_ptr = (uintptr_t)own;
	ASSERT_EQ(-1, setup(self->slice, &args));
	EXPECT_EQ(ENOENT, errno);
	for (at = 0; at < self->bytes && own[at] == 0xa5; at++)
		;
	EXPECT_EQ(self->bytes, at);
	free(own);
}

/* Make queues until one is refused, and return their number. @entries: of each, or 0 */
static unsigned int fill(int slice, unsigned int schedule, unsigned int entries)
{
	struct morph_ring_setup args;
	unsigned int made = 0;

	do
		args = (struct morph_ring_setup){ .schedule = schedule, .entries = entries };
	while (!setup(slice, &args) && ++made < 100);
	return made;
}

TEST_F(ring, rings_of_a_slice_are_counted)
{
	EXPECT_EQ(15, fill(self->slice, self->schedule, 0));
	EXPECT_EQ(EDQUOT, errno);
}

TEST_F(ring, bytes_of_threads_are_charged)
{
	struct morph_grant_create limits = GRANT_ALL;
	int grant, slice, schedule;

	ASSERT_EQ(0, schedule_act(self->slice, self->schedule, MORPH_SCHEDULE_STOP, NULL));
	ASSERT_EQ(0, schedule_act(self->slice, self->schedule, MORPH_SCHEDULE_UNLOAD, NULL));
	/* Enough for the load, and then for 16 queues without their threads. */
	limits.bytes = 1400u << 10;
	grant = grant_create(self->sim.fd, &limits);
	ASSERT_LE(0, grant);
	slice = slice_create(grant, RANKS);
	ASSERT_LE(0, slice);
	schedule = load(slice, MORPH_ADVANCE_CALL);
	ASSERT_LT(0, schedule)
	TH_LOG("%s", last_detail);
	EXPECT_GT(16, fill(slice, (unsigned int)schedule, 2048));
	EXPECT_EQ(EDQUOT, errno);
	EXPECT_NE(NULL, strstr(last_detail, "bytes of memory"))
	TH_LOG("%s", last_detail);
	close(slice);
	close(grant);
}

static void limit_processes(unsigned int most)
{
	const struct rlimit limit = { .rlim_cur = most, .rlim_max = most };

	setrlimit(RLIMIT_NPROC, &limit);
}

/* As a user with one process: make queues, and one more in place of the first. */
static int fill_within_limit(int slice, unsigned int schedule, unsigned int first)
{
	unsigned int made;

	if (setresgid(TENANT, TENANT, TENANT) || setresuid(TENANT, TENANT, TENANT))
		return 101;
	limit_processes(4);
	made = fill(slice, schedule, 0);
	if (errno != EAGAIN || !strstr(last_detail, "RLIMIT_NPROC"))
		return 102;
	if (ring_act(slice, first, MORPH_RING_CLOSE, NULL))
		return 103;
	return WAIT_UNTIL(fill(slice, schedule, 0)) ? (int)made : 104;
}

TEST_F(ring, threads_and_processes_have_one_limit)
{
	int status = -1;
	pid_t child = fork();

	if (!child)
		_exit(fill_within_limit(self->slice, self->schedule, self->number + 1));
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(3, WEXITSTATUS(status));
}

TEST_F(ring, root_has_no_limit_of_threads)
{
	struct morph_ring_setup args = { .schedule = self->schedule };

	limit_processes(0);
	EXPECT_EQ(0, setup(self->slice, &args))
	TH_LOG("%s", last_detail);
}

TEST_F(ring, rate_is_kept)
{
	struct morph_ring_setup args = { .schedule = self->schedule, .rate = 500 };
	struct morph_device_ring slow = { .entries = ENTRIES };
	struct morph_device_answer answer;
	unsigned int i;
	long long begin;

	ASSERT_EQ(0, setup(self->slice, &args));
	slow.base = mmap(NULL, self->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, self->slice,
			 (off_t)MORPH_RING_OFFSET(args.out_ring));
	ASSERT_NE(MAP_FAILED, slow.base);
	begin = now_ms();
	for (i = 0; i < 21; i++) {
		ASSERT_EQ(0, morph_device_submit(&slow, 0, 0, 0, 0));
		ASSERT_TRUE(answered(self->slice, args.out_ring, &slow, &answer));
	}
	/*
	 * Each step but the first takes two milliseconds; the driver may do one millisecond of it
	 * ahead.
	 */
	EXPECT_LE(2 * 19, now_ms() - begin);
	munmap(slow.base, self->bytes);
}

struct guesser {
	int slice;
	unsigned int first, count;
};

/*
 * Numbers are consecutive: this thread guesses the next one and closes the queue while the driver
 * makes it.
 */
static void *close_next(void *context)
{
	const struct guesser *guesser = context;
	long long until = now_ms() + PATIENCE_MS;
	unsigned int at;

	for (at = 0; at < guesser->count; at++)
		while (ring_act(guesser->slice, guesser->first + at, MORPH_RING_CLOSE, NULL))
			if (now_ms() > until)
				return context;
	return NULL;
}

TEST_F(ring, ring_may_be_closed_while_it_is_being_made)
{
	struct guesser guesser = { self->slice, self->number + 1, 200 };
	struct morph_ring_setup args;
	pthread_t thread;
	unsigned int i;
	void *late;

	ASSERT_EQ(0, pthread_create(&thread, NULL, close_next, &guesser));
	for (i = 0; i < guesser.count; i++) {
		args = (struct morph_ring_setup){ .schedule = self->schedule };
		/* Wait while the limit of queues that are not closed yet is reached. */
		while (setup(self->slice, &args) && errno == EDQUOT)
			nap();
		EXPECT_EQ(guesser.first + i, args.out_ring);
	}
	ASSERT_EQ(0, pthread_join(thread, &late));
	EXPECT_EQ(NULL, late);
	EXPECT_EQ(MORPH_RING_RUNNING, ring_state(self->slice, self->number));
}

TEST_HARNESS_MAIN

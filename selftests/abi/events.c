// SPDX-License-Identifier: GPL-2.0-only
/* Events of a slice's files: read, poll, queues and lost events. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>

#include "fabric.h"
#include "kselftest_harness.h"

#define SLOTS 64 /* size of a file's queue */

FIXTURE(events)
{
	struct sim sim;
	int slice;
	int second; /* a second file of the slice, opened through its node */
};

FIXTURE_SETUP(events)
{
	struct morph_slice_create args = { .name = "events" };
	char path[64];

	sim_start(&self->sim, "server8", NULL);
	self->slice = slice_create_with(self->sim.fd, &args, NULL, 2);
	ASSERT_LE(0, self->slice);
	snprintf(path, sizeof(path), "/dev/morph/slice%u", args.out_slice);
	self->second = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	ASSERT_LE(0, self->second);
	ASSERT_EQ(0, fcntl(self->slice, F_SETFL, O_NONBLOCK));
}

FIXTURE_TEARDOWN(events)
{
	close(self->slice);
	close(self->second);
	EXPECT_EQ(0, slice_delete(self->sim.fd, MORPH_ANY, "events", 0));
	sim_stop(&self->sim);
}

/* Cause one event: prepare a transaction and revert it. */
static int make_event(int slice)
{
	struct morph_txn_run args = {
		.head.flags = MORPH_TXN_PREPARE,
		.generation = GENERATION_ANY,
		.lease_ns = 600000000000ULL,
	};
	struct morph_change change = change_add(0, 1);

	if (txn_run(slice, &change, 1, &args))
		return -1;
	return txn_step(slice, args.out_txn, MORPH_TXN_REVERT, 0, NULL);
}

static int readable(int fd)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };

	return poll(&pollfd, 1, 0) == 1 ? pollfd.revents : 0;
}

TEST_F(events, none)
{
	struct morph_event event;

	EXPECT_EQ(0, readable(self->slice));
	EXPECT_EQ(-1, read(self->slice, &event, sizeof(event)));
	EXPECT_EQ(EAGAIN, errno);
	EXPECT_EQ(-1, read(self->slice, &event, sizeof(event) - 1));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, read(self->slice, &event, 0));
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(events, each_file_has_its_queue)
{
	struct morph_event first, second;

	ASSERT_EQ(0, make_event(self->slice));
	EXPECT_EQ(POLLIN, readable(self->slice));
	EXPECT_EQ(POLLIN, readable(self->second));
	ASSERT_EQ((ssize_t)sizeof(first), read(self->slice, &first, sizeof(first)));
	EXPECT_EQ(0, readable(self->slice));
	EXPECT_EQ(POLLIN, readable(self->second));
	ASSERT_EQ((ssize_t)sizeof(second), read(self->second, &second, sizeof(second)));
	EXPECT_EQ(0, memcmp(&first, &second, sizeof(first)));
	EXPECT_EQ(sizeof(first), first.size);
	EXPECT_EQ(MORPH_EVENT_TXN, first.type);
	EXPECT_EQ(MORPH_OUTCOME_ROLLED_BACK, first.outcome);
	EXPECT_EQ(MORPH_ANY, first.rank);
	EXPECT_EQ(MORPH_ANY, first.old_accelerator);
	EXPECT_NE(0, first.time_ns);
}

TEST_F(events, whole_records_only)
{
	struct morph_event events[4];

	memset(events, 0xcc, sizeof(events));
	ASSERT_EQ(0, make_event(self->slice));
	ASSERT_EQ(0, make_event(self->slice));
	ASSERT_EQ(0, make_event(self->slice));
	EXPECT_EQ((ssize_t)(2 * sizeof(*events)),
		  read(self->slice, events, sizeof(*events) * 5 / 2));
	EXPECT_EQ(0xcccccccc, events[2].type);
	EXPECT_LT(events[0].txn, events[1].txn);
	EXPECT_LE(events[0].time_ns, events[1].time_ns);
	EXPECT_EQ((ssize_t)sizeof(*events), read(self->slice, events, sizeof(events)));
}

/*
 * The buffer ends in an invalid page: read() returns the events that it copied, and none is lost.
 */
TEST_F(events, bad_buffer_loses_nothing)
{
	size_t page = sysconf(_SC_PAGESIZE);
	void *volatile nowhere = (void *)16;
	struct morph_event event;
	uint8_t *map;

	map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, map);
	munmap(map + page, page);
	ASSERT_EQ(0, make_event(self->slice));
	ASSERT_EQ(0, make_event(self->slice));
	EXPECT_EQ(-1, read(self->slice, nowhere, sizeof(event)));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ((ssize_t)sizeof(event),
		  read(self->slice, map + page - sizeof(event) - 8, 2 * sizeof(event)));
	EXPECT_EQ((ssize_t)sizeof(event), read(self->slice, &event, sizeof(event)));
	EXPECT_EQ(0, readable(self->slice));
	munmap(map, page);
}

TEST_F(events, sleeper_is_woken)
{
	struct morph_event event;
	int status;
	pid_t child;

	ASSERT_EQ(0, fcntl(self->slice, F_SETFL, 0));
	child = fork();
	if (!child) {
		wait_asleep(getppid());
		_exit(make_event(self->second) ? 1 : 0);
	}
	EXPECT_EQ((ssize_t)sizeof(event), read(self->slice, &event, sizeof(event)));
	EXPECT_EQ(MORPH_EVENT_TXN, event.type);
	waitpid(child, &status, 0);
	EXPECT_EQ(0, status);
}

static void nothing(int signal)
{
	(void)signal;
}

TEST_F(events, sleeper_is_interrupted)
{
	struct sigaction action = { .sa_handler = nothing };
	struct morph_event event;
	pid_t child;

	ASSERT_EQ(0, fcntl(self->slice, F_SETFL, 0));
	sigaction(SIGUSR1, &action, NULL);
	child = fork();
	if (!child) {
		wait_asleep(getppid());
		kill(getppid(), SIGUSR1);
		_exit(0);
	}
	EXPECT_EQ(-1, read(self->slice, &event, sizeof(event)));
	EXPECT_EQ(EINTR, errno);
	waitpid(child, NULL, 0);
}

TEST_F(events, overflow_leaves_one_record)
{
	struct morph_slice_info info;
	struct morph_event event;
	unsigned int i, last = 0;

	for (i = 0; i < SLOTS + 7; i++)
		ASSERT_EQ(0, make_event(self->slice));
	ASSERT_EQ(0, slice_info(self->slice, &info));
	EXPECT_EQ(7, info.events_lost);
	for (i = 0; i < SLOTS; i++) {
		ASSERT_EQ((ssize_t)sizeof(event), read(self->slice, &event, sizeof(event)));
		EXPECT_EQ(MORPH_EVENT_TXN, event.type);
		EXPECT_LT(last, event.txn);
		last = event.txn;
	}
	EXPECT_EQ(POLLIN, readable(self->slice));
	ASSERT_EQ((ssize_t)sizeof(event), read(self->slice, &event, sizeof(event)));
	EXPECT_EQ(MORPH_EVENT_LOST, event.type);
	EXPECT_EQ(7, event.lost);
	EXPECT_EQ(info.generation, event.generation);
	EXPECT_EQ(0, event.txn);
	EXPECT_EQ(0, readable(self->slice));
	/* The other file lost its own events. */
	EXPECT_EQ(SLOTS + 1, drain_events(self->second));
	ASSERT_EQ(0, make_event(self->slice));
	EXPECT_EQ(1, drain_events(self->slice));
}

/* When the queue has room again, the record stands in the place of the lost events. */
TEST_F(events, order_after_overflow)
{
	struct morph_event event;
	unsigned int i;

	for (i = 0; i < SLOTS + 3; i++)
		ASSERT_EQ(0, make_event(self->slice));
	for (i = 0; i < 2; i++)
		ASSERT_EQ((ssize_t)sizeof(event), read(self->slice, &event, sizeof(event)));
	ASSERT_EQ(0, make_event(self->slice));
	for (i = 2; i < SLOTS; i++) {
		ASSERT_EQ((ssize_t)sizeof(event), read(self->slice, &event, sizeof(event)));
		EXPECT_EQ(MORPH_EVENT_TXN, event.type);
	}
	ASSERT_EQ((ssize_t)sizeof(event), read(self->slice, &event, sizeof(event)));
	EXPECT_EQ(MORPH_EVENT_LOST, event.type);
	EXPECT_EQ(3, event.lost);
	ASSERT_EQ((ssize_t)sizeof(event), read(self->slice, &event, sizeof(event)));
	EXPECT_EQ(MORPH_EVENT_TXN, event.type);
	EXPECT_EQ(0, readable(self->slice));
}

TEST_HARNESS_MAIN

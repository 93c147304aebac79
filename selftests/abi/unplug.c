// SPDX-License-Identifier: GPL-2.0-only
/* The provider goes while files are open: sleepers wake up, and calls fail with ENODEV. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "fabric.h"
#include "kselftest_harness.h"
#include "runner.h"

FIXTURE(unplug)
{
	struct sim sim;
	int slice;
	int named;
	unsigned int named_number;
};

FIXTURE_SETUP(unplug)
{
	struct morph_slice_create args = { .name = "stays" };

	sim_start(&self->sim, "server8", NULL);
	self->slice = slice_create(self->sim.fd, 3);
	self->named = slice_create_with(self->sim.fd, &args, NULL, 2);
	self->named_number = args.out_slice;
	ASSERT_LE(0, self->slice);
	ASSERT_LE(0, self->named);
	ASSERT_EQ(0, light_ring(self->slice, 3));
}

FIXTURE_TEARDOWN(unplug)
{
	close(self->slice);
	close(self->named);
	sim_stop(&self->sim);
}

static bool exists(const char *kind, unsigned int number)
{
	struct stat st;
	char path[64];

	snprintf(path, sizeof(path), "/dev/morph/%s%u", kind, number);
	return !stat(path, &st);
}

/* Return the errno of a command whose structure has only its size set. */
static int plain(int fd, unsigned long number)
{
	uint8_t buffer[1024] = {};

	((struct morph_head *)buffer)->size = _IOC_SIZE(number);
	return ioctl(fd, number, buffer) ? errno : 0;
}

TEST_F(unplug, every_command_answers_enodev)
{
	static const unsigned long on_fabric[] = {
		MORPH_FABRIC_INFO, MORPH_FABRIC_READ_ACCELERATORS, MORPH_FABRIC_READ_GUIDES,
		MORPH_FABRIC_READ_ELEMENTS, MORPH_FABRIC_READ_EDGES, MORPH_SLICE_CREATE,
		MORPH_SLICE_DELETE,
	}, on_slice[] = {
		MORPH_FABRIC_INFO, MORPH_FABRIC_READ_ACCELERATORS, MORPH_FABRIC_READ_GUIDES,
		MORPH_FABRIC_READ_ELEMENTS, MORPH_FABRIC_READ_EDGES, MORPH_SLICE_INFO,
		MORPH_CIRCUIT_PATH, MORPH_TXN_RUN, MORPH_TXN_STEP, MORPH_RANK_REPORT, MORPH_RANK_REPLACE, MORPH_SLICE_POLICY,
	};
	unsigned int i;

	sim_pull(&self->sim);
	for (i = 0; i < sizeof(on_fabric) / sizeof(*on_fabric); i++)
		EXPECT_EQ(ENODEV, plain(self->sim.fd, on_fabric[i]));
	for (i = 0; i < sizeof(on_slice) / sizeof(*on_slice); i++) {
		EXPECT_EQ(ENODEV, plain(self->slice, on_slice[i]));
		EXPECT_EQ(ENODEV, plain(self->named, on_slice[i]));
	}
	EXPECT_EQ(ENOTTY, plain(self->sim.fd, _IO(MORPH_IOC, 0x77)));
}

TEST_F(unplug, files_are_woken)
{
	struct pollfd pollfds[] = {
		{ .fd = self->sim.fd, .events = POLLIN },
		{ .fd = self->slice, .events = POLLIN },
		{ .fd = self->named, .events = POLLIN },
	};
	struct morph_event event;

	EXPECT_EQ(0, poll(pollfds, 3, 0));
	sim_pull(&self->sim);
	EXPECT_EQ(3, poll(pollfds, 3, 0));
	EXPECT_EQ(POLLHUP, pollfds[0].revents);
	EXPECT_EQ(POLLIN | POLLHUP, pollfds[1].revents);
	EXPECT_EQ(POLLIN | POLLHUP, pollfds[2].revents);
	EXPECT_EQ((ssize_t)sizeof(event), read(self->slice, &event, sizeof(event)));
	EXPECT_EQ(MORPH_EVENT_FABRIC_GONE, event.type);
	EXPECT_EQ(MORPH_SLICE_LOST, event.state);
	EXPECT_EQ(-1, read(self->slice, &event, sizeof(event)));
	EXPECT_EQ(ENODEV, errno);
}

/* Threads that sleep in poll() and read() when it happens. */
TEST_F(unplug, sleepers_are_woken)
{
	struct pollfd pollfd = { .fd = self->sim.fd, .events = POLLIN };
	struct morph_event event;
	int status;
	pid_t child;

	child = fork();
	if (!child) {
		wait_asleep(getppid());
		sim_pull(&self->sim);
		_exit(0);
	}
	EXPECT_EQ((ssize_t)sizeof(event), read(self->slice, &event, sizeof(event)));
	EXPECT_EQ(MORPH_EVENT_FABRIC_GONE, event.type);
	EXPECT_EQ(1, poll(&pollfd, 1, PATIENCE_MS));
	EXPECT_EQ(POLLHUP, pollfd.revents);
	waitpid(child, &status, 0);
	EXPECT_EQ(0, status);
}

/* Wait until a node has gone, with a watch of its directory from before; false if it never goes. */
static bool wait_gone(int watch, const char *kind, unsigned int number)
{
	struct pollfd pollfd = { .fd = watch, .events = POLLIN };
	char events[4096];

	while (exists(kind, number))
		if (poll(&pollfd, 1, PATIENCE_MS) != 1 || read(watch, events, sizeof(events)) <= 0)
			return false;
	return true;
}

TEST_F(unplug, nodes_go)
{
	char path[64];
	int watch;

	EXPECT_TRUE(exists("fabric", self->sim.number));
	EXPECT_TRUE(exists("slice", self->named_number));
	sim_pull(&self->sim);
	EXPECT_FALSE(exists("fabric", self->sim.number));
	watch = inotify_init1(IN_CLOEXEC);
	ASSERT_LE(0, inotify_add_watch(watch, "/dev/morph", IN_DELETE));
	/* The named slice has lost its hardware and ends with its last file. */
	close(self->named);
	self->named = -1;
	EXPECT_TRUE(wait_gone(watch, "slice", self->named_number));
	close(watch);
	snprintf(path, sizeof(path), "/dev/morph/slice%u", self->named_number);
	EXPECT_EQ(-1, open(path, O_RDWR));
}

/* The hardware comes back as a fabric without any former state. */
TEST_F(unplug, and_plugged_in_again)
{
	int old = self->sim.fd, fresh;
	struct morph_slice_info info;

	sim_pull(&self->sim);
	sim_replug(&self->sim);
	EXPECT_EQ(8, self->sim.info.free);
	EXPECT_EQ(0, self->sim.info.slices);
	EXPECT_TRUE(sim_all_dark(&self->sim));
	EXPECT_EQ(-1, slice_info(self->slice, &info));
	EXPECT_EQ(ENODEV, errno);
	EXPECT_EQ(ENODEV, plain(old, MORPH_FABRIC_INFO));
	fresh = slice_create(self->sim.fd, 8);
	EXPECT_LE(0, fresh);
	close(fresh);
	close(old);
}

/* References to the module of the provider. */
static int provider_references(void)
{
	FILE *file = fopen("/sys/module/morph_sim/refcnt", "re");
	int count = -1;

	if (file && fscanf(file, "%d", &count) != 1)
		count = -1;
	if (file)
		fclose(file);
	return count;
}

/* Files of slices that a program holds do not keep the module of a removed provider loaded. */
TEST_F(unplug, held_files_do_not_pin_the_provider)
{
	int before = provider_references();

	ASSERT_LE(2, before);
	sim_pull(&self->sim);
	/* Each slice had a reference. */
	EXPECT_TRUE(WAIT_UNTIL(provider_references() <= before - 2))
	TH_LOG("%d references, then %d", before, provider_references());
}

/* ------------------------------------------------------------ in the middle of it */

#define COMMITS 8 /* commits of each worker before the provider goes */

struct worker {
	int slice;
	sem_t committed; /* posted once for each pair of transactions */
	int last_error;
};

static void *work(void *data)
{
	struct worker *worker = data;
	struct morph_change change;

	for (;;) {
		change = change_add(0, 1);
		if (txn_run(worker->slice, &change, 1, NULL))
			break;
		change = change_remove(change.circuit);
		if (txn_run(worker->slice, &change, 1, NULL))
			break;
		sem_post(&worker->committed);
	}
	worker->last_error = errno;
	return NULL;
}

/* Wait for a worker's next commits; false if there are not enough. */
static bool wait_commits(struct worker *worker, unsigned int count)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += PATIENCE_MS / 1000;
	while (count && !sem_clockwait(&worker->committed, CLOCK_MONOTONIC, &until))
		count--;
	return !count;
}

TEST_F(unplug, while_transactions_run)
{
	struct worker workers[2] = { { .slice = self->slice }, { .slice = self->named } };
	pthread_t threads[2];
	int i;

	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, sem_init(&workers[i].committed, 0, 0));
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, work, &workers[i]));
	}
	for (i = 0; i < 2; i++)
		EXPECT_TRUE(wait_commits(&workers[i], COMMITS));
	sim_pull(&self->sim);
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, pthread_join(threads[i], NULL));
		EXPECT_EQ(ENODEV, workers[i].last_error);
	}
}

/* As before, but the device itself reports that it is gone. */
TEST_F(unplug, device_vanishes)
{
	struct pollfd pollfd = { .fd = self->sim.fd, .events = POLLIN };

	ASSERT_EQ(0, sim_control(&self->sim, "fault", "provider_removed -"));
	EXPECT_EQ(1, poll(&pollfd, 1, PATIENCE_MS));
	EXPECT_EQ(POLLHUP, pollfd.revents);
	EXPECT_EQ(ENODEV, plain(self->sim.fd, MORPH_FABRIC_INFO));
}

/* The machine shuts down: every laser is off, and the driver repairs nothing. */
TEST_F(unplug, shutdown_turns_lasers_off)
{
	struct morph_slice_info info;

	EXPECT_FALSE(sim_all_dark(&self->sim));
	ASSERT_EQ(0, sim_control(&self->sim, "shutdown", "now"));
	EXPECT_EQ(-1, sim_counter(&self->sim, "hardware", "laser"));
	EXPECT_TRUE(sim_all_dark(&self->sim));
	EXPECT_EQ(-1, slice_info(self->slice, &info));
	EXPECT_EQ(ENODEV, errno);
}

/* A change that waits for its elements to settle must not turn on light after that. */
TEST_F(unplug, shutdown_during_a_change)
{
	struct runner runner;
	long long before;
	struct sim slow;

	sim_start(&slow, "server8", "settle_ns=2000000000");
	runner.slice = slice_create(slow.fd, 2);
	ASSERT_LE(0, runner.slice);
	before = sim_counter(&slow, "ops", "set_elements");
	ASSERT_EQ(0, runner_add(&runner, 0, 1));
	ASSERT_TRUE(sim_wait_counter(&slow, "ops", "set_elements", before + 1));
	ASSERT_EQ(0, sim_control(&slow, "shutdown", "now"));
	EXPECT_EQ(ENODEV, runner_join(&runner));
	EXPECT_EQ(-1, sim_counter(&slow, "hardware", "laser"));
	EXPECT_TRUE(sim_all_dark(&slow));
	close(runner.slice);
	sim_stop(&slow);
}

/* A lit fabric refuses suspend. A dark fabric, asked before, does not. */
TEST_F(unplug, lit_refuses_suspend)
{
	char blamed[64] = "";
	struct sim dark;
	FILE *file;

	if (write_file("/sys/power/pm_test", "devices"))
		SKIP(return, "this kernel can't rehearse a suspend");
	sim_start(&dark, "server4", NULL);
	EXPECT_EQ(-1, write_file("/sys/power/state", "freeze"));
	EXPECT_EQ(EBUSY, errno);
	EXPECT_EQ(0, write_file("/sys/power/pm_test", "none"));
	file = fopen("/sys/power/suspend_stats/last_failed_dev", "r");
	ASSERT_NE(NULL, file);
	EXPECT_EQ(1, fscanf(file, "%63s", blamed));
	fclose(file);
	EXPECT_STREQ(self->sim.name, blamed);
	EXPECT_FALSE(sim_all_dark(&self->sim));
	sim_stop(&dark);
}

TEST_HARNESS_MAIN

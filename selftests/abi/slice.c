// SPDX-License-Identifier: GPL-2.0-only
/* Slices: their accelerators, names, files and end. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "fabric.h"
#include "kselftest_harness.h"

FIXTURE(slice)
{
	struct sim sim;
	struct morph_slice_create args;
};

FIXTURE_SETUP(slice)
{
	sim_start(&self->sim, "server8", NULL);
}

FIXTURE_TEARDOWN(slice)
{
	sim_stop(&self->sim);
}

/* Return the errno of a creation that must fail, or 0. */
#define CREATE(list, entries) \
	(slice_create_with(self->sim.fd, &self->args, list, entries) < 0 ? errno : 0)

static int open_node(unsigned int number)
{
	char path[64];

	snprintf(path, sizeof(path), "/dev/morph/slice%u", number);
	return open(path, O_RDWR | O_CLOEXEC);
}

/* ------------------------------------------------------------------ refusals */

TEST_F(slice, wrong_counts)
{
	const uint32_t none[1] = {};

	EXPECT_EQ(EINVAL, CREATE(NULL, 0));
	EXPECT_EQ(-1, self->args.out_fd);
	EXPECT_EQ(EINVAL, CREATE(none, 0));
	EXPECT_EQ(ENOSPC, CREATE(NULL, 9));
	EXPECT_EQ(MORPH_REASON_ACCELERATORS, self->args.head.reason);
	EXPECT_EQ(8, self->args.head.have);
	EXPECT_EQ(9, self->args.head.need);
	EXPECT_NE(NULL, strstr(last_detail, "9 requested, 8 free"));
}

TEST_F(slice, more_than_there_are)
{
	const uint32_t listed[11] = {};

	EXPECT_EQ(ENOSPC, CREATE(NULL, 11));
	EXPECT_EQ(MORPH_REASON_ACCELERATORS, self->args.head.reason);
	EXPECT_EQ(MORPH_ANY, self->args.head.index);
	EXPECT_EQ(10, self->args.head.have);
	EXPECT_EQ(11, self->args.head.need);
	EXPECT_STREQ("not enough accelerators: 11 requested, the fabric has 10", last_detail);
	EXPECT_EQ(ENOSPC, CREATE(NULL, 0xffffffff));
	EXPECT_EQ(0xffffffff, self->args.head.need);
	EXPECT_EQ(EINVAL, CREATE(listed, 11));
	EXPECT_EQ(MORPH_REASON_ARGUMENT, self->args.head.reason);
}

TEST_F(slice, wrong_accelerators)
{
	const uint32_t twice[] = { 3, 4, 3 }, past[] = { 10 }, spare[] = { 8 }, held[] = { 0, 1 };
	int other;

	EXPECT_EQ(EINVAL, CREATE(twice, 3));
	EXPECT_EQ(3, self->args.head.index);
	EXPECT_EQ(ENOENT, CREATE(past, 1));
	EXPECT_EQ(EBUSY, CREATE(spare, 1));
	EXPECT_EQ(MORPH_REASON_ACCELERATOR_HELD, self->args.head.reason);
	other = slice_create_at(self->sim.fd, held, 2);
	ASSERT_LE(0, other);
	EXPECT_EQ(EBUSY, CREATE(held, 2));
	EXPECT_EQ(MORPH_PART_ACCELERATOR, self->args.head.part);
	EXPECT_EQ(0, self->args.head.index);
	EXPECT_NE(NULL, strstr(last_detail, "held by another tenant"));
	close(other);
	EXPECT_TRUE(sim_wait_free(&self->sim, 8));
}

/* It has no light to put out, so no worker has to end it. */
TEST_F(slice, close_frees_a_slice_without_circuits_at_once)
{
	int slice = slice_create(self->sim.fd, 3);

	ASSERT_LE(0, slice);
	close(slice);
	sim_refresh(&self->sim);
	EXPECT_EQ(8, self->sim.info.free);
	EXPECT_EQ(0, self->sim.info.slices);
}

TEST_F(slice, wrong_values)
{
	self->args.failover = 3;
	EXPECT_EQ(EOPNOTSUPP, CREATE(NULL, 1));
	self->args.failover = 0;
	self->args.transit = 2;
	EXPECT_EQ(EOPNOTSUPP, CREATE(NULL, 1));
	self->args.transit = 0;
	self->args.spare_policy = 3;
	EXPECT_EQ(EOPNOTSUPP, CREATE(NULL, 1));
	self->args.spare_policy = MORPH_SPARES_LIST;
	EXPECT_EQ(EINVAL, CREATE(NULL, 1));
	self->args.spare_policy = MORPH_SPARES_HOST;
	self->args.spares.count = 1;
	EXPECT_EQ(EINVAL, CREATE(NULL, 1));
	self->args.spares.count = 0;
	self->args.mode = 0600;
	EXPECT_EQ(EINVAL, CREATE(NULL, 1));
	strcpy(self->args.name, "name");
	self->args.mode = 010000;
	EXPECT_EQ(EINVAL, CREATE(NULL, 1));
	self->args.mode = 0200000;
	EXPECT_EQ(EINVAL, CREATE(NULL, 1));
	sim_refresh(&self->sim);
	EXPECT_EQ(0, self->sim.info.slices);
}

TEST_F(slice, wrong_lists)
{
	const uint32_t wide[] = { 0, 7, 1, 0 };

	self->args.head.size = sizeof(self->args);
	self->args.accelerators.ptr = (uintptr_t)wide;
	self->args.accelerators.count = 2;
	self->args.accelerators.stride = 2;
	EXPECT_EQ(-1, ioctl(self->sim.fd, MORPH_SLICE_CREATE, &self->args));
	EXPECT_EQ(EINVAL, errno);
	self->args.accelerators.stride = 8;
	EXPECT_EQ(-1, ioctl(self->sim.fd, MORPH_SLICE_CREATE, &self->args));
	EXPECT_EQ(E2BIG, errno);
	self->args.accelerators.stride = 4;
	self->args.accelerators.ptr = 16;
	EXPECT_EQ(-1, ioctl(self->sim.fd, MORPH_SLICE_CREATE, &self->args));
	EXPECT_EQ(EFAULT, errno);
}

TEST_F(slice, wrong_names)
{
	memset(self->args.name, 'x', sizeof(self->args.name));
	EXPECT_EQ(EINVAL, CREATE(NULL, 1));
	memset(self->args.name, 0, sizeof(self->args.name));
	strcpy(self->args.name, "a/b");
	EXPECT_EQ(EINVAL, CREATE(NULL, 1));
	strcpy(self->args.name, "a b");
	EXPECT_EQ(EINVAL, CREATE(NULL, 1));
}

/* Programs find a slice by name or number, so no name may read as a number. */
TEST_F(slice, numbers_are_no_names)
{
	static const char *const numbers[] = { "2",  "02", "0x2", "0X2",
					       "+2", "-2", "08",  "4294967296" };
	unsigned int i;

	for (i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		memset(self->args.name, 0, sizeof(self->args.name));
		strcpy(self->args.name, numbers[i]);
		EXPECT_EQ(EINVAL, CREATE(NULL, 1))
		TH_LOG("%s", numbers[i]);
	}
}

TEST_F(slice, dry_run)
{
	self->args.head.flags = MORPH_SLICE_DRY_RUN;
	EXPECT_EQ(0, CREATE(NULL, 8));
	EXPECT_EQ(-1, self->args.out_fd);
	EXPECT_EQ(0, self->args.out_slice);
	EXPECT_EQ(ENOSPC, CREATE(NULL, 9));
	sim_refresh(&self->sim);
	EXPECT_EQ(8, self->sim.info.free);
	EXPECT_EQ(0, self->sim.info.slices);
}

TEST_F(slice, dry_run_of_a_ring)
{
	const uint32_t listed[] = { 0, 1, 5 };

	self->args.head.flags = MORPH_SLICE_DRY_RUN | MORPH_SLICE_RING;
	EXPECT_EQ(0, CREATE(NULL, 8));
	EXPECT_EQ(0, CREATE(NULL, 1));
	self->args.ring_lanes = 2;
	EXPECT_EQ(0, CREATE(listed, 3));
	EXPECT_EQ(-1, self->args.out_fd);
	EXPECT_EQ(ENOSPC, CREATE(NULL, 9));
	EXPECT_EQ(MORPH_REASON_ACCELERATORS, self->args.head.reason);
	sim_refresh(&self->sim);
	EXPECT_EQ(8, self->sim.info.free);
	EXPECT_EQ(0, self->sim.info.slices);
}

TEST_F(slice, wrong_dry_runs_of_a_ring)
{
	self->args.head.flags = MORPH_SLICE_RING;
	EXPECT_EQ(EINVAL, CREATE(NULL, 2));
	self->args.head.flags = MORPH_SLICE_DRY_RUN | MORPH_SLICE_RING | MORPH_SLICE_RESERVED;
	EXPECT_EQ(EINVAL, CREATE(NULL, 2));
	self->args.head.flags = MORPH_SLICE_DRY_RUN | MORPH_SLICE_RING;
	self->args.ring_lanes = self->sim.info.wavelengths + 1;
	EXPECT_EQ(EINVAL, CREATE(NULL, 2));
	EXPECT_EQ(MORPH_REASON_ARGUMENT, self->args.head.reason);
	self->args.head.flags = MORPH_SLICE_DRY_RUN;
	self->args.ring_lanes = 1;
	EXPECT_EQ(EINVAL, CREATE(NULL, 2));
}

/* ----------------------------------------------------------------- placement */

TEST_F(slice, ranks_as_listed)
{
	const uint32_t wanted[] = { 5, 2, 7 };
	struct morph_rank_info ranks[3];
	struct morph_slice_info info;
	int fd, i;

	fd = slice_create_at(self->sim.fd, wanted, 3);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, slice_read(fd, &info, ranks, 3, NULL, 0));
	EXPECT_EQ(3, info.ranks.count);
	EXPECT_EQ(0, info.circuits.count);
	EXPECT_EQ(MORPH_SLICE_OK, info.state);
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(i, ranks[i].rank);
		EXPECT_EQ(wanted[i], ranks[i].accelerator);
		EXPECT_EQ(MORPH_HEALTH_OK, ranks[i].health);
		EXPECT_EQ(MORPH_USE_HELD, read_accelerator(&self->sim, wanted[i]).use);
	}
	close(fd);
	EXPECT_TRUE(sim_wait_free(&self->sim, 8));
}

TEST_F(slice, reserved_spare)
{
	self->args.head.flags = MORPH_SLICE_RESERVED;
	ASSERT_EQ(0, CREATE(NULL, 2));
	sim_refresh(&self->sim);
	EXPECT_EQ(6, self->sim.info.free);
	EXPECT_EQ(1, self->sim.info.spares);
	close(self->args.out_fd);
	EXPECT_TRUE(sim_wait_free(&self->sim, 8));
	EXPECT_EQ(2, self->sim.info.spares);
}

/* ------------------------------------------------------------ names and files */

TEST_F(slice, named_stays_and_is_opened_by_node)
{
	struct morph_slice_info info, again;
	int fd;

	strcpy(self->args.name, "job.1_a-b");
	ASSERT_EQ(0, CREATE(NULL, 2));
	ASSERT_EQ(0, slice_info(self->args.out_fd, &info));
	EXPECT_EQ(self->args.out_slice, info.slice);
	EXPECT_EQ(self->args.out_generation, info.generation);
	EXPECT_STREQ("job.1_a-b", info.name);
	close(self->args.out_fd);

	fd = open_node(info.slice);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, slice_info(fd, &again));
	EXPECT_EQ(info.slice, again.slice);
	EXPECT_EQ(EEXIST, CREATE(NULL, 1));
	EXPECT_EQ(-1, slice_delete(self->sim.fd, info.slice, NULL, 0));
	EXPECT_EQ(EBUSY, errno);
	close(fd);
	EXPECT_EQ(0, slice_delete(self->sim.fd, info.slice, NULL, 0));
	EXPECT_TRUE(sim_wait_free(&self->sim, 8));
	EXPECT_EQ(-1, open_node(info.slice));
}

TEST_F(slice, info_has_mode_files_and_bandwidth)
{
	struct morph_change changes[] = { change_add(0, 1), change_add(1, 0) };
	struct morph_slice_info info;
	int fd, again;

	changes[1].lanes_count = 3;
	strcpy(self->args.name, "told");
	self->args.mode = 0640;
	ASSERT_EQ(0, CREATE(NULL, 2));
	fd = self->args.out_fd;
	ASSERT_EQ(0, slice_info(fd, &info));
	EXPECT_EQ(0640, info.mode);
	EXPECT_EQ(1, info.files);
	EXPECT_EQ(0, info.used_replacements);
	EXPECT_EQ(0, info.bandwidth_mbps);
	ASSERT_EQ(0, txn_run(fd, changes, 2, NULL));
	again = open_node(info.slice);
	ASSERT_LE(0, again);
	ASSERT_EQ(0, slice_info(again, &info));
	EXPECT_EQ(2, info.files);
	EXPECT_EQ(4 * self->sim.info.lane_mbps, info.bandwidth_mbps);
	close(again);
	close(fd);
	EXPECT_EQ(0, slice_delete(self->sim.fd, MORPH_ANY, "told", 0));
	EXPECT_TRUE(sim_wait_free(&self->sim, 8));
}

/* A slice without a name has no node. */
TEST_F(slice, info_of_an_unnamed_slice_has_no_mode)
{
	int fd = slice_create(self->sim.fd, 2);
	struct morph_slice_info info;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, slice_info(fd, &info));
	EXPECT_EQ(0, info.mode);
	EXPECT_EQ(1, info.files);
	close(fd);
}

TEST_F(slice, forced_deletion)
{
	struct pollfd pollfd = { .events = POLLIN };
	struct morph_slice_info info;
	struct morph_event event;
	int fd;

	strcpy(self->args.name, "doomed");
	ASSERT_EQ(0, CREATE(NULL, 2));
	fd = self->args.out_fd;
	EXPECT_EQ(0, slice_delete(self->sim.fd, MORPH_ANY, "doomed", MORPH_SLICE_FORCE));
	pollfd.fd = fd;
	EXPECT_EQ(1, poll(&pollfd, 1, 0));
	EXPECT_EQ(POLLIN | POLLHUP, pollfd.revents);
	/* A reader still gets the queued events, then the file is dead. */
	EXPECT_EQ((ssize_t)sizeof(event), read(fd, &event, sizeof(event)));
	EXPECT_EQ(MORPH_EVENT_SLICE_GONE, event.type);
	EXPECT_EQ(-1, read(fd, &event, sizeof(event)));
	EXPECT_EQ(ENODEV, errno);
	EXPECT_EQ(-1, slice_info(fd, &info));
	EXPECT_EQ(ENODEV, errno);
	EXPECT_EQ(-1, slice_policy(fd, 0));
	EXPECT_EQ(ENODEV, errno);
	EXPECT_TRUE(sim_wait_free(&self->sim, 8));
	EXPECT_EQ(-1, slice_delete(self->sim.fd, MORPH_ANY, "doomed", 0));
	EXPECT_EQ(ENOENT, errno);
	close(fd);
}

TEST_F(slice, delete_names_one_slice)
{
	struct morph_slice_delete args = { .head = HEAD(morph_slice_delete), .slice = 1 };
	int fd = slice_create(self->sim.fd, 1);
	struct morph_slice_info info;

	ASSERT_LE(0, fd);
	strcpy(args.name, "both");
	EXPECT_EQ(-1, ioctl(self->sim.fd, MORPH_SLICE_DELETE, &args));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, slice_delete(self->sim.fd, MORPH_ANY, NULL, 0));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, slice_delete(self->sim.fd, 0x7ffffffe, NULL, 0));
	EXPECT_EQ(ENOENT, errno);
	/* A slice without a name ends only with its last file. */
	ASSERT_EQ(0, slice_info(fd, &info));
	EXPECT_EQ(-1, slice_delete(self->sim.fd, info.slice, NULL, MORPH_SLICE_FORCE));
	EXPECT_EQ(EINVAL, errno);
	close(fd);
}

/* A slice of another fabric is invisible. */
TEST_F(slice, of_another_fabric)
{
	struct sim other;

	sim_start(&other, "server4", NULL);
	strcpy(self->args.name, "elsewhere");
	ASSERT_EQ(0, CREATE(NULL, 1));
	EXPECT_EQ(-1, slice_delete(other.fd, self->args.out_slice, NULL, MORPH_SLICE_FORCE));
	EXPECT_EQ(ENOENT, errno);
	EXPECT_EQ(-1, slice_delete(other.fd, MORPH_ANY, "elsewhere", MORPH_SLICE_FORCE));
	EXPECT_EQ(ENOENT, errno);
	/* Names are local to a fabric. */
	self->args.out_fd = slice_create_with(other.fd, &self->args, NULL, 1);
	EXPECT_LE(0, self->args.out_fd);
	sim_stop(&other);
}

TEST_F(slice, ends_with_its_last_file)
{
	int fd = slice_create(self->sim.fd, 3), copy;

	ASSERT_LE(0, fd);
	copy = dup(fd);
	close(fd);
	sim_refresh(&self->sim);
	EXPECT_EQ(5, self->sim.info.free);
	close(copy);
	EXPECT_TRUE(sim_wait_free(&self->sim, 8));
}

TEST_F(slice, killed_owner)
{
	int ready[2], status;
	pid_t child;
	char byte;

	ASSERT_EQ(0, pipe(ready));
	child = fork();
	if (!child) {
		int fd = slice_create(self->sim.fd, 4);

		if (fd >= 0 && !light_ring(fd, 4))
			byte = write(ready[1], "", 1);
		pause();
	}
	close(ready[1]);
	ASSERT_EQ(1, read(ready[0], &byte, 1));
	EXPECT_FALSE(sim_all_dark(&self->sim));
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	EXPECT_TRUE(sim_wait_free(&self->sim, 8));
	EXPECT_TRUE(sim_all_dark(&self->sim));
}

TEST_F(slice, made_and_ended_many_times)
{
	int fd, i;

	for (i = 0; i < 50; i++) {
		fd = slice_create(self->sim.fd, 8);
		ASSERT_LE(0, fd)
		{
			TH_LOG("round %d: %s", i, last_detail);
		}
		close(fd);
		ASSERT_TRUE(sim_wait_free(&self->sim, 8));
	}
	EXPECT_EQ(0, self->sim.info.slices);
}

TEST_F(slice, policy_is_changed)
{
	int fd = slice_create(self->sim.fd, 1);
	struct morph_slice_info info;

	ASSERT_LE(0, fd);
	EXPECT_EQ(0, slice_policy(fd, MORPH_FAILOVER_NONE));
	ASSERT_EQ(0, slice_info(fd, &info));
	EXPECT_EQ(MORPH_FAILOVER_NONE, info.failover);
	EXPECT_EQ(-1, slice_policy(fd, 3));
	EXPECT_EQ(EOPNOTSUPP, errno);
	close(fd);
}

/* ---------------------------------------------------------------- a whole rack */

FIXTURE(rack)
{
	struct sim sim;
};

FIXTURE_SETUP(rack)
{
	sim_start(&self->sim, "rack64", NULL);
}

FIXTURE_TEARDOWN(rack)
{
	sim_stop(&self->sim);
}

static unsigned int hosts_of(const struct morph_rank_info *ranks, unsigned int count)
{
	unsigned int i, j, hosts = 0;

	for (i = 0; i < count; i++) {
		for (j = 0; j < i && ranks[j].host != ranks[i].host; j++)
			;
		hosts += j == i;
	}
	return hosts;
}

TEST_F(rack, small_slices_fill_hosts_up)
{
	struct morph_rank_info ranks[4];
	struct morph_slice_info info;
	unsigned int host;
	int one, three;

	three = slice_create(self->sim.fd, 3);
	ASSERT_EQ(0, slice_read(three, &info, ranks, 3, NULL, 0));
	EXPECT_EQ(1, hosts_of(ranks, 3));
	host = ranks[0].host;
	one = slice_create(self->sim.fd, 1);
	ASSERT_EQ(0, slice_read(one, &info, ranks, 1, NULL, 0));
	EXPECT_EQ(host, ranks[0].host);
	close(one);
	close(three);
	EXPECT_TRUE(sim_wait_free(&self->sim, 64));
}

TEST_F(rack, big_slices_take_as_few_hosts_as_there_need_be)
{
	struct morph_rank_info ranks[64];
	struct morph_slice_info info;
	int sixteen, rest;

	sixteen = slice_create(self->sim.fd, 16);
	ASSERT_EQ(0, slice_read(sixteen, &info, ranks, 16, NULL, 0));
	EXPECT_EQ(4, hosts_of(ranks, 16));
	rest = slice_create(self->sim.fd, 48);
	ASSERT_LE(0, rest);
	ASSERT_EQ(0, slice_read(rest, &info, ranks, 64, NULL, 0));
	EXPECT_EQ(48, info.ranks.count);
	EXPECT_EQ(12, hosts_of(ranks, 48));
	EXPECT_EQ(-1, slice_create(self->sim.fd, 1));
	EXPECT_EQ(ENOSPC, errno);
	close(sixteen);
	close(rest);
	EXPECT_TRUE(sim_wait_free(&self->sim, 64));
}

FIXTURE(pod)
{
	struct sim sim;
};

FIXTURE_SETUP(pod)
{
	sim_start(&self->sim, "pod4096", "settle_ns=0 relock_ns=0 write_ns=0");
}

FIXTURE_TEARDOWN(pod)
{
	sim_stop(&self->sim);
}

#define ROUNDS 6
#define CREATORS 4

/* Create and close slices. Return whether each failure was a lack of accelerators. */
static bool create_repeatedly(const struct sim *sim, unsigned int ranks)
{
	unsigned int round;
	int slice;

	for (round = 0; round < ROUNDS; round++) {
		slice = slice_create(sim->fd, ranks);
		if (slice < 0 && errno != ENOSPC)
			return false;
		if (slice >= 0)
			close(slice);
	}
	return true;
}

/*
 * The core takes many accelerators in several holds of its lock. Two big slices do not fit at once,
 * and small ones take accelerators between the holds. A creation that fails gives all back.
 */
TEST_F_TIMEOUT(pod, big_slices_beside_others, 150)
{
	static const unsigned int ranks[CREATORS] = { 3072, 3072, 2, 2 };
	pid_t children[CREATORS];
	unsigned int all = self->sim.info.free, i;
	int slice, status;

	ASSERT_LT(ranks[0], all);
	for (i = 0; i < CREATORS; i++) {
		children[i] = fork();
		if (!children[i])
			_exit(create_repeatedly(&self->sim, ranks[i]) ? 0 : 1);
	}
	for (i = 0; i < CREATORS; i++) {
		EXPECT_EQ(children[i], waitpid(children[i], &status, 0));
		EXPECT_EQ(0, status)
		{
			TH_LOG("%u ranks", ranks[i]);
		}
	}
	EXPECT_TRUE(sim_wait_free(&self->sim, all));
	slice = slice_create(self->sim.fd, all);
	EXPECT_LE(0, slice);
	close(slice);
}

TEST_HARNESS_MAIN

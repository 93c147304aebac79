// SPDX-License-Identifier: GPL-2.0-only
/* Tokens go out and come back over light that the ranks requested themselves. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "moe.h"

#define SETTLING "settle_ns=1000000 relock_ns=100000 write_ns=0"
#define LATE_NS 300000000ull

FIXTURE(moe)
{
	struct world *world;
	pid_t processes[RANKS];
};

FIXTURE_SETUP(moe)
{
	struct morph_slice_info info;
	struct morph_rank_info ranks[RANKS];
	uint32_t rank;

	self->world = mmap(NULL, sizeof(*self->world), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->world);
	sim_start(&self->world->sim, "server8", SETTLING);
	ASSERT_LE(LANES, self->world->sim.info.wavelengths);
	self->world->slice = slice_create(self->world->sim.fd, RANKS);
	ASSERT_LE(0, self->world->slice);
	ASSERT_EQ(0, slice_read(self->world->slice, &info, ranks, RANKS, NULL, 0));
	for (rank = 0; rank < RANKS; rank++)
		self->world->accelerator[rank] = ranks[rank].accelerator;
	self->world->iterations = 1;
}

FIXTURE_TEARDOWN(moe)
{
	close(self->world->slice);
	EXPECT_TRUE(WAIT_UNTIL(sim_all_dark(&self->world->sim)));
	sim_stop(&self->world->sim);
	munmap(self->world, sizeof(*self->world));
}

/* Prepare the schedule as the elected rank, then start a process for each participating rank. */
static bool begin(struct world *world, pid_t *processes)
{
	uint32_t rank;

	if (plan_load(world) ||
	    schedule_act(world->slice, world->schedule, MORPH_SCHEDULE_START, NULL)) {
		printf("# %s\n", last_detail);
		return false;
	}
	fflush(stdout);
	for (rank = 0; rank < RANKS; rank++) {
		processes[rank] = world->absent[rank] ? 0 : fork();
		if (!processes[rank] && !world->absent[rank])
			rank_run(world, rank);
	}
	return true;
}

/* All processes have ended by themselves. */
static bool ended(const pid_t *processes)
{
	bool well = true;
	uint32_t rank;
	int status;

	for (rank = 0; rank < RANKS; rank++)
		if (processes[rank] > 0)
			well &= waitpid(processes[rank], &status, 0) == processes[rank] && !status;
	return well;
}

static uint32_t sum(const uint32_t *numbers)
{
	uint32_t rank, total = 0;

	for (rank = 0; rank < RANKS; rank++)
		total += numbers[rank];
	return total;
}

static struct morph_schedule_info schedule_info(const struct world *world)
{
	struct morph_schedule_info info = {
		.head = HEAD(morph_schedule_info),
		.schedule = world->schedule,
	};

	ioctl(world->slice, MORPH_SCHEDULE_INFO, &info);
	return info;
}

TEST_F_TIMEOUT(moe, tokens_come_back_from_all_experts_over_light, 200)
{
	struct world *world = self->world;

	world->iterations = 2;
	ASSERT_TRUE(begin(world, self->processes));
	EXPECT_TRUE(ended(self->processes));
	EXPECT_EQ(0, sum(world->wrong));
	EXPECT_EQ(0, sum(world->lost));
	EXPECT_EQ(0, sum(world->stopped));
	EXPECT_LT(RANKS * ITEMS, sum(world->carried));
	EXPECT_LE(world->iterations * STEPS, schedule_info(world).position);
	TH_LOG("%u tokens to %u experts each and back, %u times: %u items over light, %u lost",
	       RANKS * TOKENS, CHOICES, world->iterations, sum(world->carried), sum(world->lost));
}

TEST_F_TIMEOUT(moe, ranks_with_nothing_to_send_are_not_waited_for, 200)
{
	struct world *world = self->world;

	world->absent[2] = world->absent[5] = true;
	ASSERT_TRUE(begin(world, self->processes));
	EXPECT_TRUE(ended(self->processes));
	EXPECT_EQ(0, sum(world->wrong));
	EXPECT_EQ(0, sum(world->lost));
	EXPECT_LE(world->iterations * STEPS, schedule_info(world).position);
}

/*
 * Check that the receivers detect a rank that does not wait; otherwise the tests above prove
 * nothing.
 */
TEST_F_TIMEOUT(moe, what_is_sent_before_there_is_light_is_lost, 200)
{
	struct world *world = self->world;

	world->hasty[3] = true;
	ASSERT_TRUE(begin(world, self->processes));
	EXPECT_TRUE(ended(self->processes));
	EXPECT_NE(0, world->lost[3]);
	EXPECT_EQ(world->lost[3], sum(world->lost));
	EXPECT_NE(0, sum(world->wrong));
}

/* Moving elements of a rank's tile settle later than the profile says. */
static void be_late(const struct world *world, uint32_t rank)
{
	struct morph_element_info element;
	uint32_t at;

	for (at = 0; at < world->sim.info.elements; at++) {
		if (fabric_read(world->sim.fd, MORPH_FABRIC_READ_ELEMENTS, at,
				(struct morph_array)ARRAY(&element, 1)) != 1)
			continue;
		if (element.tile == world->accelerator[rank])
			sim_control(&world->sim, "fault", "element_slow %u ns=%llu", at, LATE_NS);
	}
}

TEST_F_TIMEOUT(moe, light_that_settles_late_stops_the_schedule_and_nothing_is_sent, 200)
{
	struct world *world = self->world;
	struct morph_schedule_info info;

	/* Otherwise a repair would reroute the circuits. */
	ASSERT_EQ(0, slice_policy(world->slice, MORPH_FAILOVER_NONE));
	ASSERT_TRUE(begin(world, self->processes));
	be_late(world, 6);
	EXPECT_TRUE(ended(self->processes));
	info = schedule_info(world);
	EXPECT_EQ(MORPH_SCHEDULE_STOPPED, info.state);
	EXPECT_NE(0, info.error);
	EXPECT_NE(0, sum(world->stopped));
	EXPECT_EQ(0, sum(world->lost));
	TH_LOG("step %u stopped with %s; %u items had gone, %u were lost", info.failed_step,
	       strerror(-info.error), sum(world->carried), sum(world->lost));
}

TEST_HARNESS_MAIN

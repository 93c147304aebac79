// SPDX-License-Identifier: GPL-2.0-only
/* Failover: accelerators die, spares replace them, and ranks keep their numbers. */
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "fabric.h"
#include "kselftest_harness.h"

#define RANKS 4
#define SPARES 2 /* spares of server8: accelerators 8 and 9 */

FIXTURE(failover)
{
	struct sim sim;
	int slice;
	struct morph_slice_info info;
	struct morph_rank_info ranks[RANKS];
	struct morph_circuit_info circuits[RANKS];
};

FIXTURE_SETUP(failover)
{
	static const uint32_t wanted[RANKS] = { 0, 1, 5, 4 };

	sim_start(&self->sim, "server8", NULL);
	self->slice = slice_create_at(self->sim.fd, wanted, RANKS);
	ASSERT_LE(0, self->slice);
	ASSERT_EQ(0, light_ring(self->slice, RANKS));
}

FIXTURE_TEARDOWN(failover)
{
	close(self->slice);
	sim_stop(&self->sim);
}

#define READ_SLICE() \
	ASSERT_EQ(0, \
		  slice_read(self->slice, &self->info, self->ranks, RANKS, self->circuits, RANKS))
#define KILL(accelerator) \
	ASSERT_EQ(0, sim_control(&self->sim, "fault", "accelerator_dead %u", accelerator))
#define REVIVE_ALL() ASSERT_EQ(0, sim_control(&self->sim, "clear", "all"))
#define WAIT(type, event) ASSERT_EQ(0, wait_event(self->slice, type, PATIENCE_MS, event))

/* Both spares die, then the accelerator of rank 1: no accelerator can replace it. */
#define DEGRADE(event)                                                        \
	({                                                                    \
		KILL(8);                                                      \
		KILL(9);                                                      \
		ASSERT_TRUE(wait_health(&self->sim, 8, MORPH_HEALTH_FAILED)); \
		ASSERT_TRUE(wait_health(&self->sim, 9, MORPH_HEALTH_FAILED)); \
		KILL(1);                                                      \
		WAIT(MORPH_EVENT_DEGRADED, event);                            \
	})

/* The ring is as before, except for the accelerators of the ranks. */
#define EXPECT_WHOLE_RING()                                                                    \
	({                                                                                     \
		unsigned int __i;                                                              \
                                                                                               \
		READ_SLICE();                                                                  \
		EXPECT_EQ(MORPH_SLICE_OK, self->info.state);                                   \
		ASSERT_EQ(RANKS, self->info.circuits.count);                                   \
		for (__i = 0; __i < RANKS; __i++) {                                            \
			EXPECT_EQ(__i, self->circuits[__i].src_rank);                          \
			EXPECT_EQ((__i + 1) % RANKS, self->circuits[__i].dst_rank);            \
			EXPECT_EQ(MORPH_CIRCUIT_LIT, self->circuits[__i].state);               \
			EXPECT_NE(0, sim_lit_lanes(&self->sim, self->ranks[__i].accelerator)); \
		}                                                                              \
	})

TEST_F(failover, spare_takes_the_place)
{
	struct morph_event failing, replaced;
	uint64_t generation;
	unsigned int phase;

	READ_SLICE();
	generation = self->info.generation;
	KILL(1);
	WAIT(MORPH_EVENT_FAILING, &failing);
	EXPECT_EQ(1, failing.rank);
	EXPECT_EQ(1, failing.old_accelerator);
	EXPECT_EQ(MORPH_PART_ACCELERATOR, failing.part);
	EXPECT_EQ(1, failing.index);
	EXPECT_EQ(MORPH_SLICE_REPAIRING, failing.state);
	WAIT(MORPH_EVENT_REPLACED, &replaced);
	EXPECT_EQ(1, replaced.rank);
	EXPECT_EQ(1, replaced.old_accelerator);
	EXPECT_TRUE(replaced.new_accelerator == 8 || replaced.new_accelerator == 9);
	EXPECT_LT(generation, replaced.generation);
	EXPECT_LE(failing.time_ns, replaced.time_ns);
	EXPECT_NE(0, replaced.dark_ns);
	for (phase = 0; phase < MORPH_PHASE_NOTIFY; phase++)
		EXPECT_NE(0, replaced.times.phase_ns[phase])
		{
			TH_LOG("phase %u", phase);
		}
	EXPECT_LE(self->sim.info.settle_ns + self->sim.info.relock_ns, replaced.times.modelled_ns);
	ASSERT_TRUE(slice_wait_state(self->slice, MORPH_SLICE_OK));
	EXPECT_WHOLE_RING();
	EXPECT_EQ(replaced.new_accelerator, self->ranks[1].accelerator);
	EXPECT_EQ(1, self->ranks[1].replacements);
	EXPECT_EQ(0, self->ranks[0].replacements);
	EXPECT_EQ(MORPH_HEALTH_OK, self->ranks[1].health);
	EXPECT_EQ(MORPH_HEALTH_FAILED, read_accelerator(&self->sim, 1).health);
	EXPECT_EQ(0, sim_lit_lanes(&self->sim, 1));
}

/* The earlier plans are now stale. */
TEST_F(failover, generation_is_checked_afterwards)
{
	struct morph_txn_run args = {};
	struct morph_change change = change_add(0, 2);

	READ_SLICE();
	args.generation = self->info.generation;
	KILL(5);
	WAIT(MORPH_EVENT_REPLACED, NULL);
	ASSERT_TRUE(slice_wait_state(self->slice, MORPH_SLICE_OK));
	EXPECT_EQ(-1, txn_run(self->slice, &change, 1, &args));
	EXPECT_EQ(ESTALE, errno);
	args.generation = args.out_generation;
	EXPECT_EQ(0, txn_run(self->slice, &change, 1, &args))
	{
		TH_LOG("%s", last_detail);
	}
}

TEST_F(failover, two_at_once)
{
	KILL(0);
	KILL(5);
	WAIT(MORPH_EVENT_REPLACED, NULL);
	WAIT(MORPH_EVENT_REPLACED, NULL);
	ASSERT_TRUE(slice_wait_state(self->slice, MORPH_SLICE_OK));
	EXPECT_WHOLE_RING();
	EXPECT_LE(8, self->ranks[0].accelerator);
	EXPECT_LE(8, self->ranks[2].accelerator);
}

/* The spare that replaced the accelerator dies as well. */
TEST_F(failover, spare_dies_too)
{
	struct morph_event event;

	KILL(4);
	WAIT(MORPH_EVENT_REPLACED, &event);
	EXPECT_EQ(3, event.rank);
	KILL(event.new_accelerator);
	WAIT(MORPH_EVENT_REPLACED, &event);
	EXPECT_EQ(3, event.rank);
	ASSERT_TRUE(slice_wait_state(self->slice, MORPH_SLICE_OK));
	EXPECT_WHOLE_RING();
	EXPECT_EQ(2, self->ranks[3].replacements);
}

/* The driver does not use spares that died while idle. */
TEST_F(failover, dead_spares_are_passed_over)
{
	struct morph_event event;

	KILL(8);
	ASSERT_TRUE(wait_health(&self->sim, 8, MORPH_HEALTH_FAILED));
	KILL(0);
	WAIT(MORPH_EVENT_REPLACED, &event);
	EXPECT_EQ(9, event.new_accelerator);
}

TEST_F(failover, no_spare_is_left_and_then_it_comes_back)
{
	struct morph_event event;

	DEGRADE(&event);
	EXPECT_EQ(MORPH_PART_ACCELERATOR, event.part);
	EXPECT_EQ(1, event.index);
	/* Two of four circuits are lit. */
	EXPECT_EQ(2 * self->sim.info.lane_mbps, event.bandwidth_mbps);
	READ_SLICE();
	EXPECT_EQ(MORPH_SLICE_DEGRADED, self->info.state);
	EXPECT_EQ(MORPH_CIRCUIT_FAILED, self->circuits[0].state);
	EXPECT_EQ(MORPH_CIRCUIT_FAILED, self->circuits[1].state);
	EXPECT_EQ(MORPH_CIRCUIT_LIT, self->circuits[2].state);
	EXPECT_EQ(MORPH_CIRCUIT_LIT, self->circuits[3].state);
	REVIVE_ALL();
	WAIT(MORPH_EVENT_RECOVERED, &event);
	EXPECT_WHOLE_RING();
}

/* Each repair that ends with a different bandwidth, lower or higher, is reported. */
TEST_F(failover, remaining_bandwidth_is_reported_again)
{
	struct morph_event event;

	DEGRADE(&event);
	EXPECT_EQ(2 * self->sim.info.lane_mbps, event.bandwidth_mbps);
	KILL(5);
	WAIT(MORPH_EVENT_DEGRADED, &event);
	EXPECT_EQ(self->sim.info.lane_mbps, event.bandwidth_mbps);
	ASSERT_EQ(0, sim_control(&self->sim, "clear", "4"));
	WAIT(MORPH_EVENT_DEGRADED, &event);
	EXPECT_EQ(2 * self->sim.info.lane_mbps, event.bandwidth_mbps);
	REVIVE_ALL();
	WAIT(MORPH_EVENT_RECOVERED, &event);
	EXPECT_WHOLE_RING();
}

/* Whether a message of the kernel after the place of @log contains the text. */
static int log_has(int log, const char *text)
{
	char record[8192];
	ssize_t bytes;

	while ((bytes = read(log, record, sizeof(record) - 1)) > 0 || errno == EPIPE) {
		record[bytes > 0 ? bytes : 0] = '\0';
		if (strstr(record, text))
			return 1;
	}
	return 0;
}

/* The driver writes these messages soon after the event: a slow console would delay a failover. */
TEST_F(failover, log_names_failures_replacements_and_degradations)
{
	int log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct morph_event event;
	uint32_t spare;
	char text[128];

	ASSERT_LE(0, log);
	sleep(6); /* The driver writes 10 of each message in 5 s. */
	ASSERT_LE(0, lseek(log, 0, SEEK_END));
	READ_SLICE();
	KILL(1);
	WAIT(MORPH_EVENT_REPLACED, &event);
	snprintf(text, sizeof(text), "accelerator 1 (PCI unknown) failed: slice %u, rank 1",
		 self->info.slice);
	EXPECT_TRUE(WAIT_UNTIL(log_has(log, text)));
	snprintf(text, sizeof(text),
		 "slice %u, rank 1: accelerator 1 (PCI unknown) replaced by %u (PCI unknown)",
		 self->info.slice, event.new_accelerator);
	EXPECT_TRUE(WAIT_UNTIL(log_has(log, text)));
	spare = event.new_accelerator == 8 ? 9 : 8;
	KILL(spare);
	ASSERT_TRUE(wait_health(&self->sim, spare, MORPH_HEALTH_FAILED));
	snprintf(text, sizeof(text), "accelerator %u (PCI unknown) failed: in no slice", spare);
	EXPECT_TRUE(WAIT_UNTIL(log_has(log, text)));
	KILL(5);
	WAIT(MORPH_EVENT_DEGRADED, &event);
	snprintf(text, sizeof(text), "slice %u: degraded to %llu Mb/s by accelerator 5",
		 self->info.slice, (unsigned long long)event.bandwidth_mbps);
	EXPECT_TRUE(WAIT_UNTIL(log_has(log, text)));
	close(log);
}

TEST_F(failover, manual)
{
	struct morph_rank_act act;
	struct morph_event event;

	ASSERT_EQ(0, slice_policy(self->slice, MORPH_FAILOVER_MANUAL));
	KILL(1);
	WAIT(MORPH_EVENT_FAILING, NULL);
	WAIT(MORPH_EVENT_DEGRADED, &event);
	READ_SLICE();
	EXPECT_EQ(1, self->ranks[1].accelerator);
	ASSERT_EQ(0, rank_act(self->slice, MORPH_RANK_REPLACE, 1, MORPH_ANY, &act))
	{
		TH_LOG("%s", last_detail);
	}
	EXPECT_EQ(MORPH_SLICE_OK, act.out_state);
	EXPECT_EQ(MORPH_HEALTH_FAILED, act.out_health);
	EXPECT_WHOLE_RING();
	EXPECT_LE(8, self->ranks[1].accelerator);
}

TEST_F(failover, none)
{
	struct morph_change change;

	ASSERT_EQ(0, slice_policy(self->slice, MORPH_FAILOVER_NONE));
	KILL(1);
	WAIT(MORPH_EVENT_DEGRADED, NULL);
	READ_SLICE();
	EXPECT_EQ(MORPH_SLICE_DEGRADED, self->info.state);
	EXPECT_EQ(1, self->ranks[1].accelerator);
	sim_refresh(&self->sim);
	EXPECT_EQ(SPARES, self->sim.info.spares);
	/* The other circuits can still be changed. */
	change = change_remove(self->circuits[2].circuit);
	EXPECT_EQ(0, txn_run(self->slice, &change, 1, NULL));
}

/* ------------------------------------------------------------- requested by name */

TEST_F(failover, replace_a_healthy_one)
{
	struct morph_rank_act act;
	struct morph_event event;

	ASSERT_EQ(0, rank_act(self->slice, MORPH_RANK_REPLACE, 2, 9, &act));
	EXPECT_EQ(MORPH_SLICE_OK, act.out_state);
	WAIT(MORPH_EVENT_REPLACED, &event);
	EXPECT_EQ(2, event.rank);
	EXPECT_EQ(5, event.old_accelerator);
	EXPECT_EQ(9, event.new_accelerator);
	EXPECT_WHOLE_RING();
	EXPECT_EQ(9, self->ranks[2].accelerator);
	/* The report made it suspect: after a test it is available again. */
	EXPECT_TRUE(wait_health(&self->sim, 5, MORPH_HEALTH_OK));
}

TEST_F(failover, wrong_replacements)
{
	EXPECT_EQ(-1, rank_act(self->slice, MORPH_RANK_REPLACE, RANKS, MORPH_ANY, NULL));
	EXPECT_EQ(ENOENT, errno);
	EXPECT_EQ(-1, rank_act(self->slice, MORPH_RANK_REPLACE, 0, 10, NULL));
	EXPECT_EQ(ENOENT, errno);
	EXPECT_EQ(-1, rank_act(self->slice, MORPH_RANK_REPLACE, 0, 1, NULL));
	EXPECT_EQ(EBUSY, errno);
	KILL(8);
	ASSERT_TRUE(wait_health(&self->sim, 8, MORPH_HEALTH_FAILED));
	EXPECT_EQ(-1, rank_act(self->slice, MORPH_RANK_REPLACE, 0, 8, NULL));
	EXPECT_EQ(EBUSY, errno);
	READ_SLICE();
	EXPECT_EQ(0, self->ranks[0].accelerator);
	EXPECT_EQ(0, self->ranks[0].replacements);
}

TEST_F(failover, report_of_a_healthy_one)
{
	struct morph_rank_act act;

	ASSERT_EQ(0, rank_act(self->slice, MORPH_RANK_REPORT, 2, 0, &act));
	EXPECT_EQ(MORPH_SLICE_OK, act.out_state);
	EXPECT_EQ(MORPH_HEALTH_OK, act.out_health);
	READ_SLICE();
	EXPECT_EQ(5, self->ranks[2].accelerator);
	EXPECT_EQ(-1, rank_act(self->slice, MORPH_RANK_REPORT, 2, 9, NULL));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, rank_act(self->slice, MORPH_RANK_REPORT, RANKS, 0, NULL));
	EXPECT_EQ(ENOENT, errno);
}

/* The provider reports nothing for a minute, so the tenant reports the failure first. */
TEST_F(failover, report_of_a_dead_one)
{
	struct morph_rank_act act;
	struct sim slow;
	int slice;

	sim_start(&slow, "server8", "monitor_ns=60000000000");
	slice = slice_create(slow.fd, 2);
	ASSERT_LE(0, slice);
	ASSERT_EQ(0, light_ring(slice, 2));
	ASSERT_EQ(0, sim_control(&slow, "fault", "accelerator_dead 0"));
	ASSERT_EQ(0, rank_act(slice, MORPH_RANK_REPORT, 0, 0, &act))
	{
		TH_LOG("%s", last_detail);
	}
	EXPECT_EQ(MORPH_SLICE_OK, act.out_state);
	EXPECT_EQ(MORPH_HEALTH_FAILED, act.out_health);
	ASSERT_EQ(0, slice_read(slice, &self->info, self->ranks, RANKS, NULL, 0));
	EXPECT_LE(8, self->ranks[0].accelerator);
	close(slice);
	sim_stop(&slow);
}

/* ---------------------------------------------------------------- which spares */

TEST_F(failover, reserved_spare_is_the_slice_s_own)
{
	struct morph_slice_create args = { .head.flags = MORPH_SLICE_RESERVED };
	struct morph_event event;
	int own;

	own = slice_create_with(self->sim.fd, &args, NULL, 2);
	ASSERT_LE(0, own);
	sim_refresh(&self->sim);
	ASSERT_EQ(1, self->sim.info.spares);
	/* The other ranks have one spare left, and then none. */
	KILL(0);
	WAIT(MORPH_EVENT_REPLACED, &event);
	KILL(1);
	WAIT(MORPH_EVENT_DEGRADED, NULL);
	ASSERT_EQ(0, slice_read(own, &self->info, self->ranks, RANKS, NULL, 0));
	KILL(self->ranks[0].accelerator);
	ASSERT_EQ(0, wait_event(own, MORPH_EVENT_REPLACED, PATIENCE_MS, &event));
	EXPECT_LE(8, event.new_accelerator);
	close(own);
}

TEST_F(failover, listed_spares_only)
{
	static const uint32_t listed[] = { 9 };
	struct morph_slice_create args = {
		.spare_policy = MORPH_SPARES_LIST,
		.spares = ARRAY(listed, 1),
	};
	struct morph_event event;
	int own;

	own = slice_create_with(self->sim.fd, &args, NULL, 2);
	ASSERT_LE(0, own);
	ASSERT_EQ(0, slice_read(own, &self->info, self->ranks, RANKS, NULL, 0));
	KILL(self->ranks[0].accelerator);
	ASSERT_EQ(0, wait_event(own, MORPH_EVENT_REPLACED, PATIENCE_MS, &event));
	EXPECT_EQ(9, event.new_accelerator);
	KILL(self->ranks[1].accelerator);
	ASSERT_EQ(0, wait_event(own, MORPH_EVENT_DEGRADED, PATIENCE_MS, &event));
	close(own);
}

/* A prepared transaction yields to a failover. */
TEST_F(failover, prepared_is_revoked)
{
	struct morph_txn_run args = {
		.head.flags = MORPH_TXN_PREPARE,
		.generation = GENERATION_ANY,
		.lease_ns = 600000000000ULL,
	};
	struct morph_change change = change_add(0, 2);
	struct morph_txn_step step;

	ASSERT_EQ(0, txn_run(self->slice, &change, 1, &args));
	KILL(1);
	WAIT(MORPH_EVENT_REPLACED, NULL);
	ASSERT_TRUE(slice_wait_state(self->slice, MORPH_SLICE_OK));
	EXPECT_EQ(-1, txn_step(self->slice, args.out_txn, MORPH_TXN_COMMIT, 0, &step));
	EXPECT_EQ(ECANCELED, errno);
	EXPECT_EQ(MORPH_OUTCOME_REVOKED, step.out_outcome);
	EXPECT_WHOLE_RING();
}

/* ------------------------------------------------------------------ a whole rack */

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

/* Of eight spares the kernel would not choose the last one. */
TEST_F(rack, preferred_spare_takes_over)
{
	struct morph_rank_info ranks[4];
	struct morph_slice_info info;
	struct morph_event event;
	int slice = slice_create(self->sim.fd, 4);

	ASSERT_LE(0, slice);
	ASSERT_EQ(0, light_ring(slice, 4));
	ASSERT_EQ(0, rank_act(slice, MORPH_RANK_PREFER, 2, 71, NULL));
	ASSERT_EQ(0, slice_read(slice, &info, ranks, 4, NULL, 0));
	ASSERT_EQ(0, sim_control(&self->sim, "fault", "accelerator_dead %u", ranks[2].accelerator));
	ASSERT_EQ(0, wait_event(slice, MORPH_EVENT_REPLACED, PATIENCE_MS, &event));
	EXPECT_EQ(71, event.new_accelerator);
	EXPECT_TRUE(slice_wait_state(slice, MORPH_SLICE_OK));
	close(slice);
}

/* No server of the rack has spares of its own: the spare servers (64 to 71) supply them. */
TEST_F(rack, spare_server_gives_the_spare)
{
	struct morph_rank_info ranks[4];
	struct morph_slice_info info;
	struct morph_event event;
	int slice = slice_create(self->sim.fd, 4);

	ASSERT_LE(0, slice);
	ASSERT_EQ(0, light_ring(slice, 4));
	ASSERT_EQ(0, slice_read(slice, &info, ranks, 4, NULL, 0));
	ASSERT_EQ(0, sim_control(&self->sim, "fault", "accelerator_dead %u", ranks[2].accelerator));
	ASSERT_EQ(0, wait_event(slice, MORPH_EVENT_REPLACED, PATIENCE_MS, &event));
	EXPECT_EQ(2, event.rank);
	EXPECT_LE(64, event.new_accelerator);
	EXPECT_NE(event.old_host, event.new_host);
	EXPECT_TRUE(slice_wait_state(slice, MORPH_SLICE_OK));
	close(slice);
}

TEST_HARNESS_MAIN

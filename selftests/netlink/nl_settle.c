// SPDX-License-Identifier: GPL-2.0-only
/*
 * The light of one tenant takes long to settle, and no other tenant waits for it. The clock is
 * stepped: the tenant waits until the test advances the clock. The test counts the time of the
 * others in the device's own time.
 */
#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>

#include "fabric.h"
#include "kselftest_harness.h"
#include "nl.h"
#include "runner.h"

#define SETTLE_NS 90000000
/* Within the profile's deadline for light, although the core reads in ever longer intervals. */
#define SLOW_NS 50000000

/* Wait until @count operations wait for the device. */
static bool held(const struct sim *sim, int count)
{
	return sim_wait_counter(sim, "ops", "in_flight", count);
}

/* Advance the device's time by half a settle time. */
static int half(struct sim *sim)
{
	return sim_control(sim, "advance", "%d", SETTLE_NS / 2);
}

/* A condition for halves_until(). */
typedef bool (*seen_fn)(void *what);

static bool has_ended(void *what)
{
	return atomic_load(&((struct runner *)what)->done);
}

/*
 * Advance the time by half settle times until the condition holds; return their number. Before
 * each, wait until the condition holds or @others + 1 operations wait for the device.
 */
static int halves_until(struct sim *sim, seen_fn seen, void *what, int others)
{
	long long until = now_ms() + PATIENCE_MS;
	int halves = 0;

	while (now_ms() < until) {
		if (seen(what))
			return halves;
		if (sim_counter(sim, "ops", "in_flight") <= others) {
			usleep(1000);
			continue;
		}
		if (half(sim))
			return -1;
		halves++;
	}
	return -1;
}

/* ------------------------------------------------- one waits, the others take no time */

/* The elements of one tenant are slow, and all others settle at once: only that tenant waits. */
FIXTURE(slow)
{
	struct sim sim;
	struct nl nl;
	struct runner slow; /* accelerators 0 and 3: its light crosses the tiles of other tenants */
	int others[3]; /* 1 and 2; 4 and 5; 6 and 7 */
};

/* Make the elements of the path slow, and start the change. */
static int hold(struct sim *sim, struct runner *slow)
{
	struct morph_path_element elements[64];
	struct morph_change change = change_add(0, 1);
	struct morph_circuit_path path = {
		.head = HEAD(morph_circuit_path),
		.elements = ARRAY(elements, 64),
	};
	unsigned int i;

	if (txn_run(slow->slice, &change, 1, NULL))
		return errno;
	path.circuit = change.circuit;
	if (ioctl(slow->slice, MORPH_CIRCUIT_PATH, &path))
		return errno;
	change = change_remove(change.circuit);
	if (txn_run(slow->slice, &change, 1, NULL))
		return errno;
	/* Parked elements that need not turn would take no longer, so flip them. */
	for (i = 0; i < path.elements.count; i++) {
		sim_control(sim, "fault", "element_slow %u ns=%d", elements[i].element, SLOW_NS);
		sim_control(sim, "flip", "%u %u", elements[i].element, !elements[i].state);
	}
	if (runner_add(slow, 0, 1))
		return EAGAIN;
	return held(sim, 1) ? 0 : ETIME;
}

FIXTURE_SETUP(slow)
{
	static const uint32_t wanted[][2] = { { 1, 2 }, { 4, 5 }, { 6, 7 }, { 0, 3 } };
	int i;

	sim_start(&self->sim, "server8", "clock=stepped settle_ns=0 relock_ns=0 write_ns=0");
	ASSERT_EQ(0, nl_open(&self->nl));
	for (i = 0; i < 3; i++) {
		self->others[i] = slice_create_at(self->sim.fd, wanted[i], 2);
		ASSERT_LE(0, self->others[i]);
	}
	self->slow.slice = slice_create_at(self->sim.fd, wanted[3], 2);
	ASSERT_LE(0, self->slow.slice);
	ASSERT_EQ(0, hold(&self->sim, &self->slow));
}

/* Only now the device's time advances, and the change succeeds: it was waiting, not broken. */
FIXTURE_TEARDOWN(slow)
{
	int i;

	EXPECT_FALSE(atomic_load(&self->slow.done));
	/* The driver may read in the middle of a step, and wait once more. */
	EXPECT_LT(0, halves_until(&self->sim, has_ended, &self->slow, 0));
	EXPECT_EQ(0, runner_join(&self->slow));
	close(self->slow.slice);
	for (i = 0; i < 3; i++)
		if (self->others[i] >= 0)
			close(self->others[i]);
	nl_close(&self->nl);
	sim_stop(&self->sim);
}

TEST_F(slow, other_slices_commit)
{
	struct morph_change change;
	int i;

	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, light_ring(self->others[i], 2))
		{
			TH_LOG("tenant %d: %s", i, last_detail);
		}
		change = change_add(0, 1);
		EXPECT_EQ(0, txn_run(self->others[i], &change, 1, NULL));
		change = change_remove(change.circuit);
		EXPECT_EQ(0, txn_run(self->others[i], &change, 1, NULL));
		EXPECT_FALSE(atomic_load(&self->slow.done));
	}
}

TEST_F(slow, other_slices_prepare_commit_and_confirm)
{
	struct morph_txn_run args = {
		.head.flags = MORPH_TXN_PREPARE,
		.generation = GENERATION_ANY,
		.lease_ns = 600000000000,
	};
	struct morph_change change = change_add(0, 1);

	ASSERT_EQ(0, txn_run(self->others[0], &change, 1, &args));
	EXPECT_EQ(0, txn_step(self->others[0], args.out_txn, MORPH_TXN_COMMIT, 0, NULL));
	EXPECT_EQ(0, txn_step(self->others[0], args.out_txn, MORPH_TXN_CONFIRM, 0, NULL));
}

TEST_F(slow, other_slices_fail_over)
{
	struct morph_event event;
	int i;

	for (i = 1; i < 3; i++) {
		ASSERT_EQ(0, light_ring(self->others[i], 2));
		ASSERT_EQ(0, sim_control(&self->sim, "fault", "accelerator_dead %d", 2 + 2 * i));
		EXPECT_EQ(0,
			  wait_event(self->others[i], MORPH_EVENT_REPLACED, PATIENCE_MS, &event));
		EXPECT_TRUE(slice_wait_state(self->others[i], MORPH_SLICE_OK));
	}
}

TEST_F(slow, slices_come_and_go)
{
	ASSERT_EQ(0, light_ring(self->others[2], 2));
	close(self->others[2]);
	/* A released accelerator is dark: the driver has read that from the device. */
	EXPECT_TRUE(sim_wait_free(&self->sim, 2));
	self->others[2] = slice_create(self->sim.fd, 2);
	EXPECT_LE(0, self->others[2]);
}

TEST_F(slow, administrators_cordon_fail_and_test)
{
	unsigned int laser = 8 * self->sim.info.planes, txn;
	struct nl *nl = &self->nl;

	nl_on_part(nl, MORPH_CMD_HARDWARE_SET, self->sim.number, MORPH_PART_ACCELERATOR, 6);
	nl_put_u8(nl, MORPH_A_HARDWARE_CORDONED, 1);
	EXPECT_EQ(0, nl_do(nl));
	nl_on_part(nl, MORPH_CMD_HARDWARE_FAIL, self->sim.number, MORPH_PART_LASER, laser);
	EXPECT_EQ(0, nl_do(nl));
	nl_on_part(nl, MORPH_CMD_HARDWARE_TEST, self->sim.number, MORPH_PART_LASER, laser);
	ASSERT_EQ(0, nl_do(nl));
	txn = REPLY_U32(nl, MORPH_A_HARDWARE_TXN);
	EXPECT_EQ(MORPH_OUTCOME_COMMITTED, nl_wait_outcome(nl, self->sim.number, txn));
}

TEST_F(slow, administrators_change_circuits_and_replace)
{
	struct morph_slice_info info;
	unsigned int txn;

	ASSERT_EQ(0, slice_info(self->others[1], &info));
	nl_apply(&self->nl, self->sim.number, info.slice);
	nl_put_add(&self->nl, 0, 1);
	ASSERT_EQ(0, nl_do(&self->nl));
	txn = REPLY_U32(&self->nl, MORPH_A_TXN_ID);
	EXPECT_EQ(MORPH_OUTCOME_COMMITTED, nl_wait_outcome(&self->nl, self->sim.number, txn));
	nl_begin(&self->nl, MORPH_CMD_REPLACE, 0);
	nl_put_u32(&self->nl, MORPH_A_REPLACE_FABRIC, self->sim.number);
	nl_put_u32(&self->nl, MORPH_A_REPLACE_SLICE, info.slice);
	nl_put_u32(&self->nl, MORPH_A_REPLACE_RANK, 1);
	ASSERT_EQ(0, nl_do(&self->nl));
	txn = REPLY_U32(&self->nl, MORPH_A_REPLACE_TXN);
	EXPECT_EQ(MORPH_OUTCOME_COMMITTED, nl_wait_outcome(&self->nl, self->sim.number, txn));
}

/* The outcome of the change is unknown, and a dry run does not wait for it. */
TEST_F(slow, dry_run_on_him_is_refused)
{
	struct morph_slice_info info;

	ASSERT_EQ(0, slice_info(self->slow.slice, &info));
	nl_apply(&self->nl, self->sim.number, info.slice);
	nl_put(&self->nl, MORPH_A_TXN_DRY_RUN, NULL, 0);
	nl_put_add(&self->nl, 1, 0);
	EXPECT_EQ(EAGAIN, nl_do(&self->nl));
}

TEST_F(slow, administrators_read_all)
{
	static const uint8_t commands[] = { MORPH_CMD_ACCELERATOR_GET, MORPH_CMD_GUIDE_GET,
					    MORPH_CMD_ELEMENT_GET,     MORPH_CMD_SLICE_GET,
					    MORPH_CMD_CIRCUIT_GET,     MORPH_CMD_TXN_GET };
	unsigned int i;

	for (i = 0; i < sizeof(commands); i++) {
		nl_begin(&self->nl, commands[i], 0);
		EXPECT_EQ(0, nl_dump(&self->nl, NULL, NULL));
	}
}

TEST_F(slow, other_fabrics_come_and_go)
{
	struct sim other;

	sim_start(&other, "server4", "settle_ns=0 relock_ns=0 write_ns=0");
	sim_stop(&other);
}

/* ------------------------------------------------- all take equally long, none for another */

FIXTURE(alike)
{
	struct sim sim;
	struct runner one, other; /* 0 and 3; 1 and 2 */
	int third; /* 4 and 5 */
};

FIXTURE_SETUP(alike)
{
	static const uint32_t wanted[][2] = { { 0, 3 }, { 1, 2 }, { 4, 5 } };
	char settings[100];

	snprintf(settings, sizeof(settings), "clock=stepped settle_ns=%d relock_ns=0 write_ns=0",
		 SETTLE_NS);
	sim_start(&self->sim, "server8", settings);
	self->one.slice = slice_create_at(self->sim.fd, wanted[0], 2);
	self->other.slice = slice_create_at(self->sim.fd, wanted[1], 2);
	self->third = slice_create_at(self->sim.fd, wanted[2], 2);
	ASSERT_LE(0, self->one.slice);
	ASSERT_LE(0, self->other.slice);
	ASSERT_LE(0, self->third);
}

FIXTURE_TEARDOWN(alike)
{
	close(self->one.slice);
	close(self->other.slice);
	close(self->third);
	sim_pull(&self->sim);
	sim_stop(&self->sim);
}

static bool is_replaced(void *what)
{
	struct pollfd pollfd = { .fd = *(int *)what, .events = POLLIN };
	struct morph_event event;

	while (poll(&pollfd, 1, 0) == 1 && read(pollfd.fd, &event, sizeof(event)) == sizeof(event))
		if (event.type == MORPH_EVENT_REPLACED)
			return true;
	return false;
}

/* Remove the circuit again, as if it had never been lit. */
static int take_back(struct sim *sim, struct runner *runner)
{
	int error = runner_join(runner);

	if (error)
		return error;
	runner->changes[0] = change_remove(runner->changes[0].circuit);
	if (runner_start(runner) || halves_until(sim, has_ended, runner, 0) < 0)
		return ETIME;
	return runner_join(runner);
}

/*
 * While one change settles, another one starts. It must take exactly as long as alone, to the
 * nanosecond.
 */
TEST_F(alike, commit_takes_no_longer)
{
	int alone;

	ASSERT_EQ(0, runner_add(&self->other, 0, 1));
	alone = halves_until(&self->sim, has_ended, &self->other, 0);
	ASSERT_LT(0, alone);
	ASSERT_EQ(0, take_back(&self->sim, &self->other));

	ASSERT_EQ(0, runner_add(&self->one, 0, 1));
	ASSERT_TRUE(held(&self->sim, 1));
	ASSERT_EQ(0, half(&self->sim));
	ASSERT_EQ(0, runner_add(&self->other, 0, 1));
	ASSERT_TRUE(held(&self->sim, 2));
	/* The first change settles within this half, and another one starts at once. */
	ASSERT_EQ(0, half(&self->sim));
	ASSERT_EQ(0, runner_join(&self->one));
	ASSERT_EQ(0, runner_add(&self->one, 1, 0));
	ASSERT_TRUE(held(&self->sim, 2));
	EXPECT_EQ(alone, 1 + halves_until(&self->sim, has_ended, &self->other, 1));
	EXPECT_FALSE(atomic_load(&self->one.done));

	EXPECT_EQ(0, runner_join(&self->other));
	EXPECT_LT(0, halves_until(&self->sim, has_ended, &self->one, 0));
	EXPECT_EQ(0, runner_join(&self->one));
}

TEST_F(alike, failover_takes_no_longer)
{
	struct runner ring = { .slice = self->third };
	int alone;

	ASSERT_EQ(0, runner_add(&ring, 0, 1));
	ASSERT_LT(0, halves_until(&self->sim, has_ended, &ring, 0));
	ASSERT_EQ(0, runner_join(&ring));
	ASSERT_EQ(0, sim_control(&self->sim, "fault", "accelerator_dead 4"));
	alone = halves_until(&self->sim, is_replaced, &self->third, 0);
	ASSERT_LT(0, alone);
	ASSERT_TRUE(slice_wait_state(self->third, MORPH_SLICE_OK));

	ASSERT_EQ(0, runner_add(&self->one, 0, 1));
	ASSERT_TRUE(held(&self->sim, 1));
	ASSERT_EQ(0, half(&self->sim));
	ASSERT_EQ(0, sim_control(&self->sim, "fault", "accelerator_dead 5"));
	ASSERT_TRUE(held(&self->sim, 2));
	ASSERT_EQ(0, half(&self->sim));
	ASSERT_EQ(0, runner_join(&self->one));
	ASSERT_EQ(0, runner_add(&self->one, 1, 0));
	ASSERT_TRUE(held(&self->sim, 2));
	EXPECT_EQ(alone, 1 + halves_until(&self->sim, is_replaced, &self->third, 1));
	EXPECT_FALSE(atomic_load(&self->one.done));
	EXPECT_LT(0, halves_until(&self->sim, has_ended, &self->one, 0));
	EXPECT_EQ(0, runner_join(&self->one));
}

TEST_HARNESS_MAIN

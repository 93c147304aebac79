// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of hardware that other tenants request meanwhile. The simulator's clock is stepped, so a
 * test lasts until the program advances the clock. The test waits for elements and light, which has
 * no deadline. A slow write would run into a deadline of the core, which uses its own clock.
 */
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "fabric.h"
#include "kselftest_harness.h"
#include "nl.h"

#define STEP_NS 1000000
#define FIRST_SPARE 8

FIXTURE(tested)
{
	struct sim sim;
	struct nl nl;
};

FIXTURE_SETUP(tested)
{
	sim_start(&self->sim, "server8", "clock=stepped write_ns=0");
	ASSERT_EQ(0, nl_open(&self->nl));
}

FIXTURE_TEARDOWN(tested)
{
	nl_close(&self->nl);
	sim_stop(&self->sim);
}

static int on_laser(struct nl *nl, uint8_t command, const struct sim *sim, unsigned int accelerator)
{
	nl_on_part(nl, command, sim->number, MORPH_PART_LASER, accelerator * sim->info.planes);
	return nl_do(nl);
}

/*
 * Start a test of a laser, which needs another idle accelerator to shine on. Return its
 * transaction, or 0.
 */
static unsigned int begin_test(struct nl *nl, const struct sim *sim, unsigned int accelerator)
{
	unsigned int txn;

	if (on_laser(nl, MORPH_CMD_HARDWARE_FAIL, sim, accelerator) ||
	    on_laser(nl, MORPH_CMD_HARDWARE_TEST, sim, accelerator))
		return 0;
	txn = REPLY_U32(nl, MORPH_A_HARDWARE_TXN);
	return sim_wait_counter(sim, "ops", "in_flight", 1) ? txn : 0;
}

/* Advance the device's time until the test has ended, and return its outcome. */
static int end_test(struct nl *nl, const struct sim *sim, unsigned int txn)
{
	long long until = now_ms() + PATIENCE_MS;
	int outcome;

	do {
		sim_control(sim, "advance", "%d", STEP_NS);
		outcome = nl_outcome(nl, sim->number, txn);
		usleep(1000);
	} while (outcome == MORPH_OUTCOME_RUNNING && now_ms() < until);
	return outcome;
}

/*
 * Start a tenant that requests accelerators 0 and 1, and reports whether they were dark at that
 * time.
 */
static pid_t start_tenant(const struct sim *sim, int *answer)
{
	static const uint32_t wanted[] = { 0, 1 };
	int ends[2];
	pid_t pid;
	char word;

	if (pipe(ends))
		return -1;
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		word = slice_create_at(sim->fd, wanted, 2) < 0 ? 'n' :
		       sim_all_dark(sim)		       ? 'd' :
								 'l';
		if (write(ends[1], &word, 1) == 1)
			pause();
		_exit(1);
	}
	close(ends[1]);
	*answer = ends[0];
	return pid;
}

/*
 * The driver gives hardware under test to no tenant. A tenant that can wait gets it dark after the
 * test.
 */
TEST_F(tested, given_out_when_dark)
{
	struct pollfd pollfd = { .events = POLLIN };
	unsigned int txn = begin_test(&self->nl, &self->sim, 0);
	char word = 0;
	pid_t tenant;

	ASSERT_NE(0, txn);
	tenant = start_tenant(&self->sim, &pollfd.fd);
	ASSERT_LT(0, tenant);
	wait_asleep(tenant);
	EXPECT_EQ(0, poll(&pollfd, 1, 0));
	sim_refresh(&self->sim);
	EXPECT_EQ(0, self->sim.info.slices);
	EXPECT_EQ(6, self->sim.info.free);
	EXPECT_EQ(MORPH_OUTCOME_COMMITTED, end_test(&self->nl, &self->sim, txn));
	EXPECT_EQ(1, read(pollfd.fd, &word, 1));
	EXPECT_EQ('d', word);
	kill(tenant, SIGKILL);
	waitpid(tenant, NULL, 0);
	close(pollfd.fd);
}

/* Netlink does not wait. */
TEST_F(tested, administrator_gets_a_hint_to_try_again)
{
	struct nl *nl = &self->nl;
	unsigned int txn = begin_test(nl, &self->sim, 0);

	ASSERT_NE(0, txn);
	nl_begin(nl, MORPH_CMD_SLICE_CREATE, 0);
	nl_put_u32(nl, MORPH_A_SLICE_FABRIC, self->sim.number);
	nl_put_text(nl, MORPH_A_SLICE_NAME, "early");
	nl_put_u32(nl, MORPH_A_SLICE_OWNER, 0);
	nl_put_u32(nl, MORPH_A_SLICE_ACCELERATOR, 0);
	EXPECT_EQ(EAGAIN, nl_do(nl));
	EXPECT_EQ(MORPH_OUTCOME_COMMITTED, end_test(nl, &self->sim, txn));
}

/* Both spares are under test when an accelerator dies: one of them replaces it nevertheless. */
TEST_F(tested, failover_waits_for_the_spare)
{
	int slice = slice_create(self->sim.fd, FIRST_SPARE);
	struct morph_event event = {};
	struct morph_slice_info info;
	unsigned int txn, degraded = 0;

	ASSERT_LE(0, slice);
	txn = begin_test(&self->nl, &self->sim, FIRST_SPARE);
	ASSERT_NE(0, txn);
	ASSERT_EQ(0, sim_control(&self->sim, "fault", "accelerator_dead 0"));
	ASSERT_EQ(0, wait_event(slice, MORPH_EVENT_FAILING, PATIENCE_MS, &event));
	ASSERT_EQ(0, slice_info(slice, &info));
	EXPECT_EQ(MORPH_SLICE_REPAIRING, info.state);
	EXPECT_EQ(MORPH_OUTCOME_COMMITTED, end_test(&self->nl, &self->sim, txn));
	while (event.type != MORPH_EVENT_REPLACED &&
	       read(slice, &event, sizeof(event)) == sizeof(event))
		degraded += event.type == MORPH_EVENT_DEGRADED;
	EXPECT_EQ(0, degraded);
	EXPECT_LE(FIRST_SPARE, event.new_accelerator);
	close(slice);
}

/* ----------------------------------------------------------------------- suspects */

static unsigned int health_of(struct nl *nl, const struct sim *sim, unsigned int part,
			      unsigned int index)
{
	nl_on_part(nl, MORPH_CMD_HARDWARE_GET, sim->number, part, index);
	return nl_do(nl) ? MORPH_ANY : REPLY_U32(nl, MORPH_A_HARDWARE_HEALTH);
}

/* Wait until a part is healthy; false after a timeout. */
static bool wait_healthy(struct nl *nl, const struct sim *sim, unsigned int part,
			 unsigned int index)
{
	return WAIT_UNTIL(health_of(nl, sim, part, index) == MORPH_HEALTH_OK);
}

/*
 * A guide loses its light, and the driver cannot distinguish this from a failed receiver. It takes
 * the guide out of use, and goes on using the suspect receiver until the patrol has an accelerator
 * to test it with.
 */
TEST(suspect_receiver)
{
	struct morph_change change = change_add(0, 1);
	unsigned int receiver, guide;
	uint32_t guides[64];
	struct sim sim;
	int slice, count;
	struct nl nl;

	ASSERT_EQ(0, nl_open(&nl));
	sim_start(&sim, "server8", NULL);
	slice = slice_create(sim.fd, FIRST_SPARE);
	ASSERT_LE(0, slice);
	ASSERT_EQ(0, slice_policy(slice, MORPH_FAILOVER_NONE));
	ASSERT_EQ(0, txn_run(slice, &change, 1, NULL));
	count = circuit_guides(slice, change.circuit, guides, 64);
	ASSERT_LT(0, count);
	guide = guides[count / 2];
	receiver = 1 * sim.info.planes + change.dst_plane;
	ASSERT_EQ(0, sim_control(&sim, "fault", "guide_lossy %u mdb=60000", guide));
	ASSERT_EQ(0, wait_event(slice, MORPH_EVENT_CIRCUIT_FAILED, PATIENCE_MS, NULL));
	EXPECT_EQ(MORPH_HEALTH_QUARANTINED, health_of(&nl, &sim, MORPH_PART_GUIDE, guide));
	EXPECT_EQ(MORPH_HEALTH_SUSPECT, health_of(&nl, &sim, MORPH_PART_RECEIVER, receiver));
	/* Without the slice its accelerators can send test light through the guide. */
	close(slice);
	EXPECT_TRUE(wait_healthy(&nl, &sim, MORPH_PART_RECEIVER, receiver));
	sim_stop(&sim);
	nl_close(&nl);
}

/* Wait for a notification that an element has that health. */
static bool reported_health(struct nl *monitor, unsigned int element, unsigned int health)
{
	while (nl_wait(monitor, MORPH_CMD_HARDWARE_NTF, PATIENCE_MS))
		if (REPLY_U32(monitor, MORPH_A_HARDWARE_PART) == MORPH_PART_ELEMENT &&
		    REPLY_U32(monitor, MORPH_A_HARDWARE_INDEX) == element &&
		    REPLY_U32(monitor, MORPH_A_HARDWARE_HEALTH) == health)
			return true;
	return false;
}

/* Elements wake in another state after a suspend. The provider's hook lets the driver park them. */
TEST(elements_are_parked_after_resume)
{
	const unsigned int elements[] = { 0, 9 };
	char keys[2][32];
	long long parked[2];
	struct nl nl;
	struct sim sim;
	unsigned int i;

	ASSERT_EQ(0, nl_open(&nl));
	sim_start(&sim, "server8", NULL);
	for (i = 0; i < 2; i++) {
		snprintf(keys[i], sizeof(keys[i]), "element %u state", elements[i]);
		parked[i] = sim_counter(&sim, "hardware", keys[i]);
		ASSERT_LE(0, parked[i]);
	}
	ASSERT_EQ(0, sim_control(&sim, "resume", "now"));
	for (i = 0; i < 2; i++) {
		EXPECT_TRUE(WAIT_UNTIL(sim_counter(&sim, "hardware", keys[i]) == parked[i]));
		EXPECT_TRUE(WAIT_UNTIL(health_of(&nl, &sim, MORPH_PART_ELEMENT, elements[i]) ==
				       MORPH_HEALTH_OK));
	}
	sim_stop(&sim);
	nl_close(&nl);
}

/* No circuit uses the element, but stray light could cross it. */
TEST(cordoned_element_that_moved_is_found)
{
	const unsigned int element = 26;
	struct nl nl, monitor;
	struct sim sim;

	ASSERT_EQ(0, nl_open(&nl));
	ASSERT_EQ(0, nl_open(&monitor));
	sim_start(&sim, "smartlight72", NULL);
	nl_on_part(&nl, MORPH_CMD_HARDWARE_SET, sim.number, MORPH_PART_ELEMENT, element);
	nl_put_u8(&nl, MORPH_A_HARDWARE_CORDONED, 1);
	ASSERT_EQ(0, nl_do(&nl));
	ASSERT_EQ(0, nl_join(&monitor));
	ASSERT_EQ(0, sim_control(&sim, "flip", "%u 1", element));
	EXPECT_TRUE(reported_health(&monitor, element, MORPH_HEALTH_QUARANTINED));
	EXPECT_TRUE(reported_health(&monitor, element, MORPH_HEALTH_OK));
	nl_on_part(&nl, MORPH_CMD_HARDWARE_GET, sim.number, MORPH_PART_ELEMENT, element);
	ASSERT_EQ(0, nl_do(&nl));
	EXPECT_NE(NULL, nl_find(nl_reply(&nl), MORPH_A_HARDWARE_CORDONED));
	sim_stop(&sim);
	nl_close(&monitor);
	nl_close(&nl);
}

/*
 * Existing circuits and schedules stay, also if they are dark at times and other tenants' light has
 * changed since.
 */
TEST(cordon_stops_no_schedule)
{
	static const struct morph_schedule_circuit wanted = { .dst_rank = 1, .lanes_count = 1 };
	int slice, other, schedule, count, i;
	uint32_t guides[64], circuit;
	struct sim sim;
	struct nl nl;

	ASSERT_EQ(0, nl_open(&nl));
	sim_start(&sim, "server8", NULL);
	slice = slice_create(sim.fd, 2);
	other = slice_create(sim.fd, 2);
	schedule = schedule_in_turn(slice, &wanted, 1, &circuit);
	ASSERT_LT(0, schedule) TH_LOG("%s", last_detail);
	count = circuit_guides(slice, circuit, guides, 64);
	ASSERT_LT(0, count);
	for (i = 0; i < count; i++) {
		nl_on_part(&nl, MORPH_CMD_HARDWARE_SET, sim.number, MORPH_PART_GUIDE, guides[i]);
		nl_put_u8(&nl, MORPH_A_HARDWARE_CORDONED, 1);
		ASSERT_EQ(0, nl_do(&nl));
	}
	ASSERT_EQ(0, light_ring(other, 2));
	EXPECT_EQ(0, schedule_act(slice, schedule, MORPH_SCHEDULE_START, NULL))
	TH_LOG("%s", last_detail);
	close(slice);
	close(other);
	sim_stop(&sim);
	nl_close(&nl);
}

/*
 * A receiver goes dark because of a guide, everything is repaired, light arrives, and the receiver
 * goes dark again. This is a second failure and no proof that the receiver itself failed.
 */
TEST(dark_twice)
{
	static const uint32_t wanted[] = { 0, 1 };
	struct morph_event event;
	int slice, count, i;
	uint32_t guides[64];
	unsigned int time;
	struct sim sim;
	struct nl nl;

	ASSERT_EQ(0, nl_open(&nl));
	sim_start(&sim, "server8", NULL);
	for (time = 0; time < 2; time++) {
		struct morph_change change = change_add(0, 1);

		change.dst_plane = 0;
		slice = slice_create_at(sim.fd, wanted, 2);
		ASSERT_LE(0, slice);
		ASSERT_EQ(0, slice_policy(slice, MORPH_FAILOVER_NONE));
		ASSERT_EQ(0, txn_run(slice, &change, 1, NULL));
		count = circuit_guides(slice, change.circuit, guides, 64);
		ASSERT_LT(0, count);
		ASSERT_EQ(0, sim_control(&sim, "fault", "guide_lossy %u mdb=60000",
					 guides[count / 2]));
		ASSERT_EQ(0, wait_event(slice, MORPH_EVENT_CIRCUIT_FAILED, PATIENCE_MS, &event));
		EXPECT_EQ(MORPH_PART_GUIDE, event.part);
		close(slice);
		ASSERT_EQ(0, sim_control(&sim, "clear", "all"));
		for (i = 0; i < count; i++)
			ASSERT_TRUE(wait_healthy(&nl, &sim, MORPH_PART_GUIDE, guides[i]));
		ASSERT_TRUE(wait_healthy(&nl, &sim, MORPH_PART_RECEIVER, sim.info.planes));
	}
	sim_stop(&sim);
	nl_close(&nl);
}

TEST_HARNESS_MAIN

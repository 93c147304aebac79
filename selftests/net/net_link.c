// SPDX-License-Identifier: GPL-2.0-only
/* Network devices of ranks: tenants, carrier, failover, counters, permissions, removal. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ranks.h"

#define OTHER_UID 1000

static bool is_gone(const struct place *place)
{
	struct link_state state;

	return place_state(place, &state) == -ENODEV;
}

TEST_F(net, tenants_do_not_reach_each_other)
{
	struct morph_change changes[2] = { change_add(0, 1), change_add(1, 0) };
	struct place others[2];
	struct morph_slice_info info;
	struct link_state far;
	int slice = slice_create(self->sim.fd, 2);
	unsigned int i;

	ASSERT_LE(0, slice);
	ASSERT_EQ(0, txn_run(slice, changes, 2, NULL));
	ASSERT_EQ(0, slice_info(slice, &info));
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, place_create(&others[i], self->sim.number, info.slice, i, 0));
	PLACE(0);
	LIGHT();
	ASSERT_TRUE(WAIT_UNTIL(has_carrier(&self->places[0])));
	ASSERT_EQ(0, place_state(&others[1], &far));
	ASSERT_EQ(0, place_know(&self->places[0], 1, far.address));
	EXPECT_FALSE(place_reaches(&self->places[0], &others[1], BRIEF_MS));
	for (i = 0; i < 2; i++)
		place_close(&others[i]);
	close(slice);
}

TEST_F(net, failover_keeps_the_device)
{
	struct morph_rank_info ranks[RANKS];
	struct morph_slice_info info;
	struct link_state before, after;
	struct morph_event event;
	uint8_t neighbour[6];

	/* A failover of an emulated machine may take seconds. */
	PLACE(30000);
	PLACE(30000);
	LIGHT();
	ASSERT_TRUE(WAIT_UNTIL(has_carrier(&self->places[1])));
	ASSERT_TRUE(place_reaches(&self->places[0], &self->places[1], PATIENCE_MS));
	ASSERT_EQ(0, place_state(&self->places[1], &before));
	ASSERT_EQ(0, slice_read(self->slice, &info, ranks, RANKS, NULL, 0));
	ASSERT_EQ(0, sim_control(&self->sim, "fault", "accelerator_dead %u", ranks[1].accelerator));
	ASSERT_EQ(0, wait_event(self->slice, MORPH_EVENT_REPLACED, PATIENCE_MS, &event));
	/* Before a frame could make the place ask again. */
	EXPECT_EQ(0, place_neighbour(&self->places[0], 1, neighbour));
	EXPECT_EQ(0, memcmp(before.address, neighbour, sizeof(neighbour)));
	EXPECT_TRUE(place_reaches(&self->places[0], &self->places[1], PATIENCE_MS));
	ASSERT_EQ(0, place_state(&self->places[1], &after));
	EXPECT_EQ(before.index, after.index);
	EXPECT_EQ(0, memcmp(before.address, after.address, sizeof(after.address)));
	EXPECT_EQ(before.carrier_changes, after.carrier_changes);
}

TEST_F(net, default_delay_of_the_carrier_is_100_ms)
{
	struct link_state state;

	PLACE(0);
	ASSERT_EQ(0, place_state(&self->places[0], &state));
	EXPECT_EQ(100, state.delay_ms);
}

TEST_F(net, speed_is_that_of_the_lit_circuits)
{
	unsigned int lane;

	PLACE(0);
	lane = self->sim.info.lane_mbps;
	EXPECT_EQ(UINT32_MAX, place_speed(&self->places[0]));
	LIGHT();
	EXPECT_EQ(lane, place_speed(&self->places[0]));
	LIGHT();
	EXPECT_EQ(2 * lane, place_speed(&self->places[0]));
	DARKEN();
	EXPECT_EQ(lane, place_speed(&self->places[0]));
}

TEST_F(net, carrier_goes_off_after_its_delay)
{
	PLACE(30000);
	PLACE(0);
	LIGHT();
	ASSERT_TRUE(WAIT_UNTIL(has_carrier(&self->places[0])));
	ASSERT_TRUE(WAIT_UNTIL(has_carrier(&self->places[1])));
	DARKEN();
	EXPECT_TRUE(WAIT_UNTIL(!has_carrier(&self->places[1])));
	EXPECT_TRUE(has_carrier(&self->places[0]));
}

TEST_F(net, carrier_does_not_flap_within_its_delay)
{
	struct link_state before, after;

	PLACE(30000);
	PLACE(30000);
	LIGHT();
	ASSERT_TRUE(WAIT_UNTIL(has_carrier(&self->places[0])));
	ASSERT_EQ(0, place_state(&self->places[0], &before));
	DARKEN();
	LIGHT();
	EXPECT_TRUE(place_reaches(&self->places[0], &self->places[1], PATIENCE_MS));
	ASSERT_EQ(0, place_state(&self->places[0], &after));
	EXPECT_EQ(before.carrier_changes, after.carrier_changes);
}

TEST_F(net, carrier_delay_can_be_set)
{
	int previous;

	PLACE(30000);
	PLACE(0);
	LIGHT();
	ASSERT_TRUE(WAIT_UNTIL(has_carrier(&self->places[0])));
	previous = enter(self->places[0].net);
	EXPECT_EQ(0, link_set_delay(self->places[0].name, 1));
	EXPECT_EQ(-ERANGE, link_set_delay(self->places[0].name, 30001));
	EXPECT_EQ(-EOPNOTSUPP, link_set_rank(self->places[0].name, 1));
	leave(previous);
	DARKEN();
	EXPECT_TRUE(WAIT_UNTIL(!has_carrier(&self->places[0])));
}

/* Frames of a circuit count where they enter and where they leave. */
TEST_F(net, counters_of_a_circuit_count_its_frames)
{
	char sent[32], received[32];
	int64_t before, i;

	PLACE(0);
	PLACE(0);
	LIGHT();
	ASSERT_TRUE(place_reaches(&self->places[0], &self->places[1], PATIENCE_MS));
	snprintf(sent, sizeof(sent), "circuit_%u_tx_frames", self->circuits[0]);
	snprintf(received, sizeof(received), "circuit_%u_rx_frames", self->circuits[0]);
	before = place_counter(&self->places[0], sent);
	ASSERT_LT(0, before);
	for (i = 0; i < 10; i++)
		place_send(&self->places[0], 1, 1);
	EXPECT_TRUE(WAIT_UNTIL(place_counter(&self->places[0], sent) >= before + 10));
	EXPECT_LE(before + 10, place_counter(&self->places[1], received));
	EXPECT_EQ(-1, place_counter(&self->places[1], sent));
}

TEST_F(net, bad_requests_are_refused)
{
	static const uint8_t address[6] = { 2, 0, 0, 0, 0, 1 };
	struct link_request good = { self->sim.number, self->number, 0, 0, false, NULL, "bad", -1 };
	struct link_request bad = good;

	bad.no_rank = true;
	EXPECT_EQ(-EINVAL, link_create(&bad));
	bad = good;
	bad.rank = RANKS;
	EXPECT_EQ(-ENOENT, link_create(&bad));
	bad = good;
	bad.slice = self->number + 1;
	EXPECT_EQ(-ENODEV, link_create(&bad));
	bad = good;
	bad.address = address;
	EXPECT_EQ(-EOPNOTSUPP, link_create(&bad));
	PLACE(0);
	EXPECT_EQ(-EEXIST, link_create(&good));
}

/*
 * In a child without rights, in namespaces of its own. Make a device there, or in the namespace of
 * that file (-1: none). Return the errno.
 */
static int create_as_other(const struct sim *sim, unsigned int number, bool own, int net)
{
	struct link_request wanted = { sim->number, number, 0, 0, false, NULL, "other", net };
	struct morph_slice_info info;
	int status = -1, fabric, slice;
	pid_t child = fork();

	if (!child) {
		if (setgroups(0, NULL) || setresgid(OTHER_UID, OTHER_UID, OTHER_UID) ||
		    setresuid(OTHER_UID, OTHER_UID, OTHER_UID))
			_exit(255);
		fabric = own ? open_fabric(sim->number) : -1;
		slice = own ? slice_create(fabric, 1) : -1;
		if (own && (slice < 0 || slice_info(slice, &info)))
			_exit(254);
		if (own)
			wanted.slice = info.slice;
		if (unshare(CLONE_NEWUSER | CLONE_NEWNET))
			_exit(253);
		_exit(-link_create(&wanted));
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int permit_all(const struct sim *sim)
{
	char path[64];

	snprintf(path, sizeof(path), "/dev/morph/fabric%u", sim->number);
	return chmod(path, 0666);
}

TEST_F(net, device_of_another_owner_is_refused)
{
	EXPECT_EQ(EPERM, create_as_other(&self->sim, self->number, false, -1));
}

TEST_F(net, owner_creates_a_device_in_his_namespace)
{
	ASSERT_EQ(0, permit_all(&self->sim));
	EXPECT_EQ(0, create_as_other(&self->sim, 0, true, -1));
}

TEST_F(net, owner_without_rights_over_the_namespace_is_refused)
{
	int net = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);

	ASSERT_LE(0, net);
	ASSERT_EQ(0, permit_all(&self->sim));
	EXPECT_EQ(EPERM, create_as_other(&self->sim, 0, true, net));
	close(net);
}

TEST_F(net, administrator_creates_a_device_of_another_owner)
{
	struct link_request wanted = { .fabric = self->sim.number, .name = "other", .net = -1 };
	struct morph_slice_info info;
	int fabric, slice;

	ASSERT_EQ(0, permit_all(&self->sim));
	ASSERT_EQ(0, seteuid(OTHER_UID));
	fabric = open_fabric(self->sim.number);
	slice = slice_create(fabric, 1);
	ASSERT_EQ(0, seteuid(0));
	ASSERT_LE(0, slice);
	ASSERT_EQ(0, slice_info(slice, &info));
	wanted.slice = info.slice;
	EXPECT_EQ(0, link_create(&wanted));
	close(slice);
	close(fabric);
}

TEST_F(net, end_of_the_slice_removes_the_devices)
{
	PLACE(0);
	PLACE(0);
	LIGHT();
	ASSERT_TRUE(place_reaches(&self->places[0], &self->places[1], PATIENCE_MS));
	close(self->slice);
	self->slice = -1;
	EXPECT_TRUE(WAIT_UNTIL(is_gone(&self->places[0])));
	EXPECT_TRUE(WAIT_UNTIL(is_gone(&self->places[1])));
}

TEST_F(net, removal_of_the_provider_removes_the_devices)
{
	PLACE(0);
	PLACE(0);
	LIGHT();
	ASSERT_TRUE(place_reaches(&self->places[0], &self->places[1], PATIENCE_MS));
	sim_pull(&self->sim);
	EXPECT_TRUE(WAIT_UNTIL(is_gone(&self->places[0])));
	EXPECT_TRUE(WAIT_UNTIL(is_gone(&self->places[1])));
	close(self->slice);
	self->slice = -1;
	sim_replug(&self->sim);
}

TEST_F(net, end_of_the_namespace_removes_the_device)
{
	PLACE(0);
	self->places_count = 0;
	place_close(&self->places[0]);
	/* A rank has one device, so a new one shows that the old one has gone. */
	EXPECT_TRUE(
		WAIT_UNTIL(!place_create(&self->places[0], self->sim.number, self->number, 0, 0)));
	self->places_count = 1;
}

TEST_F(net, module_unloads_under_traffic)
{
	unsigned int i;

	PLACE(0);
	PLACE(0);
	LIGHT();
	ASSERT_TRUE(place_reaches(&self->places[0], &self->places[1], PATIENCE_MS));
	for (i = 0; i < 100; i++)
		place_send(&self->places[0], 1, i);
	ASSERT_EQ(0, unload_net());
	EXPECT_TRUE(is_gone(&self->places[0]));
	ASSERT_EQ(0, load_net(""));
}

TEST_HARNESS_MAIN

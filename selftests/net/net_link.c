// SPDX-License-Identifier: GPL-2.0-only
/* Network devices of ranks: frames, carrier, failover, permissions, removal. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fabric.h"
#include "kselftest_harness.h"
#include "link.h"

#define RANKS 3
#define OTHER_UID 1000
#define BRIEF_MS 300 /* long enough for a datagram that has a circuit */

/* A slice of three ranks; the tests light circuits between ranks 0 and 1 only. */
FIXTURE(net)
{
	struct sim sim;
	int slice;
	unsigned int number;
	struct place places[RANKS];
	unsigned int places_count;
	unsigned int circuits[2];
};

FIXTURE_SETUP(net)
{
	struct morph_slice_info info;

	sim_start(&self->sim, "server8", NULL);
	ASSERT_EQ(0, load_net(""));
	self->slice = slice_create(self->sim.fd, RANKS);
	ASSERT_LE(0, self->slice);
	ASSERT_EQ(0, slice_info(self->slice, &info));
	self->number = info.slice;
}

FIXTURE_TEARDOWN(net)
{
	while (self->places_count)
		place_close(&self->places[--self->places_count]);
	if (self->slice >= 0)
		close(self->slice);
	sim_stop(&self->sim);
	ASSERT_EQ(0, unload_net());
}

#define PLACE(delay_ms)                                                                          \
	({                                                                                       \
		unsigned int __rank = self->places_count++;                                      \
                                                                                                 \
		ASSERT_EQ(0, place_create(&self->places[__rank], self->sim.number, self->number, \
					  __rank, delay_ms));                                    \
	})

/* Light circuits between ranks 0 and 1, one each way. */
#define LIGHT()                                                                            \
	({                                                                                 \
		struct morph_change __changes[2] = { change_add(0, 1), change_add(1, 0) }; \
                                                                                           \
		ASSERT_EQ(0, txn_run(self->slice, __changes, 2, NULL));                    \
		self->circuits[0] = __changes[0].circuit;                                  \
		self->circuits[1] = __changes[1].circuit;                                  \
	})

#define DARKEN()                                                                         \
	({                                                                               \
		struct morph_change __changes[2] = { change_remove(self->circuits[0]),   \
						     change_remove(self->circuits[1]) }; \
                                                                                         \
		ASSERT_EQ(0, txn_run(self->slice, __changes, 2, NULL));                  \
	})

static bool has_carrier(const struct place *place)
{
	struct link_state state;

	return !place_state(place, &state) && state.carrier;
}

static bool is_gone(const struct place *place)
{
	struct link_state state;

	return place_state(place, &state) == -ENODEV;
}

TEST_F(net, frames_pass_over_lit_circuits_only)
{
	PLACE(0);
	PLACE(0);
	EXPECT_FALSE(place_reaches(&self->places[0], &self->places[1], BRIEF_MS));
	LIGHT();
	EXPECT_TRUE(place_reaches(&self->places[0], &self->places[1], PATIENCE_MS));
	EXPECT_TRUE(place_reaches(&self->places[1], &self->places[0], PATIENCE_MS));
	DARKEN();
	EXPECT_FALSE(place_reaches(&self->places[0], &self->places[1], BRIEF_MS));
}

TEST_F(net, frames_of_a_flow_arrive_in_order)
{
	uint32_t sent = 0;
	int64_t got, last = -1;
	unsigned int i;

	PLACE(0);
	PLACE(0);
	for (i = 0; i < 3; i++)
		LIGHT();
	ASSERT_TRUE(place_reaches(&self->places[0], &self->places[1], PATIENCE_MS));
	while (place_receive(&self->places[1], 0) >= 0)
		;
	for (sent = 1000; sent < 3000; sent++) {
		place_send(&self->places[0], 1, sent);
		while ((got = place_receive(&self->places[1], 0)) >= 0) {
			ASSERT_LT(last, got);
			last = got;
		}
	}
	while ((got = place_receive(&self->places[1], BRIEF_MS)) >= 0) {
		ASSERT_LT(last, got);
		last = got;
	}
	EXPECT_EQ(2999, last);
}

/* Write a file of tracefs. */
static int trace(const char *file, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/kernel/tracing/%s", file);
	return write_file(path, text);
}

static bool trace_has(const char *text)
{
	FILE *file = fopen("/sys/kernel/tracing/trace", "re");
	bool found = false;
	char line[512];

	while (file && fgets(line, sizeof(line), file))
		found |= strstr(line, text) != NULL;
	if (file)
		fclose(file);
	return found;
}

TEST_F(net, frame_without_a_circuit_is_dropped_with_a_reason)
{
	struct link_state before, after, far;

	PLACE(0);
	PLACE(0);
	PLACE(0);
	LIGHT();
	ASSERT_TRUE(WAIT_UNTIL(has_carrier(&self->places[0])));
	ASSERT_EQ(0, place_state(&self->places[2], &far));
	ASSERT_EQ(0, place_know(&self->places[0], 2, far.address));
	ASSERT_EQ(0, trace("trace", ""));
	ASSERT_EQ(0, trace("events/skb/kfree_skb/enable", "1"));
	ASSERT_EQ(0, place_state(&self->places[0], &before));
	place_send(&self->places[0], 2, 1);
	ASSERT_EQ(0, place_state(&self->places[0], &after));
	ASSERT_EQ(0, trace("events/skb/kfree_skb/enable", "0"));
	/* The kernel may send frames of its own, too. */
	EXPECT_LT(before.dark, after.dark);
	EXPECT_TRUE(trace_has("reason: DEV_READY"));
	EXPECT_EQ(-1, place_receive(&self->places[2], 0));
}

/* In the namespace of a place: connect to a port of a rank. Return the error. */
static int connect_to(const struct place *from, unsigned int rank)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons(9),
		.sin_addr.s_addr = htonl(0x0a000001 + rank),
	};
	int previous = enter(from->net), file, ret;

	file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ret = connect(file, (void *)&to, sizeof(to)) ? -errno : 0;
	leave(previous);
	close(file);
	return ret;
}

/* The driver reports the missing circuit, so that the connection does not wait for a timeout. */
TEST_F(net, connection_to_a_rank_without_a_circuit_is_refused)
{
	struct link_state far;
	long long began;

	PLACE(0);
	PLACE(0);
	PLACE(0);
	LIGHT();
	ASSERT_TRUE(WAIT_UNTIL(has_carrier(&self->places[0])));
	ASSERT_EQ(0, place_state(&self->places[2], &far));
	ASSERT_EQ(0, place_know(&self->places[0], 2, far.address));
	EXPECT_EQ(0, place_counter(&self->places[0], "tx_no_circuit"));
	began = now_ms();
	EXPECT_EQ(-EHOSTUNREACH, connect_to(&self->places[0], 2));
	/* Without the report, the error follows after minutes. */
	EXPECT_LT(now_ms() - began, PATIENCE_MS);
	EXPECT_LT(0, place_counter(&self->places[0], "tx_no_circuit"));
	EXPECT_EQ(2, place_counter(&self->places[0], "tx_no_circuit_rank"));
}

TEST_F(net, address_request_for_a_rank_without_a_circuit_is_counted)
{
	PLACE(0);
	PLACE(0);
	PLACE(0);
	LIGHT();
	ASSERT_TRUE(place_reaches(&self->places[0], &self->places[1], PATIENCE_MS));
	EXPECT_EQ(0, place_counter(&self->places[0], "tx_no_circuit"));
	place_send(&self->places[0], 2, 1);
	EXPECT_TRUE(WAIT_UNTIL(place_counter(&self->places[0], "tx_no_circuit") > 0));
	EXPECT_EQ(2, place_counter(&self->places[0], "tx_no_circuit_rank"));
}

/* A repair may light it again, so connections wait for it. */
TEST_F(net, dark_circuit_is_not_missing)
{
	struct morph_rank_info ranks[RANKS];
	struct link_state before, after, far;
	struct morph_slice_info info;
	struct morph_event event;

	PLACE(30000);
	PLACE(30000);
	ASSERT_EQ(0, place_state(&self->places[1], &far));
	ASSERT_EQ(0, place_know(&self->places[0], 1, far.address));
	LIGHT();
	ASSERT_TRUE(WAIT_UNTIL(has_carrier(&self->places[0])));
	ASSERT_EQ(0, slice_policy(self->slice, MORPH_FAILOVER_NONE));
	ASSERT_EQ(0, slice_read(self->slice, &info, ranks, RANKS, NULL, 0));
	ASSERT_EQ(0, sim_control(&self->sim, "fault", "accelerator_dead %u", ranks[1].accelerator));
	ASSERT_EQ(0, wait_event(self->slice, MORPH_EVENT_DEGRADED, PATIENCE_MS, &event));
	ASSERT_EQ(0, place_state(&self->places[0], &before));
	place_send(&self->places[0], 1, 1);
	ASSERT_EQ(0, place_state(&self->places[0], &after));
	/* The kernel may send frames of its own, too. */
	EXPECT_LT(before.dark, after.dark);
	EXPECT_EQ(0, place_counter(&self->places[0], "tx_no_circuit"));
}

/* Send to both other ranks in each step. Only frames on the circuit of the step arrive. */
TEST_F(net, frames_pass_on_circuits_of_the_step_only)
{
	struct morph_schedule_circuit circuits[2] = { { .dst_rank = 1 }, { .dst_rank = 2 } };
	unsigned int step, rank, i;
	struct link_state far;
	int64_t got, last;
	int schedule;

	for (rank = 0; rank < RANKS; rank++)
		PLACE(30000);
	for (rank = 1; rank < RANKS; rank++) {
		ASSERT_EQ(0, place_state(&self->places[rank], &far));
		ASSERT_EQ(0, place_know(&self->places[0], rank, far.address));
	}
	/* Without a carrier, no frame would reach the driver. */
	LIGHT();
	ASSERT_TRUE(WAIT_UNTIL(has_carrier(&self->places[0])));
	DARKEN();
	schedule = schedule_in_turn(self->slice, circuits, 2, NULL);
	ASSERT_LE(0, schedule);
	for (step = 0; step < 6; step++) {
		struct morph_schedule_act jump = { .step = step % 2 };

		ASSERT_EQ(0,
			  schedule_act(self->slice, schedule,
				       step ? MORPH_SCHEDULE_JUMP : MORPH_SCHEDULE_START, &jump));
		for (i = 0; i < 50; i++)
			for (rank = 1; rank < RANKS; rank++)
				place_send(&self->places[0], rank, 100 * step + i);
		for (rank = 1; rank < RANKS; rank++) {
			last = -1;
			while ((got = place_receive(&self->places[rank], 50)) >= 0) {
				EXPECT_LE((int64_t)(100 * step), got);
				last = got;
			}
			EXPECT_EQ(rank == 1 + step % 2 ? (int64_t)(100 * step + 49) : -1, last);
		}
	}
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
	EXPECT_TRUE(place_reaches(&self->places[0], &self->places[1], PATIENCE_MS));
	ASSERT_EQ(0, place_state(&self->places[1], &after));
	EXPECT_EQ(before.index, after.index);
	EXPECT_EQ(0, memcmp(before.address, after.address, sizeof(after.address)));
	EXPECT_EQ(before.carrier_changes, after.carrier_changes);
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

/* In a child without rights, in namespaces of its own. Return the errno of a new device. */
static int create_as_other(const struct sim *sim, unsigned int number, bool own)
{
	struct link_request wanted = { sim->number, number, 0, 0, false, NULL, "other", -1 };
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

TEST_F(net, device_of_another_owner_is_refused)
{
	EXPECT_EQ(EPERM, create_as_other(&self->sim, self->number, false));
}

TEST_F(net, owner_creates_a_device_in_his_namespace)
{
	char path[64];

	snprintf(path, sizeof(path), "/dev/morph/fabric%u", self->sim.number);
	ASSERT_EQ(0, chmod(path, 0666));
	EXPECT_EQ(0, create_as_other(&self->sim, 0, true));
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

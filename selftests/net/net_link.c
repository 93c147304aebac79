// SPDX-License-Identifier: GPL-2.0-only
/* Network devices of ranks: frames, carrier, failover, permissions, removal. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
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

/* Light circuits between ranks 0 and 1, one each way, in a plane (MORPH_PLANE_ANY: any). */
#define LIGHT_IN(plane)                                                                    \
	({                                                                                 \
		struct morph_change __changes[2] = { change_add(0, 1), change_add(1, 0) }; \
		unsigned int __i;                                                          \
                                                                                           \
		for (__i = 0; __i < 2; __i++)                                              \
			__changes[__i].src_plane = __changes[__i].dst_plane = (plane);     \
		ASSERT_EQ(0, txn_run(self->slice, __changes, 2, NULL));                    \
		self->circuits[0] = __changes[0].circuit;                                  \
		self->circuits[1] = __changes[1].circuit;                                  \
	})

#define LIGHT() LIGHT_IN(MORPH_PLANE_ANY)

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

/* Start again with other times of the hardware. Before the first device. */
static void restart_sim(FIXTURE_DATA(net) * self, const char *settings)
{
	struct morph_slice_info info;

	close(self->slice);
	sim_stop(&self->sim);
	sim_start(&self->sim, "server8", settings);
	self->slice = slice_create(self->sim.fd, RANKS);
	if (!slice_info(self->slice, &info))
		self->number = info.slice;
}

static struct morph_change change_move(unsigned int circuit, unsigned int plane)
{
	return (struct morph_change){
		.op = MORPH_CHANGE_MOVE,
		.circuit = circuit,
		.src_plane = plane,
		.dst_plane = plane,
	};
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

/* Load the module again, with circuits so slow that frames wait. Before the first device. */
#define SLOW_DOWN(parameters)                       \
	({                                          \
		ASSERT_EQ(0, unload_net());         \
		ASSERT_EQ(0, load_net(parameters)); \
	})

/* Make ranks 0 and 1 send to each other without ARP. */
#define KNOW()                                                                \
	({                                                                    \
		struct link_state __far;                                      \
                                                                              \
		ASSERT_EQ(0, place_state(&self->places[1], &__far));          \
		ASSERT_EQ(0, place_know(&self->places[0], 1, __far.address)); \
		ASSERT_EQ(0, place_state(&self->places[0], &__far));          \
		ASSERT_EQ(0, place_know(&self->places[1], 0, __far.address)); \
	})

static int64_t circuit_counter(const struct place *place, unsigned int circuit, const char *name)
{
	char whole[32];

	snprintf(whole, sizeof(whole), "circuit_%u_%s", circuit, name);
	return place_counter(place, whole);
}

#define FLOWS 16
#define FRAMES 2000
#define WAITING_MOST 100 /* so that no socket drops frames */
#define WAYS 3
#define COUNTED 0x80000000u /* not of place_reaches() */

/* Circuits of about 1 Mb/s: frames of several flows wait in the queues of several circuits. */
TEST_F(net, frames_of_a_flow_arrive_in_order)
{
	unsigned int circuits[WAYS], expected[FLOWS] = {}, i, flow, sent = 0, received = 0,
				     used = 0;
	struct place flows[FLOWS];
	int64_t got;

	SLOW_DOWN("scale=100000");
	PLACE(0);
	PLACE(0);
	for (i = 0; i < WAYS; i++) {
		LIGHT();
		circuits[i] = self->circuits[0];
	}
	KNOW();
	/* A carrier alone is not enough: the kernel drops frames until its queue is ready. */
	ASSERT_TRUE(place_reaches(&self->places[0], &self->places[1], PATIENCE_MS));
	for (i = 0; i < FLOWS; i++) {
		flows[i] = self->places[0];
		flows[i].socket = place_socket(&self->places[0]);
	}
	while (received < FRAMES) {
		if (sent < FRAMES && sent - received < WAITING_MOST) {
			flow = sent % FLOWS;
			ASSERT_EQ(0,
				  place_send(&flows[flow], 1, COUNTED | flow << 16 | sent / FLOWS));
			sent++;
			continue;
		}
		got = place_receive(&self->places[1], PATIENCE_MS);
		ASSERT_LE(0, got);
		if (!(got & COUNTED))
			continue;
		flow = got >> 16 & 0xff;
		ASSERT_GT(FLOWS, flow);
		ASSERT_EQ(expected[flow]++, got & 0xffff);
		received++;
	}
	for (i = 0; i < WAYS; i++)
		used += circuit_counter(&self->places[0], circuits[i], "tx_frames") > 0;
	EXPECT_LE(2, used);
	for (i = 0; i < FLOWS; i++)
		close(flows[i].socket);
}

#define BIG_BYTES 1400

/* Send big datagrams to rank 1 until the socket has no more space. Return their number. */
static unsigned int fill(int file)
{
	static const char bytes[BIG_BYTES];
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons(9),
		.sin_addr.s_addr = htonl(0x0a000002),
	};
	unsigned int count = 0;

	while (sendto(file, bytes, sizeof(bytes), MSG_DONTWAIT, (void *)&to, sizeof(to)) > 0)
		count++;
	return count;
}

/* Does the kernel hold no frame of the socket any more? */
static bool is_empty(int file)
{
	int bytes;

	return !ioctl(file, SIOCOUTQ, &bytes) && !bytes;
}

/* The waiting frames would take a minute to pass, and the light does not return. */
TEST_F(net, waiting_frames_are_dropped_when_the_light_goes)
{
	struct morph_rank_info ranks[RANKS];
	struct morph_slice_info info;
	struct morph_event event;
	int file;

	SLOW_DOWN("scale=1000000");
	PLACE(30000);
	PLACE(30000);
	LIGHT();
	KNOW();
	ASSERT_TRUE(place_reaches(&self->places[0], &self->places[1], PATIENCE_MS));
	ASSERT_EQ(0, slice_policy(self->slice, MORPH_FAILOVER_NONE));
	ASSERT_EQ(0, slice_read(self->slice, &info, ranks, RANKS, NULL, 0));
	file = place_socket(&self->places[0]);
	ASSERT_LT(0, fill(file));
	ASSERT_EQ(0, sim_control(&self->sim, "fault", "accelerator_dead %u", ranks[1].accelerator));
	ASSERT_EQ(0, wait_event(self->slice, MORPH_EVENT_DEGRADED, PATIENCE_MS, &event));
	EXPECT_TRUE(WAIT_UNTIL(is_empty(file)));
	EXPECT_LT(0, circuit_counter(&self->places[0], self->circuits[0], "tx_dark"));
	close(file);
}

#define STOP_BYTES (128 << 10)
#define MOST_BYTES (256 << 10)
#define SOCKETS 4 /* their frames fill the queue of the circuit, but not that of the kernel */

TEST_F(net, queue_of_a_circuit_is_bounded)
{
	int64_t most;
	int files[SOCKETS];
	unsigned int i;

	SLOW_DOWN("scale=1000000");
	PLACE(0);
	PLACE(0);
	LIGHT();
	KNOW();
	ASSERT_TRUE(place_reaches(&self->places[0], &self->places[1], PATIENCE_MS));
	for (i = 0; i < SOCKETS; i++) {
		files[i] = place_socket(&self->places[0]);
		ASSERT_LT(0, fill(files[i]));
	}
	most = circuit_counter(&self->places[0], self->circuits[0], "tx_queued_most");
	EXPECT_LT(STOP_BYTES, most);
	EXPECT_GE(MOST_BYTES, most);
	for (i = 0; i < SOCKETS; i++)
		close(files[i]);
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

#define SENT_MOST (1u << 20)

/*
 * A thread of rank 0 that sends to other ranks in turn, as fast as it can. A datagram has its
 * number. The thread records the phase of the test before and after it has sent the datagram.
 */
struct sender {
	const struct place *from;
	unsigned int first, end; /* ranks */
	unsigned int phase; /* the test writes it */
	bool ends;
	unsigned int sent;
	pthread_t thread;
	struct {
		unsigned int before, after;
	} phases[SENT_MOST];
};

static void *send_all_the_time(void *context)
{
	struct sender *sender = context;
	unsigned int rank = sender->first, number;

	for (number = 0; number < SENT_MOST; number++) {
		if (__atomic_load_n(&sender->ends, __ATOMIC_SEQ_CST))
			break;
		sender->phases[number].before = __atomic_load_n(&sender->phase, __ATOMIC_SEQ_CST);
		place_send(sender->from, rank, number);
		sender->phases[number].after = __atomic_load_n(&sender->phase, __ATOMIC_SEQ_CST);
		__atomic_store_n(&sender->sent, number + 1, __ATOMIC_SEQ_CST);
		rank = rank + 1 < sender->end ? rank + 1 : sender->first;
	}
	return NULL;
}

static struct sender sender;

#define SEND_TO(first_rank, last_rank)                                                          \
	({                                                                                      \
		sender.from = &self->places[0];                                                 \
		sender.first = first_rank;                                                      \
		sender.end = last_rank + 1;                                                     \
		ASSERT_EQ(0, pthread_create(&sender.thread, NULL, send_all_the_time, &sender)); \
	})

static unsigned int count_sent(void)
{
	return __atomic_load_n(&sender.sent, __ATOMIC_SEQ_CST);
}

static void begin_phase(unsigned int phase)
{
	__atomic_store_n(&sender.phase, phase, __ATOMIC_SEQ_CST);
}

static void stop_sending(void)
{
	__atomic_store_n(&sender.ends, true, __ATOMIC_SEQ_CST);
	pthread_join(sender.thread, NULL);
}

#define JUMPS 40

/* Phases of the test. A phase of a step begins when the call that lights it has returned. */
static unsigned int jump_to(unsigned int step)
{
	return 2 * step + 1;
}

static unsigned int in_step(unsigned int step)
{
	return 2 * step + 2;
}

/* Could a circuit to the rank be lit while the thread sent the datagram? */
static bool may_arrive(unsigned int rank, unsigned int number)
{
	unsigned int step;

	/* The thread has not recorded the datagram yet. */
	while (count_sent() <= number)
		sched_yield();
	for (step = 0; step < JUMPS; step++) {
		/* The circuits of a step are lit from its jump to the end of the next one. */
		if (rank == 1 + step % 2 && sender.phases[number].after >= jump_to(step) &&
		    sender.phases[number].before <= jump_to(step + 1))
			return true;
	}
	return false;
}

static bool was_sent_in(unsigned int number, unsigned int phase)
{
	return sender.phases[number].before == phase && sender.phases[number].after == phase;
}

/* Each rank also receives frames that were sent while its step was lit. */
TEST_F(net, frames_beside_jumps_pass_on_circuits_of_the_step_only)
{
	struct morph_schedule_circuit circuits[2] = { { .dst_rank = 1 }, { .dst_rank = 2 } };
	unsigned int step, rank, number, beside = 0;
	struct link_state far;
	int64_t got;
	int schedule;

	for (rank = 0; rank < RANKS; rank++)
		PLACE(30000);
	for (rank = 1; rank < RANKS; rank++) {
		ASSERT_EQ(0, place_state(&self->places[rank], &far));
		ASSERT_EQ(0, place_know(&self->places[0], rank, far.address));
	}
	/* Without a carrier, no frame would reach the driver. */
	LIGHT();
	ASSERT_TRUE(place_reaches(&self->places[0], &self->places[1], PATIENCE_MS));
	DARKEN();
	while (place_receive(&self->places[1], 0) >= 0)
		;
	schedule = schedule_in_turn(self->slice, circuits, 2, NULL);
	ASSERT_LE(0, schedule);
	SEND_TO(1, 2);
	for (step = 0; step < JUMPS; step++) {
		struct morph_schedule_act jump = { .step = step % 2 };

		begin_phase(jump_to(step));
		ASSERT_EQ(0,
			  schedule_act(self->slice, schedule,
				       step ? MORPH_SCHEDULE_JUMP : MORPH_SCHEDULE_START, &jump));
		begin_phase(in_step(step));
		do {
			got = place_receive(&self->places[1 + step % 2], PATIENCE_MS);
			ASSERT_LE(0, got);
			ASSERT_TRUE(may_arrive(1 + step % 2, got));
		} while (!was_sent_in(got, in_step(step)));
		while ((got = place_receive(&self->places[2 - step % 2], 0)) >= 0)
			ASSERT_TRUE(may_arrive(2 - step % 2, got));
	}
	stop_sending();
	for (number = 0; number < count_sent(); number++)
		beside += sender.phases[number].before % 2 || sender.phases[number].after % 2;
	EXPECT_LT(0, beside);
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

#define MOVES 10

/* A write takes so long that the sender meets each phase of a move. */
TEST_F(net, move_that_keeps_the_light_drops_no_frame)
{
	struct link_state before, after;
	unsigned int i, sent;

	restart_sim(self, "settle_ns=0 relock_ns=0 write_ns=20000000");
	PLACE(0);
	PLACE(0);
	LIGHT_IN(0);
	KNOW();
	ASSERT_TRUE(place_reaches(&self->places[0], &self->places[1], PATIENCE_MS));
	ASSERT_EQ(0, place_state(&self->places[0], &before));
	SEND_TO(1, 1);
	for (i = 0; i < MOVES; i++) {
		struct morph_change changes[2] = {
			change_move(self->circuits[0], 1 - i % 2),
			change_move(self->circuits[1], 1 - i % 2),
		};

		sent = count_sent();
		EXPECT_EQ(0, txn_run(self->slice, changes, 2, NULL)) TH_LOG("%s", last_detail);
		EXPECT_EQ(0, changes[0].dark_ns | changes[1].dark_ns);
		/* On a busy machine the sender may not run during this move, but during others. */
		EXPECT_TRUE(WAIT_UNTIL(count_sent() > sent));
	}
	stop_sending();
	ASSERT_EQ(0, place_state(&self->places[0], &after));
	EXPECT_EQ(before.dark, after.dark);
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

// SPDX-License-Identifier: GPL-2.0-only
/* Frames of network devices: circuits, order, queues, missing circuits, steps, moves. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ranks.h"

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

/* Create all devices, and let rank 0 send without ARP to rank 2, to which no circuit leads. */
#define KNOW_WITHOUT_CIRCUIT()                                                \
	({                                                                    \
		struct link_state __far;                                      \
                                                                              \
		PLACE(0);                                                     \
		PLACE(0);                                                     \
		PLACE(0);                                                     \
		LIGHT();                                                      \
		ASSERT_TRUE(WAIT_UNTIL(has_carrier(&self->places[0])));       \
		ASSERT_EQ(0, place_state(&self->places[2], &__far));          \
		ASSERT_EQ(0, place_know(&self->places[0], 2, __far.address)); \
	})

TEST_F(net, frame_without_a_circuit_is_dropped_with_a_reason)
{
	struct link_state before, after;

	KNOW_WITHOUT_CIRCUIT();
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
	long long began;

	KNOW_WITHOUT_CIRCUIT();
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

/*
 * Create the devices of all ranks, and load a schedule with a step for the circuit from rank 0 to
 * rank 1, and another for that to rank 2.
 */
#define LOAD_SCHEDULE()                                                                      \
	({                                                                                   \
		struct morph_schedule_circuit __circuits[2] = { { .dst_rank = 1 },           \
								{ .dst_rank = 2 } };         \
		struct link_state __far;                                                     \
		unsigned int __i;                                                            \
		int __schedule;                                                              \
                                                                                             \
		for (__i = 0; __i < RANKS; __i++)                                            \
			PLACE(30000);                                                        \
		for (__i = 1; __i < RANKS; __i++) {                                          \
			ASSERT_EQ(0, place_state(&self->places[__i], &__far));               \
			ASSERT_EQ(0, place_know(&self->places[0], __i, __far.address));      \
		}                                                                            \
		/* Without a carrier, no frame would reach the driver. */                    \
		LIGHT();                                                                     \
		ASSERT_TRUE(place_reaches(&self->places[0], &self->places[1], PATIENCE_MS)); \
		DARKEN();                                                                    \
		while (place_receive(&self->places[1], 0) >= 0)                              \
			;                                                                    \
		__schedule = schedule_in_turn(self->slice, __circuits, 2, NULL);             \
		ASSERT_LE(0, __schedule);                                                    \
		__schedule;                                                                  \
	})

/* Send to both other ranks in each step. Only frames on the circuit of the step arrive. */
TEST_F(net, frames_pass_on_circuits_of_the_step_only)
{
	unsigned int step, rank, i;
	int64_t got, last;
	int schedule;

	schedule = LOAD_SCHEDULE();
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
	unsigned int step, number, beside = 0;
	int64_t got;
	int schedule;

	schedule = LOAD_SCHEDULE();
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

static struct morph_change change_move(unsigned int circuit, unsigned int plane)
{
	return (struct morph_change){
		.op = MORPH_CHANGE_MOVE,
		.circuit = circuit,
		.src_plane = plane,
		.dst_plane = plane,
	};
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

TEST_HARNESS_MAIN

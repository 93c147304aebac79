// SPDX-License-Identifier: GPL-2.0-only
/*
 * Half circuits: two fabrics whose edges face each other, and a coordinator that lights a
 * circuit there and one back, or dies on the way.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fabric.h"
#include "kselftest_harness.h"

#define SECOND 1000000000ULL
#define LONG (600 * SECOND)
#define MS 1000000ULL

#define UUID_A "11111111-1111-4111-8111-111111111111"
#define UUID_B "22222222-2222-4222-8222-222222222222"

/* edge4: edge 0 lies at accelerator 1 and leads to the peer's edge 4, which does likewise. */
#define OUT 0
#define IN 4
#define AT_EDGE 1
#define EDGE(index) (MORPH_RANK_EDGE | (index))

/* One side: a fabric, and a slice of the accelerator at the edge and another one. */
struct side {
	struct sim sim;
	int slice;
	char node[32];
	struct morph_change changes[2]; /* what leaves, and what comes in */
	struct morph_txn_run run;
	struct morph_txn_step step;
	struct morph_circuit_info circuits[4];
	struct morph_slice_info info;
};

static struct morph_change half(unsigned int src, unsigned int dst)
{
	struct morph_change change = change_add(src, dst);

	change.lanes = 1;
	return change;
}

static int side_prepare(struct side *side, uint64_t cookie, uint64_t lease_ns)
{
	side->changes[0] = half(0, EDGE(OUT));
	side->changes[1] = half(EDGE(IN), 0);
	side->run = (struct morph_txn_run){ .head.flags = MORPH_TXN_PREPARE };
	side->run.generation = GENERATION_ANY;
	side->run.cookie = cookie;
	side->run.lease_ns = lease_ns;
	return txn_run(side->slice, side->changes, 2, &side->run) ? errno : 0;
}

/* errno of a step, or 0. */
static int side_step(struct side *side, unsigned int verb, uint64_t lease_ns)
{
	return txn_step(side->slice, side->run.out_txn, verb, lease_ns, &side->step) ? errno : 0;
}

static int step_by_cookie(struct side *side, uint64_t cookie, unsigned int verb)
{
	side->step = (struct morph_txn_step){
		.head = HEAD(morph_txn_step),
		.verb = verb,
		.cookie = cookie,
	};
	return ioctl(side->slice, MORPH_TXN_STEP, &side->step) ? errno : 0;
}

static int side_read(struct side *side)
{
	return slice_read(side->slice, &side->info, NULL, 0, side->circuits, 4);
}

/* The state of the circuit with that end, or -1. */
static int state_of(struct side *side, unsigned int src, unsigned int dst)
{
	unsigned int i;

	if (side_read(side))
		return -1;
	for (i = 0; i < side->info.circuits.count; i++)
		if (side->circuits[i].src_rank == src && side->circuits[i].dst_rank == dst)
			return side->circuits[i].state;
	return -1;
}

static int state_out(struct side *side)
{
	return state_of(side, 0, EDGE(OUT));
}

static int state_in(struct side *side)
{
	return state_of(side, EDGE(IN), 0);
}

static void side_start(struct side *side, const char *settings, const char *name)
{
	const uint32_t accelerators[] = { AT_EDGE, 0 };
	struct morph_slice_create args = {};

	sim_start(&side->sim, "edge4", settings);
	snprintf(args.name, sizeof(args.name), "%s", name);
	side->slice = slice_create_with(side->sim.fd, &args, accelerators, 2);
	snprintf(side->node, sizeof(side->node), "/dev/morph/slice%u", args.out_slice);
}

static void side_stop(struct side *side, const char *name)
{
	if (side->slice >= 0)
		close(side->slice);
	slice_delete(side->sim.fd, MORPH_ANY, name, MORPH_SLICE_FORCE);
	sim_wait_free(&side->sim, 4);
	sim_stop(&side->sim);
}

FIXTURE(edge)
{
	struct side a, b;
};

FIXTURE_SETUP(edge)
{
	side_start(&self->a, "uuid=" UUID_A " peer=" UUID_B, "a");
	side_start(&self->b, "uuid=" UUID_B " peer=" UUID_A, "b");
	ASSERT_LE(0, self->a.slice);
	ASSERT_LE(0, self->b.slice);
}

FIXTURE_TEARDOWN(edge)
{
	side_stop(&self->a, "a");
	side_stop(&self->b, "b");
}

/* Both ways lit and confirmed. */
#define LIGHT_BOTH()                                                    \
	({                                                              \
		ASSERT_EQ(0, side_prepare(&self->a, 1, LONG));          \
		ASSERT_EQ(0, side_prepare(&self->b, 1, LONG));          \
		ASSERT_EQ(0, side_step(&self->a, MORPH_TXN_COMMIT, 0)); \
		ASSERT_EQ(0, side_step(&self->b, MORPH_TXN_COMMIT, 0)); \
		ASSERT_EQ(0, side_step(&self->a, MORPH_TXN_CONFIRM, 0)) \
		{                                                       \
			TH_LOG("%s", last_detail);                      \
		}                                                       \
		ASSERT_EQ(0, side_step(&self->b, MORPH_TXN_CONFIRM, 0)) \
		{                                                       \
			TH_LOG("%s", last_detail);                      \
		}                                                       \
	})

TEST_F(edge, names_its_peer)
{
	const uint8_t peer = 0x22;
	struct morph_edge_info edges[9];
	struct morph_fabric_read args = {
		.head = HEAD(morph_fabric_read),
		.entries = ARRAY(edges, 9),
	};

	ASSERT_EQ(0, ioctl(self->a.sim.fd, MORPH_FABRIC_READ_EDGES, &args));
	ASSERT_EQ(8, args.entries.count);
	EXPECT_EQ(8, self->a.sim.info.edges);
	EXPECT_EQ(peer, edges[OUT].peer_uuid[0]);
	EXPECT_EQ(IN, edges[OUT].peer_edge);
	EXPECT_EQ(OUT, edges[IN].peer_edge);
	EXPECT_EQ(-5000, edges[OUT].least_mdbm);
	EXPECT_EQ(4000, edges[OUT].most_mdbm);
	EXPECT_EQ(0, edges[OUT].lanes_out);
	EXPECT_STREQ("out0", edges[OUT].name);
}

TEST_F(edge, circuit_there_and_back)
{
	ASSERT_EQ(0, side_prepare(&self->a, 1, LONG))
	{
		TH_LOG("%s", last_detail);
	}
	EXPECT_EQ(MORPH_PLANE_ANY, self->a.changes[0].dst_plane);
	EXPECT_EQ(MORPH_PLANE_ANY, self->a.changes[1].src_plane);
	ASSERT_EQ(0, side_prepare(&self->b, 1, LONG));
	EXPECT_TRUE(sim_all_dark(&self->b.sim));
	ASSERT_EQ(0, side_step(&self->a, MORPH_TXN_COMMIT, 0))
	{
		TH_LOG("%s", last_detail);
	}
	EXPECT_EQ(MORPH_CIRCUIT_LIT, state_out(&self->a));
	EXPECT_EQ(MORPH_CIRCUIT_WAITING, state_in(&self->a));
	EXPECT_EQ(0, sim_lit_lanes(&self->a.sim, AT_EDGE));
	/* The light is in the fibre before the peer's elements let it in. */
	ASSERT_EQ(0, side_step(&self->b, MORPH_TXN_COMMIT, 0));
	EXPECT_EQ(1, sim_lit_lanes(&self->a.sim, AT_EDGE));
	EXPECT_EQ(1, sim_lit_lanes(&self->b.sim, AT_EDGE));
	EXPECT_EQ(0, side_step(&self->a, MORPH_TXN_VERIFY, 0));
	EXPECT_EQ(MORPH_OUTCOME_UNCONFIRMED, self->a.step.out_outcome);
	EXPECT_EQ(MORPH_CIRCUIT_LIT, state_in(&self->a));
	EXPECT_EQ(0, side_step(&self->b, MORPH_TXN_CONFIRM, 0));
	EXPECT_EQ(0, side_step(&self->a, MORPH_TXN_CONFIRM, 0));
	EXPECT_EQ(MORPH_OUTCOME_COMMITTED, self->a.step.out_outcome);
	EXPECT_EQ(MORPH_CIRCUIT_LIT, state_in(&self->b));
	EXPECT_EQ(MORPH_SLICE_OK, self->b.info.state);
	EXPECT_LT(-15000, self->b.circuits[0].power_mdbm);
	EXPECT_EQ(1, self->b.circuits[0].lanes);
}

TEST_F(edge, ends_that_are_wrong)
{
	struct morph_txn_run dry = { .generation = GENERATION_ANY };
	struct morph_change change = change_add(0, EDGE(8));

	EXPECT_EQ(-1, txn_run(self->a.slice, &change, 1, NULL));
	EXPECT_EQ(ENOENT, errno);
	EXPECT_EQ(MORPH_PART_EDGE, change.part);
	change = change_add(EDGE(IN), EDGE(OUT));
	EXPECT_EQ(-1, txn_run(self->a.slice, &change, 1, NULL));
	EXPECT_EQ(EINVAL, errno);
	change = change_add(0, EDGE(OUT));
	change.dst_plane = 0;
	EXPECT_EQ(-1, txn_run(self->a.slice, &change, 1, NULL));
	EXPECT_EQ(EINVAL, errno);
	/* Nobody would look whether its light arrives. */
	change = change_add(EDGE(IN), 0);
	EXPECT_EQ(-1, txn_run(self->a.slice, &change, 1, NULL));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(MORPH_REASON_STATE, change.reason);
	dry.head.flags = MORPH_TXN_DRY_RUN;
	EXPECT_EQ(0, txn_run(self->a.slice, &change, 1, &dry));
	/* Light leaves at some edges, and comes in at others. */
	change = change_add(0, EDGE(IN));
	EXPECT_EQ(-1, txn_run(self->a.slice, &change, 1, NULL));
	EXPECT_EQ(EHOSTUNREACH, errno);
}

TEST_F(edge, half_that_leaves_is_verified_here)
{
	struct morph_change change = half(0, EDGE(OUT));

	EXPECT_EQ(0, txn_run(self->a.slice, &change, 1, NULL))
	{
		TH_LOG("%s", last_detail);
	}
	EXPECT_EQ(MORPH_CIRCUIT_LIT, state_out(&self->a));
	change = change_remove(change.circuit);
	EXPECT_EQ(0, txn_run(self->a.slice, &change, 1, NULL));
	change = half(0, EDGE(OUT));
	change.src_plane = 2;
	ASSERT_EQ(0, sim_control(&self->a.sim, "fault", "laser_dead %u.2.0x1", AT_EDGE));
	EXPECT_EQ(-1, txn_run(self->a.slice, &change, 1, NULL));
	EXPECT_EQ(EIO, errno);
	EXPECT_EQ(MORPH_PART_LASER, change.part);
}

TEST_F(edge, other_slice_gets_no_lane_of_it)
{
	const uint32_t rest[] = { 2, 3 };
	struct morph_change change = half(0, EDGE(OUT));
	int other;

	ASSERT_EQ(0, txn_run(self->a.slice, &change, 1, NULL));
	other = slice_create_at(self->a.sim.fd, rest, 2);
	ASSERT_LE(0, other);
	change = half(0, EDGE(OUT));
	change.lanes = 2;
	EXPECT_EQ(-1, txn_run(other, &change, 1, NULL));
	EXPECT_EQ(EBUSY, errno);
	close(other);
}

TEST_F(edge, confirm_wants_the_peers_light)
{
	ASSERT_EQ(0, side_prepare(&self->b, 1, LONG));
	ASSERT_EQ(0, side_step(&self->b, MORPH_TXN_COMMIT, 0));
	EXPECT_EQ(EAGAIN, side_step(&self->b, MORPH_TXN_VERIFY, 0));
	EXPECT_EQ(MORPH_REASON_PEER, self->b.step.head.reason);
	EXPECT_EQ(MORPH_PART_EDGE, self->b.step.head.part);
	EXPECT_EQ(IN, self->b.step.head.index);
	EXPECT_EQ(EAGAIN, side_step(&self->b, MORPH_TXN_CONFIRM, 0));
	EXPECT_EQ(MORPH_OUTCOME_UNCONFIRMED, self->b.step.out_outcome);
	EXPECT_LT(0, self->b.step.out_lease_ns);
	ASSERT_EQ(0, side_step(&self->b, MORPH_TXN_REVERT, 0));
	EXPECT_EQ(-1, state_in(&self->b));
	EXPECT_TRUE(sim_all_dark(&self->b.sim));
}

TEST_F(edge, lease_without_light_reverts)
{
	struct morph_event event;

	ASSERT_EQ(0, side_prepare(&self->b, 1, LONG));
	ASSERT_EQ(0, side_step(&self->b, MORPH_TXN_COMMIT, 300 * MS));
	ASSERT_EQ(0, wait_event(self->b.slice, MORPH_EVENT_TXN, PATIENCE_MS, &event));
	EXPECT_EQ(MORPH_OUTCOME_EXPIRED, event.outcome);
	EXPECT_EQ(0, step_by_cookie(&self->b, 1, MORPH_TXN_QUERY));
	EXPECT_EQ(MORPH_OUTCOME_EXPIRED, self->b.step.out_outcome);
}

/* Once it is verified its lease ends as the light tells. */
TEST_F(edge, lease_with_light_that_was_verified_confirms)
{
	struct morph_event event;

	ASSERT_EQ(0, side_prepare(&self->a, 1, LONG));
	ASSERT_EQ(0, side_prepare(&self->b, 1, LONG));
	ASSERT_EQ(0, side_step(&self->a, MORPH_TXN_COMMIT, 0));
	ASSERT_EQ(0, side_step(&self->b, MORPH_TXN_COMMIT, 0));
	ASSERT_EQ(0, side_step(&self->a, MORPH_TXN_VERIFY, 200 * MS));
	ASSERT_EQ(0, wait_event(self->a.slice, MORPH_EVENT_TXN, PATIENCE_MS, &event));
	EXPECT_EQ(MORPH_OUTCOME_COMMITTED, event.outcome);
	/* The other one has not been verified: it reverts, and that is seen. */
	ASSERT_EQ(0, side_step(&self->b, MORPH_TXN_REVERT, 0));
	ASSERT_EQ(0, wait_event(self->a.slice, MORPH_EVENT_CIRCUIT_FAILED, PATIENCE_MS, &event));
	EXPECT_EQ(MORPH_PART_EDGE, event.part);
	EXPECT_EQ(IN, event.index);
}

TEST_F(edge, found_again_by_its_cookie)
{
	unsigned int txn;

	ASSERT_EQ(0, side_prepare(&self->a, 77, LONG));
	txn = self->a.run.out_txn;
	EXPECT_EQ(0, side_prepare(&self->a, 77, LONG));
	EXPECT_EQ(txn, self->a.run.out_txn);
	EXPECT_EQ(ENOENT, step_by_cookie(&self->a, 78, MORPH_TXN_QUERY));
	EXPECT_EQ(ENOENT, step_by_cookie(&self->a, 0, MORPH_TXN_QUERY));
	/* Whoever prepared it is gone; the named slice is not. */
	close(self->a.slice);
	self->a.slice = open(self->a.node, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->a.slice);
	EXPECT_EQ(0, step_by_cookie(&self->a, 77, MORPH_TXN_QUERY));
	EXPECT_EQ(MORPH_OUTCOME_PREPARED, self->a.step.out_outcome);
	EXPECT_NE(0, self->a.step.txn);
	EXPECT_EQ(0, step_by_cookie(&self->a, 77, MORPH_TXN_REVERT));
	EXPECT_EQ(0, step_by_cookie(&self->a, 77, MORPH_TXN_QUERY));
	EXPECT_EQ(MORPH_OUTCOME_ROLLED_BACK, self->a.step.out_outcome);
}

TEST_F(edge, peer_that_goes_dark_and_comes_back)
{
	struct morph_event event;
	struct morph_change change;

	LIGHT_BOTH();
	change = change_remove(self->a.changes[0].circuit);
	ASSERT_EQ(0, txn_run(self->a.slice, &change, 1, NULL));
	ASSERT_EQ(0, wait_event(self->b.slice, MORPH_EVENT_CIRCUIT_FAILED, PATIENCE_MS, &event));
	EXPECT_EQ(MORPH_PART_EDGE, event.part);
	EXPECT_EQ(IN, event.index);
	EXPECT_TRUE(slice_wait_state(self->b.slice, MORPH_SLICE_DEGRADED));
	change = half(0, EDGE(OUT));
	ASSERT_EQ(0, txn_run(self->a.slice, &change, 1, NULL));
	EXPECT_TRUE(slice_wait_state(self->b.slice, MORPH_SLICE_OK));
	EXPECT_EQ(MORPH_CIRCUIT_LIT, state_in(&self->b));
	EXPECT_EQ(MORPH_SLICE_OK, self->b.info.state);
}

/* The guide that ends at an edge of a side. */
static unsigned int guide_at(struct side *side, unsigned int edge)
{
	struct morph_edge_info info = {};

	fabric_read(side->sim.fd, MORPH_FABRIC_READ_EDGES, edge,
		    (struct morph_array)ARRAY(&info, 1));
	return info.guide;
}

TEST_F(edge, fibre_cut_is_seen_from_both_sides)
{
	LIGHT_BOTH();
	ASSERT_EQ(0, sim_control(&self->a.sim, "fault", "fibre_cut %u", guide_at(&self->a, OUT)));
	EXPECT_TRUE(slice_wait_state(self->b.slice, MORPH_SLICE_DEGRADED));
	EXPECT_EQ(MORPH_CIRCUIT_LIT, state_in(&self->a));
	ASSERT_EQ(0, sim_control(&self->a.sim, "clear", "all"));
	EXPECT_TRUE(slice_wait_state(self->b.slice, MORPH_SLICE_OK));
	ASSERT_EQ(0, sim_control(&self->b.sim, "fault", "fibre_cut %u", guide_at(&self->b, IN)));
	EXPECT_TRUE(slice_wait_state(self->b.slice, MORPH_SLICE_DEGRADED));
	ASSERT_EQ(0, sim_control(&self->b.sim, "clear", "all"));
	EXPECT_TRUE(slice_wait_state(self->b.slice, MORPH_SLICE_OK));
}

TEST_F(edge, peer_that_is_removed_is_darkness)
{
	LIGHT_BOTH();
	sim_pull(&self->b.sim);
	EXPECT_TRUE(slice_wait_state(self->a.slice, MORPH_SLICE_DEGRADED));
	EXPECT_EQ(MORPH_CIRCUIT_FAILED, state_in(&self->a));
	close(self->b.slice);
	self->b.slice = -1;
	close(self->b.sim.fd);
	/* It comes back as another one, dark, and is joined again. */
	sim_replug(&self->b.sim);
	self->b.slice = slice_create_at(self->b.sim.fd, (const uint32_t[]){ AT_EDGE, 0 }, 2);
	ASSERT_LE(0, self->b.slice);
	ASSERT_EQ(0, side_prepare(&self->b, 2, LONG));
	ASSERT_EQ(0, side_step(&self->b, MORPH_TXN_COMMIT, 0));
	EXPECT_EQ(0, side_step(&self->b, MORPH_TXN_CONFIRM, 0))
	{
		TH_LOG("%s", last_detail);
	}
	EXPECT_TRUE(slice_wait_state(self->a.slice, MORPH_SLICE_OK));
}

TEST_F(edge, failover_keeps_edge_and_lane)
{
	struct morph_event event;

	LIGHT_BOTH();
	ASSERT_EQ(0, sim_control(&self->a.sim, "fault", "accelerator_dead %u", AT_EDGE));
	ASSERT_EQ(0, wait_event(self->a.slice, MORPH_EVENT_REPLACED, PATIENCE_MS, &event));
	EXPECT_EQ(4, event.new_accelerator);
	EXPECT_TRUE(slice_wait_state(self->a.slice, MORPH_SLICE_OK));
	EXPECT_EQ(MORPH_CIRCUIT_LIT, state_out(&self->a));
	EXPECT_EQ(MORPH_CIRCUIT_LIT, state_in(&self->a));
	EXPECT_EQ(1, self->a.circuits[0].lanes);
	EXPECT_EQ(1, self->a.circuits[1].lanes);
	/* The peer has lost light for a moment, no more. */
	EXPECT_TRUE(slice_wait_state(self->b.slice, MORPH_SLICE_OK));
	EXPECT_EQ(MORPH_CIRCUIT_LIT, state_in(&self->b));
}

/* What was committed and not verified is given up: its accelerators stand elsewhere from now on. */
TEST_F(edge, failover_reverts_halves_that_were_not_verified)
{
	ASSERT_EQ(0, side_prepare(&self->a, 1, LONG));
	ASSERT_EQ(0, side_step(&self->a, MORPH_TXN_COMMIT, 0));
	ASSERT_EQ(0, sim_control(&self->a.sim, "fault", "accelerator_dead 0"));
	ASSERT_EQ(0, wait_event(self->a.slice, MORPH_EVENT_REPLACED, PATIENCE_MS, NULL));
	EXPECT_EQ(-1, state_out(&self->a));
	EXPECT_EQ(-1, state_in(&self->a));
	EXPECT_TRUE(sim_all_dark(&self->a.sim));
}

/* ------------------------------------------------- a coordinator that is killed */

#define STEPS 8

/* The coordinator's protocol, as Documentation/device-abi.rst has it, up to a step. */
static void coordinate(struct side *a, struct side *b, uint64_t cookie, int steps)
{
	struct side *const sides[] = { a, b };
	int step, error = 0;

	for (step = 0; step < steps && !error; step++) {
		struct side *side = sides[step % 2];

		switch (step / 2) {
		case 0:
			error = side_prepare(side, cookie, SECOND);
			break;
		case 1:
			error = side_step(side, MORPH_TXN_COMMIT, SECOND);
			break;
		case 2:
			error = side_step(side, MORPH_TXN_VERIFY, 3 * SECOND);
			break;
		default:
			error = side_step(side, MORPH_TXN_CONFIRM, 0);
		}
	}
}

/* A process that opens the slices by itself, as a coordinator would, and hangs at a step. */
static pid_t start_coordinator(struct side *a, struct side *b, uint64_t cookie, int steps,
			       int *ready)
{
	int pipe_ends[2];
	pid_t pid;

	if (pipe(pipe_ends))
		return -1;
	pid = fork();
	if (!pid) {
		a->slice = open(a->node, O_RDWR | O_CLOEXEC);
		b->slice = open(b->node, O_RDWR | O_CLOEXEC);
		coordinate(a, b, cookie, steps);
		if (write(pipe_ends[1], "", 1) == 1)
			pause();
		_exit(0);
	}
	close(pipe_ends[1]);
	*ready = pipe_ends[0];
	return pid;
}

static void kill_coordinator(pid_t pid, int ready)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(ready);
}

/* What became of a transaction, once it has ended: 1 confirmed, 0 reverted, or never there. */
static int ending(struct side *side, uint64_t cookie)
{
	do {
		if (step_by_cookie(side, cookie, MORPH_TXN_QUERY) == ENOENT)
			return 0;
		switch (side->step.out_outcome) {
		case MORPH_OUTCOME_COMMITTED:
			return 1;
		case MORPH_OUTCOME_EXPIRED:
		case MORPH_OUTCOME_ROLLED_BACK:
		case MORPH_OUTCOME_REVOKED:
			return 0;
		}
	} while (!wait_event(side->slice, MORPH_EVENT_TXN, PATIENCE_MS, NULL));
	return -1;
}

/* Take away what was confirmed, so that the next coordinator finds nothing. */
static void clear(struct side *side)
{
	long long until = now_ms() + PATIENCE_MS;
	struct morph_change changes[2];
	unsigned int i;

	/*
	 * While the peer's darkness is looked into, changes answer EAGAIN. No event tells the end
	 * of that, so they are tried again.
	 */
	while (!side_read(side) && side->info.circuits.count && now_ms() < until) {
		for (i = 0; i < side->info.circuits.count; i++)
			changes[i] = change_remove(side->circuits[i].circuit);
		if (txn_run(side->slice, changes, i, NULL))
			usleep(5000);
	}
	drain_events(side->slice);
}

/* The lights are as the endings say. */
#define EXPECT_SAME_ENDING(step, cookie)                                                \
	({                                                                              \
		int __a = ending(&self->a, cookie), __b = ending(&self->b, cookie);     \
                                                                                        \
		EXPECT_LE(0, __a);                                                      \
		EXPECT_EQ(__a, __b)                                                     \
		{                                                                       \
			TH_LOG("killed after step %d: ends %d and %d", step, __a, __b); \
		}                                                                       \
		EXPECT_EQ(__a ? MORPH_CIRCUIT_LIT : -1, state_in(&self->a));            \
		EXPECT_EQ(__b ? MORPH_CIRCUIT_LIT : -1, state_in(&self->b));            \
		EXPECT_EQ(!__a, sim_all_dark(&self->a.sim));                            \
		__a;                                                                    \
	})

TEST_F_TIMEOUT(edge, coordinator_killed_for_good, 240)
{
	int step, ready, confirmed = 0;
	char byte;
	pid_t pid;

	for (step = 0; step <= STEPS; step++) {
		pid = start_coordinator(&self->a, &self->b, step + 1, step, &ready);
		ASSERT_LT(0, pid);
		ASSERT_EQ(1, read(ready, &byte, 1));
		kill_coordinator(pid, ready);
		confirmed += EXPECT_SAME_ENDING(step, step + 1);
		clear(&self->a);
		clear(&self->b);
	}
	EXPECT_LT(0, confirmed);
	EXPECT_GT(STEPS, confirmed);
}

/* At any moment, in the middle of a step too. */
TEST_F_TIMEOUT(edge, coordinator_killed_at_random, 240)
{
	unsigned int seed = 12345;
	int round, ready;
	pid_t pid;

	for (round = 0; round < 12; round++) {
		pid = start_coordinator(&self->a, &self->b, 100 + round, STEPS, &ready);
		ASSERT_LT(0, pid);
		usleep(rand_r(&seed) % 30000);
		kill_coordinator(pid, ready);
		EXPECT_SAME_ENDING(round, 100 + round);
		clear(&self->a);
		clear(&self->b);
	}
}

/* What was verified gets a new lease, so that it does not end while somebody thinks. */
static void renew(struct side *side, uint64_t cookie)
{
	side->step = (struct morph_txn_step){
		.head = HEAD(morph_txn_step),
		.verb = MORPH_TXN_VERIFY,
		.cookie = cookie,
		.lease_ns = LONG,
	};
	ioctl(side->slice, MORPH_TXN_STEP, &side->step);
}

/* What it left is found by its cookie and finished: forward once anything is confirmed. */
static void recover(struct side *a, struct side *b, uint64_t cookie)
{
	struct side *const sides[] = { a, b };
	bool confirmed = false;
	int i;

	for (i = 0; i < 2; i++)
		renew(sides[i], cookie);
	for (i = 0; i < 2; i++)
		confirmed |= !step_by_cookie(sides[i], cookie, MORPH_TXN_QUERY) &&
			     sides[i]->step.out_outcome == MORPH_OUTCOME_COMMITTED;
	for (i = 0; i < 2; i++)
		step_by_cookie(sides[i], cookie, confirmed ? MORPH_TXN_CONFIRM : MORPH_TXN_REVERT);
}

/* One that comes late, and thinks for longer than the leases that it found, can still go back. */
TEST_F(edge, coordinator_restarted_late_goes_back)
{
	ASSERT_EQ(0, side_prepare(&self->a, 300, LONG));
	ASSERT_EQ(0, side_prepare(&self->b, 300, LONG));
	ASSERT_EQ(0, side_step(&self->a, MORPH_TXN_COMMIT, 0));
	ASSERT_EQ(0, side_step(&self->b, MORPH_TXN_COMMIT, 0));
	ASSERT_EQ(0, side_step(&self->a, MORPH_TXN_VERIFY, SECOND));
	ASSERT_EQ(0, side_step(&self->b, MORPH_TXN_VERIFY, SECOND));
	renew(&self->a, 300);
	renew(&self->b, 300);
	EXPECT_LT(SECOND, self->a.step.out_lease_ns);
	EXPECT_LT(SECOND, self->b.step.out_lease_ns);
	EXPECT_EQ(0, step_by_cookie(&self->a, 300, MORPH_TXN_REVERT));
	EXPECT_EQ(0, step_by_cookie(&self->b, 300, MORPH_TXN_REVERT));
	EXPECT_SAME_ENDING(0, 300);
}

TEST_F_TIMEOUT(edge, coordinator_restarted_finishes, 240)
{
	int step, ready;
	char byte;
	pid_t pid;

	for (step = 0; step <= STEPS; step++) {
		pid = start_coordinator(&self->a, &self->b, 200 + step, step, &ready);
		ASSERT_LT(0, pid);
		ASSERT_EQ(1, read(ready, &byte, 1));
		kill_coordinator(pid, ready);
		recover(&self->a, &self->b, 200 + step);
		EXPECT_EQ(step > STEPS - 2, EXPECT_SAME_ENDING(step, 200 + step));
		clear(&self->a);
		clear(&self->b);
	}
}

TEST_HARNESS_MAIN

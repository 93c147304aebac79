// SPDX-License-Identifier: GPL-2.0-only
/* Half circuits: two fabrics whose edges are connected to each other. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "side.h"
#include "kselftest_harness.h"

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

/* Light and confirm both directions. */
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
	EXPECT_EQ(MORPH_CIRCUIT_LIT, side_state_out(&self->a));
	EXPECT_EQ(MORPH_CIRCUIT_WAITING, side_state_in(&self->a));
	EXPECT_EQ(0, sim_lit_lanes(&self->a.sim, AT_EDGE));
	/* The light is already in the fibre before the elements of the peer pass it. */
	ASSERT_EQ(0, side_step(&self->b, MORPH_TXN_COMMIT, 0));
	EXPECT_EQ(1, sim_lit_lanes(&self->a.sim, AT_EDGE));
	EXPECT_EQ(1, sim_lit_lanes(&self->b.sim, AT_EDGE));
	EXPECT_EQ(0, side_step(&self->a, MORPH_TXN_VERIFY, 0));
	EXPECT_EQ(MORPH_OUTCOME_UNCONFIRMED, self->a.step.out_outcome);
	EXPECT_EQ(MORPH_CIRCUIT_LIT, side_state_in(&self->a));
	EXPECT_EQ(0, side_step(&self->b, MORPH_TXN_CONFIRM, 0));
	EXPECT_EQ(0, side_step(&self->a, MORPH_TXN_CONFIRM, 0));
	EXPECT_EQ(MORPH_OUTCOME_COMMITTED, self->a.step.out_outcome);
	EXPECT_EQ(MORPH_CIRCUIT_LIT, side_state_in(&self->b));
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
	/* Nothing would verify that its light arrives. */
	change = change_add(EDGE(IN), 0);
	EXPECT_EQ(-1, txn_run(self->a.slice, &change, 1, NULL));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(MORPH_REASON_STATE, change.reason);
	dry.head.flags = MORPH_TXN_DRY_RUN;
	EXPECT_EQ(0, txn_run(self->a.slice, &change, 1, &dry));
	/* An edge is either an exit or an entry for light. */
	change = change_add(0, EDGE(IN));
	EXPECT_EQ(-1, txn_run(self->a.slice, &change, 1, NULL));
	EXPECT_EQ(EHOSTUNREACH, errno);
}

TEST_F(edge, half_that_leaves_is_verified_here)
{
	struct morph_change change = half_circuit(0, EDGE(OUT));

	EXPECT_EQ(0, txn_run(self->a.slice, &change, 1, NULL))
	{
		TH_LOG("%s", last_detail);
	}
	EXPECT_EQ(MORPH_CIRCUIT_LIT, side_state_out(&self->a));
	change = change_remove(change.circuit);
	EXPECT_EQ(0, txn_run(self->a.slice, &change, 1, NULL));
	change = half_circuit(0, EDGE(OUT));
	change.src_plane = 2;
	ASSERT_EQ(0, sim_control(&self->a.sim, "fault", "laser_dead %u.2.0x1", AT_EDGE));
	EXPECT_EQ(-1, txn_run(self->a.slice, &change, 1, NULL));
	EXPECT_EQ(EIO, errno);
	EXPECT_EQ(MORPH_PART_LASER, change.part);
}

TEST_F(edge, other_slice_gets_no_lane_of_it)
{
	const uint32_t rest[] = { 2, 3 };
	struct morph_change change = half_circuit(0, EDGE(OUT));
	int other;

	ASSERT_EQ(0, txn_run(self->a.slice, &change, 1, NULL));
	other = slice_create_at(self->a.sim.fd, rest, 2);
	ASSERT_LE(0, other);
	change = half_circuit(0, EDGE(OUT));
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
	EXPECT_EQ(-1, side_state_in(&self->b));
	EXPECT_TRUE(sim_all_dark(&self->b.sim));
}

TEST_F(edge, lease_without_light_reverts)
{
	struct morph_event event;

	ASSERT_EQ(0, side_prepare(&self->b, 1, LONG));
	ASSERT_EQ(0, side_step(&self->b, MORPH_TXN_COMMIT, 300 * MS));
	ASSERT_EQ(0, wait_event(self->b.slice, MORPH_EVENT_TXN, PATIENCE_MS, &event));
	EXPECT_EQ(MORPH_OUTCOME_EXPIRED, event.outcome);
	EXPECT_EQ(0, side_step_by_cookie(&self->b, 1, MORPH_TXN_QUERY));
	EXPECT_EQ(MORPH_OUTCOME_EXPIRED, self->b.step.out_outcome);
}

/* If the light was verified, the expiring lease confirms the transaction. */
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
	/*
	 * The other half was not verified: it reverts, and the first fabric detects the lost light.
	 */
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
	EXPECT_EQ(ENOENT, side_step_by_cookie(&self->a, 78, MORPH_TXN_QUERY));
	EXPECT_EQ(ENOENT, side_step_by_cookie(&self->a, 0, MORPH_TXN_QUERY));
	/* The file that prepared it is closed, but the named slice is still there. */
	close(self->a.slice);
	self->a.slice = open(self->a.node, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->a.slice);
	EXPECT_EQ(0, side_step_by_cookie(&self->a, 77, MORPH_TXN_QUERY));
	EXPECT_EQ(MORPH_OUTCOME_PREPARED, self->a.step.out_outcome);
	EXPECT_NE(0, self->a.step.txn);
	EXPECT_EQ(0, side_step_by_cookie(&self->a, 77, MORPH_TXN_REVERT));
	EXPECT_EQ(0, side_step_by_cookie(&self->a, 77, MORPH_TXN_QUERY));
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
	change = half_circuit(0, EDGE(OUT));
	ASSERT_EQ(0, txn_run(self->a.slice, &change, 1, NULL));
	EXPECT_TRUE(slice_wait_state(self->b.slice, MORPH_SLICE_OK));
	EXPECT_EQ(MORPH_CIRCUIT_LIT, side_state_in(&self->b));
	EXPECT_EQ(MORPH_SLICE_OK, self->b.info.state);
}

/* Move the incoming half to another plane of its accelerator: prepare and commit. */
static int move_in(struct side *side)
{
	struct morph_change change = {
		.op = MORPH_CHANGE_MOVE,
		.circuit = side->changes[1].circuit,
		.dst_plane = !side->changes[1].dst_plane,
		.src_plane = MORPH_PLANE_ANY,
	};

	side->run = (struct morph_txn_run){ .head.flags = MORPH_TXN_PREPARE };
	side->run.generation = GENERATION_ANY;
	side->run.lease_ns = LONG;
	if (txn_run(side->slice, &change, 1, &side->run))
		return errno;
	return side_step(side, MORPH_TXN_COMMIT, 0);
}

TEST_F(edge, half_that_comes_in_is_moved_and_goes_back)
{
	unsigned int plane;

	LIGHT_BOTH();
	plane = self->a.changes[1].dst_plane;
	ASSERT_EQ(0, move_in(&self->a))
	{
		TH_LOG("%s", last_detail);
	}
	ASSERT_EQ(0, side_step(&self->a, MORPH_TXN_VERIFY, 0));
	ASSERT_EQ(0, side_step(&self->a, MORPH_TXN_REVERT, 0));
	EXPECT_EQ(MORPH_OUTCOME_ROLLED_BACK, self->a.step.out_outcome);
	EXPECT_EQ(MORPH_CIRCUIT_LIT, side_state_in(&self->a));
	EXPECT_EQ(MORPH_SLICE_OK, self->a.info.state);
	EXPECT_EQ(plane, self->a.circuits[1].dst_plane);
}

/*
 * If the peer has stopped sending, the revert leaves the half failed. The driver repairs it when
 * the peer sends again.
 */
TEST_F(edge, half_that_went_dark_meanwhile_goes_back_failed)
{
	struct morph_change change;

	LIGHT_BOTH();
	ASSERT_EQ(0, move_in(&self->a));
	change = change_remove(self->b.changes[0].circuit);
	ASSERT_EQ(0, txn_run(self->b.slice, &change, 1, NULL));
	ASSERT_EQ(0, side_step(&self->a, MORPH_TXN_REVERT, 0));
	EXPECT_EQ(MORPH_OUTCOME_ROLLED_BACK, self->a.step.out_outcome);
	EXPECT_EQ(MORPH_CIRCUIT_FAILED, side_state_in(&self->a));
	change = half_circuit(0, EDGE(OUT));
	ASSERT_EQ(0, txn_run(self->b.slice, &change, 1, NULL));
	EXPECT_TRUE(slice_wait_state(self->a.slice, MORPH_SLICE_OK));
	EXPECT_EQ(MORPH_CIRCUIT_LIT, side_state_in(&self->a));
}

/* Return the guide that ends at an edge of a side. */
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
	EXPECT_EQ(MORPH_CIRCUIT_LIT, side_state_in(&self->a));
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
	EXPECT_EQ(MORPH_CIRCUIT_FAILED, side_state_in(&self->a));
	close(self->b.slice);
	self->b.slice = -1;
	close(self->b.sim.fd);
	/* The peer returns as another fabric, dark, and the test connects it again. */
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
	EXPECT_EQ(MORPH_CIRCUIT_LIT, side_state_out(&self->a));
	EXPECT_EQ(MORPH_CIRCUIT_LIT, side_state_in(&self->a));
	EXPECT_EQ(1, self->a.circuits[0].lanes);
	EXPECT_EQ(1, self->a.circuits[1].lanes);
	/* The peer has lost light only for a moment. */
	EXPECT_TRUE(slice_wait_state(self->b.slice, MORPH_SLICE_OK));
	EXPECT_EQ(MORPH_CIRCUIT_LIT, side_state_in(&self->b));
}

/*
 * A failover reverts what was committed but not verified, because the accelerators of the slice
 * change.
 */
TEST_F(edge, failover_reverts_halves_that_were_not_verified)
{
	ASSERT_EQ(0, side_prepare(&self->a, 1, LONG));
	ASSERT_EQ(0, side_step(&self->a, MORPH_TXN_COMMIT, 0));
	ASSERT_EQ(0, sim_control(&self->a.sim, "fault", "accelerator_dead 0"));
	ASSERT_EQ(0, wait_event(self->a.slice, MORPH_EVENT_REPLACED, PATIENCE_MS, NULL));
	EXPECT_EQ(-1, side_state_out(&self->a));
	EXPECT_EQ(-1, side_state_in(&self->a));
	EXPECT_TRUE(sim_all_dark(&self->a.sim));
}

TEST_HARNESS_MAIN

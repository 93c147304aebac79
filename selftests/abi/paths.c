// SPDX-License-Identifier: GPL-2.0-only
/* Circuits with explicit guides: which paths the driver accepts, and which it refuses. */
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "fabric.h"
#include "kselftest_harness.h"

#define ROOM 64
#define FEW 16 /* number of guides that the kernel stores inside a change */
#define LONG_LEASE (600 * 1000000000ULL)
/* edge4: edge 0 is at accelerator 1, and is an exit for light. */
#define AT_EDGE 1
#define OUT 0
#define EDGE (MORPH_RANK_EDGE | OUT)

struct path {
	uint32_t guides[ROOM];
	unsigned int count;
};

/*
 * Make a slice of two ranks, read the path that the driver finds from the first to @dst, and remove
 * the circuit.
 */
static int slice_with_path(const struct sim *sim, uint32_t first, uint32_t second, unsigned int dst,
			   struct path *path)
{
	const uint32_t accelerators[] = { first, second };
	struct morph_change change = change_add(0, dst);
	int slice = slice_create_at(sim->fd, accelerators, 2), guides;

	if (slice < 0 || txn_run(slice, &change, 1, NULL))
		return -1;
	guides = circuit_guides(slice, change.circuit, path->guides, ROOM);
	path->count = (unsigned int)guides;
	change = change_remove(change.circuit);
	return guides < 2 || txn_run(slice, &change, 1, NULL) ? -1 : slice;
}

/* Request a circuit from rank 0 along a path. */
static struct morph_change along(unsigned int dst, struct path *path)
{
	struct morph_change change = change_add(0, dst);

	change.guides = (struct morph_array)ARRAY(path->guides, path->count);
	return change;
}

/* --------------------------------------------------------------- between accelerators */

FIXTURE(paths)
{
	struct sim sim;
	struct path path; /* from rank 0 to rank 1 */
	int slice;
};

FIXTURE_SETUP(paths)
{
	sim_start(&self->sim, "server8", NULL);
	self->slice = slice_with_path(&self->sim, 0, 1, 1, &self->path);
	ASSERT_LE(0, self->slice) TH_LOG("%s", last_detail);
}

FIXTURE_TEARDOWN(paths)
{
	close(self->slice);
	sim_stop(&self->sim);
}

/* The driver refuses the path at this guide. */
#define EXPECT_BAD(change, guide)                                     \
	do {                                                          \
		EXPECT_EQ(-1, txn_run(self->slice, change, 1, NULL)); \
		EXPECT_EQ(EINVAL, errno);                             \
		EXPECT_EQ(MORPH_REASON_PATH, (change)->reason);       \
		EXPECT_EQ(MORPH_PART_GUIDE, (change)->part);          \
		EXPECT_EQ(guide, (change)->index);                    \
	} while (0)

TEST_F(paths, does_not_go_on_behind_a_receiver)
{
	struct morph_change change;

	self->path.guides[self->path.count] = self->path.guides[0];
	self->path.count++;
	change = along(1, &self->path);
	EXPECT_BAD(&change, self->path.guides[self->path.count - 2]);
}

TEST_F(paths, does_not_end_at_an_element)
{
	struct morph_change change;

	self->path.count--;
	change = along(1, &self->path);
	EXPECT_BAD(&change, self->path.guides[self->path.count - 1]);
}

TEST_F(paths, ends_at_the_plane_that_was_asked_for)
{
	struct morph_change change = along(1, &self->path);

	ASSERT_EQ(0, txn_run(self->slice, &change, 1, NULL));
	change.op = MORPH_CHANGE_MOVE;
	change.dst_plane = !change.dst_plane;
	EXPECT_BAD(&change, self->path.guides[self->path.count - 1]);
}

TEST_F(paths, full_ones_are_refused)
{
	struct morph_change change = along(1, &self->path);

	change.lanes_count = self->sim.info.wavelengths;
	ASSERT_EQ(0, txn_run(self->slice, &change, 1, NULL)) TH_LOG("%s", last_detail);
	change = along(1, &self->path);
	EXPECT_EQ(-1, txn_run(self->slice, &change, 1, NULL));
	EXPECT_EQ(ENOSPC, errno);
	EXPECT_EQ(MORPH_REASON_LANES, change.reason);
	EXPECT_EQ(MORPH_PART_GUIDE, change.part);
	EXPECT_EQ(self->path.guides[0], change.index);
}

/* The driver keeps a path that is too long for a change from prepare to commit. */
TEST(long_one_is_prepared_and_committed)
{
	struct morph_txn_run args = {
		.head.flags = MORPH_TXN_PREPARE,
		.generation = GENERATION_ANY,
		.lease_ns = LONG_LEASE,
	};
	struct morph_change change;
	struct path path, again;
	struct sim sim;
	int slice;

	sim_start(&sim, "rack64", NULL);
	slice = slice_with_path(&sim, 0, 30, 1, &path);
	ASSERT_LE(0, slice) TH_LOG("%s", last_detail);
	ASSERT_LT(FEW, path.count);
	change = along(1, &path);
	ASSERT_EQ(0, txn_run(slice, &change, 1, &args)) TH_LOG("%s", last_detail);
	ASSERT_EQ(0, txn_step(slice, args.out_txn, MORPH_TXN_COMMIT, LONG_LEASE, NULL));
	ASSERT_EQ(0, txn_step(slice, args.out_txn, MORPH_TXN_CONFIRM, 0, NULL));
	ASSERT_EQ(path.count, circuit_guides(slice, change.circuit, again.guides, ROOM));
	EXPECT_EQ(0, memcmp(path.guides, again.guides, path.count * sizeof(*path.guides)));
	close(slice);
	sim_stop(&sim);
}

/* ------------------------------------------------------------------------- to an edge */

FIXTURE(leaving)
{
	struct sim sim;
	struct path path; /* from rank 0 to the edge */
	int slice;
};

FIXTURE_SETUP(leaving)
{
	sim_start(&self->sim, "edge4", NULL);
	self->slice = slice_with_path(&self->sim, AT_EDGE, 0, EDGE, &self->path);
	ASSERT_LE(0, self->slice) TH_LOG("%s", last_detail);
}

FIXTURE_TEARDOWN(leaving)
{
	close(self->slice);
	sim_stop(&self->sim);
}

TEST_F(leaving, path_and_back)
{
	struct morph_change change = along(EDGE, &self->path);
	uint32_t guides[ROOM];

	change.lanes = 1;
	ASSERT_EQ(0, txn_run(self->slice, &change, 1, NULL)) TH_LOG("%s", last_detail);
	ASSERT_EQ(self->path.count, circuit_guides(self->slice, change.circuit, guides, ROOM));
	EXPECT_EQ(0, memcmp(self->path.guides, guides, self->path.count * sizeof(*guides)));
}

TEST_F(leaving, path_to_another_edge_is_refused)
{
	struct morph_change change = along(MORPH_RANK_EDGE | (OUT + 1), &self->path);

	change.lanes = 1;
	EXPECT_BAD(&change, self->path.guides[self->path.count - 1]);
}

/* An explicit path gives no access to a lane of another slice's edge either. */
TEST_F(leaving, edge_of_another_slice_is_busy)
{
	struct morph_change change;
	struct path path;
	int other;

	other = slice_with_path(&self->sim, 2, 3, EDGE, &path);
	ASSERT_LE(0, other) TH_LOG("%s", last_detail);
	change = along(EDGE, &self->path);
	change.lanes = 1;
	ASSERT_EQ(0, txn_run(self->slice, &change, 1, NULL)) TH_LOG("%s", last_detail);
	change = along(EDGE, &path);
	change.lanes = 2;
	EXPECT_EQ(-1, txn_run(other, &change, 1, NULL));
	EXPECT_EQ(EBUSY, errno);
	EXPECT_EQ(MORPH_REASON_PORT_BUSY, change.reason);
	EXPECT_EQ(MORPH_PART_EDGE, change.part);
	EXPECT_EQ(OUT, change.index);
	close(other);
}

/* Light the other half on the same lanes. */
TEST_F(leaving, lanes_stay_in_a_move_that_names_none)
{
	struct morph_change change = change_add(0, EDGE);

	change.src_plane = 0;
	change.lanes = 4;
	ASSERT_EQ(0, txn_run(self->slice, &change, 1, NULL)) TH_LOG("%s", last_detail);
	change.op = MORPH_CHANGE_MOVE;
	change.src_plane = 1;
	change.dst_plane = MORPH_PLANE_ANY;
	change.lanes = 0;
	change.lanes_count = 0;
	ASSERT_EQ(0, txn_run(self->slice, &change, 1, NULL)) TH_LOG("%s", last_detail);
	EXPECT_EQ(1, change.src_plane);
	EXPECT_EQ(4, change.lanes);
}

/* Its new laser gives no light, so the old one stays on. This fabric does not see its other end. */
TEST_F(leaving, move_that_fails_leaves_it_lit)
{
	struct morph_change change = change_add(0, EDGE);
	struct morph_txn_run args = { .generation = GENERATION_ANY };
	struct morph_circuit_info circuit;
	struct morph_slice_info info;

	change.src_plane = 0;
	change.lanes = 1;
	ASSERT_EQ(0, txn_run(self->slice, &change, 1, NULL)) TH_LOG("%s", last_detail);
	change.op = MORPH_CHANGE_MOVE;
	change.src_plane = 1;
	change.dst_plane = MORPH_PLANE_ANY;
	ASSERT_EQ(0, sim_control(&self->sim, "fault", "laser_dead %u.1", AT_EDGE));
	EXPECT_EQ(-1, txn_run(self->slice, &change, 1, &args));
	EXPECT_EQ(EIO, errno);
	EXPECT_EQ(MORPH_OUTCOME_ROLLED_BACK, args.out_outcome);
	ASSERT_EQ(0, slice_read(self->slice, &info, NULL, 0, &circuit, 1));
	EXPECT_EQ(MORPH_CIRCUIT_LIT, circuit.state);
	EXPECT_EQ(0, circuit.src_plane);
}

TEST_HARNESS_MAIN

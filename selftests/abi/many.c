// SPDX-License-Identifier: GPL-2.0-only
/*
 * Transactions with many changes, which the driver stages change by change. They behave like small
 * ones: all changes are made, or none.
 */
#include "fabric.h"
#include "kselftest_harness.h"

#define RANKS 64
#define MANY 200
#define SECOND 1000000000ULL

/* Free lanes of all guides. */
static unsigned int free_lanes(const struct sim *sim)
{
	static struct morph_guide_info guides[4096];
	int count = fabric_read(sim->fd, MORPH_FABRIC_READ_GUIDES, 0,
				(struct morph_array)ARRAY(guides, 4096));
	unsigned int lanes = 0;

	while (count-- > 0)
		lanes += (unsigned int)__builtin_popcountll(guides[count].lanes_free);
	return lanes;
}

FIXTURE(many)
{
	struct sim sim;
	int slice;
	unsigned int lanes; /* free ones before each test */
	struct morph_txn_run args;
	struct morph_slice_info info;
	struct morph_circuit_info circuits[MANY];
	struct morph_change changes[MANY];
};

FIXTURE_SETUP(many)
{
	unsigned int i;

	sim_start(&self->sim, "rack64", NULL);
	self->slice = slice_create(self->sim.fd, RANKS);
	ASSERT_LE(0, self->slice);
	self->args.generation = GENERATION_ANY;
	self->lanes = free_lanes(&self->sim);
	ASSERT_LT(0, self->lanes);
	for (i = 0; i < MANY; i++)
		self->changes[i] = change_add(i % RANKS, (i + 1) % RANKS);
}

FIXTURE_TEARDOWN(many)
{
	close(self->slice);
	EXPECT_TRUE(sim_wait_free(&self->sim, RANKS));
	EXPECT_TRUE(sim_all_dark(&self->sim));
	sim_stop(&self->sim);
}

#define RUN(count) (txn_run(self->slice, self->changes, count, &self->args) ? errno : 0)
#define EXPECT_CIRCUITS(expected)                                                                  \
	do {                                                                                       \
		ASSERT_EQ(0, slice_read(self->slice, &self->info, NULL, 0, self->circuits, MANY)); \
		EXPECT_EQ(expected, self->info.circuits.count);                                    \
	} while (0)

static void remove_all(struct morph_change *changes, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		changes[i] = change_remove(changes[i].circuit);
}

TEST_F(many, circuits_are_lit_and_removed)
{
	unsigned int i;

	ASSERT_EQ(0, RUN(MANY)) TH_LOG("%s", last_detail);
	EXPECT_EQ(MORPH_OUTCOME_COMMITTED, self->args.out_outcome);
	EXPECT_CIRCUITS(MANY);
	for (i = 0; i < MANY; i++) {
		EXPECT_EQ(MORPH_CIRCUIT_LIT, self->circuits[i].state);
		EXPECT_NE(0, self->circuits[i].power_mdbm);
	}
	remove_all(self->changes, MANY);
	EXPECT_EQ(0, RUN(MANY)) TH_LOG("%s", last_detail);
	EXPECT_CIRCUITS(0);
	EXPECT_TRUE(sim_all_dark(&self->sim));
}

TEST_F(many, dry_run_holds_nothing)
{
	uint64_t lanes[MANY];
	unsigned int i, round;

	self->args.head.flags = MORPH_TXN_DRY_RUN;
	for (round = 0; round < 2; round++) {
		ASSERT_EQ(0, RUN(MANY)) TH_LOG("%s", last_detail);
		for (i = 0; i < MANY; i++) {
			EXPECT_NE(0, self->changes[i].lanes);
			EXPECT_NE(MORPH_PLANE_ANY, self->changes[i].src_plane);
			if (round)
				EXPECT_EQ(lanes[i], self->changes[i].lanes);
			lanes[i] = self->changes[i].lanes;
			self->changes[i] = change_add(i % RANKS, (i + 1) % RANKS);
		}
	}
	EXPECT_CIRCUITS(0);
	EXPECT_EQ(self->lanes, free_lanes(&self->sim));
}

TEST_F(many, impossible_change_is_named_and_none_is_made)
{
	unsigned int i, bad = MANY - 20;

	self->changes[bad] = change_add(5, 5);
	EXPECT_EQ(EINVAL, RUN(MANY));
	EXPECT_EQ(MORPH_OUTCOME_NONE, self->args.out_outcome);
	for (i = 0; i < MANY; i++)
		EXPECT_EQ(i == bad ? -EINVAL : -ECANCELED, self->changes[i].status);
	EXPECT_CIRCUITS(0);
}

/* Claims of the circuits before it leave it no lanes, although the fabric has free ones. */
TEST_F(many, change_without_lanes_is_named_and_none_is_made)
{
	unsigned int i, last = MANY - 1;

	for (i = 0; i < MANY; i++) {
		self->changes[i] = change_add(0, 1 + i % 3);
		self->changes[i].lanes_count = 8;
	}
	EXPECT_NE(0, RUN(MANY));
	for (i = 0; i < last && self->changes[i].status == -ECANCELED; i++)
		;
	EXPECT_LT(0, i);
	EXPECT_GT(last, i);
	EXPECT_NE(MORPH_REASON_NONE, self->changes[i].reason);
	EXPECT_CIRCUITS(0);
	EXPECT_EQ(self->lanes, free_lanes(&self->sim));
}

TEST_F(many, absent_circuit_leaves_all_lit)
{
	ASSERT_EQ(0, RUN(MANY)) TH_LOG("%s", last_detail);
	remove_all(self->changes, MANY);
	self->changes[MANY - 1].circuit = 0xfffff;
	EXPECT_EQ(ENOENT, RUN(MANY));
	EXPECT_EQ(-ENOENT, self->changes[MANY - 1].status);
	EXPECT_CIRCUITS(MANY);
	EXPECT_EQ(MORPH_CIRCUIT_LIT, self->circuits[0].state);
	/* The request left no marks: all but one circuit can be removed now. */
	EXPECT_EQ(0, RUN(MANY - 1)) TH_LOG("%s", last_detail);
	EXPECT_CIRCUITS(1);
}

TEST_F(many, prepared_and_reverted)
{
	struct morph_txn_step step = {};

	self->args.head.flags = MORPH_TXN_PREPARE;
	self->args.lease_ns = 600 * SECOND;
	ASSERT_EQ(0, RUN(MANY)) TH_LOG("%s", last_detail);
	EXPECT_TRUE(sim_all_dark(&self->sim));
	EXPECT_EQ(0, txn_step(self->slice, self->args.out_txn, MORPH_TXN_REVERT, 0, &step));
	EXPECT_EQ(MORPH_OUTCOME_ROLLED_BACK, step.out_outcome);
	EXPECT_CIRCUITS(0);
	EXPECT_EQ(self->lanes, free_lanes(&self->sim));
}

TEST_F(many, device_error_rolls_all_back)
{
	ASSERT_EQ(0, sim_control(&self->sim, "fault", "programming_error -"));
	EXPECT_NE(0, RUN(MANY));
	ASSERT_EQ(0, sim_control(&self->sim, "clear", "all"));
	EXPECT_NE(MORPH_OUTCOME_COMMITTED, self->args.out_outcome);
	EXPECT_CIRCUITS(0);
	EXPECT_TRUE(WAIT_UNTIL(core_rests(&self->sim)));
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Transactions with many changes, which the driver plans in a copy of its ledger and stages change
 * by change. They behave like small ones: all changes are made, or none.
 */
#include <pthread.h>

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

/* ------------------------------------------------------------------------ moves */

#define FEWER_RANKS 56 /* other slices get some accelerators */
#define PAIRED (2 * FEWER_RANKS)

/* Each of the first circuits gets the ports and lanes of another one between the same ranks. */
static void exchange(struct morph_change *changes, const struct morph_circuit_info *circuits)
{
	unsigned int i;

	for (i = 0; i < PAIRED; i++) {
		const struct morph_circuit_info *other = &circuits[(i + FEWER_RANKS) % PAIRED];

		changes[i] = (struct morph_change){
			.op = MORPH_CHANGE_MOVE,
			.circuit = circuits[i].circuit,
			.src_plane = other->src_plane,
			.dst_plane = other->dst_plane,
			.lanes = other->lanes,
		};
	}
}

/* How many of the circuits are lit with the same ports and lanes as before. */
static unsigned int count_unmoved(int slice, const struct morph_circuit_info *before)
{
	static struct morph_circuit_info now[MANY];
	struct morph_slice_info info;
	unsigned int i, unmoved = 0;

	if (slice_read(slice, &info, NULL, 0, now, MANY))
		return 0;
	for (i = 0; i < PAIRED; i++)
		unmoved += now[i].state == MORPH_CIRCUIT_LIT &&
			   now[i].circuit == before[i].circuit && now[i].lanes == before[i].lanes &&
			   now[i].src_plane == before[i].src_plane &&
			   now[i].dst_plane == before[i].dst_plane;
	return unmoved;
}

FIXTURE(moved)
{
	struct sim sim;
	int slice;
	unsigned int lanes; /* free ones before each test */
	struct morph_txn_run args;
	struct morph_slice_info info;
	struct morph_circuit_info circuits[MANY];
	struct morph_change changes[MANY];
};

FIXTURE_SETUP(moved)
{
	unsigned int i;

	sim_start(&self->sim, "rack64", NULL);
	self->slice = slice_create(self->sim.fd, FEWER_RANKS);
	ASSERT_LE(0, self->slice);
	self->args.generation = GENERATION_ANY;
	for (i = 0; i < PAIRED; i++)
		self->changes[i] = change_add(i % FEWER_RANKS, (i + 1) % FEWER_RANKS);
	ASSERT_EQ(0, RUN(PAIRED)) TH_LOG("%s", last_detail);
	EXPECT_CIRCUITS(PAIRED);
	self->lanes = free_lanes(&self->sim);
	exchange(self->changes, self->circuits);
}

FIXTURE_TEARDOWN(moved)
{
	close(self->slice);
	EXPECT_TRUE(sim_wait_free(&self->sim, RANKS));
	EXPECT_TRUE(sim_all_dark(&self->sim));
	sim_stop(&self->sim);
}

TEST_F(moved, circuits_exchange_ports_and_lanes)
{
	unsigned int i;

	ASSERT_EQ(0, RUN(PAIRED)) TH_LOG("%s", last_detail);
	for (i = 0; i < PAIRED; i++)
		EXPECT_EQ(self->circuits[(i + FEWER_RANKS) % PAIRED].lanes, self->changes[i].lanes);
	EXPECT_EQ(0, count_unmoved(self->slice, self->circuits));
	/* And back, so that each has light on its old path again. */
	EXPECT_EQ(0, slice_read(self->slice, &self->info, NULL, 0, self->circuits, MANY));
	exchange(self->changes, self->circuits);
	EXPECT_EQ(0, RUN(PAIRED)) TH_LOG("%s", last_detail);
	EXPECT_CIRCUITS(PAIRED);
	for (i = 0; i < PAIRED; i++)
		EXPECT_EQ(MORPH_CIRCUIT_LIT, self->circuits[i].state);
}

/* The added circuits get the ports and lanes of the removed ones. */
TEST_F(moved, removed_circuits_leave_their_paths_to_added_ones)
{
	unsigned int i;

	for (i = 0; i < FEWER_RANKS; i++) {
		self->changes[i] = change_add(i, (i + 1) % FEWER_RANKS);
		self->changes[i].src_plane = self->circuits[i].src_plane;
		self->changes[i].dst_plane = self->circuits[i].dst_plane;
		self->changes[i].lanes = self->circuits[i].lanes;
		self->changes[FEWER_RANKS + i] = change_remove(self->circuits[i].circuit);
	}
	ASSERT_EQ(0, RUN(PAIRED)) TH_LOG("%s", last_detail);
	EXPECT_CIRCUITS(PAIRED);
	for (i = 0; i < PAIRED; i++)
		EXPECT_EQ(MORPH_CIRCUIT_LIT, self->circuits[i].state);
}

TEST_F(moved, impossible_move_is_named_and_none_is_made)
{
	unsigned int i, bad = PAIRED - 10;

	/* The lanes of a circuit that moves there, too. */
	self->changes[bad].lanes = self->changes[(bad + FEWER_RANKS) % PAIRED].lanes;
	self->changes[bad].src_plane = self->changes[(bad + FEWER_RANKS) % PAIRED].src_plane;
	self->changes[bad].dst_plane = self->changes[(bad + FEWER_RANKS) % PAIRED].dst_plane;
	EXPECT_NE(0, RUN(PAIRED));
	for (i = 0; i < PAIRED; i++)
		EXPECT_EQ(i != bad, self->changes[i].status == -ECANCELED);
	EXPECT_EQ(PAIRED, count_unmoved(self->slice, self->circuits));
	EXPECT_EQ(self->lanes, free_lanes(&self->sim));
	/* The request left no marks. */
	exchange(self->changes, self->circuits);
	EXPECT_EQ(0, RUN(PAIRED)) TH_LOG("%s", last_detail);
}

TEST_F(moved, dry_run_leaves_all_where_they_are)
{
	self->args.head.flags = MORPH_TXN_DRY_RUN;
	EXPECT_EQ(0, RUN(PAIRED)) TH_LOG("%s", last_detail);
	EXPECT_EQ(PAIRED, count_unmoved(self->slice, self->circuits));
	EXPECT_EQ(self->lanes, free_lanes(&self->sim));
}

TEST_F(moved, prepared_moves_are_reverted)
{
	struct morph_txn_step step = {};

	self->args.head.flags = MORPH_TXN_PREPARE;
	self->args.lease_ns = 600 * SECOND;
	ASSERT_EQ(0, RUN(PAIRED)) TH_LOG("%s", last_detail);
	EXPECT_EQ(PAIRED, count_unmoved(self->slice, self->circuits));
	EXPECT_EQ(0, txn_step(self->slice, self->args.out_txn, MORPH_TXN_REVERT, 0, &step));
	EXPECT_EQ(PAIRED, count_unmoved(self->slice, self->circuits));
	EXPECT_EQ(self->lanes, free_lanes(&self->sim));
	self->args = (struct morph_txn_run){ .generation = GENERATION_ANY };
	exchange(self->changes, self->circuits);
	EXPECT_EQ(0, RUN(PAIRED)) TH_LOG("%s", last_detail);
}

TEST_F(moved, prepared_moves_are_committed_and_confirmed)
{
	struct morph_txn_step step = {};

	self->args.head.flags = MORPH_TXN_PREPARE;
	self->args.lease_ns = 600 * SECOND;
	ASSERT_EQ(0, RUN(PAIRED)) TH_LOG("%s", last_detail);
	EXPECT_EQ(0, txn_step(self->slice, self->args.out_txn, MORPH_TXN_COMMIT, 0, &step));
	EXPECT_EQ(0, txn_step(self->slice, self->args.out_txn, MORPH_TXN_CONFIRM, 0, &step));
	EXPECT_EQ(MORPH_OUTCOME_COMMITTED, step.out_outcome);
	EXPECT_EQ(0, count_unmoved(self->slice, self->circuits));
	EXPECT_EQ(self->lanes, free_lanes(&self->sim));
}

TEST_F(moved, device_error_moves_all_back)
{
	ASSERT_EQ(0, sim_control(&self->sim, "fault", "programming_error -"));
	EXPECT_NE(0, RUN(PAIRED));
	EXPECT_EQ(MORPH_OUTCOME_ROLLED_BACK, self->args.out_outcome);
	EXPECT_EQ(PAIRED, count_unmoved(self->slice, self->circuits));
	EXPECT_EQ(self->lanes, free_lanes(&self->sim));
	EXPECT_TRUE(WAIT_UNTIL(core_rests(&self->sim)));
}

/* A slice whose changes never stop. */
struct neighbour {
	int slice;
	bool stop;
	unsigned int made;
};

static void *keep_changing(void *argument)
{
	struct neighbour *neighbour = argument;
	struct morph_change change;

	while (!__atomic_load_n(&neighbour->stop, __ATOMIC_ACQUIRE)) {
		change = change_add(0, 1);
		if (txn_run(neighbour->slice, &change, 1, NULL))
			continue;
		change = change_remove(change.circuit);
		if (!txn_run(neighbour->slice, &change, 1, NULL))
			__atomic_fetch_add(&neighbour->made, 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

TEST_F(moved, moves_succeed_beside_changes_of_another_slice)
{
	struct neighbour neighbour = { .slice = slice_create(self->sim.fd, 2) };
	unsigned int round;
	pthread_t thread;

	ASSERT_LE(0, neighbour.slice);
	ASSERT_EQ(0, pthread_create(&thread, NULL, keep_changing, &neighbour));
	for (round = 0; round < 4; round++) {
		EXPECT_EQ(0, RUN(PAIRED)) TH_LOG("%s", last_detail);
		EXPECT_EQ(0, count_unmoved(self->slice, self->circuits));
		EXPECT_EQ(0, slice_read(self->slice, &self->info, NULL, 0, self->circuits, MANY));
		exchange(self->changes, self->circuits);
	}
	EXPECT_TRUE(WAIT_UNTIL(__atomic_load_n(&neighbour.made, __ATOMIC_ACQUIRE)));
	__atomic_store_n(&neighbour.stop, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	close(neighbour.slice);
}

/* ----------------------------------------------------------------------- slices */

#define CREATORS 3
#define BIG 72 /* ranks; such a slice takes its accelerators in several steps */

struct creator {
	const struct sim *sim;
	bool stop;
	unsigned int made;
};

static void *keep_creating(void *argument)
{
	struct creator *creator = argument;
	int fabric = open_fabric(creator->sim->number), slice;

	while (!__atomic_load_n(&creator->stop, __ATOMIC_ACQUIRE)) {
		slice = slice_create(fabric, 3);
		if (slice < 0)
			continue;
		close(slice);
		__atomic_fetch_add(&creator->made, 1, __ATOMIC_RELEASE);
	}
	close(fabric);
	return NULL;
}

TEST(big_slices_are_created_beside_small_ones)
{
	struct creator creators[CREATORS] = {};
	pthread_t threads[CREATORS];
	struct sim sim;
	unsigned int i, round;
	int slice;

	sim_start(&sim, "pod192", NULL);
	for (i = 0; i < CREATORS; i++) {
		creators[i].sim = &sim;
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, keep_creating, &creators[i]));
	}
	for (round = 0; round < 20; round++) {
		slice = slice_create(sim.fd, BIG);
		EXPECT_LE(0, slice) TH_LOG("%s", last_detail);
		if (slice < 0)
			continue;
		close(slice);
		EXPECT_TRUE(
			WAIT_UNTIL(!fabric_info(sim.fd, &sim.info) && sim.info.free >= BIG + 9));
	}
	for (i = 0; i < CREATORS; i++)
		EXPECT_TRUE(WAIT_UNTIL(__atomic_load_n(&creators[i].made, __ATOMIC_ACQUIRE)));
	for (i = 0; i < CREATORS; i++) {
		__atomic_store_n(&creators[i].stop, true, __ATOMIC_RELEASE);
		pthread_join(threads[i], NULL);
	}
	EXPECT_TRUE(WAIT_UNTIL(sim_no_slices(&sim)));
	sim_stop(&sim);
}

TEST_HARNESS_MAIN

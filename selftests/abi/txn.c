// SPDX-License-Identifier: GPL-2.0-only
/* Transactions: circuits added, moved and removed, all or nothing, each by itself, and repeated. */
#include <sys/ioctl.h>

#include "fabric.h"
#include "kselftest_harness.h"

#define RANKS 4

FIXTURE(txn)
{
	struct sim sim;
	int slice;
	struct morph_txn_run args;
	struct morph_slice_info info;
	struct morph_circuit_info circuits[16];
};

FIXTURE_SETUP(txn)
{
	sim_start(&self->sim, "server8", NULL);
	self->slice = slice_create(self->sim.fd, RANKS);
	ASSERT_LE(0, self->slice);
	self->args.generation = GENERATION_ANY;
}

FIXTURE_TEARDOWN(txn)
{
	close(self->slice);
	EXPECT_TRUE(sim_wait_free(&self->sim, 8));
	EXPECT_TRUE(sim_all_dark(&self->sim));
	sim_stop(&self->sim);
}

/* Return the errno of a transaction, or 0. */
#define RUN(list, entries) (txn_run(self->slice, list, entries, &self->args) ? errno : 0)
#define READ_SLICE() ASSERT_EQ(0, slice_read(self->slice, &self->info, NULL, 0, self->circuits, 16))

/* ------------------------------------------------------------------ refusals */

TEST_F(txn, wrong_counts)
{
	struct morph_change one = change_add(0, 1);

	EXPECT_EQ(EINVAL, RUN(&one, 0));
	EXPECT_EQ(EINVAL, RUN(&one, 1025));
	EXPECT_EQ(EINVAL, RUN(&one, 0xffffffff));
	EXPECT_EQ(EFAULT, RUN((struct morph_change *)16, 1));
}

TEST_F(txn, wrong_flags)
{
	struct morph_change one = change_add(0, 1);

	self->args.head.flags = MORPH_TXN_EACH | MORPH_TXN_PREPARE;
	self->args.lease_ns = 1000000000;
	EXPECT_EQ(EINVAL, RUN(&one, 1));
	self->args.head.flags = 0;
	EXPECT_EQ(EINVAL, RUN(&one, 1));
	self->args.head.flags = MORPH_TXN_PREPARE;
	self->args.lease_ns = 999999;
	EXPECT_EQ(EINVAL, RUN(&one, 1));
	self->args.lease_ns = 3600000000001ULL;
	EXPECT_EQ(EINVAL, RUN(&one, 1));
}

TEST_F(txn, wrong_changes)
{
	struct morph_change change = change_add(0, 0);

	EXPECT_EQ(EINVAL, RUN(&change, 1));
	EXPECT_EQ(-EINVAL, change.status);
	change = change_add(0, RANKS);
	EXPECT_EQ(ENOENT, RUN(&change, 1));
	change = change_add(0xffffffff, 0);
	EXPECT_EQ(ENOENT, RUN(&change, 1));
	change = change_remove(1);
	EXPECT_EQ(ENOENT, RUN(&change, 1));
	EXPECT_EQ(-ENOENT, change.status);
	change = change_add(0, 1);
	change.op = 0;
	EXPECT_EQ(EOPNOTSUPP, RUN(&change, 1));
	change.op = 4;
	EXPECT_EQ(EOPNOTSUPP, RUN(&change, 1));
	change = change_add(0, 1);
	change.src_plane = self->sim.info.planes;
	EXPECT_EQ(EINVAL, RUN(&change, 1));
	change = change_add(0, 1);
	change.lanes_count = 65;
	EXPECT_EQ(EINVAL, RUN(&change, 1));
	change = change_add(0, 1);
	change.lanes = 1ULL << 63;
	EXPECT_EQ(EINVAL, RUN(&change, 1));
}

TEST_F(txn, wrong_paths)
{
	uint32_t guides[65] = {};
	struct morph_change change = change_add(0, 1);

	change.guides.count = 1;
	EXPECT_EQ(EINVAL, RUN(&change, 1));
	change.guides = (struct morph_array)ARRAY(guides, 65);
	EXPECT_EQ(EINVAL, RUN(&change, 1));
	change.guides.count = 0;
	EXPECT_EQ(EINVAL, RUN(&change, 1));
	change.guides.count = 1;
	change.guides.stride = 2;
	EXPECT_EQ(EINVAL, RUN(&change, 1));
	/* The guides exist, but are not connected. */
	change.guides = (struct morph_array)ARRAY(guides, 3);
	EXPECT_EQ(EINVAL, RUN(&change, 1));
	EXPECT_EQ(-EINVAL, change.status);
	guides[0] = 0xffffffff;
	EXPECT_EQ(EINVAL, RUN(&change, 1));
}

TEST_F(txn, old_generation)
{
	struct morph_change change = change_add(0, 1);

	READ_SLICE();
	self->args.generation = self->info.generation + 1;
	EXPECT_EQ(ESTALE, RUN(&change, 1));
	EXPECT_EQ(MORPH_REASON_GENERATION, self->args.head.reason);
	EXPECT_EQ(self->info.generation, self->args.out_generation);
	self->args.generation = self->info.generation;
	EXPECT_EQ(0, RUN(&change, 1));
	/* A request of the tenant itself does not change the generation. */
	EXPECT_EQ(self->info.generation, self->args.out_generation);
}

/* Guides and lanes of another profile are other hardware. */
TEST_F(txn, planned_for_another_profile)
{
	static const uint32_t flags[] = { 0, MORPH_TXN_DRY_RUN, MORPH_TXN_EACH };
	uint32_t ours = self->sim.info.profile_checksum;
	struct morph_change change = change_add(0, 1);
	unsigned int i;

	ASSERT_NE(0, ours);
	self->args.profile_checksum = ours ^ 1;
	for (i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		self->args.head.flags = flags[i];
		EXPECT_EQ(ESTALE, RUN(&change, 1));
		EXPECT_EQ(MORPH_REASON_PROFILE, self->args.head.reason);
		EXPECT_EQ(MORPH_OUTCOME_NONE, self->args.out_outcome);
		EXPECT_STREQ("the changes were planned for another profile; plan again",
			     last_detail);
	}
	READ_SLICE();
	EXPECT_EQ(0, self->info.circuits.count);
	self->args.head.flags = 0;
	self->args.profile_checksum = ours;
	EXPECT_EQ(0, RUN(&change, 1));
}

/* -------------------------------------------------------------------- commits */

TEST_F(txn, ring_is_lit_and_goes_dark)
{
	struct morph_change changes[RANKS];
	unsigned int i;

	for (i = 0; i < RANKS; i++)
		changes[i] = change_add(i, (i + 1) % RANKS);
	ASSERT_EQ(0, RUN(changes, RANKS))
	{
		TH_LOG("%s", last_detail);
	}
	EXPECT_EQ(MORPH_OUTCOME_COMMITTED, self->args.out_outcome);
	EXPECT_NE(0, self->args.out_times.phase_ns[MORPH_PHASE_SETTLE]);
	EXPECT_LE(self->sim.info.settle_ns, self->args.out_times.modelled_ns);
	READ_SLICE();
	ASSERT_EQ(RANKS, self->info.circuits.count);
	EXPECT_EQ(self->args.out_seq, self->info.seq);
	for (i = 0; i < RANKS; i++) {
		const struct morph_circuit_info *circuit = &self->circuits[i];

		EXPECT_EQ(0, changes[i].status);
		EXPECT_EQ(changes[i].circuit, circuit->circuit);
		EXPECT_EQ(changes[i].lanes, circuit->lanes);
		EXPECT_EQ(1, __builtin_popcountll(circuit->lanes));
		EXPECT_EQ(changes[i].src_plane, circuit->src_plane);
		EXPECT_EQ(MORPH_CIRCUIT_LIT, circuit->state);
		EXPECT_EQ(self->sim.info.lane_mbps, circuit->bandwidth_mbps);
		EXPECT_LT(0, circuit->margin_mdb);
		EXPECT_NE(0, circuit->last_verified_ns);
		changes[i] = change_remove(circuit->circuit);
	}
	EXPECT_FALSE(sim_all_dark(&self->sim));
	ASSERT_EQ(0, RUN(changes, RANKS));
	READ_SLICE();
	EXPECT_EQ(0, self->info.circuits.count);
	EXPECT_TRUE(sim_all_dark(&self->sim));
}

TEST_F(txn, all_or_nothing)
{
	struct morph_change changes[] = {
		change_add(0, 1),
		change_add(1, 2),
		change_remove(77),
		change_add(2, 3),
	};

	EXPECT_EQ(ENOENT, RUN(changes, 4));
	EXPECT_EQ(MORPH_OUTCOME_NONE, self->args.out_outcome);
	EXPECT_EQ(-ENOENT, changes[2].status);
	READ_SLICE();
	EXPECT_EQ(0, self->info.circuits.count);
	EXPECT_TRUE(sim_all_dark(&self->sim));
}

TEST_F(txn, each_for_itself)
{
	struct morph_change changes[] = { change_add(0, 1), change_remove(77), change_add(2, 3) };

	self->args.head.flags = MORPH_TXN_EACH;
	EXPECT_EQ(ENOENT, RUN(changes, 3));
	EXPECT_EQ(0, changes[0].status);
	EXPECT_EQ(-ENOENT, changes[1].status);
	EXPECT_EQ(0, changes[2].status);
	READ_SLICE();
	EXPECT_EQ(2, self->info.circuits.count);
}

TEST_F(txn, dry_run_changes_nothing)
{
	struct morph_change change = change_add(0, 1);
	long long writes = sim_counter(&self->sim, "ops", "set_elements");

	self->args.head.flags = MORPH_TXN_DRY_RUN;
	EXPECT_EQ(0, RUN(&change, 1));
	EXPECT_EQ(MORPH_OUTCOME_NONE, self->args.out_outcome);
	EXPECT_EQ(writes, sim_counter(&self->sim, "ops", "set_elements"));
	READ_SLICE();
	EXPECT_EQ(0, self->info.circuits.count);
}

/*
 * A dry run holds nothing, so it cannot predict what independent changes leave for the next ones.
 */
TEST_F(txn, flags_exclude_each_other)
{
	const unsigned int pairs[] = {
		MORPH_TXN_DRY_RUN | MORPH_TXN_EACH,
		MORPH_TXN_DRY_RUN | MORPH_TXN_PREPARE,
		MORPH_TXN_EACH | MORPH_TXN_PREPARE,
	};
	struct morph_change change = change_add(0, 1);
	unsigned int i;

	for (i = 0; i < 3; i++) {
		self->args.head.flags = pairs[i];
		self->args.lease_ns = pairs[i] & MORPH_TXN_PREPARE ? 1000000000 : 0;
		EXPECT_EQ(EINVAL, RUN(&change, 1))
		{
			TH_LOG("flags 0x%x", pairs[i]);
		}
	}
}

TEST_F(txn, same_cookie_again)
{
	struct morph_change first = change_add(0, 1), again = change_add(0, 1);
	uint64_t seq;

	self->args.cookie = 0x1234;
	ASSERT_EQ(0, RUN(&first, 1));
	seq = self->args.out_seq;
	ASSERT_EQ(0, RUN(&again, 1));
	EXPECT_EQ(MORPH_OUTCOME_COMMITTED, self->args.out_outcome);
	EXPECT_EQ(seq, self->args.out_seq);
	EXPECT_EQ(first.circuit, again.circuit);
	EXPECT_EQ(first.lanes, again.lanes);
	READ_SLICE();
	EXPECT_EQ(1, self->info.circuits.count);
	self->args.cookie = 0x1235;
	again = change_add(0, 1);
	ASSERT_EQ(0, RUN(&again, 1));
	READ_SLICE();
	EXPECT_EQ(2, self->info.circuits.count);
}

/* Some of these independent changes failed. The repetition does not try them again. */
TEST_F(txn, same_cookie_again_each_for_itself)
{
	struct morph_change first[] = { change_add(0, 1), change_remove(77), change_add(2, 3) };
	struct morph_change again[] = { change_add(0, 1), change_remove(77), change_add(2, 3) };
	unsigned int i;

	self->args.head.flags = MORPH_TXN_EACH;
	self->args.cookie = 0x1234;
	ASSERT_EQ(ENOENT, RUN(first, 3));
	EXPECT_EQ(ENOENT, RUN(again, 3));
	EXPECT_EQ(MORPH_OUTCOME_COMMITTED, self->args.out_outcome);
	EXPECT_EQ(MORPH_REASON_ARGUMENT, self->args.head.reason);
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(first[i].status, again[i].status);
		EXPECT_EQ(first[i].circuit, again[i].circuit);
	}
	READ_SLICE();
	EXPECT_EQ(2, self->info.circuits.count);
}

/* A transaction that failed completely may be tried again. */
TEST_F(txn, same_cookie_again_after_a_failure)
{
	struct morph_change change = change_add(0, RANKS);

	self->args.cookie = 0x1234;
	ASSERT_EQ(ENOENT, RUN(&change, 1));
	change = change_add(0, 1);
	EXPECT_EQ(0, RUN(&change, 1));
	READ_SLICE();
	EXPECT_EQ(1, self->info.circuits.count);
}

TEST_F(txn, chosen_planes_and_lanes)
{
	struct morph_change change = change_add(0, 1);

	change.src_plane = 1;
	change.dst_plane = 1;
	change.lanes = 0x6;
	change.lanes_count = 2;
	ASSERT_EQ(0, RUN(&change, 1));
	READ_SLICE();
	EXPECT_EQ(0x6, self->circuits[0].lanes);
	EXPECT_EQ(1, self->circuits[0].src_plane);
	EXPECT_EQ(1, self->circuits[0].dst_plane);
	EXPECT_EQ(2 * self->sim.info.lane_mbps, self->circuits[0].bandwidth_mbps);
}

TEST_F(txn, move_to_other_lanes)
{
	struct morph_change change = change_add(0, 1);
	uint32_t circuit;
	uint64_t lanes;

	ASSERT_EQ(0, RUN(&change, 1));
	circuit = change.circuit;
	lanes = change.lanes;
	change.op = MORPH_CHANGE_MOVE;
	change.lanes = 8;
	change.lanes_count = 1;
	ASSERT_NE(8, lanes);
	ASSERT_EQ(0, RUN(&change, 1))
	{
		TH_LOG("%s", last_detail);
	}
	READ_SLICE();
	ASSERT_EQ(1, self->info.circuits.count);
	EXPECT_EQ(circuit, self->circuits[0].circuit);
	EXPECT_EQ(8, self->circuits[0].lanes);
	EXPECT_EQ(0, self->circuits[0].src_rank);
	EXPECT_EQ(1, self->circuits[0].dst_rank);
	EXPECT_EQ(change.dark_ns, self->circuits[0].dark_ns);
}

/* A path read from the driver is a valid request. */
TEST_F(txn, path_and_back)
{
	struct morph_path_element elements[64];
	uint32_t guides[64], again[64];
	struct morph_circuit_path path = {
		.head = HEAD(morph_circuit_path),
		.guides = ARRAY(guides, 64),
		.elements = ARRAY(elements, 64),
	};
	struct morph_change change = change_add(0, 3);
	unsigned int count;

	ASSERT_EQ(0, RUN(&change, 1));
	path.circuit = change.circuit;
	ASSERT_EQ(0, ioctl(self->slice, MORPH_CIRCUIT_PATH, &path));
	count = path.guides.count;
	ASSERT_LT(1, count);
	EXPECT_EQ(count - 1, path.elements.count);
	READ_SLICE();
	EXPECT_EQ(count, self->circuits[0].hops);

	change = change_remove(path.circuit);
	ASSERT_EQ(0, RUN(&change, 1));
	EXPECT_EQ(-1, ioctl(self->slice, MORPH_CIRCUIT_PATH, &path));
	EXPECT_EQ(ENOENT, errno);

	change = change_add(0, 3);
	change.guides = (struct morph_array)ARRAY(guides, count);
	ASSERT_EQ(0, RUN(&change, 1))
	{
		TH_LOG("%s", last_detail);
	}
	path.circuit = change.circuit;
	path.guides = (struct morph_array)ARRAY(again, 64);
	path.elements.count = 64;
	ASSERT_EQ(0, ioctl(self->slice, MORPH_CIRCUIT_PATH, &path));
	EXPECT_EQ(count, path.guides.count);
	EXPECT_EQ(0, memcmp(guides, again, count * sizeof(*guides)));
}

/* ------------------------------------------------------------------ reading it */

TEST_F(txn, arrays_that_are_too_small)
{
	struct morph_rank_info ranks[RANKS];
	struct morph_circuit_path path = { .head = HEAD(morph_circuit_path) };
	uint32_t guide;

	ASSERT_EQ(0, light_ring(self->slice, RANKS));
	memset(ranks, 0xcc, sizeof(ranks));
	EXPECT_EQ(-1, slice_read(self->slice, &self->info, ranks, RANKS - 1, self->circuits, 16));
	EXPECT_EQ(EMSGSIZE, errno);
	EXPECT_EQ(RANKS, self->info.ranks.count);
	EXPECT_EQ(RANKS, self->info.circuits.count);
	EXPECT_EQ(0xcccccccc, ranks[0].rank);
	EXPECT_EQ(-1, slice_read(self->slice, &self->info, ranks, RANKS, self->circuits, 1));
	EXPECT_EQ(EMSGSIZE, errno);
	EXPECT_EQ(RANKS, self->info.circuits.count);
	EXPECT_EQ(1, self->info.head.have);
	EXPECT_EQ(RANKS, self->info.head.need);
	EXPECT_EQ(0, slice_read(self->slice, &self->info, NULL, 0, NULL, 0));
	EXPECT_EQ(RANKS, self->info.ranks.count);
	EXPECT_EQ(RANKS, self->info.circuits.count);

	READ_SLICE();
	path.circuit = self->circuits[0].circuit;
	path.guides = (struct morph_array)ARRAY(&guide, 1);
	EXPECT_EQ(-1, ioctl(self->slice, MORPH_CIRCUIT_PATH, &path));
	EXPECT_EQ(EMSGSIZE, errno);
	EXPECT_EQ(self->circuits[0].hops, path.guides.count);
	EXPECT_EQ(self->circuits[0].hops - 1, path.elements.count);
}

TEST_F(txn, longer_strides)
{
	struct {
		struct morph_circuit_info info;
		uint64_t more;
	} wide[RANKS];
	struct {
		struct morph_rank_info info;
		uint64_t more;
	} ranks[RANKS];
	struct morph_slice_info info = {
		.head = HEAD(morph_slice_info),
		.ranks = ARRAY(ranks, RANKS),
		.circuits = ARRAY(wide, RANKS),
	};
	int i;

	ASSERT_EQ(0, light_ring(self->slice, RANKS));
	memset(wide, 0xcc, sizeof(wide));
	memset(ranks, 0xcc, sizeof(ranks));
	ASSERT_EQ(0, ioctl(self->slice, MORPH_SLICE_INFO, &info));
	for (i = 0; i < RANKS; i++) {
		EXPECT_EQ(i, wide[i].info.src_rank);
		EXPECT_EQ(0, wide[i].more);
		EXPECT_EQ(i, ranks[i].info.rank);
		EXPECT_EQ(0, ranks[i].more);
	}
}

TEST_F(txn, longer_strides_of_a_path)
{
	struct {
		uint32_t guide, more;
	} guides[64];
	struct {
		struct morph_path_element element;
		uint64_t more;
	} elements[64];
	struct morph_circuit_path path = {
		.head = HEAD(morph_circuit_path),
		.guides = ARRAY(guides, 64),
		.elements = ARRAY(elements, 64),
	};
	unsigned int i;

	ASSERT_EQ(0, light_ring(self->slice, RANKS));
	READ_SLICE();
	path.circuit = self->circuits[0].circuit;
	memset(guides, 0xcc, sizeof(guides));
	memset(elements, 0xcc, sizeof(elements));
	ASSERT_EQ(0, ioctl(self->slice, MORPH_CIRCUIT_PATH, &path));
	ASSERT_LT(1, path.guides.count);
	for (i = 0; i < path.guides.count; i++)
		EXPECT_EQ(0, guides[i].more);
	for (i = 0; i < path.elements.count; i++)
		EXPECT_EQ(0, elements[i].more);
}

/* Each lane of a guide can be used, and no more. */
TEST_F(txn, until_nothing_is_left)
{
	struct morph_change change;
	unsigned int i, most = self->sim.info.planes * self->sim.info.wavelengths;
	int error = 0;

	for (i = 0; i <= most && !error; i++) {
		change = change_add(0, 1);
		error = RUN(&change, 1);
	}
	EXPECT_NE(0, error);
	EXPECT_LT(1, i);
	EXPECT_TRUE(error == EBUSY || error == ENOSPC)
	{
		TH_LOG("%s: %s", strerror(error), last_detail);
	}
	EXPECT_NE(MORPH_REASON_NONE, self->args.head.reason);
	EXPECT_NE('\0', last_detail[0]);
	EXPECT_EQ(-error, change.status);
}

TEST_HARNESS_MAIN

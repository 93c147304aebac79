// SPDX-License-Identifier: GPL-2.0-only
/* Two-phase transactions: prepare, commit, confirm, revert, and leases that expire. */
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "fabric.h"
#include "kselftest_harness.h"

#define SECOND 1000000000ULL
#define LONG (600 * SECOND)

FIXTURE(prepare)
{
	struct sim sim;
	int slice;
	struct morph_txn_run args;
	struct morph_txn_step step;
	struct morph_slice_info info;
	struct morph_circuit_info circuits[4];
};

FIXTURE_SETUP(prepare)
{
	sim_start(&self->sim, "server8", NULL);
	self->slice = slice_create(self->sim.fd, 3);
	ASSERT_LE(0, self->slice);
	self->args.generation = GENERATION_ANY;
	self->args.head.flags = MORPH_TXN_PREPARE;
	self->args.lease_ns = LONG;
}

FIXTURE_TEARDOWN(prepare)
{
	close(self->slice);
	EXPECT_TRUE(sim_wait_free(&self->sim, 8));
	EXPECT_TRUE(sim_all_dark(&self->sim));
	sim_stop(&self->sim);
}

#define PREPARE(list, entries)                                                    \
	({                                                                        \
		struct morph_change *__list = list;                               \
                                                                                  \
		ASSERT_EQ(0, txn_run(self->slice, __list, entries, &self->args)); \
		EXPECT_EQ(MORPH_OUTCOME_PREPARED, self->args.out_outcome);        \
		EXPECT_NE(0, self->args.out_txn);                                 \
	})
/* errno of a step, or 0. */
#define STEP(verb, lease) \
	(txn_step(self->slice, self->args.out_txn, verb, lease, &self->step) ? errno : 0)
#define READ_SLICE() ASSERT_EQ(0, slice_read(self->slice, &self->info, NULL, 0, self->circuits, 4))

TEST_F(prepare, commit_and_confirm)
{
	struct morph_change change = change_add(0, 1);

	PREPARE(&change, 1);
	EXPECT_TRUE(sim_all_dark(&self->sim));
	EXPECT_EQ(0, STEP(MORPH_TXN_QUERY, 0));
	EXPECT_EQ(MORPH_OUTCOME_PREPARED, self->step.out_outcome);
	EXPECT_LT(LONG / 2, self->step.out_lease_ns);
	EXPECT_GE(LONG, self->step.out_lease_ns);

	ASSERT_EQ(0, STEP(MORPH_TXN_COMMIT, 0));
	EXPECT_EQ(MORPH_OUTCOME_UNCONFIRMED, self->step.out_outcome);
	EXPECT_FALSE(sim_all_dark(&self->sim));
	READ_SLICE();
	ASSERT_EQ(1, self->info.circuits.count);
	EXPECT_EQ(MORPH_CIRCUIT_LIT, self->circuits[0].state);
	EXPECT_EQ(change.circuit, self->circuits[0].circuit);

	ASSERT_EQ(0, STEP(MORPH_TXN_CONFIRM, 0));
	EXPECT_EQ(MORPH_OUTCOME_COMMITTED, self->step.out_outcome);
	EXPECT_EQ(0, self->step.out_lease_ns);
	EXPECT_EQ(EINVAL, STEP(MORPH_TXN_CONFIRM, 0));
	EXPECT_EQ(EINVAL, STEP(MORPH_TXN_REVERT, 0));
	EXPECT_EQ(0, STEP(MORPH_TXN_QUERY, 0));
	EXPECT_EQ(MORPH_OUTCOME_COMMITTED, self->step.out_outcome);
}

/* A read of the slice shows the prepared circuit with its path and state. */
TEST_F(prepare, shown_while_prepared)
{
	struct morph_change change = change_add(0, 1);
	struct morph_circuit_path path = { .head.size = sizeof(path) };

	PREPARE(&change, 1);
	READ_SLICE();
	ASSERT_EQ(1, self->info.circuits.count);
	EXPECT_EQ(MORPH_CIRCUIT_PREPARED, self->circuits[0].state);
	EXPECT_EQ(change.circuit, self->circuits[0].circuit);
	EXPECT_EQ(change.lanes, self->circuits[0].lanes);
	path.circuit = change.circuit;
	EXPECT_EQ(0, ioctl(self->slice, MORPH_CIRCUIT_PATH, &path));
	EXPECT_LT(0, path.guides.count);
	ASSERT_EQ(0, STEP(MORPH_TXN_REVERT, 0));
	EXPECT_NE(0, ioctl(self->slice, MORPH_CIRCUIT_PATH, &path));
}

/* The state page shows the circuit when it is lit, and no longer when it is reverted. */
TEST_F(prepare, state_page_drops_reverted_circuits)
{
	size_t bytes = MORPH_STATE_BYTES(3 * 3);
	struct morph_change change = change_add(0, 1);
	volatile struct morph_state_page *page;
	volatile struct morph_state_pair *pair;

	page = mmap(NULL, bytes, PROT_READ, MAP_SHARED, self->slice, 0);
	ASSERT_NE(MAP_FAILED, (void *)page);
	pair = (volatile struct morph_state_pair *)(page + 1) + 1;
	PREPARE(&change, 1);
	EXPECT_EQ(0, pair->mbps);
	ASSERT_EQ(0, STEP(MORPH_TXN_COMMIT, 0));
	EXPECT_NE(0, pair->mbps);
	EXPECT_NE(0, pair->hops);
	ASSERT_EQ(0, STEP(MORPH_TXN_REVERT, 0));
	EXPECT_EQ(0, pair->mbps);
	EXPECT_EQ(0, pair->hops);
	READ_SLICE();
	EXPECT_EQ(0, self->info.circuits.count);
	munmap((void *)page, bytes);
}

/* A tenant that named its transaction may repeat the request and each of its steps. */
TEST_F(prepare, same_cookie_again)
{
	struct morph_change change = change_add(0, 1), again = change_add(0, 1);
	unsigned int txn;

	self->args.cookie = 0x1234;
	PREPARE(&change, 1);
	txn = self->args.out_txn;
	PREPARE(&again, 1);
	EXPECT_EQ(txn, self->args.out_txn);
	EXPECT_EQ(change.circuit, again.circuit);
	EXPECT_EQ(EINVAL, STEP(MORPH_TXN_CONFIRM, 0));
	ASSERT_EQ(0, STEP(MORPH_TXN_COMMIT, 0));
	EXPECT_EQ(0, STEP(MORPH_TXN_COMMIT, 0));
	EXPECT_EQ(MORPH_OUTCOME_UNCONFIRMED, self->step.out_outcome);
	ASSERT_EQ(0, STEP(MORPH_TXN_CONFIRM, 0));
	EXPECT_EQ(0, STEP(MORPH_TXN_CONFIRM, 0));
	EXPECT_EQ(MORPH_OUTCOME_COMMITTED, self->step.out_outcome);
	EXPECT_EQ(EINVAL, STEP(MORPH_TXN_REVERT, 0));
	again = change_add(0, 1);
	ASSERT_EQ(0, txn_run(self->slice, &again, 1, &self->args));
	EXPECT_EQ(txn, self->args.out_txn);
	EXPECT_EQ(MORPH_OUTCOME_COMMITTED, self->args.out_outcome);
	READ_SLICE();
	EXPECT_EQ(1, self->info.circuits.count);
}

/* A reverted transaction holds nothing: prepare it again. */
TEST_F(prepare, same_cookie_again_after_revert)
{
	struct morph_change change = change_add(0, 1), again = change_add(0, 1);
	unsigned int txn;

	self->args.cookie = 0x1234;
	PREPARE(&change, 1);
	txn = self->args.out_txn;
	ASSERT_EQ(0, STEP(MORPH_TXN_REVERT, 0));
	EXPECT_EQ(0, STEP(MORPH_TXN_REVERT, 0));
	EXPECT_EQ(MORPH_OUTCOME_ROLLED_BACK, self->step.out_outcome);
	PREPARE(&again, 1);
	EXPECT_NE(txn, self->args.out_txn);
	EXPECT_EQ(0, STEP(MORPH_TXN_REVERT, 0));
}

TEST_F(prepare, revert_before_commit)
{
	struct morph_change change = change_add(0, 1);

	PREPARE(&change, 1);
	ASSERT_EQ(0, STEP(MORPH_TXN_REVERT, 0));
	EXPECT_EQ(MORPH_OUTCOME_ROLLED_BACK, self->step.out_outcome);
	READ_SLICE();
	EXPECT_EQ(0, self->info.circuits.count);
	EXPECT_TRUE(sim_all_dark(&self->sim));
}

TEST_F(prepare, revert_after_commit)
{
	struct morph_change change = change_add(0, 1);

	PREPARE(&change, 1);
	ASSERT_EQ(0, STEP(MORPH_TXN_COMMIT, 0));
	ASSERT_EQ(0, STEP(MORPH_TXN_REVERT, 0));
	EXPECT_EQ(MORPH_OUTCOME_ROLLED_BACK, self->step.out_outcome);
	READ_SLICE();
	EXPECT_EQ(0, self->info.circuits.count);
	EXPECT_TRUE(sim_all_dark(&self->sim));
}

/* Revert a removal: the old light is back. */
TEST_F(prepare, reverted_removal)
{
	struct morph_change change = change_add(0, 1);

	ASSERT_EQ(0, txn_run(self->slice, &change, 1, NULL));
	change = change_remove(change.circuit);
	PREPARE(&change, 1);
	EXPECT_FALSE(sim_all_dark(&self->sim));
	ASSERT_EQ(0, STEP(MORPH_TXN_COMMIT, 0));
	EXPECT_TRUE(sim_all_dark(&self->sim));
	ASSERT_EQ(0, STEP(MORPH_TXN_REVERT, 0));
	READ_SLICE();
	ASSERT_EQ(1, self->info.circuits.count);
	EXPECT_EQ(MORPH_CIRCUIT_LIT, self->circuits[0].state);
	EXPECT_FALSE(sim_all_dark(&self->sim));
}

TEST_F(prepare, lease_runs_out)
{
	struct morph_change change = change_add(0, 1);
	struct morph_event event;

	self->args.lease_ns = SECOND / 5;
	PREPARE(&change, 1);
	ASSERT_EQ(0, wait_event(self->slice, MORPH_EVENT_TXN, PATIENCE_MS, &event));
	EXPECT_EQ(self->args.out_txn, event.txn);
	EXPECT_EQ(MORPH_OUTCOME_EXPIRED, event.outcome);
	EXPECT_EQ(ETIME, STEP(MORPH_TXN_COMMIT, 0));
	EXPECT_EQ(MORPH_OUTCOME_EXPIRED, self->step.out_outcome);
	READ_SLICE();
	EXPECT_EQ(0, self->info.circuits.count);
	/* The hardware that it held is free. */
	change = change_add(0, 1);
	EXPECT_EQ(0, txn_run(self->slice, &change, 1, NULL));
}

TEST_F(prepare, confirm_never_comes)
{
	struct morph_change change = change_add(0, 1);
	struct morph_event event;

	PREPARE(&change, 1);
	ASSERT_EQ(0, STEP(MORPH_TXN_COMMIT, SECOND / 2));
	EXPECT_FALSE(sim_all_dark(&self->sim));
	ASSERT_EQ(0, wait_event(self->slice, MORPH_EVENT_TXN, PATIENCE_MS, &event));
	EXPECT_EQ(MORPH_OUTCOME_EXPIRED, event.outcome);
	EXPECT_EQ(ETIME, STEP(MORPH_TXN_CONFIRM, 0));
	EXPECT_TRUE(sim_all_dark(&self->sim));
}

TEST_F(prepare, wrong_steps)
{
	struct morph_change change = change_add(0, 1);
	uint32_t txn;

	PREPARE(&change, 1);
	txn = self->args.out_txn;
	EXPECT_EQ(EOPNOTSUPP, STEP(0, 0));
	EXPECT_EQ(EOPNOTSUPP, STEP(6, 0));
	EXPECT_EQ(EINVAL, STEP(MORPH_TXN_CONFIRM, 0));
	EXPECT_EQ(EINVAL, STEP(MORPH_TXN_REVERT, SECOND));
	EXPECT_EQ(EINVAL, STEP(MORPH_TXN_COMMIT, 1));
	EXPECT_EQ(EINVAL, STEP(MORPH_TXN_COMMIT, 3601 * SECOND));
	self->args.out_txn = txn + 1000;
	EXPECT_EQ(ENOENT, STEP(MORPH_TXN_QUERY, 0));
	self->args.out_txn = 0;
	EXPECT_EQ(ENOENT, STEP(MORPH_TXN_QUERY, 0));
	self->args.out_txn = txn;
	ASSERT_EQ(0, STEP(MORPH_TXN_COMMIT, 0));
	EXPECT_EQ(EINVAL, STEP(MORPH_TXN_COMMIT, 0));
	EXPECT_EQ(0, STEP(MORPH_TXN_CONFIRM, 0));
}

/* Transactions of another slice are invisible. */
TEST_F(prepare, of_another_slice)
{
	struct morph_change change = change_add(0, 1);
	int other = slice_create(self->sim.fd, 2);

	ASSERT_LE(0, other);
	PREPARE(&change, 1);
	EXPECT_EQ(-1, txn_step(other, self->args.out_txn, MORPH_TXN_QUERY, 0, NULL));
	EXPECT_EQ(ENOENT, errno);
	EXPECT_EQ(-1, txn_step(other, self->args.out_txn, MORPH_TXN_REVERT, 0, NULL));
	EXPECT_EQ(ENOENT, errno);
	EXPECT_EQ(0, STEP(MORPH_TXN_QUERY, 0));
	EXPECT_EQ(MORPH_OUTCOME_PREPARED, self->step.out_outcome);
	close(other);
}

/* So are those of a slice that has ended, even if the next slice has its number. */
TEST_F(prepare, of_a_slice_that_ended)
{
	struct morph_change change = change_add(0, 1);

	PREPARE(&change, 1);
	ASSERT_EQ(0, STEP(MORPH_TXN_REVERT, 0));
	EXPECT_EQ(0, STEP(MORPH_TXN_QUERY, 0));
	close(self->slice);
	ASSERT_TRUE(sim_wait_free(&self->sim, 8));
	self->slice = slice_create(self->sim.fd, 3);
	ASSERT_LE(0, self->slice);
	EXPECT_EQ(ENOENT, STEP(MORPH_TXN_QUERY, 0));
}

/* A prepared transaction holds its lanes: no other one gets them. */
TEST_F(prepare, schedule_holds_its_resources)
{
	struct morph_change change = change_add(0, 1), same;

	change.src_plane = 0;
	change.dst_plane = 0;
	change.lanes = 1;
	same = change;
	PREPARE(&change, 1);
	EXPECT_EQ(-1, txn_run(self->slice, &same, 1, NULL));
	EXPECT_TRUE(errno == EBUSY || errno == ENOSPC)
	{
		TH_LOG("%s: %s", strerror(errno), last_detail);
	}
	ASSERT_EQ(0, STEP(MORPH_TXN_REVERT, 0));
	EXPECT_EQ(0, txn_run(self->slice, &same, 1, NULL));
}

/*
 * Alarms for light that a commit takes away must not count as a failure, because a failure would
 * confirm the removal. The accelerator that dies is unassigned. When the driver knows that it is
 * dead, it has handled all earlier signals.
 */
TEST(commanded_alarms_confirm_nothing)
{
	struct morph_txn_run args = { .generation = GENERATION_ANY, .lease_ns = LONG };
	struct morph_change change = change_add(0, 1);
	struct morph_slice_info info;
	struct sim sim;
	int slice;

	args.head.flags = MORPH_TXN_PREPARE;
	sim_start(&sim, "server8", "alarm_commanded=1");
	slice = slice_create_at(sim.fd, (uint32_t[]){ 0, 1 }, 2);
	ASSERT_LE(0, slice);
	change.src_plane = 0;
	change.dst_plane = 0;
	ASSERT_EQ(0, txn_run(slice, &change, 1, NULL));
	change.op = MORPH_CHANGE_MOVE;
	change.src_plane = 1;
	change.dst_plane = 1;
	ASSERT_EQ(0, txn_run(slice, &change, 1, &args))
	{
		TH_LOG("%s: %s", strerror(errno), last_detail);
	}
	ASSERT_EQ(0, txn_step(slice, args.out_txn, MORPH_TXN_COMMIT, 0, NULL));
	ASSERT_EQ(0, sim_control(&sim, "fault", "accelerator_dead 7"));
	ASSERT_TRUE(wait_health(&sim, 7, MORPH_HEALTH_FAILED));
	EXPECT_EQ(0, txn_step(slice, args.out_txn, MORPH_TXN_REVERT, 0, NULL))
	{
		TH_LOG("%s: %s", strerror(errno), last_detail);
	}
	ASSERT_EQ(0, slice_info(slice, &info));
	EXPECT_EQ(MORPH_SLICE_OK, info.state);
	close(slice);
	sim_stop(&sim);
}

/* The slice ends with one transaction prepared and one committed. */
TEST_F(prepare, slice_ends_meanwhile)
{
	struct morph_change change = change_add(0, 1);

	PREPARE(&change, 1);
	ASSERT_EQ(0, STEP(MORPH_TXN_COMMIT, 0));
	change = change_add(1, 2);
	PREPARE(&change, 1);
}

TEST_HARNESS_MAIN

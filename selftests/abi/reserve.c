// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reserved protection: the driver holds a spare and the lanes to it, and no other slice gets them.
 */
#include <string.h>

#include "fabric.h"
#include "kselftest_harness.h"

#define RANKS 2
#define MOST 1024

FIXTURE(reserve)
{
	struct sim sim;
	int slice;
	struct morph_slice_info info;
	struct morph_rank_info ranks[RANKS];
	struct morph_circuit_info circuits[MOST];
};

/*
 * A slice with reserved protection: of two rows of four tiles it has the first column. Spares 8 and
 * 9 form the fifth.
 */
FIXTURE_SETUP(reserve)
{
	static const uint32_t wanted[RANKS] = { 0, 4 };
	struct morph_slice_create args = { .head.flags = MORPH_SLICE_RESERVED };

	sim_start(&self->sim, "server8", NULL);
	self->slice = slice_create_with(self->sim.fd, &args, wanted, RANKS);
	ASSERT_LE(0, self->slice);
	ASSERT_EQ(0, light_ring(self->slice, RANKS));
}

/* Read a number from the accounts of the fabric. */
static long long ledger(const struct sim *sim, const char *key)
{
	return core_counter(sim, "ledger", key);
}

/* When all slices have gone, nothing is held any more. */
FIXTURE_TEARDOWN(reserve)
{
	static const char *const keys[] = { "pins", "elements held", "guide lanes held",
					    "transmit lanes held", "receive lanes held" };
	unsigned int i;

	sim_control(&self->sim, "clear", "all");
	close(self->slice);
	for (i = 0; i < 10; i++)
		EXPECT_TRUE(wait_health(&self->sim, i, MORPH_HEALTH_OK));
	EXPECT_TRUE(sim_wait_free(&self->sim, 8));
	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		EXPECT_EQ(0, ledger(&self->sim, keys[i]))
		{
			TH_LOG("%s", keys[i]);
		}
	sim_stop(&self->sim);
}

#define READ_SLICE() \
	ASSERT_EQ(0, slice_read(self->slice, &self->info, self->ranks, RANKS, self->circuits, MOST))
#define KILL(accelerator) \
	ASSERT_EQ(0, sim_control(&self->sim, "fault", "accelerator_dead %u", accelerator))

#define EXPECT_PLANS(wanted) EXPECT_TRUE(wait_plans(self->slice, RANKS, MORPH_PLAN_##wanted))

/*
 * Light circuits of one lane between pairs of ranks until none gets another lane. The driver must
 * refuse a lane because it is held, not because it is broken. Return the number of circuits.
 */
static unsigned int fill(struct __test_metadata *_metadata, int slice, const uint8_t (*pairs)[2],
			 unsigned int count)
{
	unsigned int lit = 0, before, i;
	struct morph_change change;

	do {
		before = lit;
		for (i = 0; i < count; i++) {
			change = change_add(pairs[i][0], pairs[i][1]);
			if (!txn_run(slice, &change, 1, NULL))
				lit++;
			else
				EXPECT_TRUE(errno == EBUSY || errno == ENOSPC)
				{
					TH_LOG("%s: %s", strerror(errno), last_detail);
				}
		}
	} while (lit != before);
	return lit;
}

static int replaced(int slice, struct morph_event *event)
{
	return wait_event(slice, MORPH_EVENT_REPLACED, PATIENCE_MS, event);
}

/* ---------------------------------------------------------------- what is held */

TEST_F(reserve, plans_hold_lanes)
{
	long long lit;
	unsigned int i;

	EXPECT_PLANS(RESERVED);
	READ_SLICE();
	for (i = 0; i < RANKS; i++)
		EXPECT_EQ(MORPH_USE_HELD, read_accelerator(&self->sim, self->ranks[i].spare).use);
	for (i = 0, lit = 0; i < RANKS; i++)
		lit += self->circuits[i].hops;
	EXPECT_LT(lit, ledger(&self->sim, "guide lanes held"));
	EXPECT_LT(0, ledger(&self->sim, "elements held"));
	/* Without failover the driver holds nothing for it. */
	ASSERT_EQ(0, slice_policy(self->slice, MORPH_FAILOVER_NONE));
	EXPECT_PLANS(NONE);
	EXPECT_EQ(lit, ledger(&self->sim, "guide lanes held"));
	EXPECT_EQ(0, ledger(&self->sim, "elements held"));
	ASSERT_EQ(0, slice_policy(self->slice, MORPH_FAILOVER_MANUAL));
	EXPECT_PLANS(RESERVED);
}

/* The other slices have every lane between the slice and the spares except the reserved ones. */
TEST_F(reserve, other_slices_keep_the_path_to_the_spare_free)
{
	static const uint32_t rest[] = { 1, 3, 5, 7 };
	static const uint8_t pairs[][2] = { { 0, 1 }, { 2, 3 }, { 1, 0 }, { 3, 2 } };
	struct morph_event event;
	unsigned int spare;
	int other;

	EXPECT_PLANS(RESERVED);
	READ_SLICE();
	spare = self->ranks[1].spare;
	other = slice_create_at(self->sim.fd, rest, 4);
	ASSERT_LE(0, other);
	EXPECT_NE(0, fill(_metadata, other, pairs, 4));
	EXPECT_PLANS(RESERVED);
	KILL(4);
	ASSERT_EQ(0, replaced(self->slice, &event));
	EXPECT_EQ(spare, event.new_accelerator);
	ASSERT_TRUE(slice_wait_state(self->slice, MORPH_SLICE_OK));
	close(other);
}

/*
 * Reserved lanes belong to the slice: its changes may use them, and its plans follow. These are
 * hundreds of transactions, which take long if each is checked.
 */
TEST_F_TIMEOUT(reserve, own_circuits_may_have_it_all, 240)
{
	static const uint8_t pairs[][2] = { { 0, 1 }, { 1, 0 } };
	unsigned int lit, i;

	EXPECT_PLANS(RESERVED);
	lit = fill(_metadata, self->slice, pairs, 2);
	READ_SLICE();
	ASSERT_EQ(RANKS + lit, self->info.circuits.count);
	/* exactly the number that a slice without a reservation gets */
	ASSERT_EQ(0, slice_policy(self->slice, MORPH_FAILOVER_NONE));
	EXPECT_EQ(0, fill(_metadata, self->slice, pairs, 2));
	ASSERT_EQ(0, slice_policy(self->slice, MORPH_FAILOVER_AUTOMATIC));
	for (i = RANKS; i < RANKS + lit; i++) {
		struct morph_change change = change_remove(self->circuits[i].circuit);

		ASSERT_EQ(0, txn_run(self->slice, &change, 1, NULL));
	}
	EXPECT_PLANS(RESERVED);
}

TEST_F(reserve, prepared_and_reverted)
{
	struct morph_txn_run args = {
		.head.flags = MORPH_TXN_PREPARE,
		.generation = GENERATION_ANY,
		.lease_ns = 600000000000ULL,
	};
	struct morph_change change = change_add(0, 1);
	long long lanes, pins, held;

	EXPECT_PLANS(RESERVED);
	lanes = ledger(&self->sim, "guide lanes held");
	pins = ledger(&self->sim, "pins");
	held = ledger(&self->sim, "elements held");
	ASSERT_EQ(0, txn_run(self->slice, &change, 1, &args));
	ASSERT_EQ(0, txn_step(self->slice, args.out_txn, MORPH_TXN_COMMIT, 0, NULL));
	ASSERT_EQ(0, txn_step(self->slice, args.out_txn, MORPH_TXN_REVERT, 0, NULL));
	EXPECT_PLANS(RESERVED);
	EXPECT_EQ(lanes, ledger(&self->sim, "guide lanes held"));
	EXPECT_EQ(pins, ledger(&self->sim, "pins"));
	EXPECT_EQ(held, ledger(&self->sim, "elements held"));
}

/* A slice with reserved protection and a list of spares. */
static int create_with_spares(int fabric, const uint32_t *accelerators, const uint32_t *spares,
			      unsigned int spares_count)
{
	struct morph_slice_create args = {
		.head.flags = MORPH_SLICE_RESERVED,
		.spare_policy = MORPH_SPARES_LIST,
		.spares = ARRAY(spares, spares_count),
	};

	last_detail[0] = '\0';
	return slice_create_with(fabric, &args, accelerators, 1);
}

/* An accelerator of a rank cannot also be a spare of its slice. */
TEST_F(reserve, own_rank_is_no_spare)
{
	static const uint32_t accelerators[] = { 1, 2 };
	struct morph_rank_info rank;
	struct morph_slice_info info;
	int slice;

	EXPECT_EQ(-1, create_with_spares(self->sim.fd, accelerators, accelerators, 1));
	EXPECT_EQ(ENOSPC, errno);
	EXPECT_NE(NULL, strstr(last_detail, "accelerator 1 "))
	{
		TH_LOG("%s", last_detail);
	}
	/* The next spare of the list is another one. */
	slice = create_with_spares(self->sim.fd, accelerators, accelerators, 2);
	ASSERT_LE(0, slice);
	EXPECT_EQ(MORPH_USE_HELD, read_accelerator(&self->sim, 2).use);
	ASSERT_EQ(0, slice_read(slice, &info, &rank, 1, NULL, 0));
	EXPECT_EQ(1, rank.accelerator);
	close(slice);
}

TEST_F(reserve, chosen_rank_is_no_spare)
{
	static const uint32_t all[] = { 1, 2, 3, 5, 6, 7 };
	struct morph_rank_info rank;
	struct morph_slice_info info;
	unsigned int held = 0, i;
	int slice = slice_create(self->sim.fd, 1);

	ASSERT_LE(0, slice);
	ASSERT_EQ(0, slice_read(slice, &info, &rank, 1, NULL, 0));
	close(slice);
	ASSERT_TRUE(sim_wait_free(&self->sim, 6));
	/* The driver would choose the same spare again. */
	EXPECT_EQ(-1, create_with_spares(self->sim.fd, NULL, &rank.accelerator, 1));
	EXPECT_EQ(ENOSPC, errno);
	slice = create_with_spares(self->sim.fd, NULL, all, 6);
	ASSERT_LE(0, slice);
	for (i = 0; i < 6; i++)
		held += read_accelerator(&self->sim, all[i]).use == MORPH_USE_HELD;
	EXPECT_EQ(2, held);
	close(slice);
}

/* ------------------------------------------------------------------ replenished */

TEST_F(reserve, used_spare_is_replaced_while_there_are_any)
{
	struct morph_event first, second;

	EXPECT_PLANS(RESERVED);
	KILL(0);
	ASSERT_EQ(0, replaced(self->slice, &first));
	EXPECT_PLANS(RESERVED);
	READ_SLICE();
	EXPECT_NE(first.new_accelerator, self->ranks[1].spare);
	KILL(4);
	ASSERT_EQ(0, replaced(self->slice, &second));
	EXPECT_NE(first.new_accelerator, second.new_accelerator);
	/* Both spares are in use. */
	EXPECT_PLANS(NONE);
	/* The driver holds one of the returning accelerators again. */
	ASSERT_EQ(0, sim_control(&self->sim, "clear", "all"));
	EXPECT_PLANS(RESERVED);
	READ_SLICE();
	EXPECT_TRUE(self->ranks[0].spare == 0 || self->ranks[0].spare == 4);
	EXPECT_EQ(MORPH_USE_HELD, read_accelerator(&self->sim, self->ranks[0].spare).use);
}

/* The driver makes no plans while a schedule is loaded, but still holds the spare. */
TEST_F(reserve, used_spare_is_replaced_beside_a_schedule)
{
	static const struct morph_schedule_circuit circuit = { .dst_rank = 1, .lanes_count = 1 };
	struct morph_event event;
	uint32_t other;
	int schedule;

	schedule = schedule_in_turn(self->slice, &circuit, 1, NULL);
	ASSERT_LT(0, schedule) TH_LOG("%s", last_detail);
	KILL(0);
	ASSERT_EQ(0, replaced(self->slice, &event));
	other = event.new_accelerator == 8 ? 9 : 8;
	EXPECT_TRUE(WAIT_UNTIL(read_accelerator(&self->sim, other).use == MORPH_USE_HELD));
	EXPECT_EQ(0, schedule_act(self->slice, schedule, MORPH_SCHEDULE_START, NULL))
	TH_LOG("%s", last_detail);
}

TEST_F(reserve, own_spare_may_be_named)
{
	struct morph_rank_act act;
	unsigned int spare;

	EXPECT_PLANS(RESERVED);
	READ_SLICE();
	spare = self->ranks[0].spare;
	ASSERT_EQ(0, rank_act(self->slice, MORPH_RANK_REPLACE, 0, spare, &act))
	{
		TH_LOG("%s", last_detail);
	}
	READ_SLICE();
	EXPECT_EQ(spare, self->ranks[0].accelerator);
	EXPECT_PLANS(RESERVED);
}

TEST_F(reserve, dead_spare_is_exchanged)
{
	unsigned int spare;

	EXPECT_PLANS(RESERVED);
	READ_SLICE();
	spare = self->ranks[0].spare;
	KILL(spare);
	ASSERT_TRUE(wait_health(&self->sim, spare, MORPH_HEALTH_FAILED));
	EXPECT_PLANS(RESERVED);
	READ_SLICE();
	EXPECT_NE(spare, self->ranks[0].spare);
	EXPECT_EQ(MORPH_USE_SPARE, read_accelerator(&self->sim, spare).use);
}

/* ------------------------------------------------------------------- two of them */

TEST_F(reserve, two_do_not_share)
{
	static const uint32_t rest[] = { 2, 3 };
	struct morph_slice_create args = { .head.flags = MORPH_SLICE_RESERVED };
	struct morph_rank_info ranks[2];
	struct morph_slice_info info;
	struct morph_event event;
	int other;

	other = slice_create_with(self->sim.fd, &args, rest, 2);
	ASSERT_LE(0, other);
	ASSERT_EQ(0, light_ring(other, 2));
	EXPECT_PLANS(RESERVED);
	EXPECT_TRUE(wait_plans(other, 2, MORPH_PLAN_RESERVED));
	ASSERT_EQ(0, slice_read(other, &info, ranks, 2, NULL, 0));
	READ_SLICE();
	EXPECT_NE(ranks[0].spare, self->ranks[0].spare);
	EXPECT_EQ(-1, slice_create_with(self->sim.fd, &args, NULL, 1));
	EXPECT_EQ(ENOSPC, errno);
	args.head.flags |= MORPH_SLICE_DRY_RUN;
	EXPECT_EQ(-1, slice_create_with(self->sim.fd, &args, NULL, 1));
	EXPECT_EQ(ENOSPC, errno);
	KILL(2);
	KILL(self->ranks[1].accelerator);
	ASSERT_EQ(0, replaced(other, &event));
	EXPECT_EQ(ranks[0].spare, event.new_accelerator);
	ASSERT_EQ(0, replaced(self->slice, &event));
	EXPECT_EQ(self->ranks[1].spare, event.new_accelerator);
	close(other);
}

TEST_HARNESS_MAIN

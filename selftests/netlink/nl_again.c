// SPDX-License-Identifier: GPL-2.0-only
/* Repeated transactions and questions, requests for one alternative, and impossible requests. */
#include <errno.h>
#include <stdio.h>

#include "fabric.h"
#include "kselftest_harness.h"
#include "nl.h"

#define LONG_LEASE 600000000000ULL
#define COOKIE 5

FIXTURE(again)
{
	struct sim sim;
	struct nl nl;
	int slice;
	unsigned int number;
};

FIXTURE_SETUP(again)
{
	static const uint32_t accelerators[] = { 0, 1 };
	struct morph_slice_info info;

	sim_start(&self->sim, "server8", NULL);
	ASSERT_EQ(0, nl_open(&self->nl));
	self->slice = slice_create_at(self->sim.fd, accelerators, 2);
	ASSERT_LE(0, self->slice);
	ASSERT_EQ(0, slice_info(self->slice, &info));
	self->number = info.slice;
}

FIXTURE_TEARDOWN(again)
{
	close(self->slice);
	nl_close(&self->nl);
	sim_stop(&self->sim);
}

/* Prepare a circuit and return the number of the transaction, or 0. */
static unsigned int prepare(struct nl *nl, unsigned int fabric, unsigned int slice)
{
	nl_apply(nl, fabric, slice);
	nl_put(nl, MORPH_A_TXN_PREPARE, NULL, 0);
	nl_put_u64(nl, MORPH_A_TXN_LEASE_NS, LONG_LEASE);
	nl_put_u64(nl, MORPH_A_TXN_COOKIE, COOKIE);
	nl_put_add(nl, 0, 1);
	return nl_do(nl) ? 0 : REPLY_U32(nl, MORPH_A_TXN_ID);
}

/*
 * A client that lost the answer repeats the request and gets the same transaction. Nothing more is
 * held.
 */
TEST_F(again, prepared_is_found_by_its_cookie)
{
	unsigned int txn = prepare(&self->nl, self->sim.number, self->number);
	struct morph_slice_info info;

	ASSERT_NE(0, txn) TH_LOG("%s", self->nl.text);
	ASSERT_TRUE(
		WAIT_UNTIL(nl_outcome(&self->nl, self->sim.number, txn) == MORPH_OUTCOME_PREPARED));
	EXPECT_EQ(txn, prepare(&self->nl, self->sim.number, self->number));
	EXPECT_EQ(MORPH_OUTCOME_PREPARED, REPLY_U32(&self->nl, MORPH_A_TXN_OUTCOME));
	ASSERT_EQ(0, slice_info(self->slice, &info));
	EXPECT_EQ(1, info.circuits.count);
}

static void note_txn(const struct nlmsghdr *message, void *context)
{
	unsigned int *txn = context;

	*txn = nl_get_u32(nl_find(message, MORPH_A_TXN_ID));
}

TEST_F(again, one_transaction_is_dumped_alone)
{
	unsigned int txns[3], told = 0, i;

	for (i = 0; i < 3; i++) {
		nl_apply(&self->nl, self->sim.number, self->number);
		nl_put_add(&self->nl, 0, 1);
		ASSERT_EQ(0, nl_do(&self->nl));
		txns[i] = REPLY_U32(&self->nl, MORPH_A_TXN_ID);
		ASSERT_EQ(MORPH_OUTCOME_COMMITTED,
			  nl_wait_outcome(&self->nl, self->sim.number, txns[i]));
	}
	nl_begin(&self->nl, MORPH_CMD_TXN_GET, 0);
	nl_put_u32(&self->nl, MORPH_A_TXN_FABRIC, self->sim.number);
	nl_put_u32(&self->nl, MORPH_A_TXN_ID, txns[1]);
	ASSERT_EQ(0, nl_dump(&self->nl, note_txn, &told));
	EXPECT_EQ(1, self->nl.messages);
	EXPECT_EQ(txns[1], told);
}

/* The accelerators are free, but cannot be connected: all lasers of one are dead. */
TEST_F(again, ring_that_cannot_be_says_why_not)
{
	struct morph_slice_create ring = {
		.head.flags = MORPH_SLICE_DRY_RUN | MORPH_SLICE_RING,
	};
	unsigned int plane, planes = self->sim.info.planes;
	static const uint32_t listed[] = { 3, 2 };
	struct nl *nl = &self->nl;

	for (plane = 0; plane < planes; plane++) {
		nl_on_part(nl, MORPH_CMD_HARDWARE_FAIL, self->sim.number, MORPH_PART_LASER,
			   2 * planes + plane);
		ASSERT_EQ(0, nl_do(nl));
	}
	nl_begin(nl, MORPH_CMD_WHY_NOT, 0);
	nl_put_u32(nl, MORPH_A_WHY_NOT_FABRIC, self->sim.number);
	nl_put_u32(nl, MORPH_A_WHY_NOT_ACCELERATOR, 3);
	nl_put_u32(nl, MORPH_A_WHY_NOT_ACCELERATOR, 2);
	ASSERT_EQ(0, nl_do(nl));
	EXPECT_EQ(0, REPLY_U32(nl, MORPH_A_WHY_NOT_STATUS));

	nl_begin(nl, MORPH_CMD_WHY_NOT, 0);
	nl_put_u32(nl, MORPH_A_WHY_NOT_FABRIC, self->sim.number);
	nl_put_u32(nl, MORPH_A_WHY_NOT_ACCELERATOR, 3);
	nl_put_u32(nl, MORPH_A_WHY_NOT_ACCELERATOR, 2);
	nl_put(nl, MORPH_A_WHY_NOT_RING, NULL, 0);
	ASSERT_EQ(0, nl_do(nl));
	EXPECT_EQ((uint32_t)-EIO, REPLY_U32(nl, MORPH_A_WHY_NOT_STATUS));
	EXPECT_EQ(MORPH_REASON_UNUSABLE, REPLY_U32(nl, MORPH_A_WHY_NOT_REASON));
	EXPECT_EQ(MORPH_PART_LASER, REPLY_U32(nl, MORPH_A_WHY_NOT_PART));
	EXPECT_EQ(2, REPLY_U32(nl, MORPH_A_WHY_NOT_INDEX) / planes);

	/* The device node says the same. */
	EXPECT_GT(0, slice_create_with(self->sim.fd, &ring, listed, 2));
	EXPECT_EQ(EIO, errno);
	EXPECT_EQ(MORPH_REASON_UNUSABLE, ring.head.reason);
	EXPECT_EQ(MORPH_PART_LASER, ring.head.part);
	EXPECT_EQ(REPLY_U32(nl, MORPH_A_WHY_NOT_INDEX), ring.head.index);
	ring.head.flags = MORPH_SLICE_DRY_RUN;
	EXPECT_EQ(0, slice_create_with(self->sim.fd, &ring, listed, 2));
}

TEST_HARNESS_MAIN

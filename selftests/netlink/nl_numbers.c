// SPDX-License-Identifier: GPL-2.0-only
/*
 * Numbers of refusals over netlink: the cookie of the extended ack, and the sentence, which is the
 * same as on the device. Each kernel must give the same answers.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fabric.h"
#include "kselftest_harness.h"
#include "nl.h"

#define NO_SUCH_ID 999999

FIXTURE(numbers)
{
	struct sim sim;
	struct nl nl;
};

FIXTURE_SETUP(numbers)
{
	sim_start(&self->sim, "server8", NULL);
	ASSERT_EQ(0, nl_open(&self->nl));
}

FIXTURE_TEARDOWN(numbers)
{
	nl_close(&self->nl);
	sim_stop(&self->sim);
}

static void begin_create(struct nl *nl, unsigned int fabric)
{
	nl_begin(nl, MORPH_CMD_SLICE_CREATE, 0);
	nl_put_u32(nl, MORPH_A_SLICE_FABRIC, fabric);
	nl_put_text(nl, MORPH_A_SLICE_NAME, "job");
	nl_put_u32(nl, MORPH_A_SLICE_OWNER, 0);
}

/* The cookie of an error, and the sentence with places for its numbers. */
struct expected {
	struct morph_refusal_cookie cookie;
	const char *fixed;
};

static void numbered(struct __test_metadata *_metadata, struct nl *nl, int error,
		     const struct expected *expected)
{
	EXPECT_EQ(error, nl_do(nl)) TH_LOG("%s", expected->fixed);
	EXPECT_EQ(sizeof(nl->cookie), nl->cookie_bytes) TH_LOG("%s", expected->fixed);
	EXPECT_EQ(0, memcmp(&expected->cookie, &nl->cookie, sizeof(nl->cookie)))
	TH_LOG("%s: reason %u part %u index %u have %d need %d", nl->fixed, nl->cookie.reason,
	       nl->cookie.part, nl->cookie.index, nl->cookie.have, nl->cookie.need);
	EXPECT_STREQ(expected->fixed, nl->fixed);
}

TEST_F(numbers, are_in_the_cookie)
{
	int total = self->sim.info.accelerators, have = self->sim.info.free;
	const struct expected absent = { { MORPH_REASON_ARGUMENT, MORPH_PART_ACCELERATOR, total,
					   total, 0 },
					 "no accelerator {index} (0-{last})" };
	const struct expected short_of = {
		{ MORPH_REASON_ACCELERATORS, MORPH_PART_ACCELERATOR, MORPH_ANY, have, have + 1 },
		"not enough accelerators: {need} requested, {have} free"
	};
	/* A number that 32 bits cannot hold becomes the nearest one that they can. */
	const struct expected cut = { { MORPH_REASON_CONTROLLER, MORPH_PART_NONE, 7, 3, INT32_MAX },
				      "controller {index} is at epoch {have}, not {need}" };
	struct nl *nl = &self->nl;

	nl_begin(nl, MORPH_CMD_ACCELERATOR_GET, 0);
	nl_put_u32(nl, MORPH_A_ACCELERATOR_FABRIC, self->sim.number);
	nl_put_u32(nl, MORPH_A_ACCELERATOR_ID, total);
	numbered(_metadata, nl, ENOENT, &absent);

	begin_create(nl, self->sim.number);
	nl_put_u32(nl, MORPH_A_SLICE_RANKS_COUNT, have + 1);
	numbered(_metadata, nl, ENOSPC, &short_of);

	ASSERT_EQ(0,
		  nl_control(nl, MORPH_CMD_CONTROLLER_TAKE, self->sim.number, 7, 3, 1000000000ULL));
	ASSERT_EQ(ESTALE, nl_control(nl, MORPH_CMD_CONTROLLER_RENEW, self->sim.number, 7,
				     UINT64_MAX, 1000000000ULL));
	numbered(_metadata, nl, ESTALE, &cut);
	nl_begin(nl, MORPH_CMD_CONTROLLER_DROP, 0);
	nl_put_u32(nl, MORPH_A_CONTROLLER_FABRIC, self->sim.number);
	nl_put_u32(nl, MORPH_A_CONTROLLER_ID, 7);
	ASSERT_EQ(0, nl_do(nl));
	EXPECT_EQ(0, nl->cookie_bytes);
}

/* The request gets the text that the device gave before. */
static void same(struct __test_metadata *_metadata, struct nl *nl, int error)
{
	EXPECT_STRNE("", last_detail);
	EXPECT_EQ(error, errno) TH_LOG("%s", last_detail);
	EXPECT_EQ(error, nl_do(nl)) TH_LOG("%s", last_detail);
	EXPECT_STREQ(last_detail, nl->text);
	last_detail[0] = '\0';
}

TEST_F(numbers, are_those_of_the_device)
{
	uint32_t held = 0, absent = self->sim.info.accelerators;
	int slice = slice_create_at(self->sim.fd, &held, 1);
	struct morph_slice_info info;
	struct nl *nl = &self->nl;

	ASSERT_LE(0, slice);
	ASSERT_EQ(0, slice_info(slice, &info));
	begin_create(nl, self->sim.number);
	nl_put_u32(nl, MORPH_A_SLICE_RANKS_COUNT, self->sim.info.free);
	ASSERT_EQ(-1, slice_create(self->sim.fd, self->sim.info.free));
	same(_metadata, nl, ENOSPC);

	begin_create(nl, self->sim.number);
	nl_put_u32(nl, MORPH_A_SLICE_ACCELERATOR, held);
	ASSERT_EQ(-1, slice_create_at(self->sim.fd, &held, 1));
	same(_metadata, nl, EBUSY);

	begin_create(nl, self->sim.number);
	nl_put_u32(nl, MORPH_A_SLICE_ACCELERATOR, absent);
	ASSERT_EQ(-1, slice_create_at(self->sim.fd, &absent, 1));
	same(_metadata, nl, ENOENT);

	nl_begin(nl, MORPH_CMD_SLICE_DELETE, 0);
	nl_put_u32(nl, MORPH_A_SLICE_FABRIC, self->sim.number);
	nl_put_u32(nl, MORPH_A_SLICE_ID, NO_SUCH_ID);
	ASSERT_EQ(-1, slice_delete(self->sim.fd, NO_SUCH_ID, NULL, 0));
	same(_metadata, nl, ENOENT);

	nl_begin(nl, MORPH_CMD_REPLACE, 0);
	nl_put_u32(nl, MORPH_A_REPLACE_FABRIC, self->sim.number);
	nl_put_u32(nl, MORPH_A_REPLACE_SLICE, info.slice);
	nl_put_u32(nl, MORPH_A_REPLACE_RANK, 7);
	ASSERT_EQ(-1, rank_act(slice, MORPH_RANK_REPLACE, 7, MORPH_ANY, NULL));
	same(_metadata, nl, ENOENT);
	close(slice);
}

TEST_HARNESS_MAIN

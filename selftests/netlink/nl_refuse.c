// SPDX-License-Identifier: GPL-2.0-only
/* Bad requests: each is refused with an errno, a sentence, and the attribute that is wrong. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fabric.h"
#include "kselftest_harness.h"
#include "nl.h"

#define NO_SUCH_FABRIC 15
#define NO_SUCH_ID 999999
#define UNKNOWN_ATTR 200

FIXTURE(refuse)
{
	struct sim sim;
	struct nl nl;
};

FIXTURE_SETUP(refuse)
{
	sim_start(&self->sim, "server8", NULL);
	ASSERT_EQ(0, nl_open(&self->nl));
}

FIXTURE_TEARDOWN(refuse)
{
	nl_close(&self->nl);
	sim_stop(&self->sim);
}

/* A command that needs an object, by which attributes that is named, and what else it needs. */
struct command {
	uint8_t cmd;
	uint16_t fabric, object;
};

static const struct command commands[] = {
	{ MORPH_CMD_FABRIC_GET, MORPH_A_FABRIC_ID, 0 },
	{ MORPH_CMD_ACCELERATOR_GET, MORPH_A_ACCELERATOR_FABRIC, MORPH_A_ACCELERATOR_ID },
	{ MORPH_CMD_ACCELERATOR_SET, MORPH_A_ACCELERATOR_FABRIC, MORPH_A_ACCELERATOR_ID },
	{ MORPH_CMD_GUIDE_GET, MORPH_A_GUIDE_FABRIC, MORPH_A_GUIDE_ID },
	{ MORPH_CMD_ELEMENT_GET, MORPH_A_ELEMENT_FABRIC, MORPH_A_ELEMENT_ID },
	{ MORPH_CMD_SLICE_GET, MORPH_A_SLICE_FABRIC, MORPH_A_SLICE_ID },
	{ MORPH_CMD_SLICE_SET, MORPH_A_SLICE_FABRIC, MORPH_A_SLICE_ID },
	{ MORPH_CMD_SLICE_DELETE, MORPH_A_SLICE_FABRIC, MORPH_A_SLICE_ID },
	{ MORPH_CMD_CIRCUIT_GET, MORPH_A_CIRCUIT_FABRIC, MORPH_A_CIRCUIT_SLICE },
	{ MORPH_CMD_CIRCUIT_APPLY, MORPH_A_TXN_FABRIC, MORPH_A_TXN_SLICE },
	{ MORPH_CMD_TXN_GET, MORPH_A_TXN_FABRIC, MORPH_A_TXN_ID },
	{ MORPH_CMD_TXN_STEP, MORPH_A_TXN_FABRIC, MORPH_A_TXN_ID },
	{ MORPH_CMD_REPLACE, MORPH_A_REPLACE_FABRIC, MORPH_A_REPLACE_SLICE },
	{ MORPH_CMD_STATS_GET, MORPH_A_STATS_FABRIC, 0 },
	{ MORPH_CMD_HARDWARE_GET, MORPH_A_HARDWARE_FABRIC, 0 },
	{ MORPH_CMD_HARDWARE_FAIL, MORPH_A_HARDWARE_FABRIC, 0 },
	{ MORPH_CMD_HARDWARE_TEST, MORPH_A_HARDWARE_FABRIC, 0 },
	{ MORPH_CMD_SLICE_CREATE, MORPH_A_SLICE_FABRIC, 0 },
	{ MORPH_CMD_WHY_NOT, MORPH_A_WHY_NOT_FABRIC, 0 },
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

TEST_F(refuse, fabric_missing)
{
	struct nl *nl = &self->nl;
	unsigned int i;

	for (i = 0; i < COMMANDS; i++) {
		nl_begin(nl, commands[i].cmd, 0);
		EXPECT_EQ(EINVAL, nl_do(nl)) TH_LOG("command %u", commands[i].cmd);
		EXPECT_EQ(commands[i].fabric, nl->missing) TH_LOG("command %u", commands[i].cmd);
		EXPECT_STRNE("", nl->text);
	}
}

TEST_F(refuse, fabric_unknown)
{
	struct nl *nl = &self->nl;
	unsigned int i;

	for (i = 0; i < COMMANDS; i++) {
		nl_begin(nl, commands[i].cmd, 0);
		nl_put_u32(nl, commands[i].fabric, NO_SUCH_FABRIC);
		EXPECT_EQ(ENOENT, nl_do(nl)) TH_LOG("command %u", commands[i].cmd);
		EXPECT_EQ(commands[i].fabric, nl->bad_attr);
		EXPECT_STREQ("there is no fabric of this id", nl->text);
	}
}

TEST_F(refuse, object_missing)
{
	struct nl *nl = &self->nl;
	unsigned int i;

	for (i = 0; i < COMMANDS; i++) {
		if (!commands[i].object)
			continue;
		nl_begin(nl, commands[i].cmd, 0);
		nl_put_u32(nl, commands[i].fabric, self->sim.number);
		EXPECT_EQ(EINVAL, nl_do(nl)) TH_LOG("command %u", commands[i].cmd);
		EXPECT_EQ(commands[i].object, nl->missing) TH_LOG("command %u", commands[i].cmd);
		EXPECT_STRNE("", nl->text);
	}
}

TEST_F(refuse, object_unknown)
{
	struct nl *nl = &self->nl;
	unsigned int i;

	for (i = 0; i < COMMANDS; i++) {
		if (!commands[i].object)
			continue;
		nl_begin(nl, commands[i].cmd, 0);
		nl_put_u32(nl, commands[i].fabric, self->sim.number);
		nl_put_u32(nl, commands[i].object, NO_SUCH_ID);
		EXPECT_EQ(ENOENT, nl_do(nl)) TH_LOG("command %u", commands[i].cmd);
		EXPECT_EQ(commands[i].object, nl->bad_attr) TH_LOG("command %u", commands[i].cmd);
		EXPECT_STRNE("", nl->text);
	}
}

TEST_F(refuse, attribute_unknown)
{
	struct nl *nl = &self->nl;
	unsigned int i;

	for (i = 0; i < COMMANDS; i++) {
		nl_begin(nl, commands[i].cmd, 0);
		nl_put_u32(nl, commands[i].fabric, self->sim.number);
		nl_put_u32(nl, UNKNOWN_ATTR, 0);
		EXPECT_EQ(EINVAL, nl_do(nl)) TH_LOG("command %u", commands[i].cmd);
		EXPECT_EQ(UNKNOWN_ATTR, nl->bad_attr) TH_LOG("command %u", commands[i].cmd);
	}
}

/* An attribute that the family knows, but this command does not take. */
TEST_F(refuse, attribute_of_another_command)
{
	struct nl *nl = &self->nl;

	nl_begin(nl, MORPH_CMD_SLICE_DELETE, 0);
	nl_put_u32(nl, MORPH_A_SLICE_FABRIC, self->sim.number);
	nl_put_u32(nl, MORPH_A_SLICE_OWNER, 0);
	EXPECT_EQ(EINVAL, nl_do(nl));
	EXPECT_EQ(MORPH_A_SLICE_OWNER, nl->bad_attr);
}

TEST_F(refuse, attribute_too_short_or_long)
{
	struct nl *nl = &self->nl;
	unsigned int i;

	for (i = 0; i < COMMANDS; i++) {
		nl_begin(nl, commands[i].cmd, 0);
		nl_put(nl, commands[i].fabric, "\0", 2);
		EXPECT_EQ(EINVAL, nl_do(nl)) TH_LOG("command %u", commands[i].cmd);
		EXPECT_EQ(commands[i].fabric, nl->bad_attr);
		nl_begin(nl, commands[i].cmd, 0);
		nl_put_u64(nl, commands[i].fabric, self->sim.number);
		EXPECT_EQ(EINVAL, nl_do(nl)) TH_LOG("command %u", commands[i].cmd);
		EXPECT_EQ(commands[i].fabric, nl->bad_attr);
	}
}

TEST_F(refuse, header_reserved)
{
	struct nl *nl = &self->nl;

	nl_begin(nl, MORPH_CMD_FABRIC_GET, 0);
	nl_put_u32(nl, MORPH_A_FABRIC_ID, self->sim.number);
	nl_genl(nl)->reserved = 1;
	EXPECT_EQ(EINVAL, nl_do(nl));
}

TEST_F(refuse, command_unknown)
{
	struct nl *nl = &self->nl;

	nl_begin(nl, MORPH_CMD_MAX + 1, 0);
	EXPECT_EQ(EOPNOTSUPP, nl_do(nl));
	nl_begin(nl, MORPH_CMD_SLICE_NTF, 0); /* the kernel's, not ours */
	EXPECT_EQ(EOPNOTSUPP, nl_do(nl));
	nl_begin(nl, MORPH_CMD_SLICE_CREATE, 0); /* can't be dumped */
	EXPECT_EQ(EOPNOTSUPP, nl_dump(nl, NULL, NULL));
}

/* A dump refuses what names one object, rather than disregard it. */
TEST_F(refuse, dump_of_one_object)
{
	static const struct {
		uint8_t cmd;
		uint16_t attr;
	} cases[] = {
		{ MORPH_CMD_ACCELERATOR_GET, MORPH_A_ACCELERATOR_ID },
		{ MORPH_CMD_GUIDE_GET, MORPH_A_GUIDE_ID },
		{ MORPH_CMD_ELEMENT_GET, MORPH_A_ELEMENT_ID },
		{ MORPH_CMD_CIRCUIT_GET, MORPH_A_CIRCUIT_ID },
		{ MORPH_CMD_HARDWARE_GET, MORPH_A_HARDWARE_PART },
		{ MORPH_CMD_HARDWARE_GET, MORPH_A_HARDWARE_INDEX },
		{ MORPH_CMD_QUOTA_GET, MORPH_A_QUOTA_UID },
	};
	struct nl *nl = &self->nl;
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		nl_begin(nl, cases[i].cmd, 0);
		nl_put_u32(nl, cases[i].attr, 0);
		EXPECT_EQ(EINVAL, nl_dump(nl, NULL, NULL)) TH_LOG("command %u", cases[i].cmd);
		EXPECT_STREQ("a dump does not take this attribute", nl->text);
		EXPECT_EQ(0, nl->messages);
	}
}

TEST_F(refuse, dump_of_unknown_fabric)
{
	struct nl *nl = &self->nl;

	nl_begin(nl, MORPH_CMD_GUIDE_GET, 0);
	nl_put_u32(nl, MORPH_A_GUIDE_FABRIC, NO_SUCH_FABRIC);
	EXPECT_EQ(ENOENT, nl_dump(nl, NULL, NULL));
	EXPECT_STREQ("there is no fabric of this id", nl->text);
}

static void begin_create(struct nl *nl, unsigned int fabric)
{
	nl_begin(nl, MORPH_CMD_SLICE_CREATE, 0);
	nl_put_u32(nl, MORPH_A_SLICE_FABRIC, fabric);
}

TEST_F(refuse, slice_create)
{
	struct nl *nl = &self->nl;

	begin_create(nl, self->sim.number);
	nl_put_text(nl, MORPH_A_SLICE_NAME, "job");
	nl_put_u32(nl, MORPH_A_SLICE_RANKS_COUNT, 2);
	EXPECT_EQ(EINVAL, nl_do(nl));
	EXPECT_EQ(MORPH_A_SLICE_OWNER, nl->missing);

	begin_create(nl, self->sim.number);
	nl_put_text(nl, MORPH_A_SLICE_NAME, "job");
	nl_put_u32(nl, MORPH_A_SLICE_OWNER, 0);
	EXPECT_EQ(EINVAL, nl_do(nl));
	EXPECT_STREQ("give ranks-count, or list accelerators", nl->text);

	begin_create(nl, self->sim.number);
	nl_put_text(nl, MORPH_A_SLICE_NAME, "job");
	nl_put_u32(nl, MORPH_A_SLICE_OWNER, 0);
	nl_put_u32(nl, MORPH_A_SLICE_ACCELERATOR, 1);
	nl_put_u32(nl, MORPH_A_SLICE_RANKS_COUNT, 2);
	EXPECT_EQ(EINVAL, nl_do(nl));
	EXPECT_EQ(MORPH_A_SLICE_RANKS_COUNT, nl->bad_attr);

	begin_create(nl, self->sim.number);
	nl_put_text(nl, MORPH_A_SLICE_NAME, "this name is longer than any slice may have");
	EXPECT_EQ(EINVAL, nl_do(nl));
	EXPECT_EQ(MORPH_A_SLICE_NAME, nl->bad_attr);

	begin_create(nl, self->sim.number);
	nl_put(nl, MORPH_A_SLICE_NAME, "job", 3); /* no final NUL */
	EXPECT_EQ(EINVAL, nl_do(nl));
	EXPECT_EQ(MORPH_A_SLICE_NAME, nl->bad_attr);

	begin_create(nl, self->sim.number);
	nl_put_u32(nl, MORPH_A_SLICE_FAILOVER, 3);
	EXPECT_EQ(ERANGE, nl_do(nl));
	EXPECT_EQ(MORPH_A_SLICE_FAILOVER, nl->bad_attr);

	begin_create(nl, self->sim.number);
	nl_put_text(nl, MORPH_A_SLICE_NAME, "job");
	nl_put_u32(nl, MORPH_A_SLICE_OWNER, 0);
	nl_put_u32(nl, MORPH_A_SLICE_RANKS_COUNT, self->sim.info.free + 1);
	EXPECT_EQ(ENOSPC, nl_do(nl));
	EXPECT_EQ(MORPH_A_SLICE_RANKS_COUNT, nl->bad_attr);
	EXPECT_STRNE("", nl->text);
	sim_refresh(&self->sim);
	EXPECT_EQ(0, self->sim.info.slices);
}

TEST_F(refuse, nothing_to_set)
{
	struct nl *nl = &self->nl;

	nl_begin(nl, MORPH_CMD_ACCELERATOR_SET, 0);
	nl_put_u32(nl, MORPH_A_ACCELERATOR_FABRIC, self->sim.number);
	nl_put_u32(nl, MORPH_A_ACCELERATOR_ID, 0);
	EXPECT_EQ(EINVAL, nl_do(nl));
	EXPECT_STREQ("neither use nor pci is given: nothing to set", nl->text);

	nl_begin(nl, MORPH_CMD_ACCELERATOR_SET, 0);
	nl_put_u32(nl, MORPH_A_ACCELERATOR_FABRIC, self->sim.number);
	nl_put_u32(nl, MORPH_A_ACCELERATOR_ID, 0);
	nl_put_u32(nl, MORPH_A_ACCELERATOR_USE, MORPH_USE_HELD);
	EXPECT_EQ(EINVAL, nl_do(nl));
	EXPECT_EQ(MORPH_A_ACCELERATOR_USE, nl->bad_attr);

	nl_begin(nl, MORPH_CMD_HARDWARE_SET, 0);
	nl_put_u32(nl, MORPH_A_HARDWARE_FABRIC, self->sim.number);
	EXPECT_EQ(EINVAL, nl_do(nl));
	EXPECT_EQ(MORPH_A_HARDWARE_CORDONED, nl->missing);
}

TEST_F(refuse, hardware)
{
	struct nl *nl = &self->nl;

	nl_begin(nl, MORPH_CMD_HARDWARE_FAIL, 0);
	nl_put_u32(nl, MORPH_A_HARDWARE_FABRIC, self->sim.number);
	nl_put_u32(nl, MORPH_A_HARDWARE_PART, MORPH_PART_GUIDE);
	EXPECT_EQ(EINVAL, nl_do(nl));
	EXPECT_EQ(MORPH_A_HARDWARE_INDEX, nl->missing);

	nl_begin(nl, MORPH_CMD_HARDWARE_FAIL, 0);
	nl_put_u32(nl, MORPH_A_HARDWARE_FABRIC, self->sim.number);
	nl_put_u32(nl, MORPH_A_HARDWARE_PART, MORPH_PART_GUIDE);
	nl_put_u32(nl, MORPH_A_HARDWARE_INDEX, self->sim.info.guides);
	EXPECT_EQ(ENOENT, nl_do(nl));
	EXPECT_EQ(MORPH_A_HARDWARE_INDEX, nl->bad_attr);

	nl_begin(nl, MORPH_CMD_HARDWARE_FAIL, 0);
	nl_put_u32(nl, MORPH_A_HARDWARE_FABRIC, self->sim.number);
	nl_put_u32(nl, MORPH_A_HARDWARE_PART, MORPH_PART_EDGE + 1);
	EXPECT_EQ(ERANGE, nl_do(nl));
	EXPECT_EQ(MORPH_A_HARDWARE_PART, nl->bad_attr);
}

static void begin_apply(struct nl *nl, const struct sim *sim, unsigned int slice)
{
	nl_begin(nl, MORPH_CMD_CIRCUIT_APPLY, 0);
	nl_put_u32(nl, MORPH_A_TXN_FABRIC, sim->number);
	nl_put_u32(nl, MORPH_A_TXN_SLICE, slice);
}

static void put_add(struct nl *nl, unsigned int src, unsigned int dst)
{
	size_t nest = nl_nest(nl, MORPH_A_TXN_CHANGE);

	nl_put_u32(nl, MORPH_A_CHANGE_OP, MORPH_CHANGE_ADD);
	nl_put_u32(nl, MORPH_A_CHANGE_SRC_RANK, src);
	nl_put_u32(nl, MORPH_A_CHANGE_DST_RANK, dst);
	nl_nest_end(nl, nest);
}

TEST_F(refuse, changes)
{
	struct morph_slice_info info;
	struct nl *nl = &self->nl;
	int slice = slice_create(self->sim.fd, 2);
	size_t nest;

	ASSERT_LE(0, slice);
	ASSERT_EQ(0, slice_info(slice, &info));

	begin_apply(nl, &self->sim, info.slice);
	EXPECT_EQ(EINVAL, nl_do(nl));
	EXPECT_STREQ("a transaction has 1 to 1024 changes", nl->text);

	begin_apply(nl, &self->sim, info.slice);
	nest = nl_nest(nl, MORPH_A_TXN_CHANGE);
	nl_put_u32(nl, MORPH_A_CHANGE_OP, MORPH_CHANGE_REMOVE);
	nl_nest_end(nl, nest);
	EXPECT_EQ(EINVAL, nl_do(nl));
	EXPECT_EQ(MORPH_A_CHANGE_CIRCUIT, nl->missing);

	begin_apply(nl, &self->sim, info.slice);
	nest = nl_nest(nl, MORPH_A_TXN_CHANGE);
	nl_put_u32(nl, MORPH_A_CHANGE_OP, MORPH_CHANGE_REMOVE);
	nl_put_u32(nl, MORPH_A_CHANGE_CIRCUIT, 1);
	nl_put_u32(nl, MORPH_A_CHANGE_SRC_RANK, 1);
	nl_nest_end(nl, nest);
	EXPECT_EQ(EINVAL, nl_do(nl));
	EXPECT_EQ(MORPH_A_TXN_CHANGE, nl->bad_attr);

	begin_apply(nl, &self->sim, info.slice);
	nest = nl_nest(nl, MORPH_A_TXN_CHANGE);
	nl_put_u32(nl, MORPH_A_CHANGE_OP, MORPH_CHANGE_ADD);
	nl_put_u32(nl, MORPH_A_CHANGE_INDEX, 1);
	nl_nest_end(nl, nest);
	EXPECT_EQ(EINVAL, nl_do(nl));
	EXPECT_EQ(MORPH_A_CHANGE_INDEX, nl->bad_attr);

	begin_apply(nl, &self->sim, info.slice);
	put_add(nl, 0, 1);
	nl_put(nl, MORPH_A_TXN_PREPARE, NULL, 0);
	EXPECT_EQ(EINVAL, nl_do(nl));
	EXPECT_STREQ("lease-ns and prepare go together", nl->text);

	begin_apply(nl, &self->sim, info.slice);
	put_add(nl, 0, 1);
	nl_put(nl, MORPH_A_TXN_PREPARE, NULL, 0);
	nl_put_u64(nl, MORPH_A_TXN_LEASE_NS, 3600000000001ULL);
	EXPECT_EQ(EINVAL, nl_do(nl));
	EXPECT_EQ(MORPH_A_TXN_LEASE_NS, nl->bad_attr);

	begin_apply(nl, &self->sim, info.slice);
	put_add(nl, 0, 1);
	nl_put(nl, MORPH_A_TXN_EACH, NULL, 0);
	nl_put(nl, MORPH_A_TXN_DRY_RUN, NULL, 0);
	EXPECT_EQ(EINVAL, nl_do(nl));
	EXPECT_EQ(MORPH_A_TXN_EACH, nl->bad_attr);
	close(slice);
}

TEST_F(refuse, more_changes_than_a_transaction_has)
{
	struct morph_slice_info info;
	struct nl *nl = &self->nl;
	int slice = slice_create(self->sim.fd, 2), i;

	ASSERT_LE(0, slice);
	ASSERT_EQ(0, slice_info(slice, &info));
	begin_apply(nl, &self->sim, info.slice);
	for (i = 0; i < 1025; i++)
		put_add(nl, 0, 1);
	EXPECT_EQ(EINVAL, nl_do(nl));
	EXPECT_STREQ("a transaction has 1 to 1024 changes", nl->text);
	close(slice);
}

TEST_F(refuse, gone_fabric)
{
	struct nl *nl = &self->nl;
	struct sim old = self->sim;

	sim_pull(&self->sim);
	nl_begin(nl, MORPH_CMD_FABRIC_GET, 0);
	nl_put_u32(nl, MORPH_A_FABRIC_ID, old.number);
	EXPECT_EQ(ENOENT, nl_do(nl));
}

TEST_HARNESS_MAIN

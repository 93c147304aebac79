// SPDX-License-Identifier: GPL-2.0-only
/*
 * Invalid requests: the kernel refuses each with an errno, a detail string, and the attribute that
 * is wrong.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

/*
 * A command that needs an object, the attributes that name it, and the other attributes it needs.
 */
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
	{ MORPH_CMD_CONTROLLER_GET, MORPH_A_CONTROLLER_FABRIC, MORPH_A_CONTROLLER_ID },
	{ MORPH_CMD_CONTROLLER_DROP, MORPH_A_CONTROLLER_FABRIC, MORPH_A_CONTROLLER_ID },
	{ MORPH_CMD_CONTROLLER_TAKE, MORPH_A_CONTROLLER_FABRIC, 0 },
	{ MORPH_CMD_CONTROLLER_RENEW, MORPH_A_CONTROLLER_FABRIC, 0 },
	{ MORPH_CMD_CONTROLLER_SETTLE, MORPH_A_CONTROLLER_FABRIC, 0 },
	{ MORPH_CMD_RESERVATION_GET, MORPH_A_RESERVATION_FABRIC, 0 },
	{ MORPH_CMD_RESERVATION_SET, MORPH_A_RESERVATION_FABRIC, 0 },
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void begin_in(struct nl *nl, const struct command *command, unsigned int fabric)
{
	nl_begin(nl, command->cmd, 0);
	nl_put_u32(nl, command->fabric, fabric);
}

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
		begin_in(nl, &commands[i], NO_SUCH_FABRIC);
		EXPECT_EQ(ENOENT, nl_do(nl)) TH_LOG("command %u", commands[i].cmd);
		EXPECT_EQ(commands[i].fabric, nl->bad_attr);
		EXPECT_STREQ("no fabric 15 (fabrics: 1)", nl->text);
	}
}

TEST_F(refuse, object_missing)
{
	struct nl *nl = &self->nl;
	unsigned int i;

	for (i = 0; i < COMMANDS; i++) {
		if (!commands[i].object)
			continue;
		begin_in(nl, &commands[i], self->sim.number);
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
		begin_in(nl, &commands[i], self->sim.number);
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
		begin_in(nl, &commands[i], self->sim.number);
		nl_put_u32(nl, UNKNOWN_ATTR, 0);
		EXPECT_EQ(EINVAL, nl_do(nl)) TH_LOG("command %u", commands[i].cmd);
		EXPECT_EQ(UNKNOWN_ATTR, nl->bad_attr) TH_LOG("command %u", commands[i].cmd);
	}
}

/* The family has this attribute, but the command does not accept it. */
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
	nl_begin(nl, MORPH_CMD_SLICE_NTF, 0); /* only the kernel sends it */
	EXPECT_EQ(EOPNOTSUPP, nl_do(nl));
	nl_begin(nl, MORPH_CMD_SLICE_CREATE, 0); /* has no dump */
	EXPECT_EQ(EOPNOTSUPP, nl_dump(nl, NULL, NULL));
}

/* A dump refuses an attribute that names one object instead of ignoring it. */
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
		{ MORPH_CMD_QUOTA_GET, MORPH_A_QUOTA_GRANT },
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
	EXPECT_STREQ("no such fabric", nl->text);
	EXPECT_EQ(-1, nl->bad_attr); /* kernels before 6.10 would not send it */
}

static void begin_create(struct nl *nl, unsigned int fabric)
{
	nl_begin(nl, MORPH_CMD_SLICE_CREATE, 0);
	nl_put_u32(nl, MORPH_A_SLICE_FABRIC, fabric);
}

static void begin_create_owned(struct nl *nl, unsigned int fabric, const char *name)
{
	begin_create(nl, fabric);
	nl_put_text(nl, MORPH_A_SLICE_NAME, name);
	nl_put_u32(nl, MORPH_A_SLICE_OWNER, 0);
}

TEST_F(refuse, slice_create)
{
	struct nl *nl = &self->nl;

	begin_create(nl, self->sim.number);
	nl_put_text(nl, MORPH_A_SLICE_NAME, "job");
	nl_put_u32(nl, MORPH_A_SLICE_RANKS_COUNT, 2);
	EXPECT_EQ(EINVAL, nl_do(nl));
	EXPECT_EQ(MORPH_A_SLICE_OWNER, nl->missing);

	begin_create_owned(nl, self->sim.number, "job");
	EXPECT_EQ(EINVAL, nl_do(nl));
	EXPECT_STREQ("requires ranks-count or accelerators", nl->text);

	begin_create_owned(nl, self->sim.number, "job");
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

	begin_create_owned(nl, self->sim.number, "job");
	nl_put_u32(nl, MORPH_A_SLICE_RANKS_COUNT, self->sim.info.free + 1);
	EXPECT_EQ(ENOSPC, nl_do(nl));
	EXPECT_EQ(MORPH_A_SLICE_RANKS_COUNT, nl->bad_attr);
	EXPECT_STRNE("", nl->text);
	sim_refresh(&self->sim);
	EXPECT_EQ(0, self->sim.info.slices);
}

static uint32_t accelerator_with(const struct sim *sim, unsigned int use)
{
	uint32_t i;

	for (i = 0; i < sim->info.accelerators; i++)
		if (read_accelerator(sim, i).use == use)
			break;
	return i;
}

/* Each error has its own sentence, the same on all kernels, and points at its attribute. */
static void refused(struct __test_metadata *_metadata, struct nl *nl, int error, int attr,
		    const char *whole)
{
	EXPECT_EQ(error, nl_do(nl)) TH_LOG("%s", whole);
	EXPECT_EQ(attr, nl->bad_attr) TH_LOG("%s", whole);
	EXPECT_STREQ(whole, nl->text);
}

TEST_F(refuse, slice_create_says_which_accelerator)
{
	uint32_t held = 0, spare = accelerator_with(&self->sim, MORPH_USE_SPARE);
	uint32_t total = self->sim.info.accelerators;
	struct nl *nl = &self->nl;
	char whole[128];
	int slice = slice_create_at(self->sim.fd, &held, 1);

	ASSERT_LE(0, slice);
	begin_create_owned(nl, self->sim.number, "job");
	nl_put_u32(nl, MORPH_A_SLICE_ACCELERATOR, held);
	refused(_metadata, nl, EBUSY, MORPH_A_SLICE_ACCELERATOR,
		"accelerator 0 is held by another tenant");

	begin_create_owned(nl, self->sim.number, "job");
	nl_put_u32(nl, MORPH_A_SLICE_ACCELERATOR, spare);
	snprintf(whole, sizeof(whole), "accelerator %u is held back as a spare", spare);
	refused(_metadata, nl, EBUSY, MORPH_A_SLICE_ACCELERATOR, whole);

	begin_create_owned(nl, self->sim.number, "job");
	nl_put_u32(nl, MORPH_A_SLICE_ACCELERATOR, 1);
	nl_put_u32(nl, MORPH_A_SLICE_ACCELERATOR, 1);
	refused(_metadata, nl, EINVAL, MORPH_A_SLICE_ACCELERATOR, "accelerator 1 is listed twice");

	begin_create_owned(nl, self->sim.number, "job");
	nl_put_u32(nl, MORPH_A_SLICE_ACCELERATOR, total);
	snprintf(whole, sizeof(whole), "no accelerator %u (0-%u)", total, total - 1);
	refused(_metadata, nl, ENOENT, MORPH_A_SLICE_ACCELERATOR, whole);

	begin_create_owned(nl, self->sim.number, "job");
	nl_put_u32(nl, MORPH_A_SLICE_RANKS_COUNT, 1);
	nl_put_u32(nl, MORPH_A_SLICE_SPARES, MORPH_SPARES_LIST);
	nl_put_u32(nl, MORPH_A_SLICE_SPARE, total);
	snprintf(whole, sizeof(whole), "no accelerator %u (0-%u)", total, total - 1);
	refused(_metadata, nl, ENOENT, MORPH_A_SLICE_SPARE, whole);
	close(slice);
}

TEST_F(refuse, slice_create_names_its_error)
{
	static const char *const numbers[] = { "2", "08", "-2", "0x1f", "99999999999999999999" };
	uint32_t total = self->sim.info.accelerators;
	struct nl *nl = &self->nl;
	char whole[128];

	begin_create_owned(nl, self->sim.number, "job");
	nl_put_u32(nl, MORPH_A_SLICE_RANKS_COUNT, 0);
	snprintf(whole, sizeof(whole), "0 accelerators requested, a slice has 1 to %u", total);
	refused(_metadata, nl, EINVAL, MORPH_A_SLICE_RANKS_COUNT, whole);

	begin_create_owned(nl, self->sim.number, "my job");
	nl_put_u32(nl, MORPH_A_SLICE_RANKS_COUNT, 1);
	refused(_metadata, nl, EINVAL, MORPH_A_SLICE_NAME,
		"name may hold letters, digits and _ . - only");

	for (size_t at = 0; at < sizeof(numbers) / sizeof(numbers[0]); at++) {
		begin_create_owned(nl, self->sim.number, numbers[at]);
		nl_put_u32(nl, MORPH_A_SLICE_RANKS_COUNT, 1);
		refused(_metadata, nl, EINVAL, MORPH_A_SLICE_NAME,
			"name reads as a number; begin it with a letter");
	}

	begin_create_owned(nl, self->sim.number, "job");
	nl_put_u32(nl, MORPH_A_SLICE_RANKS_COUNT, 1);
	nl_put_u32(nl, MORPH_A_SLICE_SPARE, 1);
	refused(_metadata, nl, EINVAL, MORPH_A_SLICE_SPARE,
		"a list of spares and the spare policy list require each other");

	begin_create_owned(nl, self->sim.number, "job");
	nl_put_u32(nl, MORPH_A_SLICE_RANKS_COUNT, 1);
	ASSERT_EQ(0, nl_do(nl));
	begin_create_owned(nl, self->sim.number, "job");
	nl_put_u32(nl, MORPH_A_SLICE_RANKS_COUNT, 1);
	refused(_metadata, nl, EEXIST, MORPH_A_SLICE_NAME, "another slice has this name");
	EXPECT_EQ(0, slice_delete(self->sim.fd, MORPH_ANY, "job", 0));
}

/* MORPH_ANY in place of the rank means that no rank is named. */
static void put_preference(struct nl *nl, uint32_t fabric, uint32_t slice, uint32_t rank,
			   uint32_t spare)
{
	size_t nest;

	nl_begin(nl, MORPH_CMD_SLICE_SET, 0);
	nl_put_u32(nl, MORPH_A_SLICE_FABRIC, fabric);
	nl_put_u32(nl, MORPH_A_SLICE_ID, slice);
	nest = nl_nest(nl, MORPH_A_SLICE_PREFERENCE);
	if (rank != MORPH_ANY)
		nl_put_u32(nl, MORPH_A_PREFERENCE_RANK, rank);
	nl_put_u32(nl, MORPH_A_PREFERENCE_SPARE, spare);
	nl_nest_end(nl, nest);
}

TEST_F(refuse, acts_name_their_error)
{
	uint32_t held = 0, guides = self->sim.info.guides;
	uint32_t accelerators = self->sim.info.accelerators;
	int slice = slice_create_at(self->sim.fd, &held, 1);
	struct morph_slice_info info;
	struct nl *nl = &self->nl;
	char whole[128];

	ASSERT_LE(0, slice);
	ASSERT_EQ(0, slice_info(slice, &info));
	nl_begin(nl, MORPH_CMD_ACCELERATOR_SET, 0);
	nl_put_u32(nl, MORPH_A_ACCELERATOR_FABRIC, self->sim.number);
	nl_put_u32(nl, MORPH_A_ACCELERATOR_ID, held);
	nl_put_u32(nl, MORPH_A_ACCELERATOR_USE, MORPH_USE_SPARE);
	refused(_metadata, nl, EBUSY, MORPH_A_ACCELERATOR_USE, "accelerator 0 belongs to a slice");

	nl_begin(nl, MORPH_CMD_ACCELERATOR_SET, 0);
	nl_put_u32(nl, MORPH_A_ACCELERATOR_FABRIC, self->sim.number);
	nl_put_u32(nl, MORPH_A_ACCELERATOR_ID, held);
	nl_put_text(nl, MORPH_A_ACCELERATOR_PCI, "slot 5");
	refused(_metadata, nl, EINVAL, MORPH_A_ACCELERATOR_PCI,
		"pci must look like 0000:3b:00.0, or be empty");

	nl_on_part(nl, MORPH_CMD_HARDWARE_FAIL, self->sim.number, MORPH_PART_GUIDE, guides);
	snprintf(whole, sizeof(whole), "no guide %u (0-%u)", guides, guides - 1);
	refused(_metadata, nl, ENOENT, MORPH_A_HARDWARE_INDEX, whole);

	nl_begin(nl, MORPH_CMD_SLICE_DELETE, 0);
	nl_put_u32(nl, MORPH_A_SLICE_FABRIC, self->sim.number);
	nl_put_u32(nl, MORPH_A_SLICE_ID, info.slice);
	snprintf(whole, sizeof(whole),
		 "slice %u has open files (1); close them, or force the deletion", info.slice);
	refused(_metadata, nl, EBUSY, MORPH_A_SLICE_ID, whole);

	nl_begin(nl, MORPH_CMD_SLICE_SET, 0);
	nl_put_u32(nl, MORPH_A_SLICE_FABRIC, self->sim.number);
	nl_put_u32(nl, MORPH_A_SLICE_ID, info.slice);
	nl_put_u32(nl, MORPH_A_SLICE_MODE, 0600);
	refused(_metadata, nl, EINVAL, MORPH_A_SLICE_MODE,
		"only a named slice has a node with owner and mode");

	put_preference(nl, self->sim.number, info.slice, 7, MORPH_ANY);
	refused(_metadata, nl, ENOENT, MORPH_A_SLICE_PREFERENCE, "no rank 7 (0-0)");

	put_preference(nl, self->sim.number, info.slice, 0, accelerators);
	snprintf(whole, sizeof(whole), "no accelerator %u (0-%u)", accelerators, accelerators - 1);
	refused(_metadata, nl, ENOENT, MORPH_A_SLICE_PREFERENCE, whole);

	put_preference(nl, self->sim.number, info.slice, MORPH_ANY, MORPH_ANY);
	refused(_metadata, nl, EINVAL, MORPH_A_SLICE_PREFERENCE, "a preference requires a rank");

	nl_begin(nl, MORPH_CMD_REPLACE, 0);
	nl_put_u32(nl, MORPH_A_REPLACE_FABRIC, self->sim.number);
	nl_put_u32(nl, MORPH_A_REPLACE_SLICE, info.slice);
	nl_put_u32(nl, MORPH_A_REPLACE_RANK, 7);
	refused(_metadata, nl, ENOENT, MORPH_A_REPLACE_RANK, "no rank 7 (0-0)");
	close(slice);
}

TEST_F(refuse, why_not_names_its_error)
{
	uint32_t total = self->sim.info.accelerators, lanes = self->sim.info.wavelengths;
	struct nl *nl = &self->nl;
	char whole[128];

	nl_begin(nl, MORPH_CMD_WHY_NOT, 0);
	nl_put_u32(nl, MORPH_A_WHY_NOT_FABRIC, self->sim.number);
	nl_put_u32(nl, MORPH_A_WHY_NOT_COUNT, 2);
	nl_put_u32(nl, MORPH_A_WHY_NOT_LANES_COUNT, lanes + 1);
	snprintf(whole, sizeof(whole), "%u lanes requested, a guide has %u", lanes + 1, lanes);
	refused(_metadata, nl, EINVAL, MORPH_A_WHY_NOT_LANES_COUNT, whole);

	nl_begin(nl, MORPH_CMD_WHY_NOT, 0);
	nl_put_u32(nl, MORPH_A_WHY_NOT_FABRIC, self->sim.number);
	nl_put_u32(nl, MORPH_A_WHY_NOT_ACCELERATOR, 1);
	nl_put_u32(nl, MORPH_A_WHY_NOT_ACCELERATOR, total);
	snprintf(whole, sizeof(whole), "no accelerator %u (0-%u)", total, total - 1);
	refused(_metadata, nl, ENOENT, MORPH_A_WHY_NOT_ACCELERATOR, whole);
}

TEST_F(refuse, nothing_to_set)
{
	struct nl *nl = &self->nl;

	nl_begin(nl, MORPH_CMD_ACCELERATOR_SET, 0);
	nl_put_u32(nl, MORPH_A_ACCELERATOR_FABRIC, self->sim.number);
	nl_put_u32(nl, MORPH_A_ACCELERATOR_ID, 0);
	EXPECT_EQ(EINVAL, nl_do(nl));
	EXPECT_STREQ("requires use or pci", nl->text);

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

	nl_on_part(nl, MORPH_CMD_HARDWARE_FAIL, self->sim.number, MORPH_PART_GUIDE,
		   self->sim.info.guides);
	EXPECT_EQ(ENOENT, nl_do(nl));
	EXPECT_EQ(MORPH_A_HARDWARE_INDEX, nl->bad_attr);

	nl_begin(nl, MORPH_CMD_HARDWARE_FAIL, 0);
	nl_put_u32(nl, MORPH_A_HARDWARE_FABRIC, self->sim.number);
	nl_put_u32(nl, MORPH_A_HARDWARE_PART, MORPH_PART_EDGE + 1);
	EXPECT_EQ(ERANGE, nl_do(nl));
	EXPECT_EQ(MORPH_A_HARDWARE_PART, nl->bad_attr);
}

TEST_F(refuse, changes)
{
	struct morph_slice_info info;
	struct nl *nl = &self->nl;
	int slice = slice_create(self->sim.fd, 2);
	size_t nest;

	ASSERT_LE(0, slice);
	ASSERT_EQ(0, slice_info(slice, &info));

	nl_apply(nl, self->sim.number, info.slice);
	EXPECT_EQ(EINVAL, nl_do(nl));
	EXPECT_STREQ("0 changes, a transaction has 1 to 1024", nl->text);

	nl_apply(nl, self->sim.number, info.slice);
	nest = nl_nest(nl, MORPH_A_TXN_CHANGE);
	nl_put_u32(nl, MORPH_A_CHANGE_OP, MORPH_CHANGE_REMOVE);
	nl_nest_end(nl, nest);
	EXPECT_EQ(EINVAL, nl_do(nl));
	EXPECT_EQ(MORPH_A_CHANGE_CIRCUIT, nl->missing);

	nl_apply(nl, self->sim.number, info.slice);
	nest = nl_nest(nl, MORPH_A_TXN_CHANGE);
	nl_put_u32(nl, MORPH_A_CHANGE_OP, MORPH_CHANGE_REMOVE);
	nl_put_u32(nl, MORPH_A_CHANGE_CIRCUIT, 1);
	nl_put_u32(nl, MORPH_A_CHANGE_SRC_RANK, 1);
	nl_nest_end(nl, nest);
	EXPECT_EQ(EINVAL, nl_do(nl));
	EXPECT_EQ(MORPH_A_TXN_CHANGE, nl->bad_attr);

	nl_apply(nl, self->sim.number, info.slice);
	nest = nl_nest(nl, MORPH_A_TXN_CHANGE);
	nl_put_u32(nl, MORPH_A_CHANGE_OP, MORPH_CHANGE_ADD);
	nl_put_u32(nl, MORPH_A_CHANGE_INDEX, 1);
	nl_nest_end(nl, nest);
	EXPECT_EQ(EINVAL, nl_do(nl));
	EXPECT_EQ(MORPH_A_CHANGE_INDEX, nl->bad_attr);

	nl_apply(nl, self->sim.number, info.slice);
	nl_put_add(nl, 0, 1);
	nl_put(nl, MORPH_A_TXN_PREPARE, NULL, 0);
	EXPECT_EQ(EINVAL, nl_do(nl));
	EXPECT_STREQ("lease-ns and prepare require each other", nl->text);

	nl_apply(nl, self->sim.number, info.slice);
	nl_put_add(nl, 0, 1);
	nl_put(nl, MORPH_A_TXN_PREPARE, NULL, 0);
	nl_put_u64(nl, MORPH_A_TXN_LEASE_NS, 3600000000001ULL);
	EXPECT_EQ(EINVAL, nl_do(nl));
	EXPECT_EQ(MORPH_A_TXN_LEASE_NS, nl->bad_attr);

	nl_apply(nl, self->sim.number, info.slice);
	nl_put_add(nl, 0, 1);
	nl_put(nl, MORPH_A_TXN_EACH, NULL, 0);
	nl_put(nl, MORPH_A_TXN_DRY_RUN, NULL, 0);
	EXPECT_EQ(EINVAL, nl_do(nl));
	EXPECT_EQ(MORPH_A_TXN_EACH, nl->bad_attr);
	close(slice);
}

TEST_F(refuse, changes_planned_for_another_profile)
{
	uint32_t ours = self->sim.info.profile_checksum, other = ours ^ 1;
	int slice = slice_create(self->sim.fd, 2);
	struct morph_slice_info info;
	struct nl *nl = &self->nl;

	ASSERT_LE(0, slice);
	ASSERT_EQ(0, slice_info(slice, &info));
	nl_apply(nl, self->sim.number, info.slice);
	nl_put(nl, MORPH_A_TXN_DRY_RUN, NULL, 0);
	nl_put_u32(nl, MORPH_A_TXN_PROFILE_CHECKSUM, other);
	nl_put_add(nl, 0, 1);
	refused(_metadata, nl, ESTALE, MORPH_A_TXN_PROFILE_CHECKSUM,
		"the changes were planned for another profile; plan again");

	nl_apply(nl, self->sim.number, info.slice);
	nl_put(nl, MORPH_A_TXN_DRY_RUN, NULL, 0);
	nl_put_u32(nl, MORPH_A_TXN_PROFILE_CHECKSUM, ours);
	nl_put_add(nl, 0, 1);
	EXPECT_EQ(0, nl_do(nl)) TH_LOG("%s", nl->text);
	close(slice);
}

TEST_F(refuse, more_changes_than_a_transaction_has)
{
	struct morph_slice_info info;
	struct nl *nl = &self->nl;
	int slice = slice_create(self->sim.fd, 2), i;

	ASSERT_LE(0, slice);
	ASSERT_EQ(0, slice_info(slice, &info));
	nl_apply(nl, self->sim.number, info.slice);
	for (i = 0; i < 1025; i++)
		nl_put_add(nl, 0, 1);
	EXPECT_EQ(EINVAL, nl_do(nl));
	EXPECT_STREQ("1025 changes, a transaction has 1 to 1024", nl->text);
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

// SPDX-License-Identifier: GPL-2.0-only
/*
 * One error in an otherwise correct request, one row of a table each: the errno, the detail string,
 * and the attribute that is wrong or missing.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fabric.h"
#include "kselftest_harness.h"
#include "nl.h"

#define NO_USER UINT32_MAX
#define TOP_BIT 0x80000000u
#define NONE (-1)
#define HOUR_NS 3600000000000ULL

FIXTURE(mistakes)
{
	struct sim sim;
	struct nl nl;
	int slice;
	unsigned int number; /* number of the slice */
};

FIXTURE_SETUP(mistakes)
{
	struct morph_slice_info info;

	sim_start(&self->sim, "server8", NULL);
	ASSERT_EQ(0, nl_open(&self->nl));
	self->slice = slice_create(self->sim.fd, 2);
	ASSERT_LE(0, self->slice);
	ASSERT_EQ(0, slice_info(self->slice, &info));
	self->number = info.slice;
}

FIXTURE_TEARDOWN(mistakes)
{
	close(self->slice);
	nl_close(&self->nl);
	sim_stop(&self->sim);
}

/* An attribute of 32 bits; a list of them ends with type 0. */
struct put {
	uint16_t type;
	uint32_t value;
};

struct mistake {
	struct put puts[5];
	int error;
	int wrong, missing; /* attributes, or NONE */
	const char *text;
};

static void put_all(struct nl *nl, const struct put *puts, unsigned int most)
{
	unsigned int i;

	for (i = 0; i < most && puts[i].type; i++)
		nl_put_u32(nl, puts[i].type, puts[i].value);
}

static void expect(struct __test_metadata *_metadata, struct nl *nl, const struct mistake *mistake)
{
	EXPECT_EQ(mistake->error, nl_do(nl)) TH_LOG("%s", mistake->text);
	EXPECT_EQ(mistake->wrong, nl->bad_attr) TH_LOG("%s", mistake->text);
	EXPECT_EQ(mistake->missing, nl->missing) TH_LOG("%s", mistake->text);
	EXPECT_STREQ(mistake->text, nl->text);
}

#define FOR_EACH(mistake, array) \
	for (mistake = array; mistake < array + sizeof(array) / sizeof(*array); mistake++)

/* ------------------------------------------------------------------------ changes */

#define OP(op)                                       \
	{                                            \
		MORPH_A_CHANGE_OP, MORPH_CHANGE_##op \
	}
#define SRC(end, value)                         \
	{                                       \
		MORPH_A_CHANGE_SRC_##end, value \
	}
#define DST(end, value)                         \
	{                                       \
		MORPH_A_CHANGE_DST_##end, value \
	}

static const struct mistake changes[] = {
	{ { SRC(RANK, 0), DST(RANK, 1) },
	  EINVAL,
	  NONE,
	  MORPH_A_CHANGE_OP,
	  "a change requires an op" },
	{ { OP(ADD), DST(RANK, 1) },
	  EINVAL,
	  NONE,
	  MORPH_A_CHANGE_SRC_RANK,
	  "add requires src-rank or src-edge" },
	{ { OP(ADD), SRC(EDGE, 0) },
	  EINVAL,
	  NONE,
	  MORPH_A_CHANGE_DST_RANK,
	  "add requires dst-rank or dst-edge" },
	{ { OP(MOVE) }, EINVAL, NONE, MORPH_A_CHANGE_CIRCUIT, "remove and move require a circuit" },
	{ { OP(ADD), SRC(RANK, 0), DST(RANK, 1), SRC(EDGE, 0) },
	  EINVAL,
	  MORPH_A_TXN_CHANGE,
	  NONE,
	  "add takes a rank or an edge at each end, remove and move take a circuit" },
	/* The structure of the device ABI marks an edge by the highest bit. */
	{ { OP(ADD), SRC(EDGE, TOP_BIT), DST(RANK, 1) },
	  ENOENT,
	  MORPH_A_CHANGE_SRC_EDGE,
	  NONE,
	  "no edge 2147483648: the fabric has no edges" },
	{ { OP(ADD), SRC(RANK, 0), DST(RANK, TOP_BIT) },
	  ENOENT,
	  MORPH_A_CHANGE_DST_RANK,
	  NONE,
	  "no rank 2147483648 (0-1)" },
};

TEST_F(mistakes, in_a_change)
{
	const struct mistake *mistake;
	struct nl *nl = &self->nl;
	size_t nest;

	FOR_EACH(mistake, changes)
	{
		nl_apply(nl, self->sim.number, self->number);
		nest = nl_nest(nl, MORPH_A_TXN_CHANGE);
		put_all(nl, mistake->puts, 5);
		nl_nest_end(nl, nest);
		expect(_metadata, nl, mistake);
	}
}

static void put_path(struct nl *nl, unsigned int guides)
{
	size_t nest = nl_nest(nl, MORPH_A_TXN_CHANGE);
	unsigned int i;

	nl_put_u32(nl, MORPH_A_CHANGE_OP, MORPH_CHANGE_ADD);
	nl_put_u32(nl, MORPH_A_CHANGE_SRC_RANK, 0);
	nl_put_u32(nl, MORPH_A_CHANGE_DST_RANK, 1);
	for (i = 0; i < guides; i++)
		nl_put_u32(nl, MORPH_A_CHANGE_GUIDE, i);
	nl_nest_end(nl, nest);
}

TEST_F(mistakes, in_an_explicit_path)
{
	static const struct mistake too_long = {
		{}, EINVAL, MORPH_A_TXN_CHANGE, NONE, "65 guides, a path has at most 64"
	};
	struct nl *nl = &self->nl;

	nl_apply(nl, self->sim.number, self->number);
	put_path(nl, 65);
	expect(_metadata, nl, &too_long);
	/* The maximum number of guides, but they are not connected: the dry run reports that. */
	nl_apply(nl, self->sim.number, self->number);
	nl_put(nl, MORPH_A_TXN_DRY_RUN, NULL, 0);
	put_path(nl, 64);
	EXPECT_EQ(0, nl_do(nl)) TH_LOG("%s", nl->text);
	EXPECT_EQ(-EINVAL, (int)REPLY_U32(nl, MORPH_A_TXN_STATUS));
	EXPECT_EQ(MORPH_REASON_PATH, REPLY_U32(nl, MORPH_A_TXN_REASON));
}

TEST_F(mistakes, prepare_with_dry_run)
{
	static const struct mistake both = {
		{}, EINVAL, MORPH_A_TXN_PREPARE, NONE, "prepare is not valid with dry-run"
	};
	struct nl *nl = &self->nl;

	nl_apply(nl, self->sim.number, self->number);
	nl_put(nl, MORPH_A_TXN_PREPARE, NULL, 0);
	nl_put(nl, MORPH_A_TXN_DRY_RUN, NULL, 0);
	nl_put_u64(nl, MORPH_A_TXN_LEASE_NS, HOUR_NS);
	nl_put_add(nl, 0, 1);
	expect(_metadata, nl, &both);
}

/* -------------------------------------------------------------------------- steps */

static void begin_step(struct nl *nl, unsigned int fabric, unsigned int txn)
{
	nl_begin(nl, MORPH_CMD_TXN_STEP, 0);
	nl_put_u32(nl, MORPH_A_TXN_FABRIC, fabric);
	nl_put_u32(nl, MORPH_A_TXN_ID, txn);
}

TEST_F(mistakes, in_a_step)
{
	static const struct mistake no_verb = {
		{}, EINVAL, NONE, MORPH_A_TXN_VERB, "the verb is missing"
	};
	static const struct {
		unsigned int verb;
		uint64_t lease_ns;
	} leases[] = {
		{ MORPH_TXN_CONFIRM, HOUR_NS },
		{ MORPH_TXN_REVERT, HOUR_NS },
		{ MORPH_TXN_COMMIT, 999999 },
		{ MORPH_TXN_VERIFY, HOUR_NS + 1 },
	};
	static const struct mistake lease = {
		{},
		EINVAL,
		MORPH_A_TXN_LEASE_NS,
		NONE,
		"a lease is only valid with commit and verify, 1 ms to 1 hour"
	};
	struct nl *nl = &self->nl;
	unsigned int txn, i;

	nl_apply(nl, self->sim.number, self->number);
	nl_put(nl, MORPH_A_TXN_PREPARE, NULL, 0);
	nl_put_u64(nl, MORPH_A_TXN_LEASE_NS, HOUR_NS);
	nl_put_add(nl, 0, 1);
	ASSERT_EQ(0, nl_do(nl));
	txn = REPLY_U32(nl, MORPH_A_TXN_ID);
	ASSERT_EQ(MORPH_OUTCOME_PREPARED, nl_wait_outcome(nl, self->sim.number, txn));

	begin_step(nl, self->sim.number, txn);
	expect(_metadata, nl, &no_verb);
	for (i = 0; i < sizeof(leases) / sizeof(leases[0]); i++) {
		begin_step(nl, self->sim.number, txn);
		nl_put_u32(nl, MORPH_A_TXN_VERB, leases[i].verb);
		nl_put_u64(nl, MORPH_A_TXN_LEASE_NS, leases[i].lease_ns);
		expect(_metadata, nl, &lease);
	}
	/* None of these requests changed the transaction. */
	EXPECT_EQ(MORPH_OUTCOME_PREPARED, nl_outcome(nl, self->sim.number, txn));
}

/* ------------------------------------------------------------------------- slices */

static void put_name(struct nl *nl, unsigned int fabric, const char *name)
{
	nl_put_u32(nl, MORPH_A_SLICE_FABRIC, fabric);
	nl_put_text(nl, MORPH_A_SLICE_NAME, name);
}

TEST_F(mistakes, in_naming_a_slice)
{
	static const struct mistake both = {
		{}, EINVAL, MORPH_A_SLICE_NAME, NONE, "name a slice by id or by name, not both"
	};
	static const struct mistake unknown = {
		{}, ENOENT, MORPH_A_SLICE_NAME, NONE, "no slice of this name"
	};
	struct nl *nl = &self->nl;

	nl_begin(nl, MORPH_CMD_SLICE_GET, 0);
	put_name(nl, self->sim.number, "job");
	expect(_metadata, nl, &unknown);
	nl_begin(nl, MORPH_CMD_SLICE_GET, 0);
	put_name(nl, self->sim.number, "job");
	nl_put_u32(nl, MORPH_A_SLICE_ID, self->number);
	expect(_metadata, nl, &both);

	nl_begin(nl, MORPH_CMD_SLICE_CREATE, 0);
	put_name(nl, self->sim.number, "job");
	nl_put_u32(nl, MORPH_A_SLICE_OWNER, 0);
	nl_put_u32(nl, MORPH_A_SLICE_RANKS_COUNT, 1);
	ASSERT_EQ(0, nl_do(nl)) TH_LOG("%s", nl->text);
	nl_begin(nl, MORPH_CMD_SLICE_GET, 0);
	put_name(nl, self->sim.number, "job");
	EXPECT_EQ(0, nl_do(nl)) TH_LOG("%s", nl->text);
	EXPECT_STREQ("job", nl_get_text(nl_find(nl_reply(nl), MORPH_A_SLICE_NAME)));
	EXPECT_EQ(0, slice_delete(self->sim.fd, MORPH_ANY, "job", 0));
}

TEST_F(mistakes, in_the_owner_of_a_slice)
{
	static const struct mistake nobody = {
		{},
		EINVAL,
		MORPH_A_SLICE_OWNER,
		NONE,
		"owner must be a user id, and name must not be empty"
	};
	static const struct mistake unnamed = {
		{},
		EINVAL,
		MORPH_A_SLICE_NAME,
		NONE,
		"owner must be a user id, and name must not be empty"
	};
	struct nl *nl = &self->nl;

	nl_begin(nl, MORPH_CMD_SLICE_CREATE, 0);
	put_name(nl, self->sim.number, "job");
	nl_put_u32(nl, MORPH_A_SLICE_OWNER, NO_USER);
	nl_put_u32(nl, MORPH_A_SLICE_RANKS_COUNT, 1);
	expect(_metadata, nl, &nobody);
	nl_begin(nl, MORPH_CMD_SLICE_CREATE, 0);
	put_name(nl, self->sim.number, "");
	nl_put_u32(nl, MORPH_A_SLICE_OWNER, 0);
	nl_put_u32(nl, MORPH_A_SLICE_RANKS_COUNT, 1);
	expect(_metadata, nl, &unnamed);
}

/* The request reserves more spares than exist. */
TEST_F(mistakes, in_reserving)
{
	static const struct mistake none = {
		{}, ENOSPC, MORPH_A_SLICE_RESERVED, NONE, "no free spare to reserve for this slice"
	};
	struct nl *nl = &self->nl;
	int slices[8], i, error = 0;

	for (i = 0; i < 8; i++) {
		struct morph_slice_create args = { .head.flags = MORPH_SLICE_RESERVED };

		slices[i] = slice_create_with(self->sim.fd, &args, NULL, 1);
		error = errno;
		if (slices[i] < 0)
			break;
	}
	EXPECT_EQ(ENOSPC, error);
	nl_begin(nl, MORPH_CMD_SLICE_CREATE, 0);
	put_name(nl, self->sim.number, "job");
	nl_put_u32(nl, MORPH_A_SLICE_OWNER, 0);
	nl_put_u32(nl, MORPH_A_SLICE_RANKS_COUNT, 1);
	nl_put_u8(nl, MORPH_A_SLICE_RESERVED, 1);
	expect(_metadata, nl, &none);
	while (i--)
		close(slices[i]);
}

static const struct mistake settings[] = {
	{ {}, EINVAL, NONE, NONE, "requires failover, controller, owner, mode or preference" },
	{ { { MORPH_A_SLICE_OWNER, NO_USER } },
	  EINVAL,
	  MORPH_A_SLICE_OWNER,
	  NONE,
	  "owner must be a user id" },
};

TEST_F(mistakes, in_setting_a_slice)
{
	const struct mistake *mistake;
	struct nl *nl = &self->nl;

	FOR_EACH(mistake, settings)
	{
		nl_begin(nl, MORPH_CMD_SLICE_SET, 0);
		nl_put_u32(nl, MORPH_A_SLICE_FABRIC, self->sim.number);
		nl_put_u32(nl, MORPH_A_SLICE_ID, self->number);
		put_all(nl, mistake->puts, 5);
		expect(_metadata, nl, mistake);
	}
}

TEST_F(mistakes, in_naming_a_circuit)
{
	static const struct mistake unnamed = {
		{}, EINVAL, NONE, MORPH_A_CIRCUIT_ID, "the id of the circuit is missing"
	};
	struct mistake unknown = { {}, ENOENT, MORPH_A_CIRCUIT_ID, NONE, NULL };
	struct morph_change change = change_add(0, 1);
	struct nl *nl = &self->nl;
	char sentence[80];
	unsigned int i;

	ASSERT_EQ(0, txn_run(self->slice, &change, 1, NULL));
	snprintf(sentence, sizeof(sentence), "no circuit %u (circuits: 1)", change.circuit + 1);
	unknown.text = sentence;
	for (i = 0; i < 3; i++) {
		nl_begin(nl, MORPH_CMD_CIRCUIT_GET, 0);
		nl_put_u32(nl, MORPH_A_CIRCUIT_FABRIC, self->sim.number);
		nl_put_u32(nl, MORPH_A_CIRCUIT_SLICE, self->number);
		if (i)
			nl_put_u32(nl, MORPH_A_CIRCUIT_ID, change.circuit + (i == 1));
		if (i < 2)
			expect(_metadata, nl, i ? &unknown : &unnamed);
		else
			EXPECT_EQ(0, nl_do(nl)) TH_LOG("%s", nl->text);
	}
	EXPECT_EQ(change.circuit, REPLY_U32(nl, MORPH_A_CIRCUIT_ID));
	EXPECT_EQ(MORPH_CIRCUIT_LIT, REPLY_U32(nl, MORPH_A_CIRCUIT_STATE));
}

TEST_F(mistakes, in_naming_a_rank)
{
	static const struct mistake unnamed = {
		{}, EINVAL, NONE, MORPH_A_REPLACE_RANK, "the rank to replace is missing"
	};
	struct nl *nl = &self->nl;

	nl_begin(nl, MORPH_CMD_REPLACE, 0);
	nl_put_u32(nl, MORPH_A_REPLACE_FABRIC, self->sim.number);
	nl_put_u32(nl, MORPH_A_REPLACE_SLICE, self->number);
	expect(_metadata, nl, &unnamed);
}

/* The replacement itself detects a missing spare, so its outcome reports it. */
TEST_F(mistakes, in_naming_a_spare)
{
	unsigned int total = self->sim.info.accelerators, txn;
	struct nl *nl = &self->nl;
	char sentence[80];

	nl_begin(nl, MORPH_CMD_REPLACE, 0);
	nl_put_u32(nl, MORPH_A_REPLACE_FABRIC, self->sim.number);
	nl_put_u32(nl, MORPH_A_REPLACE_SLICE, self->number);
	nl_put_u32(nl, MORPH_A_REPLACE_RANK, 0);
	nl_put_u32(nl, MORPH_A_REPLACE_SPARE, total);
	ASSERT_EQ(0, nl_do(nl));
	txn = REPLY_U32(nl, MORPH_A_REPLACE_TXN);
	ASSERT_LE(0, nl_wait_outcome(nl, self->sim.number, txn));
	EXPECT_EQ(-ENOENT, (int)REPLY_U32(nl, MORPH_A_TXN_STATUS));
	snprintf(sentence, sizeof(sentence), "no accelerator %u (0-%u)", total, total - 1);
	EXPECT_STREQ(sentence, nl_get_text(nl_find(nl_reply(nl), MORPH_A_TXN_TEXT)));
}

/* ------------------------------------------------------------- questions and quotas */

TEST_F(mistakes, in_a_question)
{
	static const struct mistake other = {
		{}, EINVAL, MORPH_A_WHY_NOT_COUNT, NONE, "count is 3, but 2 accelerators are listed"
	};
	struct mistake most = { {}, EINVAL, NONE, NONE, NULL };
	unsigned int total = self->sim.info.accelerators, i;
	struct nl *nl = &self->nl;
	char sentence[80];

	nl_begin(nl, MORPH_CMD_WHY_NOT, 0);
	nl_put_u32(nl, MORPH_A_WHY_NOT_FABRIC, self->sim.number);
	nl_put_u32(nl, MORPH_A_WHY_NOT_COUNT, 3);
	nl_put_u32(nl, MORPH_A_WHY_NOT_ACCELERATOR, 0);
	nl_put_u32(nl, MORPH_A_WHY_NOT_ACCELERATOR, 1);
	expect(_metadata, nl, &other);
	nl_begin(nl, MORPH_CMD_WHY_NOT, 0);
	nl_put_u32(nl, MORPH_A_WHY_NOT_FABRIC, self->sim.number);
	for (i = 0; i <= total; i++)
		nl_put_u32(nl, MORPH_A_WHY_NOT_ACCELERATOR, i);
	snprintf(sentence, sizeof(sentence), "%u accelerators are listed, the fabric has %u",
		 total + 1, total);
	most.text = sentence;
	expect(_metadata, nl, &most);
}

TEST_F(mistakes, in_the_user_of_a_quota)
{
	static const struct mistake nobody = {
		{}, EINVAL, MORPH_A_QUOTA_UID, NONE, "uid must be a user id"
	};
	struct nl *nl = &self->nl;

	nl_begin(nl, MORPH_CMD_QUOTA_GET, 0);
	nl_put_u32(nl, MORPH_A_QUOTA_UID, NO_USER);
	expect(_metadata, nl, &nobody);
	nl_begin(nl, MORPH_CMD_QUOTA_SET, 0);
	nl_put_u32(nl, MORPH_A_QUOTA_UID, NO_USER);
	expect(_metadata, nl, &nobody);
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0-only
/* Changes by administrators: slices, circuits, prepared transactions, replacements and quotas. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fabric.h"
#include "kselftest_harness.h"
#include "nl.h"

#define OWNER 4321

FIXTURE(change)
{
	struct sim sim;
	struct nl nl, monitor;
	unsigned int slice;
};

/* Make a slice of four for another user and return its number, or 0. */
static unsigned int create(struct nl *nl, const struct sim *sim, uint16_t flags)
{
	nl_begin(nl, MORPH_CMD_SLICE_CREATE, flags);
	nl_put_u32(nl, MORPH_A_SLICE_FABRIC, sim->number);
	nl_put_text(nl, MORPH_A_SLICE_NAME, "job");
	nl_put_u32(nl, MORPH_A_SLICE_OWNER, OWNER);
	nl_put_u32(nl, MORPH_A_SLICE_MODE, 0640);
	nl_put_u32(nl, MORPH_A_SLICE_RANKS_COUNT, 4);
	return nl_do(nl) ? 0 : REPLY_U32(nl, MORPH_A_SLICE_ID);
}

static int delete (struct nl *nl, const struct sim *sim, unsigned int slice, uint16_t flags)
{
	nl_begin(nl, MORPH_CMD_SLICE_DELETE, flags);
	nl_put_u32(nl, MORPH_A_SLICE_FABRIC, sim->number);
	nl_put_u32(nl, MORPH_A_SLICE_ID, slice);
	return nl_do(nl);
}

static bool owns_nothing(struct nl *nl)
{
	nl_begin(nl, MORPH_CMD_QUOTA_GET, 0);
	nl_put_u32(nl, MORPH_A_QUOTA_UID, OWNER);
	return !nl_do(nl) && !REPLY_U32(nl, MORPH_A_QUOTA_USED_ACCELERATORS);
}

FIXTURE_SETUP(change)
{
	sim_start(&self->sim, "server8", NULL);
	ASSERT_EQ(0, nl_open(&self->nl));
	/* Slices end asynchronously, also when their fabric has gone before them. */
	ASSERT_TRUE(WAIT_UNTIL(owns_nothing(&self->nl)));
	ASSERT_EQ(0, nl_open(&self->monitor));
	ASSERT_EQ(0, nl_join(&self->monitor));
	self->slice = create(&self->nl, &self->sim, 0);
	ASSERT_NE(0, self->slice) TH_LOG("%s", self->nl.text);
}

FIXTURE_TEARDOWN(change)
{
	delete (&self->nl, &self->sim, self->slice, 0);
	nl_close(&self->monitor);
	nl_close(&self->nl);
	sim_stop(&self->sim);
}

static unsigned int circuits(struct nl *nl, const struct sim *sim, unsigned int slice)
{
	nl_begin(nl, MORPH_CMD_SLICE_GET, 0);
	nl_put_u32(nl, MORPH_A_SLICE_FABRIC, sim->number);
	nl_put_u32(nl, MORPH_A_SLICE_ID, slice);
	return nl_do(nl) ? 999 : REPLY_U32(nl, MORPH_A_SLICE_CIRCUITS_COUNT);
}

TEST_F(change, slice_has_the_requested_properties)
{
	const struct nlmsghdr *reply = nl_reply(&self->nl);
	char path[64];
	struct stat st;

	EXPECT_EQ(OWNER, REPLY_U32(&self->nl, MORPH_A_SLICE_OWNER));
	EXPECT_EQ(0640, REPLY_U32(&self->nl, MORPH_A_SLICE_MODE));
	EXPECT_EQ(4, nl_count(reply, MORPH_A_SLICE_RANK));
	EXPECT_STREQ("job", nl_get_text(nl_find(reply, MORPH_A_SLICE_NAME)));
	snprintf(path, sizeof(path), "/dev/morph/slice%u", self->slice);
	ASSERT_EQ(0, stat(path, &st));
	EXPECT_EQ(OWNER, st.st_uid);
	EXPECT_EQ(0640, st.st_mode & 0777);

	nl_begin(&self->nl, MORPH_CMD_SLICE_GET, 0);
	nl_put_u32(&self->nl, MORPH_A_SLICE_FABRIC, self->sim.number);
	nl_put_text(&self->nl, MORPH_A_SLICE_NAME, "job");
	ASSERT_EQ(0, nl_do(&self->nl));
	EXPECT_EQ(self->slice, REPLY_U32(&self->nl, MORPH_A_SLICE_ID));

	EXPECT_EQ(0, create(&self->nl, &self->sim, 0)); /* the name is in use */
	EXPECT_EQ(MORPH_A_SLICE_NAME, self->nl.bad_attr);
}

/* Wait for a notification that a slice has that state. */
static bool wait_state(struct nl *monitor, unsigned int state)
{
	while (nl_wait(monitor, MORPH_CMD_SLICE_NTF, PATIENCE_MS))
		if (REPLY_U32(monitor, MORPH_A_SLICE_STATE) == state)
			return true;
	return false;
}

TEST_F(change, slice_is_announced)
{
	ASSERT_TRUE(nl_wait(&self->monitor, MORPH_CMD_SLICE_NTF, PATIENCE_MS));
	EXPECT_EQ(self->slice, REPLY_U32(&self->monitor, MORPH_A_SLICE_ID));
	EXPECT_EQ(4, nl_count(nl_reply(&self->monitor), MORPH_A_SLICE_RANK));
	ASSERT_EQ(0, delete (&self->nl, &self->sim, self->slice, 0));
	EXPECT_TRUE(wait_state(&self->monitor, MORPH_SLICE_DYING));
	EXPECT_TRUE(sim_wait_free(&self->sim, 8));
}

/* After the notification of the end, a client may use the whole quota again at once. */
TEST_F(change, slice_reported_as_ended_is_not_charged)
{
	ASSERT_EQ(0, delete (&self->nl, &self->sim, self->slice, 0));
	ASSERT_TRUE(wait_state(&self->monitor, MORPH_SLICE_DYING));
	EXPECT_TRUE(owns_nothing(&self->nl));
}

TEST_F(change, echo)
{
	EXPECT_EQ(0, self->nl.echoed);
	ASSERT_EQ(0, delete (&self->nl, &self->sim, self->slice, NLM_F_ECHO));
	EXPECT_EQ(MORPH_CMD_SLICE_NTF, self->nl.echoed);
	ASSERT_TRUE(sim_wait_free(&self->sim, 8));
	self->slice = create(&self->nl, &self->sim, NLM_F_ECHO);
	ASSERT_NE(0, self->slice);
	EXPECT_EQ(MORPH_CMD_SLICE_NTF, self->nl.echoed);
}

TEST_F(change, slice_set)
{
	struct nl *nl = &self->nl;

	nl_begin(nl, MORPH_CMD_SLICE_SET, 0);
	nl_put_u32(nl, MORPH_A_SLICE_FABRIC, self->sim.number);
	nl_put_u32(nl, MORPH_A_SLICE_ID, self->slice);
	nl_put_u32(nl, MORPH_A_SLICE_FAILOVER, MORPH_FAILOVER_MANUAL);
	nl_put_u32(nl, MORPH_A_SLICE_MODE, 0600);
	ASSERT_EQ(0, nl_do(nl));
	EXPECT_EQ(MORPH_FAILOVER_MANUAL, REPLY_U32(nl, MORPH_A_SLICE_FAILOVER));
	EXPECT_EQ(0600, REPLY_U32(nl, MORPH_A_SLICE_MODE));
	EXPECT_EQ(OWNER, REPLY_U32(nl, MORPH_A_SLICE_OWNER));
}

TEST_F(change, circuits_come_and_go)
{
	struct nl *nl = &self->nl;
	unsigned int txn, circuit;
	size_t nest;

	nl_apply(nl, self->sim.number, self->slice);
	nl_put_u64(nl, MORPH_A_TXN_COOKIE, 77);
	nl_put_add(nl, 0, 1);
	nl_put_add(nl, 1, 0);
	ASSERT_EQ(0, nl_do(nl));
	txn = REPLY_U32(nl, MORPH_A_TXN_ID);
	ASSERT_EQ(MORPH_OUTCOME_COMMITTED, nl_wait_outcome(nl, self->sim.number, txn));
	EXPECT_EQ(2, nl_count(nl_reply(nl), MORPH_A_TXN_CHANGE));
	EXPECT_EQ(77, REPLY_U64(nl, MORPH_A_TXN_COOKIE));
	circuit = nl_get_u32(
		nl_find_nested(nl_find(nl_reply(nl), MORPH_A_TXN_CHANGE), MORPH_A_CHANGE_CIRCUIT));
	EXPECT_EQ(2, circuits(nl, &self->sim, self->slice));

	ASSERT_TRUE(nl_wait(&self->monitor, MORPH_CMD_TXN_NTF, PATIENCE_MS));
	EXPECT_EQ(txn, REPLY_U32(&self->monitor, MORPH_A_TXN_ID));
	EXPECT_EQ(MORPH_OUTCOME_COMMITTED, REPLY_U32(&self->monitor, MORPH_A_TXN_OUTCOME));

	nl_apply(nl, self->sim.number, self->slice);
	nest = nl_nest(nl, MORPH_A_TXN_CHANGE);
	nl_put_u32(nl, MORPH_A_CHANGE_OP, MORPH_CHANGE_REMOVE);
	nl_put_u32(nl, MORPH_A_CHANGE_CIRCUIT, circuit);
	nl_nest_end(nl, nest);
	ASSERT_EQ(0, nl_do(nl));
	ASSERT_EQ(MORPH_OUTCOME_COMMITTED,
		  nl_wait_outcome(nl, self->sim.number, REPLY_U32(nl, MORPH_A_TXN_ID)));
	EXPECT_EQ(1, circuits(nl, &self->sim, self->slice));
}

/* The repetition of a committed transaction returns the same outcome and lights nothing more. */
TEST_F(change, repeated_cookie)
{
	struct nl *nl = &self->nl;
	int i;

	for (i = 0; i < 2; i++) {
		nl_apply(nl, self->sim.number, self->slice);
		nl_put_u64(nl, MORPH_A_TXN_COOKIE, 5);
		nl_put_add(nl, 0, 1);
		ASSERT_EQ(0, nl_do(nl));
		EXPECT_EQ(MORPH_OUTCOME_COMMITTED,
			  nl_wait_outcome(nl, self->sim.number, REPLY_U32(nl, MORPH_A_TXN_ID)));
		EXPECT_TRUE(nl_wait(&self->monitor, MORPH_CMD_TXN_NTF, PATIENCE_MS));
	}
	EXPECT_EQ(1, circuits(nl, &self->sim, self->slice));
}

TEST_F(change, refused_transaction_says_why)
{
	struct nl *nl = &self->nl;
	const struct nlattr *change;

	nl_apply(nl, self->sim.number, self->slice);
	nl_put_add(nl, 0, 1);
	nl_put_add(nl, 0, 9);
	ASSERT_EQ(0, nl_do(nl));
	ASSERT_EQ(MORPH_OUTCOME_NONE,
		  nl_wait_outcome(nl, self->sim.number, REPLY_U32(nl, MORPH_A_TXN_ID)));
	EXPECT_EQ((uint32_t)-ENOENT, REPLY_U32(nl, MORPH_A_TXN_STATUS));
	EXPECT_EQ(MORPH_REASON_ARGUMENT, REPLY_U32(nl, MORPH_A_TXN_REASON));
	EXPECT_NE(NULL, strstr(nl_get_text(nl_find(nl_reply(nl), MORPH_A_TXN_TEXT)), "rank 9"));
	change = nl_find(nl_reply(nl), MORPH_A_TXN_CHANGE);
	EXPECT_EQ((uint32_t)-ECANCELED, nl_get_u32(nl_find_nested(change, MORPH_A_CHANGE_STATUS)));
	change = nl_next(nl_reply(nl), MORPH_A_TXN_CHANGE, change);
	EXPECT_EQ((uint32_t)-ENOENT, nl_get_u32(nl_find_nested(change, MORPH_A_CHANGE_STATUS)));
	EXPECT_EQ(0, circuits(nl, &self->sim, self->slice));
}

TEST_F(change, dry_run_changes_nothing)
{
	struct nl *nl = &self->nl;
	const struct nlattr *change;

	nl_apply(nl, self->sim.number, self->slice);
	nl_put(nl, MORPH_A_TXN_DRY_RUN, NULL, 0);
	nl_put_add(nl, 0, 1);
	ASSERT_EQ(0, nl_do(nl));
	EXPECT_EQ(0, REPLY_U32(nl, MORPH_A_TXN_STATUS));
	EXPECT_EQ(NULL, nl_find(nl_reply(nl), MORPH_A_TXN_ID));
	change = nl_find(nl_reply(nl), MORPH_A_TXN_CHANGE);
	EXPECT_NE(UINT32_MAX, nl_get_u32(nl_find_nested(change, MORPH_A_CHANGE_SRC_PLANE)));

	nl_apply(nl, self->sim.number, self->slice);
	nl_put(nl, MORPH_A_TXN_DRY_RUN, NULL, 0);
	nl_put_add(nl, 2, 2);
	ASSERT_EQ(0, nl_do(nl));
	EXPECT_EQ((uint32_t)-EINVAL, REPLY_U32(nl, MORPH_A_TXN_STATUS));
	EXPECT_EQ(MORPH_REASON_PORT, REPLY_U32(nl, MORPH_A_TXN_REASON));
	EXPECT_EQ(0, circuits(nl, &self->sim, self->slice));
	EXPECT_TRUE(sim_all_dark(&self->sim));
}

TEST_F(change, each_for_itself)
{
	struct nl *nl = &self->nl;
	const struct nlattr *change;

	nl_apply(nl, self->sim.number, self->slice);
	nl_put(nl, MORPH_A_TXN_EACH, NULL, 0);
	nl_put_add(nl, 0, 9);
	nl_put_add(nl, 0, 1);
	ASSERT_EQ(0, nl_do(nl));
	ASSERT_LE(0, nl_wait_outcome(nl, self->sim.number, REPLY_U32(nl, MORPH_A_TXN_ID)));
	EXPECT_EQ((uint32_t)-ENOENT, REPLY_U32(nl, MORPH_A_TXN_STATUS));
	change = nl_find(nl_reply(nl), MORPH_A_TXN_CHANGE);
	EXPECT_EQ((uint32_t)-ENOENT, nl_get_u32(nl_find_nested(change, MORPH_A_CHANGE_STATUS)));
	change = nl_next(nl_reply(nl), MORPH_A_TXN_CHANGE, change);
	EXPECT_EQ(0, nl_get_u32(nl_find_nested(change, MORPH_A_CHANGE_STATUS)));
	EXPECT_EQ(1, circuits(nl, &self->sim, self->slice));
}

/* The transaction ends although it changed nothing. */
TEST_F(change, each_refused)
{
	struct nl *nl = &self->nl;
	unsigned int txn;

	nl_apply(nl, self->sim.number, self->slice);
	nl_put(nl, MORPH_A_TXN_EACH, NULL, 0);
	nl_put_add(nl, 0, 9);
	nl_put_add(nl, 9, 0);
	ASSERT_EQ(0, nl_do(nl));
	txn = REPLY_U32(nl, MORPH_A_TXN_ID);
	EXPECT_TRUE(nl_wait(&self->monitor, MORPH_CMD_TXN_NTF, PATIENCE_MS));
	EXPECT_EQ(MORPH_OUTCOME_NONE, nl_wait_outcome(nl, self->sim.number, txn));
	EXPECT_EQ((uint32_t)-ENOENT, REPLY_U32(nl, MORPH_A_TXN_STATUS));
}

/*
 * The driver keeps fewer large transactions after their end, because the memory for their records
 * has a limit in bytes.
 */
TEST_F(change, large_ones_are_soon_forgotten)
{
	struct nl *nl = &self->nl;
	unsigned int first = 0, last = 0, i, j;

	for (i = 0; i < 16; i++) {
		nl_apply(nl, self->sim.number, self->slice);
		nl_put(nl, MORPH_A_TXN_EACH, NULL, 0);
		for (j = 0; j < 1000; j++)
			nl_put_add(nl, 9, 9);
		ASSERT_EQ(0, nl_do(nl)) TH_LOG("%s", nl->text);
		last = REPLY_U32(nl, MORPH_A_TXN_ID);
		if (!first)
			first = last;
		ASSERT_EQ(MORPH_OUTCOME_NONE, nl_wait_outcome(nl, self->sim.number, last));
	}
	EXPECT_LE(0, nl_outcome(nl, self->sim.number, last));
	EXPECT_EQ(-ENOENT, nl_outcome(nl, self->sim.number, first));
}

static int step(struct nl *nl, const struct sim *sim, unsigned int txn, unsigned int verb)
{
	nl_begin(nl, MORPH_CMD_TXN_STEP, 0);
	nl_put_u32(nl, MORPH_A_TXN_FABRIC, sim->number);
	nl_put_u32(nl, MORPH_A_TXN_ID, txn);
	nl_put_u32(nl, MORPH_A_TXN_VERB, verb);
	return nl_do(nl);
}

/* Wait until a transaction has that outcome. */
static bool wait_outcome(struct nl *nl, const struct sim *sim, unsigned int txn, int outcome)
{
	long long until = now_ms() + PATIENCE_MS;

	while (nl_wait_outcome(nl, sim->number, txn) != outcome && now_ms() < until)
		usleep(10000);
	return nl_wait_outcome(nl, sim->number, txn) == outcome;
}

static unsigned int prepare(struct nl *nl, const struct sim *sim, unsigned int slice,
			    uint64_t lease)
{
	nl_apply(nl, sim->number, slice);
	nl_put(nl, MORPH_A_TXN_PREPARE, NULL, 0);
	nl_put_u64(nl, MORPH_A_TXN_LEASE_NS, lease);
	nl_put_add(nl, 0, 1);
	return nl_do(nl) ? 0 : REPLY_U32(nl, MORPH_A_TXN_ID);
}

TEST_F(change, two_phases)
{
	struct nl *nl = &self->nl;
	unsigned int txn = prepare(nl, &self->sim, self->slice, 600000000000ULL);

	ASSERT_NE(0, txn);
	ASSERT_TRUE(wait_outcome(nl, &self->sim, txn, MORPH_OUTCOME_PREPARED));
	EXPECT_GE(600000000000ULL, REPLY_U64(nl, MORPH_A_TXN_LEASE_NS));
	EXPECT_TRUE(sim_all_dark(&self->sim));
	EXPECT_EQ(EINVAL, step(nl, &self->sim, txn, MORPH_TXN_CONFIRM));
	EXPECT_EQ(MORPH_A_TXN_VERB, nl->bad_attr);
	EXPECT_EQ(0, step(nl, &self->sim, txn, MORPH_TXN_QUERY));
	EXPECT_EQ(MORPH_OUTCOME_PREPARED, REPLY_U32(nl, MORPH_A_TXN_OUTCOME));
	ASSERT_EQ(0, step(nl, &self->sim, txn, MORPH_TXN_COMMIT));
	ASSERT_TRUE(wait_outcome(nl, &self->sim, txn, MORPH_OUTCOME_UNCONFIRMED));
	EXPECT_FALSE(sim_all_dark(&self->sim));
	ASSERT_EQ(0, step(nl, &self->sim, txn, MORPH_TXN_CONFIRM));
	ASSERT_TRUE(wait_outcome(nl, &self->sim, txn, MORPH_OUTCOME_COMMITTED));
	EXPECT_EQ(1, circuits(nl, &self->sim, self->slice));
}

TEST_F(change, two_phases_reverted)
{
	struct nl *nl = &self->nl;
	unsigned int txn = prepare(nl, &self->sim, self->slice, 600000000000ULL);

	ASSERT_NE(0, txn);
	ASSERT_TRUE(wait_outcome(nl, &self->sim, txn, MORPH_OUTCOME_PREPARED));
	ASSERT_EQ(0, step(nl, &self->sim, txn, MORPH_TXN_COMMIT));
	ASSERT_TRUE(wait_outcome(nl, &self->sim, txn, MORPH_OUTCOME_UNCONFIRMED));
	ASSERT_EQ(0, step(nl, &self->sim, txn, MORPH_TXN_REVERT));
	ASSERT_TRUE(wait_outcome(nl, &self->sim, txn, MORPH_OUTCOME_ROLLED_BACK));
	EXPECT_TRUE(sim_all_dark(&self->sim));
	EXPECT_EQ(0, circuits(nl, &self->sim, self->slice));
}

TEST_F(change, lease_runs_out)
{
	struct nl *nl = &self->nl;
	unsigned int txn = prepare(nl, &self->sim, self->slice, 1000000);

	ASSERT_NE(0, txn);
	ASSERT_TRUE(wait_outcome(nl, &self->sim, txn, MORPH_OUTCOME_EXPIRED));
	EXPECT_EQ((uint32_t)-ETIME, REPLY_U32(nl, MORPH_A_TXN_STATUS));
	EXPECT_EQ(ETIME, step(nl, &self->sim, txn, MORPH_TXN_COMMIT));
}

TEST_F(change, replace)
{
	struct nl *nl = &self->nl;
	const struct nlattr *rank;
	uint32_t before, after;

	rank = nl_find(nl_reply(nl), MORPH_A_SLICE_RANK);
	before = nl_get_u32(nl_find_nested(rank, MORPH_A_RANK_ACCELERATOR));
	nl_begin(nl, MORPH_CMD_REPLACE, 0);
	nl_put_u32(nl, MORPH_A_REPLACE_FABRIC, self->sim.number);
	nl_put_u32(nl, MORPH_A_REPLACE_SLICE, self->slice);
	nl_put_u32(nl, MORPH_A_REPLACE_RANK, 4);
	EXPECT_EQ(ENOENT, nl_do(nl));
	EXPECT_EQ(MORPH_A_REPLACE_RANK, nl->bad_attr);

	nl_begin(nl, MORPH_CMD_REPLACE, 0);
	nl_put_u32(nl, MORPH_A_REPLACE_FABRIC, self->sim.number);
	nl_put_u32(nl, MORPH_A_REPLACE_SLICE, self->slice);
	nl_put_u32(nl, MORPH_A_REPLACE_RANK, 0);
	ASSERT_EQ(0, nl_do(nl));
	ASSERT_EQ(MORPH_OUTCOME_COMMITTED,
		  nl_wait_outcome(nl, self->sim.number, REPLY_U32(nl, MORPH_A_REPLACE_TXN)));
	circuits(nl, &self->sim, self->slice);
	rank = nl_find(nl_reply(nl), MORPH_A_SLICE_RANK);
	after = nl_get_u32(nl_find_nested(rank, MORPH_A_RANK_ACCELERATOR));
	EXPECT_NE(before, after);
	EXPECT_EQ(1, nl_get_u32(nl_find_nested(rank, MORPH_A_RANK_REPLACEMENTS)));
	EXPECT_TRUE(nl_wait(&self->monitor, MORPH_CMD_EVENT_NTF, PATIENCE_MS));
}

TEST_F(change, failed_hardware_comes_back_by_a_test)
{
	struct nl *nl = &self->nl;

	nl_begin(nl, MORPH_CMD_HARDWARE_FAIL, NLM_F_ECHO);
	nl_put_u32(nl, MORPH_A_HARDWARE_FABRIC, self->sim.number);
	nl_put_u32(nl, MORPH_A_HARDWARE_PART, MORPH_PART_ELEMENT);
	nl_put_u32(nl, MORPH_A_HARDWARE_INDEX, 2);
	ASSERT_EQ(0, nl_do(nl));
	EXPECT_EQ(MORPH_CMD_HARDWARE_NTF, nl->echoed);
	EXPECT_EQ(MORPH_HEALTH_FAILED, REPLY_U32(nl, MORPH_A_HARDWARE_HEALTH));
	ASSERT_TRUE(nl_wait(&self->monitor, MORPH_CMD_HARDWARE_NTF, PATIENCE_MS));
	EXPECT_EQ(2, REPLY_U32(&self->monitor, MORPH_A_HARDWARE_INDEX));

	nl_on_part(nl, MORPH_CMD_HARDWARE_TEST, self->sim.number, MORPH_PART_ELEMENT, 2);
	ASSERT_EQ(0, nl_do(nl));
	ASSERT_EQ(MORPH_OUTCOME_COMMITTED,
		  nl_wait_outcome(nl, self->sim.number, REPLY_U32(nl, MORPH_A_HARDWARE_TXN)));
	EXPECT_EQ(MORPH_PART_ELEMENT, REPLY_U32(nl, MORPH_A_TXN_PART));
	nl_on_part(nl, MORPH_CMD_HARDWARE_GET, self->sim.number, MORPH_PART_ELEMENT, 2);
	ASSERT_EQ(0, nl_do(nl));
	EXPECT_EQ(MORPH_HEALTH_OK, REPLY_U32(nl, MORPH_A_HARDWARE_HEALTH));
}

TEST_F(change, accelerator_set)
{
	struct nl *nl = &self->nl;

	nl_begin(nl, MORPH_CMD_ACCELERATOR_SET, NLM_F_ECHO);
	nl_put_u32(nl, MORPH_A_ACCELERATOR_FABRIC, self->sim.number);
	nl_put_u32(nl, MORPH_A_ACCELERATOR_ID, 7);
	nl_put_u32(nl, MORPH_A_ACCELERATOR_USE, MORPH_USE_SPARE);
	nl_put_text(nl, MORPH_A_ACCELERATOR_PCI, "0000:3b:00.0");
	ASSERT_EQ(0, nl_do(nl)) TH_LOG("%s", nl->text);
	EXPECT_EQ(MORPH_CMD_ACCELERATOR_NTF, nl->echoed);
	EXPECT_EQ(MORPH_USE_SPARE, REPLY_U32(nl, MORPH_A_ACCELERATOR_USE));
	EXPECT_STREQ("0000:3b:00.0", nl_get_text(nl_find(nl_reply(nl), MORPH_A_ACCELERATOR_PCI)));

	nl_begin(nl, MORPH_CMD_ACCELERATOR_SET, 0);
	nl_put_u32(nl, MORPH_A_ACCELERATOR_FABRIC, self->sim.number);
	nl_put_u32(nl, MORPH_A_ACCELERATOR_ID, 7);
	nl_put_text(nl, MORPH_A_ACCELERATOR_PCI, "the third");
	EXPECT_EQ(EINVAL, nl_do(nl));
	EXPECT_EQ(MORPH_A_ACCELERATOR_PCI, nl->bad_attr);
}

static int set_accelerators(struct nl *nl, unsigned int limit)
{
	nl_begin(nl, MORPH_CMD_QUOTA_SET, 0);
	nl_put_u32(nl, MORPH_A_QUOTA_UID, OWNER);
	nl_put_u32(nl, MORPH_A_QUOTA_ACCELERATORS, limit);
	return nl_do(nl);
}

TEST_F(change, quota)
{
	struct nl *nl = &self->nl;
	uint32_t circuits_limit;

	ASSERT_EQ(0, set_accelerators(nl, 5));
	EXPECT_EQ(5, REPLY_U32(nl, MORPH_A_QUOTA_ACCELERATORS));
	EXPECT_EQ(4, REPLY_U32(nl, MORPH_A_QUOTA_USED_ACCELERATORS));
	circuits_limit = REPLY_U32(nl, MORPH_A_QUOTA_CIRCUITS);

	nl_begin(nl, MORPH_CMD_SLICE_CREATE, 0);
	nl_put_u32(nl, MORPH_A_SLICE_FABRIC, self->sim.number);
	nl_put_text(nl, MORPH_A_SLICE_NAME, "second");
	nl_put_u32(nl, MORPH_A_SLICE_OWNER, OWNER);
	nl_put_u32(nl, MORPH_A_SLICE_RANKS_COUNT, 2);
	EXPECT_EQ(EDQUOT, nl_do(nl));
	EXPECT_EQ(MORPH_A_SLICE_OWNER, nl->bad_attr);
	EXPECT_STRNE("", nl->text);

	/* The default of all users is separate. Limits that the request does not name stay. */
	nl_begin(nl, MORPH_CMD_QUOTA_GET, 0);
	ASSERT_EQ(0, nl_do(nl));
	EXPECT_EQ(NULL, nl_find(nl_reply(nl), MORPH_A_QUOTA_UID));
	EXPECT_LT(5, REPLY_U32(nl, MORPH_A_QUOTA_ACCELERATORS));
	EXPECT_EQ(circuits_limit, REPLY_U32(nl, MORPH_A_QUOTA_CIRCUITS));
	ASSERT_EQ(0, set_accelerators(nl, REPLY_U32(nl, MORPH_A_QUOTA_ACCELERATORS)));
}

/* Wait until the plan of rank 0 has that state; the slice is then the reply. */
static bool wait_plan(struct nl *nl, const struct sim *sim, unsigned int slice, unsigned int state)
{
	long long until = now_ms() + PATIENCE_MS;

	do {
		nl_begin(nl, MORPH_CMD_SLICE_GET, 0);
		nl_put_u32(nl, MORPH_A_SLICE_FABRIC, sim->number);
		nl_put_u32(nl, MORPH_A_SLICE_ID, slice);
		if (nl_do(nl))
			return false;
		if (nl_get_u32(nl_find_nested(nl_find(nl_reply(nl), MORPH_A_SLICE_RANK),
					      MORPH_A_RANK_PLAN)) == state)
			return true;
		poll(NULL, 0, 5);
	} while (now_ms() < until);
	return false;
}

static int set_lanes(struct nl *nl, unsigned int limit)
{
	nl_begin(nl, MORPH_CMD_QUOTA_SET, 0);
	nl_put_u32(nl, MORPH_A_QUOTA_UID, OWNER);
	nl_put_u32(nl, MORPH_A_QUOTA_LANES, limit);
	return nl_do(nl);
}

/*
 * Reserved lanes count for the quota. Beyond the quota circuits come first, and the driver reserves
 * nothing.
 */
TEST_F(change, reserved_lanes_are_charged)
{
	struct nl *nl = &self->nl;
	unsigned int own, limit;

	ASSERT_EQ(0, set_lanes(nl, 2));
	nl_begin(nl, MORPH_CMD_QUOTA_GET, 0);
	ASSERT_EQ(0, nl_do(nl));
	limit = REPLY_U32(nl, MORPH_A_QUOTA_LANES);
	nl_begin(nl, MORPH_CMD_SLICE_CREATE, 0);
	nl_put_u32(nl, MORPH_A_SLICE_FABRIC, self->sim.number);
	nl_put_text(nl, MORPH_A_SLICE_NAME, "careful");
	nl_put_u32(nl, MORPH_A_SLICE_OWNER, OWNER);
	nl_put_u32(nl, MORPH_A_SLICE_RANKS_COUNT, 2);
	nl_put_u8(nl, MORPH_A_SLICE_RESERVED, 1);
	ASSERT_EQ(0, nl_do(nl)) TH_LOG("%s", nl->text);
	own = REPLY_U32(nl, MORPH_A_SLICE_ID);
	ASSERT_TRUE(wait_plan(nl, &self->sim, own, MORPH_PLAN_RESERVED));
	nl_apply(nl, self->sim.number, own);
	nl_put_add(nl, 0, 1);
	nl_put_add(nl, 1, 0);
	ASSERT_EQ(0, nl_do(nl));
	ASSERT_EQ(MORPH_OUTCOME_COMMITTED,
		  nl_wait_outcome(nl, self->sim.number, REPLY_U32(nl, MORPH_A_TXN_ID)));
	EXPECT_TRUE(wait_plan(nl, &self->sim, own, MORPH_PLAN_CURRENT));
	ASSERT_EQ(0, set_lanes(nl, limit));
	EXPECT_EQ(2, REPLY_U32(nl, MORPH_A_QUOTA_USED_LANES));
	/* Some hardware becomes free: the driver tries to reserve again. */
	ASSERT_EQ(0, delete (nl, &self->sim, self->slice, 0));
	EXPECT_TRUE(wait_plan(nl, &self->sim, own, MORPH_PLAN_RESERVED));
	/*
	 * The driver plans again when any other hardware becomes free, and charges nothing while it
	 * plans.
	 */
	EXPECT_TRUE(
		WAIT_UNTIL(!set_lanes(nl, limit) && REPLY_U32(nl, MORPH_A_QUOTA_USED_LANES) > 2));
	ASSERT_EQ(0, delete (nl, &self->sim, own, 0));
	EXPECT_TRUE(sim_wait_free(&self->sim, 8));
	ASSERT_EQ(0, set_lanes(nl, limit));
	EXPECT_EQ(0, REPLY_U32(nl, MORPH_A_QUOTA_USED_LANES));
}

TEST_F(change, why_not)
{
	struct nl *nl = &self->nl;

	nl_begin(nl, MORPH_CMD_WHY_NOT, 0);
	nl_put_u32(nl, MORPH_A_WHY_NOT_FABRIC, self->sim.number);
	nl_put_u32(nl, MORPH_A_WHY_NOT_COUNT, 4);
	nl_put(nl, MORPH_A_WHY_NOT_RING, NULL, 0);
	ASSERT_EQ(0, nl_do(nl));
	EXPECT_EQ(0, REPLY_U32(nl, MORPH_A_WHY_NOT_STATUS));
	EXPECT_EQ(4, nl_count(nl_reply(nl), MORPH_A_WHY_NOT_CHOSEN));

	nl_begin(nl, MORPH_CMD_WHY_NOT, 0);
	nl_put_u32(nl, MORPH_A_WHY_NOT_FABRIC, self->sim.number);
	nl_put_u32(nl, MORPH_A_WHY_NOT_COUNT, 5);
	ASSERT_EQ(0, nl_do(nl));
	EXPECT_EQ((uint32_t)-ENOSPC, REPLY_U32(nl, MORPH_A_WHY_NOT_STATUS));
	EXPECT_EQ(MORPH_REASON_ACCELERATORS, REPLY_U32(nl, MORPH_A_WHY_NOT_REASON));
	EXPECT_EQ(4, nl_get_u64(nl_find(nl_reply(nl), MORPH_A_WHY_NOT_HAVE)));
	EXPECT_EQ(5, nl_get_u64(nl_find(nl_reply(nl), MORPH_A_WHY_NOT_NEED)));
	EXPECT_STRNE("", nl_get_text(nl_find(nl_reply(nl), MORPH_A_WHY_NOT_TEXT)));
	EXPECT_EQ(0, nl_count(nl_reply(nl), MORPH_A_WHY_NOT_CHOSEN));

	/* A count beyond all accelerators is a valid question. */
	nl_begin(nl, MORPH_CMD_WHY_NOT, 0);
	nl_put_u32(nl, MORPH_A_WHY_NOT_FABRIC, self->sim.number);
	nl_put_u32(nl, MORPH_A_WHY_NOT_COUNT, 0xfffffffe);
	ASSERT_EQ(0, nl_do(nl));
	EXPECT_EQ(MORPH_REASON_ACCELERATORS, REPLY_U32(nl, MORPH_A_WHY_NOT_REASON));
	EXPECT_EQ(NULL, nl_find(nl_reply(nl), MORPH_A_WHY_NOT_INDEX));
	EXPECT_EQ(10, nl_get_u64(nl_find(nl_reply(nl), MORPH_A_WHY_NOT_HAVE)));
	EXPECT_EQ(0xfffffffe, nl_get_u64(nl_find(nl_reply(nl), MORPH_A_WHY_NOT_NEED)));

	nl_begin(nl, MORPH_CMD_WHY_NOT, 0);
	nl_put_u32(nl, MORPH_A_WHY_NOT_FABRIC, self->sim.number);
	EXPECT_EQ(EINVAL, nl_do(nl));
	EXPECT_STREQ("requires count or accelerators", nl->text);
}

TEST_F(change, open_slice_is_not_deleted)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/dev/morph/slice%u", self->slice);
	fd = open(path, O_RDWR);
	ASSERT_LE(0, fd);
	EXPECT_EQ(EBUSY, delete (&self->nl, &self->sim, self->slice, 0));
	EXPECT_EQ(MORPH_A_SLICE_ID, self->nl.bad_attr);
	nl_begin(&self->nl, MORPH_CMD_SLICE_DELETE, 0);
	nl_put_u32(&self->nl, MORPH_A_SLICE_FABRIC, self->sim.number);
	nl_put_u32(&self->nl, MORPH_A_SLICE_ID, self->slice);
	nl_put(&self->nl, MORPH_A_SLICE_FORCE, NULL, 0);
	EXPECT_EQ(0, nl_do(&self->nl));
	EXPECT_TRUE(sim_wait_free(&self->sim, 8));
	close(fd);
}

TEST_HARNESS_MAIN

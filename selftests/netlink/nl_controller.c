// SPDX-License-Identifier: GPL-2.0-only
/* Controllers: which controller may change which slices, with which epoch, and until when. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fabric.h"
#include "kselftest_harness.h"
#include "nl.h"

#define LONG 600000000000ULL
#define SHORT 50000000ULL
#define ANY_EPOCH 0 /* no token */

FIXTURE(control)
{
	struct sim sim;
	struct nl nl;
	unsigned int slice; /* slice of two ranks that belongs to controller 7 */
};

static void begin(struct nl *nl, const struct sim *sim, uint8_t cmd, uint32_t id)
{
	nl_begin(nl, cmd, 0);
	nl_put_u32(nl, MORPH_A_CONTROLLER_FABRIC, sim->number);
	nl_put_u32(nl, MORPH_A_CONTROLLER_ID, id);
}

static int hold(struct nl *nl, const struct sim *sim, uint8_t cmd, uint32_t id, uint64_t epoch,
		uint64_t lease_ns)
{
	return nl_control(nl, cmd, sim->number, id, epoch, lease_ns);
}

static int take(struct nl *nl, const struct sim *sim, uint32_t id, uint64_t epoch,
		uint64_t lease_ns)
{
	return hold(nl, sim, MORPH_CMD_CONTROLLER_TAKE, id, epoch, lease_ns);
}

static int seize(struct nl *nl, const struct sim *sim, uint32_t id, uint64_t epoch)
{
	begin(nl, sim, MORPH_CMD_CONTROLLER_TAKE, id);
	nl_put_u64(nl, MORPH_A_CONTROLLER_EPOCH, epoch);
	nl_put_u64(nl, MORPH_A_CONTROLLER_LEASE_NS, LONG);
	nl_put(nl, MORPH_A_CONTROLLER_FORCE, NULL, 0);
	return nl_do(nl);
}

static int renew(struct nl *nl, const struct sim *sim, uint32_t id, uint64_t epoch)
{
	return hold(nl, sim, MORPH_CMD_CONTROLLER_RENEW, id, epoch, LONG);
}

static int get(struct nl *nl, const struct sim *sim, uint32_t id)
{
	begin(nl, sim, MORPH_CMD_CONTROLLER_GET, id);
	return nl_do(nl);
}

static int drop(struct nl *nl, const struct sim *sim, uint32_t id)
{
	begin(nl, sim, MORPH_CMD_CONTROLLER_DROP, id);
	return nl_do(nl);
}

static bool wait_expired(struct nl *nl, const struct sim *sim, uint32_t id)
{
	return WAIT_UNTIL(!get(nl, sim, id) &&
			  REPLY_U32(nl, MORPH_A_CONTROLLER_STATE) == MORPH_CONTROLLER_EXPIRED);
}

static unsigned int create(struct nl *nl, const struct sim *sim, const char *name,
			   uint32_t controller)
{
	nl_begin(nl, MORPH_CMD_SLICE_CREATE, 0);
	nl_put_u32(nl, MORPH_A_SLICE_FABRIC, sim->number);
	nl_put_text(nl, MORPH_A_SLICE_NAME, name);
	nl_put_u32(nl, MORPH_A_SLICE_OWNER, 0);
	nl_put_u32(nl, MORPH_A_SLICE_RANKS_COUNT, 2);
	nl_put_u32(nl, MORPH_A_SLICE_CONTROLLER, controller);
	return nl_do(nl) ? 0 : REPLY_U32(nl, MORPH_A_SLICE_ID);
}

static int assign(struct nl *nl, const struct sim *sim, unsigned int slice, uint32_t controller)
{
	nl_begin(nl, MORPH_CMD_SLICE_SET, 0);
	nl_put_u32(nl, MORPH_A_SLICE_FABRIC, sim->number);
	nl_put_u32(nl, MORPH_A_SLICE_ID, slice);
	nl_put_u32(nl, MORPH_A_SLICE_CONTROLLER, controller);
	return nl_do(nl);
}

static void put_token(struct nl *nl, uint32_t controller, uint64_t epoch)
{
	if (epoch != ANY_EPOCH)
		nl_put_token(nl, controller, epoch);
}

/* Request a circuit between the two ranks and return the errno of the request. */
static int add(struct nl *nl, const struct sim *sim, unsigned int slice, uint32_t controller,
	       uint64_t epoch)
{
	nl_apply(nl, sim->number, slice);
	put_token(nl, controller, epoch);
	nl_put_add(nl, 0, 1);
	return nl_do(nl);
}

/* Request the circuit and wait for the outcome; or return a negative errno. */
static int light(struct nl *nl, const struct sim *sim, unsigned int slice, uint32_t controller,
		 uint64_t epoch)
{
	int error = add(nl, sim, slice, controller, epoch);

	return error ? -error : nl_wait_outcome(nl, sim->number, REPLY_U32(nl, MORPH_A_TXN_ID));
}

/* Prepare with a long lease and return the number of the transaction, or 0. */
static unsigned int prepare(struct nl *nl, const struct sim *sim, unsigned int slice,
			    uint32_t controller, uint64_t epoch)
{
	unsigned int txn;

	nl_apply(nl, sim->number, slice);
	put_token(nl, controller, epoch);
	nl_put(nl, MORPH_A_TXN_PREPARE, NULL, 0);
	nl_put_u64(nl, MORPH_A_TXN_LEASE_NS, LONG);
	nl_put_add(nl, 0, 1);
	if (nl_do(nl))
		return 0;
	txn = REPLY_U32(nl, MORPH_A_TXN_ID);
	return nl_wait_outcome(nl, sim->number, txn) == MORPH_OUTCOME_PREPARED ? txn : 0;
}

static int step(struct nl *nl, const struct sim *sim, unsigned int txn, uint32_t verb,
		uint32_t controller, uint64_t epoch)
{
	nl_begin(nl, MORPH_CMD_TXN_STEP, 0);
	nl_put_u32(nl, MORPH_A_TXN_FABRIC, sim->number);
	nl_put_u32(nl, MORPH_A_TXN_ID, txn);
	nl_put_u32(nl, MORPH_A_TXN_VERB, verb);
	put_token(nl, controller, epoch);
	return nl_do(nl);
}

FIXTURE_SETUP(control)
{
	sim_start(&self->sim, "server8", NULL);
	ASSERT_EQ(0, nl_open(&self->nl));
	ASSERT_EQ(0, take(&self->nl, &self->sim, 7, 1, LONG));
	self->slice = create(&self->nl, &self->sim, "job", 7);
	ASSERT_NE(0, self->slice) TH_LOG("%s", self->nl.text);
}

FIXTURE_TEARDOWN(control)
{
	slice_delete(self->sim.fd, MORPH_ANY, "job", MORPH_SLICE_FORCE);
	EXPECT_TRUE(WAIT_UNTIL(sim_no_slices(&self->sim)));
	nl_close(&self->nl);
	sim_stop(&self->sim);
}

/* ------------------------------------------------------------ epochs and leases */

TEST_F(control, attributes_of_a_controller)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, get(nl, &self->sim, 7));
	EXPECT_EQ(self->sim.number, REPLY_U32(nl, MORPH_A_CONTROLLER_FABRIC));
	EXPECT_EQ(7, REPLY_U32(nl, MORPH_A_CONTROLLER_ID));
	EXPECT_EQ(1, REPLY_U64(nl, MORPH_A_CONTROLLER_EPOCH));
	EXPECT_EQ(MORPH_CONTROLLER_ACTIVE, REPLY_U32(nl, MORPH_A_CONTROLLER_STATE));
	EXPECT_GE(LONG, REPLY_U64(nl, MORPH_A_CONTROLLER_LEASE_NS));
	EXPECT_LT(LONG / 2, REPLY_U64(nl, MORPH_A_CONTROLLER_LEASE_NS));
	EXPECT_EQ(1, REPLY_U32(nl, MORPH_A_CONTROLLER_SLICES));
	EXPECT_NE(0, REPLY_U64(nl, MORPH_A_CONTROLLER_SEQ));
}

TEST_F(control, epochs_only_grow)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, seize(nl, &self->sim, 7, 5));
	EXPECT_EQ(ESTALE, seize(nl, &self->sim, 7, 5));
	EXPECT_EQ(MORPH_A_CONTROLLER_EPOCH, nl->bad_attr);
	EXPECT_EQ(ESTALE, seize(nl, &self->sim, 7, 4));
	EXPECT_EQ(ESTALE, renew(nl, &self->sim, 7, 4));
	EXPECT_EQ(ESTALE, renew(nl, &self->sim, 7, 6));
	EXPECT_EQ(0, renew(nl, &self->sim, 7, 5));
	EXPECT_EQ(0, seize(nl, &self->sim, 7, UINT64_MAX));
	EXPECT_EQ(UINT64_MAX, REPLY_U64(nl, MORPH_A_CONTROLLER_EPOCH));
}

/* Taking control despite a running lease needs the force flag. */
TEST_F(control, lease_excludes_other_controllers)
{
	struct nl *nl = &self->nl;

	EXPECT_EQ(EBUSY, take(nl, &self->sim, 7, 2, LONG));
	EXPECT_EQ(0, renew(nl, &self->sim, 7, 1));
	EXPECT_EQ(0, seize(nl, &self->sim, 7, 2));
	EXPECT_EQ(2, REPLY_U64(nl, MORPH_A_CONTROLLER_EPOCH));
}

/* An epoch whose lease has expired is over, also for its own controller. */
TEST_F(control, expired_epoch_does_not_come_back)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, take(nl, &self->sim, 8, 3, SHORT));
	ASSERT_TRUE(wait_expired(nl, &self->sim, 8));
	EXPECT_EQ(3, REPLY_U64(nl, MORPH_A_CONTROLLER_EPOCH));
	EXPECT_EQ(0, REPLY_U64(nl, MORPH_A_CONTROLLER_LEASE_NS));
	EXPECT_EQ(ETIME, renew(nl, &self->sim, 8, 3));
	EXPECT_EQ(ESTALE, take(nl, &self->sim, 8, 3, LONG));
	EXPECT_EQ(0, take(nl, &self->sim, 8, 4, LONG));
	EXPECT_EQ(MORPH_CONTROLLER_ACTIVE, REPLY_U32(nl, MORPH_A_CONTROLLER_STATE));
}

TEST_F(control, renewal_moves_the_end_of_the_lease)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, take(nl, &self->sim, 8, 1, 20 * SHORT * slowness()));
	ASSERT_EQ(0, renew(nl, &self->sim, 8, 1));
	usleep(30 * SHORT / 1000 * slowness());
	EXPECT_EQ(0, get(nl, &self->sim, 8));
	EXPECT_EQ(MORPH_CONTROLLER_ACTIVE, REPLY_U32(nl, MORPH_A_CONTROLLER_STATE));
	/* A renewal may also shorten the lease. */
	ASSERT_EQ(0, hold(nl, &self->sim, MORPH_CMD_CONTROLLER_RENEW, 8, 1, SHORT));
	EXPECT_TRUE(wait_expired(nl, &self->sim, 8));
}

TEST_F(control, taking_and_expiry_are_reported)
{
	long long expired = core_counter(&self->sim, "stats", "controllers-expired");
	struct nl *nl = &self->nl;
	struct nl ears;

	ASSERT_EQ(0, nl_open(&ears));
	ASSERT_EQ(0, nl_join(&ears));
	ASSERT_EQ(0, take(nl, &self->sim, 8, 1, SHORT));
	ASSERT_TRUE(nl_wait(&ears, MORPH_CMD_CONTROLLER_NTF, PATIENCE_MS));
	EXPECT_EQ(8, REPLY_U32(&ears, MORPH_A_CONTROLLER_ID));
	EXPECT_EQ(MORPH_CONTROLLER_ACTIVE, REPLY_U32(&ears, MORPH_A_CONTROLLER_STATE));
	ASSERT_TRUE(nl_wait(&ears, MORPH_CMD_CONTROLLER_NTF, PATIENCE_MS));
	EXPECT_EQ(MORPH_CONTROLLER_EXPIRED, REPLY_U32(&ears, MORPH_A_CONTROLLER_STATE));
	EXPECT_EQ(expired + 1, core_counter(&self->sim, "stats", "controllers-expired"));
	ASSERT_EQ(0, take(nl, &self->sim, 8, 2, LONG));
	ASSERT_TRUE(nl_wait(&ears, MORPH_CMD_CONTROLLER_NTF, PATIENCE_MS));
	EXPECT_EQ(2, REPLY_U64(&ears, MORPH_A_CONTROLLER_EPOCH));
	ASSERT_EQ(0, drop(nl, &self->sim, 8));
	ASSERT_TRUE(nl_wait(&ears, MORPH_CMD_CONTROLLER_NTF, PATIENCE_MS));
	EXPECT_EQ(MORPH_CONTROLLER_GONE, REPLY_U32(&ears, MORPH_A_CONTROLLER_STATE));
	nl_close(&ears);
}

TEST_F(control, echo)
{
	struct nl *nl = &self->nl;

	nl_begin(nl, MORPH_CMD_CONTROLLER_TAKE, NLM_F_ECHO);
	nl_put_u32(nl, MORPH_A_CONTROLLER_FABRIC, self->sim.number);
	nl_put_u32(nl, MORPH_A_CONTROLLER_ID, 8);
	nl_put_u64(nl, MORPH_A_CONTROLLER_EPOCH, 1);
	nl_put_u64(nl, MORPH_A_CONTROLLER_LEASE_NS, LONG);
	ASSERT_EQ(0, nl_do(nl));
	EXPECT_EQ(MORPH_CMD_CONTROLLER_NTF, nl->echoed);
	nl_begin(nl, MORPH_CMD_CONTROLLER_DROP, NLM_F_ECHO);
	nl_put_u32(nl, MORPH_A_CONTROLLER_FABRIC, self->sim.number);
	nl_put_u32(nl, MORPH_A_CONTROLLER_ID, 8);
	ASSERT_EQ(0, nl_do(nl));
	EXPECT_EQ(MORPH_CMD_CONTROLLER_NTF, nl->echoed);
}

/* The lease that expires next is not always the latest one. */
TEST_F(control, each_of_several_leases_ends)
{
	struct nl *nl = &self->nl;
	uint32_t id;

	for (id = 20; id < 24; id++)
		ASSERT_EQ(0, take(nl, &self->sim, id, 1, (24 - id) * SHORT));
	for (id = 20; id < 24; id++)
		EXPECT_TRUE(wait_expired(nl, &self->sim, id));
	EXPECT_TRUE(WAIT_UNTIL(core_counter(&self->sim, "stats", "controllers-expired") >= 4));
	EXPECT_EQ(0, get(nl, &self->sim, 7));
	EXPECT_EQ(MORPH_CONTROLLER_ACTIVE, REPLY_U32(nl, MORPH_A_CONTROLLER_STATE));
}

/* ---------------------------------------------------------------------- tokens */

TEST_F(control, changes_need_the_token)
{
	struct nl *nl = &self->nl;

	EXPECT_EQ(EPERM, add(nl, &self->sim, self->slice, 0, ANY_EPOCH));
	EXPECT_EQ(ESTALE, add(nl, &self->sim, self->slice, 7, 2));
	EXPECT_EQ(MORPH_A_TXN_EPOCH, nl->bad_attr);
	ASSERT_EQ(0, take(nl, &self->sim, 8, 1, LONG));
	EXPECT_EQ(EPERM, add(nl, &self->sim, self->slice, 8, 1));
	EXPECT_EQ(MORPH_A_TXN_CONTROLLER, nl->bad_attr);
	EXPECT_EQ(MORPH_OUTCOME_COMMITTED, light(nl, &self->sim, self->slice, 7, 1));
}

TEST_F(control, slices_without_a_controller_take_no_token)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, assign(nl, &self->sim, self->slice, 0));
	EXPECT_EQ(NULL, nl_find(nl_reply(nl), MORPH_A_SLICE_CONTROLLER));
	EXPECT_EQ(EPERM, add(nl, &self->sim, self->slice, 7, 1));
	EXPECT_EQ(MORPH_OUTCOME_COMMITTED, light(nl, &self->sim, self->slice, 0, ANY_EPOCH));
}

TEST_F(control, slices_are_handed_over)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, take(nl, &self->sim, 8, 1, LONG));
	ASSERT_EQ(0, assign(nl, &self->sim, self->slice, 8));
	EXPECT_EQ(8, REPLY_U32(nl, MORPH_A_SLICE_CONTROLLER));
	EXPECT_EQ(EPERM, add(nl, &self->sim, self->slice, 7, 1));
	EXPECT_EQ(MORPH_OUTCOME_COMMITTED, light(nl, &self->sim, self->slice, 8, 1));
	EXPECT_EQ(ENOENT, assign(nl, &self->sim, self->slice, 9));
	EXPECT_EQ(MORPH_A_SLICE_CONTROLLER, nl->bad_attr);
}

/* The controller of the next epoch may step transactions that an earlier epoch prepared. */
TEST_F(control, steps_need_the_token)
{
	struct nl *nl = &self->nl;
	unsigned int txn = prepare(nl, &self->sim, self->slice, 7, 1);

	ASSERT_NE(0, txn);
	EXPECT_EQ(0, step(nl, &self->sim, txn, MORPH_TXN_QUERY, 0, ANY_EPOCH));
	EXPECT_EQ(EPERM, step(nl, &self->sim, txn, MORPH_TXN_COMMIT, 0, ANY_EPOCH));
	ASSERT_EQ(0, seize(nl, &self->sim, 7, 2));
	EXPECT_EQ(ESTALE, step(nl, &self->sim, txn, MORPH_TXN_COMMIT, 7, 1));
	EXPECT_EQ(ESTALE, step(nl, &self->sim, txn, MORPH_TXN_REVERT, 7, 1));
	EXPECT_EQ(MORPH_OUTCOME_PREPARED, nl_outcome(nl, self->sim.number, txn));
	EXPECT_EQ(0, step(nl, &self->sim, txn, MORPH_TXN_COMMIT, 7, 2));
	EXPECT_EQ(MORPH_OUTCOME_UNCONFIRMED, nl_wait_outcome(nl, self->sim.number, txn));
	EXPECT_EQ(0, step(nl, &self->sim, txn, MORPH_TXN_CONFIRM, 7, 2));
	EXPECT_EQ(MORPH_OUTCOME_COMMITTED, nl_wait_outcome(nl, self->sim.number, txn));
}

/* A change is queued before another controller takes control, and staged afterwards. */
TEST_F(control, queued_changes_of_an_earlier_epoch_are_refused)
{
	struct nl *nl = &self->nl;
	unsigned int slice, first, second;
	long long writes;
	struct sim slow;

	sim_start(&slow, "server4", "settle_ns=2000000000");
	ASSERT_EQ(0, take(nl, &slow, 7, 1, LONG));
	slice = create(nl, &slow, "slow", 7);
	ASSERT_NE(0, slice);
	/* The first change keeps the slice busy as long as light settles. */
	writes = sim_counter(&slow, "ops", "set_elements");
	ASSERT_EQ(0, add(nl, &slow, slice, 7, 1));
	first = REPLY_U32(nl, MORPH_A_TXN_ID);
	ASSERT_TRUE(sim_wait_counter(&slow, "ops", "set_elements", writes + 1));
	ASSERT_EQ(0, add(nl, &slow, slice, 7, 1));
	second = REPLY_U32(nl, MORPH_A_TXN_ID);
	ASSERT_EQ(0, seize(nl, &slow, 7, 2));
	EXPECT_EQ(MORPH_OUTCOME_COMMITTED, nl_wait_outcome(nl, slow.number, first));
	EXPECT_EQ(MORPH_OUTCOME_NONE, nl_wait_outcome(nl, slow.number, second));
	EXPECT_EQ(-ESTALE, (int)REPLY_U32(nl, MORPH_A_TXN_STATUS));
	EXPECT_EQ(MORPH_REASON_CONTROLLER, REPLY_U32(nl, MORPH_A_TXN_REASON));
	EXPECT_EQ(2, REPLY_U64(nl, MORPH_A_TXN_HAVE));
	slice_delete(slow.fd, slice, NULL, MORPH_SLICE_FORCE);
	EXPECT_TRUE(WAIT_UNTIL(sim_no_slices(&slow)));
	sim_stop(&slow);
}

TEST_F(control, each_change_for_itself_needs_the_token_too)
{
	struct nl *nl = &self->nl;

	nl_apply(nl, self->sim.number, self->slice);
	nl_put(nl, MORPH_A_TXN_EACH, NULL, 0);
	put_token(nl, 7, 1);
	nl_put_add(nl, 0, 1);
	nl_put_add(nl, 1, 0);
	ASSERT_EQ(0, nl_do(nl));
	EXPECT_EQ(MORPH_OUTCOME_COMMITTED,
		  nl_wait_outcome(nl, self->sim.number, REPLY_U32(nl, MORPH_A_TXN_ID)));
}

TEST_F(control, dry_runs_need_the_token)
{
	struct nl *nl = &self->nl;
	int i;

	for (i = 0; i < 2; i++) {
		nl_apply(nl, self->sim.number, self->slice);
		nl_put(nl, MORPH_A_TXN_DRY_RUN, NULL, 0);
		put_token(nl, 7, 2 - i);
		nl_put_add(nl, 0, 1);
		EXPECT_EQ(i ? 0 : ESTALE, nl_do(nl));
	}
}

/* The tenant's file keeps its permissions whatever happens to controllers. */
TEST_F(control, tenants_file_needs_no_token)
{
	struct morph_change change = change_add(0, 1);
	char path[64];
	int slice;

	snprintf(path, sizeof(path), "/dev/morph/slice%u", self->slice);
	slice = open(path, O_RDWR);
	ASSERT_LE(0, slice);
	EXPECT_EQ(0, txn_run(slice, &change, 1, NULL));
	close(slice);
}

/* -------------------------------------------------------------------- failing */

/* A lost controller darkens nothing and stops no light. */
TEST_F(control, expiry_keeps_light)
{
	struct nl *nl = &self->nl;
	long long lasers;

	ASSERT_EQ(MORPH_OUTCOME_COMMITTED, light(nl, &self->sim, self->slice, 7, 1));
	lasers = sim_counter(&self->sim, "ops", "set_lasers");
	ASSERT_EQ(0, hold(nl, &self->sim, MORPH_CMD_CONTROLLER_RENEW, 7, 1, SHORT));
	ASSERT_TRUE(wait_expired(nl, &self->sim, 7));
	EXPECT_EQ(1, REPLY_U32(nl, MORPH_A_CONTROLLER_SLICES));
	EXPECT_EQ(ETIME, add(nl, &self->sim, self->slice, 7, 1));
	EXPECT_FALSE(sim_all_dark(&self->sim));
	EXPECT_EQ(lasers, sim_counter(&self->sim, "ops", "set_lasers"));
	/* The backup reads the epoch from the kernel and continues. */
	ASSERT_EQ(0, get(nl, &self->sim, 7));
	ASSERT_EQ(0, take(nl, &self->sim, 7, REPLY_U64(nl, MORPH_A_CONTROLLER_EPOCH) + 1, LONG));
	EXPECT_EQ(ESTALE, add(nl, &self->sim, self->slice, 7, 1));
	EXPECT_EQ(MORPH_OUTCOME_COMMITTED, light(nl, &self->sim, self->slice, 7, 2));
}

/* The repairs of the kernel need no controller. */
TEST_F(control, expiry_stops_no_failover)
{
	struct morph_rank_info ranks[2];
	struct morph_slice_info info;
	struct nl *nl = &self->nl;
	char path[64];
	int slice;

	ASSERT_EQ(MORPH_OUTCOME_COMMITTED, light(nl, &self->sim, self->slice, 7, 1));
	snprintf(path, sizeof(path), "/dev/morph/slice%u", self->slice);
	slice = open(path, O_RDWR);
	ASSERT_LE(0, slice);
	ASSERT_EQ(0, hold(nl, &self->sim, MORPH_CMD_CONTROLLER_RENEW, 7, 1, SHORT));
	ASSERT_TRUE(wait_expired(nl, &self->sim, 7));
	ASSERT_EQ(0, slice_read(slice, &info, ranks, 2, NULL, 0));
	ASSERT_EQ(0, sim_control(&self->sim, "fault", "accelerator_dead %u", ranks[0].accelerator));
	EXPECT_EQ(0, wait_event(slice, MORPH_EVENT_REPLACED, PATIENCE_MS, NULL));
	EXPECT_TRUE(slice_wait_state(slice, MORPH_SLICE_OK));
	close(slice);
}

static int take_second_epoch(struct nl *nl, const struct sim *sim, unsigned int which)
{
	(void)which;
	return seize(nl, sim, 7, 2);
}

/* If several backups take the same epoch at once, exactly one gets it. */
TEST_F(control, one_of_several_backups_takes_over)
{
	EXPECT_EQ(1, nl_race(&self->sim, 4, take_second_epoch, ESTALE));
}

/* ------------------------------------------------------------------- bad input */

TEST_F(control, unknown_controllers)
{
	struct nl *nl = &self->nl;

	EXPECT_EQ(ENOENT, get(nl, &self->sim, 9));
	EXPECT_EQ(MORPH_A_CONTROLLER_ID, nl->bad_attr);
	EXPECT_EQ(ENOENT, renew(nl, &self->sim, 9, 1));
	EXPECT_EQ(ENOENT, drop(nl, &self->sim, 9));
	EXPECT_EQ(0, create(nl, &self->sim, "other", 9));
	EXPECT_EQ(MORPH_A_SLICE_CONTROLLER, nl->bad_attr);
}

TEST_F(control, zero_is_no_controller_and_no_epoch)
{
	struct nl *nl = &self->nl;

	EXPECT_EQ(ERANGE, take(nl, &self->sim, 0, 1, LONG));
	EXPECT_EQ(ERANGE, take(nl, &self->sim, 8, 0, LONG));
	EXPECT_EQ(ENOENT, get(nl, &self->sim, 8));
}

TEST_F(control, leases_have_limits)
{
	struct nl *nl = &self->nl;

	EXPECT_EQ(EINVAL, take(nl, &self->sim, 8, 1, 999999));
	EXPECT_EQ(MORPH_A_CONTROLLER_LEASE_NS, nl->bad_attr);
	EXPECT_EQ(EINVAL, take(nl, &self->sim, 8, 1, 3600000000001ULL));
	EXPECT_EQ(0, take(nl, &self->sim, 8, 1, 3600000000000ULL));
}

TEST_F(control, missing_attributes_of_an_act_are_named)
{
	struct nl *nl = &self->nl;

	nl_begin(nl, MORPH_CMD_CONTROLLER_TAKE, 0);
	nl_put_u32(nl, MORPH_A_CONTROLLER_FABRIC, self->sim.number);
	EXPECT_EQ(EINVAL, nl_do(nl));
	EXPECT_EQ(MORPH_A_CONTROLLER_ID, nl->missing);
	begin(nl, &self->sim, MORPH_CMD_CONTROLLER_TAKE, 8);
	EXPECT_EQ(EINVAL, nl_do(nl));
	EXPECT_EQ(MORPH_A_CONTROLLER_EPOCH, nl->missing);
	begin(nl, &self->sim, MORPH_CMD_CONTROLLER_RENEW, 7);
	nl_put_u64(nl, MORPH_A_CONTROLLER_EPOCH, 1);
	EXPECT_EQ(EINVAL, nl_do(nl));
	EXPECT_EQ(MORPH_A_CONTROLLER_LEASE_NS, nl->missing);
	nl_apply(nl, self->sim.number, self->slice);
	nl_put_u32(nl, MORPH_A_TXN_CONTROLLER, 7);
	nl_put_add(nl, 0, 1);
	EXPECT_EQ(EINVAL, nl_do(nl));
	EXPECT_STREQ("controller and epoch require each other", nl->text);
}

TEST_F(control, controllers_with_slices_stay)
{
	struct nl *nl = &self->nl;

	EXPECT_EQ(EBUSY, drop(nl, &self->sim, 7));
	ASSERT_EQ(0, assign(nl, &self->sim, self->slice, 0));
	EXPECT_EQ(0, drop(nl, &self->sim, 7));
	EXPECT_EQ(ENOENT, get(nl, &self->sim, 7));
}

TEST_F(control, there_is_a_most_of_them)
{
	struct nl *nl = &self->nl;
	uint32_t id;

	for (id = 1000; id < 1255; id++)
		ASSERT_EQ(0, take(nl, &self->sim, id, 1, LONG));
	EXPECT_EQ(ENOSPC, take(nl, &self->sim, 2000, 1, LONG));
	EXPECT_EQ(0, drop(nl, &self->sim, 1000));
	EXPECT_EQ(0, take(nl, &self->sim, 2000, 1, LONG));
}

static void count(const struct nlmsghdr *message, void *context)
{
	unsigned int *seen = context;

	*seen += nl_get_u32(nl_find(message, MORPH_A_CONTROLLER_ID)) >= 1000;
}

TEST_F(control, dump_has_all)
{
	struct nl *nl = &self->nl;
	unsigned int seen = 0;
	static struct nl slow; /* The kernel knows no large buffer of this socket yet. */
	bool more = true;
	uint32_t id;

	for (id = 1000; id < 1200; id++)
		ASSERT_EQ(0, take(nl, &self->sim, id, 1, LONG));
	ASSERT_EQ(0, nl_open(&slow));
	nl_begin(&slow, MORPH_CMD_CONTROLLER_GET, 0);
	nl_put_u32(&slow, MORPH_A_CONTROLLER_FABRIC, self->sim.number);
	ASSERT_EQ(0, nl_dump_begin(&slow));
	while (more)
		ASSERT_EQ(0, nl_dump_read(&slow, 4096, count, &seen, &more));
	EXPECT_FALSE(slow.interrupted);
	nl_close(&slow);
	EXPECT_EQ(200, seen);
	begin(nl, &self->sim, MORPH_CMD_CONTROLLER_GET, 7);
	EXPECT_EQ(EINVAL, nl_dump(nl, count, &seen));
}

/* The provider goes while controllers hold leases, one of which expires then. */
TEST_F(control, fabric_goes_with_controllers)
{
	struct nl *nl = &self->nl;
	int i;

	for (i = 0; i < 8; i++)
		ASSERT_EQ(0, take(nl, &self->sim, 30 + i, 1, 1000000ULL * (i + 1)));
	sim_pull(&self->sim);
	begin(nl, &self->sim, MORPH_CMD_CONTROLLER_GET, 7);
	EXPECT_EQ(ENOENT, nl_do(nl));
	usleep(20000 * slowness());
	sim_replug(&self->sim);
	EXPECT_EQ(ENOENT, get(nl, &self->sim, 7));
	EXPECT_EQ(0, take(nl, &self->sim, 7, 1, LONG));
}

TEST_HARNESS_MAIN

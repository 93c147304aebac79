// SPDX-License-Identifier: GPL-2.0-only
/* Two-phase transactions: the order of steps, expired leases, and reserved resources. */
#include <linux/delay.h>

#include "shapes.h"
#include "suites.h"

/* The first step of a failover. */
static void enter_and_revoke(struct morph_slice *slice)
{
	struct morph_fabric *fabric = slice->fabric;

	mutex_lock(&fabric->lock);
	morph_slice_enter(slice, true);
	morph_txn_revoke_slice(slice);
	morph_slice_leave(slice);
	mutex_unlock(&fabric->lock);
}

/* Its lease has expired, and the timer reports that. */
static void expire(struct morph_txn *txn)
{
	mutex_lock(&txn->fabric->lock);
	txn->lease_until_ns = 1;
	hrtimer_start(&txn->lease_timer, ns_to_ktime(1), HRTIMER_MODE_ABS);
	mutex_unlock(&txn->fabric->lock);
	while (hrtimer_active(&txn->lease_timer))
		usleep_range(100, 1000);
	flush_workqueue(morph_turn_wq);
}

static void bring_to(struct fake *fake, struct morph_txn *txn, u32 outcome)
{
	struct morph_refusal refusal = {};

	KUNIT_ASSERT_EQ(fake->test, 0, morph_txn_run(txn));
	KUNIT_ASSERT_EQ(fake->test, (u32)MORPH_OUTCOME_PREPARED, txn->outcome);
	switch (outcome) {
	case MORPH_OUTCOME_UNCONFIRMED:
	case MORPH_OUTCOME_COMMITTED:
		KUNIT_ASSERT_EQ(fake->test, 0, morph_txn_step(txn, MORPH_TXN_COMMIT, 0, &refusal));
		if (outcome == MORPH_OUTCOME_COMMITTED)
			morph_txn_step(txn, MORPH_TXN_CONFIRM, 0, &refusal);
		break;
	case MORPH_OUTCOME_ROLLED_BACK:
		morph_txn_step(txn, MORPH_TXN_REVERT, 0, &refusal);
		break;
	case MORPH_OUTCOME_EXPIRED:
		expire(txn);
		break;
	case MORPH_OUTCOME_REVOKED:
		enter_and_revoke(txn_slice(fake));
		break;
	}
	KUNIT_ASSERT_EQ(fake->test, outcome, txn->outcome);
}

struct step_case {
	const char *name;
	u32 from;
	u32 verb;
	int result;
	u32 to;
	bool cookie;
};

#define STEP(from, verb, result, to)							\
	{ #from " " #verb, MORPH_OUTCOME_##from, MORPH_TXN_##verb, result,		\
	  MORPH_OUTCOME_##to, false }
#define AGAIN(from, verb)								\
	{ #from " " #verb " again", MORPH_OUTCOME_##from, MORPH_TXN_##verb, 0,		\
	  MORPH_OUTCOME_##from, true }

static const struct step_case step_cases[] = {
	STEP(PREPARED, COMMIT, 0, UNCONFIRMED),
	STEP(PREPARED, CONFIRM, -EINVAL, PREPARED),
	STEP(PREPARED, REVERT, 0, ROLLED_BACK),
	STEP(PREPARED, VERIFY, -EINVAL, PREPARED),
	STEP(UNCONFIRMED, COMMIT, -EINVAL, UNCONFIRMED),
	STEP(UNCONFIRMED, CONFIRM, 0, COMMITTED),
	STEP(UNCONFIRMED, REVERT, 0, ROLLED_BACK),
	STEP(UNCONFIRMED, VERIFY, 0, UNCONFIRMED),
	STEP(COMMITTED, COMMIT, -EINVAL, COMMITTED),
	STEP(COMMITTED, CONFIRM, -EINVAL, COMMITTED),
	STEP(COMMITTED, REVERT, -EINVAL, COMMITTED),
	STEP(COMMITTED, VERIFY, -EINVAL, COMMITTED),
	STEP(ROLLED_BACK, COMMIT, -EINVAL, ROLLED_BACK),
	STEP(ROLLED_BACK, CONFIRM, -EINVAL, ROLLED_BACK),
	STEP(ROLLED_BACK, REVERT, -EINVAL, ROLLED_BACK),
	STEP(ROLLED_BACK, VERIFY, -EINVAL, ROLLED_BACK),
	STEP(EXPIRED, COMMIT, -ETIME, EXPIRED),
	STEP(EXPIRED, CONFIRM, -ETIME, EXPIRED),
	STEP(EXPIRED, REVERT, -ETIME, EXPIRED),
	STEP(EXPIRED, VERIFY, -ETIME, EXPIRED),
	STEP(REVOKED, COMMIT, -ECANCELED, REVOKED),
	STEP(REVOKED, CONFIRM, -ECANCELED, REVOKED),
	STEP(REVOKED, REVERT, -ECANCELED, REVOKED),
	STEP(REVOKED, VERIFY, -ECANCELED, REVOKED),
	AGAIN(UNCONFIRMED, COMMIT),
	AGAIN(COMMITTED, CONFIRM),
	AGAIN(ROLLED_BACK, REVERT),
};

FAKE_CASE_DESC(step_cases, name);

static void phase_step_from_state(struct kunit *test)
{
	const struct step_case *param = test->param_value;
	struct morph_refusal refusal = {};
	struct fake *fake = test->priv;
	struct morph_txn *txn;
	int ret;

	txn = txn_of_shape(fake, txn_slice(fake), TURN, MORPH_TXN_PREPARE);
	txn->lease_ns = FAKE_LONG_LEASE;
	txn->cookie = param->cookie ? 77 : 0;
	bring_to(fake, txn, param->from);
	ret = morph_txn_step(txn, param->verb, 0, &refusal);
	KUNIT_EXPECT_EQ_MSG(test, param->result, ret, "%s", refusal.text);
	KUNIT_EXPECT_EQ(test, param->to, txn->outcome);
	/* A refused request gets the reason. */
	KUNIT_EXPECT_EQ(test, !!param->result, !!refusal.text[0]);
	/* A transaction that has ended holds nothing. Others can still be ended. */
	if (morph_txn_lease_left(txn))
		KUNIT_EXPECT_EQ(test, 0, morph_txn_step(txn, MORPH_TXN_REVERT, 0, &refusal));
	morph_txn_put(txn);
	fake_settle(fake);
	fake_expect_light(fake);
}

struct expire_case {
	const char *name;
	enum shape shape;
	u32 from;
	const char *log;	/* operations when the lease expires */
};

static const struct expire_case expire_cases[] = {
	{ "prepared add", ADD, MORPH_OUTCOME_PREPARED, "" },
	{ "prepared turn", TURN, MORPH_OUTCOME_PREPARED, "" },
	{ "unconfirmed add", ADD, MORPH_OUTCOME_UNCONFIRMED, "-rP" },
	{ "unconfirmed remove", REMOVE, MORPH_OUTCOME_UNCONFIRMED, "+wr" },
	{ "unconfirmed move", MOVE, MORPH_OUTCOME_UNCONFIRMED, "-r+wrP" },
	{ "unconfirmed turn", TURN, MORPH_OUTCOME_UNCONFIRMED, "-rEw+wrP" },
};

FAKE_CASE_DESC(expire_cases, name);

/* An expired lease rolls everything back. */
static void phase_lease_runs_out(struct kunit *test)
{
	const struct expire_case *param = test->param_value;
	struct fake *fake = test->priv;
	struct morph_txn *txn;

	txn = txn_of_shape(fake, txn_slice(fake), param->shape, MORPH_TXN_PREPARE);
	txn->lease_ns = FAKE_LONG_LEASE;
	bring_to(fake, txn, param->from);
	fake_clear(fake);
	expire(txn);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_OUTCOME_EXPIRED, txn->outcome);
	KUNIT_EXPECT_EQ(test, -ETIME, txn->status);
	KUNIT_EXPECT_STREQ(test, param->log, (const char *)fake->log);
	KUNIT_EXPECT_EQ(test, 1ULL, fake_stat(fake, MORPH_STAT_EXPIRED));
	morph_txn_put(txn);
	fake_settle(fake);
	fake_expect_light(fake);
}

/* The lease has expired, but the next request comes before the timer. */
static void phase_step_comes_too_late(struct kunit *test)
{
	struct morph_refusal refusal = {};
	struct fake *fake = test->priv;
	struct morph_txn *txn;

	txn = txn_of_shape(fake, txn_slice(fake), TURN, MORPH_TXN_PREPARE);
	txn->lease_ns = FAKE_LONG_LEASE;
	bring_to(fake, txn, MORPH_OUTCOME_PREPARED);
	txn->lease_until_ns = 1;
	KUNIT_EXPECT_EQ(test, -ETIME, morph_txn_step(txn, MORPH_TXN_COMMIT, 0, &refusal));
	KUNIT_EXPECT_EQ(test, (u32)MORPH_OUTCOME_EXPIRED, txn->outcome);
	KUNIT_EXPECT_STREQ(test, "", (const char *)fake->log);
	morph_txn_put(txn);
}

/* Each step renews the lease, verify and commit with their own duration. */
static void phase_lease_is_renewed(struct kunit *test)
{
	struct morph_refusal refusal = {};
	struct fake *fake = test->priv;
	struct morph_txn *txn;

	txn = txn_of_shape(fake, txn_slice(fake), ADD, MORPH_TXN_PREPARE);
	txn->lease_ns = FAKE_LONG_LEASE;
	bring_to(fake, txn, MORPH_OUTCOME_PREPARED);
	KUNIT_EXPECT_EQ(test, 0,
			morph_txn_step(txn, MORPH_TXN_COMMIT, 2 * FAKE_LONG_LEASE, &refusal));
	KUNIT_EXPECT_GT(test, morph_txn_lease_left(txn), (u64)FAKE_LONG_LEASE);
	KUNIT_EXPECT_EQ(test, 0, morph_txn_step(txn, MORPH_TXN_VERIFY, FAKE_LONG_LEASE, &refusal));
	KUNIT_EXPECT_LE(test, morph_txn_lease_left(txn), (u64)FAKE_LONG_LEASE);
	KUNIT_EXPECT_EQ(test, 0, morph_txn_step(txn, MORPH_TXN_CONFIRM, 0, &refusal));
	KUNIT_EXPECT_EQ(test, 0ULL, morph_txn_lease_left(txn));
	morph_txn_put(txn);
}

/* Confirm does not repeat the check of verify, but does it if verify was left out. */
static void phase_confirm_looks_once(struct kunit *test)
{
	struct morph_refusal refusal = {};
	struct fake *fake = test->priv;
	struct morph_txn *txn;

	txn = txn_of_shape(fake, txn_slice(fake), MOVE, MORPH_TXN_PREPARE);
	txn->lease_ns = FAKE_LONG_LEASE;
	bring_to(fake, txn, MORPH_OUTCOME_UNCONFIRMED);
	fake_clear(fake);
	KUNIT_EXPECT_EQ(test, 0, morph_txn_step(txn, MORPH_TXN_VERIFY, 0, &refusal));
	KUNIT_EXPECT_STREQ(test, "r", (const char *)fake->log);
	fake_clear(fake);
	KUNIT_EXPECT_EQ(test, 0, morph_txn_step(txn, MORPH_TXN_CONFIRM, 0, &refusal));
	KUNIT_EXPECT_STREQ(test, "P", (const char *)fake->log);
	morph_txn_put(txn);
}

struct alarm_case {
	const char *name;
	enum shape shape;
};

static const struct alarm_case alarm_cases[] = {
	{ "its laser is off", MOVE },
	{ "its laser shines elsewhere", TURN },
};

FAKE_CASE_DESC(alarm_cases, name);

/*
 * Old light that is missing at its receiver is no failure, because the old state can be restored.
 */
static void phase_old_light_is_not_missed(struct kunit *test)
{
	const struct morph_signal dark = { .type = MORPH_SIGNAL_RECEIVER, .index = 2, .lanes = 1 };
	const struct alarm_case *param = test->param_value;
	struct morph_refusal refusal = {};
	struct fake *fake = test->priv;
	struct morph_txn *txn;
	u32 old;

	txn = txn_of_shape(fake, txn_slice(fake), param->shape, MORPH_TXN_PREPARE);
	old = txn->items[0].change.circuit;
	txn->lease_ns = FAKE_LONG_LEASE;
	bring_to(fake, txn, MORPH_OUTCOME_UNCONFIRMED);
	morph_fabric_signal(fake->fabric, &dark, 1);
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, 0, morph_txn_step(txn, MORPH_TXN_REVERT, 0, &refusal));
	KUNIT_EXPECT_EQ_MSG(test, (u32)MORPH_OUTCOME_ROLLED_BACK, txn->outcome, "%s",
			    refusal.text);
	KUNIT_EXPECT_FALSE(test, fake_circuit(txn_slice(fake), old)->dark);
	morph_txn_put(txn);
	fake_settle(fake);
	fake_expect_light(fake);
}

/* The old configuration stays reserved until confirm. */
static void phase_commit_keeps_the_old(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slice = txn_slice(fake), *other;
	const u32 rest[] = { 4 };
	struct morph_txn *txn;
	u64 *lanes;

	other = fake_slice(fake, rest, 1);
	KUNIT_EXPECT_PTR_NE(test, slice, other);
	txn = txn_of_shape(fake, slice, MOVE, MORPH_TXN_PREPARE);
	lanes = &ledger_of(fake->fabric)->state->tx_lanes[0];
	txn->lease_ns = FAKE_LONG_LEASE;
	bring_to(fake, txn, MORPH_OUTCOME_UNCONFIRMED);
	KUNIT_EXPECT_EQ(test, 0ULL, fake->laser[0]);
	KUNIT_EXPECT_EQ(test, 1u, hweight64(*lanes));
	enter_and_revoke(slice);	/* a failover counts it as confirmed */
	KUNIT_EXPECT_EQ(test, (u32)MORPH_OUTCOME_COMMITTED, txn->outcome);
	KUNIT_EXPECT_EQ(test, 0u, hweight64(*lanes));
	morph_txn_put(txn);
}

static struct kunit_case phase_cases[] = {
	KUNIT_CASE_PARAM(phase_step_from_state, step_cases_gen_params),
	KUNIT_CASE_PARAM(phase_lease_runs_out, expire_cases_gen_params),
	KUNIT_CASE(phase_step_comes_too_late),
	KUNIT_CASE(phase_lease_is_renewed),
	KUNIT_CASE(phase_confirm_looks_once),
	KUNIT_CASE_PARAM(phase_old_light_is_not_missed, alarm_cases_gen_params),
	KUNIT_CASE(phase_commit_keeps_the_old),
	{}
};

struct kunit_suite morph_phase_suite = {
	.name = "morph_phases",
	.init = txn_init,
	.exit = fake_exit,
	.test_cases = phase_cases,
};

// SPDX-License-Identifier: GPL-2.0-only
/* Spares that are lent to a slice, and failovers that take them back. */
#include <linux/delay.h>

#include "fake.h"
#include "joined.h"
#include "suites.h"

static void expect_counts(struct fake *fake, u32 spares, u32 lent)
{
	KUNIT_EXPECT_EQ(fake->test, spares, ledger_of(fake->fabric)->spares);
	KUNIT_EXPECT_EQ(fake->test, lent, ledger_of(fake->fabric)->lent);
}

static int try_slice(struct fake *fake, struct morph_slice_params *params)
{
	struct morph_refusal refusal = {};
	struct morph_slice *slice;

	params->dry_run = true;
	params->user = fake->user;
	return morph_slice_create(fake->fabric, params, &slice, &refusal);
}

/* Only the flag admits a spare, only one that is idle, and only from a list. */
static void lend_needs_the_flag(struct kunit *test)
{
	static const u32 spare[] = { 2 };
	struct fake *fake = test->priv;
	struct morph_slice_params params = { .accelerators = spare, .count = 1 };

	KUNIT_EXPECT_EQ(test, -EBUSY, try_slice(fake, &params));
	params.lend = true;
	KUNIT_EXPECT_EQ(test, 0, try_slice(fake, &params));
	params.reserved = true;
	KUNIT_EXPECT_EQ(test, -EINVAL, try_slice(fake, &params));
	params.reserved = false;
	params.accelerators = NULL;
	KUNIT_EXPECT_EQ(test, -EINVAL, try_slice(fake, &params));
	params.accelerators = spare;
	fake_pair(fake, 0, 2, true);
	KUNIT_EXPECT_EQ(test, -EBUSY, try_slice(fake, &params));
}

/* No other slice gets the reserved spare of a slice, and it is no spare of the fabric meanwhile. */
static void lend_of_a_reserved_spare_is_refused(struct kunit *test)
{
	static const u32 accelerators[] = { 0, 1 }, reserved[] = { 2 };
	struct fake *fake = test->priv;
	const struct morph_slice_params owner = {
		.accelerators = accelerators,
		.count = ARRAY_SIZE(accelerators),
		.spare_policy = MORPH_SPARES_ANY,
		.reserved = true,
		.user = fake->user,
	};
	struct morph_slice_params params = { .accelerators = reserved, .count = 1, .lend = true };
	struct morph_slice *slice;

	KUNIT_EXPECT_EQ(test, 0, try_slice(fake, &params));
	slice = fake_slice_like(fake, &owner);
	KUNIT_ASSERT_EQ(test, 2u, slice_tenancy(slice)->own_spare);
	expect_counts(fake, 1, 0);
	KUNIT_EXPECT_EQ(test, -EBUSY, try_slice(fake, &params));
	mutex_lock(&fake->fabric->lock);
	morph_slice_release(slice, 0);
	mutex_unlock(&fake->fabric->lock);
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, 0, try_slice(fake, &params));
}

/* The quota counts a lent spare, which is a spare again when the slice has ended. */
static void lend_is_charged_and_ends_with_the_slice(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_limits limits, used;
	struct morph_slice *slice = fake_pair(fake, 3, 2, true);

	morph_user_limits(fake->user, &limits, &used);
	KUNIT_EXPECT_EQ(test, 2u, used.accelerators);
	expect_counts(fake, 1, 1);
	mutex_lock(&fake->fabric->lock);
	morph_slice_release(slice, 0);
	mutex_unlock(&fake->fabric->lock);
	fake_settle(fake);
	expect_counts(fake, 2, 0);
	KUNIT_EXPECT_EQ(test, (u8)MORPH_USE_SPARE, ledger_of(fake->fabric)->chips[2].use);
}

/* An idle spare remains, though a lent one is on the host of the failed accelerator. */
static void lend_leaves_idle_spares_first(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct fake_loan loan = fake_lend(fake, 2);

	fake_fail(fake, 1);
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, 5u, loan.owner->ranks[1].accelerator);
	KUNIT_EXPECT_EQ(test, 2u, loan.borrower->ranks[1].accelerator);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_OK, slice_tenancy(loan.borrower)->state);
	KUNIT_EXPECT_EQ(test, 0u, fake_event(fake, 1, &(struct morph_event){}));
	fake_expect_light(fake);
}

static void expect_reclaimed(struct fake *fake, const struct fake_loan *loan, u32 spare)
{
	struct kunit *test = fake->test;
	struct morph_event event;

	KUNIT_EXPECT_EQ(test, spare, loan->owner->ranks[1].accelerator);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_OK, slice_tenancy(loan->owner)->state);
	KUNIT_EXPECT_EQ(test, 1u, loan->borrower->ranks[1].accelerator);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_DEGRADED, slice_tenancy(loan->borrower)->state);
	KUNIT_EXPECT_EQ(test, 0u, loan->borrower->circuits_count);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_EVENT_FAILING, fake_event(fake, 1, &event));
	KUNIT_EXPECT_EQ(test, (u32)MORPH_OUTCOME_REVOKED, event.outcome);
	KUNIT_EXPECT_EQ(test, 1u, event.rank);
	KUNIT_EXPECT_EQ(test, spare, event.old_accelerator);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_EVENT_DEGRADED, fake_event(fake, 1, &event));
	KUNIT_EXPECT_EQ(test, 1u, event.index);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_OUTCOME_REVOKED, event.outcome);
	fake_expect_light(fake);
}

/* Only the lent spare is left. When the failed accelerator is back, the borrower may use it. */
static void lend_ends_for_a_failover(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct fake_loan loan = fake_lend(fake, 2);
	u64 publishes;

	fake_fail(fake, 5);
	publishes = fake_stat(fake, MORPH_STAT_PUBLISHES);
	fake_fail(fake, 1);
	fake_settle(fake);
	expect_reclaimed(fake, &loan, 2);
	expect_counts(fake, 0, 0);
	KUNIT_EXPECT_EQ(test, publishes + 1, fake_stat(fake, MORPH_STAT_PUBLISHES));
	fake_return(fake, 1);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_OK, slice_tenancy(loan.borrower)->state);
	expect_counts(fake, 0, 1);
	fake_light(fake, loan.borrower, 0, 1, MORPH_PLANE_ANY);
	fake_expect_light(fake);
}

/* A borrower takes its own lent spare back for another rank of it. */
static void lend_ends_for_the_same_slice(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slice;

	fake_fail(fake, 5);
	slice = fake_pair(fake, 0, 2, true);
	fake_fail(fake, 0);
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, 2u, slice->ranks[0].accelerator);
	KUNIT_EXPECT_EQ(test, 0u, slice->ranks[1].accelerator);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_DEGRADED, slice_tenancy(slice)->state);
	KUNIT_EXPECT_EQ(test, 0u, slice->circuits_count);
	KUNIT_EXPECT_FALSE(test, slice->busy);
	fake_expect_light(fake);
}

/* A failed lent spare gets no other spare. */
static void lend_of_a_failed_spare_is_not_renewed(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct fake_loan loan = fake_lend(fake, 2);

	fake_fail(fake, 2);
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, 2u, loan.borrower->ranks[1].accelerator);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_DEGRADED, slice_tenancy(loan.borrower)->state);
	expect_counts(fake, 1, 0);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_PLAN_NONE,
			morph_protection_state(rank_protection(loan.borrower, 1)));
	fake_return(fake, 2);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_OK, slice_tenancy(loan.borrower)->state);
	expect_counts(fake, 1, 1);
	fake_expect_light(fake);
}

/* The device fails. The borrower has its spare and its light again. */
static void lend_survives_a_failed_failover(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct fake_loan loan = fake_lend(fake, 2);

	fake_fail(fake, 5);
	fake_settle(fake);
	fake_rule(fake, FAKE_LASERS_ON, 0, FAKE_ERROR, -ENOMEM);
	fake_fail(fake, 1);
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_DEGRADED, slice_tenancy(loan.owner)->state);
	KUNIT_EXPECT_EQ(test, 2u, loan.borrower->ranks[1].accelerator);
	KUNIT_EXPECT_EQ(test, 1u, loan.borrower->circuits_count);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_OK, slice_tenancy(loan.borrower)->state);
	KUNIT_EXPECT_FALSE(test, loan.borrower->busy);
	expect_counts(fake, 0, 1);
}

/* The lent spare is dead, too. It fails in the borrower's slice, and the owner has no other. */
static void lend_of_a_dead_spare_fails_in_its_slice(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct fake_loan loan = fake_lend(fake, 2);

	fake_fail(fake, 5);
	fake->dead[2] = true;
	fake_fail(fake, 0);		/* the sender: a dead one emits no light */
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_DEGRADED, slice_tenancy(loan.owner)->state);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_DEGRADED, slice_tenancy(loan.borrower)->state);
	KUNIT_EXPECT_EQ(test, 0u, loan.owner->ranks[0].accelerator);
	KUNIT_EXPECT_EQ(test, 2u, loan.borrower->ranks[1].accelerator);
	KUNIT_EXPECT_EQ(test, (u8)MORPH_HEALTH_FAILED, ledger_of(fake->fabric)->chips[2].health);
}

/* The borrower ends while the failover programs the device. Each accelerator has one holder. */
static void lend_ends_with_the_slice_during_a_failover(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct fake_loan loan = fake_lend(fake, 2);

	fake_fail(fake, 5);
	fake_settle(fake);
	fake_rule(fake, FAKE_LASERS_ON, 0, FAKE_HANG, 0);
	fake_fail(fake, 1);
	wait_for_completion(&fake->silent);
	mutex_lock(&fake->fabric->lock);
	morph_slice_release(loan.borrower, 0);
	mutex_unlock(&fake->fabric->lock);
	fake_go_on(fake);
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, 2u, loan.owner->ranks[1].accelerator);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_OK, slice_tenancy(loan.owner)->state);
	KUNIT_EXPECT_EQ(test, (u8)MORPH_USE_HELD, ledger_of(fake->fabric)->chips[2].use);
	KUNIT_EXPECT_EQ(test, (u8)MORPH_USE_SPARE, ledger_of(fake->fabric)->chips[1].use);
	KUNIT_EXPECT_EQ(test, 2u, ledger_of(fake->fabric)->held);
	fake_expect_light(fake);
}

/* The borrower changes a circuit. The failover waits for the end of the change. */
static void lend_ends_after_the_change_of_its_slice(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct fake_loan loan = fake_lend(fake, 2);
	struct morph_change change = fake_add(1, 0, MORPH_PLANE_ANY, 1);
	struct fake_run run;

	fake_fail(fake, 5);
	fake_settle(fake);
	fake_begin(fake, &run, fake_txn(fake, loan.borrower, &change, 1, 0), FAKE_SET_ELEMENTS, 0);
	fake_fail(fake, 1);
	fake_go_on(fake);
	KUNIT_EXPECT_EQ(test, 0, fake_end(&run));
	morph_txn_put(run.txn);
	fake_settle(fake);
	expect_reclaimed(fake, &loan, 2);
}

struct request_case {
	const char *name;
	u32 wanted;		/* requested for the rank with the lent spare */
	bool idle;		/* an idle spare is left */
	u32 lender, failed;	/* accelerators of both ranks then */
};

static const struct request_case request_cases[] = {
	{ "the failed rank gets the idle spare", MORPH_ANY, true, 2, 5 },
	{ "the failed rank gets the lent spare, and the other one waits", 1, false, 1, 2 },
};

FAKE_CASE_DESC(request_cases, name);

/*
 * The owner wants another accelerator for the rank with the lent spare, and another rank fails
 * before the repair begins.
 */
static void lend_beside_a_requested_replacement(struct kunit *test)
{
	const struct request_case *param = test->param_value;
	struct morph_culprit culprit = { .part = MORPH_PART_ACCELERATOR };
	struct fake *fake = test->priv;
	struct morph_slice *slice = fake_pair(fake, 2, 0, true);

	if (!param->idle)
		fake_fail(fake, 5);
	fake->dead[0] = true;
	mutex_lock(&fake->fabric->lock);
	slice->ranks[0].failed = true;		/* as morph_repair_replace() does */
	rank_recovery(slice, 0)->forced = true;
	rank_recovery(slice, 0)->wanted_spare = param->wanted;
	morph_health_set(fake->fabric, &culprit, MORPH_HEALTH_FAILED, 0);
	mutex_unlock(&fake->fabric->lock);
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, param->lender, slice->ranks[0].accelerator);
	KUNIT_EXPECT_EQ(test, param->failed, slice->ranks[1].accelerator);
	fake_expect_one_holder(fake);
	fake_expect_light(fake);
}

/*
 * A failover is taking the borrower's spare while the operator wants accelerator 4 for that rank.
 * Return the number of the request.
 */
static u32 request_while_taken(struct fake *fake, const struct fake_loan *loan)
{
	struct morph_refusal refusal = {};
	u32 id, tries;

	fake_fail(fake, 5);
	fake_settle(fake);
	fake_rule(fake, FAKE_LASERS_ON, 0, FAKE_HANG, 0);
	fake_fail(fake, 1);
	wait_for_completion(&fake->silent);
	KUNIT_ASSERT_EQ(fake->test, 0,
			morph_repair_replace_queue(loan->borrower, 1, 4, &id, &refusal));
	for (tries = 0; tries < 500 && !READ_ONCE(loan->borrower->repairing); tries++)
		msleep(20);
	KUNIT_ASSERT_TRUE(fake->test, loan->borrower->repairing);
	return id;
}

static void expect_result(struct fake *fake, u32 id, u32 outcome, int status)
{
	struct morph_txn *txn;

	mutex_lock(&fake->fabric->lock);
	txn = morph_txn_find(fake->fabric, id);
	mutex_unlock(&fake->fabric->lock);
	KUNIT_ASSERT_NOT_NULL(fake->test, txn);
	KUNIT_EXPECT_EQ(fake->test, outcome, txn->outcome);
	KUNIT_EXPECT_EQ(fake->test, status, txn->status);
	morph_txn_put(txn);
	fake_expect_one_holder(fake);
}

/* The spare is lost, and the wanted accelerator, too. Nothing was replaced. */
static void request_for_a_taken_spare_does_not_succeed(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct fake_loan loan = fake_lend(fake, 2);
	u32 id = request_while_taken(fake, &loan);
	struct morph_refusal refusal = {};

	morph_health_cordon(fake->fabric, MORPH_PART_ACCELERATOR, 4, true, &refusal);
	fake_go_on(fake);
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, 1u, loan.borrower->ranks[1].accelerator);
	expect_result(fake, id, MORPH_OUTCOME_ROLLED_BACK, -EBUSY);
}

/* The failover fails and returns the spare. The replacement takes place. */
static void request_outlives_a_failed_failover(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct fake_loan loan = fake_lend(fake, 2);
	u32 id = request_while_taken(fake, &loan);

	morph_fabric_complete(fake->fabric, fake->silent_cookie, -ENOMEM, NULL, 0);
	fake_settle(fake);
	expect_result(fake, id, MORPH_OUTCOME_COMMITTED, 0);
}

/*
 * The borrower is degraded already and has no light, so its bandwidth does not change. It gets the
 * event, and each later one has the reason until the rank works again.
 */
static void lend_ends_with_a_reason_in_each_event(struct kunit *test)
{
	static const u32 accelerators[] = { 3, 4, 2 };
	struct fake *fake = test->priv;
	struct morph_slice *owner = fake_pair(fake, 0, 1, false), *borrower;
	const struct morph_slice_params params = {
		.accelerators = accelerators,
		.count = ARRAY_SIZE(accelerators),
		.failover = MORPH_FAILOVER_MANUAL,
		.lend = true,
		.user = fake->user,
	};
	struct morph_event event;
	u32 circuit;

	borrower = fake_slice_like(fake, &params);
	circuit = fake_light(fake, borrower, 0, 1, MORPH_PLANE_ANY);
	fake_fail(fake, 5);
	fake_fail(fake, 3);
	fake_settle(fake);
	fake_has_event(fake, 1, 0);
	fake_fail(fake, 1);
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, 2u, owner->ranks[1].accelerator);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_EVENT_FAILING, fake_event(fake, 1, &event));
	KUNIT_EXPECT_EQ(test, (u32)MORPH_EVENT_DEGRADED, fake_event(fake, 1, &event));
	KUNIT_EXPECT_EQ(test, (u32)MORPH_OUTCOME_REVOKED, event.outcome);
	fake_return(fake, 3);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_CIRCUIT_LIT, fake_circuit(borrower, circuit)->state);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_EVENT_DEGRADED, fake_event(fake, 1, &event));
	KUNIT_EXPECT_EQ(test, (u32)MORPH_OUTCOME_REVOKED, event.outcome);
	fake_return(fake, 1);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_EVENT_RECOVERED, fake_event(fake, 1, &event));
	KUNIT_EXPECT_EQ(test, (u32)MORPH_OUTCOME_NONE, event.outcome);
}

/* One host with six accelerators and two spares, which are 6 and 7. */
static const struct fake_shape large_host = { .hosts = 1, .each = 8, .spares = 2 };

/* Accelerator 4 and both spares, without circuits. */
static struct morph_slice *borrower_of_both(struct fake *fake)
{
	static const u32 accelerators[] = { 4, 6, 7 };
	const struct morph_slice_params params = {
		.accelerators = accelerators,
		.count = ARRAY_SIZE(accelerators),
		.lend = true,
		.user = fake->user,
	};

	return fake_slice_like(fake, &params);
}

/* The first lent spare cannot receive light. Failover takes the second one. */
static void lend_of_two_spares_leads_to_the_other(struct kunit *test)
{
	struct fake *fake = fake_open(test, &large_host);
	struct morph_slice *owner = fake_pair(fake, 0, 1, false);
	u32 plane;

	borrower_of_both(fake);
	for (plane = 0; plane < FAKE_PLANES; plane++)
		fake_set_health(fake, MORPH_PART_RECEIVER, 6 * FAKE_PLANES + plane,
				MORPH_HEALTH_FAILED);
	fake_fail(fake, 1);
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, 7u, owner->ranks[1].accelerator);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_OK, slice_tenancy(owner)->state);
	fake_expect_one_holder(fake);
	fake_expect_light(fake);
}

/* Return the number of lasers that the failover of an accelerator switches off. */
static u32 dark_writes(struct fake *fake, u32 accelerator)
{
	u32 before = fake->darkened;

	fake_clear(fake);
	fake_fail(fake, accelerator);
	fake_settle(fake);
	return fake->darkened - before;
}

/* A failover to a lent spare with a circuit switches off one more laser. */
static void lend_costs_a_failover_one_dark_write(struct kunit *test)
{
	struct fake *fake = fake_open(test, &large_host);
	struct morph_slice *first = fake_pair(fake, 0, 1, false);
	struct morph_slice *second = fake_pair(fake, 2, 3, false);
	u32 idle, lent;

	fake_pair(fake, 4, 7, true);
	idle = dark_writes(fake, 1);
	KUNIT_EXPECT_EQ(test, 6u, first->ranks[1].accelerator);
	lent = dark_writes(fake, 3);
	KUNIT_EXPECT_EQ(test, 7u, second->ranks[1].accelerator);
	KUNIT_EXPECT_EQ(test, idle + 1, lent);
}

/*
 * A failover is taking one of the two spares of a borrower, and another one would take the second
 * spare. It does not wait for the borrower, which might be waiting for it in turn. It is repeated
 * at the end of the first one.
 */
static void lend_to_two_failovers_does_not_block(struct kunit *test)
{
	struct fake *fake = fake_open(test, &large_host);
	struct morph_slice *first = fake_pair(fake, 0, 1, false);
	struct morph_slice *second = fake_pair(fake, 2, 3, false);
	struct morph_slice *borrower = borrower_of_both(fake);
	bool ended;

	fake_settle(fake);
	fake_rule(fake, FAKE_LASERS_ON, 0, FAKE_HANG, 0);
	fake_fail(fake, 1);
	wait_for_completion(&fake->silent);
	fake_fail(fake, 3);
	ended = wait_event_timeout(second->idle, !READ_ONCE(second->repairing), 10 * HZ);
	KUNIT_EXPECT_TRUE(test, ended);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_DEGRADED, slice_tenancy(second)->state);
	fake_go_on(fake);
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_OK, slice_tenancy(first)->state);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_OK, slice_tenancy(second)->state);
	KUNIT_EXPECT_EQ(test, 13u, first->ranks[1].accelerator + second->ranks[1].accelerator);
	KUNIT_EXPECT_FALSE(test, borrower->busy);
	fake_expect_one_holder(fake);
	fake_expect_light(fake);
}

static struct kunit_case lend_cases[] = {
	KUNIT_CASE(lend_needs_the_flag),
	KUNIT_CASE(lend_of_a_reserved_spare_is_refused),
	KUNIT_CASE(lend_is_charged_and_ends_with_the_slice),
	KUNIT_CASE(lend_leaves_idle_spares_first),
	KUNIT_CASE(lend_ends_for_a_failover),
	KUNIT_CASE(lend_ends_for_the_same_slice),
	KUNIT_CASE(lend_of_a_failed_spare_is_not_renewed),
	KUNIT_CASE(lend_survives_a_failed_failover),
	KUNIT_CASE(lend_of_a_dead_spare_fails_in_its_slice),
	KUNIT_CASE(lend_ends_with_the_slice_during_a_failover),
	KUNIT_CASE(lend_ends_after_the_change_of_its_slice),
	KUNIT_CASE_PARAM(lend_beside_a_requested_replacement, request_cases_gen_params),
	KUNIT_CASE(request_for_a_taken_spare_does_not_succeed),
	KUNIT_CASE(request_outlives_a_failed_failover),
	KUNIT_CASE(lend_ends_with_a_reason_in_each_event),
	{}
};

/* Cases that open a fabric of their own. */
static struct kunit_case lend_between_cases[] = {
	KUNIT_CASE(lend_to_two_failovers_does_not_block),
	KUNIT_CASE(lend_of_two_spares_leads_to_the_other),
	KUNIT_CASE(lend_costs_a_failover_one_dark_write),
	{}
};

struct kunit_suite morph_lend_suite = {
	.name = "morph_lend",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = lend_cases,
};

struct kunit_suite morph_lend_between_suite = {
	.name = "morph_lend_between",
	.exit = fake_exit,
	.test_cases = lend_between_cases,
};

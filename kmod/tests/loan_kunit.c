// SPDX-License-Identifier: GPL-2.0-only
/* Protections that use a lent spare, because no idle one is left. */
#include "fake.h"
#include "joined.h"
#include "suites.h"

/* The lent spare 2 is the only one that is left, and the protections of the owner use it. */
static struct fake_loan lend_last(struct fake *fake)
{
	struct fake_loan loan = fake_lend(fake, 2);

	fake_kill(fake, 5);
	fake_clear(fake);
	return loan;
}

static void expect_protection(struct fake *fake, const struct morph_slice *slice, u32 rank,
			      u32 state, u32 spare)
{
	const struct morph_protection *protection = rank_protection(slice, rank);

	KUNIT_EXPECT_EQ_MSG(fake->test, state, morph_protection_state(protection), "rank %u",
			    rank);
	KUNIT_EXPECT_EQ_MSG(fake->test, spare, protection->spare, "rank %u", rank);
}

/* Expect that the protection moves one circuit, and removes a number of the borrower's ones. */
static void expect_removals(struct fake *fake, const struct morph_slice *slice, u32 rank,
			    u32 removals)
{
	const struct morph_protection *protection = rank_protection(slice, rank);

	KUNIT_ASSERT_NOT_NULL(fake->test, protection->txn);
	KUNIT_EXPECT_EQ(fake->test, 1 + removals, protection->txn->count);
}

static void expect_used(struct fake *fake, u64 used, u64 planned_then)
{
	KUNIT_EXPECT_EQ(fake->test, used, fake_stat(fake, MORPH_STAT_PLANS_USED));
	KUNIT_EXPECT_EQ(fake->test, planned_then, fake_stat(fake, MORPH_STAT_PLANS_INLINE));
}

/* Before protections used lent spares, the failover planned its paths at the failure. */
static void loan_is_prepared(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct fake_loan loan = lend_last(fake);
	u32 i;

	for (i = 0; i < 2; i++) {
		expect_protection(fake, loan.owner, i, MORPH_PLAN_CURRENT, 2);
		expect_removals(fake, loan.owner, i, 1);
	}
	/* It claims nothing, and the borrower keeps its light. */
	KUNIT_EXPECT_EQ(test, 1u, loan.borrower->circuits_count);
	fake_expect_light(fake);
	fake_kill(fake, 1);
	expect_used(fake, 1, 0);
	KUNIT_EXPECT_EQ(test, 2u, loan.owner->ranks[1].accelerator);
	KUNIT_EXPECT_EQ(test, 1u, loan.borrower->ranks[1].accelerator);
	KUNIT_EXPECT_EQ(test, 0u, loan.borrower->circuits_count);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_OK, slice_tenancy(loan.owner)->state);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_DEGRADED, slice_tenancy(loan.borrower)->state);
	KUNIT_EXPECT_FALSE(test, loan.borrower->busy);
	fake_expect_one_holder(fake);
	fake_expect_light(fake);
}

/* The slice itself has the spare. The circuit between both ranks ends. */
static void loan_of_the_same_slice_is_prepared(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slice;

	fake_kill(fake, 5);
	slice = fake_pair(fake, 0, 2, true);
	expect_protection(fake, slice, 0, MORPH_PLAN_CURRENT, 2);
	expect_protection(fake, slice, 1, MORPH_PLAN_NONE, MORPH_ANY);
	fake_kill(fake, 0);
	expect_used(fake, 1, 0);
	KUNIT_EXPECT_EQ(test, 2u, slice->ranks[0].accelerator);
	KUNIT_EXPECT_EQ(test, 0u, slice->ranks[1].accelerator);
	KUNIT_EXPECT_EQ(test, 0u, slice->circuits_count);
	fake_expect_one_holder(fake);
	fake_expect_light(fake);
}

/* The owner has preferred the spare before it was lent, and the preference remains. */
static void loan_of_the_preferred_spare_is_prepared(struct kunit *test)
{
	const struct morph_preference preference = { .rank = 1, .spare = 2 };
	struct fake *fake = test->priv;
	struct morph_slice *owner = fake_pair(fake, 0, 1, false);
	struct morph_refusal refusal = {};

	KUNIT_ASSERT_EQ(test, 0, morph_repair_prefer(owner, &preference, 1, &refusal));
	fake_pair(fake, 3, 2, true);
	fake_kill(fake, 5);
	expect_protection(fake, owner, 1, MORPH_PLAN_CURRENT, 2);
	fake_kill(fake, 1);
	KUNIT_EXPECT_EQ(test, 2u, owner->ranks[1].accelerator);
	fake_expect_one_holder(fake);
	fake_expect_light(fake);
}

static int run_change(struct fake *fake, struct morph_slice *slice, struct morph_change change)
{
	struct morph_txn *txn = fake_txn(fake, slice, &change, 1, 0);
	int ret = morph_txn_run(txn);

	morph_txn_put(txn);
	return ret;
}

/* The protection follows each change of the borrower's circuits at the spare. */
static void loan_follows_the_circuits_of_its_borrower(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct fake_loan loan = lend_last(fake);
	u32 first = fake_only_circuit(loan.borrower)->id;

	fake_light(fake, loan.borrower, 1, 0, MORPH_PLANE_ANY);
	fake_settle(fake);
	expect_protection(fake, loan.owner, 1, MORPH_PLAN_CURRENT, 2);
	expect_removals(fake, loan.owner, 1, 2);
	KUNIT_ASSERT_EQ(test, 0, run_change(fake, loan.borrower, fake_remove(first)));
	fake_settle(fake);
	expect_removals(fake, loan.owner, 1, 1);
	KUNIT_EXPECT_NE(test, first, rank_protection(loan.owner, 1)->txn->items[1].change.circuit);
	fake_kill(fake, 1);
	expect_used(fake, 1, 0);
	KUNIT_EXPECT_EQ(test, 0u, loan.borrower->circuits_count);
	fake_expect_one_holder(fake);
	fake_expect_light(fake);
}

/* The borrower has a new circuit at the spare, and the worker has not rebuilt the protection. */
static void loan_is_stale_at_once(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct fake_loan loan = lend_last(fake);
	struct morph_fabric *fabric = fake->fabric;

	mutex_lock(&fabric->lock);
	morph_protection_touch_rank(loan.borrower, 1);	/* as the publication does */
	KUNIT_EXPECT_EQ(test, (u32)MORPH_PLAN_STALE,
			morph_protection_state(rank_protection(loan.owner, 1)));
	KUNIT_EXPECT_NULL(test, morph_protection_take(loan.owner, 1, 2));
	mutex_unlock(&fabric->lock);
	fake_settle(fake);
	expect_protection(fake, loan.owner, 1, MORPH_PLAN_CURRENT, 2);
}

/* The failover revokes what the borrower has prepared, and uses the protection. */
static void loan_is_used_beside_a_prepared_change(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct fake_loan loan = lend_last(fake);
	struct morph_txn *txn = fake_prepare(fake, loan.borrower);

	expect_protection(fake, loan.owner, 1, MORPH_PLAN_CURRENT, 2);
	fake_kill(fake, 1);
	expect_used(fake, 1, 0);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_OUTCOME_REVOKED, txn->outcome);
	KUNIT_EXPECT_EQ(test, 2u, loan.owner->ranks[1].accelerator);
	fake_expect_one_holder(fake);
	fake_expect_light(fake);
	morph_txn_put(txn);
}

/* A protection that must be rebuilt waits until the borrower has no prepared change. */
static void loan_waits_for_a_prepared_change(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct fake_loan loan = lend_last(fake);
	struct morph_txn *txn = fake_prepare(fake, loan.borrower);
	u32 circuit = fake_only_circuit(loan.owner)->id;
	struct morph_refusal refusal = {};

	KUNIT_ASSERT_EQ(test, 0, run_change(fake, loan.owner, fake_move(circuit, 1)));
	fake_settle(fake);
	expect_protection(fake, loan.owner, 1, MORPH_PLAN_STALE, 2);
	KUNIT_EXPECT_EQ(test, 0, morph_txn_step(txn, MORPH_TXN_REVERT, 0, &refusal));
	morph_txn_put(txn);
	fake_settle(fake);
	expect_protection(fake, loan.owner, 1, MORPH_PLAN_CURRENT, 2);
	expect_removals(fake, loan.owner, 1, 1);
}

/* The same, and an idle spare comes first. */
static void loan_does_not_wait_beside_an_idle_spare(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct fake_loan loan = lend_last(fake);
	struct morph_txn *txn = fake_prepare(fake, loan.borrower);
	u32 circuit = fake_only_circuit(loan.owner)->id;

	KUNIT_ASSERT_EQ(test, 0, run_change(fake, loan.owner, fake_move(circuit, 1)));
	fake_settle(fake);
	fake_return(fake, 5);
	expect_protection(fake, loan.owner, 1, MORPH_PLAN_CURRENT, 5);
	morph_txn_put(txn);
}

/* An idle spare comes. The protection uses that, and the borrower keeps the lent one. */
static void loan_gives_way_to_an_idle_spare(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct fake_loan loan = lend_last(fake);

	fake_return(fake, 5);
	expect_protection(fake, loan.owner, 1, MORPH_PLAN_CURRENT, 5);
	expect_removals(fake, loan.owner, 1, 0);
	fake_kill(fake, 1);
	expect_used(fake, 1, 0);
	KUNIT_EXPECT_EQ(test, 5u, loan.owner->ranks[1].accelerator);
	KUNIT_EXPECT_EQ(test, 1u, loan.borrower->circuits_count);
	fake_expect_light(fake);
}

/* The same, and the rank fails before the worker has rebuilt the protection. */
static void loan_is_not_used_if_an_idle_spare_has_come(struct kunit *test)
{
	struct morph_culprit culprit = { .part = MORPH_PART_ACCELERATOR, .index = 5 };
	struct fake *fake = test->priv;
	struct fake_loan loan = lend_last(fake);

	fake->dead[5] = false;
	fake->dead[1] = true;
	mutex_lock(&fake->fabric->lock);
	ledger_of(fake->fabric)->chips[5].hold_until_ns = 0;
	morph_health_set(fake->fabric, &culprit, MORPH_HEALTH_OK, 0);
	culprit.index = 1;
	morph_health_set(fake->fabric, &culprit, MORPH_HEALTH_FAILED, 0);
	mutex_unlock(&fake->fabric->lock);
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, 5u, loan.owner->ranks[1].accelerator);
	KUNIT_EXPECT_EQ(test, 1u, loan.borrower->circuits_count);
	fake_expect_one_holder(fake);
	fake_expect_light(fake);
}

static void release(struct fake *fake, struct morph_slice *slice)
{
	mutex_lock(&fake->fabric->lock);
	morph_slice_release(slice, 0);
	mutex_unlock(&fake->fabric->lock);
}

/* The borrower ends and returns the spare. The protection removes nothing any more. */
static void loan_ends_with_its_borrower(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct fake_loan loan = lend_last(fake);

	release(fake, loan.borrower);
	fake_settle(fake);
	expect_protection(fake, loan.owner, 1, MORPH_PLAN_CURRENT, 2);
	expect_removals(fake, loan.owner, 1, 0);
	fake_kill(fake, 1);
	expect_used(fake, 1, 0);
	KUNIT_EXPECT_EQ(test, 2u, loan.owner->ranks[1].accelerator);
	fake_expect_one_holder(fake);
	fake_expect_light(fake);
}

/* The borrower begins to end, and the rank fails at the same time. It gets the spare afterwards. */
static void loan_is_not_used_while_its_borrower_ends(struct kunit *test)
{
	struct morph_culprit culprit = { .part = MORPH_PART_ACCELERATOR, .index = 1 };
	struct fake *fake = test->priv;
	struct fake_loan loan = lend_last(fake);

	fake->dead[1] = true;
	mutex_lock(&fake->fabric->lock);
	morph_slice_release(loan.borrower, 0);
	KUNIT_EXPECT_NULL(test, morph_protection_take(loan.owner, 1, 2));
	morph_health_set(fake->fabric, &culprit, MORPH_HEALTH_FAILED, 0);
	mutex_unlock(&fake->fabric->lock);
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, 2u, loan.owner->ranks[1].accelerator);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_OK, slice_tenancy(loan.owner)->state);
	fake_expect_one_holder(fake);
	fake_expect_light(fake);
}

/* Two protections use the spare. The first failover takes it, and the other rank has none. */
static void loan_serves_one_of_two_protections(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct fake_loan loan = lend_last(fake);

	fake_kill(fake, 1);
	expect_used(fake, 1, 0);
	expect_protection(fake, loan.owner, 0, MORPH_PLAN_NONE, MORPH_ANY);
	expect_protection(fake, loan.owner, 1, MORPH_PLAN_NONE, MORPH_ANY);
	fake_kill(fake, 0);
	KUNIT_EXPECT_EQ(test, 0u, loan.owner->ranks[0].accelerator);
	KUNIT_EXPECT_EQ(test, 2u, loan.owner->ranks[1].accelerator);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_DEGRADED, slice_tenancy(loan.owner)->state);
	fake_expect_one_holder(fake);
}

/* One host with six accelerators and two spares, which are 6 and 7. */
static const struct fake_shape large_host = { .hosts = 1, .each = 8, .spares = 2 };

/* The protections of two slices use the same spare, and a rank of each fails at the same time. */
static void loan_serves_one_of_two_slices(struct kunit *test)
{
	struct morph_culprit culprit = { .part = MORPH_PART_ACCELERATOR };
	struct fake *fake = fake_open(test, &large_host);
	struct morph_slice *slices[2];
	u32 i, replaced = 0;

	for (i = 0; i < 2; i++)
		slices[i] = fake_pair(fake, 2 * i, 2 * i + 1, false);
	fake_pair(fake, 4, 6, true);
	fake_kill(fake, 7);
	for (i = 0; i < 2; i++)
		expect_protection(fake, slices[i], 1, MORPH_PLAN_CURRENT, 6);
	mutex_lock(&fake->fabric->lock);
	for (i = 0; i < 2; i++) {
		culprit.index = slices[i]->ranks[1].accelerator;
		fake->dead[culprit.index] = true;
		morph_health_set(fake->fabric, &culprit, MORPH_HEALTH_FAILED, 0);
	}
	mutex_unlock(&fake->fabric->lock);
	fake_settle(fake);
	for (i = 0; i < 2; i++)
		replaced += slices[i]->ranks[1].accelerator == 6;
	KUNIT_EXPECT_EQ(test, 1u, replaced);
	KUNIT_EXPECT_EQ(test, 1ULL, fake_stat(fake, MORPH_STAT_PLANS_USED));
	fake_expect_one_holder(fake);
}

/* The device fails. The borrower has its spare and light again, and the protection is rebuilt. */
static void loan_survives_a_failed_failover(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct fake_loan loan = lend_last(fake);

	fake_rule(fake, FAKE_LASERS_ON, 0, FAKE_ERROR, -ENOMEM);
	fake_kill(fake, 1);
	KUNIT_EXPECT_EQ(test, 2u, loan.borrower->ranks[1].accelerator);
	KUNIT_EXPECT_EQ(test, 1u, loan.borrower->circuits_count);
	KUNIT_EXPECT_FALSE(test, loan.borrower->busy);
	expect_protection(fake, loan.owner, 1, MORPH_PLAN_CURRENT, 2);
	expect_removals(fake, loan.owner, 1, 1);
	fake_expect_one_holder(fake);
}

static struct kunit_case loan_cases[] = {
	KUNIT_CASE(loan_is_prepared),
	KUNIT_CASE(loan_of_the_same_slice_is_prepared),
	KUNIT_CASE(loan_of_the_preferred_spare_is_prepared),
	KUNIT_CASE(loan_follows_the_circuits_of_its_borrower),
	KUNIT_CASE(loan_is_stale_at_once),
	KUNIT_CASE(loan_is_used_beside_a_prepared_change),
	KUNIT_CASE(loan_waits_for_a_prepared_change),
	KUNIT_CASE(loan_does_not_wait_beside_an_idle_spare),
	KUNIT_CASE(loan_gives_way_to_an_idle_spare),
	KUNIT_CASE(loan_is_not_used_if_an_idle_spare_has_come),
	KUNIT_CASE(loan_ends_with_its_borrower),
	KUNIT_CASE(loan_is_not_used_while_its_borrower_ends),
	KUNIT_CASE(loan_serves_one_of_two_protections),
	KUNIT_CASE(loan_survives_a_failed_failover),
	{}
};

/* A case that opens a fabric of its own. */
static struct kunit_case loan_between_cases[] = {
	KUNIT_CASE(loan_serves_one_of_two_slices),
	{}
};

struct kunit_suite morph_loan_suite = {
	.name = "morph_loan",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = loan_cases,
};

struct kunit_suite morph_loan_between_suite = {
	.name = "morph_loan_between",
	.exit = fake_exit,
	.test_cases = loan_between_cases,
};

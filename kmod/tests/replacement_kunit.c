// SPDX-License-Identifier: GPL-2.0-only
/* Requests of a slice's owner about a rank: replacement, failback, report. */
#include "fake.h"
#include "joined.h"
#include "suites.h"

/*
 * The dead accelerator gets the only spare. The one that the user wants to replace stays, with a
 * circuit to the spare.
 */
static void failover_beside_a_wish_in_vain(struct kunit *test)
{
	struct morph_culprit culprit = { .part = MORPH_PART_ACCELERATOR };
	struct fake *fake = test->priv;
	struct morph_slice *slice = fake_joined(fake, MORPH_FAILOVER_AUTOMATIC, MORPH_SPARES_HOST);

	fake->dead[0] = true;
	mutex_lock(&fake->fabric->lock);
	morph_health_set(fake->fabric, &culprit, MORPH_HEALTH_FAILED, 0);
	slice->ranks[1].failed = true;		/* as morph_repair_replace() does */
	rank_recovery(slice, 1)->forced = true;
	mutex_unlock(&fake->fabric->lock);
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, 2u, slice->ranks[0].accelerator);
	KUNIT_EXPECT_EQ(test, 1u, slice->ranks[1].accelerator);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_OK, slice_tenancy(slice)->state);
	fake_expect_ends(test, fake_only_circuit(slice), 2, 1);
	fake_expect_light(fake);
}

struct vain_case {
	const char *name;
	int error;		/* of the device */
	int answer;
};

static const struct vain_case vain_cases[] = {
	{ "the device has no memory, and the event reports it", -ENOMEM, -ENOMEM },
	{ "the device failed: no spare could be lit", -EIO, -EBUSY },
};

FAKE_CASE_DESC(vain_cases, name);

/* A request for a replacement gets the reason why there is no spare. */
static void failed_replacement_reports_its_reason(struct kunit *test)
{
	const struct vain_case *param = test->param_value;
	struct morph_refusal refusal = {};
	struct fake *fake = test->priv;
	struct morph_slice *slice = fake_joined(fake, MORPH_FAILOVER_AUTOMATIC, MORPH_SPARES_HOST);
	u32 state, health;

	fake_rule(fake, FAKE_SET_ELEMENTS, FAKE_ALWAYS, FAKE_ERROR, param->error);
	KUNIT_EXPECT_EQ(test, param->answer, morph_repair_replace(slice, 1, MORPH_ANY, &state,
								  &health, &refusal));
	KUNIT_EXPECT_EQ(test, 1u, slice->ranks[1].accelerator);
}

/*
 * After its repair the owner returns to the first accelerator of a rank, which is not among the
 * spares that the slice allows. No other accelerator beside these is accepted.
 */
static void failback_goes_to_the_first_accelerator(struct kunit *test)
{
	static const u32 accelerators[] = { 0, 1 }, spares[] = { 5 };
	struct fake *fake = test->priv;
	const struct morph_slice_params params = {
		.accelerators = accelerators,
		.count = ARRAY_SIZE(accelerators),
		.spare_policy = MORPH_SPARES_LIST,
		.spares = spares,
		.spares_count = ARRAY_SIZE(spares),
		.user = fake->user,
	};
	struct morph_slice *slice = fake_joined_like(fake, &params);
	struct morph_refusal refusal = {};
	u32 state, health;

	fake_kill(fake, 1);
	KUNIT_ASSERT_EQ(test, 5u, slice->ranks[1].accelerator);
	KUNIT_EXPECT_EQ(test, -EBUSY,
			morph_repair_replace(slice, 1, 1, &state, &health, &refusal));
	fake->dead[1] = false;
	fake_set_health(fake, MORPH_PART_ACCELERATOR, 1, MORPH_HEALTH_OK);
	mutex_lock(&fake->fabric->lock);
	ledger_of(fake->fabric)->chips[1].hold_until_ns = 0;
	mutex_unlock(&fake->fabric->lock);
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, 5u, slice->ranks[1].accelerator);
	KUNIT_EXPECT_EQ(test, -EBUSY,
			morph_repair_replace(slice, 1, 2, &state, &health, &refusal));
	KUNIT_EXPECT_EQ(test, 0, morph_repair_replace(slice, 1, 1, &state, &health, &refusal));
	KUNIT_EXPECT_EQ(test, 1u, slice->ranks[1].accelerator);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_OK, slice_tenancy(slice)->state);
	fake_expect_light(fake);
}

/* The device cannot read a heartbeat. The core reports that, and marks nothing. */
static void report_needs_an_answer(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slice = fake_joined(fake, MORPH_FAILOVER_AUTOMATIC, MORPH_SPARES_HOST);
	struct morph_refusal refusal = {};
	u32 state, health;

	fake_rule(fake, FAKE_PROBE, 0, FAKE_ERROR, -EREMOTEIO);
	KUNIT_EXPECT_EQ(test, -EREMOTEIO,
			morph_repair_report(slice, 0, &state, &health, &refusal));
	KUNIT_EXPECT_EQ(test, (u32)MORPH_PART_ACCELERATOR, refusal.part);
	KUNIT_EXPECT_EQ(test, (u8)MORPH_HEALTH_OK, ledger_of(fake->fabric)->chips[0].health);
	KUNIT_EXPECT_EQ(test, 0, morph_repair_report(slice, 0, &state, &health, &refusal));
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_OK, state);
	KUNIT_EXPECT_EQ(test, 0u, slice->ranks[0].accelerator);
}

static struct kunit_case replacement_cases[] = {
	KUNIT_CASE(failover_beside_a_wish_in_vain),
	KUNIT_CASE_PARAM(failed_replacement_reports_its_reason, vain_cases_gen_params),
	KUNIT_CASE(failback_goes_to_the_first_accelerator),
	KUNIT_CASE(report_needs_an_answer),
	{}
};

struct kunit_suite morph_replacement_suite = {
	.name = "morph_replacement",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = replacement_cases,
};

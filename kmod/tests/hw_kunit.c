// SPDX-License-Identifier: GPL-2.0-only
/* Operations of the provider: their results for each kind of answer, and cookies. */
#include "fake.h"
#include "suites.h"

struct answer_case {
	const char *name;
	enum fake_answer answer;
	int error;
	int result;		/* of the operation */
	u32 errors, timeouts;	/* counters */
	u32 late;		/* completions without a waiting operation */
};

static const struct answer_case answer_cases[] = {
	{ "inline", FAKE_NOW, 0, 0, 0, 0, 0 },
	{ "inline error", FAKE_ERROR, -EREMOTEIO, -EREMOTEIO, 1, 0, 0 },
	{ "positive number", FAKE_ODD, 0, -EIO, 1, 0, 0 },
	{ "later", FAKE_LATER, 0, 0, 0, 0, 0 },
	{ "later with an error", FAKE_LATER_ERROR, -EREMOTEIO, -EREMOTEIO, 1, 0, 0 },
	{ "completed before it returns", FAKE_INSIDE, 0, 0, 0, 0, 0 },
	{ "completed with an error before it returns", FAKE_INSIDE, -EREMOTEIO, -EREMOTEIO, 1, 0,
	  0 },
	{ "completed and returned as done", FAKE_BOTH, 0, 0, 0, 0, 0 },
	{ "completed with an error and returned as done", FAKE_BOTH, -EREMOTEIO, -EREMOTEIO, 1, 0,
	  0 },
	{ "completed twice", FAKE_TWICE, 0, 0, 0, 0, 1 },
	{ "completed after one without a request", FAKE_FOREIGN, 0, 0, 0, 0, 1 },
	{ "never", FAKE_SILENT, 0, -ETIMEDOUT, 1, 1, 0 },
};

FAKE_CASE_DESC(answer_cases, name);

static void hw_expect_counted(struct fake *fake, const struct answer_case *param)
{
	KUNIT_EXPECT_EQ(fake->test, (u64)param->errors,
			fake_stat(fake, MORPH_STAT_PROVIDER_ERRORS));
	KUNIT_EXPECT_EQ(fake->test, (u64)param->timeouts,
			fake_stat(fake, MORPH_STAT_PROVIDER_TIMEOUTS));
	flush_workqueue(fake->queue);
	KUNIT_EXPECT_EQ(fake->test, (u64)param->late,
			fake_stat(fake, MORPH_STAT_LATE_COMPLETIONS));
}

/* A read returns its data with the completion, and only with a successful one. */
static void hw_read_answered(struct kunit *test)
{
	const struct answer_case *param = test->param_value;
	struct morph_probe probes[2] = { { .accelerator = 1 }, { .accelerator = 2 } };
	struct fake *fake = test->priv;

	fake->dead[2] = true;
	fake_rule(fake, FAKE_PROBE, 0, param->answer, param->error);
	KUNIT_EXPECT_EQ(test, param->result, morph_hw_probe(fake->fabric, NULL, probes, 2));
	if (!param->result) {
		KUNIT_EXPECT_EQ(test, 1u, probes[0].alive);
		KUNIT_EXPECT_EQ(test, 0u, probes[1].alive);
		KUNIT_EXPECT_EQ(test, 2u, probes[1].accelerator);
	}
	hw_expect_counted(fake, param);
}

/* Data of a wrong size are an error. */
static void hw_short_answer_is_an_error(struct kunit *test)
{
	struct morph_probe probe = { .accelerator = 1 };
	struct fake *fake = test->priv;

	fake_rule(fake, FAKE_PROBE, 0, FAKE_SHORT, 0);
	KUNIT_EXPECT_EQ(test, -EIO, morph_hw_probe(fake->fabric, NULL, &probe, 1));
}

static void hw_write_answered(struct kunit *test)
{
	const struct answer_case *param = test->param_value;
	const struct morph_element_setting setting = { .element = 3, .state = 2 };
	struct fake *fake = test->priv;

	fake_rule(fake, FAKE_SET_ELEMENTS, 0, param->answer, param->error);
	KUNIT_EXPECT_EQ(test, param->result,
			morph_hw_set_elements(fake->fabric, NULL, &setting, 1));
	hw_expect_counted(fake, param);
}

/* The same for a transaction, which uses one record for all of its operations. */
static void hw_transaction_goes_on(struct kunit *test)
{
	const struct answer_case *param = test->param_value;
	struct morph_probe probe = { .accelerator = 1 };
	struct fake *fake = test->priv;
	struct morph_txn *txn = morph_txn_alloc_bare(fake->fabric, 0, GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, txn);
	fake_rule(fake, FAKE_PROBE, 1, param->answer, param->error);
	KUNIT_EXPECT_EQ(test, 0, morph_hw_probe(fake->fabric, &txn->session, &probe, 1));
	KUNIT_EXPECT_EQ(test, param->result,
			morph_hw_probe(fake->fabric, &txn->session, &probe, 1));
	probe = (struct morph_probe){ .accelerator = 1 };
	KUNIT_EXPECT_EQ(test, 0, morph_hw_probe(fake->fabric, &txn->session, &probe, 1));
	KUNIT_EXPECT_EQ(test, 1u, probe.alive);
	hw_expect_counted(fake, param);
	morph_hw_done(txn->fabric, &txn->session);
	morph_txn_put(txn);
}

static void hw_late_completion_is_discarded(struct kunit *test)
{
	struct morph_probe probe = { .accelerator = 1 }, wrong = { .accelerator = 7 };
	struct fake *fake = test->priv;

	fake_rule(fake, FAKE_PROBE, 0, FAKE_SILENT, 0);
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT, morph_hw_probe(fake->fabric, NULL, &probe, 1));
	morph_fabric_complete(fake->fabric, fake->silent_cookie, 0, &wrong, sizeof(wrong));
	KUNIT_EXPECT_EQ(test, 1ULL, fake_stat(fake, MORPH_STAT_LATE_COMPLETIONS));
	KUNIT_EXPECT_EQ(test, 1u, probe.accelerator);
}

/* An operation that timed out completes during the next operation of the same transaction. */
static void hw_late_completion_spares_the_next(struct kunit *test)
{
	struct morph_probe probe = { .accelerator = 1 };
	struct fake *fake = test->priv;
	struct morph_txn *txn = morph_txn_alloc_bare(fake->fabric, 0, GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, txn);
	fake_rule(fake, FAKE_PROBE, 0, FAKE_SILENT, 0);
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT, morph_hw_probe(fake->fabric, &txn->session, &probe, 1));
	fake_rule(fake, FAKE_PROBE, 0, FAKE_STALE, 0);
	KUNIT_EXPECT_EQ(test, 0, morph_hw_probe(fake->fabric, &txn->session, &probe, 1));
	KUNIT_EXPECT_EQ(test, 1u, probe.alive);
	KUNIT_EXPECT_EQ(test, 1ULL, fake_stat(fake, MORPH_STAT_LATE_COMPLETIONS));
	morph_hw_done(txn->fabric, &txn->session);
	morph_txn_put(txn);
}

/* More operations than a transaction's record has cookies (16 bits). */
static void hw_cookies_only_rise(struct kunit *test)
{
	struct morph_probe probe = { .accelerator = 1 };
	struct fake *fake = test->priv;
	struct morph_txn *txn = morph_txn_alloc_bare(fake->fabric, 0, GFP_KERNEL);
	u64 first;
	u32 i;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, txn);
	KUNIT_EXPECT_EQ(test, 0, morph_hw_probe(fake->fabric, &txn->session, &probe, 1));
	first = fake->last_cookie;
	txn->session.op.calls = 0xfffd;
	for (i = 0; i < 6; i++)
		KUNIT_EXPECT_EQ(test, 0, morph_hw_probe(fake->fabric, &txn->session, &probe, 1));
	KUNIT_EXPECT_FALSE(test, fake->cookie_fell);
	KUNIT_EXPECT_GT(test, fake->last_cookie >> 16, first >> 16);
	morph_hw_done(txn->fabric, &txn->session);
	morph_txn_put(txn);
}

static void hw_nothing_is_asked_for_nothing(struct kunit *test)
{
	struct fake *fake = test->priv;

	KUNIT_EXPECT_EQ(test, 0, morph_hw_set_lasers(fake->fabric, NULL, NULL, 0));
	KUNIT_EXPECT_EQ(test, 0, morph_hw_wait(fake->fabric, 0));
	KUNIT_EXPECT_STREQ(test, "", (const char *)fake->log);
}

/* An operation with the provider's own deadline has no other deadline. */
static void hw_wait_ends_with_the_provider(struct kunit *test)
{
	struct fake *fake = test->priv;

	fake_rule(fake, FAKE_WAIT, 0, FAKE_LATER, 0);
	KUNIT_EXPECT_EQ(test, 0, morph_hw_wait(fake->fabric, 1000));
	fake_rule(fake, FAKE_WAIT, 0, FAKE_LATER_ERROR, -EREMOTEIO);
	KUNIT_EXPECT_EQ(test, -EREMOTEIO, morph_hw_wait(fake->fabric, 1000));
	KUNIT_EXPECT_EQ(test, 0ULL, fake_stat(fake, MORPH_STAT_PROVIDER_TIMEOUTS));
}

/* After shutdown(), lasers go off and cannot be switched on. */
static void hw_shutdown_lets_no_light_on(struct kunit *test)
{
	struct morph_laser_setting setting = { .port = 1, .lanes = 1 };
	struct fake *fake = test->priv;

	KUNIT_EXPECT_EQ(test, 0, morph_hw_set_lasers(fake->fabric, NULL, &setting, 1));
	morph_fabric_shutdown(fake->fabric);
	KUNIT_EXPECT_EQ(test, 0ULL, fake->laser[1]);
	KUNIT_EXPECT_EQ(test, -ENODEV, morph_hw_set_lasers(fake->fabric, NULL, &setting, 1));
	setting.lanes = 0;
	KUNIT_EXPECT_EQ(test, 0, morph_hw_set_lasers(fake->fabric, NULL, &setting, 1));
}

static void hw_is_gone_after_unregister(struct kunit *test)
{
	struct morph_probe probe = { .accelerator = 1 };
	struct fake *fake = test->priv;

	morph_fabric_unregister(fake->fabric);
	fake->registered = false;
	fake_clear(fake);
	KUNIT_EXPECT_EQ(test, -ENODEV, morph_hw_probe(fake->fabric, NULL, &probe, 1));
	KUNIT_EXPECT_EQ(test, -ENODEV, morph_hw_wait(fake->fabric, 1000));
	KUNIT_EXPECT_STREQ(test, "", (const char *)fake->log);
}

static struct kunit_case hw_cases[] = {
	KUNIT_CASE_PARAM(hw_read_answered, answer_cases_gen_params),
	KUNIT_CASE_PARAM(hw_write_answered, answer_cases_gen_params),
	KUNIT_CASE_PARAM(hw_transaction_goes_on, answer_cases_gen_params),
	KUNIT_CASE(hw_short_answer_is_an_error),
	KUNIT_CASE(hw_late_completion_is_discarded),
	KUNIT_CASE(hw_late_completion_spares_the_next),
	KUNIT_CASE(hw_cookies_only_rise),
	KUNIT_CASE(hw_nothing_is_asked_for_nothing),
	KUNIT_CASE(hw_wait_ends_with_the_provider),
	KUNIT_CASE(hw_shutdown_lets_no_light_on),
	KUNIT_CASE(hw_is_gone_after_unregister),
	{}
};

struct kunit_suite morph_hw_suite = {
	.name = "morph_hw",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = hw_cases,
};

// SPDX-License-Identifier: GPL-2.0-only
/* Refusals: the message, and the numbers that programs get with it. */
#include "fake.h"
#include "suites.h"

struct sentence_case {
	const char *text;
	struct optics_refusal why;
	int error;
};

static const struct sentence_case sentence_cases[] = {
	{ "guide 7 has 1 of the 4 lanes that are needed free",
	  { OPTICS_LANES, OPTICS_PART_GUIDE, 7, 0, 1, 4 }, -ENOSPC },
	{ "transmit port 3 has 0 of the 1 lanes that are needed free",
	  { OPTICS_LANES, OPTICS_PART_LASER, 3, 0, 0, 1 }, -ENOSPC },
	{ "element 9 is pinned in state 2, state 0 is needed",
	  { OPTICS_ELEMENT_PINNED, OPTICS_PART_ELEMENT, 9, 0, 2, 0 }, -EBUSY },
	{ "the margin at receive port 5 would be -1.005 dB, 3.000 dB are needed",
	  { OPTICS_MARGIN, OPTICS_PART_RECEIVER, 5, 0, -1005, 3000 }, -ERANGE },
	{ "the margin at receive port 5 would be -0.050 dB, 3.000 dB are needed",
	  { OPTICS_MARGIN, OPTICS_PART_RECEIVER, 5, 0, -50, 3000 }, -ERANGE },
	{ "12.500 dBm would arrive at edge port 1, which bears 10.000 dBm",
	  { OPTICS_OVERLOAD, OPTICS_PART_EDGE, 1, 0, 12500, 10000 }, -ERANGE },
	{ "the isolation at receive port 0 would be 19.999 dB, 20.000 dB are needed",
	  { OPTICS_ISOLATION, OPTICS_PART_RECEIVER, 0, 0, 19999, 20000 }, -EXDEV },
	{ "a transmit or receive port is in use: receive port 4",
	  { OPTICS_PORT_BUSY, OPTICS_PART_RECEIVER, 4, 0, 0, 0 }, -EBUSY },
	{ "no route exists, whoever holds what",
	  { OPTICS_NO_ROUTE, OPTICS_PART_NONE, 0, 0, 0, 0 }, -EHOSTUNREACH },
	{ "an unknown rule was broken",
	  { 9999, OPTICS_PART_NONE, 0, 0, 0, 0 }, -EINVAL },
};

FAKE_CASE_DESC(sentence_cases, text);

static void refusal_passes_on_the_optics(struct kunit *test)
{
	const struct sentence_case *param = test->param_value;
	struct morph_refusal refusal = {};

	KUNIT_EXPECT_EQ(test, param->error, morph_refuse_optics(&refusal, 0, &param->why));
	KUNIT_EXPECT_STREQ(test, param->text, (const char *)refusal.text);
	KUNIT_EXPECT_EQ(test, param->error, refusal.error);
	KUNIT_EXPECT_EQ(test, param->why.reason, refusal.reason);
	KUNIT_EXPECT_EQ(test, param->why.part, refusal.part);
	KUNIT_EXPECT_EQ(test, param->why.index, refusal.index);
	KUNIT_EXPECT_EQ(test, param->why.have, refusal.have);
	KUNIT_EXPECT_EQ(test, param->why.need, refusal.need);
}

static void refusal_takes_the_callers_error(struct kunit *test)
{
	const struct optics_refusal why = { .reason = OPTICS_BLOCKED };
	struct morph_refusal refusal = {};

	KUNIT_EXPECT_EQ(test, -EDOM, morph_refuse_optics(&refusal, -EDOM, &why));
	KUNIT_EXPECT_EQ(test, -EDOM, refusal.error);
}

static void refusal_may_have_no_listener(struct kunit *test)
{
	const struct optics_refusal why = { .reason = OPTICS_BLOCKED };

	KUNIT_EXPECT_EQ(test, -EDOM, morph_refuse(NULL, -EDOM, 0, 0, 0, "%u", 1));
	KUNIT_EXPECT_EQ(test, -EDOM, morph_refuse_fixed(NULL, -EDOM, 0, 0, 0, "a", "%u", 1));
	KUNIT_EXPECT_EQ(test, -EBUSY, morph_refuse_optics(NULL, 0, &why));
}

/*
 * Where numbers cannot be passed, the message has a form without them, or is complete if there is
 * no such form.
 */
static void refusal_has_a_fixed_sentence(struct kunit *test)
{
	static const char *const sentence = "the lease has run out";
	struct morph_refusal refusal = {};

	morph_refuse(&refusal, -ETIME, MORPH_REASON_STATE, 0, 0, sentence);
	KUNIT_EXPECT_PTR_EQ(test, sentence, refusal.fixed);
	morph_refuse(&refusal, -ETIME, MORPH_REASON_STATE, 0, 0, "%u have run out", 3);
	KUNIT_EXPECT_NULL(test, refusal.fixed);
	KUNIT_EXPECT_STREQ(test, "3 have run out", (const char *)refusal.text);
	morph_refuse_fixed(&refusal, -ETIME, MORPH_REASON_STATE, 0, 0, sentence, "%u ran out", 3);
	KUNIT_EXPECT_PTR_EQ(test, sentence, refusal.fixed);
	KUNIT_EXPECT_STREQ(test, "3 ran out", (const char *)refusal.text);
}

/* A refusal does not contain numbers of an earlier one. */
static void refusal_forgets_the_last(struct kunit *test)
{
	struct morph_refusal refusal = { .have = 5, .need = 6, .item = 7 };

	morph_refuse(&refusal, -EINVAL, MORPH_REASON_ARGUMENT, MORPH_PART_GUIDE, 8, "no");
	KUNIT_EXPECT_EQ(test, 0LL, refusal.have);
	KUNIT_EXPECT_EQ(test, 0LL, refusal.need);
	KUNIT_EXPECT_EQ(test, MORPH_ANY, refusal.item);
	KUNIT_EXPECT_EQ(test, 8u, refusal.index);
}

static void refusal_text_is_cut_not_overrun(struct kunit *test)
{
	struct morph_refusal refusal = {};
	char *name = kunit_kzalloc(test, 400, GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, name);
	memset(name, 'x', 399);
	morph_refuse(&refusal, -EINVAL, MORPH_REASON_ARGUMENT, 0, 0, "%s", name);
	KUNIT_EXPECT_EQ(test, sizeof(refusal.text) - 1, strlen(refusal.text));
}

static struct kunit_case refusal_cases[] = {
	KUNIT_CASE_PARAM(refusal_passes_on_the_optics, sentence_cases_gen_params),
	KUNIT_CASE(refusal_takes_the_callers_error),
	KUNIT_CASE(refusal_may_have_no_listener),
	KUNIT_CASE(refusal_has_a_fixed_sentence),
	KUNIT_CASE(refusal_forgets_the_last),
	KUNIT_CASE(refusal_text_is_cut_not_overrun),
	{}
};

struct kunit_suite morph_refusal_suite = {
	.name = "morph_refusal",
	.test_cases = refusal_cases,
};

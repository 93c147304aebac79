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
	{ "transmit port 0.3 has 0 of the 1 lanes that are needed free",
	  { OPTICS_LANES, OPTICS_PART_LASER, 3, 0, 0, 1, 4 }, -ENOSPC },
	{ "element 9 is pinned in state 2, state 0 is needed",
	  { OPTICS_ELEMENT_PINNED, OPTICS_PART_ELEMENT, 9, 0, 2, 0 }, -EBUSY },
	{ "the margin at receive port 1.1 would be -1.005 dB, 3.000 dB are needed",
	  { OPTICS_MARGIN, OPTICS_PART_RECEIVER, 5, 0, -1005, 3000, 4 }, -ERANGE },
	{ "the margin at receive port 1.1 would be -0.050 dB, 3.000 dB are needed",
	  { OPTICS_MARGIN, OPTICS_PART_RECEIVER, 5, 0, -50, 3000, 4 }, -ERANGE },
	{ "12.500 dBm would arrive at edge port 1, which bears 10.000 dBm",
	  { OPTICS_OVERLOAD, OPTICS_PART_EDGE, 1, 0, 12500, 10000 }, -ERANGE },
	{ "the isolation at receive port 0.0 would be 19.999 dB, 20.000 dB are needed",
	  { OPTICS_ISOLATION, OPTICS_PART_RECEIVER, 0, 0, 19999, 20000, 4 }, -EXDEV },
	{ "a transmit or receive port is in use: receive port 1.0",
	  { OPTICS_PORT_BUSY, OPTICS_PART_RECEIVER, 4, 0, 0, 0, 4 }, -EBUSY },
	{ "no route exists, even on an idle fabric",
	  { OPTICS_NO_ROUTE, OPTICS_PART_NONE, 0, 0, 0, 0 }, -EHOSTUNREACH },
	{ "an unknown rule is violated",
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
	KUNIT_EXPECT_EQ(test, -EDOM, morph_refuse_numbers(NULL, -EDOM, 0, 0, 0, 1, 2, "{have}"));
	KUNIT_EXPECT_EQ(test, -EBUSY, morph_refuse_optics(NULL, 0, &why));
}

/* Netlink sends the sentence only if it has no format. */
static void refusal_has_a_fixed_sentence(struct kunit *test)
{
	static const char *const sentence = "the lease has run out";
	struct morph_refusal refusal = {};

	morph_refuse(&refusal, -ETIME, MORPH_REASON_STATE, 0, 0, sentence);
	KUNIT_EXPECT_PTR_EQ(test, sentence, refusal.fixed);
	morph_refuse(&refusal, -ETIME, MORPH_REASON_STATE, 0, 0, "%u have run out", 3);
	KUNIT_EXPECT_NULL(test, refusal.fixed);
	KUNIT_EXPECT_STREQ(test, "3 have run out", (const char *)refusal.text);
}

struct numbers_case {
	const char *fixed;
	const char *text;
};

static const struct numbers_case numbers_cases[] = {
	{ "{index}, {have}, {need}, {last}", "4294967295, -5, 9223372036854775807, -6" },
	{ "the lease has expired", "the lease has expired" },
	{ "{", "{" },
	{ "{has} {}} {INDEX} {have", "{has} {}} {INDEX} {have" },
	{ "{{have}{have}}", "{-5-5}" },
};

FAKE_CASE_DESC(numbers_cases, fixed);

/* The numbers go to their places in the sentence; netlink gets the sentence without them. */
static void refusal_names_its_numbers(struct kunit *test)
{
	const struct numbers_case *param = test->param_value;
	struct morph_refusal refusal = {};

	KUNIT_EXPECT_EQ(test, -ENOSPC,
			morph_refuse_numbers(&refusal, -ENOSPC, MORPH_REASON_LANES,
					     MORPH_PART_GUIDE, U32_MAX, -5, S64_MAX, param->fixed));
	KUNIT_EXPECT_STREQ(test, param->text, (const char *)refusal.text);
	KUNIT_EXPECT_PTR_EQ(test, param->fixed, refusal.fixed);
	KUNIT_EXPECT_EQ(test, -ENOSPC, refusal.error);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_REASON_LANES, refusal.reason);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_PART_GUIDE, refusal.part);
	KUNIT_EXPECT_EQ(test, U32_MAX, refusal.index);
	KUNIT_EXPECT_EQ(test, -5LL, refusal.have);
	KUNIT_EXPECT_EQ(test, S64_MAX, refusal.need);
	KUNIT_EXPECT_EQ(test, MORPH_ANY, refusal.item);
}

struct index_case {
	u32 part, index, count;
	const char *text;
};

static const struct index_case index_cases[] = {
	{ MORPH_PART_ACCELERATOR, 77, 10, "no accelerator 77 (0-9)" },
	{ MORPH_PART_LASER, 4, 4, "no transmit port 4 (the last one is 3)" },
	{ MORPH_PART_RECEIVER, 4, 4, "no receive port 4 (the last one is 3)" },
	{ MORPH_PART_ELEMENT, 1, 1, "no element 1 (0-0)" },
	{ MORPH_PART_GUIDE, U32_MAX, 512, "no guide 4294967295 (0-511)" },
	{ MORPH_PART_EDGE, 2, 2, "no edge 2 (0-1)" },
	{ MORPH_PART_EDGE, 0, 0, "no edge 0: the fabric has no edges" },
};

FAKE_CASE_DESC(index_cases, text);

static void refusal_names_the_part_that_is_missing(struct kunit *test)
{
	const struct index_case *param = test->param_value;
	struct morph_refusal refusal = {};

	KUNIT_EXPECT_EQ(test, -ENOENT, morph_refuse_index(&refusal, param->part, param->index,
							  param->count));
	KUNIT_EXPECT_STREQ(test, param->text, (const char *)refusal.text);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_REASON_ARGUMENT, refusal.reason);
	KUNIT_EXPECT_EQ(test, param->part, refusal.part);
	KUNIT_EXPECT_EQ(test, param->index, refusal.index);
	KUNIT_EXPECT_EQ(test, (s64)param->count, refusal.have);
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
	memcpy(name + sizeof(refusal.text) - 3, "{need}", 7);
	morph_refuse_numbers(&refusal, -EINVAL, MORPH_REASON_ARGUMENT, 0, 0, 0, 12345, name);
	KUNIT_EXPECT_EQ(test, sizeof(refusal.text) - 1, strlen(refusal.text));
	KUNIT_EXPECT_STREQ(test, "x12", refusal.text + sizeof(refusal.text) - 4);
}

static struct kunit_case refusal_cases[] = {
	KUNIT_CASE_PARAM(refusal_passes_on_the_optics, sentence_cases_gen_params),
	KUNIT_CASE(refusal_takes_the_callers_error),
	KUNIT_CASE(refusal_may_have_no_listener),
	KUNIT_CASE(refusal_has_a_fixed_sentence),
	KUNIT_CASE_PARAM(refusal_names_its_numbers, numbers_cases_gen_params),
	KUNIT_CASE_PARAM(refusal_names_the_part_that_is_missing, index_cases_gen_params),
	KUNIT_CASE(refusal_forgets_the_last),
	KUNIT_CASE(refusal_text_is_cut_not_overrun),
	{}
};

struct kunit_suite morph_refusal_suite = {
	.name = "morph_refusal",
	.test_cases = refusal_cases,
};

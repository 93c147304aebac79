// SPDX-License-Identifier: GPL-2.0-only
/* Placement: the accelerators of a slice, and the order in which repairs try spares. */
#include "fake.h"
#include "suites.h"

/* Four hosts of three accelerators. */
static const struct fake_shape four_hosts = {
	.hosts = 4,
	.each = 3,
};

static int place_init(struct kunit *test)
{
	fake_open(test, &four_hosts);
	return 0;
}

/* Mark accelerators as held. */
static void hold(struct fake *fake, u32 mask)
{
	u32 accelerators[FAKE_MOST], count = 0, i;

	for (i = 0; i < fake->accelerators; i++)
		if (mask >> i & 1)
			accelerators[count++] = i;
	if (count)
		fake_slice(fake, accelerators, count);
}

struct place_case {
	const char *name;
	u32 held;		/* mask */
	u32 count;
	u32 expected[FAKE_MOST];
};

static const struct place_case place_cases[] = {
	{ "the host with the smallest sufficient number", BIT(5), 2, { 3, 4 } },
	{ "one of a host with one left", BIT(7) | BIT(8), 1, { 6 } },
	{ "a whole host, the only whole one", BIT(0) | BIT(8) | BIT(11), 3, { 3, 4, 5 } },
	{ "skips a held one in the middle", BIT(7), 2, { 6, 8 } },
	{ "all accelerators", 0, 12, { 0 } },
};

FAKE_CASE_DESC(place_cases, name);

static void place_chooses(struct kunit *test)
{
	const struct place_case *param = test->param_value;
	struct morph_refusal refusal = {};
	struct fake *fake = test->priv;
	u32 chosen[FAKE_MOST], seen = 0, i;
	int ret;

	hold(fake, param->held);
	mutex_lock(&fake->fabric->lock);
	ret = morph_place(fake->fabric, param->count, chosen, &refusal);
	mutex_unlock(&fake->fabric->lock);
	KUNIT_ASSERT_EQ(test, 0, ret);
	for (i = 0; i < param->count; i++)
		seen |= 1u << chosen[i];
	/* Each once, and none that is held. */
	KUNIT_EXPECT_EQ(test, param->count, hweight32(seen));
	KUNIT_EXPECT_EQ(test, 0u, seen & param->held);
	for (i = 0; i < param->count && param->count < fake->accelerators; i++)
		KUNIT_EXPECT_EQ_MSG(test, param->expected[i], chosen[i], "rank %u", i);
}

/* A request for more accelerators than a host has gets adjacent hosts. */
static void place_spreads_over_neighbours(struct kunit *test)
{
	struct morph_refusal refusal = {};
	struct fake *fake = test->priv;
	u32 chosen[5], hosts = 0, i;
	int ret;

	mutex_lock(&fake->fabric->lock);
	ret = morph_place(fake->fabric, 5, chosen, &refusal);
	mutex_unlock(&fake->fabric->lock);
	KUNIT_ASSERT_EQ(test, 0, ret);
	for (i = 0; i < 5; i++)
		hosts |= 1u << chosen[i] / 3;
	KUNIT_EXPECT_EQ(test, 2u, hweight32(hosts));
	KUNIT_EXPECT_TRUE_MSG(test, hosts & hosts << 1, "hosts %x", hosts);
	/* Placement fills the first host before it uses the next one. */
	for (i = 1; i < 3; i++)
		KUNIT_EXPECT_EQ(test, chosen[0] / 3, chosen[i] / 3);
}

static void place_refuses_more_than_is_free(struct kunit *test)
{
	struct morph_refusal refusal = {};
	struct fake *fake = test->priv;
	u32 chosen[FAKE_MOST];
	int ret;

	hold(fake, 0x7);
	mutex_lock(&fake->fabric->lock);
	ret = morph_place(fake->fabric, 10, chosen, &refusal);
	mutex_unlock(&fake->fabric->lock);
	KUNIT_EXPECT_EQ(test, -ENOSPC, ret);
	KUNIT_EXPECT_STREQ(test, "not enough accelerators: 10 requested, 9 free",
			   (const char *)refusal.text);
	KUNIT_EXPECT_EQ(test, 9LL, refusal.have);
	KUNIT_EXPECT_EQ(test, 10LL, refusal.need);
}

struct possible_case {
	const char *name;
	u32 count;
	int error;
};

static const struct possible_case possible_cases[] = {
	{ "none", 0, -EINVAL },
	{ "one", 1, 0 },
	{ "all", 12, 0 },
	{ "one more", 13, -ENOSPC },
	{ "more than the maximum number of ranks", MORPH_MAX_RANKS + 1, -ENOSPC },
	{ "all ones", U32_MAX, -ENOSPC },
};

FAKE_CASE_DESC(possible_cases, name);

static void place_is_possible(struct kunit *test)
{
	const struct possible_case *param = test->param_value;
	struct morph_refusal refusal = {};
	struct fake *fake = test->priv;

	KUNIT_EXPECT_EQ(test, param->error,
			morph_place_possible(fake->fabric, param->count, &refusal));
	KUNIT_EXPECT_EQ(test, param->error, refusal.error);
}

struct list_case {
	const char *name;
	u32 accelerators[3];
	int error;
	u32 index;
	const char *text;
};

/* 2 is held, 3 a spare, 4 dead, 5 cordoned, 6 under test, 7 released and still lit. */
static const struct list_case list_cases[] = {
	{ "sound", { 8, 0, 1 }, 0, 0, "" },
	{ "listed twice", { 1, 8, 1 }, -EINVAL, 1, "accelerator 1 is listed twice" },
	{ "not there", { 0, 12, 1 }, -ENOENT, 12, "no accelerator 12 (0-11)" },
	{ "held", { 0, 1, 2 }, -EBUSY, 2, "accelerator 2 is held by another tenant" },
	{ "spare", { 0, 3, 1 }, -EBUSY, 3, "accelerator 3 is held back as a spare" },
	{ "dead", { 4, 0, 1 }, -EIO, 4, "accelerator 4 is not healthy, or cordoned" },
	{ "cordoned", { 0, 1, 5 }, -EIO, 5, "accelerator 5 is not healthy, or cordoned" },
	{ "under test", { 0, 1, 6 }, -EAGAIN, 6, "accelerator 6 is being tested; try again" },
	{ "not dark yet", { 0, 7, 1 }, -EBUSY, 7,
	  "accelerator 7 was released and is not dark yet" },
};

FAKE_CASE_DESC(list_cases, name);

static void place_checks_a_list(struct kunit *test)
{
	const struct list_case *param = test->param_value;
	struct morph_culprit dead = { .part = MORPH_PART_ACCELERATOR, .index = 4 };
	struct morph_refusal refusal = {};
	struct fake *fake = test->priv;
	struct morph_fabric *fabric = fake->fabric;
	int ret;

	hold(fake, 1u << 2);
	KUNIT_ASSERT_EQ(test, 0, morph_accelerator_set_use(fabric, 3, MORPH_USE_SPARE, &refusal));
	KUNIT_ASSERT_EQ(test, 0, morph_health_cordon(fabric, MORPH_PART_ACCELERATOR, 5, true,
						     &refusal));
	mutex_lock(&fabric->lock);
	morph_health_set(fabric, &dead, MORPH_HEALTH_FAILED, 0);
	ledger_of(fabric)->chips[6].testing = true;
	ledger_of(fabric)->chips[7].use = MORPH_USE_DRAINING;
	ret = morph_place_check_again(fabric, param->accelerators, 3, false, &refusal);
	ledger_of(fabric)->chips[6].testing = false;
	ledger_of(fabric)->chips[7].use = MORPH_USE_FREE;
	mutex_unlock(&fabric->lock);
	if (!ret)
		ret = morph_place_distinct(param->accelerators, 3, &refusal);
	KUNIT_EXPECT_EQ(test, param->error, ret);
	KUNIT_EXPECT_STREQ(test, param->text, (const char *)refusal.text);
	KUNIT_EXPECT_EQ(test, param->index, refusal.index);
}

/* ------------------------------------------------------------------- spares */

/* Spares are 2, 4, 5, 8, 9, 10 and 11: all accelerators of the last host are spares. */
static void make_spares(struct fake *fake)
{
	static const u32 spares[] = { 2, 4, 5, 8, 9, 10, 11 };
	struct morph_refusal refusal;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(spares); i++)
		morph_accelerator_set_use(fake->fabric, spares[i], MORPH_USE_SPARE, &refusal);
}

struct spare_case {
	const char *name;
	u32 policy;
	bool reserved;		/* the rank has a reserved spare */
	u32 sick;		/* mask */
	u32 list[3];
	u32 expected[8];	/* in this order; then no further spare */
	u32 count;
	u32 preferred;		/* 0: none */
};

static const struct spare_case spare_cases[] = {
	{ "of the host, then of hosts of spares", MORPH_SPARES_HOST, false, 0, {},
	  { 4, 5, 9, 10, 11 }, 5 },
	{ "of the host, then of its neighbours", MORPH_SPARES_ANY, false, 0, {},
	  { 4, 5, 2, 8, 9, 10, 11 }, 7 },
	{ "without the failed one", MORPH_SPARES_ANY, false, 0x014, {}, { 5, 8, 9, 10, 11 }, 5 },
	{ "as listed", MORPH_SPARES_LIST, false, 0, { 11, 4, 1 }, { 11, 4, 1 }, 3 },
	{ "as listed, without the failed one", MORPH_SPARES_LIST, false, 0x010, { 11, 4, 1 },
	  { 11, 1 }, 2 },
	{ "its own first", MORPH_SPARES_HOST, true, 0, {}, { 4, 5, 9, 10, 11 }, 5 },
	{ "the preferred one first", MORPH_SPARES_HOST, false, 0, {}, { 10, 4, 5, 9, 11 }, 5, 10 },
	{ "the preferred one of a neighbour", MORPH_SPARES_ANY, false, 0, {},
	  { 2, 4, 5, 8, 9, 10, 11 }, 7, 2 },
	{ "the preferred one of the list", MORPH_SPARES_LIST, false, 0, { 11, 4, 1 },
	  { 1, 11, 4 }, 3, 1 },
	{ "its own before the preferred one", MORPH_SPARES_HOST, true, 0, {},
	  { 4, 10, 5, 9, 11 }, 5, 10 },
	{ "its own, also preferred", MORPH_SPARES_HOST, true, 0, {},
	  { 4, 5, 9, 10, 11 }, 5, 4 },
	{ "never one that is not allowed", MORPH_SPARES_HOST, false, 0, {},
	  { 4, 5, 9, 10, 11 }, 5, 2 },
	{ "never one that is not listed", MORPH_SPARES_LIST, false, 0, { 11, 4, 1 },
	  { 11, 4, 1 }, 3, 5 },
	{ "never a failed one", MORPH_SPARES_ANY, false, 0x400, {},
	  { 4, 5, 2, 8, 9, 11 }, 6, 10 },
};

FAKE_CASE_DESC(spare_cases, name);

static void place_spares_in_order(struct kunit *test)
{
	const struct spare_case *param = test->param_value;
	struct fake *fake = test->priv;
	struct morph_fabric *fabric = fake->fabric;
	struct morph_culprit culprit = { .part = MORPH_PART_ACCELERATOR };
	const u32 accelerators[] = { 3 };
	struct morph_slice_params params = {
		.accelerators = accelerators,
		.count = 1,
		.spare_policy = param->policy,
		.spares = param->list,
		.spares_count = param->policy == MORPH_SPARES_LIST ? 3 : 0,
		.reserved = param->reserved,
		.user = fake->user,
	};
	u32 preferred = param->preferred ?: MORPH_ANY, spare, i;
	struct morph_slice *slice;

	make_spares(fake);
	slice = fake_slice_like(fake, &params);
	mutex_lock(&fabric->lock);
	for (culprit.index = 0; culprit.index < fake->accelerators; culprit.index++)
		if (param->sick >> culprit.index & 1)
			morph_health_set(fabric, &culprit, MORPH_HEALTH_FAILED, 0);
	for (i = 0; i < param->count; i++)
		KUNIT_EXPECT_EQ_MSG(test, param->expected[i],
				    morph_place_spare(slice, 3, preferred, i), "number %u", i);
	KUNIT_EXPECT_EQ(test, MORPH_ANY, morph_place_spare(slice, 3, preferred, param->count));
	/* Allowed spares are those that a path reaches. */
	for (spare = 0; spare < fake->accelerators; spare++) {
		for (i = 0; i < param->count && param->expected[i] != spare; i++)
			;
		KUNIT_EXPECT_EQ_MSG(test, i < param->count, morph_place_allows(slice, 3, spare),
				    "spare %u", spare);
	}
	mutex_unlock(&fabric->lock);
}

static struct kunit_case place_suite_cases[] = {
	KUNIT_CASE_PARAM(place_chooses, place_cases_gen_params),
	KUNIT_CASE(place_spreads_over_neighbours),
	KUNIT_CASE(place_refuses_more_than_is_free),
	KUNIT_CASE_PARAM(place_is_possible, possible_cases_gen_params),
	KUNIT_CASE_PARAM(place_checks_a_list, list_cases_gen_params),
	KUNIT_CASE_PARAM(place_spares_in_order, spare_cases_gen_params),
	{}
};

struct kunit_suite morph_place_suite = {
	.name = "morph_place",
	.init = place_init,
	.exit = fake_exit,
	.test_cases = place_suite_cases,
};

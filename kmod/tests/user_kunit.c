// SPDX-License-Identifier: GPL-2.0-only
/*
 * Quotas: the core returns all charges, and a refusal contains the amount left. Turns: the work of
 * one user delays only other work of this user.
 */
#include <linux/cred.h>
#include <linux/delay.h>
#include <linux/user_namespace.h>

#include "fake.h"
#include "suites.h"

#define TENANT	KUIDT_INIT(4343)

static int user_init(struct kunit *test)
{
	test->priv = morph_user_get(TENANT);
	return test->priv ? 0 : -ENOMEM;
}

static void user_exit(struct kunit *test)
{
	if (test->priv)
		morph_user_put(test->priv);
}

static u64 used_of(struct morph_user *user, enum morph_resource resource)
{
	struct morph_limits limits, used;

	morph_user_limits(user, &limits, &used);
	switch (resource) {
	case MORPH_RES_ACCELERATORS:
		return used.accelerators;
	case MORPH_RES_CIRCUITS:
		return used.circuits;
	case MORPH_RES_LANES:
		return used.lanes;
	case MORPH_RES_PREPARED:
		return used.prepared;
	case MORPH_RES_BYTES:
		return used.bytes;
	}
	return 0;
}

/* A grant with a limit for one resource, and zero for the others. */
static struct morph_user *grant_of(enum morph_resource resource, u64 limit)
{
	struct morph_limits limits = {};

	switch (resource) {
	case MORPH_RES_ACCELERATORS:
		limits.accelerators = limit;
		break;
	case MORPH_RES_CIRCUITS:
		limits.circuits = limit;
		break;
	case MORPH_RES_LANES:
		limits.lanes = limit;
		break;
	case MORPH_RES_PREPARED:
		limits.prepared = limit;
		break;
	case MORPH_RES_BYTES:
		limits.bytes = limit;
		break;
	}
	return morph_grant_create(&limits);
}

struct resource_case {
	const char *name;
	enum morph_resource resource;
	const char *refusal;	/* without the number of the grant */
};

static const struct resource_case resource_cases[] = {
	{ "accelerators", MORPH_RES_ACCELERATORS,
	  " exceeded: 4 accelerators requested, 3 left" },
	{ "circuits", MORPH_RES_CIRCUITS, " exceeded: 4 circuits requested, 3 left" },
	{ "lanes", MORPH_RES_LANES, " exceeded: 4 lanes requested, 3 left" },
	{ "prepared", MORPH_RES_PREPARED,
	  " exceeded: 4 prepared transactions requested, 3 left" },
	{ "bytes", MORPH_RES_BYTES, " exceeded: 4 bytes of memory requested, 3 left" },
};

FAKE_CASE_DESC(resource_cases, name);

/* A user can reach the limit of a resource, but not exceed it. Other resources do not count. */
static void user_charge_up_to_limit(struct kunit *test)
{
	const struct resource_case *param = test->param_value;
	struct morph_user *grant = grant_of(param->resource, 10);
	struct morph_refusal refusal = {};
	enum morph_resource other;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, grant);
	KUNIT_EXPECT_EQ(test, 0, morph_user_charge(grant, param->resource, 7, &refusal));
	KUNIT_EXPECT_EQ(test, -EDQUOT, morph_user_charge(grant, param->resource, 4, &refusal));
	KUNIT_EXPECT_EQ(test, 7ULL, used_of(grant, param->resource));
	KUNIT_EXPECT_EQ(test, 0, morph_user_charge(grant, param->resource, 3, &refusal));
	for (other = MORPH_RES_ACCELERATORS; other <= MORPH_RES_BYTES; other++)
		KUNIT_EXPECT_EQ(test, other == param->resource ? 10ULL : 0ULL,
				used_of(grant, other));
	morph_user_uncharge(grant, param->resource, 10);
	KUNIT_EXPECT_EQ(test, 0ULL, used_of(grant, param->resource));
	morph_user_put(grant);
}

static void user_refusal_has_the_numbers(struct kunit *test)
{
	const struct resource_case *param = test->param_value;
	struct morph_user *grant = grant_of(param->resource, 10);
	struct morph_refusal refusal = {};
	char expected[160];

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, grant);
	snprintf(expected, sizeof(expected), "quota of grant %u%s", grant->grant,
		 param->refusal);
	morph_user_charge_anyway(grant, param->resource, 7);
	KUNIT_EXPECT_EQ(test, -EDQUOT, morph_user_charge(grant, param->resource, 4, &refusal));
	KUNIT_EXPECT_STREQ(test, (const char *)expected, (const char *)refusal.text);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_REASON_QUOTA, refusal.reason);
	KUNIT_EXPECT_EQ(test, grant->grant, refusal.index);
	KUNIT_EXPECT_EQ(test, 3LL, refusal.have);
	KUNIT_EXPECT_EQ(test, 4LL, refusal.need);
	morph_user_uncharge(grant, param->resource, 7);
	morph_user_put(grant);
}

/* Repairs may exceed the limit. The amount left is then zero, not negative. */
static void user_past_the_limit_has_none_left(struct kunit *test)
{
	const struct resource_case *param = test->param_value;
	struct morph_user *grant = grant_of(param->resource, 10);
	struct morph_refusal refusal = {};

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, grant);
	morph_user_charge_anyway(grant, param->resource, 25);
	KUNIT_EXPECT_EQ(test, -EDQUOT, morph_user_charge(grant, param->resource, 1, &refusal));
	KUNIT_EXPECT_EQ(test, 0LL, refusal.have);
	morph_user_uncharge(grant, param->resource, 16);
	KUNIT_EXPECT_EQ(test, 0, morph_user_charge(grant, param->resource, 1, &refusal));
	morph_user_uncharge(grant, param->resource, 10);
	morph_user_put(grant);
}

/* Amounts near the maximum of their type do not overflow. */
static void user_charge_does_not_wrap(struct kunit *test)
{
	struct morph_user *grant = grant_of(MORPH_RES_BYTES, U64_MAX - 1);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, grant);
	KUNIT_EXPECT_EQ(test, 0, morph_user_charge(grant, MORPH_RES_BYTES, U64_MAX - 2, NULL));
	KUNIT_EXPECT_EQ(test, -EDQUOT, morph_user_charge(grant, MORPH_RES_BYTES, 2, NULL));
	KUNIT_EXPECT_EQ(test, -EDQUOT, morph_user_charge(grant, MORPH_RES_BYTES, U64_MAX, NULL));
	KUNIT_EXPECT_EQ(test, 0, morph_user_charge(grant, MORPH_RES_BYTES, 1, NULL));
	morph_user_uncharge(grant, MORPH_RES_BYTES, U64_MAX - 1);
	morph_user_put(grant);
}

static void user_follows_the_default(struct kunit *test)
{
	struct morph_user *user = test->priv;
	struct morph_limits before, changed, limits, used;

	morph_user_get_default(&before);
	changed = before;
	changed.circuits = 3;
	morph_user_set_limits(NULL, &changed);
	KUNIT_EXPECT_EQ(test, -EDQUOT, morph_user_charge(user, MORPH_RES_CIRCUITS, 4, NULL));
	KUNIT_EXPECT_EQ(test, 0, morph_user_charge(user, MORPH_RES_CIRCUITS, 3, NULL));
	morph_user_limits(user, &limits, &used);
	KUNIT_EXPECT_EQ(test, 3u, limits.circuits);
	morph_user_set_limits(NULL, &before);
	KUNIT_EXPECT_EQ(test, 0, morph_user_charge(user, MORPH_RES_CIRCUITS, 1, NULL));
	morph_user_uncharge(user, MORPH_RES_CIRCUITS, 4);
}

static void user_root_has_no_limits(struct kunit *test)
{
	struct morph_user *root = morph_user_get(GLOBAL_ROOT_UID);
	struct morph_limits limits, used;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, root);
	morph_user_limits(root, &limits, &used);
	KUNIT_EXPECT_EQ(test, MORPH_ANY, limits.circuits);
	KUNIT_EXPECT_EQ(test, U64_MAX, limits.bytes);
	morph_user_put(root);
}

/* Each user has one record, however often and in whatever way the core finds it. */
static void user_is_one_record(struct kunit *test)
{
	struct morph_user *again = morph_user_get(TENANT);
	unsigned long cursor = __kuid_val(TENANT);
	struct morph_user *walked = morph_user_next(&cursor);

	KUNIT_EXPECT_PTR_EQ(test, (struct morph_user *)test->priv, again);
	KUNIT_EXPECT_PTR_EQ(test, (struct morph_user *)test->priv, walked);
	KUNIT_EXPECT_EQ(test, (unsigned long)__kuid_val(TENANT), cursor);
	if (walked)
		morph_user_put(walked);
	morph_user_put(again);
}

static void user_grant_goes_with_its_last_reference(struct kunit *test)
{
	struct morph_user *grant = grant_of(MORPH_RES_LANES, 1), *found;
	u32 number;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, grant);
	number = grant->grant;
	found = morph_grant_find(number);
	KUNIT_EXPECT_PTR_EQ(test, grant, found);
	morph_user_put(grant);
	morph_user_put(found);
	KUNIT_EXPECT_NULL(test, morph_grant_find(number));
}

/* An old number of a grant does not refer to a later grant. */
static void user_grant_numbers_are_not_used_again(struct kunit *test)
{
	struct morph_user *first = grant_of(MORPH_RES_LANES, 1), *second;
	u32 number;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, first);
	number = first->grant;
	morph_user_put(first);
	second = grant_of(MORPH_RES_LANES, 1);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, second);
	KUNIT_EXPECT_NE(test, number, second->grant);
	morph_user_put(second);
}

/* -------------------------------------------------------- user namespaces */

/* Credentials of a program in a new user namespace. Without @outer, the namespace is outermost. */
static struct cred *cred_within(struct kunit *test, const struct cred *outer, kuid_t owner,
				kuid_t euid)
{
	struct user_namespace *ns = kunit_kzalloc(test, sizeof(*ns), GFP_KERNEL);
	struct cred *cred = kunit_kzalloc(test, sizeof(*cred), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ns);
	KUNIT_ASSERT_NOT_NULL(test, cred);
	ns->parent = outer ? outer->user_ns : &init_user_ns;
	ns->level = ns->parent->level + 1;
	ns->owner = owner;
	cred->user_ns = ns;
	cred->euid = euid;
	return cred;
}

static void user_owner_of_namespace_is_charged_too(struct kunit *test)
{
	struct morph_user *owner = test->priv, *first, *second;
	struct cred *cred = cred_within(test, NULL, TENANT, KUIDT_INIT(4345));
	struct morph_limits before, changed;
	struct morph_refusal refusal = {};

	first = morph_user_of(cred);
	cred->euid = KUIDT_INIT(4346);
	second = morph_user_of(cred);
	KUNIT_ASSERT_NOT_NULL(test, first);
	KUNIT_ASSERT_NOT_NULL(test, second);
	KUNIT_EXPECT_PTR_EQ(test, owner, morph_user_payer(first));
	morph_user_get_default(&before);
	changed = before;
	changed.circuits = 3;
	morph_user_set_limits(NULL, &changed);
	KUNIT_EXPECT_EQ(test, 0, morph_user_charge(first, MORPH_RES_CIRCUITS, 2, NULL));
	KUNIT_EXPECT_EQ(test, -EDQUOT, morph_user_charge(second, MORPH_RES_CIRCUITS, 2, &refusal));
	KUNIT_EXPECT_EQ(test, __kuid_val(TENANT), refusal.index);
	KUNIT_EXPECT_EQ(test, 2ULL, used_of(owner, MORPH_RES_CIRCUITS));
	KUNIT_EXPECT_EQ(test, 0ULL, used_of(second, MORPH_RES_CIRCUITS));
	morph_user_set_limits(NULL, &before);
	morph_user_uncharge(first, MORPH_RES_CIRCUITS, 2);
	KUNIT_EXPECT_EQ(test, 0ULL, used_of(owner, MORPH_RES_CIRCUITS));
	morph_user_put(first);
	morph_user_put(second);
}

/* The owner of the outer namespace is also the program's user in the inner one. */
static void user_in_own_namespaces_is_charged_once(struct kunit *test)
{
	struct cred *outer = cred_within(test, NULL, TENANT, KUIDT_INIT(4345));
	struct cred *inner = cred_within(test, outer, KUIDT_INIT(4345), TENANT);
	struct morph_user *user = morph_user_of(inner);

	KUNIT_ASSERT_NOT_NULL(test, user);
	KUNIT_EXPECT_EQ(test, 0, morph_user_charge(user, MORPH_RES_CIRCUITS, 2, NULL));
	KUNIT_EXPECT_EQ(test, 2ULL, used_of(test->priv, MORPH_RES_CIRCUITS));
	morph_user_uncharge(user, MORPH_RES_CIRCUITS, 2);
	KUNIT_EXPECT_EQ(test, 0ULL, used_of(test->priv, MORPH_RES_CIRCUITS));
	morph_user_put(user);
}

static void user_has_the_lowest_limit_of_replacements(struct kunit *test)
{
	struct cred *cred = cred_within(test, NULL, KUIDT_INIT(4347), KUIDT_INIT(4348));
	struct morph_user *owner = morph_user_get(KUIDT_INIT(4347)), *user = morph_user_of(cred);
	struct morph_limits limits, used;

	KUNIT_ASSERT_NOT_NULL(test, owner);
	KUNIT_ASSERT_NOT_NULL(test, user);
	morph_user_get_default(&limits);
	limits.replacements = 1;
	morph_user_set_limits(owner, &limits);
	morph_user_limits(user, &limits, &used);
	KUNIT_EXPECT_EQ(test, 1u, limits.replacements);
	morph_user_put(user);
	morph_user_put(owner);
}

/* ------------------------------------------------------------------- turns */

#define TURNS	(MORPH_USER_TURNS + 3)

struct waiting_turn {
	struct morph_turn turn;
	struct morph_user *user;
	struct completion *go;
	atomic_t *running;
};

static void wait_in_turn(struct work_struct *work)
{
	struct waiting_turn *waiting = container_of(work, struct waiting_turn, turn.work);

	atomic_inc(waiting->running);
	wait_for_completion(waiting->go);
	morph_turn_end(waiting->user);
}

struct turns {
	struct waiting_turn of[TURNS];
	struct completion go;
	atomic_t running;
};

/* Queue more work of a user than may run at once. It runs until turns->go is complete. */
static struct turns *fill_turns(struct kunit *test, struct morph_user *user)
{
	struct turns *turns = kunit_kzalloc(test, sizeof(*turns), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, turns);
	init_completion(&turns->go);
	for (i = 0; i < TURNS; i++) {
		turns->of[i] = (struct waiting_turn){
			.user = user,
			.go = &turns->go,
			.running = &turns->running,
		};
		morph_turn_init(&turns->of[i].turn, wait_in_turn);
		morph_turn_queue(&turns->of[i].turn, user);
	}
	return turns;
}

/* The work that waits in the queue of the user becomes queued work as other work ends. */
static void drain_turns(struct turns *turns)
{
	u32 i;

	complete_all(&turns->go);
	for (i = 0; i < TURNS; i++)
		flush_workqueue(morph_turn_wq);
}

static void user_turns_are_bounded(struct kunit *test)
{
	struct turns *turns = fill_turns(test, test->priv);

	while (atomic_read(&turns->running) < MORPH_USER_TURNS)
		usleep_range(1000, 2000);
	msleep(20);
	KUNIT_EXPECT_EQ(test, MORPH_USER_TURNS, (u32)atomic_read(&turns->running));
	drain_turns(turns);
	KUNIT_EXPECT_EQ(test, TURNS, (u32)atomic_read(&turns->running));
	KUNIT_EXPECT_EQ(test, 0U, ((struct morph_user *)test->priv)->turns_running);
}

/* Work of one user waits, and work of another user runs. */
static void user_turns_do_not_delay_another_user(struct kunit *test)
{
	struct morph_user *other = morph_user_get(KUIDT_INIT(4344));
	struct turns *turns = fill_turns(test, test->priv);
	struct waiting_turn his = { .user = other, .go = &turns->go };
	atomic_t running = ATOMIC_INIT(0);

	KUNIT_ASSERT_NOT_NULL(test, other);
	his.running = &running;
	INIT_WORK_ONSTACK(&his.turn.work, wait_in_turn);
	INIT_LIST_HEAD(&his.turn.node);
	morph_turn_queue(&his.turn, other);
	while (!atomic_read(&running))
		usleep_range(1000, 2000);
	drain_turns(turns);
	destroy_work_on_stack(&his.turn.work);
	morph_user_put(other);
}

static void user_turn_is_cancelled_while_it_waits(struct kunit *test)
{
	struct morph_user *user = test->priv;
	struct turns *turns = fill_turns(test, user);

	while (atomic_read(&turns->running) < MORPH_USER_TURNS)
		usleep_range(1000, 2000);
	KUNIT_EXPECT_TRUE(test, morph_turn_cancel(&turns->of[TURNS - 1].turn, user));
	KUNIT_EXPECT_FALSE(test, morph_turn_cancel(&turns->of[0].turn, user));
	drain_turns(turns);
	KUNIT_EXPECT_EQ(test, TURNS - 1, (u32)atomic_read(&turns->running));
	KUNIT_EXPECT_EQ(test, 0U, user->turns_running);
}

static struct kunit_case user_cases[] = {
	KUNIT_CASE_PARAM(user_charge_up_to_limit, resource_cases_gen_params),
	KUNIT_CASE_PARAM(user_refusal_has_the_numbers, resource_cases_gen_params),
	KUNIT_CASE_PARAM(user_past_the_limit_has_none_left, resource_cases_gen_params),
	KUNIT_CASE(user_charge_does_not_wrap),
	KUNIT_CASE(user_follows_the_default),
	KUNIT_CASE(user_root_has_no_limits),
	KUNIT_CASE(user_is_one_record),
	KUNIT_CASE(user_grant_goes_with_its_last_reference),
	KUNIT_CASE(user_grant_numbers_are_not_used_again),
	KUNIT_CASE(user_owner_of_namespace_is_charged_too),
	KUNIT_CASE(user_in_own_namespaces_is_charged_once),
	KUNIT_CASE(user_has_the_lowest_limit_of_replacements),
	KUNIT_CASE(user_turns_are_bounded),
	KUNIT_CASE(user_turns_do_not_delay_another_user),
	KUNIT_CASE(user_turn_is_cancelled_while_it_waits),
	{}
};

struct kunit_suite morph_user_suite = {
	.name = "morph_user",
	.init = user_init,
	.exit = user_exit,
	.test_cases = user_cases,
};

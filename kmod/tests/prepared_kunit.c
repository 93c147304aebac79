// SPDX-License-Identifier: GPL-2.0-only
/* The search for the paths of a protection, in several holds of the lock. */
#include "fake.h"
#include "joined.h"
#include "suites.h"

#define MOST_HOLDS 1000u

static struct morph_prepared_search *search_of(struct fake *fake)
{
	return &slices_of(fake->fabric)->search;
}

/* Begin to search for a failover of rank 0, while the worker rests. The test holds the lock. */
static struct morph_prepared_search *begin(struct fake *fake, struct morph_slice *slice, u32 spare)
{
	struct morph_prepared_search *search = search_of(fake);

	KUNIT_EXPECT_NULL(fake->test, search->protection);
	morph_prepared_begin(search, rank_protection(slice, 0), spare);
	search->plan.effort = 1;
	return search;
}

/* One short hold. The test never drops the lock, so that the worker cannot interfere. */
static int hold(struct fake *fake)
{
	int ret = morph_prepared_continue(search_of(fake), 1);

	KUNIT_EXPECT_EQ(fake->test, 0, morph_prepared_fetch(fake->fabric, search_of(fake)));
	return ret;
}

/* Continue until the search for a path has paused, or until it has found the path. */
static void pause(struct fake *fake, bool found)
{
	const struct morph_planning *plan = &search_of(fake)->plan;
	int ret = -EINPROGRESS;

	while (ret == -EINPROGRESS && !(found ? plan->found : plan->search.running))
		ret = hold(fake);
	KUNIT_EXPECT_EQ(fake->test, -EINPROGRESS, ret);
}

/* Whatever the pauses, the ledger is as before and the present protection stays. */
static void expect_unchanged_between_holds(struct fake *fake, struct morph_slice *slice)
{
	struct morph_protection *protection = rank_protection(slice, 0);
	const struct morph_txn *txn = protection->txn;
	u32 state = morph_protection_state(protection), holds = 0, claims;
	struct morph_prepared_search *search;
	u64 seq;
	int ret;

	mutex_lock(&fake->fabric->lock);
	KUNIT_EXPECT_NOT_NULL(fake->test, txn);
	claims = fake_hash_claims(fake);
	seq = morph_ledger_seq(fake->fabric);
	search = begin(fake, slice, protection->spare);
	do {
		ret = hold(fake);
		KUNIT_EXPECT_EQ(fake->test, claims, fake_hash_claims(fake));
		KUNIT_EXPECT_EQ(fake->test, seq, morph_ledger_seq(fake->fabric));
		KUNIT_EXPECT_PTR_EQ(fake->test, txn, (const struct morph_txn *)protection->txn);
		KUNIT_EXPECT_EQ(fake->test, state, morph_protection_state(protection));
		KUNIT_EXPECT_EQ(fake->test, 0u, search->plan.search.restarts);
	} while (ret == -EINPROGRESS && holds++ < MOST_HOLDS);
	KUNIT_EXPECT_EQ(fake->test, 0, ret);
	/* One for each kind of memory, and some of the search. */
	KUNIT_EXPECT_GT(fake->test, holds, 4u);
	KUNIT_EXPECT_EQ(fake->test, 1u, search->txn->count);
	KUNIT_EXPECT_NOT_NULL(fake->test, search->txn->items[0].new);
	KUNIT_EXPECT_NOT_NULL(fake->test, search->txn->reads);
	KUNIT_EXPECT_NULL(fake->test, search->txn->slice);
	morph_prepared_drop(search);
	mutex_unlock(&fake->fabric->lock);
}

static void search_leaves_the_ledger_between_holds(struct kunit *test)
{
	struct fake *fake = test->priv;

	expect_unchanged_between_holds(fake, fake_joined(fake, MORPH_FAILOVER_AUTOMATIC,
							 MORPH_SPARES_ANY));
}

static void search_leaves_reserved_lanes_between_holds(struct kunit *test)
{
	static const u32 accelerators[] = { 0, 1 };
	struct fake *fake = test->priv;
	const struct morph_slice_params params = {
		.accelerators = accelerators,
		.count = ARRAY_SIZE(accelerators),
		.spare_policy = MORPH_SPARES_ANY,
		.reserved = true,
		.user = fake->user,
	};
	struct morph_slice *slice = fake_joined_like(fake, &params);

	fake_settle(fake);
	KUNIT_ASSERT_TRUE(test, rank_protection(slice, 0)->held);
	expect_unchanged_between_holds(fake, slice);
}

/* A touched search begins again, and ends in the worker. */
static void expect_begun_again(struct fake *fake, struct morph_slice *slice)
{
	KUNIT_EXPECT_TRUE(fake->test, search_of(fake)->touched);
	mutex_unlock(&fake->fabric->lock);
	fake_settle(fake);
	KUNIT_EXPECT_NULL(fake->test, search_of(fake)->protection);
	KUNIT_EXPECT_NULL(fake->test, search_of(fake)->txn);
	KUNIT_EXPECT_EQ(fake->test, (u32)MORPH_PLAN_CURRENT,
			morph_protection_state(rank_protection(slice, 0)));
}

static void search_begins_again_after_a_change_of_its_circuits(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slice = fake_joined(fake, MORPH_FAILOVER_AUTOMATIC, MORPH_SPARES_ANY);

	fake_settle(fake);
	mutex_lock(&fake->fabric->lock);
	begin(fake, slice, 2);
	pause(fake, false);
	morph_protection_touch_rank(slice, 1);
	KUNIT_EXPECT_FALSE(test, search_of(fake)->touched);
	morph_protection_touch_rank(slice, 0);
	expect_begun_again(fake, slice);
}

/* The present protection uses another spare. */
static void search_begins_again_after_a_change_of_its_spare(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slice = fake_joined(fake, MORPH_FAILOVER_AUTOMATIC, MORPH_SPARES_ANY);

	fake_settle(fake);
	mutex_lock(&fake->fabric->lock);
	KUNIT_EXPECT_EQ(test, 2u, rank_protection(slice, 0)->spare);
	begin(fake, slice, 5);
	pause(fake, false);
	morph_protection_touch_chip(fake->fabric, 4);
	KUNIT_EXPECT_FALSE(test, search_of(fake)->touched);
	morph_protection_touch_chip(fake->fabric, 5);
	expect_begun_again(fake, slice);
}

static void search_continues_after_a_change_of_the_old_path(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slice = fake_joined(fake, MORPH_FAILOVER_AUTOMATIC, MORPH_SPARES_ANY);

	fake_settle(fake);
	mutex_lock(&fake->fabric->lock);
	begin(fake, slice, 5);
	pause(fake, false);
	morph_protection_touch_route(fake->fabric,
				     rank_protection(slice, 0)->txn->items[0].new);
	KUNIT_EXPECT_FALSE(test, search_of(fake)->touched);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_PLAN_STALE, rank_protection(slice, 0)->state);
	mutex_unlock(&fake->fabric->lock);
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, 5u, rank_protection(slice, 0)->spare);
}

/* Another thread takes a lane of the found path. The search finds another path. */
static void search_sees_that_a_found_path_is_taken(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slice = fake_joined(fake, MORPH_FAILOVER_AUTOMATIC, MORPH_SPARES_ANY);
	struct optics_state *ledger = ledger_of(fake->fabric)->state;
	struct morph_prepared_search *search;
	const struct morph_route *route;
	u64 *taken, lanes;
	int ret;

	fake_settle(fake);
	mutex_lock(&fake->fabric->lock);
	search = begin(fake, slice, 2);
	pause(fake, true);
	route = search->txn->items[0].new;
	lanes = route->path.lanes;
	taken = &ledger->guide_lanes[route->hops[0].guide >> 1];
	*taken |= lanes;
	ledger_of(fake->fabric)->marks_seq++;
	do
		ret = hold(fake);
	while (ret == -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, 0, ret);
	KUNIT_EXPECT_EQ(test, 1u, search->plan.restarts);
	KUNIT_EXPECT_EQ(test, 0ULL, lanes & search->txn->items[0].new->path.lanes);
	*taken &= ~lanes;
	morph_prepared_drop(search);
	mutex_unlock(&fake->fabric->lock);
}

/* The worker has another protection first. */
static void search_ends_for_another_protection(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slice = fake_joined(fake, MORPH_FAILOVER_AUTOMATIC, MORPH_SPARES_ANY);

	fake_settle(fake);
	mutex_lock(&fake->fabric->lock);
	begin(fake, slice, 2);
	pause(fake, false);
	morph_protection_mark_stale(rank_protection(slice, 1));
	mutex_unlock(&fake->fabric->lock);
	fake_settle(fake);
	KUNIT_EXPECT_NULL(test, search_of(fake)->protection);
	KUNIT_EXPECT_NULL(test, search_of(fake)->plan.search.work);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_PLAN_CURRENT,
			morph_protection_state(rank_protection(slice, 1)));
}

/* The slice ends while the search has paused. fake_exit() finds memory that stays charged. */
static void search_ends_with_its_slice(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slice = fake_joined(fake, MORPH_FAILOVER_AUTOMATIC, MORPH_SPARES_ANY);

	fake_settle(fake);
	mutex_lock(&fake->fabric->lock);
	begin(fake, slice, 2);
	pause(fake, true);
	morph_slice_release(slice, 0);
	mutex_unlock(&fake->fabric->lock);
	fake_settle(fake);
	KUNIT_EXPECT_NULL(test, search_of(fake)->protection);
	KUNIT_EXPECT_NULL(test, search_of(fake)->txn);
	fake_expect_dark(fake);
}

static struct kunit_case prepared_cases[] = {
	KUNIT_CASE(search_leaves_the_ledger_between_holds),
	KUNIT_CASE(search_leaves_reserved_lanes_between_holds),
	KUNIT_CASE(search_begins_again_after_a_change_of_its_circuits),
	KUNIT_CASE(search_begins_again_after_a_change_of_its_spare),
	KUNIT_CASE(search_continues_after_a_change_of_the_old_path),
	KUNIT_CASE(search_sees_that_a_found_path_is_taken),
	KUNIT_CASE(search_ends_for_another_protection),
	KUNIT_CASE(search_ends_with_its_slice),
	{}
};

struct kunit_suite morph_prepared_suite = {
	.name = "morph_prepared",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = prepared_cases,
};

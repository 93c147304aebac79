// SPDX-License-Identifier: GPL-2.0-only
/* Planning: the paths of a large transaction are found in several holds of the lock. */
#include "core/txn/internal.h"
#include "core/txn/txn.h"
#include "shapes.h"
#include "suites.h"

#define CHANGES 6u

/* Circuits from each accelerator to the two others, each on a plane of its own. */
static void fill_additions(struct morph_change *changes)
{
	u32 src, i = 0;

	for (src = 0; src < 3; src++) {
		changes[i++] = fake_add(src, (src + 1) % 3, 0, 1);
		changes[i++] = fake_add(src, (src + 2) % 3, 1, 1);
	}
}

static struct morph_txn *additions(struct fake *fake, u32 flags)
{
	struct morph_change changes[CHANGES];

	fill_additions(changes);
	return fake_txn(fake, txn_slice(fake), changes, CHANGES, flags);
}

/* Drop the routes of a plan that no transaction runs. */
static void drop_plan(struct fake *fake, struct morph_txn *txn)
{
	u32 i;

	mutex_lock(&fake->fabric->lock);
	for (i = 0; i < txn->count; i++) {
		morph_route_free(txn->items[i].new);
		txn->items[i].new = NULL;
	}
	mutex_unlock(&fake->fabric->lock);
	morph_txn_put(txn);
}

static bool continue_plan(struct fake *fake, struct plan *plan)
{
	bool more;

	mutex_lock(&fake->fabric->lock);
	more = plan_continue(plan, 1);
	mutex_unlock(&fake->fabric->lock);
	return more;
}

static void plan_leaves_no_claims_between_holds(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct plan plan = { .txn = additions(fake, 0) };
	u32 holds = 0, before = 0;

	while (continue_plan(fake, &plan)) {
		KUNIT_EXPECT_GT(test, plan.found, before);
		before = plan.found;
		holds++;
		fake_expect_dark(fake);
	}
	KUNIT_EXPECT_GT(test, holds, 2u);
	KUNIT_EXPECT_EQ(test, CHANGES, plan.found);
	KUNIT_EXPECT_EQ(test, 0u, plan.restarts);
	fake_expect_dark(fake);
	drop_plan(fake, plan.txn);
}

/* The first path loses its lane to another change, so planning finds another one. */
static void plan_searches_again_after_a_conflict(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct plan plan = { .txn = additions(fake, 0) };
	struct optics_state *ledger = ledger_of(fake->fabric)->state;
	const struct morph_route *route;
	u64 *taken, lanes;

	continue_plan(fake, &plan);
	continue_plan(fake, &plan);
	KUNIT_ASSERT_EQ(test, 2u, plan.found);
	route = plan.txn->items[0].new;
	lanes = route->path.lanes;
	taken = &ledger->guide_lanes[route->hops[0].guide >> 1];
	*taken |= lanes;
	while (continue_plan(fake, &plan))
		;
	KUNIT_EXPECT_EQ(test, 1u, plan.restarts);
	KUNIT_EXPECT_EQ(test, CHANGES, plan.found);
	KUNIT_ASSERT_NOT_NULL(test, plan.txn->items[0].new);
	KUNIT_EXPECT_EQ(test, 0ULL, lanes & plan.txn->items[0].new->path.lanes);
	*taken &= ~lanes;
	drop_plan(fake, plan.txn);
	fake_expect_dark(fake);
}

static void plan_stops_after_many_conflicts(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct plan plan = { .txn = additions(fake, 0), .restarts = 4 };

	KUNIT_EXPECT_FALSE(test, continue_plan(fake, &plan));
	KUNIT_EXPECT_EQ(test, 0u, plan.found);
	drop_plan(fake, plan.txn);
}

static void plan_lights_all_circuits(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_txn *txn = additions(fake, 0);

	KUNIT_EXPECT_EQ(test, 0, morph_txn_run(txn));
	KUNIT_EXPECT_EQ(test, CHANGES, txn_slice(fake)->circuits_count);
	fake_expect_light(fake);
	morph_txn_put(txn);
}

/* All circuits change planes at once: each needs ports that another one leaves. */
static void plan_searches_without_the_old_claims(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_txn *txn = additions(fake, 0);
	struct morph_change changes[CHANGES];
	u32 i;

	KUNIT_ASSERT_EQ(test, 0, morph_txn_run(txn));
	for (i = 0; i < CHANGES; i++)
		changes[i] = fake_move(txn->items[i].change.circuit, !(i % 2));
	morph_txn_put(txn);
	txn = fake_txn(fake, txn_slice(fake), changes, CHANGES, 0);
	KUNIT_EXPECT_EQ(test, 0, morph_txn_run(txn));
	for (i = 0; i < CHANGES; i++)
		KUNIT_EXPECT_EQ(test, !(i % 2), txn->items[i].change.src_plane);
	fake_expect_light(fake);
	morph_txn_put(txn);
}

/* A change is impossible: a large transaction is refused like a small one, and leaves nothing. */
static void plan_refuses_as_before(struct kunit *test)
{
	struct morph_change changes[CHANGES];
	struct fake *fake = test->priv;
	struct morph_txn *few, *many;

	fill_additions(changes);
	/* The selector of transmit port 0 cannot lead to 1 and 2. */
	changes[1].src_plane = 0;
	changes[1].dst_plane = 0;
	few = fake_txn(fake, txn_slice(fake), changes, 2, 0);
	many = fake_txn(fake, txn_slice(fake), changes, CHANGES, 0);
	KUNIT_EXPECT_NE(test, 0, morph_txn_run(few));
	KUNIT_EXPECT_EQ(test, few->refusal.error, morph_txn_run(many));
	KUNIT_EXPECT_EQ(test, 1u, many->refusal.item);
	KUNIT_EXPECT_STREQ(test, few->refusal.text, many->refusal.text);
	KUNIT_EXPECT_EQ(test, few->refusal.reason, many->refusal.reason);
	KUNIT_EXPECT_EQ(test, -ECANCELED, many->items[0].change.status);
	KUNIT_EXPECT_EQ(test, few->refusal.error, many->items[1].change.status);
	KUNIT_EXPECT_EQ(test, -ECANCELED, many->items[CHANGES - 1].change.status);
	morph_txn_put(few);
	morph_txn_put(many);
	fake_expect_dark(fake);
}

static struct kunit_case plan_cases[] = {
	KUNIT_CASE(plan_leaves_no_claims_between_holds),
	KUNIT_CASE(plan_searches_again_after_a_conflict),
	KUNIT_CASE(plan_stops_after_many_conflicts),
	KUNIT_CASE(plan_lights_all_circuits),
	KUNIT_CASE(plan_searches_without_the_old_claims),
	KUNIT_CASE(plan_refuses_as_before),
	{}
};

struct kunit_suite morph_txn_plan_suite = {
	.name = "morph_txn_plan",
	.init = txn_init,
	.exit = fake_exit,
	.test_cases = plan_cases,
};

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
static void drop_plan(struct fake *fake, struct morph_planning *plan)
{
	struct morph_txn *txn = plan->txn;
	u32 i;

	mutex_lock(&fake->fabric->lock);
	for (i = 0; i < txn->count; i++) {
		morph_route_free(txn->items[i].new);
		txn->items[i].new = NULL;
	}
	mutex_unlock(&fake->fabric->lock);
	kvfree(plan->paths);
	morph_txn_put(txn);
}

static bool continue_plan(struct fake *fake, struct morph_planning *plan)
{
	bool more;

	mutex_lock(&fake->fabric->lock);
	more = morph_planning_continue(plan, 1);
	mutex_unlock(&fake->fabric->lock);
	return more;
}

static void plan_leaves_no_claims_between_holds(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_planning plan = { .txn = additions(fake, 0) };
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
	drop_plan(fake, &plan);
}

/* The first path loses its lane to another change, so planning finds another one. */
static void plan_searches_again_after_a_conflict(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_planning plan = { .txn = additions(fake, 0) };
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
	ledger_of(fake->fabric)->marks_seq++;
	while (continue_plan(fake, &plan))
		;
	KUNIT_EXPECT_EQ(test, 1u, plan.restarts);
	KUNIT_EXPECT_EQ(test, CHANGES, plan.found);
	KUNIT_ASSERT_NOT_NULL(test, plan.txn->items[0].new);
	KUNIT_EXPECT_EQ(test, 0ULL, lanes & plan.txn->items[0].new->path.lanes);
	*taken &= ~lanes;
	drop_plan(fake, &plan);
	fake_expect_dark(fake);
}

static void plan_stops_after_many_conflicts(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_planning plan = { .txn = additions(fake, 0), .restarts = 4 };

	KUNIT_EXPECT_FALSE(test, continue_plan(fake, &plan));
	KUNIT_EXPECT_EQ(test, 0u, plan.found);
	drop_plan(fake, &plan);
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

/* Few changes, of which the second is impossible beside the first. */
static struct morph_txn *impossible(struct fake *fake)
{
	struct morph_change changes[CHANGES];

	fill_additions(changes);
	/* The selector of transmit port 0 cannot lead to 1 and 2. */
	changes[1].src_plane = 0;
	changes[1].dst_plane = 0;
	return fake_txn(fake, txn_slice(fake), changes, 2, 0);
}

/* The pauses of a search, as plan_yield() uses them. */
static bool pause_plan(struct kunit *test, struct fake *fake, struct morph_planning *plan)
{
	bool more = continue_plan(fake, plan);

	if (plan->needs_memory)
		KUNIT_EXPECT_EQ(test, 0,
				morph_path_search_alloc(&plan->search, txn_slice(fake)->user,
							&plan->txn->refusal));
	plan->needs_memory = false;
	return more;
}

static int stage_plan(struct fake *fake, struct morph_planning *plan)
{
	int ret;

	mutex_lock(&fake->fabric->lock);
	plan->txn->plan = plan;
	ret = morph_txn_stage(plan->txn);
	plan->txn->plan = NULL;
	mutex_unlock(&fake->fabric->lock);
	return ret;
}

static void plan_pauses_a_long_search(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_planning plan = { .txn = impossible(fake), .effort = 1 };
	struct morph_txn *once = impossible(fake);
	u32 holds = 0;
	u64 steps;

	KUNIT_EXPECT_NE(test, 0, morph_txn_run(once));
	while (pause_plan(test, fake, &plan)) {
		holds++;
		fake_expect_dark(fake);
	}
	KUNIT_EXPECT_GT(test, holds, 6u);
	KUNIT_EXPECT_EQ(test, 1u, plan.found);
	KUNIT_EXPECT_EQ(test, 0u, plan.search.restarts);
	KUNIT_EXPECT_EQ(test, once->refusal.error, plan.error);
	steps = morph_route_steps(fake->fabric);
	KUNIT_EXPECT_EQ(test, once->refusal.error, stage_plan(fake, &plan));
	KUNIT_EXPECT_EQ_MSG(test, steps, morph_route_steps(fake->fabric), "staging searches again");
	KUNIT_EXPECT_TRUE(test, plan.refused);
	KUNIT_EXPECT_EQ(test, once->refusal.reason, plan.txn->refusal.reason);
	KUNIT_EXPECT_STREQ(test, once->refusal.text, plan.txn->refusal.text);
	morph_path_search_free(&plan.search);
	morph_txn_put(once);
	drop_plan(fake, &plan);
	fake_expect_dark(fake);
}

static void plan_starts_a_search_again_after_a_change(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_change change = fake_add(0, 1, 0, 1);
	struct morph_planning plan = { .effort = 1 };
	u32 holds = 0;

	plan.txn = fake_txn(fake, txn_slice(fake), &change, 1, 0);
	while (pause_plan(test, fake, &plan)) {
		ledger_of(fake->fabric)->marks_seq++;
		holds++;
	}
	/* The first hold has no memory; then come the first start and three others. */
	KUNIT_EXPECT_GT(test, holds, 1u + 1u + MORPH_MOST_RESTARTS);
	KUNIT_EXPECT_GT(test, plan.search.restarts, MORPH_MOST_RESTARTS);
	KUNIT_EXPECT_EQ(test, 1u, plan.found);
	morph_path_search_free(&plan.search);
	drop_plan(fake, &plan);
}

/* A search that has met several ledgers has no proof that no path exists. */
static void plan_gives_up_a_search_that_changes_disturb(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_planning plan = { .txn = impossible(fake), .effort = 1 };

	while (pause_plan(test, fake, &plan))
		ledger_of(fake->fabric)->marks_seq++;
	KUNIT_EXPECT_EQ(test, 1u, plan.found);
	KUNIT_EXPECT_EQ(test, -EAGAIN, stage_plan(fake, &plan));
	KUNIT_EXPECT_TRUE(test, plan.refused);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_REASON_GAVE_UP, plan.txn->refusal.reason);
	morph_path_search_free(&plan.search);
	drop_plan(fake, &plan);
	fake_expect_dark(fake);
}

static void staging_ends_when_a_search_pauses(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_planning plan = { .txn = impossible(fake), .effort = 1 };

	KUNIT_EXPECT_EQ(test, -EINPROGRESS, stage_plan(fake, &plan));
	KUNIT_EXPECT_NULL(test, plan.txn->items[0].circuit);
	KUNIT_EXPECT_EQ(test, 0u, txn_slice(fake)->circuits_count);
	fake_expect_dark(fake);
	drop_plan(fake, &plan);
}

/* Staging has found no memory: the next attempt uses what was fetched without the lock. */
static void memory_that_staging_wanted_is_fetched_and_used(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_planning plan = { .txn = additions(fake, 0) };
	struct morph_txn *txn = plan.txn;
	u32 numbers[CHANGES], i;

	txn->memory = &plan.memory;
	KUNIT_EXPECT_FALSE(test, morph_txn_wants_memory(txn));
	plan.memory = (struct morph_txn_memory){
		.stash.wanted = true, .settings = 100, .numbers = true,
	};
	KUNIT_EXPECT_TRUE(test, morph_txn_wants_memory(txn));
	KUNIT_ASSERT_EQ(test, 0, morph_txn_fetch_memory(txn));
	KUNIT_EXPECT_FALSE(test, morph_txn_wants_memory(txn));
	KUNIT_EXPECT_NOT_NULL(test, plan.memory.stash.blocks);
	KUNIT_EXPECT_EQ(test, 100u, txn->settings_room);
	for (i = 0; i < CHANGES; i++) {
		numbers[i] = txn->items[i].kept_number;
		KUNIT_EXPECT_NE(test, 0u, numbers[i]);
		KUNIT_EXPECT_NULL(test, xa_load(&txn->slice->circuits, numbers[i]));
	}
	mutex_lock(&fake->fabric->lock);
	KUNIT_ASSERT_EQ(test, 0, morph_txn_stage(txn));
	for (i = 0; i < CHANGES; i++)
		KUNIT_EXPECT_EQ(test, numbers[i], txn->items[i].circuit->id);
	morph_txn_unstage(txn);
	mutex_unlock(&fake->fabric->lock);
	morph_txn_drop_memory(txn);
	KUNIT_EXPECT_TRUE(test, xa_empty(&txn_slice(fake)->circuits));
	morph_txn_put(txn);
}

/* Numbers that no circuit got are free again. */
static void numbers_that_were_fetched_in_vain_are_freed(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_planning plan = { .txn = additions(fake, 0), .memory.numbers = true };

	plan.txn->memory = &plan.memory;
	KUNIT_ASSERT_EQ(test, 0, morph_txn_fetch_memory(plan.txn));
	KUNIT_EXPECT_FALSE(test, xa_empty(&txn_slice(fake)->circuits));
	morph_txn_drop_memory(plan.txn);
	KUNIT_EXPECT_TRUE(test, xa_empty(&txn_slice(fake)->circuits));
	morph_txn_put(plan.txn);
}

static void memory_of_a_search_is_charged(struct kunit *test)
{
	/* Not the slice's user, whom the worker charges for protections meanwhile. */
	struct morph_user *user = morph_user_get(KUIDT_INIT(4711));
	struct morph_refusal refusal = {};
	struct morph_path_search search = {};

	KUNIT_ASSERT_NOT_NULL(test, user);
	KUNIT_ASSERT_EQ(test, 0, morph_path_search_alloc(&search, user, &refusal));
	KUNIT_EXPECT_EQ(test, (u64)optics_route_bytes(MORPH_ROUTE_STEPS), user->used.bytes);
	morph_path_search_free(&search);
	KUNIT_EXPECT_EQ(test, 0ull, user->used.bytes);
	KUNIT_EXPECT_NULL(test, search.work);
	morph_user_put(user);
}

static void cordons_change_the_number_of_the_ledger(struct kunit *test)
{
	const struct morph_culprit part = { .part = MORPH_PART_ELEMENT };
	struct fake *fake = test->priv;
	struct morph_affected affected;
	u64 before = morph_ledger_seq(fake->fabric);

	mutex_lock(&fake->fabric->lock);
	morph_health_mark_cordon(fake->fabric, &part, true, &affected);
	KUNIT_EXPECT_NE(test, before, morph_ledger_seq(fake->fabric));
	morph_health_mark_cordon(fake->fabric, &part, false, &affected);
	mutex_unlock(&fake->fabric->lock);
}

static void plan_validates_all_paths(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_planning plan = { .txn = additions(fake, 0) };

	while (continue_plan(fake, &plan))
		;
	KUNIT_EXPECT_TRUE(test, plan.judged_all);
	KUNIT_EXPECT_EQ(test, CHANGES, plan.judged);
	KUNIT_EXPECT_FALSE(test, continue_plan(fake, &plan));
	KUNIT_EXPECT_EQ(test, 0u, plan.rejudges);
	ledger_of(fake->fabric)->marks_seq++;
	while (continue_plan(fake, &plan))
		;
	KUNIT_EXPECT_EQ_MSG(test, 1u, plan.rejudges, "the ledger has changed");
	KUNIT_EXPECT_EQ(test, CHANGES, plan.judged);
	drop_plan(fake, &plan);
	fake_expect_dark(fake);
}

static void staging_takes_the_verdict_of_planning(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_planning plan = { .txn = additions(fake, 0) };

	while (continue_plan(fake, &plan))
		;
	plan.judge_error = -ENOSPC;
	plan.judge_why = (struct optics_refusal){ .reason = OPTICS_LANES, .item = 2 };
	plan.staging = true;
	KUNIT_EXPECT_EQ(test, -ENOSPC, stage_plan(fake, &plan));
	KUNIT_EXPECT_EQ(test, 2u, plan.txn->refusal.item);
	KUNIT_EXPECT_EQ(test, -ENOSPC, plan.txn->items[2].change.status);
	drop_plan(fake, &plan);
	fake_expect_dark(fake);
}

static struct kunit_case plan_cases[] = {
	KUNIT_CASE(plan_leaves_no_claims_between_holds),
	KUNIT_CASE(plan_searches_again_after_a_conflict),
	KUNIT_CASE(plan_stops_after_many_conflicts),
	KUNIT_CASE(plan_lights_all_circuits),
	KUNIT_CASE(plan_searches_without_the_old_claims),
	KUNIT_CASE(plan_refuses_as_before),
	KUNIT_CASE(plan_pauses_a_long_search),
	KUNIT_CASE(plan_starts_a_search_again_after_a_change),
	KUNIT_CASE(plan_gives_up_a_search_that_changes_disturb),
	KUNIT_CASE(staging_ends_when_a_search_pauses),
	KUNIT_CASE(plan_validates_all_paths),
	KUNIT_CASE(staging_takes_the_verdict_of_planning),
	KUNIT_CASE(memory_that_staging_wanted_is_fetched_and_used),
	KUNIT_CASE(numbers_that_were_fetched_in_vain_are_freed),
	KUNIT_CASE(memory_of_a_search_is_charged),
	KUNIT_CASE(cordons_change_the_number_of_the_ledger),
	{}
};

struct kunit_suite morph_txn_plan_suite = {
	.name = "morph_txn_plan",
	.init = txn_init,
	.exit = fake_exit,
	.test_cases = plan_cases,
};

// SPDX-License-Identifier: GPL-2.0-only
/* Staging in parts, beside changes that come between the copy of the ledger and the claims. */
#include "core/base/trace.h"
#include "core/txn/internal.h"
#include "core/txn/txn.h"
#include "joined.h"
#include "shapes.h"
#include "suites.h"

#define CHANGES 6u

/* Takes lanes of a guide when the lock is dropped; odd calls come after a copy of the ledger. */
struct thief {
	struct fake *fake;
	u32 guide, calls;
	u64 lanes;		/* to be taken; 0: each time the one that the draft will choose */
	u64 taken;
};

static void steal(void *data, u32 id, u32 slice, u32 found)
{
	struct thief *thief = data;
	struct morph_fabric *fabric = thief->fake->fabric;
	u64 *held = &ledger_of(fabric)->state->guide_lanes[thief->guide];

	/* A tracepoint must not sleep. Nobody else uses the lock. */
	if (!(++thief->calls % 2) || thief->calls > 2 * MORPH_MOST_RESTARTS + 1)
		return;
	*held &= ~thief->taken;
	/* The draft knows what was taken, and chooses the first other lane. */
	thief->taken = thief->lanes ?: 1ULL << (thief->taken == 1);
	*held |= thief->taken;
	ledger_of(fabric)->marks_seq++;
}

static void give_back(struct thief *thief)
{
	struct morph_fabric *fabric = thief->fake->fabric;

	mutex_lock(&fabric->lock);
	ledger_of(fabric)->state->guide_lanes[thief->guide] &= ~thief->taken;
	ledger_of(fabric)->marks_seq++;
	mutex_unlock(&fabric->lock);
}

/* Stage in parts, while the thief acts. */
static int stage(struct thief *thief, struct morph_txn *txn)
{
	struct morph_planning plan = { .txn = txn };
	struct fake *fake = thief->fake;
	int ret;

	KUNIT_EXPECT_EQ(fake->test, 0, register_trace_morph_search_pause(steal, thief));
	mutex_lock(&fake->fabric->lock);
	txn->plan = &plan;
	txn->memory = &plan.memory;
	ret = parts_stage(&plan);
	txn->plan = NULL;
	morph_txn_drop_memory(txn);
	mutex_unlock(&fake->fabric->lock);
	unregister_trace_morph_search_pause(steal, thief);
	tracepoint_synchronize_unregister();
	morph_path_search_free(&plan.search);
	return ret;
}

/* Circuits from each accelerator to the two others, each on a plane of its own. */
static void fill_additions(struct morph_change *changes)
{
	u32 src, i = 0;

	for (src = 0; src < 3; src++) {
		changes[i++] = fake_add(src, (src + 1) % 3, 0, 1);
		changes[i++] = fake_add(src, (src + 2) % 3, 1, 1);
	}
}

/* Lit circuits that all change planes: each needs ports that another one leaves. */
static struct morph_txn *moves(struct fake *fake)
{
	struct morph_change changes[CHANGES];
	struct morph_txn *txn;
	u32 i;

	fill_additions(changes);
	txn = fake_txn(fake, txn_slice(fake), changes, CHANGES, 0);
	KUNIT_ASSERT_EQ(fake->test, 0, morph_txn_run(txn));
	for (i = 0; i < CHANGES; i++)
		changes[i] = fake_move(txn->items[i].change.circuit, !(i % 2));
	morph_txn_put(txn);
	return fake_txn(fake, txn_slice(fake), changes, CHANGES, 0);
}

/* The first guide of the transmitter of a rank on a plane. */
static u32 guide_of(struct fake *fake, u32 rank, u32 plane)
{
	const struct optics_graph *graph = fake->fabric->graph;
	u32 accelerator = morph_end_place(txn_slice(fake), rank);

	return graph->tx_guide[accelerator * graph->params.planes + plane] >> 1;
}

static void unstage(struct fake *fake, struct morph_txn *txn)
{
	mutex_lock(&fake->fabric->lock);
	morph_txn_unstage(txn);
	mutex_unlock(&fake->fabric->lock);
}

static void parts_plan_again_when_lanes_are_taken(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct thief thief = { .fake = fake, .guide = guide_of(fake, 0, 0), .lanes = 1 };
	struct morph_change changes[CHANGES];
	struct morph_txn *txn;

	fill_additions(changes);
	txn = fake_txn(fake, txn_slice(fake), changes, CHANGES, 0);
	KUNIT_EXPECT_EQ(test, 0, stage(&thief, txn));
	KUNIT_ASSERT_NOT_NULL(test, txn->items[0].new);
	KUNIT_EXPECT_EQ(test, 2ULL, txn->items[0].new->path.lanes);
	unstage(fake, txn);
	give_back(&thief);
	morph_txn_put(txn);
	fake_expect_dark(fake);
}

static void parts_refuse_when_the_last_lanes_are_taken(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_txn *txn = moves(fake);
	u32 claims = fake_hash_claims(fake);
	struct thief thief = {
		.fake = fake, .guide = guide_of(fake, 2, 0),
		.lanes = fake->fabric->graph->all_lanes & ~1ULL,
	};
	u32 i;

	/* Lane 1 of this guide stays lit. A circuit of all lanes cannot come. */
	for (i = 0; i < CHANGES; i++)
		txn->items[i].change.lanes_count = i == CHANGES - 1 ? 2 : 1;
	KUNIT_EXPECT_NE(test, 0, stage(&thief, txn));
	KUNIT_EXPECT_EQ(test, CHANGES - 1, txn->refusal.item);
	give_back(&thief);
	KUNIT_EXPECT_EQ_MSG(test, claims, fake_hash_claims(fake), "the old claims are back");
	for (i = 0; i < CHANGES; i++) {
		KUNIT_EXPECT_NULL(test, txn->items[i].new);
		KUNIT_EXPECT_NULL(test, txn->items[i].circuit);
	}
	morph_txn_put(txn);
	fake_expect_light(fake);
}

/* Each copy is obsolete at once, so the fourth one is not followed by another. */
static void parts_search_in_the_ledger_after_many_conflicts(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct thief thief = { .fake = fake, .guide = guide_of(fake, 0, 0) };
	struct morph_change changes[CHANGES];
	struct morph_txn *txn;

	fill_additions(changes);
	txn = fake_txn(fake, txn_slice(fake), changes, CHANGES, 0);
	KUNIT_EXPECT_EQ(test, 0, stage(&thief, txn));
	KUNIT_EXPECT_GT(test, thief.calls, 2 * MORPH_MOST_RESTARTS);
	KUNIT_ASSERT_NOT_NULL(test, txn->items[0].new);
	KUNIT_EXPECT_EQ(test, 0ULL, thief.taken & txn->items[0].new->path.lanes);
	unstage(fake, txn);
	give_back(&thief);
	morph_txn_put(txn);
	fake_expect_dark(fake);
}

static struct kunit_case parts_cases[] = {
	KUNIT_CASE(parts_plan_again_when_lanes_are_taken),
	KUNIT_CASE(parts_refuse_when_the_last_lanes_are_taken),
	KUNIT_CASE(parts_search_in_the_ledger_after_many_conflicts),
	{}
};

struct kunit_suite morph_txn_parts_suite = {
	.name = "morph_txn_parts",
	.init = txn_init,
	.exit = fake_exit,
	.test_cases = parts_cases,
};

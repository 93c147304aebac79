// SPDX-License-Identifier: GPL-2.0-only
/*
 * Retries of degraded slices: what wakes them, and what a try changes; their searches, and those of
 * repairs, in several holds of the lock.
 */
#include "core/base/trace.h"
#include "fake.h"
#include "joined.h"
#include "suites.h"

/* A slice that lacks a spare, and another one on the other host. */
static void degrade_for_want_of_a_spare(struct fake *fake, struct morph_slice **slices)
{
	struct morph_refusal refusal = {};
	u32 i;

	for (i = 0; i < 2; i++)
		slices[i] = fake_joined_on_host(fake, i, MORPH_FAILOVER_AUTOMATIC,
						MORPH_SPARES_HOST);
	morph_health_cordon(fake->fabric, MORPH_PART_ACCELERATOR, 2, true, &refusal);
	fake_kill(fake, 1);
	KUNIT_EXPECT_EQ(fake->test, (u32)MORPH_SLICE_DEGRADED, slice_tenancy(slices[0])->state);
}

static void remove_circuit(struct fake *fake, struct morph_slice *slice, u32 circuit)
{
	struct morph_change change = fake_remove(circuit);
	struct morph_txn *txn = fake_txn(fake, slice, &change, 1, 0);

	KUNIT_EXPECT_EQ(fake->test, 0, morph_txn_run(txn));
	morph_txn_put(txn);
	fake_settle(fake);
}

/* Before a fix, each change of any slice repaired all degraded slices. */
static void retry_needs_a_resource_that_the_slice_lacks(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slices[2];
	u32 begun, recoveries, circuit;

	degrade_for_want_of_a_spare(fake, slices);
	begun = recovery_of(fake->fabric)->repairs_begun;
	recoveries = recovery_of(fake->fabric)->recoveries;
	circuit = fake_light(fake, slices[1], 1, 0, 1);
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, recoveries, recovery_of(fake->fabric)->recoveries);
	/* Free paths are of no use for a slice that lacks a spare. */
	remove_circuit(fake, slices[1], circuit);
	KUNIT_EXPECT_NE(test, recoveries, recovery_of(fake->fabric)->recoveries);
	KUNIT_EXPECT_EQ(test, begun, recovery_of(fake->fabric)->repairs_begun);
	KUNIT_EXPECT_EQ(test, 0UL, slice_recovery(slices[0])->retry.delay);
}

static void cordon_elements(struct fake *fake, u32 accelerator, bool cordon)
{
	struct morph_refusal refusal = {};
	u32 first = 2 * FAKE_PLANES * accelerator, i;

	for (i = 0; i < 2 * FAKE_PLANES; i++)
		morph_health_cordon(fake->fabric, MORPH_PART_ELEMENT, first + i, cordon, &refusal);
}

/* A spare without paths does not start the repair. */
static void retry_searches_paths_of_a_spare(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_refusal refusal = {};
	struct morph_slice *slices[2];
	u32 begun;

	degrade_for_want_of_a_spare(fake, slices);
	begun = recovery_of(fake->fabric)->repairs_begun;
	cordon_elements(fake, 2, true);
	morph_health_cordon(fake->fabric, MORPH_PART_ACCELERATOR, 2, false, &refusal);
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, begun, recovery_of(fake->fabric)->repairs_begun);
	KUNIT_EXPECT_NE(test, 0UL, slice_recovery(slices[0])->retry.delay);
	KUNIT_EXPECT_EQ(test, (u8)MORPH_USE_SPARE, ledger_of(fake->fabric)->chips[2].use);
	cordon_elements(fake, 2, false);
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_OK, slice_tenancy(slices[0])->state);
	KUNIT_EXPECT_EQ(test, 2u, slices[0]->ranks[1].accelerator);
	fake_expect_light(fake);
}

/* A search that only tries finds the prepared transaction in its way, and leaves it. */
static void retry_revokes_no_prepared_transaction(struct kunit *test)
{
	struct fake *fake = test->priv;
	const u32 accelerators[] = { 0, 1 };
	struct morph_slice *slice = fake_slice(fake, accelerators, 2);
	struct morph_txn *txn = fake_prepare(fake, slice);
	const struct optics_path *path = &txn->items[0].new->path;

	mutex_lock(&fake->fabric->lock);
	KUNIT_EXPECT_TRUE(test, morph_txn_has_holder(fake->fabric, MORPH_PART_LASER, path->tx));
	KUNIT_EXPECT_FALSE(test, morph_txn_has_holder(fake->fabric, MORPH_PART_LASER,
						      path->tx + FAKE_PLANES));
	KUNIT_EXPECT_EQ(test, (u32)MORPH_OUTCOME_PREPARED, txn->outcome);
	KUNIT_EXPECT_TRUE(test, morph_txn_revoke_holder(fake->fabric, MORPH_PART_LASER, path->tx));
	KUNIT_EXPECT_EQ(test, (u32)MORPH_OUTCOME_REVOKED, txn->outcome);
	mutex_unlock(&fake->fabric->lock);
	morph_txn_put(txn);
}

/* The slice lacks a path. It waits longer after each search, and its owner gets no EAGAIN. */
static void retry_searches_before_the_repair_begins(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slices[2];
	unsigned long delay = 0;
	u32 begun, i;

	for (i = 0; i < 2; i++)
		slices[i] = fake_joined_on_host(fake, i, MORPH_FAILOVER_AUTOMATIC,
						MORPH_SPARES_HOST);
	for (i = 0; i < FAKE_PLANES; i++)
		fake_set_health(fake, MORPH_PART_LASER, i, MORPH_HEALTH_FAILED);
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_DEGRADED, slice_tenancy(slices[0])->state);
	begun = recovery_of(fake->fabric)->repairs_begun;
	for (i = 0; i < 3; i++) {
		remove_circuit(fake, slices[1], fake_light(fake, slices[1], 1, 0, 1));
		KUNIT_EXPECT_GT(test, slice_recovery(slices[0])->retry.delay, delay);
		delay = slice_recovery(slices[0])->retry.delay;
	}
	KUNIT_EXPECT_EQ(test, begun, recovery_of(fake->fabric)->repairs_begun);
	fake_set_health(fake, MORPH_PART_LASER, 1, MORPH_HEALTH_OK);
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_OK, slice_tenancy(slices[0])->state);
	KUNIT_EXPECT_EQ(test, 0UL, slice_recovery(slices[0])->retry.delay);
	fake_expect_light(fake);
}

/* ------------------------------------------------- searches in several holds */

/* The test in the pauses of searches. No thread holds the lock then, and the test cannot sleep. */
struct pauses {
	struct fake *fake;
	u32 count;
	u32 disturbed;		/* the first pauses, up to this number, contain another change */
	struct morph_slice *ends;	/* or NULL: this slice ends in the third pause */
	u32 claims;		/* fake_hash_claims() in the first one, or 0 */
	bool claimed;		/* the claims have changed since */
};

/* Another thread may search, too, and its claims do not count. */
static void see_claims(struct pauses *pauses)
{
	u32 claims;

	if (!mutex_trylock(&pauses->fake->fabric->lock))
		return;
	claims = fake_hash_claims(pauses->fake);
	mutex_unlock(&pauses->fake->fabric->lock);
	pauses->claimed |= pauses->claims && claims != pauses->claims;
	pauses->claims = claims;
}

static void in_pause(void *data, u32 fabric, u32 slice, u32 found)
{
	struct pauses *pauses = data;

	pauses->count++;
	see_claims(pauses);
	if (pauses->count <= pauses->disturbed)
		ledger_of(pauses->fake->fabric)->marks_seq++;
	if (pauses->ends && pauses->count == 3)
		WRITE_ONCE(pauses->ends->dying, true);
}

static void pauses_begin(struct pauses *pauses, struct fake *fake)
{
	pauses->fake = fake;
	txns_of(fake->fabric)->effort = 1;
	KUNIT_EXPECT_EQ(fake->test, 0, register_trace_morph_search_pause(in_pause, pauses));
}

/* Wait until no search runs. */
static void pauses_end(struct pauses *pauses)
{
	fake_settle(pauses->fake);
	unregister_trace_morph_search_pause(in_pause, pauses);
	tracepoint_synchronize_unregister();
	txns_of(pauses->fake->fabric)->effort = MORPH_HOLD_EFFORT;
}

static void repair_reroutes_in_several_holds(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slice = fake_joined(fake, MORPH_FAILOVER_MANUAL, MORPH_SPARES_HOST);
	const struct morph_route *route = fake_only_circuit(slice)->route;
	struct pauses pauses = {};

	pauses_begin(&pauses, fake);
	fake_set_health(fake, MORPH_PART_GUIDE, route->hops[1].guide >> 1, MORPH_HEALTH_FAILED);
	pauses_end(&pauses);
	KUNIT_EXPECT_GT(test, pauses.count, 2u);
	KUNIT_EXPECT_FALSE(test, pauses.claimed);
	KUNIT_EXPECT_EQ(test, 1ULL, fake_stat(fake, MORPH_STAT_REROUTES));
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_OK, slice_tenancy(slice)->state);
	fake_expect_light(fake);
}

static void failover_searches_in_several_holds(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_refusal refusal = {};
	struct morph_slice *slices[2];
	struct pauses pauses = {};

	degrade_for_want_of_a_spare(fake, slices);
	pauses_begin(&pauses, fake);
	morph_health_cordon(fake->fabric, MORPH_PART_ACCELERATOR, 2, false, &refusal);
	pauses_end(&pauses);
	KUNIT_EXPECT_GT(test, pauses.count, 2u);
	KUNIT_EXPECT_EQ(test, 1ULL, fake_stat(fake, MORPH_STAT_FAILOVERS));
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_OK, slice_tenancy(slices[0])->state);
	fake_expect_light(fake);
}

/* All lasers of rank 0 fail, so its circuit has no path. */
static struct morph_circuit *degrade_for_want_of_a_path(struct fake *fake)
{
	struct morph_slice *slice = fake_joined(fake, MORPH_FAILOVER_MANUAL, MORPH_SPARES_HOST);
	struct morph_culprit laser = { .part = MORPH_PART_LASER };

	mutex_lock(&fake->fabric->lock);
	for (; laser.index < FAKE_PLANES; laser.index++)
		morph_health_set(fake->fabric, &laser, MORPH_HEALTH_FAILED, 0);
	mutex_unlock(&fake->fabric->lock);
	return fake_only_circuit(slice);
}

#define DISTURBED 12u	/* pauses: more than a search needs to begin again four times */

/* A disturbed search proves nothing, so another one follows. */
static void expect_searched_again(struct fake *fake, const struct pauses *pauses,
				  const struct morph_circuit *circuit)
{
	KUNIT_EXPECT_GT(fake->test, pauses->count, DISTURBED);
	KUNIT_EXPECT_TRUE(fake->test, morph_circuit_in_vain(circuit));
	KUNIT_EXPECT_FALSE(fake->test, slice_recovery(circuit->slice)->woken);
	KUNIT_EXPECT_EQ(fake->test, (u32)MORPH_SLICE_DEGRADED,
			slice_tenancy(circuit->slice)->state);
}

static void retry_repeats_a_disturbed_try(struct kunit *test)
{
	struct fake *fake = test->priv;
	const struct morph_circuit *circuit = degrade_for_want_of_a_path(fake);
	struct pauses pauses = { .disturbed = DISTURBED };
	u32 begun;

	fake_settle(fake);
	begun = recovery_of(fake->fabric)->repairs_begun;
	pauses_begin(&pauses, fake);
	mutex_lock(&fake->fabric->lock);
	morph_repair_recover(fake->fabric, MORPH_FREED_PATHS);
	mutex_unlock(&fake->fabric->lock);
	pauses_end(&pauses);
	expect_searched_again(fake, &pauses, circuit);
	KUNIT_EXPECT_EQ(test, begun, recovery_of(fake->fabric)->repairs_begun);
	KUNIT_EXPECT_EQ_MSG(test, msecs_to_jiffies(40), slice_recovery(circuit->slice)->retry.delay,
			    "two tries");
}

static void retry_follows_a_disturbed_repair(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct pauses pauses = { .disturbed = DISTURBED };
	const struct morph_circuit *circuit;

	pauses_begin(&pauses, fake);
	circuit = degrade_for_want_of_a_path(fake);
	pauses_end(&pauses);
	expect_searched_again(fake, &pauses, circuit);
}

static void retry_stops_when_its_slice_ends(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slice = degrade_for_want_of_a_path(fake)->slice;
	struct pauses pauses = { .ends = slice };
	u32 begun;

	fake_settle(fake);
	begun = recovery_of(fake->fabric)->repairs_begun;
	pauses_begin(&pauses, fake);
	fake_set_health(fake, MORPH_PART_LASER, 1, MORPH_HEALTH_OK);
	pauses_end(&pauses);
	KUNIT_EXPECT_EQ(test, 3u, pauses.count);
	KUNIT_EXPECT_FALSE(test, slice->busy);
	KUNIT_EXPECT_EQ(test, begun, recovery_of(fake->fabric)->repairs_begun);
	WRITE_ONCE(slice->dying, false);
}

static struct kunit_case retry_cases[] = {
	KUNIT_CASE(retry_needs_a_resource_that_the_slice_lacks),
	KUNIT_CASE(retry_searches_before_the_repair_begins),
	KUNIT_CASE(retry_searches_paths_of_a_spare),
	KUNIT_CASE(retry_revokes_no_prepared_transaction),
	KUNIT_CASE(repair_reroutes_in_several_holds),
	KUNIT_CASE(failover_searches_in_several_holds),
	KUNIT_CASE(retry_repeats_a_disturbed_try),
	KUNIT_CASE(retry_follows_a_disturbed_repair),
	KUNIT_CASE(retry_stops_when_its_slice_ends),
	{}
};

struct kunit_suite morph_retry_suite = {
	.name = "morph_retry",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = retry_cases,
};

// SPDX-License-Identifier: GPL-2.0-only
/* Protections, failover, rerouting, and the end of slices after hardware failures. */
#include "fake.h"
#include "joined.h"
#include "suites.h"

#define MOST_ROUNDS	8u	/* of one repair */

static void expect_events(struct fake *fake, const u32 *types, u32 count)
{
	struct morph_event event;
	u32 i;

	for (i = 0; i < count; i++)
		KUNIT_EXPECT_EQ_MSG(fake->test, types[i], fake_event(fake, 0, &event), "event %u",
				    i);
	KUNIT_EXPECT_EQ(fake->test, 0u, fake_event(fake, 0, &event));
}

static u32 count_calls(const struct fake *fake, char call)
{
	const char *at = fake->log;
	u32 count = 0;

	while ((at = strchr(at, call))) {
		count++;
		at++;
	}
	return count;
}

/* ---------------------------------------------------------------- failed lasers */

/*
 * One laser of a port fails, and all lanes of the other port are taken. Before a fix, the search
 * visited ports without failed lanes only, so the circuit stayed dark beside free lasers.
 */
static void repair_uses_other_lasers_of_a_port(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slice = fake_joined(fake, MORPH_FAILOVER_AUTOMATIC, MORPH_SPARES_HOST);
	const struct morph_circuit *circuit = fake_only_circuit(slice);
	struct morph_culprit laser = {
		.part = MORPH_PART_LASER,
		.index = circuit->route->path.tx,
		.lanes = circuit->route->path.lanes,
	};
	u32 i;

	for (i = 0; i < FAKE_LANES; i++)
		fake_light(fake, slice, 0, 1, !(laser.index % FAKE_PLANES));
	mutex_lock(&fake->fabric->lock);
	KUNIT_EXPECT_EQ(test, 0, morph_health_set(fake->fabric, &laser, MORPH_HEALTH_FAILED, 0));
	mutex_unlock(&fake->fabric->lock);
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_OK, slice_tenancy(slice)->state);
	KUNIT_EXPECT_EQ(test, laser.index, circuit->route->path.tx);
	KUNIT_EXPECT_EQ(test, 0ULL, laser.lanes & circuit->route->path.lanes);
	fake_expect_light(fake);
}

/* --------------------------------------------------------------- protections */

static void protection_is_made_for_all_ranks(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slice = fake_joined(fake, MORPH_FAILOVER_AUTOMATIC, MORPH_SPARES_HOST);
	u32 i;

	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, (u32)MORPH_PLAN_CURRENT,
				morph_protection_state(rank_protection(slice, i)));
		KUNIT_EXPECT_EQ(test, 2u, rank_protection(slice, i)->spare);
	}
	/* A protection claims nothing: other tenants can use the spare and the lanes. */
	KUNIT_EXPECT_EQ(test, (u8)MORPH_USE_SPARE, ledger_of(fake->fabric)->chips[2].use);
	fake_expect_light(fake);
}

struct spoil_case {
	const char *name;
	u32 policy;
	u32 spare;		/* of the next protection; MORPH_ANY: no protection is possible */
};

static const struct spoil_case spoil_cases[] = {
	{ "spares of any host: the next", MORPH_SPARES_ANY, 5 },
	{ "spares of the host: none", MORPH_SPARES_HOST, MORPH_ANY },
};

FAKE_CASE_DESC(spoil_cases, name);

/*
 * The operator cordons its spare. The slice gets another protection, or none until the spare is
 * back.
 */
static void protection_follows_its_spare(struct kunit *test)
{
	const struct spoil_case *param = test->param_value;
	struct morph_refusal refusal = {};
	struct fake *fake = test->priv;
	struct morph_slice *slice = fake_joined(fake, MORPH_FAILOVER_AUTOMATIC, param->policy);
	const struct morph_protection *protection = rank_protection(slice, 0);

	morph_health_cordon(fake->fabric, MORPH_PART_ACCELERATOR, 2, true, &refusal);
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, param->spare, protection->spare);
	KUNIT_EXPECT_EQ(test, param->spare == MORPH_ANY ? (u32)MORPH_PLAN_NONE :
			(u32)MORPH_PLAN_CURRENT, morph_protection_state(protection));
	if (param->spare != MORPH_ANY)
		return;
	morph_health_cordon(fake->fabric, MORPH_PART_ACCELERATOR, 2, false, &refusal);
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, 2u, protection->spare);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_PLAN_CURRENT, morph_protection_state(protection));
}

/* The middle guide of a protection's first circuit. */
static u32 protection_guide(struct kunit *test, const struct morph_protection *protection)
{
	KUNIT_ASSERT_NOT_NULL(test, protection->txn);
	return protection->txn->items[0].new->hops[1].guide >> 1;
}

/* A guide of the protection fails. The protection gets another path. */
static void protection_follows_its_guides(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slice = fake_joined(fake, MORPH_FAILOVER_AUTOMATIC, MORPH_SPARES_HOST);
	struct morph_protection *protection = rank_protection(slice, 0);
	u32 guide = protection_guide(test, protection);

	fake_set_health(fake, MORPH_PART_GUIDE, guide, MORPH_HEALTH_FAILED);
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_PLAN_CURRENT, morph_protection_state(protection));
	KUNIT_EXPECT_NE(test, guide, protection_guide(test, protection));
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_OK, slice_tenancy(slice)->state);
}

/* The same for a guide that the operator cordons. */
static void protection_leaves_guides_that_are_kept_free(struct kunit *test)
{
	struct morph_refusal refusal = {};
	struct fake *fake = test->priv;
	struct morph_slice *slice = fake_joined(fake, MORPH_FAILOVER_AUTOMATIC, MORPH_SPARES_HOST);
	struct morph_protection *protection = rank_protection(slice, 0);
	u32 guide = protection_guide(test, protection);

	morph_health_cordon(fake->fabric, MORPH_PART_GUIDE, guide, true, &refusal);
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_PLAN_CURRENT, morph_protection_state(protection));
	KUNIT_EXPECT_NE(test, guide, protection_guide(test, protection));
}

#define UNTOUCHED	1000u	/* tries of a protection that the worker has not rebuilt */

/*
 * Ranks 0 and 1 are joined, and so are ranks 2 and 3 on the other host. Before a fix, each change
 * of one pair made the protections of the other pair stale.
 */
static void protection_outlasts_changes_of_other_ranks(struct kunit *test)
{
	static const u32 accelerators[] = { 0, 1, 3, 4 };
	struct fake *fake = test->priv;
	const struct morph_slice_params params = {
		.accelerators = accelerators,
		.count = ARRAY_SIZE(accelerators),
		.failover = MORPH_FAILOVER_AUTOMATIC,
		.spare_policy = MORPH_SPARES_HOST,
		.user = fake->user,
	};
	struct morph_slice *slice = fake_joined_like(fake, &params);
	u32 circuit = fake_light(fake, slice, 2, 3, 0), round, i;
	struct morph_change change;
	struct morph_txn *txn;

	for (round = 0; round < 4; round++) {
		fake_settle(fake);
		for (i = 0; i < 4; i++)
			rank_protection(slice, i)->tries = UNTOUCHED;
		change = fake_move(circuit, 1 - round % 2);
		txn = fake_txn(fake, slice, &change, 1, 0);
		KUNIT_EXPECT_EQ(test, 0, morph_txn_run(txn));
		morph_txn_put(txn);
		fake_settle(fake);
		for (i = 0; i < 4; i++) {
			const struct morph_protection *protection = rank_protection(slice, i);

			KUNIT_EXPECT_EQ(test, (u32)MORPH_PLAN_CURRENT,
					morph_protection_state(protection));
			KUNIT_EXPECT_EQ(test, i < 2, protection->tries == UNTOUCHED);
		}
	}
}

/* Urgent work never ends: a tenant opens and closes slices all the time, for example. */
static void protection_is_rebuilt_beside_urgent_work(struct kunit *test)
{
	struct morph_refusal refusal = {};
	struct fake *fake = test->priv;
	struct morph_slice *slice = fake_joined(fake, MORPH_FAILOVER_AUTOMATIC, MORPH_SPARES_ANY);
	struct morph_fabric *fabric = fake->fabric;
	u32 i, rank;

	mutex_lock(&fabric->lock);
	morph_protection_pause(fabric);
	mutex_unlock(&fabric->lock);
	morph_health_cordon(fabric, MORPH_PART_ACCELERATOR, 2, true, &refusal);
	/* Each call ends one delay at once. More delays than the pauses for all tries have. */
	for (i = 0; i < 2 * HZ; i++)
		flush_delayed_work(&slices_of(fabric)->protection_work);
	for (rank = 0; rank < 2; rank++)
		KUNIT_EXPECT_EQ(test, (u32)MORPH_PLAN_CURRENT,
				morph_protection_state(rank_protection(slice, rank)));
	mutex_lock(&fabric->lock);
	morph_protection_unpause(fabric);
	mutex_unlock(&fabric->lock);
}

/* ----------------------------------------------------------------- failover */

static void failover_puts_the_spare_in_place(struct kunit *test)
{
	static const u32 events[] = { MORPH_EVENT_FAILING, MORPH_EVENT_REPLACED,
				      MORPH_EVENT_RECOVERED };
	struct fake *fake = test->priv;
	struct morph_slice *slice = fake_joined(fake, MORPH_FAILOVER_AUTOMATIC, MORPH_SPARES_HOST);
	const struct morph_fabric *fabric = fake->fabric;
	u64 generation = slice->generation;

	fake_kill(fake, 1);
	KUNIT_EXPECT_EQ(test, 2u, slice->ranks[1].accelerator);
	KUNIT_EXPECT_EQ(test, 0u, slice->ranks[0].accelerator);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_OK, slice_tenancy(slice)->state);
	KUNIT_EXPECT_EQ(test, generation + 1, slice->generation);
	KUNIT_EXPECT_EQ(test, 1ULL, fake_stat(fake, MORPH_STAT_PLANS_USED));
	KUNIT_EXPECT_EQ(test, 0ULL, fake_stat(fake, MORPH_STAT_PLANS_INLINE));
	/* The role moves in the other direction. */
	KUNIT_EXPECT_TRUE(test, ledger_of(fabric)->chips[1].spare);
	KUNIT_EXPECT_FALSE(test, ledger_of(fabric)->chips[2].spare);
	fake_expect_light(fake);
	expect_events(fake, events, ARRAY_SIZE(events));
}

static void failover_without_a_protection_is_planned_then(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slice = fake_joined(fake, MORPH_FAILOVER_AUTOMATIC, MORPH_SPARES_HOST);

	mutex_lock(&fake->fabric->lock);
	morph_protection_drop_slice(slice);
	mutex_unlock(&fake->fabric->lock);
	fake_kill(fake, 1);
	KUNIT_EXPECT_EQ(test, 2u, slice->ranks[1].accelerator);
	KUNIT_EXPECT_EQ(test, 0ULL, fake_stat(fake, MORPH_STAT_PLANS_USED));
	KUNIT_EXPECT_EQ(test, 1ULL, fake_stat(fake, MORPH_STAT_PLANS_INLINE));
	fake_expect_light(fake);
}

/* One transaction handles two failures that are detected together. */
static void failover_of_two_is_one(struct kunit *test)
{
	struct morph_culprit culprit = { .part = MORPH_PART_ACCELERATOR };
	struct fake *fake = test->priv;
	struct morph_slice *slice = fake_joined(fake, MORPH_FAILOVER_AUTOMATIC, MORPH_SPARES_ANY);
	u64 publishes = fake_stat(fake, MORPH_STAT_PUBLISHES);

	fake->dead[0] = true;
	fake->dead[1] = true;
	mutex_lock(&fake->fabric->lock);
	for (culprit.index = 0; culprit.index < 2; culprit.index++)
		morph_health_set(fake->fabric, &culprit, MORPH_HEALTH_FAILED, 0);
	mutex_unlock(&fake->fabric->lock);
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_OK, slice_tenancy(slice)->state);
	KUNIT_EXPECT_EQ(test, 7u, slice->ranks[0].accelerator + slice->ranks[1].accelerator);
	KUNIT_EXPECT_EQ(test, 2ULL, fake_stat(fake, MORPH_STAT_FAILOVERS));
	KUNIT_EXPECT_EQ(test, publishes + 1, fake_stat(fake, MORPH_STAT_PUBLISHES));
	fake_expect_light(fake);
}

struct dark_case {
	const char *name;
	bool seen;
};

static const struct dark_case dark_cases[] = {
	{ "before its receiver has reported it", false },
	{ "after its receiver has reported it", true },
};

FAKE_CASE_DESC(dark_cases, name);

/*
 * The other end is dead, too, and has no spare, so the circuit stays dark. But it leaves the
 * accelerator that the slice has lost, and is lit when its other end is back.
 */
static void failover_moves_dark_circuits(struct kunit *test)
{
	static const u32 events[] = {
		MORPH_EVENT_FAILING, MORPH_EVENT_FAILING, MORPH_EVENT_REPLACED,
		MORPH_EVENT_CIRCUIT_FAILED, MORPH_EVENT_DEGRADED,
	};
	const struct dark_case *param = test->param_value;
	struct morph_culprit culprit = { .part = MORPH_PART_ACCELERATOR };
	struct fake *fake = test->priv;
	struct morph_slice *slice = fake_joined(fake, MORPH_FAILOVER_AUTOMATIC, MORPH_SPARES_HOST);
	const struct optics_state *ledger = ledger_of(fake->fabric)->state;

	fake->dead[0] = true;
	fake->dead[1] = true;
	mutex_lock(&fake->fabric->lock);
	fake_only_circuit(slice)->dark = param->seen;
	for (culprit.index = 0; culprit.index < 2; culprit.index++)
		morph_health_set(fake->fabric, &culprit, MORPH_HEALTH_FAILED, 0);
	mutex_unlock(&fake->fabric->lock);
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, 2u, slice->ranks[0].accelerator);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_CIRCUIT_FAILED, fake_only_circuit(slice)->state);
	fake_expect_ends(test, fake_only_circuit(slice), 2, 1);
	KUNIT_EXPECT_EQ(test, 0ULL, ledger->tx_lanes[0] | ledger->tx_lanes[1]);
	KUNIT_EXPECT_EQ(test, 0ULL, fake->laser[0] | fake->laser[1]);
	expect_events(fake, events, ARRAY_SIZE(events));
	fake->dead[1] = false;
	fake_set_health(fake, MORPH_PART_ACCELERATOR, 1, MORPH_HEALTH_OK);
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_OK, slice_tenancy(slice)->state);
	KUNIT_EXPECT_EQ(test, (u8)MORPH_HEALTH_OK, ledger_of(fake->fabric)->chips[2].health);
	fake_expect_ends(test, fake_only_circuit(slice), 2, 1);
	fake_expect_light(fake);
}

/* The spare proves to be dead. It is marked, and failover takes the next one. */
static void failover_goes_past_a_dead_spare(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slice = fake_joined(fake, MORPH_FAILOVER_AUTOMATIC, MORPH_SPARES_ANY);

	fake->dead[2] = true;
	fake_kill(fake, 0);	/* the sender: a dead one emits no light */
	KUNIT_EXPECT_EQ(test, 5u, slice->ranks[0].accelerator);
	KUNIT_EXPECT_EQ(test, (u8)MORPH_HEALTH_FAILED, ledger_of(fake->fabric)->chips[2].health);
	KUNIT_EXPECT_EQ(test, 1ULL, fake_stat(fake, MORPH_STAT_FAILOVERS));
	KUNIT_EXPECT_EQ(test, 1ULL, fake_stat(fake, MORPH_STAT_FAILOVERS_FAILED));
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_OK, slice_tenancy(slice)->state);
	fake_expect_light(fake);
}

/* The same for the slice's own reserved spare. Failover takes a shared spare instead. */
static void failover_goes_past_a_dead_reserved_spare(struct kunit *test)
{
	static const u32 accelerators[] = { 0, 1 };
	struct fake *fake = test->priv;
	const struct morph_slice_params params = {
		.accelerators = accelerators,
		.count = ARRAY_SIZE(accelerators),
		.failover = MORPH_FAILOVER_AUTOMATIC,
		.spare_policy = MORPH_SPARES_ANY,
		.reserved = true,
		.user = fake->user,
	};
	struct morph_slice *slice = fake_joined_like(fake, &params);

	KUNIT_ASSERT_EQ(test, 2u, slice_tenancy(slice)->own_spare);
	fake->dead[2] = true;
	fake_kill(fake, 0);
	KUNIT_EXPECT_EQ(test, 5u, slice->ranks[0].accelerator);
	KUNIT_EXPECT_EQ(test, (u8)MORPH_HEALTH_FAILED, ledger_of(fake->fabric)->chips[2].health);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_OK, slice_tenancy(slice)->state);
	fake_expect_light(fake);
}

struct policy_case {
	const char *name;
	u32 failover;
	bool spare;		/* a spare exists */
};

static const struct policy_case policy_cases[] = {
	{ "policy is manual", MORPH_FAILOVER_MANUAL, true },
	{ "policy is none", MORPH_FAILOVER_NONE, true },
	{ "no spare is left", MORPH_FAILOVER_AUTOMATIC, false },
};

FAKE_CASE_DESC(policy_cases, name);

/* No spare replaces it. The slice reports the lost accelerator and the holder. */
static void failover_that_may_not_be_degrades(struct kunit *test)
{
	const struct policy_case *param = test->param_value;
	struct fake *fake = test->priv;
	struct morph_slice *slice = fake_joined(fake, param->failover, MORPH_SPARES_HOST);
	struct morph_event event;

	if (!param->spare)
		fake_kill(fake, 2);
	fake_kill(fake, 1);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_DEGRADED, slice_tenancy(slice)->state);
	KUNIT_EXPECT_EQ(test, 1u, slice->ranks[1].accelerator);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_CIRCUIT_FAILED, fake_only_circuit(slice)->state);
	KUNIT_EXPECT_EQ(test, 1u, recovery_of(fake->fabric)->degraded);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_EVENT_FAILING, fake_event(fake, 0, &event));
	KUNIT_EXPECT_EQ(test, (u32)MORPH_EVENT_CIRCUIT_FAILED, fake_event(fake, 0, &event));
	KUNIT_EXPECT_EQ(test, (u32)MORPH_EVENT_DEGRADED, fake_event(fake, 0, &event));
	KUNIT_EXPECT_EQ(test, (u32)MORPH_PART_ACCELERATOR, event.part);
	KUNIT_EXPECT_EQ(test, 1u, event.index);
	KUNIT_EXPECT_EQ(test, 0ULL, event.bandwidth_mbps);
	KUNIT_EXPECT_EQ(test, 0u, fake_event(fake, 0, &event));
}

/* The repair of a degraded slice begins when its flags permit it. */
static void failover_that_is_allowed_later_is_made_then(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slice = fake_joined(fake, MORPH_FAILOVER_MANUAL, MORPH_SPARES_HOST);
	struct morph_refusal refusal = {};

	fake_kill(fake, 1);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_DEGRADED, slice_tenancy(slice)->state);
	KUNIT_EXPECT_EQ(test, 0,
			morph_slice_set_policy(slice, MORPH_FAILOVER_AUTOMATIC, &refusal));
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_OK, slice_tenancy(slice)->state);
	KUNIT_EXPECT_EQ(test, 2u, slice->ranks[1].accelerator);
	fake_expect_light(fake);
}

/* When a spare becomes free, the waiting slice is repaired. */
static void failover_comes_when_a_spare_does(struct kunit *test)
{
	struct morph_refusal refusal = {};
	struct fake *fake = test->priv;
	struct morph_slice *slice = fake_joined(fake, MORPH_FAILOVER_AUTOMATIC, MORPH_SPARES_HOST);

	morph_health_cordon(fake->fabric, MORPH_PART_ACCELERATOR, 2, true, &refusal);
	fake_kill(fake, 1);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_DEGRADED, slice_tenancy(slice)->state);
	morph_health_cordon(fake->fabric, MORPH_PART_ACCELERATOR, 2, false, &refusal);
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_OK, slice_tenancy(slice)->state);
	KUNIT_EXPECT_EQ(test, 2u, slice->ranks[1].accelerator);
	KUNIT_EXPECT_EQ(test, 0u, recovery_of(fake->fabric)->degraded);
	KUNIT_EXPECT_TRUE(test, fake_has_event(fake, 0, MORPH_EVENT_RECOVERED));
	fake_expect_light(fake);
}

/*
 * One slice on each host, and one spare for both. While the first slice tries it, the second one
 * finds none. The first attempt fails for a reason other than the spare.
 */
static void two_want_one_spare(struct fake *fake, struct morph_slice **slices)
{
	struct morph_refusal refusal = {};
	u32 i;

	for (i = 0; i < 2; i++)
		slices[i] = fake_joined_on_host(fake, i, MORPH_FAILOVER_AUTOMATIC,
						MORPH_SPARES_ANY);
	morph_health_cordon(fake->fabric, MORPH_PART_ACCELERATOR, 5, true, &refusal);
	fake_settle(fake);
	fake_rule(fake, FAKE_SET_ELEMENTS, 0, FAKE_HANG, 0);
	fake->dead[1] = true;
	fake_set_health(fake, MORPH_PART_ACCELERATOR, 1, MORPH_HEALTH_FAILED);
	wait_for_completion(&fake->silent);
	fake->dead[4] = true;
	fake_set_health(fake, MORPH_PART_ACCELERATOR, 4, MORPH_HEALTH_FAILED);
	flush_work(&slice_recovery(slices[1])->repair_work);
	KUNIT_EXPECT_EQ(fake->test, (u32)MORPH_SLICE_REPAIRING, slice_tenancy(slices[0])->state);
	KUNIT_EXPECT_EQ(fake->test, (u32)MORPH_SLICE_DEGRADED, slice_tenancy(slices[1])->state);
}

static void failed_failover_leaves_the_spare_to_other_slices(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slices[2];

	two_want_one_spare(fake, slices);
	morph_fabric_complete(fake->fabric, fake->silent_cookie, -ENOMEM, NULL, 0);
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_DEGRADED, slice_tenancy(slices[0])->state);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_OK, slice_tenancy(slices[1])->state);
	KUNIT_EXPECT_EQ(test, 2u, slices[1]->ranks[1].accelerator);
}

/* The device keeps failing. Each slice tries once more, and they do not wake each other. */
static void failed_failover_does_not_repeat_forever(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slices[2];
	u64 failed;

	two_want_one_spare(fake, slices);
	failed = fake_stat(fake, MORPH_STAT_FAILOVERS_FAILED);
	fake_rule(fake, FAKE_SET_ELEMENTS, FAKE_ALWAYS, FAKE_ERROR, -ENOMEM);
	morph_fabric_complete(fake->fabric, fake->silent_cookie, -ENOMEM, NULL, 0);
	fake_settle(fake);
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_DEGRADED, slice_tenancy(slices[0])->state);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_DEGRADED, slice_tenancy(slices[1])->state);
	KUNIT_EXPECT_EQ(test, failed + 3, fake_stat(fake, MORPH_STAT_FAILOVERS_FAILED));
	KUNIT_EXPECT_EQ(test, (u8)MORPH_USE_SPARE, ledger_of(fake->fabric)->chips[2].use);
}

/* ------------------------------------------------------------------ reroute */

struct reroute_case {
	const char *name;
	u32 part;
};

static const struct reroute_case reroute_cases[] = {
	{ "guide", MORPH_PART_GUIDE },
	{ "element", MORPH_PART_ELEMENT },
	{ "laser", MORPH_PART_LASER },
	{ "receiver", MORPH_PART_RECEIVER },
};

FAKE_CASE_DESC(reroute_cases, name);

static u32 used_part(const struct morph_circuit *circuit, u32 part)
{
	const struct optics_path *path = &circuit->route->path;

	switch (part) {
	case MORPH_PART_GUIDE:
		return path->hops[1].guide >> 1;
	case MORPH_PART_ELEMENT:
		return path->hops[0].element;
	case MORPH_PART_LASER:
		return path->tx;
	}
	return path->rx;
}

/* The accelerators stay, and the light takes another path. */
static void reroute_goes_round(struct kunit *test)
{
	static const u32 events[] = { MORPH_EVENT_CIRCUIT_MOVED, MORPH_EVENT_RECOVERED };
	const struct reroute_case *param = test->param_value;
	struct fake *fake = test->priv;
	struct morph_slice *slice = fake_joined(fake, MORPH_FAILOVER_AUTOMATIC, MORPH_SPARES_HOST);
	u32 index = used_part(fake_only_circuit(slice), param->part);

	fake_set_health(fake, param->part, index, MORPH_HEALTH_FAILED);
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_OK, slice_tenancy(slice)->state);
	KUNIT_EXPECT_EQ(test, 1ULL, fake_stat(fake, MORPH_STAT_REROUTES));
	KUNIT_EXPECT_EQ(test, 0ULL, fake_stat(fake, MORPH_STAT_FAILOVERS));
	if (param->part == MORPH_PART_GUIDE || param->part == MORPH_PART_ELEMENT)
		KUNIT_EXPECT_NE(test, index, used_part(fake_only_circuit(slice), param->part));
	mutex_lock(&fake->fabric->lock);
	KUNIT_EXPECT_TRUE(test, morph_route_is_healthy(fake->fabric,
						       fake_only_circuit(slice)->route));
	mutex_unlock(&fake->fabric->lock);
	expect_events(fake, events, ARRAY_SIZE(events));
}

/* Hardware fails during each repair. The number of rounds has a limit. */
static void reroute_gives_up(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slice = fake_joined(fake, MORPH_FAILOVER_AUTOMATIC, MORPH_SPARES_HOST);
	u32 guide = used_part(fake_only_circuit(slice), MORPH_PART_GUIDE);

	fake_rule(fake, FAKE_SET_ELEMENTS, FAKE_ALWAYS, FAKE_ERROR, -EIO);
	fake_set_health(fake, MORPH_PART_GUIDE, guide, MORPH_HEALTH_FAILED);
	flush_work(&slice_recovery(slice)->repair_work);
	KUNIT_EXPECT_EQ(test, MOST_ROUNDS, count_calls(fake, FAKE_SET_ELEMENTS));
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_DEGRADED, slice_tenancy(slice)->state);
	/*
	 * A failed part may still carry light. The circuit stays on it until there is a better
	 * path.
	 */
	KUNIT_EXPECT_EQ(test, (u32)MORPH_CIRCUIT_LIT, fake_only_circuit(slice)->state);
	fake_clear(fake);
	fake_set_health(fake, MORPH_PART_GUIDE, guide, MORPH_HEALTH_OK);
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_OK, slice_tenancy(slice)->state);
	fake_expect_light(fake);
}

/* The repair is not repeated after an error that is not the hardware's. */
static void reroute_is_not_repeated_in_vain(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slice = fake_joined(fake, MORPH_FAILOVER_AUTOMATIC, MORPH_SPARES_HOST);
	u32 guide = used_part(fake_only_circuit(slice), MORPH_PART_GUIDE);

	fake_rule(fake, FAKE_SET_ELEMENTS, FAKE_ALWAYS, FAKE_ERROR, -ENOMEM);
	fake_set_health(fake, MORPH_PART_GUIDE, guide, MORPH_HEALTH_FAILED);
	flush_work(&slice_recovery(slice)->repair_work);
	KUNIT_EXPECT_EQ(test, 1u, count_calls(fake, FAKE_SET_ELEMENTS));
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_DEGRADED, slice_tenancy(slice)->state);
}

/* The only other path ends at a receiver with light. The repair tries it once and not again. */
static void reroute_ends_at_stray_light(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slice = fake_joined(fake, MORPH_FAILOVER_AUTOMATIC, MORPH_SPARES_HOST);
	const struct optics_path *path = &fake_only_circuit(slice)->route->path;
	u32 laser = path->tx, other = path->rx ^ 1;

	fake->stray[other] = ~0ULL;
	fake_set_health(fake, MORPH_PART_LASER, laser, MORPH_HEALTH_FAILED);
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_DEGRADED, slice_tenancy(slice)->state);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_HEALTH_FAILED,
			morph_health_get(fake->fabric, MORPH_PART_RECEIVER, other));
	fake->stray[other] = 0;
	fake_set_health(fake, MORPH_PART_RECEIVER, other, MORPH_HEALTH_OK);
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_OK, slice_tenancy(slice)->state);
	fake_expect_light(fake);
}

/* -------------------------------------------------------------------------- the end */

/* One failed read does not take accelerators out of use. */
static void release_survives_one_error(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slice = fake_joined(fake, MORPH_FAILOVER_AUTOMATIC, MORPH_SPARES_HOST);
	u32 i;

	fake_rule(fake, FAKE_GET_RECEIVERS, 0, FAKE_ERROR, -EREMOTEIO);
	mutex_lock(&fake->fabric->lock);
	morph_slice_release(slice, 0);
	mutex_unlock(&fake->fabric->lock);
	fake_settle(fake);
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ(test, (u8)MORPH_HEALTH_OK,
				ledger_of(fake->fabric)->chips[i].health);
}

static struct kunit_case repair_cases[] = {
	KUNIT_CASE(repair_uses_other_lasers_of_a_port),
	KUNIT_CASE(protection_is_made_for_all_ranks),
	KUNIT_CASE_PARAM(protection_follows_its_spare, spoil_cases_gen_params),
	KUNIT_CASE(protection_follows_its_guides),
	KUNIT_CASE(protection_leaves_guides_that_are_kept_free),
	KUNIT_CASE(protection_outlasts_changes_of_other_ranks),
	KUNIT_CASE(protection_is_rebuilt_beside_urgent_work),
	KUNIT_CASE(failover_puts_the_spare_in_place),
	KUNIT_CASE(failover_without_a_protection_is_planned_then),
	KUNIT_CASE(failover_of_two_is_one),
	KUNIT_CASE_PARAM(failover_moves_dark_circuits, dark_cases_gen_params),
	KUNIT_CASE(failover_goes_past_a_dead_spare),
	KUNIT_CASE(failover_goes_past_a_dead_reserved_spare),
	KUNIT_CASE_PARAM(failover_that_may_not_be_degrades, policy_cases_gen_params),
	KUNIT_CASE(failover_that_is_allowed_later_is_made_then),
	KUNIT_CASE(failover_comes_when_a_spare_does),
	KUNIT_CASE(failed_failover_leaves_the_spare_to_other_slices),
	KUNIT_CASE(failed_failover_does_not_repeat_forever),
	KUNIT_CASE_PARAM(reroute_goes_round, reroute_cases_gen_params),
	KUNIT_CASE(reroute_gives_up),
	KUNIT_CASE(reroute_is_not_repeated_in_vain),
	KUNIT_CASE(reroute_ends_at_stray_light),
	KUNIT_CASE(release_survives_one_error),
	{}
};

struct kunit_suite morph_repair_suite = {
	.name = "morph_repair",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = repair_cases,
};

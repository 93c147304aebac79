// SPDX-License-Identifier: GPL-2.0-only
/* Health: hold-down, suspects, signals. Tests set times and do not wait. */
#include "fake.h"
#include "suites.h"

#define HOLD_DOWN_NS	(50 * NSEC_PER_MSEC)
#define FLAP_WINDOW_NS	(3600 * NSEC_PER_SEC)

/* Fail and recover. Returns the length of the hold-down. */
static u64 flap(struct fake *fake, u32 accelerator)
{
	const struct morph_chip *chip = &ledger_of(fake->fabric)->chips[accelerator];

	fake_set_health(fake, MORPH_PART_ACCELERATOR, accelerator, MORPH_HEALTH_FAILED);
	fake_set_health(fake, MORPH_PART_ACCELERATOR, accelerator, MORPH_HEALTH_OK);
	return chip->hold_until_ns - chip->last_failed_ns;
}

static void health_hold_down_doubles(struct kunit *test)
{
	struct fake *fake = test->priv;
	u32 i;

	for (i = 0; i <= 10; i++)
		KUNIT_EXPECT_EQ_MSG(test, (u64)HOLD_DOWN_NS << i, flap(fake, 1), "failure %u", i);
	KUNIT_EXPECT_EQ(test, (u64)HOLD_DOWN_NS << 10, flap(fake, 1));
	/* Each part has its own hold-down. */
	KUNIT_EXPECT_EQ(test, (u64)HOLD_DOWN_NS, flap(fake, 3));
}

/* More failures than the counter can hold. */
static void health_flaps_do_not_wrap(struct kunit *test)
{
	struct fake *fake = test->priv;

	ledger_of(fake->fabric)->chips[1].flaps = U8_MAX;
	ledger_of(fake->fabric)->chips[1].last_failed_ns = ktime_get_boottime_ns();
	KUNIT_EXPECT_EQ(test, (u64)HOLD_DOWN_NS << 10, flap(fake, 1));
	KUNIT_EXPECT_EQ(test, (u64)HOLD_DOWN_NS << 10, flap(fake, 1));
}

static void health_an_hour_without_failure_counts(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_chip *chip = &ledger_of(fake->fabric)->chips[1];

	flap(fake, 1);
	flap(fake, 1);
	chip->last_failed_ns -= FLAP_WINDOW_NS / 2;
	KUNIT_EXPECT_EQ(test, (u64)HOLD_DOWN_NS << 2, flap(fake, 1));
	chip->last_failed_ns -= FLAP_WINDOW_NS + NSEC_PER_SEC;
	KUNIT_EXPECT_EQ(test, (u64)HOLD_DOWN_NS, flap(fake, 1));
}

/* A part that is suspect or failed does not fail again. */
static void health_only_a_failure_is_a_flap(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_chip *chip = &ledger_of(fake->fabric)->chips[1];

	fake_set_health(fake, MORPH_PART_ACCELERATOR, 1, MORPH_HEALTH_QUARANTINED);
	fake_set_health(fake, MORPH_PART_ACCELERATOR, 1, MORPH_HEALTH_FAILED);
	KUNIT_EXPECT_EQ(test, (u8)0, chip->flaps);
	fake_set_health(fake, MORPH_PART_ACCELERATOR, 1, MORPH_HEALTH_OK);
	fake_set_health(fake, MORPH_PART_ACCELERATOR, 1, MORPH_HEALTH_FAILED);
	fake_set_health(fake, MORPH_PART_ACCELERATOR, 1, MORPH_HEALTH_FAILED);
	KUNIT_EXPECT_EQ(test, (u8)1, chip->flaps);
}

/* A part in hold-down is healthy, but placement does not use it until the hold-down ends. */
static void health_held_down_is_not_fit(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_fabric *fabric = fake->fabric;
	u32 free = ledger_of(fabric)->free;

	ledger_of(fabric)->chips[1].flaps = 10;
	ledger_of(fabric)->chips[1].last_failed_ns = ktime_get_boottime_ns();
	flap(fake, 1);
	KUNIT_EXPECT_EQ(test, (u8)MORPH_HEALTH_OK, ledger_of(fabric)->chips[1].health);
	KUNIT_EXPECT_FALSE(test, morph_chip_fit(fabric, 1));
	KUNIT_EXPECT_EQ(test, free - 1, ledger_of(fabric)->free);
	ledger_of(fabric)->chips[1].hold_until_ns = ktime_get_boottime_ns();
	mutex_lock(&fabric->lock);
	morph_chip_update(fabric, 1);
	mutex_unlock(&fabric->lock);
	KUNIT_EXPECT_EQ(test, free, ledger_of(fabric)->free);
}

struct part_case {
	const char *name;
	u32 part;
	u32 past;	/* the first invalid index */
};

static const struct part_case part_cases[] = {
	{ "accelerator", MORPH_PART_ACCELERATOR, 6 },
	{ "laser", MORPH_PART_LASER, 12 },
	{ "receiver", MORPH_PART_RECEIVER, 12 },
	{ "element", MORPH_PART_ELEMENT, 24 },
	{ "guide", MORPH_PART_GUIDE, 84 },
};

FAKE_CASE_DESC(part_cases, name);

/* After setting and clearing marks in any order, all counts have their initial values. */
static void health_counts_are_balanced(struct kunit *test)
{
	static const u32 ways[] = {
		MORPH_HEALTH_FAILED, MORPH_HEALTH_FAILED, MORPH_HEALTH_QUARANTINED,
		MORPH_HEALTH_QUARANTINED, MORPH_HEALTH_OK, MORPH_HEALTH_OK,
		MORPH_HEALTH_QUARANTINED, MORPH_HEALTH_FAILED, MORPH_HEALTH_OK,
	};
	const struct part_case *param = test->param_value;
	struct fake *fake = test->priv;
	struct morph_fabric *fabric = fake->fabric;
	bool chip = param->part == MORPH_PART_ACCELERATOR;
	u32 i, bad;

	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		fake_set_health(fake, param->part, 1, ways[i]);
		bad = ways[i] != MORPH_HEALTH_OK;
		KUNIT_EXPECT_EQ_MSG(test, chip ? bad : 0, ledger_of(fabric)->failed, "step %u", i);
		KUNIT_EXPECT_EQ_MSG(test, chip ? 0 : bad, ledger_of(fabric)->impaired, "step %u",
				    i);
		KUNIT_EXPECT_EQ_MSG(test, !bad, morph_health_get(fabric, param->part, 1) ==
				    MORPH_HEALTH_OK, "step %u", i);
	}
}

static void health_knows_how_many_there_are(struct kunit *test)
{
	const struct part_case *param = test->param_value;
	struct morph_culprit culprit = { .part = param->part, .index = param->past };
	struct morph_refusal refusal = {};
	struct fake *fake = test->priv;

	KUNIT_EXPECT_EQ(test, 0, morph_health_check_part(fake->fabric, param->part,
							 param->past - 1, &refusal));
	KUNIT_EXPECT_EQ(test, -ENOENT, morph_health_check_part(fake->fabric, param->part,
							       param->past, &refusal));
	mutex_lock(&fake->fabric->lock);
	KUNIT_EXPECT_EQ(test, -ENOENT, morph_health_set(fake->fabric, &culprit,
							MORPH_HEALTH_FAILED, 0));
	mutex_unlock(&fake->fabric->lock);
}

/* An edge has no health of its own. Its fibre, which is a guide, has. */
static void health_is_of_five_kinds(struct kunit *test)
{
	struct morph_refusal refusal = {};
	struct fake *fake = test->priv;

	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, morph_health_check_part(fake->fabric, MORPH_PART_EDGE,
								   0, &refusal));
	KUNIT_EXPECT_EQ(test, (u32)MORPH_REASON_ARGUMENT, refusal.reason);
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, morph_health_check_part(fake->fabric, 0, 0, &refusal));
}

/* ----------------------------------------------------------------- suspects */

static void suspect(struct fake *fake, u32 guide)
{
	const struct morph_culprit culprit = { MORPH_PART_GUIDE, guide, 0 };

	mutex_lock(&fake->fabric->lock);
	morph_suspect_add(fake->fabric, &culprit);
	mutex_unlock(&fake->fabric->lock);
}

static bool suspected(struct fake *fake, u32 guide)
{
	bool waits;

	mutex_lock(&fake->fabric->lock);
	waits = morph_suspect_waits(fake->fabric, MORPH_PART_GUIDE, guide);
	mutex_unlock(&fake->fabric->lock);
	return waits;
}

/* Each of them waits for its test, however many there are. */
static void suspect_is_never_forgotten(struct kunit *test)
{
	struct fake *fake = test->priv;
	u32 total = fake->fabric->graph->guides_count, i;

	KUNIT_ASSERT_GT(test, total, 64u);
	for (i = 0; i < total; i++)
		suspect(fake, i);
	for (i = 0; i < total; i++)
		KUNIT_EXPECT_TRUE_MSG(test, suspected(fake, i), "guide %u", i);
	/* Those in the middle, at the start and at the end leave, and the others stay. */
	for (i = 0; i < total; i += 3)
		fake_set_health(fake, MORPH_PART_GUIDE, i, MORPH_HEALTH_OK);
	fake_set_health(fake, MORPH_PART_GUIDE, total - 1, MORPH_HEALTH_OK);
	for (i = 0; i < total; i++)
		KUNIT_EXPECT_EQ_MSG(test, i % 3 && i != total - 1, suspected(fake, i), "guide %u",
				    i);
	for (i = 0; i < total; i++)
		fake_set_health(fake, MORPH_PART_GUIDE, i, MORPH_HEALTH_OK);
	KUNIT_EXPECT_EQ(test, 0u, recovery_of(fake->fabric)->suspects[0].count);
	suspect(fake, 5);
	KUNIT_EXPECT_TRUE(test, suspected(fake, 5));
}

/* A port that waits already collects further lanes. Each lane leaves by itself. */
static void suspect_port_collects_lanes(struct kunit *test)
{
	struct morph_culprit lane = { MORPH_PART_RECEIVER, 1, 1 };
	struct fake *fake = test->priv;
	struct morph_fabric *fabric = fake->fabric;

	mutex_lock(&fabric->lock);
	morph_suspect_add(fabric, &lane);
	lane.lanes = 4;
	morph_suspect_add(fabric, &lane);
	KUNIT_EXPECT_EQ(test, 5ULL, morph_suspect_lanes(fabric, lane.part, lane.index));
	KUNIT_EXPECT_EQ(test, 1u, recovery_of(fabric)->suspects[0].count);
	morph_health_set(fabric, &lane, MORPH_HEALTH_OK, 0);
	KUNIT_EXPECT_EQ(test, 1ULL, morph_suspect_lanes(fabric, lane.part, lane.index));
	mutex_unlock(&fabric->lock);
}

/* ------------------------------------------------------------------ signals */

static void raise_signal(struct fake *fake, u32 type, u32 index, u64 lanes, s32 value)
{
	const struct morph_signal signal = {
		.type = type,
		.index = index,
		.lanes = lanes,
		.value = value,
	};

	morph_fabric_signal(fake->fabric, &signal, 1);
}

struct signal_case {
	const char *name;
	u32 type, index;
	s32 value;
	u32 part;
	u32 before, after;	/* health */
};

static const struct signal_case signal_cases[] = {
	{ "heartbeat lost", MORPH_SIGNAL_HEARTBEAT, 1, 0, MORPH_PART_ACCELERATOR,
	  MORPH_HEALTH_OK, MORPH_HEALTH_FAILED },
	{ "heartbeat back", MORPH_SIGNAL_HEARTBEAT, 1, 1, MORPH_PART_ACCELERATOR,
	  MORPH_HEALTH_FAILED, MORPH_HEALTH_QUARANTINED },
	{ "heartbeat back that was not lost", MORPH_SIGNAL_HEARTBEAT, 1, 1,
	  MORPH_PART_ACCELERATOR, MORPH_HEALTH_OK, MORPH_HEALTH_OK },
	{ "laser low", MORPH_SIGNAL_LASER, 2, 0, MORPH_PART_LASER, MORPH_HEALTH_OK,
	  MORPH_HEALTH_FAILED },
	{ "laser healthy again", MORPH_SIGNAL_LASER, 2, 1, MORPH_PART_LASER, MORPH_HEALTH_FAILED,
	  MORPH_HEALTH_FAILED },
	{ "laser healthy again that was not low", MORPH_SIGNAL_LASER, 2, 1, MORPH_PART_LASER,
	  MORPH_HEALTH_OK, MORPH_HEALTH_OK },
	{ "element alarm", MORPH_SIGNAL_ELEMENT, 3, 0, MORPH_PART_ELEMENT, MORPH_HEALTH_OK,
	  MORPH_HEALTH_FAILED },
	{ "element alarm cleared", MORPH_SIGNAL_ELEMENT, 3, 1, MORPH_PART_ELEMENT,
	  MORPH_HEALTH_FAILED, MORPH_HEALTH_QUARANTINED },
	{ "element alarm cleared that was not raised", MORPH_SIGNAL_ELEMENT, 3, 1,
	  MORPH_PART_ELEMENT, MORPH_HEALTH_OK, MORPH_HEALTH_OK },
	{ "receiver dark where nobody sends", MORPH_SIGNAL_RECEIVER, 4, 0, MORPH_PART_RECEIVER,
	  MORPH_HEALTH_OK, MORPH_HEALTH_OK },
};

FAKE_CASE_DESC(signal_cases, name);

static void signal_marks(struct kunit *test)
{
	const struct signal_case *param = test->param_value;
	struct fake *fake = test->priv;

	fake_set_health(fake, param->part, param->index, param->before);
	/* A heartbeat that returns requests a patrol round, but not before the hold-down ends. */
	ledger_of(fake->fabric)->chips[1].hold_until_ns = U64_MAX / 2;
	raise_signal(fake, param->type, param->index, ~0ULL, param->value);
	flush_work(&recovery_of(fake->fabric)->signal_work);
	KUNIT_EXPECT_EQ(test, param->after,
			morph_health_get(fake->fabric, param->part, param->index));
}

/* A cleared alarm requests a test. After a successful test the part is in use again. */
static void signal_of_a_cleared_alarm_starts_a_test(struct kunit *test)
{
	struct fake *fake = test->priv;

	fake_set_health(fake, MORPH_PART_ELEMENT, 3, MORPH_HEALTH_FAILED);
	raise_signal(fake, MORPH_SIGNAL_ELEMENT, 3, 0, 1);
	flush_work(&recovery_of(fake->fabric)->signal_work);
	fake_patrol(fake);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_HEALTH_OK,
			morph_health_get(fake->fabric, MORPH_PART_ELEMENT, 3));
}

/* Two lanes of laser 2 are healthy again, as the device says. One of them emits no light. */
static void signal_of_a_laser_starts_a_test(struct kunit *test)
{
	const struct morph_culprit laser = { MORPH_PART_LASER, 2, 3 };
	struct fake *fake = test->priv;

	mutex_lock(&fake->fabric->lock);
	morph_health_set(fake->fabric, &laser, MORPH_HEALTH_FAILED, 0);
	mutex_unlock(&fake->fabric->lock);
	fake->dim[laser.index] = 2;
	raise_signal(fake, MORPH_SIGNAL_LASER, laser.index, ~0ULL, 1);
	flush_work(&recovery_of(fake->fabric)->signal_work);
	KUNIT_EXPECT_EQ(test, 3ULL, ledger_of(fake->fabric)->state->tx_dead[laser.index]);
	fake_patrol(fake);
	KUNIT_EXPECT_EQ(test, 2ULL, ledger_of(fake->fabric)->state->tx_dead[laser.index]);
	KUNIT_EXPECT_EQ(test, 0u, recovery_of(fake->fabric)->suspects[0].count);
	fake->dim[laser.index] = 0;
}

/* The operator's test of a port clears only the lanes that passed it. */
static void health_test_clears_lanes_that_pass(struct kunit *test)
{
	const struct morph_culprit laser = { MORPH_PART_LASER, 2, 7 };
	struct fake *fake = test->priv;
	struct morph_refusal refusal = {};
	u32 id;

	mutex_lock(&fake->fabric->lock);
	morph_health_set(fake->fabric, &laser, MORPH_HEALTH_FAILED, 0);
	mutex_unlock(&fake->fabric->lock);
	fake->dim[laser.index] = 2;
	KUNIT_ASSERT_EQ(test, 0, morph_health_test(fake->fabric, laser.part, laser.index, false,
						   &id, &refusal));
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, 2ULL, ledger_of(fake->fabric)->state->tx_dead[laser.index]);
	fake->dim[laser.index] = 0;
	KUNIT_ASSERT_EQ(test, 0, morph_health_test(fake->fabric, laser.part, laser.index, false,
						   &id, &refusal));
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, 0ULL, ledger_of(fake->fabric)->state->tx_dead[laser.index]);
}

/* The operator's test of a port clears all lanes that wait for patrol's test. */
static void health_test_clears_suspect_lanes(struct kunit *test)
{
	const struct morph_culprit receiver = { MORPH_PART_RECEIVER, 2, 5 };
	struct fake *fake = test->priv;
	struct morph_refusal refusal = {};
	u32 id;

	mutex_lock(&fake->fabric->lock);
	morph_suspect_add(fake->fabric, &receiver);
	mutex_unlock(&fake->fabric->lock);
	KUNIT_ASSERT_EQ(test, 0, morph_health_test(fake->fabric, receiver.part, receiver.index,
						   false, &id, &refusal));
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_HEALTH_OK,
			morph_health_get(fake->fabric, receiver.part, receiver.index));
}

/* A tenant that waits until a test has ended. */
struct waiter {
	struct work_struct work;
	struct morph_fabric *fabric;
	bool waited;
};

static void wait_for_test(struct work_struct *work)
{
	struct waiter *waiter = container_of(work, struct waiter, work);
	int ret = 0;

	mutex_lock(&waiter->fabric->lock);
	morph_place_wait(waiter->fabric, &ret);
	mutex_unlock(&waiter->fabric->lock);
	WRITE_ONCE(waiter->waited, true);
}

/* The test of a port keeps its accelerators from the first lane to the last one. */
static void health_test_keeps_accelerators_between_lanes(struct kunit *test)
{
	const struct morph_culprit laser = { MORPH_PART_LASER, 2, 7 };
	struct fake *fake = test->priv;
	struct morph_fabric *fabric = fake->fabric;
	struct waiter waiter = { .fabric = fabric };
	struct morph_refusal refusal = {};
	u32 id, lane;

	mutex_lock(&fabric->lock);
	morph_health_set(fabric, &laser, MORPH_HEALTH_FAILED, 0);
	mutex_unlock(&fabric->lock);
	fake_rule(fake, FAKE_LASERS_ON, 0, FAKE_HANG, 0);
	KUNIT_ASSERT_EQ(test, 0, morph_health_test(fabric, laser.part, laser.index, false, &id,
						   &refusal));
	wait_for_completion(&fake->silent);
	INIT_WORK_ONSTACK(&waiter.work, wait_for_test);
	queue_work(system_unbound_wq, &waiter.work);
	/* The waiter is in the queue until a test ends, and no test ends before fake_go_on(). */
	while (!waitqueue_active(&slices_of(fabric)->test_end))
		cond_resched();
	for (lane = 1; lane < 3; lane++) {
		fake_rule(fake, FAKE_LASERS_ON, 0, FAKE_HANG, 0);
		fake_go_on(fake);
		wait_for_completion(&fake->silent);
		KUNIT_EXPECT_TRUE(test, ledger_of(fabric)->chips[1].testing);
		KUNIT_EXPECT_EQ(test, 2u, slices_of(fabric)->testing);
		KUNIT_EXPECT_EQ(test, 0u, slices_of(fabric)->tests_ended);
		KUNIT_EXPECT_FALSE(test, READ_ONCE(waiter.waited));
	}
	fake_go_on(fake);
	flush_work(&waiter.work);
	destroy_work_on_stack(&waiter.work);
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, 0ULL, ledger_of(fabric)->state->tx_dead[laser.index]);
	KUNIT_EXPECT_EQ(test, 0u, slices_of(fabric)->testing);
	KUNIT_EXPECT_EQ(test, 2u, slices_of(fabric)->tests_ended);
}

/* An accelerator whose heartbeat is back is tested next, but not during its hold-down. */
static void signal_of_a_heartbeat_starts_a_test(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_chip *chip = &ledger_of(fake->fabric)->chips[1];

	fake_set_health(fake, MORPH_PART_ACCELERATOR, 1, MORPH_HEALTH_FAILED);
	chip->hold_until_ns = U64_MAX / 2;
	raise_signal(fake, MORPH_SIGNAL_HEARTBEAT, 1, 0, 1);
	flush_work(&recovery_of(fake->fabric)->signal_work);
	KUNIT_EXPECT_EQ(test, 1u, recovery_of(fake->fabric)->suspects[1].count);
	fake_patrol(fake);
	KUNIT_EXPECT_EQ(test, (u8)MORPH_HEALTH_QUARANTINED, chip->health);
	chip->hold_until_ns = 0;
	fake_patrol(fake);
	KUNIT_EXPECT_EQ(test, (u8)MORPH_HEALTH_OK, chip->health);
}

/* An alarm that comes and goes causes a long hold-down, but does not delay patrol. */
static void signal_of_a_flap_does_not_put_patrol_off(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct delayed_work *patrol = &recovery_of(fake->fabric)->patrol_work;
	unsigned long due;

	fake_set_health(fake, MORPH_PART_ACCELERATOR, 1, MORPH_HEALTH_FAILED);
	ledger_of(fake->fabric)->chips[1].hold_until_ns =
		ktime_get_boottime_ns() + 7200 * NSEC_PER_SEC;
	mod_delayed_work(morph_wq, patrol, 3600 * HZ);
	due = READ_ONCE(patrol->timer.expires);
	raise_signal(fake, MORPH_SIGNAL_HEARTBEAT, 1, 0, 1);
	flush_work(&recovery_of(fake->fabric)->signal_work);
	KUNIT_EXPECT_EQ(test, due, READ_ONCE(patrol->timer.expires));
	cancel_delayed_work_sync(patrol);
}

/* Hardware sends the indices, so the core checks each of them. */
static void signal_of_nothing_is_ignored(struct kunit *test)
{
	struct fake *fake = test->priv;
	u32 type;

	for (type = 0; type <= MORPH_SIGNAL_TEMPERATURE + 1; type++) {
		raise_signal(fake, type, U32_MAX, ~0ULL, 0);
		raise_signal(fake, type, FAKE_ELEMENTS, ~0ULL, 1);
	}
	flush_work(&recovery_of(fake->fabric)->signal_work);
	KUNIT_EXPECT_EQ(test, 0u, ledger_of(fake->fabric)->failed);
	KUNIT_EXPECT_EQ(test, 0u, ledger_of(fake->fabric)->impaired);
}

/* Many signals of many parts keep each other. They disturb nobody else. */
static void signal_flood_loses_nothing(struct kunit *test)
{
	struct fake *fake = test->priv;
	const u32 accelerators[] = { 0, 1 };
	struct morph_slice *slice = fake_slice(fake, accelerators, 2);
	struct morph_txn *txn = fake_prepare(fake, slice);
	u32 i, port;

	fake_settle(fake);
	fake_clear(fake);
	mutex_lock(&fake->fabric->lock);
	raise_signal(fake, MORPH_SIGNAL_HEARTBEAT, 3, 0, 0);
	for (i = 0; i < 200; i++)
		for (port = 8; port < 12; port++) {
			raise_signal(fake, MORPH_SIGNAL_RECEIVER, port, BIT_ULL(i % 4), 0);
			raise_signal(fake, MORPH_SIGNAL_LASER, port, BIT_ULL(i % 4), 0);
		}
	raise_signal(fake, MORPH_SIGNAL_HEARTBEAT, 4, 0, 0);
	mutex_unlock(&fake->fabric->lock);
	flush_work(&recovery_of(fake->fabric)->signal_work);
	KUNIT_EXPECT_EQ(test, 0ULL, fake_stat(fake, MORPH_STAT_SIGNALS_LOST));
	KUNIT_EXPECT_EQ(test, (u8)MORPH_HEALTH_FAILED, ledger_of(fake->fabric)->chips[3].health);
	KUNIT_EXPECT_EQ(test, (u8)MORPH_HEALTH_FAILED, ledger_of(fake->fabric)->chips[4].health);
	for (port = 8; port < 12; port++)
		KUNIT_EXPECT_EQ(test, 0xfULL, ledger_of(fake->fabric)->state->tx_dead[port]);
	KUNIT_EXPECT_EQ(test, 0u, slices_of(fake->fabric)->signal_count);
	fake_settle(fake);
	KUNIT_EXPECT_NULL(test, strchr(fake->log, FAKE_GET_RECEIVERS));
	KUNIT_EXPECT_EQ(test, (u32)MORPH_OUTCOME_PREPARED, txn->outcome);
	morph_txn_put(txn);
}

struct merge_case {
	const char *name;
	u32 type, part;
	s32 first, second;	/* values of two signals that the worker takes together */
	u32 after;		/* health */
};

static const struct merge_case merge_cases[] = {
	{ "heartbeat lost, then back", MORPH_SIGNAL_HEARTBEAT, MORPH_PART_ACCELERATOR, 0, 1,
	  MORPH_HEALTH_QUARANTINED },
	{ "heartbeat back, then lost", MORPH_SIGNAL_HEARTBEAT, MORPH_PART_ACCELERATOR, 1, 0,
	  MORPH_HEALTH_FAILED },
	{ "element alarm, then its end", MORPH_SIGNAL_ELEMENT, MORPH_PART_ELEMENT, 0, 1,
	  MORPH_HEALTH_QUARANTINED },
	{ "end of an element alarm, then an alarm", MORPH_SIGNAL_ELEMENT, MORPH_PART_ELEMENT, 1, 0,
	  MORPH_HEALTH_FAILED },
	{ "laser healthy, then low", MORPH_SIGNAL_LASER, MORPH_PART_LASER, 1, 0,
	  MORPH_HEALTH_FAILED },
};

FAKE_CASE_DESC(merge_cases, name);

static void signal_merge_keeps_order(struct kunit *test)
{
	const struct merge_case *param = test->param_value;
	struct fake *fake = test->priv;

	ledger_of(fake->fabric)->chips[1].hold_until_ns = U64_MAX / 2;
	mutex_lock(&fake->fabric->lock);
	raise_signal(fake, param->type, 1, 1, param->first);
	raise_signal(fake, param->type, 1, 1, param->second);
	mutex_unlock(&fake->fabric->lock);
	flush_work(&recovery_of(fake->fabric)->signal_work);
	KUNIT_EXPECT_EQ(test, param->after, morph_health_get(fake->fabric, param->part, 1));
}

/* A late signal about earlier light must not hide the loss of the present light. */
static void signal_merge_keeps_the_latest_time(struct kunit *test)
{
	const u32 accelerators[] = { 0, 1 };
	struct fake *fake = test->priv;
	struct morph_slice *slice = fake_slice(fake, accelerators, 2);
	struct morph_circuit *circuit = fake_circuit(slice, fake_light(fake, slice, 0, 1, 0));
	struct morph_signal signals[] = {
		{ .type = MORPH_SIGNAL_RECEIVER, .lanes = ~0ULL },
		{ .type = MORPH_SIGNAL_RECEIVER, .lanes = ~0ULL, .since_ns = 1 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(signals); i++)
		signals[i].index = circuit->route->path.rx;
	fake_settle(fake);
	morph_fabric_signal(fake->fabric, &signals[1], 1);
	flush_work(&recovery_of(fake->fabric)->signal_work);
	KUNIT_EXPECT_EQ(test, 0u, circuit->alarms);
	morph_fabric_signal(fake->fabric, signals, 2);
	flush_work(&recovery_of(fake->fabric)->signal_work);
	KUNIT_EXPECT_EQ(test, 1u, circuit->alarms);
}

static void signal_after_removal_is_dropped(struct kunit *test)
{
	struct fake *fake = test->priv;

	morph_fabric_unregister(fake->fabric);
	fake->registered = false;
	raise_signal(fake, MORPH_SIGNAL_HEARTBEAT, 1, 0, 0);
	KUNIT_EXPECT_EQ(test, 0ULL, fake_stat(fake, MORPH_STAT_SIGNALS));
	KUNIT_EXPECT_FALSE(test, work_pending(&recovery_of(fake->fabric)->signal_work));
}

static struct kunit_case health_cases[] = {
	KUNIT_CASE(health_hold_down_doubles),
	KUNIT_CASE(health_flaps_do_not_wrap),
	KUNIT_CASE(health_an_hour_without_failure_counts),
	KUNIT_CASE(health_only_a_failure_is_a_flap),
	KUNIT_CASE(health_held_down_is_not_fit),
	KUNIT_CASE_PARAM(health_counts_are_balanced, part_cases_gen_params),
	KUNIT_CASE_PARAM(health_knows_how_many_there_are, part_cases_gen_params),
	KUNIT_CASE(health_is_of_five_kinds),
	KUNIT_CASE(suspect_is_never_forgotten),
	KUNIT_CASE(suspect_port_collects_lanes),
	KUNIT_CASE_PARAM(signal_marks, signal_cases_gen_params),
	KUNIT_CASE(signal_of_a_cleared_alarm_starts_a_test),
	KUNIT_CASE(signal_of_a_laser_starts_a_test),
	KUNIT_CASE(signal_of_a_heartbeat_starts_a_test),
	KUNIT_CASE(health_test_clears_lanes_that_pass),
	KUNIT_CASE(health_test_clears_suspect_lanes),
	KUNIT_CASE(health_test_keeps_accelerators_between_lanes),
	KUNIT_CASE(signal_of_a_flap_does_not_put_patrol_off),
	KUNIT_CASE(signal_of_nothing_is_ignored),
	KUNIT_CASE(signal_flood_loses_nothing),
	KUNIT_CASE_PARAM(signal_merge_keeps_order, merge_cases_gen_params),
	KUNIT_CASE(signal_merge_keeps_the_latest_time),
	KUNIT_CASE(signal_after_removal_is_dropped),
	{}
};

struct kunit_suite morph_health_suite = {
	.name = "morph_health",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = health_cases,
};

// SPDX-License-Identifier: GPL-2.0-only
/* Health: hold-down, patrol, signals. Times are set, not waited for. */
#include "fake.h"
#include "suites.h"

#define HOLD_DOWN_NS	(50 * NSEC_PER_MSEC)
#define FLAP_WINDOW_NS	(3600 * NSEC_PER_SEC)

static void set_health(struct fake *fake, u32 part, u32 index, u32 health)
{
	struct morph_culprit culprit = { .part = part, .index = index };

	mutex_lock(&fake->fabric->lock);
	KUNIT_EXPECT_EQ(fake->test, 0, morph_health_set(fake->fabric, &culprit, health, 0));
	mutex_unlock(&fake->fabric->lock);
}

/* Fail and come back. Returns for how long it is held down. */
static u64 flap(struct fake *fake, u32 accelerator)
{
	const struct morph_chip *chip = &fake->fabric->chips[accelerator];

	set_health(fake, MORPH_PART_ACCELERATOR, accelerator, MORPH_HEALTH_FAILED);
	set_health(fake, MORPH_PART_ACCELERATOR, accelerator, MORPH_HEALTH_OK);
	return chip->hold_until_ns - chip->last_failed_ns;
}

static void health_hold_down_doubles(struct kunit *test)
{
	struct fake *fake = test->priv;
	u32 i;

	for (i = 0; i <= 10; i++)
		KUNIT_EXPECT_EQ_MSG(test, (u64)HOLD_DOWN_NS << i, flap(fake, 1), "failure %u", i);
	KUNIT_EXPECT_EQ(test, (u64)HOLD_DOWN_NS << 10, flap(fake, 1));
	/* Each for itself. */
	KUNIT_EXPECT_EQ(test, (u64)HOLD_DOWN_NS, flap(fake, 3));
}

/* More failures than can be counted. */
static void health_flaps_do_not_wrap(struct kunit *test)
{
	struct fake *fake = test->priv;

	fake->fabric->chips[1].flaps = U8_MAX;
	fake->fabric->chips[1].last_failed_ns = ktime_get_boottime_ns();
	KUNIT_EXPECT_EQ(test, (u64)HOLD_DOWN_NS << 10, flap(fake, 1));
	KUNIT_EXPECT_EQ(test, (u64)HOLD_DOWN_NS << 10, flap(fake, 1));
}

static void health_an_hour_without_failure_counts(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_chip *chip = &fake->fabric->chips[1];

	flap(fake, 1);
	flap(fake, 1);
	chip->last_failed_ns -= FLAP_WINDOW_NS / 2;
	KUNIT_EXPECT_EQ(test, (u64)HOLD_DOWN_NS << 2, flap(fake, 1));
	chip->last_failed_ns -= FLAP_WINDOW_NS + NSEC_PER_SEC;
	KUNIT_EXPECT_EQ(test, (u64)HOLD_DOWN_NS, flap(fake, 1));
}

/* What is in doubt, or failed already, does not fail once more. */
static void health_only_a_failure_is_a_flap(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_chip *chip = &fake->fabric->chips[1];

	set_health(fake, MORPH_PART_ACCELERATOR, 1, MORPH_HEALTH_QUARANTINED);
	set_health(fake, MORPH_PART_ACCELERATOR, 1, MORPH_HEALTH_FAILED);
	KUNIT_EXPECT_EQ(test, (u8)0, chip->flaps);
	set_health(fake, MORPH_PART_ACCELERATOR, 1, MORPH_HEALTH_OK);
	set_health(fake, MORPH_PART_ACCELERATOR, 1, MORPH_HEALTH_FAILED);
	set_health(fake, MORPH_PART_ACCELERATOR, 1, MORPH_HEALTH_FAILED);
	KUNIT_EXPECT_EQ(test, (u8)1, chip->flaps);
}

/* Held down it is healthy, and yet not given out; then it is. */
static void health_held_down_is_not_fit(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_fabric *fabric = fake->fabric;
	u32 free = fabric->free;

	fabric->chips[1].flaps = 10;
	fabric->chips[1].last_failed_ns = ktime_get_boottime_ns();
	flap(fake, 1);
	KUNIT_EXPECT_EQ(test, (u8)MORPH_HEALTH_OK, fabric->chips[1].health);
	KUNIT_EXPECT_FALSE(test, morph_chip_fit(fabric, 1));
	KUNIT_EXPECT_EQ(test, free - 1, fabric->free);
	fabric->chips[1].hold_until_ns = ktime_get_boottime_ns();
	mutex_lock(&fabric->lock);
	morph_chip_update(fabric, 1);
	mutex_unlock(&fabric->lock);
	KUNIT_EXPECT_EQ(test, free, fabric->free);
}

struct part_case {
	const char *name;
	u32 part;
	u32 past;	/* the first index that there is not */
};

static const struct part_case part_cases[] = {
	{ "accelerator", MORPH_PART_ACCELERATOR, 6 },
	{ "laser", MORPH_PART_LASER, 12 },
	{ "receiver", MORPH_PART_RECEIVER, 12 },
	{ "element", MORPH_PART_ELEMENT, 24 },
	{ "guide", MORPH_PART_GUIDE, 84 },
};

FAKE_CASE_DESC(part_cases, name);

/* Whatever is marked and unmarked in whatever order: the counts come back to where they were. */
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
		set_health(fake, param->part, 1, ways[i]);
		bad = ways[i] != MORPH_HEALTH_OK;
		KUNIT_EXPECT_EQ_MSG(test, chip ? bad : 0, fabric->failed, "step %u", i);
		KUNIT_EXPECT_EQ_MSG(test, chip ? 0 : bad, fabric->impaired, "step %u", i);
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

/* An edge has no health of its own: its fibre, a guide, has. */
static void health_is_of_five_kinds(struct kunit *test)
{
	struct morph_refusal refusal = {};
	struct fake *fake = test->priv;

	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, morph_health_check_part(fake->fabric, MORPH_PART_EDGE,
								   0, &refusal));
	KUNIT_EXPECT_EQ(test, (u32)MORPH_REASON_ARGUMENT, refusal.reason);
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, morph_health_check_part(fake->fabric, 0, 0, &refusal));
}

/* ----------------------------------------------------------------------- suspects */

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

/* The oldest suspicion makes room for one more; what is quarantined is none, and stays. */
static void suspect_that_is_oldest_lapses(struct kunit *test)
{
	struct fake *fake = test->priv;
	u32 i;

	set_health(fake, MORPH_PART_GUIDE, 0, MORPH_HEALTH_QUARANTINED);
	for (i = 0; i < MORPH_SUSPECTS; i++)
		suspect(fake, i);
	KUNIT_EXPECT_EQ(test, MORPH_SUSPECTS, fake->fabric->suspect_count);
	suspect(fake, MORPH_SUSPECTS);
	KUNIT_EXPECT_EQ(test, MORPH_SUSPECTS, fake->fabric->suspect_count);
	KUNIT_EXPECT_TRUE(test, suspected(fake, 0));
	KUNIT_EXPECT_FALSE(test, suspected(fake, 1));
	KUNIT_EXPECT_TRUE(test, suspected(fake, MORPH_SUSPECTS));
	/* It counts as healthy from now on. */
	KUNIT_EXPECT_EQ(test, (u32)MORPH_HEALTH_OK,
			morph_health_get(fake->fabric, MORPH_PART_GUIDE, 1));
}

static void suspect_does_not_displace_what_is_quarantined(struct kunit *test)
{
	struct fake *fake = test->priv;
	u32 i;

	for (i = 0; i < MORPH_SUSPECTS; i++) {
		set_health(fake, MORPH_PART_GUIDE, i, MORPH_HEALTH_QUARANTINED);
		suspect(fake, i);
	}
	suspect(fake, MORPH_SUSPECTS);
	KUNIT_EXPECT_EQ(test, MORPH_SUSPECTS, fake->fabric->suspect_count);
	KUNIT_EXPECT_FALSE(test, suspected(fake, MORPH_SUSPECTS));
	KUNIT_EXPECT_TRUE(test, suspected(fake, 0));
}

/* ------------------------------------------------------------------------- patrol */

/* One round, now. The next is called off. */
static void patrol(struct fake *fake)
{
	struct delayed_work *work = &fake->fabric->patrol_work;

	fake_clear(fake);
	mod_delayed_work(morph_wq, work, 0);
	flush_work(&work->work);	/* not what it has queued for later */
	cancel_delayed_work_sync(work);
}

static void patrol_asks_and_reads(struct kunit *test)
{
	struct fake *fake = test->priv;

	patrol(fake);
	KUNIT_EXPECT_STREQ(test, "pe", (const char *)fake->log);
	KUNIT_EXPECT_EQ(test, (u64)fake->accelerators, fake_stat(fake, MORPH_STAT_PATROLS));
}

static void patrol_finds_a_dead_accelerator(struct kunit *test)
{
	struct fake *fake = test->priv;

	fake->dead[4] = true;
	patrol(fake);
	KUNIT_EXPECT_EQ(test, (u8)MORPH_HEALTH_FAILED, fake->fabric->chips[4].health);
	KUNIT_EXPECT_EQ(test, 1u, fake->fabric->failed);
}

/* It is told by an error of the device that nothing is known, not that all has failed or moved. */
static void patrol_believes_answers_only(struct kunit *test)
{
	struct fake *fake = test->priv;

	fake->dead[4] = true;
	fake->element[7] = 2;
	fake_clear(fake);
	fake_rule(fake, FAKE_PROBE, 0, FAKE_ERROR, -EREMOTEIO);
	fake_rule(fake, FAKE_GET_ELEMENTS, 0, FAKE_ERROR, -EREMOTEIO);
	mod_delayed_work(morph_wq, &fake->fabric->patrol_work, 0);
	flush_work(&fake->fabric->patrol_work.work);
	cancel_delayed_work_sync(&fake->fabric->patrol_work);
	KUNIT_EXPECT_EQ(test, 0u, fake->fabric->failed);
	KUNIT_EXPECT_EQ(test, 0u, fake->fabric->impaired);
}

/* It is quarantined, and fails the test that follows. */
static void patrol_finds_an_element_that_moved(struct kunit *test)
{
	struct fake *fake = test->priv;

	fake->element[7] = 2;
	fake->stuck[7] = true;
	patrol(fake);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_HEALTH_FAILED,
			morph_health_get(fake->fabric, MORPH_PART_ELEMENT, 7));
	KUNIT_EXPECT_EQ(test, 1u, fake->fabric->impaired);
}

/* A round that waits for the device's answer to its reading number @skip + 1 of elements. */
static void patrol_until_reading(struct fake *fake, u32 skip)
{
	fake_clear(fake);
	fake_rule(fake, FAKE_GET_ELEMENTS, skip, FAKE_HANG, 0);
	mod_delayed_work(morph_wq, &fake->fabric->patrol_work, 0);
	wait_for_completion(&fake->silent);
}

/* The device answers, and the round goes on to its end. */
static void patrol_goes_on(struct fake *fake, int status,
			   const struct morph_element_setting *settings, u32 count)
{
	morph_fabric_complete(fake->fabric, fake->silent_cookie, status, settings,
			      array_size(count, sizeof(*settings)));
	flush_work(&fake->fabric->patrol_work.work);
	cancel_delayed_work_sync(&fake->fabric->patrol_work);
}

/* All are parked but one. */
static void patrol_reads(struct fake *fake, u32 element, u32 state)
{
	struct morph_element_setting settings[FAKE_ELEMENTS];
	u32 total = fake->fabric->graph->elements_count, i;

	for (i = 0; i < total; i++) {
		settings[i].element = (fake->fabric->patrol_element + i) % total;
		settings[i].state = settings[i].element == element ? state : 0;
	}
	patrol_goes_on(fake, 0, settings, total);
}

/* To core and ledger an element is in a state, and so often pinned in it. */
static void pin(struct fake *fake, u32 element, u32 state, u32 pins)
{
	mutex_lock(&fake->fabric->lock);
	optics_set_state(fake->fabric->ledger, element, state);
	fake->fabric->ledger->element_pins[element] = pins;
	fake->fabric->hw_state[element] = state;
	mutex_unlock(&fake->fabric->lock);
}

/* It was read while a change had it turned, which is taken back before patrol looks: no test. */
static void patrol_asks_again_before_it_suspects(struct kunit *test)
{
	struct fake *fake = test->priv;

	patrol_until_reading(fake, 0);
	patrol_reads(fake, 7, 2);
	KUNIT_EXPECT_STREQ(test, "pee", (const char *)fake->log);
	KUNIT_EXPECT_EQ(test, 0u, fake->fabric->impaired);
	KUNIT_EXPECT_EQ(test, 0u, fake->fabric->ledger->element_pins[7]);
}

/* What a change has turned since is as it should be. */
static void patrol_leaves_what_is_turned_meanwhile(struct kunit *test)
{
	struct fake *fake = test->priv;

	patrol_until_reading(fake, 0);
	pin(fake, 7, 2, 1);
	patrol_reads(fake, 7, 2);
	KUNIT_EXPECT_STREQ(test, "pe", (const char *)fake->log);
	KUNIT_EXPECT_EQ(test, 0u, fake->fabric->impaired);
	pin(fake, 7, 0, 0);
}

/* The circuit that had it goes while it is asked again: to the ledger it is parked then. */
static void patrol_lets_go_of_what_is_left_meanwhile(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct optics_state *ledger = fake->fabric->ledger;

	pin(fake, 7, 2, 1);
	patrol_until_reading(fake, 1);
	KUNIT_EXPECT_EQ(test, 2u, ledger->element_pins[7]);
	pin(fake, 7, 2, 1);
	patrol_goes_on(fake, -EIO, NULL, 0);
	KUNIT_EXPECT_EQ(test, 0u, ledger->element_pins[7]);
	KUNIT_EXPECT_EQ(test, (u8)0, ledger->element_state[7]);
	/* The next round parks it. */
	patrol(fake);
	KUNIT_EXPECT_EQ(test, (u8)0, fake->fabric->hw_state[7]);
}

/* One that moved once and obeys again passes the test: it is used as before. */
static void patrol_takes_back_what_obeys(struct kunit *test)
{
	struct fake *fake = test->priv;

	fake->element[7] = 2;
	patrol(fake);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_HEALTH_OK,
			morph_health_get(fake->fabric, MORPH_PART_ELEMENT, 7));
	KUNIT_EXPECT_EQ(test, (u8)0, fake->element[7]);
	KUNIT_EXPECT_EQ(test, 0u, fake->fabric->impaired);
}

/* One that could not be parked when it was released is parked now. */
static void patrol_parks_what_was_left(struct kunit *test)
{
	struct fake *fake = test->priv;

	fake->element[7] = 2;
	fake->fabric->hw_state[7] = 2;
	patrol(fake);
	KUNIT_EXPECT_STREQ(test, "peP", (const char *)fake->log);
	KUNIT_EXPECT_EQ(test, (u8)0, fake->element[7]);
	KUNIT_EXPECT_EQ(test, 0u, fake->fabric->impaired);
}

/* Quarantined, it comes back through a test; held down, not yet; dead, not at all. */
static void patrol_brings_back_through_a_test(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_chip *chip = &fake->fabric->chips[1];

	set_health(fake, MORPH_PART_ACCELERATOR, 1, MORPH_HEALTH_FAILED);
	chip->hold_until_ns = 0;
	patrol(fake);
	KUNIT_EXPECT_EQ(test, (u8)MORPH_HEALTH_FAILED, chip->health);
	set_health(fake, MORPH_PART_ACCELERATOR, 1, MORPH_HEALTH_QUARANTINED);
	chip->hold_until_ns = U64_MAX;
	patrol(fake);
	KUNIT_EXPECT_EQ(test, (u8)MORPH_HEALTH_QUARANTINED, chip->health);
	chip->hold_until_ns = 0;
	patrol(fake);
	KUNIT_EXPECT_EQ(test, (u8)MORPH_HEALTH_OK, chip->health);
}

/* Its heartbeat is lost while it is tested: the test does not bring it back. */
static void patrol_does_not_clear_a_failure_that_comes_meanwhile(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_chip *chip = &fake->fabric->chips[1];
	const struct morph_signal lost = { .type = MORPH_SIGNAL_HEARTBEAT, .index = 1 };

	set_health(fake, MORPH_PART_ACCELERATOR, 1, MORPH_HEALTH_QUARANTINED);
	fake_rule(fake, FAKE_LASERS_OFF, 0, FAKE_HANG, 0);
	mod_delayed_work(morph_wq, &fake->fabric->patrol_work, 0);
	wait_for_completion(&fake->silent);
	morph_fabric_signal(fake->fabric, &lost, 1);
	flush_work(&fake->fabric->signal_work);
	morph_fabric_complete(fake->fabric, fake->silent_cookie, 0, NULL, 0);
	flush_work(&fake->fabric->patrol_work.work);
	KUNIT_EXPECT_EQ(test, (u8)MORPH_HEALTH_FAILED, chip->health);
	KUNIT_EXPECT_FALSE(test, morph_chip_fit(fake->fabric, 1));
}

/* The device could not be asked: that is no verdict, and the test is made again. */
static void patrol_takes_no_error_for_a_verdict(struct kunit *test)
{
	const struct morph_culprit suspect = { MORPH_PART_RECEIVER, 1, 0 };
	struct fake *fake = test->priv;

	set_health(fake, suspect.part, suspect.index, MORPH_HEALTH_QUARANTINED);
	mutex_lock(&fake->fabric->lock);
	morph_suspect_add(fake->fabric, &suspect);
	mutex_unlock(&fake->fabric->lock);
	fake_rule(fake, FAKE_GET_RECEIVERS, FAKE_ALWAYS, FAKE_ERROR, -EIO);
	mod_delayed_work(morph_wq, &fake->fabric->patrol_work, 0);
	flush_work(&fake->fabric->patrol_work.work);
	mutex_lock(&fake->fabric->lock);
	KUNIT_EXPECT_TRUE(test, morph_suspect_waits(fake->fabric, suspect.part, suspect.index));
	mutex_unlock(&fake->fabric->lock);
	fake_clear(fake);
	patrol(fake);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_HEALTH_OK,
			morph_health_get(fake->fabric, suspect.part, suspect.index));
}

/* Quarantined, receiver 1 waits for its test by light, which patrol makes now. */
static void patrol_tests_a_receiver(struct fake *fake)
{
	const struct morph_culprit receiver = { MORPH_PART_RECEIVER, 1, 0 };

	set_health(fake, receiver.part, receiver.index, MORPH_HEALTH_QUARANTINED);
	mutex_lock(&fake->fabric->lock);
	morph_suspect_add(fake->fabric, &receiver);
	mutex_unlock(&fake->fabric->lock);
	mod_delayed_work(morph_wq, &fake->fabric->patrol_work, 0);
	flush_work(&fake->fabric->patrol_work.work);
	cancel_delayed_work_sync(&fake->fabric->patrol_work);
}

/* Elements that did not take their states are asked for them, and parked for certain. */
static void patrol_asks_elements_that_refused_a_test(struct kunit *test)
{
	struct fake *fake = test->priv;
	u32 i, parked = 0;

	fake_clear(fake);
	fake_rule(fake, FAKE_SET_ELEMENTS, FAKE_ALWAYS, FAKE_ERROR, -EIO);
	patrol_tests_a_receiver(fake);
	KUNIT_EXPECT_NOT_NULL(test, strstr(fake->log, "Eee"));
	KUNIT_EXPECT_NULL(test, strchr(fake->log, FAKE_LASERS_ON));
	for (i = 0; i < FAKE_ELEMENTS; i++)
		parked += !fake->element[i];
	KUNIT_EXPECT_EQ(test, FAKE_ELEMENTS, parked);
	/* That is no verdict on the receiver. */
	mutex_lock(&fake->fabric->lock);
	KUNIT_EXPECT_TRUE(test, morph_suspect_waits(fake->fabric, MORPH_PART_RECEIVER, 1));
	mutex_unlock(&fake->fabric->lock);
	fake_clear(fake);
}

/* A laser that lights a test and then does not go out is used no more, whatever was tested. */
static void patrol_fails_a_laser_that_burns_on(struct kunit *test)
{
	struct fake *fake = test->priv;
	u32 port, failed = 0;

	for (port = 0; port < FAKE_PORTS; port++)
		fake->burning[port] = ~0ULL;
	patrol_tests_a_receiver(fake);
	for (port = 0; port < fake->accelerators * FAKE_PLANES; port++)
		failed += morph_health_get(fake->fabric, MORPH_PART_LASER, port) ==
			  MORPH_HEALTH_FAILED;
	KUNIT_EXPECT_EQ(test, 1u, failed);
	memset(fake->burning, 0, sizeof(fake->burning));
}

/* ------------------------------------------------------------------------ signals */

static void tell(struct fake *fake, u32 type, u32 index, u64 lanes, s32 value)
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
	{ "laser well again", MORPH_SIGNAL_LASER, 2, 1, MORPH_PART_LASER, MORPH_HEALTH_FAILED,
	  MORPH_HEALTH_OK },
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

	set_health(fake, param->part, param->index, param->before);
	/* A heartbeat that is back calls for a patrol: not before the hold-down is over. */
	fake->fabric->chips[1].hold_until_ns = U64_MAX / 2;
	tell(fake, param->type, param->index, ~0ULL, param->value);
	flush_work(&fake->fabric->signal_work);
	KUNIT_EXPECT_EQ(test, param->after,
			morph_health_get(fake->fabric, param->part, param->index));
}

/* An alarm that is cleared calls for a test, and that for use. */
static void signal_of_an_alarm_cleared_leads_to_a_test(struct kunit *test)
{
	struct fake *fake = test->priv;

	set_health(fake, MORPH_PART_ELEMENT, 3, MORPH_HEALTH_FAILED);
	tell(fake, MORPH_SIGNAL_ELEMENT, 3, 0, 1);
	flush_work(&fake->fabric->signal_work);
	patrol(fake);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_HEALTH_OK,
			morph_health_get(fake->fabric, MORPH_PART_ELEMENT, 3));
}

/* One that comes and goes, held down for long: patrol comes by no later for that. */
static void signal_of_a_flap_does_not_put_patrol_off(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct delayed_work *patrol = &fake->fabric->patrol_work;
	unsigned long due;

	set_health(fake, MORPH_PART_ACCELERATOR, 1, MORPH_HEALTH_FAILED);
	fake->fabric->chips[1].hold_until_ns = ktime_get_boottime_ns() + 7200 * NSEC_PER_SEC;
	mod_delayed_work(morph_wq, patrol, 3600 * HZ);
	due = READ_ONCE(patrol->timer.expires);
	tell(fake, MORPH_SIGNAL_HEARTBEAT, 1, 0, 1);
	flush_work(&fake->fabric->signal_work);
	KUNIT_EXPECT_EQ(test, due, READ_ONCE(patrol->timer.expires));
	cancel_delayed_work_sync(patrol);
}

/* Hardware that nothing moves is asked for at once, again and again: the rounds keep their pace. */
static void patrol_is_not_hurried_by_reviews(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct delayed_work *patrol = &fake->fabric->patrol_work;
	unsigned long due;

	mod_delayed_work(morph_wq, patrol, 3600 * HZ);
	due = READ_ONCE(patrol->timer.expires);
	morph_patrol_review(fake->fabric);
	flush_work(&fake->fabric->review_work);
	KUNIT_EXPECT_EQ(test, due, READ_ONCE(patrol->timer.expires));
	KUNIT_EXPECT_NOT_NULL(test, strchr(fake->log, FAKE_GET_ELEMENTS));
	KUNIT_EXPECT_NULL(test, strchr(fake->log, FAKE_PROBE));
	cancel_delayed_work_sync(patrol);
}

/* Indices come from hardware: none is believed. */
static void signal_of_nothing_is_ignored(struct kunit *test)
{
	struct fake *fake = test->priv;
	u32 type;

	for (type = 0; type <= MORPH_SIGNAL_TEMPERATURE + 1; type++) {
		tell(fake, type, U32_MAX, ~0ULL, 0);
		tell(fake, type, FAKE_ELEMENTS, ~0ULL, 1);
	}
	flush_work(&fake->fabric->signal_work);
	KUNIT_EXPECT_EQ(test, 0u, fake->fabric->failed);
	KUNIT_EXPECT_EQ(test, 0u, fake->fabric->impaired);
}

/* Some are lost: which is not known, so that whatever is lit is read. */
static void signal_overrun_doubts_everything(struct kunit *test)
{
	struct fake *fake = test->priv;
	const u32 accelerators[] = { 0, 1 };
	struct morph_slice *slice = fake_slice(fake, accelerators, 2);
	u32 circuit = fake_light(fake, slice, 0, 1, 0), i;
	const u32 more = 30;	/* of these the worker may take a batch before it has to wait */

	fake_settle(fake);
	fake_clear(fake);
	mutex_lock(&fake->fabric->lock);
	for (i = 0; i < MORPH_SIGNAL_SLOTS + more; i++)
		tell(fake, MORPH_SIGNAL_TEMPERATURE, 0, 0, i);
	KUNIT_EXPECT_GT(test, fake_stat(fake, MORPH_STAT_SIGNALS_LOST), 0ULL);
	KUNIT_EXPECT_LE(test, fake_stat(fake, MORPH_STAT_SIGNALS_LOST), (u64)more);
	mutex_unlock(&fake->fabric->lock);
	flush_work(&fake->fabric->signal_work);
	flush_work(&slice->repair_work);
	KUNIT_EXPECT_NOT_NULL(test, strchr(fake->log, FAKE_GET_RECEIVERS));
	KUNIT_EXPECT_NULL(test, strchr(fake->log, FAKE_LASERS_OFF));
	KUNIT_EXPECT_EQ(test, (u32)MORPH_CIRCUIT_LIT, fake_circuit(slice, circuit)->state);
	KUNIT_EXPECT_FALSE(test, fake_circuit(slice, circuit)->dark);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_SLICE_OK, slice->state);
	KUNIT_EXPECT_EQ(test, 0u, fake->fabric->signal_count);
}

static void signal_after_removal_is_dropped(struct kunit *test)
{
	struct fake *fake = test->priv;

	morph_fabric_unregister(fake->fabric);
	fake->registered = false;
	tell(fake, MORPH_SIGNAL_HEARTBEAT, 1, 0, 0);
	KUNIT_EXPECT_EQ(test, 0ULL, fake_stat(fake, MORPH_STAT_SIGNALS));
	KUNIT_EXPECT_FALSE(test, work_pending(&fake->fabric->signal_work));
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
	KUNIT_CASE(suspect_that_is_oldest_lapses),
	KUNIT_CASE(suspect_does_not_displace_what_is_quarantined),
	KUNIT_CASE(patrol_asks_and_reads),
	KUNIT_CASE(patrol_finds_a_dead_accelerator),
	KUNIT_CASE(patrol_believes_answers_only),
	KUNIT_CASE(patrol_finds_an_element_that_moved),
	KUNIT_CASE(patrol_asks_again_before_it_suspects),
	KUNIT_CASE(patrol_leaves_what_is_turned_meanwhile),
	KUNIT_CASE(patrol_lets_go_of_what_is_left_meanwhile),
	KUNIT_CASE(patrol_takes_back_what_obeys),
	KUNIT_CASE(patrol_parks_what_was_left),
	KUNIT_CASE(patrol_brings_back_through_a_test),
	KUNIT_CASE(patrol_does_not_clear_a_failure_that_comes_meanwhile),
	KUNIT_CASE(patrol_takes_no_error_for_a_verdict),
	KUNIT_CASE(patrol_asks_elements_that_refused_a_test),
	KUNIT_CASE(patrol_fails_a_laser_that_burns_on),
	KUNIT_CASE_PARAM(signal_marks, signal_cases_gen_params),
	KUNIT_CASE(signal_of_an_alarm_cleared_leads_to_a_test),
	KUNIT_CASE(signal_of_a_flap_does_not_put_patrol_off),
	KUNIT_CASE(patrol_is_not_hurried_by_reviews),
	KUNIT_CASE(signal_of_nothing_is_ignored),
	KUNIT_CASE(signal_overrun_doubts_everything),
	KUNIT_CASE(signal_after_removal_is_dropped),
	{}
};

struct kunit_suite morph_health_suite = {
	.name = "morph_health",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = health_cases,
};

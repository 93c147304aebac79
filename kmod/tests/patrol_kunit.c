// SPDX-License-Identifier: GPL-2.0-only
/* Patrol: requested rounds, tests of suspects, reviews. */
#include <linux/delay.h>

#include "core/txn/internal.h"
#include "fake.h"
#include "suites.h"

static void patrol_asks_and_reads(struct kunit *test)
{
	struct fake *fake = test->priv;

	fake_patrol(fake);
	KUNIT_EXPECT_STREQ(test, "pe", (const char *)fake->log);
	KUNIT_EXPECT_EQ(test, (u64)fake->accelerators, fake_stat(fake, MORPH_STAT_PATROLS));
}

static void patrol_finds_a_dead_accelerator(struct kunit *test)
{
	struct fake *fake = test->priv;

	fake->dead[4] = true;
	fake_patrol(fake);
	KUNIT_EXPECT_EQ(test, (u8)MORPH_HEALTH_FAILED, ledger_of(fake->fabric)->chips[4].health);
	KUNIT_EXPECT_EQ(test, 1u, ledger_of(fake->fabric)->failed);
}

/*
 * If the device returns an error, the state is unknown. It does not mean that all parts failed or
 * moved.
 */
static void patrol_believes_answers_only(struct kunit *test)
{
	struct fake *fake = test->priv;

	fake->dead[4] = true;
	fake->element[7] = 2;
	fake_clear(fake);
	fake_rule(fake, FAKE_PROBE, 0, FAKE_ERROR, -EREMOTEIO);
	fake_rule(fake, FAKE_GET_ELEMENTS, 0, FAKE_ERROR, -EREMOTEIO);
	mod_delayed_work(morph_wq, &recovery_of(fake->fabric)->patrol_work, 0);
	flush_work(&recovery_of(fake->fabric)->patrol_work.work);
	cancel_delayed_work_sync(&recovery_of(fake->fabric)->patrol_work);
	KUNIT_EXPECT_EQ(test, 0u, ledger_of(fake->fabric)->failed);
	KUNIT_EXPECT_EQ(test, 0u, ledger_of(fake->fabric)->impaired);
}

/* Quarantine a part, which then fails its test. */
static void patrol_finds_an_element_that_moved(struct kunit *test)
{
	struct fake *fake = test->priv;

	fake->element[7] = 2;
	fake->stuck[7] = true;
	fake_patrol(fake);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_HEALTH_FAILED,
			morph_health_get(fake->fabric, MORPH_PART_ELEMENT, 7));
	KUNIT_EXPECT_EQ(test, 1u, ledger_of(fake->fabric)->impaired);
}

/* A round that waits for the answer to its read number @skip + 1 of elements. */
static void patrol_until_reading(struct fake *fake, u32 skip)
{
	fake_clear(fake);
	fake_rule(fake, FAKE_GET_ELEMENTS, skip, FAKE_HANG, 0);
	mod_delayed_work(morph_wq, &recovery_of(fake->fabric)->patrol_work, 0);
	wait_for_completion(&fake->silent);
}

/* The device answers, and the round continues to its end. */
static void patrol_goes_on(struct fake *fake, int status,
			   const struct morph_element_setting *settings, u32 count)
{
	morph_fabric_complete(fake->fabric, fake->silent_cookie, status, settings,
			      array_size(count, sizeof(*settings)));
	flush_work(&recovery_of(fake->fabric)->patrol_work.work);
	cancel_delayed_work_sync(&recovery_of(fake->fabric)->patrol_work);
}

/* All elements except one are in the parking state. */
static void patrol_reads(struct fake *fake, u32 element, u32 state)
{
	struct morph_element_setting settings[FAKE_ELEMENTS];
	u32 total = fake->fabric->graph->elements_count, i;

	for (i = 0; i < total; i++) {
		settings[i].element = (recovery_of(fake->fabric)->patrol_element + i) % total;
		settings[i].state = settings[i].element == element ? state : 0;
	}
	patrol_goes_on(fake, 0, settings, total);
}

/* Core and ledger expect this state of an element, with this number of pins. */
static void pin(struct fake *fake, u32 element, u32 state, u32 pins)
{
	mutex_lock(&fake->fabric->lock);
	optics_set_state(ledger_of(fake->fabric)->state, element, state);
	ledger_of(fake->fabric)->state->element_pins[element] = pins;
	hardware_of(fake->fabric)->hw_state[element] = state;
	mutex_unlock(&fake->fabric->lock);
}

/*
 * Patrol read the element while a change had turned it, but the change is rolled back before patrol
 * compares. There is no test.
 */
static void patrol_asks_again_before_it_suspects(struct kunit *test)
{
	struct fake *fake = test->priv;

	patrol_until_reading(fake, 0);
	patrol_reads(fake, 7, 2);
	KUNIT_EXPECT_STREQ(test, "pee", (const char *)fake->log);
	KUNIT_EXPECT_EQ(test, 0u, ledger_of(fake->fabric)->impaired);
	KUNIT_EXPECT_EQ(test, 0u, ledger_of(fake->fabric)->state->element_pins[7]);
}

/* An element that a change has turned since then is in the right state. */
static void patrol_skips_elements_turned_meanwhile(struct kunit *test)
{
	struct fake *fake = test->priv;

	patrol_until_reading(fake, 0);
	pin(fake, 7, 2, 1);
	patrol_reads(fake, 7, 2);
	KUNIT_EXPECT_STREQ(test, "pe", (const char *)fake->log);
	KUNIT_EXPECT_EQ(test, 0u, ledger_of(fake->fabric)->impaired);
	pin(fake, 7, 0, 0);
}

/*
 * The circuit ends while patrol reads its element again. The ledger then expects the parking state.
 */
static void patrol_unpins_elements_released_meanwhile(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct optics_state *ledger = ledger_of(fake->fabric)->state;

	pin(fake, 7, 2, 1);
	patrol_until_reading(fake, 1);
	KUNIT_EXPECT_EQ(test, 2u, ledger->element_pins[7]);
	pin(fake, 7, 2, 1);
	patrol_goes_on(fake, -EIO, NULL, 0);
	KUNIT_EXPECT_EQ(test, 0u, ledger->element_pins[7]);
	KUNIT_EXPECT_EQ(test, (u8)0, ledger->element_state[7]);
	/* The next round parks it. */
	fake_patrol(fake);
	KUNIT_EXPECT_EQ(test, (u8)0, hardware_of(fake->fabric)->hw_state[7]);
}

/* An element that moved once, and obeys again, passes the test and is in use as before. */
static void patrol_returns_obedient_elements_to_use(struct kunit *test)
{
	struct fake *fake = test->priv;

	fake->element[7] = 2;
	fake_patrol(fake);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_HEALTH_OK,
			morph_health_get(fake->fabric, MORPH_PART_ELEMENT, 7));
	KUNIT_EXPECT_EQ(test, (u8)0, fake->element[7]);
	KUNIT_EXPECT_EQ(test, 0u, ledger_of(fake->fabric)->impaired);
}

/*
 * Patrol does not test an element that a schedule holds for its steps. It programs the element
 * again.
 */
static void patrol_reprograms_elements_held_by_a_schedule(struct kunit *test)
{
	struct fake *fake = test->priv;
	u8 *marks = ledger_of(fake->fabric)->state->element_marks;

	mutex_lock(&fake->fabric->lock);
	marks[7] |= OPTICS_HELD;
	mutex_unlock(&fake->fabric->lock);
	fake->element[7] = 2;
	fake_patrol(fake);
	flush_work(&recovery_of(fake->fabric)->review_work);
	KUNIT_EXPECT_EQ(test, (u8)0, fake->element[7]);
	KUNIT_EXPECT_EQ(test, 0u, ledger_of(fake->fabric)->impaired);
	mutex_lock(&fake->fabric->lock);
	marks[7] &= ~OPTICS_HELD;
	mutex_unlock(&fake->fabric->lock);
}

/*
 * A dark circuit claims state 2, but its command got no answer. The device obeyed late. The core
 * learns the state, so that the next change programs what differs, and suspects nothing.
 */
static void patrol_learns_states_that_nobody_recorded(struct kunit *test)
{
	struct fake *fake = test->priv;

	pin(fake, 7, 2, 1);
	hardware_of(fake->fabric)->hw_state[7] = 0;
	fake->element[7] = 2;
	fake_patrol(fake);
	flush_work(&recovery_of(fake->fabric)->review_work);
	KUNIT_EXPECT_EQ(test, (u8)2, hardware_of(fake->fabric)->hw_state[7]);
	KUNIT_EXPECT_EQ(test, (u8)2, fake->element[7]);
	KUNIT_EXPECT_EQ(test, 0u, ledger_of(fake->fabric)->impaired);
	KUNIT_EXPECT_EQ(test, 1u, ledger_of(fake->fabric)->state->element_pins[7]);
	pin(fake, 7, 0, 0);
	fake->element[7] = 0;
}

/* Park an element now that could not be parked at its release. */
static void patrol_parks_released_elements(struct kunit *test)
{
	struct fake *fake = test->priv;

	fake->element[7] = 2;
	hardware_of(fake->fabric)->hw_state[7] = 2;
	fake_patrol(fake);
	KUNIT_EXPECT_STREQ(test, "peP", (const char *)fake->log);
	KUNIT_EXPECT_EQ(test, (u8)0, fake->element[7]);
	KUNIT_EXPECT_EQ(test, 0u, ledger_of(fake->fabric)->impaired);
}

/*
 * A quarantined part returns after a test, but not during its hold-down, and never if it is dead.
 */
static void patrol_brings_back_through_a_test(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_chip *chip = &ledger_of(fake->fabric)->chips[1];

	fake_set_health(fake, MORPH_PART_ACCELERATOR, 1, MORPH_HEALTH_FAILED);
	chip->hold_until_ns = 0;
	fake_patrol(fake);
	KUNIT_EXPECT_EQ(test, (u8)MORPH_HEALTH_FAILED, chip->health);
	fake_set_health(fake, MORPH_PART_ACCELERATOR, 1, MORPH_HEALTH_QUARANTINED);
	chip->hold_until_ns = U64_MAX;
	fake_patrol(fake);
	KUNIT_EXPECT_EQ(test, (u8)MORPH_HEALTH_QUARANTINED, chip->health);
	chip->hold_until_ns = 0;
	fake_patrol(fake);
	KUNIT_EXPECT_EQ(test, (u8)MORPH_HEALTH_OK, chip->health);
}

/* The heartbeat stops during the test, so the test does not bring the part back. */
static void patrol_does_not_clear_a_failure_that_comes_meanwhile(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_chip *chip = &ledger_of(fake->fabric)->chips[1];
	const struct morph_signal lost = { .type = MORPH_SIGNAL_HEARTBEAT, .index = 1 };

	fake_set_health(fake, MORPH_PART_ACCELERATOR, 1, MORPH_HEALTH_QUARANTINED);
	fake_rule(fake, FAKE_LASERS_OFF, 0, FAKE_HANG, 0);
	mod_delayed_work(morph_wq, &recovery_of(fake->fabric)->patrol_work, 0);
	wait_for_completion(&fake->silent);
	morph_fabric_signal(fake->fabric, &lost, 1);
	flush_work(&recovery_of(fake->fabric)->signal_work);
	morph_fabric_complete(fake->fabric, fake->silent_cookie, 0, NULL, 0);
	flush_work(&recovery_of(fake->fabric)->patrol_work.work);
	KUNIT_EXPECT_EQ(test, (u8)MORPH_HEALTH_FAILED, chip->health);
	KUNIT_EXPECT_FALSE(test, morph_chip_fit(fake->fabric, 1));
}

/* A read error is no verdict. Patrol repeats the test. */
static void patrol_takes_no_error_for_a_verdict(struct kunit *test)
{
	const struct morph_culprit suspect = { MORPH_PART_RECEIVER, 1, 0 };
	struct fake *fake = test->priv;

	fake_set_health(fake, suspect.part, suspect.index, MORPH_HEALTH_QUARANTINED);
	mutex_lock(&fake->fabric->lock);
	morph_suspect_add(fake->fabric, &suspect);
	mutex_unlock(&fake->fabric->lock);
	fake_rule(fake, FAKE_GET_RECEIVERS, FAKE_ALWAYS, FAKE_ERROR, -EIO);
	mod_delayed_work(morph_wq, &recovery_of(fake->fabric)->patrol_work, 0);
	flush_work(&recovery_of(fake->fabric)->patrol_work.work);
	mutex_lock(&fake->fabric->lock);
	KUNIT_EXPECT_TRUE(test, morph_suspect_waits(fake->fabric, suspect.part, suspect.index));
	mutex_unlock(&fake->fabric->lock);
	fake_clear(fake);
	fake_patrol(fake);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_HEALTH_OK,
			morph_health_get(fake->fabric, suspect.part, suspect.index));
}

static void quarantine_receiver(struct fake *fake, u32 rx)
{
	const struct morph_culprit receiver = { MORPH_PART_RECEIVER, rx, 0 };

	fake_set_health(fake, receiver.part, receiver.index, MORPH_HEALTH_QUARANTINED);
	mutex_lock(&fake->fabric->lock);
	morph_suspect_add(fake->fabric, &receiver);
	mutex_unlock(&fake->fabric->lock);
}

/* Receiver 1 is quarantined. Patrol now tests it with light. */
static void patrol_tests_a_receiver(struct fake *fake)
{
	quarantine_receiver(fake, 1);
	mod_delayed_work(morph_wq, &recovery_of(fake->fabric)->patrol_work, 0);
	flush_work(&recovery_of(fake->fabric)->patrol_work.work);
	cancel_delayed_work_sync(&recovery_of(fake->fabric)->patrol_work);
}

/* Patrol runs @rounds rounds; return the router's steps meanwhile. */
static u64 steps_of_rounds(struct fake *fake, u32 rounds)
{
	u64 steps = fake_stat(fake, MORPH_STAT_ROUTE_STEPS);

	while (rounds--)
		fake_patrol(fake);
	return fake_stat(fake, MORPH_STAT_ROUTE_STEPS) - steps;
}

/* The other end of the guide at a receiver is this element. */
static u32 last_element(struct fake *fake, u32 rx)
{
	const struct optics_graph *graph = fake->fabric->graph;
	const struct optics_end *end = graph->guides[graph->rx_guide[rx] >> 1].end;

	return end[end[0].type != MORPH_END_ELEMENT].index;
}

/* No path leads to a receiver whose last element is cordoned. No search is needed to find that. */
static void patrol_searches_no_path_to_a_cut_off_receiver(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_refusal refusal = {};
	u32 element = last_element(fake, 1);

	morph_health_cordon(fake->fabric, MORPH_PART_ELEMENT, element, true, &refusal);
	patrol_tests_a_receiver(fake);
	KUNIT_EXPECT_EQ(test, 0ULL, steps_of_rounds(fake, 3));
	KUNIT_EXPECT_EQ(test, 1u, recovery_of(fake->fabric)->suspects[0].count);
	morph_health_cordon(fake->fabric, MORPH_PART_ELEMENT, element, false, &refusal);
	fake_patrol(fake);
	KUNIT_EXPECT_EQ(test, 0u, recovery_of(fake->fabric)->suspects[0].count);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_HEALTH_OK,
			morph_health_get(fake->fabric, MORPH_PART_RECEIVER, 1));
}

/*
 * All guides into the receiver's element are cordoned. Patrol tries each accelerator once, and then
 * no more, until the operator frees a guide.
 */
static void patrol_remembers_that_no_path_exists(struct kunit *test)
{
	struct fake *fake = test->priv;
	const struct optics_graph *graph = fake->fabric->graph;
	const struct optics_element *element = &graph->elements[last_element(fake, 1)];
	u32 own = graph->rx_guide[1] >> 1, ports = graph->kinds[element->kind].ports, guide, i;
	const struct morph_culprit receiver = { MORPH_PART_RECEIVER, 1, 0 };
	struct morph_refusal refusal = {};

	for (i = 0; i < ports; i++) {
		guide = graph->port_guide[element->first_port + i];
		if (guide != OPTICS_NONE && guide >> 1 != own)
			morph_health_cordon(fake->fabric, MORPH_PART_GUIDE, guide >> 1, true,
					    &refusal);
	}
	patrol_tests_a_receiver(fake);
	KUNIT_EXPECT_TRUE(test, morph_suspect_search(fake->fabric, &receiver)->ended);
	KUNIT_EXPECT_EQ(test, 0ULL, steps_of_rounds(fake, 4));
	for (i = 0; i < ports; i++) {
		guide = graph->port_guide[element->first_port + i];
		if (guide != OPTICS_NONE && guide >> 1 != own)
			morph_health_cordon(fake->fabric, MORPH_PART_GUIDE, guide >> 1, false,
					    &refusal);
	}
	fake_patrol(fake);
	KUNIT_EXPECT_EQ(test, 0u, recovery_of(fake->fabric)->suspects[0].count);
}

/* More receivers than a round tests wait without a path. Another one is tested nevertheless. */
static void patrol_passes_over_those_without_path(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_refusal refusal = {};
	u32 blocked = 6, rx;

	for (rx = 0; rx < blocked; rx++) {
		morph_health_cordon(fake->fabric, MORPH_PART_ELEMENT, last_element(fake, rx), true,
				    &refusal);
		quarantine_receiver(fake, rx);
	}
	steps_of_rounds(fake, 2);
	quarantine_receiver(fake, blocked);
	fake_patrol(fake);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_HEALTH_OK,
			morph_health_get(fake->fabric, MORPH_PART_RECEIVER, blocked));
	for (rx = 0; rx < blocked; rx++)
		morph_health_cordon(fake->fabric, MORPH_PART_ELEMENT, last_element(fake, rx), false,
				    &refusal);
	steps_of_rounds(fake, 1 + blocked);
	KUNIT_EXPECT_EQ(test, 0u, recovery_of(fake->fabric)->suspects[0].count);
}

/*
 * All elements wake in another state. Patrol quarantines none of them, also during the review, and
 * the review parks them.
 */
static void patrol_resume_reprograms_elements(struct kunit *test)
{
	struct fake *fake = test->priv;
	u32 total = fake->fabric->graph->elements_count, i;

	for (i = 0; i < total; i++)
		WRITE_ONCE(fake->element[i], 1);
	fake_rule(fake, FAKE_GET_LASERS, 0, FAKE_HANG, 0);
	morph_fabric_resume(fake->fabric);
	wait_for_completion(&fake->silent);
	fake_patrol(fake);
	morph_fabric_complete(fake->fabric, fake->silent_cookie, -EIO, NULL, 0);
	fake_settle(fake);
	fake_patrol(fake);
	KUNIT_EXPECT_EQ(test, 0u, ledger_of(fake->fabric)->impaired);
	for (i = 0; i < total; i++)
		KUNIT_EXPECT_EQ_MSG(test, (u8)0, fake->element[i], "element %u", i);
}

/* An accelerator of a slice died during the suspend, without a signal. */
static void patrol_resume_tests_accelerators(struct kunit *test)
{
	static const u32 accelerators[] = { 0, 1 };
	struct fake *fake = test->priv;

	fake_slice(fake, accelerators, 2);
	fake->dead[1] = true;
	fake_patrol(fake);
	KUNIT_EXPECT_EQ(test, (u8)MORPH_HEALTH_OK, ledger_of(fake->fabric)->chips[1].health);
	morph_fabric_resume(fake->fabric);
	fake_settle(fake);
	fake_patrol(fake);
	KUNIT_EXPECT_EQ(test, (u8)MORPH_HEALTH_FAILED, ledger_of(fake->fabric)->chips[1].health);
	KUNIT_EXPECT_EQ(test, (u8)MORPH_HEALTH_OK, ledger_of(fake->fabric)->chips[0].health);
	fake_settle(fake);
}

/* If elements did not take their states, the core reads them back and parks them again. */
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
	/* This is no verdict on the receiver. */
	mutex_lock(&fake->fabric->lock);
	KUNIT_EXPECT_TRUE(test, morph_suspect_waits(fake->fabric, MORPH_PART_RECEIVER, 1));
	mutex_unlock(&fake->fabric->lock);
	fake_clear(fake);
}

/* A laser that does not go off after a test is taken out of use, whatever the test was for. */
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

/*
 * A request for an idle fabric starts a round at once. Repeated requests do not change the interval
 * of rounds.
 */
static void patrol_is_not_hurried_by_reviews(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct delayed_work *patrol = &recovery_of(fake->fabric)->patrol_work;
	unsigned long due;

	mod_delayed_work(morph_wq, patrol, 3600 * HZ);
	due = READ_ONCE(patrol->timer.expires);
	morph_patrol_review(fake->fabric);
	flush_work(&recovery_of(fake->fabric)->review_work);
	KUNIT_EXPECT_EQ(test, due, READ_ONCE(patrol->timer.expires));
	KUNIT_EXPECT_NOT_NULL(test, strchr(fake->log, FAKE_GET_ELEMENTS));
	KUNIT_EXPECT_NULL(test, strchr(fake->log, FAKE_PROBE));
	cancel_delayed_work_sync(patrol);
}

static u32 readings(const struct fake *fake, char call)
{
	u32 count = 0, i;

	for (i = 0; i < fake->logged; i++)
		count += fake->log[i] == call;
	return count;
}

/* One error in a review: the next one reads only that part again. */
static void patrol_review_repeats_only_what_failed(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct work_struct *review = &recovery_of(fake->fabric)->review_work;

	fake_clear(fake);
	fake_rule(fake, FAKE_GET_ELEMENTS, 0, FAKE_ERROR, -EREMOTEIO);
	morph_patrol_review(fake->fabric);
	flush_work(review);
	KUNIT_EXPECT_EQ(test, 1u, readings(fake, FAKE_GET_LASERS));
	KUNIT_EXPECT_EQ(test, 2u, readings(fake, FAKE_GET_ELEMENTS));
	/* Patrol reads all elements at once. */
	fake_patrol(fake);
	flush_work(review);
	KUNIT_EXPECT_EQ(test, 0u, readings(fake, FAKE_GET_LASERS));
	KUNIT_EXPECT_EQ(test, 2u, readings(fake, FAKE_GET_ELEMENTS));
	fake_patrol(fake);
	flush_work(review);
	KUNIT_EXPECT_EQ(test, 1u, readings(fake, FAKE_GET_ELEMENTS));
}

/* Start a review whose command hangs. */
static void review_hangs(struct fake *fake, char call)
{
	fake_clear(fake);
	fake_rule(fake, call, 0, FAKE_HANG, 0);
	morph_patrol_review(fake->fabric);
	wait_for_completion(&fake->silent);
}

/* Until another thread waits for the end of the review, or does not. */
static bool waits_for_review(struct fake *fake)
{
	while (!wq_has_sleeper(&hardware_of(fake->fabric)->review_end) &&
	       !strchr(fake->log, FAKE_LASERS_ON))
		usleep_range(1000, 2000);
	return wq_has_sleeper(&hardware_of(fake->fabric)->review_end);
}

/* Otherwise its command would follow theirs, and darken a circuit that they have verified. */
static void patrol_review_blocks_other_writers(struct kunit *test)
{
	static const u32 ranks[] = { 0, 1 };
	struct fake *fake = test->priv;
	struct morph_slice *slice = fake_slice(fake, ranks, 2);
	struct morph_change change = fake_add(0, 1, 0, 1);
	struct fake_run run;

	/* A laser is on that should be off. */
	fake->laser[0] = BIT_ULL(FAKE_LANES - 1);
	review_hangs(fake, FAKE_LASERS_OFF);
	fake_start(&run, fake_txn(fake, slice, &change, 1, 0));
	KUNIT_EXPECT_TRUE(test, waits_for_review(fake));
	KUNIT_EXPECT_NULL(test, strchr(fake->log, FAKE_LASERS_ON));
	fake_go_on(fake);
	KUNIT_EXPECT_EQ(test, 0, fake_end(&run));
	flush_work(&recovery_of(fake->fabric)->review_work);
	fake_expect_light(fake);
	morph_txn_put(run.txn);
}

/* A transaction with other elements does not wait for the review. */
static void patrol_reviews_beside_other_writers(struct kunit *test)
{
	static const u32 ranks[] = { 0, 1 };
	struct fake *fake = test->priv;
	struct morph_slice *slice = fake_slice(fake, ranks, 2);
	u32 last = 2 * fake->accelerators * FAKE_PLANES - 1;

	KUNIT_ASSERT_GE(test, last, MORPH_REVIEW_CHUNK);
	fake->element[last] = 1;
	review_hangs(fake, FAKE_PARK);
	fake_light(fake, slice, 0, 1, 0);
	fake_go_on(fake);
	flush_work(&recovery_of(fake->fabric)->review_work);
	fake_expect_light(fake);
}

/*
 * A transaction is changing the part that patrol finds in a wrong state. Patrol reads it again
 * after the transaction.
 */
static void patrol_waits_for_a_writer_of_the_same_port(struct kunit *test)
{
	static const u32 ranks[] = { 0, 1 };
	struct fake *fake = test->priv;
	struct morph_slice *slice = fake_slice(fake, ranks, 2);
	struct morph_change change = fake_add(0, 1, 0, 1);
	struct fake_run run;

	fake_clear(fake);
	fake_begin(fake, &run, fake_txn(fake, slice, &change, 1, 0), FAKE_LASERS_ON, 0);
	/* Another laser of this port is on that should be off. */
	fake->laser[0] |= BIT_ULL(FAKE_LANES - 1);
	fake_clear(fake);
	morph_patrol_review(fake->fabric);
	while (!strchr(fake->log, FAKE_GET_LASERS))
		usleep_range(1000, 2000);
	msleep(50);
	KUNIT_EXPECT_NULL(test, strchr(fake->log, FAKE_LASERS_OFF));
	fake_go_on(fake);
	flush_work(&recovery_of(fake->fabric)->review_work);
	KUNIT_EXPECT_EQ(test, 0, fake_end(&run));
	fake_expect_light(fake);
	morph_txn_put(run.txn);
}

static struct kunit_case patrol_cases[] = {
	KUNIT_CASE(patrol_asks_and_reads),
	KUNIT_CASE(patrol_finds_a_dead_accelerator),
	KUNIT_CASE(patrol_believes_answers_only),
	KUNIT_CASE(patrol_finds_an_element_that_moved),
	KUNIT_CASE(patrol_asks_again_before_it_suspects),
	KUNIT_CASE(patrol_skips_elements_turned_meanwhile),
	KUNIT_CASE(patrol_unpins_elements_released_meanwhile),
	KUNIT_CASE(patrol_returns_obedient_elements_to_use),
	KUNIT_CASE(patrol_reprograms_elements_held_by_a_schedule),
	KUNIT_CASE(patrol_learns_states_that_nobody_recorded),
	KUNIT_CASE(patrol_parks_released_elements),
	KUNIT_CASE(patrol_brings_back_through_a_test),
	KUNIT_CASE(patrol_does_not_clear_a_failure_that_comes_meanwhile),
	KUNIT_CASE(patrol_takes_no_error_for_a_verdict),
	KUNIT_CASE(patrol_searches_no_path_to_a_cut_off_receiver),
	KUNIT_CASE(patrol_remembers_that_no_path_exists),
	KUNIT_CASE(patrol_passes_over_those_without_path),
	KUNIT_CASE(patrol_resume_reprograms_elements),
	KUNIT_CASE(patrol_resume_tests_accelerators),
	KUNIT_CASE(patrol_asks_elements_that_refused_a_test),
	KUNIT_CASE(patrol_fails_a_laser_that_burns_on),
	KUNIT_CASE(patrol_is_not_hurried_by_reviews),
	KUNIT_CASE(patrol_review_repeats_only_what_failed),
	KUNIT_CASE(patrol_review_blocks_other_writers),
	KUNIT_CASE(patrol_reviews_beside_other_writers),
	KUNIT_CASE(patrol_waits_for_a_writer_of_the_same_port),
	{}
};

struct kunit_suite morph_patrol_suite = {
	.name = "morph_patrol",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = patrol_cases,
};

// SPDX-License-Identifier: GPL-2.0-only
/* Queues of events: their order, and lost events when a queue is full. */
#include "fake.h"
#include "suites.h"

static int event_init(struct kunit *test)
{
	struct fake *fake = fake_open(test, &fake_small);

	fake_slice(fake, NULL, 1);
	return 0;
}

/*
 * Events with consecutive circuit numbers, beginning with first, so that tests can distinguish
 * them.
 */
static void queue_events(struct fake *fake, u32 first, u32 count)
{
	struct morph_slice *slice = fake->files[0]->slice;
	struct morph_event event;
	u32 i;

	mutex_lock(&fake->fabric->lock);
	for (i = 0; i < count; i++) {
		morph_event_init(&event, slice, MORPH_EVENT_CIRCUIT_MOVED);
		event.circuit = first + i;
		event.part = MORPH_PART_GUIDE;
		event.index = 9;
		event.dark_ns = 11;
		morph_event_queue(slice, &event);
	}
	mutex_unlock(&fake->fabric->lock);
}

static void expect_events(struct fake *fake, u32 first, u32 count)
{
	struct morph_event event;
	u32 i;

	for (i = 0; i < count; i++) {
		KUNIT_ASSERT_EQ(fake->test, (u32)MORPH_EVENT_CIRCUIT_MOVED,
				fake_event(fake, 0, &event));
		KUNIT_ASSERT_EQ(fake->test, first + i, event.circuit);
	}
}

static void expect_lost(struct fake *fake, u64 lost)
{
	struct morph_event event;

	KUNIT_EXPECT_EQ(fake->test, (u32)MORPH_EVENT_LOST, fake_event(fake, 0, &event));
	KUNIT_EXPECT_EQ(fake->test, lost, event.lost);
}

static void expect_no_event(struct fake *fake)
{
	struct morph_event event;

	KUNIT_EXPECT_EQ(fake->test, 0u, fake_event(fake, 0, &event));
}

static void event_queue_holds_its_slots(struct kunit *test)
{
	struct fake *fake = test->priv;

	queue_events(fake, 0, MORPH_EVENT_SLOTS);
	KUNIT_EXPECT_EQ(test, 0ULL, fake_stat(fake, MORPH_STAT_EVENTS_LOST));
	expect_events(fake, 0, MORPH_EVENT_SLOTS);
	expect_no_event(fake);
}

/* More events than the queue has slots. */
static void event_order_is_kept(struct kunit *test)
{
	struct fake *fake = test->priv;
	u32 round;

	for (round = 0; round < 5; round++) {
		queue_events(fake, round * 40, 40);
		expect_events(fake, round * 40, 40);
	}
	expect_no_event(fake);
}

static void event_overflow_leaves_one_record(struct kunit *test)
{
	struct fake *fake = test->priv;

	queue_events(fake, 0, MORPH_EVENT_SLOTS + 3);
	KUNIT_EXPECT_EQ(test, 3ULL, fake_stat(fake, MORPH_STAT_EVENTS_LOST));
	KUNIT_EXPECT_EQ(test, 3ULL, fake->files[0]->lost_total);
	expect_events(fake, 0, MORPH_EVENT_SLOTS);
	expect_lost(fake, 3);
	expect_no_event(fake);
}

/*
 * The record of lost events and the next event need one slot each, so one free slot is not enough.
 */
static void event_record_precedes_later_events(struct kunit *test)
{
	struct fake *fake = test->priv;

	queue_events(fake, 0, MORPH_EVENT_SLOTS + 3);
	expect_events(fake, 0, 1);
	queue_events(fake, 100, 1);
	expect_events(fake, 1, 1);
	queue_events(fake, 101, 1);
	expect_events(fake, 2, MORPH_EVENT_SLOTS - 2);
	expect_lost(fake, 4);
	expect_events(fake, 101, 1);
	expect_no_event(fake);
}

static void event_losses_are_counted_from_zero_again(struct kunit *test)
{
	struct fake *fake = test->priv;

	queue_events(fake, 0, MORPH_EVENT_SLOTS + 3);
	expect_events(fake, 0, MORPH_EVENT_SLOTS);
	expect_lost(fake, 3);
	queue_events(fake, 0, MORPH_EVENT_SLOTS + 2);
	expect_events(fake, 0, MORPH_EVENT_SLOTS);
	expect_lost(fake, 2);
	KUNIT_EXPECT_EQ(test, 5ULL, fake->files[0]->lost_total);
}

/*
 * The record contains the sequence number from which the reader must read the slice again, and no
 * other event.
 */
static void event_record_is_of_the_last_state(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slice = fake->files[0]->slice;
	struct morph_event event;

	queue_events(fake, 0, MORPH_EVENT_SLOTS + 1);
	slice->generation = 40;
	fake->fabric->seq = 50;
	queue_events(fake, 0, 1);
	expect_events(fake, 0, MORPH_EVENT_SLOTS);
	fake_event(fake, 0, &event);
	KUNIT_EXPECT_EQ(test, 40ULL, event.generation);
	KUNIT_EXPECT_EQ(test, 50ULL, event.seq);
	KUNIT_EXPECT_EQ(test, slice->number, event.slice);
	KUNIT_EXPECT_EQ(test, MORPH_ANY, event.circuit);
	KUNIT_EXPECT_EQ(test, 0u, event.part);
	KUNIT_EXPECT_EQ(test, 0u, event.index);
	KUNIT_EXPECT_EQ(test, 0ULL, event.dark_ns);
}

/* A file that does not read does not affect other files. */
static void event_queues_are_for_themselves(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_file *file = morph_file_alloc(fake->files[0]->slice, NULL);
	struct morph_event event;
	u32 i;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, file);
	fake->files[fake->slices++] = file;
	for (i = 0; i < 3; i++) {
		queue_events(fake, i * 40, 40);
		expect_events(fake, i * 40, 40);
	}
	KUNIT_EXPECT_EQ(test, 0ULL, fake->files[0]->lost_total);
	KUNIT_EXPECT_EQ(test, (u64)(3 * 40 - MORPH_EVENT_SLOTS), file->lost);
	fake_event(fake, 1, &event);
	KUNIT_EXPECT_EQ(test, 0u, event.circuit);
}

/* A file that opens later gets only later events. */
static void event_before_opening_is_not_reported(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_event event;
	struct morph_file *file;

	queue_events(fake, 0, 1);
	file = morph_file_alloc(fake->files[0]->slice, NULL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, file);
	fake->files[fake->slices++] = file;
	KUNIT_EXPECT_EQ(test, 0u, fake_event(fake, 1, &event));
	queue_events(fake, 1, 1);
	fake_event(fake, 1, &event);
	KUNIT_EXPECT_EQ(test, 1u, event.circuit);
}

static struct kunit_case event_cases[] = {
	KUNIT_CASE(event_queue_holds_its_slots),
	KUNIT_CASE(event_order_is_kept),
	KUNIT_CASE(event_overflow_leaves_one_record),
	KUNIT_CASE(event_record_precedes_later_events),
	KUNIT_CASE(event_losses_are_counted_from_zero_again),
	KUNIT_CASE(event_record_is_of_the_last_state),
	KUNIT_CASE(event_queues_are_for_themselves),
	KUNIT_CASE(event_before_opening_is_not_reported),
	{}
};

struct kunit_suite morph_event_suite = {
	.name = "morph_event",
	.init = event_init,
	.exit = fake_exit,
	.test_cases = event_cases,
};

// SPDX-License-Identifier: GPL-2.0-only
/* Schedules: their elements after a repair. */
#include "core/schedule/schedule.h"
#include "fake.h"
#include "joined.h"
#include "suites.h"

#define PLANE	1u	/* of all circuits of schedules; the other circuits use plane 0 */

/* Load two steps: rank 0 sends to rank 1, then rank 1 to rank 0. Light the first one. */
static struct morph_schedule *start_schedule(struct fake *fake, struct morph_slice *slice)
{
	static const struct morph_schedule_circuit circuits[] = {
		{ .src_rank = 0, .dst_rank = 1, .src_plane = PLANE, .dst_plane = PLANE,
		  .lanes_count = 1 },
		{ .src_rank = 1, .dst_rank = 0, .src_plane = PLANE, .dst_plane = PLANE,
		  .lanes_count = 1 },
	};
	static const struct morph_schedule_step steps[] = {
		{ .first = 0, .count = 1 },
		{ .first = 1, .count = 1 },
	};
	static const u32 held[] = { 0, 1 };
	const struct morph_schedule_request request = {
		.circuits = circuits, .circuits_count = ARRAY_SIZE(circuits),
		.steps = steps, .steps_count = ARRAY_SIZE(steps),
		.held = held, .held_count = ARRAY_SIZE(held),
		.generation = slice->generation,
	};
	struct morph_schedule_wrong wrong;
	struct morph_refusal refusal = {};
	struct morph_schedule *schedule;
	struct morph_times times;

	KUNIT_ASSERT_EQ_MSG(fake->test, 0, morph_schedule_load(slice, &request, &schedule, &wrong,
							       &refusal), "%s", refusal.text);
	KUNIT_ASSERT_EQ(fake->test, 0, morph_schedule_start(schedule, 0, &times, &refusal));
	return schedule;
}

/* Selectors of the schedule's plane. */
static u32 sender_of(u32 accelerator)
{
	return 2 * (accelerator * FAKE_PLANES + PLANE);
}

static u32 receiver_of(u32 accelerator)
{
	return sender_of(accelerator) + 1;
}

/*
 * A spare replaces the receiver of a circuit that is dark in the present step. The schedule holds
 * the elements of the failed accelerator no more, so they are parked in hardware.
 */
static void schedule_parks_elements_that_a_repair_releases(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slice = fake_joined(fake, MORPH_FAILOVER_AUTOMATIC, MORPH_SPARES_HOST);
	struct morph_schedule *schedule = start_schedule(fake, slice);
	struct morph_refusal refusal = {};
	struct morph_times times;

	KUNIT_ASSERT_EQ(test, 0, morph_schedule_jump(schedule, 1, 0, &times, &refusal));
	KUNIT_EXPECT_EQ(test, (u8)1, fake->element[receiver_of(1)]);
	fake_kill(fake, 1);
	KUNIT_EXPECT_EQ(test, 2u, slice->ranks[1].accelerator);
	KUNIT_EXPECT_EQ(test, (u8)0, fake->element[receiver_of(1)]);
	KUNIT_EXPECT_EQ(test, (u8)0, fake->element[sender_of(1)]);
	/* The schedule still holds this one. */
	KUNIT_EXPECT_NE(test, (u8)0, fake->element[receiver_of(0)]);
	morph_schedule_put(schedule);
}

static struct kunit_case schedule_cases[] = {
	KUNIT_CASE(schedule_parks_elements_that_a_repair_releases),
	{}
};

struct kunit_suite morph_schedule_suite = {
	.name = "morph_schedule",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = schedule_cases,
};

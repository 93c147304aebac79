// SPDX-License-Identifier: GPL-2.0-only
/* Schedules: their elements after a repair, and verdicts on their steps. */
#include "core/recovery/recovery.h"
#include "core/schedule/schedule.h"
#include "fake.h"
#include "joined.h"
#include "suites.h"

#define PLANE	1u	/* of all circuits of schedules; the other circuits use plane 0 */

/* Load two steps: rank 0 sends to rank 1, then @src to @dst. Light the first one. */
static struct morph_schedule *start_schedule(struct fake *fake, struct morph_slice *slice, u32 src,
					     u32 dst)
{
	const struct morph_schedule_circuit circuits[] = {
		{ .src_rank = 0, .dst_rank = 1, .src_plane = PLANE, .dst_plane = PLANE,
		  .lanes_count = 1 },
		{ .src_rank = src, .dst_rank = dst, .src_plane = PLANE, .dst_plane = PLANE,
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
	struct fake *fake = fake_open(test, &fake_small);
	struct morph_slice *slice = fake_joined(fake, MORPH_FAILOVER_AUTOMATIC, MORPH_SPARES_HOST);
	struct morph_schedule *schedule = start_schedule(fake, slice, 1, 0);
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

/* Go through both steps of each schedule in turn. Return the number of judged steps. */
static u64 run_rounds(struct fake *fake, struct morph_schedule **schedules, u32 rounds)
{
	u64 judged = fake_stat(fake, MORPH_STAT_STEPS_JUDGED);
	struct morph_refusal refusal = {};
	struct morph_times times;
	u32 i, s;

	for (i = 1; i <= 2 * rounds; i++)
		for (s = 0; s < 2; s++)
			KUNIT_EXPECT_EQ_MSG(fake->test, 0,
					    morph_schedule_jump(schedules[s], i % 2, 0, &times,
								&refusal),
					    "%s", refusal.text);
	return fake_stat(fake, MORPH_STAT_STEPS_JUDGED) - judged;
}

/*
 * Two schedules run beside each other, and their light returns to the same states. Both steps of a
 * schedule use the same laser, so none of them is lit ahead.
 */
static void schedule_judges_no_step_twice_in_the_same_light(struct kunit *test)
{
	const struct fake_shape shape = { .hosts = 2, .each = 3 };
	const u32 first[] = { 0, 1, 2 }, second[] = { 3, 4, 5 };
	struct fake *fake = fake_open(test, &shape);
	struct morph_slice *slices[] = {
		fake_slice(fake, first, ARRAY_SIZE(first)),
		fake_slice(fake, second, ARRAY_SIZE(second)),
	};
	struct morph_schedule *schedules[2];
	u32 i;

	for (i = 0; i < 2; i++)
		schedules[i] = start_schedule(fake, slices[i], 0, 2);
	run_rounds(fake, schedules, 2);
	KUNIT_EXPECT_EQ(test, 0ULL, run_rounds(fake, schedules, 3));
	/* Other light changes, so each step is judged once again. */
	fake_light(fake, slices[0], 0, 1, 0);
	KUNIT_EXPECT_EQ(test, 4ULL, run_rounds(fake, schedules, 2));
	for (i = 0; i < 2; i++)
		morph_schedule_put(schedules[i]);
}

/* Lanes of guides that the schedule lacks: its lit circuits have them, and a step frees them. */
static u32 lanes_not_held(const struct morph_schedule *schedule)
{
	u32 i, missing = 0;

	for (i = 0; i < schedule->hold.guides_count; i++)
		missing += optics_weight64(schedule->hold.guides[i].lanes &
					   ~schedule->hold.guides[i].ours);
	return missing;
}

struct search_case {
	const char *name;
	u32 effort;		/* of a hold */
};

static const struct search_case search_cases[] = {
	{ "one hold", MORPH_HOLD_EFFORT },
	{ "several holds", 1 },
};

FAKE_CASE_DESC(search_cases, name);

/* The search for another path of a lit circuit suspends what the schedule holds. */
static void schedule_holds_all_lanes_after_a_search(struct kunit *test)
{
	const struct search_case *param = test->param_value;
	struct fake *fake = fake_open(test, &fake_small);
	struct morph_slice *slice = fake_joined(fake, MORPH_FAILOVER_AUTOMATIC, MORPH_SPARES_HOST);
	struct morph_schedule *schedule = start_schedule(fake, slice, 1, 0);

	txns_of(fake->fabric)->effort = param->effort;
	mutex_lock(&fake->fabric->lock);
	KUNIT_EXPECT_EQ(test, 0u, lanes_not_held(schedule));
	morph_reroute_possible(schedule->circuits[0]);
	KUNIT_EXPECT_EQ(test, 0u, lanes_not_held(schedule));
	KUNIT_EXPECT_FALSE(test, schedule->crossed);
	mutex_unlock(&fake->fabric->lock);
	morph_schedule_put(schedule);
}

/*
 * A load allocates circuits and routes before it takes fabric->lock. Paths without guides may be
 * long, so the first chunk has room for both circuits.
 */
static void schedule_takes_circuits_and_routes_from_a_chunk(struct kunit *test)
{
	struct fake *fake = fake_open(test, &fake_small);
	struct morph_slice *slice = fake_joined(fake, MORPH_FAILOVER_AUTOMATIC, MORPH_SPARES_HOST);
	struct morph_schedule *schedule = start_schedule(fake, slice, 1, 0);
	struct morph_chunk *chunk = schedule->circuits[0]->chunk;
	u32 i;

	KUNIT_EXPECT_NOT_NULL(test, chunk);
	for (i = 0; i < schedule->circuits_count; i++) {
		KUNIT_EXPECT_PTR_EQ(test, chunk, schedule->circuits[i]->chunk);
		KUNIT_EXPECT_PTR_EQ(test, chunk, schedule->circuits[i]->route->chunk);
		/* The slice finds it by its number. */
		KUNIT_EXPECT_PTR_EQ(test, (void *)schedule->circuits[i],
				    xa_load(&slice->circuits, schedule->first_circuit + i));
	}
	morph_schedule_put(schedule);
}

static struct kunit_case schedule_cases[] = {
	KUNIT_CASE(schedule_takes_circuits_and_routes_from_a_chunk),
	KUNIT_CASE(schedule_judges_no_step_twice_in_the_same_light),
	KUNIT_CASE(schedule_parks_elements_that_a_repair_releases),
	KUNIT_CASE_PARAM(schedule_holds_all_lanes_after_a_search, search_cases_gen_params),
	{}
};

struct kunit_suite morph_schedule_suite = {
	.name = "morph_schedule",
	.exit = fake_exit,
	.test_cases = schedule_cases,
};

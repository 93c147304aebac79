// SPDX-License-Identifier: LGPL-2.1-or-later
/* Steps: valid and invalid input of the builder. */
#include "fake.h"
#include "steps.h"

static struct morph_ctx *ctx;
static struct morph_steps *steps;

static int begin(void **state)
{
	(void)state;
	assert_int_equal(morph_ctx_new(NULL, &ctx), 0);
	steps = morph_steps_new(ctx);
	assert_non_null(steps);
	return 0;
}

static int end(void **state)
{
	(void)state;
	morph_steps_free(steps);
	morph_steps_free(NULL);
	morph_ctx_free(ctx);
	return 0;
}

static void circuits_match_the_last_command(void **state)
{
	static const uint32_t way[] = { 5, 6, 7 };
	MORPH_OPTS(morph_circuit_opts, opts, .guides = way, .guides_count = 3, .lanes = 6,
		   .lanes_count = 2, .src_plane = 1, .dst_plane = 9,
		   .flags = MORPH_CIRCUIT_SRC_PLANE);
	const struct morph_schedule_circuit *circuits;
	uint32_t count;

	(void)state;
	assert_int_equal(morph_steps_circuit(steps, 0, 1, NULL), 0);
	assert_int_equal(morph_steps_circuit(steps, 1, 0, &opts), 1);
	opts.flags = MORPH_CIRCUIT_DST_PLANE;
	assert_int_equal(morph_steps_circuit(steps, 2, 0, &opts), 2);
	assert_int_equal(morph_steps_count(steps, &count), 0);
	assert_int_equal(count, 3);
	circuits = steps->circuits.list;
	assert_int_equal(circuits[0].src_plane, MORPH_PLANE_ANY);
	assert_int_equal(circuits[0].guides_count, 0);
	assert_int_equal(circuits[1].src_plane, 1);
	assert_int_equal(circuits[1].dst_plane, MORPH_PLANE_ANY);
	assert_int_equal(circuits[1].lanes, 6);
	assert_int_equal(circuits[1].lanes_count, 2);
	assert_int_equal(circuits[2].dst_plane, 9);
	assert_int_equal(circuits[2].first_guide, 3);
	assert_int_equal(circuits[2].guides_count, 3);
	assert_int_equal(steps->guides.list[4], 6);
}

static void circuits_refuse_nonsense(void **state)
{
	static const uint32_t way[] = { 5 };
	MORPH_OPTS(morph_circuit_opts, opts, .flags = 8);
	struct {
		struct morph_circuit_opts known;
		uint64_t more;
	} longer = { { .sz = sizeof(longer) }, 1 };

	(void)state;
	assert_int_equal(morph_steps_circuit(steps, 1, 1, NULL), -EINVAL);
	assert_string_equal(morph_error_text(ctx), "a circuit from rank 1 to itself");
	assert_int_equal(morph_steps_circuit(steps, 1, MORPH_RANK_EDGE | 3, NULL), -EINVAL);
	assert_int_equal(morph_steps_circuit(steps, 0, 1, &opts), -EINVAL);
	opts.flags = MORPH_CIRCUIT_DST_PLANE;
	opts.dst_plane = MORPH_PLANE_ANY;
	assert_int_equal(morph_steps_circuit(steps, 0, 1, &opts), -EINVAL);
	opts.flags = 0;
	opts.guides = way;
	assert_int_equal(morph_steps_circuit(steps, 0, 1, &opts), -EINVAL);
	opts.guides_count = MORPH_SCHEDULE_MOST_GUIDES + 1;
	assert_int_equal(morph_steps_circuit(steps, 0, 1, &opts), -E2BIG);
	assert_int_equal(morph_steps_circuit(steps, 0, 1, &longer.known), -E2BIG);
	assert_int_equal(steps->circuits.count, 0);
}

static void steps_match_the_last_command(void **state)
{
	static const uint32_t both[] = { 1, 0 };
	MORPH_OPTS(morph_step_opts, opts, .begin = MORPH_STEP_TIME, .after_ns = 1000,
		   .deadline_ns = 5000);

	(void)state;
	assert_int_equal(morph_steps_circuit(steps, 0, 1, NULL), 0);
	assert_int_equal(morph_steps_circuit(steps, 1, 0, NULL), 1);
	assert_int_equal(morph_steps_add(steps, both, 2, NULL), 0);
	assert_int_equal(morph_steps_add(steps, NULL, 0, NULL), 1); /* dark */
	assert_int_equal(morph_steps_add(steps, both, 1, &opts), 2);
	assert_int_equal(morph_steps_count(steps, NULL), 3);
	assert_int_equal(steps->steps.list[0].advance, MORPH_ADVANCE_CALL);
	assert_int_equal(steps->steps.list[1].count, 0);
	assert_int_equal(steps->steps.list[2].first, 2);
	assert_int_equal(steps->steps.list[2].advance, MORPH_ADVANCE_TIME);
	assert_int_equal(steps->steps.list[2].after_ns, 1000);
	assert_int_equal(steps->steps.list[2].deadline_ns, 5000);
	assert_int_equal(steps->held.count, 3);
	assert_int_equal(steps->held.list[0], 1);
}

static void options_replace_those_set_before(void **state)
{
	MORPH_OPTS(morph_steps_opts, opts, .profile_checksum = 6, .loop = true);
	struct {
		struct morph_steps_opts known;
		uint64_t more;
	} newer = { .known = { .sz = sizeof(newer) }, .more = 1 };
	MORPH_OPTS(morph_steps_info, info);

	(void)state;
	assert_int_equal(morph_steps_set_opts(steps, &opts), 0);
	morph_steps_set_generation(steps, 5);
	assert_int_equal(morph_steps_circuit(steps, 0, 1, NULL), 0);
	assert_int_equal(morph_steps_circuit(steps, 1, 0, NULL), 1);
	assert_int_equal(morph_steps_add(steps, NULL, 0, NULL), 0);
	assert_int_equal(morph_steps_set_opts(steps, &newer.known), -E2BIG);
	assert_int_equal(morph_steps_info(steps, &info), 0);
	assert_true(info.loop && info.profile_checksum == 6 && info.generation == 5);
	assert_true(info.steps == 1 && info.circuits == 2);
	assert_int_equal(morph_steps_set_opts(steps, NULL), 0);
	assert_int_equal(morph_steps_info(steps, &info), 0);
	assert_true(!info.loop && !info.profile_checksum && info.generation == 5);
	info.sz = 3;
	assert_int_equal(morph_steps_info(steps, &info), -EINVAL);
}

static void steps_are_reported(void **state)
{
	static const uint32_t way[] = { 7, 9 }, both[] = { 1, 0 };
	MORPH_OPTS(morph_circuit_opts, opts, .flags = MORPH_CIRCUIT_DST_PLANE, .dst_plane = 2,
		   .lanes = 6, .lanes_count = 2, .guides = way, .guides_count = 2);
	MORPH_OPTS(morph_step_opts, begins, .begin = MORPH_STEP_TIME, .after_ns = 1000,
		   .deadline_ns = 5000);
	MORPH_OPTS(morph_circuit_opts, circuit);
	MORPH_OPTS(morph_step_opts, step);
	struct morph_step_opts less = { .sz = offsetof(struct morph_step_opts, after_ns),
					.after_ns = 77 };
	const uint32_t *held;
	uint32_t src, dst, checksum;
	uint64_t generation;
	size_t count;

	(void)state;
	assert_false(morph_steps_loop(steps, &generation, &checksum));
	assert_true(generation == MORPH_GENERATION_ANY && !checksum);
	morph_steps_set_loop(steps, true);
	morph_steps_set_generation(steps, 5);
	morph_steps_set_profile(steps, 6);
	assert_true(morph_steps_loop(steps, &generation, &checksum));
	assert_true(generation == 5 && checksum == 6);
	assert_int_equal(morph_steps_circuit(steps, 0, 1, NULL), 0);
	assert_int_equal(morph_steps_circuit(steps, 3, 2, &opts), 1);
	assert_int_equal(morph_steps_add(steps, NULL, 0, NULL), 0);
	assert_int_equal(morph_steps_add(steps, both, 2, &begins), 1);
	assert_int_equal(morph_steps_get_circuit(steps, 0, &src, &dst, &circuit), 0);
	assert_true(!src && dst == 1 && !circuit.flags && !circuit.guides && !circuit.lanes_count);
	assert_int_equal(morph_steps_get_circuit(steps, 1, &src, &dst, &circuit), 0);
	assert_true(src == 3 && dst == 2 && circuit.sz == sizeof(circuit));
	assert_true(circuit.flags == MORPH_CIRCUIT_DST_PLANE && circuit.dst_plane == 2);
	assert_true(circuit.lanes == 6 && circuit.lanes_count == 2 && circuit.guides_count == 2);
	assert_memory_equal(circuit.guides, way, sizeof(way));
	assert_int_equal(morph_steps_get_circuit(steps, 1, &src, &dst, NULL), 0);
	assert_int_equal(morph_steps_get_circuit(steps, 2, &src, &dst, NULL), -ENOENT);
	assert_int_equal(morph_steps_get(steps, 0, &held, &count, &step), 0);
	assert_true(!count && !step.begin && !step.after_ns);
	assert_int_equal(morph_steps_get(steps, 1, &held, &count, &step), 0);
	assert_true(count == 2 && held[0] == 1 && step.begin == MORPH_STEP_TIME);
	assert_true(step.after_ns == 1000 && step.deadline_ns == 5000);
	assert_int_equal(morph_steps_get(steps, 1, &held, &count, &less), 0);
	assert_true(less.begin == MORPH_STEP_TIME && less.after_ns == 77);
	assert_int_equal(morph_steps_get(steps, 2, &held, &count, NULL), -ENOENT);
}

/* A refused step is not added. The corrected step can be added afterwards. */
static void steps_refuse_nonsense(void **state)
{
	static const uint32_t beyond[] = { 0, 2 }, twice[] = { 1, 0, 1 };
	MORPH_OPTS(morph_step_opts, opts, .begin = 3);

	(void)state;
	assert_int_equal(morph_steps_circuit(steps, 0, 1, NULL), 0);
	assert_int_equal(morph_steps_circuit(steps, 1, 0, NULL), 1);
	assert_int_equal(morph_steps_add(steps, beyond, 2, NULL), -EINVAL);
	assert_string_equal(morph_error_text(ctx), "no circuit 2: there are 2");
	assert_int_equal(morph_steps_add(steps, twice, 3, NULL), -EINVAL);
	assert_string_equal(morph_error_text(ctx), "step 0 lists circuit 1 twice");
	assert_int_equal(morph_steps_add(steps, twice, 2, &opts), -EINVAL);
	opts.begin = MORPH_STEP_BARRIER;
	opts.after_ns = 5;
	assert_int_equal(morph_steps_add(steps, twice, 2, &opts), -EINVAL);
	opts.sz = 0;
	assert_int_equal(morph_steps_add(steps, twice, 2, &opts), -EINVAL);
	assert_int_equal(morph_steps_count(steps, NULL), 0);
	assert_int_equal(steps->held.count, 0);
	assert_int_equal(morph_steps_add(steps, twice, 2, NULL), 0);
}

static void there_is_an_end_to_them(void **state)
{
	static uint32_t all[MORPH_SCHEDULE_MOST_CIRCUITS];

	(void)state;
	for (uint32_t at = 0; at < MORPH_SCHEDULE_MOST_CIRCUITS; at++)
		all[at] = (uint32_t)morph_steps_circuit(steps, 0, 1, NULL);
	assert_int_equal(all[MORPH_SCHEDULE_MOST_CIRCUITS - 1], MORPH_SCHEDULE_MOST_CIRCUITS - 1);
	assert_int_equal(morph_steps_circuit(steps, 0, 1, NULL), -E2BIG);
	for (int at = 0; at < 8; at++)
		assert_int_equal(morph_steps_add(steps, all, ARRAY_SIZE(all), NULL), at);
	assert_int_equal(morph_steps_add(steps, all, 1, NULL), -E2BIG);
	for (int at = 8; at < (int)MORPH_SCHEDULE_MOST_STEPS; at++)
		assert_int_equal(morph_steps_add(steps, NULL, 0, NULL), at);
	assert_int_equal(morph_steps_add(steps, NULL, 0, NULL), -E2BIG);
}

static void cleared_they_are_as_new(void **state)
{
	static const uint32_t first = 0;
	uint32_t count = 9;

	(void)state;
	assert_int_equal(morph_steps_circuit(steps, 0, 1, NULL), 0);
	assert_int_equal(morph_steps_add(steps, &first, 1, NULL), 0);
	morph_steps_set_loop(steps, true);
	morph_steps_set_generation(steps, 40);
	morph_steps_set_profile(steps, 7);
	assert_int_equal(steps->flags, MORPH_SCHEDULE_LOOP);
	morph_steps_clear(steps);
	assert_int_equal(morph_steps_count(steps, &count), 0);
	assert_int_equal(count, 0);
	assert_int_equal(steps->flags, 0);
	assert_true(steps->generation == MORPH_GENERATION_ANY);
	assert_int_equal(steps->profile_checksum, 0);
	assert_int_equal(morph_steps_circuit(steps, 0, 1, NULL), 0);
	assert_int_equal(morph_steps_add(steps, &first, 1, NULL), 0);
	morph_steps_set_loop(steps, false);
	assert_int_equal(steps->flags, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(circuits_match_the_last_command, begin, end),
		cmocka_unit_test_setup_teardown(circuits_refuse_nonsense, begin, end),
		cmocka_unit_test_setup_teardown(steps_match_the_last_command, begin, end),
		cmocka_unit_test_setup_teardown(steps_are_reported, begin, end),
		cmocka_unit_test_setup_teardown(options_replace_those_set_before, begin, end),
		cmocka_unit_test_setup_teardown(steps_refuse_nonsense, begin, end),
		cmocka_unit_test_setup_teardown(there_is_an_end_to_them, begin, end),
		cmocka_unit_test_setup_teardown(cleared_they_are_as_new, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

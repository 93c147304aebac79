// SPDX-License-Identifier: LGPL-2.1-or-later
/* Bandwidth of groups: problems with known answers, and invalid problems. */
#include <stdio.h>

#include "../internal/planner.h"
#include "../bench/groups.h"
#include "../bandwidth/bandwidth.h"
#include "alone.h"

static struct morph_bandwidth_result solve(struct morph_bandwidth *bw, uint64_t steps)
{
	MORPH_OPTS(morph_bandwidth_opts, opts, .steps = steps);
	MORPH_OPTS(morph_bandwidth_result, result);

	if (morph_bandwidth_solve(bw, &opts, &result))
		fail_msg("%s", morph_error_text(ctx));
	return result;
}

static struct morph_bandwidth_group stop_of(const struct morph_bandwidth *bw, uint32_t group)
{
	MORPH_OPTS(morph_bandwidth_group, stop);

	assert_int_equal(morph_bandwidth_group(bw, group, &stop), 0);
	return stop;
}

/* ------------------------------------------------------------- known answers */

static void ring(struct morph_bandwidth *bw, uint32_t members)
{
	int group = morph_bandwidth_add_group(bw, 0, 0);

	for (uint32_t at = 0; at < members; at++) {
		uint32_t next = (at + 1) % members;

		assert_true(morph_bandwidth_add_hop(bw, (uint32_t)group, at, next, 1, NULL, 0) >=
			    0);
		assert_true(morph_bandwidth_add_hop(bw, (uint32_t)group, next, at, 1, NULL, 0) >=
			    0);
	}
}

/*
 * Duplex rings take ports in pairs. Half of six ports each, rounded to pairs, leaves two ports
 * dark.
 */
static void two_rings_use_all_six_ports(void **state)
{
	struct morph_bandwidth *bw = morph_bandwidth_new(ctx, 1);

	(void)state;
	for (int at = 0; at < 4; at++)
		assert_int_equal(morph_bandwidth_add_accelerator(bw, 6, 6), at);
	ring(bw, 4);
	ring(bw, 4);
	assert_int_equal(solve(bw, 0).proof, MORPH_BANDWIDTH_LEXIMIN);
	assert_int_equal(morph_bandwidth_of_group(bw, 0) + morph_bandwidth_of_group(bw, 1), 3);
	assert_in_range(morph_bandwidth_of_group(bw, 0), 1, 2);
	for (uint32_t at = 0; at < 4; at++) {
		assert_int_equal(morph_bandwidth_load(bw, MORPH_BANDWIDTH_TRANSMIT, at), 6);
		assert_int_equal(morph_bandwidth_load(bw, MORPH_BANDWIDTH_RECEIVE, at), 6);
	}
	ring(bw, 3);
	ring(bw, 3);
	solve(bw, 0);
	assert_int_equal(morph_bandwidth_load(bw, MORPH_BANDWIDTH_TRANSMIT, 0), 6);
	morph_bandwidth_free(bw);
}

/* Ports without guides: each free lane has a free wavelength, however full the ports are. */
static void ports_are_filled_with_every_wavelength(void **state)
{
	struct morph_bandwidth *bw = morph_bandwidth_new(ctx, 16);

	(void)state;
	for (int at = 0; at < 7; at++)
		assert_int_equal(morph_bandwidth_add_accelerator(bw, 6, 6), at);
	for (uint32_t members = 3; members <= 7; members++)
		ring(bw, members);
	assert_int_equal(solve(bw, 0).proof, MORPH_BANDWIDTH_LEXIMIN);
	for (uint32_t at = 0; at < 3; at++)
		assert_true(morph_bandwidth_load(bw, MORPH_BANDWIDTH_TRANSMIT, at) >= 6 * 16 - 1);
	morph_bandwidth_free(bw);
}

/*
 * Three groups, of which each two share a guide of one fibre. Each guide has lanes for half of the
 * wavelengths for each group. But no two circuits may use the same wavelength, so each group gets a
 * third.
 */
static struct morph_bandwidth *triangle(uint32_t wavelengths, uint32_t least)
{
	struct morph_bandwidth *bw = morph_bandwidth_new(ctx, wavelengths);

	for (int at = 0; at < 6; at++)
		assert_int_equal(morph_bandwidth_add_accelerator(bw, 1, 1), at);
	for (int at = 0; at < 3; at++)
		assert_int_equal(morph_bandwidth_add_guide(bw, 1), at);
	for (uint32_t at = 0; at < 3; at++) {
		const uint32_t guides[] = { at, (at + 1) % 3 };

		assert_int_equal(morph_bandwidth_add_group(bw, least, 0), at);
		assert_int_equal(morph_bandwidth_add_hop(bw, at, at, at + 3, 1, guides, 2), at);
	}
	return bw;
}

static void no_two_of_three_that_meet_have_a_wavelength_in_common(void **state)
{
	(void)state;
	for (uint32_t wavelengths = 4; wavelengths <= 64; wavelengths *= 2) {
		struct morph_bandwidth *bw = triangle(wavelengths, 0);
		struct morph_bandwidth_result result = solve(bw, 0);

		assert_int_equal(result.proof, MORPH_BANDWIDTH_LEXIMIN);
		assert_int_equal(result.circuits, wavelengths);
		for (uint32_t at = 0; at < 3; at++) {
			struct morph_bandwidth_group stop = stop_of(bw, at);

			assert_in_range(morph_bandwidth_of_group(bw, at), wavelengths / 3,
					(wavelengths + 2) / 3);
			assert_int_equal(stop.part, MORPH_BANDWIDTH_WAVELENGTHS);
			assert_int_equal(stop.index, MORPH_ANY);
			assert_int_equal(stop.have, wavelengths);
			assert_true(stop.need > wavelengths);
		}
		morph_bandwidth_free(bw);
	}
}

/*
 * The weight of a plan's circuits never exceeds the capacity for its wavelengths, for any learnt
 * weights.
 */
static void wavelengths_are_never_outweighed(void **state)
{
	static struct groups groups;
	uint32_t types[GROUPS_HOPS] = { 0 };

	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct bw_component component = { .types = types };
		struct morph_bandwidth *bw;

		if (seed % 2)
			groups_irregular(&groups, seed, 8, 9, 6, 4, 4);
		else
			groups_rings(&groups, seed, 5, 1, 4, 2, 6, 2 + (uint32_t)seed / 2 % 2);
		bw = groups_problem(ctx, &groups);
		if (solve(bw, 0).verdict == MORPH_FEASIBLE) {
			for (uint32_t type = 0; type < bw->types_count; type++)
				types[component.types_count++] = type;
			assert_false(lm_bw_outweighs(bw, &component, bw->steps + 5000));
		}
		morph_bandwidth_free(bw);
	}
}

/*
 * With an odd number of groups in a cycle, each sharing a guide with the next, a wavelength serves
 * less than half of the groups. There are too many combinations to enumerate, and too few steps for
 * a proof.
 */
static void a_wavelength_serves_less_than_half_of_an_odd_ring(void **state)
{
	const uint32_t count = 33, wavelengths = 256;
	struct morph_bandwidth *bw = morph_bandwidth_new(ctx, wavelengths);
	struct morph_bandwidth_result result;

	(void)state;
	for (uint32_t at = 0; at < count; at++) {
		morph_bandwidth_add_accelerator(bw, 2, 2);
		morph_bandwidth_add_guide(bw, 1);
	}
	for (uint32_t at = 0; at < count; at++) {
		const uint32_t guides[] = { at, (at + 1) % count };

		morph_bandwidth_add_group(bw, 0, 0);
		morph_bandwidth_add_hop(bw, at, at, (at + 1) % count, 1, guides, 2);
	}
	result = solve(bw, 1000);
	assert_int_equal(result.circuits, count / 2 * wavelengths);
	assert_int_equal(result.proof, MORPH_BANDWIDTH_LEGAL);
	for (uint32_t at = 0; at < count; at++)
		assert_in_range(morph_bandwidth_of_group(bw, at), count / 2 * wavelengths / count,
				count / 2 * wavelengths / count + 1);
	morph_bandwidth_free(bw);
}

/*
 * Any 7 of 14 groups can get more lanes. These are more alternatives than the solver follows, so it
 * claims nothing about the rest.
 */
static void plans_that_are_not_followed_are_not_called_worse(void **state)
{
	struct morph_bandwidth *bw = morph_bandwidth_new(ctx, 1);

	(void)state;
	morph_bandwidth_add_accelerator(bw, 7, 7);
	morph_bandwidth_add_accelerator(bw, 7, 7);
	for (uint32_t at = 0; at < 14; at++) {
		morph_bandwidth_add_group(bw, 0, 0);
		morph_bandwidth_add_hop(bw, at, 0, 1, 1, NULL, 0);
	}
	assert_int_equal(solve(bw, 0).proof, MORPH_BANDWIDTH_FAIR);
	assert_int_equal(morph_bandwidth_load(bw, MORPH_BANDWIDTH_TRANSMIT, 0), 7);
	morph_bandwidth_free(bw);
}

static void running_out_of_steps_is_never_called_infeasible(void **state)
{
	struct morph_bandwidth *bw = triangle(8, 3);
	struct morph_bandwidth_result result = solve(bw, 1);

	(void)state;
	assert_int_equal(result.verdict, MORPH_UNDECIDED);
	assert_int_equal(stop_of(bw, MORPH_ANY).part, MORPH_BANDWIDTH_NOTHING);
	assert_int_equal(solve(bw, 0).verdict, MORPH_INFEASIBLE);
	assert_int_equal(stop_of(bw, MORPH_ANY).part, MORPH_BANDWIDTH_WAVELENGTHS);
	assert_int_equal(morph_bandwidth_of_group(bw, 0), 0);
	assert_int_equal(morph_bandwidth_lanes(bw, 0, NULL, 0), 0);
	/* The solver does not claim fairness for the plan either. */
	for (uint32_t at = 0; at < 3; at++)
		assert_int_equal(morph_bandwidth_set_group(bw, at, 2, 0), 0);
	result = solve(bw, 1);
	assert_int_equal(result.verdict, MORPH_FEASIBLE);
	assert_int_equal(result.proof, MORPH_BANDWIDTH_LEGAL);
	assert_int_equal(solve(bw, 0).proof, MORPH_BANDWIDTH_LEXIMIN);
	morph_bandwidth_free(bw);
}

static void minimum_and_its_shortage_are_reported(void **state)
{
	struct morph_bandwidth *bw = morph_bandwidth_new(ctx, 1);
	struct morph_bandwidth_group stop;

	(void)state;
	for (int at = 0; at < 2; at++)
		morph_bandwidth_add_accelerator(bw, 4, 5);
	morph_bandwidth_add_guide(bw, 9);
	for (uint32_t at = 0; at < 2; at++) {
		morph_bandwidth_add_group(bw, at ? 3 : 0, 0);
		morph_bandwidth_add_hop(bw, at, 0, 1, 1, (const uint32_t[]){ 0 }, 1);
	}
	assert_int_equal(solve(bw, 0).verdict, MORPH_FEASIBLE);
	assert_int_equal(morph_bandwidth_of_group(bw, 0), 1);
	assert_int_equal(morph_bandwidth_of_group(bw, 1), 3);
	/* The minimum of the other group is respected. */
	assert_int_equal(stop_of(bw, 0).part, MORPH_BANDWIDTH_TRANSMIT);
	assert_int_equal(stop_of(bw, 0).need, 5);
	assert_int_equal(morph_bandwidth_set_group(bw, 0, 2, 0), 0);
	assert_int_equal(solve(bw, 0).verdict, MORPH_INFEASIBLE);
	stop = stop_of(bw, MORPH_ANY);
	assert_int_equal(stop.part, MORPH_BANDWIDTH_TRANSMIT);
	assert_int_equal(stop.index, 0);
	assert_int_equal(stop.have, 4);
	assert_int_equal(stop.need, 5);
	assert_int_equal(morph_bandwidth_set_accelerator(bw, 0, 6, 6), 0);
	assert_int_equal(solve(bw, 0).verdict, MORPH_FEASIBLE);
	assert_int_equal(stop_of(bw, 0).part, MORPH_BANDWIDTH_RECEIVE);
	assert_int_equal(stop_of(bw, 0).index, 1);
	assert_int_equal(morph_bandwidth_set_guide(bw, 0, 1), 0);
	assert_int_equal(solve(bw, 0).verdict, MORPH_INFEASIBLE);
	assert_int_equal(stop_of(bw, MORPH_ANY).part, MORPH_BANDWIDTH_GUIDE);
	/* A failed guide stops only the groups that use it. */
	morph_bandwidth_set_guide(bw, 0, 0);
	morph_bandwidth_set_group(bw, 0, 0, 0);
	morph_bandwidth_set_group(bw, 1, 0, 0);
	morph_bandwidth_add_group(bw, 0, 2);
	morph_bandwidth_add_hop(bw, 2, 1, 0, 2, NULL, 0);
	assert_int_equal(solve(bw, 0).circuits, 4);
	assert_int_equal(morph_bandwidth_of_group(bw, 0), 0);
	assert_int_equal(stop_of(bw, 0).part, MORPH_BANDWIDTH_GUIDE);
	assert_int_equal(stop_of(bw, 2).part, MORPH_BANDWIDTH_WISH);
	morph_bandwidth_free(bw);
}

static void a_problem_without_groups_is_solved(void **state)
{
	struct morph_bandwidth *bw = morph_bandwidth_new(ctx, 4);

	(void)state;
	assert_int_equal(morph_bandwidth_solve(bw, NULL, NULL), 0);
	assert_int_equal(solve(bw, 0).circuits, 0);
	assert_int_equal(stop_of(bw, MORPH_ANY).part, MORPH_BANDWIDTH_NOTHING);
	morph_bandwidth_free(bw);
}

/* ---------------------------------------------------------------- bad input */

#define REFUSED(errno_wanted, call, words)                             \
	do {                                                           \
		assert_int_equal(call, -(errno_wanted));               \
		assert_non_null(strstr(morph_error_text(ctx), words)); \
	} while (0)

static void invalid_problems_are_refused_with_the_reason(void **state)
{
	struct morph_bandwidth *bw = morph_bandwidth_new(ctx, 1);
	const uint32_t twice[] = { 0, 0 }, beyond = 1;
	uint32_t many[65] = { 0 };
	MORPH_OPTS(morph_bandwidth_group, stop);

	(void)state;
	assert_null(morph_bandwidth_new(ctx, 0));
	assert_non_null(strstr(morph_error_text(ctx), "1 to 256 wavelengths, not 0"));
	assert_null(morph_bandwidth_new(ctx, 257));
	REFUSED(E2BIG, morph_bandwidth_add_accelerator(bw, 1025, 1), "not 1025 and 1");
	REFUSED(E2BIG, morph_bandwidth_add_accelerator(bw, 1, 1025), "1024 ports");
	assert_int_equal(morph_bandwidth_add_accelerator(bw, 1, 1), 0);
	assert_int_equal(morph_bandwidth_add_accelerator(bw, 1, 1), 1);
	REFUSED(E2BIG, morph_bandwidth_add_guide(bw, 4097), "4096 fibres");
	assert_int_equal(morph_bandwidth_add_guide(bw, 1), 0);
	REFUSED(EINVAL, morph_bandwidth_add_group(bw, 3, 2), "of a group is 3, its maximum only 2");
	assert_int_equal(morph_bandwidth_add_group(bw, 0, 0), 0);
	REFUSED(EINVAL, morph_bandwidth_solve(bw, NULL, NULL), "group 0 has no hops");
	REFUSED(ENOENT, morph_bandwidth_add_hop(bw, 1, 0, 1, 1, NULL, 0),
		"no group 1: 1 were added");
	REFUSED(ENOENT, morph_bandwidth_add_hop(bw, 0, 2, 1, 1, NULL, 0), "no accelerator 2");
	REFUSED(ENOENT, morph_bandwidth_add_hop(bw, 0, 1, 2, 1, NULL, 0), "no accelerator 2");
	REFUSED(EINVAL, morph_bandwidth_add_hop(bw, 0, 1, 1, 1, NULL, 0),
		"accelerator 1 to itself");
	REFUSED(EINVAL, morph_bandwidth_add_hop(bw, 0, 0, 1, 0, NULL, 0), "no circuits");
	REFUSED(E2BIG, morph_bandwidth_add_hop(bw, 0, 0, 1, 1025, NULL, 0), "1025 circuits");
	REFUSED(E2BIG, morph_bandwidth_add_hop(bw, 0, 0, 1, 1, many, 65), "65 guides");
	REFUSED(ENOENT, morph_bandwidth_add_hop(bw, 0, 0, 1, 1, &beyond, 1), "no guide 1");
	REFUSED(EINVAL, morph_bandwidth_add_hop(bw, 0, 0, 1, 1, twice, 2), "guide 0 twice");
	REFUSED(ENOENT, morph_bandwidth_set_accelerator(bw, 2, 1, 1), "no accelerator 2");
	REFUSED(E2BIG, morph_bandwidth_set_accelerator(bw, 0, 1, 2000), "not 1 and 2000");
	REFUSED(ENOENT, morph_bandwidth_set_guide(bw, 1, 1), "no guide 1");
	REFUSED(E2BIG, morph_bandwidth_set_guide(bw, 0, 5000), "not 5000");
	REFUSED(ENOENT, morph_bandwidth_set_group(bw, 1, 1, 1), "no group 1");
	REFUSED(EINVAL, morph_bandwidth_set_group(bw, 0, 2, 1), "minimum of a group is 2");
	REFUSED(ENOENT, morph_bandwidth_group(bw, 1, &stop), "no group 1");
	stop.sz = 1;
	REFUSED(EINVAL, morph_bandwidth_group(bw, 0, &stop), "morph_bandwidth_group.sz is 1");
	morph_bandwidth_free(bw);
	morph_bandwidth_free(NULL);
}

static void problems_that_are_too_large_are_refused(void **state)
{
	struct morph_bandwidth *bw = morph_bandwidth_new(ctx, 256);
	const int parts = 1 << 16, hops = 1 << 20;

	(void)state;
	for (int at = 0; at < parts; at++)
		if (morph_bandwidth_add_accelerator(bw, 1, 1) != at ||
		    morph_bandwidth_add_guide(bw, 1) != at)
			fail_msg("%s", morph_error_text(ctx));
	REFUSED(E2BIG, morph_bandwidth_add_accelerator(bw, 1, 1), "at most 65536 accelerators");
	REFUSED(E2BIG, morph_bandwidth_add_guide(bw, 1), "at most 65536 guides");
	for (int at = 0; at < 4096; at++)
		assert_int_equal(morph_bandwidth_add_group(bw, 0, 0), at);
	REFUSED(E2BIG, morph_bandwidth_add_group(bw, 0, 0), "at most 4096 groups");
	for (int at = 0; at < hops; at++)
		if (morph_bandwidth_add_hop(bw, (uint32_t)at % 4096, 0, 1, 1, NULL, 0) != at)
			fail_msg("%s", morph_error_text(ctx));
	REFUSED(E2BIG, morph_bandwidth_add_hop(bw, 0, 0, 1, 1, NULL, 0), "at most 1048576 hops");
	REFUSED(E2BIG, morph_bandwidth_solve(bw, NULL, NULL), "1048576 hops, 196608 ports");
	morph_bandwidth_free(bw);
}

static void results_that_this_library_does_not_know_are_refused(void **state)
{
	struct {
		struct morph_bandwidth_result result;
		uint64_t more;
	} large = { .result = { .sz = sizeof(large) }, .more = 1 };
	MORPH_OPTS(morph_bandwidth_opts, opts);
	struct morph_bandwidth *bw = morph_bandwidth_new(ctx, 1);

	(void)state;
	REFUSED(E2BIG, morph_bandwidth_solve(bw, NULL, &large.result), "morph_bandwidth_result");
	opts.sz = 2;
	REFUSED(EINVAL, morph_bandwidth_solve(bw, &opts, NULL), "morph_bandwidth_opts.sz is 2");
	large.more = 0;
	assert_int_equal(morph_bandwidth_solve(bw, NULL, &large.result), 0);
	large.result.sz = sizeof(size_t);
	assert_int_equal(morph_bandwidth_solve(bw, NULL, &large.result), 0);
	morph_bandwidth_free(bw);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(two_rings_use_all_six_ports),
		TEST(ports_are_filled_with_every_wavelength),
		TEST(no_two_of_three_that_meet_have_a_wavelength_in_common),
		TEST(wavelengths_are_never_outweighed),
		TEST(a_wavelength_serves_less_than_half_of_an_odd_ring),
		TEST(plans_that_are_not_followed_are_not_called_worse),
		TEST(running_out_of_steps_is_never_called_infeasible),
		TEST(minimum_and_its_shortage_are_reported),
		TEST(a_problem_without_groups_is_solved),
		TEST(invalid_problems_are_refused_with_the_reason),
		TEST(problems_that_are_too_large_are_refused),
		TEST(results_that_this_library_does_not_know_are_refused),
	};

	return cmocka_run_group_tests_name("bandwidth", tests, NULL, NULL);
}

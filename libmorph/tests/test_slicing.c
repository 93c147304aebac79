// SPDX-License-Identifier: LGPL-2.1-or-later
/* Assign tenants to controllers: how even the shares are, and how many tenants move. */
#include <math.h>
#include <stdio.h>

#include "../bench/random.h"
#include "alone.h"

#define REFUSED(errno_wanted, call, words)                             \
	do {                                                           \
		assert_int_equal(call, -(errno_wanted));               \
		assert_non_null(strstr(morph_error_text(ctx), words)); \
	} while (0)

#define TENANTS 64
#define CONTROLLERS 8

static double weights[TENANTS];
static uint32_t primary[TENANTS], backup[TENANTS];

static double make_weights(uint64_t seed)
{
	uint64_t random = seed;
	double total = 0;

	for (uint32_t at = 0; at < TENANTS; at++)
		total += weights[at] = pow(1 - random_unit(&random), -0.5);
	return total;
}

static double most_loaded(void)
{
	double most = 0;

	for (uint32_t controller = 0; controller < CONTROLLERS; controller++) {
		double load = 0;

		for (uint32_t at = 0; at < TENANTS; at++)
			if (primary[at] == controller)
				load += weights[at];
		most = fmax(most, load);
	}
	return most;
}

static void no_controller_has_much_more_than_one_must(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 50; seed++) {
		double floor = make_weights(seed) / CONTROLLERS;

		for (uint32_t at = 0; at < TENANTS; at++)
			floor = fmax(floor, weights[at]);
		assert_int_equal(morph_slicing_assign(ctx, weights, TENANTS, CONTROLLERS, seed,
						      NULL, primary, backup),
				 0);
		assert_true(most_loaded() <= 1.2 * floor);
	}
}

static void tenants_stay_where_they_are(void **state)
{
	uint32_t last[TENANTS];

	(void)state;
	make_weights(1);
	morph_slicing_assign(ctx, weights, TENANTS, CONTROLLERS, 1, NULL, primary, NULL);
	memcpy(last, primary, sizeof(last));
	last[5] = MORPH_ANY;
	morph_slicing_assign(ctx, weights, TENANTS, CONTROLLERS, 2, last, primary, NULL);
	for (uint32_t at = 0; at < TENANTS; at++)
		assert_true(at == 5 ? primary[at] < CONTROLLERS : primary[at] == last[at]);
	/* Unless one controller has far too much. */
	for (uint32_t at = 0; at < TENANTS; at++)
		last[at] = 0;
	morph_slicing_assign(ctx, weights, TENANTS, CONTROLLERS, 2, last, primary, NULL);
	assert_true(most_loaded() < make_weights(1) / 2);
}

/*
 * Each other controller is the backup for a share of a primary's tenants. The shares are as even as
 * possible.
 */
static void backups_are_shared_out(void **state)
{
	(void)state;
	make_weights(3);
	morph_slicing_assign(ctx, weights, TENANTS, CONTROLLERS, 3, NULL, primary, backup);
	for (uint32_t one = 0; one < CONTROLLERS; one++) {
		uint32_t counts[CONTROLLERS] = { 0 }, tenants = 0;

		for (uint32_t at = 0; at < TENANTS; at++) {
			if (primary[at] != one)
				continue;
			tenants++;
			assert_int_not_equal(backup[at], one);
			counts[backup[at]]++;
		}
		for (uint32_t other = 0; other < CONTROLLERS; other++)
			assert_true(counts[other] <= tenants / (CONTROLLERS - 1) + 1);
	}
	morph_slicing_assign(ctx, weights, 3, 1, 3, NULL, primary, backup);
	assert_int_equal(primary[2], 0);
	assert_int_equal(backup[2], MORPH_ANY);
}

static void tenants_that_can_not_be_given_away_are_refused(void **state)
{
	const double bad[] = { 1, -1 };
	const uint32_t last[] = { 0, 3 };

	(void)state;
	REFUSED(EINVAL, morph_slicing_assign(ctx, bad, 1, 0, 1, NULL, primary, backup),
		"no controllers");
	REFUSED(EINVAL, morph_slicing_assign(ctx, bad, 2, 2, 1, NULL, primary, backup),
		"tenant 1 is -1");
	make_weights(1);
	REFUSED(EINVAL, morph_slicing_assign(ctx, weights, MORPH_ANY, 3, 1, NULL, primary, backup),
		"too many tenants");
	REFUSED(EINVAL, morph_slicing_assign(ctx, weights, 2, 3, 1, last, primary, backup),
		"no controller 3 (0-2)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(no_controller_has_much_more_than_one_must, begin,
						end),
		cmocka_unit_test_setup_teardown(tenants_stay_where_they_are, begin, end),
		cmocka_unit_test_setup_teardown(backups_are_shared_out, begin, end),
		cmocka_unit_test_setup_teardown(tenants_that_can_not_be_given_away_are_refused,
						begin, end),
	};

	return cmocka_run_group_tests_name("slicing", tests, NULL, NULL);
}

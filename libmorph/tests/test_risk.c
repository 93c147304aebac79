// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Risk: compare small racks with every combination of failed parts, and larger ones with published
 * values and values computed from these elsewhere.
 */
#include <math.h>

#include "../internal/planner.h"
#include "../bench/random.h"
#include "alone.h"

#define ALIKE 1e-12

static void solve(struct morph_risk *risk)
{
	if (morph_risk_solve(risk))
		fail_msg("%s", morph_error_text(ctx));
}

/* ------------------------------------------------------------- small ones */

#define SERVERS 4
#define THINGS 16

/* A part that can be down: its share of time, and its accelerators. */
struct thing {
	double share;
	uint32_t accelerators;
};

struct rack {
	uint32_t servers, accelerators, things_count;
	uint32_t mine[SERVERS]; /* accelerators of a server */
	struct thing things[THINGS];
	struct morph_risk *risk;
};

static void add_thing(struct rack *rack, double share, uint32_t accelerators)
{
	rack->things[rack->things_count++] = (struct thing){ share, accelerators };
}

static void make_rack(struct rack *rack, uint64_t *random)
{
	memset(rack, 0, sizeof(*rack));
	rack->risk = morph_risk_new(ctx);
	rack->servers = 2 + random_below(random, SERVERS - 1);
	for (uint32_t server = 0; server < rack->servers; server++) {
		uint32_t count = 1 + random_below(random, 2);
		double each = random_unit(random) / 2, whole = random_unit(random) / 4;

		assert_int_equal(morph_risk_add_server(rack->risk, count, each, whole), server);
		for (uint32_t at = 0; at < count; at++) {
			add_thing(rack, each, 1U << rack->accelerators);
			rack->mine[server] |= 1U << rack->accelerators++;
		}
		add_thing(rack, whole, rack->mine[server]);
	}
	for (uint32_t left = random_below(random, THINGS - rack->things_count + 1); left; left--) {
		uint32_t servers[SERVERS], count = 0, accelerators = 0;
		double share = random_unit(random);

		for (uint32_t server = 0; server < rack->servers; server++) {
			if (!random_below(random, 2))
				continue;
			servers[count++] = server;
			accelerators |= rack->mine[server];
		}
		if (!count)
			continue;
		assert_int_equal(morph_risk_add_shared(rack->risk, servers, count, share), 0);
		add_thing(rack, share, accelerators);
	}
}

/* Probability that at least the given number of accelerators is down, by enumeration. */
static double at_least(const struct rack *rack, uint32_t least)
{
	double sum = 0;

	for (uint32_t down = 0; down < 1U << rack->things_count; down++) {
		uint32_t accelerators = 0;
		double share = 1;

		for (uint32_t at = 0; at < rack->things_count; at++) {
			share *= down >> at & 1 ? rack->things[at].share :
						  1 - rack->things[at].share;
			if (down >> at & 1)
				accelerators |= rack->things[at].accelerators;
		}
		if ((uint32_t)__builtin_popcount(accelerators) >= least)
			sum += share;
	}
	return sum;
}

static void small_racks_are_as_by_trying_everything(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (int at = 0; at < 60; at++) {
		struct rack rack;

		make_rack(&rack, &random);
		solve(rack.risk);
		for (uint32_t count = 0; count <= rack.accelerators + 1; count++)
			assert_true(fabs(morph_risk_at_least(rack.risk, count) -
					 at_least(&rack, count)) < ALIKE);
		morph_risk_free(rack.risk);
	}
}

/* ----------------------------------------------------------- published ones */

/* Draw the shares of time of independent parts 400 times, between @least and @most. */
static void check_published(uint32_t count, double least, double most, const double *at_least,
			    uint32_t published, uint32_t enough)
{
	const uint32_t draws = 400;
	double mean[6] = { 0 };
	uint64_t random = 1;

	for (uint32_t draw = 0; draw < draws; draw++) {
		struct morph_risk *risk = morph_risk_new(ctx);

		for (uint32_t at = 0; at < count; at++)
			morph_risk_add_server(risk, 1,
					      least + (most - least) * random_unit(&random), 0);
		solve(risk);
		for (uint32_t down = 0; down < 6; down++)
			mean[down] += morph_risk_at_least(risk, down + 1) / draws;
		morph_risk_free(risk);
	}
	for (uint32_t down = 0; down < 4; down++)
		assert_true(fabs(mean[down] - at_least[down]) < 0.01);
	assert_true(mean[published - 1] <= 0.05 && mean[published - 2] > 0.05);
	assert_true(mean[enough] <= 0.05 && mean[enough - 1] > 0.05);
}

/* The mean of 400 draws of failed parts, for 95 % of the time. */
static void published_rates_need_one_spare_less_than_is_published(void **state)
{
	(void)state;
	check_published(64, 0, 0.01, (double[]){ 0.274, 0.041, 0.004, 0 }, 2, 1);
	check_published(64, 0.01, 0.03, (double[]){ 0.726, 0.367, 0.137, 0.040 }, 4, 3);
	check_published(64, 0.03, 0.05, (double[]){ 0.927, 0.732, 0.475, 0.254 }, 6, 5);
	check_published(16, 0, 0.01, (double[]){ 0.077, 0.003, 0, 0 }, 2, 1);
	check_published(16, 0.01, 0.03, (double[]){ 0.276, 0.040, 0.004, 0 }, 2, 1);
	check_published(16, 0.03, 0.05, (double[]){ 0.479, 0.132, 0.024, 0.003 }, 3, 2);
}

static void spares_are_computed_by_both_rules(void **state)
{
	MORPH_OPTS(morph_spare_count, spares);
	struct morph_risk *risk = morph_risk_new(ctx);

	(void)state;
	for (uint32_t at = 0; at < 64; at++)
		morph_risk_add_server(risk, 1, 0.02, 0);
	solve(risk);
	assert_int_equal(morph_risk_spares(risk, 0.95, &spares), 0);
	assert_int_equal(spares.enough, 3);
	assert_int_equal(spares.published, 4);
	assert_true(fabs(spares.short_of - morph_risk_at_least(risk, 4)) < ALIKE);
	assert_true(spares.short_of <= 0.05 && morph_risk_at_least(risk, 3) > 0.05);
	/* A spare for each accelerator is always enough. */
	assert_int_equal(morph_risk_spares(risk, 1, &spares), 0);
	assert_int_equal(spares.enough, 64);
	morph_risk_free(risk);
}

/* ------------------------------------------------------------------- shared */

/*
 * A bundle of fibres for each pair of neighbours in the rack's torus. A bundle takes two servers
 * down.
 */
static void fibres_of_a_torus_are_exact(void **state)
{
	const double share = 0.01;
	struct morph_risk *risk = morph_risk_new(ctx);
	uint32_t bundles = 0, independent = 0;
	double none;

	(void)state;
	for (uint32_t at = 0; at < 16; at++)
		morph_risk_add_server(risk, 4, 0.001, 0.002);
	for (uint32_t at = 0; at < 16; at++) {
		const uint32_t near[] = { at ^ 1, at ^ 2, (at & 3) | ((at + 4) & 12) };

		for (int axis = 0; axis < 3; axis++) {
			const uint32_t pair[] = { at, near[axis] };

			if (axis < 2 && near[axis] < at)
				continue;
			assert_int_equal(morph_risk_add_shared(risk, pair, 2, share), 0);
			bundles++;
		}
	}
	assert_int_equal(bundles, 32);
	solve(risk);
	/* No accelerator is down if no bundle, no server and no accelerator is. */
	none = pow(1 - share, 32) * pow(0.998, 16) * pow(0.999, 64);
	assert_true(fabs(1 - morph_risk_at_least(risk, 1) - none) < ALIKE);
	/*
	 * All are down if each server is: by inclusion and exclusion over the servers that are up.
	 */
	none = 0;
	for (uint32_t up = 0; up < 1U << 16; up++) {
		uint32_t touched = 0, servers = (uint32_t)__builtin_popcount(up);

		for (uint32_t at = 0; at < 16; at++) {
			const uint32_t near[] = { at ^ 1, at ^ 2, (at & 3) | ((at + 4) & 12) };

			for (int axis = 0; axis < 3; axis++)
				if (axis == 2 || near[axis] > at)
					touched += (up >> at & 1) || (up >> near[axis] & 1);
		}
		independent++;
		/* No bundle takes servers of @up down, and they are not down themselves. */
		none += (servers & 1 ? -1 : 1) * pow(1 - share, touched) *
			pow(0.998 * (1 - pow(0.001, 4)), servers);
	}
	assert_int_equal(independent, 1U << 16);
	assert_true(fabs(morph_risk_at_least(risk, 64) - none) < ALIKE);
	morph_risk_free(risk);
}

/* Nested supplies need two combinations, for any number of servers. */
static void nested_supplies_are_solved_for_64_servers(void **state)
{
	struct morph_risk *risk = morph_risk_new(ctx);
	uint32_t servers[64];

	(void)state;
	for (uint32_t at = 0; at < 64; at++) {
		servers[at] = at;
		morph_risk_add_server(risk, 4, 0.001, 0.001);
	}
	for (uint32_t size = 64; size > 1; size /= 2)
		for (uint32_t first = 0; first < 64; first += size)
			morph_risk_add_shared(risk, servers + first, size, 0.001);
	solve(risk);
	assert_true(morph_risk_at_least(risk, 0) > 1 - ALIKE);
	assert_true(morph_risk_at_least(risk, 256) >= 0.001);
	assert_true(morph_risk_at_least(risk, 257) == 0);
	morph_risk_free(risk);
}

/* ---------------------------------------------------------------- bad input */

#define REFUSED(errno_wanted, call, words)                             \
	do {                                                           \
		assert_int_equal(call, -(errno_wanted));               \
		assert_non_null(strstr(morph_error_text(ctx), words)); \
	} while (0)

static void invalid_models_are_refused_with_the_reason(void **state)
{
	MORPH_OPTS(morph_spare_count, spares);
	struct morph_risk *risk = morph_risk_new(ctx);
	const uint32_t beyond = 1;

	(void)state;
	REFUSED(EINVAL, morph_risk_add_server(risk, 0, 0, 0), "1 to 4096 accelerators, not 0");
	REFUSED(EINVAL, morph_risk_add_server(risk, 1, 1.5, 0),
		"accelerator: the downtime must be 0 to 1, not 1.5");
	REFUSED(EINVAL, morph_risk_add_server(risk, 1, 0, NAN),
		"a server: the downtime must be 0 to 1, not nan");
	assert_int_equal(morph_risk_add_server(risk, 1, 0.5, 0), 0);
	REFUSED(ENOENT, morph_risk_add_shared(risk, &beyond, 1, 0), "no server 1: 1 were added");
	REFUSED(EINVAL, morph_risk_add_shared(risk, &beyond, 0, 0), "requires at least one server");
	REFUSED(EINVAL, morph_risk_add_shared(risk, &beyond, 1, -1), "must be 0 to 1, not -1");
	REFUSED(EINVAL, morph_risk_spares(risk, 0, &spares), "target is 0");
	/* Asking for spares solves the model, and again after an addition. */
	assert_true(morph_risk_at_least(risk, 1) == 0);
	assert_int_equal(morph_risk_spares(risk, 0.9, &spares), 0);
	assert_int_equal(spares.enough, 1);
	assert_true(morph_risk_at_least(risk, 1) == 0.5);
	assert_int_equal(morph_risk_add_server(risk, 1, 0.5, 0), 1);
	assert_true(morph_risk_at_least(risk, 1) == 0);
	assert_int_equal(morph_risk_spares(risk, 0.9, &spares), 0);
	assert_int_equal(spares.enough, 2);
	assert_true(morph_risk_at_least(risk, 1) == 0.75);
	morph_risk_free(risk);
	morph_risk_free(NULL);
}

/* Each of 40 servers shares a part with each other one. */
static void servers_that_share_with_too_many_are_refused(void **state)
{
	struct morph_risk *risk = morph_risk_new(ctx);

	(void)state;
	for (uint32_t at = 0; at < 40; at++) {
		assert_int_equal(morph_risk_add_server(risk, 4, 0.1, 0.1), at);
		for (uint32_t other = 0; other < at; other++)
			morph_risk_add_shared(risk, (const uint32_t[]){ at, other }, 2, 0.1);
	}
	REFUSED(E2BIG, morph_risk_solve(risk), "too many other servers");
	morph_risk_free(risk);
}

static void models_that_are_too_large_are_refused(void **state)
{
	struct morph_risk *risk = morph_risk_new(ctx);
	const uint32_t first = 0;

	(void)state;
	for (uint32_t at = 0; at < 64; at++)
		assert_int_equal(morph_risk_add_server(risk, 1, 0, 0), at);
	REFUSED(E2BIG, morph_risk_add_server(risk, 1, 0, 0), "at most 64 servers");
	for (uint32_t at = 0; at < 4096; at++)
		assert_int_equal(morph_risk_add_shared(risk, &first, 1, 0), 0);
	REFUSED(E2BIG, morph_risk_add_shared(risk, &first, 1, 0), "at most 4096 shared parts");
	morph_risk_free(risk);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(small_racks_are_as_by_trying_everything),
		TEST(published_rates_need_one_spare_less_than_is_published),
		TEST(spares_are_computed_by_both_rules),
		TEST(fibres_of_a_torus_are_exact),
		TEST(nested_supplies_are_solved_for_64_servers),
		TEST(invalid_models_are_refused_with_the_reason),
		TEST(servers_that_share_with_too_many_are_refused),
		TEST(models_that_are_too_large_are_refused),
	};

	return cmocka_run_group_tests_name("risk", tests, NULL, NULL);
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Traffic between servers. Solutions satisfy the conditions of optimality of the problem. The test
 * compares whole lanes with their expected values, and controllers with each other.
 */
#include <math.h>
#include <stdio.h>

#include "../internal/planner.h"
#include "../bench/meshes.h"
#include "../bench/random.h"
#include "../util/mix.h"
#include "alone.h"

#define NEAR 1e-6

static struct mesh mesh;
static double amounts[MESH_DEMANDS];

/* The mesh of a seed as a problem. */
static struct morph_traffic *make_problem(uint64_t seed, double load)
{
	struct morph_traffic *te = morph_traffic_new(ctx);

	mesh_make(&mesh, seed);
	mesh_epoch(&mesh, seed, 0, load, amounts);
	for (uint32_t link = 0; link < mesh.links_count; link++)
		assert_int_equal(morph_traffic_add_link(te, MESH_LANES), link);
	for (uint32_t at = 0; at < mesh.demands_count; at++)
		assert_int_equal(morph_traffic_add_demand(te, amounts[at], 1), at);
	for (uint32_t at = 0; at < mesh.paths_count; at++)
		assert_int_equal(morph_traffic_add_path(te, mesh.paths[at].demand,
							mesh.paths[at].links, mesh.paths[at].hops),
				 at);
	return te;
}

static void set_amounts(struct morph_traffic *te, const double *wanted)
{
	for (uint32_t at = 0; at < mesh.demands_count; at++)
		assert_int_equal(morph_traffic_set_amount(te, at, wanted[at]), 0);
}

static void solve(struct morph_traffic *te, double lambda, bool cold,
		  struct morph_traffic_result *result)
{
	MORPH_OPTS(morph_traffic_opts, opts, .lambda = lambda, .cold = cold);

	result->sz = sizeof(*result);
	if (morph_traffic_solve(te, &opts, result))
		fail_msg("%s", morph_error_text(ctx));
}

/* ------------------------------------------------------- optimal, and why */

/*
 * The gain of a path by more flow is the cost of its links and of its demand's limit. It is less if
 * the path carries nothing.
 */
static void check_demand(const struct morph_traffic *te, uint32_t demand, double wanted,
			 double lambda)
{
	double sent = 0, limit = 0;

	for (uint32_t at = 0; at < mesh.paths_count; at++)
		if (mesh.paths[at].demand == demand)
			sent += morph_traffic_flow(te, at);
	assert_true(sent <= wanted + NEAR);
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t at = 0; at < mesh.paths_count; at++) {
			const struct mesh_path *path = &mesh.paths[at];
			double flow = morph_traffic_flow(te, at), gain = 1 - lambda * flow;

			if (path->demand != demand)
				continue;
			for (uint32_t hop = 0; hop < path->hops; hop++)
				gain -= morph_traffic_price(te, path->links[hop]);
			assert_true(flow >= 0);
			if (!pass && flow > 0)
				limit = gain;
			if (pass && flow > 0)
				assert_true(fabs(gain - limit) < NEAR);
			if (pass)
				assert_true(gain <= limit + NEAR);
		}
	}
	assert_true(limit >= -NEAR);
	assert_true(limit < NEAR || sent > wanted - NEAR);
}

static void check_optimal(const struct morph_traffic *te, const double *wanted, double lambda)
{
	for (uint32_t link = 0; link < mesh.links_count; link++) {
		double price = morph_traffic_price(te, link), load = morph_traffic_load(te, link);

		assert_true(price >= 0);
		assert_true(load <= MESH_LANES * (1 + NEAR));
		assert_true(price < NEAR || load > MESH_LANES * (1 - NEAR));
	}
	for (uint32_t at = 0; at < mesh.demands_count; at++)
		check_demand(te, at, wanted[at], lambda);
}

static void solutions_meet_the_conditions_of_optimality(void **state)
{
	const double loads[] = { 0.1, 0.7, 1, 2 }, lambdas[] = { 0.1 / MESH_LANES, 0.05, 0.5 };

	(void)state;
	for (uint64_t seed = 1; seed <= 8; seed++) {
		for (size_t load = 0; load < ARRAY_SIZE(loads); load++) {
			struct morph_traffic *te = make_problem(seed, loads[load]);
			struct morph_traffic_result result;

			for (size_t at = 0; at < ARRAY_SIZE(lambdas); at++) {
				solve(te, lambdas[at], at == 1, &result);
				assert_true(result.residual <= 1e-9);
				check_optimal(te, amounts, lambdas[at]);
			}
			morph_traffic_free(te);
		}
	}
}

/*
 * One problem after the other, each from the end of the last one. One of them ends beside a kink.
 */
static void problems_are_solved_one_after_the_other(void **state)
{
	const uint64_t seeds[] = { 2, 25 };
	double view[MESH_DEMANDS];

	(void)state;
	for (size_t seed = 0; seed < ARRAY_SIZE(seeds); seed++) {
		struct morph_traffic *te = make_problem(seeds[seed], 0.6);

		for (uint32_t epoch = 0; epoch < 8; epoch++) {
			struct morph_traffic_result result;

			mesh_epoch(&mesh, seeds[seed], epoch, 0.6, amounts);
			set_amounts(te, amounts);
			solve(te, 0, false, &result);
			for (uint32_t controller = 0; controller < 4; controller++) {
				mesh_view(&mesh, seeds[seed], epoch, controller, 0.05, amounts,
					  view);
				set_amounts(te, view);
				solve(te, 0, false, &result);
				check_optimal(te, view, result.lambda);
			}
		}
		morph_traffic_free(te);
	}
}

static void one_link_is_shared_by_weight(void **state)
{
	MORPH_OPTS(morph_traffic_opts, opts, .lambda = 0.01);
	struct morph_traffic *te = morph_traffic_new(ctx);
	uint32_t link = 0;

	(void)state;
	morph_traffic_add_link(te, 6);
	for (int at = 0; at < 3; at++) {
		morph_traffic_add_demand(te, at ? 10 : 1, 1);
		morph_traffic_add_path(te, (uint32_t)at, &link, 1);
	}
	assert_int_equal(morph_traffic_solve(te, &opts, NULL), 0);
	assert_true(fabs(morph_traffic_flow(te, 0) - 1) < NEAR);
	assert_true(fabs(morph_traffic_flow(te, 1) - 2.5) < NEAR);
	assert_true(fabs(morph_traffic_flow(te, 2) - 2.5) < NEAR);
	/* An independent path is full as soon as it carries the whole demand. */
	morph_traffic_add_demand(te, 7, 2);
	assert_int_equal(morph_traffic_add_path(te, 3, NULL, 0), 3);
	assert_int_equal(morph_traffic_set_capacity(te, 0, 0), 0);
	assert_int_equal(morph_traffic_solve(te, NULL, NULL), 0);
	assert_true(morph_traffic_load(te, 0) < NEAR);
	assert_true(fabs(morph_traffic_flow(te, 3) - 7) < NEAR);
	MORPH_OPTS(morph_traffic_path, path);
	MORPH_OPTS(morph_traffic_link, first);
	assert_int_equal(morph_traffic_path(te, 3, &path), 0);
	assert_true(fabs(path.flow - 7) < NEAR);
	assert_int_equal(morph_traffic_path(te, UINT32_MAX, &path), -ENOENT);
	assert_int_equal(morph_traffic_link(te, 0, &first), 0);
	assert_true(first.load < NEAR);
	assert_true(fabs(first.capacity - morph_traffic_capacity(te, 0)) < NEAR);
	assert_int_equal(first.src_host, MORPH_ANY);
	assert_int_equal(morph_traffic_link(te, UINT32_MAX, &first), -ENOENT);
	morph_traffic_free(te);
}

static void a_problem_without_anything_is_solved(void **state)
{
	MORPH_OPTS(morph_traffic_result, result);
	struct morph_traffic *te = morph_traffic_new(ctx);

	(void)state;
	assert_int_equal(morph_traffic_solve(te, NULL, &result), 0);
	assert_true(result.throughput == 0);
	assert_true(morph_traffic_flow(te, 0) == 0 && morph_traffic_price(te, 0) == 0);
	morph_traffic_free(te);
}

/* ------------------------------------------------------------------ stable */

static void solving_again_begins_where_it_ended(void **state)
{
	struct morph_traffic *te = make_problem(1, 1);
	struct morph_traffic_result cold, warm;
	double view[MESH_DEMANDS], flows[MESH_DEMANDS * MESH_PATHS] = { 0 };

	(void)state;
	mesh_view(&mesh, 1, 0, 0, 0.05, amounts, view);
	solve(te, 0, true, &cold);
	set_amounts(te, view);
	/* It also allocates nothing. */
	fault_at("memory", 1, ENOMEM);
	solve(te, 0, false, &warm);
	assert_false(fault_struck());
	for (uint32_t at = 0; at < mesh.paths_count; at++)
		flows[at] = morph_traffic_flow(te, at);
	solve(te, 0, true, &cold);
	assert_true(warm.iterations < cold.iterations);
	for (uint32_t at = 0; at < mesh.paths_count; at++)
		assert_true(fabs(flows[at] - morph_traffic_flow(te, at)) < NEAR);
	morph_traffic_free(te);
}

/*
 * A vertex can jump for any difference between views. This optimum moves at most as far as the
 * views differ.
 */
static void flows_move_no_further_than_views_differ(void **state)
{
	double view[MESH_DEMANDS], flows[MESH_DEMANDS * MESH_PATHS] = { 0 };

	(void)state;
	for (uint64_t seed = 1; seed <= 8; seed++) {
		struct morph_traffic *te = make_problem(seed, 1);
		double moved = 0, differed = 0;
		struct morph_traffic_result result;

		solve(te, 0, true, &result);
		for (uint32_t at = 0; at < mesh.paths_count; at++)
			flows[at] = morph_traffic_flow(te, at);
		mesh_view(&mesh, seed, 0, 0, 0.001, amounts, view);
		set_amounts(te, view);
		solve(te, 0, true, &result);
		for (uint32_t at = 0; at < mesh.paths_count; at++)
			moved += pow(flows[at] - morph_traffic_flow(te, at), 2);
		for (uint32_t at = 0; at < mesh.demands_count; at++)
			differed += pow(view[at] - amounts[at], 2);
		assert_true(differed > 0);
		assert_true(sqrt(moved / differed) < 3);
		morph_traffic_free(te);
	}
}

/* ------------------------------------------------------------------- lanes */

static void lanes_overload_no_link(void **state)
{
	for (uint32_t seed = 1; seed <= 20; seed++) {
		struct morph_traffic *te = make_problem(seed, 1);
		uint32_t lanes[MESH_DEMANDS * MESH_PATHS], loads[MESH_LINKS] = { 0 };
		struct morph_traffic_result result;

		(void)state;
		solve(te, 0, true, &result);
		assert_int_equal(morph_traffic_round(te, NULL, seed, NULL, lanes), 0);
		for (uint32_t at = 0; at < mesh.paths_count; at++)
			for (uint32_t hop = 0; hop < mesh.paths[at].hops; hop++)
				loads[mesh.paths[at].links[hop]] += lanes[at];
		for (uint32_t link = 0; link < mesh.links_count; link++)
			assert_in_range(loads[link], 0, MESH_LANES);
		morph_traffic_free(te);
	}
}

static void flows_from_elsewhere_are_rounded(void **state)
{
	struct morph_traffic *te = make_problem(1, 1);
	double flows[MESH_DEMANDS * MESH_PATHS] = { 0 };
	uint32_t lanes[MESH_DEMANDS * MESH_PATHS];

	(void)state;
	flows[7] = 2;
	assert_int_equal(morph_traffic_round(te, flows, 1, NULL, lanes), 0);
	for (uint32_t at = 0; at < mesh.paths_count; at++)
		assert_int_equal(lanes[at], at == 7 ? 2 : 0);
	morph_traffic_free(te);
}

/* The same random threshold as in the planner. */
static double threshold_of(uint64_t epoch, uint32_t path)
{
	return mix_unit(
		mix(epoch * 0x9e3779b97f4a7c15 + 2 * (uint64_t)path * 0xd1342543de82ef95 + 1));
}

/*
 * Two demands want the only lane. The remainders of their flows and their random numbers are equal,
 * so one of them gets it.
 */
static void of_turns_alike_the_first_path_s_comes_first(void **state)
{
	struct morph_traffic *te = morph_traffic_new(ctx);
	uint32_t link = 0, lanes[2], given = 0;

	(void)state;
	assert_int_equal(morph_traffic_add_link(te, 1), 0);
	for (uint32_t at = 0; at < 2; at++) {
		assert_int_equal(morph_traffic_add_demand(te, 1, 1), at);
		assert_int_equal(morph_traffic_add_path(te, at, &link, 1), at);
	}
	for (uint64_t epoch = 0; epoch < 100; epoch++) {
		const double flows[] = { 1 - threshold_of(epoch, 0), 1 - threshold_of(epoch, 1) };

		assert_int_equal(morph_traffic_round(te, flows, epoch, NULL, lanes), 0);
		/* The second gets it if the first wants no lane in this epoch. */
		if (lanes[0] == lanes[1])
			continue;
		given += lanes[0];
		assert_int_equal(lanes[0] + lanes[1], 1);
		if (lanes[1]) {
			const double alone[] = { flows[0], 0 };

			assert_int_equal(morph_traffic_round(te, alone, epoch, NULL, lanes), 0);
			assert_int_equal(lanes[0], 0);
		}
	}
	assert_in_range(given, 20, 80);
	morph_traffic_free(te);
}

static void controllers_round_alike_if_their_views_agree(void **state)
{
	struct morph_traffic *one = make_problem(1, 1), *other = make_problem(1, 1);
	uint32_t mine[MESH_DEMANDS * MESH_PATHS], its[MESH_DEMANDS * MESH_PATHS];
	const uint32_t epochs = 2000;
	double view[MESH_DEMANDS], expected = 0, disagreed = 0, lanes = 0;
	struct morph_traffic_result result;

	(void)state;
	mesh_view(&mesh, 1, 0, 1, 0.05, amounts, view);
	set_amounts(other, view);
	solve(one, 0, true, &result);
	solve(other, 0, true, &result);
	for (uint32_t at = 0; at < mesh.paths_count; at++)
		expected +=
			fmin(fabs(morph_traffic_flow(one, at) - morph_traffic_flow(other, at)), 1);
	for (uint32_t epoch = 0; epoch < epochs; epoch++) {
		assert_int_equal(morph_traffic_round(one, NULL, epoch, NULL, mine), 0);
		assert_int_equal(morph_traffic_round(other, NULL, epoch, NULL, its), 0);
		for (uint32_t at = 0; at < mesh.paths_count; at++) {
			disagreed += mine[at] != its[at];
			lanes += mine[at];
		}
	}
	solve(one, 0, false, &result);
	assert_true(expected > 1);
	/*
	 * Fewer than twice the differences of rounding each path alone, and nearly all lanes on
	 * average.
	 */
	assert_true(disagreed / epochs / expected < 2);
	assert_true(lanes / epochs / result.throughput > 0.95);
	assert_true(lanes / epochs / result.throughput < 1.01);
	morph_traffic_free(one);
	morph_traffic_free(other);
}

static void lanes_stay_while_the_flow_is_near(void **state)
{
	struct morph_traffic *te = morph_traffic_new(ctx);
	uint32_t last = 3, out;

	(void)state;
	morph_traffic_add_demand(te, 3.55, 1);
	morph_traffic_add_path(te, 0, NULL, 0);
	assert_int_equal(morph_traffic_solve(te, NULL, NULL), 0);
	for (uint64_t epoch = 0; epoch < 100; epoch++) {
		assert_int_equal(morph_traffic_round(te, NULL, epoch, &last, &out), 0);
		assert_int_equal(out, 3);
	}
	last = 5;
	for (uint64_t epoch = 0; epoch < 100; epoch++) {
		assert_int_equal(morph_traffic_round(te, NULL, epoch, &last, &out), 0);
		assert_in_range(out, 3, 4);
	}
	morph_traffic_free(te);
}

/* ------------------------------------------------------------- what was decided last */

#define RECALLERS 4

/* The demands of each controller in turn. */
static size_t demands_of(uint32_t controller, uint32_t *demands)
{
	size_t count = 0;

	for (uint32_t at = controller; at < mesh.demands_count; at += RECALLERS)
		demands[count++] = at;
	return count;
}

/* Lanes of each link, for one controller's demands. */
static void loads_of(uint32_t controller, const uint32_t *lanes, uint32_t *loads)
{
	memset(loads, 0, MESH_LINKS * sizeof(*loads));
	for (uint32_t at = 0; at < mesh.paths_count; at++)
		for (uint32_t hop = 0; hop < mesh.paths[at].hops; hop++)
			if (mesh.paths[at].demand % RECALLERS == controller)
				loads[mesh.paths[at].links[hop]] += lanes[at];
}

/* Lanes of links that differ between two decisions, and the lanes of one decision. */
static uint32_t differ(const uint32_t *one, const uint32_t *other, uint32_t *all)
{
	uint32_t mine[MESH_LINKS], its[MESH_LINKS], sum = 0;

	for (uint32_t controller = 0; controller < RECALLERS; controller++) {
		loads_of(controller, one, mine);
		loads_of(controller, other, its);
		for (uint32_t link = 0; link < MESH_LINKS; link++) {
			sum += (uint32_t)abs((int)(mine[link] - its[link]));
			*all += mine[link];
		}
	}
	return sum;
}

/* Recall all reservations link by link. Returns the lanes that no path explains. */
static uint32_t recall(struct morph_traffic *te, const uint32_t *lanes, uint32_t *last)
{
	uint32_t demands[MESH_DEMANDS], loads[MESH_LINKS], sum = 0;

	for (uint32_t controller = 0; controller < RECALLERS; controller++) {
		size_t count = demands_of(controller, demands);
		int64_t left;

		loads_of(controller, lanes, loads);
		left = morph_traffic_recall(te, NULL, demands, count, loads, last);
		assert_true(left >= 0);
		sum += (uint32_t)left;
	}
	return sum;
}

/*
 * The next epoch is decided three times: by controllers that remember the last one, by controllers
 * that read the reservations, and by controllers that know nothing about it.
 */
static void reading_reservations_changes_little_more_than_remembering(void **state)
{
	uint32_t remembered = 0, read = 0, forgotten = 0, unexplained = 0, all = 0, unused = 0;

	(void)state;
	for (uint32_t seed = 1; seed <= 20; seed++) {
		struct morph_traffic *te = make_problem(seed, 1);
		uint32_t last[MESH_DEMANDS * MESH_PATHS], lanes[MESH_DEMANDS * MESH_PATHS];
		uint32_t recalled[MESH_DEMANDS * MESH_PATHS];
		struct morph_traffic_result result;
		double view[MESH_DEMANDS];

		solve(te, 0, true, &result);
		assert_int_equal(morph_traffic_round(te, NULL, 1, NULL, last), 0);
		mesh_view(&mesh, seed, 0, 1, 0.05, amounts, view);
		set_amounts(te, view);
		solve(te, 0, false, &result);
		unexplained += recall(te, last, recalled);
		assert_int_equal(morph_traffic_round(te, NULL, 2, last, lanes), 0);
		remembered += differ(last, lanes, &all);
		assert_int_equal(morph_traffic_round(te, NULL, 2, recalled, lanes), 0);
		read += differ(last, lanes, &unused);
		assert_int_equal(morph_traffic_round(te, NULL, 2, NULL, lanes), 0);
		forgotten += differ(last, lanes, &unused);
		morph_traffic_free(te);
	}
	print_message("# of %u lanes %u change, %u, %u; %u can't be explained\n", all, remembered,
		      read, forgotten, unexplained);
	assert_true(read < 1.2 * remembered);
	assert_true(forgotten > 2 * read);
	assert_true(unexplained < all / 20);
}

/* The lanes that the paths can have had are found again. Other controllers' lanes are untouched. */
static void reservations_are_explained(void **state)
{
	struct morph_traffic *te = morph_traffic_new(ctx);
	const uint32_t both[] = { 0, 1 }, held[] = { 5, 3 }, mine[] = { 0, 1 };
	const double flows[] = { 1.9, 1.2, 3.4, 7 };
	uint32_t last[4] = { 9, 9, 9, 9 };

	(void)state;
	for (uint32_t link = 0; link < 2; link++)
		assert_int_equal(morph_traffic_add_link(te, 16), link);
	for (uint32_t demand = 0; demand < 3; demand++)
		assert_int_equal(morph_traffic_add_demand(te, 16, 1), demand);
	morph_traffic_add_path(te, 0, &both[0], 1);
	morph_traffic_add_path(te, 0, &both[1], 1);
	morph_traffic_add_path(te, 1, both, 2);
	morph_traffic_add_path(te, 2, &both[0], 1);
	/* 5 = 2 + 3, and 3 = 0 + 3: either the first path or the second was cut by one. */
	assert_int_equal(morph_traffic_recall(te, flows, mine, 2, held, last), 0);
	assert_int_equal(last[0] + last[2], 5);
	assert_int_equal(last[1] + last[2], 3);
	assert_int_equal(last[3], 9);
	/* Lanes that no demand wants any more cannot be explained without demands. */
	assert_int_equal(morph_traffic_recall(te, flows, mine, 0, held, last), 8);
	assert_int_equal(morph_traffic_recall(te, (const double[]){ 0, 0, 0, 0 }, mine, 2,
					      (const uint32_t[]){ 0, 0 }, last),
			 0);
	assert_int_equal(last[0] + last[1] + last[2], 0);
	morph_traffic_free(te);
}

/* A new path has no earlier lanes. No flow is too small to begin. */
static void a_path_without_a_past_is_rounded_as_ever(void **state)
{
	struct morph_traffic *te = morph_traffic_new(ctx);
	const double flows[] = { 0.5, 0.5 };
	const uint32_t last[] = { 0, MORPH_ANY };
	uint32_t lanes[2], given = 0;

	(void)state;
	for (uint32_t at = 0; at < 2; at++) {
		morph_traffic_add_demand(te, 1, 1);
		morph_traffic_add_path(te, at, NULL, 0);
	}
	for (uint64_t epoch = 0; epoch < 100; epoch++) {
		assert_int_equal(morph_traffic_round(te, flows, epoch, last, lanes), 0);
		assert_int_equal(lanes[0], 0);
		given += lanes[1];
	}
	assert_in_range(given, 10, 60);
	morph_traffic_free(te);
}

/* ---------------------------------------------------------------- bad input */

#define REFUSED(errno_wanted, call, words)                             \
	do {                                                           \
		assert_int_equal(call, -(errno_wanted));               \
		assert_non_null(strstr(morph_error_text(ctx), words)); \
	} while (0)

static void invalid_problems_are_refused_with_the_reason(void **state)
{
	MORPH_OPTS(morph_traffic_opts, opts, .lambda = -1);
	struct morph_traffic *te = morph_traffic_new(ctx);
	const uint32_t twice[] = { 0, 0 }, link = 0, beyond = 1;
	const double below = -1;
	uint32_t many[65] = { 0 };

	(void)state;
	REFUSED(EINVAL, morph_traffic_add_link(te, -1), "capacity is -1");
	REFUSED(EINVAL, morph_traffic_add_link(te, NAN), "0 or more");
	assert_int_equal(morph_traffic_add_link(te, 1), 0);
	REFUSED(EINVAL, morph_traffic_add_demand(te, INFINITY, 1), "amount is inf");
	REFUSED(EINVAL, morph_traffic_add_demand(te, 1, 0), "weight of a demand is 0");
	assert_int_equal(morph_traffic_add_demand(te, 1, 1), 0);
	REFUSED(ENOENT, morph_traffic_add_path(te, 1, NULL, 0), "no demand 1: 1 were added");
	REFUSED(ENOENT, morph_traffic_add_path(te, 0, &beyond, 1), "no link 1: 1 were added");
	REFUSED(EINVAL, morph_traffic_add_path(te, 0, twice, 2), "link 0 twice");
	REFUSED(E2BIG, morph_traffic_add_path(te, 0, many, 65), "65 links");
	REFUSED(ENOENT, morph_traffic_set_capacity(te, 1, 1), "no link 1");
	REFUSED(EINVAL, morph_traffic_set_capacity(te, 0, -2), "capacity is -2");
	REFUSED(ENOENT, morph_traffic_set_amount(te, 1, 1), "no demand 1");
	REFUSED(EINVAL, morph_traffic_set_amount(te, 0, -2), "amount is -2");
	REFUSED(EINVAL, morph_traffic_solve(te, &opts, NULL), "lambda is -1");
	assert_int_equal(morph_traffic_add_path(te, 0, &link, 1), 0);
	REFUSED(EINVAL, morph_traffic_round(te, &below, 0, NULL, many), "flow of path 0 is -1");
	REFUSED(EINVAL, (int)morph_traffic_recall(te, &below, &link, 1, many, many),
		"flow of path 0 is -1");
	REFUSED(ENOENT, (int)morph_traffic_recall(te, NULL, &beyond, 1, many, many),
		"no demand 1: 1 were added");
	for (uint32_t link = 1; link < 1024; link++)
		assert_int_equal(morph_traffic_add_link(te, 1), link);
	REFUSED(E2BIG, morph_traffic_add_link(te, 1), "at most 1024 links");
	morph_traffic_free(te);
	morph_traffic_free(NULL);
}

static void problems_that_are_too_large_are_refused(void **state)
{
	const int most = 1 << 20;
	struct morph_traffic *te = morph_traffic_new(ctx);

	(void)state;
	for (int at = 0; at < most; at++)
		if (morph_traffic_add_demand(te, 1, 1) != at ||
		    morph_traffic_add_path(te, 0, NULL, 0) != at)
			fail_msg("%s", morph_error_text(ctx));
	REFUSED(E2BIG, morph_traffic_add_demand(te, 1, 1), "at most 1048576 demands");
	REFUSED(E2BIG, morph_traffic_add_path(te, 0, NULL, 0), "at most 1048576 paths");
	morph_traffic_free(te);
}

static void too_few_iterations_are_reported(void **state)
{
	MORPH_OPTS(morph_traffic_opts, opts, .iterations = 1);
	MORPH_OPTS(morph_traffic_result, result);
	struct morph_traffic *te = make_problem(1, 1);

	(void)state;
	REFUSED(EAGAIN, morph_traffic_solve(te, &opts, &result), "after 1 steps");
	assert_int_equal(result.iterations, 1);
	assert_true(result.residual > 1e-9);
	morph_traffic_free(te);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(solutions_meet_the_conditions_of_optimality, begin,
						end),
		cmocka_unit_test_setup_teardown(problems_are_solved_one_after_the_other, begin,
						end),
		cmocka_unit_test_setup_teardown(one_link_is_shared_by_weight, begin, end),
		cmocka_unit_test_setup_teardown(a_problem_without_anything_is_solved, begin, end),
		cmocka_unit_test_setup_teardown(solving_again_begins_where_it_ended, begin, end),
		cmocka_unit_test_setup_teardown(flows_move_no_further_than_views_differ, begin,
						end),
		cmocka_unit_test_setup_teardown(lanes_overload_no_link, begin, end),
		cmocka_unit_test_setup_teardown(flows_from_elsewhere_are_rounded, begin, end),
		cmocka_unit_test_setup_teardown(of_turns_alike_the_first_path_s_comes_first, begin,
						end),
		cmocka_unit_test_setup_teardown(controllers_round_alike_if_their_views_agree, begin,
						end),
		cmocka_unit_test_setup_teardown(lanes_stay_while_the_flow_is_near, begin, end),
		cmocka_unit_test_setup_teardown(
			reading_reservations_changes_little_more_than_remembering, begin, end),
		cmocka_unit_test_setup_teardown(reservations_are_explained, begin, end),
		cmocka_unit_test_setup_teardown(a_path_without_a_past_is_rounded_as_ever, begin,
						end),
		cmocka_unit_test_setup_teardown(invalid_problems_are_refused_with_the_reason, begin,
						end),
		cmocka_unit_test_setup_teardown(problems_that_are_too_large_are_refused, begin,
						end),
		cmocka_unit_test_setup_teardown(too_few_iterations_are_reported, begin, end),
	};

	return cmocka_run_group_tests_name("te", tests, NULL, NULL);
}

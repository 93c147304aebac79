// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Bandwidth of groups. Small plans are compared with every other plan, larger ones with the
 * definition of fairness, and circuits with the capacity of ports and guides. This test knows only
 * the problems, not the library's data structures.
 */
#include <stdio.h>

#include "../internal/planner.h"
#include "../bench/groups.h"
#include "../bench/random.h"
#include "alone.h"

#define RESOURCES (2 * GROUPS_ACCELERATORS + GROUPS_GUIDES)
#define WAVELENGTHS 16

static struct groups groups;

static struct morph_bandwidth *make_problem(void)
{
	struct morph_bandwidth *bw = groups_problem(ctx, &groups);

	if (!bw)
		fail_msg("%s", morph_error_text(ctx));
	return bw;
}

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

/* ------------------------------------------------------ what there is room for */

/* Transmit ports, receive ports, guides. */
static uint32_t resource_of(enum morph_bandwidth_part part, uint32_t index)
{
	return part == MORPH_BANDWIDTH_TRANSMIT ? index :
	       part == MORPH_BANDWIDTH_RECEIVE	? GROUPS_ACCELERATORS + index :
						  2 * GROUPS_ACCELERATORS + index;
}

static uint32_t fibres_of(uint32_t resource)
{
	if (resource < GROUPS_ACCELERATORS)
		return groups.transmit[resource];
	if (resource < 2 * GROUPS_ACCELERATORS)
		return groups.receive[resource - GROUPS_ACCELERATORS];
	return groups.fibres[resource - 2 * GROUPS_ACCELERATORS];
}

/*
 * Add or remove @count circuits of a hop. Returns whether its resources have at most @lanes lanes
 * for each fibre.
 */
static bool load_hop(int64_t *loads, const struct groups_hop *hop, int64_t circuits, uint32_t lanes)
{
	uint32_t way[2 + GROUPS_WAY] = { resource_of(MORPH_BANDWIDTH_TRANSMIT, hop->source),
					 resource_of(MORPH_BANDWIDTH_RECEIVE, hop->target) };
	bool fits = true;

	for (uint32_t at = 0; at < hop->guides_count; at++)
		way[2 + at] = resource_of(MORPH_BANDWIDTH_GUIDE, hop->guides[at]);
	for (uint32_t at = 0; at < hop->guides_count + 2; at++) {
		loads[way[at]] += circuits;
		fits &= loads[way[at]] <= (int64_t)fibres_of(way[at]) * lanes;
	}
	return fits;
}

static bool load_group(int64_t *loads, uint32_t group, int64_t bandwidth)
{
	bool fits = true;

	for (uint32_t at = 0; at < groups.hops_count; at++)
		if (groups.hops[at].group == group)
			fits &= load_hop(loads, &groups.hops[at],
					 bandwidth * groups.hops[at].circuits, groups.wavelengths);
	return fits;
}

/* Check whether ports and guides have enough lanes, ignoring wavelengths. */
static bool fits_loads(const uint32_t *bandwidths, int64_t *loads)
{
	bool fits = true;

	memset(loads, 0, RESOURCES * sizeof(*loads));
	for (uint32_t at = 0; at < groups.groups_count; at++)
		fits &= load_group(loads, at, bandwidths[at]);
	return fits;
}

/*
 * Assign a wavelength to each circuit, from the @left-th last of hop @at on, in all different ways.
 */
static bool fits_from(const uint32_t *bandwidths, int64_t loads[][RESOURCES], uint32_t at,
		      uint32_t left, uint32_t least, uint32_t used)
{
	const struct groups_hop *hop = &groups.hops[at];

	if (at == groups.hops_count)
		return true;
	if (!left) {
		const struct groups_hop *next = hop + 1;
		uint32_t circuits =
			at + 1 == groups.hops_count ? 0 : bandwidths[next->group] * next->circuits;

		return fits_from(bandwidths, loads, at + 1, circuits, 0, used);
	}
	for (uint32_t colour = least; colour <= used && colour < groups.wavelengths; colour++) {
		bool fits =
			load_hop(loads[colour], hop, 1, 1) &&
			fits_from(bandwidths, loads, at, left - 1, colour, used + (colour == used));

		load_hop(loads[colour], hop, -1, 1);
		if (fits)
			return true;
	}
	return false;
}

static bool fits_wavelengths(const uint32_t *bandwidths)
{
	static int64_t loads[WAVELENGTHS][RESOURCES];

	if (groups.wavelengths == 1 || !groups.hops_count)
		return true;
	memset(loads, 0, sizeof(loads));
	return fits_from(bandwidths, loads, 0,
			 bandwidths[groups.hops[0].group] * groups.hops[0].circuits, 0, 0);
}

/*
 * The same for few hops and many wavelengths. One wavelength after the other takes as many circuits
 * as possible, in every way. Failures are remembered.
 */
#define FEW 6
#define FAILED (1 << 20)

struct failure {
	uint16_t left[FEW];
	uint16_t wavelengths; /* 0: none is remembered here */
};

static struct failure failed[FAILED];

static uint32_t failure_at(const struct failure *failure)
{
	uint64_t hash = failure->wavelengths;

	for (uint32_t at = 0; at < FEW; at++)
		hash = mix(hash + failure->left[at] + 1);
	for (hash %= FAILED; failed[hash].wavelengths; hash = (hash + 1) % FAILED)
		if (!memcmp(&failed[hash], failure, sizeof(*failure)))
			break;
	return (uint32_t)hash;
}

static bool fits_in_turn(const struct failure *now);

/* One wavelength takes circuits of the hops from @at on, until no further circuit fits. */
static bool takes(struct failure *now, int64_t *loads, uint32_t at)
{
	uint32_t circuits = 0;
	bool fits = false;

	if (at == groups.hops_count) {
		for (uint32_t hop = 0; hop < at; hop++) {
			bool more = now->left[hop] && load_hop(loads, &groups.hops[hop], 1, 1);

			if (now->left[hop])
				load_hop(loads, &groups.hops[hop], -1, 1);
			if (more)
				return false;
		}
		now->wavelengths--;
		fits = fits_in_turn(now);
		now->wavelengths++;
		return fits;
	}
	while (!fits) {
		fits = takes(now, loads, at + 1);
		if (fits || !now->left[at])
			break;
		circuits++;
		now->left[at]--;
		if (!load_hop(loads, &groups.hops[at], 1, 1))
			break;
	}
	load_hop(loads, &groups.hops[at], -(int64_t)circuits, 1);
	now->left[at] += (uint16_t)circuits;
	return fits;
}

static bool fits_in_turn(const struct failure *now)
{
	static int64_t all[RESOURCES];
	int64_t loads[RESOURCES] = { 0 };
	struct failure next = *now;
	bool fits = true, some = false;
	uint32_t place;

	memset(all, 0, sizeof(all));
	for (uint32_t at = 0; at < groups.hops_count; at++) {
		fits &= load_hop(all, &groups.hops[at], now->left[at], now->wavelengths);
		some |= now->left[at];
	}
	if (!fits || !some)
		return fits;
	place = failure_at(now);
	if (failed[place].wavelengths)
		return false;
	fits = takes(&next, loads, 0);
	if (!fits)
		failed[failure_at(now)] = *now;
	return fits;
}

static bool fits_wavelengths_in_turn(const uint32_t *bandwidths)
{
	struct failure all = { .wavelengths = (uint16_t)groups.wavelengths };

	assert_true(groups.hops_count <= FEW);
	for (uint32_t at = 0; at < groups.hops_count; at++)
		all.left[at] =
			(uint16_t)(bandwidths[groups.hops[at].group] * groups.hops[at].circuits);
	return fits_in_turn(&all);
}

/* -------------------------------------------------------------- every plan */

#define PLANS (1 << 18)

struct plan {
	uint32_t bandwidths[6], sorted[6];
};

static struct plan plans[PLANS];
static uint32_t plans_count;

static int ascending(const void *one, const void *other)
{
	uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;

	return (a > b) - (a < b);
}

/* Sort by fairness, fairest first. */
static int by_fairness(const void *one, const void *other)
{
	const struct plan *a = one, *b = other;

	for (uint32_t at = 0; at < groups.groups_count; at++)
		if (a->sorted[at] != b->sorted[at])
			return a->sorted[at] > b->sorted[at] ? -1 : 1;
	return 0;
}

/* List all plans that the lanes of ports and guides permit, from the @at-th group on. */
static void list_plans(uint32_t *bandwidths, int64_t *loads, uint32_t at)
{
	uint32_t most = at < groups.groups_count ? groups.most[at] : 0, now = 0;

	if (at == groups.groups_count) {
		struct plan *plan = &plans[plans_count++];

		assert_true(plans_count < PLANS);
		memcpy(plan->bandwidths, bandwidths, at * sizeof(*bandwidths));
		memcpy(plan->sorted, bandwidths, at * sizeof(*bandwidths));
		qsort(plan->sorted, at, sizeof(*bandwidths), ascending);
		return;
	}
	if (load_group(loads, at, groups.least[at])) {
		now = groups.least[at];
		do {
			bandwidths[at] = now;
			list_plans(bandwidths, loads, at + 1);
		} while ((!most || now < most) && load_group(loads, at, 1) && ++now);
		if (!most || now < most)
			load_group(loads, at, -1);
		load_group(loads, at, -(int64_t)now);
	} else {
		load_group(loads, at, -(int64_t)groups.least[at]);
	}
}

typedef bool (*fits_fn)(const uint32_t *bandwidths);

/* The fairest plan, or NULL if there is none. */
static const struct plan *fairest(fits_fn fits)
{
	static int64_t loads[RESOURCES];
	uint32_t bandwidths[6] = { 0 };

	memset(loads, 0, sizeof(loads));
	plans_count = 0;
	list_plans(bandwidths, loads, 0);
	qsort(plans, plans_count, sizeof(*plans), by_fairness);
	for (uint32_t at = 0; at < plans_count; at++)
		if (fits(plans[at].bandwidths))
			return &plans[at];
	return NULL;
}

/* ------------------------------------------------------------ what plans are */

/* Each circuit has a wavelength, and no resource exceeds its capacity. */
static void check_legal(const struct morph_bandwidth *bw)
{
	static int64_t loads[WAVELENGTHS][RESOURCES];
	uint32_t colours[4096];

	memset(loads, 0, sizeof(loads));
	for (uint32_t at = 0; at < groups.hops_count; at++) {
		const struct groups_hop *hop = &groups.hops[at];
		size_t count = morph_bandwidth_lanes(bw, at, colours, ARRAY_SIZE(colours));

		assert_int_equal(count, morph_bandwidth_of_group(bw, hop->group) * hop->circuits);
		for (size_t circuit = 0; circuit < count; circuit++) {
			assert_true(colours[circuit] < groups.wavelengths);
			assert_true(!circuit || colours[circuit] >= colours[circuit - 1]);
			assert_true(load_hop(loads[colours[circuit]], hop, 1, 1));
		}
	}
	for (enum morph_bandwidth_part part = MORPH_BANDWIDTH_TRANSMIT;
	     part <= MORPH_BANDWIDTH_GUIDE; part++) {
		uint32_t count = part == MORPH_BANDWIDTH_GUIDE ? groups.guides_count :
								 groups.accelerators_count;

		for (uint32_t index = 0; index < count; index++) {
			int64_t load = 0;

			for (uint32_t at = 0; at < groups.wavelengths; at++)
				load += loads[at][resource_of(part, index)];
			assert_int_equal(morph_bandwidth_load(bw, part, index), load);
		}
	}
}

/*
 * The group's bandwidth with one lane more, while others keep at least that much; and a check that
 * the reported stop prevents it. @fits checks wavelengths, unless it is NULL.
 */
static void check_stop(const struct morph_bandwidth *bw, uint32_t group, fits_fn fits)
{
	static int64_t loads[RESOURCES];
	struct morph_bandwidth_group stop = stop_of(bw, group);
	uint32_t bandwidths[GROUPS_COUNT] = { 0 }, more = morph_bandwidth_of_group(bw, group) + 1;

	for (uint32_t at = 0; at < groups.groups_count; at++) {
		uint32_t most = groups.least[at] > more ? groups.least[at] : more;

		bandwidths[at] = morph_bandwidth_of_group(bw, at);
		if (bandwidths[at] > most)
			bandwidths[at] = most;
	}
	bandwidths[group] = more;
	if (stop.part == MORPH_BANDWIDTH_WISH) {
		assert_int_equal(more, groups.most[group] + 1);
		assert_int_equal(stop.have, groups.most[group]);
		assert_int_equal(stop.need, more);
	} else if (stop.part == MORPH_BANDWIDTH_WAVELENGTHS) {
		assert_true(fits_loads(bandwidths, loads));
		assert_int_equal(stop.have, groups.wavelengths);
		assert_true(stop.need > groups.wavelengths);
		assert_false(fits && fits(bandwidths));
	} else {
		uint32_t resource = resource_of(stop.part, stop.index);

		assert_true(stop.part != MORPH_BANDWIDTH_NOTHING);
		assert_false(fits_loads(bandwidths, loads));
		assert_int_equal(stop.have, (uint64_t)fibres_of(resource) * groups.wavelengths);
		assert_int_equal(stop.need, loads[resource]);
		assert_true(stop.need > stop.have);
	}
}

/* Check that the plan is the fairest, and that stops are valid. Returns whether a plan exists. */
static bool check_fairest(fits_fn fits)
{
	struct morph_bandwidth *bw = make_problem();
	struct morph_bandwidth_result result = solve(bw, 0);
	const struct plan *best = fairest(fits);
	uint32_t sorted[6] = { 0 };
	uint64_t circuits = 0;

	assert_int_equal(result.verdict, best ? MORPH_FEASIBLE : MORPH_INFEASIBLE);
	check_legal(bw);
	if (best) {
		assert_int_equal(result.proof, MORPH_BANDWIDTH_LEXIMIN);
		for (uint32_t at = 0; at < groups.groups_count; at++) {
			sorted[at] = morph_bandwidth_of_group(bw, at);
			assert_true(sorted[at] >= groups.least[at]);
			assert_true(!groups.most[at] || sorted[at] <= groups.most[at]);
			check_stop(bw, at, fits);
		}
		qsort(sorted, groups.groups_count, sizeof(*sorted), ascending);
		assert_memory_equal(sorted, best->sorted, groups.groups_count * sizeof(*sorted));
	} else {
		assert_int_not_equal(stop_of(bw, MORPH_ANY).part, MORPH_BANDWIDTH_NOTHING);
	}
	for (uint32_t at = 0; at < groups.hops_count; at++)
		circuits += morph_bandwidth_lanes(bw, at, NULL, 0);
	assert_int_equal(result.circuits, circuits);
	morph_bandwidth_free(bw);
	return best;
}

static void small_plans_are_the_fairest_of_all(void **state)
{
	uint32_t feasible = 0, stopped = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 3000; seed++) {
		uint64_t random = seed;
		uint32_t accelerators = 2 + random_below(&random, 4);
		uint32_t guides = random_below(&random, 6), count = 1 + random_below(&random, 4);

		groups_irregular(&groups, seed, accelerators, guides, count, 3,
				 1 + random_below(&random, 3));
		feasible += check_fairest(fits_wavelengths);
		stopped += !fits_wavelengths(plans[0].bandwidths);
	}
	/* There are enough instances of each kind. */
	assert_in_range(feasible, 2000, 2900);
	assert_true(stopped > 10);
}

static void few_hops_and_many_wavelengths_get_the_fairest_plan(void **state)
{
	uint32_t stopped = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 150; seed++) {
		groups_irregular(&groups, seed, 5, 5, 3, 2, 6 + 2 * (uint32_t)(seed % 2));
		memset(failed, 0, sizeof(failed));
		check_fairest(fits_wavelengths_in_turn);
		stopped += !fits_wavelengths_in_turn(plans[0].bandwidths);
	}
	assert_true(stopped > 5);
}

static void rings_of_16_accelerators_get_the_fairest_plan(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		uint32_t fibres = 1 + (uint32_t)seed % 4;

		groups_rings(&groups, seed, 4, 4, 6, 1, 6, fibres);
		assert_true(check_fairest(fits_wavelengths));
		groups_rings(&groups, seed, 16, 1, 6, 1, 6, 2 * fibres);
		assert_true(check_fairest(fits_wavelengths));
	}
}

static void irregular_groups_of_16_accelerators_get_the_fairest_plan(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		groups_irregular(&groups, seed, 16, 24, 6, 6, 1 + (uint32_t)seed % 3);
		check_fairest(fits_wavelengths);
	}
}

/* Three wavelengths on a ring of five: exchanging single wavelengths sometimes gets stuck. */
static void rings_of_few_wavelengths_get_the_fairest_plan(void **state)
{
	(void)state;
	for (uint64_t seed = 80; seed <= 150; seed++) {
		groups_rings(&groups, seed, 5, 1, 4, 3, 6, 1);
		assert_true(check_fairest(fits_wavelengths));
	}
	groups_irregular(&groups, 1171, 5, 5, 3, 2, 2);
	check_fairest(fits_wavelengths);
}

static bool fits_anything(const uint32_t *bandwidths)
{
	(void)bandwidths;
	return true;
}

/* All lanes of ports and guides are used, in any order of wavelengths. */
static void a_ring_is_filled_where_most_orders_get_stuck(void **state)
{
	(void)state;
	groups_rings(&groups, 256, 9, 1, 4, 7, 6, 2);
	assert_true(check_fairest(fits_anything));
}

/*
 * Weights of circuits that were learnt in few steps, before all combinations were tried, never
 * prove anything false.
 */
static void refutation_by_weights_means_infeasible(void **state)
{
	uint32_t refuted = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct morph_bandwidth *bw;

		groups_irregular(&groups, seed, 5, 5, 3, 2, 8);
		memset(failed, 0, sizeof(failed));
		bw = make_problem();
		if (solve(bw, 2000).verdict == MORPH_FEASIBLE) {
			for (uint32_t at = 0; at < groups.groups_count; at++) {
				if (stop_of(bw, at).part == MORPH_BANDWIDTH_NOTHING)
					continue;
				check_stop(bw, at, fits_wavelengths_in_turn);
				refuted += stop_of(bw, at).part == MORPH_BANDWIDTH_WAVELENGTHS;
			}
		}
		morph_bandwidth_free(bw);
	}
	assert_true(refuted > 10);
}

/* ------------------------------------------------------------ more of them */

static void check_fair(uint64_t steps)
{
	struct morph_bandwidth *bw = make_problem();
	struct morph_bandwidth_result result = solve(bw, steps);

	assert_int_equal(result.verdict, MORPH_FEASIBLE);
	assert_true(result.proof >= MORPH_BANDWIDTH_FAIR);
	check_legal(bw);
	for (uint32_t at = 0; at < groups.groups_count; at++)
		check_stop(bw, at, NULL);
	morph_bandwidth_free(bw);
}

static void many_groups_share_fairly(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 12; seed++) {
		groups_rings(&groups, seed, 8, 4, 24, 1, 24, 16);
		check_fair(2000);
		groups_rings(&groups, seed, 4, 4, 12, 2, 12, 8);
		check_fair(2000);
	}
}

/* Also if the search for larger sets ends early. */
static void plans_are_fair_without_any_search(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 30; seed++) {
		groups_rings(&groups, seed, 4, 4, 10, 1, 6, 5);
		check_fair(1);
	}
}

/* --------------------------------------------------------------- once more */

static void solving_again_allocates_nothing(void **state)
{
	uint32_t first[6];
	struct morph_bandwidth *bw;

	(void)state;
	groups_rings(&groups, 1, 4, 4, 6, 4, 6, 2);
	bw = make_problem();
	solve(bw, 0);
	for (uint32_t at = 0; at < 6; at++)
		first[at] = morph_bandwidth_of_group(bw, at);
	fault_at("memory", 1, ENOMEM);
	for (uint32_t at = 0; at < 4; at++)
		assert_int_equal(morph_bandwidth_set_guide(bw, at, 1), 0);
	solve(bw, 0);
	/* Earlier solutions leave no trace. */
	for (uint32_t at = 0; at < 4; at++)
		assert_int_equal(morph_bandwidth_set_guide(bw, at, 2), 0);
	solve(bw, 0);
	assert_false(fault_struck());
	check_legal(bw);
	for (uint32_t at = 0; at < 6; at++)
		assert_int_equal(morph_bandwidth_of_group(bw, at), first[at]);
	/* Growth is reported after the next solution. */
	assert_int_equal(morph_bandwidth_add_guide(bw, 1), groups.guides_count);
	assert_int_equal(morph_bandwidth_of_group(bw, 0), 0);
	assert_int_equal(morph_bandwidth_load(bw, MORPH_BANDWIDTH_GUIDE, 0), 0);
	assert_int_equal(morph_bandwidth_lanes(bw, 0, NULL, 0), 0);
	assert_int_equal(stop_of(bw, 0).part, MORPH_BANDWIDTH_NOTHING);
	solve(bw, 0);
	assert_int_equal(morph_bandwidth_of_group(bw, 0), first[0]);
	morph_bandwidth_free(bw);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(small_plans_are_the_fairest_of_all),
		TEST(few_hops_and_many_wavelengths_get_the_fairest_plan),
		TEST(rings_of_16_accelerators_get_the_fairest_plan),
		TEST(irregular_groups_of_16_accelerators_get_the_fairest_plan),
		TEST(rings_of_few_wavelengths_get_the_fairest_plan),
		TEST(a_ring_is_filled_where_most_orders_get_stuck),
		TEST(refutation_by_weights_means_infeasible),
		TEST(many_groups_share_fairly),
		TEST(plans_are_fair_without_any_search),
		TEST(solving_again_allocates_nothing),
	};

	return cmocka_run_group_tests_name("fairness", tests, NULL, NULL);
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Stitching. The test checks answers by definition, and decides small instances by enumeration.
 * From the planner it uses only its data.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../bench/racks.h"
#include "../bench/random.h"
#include "../place/stitch.h"

#define ALL UINT64_MAX
#define RACKS_DIGEST 0x801b7342c524ff3dU /* of the first 10000 states from seed 1 on */

static struct stitch stitch;
static struct pattern pattern;
static struct net net;
static struct racks_walk walk;

/* ------------------------------------------------------------ a plan is one */

static void check_route(const struct net *whole, struct net *left, const struct route *route)
{
	uint64_t seen = 0;

	assert_int_equal(route->sites[0], route->from);
	assert_int_equal(route->sites[route->hops], route->to);
	for (uint32_t hop = 0; hop <= route->hops; hop++) {
		assert_true(route->sites[hop] < whole->sites);
		assert_false(seen >> route->sites[hop] & 1);
		seen |= 1ULL << route->sites[hop];
		if (hop == route->hops)
			break;
		assert_true(left->room[route->sites[hop]][route->sites[hop + 1]] >= route->units);
		left->room[route->sites[hop]][route->sites[hop + 1]] -= route->units;
	}
}

/*
 * No site has more slots than its space, each demand has its units, and no link exceeds its
 * capacity.
 */
static void check_shared(const struct net *whole, const uint8_t *takes)
{
	int32_t wanted[NET_SITES][NET_SITES] = { 0 };
	const uint8_t *sites = stitch.embedding.sites;
	uint8_t taken[NET_SITES] = { 0 };
	struct net left = *whole;

	for (uint32_t slot = 0; slot < pattern.slots; slot++)
		assert_true(++taken[sites[slot]] <= takes[sites[slot]]);
	for (uint32_t a = 0; a < pattern.slots; a++)
		for (uint32_t b = 0; b < pattern.slots; b++)
			if (sites[a] != sites[b])
				wanted[sites[a]][sites[b]] += pattern.units[a][b];
	for (uint32_t at = 0; at < stitch.routes.count; at++) {
		const struct route *route = &stitch.routes.list[at];

		check_route(whole, &left, route);
		wanted[route->from][route->to] -= route->units;
	}
	for (uint32_t from = 0; from < whole->sites; from++)
		for (uint32_t to = 0; to < whole->sites; to++)
			assert_int_equal(wanted[from][to], 0);
}

/* The same if each site takes one slot. */
static void check_plan(const struct net *whole, uint64_t free)
{
	uint8_t takes[NET_SITES];

	for (uint32_t site = 0; site < NET_SITES; site++)
		takes[site] = free >> site & 1;
	check_shared(whole, takes);
}

/* ----------------------------------------------------- why there is no plan */

/* Fewest hops between all pairs, by Floyd and Warshall. */
static void distances_of(const struct net *whole, uint32_t hops[NET_SITES][NET_SITES])
{
	for (uint32_t a = 0; a < whole->sites; a++)
		for (uint32_t b = 0; b < whole->sites; b++)
			hops[a][b] = a == b ? 0 : whole->room[a][b] ? 1 : 100000;
	for (uint32_t by = 0; by < whole->sites; by++)
		for (uint32_t a = 0; a < whole->sites; a++)
			for (uint32_t b = 0; b < whole->sites; b++)
				if (hops[a][by] + hops[by][b] < hops[a][b])
					hops[a][b] = hops[a][by] + hops[by][b];
}

struct refutation {
	uint32_t hops[NET_SITES][NET_SITES];
	uint32_t room; /* of all links */
	uint32_t cut_room[CUTS];
	uint8_t sites[PATTERN_SLOTS];
	uint32_t unexplained;
};

static bool wants_too_much(const struct refutation *refutation, uint32_t slots)
{
	uint32_t hops = 0;

	for (uint32_t a = 0; a < slots; a++)
		for (uint32_t b = 0; b < slots; b++)
			hops += pattern.units[a][b] *
				refutation->hops[refutation->sites[a]][refutation->sites[b]];
	if (hops > refutation->room)
		return true;
	for (uint32_t cut = 0; cut < stitch.cuts.count; cut++) {
		uint64_t set = stitch.cuts.list[cut].set;
		uint32_t out = 0;

		for (uint32_t a = 0; a < slots; a++)
			for (uint32_t b = 0; b < slots; b++)
				if (set >> refutation->sites[a] & 1 &&
				    !(set >> refutation->sites[b] & 1))
					out += pattern.units[a][b];
		if (out > refutation->cut_room[cut])
			return true;
	}
	return false;
}

/* Every embedding, without skipping equivalent ones. */
static void refute(struct refutation *refutation, uint32_t slots, uint64_t unused)
{
	if (wants_too_much(refutation, slots))
		return;
	if (slots == pattern.slots) {
		refutation->unexplained++;
		return;
	}
	for (uint64_t left = unused; left; left &= left - 1) {
		refutation->sites[slots] = (uint8_t)net_first(left);
		refute(refutation, slots + 1, unused & ~(left & -left));
	}
}

/* Number of embeddings that neither a cut nor the sum of distances excludes. */
static uint32_t embeddings_unexplained(const struct net *whole, uint64_t free)
{
	static struct refutation refutation;

	memset(&refutation, 0, sizeof(refutation));
	distances_of(whole, refutation.hops);
	for (uint32_t a = 0; a < whole->sites; a++)
		for (uint32_t b = 0; b < whole->sites; b++)
			refutation.room += whole->room[a][b];
	for (uint32_t cut = 0; cut < stitch.cuts.count; cut++)
		for (uint32_t a = 0; a < whole->sites; a++)
			for (uint32_t b = 0; b < whole->sites; b++)
				if (stitch.cuts.list[cut].set >> a & 1 &&
				    !(stitch.cuts.list[cut].set >> b & 1))
					refutation.cut_room[cut] += whole->room[a][b];
	refute(&refutation, 0, free);
	return refutation.unexplained;
}

/* -------------------------------------------------------------- the small ones */

/*
 * Route circuit @unit of demand @at and those after it through the remaining capacity, in every
 * way.
 */
static bool routes_exist(struct net *left, const uint8_t *sites, uint32_t at, uint32_t unit,
			 uint32_t here, uint64_t seen)
{
	const struct demand *demand = &pattern.demands[at];

	if (at == pattern.demands_count)
		return true;
	if (unit == demand->units)
		return routes_exist(left, sites, at + 1, 0, NET_SITES, 0);
	if (here == NET_SITES) {
		here = sites[demand->from];
		seen = 1ULL << here;
	}
	if (here == sites[demand->to])
		return routes_exist(left, sites, at, unit + 1, NET_SITES, 0);
	for (uint32_t next = 0; next < left->sites; next++) {
		bool exist;

		if (seen >> next & 1 || !left->room[here][next])
			continue;
		left->room[here][next]--;
		exist = routes_exist(left, sites, at, unit, next, seen | 1ULL << next);
		left->room[here][next]++;
		if (exist)
			return true;
	}
	return false;
}

static bool embedding_exists(struct net *left, uint8_t *sites, uint32_t slots, uint8_t *takes)
{
	if (slots == pattern.slots)
		return routes_exist(left, sites, 0, 0, NET_SITES, 0);
	for (uint32_t site = 0; site < left->sites; site++) {
		bool exists;

		if (!takes[site])
			continue;
		sites[slots] = (uint8_t)site;
		takes[site]--;
		exists = embedding_exists(left, sites, slots + 1, takes);
		takes[site]++;
		if (exists)
			return true;
	}
	return false;
}

/* Sites with some free capacity, and a pattern of some slots with some demands. */
static uint64_t make_small(uint64_t *random)
{
	uint32_t sites = 4 + random_below(random, 2), slots = 3 + random_below(random, 2);
	uint64_t free = net_all(sites);

	lm_net_init(&net, sites);
	for (uint32_t a = 0; a < sites; a++)
		for (uint32_t b = 0; b < sites; b++)
			if (a != b && random_below(random, 2))
				lm_net_set_room(&net, a, b, 1 + random_below(random, 2));
	if (random_below(random, 2))
		free &= ~(1ULL << random_below(random, sites));
	lm_pattern_init(&pattern, slots);
	for (uint32_t a = 0; a < slots; a++) {
		for (uint32_t b = 0; b < a; b++) {
			uint32_t units = 1 + !random_below(random, 4),
				 way = random_below(random, 8);

			if (way > 2)
				lm_pattern_join(&pattern, a, b, units);
			else if (way)
				lm_pattern_add(&pattern, way > 1 ? a : b, way > 1 ? b : a, units);
		}
	}
	lm_pattern_prepare(&pattern);
	return free;
}

static void small_ones_are_decided_as_by_trying_everything(void **state)
{
	uint64_t random = 1;
	uint32_t counts[3] = { 0 }, searched = 0;

	(void)state;
	for (int at = 0; at < 4000; at++) {
		uint64_t free = make_small(&random);
		struct net left = net;
		uint8_t sites[PATTERN_SLOTS], takes[NET_SITES] = { 0 };
		enum stitch_verdict verdict = lm_stitch(&stitch, &net, &pattern, free, ALL);

		counts[verdict]++;
		searched += stitch.exhausted_count > 0;
		for (uint32_t site = 0; site < net.sites; site++)
			takes[site] = free >> site & 1;
		assert_int_equal(verdict == STITCH_FEASIBLE,
				 embedding_exists(&left, sites, 0, takes));
		if (verdict == STITCH_FEASIBLE)
			check_plan(&net, free);
		else
			assert_true(embeddings_unexplained(&net, free) == 0 ||
				    stitch.exhausted_count > 0);
	}
	assert_int_equal(counts[STITCH_UNDECIDED], 0);
	/* Each way to reach an answer has occurred. */
	assert_true(counts[STITCH_FEASIBLE] > 100);
	assert_true(counts[STITCH_INFEASIBLE] > 100);
	assert_true(searched > 10);
}

/* Check whether a plan routes circuits with the same ends on different paths. */
static bool goes_apart(void)
{
	for (uint32_t at = 1; at < stitch.routes.count; at++) {
		const struct route *one = &stitch.routes.list[at - 1];
		const struct route *next = &stitch.routes.list[at];

		if (one->from == next->from && one->to == next->to &&
		    (one->hops != next->hops || memcmp(one->sites, next->sites, one->hops) != 0))
			return true;
	}
	return false;
}

/* Slots can share a site, and circuits with the same ends can take different paths. */
static void shared_sites_are_decided_as_by_trying_everything(void **state)
{
	uint32_t counts[3] = { 0 }, apart = 0;
	uint64_t random = 1;

	(void)state;
	for (int at = 0; at < 3000; at++) {
		uint64_t free = make_small(&random);
		uint8_t sites[PATTERN_SLOTS], takes[NET_SITES] = { 0 };
		struct net left = net;
		enum stitch_verdict verdict;

		for (uint32_t site = 0; site < net.sites; site++)
			takes[site] = free >> site & 1 ? (uint8_t)random_below(&random, 3) : 0;
		verdict = lm_stitch_shared(&stitch, &net, 1, &pattern, takes, ALL);
		counts[verdict]++;
		assert_int_equal(verdict == STITCH_FEASIBLE,
				 embedding_exists(&left, sites, 0, takes));
		if (verdict != STITCH_FEASIBLE)
			continue;
		check_shared(&net, takes);
		apart += goes_apart();
	}
	printf("%u feasible, %u infeasible, %u where circuits with the same ends part\n",
	       counts[STITCH_FEASIBLE], counts[STITCH_INFEASIBLE], apart);
	assert_int_equal(counts[STITCH_UNDECIDED], 0);
	assert_true(counts[STITCH_FEASIBLE] > 100);
	assert_true(counts[STITCH_INFEASIBLE] > 100);
	assert_true(apart > 10);
}

/* ---------------------------------------------------------------- alike or not */

/* Count the orders in which slots can take sites 0, 1, 2, ..., given the reported symmetries. */
static uint32_t orders(uint32_t depth, uint8_t *site_of, uint64_t unused)
{
	uint32_t count = 0;

	if (depth == pattern.slots)
		return 1;
	for (uint64_t left = unused; left; left &= left - 1) {
		const struct pattern_step *step = &pattern.steps[depth];
		bool fits = true;

		site_of[step->slot] = (uint8_t)net_first(left);
		for (uint64_t below = step->below; below; below &= below - 1)
			if (site_of[net_first(below)] > site_of[step->slot])
				fits = false;
		if (fits)
			count += orders(depth + 1, site_of, unused & ~(left & -left));
	}
	return count;
}

static uint32_t different_embeddings(void)
{
	uint8_t site_of[PATTERN_SLOTS];

	lm_pattern_prepare(&pattern);
	return orders(0, site_of, net_all(pattern.slots));
}

static void embeddings_that_are_alike_are_searched_once(void **state)
{
	(void)state;
	lm_pattern_torus(&pattern, 1, 2, 4, 1); /* a cube: 48 symmetries */
	assert_int_equal(different_embeddings(), 40320 / 48);
	lm_pattern_torus(&pattern, 1, 1, 5, 1); /* a ring: 10 */
	assert_int_equal(different_embeddings(), 120 / 10);
	lm_pattern_torus(&pattern, 1, 2, 3, 1); /* a prism: 12 */
	assert_int_equal(different_embeddings(), 720 / 12);
	lm_pattern_init(&pattern, 4); /* a path: 2, and with unequal ends 1 */
	for (uint32_t at = 0; at < 3; at++)
		lm_pattern_join(&pattern, at, at + 1, 1);
	assert_int_equal(different_embeddings(), 24 / 2);
	lm_pattern_join(&pattern, 0, 1, 1);
	assert_int_equal(different_embeddings(), 24);
}

/* -------------------------------------------------------------------- racks */

#define STATES 300

/* The instances are equal on each machine, and never change. */
static void racks_of_a_seed_are_always_the_same(void **state)
{
	uint64_t digest = 14695981039346656037U; /* FNV-1a, by words */

	(void)state;
	racks_walk_begin(&walk, 1);
	for (int at = 0; at < 10000; at++) {
		uint32_t rack = racks_walk_next(&walk);

		digest = (digest ^ rack) * 1099511628211U;
		digest = (digest ^ racks_free(&walk.racks, rack)) * 1099511628211U;
	}
	assert_int_equal(digest, RACKS_DIGEST);
}

static void plans_for_racks_are_plans(void **state)
{
	(void)state;
	lm_pattern_torus(&pattern, 1, 2, 4, 1);
	lm_pattern_prepare(&pattern);
	for (uint32_t links = 1; links <= 2; links++) {
		racks_walk_begin(&walk, 1);
		for (int at = 0; at < STATES; at++) {
			uint32_t rack = racks_walk_next(&walk);
			uint64_t free = racks_free(&walk.racks, rack);
			enum stitch_verdict verdict;

			racks_net(&walk.racks, rack, links, &net);
			verdict = lm_stitch(&stitch, &net, &pattern, free, ALL);
			assert_int_not_equal(verdict, STITCH_UNDECIDED);
			if (verdict == STITCH_FEASIBLE)
				check_plan(&net, free);
		}
	}
}

static void racks_without_a_plan_have_a_cut_for_every_embedding(void **state)
{
	uint32_t found = 0;

	(void)state;
	lm_pattern_torus(&pattern, 1, 2, 4, 1);
	lm_pattern_prepare(&pattern);
	racks_walk_begin(&walk, 1);
	while (found < 4) {
		uint32_t rack = racks_walk_next(&walk);
		uint64_t free = racks_free(&walk.racks, rack);

		racks_net(&walk.racks, rack, 1, &net);
		if (lm_stitch(&stitch, &net, &pattern, free, ALL) == STITCH_FEASIBLE)
			continue;
		found++;
		assert_int_equal(stitch.exhausted_count, 0);
		assert_int_equal(embeddings_unexplained(&net, free), 0);
	}
}

static void too_few_steps_are_no_proof(void **state)
{
	uint32_t undecided = 0;

	(void)state;
	lm_pattern_torus(&pattern, 1, 2, 4, 1);
	lm_pattern_prepare(&pattern);
	racks_walk_begin(&walk, 1);
	for (int at = 0; at < STATES; at++) {
		uint32_t rack = racks_walk_next(&walk);
		uint64_t free = racks_free(&walk.racks, rack);
		enum stitch_verdict hasty, sure;

		racks_net(&walk.racks, rack, 1, &net);
		hasty = lm_stitch(&stitch, &net, &pattern, free, 40);
		if (hasty == STITCH_FEASIBLE)
			check_plan(&net, free);
		undecided += hasty == STITCH_UNDECIDED;
		sure = lm_stitch(&stitch, &net, &pattern, free, ALL);
		assert_true(hasty == STITCH_UNDECIDED || hasty == sure);
	}
	assert_true(undecided > 0);
}

/* One of 17000 random racks: negotiation finds no routes, although there are some. */
static void routes_that_negotiation_misses_are_searched(void **state)
{
	static const uint8_t room[6][6] = {
		{ 0, 3, 4, 2, 0, 0 }, { 3, 0, 2, 4, 0, 1 }, { 0, 4, 0, 0, 2, 3 },
		{ 1, 1, 1, 0, 4, 4 }, { 3, 0, 4, 4, 0, 4 }, { 1, 2, 3, 3, 2, 0 },
	};
	static const uint8_t units[5][5] = {
		{ 0, 3, 3, 1, 0 }, { 3, 0, 2, 3, 1 }, { 3, 2, 0, 3, 3 },
		{ 1, 3, 3, 0, 3 }, { 0, 1, 3, 3, 0 },
	};

	(void)state;
	lm_net_init(&net, 6);
	for (uint32_t a = 0; a < 6; a++)
		for (uint32_t b = 0; b < 6; b++)
			lm_net_set_room(&net, a, b, room[a][b]);
	lm_pattern_init(&pattern, 5);
	for (uint32_t a = 0; a < 5; a++)
		for (uint32_t b = 0; b < a; b++) {
			lm_pattern_add(&pattern, a, b, units[a][b]);
			lm_pattern_add(&pattern, b, a, units[b][a]);
		}
	lm_pattern_prepare(&pattern);
	/* The search tries all embeddings, each by negotiation only. */
	assert_int_equal(lm_stitch(&stitch, &net, &pattern, net_all(6), 2500), STITCH_UNDECIDED);
	assert_true(stitch.doubts_count > 0);
	assert_int_equal(lm_stitch(&stitch, &net, &pattern, net_all(6), ALL), STITCH_FEASIBLE);
	check_plan(&net, net_all(6));
}

/*
 * Too many sites for all their subsets. The search tries cuts around single sites, and enumeration
 * decides the rest.
 */
static void larger_networks_have_cuts_about_single_sites(void **state)
{
	const uint32_t sites = 24;
	bool found = false;

	(void)state;
	lm_net_init(&net, sites);
	for (uint32_t at = 0; at < sites; at++) {
		lm_net_set_room(&net, at, (at + 1) % sites, 1);
		lm_net_set_room(&net, (at + 1) % sites, at, 1);
	}
	lm_pattern_torus(&pattern, 1, 1, 4, 1);
	lm_pattern_prepare(&pattern);
	assert_int_equal(lm_stitch(&stitch, &net, &pattern, net_all(sites), ALL), STITCH_FEASIBLE);
	check_plan(&net, net_all(sites));
	/* Only two paths leave a site of a ring, not three. */
	lm_pattern_torus(&pattern, 1, 2, 3, 1);
	lm_pattern_prepare(&pattern);
	assert_int_equal(lm_stitch(&stitch, &net, &pattern, 0x3f, ALL), STITCH_INFEASIBLE);
	assert_int_equal(embeddings_unexplained(&net, 0x3f), 0);
	for (uint32_t cut = 0; cut < stitch.cuts.count; cut++)
		found |= stitch.cuts.list[cut].room == 2;
	assert_true(found);
}

/* Two links of the ring share the middle of a line, which has capacity for one. */
static void wide_demands_are_added_up(void **state)
{
	(void)state;
	lm_net_init(&net, 6);
	for (uint32_t at = 0; at < 5; at++) {
		if (at == 3) /* the last two sites are apart: enough capacity, but elsewhere */
			continue;
		lm_net_set_room(&net, at, at + 1, NET_ROOM);
		lm_net_set_room(&net, at + 1, at, NET_ROOM);
	}
	lm_pattern_torus(&pattern, 1, 1, 4, 140);
	lm_pattern_prepare(&pattern);
	assert_int_equal(lm_stitch(&stitch, &net, &pattern, 0xf, ALL), STITCH_INFEASIBLE);
	lm_pattern_torus(&pattern, 1, 1, 4, 127);
	lm_pattern_prepare(&pattern);
	assert_int_equal(lm_stitch(&stitch, &net, &pattern, 0xf, ALL), STITCH_FEASIBLE);
	check_plan(&net, 0xf);
}

static void fewer_free_sites_than_slots_are_refused_at_once(void **state)
{
	(void)state;
	lm_pattern_torus(&pattern, 1, 2, 4, 1);
	lm_pattern_prepare(&pattern);
	racks_walk_begin(&walk, 1);
	racks_net(&walk.racks, racks_walk_next(&walk), 2, &net);
	assert_int_equal(lm_stitch(&stitch, &net, &pattern, 0x7f, 0), STITCH_INFEASIBLE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(embeddings_that_are_alike_are_searched_once),
		cmocka_unit_test(small_ones_are_decided_as_by_trying_everything),
		cmocka_unit_test(shared_sites_are_decided_as_by_trying_everything),
		cmocka_unit_test(racks_of_a_seed_are_always_the_same),
		cmocka_unit_test(plans_for_racks_are_plans),
		cmocka_unit_test(racks_without_a_plan_have_a_cut_for_every_embedding),
		cmocka_unit_test(too_few_steps_are_no_proof),
		cmocka_unit_test(routes_that_negotiation_misses_are_searched),
		cmocka_unit_test(larger_networks_have_cuts_about_single_sites),
		cmocka_unit_test(wide_demands_are_added_up),
		cmocka_unit_test(fewer_free_sites_than_slots_are_refused_at_once),
	};

	return cmocka_run_group_tests_name("stitch", tests, NULL, NULL);
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Paths for running circuits and for requested ones, in random networks. Found paths are checked
 * hop by hop, and refusals are compared with all cuts and all paths.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../bench/random.h"
#include "../defrag/reroute.h"

#define SITES 8

static struct reroute *reroute;

/* ----------------------------------------------------------------------- nets */

/* A ring in both directions, which connects all sites, and links across it. */
static void make_net(uint64_t *seed, uint32_t sites, uint32_t across)
{
	lm_net_init(&reroute->room, sites);
	for (uint32_t site = 0; site < sites; site++) {
		lm_net_set_room(&reroute->room, site, (site + 1) % sites,
				1 + random_below(seed, 3));
		lm_net_set_room(&reroute->room, (site + 1) % sites, site,
				1 + random_below(seed, 3));
	}
	for (uint32_t at = 0; at < across; at++) {
		uint32_t from = random_below(seed, sites), to = random_below(seed, sites);

		if (from != to)
			lm_net_set_room(&reroute->room, from, to, 1 + random_below(seed, 3));
	}
	reroute->through = net_all(sites);
	reroute->running = 0;
}

/* A circuit on a random path in the free capacity @room, from a site to any other. */
static void run_one(uint64_t *seed, struct net *room)
{
	struct flow *flow = &reroute->flows[reroute->running];
	uint32_t at = random_below(seed, room->sites);
	uint64_t seen = 1ULL << at;

	*flow = (struct flow){ .running = true, .through = reroute->through };
	flow->from = flow->was.sites[0] = (uint8_t)at;
	for (uint32_t hops = 1 + random_below(seed, 4); hops && room->out[at] & ~seen; hops--) {
		uint64_t next = room->out[at] & ~seen;

		for (uint32_t skip = random_below(seed, net_count(next)); skip; skip--)
			next &= next - 1;
		lm_net_take(room, at, net_first(next), 1);
		at = net_first(next);
		seen |= 1ULL << at;
		flow->was.sites[++flow->was.hops] = (uint8_t)at;
	}
	flow->to = (uint8_t)at;
	flow->goes = flow->was;
	reroute->running += flow->was.hops > 0;
}

static void make_flows(uint64_t *seed, uint32_t running, uint32_t wanted)
{
	struct net room = reroute->room;

	while (running--)
		run_one(seed, &room);
	lm_reroute_begin(reroute);
	while (reroute->count < reroute->running + wanted) {
		uint32_t from = random_below(seed, room.sites), to = random_below(seed, room.sites);

		if (from != to)
			assert_true(lm_reroute_add(reroute, from, to, 0));
	}
}

/* Each flow has a path from its beginning to its end, and no link exceeds its capacity. */
static void check_paths(void)
{
	struct net left = reroute->room;

	for (uint32_t at = 0; at < reroute->count; at++) {
		const struct way *way = &reroute->flows[at].goes;
		uint64_t seen = 1ULL << way->sites[0];

		assert_int_equal(way->sites[0], reroute->flows[at].from);
		assert_int_equal(way->sites[way->hops], reroute->flows[at].to);
		for (uint32_t hop = 0; hop < way->hops; hop++) {
			assert_false(seen >> way->sites[hop + 1] & 1);
			seen |= 1ULL << way->sites[hop + 1];
			assert_true(left.room[way->sites[hop]][way->sites[hop + 1]] > 0);
			lm_net_take(&left, way->sites[hop], way->sites[hop + 1], 1);
		}
	}
}

/* Check whether the demand out of some set of sites exceeds its capacity. */
static bool some_cut_is_violated(void)
{
	for (uint64_t set = 1; set < net_all(reroute->room.sites); set++) {
		uint32_t wanted = 0;

		for (uint32_t at = 0; at < reroute->count; at++)
			wanted += set >> reroute->flows[at].from & 1 &&
				  !(set >> reroute->flows[at].to & 1);
		if (wanted > lm_net_room_out(&reroute->room, set))
			return true;
	}
	return false;
}

static bool have_ways(void)
{
	uint64_t steps = UINT64_MAX;

	switch (lm_reroute_exhaust(reroute, UINT32_MAX, &steps)) {
	case ROUTES_FOUND:
		check_paths();
		return true;
	default:
		return false;
	}
}

/* ---------------------------------------------------------------------- proofs */

static void refuted_requests_have_no_routes(void **state)
{
	uint32_t refuted = 0, have = 0, doubts = 0;
	uint64_t seed = 1;

	(void)state;
	for (uint32_t round = 0; round < 2000; round++) {
		uint32_t across = random_below(&seed, 6), sites = 4 + random_below(&seed, 3);
		uint32_t wanted, running;
		bool have_some;

		make_net(&seed, sites, across);
		wanted = 2 + random_below(&seed, 6);
		running = random_below(&seed, 5);
		make_flows(&seed, running, wanted);
		have_some = have_ways();
		have += have_some;
		if (!lm_reroute_refute(reroute)) {
			doubts += !have_some;
			continue;
		}
		assert_false(have_some);
		assert_true(lm_reroute_refuted(reroute));
		refuted++;
	}
	print_message("%u have ways, %u are refuted, %u have shares of ways only\n", have, refuted,
		      doubts);
	assert_true(have > 500 && refuted > 500);
}

static void every_cut_that_is_violated_is_found(void **state)
{
	uint32_t violated = 0;
	uint64_t seed = 2;

	(void)state;
	while (violated < 200) {
		make_net(&seed, 2 * SITES, 4 * SITES);
		make_flows(&seed, 2 * SITES, 2 * SITES + random_below(&seed, SITES));
		if (!some_cut_is_violated())
			continue;
		violated++;
		assert_true(lm_reroute_refuted(reroute) || lm_reroute_refute(reroute));
	}
}

/*
 * Usually one cut proves the refusal, and is written as such, without values of the search for
 * lengths.
 */
static void most_cuts_are_zeros_and_ones(void **state)
{
	uint32_t cuts = 0, longest = 0, coarse = 0;
	uint64_t seed = 3;

	(void)state;
	for (; cuts < 100; cuts++) {
		const struct lengths *lengths;

		do {
			make_net(&seed, SITES, SITES);
			make_flows(&seed, SITES, SITES);
		} while (!some_cut_is_violated() || lm_reroute_refuted(reroute));
		lengths = &reroute->metrics[reroute->metrics_count].lengths;
		assert_true(lm_reroute_refute(reroute));
		longest = 0;
		for (uint32_t from = 0; from < SITES; from++)
			for (uint32_t to = 0; to < SITES; to++)
				if (lengths->of[from][to] > longest)
					longest = lengths->of[from][to];
		assert_true(longest > 0);
		coarse += longest == 1;
	}
	print_message("of 100 refuted by cuts, %u are so by zeros and ones\n", coarse);
	assert_true(coarse > 50);
}

/* A proof counts, even without space for keeping it for other requests. */
static void a_refutation_needs_no_room_among_the_metrics(void **state)
{
	uint64_t seed = 4;

	(void)state;
	do {
		make_net(&seed, SITES, SITES);
		make_flows(&seed, SITES, SITES);
	} while (!some_cut_is_violated() || lm_reroute_refuted(reroute));
	reroute->metrics_count = REROUTE_METRICS;
	assert_true(lm_reroute_refute(reroute));
	assert_int_equal(reroute->metrics_count, REROUTE_METRICS);
}

/* Hops refute a request without any path. */
static void disconnected_requests_are_refuted(void **state)
{
	(void)state;
	lm_net_init(&reroute->room, 3);
	lm_net_set_room(&reroute->room, 0, 1, 1);
	reroute->through = net_all(3);
	reroute->running = 0;
	lm_reroute_begin(reroute);
	assert_true(lm_reroute_add(reroute, 0, 2, 0));
	assert_false(lm_reroute_negotiate(reroute));
	assert_true(lm_reroute_refuted(reroute));
	assert_true(lm_reroute_refute(reroute));
}

/* Running circuits can stay and keep their link, or take another path and leave it. */
static void running_circuits_block_while_they_stay(void **state)
{
	(void)state;
	lm_net_init(&reroute->room, 3);
	lm_net_set_room(&reroute->room, 0, 1, 1);
	reroute->through = net_all(3);
	reroute->running = 1;
	reroute->flows[0] = (struct flow){ .to = 1, .running = true, .through = net_all(3) };
	reroute->flows[0].was = reroute->flows[0].goes =
		(struct way){ .hops = 1, .sites = { 0, 1 } };
	lm_reroute_begin(reroute);
	assert_true(lm_reroute_add(reroute, 0, 1, 0));
	assert_true(lm_reroute_refute_still(reroute));
	lm_net_set_room(&reroute->room, 0, 2, 1);
	lm_net_set_room(&reroute->room, 2, 1, 1);
	lm_reroute_begin(reroute);
	assert_true(lm_reroute_add(reroute, 0, 2, 0));
	assert_false(lm_reroute_refute_still(reroute));
	assert_true(lm_reroute_add(reroute, 2, 1, 0));
	assert_false(lm_reroute_refute_still(reroute));
	assert_true(lm_reroute_add(reroute, 0, 1, 0));
	assert_true(lm_reroute_refute_still(reroute));
}

/* ------------------------------------------------------------------------ ways */

/*
 * If negotiation between circuits does not end, the paths of their fractional shares lead to a
 * solution.
 */
static void fractional_routes_find_routes_that_negotiation_misses(void **state)
{
	uint32_t shown = 0, missed = 0;
	uint64_t seed = 5;

	(void)state;
	while (shown < 10) {
		make_net(&seed, 2 * SITES, 2 * SITES);
		make_flows(&seed, 2 * SITES, SITES + random_below(&seed, 2 * SITES));
		if (lm_reroute_negotiate(reroute)) {
			check_paths();
			continue;
		}
		if (lm_reroute_refuted(reroute) || lm_reroute_refute(reroute))
			continue;
		if (lm_reroute_negotiate_shares(reroute)) {
			check_paths();
			shown++;
		} else {
			missed++;
		}
	}
	print_message("shares show the ways of %u, not of %u\n", shown, missed);
	assert_true(missed < shown);
}

/* Many paths of many bundles: paths beyond the capacity are not lost, and the answer is valid. */
static void too_many_routes_are_refused(void **state)
{
	uint64_t seed = 6;

	(void)state;
	make_net(&seed, NET_SITES, 8 * NET_SITES);
	make_flows(&seed, 0, REROUTE_FLOWS);
	assert_false(lm_reroute_add(reroute, 0, 1, 0));
	assert_true(lm_reroute_refute(reroute));
	for (uint32_t from = 0; from < NET_SITES; from++)
		for (uint32_t to = 0; to < NET_SITES; to++)
			if (from != to)
				lm_net_set_room(&reroute->room, from, to, 1);
	assert_false(lm_reroute_refute(reroute));
	assert_int_equal(reroute->shares_count, REROUTE_SHARES);
	assert_true(lm_reroute_negotiate_shares(reroute));
	check_paths();
}

static int begin_all(void **state)
{
	(void)state;
	reroute = calloc(1, sizeof(*reroute));
	return !reroute;
}

static int end_all(void **state)
{
	(void)state;
	free(reroute);
	return 0;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(refuted_requests_have_no_routes),
		cmocka_unit_test(every_cut_that_is_violated_is_found),
		cmocka_unit_test(most_cuts_are_zeros_and_ones),
		cmocka_unit_test(a_refutation_needs_no_room_among_the_metrics),
		cmocka_unit_test(disconnected_requests_are_refuted),
		cmocka_unit_test(running_circuits_block_while_they_stay),
		cmocka_unit_test(fractional_routes_find_routes_that_negotiation_misses),
		cmocka_unit_test(too_many_routes_are_refused),
	};

	return cmocka_run_group_tests_name("reroute", tests, begin_all, end_all);
}

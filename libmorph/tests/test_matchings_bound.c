// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The checker of matchings recomputes bounds and distances, and proves refusals. The tests compare
 * it with all states of small meshes and with a search of routes that relaxes all lengths.
 */
#include <stdio.h>

#include "../util/mix.h"
#include "faults.h"
#include "small_meshes.h"

/* Published sums of the shortest routes, for ports that are spread evenly over the rim. */
static void golden_distances(void **state)
{
	static const struct {
		uint32_t size, endpoints, distance;
		const char *text;
	} rows[] = {
		{ 3, 8, 190, "the shortest routes have 190 elements, not 191" },
		{ 5, 16, 1144, "the shortest routes have 1144 elements, not 1145" },
		{ 9, 32, 7684, "the shortest routes have 7684 elements, not 7685" },
		{ 17, 64, 55476, "the shortest routes have 55476 elements, not 55477" },
	};
	static uint16_t states[1000];

	(void)state;
	for (uint32_t row = 0; row < 4; row++) {
		uint32_t ports[64], none[2] = { 0 };
		struct morph_check_matchings_input in = {
			.kind = MORPH_CHECK_PAIRS,
			.width = rows[row].size,
			.height = rows[row].size,
			.endpoints = rows[row].endpoints,
			.tx = ports,
			.rounds = 1,
			.round_first = none,
			.states = states,
			.bound = rows[row].endpoints - 1,
			.distance = rows[row].distance,
		};

		for (uint32_t at = 0; at < in.endpoints; at++)
			ports[at] = at * 8 * in.width / in.endpoints;
		assert_int_equal(morph_check_matchings(&in, report, sizeof(report)), -EBADMSG);
		assert_string_equal(report, "endpoints 0 and 1 never meet");
		in.distance++;
		assert_int_equal(morph_check_matchings(&in, report, sizeof(report)), -EBADMSG);
		assert_string_equal(report, rows[row].text);
	}
}

static void bounds_are_recomputed(void **state)
{
	uint32_t lengths[40];

	(void)state;
	mutant = *base;
	mutant.in.bound = 6;
	refused(&mutant, EBADMSG, "6 endpoints need 5 rounds, not 6");
	mutant.in.bound_kind = MORPH_CHECK_EXHAUSTIVE + 1;
	refused(&mutant, EBADMSG, "a bound of kind 5 has no proof");
	mutant.in.bound_kind = MORPH_CHECK_DISTANCE;
	mutant.in.bound = 4;
	accepted(&mutant);
	mutant.in.bound = 5;
	refused(&mutant, EBADMSG,
		"the lengths 62 of routes and 20 of a round prove 4 rounds, not 5");
	mutant.in.ports_chosen = true;
	refused(&mutant, EBADMSG,
		"a bound of kind 1 does not hold for other ports than the chosen ones");
	mutant = *base;
	mutant.in.bound_kind = MORPH_CHECK_FRACTIONAL;
	mutant.in.bound = 4;
	mutant.in.lengths = lengths;
	mutant.in.lengths_count = 39;
	refused(&mutant, EBADMSG, "39 lengths of 40 arms");
	mutant.in.lengths_count = 40;
	memset(lengths, 0, sizeof(lengths));
	refused(&mutant, EBADMSG, "all lengths are 0");
	for (uint32_t arm = 0; arm < 40; arm++)
		lengths[arm] = 1;
	accepted(&mutant);
	lengths[0] = 1000;
	refused(&mutant, EBADMSG,
		"the lengths 1063 of routes and 1019 of a round prove 2 rounds, not 4");
}

static void refusals_are_proven(void **state)
{
	(void)state;
	mutant = *base;
	mutant.in.rounds = 0;
	mutant.in.limit = 4;
	accepted(&mutant);
	mutant.in.limit = 5;
	refused(&mutant, EBADMSG, "a bound of 5 rounds does not exclude 5 rounds");
	mutant.in.limit = 0;
	refused(&mutant, EBADMSG, "the refusal has no pair: endpoints 0 and 0");
	mutant.in.dst = 6;
	refused(&mutant, EBADMSG, "the refusal has no pair: endpoints 0 and 6");
	mutant.in.dst = 1;
	refused(&mutant, EBADMSG, "endpoint 0 has a route to endpoint 1 of 2 elements");
	mutant.in.hops = 1;
	accepted(&mutant);
}

/* Whether an element of the mutant can be in a state. */
static bool usable(uint32_t element, uint32_t state)
{
	if (mutant.in.failed_count && mutant.failed == element)
		return false;
	return !mutant.in.stuck_count || mutant.stuck != element || mutant.stuck_state == state;
}

/* Shortest routes from a port under lengths by arm. Relaxes until no route gets shorter. */
static void relax_all(const uint32_t *lengths, uint32_t port, uint64_t *arrival)
{
	const struct mesh *mesh = mutant.mesh;
	uint64_t length[PLACES];
	bool changed = true;

	memset(length, 0x7f, sizeof(length));
	memset(arrival, 0x7f, PORTS * sizeof(*arrival));
	length[mesh->entry[port]] = 0;
	while (changed) {
		changed = false;
		for (uint32_t at = 0; at < 8 * mesh->elements; at++) {
			uint32_t place = at / 2, cross = at % 2, element = place / 4;
			uint32_t arm = cross ? place % 2 : place % 4 / 2;
			uint32_t next = mesh->next[place ^ (1 + cross)];
			uint64_t *known = next & AT_PORT ? &arrival[next & ~AT_PORT] :
							   &length[next];
			uint64_t found = length[place] + lengths[4 * element + 2 * cross + arm];

			if (!usable(element, cross) || found >= *known)
				continue;
			*known = found;
			changed = true;
		}
	}
}

/* The bound that lengths prove; 0: some pair has no route. */
static uint64_t proven_rounds(const uint32_t *lengths)
{
	uint64_t sum = 0, capacity = 0, arrival[PORTS];

	for (uint32_t a = 0; a < mutant.in.endpoints; a++) {
		relax_all(lengths, mutant.tx[a], arrival);
		for (uint32_t b = a + 1; b < mutant.in.endpoints; b++) {
			if (arrival[mutant.tx[b]] >> 32)
				return 0;
			sum += arrival[mutant.tx[b]];
		}
	}
	for (uint32_t element = 0; element < mutant.mesh->elements; element++) {
		const uint32_t *arms = lengths + (size_t)4 * element;
		uint32_t bar = usable(element, 0) ? arms[0] + arms[1] : 0;
		uint32_t cross = usable(element, 1) ? arms[2] + arms[3] : 0;

		capacity += bar > cross ? bar : cross;
	}
	return capacity ? (sum + capacity - 1) / capacity : 0;
}

/* Lengths by chance, with a healthy mesh, a failed element, or a stuck one. */
static void any_lengths_prove_a_bound(void **state)
{
	uint32_t lengths[40], seed = 1, proven = 0, unreachable = 0;

	(void)state;
	for (uint32_t trial = 0; trial < 400; trial++) {
		uint64_t rounds;

		mutant = *base;
		mutant.in.endpoints = 3 + trial % 4;
		mutant.in.rounds = 1;
		mutant.round_first[1] = 0;
		mutant.in.bound_kind = MORPH_CHECK_FRACTIONAL;
		mutant.in.lengths = lengths;
		mutant.in.lengths_count = 40;
		for (uint32_t arm = 0; arm < 40; arm++) {
			seed = seed * 1664525 + 1013904223;
			lengths[arm] = 1 + (seed >> 24) * (seed >> 16 & 3);
		}
		mutant.in.failed_count = trial % 3 == 1;
		mutant.in.stuck_count = trial % 3 == 2;
		mutant.failed = mutant.stuck = (seed >> 8) % 10;
		mutant.stuck_state = seed >> 20 & 1;
		rounds = proven_rounds(lengths);
		mutant.in.bound = (uint32_t)rounds;
		assert_int_equal(check(&mutant), -EBADMSG);
		unreachable += !rounds;
		assert_true(!rounds == !!strstr(report, "has no route"));
		if (!rounds)
			continue;
		assert_null(strstr(report, "prove"));
		mutant.in.bound++;
		assert_int_equal(check(&mutant), -EBADMSG);
		assert_non_null(strstr(report, " of a round prove "));
		/* The base has five rounds. */
		assert_true(mutant.in.failed_count || mutant.in.stuck_count || rounds <= 5);
		proven++;
	}
	assert_true(proven > 100 && unreachable > 10);
}

/* Write which port each port is joined to in some setting, with the faults of the mutant. */
static void join_ports(bool joined[PORTS][PORTS])
{
	memset(joined, 0, PORTS * sizeof(*joined));
	for (uint32_t setting = 0; setting < 1U << mutant.mesh->elements; setting++) {
		for (uint32_t port = 0; port < mutant.mesh->ports; port++) {
			uint32_t places[PLACES], count, hop = 0, other;

			other = follow(mutant.mesh, setting, port, places, &count);
			while (hop < count &&
			       usable(places[hop] / 4, setting >> places[hop] / 4 & 1))
				hop++;
			if (hop == count)
				joined[port][other] = true;
		}
	}
}

/* Whether a walk joins the ports of endpoints 0 and 1, which can need two states of an element. */
static bool has_walk(void)
{
	uint32_t lengths[4 * ELEMENTS];
	uint64_t arrival[PORTS];

	for (uint32_t arm = 0; arm < 4 * ELEMENTS; arm++)
		lengths[arm] = 1;
	relax_all(lengths, mutant.tx[0], arrival);
	return !(arrival[mutant.tx[1]] >> 32);
}

/* Ask to refuse two endpoints, with an element that failed or is stuck in a state. */
static void ask_separated(const struct mesh *mesh, uint32_t fault)
{
	memset(&mutant, 0, sizeof(mutant));
	mutant.mesh = mesh;
	mutant.in = (struct morph_check_matchings_input){
		.kind = MORPH_CHECK_PAIRS,
		.width = mesh->width,
		.height = mesh->height,
		.endpoints = 2,
		.dst = 1,
		.failed_count = fault % 3 == 2,
		.stuck_count = fault % 3 < 2,
	};
	mutant.failed = mutant.stuck = fault / 3;
	mutant.stuck_state = fault % 3;
}

/* The refusal of a pair is right where no setting joins it, even if walks do. */
static void unreachable_pairs(void **state)
{
	uint32_t separated = 0, joined = 0, walks = 0;

	(void)state;
	for (uint32_t number = 0; number < 66; number++) {
		const struct mesh *mesh = &meshes[number < 30 ? 1 : 2];
		bool settings[PORTS][PORTS];

		ask_separated(mesh, number < 30 ? number : number - 30);
		join_ports(settings);
		for (uint32_t pair = 0; pair < mesh->ports * mesh->ports; pair++) {
			mutant.tx[0] = pair / mesh->ports;
			mutant.tx[1] = pair % mesh->ports;
			if (mutant.tx[0] == mutant.tx[1])
				continue;
			if (settings[mutant.tx[0]][mutant.tx[1]]) {
				assert_int_equal(check(&mutant), -EBADMSG);
				joined++;
				continue;
			}
			accepted(&mutant);
			separated++;
			walks += has_walk();
		}
	}
	assert_true(separated > 100 && joined > 1000 && walks > 10);
}

/* Whether some setting joins the ports of endpoints 0 and 1 in both directions. */
static bool joins_both_ways(void)
{
	for (uint32_t setting = 0; setting < 1U << mutant.mesh->elements; setting++) {
		uint32_t places[2 * PLACES], there, back, hop = 0;

		if (follow(mutant.mesh, setting, mutant.tx[0], places, &there) != mutant.rx[1] ||
		    follow(mutant.mesh, setting, mutant.tx[1], places + there, &back) !=
			    mutant.rx[0])
			continue;
		while (hop < there + back &&
		       usable(places[hop] / 4, setting >> places[hop] / 4 & 1))
			hop++;
		if (hop == there + back)
			return true;
	}
	return false;
}

/* The refusal of a duplex pair is right where no setting joins it both ways. */
static void unreachable_duplex_pairs(void **state)
{
	uint32_t separated = 0, joined = 0, ports[PORTS] = { 0 };
	uint64_t random = 1;

	(void)state;
	for (uint32_t draw = 0; draw < 600; draw++) {
		ask_separated(&meshes[1], draw % 30);
		mutant.in.kind = MORPH_CHECK_DUPLEX;
		for (uint32_t at = 0; at < mutant.mesh->ports; at++) {
			uint32_t other = mix_below(&random, at + 1);

			ports[at] = ports[other];
			ports[other] = at;
		}
		memcpy(mutant.tx, ports, 2 * sizeof(*ports));
		memcpy(mutant.rx, ports + 2, 2 * sizeof(*ports));
		if (joins_both_ways()) {
			assert_int_equal(check(&mutant), -EBADMSG);
			assert_non_null(strstr(report, "one round can join endpoints 0 and 1"));
			joined++;
		} else {
			accepted(&mutant);
			separated++;
		}
	}
	assert_true(separated > 50 && joined > 50);
}

/* A walk passes element 11 of 3x1 in two states, and the checker needs 24 places to refuse it. */
static void too_many_routes_are_not_tried(void **state)
{
	(void)state;
	ask_separated(&meshes[2], 3 * 11 + 2);
	mutant.tx[0] = 6;
	mutant.tx[1] = 7;
	accepted(&mutant);
	mutant.in.tries = 10;
	refused(&mutant, EBADMSG, "too many routes of endpoints 0 and 1 to try all");
}

/* A refusal of n-1 rounds for any ports. Its own ports have no meaning. */
static void ask_any_ports(const struct mesh *mesh, uint32_t endpoints)
{
	memset(&mutant, 0, sizeof(mutant));
	mutant.mesh = mesh;
	mutant.in = (struct morph_check_matchings_input){
		.kind = MORPH_CHECK_PAIRS,
		.width = mesh->width,
		.height = mesh->height,
		.endpoints = endpoints,
		.ports_chosen = true,
		.bound = endpoints,
		.bound_kind = MORPH_CHECK_EXHAUSTIVE,
		.limit = endpoints - 1,
	};
	for (uint32_t at = 0; at < endpoints; at++)
		mutant.tx[at] = at;
}

/* A refusal of seven rounds at given ports of two cells, where eight are necessary. */
static void ask_seven_rounds(const uint32_t *weights, size_t count)
{
	static const uint32_t ports[] = { 0, 1, 2, 5, 7, 9 };

	ask_any_ports(&meshes[1], 6);
	memcpy(mutant.tx, ports, sizeof(ports));
	mutant.in.tx = mutant.tx;
	mutant.in.ports_chosen = false;
	mutant.in.bound = 8;
	mutant.in.limit = 7;
	mutant.in.lengths = weights;
	mutant.in.lengths_count = count;
}

/* Weights save tries, and prove no more than the settings allow. */
static void weights_of_pairs_prove_a_bound(void **state)
{
	static const uint32_t good[15] = { 1000, 122, 122, 897, 898, 903, 236, 237,
					   256,	 136, 898, 897, 903, 806, 135 };
	uint32_t weights[15] = { 0 };

	(void)state;
	ask_seven_rounds(good, 15);
	accepted(&mutant);
	mutant.in.tries = 1024; /* the settings alone */
	accepted(&mutant);
	mutant.in.lengths_count = 0;
	refused(&mutant, EBADMSG, "too many tries to prove that 7 rounds are too few");
	mutant.in.tries = 0;
	accepted(&mutant);
	ask_seven_rounds(weights, 15);
	accepted(&mutant);
	mutant.in.bound = 9;
	mutant.in.limit = 8;
	refused(&mutant, EBADMSG, "all pairs can meet in 8 rounds");
	mutant.in.lengths = good;
	refused(&mutant, EBADMSG, "all pairs can meet in 8 rounds");
	mutant.in.lengths_count = 14;
	refused(&mutant, EBADMSG, "14 weights of 15 pairs");
	weights[3] = 1U << 20;
	ask_seven_rounds(weights, 15);
	refused(&mutant, EBADMSG, "the weight 1048576 of pair 3 is not below 1048576");
}

/* Published results: which meshes have n-1 rounds at some ports. */
static void proofs_for_any_ports(void **state)
{
	(void)state;
	ask_any_ports(&meshes[0], 4);
	refused(&mutant, EBADMSG, "all pairs can meet in 3 rounds");
	ask_any_ports(&meshes[0], 6);
	accepted(&mutant);
	ask_any_ports(&meshes[1], 6);
	refused(&mutant, EBADMSG, "all pairs can meet in 5 rounds");
	ask_any_ports(&meshes[1], 8);
	accepted(&mutant);
	ask_any_ports(&meshes[2], 8);
	accepted(&mutant);
}

/* A refusal of n rounds of pairs of an odd number n of endpoints, for any ports. */
static void ask_odd(const struct mesh *mesh, uint32_t endpoints)
{
	ask_any_ports(mesh, endpoints);
	mutant.in.bound = endpoints + 1;
	mutant.in.limit = endpoints;
}

/* Seven endpoints on two cells have eight rounds. */
static void proofs_for_odd_numbers_of_endpoints(void **state)
{
	(void)state;
	ask_odd(&meshes[1], 5);
	refused(&mutant, EBADMSG, "all pairs can meet in 5 rounds");
	ask_odd(&meshes[1], 7);
	accepted(&mutant);
	mutant.in.bound = 9;
	mutant.in.limit = 8;
	refused(&mutant, EBADMSG, "all pairs can meet in 8 rounds");
	ask_odd(&meshes[1], 9);
	accepted(&mutant);
	mutant.in.tries = 2000;
	refused(&mutant, EBADMSG, "too many tries to prove that 9 rounds are too few");
	ask_odd(&meshes[2], 7);
	accepted(&mutant);
	mutant.in.tries = 100000;
	refused(&mutant, EBADMSG, "too many tries to prove that 7 rounds are too few");
}

/* Whether the checker refutes the rounds at these ports of the mutant. */
static bool refuted_at(uint32_t mask)
{
	uint32_t count = 0;

	mutant.in.ports_chosen = false;
	for (uint32_t port = 0; mask >> port; port++)
		if (mask >> port & 1)
			mutant.tx[count++] = port;
	return !check(&mutant) || strstr(report, "has no route");
}

/* A refusal for any ports is right where it is right for all given ports, with each fault. */
static void proofs_for_odd_numbers_agree_with_given_ports(void **state)
{
	const struct mesh *mesh = &meshes[0];
	uint32_t refuted = 0, found = 0;

	(void)state;
	for (uint32_t row = 0; row < 3 * 3 * mesh->elements; row++) {
		uint32_t endpoints = 3 + 2 * (row % 3), fault = row / 3;
		bool all = true;
		int ret;

		ask_separated(mesh, fault);
		mutant.in.endpoints = endpoints;
		mutant.in.bound = endpoints + 1;
		mutant.in.bound_kind = MORPH_CHECK_EXHAUSTIVE;
		mutant.in.limit = endpoints;
		for (uint32_t mask = 0; mask < 1U << mesh->ports && all; mask++)
			if ((uint32_t)__builtin_popcount(mask) == endpoints)
				all = refuted_at(mask);
		mutant.in.ports_chosen = true;
		ret = check(&mutant);
		assert_int_equal(ret, all ? 0 : -EBADMSG);
		refuted += all;
		found += !all;
		if (ret)
			assert_non_null(strstr(report, "all pairs can meet in "));
	}
	assert_true(refuted > 10 && found > 5);
}

/* Circuits of each kind, and more rounds than n-1. */
static void proofs_for_any_ports_of_each_kind(void **state)
{
	(void)state;
	ask_any_ports(&meshes[0], 5);
	mutant.in.limit = 5;
	mutant.in.bound = 6;
	accepted(&mutant);
	mutant.in.limit = 0;
	mutant.in.bound = 11;
	accepted(&mutant);
	mutant.in.bound = 10;
	refused(&mutant, EBADMSG,
		"a bound of 10 rounds does not exclude a round for each of 10 pairs");
	ask_any_ports(&meshes[1], 5);
	mutant.in.bound = 6;
	mutant.in.limit = 5;
	refused(&mutant, EBADMSG, "all pairs can meet in 5 rounds");
	for (uint32_t kind = MORPH_CHECK_DIRECTED; kind <= MORPH_CHECK_DUPLEX; kind++) {
		ask_any_ports(&meshes[0], 4);
		mutant.in.kind = kind;
		for (uint32_t at = 0; at < 4; at++)
			mutant.rx[at] = 4 + at;
		refused(&mutant, EBADMSG, "all pairs can meet in 3 rounds");
	}
}

/* Some legal ports for each kind of circuits. */
static void set_any_ports(void)
{
	bool pairs = mutant.in.kind == MORPH_CHECK_PAIRS;

	for (uint32_t at = 0; at < mutant.in.endpoints; at++) {
		mutant.tx[at] = pairs ? at : 2 * at;
		mutant.rx[at] = mutant.tx[at] + !pairs;
	}
}

/* A refusal of a number of rounds of some kind of circuits, for any ports. */
static void ask_kind(const struct mesh *mesh, uint32_t kind, uint32_t endpoints, uint32_t rounds)
{
	ask_any_ports(mesh, endpoints);
	mutant.in.kind = kind;
	mutant.in.bound = rounds + 1;
	mutant.in.limit = rounds;
	set_any_ports();
}

/* Ten endpoints on two cells have 16 rounds. Five of duplex circuits and six of directed have 6. */
static void hard_proofs_take_few_tries(void **state)
{
	(void)state;
	ask_kind(&meshes[1], MORPH_CHECK_PAIRS, 10, 15);
	mutant.in.tries = 8000000;
	accepted(&mutant);
	ask_kind(&meshes[1], MORPH_CHECK_PAIRS, 10, 16);
	refused(&mutant, EBADMSG, "all pairs can meet in 16 rounds");
	ask_kind(&meshes[1], MORPH_CHECK_DUPLEX, 5, 5);
	accepted(&mutant);
	ask_kind(&meshes[1], MORPH_CHECK_DUPLEX, 5, 6);
	refused(&mutant, EBADMSG, "all pairs can meet in 6 rounds");
	ask_kind(&meshes[1], MORPH_CHECK_DIRECTED, 6, 5);
	accepted(&mutant);
	ask_kind(&meshes[1], MORPH_CHECK_DIRECTED, 6, 6);
	refused(&mutant, EBADMSG, "all pairs can meet in 6 rounds");
	ask_kind(&meshes[2], MORPH_CHECK_DIRECTED, 5, 4);
	mutant.in.tries = 100000000;
	refused(&mutant, EBADMSG, "all pairs can meet in 4 rounds");
	mutant.in.tries = 200000;
	refused(&mutant, EBADMSG, "too many tries to prove that 4 rounds are too few");
}

/* Whether the checker refutes the rounds at all ports, for endpoints from @count on. */
static bool is_refuted(uint32_t count, uint32_t used)
{
	bool pairs = mutant.in.kind == MORPH_CHECK_PAIRS;

	if (count == mutant.in.endpoints)
		return !check(&mutant) || strstr(report, "has no route");
	for (uint32_t tx = count ? mutant.tx[count - 1] + 1 : 0; tx < mutant.mesh->ports; tx++)
		for (uint32_t rx = 0; rx < mutant.mesh->ports; rx++) {
			if ((rx == tx) != pairs || (used >> tx | used >> rx) & 1)
				continue;
			mutant.tx[count] = tx;
			mutant.rx[count] = rx;
			if (!is_refuted(count + 1, used | 1U << tx | 1U << rx))
				return false;
		}
	return true;
}

/* A refusal for any ports is right where it is right for all given ports, with each fault. */
static void proofs_of_each_kind_agree_with_given_ports(void **state)
{
	static const struct {
		uint32_t kind, endpoints, rounds;
	} rows[] = {
		{ MORPH_CHECK_DIRECTED, 2, 1 }, { MORPH_CHECK_DIRECTED, 3, 2 },
		{ MORPH_CHECK_DIRECTED, 3, 3 }, { MORPH_CHECK_DIRECTED, 4, 3 },
		{ MORPH_CHECK_DIRECTED, 4, 4 }, { MORPH_CHECK_DUPLEX, 2, 1 },
		{ MORPH_CHECK_DUPLEX, 3, 3 },	{ MORPH_CHECK_DUPLEX, 4, 3 },
		{ MORPH_CHECK_DUPLEX, 4, 4 },	{ MORPH_CHECK_PAIRS, 4, 4 },
		{ MORPH_CHECK_PAIRS, 4, 5 },	{ MORPH_CHECK_PAIRS, 5, 6 },
	};
	const struct mesh *mesh = &meshes[0];
	uint32_t refuted = 0, found = 0;

	(void)state;
	for (uint32_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++)
		for (uint32_t fault = 0; fault < 3 * mesh->elements; fault++) {
			bool all;
			int ret;

			ask_separated(mesh, fault);
			mutant.in.kind = rows[row].kind;
			mutant.in.endpoints = rows[row].endpoints;
			mutant.in.bound = rows[row].rounds + 1;
			mutant.in.bound_kind = MORPH_CHECK_EXHAUSTIVE;
			mutant.in.limit = rows[row].rounds;
			all = is_refuted(0, 0);
			set_any_ports();
			mutant.in.ports_chosen = true;
			ret = check(&mutant);
			assert_int_equal(ret, all ? 0 : -EBADMSG);
			if (ret)
				assert_non_null(strstr(report, "all pairs can meet in "));
			refuted += all;
			found += !all;
		}
	assert_true(refuted > 20 && found > 20);
}

static void proofs_have_limits(void **state)
{
	static const struct mesh large = { .width = 3, .height = 3 };
	static const struct mesh wide = { .width = 5, .height = 2 };
	uint32_t many[24];

	(void)state;
	ask_any_ports(&meshes[0], 6);
	mutant.in.tries = 50;
	refused(&mutant, EBADMSG, "too many tries to prove that 5 rounds are too few");
	for (uint32_t at = 0; at < 24; at++)
		many[at] = at ^ 1;
	ask_any_ports(&meshes[1], 2);
	mutant.in.kind = MORPH_CHECK_DIRECTED;
	mutant.in.ports_chosen = false;
	mutant.in.targets = many;
	mutant.rx[0] = 6;
	mutant.rx[1] = 7;
	refused(&mutant, EBADMSG, "an exhaustive bound does not hold for targets");
	ask_any_ports(&wide, 8);
	for (uint32_t at = 0; at < 24; at++)
		many[at] = at;
	mutant.in.tx = mutant.tx;
	mutant.in.failed = many;
	mutant.in.failed_count = 20;
	assert_int_equal(morph_check_matchings(&mutant.in, report, sizeof(report)), -EBADMSG);
	assert_string_equal(report, "the mesh has too many ports to try all: 28, at most 24");
	ask_any_ports(&large, 8);
	refused(&mutant, EBADMSG, "the elements have too many settings to try all");
	mutant.in.endpoints = 24;
	for (uint32_t at = 0; at < 24; at++)
		many[at] = at;
	mutant.in.tx = many;
	assert_int_equal(morph_check_matchings(&mutant.in, report, sizeof(report)), -EBADMSG);
	assert_string_equal(report, "24 endpoints have too many pairs to try all settings");
}

/* Random ports have n-1 rounds in the search of the test if the checker finds some. */
static void proofs_for_given_ports(void **state)
{
	uint32_t found = 0, refuted = 0;
	uint64_t random = 1;

	(void)state;
	for (uint32_t draw = 0; draw < 300; draw++) {
		uint32_t endpoints = draw % 2 ? 6 : 4;
		struct answer *answer;

		ask_any_ports(&meshes[1], endpoints);
		mutant.in.ports_chosen = false;
		for (uint32_t at = 0; at < endpoints; at++) {
			mutant.tx[at] = mix_below(&random, 12);
			for (uint32_t other = 0; other < at; other++)
				if (mutant.tx[other] == mutant.tx[at])
					at--;
		}
		answer = join_pairs(&meshes[1], mutant.tx, endpoints);
		if (!check(&mutant)) {
			assert_null(answer);
			refuted++;
		} else if (!strstr(report, "has no route")) {
			assert_non_null(strstr(report, "all pairs can meet in "));
			assert_non_null(answer);
			found++;
		}
		free(answer);
	}
	assert_true(found > 10 && refuted > 10);
}

static void memory_of_proofs_can_run_out(void **state)
{
	uint32_t failed = 0;

	(void)state;
	for (uint32_t chosen = 0; chosen < 6; chosen++) {
		ask_any_ports(&meshes[chosen == 1], 4 + chosen % 2 * 2 + chosen / 2);
		if (chosen == 3)
			ask_odd(&meshes[1], 7);
		if (chosen == 4)
			ask_kind(&meshes[1], MORPH_CHECK_PAIRS, 10, 15);
		if (chosen == 5)
			ask_kind(&meshes[1], MORPH_CHECK_DIRECTED, 6, 5);
		mutant.in.ports_chosen = chosen;
		for (uint32_t nth = 1;; nth++) {
			int ret;

			fault_at("memory", nth, ENOMEM);
			ret = check(&mutant);
			if (!fault_struck())
				break;
			assert_int_equal(ret, -ENOMEM);
			assert_string_equal(report, "out of memory");
			failed++;
		}
	}
	assert_true(failed > 20);
}

static void memory_can_run_out(void **state)
{
	static const uint32_t all[] = { 0, 1, 2, 3, 4, 5 };
	uint32_t failed = 0;
	struct answer *answer = new_set(&meshes[1], MORPH_CHECK_DIRECTED, all, 6);

	(void)state;
	cover_greedily(answer);
	for (uint32_t profile = 0; profile < 2; profile++) {
		if (profile)
			answer->in.profile =
				(struct morph_check_bytes){ meshes[1].profile, meshes[1].bytes };
		for (uint32_t at = 0; at < 6 && profile; at++)
			answer->tx[at] = answer->rx[at] = at;
		for (uint32_t nth = 1;; nth++) {
			int ret;

			fault_at("memory", nth, ENOMEM);
			ret = check(answer);
			if (!fault_struck())
				break;
			assert_int_equal(ret, -ENOMEM);
			assert_string_equal(report, "out of memory");
			failed++;
		}
		accepted(answer);
	}
	assert_true(failed > 20);
	free(answer);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden_distances),
		cmocka_unit_test(bounds_are_recomputed),
		cmocka_unit_test(refusals_are_proven),
		cmocka_unit_test(too_many_routes_are_not_tried),
		cmocka_unit_test(any_lengths_prove_a_bound),
		cmocka_unit_test(unreachable_pairs),
		cmocka_unit_test(unreachable_duplex_pairs),
		cmocka_unit_test(weights_of_pairs_prove_a_bound),
		cmocka_unit_test(proofs_for_any_ports),
		cmocka_unit_test(proofs_for_odd_numbers_of_endpoints),
		cmocka_unit_test(proofs_for_odd_numbers_agree_with_given_ports),
		cmocka_unit_test(proofs_for_any_ports_of_each_kind),
		cmocka_unit_test(hard_proofs_take_few_tries),
		cmocka_unit_test(proofs_of_each_kind_agree_with_given_ports),
		cmocka_unit_test(proofs_have_limits),
		cmocka_unit_test(proofs_for_given_ports),
		cmocka_unit_test(memory_can_run_out),
		cmocka_unit_test(memory_of_proofs_can_run_out),
	};

	if (argc != 4)
		return 2;
	mesh_paths = (const char *const *)argv + 1;
	return cmocka_run_group_tests_name("matchings_bound", tests, begin_meshes, end_meshes);
}

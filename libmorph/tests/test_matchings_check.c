// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The checker of matchings accepts sets that the test finds by trying all states of small meshes,
 * and rejects each mutation with its reason.
 */
#include <stdio.h>

#include "small_meshes.h"

static const uint32_t all[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
static const uint32_t four[] = { 1, 3, 4, 7 }; /* nodes 11 18 22 3 of 1x1 */

/* ------------------------------------------------------------------------ sets */

/* The choices of ports that have n-1 rounds. The checker accepts each. */
static uint32_t solvable_choices(const struct mesh *mesh, uint32_t endpoints)
{
	uint32_t found = 0;

	for (uint32_t choice = 0; choice < 1U << mesh->ports; choice++) {
		uint32_t ports[PORTS], count = 0;
		struct answer *answer;

		if (__builtin_popcount(choice) != (int)endpoints)
			continue;
		for (uint32_t port = 0; port < mesh->ports; port++)
			if (choice >> port & 1)
				ports[count++] = port;
		answer = join_pairs(mesh, ports, endpoints);
		if (answer) {
			answer->in.ports_chosen = true;
			accepted(answer);
			found++;
		}
		free(answer);
	}
	return found;
}

/* Published numbers of choices. */
static void golden_choices_of_ports(void **state)
{
	(void)state;
	assert_int_equal(solvable_choices(&meshes[0], 4), 16);
	assert_int_equal(solvable_choices(&meshes[0], 6), 0);
	assert_int_equal(solvable_choices(&meshes[1], 6), 34);
	assert_int_equal(solvable_choices(&meshes[1], 8), 0);
}

static void golden_ports(void **state)
{
	struct answer *answer = join_pairs(&meshes[0], four, 4);

	(void)state;
	assert_non_null(answer);
	accepted(answer);
	free(answer);
	accepted(base);
}

/* The set is legal on the profile, and on the mesh that the checker builds itself. */
static void check_set(uint32_t kind, const struct mesh *mesh, const uint32_t *accelerators,
		      uint32_t endpoints)
{
	struct answer *answer = new_set(mesh, kind, accelerators, endpoints);

	cover_greedily(answer);
	accepted(answer);
	answer->in.profile = (struct morph_check_bytes){ mesh->profile, mesh->bytes };
	for (uint32_t at = 0; at < endpoints; at++)
		answer->tx[at] = answer->rx[at] = accelerators[at];
	accepted(answer);
	answer->states[answer->elements[0]] ^= 1;
	assert_int_equal(check(answer), -EBADMSG);
	answer->states[answer->elements[0]] = 2; /* partial */
	assert_int_equal(check(answer), -EBADMSG);
	free(answer);
}

static void directed_and_duplex_sets(void **state)
{
	static const uint32_t some[] = { 1, 2, 5, 6 };

	(void)state;
	for (uint32_t number = 0; number < 3; number++)
		check_set(MORPH_CHECK_DIRECTED, &meshes[number], all, meshes[number].ports / 2);
	check_set(MORPH_CHECK_DUPLEX, &meshes[1], all, 6);
	check_set(MORPH_CHECK_DUPLEX, &meshes[2], some, 4);
}

static void duplex_needs_both_directions_in_a_round(void **state)
{
	struct answer *answer = new_set(&meshes[1], MORPH_CHECK_DIRECTED, all, 6);

	(void)state;
	cover_greedily(answer);
	answer->in.kind = MORPH_CHECK_DUPLEX;
	refused(answer, EBADMSG, "round 2: circuit 0-1 has no circuit back in the same round");
	free(answer);
}

/* A set that avoids the element is legal; the set of the whole mesh is not. */
static void sets_around_faults(void **state)
{
	static const uint32_t some[] = { 0, 1, 3 };
	struct answer *whole = new_set(&meshes[1], MORPH_CHECK_DIRECTED, some, 3), *answer;

	(void)state;
	cover_greedily(whole);
	whole->in.failed_count = 1;
	whole->failed = 1;
	refused(whole, EBADMSG, "round 0: circuit 0-2 passes the failed element 1");
	answer = new_set(&meshes[1], MORPH_CHECK_DIRECTED, some, 3);
	answer->in.failed_count = 1;
	answer->failed = 1;
	cover_greedily(answer);
	accepted(answer);
	free(answer);
	for (uint32_t stuck = 0; stuck < 2; stuck++) {
		answer = new_set(&meshes[1], MORPH_CHECK_DIRECTED, some, 3);
		answer->in.stuck_count = 1;
		answer->stuck = 1;
		answer->stuck_state = stuck;
		cover_greedily(answer);
		accepted(answer);
		free(answer);
	}
	free(whole);
}

/* ------------------------------------------------------------------- mutations */

static void flipped_elements_are_refused(void **state)
{
	(void)state;
	for (uint32_t at = 0; at < 5 * base->mesh->elements; at++) {
		char end[64];

		mutant = *base;
		if (mutant.states[at] == ANY)
			continue;
		mutant.states[at] ^= 1;
		snprintf(end, sizeof(end), "leaves its route at element %u in state %u",
			 at % base->mesh->elements, mutant.states[at]);
		assert_int_equal(check(&mutant), -EBADMSG);
		assert_non_null(strstr(report, end));
	}
	mutant = *base;
	mutant.states[0] ^= 1;
	refused(&mutant, EBADMSG,
		"round 0: light of circuit 0-1 leaves its route at element 0 in state 1");
	mutant.states[0] = ANY;
	refused(&mutant, EBADMSG, "round 0: circuit 0-1 passes element 0, which has no state");
}

static void swapped_pairs_are_refused(void **state)
{
	(void)state;
	for (uint32_t one = 0; one < base->circuits_count; one++)
		for (uint32_t other = 0; other < base->circuits_count; other++) {
			if (base->circuits[one].dst == base->circuits[other].dst)
				continue;
			mutant = *base;
			mutant.circuits[one].dst = base->circuits[other].dst;
			mutant.circuits[other].dst = base->circuits[one].dst;
			assert_int_equal(check(&mutant), -EBADMSG);
		}
	mutant = *base;
	mutant.circuits[0].dst = 4;
	mutant.circuits[1].dst = 1;
	refused(&mutant, EBADMSG, "round 0: circuit 0-4 does not end at the port of endpoint 4");
	mutant.circuits[0].src = 2;
	mutant.circuits[1].src = 0;
	refused(&mutant, EBADMSG, "round 0: circuit 2-4 does not begin at the port of endpoint 2");
}

static void drop_circuit(struct answer *answer, uint32_t number)
{
	answer->circuits_count--;
	memmove(answer->circuits + number, answer->circuits + number + 1,
		(answer->circuits_count - number) * sizeof(*answer->circuits));
	for (uint32_t round = 1; round <= answer->in.rounds; round++)
		answer->round_first[round] -= answer->round_first[round] > number;
}

static void dropped_pairs_are_refused(void **state)
{
	(void)state;
	for (uint32_t number = 0; number < base->circuits_count; number++) {
		char text[64];

		mutant = *base;
		drop_circuit(&mutant, number);
		snprintf(text, sizeof(text), "endpoints %u and %u never meet",
			 base->circuits[number].src, base->circuits[number].dst);
		refused(&mutant, EBADMSG, text);
	}
	mutant = *base;
	drop_circuit(&mutant, 0);
	refused(&mutant, EBADMSG, "endpoints 0 and 1 never meet");
}

/* Whether two routes use one arm of an element: the same two ports. */
static bool share_arm(uint32_t one_setting, uint32_t one_port, uint32_t other_setting,
		      uint32_t other_port)
{
	const struct mesh *mesh = base->mesh;
	uint32_t one[PLACES], other[PLACES], ones, others;

	follow(mesh, one_setting, one_port, one, &ones);
	follow(mesh, other_setting, other_port, other, &others);
	for (uint32_t at = 0; at < ones * others; at++) {
		uint32_t in = one[at / others], entry = other[at % others];
		uint32_t out = in ^ (one_setting >> in / 4 & 1 ? 2 : 1);
		uint32_t exit = entry ^ (other_setting >> entry / 4 & 1 ? 2 : 1);

		if ((in == entry && out == exit) || (in == exit && out == entry))
			return true;
	}
	return false;
}

static uint32_t setting_of_round(const struct answer *answer, uint32_t round)
{
	uint32_t setting = 0;

	for (uint32_t element = 0; element < answer->mesh->elements; element++)
		if (answer->states[round * answer->mesh->elements + element] == 1)
			setting |= 1U << element;
	return setting;
}

/* A circuit gets each route between its ports that uses an arm of another circuit. */
static uint32_t use_arms_twice(uint32_t round, uint32_t one, uint32_t other)
{
	const struct morph_check_matchings_circuit *circuits = base->circuits;
	uint32_t src = base->tx[circuits[one].src], dst = base->tx[circuits[one].dst], found = 0;
	uint32_t port = base->tx[circuits[other].src], lit = setting_of_round(base, round);

	for (uint32_t setting = 0; setting < 1U << base->mesh->elements; setting++) {
		if (base->mesh->partner[setting][src] != dst || !share_arm(setting, src, lit, port))
			continue;
		mutant = *base;
		mutant.circuits[one].first = mutant.hops_count;
		mutant.circuits[one].count = put_route(&mutant, setting, src);
		assert_int_equal(check(&mutant), -EBADMSG);
		assert_non_null(strstr(report, " use one arm of element "));
		found++;
	}
	return found;
}

static void arms_used_twice_are_refused(void **state)
{
	uint32_t found = 0;

	(void)state;
	for (uint32_t round = 0; round < base->in.rounds; round++)
		for (uint32_t at = 0; at < 9; at++)
			if (at % 3 != at / 3)
				found += use_arms_twice(round, 3 * round + at % 3,
							3 * round + at / 3);
	assert_true(found > 10);
	mutant = *base;
	/* Circuit 2-4 also passes element 7. */
	mutant.circuits[0].first = mutant.hops_count;
	mutant.circuits[0].count = 8;
	memcpy(mutant.elements + mutant.hops_count, (uint32_t[]){ 1, 4, 7, 8, 5, 2, 1, 0 },
	       8 * sizeof(*mutant.elements));
	refused(&mutant, EBADMSG, "round 0: circuits 0-1 and 2-4 use one arm of element 7");
}

static void pairs_and_ports_are_unique(void **state)
{
	(void)state;
	mutant = *base;
	mutant.tx[1] = mutant.tx[0];
	refused(&mutant, EBADMSG, "port 11 belongs to endpoints 0 and 1");
	mutant = *base;
	mutant.circuits[1].dst = 0;
	refused(&mutant, EBADMSG, "round 0: endpoint 0 has two circuits");
	mutant.circuits[1].dst = 2;
	refused(&mutant, EBADMSG, "round 0: circuit 2-2 does not join two of 6 endpoints");
	mutant.circuits[1].dst = 6;
	refused(&mutant, EBADMSG, "round 0: circuit 2-6 does not join two of 6 endpoints");
	mutant = *base;
	mutant.circuits[3].dst = 1;
	refused(&mutant, EBADMSG, "endpoints 0 and 1 meet in rounds 0 and 1");
	/* In a directed set, the receive port of one endpoint is another's transmit port. */
	mutant = *base;
	mutant.in.kind = MORPH_CHECK_DIRECTED;
	memcpy(mutant.rx, mutant.tx, sizeof(mutant.rx));
	mutant.rx[0] = 2;
	refused(&mutant, EBADMSG, "port 0 belongs to endpoints 1 and 1");
}

static void routes_are_connected(void **state)
{
	(void)state;
	mutant = *base;
	mutant.circuits[0].count = 0;
	refused(&mutant, EBADMSG, "round 0: circuit 0-1 does not begin at the port of endpoint 0");
	mutant = *base;
	mutant.elements[4] = 3; /* of 0 4 7 8 9 */
	refused(&mutant, EBADMSG, "round 0: circuit 2-4: element 4 does not lead to element 3");
	mutant.elements[4] = 1000;
	refused(&mutant, EBADMSG, "round 0: circuit 2-4: element 4 does not lead to element 1000");
	mutant = *base;
	mutant.in.hops = 8;
	accepted(&mutant);
	mutant.in.hops = 7;
	refused(&mutant, EBADMSG, "round 2: circuit 1-2 passes 8 elements, more than 7");
}

static void totals_are_recounted(void **state)
{
	(void)state;
	mutant = *base;
	mutant.in.distance = 62;
	accepted(&mutant);
	mutant.in.distance = 63;
	refused(&mutant, EBADMSG, "the shortest routes have 62 elements, not 63");
	mutant = *base;
	mutant.in.total++;
	refused(&mutant, EBADMSG, "all circuits pass 66 elements, not 67");
	mutant = *base;
	mutant.in.longest++;
	refused(&mutant, EBADMSG, "the longest circuit passes 8 elements, not 9");
}

static void faults_are_respected(void **state)
{
	(void)state;
	mutant = *base;
	mutant.in.failed_count = 1;
	mutant.failed = 1; /* at the port of endpoint 0 */
	refused(&mutant, EBADMSG, "endpoint 0 has no route to endpoint 1");
	mutant.failed = 10;
	refused(&mutant, EINVAL, "no element 10 (0-9)");
	mutant = *base;
	mutant.in.stuck_count = 1;
	mutant.stuck = 2;
	mutant.stuck_state = 0;
	refused(&mutant, EBADMSG, "round 0: element 2 is in state 1, but stuck in state 0");
	mutant.stuck_state = 2;
	refused(&mutant, EINVAL, "element 2 has no state 2");
}

/* The circuits of round 0 of a directed set, without the last, are those of a switch. */
static struct answer *new_switch(uint32_t *targets)
{
	static const uint32_t first[] = { 5, 0, 1, 2, 3, UINT32_MAX };
	struct answer *answer = new_set(&meshes[1], MORPH_CHECK_DIRECTED, all, 6);

	cover_greedily(answer);
	answer->round_first[1]--;
	for (uint32_t at = 0; at < 6; at++)
		targets[at] = UINT32_MAX;
	for (uint32_t at = 0; at < answer->round_first[1]; at++)
		targets[answer->circuits[at].src] = answer->circuits[at].dst;
	assert_memory_equal(targets, first, sizeof(first));
	answer->in.targets = targets;
	answer->in.rounds = 1;
	answer->in.bound = 1;
	answer->in.distance = 0;
	answer->in.total = 0;
	answer->in.longest = 0;
	return answer;
}

/* Ports without a circuit can be absent. */
static void circuits_lead_to_their_targets(void **state)
{
	uint32_t targets[6];
	struct answer *answer = new_switch(targets);

	(void)state;
	accepted(answer);
	answer->tx[5] = UINT32_MAX;
	answer->rx[4] = UINT32_MAX;
	accepted(answer);
	targets[0] = UINT32_MAX;
	refused(answer, EBADMSG, "round 0: circuit 0-5 does not lead to a target");
	targets[0] = 5;
	answer->round_first[1]--;
	refused(answer, EBADMSG, "endpoints 4 and 3 never meet");
	answer->round_first[1]++;
	answer->in.bound = 2;
	refused(answer, EBADMSG, "6 endpoints need 1 rounds, not 2");
	free(answer);
}

static void wrong_targets_are_named(void **state)
{
	uint32_t targets[6];
	struct answer *answer = new_switch(targets);

	(void)state;
	targets[0] = 6;
	refused(answer, EINVAL, "endpoint 0 has no target 6");
	targets[0] = 2;
	refused(answer, EBADMSG, "endpoints 0 and 3 have the same target 2");
	targets[0] = 5;
	answer->tx[0] = UINT32_MAX;
	refused(answer, EINVAL, "no port 4294967295 (0-11)");
	answer->in.kind = MORPH_CHECK_DUPLEX;
	refused(answer, EINVAL, "only directed circuits between given ports have targets");
	answer->in.kind = MORPH_CHECK_DIRECTED;
	memset(targets, 0xff, sizeof(targets));
	refused(answer, EINVAL, "no endpoint has a target");
	free(answer);
}

static void wrong_inputs_are_named(void **state)
{
	static const uint32_t sizes[][2] = { { 2, 2 }, { 65, 1 }, { 1, 0 }, { 1, 65 } };

	(void)state;
	for (uint32_t at = 0; at < 4; at++) {
		mutant = *base;
		mutant.in.width = sizes[at][0];
		mutant.in.height = sizes[at][1];
		assert_int_equal(check(&mutant), -EINVAL);
	}
	mutant.in.width = 2;
	mutant.in.height = 2;
	refused(&mutant, EINVAL,
		"no mesh of 2x2 cells: the width must be odd and at most 63, the height 1 to 64");
	mutant = *base;
	mutant.in.kind = 3;
	refused(&mutant, EINVAL, "kind 3 does not exist");
	mutant = *base;
	mutant.in.endpoints = 1;
	refused(&mutant, EINVAL, "1 endpoints, not 2 to 256");
	mutant.in.endpoints = 257;
	refused(&mutant, EINVAL, "257 endpoints, not 2 to 256");
	mutant = *base;
	mutant.tx[5] = 12;
	refused(&mutant, EINVAL, "no port 12 (0-11)");
	mutant = *base;
	mutant.in.profile = (struct morph_check_bytes){ meshes[1].profile, meshes[1].bytes };
	refused(&mutant, EINVAL, "a profile has no ports that pass light both ways");
	mutant.in.kind = MORPH_CHECK_DIRECTED;
	mutant.in.profile.bytes = 100;
	refused(&mutant, EINVAL, "the profile does not have version 1");
	assert_int_equal(morph_check_matchings(&mutant.in, NULL, 0), -EINVAL);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden_choices_of_ports),
		cmocka_unit_test(golden_ports),
		cmocka_unit_test(directed_and_duplex_sets),
		cmocka_unit_test(duplex_needs_both_directions_in_a_round),
		cmocka_unit_test(sets_around_faults),
		cmocka_unit_test(flipped_elements_are_refused),
		cmocka_unit_test(swapped_pairs_are_refused),
		cmocka_unit_test(dropped_pairs_are_refused),
		cmocka_unit_test(arms_used_twice_are_refused),
		cmocka_unit_test(pairs_and_ports_are_unique),
		cmocka_unit_test(routes_are_connected),
		cmocka_unit_test(totals_are_recounted),
		cmocka_unit_test(faults_are_respected),
		cmocka_unit_test(circuits_lead_to_their_targets),
		cmocka_unit_test(wrong_targets_are_named),
		cmocka_unit_test(wrong_inputs_are_named),
	};

	if (argc != 4)
		return 2;
	mesh_paths = (const char *const *)argv + 1;
	return cmocka_run_group_tests_name("matchings_check", tests, begin_meshes, end_meshes);
}

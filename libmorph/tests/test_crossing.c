// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Slices across racks, on a pod of two racks from the command line, whose circuit switches join any
 * faces. The checker, which shares no code with the planner, checks each answer.
 */
#include "../internal/planner.h"
#include "../place/crossing.h"
#include "crossing_racks.h"
#include "kernel.h"

static void requests_too_large_for_a_rack_cross_racks(void **state)
{
	struct bench *bench = *state;
	uint32_t there = 0, bound;

	/* In each rack, a column of four servers is free. */
	for (uint32_t server = 0; server < SERVERS; server++)
		for (uint32_t rack = 0; rack < RACKS; rack++)
			hold_server(bench, rack, server, server % 4 ? 1 : 0);
	ask_crossing(bench, 2, 4, 4);
	assert_int_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
	assert_int_equal(morph_plan_tier(bench->plan), MORPH_TIER_CROSSING);
	for (uint32_t rank = 0; rank < 32; rank++)
		there += in_second(morph_plan_accelerator(bench->plan, rank));
	assert_int_equal(there, 16);
	assert_int_equal(morph_plan_servers(bench->plan, &bound), 8);
	assert_int_equal(bound, 8);
	assert_true(morph_plan_fibres(bench->plan, &bound) > 96);
	assert_int_equal(bound, 96);
}

static void nearer_tiers_come_first(void **state)
{
	struct bench *bench = *state;

	ask_crossing(bench, 2, 4, 4);
	assert_int_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
	assert_int_equal(morph_plan_tier(bench->plan), MORPH_TIER_CONTIGUOUS);
}

static void whatever_crosses_is_so(void **state)
{
	static const uint8_t shapes[][3] = { { 2, 4, 4 }, { 2, 2, 4 }, { 4, 4, 4 },
					     { 2, 2, 6 }, { 2, 4, 6 }, { 2, 2, 2 } };
	struct bench *bench = *state;
	uint32_t verdicts[4] = { 0 }, tiers[4] = { 0 };
	uint64_t seed = 1;

	for (uint32_t round = 0; round < 80; round++) {
		const uint8_t *shape = shapes[random_below(&seed, 6)];

		fill(bench, &seed, 20 + random_below(&seed, 50));
		hold_fibres(bench, &seed, random_below(&seed, 4) ? 0 : 5);
		morph_request_set_simplex(bench->request, random_below(&seed, 4) == 0);
		morph_request_set_transit(bench->request, random_below(&seed, 4) == 0);
		ask_crossing(bench, shape[0], shape[1], shape[2]);
		verdicts[placed(bench, bench->plan)]++;
		tiers[morph_plan_tier(bench->plan)]++;
		if (morph_plan_verdict(bench->plan) == MORPH_FEASIBLE)
			assert_int_equal(morph_ledger_take(bench->ledger, bench->plan, 2), 0);
		if (morph_plan_verdict(bench->plan) == MORPH_FEASIBLE)
			assert_int_equal(morph_ledger_give(bench->ledger, bench->plan), 0);
	}
	print_message("%u feasible (%u across racks), %u infeasible, %u undecided\n", verdicts[1],
		      tiers[MORPH_TIER_CROSSING], verdicts[2], verdicts[3]);
	assert_true(tiers[MORPH_TIER_CROSSING] > 15 && verdicts[MORPH_INFEASIBLE] > 5);
}

/* Each link gets its fibres in turn. The planner promises no missing fibre. */
static void slices_that_cross_share_the_switches(void **state)
{
	struct bench *bench = *state;
	struct morph_plan *plans[4] = { NULL };
	uint32_t count = 0;
	uint64_t seed = 9;

	fill(bench, &seed, 45);
	ask_crossing(bench, 2, 2, 4);
	for (; count < 4; count++) {
		plans[count] = morph_plan_new(bench->ctx);
		assert_non_null(plans[count]);
		if (placed(bench, plans[count]) != MORPH_FEASIBLE)
			break;
		assert_int_equal(morph_ledger_take(bench->ledger, plans[count], 2 + count), 0);
	}
	assert_true(count > 1);
	assert_int_equal(morph_ledger_give(bench->ledger, plans[0]), 0);
	assert_int_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
	for (uint32_t at = 0; at < 4; at++)
		morph_plan_free(plans[at]);
}

/* Corrupt a plan across racks, its ledger or its request, so that the plan is invalid. */
static void corrupt(struct written *all, uint64_t *seed)
{
	uint32_t *plan = all->plan + HEAD, ranks = plan[2], circuits = plan[8], strands = plan[9];
	uint32_t *rank = all->plan + PLAN_HEAD, *way = rank + 2 * ranks;
	uint32_t *strand = way + 2 * circuits, *held = all->ledger + HEAD + 3;
	uint32_t *element = held + 2 * RACKS * RACK_ALL, *guide = element + all->ledger[HEAD + 1];
	uint32_t *one = &strand[MORPH_WIRE_STRAND * random_below(seed, strands)];
	uint32_t who = random_below(seed, ranks), to = random_below(seed, one[0]);

	switch (random_below(seed, 12)) {
	case 0: /* figures and bounds */
		plan[4 + random_below(seed, 4)] += 1;
		break;
	case 1: /* as if it lay in one rack */
		plan[1] = MORPH_TIER_STITCHED;
		break;
	case 2:
		rank[2 * who] = rank[2 * ((who + 1) % ranks)];
		break;
	case 3:
		rank[2 * who] = 64 + random_below(seed, 8); /* a spare */
		break;
	case 4:
		held[2 * rank[2 * who]] = 1000;
		break;
	case 5:
		one[1 + 3 * to] ^= 1; /* against the light */
		break;
	case 6: /* twice */
		memcpy(one, one == strand ? one + MORPH_WIRE_STRAND : strand,
		       4 * MORPH_WIRE_STRAND);
		break;
	case 7:
		guide[3 * (one[1 + 3 * to] >> 1) + 1] = 1; /* a fibre that is lit */
		break;
	case 8: /* another state of a switch, or a guide too many */
		one[one[0] > 1 ? 3 : 0] += 1;
		break;
	case 9: /* a switch that is unusable, or a fibre */
		if (one[0] > 1)
			element[one[2]] |= 1;
		else
			guide[3 * (one[1] >> 1)] = 1;
		break;
	case 10:
		way[2 * random_below(seed, circuits) + 1] += 1;
		break;
	default:
		all->request[HEAD + 3] = MORPH_TIER_STITCHED; /* no more was accepted */
		break;
	}
}

static void mutants_of_plans_are_rejected(void **state)
{
	struct bench *bench = *state;
	uint32_t mutants = 0;
	uint64_t seed = 4;
	char report[256];

	while (mutants < 1000) {
		fill(bench, &seed, 35);
		ask_crossing(bench, 2, 4, 4);
		if (placed(bench, bench->plan) != MORPH_FEASIBLE ||
		    morph_plan_tier(bench->plan) != MORPH_TIER_CROSSING)
			continue;
		for (uint32_t round = 0; round < 100; round++, mutants++) {
			struct written all = write_all(bench, bench->plan);

			corrupt(&all, &seed);
			if (!check_written(&all, report, sizeof(report)))
				fail_msg("the checker accepted mutant %u as a plan", mutants);
			assert_string_not_equal(report, "");
			written_free(&all);
		}
	}
}

/* ------------------------------------------------------------------- refusals */

/* A request that fits one rack is placed. For a larger one, the planner claims nothing. */
static void circuits_that_share_fibres_cross_to_no_rack(void **state)
{
	struct bench *bench = *state;

	ask_crossing(bench, 2, 4, 4);
	assert_int_equal(morph_request_set_wavelengths(bench->request, 2), 0);
	assert_int_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
	ask_crossing(bench, 4, 4, 8);
	assert_int_equal(placed(bench, bench->plan), MORPH_UNDECIDED);
	assert_non_null(
		strstr(morph_plan_why(bench->plan), "across racks circuits take fibres whole"));
}

/* Half of a server in each rack is free, and the faces of these halves meet in a switch. */
static void light_may_cross_servers_of_other_tenants_across_racks(void **state)
{
	struct bench *bench = *state;

	for (uint32_t at = 0; at < RACKS * RACK_ALL; at++)
		assert_int_equal(morph_ledger_hold(bench->ledger, at, 1), 0);
	/* Tiles at x = 3 of one rack, and at x = 0 of the other. */
	for (uint32_t y = 0; y < 2; y++) {
		assert_int_equal(morph_ledger_hold(bench->ledger, 4 + 1 + 2 * y, 0), 0);
		assert_int_equal(morph_ledger_hold(bench->ledger, RACK_ALL + 2 * y, 0), 0);
	}
	assert_int_equal(morph_request_set_tier(bench->request, MORPH_TIER_CROSSING), 0);
	assert_int_equal(morph_request_set_transit(bench->request, MORPH_TRANSIT_OWN), 0);
	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_RING, 4, 1, 1), 0);
	assert_int_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
	assert_int_equal(morph_plan_tier(bench->plan), MORPH_TIER_CROSSING);
}

static void room_is_not_made_across_racks(void **state)
{
	struct bench *bench = *state;
	struct morph_defrag *defrag = morph_defrag_new(bench->ctx);
	MORPH_OPTS(morph_defrag_result, result);

	assert_non_null(defrag);
	ask_crossing(bench, 4, 4, 8);
	assert_int_equal(morph_defrag_solve(defrag, bench->ledger, bench->request, NULL, &result),
			 0);
	assert_int_equal(result.verdict, MORPH_UNDECIDED);
	assert_non_null(strstr(morph_defrag_why(defrag), "across racks"));
	assert_int_equal(morph_request_set_tier(bench->request, MORPH_TIER_STITCHED), 0);
	assert_int_equal(morph_defrag_solve(defrag, bench->ledger, bench->request, NULL, &result),
			 0);
	assert_int_equal(result.verdict, MORPH_INFEASIBLE);
	morph_defrag_free(defrag);
}

static void hold_all_but(struct bench *bench, uint32_t free)
{
	for (uint32_t server = 0; server < RACKS * SERVERS; server++)
		hold_server(bench, server % RACKS, server / RACKS, server < free ? 0 : 1);
}

static void too_few_servers_are_counted(void **state)
{
	struct bench *bench = *state;

	hold_all_but(bench, 7);
	/* Three more accelerators are free in a server that can host no part. */
	for (uint32_t at = 0; at < 3; at++)
		morph_ledger_hold(bench->ledger, 63 - at, 0);
	ask_crossing(bench, 2, 4, 4);
	assert_int_equal(morph_request_set_servers(bench->request, MORPH_SERVERS_WHOLE), 0);
	assert_int_equal(placed(bench, bench->plan), MORPH_INFEASIBLE);
	assert_string_equal(
		morph_plan_why(bench->plan),
		"not enough accelerators: 32 requested, 28 free in all racks, counting only entirely free servers");
	assert_int_equal(morph_request_set_servers(bench->request, MORPH_SERVERS_SHARED), 0);
	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_RING, 32, 1, 1), 0);
	assert_int_equal(placed(bench, bench->plan), MORPH_INFEASIBLE);
	assert_string_equal(morph_plan_why(bench->plan),
			    "not enough accelerators: 32 requested, 31 free in all racks");
}

static void mutants_of_refusals_are_rejected(void **state)
{
	struct bench *bench = *state;
	char report[256];

	hold_all_but(bench, 7);
	ask_crossing(bench, 2, 4, 4);
	assert_int_equal(placed(bench, bench->plan), MORPH_INFEASIBLE);
	for (uint32_t mutant = 0; mutant < 8; mutant++) {
		struct written all = write_all(bench, bench->plan);
		uint32_t *plan = all.plan + HEAD;
		uint32_t *last = all.plan + PLAN_HEAD + 2 * plan[2] + 6 * (plan[10] - 1);
		uint32_t *held = all.ledger + HEAD + 3;

		if (mutant < 4)
			last[mutant] += 1;
		else if (mutant < 7)
			/* One server more, or one less than claimed. */
			for (uint32_t at = 0; at < 4; at++)
				held[2 * (4 * (mutant - 4) + at)] ^= 1;
		else
			plan[10]--; /* the refusal has no cut for all racks together */
		if (!check_written(&all, report, sizeof(report)))
			fail_msg("the checker accepted mutant %u as a proof", mutant);
		written_free(&all);
	}
}

/*
 * Requests that fill no servers: rings, meshes, odd tori and random graphs, in servers with other
 * tenants.
 */
static void ask_odd(struct bench *bench, uint64_t *seed)
{
	struct morph_request *request = bench->request;
	uint32_t ranks = 2 + random_below(seed, 40);

	assert_int_equal(morph_request_set_tier(request, MORPH_TIER_CROSSING), 0);
	switch (random_below(seed, 4)) {
	case 0:
		assert_int_equal(morph_request_set_shape(request, MORPH_SHAPE_RING, ranks, 1, 1),
				 0);
		break;
	case 1:
		assert_int_equal(
			morph_request_set_shape(request, MORPH_SHAPE_MESH, 2 + ranks % 6, 1, 1), 0);
		break;
	case 2:
		assert_int_equal(morph_request_set_shape(request, MORPH_SHAPE_TORUS, 3,
							 1 + ranks % 7, 1),
				 0);
		break;
	default:
		assert_int_equal(morph_request_set_count(request, ranks), 0);
		for (uint32_t at = 1; at < ranks; at++)
			assert_int_equal(morph_request_add_circuit(request, at, (at - 1) / 2), 0);
	}
}

static void requests_that_fill_no_servers_cross_racks(void **state)
{
	struct bench *bench = *state;
	uint32_t verdicts[4] = { 0 }, tiers[4] = { 0 };
	uint64_t seed = 3;

	for (uint32_t round = 0; round < 100; round++) {
		uint32_t percent = 10 + random_below(&seed, 40);

		for (uint32_t at = 0; at < RACKS * RACK_ALL; at++)
			if (at % RACK_ALL < 4 * SERVERS)
				assert_int_equal(
					morph_ledger_hold(bench->ledger, at,
							  random_below(&seed, 100) < percent ? 0 :
											       1),
					0);
		hold_fibres(bench, &seed, random_below(&seed, 4) ? 0 : 5);
		ask_odd(bench, &seed);
		verdicts[placed(bench, bench->plan)]++;
		tiers[morph_plan_tier(bench->plan)]++;
	}
	print_message("%u feasible (%u across racks), %u infeasible, %u undecided\n", verdicts[1],
		      tiers[MORPH_TIER_CROSSING], verdicts[2], verdicts[3]);
	assert_true(tiers[MORPH_TIER_CROSSING] > 8 && verdicts[MORPH_INFEASIBLE] > 5 &&
		    verdicts[MORPH_UNDECIDED] < 5);
}

/* Consecutive ranks of a ring share servers, as far as there is space. */
static void a_ring_takes_few_servers(void **state)
{
	struct bench *bench = *state;
	uint32_t bound;

	hold_all_but(bench, 12);
	assert_int_equal(morph_request_set_tier(bench->request, MORPH_TIER_CROSSING), 0);
	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_RING, 42, 1, 1), 0);
	assert_int_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
	assert_int_equal(morph_plan_tier(bench->plan), MORPH_TIER_CROSSING);
	assert_int_equal(morph_plan_servers(bench->plan, &bound), 11);
	assert_int_equal(bound, 11);
}

/* Free servers without fibres. */
/*
 * Each of the four tiles of a server has six planes, each with one path from its fibres and one to
 * them.
 */
static void no_server_carries_more_circuits_than_it_can(void **state)
{
	static const uint8_t shapes[][3] = { { 3, 5, 7 }, { 6, 3, 5 }, { 3, 3, 12 }, { 7, 3, 4 } };
	struct bench *bench = *state;

	for (uint32_t at = 0; at < ARRAY_SIZE(shapes); at++) {
		uint32_t in[RACKS * RACK_ALL] = { 0 };
		const struct morph_plan *plan = bench->plan;
		const struct morph_ledger *ledger = bench->ledger;

		ask_crossing(bench, shapes[at][0], shapes[at][1], shapes[at][2]);
		if (placed(bench, bench->plan) != MORPH_FEASIBLE)
			continue;
		for (uint32_t strand = 0; strand < plan->strands_count; strand++) {
			uint32_t to = plan->strands[strand].to;

			assert_in_range(++in[to], 1,
					ledger->crossing->limits[ledger->sites.host_seat[to]]);
		}
		assert_int_equal(ledger->crossing->limits[0], 24);
	}
}

/* The plan's fibres are the transaction's, circuit by circuit. */
static void take_their_fibres(struct bench *bench, const struct morph_txn *txn)
{
	struct morph_object *plan;

	assert_int_equal(morph_plan_describe(bench->plan, bench->ledger, &plan), 0);
	assert_int_equal(morph_txn_count(txn), morph_object_values(plan, "circuit"));
	for (uint32_t at = 0; at < txn->count; at++) {
		const struct morph_object *circuit = morph_object_nested_at(plan, "circuit", at);
		const struct morph_array *path = &txn->changes[at].guides;
		const uint32_t *guides = (const void *)(uintptr_t)path->ptr;
		uint32_t hop = 0;

		for (uint32_t own = 0; own < morph_object_values(circuit, "guide"); own++, hop++)
			while (hop < path->count &&
			       guides[hop] != morph_object_uint_at(circuit, "guide", own))
				hop++;
		assert_in_range(hop, 0, path->count);
	}
	morph_object_free(plan);
}

/* Some circuits get other fibres and switches than in the placement. The plan then names these. */
static void crossing_plans_can_be_lit(void **state)
{
	static const uint8_t shapes[][3] = { { 2, 3, 20 }, { 6, 4, 4 }, { 3, 4, 8 }, { 5, 2, 11 } };
	struct bench *bench = *state;

	for (uint32_t at = 0; at < ARRAY_SIZE(shapes); at++) {
		struct morph_txn *txn = morph_txn_new(bench->ctx);
		struct written all;
		char report[256];

		assert_non_null(txn);
		ask_crossing(bench, shapes[at][0], shapes[at][1], shapes[at][2]);
		assert_int_equal(morph_txn_place(txn, bench->ledger, bench->request, bench->plan),
				 0);
		assert_int_equal(morph_plan_tier(bench->plan), MORPH_TIER_CROSSING);
		assert_in_range(morph_txn_count(txn), 450, 600);
		take_their_fibres(bench, txn);
		all = write_all(bench, bench->plan);
		if (check_written(&all, report, sizeof(report)))
			fail_msg("%s", report);
		written_free(&all);
		morph_txn_free(txn);
	}
}

static void a_vain_search_is_undecided(void **state)
{
	struct bench *bench = *state;
	uint64_t seed = 6;

	hold_all_but(bench, 10);
	hold_fibres(bench, &seed, 100);
	ask_crossing(bench, 2, 4, 4);
	assert_int_equal(placed(bench, bench->plan), MORPH_UNDECIDED);
	assert_non_null(strstr(morph_plan_why(bench->plan), "search budget exhausted"));
}

static void accelerators_without_links_lie_anywhere(void **state)
{
	struct bench *bench = *state;

	assert_int_equal(morph_request_set_tier(bench->request, MORPH_TIER_CROSSING), 0);
	assert_int_equal(morph_request_set_count(bench->request, 100), 0);
	assert_int_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
	assert_int_equal(morph_plan_tier(bench->plan), MORPH_TIER_CROSSING);
	assert_int_equal(morph_plan_servers(bench->plan, NULL), 25);
}

/* Memory for this tier is allocated at its first use. */
static void without_memory_nothing_is_placed(void **state)
{
	struct bench *bench = *state;
	uint32_t failed = 0;
	int ret;

	for (uint32_t server = 0; server < SERVERS; server++)
		for (uint32_t rack = 0; rack < RACKS; rack++)
			hold_server(bench, rack, server, server % 4 ? 1 : 0);
	ask_crossing(bench, 2, 4, 4);
	do {
		fault_at("memory", failed + 1, ENOMEM);
		ret = morph_place(bench->ledger, bench->request, bench->plan);
		assert_int_equal(ret, fault_struck() ? -ENOMEM : 0);
		failed += ret != 0;
	} while (ret);
	print_message("%u allocations failed\n", failed);
	assert_true(failed > 2);
	assert_int_equal(morph_plan_verdict(bench->plan), MORPH_FEASIBLE);
}

/* --------------------------------------------------------------------- making room */

/*
 * A proof that moving one circuit is optimal holds for its rack only, not for another rack that
 * could host the request.
 */
static void how_few_are_moved_is_not_proven_of_other_racks(void **state)
{
	struct bench *bench = *state;
	struct morph_defrag_result result;
	struct corner corner;

	corner_begin(&corner, bench);
	corner_detour(&corner, 3);
	assert_int_equal(morph_defrag_add(corner.defrag, corner.plans[0], 7, 0), 0);
	result = corner_solve(&corner, MORPH_DEFRAG_LIGHT);
	assert_int_equal(result.moved, 1);
	assert_int_equal(result.moved_least, 1);
	/* Two servers are free in the other rack, with no fibre between them. */
	for (uint32_t server = 0; server < 2; server++)
		morph_ledger_mark(bench->ledger, MORPH_PART_ACCELERATOR, RACK_ALL + 4 * server,
				  false);
	result = corner_solve(&corner, MORPH_DEFRAG_LIGHT);
	assert_int_equal(result.verdict, MORPH_FEASIBLE);
	assert_int_equal(result.moved, 1);
	assert_int_equal(result.moved_least, 0);
	corner_end(&corner);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, placing_setup, placing_teardown)
		TEST(requests_too_large_for_a_rack_cross_racks),
		TEST(nearer_tiers_come_first),
		TEST(whatever_crosses_is_so),
		TEST(slices_that_cross_share_the_switches),
		TEST(mutants_of_plans_are_rejected),
		TEST(circuits_that_share_fibres_cross_to_no_rack),
		TEST(light_may_cross_servers_of_other_tenants_across_racks),
		TEST(room_is_not_made_across_racks),
		TEST(too_few_servers_are_counted),
		TEST(mutants_of_refusals_are_rejected),
		TEST(requests_that_fill_no_servers_cross_racks),
		TEST(a_ring_takes_few_servers),
		TEST(no_server_carries_more_circuits_than_it_can),
		TEST(crossing_plans_can_be_lit),
		TEST(a_vain_search_is_undecided),
		TEST(accelerators_without_links_lie_anywhere),
		TEST(without_memory_nothing_is_placed),
		TEST(how_few_are_moved_is_not_proven_of_other_racks),
#undef TEST
	};

	return placing_run(argc, argv, "crossing", tests, ARRAY_SIZE(tests));
}

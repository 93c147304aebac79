// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Running slices across racks: their spares, and the resources that they keep while others make
 * room. The pod is that of test_crossing.c.
 */
#include "../internal/planner.h"
#include "crossing_racks.h"
#include "kernel.h"

static bool leaves_rack(const struct morph_plan *plan, uint32_t circuit)
{
	return in_second(plan->accelerators[plan->circuits[circuit].src]) !=
	       in_second(plan->accelerators[plan->circuits[circuit].dst]);
}

/* Check whether the rank has a circuit that ends in the other rack. */
static bool rank_leaves(const struct morph_plan *plan, uint32_t rank)
{
	for (uint32_t at = 0; at < plan->circuits_count; at++)
		if ((plan->circuits[at].src == rank || plan->circuits[at].dst == rank) &&
		    leaves_rack(plan, at))
			return true;
	return false;
}

/* The link between the racks is the circuit's present link. */
static void link_is_kept(const struct morph_plan *plan, const struct morph_protection *protection,
			 const struct spare_way *way)
{
	const struct circuit_way *old = &plan->ways[way->circuit];
	const struct strand *was = &plan->strands[old->first];
	const struct spare_strand *is = &protection->strands.list[way->first];

	while (in_second(was->from_tile) == in_second(was->to_tile))
		was++;
	while (in_second(is->strand.from_tile) == in_second(is->strand.to_tile))
		is++;
	assert_memory_equal(was, &is->strand, sizeof(*was));
	assert_true(is->own);
}

/*
 * A circuit that leaves the rack is rerouted up to the face; beyond it, the circuit is unchanged.
 */
static void ranks_with_circuits_to_other_racks_are_protected(void **state)
{
	struct bench *bench = *state;
	struct morph_protection *protection = new_protection(bench);
	const struct morph_plan *plan = bench->plan;
	uint32_t crossing = 0;

	for (uint32_t server = 0; server < SERVERS; server++)
		for (uint32_t rack = 0; rack < RACKS; rack++)
			hold_server(bench, rack, server,
				    server % 4 || (rack && server >= 8) ? 1 : 0);
	ask_crossing(bench, 2, 2, 6);
	assert_int_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
	assert_int_equal(morph_ledger_take(bench->ledger, plan, 7), 0);
	assert_int_equal(protected(bench, plan, protection), MORPH_FEASIBLE);
	for (uint32_t rank = 0; rank < 24; rank++) {
		const struct protected_rank *it = &protection->ranks[rank];

		crossing += rank_leaves(plan, rank);
		for (uint32_t at = it->ways_first; at < it->ways_first + it->ways_count; at++)
			if (leaves_rack(plan, protection->ways.list[at].circuit))
				link_is_kept(plan, protection, &protection->ways.list[at]);
	}
	print_message("%u of 24 ranks have circuits that leave the rack\n", crossing);
	assert_in_range(crossing, 1, 23);
	morph_protection_free(protection);
}

/* A cut proves nothing about circuits that could leave the rack elsewhere. */
static void claim_a_cut(const struct bench *bench, const struct morph_protection *protection,
			uint32_t rank)
{
	struct shield shield;
	uint32_t *words, *refusal;
	char report[256];

	shield_write(bench, bench->plan, protection, &shield);
	words = (uint32_t *)shield.blobs[3] + HEAD;
	refusal = words + 5 + 6 * words[1] + 3 * words[2] + MORPH_WIRE_STRAND * words[3] +
		  6 * protection->ranks[rank].refusals_first;
	refusal[1] = MORPH_WIRE_SPARE_CUT;
	assert_int_not_equal(morph_check_protection(&shield.input, report, sizeof(report)), 0);
	assert_non_null(strstr(report, "leave the rack"));
	shield_free(&shield);
}

static void whatever_is_protected_across_racks_is_so(void **state)
{
	struct bench *bench = *state;
	struct morph_protection *protection = new_protection(bench);
	const struct sites *sites = &bench->ledger->sites;
	uint32_t verdicts[4] = { 0 }, claimed = 0;
	uint64_t seed = 4;

	for (uint32_t round = 0; round < 60; round++) {
		uint32_t percent = random_below(&seed, 3) * 30;

		fill(bench, &seed, 20 + random_below(&seed, 40));
		morph_request_set_transit(bench->request, random_below(&seed, 3) == 0);
		ask_crossing(bench, 2, random_below(&seed, 2) ? 2 : 4, 6);
		if (placed(bench, bench->plan) != MORPH_FEASIBLE ||
		    morph_plan_tier(bench->plan) != MORPH_TIER_CROSSING)
			continue;
		assert_int_equal(morph_ledger_take(bench->ledger, bench->plan, 2), 0);
		for (uint32_t at = 0; at < sites->strands_count; at++)
			if (random_below(&seed, 100) < percent &&
			    !bench->ledger->guide_lanes[sites->strands[at].guides[0] >> 1])
				morph_ledger_mark(bench->ledger, MORPH_PART_GUIDE,
						  sites->strands[at].guides[0] >> 1, true);
		protected(bench, bench->plan, protection);
		for (uint32_t rank = 0; rank < bench->plan->ranks; rank++) {
			uint32_t verdict = morph_protection_of(protection, rank);

			if (!rank_leaves(bench->plan, rank))
				continue;
			verdicts[verdict]++;
			assert_int_not_equal(verdict, MORPH_INFEASIBLE);
			if (verdict == MORPH_UNDECIDED && !claimed++) {
				assert_non_null(strstr(morph_protection_why(protection), "rank"));
				claim_a_cut(bench, protection, rank);
			}
		}
		assert_int_equal(morph_ledger_give(bench->ledger, bench->plan), 0);
		for (uint32_t guide = 0; guide < bench->ledger->graph->guides_count; guide++)
			morph_ledger_mark(bench->ledger, MORPH_PART_GUIDE, guide, false);
	}
	print_message("of ranks whose circuits leave the rack %u protected, %u undecided\n",
		      verdicts[MORPH_FEASIBLE], verdicts[MORPH_UNDECIDED]);
	assert_true(verdicts[MORPH_FEASIBLE] > 100 && verdicts[MORPH_UNDECIDED] > 20);
	morph_protection_free(protection);
}

/*
 * The placed slice runs in a kernel. Because it runs, it does not move, but the resources for its
 * failover are kept.
 */
static void stays_and_is_kept(struct bench *bench, const char *why)
{
	struct morph_defrag *defrag = morph_defrag_new(bench->ctx);
	struct morph_ledger *ledger = NULL;
	struct corner corner;
	uint32_t kept = 0;

	corner_begin(&corner, bench);
	assert_int_equal(DEFRAG_GROW(corner.defrag, slices, 1), 0);
	corner.defrag->slices.list[corner.defrag->slices.count++] =
		(struct running){ .plan = bench->plan, .slice = 1 };
	assert_true(kernel_boot(&corner));
	assert_int_equal(morph_ledger_new(bench->ctx, bench->model, &ledger), 0);
	assert_int_equal(morph_defrag_read(defrag, ledger, FABRIC, 0), 0);
	assert_int_equal(defrag->slices.count, 0);
	assert_string_equal(defrag->stays.list[0].why, why);
	for (uint32_t rack = 0; rack < RACKS; rack++)
		for (uint32_t at = 4 * SERVERS; at < RACK_ALL; at++)
			assert_int_equal(morph_ledger_set_spare(ledger, RACK_ALL * rack + at, true),
					 0);
	assert_int_equal(morph_defrag_keep(defrag, ledger), bench->plan->ranks);
	for (uint32_t guide = 0; guide < ledger->graph->guides_count; guide++)
		kept += ledger->guide_kept[guide] > 0;
	assert_true(kept > bench->plan->ranks);
	assert_int_equal(morph_defrag_keep(defrag, ledger), 0);
	morph_defrag_clear(defrag);
	for (uint32_t guide = 0; guide < ledger->graph->guides_count; guide++)
		assert_int_equal(ledger->guide_kept[guide], 0);
	kernel_end();
	morph_ledger_free(ledger);
	morph_defrag_free(defrag);
	corner_end(&corner);
}

static void resources_of_a_slice_across_racks_are_kept(void **state)
{
	struct bench *bench = *state;

	for (uint32_t server = 0; server < SERVERS; server++)
		for (uint32_t rack = 0; rack < RACKS; rack++)
			hold_server(bench, rack, server,
				    server % 4 || (rack && server >= 8) ? 1 : 0);
	ask_crossing(bench, 2, 2, 6);
	assert_int_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
	assert_int_equal(morph_plan_tier(bench->plan), MORPH_TIER_CROSSING);
	stays_and_is_kept(bench, "it lies in several racks");
}

static void resources_of_a_slice_over_switches_are_kept(void **state)
{
	struct bench *bench = *state;

	ask_crossing(bench, 4, 4, 4);
	assert_int_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
	assert_int_equal(morph_plan_tier(bench->plan), MORPH_TIER_CONTIGUOUS);
	stays_and_is_kept(bench, "its circuits cross circuit switches");
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, placing_setup, placing_teardown)
		TEST(ranks_with_circuits_to_other_racks_are_protected),
		TEST(whatever_is_protected_across_racks_is_so),
		TEST(resources_of_a_slice_across_racks_are_kept),
		TEST(resources_of_a_slice_over_switches_are_kept),
#undef TEST
	};

	return placing_run(argc, argv, "crossing-keep", tests, ARRAY_SIZE(tests));
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Paths over circuit switches of two levels, of five guides each, on a pod of nine racks with two
 * servers each, which the command line gives.
 */
#include "../internal/planner.h"
#include "protecting.h"

#define RACKS 9
#define RACK_ALL 8 /* accelerators of a rack, four of each server */
#define GUIDES 5 /* a fibre, a leaf, between the trees, a leaf, a fibre */
#define HEAD 5 /* words of the wire form */
#define PLAN_HEAD 17
#define DIRECT 4 /* fibres from a server to the other one of its rack; as many pass switches */

/* Free only some racks, all servers of them. */
static void leave_racks(struct bench *bench, uint32_t count)
{
	for (uint32_t at = 0; at < RACKS * RACK_ALL; at++)
		assert_int_equal(morph_ledger_hold(bench->ledger, at, at >= RACK_ALL * count), 0);
}

/* A ring of four servers, which no single rack has. */
static void place_crossing(struct bench *bench)
{
	assert_int_equal(morph_request_set_tier(bench->request, MORPH_TIER_CROSSING), 0);
	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_TORUS, 8, 2, 1), 0);
	assert_int_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
	assert_int_equal(morph_plan_tier(bench->plan), MORPH_TIER_CROSSING);
}

/* ----------------------------------------------------------------------- plans */

static void paths_of_five_guides_are_planned(void **state)
{
	struct bench *bench = *state;
	const struct sites *sites = &bench->ledger->sites;
	uint32_t switched = 0;

	assert_int_equal(sites->racks_count, RACKS);
	for (uint32_t at = 0; at < sites->strands_count; at++) {
		const struct strand *strand = &sites->strands[at];

		assert_int_equal(strand->guides_count, strand->guides_count > 1 ? GUIDES : 1);
		assert_true(strand->guides_count > 1 ||
			    sites->host_rack[strand->from] == sites->host_rack[strand->to]);
		switched += strand->guides_count > 1;
	}
	/* From each fibre of a face to each rack. */
	assert_int_equal(switched, RACKS * RACKS * 2 * DIRECT);
	switched = 0;
	place_crossing(bench);
	for (uint32_t at = 0; at < bench->plan->strands_count; at++)
		switched += bench->plan->strands[at].guides_count == GUIDES;
	assert_in_range(switched, 4, bench->plan->strands_count);
}

/* Corrupt one guide of a path, so that it is invalid. Returns false if that is impossible. */
static bool corrupt(struct written *all, uint32_t *strand, uint32_t guide, uint32_t how)
{
	uint32_t *code = &strand[1 + 3 * guide];
	uint32_t *chips = all->ledger + HEAD + 3, *elements = chips + 2 * RACKS * RACK_ALL;
	uint32_t *guides = elements + all->ledger[HEAD + 1];

	switch (how) {
	case 0: /* against the light */
		*code ^= 1;
		return true;
	case 1: /* the one beside it */
		*code += 2;
		return true;
	case 2: /* none */
		*code = UINT32_MAX;
		return true;
	case 3:
		guides[3 * (*code >> 1)] = 1; /* it is unusable */
		return true;
	case 4:
		guides[3 * (*code >> 1) + 1] = 1; /* it is lit */
		return true;
	case 5: /* another switch before it, or another state of that */
	case 6:
		if (guide)
			strand[3 * guide - 6 + how] += 1;
		return guide;
	case 7:
		if (guide)
			elements[strand[3 * guide - 1]] = 2; /* that switch is held */
		return guide;
	default: /* the way ends before it, or goes on after the last */
		strand[0] = guide ? guide : GUIDES + 1;
		return true;
	}
}

static void each_of_five_guides_is_checked(void **state)
{
	struct bench *bench = *state;
	uint32_t at = 0, mutants = 0;
	char report[256];

	place_crossing(bench);
	while (bench->plan->strands[at].guides_count != GUIDES)
		at++;
	for (uint32_t guide = 0; guide < GUIDES; guide++) {
		for (uint32_t how = 0; how < 9; how++) {
			struct written all = write_all(bench, bench->plan);
			uint32_t *strand = all.plan + PLAN_HEAD + 2 * bench->plan->ranks +
					   2 * bench->plan->circuits_count + MORPH_WIRE_STRAND * at;

			assert_int_equal(strand[0], GUIDES);
			assert_int_equal(strand[1], bench->plan->strands[at].guides[0]);
			if (corrupt(&all, strand, guide, how)) {
				if (!check_written(&all, report, sizeof(report)))
					fail_msg("guide %u with mutation %u is not detected", guide,
						 how);
				mutants++;
			}
			written_free(&all);
		}
	}
	assert_int_equal(mutants, GUIDES * 9 - 3);
}

/* The guides of a plan's path are in the circuit's path, in order. */
static void five_guides_are_lit(void **state)
{
	struct bench *bench = *state;
	struct morph_txn *txn = morph_txn_new(bench->ctx);
	const struct morph_plan *plan = bench->plan;

	assert_non_null(txn);
	place_crossing(bench);
	assert_int_equal(morph_txn_add_plan(txn, bench->plan, bench->ledger), 0);
	assert_int_equal(morph_txn_count(txn), plan->circuits_count);
	for (uint32_t at = 0; at < txn->count; at++) {
		const uint32_t *guides = (const void *)(uintptr_t)txn->changes[at].guides.ptr;
		const struct circuit_way *way = &plan->ways[at];
		uint32_t next = 0;

		for (uint32_t hop = way->first; hop < way->first + way->count; hop++) {
			for (uint32_t guide = 0; guide < plan->strands[hop].guides_count; guide++) {
				while (next < txn->changes[at].guides.count &&
				       guides[next] != plan->strands[hop].guides[guide] >> 1)
					next++;
				assert_true(next < txn->changes[at].guides.count);
			}
		}
	}
	morph_txn_free(txn);
}

/* ---------------------------------------------------------------- descriptions */

static void a_plan_across_racks_is_described(void **state)
{
	struct bench *bench = *state;
	struct morph_object *plan = NULL;

	place_crossing(bench);
	assert_int_equal(morph_plan_describe(bench->plan, bench->ledger, &plan), 0);
	assert_string_equal(morph_object_text(plan, "tier"), "crossing");
	morph_object_free(plan);
}

/* Each rack with its lowest server, then all racks together, which have no server. */
static void a_refusal_of_all_racks_is_described(void **state)
{
	const struct morph_object *refusal;
	struct bench *bench = *state;
	struct morph_object *plan = NULL;

	leave_racks(bench, 1);
	assert_int_equal(morph_request_set_tier(bench->request, MORPH_TIER_CROSSING), 0);
	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_TORUS, 8, 2, 1), 0);
	assert_int_equal(placed(bench, bench->plan), MORPH_INFEASIBLE);
	assert_int_equal(morph_plan_describe(bench->plan, bench->ledger, &plan), 0);
	assert_int_equal(morph_object_values(plan, "refusal"), RACKS + 1);
	refusal = morph_object_nested_at(plan, "refusal", RACKS);
	assert_false(morph_object_has(refusal, "host"));
	assert_int_equal(morph_object_uint(refusal, "have"), RACK_ALL);
	assert_int_equal(morph_object_uint(refusal, "need"), 16);
	assert_string_equal(morph_object_text(refusal, "text"),
			    "not enough accelerators: 16 requested, 8 free");
	for (uint32_t at = 0; at < RACKS; at++) {
		refusal = morph_object_nested_at(plan, "refusal", at);
		assert_true(morph_object_has(refusal, "host"));
		assert_int_equal(morph_object_uint(refusal, "have"),
				 morph_object_uint(refusal, "host") ? 0 : RACK_ALL);
	}
	morph_object_free(plan);
}

/* --------------------------------------------------------------------- traffic */

static void paths_through_switches_are_no_links(void **state)
{
	struct bench *bench = *state;
	struct morph_traffic *te = morph_traffic_new(bench->ctx);

	assert_non_null(te);
	assert_int_equal(morph_traffic_add_servers(te, bench->ledger), 2 * RACKS);
	for (uint32_t link = 0; link < 2 * RACKS; link++)
		assert_true(morph_traffic_capacity(te, link) == 16 * DIRECT);
	assert_int_equal(morph_traffic_add_demand(te, 10, 1), 0);
	assert_int_equal(morph_traffic_add_ways(te, 0, 0, 1, 4), 1);
	assert_int_equal(morph_traffic_add_ways(te, 0, 0, 2, 4), -EHOSTUNREACH);
	assert_non_null(strstr(morph_error_text(bench->ctx), "from host 0 to host 2"));
	morph_traffic_free(te);
}

/* ------------------------------------------------------------------ making room */

/* Request a number of circuits from one rank to another. */
static void ask_for(struct bench *bench, uint32_t circuits)
{
	assert_int_equal(morph_request_set_count(bench->request, 2), 0);
	for (uint32_t at = 0; at < circuits; at++)
		assert_int_equal(morph_request_add_circuit(bench->request, 0, 1), 0);
}

/* Light to other racks holds switches that two paths from server 0 to server 1 would use. */
static void hold_two_switches(struct bench *bench)
{
	const struct sites *sites = &bench->ledger->sites;
	uint32_t held = 0;

	for (uint32_t at = sites->strands_first[0]; at < sites->strands_first[1] && held < 2;
	     at++) {
		const struct strand *strand = &sites->strands[at];

		if (sites->host_rack[strand->to] == sites->host_rack[0] ||
		    !lm_strand_free(bench->ledger, strand))
			continue;
		lm_strand_hold(bench->ledger, strand, true);
		held++;
	}
	assert_int_equal(held, 2);
}

static void paths_through_held_switches_are_not_free(void **state)
{
	struct bench *bench = *state;
	const struct sites *sites = &bench->ledger->sites;
	uint32_t left = 0;
	struct corner corner;

	corner_begin(&corner, bench);
	for (uint32_t at = 0; at < RACKS * RACK_ALL; at++)
		morph_ledger_mark(bench->ledger, MORPH_PART_ACCELERATOR, at, at != 0 && at != 4);
	for (uint32_t at = sites->strands_first[1]; at < sites->strands_first[2]; at++)
		morph_ledger_mark(bench->ledger, MORPH_PART_GUIDE,
				  sites->strands[at].guides[0] >> 1, true);
	ask_for(bench, 5);
	assert_int_equal(placed(bench, corner.plans[0]), MORPH_FEASIBLE);
	assert_int_equal(morph_ledger_take(bench->ledger, corner.plans[0], 7), 0);
	assert_int_equal(morph_defrag_add(corner.defrag, corner.plans[0], 7, 0), 0);
	hold_two_switches(bench);
	morph_ledger_mark(bench->ledger, MORPH_PART_ACCELERATOR, 1, false);
	morph_ledger_mark(bench->ledger, MORPH_PART_ACCELERATOR, 5, false);
	for (uint32_t at = sites->strands_first[0]; at < sites->strands_first[1]; at++)
		left += sites->strands[at].to == 1 &&
			lm_strand_free(bench->ledger, &sites->strands[at]);
	/* Of eight paths, five are in use, and two are unavailable. */
	assert_int_equal(left, 1);
	ask_for(bench, left);
	assert_int_equal(corner_solve(&corner, 0).verdict, MORPH_FEASIBLE);
	ask_for(bench, left + 1);
	assert_int_equal(corner_solve(&corner, 0).verdict, MORPH_INFEASIBLE);
	corner_end(&corner);
}

/* Moves within a rack make space in that rack. */
static void crossing_circuits_are_not_moved(void **state)
{
	struct bench *bench = *state;
	struct morph_defrag *defrag = morph_defrag_new(bench->ctx);

	assert_non_null(defrag);
	place_crossing(bench);
	assert_int_equal(morph_ledger_take(bench->ledger, bench->plan, 7), 0);
	assert_int_equal(morph_defrag_add(defrag, bench->plan, 7, 0), -EINVAL);
	assert_non_null(strstr(morph_error_text(bench->ctx), "across racks"));
	morph_defrag_free(defrag);
}

/* --------------------------------------------------------------------- keeping */

/* Server 1 has the spare, and all paths to it without switches are in use. */
static void switches_of_kept_slices_are_kept(void **state)
{
	struct bench *bench = *state;
	struct morph_protection *protection = new_protection(bench);
	struct morph_ledger *ledger = bench->ledger;
	const struct sites *sites = &ledger->sites;
	uint32_t open = 0, before = 0;

	for (uint32_t at = 2; at < RACKS * RACK_ALL; at++)
		morph_ledger_mark(ledger, MORPH_PART_ACCELERATOR, at, true);
	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_RING, 2, 1, 1), 0);
	assert_int_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
	assert_int_equal(morph_ledger_take(ledger, bench->plan, 7), 0);
	morph_ledger_mark(ledger, MORPH_PART_ACCELERATOR, 4, false);
	assert_int_equal(morph_ledger_set_spare(ledger, 4, true), 0);
	for (uint32_t at = 0; at < sites->strands_count; at++)
		if (sites->strands[at].guides_count == 1)
			lm_strand_hold(ledger, &sites->strands[at], true);
	assert_int_equal(protected(bench, bench->plan, protection), MORPH_FEASIBLE);
	for (uint32_t at = 0; at < sites->strands_count; at++)
		before += lm_strand_free(ledger, &sites->strands[at]);
	assert_int_equal(morph_ledger_keep(ledger, protection), 0);
	for (uint32_t at = 0; at < sites->strands_count; at++)
		open += lm_strand_free(ledger, &sites->strands[at]);
	/* One path in each direction: all that leave or arrive by the same fibre. */
	assert_int_equal(before - open, 2 * (2 * RACKS - 1));
	for (uint32_t at = 0; at < ledger->graph->elements_count; at++)
		open += ledger->element_kept[at] != 0;
	assert_int_equal(before - open, 2 * (2 * RACKS - 1) - 2 * (GUIDES - 1));
	assert_int_equal(morph_ledger_unkeep(ledger, protection), 0);
	for (uint32_t at = 0; at < ledger->graph->elements_count; at++)
		assert_int_equal(ledger->element_kept[at], 0);
	morph_protection_free(protection);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, placing_setup, placing_teardown)
		TEST(paths_of_five_guides_are_planned),
		TEST(each_of_five_guides_is_checked),
		TEST(five_guides_are_lit),
		TEST(a_plan_across_racks_is_described),
		TEST(a_refusal_of_all_racks_is_described),
		TEST(paths_through_switches_are_no_links),
		TEST(paths_through_held_switches_are_not_free),
		TEST(crossing_circuits_are_not_moved),
		TEST(switches_of_kept_slices_are_kept),
#undef TEST
	};

	return placing_run(argc, argv, "switches", tests, ARRAY_SIZE(tests));
}

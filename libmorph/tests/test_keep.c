// SPDX-License-Identifier: LGPL-2.1-or-later
/* Fibres kept for protections while slices come, go and move. */
#include "../internal/planner.h"
#include "protecting.h"

#define SHIELDED 3

/* Protected slices of a rack, and other slices that come and go. */
struct town {
	struct bench *bench;
	struct morph_plan *plans[SHIELDED], *others[ACCELERATORS];
	struct morph_protection *protections[SHIELDED];
	uint32_t count, others_count;
};

static void town_begin(struct town *town, struct bench *bench)
{
	memset(town, 0, sizeof(*town));
	town->bench = bench;
	for (uint32_t at = 0; at < SHIELDED; at++) {
		town->plans[at] = morph_plan_new(bench->ctx);
		town->protections[at] = new_protection(bench);
	}
	for (uint32_t at = 0; at < ACCELERATORS; at++)
		town->others[at] = morph_plan_new(bench->ctx);
}

static void town_end(struct town *town)
{
	for (uint32_t at = 0; at < SHIELDED; at++) {
		morph_plan_free(town->plans[at]);
		morph_protection_free(town->protections[at]);
	}
	for (uint32_t at = 0; at < ACCELERATORS; at++)
		morph_plan_free(town->others[at]);
}

/* A random request, unless it is too expensive. */
static bool town_place(struct bench *bench, struct morph_plan *plan, uint64_t *seed)
{
	ask(bench->request, seed);
	morph_request_set_budget(bench->request, 256);
	assert_int_equal(morph_place(bench->ledger, bench->request, plan), 0);
	return morph_plan_verdict(plan) == MORPH_FEASIBLE;
}

/* Protect all slices as far as possible. */
static void town_settle(struct town *town, uint64_t *seed, bool keep)
{
	struct bench *bench = town->bench;

	for (uint32_t at = 0; at < ACCELERATORS; at++)
		morph_ledger_hold(bench->ledger, at, 0);
	hold_fibres(bench, seed, 40);
	town->count = town->others_count = 0;
	for (uint32_t at = 0; at < SHIELDED; at++) {
		if (!town_place(bench, town->plans[town->count], seed))
			continue;
		town->count++;
		assert_int_equal(morph_ledger_take(bench->ledger, town->plans[town->count - 1],
						   town->count),
				 0);
	}
	for (uint32_t at = 0; at < town->count; at++) {
		protected(bench, town->plans[at], town->protections[at]);
		if (keep)
			assert_int_equal(morph_ledger_keep(bench->ledger, town->protections[at]),
					 0);
	}
}

/* Let slices come and go. */
static void town_live(struct town *town, uint64_t *seed)
{
	struct bench *bench = town->bench;

	for (uint32_t event = 0; event < 30; event++) {
		struct morph_plan *plan = town->others[town->others_count];

		if (town->others_count && random_below(seed, 4) == 0) {
			uint32_t gone = random_below(seed, town->others_count);

			plan = town->others[gone];
			assert_int_equal(morph_ledger_give(bench->ledger, plan), 0);
			town->others[gone] = town->others[--town->others_count];
			town->others[town->others_count] = plan;
			continue;
		}
		if (!town_place(bench, plan, seed))
			continue;
		assert_int_equal(morph_ledger_take(bench->ledger, plan, 10 + event), 0);
		town->others_count++;
	}
}

/* Ranks that had a spare before and have none now. */
static uint32_t town_lost(const struct town *town)
{
	struct morph_protection *now = new_protection(town->bench);
	uint32_t lost = 0;

	for (uint32_t at = 0; at < town->count; at++) {
		const struct morph_protection *then = town->protections[at];

		protected(town->bench, town->plans[at], now);
		for (uint32_t rank = 0; rank < then->ranks_count; rank++)
			lost += then->ranks[rank].verdict == MORPH_FEASIBLE &&
				now->ranks[rank].verdict != MORPH_FEASIBLE;
	}
	morph_protection_free(now);
	return lost;
}

static void fibres_are_dark(const struct morph_ledger *ledger,
			    const struct morph_protection *protection)
{
	for (uint32_t at = 0; at < protection->strands.count; at++) {
		const struct spare_strand *it = &protection->strands.list[at];

		assert_int_equal(lm_strand_dark(ledger, &it->strand, ledger->graph->all_lanes),
				 !it->own);
		assert_false(lm_strand_free(ledger, &it->strand));
	}
}

static void kept_fibres_stay_dark_and_ranks_stay_protected(void **state)
{
	uint64_t seed = 2, again;
	uint32_t lost = 0;
	struct town town;

	town_begin(&town, *state);
	for (uint32_t round = 0; round < 40; round++) {
		again = seed;
		town_settle(&town, &seed, true);
		town_live(&town, &seed);
		for (uint32_t at = 0; at < town.count; at++)
			fibres_are_dark(town.bench->ledger, town.protections[at]);
		assert_int_equal(town_lost(&town), 0);
		for (uint32_t at = 0; at < town.count; at++)
			assert_int_equal(
				morph_ledger_unkeep(town.bench->ledger, town.protections[at]), 0);
		town_settle(&town, &again, false);
		town_live(&town, &again);
		lost += town_lost(&town);
	}
	print_message("without reservations, %u ranks lost their spare\n", lost);
	assert_true(lost > 0);
	town_end(&town);
}

static void protections_share_kept_fibres(void **state)
{
	uint32_t shared = 0;
	struct town town;
	uint64_t seed = 3;

	town_begin(&town, *state);
	for (uint32_t round = 0; round < 20; round++) {
		struct morph_ledger *ledger = town.bench->ledger;
		void *copies[SHIELDED];
		size_t bytes = 0;

		town_settle(&town, &seed, false);
		for (uint32_t at = 0; at < town.count; at++) {
			protected(town.bench, town.plans[at], town.protections[at]);
			for (uint32_t it = 0; it < town.protections[at]->strands.count; it++)
				shared += !lm_strand_unkept(
					ledger, &town.protections[at]->strands.list[it].strand);
			copies[at] = copy_of(ledger, &bytes);
			assert_int_equal(morph_ledger_keep(ledger, town.protections[at]), 0);
		}
		/*
		 * Fibres that another protection still needs stay kept. In the end nothing is kept.
		 */
		for (uint32_t at = town.count; at--;) {
			fibres_are_dark(ledger, town.protections[at]);
			assert_int_equal(morph_ledger_unkeep(ledger, town.protections[at]), 0);
			ledger_is(ledger, copies[at], bytes);
		}
	}
	print_message("%u fibres were kept already\n", shared);
	assert_true(shared > 20);
	town_end(&town);
}

/* A plan from before is refused, too. */
static void kept_resources_are_not_taken(void **state)
{
	struct bench *bench = *state;
	struct morph_protection *protection = new_protection(bench);
	struct morph_plan *before = morph_plan_new(bench->ctx);
	struct strand strand = { 0 };

	place_torus(bench, bench->plan, HALF_RACK, 7);
	protected(bench, bench->plan, protection);
	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_RING, 8, 1, 1), 0);
	assert_int_equal(placed(bench, before), MORPH_FEASIBLE);
	for (uint32_t at = 0; at < protection->strands.count; at++)
		if (!protection->strands.list[at].own)
			strand = protection->strands.list[at].strand;
	assert_true(strand.guides_count && before->strands_count);
	before->strands[0] = strand;
	assert_int_equal(morph_ledger_keep(bench->ledger, protection), 0);
	assert_int_equal(morph_ledger_take(bench->ledger, before, 8), -EBUSY);
	assert_int_equal(morph_ledger_unkeep(bench->ledger, protection), 0);
	assert_int_equal(morph_ledger_take(bench->ledger, before, 8), 0);
	assert_int_equal(morph_ledger_keep(bench->ledger, protection), -EBUSY);
	assert_non_null(strstr(morph_error_text(bench->ctx), "is no longer free"));
	morph_plan_free(before);
	morph_protection_free(protection);
}

/* Defragmentation never takes kept fibres, and never moves circuits off them. */
static void nothing_moves_where_something_is_kept(void **state)
{
	struct morph_protection *protections[SLICES];
	uint32_t taken = 0, moved = 0;
	bool kept[SLICES] = { false };
	struct corner corner;
	uint64_t seed = 4;

	corner_begin(&corner, *state);
	for (uint32_t at = 0; at < SLICES; at++)
		protections[at] = new_protection(corner.bench);
	for (uint32_t round = 0; round < 250; round++) {
		struct morph_defrag_result result;

		protecting_run(&corner, &seed);
		for (uint32_t at = 0; at < corner.count; at++) {
			protected(corner.bench, corner.plans[at], protections[at]);
			kept[at] = random_below(&seed, 4) == 0;
			if (kept[at])
				assert_int_equal(morph_ledger_keep(corner.bench->ledger,
								   protections[at]),
						 0);
		}
		/* A request that may need moves, if there is one. */
		for (uint32_t tries = 0; tries < 10; tries++) {
			corner_ask(corner.bench->request, &seed);
			assert_int_equal(morph_place(corner.bench->ledger, corner.bench->request,
						     corner.bench->plan),
					 0);
			if (corner_lacks_fibres(&corner))
				break;
		}
		result = corner_solve(&corner, random_below(&seed, 2));
		if (result.verdict == MORPH_FEASIBLE) {
			assert_int_equal(
				morph_defrag_take(corner.defrag, corner.bench->ledger, 100), 0);
			taken++;
			moved += result.moved;
		}
		for (uint32_t at = 0; at < corner.count; at++) {
			if (!kept[at])
				continue;
			fibres_are_dark(corner.bench->ledger, protections[at]);
			assert_int_equal(morph_ledger_unkeep(corner.bench->ledger, protections[at]),
					 0);
		}
	}
	print_message("%u requests fitted after moves of %u circuits\n", taken, moved);
	assert_true(taken && moved);
	for (uint32_t at = 0; at < SLICES; at++)
		morph_protection_free(protections[at]);
	corner_end(&corner);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, placing_setup, placing_teardown)
		TEST(kept_fibres_stay_dark_and_ranks_stay_protected),
		TEST(protections_share_kept_fibres),
		TEST(kept_resources_are_not_taken),
		TEST(nothing_moves_where_something_is_kept),
#undef TEST
	};

	return placing_run(argc, argv, "keep", tests, ARRAY_SIZE(tests));
}

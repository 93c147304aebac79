// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Make room in a whole rack, whose profile is on the command line, for all shapes: tori of whole
 * servers, rings, meshes, in a box or anywhere. The rack is too large for trying everything. The
 * checker checks answers as far as its steps permit.
 */
#include "../internal/planner.h"
#include "corner.h"

#define CHECK_STEPS (1 << 16)
#define HELD 40 /* accelerators, of 64 */

struct tally {
	uint32_t verdicts[4], moved, dark, tiers[3], checked;
};

static void ask_shape(struct morph_request *request, uint64_t *seed)
{
	static const uint8_t shapes[][3] = { { 2, 1, 1 }, { 4, 1, 1 }, { 6, 1, 1 }, { 2, 3, 1 },
					     { 2, 2, 2 }, { 2, 2, 3 }, { 2, 2, 4 }, { 3, 3, 1 },
					     { 2, 4, 1 }, { 4, 2, 2 }, { 8, 1, 1 }, { 2, 2, 1 } };
	static const uint8_t none[3] = { 1, 1, 1 };
	uint32_t choice = random_below(seed, 16);

	morph_request_set_simplex(request, random_below(seed, 4) == 0);
	if (choice < 12)
		assert_int_equal(morph_request_set_shape(request, MORPH_SHAPE_TORUS,
							 shapes[choice][0], shapes[choice][1],
							 shapes[choice][2]),
				 0);
	else if (choice < 14)
		assert_int_equal(morph_request_set_shape(request, MORPH_SHAPE_MESH, 4 + choice % 2,
							 1, 1),
				 0);
	else /* up to more ranks than the planner tries everywhere */
		assert_int_equal(morph_request_set_shape(request, MORPH_SHAPE_RING,
							 choice == 14 ? 3 + random_below(seed, 20) :
									25 + random_below(seed, 4),
							 1, 1),
				 0);
	ask_servers(request, seed, choice < 12 ? shapes[choice] : none);
	assert_int_equal(morph_request_set_transit(request, random_below(seed, 6) == 0), 0);
}

/* Slices that have come and gone, in a rack with some unusable fibres. */
static void fill(struct corner *corner, uint64_t *seed, uint32_t percent)
{
	struct morph_ledger *ledger = corner->bench->ledger;
	uint32_t held = 0;

	corner_clear(corner);
	for (uint32_t at = 0; at < ledger->sites.strands_count; at++)
		morph_ledger_mark(ledger, MORPH_PART_GUIDE,
				  ledger->sites.strands[at].guides[0] >> 1,
				  random_below(seed, 100) < percent);
	assert_int_equal(morph_request_set_tier(corner->bench->request, MORPH_TIER_STITCHED), 0);
	for (uint32_t tries = 0; tries < 2 * SLICES && corner->count < SLICES && held < HELD;
	     tries++) {
		ask_shape(corner->bench->request, seed);
		if (corner_add(corner, seed))
			held += corner->bench->request->ranks;
	}
}

static struct morph_defrag_result solve(struct corner *corner, uint64_t steps, struct tally *tally)
{
	MORPH_OPTS(morph_defrag_opts, opts, .steps = steps);
	MORPH_OPTS(morph_defrag_result, result);
	struct answer answer;
	char report[256];
	int ret;

	if (morph_defrag_solve(corner->defrag, corner->bench->ledger, corner->bench->request, &opts,
			       &result))
		fail_msg("%s", morph_error_text(corner->bench->ctx));
	answer_write(corner, &answer);
	answer.input.steps = CHECK_STEPS;
	ret = morph_check_defrag(&answer.input, report, sizeof(report));
	if (ret && ret != -EAGAIN)
		fail_msg("%s", report);
	answer_free(&answer);
	tally->checked += !ret;
	tally->verdicts[result.verdict]++;
	tally->moved += result.moved;
	tally->dark += result.dark;
	if (result.verdict == MORPH_FEASIBLE)
		tally->tiers[morph_plan_tier(morph_defrag_plan(corner->defrag))]++;
	return result;
}

/* With fewer steps the planner answers less, but nothing wrong. */
static void whatever_is_answered_is_so(void **state)
{
	static const uint64_t few[] = { 5, 17, 60, 300 };
	struct bench *bench = *state;
	struct tally tally = { .moved = 0 };
	struct corner corner;
	uint32_t told_less = 0;
	uint64_t seed = 1;

	corner_begin(&corner, bench);
	corner.detour = 2;
	morph_request_set_budget(bench->request, 1 << 9);
	for (uint32_t round = 0; round < 200; round++) {
		uint32_t verdict, least;

		fill(&corner, &seed, round % 2 * 50);
		do
			ask_shape(bench->request, &seed);
		while (bench->request->ranks > ACCELERATORS - HELD + 4);
		assert_int_equal(morph_request_set_tier(bench->request,
							1 + (random_below(&seed, 4) != 0)),
				 0);
		verdict = solve(&corner, 1 << 12, &tally).verdict;
		least = solve(&corner, few[round % 4], &tally).verdict;
		told_less += least != verdict;
		assert_true(least == verdict || least == MORPH_UNDECIDED ||
			    verdict == MORPH_UNDECIDED);
	}
	print_message(
		"%u feasible (%u in boxes), %u not, %u undecided, %u weaker with fewer steps; %u moved, %u dark; %u checked\n",
		tally.verdicts[1], tally.tiers[1], tally.verdicts[2], tally.verdicts[3], told_less,
		tally.moved, tally.dark, tally.checked);
	assert_true(tally.verdicts[MORPH_FEASIBLE] > 50 && tally.verdicts[MORPH_INFEASIBLE] > 30);
	assert_true(tally.moved > 20 && told_less > 5 && tally.checked > 200);
	corner_end(&corner);
}

/*
 * Tori of servers, and of ranks anywhere, in racks with half of the fibres unusable. They are too
 * large for trying all paths. They are so full that only a search over all circuits together shows
 * that no paths exist.
 */
static void half_a_rack_leaves_no_doubt(void **state)
{
	static const uint8_t shapes[][3] = { { 2, 2, 3 }, { 2, 2, 4 }, { 2, 2, 2 },
					     { 3, 3, 1 }, { 2, 3, 1 }, { 8, 1, 1 } };
	struct bench *bench = *state;
	struct tally tally = { .moved = 0 };
	struct corner corner;
	uint64_t seed = 2;

	corner_begin(&corner, bench);
	corner.detour = 2;
	morph_request_set_budget(bench->request, 1 << 9);
	for (uint32_t round = 0; round < 120; round++) {
		const uint8_t *shape = shapes[round % ARRAY_SIZE(shapes)];

		fill(&corner, &seed, 50);
		morph_request_set_simplex(bench->request, 0);
		morph_request_set_transit(bench->request, MORPH_TRANSIT_ANY);
		morph_request_set_servers(bench->request, round % ARRAY_SIZE(shapes) < 3 ?
								  MORPH_SERVERS_WHOLE :
								  MORPH_SERVERS_SHARED);
		assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_TORUS,
							 shape[0], shape[1], shape[2]),
				 0);
		assert_int_equal(morph_place(bench->ledger, bench->request, bench->plan), 0);
		if (morph_plan_verdict(bench->plan) != MORPH_FEASIBLE)
			solve(&corner, 0, &tally);
	}
	print_message("%u feasible, %u not, %u undecided; %u checked\n", tally.verdicts[1],
		      tally.verdicts[2], tally.verdicts[3], tally.checked);
	assert_true(tally.verdicts[MORPH_FEASIBLE] > 10 && tally.verdicts[MORPH_INFEASIBLE] > 10);
	assert_int_equal(tally.verdicts[MORPH_UNDECIDED], 0);
	corner_end(&corner);
}

/* With more ranks than the planner tries everywhere, it cannot prove that no place exists. */
static void long_rings_leave_doubt(void **state)
{
	struct bench *bench = *state;
	struct tally tally = { .moved = 0 };
	struct corner corner;

	corner_begin(&corner, bench);
	for (uint32_t at = 0; at < bench->ledger->graph->guides_count; at++)
		if (bench->ledger->graph->guides[at].class == MORPH_GUIDE_FIBRE)
			morph_ledger_load(bench->ledger, at, 1);
	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_RING, 24, 1, 1), 0);
	assert_int_equal(solve(&corner, 0, &tally).verdict, MORPH_INFEASIBLE);
	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_RING, 25, 1, 1), 0);
	assert_int_equal(solve(&corner, 0, &tally).verdict, MORPH_UNDECIDED);
	corner_end(&corner);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, placing_setup, placing_teardown)
		TEST(whatever_is_answered_is_so),
		TEST(half_a_rack_leaves_no_doubt),
		TEST(long_rings_leave_doubt),
#undef TEST
	};

	return placing_run(argc, argv, "defrag_rack", tests, ARRAY_SIZE(tests));
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Slices of hundreds and thousands of ranks, on a pod of 64 racks from the command line, whose
 * circuit switches join any faces. The checker checks each answer.
 */
#include "../internal/planner.h"
#include "placing.h"

#define RACKS 64
#define RACK_ALL 72 /* accelerators of a rack, spares included */
#define HEAD 5 /* words of the wire form */
#define PLAN_HEAD 17

/* One pod for all tests, because building it takes long. */
static void *pod;

static int begin(void **state)
{
	int ret = pod ? 0 : placing_setup(&pod);

	*state = pod;
	return ret;
}

/* Release all resources, and make all parts healthy. */
static int clear(void **state)
{
	struct bench *bench = *state;

	for (uint32_t at = 0; at < RACKS * RACK_ALL; at++)
		assert_int_equal(morph_ledger_hold(bench->ledger, at, 0), 0);
	for (uint32_t guide = 0; !morph_ledger_mark(bench->ledger, MORPH_PART_GUIDE, guide, false);
	     guide++)
		;
	return 0;
}

static void ask_torus(struct bench *bench, uint32_t x, uint32_t y, uint32_t z)
{
	assert_int_equal(morph_request_set_tier(bench->request, MORPH_TIER_CROSSING), 0);
	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_TORUS, x, y, z), 0);
}

/* Every circuit between servers has one fibre, and every server is full. */
static void is_tight(const struct bench *bench)
{
	uint32_t bound, fibres = morph_plan_fibres(bench->plan, &bound);

	assert_int_equal(morph_plan_tier(bench->plan), MORPH_TIER_CROSSING);
	assert_int_equal(fibres, bound);
	assert_int_equal(morph_plan_servers(bench->plan, &bound),
			 morph_plan_ranks(bench->plan) / 4);
	assert_int_equal(bound, morph_plan_ranks(bench->plan) / 4);
}

static void tori_that_fill_racks_take_no_detour(void **state)
{
	static const uint8_t shapes[][3] = { { 16, 16, 16 }, { 8, 4, 12 }, { 8, 8, 4 } };
	struct bench *bench = *state;

	for (uint32_t at = 0; at < ARRAY_SIZE(shapes); at++) {
		ask_torus(bench, shapes[at][0], shapes[at][1], shapes[at][2]);
		assert_int_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
		is_tight(bench);
	}
}

/*
 * Disable all fibres out of the faces of the first rank's rack that the plan uses. Returns the
 * rack.
 */
static uint32_t darken_faces(struct bench *bench)
{
	uint32_t rack = morph_plan_accelerator(bench->plan, 0) / RACK_ALL, count = 0;
	struct written all = write_all(bench, bench->plan);
	uint32_t ranks = all.plan[HEAD + 2], circuits = all.plan[HEAD + 8];
	const uint32_t *way = all.plan + PLAN_HEAD + 2 * ranks;
	const uint32_t *strands = way + 2 * circuits;

	for (uint32_t at = 0; at < circuits; at++) {
		const uint32_t *strand = strands + MORPH_WIRE_STRAND * (size_t)way[2 * at];
		uint32_t src = all.request[HEAD + 8 + 2 * at];

		if (!way[2 * at + 1] || strand[0] < 2 ||
		    morph_plan_accelerator(bench->plan, src) / RACK_ALL != rack)
			continue;
		assert_int_equal(morph_ledger_mark(bench->ledger, MORPH_PART_GUIDE, strand[1] >> 1,
						   true),
				 0);
		count++;
	}
	written_free(&all);
	assert_int_not_equal(count, 0);
	return rack;
}

static bool lies_in(const struct bench *bench, uint32_t rack)
{
	for (uint32_t rank = 0; rank < morph_plan_ranks(bench->plan); rank++)
		if (morph_plan_accelerator(bench->plan, rank) / RACK_ALL == rack)
			return true;
	return false;
}

static void hold_rack(struct bench *bench, uint32_t rack, uint32_t slice)
{
	for (uint32_t at = 0; at < RACK_ALL; at++)
		assert_int_equal(morph_ledger_hold(bench->ledger, RACK_ALL * rack + at, slice), 0);
}

static void racks_with_dark_faces_are_left_out(void **state)
{
	struct bench *bench = *state;
	uint32_t rack;

	for (uint32_t other = 3; other < RACKS; other++)
		hold_rack(bench, other, 1);
	ask_torus(bench, 4, 4, 8);
	assert_int_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
	rack = darken_faces(bench);
	assert_int_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
	is_tight(bench);
	assert_false(lies_in(bench, rack));
}

static void racks_shared_with_other_tenants_are_excluded(void **state)
{
	struct bench *bench = *state;

	assert_int_equal(morph_ledger_hold(bench->ledger, 17, 1), 0);
	ask_torus(bench, 4, 4, 16);
	assert_int_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
	is_tight(bench);
	assert_false(lies_in(bench, 0));
}

static void requests_that_fill_no_racks_grow(void **state)
{
	struct bench *bench = *state;

	ask_torus(bench, 10, 6, 6);
	assert_int_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_RING, 1000, 1, 1), 0);
	assert_int_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
	assert_int_equal(morph_plan_ranks(bench->plan), 1000);
	assert_int_equal(morph_request_set_count(bench->request, 3000), 0);
	assert_int_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
}

static void too_few_accelerators_are_counted(void **state)
{
	struct bench *bench = *state;

	assert_int_equal(morph_ledger_hold(bench->ledger, 17, 1), 0);
	ask_torus(bench, 16, 16, 16);
	assert_int_equal(placed(bench, bench->plan), MORPH_INFEASIBLE);
	assert_string_equal(morph_plan_why(bench->plan),
			    "not enough accelerators: 4096 requested, 4095 free in all racks");
}

/* ----------------------------------------------------------------------- light */

/* Also in racks that close their own rings: there is hardly a free lane inside servers. */
static void requests_that_fill_racks_can_be_lit(void **state)
{
	static const uint8_t shapes[][3] = { { 4, 4, 8 }, { 8, 4, 4 }, { 8, 8, 8 } };
	struct bench *bench = *state;

	for (uint32_t at = 0; at < ARRAY_SIZE(shapes); at++) {
		const uint8_t *shape = shapes[at];
		struct morph_txn *txn = morph_txn_new(bench->ctx);

		assert_non_null(txn);
		ask_torus(bench, shape[0], shape[1], shape[2]);
		assert_int_equal(morph_place(bench->ledger, bench->request, bench->plan), 0);
		assert_int_equal(morph_txn_add_plan(txn, bench->plan, bench->ledger), 0);
		is_tight(bench);
		assert_int_equal(morph_txn_count(txn), 6 * shape[0] * shape[1] * shape[2]);
		morph_txn_free(txn);
	}
}

static void many_circuits_are_several_transactions(void **state)
{
	struct bench *bench = *state;
	struct morph_txn *txn = morph_txn_new(bench->ctx), *rest;
	size_t parts = 0, changes = 0;

	assert_non_null(txn);
	ask_torus(bench, 8, 8, 8);
	assert_int_equal(morph_txn_place(txn, bench->ledger, bench->request, bench->plan), 0);
	assert_int_equal(morph_txn_count(txn), 3072);
	for (; txn; morph_txn_free(txn), txn = rest, parts++) {
		assert_int_equal(morph_txn_split(txn, &rest), 0);
		assert_in_range(morph_txn_count(txn), 1, 1024);
		changes += morph_txn_count(txn);
	}
	assert_int_equal(changes, 3072);
	assert_int_equal(parts, 3);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, clear)
		TEST(tori_that_fill_racks_take_no_detour),
		TEST(racks_with_dark_faces_are_left_out),
		TEST(racks_shared_with_other_tenants_are_excluded),
		TEST(requests_that_fill_no_racks_grow),
		TEST(too_few_accelerators_are_counted),
		TEST(requests_that_fill_racks_can_be_lit),
		TEST(many_circuits_are_several_transactions),
#undef TEST
	};
	int failed;

	failed = placing_run(argc, argv, "large", tests, ARRAY_SIZE(tests));
	if (pod)
		placing_teardown(&pod);
	return failed;
}

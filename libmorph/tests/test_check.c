// SPDX-License-Identifier: LGPL-2.1-or-later
/* The checker rejects corrupted plans and refusals, and bytes that are neither. */
#include "../internal/planner.h"
#include "placing.h"

#define HEAD 5 /* words of the wire form */
#define PLAN_HEAD 17

/* -------------------------------------------------------------------- mutants */

/* Corrupt a feasible plan, its ledger or its request, so that the plan is invalid. */
static void corrupt_feasible(struct written *all, uint64_t *seed)
{
	uint32_t *plan = all->plan + HEAD, ranks = plan[2], circuits = plan[8], strands = plan[9];
	uint32_t *rank = all->plan + PLAN_HEAD, *way = rank + 2 * ranks;
	uint32_t *strand = way + 2 * circuits, *held = all->ledger + HEAD + 3;
	uint32_t guides = all->ledger[HEAD + 2], *guide = all->ledger + HEAD + 3 + 2 * 72;
	uint32_t one = random_below(seed, strands), code = strand[MORPH_WIRE_STRAND * one + 1];
	uint32_t who = random_below(seed, ranks);

	guide += all->ledger[HEAD + 1]; /* behind the elements */
	switch (random_below(seed, 16)) {
	case 0: /* figures and bounds */
		plan[4 + random_below(seed, 4)] += 1;
		break;
	case 1:
		plan[4 + random_below(seed, 4)] -= 1;
		break;
	case 2: /* ranks */
		rank[2 * who] = rank[2 * ((who + 1) % ranks)];
		break;
	case 3:
		rank[2 * who] = 64 + random_below(seed, 8); /* a spare */
		break;
	case 4:
		rank[2 * who] = 72 + random_below(seed, 1000);
		break;
	case 5:
		held[2 * rank[2 * who]] = 1000; /* another's */
		break;
	case 6:
		held[2 * rank[2 * who] + 1] = 1; /* unusable */
		break;
	case 7: /* routes */
		strand[MORPH_WIRE_STRAND * one + 1] = code ^ 1; /* against the light */
		break;
	case 8:
		strand[MORPH_WIRE_STRAND * one + 1] = random_below(seed, 2 * guides) | 0x40000000U;
		break;
	case 9:
		strand[MORPH_WIRE_STRAND * one + 1] =
			strand[MORPH_WIRE_STRAND * ((one + 1) % strands) + 1]; /* twice */
		break;
	case 10:
		strand[MORPH_WIRE_STRAND * one] += 1; /* a guide more */
		break;
	case 11:
		way[2 * random_below(seed, circuits) + 1] += 1;
		break;
	case 12: /* lanes */
		guide[3 * (code >> 1) + 1] = 1U << random_below(seed, 16); /* held by a circuit */
		break;
	case 13:
		guide[3 * (code >> 1)] = 1; /* unusable */
		break;
	case 14:
		all->request[HEAD + 2] = 17; /* more than a circuit has */
		break;
	default:
		plan[0] = MORPH_INFEASIBLE;
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
		struct written all;

		for (uint32_t at = 0; at < ACCELERATORS; at++)
			morph_ledger_hold(bench->ledger, at, random_below(&seed, 3) == 0);
		hold_fibres(bench, &seed, 10);
		ask(bench->request, &seed);
		if (placed(bench, bench->plan) != MORPH_FEASIBLE ||
		    morph_plan_fibres(bench->plan, NULL) < 2)
			continue;
		for (uint32_t round = 0; round < 20; round++, mutants++) {
			all = write_all(bench, bench->plan);
			corrupt_feasible(&all, &seed);
			if (!check_written(&all, report, sizeof(report)))
				fail_msg("the checker accepted mutant %u as a plan", mutants);
			assert_string_not_equal(report, "");
			written_free(&all);
		}
	}
}

/* Corrupt a proof that no plan exists: its claims, or the ledger that it refers to. */
static void corrupt_refusal(struct written *all, uint64_t *seed)
{
	uint32_t *plan = all->plan + HEAD, ranks = plan[2];
	uint32_t *refusal = all->plan + PLAN_HEAD + 2 * ranks, *held = all->ledger + HEAD + 3;
	uint32_t *guide = all->ledger + HEAD + 3 + 2 * 72 + all->ledger[HEAD + 1];

	switch (random_below(seed, 6)) {
	case 0:
		refusal[0] += 1 + random_below(seed, 17); /* another server */
		break;
	case 1:
		refusal[1] = 2; /* in doubt */
		break;
	case 2:
		plan[0] = MORPH_FEASIBLE;
		break;
	case 3:
		if (refusal[1] == 0)
			refusal[2 + random_below(seed, 2)] += 1;
		else
			refusal[5] = 5000; /* cuts that are not there */
		break;
	case 4: /* as if all were free */
		for (uint32_t at = 0; at < ACCELERATORS; at++)
			held[2 * at] = 0;
		for (uint32_t at = 0; at < all->ledger[HEAD + 2]; at++)
			guide[3 * at + 1] = 0;
		break;
	default:
		if (refusal[1] == 0)
			refusal[1] = 1; /* cuts where accelerators are counted */
		else
			refusal[1] = 0;
		refusal[0] = refusal[1] ? 1 : refusal[0];
		break;
	}
}

static void mutants_of_refusals_are_rejected(void **state)
{
	struct bench *bench = *state;
	uint32_t mutants = 0;
	uint64_t seed = 5;
	char report[256];

	while (mutants < 200) {
		struct written all;

		hold_fibres(bench, &seed, 80);
		for (uint32_t server = 0; server < 16; server++) {
			uint32_t slice = random_below(&seed, 10) < 5;

			for (uint32_t at = 0; at < 4; at++)
				morph_ledger_hold(bench->ledger, 4 * server + at, slice);
		}
		assert_int_equal(
			morph_request_set_shape(bench->request, MORPH_SHAPE_TORUS, 2, 4, 4), 0);
		if (placed(bench, bench->plan) != MORPH_INFEASIBLE)
			continue;
		for (uint32_t round = 0; round < 20; round++, mutants++) {
			all = write_all(bench, bench->plan);
			corrupt_refusal(&all, &seed);
			if (!check_written(&all, report, sizeof(report)))
				fail_msg("the checker accepted mutant %u as a proof", mutants);
			written_free(&all);
		}
	}
}

/* ------------------------------------------------------------------- bad input */

static void bytes_that_are_no_plan_are_refused(void **state)
{
	struct bench *bench = *state;
	struct written all;
	char report[256];

	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_TORUS, 2, 2, 2), 0);
	assert_int_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
	all = write_all(bench, bench->plan);
	assert_int_equal(morph_plan_write(bench->plan, bench->ledger, all.plan, all.plan_bytes - 1),
			 -ENOSPC);
	for (uint32_t at = 0; at < 5; at++) {
		all.plan[at] ^= 0x100;
		assert_int_not_equal(check_written(&all, report, sizeof(report)), 0);
		all.plan[at] ^= 0x100;
		all.ledger[at] ^= 0x100;
		assert_int_equal(check_written(&all, report, sizeof(report)), -EINVAL);
		all.ledger[at] ^= 0x100;
	}
	for (uint32_t at = 0; at < 13; at++) {
		if (at == 3 || (at >= 7 && at <= 9))
			continue; /* of other profiles; tiers, transit and lanes may be others */
		all.request[at] ^= 0x100;
		assert_int_not_equal(check_written(&all, report, sizeof(report)), 0);
		all.request[at] ^= 0x100;
	}
	assert_int_equal(check_written(&all, NULL, 0), 0);
	all.plan_bytes -= 4;
	assert_int_equal(check_written(&all, report, sizeof(report)), -EINVAL);
	written_free(&all);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, placing_setup, placing_teardown)
		TEST(mutants_of_plans_are_rejected),
		TEST(mutants_of_refusals_are_rejected),
		TEST(bytes_that_are_no_plan_are_refused),
#undef TEST
	};

	return placing_run(argc, argv, "check", tests, ARRAY_SIZE(tests));
}

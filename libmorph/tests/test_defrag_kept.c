// SPDX-License-Identifier: LGPL-2.1-or-later
/* Keep the resources of running slices of a fake kernel that failovers would use. */
#include "../internal/planner.h"
#include "../place/place.h"
#include "kernel.h"
#include "../protect/protect.h"

static uint32_t guides_kept(const struct morph_ledger *ledger)
{
	uint32_t kept = 0;

	for (uint32_t guide = 0; guide < ledger->graph->guides_count; guide++)
		kept += ledger->guide_kept[guide] != 0;
	return kept;
}

/* The fibres of slices that the kernel repairs while they are dark, and of no others. */
static void resources_of_running_slices_are_kept(void **state)
{
	struct corner corner;
	struct morph_defrag *defrag;
	struct morph_ledger *ledger;
	uint32_t kept = 0, guides = 0;
	uint64_t seed = 5;

	corner_begin(&corner, *state);
	defrag = morph_defrag_new(corner.bench->ctx);
	assert_int_equal(morph_ledger_new(corner.bench->ctx, corner.bench->model, &ledger), 0);
	for (uint32_t round = 0; round < 8; round++) {
		int ranks;

		corner_draw(&corner, &seed);
		if (!kernel_boot(&corner))
			continue;
		for (uint32_t slice = 1; slice <= SLICES; slice++) {
			kernel.failover[slice] = slice % 4 ? MORPH_FAILOVER_AUTOMATIC :
							     MORPH_FAILOVER_MANUAL;
			kernel.reserved[slice] = slice % 4 == 3;
		}
		assert_int_equal(morph_defrag_read(defrag, ledger, FABRIC, CONTROLLER), 0);
		/* The spares are outside the corner. */
		for (uint32_t guide = 0; guide < ledger->graph->guides_count; guide++)
			morph_ledger_mark(ledger, MORPH_PART_GUIDE, guide, false);
		for (uint32_t at = ACCELERATORS; at < ledger->graph->accelerators_count; at++) {
			morph_ledger_mark(ledger, MORPH_PART_ACCELERATOR, at, false);
			assert_int_equal(morph_ledger_set_spare(ledger, at, true), 0);
		}
		ranks = morph_defrag_keep(defrag, ledger);
		assert_true(ranks >= 0);
		for (uint32_t at = 0; at < defrag->slices.count; at++) {
			const struct running *running = &defrag->slices.list[at];
			uint32_t kind = running->slice % 4;

			assert_int_equal(running->kept != NULL, kind == 1 || kind == 2);
			for (uint32_t rank = 0; running->kept && rank < running->plan->ranks;
			     rank++)
				ranks -= running->kept->ranks[rank].verdict == MORPH_FEASIBLE;
			kept += running->kept != NULL;
		}
		assert_int_equal(ranks, 0);
		guides += guides_kept(ledger);
		/* A second call keeps nothing more. */
		assert_int_equal(morph_defrag_keep(defrag, ledger), 0);
		morph_defrag_clear(defrag);
		assert_int_equal(guides_kept(ledger), 0);
	}
	assert_true(kept > 3 && guides > 0);
	morph_ledger_free(ledger);
	morph_defrag_free(defrag);
	corner_end(&corner);
}

/* Of all suitable spares, keep the one that the kernel plans to use. */
static void the_spare_that_the_kernel_counts_on_is_kept_first(void **state)
{
	uint32_t counted = 0, others = 0;
	struct corner corner;
	struct morph_defrag *defrag;
	struct morph_ledger *ledger;
	uint64_t seed = 5;

	corner_begin(&corner, *state);
	defrag = morph_defrag_new(corner.bench->ctx);
	assert_int_equal(morph_ledger_new(corner.bench->ctx, corner.bench->model, &ledger), 0);
	for (uint32_t round = 0; round < 8; round++) {
		corner_draw(&corner, &seed);
		if (!kernel_boot(&corner))
			continue;
		kernel.spare = ACCELERATORS + 7;
		assert_int_equal(morph_defrag_read(defrag, ledger, FABRIC, CONTROLLER), 0);
		for (uint32_t guide = 0; guide < ledger->graph->guides_count; guide++)
			morph_ledger_mark(ledger, MORPH_PART_GUIDE, guide, false);
		for (uint32_t at = ACCELERATORS; at < ledger->graph->accelerators_count; at++) {
			morph_ledger_mark(ledger, MORPH_PART_ACCELERATOR, at, false);
			assert_int_equal(morph_ledger_set_spare(ledger, at, true), 0);
		}
		assert_true(morph_defrag_keep(defrag, ledger) >= 0);
		for (uint32_t at = 0; at < defrag->slices.count; at++) {
			const struct running *running = &defrag->slices.list[at];

			for (uint32_t rank = 0; running->kept && rank < running->plan->ranks;
			     rank++) {
				uint32_t spare = morph_protection_spare(running->kept, rank);

				counted += spare == kernel.spare;
				others += spare != kernel.spare && spare != UINT32_MAX;
			}
		}
		morph_defrag_clear(defrag);
	}
	kernel.spare = 0;
	print_message("%u ranks with that spare, %u with another\n", counted, others);
	assert_true(counted > others);
	morph_ledger_free(ledger);
	morph_defrag_free(defrag);
	corner_end(&corner);
}

/*
 * Each allocation fails in turn. The call reports the resources kept so far, and another call keeps
 * the rest.
 */
static void after_lack_of_memory_resources_are_kept_later(void **state)
{
	struct corner corner;
	struct morph_defrag *defrag;
	struct morph_ledger *ledger;
	uint64_t seed = 5;
	uint32_t failed = 0, guides;

	corner_begin(&corner, *state);
	defrag = morph_defrag_new(corner.bench->ctx);
	assert_int_equal(morph_ledger_new(corner.bench->ctx, corner.bench->model, &ledger), 0);
	do
		corner_draw(&corner, &seed);
	while (!kernel_boot(&corner));
	for (uint32_t slice = 1; slice <= SLICES; slice++)
		kernel.failover[slice] = MORPH_FAILOVER_AUTOMATIC;
	assert_int_equal(morph_defrag_read(defrag, ledger, FABRIC, CONTROLLER), 0);
	for (uint32_t at = ACCELERATORS; at < ledger->graph->accelerators_count; at++)
		assert_int_equal(morph_ledger_set_spare(ledger, at, true), 0);
	assert_true(morph_defrag_keep(defrag, ledger) >= 0);
	guides = guides_kept(ledger);
	for (unsigned int nth = 1;; nth++) {
		int ret;

		morph_defrag_clear(defrag);
		assert_int_equal(morph_defrag_read(defrag, ledger, FABRIC, CONTROLLER), 0);
		fault_at("memory", nth, ENOMEM);
		ret = morph_defrag_keep(defrag, ledger);
		if (!fault_struck()) {
			assert_true(ret >= 0);
			break;
		}
		assert_int_equal(ret, -ENOMEM);
		assert_true(morph_defrag_keep(defrag, ledger) >= 0);
		assert_int_equal(guides_kept(ledger), guides);
		failed++;
	}
	assert_true(failed > 2);
	morph_ledger_free(ledger);
	morph_defrag_free(defrag);
	corner_end(&corner);
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, placing_setup, kernel_teardown)
	const struct CMUnitTest tests[] = {
		TEST(resources_of_running_slices_are_kept),
		TEST(the_spare_that_the_kernel_counts_on_is_kept_first),
		TEST(after_lack_of_memory_resources_are_kept_later),
	};

	return placing_run(argc, argv, "defrag_kept", tests, ARRAY_SIZE(tests));
}

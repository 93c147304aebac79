// SPDX-License-Identifier: LGPL-2.1-or-later
/* Make room on a running fabric in a fake kernel: read it, report, and light circuits. */
#include <stdio.h>

#include "../check/check.h"
#include "../internal/planner.h"
#include "../place/place.h"
#include "kernel.h"
#include "../protect/protect.h"

/* ----------------------------------------------------------------------- a scene */

static struct morph_defrag_result solve(struct bench *bench, struct morph_defrag *defrag,
					struct morph_ledger *ledger)
{
	MORPH_OPTS(morph_defrag_result, result);

	if (morph_defrag_solve(defrag, ledger, bench->request, NULL, &result))
		fail_msg("%s", morph_error_text(bench->ctx));
	return result;
}

/*
 * Slices that run in a corner, and a request; with @moves only a request that needs moves. Returns
 * false if there is none.
 */
static bool set(struct corner *corner, uint64_t *seed, bool moves)
{
	corner_draw(corner, seed);
	return (!moves || solve(corner->bench, corner->defrag, corner->bench->ledger).moved) &&
	       kernel_boot(corner);
}

/* Check that the answer is valid with its present fibres. */
static void check(struct corner *corner, struct morph_defrag *defrag, struct morph_ledger *ledger)
{
	struct bench bench = *corner->bench;
	struct corner live = { .bench = &bench, .defrag = defrag };
	struct answer written;
	char report[256];

	bench.ledger = ledger;
	answer_write(&live, &written);
	if (morph_check_defrag(&written.input, report, sizeof(report)))
		fail_msg("%s", report);
	answer_free(&written);
}

/* Each circuit of the request is lit, on the fibres of the plan. */
static void check_request(const struct morph_defrag *defrag, uint32_t request)
{
	const struct morph_plan *plan = morph_defrag_plan(defrag);
	uint32_t circuit = 0;

	for (uint32_t at = 0; at < kernel.count; at++) {
		const struct circuit *it = &kernel.circuits[at];
		uint32_t strand;

		if (it->slice != request)
			continue;
		strand = plan->ways[circuit].first;
		assert_int_equal(it->src_rank, plan->circuits[circuit].src);
		assert_int_equal(it->dst_rank, plan->circuits[circuit].dst);
		for (uint32_t hop = 0; hop < it->path.hops_count; hop++)
			if (kernel.books->graph->guides[it->hops[hop].guide >> 1].class ==
			    MORPH_GUIDE_FIBRE)
				assert_int_equal(it->hops[hop].guide,
						 plan->strands[strand++].guides[0]);
		assert_int_equal(strand, plan->ways[circuit].first + plan->ways[circuit].count);
		circuit++;
	}
	assert_int_equal(circuit, plan->circuits_count);
}

/* There are no further steps. */
static void check_beyond(const struct morph_defrag *defrag, uint32_t steps)
{
	struct morph_txn *txn = morph_txn_new(defrag->ctx);

	assert_int_equal(morph_txn_add_step(txn, defrag, steps), -ENOENT);
	assert_int_equal(morph_txn_add_broken(txn, defrag, steps + 1, 1), -EINVAL);
	assert_int_equal(txn->count, 0);
	morph_txn_free(txn);
}

/*
 * After a failed step, dark circuits are lit again: exactly those that a slice lacks in the kernel.
 */
static uint32_t check_broken(const struct morph_defrag *defrag, uint32_t done)
{
	uint32_t sum = 0;

	for (uint32_t at = 0; at < defrag->slices.count; at++) {
		const struct running *running = &defrag->slices.list[at];
		const struct morph_plan *plan = running->plan;
		struct morph_txn *txn = morph_txn_new(defrag->ctx);
		int lacks[DEMANDS][DEMANDS] = { { 0 } };

		assert_int_equal(morph_txn_add_broken(txn, defrag, done, running->slice), 0);
		sum += txn->count;
		for (uint32_t circuit = 0; circuit < plan->circuits_count; circuit++)
			lacks[plan->circuits[circuit].src][plan->circuits[circuit].dst]++;
		for (uint32_t circuit = 0; circuit < kernel.count; circuit++)
			if (kernel.circuits[circuit].slice == running->slice)
				lacks[kernel.circuits[circuit].src_rank]
				     [kernel.circuits[circuit].dst_rank]--;
		for (uint32_t change = 0; change < txn->count; change++) {
			assert_int_equal(txn->changes[change].op, MORPH_CHANGE_ADD);
			assert_int_equal(txn->changes[change].lanes_count, plan->lanes);
			lacks[txn->changes[change].src_rank][txn->changes[change].dst_rank]--;
		}
		for (uint32_t src = 0; src < plan->ranks; src++)
			for (uint32_t dst = 0; dst < plan->ranks; dst++)
				assert_int_equal(lacks[src][dst], 0);
		morph_txn_free(txn);
	}
	return sum;
}

/* ------------------------------------------------------------------------- tests */

static void running_slices_are_read(void **state)
{
	struct corner corner;
	struct morph_defrag *defrag;
	struct morph_ledger *ledger;
	uint64_t seed = 5;
	uint32_t strands = 0;

	corner_begin(&corner, *state);
	defrag = morph_defrag_new(corner.bench->ctx);
	assert_int_equal(morph_ledger_new(corner.bench->ctx, corner.bench->model, &ledger), 0);
	for (uint32_t round = 0; round < 8; round++) {
		uint32_t next = 0;

		if (!set(&corner, &seed, false))
			continue;
		assert_int_equal(morph_defrag_read(defrag, ledger, FABRIC, CONTROLLER), 0);
		for (uint32_t slice = 1; slice <= corner.count; slice++) {
			const struct morph_plan *was = corner.plans[slice - 1], *plan;

			if (!was->circuits_count)
				continue;
			assert_int_equal(defrag->slices.list[next].slice, slice);
			plan = defrag->slices.list[next++].plan;
			assert_int_equal(plan->ranks, was->ranks);
			assert_memory_equal(plan->accelerators, was->accelerators,
					    was->ranks * sizeof(*was->accelerators));
			assert_int_equal(plan->circuits_count, was->circuits_count);
			assert_memory_equal(plan->circuits, was->circuits,
					    was->circuits_count * sizeof(*was->circuits));
			assert_int_equal(plan->strands_count, was->strands_count);
			assert_memory_equal(plan->strands, was->strands,
					    was->strands_count * sizeof(*was->strands));
			strands += plan->strands_count;
		}
		assert_int_equal(defrag->slices.count, next);
		assert_int_equal(defrag->stays.count, 0);
	}
	assert_true(strands > 40);
	morph_ledger_free(ledger);
	morph_defrag_free(defrag);
	corner_end(&corner);
}

/* The next answer that is lit and moves circuits. */
static struct morph_defrag_result next_answer(struct corner *corner, uint64_t *seed,
					      struct morph_defrag *defrag,
					      struct morph_ledger *ledger)
{
	for (;;) {
		MORPH_OPTS(morph_defrag_result, result);

		if (!set(corner, seed, true))
			continue;
		assert_int_equal(morph_defrag_read(defrag, ledger, FABRIC, 0), 0);
		solve(corner->bench, defrag, ledger);
		if (!morph_defrag_light(defrag, ledger, &result))
			return result;
	}
}

static void steps_make_room_in_the_kernel(void **state)
{
	struct corner corner;
	struct morph_defrag *defrag;
	struct morph_ledger *ledger;
	uint32_t moved = 0, stuck = 0;
	uint64_t seed = 7;

	corner_begin(&corner, *state);
	defrag = morph_defrag_new(corner.bench->ctx);
	assert_int_equal(morph_ledger_new(corner.bench->ctx, corner.bench->model, &ledger), 0);
	for (uint32_t round = 0; round < 1500; round++) {
		struct morph_defrag_result result;
		uint32_t request = 77;
		int ret;

		if (!set(&corner, &seed, true))
			continue;
		assert_int_equal(morph_defrag_read(defrag, ledger, FABRIC, 0), 0);
		result = solve(corner.bench, defrag, ledger);
		assert_int_equal(result.verdict,
				 solve(corner.bench, corner.defrag, corner.bench->ledger).verdict);
		ret = morph_defrag_light(defrag, ledger, &result);
		stuck += ret == -EBUSY;
		if (ret == -EBUSY)
			continue;
		assert_int_equal(ret, 0);
		check(&corner, defrag, ledger);
		for (uint32_t step = 0; step < result.steps; step++)
			kernel_run_step(defrag, step, request);
		check_request(defrag, request);
		moved += result.moved;
	}
	print_message("%u moved, %u without ways inside servers\n", moved, stuck);
	assert_true(moved > 10);
	assert_true(stuck < 5);
	morph_ledger_free(ledger);
	morph_defrag_free(defrag);
	corner_end(&corner);
}

static void circuits_of_a_failed_step_are_lit_again(void **state)
{
	struct corner corner;
	struct morph_defrag *defrag;
	struct morph_ledger *ledger;
	uint32_t broken = 0;
	uint64_t seed = 7;

	corner_begin(&corner, *state);
	defrag = morph_defrag_new(corner.bench->ctx);
	assert_int_equal(morph_ledger_new(corner.bench->ctx, corner.bench->model, &ledger), 0);
	/* Until only one of several slices has broken circuits. */
	while (!broken) {
		uint32_t steps = next_answer(&corner, &seed, defrag, ledger).steps;

		for (uint32_t step = 0; step < steps; step++) {
			broken += check_broken(defrag, step) && defrag->slices.count > 1;
			kernel_run_step(defrag, step, 77);
		}
		assert_int_equal(check_broken(defrag, steps), 0);
	}
	morph_ledger_free(ledger);
	morph_defrag_free(defrag);
	corner_end(&corner);
}

static void steps_beyond_the_last_are_refused(void **state)
{
	struct corner corner;
	struct morph_defrag *defrag;
	struct morph_ledger *ledger;
	uint32_t steps = 0;
	uint64_t seed = 7;

	corner_begin(&corner, *state);
	defrag = morph_defrag_new(corner.bench->ctx);
	assert_int_equal(morph_ledger_new(corner.bench->ctx, corner.bench->model, &ledger), 0);
	while (!steps)
		steps = next_answer(&corner, &seed, defrag, ledger).steps;
	check_beyond(defrag, steps);
	morph_ledger_free(ledger);
	morph_defrag_free(defrag);
	corner_end(&corner);
}

/* One slice, one of whose circuits takes a detour, read completely. */
static void read_detour(struct corner *corner, uint32_t circuits, struct morph_defrag *defrag,
			struct morph_ledger *ledger)
{
	corner_detour(corner, circuits);
	assert_int_equal(morph_defrag_add(corner->defrag, corner->plans[0], 7, 0), 0);
	assert_true(kernel_boot(corner));
	assert_int_equal(morph_defrag_read(defrag, ledger, FABRIC, 0), 0);
}

static void a_circuit_without_a_second_port_is_switched(void **state)
{
	MORPH_OPTS(morph_defrag_result, result);
	MORPH_OPTS(morph_defrag_step, step);
	struct corner corner;
	struct morph_defrag *defrag;
	struct morph_ledger *ledger;

	corner_begin(&corner, *state);
	defrag = morph_defrag_new(corner.bench->ctx);
	assert_int_equal(morph_ledger_new(corner.bench->ctx, corner.bench->model, &ledger), 0);
	read_detour(&corner, 6, defrag, ledger);
	solve(corner.bench, defrag, ledger);
	assert_int_equal(morph_defrag_light(defrag, ledger, &result), 0);
	assert_int_equal(result.moved, 1);
	assert_int_equal(result.dark, 1);
	assert_int_equal(morph_defrag_step(defrag, 0, &step), 0);
	assert_int_equal(step.kind, MORPH_DEFRAG_SWITCH);
	check(&corner, defrag, ledger);
	for (uint32_t at = 0; at < result.steps; at++)
		kernel_run_step(defrag, at, 77);
	check_request(defrag, 77);
	morph_ledger_free(ledger);
	morph_defrag_free(defrag);
	corner_end(&corner);
}

/* The fibre of the only change of the first step. */
static uint32_t first_fibre(const struct morph_defrag *defrag)
{
	uint32_t guide;

	assert_int_equal(morph_defrag_guides(defrag, 0, 0, &guide, 1), 1);
	return guide;
}

/* The fibre of the answer is in use by then, as if the paths of an earlier step needed it. */
static void another_fibre_is_taken_where_one_is_lit(void **state)
{
	struct corner corner;
	struct morph_defrag *defrag;
	struct morph_ledger *ledger;
	const struct strand *strand;
	uint32_t planned;

	corner_begin(&corner, *state);
	defrag = morph_defrag_new(corner.bench->ctx);
	assert_int_equal(morph_ledger_new(corner.bench->ctx, corner.bench->model, &ledger), 0);
	read_detour(&corner, 5, defrag, ledger);
	/* One more direct fibre. */
	for (strand = ledger->sites.strands;
	     strand->from != 0 || strand->to != 1 || !ledger->guide_marked[strand->guides[0] >> 1];)
		strand++;
	morph_ledger_mark(ledger, MORPH_PART_GUIDE, strand->guides[0] >> 1, false);
	solve(corner.bench, defrag, ledger);
	planned = first_fibre(defrag);
	morph_ledger_load(ledger, planned, 1);
	assert_int_equal(morph_defrag_light(defrag, ledger, NULL), 0);
	assert_int_not_equal(first_fibre(defrag), planned);
	assert_int_equal(ledger->guide_lanes[first_fibre(defrag)], 0);
	assert_false(ledger->guide_marked[first_fibre(defrag)]);
	check(&corner, defrag, ledger);
	morph_ledger_free(ledger);
	morph_defrag_free(defrag);
	corner_end(&corner);
}

/* Slices that must not or cannot move stay, and the answer has the reason. */
static void immovable_slices_are_listed(void **state)
{
	struct corner corner;
	struct morph_defrag *defrag;
	struct morph_ledger *ledger;
	struct circuit *circuit;
	struct morph_object *told;
	uint32_t fibre = 0, second;
	uint64_t seed = 5;

	corner_begin(&corner, *state);
	defrag = morph_defrag_new(corner.bench->ctx);
	assert_int_equal(morph_ledger_new(corner.bench->ctx, corner.bench->model, &ledger), 0);
	while (!set(&corner, &seed, false) || !corner.plans[0]->strands_count ||
	       kernel.controller[1])
		;
	circuit = kernel.circuits;
	while (kernel.books->graph->guides[circuit->hops[fibre].guide >> 1].class !=
	       MORPH_GUIDE_FIBRE) {
		if (++fibre == circuit->path.hops_count)
			circuit++, fibre = 0;
	}
#define STAYS(change, back, text)                                                  \
	do {                                                                       \
		change;                                                            \
		assert_int_equal(morph_defrag_read(defrag, ledger, FABRIC, 0), 0); \
		assert_int_equal(defrag->stays.list[0].slice, 1);                  \
		assert_non_null(strstr(defrag->stays.list[0].why, text));          \
		back;                                                              \
	} while (0)
	STAYS(kernel.state[1] = MORPH_SLICE_DEGRADED, kernel.state[1] = 0, "not healthy");
	STAYS(kernel.controller[1] = 9, kernel.controller[1] = 0, "another controller");
	STAYS(circuit->state = MORPH_CIRCUIT_CHANGING, circuit->state = 0, "not all");
	STAYS(circuit->dst_rank = MORPH_ANY, circuit->dst_rank = 1, "cross edges");
	STAYS(circuit->src_rank += 99, circuit->src_rank -= 99, "this profile does not have its");
	/* From its second guide, no light leads to the others. */
	second = circuit->hops[1].guide;
	STAYS(circuit->hops[1].guide = circuit->hops[2].guide, circuit->hops[1].guide = second,
	      "this profile does not have its");
	STAYS(kernel.books->guide_lanes[circuit->hops[fibre].guide >> 1] |= 2,
	      kernel.books->guide_lanes[circuit->hops[fibre].guide >> 1] &= ~2ULL,
	      "shares a fibre");
	solve(corner.bench, defrag, ledger);
	assert_int_equal(morph_defrag_describe(defrag, ledger, &told), 0);
	assert_int_equal(morph_object_values(told, "stay"), defrag->stays.count);
	assert_int_equal(morph_object_uint(morph_object_nested_at(told, "stay", 0), "slice"), 1);
	assert_string_equal(morph_object_text(morph_object_nested_at(told, "stay", 0), "text"),
			    defrag->stays.list[0].why);
	morph_object_free(told);
	morph_ledger_free(ledger);
	morph_defrag_free(defrag);
	corner_end(&corner);
}

/*
 * An answer that is not solved, or not read from a kernel, cannot be lit. Steps beyond the last
 * have no changes.
 */
static void wrong_calls_are_refused(void **state)
{
	struct corner corner;
	struct morph_txn *txn;
	uint64_t seed = 11;

	corner_begin(&corner, *state);
	txn = morph_txn_new(corner.bench->ctx);
	assert_int_equal(morph_defrag_light(corner.defrag, corner.bench->ledger, NULL), -EINVAL);
	corner_satisfy(&corner, &seed);
	assert_int_equal(morph_defrag_light(corner.defrag, corner.bench->ledger, NULL), -EINVAL);
	assert_non_null(strstr(morph_error_text(corner.bench->ctx), "was not read"));
	assert_int_equal(lm_ledger_state(corner.bench->ledger), 0);
	assert_int_equal(morph_defrag_light(corner.defrag, corner.bench->ledger, NULL), -EINVAL);
	assert_non_null(strstr(morph_error_text(corner.bench->ctx), "was added as a plan"));
	assert_int_equal(morph_txn_add_step(txn, corner.defrag, 0), -EINVAL);
	assert_int_equal(morph_txn_add_broken(txn, corner.defrag, 0, 1), -EINVAL);
	assert_int_equal(morph_txn_count(txn), 0);
	morph_txn_free(txn);
	corner_end(&corner);
}

static void without_memory_nothing_is_read(struct morph_defrag *defrag, struct morph_ledger *ledger,
					   uint32_t nth)
{
	fault_at("memory", nth, ENOMEM);
	assert_int_equal(morph_defrag_read(defrag, ledger, FABRIC, 0), -ENOMEM);
	assert_true(fault_struck());
	assert_int_equal(defrag->slices.count, 0);
}

/*
 * Each allocation after the reading fails in turn. The call reports it, and a repeated call
 * succeeds.
 */
static void without_memory_nothing_is_lit(void **state)
{
	struct corner corner;
	struct morph_defrag *defrag;
	struct morph_ledger *ledger;
	struct morph_object *told;
	uint64_t seed = 7;
	uint32_t failed = 0, all;

	corner_begin(&corner, *state);
	defrag = morph_defrag_new(corner.bench->ctx);
	assert_int_equal(morph_ledger_new(corner.bench->ctx, corner.bench->model, &ledger), 0);
	do {
		while (!set(&corner, &seed, true))
			;
		assert_int_equal(morph_defrag_read(defrag, ledger, FABRIC, 0), 0);
	} while (!solve(corner.bench, defrag, ledger).moved ||
		 morph_defrag_light(defrag, ledger, NULL));
	for (unsigned int nth = 1;; nth++) {
		int ret;

		/* The list of guides has memory from the last time. */
		free(defrag->guides.list);
		memset(&defrag->guides, 0, sizeof(defrag->guides));
		fault_at("memory", nth, ENOMEM);
		ret = morph_defrag_light(defrag, ledger, NULL);
		if (!ret) {
			ret = morph_defrag_describe(defrag, ledger, &told);
			morph_object_free(told);
		}
		if (!fault_struck()) {
			assert_int_equal(ret, 0);
			break;
		}
		assert_int_equal(ret, -ENOMEM);
		failed++;
	}
	assert_true(failed > 20);
	/*
	 * Most allocations of the reading are for the kernel's objects. The last slice is built
	 * from them at the end.
	 */
	fault_at("memory", 0, ENOMEM);
	assert_int_equal(morph_defrag_read(defrag, ledger, FABRIC, 0), 0);
	all = fault_calls();
	for (uint32_t nth = 1; nth < all - 10; nth *= 3)
		without_memory_nothing_is_read(defrag, ledger, nth);
	for (uint32_t nth = all - 10; nth <= all; nth++)
		without_memory_nothing_is_read(defrag, ledger, nth);
	morph_ledger_free(ledger);
	morph_defrag_free(defrag);
	corner_end(&corner);
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, placing_setup, kernel_teardown)
	const struct CMUnitTest tests[] = {
		TEST(running_slices_are_read),
		TEST(steps_make_room_in_the_kernel),
		TEST(circuits_of_a_failed_step_are_lit_again),
		TEST(steps_beyond_the_last_are_refused),
		TEST(a_circuit_without_a_second_port_is_switched),
		TEST(another_fibre_is_taken_where_one_is_lit),
		TEST(immovable_slices_are_listed),
		TEST(wrong_calls_are_refused),
		TEST(without_memory_nothing_is_lit),
	};

	return placing_run(argc, argv, "defrag_live", tests, ARRAY_SIZE(tests));
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Make room by rerouting, on a rack whose profile is on the command line. In corners of the rack,
 * compare with all possible solutions. The checker carries out each step of each answer.
 */
#include <stdio.h>

#include "../internal/planner.h"
#include "corner.h"

struct tally {
	uint32_t asked, refused, verdicts[4], with_moves, moved, dark, proven, by_search, needless,
		unknown, led_aside;
};

static void try_corner(struct corner *corner, uint64_t *seed, struct tally *tally)
{
	struct bench *bench = corner->bench;
	struct morph_defrag_result result;
	uint32_t least, fibres;

	corner_choose(corner, 4 + random_below(seed, 3));
	fibres = 1 + random_below(seed, 2);
	corner_fence(corner, seed, 1 + random_below(seed, 3), fibres);
	corner_run(corner, seed, 2 + random_below(seed, 4));
	corner_ask(bench->request, seed);
	tally->asked++;
	assert_int_equal(morph_place(bench->ledger, bench->request, bench->plan), 0);
	if (morph_plan_verdict(bench->plan) == MORPH_FEASIBLE ||
	    (!corner_lacks_fibres(corner) && random_below(seed, 20)))
		return;
	tally->refused++;
	result = corner_solve(corner, MORPH_DEFRAG_LIGHT);
	least = brute_least(bench->ledger, bench->request, corner->defrag);
	tally->verdicts[result.verdict]++;
	tally->by_search += strstr(morph_defrag_why(corner->defrag), "fibres") != NULL;
	assert_int_equal(result.verdict, least == UINT32_MAX ? MORPH_INFEASIBLE : MORPH_FEASIBLE);
	if (result.verdict != MORPH_FEASIBLE)
		return;
	tally->with_moves += least > 0;
	tally->moved += result.moved;
	tally->led_aside += corner->defrag->changes.count - corner->defrag->plan->circuits_count >
			    result.moved + result.dark;
	tally->dark += result.dark;
	if (result.dark) {
		int hitless = brute_hitless(bench->ledger, bench->request, corner->defrag);

		tally->needless += hitless == 1;
		tally->unknown += hitless < 0;
	}
	tally->proven += result.moved_least == least;
	assert_true(result.moved >= least);
	assert_true(!result.moved_least || result.moved_least == least);
}

static void whatever_rewiring_can_satisfy_is_satisfied(void **state)
{
	struct tally tally = { 0 };
	struct corner corner;
	uint64_t seed = 1;

	corner_begin(&corner, *state);
	while (tally.with_moves < 100) {
		try_corner(&corner, &seed, &tally);
		corner_clear(&corner);
	}
	print_message(
		"%u asked, %u refused: %u satisfied (%u by moves; of %u the fewest are proven), %u "
		"not (%u for want of fibres), %u circuits moved, %u dark (%u answers needlessly, of "
		"%u it is not known), %u with one led aside\n",
		tally.asked, tally.refused, tally.verdicts[1], tally.with_moves, tally.proven,
		tally.verdicts[2], tally.by_search, tally.moved, tally.dark, tally.needless,
		tally.unknown, tally.led_aside);
	assert_true(tally.by_search > 40 && tally.dark > 0 && tally.led_aside > 0);
	/* Circuits go dark only if no order keeps all of them lit. */
	assert_int_equal(tally.needless, 0);
	assert_int_equal(tally.unknown, 0);
	corner_end(&corner);
}

static void plan_of_the_answer_can_be_taken(void **state)
{
	struct bench *bench = *state;
	struct corner corner;
	uint64_t seed = 2;

	corner_begin(&corner, bench);
	for (uint32_t round = 0; round < 20; round++) {
		const struct morph_plan *plan;
		struct written all;
		char report[256];

		corner_satisfy(&corner, &seed);
		plan = morph_defrag_plan(corner.defrag);
		assert_int_equal(morph_defrag_take(corner.defrag, bench->ledger, 100), 0);
		assert_int_equal(morph_defrag_take(corner.defrag, bench->ledger, 101), -EBUSY);
		/* After all moves, the plan of the request is an ordinary plan. */
		assert_int_equal(morph_ledger_give(bench->ledger, plan), 0);
		all = write_all(bench, plan);
		if (check_written(&all, report, sizeof(report)))
			fail_msg("%s", report);
		written_free(&all);
		/* Running slices can be moved again. */
		assert_int_equal(corner_solve(&corner, 0).verdict, MORPH_FEASIBLE);
	}
	corner_end(&corner);
}

static void the_same_is_answered_again(void **state)
{
	struct corner corner;
	uint64_t seed = 3;

	corner_begin(&corner, *state);
	for (uint32_t round = 0; round < 10; round++) {
		struct answer first, again;
		MORPH_OPTS(morph_defrag_result, result);

		corner_satisfy(&corner, &seed);
		assert_int_equal(morph_defrag_solve(corner.defrag, corner.bench->ledger,
						    corner.bench->request, NULL, &result),
				 0);
		answer_write(&corner, &first);
		assert_int_equal(morph_defrag_solve(corner.defrag, corner.bench->ledger,
						    corner.bench->request, NULL, &result),
				 0);
		answer_write(&corner, &again);
		assert_int_equal(first.input.answer.bytes, again.input.answer.bytes);
		assert_memory_equal(first.blobs[3], again.blobs[3], first.input.answer.bytes);
		answer_free(&first);
		answer_free(&again);
	}
	corner_end(&corner);
}

/* --------------------------------------------------------------------- one by one */

/* The only tenant with dark circuits. */
static struct morph_defrag_tenant notice(const struct corner *corner)
{
	MORPH_OPTS(morph_defrag_tenant, tenant);

	assert_int_equal(morph_defrag_tenant(corner->defrag, 0, &tenant), 0);
	assert_int_equal(tenant.slice, 7);
	assert_int_equal(morph_defrag_tenant(corner->defrag, 1, &tenant), -ENOENT);
	return tenant;
}

static void a_circuit_with_a_port_left_is_never_dark(void **state)
{
	MORPH_OPTS(morph_defrag_change, change);
	MORPH_OPTS(morph_defrag_step, step);
	struct morph_defrag_result result;
	struct corner corner;
	uint32_t guides[4];

	corner_begin(&corner, *state);
	corner_detour(&corner, 5);
	assert_int_equal(morph_defrag_add(corner.defrag, corner.plans[0], 7, 0), 0);
	result = corner_solve(&corner, MORPH_DEFRAG_LIGHT);
	assert_int_equal(result.verdict, MORPH_FEASIBLE);
	assert_int_equal(result.moved, 1);
	assert_int_equal(result.moved_least, 1);
	assert_int_equal(result.steps, 2);
	assert_int_equal(notice(&corner).moved, 1);
	assert_int_equal(notice(&corner).dark, 0);
	assert_int_equal(notice(&corner).dark_ns, 0);
	assert_string_equal(morph_defrag_why(corner.defrag), "");
	assert_int_equal(morph_defrag_step(corner.defrag, 0, &step), 0);
	assert_int_equal(step.kind, MORPH_DEFRAG_MOVE);
	assert_int_equal(step.slice, 7);
	assert_int_equal(step.changes, 1);
	assert_int_equal(morph_defrag_change(corner.defrag, 0, 0, &change), 0);
	assert_int_equal(change.circuit, 4);
	assert_int_equal(change.src_rank, 0);
	assert_int_equal(change.dst_rank, 1);
	assert_int_equal(change.fibres, 1);
	assert_int_equal(morph_defrag_guides(corner.defrag, 0, 0, guides, 4), 1);
	assert_int_equal(morph_defrag_step(corner.defrag, 1, &step), 0);
	assert_int_equal(step.kind, MORPH_DEFRAG_PLACE);
	assert_int_equal(step.slice, 0);
	assert_int_equal(morph_defrag_step(corner.defrag, 2, &step), -ENOENT);
	assert_int_equal(morph_defrag_change(corner.defrag, 0, 1, &change), -ENOENT);
	assert_int_equal(morph_defrag_guides(corner.defrag, 2, 0, guides, 4), -ENOENT);
	corner_end(&corner);
}

static void without_a_port_it_is_dark_while_light_settles(void **state)
{
	struct morph_object *info;
	struct bench *bench = *state;
	struct corner corner;
	uint64_t light = 0;

	corner_begin(&corner, bench);
	corner_detour(&corner, 6);
	assert_int_equal(morph_model_info(bench->ctx, bench->model, &info), 0);
	light = morph_object_uint(info, "settle-ns") + morph_object_uint(info, "relock-ns");
	morph_object_free(info);
	assert_int_equal(morph_defrag_add(corner.defrag, corner.plans[0], 7, 0), 0);
	assert_int_equal(corner_solve(&corner, MORPH_DEFRAG_LIGHT).dark, 1);
	assert_int_equal(notice(&corner).dark, 1);
	assert_true(light > 0);
	assert_int_equal(notice(&corner).dark_ns, light);
	corner_end(&corner);
}

/* A step can use fibres that an earlier step freed. */
static void each_switch_over_is_a_step_of_its_own(void **state)
{
	MORPH_OPTS(morph_defrag_step, step);
	struct morph_defrag_result result;
	struct corner corner;

	corner_begin(&corner, *state);
	corner_detours(&corner, 6, 2);
	assert_int_equal(morph_defrag_add(corner.defrag, corner.plans[0], 7, 0), 0);
	result = corner_solve(&corner, MORPH_DEFRAG_LIGHT);
	assert_int_equal(result.verdict, MORPH_FEASIBLE);
	assert_int_equal(result.dark, 2);
	assert_int_equal(result.steps, 3);
	for (uint32_t at = 0; at < 2; at++) {
		assert_int_equal(morph_defrag_step(corner.defrag, at, &step), 0);
		assert_int_equal(step.kind, MORPH_DEFRAG_SWITCH);
		assert_int_equal(step.changes, 1);
	}
	corner_end(&corner);
}

static void pinned_and_marked_slices_stay(void **state)
{
	struct bench *bench = *state;
	struct corner corner;
	uint32_t guide;

	corner_begin(&corner, bench);
	corner_detour(&corner, 5);
	assert_int_equal(morph_defrag_add(corner.defrag, corner.plans[0], 7, MORPH_DEFRAG_PINNED),
			 0);
	assert_int_equal(corner_solve(&corner, 0).verdict, MORPH_INFEASIBLE);
	assert_non_null(strstr(morph_defrag_why(corner.defrag), "enough fibres"));
	assert_int_equal(morph_defrag_take(corner.defrag, bench->ledger, 8), -EINVAL);
	morph_defrag_clear(corner.defrag);
	assert_int_equal(morph_defrag_add(corner.defrag, corner.plans[0], 7, 0), 0);
	assert_int_equal(corner_solve(&corner, 0).verdict, MORPH_FEASIBLE);
	/* One fibre of its path is out for repair. */
	guide = corner.plans[0]->strands[4].guides[0] >> 1;
	assert_int_equal(morph_ledger_mark(bench->ledger, MORPH_PART_GUIDE, guide, true), 0);
	assert_int_equal(corner_solve(&corner, 0).verdict, MORPH_INFEASIBLE);
	corner_end(&corner);
}

/* The planner never makes room for more accelerators than are free. */
static void ranks_keep_their_accelerators(void **state)
{
	struct bench *bench = *state;
	struct corner corner;

	corner_begin(&corner, bench);
	corner_detour(&corner, 5);
	assert_int_equal(morph_defrag_add(corner.defrag, corner.plans[0], 7, 0), 0);
	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_RING, 3, 1, 1), 0);
	assert_int_equal(corner_solve(&corner, 0).verdict, MORPH_INFEASIBLE);
	assert_string_equal(
		morph_defrag_why(corner.defrag),
		"not enough accelerators in one rack: 3 requested, at most 2 free; ranks keep their accelerators");
	corner_end(&corner);
}

static void a_search_without_steps_is_undecided(void **state)
{
	MORPH_OPTS(morph_defrag_opts, opts, .steps = 1);
	MORPH_OPTS(morph_defrag_result, result);
	struct bench *bench = *state;
	struct corner corner;

	corner_begin(&corner, bench);
	corner_detour(&corner, 5);
	assert_int_equal(morph_defrag_add(corner.defrag, corner.plans[0], 7, 0), 0);
	assert_int_equal(morph_defrag_solve(corner.defrag, bench->ledger, bench->request, &opts,
					    &result),
			 0);
	assert_int_equal(result.verdict, MORPH_UNDECIDED);
	assert_non_null(strstr(morph_defrag_why(corner.defrag), "nothing proven"));
	corner_end(&corner);
}

/* It also refuses another profile. An answer is valid only for its ledger. */
static void a_plan_that_moves_a_dark_circuit_is_refused(void **state)
{
	struct bench *bench = *state;
	struct corner corner;
	uint32_t guide;

	corner_begin(&corner, bench);
	corner_detour(&corner, 5);
	assert_int_equal(morph_defrag_add(corner.defrag, corner.plans[0], 7, 0), 0);
	assert_int_equal(morph_defrag_take(corner.defrag, bench->ledger, 8), -EINVAL);
	guide = corner.plans[0]->strands[0].guides[0] >> 1;
	assert_int_equal(morph_ledger_load(bench->ledger, guide, 0), 0);
	assert_int_equal(morph_defrag_solve(corner.defrag, bench->ledger, bench->request, NULL,
					    NULL),
			 -EINVAL);
	assert_non_null(strstr(morph_error_text(bench->ctx), "is dark in the ledger"));
	assert_int_equal(morph_ledger_load(bench->ledger, guide, 1), 0);
	corner.plans[0]->checksum++;
	assert_int_equal(morph_defrag_solve(corner.defrag, bench->ledger, bench->request, NULL,
					    NULL),
			 -EINVAL);
	assert_non_null(strstr(morph_error_text(bench->ctx), "with checksum"));
	corner.plans[0]->checksum--;
	assert_int_equal(corner_solve(&corner, 0).verdict, MORPH_FEASIBLE);
	corner.defrag->plan->checksum++;
	assert_int_equal(morph_defrag_take(corner.defrag, bench->ledger, 8), -EINVAL);
	assert_non_null(strstr(morph_error_text(bench->ctx), "with checksum"));
	corner_end(&corner);
}

/* Text for people and for programs: the verdict and its reason, or steps, tenants and the plan. */
static void answers_are_described(void **state)
{
	struct bench *bench = *state;
	struct morph_object *told;
	struct corner corner;

	corner_begin(&corner, bench);
	assert_int_equal(morph_defrag_describe(corner.defrag, bench->ledger, &told), -EINVAL);
	assert_null(told);
	corner_detour(&corner, 5);
	assert_int_equal(morph_defrag_add(corner.defrag, corner.plans[0], 7, MORPH_DEFRAG_PINNED),
			 0);
	corner_solve(&corner, 0);
	assert_int_equal(morph_defrag_describe(corner.defrag, bench->ledger, &told), 0);
	assert_string_equal(morph_object_text(told, "verdict"), "infeasible");
	assert_string_equal(morph_object_text(told, "text"), morph_defrag_why(corner.defrag));
	assert_false(morph_object_has(told, "plan"));
	morph_object_free(told);
	morph_defrag_clear(corner.defrag);
	assert_int_equal(morph_defrag_add(corner.defrag, corner.plans[0], 7, 0), 0);
	corner_solve(&corner, 0);
	assert_int_equal(morph_defrag_describe(corner.defrag, bench->ledger, &told), 0);
	assert_string_equal(morph_object_text(told, "verdict"), "feasible");
	assert_false(morph_object_has(told, "text"));
	assert_int_equal(morph_object_values(told, "step"), 2);
	assert_int_equal(morph_object_values(told, "tenant"), 1);
	assert_true(morph_object_has(told, "plan"));
	morph_object_free(told);
	corner.defrag->plan->checksum++;
	assert_int_equal(morph_defrag_describe(corner.defrag, bench->ledger, &told), -EINVAL);
	corner_end(&corner);
}

/* ----------------------------------------------------------------- in other words */

/*
 * Two paths share a fibre. The search does not try the consequences for other assignments, so it
 * proves nothing.
 */
static void paths_that_share_a_resource_are_undecided(void **state)
{
	MORPH_OPTS(morph_defrag_result, result);
	struct bench *bench = *state;
	struct strand *strands = bench->ledger->sites.strands;
	struct corner corner;
	uint32_t before;

	corner_begin(&corner, bench);
	corner_detour(&corner, 5);
	corner_keep_link(&corner, 0, 4, 2);
	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_RING, 3, 1, 1), 0);
	morph_ledger_mark(bench->ledger, MORPH_PART_ACCELERATOR, 24, false);
	assert_int_equal(morph_defrag_add(corner.defrag, corner.plans[0], 7, 0), 0);
	assert_int_equal(corner_solve(&corner, 0).verdict, MORPH_INFEASIBLE);
	/*
	 * Two free ones, as if one could replace the other; then one that runs, and one that is
	 * lit.
	 */
	for (uint32_t round = 0; round < 2; round++) {
		struct strand *one = &strands[bench->ledger->sites.strands_first[0]], *other;

		while (one->to != (round ? 1 : 4))
			one++;
		other = one + (round ? 7 : 1);
		assert_int_equal(other->to, one->to);
		before = other->guides[0];
		other->guides[0] = one->guides[0];
		assert_int_equal(morph_defrag_solve(corner.defrag, bench->ledger, bench->request,
						    NULL, &result),
				 0);
		assert_int_equal(result.verdict, MORPH_UNDECIDED);
		other->guides[0] = before;
	}
	assert_int_equal(corner_solve(&corner, 0).verdict, MORPH_INFEASIBLE);
	corner_end(&corner);
}

/*
 * If the search finds no order, as for lack of steps, the answer is still valid, but all circuits
 * go dark.
 */
static void without_an_order_all_go_out_at_once(void **state)
{
	uint32_t joined = 0;
	struct corner corner;
	uint64_t seed = 4;

	corner_begin(&corner, *state);
	while (joined < 5) {
		struct morph_ledger *ledger = corner.bench->ledger;
		struct morph_defrag *defrag = corner.defrag;
		struct reroute *reroute = defrag->reroute;
		struct best *best = defrag->best;
		struct answer answer;
		char report[256];

		corner_satisfy(&corner, &seed);
		assert_int_equal(lm_defrag_rack(defrag, ledger, corner.bench->request, best->rack),
				 0);
		reroute->count = best->count;
		memcpy(reroute->flows, best->flows, best->count * sizeof(*best->flows));
		lm_reroute_order(reroute, 0);
		assert_int_equal(reroute->interrupted, best->moved);
		assert_int_equal(reroute->touched, best->moved);
		assert_int_equal(reroute->actions_count, 2 * best->moved);
		best->actions_count = reroute->actions_count;
		memcpy(best->actions, reroute->actions,
		       best->actions_count * sizeof(*best->actions));
		assert_int_equal(lm_defrag_steps(defrag, ledger, corner.bench->request), 0);
		answer_write(&corner, &answer);
		if (morph_check_defrag(&answer.input, report, sizeof(report)))
			fail_msg("%s", report);
		answer_free(&answer);
		assert_int_equal(defrag->dark, best->moved);
		/* Consecutive changes of one slice form one step. */
		joined += 2 * best->moved + 1 - defrag->steps.count;
	}
	corner_end(&corner);
}

/* ------------------------------------------------------------------ all or nothing */

/* The written input: accelerators, fibres, and the plans of running slices. */
static void *world(const struct corner *corner, struct morph_defrag *defrag, size_t *bytes)
{
	size_t first = (size_t)morph_ledger_write(corner->bench->ledger, NULL, 0);
	size_t second = (size_t)morph_defrag_write_running(defrag, NULL, 0);
	uint8_t *copy = malloc(first + second);

	assert_non_null(copy);
	*bytes = first + second;
	morph_ledger_write(corner->bench->ledger, copy, first);
	morph_defrag_write_running(defrag, copy + first, second);
	return copy;
}

static void unchanged(const struct corner *corner, struct morph_defrag *defrag, void *before)
{
	size_t bytes;
	void *after = world(corner, defrag, &bytes);

	assert_memory_equal(before, after, bytes);
	free(before);
	free(after);
}

static void infeasible_requests_move_nothing(void **state)
{
	struct bench *bench = *state;
	struct corner corner;
	uint64_t seed = 5;
	size_t bytes;

	corner_begin(&corner, bench);
	for (uint32_t round = 0; round < 5; round++) {
		uint32_t chip;
		void *before;

		corner_satisfy(&corner, &seed);
		chip = morph_plan_accelerator(morph_defrag_plan(corner.defrag), 0);
		assert_int_equal(morph_ledger_hold(bench->ledger, chip, 99), 0);
		before = world(&corner, corner.defrag, &bytes);
		assert_int_equal(morph_defrag_take(corner.defrag, bench->ledger, 100), -EBUSY);
		unchanged(&corner, corner.defrag, before);
		assert_int_equal(morph_ledger_hold(bench->ledger, chip, 0), 0);
		assert_int_equal(morph_defrag_take(corner.defrag, bench->ledger, 100), 0);
	}
	corner_end(&corner);
}

static void without_memory_nothing_is_moved(void **state)
{
	struct bench *bench = *state;
	struct corner corner;
	unsigned int nth = 1;
	size_t bytes;

	corner_begin(&corner, bench);
	corner_detour(&corner, 5);
	for (bool struck = true; struck; nth++) {
		struct morph_defrag *defrag = morph_defrag_new(bench->ctx);
		void *before;
		int ret;

		assert_int_equal(morph_defrag_add(defrag, corner.plans[0], 7, 0), 0);
		before = world(&corner, defrag, &bytes);
		fault_at("memory", nth, ENOMEM);
		ret = morph_defrag_solve(defrag, bench->ledger, bench->request, NULL, NULL);
		if (!ret)
			ret = morph_defrag_take(defrag, bench->ledger, 8);
		struck = fault_struck();
		assert_int_equal(ret, struck ? -ENOMEM : 0);
		if (struck)
			unchanged(&corner, defrag, before);
		else
			free(before);
		morph_defrag_free(defrag);
	}
	assert_true(nth > 12);
	corner_end(&corner);
}

static void wrong_input_is_refused(void **state)
{
	MORPH_OPTS(morph_defrag_opts, opts, .objective = 2);
	struct bench *bench = *state;
	struct corner corner;

	corner_begin(&corner, bench);
	assert_int_equal(morph_defrag_add(corner.defrag, corner.plans[0], 7, 0), -EINVAL);
	corner_detour(&corner, 5);
	assert_int_equal(morph_defrag_add(corner.defrag, corner.plans[0], 0, 0), -EINVAL);
	assert_int_equal(morph_defrag_add(corner.defrag, corner.plans[0], 7, 2), -EINVAL);
	assert_int_equal(morph_defrag_add(corner.defrag, corner.plans[0], 8, 0), 0);
	assert_int_equal(morph_defrag_add(corner.defrag, corner.plans[0], 8, 0), -EEXIST);
	assert_int_equal(morph_defrag_solve(corner.defrag, bench->ledger, bench->request, NULL,
					    NULL),
			 -EINVAL);
	assert_string_equal(morph_error_text(bench->ctx),
			    "slice 8: the ledger does not give it accelerator 0 of rank 0");
	morph_defrag_clear(corner.defrag);
	assert_int_equal(morph_defrag_solve(corner.defrag, bench->ledger, bench->request, &opts,
					    NULL),
			 -EINVAL);
	opts.sz = 2;
	assert_int_equal(morph_defrag_solve(corner.defrag, bench->ledger, bench->request, &opts,
					    NULL),
			 -EINVAL);
	assert_non_null(strstr(morph_error_text(bench->ctx), "morph_defrag_opts.sz is 2"));
	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_MESH, 8, 1, 1), 0);
	assert_int_equal(morph_defrag_solve(corner.defrag, bench->ledger, bench->request, NULL,
					    NULL),
			 -EINVAL);
	corner_end(&corner);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, placing_setup, placing_teardown)
		TEST(whatever_rewiring_can_satisfy_is_satisfied),
		TEST(plan_of_the_answer_can_be_taken),
		TEST(the_same_is_answered_again),
		TEST(a_circuit_with_a_port_left_is_never_dark),
		TEST(without_a_port_it_is_dark_while_light_settles),
		TEST(each_switch_over_is_a_step_of_its_own),
		TEST(pinned_and_marked_slices_stay),
		TEST(ranks_keep_their_accelerators),
		TEST(a_search_without_steps_is_undecided),
		TEST(a_plan_that_moves_a_dark_circuit_is_refused),
		TEST(answers_are_described),
		TEST(paths_that_share_a_resource_are_undecided),
		TEST(without_an_order_all_go_out_at_once),
		TEST(infeasible_requests_move_nothing),
		TEST(without_memory_nothing_is_moved),
		TEST(wrong_input_is_refused),
#undef TEST
	};

	return placing_run(argc, argv, "defrag", tests, ARRAY_SIZE(tests));
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/* Circuits of schedules: the checker accepts those with paths, and those without have a reason. */
#include "../internal/planner.h"
#include "faults.h"
#include "lighting.h"

struct found {
	uint32_t feasible, infeasible, undecided;
};

/* Each algorithm by each policy: lit schedules are valid, and others have a reason. */
static struct found light_all(struct bench *bench, uint32_t kind, uint32_t ranks, uint32_t planes)
{
	struct found found = { 0 };

	for (uint32_t algorithm = 1; algorithm < MORPH_ALGORITHMS; algorithm++) {
		MORPH_OPTS(morph_collective_opts, how, .kind = kind, .algorithm = algorithm,
			   .ranks = ranks, .bytes = 100000);

		for (uint32_t policy = 1; policy < MORPH_POLICIES; policy++) {
			MORPH_OPTS(morph_schedule_opts, opts, .planes = planes, .policy = policy);

			if (!plan(bench, &how, &opts))
				continue;
			if (light(bench, ranks, NULL) == MORPH_FEASIBLE) {
				assert_lit(bench, ranks);
				assert_string_equal(bench->light.why, "");
				assert_int_equal(bench->light.planes, planes);
				found.feasible++;
				continue;
			}
			assert_int_equal(morph_steps_count(bench->steps, NULL), 0);
			assert_string_not_equal(bench->light.why, "");
			if (bench->light.verdict == MORPH_INFEASIBLE)
				found.infeasible++;
			else
				found.undecided++;
		}
	}
	return found;
}

static void small_collectives_are_lit_or_refused_with_a_reason(void **state)
{
	static const struct {
		uint32_t profile, ranks, planes;
		bool all; /* have ways */
	} cases[] = {
		{ SERVER8, 4, 2, true },    { SERVER8, 8, 1, false },	 { SERVER8, 8, 6, false },
		{ SERVER16, 5, 1, true },   { SERVER16, 16, 2, false },	 { RACK64, 8, 2, true },
		{ SMARTLIGHT, 4, 1, true }, { SMARTLIGHT, 8, 1, false },
	};

	(void)state;
	for (size_t at = 0; at < ARRAY_SIZE(cases); at++) {
		struct bench bench = open_bench(cases[at].profile);
		uint32_t proven = 0, feasible = 0;

		for (uint32_t kind = MORPH_ALL_REDUCE; kind <= MORPH_BROADCAST; kind++) {
			struct found found =
				light_all(&bench, kind, cases[at].ranks, cases[at].planes);

			feasible += found.feasible;
			proven += found.infeasible;
			if (cases[at].profile != SMARTLIGHT)
				assert_int_equal(found.undecided, 0);
			if (cases[at].all)
				assert_int_equal(found.infeasible + found.undecided, 0);
		}
		assert_true(feasible > 0);
		if (!cases[at].all && cases[at].profile != SMARTLIGHT)
			assert_true(proven > 0);
		close_bench(&bench);
	}
}

static void refusals_name_the_shortage(void **state)
{
	MORPH_OPTS(morph_light_opts, lanes, .begin = MORPH_STEP_BARRIER);
	struct bench bench = open_bench(SERVER8);
	const struct morph_light *said = &bench.light;

	(void)state;
	plan_shift(&bench, 8, 2);
	assert_int_equal(light(&bench, 8, NULL), MORPH_INFEASIBLE);
	assert_int_equal(said->reason, MORPH_LIGHT_CUT);
	assert_true(said->need > said->have);
	assert_non_null(strstr(said->why, "; at most "));
	plan_shift(&bench, 4, 7);
	assert_int_equal(light(&bench, 4, NULL), MORPH_INFEASIBLE);
	assert_int_equal(said->reason, MORPH_LIGHT_PORTS);
	assert_int_equal(said->have, 6);
	assert_int_equal(said->need, 7);
	plan_shift(&bench, 4, 1);
	/* the number that 100 Gb/s need */
	assert_int_equal(light(&bench, 4, &lanes), MORPH_FEASIBLE);
	assert_lit(&bench, 4);
	lanes.lanes = 17;
	assert_int_equal(light(&bench, 4, &lanes), MORPH_INFEASIBLE);
	assert_int_equal(said->reason, MORPH_LIGHT_LANES);
	assert_int_equal(said->have, 16);
	assert_int_equal(morph_ledger_mark(bench.ledger, MORPH_PART_ACCELERATOR, 2, true), 0);
	assert_int_equal(light(&bench, 4, NULL), MORPH_INFEASIBLE);
	assert_int_equal(said->reason, MORPH_LIGHT_ACCELERATOR);
	assert_int_equal(said->src, 2);
	close_bench(&bench);
}

/* With all guides lit, no port is free. With all but some marked, there is no path. */
static void a_circuit_alone_is_refused_by_the_driver(void **state)
{
	struct bench bench = open_bench(SERVER8);
	const struct morph_light *said = &bench.light;
	uint32_t guide = 0;

	(void)state;
	plan_shift(&bench, 4, 1);
	while (!morph_ledger_load(bench.ledger, guide, 1))
		guide++;
	assert_int_equal(light(&bench, 4, NULL), MORPH_INFEASIBLE);
	assert_int_equal(said->reason, MORPH_LIGHT_ALONE);
	assert_int_equal(said->driver, MORPH_REASON_PORT_BUSY);
	assert_int_equal(said->part, MORPH_PART_LASER);
	while (guide--) {
		assert_int_equal(morph_ledger_load(bench.ledger, guide, 0), 0);
		assert_int_equal(morph_ledger_mark(bench.ledger, MORPH_PART_GUIDE, guide, true), 0);
	}
	assert_int_equal(light(&bench, 4, NULL), MORPH_INFEASIBLE);
	assert_int_equal(said->reason, MORPH_LIGHT_ALONE);
	assert_int_equal(said->driver, MORPH_REASON_UNUSABLE);
	close_bench(&bench);
}

static void invalid_input_is_refused(void **state)
{
	MORPH_OPTS(morph_light_opts, opts, .begin = 3);
	struct bench bench = open_bench(SERVER8);

	(void)state;
#define ASK(ranks, how)                                                                       \
	morph_schedule_light(bench.schedule, bench.ledger, bench.at, ranks, how, bench.steps, \
			     &bench.light)
	assert_int_equal(ASK(4, NULL), -EINVAL); /* it was not planned */
	plan_shift(&bench, 4, 1);
	assert_int_equal(ASK(5, NULL), -EINVAL);
	assert_int_equal(ASK(4, &opts), -EINVAL);
	opts.begin = 0;
	opts.transit = 2;
	assert_int_equal(ASK(4, &opts), -EINVAL);
	bench.at[3] = 1;
	assert_int_equal(ASK(4, NULL), -EINVAL);
	bench.at[3] = 10;
	assert_int_equal(ASK(4, NULL), -ENOENT);
	bench.at[3] = 3;
	assert_int_equal(morph_ledger_hold(bench.ledger, 3, 7), 0);
	assert_int_equal(ASK(4, NULL), -EINVAL);
#undef ASK
	close_bench(&bench);
}

/* If planes do not fit together, the answer has the number that does. */
static void planes_are_counted(void **state)
{
	MORPH_OPTS(morph_light_opts, opts, .count_planes = true, .lanes = 1);
	struct bench bench = open_bench(SMARTLIGHT);

	(void)state;
	plan_shift(&bench, 4, 2);
	assert_int_equal(light(&bench, 4, &opts), MORPH_INFEASIBLE);
	assert_int_equal(bench.light.reason, MORPH_LIGHT_PORTS);
	assert_int_equal(bench.light.planes, 1);
	close_bench(&bench);
}

/* The ledger is unchanged, and the answer is the same. */
static void it_is_always_the_same(void **state)
{
	struct bench bench = open_bench(RACK64);
	struct words ledger = WRITE(morph_ledger_write, bench.ledger), steps, again;

	(void)state;
	plan_shift(&bench, 12, 2);
	assert_int_equal(light(&bench, 12, NULL), MORPH_FEASIBLE);
	steps = WRITE(morph_steps_write, bench.steps);
	assert_int_equal(light(&bench, 12, NULL), MORPH_FEASIBLE);
	again = WRITE(morph_steps_write, bench.steps);
	assert_int_equal(steps.bytes, again.bytes);
	assert_memory_equal(steps.list, again.list, steps.bytes);
	free(again.list);
	again = WRITE(morph_ledger_write, bench.ledger);
	assert_memory_equal(ledger.list, again.list, ledger.bytes);
	free(again.list);
	free(steps.list);
	free(ledger.list);
	close_bench(&bench);
}

/* By time, in a loop: each step begins as long after the step before as planned. */
static void steps_begin_as_is_planned(void **state)
{
	MORPH_OPTS(morph_light_opts, opts, .begin = MORPH_STEP_TIME, .loop = true,
		   .deadline_ns = 1000);
	struct bench bench = open_bench(SERVER8);
	uint32_t steps[64], changes;
	struct words words;
	uint64_t bound;

	(void)state;
	plan_shift(&bench, 4, 1);
	opts.hold_steps = steps;
	assert_int_equal(light(&bench, 4, &opts), MORPH_FEASIBLE);
	assert_lit(&bench, 4);
	changes = morph_schedule_changes(bench.schedule, NULL);
	assert_int_equal(bench.light.steps, changes);
	assert_int_equal(morph_schedule_holds(bench.schedule), changes);
	for (uint32_t hold = 0; hold < changes; hold++)
		assert_int_equal(steps[hold], hold);
	words = WRITE(morph_steps_write, bench.steps);
	assert_int_equal(words.list[HEAD], 1);
	for (uint32_t step = 0; step < changes; step++) {
		const uint32_t *at = words.list + HEAD + STEPS_HEAD +
				     CIRCUIT * words.list[HEAD + 3] + STEP * step;
		struct morph_hold hold, before;

		assert_int_equal(morph_schedule_hold(bench.schedule, step, &hold), 0);
		assert_int_equal(morph_schedule_hold(bench.schedule, (step ? step : changes) - 1,
						     &before),
				 0);
		assert_int_equal(at[2], MORPH_STEP_TIME);
		bound = hold.set_ns - before.lit_ns;
		if (!step)
			bound = hold.set_ns + morph_schedule_ns(bench.schedule, NULL) -
				before.lit_ns;
		assert_in_range(at[3], bound ? bound - 1 : 0, bound + 1);
		assert_int_equal(at[5], at[3] + 1000);
	}
	free(words.list);
	close_bench(&bench);
}

/* Otherwise it would only keep the driver busy. */
static void a_loop_that_changes_nothing_turns_slowly(void **state)
{
	MORPH_OPTS(morph_light_opts, opts, .begin = MORPH_STEP_TIME, .loop = true);
	MORPH_OPTS(morph_collective_opts, how, .kind = MORPH_ALL_REDUCE, .algorithm = MORPH_RING,
		   .ranks = 4, .bytes = 4096);
	MORPH_OPTS(morph_schedule_opts, static_opts, .policy = MORPH_POLICY_ONE_SHOT);
	struct bench bench = open_bench(SERVER8);
	const uint32_t *step;
	struct words words;

	(void)state;
	assert_true(plan(&bench, &how, &static_opts));
	assert_int_equal(light(&bench, 4, &opts), MORPH_FEASIBLE);
	assert_int_equal(bench.light.steps, 1);
	words = WRITE(morph_steps_write, bench.steps);
	step = words.list + HEAD + STEPS_HEAD + CIRCUIT * words.list[HEAD + 3];
	assert_int_equal(step[3], 100000);
	free(words.list);
	close_bench(&bench);
}

/* Even the first step, which follows no other, begins no sooner than the driver permits. */
static void no_step_comes_at_once(void **state)
{
	MORPH_OPTS(morph_light_opts, opts, .begin = MORPH_STEP_TIME);
	struct bench bench = open_bench(SERVER8);
	struct words words;

	(void)state;
	plan_shift(&bench, 4, 1);
	assert_int_equal(light(&bench, 4, &opts), MORPH_FEASIBLE);
	assert_lit(&bench, 4);
	words = WRITE(morph_steps_write, bench.steps);
	assert_int_equal(words.list[HEAD + STEPS_HEAD + CIRCUIT * words.list[HEAD + 3] + 3], 1000);
	free(words.list);
	close_bench(&bench);
}

/*
 * A circuit that no single path serves in all steps has several. The checker sees that none changes
 * while it is lit.
 */
static void a_circuit_may_change_its_path(void **state)
{
	MORPH_OPTS(morph_collective_opts, how, .kind = MORPH_ALL_REDUCE,
		   .algorithm = MORPH_STRAGGLAR, .ranks = 6, .bytes = 1 << 20);
	MORPH_OPTS(morph_schedule_opts, opts, .planes = 2, .policy = MORPH_POLICY_EACH_ROUND);
	struct bench bench = open_bench(SERVER8);
	uint32_t distinct = 0, circuits;
	struct words words;

	(void)state;
	assert_true(plan(&bench, &how, &opts));
	assert_int_equal(light(&bench, 6, NULL), MORPH_FEASIBLE);
	assert_lit(&bench, 6);
	morph_steps_count(bench.steps, &circuits);
	words = WRITE(morph_steps_write, bench.steps);
	for (uint32_t at = 0; at < circuits; at++) {
		const uint32_t *circuit = words.list + HEAD + STEPS_HEAD;
		const uint32_t *it = circuit + CIRCUIT * (size_t)at;
		uint32_t before = 0;

		while (memcmp(circuit + CIRCUIT * (size_t)before, it, 3 * sizeof(*it)))
			before++;
		distinct += before == at;
	}
	assert_true(circuits > distinct);
	free(words.list);
	close_bench(&bench);
}

/* Circuits lit at the start are lit in the first step. */
static void first_step_has_the_initial_circuits(void **state)
{
	MORPH_OPTS(morph_schedule_opts, opts, .policy = MORPH_POLICY_EACH_ROUND, .planes = 2);
	struct morph_schedule *after = morph_schedule_new(ctx);
	struct morph_collective *collective = ring(5, 4096);
	struct bench bench = open_bench(SERVER8);
	uint32_t circuits;

	(void)state;
	assert_int_equal(morph_schedule_plan(after, collective, bench.delay, &opts), 0);
	assert_valid(collective, bench.delay, 2, NULL, after);
	opts.after = after;
	assert_int_equal(morph_schedule_plan(bench.schedule, collective, bench.delay, &opts), 0);
	assert_valid(collective, bench.delay, 2, after, bench.schedule);
	assert_int_equal(morph_schedule_changes(bench.schedule, NULL), 0);
	assert_int_equal(light(&bench, 5, NULL), MORPH_FEASIBLE);
	assert_int_equal(morph_steps_count(bench.steps, &circuits), 1);
	assert_int_equal(circuits, 10);
	assert_lit(&bench, 5);
	morph_collective_free(collective);
	morph_schedule_free(after);
	close_bench(&bench);
}

/* A failed allocation leaves nothing behind, and the ledger is unchanged. */
static void without_memory_nothing_is_left(void **state)
{
	struct bench bench = open_bench(SERVER8);
	uint32_t verdict = 0;

	(void)state;
	for (uint32_t ranks = 4; ranks <= 8; ranks += 4) {
		bool struck = true;

		plan_shift(&bench, ranks, 1);
		for (uint32_t nth = 1; struck; nth++) {
			int error;

			fault_at("memory", nth, ENOMEM);
			error = morph_schedule_light(bench.schedule, bench.ledger, bench.at, ranks,
						     NULL, bench.steps, &bench.light);
			struck = fault_struck();
			assert_int_equal(error, struck ? -ENOMEM : 0);
			assert_true(!struck || !morph_steps_count(bench.steps, NULL));
		}
		verdict += bench.light.verdict;
	}
	assert_int_equal(verdict, MORPH_FEASIBLE + MORPH_INFEASIBLE);
	close_bench(&bench);
}

int main(int count, char **arguments)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_collectives_are_lit_or_refused_with_a_reason),
		cmocka_unit_test(refusals_name_the_shortage),
		cmocka_unit_test(a_circuit_alone_is_refused_by_the_driver),
		cmocka_unit_test(invalid_input_is_refused),
		cmocka_unit_test(planes_are_counted),
		cmocka_unit_test(it_is_always_the_same),
		cmocka_unit_test(steps_begin_as_is_planned),
		cmocka_unit_test(a_loop_that_changes_nothing_turns_slowly),
		cmocka_unit_test(no_step_comes_at_once),
		cmocka_unit_test(a_circuit_may_change_its_path),
		cmocka_unit_test(first_step_has_the_initial_circuits),
		cmocka_unit_test(without_memory_nothing_is_left),
	};

	return lighting_run(count, arguments, "schedule_light", tests, ARRAY_SIZE(tests));
}

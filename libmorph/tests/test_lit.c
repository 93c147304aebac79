// SPDX-License-Identifier: LGPL-2.1-or-later
/* Plans whose circuits have paths: chosen, and kept by a shim. */
#include "../internal/planner.h"
#include "faults.h"
#include "lighting.h"
#include "shims.h"

/*
 * Eight ranks of a server on four planes: the circuits of the fastest plan have no paths, those of
 * other plans have.
 */
#define RANKS 8
#define PLANES 4

struct asked {
	struct bench bench;
	struct morph_collective_opts wanted;
	struct morph_schedule_opts opts;
	struct morph_lit_opts lit;
	struct morph_collective *collective;
	struct morph_choice choices[MORPH_ALGORITHMS];
};

static struct asked ask(uint32_t profile, uint32_t kind, uint32_t ranks, uint32_t planes)
{
	struct asked asked = { .bench = open_bench(profile),
			       .wanted = { .sz = sizeof(struct morph_collective_opts),
					   .kind = kind,
					   .ranks = ranks,
					   .bytes = 1 << 20 },
			       .opts = { .sz = sizeof(struct morph_schedule_opts),
					 .planes = planes },
			       .collective = morph_collective_new(ctx) };

	asked.lit = (struct morph_lit_opts){ .sz = sizeof(struct morph_lit_opts),
					     .ledger = asked.bench.ledger };
	return asked;
}

static void forget(struct asked *asked)
{
	morph_collective_free(asked->collective);
	close_bench(&asked->bench);
}

static int choose(struct asked *asked)
{
	/* The pointer changes when the containing structure is copied. */
	if (asked->lit.ledger)
		asked->lit.accelerators = asked->bench.at;
	return morph_schedule_choose_lit(asked->bench.schedule, asked->collective, &asked->wanted,
					 asked->bench.delay, &asked->opts, &asked->lit,
					 asked->bench.steps, &asked->bench.light, asked->choices);
}

/* The end of the fastest plan without a fabric. */
static uint64_t soonest_ns(struct asked *asked)
{
	assert_int_equal(morph_schedule_choose(asked->bench.schedule, asked->collective,
					       &asked->wanted, asked->bench.delay, &asked->opts,
					       asked->choices),
			 0);
	return morph_schedule_ns(asked->bench.schedule, NULL);
}

static const struct morph_choice *chosen(const struct asked *asked)
{
	const struct morph_choice *one = NULL;

	for (uint32_t at = 1; at < MORPH_ALGORITHMS; at++) {
		if (!asked->choices[at].chosen)
			continue;
		assert_null(one);
		one = &asked->choices[at];
	}
	assert_non_null(one);
	return one;
}

static void the_earliest_plan_with_paths_is_chosen(void **state)
{
	struct asked asked = ask(SERVER8, MORPH_ALL_REDUCE, 4, 1);
	uint64_t soonest = soonest_ns(&asked);

	(void)state;
	assert_int_equal(choose(&asked), 0);
	assert_int_equal(asked.bench.light.verdict, MORPH_FEASIBLE);
	assert_int_equal(morph_schedule_ns(asked.bench.schedule, NULL), soonest);
	assert_lit(&asked.bench, 4);
	forget(&asked);
}

static void if_the_earliest_plan_has_no_paths_the_next_is_chosen(void **state)
{
	uint32_t passed_over = 0;

	(void)state;
	for (uint32_t kind = 1; kind <= KINDS; kind++) {
		struct asked asked = ask(SERVER8, kind, RANKS, PLANES);
		uint64_t soonest = soonest_ns(&asked);

		passed_over += light(&asked.bench, RANKS, NULL) != MORPH_FEASIBLE;
		assert_int_equal(choose(&asked), 0);
		assert_int_equal(asked.bench.light.verdict, MORPH_FEASIBLE);
		assert_true(morph_schedule_ns(asked.bench.schedule, NULL) >= soonest);
		assert_int_equal(chosen(&asked)->ns, morph_schedule_ns(asked.bench.schedule, NULL));
		assert_int_equal(chosen(&asked)->rounds, morph_collective_rounds(asked.collective));
		assert_valid(asked.collective, asked.bench.delay, PLANES, NULL,
			     asked.bench.schedule);
		assert_lit(&asked.bench, RANKS);
		forget(&asked);
	}
	assert_true(passed_over > 0);
}

/* The answer is the fastest plan, and the reason why its circuits have no paths. */
static void if_no_plan_has_paths_the_first_has_the_reason(void **state)
{
	struct asked asked = ask(SERVER8, MORPH_ALL_TO_ALL, RANKS, PLANES);
	uint64_t soonest;
	char why[256];

	(void)state;
	/* No guide leads out of the first accelerator. */
	for (uint32_t guide = 0;
	     morph_ledger_mark(asked.bench.ledger, MORPH_PART_GUIDE, guide, true) == 0;)
		guide++;
	soonest = soonest_ns(&asked);
	assert_int_not_equal(light(&asked.bench, RANKS, NULL), MORPH_FEASIBLE);
	snprintf(why, sizeof(why), "%s", asked.bench.light.why);
	assert_int_equal(choose(&asked), 0);
	assert_int_equal(asked.bench.light.verdict, MORPH_INFEASIBLE);
	assert_string_equal(asked.bench.light.why, why);
	assert_int_equal(morph_schedule_ns(asked.bench.schedule, NULL), soonest);
	assert_int_equal(morph_steps_count(asked.bench.steps, NULL), 0);
	forget(&asked);
}

/* At most the permitted number of plans is tried. */
static void no_more_plans_are_tried_than_are_allowed(void **state)
{
	struct asked asked = ask(SERVER8, MORPH_ALL_TO_ALL, RANKS, PLANES);

	(void)state;
	asked.lit.most = 1;
	assert_int_equal(choose(&asked), 0);
	assert_int_equal(asked.bench.light.verdict, MORPH_INFEASIBLE);
	forget(&asked);
}

static void hopeless_requests_are_reported_at_once(void **state)
{
	struct asked asked = ask(SMARTLIGHT, MORPH_ALL_TO_ALL, 4, 2);

	(void)state;
	assert_int_equal(choose(&asked), 0);
	assert_int_equal(asked.bench.light.reason, MORPH_LIGHT_PORTS);
	assert_int_equal(morph_schedule_verdict(asked.bench.schedule), MORPH_FEASIBLE);
	forget(&asked);
}

static void invalid_input_is_refused(void **state)
{
	struct asked asked = ask(SERVER8, MORPH_ALL_REDUCE, 4, 1);
	MORPH_OPTS(morph_light_opts, light, .begin = 9);

	(void)state;
	asked.bench.at[3] = 10;
	assert_int_equal(choose(&asked), -ENOENT);
	asked.bench.at[3] = 3;
	asked.lit.light = &light;
	assert_int_equal(choose(&asked), -EINVAL);
	assert_non_null(strstr(morph_error_text(ctx), "begin is 9"));
	asked.lit.light = NULL;
	asked.lit.ledger = NULL;
	assert_int_equal(choose(&asked), -EINVAL);
	assert_non_null(strstr(morph_error_text(ctx), "ledger is required"));
	asked.lit.ledger = asked.bench.ledger;
	asked.wanted.kind = 77;
	assert_int_equal(choose(&asked), -EINVAL);
	forget(&asked);
}

/* ---------------------------------------------------------------------- shims */

static struct morph_shim *lit_shim(const struct bench *bench, uint32_t ranks, uint32_t planes)
{
	MORPH_OPTS(morph_lit_opts, lit, .ledger = bench->ledger, .accelerators = bench->at);
	MORPH_OPTS(morph_shim_opts, opts, .ranks = ranks, .planes = planes, .lit = &lit);

	return shim_of(&opts);
}

/* Check with the checker, which does not know how the paths were found. */
static void assert_plan_lit(const struct bench *bench, const struct morph_shim_plan *plan,
			    uint32_t ranks)
{
	struct bench of = *bench;

	of.schedule = (struct morph_schedule *)morph_shim_plan_schedule(plan);
	of.steps = (struct morph_steps *)morph_shim_plan_steps(plan);
	assert_non_null(of.steps);
	assert_true(morph_steps_count(of.steps, NULL) > 0);
	assert_lit(&of, ranks);
}

static void a_shim_with_accelerators_gives_plans_with_paths(void **state)
{
	struct bench bench = open_bench(SERVER8);
	struct morph_shim *shim = lit_shim(&bench, RANKS, PLANES);
	struct morph_shim *other = some_shim(RANKS, PLANES);
	const struct morph_shim_plan *plan = NULL;

	(void)state;
	for (uint32_t kind = 1; kind <= KINDS; kind++) {
		plan = look_up(shim, kind, 1 << 20, plan);
		assert_plan_lit(&bench, plan, RANKS);
		assert_null(morph_shim_plan_steps(look_up(other, kind, 1 << 20, NULL)));
	}
	/* The plans repeat. */
	plan = look_up(shim, 1, 1 << 20, NULL);
	allocations();
	assert_ptr_equal(look_up(shim, 1, 1 << 20, NULL), plan);
	assert_int_equal(allocations(), 0);
	morph_shim_free(other);
	morph_shim_free(shim);
	close_bench(&bench);
}

/* A file has no paths. Reading finds them again, or the plan is stale. */
static void loaded_plans_have_paths_or_are_stale(void **state)
{
	struct bench bench = open_bench(SERVER8);
	struct morph_shim *writes = lit_shim(&bench, 4, 1), *reads = lit_shim(&bench, 4, 1);
	const struct morph_shim_plan *plan = look_up(writes, MORPH_ALL_REDUCE, 4096, NULL);
	size_t bytes;
	uint8_t *data = write_shim(writes, &bytes);

	(void)state;
	assert_int_equal(morph_shim_read(reads, data, bytes), 0);
	assert_same_plan(look_up(reads, MORPH_ALL_REDUCE, 4096, NULL), plan);
	assert_plan_lit(&bench, look_up(reads, MORPH_ALL_REDUCE, 4096, NULL), 4);
	morph_shim_free(reads);
	for (uint32_t guide = 0; !morph_ledger_mark(bench.ledger, MORPH_PART_GUIDE, guide, true);)
		guide++;
	reads = lit_shim(&bench, 4, 1);
	assert_shim_refused(reads, morph_shim_read(reads, data, bytes), -ESTALE,
			    "the circuits of a plan no longer have paths: ");
	assert_int_equal(morph_shim_plans(reads, NULL), 0);
	free(data);
	morph_shim_free(reads);
	morph_shim_free(writes);
	close_bench(&bench);
}

/* A missing path is remembered, and not written to the file. */
static void lack_of_paths_is_remembered(void **state)
{
	struct bench bench = open_bench(SERVER8);
	struct morph_shim *shim = lit_shim(&bench, 4, 1), *reads = lit_shim(&bench, 4, 1);
	const struct morph_shim_plan *plan;
	size_t bytes;
	uint8_t *data;

	(void)state;
	assert_int_equal(morph_ledger_mark(bench.ledger, MORPH_PART_ACCELERATOR, 2, true), 0);
	for (uint32_t time = 0; time < 2; time++) {
		assert_shim_refused(shim,
				    morph_shim_lookup(shim, MORPH_ALL_REDUCE, 4096, NULL, &plan),
				    -ENOENT, "");
		assert_null(plan);
		assert_int_equal(morph_shim_plans(shim, NULL), 1);
	}
	data = write_shim(shim, &bytes);
	assert_int_equal(morph_shim_read(reads, data, bytes), 0);
	assert_int_equal(morph_shim_plans(reads, NULL), 0);
	free(data);
	morph_shim_free(reads);
	morph_shim_free(shim);
	close_bench(&bench);
}

static void invalid_options_for_paths_are_refused(void **state)
{
	struct bench bench = open_bench(SERVER8);
	MORPH_OPTS(morph_lit_opts, lit, .ledger = bench.ledger);
	MORPH_OPTS(morph_shim_opts, opts, .ranks = 4, .lit = &lit);
	struct morph_shim *shim;

	(void)state;
	assert_int_equal(morph_shim_new(ctx, bench.delay, &opts, &shim), -EINVAL);
	assert_string_equal(morph_error_text(ctx), "morph_lit_opts.accelerators is required");
	lit.ledger = NULL;
	assert_int_equal(morph_shim_new(ctx, bench.delay, &opts, &shim), -EINVAL);
	assert_string_equal(morph_error_text(ctx), "morph_lit_opts.ledger is required");
	opts.lit = NULL;
	opts.late_ns = (1ULL << 40) + 1;
	assert_int_equal(morph_shim_new(ctx, bench.delay, &opts, &shim), -EINVAL);
	close_bench(&bench);
}

static void without_memory_a_shim_keeps_no_plan_without_paths(void **state)
{
	struct bench bench = open_bench(SERVER8);
	bool struck = true;

	(void)state;
	for (unsigned int nth = 1; struck; nth += 1 + nth / 8) {
		struct morph_shim *shim = lit_shim(&bench, 3, 1);
		const struct morph_shim_plan *plan;
		int ret;

		fault_at("memory", nth, ENOMEM);
		ret = morph_shim_lookup(shim, MORPH_BROADCAST, 64, NULL, &plan);
		struck = fault_struck();
		assert_true(!ret || (struck && ret == -ENOMEM && !morph_shim_plans(shim, NULL)));
		if (!ret)
			assert_plan_lit(&bench, plan, 3);
		morph_shim_free(shim);
	}
	close_bench(&bench);
}

int main(int count, char **arguments)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_earliest_plan_with_paths_is_chosen),
		cmocka_unit_test(if_the_earliest_plan_has_no_paths_the_next_is_chosen),
		cmocka_unit_test(if_no_plan_has_paths_the_first_has_the_reason),
		cmocka_unit_test(no_more_plans_are_tried_than_are_allowed),
		cmocka_unit_test(hopeless_requests_are_reported_at_once),
		cmocka_unit_test(invalid_input_is_refused),
		cmocka_unit_test(a_shim_with_accelerators_gives_plans_with_paths),
		cmocka_unit_test(loaded_plans_have_paths_or_are_stale),
		cmocka_unit_test(lack_of_paths_is_remembered),
		cmocka_unit_test(invalid_options_for_paths_are_refused),
		cmocka_unit_test(without_memory_a_shim_keeps_no_plan_without_paths),
	};

	return lighting_run(count, arguments, "lit", tests, ARRAY_SIZE(tests));
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/* References for schedules: baselines, thresholds, and methods for matrices. */
#include "../internal/planner.h"
#include "scheduling.h"

#include "../bench/random.h"
#include "../schedule/circulants.h"
#include "../collective/straggler.h"

#define MIB (1 << 20)

static struct morph_collective *build(uint32_t kind, uint32_t algorithm, uint32_t ranks,
				      uint64_t bytes)
{
	MORPH_OPTS(morph_collective_opts, opts, .kind = kind, .algorithm = algorithm,
		   .ranks = ranks, .bytes = bytes);
	struct morph_collective *collective = morph_collective_new(ctx);

	assert_non_null(collective);
	if (algorithm == MORPH_RINGS)
		opts.extent[0] = ranks / (opts.extent[1] = 2);
	if (morph_collective_build(collective, &opts)) {
		morph_collective_free(collective);
		return NULL;
	}
	return collective;
}

static struct morph_delay *link_of(uint64_t round_ns, uint64_t hop_ns, uint64_t mbps,
				   uint64_t settle_ns)
{
	struct morph_delay *delay = morph_delay_new(ctx);

	assert_int_equal(morph_delay_set_link(delay, round_ns, hop_ns, mbps), 0);
	assert_int_equal(morph_delay_set_part(delay, MORPH_DELAY_SETTLE, &settle_ns, 1), 0);
	return delay;
}

/* Copy a delay with changes that take no time. */
static struct morph_delay *without_changes(uint32_t scope)
{
	struct morph_delay *delay = some_delay(scope);
	uint64_t none = 0;

	for (uint32_t part = 0; part < MORPH_DELAY_PARTS; part++)
		assert_int_equal(morph_delay_set_part(delay, part, &none, 1), 0);
	return delay;
}

/*
 * Check the reason: the lit circuits do not join all ranks, or turns of a round would send data
 * that changed in the round.
 */
static void assert_fits_reason(const struct morph_schedule *schedule, uint32_t baseline,
			       const struct morph_schedule *before)
{
	if (baseline == MORPH_BASELINE_EVERY_STEP) {
		assert_int_equal(morph_schedule_verdict(schedule), MORPH_UNDECIDED);
		assert_non_null(strstr(morph_schedule_why(schedule), "takes turns"));
		return;
	}
	assert_true(baseline == MORPH_BASELINE_STATIC && before);
	assert_int_equal(morph_schedule_verdict(schedule), MORPH_INFEASIBLE);
}

/*
 * Each baseline is valid. A baseline that needs no planner ends no earlier than a plan, and one
 * with free changes ends no later.
 */
static uint32_t hold_against(const struct morph_collective *collective, uint32_t scope,
			     uint32_t planes, const struct morph_schedule *before)
{
	MORPH_OPTS(morph_schedule_opts, opts, .planes = planes, .after = before);
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct morph_delay *delay = some_delay(scope), *free_changes = without_changes(scope);
	uint32_t feasible = 0;
	uint64_t plan, bound;

	assert_int_equal(morph_schedule_plan(schedule, collective, delay, &opts), 0);
	plan = morph_schedule_ns(schedule, &bound);
	opts.policy = 99; /* is not looked at */
	for (uint32_t baseline = 0; baseline < MORPH_BASELINES; baseline++) {
		bool ideal = baseline == MORPH_BASELINE_IDEAL;

		assert_int_equal(
			morph_schedule_baseline(schedule, collective, delay, &opts, baseline), 0);
		if (morph_schedule_verdict(schedule) != MORPH_FEASIBLE) {
			assert_fits_reason(schedule, baseline, before);
			continue;
		}
		feasible++;
		assert_valid(collective, ideal ? free_changes : delay, planes, before, schedule);
		if (ideal)
			assert_true(morph_schedule_ns(schedule, NULL) <= plan);
		else
			assert_true(morph_schedule_ns(schedule, NULL) >= bound);
		if (baseline == MORPH_BASELINE_SET_ONCE)
			assert_true(morph_schedule_changes(schedule, NULL) <= planes);
		if (baseline == MORPH_BASELINE_STATIC && before)
			assert_int_equal(morph_schedule_changes(schedule, NULL), 0);
		if (baseline == MORPH_BASELINE_STATIC || baseline == MORPH_BASELINE_EVERY_STEP)
			assert_true(morph_schedule_ns(schedule, NULL) >= plan);
	}
	morph_delay_free(free_changes);
	morph_delay_free(delay);
	morph_schedule_free(schedule);
	return feasible;
}

static void each_algorithm_is_held_against_them(void **state)
{
	uint32_t feasible = 0;

	(void)state;
	for (uint32_t kind = MORPH_ALL_REDUCE; kind <= MORPH_BROADCAST; kind++)
		for (uint32_t at = 0; at < 3 * MORPH_ALGORITHMS; at++) {
			struct morph_collective *collective =
				build(kind, at / 3 + 1, at % 3 ? 8 : 6, 100000);

			if (!collective)
				continue;
			feasible += hold_against(collective, at % 3, 1 + at % 3, NULL);
			morph_collective_free(collective);
		}
	print_message("%u baselines\n", feasible);
	assert_true(feasible > 200);
}

static void static_after_other_policies_uses_their_circuits(void **state)
{
	MORPH_OPTS(morph_schedule_opts, opts, .planes = 2);
	struct morph_schedule *before = morph_schedule_new(ctx);
	struct morph_delay *delay = some_delay(MORPH_DELAY_PORT_SCOPE);
	uint64_t seed = 5;
	uint32_t feasible = 0;

	(void)state;
	for (uint32_t at = 0; at < 40; at++) {
		struct morph_collective *first = at % 2 ? ring(6, 1000) :
							  random_rounds(&seed, 6, 2, 4);
		struct morph_collective *second = random_rounds(&seed, 6, 1 + at % 4, 5);

		assert_int_equal(morph_schedule_plan(before, first, delay, &opts), 0);
		feasible += hold_against(second, MORPH_DELAY_PORT_SCOPE, 2, before);
		morph_collective_free(second);
		morph_collective_free(first);
	}
	print_message("%u baselines\n", feasible);
	/* A ring joins all ranks; random circuits often do not. */
	assert_true(feasible >= 3 * 40 && feasible < 4 * 40);
	morph_delay_free(delay);
	morph_schedule_free(before);
}

static uint64_t ns_of(struct morph_schedule *schedule, const struct morph_collective *collective,
		      const struct morph_delay *delay, uint32_t baseline)
{
	assert_int_equal(morph_schedule_baseline(schedule, collective, delay, NULL, baseline), 0);
	assert_int_equal(morph_schedule_verdict(schedule), MORPH_FEASIBLE);
	return morph_schedule_ns(schedule, NULL);
}

/*
 * All-to-all by shifts and all-reduce by halving of 64 ranks, 1 MiB, 800 Gb/s, 500 ns for a round
 * and a hop: the published values.
 */
static void times_are_those_that_are_known(void **state)
{
	struct morph_collective *shift = build(MORPH_ALL_TO_ALL, MORPH_SHIFT, 64, MIB);
	struct morph_collective *halving = build(MORPH_ALL_REDUCE, MORPH_HALVING_CYCLIC, 64, MIB);
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct morph_delay *delay = link_of(500, 500, 800000, 10000);
	const uint64_t round = 1000 + MIB / 64 / 100 + 1;

	(void)state;
	/* The ring must be set first. */
	assert_int_equal(ns_of(schedule, shift, delay, MORPH_BASELINE_STATIC) / 100, 13798);
	assert_int_equal(ns_of(schedule, halving, delay, MORPH_BASELINE_STATIC) / 100, 1419);
	assert_in_range(ns_of(schedule, shift, delay, MORPH_BASELINE_IDEAL), 63 * (round - 1),
			63 * round);
	assert_in_range(ns_of(schedule, shift, delay, MORPH_BASELINE_EVERY_STEP),
			63 * (round - 1 + 10000), 63 * (round + 10000));
	/*
	 * With a ring only, each shift passes over shifts of one. No topology that stays throughout
	 * is better.
	 */
	assert_true(ns_of(schedule, shift, delay, MORPH_BASELINE_SET_ONCE) <=
		    ns_of(schedule, shift, delay, MORPH_BASELINE_STATIC));
	morph_delay_free(delay);
	morph_schedule_free(schedule);
	morph_collective_free(halving);
	morph_collective_free(shift);
}

static void invalid_input_is_refused(void **state)
{
	MORPH_OPTS(morph_schedule_opts, opts, .planes = 65);
	struct morph_collective *collective = ring(4, 100), *none = morph_collective_new(ctx);
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct morph_delay *delay = some_delay(MORPH_DELAY_PORT_SCOPE);

	(void)state;
	assert_string_equal(morph_enum_name(MORPH_ENUM_BASELINE, MORPH_BASELINE_STATIC), "static");
	assert_string_equal(morph_enum_name(MORPH_ENUM_BASELINE, MORPH_BASELINE_EVERY_STEP),
			    "every-step");
	assert_null(morph_enum_name(MORPH_ENUM_BASELINE, MORPH_BASELINES));
	assert_int_equal(morph_schedule_baseline(schedule, collective, delay, NULL,
						 MORPH_BASELINES),
			 -EINVAL);
	for (uint32_t baseline = 0; baseline < MORPH_BASELINES; baseline++) {
		assert_int_equal(morph_schedule_baseline(schedule, collective, delay, &opts,
							 baseline),
				 -EINVAL);
		assert_int_equal(morph_schedule_baseline(schedule, none, delay, NULL, baseline),
				 -EINVAL);
		assert_int_equal(morph_schedule_verdict(schedule), 0);
	}
	opts.sz = 3;
	assert_int_equal(morph_schedule_baseline(schedule, collective, delay, &opts, 0), -EINVAL);
	morph_delay_free(delay);
	morph_schedule_free(schedule);
	morph_collective_free(none);
	morph_collective_free(collective);
}

/* ------------------------------------------------------------------- thresholds */

/* With one byte less, all steps stay on the ring. */
static void short_cuts_pay_from_there_on(void **state)
{
	static const uint64_t settles[] = { 0, 1000, 3700, 100000, 10000000 };
	struct morph_short_cut cut, less;
	uint32_t seen = 0;

	(void)state;
	for (uint32_t at = 0; at < 5 * 12 * 3; at++) {
		uint32_t ranks = 2U << at / 5 % 12, planes = 1 + at / 60;
		struct morph_delay *delay = link_of(500, 100, 800000, settles[at % 5]);

		assert_int_equal(morph_short_cut(ctx, delay, ranks, planes, 4096, &cut), 0);
		assert_int_equal(1U << cut.steps, ranks);
		if (cut.pays_bytes != UINT64_MAX) {
			assert_int_equal(morph_short_cut(ctx, delay, ranks, planes, cut.pays_bytes,
							 &less),
					 0);
			assert_true(less.first < less.steps);
			assert_int_equal(less.pays_bytes, cut.pays_bytes);
		} else {
			assert_int_equal(ranks, 2);
		}
		if (cut.pays_bytes && cut.pays_bytes != UINT64_MAX) {
			assert_int_equal(morph_short_cut(ctx, delay, ranks, planes,
							 cut.pays_bytes - 1, &less),
					 0);
			assert_int_equal(less.first, less.steps);
			seen++;
		}
		morph_delay_free(delay);
	}
	assert_true(seen > 20);
}

/* This holds although the counted bytes take longer than the formula assumes. */
static void short_cuts_pay_over_slow_links(void **state)
{
	struct morph_short_cut cut;

	(void)state;
	for (uint64_t mbps = 1; mbps <= 100; mbps *= 10) {
		struct morph_delay *delay = link_of(500, 100, mbps, 1000);

		assert_int_equal(morph_short_cut(ctx, delay, 8, 1, 1 << 20, &cut), 0);
		assert_true(cut.first < cut.steps);
		assert_true(cut.pays_bytes <= 1 << 20);
		morph_delay_free(delay);
	}
}

/* (2^i - 1) * (hop + bytes / 2^(i + 1) / bandwidth) > change: 4 ranks save one hop of a quarter. */
static void a_short_cut_by_hand(void **state)
{
	struct morph_delay *delay = link_of(0, 100, 8000, 1000), *none = morph_delay_new(ctx);
	struct morph_short_cut cut;

	(void)state;
	assert_int_equal(morph_short_cut(ctx, delay, 4, 1, 8000, &cut), 0);
	assert_int_equal(cut.steps, 2);
	assert_in_range(cut.pays_bytes, 3600, 3604);
	assert_int_equal(cut.first, 1);
	/* 4000 bytes over one circuit; a change; 2000 bytes over another one. */
	assert_int_equal(cut.ns, 100 + 4000 + 1000 + 100 + 2000);
	assert_int_equal(morph_short_cut(ctx, delay, 4, 2, 8000, &cut), 0);
	assert_in_range(cut.pays_bytes, 7200, 7208);
	assert_int_equal(morph_short_cut(ctx, delay, 6, 1, 8000, &cut), -EINVAL);
	assert_int_equal(morph_short_cut(ctx, delay, 1, 1, 8000, &cut), -EINVAL);
	assert_int_equal(morph_short_cut(ctx, delay, 8192, 1, 8000, &cut), -EINVAL);
	assert_int_equal(morph_short_cut(ctx, delay, 4, 0, 8000, &cut), -EINVAL);
	assert_int_equal(morph_short_cut(ctx, none, 4, 1, 8000, &cut), -EINVAL);
	morph_delay_free(none);
	morph_delay_free(delay);
}

static uint32_t late_rounds_least(uint32_t ranks)
{
	struct morph_collective *collective = morph_collective_new(ctx);
	MORPH_OPTS(morph_collective_info, info);

	assert_int_equal(morph_collective_begin(collective, ranks), 0);
	assert_int_equal(morph_collective_info(collective, &info), 0);
	morph_collective_free(collective);
	return info.late_rounds_least;
}

static void rounds_with_a_late_rank_are_counted(void **state)
{
	(void)state;
	assert_int_equal(late_rounds_least(1), 0);
	assert_int_equal(late_rounds_least(8), 9);
	assert_int_equal(late_rounds_least(64), 68);
	for (uint32_t ranks = 2; ranks < 100; ranks++)
		assert_int_equal(late_rounds_least(ranks), lm_straggler_bound(ranks));
	assert_int_equal(lm_straggler_bound(0), 0);
}

/* ---------------------------------------------------------------------- methods */

static const struct morph_method *method_of(const struct morph_method *methods, int count,
					    const char *name)
{
	for (int at = 0; at < count; at++)
		if (!strcmp(methods[at].name, name))
			return &methods[at];
	fail_msg("no method %s", name);
	return NULL;
}

/* The time of the policy's plan, in the form that callers that try several policies see. */
static uint64_t matchings_ns(const struct morph_schedule *schedule)
{
	struct morph_alternative tried;

	assert_int_equal(morph_schedule_alternative(schedule, MORPH_POLICY_MATCHINGS, &tried), 0);
	return tried.ns;
}

/* The chosen method is the policy's. Each other one has a reason. */
static void check_methods(uint32_t policy)
{
	MORPH_OPTS(morph_schedule_opts, opts, .planes = 2, .policy = policy);
	MORPH_OPTS(morph_collective_opts, wanted, .kind = MORPH_ALL_TO_ALL,
		   .algorithm = MORPH_DIRECT, .ranks = 6);
	struct morph_collective *collective = morph_collective_new(ctx);
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct morph_delay *delay = some_delay(MORPH_DELAY_PORT_SCOPE);
	struct morph_method methods[16];
	uint64_t matrix[36] = { 0 }, seed = 9;

	wanted.matrix = matrix;
	for (uint32_t at = 0; at < 50; at++) {
		uint32_t chosen = 0;
		uint64_t ns;
		int count;

		for (uint32_t cell = 0; cell < 36; cell++)
			matrix[cell] = cell % 7 && random_below(&seed, 3) ?
					       random_below(&seed, 1000000) :
					       0;
		assert_int_equal(morph_collective_build(collective, &wanted), 0);
		assert_int_equal(morph_schedule_plan(schedule, collective, delay, &opts), 0);
		ns = matchings_ns(schedule);
		count = morph_matrix_methods(ctx, matrix, 6, delay, &opts, methods, 16);
		assert_in_range(count, 5, 16);
		for (int which = 0; which < count; which++) {
			chosen += methods[which].chosen;
			assert_true(methods[which].chosen == !methods[which].why[0]);
			if (methods[which].chosen)
				assert_int_equal(methods[which].ns, ns);
			if (!strcmp(methods[which].why, "later") ||
			    (methods[which].ns && policy != MORPH_POLICY_MATCHINGS))
				assert_true(methods[which].ns >= ns);
		}
		assert_int_equal(chosen, 1);
		assert_true(method_of(methods, count, "eclipse")->ns);
		assert_true(method_of(methods, count, "solstice")->turns);
	}
	memset(matrix, 0, sizeof(matrix));
	assert_in_range(morph_matrix_methods(ctx, matrix, 6, delay, &opts, methods, 2), 5, 16);
	assert_string_equal(methods[0].why, "nothing to send");
	assert_int_equal(morph_matrix_methods(ctx, matrix, 0, delay, &opts, methods, 2), -EINVAL);
	morph_delay_free(delay);
	morph_schedule_free(schedule);
	morph_collective_free(collective);
}

static void methods_of_a_matrix_are_listed(void **state)
{
	(void)state;
	check_methods(MORPH_POLICY_MATCHINGS);
}

/* If the search budget is enough for the other policies, it is enough for all methods. */
static void no_method_is_sooner_than_the_best_plan(void **state)
{
	(void)state;
	check_methods(MORPH_POLICY_BEST);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_algorithm_is_held_against_them),
		TEST(static_after_other_policies_uses_their_circuits),
		TEST(times_are_those_that_are_known),
		TEST(invalid_input_is_refused),
		TEST(short_cuts_pay_from_there_on),
		TEST(short_cuts_pay_over_slow_links),
		TEST(a_short_cut_by_hand),
		TEST(rounds_with_a_late_rank_are_counted),
		TEST(methods_of_a_matrix_are_listed),
		TEST(no_method_is_sooner_than_the_best_plan),
	};

	return cmocka_run_group_tests_name("baseline", tests, NULL, NULL);
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Times for changing topologies inside a collective: compare with known costs, and with all
 * sequences of small problems.
 */
#include <math.h>
#include <stdio.h>

#include "../util/mix.h"
#include "../schedule/circulants.h"
#include "alone.h"

#define MOST_SHIFTS 128
#define PUBLISHED_WITHIN 1e-4 /* what a solver's tolerance leaves */

static const char *golden; /* the file of costs that are known */

/* ------------------------------------------------------------ costs that are known */

struct known {
	char source[16], collective[16], plan[8], segments[1024];
	uint32_t ranks, changes;
	uint64_t bytes, mbps, round_ns, hop_ns, change_ns;
	double cost_ns;
};

static bool read_known(FILE *file, struct known *known)
{
	char line[1280];

	while (fgets(line, sizeof(line), file)) {
		*known = (struct known){ .segments = "" };
		if (sscanf(line, "%15[^,],%15[^,],%7[^,],%u,%lu,%lu,%lu,%lu,%lu,%lf,%u,%1023[^\n]",
			   known->source, known->collective, known->plan, &known->ranks,
			   &known->bytes, &known->mbps, &known->round_ns, &known->hop_ns,
			   &known->change_ns, &known->cost_ns, &known->changes,
			   known->segments) >= 11)
			return true;
	}
	return false;
}

static uint32_t all_to_all(struct shift *shifts, uint32_t ranks, uint64_t bytes)
{
	for (uint32_t by = 1; by < ranks; by++)
		shifts[by - 1] = (struct shift){ .by = by, .bytes = bytes / ranks };
	return ranks - 1;
}

/* Cyclic halving; with @both, followed by doubling. */
static uint32_t halving(struct shift *shifts, uint32_t ranks, uint64_t bytes, bool both)
{
	uint32_t steps = 0;

	for (; 1U << steps < ranks; steps++)
		shifts[steps] = (struct shift){ .by = 1U << steps, .bytes = bytes >> (steps + 1) };
	for (uint32_t step = 0; both && step < steps; step++)
		shifts[2 * steps - 1 - step] = shifts[step];
	return both ? 2 * steps : steps;
}

static void write_segments(char *text, size_t room, const uint16_t *held, uint32_t rounds)
{
	size_t at = 0;

	for (uint32_t first = 0, end; first < rounds; first = end) {
		for (end = first + 1; end < rounds && held[end] == held[first];)
			end++;
		at += (size_t)snprintf(text + at, at < room ? room - at : 0, "%sC%u:%u-%u",
				       first ? " " : "", held[first] + 1U, first + 1, end);
	}
}

/* Check that the row of the file equals the result. */
static void look_up(struct circulants_work *work, const struct known *known)
{
	struct shift shifts[MOST_SHIFTS];
	struct costs costs = { .round_ps = known->round_ns * PS_PER_NS,
			       .hop_ps = known->hop_ns * PS_PER_NS,
			       .mbps = known->mbps,
			       .change_ps = known->change_ns * PS_PER_NS };
	struct circulants circulants = { .ranks = known->ranks, .shifts = shifts, .costs = &costs };
	bool all = !strcmp(known->collective, "all-to-all");
	struct segments_baselines baselines;
	struct segments_plan plan;
	char segments[4096];
	double cost_ns;

	circulants.resident = RESIDENT_ANY;
	circulants.rounds = all ? all_to_all(shifts, known->ranks, known->bytes) :
				  halving(shifts, known->ranks, known->bytes, true);
	assert_int_equal(lm_circulants_solve(work, &circulants, &plan), 0);
	write_segments(segments, sizeof(segments), plan.held, circulants.rounds);
	if (!strcmp(known->plan, "ring")) {
		assert_int_equal(lm_circulants_baselines(work, &circulants, &baselines), 0);
		plan.ps = baselines.fixed.ps;
		plan.changes = baselines.fixed.changes;
		snprintf(segments, sizeof(segments), "C1:1-%u", circulants.rounds);
	}
	cost_ns = (double)plan.ps / PS_PER_NS;
	assert_int_equal(plan.changes, known->changes);
	if (*known->segments)
		assert_string_equal(segments, known->segments);
	if (!strcmp(known->source, "own"))
		assert_true(round(cost_ns) == known->cost_ns);
	else
		assert_true(fabs(cost_ns - known->cost_ns) < PUBLISHED_WITHIN * known->cost_ns);
}

static void costs_are_those_of_the_model_and_as_published(void **state)
{
	struct circulants_work work = { .segments.ctx = ctx };
	FILE *file = fopen(golden, "r");
	uint32_t own = 0, published = 0;
	struct known known;

	(void)state;
	assert_non_null(file);
	while (read_known(file, &known)) {
		own += !strcmp(known.source, "own");
		published += !strcmp(known.source, "published");
		look_up(&work, &known);
	}
	fclose(file);
	assert_int_equal(own, 12);
	assert_int_equal(published, 2);
	lm_circulants_release(&work);
}

/* ----------------------------------------------------------- all that there are */

#define SMALL_ROUNDS 5
#define SMALL_TOPOLOGIES 4

struct small {
	struct segments_problem problem;
	uint64_t prices[SMALL_ROUNDS * SMALL_TOPOLOGIES];
	uint64_t changes[(SMALL_TOPOLOGIES + 1) * SMALL_TOPOLOGIES];
};

/*
 * Small numbers, so that ties occur. Some topologies cannot carry a round. Changes are equal,
 * similar, or arbitrary.
 */
static void draw(struct small *small, uint64_t seed)
{
	uint64_t random = seed;
	uint32_t rounds = 1 + (uint32_t)mix_below(&random, SMALL_ROUNDS);
	uint32_t count = 1 + (uint32_t)mix_below(&random, SMALL_TOPOLOGIES);
	uint32_t kind = (uint32_t)mix_below(&random, 3), least = kind == 1 ? 6 : 0;

	memset(small, 0, sizeof(*small));
	for (uint32_t at = 0; at < rounds * count; at++)
		small->prices[at] = mix_below(&random, 8) ? mix_below(&random, 20) : NEVER_PS;
	for (uint32_t from = 0; from <= count; from++)
		for (uint32_t to = 0; to < count; to++)
			small->changes[from * count + to] =
				from == to ? 0 : least + mix_below(&random, kind == 1 ? 3 : 15);
	if (kind == 2 && count > 1 && !mix_below(&random, 4))
		small->changes[1] = NEVER_PS;
	small->problem = (struct segments_problem){ .rounds = rounds,
						    .topologies = count,
						    .price = lm_segments_price_table,
						    .prices = small->prices,
						    .change_ps = mix_below(&random, 10),
						    .most_ps = 19,
						    .changes = kind ? small->changes : NULL };
	switch (mix_below(&random, 3)) {
	case 0:
		small->problem.resident = RESIDENT_ANY;
		break;
	case 1:
		small->problem.resident = RESIDENT_NONE;
		break;
	default:
		small->problem.resident = (uint32_t)mix_below(&random, count);
	}
}

/* Walk through a sequence: check its free first topology, its costs, and its impossible rounds. */
static struct segments_choice walk(const struct small *small, const uint16_t *held)
{
	const struct segments_problem *problem = &small->problem;
	struct segments_choice sum = { .ps = 0 };
	uint32_t before = problem->resident, count = problem->topologies;

	for (uint32_t round = 0; round < problem->rounds; round++) {
		uint32_t to = held[round], row = before == RESIDENT_NONE ? count : before;

		if (before != RESIDENT_ANY && before != to) {
			sum.ps = lm_sum(sum.ps, problem->changes ?
							small->changes[row * count + to] :
							problem->change_ps);
			sum.changes++;
		}
		sum.ps = lm_sum(sum.ps, small->prices[round * count + to]);
		before = to;
	}
	return sum;
}

static bool is_less(struct segments_choice one, struct segments_choice other)
{
	return one.ps != other.ps ? one.ps < other.ps : one.changes < other.changes;
}

/* The best of all sequences, and of those with a single topology. */
static struct segments_choice try_all(const struct small *small, struct segments_choice *single)
{
	struct segments_choice best = { .ps = NEVER_PS };
	uint32_t rounds = small->problem.rounds, count = small->problem.topologies, all = 1;

	*single = best;
	for (uint32_t round = 0; round < rounds; round++)
		all *= count;
	for (uint32_t number = 0; number < all; number++) {
		uint16_t held[SMALL_ROUNDS] = { 0 };
		struct segments_choice its;
		bool same = true;

		for (uint32_t round = 0, left = number; round < rounds; round++, left /= count) {
			held[round] = (uint16_t)(left % count);
			same &= held[round] == held[0];
		}
		its = walk(small, held);
		best = is_less(its, best) ? its : best;
		*single = same && is_less(its, *single) ? its : *single;
	}
	return best;
}

/* The plan does not depend on whether totals are known to fit 64 bits. */
static void assert_same_in_any_width(struct segments *wide, const struct small *small,
				     const struct segments_plan *plan)
{
	struct segments_problem problem = small->problem;
	struct segments_plan its;

	problem.most_ps = 0;
	assert_int_equal(lm_segments_solve(wide, &problem, &its), 0);
	assert_true(its.ps == plan->ps && its.changes == plan->changes &&
		    its.bound_ps == plan->bound_ps);
	assert_memory_equal(its.held, plan->held, problem.rounds * sizeof(*its.held));
}

static void nothing_is_better_of_all_sequences(void **state)
{
	struct segments work = { .ctx = ctx }, wide = { .ctx = ctx };
	uint32_t solved = 0, unsolved = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 20000; seed++) {
		struct segments_choice best, single, mine;
		struct segments_baselines baselines;
		struct segments_plan plan;
		struct small small;
		int ret;

		draw(&small, seed);
		best = try_all(&small, &single);
		ret = lm_segments_solve(&work, &small.problem, &plan);
		if (best.ps == NEVER_PS) {
			assert_true(ret == -ENETUNREACH || ret == -ERANGE);
			unsolved++;
			continue;
		}
		assert_int_equal(ret, 0);
		mine = walk(&small, plan.held);
		assert_true(mine.ps == plan.ps && mine.changes == plan.changes);
		assert_true(best.ps == plan.ps && best.changes == plan.changes);
		assert_same_in_any_width(&wide, &small, &plan);
		assert_true(plan.bound_ps <= plan.ps);
		assert_int_equal(lm_segments_baselines(&work, &small.problem, 0, &baselines), 0);
		assert_true(baselines.one_shot.ps == single.ps);
		assert_true(baselines.one_shot.ps == NEVER_PS ||
			    baselines.one_shot.changes == single.changes);
		assert_true(baselines.ideal.ps == plan.bound_ps);
		assert_true(baselines.fixed.ps >= single.ps);
		assert_true(baselines.every_round.ps >= plan.ps);
		solved++;
	}
	assert_true(solved > 10000 && unsolved > 1000);
	lm_segments_release(&wide);
	lm_segments_release(&work);
}

/*
 * For each round except the last, its own topology is best. The last round keeps the topology
 * before it.
 */
static void baselines_do_not_plan(void **state)
{
	static uint64_t prices[] = { 1, 5, 9, 7, 2, 9, 9, 6, 3, 9, 3, 3 };
	struct segments_problem problem = { .rounds = 4,
					    .topologies = 3,
					    .price = lm_segments_price_table,
					    .prices = prices,
					    .change_ps = 10,
					    .resident = RESIDENT_NONE };
	struct segments work = { .ctx = ctx };
	struct segments_baselines baselines;

	(void)state;
	assert_int_equal(lm_segments_baselines(&work, &problem, 0, &baselines), 0);
	assert_int_equal(baselines.fixed.ps, 10 + 1 + 7 + 9 + 9);
	assert_int_equal(baselines.fixed.changes, 1);
	assert_int_equal(baselines.one_shot.ps, 10 + 5 + 2 + 6 + 3);
	assert_int_equal(baselines.every_round.ps, 30 + 1 + 2 + 3 + 3);
	assert_int_equal(baselines.every_round.changes, 3);
	assert_int_equal(baselines.ideal.ps, 10 + 1 + 2 + 3 + 3);
	problem.resident = 0;
	assert_int_equal(lm_segments_baselines(&work, &problem, 0, &baselines), 0);
	assert_int_equal(baselines.fixed.ps, 1 + 7 + 9 + 9);
	assert_int_equal(baselines.every_round.changes, 2);
	assert_int_equal(baselines.ideal.ps, 1 + 2 + 3 + 3);
	problem.rounds = 0;
	assert_int_equal(lm_segments_baselines(&work, &problem, 0, &baselines), 0);
	assert_int_equal(baselines.one_shot.ps, 0);
	lm_segments_release(&work);
}

static void invalid_problems_are_refused(void **state)
{
	static uint64_t prices[] = { 1, NEVER_PS };
	struct segments_problem problem = {
		.rounds = 2, .topologies = 1, .price = lm_segments_price_table, .prices = prices
	};
	struct segments work = { .ctx = ctx };
	struct segments_baselines baselines;
	struct segments_plan plan;

	(void)state;
	assert_int_equal(lm_segments_solve(&work, &problem, &plan), -ENETUNREACH);
	assert_non_null(strstr(morph_error_text(ctx), "round 1"));
	/* Rounds that take too long are chosen if there are no others. */
	prices[1] = TOO_LONG_PS;
	assert_int_equal(lm_segments_solve(&work, &problem, &plan), -ERANGE);
	assert_non_null(strstr(morph_error_text(ctx),
			       "round 1 takes 2^64 picoseconds (half a year) or more"));
	prices[0] = 2;
	prices[1] = TOO_LONG_PS - 1;
	assert_int_equal(lm_segments_solve(&work, &problem, &plan), -ERANGE);
	problem.rounds = 0;
	assert_int_equal(lm_segments_solve(&work, &problem, &plan), 0);
	assert_int_equal(plan.ps, 0);
	assert_int_equal(lm_segments_baselines(&work, &problem, 1, &baselines), -EINVAL);
	problem.resident = 1;
	assert_int_equal(lm_segments_solve(&work, &problem, &plan), -EINVAL);
	problem.resident = 0;
	problem.rounds = UINT32_MAX;
	assert_int_equal(lm_segments_solve(&work, &problem, &plan), -E2BIG);
	problem.topologies = 0;
	assert_int_equal(lm_segments_solve(&work, &problem, &plan), -EINVAL);
	lm_segments_release(&work);
}

/* ----------------------------------------------------------------- circulants */

/* With costs for hops only, and no changes, a round costs its hops on the held circulant. */
static void hops_are_the_least_multiples(void **state)
{
	const struct costs costs = { .hop_ps = 1, .mbps = 1 };
	struct circulants_work work = { .segments.ctx = ctx };

	(void)state;
	for (uint32_t ranks = 2; ranks <= 40; ranks++) {
		for (uint32_t by = 1; by < ranks; by++) {
			const struct shift shift = { .by = by };
			struct circulants circulants = {
				.ranks = ranks, .shifts = &shift, .rounds = 1, .costs = &costs
			};
			uint64_t changes[64 * 64];

			/* Only the resident circulant can be used. */
			memset(changes, 0xff, sizeof(changes));
			for (circulants.resident = 0; circulants.resident < ranks - 1;
			     circulants.resident++) {
				struct segments_plan plan;
				uint32_t hops = 1, k = circulants.resident + 1;
				int ret;

				circulants.changes = changes;
				ret = lm_circulants_solve(&work, &circulants, &plan);
				while (hops < ranks && hops * k % ranks != by)
					hops++;
				assert_int_equal(ret, hops < ranks ? 0 : -ERANGE);
				assert_true(ret || plan.ps == hops);
			}
		}
	}
	lm_circulants_release(&work);
}

/* A bandwidth that does not divide the bytes: prices of hops are rounded once, as in the delay. */
static void prices_are_those_of_the_delay(void **state)
{
	const struct costs costs = { .round_ps = 7, .hop_ps = 3, .mbps = 799999, .change_ps = 1 };
	struct circulants_work work = { .segments.ctx = ctx };

	(void)state;
	for (uint32_t by = 1; by < 64; by++) {
		const struct shift shift = { .by = by, .bytes = 16384 + by };
		struct circulants circulants = { .ranks = 64, .shifts = &shift, .costs = &costs };
		struct segments_baselines baselines;

		circulants.rounds = 1;
		circulants.resident = RESIDENT_ANY;
		for (uint32_t each = 0; each < 2; each++) {
			circulants.round_each_hop = each;
			assert_int_equal(lm_circulants_baselines(&work, &circulants, &baselines),
					 0);
			assert_int_equal(baselines.fixed.ps,
					 lm_round_ps(&costs, each, by, shift.bytes * by));
			assert_int_equal(baselines.ideal.ps,
					 lm_circulants_bound_ps(&circulants, 1));
		}
	}
	lm_circulants_release(&work);
}

static void changes_of_circulants_are_of_all_ports(void **state)
{
	const struct costs costs = { .mbps = 1, .hop_ps = 100000, .change_ps = 10, .port_ps = 3 };
	const struct shift shifts[] = { { .by = 1 }, { .by = 2 } };
	struct circulants circulants = { .ranks = 8, .shifts = shifts, .costs = &costs };
	struct circulants_work work = { .segments.ctx = ctx };
	struct segments_plan plan;

	(void)state;
	circulants.rounds = 2;
	circulants.resident = RESIDENT_NONE;
	assert_int_equal(lm_circulants_solve(&work, &circulants, &plan), 0);
	assert_int_equal(plan.ps, 2 * 100000 + 2 * (10 + 8 * 3));
	assert_int_equal(plan.changes, 2);
	circulants.resident = 0;
	assert_int_equal(lm_circulants_solve(&work, &circulants, &plan), 0);
	assert_int_equal(plan.changes, 1);
	lm_circulants_release(&work);
}

static void invalid_shifts_are_refused(void **state)
{
	struct costs costs = { .mbps = 1 };
	struct shift shift = { .by = 4 };
	struct circulants circulants = { .ranks = 4, .shifts = &shift, .costs = &costs };
	struct circulants_work work = { .segments.ctx = ctx };
	struct segments_plan plan;

	(void)state;
	circulants.rounds = 1;
	assert_int_equal(lm_circulants_solve(&work, &circulants, &plan), -EINVAL);
	shift.by = 0;
	assert_int_equal(lm_circulants_solve(&work, &circulants, &plan), -EINVAL);
	shift.by = 3;
	circulants.ranks = 1;
	assert_int_equal(lm_circulants_solve(&work, &circulants, &plan), -EINVAL);
	circulants.ranks = 5000;
	assert_int_equal(lm_circulants_solve(&work, &circulants, &plan), -EINVAL);
	circulants.ranks = 4;
	costs.mbps = 0;
	assert_int_equal(lm_circulants_solve(&work, &circulants, &plan), -EINVAL);
	lm_circulants_release(&work);
}

/*
 * The second solution, of an equal or smaller problem, allocates nothing. Each allocation of the
 * first can fail.
 */
static void warm_solves_allocate_nothing(void **state)
{
	const struct costs costs = { .hop_ps = 5, .mbps = 800000, .change_ps = 100 };
	struct shift shifts[MOST_SHIFTS];
	struct circulants circulants = { .ranks = 64, .shifts = shifts, .costs = &costs };
	struct circulants_work work = { .segments.ctx = ctx };
	struct segments_plan plan;
	uint32_t failed = 0;

	(void)state;
	circulants.rounds = all_to_all(shifts, 64, 1 << 20);
	for (unsigned int nth = 1;; nth++) {
		int ret;

		fault_at("memory", nth, ENOMEM);
		ret = lm_circulants_solve(&work, &circulants, &plan);
		if (!fault_struck()) {
			assert_int_equal(ret, 0);
			break;
		}
		assert_int_equal(ret, -ENOMEM);
		lm_circulants_release(&work);
		failed++;
	}
	assert_true(failed >= 7);
	allocations();
	assert_int_equal(lm_circulants_solve(&work, &circulants, &plan), 0);
	circulants.ranks = 60;
	circulants.rounds = all_to_all(shifts, 60, 1 << 20);
	assert_int_equal(lm_circulants_solve(&work, &circulants, &plan), 0);
	assert_int_equal(allocations(), 0);
	lm_circulants_release(&work);
}

/* --------------------------------------------------------- short-circuited rings */

/* Topology 0 is the ring. Topology 1 + i belongs to step i and serves no other step. */
static uint64_t without_reuse(struct segments *work, const struct circulants *circulants)
{
	uint64_t prices[12 * 13];
	struct segments_problem problem = { .rounds = circulants->rounds,
					    .topologies = 1 + circulants->rounds,
					    .price = lm_segments_price_table,
					    .prices = prices,
					    .change_ps = circulants->costs->change_ps };
	struct segments_plan plan;

	for (uint32_t step = 0; step < problem.rounds; step++) {
		uint64_t *row = prices + step * problem.topologies;
		const struct shift *shift = &circulants->shifts[step];

		memset(row, 0xff, problem.topologies * sizeof(*row));
		row[0] = lm_round_ps(circulants->costs, false, shift->by, shift->bytes * shift->by);
		row[1 + step] = lm_round_ps(circulants->costs, false, 1, shift->bytes);
	}
	assert_int_equal(lm_segments_solve(work, &problem, &plan), 0);
	return plan.ps;
}

static void threshold_is_the_end_of_plans_without_reuse(void **state)
{
	static const uint64_t hops_ns[] = { 10, 500, 10000 };
	struct circulants_work work = { .segments.ctx = ctx };
	uint32_t some = 0, saved = 0;

	(void)state;
	for (uint32_t at = 0; at < 3 * 12 * 11 * 13; at++) {
		uint32_t ranks = 2U << (at / 3 / 12 % 11);
		uint64_t bytes = 1024ULL << 2 * (at / 3 / 12 / 11);
		struct costs costs = { .round_ps = 500000,
				       .hop_ps = hops_ns[at % 3] * PS_PER_NS,
				       .mbps = 800000,
				       .change_ps = 10000ULL << 2 * (at / 3 % 12) };
		struct shift shifts[12];
		struct circulants circulants = { .ranks = ranks,
						 .shifts = shifts,
						 .costs = &costs };
		struct short_cuts cuts = lm_short_cuts(&costs, ranks, bytes);
		struct segments_plan plan;

		circulants.rounds = halving(shifts, ranks, bytes, false);
		assert_int_equal(cuts.steps, circulants.rounds);
		for (uint32_t step = 0; step < cuts.steps; step++) {
			double hop = (double)costs.hop_ps + (double)(bytes >> (step + 1)) * 10;

			assert_int_equal(((1U << step) - 1) * hop > (double)costs.change_ps,
					 step >= cuts.first);
		}
		assert_int_equal(without_reuse(&work.segments, &circulants), cuts.ps);
		some += cuts.first < cuts.steps;
		if (ranks > 256)
			continue;
		/* The ring stays, as in the rule. */
		assert_int_equal(lm_circulants_solve(&work, &circulants, &plan), 0);
		assert_true(plan.ps <= cuts.ps);
		saved += plan.ps < cuts.ps;
	}
	assert_true(some > 100 && saved > 100);
	lm_circulants_release(&work);
}

static void plans_keep_the_ring_if_a_change_does_not_pay(void **state)
{
	struct costs costs = { .hop_ps = 100, .mbps = 1, .change_ps = 300 };

	(void)state;
	/* Of three steps, the last one saves three hops. */
	assert_int_equal(lm_short_cuts(&costs, 8, 0).first, 3);
	costs.change_ps = 299;
	assert_int_equal(lm_short_cuts(&costs, 8, 0).first, 2);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(costs_are_those_of_the_model_and_as_published),
		cmocka_unit_test(nothing_is_better_of_all_sequences),
		cmocka_unit_test(baselines_do_not_plan),
		cmocka_unit_test(invalid_problems_are_refused),
		cmocka_unit_test(hops_are_the_least_multiples),
		cmocka_unit_test(prices_are_those_of_the_delay),
		cmocka_unit_test(changes_of_circulants_are_of_all_ports),
		cmocka_unit_test(invalid_shifts_are_refused),
		cmocka_unit_test(warm_solves_allocate_nothing),
		cmocka_unit_test(threshold_is_the_end_of_plans_without_reuse),
		cmocka_unit_test(plans_keep_the_ring_if_a_change_does_not_pay),
	};

	if (argc != 2) {
		fprintf(stderr, "usage: %s FILE: costs that are known\n", argv[0]);
		return 2;
	}
	golden = argv[1];
	return cmocka_run_group_tests(tests, begin, end);
}

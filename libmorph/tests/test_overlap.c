// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Rounds over planes that change while other planes send. Compare with all plans of small problems
 * and with other planners' plans for SWOT's evaluation, and replay each plan.
 */
#include <math.h>
#include <stdio.h>

#include "../bench/overlap_grid.h"
#include "../bench/overlap_replay.h"
#include "../bench/random.h"
#include "alone.h"

#define LINE 256

static struct overlap_work *work;
static struct overlap_round rounds[GRID_ROUNDS];
static struct overlap_share shares[GRID_ROUNDS * OVERLAP_PLANES];
static const char *golden, *published;

static int begin_work(void **state)
{
	begin(state);
	work = lm_overlap_work_new(ctx);
	assert_non_null(work);
	return 0;
}

static int end_work(void **state)
{
	lm_overlap_work_free(work);
	return end(state);
}

/* The rounding error of a plan, compared with one in fractions of bytes. */
static uint64_t rounding(const struct overlap_problem *problem)
{
	return problem->count * (costs_bytes_ps(&problem->costs, 1) + 1);
}

/* Solve, replay, and check that the plan ends no earlier than the proven bound. */
static struct overlap_result solve(const struct overlap_problem *problem,
				   const struct overlap_options *options)
{
	struct overlap_result result;
	uint64_t finish;
	const char *wrong;

	if (lm_overlap_solve(work, problem, options, shares, &result))
		fail_msg("%s", morph_error_text(ctx));
	wrong = overlap_replay(problem, shares, &finish);
	if (wrong)
		fail_msg("%s", wrong);
	assert_true(finish == result.finish_ps);
	assert_true(result.bound_ps <= finish);
	return result;
}

/* ------------------------------------------------------------------ all plans */

#define SMALL_ROUNDS 4
#define SMALL_PLANES 3
#define SMALL_COLUMNS (SMALL_ROUNDS * (2 * SMALL_PLANES + 1))
#define SMALL_ROWS 64

/*
 * min x[0]: rows x >= least, x >= 0, in picoseconds. The dual simplex method, with Bland's rule for
 * equal costs.
 */
struct small {
	uint32_t rows, columns;
	double entries[SMALL_ROWS + 1][SMALL_COLUMNS + 1]; /* values come last */
};

static double *small_row(struct small *small, double least)
{
	assert_true(small->rows < SMALL_ROWS);
	small->entries[small->rows][small->columns] = -least;
	return small->entries[small->rows++];
}

static void small_pivot(struct small *small, uint32_t row, uint32_t column)
{
	double by = small->entries[row][column];

	for (uint32_t at = 0; at <= small->columns; at++)
		small->entries[row][at] = at == column ? 1 / by : -small->entries[row][at] / by;
	for (uint32_t other = 0; other <= small->rows; other++) {
		double times = small->entries[other][column];

		if (other == row || times == 0)
			continue;
		small->entries[other][column] = 0;
		for (uint32_t at = 0; at <= small->columns; at++)
			small->entries[other][at] += times * small->entries[row][at];
	}
}

static double small_solve(struct small *small)
{
	double *cost = small->entries[small->rows];

	memset(cost, 0, sizeof(small->entries[0]));
	cost[0] = 1;
	for (;;) {
		uint32_t row = 0, best = small->columns;

		while (row < small->rows && small->entries[row][small->columns] >= -1e-3)
			row++;
		if (row == small->rows)
			return cost[small->columns];
		for (uint32_t at = 0; at < small->columns; at++)
			if (small->entries[row][at] > 1e-9 &&
			    (best == small->columns ||
			     cost[at] / small->entries[row][at] <
				     cost[best] / small->entries[row][best] - 1e-9))
				best = at;
		assert_true(best < small->columns);
		small_pivot(small, row, best);
	}
}

static uint32_t end_column(const struct overlap_problem *problem, uint32_t round)
{
	return problem->count - 1 - round;
}

/* The column of its beginning. The next column has the time of its bytes. */
static uint32_t part_column(const struct overlap_problem *problem, uint32_t round, uint32_t plane)
{
	return problem->count + 2 * (round * problem->planes + plane);
}

/* A plane begins after the round before, and after its last send and perhaps a change. */
static void begin_part(struct small *small, const struct overlap_problem *problem, uint32_t round,
		       uint32_t plane, uint32_t *held, int *last)
{
	double change = held[plane] == problem->rounds[round].configuration ?
				0 :
				(double)problem->costs.change_ps;
	uint32_t part = part_column(problem, round, plane);
	double *row;

	if (round) {
		row = small_row(small, 0);
		row[part] = 1;
		row[end_column(problem, round - 1)] = -1;
	}
	row = small_row(small, change + (*last < 0 ? 0 : (double)problem->costs.round_ps));
	row[part] = 1;
	if (*last >= 0) {
		row[part_column(problem, (uint32_t)*last, plane)] = -1;
		row[part_column(problem, (uint32_t)*last, plane) + 1] = -1;
	}
	row = small_row(small, (double)problem->costs.round_ps);
	row[end_column(problem, round)] = 1;
	row[part] = -1;
	row[part + 1] = -1;
	held[plane] = problem->rounds[round].configuration;
	*last = (int)round;
}

/* The best end if these planes take part, with at least a bit each. */
static double with_parts(const struct overlap_problem *problem, const uint32_t *parts)
{
	static struct small small;
	uint32_t held[SMALL_PLANES];
	int last[SMALL_PLANES];

	memset(&small, 0, sizeof(small));
	small.columns = problem->count * (2 * problem->planes + 1);
	for (uint32_t plane = 0; plane < problem->planes; plane++) {
		held[plane] = problem->resident ? problem->resident[plane] : OVERLAP_NONE;
		last[plane] = -1;
	}
	for (uint32_t round = 0; round < problem->count; round++) {
		double *sum = small_row(&small, (double)problem->rounds[round].bytes * 8e6 /
							(double)problem->costs.mbps);

		for (uint32_t plane = 0; plane < problem->planes; plane++) {
			if (!(parts[round] >> plane & 1))
				continue;
			sum[part_column(problem, round, plane) + 1] = 1;
			begin_part(&small, problem, round, plane, held, &last[plane]);
		}
	}
	return small_solve(&small);
}

/* Try each set of planes for each round. */
static double best_of_all(const struct overlap_problem *problem)
{
	uint32_t parts[SMALL_ROUNDS], sets = (1U << problem->planes) - 1;
	double best = INFINITY;
	uint32_t at = 0;

	for (uint32_t round = 0; round < problem->count; round++)
		parts[round] = 1;
	while (at < problem->count) {
		double its = with_parts(problem, parts);

		best = its < best ? its : best;
		for (at = 0; at < problem->count && parts[at] == sets; at++)
			parts[at] = 1;
		if (at < problem->count)
			parts[at]++;
	}
	return best;
}

static void random_problem(uint64_t *seed, uint32_t count, uint32_t planes, bool lit,
			   struct overlap_problem *problem)
{
	static uint32_t resident[SMALL_PLANES];

	*problem = (struct overlap_problem){
		.rounds = rounds,
		.count = count,
		.planes = planes,
		.costs.mbps = 100000,
		.resident = lit ? resident : NULL,
	};
	problem->costs.round_ps = random_below(seed, 3) * 10000000ULL;
	problem->costs.change_ps = (1 + random_below(seed, 40)) * 10000000ULL;
	for (uint32_t round = 0; round < count; round++) {
		rounds[round].bytes = 1 + (1ULL << (10 + random_below(seed, 14)));
		rounds[round].bytes += random_below(seed, 999);
		rounds[round].configuration = random_below(seed, 4);
	}
	for (uint32_t plane = 0; plane < planes; plane++)
		resident[plane] = random_below(seed, 5) ? random_below(seed, 4) : OVERLAP_NONE;
}

/* Unequal parts, early ends and unused planes, in each combination. */
static void no_plan_ends_before_those_of_small_problems(void **state)
{
	uint64_t seed = 1;
	uint32_t proved = 0;

	(void)state;
	for (uint32_t at = 0; at < 120; at++) {
		uint32_t planes = at % 30 ? 2 + (at & 1) : 3;
		uint32_t count = at % 30 ? 5 - planes + (at >> 1 & 1) : 4;
		struct overlap_problem problem;
		struct overlap_result result;
		double best;

		random_problem(&seed, count, planes, at >> 2 & 1, &problem);
		best = best_of_all(&problem);
		result = solve(&problem, NULL);
		assert_true((double)result.finish_ps <= best + (double)rounding(&problem));
		assert_true((double)result.finish_ps >= best - 1);
		assert_true((double)result.bound_ps <= best + (double)rounding(&problem));
		if (result.bound == OVERLAP_OPTIMUM) {
			assert_true((double)result.bound_ps >= best - 1);
			proved++;
		}
	}
	assert_true(proved > 60);
}

/* --------------------------------------------------------------------- golden */

static bool find_instance(const char *name, struct overlap_problem *problem)
{
	static struct grid_instance instances[GRID_INSTANCES];
	uint32_t count = grid_instances(instances);

	for (uint32_t at = 0; at < count; at++) {
		char its[GRID_NAME];

		grid_name(&instances[at], its);
		if (strcmp(its, name) != 0)
			continue;
		grid_problem(&instances[at], rounds, problem);
		return true;
	}
	return false;
}

/* Split a line into fields, in place. Missing fields become empty. Returns the number of fields. */
static uint32_t split(char *line, char **fields, uint32_t most)
{
	uint32_t count = 0;

	line[strcspn(line, "\n")] = 0;
	for (uint32_t at = 0; at < most; at++)
		fields[at] = line + strlen(line);
	for (; line && count < most; count++)
		fields[count] = strsep(&line, ",");
	return count;
}

/*
 * The best plan with a change for every step, without changes, of the released program where
 * circuits can carry it, and the exact plan.
 */
static void no_other_planner_ends_before(void **state)
{
	FILE *file = fopen(golden, "r");
	uint32_t count = 0, proved = 0;
	char line[LINE];

	(void)state;
	assert_non_null(file);
	assert_non_null(fgets(line, sizeof(line), file));
	while (fgets(line, sizeof(line), file)) {
		struct overlap_problem problem;
		struct overlap_result result;
		char *fields[6], *last;

		assert_int_equal(split(line, fields, 6), 6);
		assert_true(find_instance(fields[0], &problem));
		result = solve(&problem, NULL);
		for (uint32_t at = 1; at < 5; at++) {
			uint64_t its = strtoull(fields[at], &last, 10);

			if (last == fields[at])
				continue;
			if (result.finish_ps > its + rounding(&problem))
				fail_msg("%s takes %llu, not %s", fields[0],
					 (unsigned long long)result.finish_ps, fields[at]);
		}
		count++;
		if (strcmp(fields[5], "proved") != 0)
			continue;
		assert_true(result.bound_ps <= strtoull(fields[4], NULL, 10));
		proved++;
	}
	fclose(file);
	assert_true(count > 100);
	assert_true(proved > 60);
}

/* Compare to the last published digit. */
static void assert_given(const char *name, const char *given, uint64_t ps)
{
	const char *point = strchr(given, '.');
	double digit = point ? pow(10, -(double)strlen(point + 1)) : 1;

	if (*given && fabs(strtod(given, NULL) - (double)ps / 1e9) > digit * 0.501)
		fail_msg("%s takes %.6f, not %s", name, (double)ps / 1e9, given);
}

static void values_are_those_that_were_published(void **state)
{
	FILE *file = fopen(published, "r");
	uint32_t count = 0;
	char line[LINE];

	(void)state;
	assert_non_null(file);
	assert_non_null(fgets(line, sizeof(line), file));
	for (; fgets(line, sizeof(line), file); count++) {
		struct overlap_problem problem;
		char *fields[5];

		assert_int_equal(split(line, fields, 5), 5);
		assert_true(find_instance(fields[0], &problem));
		assert_given(fields[0], fields[1], lm_overlap_baseline(&problem, OVERLAP_ALWAYS));
		assert_given(fields[0], fields[2], lm_overlap_baseline(&problem, OVERLAP_EVERY));
		assert_given(fields[0], fields[3], lm_overlap_baseline(&problem, OVERLAP_ONE_SHOT));
		assert_given(fields[0], fields[4], solve(&problem, NULL).finish_ps);
	}
	fclose(file);
	assert_true(count >= 5);
}

/* --------------------------------------------------------------------- replay */

enum mutant {
	MORE_BYTES,
	FEWER_BYTES,
	NO_PART,
	NO_CHANGE,
	EARLY_CHANGE,
	SHORT_CHANGE,
	EARLY,
	SHORT,
	MUTANTS,
};

static bool mutate_change(struct overlap_share *share, enum mutant mutant)
{
	switch (mutant) {
	case NO_CHANGE:
		share->changed = false;
		return true;
	case SHORT_CHANGE:
		share->change_until--;
		return true;
	default:
		share->change_from--;
		return share->change_from != UINT64_MAX;
	}
}

/* Returns false if there is nothing to change. */
static bool mutate(struct overlap_share *share, enum mutant mutant)
{
	switch (mutant) {
	case MORE_BYTES:
		share->bytes++;
		return true;
	case FEWER_BYTES:
		share->bytes--;
		return true;
	case NO_PART:
		memset(share, 0, sizeof(*share));
		return true;
	case EARLY:
		share->from--;
		return share->from != UINT64_MAX;
	case SHORT:
		share->until--;
		return true;
	default:
		return share->changed && mutate_change(share, mutant);
	}
}

static void each_mutant_is_found(void **state)
{
	static const char *const names[] = { "ar-hd p16 k4 b25 m32 r0.2",
					     "pairwise p14 k4 b25 m32 r0.2" };
	uint32_t tried[MUTANTS] = { 0 };

	(void)state;
	for (size_t name = 0; name < ARRAY_SIZE(names); name++) {
		struct overlap_problem problem;
		uint64_t finish;

		assert_true(find_instance(names[name], &problem));
		solve(&problem, NULL);
		for (uint32_t at = 0; at < problem.count * problem.planes; at++) {
			struct overlap_share whole = shares[at];

			for (enum mutant mutant = 0; whole.used && mutant < MUTANTS; mutant++) {
				bool changed = mutate(&shares[at], mutant);

				if (changed && !overlap_replay(&problem, shares, &finish))
					fail_msg("mutant %u of part %u is not found", mutant, at);
				tried[mutant] += changed;
				shares[at] = whole;
			}
		}
	}
	for (enum mutant mutant = 0; mutant < MUTANTS; mutant++)
		assert_true(tried[mutant] > 10);
}

/* ------------------------------------------------------------------- residents */

static void resident_circuits_cost_nothing(void **state)
{
	const uint32_t resident[] = { 1, 2, 3, 4 };
	struct overlap_problem problem;
	struct overlap_result dark, lit;

	(void)state;
	assert_true(find_instance("rs-hd p16 k4 b25 m0.125 r0.2", &problem));
	dark = solve(&problem, NULL);
	problem.resident = resident;
	lit = solve(&problem, NULL);
	assert_int_equal(lit.changes, 0);
	assert_true(dark.finish_ps == lit.finish_ps + problem.costs.change_ps);
	assert_true(lit.finish_ps == lm_overlap_baseline(&problem, OVERLAP_STATIC));
}

/* No plane with useless circuits or without circuits is ahead of another one. */
static void useless_circuits_count_as_dark(void **state)
{
	const uint32_t useless[] = { 100, 101, OVERLAP_NONE, 100 };
	struct overlap_problem problem;
	struct overlap_result dark;

	(void)state;
	assert_true(find_instance("ar-hd p16 k4 b25 m32 r0.2", &problem));
	dark = solve(&problem, NULL);
	problem.resident = useless;
	assert_true(solve(&problem, NULL).finish_ps == dark.finish_ps);
}

static void one_configuration_takes_all_planes_always(void **state)
{
	struct overlap_problem problem = { .rounds = rounds,
					   .count = 40,
					   .planes = 7,
					   .costs = { 1000, 0, 8000, 5000000, 0, 0 } };
	struct overlap_result result;

	(void)state;
	for (uint32_t at = 0; at < problem.count; at++)
		rounds[at] = (struct overlap_round){ 1000 + at, 9 };
	result = solve(&problem, NULL);
	assert_int_equal(result.changes, 7);
	assert_true(result.finish_ps == 5000000 + lm_overlap_baseline(&problem, OVERLAP_ALWAYS));
	assert_true(result.finish_ps == result.bound_ps);
}

/* ------------------------------------------------------------------------ rest */

static void longer_rows_of_rounds_are_planned_in_windows(void **state)
{
	static const uint32_t windows[] = { 1, 2, 7, 32, 99 };
	struct overlap_problem problem;

	(void)state;
	assert_true(find_instance("pairwise p256 k4 b25 m32 r0.2", &problem));
	for (size_t at = 0; at < ARRAY_SIZE(windows); at++) {
		struct overlap_options options = { .window = windows[at], .width = 1000 };
		struct overlap_result result = solve(&problem, &options);

		assert_true(result.finish_ps <= lm_overlap_baseline(&problem, OVERLAP_EVERY));
	}
}

/* Times that are so long or so short that doubles cannot distinguish them. */
static void no_time_is_too_long_or_too_short(void **state)
{
	struct overlap_problem problem = { .rounds = rounds, .count = 6, .planes = 3 };
	uint64_t seed = 7;

	(void)state;
	for (uint32_t shift = 0; shift < 56; shift++) {
		for (uint32_t at = 0; at < problem.count; at++)
			rounds[at] = (struct overlap_round){
				1 + random_below(&seed, 7) + ((uint64_t)(at & 1) << shift), at % 5
			};
		problem.costs = (struct costs){ .round_ps = shift & 1 ? 1ULL << shift : 0,
						.change_ps = shift & 2 ? 1ULL << shift : 0,
						.mbps = shift & 4 ? 1ULL << 23 : 1ULL << 32 };
		solve(&problem, NULL);
	}
}

static void answers_are_the_same_again_and_allocate_nothing(void **state)
{
	static struct overlap_share first[GRID_ROUNDS * OVERLAP_PLANES];
	struct overlap_problem problem;
	struct overlap_result result;

	(void)state;
	assert_true(find_instance("pairwise p256 k8 b12.5 m32 r0.2", &problem));
	solve(&problem, NULL);
	memcpy(first, shares, sizeof(first));
	allocations();
	assert_int_equal(lm_overlap_solve(work, &problem, NULL, shares, &result), 0);
	assert_int_equal(allocations(), 0);
	assert_memory_equal(first, shares, problem.count * problem.planes * sizeof(shares[0]));
	assert_true(find_instance("ar-hd p16 k4 b25 m32 r0.2", &problem));
	allocations();
	assert_int_equal(lm_overlap_solve(work, &problem, NULL, shares, &result), 0);
	assert_int_equal(allocations(), 0);
}

static int refusal(const struct overlap_problem *problem)
{
	struct overlap_result result;

	return lm_overlap_solve(work, problem, NULL, shares, &result);
}

static void invalid_problems_are_refused(void **state)
{
	const struct overlap_problem fine = {
		.rounds = rounds, .count = 2, .planes = 2, .costs = { .mbps = 8000 }
	};
	struct overlap_problem problem = fine;

	(void)state;
	rounds[0] = (struct overlap_round){ 5, 1 };
	rounds[1] = (struct overlap_round){ 5, 2 };
	assert_int_equal(refusal(&problem), 0);
	problem.count = 0;
	assert_int_equal(refusal(&problem), -EINVAL);
	problem.count = OVERLAP_ROUNDS + 1;
	assert_int_equal(refusal(&problem), -EINVAL);
	problem = fine;
	problem.planes = 0;
	assert_int_equal(refusal(&problem), -EINVAL);
	problem.planes = OVERLAP_PLANES + 1;
	assert_int_equal(refusal(&problem), -EINVAL);
	problem = fine;
	problem.costs.mbps = 0;
	assert_int_equal(refusal(&problem), -EINVAL);
	problem = fine;
	problem.costs.change_ps = 1ULL << 62;
	assert_int_equal(refusal(&problem), -EOVERFLOW);
	problem = fine;
	rounds[1].bytes = 0;
	assert_int_equal(refusal(&problem), -EINVAL);
	rounds[1] = (struct overlap_round){ 5, OVERLAP_NONE };
	assert_int_equal(refusal(&problem), -EINVAL);
	rounds[1] = (struct overlap_round){ UINT64_MAX, 2 };
	assert_int_equal(refusal(&problem), -EOVERFLOW);
}

static void without_memory_there_is_no_plan(void **state)
{
	struct overlap_problem problem;

	(void)state;
	assert_true(find_instance("ar-hd p16 k4 b25 m32 r0.2", &problem));
	for (unsigned int nth = 1;; nth++) {
		struct overlap_result result;
		struct overlap_work *mine;
		int ret = -ENOMEM;

		fault_at("memory", nth, ENOMEM);
		mine = lm_overlap_work_new(ctx);
		if (mine)
			ret = lm_overlap_solve(mine, &problem, NULL, shares, &result);
		if (!fault_struck()) {
			lm_overlap_work_free(mine);
			assert_int_equal(ret, 0);
			assert_true(nth > 5);
			return;
		}
		assert_int_equal(ret, -ENOMEM);
		/* The work continues when memory is available again. */
		if (mine)
			assert_int_equal(lm_overlap_solve(mine, &problem, NULL, shares, &result),
					 0);
		lm_overlap_work_free(mine);
	}
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_plan_ends_before_those_of_small_problems),
		cmocka_unit_test(no_other_planner_ends_before),
		cmocka_unit_test(values_are_those_that_were_published),
		cmocka_unit_test(each_mutant_is_found),
		cmocka_unit_test(resident_circuits_cost_nothing),
		cmocka_unit_test(useless_circuits_count_as_dark),
		cmocka_unit_test(one_configuration_takes_all_planes_always),
		cmocka_unit_test(longer_rows_of_rounds_are_planned_in_windows),
		cmocka_unit_test(no_time_is_too_long_or_too_short),
		cmocka_unit_test(answers_are_the_same_again_and_allocate_nothing),
		cmocka_unit_test(invalid_problems_are_refused),
		cmocka_unit_test(without_memory_there_is_no_plan),
	};

	if (argc != 3)
		return 2;
	golden = argv[1];
	published = argv[2];
	return cmocka_run_group_tests(tests, begin_work, end_work);
}

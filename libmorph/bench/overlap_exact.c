// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The unit of times is a million picoseconds. Bytes are in the time that they take on one plane.
 *
 * In the program with the state of each plane, a plane takes a path from before the first round
 * through the rounds that it sends in. Its sending in b never begins before the end of any earlier
 * round, so a change needs no large constant:
 *
 *	begin of b >= end in a + change * (changed paths to b from a or a later round)
 *
 * A plane without a part in a round begins and ends in it and does nothing.
 */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "overlap_exact.h"
#include "program.h"

#define UNIT 1e6
#define EPSILON 1e-6

struct model {
	struct program program;
	const struct overlap_problem *problem;
	double latency, change, sending[EXACT_ROUNDS + 1];
	/* Columns; rounds count from one. */
	int step[EXACT_ROUNDS + 1][EXACT_ROUNDS + 2]
		[OVERLAP_PLANES]; /* from, to: 0 is before the first round */
	int used[EXACT_ROUNDS + 1][OVERLAP_PLANES], changed[EXACT_ROUNDS + 1][OVERLAP_PLANES];
	int carried[EXACT_ROUNDS + 1][OVERLAP_PLANES], begin[EXACT_ROUNDS + 1][OVERLAP_PLANES];
	int end[EXACT_ROUNDS + 1];
	int values_count;
	int indices[PROGRAM_COLUMNS];
	double values[PROGRAM_COLUMNS];
};

static struct model model;

static void begin_model(const struct overlap_problem *problem)
{
	memset(&model, 0, sizeof(model));
	model.problem = problem;
	model.latency = (double)problem->costs.round_ps / UNIT;
	model.change = (double)problem->costs.change_ps / UNIT;
	for (uint32_t round = 1; round <= problem->count; round++)
		model.sending[round] = (double)problem->rounds[round - 1].bytes * 8e6 /
				       (double)problem->costs.mbps / UNIT;
}

struct term {
	int column;
	double times;
};

/* A sum with a lower limit. */
static void at_least(double least, int count, const struct term *terms)
{
	int row = program_row(&model.program, least, INFINITY);

	for (int at = 0; at < count; at++)
		program_add(&model.program, row, terms[at].column, terms[at].times);
}

static bool alike(uint32_t one, uint32_t other)
{
	const struct overlap_round *rounds = model.problem->rounds;

	return one && rounds[one - 1].configuration == rounds[other - 1].configuration;
}

/* ------------------------------------------------------ the state of each plane */

static void add_path(uint32_t plane)
{
	struct program *program = &model.program;
	uint32_t count = model.problem->count;
	int first;

	for (uint32_t from = 0; from <= count; from++)
		for (uint32_t to = from + 1; to <= count + 1; to++)
			model.step[from][to][plane] = program_column(program, 1, PROGRAM_SEAT);
	first = program_row(program, 1, 1);
	for (uint32_t to = 1; to <= count + 1; to++)
		program_add(program, first, model.step[0][to][plane], 1);
	for (uint32_t round = 1; round <= count; round++) {
		int in = program_row(program, 0, 0), out = program_row(program, 0, 0);

		for (uint32_t from = 0; from < round; from++)
			program_add(program, in, model.step[from][round][plane], 1);
		for (uint32_t to = round + 1; to <= count + 1; to++)
			program_add(program, out, model.step[round][to][plane], 1);
		program_add(program, in, model.used[round][plane], -1);
		program_add(program, out, model.used[round][plane], -1);
	}
}

/* A plane can begin after its change, whatever its last round was. */
static void add_changes(uint32_t plane, uint32_t to)
{
	struct program *program = &model.program;

	for (uint32_t from = 0; from < to; from++) {
		int row = program_row(program, 0, INFINITY);

		program_add(program, row, model.begin[to][plane], 1);
		if (from) {
			program_add(program, row, model.begin[from][plane], -1);
			program_add(program, row, model.carried[from][plane], -1);
			program_add(program, row, model.used[from][plane], -model.latency);
		}
		for (uint32_t later = from; later < to; later++)
			if (!alike(later, to))
				program_add(program, row, model.step[later][to][plane],
					    -model.change);
	}
}

/* Common part of both programs: the load of each plane, between the ends of two rounds. */
static void add_round(uint32_t round)
{
	struct program *program = &model.program;
	uint32_t planes = model.problem->planes;
	int sum = program_row(program, model.sending[round], model.sending[round]);

	for (uint32_t plane = 0; plane < planes; plane++) {
		int begin = model.begin[round][plane], carried = model.carried[round][plane];
		int used = model.used[round][plane];

		program_add(program, sum, carried, 1);
		at_least(0, 2, (struct term[]){ { used, model.sending[round] }, { carried, -1 } });
		at_least(0, 2,
			 (struct term[]){ { begin, 1 },
					  { round > 1 ? model.end[round - 1] : -1, -1 } });
	}
}

static void add_columns(double most)
{
	struct program *program = &model.program;

	for (uint32_t round = 1; round <= model.problem->count; round++) {
		model.end[round] = program_column(program, most, PROGRAM_BOTH);
		for (uint32_t plane = 0; plane < model.problem->planes; plane++) {
			model.used[round][plane] = program_column(program, 1, PROGRAM_BOTH);
			model.carried[round][plane] =
				program_column(program, model.sending[round], PROGRAM_BOTH);
			model.begin[round][plane] = program_column(program, most, PROGRAM_BOTH);
		}
	}
	program->worth[model.end[model.problem->count]] = 1;
}

/* Planes are equal, so those with lower numbers take part first. */
static void add_order(void)
{
	struct program *program = &model.program;
	uint32_t count = model.problem->count;

	for (uint32_t plane = 1; plane < model.problem->planes; plane++) {
		int row = program_row(program, 0, INFINITY);

		for (uint32_t to = 1; to <= count + 1; to++) {
			program_add(program, row, model.step[0][to][plane], to);
			program_add(program, row, model.step[0][to][plane - 1], -(double)to);
		}
	}
}

static void add_exact(double most)
{
	uint32_t planes = model.problem->planes;

	add_columns(most);
	for (uint32_t plane = 0; plane < planes; plane++)
		add_path(plane);
	for (uint32_t round = 1; round <= model.problem->count; round++) {
		double least = model.latency + model.sending[round] / planes +
			       (round == 1 ? model.change : 0);

		add_round(round);
		at_least(least, 2,
			 (struct term[]){ { model.end[round], 1 },
					  { round > 1 ? model.end[round - 1] : -1, -1 } });
		for (uint32_t plane = 0; plane < planes; plane++) {
			at_least(0, 4,
				 (struct term[]){ { model.end[round], 1 },
						  { model.begin[round][plane], -1 },
						  { model.carried[round][plane], -1 },
						  { model.used[round][plane], -model.latency } });
			add_changes(plane, round);
		}
	}
	add_order();
}

/* ------------------------------------------------------------- the released one */

/*
 * SWOT's program as published: a change costs a plane if the configuration differs from the last
 * round's, whether the plane holds it or not. The same large constant linearises its products.
 */
static void add_released(double most)
{
	struct program *program = &model.program;
	int before[EXACT_ROUNDS + 1][OVERLAP_PLANES], from[EXACT_ROUNDS + 1][OVERLAP_PLANES];

	add_columns(most);
	for (uint32_t round = 1; round <= model.problem->count; round++) {
		add_round(round);
		at_least(0, 2,
			 (struct term[]){ { model.end[round], 1 },
					  { round > 1 ? model.end[round - 1] : -1, -1 } });
		for (uint32_t plane = 0; plane < model.problem->planes; plane++) {
			int used = model.used[round][plane], begin = model.begin[round][plane];
			int carried = model.carried[round][plane];
			int changed = model.changed[round][plane] =
				program_column(program, 1, PROGRAM_SEAT);

			program->kinds[used] = PROGRAM_SEAT;
			before[round][plane] = program_column(program, most, PROGRAM_BOTH);
			from[round][plane] = program_column(program, most, PROGRAM_BOTH);
			at_least(0, 2,
				 (struct term[]){ { from[round][plane], 1 },
						  { before[round][plane], -1 } });
			at_least(0, 3,
				 (struct term[]){ { begin, 1 },
						  { from[round][plane], -1 },
						  { changed, -model.change } });
			at_least(0, 2, (struct term[]){ { used, 1 }, { changed, -1 } });
			if (round == 1 || !alike(round - 1, round))
				at_least(0, 2, (struct term[]){ { changed, 1 }, { used, -1 } });
			at_least(-most, 4,
				 (struct term[]){ { model.end[round], 1 },
						  { begin, -1 },
						  { carried, -1 },
						  { used, -model.latency - most } });
			if (round == 1)
				continue;
			at_least(0, 2,
				 (struct term[]){ { before[round][plane], 1 },
						  { before[round - 1][plane], -1 } });
			at_least(-most, 4,
				 (struct term[]){
					 { before[round][plane], 1 },
					 { model.begin[round - 1][plane], -1 },
					 { model.carried[round - 1][plane], -1 },
					 { model.used[round - 1][plane], -model.latency - most } });
			at_least(-most, 3,
				 (struct term[]){ { before[round][plane], 1 },
						  { from[round - 1][plane], -1 },
						  { model.changed[round - 1][plane],
						    -model.change - most } });
		}
	}
}

/* --------------------------------------------------------------------- plans */

static void set_value(int column, double value)
{
	model.indices[model.values_count] = column;
	model.values[model.values_count++] = value;
}

/* A plan as values of columns. Planes are in the order of their first rounds. */
static void start_from(const struct overlap_share *shares)
{
	uint32_t count = model.problem->count, planes = model.problem->planes;
	uint8_t order[OVERLAP_PLANES];
	uint32_t firsts[OVERLAP_PLANES];
	double ends[EXACT_ROUNDS + 1] = { 0 };

	for (uint32_t plane = 0; plane < planes; plane++) {
		uint32_t at = plane, first = 0;

		while (first < count && !shares[first * planes + plane].used)
			first++;
		for (; at && firsts[at - 1] > first; at--) {
			firsts[at] = firsts[at - 1];
			order[at] = order[at - 1];
		}
		firsts[at] = first;
		order[at] = (uint8_t)plane;
	}
	for (uint32_t round = 1; round <= count; round++) {
		ends[round] = ends[round - 1];
		for (uint32_t plane = 0; plane < planes; plane++) {
			double until = (double)shares[(round - 1) * planes + plane].until / UNIT;

			ends[round] = until > ends[round] ? until : ends[round];
		}
		set_value(model.end[round], ends[round]);
	}
	for (uint32_t plane = 0; plane < planes; plane++) {
		uint32_t last = 0;

		for (uint32_t round = 1; round <= count; round++) {
			const struct overlap_share *share =
				&shares[(round - 1) * planes + order[plane]];

			set_value(model.used[round][plane], share->used);
			set_value(model.begin[round][plane],
				  share->used ? (double)share->from / UNIT : ends[round - 1]);
			set_value(model.carried[round][plane],
				  (double)share->bytes * 8e6 / (double)model.problem->costs.mbps /
					  UNIT);
			if (!share->used)
				continue;
			for (uint32_t from = 0; from < round; from++)
				set_value(model.step[from][round][plane], from == last);
			last = round;
		}
		for (uint32_t from = 0; from <= count; from++)
			set_value(model.step[from][count + 1][plane], from == last);
	}
}

/* Whole bytes. The rest of rounding goes to the plane with the largest load. */
static void bytes_of(const double *values, uint32_t round, uint64_t *bytes)
{
	uint64_t all = model.problem->rounds[round - 1].bytes, sum = 0;
	uint32_t most = 0;

	for (uint32_t plane = 0; plane < model.problem->planes; plane++) {
		double its = values[model.carried[round][plane]] * UNIT *
			     (double)model.problem->costs.mbps / 8e6;

		bytes[plane] = values[model.used[round][plane]] < 0.5 || its < 0.5 ?
				       0 :
				       (uint64_t)llround(its);
		bytes[plane] = bytes[plane] < all - sum ? bytes[plane] : all - sum;
		sum += bytes[plane];
		most = bytes[plane] > bytes[most] ? plane : most;
	}
	bytes[most] += all - sum;
}

/* The earliest times. A plane changes where the program states it, or where @changes differs. */
static void read_plan(const double *values, bool released, struct overlap_share *shares)
{
	const struct overlap_problem *problem = model.problem;
	uint32_t holds[OVERLAP_PLANES];
	uint64_t free[OVERLAP_PLANES] = { 0 }, end = 0, begin;

	memset(holds, 0xff, sizeof(holds));
	for (uint32_t round = 1; round <= problem->count; round++) {
		uint32_t configuration = problem->rounds[round - 1].configuration;
		uint64_t bytes[OVERLAP_PLANES] = { 0 };

		bytes_of(values, round, bytes);
		begin = end;
		for (uint32_t plane = 0; plane < problem->planes; plane++, shares++) {
			*shares = (struct overlap_share){ .bytes = bytes[plane],
							  .used = bytes[plane] };
			if (!shares->used)
				continue;
			shares->changed = released ? values[model.changed[round][plane]] > 0.5 :
						     holds[plane] != configuration;
			if (shares->changed) {
				shares->change_from = free[plane];
				free[plane] += problem->costs.change_ps;
				shares->change_until = free[plane];
			}
			holds[plane] = configuration;
			shares->from = free[plane] > begin ? free[plane] : begin;
			shares->until = shares->from + problem->costs.round_ps +
					costs_bytes_ps(&problem->costs, shares->bytes);
			free[plane] = shares->until;
			end = shares->until > end ? shares->until : end;
		}
	}
}

static void solve(const struct exact_effort *effort, bool released, struct overlap_share *shares,
		  struct exact_answer *answer)
{
	double begin = now_us();
	Cbc_Model *cbc = program_load(&model.program, false);
	char seconds[32];

	snprintf(seconds, sizeof(seconds), "%g", effort->seconds);
	Cbc_setParameter(cbc, "seconds", seconds);
	Cbc_setParameter(cbc, "timeMode", "cpu");
	if (effort->enough_ps)
		Cbc_setParameter(cbc, "maxSolutions", "1");
	if (model.values_count)
		Cbc_setMIPStartI(cbc, model.values_count, model.indices, model.values);
	Cbc_solve(cbc);
	memset(answer, 0, sizeof(*answer));
	answer->seconds = (now_us() - begin) / 1e6;
	answer->found = Cbc_numberSavedSolutions(cbc) > 0;
	answer->proved = answer->found && Cbc_isProvenOptimal(cbc) && !effort->enough_ps;
	if (answer->found)
		read_plan(Cbc_bestSolution(cbc), released, shares);
	Cbc_deleteModel(cbc);
}

static double longest(void)
{
	double sum = 0;

	for (uint32_t round = 1; round <= model.problem->count; round++)
		sum += model.latency + model.sending[round] + model.change;
	return sum;
}

void exact_overlap(const struct overlap_problem *problem, const struct exact_effort *effort,
		   struct overlap_share *shares, struct exact_answer *answer)
{
	double most;

	begin_model(problem);
	most = effort->enough_ps ? (double)effort->enough_ps / UNIT + EPSILON : longest();
	add_exact(most);
	if (effort->start)
		start_from(effort->start);
	solve(effort, false, shares, answer);
}

/* SWOT's large constant is twice the time on one plane. */
void released_overlap(const struct overlap_problem *problem, const struct exact_effort *effort,
		      struct overlap_share *shares, struct exact_answer *answer)
{
	begin_model(problem);
	add_released(2 * longest());
	solve(effort, true, shares, answer);
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The cost of turns, for given numbers of planes.
 *
 * Round i with n planes, of which some begin late or end early, takes latency + (sending + all of
 * late and early) / n: every loss of time makes it longer by an nth. The planes of a turn need a
 * change: their losses at both ends and the rounds between must add up to it. With the lengths of
 * rounds inserted, only losses remain as variables. The program minimises them by their costs, with
 * enough for each turn. All coefficients are positive, except for turns with surplus time at the
 * begin. So the dual simplex method can begin without losses, and turns with enough time then are
 * left out.
 *
 * The program omits that a plane loses at most its round. If it does not, a plan with fewer planes
 * is better.
 */
#include <math.h>

#include "overlap_work.h"

#define ZERO 1e-9

/* Memory grows to the needs of the largest window. */
int lm_overlap_program_room(struct overlap_program *program, struct morph_ctx *ctx, uint32_t rows,
			    uint32_t columns)
{
	size_t entries = (size_t)(rows + 1) * (columns + 1);
	size_t names = rows + columns;

	if (entries > program->room_entries) {
		double *grown = reallocarray(program->entries, entries, sizeof(*grown));

		if (!grown)
			return lm_no_memory(ctx, "overlap rounds");
		program->entries = grown;
		program->room_entries = entries;
	}
	if (names > program->room_names) {
		uint32_t *grown = reallocarray(program->basic, 2 * names, sizeof(*grown));

		if (!grown)
			return lm_no_memory(ctx, "overlap rounds");
		program->basic = grown;
		program->room_names = names;
	}
	program->free = program->basic + program->room_names;
	return 0;
}

void lm_overlap_program_begin(struct overlap_program *program, uint32_t rows, uint32_t columns,
			      double zero)
{
	program->zero = zero;
	program->rows = rows;
	program->columns = columns;
	memset(program->entries, 0, (size_t)(rows + 1) * (columns + 1) * sizeof(double));
	for (uint32_t column = 0; column < columns; column++)
		program->free[column] = column;
	for (uint32_t row = 0; row < rows; row++)
		program->basic[row] = columns + row;
}

/* Exchange the variables of row @at and column @with. */
static void pivot(struct overlap_program *program, uint32_t at, uint32_t with)
{
	uint32_t columns = program->columns + 1, name = program->basic[at];
	double *mine = program_entry(program, at, 0);
	double by = 1 / mine[with];

	for (uint32_t column = 0; column < columns; column++)
		mine[column] *= -by;
	mine[with] = by;
	for (uint32_t row = 0; row <= program->rows; row++) {
		double *other = program_entry(program, row, 0);
		double times = other[with];

		if (row == at || times == 0)
			continue;
		other[with] = 0;
		for (uint32_t column = 0; column < columns; column++)
			other[column] += times * mine[column];
	}
	program->basic[at] = program->free[with];
	program->free[with] = name;
}

static uint32_t least_row(struct overlap_program *program)
{
	uint32_t least = program->rows;
	double value = -program->zero;

	for (uint32_t row = 0; row < program->rows; row++) {
		double its = *program_entry(program, row, program->columns);

		if (its < value) {
			value = its;
			least = row;
		}
	}
	return least;
}

static uint32_t cheapest_column(struct overlap_program *program, uint32_t row)
{
	const double *costs = program_entry(program, program->rows, 0);
	const double *mine = program_entry(program, row, 0);
	uint32_t cheapest = program->columns;
	double ratio = INFINITY;

	for (uint32_t column = 0; column < program->columns; column++) {
		if (mine[column] > ZERO && costs[column] / mine[column] < ratio) {
			ratio = costs[column] / mine[column];
			cheapest = column;
		}
	}
	return cheapest;
}

double lm_overlap_program_solve(struct overlap_program *program, double below)
{
	const double *cost = program_entry(program, program->rows, program->columns);

	/* More pivots than ever needed; if rounding causes a cycle, there is no answer. */
	for (uint32_t left = 20 * program->rows + 20; left; left--) {
		uint32_t row = least_row(program), column;

		if (*cost >= below)
			return INFINITY;
		if (row == program->rows)
			return *cost;
		column = cheapest_column(program, row);
		if (column == program->columns)
			return INFINITY;
		pivot(program, row, column);
	}
	return INFINITY;
}

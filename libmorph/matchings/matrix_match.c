// SPDX-License-Identifier: LGPL-2.1-or-later
/* Matchings of sending ranks with receiving ranks. */
#include "matrix_work.h"

/* ------------------------------------------------------------ of least cost */

static const int64_t *costs_of(const struct matrix_solver *solver, uint32_t src)
{
	return (const int64_t *)solver->costs + (size_t)src * solver->problem.ranks;
}

/* Prices of columns, the last first, and rows that are cheapest for one column. */
static void reduce_columns(struct matrix_solver *solver)
{
	int64_t *prices = (int64_t *)solver->prices;
	uint32_t ranks = solver->problem.ranks;

	for (uint32_t rank = 0; rank < ranks; rank++)
		solver->to[rank] = solver->from[rank] = MATRIX_NONE;
	memcpy(prices, costs_of(solver, 0), ranks * sizeof(*prices));
	memset(solver->before, 0, ranks * sizeof(*solver->before));
	for (uint32_t src = 1; src < ranks; src++) {
		const int64_t *costs = costs_of(solver, src);

		for (uint32_t dst = 0; dst < ranks; dst++) {
			if (costs[dst] >= prices[dst])
				continue;
			prices[dst] = costs[dst];
			solver->before[dst] = src;
		}
	}
	for (uint32_t dst = ranks; dst--;) {
		uint32_t src = solver->before[dst];

		if (solver->to[src] != MATRIX_NONE)
			continue;
		solver->to[src] = dst;
		solver->from[dst] = src;
	}
}

/* The cheapest column of a row, and the second cheapest. */
struct cheapest {
	uint32_t one, other;
	int64_t ps, other_ps;
};

static struct cheapest cheapest_of(struct matrix_solver *solver, uint32_t src)
{
	const int64_t *costs = costs_of(solver, src), *prices = (const int64_t *)solver->prices;
	struct cheapest least = {
		.one = MATRIX_NONE, .other = MATRIX_NONE, .ps = INT64_MAX, .other_ps = INT64_MAX
	};

	for (uint32_t dst = 0; dst < solver->problem.ranks; dst++) {
		int64_t ps = costs[dst] - prices[dst];

		if (ps >= least.other_ps)
			continue;
		least.other = ps < least.ps ? least.one : dst;
		least.other_ps = ps < least.ps ? least.ps : ps;
		least.one = ps < least.ps ? dst : least.one;
		least.ps = ps < least.ps ? ps : least.ps;
	}
	solver->looks += solver->problem.ranks;
	return least;
}

/*
 * A free row takes its cheapest column and raises the price by the difference to the second
 * cheapest. The previous row of the column becomes free and continues at once, a limited number of
 * times. If the difference is 0, the row takes a free column. Most rows have a column then.
 */
static void reduce_rows(struct matrix_solver *solver)
{
	int64_t *prices = (int64_t *)solver->prices;
	uint32_t ranks = solver->problem.ranks, left = 2 * ranks;

	for (uint32_t first = 0; first < ranks; first++) {
		uint32_t src = first;

		while (left && src != MATRIX_NONE && solver->to[src] == MATRIX_NONE) {
			struct cheapest least = cheapest_of(solver, src);
			bool loses = least.ps < least.other_ps;
			uint32_t had;

			if (least.other == MATRIX_NONE)
				return;
			if (!loses && solver->from[least.one] != MATRIX_NONE)
				least.one = least.other;
			had = solver->from[least.one];
			if (!loses && had != MATRIX_NONE)
				break;
			left--;
			prices[least.one] -= least.other_ps - least.ps;
			solver->to[src] = least.one;
			solver->from[least.one] = src;
			if (had != MATRIX_NONE)
				solver->to[had] = MATRIX_NONE;
			src = had;
		}
	}
}

/*
 * Columns in columns[]: the rows of those below ready were examined; the distances of those below
 * near are known.
 */
struct search {
	uint32_t ready, near;
	int64_t distance; /* of those from ready to near */
};

static void move_near(struct matrix_solver *solver, struct search *search, uint32_t at)
{
	uint32_t *columns = solver->columns;
	uint32_t dst = columns[at];

	columns[at] = columns[search->near];
	columns[search->near++] = dst;
}

/* Find the nearest of the other columns. Return a free one, or MATRIX_NONE. */
static uint32_t find_nearest(struct matrix_solver *solver, struct search *search)
{
	const int64_t *distances = (const int64_t *)solver->distances;
	const uint32_t *columns = solver->columns;

	search->distance = INT64_MAX;
	solver->looks += solver->problem.ranks - search->near;
	for (uint32_t at = search->near; at < solver->problem.ranks; at++) {
		int64_t distance = distances[columns[at]];

		if (distance > search->distance)
			continue;
		if (distance < search->distance)
			search->near = search->ready;
		search->distance = distance;
		move_near(solver, search, at);
	}
	for (uint32_t at = search->ready; at < search->near; at++)
		if (solver->from[columns[at]] == MATRIX_NONE)
			return columns[at];
	return MATRIX_NONE;
}

/*
 * Find the columns that the row of the next ready column reaches. Return a free one, or
 * MATRIX_NONE.
 */
static uint32_t look_further(struct matrix_solver *solver, struct search *search)
{
	int64_t *restrict distances = (int64_t *)solver->distances;
	const int64_t *restrict prices = (const int64_t *)solver->prices;
	uint32_t *restrict columns = solver->columns, *restrict before = solver->before;
	const uint32_t *restrict from = solver->from;
	uint32_t ranks = solver->problem.ranks, through = columns[search->ready++];
	uint32_t src = from[through];
	const int64_t *restrict costs = costs_of(solver, src);
	int64_t nearest = search->distance, paid = costs[through] - prices[through] - nearest;

	solver->looks += ranks - search->near;
	for (uint32_t at = search->near; at < ranks; at++) {
		uint32_t dst = columns[at];
		int64_t distance = costs[dst] - prices[dst] - paid;

		if (distance >= distances[dst])
			continue;
		distances[dst] = distance;
		before[dst] = src;
		if (distance > nearest)
			continue;
		if (from[dst] == MATRIX_NONE)
			return dst;
		columns[at] = columns[search->near];
		columns[search->near++] = dst;
	}
	return MATRIX_NONE;
}

/* The shortest path from a free row to a free column: rows on it change columns. */
static void augment(struct matrix_solver *solver, uint32_t src)
{
	int64_t *distances = (int64_t *)solver->distances;
	int64_t *prices = (int64_t *)solver->prices;
	const int64_t *costs = costs_of(solver, src);
	struct search search = { 0 };
	uint32_t end = MATRIX_NONE, passed = 0, row;

	for (uint32_t dst = 0; dst < solver->problem.ranks; dst++) {
		distances[dst] = costs[dst] - prices[dst];
		solver->before[dst] = src;
		solver->columns[dst] = dst;
	}
	while (end == MATRIX_NONE) {
		if (search.ready == search.near) {
			passed = search.ready;
			end = find_nearest(solver, &search);
		} else {
			end = look_further(solver, &search);
		}
	}
	for (uint32_t at = 0; at < passed; at++) {
		uint32_t dst = solver->columns[at];

		prices[dst] += distances[dst] - search.distance;
	}
	do {
		uint32_t next;

		row = solver->before[end];
		solver->from[end] = row;
		next = solver->to[row];
		solver->to[row] = end;
		end = next;
	} while (row != src);
}

bool lm_matrix_assign(struct matrix_solver *solver)
{
	uint32_t ranks = solver->problem.ranks;

	if (matrix_spent(solver))
		return false;
	reduce_columns(solver);
	reduce_rows(solver);
	solver->looks += (uint64_t)ranks * ranks;
	for (uint32_t src = 0; src < ranks; src++) {
		if (solver->to[src] != MATRIX_NONE)
			continue;
		if (matrix_spent(solver))
			return false;
		augment(solver, src);
	}
	return true;
}

/* ------------------------------------------------------------------ perfect */

static bool reaches(const struct matrix_solver *solver, uint32_t src, uint32_t dst, uint64_t least)
{
	return solver->stuffed[(size_t)src * solver->problem.ranks + dst] >= least;
}

/* Search from a free row, breadth first, for a free column. */
static bool extend(struct matrix_solver *solver, uint32_t src, uint64_t least)
{
	uint32_t *before = solver->before, *queue = solver->columns;
	uint32_t ranks = solver->problem.ranks, count = 0, end = MATRIX_NONE, row = src;

	memset(before, 0xff, ranks * sizeof(*before));
	for (uint32_t at = 0; end == MATRIX_NONE; at++) {
		for (uint32_t dst = 0; end == MATRIX_NONE && dst < ranks; dst++) {
			if (before[dst] != MATRIX_NONE || !reaches(solver, row, dst, least))
				continue;
			before[dst] = row;
			queue[count++] = dst;
			if (solver->from[dst] == MATRIX_NONE)
				end = dst;
		}
		if (end == MATRIX_NONE && at == count)
			return false;
		row = end == MATRIX_NONE ? solver->from[queue[at]] : row;
	}
	do {
		uint32_t next;

		row = before[end];
		next = solver->to[row];
		solver->to[row] = end;
		solver->from[end] = row;
		end = next;
	} while (row != src);
	return true;
}

bool lm_matrix_match(struct matrix_solver *solver, uint64_t least)
{
	uint32_t ranks = solver->problem.ranks;
	bool whole = true;

	for (uint32_t src = 0; src < ranks; src++) {
		uint32_t dst = solver->to[src];

		if (dst == MATRIX_NONE || reaches(solver, src, dst, least))
			continue;
		solver->from[dst] = MATRIX_NONE;
		solver->to[src] = MATRIX_NONE;
	}
	for (uint32_t src = 0; whole && src < ranks; src++)
		whole = solver->to[src] != MATRIX_NONE || extend(solver, src, least);
	return whole;
}

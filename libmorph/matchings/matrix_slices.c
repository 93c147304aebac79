// SPDX-License-Identifier: LGPL-2.1-or-later
/* Matchings with a duration, after which pairs may have bytes left: Solstice, Eclipse, Birkhoff. */
#include "matrix_work.h"
#include "../util/sort.h"

#define DURATIONS 16 /* durations that Eclipse tries for each matching */

/* Bytes that could be sent in the time of setting a circuit. */
static uint64_t change_bytes(const struct matrix_solver *solver)
{
	unsigned __int128 bits =
		(unsigned __int128)(solver->set_ps + solver->each_ps) * solver->problem.costs.mbps;

	return (uint64_t)((bits + 7999999) / 8000000);
}

/* Each pair of the matching in to[] sends at most @slice bytes. */
static int send_slice(struct matrix_solver *solver, uint64_t slice)
{
	uint32_t before = solver->sends.count;
	int ret = lm_matrix_send(solver, slice);

	solver->step += solver->sends.count > before;
	return ret;
}

/* ----------------------------------------------------------------- stuffing */

/* Fill a row and column up to the common sum: in cells with bytes, or in empty ones. */
static void stuff(struct matrix_solver *solver, bool something, uint64_t sum, uint64_t *rows,
		  uint64_t *columns)
{
	uint32_t ranks = solver->problem.ranks;

	for (uint32_t src = 0; src < ranks; src++) {
		for (uint32_t dst = 0; dst < ranks; dst++) {
			uint64_t *cell = &solver->stuffed[(size_t)src * ranks + dst];
			uint64_t lacks = sum - rows[src], other = sum - columns[dst];

			if ((*cell > 0) != something)
				continue;
			lacks = lacks < other ? lacks : other;
			*cell += lacks;
			rows[src] += lacks;
			columns[dst] += lacks;
		}
	}
}

/*
 * Fill stuffed[] with the rest, raised until all rows and columns have the same sum. Return the
 * sum.
 */
static uint64_t stuff_all(struct matrix_solver *solver)
{
	uint32_t ranks = solver->problem.ranks;
	uint64_t *rows = solver->due, *columns = rows + ranks, sum = 0;

	memset(rows, 0, 2 * ranks * sizeof(*rows));
	for (uint32_t src = 0; src < ranks; src++) {
		for (uint32_t dst = 0; dst < ranks; dst++) {
			uint64_t bytes = solver->left[(size_t)src * ranks + dst];

			solver->stuffed[(size_t)src * ranks + dst] = bytes;
			rows[src] += bytes;
			columns[dst] += bytes;
		}
	}
	for (uint32_t port = 0; port < 2 * ranks; port++)
		sum = rows[port] > sum ? rows[port] : sum;
	stuff(solver, true, sum, rows, columns);
	stuff(solver, false, sum, rows, columns);
	memset(solver->to, 0xff, ranks * sizeof(*solver->to));
	memset(solver->from, 0xff, ranks * sizeof(*solver->from));
	return sum;
}

/* The least entry of the matching in to[]. */
static uint64_t least_of(const struct matrix_solver *solver)
{
	uint32_t ranks = solver->problem.ranks;
	uint64_t least = UINT64_MAX;

	for (uint32_t src = 0; src < ranks; src++) {
		uint64_t bytes = solver->stuffed[(size_t)src * ranks + solver->to[src]];

		least = bytes < least ? bytes : least;
	}
	return least;
}

static int take_slice(struct matrix_solver *solver, uint64_t slice)
{
	uint32_t ranks = solver->problem.ranks;

	for (uint32_t src = 0; src < ranks; src++)
		solver->stuffed[(size_t)src * ranks + solver->to[src]] -= slice;
	return send_slice(solver, slice);
}

int lm_matrix_birkhoff(struct matrix_solver *solver)
{
	uint64_t sum = stuff_all(solver);
	int ret = 0;

	while (sum && !ret && lm_matrix_match(solver, 1)) {
		uint64_t slice = least_of(solver);

		sum -= slice;
		ret = take_slice(solver, slice);
	}
	return ret;
}

int lm_matrix_solstice(struct matrix_solver *solver)
{
	uint64_t sum = stuff_all(solver), least = change_bytes(solver), slice = 1;
	uint64_t most = (uint64_t)solver->problem.ranks * solver->problem.ranks; /* of slices */
	int ret = 0;

	while (slice <= sum / 2)
		slice *= 2;
	while (!ret && most && slice >= least && slice) {
		if (lm_matrix_match(solver, slice)) {
			ret = take_slice(solver, slice);
			most--;
		} else {
			slice /= 2;
		}
	}
	return ret ? ret : lm_matrix_greedy(solver);
}

/* ------------------------------------------------------------------ eclipse */

static int ascending(const void *one, const void *other, void *context)
{
	uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

	(void)context;
	return (a > b) - (a < b);
}

/*
 * Sort the rests of pairs in ascending order into stuffed[]. Return the number of pairs with a
 * rest.
 */
static size_t sort_left(struct matrix_solver *solver)
{
	size_t cells = (size_t)solver->problem.ranks * solver->problem.ranks, count = 0;

	for (size_t cell = 0; cell < cells; cell++)
		if (solver->left[cell])
			solver->stuffed[count++] = solver->left[cell];
	lm_sort(solver->stuffed, count, sizeof(*solver->stuffed), ascending, NULL);
	return count;
}

/*
 * Find the matching that carries most bytes in this time. Return the bytes; 0 without a matching:
 * the budget is spent.
 */
static uint64_t carry(struct matrix_solver *solver, uint64_t duration)
{
	uint32_t ranks = solver->problem.ranks;
	size_t cells = (size_t)ranks * ranks;
	uint64_t carried = 0;

	for (size_t cell = 0; cell < cells; cell++)
		solver->costs[cell] = solver->left[cell] < duration ? solver->left[cell] : duration;
	if (!lm_matrix_heaviest(solver))
		return 0;
	for (uint32_t src = 0; src < ranks; src++) {
		uint64_t bytes = solver->left[(size_t)src * ranks + solver->to[src]];

		carried += bytes < duration ? bytes : duration;
	}
	return carried;
}

/* The duration with the most bytes per time. */
static uint64_t best_duration(struct matrix_solver *solver, size_t count)
{
	uint64_t change = change_bytes(solver), last = 0, best = 0, best_carried = 0;

	for (size_t part = 1; part <= DURATIONS; part++) {
		size_t below = count * part / DURATIONS;
		uint64_t duration = below ? solver->stuffed[below - 1] : 0, carried;

		if (duration == last)
			continue;
		last = duration;
		carried = carry(solver, duration);
		if (best && (unsigned __int128)carried * (best + change) <=
				    (unsigned __int128)best_carried * (duration + change))
			continue;
		best = duration;
		best_carried = carried;
	}
	return best;
}

int lm_matrix_eclipse(struct matrix_solver *solver)
{
	int ret = 0;

	for (uint32_t step = 0; step < 4 * solver->problem.ranks && !ret; step++) {
		size_t count = sort_left(solver);
		uint64_t duration;

		if (!count)
			return 0;
		duration = best_duration(solver, count);
		if (!carry(solver, duration))
			break;
		ret = send_slice(solver, duration);
	}
	return ret ? ret : lm_matrix_greedy(solver);
}

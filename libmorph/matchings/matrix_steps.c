// SPDX-License-Identifier: LGPL-2.1-or-later
/* Consecutive matchings in which each pair sends all of its bytes. */
#include "../util/sort.h"
#include "matrix_work.h"

int lm_matrix_rotation(struct matrix_solver *solver)
{
	uint32_t ranks = solver->problem.ranks;

	for (uint32_t shift = 1; shift < ranks; shift++) {
		uint32_t before = solver->sends.count;
		int ret = lm_matrix_room(solver, ranks);

		if (ret)
			return ret;
		for (uint32_t src = 0; src < ranks; src++) {
			uint32_t dst = src + shift < ranks ? src + shift : src + shift - ranks;
			uint64_t bytes = solver->left[(size_t)src * ranks + dst];

			if (bytes)
				lm_matrix_add(solver, src, dst, bytes);
		}
		solver->step += solver->sends.count > before;
	}
	return 0;
}

/* ------------------------------------------------------------------ longest */

static int list_left(struct matrix_solver *solver)
{
	int ret = lm_matrix_pairs(solver, solver->left, &solver->pairs);

	if (!ret)
		lm_sort(solver->pairs.list, solver->pairs.count, sizeof(*solver->pairs.list),
			lm_matrix_largest_first, NULL);
	return ret;
}

/* Take the first matching in which both ports are free. A word has one bit for each matching. */
static uint32_t take_first(uint64_t *one, uint64_t *other)
{
	uint32_t word = 0, bit;

	while (!~(one[word] | other[word]))
		word++;
	bit = (uint32_t)__builtin_ctzll(~(one[word] | other[word]));
	one[word] |= 1ULL << bit;
	other[word] |= 1ULL << bit;
	return 64 * word + bit;
}

static int by_step(const void *one, const void *other, void *context)
{
	const struct matrix_share *a = one, *b = other;

	(void)context;
	if (a->plane != b->plane)
		return a->plane < b->plane ? -1 : 1;
	return a->src < b->src ? -1 : a->src > b->src;
}

/* A port with one partner for each rank finds a free matching among twice that number. */
int lm_matrix_longest(struct matrix_solver *solver)
{
	uint32_t ranks = solver->problem.ranks, words = ranks / 32 + 1, first = solver->step;
	int ret = list_left(solver);

	if (!ret)
		ret = ARRAY_GROW(solver->ctx, solver->taken, 2 * ranks * words, "plan a matrix");
	if (!ret)
		ret = lm_matrix_room(solver, solver->pairs.count);
	if (ret)
		return ret;
	memset(solver->taken.list, 0, 2 * (size_t)ranks * words * sizeof(*solver->taken.list));
	for (uint32_t at = 0; at < solver->pairs.count; at++) {
		struct matrix_share *pair = &solver->pairs.list[at];

		/* The plane is known, so this field has its matching. */
		pair->plane = take_first(&solver->taken.list[(size_t)pair->src * words],
					 &solver->taken.list[(size_t)(ranks + pair->dst) * words]);
	}
	solver->looks += (uint64_t)solver->pairs.count * words;
	lm_sort(solver->pairs.list, solver->pairs.count, sizeof(*solver->pairs.list), by_step,
		NULL);
	for (uint32_t at = 0; at < solver->pairs.count; at++) {
		const struct matrix_share *pair = &solver->pairs.list[at];

		solver->step = first + pair->plane;
		lm_matrix_add(solver, pair->src, pair->dst, pair->bytes);
	}
	solver->step += solver->pairs.count > 0;
	return 0;
}

/* ------------------------------------------------------------------- greedy */

/*
 * Turn the weights in costs[] into costs whose minimum is the maximum weight. Return whether there
 * is any weight.
 */
static bool turn_weights(struct matrix_solver *solver)
{
	size_t cells = (size_t)solver->problem.ranks * solver->problem.ranks;
	uint64_t most = 0;
	uint32_t shift = 0;

	for (size_t cell = 0; cell < cells; cell++)
		most = solver->costs[cell] > most ? solver->costs[cell] : most;
	while (most >> shift >= (uint64_t)MATRIX_WORST_COST)
		shift++;
	for (size_t cell = 0; cell < cells; cell++)
		solver->costs[cell] = (most >> shift) - (solver->costs[cell] >> shift);
	return most > 0;
}

bool lm_matrix_heaviest(struct matrix_solver *solver)
{
	return turn_weights(solver) && lm_matrix_assign(solver);
}

/* The pairs of the matching in to[] send all of their bytes. */
static int send_whole(struct matrix_solver *solver)
{
	int ret = lm_matrix_send(solver, UINT64_MAX);

	solver->step += !ret;
	return ret;
}

/*
 * Weights are times, so that the weight of a small pair includes its change. When the budget is
 * spent, rotation sends the rest.
 */
int lm_matrix_greedy(struct matrix_solver *solver)
{
	uint32_t ranks = solver->problem.ranks;
	size_t cells = (size_t)ranks * ranks;
	uint64_t *weights = solver->stuffed;
	int ret = 0;

	for (size_t cell = 0; cell < cells; cell++) {
		uint64_t bytes = solver->left[cell];

		weights[cell] = bytes ? solver->set_ps + matrix_send_ps(solver, bytes) : 0;
	}
	while (!ret) {
		memcpy(solver->costs, weights, cells * sizeof(*weights));
		if (!lm_matrix_heaviest(solver))
			break;
		ret = send_whole(solver);
		for (uint32_t src = 0; src < ranks; src++)
			weights[(size_t)src * ranks + solver->to[src]] = 0;
	}
	return ret ? ret : lm_matrix_rotation(solver);
}

/* ------------------------------------------------------------------- urgent */

/* Costs double with each 64th of the target time; after that there are 10 more. */
#define PARTS 64
#define PARTS_LEFT_OUT 30 /* earlier pairs cost nothing */

/* Lateness in parts, of 2^16 each: late * factor / 2^42. */
static uint64_t factor_of(uint64_t target_ps)
{
	return (uint64_t)(((unsigned __int128)PARTS << 58) / target_ps);
}

static int64_t cost_of(uint64_t late_ps, uint64_t factor)
{
	uint64_t parts = (uint64_t)((unsigned __int128)late_ps * factor >> 42);
	uint64_t whole = parts >> 16, rest = parts & 0xffff;

	if (whole < PARTS_LEFT_OUT)
		return 0;
	whole -= PARTS_LEFT_OUT;
	if (whole >= 44)
		return MATRIX_WORST_COST - 1;
	/* 2^whole, and linear up to its double. */
	return (1LL << whole) + (int64_t)((rest << whole) >> 16);
}

/* The load of each port. The target time is the largest load. */
static uint64_t compute_due(struct matrix_solver *solver)
{
	uint32_t ranks = solver->problem.ranks;
	uint64_t *due = solver->due, target = 0;

	memset(due, 0, 2 * ranks * sizeof(*due));
	for (uint32_t src = 0; src < ranks; src++) {
		for (uint32_t dst = 0; dst < ranks; dst++) {
			uint64_t bytes = solver->left[(size_t)src * ranks + dst], ps;

			if (!bytes)
				continue;
			ps = solver->set_ps + matrix_send_ps(solver, bytes);
			due[src] += ps;
			due[ranks + dst] += ps;
		}
	}
	for (uint32_t port = 0; port < 2 * ranks; port++) {
		uint64_t ps = due[port] ? solver->ready[port] + due[port] : 0;

		target = ps > target ? ps : target;
	}
	return target;
}

static void weigh_lateness(struct matrix_solver *solver, uint64_t factor)
{
	uint32_t ranks = solver->problem.ranks;
	const uint64_t *ready = solver->ready, *due = solver->due;
	const uint64_t *left = solver->left;
	int64_t *costs = (int64_t *)solver->costs;

	for (uint32_t src = 0; src < ranks; src++) {
		for (uint32_t dst = 0; dst < ranks; dst++) {
			uint64_t late = matrix_later(ready[src], ready[ranks + dst]) +
					matrix_later(due[src], due[ranks + dst]);

			*costs++ = *left++ ? cost_of(late, factor) : MATRIX_WORST_COST;
		}
	}
}

/* Remove the loads of the matching. */
static void pass_time(struct matrix_solver *solver)
{
	uint32_t ranks = solver->problem.ranks;
	uint64_t *ready = solver->ready, *due = solver->due;

	for (uint32_t src = 0; src < ranks; src++) {
		uint32_t dst = solver->to[src];
		uint64_t bytes = solver->left[(size_t)src * ranks + dst], ps;

		if (!bytes)
			continue;
		ps = solver->set_ps + matrix_send_ps(solver, bytes);
		ready[src] = matrix_later(ready[src], ready[ranks + dst]) + ps;
		ready[ranks + dst] = ready[src];
		due[src] -= ps;
		due[ranks + dst] -= ps;
	}
}

int lm_matrix_urgent(struct matrix_solver *solver)
{
	uint64_t target = compute_due(solver), factor = target ? factor_of(target) : 0;
	uint32_t ranks = solver->problem.ranks, pairs = 0;
	int ret = 0;

	for (size_t cell = 0; cell < (size_t)ranks * ranks; cell++)
		pairs += solver->left[cell] > 0;
	while (pairs && !ret) {
		uint32_t before = solver->sends.count;

		weigh_lateness(solver, factor);
		if (!lm_matrix_assign(solver))
			break;
		pass_time(solver);
		ret = send_whole(solver);
		pairs -= solver->sends.count - before;
	}
	return ret || !pairs ? ret : lm_matrix_rotation(solver);
}

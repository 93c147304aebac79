// SPDX-License-Identifier: LGPL-2.1-or-later
/* The sequences of topologies that take least time: see segments.h. */
#include "segments.h"

#define CHANGES_BITS 32

static segments_total total_of(uint64_t ps, uint32_t changes)
{
	return (segments_total)ps << CHANGES_BITS | changes;
}

static struct segments_choice choice_of(segments_total total)
{
	if (total >= total_of(NEVER_PS, 0))
		return (struct segments_choice){ .ps = NEVER_PS };
	return (struct segments_choice){ .ps = (uint64_t)(total >> CHANGES_BITS),
					 .changes = (uint32_t)total };
}

/* A change between different topologies. */
static segments_total change_of(const struct segments_problem *problem, uint32_t from, uint32_t to)
{
	if (!problem->changes)
		return total_of(problem->change_ps, 1);
	if (from == RESIDENT_NONE)
		from = problem->topologies;
	return total_of(problem->changes[(size_t)from * problem->topologies + to], 1);
}

static segments_total first_of(const struct segments_problem *problem, uint32_t to)
{
	if (problem->resident == RESIDENT_ANY || problem->resident == to)
		return 0;
	return change_of(problem, problem->resident, to);
}

uint64_t lm_segments_price_table(const struct segments_problem *problem, uint32_t round,
				 uint64_t never, uint64_t *row)
{
	const uint64_t *table =
		(const uint64_t *)problem->prices + (size_t)round * problem->topologies;
	uint64_t least = never;

	for (uint32_t at = 0; at < problem->topologies; at++) {
		row[at] = table[at] < never ? table[at] : never;
		least = row[at] < least ? row[at] : least;
	}
	return least;
}

static int look_at(struct segments *work, const struct segments_problem *problem)
{
	if (!problem->topologies || problem->topologies > MOST_TOPOLOGIES)
		return lm_fail(work->ctx, EINVAL, "a plan requires 1 to %u topologies, not %u",
			       MOST_TOPOLOGIES, problem->topologies);
	if (problem->resident >= problem->topologies && problem->resident != RESIDENT_ANY &&
	    problem->resident != RESIDENT_NONE)
		return lm_fail(work->ctx, EINVAL,
			       "the resident topology must be one of %u, not number %u",
			       problem->topologies, problem->resident);
	return 0;
}

#define ROOM(work, array, wanted) \
	ARRAY_GROW((work)->ctx, (work)->array, wanted, "plan when topologies change")

/*
 * Cost and changes in 62 bits, with changes in the low ones, at most one for each round. Impossible
 * rounds exceed all possible ones. There are no such totals if changes differ in cost, or if costs
 * may be too long.
 */
#define NARROW_BITS 62
#define MOST_NARROW (1U << 20) /* limit of stored totals */

static uint32_t narrow_bits(const struct segments_problem *problem)
{
	uint64_t rows = problem->rounds + 1ULL;
	uint32_t bits = 64 - (uint32_t)__builtin_clzll(rows);
	unsigned __int128 most = ((unsigned __int128)problem->most_ps + problem->change_ps) * rows;

	if (problem->changes || !problem->most_ps || rows * problem->topologies > MOST_NARROW ||
	    most >> (NARROW_BITS - 1 - bits))
		return 0;
	return bits;
}

static int make_narrow_room(struct segments *work, const struct segments_problem *problem)
{
	int ret = ROOM(work, row, problem->topologies);

	if (!ret)
		ret = ROOM(work, totals, (problem->rounds + 1) * problem->topologies);
	if (!ret)
		ret = ROOM(work, limits, problem->rounds + 1);
	if (!ret)
		ret = ROOM(work, held, problem->rounds);
	return ret;
}

static int make_room(struct segments *work, const struct segments_problem *problem)
{
	uint64_t cells = (uint64_t)problem->rounds * problem->topologies;
	int ret = look_at(work, problem);

	if (!ret && cells > UINT32_MAX / 2)
		ret = lm_fail(work->ctx, E2BIG,
			      "rounds times topologies must be at most %u, not %u times %u",
			      UINT32_MAX / 2, problem->rounds, problem->topologies);
	if (!ret)
		ret = ROOM(work, now, problem->topologies);
	if (!ret)
		ret = ROOM(work, next, problem->topologies);
	if (!ret)
		ret = ROOM(work, row, problem->topologies);
	if (!ret)
		ret = ROOM(work, before, (uint32_t)cells);
	if (!ret)
		ret = ROOM(work, held, problem->rounds);
	return ret;
}

/* The first of the least. */
static uint16_t least_of(const segments_total *totals, uint32_t count)
{
	uint32_t least = 0;

	for (uint32_t at = 1; at < count; at++)
		if (totals[at] < totals[least])
			least = at;
	return (uint16_t)least;
}

/*
 * Difference of the costs of changes: only a topology within this of the cheapest is worth leaving.
 */
static segments_total spread_of(const struct segments_problem *problem)
{
	uint64_t least = UINT64_MAX, most = 0;

	for (uint32_t from = 0; from < problem->topologies; from++) {
		const uint64_t *row = problem->changes + (size_t)from * problem->topologies;

		for (uint32_t to = 0; to < problem->topologies; to++) {
			if (from == to)
				continue;
			least = row[to] < least ? row[to] : least;
			most = row[to] > most ? row[to] : most;
		}
	}
	return most > least ? total_of(most - least, 0) : 0;
}

/* All changes cost the same, so every change starts from the cheapest topology. */
static void change_from_least(const struct segments_problem *problem, struct segments *work,
			      uint16_t *before)
{
	segments_total *now = work->now.list;
	uint16_t least = least_of(now, problem->topologies);
	segments_total changed = now[least] + total_of(problem->change_ps, 1);

	for (uint32_t to = 0; to < problem->topologies; to++) {
		bool stays = now[to] <= changed;

		before[to] = stays ? (uint16_t)to : least;
		now[to] = stays ? now[to] : changed;
	}
}

static void change_by_table(const struct segments_problem *problem, struct segments *work,
			    segments_total spread, uint16_t *before)
{
	segments_total *now = work->now.list, *next = work->next.list;
	uint32_t count = problem->topologies;
	segments_total limit = now[least_of(now, count)] + spread;

	for (uint32_t to = 0; to < count; to++) {
		next[to] = now[to];
		before[to] = (uint16_t)to;
	}
	for (uint32_t from = 0; from < count; from++) {
		const uint64_t *changes = problem->changes + (size_t)from * count;

		if (now[from] > (limit | UINT32_MAX))
			continue;
		for (uint32_t to = 0; to < count; to++) {
			segments_total changed = now[from] + total_of(changes[to], 1);
			bool better = changed < next[to];

			next[to] = better ? changed : next[to];
			before[to] = better ? (uint16_t)from : before[to];
		}
	}
	work->now.list = next;
	work->next.list = now;
}

/* The least time of the round. */
static uint64_t go_on(const struct segments_problem *problem, struct segments *work, uint32_t round)
{
	const uint64_t *row = work->row.list;
	segments_total *now = work->now.list;
	uint64_t least = problem->price(problem, round, NEVER_PS, work->row.list);

	for (uint32_t to = 0; to < problem->topologies; to++)
		now[to] += total_of(row[to], 0);
	return least;
}

static void trace(const struct segments_problem *problem, struct segments *work, uint16_t last)
{
	for (uint32_t round = problem->rounds; round--;) {
		work->held.list[round] = last;
		last = work->before.list[(size_t)round * problem->topologies + last];
	}
}

static int refuse(struct segments *work, const struct segments_problem *problem, uint32_t round)
{
	return lm_fail(work->ctx, ENETUNREACH, "round %u does not fit any of the %u topologies",
		       round, problem->topologies);
}

/* --------------------------------------------------------------- narrow totals */

/*
 * Every change starts from the cheapest topology: no total before the round is above the limit.
 * Return the least after it.
 */
static uint64_t go_on_narrow(const uint64_t *restrict before, uint64_t *restrict after,
			     const uint64_t *restrict row, uint32_t count, uint64_t limit,
			     uint32_t bits)
{
	uint64_t least = UINT64_MAX;

	for (uint32_t to = 0; to < count; to++) {
		uint64_t total = before[to] < limit ? before[to] : limit;

		total += row[to] << bits;
		after[to] = total;
		least = total < least ? total : least;
	}
	return least;
}

static uint16_t find_first(const uint64_t *totals, uint64_t wanted)
{
	uint16_t at = 0;

	while (totals[at] != wanted)
		at++;
	return at;
}

static void trace_narrow(const struct segments_problem *problem, struct segments *work,
			 uint16_t last, uint64_t change)
{
	for (uint32_t round = problem->rounds; round--;) {
		const uint64_t *totals = work->totals.list + (size_t)round * problem->topologies;

		work->held.list[round] = last;
		if (round && totals[last] > work->limits.list[round])
			last = find_first(totals, work->limits.list[round] - change);
	}
}

static int solve_narrow(struct segments *work, const struct segments_problem *problem,
			uint32_t bits, struct segments_plan *plan)
{
	const uint64_t change = problem->change_ps << bits | 1,
		       never = 1ULL << (NARROW_BITS - bits);
	const uint32_t count = problem->topologies, resident = problem->resident;
	uint64_t least = resident == RESIDENT_NONE ? change : 0, bound = least >> bits, *totals;
	int ret = make_narrow_room(work, problem);

	if (ret)
		return ret;
	totals = work->totals.list;
	for (uint32_t to = 0; to < count; to++)
		totals[to] = resident == RESIDENT_ANY || resident == to ? 0 : change;
	for (uint32_t round = 0; round < problem->rounds; round++, totals += count) {
		uint64_t limit = round ? least + change : UINT64_MAX;
		uint64_t price = problem->price(problem, round, never, work->row.list);

		if (price == never)
			return refuse(work, problem, round);
		work->limits.list[round] = limit;
		least = go_on_narrow(totals, totals + count, work->row.list, count, limit, bits);
		bound += price;
	}
	*plan = (struct segments_plan){ .held = work->held.list };
	if (!problem->rounds)
		return 0;
	trace_narrow(problem, work, find_first(totals, least), change);
	plan->ps = least >> bits;
	plan->changes = least & ((1U << bits) - 1);
	plan->bound_ps = bound;
	return 0;
}

/* --------------------------------------------------------------------- all */

int lm_segments_solve(struct segments *work, const struct segments_problem *problem,
		      struct segments_plan *plan)
{
	segments_total spread = 0, bound;
	struct segments_choice best;
	uint16_t last;
	int ret = look_at(work, problem);
	uint32_t bits = ret ? 0 : narrow_bits(problem);

	if (bits)
		return solve_narrow(work, problem, bits, plan);
	if (!ret)
		ret = make_room(work, problem);
	if (ret)
		return ret;
	for (uint32_t to = 0; to < problem->topologies; to++)
		work->now.list[to] = first_of(problem, to);
	bound = work->now.list[least_of(work->now.list, problem->topologies)];
	if (problem->changes)
		spread = spread_of(problem);
	for (uint32_t round = 0; round < problem->rounds; round++) {
		uint16_t *before = work->before.list + (size_t)round * problem->topologies;
		uint64_t least;

		if (round && problem->changes)
			change_by_table(problem, work, spread, before);
		else if (round)
			change_from_least(problem, work, before);
		least = go_on(problem, work, round);
		if (least == NEVER_PS)
			return refuse(work, problem, round);
		if (least == TOO_LONG_PS)
			return lm_fail(work->ctx, ERANGE,
				       "round %u takes 2^64 picoseconds (half a year) or more",
				       round);
		bound += total_of(least, 0);
	}
	last = least_of(work->now.list, problem->topologies);
	best = choice_of(problem->rounds ? work->now.list[last] : 0);
	if (best.ps == NEVER_PS)
		return lm_fail(work->ctx, ERANGE,
			       "no sequence of topologies takes less than 2^64 picoseconds");
	trace(problem, work, last);
	*plan = (struct segments_plan){ .ps = best.ps,
					.changes = best.changes,
					.bound_ps = problem->rounds ? choice_of(bound).ps : 0,
					.held = work->held.list };
	return 0;
}

/* ---------------------------------------------------------------- baselines */

/* The best of a row; @held if it is as good as any. */
static uint32_t best_of(const uint64_t *row, uint32_t count, uint32_t held)
{
	uint32_t best = held < count ? held : 0;

	for (uint32_t at = 0; at < count; at++)
		if (row[at] < row[best])
			best = at;
	return best;
}

int lm_segments_baselines(struct segments *work, const struct segments_problem *problem,
			  uint32_t fixed, struct segments_baselines *baselines)
{
	segments_total every = 0, ideal, *now;
	uint32_t held = problem->resident;
	int ret = make_room(work, problem);

	if (!ret && fixed >= problem->topologies)
		ret = lm_fail(work->ctx, EINVAL,
			      "the fixed topology must be one of %u, not number %u",
			      problem->topologies, fixed);
	if (ret)
		return ret;
	now = work->now.list;
	for (uint32_t to = 0; to < problem->topologies; to++)
		now[to] = first_of(problem, to);
	ideal = now[least_of(now, problem->topologies)];
	for (uint32_t round = 0; round < problem->rounds; round++) {
		uint64_t least = go_on(problem, work, round);
		uint32_t best = best_of(work->row.list, problem->topologies, held);

		if (!round)
			every = first_of(problem, best);
		else if (best != held)
			every += change_of(problem, held, best);
		held = best;
		every += total_of(least, 0);
		ideal += total_of(least, 0);
	}
	if (!problem->rounds) {
		*baselines = (struct segments_baselines){ .fixed = { 0 } };
		return 0;
	}
	*baselines = (struct segments_baselines){
		.fixed = choice_of(now[fixed]),
		.one_shot = choice_of(now[least_of(now, problem->topologies)]),
		.every_round = choice_of(every),
		.ideal = choice_of(ideal),
		.one_topology = least_of(now, problem->topologies),
	};
	return 0;
}

void lm_segments_release(struct segments *work)
{
	free(work->now.list);
	free(work->next.list);
	free(work->row.list);
	free(work->before.list);
	free(work->held.list);
	free(work->totals.list);
	free(work->limits.list);
	*work = (struct segments){ .ctx = work->ctx };
}

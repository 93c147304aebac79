// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What no plan is faster than, and plans that are made without thought.
 *
 * Nothing is sent before a plane holds the first configuration. From then on no round is
 * shorter than with all planes. And over any rounds in a row: all planes together have as much time as these
 * last, of which sending takes a part; of the configurations as many as there are planes may
 * be there from before, and each further time that one has to be loaded, with the best of caches
 * (Belady), takes a change.
 */
#include "../util/sort.h"
#include "overlap_work.h"

#define ROW \
	64 /* rounds in a row, at most, that are looked at together, but for those from the first one on */

static uint64_t ideal(const struct overlap_problem *problem, uint32_t round)
{
	uint64_t bytes = problem->rounds[round].bytes;

	return problem->costs.round_ps +
	       costs_bytes_ps(&problem->costs, (bytes + problem->planes - 1) / problem->planes);
}

static bool holds(const struct overlap_problem *problem, uint32_t plane, uint32_t configuration)
{
	return problem->resident && problem->resident[plane] == configuration;
}

/* Planes that hold it at first. */
static uint32_t holders(const struct overlap_problem *problem, uint32_t configuration)
{
	uint32_t count = 0;

	for (uint32_t plane = 0; plane < problem->planes; plane++)
		count += holds(problem, plane, configuration);
	return count;
}

/* The end of the first round, at the soonest. */
static uint64_t first_end(const struct overlap_problem *problem)
{
	uint64_t from[OVERLAP_PLANES], early[OVERLAP_PLANES] = { 0 };

	for (uint32_t plane = 0; plane < problem->planes; plane++)
		from[plane] = holds(problem, plane, problem->rounds[0].configuration) ?
				      0 :
				      problem->costs.change_ps;
	return lm_overlap_fill(&problem->costs, problem->rounds[0].bytes, problem->planes, from,
			       early);
}

/* ---------------------------------------------------------------------- loads */

/* Configurations that are held, each by when it is needed again. */
struct cache {
	uint32_t count, misses;
	uint32_t needed[OVERLAP_PLANES];
};

static void load(struct cache *cache, uint32_t planes, uint32_t round, uint32_t needed)
{
	uint32_t last = 0;

	for (uint32_t at = 0; at < cache->count; at++) {
		if (cache->needed[at] == round) {
			cache->needed[at] = needed;
			return;
		}
		last = cache->needed[at] > cache->needed[last] ? at : last;
	}
	cache->misses++;
	if (cache->count < planes)
		last = cache->count++;
	cache->needed[last] = needed;
}

static int by_configuration(const void *one, const void *other, void *context)
{
	const struct overlap_problem *problem = context;
	uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
	uint32_t its = problem->rounds[a].configuration, others = problem->rounds[b].configuration;

	if (its != others)
		return its > others ? 1 : -1;
	return (a > b) - (a < b);
}

/* By round the next one with the same configuration, or UINT32_MAX. */
static void find_needed(struct overlap_work *work, const struct overlap_problem *problem)
{
	const struct overlap_round *rounds = problem->rounds;

	for (uint32_t at = 0; at < problem->count; at++)
		work->sorted[at] = at;
	lm_sort(work->sorted, problem->count, sizeof(work->sorted[0]), by_configuration,
		(void *)problem);
	for (uint32_t at = 0; at < problem->count; at++) {
		uint32_t round = work->sorted[at];

		work->needed[round] = UINT32_MAX;
		if (at + 1 < problem->count &&
		    rounds[work->sorted[at + 1]].configuration == rounds[round].configuration)
			work->needed[round] = work->sorted[at + 1];
	}
}

/* Rounds from @first on last so long, at least; ends after them are raised. True where loads make a difference. */
static bool raise(const struct overlap_problem *problem, uint32_t first, const uint32_t *needed,
		  uint64_t begin, uint64_t *ends)
{
	struct cache cache = { 0 };
	unsigned __int128 busy = 0;
	bool raised = false;

	for (uint32_t at = first; at < problem->count && (!first || at < first + ROW); at++) {
		uint64_t longest;

		busy += (unsigned __int128)problem->rounds[at].bytes * 8000000 /
				problem->costs.mbps +
			problem->costs.round_ps;
		load(&cache, problem->planes, at, needed[at]);
		if (cache.misses <= problem->planes)
			continue;
		longest = (uint64_t)((busy + (unsigned __int128)(cache.misses - problem->planes) *
						     problem->costs.change_ps) /
				     problem->planes);
		if (begin + longest > ends[at]) {
			ends[at] = begin + longest;
			raised = true;
		}
	}
	return raised;
}

void lm_overlap_bound(struct overlap_work *work, const struct overlap_problem *problem,
		      struct overlap_result *result)
{
	uint64_t first = first_end(problem), end = first;
	bool lit = holders(problem, problem->rounds[0].configuration), raised = false;

	find_needed(work, problem);
	for (uint32_t round = 0; round < problem->count; round++)
		work->ends[round] = round ? 0 : first;
	for (uint32_t round = 0; round < problem->count; round++) {
		uint64_t begin = round ? end : lit ? 0 : problem->costs.change_ps;

		if (round && work->ends[round] < end + ideal(problem, round))
			work->ends[round] = end + ideal(problem, round);
		raised |= raise(problem, round, work->needed, begin, work->ends);
		end = work->ends[round];
	}
	result->bound = raised ? OVERLAP_LOADS : OVERLAP_IDEAL;
	result->bound_ps = end;
}

/* ------------------------------------------------------------------ baselines */

static uint64_t shared(const struct overlap_problem *problem, uint32_t round, uint32_t planes)
{
	uint64_t bytes = problem->rounds[round].bytes;

	return problem->costs.round_ps +
	       costs_bytes_ps(&problem->costs, (bytes + planes - 1) / planes);
}

static uint64_t every(const struct overlap_problem *problem)
{
	uint64_t end = 0;

	for (uint32_t round = 0; round < problem->count; round++) {
		uint32_t configuration = problem->rounds[round].configuration;
		bool change = round ? problem->rounds[round - 1].configuration != configuration :
				      holders(problem, configuration) < problem->planes;

		end += change ? problem->costs.change_ps : 0;
		end += shared(problem, round, problem->planes);
	}
	return end;
}

/* Whether no earlier round has the same configuration. */
static bool is_new(const struct overlap_problem *problem, uint32_t round)
{
	for (uint32_t at = 0; at < round; at++)
		if (problem->rounds[at].configuration == problem->rounds[round].configuration)
			return false;
	return true;
}

static uint64_t one_shot(const struct overlap_problem *problem)
{
	uint32_t configurations = 0;
	uint64_t end = problem->costs.change_ps;

	for (uint32_t round = 0; round < problem->count; round++) {
		configurations += is_new(problem, round);
		if (configurations > problem->planes)
			return UINT64_MAX;
	}
	for (uint32_t round = 0; round < problem->count; round++)
		end += shared(problem, round, problem->planes / configurations);
	return end;
}

static uint64_t unchanged(const struct overlap_problem *problem)
{
	uint64_t end = 0;

	for (uint32_t round = 0; round < problem->count; round++) {
		uint32_t planes = holders(problem, problem->rounds[round].configuration);

		if (!planes)
			return UINT64_MAX;
		end += shared(problem, round, planes);
	}
	return end;
}

static uint64_t always(const struct overlap_problem *problem)
{
	uint64_t end = 0;

	for (uint32_t round = 0; round < problem->count; round++)
		end += ideal(problem, round);
	return end;
}

uint64_t lm_overlap_baseline(const struct overlap_problem *problem, enum overlap_baseline kind)
{
	switch (kind) {
	case OVERLAP_EVERY:
		return every(problem);
	case OVERLAP_ONE_SHOT:
		return one_shot(problem);
	case OVERLAP_STATIC:
		return unchanged(problem);
	default:
		return always(problem);
	}
}

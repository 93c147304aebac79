// SPDX-License-Identifier: LGPL-2.1-or-later
/* Plans of overlapped rounds, see overlap.h: windows, bounds and baselines. */
#include <math.h>

#include "../util/sort.h"
#include "overlap_work.h"

/* --------------------------------------------------------------------- bounds */

/*
 * Lower bounds, and plans without optimisation.
 *
 * Nothing is sent before a plane holds the first configuration. From then on, no round is shorter
 * than with all planes. Over consecutive rounds, all planes together have the time of these rounds,
 * of which sending takes a part. As many configurations as planes may be present before. Each
 * further load, with an optimal cache (Belady), takes a change.
 */

#define ROW 64 /* limit of consecutive rounds examined together, except from the first round on */

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

/* Planes that hold it initially. */
static uint32_t holders(const struct overlap_problem *problem, uint32_t configuration)
{
	uint32_t count = 0;

	for (uint32_t plane = 0; plane < problem->planes; plane++)
		count += holds(problem, plane, configuration);
	return count;
}

/* The earliest end of the first round. */
static uint64_t first_end(const struct overlap_problem *problem)
{
	uint64_t from[OVERLAP_PLANES] = { 0 }, early[OVERLAP_PLANES] = { 0 };

	for (uint32_t plane = 0; plane < problem->planes; plane++)
		from[plane] = holds(problem, plane, problem->rounds[0].configuration) ?
				      0 :
				      problem->costs.change_ps;
	return lm_overlap_fill(&problem->costs, problem->rounds[0].bytes, problem->planes, from,
			       early);
}

/* ---------------------------------------------------------------------- loads */

/* Held configurations, each with the round that needs it next. */
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

/* By round: the next one with the same configuration, or UINT32_MAX. */
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

/* Lower bound for the rounds from @first on; later ends are raised. True if changes matter. */
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

/* Is this the first round with its configuration? */
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

/* -------------------------------------------------------------------- windows */

/*
 * Plans windows of rounds in sequence. The first half of each window becomes final, and is computed
 * in whole picoseconds and bytes.
 */

#define ROUNDING 1e-12 /* of doubles, times a few thousand */
#define LONGEST (1ULL << 62) /* picoseconds */

struct overlap_work *lm_overlap_work_new(struct morph_ctx *ctx)
{
	struct overlap_work *work = calloc(1, sizeof(*work));

	if (!work) {
		lm_no_memory(ctx, "overlap rounds");
		return NULL;
	}
	work->ctx = ctx;
	return work;
}

void lm_overlap_work_free(struct overlap_work *work)
{
	if (!work)
		return;
	free(work->program.entries);
	free(work->program.basic);
	free(work->ends);
	free(work->needed);
	free(work->sorted);
	free(work);
}

/* --------------------------------------------------------------------- input */

static int check_size(struct morph_ctx *ctx, const struct overlap_problem *problem)
{
	if (!problem->count || problem->count > OVERLAP_ROUNDS)
		return lm_fail(ctx, EINVAL, "policy overlap supports 1 to %d rounds, not %u",
			       OVERLAP_ROUNDS, problem->count);
	if (!problem->planes || problem->planes > OVERLAP_PLANES)
		return lm_fail(ctx, EINVAL, "policy overlap supports 1 to %d planes, not %u",
			       OVERLAP_PLANES, problem->planes);
	if (!problem->costs.mbps)
		return lm_fail(ctx, EINVAL, "the bandwidth of ports was not set");
	return 0;
}

static int check(struct morph_ctx *ctx, const struct overlap_problem *problem)
{
	unsigned __int128 longest = 0;
	int ret = check_size(ctx, problem);

	for (uint32_t at = 0; !ret && at < problem->count; at++) {
		const struct overlap_round *round = &problem->rounds[at];

		if (!round->bytes)
			return lm_fail(ctx, EINVAL, "round %u has no bytes; omit it", at);
		if (round->configuration == OVERLAP_NONE)
			return lm_fail(ctx, EINVAL, "round %u has no configuration", at);
		longest += (unsigned __int128)costs_bytes_ps(&problem->costs, round->bytes) +
			   problem->costs.round_ps + problem->costs.change_ps;
	}
	if (!ret && longest > LONGEST)
		return lm_fail(ctx, EOVERFLOW,
			       "rounds take at most 2^62 picoseconds; these may take more");
	return ret;
}

/* A single window gets more effort than each of many. */
static struct overlap_options filled(const struct overlap_options *options, uint32_t rounds)
{
	struct overlap_options mine = options ? *options : (struct overlap_options){ 0 };

	if (!mine.width)
		mine.width = 32;
	if (!mine.proofs)
		mine.proofs = 1500;
	if (!mine.window)
		mine.window = 24;
	mine.width = mine.width > WIDTH ? WIDTH : mine.width;
	mine.window = mine.window > WINDOW ? WINDOW : mine.window;
	if (!mine.programs)
		mine.programs = rounds > mine.window ? 600 : 2500;
	return mine;
}

static int make_room(struct overlap_work *work, const struct overlap_problem *problem,
		     const struct overlap_options *options)
{
	uint32_t window = problem->count < options->window ? problem->count : options->window;
	uint32_t turns = window * problem->planes;

	if (problem->count > work->rounds_room) {
		free(work->ends);
		free(work->needed);
		free(work->sorted);
		work->rounds_room = 0;
		work->ends = calloc(problem->count, sizeof(*work->ends));
		work->needed = calloc(problem->count, sizeof(*work->needed));
		work->sorted = calloc(problem->count, sizeof(*work->sorted));
		if (!work->ends || !work->needed || !work->sorted)
			return lm_no_memory(work->ctx, "overlap rounds");
		work->rounds_room = problem->count;
	}
	return lm_overlap_program_room(&work->program, work->ctx, turns, 2 * turns);
}

/* -------------------------------------------------------------------- settling */

/* Planes, and final rounds. */
struct settled {
	uint64_t end; /* of the last round */
	uint32_t held[OVERLAP_PLANES];
	uint64_t free[OVERLAP_PLANES]; /* end of its last send */
};

static void open_window(struct overlap_window *window, const struct overlap_problem *problem,
			const struct settled *settled, uint32_t from, uint32_t count)
{
	window->count = count;
	window->planes = problem->planes;
	window->latency = (double)problem->costs.round_ps;
	window->change = (double)problem->costs.change_ps;
	window->moment = window->change + window->latency;
	for (uint32_t at = 0; at < count; at++) {
		const struct overlap_round *round = &problem->rounds[from + at];

		window->sending[at] = (double)round->bytes * 8e6 / (double)problem->costs.mbps;
		window->configurations[at] = round->configuration;
		window->moment += window->sending[at];
	}
	window->moment *= ROUNDING;
	for (uint32_t plane = 0; plane < problem->planes; plane++) {
		uint64_t ready = settled->free[plane] + problem->costs.change_ps;

		window->held[plane] = settled->held[plane];
		window->ready[plane] = ready > settled->end ? (double)(ready - settled->end) : 0;
	}
}

uint64_t lm_overlap_fill(const struct costs *costs, uint64_t bytes, uint32_t planes,
			 const uint64_t *from, const uint64_t *early)
{
	uint64_t low = 0, high = 0;

	for (uint32_t at = 0; at < planes; at++) {
		uint64_t its =
			from[at] + early[at] + costs->round_ps + costs_bytes_ps(costs, bytes);

		high = !at || its < high ? its : high;
	}
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		unsigned __int128 sum = 0;

		for (uint32_t at = 0; at < planes; at++) {
			uint64_t begin = from[at] + early[at] + costs->round_ps;

			if (middle > begin)
				sum += bytes_within(costs, middle - begin);
		}
		if (sum < bytes)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* A round over the chosen planes: each carries as much as it can until the end. */
static void settle_round(struct settled *settled, const struct overlap_problem *problem,
			 uint32_t round, const bool *used, const uint64_t *early,
			 struct overlap_share *shares)
{
	const struct costs *costs = &problem->costs;
	uint32_t configuration = problem->rounds[round].configuration, count = 0;
	uint64_t from[OVERLAP_PLANES], its_early[OVERLAP_PLANES];
	uint64_t left = problem->rounds[round].bytes, end, last = 0;
	uint8_t planes[OVERLAP_PLANES];

	memset(shares, 0, problem->planes * sizeof(*shares));
	for (uint32_t plane = 0; plane < problem->planes; plane++) {
		uint64_t ready = settled->free[plane];

		if (!used[plane])
			continue;
		if (settled->held[plane] != configuration)
			ready += costs->change_ps;
		from[count] = ready > settled->end ? ready : settled->end;
		its_early[count] = early[plane];
		planes[count++] = (uint8_t)plane;
	}
	end = lm_overlap_fill(costs, left, count, from, its_early);
	for (uint32_t at = 0; at < count; at++) {
		struct overlap_share *share = &shares[planes[at]];
		uint64_t begin = from[at] + its_early[at] + costs->round_ps;
		uint64_t bytes = end > begin ? bytes_within(costs, end - begin) : 0;

		bytes = bytes < left ? bytes : left;
		if (!bytes)
			continue;
		left -= bytes;
		share->used = true;
		share->bytes = bytes;
		share->from = from[at];
		share->until = from[at] + costs->round_ps + costs_bytes_ps(costs, bytes);
		if (settled->held[planes[at]] != configuration) {
			share->changed = true;
			share->change_from = settled->free[planes[at]];
			share->change_until = share->change_from + costs->change_ps;
		}
		settled->held[planes[at]] = configuration;
		settled->free[planes[at]] = share->until;
		last = share->until > last ? share->until : last;
	}
	settled->end = last;
}

static void settle(struct settled *settled, const struct overlap_work *work,
		   const struct overlap_problem *problem, uint32_t from, uint32_t count,
		   struct overlap_share *shares)
{
	const struct overlap_paths *paths = &work->paths;

	for (uint32_t round = 0; round < count; round++) {
		uint64_t early[OVERLAP_PLANES] = { 0 };

		for (uint32_t plane = 0; plane < problem->planes; plane++) {
			uint32_t out = paths->out[round][plane];

			if (paths->used[round][plane] && out != NO_TURN)
				early[plane] = (uint64_t)llround(paths->turns[out].early);
		}
		settle_round(settled, problem, from + round, paths->used[round], early,
			     &shares[(size_t)(from + round) * problem->planes]);
	}
}

int lm_overlap_solve(struct overlap_work *work, const struct overlap_problem *problem,
		     const struct overlap_options *options, struct overlap_share *shares,
		     struct overlap_result *result)
{
	struct overlap_options effort = filled(options, problem->count);
	struct settled settled = { 0 };
	double least = 0; /* proven time of all rounds */
	int ret = check(work->ctx, problem);

	if (!ret)
		ret = make_room(work, problem, &effort);
	if (ret)
		return ret;
	for (uint32_t plane = 0; plane < problem->planes; plane++)
		settled.held[plane] = problem->resident ? problem->resident[plane] : OVERLAP_NONE;
	work->beam.width = effort.width;
	for (uint32_t from = 0, count; from < problem->count; from += count) {
		struct overlap_plan plan;

		count = problem->count - from;
		count = count > effort.window ? effort.window : count;
		work->programs_left = effort.programs;
		work->proofs_left = count == problem->count ? effort.proofs : 0;
		open_window(&work->window, problem, &settled, from, count);
		if (lm_overlap_search(work, &plan))
			least = plan.finish - work->window.moment;
		if (from + count < problem->count)
			count = (count + 1) / 2;
		settle(&settled, work, problem, from, count, shares);
	}
	memset(result, 0, sizeof(*result));
	result->finish_ps = settled.end;
	for (size_t at = 0; at < (size_t)problem->count * problem->planes; at++)
		result->changes += shares[at].changed;
	lm_overlap_bound(work, problem, result);
	if (least > (double)result->bound_ps) {
		result->bound = OVERLAP_OPTIMUM;
		result->bound_ps = (uint64_t)least;
	}
	return 0;
}

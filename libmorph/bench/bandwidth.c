// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The time to find the fairest bandwidths of six groups of 16 accelerators, by filling and by
 * integer programs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../internal/planner.h"
#include "bench.h"
#include "exact.h"
#include "groups.h"

/* A kind of instances. */
struct setting {
	const char *name;
	bool rings; /* rings, or any shape */
	uint32_t wavelengths, count;
	uint32_t asked; /* the first ones, which integer programs solve too */
};

struct bandwidth_rows {
	struct samples ours;
	struct samples asked, its; /* of instances that integer programs solved */
	uint32_t undecided;
};

static int ascending(const void *one, const void *other)
{
	uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;

	return (a > b) - (a < b);
}

/* Solve the problem in @groups. Its bandwidths are in ascending order. Returns the verdict. */
static uint32_t share(struct morph_ctx *ctx, const struct groups *groups,
		      struct bandwidth_rows *rows, uint32_t *sorted)
{
	MORPH_OPTS(morph_bandwidth_result, result);
	struct morph_bandwidth *bw = groups_problem(ctx, groups);
	double begin;

	if (!bw || morph_bandwidth_solve(bw, NULL, NULL))
		wrong(morph_error_text(ctx));
	begin = now_us();
	if (!bw || morph_bandwidth_solve(bw, NULL, &result))
		wrong(morph_error_text(ctx));
	sample(&rows->ours, now_us() - begin);
	for (uint32_t at = 0; bw && at < groups->groups_count; at++)
		sorted[at] = morph_bandwidth_of_group(bw, at);
	qsort(sorted, groups->groups_count, sizeof(*sorted), ascending);
	morph_bandwidth_free(bw);
	if (result.verdict == MORPH_FEASIBLE && result.proof != MORPH_BANDWIDTH_LEXIMIN)
		return MORPH_UNDECIDED;
	return result.verdict;
}

static void ask(const struct groups *groups, uint32_t verdict, const uint32_t *mine,
		struct bandwidth_rows *rows)
{
	uint32_t best[GROUPS_COUNT] = { 0 };
	double begin = now_us();
	bool exact = exact_bandwidths(groups, best);

	sample(&rows->asked, rows->ours.values[rows->ours.count - 1]);
	sample(&rows->its, now_us() - begin);
	if ((verdict == MORPH_FEASIBLE) != exact ||
	    (exact && memcmp(mine, best, sizeof(best)) != 0))
		wrong("integer programs disagree about bandwidths");
}

static void measure(struct morph_ctx *ctx, const struct setting *setting)
{
	static struct bandwidth_rows rows;
	static struct groups groups;
	char name[64];

	memset(&rows, 0, sizeof(rows));
	for (uint64_t seed = 1; seed <= setting->count; seed++) {
		uint32_t mine[GROUPS_COUNT] = { 0 }, verdict;

		if (setting->rings)
			groups_rings(&groups, seed, 4, 4, 6, setting->wavelengths, 6, 4);
		else
			groups_irregular(&groups, seed, 16, 24, 6, 4, setting->wavelengths);
		verdict = share(ctx, &groups, &rows, mine);
		rows.undecided += verdict == MORPH_UNDECIDED;
		if (seed <= setting->asked && verdict != MORPH_UNDECIDED)
			ask(&groups, verdict, mine, &rows);
	}
	report(setting->name, &rows.ours, NO_BAR, 0);
	snprintf(name, sizeof(name), "  the first %u by integer programs (CBC)", rows.its.count);
	report_oracle(name, &rows.its, &rows.asked);
	report_count("  undecided whether they are the fairest", rows.undecided, 0);
}

/* With 16 wavelengths an integer program takes seconds. */
void bench_bandwidth(struct morph_ctx *ctx)
{
	static const struct setting settings[] = {
		{ "6 rings of 16 accelerators, whole fibres", true, 1, 200, 200 },
		{ "6 irregular groups, whole fibres", false, 1, 200, 200 },
		{ "6 rings, 2 wavelengths", true, 2, 10, 10 },
		{ "6 irregular groups, 4 wavelengths", false, 4, 50, 50 },
		{ "6 rings, 16 wavelengths", true, 16, 200, 2 },
		{ "6 irregular groups, 16 wavelengths", false, 16, 200, 20 },
	};

	for (size_t at = 0; at < sizeof(settings) / sizeof(settings[0]); at++)
		measure(ctx, &settings[at]);
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * 32 accelerators, a torus of 2x4x4, into racks without a box for them.
 */
#include <stdio.h>
#include <string.h>

#include "../plan/stitch.h"
#include "bench.h"
#include "racks.h"

/* A state, and what was found. */
struct state {
	uint32_t bands;
	struct net nets[BANDS];
	uint64_t free;
	enum stitch_verdict verdict;
	double took_us;
};

/* How much room a link has for others, by more fibres or by bands that a circuit stays in. */
struct setting {
	const char *name;
	uint32_t links, bands;
	enum figure figure;
	double bar;
};

struct tally {
	uint32_t undecided;
	struct samples all, refused;
};

static struct stitch stitch;
static struct pattern pattern;

static void find(struct state *state, const struct setting *setting, struct racks_walk *walk)
{
	uint32_t rack = racks_walk_next(walk);
	double begin = now_us();

	state->bands = setting->bands;
	state->free = racks_free(&walk->racks, rack);
	if (setting->bands > 1)
		racks_nets(&walk->racks, rack, setting->bands, state->nets);
	else
		racks_net(&walk->racks, rack, setting->links, state->nets);
	state->verdict = lm_stitch_bands(&stitch, state->nets, state->bands, &pattern, state->free,
					 UINT64_MAX);
	state->took_us = now_us() - begin;
}

static void measure(const struct setting *setting)
{
	static struct racks_walk walk;
	static struct state state;
	static struct tally tally;
	char name[96];

	memset(&tally, 0, sizeof(tally));
	racks_walk_begin(&walk, 1);
	while (tally.all.count < STATES) {
		find(&state, setting, &walk);
		sample(&tally.all, state.took_us);
		if (state.verdict == STITCH_UNDECIDED) {
			tally.undecided++;
			wrong("a rack was left undecided");
		}
		if (state.verdict == STITCH_INFEASIBLE)
			sample(&tally.refused, state.took_us);
	}
	report(setting->name, &tally.all, setting->figure, setting->bar);
	report_count("  undecided", tally.undecided, 0);
	if (tally.refused.count) {
		snprintf(name, sizeof(name), "  of these refused, with a cut for each: %u",
			 tally.refused.count);
		report(name, &tally.refused, NO_BAR, 0);
	}
}

void bench_stitch(void)
{
	static const struct setting settings[] = {
		{ "32 accelerators stitched, 4 fibres", 1, 1, P99, 1000 },
		{ "32 accelerators stitched, 8 fibres", 2, 1, MEAN, 20 },
		{ "32 accelerators stitched, 4 fibres, 2 wavelengths", 1, 2, NO_BAR, 0 },
		{ "32 accelerators stitched, 4 fibres, 4 wavelengths", 1, 4, NO_BAR, 0 },
	};

	lm_pattern_torus(&pattern, 1, 2, 4, 1);
	lm_pattern_prepare(&pattern);
	for (size_t at = 0; at < sizeof(settings) / sizeof(settings[0]); at++)
		measure(&settings[at]);
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Stitching of 32 accelerators, a torus of 2x4x4, into racks without a free box. Plans and refusals
 * are checked. Integer programs solve some of the states too.
 */
#include <stdio.h>
#include <string.h>

#include "../place/stitch.h"
#include "bench.h"
#include "exact_place.h"
#include "proof.h"
#include "published_place.h"
#include "racks.h"

#define REFUSALS_CHECKED 4 /* one in this number is checked */
#define REFUSAL_STEPS (1ULL << 28)
#define ASKED 12 /* the first states, which an integer program solves too */
#define ASKED_REFUSED 6 /* including the first refused ones */
#define ASKED_SECONDS 20 /* limit for each */
#define WAYS_SHORTEST 50 /* examined by the published program, as in its authors' code */
#define WAYS_KEPT 5 /* kept by it */
#define NODES 2000 /* limit of its nodes */

/* A state and its result. */
struct state {
	uint32_t bands;
	struct net nets[BANDS];
	uint64_t free;
	enum stitch_verdict verdict;
	double took_us;
};

/* The capacity of links, by more fibres or by bands. */
struct setting {
	const char *name;
	uint32_t links, bands;
	enum figure figure;
	double bar;
	uint32_t asked, asked_refused;
};

/* Results of integer programs. */
struct asked {
	uint32_t states, refused, gave_up;
	struct samples ours, cold;
	struct samples published; /* with the published objective */
	uint32_t unproven; /* of these */
	struct samples planned, started; /* of states with a plan */
};

struct tally {
	uint32_t undecided, checked, unchecked;
	struct samples all, refused;
	struct asked asked;
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

/* --------------------------------------------------------------------- proofs */

static void describe(const struct state *state, struct proof_rack *rack)
{
	*rack = (struct proof_rack){ .sites = RACK_SITES,
				     .bands = state->bands,
				     .slots = pattern.slots,
				     .free = state->free };
	for (uint32_t band = 0; band < state->bands; band++)
		for (uint32_t from = 0; from < RACK_SITES; from++)
			memcpy(rack->room[band][from], state->nets[band].room[from], RACK_SITES);
	for (uint32_t from = 0; from < pattern.slots; from++)
		memcpy(rack->units[from], pattern.units[from], pattern.slots);
}

static void check_plan(const struct proof_rack *rack)
{
	static struct proof_way ways[PATTERN_DEMANDS];

	for (uint32_t at = 0; at < stitch.routes.count; at++) {
		const struct route *route = &stitch.routes.list[at];

		ways[at] = (struct proof_way){
			.units = route->units,
			.band = route->band,
			.hops = route->hops,
			.sites = route->sites,
		};
	}
	if (!proof_of_plan(rack, stitch.embedding.sites, ways, stitch.routes.count))
		wrong("a plan for a rack is not valid");
}

static void check_refusal(const struct proof_rack *rack, struct tally *tally)
{
	static uint64_t sets[CUTS];
	const struct proof_refusal refusal = {
		.sets_count = stitch.cuts.count,
		.sets = sets,
		.searched = stitch.exhausted_count,
		.steps = REFUSAL_STEPS,
	};

	for (uint32_t at = 0; at < stitch.cuts.count; at++)
		sets[at] = stitch.cuts.list[at].set;
	switch (proof_of_refusal(rack, &refusal)) {
	case PROOF_HOLDS:
		tally->checked++;
		break;
	case PROOF_FAILS:
		wrong("the planner refused a rack without a proof");
		break;
	default:
		tally->unchecked++;
	}
}

static void check(const struct state *state, struct tally *tally)
{
	struct proof_rack rack;

	describe(state, &rack);
	if (state->verdict == STITCH_FEASIBLE)
		check_plan(&rack);
	else if (state->verdict == STITCH_INFEASIBLE &&
		 tally->refused.count % REFUSALS_CHECKED == 1)
		check_refusal(&rack, tally);
}

/* ------------------------------------------------------------ integer programs */

/* Solve from scratch or from our plan. */
static void ask_from(const struct state *state, bool start, struct samples *samples,
		     struct asked *asked)
{
	const struct exact_place place = {
		.net = state->nets,
		.pattern = &pattern,
		.free = state->free,
		.seats = start ? stitch.embedding.sites : NULL,
		.routes = start ? &stitch.routes : NULL,
		.seconds = ASKED_SECONDS,
	};
	enum exact_answer answer;
	double took = 0;

	answer = exact_place(&place, &took);
	sample(samples, took);
	if (answer == EXACT_GAVE_UP)
		asked->gave_up++;
	else if ((answer == EXACT_YES) != (state->verdict == STITCH_FEASIBLE))
		wrong("an integer program disagrees about a rack");
}

/*
 * The published program has few paths, so it can miss our plan, but it must not find one that we
 * refuse.
 */
static void ask_published(const struct state *state, const struct setting *setting,
			  struct asked *asked)
{
	static const struct racks empty;
	static struct published_plan plan;
	static struct net links;
	const struct published_place place = { .links = &links,
					       .left = state->nets,
					       .pattern = &pattern,
					       .free = state->free,
					       .ways_shortest = WAYS_SHORTEST,
					       .ways_kept = WAYS_KEPT,
					       .nodes = NODES };
	double begin;

	racks_net(&empty, 0, setting->links, &links);
	begin = now_us();
	published_place(&place, &plan);
	sample(&asked->published, now_us() - begin);
	asked->unproven += !plan.proven;
	if (plan.found && plan.load <= setting->links && state->verdict == STITCH_INFEASIBLE)
		wrong("the published program disagrees about a rack");
}

static void ask(const struct state *state, const struct setting *setting, struct asked *asked)
{
	bool refused = state->verdict == STITCH_INFEASIBLE;

	if (asked->states >= setting->asked &&
	    (!refused || asked->refused >= setting->asked_refused))
		return;
	asked->states++;
	asked->refused += refused;
	sample(&asked->ours, state->took_us);
	ask_from(state, false, &asked->cold, asked);
	ask_published(state, setting, asked);
	if (!refused) {
		sample(&asked->planned, state->took_us);
		ask_from(state, true, &asked->started, asked);
	}
}

static void report_asked(struct asked *asked)
{
	char name[96];

	snprintf(name, sizeof(name), "  the first %u of these, %u of them refused", asked->states,
		 asked->refused);
	report(name, &asked->ours, NO_BAR, 0);
	report_oracle("  the same by an integer program (CBC)", &asked->cold, &asked->ours);
	report_oracle("  those with a plan, beginning from it (CBC)", &asked->started,
		      &asked->planned);
	remark("%u times CBC has no result within %d s", asked->gave_up, ASKED_SECONDS);
	report_oracle("  the same by the published program (CBC)", &asked->published, &asked->ours);
	remark("%u times it has no result within %d nodes", asked->unproven, NODES);
}

/* ------------------------------------------------------------------------ rows */

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
			wrong("the planner left a rack undecided");
		}
		if (state.verdict == STITCH_INFEASIBLE)
			sample(&tally.refused, state.took_us);
		check(&state, &tally);
		ask(&state, setting, &tally.asked);
	}
	report(setting->name, &tally.all, setting->figure, setting->bar);
	report_count("  undecided", tally.undecided, 0);
	if (tally.refused.count) {
		snprintf(name, sizeof(name), "  of these refused, with a proof: %u",
			 tally.refused.count);
		report(name, &tally.refused, NO_BAR, 0);
		remark("one in %d proofs checked: %u hold, %u take too long", REFUSALS_CHECKED,
		       tally.checked, tally.unchecked);
	}
	if (tally.asked.states)
		report_asked(&tally.asked);
}

void bench_stitch(void)
{
	static const struct setting settings[] = {
		{ "32 accelerators stitched, 4 fibres", 1, 1, P99, 1000, ASKED, ASKED_REFUSED },
		{ "32 accelerators stitched, 8 fibres", 2, 1, MEAN, 20, ASKED / 2, 0 },
		{ "32 accelerators stitched, 4 fibres, 2 wavelengths", 1, 2, NO_BAR, 0, 0, 0 },
		{ "32 accelerators stitched, 4 fibres, 4 wavelengths", 1, 4, NO_BAR, 0, 0, 0 },
	};

	lm_pattern_torus(&pattern, 1, 2, 4, 1);
	lm_pattern_prepare(&pattern);
	for (size_t at = 0; at < sizeof(settings) / sizeof(settings[0]); at++)
		measure(&settings[at]);
}

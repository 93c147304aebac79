// SPDX-License-Identifier: LGPL-2.1-or-later
/* Losses by a failure: healthy accelerators, and bandwidth. */
#include <stdio.h>
#include <string.h>

#include "../internal/planner.h"
#include "electrical.h"
#include "figures.h"
#include "lets.h"
#include "random.h"

#define CLUSTERS 16 /* of 64 racks each */
#define TRACED_CLUSTERS 8
#define RACKS_LEFT 16
#define MOST_FAILURES 4
#define QUICK_RACKS (RACKS / 4) /* of each cluster */

/* --------------------------------------------------------- overprovisioning */

enum policy {
	MIGRATION, /* the whole slice is placed again */
	EVICTION, /* the whole server is lost */
	IDEAL, /* any spare reaches any place */
	OURS, /* a spare, if light reaches it; else the slice is placed again */
	POLICIES,
};

/* Healthy accelerators lost in all racks. */
struct cost {
	double sums[POLICIES];
	uint32_t failed, unreached;
};

/* Losses of each policy by failures in one rack. */
static void add_cost(struct cost *cost, const struct racks *racks, uint32_t rack, uint64_t failed,
		     const struct morph_coverage_result *result)
{
	double slices = 0, largest = 0;

	for (uint32_t at = 0; at < racks->slices_count; at++) {
		const struct racks_slice *slice = &racks->slices[at];
		uint32_t size = 4 * net_count(slice->sites), hit = 0;

		if (slice->gone || slice->rack != rack)
			continue;
		for (uint32_t sites = slice->sites; sites; sites &= sites - 1)
			hit += (uint32_t)__builtin_popcountll(failed >> 4 * net_first(sites) & 15);
		if (!hit)
			continue;
		slices += size - hit;
		largest = size > largest ? size : largest;
	}
	cost->sums[MIGRATION] += slices;
	for (uint32_t server = 0; server < RACK_SITES; server++) {
		uint32_t hit = (uint32_t)__builtin_popcountll(failed >> 4 * server & 15);

		cost->sums[EVICTION] += hit ? 4 - hit : 0;
	}
	/* A failure without a reachable spare moves a slice, and the largest one, to be fair. */
	cost->sums[OURS] += (double)(result->failures - result->replaced) * (largest - 1);
	cost->unreached += (uint32_t)(result->failures - result->replaced);
	cost->failed += (uint32_t)result->failures;
}

static void bench_rack(const struct racks *racks, uint32_t rack, uint64_t *random,
		       struct cost costs[MOST_FAILURES])
{
	struct morph_coverage *coverage = new_rack("rack64");
	uint32_t taken = racks->taken[rack], slice[TORI_CHIPS];

	let_rack(coverage, racks, rack, slice);
	for (uint32_t count = 1; taken && count <= MOST_FAILURES; count++) {
		MORPH_OPTS(morph_coverage_result, result);
		uint32_t chips[MOST_FAILURES], chosen = 0;
		uint64_t failed = 0;

		while (chosen < count) {
			uint32_t chip = random_below(random, TORI_CHIPS);

			if (failed >> chip & 1 || !(taken >> chip / 4 & 1))
				continue;
			failed |= 1ULL << chip;
			chips[chosen++] = chip;
		}
		check(morph_coverage_try(coverage, chips, count, &result));
		add_cost(&costs[count - 1], racks, rack, failed, &result);
	}
	morph_coverage_free(coverage);
}

/* Per failed accelerator, by cluster, and the number without a spare. */
struct costs {
	double values[POLICIES][CLUSTERS], unreached[CLUSTERS];
	uint32_t clusters;
	enum trace_set set;
};

#define COST_APPROXIMATION                                                                       \
	"published as ratios to Morphlux, whose own figure by the rule given would be 0; taken " \
	"per failed accelerator"

static uint32_t racks_of_cluster(void)
{
	return bench.quick ? QUICK_RACKS : RACKS;
}

static void report_cost(const struct costs *costs, enum policy policy, const char *name)
{
	char condition[384];

	snprintf(condition, sizeof(condition),
		 "%u racks%s%s, 1 to 4 failures each, 8 spares in a rack",
		 costs->clusters * racks_of_cluster(),
		 costs->set == TRACE_SETS ? " that are full, slices of 4 to 32" : ": ",
		 costs->set == TRACE_SETS ? "" : trace_words[costs->set]);
	report(
		&(const struct row){
			.condition = condition,
			.ours = averaged(costs->values[policy], costs->clusters),
			.baseline = averaged(costs->values[IDEAL], costs->clusters).mean,
			.unit = "accelerators given up, per failed one",
			.versus = "ideal switch",
			.approximation = costs->set == TRACE_SETS ?
						 COST_APPROXIMATION "; slices of equal total size" :
						 COST_APPROXIMATION "; " TRACE_APPROXIMATION,
		},
		"%s%s", prefix_of(costs->set), name);
}

static void add_cluster(struct costs *costs, uint32_t cluster, uint64_t *random)
{
	struct cost sums[MOST_FAILURES] = { 0 };
	static struct racks racks;
	uint32_t unreached = 0;
	double failed = 0;

	let_racks(&racks, costs->set, cluster);
	for (uint32_t rack = 0; rack < racks_of_cluster(); rack++)
		bench_rack(&racks, rack, random, sums);
	for (uint32_t count = 0; count < MOST_FAILURES; count++) {
		for (uint32_t policy = 0; policy < POLICIES; policy++)
			costs->values[policy][cluster] += sums[count].sums[policy];
		failed += sums[count].failed;
		unreached += sums[count].unreached;
	}
	for (uint32_t policy = 0; policy < POLICIES; policy++)
		costs->values[policy][cluster] /= failed;
	costs->unreached[cluster] = unreached / failed;
}

void bench_overprovisioning(enum trace_set set)
{
	struct costs costs = { .clusters = set == TRACE_SETS ? CLUSTERS : TRACED_CLUSTERS,
			       .set = set };
	uint64_t random = mix(bench.seed);

	if (bench.quick)
		costs.clusters /= 4;
	for (uint32_t cluster = 0; cluster < costs.clusters; cluster++)
		add_cluster(&costs, cluster, &random);
	bench.figure = figure_of(set, "overprovisioning", "overprovisioning-trace");
	report_cost(&costs, OURS, "a spare that light reaches");
	report_cost(&costs, MIGRATION, "job migration");
	report_cost(&costs, EVICTION, "server eviction");
	report(
		&(const struct row){
			.condition = "the same",
			.ours = averaged(costs.unreached, costs.clusters),
			.baseline = NAN,
			.unit = "share of failures",
		},
		"%sfailures without a spare that light reaches", prefix_of(set));
}

/* -------------------------------------------------------------- one failure */

/* Results after the failure of one accelerator: ours, and an electrical rack's. */
enum left {
	HIT, /* accelerators that stop, at most */
	REPLACED, /* links of the replaced one, as shares */
	SLOWEST, /* slowest link of each failure */
	ALL, /* mean of all links */
	LEFTS,
};

struct left_of {
	double ours, electrical;
};

/* Each accelerator of a rack's slices fails alone. */
static void fail_each(struct morph_coverage *coverage, const uint32_t slice[TORI_CHIPS],
		      struct left_of left[LEFTS])
{
	uint32_t count = 0;

	memset(left, 0, LEFTS * sizeof(*left));
	for (uint32_t chip = 0; chip < TORI_CHIPS; chip++) {
		uint32_t circuits = 2 * electrical_links(chip, slice), hit;
		struct electrical electrical;
		MORPH_OPTS(morph_coverage_result, result);

		if (!slice[chip])
			continue;
		electrical = electrical_after(chip, slice);
		check(morph_coverage_try(coverage, &chip, 1, &result));
		/* Only its own circuits move; if circuits of other slices do, these are hit too. */
		hit = result.replaced && result.moved == circuits && !result.rerouted &&
				      !result.dark ?
			      1 :
			      TORI_CHIPS;
		left[HIT].ours = fmax(left[HIT].ours, hit);
		left[REPLACED].ours += (double)result.moved / circuits;
		/* A circuit has all of its lanes or none. */
		left[SLOWEST].ours += result.bandwidth.mean >= 1;
		left[ALL].ours += result.bandwidth.mean;
		left[REPLACED].electrical += electrical.replaced;
		left[SLOWEST].electrical += electrical.slowest;
		left[ALL].electrical += electrical.all;
		count++;
	}
	left[HIT].electrical = TORI_CHIPS;
	for (enum left at = REPLACED; at < LEFTS; at++) {
		left[at].ours /= count;
		left[at].electrical /= count;
	}
}

#define LEFT_APPROXIMATION                                                                   \
	"LUMION's own model is not available; ours is a torus of fixed links, detours to a " \
	"spare share links evenly, and the spare has one cable for each fibre of ours"

/* By rack, each in its own cluster. One slice can fill the rack; then there is only one. */
struct lefts {
	double ours[LEFTS][RACKS_LEFT], electrical[LEFTS][RACKS_LEFT];
	uint32_t racks;
	enum trace_set set;
};

static void report_left(const struct lefts *lefts, enum left left, const char *name)
{
	static const char *const meanings[LEFTS] = {
		"each accelerator failing alone",
		"links of the failed accelerator, mean over all accelerators",
		"the minimum of all links after a failure, mean of all failures: the speed of a ring "
		"through the whole slice; a circuit of ours has all of its lanes or none",
		"all links of slices, mean of all failures",
	};
	bool whole = lefts->set == TRACE_SETS;
	char condition[512];

	if (whole)
		snprintf(condition, sizeof(condition), "rack64 filled by a 4x4x4 torus; %s",
			 meanings[left]);
	else
		snprintf(condition, sizeof(condition), "%u racks: %s; %s", lefts->racks,
			 trace_words[lefts->set], meanings[left]);
	report(
		&(const struct row){
			.condition = condition,
			.ours = whole ? exactly(lefts->ours[left][0]) :
					averaged(lefts->ours[left], lefts->racks),
			.baseline = whole ? lefts->electrical[left][0] :
					    averaged(lefts->electrical[left], lefts->racks).mean,
			.unit = left == HIT ? "accelerators" : "share of a link's bandwidth",
			.versus = left == HIT ? "the rack" : "electrical rack",
			.approximation = left == HIT ? (whole ? NULL : TRACE_APPROXIMATION) :
					 whole	     ? LEFT_APPROXIMATION :
						       LEFT_APPROXIMATION "; " TRACE_APPROXIMATION,
		},
		"%s%s", prefix_of(lefts->set), name);
}

static void add_left(struct lefts *lefts, uint32_t number)
{
	struct morph_coverage *coverage = new_rack("rack64");
	struct left_of left[LEFTS];
	uint32_t slice[TORI_CHIPS];
	static struct racks racks;

	if (lefts->set == TRACE_SETS) {
		check(tori_light(coverage, &whole_rack));
		for (uint32_t chip = 0; chip < TORI_CHIPS; chip++)
			slice[chip] = 1;
	} else {
		let_racks(&racks, lefts->set, number);
		let_rack(coverage, &racks, let_rack_of(&racks, number), slice);
	}
	fail_each(coverage, slice, left);
	morph_coverage_free(coverage);
	for (enum left at = 0; at < LEFTS; at++) {
		lefts->ours[at][number] = left[at].ours;
		lefts->electrical[at][number] = left[at].electrical;
	}
}

/* Accelerators that a failure takes from their tenants, and the bandwidth afterwards. */
void bench_one_failure(enum trace_set set)
{
	struct lefts lefts = { .racks = 1, .set = set };

	if (set != TRACE_SETS)
		lefts.racks = bench.quick ? RACKS_LEFT / 4 : RACKS_LEFT;
	for (uint32_t number = 0; number < lefts.racks; number++)
		add_left(&lefts, number);
	bench.figure = figure_of(set, "failure-radius", "failure-radius-trace");
	report_left(&lefts, HIT, "accelerators hit by one failure, at most");
	bench.figure = figure_of(set, "bandwidth-after-failure", "bandwidth-after-failure-trace");
	report_left(&lefts, REPLACED, "the replaced accelerator's links");
	report_left(&lefts, SLOWEST, "the slowest link");
	report_left(&lefts, ALL, "all links");
}

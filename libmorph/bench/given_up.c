// SPDX-License-Identifier: LGPL-2.1-or-later
/* What is given up for a failure: accelerators that are sound, and bandwidth. */
#include <string.h>

#include "electrical.h"
#include "figures.h"
#include "racks.h"
#include "random.h"

#define CLUSTERS 16 /* of 64 racks each */
#define MOST_FAILURES 4

/* --------------------------------------------------------- overprovisioning */

enum policy {
	MIGRATION, /* the slice is placed anew, whole */
	EVICTION, /* the server is given up */
	IDEAL, /* any spare reaches anything */
	OURS, /* a spare, if its light gets there; else the slice is placed anew */
	POLICIES,
};

/* Accelerators consumed beyond those that failed, of all racks. */
struct cost {
	double sums[POLICIES];
	uint32_t failed, unreached;
};

static struct tori_box box_of(uint16_t sites)
{
	uint32_t low[3] = { UINT32_MAX, UINT32_MAX, UINT32_MAX }, high[3] = { 0 };
	struct tori_box box;

	for (uint32_t left = sites; left; left &= left - 1) {
		uint32_t place[3];

		tori_place(4 * net_first(left), place);
		for (int axis = 0; axis < 3; axis++) {
			uint32_t end = place[axis] + (axis < 2 ? 2 : 1);

			low[axis] = place[axis] < low[axis] ? place[axis] : low[axis];
			high[axis] = end > high[axis] ? end : high[axis];
		}
	}
	for (int axis = 0; axis < 3; axis++) {
		box.at[axis] = low[axis];
		box.extent[axis] = high[axis] - low[axis];
	}
	return box;
}

/* What each policy gives up for failures in one rack. */
static void add_cost(struct cost *cost, const struct racks *racks, uint32_t rack, uint64_t failed,
		     const struct morph_coverage_result *result)
{
	double slices = 0, largest = 0;

	for (uint32_t at = 0; at < racks->slices_count; at++) {
		const struct racks_slice *slice = &racks->slices[at];
		uint32_t size = 4 * net_count(slice->sites), hit = 0;

		if (slice->rack != rack)
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
	/* Each that no spare reaches has its slice placed anew; the largest one, to be fair. */
	cost->sums[OURS] += (double)(result->failures - result->replaced) * (largest - 1);
	cost->unreached += (uint32_t)(result->failures - result->replaced);
	cost->failed += (uint32_t)result->failures;
}

static void bench_rack(const struct racks *racks, uint32_t rack, uint64_t *random,
		       struct cost costs[MOST_FAILURES])
{
	struct morph_coverage *coverage = new_rack("rack64");
	uint32_t taken = (uint16_t)~racks_free(racks, rack);

	for (uint32_t at = 0; at < racks->slices_count; at++) {
		struct tori_box box = box_of(racks->slices[at].sites);

		if (racks->slices[at].rack == rack)
			check(tori_light(coverage, &box));
	}
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

static void report_cost(double values[POLICIES][CLUSTERS], uint32_t clusters, enum policy policy,
			const char *name)
{
	report(
		&(const struct row){
			.condition =
				bench.quick ?
					"256 full racks, slices of 4 to 32, 1 to 4 failures each, 8 spares in a rack" :
					"1024 full racks, slices of 4 to 32, 1 to 4 failures each, 8 spares in a rack",
			.ours = averaged(values[policy], clusters),
			.baseline = averaged(values[IDEAL], clusters).mean,
			.unit = "accelerators given up, per failed one",
			.versus = "ideal switch",
			.approximation =
				"published as ratios to Morphlux, whose own figure by the rule given would be 0; "
				"taken per failed accelerator; slices of equal total size",
		},
		"%s", name);
}

void bench_overprovisioning(void)
{
	const uint32_t clusters = bench.quick ? 4 : CLUSTERS;
	static double values[POLICIES][CLUSTERS];
	static struct racks racks;
	uint64_t random = mix(bench.seed);
	uint32_t unreached = 0, failed = 0;

	for (uint32_t cluster = 0; cluster < clusters; cluster++) {
		struct cost costs[MOST_FAILURES] = { 0 };
		double sum = 0;

		racks_fill(&racks, mix(bench.seed) + cluster, 0);
		for (uint32_t rack = 0; rack < RACKS; rack++)
			bench_rack(&racks, rack, &random, costs);
		for (uint32_t count = 0; count < MOST_FAILURES; count++) {
			for (uint32_t policy = 0; policy < POLICIES; policy++)
				values[policy][cluster] += costs[count].sums[policy];
			sum += costs[count].failed;
			unreached += costs[count].unreached;
		}
		for (uint32_t policy = 0; policy < POLICIES; policy++)
			values[policy][cluster] /= sum;
		failed += (uint32_t)sum;
	}
	bench.figure = "overprovisioning";
	report_cost(values, clusters, OURS, "a spare that light gets to");
	report_cost(values, clusters, MIGRATION, "job migration");
	report_cost(values, clusters, EVICTION, "server eviction");
	report(
		&(const struct row){
			.condition = "the same",
			.ours = exactly((double)unreached / failed),
			.baseline = NAN,
			.unit = "share of failures",
		},
		"failures without a spare that light gets to");
}

/* Accelerators that one failure takes from their tenants. */
void bench_blast_radius(void)
{
	struct morph_coverage *coverage = new_rack("rack64");
	uint32_t hit = 0, most = 0;

	check(tori_light(coverage, &whole_rack));
	for (uint32_t chip = 0; chip < TORI_CHIPS; chip++) {
		MORPH_OPTS(morph_coverage_result, result);

		check(morph_coverage_try(coverage, &chip, 1, &result));
		/* Its own twelve circuits move; of those of others none, or it is hit too. */
		hit = result.replaced && result.moved == 12 && !result.rerouted && !result.dark ?
			      1 :
			      TORI_CHIPS;
		most = hit > most ? hit : most;
	}
	morph_coverage_free(coverage);
	bench.figure = "failure-radius";
	report(
		&(const struct row){
			.condition =
				"rack64 filled by a 4x4x4 torus, each accelerator failing alone",
			.ours = exactly(most),
			.baseline = 64,
			.unit = "accelerators",
			.versus = "the rack",
		},
		"accelerators hit by one failure, at most");
}

/* ---------------------------------------------------------------- bandwidth */

void bench_bandwidth(void)
{
	struct morph_coverage *coverage = new_rack("rack64");
	double slowest = 0, replaced = 0, ours = 0;
	static const char model[] =
		"LUMION's own model is not at hand: a torus of fixed links, detours to a spare share "
		"links evenly, and the spare has as many cables as ours has fibres";

	check(tori_light(coverage, &whole_rack));
	for (uint32_t chip = 0; chip < TORI_CHIPS; chip++) {
		struct electrical left = electrical_after(chip);
		MORPH_OPTS(morph_coverage_result, result);

		check(morph_coverage_try(coverage, &chip, 1, &result));
		ours += result.bandwidth.mean / TORI_CHIPS;
		slowest += left.slowest / TORI_CHIPS;
		replaced += left.replaced / TORI_CHIPS;
	}
	morph_coverage_free(coverage);
	bench.figure = "bandwidth-after-failure";
	report(
		&(const struct row){
			.condition = "a 4x4x4 torus fills the rack, one failure, mean of all 64",
			.ours = exactly(ours),
			.baseline = replaced,
			.unit = "share of a link's bandwidth",
			.versus = "electrical rack",
			.approximation = model,
		},
		"the replaced accelerator's links");
	report(
		&(const struct row){
			.condition = "the same; what a ring through the whole slice goes by",
			.ours = exactly(ours),
			.baseline = slowest,
			.unit = "share of a link's bandwidth",
			.versus = "electrical rack",
			.approximation = model,
		},
		"the slowest link");
}

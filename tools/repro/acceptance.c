// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How many requests of 32 accelerators a cluster of 4096 serves of which 30 % are free: by where
 * slices may lie. Two denominators are told, for the published share has one that it does not
 * name: as many as all that is free would make, and as many as racks could serve each for itself.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "clusters.h"
#include "crossing.h"

#define CLUSTERS 40
#define FREE_PERMILLE 300
#define TRACE_BUILT 10
#define QUICKLY_BUILT 3
#define SERVERS (1U << CLUSTER_SLICE)

/* Who places. */
enum placer {
	ALIGNED,
	ANYWHERE,
	SEQUENCE,
	STITCHED,
	WAVELENGTHS,
	CROSSING,
	BOUND,
	PLACERS,
};

static const char *const placer_names[PLACERS] = {
	"aligned",
	"any place and orientation",
	"in sequence (SiPAC)",
	"stitched in a rack",
	"stitched in a rack, 2 wavelengths",
	"stitched across racks",
	"bound across racks",
};

/* Whole slices of a rack: two only where it is empty. */
static uint32_t in_rack(const struct racks *racks, uint32_t rack, enum placer placer)
{
	uint16_t free = racks_free(racks, rack);

	if (net_count(free) == RACK_SITES)
		return 2;
	switch (placer) {
	case ALIGNED:
		return cluster_aligned(free, CLUSTER_SLICE);
	case ANYWHERE:
		return cluster_anywhere(free, CLUSTER_SLICE);
	case WAVELENGTHS:
		return cluster_stitches_in(racks, rack, CLUSTER_SLICE, 2);
	default:
		return cluster_stitches(racks, rack, CLUSTER_SLICE);
	}
}

static uint32_t in_racks(const struct racks *racks, enum placer placer)
{
	uint32_t count = 0;

	for (uint32_t rack = 0; rack < RACKS; rack++)
		count += in_rack(racks, rack, placer);
	return count;
}

/* ----------------------------------------------------------------- sequence */

/*
 * SiPAC places in sequence: servers have numbers, rack after rack, and a slice takes the first run
 * of free ones. It may begin anywhere and go on in the next rack, which the original does not say.
 */
struct sequence {
	bool taken[RACK_SLICES];
	uint16_t first[RACK_SLICES], length[RACK_SLICES]; /* of slices; length 0: gone */
	uint32_t count;
};

static bool take_run(struct sequence *sequence, uint32_t servers)
{
	uint32_t run = 0;

	for (uint32_t at = 0; at < RACK_SLICES; at++) {
		run = sequence->taken[at] ? 0 : run + 1;
		if (run < servers)
			continue;
		sequence->first[sequence->count] = (uint16_t)(at + 1 - servers);
		sequence->length[sequence->count++] = (uint16_t)servers;
		memset(&sequence->taken[at + 1 - servers], true, servers);
		return true;
	}
	return false;
}

/* The slices of a cluster in the order in which they came, those that are gone among them. */
static uint32_t serve_in_sequence(const struct racks *racks)
{
	static struct sequence sequence;
	uint32_t served = 0;

	memset(&sequence, 0, sizeof(sequence));
	for (uint32_t at = 0; at < racks->slices_count; at++)
		if (!take_run(&sequence, net_count(racks->slices[at].sites)))
			repro_wrong("what was in the racks does not fit in sequence");
	for (uint32_t at = 0; at < racks->slices_count; at++)
		if (racks->slices[at].gone)
			memset(&sequence.taken[sequence.first[at]], false, sequence.length[at]);
	sequence.count = 0;
	while (take_run(&sequence, SERVERS))
		served++;
	return served;
}

/* ----------------------------------------------------------------- clusters */

typedef void make_cluster(const struct repro *repro, uint32_t number, struct racks *racks);

static void make_random(const struct repro *repro, uint32_t number, struct racks *racks)
{
	racks_fill(racks, repro_seed(repro, number), FREE_PERMILLE);
}

static void make_sorted(const struct repro *repro, uint32_t number, struct racks *racks)
{
	cluster_fill_sorted(racks, repro_seed(repro, number));
	racks_vacate(racks, FREE_PERMILLE);
}

static void make_traced(const struct repro *repro, uint32_t number, enum trace_set set,
			struct racks *racks)
{
	static struct replay replay;

	cluster_replay_aligned(repro, number, set, &replay, racks);
	while (racks_free_sites(racks) * 1000 < FREE_PERMILLE * RACK_SLICES)
		replay_end_one(&replay);
}

static void make_trace(const struct repro *repro, uint32_t number, struct racks *racks)
{
	make_traced(repro, number, TRACE_AS_IT_IS, racks);
}

static void make_wide_trace(const struct repro *repro, uint32_t number, struct racks *racks)
{
	make_traced(repro, number, TRACE_WIDE, racks);
}

/* --------------------------------------------------------------------- rows */

struct fill {
	const char *name, *words, *approximation;
	make_cluster *make;
	bool replayed; /* its slices are not in the order in which they came */
	uint32_t built; /* clusters in which slices are built across racks, which takes seconds each */
};

struct counted {
	struct samples served[PLACERS];
	uint32_t met; /* clusters in which as many were built as the bound */
	uint64_t digest;
};

static const struct crossing_effort quick = { .starts = 1,
					      .each = { .moves = 300000, .hot = 22, .cold = 8 } };
static const struct crossing_effort thorough = {
	.starts = 4,
	.each = { .moves = 3000000, .hot = 22, .cold = 10 }
};

static void count(const struct repro *repro, const struct fill *fill, uint32_t number,
		  struct counted *counted)
{
	static struct racks racks;
	static struct cross_found found;
	struct crossing_bound bound;
	uint32_t built;

	fill->make(repro, number, &racks);
	counted->digest = cluster_digest(counted->digest, &racks);
	for (enum placer placer = 0; placer < PLACERS; placer++) {
		if (placer == SEQUENCE && !fill->replayed)
			samples_add(&counted->served[placer], serve_in_sequence(&racks));
		else if (placer < CROSSING && placer != SEQUENCE)
			samples_add(&counted->served[placer], in_racks(&racks, placer));
	}
	crossing_bound_find(&racks, &bound);
	samples_add(&counted->served[BOUND], bound.slices);
	if (number >= (repro->quick ? QUICKLY_BUILT : fill->built))
		return;
	crossing_build(&racks, bound.slices, repro->quick ? &quick : &thorough,
		       repro_seed(repro, number), &found);
	/* What racks serve each for itself is served across racks, too. */
	built = (uint32_t)fmax(found.slices, counted->served[STITCHED].values[number]);
	samples_add(&counted->served[CROSSING], built);
	counted->met += built == bound.slices;
}

static void share_row(const struct fill *fill, const struct counted *counted, enum placer placer,
		      enum placer all, const char *condition)
{
	const struct samples *served = &counted->served[placer], *most = &counted->served[all];
	struct samples shares = { 0 };
	char name[160];
	struct row row = {
		.name = name,
		.condition = condition,
		.unit = "share of requests",
		.approximation = fill->approximation,
	};

	for (uint32_t at = 0; at < served->count; at++)
		samples_add(&shares, served->values[at] / most->values[at]);
	snprintf(name, sizeof(name), "%s, %s, of %s", fill->name, placer_names[placer],
		 all == BOUND ? "all that is free" : "what racks serve");
	samples_row(&shares, &row);
	row_print(&row);
}

/*
 * How many times as many as by a baseline, on the mean of both; its interval by leaving out one
 * cluster after the other, the jackknife: Tukey (1958).
 */
static void ratio_row(const struct fill *fill, const struct counted *counted, enum placer base,
		      const char *condition)
{
	const struct samples *ours = &counted->served[CROSSING], *theirs = &counted->served[base];
	double sum = 0, its = 0;
	struct samples ratios = { 0 };
	char name[160];
	struct row row = {
		.name = name,
		.condition = condition,
		.unit = "times",
		.approximation = fill->approximation,
	};

	for (uint32_t at = 0; at < ours->count; at++) {
		sum += ours->values[at];
		its += theirs->values[at];
	}
	for (uint32_t at = 0; at < ours->count; at++)
		samples_add(&ratios, ours->count * sum / its - (ours->count - 1) *
								       (sum - ours->values[at]) /
								       (its - theirs->values[at]));
	snprintf(name, sizeof(name), "%s, %s, against %s", fill->name, placer_names[CROSSING],
		 placer_names[base]);
	samples_row(&ratios, &row);
	row_print(&row);
}

static void print_rows(const struct fill *fill, const struct counted *counted, uint32_t clusters)
{
	char name[160], condition[512];
	struct row row = {
		.name = name,
		.condition = condition,
		.approximation = fill->approximation,
	};

	snprintf(
		condition, sizeof(condition),
		"%s; 30 %% of 4096 free, %u clusters, digest %016llx; stitched: 4 fibres each way from "
		"server to server, whole or with 2 wavelengths of which a circuit keeps one; across racks: "
		"16 links on a face, one circuit switch on a way, built in %u clusters, as many as the proved "
		"bound in %u of them",
		fill->words, clusters, (unsigned long long)counted->digest,
		counted->served[CROSSING].count, counted->met);
	for (enum placer placer = 0; placer < PLACERS; placer++) {
		const struct samples *served = &counted->served[placer];
		const struct samples *aligned = &counted->served[ALIGNED];

		if (!served->count)
			continue;
		snprintf(name, sizeof(name), "%s, %s", fill->name, placer_names[placer]);
		row.unit = "slices of 32";
		row.baseline_name = placer == ALIGNED ? NULL : placer_names[ALIGNED];
		row.baseline = samples_mean(aligned);
		samples_row(served, &row);
		row_print(&row);
		if (placer == BOUND)
			continue;
		share_row(fill, counted, placer, BOUND, condition);
		/* What racks serve is counted in whole fibres. */
		if (placer != WAVELENGTHS)
			share_row(fill, counted, placer, STITCHED, condition);
		/* Of a replay there may be nothing that is contiguous. */
		for (enum placer base = ALIGNED;
		     placer == CROSSING && !fill->replayed && base <= ANYWHERE; base++)
			ratio_row(fill, counted, base, condition);
	}
}

int main(int argc, char **argv)
{
	static const struct fill fills[] = {
		{ "acceptance/random fill",
		  "equal shares of 4, 8, 16, 32 in random order, aligned first fit, then slices go by "
		  "chance",
		  NULL, make_random, false, CLUSTERS },
		{ "acceptance/sorted fill",
		  "equal shares of 4, 8, 16, 32, the large ones first, aligned first fit, then slices go "
		  "by chance",
		  NULL, make_sorted, false, CLUSTERS },
		{ "acceptance-trace/as traced",
		  TRACE_WORDS_AS_IT_IS ", then those that end first go", TRACE_APPROXIMATION,
		  make_trace, true, TRACE_BUILT },
		{ "acceptance-trace/more of several GPUs",
		  TRACE_WORDS_WIDE ", then those that end first go", TRACE_APPROXIMATION,
		  make_wide_trace, true, TRACE_BUILT },
	};
	static struct counted counted;
	struct repro repro;

	cluster_begin(&repro, argc, argv);
	for (uint32_t fill = 0; fill < sizeof(fills) / sizeof(*fills); fill++) {
		uint32_t clusters = repro.quick ? CLUSTERS / 5 : CLUSTERS;

		memset(&counted, 0, sizeof(counted));
		for (uint32_t at = 0; at < clusters; at++)
			count(&repro, &fills[fill], at, &counted);
		print_rows(&fills[fill], &counted, clusters);
	}
	return 0;
}

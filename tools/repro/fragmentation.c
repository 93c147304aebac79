// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fragmentation of a rack: 1 - S / T, with S accelerators in the largest slice that still fits and
 * T free accelerators; 0 for a full rack. Racks are filled at random, and a fifth of the slices
 * leaves.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "clusters.h"

#define CLUSTERS 16
#define FREED_PERMILLE 200

/* Placement algorithms for the next slice. */
enum placer {
	ALIGNED,
	ANYWHERE,
	STITCHED,
	RINGS, /* any number of servers, stitched to a ring */
	PLACERS,
};

static const char *const placer_names[PLACERS] = { "aligned", "any place and orientation",
						   "stitched", "stitched, any size" };

/* Servers of the largest slice that fits. */
static uint32_t largest(const struct racks *racks, uint32_t rack, enum placer placer)
{
	uint16_t free = racks_free(racks, rack);

	for (uint32_t servers = net_count(free); placer == RINGS && servers; servers--)
		if (cluster_stitches_ring(racks, rack, servers))
			return servers;
	for (uint32_t size = RACK_SIZES; placer != RINGS && size-- > 0;)
		if (placer == ALIGNED  ? cluster_aligned(free, size) :
		    placer == ANYWHERE ? cluster_anywhere(free, size) :
					 cluster_stitches(racks, rack, size))
			return 1U << size;
	return 0;
}

/* Indices of all clusters. */
struct indices {
	struct samples means, worst, bad; /* bad: share of racks with an index of at least 0.5 */
	uint32_t counts[101]; /* racks by hundredths of the index, rounded up */
	uint32_t racks;
};

static void measure(const struct racks *racks, enum placer placer, struct indices *indices)
{
	struct samples here = { 0 };
	uint32_t bad = 0;

	for (uint32_t rack = 0; rack < RACKS; rack++) {
		uint32_t free = net_count(racks_free(racks, rack));
		double index;

		if (!free)
			continue;
		index = 1 - (double)largest(racks, rack, placer) / free;
		samples_add(&here, index);
		bad += index >= 0.5;
		indices->counts[(uint32_t)ceil(index * 100)]++;
		indices->racks++;
	}
	if (!here.count)
		repro_wrong("a cluster has no rack with free accelerators");
	samples_add(&indices->means, samples_mean(&here));
	samples_add(&indices->worst, samples_max(&here));
	samples_add(&indices->bad, (double)bad / here.count);
}

/* The smallest index that a given share of all racks does not exceed, in hundredths rounded up. */
static double quantile(const struct indices *indices, double share)
{
	uint32_t at = 0, seen = indices->counts[0];

	while (seen < share * indices->racks)
		seen += indices->counts[++at];
	return at / 100.0;
}

/* How the racks were filled. */
struct fill {
	const char *name, *words, *approximation;
	uint64_t digest;
	struct indices indices[PLACERS];
};

static void print_rows(const struct fill *fill, enum placer placer, uint32_t clusters)
{
	const struct indices *indices = &fill->indices[placer], *aligned = &fill->indices[ALIGNED];
	char name[128], condition[512];
	struct row row = {
		.name = name,
		.condition = condition,
		.unit = "index",
		.baseline_name = placer == ALIGNED ? NULL : "aligned",
		.approximation = fill->approximation,
	};

	snprintf(condition, sizeof(condition),
		 "%s; %u clusters of 64 racks, %u racks that are not full, digest %016llx%s",
		 fill->words, clusters, indices->racks, (unsigned long long)fill->digest,
		 placer < STITCHED ?
			 "" :
			 "; 4 fibres each way, transit through servers of other tenants");
	snprintf(name, sizeof(name), "%s, %s, mean", fill->name, placer_names[placer]);
	samples_row(&indices->means, &row);
	row.baseline = samples_mean(&aligned->means);
	row_print(&row);
	snprintf(name, sizeof(name), "%s, %s, racks at 0.5 or above", fill->name,
		 placer_names[placer]);
	samples_row(&indices->bad, &row);
	row.baseline = samples_mean(&aligned->bad);
	row.unit = "share of racks";
	row_print(&row);
	row.unit = "index";
	row.interval = "worst racks of clusters";
	row.low = samples_min(&indices->worst);
	row.high = samples_max(&indices->worst);
	snprintf(name, sizeof(name), "%s, %s, largest", fill->name, placer_names[placer]);
	row.ours = row.high;
	row.baseline = samples_max(&aligned->worst);
	row_print(&row);
	snprintf(name, sizeof(name), "%s, %s, 99th percentile", fill->name, placer_names[placer]);
	row.ours = quantile(indices, 0.99);
	row.low = fmin(row.low, row.ours);
	row.baseline = quantile(aligned, 0.99);
	row_print(&row);
}

typedef void make_cluster(const struct repro *repro, uint32_t number, struct racks *racks);

static void fill_rows(const struct repro *repro, struct fill *fill, make_cluster *make)
{
	uint32_t clusters = repro->quick ? CLUSTERS / 4 : CLUSTERS;
	static struct racks racks;

	memset(fill->indices, 0, sizeof(fill->indices));
	for (uint32_t at = 0; at < clusters; at++) {
		make(repro, at, &racks);
		fill->digest = cluster_digest(fill->digest, &racks);
		for (enum placer placer = 0; placer < PLACERS; placer++)
			measure(&racks, placer, &fill->indices[placer]);
	}
	for (enum placer placer = 0; placer < PLACERS; placer++)
		print_rows(fill, placer, clusters);
}

/* -------------------------------------------------------------------- fills */

static struct mix published_mix(const struct repro *repro, bool racks)
{
	return (struct mix){ {
		repro_given(repro, "weight_4"),
		repro_given(repro, "weight_8"),
		repro_given(repro, "weight_16"),
		repro_given(repro, "weight_32"),
		racks ? repro_given(repro, "weight_64") : 0,
	} };
}

static void make_mix(const struct repro *repro, uint32_t number, struct racks *racks)
{
	struct mix mix = published_mix(repro, false);

	cluster_fill_mix(racks, repro_seed(repro, number), &mix);
	cluster_free_slices(racks, FREED_PERMILLE);
}

static void make_mix_with_racks(const struct repro *repro, uint32_t number, struct racks *racks)
{
	struct mix mix = published_mix(repro, true);

	cluster_fill_mix(racks, repro_seed(repro, number), &mix);
	cluster_free_slices(racks, FREED_PERMILLE);
}

/* Remove a fifth of the running jobs, in the order of their ends. */
static void make_traced(const struct repro *repro, uint32_t number, enum trace_set set,
			struct racks *racks)
{
	static struct replay replay;

	cluster_replay_aligned(repro, number, set, &replay, racks);
	for (uint32_t left = (replay.running * FREED_PERMILLE + 500) / 1000; left; left--)
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

int main(int argc, char **argv)
{
	static struct fill fills[] = {
		{ .name = "fragmentation/4 to 32",
		  .words =
			  "random sizes 4, 8, 16, 32 as in production until the cluster is full, aligned first fit, then 20 % of the slices end at random" },
		{ .name = "fragmentation/4 to 64",
		  .words =
			  "random sizes 4, 8, 16, 32, 64 as in production until the cluster is full, aligned first fit, then 20 % of the slices end at random" },
		{ .name = "fragmentation-trace/as traced",
		  .words = TRACE_WORDS_AS_IT_IS ", then the 20 % that end first end",
		  .approximation = TRACE_APPROXIMATION },
		{ .name = "fragmentation-trace/more tasks of several GPUs",
		  .words = TRACE_WORDS_WIDE ", then the 20 % that end first end",
		  .approximation = TRACE_APPROXIMATION },
	};
	static make_cluster *const makers[] = { make_mix, make_mix_with_racks, make_trace,
						make_wide_trace };
	struct repro repro;

	cluster_begin(&repro, argc, argv);
	for (uint32_t at = 0; at < sizeof(fills) / sizeof(*fills); at++)
		fill_rows(&repro, &fills[at], makers[at]);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Clusters of 64 racks in the states that figures are about. Racks, slices and the generator of
 * the random fill are those of libmorph/bench/racks.h; here are the other fills, boxes wherever
 * they may lie, and what of a rack can be stitched.
 */
#ifndef REPRO_CLUSTERS_H
#define REPRO_CLUSTERS_H

#include "../../libmorph/bench/racks.h"
#include "repro.h"

#define CLUSTER_SLICE 3 /* the size of 32 accelerators, 8 servers */
#define CLUSTER_JOBS 8192 /* of a trace, at most */

/* How likely each size is: published as percent of slices. */
struct mix {
	double weight[RACK_SIZES];
};

/* Sizes by chance until nothing is free. */
void cluster_fill_mix(struct racks *racks, uint64_t seed, const struct mix *mix);

/* The same share of accelerators for 4, 8, 16 and 32, the large ones first. */
void cluster_fill_sorted(struct racks *racks, uint64_t seed);

/* Share of the slices that go at random, in permille. */
void cluster_free_slices(struct racks *racks, uint32_t permille);

/* Whether 1 << @size servers have an aligned box, or any box wherever and however it lies. */
bool cluster_aligned(uint16_t free, uint32_t size);
bool cluster_anywhere(uint16_t free, uint32_t size);

/*
 * Whether the torus of 1 << @size servers, or a ring of @servers, can be stitched into a rack
 * with four fibres from server to server, none of which carries two slices; or where each carries
 * so many wavelengths, of which a circuit keeps one.
 */
bool cluster_stitches(const struct racks *racks, uint32_t rack, uint32_t size);
bool cluster_stitches_in(const struct racks *racks, uint32_t rack, uint32_t size,
			 uint32_t wavelengths);
bool cluster_stitches_ring(const struct racks *racks, uint32_t rack, uint32_t servers);

/* Tasks of a trace in their order. */
struct jobs {
	uint32_t count;
	double duration_s[CLUSTER_JOBS];
	uint8_t size[CLUSTER_JOBS]; /* servers: 1 << size */
};

/* From tools/repro/data; @mix: sizes by chance instead of the trace's, or NULL. */
void jobs_read(struct jobs *jobs, const char *path, uint64_t seed, const struct mix *mix);

#define REPLAY_JOBS 3072 /* that a replay begins */
#define TRACE_APPROXIMATION                                                                    \
	"a GPU of the trace is taken as a server of four accelerators, and its tasks run one " \
	"after the other as early as each fits, for the cluster that it is of was larger"

/* Where in the trace the replay for a cluster begins. */
uint32_t replay_window(const struct repro *repro, const struct jobs *jobs, uint32_t number);

/* Sizes of the trace's sample of tasks of several GPUs, which has no times. */
struct mix trace_mix(const struct repro *repro);

/* A cluster that runs the jobs one after the other, as early as each fits. */
struct replay {
	struct racks racks;
	double ends_s[RACK_SLICES]; /* by slice */
	uint32_t next; /* job */
	double now_s;
};

/* From a job on, until nothing fits and @begun jobs have run. */
void replay_run(struct replay *replay, const struct jobs *jobs, uint32_t from, uint32_t begun);

/* The job that ends first goes; nothing comes. */
void replay_end_one(struct replay *replay);

/* A digest of what is taken, for the conditions: the same for a seed everywhere. */
uint64_t cluster_digest(uint64_t digest, const struct racks *racks);

#endif /* REPRO_CLUSTERS_H */

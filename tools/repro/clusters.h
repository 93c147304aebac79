/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Clusters of 64 racks in the states that the figures describe. libmorph/bench/racks.h has racks,
 * slices and the generator of the random fill; replay.h beside it has the jobs of a trace. This
 * file adds the other fills, boxes in any position, and stitching within a rack.
 */
#ifndef REPRO_CLUSTERS_H
#define REPRO_CLUSTERS_H

#include "../../libmorph/bench/racks.h"
#include "repro.h"

#define CLUSTER_SLICE 3 /* 32 accelerators, which are 8 servers */

/* repro_begin(), for a program that replays a trace. */
void cluster_begin(struct repro *repro, int argc, char **argv);

/* Fill with random sizes until no accelerator is free. */
void cluster_fill_mix(struct racks *racks, uint64_t seed, const struct mix *mix);

/*
 * Fill with slices of 4, 8, 16 and 32 accelerators, the same share for each size, large slices
 * first.
 */
void cluster_fill_sorted(struct racks *racks, uint64_t seed);

/* Remove a share of the slices at random, in permille. */
void cluster_free_slices(struct racks *racks, uint32_t permille);

/*
 * Check whether 1 << @size servers have an aligned box, or a box in any position and orientation.
 */
bool cluster_aligned(uint16_t free, uint32_t size);
bool cluster_anywhere(uint16_t free, uint32_t size);

/*
 * Check whether the torus of 1 << @size servers, or a ring of @servers, can be stitched into a
 * rack. There are four fibres between servers, and no fibre carries two slices. In
 * cluster_stitches_in(), each fibre carries @wavelengths wavelengths, and a circuit keeps its
 * wavelength on all fibres.
 */
bool cluster_stitches(const struct racks *racks, uint32_t rack, uint32_t size);
bool cluster_stitches_in(const struct racks *racks, uint32_t rack, uint32_t size,
			 uint32_t wavelengths);
bool cluster_stitches_ring(const struct racks *racks, uint32_t rack, uint32_t servers);

/*
 * Build the state of a cluster in which the jobs of the trace run under any placement; no
 * accelerator is taken at the start. The second function places them by aligned first fit.
 */
void cluster_replay(const struct repro *repro, uint32_t number, enum trace_set set,
		    struct replay *replay);
void cluster_replay_aligned(const struct repro *repro, uint32_t number, enum trace_set set,
			    struct replay *replay, struct racks *racks);

/*
 * Add the taken servers to a digest for the conditions. A seed gives the same digest on each
 * machine.
 */
uint64_t cluster_digest(uint64_t digest, const struct racks *racks);

#endif /* REPRO_CLUSTERS_H */

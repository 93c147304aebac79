/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Clusters of 64 racks in the states that figures are about. Racks, slices and the generator of
 * the random fill are those of libmorph/bench/racks.h, jobs of a trace those of replay.h beside it;
 * here are the other fills, boxes wherever they may lie, and what of a rack can be stitched.
 */
#ifndef REPRO_CLUSTERS_H
#define REPRO_CLUSTERS_H

#include "../../libmorph/bench/racks.h"
#include "repro.h"

#define CLUSTER_SLICE 3 /* the size of 32 accelerators, 8 servers */

/* repro_begin(), for a program that replays a trace. */
void cluster_begin(struct repro *repro, int argc, char **argv);

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

/*
 * The cluster of a number in which jobs of the trace run, however it places them; nothing is taken
 * of it at first. And the same placed by aligned first fit.
 */
void cluster_replay(const struct repro *repro, uint32_t number, enum trace_set set,
		    struct replay *replay);
void cluster_replay_aligned(const struct repro *repro, uint32_t number, enum trace_set set,
			    struct replay *replay, struct racks *racks);

/* A digest of what is taken, for the conditions: the same for a seed everywhere. */
uint64_t cluster_digest(uint64_t digest, const struct racks *racks);

#endif /* REPRO_CLUSTERS_H */

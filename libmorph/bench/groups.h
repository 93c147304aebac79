/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Groups of accelerators that share bandwidth: instances of tests and measurements. */
#ifndef LM_BENCH_GROUPS_H
#define LM_BENCH_GROUPS_H

#include <stdint.h>

#include <morph/plan.h>

#define GROUPS_ACCELERATORS 64
#define GROUPS_GUIDES 256
#define GROUPS_COUNT 64
#define GROUPS_HOPS 4096
#define GROUPS_WAY 16

struct groups_hop {
	uint32_t group, source, target, circuits;
	uint32_t guides_count, guides[GROUPS_WAY];
};

struct groups {
	uint32_t wavelengths;
	uint32_t accelerators_count, transmit[GROUPS_ACCELERATORS], receive[GROUPS_ACCELERATORS];
	uint32_t guides_count, fibres[GROUPS_GUIDES];
	uint32_t groups_count, least[GROUPS_COUNT], most[GROUPS_COUNT];
	uint32_t hops_count;
	struct groups_hop hops[GROUPS_HOPS];
};

/*
 * Duplex rings of accelerators in random order, on a torus of @width * @height tiles with a guide
 * each way between neighbours. A hop goes along x and then along y, or the reverse, in the shorter
 * direction of each. Accelerators have @ports each way, guides @fibres. Deterministic for a seed.
 */
void groups_rings(struct groups *groups, uint64_t seed, uint32_t width, uint32_t height,
		  uint32_t count, uint32_t wavelengths, uint32_t ports, uint32_t fibres);

/*
 * Any shape: each group has up to @hops hops between any accelerators, with one or two circuits for
 * each unit and any guides. There are few ports and fibres. Some groups have a least bandwidth, and
 * some a most.
 */
void groups_irregular(struct groups *groups, uint64_t seed, uint32_t accelerators, uint32_t guides,
		      uint32_t count, uint32_t hops, uint32_t wavelengths);

/* As a problem; NULL when out of memory. */
struct morph_bandwidth *groups_problem(struct morph_ctx *ctx, const struct groups *groups);

#endif /* LM_BENCH_GROUPS_H */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Racks that slices have been taken from and given back to: the instances that placement is
 * measured on, in the model of the Morphlux paper (arXiv 2508.03674v3, 7.2). A rack is 2x2x4
 * servers of four accelerators, server 4z + 2y + x; neighbours are joined by four fibres each
 * way, direct and wrap link taken for one; a link of a slice takes these four whole.
 */
#ifndef LM_BENCH_RACKS_H
#define LM_BENCH_RACKS_H

#include "../place/net.h"
#include "../place/pattern.h"

#define RACKS 64U
#define RACK_SITES 16U
#define RACK_SLICES (RACKS * RACK_SITES)
#define RACK_SIZES 5 /* of slices: 1 << size servers */
#define RACKS_NONE UINT32_MAX

struct racks_slice {
	uint32_t rack;
	uint16_t sites;
	bool gone;
};

struct racks {
	uint64_t random; /* state of the generator */
	uint16_t taken[RACKS]; /* sites */
	uint32_t slices_count;
	struct racks_slice slices[RACK_SLICES];
};

/* Nothing is taken yet. */
void racks_begin(struct racks *racks, uint64_t seed);

/*
 * Take the first rack and aligned box that is free: 1x1x1, 1x1x2, 1x1x4, 1x2x4 or, of size 4,
 * 2x2x4 servers. Returns the slice's number, or RACKS_NONE.
 */
uint32_t racks_take(struct racks *racks, uint32_t size);

void racks_give_back(struct racks *racks, uint32_t slice);

/* Slices go at random until @free_permille of all is free. */
void racks_vacate(struct racks *racks, uint32_t free_permille);

/* Sites that are free in all racks together. */
uint32_t racks_free_sites(const struct racks *racks);

/* The sites of one aligned box of a size, or 0 where there are not so many. */
uint16_t racks_box(uint32_t size, uint32_t at);

/*
 * Share 4096 accelerators equally over slices of 4, 8, 16 and 32; in random order each takes
 * what racks_take() gives. Then slices go at random until @free_permille of all is free. The same for a seed everywhere.
 */
void racks_fill(struct racks *racks, uint64_t seed, uint32_t free_permille);

/* Sites of a rack that are free. */
uint16_t racks_free(const struct racks *racks, uint32_t rack);

/* Whether 32 accelerators have an aligned box there. */
bool racks_has_box(const struct racks *racks, uint32_t rack);

/*
 * The network of a rack where a link has room for @links such as those inside slices, of
 * which each slice takes one wherever two of its servers are neighbours.
 */
void racks_net(const struct racks *racks, uint32_t rack, uint32_t links, struct net *net);

/*
 * The same with so many bands: in each a link has room for one, and what a slice takes of a link it
 * takes in a band by chance, the same for a link always.
 */
void racks_nets(const struct racks *racks, uint32_t rack, uint32_t bands, struct net *nets);

/* Go on from state to state of racks that 32 accelerators fit into only if stitched. */
struct racks_walk {
	struct racks racks;
	uint64_t seed; /* of the next cluster */
	uint32_t rack; /* to be looked at next */
};

void racks_walk_begin(struct racks_walk *walk, uint64_t seed);
uint32_t racks_walk_next(struct racks_walk *walk); /* the rack */

#endif /* LM_BENCH_RACKS_H */

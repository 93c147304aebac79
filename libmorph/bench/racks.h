/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Racks from which slices have been taken and returned: the instances of placement, in the model of
 * the Morphlux paper (arXiv 2508.03674v3, 7.2). A rack is 2x2x4 servers of four accelerators,
 * server 4z + 2y + x. Neighbours have four fibres each way; a direct and a wrap link are the same.
 * A link of a slice takes these four whole.
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

/* Begin with free racks. */
void racks_begin(struct racks *racks, uint64_t seed);

/*
 * Take the first free aligned box of the first rack: 1x1x1, 1x1x2, 1x1x4, 1x2x4 or, of size 4,
 * 2x2x4 servers. Returns the slice's number, or RACKS_NONE.
 */
uint32_t racks_take(struct racks *racks, uint32_t size);

void racks_give_back(struct racks *racks, uint32_t slice);

/* End random slices until @free_permille of all is free. */
void racks_vacate(struct racks *racks, uint32_t free_permille);

/* Number of free sites in all racks. */
uint32_t racks_free_sites(const struct racks *racks);

/* The sites of one aligned box of a size; 0 if @at is out of range. */
uint16_t racks_box(uint32_t size, uint32_t at);

/*
 * Divide 4096 accelerators equally among slices of 4, 8, 16 and 32. In random order each takes what
 * racks_take() gives. Then random slices end until @free_permille of all is free. Deterministic for
 * a seed.
 */
void racks_fill(struct racks *racks, uint64_t seed, uint32_t free_permille);

/* The free servers of a rack. */
uint16_t racks_free(const struct racks *racks, uint32_t rack);

/* Whether 32 accelerators have an aligned box there. */
bool racks_has_box(const struct racks *racks, uint32_t rack);

/*
 * The network of a rack where a link has capacity for @links slices. Each slice takes one on each
 * link between two of its servers.
 */
void racks_net(const struct racks *racks, uint32_t rack, uint32_t links, struct net *net);

/*
 * The same with several bands. A link has capacity for one slice in each band. A slice takes a
 * random band of each link, always the same for a link.
 */
void racks_nets(const struct racks *racks, uint32_t rack, uint32_t bands, struct net *nets);

/* Iterate over states of racks into which 32 accelerators only fit if stitched. */
struct racks_walk {
	struct racks racks;
	uint64_t seed; /* of the next cluster */
	uint32_t rack; /* next one to examine */
};

void racks_walk_begin(struct racks_walk *walk, uint64_t seed);
uint32_t racks_walk_next(struct racks_walk *walk); /* the rack */

#endif /* LM_BENCH_RACKS_H */

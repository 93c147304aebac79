/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slices of 32 accelerators whose servers lie in several racks, planned by libmorph. Each face of a
 * rack has 16 links. A circuit switch joins link i of a plus face with link i of a minus face of
 * the same dimension. The faces belong to any two racks, or to the same rack, which gives a wrap. A
 * circuit passes at most one switch.
 *
 * Within a rack, two links join neighbours in x and in y, and four in z. Two, two and four links of
 * the rack's faces belong to each server there. A slice is a torus of 1x2x4 servers, in which four
 * links join neighbours. Each of the four can take its own path, and a link carries one circuit in
 * each direction. Present slices keep the links between their servers, including wraps.
 */
#ifndef REPRO_CROSSING_H
#define REPRO_CROSSING_H

#include "../../libmorph/bench/racks.h"
#include "../../libmorph/place/cross.h"

#define CROSSING_SLOTS 8 /* servers of a slice */
#define CROSSING_EDGES 12
#define CROSSING_WIDE 4 /* links of an edge */
#define CROSSING_LINKS (CROSSING_EDGES * CROSSING_WIDE)

/*
 * Links of a rack in groups that join the same servers: direct links first, then those of the
 * faces.
 */
#define DIRECT_GROUPS 28
#define FACE_GROUPS 40
#define GROUPS (DIRECT_GROUPS + FACE_GROUPS)

/* Server slots that an edge joins. */
extern const uint8_t crossing_edges[CROSSING_EDGES][2];

/* Convert the racks to the planner's form. */
void crossing_pod(const struct racks *racks, struct cross_pod *pod);

/* Check slices and assign numbers to links of faces. Returns an error text, or NULL. */
const char *crossing_check(const struct racks *racks, const struct cross_found *found);

/* Upper bound of the served slices, because of free servers or of links of faces. */
struct crossing_bound {
	uint32_t by_servers, slices;
};

void crossing_bound_find(const struct racks *racks, struct crossing_bound *bound);

/* Attempts to build all slices, and the length of each attempt. */
struct crossing_effort {
	uint32_t starts;
	struct cross_effort each;
};

/*
 * Build up to @wanted slices within the effort. A plan that crossing_check() rejects ends the
 * program.
 */
void crossing_build(const struct racks *racks, uint32_t wanted,
		    const struct crossing_effort *effort, uint64_t seed, struct cross_found *found);

#endif /* REPRO_CROSSING_H */

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slices of 32 accelerators whose servers lie in several racks, built by libmorph's planner. Each
 * face of a rack has 16 links; a circuit switch joins link i of a plus face with link i of a minus
 * face of the same dimension, of any racks or of the same one, which is a wrap. A circuit passes
 * one at most.
 *
 * Within a rack two links join neighbours in x and in y, four in z; two, two and four links of
 * its faces belong to each server there. A slice is a torus of 1x2x4 servers, in which four
 * links join neighbours, each of which may go its own way; a link carries a circuit each way.
 * Slices that are there keep the links between their servers, wraps included.
 */
#ifndef REPRO_CROSSING_H
#define REPRO_CROSSING_H

#include "../../libmorph/bench/racks.h"
#include "../../libmorph/place/cross.h"

#define CROSSING_SLOTS 8 /* servers of a slice */
#define CROSSING_EDGES 12
#define CROSSING_WIDE 4 /* links of an edge */
#define CROSSING_LINKS (CROSSING_EDGES * CROSSING_WIDE)

/* Links of a rack in groups that join the same servers: direct ones, then those of its faces. */
#define DIRECT_GROUPS 28
#define FACE_GROUPS 40
#define GROUPS (DIRECT_GROUPS + FACE_GROUPS)

/* Slots that an edge joins. */
extern const uint8_t crossing_edges[CROSSING_EDGES][2];

/* The racks as the planner sees them. */
void crossing_pod(const struct racks *racks, struct cross_pod *pod);

/* Looks through slices and gives numbers to links of faces: what is wrong, or NULL. */
const char *crossing_check(const struct racks *racks, const struct cross_found *found);

/* No more than @slices can be served, because of the free servers or of the faces' links. */
struct crossing_bound {
	uint32_t by_servers, slices;
};

void crossing_bound_find(const struct racks *racks, struct crossing_bound *bound);

/* How often to begin anew where not all slices are built, and how long each time. */
struct crossing_effort {
	uint32_t starts;
	struct cross_effort each;
};

/*
 * Build up to @wanted slices, as many as the effort gets. What is not as crossing_check() wants it
 * ends the program.
 */
void crossing_build(const struct racks *racks, uint32_t wanted,
		    const struct crossing_effort *effort, uint64_t seed, struct cross_found *found);

#endif /* REPRO_CROSSING_H */

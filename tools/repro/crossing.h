/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slices of 32 accelerators whose servers lie in several racks. Each face of a rack has 16 links;
 * a circuit switch joins link i of a plus face with link i of a minus face of the same
 * dimension, of any racks or of the same one, which is a wrap. A circuit passes one at most.
 *
 * Within a rack two links join neighbours in x and in y, four in z; two, two and four links of
 * its faces belong to each server there. A slice is a torus of 1x2x4 servers, in which four
 * links join neighbours, each of which may go its own way; a link carries a circuit each way.
 * Slices that are there keep the links between their servers, wraps included.
 */
#ifndef REPRO_CROSSING_H
#define REPRO_CROSSING_H

#include "../../libmorph/bench/racks.h"

#define CROSSING_SLOTS 8 /* servers of a slice */
#define CROSSING_EDGES 12
#define CROSSING_WIDE 4 /* links of an edge */
#define CROSSING_MOST (RACK_SLICES / CROSSING_SLOTS)

/* Links of a rack in groups that join the same servers: direct ones, then those of its faces. */
#define DIRECT_GROUPS 28
#define FACE_GROUPS 40
#define GROUPS (DIRECT_GROUPS + FACE_GROUPS)

/* From a server of a rack to another one there, or through a face to one of any rack. */
struct arc {
	uint8_t to;
	uint8_t group; /* in this rack */
	uint8_t far_group; /* of a face: in the other rack */
	bool face;
};

#define ARCS 7

struct pod {
	struct arc arcs[RACK_SITES][ARCS];
	uint8_t arcs_count[RACK_SITES];
	uint16_t free[RACKS];
	uint8_t room[RACKS][GROUPS]; /* links that slices there do not have */
};

/* A server of the pod: rack * RACK_SITES + site. */
typedef uint16_t server;

#define WAY_HOPS 32

/* What one link of an edge becomes: arcs, one after the other. */
struct way {
	uint8_t hops;
	uint8_t arcs[WAY_HOPS]; /* by number, of the server where each begins */
};

struct plan {
	uint32_t slices;
	server slots[RACK_SLICES]; /* CROSSING_SLOTS of each slice, and then those left over */
	uint32_t servers; /* free ones, with those left over */
	bool routed[CROSSING_MOST];
	uint8_t bad[CROSSING_MOST]; /* ways that want links which others have */
	struct way ways[CROSSING_MOST][CROSSING_EDGES][CROSSING_WIDE];
	uint16_t used[RACKS][GROUPS];
};

/* Slots that an edge joins. */
extern const uint8_t crossing_edges[CROSSING_EDGES][2];

/* The arc from @from of a way to @target; and where it leads: face arcs lead to its rack. */
server crossing_step(const struct pod *pod, server from, uint32_t arc, server target);

void crossing_pod(const struct racks *racks, struct pod *pod);

/* Which free server takes which slot, so that ways are short: by annealing, from any state. */
void crossing_place(const struct pod *pod, struct plan *plan, uint32_t moves, uint64_t seed);

/*
 * Ways for slices that have none, by negotiated congestion with those that have. Returns how many
 * links are still wanted beyond those there are.
 */
uint32_t crossing_route(const struct pod *pod, struct plan *plan);

/* Looks through a plan and gives numbers to links of faces: what is wrong, or NULL. */
const char *crossing_check(const struct racks *racks, const struct plan *plan);

/* No more than @slices can be served, because of the free servers or of the faces' links. */
struct crossing_bound {
	uint32_t by_servers, slices;
};

void crossing_bound_find(const struct racks *racks, struct crossing_bound *bound);

/* Exchanges of servers that are tried: from each start, and each time that some slices are placed anew. */
struct crossing_effort {
	uint32_t starts, moves, mends, mend_moves;
};

/*
 * Build up to @wanted slices, as many as the effort gets. What is not as crossing_check() wants it
 * ends the program.
 */
void crossing_build(const struct racks *racks, uint32_t wanted,
		    const struct crossing_effort *effort, uint64_t seed, struct plan *plan);

#endif /* REPRO_CROSSING_H */

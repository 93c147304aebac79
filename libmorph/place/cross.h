/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Slices across racks: which free servers of which racks take the slots of slices, and by which
 * ways their links go. Racks are alike. A link is duplex; it leaves a rack at most once, through
 * a circuit switch that joins a face of one rack with the opposite face of another, or of the
 * same one. Many slices can be built at once, for one may stand in the way of another.
 */
#ifndef LM_PLAN_CROSS_H
#define LM_PLAN_CROSS_H

#include <stdbool.h>
#include <stdint.h>

#define CROSS_RACKS 64 /* at most: a set of racks is one word */
#define CROSS_SEATS 32 /* of a rack: a set of them is one word, and two of them another */
#define CROSS_ARCS 24 /* of a seat */
#define CROSS_GROUPS 255 /* of a rack */
#define CROSS_SERVERS (CROSS_RACKS * CROSS_SEATS)
#define CROSS_SLOTS 1024 /* of a slice */
#define CROSS_EDGES 4096
#define CROSS_DEGREE 64 /* links of a slot, at most */
#define CROSS_WAYS 12288 /* of all slices */
#define CROSS_HOPS (2 * CROSS_SEATS)

/* From a seat to another of its rack, or through a face to one of any rack that it leads to. */
struct cross_arc {
	uint8_t to; /* seat */
	uint8_t group; /* of links that join the same, in this rack */
	uint8_t far_group; /* of a face: the one of the other rack that is taken, too */
	bool face;
};

/* What there is: filled by the caller. Room not set is none. */
struct cross_pod {
	uint32_t racks, seats, groups;
	struct cross_arc arcs[CROSS_SEATS][CROSS_ARCS];
	uint8_t arcs_count[CROSS_SEATS];
	uint32_t free[CROSS_RACKS]; /* seats that may take a slot */
	uint32_t pass[CROSS_RACKS]; /* seats that light may cross */
	uint16_t takes[CROSS_SERVERS]; /* ranks, where slots want to know */
	uint8_t room[CROSS_RACKS][CROSS_GROUPS]; /* links */
	uint64_t leads[CROSS_RACKS][CROSS_GROUPS]; /* of a face: racks */
	/*
	 * 1 + the group that counts the light which gets into a seat, 0: none does. A link takes one
	 * of its room at both ends, and CROSS_PASS where it passes.
	 */
	uint8_t gates[CROSS_SEATS];
};

/* What a slice is: links between slots. */
struct cross_shape {
	uint32_t slots, edges_count, links; /* links: of all edges together */
	struct {
		uint16_t from, to;
		uint16_t first; /* number of its first link */
		uint8_t links;
	} edges[CROSS_EDGES];
	uint16_t of_slot[CROSS_SLOTS][CROSS_DEGREE]; /* edges */
	uint8_t of_slot_count[CROSS_SLOTS];
	uint16_t takes[CROSS_SLOTS]; /* ranks of a slot, none less than those after it; 0: any server */
};

#define CROSS_PASS 2 /* both ways */

/* A server of the pod: rack * CROSS_SEATS + seat. */
typedef uint16_t cross_server;

/* What one link becomes: arcs, one after the other. */
struct cross_way {
	uint8_t hops;
	uint8_t arcs[CROSS_HOPS]; /* by number, of the seat where each begins */
};

/* Slices. */
struct cross_found {
	uint32_t slices, servers_count;
	cross_server servers[CROSS_SERVERS]; /* of slots, slice by slice; then those left over */
	struct cross_way ways[CROSS_WAYS]; /* slice * shape->links + link */
};

/* Memory of a search, and what it found. */
struct cross {
	const struct cross_pod *pod;
	const struct cross_shape *shape;
	struct cross_found found;
	uint32_t over; /* links that are wanted beyond those there are */
	/* While it works. */
	uint64_t random;
	uint32_t taken; /* links of all ways */
	uint16_t used[CROSS_RACKS][CROSS_GROUPS];
	uint32_t hot_count; /* groups that are overused, rack * CROSS_GROUPS + group */
	uint16_t hot[CROSS_RACKS * CROSS_GROUPS], hot_at[CROSS_RACKS * CROSS_GROUPS];
	uint16_t place[CROSS_SERVERS]; /* of a server in found.servers */
	cross_server by_seat[CROSS_SEATS][CROSS_RACKS];
	uint32_t by_seat_count[CROSS_SEATS];
	struct cross_way kept[2 * CROSS_DEGREE];
	uint16_t nothing[CROSS_RACKS][CROSS_GROUPS]; /* used by an edge alone */
	uint8_t alone[CROSS_SERVERS][CROSS_SERVERS]; /* what an edge would take, 0: not known yet */
};

/* A shape without edges; one more edge. False where there is no room for it. */
void lm_cross_shape_init(struct cross_shape *shape, uint32_t slots);
bool lm_cross_shape_join(struct cross_shape *shape, uint32_t from, uint32_t to, uint32_t links);

/* Where an arc of a way to @target leads from @from: face arcs lead to its rack. */
static inline cross_server cross_step(const struct cross_pod *pod, cross_server from, uint32_t arc,
				      cross_server target)
{
	const struct cross_arc *taken = &pod->arcs[from % CROSS_SEATS][arc];
	uint32_t rack = (taken->face ? target : from) / CROSS_SEATS;

	return (cross_server)(rack * CROSS_SEATS + taken->to);
}

/*
 * Ways for the links of an edge, the cheapest, where a link beyond what there is costs
 * CROSS_BEYOND; they are counted as used. Where there is none at all it has no hops. Dijkstra's
 * algorithm on the seats of two racks: O(links * seats * (seats + arcs)).
 */
#define CROSS_BEYOND 8
void lm_cross_route(struct cross *cross, uint32_t slice, uint32_t edge);

/* What an edge between two servers would take, were it alone; kept, for it does not change. */
#define CROSS_ALONE_MOST 255
uint32_t lm_cross_alone(struct cross *cross, cross_server from, cross_server to);

/* Count the ways of an edge as used, by 1, or as unused, by -1. */
void lm_cross_use(struct cross *cross, uint32_t slice, uint32_t edge, int by);

/* An edge with a way over that group: false where there is none. */
bool lm_cross_who(const struct cross *cross, uint32_t rack, uint32_t group, uint32_t from,
		  uint32_t *slice, uint32_t *edge);

/* How often ways of a slice take links beyond what there is. */
uint32_t lm_cross_excess(const struct cross *cross, uint32_t slice);

/* How long a search may take, and how hot it begins. */
struct cross_effort {
	uint64_t moves;
	double hot, cold;
	bool thrifty; /* go on when all is built, so that less is taken */
};

/**
 * lm_cross_build() - build slices
 * @cross: memory, and the answer; nothing in it need be set
 * @pod: what there is
 * @shape: what a slice is
 * @wanted: how many slices
 * @effort: how hard to look
 * @seed: of what is left to chance
 *
 * Each slice grows from a server over the nearest ones; then servers change places and links
 * ways, by simulated annealing (Kirkpatrick, Gelatt and Vecchi, Science 220, 1983) on the links
 * that are taken and those taken beyond what there is, until there are none of the latter, or to
 * the end if it is to be thrifty. Proves nothing.
 * Deterministic for a seed; allocates nothing.
 *
 * Return: links that are still wanted beyond what there is; 0: all slices are built; UINT32_MAX:
 * there are not so many servers, or ways.
 */
uint32_t lm_cross_build(struct cross *cross, const struct cross_pod *pod,
			const struct cross_shape *shape, uint32_t wanted,
			const struct cross_effort *effort, uint64_t seed);

/*
 * One slice, whose slots have @servers already: routes alone. Returns what lm_cross_build() does,
 * UINT32_MAX where one of them is not free, or there are not so many ways.
 */
uint32_t lm_cross_lay(struct cross *cross, const struct cross_pod *pod,
		      const struct cross_shape *shape, const cross_server *servers);

/* Slices with links that are wanted beyond what there is go, the worst first; returns how many stay. */
uint32_t lm_cross_settle(struct cross *cross);

#endif /* LM_PLAN_CROSS_H */

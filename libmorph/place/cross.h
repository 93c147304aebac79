/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Slices across racks: the search assigns free servers of any racks to slots, and routes their
 * links. Racks are alike. A link is duplex. It leaves a rack at most once, through a circuit switch
 * that joins a face with the opposite face of another rack or of the same one. The search can build
 * several slices at once, because slices compete for links.
 * A *position* is the number of a server within its rack.
 */
#ifndef LM_PLAN_CROSS_H
#define LM_PLAN_CROSS_H

#include <stdbool.h>
#include <stdint.h>

#define CROSS_RACKS 64 /* limit; a set of racks is one word */
#define CROSS_SEATS 32 /* positions of a rack; a set of them is one word */
#define CROSS_ARCS 24 /* of a position */
#define CROSS_GROUPS 255 /* of a rack */
#define CROSS_SERVERS (CROSS_RACKS * CROSS_SEATS)
#define CROSS_SLOTS 1024 /* of a slice */
#define CROSS_EDGES 4096
#define CROSS_DEGREE 64 /* links of a slot, at most */
#define CROSS_WAYS 12288 /* of all slices */
#define CROSS_HOPS (2 * CROSS_SEATS)

/* From one position to another one of its rack, or through a face to another rack. */
struct cross_arc {
	uint8_t to; /* position */
	uint8_t group; /* of links that join the same positions in this rack */
	uint8_t far_group; /* of a face: the group of the other rack that the link uses too */
	bool face;
};

/* The pod, filled by the caller. Unset capacities are 0. */
struct cross_pod {
	uint32_t racks, seats, groups;
	struct cross_arc arcs[CROSS_SEATS][CROSS_ARCS];
	uint8_t arcs_count[CROSS_SEATS];
	uint32_t free[CROSS_RACKS]; /* positions that can take a slot */
	uint32_t pass[CROSS_RACKS]; /* positions that light can cross */
	uint16_t takes[CROSS_SERVERS]; /* ranks that a server can take */
	uint8_t room[CROSS_RACKS][CROSS_GROUPS]; /* free links */
	uint64_t leads[CROSS_RACKS][CROSS_GROUPS]; /* of a face: racks that it reaches */
	/*
	 * 1 + the group that counts the light that enters this server; 0: no limit. A link uses one
	 * unit at both ends, and CROSS_PASS units in a server that it crosses.
	 */
	uint8_t gates[CROSS_SEATS];
};

/* A slice: links between slots. */
struct cross_shape {
	uint32_t slots, edges_count, links; /* links: of all edges together */
	struct {
		uint16_t from, to;
		uint16_t first; /* number of its first link */
		uint8_t links;
	} edges[CROSS_EDGES];
	uint16_t of_slot[CROSS_SLOTS][CROSS_DEGREE]; /* edges */
	uint8_t of_slot_count[CROSS_SLOTS];
	uint16_t takes[CROSS_SLOTS]; /* ranks of a slot, in descending order; 0: any server */
};

#define CROSS_PASS 2 /* both ways */

/* A server of the pod: rack * CROSS_SEATS + position. */
typedef uint16_t cross_server;

/* The path of one link: a sequence of arcs. */
struct cross_way {
	uint8_t hops;
	uint8_t arcs[CROSS_HOPS]; /* by number, of the position where each begins */
};

/* Slices. */
struct cross_found {
	uint32_t slices, servers_count;
	cross_server servers[CROSS_SERVERS]; /* of slots, slice by slice; then unused servers */
	struct cross_way ways[CROSS_WAYS]; /* slice * shape->links + link */
};

/* Memory of a search, and its result. */
struct cross {
	const struct cross_pod *pod;
	const struct cross_shape *shape;
	struct cross_found found;
	uint32_t over; /* overloads: links in use beyond the capacity */
	/* During the search. */
	uint64_t random;
	uint32_t taken; /* links of all paths */
	uint16_t used[CROSS_RACKS][CROSS_GROUPS];
	uint32_t hot_count; /* overloaded groups, rack * CROSS_GROUPS + group */
	uint16_t hot[CROSS_RACKS * CROSS_GROUPS], hot_at[CROSS_RACKS * CROSS_GROUPS];
	uint16_t place[CROSS_SERVERS]; /* of a server in found.servers */
	cross_server by_seat[CROSS_SEATS][CROSS_RACKS];
	uint32_t by_seat_count[CROSS_SEATS];
	struct cross_way kept[2 * CROSS_DEGREE];
	uint16_t nothing[CROSS_RACKS][CROSS_GROUPS]; /* used by an edge alone */
	uint8_t alone[CROSS_SERVERS][CROSS_SERVERS]; /* cost of an edge alone; 0: not computed */
};

/* Begin a shape without edges; add an edge. False if the shape is full. */
void lm_cross_shape_init(struct cross_shape *shape, uint32_t slots);
bool lm_cross_shape_join(struct cross_shape *shape, uint32_t from, uint32_t to, uint32_t links);

/* The server that an arc of a path to @target leads to. Face arcs lead to the target's rack. */
static inline cross_server cross_step(const struct cross_pod *pod, cross_server from, uint32_t arc,
				      cross_server target)
{
	const struct cross_arc *taken = &pod->arcs[from % CROSS_SEATS][arc];
	uint32_t rack = (taken->face ? target : from) / CROSS_SEATS;

	return (cross_server)(rack * CROSS_SEATS + taken->to);
}

/*
 * Route the links of an edge by the cheapest paths and count them as used. An overload costs
 * CROSS_BEYOND. A link without any path gets no hops. Dijkstra's algorithm on the positions of two
 * racks: O(links * positions * (positions + arcs)).
 */
#define CROSS_BEYOND 8
void lm_cross_route(struct cross *cross, uint32_t slice, uint32_t edge);

/* The cost of an edge between two servers if it were alone. Cached, because it does not change. */
#define CROSS_ALONE_MOST 255
uint32_t lm_cross_alone(struct cross *cross, cross_server from, cross_server to);

/* Count the paths of an edge as used (@by is 1) or as unused (-1). */
void lm_cross_use(struct cross *cross, uint32_t slice, uint32_t edge, int by);

/*
 * Find an edge with a path over this group, from number @from (slice * edges + edge) on. False if
 * there is none.
 */
bool lm_cross_who(const struct cross *cross, uint32_t rack, uint32_t group, uint32_t from,
		  uint32_t *slice, uint32_t *edge);

/* How often paths of a slice use overloaded links. */
uint32_t lm_cross_excess(const struct cross *cross, uint32_t slice);

/* How long a search takes, and at which temperature it begins. */
struct cross_effort {
	uint64_t moves;
	double hot, cold;
	bool thrifty; /* continue after all slices are built, to use fewer links */
};

/**
 * lm_cross_build() - build slices
 * @cross: memory and result; needs no initialisation
 * @pod: the pod
 * @shape: shape of each slice
 * @wanted: number of slices
 * @effort: effort of the search
 * @seed: random seed
 *
 * Each slice grows from a server over its nearest servers. Then simulated annealing (Kirkpatrick,
 * Gelatt and Vecchi, Science 220, 1983) exchanges servers and reroutes links. It minimises the
 * links in use and the overloads. It ends when no overload is left, or with @effort if this is
 * thrifty. It proves nothing.
 * Deterministic for a seed; allocates nothing.
 *
 * Return: the number of overloads; 0: all slices are built; UINT32_MAX: too few servers, or too
 * many links for the memory.
 */
uint32_t lm_cross_build(struct cross *cross, const struct cross_pod *pod,
			const struct cross_shape *shape, uint32_t wanted,
			const struct cross_effort *effort, uint64_t seed);

/*
 * Route one slice whose slots already have @servers. Returns the number of overloads; UINT32_MAX if
 * a server is not free or the links exceed the memory.
 */
uint32_t lm_cross_lay(struct cross *cross, const struct cross_pod *pod,
		      const struct cross_shape *shape, const cross_server *servers);

/* Remove slices with overloaded links, the worst first. Returns how many remain. */
uint32_t lm_cross_settle(struct cross *cross);

#endif /* LM_PLAN_CROSS_H */

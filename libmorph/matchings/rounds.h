/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The search for rounds. A vertex is an endpoint; for directed circuits, an endpoint as sender or
 * as receiver. A round gives each vertex at most one mate. A circuit belongs to the endpoint that
 * sends; for pairs, to the lower endpoint.
 */
#ifndef LM_MATCHINGS_ROUNDS_H
#define LM_MATCHINGS_ROUNDS_H

#include "../util/mix.h"
#include "mesh.h"
#include "optics.h"

#define ROUNDS_NONE UINT16_MAX

/* Labels of a route's search, by arc; the last one is the goal. */
struct route_label {
	uint32_t stamp; /* number of the search that set it */
	uint32_t cost;
	uint32_t from, turn; /* the arc before, and the turn that leads here */
	uint32_t steps;
};

struct route_entry {
	uint32_t arc, cost, after;
};

#define ROUTE_BUCKETS 4096

/* Elements and joins in use by the routes of one round, and a router beside them. */
struct router {
	const struct mesh *mesh;
	uint16_t *join_use, *state_use; /* by join, by state: number of routes that use it */
	uint16_t *states_used; /* by element: number of its states that routes use */
	uint16_t *joins_crowded; /* by element: number of its joins with more than one route */
	uint16_t *history; /* by element: price of congestion in earlier passes, in 1/16 */
	uint32_t clashes; /* number of elements with two used states or a crowded join */
	uint32_t pressure; /* price of each other route at an element, in 1/16 */
	bool forbid; /* a route does not pass where others do */
	uint32_t most_hops; /* largest number of elements of a route */
	uint32_t lone_hops; /* likewise, of a route alone: larger if the problem has no limit */
	uint32_t *lone; /* the turns of routes alone */
	struct route_label *labels;
	struct route_entry *entries;
	uint32_t entries_room;
	uint32_t buckets[ROUTE_BUCKETS];
	uint64_t filled[ROUTE_BUCKETS / 64];
	uint32_t stamp;
};

/* Memory of the driver's validator for one round of a profile. */
struct judge {
	const struct optics_graph *graph; /* NULL: no judgement */
	u64 *tx_lanes, *rx_lanes, *dead, *judged;
	u32 *owner;
	u8 *element_state, *element_marks, *guide_marks;
	struct optics_path *paths;
	struct optics_hop *hops;
	uint32_t count; /* of paths */
	struct mesh_block block;
};

/* Copies of rounds. A moved port needs one for each round, from COPY_ONE on. */
enum copy {
	COPY_ROUTE,
	COPY_UNSHORTENED,
	COPY_ONE,
	COPY_OTHER,
	COPIES
};

struct rounds {
	struct mesh mesh;
	struct judge judge;
	struct router router;
	uint32_t kind;
	uint32_t endpoints, vertices, rounds;
	uint32_t stride; /* room for the turns of a route */
	bool choose; /* the search chooses the ports */
	bool large; /* the exact search of exact.h does not apply to the fabric */
	const uint32_t *targets; /* by endpoint: that which receives its light; NULL: all pairs */
	uint32_t *tx, *rx; /* by endpoint: where its light enters, and where it leaves */
	uint16_t *togo; /* by column and arc: the least number of elements to the column's end */
	uint32_t *togo_of; /* by end: its column of togo, or MESH_NONE */
	uint32_t *queue; /* memory of lm_mesh_distances() */
	uint32_t begin; /* the endpoint whose circuit lm_round_route() routes first */
	uint16_t *chain; /* the vertices of the last Kempe chain */
	uint32_t *waiting; /* circuits without a round: src << 16 | dst; see rounds_first.c */
	uint64_t random;
	uint64_t moves;
	uint32_t arcs; /* visited by lm_round_search_routes(), for which no move was counted yet */

	uint16_t *mate; /* by round and vertex: the other vertex of its circuit, or ROUNDS_NONE */
	uint32_t *counts; /* by round and endpoint: number of turns of its route; 0: no route */
	uint32_t *hops; /* by round and endpoint: room for stride turns of its route */
	uint32_t *bad; /* by round: number of clashes */
	bool *searched; /* by round: lm_round_search_routes() failed since the last change */
	/* Copies of these four; the first index is the copy instead of the round. */
	uint16_t *old_mate;
	uint32_t *old_counts, *old_hops, *old_bad;

	struct mesh_block fixed, by_rounds;
};

/* ------------------------------------------------------------------ routes: mesh_route.c */

/* Where a circuit begins and ends, and where the search puts its turns. */
struct route_request {
	uint32_t enter; /* arc */
	uint32_t end; /* | MESH_END */
	const uint16_t *togo;
	uint32_t *turns; /* room for most_hops */
	uint32_t *count; /* of turns */
};

#define ROUTES_ALONE 8

/*
 * Find the cheapest route at the present prices: A* with exact distances (Hart, Nilsson and
 * Raphael, 1968), and buckets as a queue (Dial, 1969). Returns its number of turns, or 0 if it
 * finds no route of most_hops elements or fewer. O(arcs) if nothing is in use.
 */
uint32_t lm_route_find(struct router *router, const struct route_request *request);

/*
 * Find a shortest route beside those in use, or up to ROUTES_ALONE beside each other. A search in
 * depth with iterative deepening (Korf, 1985) up to most_hops, then routes of at most lone_hops
 * turns. lm_route_find() does not see that a route needs two states of one element. Writes turns
 * and counts, but not of a route of more than most_hops. Returns the most turns of a route. Returns
 * 0 if no such routes exist, or if @effort, the number of arcs to visit, has fallen to 0.
 */
uint32_t lm_route_find_alone(struct router *router, const struct route_request *requests,
			     uint32_t count, uint32_t *effort);

/* Enter a route of @count turns into the elements and joins in use, or take it out. O(count). */
void lm_route_add(struct router *router, const uint32_t *turns, uint32_t count);
void lm_route_remove(struct router *router, const uint32_t *turns, uint32_t count);

static inline bool router_clashes(const struct router *router, uint32_t element)
{
	return router->states_used[element] > 1 || router->joins_crowded[element];
}

/* Whether a route passes an element that clashes. O(count). */
bool lm_route_clashes(const struct router *router, const uint32_t *turns, uint32_t count);

/* ------------------------------------------------------------------ rounds: rounds.c */

static inline uint16_t *round_mate(const struct rounds *rounds, uint32_t round)
{
	return &rounds->mate[(size_t)round * rounds->vertices];
}

static inline size_t round_route(const struct rounds *rounds, uint32_t round, uint32_t endpoint)
{
	return (size_t)round * rounds->endpoints + endpoint;
}

static inline uint32_t *round_turns(const struct rounds *rounds, size_t route)
{
	return &rounds->hops[route * rounds->stride];
}

/* The endpoint that receives the circuit of @src in a round, or ROUNDS_NONE if it has none. */
static inline uint32_t round_target(const struct rounds *rounds, uint32_t round, uint32_t src)
{
	uint32_t mate = round_mate(rounds, round)[src];

	if (mate == ROUNDS_NONE)
		return ROUNDS_NONE;
	if (rounds->kind == MORPH_MATCHINGS_DIRECTED)
		return mate - rounds->endpoints;
	if (rounds->kind == MORPH_MATCHINGS_PAIRS && mate < src)
		return ROUNDS_NONE;
	return mate;
}

/* Whether the rounds together have a circuit, once. */
static inline bool lm_rounds_want(const struct rounds *rounds, uint32_t src, uint32_t dst)
{
	if (rounds->targets)
		return rounds->targets[src] == dst;
	return rounds->kind == MORPH_MATCHINGS_PAIRS ? src < dst : src != dst;
}

/* The least number of elements of a circuit. */
static inline uint32_t lm_rounds_distance(const struct rounds *rounds, uint32_t src, uint32_t dst)
{
	size_t at = (size_t)rounds->togo_of[rounds->rx[dst]] * rounds->mesh.arcs;

	return rounds->togo[at + rounds->mesh.enter[rounds->tx[src]]];
}

/* Lay out memory for rounds of @endpoints circuits of @stride elements. 0, or a noted -ENOMEM. */
int lm_judge_lay(struct morph_ctx *ctx, struct judge *judge, const struct morph_model *model,
		 uint32_t endpoints, uint32_t stride);

/*
 * Whether the driver's validator refuses a legal round, or a signal lacks isolation from the other
 * circuits of the round. Unused elements are parked. O(circuits * elements of a route, and their
 * stray light).
 */
bool lm_judge_refuses(struct judge *judge, const struct rounds *rounds, uint32_t round,
		      struct optics_refusal *refusal);

/* Route the circuits of a round beside each other, by negotiated congestion. Sets bad[round]. */
void lm_round_route(struct rounds *rounds, uint32_t round);

/*
 * Search the routes of the circuits that clash in a round, beside those of the others: all routes
 * of most_hops elements or fewer, for up to ROUTES_ALONE circuits. If there are none, likewise with
 * other circuits up to this number. Whether the round is legal then. Visits arcs for one move at
 * most, and counts them in moves.
 */
bool lm_round_search_routes(struct rounds *rounds, uint32_t round);

/*
 * Divide all pairs into rounds at random, and exchange circuits until all rounds fit, in at most
 * @moves moves. Whether they fit. A move costs the routes of two rounds. If LAST_ROUNDS rounds or
 * fewer clash in a large fabric, lm_round_search_routes() searches their routes, too.
 */
bool lm_rounds_search(struct rounds *rounds, uint64_t moves);

/*
 * Replace the routes of legal rounds that are longer than most_hops, in at most @moves moves.
 * Whether all rounds fit again.
 */
bool lm_rounds_limit(struct rounds *rounds, uint64_t moves);

/* What the route of a circuit must join. */
struct route_request lm_round_request(struct rounds *rounds, size_t route, uint32_t src,
				      uint32_t dst);

/* Find a new route for a circuit, whose old route is not in use any more. */
void lm_round_find_route(struct rounds *rounds, size_t route, uint32_t src, uint32_t dst);

/* Take the routes of a round out of the router. O(endpoints * elements of a route). */
void lm_round_unload(struct rounds *rounds, uint32_t round);

/* ------------------------------------------------------------------ rounds_first.c */

enum rounds_first {
	FIRST_FOUND,
	FIRST_LACKS_ROUNDS,
	FIRST_REFUSED, /* the first waiting circuit, even alone */
	FIRST_UNREACHABLE, /* likewise, and no other route of lone_hops elements or fewer exists */
};

/*
 * Fill one round after the other with the circuits that fit beside those in it, those of a long
 * distance first. Lowers the number of rounds to those needed. O(rounds * circuits * arcs), and for
 * fabrics a judgement for each circuit that is added.
 */
enum rounds_first lm_rounds_first(struct rounds *rounds);

/*
 * Find a circuit that has no route of lone_hops elements or fewer, even alone; for duplex, two
 * circuits that have none together. The memory of one round is laid out. Whether there is such a
 * circuit; false, too, if the search is too long.
 */
bool lm_rounds_find_separated(struct rounds *rounds, uint32_t *src, uint32_t *dst);

/* ------------------------------------------------------------------ rounds.c again */

/* Elements on all routes of all rounds, and on the longest one. */
uint32_t lm_rounds_total(const struct rounds *rounds);
uint32_t lm_rounds_longest(const struct rounds *rounds);

/*
 * Shorten routes of legal rounds. Exchange circuits if this makes routes shorter, in at most @moves
 * moves, until all routes together have at most @enough elements.
 */
void lm_rounds_shorten(struct rounds *rounds, uint64_t enough, uint64_t moves);

#endif /* LM_MATCHINGS_ROUNDS_H */

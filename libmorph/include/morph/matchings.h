/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libmorph: rounds of circuits that join all pairs of endpoints. Included by <morph/plan.h>. */
#ifndef MORPH_MATCHINGS_H
#define MORPH_MATCHINGS_H

#include <morph/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * DOC: Matchings
 *
 * A round is a set of circuits that are lit at the same time. morph_matchings_find() divides all
 * pairs of endpoints into rounds, such that each pair meets exactly once and all circuits of a
 * round fit together. With targets it joins chosen pairs only, as a switch does. The purpose and
 * the name are those of PipSwitch (Ding and Singh, OFC 2025); the method is our own.
 *
 * The fabric is a profile, or a hexagonal mesh of programmable unit cells that is described by its
 * width and height. An element has one state in a round, and each state joins pairs of its ports.
 * So two routes of a round share an element only if they need the same state and other ports.
 *
 * Ports of a hexagonal mesh are numbered clockwise along its rim, as port_nodes of a profile. Port
 * 0 belongs to corner 1 of cell (height - 1) / 2. States 0 and 1 of its elements are bar and cross.
 */

/**
 * enum morph_matchings_kind - circuits of a pair of endpoints
 * @MORPH_MATCHINGS_DIRECTED: one from i to j and one from j to i, in any rounds. An endpoint has a
 *	transmit port and a receive port
 * @MORPH_MATCHINGS_DUPLEX: as directed, but both circuits are in one round
 * @MORPH_MATCHINGS_PAIRS: one, which passes light both ways. An endpoint has one port. Only for
 *	hexagonal meshes, since profiles have no such port
 */
enum morph_matchings_kind {
	MORPH_MATCHINGS_DIRECTED = 0,
	MORPH_MATCHINGS_DUPLEX = 1,
	MORPH_MATCHINGS_PAIRS = 2,
};

/**
 * enum morph_matchings_bound - derivations of a lower bound of rounds
 *
 * If several give the same bound, the answer names the first one of this list.
 *
 * @MORPH_MATCHINGS_DEGREE: an endpoint meets one other endpoint in each round
 * @MORPH_MATCHINGS_DISTANCE: the shortest routes of all pairs together need more arms than the
 *	elements have in fewer rounds. An arm is one join of the state of an element
 * @MORPH_MATCHINGS_CUT: more circuits pass the guides around a set of elements than these guides
 *	carry in fewer rounds. See @cut of struct morph_matchings_answer
 * @MORPH_MATCHINGS_FRACTIONAL: as distance, with a length for each join of each state. See @lengths
 *	of struct morph_matchings_answer
 * @MORPH_MATCHINGS_EXHAUSTIVE: no settings of the elements give fewer rounds. The search tried all
 */
enum morph_matchings_bound {
	MORPH_MATCHINGS_DEGREE = 0,
	MORPH_MATCHINGS_DISTANCE = 1,
	MORPH_MATCHINGS_CUT = 2,
	MORPH_MATCHINGS_FRACTIONAL = 3,
	MORPH_MATCHINGS_EXHAUSTIVE = 4,
};

#define MORPH_MATCHINGS_MOST_ENDPOINTS 256
#define MORPH_MATCHINGS_ANY 0xffff /* state of an element that no circuit passes */

/**
 * struct morph_matchings_problem - pairs to join, and limits of the search
 * @sz: sizeof(struct morph_matchings_problem)
 * @kind: enum morph_matchings_kind
 * @model: the fabric; NULL: a hexagonal mesh
 * @width: of the hexagonal mesh in cells, odd, at most 63
 * @height: of the hexagonal mesh in cells, at most 64
 * @endpoints: number of endpoints, 2 to MORPH_MATCHINGS_MOST_ENDPOINTS
 * @tx: for each endpoint, the port at which its light enters. In a fabric: accelerator * planes +
 *	plane. In a mesh: a port of the rim. MORPH_ANY: none, for an endpoint without a target.
 *	NULL: the search chooses ports of the mesh
 * @rx: likewise, the port at which its light leaves. MORPH_ANY: none, for an endpoint that is no
 *	target. NULL with @tx NULL, and for MORPH_MATCHINGS_PAIRS
 * @failed: elements that neither pass light nor switch
 * @failed_count: entries of @failed
 * @stuck: elements that pass light in one state only
 * @stuck_states: for each of @stuck, this state
 * @stuck_count: entries of @stuck and @stuck_states
 * @rounds: search exactly this number of rounds; 0: the fewest
 * @hops: limit of the elements of a route; 0: the loss budget of the fabric, or none in a mesh
 * @seed: of the random numbers. The answer depends on the arguments only
 * @moves: budget of the search, in moves; 0: the default. A move exchanges circuits of two rounds
 *	and routes both, or routes a single round in another order. It can instead count 16384 ports
 *	of elements that the search of all routes of a round visits. In a fabric of at most 22
 *	elements with two states, it can count 16384 settings, choices of ports and matchings that
 *	the exact search visits
 * @first: stop at the first legal set, with any number of rounds
 * @unjudged: do not ask the driver's validator whether power, margin and isolation suffice when all
 *	circuits of a round are lit. Isolation is that of the profile, here between any two circuits
 *	of a round. The answer then names the rounds that the validator refuses. A mesh has no
 *	validator
 * @targets: for each endpoint, the endpoint that receives its light, or MORPH_ANY: none. The rounds
 *	then have these circuits only, as a switch does. Targets differ. For
 *	MORPH_MATCHINGS_DIRECTED with given ports; NULL: all pairs
 */
struct morph_matchings_problem {
	size_t sz;
	uint32_t kind;
	struct morph_model *model;
	uint32_t width;
	uint32_t height;
	uint32_t endpoints;
	const uint32_t *tx;
	const uint32_t *rx;
	const uint32_t *failed;
	size_t failed_count;
	const uint32_t *stuck;
	const uint32_t *stuck_states;
	size_t stuck_count;
	uint32_t rounds;
	uint32_t hops;
	uint64_t seed;
	uint64_t moves;
	bool first;
	bool unjudged;
	const uint32_t *targets;
};

/**
 * struct morph_matchings_circuit - a circuit of a round
 * @src: the endpoint that sends; the lower one for MORPH_MATCHINGS_PAIRS
 * @dst: the endpoint that receives
 * @first: index of its first hop
 * @count: number of its hops
 */
struct morph_matchings_circuit {
	uint32_t src;
	uint32_t dst;
	uint32_t first;
	uint32_t count;
};

/**
 * struct morph_matchings_hop - an element of a route
 * @element: the element
 * @entry: the port of the element at which light enters
 * @state: the state of the element in this round
 */
struct morph_matchings_hop {
	uint32_t element;
	uint16_t entry;
	uint16_t state;
};

/**
 * struct morph_matchings_answer - rounds, and what is proven
 * @verdict: enum morph_verdict. MORPH_INFEASIBLE: no number of rounds is enough, or @rounds of the
 *	problem is below @bound
 * @rounds: number of rounds; 0 unless feasible
 * @round_first: for each round, the index of its first circuit; one more entry for the end
 * @circuits: the circuits of all rounds
 * @hops: the hops of all circuits, in the direction of light
 * @states: for each round and element, the state, or MORPH_MATCHINGS_ANY: no circuit passes it
 * @elements: number of elements of the fabric or mesh
 * @tx: for each endpoint, its port, given or chosen
 * @rx: likewise
 * @hops_most: limit of the elements of a route: given, or of the loss budget; 0: none
 * @longest: most elements on a route
 * @total: elements on all routes
 * @distance: elements on the shortest routes of all pairs together: lower bound of @total
 * @writes: elements written between rounds, from each round to the next and from the last to the
 *	first
 * @bound: lower bound of the number of rounds. If the search chose the ports, for any ports. 0: the
 *	pair of @src and @dst has no route. The number of pairs, plus 1: no ports have routes for
 *	all pairs
 * @bound_kind: enum morph_matchings_bound
 * @lengths: for MORPH_MATCHINGS_FRACTIONAL, the multipliers: a length for each join of each state
 *	of each element, in the order element, state, join. The joins of a state are numbered by
 *	their lower port. The sum of the shortest routes of all pairs, divided by the sum over
 *	elements of the largest state's sum, rounded up, is @bound. For MORPH_MATCHINGS_EXHAUSTIVE
 *	at given ports, a weight for each pair. A setting weighs as much as the pairs that it
 *	joins, so settings that together weigh less than all pairs do not join all. The directed
 *	pair (i, j) has the number i * (endpoints - 1) + j, less 1 if j > i. Else the pair i < j has
 *	the number j * (j - 1) / 2 + i
 * @lengths_count: number of @lengths; 0 for other bounds
 * @src: for MORPH_INFEASIBLE with @bound 0: the endpoint that has no route to @dst. On a route each
 *	element has one state. A route has at most @hops_most elements, or any number if it is 0.
 *	For MORPH_MATCHINGS_DUPLEX, no round has routes in both directions
 * @dst: the other endpoint
 * @moves: moves that the search made
 * @cut: for MORPH_MATCHINGS_CUT, elements. A circuit between a port at one of them and a port at
 *	another element passes a guide between two such elements. A guide carries one circuit in a
 *	round, and none at a failed element. So the number of these circuits, divided by that of
 *	these guides, rounded up, is a lower bound. For MORPH_MATCHINGS_DUPLEX, a second one is the
 *	number of pairs with two of these circuits, divided by half the number of guides, rounded
 *	down. @bound is the larger one. If there is one guide, @bound is 0, and both circuits of
 *	@src and @dst would need it in one round
 * @cut_count: number of @cut; 0 for other proofs
 * @refused: with @unjudged of the problem, the rounds that the driver's validator refuses, since
 *	power, margin or isolation do not suffice when all circuits of the round are lit
 * @refused_count: number of @refused
 */
struct morph_matchings_answer {
	uint32_t verdict;
	uint32_t rounds;
	const uint32_t *round_first;
	const struct morph_matchings_circuit *circuits;
	const struct morph_matchings_hop *hops;
	const uint16_t *states;
	uint32_t elements;
	const uint32_t *tx;
	const uint32_t *rx;
	uint32_t hops_most;
	uint32_t longest;
	uint64_t total;
	uint64_t distance;
	uint64_t writes;
	uint32_t bound;
	uint32_t bound_kind;
	const uint32_t *lengths;
	size_t lengths_count;
	uint32_t src;
	uint32_t dst;
	uint64_t moves;
	const uint32_t *cut;
	size_t cut_count;
	const uint32_t *refused;
	size_t refused_count;
};

/**
 * morph_matchings_new() - create a search
 * @ctx: the context, for errors only
 *
 * Return: the search, or NULL without memory. Not thread-safe: one user at a time.
 */
struct morph_matchings *morph_matchings_new(struct morph_ctx *ctx);

/**
 * morph_matchings_free() - free a search and its last answer
 * @matchings: the search, or NULL
 */
void morph_matchings_free(struct morph_matchings *matchings);

/**
 * morph_matchings_find() - find rounds that join all pairs
 * @matchings: the search
 * @problem: the problem; not referred to after return
 * @answer: the answer; its arrays belong to the search and are valid until its next call
 *
 * The search minimises the number of rounds, then the longest route and the total, then the
 * elements written between rounds. In a fabric with at most 2^22 settings of its elements, an exact
 * search finds the fewest rounds, as far as the budget lasts. If the search chooses the ports, the
 * mesh has at most 24 ports. The exact search takes up to 300 MiB of memory. A search that follows
 * one of the same or a larger size does not allocate memory.
 * It keeps its set-up, and a reference to the model, for a next search with the same fabric, ports
 * and faults.
 *
 * Return: 0, whatever the verdict; -EINVAL (the text names the wrong argument), -ENOMEM.
 */
int morph_matchings_find(struct morph_matchings *matchings,
			 const struct morph_matchings_problem *problem,
			 struct morph_matchings_answer *answer);

#ifdef __cplusplus
}
#endif

#endif /* MORPH_MATCHINGS_H */

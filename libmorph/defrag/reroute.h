/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rerouting: the circuits of a rack. A circuit begins and ends at a site, which is a server or a
 * part of it. Some circuits are lit and can move, others are new.
 * The search finds routes for all, moves few lit circuits, and orders the moves so that circuits
 * stay lit.
 * Fibres between two sites are interchangeable, so a route is a list of sites. Each circuit has its
 * own route, even between the same sites.
 */
#ifndef LM_DEFRAG_REROUTE_H
#define LM_DEFRAG_REROUTE_H

#include "../place/net.h"
#include "../place/routes.h"
#include "../util/shortest.h"

#define REROUTE_METRICS 64
#define REROUTE_FLOWS 2048
#define REROUTE_ACTIONS (4 * REROUTE_FLOWS)
#define REROUTE_SHARES (2 * REROUTE_FLOWS)
#define REROUTE_WHOLE 4096U /* one circuit, in shares */
#define REROUTE_SEEN 4096 /* limit of remembered states */

/* The sites of a path, including both ends. */
struct way {
	uint8_t hops;
	uint8_t sites[NET_SITES]; /* hops + 1 of them */
};

/* A circuit. */
struct flow {
	uint8_t from, to; /* sites */
	bool running; /* it is lit */
	bool stays; /* negotiation does not reroute it */
	bool ports; /* a new path can be lit beside the old one: both ends have a free port */
	uint8_t least; /* hops of its shortest path */
	uint32_t slice, circuit; /* number of the slice, and of the circuit in it */
	uint64_t through; /* sites that it can cross */
	struct way was; /* present path of a running circuit */
	struct way goes; /* final path */
	struct way now; /* path during the search for an order */
};

/* Of links between sites. */
struct lengths {
	uint32_t of[NET_SITES][NET_SITES];
};

#define LENGTH_APART (1U << 30) /* length of a missing path */

/* Circuits with the same ends that can cross the same sites. */
struct bundle {
	uint8_t from, to;
	uint32_t circuits;
	uint32_t shares; /* the first one, or SHARES_NONE */
	uint64_t through;
};

/* The part of a bundle that takes one path. */
struct share {
	struct way way;
	uint32_t amount; /* REROUTE_WHOLE is one circuit */
	uint32_t next; /* of the bundle, or SHARES_NONE */
};

#define SHARES_NONE UINT32_MAX

/*
 * A length for each link with capacity. All circuits together need at least the sum of their
 * shortest paths by these lengths. If this exceeds the length of all capacities, the embedding has
 * no routes, whatever the routes of running circuits. Length 1 everywhere counts hops; length 1 on
 * the links out of a set of sites is a cut.
 * By linear programming, such lengths exist whenever not even fractional routes exist: Onaga and
 * Kakusho, On feasibility conditions of multicommodity flows in networks (IEEE Transactions on
 * Circuit Theory 18, 1971); Iri (1971).
 */
struct metric {
	int64_t slack; /* length of the capacities minus the need of running circuits */
	struct lengths lengths; /* at most UINT16_MAX */
	uint32_t apart[NET_SITES][NET_SITES]; /* shortest paths of the request's circuits */
};

enum action_kind {
	ACTION_MOVE, /* light the new path, then darken the old one */
	ACTION_SWITCH, /* darken the old path, then light the new one */
	ACTION_BREAK, /* darken it */
	ACTION_MAKE, /* light it again */
};

struct action {
	uint32_t flow;
	enum action_kind kind;
	struct way way; /* its path after the action */
};

struct reroute {
	struct net room; /* of all flows together */
	uint64_t through; /* sites that the request's circuits can cross */
	uint32_t running, count; /* flows: running ones first */
	struct flow flows[REROUTE_FLOWS];
	/* Lengths that prove that embeddings have no routes. */
	uint32_t metrics_count;
	struct metric metrics[REROUTE_METRICS];
	struct lengths scratch;
	/* Fractional flows, and the load and overload of links. */
	uint32_t bundles_count, shares_count;
	uint32_t shares_spare; /* the first free one, or SHARES_NONE */
	struct bundle bundles[REROUTE_FLOWS];
	struct share shares[REROUTE_SHARES];
	uint32_t load[NET_SITES][NET_SITES];
	struct lengths excess;
	/* By lm_reroute_order(). */
	uint32_t actions_count;
	uint32_t interrupted; /* circuits that go dark */
	uint32_t touched; /* circuits that move, temporarily or permanently */
	struct action actions[REROUTE_ACTIONS];
	/* During the search. */
	uint16_t used[NET_SITES][NET_SITES];
	uint16_t grudge[NET_SITES][NET_SITES];
	uint8_t state[REROUTE_FLOWS];
	uint16_t pins[REROUTE_FLOWS];
	uint64_t seen[REROUTE_SEEN];
};

bool lm_way_same(const struct way *one, const struct way *other);

/* Take the links of a path, or give them back. */
void lm_way_charge(uint16_t used[NET_SITES][NET_SITES], const struct way *way, int units);

/*
 * Measure paths from a site by lengths; @through as in struct flow. The cost of a site that no path
 * reaches is LENGTH_APART.
 */
void lm_lengths_measure(const struct net *room, const struct lengths *lengths, uint32_t from,
			uint64_t through, struct shortest *search);

/* reroute_bound.c: bundle the flows from @first to before @end, without routes so far. */
void lm_shares_bundle(struct reroute *reroute, uint32_t first, uint32_t end);

/*
 * The need of all bundles by these lengths; INT64_MAX if one has no path at all. With @lead the
 * bundles get these paths. The first path of a bundle gets all of it.
 */
int64_t lm_shares_need(struct reroute *reroute, const struct net *room,
		       const struct lengths *lengths, bool lead);

/* Write the overloads of links as lengths to reroute->excess. Returns whether there are any. */
bool lm_shares_excess(struct reroute *reroute, const struct net *room);

/* Move shares of each bundle to its cheapest path. Returns whether any moved. */
bool lm_shares_even(struct reroute *reroute, const struct net *room);

/* Give each flow a path of its bundle, in proportion to the shares. */
void lm_shares_deal(struct reroute *reroute);

/* Begin with the shortest path of each running circuit. */
void lm_reroute_begin(struct reroute *reroute);

/* Add a circuit of the request. The calls below route all circuits. False if there are too many. */
bool lm_reroute_add(struct reroute *reroute, uint32_t from, uint32_t to, uint32_t circuit);

/*
 * Route all flows by negotiated congestion that starts from the present paths. Then flows return to
 * their old paths if they can. It mostly finds routes; a failure proves nothing. McMurchie and
 * Ebeling, PathFinder (FPGA 1995). O(rounds * flows * sites^2).
 */
bool lm_reroute_negotiate(struct reroute *reroute);

/* The same, starting from the largest shares, after lm_reroute_refute() found no proof. */
bool lm_reroute_negotiate_shares(struct reroute *reroute);

/*
 * Find routes for all flows that move at most @limit running ones, or prove that none exist. The
 * search moves each of the flows that block a circuit in turn. A flow whose move failed stays in
 * later branches. Exponential; @steps counts down.
 */
enum routes_verdict lm_reroute_exhaust(struct reroute *reroute, uint32_t limit, uint64_t *steps);

/* Whether a metric proves that the flows have no routes. */
bool lm_reroute_refuted(const struct reroute *reroute);

/* The metric that counts hops, which is the first one. */
void lm_reroute_count_hops(struct reroute *reroute);

/*
 * Look for such a metric, and keep it while there is space. Fractional flows minimise the sum of
 * squared overloads. Each iteration moves flow to a cheaper path, with the overloads as prices
 * (Fratta, Gerla and Kleinrock, The flow deviation method, Networks 3, 1973; Bertsekas and Gafni,
 * Projected Newton methods, 1983). If no overload remains, fractional routes exist. Otherwise the
 * overloads are a metric. It takes some dozens of rounds of O(bundles * (sites^2 + shares * hops)).
 */
bool lm_reroute_refute(struct reroute *reroute);

/* The same with all running circuits in place; keeps no metric. */
bool lm_reroute_refute_still(struct reroute *reroute);

/* How many running flows take another path. */
uint32_t lm_reroute_moved(const struct reroute *reroute);

/*
 * Order the moves. A new path is lit beside the old one if fibres and ports allow. If some flows
 * wait for each other in a circle, one takes a detour over free fibres; without free fibres it goes
 * dark for a while. Jose and Somani, Connection rerouting/network reconfiguration (DRCN 2003);
 * Coudert, Perennes, Pham and Sereni, Rerouting requests in WDM networks (AlgoTel 2005).
 * Depth-first search with a memory of states. @nodes limits it for each number of detours and
 * interruptions; after that all flows go dark at once. It never fails.
 */
void lm_reroute_order(struct reroute *reroute, uint32_t nodes);

#endif /* LM_DEFRAG_REROUTE_H */

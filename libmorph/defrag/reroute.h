/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rerouting: circuits between the sites of a rack, some of which are lit and may be led another
 * way, and some of which are to come. Which ways do all of them go, how few that are lit have to
 * be moved for it, and in which order is each moved so that its light does not go out?
 *
 * Fibres from one site to the next are alike, so a way is a list of sites; each circuit goes its
 * own, whoever else goes from the same site to the same site.
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
#define REROUTE_WHOLE 4096U /* what one circuit is, in shares */
#define REROUTE_SEEN 4096 /* states of the order that are remembered */

/* The sites that a circuit crosses, both ends among them. */
struct way {
	uint8_t hops;
	uint8_t sites[NET_SITES]; /* hops + 1 of them */
};

/* A circuit. */
struct flow {
	uint8_t from, to; /* sites */
	bool running; /* it is lit */
	bool stays; /* it is not led another way by negotiation */
	bool ports; /* at both ends there is a port more than are lit: a new way may be lit beside the old */
	uint8_t least; /* hops, were it alone */
	uint32_t slice, circuit; /* whose, and which */
	uint64_t through; /* sites that it may cross */
	struct way was; /* that it goes, while it is running */
	struct way goes; /* that it is to go */
	struct way now; /* while the order is looked for */
};

/* Of links, from site to site. */
struct lengths {
	uint32_t of[NET_SITES][NET_SITES];
};

#define LENGTH_APART (1U << 30) /* of where there is no way */

/* Circuits that have the same ends and may cross the same sites. */
struct bundle {
	uint8_t from, to;
	uint32_t circuits;
	uint32_t shares; /* its first, or SHARES_NONE */
	uint64_t through;
};

/* A part of a bundle that goes a way of its own. */
struct share {
	struct way way;
	uint32_t amount; /* REROUTE_WHOLE: a circuit */
	uint32_t next; /* of the bundle, or SHARES_NONE */
};

#define SHARES_NONE UINT32_MAX

/*
 * A length for each link that there is room on. What all circuits need at least, by the shortest
 * ways of these lengths, can be no more than the lengths of all the room there is together; so an
 * embedding that needs more has no ways, wherever its circuits and those that run are led. With
 * length 1 everywhere this counts hops; with 1 on the links out of a set of sites it is a cut.
 * By linear programming there are such lengths whenever not even shares of circuits have ways:
 * Onaga and Kakusho, On feasibility conditions of multicommodity flows in networks (IEEE
 * Transactions on Circuit Theory 18, 1971); Iri (1971).
 */
struct metric {
	int64_t slack; /* what the room is longer than what runs needs */
	struct lengths lengths; /* UINT16_MAX at most */
	uint32_t apart[NET_SITES][NET_SITES]; /* shortest ways of the request's circuits */
};

enum action_kind {
	ACTION_MOVE, /* the new way is lit, then the old goes out */
	ACTION_SWITCH, /* the old way goes out, then the new is lit */
	ACTION_BREAK, /* it goes out */
	ACTION_MAKE, /* it is lit again */
};

struct action {
	uint32_t flow;
	enum action_kind kind;
	struct way way; /* that it goes from now on */
};

struct reroute {
	struct net room; /* of all flows together */
	uint64_t through; /* sites that the request's circuits may cross */
	uint32_t running, count; /* flows: those that run are first */
	struct flow flows[REROUTE_FLOWS];
	/* Lengths by which embeddings have no ways. */
	uint32_t metrics_count;
	struct metric metrics[REROUTE_METRICS];
	struct lengths scratch;
	/* Shares of flows, and what links bear of them, in all and too much. */
	uint32_t bundles_count, shares_count;
	uint32_t shares_spare; /* the first of those that were given back, or SHARES_NONE */
	struct bundle bundles[REROUTE_FLOWS];
	struct share shares[REROUTE_SHARES];
	uint32_t load[NET_SITES][NET_SITES];
	struct lengths excess;
	/* By lm_reroute_order(). */
	uint32_t actions_count;
	uint32_t interrupted; /* circuits that go dark */
	uint32_t touched; /* circuits that are moved, for a while or for good */
	struct action actions[REROUTE_ACTIONS];
	/* While it works. */
	uint16_t used[NET_SITES][NET_SITES];
	uint16_t grudge[NET_SITES][NET_SITES];
	uint8_t state[REROUTE_FLOWS];
	uint16_t pins[REROUTE_FLOWS];
	uint64_t seen[REROUTE_SEEN];
};

bool lm_way_same(const struct way *one, const struct way *other);

/* Take a way's links, or give them back. */
void lm_way_charge(uint16_t used[NET_SITES][NET_SITES], const struct way *way, int units);

/*
 * Measure paths from a site by lengths; @through as in struct flow. The cost of a site that no path reaches is
 * LENGTH_APART.
 */
void lm_lengths_measure(const struct net *room, const struct lengths *lengths, uint32_t from,
			uint64_t through, struct shortest *search);

/* reroute_bound.c: bundles of the flows from @first to before @end, none of which has ways yet. */
void lm_shares_bundle(struct reroute *reroute, uint32_t first, uint32_t end);

/*
 * What all bundles need by these lengths; INT64_MAX where one has no way at all. With @lead they may
 * go these ways from now on; the first that a bundle may go is that of all of it.
 */
int64_t lm_shares_need(struct reroute *reroute, const struct net *room,
		       const struct lengths *lengths, bool lead);

/* What links bear too much, as lengths in reroute->excess. Returns whether any does. */
bool lm_shares_excess(struct reroute *reroute, const struct net *room);

/* Each bundle moves shares to the cheapest of its ways. Returns whether any was moved. */
bool lm_shares_even(struct reroute *reroute, const struct net *room);

/* Each flow is to go a way of its bundle, as many each as its share is. */
void lm_shares_deal(struct reroute *reroute);

/* Where running circuits begin: what is shortest for each, were it alone. */
void lm_reroute_begin(struct reroute *reroute);

/*
 * One circuit of the request; ways are found for all by the calls below. False where there are
 * too many circuits.
 */
bool lm_reroute_add(struct reroute *reroute, uint32_t from, uint32_t to, uint32_t circuit);

/*
 * Ways for all flows by negotiated congestion that begins with what is lit where it is; then
 * whatever can goes back to where it was. Mostly finds ways, proves nothing otherwise. McMurchie
 * and Ebeling, PathFinder (FPGA 1995). O(rounds * flows * sites^2).
 */
bool lm_reroute_negotiate(struct reroute *reroute);

/* The same from where the largest shares go, after lm_reroute_refute() has refuted nothing. */
bool lm_reroute_negotiate_shares(struct reroute *reroute);

/*
 * Ways for all flows that move no more than @limit of those that run, or the answer that there
 * are none. What is in the way of a circuit is moved, one after the other of what could be; what
 * was tried in vain stays in the branches after. Exponential; @steps counts down.
 */
enum routes_verdict lm_reroute_exhaust(struct reroute *reroute, uint32_t limit, uint64_t *steps);

/* Is there a metric by which the flows have no ways? */
bool lm_reroute_refuted(const struct reroute *reroute);

/* The metric that counts hops, which is the first. */
void lm_reroute_count_hops(struct reroute *reroute);

/*
 * Look for such a metric, and keep it while there is room for more. Shares of circuits are led so that the sum of squares of what
 * links bear too much becomes as small as can be: from each way to a cheaper one, at what its links
 * bear too much for prices (Fratta, Gerla and Kleinrock, The flow deviation method, Networks 3, 1973;
 * Bertsekas and Gafni, Projected Newton methods, 1983). Where nothing is too much in the end, all
 * shares have ways; else what is too much is a metric, as shortest ways bear it, too. Found within some
 * dozens of rounds of O(bundles * (sites^2 + shares * hops)).
 */
bool lm_reroute_refute(struct reroute *reroute);

/* The same while all that runs stays where it is; nothing is kept. */
bool lm_reroute_refute_still(struct reroute *reroute);

/* How many running flows go another way. */
uint32_t lm_reroute_moved(const struct reroute *reroute);

/*
 * Order what is moved. Each new way is lit while the old one is, where fibres and ports allow; if
 * some wait for each other in a circle, one is led aside first, over fibres that are free; where
 * there are none it goes out for a while. Jose and Somani, Connection rerouting/network
 * reconfiguration (DRCN 2003); Coudert, Perennes, Pham and Sereni, Rerouting requests in WDM
 * networks (AlgoTel 2005). Depth first, with states that were seen; bounded by @nodes for each
 * number of detours and interruptions, and then all at once go out. Never fails.
 */
void lm_reroute_order(struct reroute *reroute, uint32_t nodes);

#endif /* LM_DEFRAG_REROUTE_H */

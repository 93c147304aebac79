/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Requests, ledgers and plans, as the files of placement share them. */
#ifndef LM_PLAN_PLACE_H
#define LM_PLAN_PLACE_H

#include "../model/model.h"
#include "../util/array.h"
#include "../util/request.h"
#include "../model/sites.h"
#include "stitch.h"

struct rack_refusal {
	uint32_t rack;
	uint32_t reason; /* enum morph_wire_refusal */
	uint32_t have, need;
	uint32_t cuts_first, cuts_count; /* in plan.cuts: sets of servers */
};

/* The fibres of a circuit, hop by hop; none inside a server. */
struct circuit_way {
	uint32_t first, count; /* in the plan's list of fibres */
	uint32_t band; /* the same on all hops; 0 if circuits take fibres whole */
};

struct morph_plan {
	struct morph_ctx *ctx;
	uint32_t verdict, tier;
	uint32_t checksum; /* of the profile */
	uint32_t ranks, lanes, farthest, transit, circuits_count;
	uint32_t bands; /* of the request */
	bool whole; /* parts that fill a server stay together */
	bool not_whole; /* proven: the request does not fit in whole servers */
	uint32_t fibres_bound, servers, servers_bound;
	uint32_t accelerators[MOST_RANKS];
	uint16_t parts[MOST_RANKS];
	uint32_t extent[3];
	uint32_t circuits_room, strands_count, strands_room, refusals_count, refusals_room;
	uint32_t cuts_count, cuts_room;
	struct rank_pair *circuits;
	struct circuit_way *ways;
	struct strand *strands;
	struct rack_refusal *refusals;
	uint64_t *cuts;
	char why[256];
};

/* A mapping of ranks to accelerators, and its cost. */
struct mapping {
	uint32_t accelerators[RACK_ACCELERATORS];
	uint16_t seats[RACK_ACCELERATORS];
	uint32_t broken; /* free accelerators left over in its servers */
	uint32_t fibres; /* lower bound */
	uint32_t servers;
};

#define PARTNER_SENDS 0x80000000U /* | rank: that rank sends, and this one receives */

/* Memory of a search in one rack. */
struct rack_search {
	uint32_t rack;
	uint64_t steps; /* left */
	uint8_t free[NET_SITES]; /* accelerators, by server */
	uint32_t bands;
	struct net net; /* of all bands together */
	struct net nets[BANDS]; /* for several bands */
	net_distances distances;
	struct mapping best, trial;
	struct pattern pattern;
	bool prepared; /* the pattern is that of the request */
	struct routes routes;
	uint16_t units[NET_SITES][NET_SITES]; /* circuits between servers */
	uint16_t route_of[NET_SITES][NET_SITES]; /* of pairs with units: the next route to use */
	uint32_t block[3]; /* of accelerators that a whole server has */
	uint32_t partners_first[MOST_RANKS + 1];
	uint32_t *partners; /* ranks that share a circuit with a rank; PARTNER_SENDS */
	uint32_t partners_room;
	struct stitch stitch;
};

struct morph_ledger {
	struct morph_ctx *ctx;
	struct morph_model *model;
	const struct optics_graph *graph;
	struct sites sites;
	uint32_t *owner; /* by accelerator */
	bool *chip_marked;
	bool *spare; /* by accelerator: no slice can have it */
	bool *element_marked;
	uint16_t *element_held; /* fibres in use that pass it */
	uint32_t *element_kept; /* number of ranks whose protections need it */
	bool *guide_marked;
	uint64_t *guide_lanes;
	uint32_t *guide_kept;
	uint16_t *host_free; /* accelerators */
	uint16_t *rack_free;
	uint32_t *rack_order; /* order of the search */
	struct optics_state *state; /* inside servers: elements that circuits hold; NULL: none */
	struct rack_search search;
	struct crossing *crossing; /* memory of the tier across racks; NULL until needed */
};

static inline const struct net *lm_rack_nets(const struct rack_search *search)
{
	return search->bands > 1 ? search->nets : &search->net;
}

/* The lanes of a band: an equal share of adjacent wavelengths of a fibre. A single band has all. */
static inline uint64_t lm_band_lanes(const struct optics_graph *graph, uint32_t bands,
				     uint32_t band)
{
	uint32_t each = graph->params.wavelengths / bands;

	return graph->all_lanes >> (graph->params.wavelengths - each) << band * each;
}

/* The lanes that a circuit can use: all if it stays inside a server. */
static inline uint64_t lm_way_lanes(const struct optics_graph *graph, const struct morph_plan *plan,
				    const struct circuit_way *way)
{
	return way->count ? lm_band_lanes(graph, plan->bands, way->band) : graph->all_lanes;
}

/*
 * 0, or a noted -EINVAL (the client library has another layout of requests) or -E2BIG (too many
 * ranks).
 */
int lm_request_readable(struct morph_ctx *ctx, const struct morph_request *request);

/* Lanes of each circuit. The result can exceed the lanes of a fibre. */
uint64_t lm_request_lanes(const struct morph_request *request, const struct optics_graph *graph);

/* 0, or a noted -EINVAL if the plan is not feasible or of another profile. */
int lm_plan_check(const struct morph_ledger *ledger, const struct morph_plan *plan);

/* Allocate ledger->state if it does not exist. 0 or a noted -ENOMEM. */
int lm_ledger_state(struct morph_ledger *ledger);

/* Whether a slice can get this accelerator. */
bool lm_ledger_free(const struct morph_ledger *ledger, uint32_t accelerator);

/* Whether it can replace another accelerator. */
bool lm_ledger_spare(const struct morph_ledger *ledger, uint32_t accelerator);

/* Whether the fibre is healthy and dark in these lanes. */
bool lm_strand_dark(const struct morph_ledger *ledger, const struct strand *strand, uint64_t lanes);

/* Whether no protection keeps it. */
bool lm_strand_unkept(const struct morph_ledger *ledger, const struct strand *strand);

/* Whether a circuit can be lit on the fibre in these lanes: they are dark, and it is not kept. */
bool lm_strand_open(const struct morph_ledger *ledger, const struct strand *strand, uint64_t lanes);

/* Whether a circuit can take the whole fibre. */
bool lm_strand_free(const struct morph_ledger *ledger, const struct strand *strand);

/* Whether light of a slice with MORPH_TRANSIT_OWN can cross that server. */
bool lm_may_cross(const struct morph_ledger *ledger, uint32_t host);

/* Whether such light can begin and end at the fibre's tiles: no tenant has their accelerators. */
bool lm_may_touch(const struct morph_ledger *ledger, const struct strand *strand);

/* Accelerators of a server by their position in it, (z * y + y) * x + x, as in its parts. */
void lm_server_order(const struct morph_ledger *ledger, uint32_t host, uint32_t *order);

/* Reserve space in a plan's arrays, each of which can move. 0 or a noted -ENOMEM. */
int lm_plan_reserve(struct morph_plan *plan, const struct morph_request *request);
int lm_plan_add_strand(struct morph_plan *plan, const struct strand *strand);

/*
 * Mark the fibres of a circuit, from number @first of the plan on, as lit for the circuits after
 * it. Unmark them when the plan is complete, because the ledger must not change.
 */
void lm_plan_note(struct morph_ledger *ledger, const struct morph_plan *plan,
		  const struct circuit_way *way, uint32_t first, bool given);
int lm_plan_refuse(struct morph_plan *plan, const struct rack_refusal *refusal,
		   const struct cuts *cuts);

/*
 * Cut a torus into parts that fill servers with this block of accelerators, with the fewest
 * circuits between parts. Sets the part of each rank, and its position in the part, (z * y + y) * x
 * + x. Returns the number of parts; 0 if this is impossible.
 */
uint32_t lm_request_cut(const struct morph_request *request, const uint32_t block[3],
			uint16_t *parts, uint16_t *places);

#define RANK_SLOTS 24 /* limit of ranks for the exhaustive search */

/*
 * Search one rack. Each function returns STITCH_FEASIBLE with search->best and routes filled. Boxes
 * and parts are searched completely, and so are few ranks. Growing proves nothing.
 */
enum stitch_verdict lm_place_boxes(struct morph_ledger *ledger, const struct morph_request *request,
				   bool thorough);
enum stitch_verdict lm_place_parts(struct morph_ledger *ledger,
				   const struct morph_request *request);
enum stitch_verdict lm_place_grow(struct morph_ledger *ledger, const struct morph_request *request);
enum stitch_verdict lm_place_ranks(struct morph_ledger *ledger,
				   const struct morph_request *request);

/*
 * Search across racks after no single rack fits. Fills the plan, adds the refusal that all racks
 * together have too few accelerators, or leaves the request undecided. 0 or a noted error.
 */
int lm_place_crossing(struct morph_ledger *ledger, const struct morph_request *request,
		      struct morph_plan *plan, uint64_t steps);

/*
 * Call @each for every possible box, and for the ranks grown from every server, best first, until
 * it returns true. Each mapping is in search->trial. The rack's free resources and distances are in
 * search.
 */
typedef bool (*place_fn)(void *context);
void lm_place_each_box(struct morph_ledger *ledger, const struct morph_request *request,
		       place_fn each, void *context);
void lm_place_each_growth(struct morph_ledger *ledger, const struct morph_request *request,
			  place_fn each, void *context);

/* Put the parts of a torus into the servers @sites. */
void lm_place_lay_parts(struct morph_ledger *ledger, const struct morph_request *request,
			const uint16_t *parts, const uint16_t *places, const uint8_t *sites,
			struct mapping *mapping);

/* Give ranks the free accelerators of the servers @sites, in order. */
void lm_place_lay_ranks(struct morph_ledger *ledger, const struct morph_request *request,
			const uint8_t *sites, struct mapping *mapping);

/* Check a request against the model, and initialise the plan. 0, or a noted -EINVAL or -ENOMEM. */
int lm_place_begin(struct morph_ledger *ledger, const struct morph_request *request,
		   struct morph_plan *plan);

/*
 * The first search places parts that fill servers. Whether to search again, given its @verdict,
 * with ranks that share servers with other tenants. If so, the plan is ready for it.
 */
bool lm_place_share(struct morph_ledger *ledger, const struct morph_request *request,
		    uint32_t verdict, struct morph_plan *plan);

/* Whether the refusals of all single racks are the complete answer. */
bool lm_racks_are_all(const struct morph_ledger *ledger, const struct morph_request *request);

/* An addition to the sentence of a refusal; "" if none. */
const char *lm_plan_remark(const struct morph_plan *plan);

/* Set ledger->rack_order, the order of the search. */
void lm_place_order(struct morph_ledger *ledger, const struct morph_request *request);

/* The least number of servers in the present rack that have @ranks free accelerators together. */
uint32_t lm_place_fewest(const struct rack_search *search, uint32_t ranks);

/* Take a fibre's guides and switches, or give them back; the second function only some lanes. */
void lm_strand_hold(struct morph_ledger *ledger, const struct strand *strand, bool hold);
void lm_strand_light(struct morph_ledger *ledger, const struct strand *strand, uint64_t lanes,
		     bool hold);

/* The cost of a mapping; its routes, or the reason why it has none. */
void lm_mapping_weigh(struct rack_search *search, const struct morph_request *request,
		      struct mapping *mapping);
bool lm_mapping_better(const struct morph_request *request, const struct mapping *a,
		       const struct mapping *b);
enum stitch_verdict lm_mapping_route(struct rack_search *search,
				     const struct morph_request *request,
				     const struct mapping *mapping, uint64_t steps);
void lm_figures_copy(struct mapping *to, const struct mapping *from);

#endif /* LM_PLAN_PLACE_H */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of placement share: requests, ledgers, plans. */
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
	uint32_t cuts_first, cuts_count; /* in plan.cuts: sets of seats */
};

/* The fibres of a circuit, one server after the other; none inside a server. */
struct circuit_way {
	uint32_t first, count; /* in plan.strands */
	uint32_t band; /* the same on all of them; 0 where circuits take fibres whole */
};

struct morph_plan {
	struct morph_ctx *ctx;
	uint32_t verdict, tier;
	uint32_t checksum; /* of the profile */
	uint32_t ranks, lanes, farthest, transit, circuits_count;
	uint32_t bands; /* as the request's */
	bool whole; /* parts that fill a server stay together */
	bool not_whole; /* it was looked for so, and proven that it can't be done */
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

/* Where the ranks would lie, and what it would cost. */
struct mapping {
	uint32_t accelerators[RACK_ACCELERATORS];
	uint16_t seats[RACK_ACCELERATORS];
	uint32_t broken; /* free accelerators left over in its servers */
	uint32_t fibres; /* at least */
	uint32_t servers;
};

#define PARTNER_SENDS 0x80000000U /* | rank: it sends to the one whose partner it is */

/* Memory of a search in one rack. */
struct rack_search {
	uint32_t rack;
	uint64_t steps; /* left */
	uint8_t free[NET_SITES]; /* accelerators, by seat */
	uint32_t bands;
	struct net net; /* of all bands together */
	struct net nets[BANDS]; /* where there are several */
	net_distances distances;
	struct mapping best, trial;
	struct pattern pattern;
	bool prepared; /* the pattern is that of the request */
	struct routes routes;
	uint16_t units[NET_SITES][NET_SITES]; /* circuits from seat to seat */
	uint16_t route_of[NET_SITES]
			 [NET_SITES]; /* of the pairs that have units: the next to be used */
	uint32_t block[3]; /* of accelerators that a whole server has */
	uint32_t partners_first[MOST_RANKS + 1];
	uint32_t *partners; /* ranks that a rank has circuits with; PARTNER_SENDS */
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
	bool *spare; /* by accelerator: nobody is given it */
	bool *element_marked;
	uint16_t *element_held; /* strands that pass it, of circuits taken */
	uint32_t *element_kept; /* by how many ranks' protections */
	bool *guide_marked;
	uint64_t *guide_lanes;
	uint32_t *guide_kept;
	uint16_t *host_free; /* accelerators */
	uint16_t *rack_free;
	uint32_t *rack_order; /* in which racks are looked at */
	struct optics_state *state; /* inside servers: elements that circuits hold; NULL: none does */
	struct rack_search search;
	struct crossing *crossing; /* memory of the tier across racks, once it was needed */
};

static inline const struct net *lm_rack_nets(const struct rack_search *search)
{
	return search->bands > 1 ? search->nets : &search->net;
}

/*
 * The lanes of a band: of the wavelengths of a fibre an equal share, those that stand side by
 * side. One band has all.
 */
static inline uint64_t lm_band_lanes(const struct optics_graph *graph, uint32_t bands,
				     uint32_t band)
{
	uint32_t each = graph->params.wavelengths / bands;

	return graph->all_lanes >> (graph->params.wavelengths - each) << band * each;
}

/* What a circuit may have: inside a server all. */
static inline uint64_t lm_way_lanes(const struct optics_graph *graph, const struct morph_plan *plan,
				    const struct circuit_way *way)
{
	return way->count ? lm_band_lanes(graph, plan->bands, way->band) : graph->all_lanes;
}

/* 0, or a noted -EINVAL (the client library lays requests out in another way) or -E2BIG (too many ranks). */
int lm_request_readable(struct morph_ctx *ctx, const struct morph_request *request);

/* Lanes of each circuit; perhaps more than there are. */
uint64_t lm_request_lanes(const struct morph_request *request, const struct optics_graph *graph);

/* 0, or a noted -EINVAL of a plan that is not feasible, or of another profile. */
int lm_plan_check(const struct morph_ledger *ledger, const struct morph_plan *plan);

/* See that there is ledger->state: 0 or a noted -ENOMEM. */
int lm_ledger_state(struct morph_ledger *ledger);

/* May a slice be given this accelerator? */
bool lm_ledger_free(const struct morph_ledger *ledger, uint32_t accelerator);

/* May it take over from another? */
bool lm_ledger_spare(const struct morph_ledger *ledger, uint32_t accelerator);

/* Is a strand sound, and without light in those lanes? */
bool lm_strand_dark(const struct morph_ledger *ledger, const struct strand *strand, uint64_t lanes);

/* Does no protection keep it? */
bool lm_strand_unkept(const struct morph_ledger *ledger, const struct strand *strand);

/* May a circuit be lit on that strand, in those lanes? They are dark, and it is not kept. */
bool lm_strand_open(const struct morph_ledger *ledger, const struct strand *strand, uint64_t lanes);

/* May a circuit take that strand whole? */
bool lm_strand_free(const struct morph_ledger *ledger, const struct strand *strand);

/* May light of a slice that crosses only its own servers cross that one? */
bool lm_may_cross(const struct morph_ledger *ledger, uint32_t host);

/* May it begin and end at that strand's tiles? Nobody has their accelerators. */
bool lm_may_touch(const struct morph_ledger *ledger, const struct strand *strand);

/* Accelerators of a server by their place in it, (z * y + y) * x + x, as in its parts. */
void lm_server_order(const struct morph_ledger *ledger, uint32_t host, uint32_t *order);

/* Room in a plan's arrays, each of which may move: 0 or a noted -ENOMEM. */
int lm_plan_reserve(struct morph_plan *plan, const struct morph_request *request);
int lm_plan_add_strand(struct morph_plan *plan, const struct strand *strand);

/*
 * The fibres of a circuit, from number @first of the plan on, are @given: they are not dark for the
 * circuits after it. Taken back when the plan is complete, for the ledger is not to change.
 */
void lm_plan_note(struct morph_ledger *ledger, const struct morph_plan *plan,
		  const struct circuit_way *way, uint32_t first, bool given);
int lm_plan_refuse(struct morph_plan *plan, const struct rack_refusal *refusal,
		   const struct cuts *cuts);

/*
 * How a torus is cut into parts that fill servers of that block of accelerators, with fewest
 * circuits between parts: the part of each rank, and its place in the part, (z * y + y) * x + x.
 * Returns the number of parts, 0 where that can't be done.
 */
uint32_t lm_request_cut(const struct morph_request *request, const uint32_t block[3],
			uint16_t *parts, uint16_t *places);

#define RANK_SLOTS 24 /* up to which ranks are tried everywhere */

/*
 * Look in one rack. Each returns STITCH_FEASIBLE with search->best and routes filled. Boxes and
 * parts are searched to the end, growing proves nothing; ranks are tried everywhere, where they
 * are few.
 */
enum stitch_verdict lm_place_boxes(struct morph_ledger *ledger, const struct morph_request *request,
				   bool thorough);
enum stitch_verdict lm_place_parts(struct morph_ledger *ledger,
				   const struct morph_request *request);
enum stitch_verdict lm_place_grow(struct morph_ledger *ledger, const struct morph_request *request);
enum stitch_verdict lm_place_ranks(struct morph_ledger *ledger,
				   const struct morph_request *request);

/*
 * Look across racks, when none does alone: fills the plan, or adds to its refusals that all racks
 * together have too few accelerators, or leaves it undecided. 0 or a noted error.
 */
int lm_place_crossing(struct morph_ledger *ledger, const struct morph_request *request,
		      struct morph_plan *plan, uint64_t steps);

/*
 * Every box that the request could lie in, and what grows from every server, the best first, until
 * @each says enough: each is in search->trial. What of the rack is free, and how far its servers
 * are from one another, is in search.
 */
typedef bool (*place_fn)(void *context);
void lm_place_each_box(struct morph_ledger *ledger, const struct morph_request *request,
		       place_fn each, void *context);
void lm_place_each_growth(struct morph_ledger *ledger, const struct morph_request *request,
			  place_fn each, void *context);

/* Lay the parts of a torus into servers: those of the seats in @sites. */
void lm_place_lay_parts(struct morph_ledger *ledger, const struct morph_request *request,
			const uint16_t *parts, const uint16_t *places, const uint8_t *sites,
			struct mapping *mapping);

/* Ranks take what is free of the servers of the seats in @sites, in order. */
void lm_place_lay_ranks(struct morph_ledger *ledger, const struct morph_request *request,
			const uint8_t *sites, struct mapping *mapping);

/*
 * Begin with a request: is it one that some fabric of this model can meet? What the plan says of
 * it is set. 0, or a noted -EINVAL or -ENOMEM.
 */
int lm_place_begin(struct morph_ledger *ledger, const struct morph_request *request,
		   struct morph_plan *plan);

/*
 * Parts that fill servers are looked for first: with that @verdict, is there more to look at, where
 * ranks share servers with others? Then the plan is ready for it.
 */
bool lm_place_share(struct morph_ledger *ledger, const struct morph_request *request,
		    uint32_t verdict, struct morph_plan *plan);

/* Has all been said of a request when it has been said of each rack? */
bool lm_racks_are_all(const struct morph_ledger *ledger, const struct morph_request *request);

/* What a verdict that is none has to add; "" if nothing. */
const char *lm_plan_remark(const struct morph_plan *plan);

/* The order in which racks are looked at, in ledger->rack_order. */
void lm_place_order(struct morph_ledger *ledger, const struct morph_request *request);

/* The fewest servers of the rack that is looked at in which so many accelerators are free. */
uint32_t lm_place_fewest(const struct rack_search *search, uint32_t ranks);

/* Take a strand's guides and switches, or give them back; or those lanes of the guides. */
void lm_strand_hold(struct morph_ledger *ledger, const struct strand *strand, bool hold);
void lm_strand_light(struct morph_ledger *ledger, const struct strand *strand, uint64_t lanes,
		     bool hold);

/* What a mapping costs; routes for it, or why none. */
void lm_mapping_weigh(struct rack_search *search, const struct morph_request *request,
		      struct mapping *mapping);
bool lm_mapping_better(const struct morph_request *request, const struct mapping *a,
		       const struct mapping *b);
enum stitch_verdict lm_mapping_route(struct rack_search *search,
				     const struct morph_request *request,
				     const struct mapping *mapping, uint64_t steps);
void lm_figures_copy(struct mapping *to, const struct mapping *from);

#endif /* LM_PLAN_PLACE_H */

/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/* A label search. route.c runs it under different assumptions. */
#ifndef MORPH_OPTICS_SEARCH_H
#define MORPH_OPTICS_SEARCH_H

#include "frontier.h"

/* Assumptions of a search. */
#define SEARCH_NO_CLAIMS	0x1u	/* no claims, so no tile is foreign */
#define SEARCH_NO_HEALTH	0x2u	/* all hardware works */
#define SEARCH_NO_PAST		0x4u	/* a path may cross itself, which light cannot */
#define SEARCH_NO_COMMON	0x8u	/* each guide has enough lanes, though not the same ones */
#define SEARCH_BACKWARDS	0x10u	/* from the receiver to the transmitter, without a bound */

/**
 * struct search_label - a partial path to the guide of a table entry
 * @lanes: wavelengths that are free up to and through this guide
 * @element: the element at the far end, OPTICS_NONE at the receiver
 * @from: the previous label, OPTICS_NONE at the transmitter
 * @cost: from the transmitter to the far end of the guide; see optics_cost()
 * @state: the state of the element before the guide
 * @port: port of @element
 * @depth: guides so far
 */
struct search_label {
	u64 lanes;
	u32 element;
	u32 from;
	u32 cost;
	u8 state;
	u8 port;
	u8 depth;
};

/* Lower bounds of the cost from places to the receiver; see toll.c. */
struct search_tolls {
	struct frontier_table places;
	u32 *cost;		/* by entry */
	u32 limit;
	u32 reach;		/* lower bound for all other places */
	u64 awaited;		/* transmit ports whose places have no final toll yet */
	bool cut;		/* the table was full: other places exist */
};

/*
 * struct search - one search and its work space
 */
struct search {
	struct optics_state *state;
	const struct optics_graph *graph;
	const struct optics_route_request *request;
	struct frontier_table guides;	/* coded guide * 2 + the end at which light enters */
	struct search_label *labels;	/* by entry */
	struct search_tolls tolls;
	struct frontier_heap heap;
	u32 labels_limit;
	u32 assume;		/* SEARCH_NO_* */
	u64 lanes;		/* wavelengths that may be used */
	u32 effort;		/* since the last pause; see optics_route_continue() */
	u32 effort_limit;	/* pause at this effort */
	u32 arrived;		/* the label that arrived, or OPTICS_NONE */
	bool inexact;		/* a dropped label might have led to a path */
	bool exhausted;		/* the step budget ran out */
};

/* Whether the search must pause. */
static inline bool optics_search_pauses(const struct search *search)
{
	return search->effort >= search->effort_limit;
}

/* Bytes of work space for @steps labels; and its layout. */
u64 optics_search_bytes(u32 steps);
void optics_search_init(struct search *search, void *work, u32 steps);

/*
 * Compute the tolls once for all searches of a request: they hold under every assumption.
 * Takes at most half of the step budget in addition. Continue returns false at a pause.
 */
void optics_tolls_start(struct search *search);
bool optics_tolls_continue(struct search *search);

/* The number of switched elements is unknown in a place with joined elements: ignore it. */
static inline s32 optics_in_place(const struct search *search, u32 place, s32 cost)
{
	return search->state->standing[place / 2] ? optics_cost_without_changes(cost) : cost;
}

/* Lower bound of the remaining cost from the far @end, an element, of guide @code. */
static inline u32 optics_toll(const struct search *search, u32 code,
			      const struct optics_end *end)
{
	const struct search_tolls *tolls = &search->tolls;
	u32 place = optics_place_entered(search->graph, end);
	s32 slack = search->graph->slack[code];
	u32 entry, toll = OPTICS_NONE;
	s64 left;

	/* The bound exists only for receivers; a search to an edge runs without it. */
	if (search->request->rx_accelerator & OPTICS_EDGE)
		return 0;
	if (slack == OPTICS_DEAD)
		return OPTICS_NONE;
	optics_table_find(&tolls->places, place, &entry);
	if (entry != OPTICS_NONE)
		toll = tolls->cost[entry];
	if (tolls->cut && toll > tolls->reach)
		toll = tolls->reach;
	if (toll == OPTICS_NONE)
		return OPTICS_NONE;
	left = (s64)toll + optics_in_place(search, place, slack);
	return left > 0 ? (u32)left : 0;
}

/*
 * Run the search. Continue returns false at a pause. At the end it sets search->arrived. A
 * forward search can turn this label into a path. OPTICS_NONE of a search that is neither
 * inexact nor exhausted proves that there is no path under its assumptions.
 */
void optics_search_start(struct search *search);
bool optics_search_continue(struct search *search);

/* Turn the label that arrived into a path. */
void optics_search_path(const struct search *search, u32 label, struct optics_path *path);

/* The first permitted end of a circuit, and a mask of permitted ends relative to it. */
u32 optics_search_ends(const struct search *search, bool receiver, u64 *planes);

/* The free lanes of an end of a circuit, under the assumptions of the search. */
u64 optics_search_port_lanes(const struct search *search, u32 port, bool receiver);

#endif /* MORPH_OPTICS_SEARCH_H */

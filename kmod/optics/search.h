/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/* One label search, as route.c runs it under different assumptions. */
#ifndef MORPH_OPTICS_SEARCH_H
#define MORPH_OPTICS_SEARCH_H

#include "frontier.h"

/* What a search assumes. */
#define SEARCH_NO_CLAIMS	0x1u	/* nobody holds anything, so no tile is foreign */
#define SEARCH_NO_HEALTH	0x2u	/* all hardware works */
#define SEARCH_NO_PAST		0x4u	/* a path may cross itself as no light can */
#define SEARCH_NO_COMMON	0x8u	/* each guide has enough lanes, though not the same ones */
#define SEARCH_BACKWARDS	0x10u	/* from the receiver to the transmitter, without a bound */

/**
 * struct search_label - how light reaches the guide of a table entry
 * @lanes: wavelengths free all the way through this guide
 * @element: the element at the far end, OPTICS_NONE at the receiver
 * @from: the label before, OPTICS_NONE at the transmitter
 * @cost: from the transmitter to the far end of the guide; see optics_cost()
 * @state: the state taken by the element before the guide
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

/* What it costs at least from a place to the receiver; toll.c. */
struct search_tolls {
	struct frontier_table places;
	u32 *cost;		/* by entry */
	u32 limit;
	u32 reach;		/* a place not found yet costs no less */
	bool cut;		/* there are such places */
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
	bool inexact;		/* something was dropped that might have led on */
	bool exhausted;		/* the step budget ran out */
};

/* Bytes of work space for @steps labels, and its division. */
u64 optics_search_bytes(u32 steps);
void optics_search_init(struct search *search, void *work, u32 steps);

/*
 * Find the tolls, once for all searches of a request: they hold under every assumption.
 * Takes at most half the step budget again.
 */
void optics_tolls_run(struct search *search);

/* What light at the far @end, an element, of guide @code has before it at least; or OPTICS_NONE. */
u32 optics_toll(const struct search *search, u32 code, const struct optics_end *end);

/*
 * Search with what the fields above say. Return: the label that arrived, of which a path
 * can be made unless it came backwards, or OPTICS_NONE; a search that is neither inexact
 * nor exhausted has then proven that there is no path under its assumptions.
 */
u32 optics_search_run(struct search *search);

/* Turn the label that arrived into a path. */
void optics_search_path(const struct search *search, u32 label, struct optics_path *path);

/* The first end of a circuit that a request allows, and from there a mask of them. */
u32 optics_search_ends(const struct search *search, bool receiver, u64 *planes);

/* Lanes that one end of a circuit has free, under the search's assumptions. */
u64 optics_search_port_lanes(const struct search *search, u32 port, bool receiver);

#endif /* MORPH_OPTICS_SEARCH_H */

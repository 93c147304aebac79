/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/* One label search, as route.c runs it under different assumptions. */
#ifndef MORPH_OPTICS_SEARCH_H
#define MORPH_OPTICS_SEARCH_H

#include "internal.h"

/* What a search assumes. */
#define SEARCH_NO_CLAIMS	0x1u	/* nobody holds anything, so no tile is foreign */
#define SEARCH_NO_HEALTH	0x2u	/* all hardware works */
#define SEARCH_NO_PAST		0x4u	/* a path may cross itself as no light can */
#define SEARCH_NO_COMMON	0x8u	/* each guide has enough lanes, though not the same ones */

/**
 * struct search_label - a guide and a direction that light can reach
 * @lanes: wavelengths free all the way through this guide
 * @guide: coded guide * 2 + the end at which light enters
 * @element: the element at the far end, OPTICS_NONE at the receiver
 * @from: the label before, OPTICS_NONE at the transmitter
 * @slot: its place in the table
 * @loss_mdb: from the transmitter to the far end of the guide
 * @state: the state taken by the element before the guide
 * @port: port of @element
 * @depth: guides so far
 * @changes: elements so far that are not in the state needed
 */
struct search_label {
	u64 lanes;
	u32 guide;
	u32 element;
	u32 from;
	u32 slot;
	u32 loss_mdb;
	u8 state;
	u8 port;
	u8 depth;
	u8 changes;
};

/*
 * struct search - one search and its work space
 *
 * The table finds the label of a guide. A slot is in use only if the label that
 * it names exists and names the slot in turn: neither table nor labels need be
 * cleared, and a search costs what it visits.
 */
struct search {
	struct optics_state *state;
	const struct optics_graph *graph;
	const struct optics_route_request *request;
	struct search_label *labels;
	u64 *heap;		/* loss, changes, label: the order of visits */
	u32 *table;
	u32 table_bits;
	u32 labels_count;
	u32 heap_count;
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
 * Search with what the fields above say. Return: the label that arrived, or
 * OPTICS_NONE; a search that is neither inexact nor exhausted has then proven
 * that there is no path under its assumptions.
 */
u32 optics_search_run(struct search *search);

/* Turn the label that arrived into a path. */
void optics_search_path(const struct search *search, u32 label, struct optics_path *path);

/* Lanes that one end of a circuit has free, under the search's assumptions. */
u64 optics_search_port_lanes(const struct search *search, u32 port, bool receiver);

#endif /* MORPH_OPTICS_SEARCH_H */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Enumeration of all places of a request in a rack. */
#ifndef CHECK_SEARCH_H
#define CHECK_SEARCH_H

#include "internal.h"

#define TIER_STITCHED 2
#define MOST_DEMANDS (MOST_SEATS * MOST_SEATS)

enum answer {
	NO,
	YES,
	GAVE_UP
};

struct search {
	struct check *check;
	struct room *room; /* of all bands together */
	/*
	 * The capacity of each band if circuits share fibres; each circuit is then a demand of its
	 * own.
	 */
	uint32_t bands;
	struct room *layers;
	/* Circuits between servers, to be routed. */
	uint32_t demands;
	struct {
		uint32_t from, to;
		uint32_t units; /* circuits with the same route */
		uint32_t band; /* band of the route */
		bool routed;
		uint8_t way[MOST_SEATS]; /* then its servers, the last of which is @to */
	} demand[MOST_DEMANDS];
	/* Parts or ranks, and their embedding. */
	uint64_t stops; /* servers that light must not cross */
	uint32_t parts, size;
	uint32_t units[MOST_SEATS][MOST_SEATS]; /* from part to part */
	uint32_t order[MOST_SEATS];
	uint32_t seat[MOST_SEATS]; /* by part; NONE: not placed */
	/* Sets of servers, and by depth the remaining capacity out of each. */
	uint32_t cuts_count;
	uint64_t *sets;
	int32_t *left;
	/*
	 * Tests of embeddings: whether the part that got a server at @depth fits beside the parts
	 * before it, and whether all demands have routes.
	 */
	bool (*bear)(struct search *search, uint32_t depth, uint32_t part);
	enum answer (*route)(struct search *search);
	void *context;
};

/* Use a step. False if none is left. */
bool ck_spend(struct check *check);

/* The extents of the block of a server of search->room. */
void ck_block_read(const struct search *search, uint32_t block[3]);

/* Whether the refusals of single racks are the complete answer. */
bool ck_racks_are_all(struct check *check);

/* 0 or a report. For a request that can share servers, parts that fill servers prove nothing. */
int ck_proves_all(struct check *check);

/* Read size and number of parts. False if the plan's parts do not fill a server of search->room. */
bool ck_parts_read(struct search *search);

/* Allocate this number of sets. 0 or a noted -ENOMEM. ck_cuts_free() frees them in both cases. */
int ck_cuts_new(struct search *search, uint32_t count);
/* Compute the capacity out of each set. */
void ck_cuts_weigh(struct search *search);
void ck_cuts_free(struct search *search);
/*
 * For search->bear: subtract the circuits between @part and the parts before it from each cut.
 * Whether capacity remains.
 */
bool ck_cuts_bear(struct search *search, uint32_t depth, uint32_t part);

/* Whether all demands have routes. Cuts give a fast refusal; otherwise the search is exhaustive. */
enum answer ck_route_all(struct search *search);

/* Whether a box, parts of a torus that fill servers, or ranks anywhere have routes. */
enum answer ck_try_boxes(struct search *search);
enum answer ck_try_parts(struct search *search);
enum answer ck_try_ranks(struct search *search);
/* The same for the parts in @search, with their sizes and circuits. */
enum answer ck_embed_all(struct search *search);

#endif /* CHECK_SEARCH_H */

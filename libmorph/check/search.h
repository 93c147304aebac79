/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Going through all places that a request could have in a rack. */
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
	/* The room of each band, where circuits share fibres: each is then a demand of its own. */
	uint32_t bands;
	struct room *layers;
	/* Circuits from seat to seat, to be routed. */
	uint32_t demands;
	struct {
		uint32_t from, to;
		uint32_t units; /* circuits that go together */
		uint32_t band; /* where it is routed */
		bool routed;
		uint8_t way[MOST_SEATS]; /* then: its seats, the last one is to */
	} demand[MOST_DEMANDS];
	/* Parts, or ranks, and their embedding. */
	uint64_t stops; /* seats from which light that comes to them goes no further */
	uint32_t parts, size;
	uint32_t units[MOST_SEATS][MOST_SEATS]; /* from part to part */
	uint32_t order[MOST_SEATS];
	uint32_t seat[MOST_SEATS]; /* by part; NONE: none yet */
	/* Sets of seats, and by depth the room that is left out of each. */
	uint32_t cuts_count;
	uint64_t *sets;
	int32_t *left;
	/*
	 * What is asked of embeddings: may the part that got a seat at @depth lie there, beside
	 * those before? And have all demands routes?
	 */
	bool (*bear)(struct search *search, uint32_t depth, uint32_t part);
	enum answer (*route)(struct search *search);
	void *context;
};

/* One step less. False where there is none left. */
bool ck_spend(struct check *check);

/* The extents of what a server of search->room has. */
void ck_block_read(const struct search *search, uint32_t block[3]);

/* Is there nothing more to say of a request than of each rack? */
bool ck_racks_are_all(struct check *check);

/* 0, or a report: of a request that shares servers nothing is proven by parts that fill them. */
int ck_proves_all(struct check *check);

/* How large parts are and how many; false: the plan's are none that fill a server of search->room. */
bool ck_parts_read(struct search *search);

/* Room for so many sets: 0 or a noted -ENOMEM. Freed by ck_cuts_free() in either case. */
int ck_cuts_new(struct search *search, uint32_t count);
/* What room there is out of each, once the sets are there. */
void ck_cuts_weigh(struct search *search);
void ck_cuts_free(struct search *search);
/* For search->bear: take what goes out of each cut between @part and those before. Is there room? */
bool ck_cuts_bear(struct search *search, uint32_t depth, uint32_t part);

/* Can all demands be routed? What the cuts forbid can't; everything else is tried. */
enum answer ck_route_all(struct search *search);

/* All boxes, parts of a torus that fill a server, or ranks anywhere: has one of them routes? */
enum answer ck_try_boxes(struct search *search);
enum answer ck_try_parts(struct search *search);
enum answer ck_try_ranks(struct search *search);
/* The same for parts, their sizes and circuits, as they stand in @search. */
enum answer ck_embed_all(struct search *search);

#endif /* CHECK_SEARCH_H */

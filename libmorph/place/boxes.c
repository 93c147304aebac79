// SPDX-License-Identifier: LGPL-2.1-or-later
/* The first tier: boxes of a rack's torus, in every position and orientation. */
#include "place.h"

#define BOXES_ROUTED 4 /* boxes that the first search routes if the best one has no routes */

/* A box: its extents, its orientation, and its first cell. */
struct box {
	uint32_t size[3];
	uint8_t axis[3]; /* axis of the rack, by axis of the request */
	uint32_t at[3];
};

struct boxes {
	struct morph_ledger *ledger;
	const struct morph_request *request;
	const uint32_t *extent; /* of the rack */
	uint64_t steps; /* for the routes of one box */
	bool placed, doubt;
};

/*
 * The cell of a rank in the box. In a torus it is the rank's position; other ranks run back and
 * forth, row by row.
 */
static void rank_cell(const struct morph_request *request, const struct box *box, uint32_t rank,
		      uint32_t cell[3])
{
	uint32_t x = rank % box->size[0], y = rank / box->size[0] % box->size[1];
	uint32_t z = rank / box->size[0] / box->size[1];

	if (!request->extent[0]) {
		if ((rank / box->size[0]) % 2)
			x = box->size[0] - 1 - x;
		if (z % 2)
			y = box->size[1] - 1 - y;
	}
	cell[0] = x;
	cell[1] = y;
	cell[2] = z;
}

/*
 * Whether all accelerators of a box are free, and all of their servers if the request wants whole
 * servers. If so, they are in search->trial.
 */
static bool box_free(struct boxes *boxes, const struct box *box)
{
	struct morph_ledger *ledger = boxes->ledger;
	const struct sites *sites = &ledger->sites;
	struct mapping *trial = &ledger->search.trial;
	const uint32_t *block = ledger->search.block;
	uint64_t seats = 0;

	for (uint32_t rank = 0; rank < boxes->request->ranks; rank++) {
		uint32_t cell[3], place[3] = { 0 }, chip;

		rank_cell(boxes->request, box, rank, cell);
		for (uint32_t axis = 0; axis < 3; axis++) {
			uint32_t to = box->axis[axis];

			place[to] = (box->at[to] + cell[axis]) % boxes->extent[to];
		}
		chip = sites_accelerator(sites, ledger->search.rack, place[0], place[1], place[2]);
		if (!lm_ledger_free(ledger, chip))
			return false;
		trial->accelerators[rank] = chip;
		trial->seats[rank] =
			(uint16_t)sites->host_seat[ledger->graph->accelerators[chip].host];
		seats |= 1ULL << trial->seats[rank];
	}
	return boxes->request->servers != MORPH_SERVERS_WHOLE ||
	       net_count(seats) * block[0] * block[1] * block[2] == boxes->request->ranks;
}

typedef bool (*box_fn)(struct boxes *boxes, const struct box *box, void *context);

/* Call @each for all boxes of one size and orientation, until it returns true. */
static bool each_place(struct boxes *boxes, struct box *box, box_fn each, void *context)
{
	const uint32_t *extent = boxes->extent;
	uint32_t most[3];

	for (uint32_t axis = 0; axis < 3; axis++) {
		uint32_t to = box->axis[axis];

		if (box->size[axis] > extent[to])
			return false;
		/* A torus that wraps around is the same from every first cell. */
		most[to] = box->size[axis] == extent[to] && boxes->request->extent[0] ? 1 :
											extent[to];
	}
	for (box->at[2] = 0; box->at[2] < most[2]; box->at[2]++)
		for (box->at[1] = 0; box->at[1] < most[1]; box->at[1]++)
			for (box->at[0] = 0; box->at[0] < most[0]; box->at[0]++)
				if (box_free(boxes, box) && each(boxes, box, context))
					return true;
	return false;
}

static bool each_turn(struct boxes *boxes, const uint32_t size[3], box_fn each, void *context)
{
	static const uint8_t turns[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
					     { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };

	for (uint32_t turn = 0; turn < ARRAY_SIZE(turns); turn++) {
		struct box box = { .size = { size[0], size[1], size[2] } };
		bool same = false;

		memcpy(box.axis, turns[turn], sizeof(box.axis));
		/* Orientations that exchange equal extents are the same. */
		for (uint32_t a = 0; a < 3; a++)
			for (uint32_t b = a + 1; b < 3; b++)
				same |= size[a] == size[b] && box.axis[a] > box.axis[b];
		if (!same && each_place(boxes, &box, each, context))
			return true;
	}
	return false;
}

/* A torus has its own extents. Other requests take any box with as many cells as ranks. */
static bool each_box(struct boxes *boxes, box_fn each, void *context)
{
	const struct morph_request *request = boxes->request;

	if (request->extent[0])
		return each_turn(boxes, request->extent, each, context);
	for (uint32_t x = 1; x <= request->ranks; x++) {
		for (uint32_t y = 1; y <= x && x * y <= request->ranks; y++) {
			uint32_t z = request->ranks / (x * y);
			const uint32_t size[3] = { x, y, z };

			if (x * y * z == request->ranks && z <= y &&
			    each_turn(boxes, size, each, context))
				return true;
		}
	}
	return false;
}

/* Keep the best box. */
static bool choose(struct boxes *boxes, const struct box *box, void *context)
{
	struct rack_search *search = &boxes->ledger->search;
	bool *found = context;

	(void)box;
	lm_mapping_weigh(search, boxes->request, &search->trial);
	if (!*found || lm_mapping_better(boxes->request, &search->trial, &search->best))
		search->best = search->trial;
	*found = true;
	return false;
}

/* Stop at the first box that has routes. */
static bool try_box(struct boxes *boxes, const struct box *box, void *context)
{
	struct rack_search *search = &boxes->ledger->search;
	uint32_t *left = context;

	(void)box;
	if (!*left) {
		boxes->doubt = true;
		return true;
	}
	--*left;
	lm_mapping_weigh(search, boxes->request, &search->trial);
	switch (lm_mapping_route(search, boxes->request, &search->trial, boxes->steps)) {
	case STITCH_FEASIBLE:
		search->best = search->trial;
		boxes->placed = true;
		return true;
	case STITCH_UNDECIDED:
		boxes->doubt = true;
		return false;
	default:
		return false;
	}
}

enum stitch_verdict lm_place_boxes(struct morph_ledger *ledger, const struct morph_request *request,
				   bool thorough)
{
	struct boxes boxes = {
		.ledger = ledger,
		.request = request,
		.steps = thorough ? ledger->search.steps : 0,
		.extent = ledger->sites.racks[ledger->search.rack].extent,
	};
	uint32_t left = thorough ? UINT32_MAX : BOXES_ROUTED;
	bool found = false;

	if (!boxes.extent[0])
		return STITCH_INFEASIBLE;
	each_box(&boxes, choose, &found);
	if (!found)
		return STITCH_INFEASIBLE;
	if (lm_mapping_route(&ledger->search, request, &ledger->search.best, boxes.steps) ==
	    STITCH_FEASIBLE)
		return STITCH_FEASIBLE;
	/* Ranks that run back and forth are only one way to fill a box. */
	boxes.doubt = !request->extent[0];
	each_box(&boxes, try_box, &left);
	if (boxes.placed)
		return STITCH_FEASIBLE;
	return boxes.doubt ? STITCH_UNDECIDED : STITCH_INFEASIBLE;
}

struct visit {
	place_fn each;
	void *context;
};

static bool visit(struct boxes *boxes, const struct box *box, void *context)
{
	const struct visit *visit = context;

	(void)boxes;
	(void)box;
	return visit->each(visit->context);
}

void lm_place_each_box(struct morph_ledger *ledger, const struct morph_request *request,
		       place_fn each, void *context)
{
	struct boxes boxes = {
		.ledger = ledger,
		.request = request,
		.extent = ledger->sites.racks[ledger->search.rack].extent,
	};
	struct visit it = { .each = each, .context = context };

	if (boxes.extent[0])
		each_box(&boxes, visit, &it);
}

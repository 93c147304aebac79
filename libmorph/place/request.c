// SPDX-License-Identifier: LGPL-2.1-or-later
/* Requests as planners read them: lanes of a circuit, and the parts of a torus. */
#include "place.h"

int lm_request_readable(struct morph_ctx *ctx, const struct morph_request *request)
{
	if (request->layout != LM_REQUEST_LAYOUT)
		return lm_fail(
			ctx, EINVAL,
			"the request belongs to another version of libmorph: %u instead of %u",
			request->layout, LM_REQUEST_LAYOUT);
	if (request->ranks > MOST_RANKS)
		return lm_fail(ctx, E2BIG, "too many accelerators: %u requested, at most %d",
			       request->ranks, MOST_RANKS);
	return 0;
}

uint64_t lm_request_lanes(const struct morph_request *request, const struct optics_graph *graph)
{
	uint64_t lanes = request->mbps / graph->params.lane_mbps +
			 !!(request->mbps % graph->params.lane_mbps);

	return lanes ? lanes : 1;
}

/* --------------------------------------------------------------------- parts */

/* The orientations of a block. */
static const uint8_t turns[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
				     { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };

/*
 * Cut a torus into blocks in this orientation. Returns the circuits between parts; UINT32_MAX:
 * impossible.
 */
static uint32_t cut(const struct morph_request *request, const uint32_t block[3],
		    const uint8_t turn[3], uint16_t *parts, uint16_t *places)
{
	uint32_t size[3], blocks[3], between = 0;

	for (uint32_t axis = 0; axis < 3; axis++) {
		size[axis] = block[turn[axis]];
		if (!size[axis] || request->extent[axis] % size[axis])
			return UINT32_MAX;
		blocks[axis] = request->extent[axis] / size[axis];
	}
	for (uint32_t rank = 0; rank < request->ranks; rank++) {
		uint32_t at[3] = { rank % request->extent[0],
				   rank / request->extent[0] % request->extent[1],
				   rank / request->extent[0] / request->extent[1] };
		uint32_t in[3] = { 0 };

		for (uint32_t axis = 0; axis < 3; axis++)
			in[turn[axis]] = at[axis] % size[axis];
		parts[rank] =
			(uint16_t)((at[2] / size[2] * blocks[1] + at[1] / size[1]) * blocks[0] +
				   at[0] / size[0]);
		places[rank] = (uint16_t)((in[2] * block[1] + in[1]) * block[0] + in[0]);
	}
	for (uint32_t at = 0; at < request->circuits_count; at++)
		between += parts[request->circuits[at].src] != parts[request->circuits[at].dst];
	return between;
}

uint32_t lm_request_cut(const struct morph_request *request, const uint32_t block[3],
			uint16_t *parts, uint16_t *places)
{
	uint32_t least = UINT32_MAX, best = 0;

	if (!request->extent[0])
		return 0;
	for (uint32_t turn = 0; turn < ARRAY_SIZE(turns); turn++) {
		uint32_t between = cut(request, block, turns[turn], parts, places);

		if (between >= least)
			continue;
		least = between;
		best = turn;
	}
	if (least == UINT32_MAX)
		return 0;
	cut(request, block, turns[best], parts, places);
	return request->ranks / (block[0] * block[1] * block[2]);
}

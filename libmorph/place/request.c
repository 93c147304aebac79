// SPDX-License-Identifier: LGPL-2.1-or-later
/* What is to be placed: ranks, and the circuits between them. */
#include "place.h"

MORPH_API struct morph_request *morph_request_new(struct morph_ctx *ctx)
{
	struct morph_request *request = calloc(1, sizeof(*request));

	if (!request) {
		lm_no_memory(ctx, "begin a request");
		return NULL;
	}
	request->ctx = ctx;
	request->ranks = 1;
	request->tier = MORPH_TIER_STITCHED;
	request->bands = 1;
	return request;
}

MORPH_API void morph_request_free(struct morph_request *request)
{
	if (!request)
		return;
	free(request->circuits);
	free(request);
}

/* -------------------------------------------------------------------- graphs */

/* Begin anew with so many ranks. */
static int begin(struct morph_request *request, uint64_t ranks)
{
	if (!ranks)
		return lm_fail(request->ctx, EINVAL, "a slice has at least one accelerator");
	if (ranks > MOST_RANKS)
		return lm_fail(request->ctx, E2BIG, "a slice of %llu accelerators: at most %d",
			       (unsigned long long)ranks, MOST_RANKS);
	request->ranks = (uint32_t)ranks;
	request->circuits_count = 0;
	memset(request->extent, 0, sizeof(request->extent));
	return 0;
}

static int add(struct morph_request *request, uint32_t src, uint32_t dst)
{
	int ret;

	if (request->circuits_count == MOST_CIRCUITS)
		return lm_fail(request->ctx, E2BIG, "a slice of more than %d circuits",
			       MOST_CIRCUITS);
	ret = array_grow(request->ctx, (void **)&request->circuits, request->circuits_count,
			 &request->circuits_room, sizeof(*request->circuits), 1, "add a circuit");
	if (!ret)
		request->circuits[request->circuits_count++] =
			(struct rank_pair){ (uint16_t)src, (uint16_t)dst };
	return ret;
}

static int join(struct morph_request *request, uint32_t rank, uint32_t next)
{
	int ret = add(request, rank, next);

	if (!ret && !request->simplex)
		ret = add(request, next, rank);
	return ret;
}

/* A ring of @extent ranks, @stride apart, or the one link of two. */
static int join_ring(struct morph_request *request, uint32_t first, uint32_t stride,
		     uint32_t extent)
{
	uint32_t links = extent > 2 ? extent : extent - 1;
	int ret = 0;

	for (uint32_t at = 0; at < links && !ret; at++)
		ret = join(request, first + at * stride, first + (at + 1) % extent * stride);
	return ret;
}

MORPH_API int morph_request_set_count(struct morph_request *request, uint32_t ranks)
{
	return begin(request, ranks);
}

MORPH_API int morph_request_set_torus(struct morph_request *request, uint32_t x, uint32_t y,
				      uint32_t z)
{
	const uint32_t extent[3] = { x, y, z };
	const uint32_t stride[3] = { 1, x, x * y };
	uint64_t ranks = x;
	int ret;

	if (!x || !y || !z)
		return begin(request, 0);
	/* Not to overflow: a product that is too large stays so. */
	for (uint32_t axis = 1; axis < 3 && ranks <= MOST_RANKS; axis++)
		ranks *= extent[axis];
	ret = begin(request, ranks);
	if (ret)
		return ret;
	memcpy(request->extent, extent, sizeof(extent));
	for (uint32_t axis = 0; axis < 3; axis++)
		for (uint32_t rank = 0; rank < request->ranks && !ret; rank++)
			if (rank / stride[axis] % extent[axis] == 0)
				ret = join_ring(request, rank, stride[axis], extent[axis]);
	return ret;
}

MORPH_API int morph_request_set_ring(struct morph_request *request, uint32_t ranks)
{
	int ret = begin(request, ranks);

	return ret ? ret : join_ring(request, 0, 1, ranks);
}

MORPH_API int morph_request_set_mesh(struct morph_request *request, uint32_t ranks)
{
	int ret = begin(request, ranks);

	for (uint32_t rank = 0; rank < ranks && !ret; rank++)
		for (uint32_t other = rank + 1; other < ranks && !ret; other++)
			ret = join(request, rank, other);
	return ret;
}

MORPH_API int morph_request_add_circuit(struct morph_request *request, uint32_t src, uint32_t dst)
{
	if (src >= request->ranks || dst >= request->ranks)
		return lm_fail(request->ctx, EINVAL,
			       "a circuit from rank %u to rank %u: the request has ranks 0 to %u",
			       src, dst, request->ranks - 1);
	if (src == dst)
		return lm_fail(request->ctx, EINVAL, "a circuit from rank %u to itself", src);
	/* What is added to a shape is no part of it. */
	memset(request->extent, 0, sizeof(request->extent));
	return add(request, src, dst);
}

/* -------------------------------------------------------------------- wishes */

MORPH_API void morph_request_set_simplex(struct morph_request *request, bool simplex)
{
	request->simplex = simplex;
}

MORPH_API void morph_request_set_mbps(struct morph_request *request, uint64_t mbps)
{
	request->mbps = mbps;
}

MORPH_API int morph_request_set_wavelengths(struct morph_request *request, uint32_t wavelengths)
{
	if (!wavelengths || wavelengths > BANDS)
		return lm_fail(
			request->ctx, EINVAL,
			"%u wavelengths of a fibre: 1, where circuits take fibres whole, to %d",
			wavelengths, BANDS);
	request->bands = wavelengths;
	return 0;
}

MORPH_API int morph_request_set_tier(struct morph_request *request, uint32_t tier)
{
	if (tier < MORPH_TIER_CONTIGUOUS || tier > MORPH_TIER_CROSSING)
		return lm_fail(request->ctx, EINVAL,
			       "tier %u: 1 is contiguous, 2 stitched in a rack, 3 across racks",
			       tier);
	request->tier = tier;
	return 0;
}

MORPH_API int morph_request_set_objective(struct morph_request *request, uint32_t objective)
{
	if (objective > MORPH_OBJECTIVE_BLAST)
		return lm_fail(request->ctx, EINVAL,
			       "objective %u: 0 is fragmentation, 1 load, 2 blast radius",
			       objective);
	request->objective = objective;
	return 0;
}

MORPH_API int morph_request_set_transit(struct morph_request *request, uint32_t transit)
{
	if (transit > MORPH_TRANSIT_OWN)
		return lm_fail(request->ctx, EINVAL, "transit %u: 0 is any, 1 own", transit);
	request->transit = transit;
	return 0;
}

MORPH_API int morph_request_set_servers(struct morph_request *request, uint32_t servers)
{
	if (servers > MORPH_SERVERS_WHOLE)
		return lm_fail(request->ctx, EINVAL,
			       "servers %u: 0 may be shared, 1 are taken whole", servers);
	request->servers = servers;
	return 0;
}

MORPH_API void morph_request_set_budget(struct morph_request *request, uint64_t steps)
{
	request->steps = steps;
}

uint64_t lm_request_lanes(const struct morph_request *request, const struct optics_graph *graph)
{
	uint64_t lanes = request->mbps / graph->params.lane_mbps +
			 !!(request->mbps % graph->params.lane_mbps);

	return lanes ? lanes : 1;
}

/* --------------------------------------------------------------------- parts */

/* Which way the three extents of a block are turned. */
static const uint8_t turns[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
				     { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };

/* Cut into blocks turned so. Returns the circuits between parts, UINT32_MAX if that can't be. */
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

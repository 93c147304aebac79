// SPDX-License-Identifier: LGPL-2.1-or-later
/* The builder of requests. */
#include <ctype.h>

#include "../util/array.h"
#include "internal.h"

MORPH_API struct morph_request *morph_request_new(struct morph_ctx *ctx)
{
	struct morph_request *request = calloc(1, sizeof(*request));

	if (!request) {
		lm_no_memory(ctx, "begin a request");
		return NULL;
	}
	request->layout = LM_REQUEST_LAYOUT;
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
	free(request->accelerators);
	free(request->spares);
	free(request);
}

/* -------------------------------------------------------------------- graphs */

/* Begin again with @ranks ranks. */
static int begin(struct morph_request *request, uint32_t ranks)
{
	if (!ranks)
		return lm_fail(request->ctx, EINVAL, "a slice requires at least 1 accelerator");
	request->ranks = ranks;
	request->counted = true;
	free(request->accelerators);
	request->accelerators = NULL;
	request->circuits_count = 0;
	memset(request->extent, 0, sizeof(request->extent));
	return 0;
}

/* The same for a shape, with space for its circuits. */
static int begin_shape(struct morph_request *request, uint64_t ranks)
{
	if (ranks > MOST_RANKS)
		return lm_fail(request->ctx, E2BIG,
			       "too many accelerators: %llu requested, at most %d",
			       (unsigned long long)ranks, MOST_RANKS);
	return begin(request, (uint32_t)ranks);
}

static int add(struct morph_request *request, uint32_t src, uint32_t dst)
{
	int ret;

	if (request->circuits_count == MOST_CIRCUITS)
		return lm_fail(request->ctx, E2BIG, "too many circuits: a slice has at most %d",
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

/* A ring of @extent ranks at distance @stride, or one link for two ranks. */
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

static int set_torus(struct morph_request *request, const uint32_t extent[3])
{
	const uint32_t stride[3] = { 1, extent[0], extent[0] * extent[1] };
	uint64_t ranks = extent[0];
	int ret;

	if (!extent[0] || !extent[1] || !extent[2])
		return begin_shape(request, 0);
	/* Avoid overflow: a product that is too large stays too large. */
	for (uint32_t axis = 1; axis < 3 && ranks <= MOST_RANKS; axis++)
		ranks *= extent[axis];
	ret = begin_shape(request, ranks);
	if (ret)
		return ret;
	memcpy(request->extent, extent, sizeof(request->extent));
	for (uint32_t axis = 0; axis < 3; axis++)
		for (uint32_t rank = 0; rank < request->ranks && !ret; rank++)
			if (rank / stride[axis] % extent[axis] == 0)
				ret = join_ring(request, rank, stride[axis], extent[axis]);
	return ret;
}

static int set_mesh(struct morph_request *request, uint32_t ranks)
{
	int ret = begin_shape(request, ranks);

	for (uint32_t rank = 0; rank < ranks && !ret; rank++)
		for (uint32_t other = rank + 1; other < ranks && !ret; other++)
			ret = join(request, rank, other);
	return ret;
}

MORPH_API int morph_request_set_shape(struct morph_request *request, uint32_t shape, uint32_t x,
				      uint32_t y, uint32_t z)
{
	int ret;

	if (shape == MORPH_SHAPE_TORUS)
		return set_torus(request, (const uint32_t[3]){ x, y, z });
	if (shape != MORPH_SHAPE_RING && shape != MORPH_SHAPE_MESH)
		return lm_fail(request->ctx, EINVAL,
			       "shape %u: must be 1 (ring), 2 (mesh) or 3 (torus)", shape);
	if (y != 1 || z != 1)
		return lm_fail(request->ctx, EINVAL, "%ux%ux%u: only a torus has several extents",
			       x, y, z);
	if (shape == MORPH_SHAPE_MESH)
		return set_mesh(request, x);
	ret = begin_shape(request, x);
	return ret ? ret : join_ring(request, 0, 1, x);
}

MORPH_API int morph_request_add_circuit(struct morph_request *request, uint32_t src, uint32_t dst)
{
	if (request->ranks > MOST_RANKS)
		return lm_fail(request->ctx, E2BIG,
			       "too many accelerators: %u requested, at most %d", request->ranks,
			       MOST_RANKS);
	if (src >= request->ranks || dst >= request->ranks)
		return lm_fail(request->ctx, EINVAL,
			       "a circuit from rank %u to rank %u: ranks must be 0 to %u", src, dst,
			       request->ranks - 1);
	if (src == dst)
		return lm_fail(request->ctx, EINVAL, "a circuit from rank %u to itself", src);
	/* Circuits added to a shape are not part of it. */
	memset(request->extent, 0, sizeof(request->extent));
	return add(request, src, dst);
}

/* -------------------------------------------------------------------- wishes */

void morph_request_set_simplex(struct morph_request *request, bool simplex)
{
	request->simplex = simplex;
}

void morph_request_set_mbps(struct morph_request *request, uint64_t mbps)
{
	request->mbps = mbps;
}

int morph_request_set_wavelengths(struct morph_request *request, uint32_t wavelengths)
{
	if (!wavelengths || wavelengths > BANDS)
		return lm_fail(
			request->ctx, EINVAL,
			"%u wavelengths of a fibre: must be 1 (circuits do not share fibres) to %d",
			wavelengths, BANDS);
	request->bands = wavelengths;
	return 0;
}

int morph_request_set_tier(struct morph_request *request, uint32_t tier)
{
	if (tier < MORPH_TIER_CONTIGUOUS || tier > MORPH_TIER_CROSSING)
		return lm_fail(request->ctx, EINVAL,
			       "tier %u: must be 1 (contiguous), 2 (stitched) or 3 (across racks)",
			       tier);
	request->tier = tier;
	return 0;
}

int morph_request_set_objective(struct morph_request *request, uint32_t objective)
{
	if (objective > MORPH_OBJECTIVE_BLAST)
		return lm_fail(
			request->ctx, EINVAL,
			"objective %u: must be 0 (fragmentation), 1 (load) or 2 (blast radius)",
			objective);
	request->objective = objective;
	return 0;
}

int morph_request_set_transit(struct morph_request *request, uint32_t transit)
{
	if (transit > MORPH_TRANSIT_OWN)
		return lm_fail(request->ctx, EINVAL, "transit %u: must be 0 (any) or 1 (own)",
			       transit);
	request->transit = transit;
	return 0;
}

int morph_request_set_servers(struct morph_request *request, uint32_t servers)
{
	if (servers > MORPH_SERVERS_WHOLE)
		return lm_fail(request->ctx, EINVAL,
			       "servers %u: must be 0 (may be shared) or 1 (whole)", servers);
	request->servers = servers;
	return 0;
}

void morph_request_set_budget(struct morph_request *request, uint64_t steps)
{
	request->steps = steps;
}

/* -------------------------------------------------------- policies of a slice */

/* Copy indices, which must exist and differ. */
static int copy_indices(struct morph_ctx *ctx, const uint32_t *indices, size_t count,
			const char *what, uint32_t **copy)
{
	uint32_t *mine;

	if (!indices || !count || count > UINT32_MAX)
		return lm_fail(ctx, EINVAL, "a list of %s requires at least one entry", what);
	for (size_t at = 1; at < count; at++)
		for (size_t before = 0; before < at; before++)
			if (indices[at] == indices[before])
				return lm_fail(ctx, EINVAL,
					       "accelerator %u is listed twice in the list of %s",
					       indices[at], what);
	mine = reallocarray(NULL, count, sizeof(*mine));
	if (!mine)
		return lm_no_memory(ctx, "request a slice");
	memcpy(mine, indices, count * sizeof(*mine));
	free(*copy);
	*copy = mine;
	return 0;
}

MORPH_API int morph_request_set_accelerators(struct morph_request *request,
					     const uint32_t *accelerators, size_t count)
{
	uint32_t *mine = NULL;
	int error = copy_indices(request->ctx, accelerators, count, "accelerators", &mine);

	/*
	 * Links between the same number of ranks stay, because a planner can have chosen the
	 * accelerators for them.
	 */
	if (!error && (!request->counted || request->ranks != count))
		error = begin(request, (uint32_t)count);
	if (error) {
		free(mine);
		return error;
	}
	free(request->accelerators);
	request->accelerators = mine;
	return 0;
}

static int check_word(struct morph_ctx *ctx, uint32_t enumeration, uint32_t value, const char *what)
{
	if (morph_enum_name(enumeration, value))
		return 0;
	return lm_fail(ctx, EINVAL, "%u is no %s", value, what);
}

int morph_request_set_failover(struct morph_request *request, uint32_t failover)
{
	int error = check_word(request->ctx, MORPH_ENUM_FAILOVER, failover, "policy on failure");

	if (!error)
		request->failover = failover;
	return error;
}

int morph_request_set_spare_policy(struct morph_request *request, uint32_t policy)
{
	int error = check_word(request->ctx, MORPH_ENUM_SPARES, policy, "policy on spares");

	if (!error && policy == MORPH_SPARES_LIST)
		error = lm_fail(request->ctx, EINVAL,
				"list the spares in morph_request_opts.spares");
	if (error)
		return error;
	free(request->spares);
	request->spares = NULL;
	request->spares_count = 0;
	request->spare_policy = policy;
	return 0;
}

int morph_request_set_spares(struct morph_request *request, const uint32_t *spares, size_t count)
{
	int error = copy_indices(request->ctx, spares, count, "spares", &request->spares);

	if (error)
		return error;
	request->spares_count = (uint32_t)count;
	request->spare_policy = MORPH_SPARES_LIST;
	return 0;
}

void morph_request_set_reserved(struct morph_request *request, bool reserved)
{
	request->reserved = reserved;
}

void morph_request_set_controller(struct morph_request *request, uint32_t controller)
{
	request->controller = controller;
}

int morph_request_set_name(struct morph_request *request, const char *name, uint32_t mode)
{
	size_t length = name ? strlen(name) : 0;

	if (length >= MORPH_NAME_BYTES)
		return lm_fail(request->ctx, ENAMETOOLONG, "the name \"%s\" is longer than %d",
			       name, MORPH_NAME_BYTES - 1);
	for (size_t at = 0; at < length; at++)
		if (!isascii(name[at]) || (!isalnum(name[at]) && !strchr("_.-", name[at])))
			return lm_fail(request->ctx, EINVAL,
				       "the name \"%s\" must have only [a-zA-Z0-9_.-]", name);
	if (length && lm_reads_as_number(name))
		return lm_fail(request->ctx, EINVAL,
			       "the name \"%s\" reads as a number; begin it with a letter", name);
	if (mode & ~0777u)
		return lm_fail(request->ctx, EINVAL, "mode 0%o must have permission bits only",
			       mode);
	if (!length && mode)
		return lm_fail(request->ctx, EINVAL,
			       "a slice without a name has no node; its mode must be 0");
	memset(request->name, 0, sizeof(request->name));
	memcpy(request->name, name ? name : "", length);
	request->mode = mode;
	return 0;
}

static int set_search(struct morph_request *request, const struct morph_request_opts *opts)
{
	int error = morph_request_set_transit(request, opts->transit);

	if (!error)
		error = morph_request_set_wavelengths(request,
						      opts->wavelengths ? opts->wavelengths : 1);
	if (!error)
		error = morph_request_set_tier(request,
					       opts->tier ? opts->tier : MORPH_TIER_STITCHED);
	if (!error)
		error = morph_request_set_servers(request, opts->servers);
	if (!error)
		error = morph_request_set_objective(request, opts->objective);
	morph_request_set_budget(request, opts->steps);
	morph_request_set_mbps(request, opts->mbps);
	return error;
}

static int set_policies(struct morph_request *request, const struct morph_request_opts *opts)
{
	int error = morph_request_set_name(request, opts->name, opts->mode);

	if (!error)
		error = morph_request_set_failover(request, opts->failover);
	if (!error)
		error = opts->spares || opts->spares_count ||
					opts->spare_policy == MORPH_SPARES_LIST ?
				morph_request_set_spares(request, opts->spares,
							 opts->spares_count) :
				morph_request_set_spare_policy(request, opts->spare_policy);
	morph_request_set_controller(request, opts->controller);
	return error;
}

MORPH_API int morph_request_set_opts(struct morph_request *request,
				     const struct morph_request_opts *opts)
{
	const uint32_t known = MORPH_REQUEST_SIMPLEX | MORPH_REQUEST_RESERVE_SPARE |
			       MORPH_REQUEST_LEND_SPARES;
	struct morph_request made = *request;
	struct morph_request_opts mine;
	int error = lm_opts_check(request->ctx, opts, sizeof(mine), "morph_request_opts");

	if (error)
		return error;
	lm_opts_copy(&mine, opts, sizeof(mine));
	if (mine.flags & ~known)
		return lm_fail(request->ctx, EINVAL,
			       "morph_request_opts.flags is 0x%x: an unknown flag", mine.flags);
	made.spares = NULL;
	made.spares_count = 0;
	error = set_policies(&made, &mine);
	if (!error)
		error = set_search(&made, &mine);
	if (error) {
		free(made.spares);
		return error;
	}
	morph_request_set_simplex(&made, mine.flags & MORPH_REQUEST_SIMPLEX);
	morph_request_set_reserved(&made, mine.flags & MORPH_REQUEST_RESERVE_SPARE);
	made.lends = mine.flags & MORPH_REQUEST_LEND_SPARES;
	free(request->spares);
	*request = made;
	return 0;
}

int lm_request_check(const struct morph_request *request)
{
	if (request->counted)
		return 0;
	return lm_fail(request->ctx, EINVAL,
		       "the request requires a number or a list of accelerators");
}

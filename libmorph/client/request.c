// SPDX-License-Identifier: LGPL-2.1-or-later
/* The builder of slices. */
#include <ctype.h>

#include "internal.h"

MORPH_API struct morph_slice_request *morph_slice_request_new(struct morph_ctx *ctx)
{
	struct morph_slice_request *request = calloc(1, sizeof(*request));

	if (!request) {
		lm_no_memory(ctx, "request a slice");
		return NULL;
	}
	request->ctx = ctx;
	return request;
}

MORPH_API void morph_slice_request_free(struct morph_slice_request *request)
{
	if (!request)
		return;
	free(request->accelerators);
	free(request->spares);
	free(request);
}

/* Copy indices that must be there and differ. */
static int copy_indices(struct morph_ctx *ctx, const uint32_t *indices, size_t count,
			const char *what, uint32_t **copy)
{
	uint32_t *mine;

	if (!indices || !count || count > UINT32_MAX)
		return lm_fail(ctx, EINVAL, "a list of %s needs at least one", what);
	for (size_t at = 1; at < count; at++)
		for (size_t before = 0; before < at; before++)
			if (indices[at] == indices[before])
				return lm_fail(ctx, EINVAL,
					       "accelerator %u is twice in the list of %s",
					       indices[at], what);
	mine = reallocarray(NULL, count, sizeof(*mine));
	if (!mine)
		return lm_no_memory(ctx, "request a slice");
	memcpy(mine, indices, count * sizeof(*mine));
	free(*copy);
	*copy = mine;
	return 0;
}

MORPH_API int morph_slice_request_set_count(struct morph_slice_request *request, uint32_t count)
{
	if (!count)
		return lm_fail(request->ctx, EINVAL, "a slice needs at least one accelerator");
	free(request->accelerators);
	request->accelerators = NULL;
	request->accelerators_count = count;
	return 0;
}

MORPH_API int morph_slice_request_set_accelerators(struct morph_slice_request *request,
						   const uint32_t *accelerators, size_t count)
{
	int error = copy_indices(request->ctx, accelerators, count, "accelerators",
				 &request->accelerators);

	if (!error)
		request->accelerators_count = (uint32_t)count;
	return error;
}

static int check_word(struct morph_ctx *ctx, uint32_t enumeration, uint32_t value, const char *what)
{
	if (morph_enum_name(enumeration, value))
		return 0;
	return lm_fail(ctx, EINVAL, "%u is no %s", value, what);
}

MORPH_API int morph_slice_request_set_failover(struct morph_slice_request *request,
					       uint32_t failover)
{
	int error = check_word(request->ctx, MORPH_ENUM_FAILOVER, failover, "policy on failure");

	if (!error)
		request->failover = failover;
	return error;
}

MORPH_API int morph_slice_request_set_transit(struct morph_slice_request *request, uint32_t transit)
{
	int error = check_word(request->ctx, MORPH_ENUM_TRANSIT, transit, "policy on transit");

	if (!error)
		request->transit = transit;
	return error;
}

MORPH_API int morph_slice_request_set_spare_policy(struct morph_slice_request *request,
						   uint32_t policy)
{
	int error = check_word(request->ctx, MORPH_ENUM_SPARES, policy, "policy on spares");

	if (!error && policy == MORPH_SPARES_LIST)
		error = lm_fail(request->ctx, EINVAL,
				"spares are listed by morph_slice_request_set_spares()");
	if (error)
		return error;
	free(request->spares);
	request->spares = NULL;
	request->spares_count = 0;
	request->spare_policy = policy;
	return 0;
}

MORPH_API int morph_slice_request_set_spares(struct morph_slice_request *request,
					     const uint32_t *spares, size_t count)
{
	int error = copy_indices(request->ctx, spares, count, "spares", &request->spares);

	if (error)
		return error;
	request->spares_count = (uint32_t)count;
	request->spare_policy = MORPH_SPARES_LIST;
	return 0;
}

MORPH_API void morph_slice_request_set_reserved(struct morph_slice_request *request, bool reserved)
{
	request->reserved = reserved;
}

MORPH_API void morph_slice_request_set_controller(struct morph_slice_request *request,
						  uint32_t controller)
{
	request->controller = controller;
}

MORPH_API int morph_slice_request_set_name(struct morph_slice_request *request, const char *name,
					   uint32_t mode)
{
	size_t length = name ? strlen(name) : 0;

	if (length >= MORPH_NAME_BYTES)
		return lm_fail(request->ctx, ENAMETOOLONG, "the name \"%s\" is longer than %d",
			       name, MORPH_NAME_BYTES - 1);
	for (size_t at = 0; at < length; at++)
		if (!isascii(name[at]) || (!isalnum(name[at]) && !strchr("_.-", name[at])))
			return lm_fail(request->ctx, EINVAL,
				       "the name \"%s\" may have [a-zA-Z0-9_.-] only", name);
	if (mode & ~0777u)
		return lm_fail(request->ctx, EINVAL, "mode 0%o has more than permission bits",
			       mode);
	if (!length && mode)
		return lm_fail(request->ctx, EINVAL, "a slice without a name has no node: mode 0");
	memset(request->name, 0, sizeof(request->name));
	memcpy(request->name, name ? name : "", length);
	request->mode = mode;
	return 0;
}

int lm_request_check(const struct morph_slice_request *request)
{
	if (request->accelerators_count)
		return 0;
	return lm_fail(request->ctx, EINVAL,
		       "the request says neither how many accelerators nor which");
}

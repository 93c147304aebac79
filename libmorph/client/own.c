// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What a tenant reads through device nodes, without netlink: the slices whose nodes the caller may
 * open, their circuits, and whether a request would be granted.
 */
#include <stdio.h>

#include <linux/morph_netlink.h>

#include "../internal/client.h"
#include "internal.h"

/* Whether a failure to open or to read a slice means that it is not the caller's, or has ended. */
static bool is_not_own(int error)
{
	return error == -EACCES || error == -EPERM || error == -ENOENT || error == -ENODEV ||
	       error == -ENXIO;
}

static int move_all(struct morph_list *to, struct morph_list *from)
{
	struct morph_list *reversed = lm_list_new();
	struct morph_object *object;
	int error = reversed ? 0 : -ENOMEM;

	while (!error && (object = lm_list_pop(from)))
		error = lm_list_add(reversed, object);
	while (!error && (object = lm_list_pop(reversed)))
		error = lm_list_add(to, object);
	morph_list_free(reversed);
	return error;
}

/* Add a slice, or its circuits. */
static int add_slice(struct morph_slice *slice, uint32_t type, struct morph_list *list)
{
	struct morph_list *circuits = NULL;
	struct morph_object *info = NULL;
	int error;

	if (type == MORPH_OBJECT_SLICE)
		error = morph_slice_read(slice, &info, NULL);
	else
		error = morph_slice_read(slice, NULL, &circuits);
	if (error)
		return error;
	error = info ? lm_list_add(list, info) : move_all(list, circuits);
	morph_list_free(circuits);
	return error ? lm_no_memory(slice->ctx, "list slices") : 0;
}

static int add_device(struct morph_ctx *ctx, const struct morph_object *device, uint32_t type,
		      uint32_t fabric, struct morph_list *list)
{
	struct morph_slice *slice;
	int error = morph_slice_open(ctx, morph_object_text(device, "path"), &slice);

	if (error)
		return error;
	if (fabric == MORPH_ANY || slice->fabric == fabric)
		error = add_slice(slice, type, list);
	morph_slice_close(slice);
	return error;
}

int lm_own_list(struct morph_ctx *ctx, uint32_t type, uint32_t fabric, uint32_t parent,
		struct morph_list **out)
{
	struct morph_list *devices = NULL, *list = lm_list_new();
	int error;

	*out = NULL;
	if (type == MORPH_OBJECT_SLICE)
		parent = MORPH_ANY;
	error = list ? morph_devices(ctx, &devices) : lm_no_memory(ctx, "list slices");
	for (size_t at = 0; !error && at < morph_list_count(devices); at++) {
		const struct morph_object *device = morph_list_get(devices, at);

		if (strcmp(morph_object_text(device, "kind"), "slice") ||
		    (parent != MORPH_ANY && morph_object_uint(device, "number") != parent))
			continue;
		error = add_device(ctx, device, type, fabric, list);
		if (is_not_own(error))
			error = 0;
	}
	morph_list_free(devices);
	if (error) {
		morph_list_free(list);
		return error;
	}
	lm_error_clear(ctx);
	*out = list;
	return 0;
}

/* Open a slice of a fabric by its number. */
static int open_slice(struct morph_ctx *ctx, uint32_t fabric, uint32_t number,
		      struct morph_slice **slice)
{
	char which[16];
	int error;

	snprintf(which, sizeof(which), "%u", number);
	error = morph_slice_open(ctx, which, slice);
	if (error || fabric == MORPH_ANY || (*slice)->fabric == fabric)
		return error;
	morph_slice_close(*slice);
	*slice = NULL;
	lm_fail(ctx, ENOENT, "fabric %u has no slice %u", fabric, number);
	return -ENOENT;
}

/* The circuit @id of a slice, with its path. */
static int get_circuit(struct morph_slice *slice, uint32_t id, struct morph_object **out)
{
	struct morph_list *circuits;
	struct morph_object *path, *object;
	int error = morph_slice_read(slice, NULL, &circuits);

	if (error)
		return error;
	while ((object = lm_list_pop(circuits)) && morph_object_uint(object, "id") != id)
		morph_object_free(object);
	morph_list_free(circuits);
	if (!object)
		return lm_fail(slice->ctx, ENOENT, "slice %u has no circuit %u", slice->number, id);
	error = morph_slice_circuit_path(slice, id, &path);
	if (!error) {
		error = lm_object_absorb(object, path);
		morph_object_free(path);
		if (error)
			lm_no_memory(slice->ctx, "read circuit %u", id);
	}
	if (error)
		morph_object_free(object);
	else
		*out = object;
	return error;
}

int lm_own_get(struct morph_ctx *ctx, uint32_t type, uint32_t fabric, uint32_t parent, uint32_t id,
	       struct morph_object **out)
{
	struct morph_slice *slice;
	int error;

	*out = NULL;
	error = open_slice(ctx, fabric, type == MORPH_OBJECT_SLICE ? id : parent, &slice);
	if (error)
		return error;
	error = type == MORPH_OBJECT_SLICE ? morph_slice_read(slice, out, NULL) :
					     get_circuit(slice, id, out);
	morph_slice_close(slice);
	return error;
}

/* ---------------------------------------------------------------------- why not */

static int fill_request(struct morph_request *request, const struct morph_why_not_opts *opts)
{
	int error = opts->accelerators ? morph_request_set_accelerators(request, opts->accelerators,
									opts->accelerators_count) :
					 morph_request_set_count(request, opts->count);

	return error ? error : morph_request_set_transit(request, opts->transit);
}

/* A refusal is an answer if it names a rule other than those for the form of a request. */
static bool is_answer(const struct lm_error *error)
{
	return error->reason != MORPH_REASON_NONE && error->reason != MORPH_REASON_ARGUMENT &&
	       error->reason != MORPH_REASON_STATE;
}

/* The answer in the form of netlink's; *out stays NULL without memory. */
static void fill_answer(const struct lm_error *refusal, uint32_t fabric, struct morph_object **out)
{
	struct morph_object *object = lm_object_new(MORPH_OBJECT_WHY_NOT, NULL);

	if (!object)
		return;
	if (lm_put_uint(object, MORPH_A_WHY_NOT_FABRIC, fabric) ||
	    lm_put_uint(object, MORPH_A_WHY_NOT_REASON, refusal->reason) ||
	    lm_put_uint(object, MORPH_A_WHY_NOT_PART, refusal->part) ||
	    (refusal->part && refusal->index != MORPH_ANY &&
	     lm_put_uint(object, MORPH_A_WHY_NOT_INDEX, refusal->index)) ||
	    lm_put_sint(object, MORPH_A_WHY_NOT_HAVE, refusal->have) ||
	    lm_put_sint(object, MORPH_A_WHY_NOT_NEED, refusal->need) ||
	    lm_put_sint(object, MORPH_A_WHY_NOT_STATUS, -refusal->code) ||
	    (*refusal->kernel &&
	     lm_put_text(object, MORPH_A_WHY_NOT_TEXT, refusal->kernel, sizeof(refusal->kernel))))
		morph_object_free(object);
	else
		*out = object;
}

static int open_fabric(struct morph_ctx *ctx, uint32_t fabric, struct morph_fabric **out)
{
	char which[16];

	snprintf(which, sizeof(which), "%u", fabric);
	return morph_fabric_open(ctx, which, out);
}

int lm_own_why_not(struct morph_ctx *ctx, uint32_t fabric, const struct morph_why_not_opts *opts,
		   struct morph_object **out)
{
	struct morph_request *request;
	struct morph_fabric *device;
	int error;

	error = open_fabric(ctx, fabric, &device);
	if (error)
		return error;
	request = morph_request_new(ctx);
	error = request ? fill_request(request, opts) : lm_no_memory(ctx, "ask why not");
	if (!error)
		error = opts->flags & MORPH_WHY_NOT_RING ?
				lm_slice_check_ring(device, request, opts->lanes_count) :
				morph_slice_check(device, request);
	if (!error || is_answer(&ctx->error)) {
		fill_answer(&ctx->error, fabric, out);
		error = *out ? 0 : lm_no_memory(ctx, "ask why not");
	}
	morph_request_free(request);
	morph_fabric_close(device);
	if (!error)
		lm_error_clear(ctx);
	return error;
}

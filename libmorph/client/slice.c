// SPDX-License-Identifier: LGPL-2.1-or-later
/* Slices: create, open, and read them, and act on their ranks. */
#include <stdio.h>

#include "internal.h"

static struct morph_slice *slice_alloc(struct morph_ctx *ctx)
{
	struct morph_slice *slice = calloc(1, sizeof(*slice));

	if (slice)
		slice->ctx = ctx;
	else
		lm_no_memory(ctx, "open a slice");
	return slice;
}

/* Takes @slice and @fd, also on failure. */
static int slice_start(struct morph_slice *slice, int fd, struct morph_slice **out)
{
	struct morph_ctx *ctx = slice->ctx;
	struct morph_fabric_info fabric;
	struct morph_slice_info info;
	int error;

	memset(&info, 0, sizeof(info));
	memset(&fabric, 0, sizeof(fabric));
	error = lm_ioctl(ctx, fd, MORPH_SLICE_INFO, &info, sizeof(info), "read the slice");
	if (!error)
		error = lm_ioctl(ctx, fd, MORPH_FABRIC_INFO, &fabric, sizeof(fabric),
				 "read the slice's fabric");
	if (error) {
		ctx->transport->ops->close(ctx->transport, fd);
		free(slice);
		return error;
	}
	slice->fd = fd;
	slice->fabric = fabric.fabric;
	slice->number = info.slice;
	*out = slice;
	return 0;
}

/* Takes @fd, also on failure. */
static int slice_new(struct morph_ctx *ctx, int fd, struct morph_slice **out)
{
	struct morph_slice *slice = slice_alloc(ctx);

	if (slice)
		return slice_start(slice, fd, out);
	ctx->transport->ops->close(ctx->transport, fd);
	return -ENOMEM;
}

static int create(struct morph_fabric *fabric, const struct morph_request *request, uint32_t flags,
		  uint32_t ring_lanes, int *fd)
{
	struct morph_slice_create create;
	int error = lm_request_check(request);

	if (error)
		return error;
	memset(&create, 0, sizeof(create));
	create.head.flags = flags | (request->reserved ? MORPH_SLICE_RESERVED : 0) |
			    (request->lends ? MORPH_SLICE_LEND : 0);
	create.accelerators.ptr = (uintptr_t)request->accelerators;
	create.accelerators.count = request->ranks;
	create.accelerators.stride = sizeof(__u32);
	create.spares.ptr = (uintptr_t)request->spares;
	create.spares.count = request->spares_count;
	create.spares.stride = sizeof(__u32);
	create.failover = request->failover;
	create.transit = request->transit;
	create.spare_policy = request->spare_policy;
	create.mode = request->mode;
	create.ring_lanes = ring_lanes;
	memcpy(create.name, request->name, sizeof(create.name));
	error = lm_ioctl(fabric->ctx, fabric->fd, MORPH_SLICE_CREATE, &create, sizeof(create),
			 "create a slice of %u", request->ranks);
	*fd = error ? -1 : create.out_fd;
	return error;
}

MORPH_API int morph_slice_create(struct morph_fabric *fabric, const struct morph_request *request,
				 struct morph_slice **out)
{
	struct morph_slice *slice;
	int error, fd;

	*out = NULL;
	/* first, because a named slice would persist */
	slice = slice_alloc(fabric->ctx);
	if (!slice)
		return -ENOMEM;
	error = create(fabric, request, 0, 0, &fd);
	if (!error)
		return slice_start(slice, fd, out);
	free(slice);
	return error;
}

int morph_slice_check(struct morph_fabric *fabric, const struct morph_request *request)
{
	int fd;

	return create(fabric, request, MORPH_SLICE_DRY_RUN, 0, &fd);
}

int lm_slice_check_ring(struct morph_fabric *fabric, const struct morph_request *request,
			uint32_t lanes)
{
	int fd;

	return create(fabric, request, MORPH_SLICE_DRY_RUN | MORPH_SLICE_RING, lanes, &fd);
}

static int open_path(struct morph_ctx *ctx, const char *path, struct morph_slice **out)
{
	int fd = ctx->transport->ops->open(ctx->transport, path);

	if (fd < 0)
		return lm_fail(ctx, -fd, "open %s: %s", path, strerror(-fd));
	return slice_new(ctx, fd, out);
}

static int slice_is_named(struct morph_slice *slice, const char *name)
{
	struct morph_slice_info info;
	int error;

	memset(&info, 0, sizeof(info));
	error = lm_ioctl(slice->ctx, slice->fd, MORPH_SLICE_INFO, &info, sizeof(info),
			 "read slice %u", slice->number);
	return error ? error : !strncmp(info.name, name, sizeof(info.name));
}

/*
 * Open a slice if it has this name: 1, 0 or a negative errno. *out is NULL unless the result is 1.
 */
static int open_if_named(struct morph_ctx *ctx, const struct morph_object *device, const char *name,
			 struct morph_slice **out)
{
	int named = open_path(ctx, morph_object_text(device, "path"), out);

	if (!*out)
		return named;
	named = slice_is_named(*out, name);
	if (named == 1)
		return 1;
	morph_slice_close(*out);
	*out = NULL;
	return named;
}

static int open_named(struct morph_ctx *ctx, const char *name, struct morph_slice **out)
{
	struct morph_list *devices;
	int refused = 0;
	int error = morph_devices(ctx, &devices);

	if (error)
		return error;
	for (size_t at = 0; at < morph_list_count(devices) && !*out && !lm_is_ours(error); at++) {
		const struct morph_object *device = morph_list_get(devices, at);

		if (strcmp(morph_object_text(device, "kind"), "slice"))
			continue;
		error = open_if_named(ctx, device, name, out);
		if (error < 0)
			refused = error;
	}
	morph_list_free(devices);
	if (*out)
		return 0;
	if (lm_is_ours(error))
		return error;
	if (refused == -EACCES || refused == -EPERM)
		return lm_fail(ctx, EACCES, "no slice named \"%s\" that this user may open", name);
	return lm_fail(ctx, ENOENT, "no slice \"%s\"", name);
}

MORPH_API int morph_slice_open(struct morph_ctx *ctx, const char *which, struct morph_slice **out)
{
	const char *name = lm_only_name(which);
	char path[sizeof(LM_DEV_DIR) + 24];
	uint32_t number;

	*out = NULL;
	if (name)
		return open_named(ctx, name, out);
	if (strchr(which, '/'))
		return open_path(ctx, which, out);
	if (!lm_number(which, &number))
		return open_named(ctx, which, out);
	snprintf(path, sizeof(path), LM_DEV_DIR "/slice%u", number);
	return open_path(ctx, path, out);
}

MORPH_API int morph_slice_from_fd(struct morph_ctx *ctx, int fd, struct morph_slice **out)
{
	int mine = ctx->transport->ops->adopt(ctx->transport, fd);

	*out = NULL;
	if (mine < 0)
		return lm_fail(ctx, -mine, "use fd %d: %s", fd, strerror(-mine));
	return slice_new(ctx, mine, out);
}

MORPH_API void morph_slice_close(struct morph_slice *slice)
{
	if (!slice)
		return;
	slice->ctx->transport->ops->close(slice->ctx->transport, slice->fd);
	free(slice);
}

MORPH_API int morph_slice_get_fd(const struct morph_slice *slice)
{
	return slice->fd;
}

uint32_t morph_slice_number(const struct morph_slice *slice)
{
	return slice->number;
}

/* ----------------------------------------------------------------- reading */

static int array_room(struct morph_array *array, uint32_t count, uint32_t stride)
{
	void *entries = NULL;

	if (count) {
		entries = calloc(count, stride);
		if (!entries)
			return -ENOMEM;
	}
	array->ptr = (uintptr_t)entries;
	array->count = count;
	array->stride = stride;
	return 0;
}

static void array_free(struct morph_array *array)
{
	free((void *)(uintptr_t)array->ptr);
	array->ptr = 0;
}

/*
 * Read with space for the last number of entries, and again if there are more (EMSGSIZE). The
 * caller frees the arrays.
 */
static int slice_info(struct morph_slice *slice, struct morph_slice_info *info)
{
	uint32_t ranks = 0, circuits = 0;
	int error;

	for (int attempt = 0; attempt < LM_RETRIES; attempt++) {
		memset(info, 0, sizeof(*info));
		if (array_room(&info->ranks, ranks, sizeof(struct morph_rank_info)) ||
		    array_room(&info->circuits, circuits, sizeof(struct morph_circuit_info))) {
			array_free(&info->ranks);
			return lm_no_memory(slice->ctx, "read slice %u", slice->number);
		}
		error = lm_ioctl(slice->ctx, slice->fd, MORPH_SLICE_INFO, info, sizeof(*info),
				 "read slice %u", slice->number);
		if (!error && info->ranks.count <= ranks && info->circuits.count <= circuits)
			return 0;
		array_free(&info->ranks);
		array_free(&info->circuits);
		if (error && error != -EMSGSIZE)
			return error;
		ranks = info->ranks.count > ranks ? info->ranks.count : ranks;
		circuits = info->circuits.count > circuits ? info->circuits.count : circuits;
	}
	return lm_fail(slice->ctx, EAGAIN, "read slice %u: it grew during each of %d tries",
		       slice->number, LM_RETRIES);
}

static int circuits_list(struct morph_slice *slice, const struct morph_slice_info *info,
			 struct morph_list **out)
{
	const struct morph_circuit_info *circuits = (const void *)(uintptr_t)info->circuits.ptr;
	struct morph_list *list = lm_list_new();

	if (!list)
		return -ENOMEM;
	for (uint32_t at = 0; at < info->circuits.count; at++) {
		if (lm_list_add(list,
				lm_from_circuit(&circuits[at], slice->fabric, slice->number))) {
			morph_list_free(list);
			return -ENOMEM;
		}
	}
	lm_list_set_seq(list, info->seq);
	*out = list;
	return 0;
}

MORPH_API int morph_slice_read(struct morph_slice *slice, struct morph_object **info,
			       struct morph_list **circuits)
{
	struct morph_slice_info raw;
	int error;

	if (info)
		*info = NULL;
	if (circuits)
		*circuits = NULL;
	error = slice_info(slice, &raw);
	if (error)
		return error;
	if (info) {
		*info = lm_from_slice(&raw, slice->fabric);
		if (!*info)
			error = -ENOMEM;
	}
	if (circuits && !error)
		error = circuits_list(slice, &raw, circuits);
	array_free(&raw.ranks);
	array_free(&raw.circuits);
	if (!error)
		return 0;
	if (info) {
		morph_object_free(*info);
		*info = NULL;
	}
	return lm_no_memory(slice->ctx, "read slice %u", slice->number);
}

int morph_slice_circuit_path(struct morph_slice *slice, uint32_t circuit, struct morph_object **out)
{
	struct morph_circuit_path path;
	uint32_t room = 64;
	int error = -EMSGSIZE;

	*out = NULL;
	for (int attempt = 0; attempt < LM_RETRIES && error == -EMSGSIZE; attempt++) {
		memset(&path, 0, sizeof(path));
		path.circuit = circuit;
		if (array_room(&path.guides, room, sizeof(__u32)) ||
		    array_room(&path.elements, room, sizeof(struct morph_path_element)))
			error = lm_no_memory(slice->ctx, "read circuit %u", circuit);
		else
			error = lm_ioctl(slice->ctx, slice->fd, MORPH_CIRCUIT_PATH, &path,
					 sizeof(path), "read circuit %u of slice %u", circuit,
					 slice->number);
		if (!error)
			break;
		if (path.guides.count > room)
			room = path.guides.count;
		if (path.elements.count > room)
			room = path.elements.count;
		array_free(&path.guides);
		array_free(&path.elements);
	}
	if (error)
		return error;
	*out = lm_from_path(&path, slice->fabric, slice->number);
	array_free(&path.guides);
	array_free(&path.elements);
	return *out ? 0 : lm_no_memory(slice->ctx, "read circuit %u", circuit);
}

/* -------------------------------------------------------------------- acts */

static int rank_act(struct morph_slice *slice, unsigned long command, struct morph_rank_act *act,
		    const char *what, uint32_t *state, uint32_t *health)
{
	int error = lm_ioctl(slice->ctx, slice->fd, command, act, sizeof(*act),
			     "%s rank %u of slice %u", what, act->rank, slice->number);

	if (error)
		return error;
	if (state)
		*state = act->out_state;
	if (health)
		*health = act->out_health;
	return 0;
}

int morph_slice_report(struct morph_slice *slice, uint32_t rank, uint32_t *state, uint32_t *health)
{
	struct morph_rank_act act;

	memset(&act, 0, sizeof(act));
	act.rank = rank;
	return rank_act(slice, MORPH_RANK_REPORT, &act, "report", state, health);
}

int morph_slice_replace(struct morph_slice *slice, uint32_t rank, uint32_t spare, uint32_t *state,
			uint32_t *health)
{
	struct morph_rank_act act;

	memset(&act, 0, sizeof(act));
	act.rank = rank;
	act.spare = spare;
	return rank_act(slice, MORPH_RANK_REPLACE, &act, "replace", state, health);
}

MORPH_API int morph_slice_prefer(struct morph_slice *slice, uint32_t rank, uint32_t spare)
{
	struct morph_rank_act act;

	memset(&act, 0, sizeof(act));
	act.rank = rank;
	act.spare = spare;
	return rank_act(slice, MORPH_RANK_PREFER, &act, "prefer a spare for", NULL, NULL);
}

int morph_slice_set_failover(struct morph_slice *slice, uint32_t failover)
{
	struct morph_slice_policy policy;

	memset(&policy, 0, sizeof(policy));
	policy.failover = failover;
	return lm_ioctl(slice->ctx, slice->fd, MORPH_SLICE_POLICY, &policy, sizeof(policy),
			"set the policy of slice %u", slice->number);
}

MORPH_API int morph_slice_delete(struct morph_fabric *fabric, const char *which, bool force)
{
	struct morph_slice_delete delete;
	const char *name = lm_only_name(which);

	memset(&delete, 0, sizeof(delete));
	delete.head.flags = force ? MORPH_SLICE_FORCE : 0;
	if (name || !lm_number(which, &delete.slice)) {
		if (!name)
			name = which;
		delete.slice = MORPH_ANY;
		if (!*name || strlen(name) >= sizeof(delete.name))
			return lm_fail(fabric->ctx, EINVAL, "\"%s\" is not a valid name of a slice",
				       name);
		strcpy(delete.name, name);
	}
	return lm_ioctl(fabric->ctx, fabric->fd, MORPH_SLICE_DELETE, &delete, sizeof(delete),
			"delete slice %s", which);
}

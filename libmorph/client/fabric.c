// SPDX-License-Identifier: LGPL-2.1-or-later
/* Fabrics: find, open, and read them. */
#include <stdio.h>

#include "internal.h"

#define BATCH 1024 /* entries per read */

static int fabric_read_info(struct morph_ctx *ctx, int fd, struct morph_fabric_info *info)
{
	memset(info, 0, sizeof(*info));
	return lm_ioctl(ctx, fd, MORPH_FABRIC_INFO, info, sizeof(*info), "read the fabric");
}

/* Takes @fd. */
static int fabric_new(struct morph_ctx *ctx, int fd, struct morph_fabric **out)
{
	struct morph_fabric *fabric = NULL;
	struct morph_fabric_info info;
	int error = fabric_read_info(ctx, fd, &info);

	if (!error) {
		fabric = malloc(sizeof(*fabric));
		if (!fabric)
			error = lm_no_memory(ctx, "open a fabric");
	}
	if (!fabric) {
		ctx->transport->ops->close(ctx->transport, fd);
		return error;
	}
	fabric->ctx = ctx;
	fabric->fd = fd;
	fabric->number = info.fabric;
	*out = fabric;
	return 0;
}

static int open_path(struct morph_ctx *ctx, const char *path, struct morph_fabric **out)
{
	int fd = ctx->transport->ops->open(ctx->transport, path);

	if (fd < 0)
		return lm_fail(ctx, -fd, "open %s: %s", path, strerror(-fd));
	return fabric_new(ctx, fd, out);
}

/* Whether the fabric has this name or UUID; NULL matches any. */
static int fabric_matches(struct morph_fabric *fabric, const char *which)
{
	struct morph_fabric_info info;
	uint8_t uuid[MORPH_UUID_BYTES];
	const char *name;
	int error;

	if (!which)
		return 1;
	error = fabric_read_info(fabric->ctx, fabric->fd, &info);
	if (error)
		return error;
	name = lm_only_name(which);
	if (!strncmp(info.name, which, sizeof(info.name)) ||
	    (name && !strncmp(info.name, name, sizeof(info.name))))
		return 1;
	return lm_uuid_parse(which, uuid) && !memcmp(uuid, info.uuid, sizeof(uuid));
}

/* Open a fabric if it matches: 1, 0 or a negative errno. *out is NULL unless the result is 1. */
static int open_if_matches(struct morph_ctx *ctx, const struct morph_object *device,
			   const char *which, struct morph_fabric **out)
{
	int match = open_path(ctx, morph_object_text(device, "path"), out);

	if (!*out)
		return match;
	match = fabric_matches(*out, which);
	if (match == 1)
		return 1;
	morph_fabric_close(*out);
	*out = NULL;
	return match;
}

/* Open the fabric with name or UUID @which; NULL: the only one. */
static int open_matching(struct morph_ctx *ctx, const struct morph_list *devices, const char *which,
			 struct morph_fabric **out)
{
	struct morph_fabric *found = NULL;
	struct lm_error refused = { 0 };
	int matches = 0;

	for (size_t at = 0; at < morph_list_count(devices); at++) {
		const struct morph_object *device = morph_list_get(devices, at);
		struct morph_fabric *fabric = NULL;
		int match;

		if (strcmp(morph_object_text(device, "kind"), "fabric"))
			continue;
		match = open_if_matches(ctx, device, which, &fabric);
		if (!fabric && lm_is_ours(match)) {
			morph_fabric_close(found);
			return match;
		}
		if (match < 0)
			refused = ctx->error;
		if (!fabric)
			continue;
		matches++;
		if (found)
			morph_fabric_close(fabric);
		else
			found = fabric;
	}
	if (matches == 1) {
		*out = found;
		return 0;
	}
	morph_fabric_close(found);
	if (matches && !which)
		return lm_fail(ctx, ENOTUNIQ, "%d fabrics exist; name one", matches);
	if (matches)
		return lm_fail(ctx, ENOTUNIQ,
			       "%d fabrics have the name \"%s\"; use a number or UUID", matches,
			       which);
	if (refused.code) {
		ctx->error = refused; /* later calls have cleared it */
		return -refused.code;
	}
	if (which)
		return lm_fail(ctx, ENOENT, "no fabric \"%s\"", which);
	return lm_fail(ctx, ENOENT, "no fabric");
}

MORPH_API int morph_fabric_open(struct morph_ctx *ctx, const char *which, struct morph_fabric **out)
{
	struct morph_list *devices;
	char path[sizeof(LM_DEV_DIR) + 24];
	uint32_t number;
	int error;

	*out = NULL;
	if (which && strchr(which, '/'))
		return open_path(ctx, which, out);
	if (which && lm_number(which, &number)) {
		snprintf(path, sizeof(path), LM_DEV_DIR "/fabric%u", number);
		return open_path(ctx, path, out);
	}
	error = morph_devices(ctx, &devices);
	if (error)
		return error;
	error = open_matching(ctx, devices, which, out);
	morph_list_free(devices);
	return error;
}

int morph_fabric_from_fd(struct morph_ctx *ctx, int fd, struct morph_fabric **out)
{
	int mine = ctx->transport->ops->adopt(ctx->transport, fd);

	*out = NULL;
	if (mine < 0)
		return lm_fail(ctx, -mine, "use fd %d: %s", fd, strerror(-mine));
	return fabric_new(ctx, mine, out);
}

int morph_fabric_grant(struct morph_fabric *fabric, const struct morph_grant_opts *opts,
		       struct morph_fabric **out, uint32_t *number)
{
	struct morph_grant_create create;
	struct morph_grant_opts mine;
	int error;

	*out = NULL;
	error = lm_opts_check(fabric->ctx, opts, sizeof(mine), "morph_grant_opts");
	if (error)
		return error;
	lm_opts_copy(&mine, opts, sizeof(mine));
	memset(&create, 0, sizeof(create));
	create.accelerators = mine.accelerators;
	create.circuits = mine.circuits;
	create.lanes = mine.lanes;
	create.prepared = mine.prepared;
	create.replacements = mine.replacements;
	create.bytes = mine.bytes;
	error = lm_ioctl(fabric->ctx, fabric->fd, MORPH_GRANT_CREATE, &create, sizeof(create),
			 "grant a part of fabric %u", fabric->number);
	if (error)
		return error;
	if (number)
		*number = create.out_grant;
	return fabric_new(fabric->ctx, create.out_fd, out);
}

MORPH_API void morph_fabric_close(struct morph_fabric *fabric)
{
	if (!fabric)
		return;
	fabric->ctx->transport->ops->close(fabric->ctx->transport, fabric->fd);
	free(fabric);
}

int morph_fabric_get_fd(const struct morph_fabric *fabric)
{
	return fabric->fd;
}

uint32_t morph_fabric_number(const struct morph_fabric *fabric)
{
	return fabric->number;
}

MORPH_API int morph_fabric_info(struct morph_fabric *fabric, struct morph_object **out)
{
	struct morph_fabric_info info;
	int error = fabric_read_info(fabric->ctx, fabric->fd, &info);

	*out = NULL;
	if (error)
		return error;
	*out = lm_from_fabric(&info);
	return *out ? 0 : lm_no_memory(fabric->ctx, "read the fabric");
}

/* ------------------------------------------------------- ranges of hardware */

struct range {
	unsigned long command;
	const char *what;
	uint32_t entry_bytes;
	struct morph_object *(*convert)(const void *entry, uint32_t fabric, uint64_t seq);
};

/* Read all entries once. 0, -EAGAIN if the fabric changed meanwhile, or a failure. */
static int range_read_once(struct morph_fabric *fabric, const struct range *range,
			   struct morph_list *list, void *entries)
{
	struct morph_fabric_read read;
	uint64_t seq = 0;
	uint32_t first = 0;

	do {
		int error;

		memset(&read, 0, sizeof(read));
		memset(entries, 0, (size_t)BATCH * range->entry_bytes);
		read.first = first;
		read.entries.ptr = (uintptr_t)entries;
		read.entries.count = BATCH;
		read.entries.stride = range->entry_bytes;
		error = lm_ioctl(fabric->ctx, fabric->fd, range->command, &read, sizeof(read),
				 "read %s from %u", range->what, first);
		if (error)
			return error;
		if (first && read.seq != seq)
			return -EAGAIN;
		seq = read.seq;
		for (uint32_t at = 0; at < read.entries.count && at < BATCH; at++) {
			const char *entry = (const char *)entries + (size_t)at * range->entry_bytes;

			if (lm_list_add(list, range->convert(entry, fabric->number, seq)))
				return lm_no_memory(fabric->ctx, "read %s", range->what);
		}
		first += BATCH;
	} while (read.entries.count >= BATCH);
	lm_list_set_seq(list, seq);
	return 0;
}

static int range_read(struct morph_fabric *fabric, const struct range *range,
		      struct morph_list **out)
{
	struct morph_list *list = lm_list_new();
	void *entries = calloc(BATCH, range->entry_bytes);
	int error = -EAGAIN;

	*out = NULL;
	if (!list || !entries) {
		error = lm_no_memory(fabric->ctx, "read %s", range->what);
		goto end;
	}
	for (int attempt = 0; attempt < LM_RETRIES && error == -EAGAIN; attempt++) {
		lm_list_clear(list);
		error = range_read_once(fabric, range, list, entries);
	}
	if (error == -EAGAIN)
		lm_fail(fabric->ctx, EAGAIN, "read %s: the fabric changed during each of %d tries",
			range->what, LM_RETRIES);
end:
	free(entries);
	if (error)
		morph_list_free(list);
	else
		*out = list;
	return error;
}

int morph_fabric_accelerators(struct morph_fabric *fabric, struct morph_list **out)
{
	static const struct range range = {
		MORPH_FABRIC_READ_ACCELERATORS,
		"accelerators",
		sizeof(struct morph_accelerator_info),
		lm_from_accelerator,
	};

	return range_read(fabric, &range, out);
}

int morph_fabric_guides(struct morph_fabric *fabric, struct morph_list **out)
{
	static const struct range range = {
		MORPH_FABRIC_READ_GUIDES,
		"guides",
		sizeof(struct morph_guide_info),
		lm_from_guide,
	};

	return range_read(fabric, &range, out);
}

int morph_fabric_elements(struct morph_fabric *fabric, struct morph_list **out)
{
	static const struct range range = {
		MORPH_FABRIC_READ_ELEMENTS,
		"elements",
		sizeof(struct morph_element_info),
		lm_from_element,
	};

	return range_read(fabric, &range, out);
}

int morph_fabric_edges(struct morph_fabric *fabric, struct morph_list **out)
{
	static const struct range range = {
		MORPH_FABRIC_READ_EDGES,
		"edges",
		sizeof(struct morph_edge_info),
		lm_from_edge,
	};

	return range_read(fabric, &range, out);
}

/* -------------------------------------------------------------- all fabrics */

static int fabrics_from_devices(struct morph_ctx *ctx, struct morph_list *list)
{
	struct morph_list *devices;
	int error = morph_devices(ctx, &devices);

	for (size_t at = 0; !error && at < morph_list_count(devices); at++) {
		const struct morph_object *device = morph_list_get(devices, at);
		struct morph_fabric *fabric = NULL;
		struct morph_object *info = NULL;

		if (strcmp(morph_object_text(device, "kind"), "fabric"))
			continue;
		error = open_path(ctx, morph_object_text(device, "path"), &fabric);
		if (fabric)
			error = morph_fabric_info(fabric, &info);
		morph_fabric_close(fabric);
		if (!error && lm_list_add(list, info))
			error = lm_no_memory(ctx, "list fabrics");
		if (!lm_is_ours(error))
			error = 0;
	}
	morph_list_free(devices);
	return error;
}

MORPH_API int morph_fabrics(struct morph_ctx *ctx, struct morph_list **out)
{
	struct morph_list *list;
	int error;

	if (!morph_admin_list(ctx, MORPH_OBJECT_FABRIC, MORPH_ANY, MORPH_ANY, out))
		return 0;
	list = lm_list_new();
	if (!list)
		return lm_no_memory(ctx, "list fabrics");
	error = fabrics_from_devices(ctx, list);
	if (error) {
		morph_list_free(list);
		return error;
	}
	*out = list;
	return 0;
}

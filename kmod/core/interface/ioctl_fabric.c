// SPDX-License-Identifier: GPL-2.0-only
/* Commands of the fabric file: read the hardware; create and end slices. */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "core/base/base.h"
#include "core/interface/interface.h"
#include "core/slice/slice.h"
#include "ioctl.h"

/* Entries read in one hold of fabric->lock. */
#define READ_CHUNK	64u

int morph_do_fabric_info(struct morph_call *call)
{
	struct morph_fabric *fabric = call->fabric;
	int ret;

	morph_fabric_lock(fabric);
	ret = morph_fabric_check(fabric);
	if (!ret)
		morph_fabric_fill_info(fabric, &call->fabric_info);
	morph_fabric_unlock(fabric);
	return ret;
}

/* ------------------------------------------------------------------- ranges */

/* A kind of entries that are read in ranges. */
struct read_kind {
	void (*fill)(struct morph_fabric *fabric, u32 index, void *entry);
	size_t bytes, least;	/* of an entry: of this kernel, of the first version */
	u32 total;
};

static void fill_accelerator(struct morph_fabric *fabric, u32 index, void *entry)
{
	morph_accelerator_fill_info(fabric, index, entry);
}

static void fill_guide(struct morph_fabric *fabric, u32 index, void *entry)
{
	morph_guide_fill_info(fabric, index, entry);
}

static void fill_element(struct morph_fabric *fabric, u32 index, void *entry)
{
	morph_element_fill_info(fabric, index, entry);
}

static void fill_edge(struct morph_fabric *fabric, u32 index, void *entry)
{
	morph_edge_fill_info(fabric, index, entry);
}

/* Read one chunk under one hold of the lock. */
static int read_chunk(struct morph_call *call, const struct read_kind *kind, u32 first, u32 count,
		      void *buffer, u64 *seq)
{
	struct morph_fabric *fabric = call->fabric;
	u32 i;
	int ret;

	memset(buffer, 0, kind->bytes * count);
	morph_fabric_lock(fabric);
	ret = morph_fabric_check(fabric);
	for (i = 0; i < count && !ret; i++)
		kind->fill(fabric, first + i, buffer + kind->bytes * i);
	*seq = fabric->seq;
	morph_holds_count(fabric, i);
	morph_fabric_unlock(fabric);
	return ret;
}

/*
 * Read chunk by chunk, so that the lock is not held for long. The reported seq is that of the first
 * chunk: each entry has the state of that moment or a later one.
 */
static int read_range(struct morph_call *call, const struct read_kind *kind)
{
	struct morph_fabric_read *args = &call->fabric_read;
	u32 first = args->first, done = 0, wanted, n;
	void *buffer;
	u64 seq;
	int ret;

	ret = morph_array_check(call, &args->entries, kind->least, "entries");
	if (ret)
		return ret;
	buffer = kmalloc_array(READ_CHUNK, kind->bytes, GFP_KERNEL_ACCOUNT);
	if (!buffer)
		return -ENOMEM;
	wanted = first < kind->total ? min(args->entries.count, kind->total - first) : 0;
	do {
		n = min(wanted - done, READ_CHUNK);
		ret = read_chunk(call, kind, first + done, n, buffer, &seq);
		if (!ret && n)
			ret = morph_array_put(&args->entries, done, buffer, n, kind->bytes);
		if (!done)
			args->seq = seq;
		done += n;
		if (!ret && fatal_signal_pending(current))
			ret = -EINTR;
		cond_resched();
	} while (!ret && done < wanted);
	kfree(buffer);
	if (!ret)
		args->entries.count = done;
	return ret;
}

int morph_do_read_accelerators(struct morph_call *call)
{
	struct read_kind kind = {
		.fill = fill_accelerator,
		.bytes = sizeof(struct morph_accelerator_info),
		.least = MORPH_ENTRY_LEAST(morph_accelerator_info, last_verified_ns),
		.total = call->fabric->graph->accelerators_count,
	};

	return read_range(call, &kind);
}

int morph_do_read_guides(struct morph_call *call)
{
	struct read_kind kind = {
		.fill = fill_guide,
		.bytes = sizeof(struct morph_guide_info),
		.least = MORPH_ENTRY_LEAST(morph_guide_info, reserved),
		.total = call->fabric->graph->guides_count,
	};

	return read_range(call, &kind);
}

int morph_do_read_elements(struct morph_call *call)
{
	struct read_kind kind = {
		.fill = fill_element,
		.bytes = sizeof(struct morph_element_info),
		.least = MORPH_ENTRY_LEAST(morph_element_info, pins),
		.total = call->fabric->graph->elements_count,
	};

	return read_range(call, &kind);
}

int morph_do_read_edges(struct morph_call *call)
{
	struct read_kind kind = {
		.fill = fill_edge,
		.bytes = sizeof(struct morph_edge_info),
		.least = MORPH_ENTRY_LEAST(morph_edge_info, name),
		.total = call->fabric->graph->edges_count,
	};

	return read_range(call, &kind);
}

/* ------------------------------------------------------------------- create */

/* Copy both lists of accelerators; free_lists() frees them. */
static int get_lists(struct morph_call *call, struct morph_slice_params *params)
{
	const struct morph_slice_create *args = &call->slice_create;
	u32 most = call->fabric->graph->accelerators_count;
	u32 *list;

	if ((args->accelerators.ptr && args->accelerators.count > most) ||
	    args->spares.count > most)
		return morph_refuse_field(call, -EINVAL,
					  "%u accelerators and %u spares listed, the fabric has %u",
					  args->accelerators.count, args->spares.count, most);
	if (!args->spares.ptr && args->spares.count)
		return morph_refuse_field(call, -EINVAL, "spares.ptr is 0, but spares.count is %u",
					  args->spares.count);
	params->count = args->accelerators.count;
	params->spares_count = args->spares.count;
	if (args->accelerators.ptr && params->count) {
		list = morph_array_get_u32(call, &args->accelerators, "accelerators");
		if (IS_ERR(list))
			return PTR_ERR(list);
		params->accelerators = list;
	}
	if (params->spares_count) {
		list = morph_array_get_u32(call, &args->spares, "spares");
		if (IS_ERR(list))
			return PTR_ERR(list);
		params->spares = list;
	}
	return 0;
}

static void free_lists(struct morph_slice_params *params)
{
	kvfree(params->accelerators);
	kvfree(params->spares);
}

/* Create the file of the new slice; it is installed after the results are copied out. */
static int park_file(struct morph_call *call, struct morph_slice *slice)
{
	struct file *file;
	int fd;

	fd = morph_chardev_slice_fd(slice, &file, &call->refusal);
	if (fd < 0) {
		morph_fabric_lock(call->fabric);
		if (!slice->dying)
			morph_slice_release(slice, 0);
		morph_fabric_unlock(call->fabric);
		morph_slice_put(slice);
		return fd;
	}
	call->new_slice = slice;
	call->new_file = file;
	call->new_fd = fd;
	return 0;
}

/*
 * The owner of a slice is the effective user who opened the fabric node, even if the file was
 * passed on. No user opened the file of a grant; there the caller becomes the owner.
 */
static kuid_t owner_of(const struct morph_call *call)
{
	return call->user->grant ? current_euid() : call->user->uid;
}

/* The dry run of a ring is about circuits of a new slice, so it excludes other flags. */
static int check_ring(struct morph_call *call)
{
	const struct morph_slice_create *args = &call->slice_create;

	if (!(args->head.flags & MORPH_SLICE_RING))
		return args->ring_lanes ?
		       morph_refuse_field(call, -EINVAL,
					  "ring_lanes is %u, must be 0 without MORPH_SLICE_RING",
					  args->ring_lanes) : 0;
	if (args->head.flags != (MORPH_SLICE_RING | MORPH_SLICE_DRY_RUN))
		return morph_refuse_field(call, -EINVAL,
					  "MORPH_SLICE_RING requires MORPH_SLICE_DRY_RUN, and no other flag");
	return 0;
}

/* Try a ring of circuits in a slice that is possible. It charges the user like other trials. */
static int try_ring(struct morph_call *call, const struct morph_slice_params *params)
{
	const struct morph_question question = {
		.accelerators = params->accelerators,
		.count = params->count,
		.transit = params->transit,
		.ring = true,
		.lanes = call->slice_create.ring_lanes,
		.user = params->user,
	};
	u32 *chosen;
	int ret;

	chosen = kvcalloc(params->count, sizeof(*chosen), GFP_KERNEL_ACCOUNT);
	if (!chosen)
		return -ENOMEM;
	ret = morph_why_not(call->fabric, &question, chosen, &call->refusal);
	kvfree(chosen);
	return ret;
}

int morph_do_slice_create(struct morph_call *call)
{
	struct morph_slice_create *args = &call->slice_create;
	struct morph_slice_params params = {
		.failover = args->failover,
		.transit = args->transit,
		.spare_policy = args->spare_policy,
		.mode = args->mode,
		.reserved = args->head.flags & MORPH_SLICE_RESERVED,
		.lend = args->head.flags & MORPH_SLICE_LEND,
		.dry_run = args->head.flags & MORPH_SLICE_DRY_RUN,
		.may_wait = true,
		.uid = owner_of(call),
		.user = call->user,
	};
	struct morph_slice *slice = NULL;
	int ret;

	args->out_fd = -1;
	args->out_slice = 0;
	args->out_generation = 0;
	if (args->mode & ~0777u)
		return morph_refuse_field(call, -EINVAL,
					  "mode is 0%o, must have permission bits only",
					  args->mode);
	ret = check_ring(call);
	if (ret)
		return ret;
	memcpy(params.name, args->name, sizeof(params.name));
	ret = get_lists(call, &params);
	if (!ret)
		ret = morph_chardev_create_slice(call->fabric, &params, &slice,
						 &call->refusal);
	if (!ret && args->head.flags & MORPH_SLICE_RING)
		ret = try_ring(call, &params);
	free_lists(&params);
	if (ret || !slice)
		return ret;
	morph_fabric_lock(call->fabric);
	args->out_slice = slice->number;
	args->out_generation = slice->generation;
	morph_fabric_unlock(call->fabric);
	ret = park_file(call, slice);
	if (!ret)
		args->out_fd = call->new_fd;
	return ret;
}

/* -------------------------------------------------------------------- grant */

int morph_do_grant_create(struct morph_call *call)
{
	struct morph_grant_create *args = &call->grant_create;
	const struct morph_limits limits = {
		.accelerators = args->accelerators,
		.circuits = args->circuits,
		.lanes = args->lanes,
		.prepared = args->prepared,
		.replacements = args->replacements,
		.bytes = args->bytes,
	};
	struct morph_user *grant;
	struct file *file;
	int fd;

	args->out_fd = -1;
	args->out_grant = 0;
	if (!capable(CAP_NET_ADMIN))
		return morph_refuse(&call->refusal, -EPERM, MORPH_REASON_STATE, 0, 0,
				    "a grant requires CAP_NET_ADMIN in the initial user namespace");
	grant = morph_grant_create(&limits);
	if (IS_ERR(grant))
		return PTR_ERR(grant);
	fd = morph_chardev_grant_fd(call->fabric, grant, &file, &call->refusal);
	if (fd >= 0) {
		call->new_file = file;
		call->new_fd = fd;
		args->out_fd = fd;
		args->out_grant = grant->grant;
	}
	morph_user_put(grant);
	return min(fd, 0);
}

/* ------------------------------------------------------------------- delete */

/*
 * Check the caller, not the opener: a file that was passed on gives no right to the opener's
 * slices.
 */
static bool may_delete(const struct morph_slice *slice)
{
	return uid_eq(current_euid(), slice_tenancy(slice)->uid) || capable(CAP_NET_ADMIN);
}

int morph_do_slice_delete(struct morph_call *call)
{
	struct morph_slice_delete *args = &call->slice_delete;
	struct morph_slice *slice;
	bool by_name;
	int ret;

	if (strnlen(args->name, sizeof(args->name)) == sizeof(args->name))
		return morph_refuse_field(call, -EINVAL, "name has no final NUL");
	by_name = args->slice == MORPH_ANY;
	if (by_name != (args->name[0] != '\0'))
		return morph_refuse_field(call, -EINVAL,
					  "name the slice by its number, or by MORPH_ANY and its name");
	slice = morph_slice_find(call->fabric, args->slice, args->name);
	if (!slice && by_name)
		return morph_refuse_field(call, -ENOENT, "no slice of this name");
	if (!slice)
		return morph_refuse_numbers(&call->refusal, -ENOENT, MORPH_REASON_ARGUMENT, 0,
					    args->slice,
					    READ_ONCE(ledger_of(call->fabric)->slices_count), 0,
					    "no slice {index} (slices: {have})");
	call->stands = true;
	if (!may_delete(slice))
		ret = morph_refuse(&call->refusal, -EPERM, MORPH_REASON_STATE, 0, 0,
				   "only a slice's owner, or CAP_NET_ADMIN, may delete it");
	else if (!slice_tenancy(slice)->named)
		ret = morph_refuse(&call->refusal, -EINVAL, MORPH_REASON_STATE, 0, 0,
				   "an unnamed slice ends when its last file is closed");
	else
		ret = morph_slice_delete(slice, args->head.flags & MORPH_SLICE_FORCE,
					 &call->refusal);
	morph_slice_put(slice);
	return ret;
}

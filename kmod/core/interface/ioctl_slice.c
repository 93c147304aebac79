// SPDX-License-Identifier: GPL-2.0-only
/* Commands of the slice file except transactions: the slice, its ranks, its policy. */
#include <linux/cred.h>
#include <linux/slab.h>
#include <linux/uidgid.h>

#include "core/base/base.h"
#include "core/ledger/ledger.h"
#include "core/recovery/recovery.h"
#include "core/slice/slice.h"
#include "ioctl.h"

/* Check that the slice and its fabric are usable. Caller holds fabric->lock. */
static int slice_check(struct morph_call *call)
{
	int ret = call->file->slice->dying ? -ENODEV : morph_fabric_check(call->fabric);

	if (ret)
		morph_refuse(&call->refusal, ret, MORPH_REASON_STATE, 0, 0, "the slice is gone");
	return ret;
}

/* --------------------------------------------------------------------- info */

/* The state of a slice at one moment, in memory of the caller. */
struct snapshot {
	struct morph_rank_info *ranks;
	struct morph_circuit_info *circuits;
	u32 ranks_room, circuits_room;
	u32 ranks_count, circuits_count;
};

static void snapshot_free(struct snapshot *snapshot)
{
	kvfree(snapshot->ranks);
	kvfree(snapshot->circuits);
}

/* Caller holds fabric->lock. */
static void snapshot_count(struct morph_slice *slice, struct snapshot *snapshot)
{
	struct morph_circuit *circuit;
	unsigned long index;

	snapshot->ranks_count = slice->ranks_count;
	snapshot->circuits_count = 0;
	xa_for_each(&slice->circuits, index, circuit)
		snapshot->circuits_count += morph_circuit_shown(circuit);
}

/* Allocate for the number of entries that the caller can take, at most the number that exist. */
static int snapshot_alloc(struct morph_call *call, struct snapshot *snapshot)
{
	const struct morph_slice_info *args = &call->slice_info;

	snapshot->ranks_room = args->ranks.ptr ?
			       min(args->ranks.count, snapshot->ranks_count) : 0;
	snapshot->circuits_room = args->circuits.ptr ?
				  min(args->circuits.count, snapshot->circuits_count) : 0;
	snapshot->ranks = kvcalloc(snapshot->ranks_room, sizeof(*snapshot->ranks),
				   GFP_KERNEL_ACCOUNT);
	snapshot->circuits = kvcalloc(snapshot->circuits_room, sizeof(*snapshot->circuits),
				      GFP_KERNEL_ACCOUNT);
	return snapshot->ranks && snapshot->circuits ? 0 : -ENOMEM;
}

/* The fields behind those of the first version. Caller holds fabric->lock. */
static void fill_tenancy(struct morph_slice *slice, struct morph_slice_info *info)
{
	const struct morph_slice_tenancy *tenancy = slice_tenancy(slice);

	info->owner = from_kuid_munged(current_user_ns(), tenancy->uid);
	info->mode = tenancy->named ? tenancy->mode : 0;
	info->files = tenancy->files_count;
	info->used_replacements = morph_repair_replacements(slice);
	info->bandwidth_mbps = morph_slice_bandwidth(slice);
}

/* Caller holds fabric->lock. */
static void snapshot_fill(struct morph_call *call, struct snapshot *snapshot)
{
	struct morph_slice *slice = call->file->slice;
	struct morph_circuit *circuit;
	unsigned long index;
	u32 i, count = 0;

	for (i = 0; i < snapshot->ranks_room; i++)
		morph_rank_fill_info(slice, i, &snapshot->ranks[i]);
	snapshot->ranks_count = slice->ranks_count;
	xa_for_each(&slice->circuits, index, circuit) {
		if (!morph_circuit_shown(circuit))
			continue;
		if (count < snapshot->circuits_room)
			morph_circuit_fill_info(circuit, &snapshot->circuits[count]);
		count++;
	}
	snapshot->circuits_count = count;
	morph_holds_count(call->fabric, snapshot->ranks_room + min(count, snapshot->circuits_room));
	morph_slice_fill_info(slice, &call->slice_info);
	fill_tenancy(slice, &call->slice_info);
	spin_lock(&interface_of(call->fabric)->event_lock);
	call->slice_info.events_lost = call->file->lost_total;
	spin_unlock(&interface_of(call->fabric)->event_lock);
}

/*
 * Copy all entries under one hold of the lock. If circuits were added during the allocation, try
 * again, unless the caller's buffer is too small anyway.
 */
static int snapshot_take(struct morph_call *call, struct snapshot *snapshot)
{
	const struct morph_slice_info *args = &call->slice_info;
	struct morph_slice *slice = call->file->slice;
	int ret;

	for (;;) {
		morph_fabric_lock(call->fabric);
		snapshot_count(slice, snapshot);
		morph_fabric_unlock(call->fabric);
		ret = snapshot_alloc(call, snapshot);
		if (ret)
			return ret;
		morph_fabric_lock(call->fabric);
		ret = slice_check(call);
		if (!ret)
			snapshot_fill(call, snapshot);
		morph_fabric_unlock(call->fabric);
		if (ret || !args->circuits.ptr ||
		    snapshot->circuits_room >= min(args->circuits.count, snapshot->circuits_count))
			return ret;
		snapshot_free(snapshot);
	}
}

int morph_do_slice_info(struct morph_call *call)
{
	struct morph_slice_info *args = &call->slice_info;
	struct snapshot snapshot = {};
	int ret = 0, short_ranks;

	if (args->ranks.ptr)
		ret = morph_array_check(call, &args->ranks,
					MORPH_ENTRY_LEAST(morph_rank_info, uuid), "ranks");
	if (!ret && args->circuits.ptr)
		ret = morph_array_check(call, &args->circuits,
					MORPH_ENTRY_LEAST(morph_circuit_info, last_verified_ns),
					"circuits");
	if (ret)
		return ret;
	ret = snapshot_take(call, &snapshot);
	if (!ret) {
		/* Set both counts even if the first array is too small. */
		short_ranks = morph_array_answer(call, &args->ranks, snapshot.ranks,
						 snapshot.ranks_count, sizeof(*snapshot.ranks),
						 "ranks");
		ret = morph_array_answer(call, &args->circuits, snapshot.circuits,
					 snapshot.circuits_count, sizeof(*snapshot.circuits),
					 "circuits");
		ret = short_ranks ? short_ranks : ret;
	}
	snapshot_free(&snapshot);
	return ret;
}

/* --------------------------------------------------------------------- path */

/* The path of a circuit at one moment. */
struct path_copy {
	u32 guides[OPTICS_MAX_HOPS];
	struct morph_path_element elements[OPTICS_MAX_HOPS];
	u32 guides_count, elements_count;
};

static int copy_path(struct morph_call *call, struct path_copy *copy)
{
	u32 id = call->circuit_path.circuit, i;
	const struct morph_circuit *circuit;
	const struct optics_path *path;
	int ret;

	lockdep_assert_held(&call->fabric->lock);
	ret = slice_check(call);
	if (ret)
		return ret;
	circuit = xa_load(&call->file->slice->circuits, id);
	/* Circuits of a schedule have their paths at all times. */
	if (!circuit || !(morph_circuit_shown(circuit) || circuit->scheduled) || !circuit->route)
		return morph_refuse_numbers(&call->refusal, -ENOENT, MORPH_REASON_ARGUMENT, 0, id,
					    call->file->slice->circuits_count, 0,
					    "no circuit {index} (circuits: {have})");
	path = &circuit->route->path;
	for (i = 0; i < path->hops_count; i++) {
		copy->guides[copy->guides_count++] = path->hops[i].guide >> 1;
		if (path->hops[i].element == OPTICS_NONE)
			continue;
		copy->elements[copy->elements_count].element = path->hops[i].element;
		copy->elements[copy->elements_count++].state = path->hops[i].state;
	}
	return 0;
}

int morph_do_circuit_path(struct morph_call *call)
{
	struct morph_circuit_path *args = &call->circuit_path;
	struct path_copy *copy;
	int ret = 0, short_guides;

	if (args->guides.ptr)
		ret = morph_array_check(call, &args->guides, sizeof(copy->guides[0]), "guides");
	if (!ret && args->elements.ptr)
		ret = morph_array_check(call, &args->elements,
					MORPH_ENTRY_LEAST(morph_path_element, state),
					"elements");
	if (ret)
		return ret;
	copy = kzalloc(sizeof(*copy), GFP_KERNEL_ACCOUNT);
	if (!copy)
		return -ENOMEM;
	morph_fabric_lock(call->fabric);
	ret = copy_path(call, copy);
	morph_fabric_unlock(call->fabric);
	if (!ret) {
		short_guides = morph_array_answer(call, &args->guides, copy->guides,
						  copy->guides_count, sizeof(copy->guides[0]),
						  "guides");
		ret = morph_array_answer(call, &args->elements, copy->elements,
					 copy->elements_count, sizeof(copy->elements[0]),
					 "elements");
		ret = short_guides ? short_guides : ret;
	}
	kfree(copy);
	return ret;
}

/* -------------------------------------------------------------------- ranks */

int morph_do_rank_report(struct morph_call *call)
{
	struct morph_rank_act *args = &call->rank_act;

	if (args->spare)
		return morph_refuse_field(call, -EINVAL, "spare must be 0 in a report");
	call->stands = true;
	return morph_repair_report(call->file->slice, args->rank, &args->out_state,
				   &args->out_health, &call->refusal);
}

int morph_do_rank_replace(struct morph_call *call)
{
	struct morph_rank_act *args = &call->rank_act;

	call->stands = true;
	return morph_repair_replace(call->file->slice, args->rank, args->spare, &args->out_state,
				    &args->out_health, &call->refusal);
}

int morph_do_rank_prefer(struct morph_call *call)
{
	const struct morph_rank_act *args = &call->rank_act;
	const struct morph_preference preference = { .rank = args->rank, .spare = args->spare };

	call->stands = true;
	return morph_repair_prefer(call->file->slice, &preference, 1, &call->refusal);
}

int morph_do_slice_policy(struct morph_call *call)
{
	call->stands = true;
	return morph_slice_set_policy(call->file->slice, call->slice_policy.failover,
				      &call->refusal);
}

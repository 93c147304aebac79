// SPDX-License-Identifier: GPL-2.0-only
/*
 * Circuits of a schedule that is loaded: their memory, paths and numbers. Chunks of memory are
 * allocated and charged without fabric->lock.
 */
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "core/base/base.h"
#include "core/ledger/ledger.h"
#include "core/schedule/schedule.h"
#include "core/slice/slice.h"
#include "core/txn/txn.h"

#define PATH_WORK	1024u	/* work to find a path, in visited entries of schedules */
#define CHUNK_BYTES	32768u	/* memory for circuits that is allocated at once */
#define LIKELY_HOPS	8u
#define NUMBERS_AT_ONCE	256u

/* Take consecutive numbers. They are reused after the last schedule is unloaded. */
static int take_ids(struct morph_slice *slice, u32 count, u32 *first)
{
	/* The list has the schedule that is being loaded. */
	if (list_is_singular(&slice_scheduling(slice)->schedules))
		slice_scheduling(slice)->schedule_ids = MORPH_SCHEDULE_FIRST_ID;
	if (count > 0x7fffffffu - slice_scheduling(slice)->schedule_ids)
		return -EOVERFLOW;
	*first = slice_scheduling(slice)->schedule_ids;
	slice_scheduling(slice)->schedule_ids += count;
	return 0;
}

static void fill_change(struct morph_item *item, const struct morph_schedule_request *request,
			u32 index)
{
	const struct morph_schedule_circuit *circuit = &request->circuits[index];

	item->change = (struct morph_change){
		.op = MORPH_CHANGE_ADD,
		.src_rank = circuit->src_rank,
		.dst_rank = circuit->dst_rank,
		.src_plane = circuit->src_plane,
		.dst_plane = circuit->dst_plane,
		.lanes_count = circuit->lanes_count,
		.lanes = circuit->lanes,
		.guides.count = circuit->guides_count,
	};
	item->guides = circuit->guides_count ? request->guides + circuit->first_guide : NULL;
}

/* The path and lanes are given, so the search need not consider other circuits of the schedule. */
static bool is_fixed(const struct morph_item *item)
{
	const struct morph_change *change = &item->change;

	return item->guides && change->lanes &&
	       (!change->lanes_count || change->lanes_count == optics_weight64(change->lanes));
}

static int find_path(struct morph_schedule *schedule, struct morph_txn *scratch, u32 index)
{
	struct morph_circuit *circuit = schedule->circuits[index];
	struct morph_item *item = &scratch->items[0];
	struct optics_refusal why = {};
	int ret;

	if (!is_fixed(item))
		return morph_schedule_route(schedule, scratch, index);
	item->new_src = schedule->slice->ranks[circuit->src_rank].accelerator;
	item->new_dst = schedule->slice->ranks[circuit->dst_rank].accelerator;
	ret = morph_txn_find_path(scratch, item, NULL, 0, &why);
	if (ret)
		return why.reason ? morph_refuse_optics(&scratch->refusal, ret, &why) : ret;
	item->new->circuit = circuit;
	circuit->route = item->new;
	circuit->lanes_count = optics_weight64(item->new->path.lanes);
	item->new = NULL;
	return 0;
}

/* A failover may take a lent spare at any time, but must not change the steps of a schedule. */
static int check_lent(struct morph_txn *scratch, u32 rank)
{
	const struct morph_slice *slice = scratch->slice;

	if (rank & MORPH_RANK_EDGE ||
	    !ledger_of(slice->fabric)->chips[slice->ranks[rank].accelerator].lent)
		return 0;
	return morph_refuse_numbers(&scratch->refusal, -EBUSY, MORPH_REASON_STATE, 0, rank, 0, 0,
				    "rank {index} has a lent spare, which a schedule must not use");
}

/* Allocate the memory that a path search lacks. No lock held. */
static int search_alloc(struct morph_schedule *schedule, struct morph_refusal *refusal)
{
	const struct morph_traces *traces = &schedule->traces;

	if (traces->wanted > traces->room)
		return morph_schedule_alloc_traces(schedule, GFP_KERNEL_ACCOUNT);
	/* A search has paused. The first one that does gets memory for the next hold. */
	if (!schedule->search->work)
		return morph_path_search_alloc(schedule->search, schedule->slice->user, refusal);
	return 0;
}

static int find_path_in_holds(struct morph_schedule *schedule, struct morph_txn *scratch,
			      u32 index)
{
	struct morph_fabric *fabric = schedule->slice->fabric;
	int ret;

	do {
		ret = find_path(schedule, scratch, index);
		if (ret != -EINPROGRESS)
			return ret;
		mutex_unlock(&fabric->lock);
		ret = search_alloc(schedule, &scratch->refusal);
		morph_fabric_lock(fabric);
		if (!ret)
			ret = morph_schedule_yield(schedule, &scratch->refusal);
	} while (!ret);
	return ret;
}

/*
 * Create a dark circuit with its path. After a failure it may have no path; morph_schedule_drop()
 * frees it. Caller holds fabric->lock; the function drops it at times.
 */
static int make_circuit(struct morph_schedule *schedule,
			const struct morph_schedule_request *request,
			struct morph_txn *scratch, u32 index)
{
	struct morph_item *item = &scratch->items[0];
	struct morph_circuit *circuit;
	int ret;

	fill_change(item, request, index);
	ret = morph_txn_check_add(scratch, 0);
	if (!ret)
		ret = check_lent(scratch, item->change.src_rank);
	if (!ret)
		ret = check_lent(scratch, item->change.dst_rank);
	if (ret)
		return ret;
	circuit = morph_circuit_place(schedule->slice, &item->change, scratch->chunk);
	if (!circuit)
		return -ENOMEM;
	circuit->id = schedule->first_circuit + index;
	circuit->scheduled = true;
	circuit_scheduling(circuit)->schedule = schedule;
	schedule->circuits[schedule->circuits_count++] = circuit;
	return find_path_in_holds(schedule, scratch, index);
}

/* Memory of a circuit, at most, or as much as it will probably need. */
static size_t circuit_bytes(const struct morph_schedule_request *request, u32 index, u32 hops)
{
	return ALIGN(morph_circuit_bytes(), sizeof(u64)) +
	       morph_route_bytes(request->circuits[index].guides_count ?: hops);
}

/* Allocate memory for the next circuits. Caller holds fabric->lock; the function drops it. */
static int next_chunk(struct morph_schedule *schedule,
		      const struct morph_schedule_request *request, struct morph_txn *scratch,
		      u32 index)
{
	size_t bytes = circuit_bytes(request, index, OPTICS_MAX_HOPS);
	struct morph_slice *slice = schedule->slice;
	struct morph_chunk *chunk;
	u32 i;

	for (i = index + 1; i < request->circuits_count && bytes < CHUNK_BYTES; i++)
		bytes += circuit_bytes(request, i, LIKELY_HOPS);
	mutex_unlock(&slice->fabric->lock);
	chunk = morph_chunk_alloc(slice->user, bytes, &scratch->refusal);
	morph_fabric_lock(slice->fabric);
	if (IS_ERR(chunk))
		return PTR_ERR(chunk);
	morph_chunk_put(scratch->chunk);
	scratch->chunk = chunk;
	return morph_schedule_check_yielded(schedule, &scratch->refusal);
}

/*
 * Create all circuits. A path search that considers other circuits sees those created before.
 * Caller has entered the slice and holds fabric->lock; the function drops it at times.
 */
static int make_circuits(struct morph_schedule *schedule,
			 const struct morph_schedule_request *request, struct morph_txn *scratch,
			 struct morph_schedule_wrong *wrong)
{
	u32 i;
	int ret;

	ret = take_ids(schedule->slice, request->circuits_count, &schedule->first_circuit);
	for (i = 0; i < request->circuits_count && !ret; i++) {
		if (!scratch->chunk ||
		    scratch->chunk->left < circuit_bytes(request, i, OPTICS_MAX_HOPS))
			ret = next_chunk(schedule, request, scratch, i);
		else if (schedule->work >= MORPH_SCHEDULE_MOST_WORK)
			ret = morph_schedule_yield(schedule, &scratch->refusal);
		if (ret)
			break;
		schedule->work += PATH_WORK;
		ret = make_circuit(schedule, request, scratch, i);
		if (ret)
			wrong->circuit = i;
	}
	return ret;
}

int morph_schedule_make_circuits(struct morph_schedule *schedule,
				 const struct morph_schedule_request *request,
				 struct morph_txn *scratch, struct morph_schedule_wrong *wrong)
{
	struct morph_user *user = schedule->slice->user;
	int ret;

	ret = morph_user_charge(user, MORPH_RES_CIRCUITS, request->circuits_count,
				&scratch->refusal);
	if (ret)
		return ret;
	ret = make_circuits(schedule, request, scratch, wrong);
	if (ret)
		morph_user_uncharge(user, MORPH_RES_CIRCUITS,
				    request->circuits_count - schedule->circuits_count);
	return ret;
}

/* Enter the circuits into the table of the slice, which has a lock of its own. */
static int number_circuits(struct morph_schedule *schedule)
{
	XA_STATE(xas, &schedule->slice->circuits, schedule->first_circuit);
	u32 i = 0, end;

	while (i < schedule->circuits_count) {
		end = min(i + NUMBERS_AT_ONCE, schedule->circuits_count);
		xas_set(&xas, schedule->first_circuit + i);
		xas_lock(&xas);
		for (; i < end; i++) {
			xas_store(&xas, schedule->circuits[i]);
			if (xas_error(&xas))
				break;
			xas_clear_mark(&xas, XA_FREE_MARK);
			xas_next(&xas);
		}
		xas_unlock(&xas);
		if (!xas_nomem(&xas, GFP_KERNEL) && xas_error(&xas))
			return xas_error(&xas);
		cond_resched();
	}
	return 0;
}

int morph_schedule_number_circuits(struct morph_schedule *schedule, struct morph_refusal *refusal)
{
	u64 lanes = 0;
	u32 i;
	int ret;

	for (i = 0; i < schedule->circuits_count; i++)
		lanes += schedule->circuits[i]->lanes_count;
	ret = morph_user_charge(schedule->slice->user, MORPH_RES_LANES, lanes, refusal);
	if (ret)
		return ret;
	schedule->lanes_charged = true;
	return number_circuits(schedule);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The state page of a slice, which programs and their devices map and read: the bandwidth between
 * ranks. Written under fabric->lock, like the write side of a seqcount: readers compare the version
 * before and after.
 */
#include <linux/mm.h>
#include <linux/vmalloc.h>

#include "core/base/base.h"
#include "core/interface/interface.h"
#include "core/ledger/ledger.h"
#include "core/schedule/schedule.h"
#include "core/slice/slice.h"
#include "core/txn/txn.h"

static u64 state_bytes(const struct morph_slice *slice)
{
	return MORPH_STATE_BYTES((u64)slice->ranks_count * slice->ranks_count);
}

static struct morph_state_pair *pair_of(struct morph_slice *slice, u32 src, u32 dst)
{
	struct morph_state_pair *pairs = (void *)(slice_interface(slice)->state_page + 1);

	return &pairs[src * slice->ranks_count + dst];
}

static void state_begin(struct morph_slice *slice)
{
	struct morph_state_page *page = slice_interface(slice)->state_page;

	lockdep_assert_held(&slice->fabric->lock);
	if (!page)
		return;
	WRITE_ONCE(page->version, page->version + 1);
	/* A reader that sees later writes sees the odd version. */
	dma_wmb();
}

static void state_end(struct morph_slice *slice)
{
	struct morph_state_page *page = slice_interface(slice)->state_page;

	if (!page)
		return;
	page->generation = slice->generation;
	/* A reader that sees the even version sees all writes. */
	dma_wmb();
	WRITE_ONCE(page->version, page->version + 1);
}

static bool is_lit(const struct morph_circuit *circuit)
{
	return circuit->listed && circuit->state == MORPH_CIRCUIT_LIT && !circuit->dark &&
	       !((circuit->src_rank | circuit->dst_rank) & MORPH_RANK_EDGE);
}

/* Return whether the slice has a page that is not marked lost. */
static bool has_state_page(const struct morph_slice *slice)
{
	return slice_interface(slice)->state_page && !slice->dying &&
	       slice->fabric->state == MORPH_FABRIC_READY;
}

static void state_circuit(struct morph_circuit *circuit)
{
	struct morph_slice *slice = circuit->slice;
	struct morph_state_pair *pair;
	u64 mbps = 0;

	if (!slice_interface(slice)->state_page ||
	    (circuit->src_rank | circuit->dst_rank) & MORPH_RANK_EDGE)
		return;
	pair = pair_of(slice, circuit->src_rank, circuit->dst_rank);
	/* A lit circuit that ends with its slice or fabric: report only that it is dark. */
	if (has_state_page(slice) && is_lit(circuit))
		mbps = slice->fabric->graph->params.lane_mbps * circuit->lanes_count;
	if (!mbps && !circuit_interface(circuit)->reported_mbps)
		return;
	pair->generation++;
	pair->mbps += mbps - circuit_interface(circuit)->reported_mbps;
	circuit_interface(circuit)->reported_mbps = mbps;
	if (mbps)
		pair->hops = circuit->route->path.hops_count;
	else if (!pair->mbps)
		pair->hops = 0;
}

/* Write the light of a transaction's circuits: of all, or of those that have changed. */
void morph_state_txn(struct morph_txn *txn, bool all)
{
	struct morph_circuit *circuit;
	u32 i;

	for (i = 0; i < txn->count && txn->reclaims; i++) {
		circuit = txn->items[i].circuit;
		if (circuit->slice == txn->slice || !(all || txn->items[i].light_changed))
			continue;
		state_begin(circuit->slice);
		state_circuit(circuit);
		state_end(circuit->slice);
	}
	if (!slice_interface(txn->slice)->state_page)
		return;
	state_begin(txn->slice);
	for (i = 0; i < txn->count; i++)
		if (txn->items[i].circuit->slice == txn->slice &&
		    (all || txn->items[i].light_changed))
			state_circuit(txn->items[i].circuit);
	state_end(txn->slice);
}

void morph_state_dark(struct morph_circuit *circuit)
{
	if (!circuit_interface(circuit)->reported_mbps)
		return;
	state_begin(circuit->slice);
	state_circuit(circuit);
	state_end(circuit->slice);
}

void morph_state_all(struct morph_slice *slice)
{
	struct morph_circuit *circuit;
	unsigned long index;

	if (!slice_interface(slice)->state_page)
		return;
	state_begin(slice);
	xa_for_each(&slice->circuits, index, circuit)
		if (is_lit(circuit) != !!circuit_interface(circuit)->reported_mbps)
			state_circuit(circuit);
	state_end(slice);
}

/* All light is lost, whatever circuits record: the slice ends, or its fabric unregisters. */
void morph_state_lose(struct morph_slice *slice)
{
	struct morph_circuit *circuit;
	struct morph_state_pair *pair;
	unsigned long index;

	if (!slice_interface(slice)->state_page)
		return;
	state_begin(slice);
	xa_for_each(&slice->circuits, index, circuit) {
		if (!circuit_interface(circuit)->reported_mbps)
			continue;
		pair = pair_of(slice, circuit->src_rank, circuit->dst_rank);
		pair->generation++;
		pair->mbps -= circuit_interface(circuit)->reported_mbps;
		if (!pair->mbps)
			pair->hops = 0;
		circuit_interface(circuit)->reported_mbps = 0;
	}
	slice_interface(slice)->state_page->step = MORPH_ANY;
	if (slice_interface(slice)->state_page->schedule)
		slice_interface(slice)->state_page->state = MORPH_SCHEDULE_STOPPED;
	state_end(slice);
}

void morph_state_schedule(const struct morph_schedule *schedule)
{
	struct morph_state_page *page = slice_interface(schedule->slice)->state_page;

	if (!has_state_page(schedule->slice))
		return;
	/* A schedule that stops must not replace another one that runs. */
	if (schedule->state != MORPH_SCHEDULE_RUNNING && page->schedule != schedule->id &&
	    page->state == MORPH_SCHEDULE_RUNNING)
		return;
	state_begin(schedule->slice);
	page->schedule = schedule->id;
	page->state = schedule->state;
	page->step = schedule->step;
	page->position = schedule->position;
	state_end(schedule->slice);
}

void *morph_shared_alloc(size_t bytes)
{
	return __vmalloc(bytes, GFP_KERNEL_ACCOUNT | __GFP_ZERO);
}

int morph_shared_map(struct vm_area_struct *vma, void *memory)
{
	unsigned long at;
	int ret = 0;

	for (at = vma->vm_start; at < vma->vm_end && !ret; at += PAGE_SIZE, memory += PAGE_SIZE)
		ret = vm_insert_page(vma, at, vmalloc_to_page(memory));
	return ret;
}

/* Write all lit circuits, and the running schedule, if any. Caller holds fabric->lock. */
static void state_fill(struct morph_slice *slice, struct morph_state_page *page)
{
	const struct optics_params *params = &slice->fabric->graph->params;
	struct morph_schedule *schedule;

	page->ranks = slice->ranks_count;
	page->step = MORPH_ANY;
	page->settle_ns = params->settle_ns;
	page->relock_ns = params->relock_ns;
	WRITE_ONCE(slice_interface(slice)->state_page, page);
	slice->watched = true;
	morph_state_all(slice);
	list_for_each_entry(schedule, &slice_scheduling(slice)->schedules, node)
		if (schedule->state != MORPH_SCHEDULE_LOADED)
			morph_state_schedule(schedule);
}

/* Allocate the slice's page. If two threads do so, the slice keeps the first page. */
static int state_make(struct morph_slice *slice)
{
	struct morph_fabric *fabric = slice->fabric;
	size_t bytes = state_bytes(slice);
	struct morph_state_page *page;
	int ret;

	ret = morph_user_charge(slice->user, MORPH_RES_BYTES, bytes, NULL);
	if (ret)
		return ret;
	page = morph_shared_alloc(bytes);
	ret = page ? 0 : -ENOMEM;
	mutex_lock(&fabric->lock);
	if (!ret && slice->dying)
		ret = -ENODEV;
	if (!ret && !slice_interface(slice)->state_page) {
		state_fill(slice, page);
		slice->bytes += bytes;		/* uncharged with the slice */
		page = NULL;
		bytes = 0;
	}
	mutex_unlock(&fabric->lock);
	vfree(page);
	if (bytes)
		morph_user_uncharge(slice->user, MORPH_RES_BYTES, bytes);
	return ret;
}

int morph_state_mmap(struct morph_slice *slice, struct vm_area_struct *vma)
{
	int ret;

	if (vma->vm_flags & VM_WRITE)
		return -EACCES;
	if (vma->vm_end - vma->vm_start > PAGE_ALIGN(state_bytes(slice)))
		return -EINVAL;
	if (!READ_ONCE(slice_interface(slice)->state_page)) {
		ret = state_make(slice);
		if (ret)
			return ret;
	}
	vm_flags_clear(vma, VM_MAYWRITE);
	return morph_shared_map(vma, slice_interface(slice)->state_page);
}

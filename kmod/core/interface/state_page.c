// SPDX-License-Identifier: GPL-2.0-only
/*
 * The light of a slice, for programs and for consumers. Programs and their devices map and read the
 * state page, which has the bandwidth between ranks. Written under fabric->lock, like the write
 * side of a seqcount: readers compare the version before and after. Consumers get each circuit at
 * the same time: see consumer.c. On a fabric that is not simulated, so do files, as events.
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

/* Return whether the light of the slice is not lost yet. */
static bool may_be_lit(const struct morph_slice *slice)
{
	return !slice->dying && slice->fabric->state == MORPH_FABRIC_READY;
}

/* Write a circuit's bandwidth to the page, if there is one. */
static void write_pair(struct morph_circuit *circuit, u64 before, u64 mbps)
{
	struct morph_state_pair *pair;

	if (!slice_interface(circuit->slice)->state_page)
		return;
	pair = pair_of(circuit->slice, circuit->src_rank, circuit->dst_rank);
	pair->generation++;
	pair->mbps += mbps - before;
	if (mbps)
		pair->hops = circuit->route->path.hops_count;
	else if (!pair->mbps)
		pair->hops = 0;
}

/*
 * Network devices of the hardware carry the bytes of a fabric that is not simulated. Report to
 * their libraries when the sender must pause, and when it may go on.
 */
static noinline_for_stack void send_hint(struct morph_circuit *circuit, bool lit)
{
	struct morph_slice *slice = circuit->slice;
	u32 accelerator = optics_end_place(slice->fabric->graph, circuit->route->path.tx);
	struct morph_event event;

	/* A circuit that moves is lit when its new path is published. */
	if (lit && circuit->route->role != MORPH_ROUTE_LIVE)
		return;
	circuit_interface(circuit)->hinted_lit = lit;
	morph_event_init(&event, slice,
			 lit ? MORPH_EVENT_CIRCUIT_LIT : MORPH_EVENT_CIRCUIT_CHANGING);
	event.rank = circuit->src_rank;
	event.circuit = circuit->id;
	if (lit)
		morph_event_fill_new(&event, slice->fabric, accelerator);
	else
		morph_event_fill_old(&event, slice->fabric, accelerator);
	morph_event_queue(slice, &event);
}

/* @moves: the circuit keeps its light while it moves, so consumers may continue to send. */
static void state_circuit(struct morph_circuit *circuit, bool hints, bool moves)
{
	struct morph_slice *slice = circuit->slice;
	u64 before = circuit_interface(circuit)->reported_mbps, mbps = 0;

	if (!slice->watched || (circuit->src_rank | circuit->dst_rank) & MORPH_RANK_EDGE)
		return;
	/* A lit circuit that ends with its slice or fabric: report only that it is dark. */
	if (may_be_lit(slice) && is_lit(circuit))
		mbps = slice->fabric->graph->params.lane_mbps * circuit->lanes_count;
	circuit_interface(circuit)->reported_mbps = mbps;
	if (mbps || before)
		write_pair(circuit, before, mbps);
	if (!moves && (mbps || circuit_interface(circuit)->consumer_mbps || !circuit->listed)) {
		circuit_interface(circuit)->consumer_mbps = mbps;
		morph_consumer_light(circuit);
	}
	if (hints && !slice->fabric->simulated && !!mbps != circuit_interface(circuit)->hinted_lit)
		send_hint(circuit, mbps);
}

/* Write the light of a transaction's circuits: of all, or of those that have changed. */
void morph_state_txn(struct morph_txn *txn, bool all)
{
	/* The steps of a schedule would flood the events; its readers use the state page. */
	bool hints = !txn->kind->silent;
	struct morph_circuit *circuit;
	u32 i;

	for (i = 0; i < txn->count && txn->reclaims; i++) {
		circuit = txn->items[i].circuit;
		if (circuit->slice == txn->slice || !(all || txn->items[i].light_changed))
			continue;
		state_begin(circuit->slice);
		state_circuit(circuit, hints, false);
		state_end(circuit->slice);
	}
	if (!txn->slice->watched)
		return;
	state_begin(txn->slice);
	for (i = 0; i < txn->count; i++)
		if (txn->items[i].circuit->slice == txn->slice &&
		    (all || txn->items[i].light_changed))
			state_circuit(txn->items[i].circuit, hints,
				      !all && txn->items[i].light_moves);
	state_end(txn->slice);
}

void morph_state_dark(struct morph_circuit *circuit)
{
	/* Consumers still use a circuit that moves, after the page has lost it. */
	if (!circuit_interface(circuit)->consumer_mbps)
		return;
	state_begin(circuit->slice);
	state_circuit(circuit, true, false);
	state_end(circuit->slice);
}

void morph_state_all(struct morph_slice *slice)
{
	struct morph_circuit *circuit;
	unsigned long index;

	if (!slice->watched)
		return;
	state_begin(slice);
	xa_for_each(&slice->circuits, index, circuit)
		if (is_lit(circuit) != !!circuit_interface(circuit)->reported_mbps)
			state_circuit(circuit, true, false);
	state_end(slice);
}

void morph_state_watch(struct morph_slice *slice)
{
	lockdep_assert_held(&slice->fabric->lock);
	if (slice->watched)
		return;
	slice->watched = true;
	morph_state_all(slice);
}

/*
 * All light is lost, whatever circuits record: the slice ends, or its fabric unregisters. Changes
 * of its circuits, which may come during a pause, write no light either. @pause: drop fabric->lock
 * at times.
 */
void morph_state_lose(struct morph_slice *slice, bool pause)
{
	struct morph_state_page *page = slice_interface(slice)->state_page;
	struct morph_circuit *circuit;
	unsigned long index;
	u32 done = 0;
	u64 before;

	if (!slice->watched)
		return;
	state_begin(slice);
	xa_for_each(&slice->circuits, index, circuit) {
		if (pause && done && !(done % MORPH_HOLD_PARTS)) {
			state_end(slice);
			morph_fabric_pause(slice->fabric);
			state_begin(slice);
		}
		done++;
		before = circuit_interface(circuit)->reported_mbps;
		if (before)
			write_pair(circuit, before, 0);
		circuit_interface(circuit)->reported_mbps = 0;
		circuit_interface(circuit)->consumer_mbps = 0;
	}
	if (page) {
		page->step = MORPH_ANY;
		if (page->schedule)
			page->state = MORPH_SCHEDULE_STOPPED;
	}
	state_end(slice);
	morph_consumer_end(slice);
}

void morph_state_schedule(const struct morph_schedule *schedule)
{
	struct morph_state_page *page = slice_interface(schedule->slice)->state_page;

	if (!page || !may_be_lit(schedule->slice))
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
	struct morph_circuit *circuit;
	unsigned long index;

	page->ranks = slice->ranks_count;
	page->step = MORPH_ANY;
	page->settle_ns = params->settle_ns;
	page->relock_ns = params->relock_ns;
	morph_state_watch(slice);
	WRITE_ONCE(slice_interface(slice)->state_page, page);
	state_begin(slice);
	xa_for_each(&slice->circuits, index, circuit)
		if (circuit_interface(circuit)->reported_mbps)
			write_pair(circuit, 0, circuit_interface(circuit)->reported_mbps);
	state_end(slice);
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
	morph_fabric_lock(fabric);
	if (!ret && slice->dying)
		ret = -ENODEV;
	if (!ret && !slice_interface(slice)->state_page) {
		state_fill(slice, page);
		slice->bytes += bytes;		/* uncharged with the slice */
		page = NULL;
		bytes = 0;
	}
	morph_fabric_unlock(fabric);
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

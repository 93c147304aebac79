// SPDX-License-Identifier: GPL-2.0-only
/*
 * Failover: what failed is found (health.c), here the slice is made whole.
 *
 * One work item per slice; different slices are repaired at the same time. A round
 * looks at the slice as it is now, so failures that come while it is repaired are
 * simply found by the next round:
 *
 *   1. read the receivers of dark circuits: some are lit again; for the rest find
 *      the culprit
 *   2. give each failed rank a spare and move its circuits there, as one transaction,
 *      from the protection plan where one is current
 *   3. lead every other circuit that is dark, or uses failed hardware, round it
 */
#include <linux/slab.h>

#include "core.h"
#include "trace.h"

#define MAX_ROUNDS	8u	/* of one repair; each may quarantine what it trusted */
#define MAX_SPARE_TRIES	16u
#define RECOVER_DELAY	msecs_to_jiffies(20)

static void repair_work_fn(struct work_struct *work);

void morph_repair_init(struct morph_slice *slice)
{
	INIT_WORK(&slice->repair_work, repair_work_fn);
}

bool morph_route_sound(struct morph_fabric *fabric, const struct morph_route *route)
{
	const struct optics_state *ledger = fabric->ledger;
	u32 h;

	lockdep_assert_held(&fabric->lock);
	for (h = 0; h < route->path.hops_count; h++) {
		u32 element = route->hops[h].element;

		if (ledger->guide_marks[route->hops[h].guide >> 1] & OPTICS_UNHEALTHY)
			return false;
		if (element != OPTICS_NONE && ledger->element_marks[element] & OPTICS_UNHEALTHY)
			return false;
	}
	return !(route->path.lanes &
		 (ledger->tx_dead[route->path.tx] | ledger->rx_dead[route->path.rx]));
}

/**
 * morph_repair_kick() - something that a slice uses has failed
 * @slice: the slice
 * @since_ns: CLOCK_MONOTONIC time at which hardware showed it, or 0
 *
 * From now on the tenant's changes answer EAGAIN until the repair has ended.
 * Context: fabric->lock held.
 */
void morph_repair_kick(struct morph_slice *slice, u64 since_ns)
{
	u64 now = ktime_get_ns();

	lockdep_assert_held(&slice->fabric->lock);
	if (slice->dying || slice->fabric->state != MORPH_FABRIC_READY)
		return;
	if (!slice->repairing) {
		slice->fault_since_ns = since_ns ? since_ns : now;
		slice->fault_noticed_ns = now;
		kref_get(&slice->kref);		/* the work's */
		slice->repairing = true;
		slice->state = MORPH_SLICE_REPAIRING;
	}
	queue_work(morph_wq, &slice->repair_work);
}

/* A change that moves a circuit elsewhere, between the accelerators that it has now. */
void morph_repair_fill_item(struct morph_item *item, const struct morph_circuit *circuit)
{
	const struct morph_slice *slice = circuit->slice;

	item->change = (struct morph_change){
		.op = MORPH_CHANGE_MOVE,
		.circuit = circuit->id,
		.src_rank = circuit->src_rank,
		.dst_rank = circuit->dst_rank,
		.src_plane = MORPH_PLANE_ANY,
		.dst_plane = MORPH_PLANE_ANY,
		.lanes_count = circuit->lanes_count,
	};
	item->new_src = slice->ranks[circuit->src_rank].accelerator;
	item->new_dst = slice->ranks[circuit->dst_rank].accelerator;
}

/* ----------------------------------------------------------- dark circuits */

/*
 * Read a dark circuit's receiver: it may be lit again; if not, find who is to blame.
 * fabric->lock held, dropped while the device works; the slice has been entered, so
 * the circuit stays.
 */
static void examine(struct morph_circuit *circuit)
{
	struct morph_fabric *fabric = circuit->slice->fabric;
	const struct morph_route *route = circuit->route;
	s32 least = route->verdict.power_mdbm - (s32)fabric->graph->params.window_mdb;
	struct morph_receiver_reading reading = {
		.port = route->path.rx,
		.lanes = route->path.lanes,
	};
	struct morph_culprit culprit = {};
	u32 src = circuit->slice->ranks[circuit->src_rank].accelerator;
	int ret;

	mutex_unlock(&fabric->lock);
	ret = morph_hw_get_receivers(fabric, NULL, &reading, 1);
	if (!ret && reading.locked == reading.lanes && reading.min_mdbm >= least) {
		mutex_lock(&fabric->lock);
		circuit->dark = false;
		circuit->state = MORPH_CIRCUIT_LIT;
		circuit->power_mdbm = reading.min_mdbm;
		circuit->last_verified_ns = ktime_get_boottime_ns();
		return;
	}
	morph_health_diagnose(fabric, &route->path, src, &culprit);
	mutex_lock(&fabric->lock);
	circuit->slice->culprit = culprit;
	morph_health_set(fabric, &culprit,
			 culprit.part == MORPH_PART_GUIDE ? MORPH_HEALTH_QUARANTINED :
							    MORPH_HEALTH_FAILED, 0);
}

static bool rank_failed(const struct morph_slice *slice, u32 rank)
{
	return slice->ranks[rank].failed;
}

static void examine_dark(struct morph_slice *slice)
{
	struct morph_fabric *fabric = slice->fabric;
	struct morph_circuit *circuit;
	unsigned long index;

	xa_for_each(&slice->circuits, index, circuit) {
		if (!circuit->listed || !circuit->dark)
			continue;
		/* Known causes need no search. */
		if (rank_failed(slice, circuit->src_rank) ||
		    rank_failed(slice, circuit->dst_rank) ||
		    !morph_route_sound(fabric, circuit->route))
			continue;
		examine(circuit);
	}
}

/* ------------------------------------------------------------------- spares */

static bool may_replace(const struct morph_slice *slice, u32 rank)
{
	const struct morph_rank *entry = &slice->ranks[rank];

	return entry->failed && (entry->forced || slice->failover == MORPH_FAILOVER_AUTOMATIC);
}

/* The next spare for a rank that this repair has not taken already; it is held then. */
static u32 take_spare(struct morph_slice *slice, u32 rank, u32 *skip)
{
	struct morph_rank *entry = &slice->ranks[rank];
	u32 spare = entry->wanted_spare;

	if (spare != MORPH_ANY) {
		if (*skip || !morph_chip_fit(slice->fabric, spare) ||
		    slice->fabric->chips[spare].use == MORPH_USE_HELD)
			return MORPH_ANY;
	} else {
		spare = morph_place_spare(slice, entry->accelerator, *skip);
	}
	++*skip;
	if (spare == MORPH_ANY)
		return MORPH_ANY;
	if (spare == slice->own_spare) {
		slice->own_spare = MORPH_ANY;
		slice->fabric->chips[spare].rank = rank;
	} else {
		morph_chip_hold(slice, spare, rank);
	}
	return spare;
}

static void give_back_spare(struct morph_slice *slice, u32 spare)
{
	if (spare == MORPH_ANY)
		return;
	morph_chip_let_go(slice->fabric, spare);
	morph_plan_touch_chip(slice->fabric, spare);
}

/* What one failover is about. */
struct failover {
	struct morph_slice *slice;
	struct morph_txn *txn;
	u32 *ranks;		/* failed ranks that get a spare */
	u32 *spares;
	u32 *skips;
	u32 count;
	bool planned;
};

static u32 spare_of(const struct failover *failover, u32 rank)
{
	u32 i;

	for (i = 0; i < failover->count; i++)
		if (failover->ranks[i] == rank)
			return failover->spares[i];
	return MORPH_ANY;
}

static bool touches(const struct failover *failover, const struct morph_circuit *circuit)
{
	u32 src = spare_of(failover, circuit->src_rank);
	u32 dst = spare_of(failover, circuit->dst_rank);

	if (src == MORPH_ANY && dst == MORPH_ANY)
		return false;
	/* The other end failed too and has no spare: this circuit can't be lit. */
	return (src != MORPH_ANY || !rank_failed(failover->slice, circuit->src_rank)) &&
	       (dst != MORPH_ANY || !rank_failed(failover->slice, circuit->dst_rank));
}

/* A transaction that moves the circuits of all replaced ranks. */
static int failover_build(struct failover *failover)
{
	struct morph_slice *slice = failover->slice;
	struct morph_circuit *circuit;
	struct morph_change *changes;
	unsigned long index;
	u32 count = 0, n = 0;

	xa_for_each(&slice->circuits, index, circuit)
		count += circuit->listed && touches(failover, circuit);
	changes = kvcalloc(max(count, 1u), sizeof(*changes), GFP_KERNEL);
	if (!changes)
		return -ENOMEM;
	failover->txn = morph_txn_alloc(slice, changes, NULL, count, 0, GFP_KERNEL);
	kvfree(changes);
	if (!failover->txn)
		return -ENOMEM;
	failover->txn->kind = MORPH_TXN_REPAIR;
	xa_for_each(&slice->circuits, index, circuit) {
		struct morph_item *item = &failover->txn->items[n];

		if (!circuit->listed || !touches(failover, circuit))
			continue;
		morph_repair_fill_item(item, circuit);
		if (spare_of(failover, circuit->src_rank) != MORPH_ANY)
			item->new_src = spare_of(failover, circuit->src_rank);
		if (spare_of(failover, circuit->dst_rank) != MORPH_ANY)
			item->new_dst = spare_of(failover, circuit->dst_rank);
		n++;
	}
	return 0;
}

/* A single failed rank with a current plan: nothing has to be worked out. */
static bool failover_from_plan(struct failover *failover)
{
	struct morph_slice *slice = failover->slice;
	u32 rank = failover->ranks[0];
	u32 spare;

	if (failover->count != 1 || slice->ranks[rank].wanted_spare != MORPH_ANY)
		return false;
	failover->txn = morph_plan_take(slice, rank, &spare);
	if (!failover->txn)
		return false;
	kref_get(&slice->kref);
	failover->txn->slice = slice;
	if (spare == slice->own_spare) {
		slice->own_spare = MORPH_ANY;
		slice->fabric->chips[spare].rank = rank;
	} else {
		morph_chip_hold(slice, spare, rank);
	}
	failover->spares[0] = spare;
	failover->planned = true;
	return true;
}

/* Another spare for the rank whose circuit could not be staged. False: none is left. */
static bool next_spare(struct failover *failover)
{
	const struct morph_txn *txn = failover->txn;
	u32 which = 0, i;

	if (txn->refusal.item < txn->count) {
		const struct morph_change *change = &txn->items[txn->refusal.item].change;

		for (i = 0; i < failover->count; i++)
			if (failover->ranks[i] == change->src_rank ||
			    failover->ranks[i] == change->dst_rank)
				which = i;
	}
	give_back_spare(failover->slice, failover->spares[which]);
	failover->spares[which] = take_spare(failover->slice, failover->ranks[which],
					     &failover->skips[which]);
	return failover->spares[which] != MORPH_ANY &&
	       failover->skips[which] < MAX_SPARE_TRIES;
}

/* Find spares and paths until the transaction is staged. fabric->lock held. */
static int failover_stage(struct failover *failover)
{
	struct morph_slice *slice = failover->slice;
	u32 i;
	int ret;

	if (failover_from_plan(failover)) {
		ret = morph_txn_stage(failover->txn);
		if (!ret) {
			morph_stat(slice->fabric, MORPH_STAT_PLANS_USED);
			return 0;
		}
		give_back_spare(slice, failover->spares[0]);
		morph_repair_free_txn(failover->txn);
		failover->txn = NULL;
		failover->planned = false;
	}
	morph_stat(slice->fabric, MORPH_STAT_PLANS_INLINE);
	for (i = 0; i < failover->count; i++)
		failover->spares[i] = take_spare(slice, failover->ranks[i], &failover->skips[i]);
	for (;;) {
		ret = failover_build(failover);
		if (ret)
			return ret;
		ret = morph_txn_stage(failover->txn);
		if (!ret || !next_spare(failover))
			return ret;
		morph_repair_free_txn(failover->txn);
		failover->txn = NULL;
	}
}

/* A repair's transaction that did not come to pass; its routes claim nothing. */
void morph_repair_free_txn(struct morph_txn *txn)
{
	u32 i;

	if (!txn)
		return;
	for (i = 0; i < txn->count; i++) {
		if (!txn->items[i].new)
			continue;
		morph_route_unlist(txn->items[i].new);
		morph_route_free(txn->items[i].new);
		txn->items[i].new = NULL;
	}
	morph_txn_put(txn);
}

/* ------------------------------------------------------------------- events */

static void fill_event_chips(struct morph_fabric *fabric, struct morph_event *event, u32 old,
			     u32 new)
{
	const struct optics_accelerator *places = fabric->graph->accelerators;

	event->old_accelerator = old;
	event->old_host = places[old].host;
	memcpy(event->old_pci, fabric->chips[old].identity.pci, sizeof(event->old_pci));
	memcpy(event->old_uuid, fabric->chips[old].identity.uuid, sizeof(event->old_uuid));
	if (new == MORPH_ANY)
		return;
	event->new_accelerator = new;
	event->new_host = places[new].host;
	memcpy(event->new_pci, fabric->chips[new].identity.pci, sizeof(event->new_pci));
	memcpy(event->new_uuid, fabric->chips[new].identity.uuid, sizeof(event->new_uuid));
}

/* Sent at once, when the failure is noticed. fabric->lock held. */
void morph_repair_tell_failing(struct morph_slice *slice, u32 rank)
{
	u32 old = slice->ranks[rank].accelerator;
	struct morph_event event;

	morph_event_init(&event, slice, MORPH_EVENT_FAILING);
	event.rank = rank;
	event.part = MORPH_PART_ACCELERATOR;
	event.index = old;
	fill_event_chips(slice->fabric, &event, old, MORPH_ANY);
	morph_event_queue(slice, &event);
}

static u64 longest_dark(const struct morph_txn *txn)
{
	u64 longest = 0;
	u32 i;

	for (i = 0; i < txn->count; i++)
		longest = max(longest, txn->items[i].change.dark_ns);
	return longest;
}

/* The spares have taken their places. fabric->lock held. */
static void failover_publish(struct failover *failover)
{
	struct morph_slice *slice = failover->slice;
	struct morph_fabric *fabric = slice->fabric;
	struct morph_times *times = &failover->txn->times;
	u64 begin = ktime_get_ns();
	struct morph_event event;
	u32 i, old;

	slice->generation++;
	times->phase_ns[MORPH_PHASE_DETECT] = slice->fault_noticed_ns - slice->fault_since_ns;
	for (i = 0; i < failover->count; i++) {
		struct morph_rank *entry = &slice->ranks[failover->ranks[i]];

		if (failover->spares[i] == MORPH_ANY)
			continue;
		old = entry->accelerator;
		morph_chip_let_go(fabric, old);
		entry->accelerator = failover->spares[i];
		entry->replacements++;
		entry->failed = false;
		entry->forced = false;
		entry->wanted_spare = MORPH_ANY;
		morph_stat(fabric, MORPH_STAT_FAILOVERS);
		morph_event_init(&event, slice, MORPH_EVENT_REPLACED);
		event.rank = failover->ranks[i];
		event.dark_ns = longest_dark(failover->txn);
		fill_event_chips(fabric, &event, old, entry->accelerator);
		times->phase_ns[MORPH_PHASE_NOTIFY] = ktime_get_ns() - begin;
		event.times = *times;
		morph_event_queue(slice, &event);
		morph_netlink_accelerator(fabric, old);
		morph_netlink_accelerator(fabric, entry->accelerator);
		trace_morph_failover(fabric->id, slice->number, failover->ranks[i], old,
				     entry->accelerator, times);
	}
	fabric->last_failover = *times;
	morph_plan_touch_slice(slice);
}

/* ------------------------------------------------------------------- replace */

/* Replace all failed ranks that may be. Returns 0, or why some were not. */
static int replace_ranks(struct morph_slice *slice)
{
	struct morph_fabric *fabric = slice->fabric;
	struct failover failover = { .slice = slice };
	u64 begin = ktime_get_ns();
	u32 i;
	int ret;

	for (i = 0; i < slice->ranks_count; i++)
		failover.count += may_replace(slice, i);
	if (!failover.count)
		return 0;
	failover.ranks = kvcalloc(failover.count, 3 * sizeof(u32), GFP_KERNEL);
	if (!failover.ranks)
		return -ENOMEM;
	failover.spares = failover.ranks + failover.count;
	failover.skips = failover.spares + failover.count;
	failover.count = 0;
	for (i = 0; i < slice->ranks_count; i++) {
		if (!may_replace(slice, i))
			continue;
		failover.spares[failover.count] = MORPH_ANY;
		failover.ranks[failover.count++] = i;
	}
	ret = failover_stage(&failover);
	if (!ret) {
		failover.txn->times.phase_ns[MORPH_PHASE_PLAN] = ktime_get_ns() - begin;
		ret = morph_exec_commit(failover.txn, false);
	}
	if (!ret) {
		failover_publish(&failover);
		for (i = 0; i < failover.count; i++)
			if (failover.spares[i] == MORPH_ANY)
				ret = -ENOSPC;
	} else {
		for (i = 0; i < failover.count; i++)
			give_back_spare(slice, failover.spares[i]);
		morph_stat(fabric, MORPH_STAT_FAILOVERS_FAILED);
	}
	morph_repair_free_txn(failover.txn);
	kvfree(failover.ranks);
	return ret;
}

/* ------------------------------------------------------------------- reroute */

static bool needs_reroute(struct morph_slice *slice, const struct morph_circuit *circuit)
{
	if (!circuit->listed || circuit->pending)
		return false;
	if (rank_failed(slice, circuit->src_rank) || rank_failed(slice, circuit->dst_rank))
		return false;
	return circuit->dark || !morph_route_sound(slice->fabric, circuit->route);
}

static void tell_moved(struct morph_slice *slice, struct morph_txn *txn, u32 circuit)
{
	struct morph_event event;

	morph_event_init(&event, slice, MORPH_EVENT_CIRCUIT_MOVED);
	event.circuit = circuit;
	event.part = slice->culprit.part;
	event.index = slice->culprit.index;
	event.dark_ns = longest_dark(txn);
	event.times = txn->times;
	morph_event_queue(slice, &event);
}

static int reroute(struct morph_slice *slice, struct morph_circuit *circuit)
{
	struct morph_change change = {};
	struct morph_txn *txn;
	u64 begin = ktime_get_ns();
	u32 id = circuit->id;
	int ret;

	txn = morph_txn_alloc(slice, &change, NULL, 1, 0, GFP_KERNEL);
	if (!txn)
		return -ENOMEM;
	txn->kind = MORPH_TXN_REPAIR;
	morph_repair_fill_item(&txn->items[0], circuit);
	ret = morph_txn_stage(txn);
	if (!ret) {
		txn->times.phase_ns[MORPH_PHASE_PLAN] = ktime_get_ns() - begin;
		txn->times.phase_ns[MORPH_PHASE_DETECT] =
			slice->fault_noticed_ns - slice->fault_since_ns;
		ret = morph_exec_commit(txn, false);
	}
	if (!ret) {
		morph_stat(slice->fabric, MORPH_STAT_REROUTES);
		slice->generation++;
		tell_moved(slice, txn, id);
	}
	morph_repair_free_txn(txn);
	return ret;
}

static int reroute_all(struct morph_slice *slice)
{
	struct morph_circuit *circuit;
	unsigned long index;
	int first = 0, ret;

	if (slice->failover == MORPH_FAILOVER_NONE)
		return 0;
	xa_for_each(&slice->circuits, index, circuit) {
		if (!needs_reroute(slice, circuit))
			continue;
		ret = reroute(slice, circuit);
		if (ret && !first)
			first = ret;
	}
	return first;
}

/* --------------------------------------------------------------------- rounds */

/* Is anything left that a further round could mend? */
static bool is_whole(struct morph_slice *slice)
{
	struct morph_circuit *circuit;
	unsigned long index;
	u32 i;

	for (i = 0; i < slice->ranks_count; i++)
		if (slice->ranks[i].failed)
			return false;
	xa_for_each(&slice->circuits, index, circuit)
		if (circuit->listed &&
		    (circuit->dark || !morph_route_sound(slice->fabric, circuit->route)))
			return false;
	return true;
}

/* A circuit that nothing brought back. */
static void fail_dark_circuits(struct morph_slice *slice)
{
	struct morph_circuit *circuit;
	struct morph_event event;
	unsigned long index;

	xa_for_each(&slice->circuits, index, circuit) {
		bool dark = circuit->dark || rank_failed(slice, circuit->src_rank) ||
			    rank_failed(slice, circuit->dst_rank);

		if (!circuit->listed || circuit->state == MORPH_CIRCUIT_FAILED || !dark)
			continue;
		circuit->state = MORPH_CIRCUIT_FAILED;
		morph_event_init(&event, slice, MORPH_EVENT_CIRCUIT_FAILED);
		event.circuit = circuit->id;
		event.part = slice->culprit.part;
		event.index = slice->culprit.index;
		morph_event_queue(slice, &event);
	}
}

/* The repair has ended: say how the slice stands. fabric->lock held. */
static void repair_end(struct morph_slice *slice)
{
	struct morph_fabric *fabric = slice->fabric;
	bool whole = is_whole(slice), was = slice->was_degraded;
	struct morph_event event;

	slice->repairing = false;
	if (slice->dying || fabric->state != MORPH_FABRIC_READY)
		return;
	slice->state = whole ? MORPH_SLICE_OK : MORPH_SLICE_DEGRADED;
	slice->was_degraded = !whole;
	fabric->degraded += (int)!whole - (int)was;
	fabric->seq++;
	if (!whole)
		fail_dark_circuits(slice);
	if (!whole && was)
		return;			/* it was said before */
	if (!whole)
		slice->generation++;
	morph_event_init(&event, slice, whole ? MORPH_EVENT_RECOVERED : MORPH_EVENT_DEGRADED);
	event.part = slice->culprit.part;
	event.index = slice->culprit.index;
	morph_event_queue(slice, &event);
	morph_netlink_slice(slice);
	morph_plan_touch_slice(slice);
}

static void repair_work_fn(struct work_struct *work)
{
	struct morph_slice *slice = container_of(work, struct morph_slice, repair_work);
	struct morph_fabric *fabric = slice->fabric;
	u32 round;
	int ret = 0;

	mutex_lock(&fabric->lock);
	if (!slice->repairing)
		goto out;
	morph_slice_enter(slice, true);
	morph_txn_revoke_slice(slice);
	for (round = 0; round < MAX_ROUNDS; round++) {
		if (slice->dying || fabric->state != MORPH_FABRIC_READY || is_whole(slice))
			break;
		examine_dark(slice);
		ret = replace_ranks(slice);
		if (!ret || ret == -ENOSPC || ret == -EIO)
			ret = reroute_all(slice);
		/* Only hardware that let us down is worth another look. */
		if (ret != -EIO && ret != -ETIMEDOUT)
			break;
	}
	/* A failure that came meanwhile has queued the work again: it goes on there. */
	if (!work_pending(work))
		repair_end(slice);
	ret = slice->repairing;
	morph_slice_leave(slice);
	mutex_unlock(&fabric->lock);
	if (!ret)
		morph_slice_put(slice);
	return;
out:
	mutex_unlock(&fabric->lock);
}

/* ------------------------------------------------------------- asked for */

static int check_rank(struct morph_slice *slice, u32 rank, struct morph_refusal *refusal)
{
	if (slice->dying || slice->fabric->state != MORPH_FABRIC_READY)
		return morph_refuse(refusal, -ENODEV, MORPH_REASON_STATE, 0, 0,
				    "the slice or its fabric is gone");
	if (rank >= slice->ranks_count)
		return morph_refuse(refusal, -ENOENT, MORPH_REASON_ARGUMENT, 0, rank,
				    "there is no rank %u, the slice has %u", rank,
				    slice->ranks_count);
	return 0;
}

static int wait_repaired(struct morph_slice *slice, u32 rank, u32 accelerator, u32 *state,
			 u32 *health)
{
	struct morph_fabric *fabric = slice->fabric;
	int ret;

	ret = wait_event_interruptible(slice->idle, !READ_ONCE(slice->repairing) ||
				       READ_ONCE(slice->dying) ||
				       READ_ONCE(fabric->state) != MORPH_FABRIC_READY);
	mutex_lock(&fabric->lock);
	*state = slice->state;
	*health = fabric->chips[accelerator].health;
	/* What was done is told even to one who was interrupted. */
	if (ret && slice->ranks[rank].accelerator != accelerator)
		ret = 0;
	mutex_unlock(&fabric->lock);
	return ret ? -EINTR : 0;
}

int morph_repair_report(struct morph_slice *slice, u32 rank, u32 *state, u32 *health,
			struct morph_refusal *refusal)
{
	struct morph_fabric *fabric = slice->fabric;
	struct morph_culprit culprit = { .part = MORPH_PART_ACCELERATOR };
	struct morph_probe probe = {};
	u64 since = ktime_get_ns();
	int ret;

	mutex_lock(&fabric->lock);
	ret = check_rank(slice, rank, refusal);
	if (!ret)
		probe.accelerator = slice->ranks[rank].accelerator;
	mutex_unlock(&fabric->lock);
	if (ret)
		return ret;
	culprit.index = probe.accelerator;
	ret = morph_hw_probe(fabric, NULL, &probe, 1);
	if (ret == -ENODEV)
		return ret;
	mutex_lock(&fabric->lock);
	if (ret || !probe.alive)
		morph_health_set(fabric, &culprit, MORPH_HEALTH_FAILED, since);
	else
		fabric->chips[probe.accelerator].last_verified_ns = ktime_get_boottime_ns();
	mutex_unlock(&fabric->lock);
	return wait_repaired(slice, rank, probe.accelerator, state, health);
}

/* Mark a rank for replacement, whatever the policy. fabric->lock held. */
static int want_replacement(struct morph_slice *slice, u32 rank, u32 spare,
			    struct morph_refusal *refusal)
{
	struct morph_fabric *fabric = slice->fabric;
	struct morph_rank *entry;
	int ret;

	ret = check_rank(slice, rank, refusal);
	if (ret)
		return ret;
	if (spare != MORPH_ANY && spare >= fabric->graph->accelerators_count)
		return morph_refuse(refusal, -ENOENT, MORPH_REASON_ARGUMENT,
				    MORPH_PART_ACCELERATOR, spare,
				    "there is no accelerator %u to be the spare", spare);
	if (spare != MORPH_ANY && (!morph_chip_fit(fabric, spare) ||
				   fabric->chips[spare].use == MORPH_USE_HELD ||
				   fabric->chips[spare].use == MORPH_USE_DRAINING))
		return morph_refuse(refusal, -EBUSY, MORPH_REASON_ACCELERATOR_UNFIT,
				    MORPH_PART_ACCELERATOR, spare,
				    "accelerator %u is held, cordoned or not healthy", spare);
	entry = &slice->ranks[rank];
	if (spare == MORPH_ANY && morph_place_spare(slice, entry->accelerator, 0) == MORPH_ANY)
		return morph_refuse(refusal, -ENOSPC, MORPH_REASON_NO_SPARE, 0, 0,
				    "no spare that the slice allows is free and healthy");
	entry->failed = true;
	entry->forced = true;
	entry->wanted_spare = spare;
	morph_repair_kick(slice, 0);
	return 0;
}

/* What a replacement came to. fabric->lock held. */
static int replacement_result(struct morph_slice *slice, u32 rank, u32 before,
			      struct morph_refusal *refusal)
{
	struct morph_rank *entry = &slice->ranks[rank];
	struct morph_culprit culprit = { MORPH_PART_ACCELERATOR, before, 0 };

	if (entry->accelerator != before) {
		/* Somebody distrusted it: it comes back through a test. */
		if (slice->fabric->chips[before].health == MORPH_HEALTH_OK)
			morph_health_set(slice->fabric, &culprit, MORPH_HEALTH_QUARANTINED, 0);
		return 0;
	}
	entry->forced = false;
	entry->wanted_spare = MORPH_ANY;
	if (slice->fabric->chips[before].health == MORPH_HEALTH_OK) {
		entry->failed = false;
		morph_repair_kick(slice, 0);
	}
	return morph_refuse(refusal, -EBUSY, MORPH_REASON_NO_SPARE, MORPH_PART_ACCELERATOR,
			    before, "no spare could be lit in place of accelerator %u", before);
}

static int replace_and_wait(struct morph_slice *slice, u32 rank, u32 spare, bool charge,
			    u32 *state, u32 *health, struct morph_refusal *refusal)
{
	struct morph_fabric *fabric = slice->fabric;
	u32 before = 0;
	int ret = 0;

	if (charge)
		ret = morph_user_charge(slice->user, MORPH_RES_REPLACEMENTS, 1, refusal);
	if (ret)
		return ret;
	mutex_lock(&fabric->lock);
	ret = want_replacement(slice, rank, spare, refusal);
	if (!ret)
		before = slice->ranks[rank].accelerator;
	mutex_unlock(&fabric->lock);
	if (ret) {
		if (charge)
			morph_user_uncharge(slice->user, MORPH_RES_REPLACEMENTS, 1);
		return ret;
	}
	ret = wait_repaired(slice, rank, before, state, health);
	if (ret)
		return ret;
	mutex_lock(&fabric->lock);
	ret = replacement_result(slice, rank, before, refusal);
	*health = fabric->chips[before].health;
	mutex_unlock(&fabric->lock);
	return ret;
}

int morph_repair_replace(struct morph_slice *slice, u32 rank, u32 spare, u32 *state, u32 *health,
			 struct morph_refusal *refusal)
{
	return replace_and_wait(slice, rank, spare, true, state, health, refusal);
}

static void replace_work(struct work_struct *work)
{
	struct morph_txn *txn = container_of(work, struct morph_txn, run_work);
	struct morph_fabric *fabric = txn->fabric;
	struct morph_slice *slice = txn->slice;
	u32 state, health;
	int ret;

	kref_get(&slice->kref);
	ret = replace_and_wait(slice, txn->rank, txn->spare, false, &state, &health,
			       &txn->refusal);
	mutex_lock(&fabric->lock);
	if (!ret)
		txn->times = fabric->last_failover;
	morph_txn_end(txn, ret ? MORPH_OUTCOME_ROLLED_BACK : MORPH_OUTCOME_COMMITTED, ret);
	mutex_unlock(&fabric->lock);
	morph_slice_put(slice);
	morph_txn_put(txn);
	put_device(&fabric->dev);
}

int morph_repair_replace_queue(struct morph_slice *slice, u32 rank, u32 spare, u32 *id,
			       struct morph_refusal *refusal)
{
	struct morph_fabric *fabric = slice->fabric;
	struct morph_change none = {};
	struct morph_txn *txn;
	int ret;

	txn = morph_txn_alloc(slice, &none, NULL, 0, 0, GFP_KERNEL_ACCOUNT);
	if (!txn)
		return -ENOMEM;
	txn->rank = rank;
	txn->spare = spare;
	mutex_lock(&fabric->lock);
	ret = check_rank(slice, rank, refusal);
	if (!ret)
		ret = morph_txn_enter(txn);
	if (!ret) {
		txn->outcome = MORPH_OUTCOME_RUNNING;
		*id = txn->id;
	}
	mutex_unlock(&fabric->lock);
	if (ret) {
		morph_txn_put(txn);
		return ret;
	}
	get_device(&fabric->dev);
	INIT_WORK(&txn->run_work, replace_work);
	queue_work(morph_wq, &txn->run_work);	/* takes over our reference */
	return 0;
}

/* ------------------------------------------------------------------ recovery */

void morph_repair_recover(struct morph_fabric *fabric)
{
	lockdep_assert_held(&fabric->lock);
	if (fabric->state != MORPH_FABRIC_READY)
		return;
	if (fabric->degraded || !list_empty(&fabric->planless))
		queue_delayed_work(morph_wq, &fabric->recover_work, RECOVER_DELAY);
}

/* Something became free or healthy: whoever waits for such a thing tries once more. */
void morph_repair_recover_work(struct work_struct *work)
{
	struct morph_fabric *fabric = container_of(to_delayed_work(work), struct morph_fabric,
						   recover_work);
	struct morph_slice *slice;

	mutex_lock(&fabric->lock);
	list_for_each_entry(slice, &fabric->slices, node)
		if (slice->state == MORPH_SLICE_DEGRADED)
			morph_repair_kick(slice, 0);
	if (!list_empty(&fabric->planless)) {
		list_splice_tail_init(&fabric->planless, &fabric->stale_plans);
		queue_work(morph_wq, &fabric->plan_work);
	}
	mutex_unlock(&fabric->lock);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Transactions: from what was asked to what is staged, and the life of those that
 * are prepared under a lease. exec.c makes the light follow.
 */
#include <linux/slab.h>

#include "core.h"
#include "trace.h"

/* ---------------------------------------------------------------- lifetime */

static enum hrtimer_restart lease_timer_fn(struct hrtimer *timer);
static void lease_work_fn(struct work_struct *work);

struct morph_txn *morph_txn_alloc_act(struct morph_fabric *fabric, gfp_t gfp)
{
	struct morph_txn *txn;

	txn = kzalloc(sizeof(*txn), gfp);
	if (!txn)
		return NULL;
	kref_init(&txn->kref);
	INIT_LIST_HEAD(&txn->node);
	hrtimer_init(&txn->lease_timer, CLOCK_BOOTTIME, HRTIMER_MODE_ABS);
	txn->lease_timer.function = lease_timer_fn;
	INIT_WORK(&txn->lease_work, lease_work_fn);
	txn->fabric = fabric;
	txn->generation = MORPH_GENERATION_ANY;
	txn->refusal.item = MORPH_ANY;
	return txn;
}

struct morph_txn *morph_txn_alloc(struct morph_slice *slice, const struct morph_change *changes,
				  u32 **guides, u32 count, u32 flags, gfp_t gfp)
{
	struct morph_txn *txn;
	u32 i;

	txn = morph_txn_alloc_act(slice->fabric, gfp);
	if (!txn)
		return NULL;
	txn->items = kvcalloc(max(count, 1u), sizeof(*txn->items), gfp);
	if (!txn->items) {
		kfree(txn);
		return NULL;
	}
	kref_get(&slice->kref);
	txn->slice = slice;
	txn->slice_number = slice->number;
	txn->flags = flags;
	txn->count = count;
	for (i = 0; i < count; i++) {
		txn->items[i].change = changes[i];
		if (guides)
			txn->items[i].guides = guides[i];
	}
	return txn;
}

static void txn_last_put(struct kref *kref)
{
	struct morph_txn *txn = container_of(kref, struct morph_txn, kref);
	u32 i;

	for (i = 0; i < txn->count; i++)
		kvfree(txn->items[i].guides);
	kvfree(txn->reads);
	kvfree(txn->lasers);
	kvfree(txn->settings);
	kvfree(txn->items);
	if (txn->slice)
		morph_slice_put(txn->slice);
	kfree(txn);
}

struct morph_txn *morph_txn_get(struct morph_txn *txn)
{
	kref_get(&txn->kref);
	return txn;
}

void morph_txn_put(struct morph_txn *txn)
{
	kref_put(&txn->kref, txn_last_put);
}

struct morph_txn *morph_txn_find(struct morph_fabric *fabric, u32 id)
{
	struct morph_txn *txn;

	lockdep_assert_held(&fabric->lock);
	txn = xa_load(&fabric->txns, id);
	return txn ? morph_txn_get(txn) : NULL;
}

/* Give it a number by which others find it. fabric->lock held. */
int morph_txn_enter(struct morph_txn *txn)
{
	struct morph_fabric *fabric = txn->fabric;
	int ret;

	lockdep_assert_held(&fabric->lock);
	ret = xa_alloc_cyclic(&fabric->txns, &txn->id, txn, XA_LIMIT(1, 0x7fffffff),
			      &fabric->txn_next, GFP_KERNEL);
	if (ret < 0)
		return ret;
	morph_txn_get(txn);		/* the table's */
	return 0;
}

/* A transaction with a number ended: it moves to the history, which pins nothing. */
static void txn_retire(struct morph_txn *txn)
{
	struct morph_fabric *fabric = txn->fabric;
	struct morph_txn **slot = &fabric->ended[fabric->ended_next++ % MORPH_TXN_HISTORY];

	if (*slot) {
		xa_erase(&fabric->txns, (*slot)->id);
		morph_txn_put(*slot);
	}
	*slot = txn;			/* takes over the table's reference */
}

static void tell_end(struct morph_txn *txn)
{
	struct morph_event event;

	if (!txn->slice || !txn->id || txn->slice->dying)
		return;
	morph_event_init(&event, txn->slice, MORPH_EVENT_TXN);
	event.txn = txn->id;
	event.outcome = txn->outcome;
	event.part = txn->refusal.part;
	event.index = txn->refusal.index;
	event.times = txn->times;
	morph_event_queue(txn->slice, &event);
}

/**
 * morph_txn_end() - a transaction has come to its end
 * @txn: the transaction; its claims are settled
 * @outcome: enum morph_outcome
 * @status: 0 or a negative errno
 *
 * Counts it, tells whoever waits, and lets go of the slice if it has a number and
 * so stays to be read. Context: fabric->lock held; the caller holds a reference to
 * transaction and slice.
 */
void morph_txn_end(struct morph_txn *txn, u32 outcome, int status)
{
	static const u8 stat_of[] = {
		[MORPH_OUTCOME_NONE] = MORPH_STAT_REFUSED,
		[MORPH_OUTCOME_COMMITTED] = MORPH_STAT_COMMITTED,
		[MORPH_OUTCOME_ROLLED_BACK] = MORPH_STAT_ROLLED_BACK,
		[MORPH_OUTCOME_BROKEN] = MORPH_STAT_BROKEN,
		[MORPH_OUTCOME_REVOKED] = MORPH_STAT_REVOKED,
		[MORPH_OUTCOME_EXPIRED] = MORPH_STAT_EXPIRED,
	};

	lockdep_assert_held(&txn->fabric->lock);
	txn->outcome = outcome;
	txn->status = status;
	txn->seq = txn->fabric->seq;
	if (outcome < ARRAY_SIZE(stat_of) && !(txn->flags & MORPH_TXN_DRY_RUN))
		morph_stat(txn->fabric, stat_of[outcome]);
	if (!list_empty(&txn->node)) {
		list_del_init(&txn->node);
		morph_user_uncharge(txn->slice->user, MORPH_RES_PREPARED, 1);
	}
	trace_morph_txn_end(txn->fabric->id, txn->id, txn->slice_number, outcome, status);
	tell_end(txn);
	if (!txn->id)
		return;
	morph_netlink_txn(txn);
	txn_retire(txn);
	if (txn->slice)
		morph_slice_put(txn->slice);
	txn->slice = NULL;
}

/* -------------------------------------------------------------------- stage */

static int refuse_item(struct morph_txn *txn, u32 index, int error, u32 reason, const char *text,
		       u32 value)
{
	struct morph_item *item = &txn->items[index];

	morph_refuse(&txn->refusal, error, reason, 0, value, text, value);
	txn->refusal.item = index;
	item->change.status = error;
	item->change.reason = reason;
	item->change.index = value;
	return error;
}

static int refuse_item_optics(struct morph_txn *txn, u32 index, int error,
			      const struct optics_refusal *why)
{
	struct morph_change *change = &txn->items[index].change;

	morph_refuse_optics(&txn->refusal, error, why);
	txn->refusal.item = index;
	change->status = error;
	change->reason = txn->refusal.reason;
	change->part = txn->refusal.part;
	change->index = txn->refusal.index;
	return error;
}

static int check_planes(struct morph_txn *txn, u32 index)
{
	const struct morph_change *change = &txn->items[index].change;
	const struct optics_graph *graph = txn->fabric->graph;

	if (change->src_plane != MORPH_PLANE_ANY && change->src_plane >= graph->params.planes)
		return refuse_item(txn, index, -EINVAL, MORPH_REASON_PORT,
				   "there is no transmit port %u", change->src_plane);
	if (change->dst_plane != MORPH_PLANE_ANY && change->dst_plane >= graph->params.planes)
		return refuse_item(txn, index, -EINVAL, MORPH_REASON_PORT,
				   "there is no receive port %u", change->dst_plane);
	if (change->lanes & ~graph->all_lanes)
		return refuse_item(txn, index, -EINVAL, MORPH_REASON_ARGUMENT,
				   "lanes names wavelengths past the %u that there are",
				   graph->params.wavelengths);
	if (change->lanes_count > graph->params.wavelengths ||
	    (change->lanes && change->lanes_count > optics_weight64(change->lanes)))
		return refuse_item(txn, index, -EINVAL, MORPH_REASON_ARGUMENT,
				   "lanes_count %u is more than there are to choose from",
				   change->lanes_count);
	if (change->guides.count > OPTICS_MAX_HOPS)
		return refuse_item(txn, index, -EINVAL, MORPH_REASON_ARGUMENT,
				   "a path has at most 64 guides, not %u", change->guides.count);
	return 0;
}

static int resolve_add(struct morph_txn *txn, u32 index)
{
	struct morph_item *item = &txn->items[index];
	struct morph_slice *slice = txn->slice;
	const struct morph_change *change = &item->change;
	struct morph_circuit *circuit;
	int ret;

	if (change->src_rank >= slice->ranks_count)
		return refuse_item(txn, index, -ENOENT, MORPH_REASON_ARGUMENT,
				   "there is no rank %u to send", change->src_rank);
	if (change->dst_rank >= slice->ranks_count)
		return refuse_item(txn, index, -ENOENT, MORPH_REASON_ARGUMENT,
				   "there is no rank %u to receive", change->dst_rank);
	if (change->src_rank == change->dst_rank)
		return refuse_item(txn, index, -EINVAL, MORPH_REASON_PORT,
				   "rank %u is at both ends", change->src_rank);
	ret = check_planes(txn, index);
	if (ret)
		return ret;
	circuit = kzalloc(sizeof(*circuit), GFP_KERNEL_ACCOUNT);
	if (!circuit)
		return -ENOMEM;
	ret = morph_user_charge(slice->user, MORPH_RES_CIRCUITS, 1, &txn->refusal);
	if (ret)
		goto err_free;
	ret = xa_alloc(&slice->circuits, &circuit->id, circuit, xa_limit_31b, GFP_KERNEL_ACCOUNT);
	if (ret)
		goto err_uncharge;
	circuit->slice = slice;
	circuit->state = MORPH_CIRCUIT_CHANGING;
	circuit->src_rank = change->src_rank;
	circuit->dst_rank = change->dst_rank;
	circuit->any_src_plane = change->src_plane == MORPH_PLANE_ANY;
	circuit->any_dst_plane = change->dst_plane == MORPH_PLANE_ANY;
	circuit->pending = txn;
	item->circuit = circuit;
	return 0;

err_uncharge:
	morph_user_uncharge(slice->user, MORPH_RES_CIRCUITS, 1);
err_free:
	kfree(circuit);
	return ret;
}

static int resolve_existing(struct morph_txn *txn, u32 index)
{
	struct morph_item *item = &txn->items[index];
	struct morph_circuit *circuit;
	int ret;

	circuit = xa_load(&txn->slice->circuits, item->change.circuit);
	if (!circuit || !circuit->listed)
		return refuse_item(txn, index, -ENOENT, MORPH_REASON_ARGUMENT,
				   "there is no circuit %u", item->change.circuit);
	if (circuit->pending)
		return refuse_item(txn, index, -EBUSY, MORPH_REASON_STATE,
				   "circuit %u is being changed by another change or transaction",
				   item->change.circuit);
	if (item->change.op == MORPH_CHANGE_MOVE && txn->kind == MORPH_TXN_TENANT) {
		ret = check_planes(txn, index);
		if (ret)
			return ret;
		if (!item->change.lanes_count && !item->change.lanes)
			item->change.lanes_count = optics_weight64(circuit->route->path.lanes);
	}
	circuit->pending = txn;
	item->circuit = circuit;
	item->old = circuit->route;
	item->dead = circuit->state == MORPH_CIRCUIT_FAILED || circuit->dark;
	return 0;
}

static int resolve(struct morph_txn *txn, u32 index)
{
	switch (txn->items[index].change.op) {
	case MORPH_CHANGE_ADD:
		return resolve_add(txn, index);
	case MORPH_CHANGE_REMOVE:
	case MORPH_CHANGE_MOVE:
		return resolve_existing(txn, index);
	}
	return refuse_item(txn, index, -EOPNOTSUPP, MORPH_REASON_ARGUMENT,
			   "op must be 1 (add), 2 (remove) or 3 (move), not %u",
			   txn->items[index].change.op);
}

/* The accelerators behind an item's ranks; a repair has set them already. */
static void resolve_ends(struct morph_txn *txn, struct morph_item *item)
{
	if (txn->kind == MORPH_TXN_REPAIR)
		return;
	item->new_src = txn->slice->ranks[item->circuit->src_rank].accelerator;
	item->new_dst = txn->slice->ranks[item->circuit->dst_rank].accelerator;
}

/* Route and claim one item. */
static int claim_new(struct morph_txn *txn, u32 index)
{
	struct morph_item *item = &txn->items[index];
	struct optics_refusal why = {};
	int ret;

	resolve_ends(txn, item);
	if (!item->new)
		item->new = morph_route_alloc(OPTICS_MAX_HOPS, GFP_KERNEL_ACCOUNT);
	if (!item->new)
		return -ENOMEM;
	item->new->circuit = item->circuit;
	/* A prebuilt plan brings its path along. */
	if (item->new->role == MORPH_ROUTE_PLAN) {
		morph_route_unlist(item->new);
		item->new->role = MORPH_ROUTE_IDLE;
	} else {
		ret = morph_path_find(txn, item, &why);
		if (ret)
			return refuse_item_optics(txn, index, ret, &why);
	}
	ret = morph_route_claim(txn->fabric, item->new, &why);
	if (ret)
		return refuse_item_optics(txn, index, ret, &why);
	if (txn->kind == MORPH_TXN_REPAIR)
		return 0;
	ret = morph_user_charge(txn->slice->user, MORPH_RES_LANES,
				optics_weight64(item->new->path.lanes), &txn->refusal);
	if (ret) {
		morph_route_release(txn->fabric, item->new);
		txn->refusal.item = index;
	}
	return ret;
}

/* The judge has the last word; it has not seen how the paths were found. */
static int validate(struct morph_txn *txn)
{
	struct morph_fabric *fabric = txn->fabric;
	const struct optics_state *ledger = fabric->ledger;
	const struct optics_view view = {
		.graph = fabric->graph,
		.element_state = ledger->element_state,
		.element_marks = ledger->element_marks,
		.guide_marks = ledger->guide_marks,
		.tx_lanes = ledger->tx_lanes,
		.rx_lanes = ledger->rx_lanes,
		.tx_dead = ledger->tx_dead,
		.rx_dead = ledger->rx_dead,
		.owner = ledger->owner,
	};
	struct optics_path *paths;
	struct optics_verdict *verdicts;
	struct optics_refusal why = {};
	u32 i, n = 0;
	int ret;

	paths = kvmalloc_array(txn->count, sizeof(*paths) + sizeof(*verdicts) + sizeof(u32),
			       GFP_KERNEL_ACCOUNT);
	if (!paths)
		return -ENOMEM;
	verdicts = (struct optics_verdict *)(paths + txn->count);
	for (i = 0; i < txn->count; i++)
		if (txn->items[i].new)
			paths[n++] = txn->items[i].new->path;
	ret = optics_validate(&view, paths, n, txn->slice->number,
			      txn->slice->transit == MORPH_TRANSIT_OWN, verdicts, &why);
	for (i = 0, n = 0; i < txn->count; i++) {
		if (!txn->items[i].new)
			continue;
		if (!ret)
			txn->items[i].new->verdict = verdicts[n];
		else if (n == why.item)
			refuse_item_optics(txn, i, ret, &why);
		n++;
	}
	kvfree(paths);
	return ret;
}

/* Elements that an old route had and a new one turns: nobody may join them meanwhile. */
static void mark_changing(struct morph_txn *txn, bool set)
{
	struct optics_state *ledger = txn->fabric->ledger;
	u32 i, h;

	for (i = 0; i < txn->count; i++) {
		const struct morph_route *old = txn->items[i].old;

		if (!old || old->role != MORPH_ROUTE_SHADOW)
			continue;
		for (h = 0; h < old->path.hops_count; h++) {
			u32 element = old->hops[h].element;

			if (element == OPTICS_NONE || old->links[h].element_held)
				continue;
			if (set)
				ledger->element_marks[element] |= MORPH_MARK_CHANGING;
			else
				ledger->element_marks[element] &= ~MORPH_MARK_CHANGING;
		}
	}
}

int morph_txn_reserve(struct morph_txn *txn)
{
	u32 settings = 0, i;

	for (i = 0; i < txn->count; i++) {
		if (txn->items[i].old)
			settings += txn->items[i].old->path.hops_count;
		if (txn->items[i].new)
			settings += txn->items[i].new->path.hops_count;
	}
	if (txn->settings && txn->settings_room >= settings)
		return 0;
	kvfree(txn->settings);
	kvfree(txn->lasers);
	kvfree(txn->reads);
	txn->settings_room = settings;
	/* Two for each change, and neighbours that the turned elements reach. */
	txn->reads_room = 2 * txn->count + min(4 * settings, 1024u);
	txn->settings = kvmalloc_array(settings, sizeof(*txn->settings), GFP_KERNEL_ACCOUNT);
	txn->lasers = kvmalloc_array(2 * txn->count, sizeof(*txn->lasers), GFP_KERNEL_ACCOUNT);
	txn->reads = kvmalloc_array(txn->reads_room, sizeof(*txn->reads), GFP_KERNEL_ACCOUNT);
	return txn->settings && txn->lasers && txn->reads ? 0 : -ENOMEM;
}

/* Undo the first @resolved items, @claimed of which have their new route claimed. */
static void undo_stage(struct morph_txn *txn, u32 resolved, u32 claimed, bool released)
{
	struct morph_item *item;
	u32 i;

	for (i = 0; i < claimed; i++) {
		item = &txn->items[i];
		if (!item->new)
			continue;
		morph_route_release(txn->fabric, item->new);
		if (txn->kind != MORPH_TXN_REPAIR)
			morph_user_uncharge(txn->slice->user, MORPH_RES_LANES,
					    optics_weight64(item->new->path.lanes));
	}
	for (i = 0; i < resolved; i++) {
		item = &txn->items[i];
		if (item->old && released) {
			morph_route_release(txn->fabric, item->old);
			morph_route_reclaim(txn->fabric, item->old);
		}
		item->circuit->pending = NULL;
		if (txn->kind != MORPH_TXN_REPAIR) {
			morph_route_free(item->new);
			item->new = NULL;
		}
		if (!item->circuit->listed)
			morph_circuit_drop(item->circuit);
		else if (item->circuit->state == MORPH_CIRCUIT_CHANGING)
			item->circuit->state = item->dead ? MORPH_CIRCUIT_FAILED :
							    MORPH_CIRCUIT_LIT;
		item->circuit = NULL;
		item->old = NULL;
	}
	txn->staged = false;
}

/**
 * morph_txn_stage() - resolve, route, claim and validate a transaction
 * @txn: the transaction; the slice has been entered
 *
 * On success all that the new light needs is claimed, all that the old light needs
 * stays claimed, and the memory for programming is there. On failure everything is
 * as before and txn->refusal says why. O(changes * path).
 *
 * Context: fabric->lock held.
 * Return: 0 or a negative errno.
 */
int morph_txn_stage(struct morph_txn *txn)
{
	struct morph_slice *slice = txn->slice;
	u32 resolved, claimed = 0, i;
	bool released = false;
	int ret = 0;

	lockdep_assert_held(&txn->fabric->lock);
	if (txn->generation != MORPH_GENERATION_ANY && txn->generation != slice->generation)
		return morph_refuse(&txn->refusal, -ESTALE, MORPH_REASON_GENERATION, 0, 0,
				    "the slice is at generation %llu, not %llu", slice->generation,
				    txn->generation);
	for (resolved = 0; resolved < txn->count; resolved++) {
		ret = resolve(txn, resolved);
		if (ret)
			goto err_undo;
	}
	for (i = 0; i < txn->count; i++)
		if (txn->items[i].old)
			morph_route_release(txn->fabric, txn->items[i].old);
	released = true;
	for (; claimed < txn->count; claimed++) {
		if (txn->items[claimed].change.op == MORPH_CHANGE_REMOVE)
			continue;
		ret = claim_new(txn, claimed);
		if (ret)
			goto err_undo;
	}
	ret = validate(txn);
	if (ret)
		goto err_undo;
	ret = morph_txn_reserve(txn);
	if (ret)
		goto err_undo;
	for (i = 0; i < txn->count; i++) {
		struct morph_item *item = &txn->items[i];

		if (!item->old)
			continue;
		morph_route_shadow(txn->fabric, item->old);
		item->broken_first = item->dead || !item->old->whole;
	}
	mark_changing(txn, true);
	txn->staged = true;
	trace_morph_txn_stage(txn->fabric->id, slice->number, txn->count);
	return 0;

err_undo:
	undo_stage(txn, resolved, claimed, released);
	return ret;
}

void morph_txn_unstage(struct morph_txn *txn)
{
	lockdep_assert_held(&txn->fabric->lock);
	if (!txn->staged)
		return;
	mark_changing(txn, false);
	undo_stage(txn, txn->count, txn->count, true);
}

/* The marks of a staged transaction go when its light has changed. */
void morph_txn_unmark(struct morph_txn *txn)
{
	mark_changing(txn, false);
}

/* --------------------------------------------------------------------- run */

/* Tell the caller what each change came to. */
static void fill_results(struct morph_txn *txn)
{
	u32 planes = txn->fabric->graph->params.planes;
	u32 i;

	for (i = 0; i < txn->count; i++) {
		struct morph_item *item = &txn->items[i];

		if (!item->circuit || !item->new)
			continue;
		item->change.circuit = item->circuit->id;
		item->change.src_plane = item->new->path.tx % planes;
		item->change.dst_plane = item->new->path.rx % planes;
		item->change.lanes = item->new->path.lanes;
	}
}

static int repeat_last(struct morph_txn *txn)
{
	const struct morph_txn *last = txn->slice->last_txn;
	u32 i;

	txn->outcome = last->outcome;
	txn->status = last->status;
	txn->seq = last->seq;
	txn->times = last->times;
	for (i = 0; i < min(txn->count, last->count); i++)
		txn->items[i].change = last->items[i].change;
	return last->status;
}

/* A transaction with a cookie was committed: its repetition will answer the same. */
static void remember(struct morph_txn *txn)
{
	struct morph_slice *slice = txn->slice;
	struct morph_txn *copy;
	u32 i;

	if (!txn->cookie)
		return;
	copy = kzalloc(sizeof(*copy), GFP_KERNEL_ACCOUNT);
	if (!copy)
		return;
	copy->items = kvcalloc(txn->count, sizeof(*copy->items), GFP_KERNEL_ACCOUNT);
	if (!copy->items) {
		kfree(copy);
		return;
	}
	kref_init(&copy->kref);
	copy->fabric = txn->fabric;
	copy->outcome = txn->outcome;
	copy->status = txn->status;
	copy->seq = txn->seq;
	copy->times = txn->times;
	copy->count = txn->count;
	for (i = 0; i < txn->count; i++)
		copy->items[i].change = txn->items[i].change;
	if (slice->last_txn)
		morph_txn_put(slice->last_txn);
	slice->last_txn = copy;
	slice->last_cookie = txn->cookie;
}

static void lease_start(struct morph_txn *txn, u64 lease_ns)
{
	txn->lease_ns = lease_ns;
	txn->lease_until_ns = ktime_get_boottime_ns() + lease_ns;
	/* The timer's, given back by lease_work or lease_stop. */
	morph_txn_get(txn);
	get_device(&txn->fabric->dev);
	hrtimer_start(&txn->lease_timer, ns_to_ktime(txn->lease_until_ns), HRTIMER_MODE_ABS);
}

/* True when the timer was stopped before it fired. */
static void lease_stop(struct morph_txn *txn)
{
	if (hrtimer_try_to_cancel(&txn->lease_timer) != 1)
		return;
	put_device(&txn->fabric->dev);
	morph_txn_put(txn);
}

static int prepare(struct morph_txn *txn)
{
	int ret;

	ret = morph_user_charge(txn->slice->user, MORPH_RES_PREPARED, 1, &txn->refusal);
	if (ret)
		goto err_unstage;
	if (!txn->id) {
		ret = morph_txn_enter(txn);
		if (ret)
			goto err_uncharge;
	}
	fill_results(txn);
	list_add_tail(&txn->node, &txn->slice->txns);
	txn->outcome = MORPH_OUTCOME_PREPARED;
	lease_start(txn, txn->lease_ns);
	morph_netlink_txn(txn);
	return 0;

err_uncharge:
	morph_user_uncharge(txn->slice->user, MORPH_RES_PREPARED, 1);
err_unstage:
	morph_txn_unstage(txn);
	return ret;
}

/* Stage and go as far as the flags say. The slice has been entered; fabric->lock held. */
static int run_entered(struct morph_txn *txn)
{
	u64 begin = ktime_get_ns();
	int ret;

	ret = morph_txn_stage(txn);
	txn->times.phase_ns[MORPH_PHASE_PLAN] = ktime_get_ns() - begin;
	if (ret) {
		morph_txn_end(txn, MORPH_OUTCOME_NONE, ret);
		return ret;
	}
	if (txn->flags & MORPH_TXN_DRY_RUN) {
		fill_results(txn);
		morph_txn_unstage(txn);
		morph_txn_end(txn, MORPH_OUTCOME_NONE, 0);
		return 0;
	}
	if (txn->flags & MORPH_TXN_PREPARE) {
		ret = prepare(txn);
		if (ret)
			morph_txn_end(txn, MORPH_OUTCOME_NONE, ret);
		return ret;
	}
	fill_results(txn);
	ret = morph_exec_commit(txn, false);
	if (txn->outcome == MORPH_OUTCOME_COMMITTED)
		remember(txn);
	morph_txn_end(txn, txn->outcome, ret);
	return ret;
}

static int run_one(struct morph_txn *txn)
{
	struct morph_slice *slice = txn->slice;
	struct morph_fabric *fabric = txn->fabric;
	int ret;

	mutex_lock(&fabric->lock);
	if (txn->cookie && txn->cookie == slice->last_cookie && slice->last_txn) {
		ret = repeat_last(txn);
		goto out;
	}
	ret = morph_slice_enter(slice, false);
	if (ret) {
		if (ret == -EAGAIN)
			morph_refuse(&txn->refusal, ret, MORPH_REASON_STATE, 0, 0,
				     "the slice is being repaired; try again");
		morph_txn_end(txn, MORPH_OUTCOME_NONE, ret);
		goto out;
	}
	ret = run_entered(txn);
	morph_slice_leave(slice);
out:
	mutex_unlock(&fabric->lock);
	return ret;
}

/* Each change for itself: the first error is the whole's, each has its own status. */
static int run_each(struct morph_txn *txn)
{
	u32 flags = txn->flags & ~MORPH_TXN_EACH;
	struct morph_txn *one;
	int first = 0, ret;
	u32 i;

	for (i = 0; i < txn->count; i++) {
		struct morph_item *item = &txn->items[i];
		u32 *guides = (u32 *)item->guides;

		one = morph_txn_alloc(txn->slice, &item->change, guides ? &guides : NULL, 1, flags,
				      GFP_KERNEL_ACCOUNT);
		if (!one) {
			item->change.status = -ENOMEM;
			first = first ? first : -ENOMEM;
			continue;
		}
		item->guides = NULL;
		one->generation = txn->generation;
		kref_get(&txn->slice->kref);
		ret = run_one(one);
		item->change = one->items[0].change;
		item->change.status = ret;
		if (!ret)
			txn->outcome = one->outcome;
		if (ret && !first) {
			first = ret;
			txn->refusal = one->refusal;
			txn->refusal.item = i;
		}
		txn->seq = one->seq;
		morph_slice_put(txn->slice);
		morph_txn_put(one);
	}
	txn->status = first;
	return first;
}

int morph_txn_run(struct morph_txn *txn)
{
	struct morph_slice *slice = txn->slice;
	int ret;

	/* The end of a numbered transaction lets go of the slice; the caller's stays. */
	kref_get(&slice->kref);
	ret = txn->flags & MORPH_TXN_EACH ? run_each(txn) : run_one(txn);
	morph_slice_put(slice);
	return ret;
}

static void txn_run_work(struct work_struct *work)
{
	struct morph_txn *txn = container_of(work, struct morph_txn, run_work);
	struct morph_fabric *fabric = txn->fabric;
	bool each = txn->flags & MORPH_TXN_EACH;

	morph_txn_run(txn);
	if (each) {
		mutex_lock(&fabric->lock);
		morph_txn_end(txn, txn->outcome, txn->status);
		mutex_unlock(&fabric->lock);
	}
	morph_txn_put(txn);
	put_device(&fabric->dev);
}

int morph_txn_queue(struct morph_txn *txn)
{
	struct morph_fabric *fabric = txn->fabric;
	int ret;

	mutex_lock(&fabric->lock);
	ret = morph_txn_enter(txn);
	if (!ret)
		txn->outcome = MORPH_OUTCOME_RUNNING;
	mutex_unlock(&fabric->lock);
	if (ret)
		return ret;
	get_device(&fabric->dev);
	morph_txn_get(txn);
	INIT_WORK(&txn->run_work, txn_run_work);
	queue_work(morph_wq, &txn->run_work);
	return 0;
}

/* ---------------------------------------------------------------- two phases */

u64 morph_txn_lease_left(struct morph_txn *txn)
{
	u64 now = ktime_get_boottime_ns();

	if (txn->outcome != MORPH_OUTCOME_PREPARED && txn->outcome != MORPH_OUTCOME_UNCONFIRMED)
		return 0;
	return txn->lease_until_ns > now ? txn->lease_until_ns - now : 0;
}

/* Why a step can't be taken now, or 0. fabric->lock held. */
static int step_check(struct morph_txn *txn, u32 verb, struct morph_refusal *refusal)
{
	switch (txn->outcome) {
	case MORPH_OUTCOME_REVOKED:
		return morph_refuse(refusal, -ECANCELED, MORPH_REASON_STATE, 0, 0,
				    "failover has seized what this transaction had prepared");
	case MORPH_OUTCOME_EXPIRED:
		return morph_refuse(refusal, -ETIME, MORPH_REASON_STATE, 0, 0,
				    "the lease has run out");
	case MORPH_OUTCOME_RUNNING:
		return morph_refuse(refusal, -EBUSY, MORPH_REASON_STATE, 0, 0,
				    "another step of this transaction is under way");
	case MORPH_OUTCOME_PREPARED:
		if (verb != MORPH_TXN_CONFIRM)
			return 0;
		return morph_refuse(refusal, -EINVAL, MORPH_REASON_STATE, 0, 0,
				    "the transaction has to be committed before it is confirmed");
	case MORPH_OUTCOME_UNCONFIRMED:
		if (verb != MORPH_TXN_COMMIT)
			return 0;
		return morph_refuse(refusal, -EINVAL, MORPH_REASON_STATE, 0, 0,
				    "the transaction is committed; confirm or revert it");
	}
	return morph_refuse(refusal, -EINVAL, MORPH_REASON_STATE, 0, 0,
			    "the transaction has ended");
}

static void end_prepared(struct morph_txn *txn, u32 outcome, int status)
{
	morph_txn_unstage(txn);
	morph_txn_end(txn, outcome, status);
}

/* Take the step. The slice has been entered, fabric->lock held. */
static int step_entered(struct morph_txn *txn, u32 verb, u64 lease_ns)
{
	int ret = 0;

	lease_stop(txn);
	if (verb == MORPH_TXN_COMMIT) {
		ret = morph_exec_commit(txn, true);
		if (ret) {
			morph_txn_end(txn, txn->outcome, ret);
			return ret;
		}
		txn->outcome = MORPH_OUTCOME_UNCONFIRMED;
		txn->seq = txn->fabric->seq;
		lease_start(txn, lease_ns ? lease_ns : txn->lease_ns);
		morph_netlink_txn(txn);
	} else if (verb == MORPH_TXN_CONFIRM) {
		morph_exec_confirm(txn);
		morph_txn_end(txn, MORPH_OUTCOME_COMMITTED, 0);
	} else if (txn->outcome == MORPH_OUTCOME_PREPARED) {
		end_prepared(txn, MORPH_OUTCOME_ROLLED_BACK, 0);
	} else {
		ret = morph_exec_revert(txn);
		morph_txn_end(txn, txn->outcome, ret);
	}
	return ret;
}

int morph_txn_step(struct morph_txn *txn, u32 verb, u64 lease_ns, struct morph_refusal *refusal)
{
	struct morph_fabric *fabric = txn->fabric;
	struct morph_slice *slice;
	int ret;

	mutex_lock(&fabric->lock);
	ret = step_check(txn, verb, refusal);
	if (ret)
		goto out_unlock;
	slice = txn->slice;
	kref_get(&slice->kref);
	ret = morph_slice_enter(slice, false);
	if (ret)
		goto out_put;
	/* The lock was perhaps dropped: look again. */
	ret = step_check(txn, verb, refusal);
	if (!ret)
		ret = step_entered(txn, verb, lease_ns);
	if (ret && txn->refusal.error && !refusal->error)
		*refusal = txn->refusal;
	morph_slice_leave(slice);
out_put:
	mutex_unlock(&fabric->lock);
	morph_slice_put(slice);
	return ret;
out_unlock:
	mutex_unlock(&fabric->lock);
	return ret;
}

/* A step that netlink asked for. */
struct queued_step {
	struct work_struct work;
	struct morph_fabric *fabric;
	struct morph_txn *txn;
	u32 verb;
	u64 lease_ns;
};

static void step_work(struct work_struct *work)
{
	struct queued_step *step = container_of(work, struct queued_step, work);
	struct morph_refusal refusal = {};

	morph_txn_step(step->txn, step->verb, step->lease_ns, &refusal);
	morph_txn_put(step->txn);
	put_device(&step->fabric->dev);
	kfree(step);
}

int morph_txn_step_queue(struct morph_txn *txn, u32 verb, u64 lease_ns,
			 struct morph_refusal *refusal)
{
	struct morph_fabric *fabric = txn->fabric;
	struct queued_step *step;
	int ret;

	if (verb < MORPH_TXN_COMMIT || verb > MORPH_TXN_REVERT)
		return morph_refuse(refusal, -EOPNOTSUPP, MORPH_REASON_ARGUMENT, 0, 0,
				    "verb must be 1 (commit), 2 (confirm) or 3 (revert), not %u",
				    verb);
	mutex_lock(&fabric->lock);
	ret = step_check(txn, verb, refusal);
	mutex_unlock(&fabric->lock);
	if (ret)
		return ret;
	step = kzalloc(sizeof(*step), GFP_KERNEL_ACCOUNT);
	if (!step)
		return -ENOMEM;
	INIT_WORK(&step->work, step_work);
	get_device(&fabric->dev);
	step->fabric = fabric;
	step->txn = morph_txn_get(txn);
	step->verb = verb;
	step->lease_ns = lease_ns;
	queue_work(morph_wq, &step->work);
	return 0;
}

static enum hrtimer_restart lease_timer_fn(struct hrtimer *timer)
{
	struct morph_txn *txn = container_of(timer, struct morph_txn, lease_timer);

	queue_work(morph_wq, &txn->lease_work);
	return HRTIMER_NORESTART;
}

/* The lease has run out: back to the old configuration. Holds the timer's reference. */
static void lease_work_fn(struct work_struct *work)
{
	struct morph_txn *txn = container_of(work, struct morph_txn, lease_work);
	struct morph_fabric *fabric = txn->fabric;
	struct morph_slice *slice;

	mutex_lock(&fabric->lock);
	slice = txn->slice;
	if (!slice)
		goto out;		/* it ended while the timer fired */
	kref_get(&slice->kref);
	morph_slice_enter(slice, true);
	if (morph_txn_lease_left(txn)) {
		/* a step came first and has a lease of its own */
	} else if (txn->outcome == MORPH_OUTCOME_PREPARED) {
		end_prepared(txn, MORPH_OUTCOME_EXPIRED, -ETIME);
	} else if (txn->outcome == MORPH_OUTCOME_UNCONFIRMED) {
		int ret = morph_exec_revert(txn);

		morph_txn_end(txn, ret ? txn->outcome : MORPH_OUTCOME_EXPIRED, ret ? ret : -ETIME);
	}
	morph_slice_leave(slice);
	mutex_unlock(&fabric->lock);
	morph_slice_put(slice);
	goto out_put;
out:
	mutex_unlock(&fabric->lock);
out_put:
	morph_txn_put(txn);
	put_device(&fabric->dev);
}

/*
 * Failover of a slice, or its end: what it has prepared is revoked, what it has
 * committed and not confirmed counts as confirmed.
 */
void morph_txn_revoke_slice(struct morph_slice *slice)
{
	struct morph_txn *txn, *next;

	lockdep_assert_held(&slice->fabric->lock);
	list_for_each_entry_safe(txn, next, &slice->txns, node) {
		lease_stop(txn);
		if (txn->outcome == MORPH_OUTCOME_PREPARED) {
			end_prepared(txn, MORPH_OUTCOME_REVOKED, -ECANCELED);
		} else if (txn->outcome == MORPH_OUTCOME_UNCONFIRMED) {
			morph_exec_confirm(txn);
			morph_txn_end(txn, MORPH_OUTCOME_COMMITTED, 0);
		}
	}
}

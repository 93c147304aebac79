// SPDX-License-Identifier: GPL-2.0-only
/*
 * Staging: find, claim and validate the paths of a request. If that fails, restore the previous
 * state and report the reason.
 */
#include <linux/slab.h>

#include "core/base/base.h"
#include "core/base/trace.h"
#include "core/ledger/ledger.h"
#include "core/txn/txn.h"
#include "internal.h"

static int refuse_beyond(struct morph_txn *txn, u32 index, int error, u32 reason, u32 value,
			 u32 have, const char *fixed)
{
	struct morph_change *change = &txn->items[index].change;

	morph_refuse_numbers(&txn->refusal, error, reason, MORPH_PART_NONE, value, have, 0, fixed);
	txn->refusal.item = index;
	change->status = error;
	change->reason = reason;
	change->index = value;
	return error;
}

static int refuse_item(struct morph_txn *txn, u32 index, int error, u32 reason, const char *fixed,
		       u32 value)
{
	return refuse_beyond(txn, index, error, reason, value, 0, fixed);
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

/* Check one end of a new circuit: a rank of the slice, or an edge of the fabric. */
static int check_end(struct morph_txn *txn, u32 index, u32 rank, u16 plane,
		     const char *absent)
{
	u32 edges = txn->fabric->graph->edges_count, edge = rank & ~MORPH_RANK_EDGE;

	if (rank & MORPH_RANK_EDGE && edge >= edges) {
		refuse_beyond(txn, index, -ENOENT, MORPH_REASON_ARGUMENT, edge, edges,
			      edges ? "no edge {index} (0-{last})" :
				      "no edge {index}: the fabric has no edges");
		txn->items[index].change.part = MORPH_PART_EDGE;
		txn->refusal.part = MORPH_PART_EDGE;
		return -ENOENT;
	}
	if (rank & MORPH_RANK_EDGE && plane != MORPH_PLANE_ANY)
		return refuse_item(txn, index, -EINVAL, MORPH_REASON_PORT,
				   "edge {index} has no planes; omit the plane", edge);
	if (rank & MORPH_RANK_EDGE || rank < txn->slice->ranks_count)
		return 0;
	return refuse_beyond(txn, index, -ENOENT, MORPH_REASON_ARGUMENT, rank,
			     txn->slice->ranks_count, absent);
}

/* Another fabric sends the light that comes in over an edge, so it is verified separately. */
static int check_prepared(struct morph_txn *txn, u32 index, u32 src_rank)
{
	if (!(src_rank & MORPH_RANK_EDGE) || !txn->kind->checked ||
	    txn->flags & (MORPH_TXN_PREPARE | MORPH_TXN_DRY_RUN))
		return 0;
	return refuse_item(txn, index, -EINVAL, MORPH_REASON_STATE,
			   "a circuit that comes in over edge {index} requires prepare; verify, then confirm it",
			   src_rank & ~MORPH_RANK_EDGE);
}

static int check_planes(struct morph_txn *txn, u32 index)
{
	const struct morph_change *change = &txn->items[index].change;
	const struct optics_graph *graph = txn->fabric->graph;

	if (change->src_plane != MORPH_PLANE_ANY && change->src_plane >= graph->params.planes)
		return refuse_beyond(txn, index, -EINVAL, MORPH_REASON_PORT, change->src_plane,
				     graph->params.planes, "no source plane {index} (0-{last})");
	if (change->dst_plane != MORPH_PLANE_ANY && change->dst_plane >= graph->params.planes)
		return refuse_beyond(txn, index, -EINVAL, MORPH_REASON_PORT, change->dst_plane,
				     graph->params.planes,
				     "no destination plane {index} (0-{last})");
	if (change->lanes & ~graph->all_lanes)
		return refuse_item(txn, index, -EINVAL, MORPH_REASON_ARGUMENT,
				   "lanes has wavelengths above the {index} of a guide",
				   graph->params.wavelengths);
	if (change->lanes_count > graph->params.wavelengths)
		return refuse_beyond(txn, index, -EINVAL, MORPH_REASON_ARGUMENT,
				     change->lanes_count, graph->params.wavelengths,
				     "{index} lanes requested, the port has {have}");
	if (change->lanes && change->lanes_count > optics_weight64(change->lanes))
		return refuse_beyond(txn, index, -EINVAL, MORPH_REASON_ARGUMENT,
				     change->lanes_count, optics_weight64(change->lanes),
				     "{index} lanes requested, the mask has {have}");
	if (change->guides.count > OPTICS_MAX_HOPS)
		return refuse_item(txn, index, -EINVAL, MORPH_REASON_ARGUMENT,
				   "{index} guides, a path has at most 64", change->guides.count);
	return 0;
}

int morph_txn_check_add(struct morph_txn *txn, u32 index)
{
	const struct morph_change *change = &txn->items[index].change;
	int ret;

	ret = check_end(txn, index, change->src_rank, change->src_plane,
			"no rank {index} to send (0-{last})");
	if (!ret)
		ret = check_end(txn, index, change->dst_rank, change->dst_plane,
				"no rank {index} to receive (0-{last})");
	if (ret)
		return ret;
	if (change->src_rank & change->dst_rank & MORPH_RANK_EDGE)
		return refuse_item(txn, index, -EINVAL, MORPH_REASON_PORT,
				   "both ends are edges, the source is edge {index}; one end must be a rank",
				   change->src_rank & ~MORPH_RANK_EDGE);
	if (change->src_rank == change->dst_rank)
		return refuse_item(txn, index, -EINVAL, MORPH_REASON_PORT,
				   "both ends are rank {index}", change->src_rank);
	ret = check_prepared(txn, index, change->src_rank);
	return ret ? ret : check_planes(txn, index);
}

static int resolve_add(struct morph_txn *txn, u32 index)
{
	struct morph_item *item = &txn->items[index];
	struct morph_slice *slice = txn->slice;
	struct morph_circuit *circuit;
	int ret;

	ret = morph_txn_check_add(txn, index);
	if (ret)
		return ret;
	circuit = morph_circuit_alloc(slice, &item->change,
				      txn->memory ? &txn->memory->stash : NULL, &txn->refusal);
	if (IS_ERR(circuit)) {
		txn->refusal.item = index;
		return PTR_ERR(circuit);
	}
	ret = memory_number_circuit(txn, item, circuit);
	if (ret) {
		morph_circuit_free(circuit);
		txn->refusal.item = index;
		return ret;
	}
	circuit_txns(circuit)->pending = txn;
	item->circuit = circuit;
	return 0;
}

int stage_resolve_existing(struct morph_txn *txn, u32 index)
{
	struct morph_item *item = &txn->items[index];
	struct morph_slice *slice = item->borrower ?: txn->slice;
	struct morph_circuit *circuit;
	int ret;

	circuit = xa_load(&slice->circuits, item->change.circuit);
	if (!circuit || !circuit->listed)
		return refuse_beyond(txn, index, -ENOENT, MORPH_REASON_ARGUMENT,
				     item->change.circuit, slice->circuits_count,
				     "no circuit {index} (circuits: {have})");
	if (circuit->scheduled && txn->kind->checked)
		return refuse_item(txn, index, -EBUSY, MORPH_REASON_STATE,
				   "circuit {index} belongs to a schedule; only its steps change it",
				   item->change.circuit);
	if (circuit_txns(circuit)->pending)
		return refuse_item(txn, index, -EBUSY, MORPH_REASON_STATE,
				   "another change or transaction is changing circuit {index}",
				   item->change.circuit);
	if (item->change.op == MORPH_CHANGE_MOVE && txn->kind->checked) {
		ret = check_end(txn, index, circuit->src_rank, item->change.src_plane, "");
		if (!ret)
			ret = check_end(txn, index, circuit->dst_rank, item->change.dst_plane, "");
		if (!ret)
			ret = check_prepared(txn, index, circuit->src_rank);
		if (!ret)
			ret = check_planes(txn, index);
		if (ret)
			return ret;
		if (!item->change.lanes_count && !item->change.lanes) {
			item->change.lanes_count = optics_weight64(circuit->route->path.lanes);
			/* The other half circuit uses the same lanes. */
			if ((circuit->src_rank | circuit->dst_rank) & MORPH_RANK_EDGE)
				item->change.lanes = circuit->route->path.lanes;
		}
	}
	circuit_txns(circuit)->pending = txn;
	item->circuit = circuit;
	item->old = circuit->route;
	item->dead = circuit->state == MORPH_CIRCUIT_FAILED || circuit->dark;
	item->alarms = circuit->alarms;
	return 0;
}

static int resolve(struct morph_txn *txn, u32 index)
{
	switch (txn->items[index].change.op) {
	case MORPH_CHANGE_ADD:
		return resolve_add(txn, index);
	case MORPH_CHANGE_REMOVE:
	case MORPH_CHANGE_MOVE:
		return stage_resolve_existing(txn, index);
	}
	return refuse_item(txn, index, -EOPNOTSUPP, MORPH_REASON_ARGUMENT,
			   "op must be 1 (add), 2 (remove) or 3 (move), not {index}",
			   txn->items[index].change.op);
}

void stage_resolve_ends(struct morph_txn *txn, struct morph_item *item)
{
	bool adds = item->change.op == MORPH_CHANGE_ADD;

	if (txn->kind->ends_given)
		return;
	item->new_src = morph_end_place(txn->slice, adds ? item->change.src_rank :
							   item->circuit->src_rank);
	item->new_dst = morph_end_place(txn->slice, adds ? item->change.dst_rank :
							   item->circuit->dst_rank);
}

/* @draft NULL: in the ledger, until @effort. */
static int find_path(struct morph_txn *txn, struct morph_item *item, struct morph_draft *draft,
		     struct morph_path_search *search, u32 effort, struct optics_refusal *why)
{
	const struct morph_path_request request = {
		.slice = txn->slice,
		.change = &item->change,
		.guides = item->guides,
		.src = item->new_src,
		.dst = item->new_dst,
		.charged = txn->kind->charged,
		.gfp = txn->gfp,
		.stash = txn->memory && !draft ? &txn->memory->stash : NULL,
		.chunk = txn->chunk,
		.effort = effort,
		.search = search,
		.draft = draft,
	};

	return morph_path_find(&request, &item->new, &txn->refusal, why);
}

int morph_txn_find_path(struct morph_txn *txn, struct morph_item *item,
			struct morph_path_search *search, u32 effort, struct optics_refusal *why)
{
	return find_path(txn, item, NULL, search, effort, why);
}

int stage_draft_path(struct morph_txn *txn, struct morph_item *item, struct morph_draft *draft,
		     struct optics_refusal *why)
{
	return find_path(txn, item, draft, NULL, 0, why);
}

static int charge_lanes(struct morph_txn *txn, u32 index)
{
	int ret;

	if (!txn->kind->charged)
		return 0;
	ret = morph_user_charge(txn->slice->user, MORPH_RES_LANES,
				optics_weight64(txn->items[index].new->path.lanes), &txn->refusal);
	if (ret)
		txn->refusal.item = index;
	return ret;
}

/* Find and claim the new route of one item. */
static int claim_new(struct morph_txn *txn, u32 index)
{
	struct morph_item *item = &txn->items[index];
	struct optics_refusal why = {};
	int ret;

	stage_resolve_ends(txn, item);
	/* A protection has a prepared route, and planning has found one. */
	if (item->new) {
		morph_route_unlist(item->new);
		item->new->role = MORPH_ROUTE_IDLE;
		item->new->protection = NULL;
	} else {
		ret = plan_find_path(txn, index, &why);
		if (ret == -EINPROGRESS)
			return ret;
		if (ret == -ENOMEM || ret == -EDQUOT) {
			txn->refusal.item = index;
			return ret;
		}
		if (ret)
			return refuse_item_optics(txn, index, ret, &why);
	}
	item->new->circuit = item->circuit;
	slice_txns(txn->slice)->comes_in |= morph_route_comes_in(txn->fabric, item->new);
	ret = morph_route_claim(txn->fabric, item->new, &why);
	if (ret)
		return refuse_item_optics(txn, index, ret, &why);
	ret = charge_lanes(txn, index);
	if (ret)
		morph_route_release(txn->fabric, item->new);
	return ret;
}

/* Validate the paths with the judge, which is independent of the router. */
static int validate(struct morph_txn *txn)
{
	struct optics_refusal why = {};
	u32 i, n = 0;
	int ret;

	for (i = 0; i < txn->count; i++)
		if (txn->items[i].new)
			txn->paths[n++] = txn->items[i].new->path;
	ret = plan_validate(txn, n, &why);
	for (i = 0, n = 0; i < txn->count; i++) {
		if (!txn->items[i].new)
			continue;
		if (!ret)
			txn->items[i].new->verdict = txn->verdicts[n];
		else if (n == why.item)
			refuse_item_optics(txn, i, ret, &why);
		n++;
	}
	return ret;
}

void stage_mark_changing(struct morph_fabric *fabric, const struct morph_route *old, bool set)
{
	u8 *marks = ledger_of(fabric)->state->element_marks;
	u32 h;

	if (old->role != MORPH_ROUTE_SHADOW || old->whole)
		return;
	for (h = 0; h < old->path.hops_count; h++) {
		u32 element = old->hops[h].element;

		if (element == OPTICS_NONE || old->links[h].element_held)
			continue;
		if (set)
			marks[element] |= MORPH_MARK_CHANGING;
		else
			marks[element] &= ~MORPH_MARK_CHANGING;
	}
}

static void mark_changing(struct morph_txn *txn, bool set)
{
	u32 i;

	for (i = 0; i < txn->count; i++)
		if (txn->items[i].old)
			stage_mark_changing(txn->fabric, txn->items[i].old, set);
}

/*
 * Number of receivers that are read at once: two for each change, and neighbours of turned
 * elements, at least those of one element.
 */
static u32 reads_room(u32 changes, u32 settings)
{
	return 2 * changes + clamp(4 * settings, MORPH_MAX_PORTS, 1024u);
}

static size_t lasers_at(u32 changes, u32 settings)
{
	return array_size(reads_room(changes, settings), sizeof(struct morph_receiver_reading));
}

static size_t paths_at(u32 changes, u32 settings)
{
	return size_add(lasers_at(changes, settings),
			array_size(2 * changes, sizeof(struct morph_laser_setting)));
}

static size_t verdicts_at(u32 changes, u32 settings)
{
	return size_add(paths_at(changes, settings),
			array_size(changes, sizeof(struct optics_path)));
}

static size_t settings_at(u32 changes, u32 settings)
{
	return size_add(verdicts_at(changes, settings),
			array_size(changes, sizeof(struct optics_verdict)));
}

static size_t turned_at(u32 changes, u32 settings)
{
	return size_add(settings_at(changes, settings),
			array_size(settings, sizeof(struct morph_element_setting)));
}

size_t morph_txn_reads_bytes(u32 changes, u32 settings)
{
	return size_add(turned_at(changes, settings),
			array_size(settings, sizeof(struct morph_turned)));
}

static int reserve(struct morph_txn *txn, u32 changes, u32 settings, gfp_t gfp)
{
	kvfree(txn->reads);
	txn->settings_room = settings;
	txn->reads_room = reads_room(changes, settings);
	txn->reads_bytes = morph_txn_reads_bytes(changes, settings);
	txn->reads = kvmalloc(txn->reads_bytes, gfp);
	if (!txn->reads)
		return -ENOMEM;
	txn->lasers = (void *)txn->reads + lasers_at(changes, settings);
	txn->paths = (void *)txn->reads + paths_at(changes, settings);
	txn->verdicts = (void *)txn->reads + verdicts_at(changes, settings);
	txn->settings = (void *)txn->reads + settings_at(changes, settings);
	txn->turned = (void *)txn->reads + turned_at(changes, settings);
	return 0;
}

int morph_txn_reserve_for(struct morph_txn *txn, u32 changes, u32 settings)
{
	return reserve(txn, changes, settings, txn->gfp);
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
	if (txn->reads && txn->settings_room >= settings)
		return 0;
	if (!txn->memory)
		return morph_txn_reserve_for(txn, txn->count, settings);
	if (!reserve(txn, txn->count, settings, MORPH_GFP_LOCKED))
		return 0;
	txn->memory->settings = settings;
	return -ENOMEM;
}

/*
 * Release what the slice's protections and schedules hold while its claims change. They take hold
 * again of the parts that are still free. Schedules release only for repairs, because a tenant's
 * request must not take elements from them. The caller holds fabric->lock until the matching
 * resume.
 */
void morph_txn_suspend_holds(struct morph_txn *txn)
{
	const struct morph_txn_kind *kind = txn->kind;

	if (kind->suspend_holds)
		kind->suspend_holds(txn);
}

bool morph_txn_resume_holds(struct morph_txn *txn)
{
	const struct morph_txn_kind *kind = txn->kind;

	if (kind->resume_first)
		kind->resume_first(txn->slice);
	return !kind->resume_holds || kind->resume_holds(txn->slice);
}

int stage_item(struct morph_txn *txn, u32 index, bool claim)
{
	struct morph_item *item = &txn->items[index];
	int ret = 0;

	if (!item->circuit)
		ret = resolve(txn, index);
	if (ret || item->change.op == MORPH_CHANGE_REMOVE)
		return ret;
	if (claim)
		return claim_new(txn, index);
	item->new->circuit = item->circuit;
	return charge_lanes(txn, index);
}

int stage_refuse_path(struct morph_txn *txn, u32 index, int error,
		      const struct optics_refusal *why)
{
	return refuse_item_optics(txn, index, error, why);
}

static void undo_claim(struct morph_txn *txn, struct morph_item *item)
{
	if (!item->new)
		return;
	morph_route_release(txn->fabric, item->new);
	if (txn->kind->charged)
		morph_user_uncharge(txn->slice->user, MORPH_RES_LANES,
				    optics_weight64(item->new->path.lanes));
}

/* @released: the old route has lost claims to new routes, which have released theirs now. */
static void undo_resolve(struct morph_txn *txn, struct morph_item *item, bool released)
{
	if (item->old && released) {
		morph_route_release(txn->fabric, item->old);
		morph_route_reclaim(txn->fabric, item->old);
	}
	circuit_txns(item->circuit)->pending = NULL;
	if (txn->kind->charged) {
		morph_route_free(item->new);
		item->new = NULL;
	}
	if (!item->circuit->listed) {
		item->circuit->route = NULL;	/* circuit of a prepared transaction */
		morph_circuit_drop(item->circuit);
	}
	item->circuit = NULL;
	item->old = NULL;
}

void stage_undo_claim(struct morph_txn *txn, u32 index)
{
	undo_claim(txn, &txn->items[index]);
}

void stage_undo_resolve(struct morph_txn *txn, u32 index)
{
	struct morph_item *item = &txn->items[index];

	if (item->circuit) {
		undo_resolve(txn, item, true);
	} else {
		morph_route_free(item->new);
		item->new = NULL;
	}
}

/* Undo the first @resolved items; the new routes of the first @claimed are claimed. */
static void undo_stage(struct morph_txn *txn, u32 resolved, u32 claimed, bool released)
{
	u32 i;

	for (i = 0; i < claimed; i++)
		undo_claim(txn, &txn->items[i]);
	for (i = 0; i < resolved; i++)
		if (txn->items[i].circuit)
			undo_resolve(txn, &txn->items[i], released);
	txn->staged = false;
}

static int check_generation(struct morph_txn *txn)
{
	u64 now = txn->slice->generation;

	if (txn->generation == MORPH_GENERATION_ANY || txn->generation == now)
		return 0;
	return morph_refuse(&txn->refusal, -ESTALE, MORPH_REASON_GENERATION, 0, 0,
			    "the slice is at generation %llu, not %llu", now, txn->generation);
}

/* Ask the kind whether the token permits the change, and which reservations it may use. */
int stage_lift_reservations(struct morph_txn *txn)
{
	const struct morph_txn_kind *kind = txn->kind;
	int ret = 0;

	if (kind->permits)
		ret = kind->permits(txn->slice, &txn->token, &txn->refusal);
	if (!ret && kind->lift_reservations)
		kind->lift_reservations(txn);
	return ret;
}

int stage_begin_hold(struct morph_txn *txn)
{
	int ret = check_generation(txn);

	return ret ? ret : stage_lift_reservations(txn);
}

void stage_lower_reservations(struct morph_txn *txn)
{
	const struct morph_txn_kind *kind = txn->kind;

	if (kind->lower_reservations)
		kind->lower_reservations(txn->fabric);
}

/**
 * morph_txn_stage() - resolve, route, claim and validate a transaction
 * @txn: the transaction; the caller has entered the slice
 *
 * On success the new paths are claimed, the old paths stay claimed, and the memory for
 * programming is allocated. On failure the previous state is restored and txn->refusal has
 * the reason. O(changes * path).
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
	ret = stage_begin_hold(txn);
	if (ret)
		return ret;
	morph_txn_suspend_holds(txn);
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
	ret = morph_txn_reserve(txn);
	if (ret)
		goto err_undo;
	ret = validate(txn);
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
	morph_txn_resume_holds(txn);
	stage_lower_reservations(txn);
	txn->staged = true;
	trace_morph_txn_stage(txn->fabric->id, slice->number, txn->count);
	return 0;

err_undo:
	undo_stage(txn, resolved, claimed, released);
	morph_txn_resume_holds(txn);
	stage_lower_reservations(txn);
	return ret;
}

void morph_txn_unstage(struct morph_txn *txn)
{
	lockdep_assert_held(&txn->fabric->lock);
	if (!txn->staged)
		return;
	morph_txn_suspend_holds(txn);
	mark_changing(txn, false);
	undo_stage(txn, txn->count, txn->count, true);
	morph_txn_resume_holds(txn);
}

/* Remove the marks of a staged transaction after its light has changed. */
void morph_txn_unmark(struct morph_txn *txn)
{
	mark_changing(txn, false);
}

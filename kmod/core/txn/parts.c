// SPDX-License-Identifier: GPL-2.0-only
/*
 * Staging of many changes in several holds of fabric->lock; one hold would take too long.
 *
 * All circuits of the request are resolved first. Then their new paths are planned in a draft,
 * which needs no lock: see draft.c. The old routes become shadows, and each new path is claimed and
 * validated beside all claims of that moment. If it needs a part of a shadow, it takes this part
 * over. The claims stay while the lock is dropped, so that other changes cannot take planned paths
 * again and again. Other tenants see the circuits only after the publication.
 *
 * If another change has taken a part of a planned path, the paths from there on are planned again.
 * After MORPH_MOST_RESTARTS, a path is searched in the ledger itself, beside the claims so far.
 *
 * A dry run claims nothing.
 */
#include "core/base/base.h"
#include "core/base/trace.h"
#include "core/ledger/ledger.h"
#include "core/txn/txn.h"
#include "internal.h"

#define PART_ITEMS	32u	/* staged in one hold at most */
#define PART_VISITS	4096u	/* routes that one hold looks at, before its last item */
#define PART_JUDGED	8u	/* the same with validation, which takes most of the time */

/* The progress of staging. */
struct parts {
	struct morph_planning *plan;
	struct morph_txn *txn;
	bool claims;		/* no dry run */
	bool adds;		/* some change needs a new path */
	bool has_old;		/* some change has an old path */
	u32 resolved;		/* items before this one are resolved, except additions */
	u32 shadowed;		/* their old routes are shadows */
	u32 staged;		/* their new paths are claimed */
	u32 visits;		/* of routes, in this hold */
	u32 restarts;
	bool taken;		/* another change has taken a planned path */
};

bool parts_possible(const struct morph_txn *txn)
{
	u32 i;

	if (!txn->kind->charged || !txn->kind->checked || txn->kind->ends_given)
		return false;
	for (i = 0; i < txn->count; i++)
		if (txn->items[i].change.op < MORPH_CHANGE_ADD ||
		    txn->items[i].change.op > MORPH_CHANGE_MOVE)
			return false;
	return true;
}

/* ---------------------------------------------------------------- old routes */

static void free_old(struct morph_txn *txn, struct morph_route *old)
{
	if (old->role != MORPH_ROUTE_SHADOW)
		return;
	stage_mark_changing(txn->fabric, old, false);
	morph_route_release(txn->fabric, old);
}

static void hold_old(struct morph_txn *txn, struct morph_route *old)
{
	if (old->role != MORPH_ROUTE_IDLE)
		return;
	morph_route_shadow(txn->fabric, old);
	stage_mark_changing(txn->fabric, old, true);
}

typedef void (*old_visitor)(struct morph_txn *txn, struct morph_route *old);

static void visit_guide(struct parts *parts, u32 guide, old_visitor visit)
{
	struct morph_txn *txn = parts->txn;
	struct morph_link *link;

	hlist_for_each_entry(link, &ledger_of(txn->fabric)->guide_routes[guide], node) {
		struct morph_circuit *circuit = link->route->circuit;

		parts->visits++;
		if (circuit && circuit->route == link->route &&
		    circuit_txns(circuit)->pending == txn)
			visit(txn, link->route);
	}
}

/* Visit the old routes of the transaction that share a guide or an element with a path. */
static void visit_old(struct parts *parts, const struct optics_path *path, old_visitor visit)
{
	const struct optics_graph *graph = parts->txn->fabric->graph;
	const struct optics_element *element;
	u32 h, port, code;

	for (h = 0; h < path->hops_count; h++) {
		visit_guide(parts, path->hops[h].guide >> 1, visit);
		if (path->hops[h].element == OPTICS_NONE)
			continue;
		element = &graph->elements[path->hops[h].element];
		for (port = 0; port < graph->kinds[element->kind].ports; port++) {
			code = graph->port_guide[element->first_port + port];
			if (code != OPTICS_NONE)
				visit_guide(parts, code >> 1, visit);
		}
	}
}

/* ------------------------------------------------------------------- staging */

/* Resolve one item; an addition gets its circuit when it is staged. */
static int resolve_one(struct parts *parts, u32 index)
{
	struct morph_item *item = &parts->txn->items[index];

	parts->adds |= item->change.op != MORPH_CHANGE_REMOVE;
	if (item->change.op == MORPH_CHANGE_ADD)
		return morph_txn_check_add(parts->txn, index);
	parts->has_old = true;
	return stage_resolve_existing(parts->txn, index);
}

static int resolve_some(struct parts *parts)
{
	u32 end = min(parts->txn->count, parts->resolved + MORPH_HOLD_PARTS);
	int ret;

	ret = stage_begin_hold(parts->txn);
	if (ret)
		return ret;
	stage_lower_reservations(parts->txn);
	while (!ret && parts->resolved < end) {
		ret = resolve_one(parts, parts->resolved);
		parts->resolved += !ret;
	}
	return ret;
}

/* The old routes hold all that they have claimed, until new ones take parts of it over. */
static void shadow_some(struct parts *parts)
{
	struct morph_txn *txn = parts->txn;
	u32 end = min(txn->count, parts->shadowed + PART_ITEMS);

	morph_txn_suspend_holds(txn);
	for (; parts->shadowed < end; parts->shadowed++) {
		struct morph_route *old = txn->items[parts->shadowed].old;

		if (!old)
			continue;
		morph_route_release(txn->fabric, old);
		hold_old(txn, old);
	}
	morph_txn_resume_holds(txn);
}

/* Whether another path may help after this error. */
static bool is_conflict(int error)
{
	return error && error != -ENOMEM && error != -EDQUOT && error != -EINPROGRESS;
}

/* Claim the planned path of an item, with the parts of old routes that it needs. */
static int stage_planned(struct parts *parts, u32 index)
{
	struct morph_txn *txn = parts->txn;
	struct morph_item *item = &txn->items[index];
	int ret;

	ret = stage_item(txn, index, parts->claims);
	if (!is_conflict(ret) || !parts->has_old || !item->new)
		return ret;
	plan_forget_refusal(txn);
	visit_old(parts, &item->new->path, free_old);
	ret = stage_item(txn, index, parts->claims);
	visit_old(parts, &item->new->path, hold_old);
	return ret;
}

/* Stage one item. If another change has taken its path, the paths must be planned again. */
static int stage_one(struct parts *parts, u32 index)
{
	struct morph_txn *txn = parts->txn;
	struct morph_item *item = &txn->items[index];
	bool planned = item->new;
	int ret;

	ret = stage_planned(parts, index);
	if (!is_conflict(ret) || !planned)
		return ret;
	plan_forget_refusal(txn);
	parts->taken = parts->restarts < MORPH_MOST_RESTARTS;
	if (parts->taken)
		return -EINPROGRESS;
	morph_route_free(item->new);
	item->new = NULL;
	return stage_planned(parts, index);
}

/* Validate a path after its claim, unless that was done in the same ledger. */
static int judge(struct parts *parts, u32 index)
{
	struct optics_view view = optics_state_view(ledger_of(parts->txn->fabric)->state);
	const struct morph_slice *slice = parts->txn->slice;
	struct morph_route *route = parts->txn->items[index].new;
	struct optics_refusal why = {};
	int ret;

	if (!route || parts->plan->judged_all || !parts->claims)
		return 0;
	/* The claim has met no such mark. Since then, only own old routes may have set it. */
	view.tolerated |= MORPH_MARK_CHANGING;
	ret = optics_validate(&view, &route->path, 1, slice->number,
			      slice->transit == MORPH_TRANSIT_OWN, &route->verdict, &why);
	return ret ? stage_refuse_path(parts->txn, index, ret, &why) : 0;
}

/* Stage some items in one hold. */
static int stage_some(struct parts *parts)
{
	struct morph_planning *plan = parts->plan;
	struct morph_txn *txn = parts->txn;
	struct morph_fabric *fabric = txn->fabric;
	u32 end;
	int ret;

	ret = stage_begin_hold(txn);
	if (ret)
		return ret;
	if (plan->seq != morph_ledger_seq(fabric))
		plan->judged_all = false;
	end = min(txn->count, parts->staged + (plan->judged_all ? PART_ITEMS : PART_JUDGED));
	morph_path_search_resume(fabric, &plan->search);
	if (parts->claims)
		morph_txn_suspend_holds(txn);
	plan_begin_hold(plan, MORPH_HOLD_STEPS);
	parts->visits = 0;
	while (!ret && parts->staged < end && plan_steps_now(plan) < plan->end &&
	       parts->visits < PART_VISITS) {
		ret = stage_one(parts, parts->staged);
		if (!ret)
			ret = judge(parts, parts->staged++);
	}
	if (parts->claims)
		morph_txn_resume_holds(txn);
	stage_lower_reservations(txn);
	morph_path_search_pause(fabric, &plan->search);
	plan->seq = morph_ledger_seq(fabric);
	return ret;
}

/* All paths are claimed. */
static int finish(struct parts *parts)
{
	struct morph_txn *txn = parts->txn;
	u32 i;

	if (!parts->claims)
		return 0;
	for (i = 0; i < txn->count; i++) {
		struct morph_item *item = &txn->items[i];

		if (item->old)
			item->broken_first = item->dead || !item->old->whole;
	}
	return morph_txn_reserve(txn);
}

/* Take the next step of staging. Return -EINPROGRESS until all is staged. */
static int stage_step(struct parts *parts)
{
	struct morph_txn *txn = parts->txn;
	int ret = 0;

	if (parts->staged == txn->count)
		return finish(parts);
	if (parts->resolved < txn->count) {
		ret = resolve_some(parts);
		if (!ret && parts->resolved == txn->count && parts->adds)
			ret = draft_paths(parts->plan, 0);
	} else if (parts->claims && parts->has_old && parts->shadowed < txn->count) {
		shadow_some(parts);
	} else {
		ret = stage_some(parts);
	}
	if (parts->taken) {
		parts->taken = false;
		parts->restarts++;
		plan_forget_from(txn, parts->staged);
		ret = draft_paths(parts->plan, parts->staged);
	}
	return ret ? ret : -EINPROGRESS;
}

/* ---------------------------------------------------------------------- undo */

static void undo_staged(struct parts *parts, u32 index)
{
	struct morph_txn *txn = parts->txn;
	const struct morph_route *new = txn->items[index].new;

	bool releases = new && new->role == MORPH_ROUTE_LIVE && parts->has_old;

	if (!new)
		return;
	if (releases)
		visit_old(parts, &new->path, free_old);
	stage_undo_claim(txn, index);
	if (releases)
		visit_old(parts, &new->path, hold_old);
}

/* Undo some items, the last ones first. Return whether that was all. */
static bool undo_some(struct parts *parts)
{
	struct morph_txn *txn = parts->txn;
	u32 end;

	morph_txn_suspend_holds(txn);
	if (parts->staged) {
		end = parts->staged > PART_ITEMS ? parts->staged - PART_ITEMS : 0;
		for (parts->visits = 0; parts->staged > end && parts->visits < PART_VISITS;)
			undo_staged(parts, --parts->staged);
	} else {
		end = parts->resolved > MORPH_HOLD_PARTS ? parts->resolved - MORPH_HOLD_PARTS : 0;
		while (parts->resolved > end)
			stage_undo_resolve(txn, --parts->resolved);
	}
	morph_txn_resume_holds(txn);
	return !parts->staged && !parts->resolved;
}

/* New paths let go of old ones in turn, so that these end with all that they had claimed. */
static void undo(struct parts *parts)
{
	struct morph_fabric *fabric = parts->txn->fabric;

	while (!undo_some(parts)) {
		morph_fabric_unlock(fabric);
		cond_resched();
		morph_fabric_lock(fabric);
	}
	parts->txn->staged = false;
}

int parts_stage(struct morph_planning *plan)
{
	struct morph_txn *txn = plan->txn;
	struct parts parts = {
		.plan = plan, .txn = txn, .claims = !(txn->flags & MORPH_TXN_DRY_RUN),
	};
	int ret;

	lockdep_assert_held(&txn->fabric->lock);
	plan->parts = true;
	do {
		ret = stage_step(&parts);
		if (ret != -EINPROGRESS && !(ret && morph_txn_wants_memory(txn)))
			break;
		ret = plan_yield(plan);
	} while (!ret);
	plan->parts = false;
	if (ret) {
		undo(&parts);
		return ret;
	}
	txn->staged = true;
	trace_morph_txn_stage(txn->fabric->id, txn->slice->number, txn->count);
	return 0;
}

void morph_txn_unstage_in_parts(struct morph_txn *txn)
{
	struct parts parts = {
		.txn = txn, .has_old = true,
		.resolved = txn->count, .shadowed = txn->count, .staged = txn->count,
	};

	lockdep_assert_held(&txn->fabric->lock);
	if (txn->count <= MORPH_HOLD_PARTS || !parts_possible(txn))
		morph_txn_unstage(txn);
	else if (txn->staged)
		undo(&parts);
}

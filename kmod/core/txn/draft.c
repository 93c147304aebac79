// SPDX-License-Identifier: GPL-2.0-only
/*
 * Planning of many changes in a draft: a private copy of the ledger, for which this thread needs no
 * lock. The draft lacks the old paths of the request, so the new paths may use any part of them.
 * The new paths are claimed there, and validated beside all other claims. Only the copy takes
 * fabric->lock, in several holds for a big fabric.
 *
 * The found paths are routes without claims in txn->items. Other changes may take a part of them
 * before they are claimed in the ledger: see parts.c.
 */
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "core/base/base.h"
#include "core/base/trace.h"
#include "core/ledger/ledger.h"
#include "core/txn/txn.h"
#include "internal.h"

struct txn_draft {
	struct morph_draft *ledger;	/* NULL or an error pointer: no memory */
	struct optics_path *paths;	/* memory for all items; then the verdicts */
	struct optics_verdict *verdicts;
	bool alone;			/* the slice was alone on the fabric during the copy */
};

static void draft_free(struct txn_draft *draft)
{
	if (!IS_ERR_OR_NULL(draft->ledger))
		morph_draft_free(draft->ledger);
	kvfree(draft->paths);
}

/* Allocate the memory of a draft. No lock held. */
static int draft_init(struct txn_draft *draft, struct morph_txn *txn)
{
	size_t each = sizeof(*draft->paths) + sizeof(*draft->verdicts);

	draft->ledger = morph_draft_alloc(txn->fabric, txn->slice->user, &txn->refusal);
	if (IS_ERR(draft->ledger))
		return PTR_ERR(draft->ledger);
	draft->paths = kvmalloc(array_size(txn->count, each), txn->gfp);
	if (!draft->paths)
		return -ENOMEM;
	draft->verdicts = (void *)(draft->paths + txn->count);
	return 0;
}

/* Copy a part of the ledger without what the slice itself holds. Return as the function below. */
static int copy_some(struct morph_planning *plan, struct txn_draft *draft)
{
	struct morph_txn *txn = plan->txn;
	bool more;
	int ret;

	ret = stage_begin_hold(txn);
	if (ret)
		return ret;
	plan_suspend_holds(plan);
	more = morph_draft_copy_some(draft->ledger, txn->fabric);
	plan_resume_holds(plan);
	stage_lower_reservations(txn);
	draft->alone &= morph_slice_is_alone(txn->slice);
	return more ? -EINPROGRESS : 0;
}

/* Copy the ledger. Caller holds fabric->lock; the function drops it meanwhile. */
static int copy_ledger(struct morph_planning *plan, struct txn_draft *draft)
{
	struct morph_fabric *fabric = plan->txn->fabric;
	u64 began = morph_ledger_seq(fabric);
	int ret;

	draft->alone = true;
	morph_draft_begin(draft->ledger);
	for (;;) {
		ret = copy_some(plan, draft);
		if (ret != -EINPROGRESS)
			break;
		ret = plan_yield(plan);
		if (ret)
			break;
	}
	plan->seq = morph_ledger_seq(fabric);
	plan->torn = plan->seq != began;
	return ret;
}

/* Find the path of an item, and claim it in the draft. */
static int find_path(struct morph_planning *plan, struct txn_draft *draft, u32 index)
{
	struct morph_txn *txn = plan->txn;
	struct morph_item *item = &txn->items[index];
	int ret;

	cond_resched();
	if (fatal_signal_pending(current))
		return -EINTR;
	stage_resolve_ends(txn, item);
	ret = stage_draft_path(txn, item, draft->ledger, &plan->why);
	if (!ret)
		ret = morph_route_draft(txn->fabric, draft->ledger, item->new, &plan->why);
	if (!ret)
		return 0;
	txn->refusal.item = index;
	plan->found = index;
	plan->refused = ret != -ENOMEM && ret != -EDQUOT;
	return ret;
}

/* Validate the found paths from item @first on. */
static int judge_paths(struct morph_planning *plan, struct txn_draft *draft, u32 first)
{
	struct optics_view view = optics_state_view(draft->ledger->state);
	struct morph_txn *txn = plan->txn;
	u32 count = 0, judged = 0, n = 0, i;
	int ret = 0;

	view.alone = draft->alone;
	for (i = first; i < txn->count; i++)
		if (txn->items[i].new)
			draft->paths[count++] = txn->items[i].new->path;
	while (judged < count && !ret) {
		cond_resched();
		ret = optics_validate_part(&view, draft->paths, count, &judged, MORPH_JUDGE_EFFORT,
					   txn->slice->number,
					   txn->slice->transit == MORPH_TRANSIT_OWN,
					   draft->verdicts, &plan->why);
	}
	for (i = first; i < txn->count; i++) {
		if (!txn->items[i].new)
			continue;
		if (ret && n == plan->why.item) {
			plan->found = i;
			plan->refused = true;
			return ret;
		}
		txn->items[i].new->verdict = draft->verdicts[n++];
	}
	return 0;
}

/* Find and validate the paths from item @first on. No lock held. */
static int search_draft(struct morph_planning *plan, struct txn_draft *draft, u32 first)
{
	struct morph_txn *txn = plan->txn;
	u32 i;
	int ret = 0;

	for (i = 0; i < txn->count; i++)
		if (txn->items[i].old)
			morph_route_undraft(txn->fabric, draft->ledger, txn->items[i].old);
	for (i = first; i < txn->count && !ret; i++)
		if (txn->items[i].change.op != MORPH_CHANGE_REMOVE)
			ret = find_path(plan, draft, i);
	if (!ret)
		ret = judge_paths(plan, draft, first);
	if (ret)
		plan_forget_from(txn, first);
	return ret;
}

/*
 * Plan in one copy of the ledger. The result is valid in the present ledger if that has not changed
 * since the copy. Memory is allocated and freed without the lock, since a draft may be big.
 */
static int draft_once(struct morph_planning *plan, u32 first)
{
	struct morph_fabric *fabric = plan->txn->fabric;
	struct txn_draft draft = {};
	int ret, ended;

	plan->refused = false;
	plan->why = (struct optics_refusal){};
	morph_fabric_unlock(fabric);
	ret = draft_init(&draft, plan->txn);
	ended = plan_relock(plan);
	if (!ret)
		ret = ended ? ended : copy_ledger(plan, &draft);
	morph_fabric_unlock(fabric);
	trace_morph_search_pause(fabric->id, plan->txn->slice->number, first);
	if (!ret)
		ret = search_draft(plan, &draft, first);
	draft_free(&draft);
	ended = plan_relock(plan);
	plan->judged_all = !ret && !plan->torn && plan->seq == morph_ledger_seq(fabric);
	return ended ? ended : ret;
}

/*
 * Refuse a path. A copy in several holds may be that of no ledger which has ever been. Then it is
 * only known that other changes were too many.
 */
static int refuse(struct morph_planning *plan, int error)
{
	if (plan->torn) {
		error = -EAGAIN;
		plan->why = (struct optics_refusal){
			.reason = OPTICS_GAVE_UP,
			.part = OPTICS_PART_NONE,
			.index = OPTICS_NONE,
			.item = OPTICS_NONE,
			.need = MORPH_ROUTE_STEPS,
		};
	}
	return stage_refuse_path(plan->txn, plan->found, error, &plan->why);
}

int draft_paths(struct morph_planning *plan, u32 first)
{
	u32 tries = 0;
	int ret;

	lockdep_assert_held(&plan->txn->fabric->lock);
	for (;;) {
		ret = draft_once(plan, first);
		if (!ret || !plan->refused)
			return ret;
		if (!plan->torn || tries++ == MORPH_MOST_RESTARTS)
			return refuse(plan, ret);
		plan_forget_refusal(plan->txn);
	}
}

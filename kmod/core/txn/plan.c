// SPDX-License-Identifier: GPL-2.0-only
/*
 * Planning: find the paths of a transaction in several holds of fabric->lock.
 *
 * Staging finds, claims and validates all paths in one hold. The searches of many changes, and
 * one search that fails, would make all other tenants wait. So planning finds the paths first, a
 * few in each hold, and keeps them as routes without claims in txn->items. Staging takes these
 * routes.
 *
 * A transaction with many changes is planned and staged in parts from the beginning.
 *
 * A transaction with few paths is staged at once. If its searches take too long, staging ends with
 * -EINPROGRESS, and planning begins. A search that takes more than one hold pauses in memory of its
 * own, which is allocated when the first one does.
 *
 * A search must see the claims of the paths before it in the request, and must not see those of
 * the circuits that the request moves or removes. Planning makes the ledger so in each hold, and
 * restores it before it drops the lock. So no other thread sees a part of the change.
 *
 * If another change has taken a part of a path, planning searches again, from this item on. After
 * MORPH_MOST_RESTARTS it stops. The transaction is then staged in parts, whose claims stay. See
 * parts.c. Likewise, a search that has paused starts again after another change:
 * morph_path_search_resume().
 *
 * When all paths are found, planning validates them, a part in each hold. If the ledger does not
 * change, staging takes this result.
 *
 * If a search fails, staging follows in the same hold and takes its refusal. So the refusal is that
 * of the present ledger.
 *
 * A repair runs the same searches. But it never searches in one hold: if other changes disturb it
 * too often, it ends with -ESTALE, and the slice retries later.
 */
#include <linux/mm.h>
#include <linux/sched/signal.h>

#include "core/base/base.h"
#include "core/base/trace.h"
#include "core/ledger/ledger.h"
#include "core/txn/txn.h"
#include "internal.h"

#define PLAN_LEAST	5u	/* transactions with fewer paths are staged without a plan */
#define STEP_HOPS	16u	/* a step of the router takes as long as these claims */

static bool may_plan(const struct morph_txn *txn)
{
	const struct morph_txn_kind *kind = txn->kind;

	return kind->recovers || (kind->checked && kind->charged && !kind->ends_given);
}

static bool has_many_paths(const struct morph_txn *txn)
{
	u32 paths = 0, i;

	if (txn->count < PLAN_LEAST)
		return false;
	for (i = 0; i < txn->count && paths < PLAN_LEAST; i++)
		paths += txn->items[i].change.op != MORPH_CHANGE_REMOVE;
	return paths == PLAN_LEAST;
}

/* A number that changes whenever another change may affect a path. */
static u64 surroundings(const struct morph_txn *txn)
{
	return morph_ledger_seq(txn->fabric) + txn->fabric->seq;
}

void plan_forget_from(struct morph_txn *txn, u32 first)
{
	u32 i;

	for (i = first; i < txn->count; i++) {
		morph_route_free(txn->items[i].new);
		txn->items[i].new = NULL;
	}
}

void plan_forget_refusal(struct morph_txn *txn)
{
	u32 i;

	txn->refusal = (struct morph_refusal){ .item = MORPH_ANY };
	for (i = 0; i < txn->count; i++) {
		struct morph_change *change = &txn->items[i].change;

		change->status = 0;
		change->reason = 0;
		change->part = 0;
		change->index = 0;
	}
}

/* ---------------------------------------------------------------- one hold */

/* Remove the claims of the circuits that the request moves or removes. */
static int release_old(struct morph_planning *plan)
{
	struct morph_txn *txn = plan->txn;
	int ret = 0;

	for (plan->resolved = 0; plan->resolved < txn->count && !ret; plan->resolved++) {
		struct morph_item *item = &txn->items[plan->resolved];

		if (item->change.op == MORPH_CHANGE_ADD)
			continue;
		ret = stage_resolve_existing(txn, plan->resolved);
		if (!ret && item->old->role != MORPH_ROUTE_LIVE)
			ret = -EBUSY;
		if (ret && !item->circuit)
			break;
		if (ret)
			continue;
		morph_route_release(txn->fabric, item->old);
	}
	return ret;
}

static void reclaim_old(struct morph_planning *plan)
{
	struct morph_txn *txn = plan->txn;

	while (plan->resolved--) {
		struct morph_item *item = &txn->items[plan->resolved];

		if (!item->circuit)
			continue;
		if (item->old->role == MORPH_ROUTE_IDLE)
			morph_route_reclaim(txn->fabric, item->old);
		circuit_txns(item->circuit)->pending = NULL;
		item->circuit = NULL;
		item->old = NULL;
	}
}

static void unclaim_found(struct morph_planning *plan)
{
	struct morph_txn *txn = plan->txn;
	u32 i;

	for (i = 0; i < plan->found; i++)
		if (txn->items[i].new)
			morph_route_try_end(txn->fabric, txn->items[i].new);
}

/* Claim the paths that earlier holds have found, in the same ledger. */
static void claim_again(struct morph_planning *plan)
{
	struct morph_txn *txn = plan->txn;
	u32 i;

	for (i = 0; i < plan->found; i++)
		if (txn->items[i].new)
			morph_route_try_again(txn->fabric, txn->items[i].new);
}

/* The same in another ledger: forget the paths from the first conflict on. */
static void claim_found(struct morph_planning *plan)
{
	struct morph_txn *txn = plan->txn;
	struct optics_refusal why;
	u32 i;

	for (i = 0; i < plan->found; i++)
		if (txn->items[i].new && morph_route_try(txn->fabric, txn->items[i].new, &why))
			break;
	if (i == plan->found)
		return;
	plan_forget_from(txn, i);
	plan->found = i;
	plan->restarts++;
	plan->search.running = false;
}

/* Whether the found paths can be validated before staging, which takes edges for the slice. */
static bool may_judge(const struct morph_planning *plan)
{
	const struct morph_txn *txn = plan->txn;
	u32 i;

	if (plan->hint || plan->found < txn->count || plan->error ||
	    plan->rejudges > MORPH_MOST_RESTARTS)
		return false;
	for (i = 0; i < txn->count; i++)
		if (txn->items[i].new &&
		    (txn->items[i].new_src | txn->items[i].new_dst) & OPTICS_EDGE)
			return false;
	return true;
}

static size_t judge_bytes(const struct morph_planning *plan)
{
	return array_size(plan->txn->count,
			  sizeof(struct optics_path) + sizeof(struct optics_verdict));
}

/*
 * Validate some of the found paths, which are claimed. Return whether another hold must follow. A
 * refusal is left to staging.
 */
static bool judge_some(struct morph_planning *plan)
{
	struct optics_view view = optics_state_view(ledger_of(plan->txn->fabric)->state);
	struct morph_txn *txn = plan->txn;
	bool began = plan->judged;
	u32 i, n = 0;

	if (!plan->paths)
		plan->paths = kvmalloc(judge_bytes(plan), MORPH_GFP_LOCKED);
	plan->needs_paths = !plan->paths;
	if (!plan->paths)
		return true;
	for (i = 0; i < txn->count; i++)
		if (txn->items[i].new)
			plan->paths[n++] = txn->items[i].new->path;
	plan->verdicts = (void *)(plan->paths + txn->count);
	view.alone = morph_slice_is_alone(txn->slice);
	plan->judge_error =
		optics_validate_part(&view, plan->paths, n, &plan->judged, MORPH_JUDGE_EFFORT,
				     txn->slice->number, txn->slice->transit == MORPH_TRANSIT_OWN,
				     plan->verdicts, &plan->judge_why);
	plan->judged_all = plan->judge_error || plan->judged == n;
	/* If the first hold has judged all paths, staging follows in the same hold. */
	return !plan->judge_error && (!plan->judged_all || began);
}

int plan_validate(struct morph_txn *txn, u32 count, struct optics_refusal *why)
{
	struct optics_view view = optics_state_view(ledger_of(txn->fabric)->state);
	const struct morph_planning *plan = txn->plan;

	view.alone = morph_slice_is_alone(txn->slice);
	if (!plan || !plan->staging || !plan->judged_all)
		return optics_validate(&view, txn->paths, count, txn->slice->number,
				       txn->slice->transit == MORPH_TRANSIT_OWN, txn->verdicts,
				       why);
	memcpy(txn->verdicts, plan->verdicts, array_size(count, sizeof(*txn->verdicts)));
	*why = plan->judge_why;
	return plan->judge_error;
}

/* The ledger has changed: what was found about it is obsolete. */
static void forget_ledger(struct morph_planning *plan)
{
	plan->rejudges += plan->judged > 0;
	plan->judged = 0;
	plan->judged_all = false;
	plan->judge_error = 0;
}

void morph_planning_begin_again(struct morph_planning *plan)
{
	plan_forget_from(plan->txn, 0);
	plan->found = 0;
	plan->error = 0;
	plan->refused = false;
	plan->failure = 0;
	plan->search.running = false;
	forget_ledger(plan);
}

void plan_begin_hold(struct morph_planning *plan, u64 steps)
{
	plan->end = morph_route_steps(plan->txn->fabric) + steps;
	plan->claims = 0;
}

u64 plan_steps_now(const struct morph_planning *plan)
{
	return morph_route_steps(plan->txn->fabric) + (u64)MORPH_CLAIM_STEPS * plan->claims;
}

/* The effort of the next search in this hold; 0: it does not pause. */
static u32 next_effort(const struct morph_planning *plan)
{
	u64 now = plan_steps_now(plan);

	if (plan->staging && !plan->parts && !plan->txn->kind->recovers)
		return 0;
	if (now >= plan->end)
		return min(plan->effort, 1u);
	return min_t(u64, plan->effort, MORPH_STEP_EFFORT * (plan->end - now));
}

/* Staging takes this refusal of item @plan->found instead of a search. */
static void refuse_path(struct morph_planning *plan, int error, const struct optics_refusal *why)
{
	plan->error = error;
	plan->why = *why;
}

/* Find the path of item @plan->found. */
static int search_path(struct morph_planning *plan)
{
	struct morph_txn *txn = plan->txn;
	struct optics_refusal why = {};
	bool whole_hold = !plan->claims;
	int ret;

	ret = morph_txn_find_path(txn, &txn->items[plan->found],
				  plan->search.work ? &plan->search : NULL, next_effort(plan),
				  &why);
	if (ret == -EINPROGRESS) {
		/* Without memory, a search that other ones have left little time begins again. */
		plan->needs_memory = whole_hold && !plan->search.work;
	} else if (ret && ret != -ENOMEM && ret != -EDQUOT) {
		refuse_path(plan, ret, &why);
	}
	return ret;
}

int plan_find_path(struct morph_txn *txn, u32 index, struct optics_refusal *why)
{
	struct morph_planning *plan = txn->plan;
	int ret;

	if (!plan)
		return morph_txn_find_path(txn, &txn->items[index], NULL, 0, why);
	if (plan->parts) {
		ret = morph_txn_find_path(txn, &txn->items[index],
					  plan->search.work ? &plan->search : NULL,
					  next_effort(plan), why);
		if (ret == -EINPROGRESS)
			plan->needs_memory = !plan->search.work;
		return ret;
	}
	if (plan->error && plan->found == index) {
		plan->refused = true;
		*why = plan->why;
		return plan->error;
	}
	return morph_txn_find_path(txn, &txn->items[index], NULL, next_effort(plan), why);
}

/* Find and claim the path of item @plan->found. A refusal is left to staging. */
static int find_one(struct morph_planning *plan)
{
	struct morph_txn *txn = plan->txn;
	u32 index = plan->found;
	struct morph_item *item = &txn->items[index];
	struct optics_refusal why;
	int ret;

	if (item->change.op == MORPH_CHANGE_REMOVE)
		return 0;
	if (item->change.op == MORPH_CHANGE_ADD) {
		ret = morph_txn_check_add(txn, index);
		if (ret)
			return ret;
		item->new_src = morph_end_place(txn->slice, item->change.src_rank);
		item->new_dst = morph_end_place(txn->slice, item->change.dst_rank);
	} else if (!txn->kind->ends_given) {
		item->new_src = morph_end_place(txn->slice, item->circuit->src_rank);
		item->new_dst = morph_end_place(txn->slice, item->circuit->dst_rank);
	}
	ret = search_path(plan);
	if (ret)
		return ret;
	ret = morph_route_try(txn->fabric, item->new, &why);
	if (!ret)
		return 0;
	plan_forget_from(txn, index);
	/* A path of several ledgers has met a claim. Staging must not search in one hold. */
	if (plan->search.stale || plan->hint)
		refuse_path(plan, ret, &why);
	return ret;
}

static u32 count_hops(const struct morph_planning *plan)
{
	u32 hops = 0, i;

	for (i = 0; i < plan->found; i++)
		if (plan->txn->items[i].new)
			hops += plan->txn->items[i].new->path.hops_count;
	return hops;
}

/*
 * Find more paths. Return whether to continue in another hold. The claims of found paths shorten
 * the search. If they take too long, staging claims them for good.
 */
static bool find_some(struct morph_planning *plan, u32 steps)
{
	struct morph_txn *txn = plan->txn;
	u32 hops = count_hops(plan);
	int ret;

	if (plan->found == txn->count || plan->restarts > MORPH_MOST_RESTARTS)
		return false;
	plan_begin_hold(plan, steps - min(hops / STEP_HOPS, steps * 3 / 4));
	while (plan->found < txn->count && plan_steps_now(plan) < plan->end) {
		ret = find_one(plan);
		if (ret == -EINPROGRESS || (ret && morph_txn_wants_memory(txn)))
			return true;
		plan->failure = ret;
		if (ret)
			return false;
		plan->claims += !!txn->items[plan->found].new;
		plan->found++;
	}
	return plan->found < txn->count;
}

/* Find paths, or validate them if all are found. Return whether to continue in another hold. */
static bool work_on(struct morph_planning *plan, u32 steps)
{
	u32 found = plan->found;

	if (find_some(plan, steps))
		return true;
	/* If the first hold has found all paths, the same hold validates them. */
	if (plan->found > found && plan->yielded && !plan->error)
		return true;
	return may_judge(plan) && judge_some(plan);
}

void plan_suspend_holds(struct morph_planning *plan)
{
	const struct morph_ledger *ledger = ledger_of(plan->txn->fabric);

	plan->light_seq = ledger->light_seq;
	plan->marks_seq = ledger->marks_seq;
	morph_txn_suspend_holds(plan->txn);
}

void plan_resume_holds(struct morph_planning *plan)
{
	struct morph_ledger *ledger = ledger_of(plan->txn->fabric);

	if (!morph_txn_resume_holds(plan->txn))
		return;
	/* The ledger is as before, and searches of other threads may continue. */
	ledger->light_seq = plan->light_seq;
	ledger->marks_seq = plan->marks_seq;
}

bool morph_planning_continue(struct morph_planning *plan, u32 steps)
{
	struct morph_txn *txn = plan->txn;
	bool more = false, same = plan->seq == morph_ledger_seq(txn->fabric);

	lockdep_assert_held(&txn->fabric->lock);
	if (!same)
		forget_ledger(plan);
	if (plan->judged_all || stage_lift_reservations(txn))
		return false;
	morph_path_search_resume(txn->fabric, &plan->search);
	plan_suspend_holds(plan);
	plan->unresolved = release_old(plan);
	if (!plan->unresolved) {
		if (same)
			claim_again(plan);
		else
			claim_found(plan);
		more = work_on(plan, steps);
		unclaim_found(plan);
	}
	reclaim_old(plan);
	plan_resume_holds(plan);
	stage_lower_reservations(txn);
	morph_path_search_pause(txn->fabric, &plan->search);
	plan->seq = morph_ledger_seq(txn->fabric);
	return more;
}

/* ----------------------------------------------------------------- all holds */

/* A repair ends only with its slice. */
static int check_yielded(struct morph_txn *txn)
{
	if (txn->kind->recovers)
		return morph_slice_check(txn->slice) == -ENODEV ? -ENODEV : 0;
	return fatal_signal_pending(current) ? -EINTR :
					       morph_txn_check_slice(txn->slice, &txn->refusal);
}

int plan_relock(struct morph_planning *plan)
{
	plan->yielded = true;
	morph_fabric_lock(plan->txn->fabric);
	return check_yielded(plan->txn);
}

/*
 * Drop fabric->lock for a while. Allocate the memory of a search that has paused. A repair gets it
 * beyond the user's limit.
 */
int plan_yield(struct morph_planning *plan)
{
	struct morph_refusal refusal = { .item = MORPH_ANY };
	struct morph_txn *txn = plan->txn;
	int ret = 0, ended;

	morph_fabric_unlock(txn->fabric);
	trace_morph_search_pause(txn->fabric->id, txn->slice->number, plan->found);
	if (plan->needs_memory)
		ret = morph_path_search_alloc(&plan->search, txn->slice->user,
					      txn->kind->recovers ? NULL : &refusal);
	plan->needs_memory = false;
	if (!ret && plan->needs_paths)
		plan->paths = kvmalloc(judge_bytes(plan), txn->gfp);
	if (!ret && plan->needs_paths && !plan->paths)
		ret = -ENOMEM;
	plan->needs_paths = false;
	if (!ret && txn->memory)
		ret = morph_txn_fetch_memory(txn);
	cond_resched();
	ended = plan_relock(plan);
	if (ret) {
		txn->refusal = refusal;
		txn->refusal.item = plan->found;
		return ret;
	}
	return ended;
}

/* Find paths until all are known to be free, or until staging must decide. */
static int find_all(struct morph_planning *plan)
{
	int ret = 0;

	while (!ret && morph_planning_continue(plan, MORPH_HOLD_STEPS))
		ret = plan_yield(plan);
	/* Staging searches the remaining paths, which takes long, or takes the present refusal. */
	if (!ret && plan->found < plan->txn->count && !plan->failure)
		ret = plan_yield(plan);
	return ret;
}

/* Stage a transaction with few paths. -EINPROGRESS: its searches take more than one hold. */
static int stage_few(struct morph_planning *plan)
{
	int ret;

	plan_begin_hold(plan, MORPH_HOLD_STEPS);
	ret = morph_txn_stage(plan->txn);
	if (ret != -EINPROGRESS && !morph_txn_wants_memory(plan->txn))
		return ret;
	plan_forget_refusal(plan->txn);
	return plan_yield(plan) ?: -EINPROGRESS;
}

/* Return whether staging has failed because of other changes, so that a path may exist. */
static bool is_disturbed(const struct morph_planning *plan, int error)
{
	return error == -EINPROGRESS || (error && plan->refused && plan->search.stale);
}

/*
 * Staging can fail although planning has found free paths, for instance because a new slice owns a
 * part that they cross. If the surroundings have changed, plan again.
 */
static int plan_and_stage(struct morph_planning *plan)
{
	struct morph_txn *txn = plan->txn;
	u64 began, changed;
	int ret;

	for (;;) {
		began = surroundings(txn);
		morph_planning_begin_again(plan);
		ret = find_all(plan);
		if (ret)
			break;
		/* Other changes took paths too often: claims that stay exclude them. */
		if (plan->restarts > MORPH_MOST_RESTARTS && parts_possible(txn)) {
			plan_forget_from(txn, 0);
			plan_forget_refusal(txn);
			ret = parts_stage(plan);
			break;
		}
		changed = surroundings(txn) - began;
		plan_forget_refusal(txn);
		plan_begin_hold(plan, MORPH_HOLD_STEPS);
		plan->staging = true;
		ret = morph_txn_stage(txn);
		plan->staging = false;
		if (ret && morph_txn_wants_memory(txn)) {
			ret = plan_yield(plan);
			if (ret)
				break;
			plan_forget_from(txn, 0);
			continue;
		}
		if (!ret || !changed || plan->refused || plan->restarts > MORPH_MOST_RESTARTS)
			break;
		plan_forget_from(txn, 0);
		plan->restarts++;
	}
	if (ret)
		plan_forget_from(txn, 0);
	return txn->kind->recovers && is_disturbed(plan, ret) ? -ESTALE : ret;
}

int morph_txn_plan_and_stage(struct morph_txn *txn)
{
	struct morph_planning plan = { .txn = txn, .effort = txns_of(txn->fabric)->effort };
	int ret = -EINPROGRESS;

	lockdep_assert_held(&txn->fabric->lock);
	if (!may_plan(txn))
		return morph_txn_stage(txn);
	txn->plan = &plan;
	txn->memory = &plan.memory;
	if (txn->count > MORPH_HOLD_PARTS && parts_possible(txn))
		ret = parts_stage(&plan);
	else if (!has_many_paths(txn))
		ret = stage_few(&plan);
	if (ret == -EINPROGRESS)
		ret = plan_and_stage(&plan);
	txn->plan = NULL;
	morph_txn_drop_memory(txn);
	morph_path_search_free(&plan.search);
	kvfree(plan.paths);
	return ret;
}

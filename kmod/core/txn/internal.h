/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the files that execute transactions. Private to txn/. */
#ifndef MORPH_CORE_TXN_INTERNAL_H
#define MORPH_CORE_TXN_INTERNAL_H

#include "core/base/base.h"
#include "core/ledger/ledger.h"
#include "core/txn/txn.h"

/* One execution, on the stack of the executing thread. */
struct exec {
	struct morph_txn *txn;
	struct morph_fabric *fabric;
	u64 phase_began;	/* ktime_get_ns() */
	u64 lit_ns;		/* ktime_get_ns() when all new light was verified */
	u32 early, late;	/* settings in txn->settings: the early ones, then the late ones */
	u32 neighbours;		/* readings in txn->reads after those of the items */
	u32 visited;		/* settings whose neighbours have been collected */
	bool full;		/* txn->reads has no space for another neighbour */
	u64 began_ns;		/* ktime_get_ns() */
	bool broken;		/* some old circuit must go dark first */
	bool noted;		/* the power of the new light is recorded */
	bool programmed;		/* all elements were programmed without an error */
	bool relight_all;	/* revert of a commit: restore every old circuit */
	struct morph_culprit culprit;
};

/* The lasers that are switched, and read back, at one point of an execution. */
enum laser_step {
	BREAK_OLD,	/* old circuits that must go dark first */
	DARKEN_OLD,	/* the other old circuits */
	RELIGHT_OLD,
	LIGHT_NEW,	/* from here on new circuits */
	DARKEN_NEW,	/* for a rollback */
	VERIFY_NEW,		/* switches no lasers: reads the committed circuits again */
};

/* The route whose lasers a step switches for this item, or NULL. */
static inline struct morph_route *exec_laser_route(const struct exec *exec,
						   const struct morph_item *item,
						   enum laser_step step)
{
	if (step >= LIGHT_NEW)
		return item->unlit ? NULL : item->new;
	if (step == RELIGHT_OLD)
		return !item->dead && (item->broken_first || exec->relight_all) ? item->old : NULL;
	return item->broken_first == (step == BREAK_OLD) ? item->old : NULL;
}

/*
 * The route whose receiver a step reads. Light that comes in over an edge depends on the peer, so
 * exec_look_in() reads it when requested.
 */
static inline const struct morph_route *exec_read_route(const struct exec *exec,
							const struct morph_item *item,
							enum laser_step step)
{
	const struct morph_route *route = exec_laser_route(exec, item, step);

	if (!route || morph_route_leaves(exec->fabric, route))
		return NULL;
	return step == VERIFY_NEW || !morph_route_comes_in(exec->fabric, route) ? route : NULL;
}

static inline bool exec_light_is_watched(const struct morph_txn *txn)
{
	return txn->slice->watched || txn->reclaims;
}

/* Report the light of marked items to subscribers. Caller holds fabric->lock. */
static inline void exec_report_light(struct morph_txn *txn)
{
	if (exec_light_is_watched(txn))
		morph_report_light(txn);
}

void exec_collect_new(struct exec *exec);
void exec_unmark_turned(struct exec *exec);
u32 exec_collect_old(struct exec *exec);
bool exec_see_dark(struct exec *exec, enum laser_step step);
void exec_see_broken_off(struct exec *exec);
bool exec_has_lasers(const struct exec *exec, enum laser_step step);
u32 exec_collect_lasers(struct exec *exec, enum laser_step step);
int exec_command_lasers(struct exec *exec, u32 n);
int exec_set_lasers(struct exec *exec, enum laser_step step);
bool exec_reading_lit(struct morph_fabric *fabric, const struct morph_receiver_reading *reading,
		      const struct morph_route *route);
int exec_verify(struct exec *exec, enum laser_step step, bool lit, u32 *wrong);
void exec_note_power(struct exec *exec, enum laser_step step);
void exec_collect_neighbours(struct exec *exec);
int exec_verify_neighbours(struct exec *exec);
void exec_roll_back(struct exec *exec);
u32 exec_first_wrong_half(struct exec *exec, enum laser_step step, bool lit);
void exec_look_in(struct exec *exec, bool old);

/* ------------------------------------------------------------------ stage.c */

/* Resolve an item that moves or removes a circuit, and mark the circuit as pending. */
int stage_resolve_existing(struct morph_txn *txn, u32 index);
/* Check the generation and the token, and lift the reservations, at the start of a hold. */
int stage_begin_hold(struct morph_txn *txn);
int stage_lift_reservations(struct morph_txn *txn);
void stage_lower_reservations(struct morph_txn *txn);
void morph_txn_suspend_holds(struct morph_txn *txn);
/* Return whether all holds are as they were before they were suspended. */
bool morph_txn_resume_holds(struct morph_txn *txn);

/* Set the accelerators of an item's ranks; a repair has set them already. */
void stage_resolve_ends(struct morph_txn *txn, struct morph_item *item);
/*
 * Stage an item alone, after -EINPROGRESS or -ENOMEM from where it stopped. An old route must be a
 * shadow. @claim false, for dry runs: take the new route without claims.
 */
int stage_item(struct morph_txn *txn, u32 index, bool claim);
/* Find the path of an item in a draft. No lock held. */
int stage_draft_path(struct morph_txn *txn, struct morph_item *item, struct morph_draft *draft,
		     struct optics_refusal *why);
void stage_undo_claim(struct morph_txn *txn, u32 index);
void stage_undo_resolve(struct morph_txn *txn, u32 index);
/* Mark elements that an old and a new route use in different states, to exclude other paths. */
void stage_mark_changing(struct morph_fabric *fabric, const struct morph_route *old, bool set);
/* Refuse an item for the reason @why. */
int stage_refuse_path(struct morph_txn *txn, u32 index, int error,
		      const struct optics_refusal *why);

/* ------------------------------------------------------------------ parts.c */

/* Whether a transaction can be planned in a draft and staged change by change. */
bool parts_possible(const struct morph_txn *txn);
/* Plan and stage it in several holds. Like morph_txn_stage(). */
int parts_stage(struct morph_planning *plan);

/* ------------------------------------------------------------------ draft.c */

/*
 * Find the paths of all items from @first on, whose old routes are resolved and whose earlier items
 * are staged. Sets plan->judged_all if the paths are valid in the present ledger. Caller holds
 * fabric->lock; the function drops it meanwhile.
 */
int draft_paths(struct morph_planning *plan, u32 first);

/* ----------------------------------------------------------------- memory.c */

/* Put the circuit of an addition into the table of its slice, with a number. */
int memory_number_circuit(struct morph_txn *txn, struct morph_item *item,
			  struct morph_circuit *circuit);

/* ------------------------------------------------------------------- plan.c */

/* Begin a hold for about @steps steps of the router. */
void plan_begin_hold(struct morph_planning *plan, u64 steps);
/* The steps of this hold so far, with those that claims count for. */
u64 plan_steps_now(const struct morph_planning *plan);
/* Drop fabric->lock for a while, and get the memory that planning or staging wants. */
int plan_yield(struct morph_planning *plan);
/* Take fabric->lock again. Return an error if the slice ends, or the caller is killed. */
int plan_relock(struct morph_planning *plan);
/* For a while under the lock, the ledger lacks what the slice holds; nobody else sees that. */
void plan_suspend_holds(struct morph_planning *plan);
void plan_resume_holds(struct morph_planning *plan);
/* Drop the routes from item @first on, which claim nothing. */
void plan_forget_from(struct morph_txn *txn, u32 first);
/* Drop the reason why an attempt failed that will be repeated. */
void plan_forget_refusal(struct morph_txn *txn);
/* Find the path of an item for staging. -EINPROGRESS: that takes more than one hold. */
int plan_find_path(struct morph_txn *txn, u32 index, struct optics_refusal *why);
/* Validate the @count new paths in txn->paths for staging, or take the result of planning. */
int plan_validate(struct morph_txn *txn, u32 count, struct optics_refusal *why);

#endif /* MORPH_CORE_TXN_INTERNAL_H */

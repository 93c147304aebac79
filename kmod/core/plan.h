/* SPDX-License-Identifier: GPL-2.0-only */
/* Protection plans: how a spare would take a rank's place, ready before it must. */
#ifndef MORPH_CORE_PLAN_H
#define MORPH_CORE_PLAN_H

#include "core.h"

/* Protection plan of one rank: how a spare would take its place. plan.c */
struct morph_plan {
	struct morph_slice *slice;
	u32 rank;
	u32 spare;			/* MORPH_ANY: none */
	u32 state;			/* NONE, STALE, CURRENT; see morph_plan_state() */
	struct list_head spare_node;	/* head: morph_chip.plans */
	struct list_head stale_node;	/* head: fabric->stale_plans, fabric->planless */
	u32 tries;			/* spares looked at since it was spoilt */
	bool queued;			/* stale, and the worker has been told so */
	bool waiting;			/* to be made anew once the slice is at rest */
	bool held;			/* its routes hold what they need: reserve.c */
	u32 charged;			/* lanes, while they do */
	struct morph_txn *txn;		/* prebuilt, all memory that the failover needs */
};

/* -------------------------------------------------------------------- plan.c */

void morph_plan_init(struct morph_slice *slice, u32 rank);
void morph_plan_work(struct work_struct *work);
/* Mark plans stale that count on a guide, on all that a route uses, a spare, or a rank. */
void morph_plan_touch_guide(struct morph_fabric *fabric, u32 guide);
void morph_plan_touch_route(struct morph_fabric *fabric, const struct morph_route *route);
void morph_plan_touch_chip(struct morph_fabric *fabric, u32 accelerator);
void morph_plan_touch_slice(struct morph_slice *slice);
/* Something that a plan counts on has changed: it is made anew. fabric->lock held. */
void morph_plan_spoil(struct morph_plan *plan);
/* It is less than it should be, and tried again when something becomes free or healthy. */
void morph_plan_await(struct morph_plan *plan);
/* The slice has come to rest: make the plans that have waited for it. fabric->lock held. */
void morph_plan_resume(struct morph_slice *slice);
void morph_plan_drop_slice(struct morph_slice *slice);
/* The prebuilt failover of a rank, if it is current; the caller owns it then. fabric->lock held. */
struct morph_txn *morph_plan_take(struct morph_slice *slice, u32 rank, u32 *spare);

/* A slice is repaired or released: planning stands back till it ended. fabric->lock held. */
void morph_plan_stand_back(struct morph_fabric *fabric);
void morph_plan_go_on(struct morph_fabric *fabric);
/* Nobody is in need any more, perhaps: the planner goes on if there is something to plan. */
void morph_plan_wake(struct morph_fabric *fabric);
/* enum morph_plan_state, as it is shown. */
u32 morph_plan_state(const struct morph_plan *plan);

/* ----------------------------------------------------------------- reserve.c */

/*
 * While the claims of a reserved slice change, its plans let go of what they hold; then
 * they take what is left for them. fabric->lock held throughout, so that nobody comes
 * between. Nothing for other slices.
 */
void morph_reserve_suspend(struct morph_slice *slice);
void morph_reserve_resume(struct morph_slice *slice);
/* A plan is used or forgotten. fabric->lock held. */
void morph_reserve_drop(struct morph_plan *plan);
/* A spare in place of one that was used, or that is not fit any more, if one can be had. */
void morph_reserve_replenish(struct morph_slice *slice);

#endif /* MORPH_CORE_PLAN_H */

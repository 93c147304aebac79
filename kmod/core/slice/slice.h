/* SPDX-License-Identifier: GPL-2.0-only */
/* Slices, their ranks and circuits; protections, placement and controllers. */
#ifndef MORPH_CORE_SLICE_SLICE_H
#define MORPH_CORE_SLICE_SLICE_H

#include <linux/kref.h>
#include <linux/uidgid.h>

#include "core/base/base.h"
#include "core/ledger/ledger.h"
#include "core/txn/txn.h"

struct morph_refusal;

/* Protections: how a spare would take a rank's place, ready before it must. */

/* Protection of one rank: how a spare would take its place. protection.c */
struct morph_protection {
	struct morph_slice *slice;
	u32 rank;
	u32 spare;			/* MORPH_ANY: none */
	u32 preferred;			/* spare that is tried first, or MORPH_ANY */
	u32 state;			/* NONE, STALE, CURRENT; see morph_protection_state() */
	struct list_head spare_node;	/* head: morph_chip.protections */
	/* Head: fabric->stale_protections or fabric->protections_wanted. */
	struct list_head stale_node;
	u32 tries;			/* spares looked at since it was spoilt */
	bool queued;			/* stale, and the worker has been told so */
	bool waiting;			/* to be made anew once the slice is at rest */
	bool held;			/* its routes hold what they need: reserve.c */
	u32 charged;			/* lanes, while they do */
	struct morph_txn *txn;		/* prebuilt, all memory that the failover needs */
};

/* ------------------------------------------------------------- protection.c */

void morph_slices_init(struct morph_fabric *fabric);
void morph_protection_init(struct morph_slice *slice, u32 rank);
void morph_protection_work(struct work_struct *work);
/* Mark protections stale that count on a guide, on all that a route uses, a spare, or a rank. */
void morph_protection_touch_guide(struct morph_fabric *fabric, u32 guide);
void morph_protection_touch_route(struct morph_fabric *fabric, const struct morph_route *route);
void morph_protection_touch_chip(struct morph_fabric *fabric, u32 accelerator);
void morph_protection_touch_slice(struct morph_slice *slice);
/* Something that a protection counts on has changed: it is made anew. fabric->lock held. */
void morph_protection_spoil(struct morph_protection *protection);
/* It is less than it should be, and tried again when something becomes free or healthy. */
void morph_protection_await(struct morph_protection *protection);
/* A slice has come to rest: rebuild the protections that have waited for that. */
extern struct morph_slice_waiter morph_protection_waiter;
void morph_protection_resume(struct morph_slice *slice);
void morph_protection_drop_slice(struct morph_slice *slice);
/* The prebuilt failover of a rank, if it is current; the caller owns it then. fabric->lock held. */
struct morph_txn *morph_protection_take(struct morph_slice *slice, u32 rank, u32 *spare);

/* A slice is repaired or released: planning stands back till it ended. fabric->lock held. */
void morph_protection_stand_back(struct morph_fabric *fabric);
void morph_protection_go_on(struct morph_fabric *fabric);
/* Nobody is in need any more, perhaps: the planner goes on if there is something to plan. */
void morph_protection_wake(struct morph_fabric *fabric);
/* enum morph_plan_state, as it is shown. */
u32 morph_protection_state(const struct morph_protection *protection);

/* ---------------------------------------------------------------- reserve.c */

/*
 * While the claims of a reserved slice change, its protections let go of what they hold; then
 * they take what is left for them. fabric->lock held throughout, so that nobody comes
 * between. Nothing for other slices.
 */
void morph_reserve_suspend(struct morph_slice *slice);
void morph_reserve_resume(struct morph_slice *slice);
/* A protection is used or forgotten. fabric->lock held. */
void morph_reserve_drop(struct morph_protection *protection);
/* A spare in place of one that was used, or that is not fit any more, if one can be had. */
void morph_reserve_replenish(struct morph_slice *slice);

/* The tenant's kind of transactions, subscriptions and waiters. While the module starts. */
void morph_slice_register(void);
/* morph_chip_hold(), and protections that count on the accelerator learn of it. */
void morph_slice_take_chip(struct morph_slice *slice, u32 accelerator, u32 rank);

/* What this layer keeps with a fabric. Under fabric->lock, but for what says otherwise. */
struct morph_slices {
	struct morph_txns txns;		/* first: the layers below */
	u32 testing;			/* accelerators that tests have */
	u32 tests_ended;		/* how often one was given back */
	wait_queue_head_t test_end;
	struct list_head stale_protections;	/* of .stale_node: to be rebuilt */
	struct list_head protections_wanted;	/* likewise: what they need is not free */
	struct delayed_work protection_work;	/* stale protections: protection.c */
	atomic_t urgent;		/* repairs, releases, last files: planning stands back */
	u32 signal_count;		/* signals to be read: likewise; signal_lock */
	struct xarray controllers;	/* by number: controller.c */
	u32 controllers_count;
	struct hrtimer controller_timer; /* the end of the next of their leases */
	struct work_struct controller_work;
};

static inline struct morph_slices *slices_of(const struct morph_fabric *fabric)
{
	return container_of(txns_of(fabric), struct morph_slices, txns);
}

/* What this layer keeps with a slice. Under fabric->lock. */
struct morph_slice_tenancy {
	struct morph_slice_txns txns;	/* first: the layers below */
	char name[MORPH_NAME_BYTES];
	bool named;
	umode_t mode;
	kuid_t uid;
	u32 files_count;
	u32 state;			/* enum morph_slice_state */
	u32 failover, spare_policy;
	bool reserved;
	u32 schedules_count;		/* that are loaded, for which there are no protections */
	u32 controller;			/* that decides about it, or 0 */
	u32 own_spare;			/* reserved spare, or MORPH_ANY */
	u32 spare_list_count;
	u32 *spare_list;		/* for MORPH_SPARES_LIST */
	struct morph_protection *protections;	/* by rank */
	struct work_struct release_work;
	struct morph_element_setting *teardown_settings; /* MORPH_TEARDOWN_CHUNK * hops */
};

static inline struct morph_slice_tenancy *slice_tenancy(const struct morph_slice *slice)
{
	return container_of(slice_txns(slice), struct morph_slice_tenancy, txns);
}

static inline struct morph_protection *rank_protection(const struct morph_slice *slice, u32 rank)
{
	return &slice_tenancy(slice)->protections[rank];
}

/* What a slice is created from; filled by the device file or by netlink. */
struct morph_slice_params {
	const u32 *accelerators;	/* or NULL: the kernel chooses */
	u32 count;
	const u32 *spares;
	u32 spares_count;
	u32 failover, transit, spare_policy;
	u32 controller;			/* or 0 */
	umode_t mode;
	bool reserved;
	bool dry_run;
	bool may_wait;			/* for tests to give accelerators back */
	char name[MORPH_NAME_BYTES];	/* empty: unnamed */
	kuid_t uid;			/* who owns the slice and its node */
	struct morph_user *user;	/* who is charged; the slice gets a reference of its own */
};

/* May a slice be called so? Also for "", which is no name. */
int morph_slice_check_name(const char *name, struct morph_refusal *refusal);
/* Creates; *slice gets a counted slice, or NULL after a dry run. Takes the locks itself. */
int morph_slice_create(struct morph_fabric *fabric, const struct morph_slice_params *params,
		       struct morph_slice **slice, struct morph_refusal *refusal);
/* Find by number or, if number is MORPH_ANY, by name; counted. -ENOENT pointer otherwise. */
struct morph_slice *morph_slice_find(struct morph_fabric *fabric, u32 number, const char *name);
/* End a named slice. EBUSY while open unless forced. Takes the locks itself. */
int morph_slice_delete(struct morph_slice *slice, bool force, struct morph_refusal *refusal);
/* Begin the end: never fails, never waits. fabric->lock held. */
void morph_slice_release(struct morph_slice *slice, u32 event_type);
void morph_slice_release_work(struct work_struct *work);
int morph_slice_set_policy(struct morph_slice *slice, u32 failover, struct morph_refusal *refusal);
void morph_slice_fill_info(struct morph_slice *slice, struct morph_slice_info *info);
void morph_rank_fill_info(struct morph_slice *slice, u32 rank, struct morph_rank_info *info);
void morph_circuit_fill_info(struct morph_circuit *circuit, struct morph_circuit_info *info);
u64 morph_slice_bandwidth(struct morph_slice *slice);
/* Fill the common part of an event about a slice. fabric->lock held. */
void morph_event_init(struct morph_event *event, struct morph_slice *slice, u32 type);
/* A change that moves a circuit elsewhere, between the accelerators that it has now. */
void morph_slice_fill_move(struct morph_item *item, const struct morph_circuit *circuit);

/* Which accelerators a slice gets. */

/* -------------------------------------------------------------- placement.c */

/* May so many be asked for at all, whoever holds what. */
int morph_place_possible(struct morph_fabric *fabric, u32 count, struct morph_refusal *refusal);
/*
 * Choose count accelerators close to each other; best fit on one host, else
 * neighbouring hosts. fabric->lock held. The cost follows count, not the fabric.
 */
int morph_place(struct morph_fabric *fabric, u32 count, u32 *chosen,
		struct morph_refusal *refusal);
/* Check an explicit list: exists, no duplicates, free, fit, not spare. fabric->lock held. */
int morph_place_check(struct morph_fabric *fabric, const u32 *accelerators, u32 count,
		      struct morph_refusal *refusal);
/*
 * The spare that may replace an accelerator of the slice, at position skip: that which the
 * slice has of its own, the preferred one, or MORPH_ANY, and then the others by distance.
 */
u32 morph_place_spare(struct morph_slice *slice, u32 accelerator, u32 preferred, u32 skip);
/* Is it a spare that may replace it, and could do so now? fabric->lock held. */
bool morph_place_allows(struct morph_slice *slice, u32 accelerator, u32 spare);

/*
 * Accelerators are under test: wait until some are given back. False: there are none, or
 * a signal came, which makes *ret -EINTR. fabric->lock held, dropped meanwhile.
 */
bool morph_place_wait(struct morph_fabric *fabric, int *ret);

/* Controllers: who decides about which slices, and until when. */

#define MORPH_MAX_CONTROLLERS	256u

/* That a controller has lanes of one guide reserved. Under fabric->lock. */
struct morph_reservation {
	u64 epoch;		/* in which it was last asked for */
};

/* Under fabric->lock. */
struct morph_controller {
	u32 id;
	u32 lanes_count;	/* reserved, over all guides */
	u64 epoch;
	u64 lease_until_ns;	/* CLOCK_BOOTTIME */
	bool told;		/* that the lease of this epoch has run out */
	struct xarray reservations; /* by guide, where it has any */
	u64 *lanes;		/* by guide: those that it has reserved */
	u64 granted, conflicts;	/* reservations that were, and were not to be had */
};

/* Before registration; once the fabric is gone; and at its very end. */
void morph_controller_init(struct morph_fabric *fabric);
void morph_controller_stop(struct morph_fabric *fabric);
void morph_controller_free(struct morph_fabric *fabric);

/* Acts of administrators; each takes the lock itself. */
int morph_controller_take(struct morph_fabric *fabric, u32 id, u64 epoch, u64 lease_ns, bool force,
			  struct morph_refusal *refusal);
int morph_controller_renew(struct morph_fabric *fabric, u32 id, u64 epoch, u64 lease_ns,
			   struct morph_refusal *refusal);
/* *last is what it was. */
int morph_controller_drop(struct morph_fabric *fabric, u32 id, struct morph_controller *last,
			  struct morph_refusal *refusal);
/* 0: to none. */
int morph_controller_assign(struct morph_slice *slice, u32 id, struct morph_refusal *refusal);

/* What a controller wants reserved of a guide, instead of what it has. */
struct morph_lanes_wanted {
	u32 controller;
	u64 epoch;
	u32 guide;
	u32 count;		/* 0: it gives back what it has */
	u64 among;		/* lanes to choose from */
};

/* lanes.c; takes the lock itself. */
int morph_controller_reserve(struct morph_fabric *fabric, const struct morph_lanes_wanted *wanted,
			     struct morph_refusal *refusal);
/* Give back what was last asked for in earlier epochs. */
int morph_controller_settle(struct morph_fabric *fabric, u32 id, u64 epoch,
			    struct morph_refusal *refusal);

/* All below: fabric->lock held. */

/* -ENOENT with the refusal filled where there is no such controller. */
struct morph_controller *morph_controller_find(struct morph_fabric *fabric, u32 id,
					       struct morph_refusal *refusal);
/* May a slice be changed by a request of that token? 0, -EPERM, -ESTALE or -ETIME. */
int morph_controller_permits(struct morph_slice *slice, const struct morph_token *token,
			     struct morph_refusal *refusal);
/* Is that the present epoch, and does its lease run? */
int morph_controller_check(const struct morph_controller *controller, u64 epoch,
			   struct morph_refusal *refusal);
/*
 * What a controller has reserved does not stand in the way from here on, until it is
 * lowered again, in the same hold of the lock. 0, and one that is gone: nothing. O(1).
 */
void morph_controller_lift(struct morph_fabric *fabric, u32 id);
void morph_controller_lower(struct morph_fabric *fabric);
/* All of its reservations go. */
void morph_controller_yield(struct morph_fabric *fabric, struct morph_controller *controller);
u64 morph_controller_lease_left(const struct morph_controller *controller);
u32 morph_controller_slices(struct morph_fabric *fabric, u32 id);

#endif /* MORPH_CORE_SLICE_SLICE_H */

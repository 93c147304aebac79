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

/* Protections: prepared failovers to a spare. */

/* Prepared failover of one rank to a spare: see protection.c. fabric->lock guards all fields. */
struct morph_protection {
	struct morph_slice *slice;
	u32 rank;
	u32 spare;			/* MORPH_ANY: no spare */
	u32 preferred;			/* spare to try first, or MORPH_ANY */
	u32 state;			/* NONE, STALE, CURRENT; see morph_protection_state() */
	struct list_head spare_node;	/* head: morph_chip.protections */
	/* Head: stale_protections or protections_wanted of struct morph_slices. */
	struct list_head stale_node;
	u32 tries;			/* spares tried since it became stale */
	bool queued;			/* stale, and on the worker's list */
	bool waiting;			/* to be rebuilt once the slice, or a borrower, is idle */
	bool held;			/* its routes hold their resources: reserve.c */
	u32 charged;			/* charged lanes, while held */
	struct morph_txn *txn;		/* prepared transaction with all memory for the failover */
};

/* ------------------------------------------------------------- protection.c */

void morph_slices_init(struct morph_fabric *fabric);
void morph_protection_init(struct morph_slice *slice, u32 rank);
void morph_protection_work(struct work_struct *work);
/* Mark the protections stale that depend on a guide, on a route's resources, a spare, or a rank. */
void morph_protection_touch_guide(struct morph_fabric *fabric, u32 guide);
void morph_protection_touch_route(struct morph_fabric *fabric, const struct morph_route *route);
void morph_protection_touch_chip(struct morph_fabric *fabric, u32 accelerator);
void morph_protection_touch_rank(struct morph_slice *slice, u32 rank);
/* The same for all ranks; drops fabric->lock at times. The caller has a reference to the slice. */
void morph_protection_touch_slice(struct morph_slice *slice);
/* A resource of a protection has changed: rebuild the protection. Caller holds fabric->lock. */
void morph_protection_mark_stale(struct morph_protection *protection);
/* The protection lacks resources: retry when a resource becomes free or healthy. */
void morph_protection_await(struct morph_protection *protection);
/* Rebuilds protections of a slice that has become idle. */
extern struct morph_slice_waiter morph_protection_waiter;
void morph_protection_resume(struct morph_slice *slice);
/*
 * Drop the protections of a slice that is dying, or that wants no failover. Caller holds
 * fabric->lock; the function drops it at times.
 */
void morph_protection_drop_slice(struct morph_slice *slice);
/* Return the spare of a rank's protection if both are usable now, or MORPH_ANY. */
u32 morph_protection_spare(const struct morph_slice *slice, u32 rank);
/*
 * Return the prepared failover to this spare, or NULL if it is not current any more. The caller
 * owns it. Items that remove circuits of a borrower lack the borrower. Caller holds fabric->lock.
 */
struct morph_txn *morph_protection_take(struct morph_slice *slice, u32 rank, u32 spare);

/* Urgent work begins: pause the rebuilding of protections until it has ended or 100 ms pass. */
void morph_protection_pause(struct morph_fabric *fabric);
void morph_protection_unpause(struct morph_fabric *fabric);
/* Rebuild stale protections if no repair or release of a slice runs. */
void morph_protection_wake(struct morph_fabric *fabric);
/* enum morph_plan_state, as interfaces report it. */
u32 morph_protection_state(const struct morph_protection *protection);

/* --------------------------------------------------------------- prepared.c */

/* Number of circuits at a rank: at most those that its ports can have. */
u32 morph_rank_circuits(const struct morph_rank *rank);
/*
 * The search for the paths of a protection, in several holds of fabric->lock. A fabric has one,
 * because one worker rebuilds its protections. fabric->lock guards the first fields, because a
 * change may drop the search. The other fields belong to the worker.
 */
struct morph_prepared_search {
	struct morph_protection *protection;	/* NULL: no search has begun */
	u32 spare;
	bool touched;			/* a change has made the search obsolete */
	struct morph_txn *txn;		/* without a slice; with the paths found so far; or NULL */

	struct morph_planning plan;	/* for txn */
	u32 orders;			/* other orders of its circuits that were tried */
	u32 restarts;			/* changes that made the search begin again */
	/* The worker allocates this memory without the lock. */
	struct morph_txn *room;		/* the next txn, or NULL */
	u32 room_items;
	u32 items_wanted;		/* the room needs this number of items */
	struct morph_txn *reserving;	/* needs memory for programming; with a reference */
	u32 settings_wanted;		/* number of element settings of that */
};

/* Begin to search for a failover to a spare. The callers of these hold fabric->lock. */
void morph_prepared_begin(struct morph_prepared_search *search,
			  struct morph_protection *protection, u32 spare);
/*
 * Continue for about @steps steps of the router. The search ignores the claims of the circuits that
 * the failover moves and removes. Their slices are idle during the call. The ledger is as before.
 *
 * Return 0 when search->txn has all memory for the failover, and all paths, which are free now. Or:
 *
 *   -EINPROGRESS	Call morph_prepared_fetch() without the lock, then continue.
 *   -EAGAIN		Other changes have disturbed the search too often.
 *   -ENOMEM		There is no memory for a path.
 *   -ENOSPC		The spare has no paths.
 */
int morph_prepared_continue(struct morph_prepared_search *search, u32 steps);
/* End the search, and free its paths. */
void morph_prepared_drop(struct morph_prepared_search *search);
/* Allocate the memory that the search lacks. Return 0 or -ENOMEM. Only the worker; no lock held. */
int morph_prepared_fetch(struct morph_fabric *fabric, struct morph_prepared_search *search);
/* Free the memory between two searches. Only the worker, or when the fabric has none; no lock. */
void morph_prepared_free(struct morph_prepared_search *search);

/* ---------------------------------------------------------------- reserve.c */

/*
 * While the claims of a reserved slice change, its protections release their claims; then they
 * claim the free part again. The caller holds fabric->lock throughout, so that no other slice can
 * take the resources. Does nothing for other slices.
 */
void morph_reserve_suspend(struct morph_slice *slice);
bool morph_reserve_resume(struct morph_slice *slice);
/* Drop the claims of a protection that is used or freed. Caller holds fabric->lock. */
void morph_reserve_drop(struct morph_protection *protection);
/* Hold a new spare if the old one was used, or is not healthy any more. */
void morph_reserve_replenish(struct morph_slice *slice);

/* Register the tenant's kind, subscriptions and waiters. Only while the module loads. */
void morph_slice_register(void);
/* Like morph_chip_hold(), and mark protections that use the accelerator stale. */
void morph_slice_take_chip(struct morph_slice *slice, u32 accelerator, u32 rank);

/* The slice layer's part of the fabric. fabric->lock guards the fields without other note. */
struct morph_slices {
	struct morph_txns txns;		/* first: structure of the layers below */
	u32 testing;			/* number of accelerators under test */
	u32 tests_ended;		/* how often a test gave one back */
	wait_queue_head_t test_end;
	struct list_head stale_protections;	/* of .stale_node: to be rebuilt */
	struct list_head protections_wanted;	/* of .stale_node: resources not free */
	struct delayed_work protection_work;	/* rebuilds them: protection.c */
	/* While one of the next two is above zero, protection_work pauses. */
	atomic_t urgent;		/* repairs, releases and last closes that run */
	u32 signal_count;		/* parts with signals; signal_lock: struct morph_recovery */
	struct xarray controllers;	/* by number: controller.c */
	u32 controllers_count;
	u32 protection_pauses;		/* in turn; used by protection_work only */
	struct morph_prepared_search search;	/* of protection_work */
	struct hrtimer controller_timer; /* end of the next lease */
	struct work_struct controller_work;
};

static inline struct morph_slices *slices_of(const struct morph_fabric *fabric)
{
	return container_of(txns_of(fabric), struct morph_slices, txns);
}

/* The slice layer's part of a slice. fabric->lock guards all fields. */
struct morph_slice_tenancy {
	struct morph_slice_txns txns;	/* first: structure of the layers below */
	char name[MORPH_NAME_BYTES];
	bool named;
	umode_t mode;
	kuid_t uid;
	u32 files_count;
	u32 state;			/* enum morph_slice_state */
	u32 failover, spare_policy;
	bool reserved;
	bool lost;			/* its fabric is gone, and its owner has the event */
	u32 schedules_count;		/* loaded schedules; their circuits get no protection */
	u32 controller;			/* controller that manages it, or 0 */
	u32 own_spare;			/* reserved spare, or MORPH_ANY */
	u32 spare_list_count;
	u32 *spare_list;		/* for MORPH_SPARES_LIST */
	struct morph_protection *protections;	/* by rank */
	struct morph_turn release_turn;
	struct morph_element_setting teardown_settings[MORPH_TEARDOWN_SETTINGS];
};

static inline struct morph_slice_tenancy *slice_tenancy(const struct morph_slice *slice)
{
	return container_of(slice_txns(slice), struct morph_slice_tenancy, txns);
}

static inline struct morph_protection *rank_protection(const struct morph_slice *slice, u32 rank)
{
	return &slice_tenancy(slice)->protections[rank];
}

/* Parameters of a new slice; filled by the device file or by netlink. */
struct morph_slice_params {
	const u32 *accelerators;	/* NULL: the kernel chooses */
	u32 count;
	const u32 *spares;
	u32 spares_count;
	u32 failover, transit, spare_policy;
	u32 controller;			/* or 0 */
	umode_t mode;
	bool reserved;
	bool lend;				/* admit listed spares */
	bool dry_run;
	bool may_wait;			/* may wait for the end of tests */
	char name[MORPH_NAME_BYTES];	/* empty: no name */
	kuid_t uid;			/* owner of the slice and its device node */
	struct morph_user *user;	/* charged user; the slice takes a reference */
};

/* Check the name of a slice. "" is valid and means no name. */
int morph_slice_check_name(const char *name, struct morph_refusal *refusal);
/* Create a slice; *slice gets it with a reference, or NULL after a dry run. Takes fabric->lock. */
int morph_slice_create(struct morph_fabric *fabric, const struct morph_slice_params *params,
		       struct morph_slice **slice, struct morph_refusal *refusal);
/* Find by number or, if @number is MORPH_ANY, by name; with a reference, or NULL. */
struct morph_slice *morph_slice_find(struct morph_fabric *fabric, u32 number, const char *name);
/* End a named slice. -EBUSY if it is open, unless forced. Takes fabric->lock. */
int morph_slice_delete(struct morph_slice *slice, bool force, struct morph_refusal *refusal);
/* Begin the end of a slice. Never fails or waits. Caller holds fabric->lock. */
void morph_slice_release(struct morph_slice *slice, u32 event_type);
void morph_slice_release_work(struct work_struct *work);
/*
 * Begin the end of a slice that has no circuits and that no other thread is changing. Such an end
 * waits for nobody, so it needs no worker. Return whether it has begun. The caller then drops
 * fabric->lock, calls morph_slice_finish(), and drops a reference.
 */
bool morph_slice_release_unused(struct morph_slice *slice);
void morph_slice_finish(struct morph_slice *slice);
int morph_slice_set_policy(struct morph_slice *slice, u32 failover, struct morph_refusal *refusal);
void morph_slice_fill_info(struct morph_slice *slice, struct morph_slice_info *info);
void morph_rank_fill_info(struct morph_slice *slice, u32 rank, struct morph_rank_info *info);
void morph_circuit_fill_info(struct morph_circuit *circuit, struct morph_circuit_info *info);
u64 morph_slice_bandwidth(struct morph_slice *slice);
/* Fill the common part of an event about a slice. Caller holds fabric->lock. */
void morph_event_init(struct morph_event *event, struct morph_slice *slice, u32 type);
/* Name an accelerator that is behind a rank no more, or one that is now. The same context. */
void morph_event_fill_old(struct morph_event *event, const struct morph_fabric *fabric, u32 old);
void morph_event_fill_new(struct morph_event *event, const struct morph_fabric *fabric, u32 new);
/* Fill a change that moves a circuit, between the present accelerators of its ranks. */
void morph_slice_fill_move(struct morph_item *item, const struct morph_circuit *circuit);

/* Placement: the accelerators of a slice. */

/* -------------------------------------------------------------- placement.c */

/* Check whether the fabric has that many accelerators at all, free or not. */
int morph_place_possible(struct morph_fabric *fabric, u32 count, struct morph_refusal *refusal);
/*
 * Choose @count accelerators close to each other: best fit on one host, else on neighbouring hosts.
 * The cost depends on @count, not on the fabric. Caller holds fabric->lock; if one host is not
 * enough, the function drops it at times. All chosen ones are free at the end, unless other slices
 * have taken some of them again and again.
 */
int morph_place(struct morph_fabric *fabric, u32 count, u32 *chosen,
		struct morph_refusal *refusal);
/* A free accelerator of the host with the most free ones; or MORPH_ANY. Holds fabric->lock. */
u32 morph_place_any(struct morph_fabric *fabric);
/* Check that the accelerators of a list are distinct. May sleep for memory: no lock held. */
int morph_place_distinct(const u32 *accelerators, u32 count, struct morph_refusal *refusal);
/* Check that they exist, are free and healthy; spares only with @lend. Holds fabric->lock. */
int morph_place_check_again(struct morph_fabric *fabric, const u32 *accelerators, u32 count,
			    bool lend, struct morph_refusal *refusal);
/*
 * Return spare number @skip for an accelerator of the slice. The order is: the slice's own spare,
 * the preferred one (or MORPH_ANY), then the others by distance.
 */
u32 morph_place_spare(struct morph_slice *slice, u32 accelerator, u32 preferred, u32 skip);
/* The same, and behind them the spares that are lent to slices. */
u32 morph_place_any_spare(struct morph_slice *slice, u32 accelerator, u32 preferred, u32 skip);
/* Return whether a spare may replace the accelerator, and could do so now. Holds fabric->lock. */
bool morph_place_allows(struct morph_slice *slice, u32 accelerator, u32 spare);

/*
 * Wait until a test gives back accelerators. Return false if no test runs, or after a signal, which
 * sets *ret to -EINTR. Caller holds fabric->lock; the function drops it meanwhile.
 */
bool morph_place_wait(struct morph_fabric *fabric, int *ret);

/* Controllers: assignment of slices, epochs and leases. */

#define MORPH_MAX_CONTROLLERS	256u

/* A reservation of lanes of one guide. fabric->lock guards all fields. */
struct morph_reservation {
	u64 epoch;		/* epoch of the last request */
};

/* A controller. fabric->lock guards all fields. */
struct morph_controller {
	struct kref kref;		/* needs no lock */
	u32 id;
	u32 lanes_count;	/* number reserved, over all guides */
	u64 epoch;
	u64 lease_until_ns;	/* CLOCK_BOOTTIME */
	bool expiry_reported;		/* the end of this epoch's lease was reported */
	struct xarray reservations; /* by guide */
	u64 *lanes;		/* reserved lanes, by guide */
	u64 granted, conflicts;	/* successful and refused reservations */
};

struct morph_controller *morph_controller_ref(struct morph_controller *controller);
void morph_controller_put(struct morph_controller *controller);

/* Call before registration; once the fabric has unregistered; and when it is freed. */
void morph_controller_init(struct morph_fabric *fabric);
void morph_controller_stop(struct morph_fabric *fabric);
void morph_controller_free(struct morph_fabric *fabric);

/* Actions of administrators; each takes fabric->lock. */
int morph_controller_take(struct morph_fabric *fabric, u32 id, u64 epoch, u64 lease_ns, bool force,
			  struct morph_refusal *refusal);
int morph_controller_renew(struct morph_fabric *fabric, u32 id, u64 epoch, u64 lease_ns,
			   struct morph_refusal *refusal);
/* @last gets the final state. */
int morph_controller_drop(struct morph_fabric *fabric, u32 id, struct morph_controller *last,
			  struct morph_refusal *refusal);
/* @id 0: assign to no controller. */
int morph_controller_assign(struct morph_slice *slice, u32 id, struct morph_refusal *refusal);

/* Request of a controller for lanes of a guide; replaces its present reservation. */
struct morph_lanes_wanted {
	u32 controller;
	u64 epoch;
	u32 guide;
	u32 count;		/* 0: give the reservation back */
	u64 among;		/* lanes to choose from */
};

/* In lanes.c. Takes fabric->lock. */
int morph_controller_reserve(struct morph_fabric *fabric, const struct morph_lanes_wanted *wanted,
			     struct morph_refusal *refusal);
/* Give back reservations whose last request has an earlier epoch. */
int morph_controller_settle(struct morph_fabric *fabric, u32 id, u64 epoch,
			    struct morph_refusal *refusal);

/* The caller of the functions below holds fabric->lock. */

/* Return ERR_PTR(-ENOENT) and fill the refusal if there is no such controller. */
struct morph_controller *morph_controller_find(struct morph_fabric *fabric, u32 id,
					       struct morph_refusal *refusal);
/* Check whether the token may change the slice: 0, -EPERM, -ESTALE or -ETIME. */
int morph_controller_permits(struct morph_slice *slice, const struct morph_token *token,
			     struct morph_refusal *refusal);
/* Check whether the epoch is the present one and its lease is valid. */
int morph_controller_check(const struct morph_controller *controller, u64 epoch,
			   struct morph_refusal *refusal);
/*
 * Ignore a controller's reservations until morph_controller_lower(), under the same hold of the
 * lock. Does nothing if @id is 0 or the controller is gone. O(1).
 */
void morph_controller_lift(struct morph_fabric *fabric, u32 id);
void morph_controller_lower(struct morph_fabric *fabric);
/* Drop all reservations of the controller. */
void morph_controller_yield(struct morph_fabric *fabric, struct morph_controller *controller);
u64 morph_controller_lease_left(const struct morph_controller *controller);
u32 morph_controller_slices(struct morph_fabric *fabric, u32 id);

#endif /* MORPH_CORE_SLICE_SLICE_H */

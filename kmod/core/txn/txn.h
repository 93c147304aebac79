/* SPDX-License-Identifier: GPL-2.0-only */
/* Transactions: atomic changes to the circuits of a slice. */
#ifndef MORPH_CORE_TXN_TXN_H
#define MORPH_CORE_TXN_TXN_H

#include <linux/hrtimer.h>
#include <linux/kref.h>

#include "core/base/base.h"
#include "core/hardware/hardware.h"
#include "core/ledger/ledger.h"

/* -------------------------------------------------------------------- txn.c */

/* The transaction layer's part of the fabric. fabric->lock guards all fields. */
struct morph_txns {
	struct morph_ledger ledger;
	struct xarray txns;		/* by id: prepared, running, and recently ended */
	u32 txn_next;			/* last assigned id */
	struct morph_txn *ended[MORPH_TXN_HISTORY];	/* ended ones; circular, references */
	u32 ended_first, ended_count;
	size_t ended_bytes;
	u32 effort;			/* of a search in one hold; tests change it */
};

static inline struct morph_txns *txns_of(const struct morph_fabric *fabric)
{
	return (struct morph_txns *)container_of(fabric, struct morph_txns,
						 ledger.hardware.fabric);
}

/* The transaction layer's part of a slice. fabric->lock guards all fields. */
struct morph_slice_txns {
	struct morph_slice slice;	/* first: structure of the layer below */
	struct list_head txns;		/* prepared, or running change by change; morph_txn.node */
	struct morph_txn *last_txn;	/* last commit with a cookie; with a reference */
	struct morph_txn *idle_txn;	/* memory for the next one with one change; xchg() */
	struct morph_txn *records[MORPH_TXN_RECORDS];	/* last prepared ones; with references */
	u32 records_next;
	bool comes_in;			/* has, or had, circuits that come in over an edge */
};

static inline struct morph_slice_txns *slice_txns(const struct morph_slice *slice)
{
	return (struct morph_slice_txns *)container_of(slice, struct morph_slice_txns, slice);
}

/* The transaction layer's part of a circuit. fabric->lock guards all fields. */
struct morph_circuit_txns {
	struct morph_circuit circuit;	/* first: structure of the layer below */
	struct morph_txn *pending;	/* transaction that is changing it */
};

static inline struct morph_circuit_txns *circuit_txns(const struct morph_circuit *circuit)
{
	return (struct morph_circuit_txns *)container_of(circuit, struct morph_circuit_txns,
							 circuit);
}

enum morph_txn_kind_id {
	MORPH_TXN_TENANT,	/* request of the slice's owner or an administrator */
	MORPH_TXN_REPAIR,	/* failover and rerouting */
	MORPH_TXN_TEST,		/* hardware-test and other actions without circuits */
	MORPH_TXN_OF_SCHEDULE,	/* a step of a schedule, which holds its resources: schedule.h */
	MORPH_TXN_KINDS,
};

/*
 * A kind of transactions: the part that depends on the layer that creates them. Operations may be
 * NULL. The caller holds fabric->lock.
 */
struct morph_txn_kind {
	bool checked;		/* check the request against the tenant's rights */
	bool charged;		/* charge lanes and memory to the user's quota */
	bool ends_given;	/* the creator has set the ends of new routes */
	bool looks_in;		/* read incoming light before the publication */
	bool silent;		/* do not report its publication to operators and planners */
	bool exclusive;		/* no other slice has the elements: turn after old light is out */
	bool recovers;		/* a repair: does not queue another repair on failure */
	/* Return whether the token permits the transaction: 0, -EPERM, -ESTALE or -ETIME. */
	int (*permits)(struct morph_slice *slice, const struct morph_token *token,
		       struct morph_refusal *refusal);
	/* Between these two calls the reservations that it may use do not block its path search. */
	void (*lift_reservations)(struct morph_txn *txn);
	void (*lower_reservations)(struct morph_fabric *fabric);
	/*
	 * While the slice's claims change, protections and schedules release what they hold for it.
	 * Afterwards they hold the free part: resume_first before elements are parked, the rest
	 * later. The last returns false if a protection holds nothing any more.
	 */
	void (*suspend_holds)(struct morph_txn *txn);
	void (*resume_first)(struct morph_slice *slice);
	bool (*resume_holds)(struct morph_slice *slice);
	/* Return the claims of a new route to their previous holder. NULL: release them. */
	void (*give_claims)(struct morph_circuit *circuit);
	/* Its circuits are published: called before and after other readers see them. */
	void (*published)(struct morph_txn *txn);
	void (*announced)(struct morph_txn *txn);
	/* The claims are settled. If set, the kind does this instead of the default reports. */
	void (*settle)(struct morph_txn *txn, bool published);
};

/* Only while the module loads. */
void morph_txn_kind_register(enum morph_txn_kind_id id, const struct morph_txn_kind *kind);

/* One change of a transaction, resolved. Guarded like outcome of struct morph_txn. */
struct morph_item {
	struct morph_change change;	/* the request; status and results are filled in */
	const u32 *guides;		/* explicit path, or NULL: one of the next two fields */
	u32 few_guides[MORPH_FEW_GUIDES];
	u32 *many_guides;		/* allocated for the item, or NULL */
	struct morph_slice *borrower;	/* for REMOVE of its circuit by another slice; or NULL */
	u32 kept_number;		/* for the circuit of an ADD; or 0 */
	struct morph_circuit *circuit;
	struct morph_route *old;	/* REMOVE, MOVE; NULL for ADD */
	struct morph_route *new;	/* ADD, MOVE; NULL for REMOVE */
	u32 new_src, new_dst;		/* accelerators of the new route, or OPTICS_EDGE | edge */
	bool seen;			/* half circuit: light at the last reading */
	bool broken_first;		/* old must be dark before new can be lit */
	bool dead;			/* old has lost its light: repair */
	bool light_changed;		/* report that the circuit is lit or dark now */
	bool light_moves;		/* new is lit, and old not dark yet */
	bool unlit;			/* new stays dark: one of its ends has no accelerator */
	u32 alarms;			/* alarms of the circuit at staging */
	u64 dark_since_ns;
	struct morph_culprit culprit;
};

/* The hop of a new route that needs a setting. */
struct morph_turned {
	const struct morph_route *route;
	const struct optics_hop *hop;
};

struct morph_txn {
	/* Memory for validation and programming, one block, allocated when the paths are known. */
	struct morph_receiver_reading *reads;
	struct morph_laser_setting *lasers;
	struct optics_path *paths;		/* txn->count entries */
	struct optics_verdict *verdicts;	/* txn->count entries */
	struct morph_element_setting *settings;
	struct morph_turned *turned;		/* of the settings of new routes */
	size_t reads_bytes;		/* size of the block */
	u32 settings_room, reads_room;

	struct kref kref;		/* on reuse the fields from here on are cleared */
	u32 id;				/* 0 until morph_txn_enter() */
	struct morph_fabric *fabric;	/* without a reference: slice or caller has one */
	struct morph_slice *slice;	/* with a reference until the end, or NULL */
	u32 slice_number;		/* kept after the end; 0: none */
	gfp_t gfp;			/* flags for its allocations */
	struct morph_txn_memory *memory;	/* for those under fabric->lock; NULL: use gfp */
	struct morph_chunk *chunk;	/* memory of its routes, of the caller; or NULL */
	/* Head: morph_slice_txns.txns, while prepared, unconfirmed, or running change by change. */
	struct list_head node;
	const struct morph_txn_kind *kind;	/* of morph_txn_kinds; initially a tenant's */
	u32 flags;			/* MORPH_TXN_* flags */
	u64 cookie, generation, lease_ns;
	struct morph_token token;
	struct morph_culprit target;	/* for MORPH_TXN_TEST */
	bool accept;			/* for MORPH_TXN_TEST: accept a replaced accelerator */

	/* Guarded by fabric->lock, or owned by the executing thread while outcome is RUNNING. */
	u32 outcome;			/* enum morph_outcome */
	int status;			/* negative errno, or 0 */
	struct morph_refusal refusal;
	struct morph_hw_session session;	/* operations of the device and their times */
	u64 seq;
	u32 count;
	bool staged;			/* claims are held */
	bool reclaims;			/* removes circuits of slices that have borrowed spares */
	bool keep_old;			/* committed under a lease */
	bool verified;			/* MORPH_TXN_VERIFY has verified all light */
	u32 queued_from;		/* outcome before a step was queued, or 0 */
	u32 stepping_from;		/* outcome before the running queued step, or 0 */
	u64 lease_until_ns;		/* CLOCK_BOOTTIME */
	struct hrtimer lease_timer;
	struct morph_turn lease_turn;
	struct morph_user *lease_user;	/* of lease_turn; with a reference while the timer runs */
	struct work_struct run_work;	/* for transactions queued by netlink */
	u32 rank, spare;		/* for a replacement: affected rank, chosen spare */
	u32 repeats;			/* number of the transaction that it repeats, or 0 */
	size_t charged;			/* charged bytes, while kept: morph_txn_charge() */
	void *context;			/* data of its kind */
	struct morph_planning *plan;	/* while its paths are searched; of that thread */

	struct morph_item items[];	/* count entries */
};

/* By enum morph_txn_kind_id. Constant after the module has loaded. */
extern const struct morph_txn_kind *morph_txn_kinds[MORPH_TXN_KINDS];

/*
 * Build a transaction from changes in kernel memory; @changes NULL: the caller fills the items.
 * guides[i], if not NULL, is the explicit path of change i with change.guides.count entries. The
 * transaction takes ownership of it.
 */
struct morph_txn *morph_txn_alloc(struct morph_slice *slice, const struct morph_change *changes,
				  u32 **guides, u32 count, u32 flags, gfp_t gfp);
/* A transaction without a slice: an action on hardware, or that of a protection. */
struct morph_txn *morph_txn_alloc_bare(struct morph_fabric *fabric, u32 count, gfp_t gfp);
/* Only while the module loads. */
void morph_txn_register(void);
/* Largest size of a slice's idle_txn. */
size_t morph_txn_idle_bytes(void);
struct morph_txn *morph_txn_get(struct morph_txn *txn);
void morph_txn_put(struct morph_txn *txn);
/*
 * Charge the memory of a transaction that is kept while it does not run: prepared, recorded, or a
 * protection. With @refusal NULL, charge beyond the limit if necessary.
 */
int morph_txn_charge(struct morph_txn *txn, struct morph_user *user,
		     struct morph_refusal *refusal);
void morph_txn_uncharge(struct morph_txn *txn, struct morph_user *user);
/* Charged bytes of a transaction. */
size_t morph_txn_bytes(const struct morph_txn *txn);
/* Find by id and take a reference, or return NULL. Caller holds fabric->lock. */
struct morph_txn *morph_txn_find(struct morph_fabric *fabric, u32 id);
/* Run to the end in this thread, for the device file. Takes the locks and waits. */
int morph_txn_run(struct morph_txn *txn);
/*
 * Assign a number and queue @run. @run ends the transaction, then drops a reference to it and one
 * to the fabric's device. Takes fabric->lock.
 */
int morph_txn_launch(struct morph_txn *txn, work_func_t run, u32 *id);
/* Assign an id and queue the execution, for netlink. Does not wait for the device. */
int morph_txn_queue(struct morph_txn *txn);
/* Steps of prepared transactions: of the owner, waits for the device; queued by netlink. */
int morph_txn_step(struct morph_txn *txn, u32 verb, u64 lease_ns, struct morph_refusal *refusal);
int morph_txn_step_queue(struct morph_txn *txn, u32 verb, u64 lease_ns,
			 const struct morph_token *token, struct morph_refusal *refusal);
u64 morph_txn_lease_left(struct morph_txn *txn);

/* Limits of a lease in the uapi. */
#define MORPH_LEAST_LEASE_NS	((u64)NSEC_PER_MSEC)
#define MORPH_MOST_LEASE_NS	(3600 * (u64)NSEC_PER_SEC)

static inline bool morph_lease_ok(u64 lease_ns)
{
	return lease_ns >= MORPH_LEAST_LEASE_NS && lease_ns <= MORPH_MOST_LEASE_NS;
}

/*
 * Return the prepared or unconfirmed transaction with the cookie, with a reference, or NULL. It
 * answers a repeated request. Takes fabric->lock.
 */
struct morph_txn *morph_txn_repeated(struct morph_slice *slice, u64 cookie);

/*
 * Find a path for an item and allocate its new route. Pause at @effort, if not 0, and return
 * -EINPROGRESS. @search keeps the search; NULL: drop it. Caller holds fabric->lock.
 */
int morph_txn_find_path(struct morph_txn *txn, struct morph_item *item,
			struct morph_path_search *search, u32 effort, struct optics_refusal *why);

/* ----------------------------------------------------------------- memory.c */

/*
 * Memory of a transaction that is staged. Staging does not sleep under fabric->lock. It ends with
 * -ENOMEM and notes what it wants. Its caller drops the lock, fetches this, and stages again.
 */
struct morph_txn_memory {
	struct morph_stash stash;	/* for circuits and routes */
	u32 settings;			/* wanted in morph_txn_reserve_for(); 0: none */
	bool numbers;			/* numbers for circuits are wanted */
};

/* Whether an allocation has failed since the last fetch. */
bool morph_txn_wants_memory(const struct morph_txn *txn);
/* Allocate what is wanted, if anything. No lock held. Return 0 or -ENOMEM. */
int morph_txn_fetch_memory(struct morph_txn *txn);
/* Free what the transaction did not use. */
void morph_txn_drop_memory(struct morph_txn *txn);

/* ------------------------------------------------------------------- plan.c */

/*
 * The search for the paths of a transaction, in several holds of fabric->lock. The searching thread
 * owns all fields.
 */
struct morph_planning {
	struct morph_txn *txn;
	u32 found;		/* the items before this one have their routes */
	u32 restarts;		/* how often another change took a path */
	bool hint;		/* of a protection: paths are not validated or staged */
	bool yielded;		/* has dropped fabric->lock */
	u32 resolved;		/* items that are resolved, in one hold */
	int unresolved;		/* error of an item that could not be resolved in the last hold */
	u64 end;		/* morph_route_steps() at which this hold ends */
	u32 claims;		/* of new paths in this hold */
	u64 light_seq, marks_seq;	/* of the ledger before the holds were suspended */

	/* The search for item @found, if it takes more than one hold. */
	struct morph_path_search search;
	u32 effort;		/* of a search in one hold; 0: searches do not pause */
	bool needs_memory;	/* a search takes more than one hold, and search.work is NULL */
	bool staging;		/* staging must end in this hold */
	bool parts;		/* staging takes several holds */

	/* Validation of the found paths, in the ledger of @seq. */
	u64 seq;		/* morph_ledger_seq() at the end of the last hold */
	struct optics_path *paths;	/* memory for all items; then the verdicts; or NULL */
	struct optics_verdict *verdicts;
	u32 judged;		/* paths without an error, in the order of the items */
	u32 rejudges;		/* how often another change has made that obsolete */
	int judge_error;	/* of path judge_why.item */
	struct optics_refusal judge_why;
	bool judged_all;	/* or up to the first error: staging takes the result */
	bool needs_paths;	/* @paths is NULL, and the next pause allocates it */
	struct morph_txn_memory memory;

	bool torn;		/* the ledger has changed while the draft copied it */

	/* The refusal of item @found, which staging takes instead of another search. */
	int error;		/* 0: none */
	struct optics_refusal why;
	bool refused;		/* staging has taken it, or the draft has found it */
	int failure;		/* why item @found has no path, also without such a refusal; or 0 */
};

/*
 * Search in one hold of fabric->lock, for about @steps steps of the router. Return whether another
 * hold must follow. The ledger is as before.
 */
bool morph_planning_continue(struct morph_planning *plan, u32 steps);
/* Forget the found paths, and search all of them again. */
void morph_planning_begin_again(struct morph_planning *plan);

/* Find, claim and validate the paths. Unstage undoes it. Caller holds fabric->lock. */
int morph_txn_stage(struct morph_txn *txn);
/*
 * The same, but drop fabric->lock at times while the paths are searched. The caller has entered the
 * slice. For a repair: -ESTALE: other changes have disturbed the search; -ENODEV: the slice or the
 * fabric ends.
 */
int morph_txn_plan_and_stage(struct morph_txn *txn);
/*
 * Allocate the memory for validation and programming; later code does not allocate. If txn->memory
 * is set, the function does not sleep.
 */
int morph_txn_reserve(struct morph_txn *txn);
/* The same, for @changes changes with @settings element settings in total. */
int morph_txn_reserve_for(struct morph_txn *txn, u32 changes, u32 settings);
/* Check ranks, planes and lanes of a change. Fills refusal and change. */
int morph_txn_check_add(struct morph_txn *txn, u32 index);
/* Size of that memory for @changes changes with @settings element settings. */
size_t morph_txn_reads_bytes(u32 changes, u32 settings);
void morph_txn_unstage(struct morph_txn *txn);
/*
 * The same, but drop fabric->lock at times; meanwhile other slices may take what the function has
 * released. The caller has entered the slice, and excludes steps of the transaction.
 */
void morph_txn_unstage_in_parts(struct morph_txn *txn);
void morph_txn_unmark(struct morph_txn *txn);
/* Assign a number for lookups. Caller holds fabric->lock; the function drops it to get memory. */
int morph_txn_enter(struct morph_txn *txn);
/* morph_slice_enter() for a tenant's change, with a reason if the change is not possible now. */
int morph_txn_enter_slice(struct morph_txn *txn, struct morph_refusal *refusal);
/* Whether a thread that has entered the slice and has dropped fabric->lock may continue. */
int morph_txn_check_slice(struct morph_slice *slice, struct morph_refusal *refusal);

/* ------------------------------------------------------------------ lease.c */

void morph_lease_init(struct morph_txn *txn);
void morph_lease_start(struct morph_txn *txn, u64 lease_ns);
/*
 * A failover of another slice may take resources of prepared transactions, but not of committed
 * ones. Revoke one prepared transaction that holds the part. Return whether there was one. Caller
 * holds fabric->lock.
 */
bool morph_txn_revoke_holder(struct morph_fabric *fabric, u32 part, u32 index);
/* Return whether there is such a transaction, and do not revoke it. */
bool morph_txn_has_holder(struct morph_fabric *fabric, u32 part, u32 index);
/* Release the prepared claims of a slice. Caller holds fabric->lock; the function may drop it. */
void morph_txn_revoke_slice(struct morph_slice *slice);
void morph_txn_end(struct morph_txn *txn, u32 outcome, int status);

/* ------------------------------------------------------------------- exec.c */

/*
 * Program, verify, publish or roll back a staged transaction. Sets outcome and status. Caller holds
 * fabric->lock; the function drops it while the device works.
 */
int morph_exec_commit(struct morph_txn *txn, bool keep_old);
/* Verify all committed light. -EAGAIN: a peer's light is missing. Lock as above. */
int morph_exec_verify(struct morph_txn *txn);
void morph_exec_confirm(struct morph_txn *txn);
int morph_exec_revert(struct morph_txn *txn);
/*
 * Park the elements of a route that no route claims any more: collect their settings with a guard
 * pin each, park them, drop a guard pin. Caller holds fabric->lock; morph_park_run() drops it
 * meanwhile.
 */
u32 morph_park_collect(struct morph_fabric *fabric, const struct morph_route *route,
		       struct morph_element_setting *settings, u32 n);
void morph_park_run(struct morph_fabric *fabric, struct morph_hw_session *session,
		    struct morph_element_setting *settings, u32 count);
void morph_park_unguard(struct morph_fabric *fabric, u32 element);
/* Darken routes: lasers off, verify darkness, park. Lock as above. -EIO: still lit. */
int morph_exec_darken(struct morph_fabric *fabric, struct morph_route **routes, u32 count,
		      struct morph_element_setting *settings);

/* ------------------------------------------------------------------- half.c */

/* Verify lasers and elements of a half circuit that leaves, as far as this fabric can read them. */
int morph_half_verify_leaving(struct morph_fabric *fabric, struct morph_hw_session *session,
			      const struct morph_route *route, bool lit);
/* Verify that all light that came in over edges is dark. Waits for the device; no lock held. */
int morph_half_verify_dark(struct morph_slice *slice);

/* Records of ended transactions. */

/* Caller holds fabric->lock, except for morph_history_free(): the fabric has no users then. */

/* Add a numbered transaction to the history of the fabric, which takes over its reference. */
void morph_history_add(struct morph_txn *txn);
/* Keep a prepared, or the last committed, transaction with a cookie in the slice. */
void morph_history_keep_record(struct morph_txn *txn);
void morph_history_keep_last(struct morph_txn *txn);
/* Find a slice's prepared transaction by cookie, ended or not; with a reference, or NULL. */
struct morph_txn *morph_txn_find_cookie(struct morph_slice *slice, u64 cookie);
void morph_history_free(struct morph_fabric *fabric);
void morph_history_forget(struct morph_slice *slice);

#endif /* MORPH_CORE_TXN_TXN_H */

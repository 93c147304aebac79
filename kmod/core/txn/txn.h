/* SPDX-License-Identifier: GPL-2.0-only */
/* Transactions: changes to the circuits of a slice, as a whole or not at all. */
#ifndef MORPH_CORE_TXN_TXN_H
#define MORPH_CORE_TXN_TXN_H

#include <linux/hrtimer.h>
#include <linux/kref.h>

#include "core/base/base.h"
#include "core/hardware/hardware.h"
#include "core/ledger/ledger.h"

/* -------------------------------------------------------------------- txn.c */

/* The transaction layer's part of the fabric. Under fabric->lock. */
struct morph_txns {
	struct morph_ledger ledger;
	struct xarray txns;		/* by id: prepared, running, and lately ended */
	u32 txn_next;			/* last id given */
	struct morph_txn *ended[MORPH_TXN_HISTORY];	/* those that ended, counted: a ring */
	u32 ended_first, ended_count;
	size_t ended_bytes;
};

static inline struct morph_txns *txns_of(const struct morph_fabric *fabric)
{
	return (struct morph_txns *)container_of(fabric, struct morph_txns,
						 ledger.hardware.fabric);
}

/* What this layer keeps with a slice. Under fabric->lock. */
struct morph_slice_txns {
	struct morph_slice slice;	/* first: the layer below */
	struct list_head txns;		/* prepared, or run in parts; morph_txn.node */
	struct morph_txn *last_txn;	/* the last commit with a cookie; a reference */
	struct morph_txn *idle_txn;	/* memory for the next change of one circuit; xchg() */
	struct morph_txn *records[MORPH_TXN_RECORDS];	/* the last prepared ones; references */
	u32 records_next;
	bool comes_in;			/* has, or had, circuits that come in over an edge */
};

static inline struct morph_slice_txns *slice_txns(const struct morph_slice *slice)
{
	return (struct morph_slice_txns *)container_of(slice, struct morph_slice_txns, slice);
}

/* What this layer keeps with a circuit. Under fabric->lock. */
struct morph_circuit_txns {
	struct morph_circuit circuit;	/* first: the layer below */
	struct morph_txn *pending;	/* transaction that is changing it */
};

static inline struct morph_circuit_txns *circuit_txns(const struct morph_circuit *circuit)
{
	return (struct morph_circuit_txns *)container_of(circuit, struct morph_circuit_txns,
							 circuit);
}

enum morph_txn_kind_id {
	MORPH_TXN_TENANT,	/* asked for by the slice's owner or an administrator */
	MORPH_TXN_REPAIR,	/* failover and rerouting */
	MORPH_TXN_TEST,		/* hardware-test and other acts without circuits */
	MORPH_TXN_OF_SCHEDULE,	/* a step of one, which holds all that it needs: schedule.h */
	MORPH_TXN_KINDS,
};

/*
 * A kind of transactions: what the layer that makes them adds to each. Operations may be
 * NULL. All are called with fabric->lock held.
 */
struct morph_txn_kind {
	bool checked;		/* what is asked is checked against what a tenant may do */
	bool charged;		/* lanes and memory count against the user's quota */
	bool ends_given;	/* who made it has set the ends of new routes */
	bool looks_in;		/* light that comes in is looked at before it is published */
	bool silent;		/* its publication is no news to operators and planners */
	bool exclusive;		/* elements are the slice's alone: turned once old light is out */
	bool recovers;		/* it repairs: nobody has to be woken to repair what it leaves */
	/* May it be made with a token? 0, -EPERM, -ESTALE or -ETIME. */
	int (*permits)(struct morph_slice *slice, const struct morph_token *token,
		       struct morph_refusal *refusal);
	/* Reservations that it may use do not stand in its way from the one to the other. */
	void (*lift_reservations)(struct morph_txn *txn);
	void (*lower_reservations)(struct morph_fabric *fabric);
	/*
	 * While claims of the slice change, others that hold something for it let go; then
	 * they hold what is left: first those before which nothing is parked, then the rest.
	 */
	void (*suspend_holds)(struct morph_txn *txn);
	void (*resume_first)(struct morph_slice *slice);
	void (*resume_holds)(struct morph_slice *slice);
	/* The claims of a new route go back to whom they are from. NULL: they are released. */
	void (*give_claims)(struct morph_circuit *circuit);
	/* Its circuits have been published: before others see them, and when they have. */
	void (*published)(struct morph_txn *txn);
	void (*announced)(struct morph_txn *txn);
	/* The claims are settled: by the kind, in place of what is done for others. */
	void (*settle)(struct morph_txn *txn, bool published);
};

/* While the module starts. */
void morph_txn_kind_register(enum morph_txn_kind_id id, const struct morph_txn_kind *kind);

/* One change of a transaction, resolved. */
struct morph_item {
	struct morph_change change;	/* as asked; status and results are filled in */
	const u32 *guides;		/* explicit path, or NULL: one of the next two */
	u32 few_guides[MORPH_FEW_GUIDES];
	u32 *many_guides;		/* owned, or NULL */
	struct morph_circuit *circuit;
	struct morph_route *old;	/* REMOVE, MOVE; NULL for ADD */
	struct morph_route *new;	/* ADD, MOVE; NULL for REMOVE */
	u32 new_src, new_dst;		/* accelerators of the new route, or OPTICS_EDGE | edge */
	bool seen;			/* half a circuit: its light, as last looked at */
	bool broken_first;		/* old must be dark before new can be lit */
	bool dead;			/* old carries no light any more: repair */
	bool light_changed;		/* its circuit is lit or dark from now on: report it */
	bool unlit;			/* new stays dark: there is nobody at one of its ends */
	u32 alarms;			/* the circuit's when it was staged */
	u64 dark_since_ns;
	struct morph_culprit culprit;
};

struct morph_txn {
	/* for judging and programming, got when its paths are known: one block, from reads on */
	struct morph_receiver_reading *reads;
	struct morph_laser_setting *lasers;
	struct optics_path *paths;		/* count */
	struct optics_verdict *verdicts;	/* count */
	struct morph_element_setting *settings;
	size_t reads_bytes;		/* of the block */
	u32 settings_room, reads_room;

	struct kref kref;		/* from here on it begins anew when memory is used again */
	u32 id;				/* 0 until it is entered into fabric->txns */
	struct morph_fabric *fabric;	/* not counted: whoever reaches it here holds it */
	struct morph_slice *slice;	/* counted until the transaction has ended, or NULL */
	u32 slice_number;		/* stays, 0: none */
	gfp_t gfp;			/* how it gets memory */
	/* Head: morph_slice_txns.txns, while prepared or unconfirmed, or under way by parts. */
	struct list_head node;
	const struct morph_txn_kind *kind;	/* of morph_txn_kinds; a tenant's to begin with */
	u32 flags;			/* MORPH_TXN_* */
	u64 cookie, generation, lease_ns;
	struct morph_token token;
	struct morph_culprit target;	/* for MORPH_TXN_TEST */
	bool accept;			/* likewise: whatever accelerator is in the place */

	/* fabric->lock, or the executing thread while outcome is RUNNING */
	u32 outcome;			/* enum morph_outcome */
	int status;			/* negative errno, or 0 */
	struct morph_refusal refusal;
	struct morph_hw_session session;	/* its operations, and what they cost */
	u64 seq;
	u32 count;
	bool staged;			/* claims are held */
	bool keep_old;			/* committed under a lease */
	bool verified;			/* MORPH_TXN_VERIFY has seen all its light */
	u32 queued_from;		/* outcome to go on from when a queued step runs, or 0 */
	u32 stepping_from;		/* outcome that a queued step found which runs now, or 0 */
	u64 lease_until_ns;		/* CLOCK_BOOTTIME */
	struct hrtimer lease_timer;
	struct work_struct lease_work;
	struct work_struct run_work;	/* for netlink's queued ones */
	u32 rank, spare;		/* for a replacement: rank concerned, spare to take */
	u32 repeats;			/* number of the one that it repeats, or 0 */
	size_t charged;			/* bytes, while it is kept: morph_txn_charge() */
	void *context;			/* of its kind */

	struct morph_item items[];	/* count */
};

/* By enum morph_txn_kind_id. Constant once the module has started. */
extern const struct morph_txn_kind *morph_txn_kinds[MORPH_TXN_KINDS];

/*
 * Build a transaction from changes in kernel memory; NULL: the caller fills the items.
 * guides[i], if not NULL, is the explicit path of change i, change.guides.count long,
 * and is taken over.
 */
struct morph_txn *morph_txn_alloc(struct morph_slice *slice, const struct morph_change *changes,
				  u32 **guides, u32 count, u32 flags, gfp_t gfp);
/* One without a slice: an act on hardware. */
struct morph_txn *morph_txn_alloc_act(struct morph_fabric *fabric, gfp_t gfp);
/* While the module starts. */
void morph_txn_register(void);
/* The most that this can be. */
size_t morph_txn_idle_bytes(void);
struct morph_txn *morph_txn_get(struct morph_txn *txn);
void morph_txn_put(struct morph_txn *txn);
/*
 * The memory of one that is kept while nobody runs it: prepared, remembered, a protection.
 * Past the limit too if there is no refusal to be filled.
 */
int morph_txn_charge(struct morph_txn *txn, struct morph_user *user,
		     struct morph_refusal *refusal);
void morph_txn_uncharge(struct morph_txn *txn, struct morph_user *user);
/* Its memory, as it is charged. */
size_t morph_txn_bytes(const struct morph_txn *txn);
/* Counted, or NULL. fabric->lock held. */
struct morph_txn *morph_txn_find(struct morph_fabric *fabric, u32 id);
/* Run to the end in this thread: the device file. Takes the locks itself, waits. */
int morph_txn_run(struct morph_txn *txn);
/*
 * Give it a number and queue @run, which ends it and then gives back a reference to the
 * transaction and one to the fabric's device. Takes the lock itself.
 */
int morph_txn_launch(struct morph_txn *txn, work_func_t run, u32 *id);
/* Give it an id and run it from the work queue: netlink. Never waits for a device. */
int morph_txn_queue(struct morph_txn *txn);
/* Prepared transactions. The first is its owner's and waits for the device, the second queues. */
int morph_txn_step(struct morph_txn *txn, u32 verb, u64 lease_ns, struct morph_refusal *refusal);
int morph_txn_step_queue(struct morph_txn *txn, u32 verb, u64 lease_ns,
			 const struct morph_token *token, struct morph_refusal *refusal);
u64 morph_txn_lease_left(struct morph_txn *txn);

/* The uapi's limits of a lease. */
#define MORPH_LEAST_LEASE_NS	((u64)NSEC_PER_MSEC)
#define MORPH_MOST_LEASE_NS	(3600 * (u64)NSEC_PER_SEC)

static inline bool morph_lease_ok(u64 lease_ns)
{
	return lease_ns >= MORPH_LEAST_LEASE_NS && lease_ns <= MORPH_MOST_LEASE_NS;
}

/*
 * The prepared or unconfirmed transaction of that cookie, counted, or NULL: who asks for
 * it again is answered with it. Takes the lock itself.
 */
struct morph_txn *morph_txn_repeated(struct morph_slice *slice, u64 cookie);

/* Find the path of an item's new route, and make that. fabric->lock held. */
int morph_txn_find_path(struct morph_txn *txn, struct morph_item *item, struct optics_refusal *why);

/* Stage: resolve, route, claim, validate. fabric->lock held. Unstage undoes it. */
int morph_txn_stage(struct morph_txn *txn);
/* Memory that judging and programming need; after this nothing allocates. */
int morph_txn_reserve(struct morph_txn *txn);
/* Likewise, for so many changes, with so many element settings. */
int morph_txn_reserve_for(struct morph_txn *txn, u32 changes, u32 settings);
/* Are ranks, planes and lanes of a change such as there are? Fills refusal and change. */
int morph_txn_check_add(struct morph_txn *txn, u32 index);
/* Bytes of it: for so many changes, with so many element settings. */
size_t morph_txn_reads_bytes(u32 changes, u32 settings);
void morph_txn_unstage(struct morph_txn *txn);
void morph_txn_unmark(struct morph_txn *txn);
/* Give it a number by which others find it. fabric->lock held. */
int morph_txn_enter(struct morph_txn *txn);
/* morph_slice_enter() for a change that a tenant wants, which says why it can't be now. */
int morph_txn_enter_slice(struct morph_txn *txn, struct morph_refusal *refusal);

/* ------------------------------------------------------------------ lease.c */

void morph_lease_init(struct morph_txn *txn);
void morph_lease_start(struct morph_txn *txn, u64 lease_ns);
/*
 * Failover of another slice may seize what is prepared, never what is committed:
 * revoke one prepared transaction that holds the part in the way. Returns whether
 * there was one. fabric->lock held.
 */
bool morph_txn_revoke_holder(struct morph_fabric *fabric, u32 part, u32 index);
/* Give back prepared claims of a slice that failover needs. fabric->lock held. */
void morph_txn_revoke_slice(struct morph_slice *slice);
void morph_txn_end(struct morph_txn *txn, u32 outcome, int status);

/* ------------------------------------------------------------------- exec.c */

/*
 * Program, verify, publish or roll back a staged transaction. fabric->lock held,
 * dropped while the device works, held again on return. Leaves outcome and status.
 */
int morph_exec_commit(struct morph_txn *txn, bool keep_old);
/* Is everything lit that was committed? -EAGAIN: not what a peer sends. Lock as above. */
int morph_exec_verify(struct morph_txn *txn);
void morph_exec_confirm(struct morph_txn *txn);
int morph_exec_revert(struct morph_txn *txn);
/*
 * Elements of a route that nobody claims any more are to be parked: collect the settings, with
 * a guard pin on each; park them; let go of a guard pin. fabric->lock held, dropped by the second.
 */
u32 morph_park_collect(struct morph_fabric *fabric, const struct morph_route *route,
		       struct morph_element_setting *settings, u32 n);
void morph_park_run(struct morph_fabric *fabric, struct morph_hw_session *session,
		    struct morph_element_setting *settings, u32 count);
void morph_park_unguard(struct morph_fabric *fabric, u32 element);
/* Darken routes: lasers off, verified dark, parked. Lock as above. -EIO: not dark. */
int morph_exec_darken(struct morph_fabric *fabric, struct morph_route **routes, u32 count,
		      struct morph_element_setting *settings);

/* ------------------------------------------------------------------- half.c */

/* Lasers and elements of half a circuit that leaves: lit, or dark, as far as can be seen here. */
int morph_half_verify_leaving(struct morph_fabric *fabric, struct morph_hw_session *session,
			      const struct morph_route *route, bool lit);
/* Is all dark that came in for a slice over edges? The device works, no lock held. */
int morph_half_verify_dark(struct morph_slice *slice);

/* What is remembered of transactions that ended. */

/* Under fabric->lock, but for morph_history_free(): nobody has that fabric any more. */

/* The fabric's: a transaction with a number, whose reference by the table it takes over. */
void morph_history_add(struct morph_txn *txn);
/* The slice's: one that was prepared, and the last one committed, if they have a cookie. */
void morph_history_keep_record(struct morph_txn *txn);
void morph_history_keep_last(struct morph_txn *txn);
/* A slice's transaction that was prepared with a cookie, ended or not; counted, or NULL. */
struct morph_txn *morph_txn_find_cookie(struct morph_slice *slice, u64 cookie);
void morph_history_free(struct morph_fabric *fabric);
void morph_history_forget(struct morph_slice *slice);

#endif /* MORPH_CORE_TXN_TXN_H */

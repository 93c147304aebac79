/* SPDX-License-Identifier: GPL-2.0-only */
/* Claimed resources: routes with their claims, and half circuits. */
#ifndef MORPH_CORE_LEDGER_LEDGER_H
#define MORPH_CORE_LEDGER_LEDGER_H

#include <linux/kref.h>
#include <linux/uidgid.h>

#include "core/base/base.h"
#include "core/hardware/hardware.h"

/* The list of struct morph_host that an accelerator is on. */
enum morph_listed {
	MORPH_LISTED_NOT,
	MORPH_LISTED_FREE,
	MORPH_LISTED_SPARE,
	MORPH_LISTED_LENT,
};

/* State of one accelerator. fabric->lock guards all fields. */
struct morph_chip {
	struct morph_identity identity;
	u64 serial;			/* of the PCI device that was bound; 0: none */
	struct morph_marks found;	/* identifiers that the last test read */
	bool stranger;			/* quarantined: the last test read another identity */
	bool removed;			/* its PCI device was removed and not replaced */
	bool testing;			/* a test uses it; no slice may get it */
	struct morph_slice *slice;	/* holder, without a reference; cleared before slice ends */
	u32 rank;
	u8 use;				/* enum morph_use, but not DRAINING: morph_chip_use() */
	u8 health;			/* enum morph_health */
	bool cordoned;
	bool spare;			/* becomes a spare again on release */
	bool lent;			/* a spare that is a rank; failover may take it back */
	bool heartbeat_lost;
	u8 listed;			/* enum morph_listed */
	u8 flaps;			/* failures within the flap window */
	u64 last_failed_ns;		/* CLOCK_BOOTTIME */
	u64 hold_until_ns;		/* not allocated before; set after flapping */
	u64 last_verified_ns;
	struct list_head host_node;	/* head: a list of struct morph_host, while healthy */
	struct list_head protections;	/* protections that use it; morph_protection.spare_node */
};

/*
 * Free accelerators of one host, so that placement need not scan the fabric. fabric->lock guards
 * all fields.
 */
struct morph_host {
	struct list_head free;		/* of morph_chip.host_node: free, healthy, not spare */
	struct list_head spares;	/* the same for spares */
	struct list_head lent;		/* the same for lent spares */
	u32 free_count;
	u32 spare_count;
	u32 index;
	struct list_head bucket;	/* head: morph_ledger.hosts_by_free[free_count] */
};

/* The ledger layer's part of the fabric. fabric->lock guards all fields. */
struct morph_ledger {
	struct morph_hardware hardware;
	struct optics_state *state;	/* start of its memory block */
	void *route_work;
	struct optics_hop route_hops[OPTICS_MAX_HOPS];	/* of the path that the router is finding */
	struct hlist_head *guide_routes; /* by guide: struct morph_link of routes and protections */
	struct hlist_head *guide_holds;	/* by guide: struct morph_lanes_held */
	struct morph_chip *chips;	/* by accelerator */
	struct morph_host *hosts;	/* by host */
	struct list_head *hosts_by_free; /* by number of free accelerators, 0 to hosts_max */
	u32 hosts_max;
	u32 free, spares, lent, held, failed, impaired;
	struct list_head slices;	/* of morph_slice.node */
	u32 slices_count;
	u32 ownerless;			/* live routes of no slice: tests by light */
	u64 lit_lanes;			/* of all slices */
	u64 light_seq;			/* number of changes that may affect stray light */
	u64 marks_seq;			/* number of other changes that may affect path searches */
	u64 light_hash;			/* of the states that steps of schedules have turned */
};

static inline struct morph_ledger *ledger_of(const struct morph_fabric *fabric)
{
	return (struct morph_ledger *)container_of(fabric, struct morph_ledger, hardware.fabric);
}

/*
 * A number that changes whenever the result of a path search may change: with claims, marks,
 * reservations and guard pins. Caller holds fabric->lock.
 */
static inline u64 morph_ledger_seq(const struct morph_fabric *fabric)
{
	return ledger_of(fabric)->light_seq + ledger_of(fabric)->marks_seq;
}

/* Memory of several circuits and routes, which have a reference each. */
struct morph_chunk {
	struct kref kref;
	struct morph_user *user;	/* charged for it; outlives it */
	size_t bytes, left;		/* only the owner of the first reference takes memory */
	u64 memory[];
};

/* Position of a route on one guide's list. */
struct morph_link {
	struct hlist_node node;		/* head: morph_ledger.guide_routes[guide] */
	struct morph_route *route;
	u64 lanes_held;			/* while shadowed or held: claimed lanes of this route */
	bool element_held;
	bool element_marked;		/* while held: this route has set OPTICS_HELD */
};

/*
 * Lanes of a guide that a slice holds for circuits that may be dark now. A route of the slice may
 * claim some of them, too. fabric->lock guards all fields.
 */
struct morph_lanes_held {
	struct hlist_node node;		/* head: morph_ledger.guide_holds[guide] */
	const struct morph_slice *slice;
	u64 lanes;
};

enum morph_route_role {
	MORPH_ROUTE_IDLE,	/* claims nothing */
	MORPH_ROUTE_LIVE,	/* claims its whole path */
	MORPH_ROUTE_SHADOW,	/* claims the part that its replacement left unclaimed */
	MORPH_ROUTE_PROTECTION,	/* claims nothing; a protection depends on it */
	MORPH_ROUTE_HELD,	/* of a reserved protection: claims the free part of its path */
};

/* A path with the state of its claims. fabric->lock guards all fields. */
struct morph_route {
	struct optics_path path;	/* .hops points to hops below */
	struct optics_verdict verdict;
	struct morph_circuit *circuit;	/* NULL: the route belongs to no circuit */
	struct morph_protection *protection;	/* for MORPH_ROUTE_PROTECTION and _HELD */
	u32 owner;			/* slice that edges are claimed for */
	u8 role;			/* enum morph_route_role */
	bool whole;			/* shadow: the replacement took over none of its claims */
	u64 tx_held, rx_held;		/* shadow, held: claimed lanes of both ports */
	u64 lit_from_ns;		/* CLOCK_MONOTONIC: when its laser was switched on */
	u32 capacity;
	struct morph_user *user;	/* charged user of the slice, which outlives it; or NULL */
	struct morph_chunk *chunk;	/* its memory, or NULL: its own */
	struct morph_link *links;	/* capacity, behind the hops */
	struct optics_hop hops[];	/* capacity */
};

/*
 * A circuit of a slice. fabric->lock guards all fields. Like the fabric, it has one structure for
 * each layer that adds fields. The structure of a layer begins with the structure of the layer
 * below.
 */
struct morph_circuit {
	struct morph_slice *slice;
	u32 id;
	u32 state;			/* enum morph_circuit_state */
	u32 src_rank, dst_rank;		/* one may be MORPH_RANK_EDGE | edge */
	u32 lanes_count;
	u32 lit_lanes;			/* its part of slice->lit_lanes */
	bool any_src_plane, any_dst_plane;
	bool dark;			/* hardware has reported missing light */
	u32 alarms;			/* number of such reports */
	u64 alarm_since_ns;		/* start of the last alarm that found it lit */
	bool listed;			/* in slice->circuits: has been lit */
	/* While listed; heads: the lists of its ranks. */
	struct hlist_node src_node, dst_node;
	bool scheduled;			/* a schedule lights it in some of its steps */
	u32 searched;			/* by a repair, in vain: see morph_circuit_in_vain() */
	struct morph_chunk *chunk;	/* its memory, or NULL: its own */
	struct morph_route *route;	/* NULL only during setup */
	s32 power_mdbm;
	u64 dark_ns;
	u64 last_verified_ns;
};

/* True for circuits that their slice and operators see: lit, or held by a prepared transaction. */
static inline bool morph_circuit_shown(const struct morph_circuit *circuit)
{
	return circuit->listed || circuit->state == MORPH_CIRCUIT_PREPARED;
}

/* A rank of a slice. fabric->lock guards all fields. */
struct morph_rank {
	u32 accelerator;
	u32 first;			/* its accelerator when the slice was created */
	u32 replacements;
	bool failed;			/* its accelerator awaits replacement */
	/* Listed circuits that begin or end at the rank: .src_node, .dst_node. */
	struct hlist_head sends, receives;
};

/*
 * The ledger layer's part of a slice. The structures of the other layers contain it, as with the
 * fabric; slice_txns(), slice_tenancy() and the like find them. Arrays by rank follow in the same
 * memory.
 */
struct morph_slice {
	/* constant after creation, besides kref, rcu and owner_module */
	struct kref kref;
	struct rcu_head rcu;
	struct morph_fabric *fabric;	/* with a reference */
	struct module *owner_module;	/* module of the provider, pinned until the slice or
					 * the fabric ends
					 */
	struct morph_user *user;	/* charged user, with a reference */
	size_t bytes;			/* charged for the slice structure */
	u32 number;			/* index in morph_slices; owner of edges in the ledger */

	/* fabric->lock */
	struct list_head node;		/* head: morph_ledger.slices */
	u32 transit;			/* enum morph_transit */
	/* Some readers of the next three fields take no lock. */
	bool dying;			/* no new work; teardown is queued or done */
	bool repairing;			/* repair_work is queued or runs */
	bool busy;			/* a change is under way */
	bool watched;			/* a higher layer wants reports of its light */
	u32 waiting;			/* bits of the components that wait for it to be idle */
	u64 generation;
	u32 ranks_count;
	u32 circuits_count;
	u64 lit_lanes;			/* of all listed circuits that are lit */
	struct morph_rank *ranks;
	struct xarray circuits;		/* by id */
	struct morph_route *idle_route;	/* memory for the next route */

	wait_queue_head_t idle;		/* waits for busy or repairing to become false */
};

/*
 * A component that waits for slices to become idle, or keeps data with slices. Components register
 * when the module loads and are served in the order of registration.
 */
struct morph_slice_waiter {
	/*
	 * Initialise the component's zeroed part of a new slice. Return 0 or -ENOMEM. May be NULL.
	 * @by_rank is the component's array by rank, in the memory of the slice.
	 */
	int (*created)(struct morph_slice *slice, void *by_rank);
	/* No change holds the slice. Caller holds fabric->lock. NULL: the component never waits. */
	void (*idle)(struct morph_slice *slice);
	/* Free the memory that the slice's parts point to; no reference is left. May be NULL. */
	void (*released)(struct morph_slice *slice);
	size_t rank_bytes;		/* size of an entry of its array by rank, or 0 */
	u32 bit;			/* in slice->waiting */
};

void morph_slice_waiter_register(struct morph_slice_waiter *waiter);
/* Start or stop to wait for idle(), which morph_slice_leave() calls. Caller holds fabric->lock. */
static inline void morph_slice_wait(struct morph_slice *slice,
				    const struct morph_slice_waiter *waiter)
{
	slice->waiting |= waiter->bit;
}

static inline void morph_slice_wait_cancel(struct morph_slice *slice,
					   const struct morph_slice_waiter *waiter)
{
	slice->waiting &= ~waiter->bit;
}

/* ------------------------------------------------------------------ chunk.c */

/* Allocate and charge it. ERR_PTR: -EDQUOT with @refusal, or -ENOMEM. No lock held. */
struct morph_chunk *morph_chunk_alloc(struct morph_user *user, size_t bytes,
				      struct morph_refusal *refusal);
/* Take zeroed memory, with a reference to the chunk; or return NULL. */
void *morph_chunk_take(struct morph_chunk *chunk, size_t bytes);
void morph_chunk_put(struct morph_chunk *chunk);

/* ------------------------------------------------------------------ claim.c */

struct morph_route *morph_route_alloc(u32 capacity, gfp_t gfp);
/* The same from a stash, without sleeping. */
struct morph_route *morph_route_take(u32 capacity, struct morph_stash *stash);
/* Make a route in the memory of a chunk; or return NULL. */
struct morph_route *morph_route_place(struct morph_chunk *chunk, u32 capacity);
/* Charged bytes of a route. */
size_t morph_route_bytes(u32 capacity);
void morph_route_free(struct morph_route *route);
/* Take the slice's idle route, or return NULL; keep a route without claims. Holds fabric->lock. */
struct morph_route *morph_route_reuse(struct morph_slice *slice, u32 capacity);
void morph_route_keep(struct morph_slice *slice, struct morph_route *route);
/* Claim a path with checks against the ledger; or take previous claims back without checks. */
int morph_route_claim(struct morph_fabric *fabric, struct morph_route *route,
		      struct optics_refusal *why);
void morph_route_reclaim(struct morph_fabric *fabric, struct morph_route *route);
/*
 * Claim the path of a route that stays idle, for searches of the caller. The caller ends this under
 * the same hold of fabric->lock, so no other thread sees the claims.
 */
int morph_route_try(struct morph_fabric *fabric, const struct morph_route *route,
		    struct optics_refusal *why);
/* The same without checks: morph_ledger_seq() is that of the last try. */
void morph_route_try_again(struct morph_fabric *fabric, const struct morph_route *route);
void morph_route_try_end(struct morph_fabric *fabric, const struct morph_route *route);
/*
 * A long search drops fabric->lock after this number of steps of the router, or after this effort
 * of one search; see optics_route_continue(). A new path counts as MORPH_CLAIM_STEPS. On a pod of
 * 4,096 accelerators a step takes as long as 2.4 ioctls on /dev/null.
 */
#define MORPH_HOLD_STEPS	192u
#define MORPH_STEP_EFFORT	3u
#define MORPH_HOLD_EFFORT	(MORPH_STEP_EFFORT * MORPH_HOLD_STEPS)
#define MORPH_JUDGE_EFFORT	1536u	/* of optics_validate_part(), instead of these steps */
#define MORPH_CLAIM_STEPS	8u
#define MORPH_MOST_RESTARTS	3u	/* of a search that other changes have made obsolete */

/* All steps of the router so far. They change only under fabric->lock. */
static inline u64 morph_route_steps(const struct morph_fabric *fabric)
{
	return atomic64_read(&fabric->stats[MORPH_STAT_ROUTE_STEPS]);
}

/* An element without a pin counts as parked: the code that released it parks it. */
void morph_path_park(struct morph_fabric *fabric, const struct optics_path *path);
/* Release the claims of optics_claim(). */
void morph_path_unclaim(struct morph_fabric *fabric, const struct optics_path *path);
/* Claim the unclaimed part of a released route, so that it can be restored later. */
void morph_route_shadow(struct morph_fabric *fabric, struct morph_route *route);
/* Release the claims of a live route or a shadow. */
void morph_route_release(struct morph_fabric *fabric, struct morph_route *route);
/*
 * Claim the free part of a protection's path, and keep other paths from joining the elements that
 * the protection must turn. Return the lanes of which it claims a part. Unhold undoes it.
 */
u32 morph_route_hold(struct morph_fabric *fabric, struct morph_route *route);
void morph_route_unhold(struct morph_fabric *fabric, struct morph_route *route);
/* Return whether a circuit's route is free of failed hardware. Caller holds fabric->lock. */
bool morph_route_is_healthy(struct morph_fabric *fabric, const struct morph_route *route);

/*
 * A search for a path that pauses, in memory of its own. The thread that has allocated the memory
 * owns all fields.
 */
struct morph_path_search {
	void *work;			/* NULL: no memory */
	size_t bytes;
	struct morph_user *user;	/* charged, with a reference of the caller; or NULL */
	bool running;			/* has paused; false: a search starts */
	bool stale;			/* the ledger has changed since it started */
	bool all_planes;		/* the search over ports without failed lanes has failed */
	u64 seq;			/* morph_ledger_seq() at the last pause */
	u32 restarts;			/* how often another change has made it obsolete */
	u32 steps;			/* steps that the statistics have counted */
};

/*
 * A private copy of the ledger, in which its owner searches paths without fabric->lock. The ledger
 * changes meanwhile, so only a claim in the ledger shows whether a path is free.
 */
struct morph_draft {
	struct optics_state *state;	/* start of its memory block */
	void *work;			/* memory for a search */
	struct morph_user *user;	/* charged */
	size_t bytes;			/* of memory */
	size_t copied;			/* end of the bytes of the state that are copied */
	struct optics_hop hops[OPTICS_MAX_HOPS];	/* of the path that is being found */
};

/* A request for a path. */
struct morph_path_request {
	struct morph_slice *slice;
	const struct morph_change *change;
	const u32 *guides;		/* explicit path, or NULL */
	u32 src, dst;			/* accelerators, or OPTICS_EDGE | edge */
	bool charged;			/* do not charge its memory beyond the user's limit */
	gfp_t gfp;
	struct morph_stash *stash;	/* allocate from it and do not sleep; NULL: use gfp */
	struct morph_chunk *chunk;	/* memory of the route; or NULL */
	u32 effort;			/* pause at it: optics_route_continue(); 0: do not pause */
	struct morph_path_search *search;	/* keeps a search that has paused; NULL: drop it */
	struct morph_draft *draft;	/* search in it, to the end; NULL: in the ledger */
};

/* draft.c */

/*
 * Allocate and charge a draft; or ERR_PTR: -EDQUOT with @refusal, -ENOMEM. Without @refusal: for a
 * repair, which never fails. No lock held.
 */
struct morph_draft *morph_draft_alloc(struct morph_fabric *fabric, struct morph_user *user,
				      struct morph_refusal *refusal);
/* Begin to copy; copy a part and return whether another one must follow. Holds fabric->lock. */
void morph_draft_begin(struct morph_draft *draft);
bool morph_draft_copy_some(struct morph_draft *draft, struct morph_fabric *fabric);
/*
 * Copy the ledger. Takes fabric->lock for each part, so other threads may change the ledger between
 * two parts. O(fabric).
 */
void morph_draft_copy(struct morph_draft *draft, struct morph_fabric *fabric);
void morph_draft_free(struct morph_draft *draft);

/* path.c */

/*
 * Allocate the memory of a search, and charge the user, if any, for it. @user without @refusal: a
 * repair, whose memory the limit does not refuse. No lock held.
 */
int morph_path_search_alloc(struct morph_path_search *search, struct morph_user *user,
			    struct morph_refusal *refusal);
void morph_path_search_free(struct morph_path_search *search);
/*
 * Search until the end or until @effort. -EINPROGRESS: the search has paused. @search NULL: a pause
 * drops the search. Caller holds fabric->lock.
 */
int morph_path_search_run(struct morph_fabric *fabric, struct morph_path_search *search,
			  const struct optics_route_request *request, u32 effort,
			  struct optics_path *path, struct optics_refusal *why);
/*
 * The end of a hold with a pause, and the beginning of the next hold: the ledger has no claims of
 * the searching thread. A search whose ledger has changed in between starts again. After
 * MORPH_MOST_RESTARTS it continues in spite of changes. Then claims and the validator check its
 * path, and if it finds none, it answers that it gave up.
 */
void morph_path_search_pause(struct morph_fabric *fabric, struct morph_path_search *search);
void morph_path_search_resume(struct morph_fabric *fabric, struct morph_path_search *search);
/* With a draft, no lock is held. */
int morph_path_find(const struct morph_path_request *request, struct morph_route **found,
		    struct morph_refusal *refusal, struct optics_refusal *why);
/* Index of routes and protections by guide. */
void morph_route_list(struct morph_fabric *fabric, struct morph_route *route);
void morph_route_unlist(struct morph_route *route);

/* claim.c: in drafts */

/* Claim a route in a draft; release there what it claims in the ledger. */
int morph_route_draft(struct morph_fabric *fabric, const struct morph_draft *draft,
		      const struct morph_route *route, struct optics_refusal *why);
void morph_route_undraft(struct morph_fabric *fabric, const struct morph_draft *draft,
			 struct morph_route *route);

/* ------------------------------------------------------------ accelerator.c */

/* Add a chip to, or remove it from, the lists from which the core allocates accelerators. */
void morph_chip_update(struct morph_fabric *fabric, u32 accelerator);
/* Return enum morph_use: an accelerator of a slice that ends is DRAINING. Holds fabric->lock. */
static inline u32 morph_chip_use(const struct morph_chip *chip)
{
	return chip->use == MORPH_USE_HELD && chip->slice && chip->slice->dying ?
	       MORPH_USE_DRAINING : chip->use;
}

bool morph_chip_fit(struct morph_fabric *fabric, u32 accelerator);
/* Add an accelerator to a slice before it gets a rank; remove it. Caller holds fabric->lock. */
void morph_chip_hold(struct morph_slice *slice, u32 accelerator, u32 rank);
void morph_chip_let_go(struct morph_fabric *fabric, u32 accelerator);

/* ---------------------------------------------------------------- health.c */

/*
 * The things that a mark on hardware affects: a rank, or paths. The caller holds fabric->lock while
 * it reads this structure. It must not copy the structure, because .codes may point to .guide.
 */
struct morph_affected {
	struct morph_fabric *fabric;
	struct morph_slice *slice;	/* the slice of the accelerator; or NULL */
	u32 rank;			/* of the accelerator */
	u32 guide;			/* 2 * number of the marked guide */
	u32 count;			/* number of remaining guides */
	const u32 *codes;		/* 2 * guide + direction, for each */
	u64 lanes;			/* only paths with one of these lanes */
	struct morph_link *link;	/* of the last path */
};

/* Return the next affected path, or NULL. A path through two guides may come twice. */
struct morph_route *morph_affected_next(struct morph_affected *affected);
/* The number of parts of a kind, enum morph_part; 0: there is no such kind. */
u32 morph_part_count(const struct morph_fabric *fabric, u32 part);
bool morph_part_exists(const struct morph_fabric *fabric, u32 part, u32 index);
/* Like the function above, but return 0, -EOPNOTSUPP or -ENOENT. */
int morph_health_check_part(struct morph_fabric *fabric, u32 part, u32 index,
			    struct morph_refusal *refusal);
/* Return the marked enum morph_health. Caller holds fabric->lock. */
u32 morph_health_marked(struct morph_fabric *fabric, u32 part, u32 index);
bool morph_health_cordoned(struct morph_fabric *fabric, u32 part, u32 index);
/* Mark an existing part; recovery handles the effects. Caller holds fabric->lock. */
void morph_health_mark(struct morph_fabric *fabric, const struct morph_culprit *culprit, u32 health,
		       struct morph_affected *affected);
/* Exclude an accelerator, element or guide from new paths, or admit it. Holds fabric->lock. */
void morph_health_mark_cordon(struct morph_fabric *fabric, const struct morph_culprit *part,
			      bool cordon, struct morph_affected *affected);

/* ----------------------------------------------------------------- content.c */

extern struct xarray morph_slices;	/* by number; its own lock, read under RCU */

/*
 * Set the bytes of a slice and of a circuit, including the parts of all layers but not the arrays
 * by rank. Call it before the first slice is allocated.
 */
void morph_content_set_sizes(size_t slice, size_t circuit);
/* Charged bytes of a slice. */
size_t morph_slice_bytes(u32 ranks_count);
/* Allocate a slice in one block of memory, not yet published; or return NULL. */
struct morph_slice *morph_slice_alloc(struct morph_fabric *fabric, struct morph_user *user,
				      u32 ranks_count);
void morph_slice_free(struct morph_slice *slice);
void morph_slice_put(struct morph_slice *slice);
/* Unpin the module of the provider before the slice is freed. Any context. */
void morph_slice_unpin(struct morph_slice *slice);
/* Return whether no other slice and no test can have claims. Caller holds fabric->lock. */
static inline bool morph_slice_is_alone(const struct morph_slice *slice)
{
	const struct morph_ledger *ledger = ledger_of(slice->fabric);

	return ledger->slices_count == 1 && !list_empty(&slice->node) && !ledger->ownerless;
}

/* Admit one change at a time. Caller holds fabric->lock; the function drops it while it waits. */
int morph_slice_enter(struct morph_slice *slice, bool repair);
/* Return -ENODEV or -EAGAIN if no change of a tenant may begin or go on. Holds fabric->lock. */
int morph_slice_check(const struct morph_slice *slice);
void morph_slice_leave(struct morph_slice *slice);
/* No change holds the slice, and another condition of waiters has ended. Holds fabric->lock. */
void morph_slice_serve_waiters(struct morph_slice *slice);
/* First number of circuits of schedules. Their numbers are consecutive. */
#define MORPH_SCHEDULE_FIRST_ID	0x1000000u
/*
 * Allocate and charge a circuit, in no table yet. Or ERR_PTR: -EDQUOT with @refusal, -ENOMEM.
 * @stash NULL: the allocation may sleep.
 */
struct morph_circuit *morph_circuit_alloc(struct morph_slice *slice,
					  const struct morph_change *change,
					  struct morph_stash *stash,
					  struct morph_refusal *refusal);
/* Make a circuit in the memory of a chunk; or return NULL. The caller has charged the circuit. */
struct morph_circuit *morph_circuit_place(struct morph_slice *slice,
					  const struct morph_change *change,
					  struct morph_chunk *chunk);
/* Charged bytes of a circuit. */
size_t morph_circuit_bytes(void);
void morph_circuit_free(struct morph_circuit *circuit);
/* The circuit is lit, or not any more: its slice and its ranks list it. Hold fabric->lock. */
void morph_circuit_list(struct morph_circuit *circuit);
void morph_circuit_unlist(struct morph_circuit *circuit);
/* Set the state. Caller holds fabric->lock. */
void morph_circuit_set_state(struct morph_circuit *circuit, u32 state);
/* Update lit_lanes after a change of the state, the route or the listing of a circuit. */
void morph_circuit_count(struct morph_circuit *circuit);
/* Remove a circuit without claims from its slice. Caller holds fabric->lock. */
void morph_circuit_drop(struct morph_circuit *circuit);

/* Half circuits: circuits that leave or enter the fabric at an edge. */

/* Return whether a half circuit leaves or enters the fabric at an edge. */
static inline bool morph_route_leaves(const struct morph_fabric *fabric,
				      const struct morph_route *route)
{
	return optics_end_is_edge(fabric->graph, route->path.rx);
}

static inline bool morph_route_comes_in(const struct morph_fabric *fabric,
					const struct morph_route *route)
{
	return optics_end_is_edge(fabric->graph, route->path.tx);
}

/* The present end of a circuit: an accelerator, or OPTICS_EDGE | edge, which is the same bit. */
static inline u32 morph_end_place(const struct morph_slice *slice, u32 rank)
{
	BUILD_BUG_ON(MORPH_RANK_EDGE != OPTICS_EDGE);
	return rank & MORPH_RANK_EDGE ? rank : slice->ranks[rank].accelerator;
}

/* The plane at the end of a path; an edge has none. */
static inline u32 morph_end_plane(const struct optics_graph *graph, u32 end)
{
	return optics_end_is_edge(graph, end) ? MORPH_PLANE_ANY : end % graph->params.planes;
}

#endif /* MORPH_CORE_LEDGER_LEDGER_H */

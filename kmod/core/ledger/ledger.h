/* SPDX-License-Identifier: GPL-2.0-only */
/* Resources that are held: routes with their claims, and half circuits. */
#ifndef MORPH_CORE_LEDGER_LEDGER_H
#define MORPH_CORE_LEDGER_LEDGER_H

#include <linux/kref.h>
#include <linux/uidgid.h>

#include "core/base/base.h"
#include "core/hardware/hardware.h"

/* What the core knows of one accelerator. All under fabric->lock. */
struct morph_chip {
	struct morph_identity identity;
	u64 serial;			/* of the PCI device that was bound, 0: it has none */
	struct morph_marks found;	/* in its place, when it was tested last */
	bool stranger;			/* quarantined: another one than the known is there */
	bool removed;			/* its PCI device went, and none came back */
	bool testing;			/* a test has it: it is given to nobody */
	struct morph_slice *slice;	/* holder, not counted: cleared before the slice goes */
	u32 rank;
	u8 use;				/* enum morph_use */
	u8 health;			/* enum morph_health */
	bool cordoned;
	bool spare;			/* returns to the spares when it is released */
	bool heartbeat_lost;
	u8 listed;			/* 0: on no list, 1: host's free, 2: host's spares */
	u8 flaps;			/* failures within the flap window */
	u64 last_failed_ns;		/* CLOCK_BOOTTIME */
	u64 hold_until_ns;		/* not given out before, after flapping */
	u64 last_verified_ns;
	struct list_head host_node;	/* head: morph_host.free, while free or spare and fit */
	struct list_head protections;	/* that count on it; of morph_protection.spare_node */
};

/* Free accelerators of one host, so that placement need not scan the fabric. */
struct morph_host {
	struct list_head free;		/* of morph_chip.host_node: free, fit, not spare */
	struct list_head spares;	/* the same for spares */
	u32 free_count;
	u32 spare_count;
	u32 index;
	struct list_head bucket;	/* head: fabric->hosts_by_free[free_count] */
};

/* The ledger layer's part of the fabric. Under fabric->lock. */
struct morph_ledger {
	struct morph_hardware hardware;
	struct optics_state *state;	/* head of its block */
	void *route_work;
	struct optics_hop route_hops[OPTICS_MAX_HOPS];	/* of the path that is being found */
	struct hlist_head *guide_routes; /* by guide: struct morph_link of routes and protections */
	struct morph_chip *chips;	/* by accelerator */
	struct morph_host *hosts;	/* by host */
	struct list_head *hosts_by_free; /* by number of free accelerators, 0 to hosts_max */
	u32 hosts_max;
	u32 free, spares, held, failed, impaired;
	struct list_head slices;	/* of morph_slice.node */
	u32 slices_count;
	u64 light_seq;			/* counts changes of claims, and so of stray light */
};

static inline struct morph_ledger *ledger_of(const struct morph_fabric *fabric)
{
	return (struct morph_ledger *)container_of(fabric, struct morph_ledger, hardware.fabric);
}

/* Position of a route on one guide's list. */
struct morph_link {
	struct hlist_node node;		/* head: fabric->guide_routes[guide] */
	struct morph_route *route;
	u64 lanes_held;			/* while shadowed or held: what of the claim is ours */
	bool element_held;
	bool element_marked;		/* while held: OPTICS_HELD is ours, not to be joined */
};

enum morph_route_role {
	MORPH_ROUTE_IDLE,	/* claims nothing */
	MORPH_ROUTE_LIVE,	/* claims all of its path */
	MORPH_ROUTE_SHADOW,	/* claims what the route in its place has left of it */
	MORPH_ROUTE_PROTECTION,	/* claims nothing; a protection counts on it */
	MORPH_ROUTE_HELD,	/* of a reserved protection: claims what the slice's others left */
};

/* A path with the bookkeeping of its claims. Under fabric->lock. */
struct morph_route {
	struct optics_path path;	/* .hops points to hops below */
	struct optics_verdict verdict;
	struct morph_circuit *circuit;	/* NULL for a route of nobody's */
	struct morph_protection *protection;	/* for MORPH_ROUTE_PROTECTION and _HELD */
	u32 owner;			/* slice that edges are claimed for */
	u8 role;			/* enum morph_route_role */
	bool whole;			/* shadow: nothing of it was taken over */
	u64 tx_held, rx_held;		/* shadow, held: lanes of the ports that are ours */
	u64 lit_from_ns;		/* CLOCK_MONOTONIC: its laser was told to shine then */
	u32 capacity;
	struct morph_user *user;	/* charged; its slice's, which outlives it. Or NULL */
	struct morph_link *links;	/* capacity, behind the hops */
	struct optics_hop hops[];	/* capacity */
};

/*
 * A circuit of a slice. Under fabric->lock. Like the fabric it has one structure for each layer
 * that keeps something with it, and that of a layer begins with that of the layer below.
 */
struct morph_circuit {
	struct morph_slice *slice;
	u32 id;
	u32 state;			/* enum morph_circuit_state */
	u32 src_rank, dst_rank;		/* one of them perhaps MORPH_RANK_EDGE | edge */
	u32 lanes_count;
	bool any_src_plane, any_dst_plane;
	bool dark;			/* hardware says that light is missing */
	u32 alarms;			/* how often it has said so */
	u64 alarm_since_ns;		/* when it was first seen, of the last that found it lit */
	bool listed;			/* in slice->circuits: was lit */
	bool scheduled;			/* a schedule lights it in some steps */
	struct morph_route *route;	/* NULL only while being set up */
	s32 power_mdbm;
	u64 dark_ns;
	u64 last_verified_ns;
};

/* What is lit, or held for a transaction that is prepared: its slice and operators see it. */
static inline bool morph_circuit_shown(const struct morph_circuit *circuit)
{
	return circuit->listed || circuit->state == MORPH_CIRCUIT_PREPARED;
}

struct morph_rank {
	u32 accelerator;
	u32 replacements;
	bool failed;			/* its accelerator is to be replaced */
};

/*
 * A slice: what the ledger keeps of it. The other layers' structures are around this one, as
 * those of the fabric are: slice_txns(), slice_tenancy() and the like find them. Arrays by
 * rank follow in the same memory.
 */
struct morph_slice {
	struct kref kref;
	struct rcu_head rcu;
	struct morph_fabric *fabric;	/* counted */
	struct module *owner_module;	/* pinned provider */
	struct morph_user *user;	/* counted; charged */
	size_t bytes;			/* charged for the slice itself */
	u32 number;			/* index in morph_slices; also the ledger's owner */

	/* fabric->lock */
	struct list_head node;		/* head: fabric->slices */
	u32 transit;			/* enum morph_transit */
	/* Some look at these three without the lock. */
	bool dying;			/* no new work; teardown is queued or done */
	bool repairing;			/* repair_work is to run or runs */
	bool busy;			/* a change is under way */
	bool watched;			/* somebody above follows its light: report it */
	u32 waiting;			/* of those that wait for it to be idle: their bits */
	u64 generation;
	u32 ranks_count;
	u32 circuits_count;
	struct morph_rank *ranks;
	struct xarray circuits;		/* by id */
	struct morph_route *idle_route;	/* memory for the next route */

	wait_queue_head_t idle;		/* busy went false, repairing went false */
};

/*
 * A component that waits for slices to become idle, or keeps memory with them. Registered
 * when the module starts; served in the order of registration.
 */
struct morph_slice_waiter {
	/*
	 * Fill what the component keeps with a new slice, which is zero: 0 or -ENOMEM. Or NULL.
	 * @by_rank is its array by rank, in the memory of the slice.
	 */
	int (*created)(struct morph_slice *slice, void *by_rank);
	/* The slice is idle: nobody changes it. fabric->lock held. NULL: it never waits. */
	void (*idle)(struct morph_slice *slice);
	/* Free what the slice's parts point to: nobody holds the slice any more. Or NULL. */
	void (*released)(struct morph_slice *slice);
	size_t rank_bytes;		/* of an element of its array by rank, or 0 */
	u32 bit;			/* in slice->waiting */
};

void morph_slice_waiter_register(struct morph_slice_waiter *waiter);
/* Call idle() when the slice is left; or no more. fabric->lock held. */
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

/* ------------------------------------------------------------------ claim.c */

struct morph_route *morph_route_alloc(u32 capacity, gfp_t gfp);
/* Memory of a route, as it is charged. */
size_t morph_route_bytes(u32 capacity);
void morph_route_free(struct morph_route *route);
/* One that the slice has kept, or NULL; and keep one that claims nothing. fabric->lock held. */
struct morph_route *morph_route_reuse(struct morph_slice *slice, u32 capacity);
void morph_route_keep(struct morph_slice *slice, struct morph_route *route);
/* Claim, checked against the ledger; or take back what was held before, unchecked. */
int morph_route_claim(struct morph_fabric *fabric, struct morph_route *route,
		      struct optics_refusal *why);
void morph_route_reclaim(struct morph_fabric *fabric, struct morph_route *route);
/* Claim what others have left of a route that was released: it may be wanted back. */
void morph_route_shadow(struct morph_fabric *fabric, struct morph_route *route);
/* Give back what is claimed, whole or as a shadow. */
void morph_route_release(struct morph_fabric *fabric, struct morph_route *route);
/*
 * A protection's route claims what nobody else has of it, and keeps others from joining elements
 * that it will have to turn. Returns the lanes of which it has something. Unhold undoes it.
 */
u32 morph_route_hold(struct morph_fabric *fabric, struct morph_route *route);
void morph_route_unhold(struct morph_fabric *fabric, struct morph_route *route);
/* Is a circuit's route free of failed hardware? fabric->lock held. */
bool morph_route_sound(struct morph_fabric *fabric, const struct morph_route *route);

/* What a path is wanted for. */
struct morph_path_request {
	struct morph_slice *slice;
	const struct morph_change *change;
	const u32 *guides;		/* explicit path, or NULL */
	u32 src, dst;			/* accelerators, or OPTICS_EDGE | edge */
	bool charged;			/* refused for its memory past the user's limit */
	gfp_t gfp;
};

/* path.c */
int morph_path_find(const struct morph_path_request *request, struct morph_route **found,
		    struct morph_refusal *refusal, struct optics_refusal *why);
/* Find routes and protections by guide. */
void morph_route_list(struct morph_fabric *fabric, struct morph_route *route);
void morph_route_unlist(struct morph_route *route);

/* ------------------------------------------------------------ accelerator.c */

/* Put a chip on, or take it off, the lists from which accelerators are given out. */
void morph_chip_update(struct morph_fabric *fabric, u32 accelerator);
bool morph_chip_fit(struct morph_fabric *fabric, u32 accelerator);
/* An accelerator joins a slice, before it takes a rank's place; or leaves it. fabric->lock held. */
void morph_chip_hold(struct morph_slice *slice, u32 accelerator, u32 rank);
void morph_chip_let_go(struct morph_fabric *fabric, u32 accelerator);

/* ---------------------------------------------------------------- health.c */

/*
 * What a mark on hardware affects: a rank, or paths. The caller holds fabric->lock while it reads
 * this structure. It must not copy the structure, because .codes may point to .guide.
 */
struct morph_affected {
	struct morph_fabric *fabric;
	struct morph_slice *slice;	/* the slice of the accelerator; or NULL */
	u32 rank;			/* of the accelerator */
	u32 guide;			/* 2 * the guide that is marked */
	u32 count;			/* guides that remain */
	const u32 *codes;		/* 2 * guide + direction, for each */
	u64 lanes;			/* paths with one of these lanes */
	struct morph_link *link;	/* of the last path */
};

/* The next path that is affected, or NULL. A path through two guides may come twice. */
struct morph_route *morph_affected_next(struct morph_affected *affected);
bool morph_part_exists(struct morph_fabric *fabric, u32 part, u32 index);
/* The same, with a reason: 0, -EOPNOTSUPP or -ENOENT. */
int morph_health_check_part(struct morph_fabric *fabric, u32 part, u32 index,
			    struct morph_refusal *refusal);
/* enum morph_health, as it is marked. fabric->lock held. */
u32 morph_health_marked(struct morph_fabric *fabric, u32 part, u32 index);
bool morph_health_cordoned(struct morph_fabric *fabric, u32 part, u32 index);
/* Mark a part that exists; what follows from that is recovery's. fabric->lock held. */
void morph_health_mark(struct morph_fabric *fabric, const struct morph_culprit *culprit, u32 health,
		       struct morph_affected *affected);
/* Keep new paths away from an accelerator, element or guide, or no more. fabric->lock held. */
void morph_health_mark_cordon(struct morph_fabric *fabric, const struct morph_culprit *part,
			      bool cordon, struct morph_affected *affected);

/* ----------------------------------------------------------------- content.c */

extern struct xarray morph_slices;	/* by number; its own lock, read under RCU */

/*
 * Bytes of a slice and of a circuit with the parts of all layers, arrays by rank apart. Before
 * the first slice.
 */
void morph_content_set_sizes(size_t slice, size_t circuit);
/* Memory of a slice, as it is charged. */
size_t morph_slice_bytes(u32 ranks_count);
/* A slice in one piece of memory, that nobody else has seen yet; or NULL. */
struct morph_slice *morph_slice_alloc(struct morph_fabric *fabric, struct morph_user *user,
				      u32 ranks_count);
void morph_slice_free(struct morph_slice *slice);
void morph_slice_put(struct morph_slice *slice);
/* Admit one change at a time. fabric->lock held, dropped while waiting, held on return. */
int morph_slice_enter(struct morph_slice *slice, bool repair);
void morph_slice_leave(struct morph_slice *slice);
/* Nobody is in the slice, and something else that waiters mind has ended. fabric->lock held. */
void morph_slice_rest(struct morph_slice *slice);
/* Numbers of circuits of schedules begin here: they follow one another. */
#define MORPH_SCHEDULE_FIRST_ID	0x1000000u
/* A circuit that is in no table yet, charged; an error pointer: -EDQUOT with @refusal, -ENOMEM. */
struct morph_circuit *morph_circuit_alloc(struct morph_slice *slice,
					  const struct morph_change *change,
					  struct morph_refusal *refusal);
void morph_circuit_free(struct morph_circuit *circuit);
/* Take a circuit out of its slice; its route claims nothing any more. fabric->lock held. */
void morph_circuit_drop(struct morph_circuit *circuit);

/* Half circuits: those that leave at an edge of the fabric, or come in at one. */

/* Half a circuit: the route leaves at an edge, or comes in at one. */
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

/* Where a circuit's end is now: an accelerator, or OPTICS_EDGE | edge, which is the same bit. */
static inline u32 morph_end_place(const struct morph_slice *slice, u32 rank)
{
	BUILD_BUG_ON(MORPH_RANK_EDGE != OPTICS_EDGE);
	return rank & MORPH_RANK_EDGE ? rank : slice->ranks[rank].accelerator;
}

/* The plane of a path's end; an edge has none. */
static inline u32 morph_end_plane(const struct optics_graph *graph, u32 end)
{
	return optics_end_is_edge(graph, end) ? MORPH_PLANE_ANY : end % graph->params.planes;
}

#endif /* MORPH_CORE_LEDGER_LEDGER_H */

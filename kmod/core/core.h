/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * morph.ko, private to kmod/core.
 *
 * Lock order, outermost first:
 *
 *   morph_registry_lock     mutex: the table of fabrics
 *   fabric->lock            mutex: ledger, slices, circuits, transactions, health
 *   user lock               mutex in user.c: quotas
 *   fabric->event_lock      spinlock: event rings of all files of the fabric
 *
 * fabric->signal_lock and fabric->op_lock are leaf spinlocks, taken with
 * interrupts off, since the provider calls in from any context.
 * The table of slices is read under RCU; an entry is erased before its last
 * reference goes.
 *
 * fabric->srcu is read-held around each single provider operation and nothing
 * else. No lock is ever held while waiting for a device.
 *
 * Lifetime: a fabric is its struct device; a slice, a transaction and a user are
 * counted by kref. A file holds its slice, a slice holds its fabric, a
 * transaction holds its slice. Circuits and routes belong to their slice and are
 * touched under fabric->lock only.
 *
 * A change to light in progress is marked in the ledger by its claims, taken when
 * it is staged and given back when it is published or rolled back; that is why
 * the mutex need not be held while the device works. slice->busy admits one
 * change per slice at a time.
 */
#ifndef MORPH_CORE_H
#define MORPH_CORE_H

#include <linux/cdev.h>
#include <linux/completion.h>
#include <linux/device.h>
#include <linux/hrtimer.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/morph.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/srcu.h>
#include <linux/uidgid.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "optics/optics.h"
#include "core/provider.h"

#define MORPH_MAX_FABRICS	256u
#define MORPH_MAX_CHANGES	1024u
#define MORPH_MAX_RANKS		4096u
#define MORPH_EVENT_SLOTS	64u	/* per open slice file */
#define MORPH_SIGNAL_SLOTS	512u
#define MORPH_ROUTE_STEPS	16384u	/* the router's budget: enough to search all of a rack */
#define MORPH_FEW_GUIDES	16u	/* an explicit path of so many needs no memory of its own */
#define MORPH_SUSPECTS		64u	/* hardware that waits for a test */
#define MORPH_TXN_HISTORY	256u	/* transactions that ended and are still shown */
#define MORPH_TXN_RECORDS	4u	/* prepared ones of a slice that ended, by their cookie */
/* Ledger marks beside those of optics; any mark keeps new paths away. */
#define MORPH_MARK_CHANGING	0x4u	/* a transaction is turning this element */
#define MORPH_MARK_QUARANTINED	0x8u	/* with OPTICS_UNHEALTHY: may be good, must pass a test */
#define MORPH_TEARDOWN_CHUNK	16u	/* circuits darkened at once on release */

/* A repair may wait for memory, but must not come out otherwise for want of it. */
#define MORPH_GFP_REPAIR	(GFP_KERNEL | __GFP_NOFAIL)

struct morph_slice;
struct morph_circuit;
struct morph_txn;
struct morph_user;
struct morph_refusal;

/* -------------------------------------------------------------------- hw.c */

/*
 * Operations submitted to the provider, one after the other; in a transaction or on the
 * stack of who waits. Hashed by id in fabric->ops_in_flight under op_lock.
 */
struct morph_op {
	struct hlist_node node;
	u64 id;
	u32 calls;			/* submitted so far */
	atomic64_t cookie;		/* of the one in flight, or 0 */
	struct completion done;
	int status;
	void *results;
	size_t bytes;
};

/* A piece of hardware that stands in the way, or is to blame. */
struct morph_culprit {
	u32 part;	/* enum morph_part */
	u32 index;
	u64 lanes;	/* for lasers and receivers */
};

/* @txn: whose times it counts in, or NULL. Once it has ended: morph_hw_done(). */
int morph_hw_set_elements(struct morph_fabric *fabric, struct morph_txn *txn,
			  const struct morph_element_setting *settings, u32 count);
int morph_hw_get_elements(struct morph_fabric *fabric, struct morph_txn *txn,
			  struct morph_element_setting *settings, u32 count);
int morph_hw_set_lasers(struct morph_fabric *fabric, struct morph_txn *txn,
			const struct morph_laser_setting *settings, u32 count);
int morph_hw_get_lasers(struct morph_fabric *fabric, struct morph_txn *txn,
			struct morph_laser_reading *readings, u32 count);
int morph_hw_get_receivers(struct morph_fabric *fabric, struct morph_txn *txn,
			   struct morph_receiver_reading *readings, u32 count);
int morph_hw_probe(struct morph_fabric *fabric, struct morph_txn *txn,
		   struct morph_probe *probes, u32 count);
void morph_hw_done(struct morph_txn *txn);
/* What the provider knows an accelerator by now; zeros where it can't tell. */
void morph_hw_identify(struct morph_fabric *fabric, u32 accelerator,
		       struct morph_identity *identity);
int morph_hw_wait(struct morph_fabric *fabric, u64 ns);
void morph_hw_drain(struct morph_fabric *fabric);
void morph_hw_fail_all(struct morph_fabric *fabric, int status);

/* ---------------------------------------------------------------- fabric.c */

/* By what one accelerator is told from another; zeros: it has no such mark. */
struct morph_marks {
	u8 uuid[MORPH_UUID_BYTES];
	u64 serial;			/* PCI Device Serial Number */
};

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
	struct list_head plans;		/* plans that count on it; head of morph_plan.spare_node */
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

enum morph_stat {
	MORPH_STAT_PUBLISHES,
	MORPH_STAT_COMMITTED,
	MORPH_STAT_ROLLED_BACK,
	MORPH_STAT_BROKEN,
	MORPH_STAT_REFUSED,
	MORPH_STAT_REVOKED,
	MORPH_STAT_EXPIRED,
	MORPH_STAT_FAILOVERS,
	MORPH_STAT_FAILOVERS_FAILED,
	MORPH_STAT_PLANS_USED,
	MORPH_STAT_PLANS_INLINE,
	MORPH_STAT_REROUTES,
	MORPH_STAT_ROUTE_STEPS,
	MORPH_STAT_PROVIDER_OPS,
	MORPH_STAT_PROVIDER_ERRORS,
	MORPH_STAT_PROVIDER_TIMEOUTS,
	MORPH_STAT_LATE_COMPLETIONS,
	MORPH_STAT_SIGNALS,
	MORPH_STAT_SIGNALS_LOST,
	MORPH_STAT_EVENTS,
	MORPH_STAT_EVENTS_LOST,
	MORPH_STAT_PATROLS,
	MORPH_STAT_COUNT,
};

struct morph_fabric {
	/* constant after registration */
	struct device dev;
	struct cdev cdev;
	u32 id;
	char name[MORPH_NAME_BYTES];
	u8 uuid[MORPH_UUID_BYTES];
	u8 (*peers)[MORPH_UUID_BYTES];	/* by edge: the fabric at the other side */
	bool simulated;
	void *priv;
	struct module *owner;
	const struct optics_graph *graph;	/* head of its block */

	/* registration */
	struct srcu_struct srcu;
	const struct morph_fabric_ops *ops;	/* NULL when gone; READ_ONCE under srcu */

	/* fabric->lock */
	struct mutex lock;
	u32 state;			/* enum morph_fabric_state; some look without the lock */
	struct optics_state *ledger;	/* head of its block */
	void *route_work;
	struct optics_hop route_hops[OPTICS_MAX_HOPS];	/* of the path that is being found */
	u8 *hw_state;			/* by element: state last programmed and answered */
	u64 *tx_on;			/* by transmit port: lanes whose laser was switched on */
	struct hlist_head *guide_routes; /* by guide: struct morph_link of routes and plans */
	struct morph_chip *chips;	/* by accelerator */
	struct morph_host *hosts;	/* by host */
	struct list_head *hosts_by_free; /* by number of free accelerators, 0 to hosts_max */
	u32 hosts_max;
	u32 free, spares, held, failed, impaired;
	struct list_head slices;	/* of morph_slice.node */
	u32 slices_count;
	struct xarray txns;		/* by id: prepared, running, and lately ended */
	u32 txn_next;			/* last id given */
	struct morph_txn *ended[MORPH_TXN_HISTORY];	/* ring of those that ended, counted */
	u32 ended_next;
	u64 seq;			/* counts publishes, starts at 1 */
	s32 temperature;
	struct morph_times last_failover;
	u32 patrol_next, patrol_element;
	u32 testing;			/* accelerators that tests have */
	u32 tests_ended;		/* how often one was given back */
	wait_queue_head_t test_end;
	u32 rx_blamed;			/* receive port + 1 of the last unexplained darkness */
	struct morph_culprit suspects[MORPH_SUSPECTS];	/* to be tested by patrol: a ring */
	u32 suspect_head, suspect_count;
	struct list_head stale_plans;	/* of morph_plan.stale_node: to be made anew */
	struct list_head planless;	/* of morph_plan.stale_node: what they want is not free */
	u32 degraded;			/* slices in that state */
	u32 recoveries;			/* times that something became free or sound */
	struct delayed_work recover_work; /* lets degraded slices try again: repair.c */

	atomic64_t stats[MORPH_STAT_COUNT];

	spinlock_t event_lock;		/* rings of files; see event.c */

	/* op_lock, irqsave */
	spinlock_t op_lock;
	struct hlist_head ops_in_flight[64];
	u64 last_op;			/* id given */

	/* signal_lock, irqsave */
	spinlock_t signal_lock;
	struct morph_signal *signals;	/* MORPH_SIGNAL_SLOTS */
	u32 signal_head, signal_count;
	bool signals_overrun;		/* some were lost: everything in use is to be checked */
	bool signals_stopped;		/* the provider is gone */

	struct work_struct signal_work;	/* signals to faults: health.c */
	struct delayed_work plan_work;	/* stale plans: plan.c */
	atomic_t urgent;		/* repairs, releases, last files: planning stands back */
	struct delayed_work patrol_work; /* idle accelerators: health.c */
	struct dentry *debugfs;

	/* chardev.c */
	wait_queue_head_t hangup;	/* of poll() on the fabric file */
	bool hung_up;
};

static inline struct morph_fabric *to_morph_fabric(struct device *dev)
{
	return container_of(dev, struct morph_fabric, dev);
}

static inline void morph_stat(struct morph_fabric *fabric, enum morph_stat stat)
{
	atomic64_inc(&fabric->stats[stat]);
}

extern struct mutex morph_registry_lock;
extern struct xarray morph_fabrics;	/* by id; morph_registry_lock */
extern struct xarray morph_slices;	/* by number; its own lock, read under RCU */
extern struct class *morph_class;
extern struct workqueue_struct *morph_wq;	/* unbound, high priority; shared by all fabrics */
/* What netlink has queued: it may wait for what runs on morph_wq, and never the other way. */
extern struct workqueue_struct *morph_act_wq;

/* Find a registered fabric and take a reference to its device, or NULL. */
struct morph_fabric *morph_fabric_find(u32 id);
/* The first registered fabric whose id is at least *id, referenced; sets *id. Or NULL. */
struct morph_fabric *morph_fabric_next(u32 *id);
void morph_fabric_wait_released(void);
/* Answers -ENODEV when the provider is gone. fabric->lock. */
int morph_fabric_check(struct morph_fabric *fabric);
/* -ESTALE when a plan was made for another profile; 0: it does not say for which. */
int morph_fabric_check_profile(struct morph_fabric *fabric, u32 checksum,
			       struct morph_refusal *refusal);
void morph_fabric_fill_info(struct morph_fabric *fabric, struct morph_fabric_info *info);
void morph_accelerator_fill_info(struct morph_fabric *fabric, u32 index,
				 struct morph_accelerator_info *info);
void morph_guide_fill_info(struct morph_fabric *fabric, u32 index, struct morph_guide_info *info);
void morph_element_fill_info(struct morph_fabric *fabric, u32 index,
			     struct morph_element_info *info);
void morph_edge_fill_info(struct morph_fabric *fabric, u32 index, struct morph_edge_info *info);
/* Put a chip on, or take it off, the lists from which accelerators are given out. */
void morph_chip_update(struct morph_fabric *fabric, u32 accelerator);
bool morph_chip_fit(struct morph_fabric *fabric, u32 accelerator);

/* --------------------------------------------------------------- bringup.c */

/* Lasers off, elements parked, receivers dark, accelerators asked. Waits for the device. */
int morph_bringup(struct morph_fabric *fabric);
void morph_bringup_lasers_off(struct morph_fabric *fabric);

/* --------------------------------------------------------------- refusal.c */

/*
 * Why a request was refused: the optics' refusal with the core's own reasons,
 * and a sentence for people.
 */
struct morph_refusal {
	int error;		/* negative errno */
	u32 reason;		/* enum morph_reason */
	u32 part;
	u32 index;
	u32 item;		/* change concerned, or MORPH_ANY */
	s64 have;
	s64 need;
	const char *fixed;	/* the sentence without numbers, or NULL: that of the reason */
	char text[160];
};

int __printf(6, 7) morph_refuse(struct morph_refusal *refusal, int error, u32 reason, u32 part,
				u32 index, const char *format, ...);
/* The same for a sentence with numbers or names, and one that says it without. */
int __printf(7, 8) morph_refuse_fixed(struct morph_refusal *refusal, int error, u32 reason,
				      u32 part, u32 index, const char *fixed, const char *format,
				      ...);
int morph_refuse_optics(struct morph_refusal *refusal, int error,
			const struct optics_refusal *why);

/* ------------------------------------------------------------------ user.c */

/* What one user may hold; all bits set: no limit. Replacements: of each slice in an hour. */
struct morph_limits {
	u32 accelerators, circuits, lanes, prepared, replacements;
	u64 bytes;
};

/* Who is charged: a user, or a grant, whoever has it. Counted. Use: the user lock. */
struct morph_user {
	struct kref kref;
	struct hlist_node node;		/* of users, by uid */
	kuid_t uid;			/* of a user */
	u32 grant;			/* number of a grant; 0: a user */
	bool has_limits;		/* else the default applies */
	struct morph_limits limits;
	struct morph_limits used;	/* without replacements: the slices have them */
};

enum morph_resource {
	MORPH_RES_ACCELERATORS,
	MORPH_RES_CIRCUITS,
	MORPH_RES_LANES,
	MORPH_RES_PREPARED,
	MORPH_RES_BYTES,		/* memory that is kept on behalf of the user */
};

struct morph_user *morph_user_get(kuid_t uid);	/* or NULL when out of memory */
struct morph_user *morph_user_ref(struct morph_user *user);
void morph_user_put(struct morph_user *user);
/* A grant with limits of its own, counted; it is gone with its last reference. Or ENOMEM. */
struct morph_user *morph_grant_create(const struct morph_limits *limits);
/* Counted, or NULL. */
struct morph_user *morph_grant_find(u32 grant);
/* -EDQUOT with the refusal filled when it would pass the limit. user may not be NULL. */
int morph_user_charge(struct morph_user *user, enum morph_resource resource, u64 amount,
		      struct morph_refusal *refusal);
/* Past the limit too: for what repairs need, and what is bounded by what was charged before. */
void morph_user_charge_anyway(struct morph_user *user, enum morph_resource resource, u64 amount);
void morph_user_uncharge(struct morph_user *user, enum morph_resource resource, u64 amount);
/* NULL: the default. All of limits counts. */
void morph_user_set_limits(struct morph_user *user, const struct morph_limits *limits);
void morph_user_get_default(struct morph_limits *limits);
/* Walk users by id: the first whose id is >= *cursor, counted; sets *cursor. Or NULL. */
struct morph_user *morph_user_next(unsigned long *cursor);
/* The same for grants, by number. */
struct morph_user *morph_grant_next(unsigned long *cursor);
void morph_user_limits(struct morph_user *user, struct morph_limits *limits,
		       struct morph_limits *used);
void morph_user_exit(void);

/* ----------------------------------------------------------------- slice.c */

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
	MORPH_ROUTE_PLAN,	/* claims nothing; a plan counts on it */
	MORPH_ROUTE_HELD,	/* a reserved plan's: claims what the slice's others have left */
};

/* A path with the bookkeeping of its claims. Under fabric->lock. */
struct morph_route {
	struct optics_path path;	/* .hops points to hops below */
	struct optics_verdict verdict;
	struct morph_circuit *circuit;	/* NULL for a route of nobody's */
	struct morph_plan *plan;	/* for MORPH_ROUTE_PLAN and _HELD */
	u32 owner;			/* slice that edges are claimed for */
	u8 role;			/* enum morph_route_role */
	bool whole;			/* shadow: nothing of it was taken over */
	u64 tx_held, rx_held;		/* shadow, held: lanes of the ports that are ours */
	u32 capacity;
	struct morph_user *user;	/* charged; its slice's, which outlives it. Or NULL */
	struct morph_link *links;	/* capacity, behind the hops */
	struct optics_hop hops[];	/* capacity */
};

/* A circuit of a slice. Under fabric->lock. */
struct morph_circuit {
	struct morph_slice *slice;
	u32 id;
	u32 state;			/* enum morph_circuit_state */
	u32 src_rank, dst_rank;		/* one of them perhaps MORPH_RANK_EDGE | edge */
	u32 lanes_count;
	bool any_src_plane, any_dst_plane;
	bool dark;			/* hardware says that light is missing */
	u32 alarms;			/* how often it has said so */
	bool listed;			/* in slice->circuits: was lit */
	struct morph_route *route;	/* NULL only while being set up */
	struct morph_txn *pending;	/* transaction that is changing it */
	s32 power_mdbm;
	u64 dark_ns;
	u64 last_verified_ns;
};

/* What is lit, or held for a transaction that is prepared: its slice and operators see it. */
static inline bool morph_circuit_shown(const struct morph_circuit *circuit)
{
	return circuit->listed || circuit->state == MORPH_CIRCUIT_PREPARED;
}

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

struct morph_rank {
	u32 accelerator;
	u32 replacements;
	bool failed;			/* its accelerator is to be replaced */
	bool forced;			/* somebody asked for it, whatever the policy */
	u32 wanted_spare;		/* which one they asked for, or MORPH_ANY */
	struct morph_plan plan;
};

struct morph_slice {
	struct kref kref;
	struct rcu_head rcu;
	struct morph_fabric *fabric;	/* counted */
	struct module *owner_module;	/* pinned provider */
	struct morph_user *user;	/* counted; charged */
	size_t bytes;			/* charged for the slice itself */
	u32 number;			/* index in morph_slices; also the ledger's owner */
	char name[MORPH_NAME_BYTES];
	bool named;
	kuid_t uid;
	umode_t mode;

	/* fabric->lock */
	struct list_head node;		/* head: fabric->slices */
	u32 state;			/* enum morph_slice_state */
	u32 failover, transit, spare_policy;
	bool reserved;
	/* Some look at these three without the lock. */
	bool dying;			/* no new work; teardown is queued or done */
	bool repairing;			/* repair_work is to run or runs */
	bool busy;			/* a change is under way */
	bool plans_wait;		/* some for the slice to come to rest */
	bool comes_in;			/* has, or had, circuits that come in over an edge */
	u64 generation;
	u32 ranks_count;
	struct morph_rank *ranks;
	struct xarray circuits;		/* by id */
	struct list_head txns;		/* of morph_txn.node: in two phases, or going by parts */
	u32 circuits_count;
	u32 *spare_list;		/* for MORPH_SPARES_LIST */
	u32 spare_list_count;
	u32 own_spare;			/* reserved spare, or MORPH_ANY */
	u32 hour_replacements;		/* that the owner asked for within the hour */
	u64 hour_since_ns;		/* CLOCK_BOOTTIME: when the hour began */
	struct morph_txn *last_txn;	/* counted: the last committed one that has a cookie */
	struct morph_txn *idle_txn;	/* memory for the next change of one circuit; xchg() */
	struct morph_route *idle_route;	/* memory for the next route */
	struct morph_txn *records[MORPH_TXN_RECORDS];	/* counted: a ring of those prepared */
	u32 records_next;
	u32 files_count;
	u64 fault_since_ns;		/* when hardware showed the fault under repair */
	u64 fault_noticed_ns;		/* when the core read the signal */
	struct morph_culprit culprit;	/* what degraded it */
	bool was_degraded;		/* counted in fabric->degraded */

	wait_queue_head_t idle;		/* busy went false, repairing went false */
	struct list_head files;		/* of morph_file.node; event_lock */
	struct work_struct repair_work;
	struct work_struct release_work;
	struct morph_element_setting *teardown_settings; /* MORPH_TEARDOWN_CHUNK * hops */
	u32 *failover_lists;		/* three of ranks_count: see struct failover */
	struct device *node_dev;	/* node of a named slice, or NULL */
	struct cdev *node_cdev;
};

/* What a slice is created from; filled by the device file or by netlink. */
struct morph_slice_params {
	const u32 *accelerators;	/* or NULL: the kernel chooses */
	u32 count;
	const u32 *spares;
	u32 spares_count;
	u32 failover, transit, spare_policy;
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
void morph_slice_put(struct morph_slice *slice);
/* End a named slice. EBUSY while open unless forced. Takes the locks itself. */
int morph_slice_delete(struct morph_slice *slice, bool force, struct morph_refusal *refusal);
/* Begin the end: never fails, never waits. fabric->lock held. */
void morph_slice_release(struct morph_slice *slice, u32 event_type);
void morph_slice_release_work(struct work_struct *work);
int morph_slice_set_policy(struct morph_slice *slice, u32 failover, struct morph_refusal *refusal);
/* uid and mode of a named slice's node. */
int morph_slice_set_node(struct morph_slice *slice, kuid_t uid, umode_t mode,
			 struct morph_refusal *refusal);
void morph_slice_fill_info(struct morph_slice *slice, struct morph_slice_info *info);
void morph_rank_fill_info(struct morph_slice *slice, u32 rank, struct morph_rank_info *info);
void morph_circuit_fill_info(struct morph_circuit *circuit, struct morph_circuit_info *info);
u64 morph_slice_bandwidth(struct morph_slice *slice);
/* An accelerator joins a slice, before it takes a rank's place; or leaves it. fabric->lock held. */
void morph_chip_hold(struct morph_slice *slice, u32 accelerator, u32 rank);
void morph_chip_let_go(struct morph_fabric *fabric, u32 accelerator);
/* Take a circuit out of its slice; its route claims nothing any more. fabric->lock held. */
void morph_circuit_drop(struct morph_circuit *circuit);
/* Admit one change at a time. fabric->lock held, dropped while waiting, held on return. */
int morph_slice_enter(struct morph_slice *slice, bool repair);
void morph_slice_leave(struct morph_slice *slice);

/* ----------------------------------------------------------------- claim.c */

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
 * A plan's route claims what nobody else has of it, and keeps others from joining elements
 * that it will have to turn. Returns the lanes of which it has something. Unhold undoes it.
 */
u32 morph_route_hold(struct morph_fabric *fabric, struct morph_route *route);
void morph_route_unhold(struct morph_fabric *fabric, struct morph_route *route);
/* Find routes and plans by guide. */
void morph_route_list(struct morph_fabric *fabric, struct morph_route *route);
void morph_route_unlist(struct morph_route *route);

/* ----------------------------------------------------------------- place.c */

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
/* The spare that may replace an accelerator of the slice, at or after position skip. */
u32 morph_place_spare(struct morph_slice *slice, u32 accelerator, u32 skip);

/* ------------------------------------------------------------------- txn.c */

enum morph_txn_kind {
	MORPH_TXN_TENANT,	/* asked for by the slice's owner or an administrator */
	MORPH_TXN_REPAIR,	/* failover and rerouting */
	MORPH_TXN_TEST,		/* hardware-test and other acts without circuits */
};

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
	/* Head: morph_slice.txns, while prepared or unconfirmed, or under way by parts. */
	struct list_head node;
	u8 kind;			/* enum morph_txn_kind */
	u32 flags;			/* MORPH_TXN_* */
	u64 cookie, generation, lease_ns;
	struct morph_culprit target;	/* for MORPH_TXN_TEST */
	bool accept;			/* likewise: whatever accelerator is in the place */

	/* fabric->lock, or the executing thread while outcome is RUNNING */
	u32 outcome;			/* enum morph_outcome */
	int status;			/* negative errno, or 0 */
	struct morph_refusal refusal;
	struct morph_times times;
	u64 device_ended_ns;		/* when the provider last returned */
	struct morph_op op;
	u64 seq;
	u32 count;
	bool staged;			/* claims are held */
	bool keep_old;			/* committed under a lease */
	bool verified;			/* MORPH_TXN_VERIFY has seen all its light */
	u32 queued_from;		/* outcome to go on from when a queued step runs, or 0 */
	u64 lease_until_ns;		/* CLOCK_BOOTTIME */
	struct hrtimer lease_timer;
	struct work_struct lease_work;
	struct work_struct run_work;	/* for netlink's queued ones */
	u32 rank, spare;		/* for a replacement: rank concerned, spare to take */
	u32 repeats;			/* number of the one that it repeats, or 0 */
	size_t charged;			/* bytes, while it is kept: morph_txn_charge() */
	/* What a repair adds to the publish, in the same hold of fabric->lock. Or NULL. */
	void (*on_publish)(struct morph_txn *txn, void *context);
	void *context;

	struct morph_item items[];	/* count */
};

/*
 * Build a transaction from changes in kernel memory; NULL: the caller fills the items.
 * guides[i], if not NULL, is the explicit path of change i, change.guides.count long,
 * and is taken over.
 */
struct morph_txn *morph_txn_alloc(struct morph_slice *slice, const struct morph_change *changes,
				  u32 **guides, u32 count, u32 flags, gfp_t gfp);
/* One without a slice: an act on hardware. */
struct morph_txn *morph_txn_alloc_act(struct morph_fabric *fabric, gfp_t gfp);
/* Memory that a slice has kept for its next transaction. The slice is nobody's any more. */
void morph_txn_free_idle(struct morph_slice *slice);
/* The most that this can be. */
size_t morph_txn_idle_bytes(void);
struct morph_txn *morph_txn_get(struct morph_txn *txn);
void morph_txn_put(struct morph_txn *txn);
/*
 * The memory of one that is kept while nobody runs it: prepared, remembered, a plan.
 * Past the limit too if there is no refusal to be filled.
 */
int morph_txn_charge(struct morph_txn *txn, struct morph_user *user,
		     struct morph_refusal *refusal);
void morph_txn_uncharge(struct morph_txn *txn, struct morph_user *user);
/* The transaction that a slice remembers for the sake of its cookie. fabric->lock held. */
void morph_txn_forget(struct morph_slice *slice);
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
/* Prepared transactions. The first waits for the device, the second queues. */
int morph_txn_step(struct morph_txn *txn, u32 verb, u64 lease_ns, struct morph_refusal *refusal);
int morph_txn_step_queue(struct morph_txn *txn, u32 verb, u64 lease_ns,
			 struct morph_refusal *refusal);
u64 morph_txn_lease_left(struct morph_txn *txn);
/* A slice's transaction that was prepared with a cookie, ended or not; counted, or NULL. */
struct morph_txn *morph_txn_find_cookie(struct morph_slice *slice, u64 cookie);

/*
 * The prepared or unconfirmed transaction of that cookie, counted, or NULL: who asks for
 * it again is answered with it. Takes the lock itself.
 */
struct morph_txn *morph_txn_repeated(struct morph_slice *slice, u64 cookie);

/* Find the path of an item's new route, and make that. fabric->lock held. */
int morph_path_find(struct morph_txn *txn, struct morph_item *item, struct optics_refusal *why);

/* Stage: resolve, route, claim, validate. fabric->lock held. Unstage undoes it. */
int morph_txn_stage(struct morph_txn *txn);
/* Memory that judging and programming need; after this nothing allocates. */
int morph_txn_reserve(struct morph_txn *txn);
/* Bytes of it: for so many changes, with so many element settings. */
size_t morph_txn_reads_bytes(u32 changes, u32 settings);
void morph_txn_unstage(struct morph_txn *txn);
void morph_txn_unmark(struct morph_txn *txn);
/* Give it a number by which others find it. fabric->lock held. */
int morph_txn_enter(struct morph_txn *txn);
/* ----------------------------------------------------------------- lease.c */

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

/* ------------------------------------------------------------------ exec.c */

/*
 * Program, verify, publish or roll back a staged transaction. fabric->lock held,
 * dropped while the device works, held again on return. Leaves outcome and status.
 */
int morph_exec_commit(struct morph_txn *txn, bool keep_old);
/* Is everything lit that was committed? -EAGAIN: not what a peer sends. Lock as above. */
int morph_exec_verify(struct morph_txn *txn);
void morph_exec_confirm(struct morph_txn *txn);
int morph_exec_revert(struct morph_txn *txn);
/* Darken routes: lasers off, verified dark, parked. Lock as above. -EIO: not dark. */
int morph_exec_darken(struct morph_fabric *fabric, struct morph_route **routes, u32 count,
		      struct morph_element_setting *settings);

/* ------------------------------------------------------------------ half.c */

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

/* Lasers and elements of half a circuit that leaves: lit, or dark, as far as can be seen here. */
int morph_half_verify_leaving(struct morph_fabric *fabric, struct morph_txn *txn,
			      const struct morph_route *route, bool lit);
/* Is all dark that came in for a slice over edges? The device works, no lock held. */
int morph_half_verify_dark(struct morph_slice *slice);

/* ---------------------------------------------------------------- health.c */

void morph_signal_work(struct work_struct *work);
/* A live circuit runs over failed hardware: its slice is repaired. fabric->lock held. */
void morph_route_hit(struct morph_route *route, const struct morph_culprit *culprit, u64 since);
/* Hardware that patrol shall test when it can; does it wait for that? fabric->lock held. */
bool morph_suspect_waits(struct morph_fabric *fabric, u32 part, u32 index);
void morph_suspect_add(struct morph_fabric *fabric, const struct morph_culprit *suspect);
void morph_health_init(struct morph_fabric *fabric);
/* Begin to patrol idle accelerators; end it, and all reading of signals. */
void morph_health_start(struct morph_fabric *fabric);
void morph_health_stop(struct morph_fabric *fabric);
/* Mark hardware; failing hardware sets off repair of the slices that use it. fabric->lock. */
int morph_health_set(struct morph_fabric *fabric, const struct morph_culprit *culprit, u32 health,
		     u64 since_ns);
u32 morph_health_get(struct morph_fabric *fabric, u32 part, u32 index);
int morph_health_cordon(struct morph_fabric *fabric, u32 part, u32 index, bool cordon,
			struct morph_refusal *refusal);
bool morph_health_cordoned(struct morph_fabric *fabric, u32 part, u32 index);
/* Does the fabric have such a part? */
int morph_health_check_part(struct morph_fabric *fabric, u32 part, u32 index,
			    struct morph_refusal *refusal);
/* Does hardware on a route show by itself that it is bad? Talks to the device: no lock held. */
bool morph_health_confess(struct morph_fabric *fabric, const struct optics_path *path,
			  u32 src_accelerator, struct morph_culprit *culprit);
/* Find who is to blame for missing light on a route. Talks to the device: no lock held. */
int morph_health_diagnose(struct morph_fabric *fabric, const struct optics_path *path,
			  u32 src_accelerator, struct morph_culprit *culprit);

/* ------------------------------------------------------------------ test.c */

/*
 * Queue a test; *txn gets the id of the act. accept: whatever accelerator is in the place
 * is the known one from now on. Takes the locks itself.
 */
int morph_health_test(struct morph_fabric *fabric, u32 part, u32 index, bool accept, u32 *txn,
		      struct morph_refusal *refusal);
/* Judge by test; the device works, no lock held. Returns 0 when it passed. */
int morph_test_run(struct morph_fabric *fabric, const struct morph_culprit *target, bool accept);
/*
 * Accelerators are under test: wait until some are given back. False: there are none, or
 * a signal came. fabric->lock held, dropped meanwhile.
 */
bool morph_test_wait(struct morph_fabric *fabric);
/* A role between free and spare, and the PCI address of an accelerator. Take the locks. */
int morph_accelerator_set_use(struct morph_fabric *fabric, u32 accelerator, u32 use,
			      struct morph_refusal *refusal);
int morph_accelerator_set_pci(struct morph_fabric *fabric, u32 accelerator, const char *pci,
			      struct morph_refusal *refusal);

/* ---------------------------------------------------------------- repair.c */

void morph_repair_init(struct morph_slice *slice);
/* A change that moves a circuit elsewhere, between the accelerators that it has now. */
void morph_repair_fill_item(struct morph_item *item, const struct morph_circuit *circuit);
/* A repair's transaction that did not come to pass, or is done. fabric->lock held. */
void morph_repair_free_txn(struct morph_txn *txn);
/* Stage; what others have only prepared gives way. fabric->lock held. */
int morph_repair_stage(struct morph_txn *txn);
void morph_repair_tell_failing(struct morph_slice *slice, u32 rank);
/*
 * Replace all failed ranks that may be: 0, or why some were not. fabric->lock held,
 * dropped while the device works.
 */
int morph_failover_run(struct morph_slice *slice);
u64 morph_txn_longest_dark(const struct morph_txn *txn);

static inline bool morph_rank_failed(const struct morph_slice *slice, u32 rank)
{
	return !(rank & MORPH_RANK_EDGE) && slice->ranks[rank].failed;
}

/* Something that the slice uses failed. fabric->lock held. */
void morph_repair_kick(struct morph_slice *slice, u64 since_ns);
/* The owner's report and replacement; wait for the end. Take the locks themselves. */
int morph_repair_report(struct morph_slice *slice, u32 rank, u32 *state, u32 *health,
			struct morph_refusal *refusal);
int morph_repair_replace(struct morph_slice *slice, u32 rank, u32 spare, u32 *state, u32 *health,
			 struct morph_refusal *refusal);
/* The operator's replacement: queued; *txn gets the id of the act. */
int morph_repair_replace_queue(struct morph_slice *slice, u32 rank, u32 spare, u32 *txn,
			       struct morph_refusal *refusal);
/* How many replacements the owner has asked for in the hour that runs. fabric->lock held. */
u32 morph_repair_replacements(const struct morph_slice *slice);
/* Some hardware became usable again: let degraded slices try once more. fabric->lock held. */
void morph_repair_recover(struct morph_fabric *fabric);
void morph_repair_recover_work(struct work_struct *work);
/* Is a circuit's route free of failed hardware? fabric->lock held. */
bool morph_route_sound(struct morph_fabric *fabric, const struct morph_route *route);

/* ------------------------------------------------------------------ plan.c */

void morph_plan_init(struct morph_slice *slice, u32 rank);
void morph_plan_work(struct work_struct *work);
/* Mark plans stale that count on what a route uses, on a spare, or on a slice's rank. */
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

/* --------------------------------------------------------------- reserve.c */

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

/* -------------------------------------------------------------- why_not.c */

/* chosen has room for count; ring: also try a ring of circuits. Takes the locks itself. */
int morph_why_not(struct morph_fabric *fabric, const u32 *accelerators, u32 count, u32 transit,
		  bool ring, u32 lanes, u32 *chosen, struct morph_refusal *refusal);

/* ----------------------------------------------------------------- event.c */

/* One open slice file with its queue. */
struct morph_file {
	struct morph_slice *slice;	/* counted */
	struct list_head node;		/* head: slice->files; event_lock */
	wait_queue_head_t wait;
	struct mutex read_lock;		/* one reader at a time; outside event_lock */
	/* event_lock */
	struct morph_event *ring;	/* MORPH_EVENT_SLOTS, and one for the lost */
	u32 head, count;
	u64 lost, lost_total;
	bool gone;			/* the slice was deleted or the fabric is gone */
};

/* Fill the common part of an event about a slice. fabric->lock held. */
void morph_event_init(struct morph_event *event, struct morph_slice *slice, u32 type);
/*
 * Queue an event on all files of the slice, tell the monitor group. Never fails
 * and never allocates for the files. fabric->lock held.
 */
void morph_event_queue(struct morph_slice *slice, const struct morph_event *event);
/* Wake every file with POLLHUP. fabric->lock held. */
void morph_event_hangup(struct morph_slice *slice);
/* Takes a reference; counted in files_count. Error pointer: ENODEV, EDQUOT, ENOMEM. */
struct morph_file *morph_file_alloc(struct morph_slice *slice, struct morph_refusal *refusal);
void morph_file_free(struct morph_file *file);
ssize_t morph_file_read(struct morph_file *file, char __user *buffer, size_t bytes, bool nonblock);
__poll_t morph_file_poll(struct morph_file *file, struct file *filp,
			 struct poll_table_struct *wait);

/* --------------------------------------------------------------- chardev.c */

int morph_chardev_init(void);
void morph_chardev_exit(void);
int morph_chardev_add_fabric(struct morph_fabric *fabric);
void morph_chardev_del_fabric(struct morph_fabric *fabric);
/* /dev/morph/sliceN; del waits for nothing: open files stay and answer ENODEV. */
int morph_chardev_add_slice(struct morph_slice *slice);
void morph_chardev_del_slice(struct morph_slice *slice);
/* A new file for a slice; installs nothing. *file gets the struct file, fd is returned. */
int morph_chardev_slice_fd(struct morph_slice *slice, struct file **file,
			   struct morph_refusal *refusal);
/* The same for a fabric: slices that are created by it are charged to the grant. */
int morph_chardev_grant_fd(struct morph_fabric *fabric, struct morph_user *grant,
			   struct file **file, struct morph_refusal *refusal);

/* ------------------------------------------------------- netlink.c, debugfs.c */

int morph_netlink_init(void);
void morph_netlink_exit(void);
/* Notifications; no-ops without listeners. fabric->lock held. */
void morph_netlink_fabric(struct morph_fabric *fabric);
void morph_netlink_accelerator(struct morph_fabric *fabric, u32 index);
void morph_netlink_slice(struct morph_slice *slice);
void morph_netlink_txn(struct morph_txn *txn);
void morph_netlink_hardware(struct morph_fabric *fabric, u32 part, u32 index);
void morph_netlink_event(struct morph_slice *slice, const struct morph_event *event);

void morph_debugfs_init(void);
void morph_debugfs_exit(void);
void morph_debugfs_add(struct morph_fabric *fabric);
void morph_debugfs_remove(struct morph_fabric *fabric);

/* -------------------------------------------------------------- identity.c */

/* Learn what is there when a fabric is registered: nobody else sees it yet. */
void morph_identity_learn(struct morph_fabric *fabric);
/*
 * Is it the accelerator that was known? 0; or -ENXIO, and it is quarantined. accept: what
 * is there is the known one from now on. Takes the lock itself.
 */
int morph_identity_check(struct morph_fabric *fabric, u32 accelerator, bool accept);
/* Why an accelerator is not the one that was known, or 0 if it is. fabric->lock held. */
int morph_identity_refuse(struct morph_fabric *fabric, u32 accelerator,
			  struct morph_refusal *refusal);

/* ------------------------------------------------------------------- pci.c */

int morph_pci_init(void);
void morph_pci_exit(void);
/* Serial number of the PCI device at an address; 0: there is none, or it has none. */
u64 morph_pci_serial(const char *address);

#endif /* MORPH_CORE_H */

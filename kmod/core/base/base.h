/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Private interface of the base layer of morph.ko.
 *
 * Lock order, outermost first:
 *
 *   mm->mmap_lock           of the kernel: held while a program maps a queue or a state page
 *   node_lock               mutex in chardev.c: nodes of named slices
 *   morph_registry_lock     mutex: the table of fabrics
 *   locks of devlink        of the kernel: held while it reads a dump: devlink.c
 *   hwmon->lock             mutex in hwmon.c: one reading of sensors at a time
 *   fabric->lock            mutex: ledger, slices, circuits, transactions, health
 *   user_lock               mutex in user.c: quotas
 *   event_lock              spinlock, in struct morph_interface: event queues
 *                           of all files of the fabric
 *
 * Tasks of users take fabric->lock with morph_fabric_lock(), so that no user delays another for
 * long. The kernel's own work takes it with mutex_lock().
 *
 * signal_lock (struct morph_recovery), op_lock (struct morph_hardware) and turn_lock in
 * turn.c are leaf spinlocks. All are taken with interrupts off: the provider calls into
 * the core from any context, and timers queue work. The spinlocks of lock.c are leaves, too, and
 * only processes take them.
 * Readers of morph_slices (the table of slices) use RCU. The entry is erased before the last
 * reference to the slice is dropped.
 *
 * struct morph_hardware has two SRCU domains. The core holds srcu for reading around
 * each single provider operation. program.c holds programming for reading while it
 * programs hardware, until it has recorded the answer. A review waits for these
 * readers, and they wait for the review. No lock is held while waiting for a device.
 *
 * Lifetime: a fabric lives as long as its struct device. A slice, a transaction and a user
 * have a kref. A file holds a reference to its slice, a slice to its fabric, a transaction to
 * its slice. Circuits and routes belong to their slice; fabric->lock guards them.
 *
 * A transaction claims its paths in the ledger when it is staged. The claims keep
 * other changes away until it is published or rolled back, so no code holds the
 * mutex while the device works. slice->busy admits one change per slice at a time.
 */
#ifndef MORPH_CORE_BASE_BASE_H
#define MORPH_CORE_BASE_BASE_H

#include <linux/atomic.h>
#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/hrtimer.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/morph.h>
#include <linux/mutex.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <linux/srcu.h>
#include <linux/types.h>
#include <linux/uidgid.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "morph_provider.h"
#include "optics/optics.h"

#define MORPH_MAX_FABRICS	256u
#define MORPH_MAX_CHANGES	1024u
#define MORPH_MAX_RANKS		4096u
#define MORPH_EVENT_SLOTS	64u	/* per open slice file */
#define MORPH_ROUTE_STEPS	16384u	/* budget of the router: enough for a rack */
#define MORPH_FEW_GUIDES	16u	/* longer explicit paths need an allocation */
#define MORPH_TXN_HISTORY	256u	/* ended transactions that are still reported */
#define MORPH_TXN_HISTORY_BYTES	SZ_1M	/* limit of their memory; the last one is exempt */
#define MORPH_TXN_RECORDS	4u	/* records of prepared transactions that a slice keeps */
/* Ledger marks in addition to those of optics. A path search avoids hardware with any mark. */
#define MORPH_MARK_CHANGING	0x4u	/* a transaction is turning this element */
#define MORPH_MARK_QUARANTINED	0x8u	/* with OPTICS_UNHEALTHY: must pass a test before use */
#define MORPH_MARK_TURNED	0x40u	/* the holder of fabric->lock has turned this element */
#define MORPH_TEARDOWN_CHUNK	16u	/* circuits darkened at once on release: at most these, */
#define MORPH_TEARDOWN_SETTINGS	128u	/* with paths of at most these elements in total */
/* A loop over all parts of a fabric or a slice drops fabric->lock after this number of parts. */
#define MORPH_HOLD_PARTS	64u

/* For allocations under fabric->lock or the user lock. They do not sleep, so they may fail. */
#define MORPH_GFP_LOCKED	(GFP_NOWAIT | __GFP_NOWARN | __GFP_ACCOUNT)

/* A repair may wait for memory, but its result must not depend on a failed allocation. */
#define MORPH_GFP_REPAIR	(GFP_KERNEL | __GFP_NOFAIL)

struct cred;
struct dentry;
struct morph_circuit;
struct morph_controller;
struct morph_protection;
struct morph_route;
struct morph_schedule;
struct morph_slice;
struct morph_txn;
struct morph_user;
struct morph_refusal;

/* A piece of hardware that blocks a request or caused a failure. */
struct morph_culprit {
	u32 part;	/* enum morph_part */
	u32 index;
	u64 lanes;	/* for lasers and receivers */
};

/* ----------------------------------------------------------- registration.c */

/* The identifiers of an accelerator. One that is all zeros is absent. */
struct morph_marks {
	u8 uuid[MORPH_UUID_BYTES];
	u64 serial;			/* PCI Device Serial Number */
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
	MORPH_STAT_CONTROLLERS_EXPIRED,
	MORPH_STAT_RESERVATIONS,
	MORPH_STAT_RESERVATION_CONFLICTS,
	MORPH_STAT_STEPS_JUDGED,
	MORPH_STAT_COUNT,
};

#define MORPH_LOCK_USERS	32u	/* if more users wait, some of them share an entry */

/* A user whose tasks wait for fabric->lock, or have held it: lock.c. */
struct morph_lock_user {
	u64 key;
	u32 waiting;		/* tasks; the admitted one included */
	u64 held_ns;		/* times of its holds, since the entry exists */
	struct list_head tasks;	/* in order, without the admitted one */
};

/* The order in which waiting tasks get fabric->lock. */
struct morph_lock_order {
	spinlock_t lock;	/* guards all fields */
	u32 waiting;		/* number of waiting tasks; some readers take no lock */
	bool is_admitted;	/* a waiting task is admitted: it gets fabric->lock next */
	struct morph_lock_user *holder;	/* user whose task got fabric->lock last */
	u64 since_ns;			/* when the task got it, by the local clock */
	u64 least_ns;			/* held_ns of the last admitted user; never decreases */
	struct morph_lock_user users[MORPH_LOCK_USERS];
};

/*
 * The fabric has one structure for each layer. The structure of a layer begins with the structure
 * of the layer below, so hardware_of(), ledger_of() and the like are plain casts. A layer does not
 * see the fields of the layers above it.
 */
struct morph_fabric {
	/* constant after registration */
	struct device dev;
	u32 id;
	char name[MORPH_NAME_BYTES];
	u8 uuid[MORPH_UUID_BYTES];
	u8 (*peers)[MORPH_UUID_BYTES];	/* by edge: UUID of the fabric at the other side */
	bool simulated;
	void *priv;
	struct module *owner;
	const struct optics_graph *graph;	/* start of its memory block */

	/* fabric->lock */
	struct mutex lock;
	struct morph_lock_order lock_order;
	u32 state;			/* enum morph_fabric_state; some readers take no lock */
	u64 seq;			/* number of publications, starts at 1 */

	atomic64_t stats[MORPH_STAT_COUNT];
#ifdef MORPH_HOLDS
	struct morph_lock_holds holds;	/* only in builds with HOLDS=y */
#endif
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
extern struct xarray morph_fabrics;	/* by id; guarded by morph_registry_lock */
extern struct class *morph_class;
/*
 * All fabrics share the queues. Tenants cause most of the work, which waits for devices. So
 * morph_wq has only work of which each fabric has a constant number: tests, reviews.
 *
 * The queues of signals and repairs are bound to processors. A worker that handles signals then
 * continues with the first repair that they cause, and wakes no other worker for it. Repairs are
 * CPU intensive, so that signals do not wait for them. All other queues are unbound.
 */
extern struct workqueue_struct *morph_wq;
extern struct workqueue_struct *morph_signal_wq;	/* signals: one per fabric */
extern struct workqueue_struct *morph_repair_wq;	/* repairs: one per slice */
extern struct workqueue_struct *morph_turn_wq;	/* leases and releases: morph_turn_queue() */
extern struct workqueue_struct *morph_step_wq;	/* steps of schedules, of which there may be many */
/* For work that netlink queues. It may wait for work on the other queues, never the reverse. */
extern struct workqueue_struct *morph_act_wq;

/* ------------------------------------------------------------------ holds.c */

#ifdef MORPH_HOLDS
/* From the first to the last use of fabric->lock. */
void morph_holds_start(struct morph_fabric *fabric);
void morph_holds_stop(struct morph_fabric *fabric);
void morph_holds_add_file(struct morph_fabric *fabric, struct dentry *directory);
/* The holder of fabric->lock has published changes, or has copied records for a reader. */
void morph_holds_count(struct morph_fabric *fabric, u32 records);
#else
static inline void morph_holds_start(struct morph_fabric *fabric) { }
static inline void morph_holds_stop(struct morph_fabric *fabric) { }
static inline void morph_holds_add_file(struct morph_fabric *fabric, struct dentry *directory) { }
static inline void morph_holds_count(struct morph_fabric *fabric, u32 records) { }
#endif

/* ------------------------------------------------------------------- lock.c */

/* Once, before the first use of fabric->lock. */
void morph_lock_order_init(struct morph_lock_order *order);
/* Take fabric->lock when it is the caller's turn. */
void morph_fabric_lock_in_order(struct morph_fabric *fabric);

#ifdef MORPH_HOLDS
void morph_holds_lock_in_order(struct morph_fabric *fabric, const char *holder);
#define morph_fabric_lock(fabric) morph_holds_lock_in_order(fabric, __func__)
#else
/* Take fabric->lock for a user. A task waits only for short if other users have many tasks. */
static inline void morph_fabric_lock(struct morph_fabric *fabric)
{
	might_lock(&fabric->lock);
	if (READ_ONCE(fabric->lock_order.waiting) || !mutex_trylock(&fabric->lock))
		morph_fabric_lock_in_order(fabric);
}
#endif

/* Charge the holder for the time of its hold. */
void morph_lock_charge(struct morph_lock_order *order);

/* Give fabric->lock back. Only a task that had to wait for the lock is charged for its hold. */
static inline void morph_fabric_unlock(struct morph_fabric *fabric)
{
	if (READ_ONCE(fabric->lock_order.holder))
		morph_lock_charge(&fabric->lock_order);
	mutex_unlock(&fabric->lock);
}

/* A kernel thread that works for a user: lock.c. */
struct morph_acting {
	struct hlist_node node;
	struct task_struct *thread;
	u64 key;		/* of its user */
};

/*
 * Until morph_act_end(), the thread that calls this waits for fabric->lock like the user's tasks.
 * user NULL: like another user, for work of the kernel that may take long.
 */
void morph_act_for(struct morph_acting *entry, struct morph_user *user);
void morph_act_end(struct morph_acting *entry);

/* ----------------------------------------------------------------- report.c */

/* Kinds of resources that degraded slices wait for. */
enum morph_freed {
	MORPH_FREED_PATHS = 1,		/* lanes, guides, elements or ports */
	MORPH_FREED_ACCELERATORS = 2,
	MORPH_FREED_ANY = 3,
};

/*
 * A component of a higher layer that wants reports of changes that lower layers find or make. Each
 * operation may be NULL. Unless its comment says otherwise, the caller holds fabric->lock.
 * Subscribers are called in the order of subscription.
 */
struct morph_subscriber {
	/* Hardware has failed or has recovered. @test: test the hardware as soon as possible. */
	void (*found)(struct morph_fabric *fabric, const struct morph_culprit *culprit,
		      u32 health, bool test);
	/* The state of hardware may differ from the commanded state. Any context. */
	void (*doubted)(struct morph_fabric *fabric);
	/* A path has no light: set *culprit to the hardware that caused it. No lock held. */
	void (*diagnose)(struct morph_fabric *fabric, const struct optics_path *path,
			 u32 src_accelerator, struct morph_culprit *culprit);
	/* An accelerator answered the probe at bring-up. */
	void (*answered)(struct morph_fabric *fabric, u32 accelerator);

	/*
	 * Before a publication, or during rollback. light_changed marks the items that are
	 * affected.
	 */
	void (*light)(struct morph_txn *txn);
	/* A change is published: its items have the circuits with their old and new paths. */
	void (*published)(struct morph_txn *txn);
	/* The claims of the old paths of the items have been released. */
	void (*paths_freed)(struct morph_txn *txn);
	/* Resources that others may wait for have become free: enum morph_freed. */
	void (*freed)(struct morph_fabric *fabric, u32 freed);

	/* A slice has lost light, or uses a path over failed hardware. */
	void (*light_lost)(struct morph_slice *slice);
	/* A rollback could not restore some circuits. */
	void (*broken)(struct morph_txn *txn);
	/* A numbered transaction has a new outcome, or has ended. */
	void (*txn_changed)(struct morph_txn *txn);
	void (*txn_ended)(struct morph_txn *txn);
	/* The circuits of a slice are those of an earlier configuration again. */
	void (*reverted)(struct morph_slice *slice);

	/* Reports of slices, recovery and schedules to the layers above them. */

	/* An event for the owner of a slice. */
	void (*event)(struct morph_slice *slice, const struct morph_event *event);
	/* The reported state of a slice has changed. */
	void (*slice_changed)(struct morph_slice *slice);
	void (*accelerator_changed)(struct morph_fabric *fabric, u32 accelerator);
	void (*hardware_changed)(struct morph_fabric *fabric, u32 part, u32 index);
	void (*controller_changed)(struct morph_fabric *fabric,
				   const struct morph_controller *controller, u32 state);
	void (*schedule_changed)(const struct morph_schedule *schedule);
	/* A circuit went dark without a command. */
	void (*darkened)(struct morph_circuit *circuit);
	/* The state of any circuit of a slice may have changed. */
	void (*light_reviewed)(struct morph_slice *slice);
	/* The repair of a slice has ended; its circuits do not move any more. */
	void (*repaired)(struct morph_slice *slice);
	/* The search for a possible repair has ended, and has moved no circuit. */
	void (*searched)(struct morph_slice *slice);
	/* A resource became free or healthy; the slice itself needs no repair. */
	void (*retried)(struct morph_slice *slice);
	/* The slice begins to end. */
	void (*slice_dying)(struct morph_slice *slice);
	/* The slice ends: stop all work that may still change it. No lock held. */
	void (*slice_stopping)(struct morph_slice *slice);
	/* The slice ends, and all its circuits are about to go dark. */
	void (*slice_darkening)(struct morph_slice *slice);
	/* The slice has ended. No lock held. */
	void (*slice_gone)(struct morph_slice *slice);
};

/* Only while the module loads. */
void morph_subscribe(const struct morph_subscriber *subscriber);

void morph_report_finding(struct morph_fabric *fabric, const struct morph_culprit *culprit,
			  u32 health);
void morph_report_suspect(struct morph_fabric *fabric, const struct morph_culprit *culprit,
			  u32 health);
void morph_report_doubt(struct morph_fabric *fabric);
void morph_report_dark(struct morph_fabric *fabric, const struct optics_path *path,
		       u32 src_accelerator, struct morph_culprit *culprit);
void morph_report_answer(struct morph_fabric *fabric, u32 accelerator);
void morph_report_light(struct morph_txn *txn);
void morph_report_published(struct morph_txn *txn);
void morph_report_paths_freed(struct morph_txn *txn);
void morph_report_freed(struct morph_fabric *fabric, u32 freed);
void morph_report_light_lost(struct morph_slice *slice);
void morph_report_broken(struct morph_txn *txn);
void morph_report_txn_changed(struct morph_txn *txn);
void morph_report_txn_ended(struct morph_txn *txn);
void morph_report_reverted(struct morph_slice *slice);
void morph_report_event(struct morph_slice *slice, const struct morph_event *event);
void morph_report_slice_changed(struct morph_slice *slice);
void morph_report_accelerator_changed(struct morph_fabric *fabric, u32 accelerator);
void morph_report_hardware_changed(struct morph_fabric *fabric, u32 part, u32 index);
void morph_report_controller_changed(struct morph_fabric *fabric,
				     const struct morph_controller *controller, u32 state);
void morph_report_schedule_changed(const struct morph_schedule *schedule);
void morph_report_darkened(struct morph_circuit *circuit);
void morph_report_light_reviewed(struct morph_slice *slice);
void morph_report_repaired(struct morph_slice *slice);
void morph_report_searched(struct morph_slice *slice);
void morph_report_retried(struct morph_slice *slice);
void morph_report_slice_dying(struct morph_slice *slice);
void morph_report_slice_stopping(struct morph_slice *slice);
void morph_report_slice_darkening(struct morph_slice *slice);
void morph_report_slice_gone(struct morph_slice *slice);

/* ----------------------------------------------------------------- fabric.c */

/* Find a registered fabric and take a reference to its device. Return NULL if there is none. */
struct morph_fabric *morph_fabric_find(u32 id);
/* Find the first fabric whose id is at least *id, take a reference and set *id. Or return NULL. */
struct morph_fabric *morph_fabric_next(u32 *id);
void morph_fabric_wait_released(void);
/*
 * Whether a program may take this name of a slice or a fabric for its number. Programs find both by
 * either, so such a name would reach another tenant's slice.
 */
bool morph_reads_as_number(const char *name);
/* Return -ENODEV if the provider has unregistered. Caller holds fabric->lock. */
int morph_fabric_check(struct morph_fabric *fabric);
/* Drop fabric->lock for a moment, so that other threads get it. */
void morph_fabric_pause(struct morph_fabric *fabric);
/* The same after each MORPH_HOLD_PARTS parts of a loop that has handled @done parts. */
static inline void morph_fabric_pause_after(struct morph_fabric *fabric, u32 done)
{
	if (done && !(done % MORPH_HOLD_PARTS))
		morph_fabric_pause(fabric);
}

/* Return -ESTALE if changes were planned for another profile. @checksum 0 matches any profile. */
int morph_fabric_check_profile(struct morph_fabric *fabric, u32 checksum,
			       struct morph_refusal *refusal);

/* Users and grants that are charged for resources, and their limits. */

/* Limits of one user; all bits set: no limit. Replacements: per slice and hour. */
struct morph_limits {
	u32 accelerators, circuits, lanes, prepared, replacements;
	u64 bytes;
};

/*
 * A user or a grant that is charged, with a kref. uid and grant are constant. user_lock of user.c
 * guards the other fields without another note.
 */
struct morph_user {
	struct kref kref;
	struct hlist_node node;		/* entry in users, by uid */
	kuid_t uid;			/* of a user, not of a grant */
	/*
	 * In a user namespace: the user who is charged too, and the record that holds limits and
	 * charges of uid. Both with references, constant, and NULL outside of user namespaces.
	 */
	struct morph_user *parent, *base;
	bool repeats;			/* a parent charges the same uid; constant */
	u32 grant;			/* number of a grant; 0: this is a user */
	bool has_limits;		/* false: the default limits apply */
	struct morph_limits limits;
	struct morph_limits used;	/* without replacements, which each slice counts */
	atomic64_t queue_turn_ns;	/* CLOCK_MONOTONIC: turn of the next queue; no lock */
	struct list_head turns;		/* work that waits: morph_turn.node; turn_lock */
	u32 turns_running;		/* turn_lock */
};

enum morph_resource {
	MORPH_RES_ACCELERATORS,
	MORPH_RES_CIRCUITS,
	MORPH_RES_LANES,
	MORPH_RES_PREPARED,
	MORPH_RES_BYTES,		/* memory that the kernel keeps for the user */
};

/* The requester of a change. All zero: the tenant; epochs of controllers do not apply to it. */
struct morph_token {
	u64 epoch;
	u32 controller;		/* 0: the request names no controller */
	bool needed;		/* by netlink: must name the slice's controller */
};

/* A work item that is charged to a user: turn.c. */
struct morph_turn {
	struct work_struct work;
	work_func_t run;		/* gets work */
	struct morph_user *user;	/* since morph_turn_queue() */
	struct list_head node;		/* head: morph_user.turns, while it waits; turn_lock */
};

#define MORPH_USER_TURNS	16u	/* at most this many work items of a user run at once */

/* @run ends with morph_turn_end(). */
void morph_turn_init(struct morph_turn *turn, work_func_t run);
/*
 * Run the work when the user has fewer than MORPH_USER_TURNS running. The caller holds a reference
 * to the user until morph_turn_end(). Any context.
 */
void morph_turn_queue(struct morph_turn *turn, struct morph_user *user);
/* Cancel work that does not run yet. Return whether there was any: then @run does not run. */
bool morph_turn_cancel(struct morph_turn *turn, struct morph_user *user);
/* Let the next work item of the user run. */
void morph_turn_end(struct morph_user *user);

/* ------------------------------------------------------------------ stash.c */

#define MORPH_STASH_BLOCK	4096u	/* size of a block: at least that of any route or circuit */

/*
 * Memory for allocations under fabric->lock, which must not sleep. If one fails, its caller drops
 * the lock, fills the stash, and begins again. Owned by the thread that executes the request.
 */
struct morph_stash {
	void *blocks;		/* each begins with the address of the next one */
	bool wanted;		/* an allocation has failed since the last fill */
};

/* Allocate zeroed memory without sleeping, or take a block. NULL: fill the stash. kfree() frees. */
void *morph_stash_zalloc(struct morph_stash *stash, size_t bytes);
/* Add blocks. No lock held. Return 0 or -ENOMEM. */
int morph_stash_fill(struct morph_stash *stash, u32 count, gfp_t gfp);
void morph_stash_empty(struct morph_stash *stash);
/*
 * Let a worker free a large block of kvmalloc(): Linux 6.12 may give 2,016 pages back to their zone
 * when one is freed, which takes long under fabric->lock.
 */
void morph_free_later(void *block, size_t bytes);
/* Wait for the worker. */
void morph_free_now(void);

/* ------------------------------------------------------------------- user.c */

/* Let lockdep report what may sleep for memory under the user lock. */
void morph_user_teach_lockdep(void);
struct morph_user *morph_user_get(kuid_t uid);	/* NULL: out of memory */
/*
 * The user of a program: its effective user, and the owners of all its user namespaces, who are
 * charged too. Users with subordinate ids would else get their quota many times.
 */
struct morph_user *morph_user_of(const struct cred *cred);	/* NULL: out of memory */
/* The user who answers for a user's turns: the outermost one in user namespaces, except root. */
struct morph_user *morph_user_payer(struct morph_user *user);
struct morph_user *morph_user_ref(struct morph_user *user);
void morph_user_put(struct morph_user *user);
/* Create a grant with its own limits. It is freed with its last reference. Or return -ENOMEM. */
struct morph_user *morph_grant_create(const struct morph_limits *limits);
/* Find a grant and take a reference, or return NULL. */
struct morph_user *morph_grant_find(u32 grant);
/* Return -EDQUOT and fill the refusal if the charge exceeds the limit. user may not be NULL. */
int morph_user_charge(struct morph_user *user, enum morph_resource resource, u64 amount,
		      struct morph_refusal *refusal);
/* Charge beyond the limit too, for repairs and for amounts that an earlier charge bounds. */
void morph_user_charge_anyway(struct morph_user *user, enum morph_resource resource, u64 amount);
void morph_user_uncharge(struct morph_user *user, enum morph_resource resource, u64 amount);
/* user NULL: set the default limits. All fields of limits apply. */
void morph_user_set_limits(struct morph_user *user, const struct morph_limits *limits);
void morph_user_get_default(struct morph_limits *limits);
/* Find the first user whose id is at least *cursor, take a reference, set *cursor. Or NULL. */
struct morph_user *morph_user_next(unsigned long *cursor);
/* Like morph_user_next(), for grants by number. */
struct morph_user *morph_grant_next(unsigned long *cursor);
void morph_user_limits(struct morph_user *user, struct morph_limits *limits,
		       struct morph_limits *used);
void morph_user_exit(void);

/* Reasons for refusals: a code for programs and a sentence for people. */

/*
 * The reason for a refusal: the reason of optics, the codes of the core, and a sentence for people.
 */
struct morph_refusal {
	int error;		/* negative errno */
	u32 reason;		/* enum morph_reason */
	u32 part;
	u32 index;
	u32 item;		/* index of the refused change, or MORPH_ANY */
	s64 have;
	s64 need;
	const char *fixed;	/* sentence for netlink; NULL: the default of the reason */
	char text[160];
};

/* The name of enum morph_part for people. */
const char *morph_part_word(u32 part);
int __printf(6, 7) morph_refuse(struct morph_refusal *refusal, int error, u32 reason, u32 part,
				u32 index, const char *format, ...);
int morph_refuse_numbers(struct morph_refusal *refusal, int error, u32 reason, u32 part, u32 index,
			 s64 have, s64 need, const char *fixed);
int morph_refuse_index(struct morph_refusal *refusal, u32 part, u32 index, u32 count);
int morph_refuse_optics(struct morph_refusal *refusal, int error,
			const struct optics_refusal *why);

#endif /* MORPH_CORE_BASE_BASE_H */

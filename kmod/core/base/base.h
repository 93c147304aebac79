/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * morph.ko, private to kmod/core.
 *
 * Lock order, outermost first:
 *
 *   morph_registry_lock     mutex: the table of fabrics
 *   fabric->lock            mutex: ledger, slices, circuits, transactions, health
 *   user lock               mutex in user.c: quotas
 *   event_lock              spinlock, in struct morph_interface: event queues
 *                           of all files of the fabric
 *
 * signal_lock (struct morph_recovery) and op_lock (struct morph_hardware) are leaf
 * spinlocks. Both are taken with interrupts off, since the provider calls in from
 * any context.
 * The table of slices is read under RCU; an entry is erased before its last
 * reference goes.
 *
 * struct morph_hardware has two SRCU domains. The core holds srcu for reading around
 * each single provider operation. program.c holds telling for reading while it
 * programs hardware, until it has recorded the answer. A review waits for these
 * readers, and they wait for the review. No lock is held while waiting for a device.
 *
 * Lifetime: a fabric is its struct device; a slice, a transaction and a user are
 * counted by kref. A file holds its slice, a slice holds its fabric, a
 * transaction holds its slice. Circuits and routes belong to their slice and are
 * touched under fabric->lock only.
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
#define MORPH_SIGNAL_SLOTS	512u
#define MORPH_ROUTE_STEPS	16384u	/* the router's budget: enough to search all of a rack */
#define MORPH_FEW_GUIDES	16u	/* an explicit path of so many needs no memory of its own */
#define MORPH_SUSPECTS		64u	/* hardware that waits for a test */
#define MORPH_TXN_HISTORY	256u	/* transactions that ended and are still shown */
#define MORPH_TXN_HISTORY_BYTES	SZ_1M	/* what they may take, the last one apart */
#define MORPH_TXN_RECORDS	4u	/* prepared ones of a slice that ended, by their cookie */
/* Ledger marks beside those of optics; any mark keeps new paths away. */
#define MORPH_MARK_CHANGING	0x4u	/* a transaction is turning this element */
#define MORPH_MARK_QUARANTINED	0x8u	/* with OPTICS_UNHEALTHY: may be good, must pass a test */
#define MORPH_MARK_TURNED	0x40u	/* what the holder of the lock has collected is turned */
#define MORPH_TEARDOWN_CHUNK	16u	/* circuits darkened at once on release */

/* A repair may wait for memory, but must not come out otherwise for want of it. */
#define MORPH_GFP_REPAIR	(GFP_KERNEL | __GFP_NOFAIL)

struct morph_circuit;
struct morph_controller;
struct morph_protection;
struct morph_route;
struct morph_schedule;
struct morph_slice;
struct morph_txn;
struct morph_user;
struct morph_refusal;

/* A piece of hardware that stands in the way, or is to blame. */
struct morph_culprit {
	u32 part;	/* enum morph_part */
	u32 index;
	u64 lanes;	/* for lasers and receivers */
};

/* ----------------------------------------------------------- registration.c */

/* The marks that identify an accelerator. A mark of zeros is absent. */
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

/*
 * The fabric has one structure for each layer. That of a layer begins with that of the layer
 * below, so hardware_of(), ledger_of() and the like cost nothing, and no layer sees the fields
 * of those above it.
 */
struct morph_fabric {
	/* constant after registration */
	struct device dev;
	u32 id;
	char name[MORPH_NAME_BYTES];
	u8 uuid[MORPH_UUID_BYTES];
	u8 (*peers)[MORPH_UUID_BYTES];	/* by edge: the fabric at the other side */
	bool simulated;
	void *priv;
	struct module *owner;
	const struct optics_graph *graph;	/* head of its block */

	/* fabric->lock */
	struct mutex lock;
	u32 state;			/* enum morph_fabric_state; some look without the lock */
	u64 seq;			/* counts publishes, starts at 1 */

	atomic64_t stats[MORPH_STAT_COUNT];
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
extern struct class *morph_class;
extern struct workqueue_struct *morph_wq;	/* unbound, high priority; shared by all fabrics */
extern struct workqueue_struct *morph_step_wq;	/* steps of schedules: there may be many */
/* What netlink has queued: it may wait for what runs on morph_wq, and never the other way. */
extern struct workqueue_struct *morph_act_wq;

/* ----------------------------------------------------------------- report.c */

/*
 * A component above that wants to know what the layers below find and change. All of its
 * operations may be NULL. They are called with fabric->lock held, if nothing else is said,
 * in the order of subscription.
 */
struct morph_subscriber {
	/* Hardware was found to be bad, or good again. test: it is tested when it can be. */
	void (*found)(struct morph_fabric *fabric, const struct morph_culprit *culprit,
		      u32 health, bool test);
	/* Hardware may not be as it was told. Any context. */
	void (*doubted)(struct morph_fabric *fabric);
	/* Light has not arrived over a path: *culprit gets who is to blame. No lock held. */
	void (*diagnose)(struct morph_fabric *fabric, const struct optics_path *path,
			 u32 src_accelerator, struct morph_culprit *culprit);
	/* An accelerator answers: it was asked when the fabric was brought up. */
	void (*answered)(struct morph_fabric *fabric, u32 accelerator);

	/* Before a change is published, or as it is undone: items with light_changed tell whose. */
	void (*light)(struct morph_txn *txn);
	/* A change is published: its items have the circuits with their old and new paths. */
	void (*published)(struct morph_txn *txn);
	/* The old paths of its items are not claimed any more. */
	void (*paths_freed)(struct morph_txn *txn);
	/* Something that others may wait for is free, whoever had it. */
	void (*freed)(struct morph_fabric *fabric);

	/* Light of a slice is missing, or goes over bad hardware. */
	void (*hurt)(struct morph_slice *slice);
	/* Circuits could not be brought back when a change was rolled back. */
	void (*broken)(struct morph_txn *txn);
	/* A numbered transaction has another outcome; one has ended. */
	void (*txn_changed)(struct morph_txn *txn);
	void (*txn_ended)(struct morph_txn *txn);
	/* The circuits of a slice are those of an earlier configuration. */
	void (*reverted)(struct morph_slice *slice);

	/* Notices of slices, recovery and schedules to the layers above them. */

	/* An event of a slice, for its owner. */
	void (*event)(struct morph_slice *slice, const struct morph_event *event);
	/* What is known of a slice has changed. */
	void (*slice_changed)(struct morph_slice *slice);
	void (*accelerator_changed)(struct morph_fabric *fabric, u32 accelerator);
	void (*hardware_changed)(struct morph_fabric *fabric, u32 part, u32 index);
	void (*controller_changed)(struct morph_fabric *fabric,
				   const struct morph_controller *controller, u32 state);
	void (*schedule_changed)(const struct morph_schedule *schedule);
	/* A circuit has gone dark by itself. */
	void (*darkened)(struct morph_circuit *circuit);
	/* Any circuit of a slice may be lit or dark since. */
	void (*light_reviewed)(struct morph_slice *slice);
	/* A repair of a slice ends: its circuits are where they stay. */
	void (*repaired)(struct morph_slice *slice);
	/* Something became free or healthy; the slice itself needs no repair. */
	void (*retried)(struct morph_slice *slice);
	/* A slice begins to end. */
	void (*slice_dying)(struct morph_slice *slice);
	/* Nothing may change a slice by itself any more: it ends. No lock held. */
	void (*slice_stopping)(struct morph_slice *slice);
	/* All circuits of a slice are about to go dark: it ends. */
	void (*slice_darkening)(struct morph_slice *slice);
	/* A slice has ended. No lock held. */
	void (*slice_gone)(struct morph_slice *slice);
};

/* While the module starts. */
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
void morph_report_freed(struct morph_fabric *fabric);
void morph_report_hurt(struct morph_slice *slice);
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
void morph_report_retried(struct morph_slice *slice);
void morph_report_slice_dying(struct morph_slice *slice);
void morph_report_slice_stopping(struct morph_slice *slice);
void morph_report_slice_darkening(struct morph_slice *slice);
void morph_report_slice_gone(struct morph_slice *slice);

/* ----------------------------------------------------------------- fabric.c */

/* Find a registered fabric and take a reference to its device, or NULL. */
struct morph_fabric *morph_fabric_find(u32 id);
/* The first registered fabric whose id is at least *id, referenced; sets *id. Or NULL. */
struct morph_fabric *morph_fabric_next(u32 *id);
void morph_fabric_wait_released(void);
/* Answers -ENODEV when the provider is gone. fabric->lock. */
int morph_fabric_check(struct morph_fabric *fabric);
/* -ESTALE when changes were planned for another profile; 0: they do not say for which. */
int morph_fabric_check_profile(struct morph_fabric *fabric, u32 checksum,
			       struct morph_refusal *refusal);

/* Who is charged for what is held, and how much that may be. */

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
	atomic64_t queue_turn_ns;	/* CLOCK_MONOTONIC: of the next queue; no lock */
};

enum morph_resource {
	MORPH_RES_ACCELERATORS,
	MORPH_RES_CIRCUITS,
	MORPH_RES_LANES,
	MORPH_RES_PREPARED,
	MORPH_RES_BYTES,		/* memory that is kept on behalf of the user */
};

/* On whose behalf a request is made. All zero: the tenant's own, which no controller fences. */
struct morph_token {
	u64 epoch;
	u32 controller;		/* 0: none is named */
	bool needed;		/* it came over netlink: the slice's controller must be named */
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

/* Why something was refused, in a form for programs and one for people. */

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

#endif /* MORPH_CORE_BASE_BASE_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/* Slices, their ranks and circuits. */
#ifndef MORPH_CORE_SLICE_H
#define MORPH_CORE_SLICE_H

#include <linux/kref.h>
#include <linux/uidgid.h>

#include "core.h"
#include "plan.h"

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
	u64 alarm_since_ns;		/* when it was first seen, of the last that found it lit */
	bool listed;			/* in slice->circuits: was lit */
	struct morph_schedule *schedule; /* that lights it in some steps, or NULL */
	u64 told_mbps;			/* in the slice's state page */
	bool astray;			/* a repair has left it a path that can't be */
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

struct morph_rank {
	u32 accelerator;
	u32 replacements;
	bool failed;			/* its accelerator is to be replaced */
	bool forced;			/* somebody asked for it, whatever the policy */
	u32 wanted_spare;		/* which one they asked for, or MORPH_ANY */
	u32 preferred;			/* spare that is tried first, or MORPH_ANY */
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
	u32 controller;			/* that decides about it, or 0 */
	bool reserved;
	/* Some look at these three without the lock. */
	bool dying;			/* no new work; teardown is queued or done */
	bool repairing;			/* repair_work is to run or runs */
	bool busy;			/* a change is under way */
	bool plans_wait;		/* some for the slice to come to rest */
	bool held_up;			/* works of schedules likewise */
	bool recovers;			/* schedules without paths are looked at when it is left */
	bool comes_in;			/* has, or had, circuits that come in over an edge */
	u64 generation;
	u32 ranks_count;
	struct morph_rank *ranks;
	struct xarray circuits;		/* by id */
	struct list_head txns;		/* of morph_txn.node: in two phases, or going by parts */
	struct list_head schedules;	/* of morph_schedule.node, in the order of their numbers */
	struct list_head rings;		/* of struct morph_ring: ring.c */
	struct morph_state_page *state_page; /* or NULL: state.c */
	u32 last_schedule, last_ring;	/* numbers given */
	u32 schedule_ids;		/* the next number of a circuit of one */
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
	int failover_error;		/* why its last failover was in vain, or 0 */
	bool crowded;			/* other repairs were under way beside its last one */
	u64 degraded_mbps;		/* what its owner was told is left then */

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
/* Numbers of circuits of schedules begin here: they follow one another. */
#define MORPH_SCHEDULE_FIRST_ID	0x1000000u
/* A circuit that is in no table yet, charged; an error pointer: -EDQUOT with @refusal, -ENOMEM. */
struct morph_circuit *morph_circuit_alloc(struct morph_slice *slice,
					  const struct morph_change *change,
					  struct morph_refusal *refusal);
void morph_circuit_free(struct morph_circuit *circuit);
/* Take a circuit out of its slice; its route claims nothing any more. fabric->lock held. */
void morph_circuit_drop(struct morph_circuit *circuit);
/* Admit one change at a time. fabric->lock held, dropped while waiting, held on return. */
int morph_slice_enter(struct morph_slice *slice, bool repair);
void morph_slice_leave(struct morph_slice *slice);

#endif /* MORPH_CORE_SLICE_H */

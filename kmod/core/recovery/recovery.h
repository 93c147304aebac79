/* SPDX-License-Identifier: GPL-2.0-only */
/* Health of hardware: signals, diagnosis, patrol and tests; repair of slices. */
#ifndef MORPH_CORE_RECOVERY_RECOVERY_H
#define MORPH_CORE_RECOVERY_RECOVERY_H

#include "core/base/base.h"
#include "core/slice/slice.h"
#include "core/txn/txn.h"

/* What this layer keeps with a fabric. Under fabric->lock, but for what says otherwise. */
struct morph_recovery {
	struct morph_slices slices;	/* first: the layers below */
	s32 temperature;
	struct morph_times last_failover;
	u32 patrol_next, patrol_element;
	struct morph_culprit suspects[MORPH_SUSPECTS];	/* to be tested by patrol: a ring */
	u32 suspect_head, suspect_count;
	u32 degraded;			/* slices in that state */
	u32 lost;			/* schedules without paths */
	u32 recoveries;			/* times that something became free or healthy */
	u32 repairs, repairs_begun;	/* under way; ever */
	struct delayed_work recover_work; /* lets degraded slices try again: repair.c */
	struct work_struct signal_work;	/* signals to faults: signal.c */
	struct delayed_work patrol_work; /* idle hardware, round by round: patrol.c */
	struct work_struct review_work;	/* hardware as it was told: patrol.c */
	bool review;			/* hardware may not be as it was told; no lock */

	/* signal_lock, irqsave */
	spinlock_t signal_lock;
	struct morph_signal *signals;	/* MORPH_SIGNAL_SLOTS */
	u32 signal_head;
	bool signals_overrun;		/* some were lost: everything in use is to be checked */
	bool signals_stopped;		/* the provider is gone */
};

static inline struct morph_recovery *recovery_of(const struct morph_fabric *fabric)
{
	return container_of(slices_of(fabric), struct morph_recovery, slices);
}

/* What this layer keeps with a rank. Under fabric->lock. */
struct morph_rank_recovery {
	u32 wanted_spare;		/* of a replacement that was asked for, or MORPH_ANY */
	bool forced;			/* somebody asked for it, whatever the policy */
};

/* What this layer keeps with a slice. Under fabric->lock. */
struct morph_slice_recovery {
	struct morph_slice_tenancy tenancy; /* first: the layers below */
	struct work_struct repair_work;
	u64 fault_since_ns;		/* when hardware showed the fault under repair */
	u64 fault_noticed_ns;		/* when the core read the signal */
	struct morph_culprit culprit;	/* what degraded it */
	bool was_degraded;		/* counted in fabric->degraded */
	bool crowded;			/* other repairs were under way beside its last one */
	int failover_error;		/* why its last failover was in vain, or 0 */
	u64 degraded_mbps;		/* what its owner was told is left then */
	u32 hour_replacements;		/* that the owner asked for within the hour */
	u64 hour_since_ns;		/* CLOCK_BOOTTIME: when the hour began */
	struct morph_rank_recovery *ranks;	/* by rank */
	u32 *failover_lists;		/* four of ranks_count: see struct failover */
};

static inline struct morph_slice_recovery *slice_recovery(const struct morph_slice *slice)
{
	return container_of(slice_tenancy(slice), struct morph_slice_recovery, tenancy);
}

static inline struct morph_rank_recovery *rank_recovery(const struct morph_slice *slice, u32 rank)
{
	return &slice_recovery(slice)->ranks[rank];
}

/* ----------------------------------------------------------------- health.c */

void morph_signal_work(struct work_struct *work);
/* A live circuit runs over failed hardware: its slice is repaired. fabric->lock held. */
void morph_route_hit(struct morph_route *route, const struct morph_culprit *culprit, u64 since);
/* Hardware that patrol shall test when it can; does it wait for that? fabric->lock held. */
bool morph_suspect_waits(struct morph_fabric *fabric, u32 part, u32 index);
void morph_suspect_add(struct morph_fabric *fabric, const struct morph_culprit *suspect);
/* It has proved to be sound. fabric->lock held. */
void morph_suspect_drop(struct morph_fabric *fabric, u32 part, u32 index);
/* Does light of some circuit arrive that runs through a guide? fabric->lock held. */
bool morph_guide_lit(struct morph_fabric *fabric, u32 guide);
/* Hardware may not be as it was told: patrol looks, and tells it again. Any context. */
void morph_patrol_review(struct morph_fabric *fabric);
#define MORPH_PATROL_PERIOD	msecs_to_jiffies(1000)
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
/* Find who is to blame for missing light on a route. Talks to the device: no lock held. */
void morph_health_diagnose(struct morph_fabric *fabric, const struct optics_path *path,
			   u32 src_accelerator, struct morph_culprit *culprit);

/* Findings, reports and waiters. While the module starts. */
void morph_recovery_register(void);
/* A repair's transaction is published: for its kind. fabric->lock held. */
void morph_repair_published(struct morph_txn *txn);
void morph_repair_announced(struct morph_txn *txn);

/* The context of a repair's transaction: what is done when it is published, and told then. */
struct morph_repair_job {
	void (*published)(struct morph_txn *txn, struct morph_repair_job *job);
	void (*announced)(struct morph_txn *txn, struct morph_repair_job *job);
};

/* ------------------------------------------------------------------- test.c */

/*
 * Queue a test; *txn gets the id of the act. accept: whatever accelerator is in the place
 * is the known one from now on. Takes the locks itself.
 */
int morph_health_test(struct morph_fabric *fabric, u32 part, u32 index, bool accept, u32 *txn,
		      struct morph_refusal *refusal);
#define MORPH_TEST_FAILED	1
/*
 * Judge by test; the device works, no lock held. Returns 0 when it passed, MORPH_TEST_FAILED
 * when it did not, -EBUSY when it can't be tested now, -ENXIO for an accelerator that is
 * not the known one, and any other negative errno when the device could not be asked.
 */
int morph_test_run(struct morph_fabric *fabric, const struct morph_culprit *target, bool accept);
/* A role between free and spare, and the PCI address of an accelerator. Take the locks. */
int morph_accelerator_set_use(struct morph_fabric *fabric, u32 accelerator, u32 use,
			      struct morph_refusal *refusal);
int morph_accelerator_set_pci(struct morph_fabric *fabric, u32 accelerator, const char *pci,
			      struct morph_refusal *refusal);

/* ------------------------------------------------------------------ probe.c */

/* Nobody has it, and a test may. fabric->lock held. */
bool morph_chip_idle(struct morph_fabric *fabric, u32 accelerator);
/*
 * A path through a guide, over what is free and sound, between two idle accelerators. It has
 * room for OPTICS_MAX_HOPS; nothing is claimed. False: none was found. fabric->lock held.
 */
bool morph_probe_path(struct morph_fabric *fabric, u32 guide, struct optics_path *path);

/* --------------------------------------------------------------- identity.c */

/* Serial number of the PCI device at an address; 0: there is none, or it has none. */
u64 morph_identity_serial(const char *address);
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

/* Slices that lost light or an accelerator get it back. */

void morph_repair_work(struct work_struct *work);
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

/* Is there no accelerator that would answer? One that somebody wants replaced still does. */
static inline bool morph_rank_failed(const struct morph_slice *slice, u32 rank)
{
	const struct morph_rank *entry = &slice->ranks[rank];

	return !(rank & MORPH_RANK_EDGE) && entry->failed &&
	       ledger_of(slice->fabric)->chips[entry->accelerator].health != MORPH_HEALTH_OK;
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
/* Which spare is to be tried first for a rank; MORPH_ANY: none before others. */
struct morph_preference {
	u32 rank, spare;
};

/* All of them, or none where one is refused. Takes the lock itself. */
int morph_repair_prefer(struct morph_slice *slice, const struct morph_preference *list, u32 count,
			struct morph_refusal *refusal);
/* How many replacements the owner has asked for in the hour that runs. fabric->lock held. */
u32 morph_repair_replacements(const struct morph_slice *slice);
/* Some hardware became usable again: let degraded slices try once more. fabric->lock held. */
void morph_repair_recover(struct morph_fabric *fabric);
void morph_repair_recover_work(struct work_struct *work);

#endif /* MORPH_CORE_RECOVERY_RECOVERY_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/* Health of hardware: signals, diagnosis, patrol and tests; repair of slices. */
#ifndef MORPH_CORE_RECOVERY_RECOVERY_H
#define MORPH_CORE_RECOVERY_RECOVERY_H

#include "core/base/base.h"
#include "core/slice/slice.h"
#include "core/txn/txn.h"

#define MORPH_SIGNALS_AT_ONCE	16u	/* parts whose signals are handled in one hold */

/* Delay before the next try; jiffies. */
struct morph_backoff {
	unsigned long at;
	unsigned long delay;		/* 0: at once */
};

/*
 * The search for a path to test a suspect by light. It tries one accelerator after the other at the
 * far end of a port, a few in each round of patrol. fabric->lock guards all fields.
 */
struct morph_search {
	u32 recoveries;			/* of the fabric when the pass began */
	u16 tried;			/* accelerators tried in this pass, nearest first */
	u8 budget;			/* searches that remain for this test */
	bool ended;			/* the pass has tried all accelerators in vain */
};

/* Lines of the kernel's log that are not printed yet: log.c. fabric->lock guards them. */
struct morph_log {
	struct morph_fabric *fabric;
	struct delayed_work work;
	u32 first, count;		/* circular */
	struct morph_event lines[40];
};

/* The recovery layer's part of the fabric. fabric->lock guards the fields without other note. */
struct morph_recovery {
	struct morph_slices slices;	/* first: structure of the layers below */
	s32 temperature;		/* millidegrees Celsius; READ_ONCE, WRITE_ONCE */
	struct morph_event last_replaced; /* of the last failover; type 0: none yet */
	u32 patrol_next, patrol_element;
	/* By receive port: guides of the dark paths to it; valid if its bit in rx_blamed is set. */
	struct morph_blame **blames;
	struct morph_suspect *suspect_parts;	/* by part: suspect.c */
	/* Queues of parts to be tested by patrol: accelerators in [1], all other parts in [0]. */
	struct morph_suspects {
		u32 first, last, count;
	} suspects[2];
	u32 degraded;			/* number of degraded slices */
	u32 lost;			/* number of schedules without paths */
	u32 recoveries;			/* how often a resource became free or healthy */
	u32 paths_freed;		/* 1, plus how often a path became free */
	bool freed;			/* recover_work must try degraded slices */
	bool wanted_freed;		/* it must retry waiting protections and schedules */
	struct morph_backoff wanted;	/* delay of these protections and schedules */
	unsigned long recover_at;	/* jiffies: when recover_work runs, while it is pending */
	u32 repairs, repairs_begun;	/* running ones; total since the start */
	struct delayed_work recover_work; /* retries degraded slices: repair.c */
	struct work_struct signal_work;	/* converts signals to faults: signal.c */
	struct morph_signal signals[2 * MORPH_SIGNALS_AT_ONCE];	/* those that it converts now */
	struct delayed_work patrol_work; /* reads idle hardware in rounds: patrol.c */
	struct work_struct review_work;	/* compares hardware with commands: patrol.c */
	struct work_struct park_work;	/* parks released elements: park.c */
	struct morph_log log;
	unsigned long *unparked;	/* bit by element: park_work must park it */
	u32 unparked_next;		/* where park_work continues */
	bool review;			/* a review is needed; READ_ONCE, WRITE_ONCE */
	bool review_failed;		/* for some hardware: repeat it there; the same */
	u32 resumes, resumes_reviewed;	/* calls of morph_fabric_resume(); the same */

	/* Guarded by signal_lock, taken with irqsave, like signal_count of struct morph_slices. */
	spinlock_t signal_lock;
	struct morph_pending *pending;	/* by part: pending.c */
	u32 pending_first, pending_last; /* of the queue of parts with signals */
	bool signals_stopped;		/* the provider has unregistered */
};

static inline struct morph_recovery *recovery_of(const struct morph_fabric *fabric)
{
	return container_of(slices_of(fabric), struct morph_recovery, slices);
}

/* The recovery layer's part of a rank. fabric->lock guards all fields. */
struct morph_rank_recovery {
	u32 wanted_spare;		/* of a requested replacement, or MORPH_ANY */
	bool forced;			/* replace even against the policy */
	bool taken;			/* a failover took its lent spare; until it works again */
	/* While a failover gives it a lent spare: the slice, or NULL, and rank that had it. */
	struct morph_slice *borrower;
	u32 borrower_rank;
};

/* The recovery layer's part of a slice. fabric->lock guards all fields. */
struct morph_slice_recovery {
	struct morph_slice_tenancy tenancy; /* first: structure of the layers below */
	struct work_struct repair_work;
	u64 fault_since_ns;		/* when hardware showed the fault that is under repair */
	u64 fault_noticed_ns;		/* when the core read the signal */
	/* The slice whose repair has entered this one: itself, or one that takes its lent spare. */
	const struct morph_slice *entered_by;
	struct morph_culprit culprit;	/* cause of the degraded state */
	bool was_degraded;		/* the slice is counted in degraded of the fabric */
	bool crowded;			/* other repairs ran during its last one */
	bool woken;			/* it waits for a try: retry.c */
	bool woken_again;		/* another try must follow the present one */
	bool disturbed;			/* other changes have disturbed a search of the last one */
	bool schedules_woken;		/* its schedules wait for a try */
	u32 retry_circuit;		/* circuits with smaller numbers have been searched */
	struct morph_backoff retry;
	int failover_error;		/* error of its last failover, or 0 */
	u64 degraded_mbps;		/* bandwidth in the last event DEGRADED */
	u32 hour_replacements;		/* replacements by the owner in the current hour */
	u64 hour_since_ns;		/* CLOCK_BOOTTIME: start of that hour */
	struct morph_rank_recovery *ranks;	/* by rank */
	u32 *failover_lists;		/* three, by rank: see struct failover */
};

static inline struct morph_slice_recovery *slice_recovery(const struct morph_slice *slice)
{
	return container_of(slice_tenancy(slice), struct morph_slice_recovery, tenancy);
}

static inline struct morph_rank_recovery *rank_recovery(const struct morph_slice *slice, u32 rank)
{
	return &slice_recovery(slice)->ranks[rank];
}

/* ---------------------------------------------------------------- pending.c */

int morph_pending_alloc(struct morph_fabric *fabric);
void morph_pending_free(struct morph_fabric *fabric);
/* Merge a signal with the pending ones of its part; ignore one of no part. */
void morph_pending_add(struct morph_fabric *fabric, const struct morph_signal *signal);
u32 morph_pending_take(struct morph_fabric *fabric, struct morph_signal signals[2]);

/* ---------------------------------------------------------------- suspect.c */

int morph_suspects_alloc(struct morph_fabric *fabric);
void morph_suspects_free(struct morph_fabric *fabric);
/* Queue hardware for a test by patrol; return whether it waits. Caller holds fabric->lock. */
void morph_suspect_add(struct morph_fabric *fabric, const struct morph_culprit *suspect);
bool morph_suspect_waits(struct morph_fabric *fabric, u32 part, u32 index);
u64 morph_suspect_lanes(struct morph_fabric *fabric, u32 part, u32 index);
/* The test is unnecessary or has ended, for the lanes of the port. Caller holds fabric->lock. */
void morph_suspect_drop(struct morph_fabric *fabric, const struct morph_culprit *suspect);
/* Move a waiting part to the end of its queue. Caller holds fabric->lock. */
void morph_suspect_defer(struct morph_fabric *fabric, const struct morph_culprit *suspect);
/* The search for a path to test a waiting part. It starts again if lanes of the part change. */
struct morph_search *morph_suspect_search(struct morph_fabric *fabric,
					  const struct morph_culprit *suspect);
/* Find the first accelerator or other part that waits; return false if there is none. */
bool morph_suspect_first(struct morph_fabric *fabric, bool accelerator,
			 struct morph_culprit *suspect);

/* ----------------------------------------------------------------- health.c */

void morph_signal_work(struct work_struct *work);
/* A path uses failed hardware: mark its protection stale, or repair the slice of its circuit. */
void morph_route_hit(struct morph_route *route, const struct morph_culprit *culprit, u64 since);
/* Return whether the light of some circuit through a guide arrives. Caller holds fabric->lock. */
bool morph_guide_lit(struct morph_fabric *fabric, u32 guide);

/* ------------------------------------------------------------------- park.c */

#define MORPH_PARKS_AT_ONCE	16u	/* elements per request, and per hold of fabric->lock */
/* Return whether an element without a user is not parked. Caller holds fabric->lock. */
bool morph_left_behind(struct morph_fabric *fabric, u32 element);
/* Park a few elements that are left behind; marks exclude other users meanwhile. No lock held. */
void morph_park_elements(struct morph_fabric *fabric, const u32 *elements, u32 count);
/* Let the worker park an element if it is left behind then. Caller holds fabric->lock. */
void morph_park_later(struct morph_fabric *fabric, u32 element);
void morph_park_work(struct work_struct *work);

/* ----------------------------------------------------------------- patrol.c */

/* Hardware may differ from the commanded state: read and reprogram it. Any context. */
void morph_patrol_review(struct morph_fabric *fabric);
#define MORPH_PATROL_PERIOD	msecs_to_jiffies(1000)
void morph_health_init(struct morph_fabric *fabric);
/* Start patrol; stop it, and all reading of signals. */
void morph_health_start(struct morph_fabric *fabric);
void morph_health_stop(struct morph_fabric *fabric);
/* Mark hardware; failed hardware starts the repair of slices that use it. Holds fabric->lock. */
int morph_health_set(struct morph_fabric *fabric, const struct morph_culprit *culprit, u32 health,
		     u64 since_ns);
u32 morph_health_get(struct morph_fabric *fabric, u32 part, u32 index);
int morph_health_cordon(struct morph_fabric *fabric, u32 part, u32 index, bool cordon,
			struct morph_refusal *refusal);
void morph_blames_free(struct morph_fabric *fabric);
/* Find the cause of missing light on a route. Waits for the device: no lock held. */
void morph_health_diagnose(struct morph_fabric *fabric, const struct optics_path *path,
			   u32 src_accelerator, struct morph_culprit *culprit);

void morph_log_init(struct morph_fabric *fabric);
/* Print what is left. The fabric is gone, so later lines are printed at once. No lock held. */
void morph_log_stop(struct morph_fabric *fabric);
/*
 * Log the failure of an accelerator. @slice: it has the accelerator, or NULL. Caller holds
 * fabric->lock.
 */
void morph_log_failed(struct morph_fabric *fabric, u32 accelerator, const struct morph_slice *slice,
		      u32 rank);
/* Log replacements and degradations. Caller holds fabric->lock. */
void morph_log_event(struct morph_slice *slice, const struct morph_event *event);

/* Register subscriptions and waiters. Only while the module loads. */
void morph_recovery_register(void);
/* Operations of the kind MORPH_TXN_REPAIR. Caller holds fabric->lock. */
void morph_repair_published(struct morph_txn *txn);
void morph_repair_announced(struct morph_txn *txn);

/* The context of a repair's transaction: functions called during and after its publication. */
struct morph_repair_job {
	void (*published)(struct morph_txn *txn, struct morph_repair_job *job);
	void (*announced)(struct morph_txn *txn, struct morph_repair_job *job);
};

/* ------------------------------------------------------------------- test.c */

/*
 * Queue a test; *txn gets the id of its transaction. @accept: the accelerator that is in place
 * becomes the known one. Takes fabric->lock.
 */
int morph_health_test(struct morph_fabric *fabric, u32 part, u32 index, bool accept, u32 *txn,
		      struct morph_refusal *refusal);
#define MORPH_TEST_FAILED	1
/*
 * Run a test; waits for the device, no lock held. The test of a port lights one of its lanes and
 * stores it in @target->lanes; all lanes are possible if these are 0. Return:
 *
 *   0                  the part passed
 *   MORPH_TEST_FAILED  it did not pass
 *   -EBUSY             it cannot be tested now
 *   -ENXIO             another accelerator than the known one is in place
 *   other errno        the device could not be read or programmed
 *
 * @search continues an earlier search for a path; NULL: search all ends.
 */
int morph_test_run(struct morph_fabric *fabric, struct morph_culprit *target, bool accept,
		   struct morph_search *search);
/* Change the use of an accelerator (free or spare), or its PCI address. Take fabric->lock. */
int morph_accelerator_set_use(struct morph_fabric *fabric, u32 accelerator, u32 use,
			      struct morph_refusal *refusal);
int morph_accelerator_set_pci(struct morph_fabric *fabric, u32 accelerator, const char *pci,
			      struct morph_refusal *refusal);

/* ------------------------------------------------------------------ probe.c */

/* Return whether the accelerator is unused and may be tested. Caller holds fabric->lock. */
bool morph_chip_idle(struct morph_fabric *fabric, u32 accelerator);
/*
 * Find a path through a guide between two idle accelerators, over free, healthy hardware. @path has
 * space for OPTICS_MAX_HOPS; the function claims nothing. Return false if there is none. Caller
 * holds fabric->lock.
 */
bool morph_probe_path(struct morph_fabric *fabric, u32 guide, struct optics_path *path);

/* --------------------------------------------------------------- identity.c */

/* Serial number of the PCI device at an address; 0: no device, or no number. */
u64 morph_identity_serial(const char *address);
/* Record all identities at the registration of a fabric, which has no users yet. */
void morph_identity_learn(struct morph_fabric *fabric);
/*
 * Check the identity of an accelerator. Return 0, or -ENXIO after quarantining it. @accept: the
 * accelerator in place becomes the known one. Takes fabric->lock.
 */
int morph_identity_check(struct morph_fabric *fabric, u32 accelerator, bool accept);
/* Refuse an accelerator with another identity; return 0 if it is known. Holds fabric->lock. */
int morph_identity_refuse(struct morph_fabric *fabric, u32 accelerator,
			  struct morph_refusal *refusal);

/* Repair of slices that lost light or an accelerator. */

void morph_repair_work(struct work_struct *work);
/*
 * If staging of a repair fails, its transaction keeps the routes. Free them, so that the next
 * staging searches other ones. Caller holds fabric->lock.
 */
void morph_repair_free_routes(struct morph_txn *txn);
/* Caller holds fabric->lock; the function drops it if there is no memory. */
struct morph_txn *morph_repair_alloc_txn(struct morph_slice *slice, u32 count);
/* Free a repair's transaction that failed or has ended. Caller holds fabric->lock. */
void morph_repair_free_txn(struct morph_txn *txn);
/*
 * Stage; revoke other slices' prepared transactions if necessary. @dry: revoke none, but return
 * MORPH_REPAIR_BLOCKED if one is in the way. -ESTALE, -ENODEV: morph_txn_plan_and_stage(). Caller
 * holds fabric->lock; the function drops it during long searches.
 */
#define MORPH_REPAIR_BLOCKED	1
int morph_repair_stage(struct morph_txn *txn, bool dry);
/*
 * Send the event as soon as the failure of the rank's accelerator is noticed. @outcome is REVOKED
 * if a failover has taken a lent spare. Caller holds fabric->lock.
 */
void morph_repair_report_failing(struct morph_slice *slice, u32 rank, u32 accelerator, u32 outcome);
/*
 * Replace all failed ranks that the policy permits. Return 0, or the error if some were not
 * replaced. Caller holds fabric->lock; the function drops it while the device works.
 */
int morph_failover_run(struct morph_slice *slice);
u64 morph_txn_longest_dark(const struct morph_txn *txn);

/* -------------------------------------------------------------- reclaim.c */

/* Return spare number @skip for a rank. A failed rank may get a lent spare, after the idle ones. */
u32 morph_repair_spare(struct morph_slice *slice, u32 rank, u32 preferred, u32 skip);
/*
 * Take a lent spare from its slice for a rank of this one, and enter that slice. Return false if
 * that is not possible now. Caller holds fabric->lock; the function may drop it.
 */
bool morph_reclaim(struct morph_slice *slice, u32 rank, u32 spare);
/*
 * Give a spare back to the slice it was taken from; return false if it was not lent. @to_front: the
 * caller will try the next ones.
 */
bool morph_reclaim_undo(struct morph_slice *slice, u32 spare, bool to_front);
/* Return whether a failover, which has entered the slice, is taking the rank's lent spare. */
bool morph_reclaims_rank(const struct morph_slice *slice, u32 rank);
/* Fill items that remove the circuits of such ranks, unless @items is NULL. Return their number. */
u32 morph_reclaim_fill(struct morph_slice *slice, struct morph_item *items);
/*
 * Let the removals of a prepared failover apply to the borrower that the rank's lent spare was
 * taken from. Return false if they are not all circuits of its rank.
 */
bool morph_reclaim_adopt(struct morph_slice *slice, u32 rank, struct morph_txn *txn);
/* Give the failed accelerator of a replaced rank to the borrower; report it. */
void morph_reclaim_published(struct morph_slice *slice, u32 rank, u32 failed);
void morph_reclaim_announced(struct morph_slice *slice, u32 rank, u32 failed);
/* The failover has ended with success: leave the borrowers. */
void morph_reclaim_end(struct morph_slice *slice);

/*
 * Return whether a rank has no working accelerator. One with a requested replacement still works.
 */
static inline bool morph_rank_failed(const struct morph_slice *slice, u32 rank)
{
	const struct morph_rank *entry = &slice->ranks[rank];

	return !(rank & MORPH_RANK_EDGE) && entry->failed &&
	       ledger_of(slice->fabric)->chips[entry->accelerator].health != MORPH_HEALTH_OK;
}

/* Hardware that the slice uses has failed: repair it. Caller holds fabric->lock. */
void morph_repair_kick(struct morph_slice *slice, u64 since_ns);
/* The owner's report and replacement; wait for the end. Take fabric->lock. */
int morph_repair_report(struct morph_slice *slice, u32 rank, u32 *state, u32 *health,
			struct morph_refusal *refusal);
int morph_repair_replace(struct morph_slice *slice, u32 rank, u32 spare, u32 *state, u32 *health,
			 struct morph_refusal *refusal);
/* Queue the operator's replacement; *txn gets the id of its transaction. */
int morph_repair_replace_queue(struct morph_slice *slice, u32 rank, u32 spare, u32 *txn,
			       struct morph_refusal *refusal);
/* The spare that failover tries first for a rank; MORPH_ANY: no preference. */
struct morph_preference {
	u32 rank, spare;
};

/* Set all preferences, or none if one is refused. Takes fabric->lock. */
int morph_repair_prefer(struct morph_slice *slice, const struct morph_preference *list, u32 count,
			struct morph_refusal *refusal);
/* Number of replacements by the owner in the current hour. Caller holds fabric->lock. */
u32 morph_repair_replacements(const struct morph_slice *slice);
/* Return whether the slice needs no repair. */
bool morph_slice_whole(struct morph_slice *slice);
/*
 * A loop over the listed circuits of a slice by number. It ends at the last one, because a search
 * in the table beyond it visits many empty slots. No circuit may be listed or unlisted meanwhile.
 */
struct morph_listed_loop {
	struct morph_slice *slice;
	unsigned long number;		/* of the circuit before the next one */
	u32 left;			/* listed circuits from the next one on */
};

static inline struct morph_listed_loop morph_loop_listed(struct morph_slice *slice)
{
	return (struct morph_listed_loop){ .slice = slice, .left = slice->circuits_count };
}

/* The next circuit, or NULL. */
struct morph_circuit *morph_loop_next(struct morph_listed_loop *loop);
/* Return whether a repair may move the circuit to another path, because its own has failed. */
bool morph_circuit_broken(const struct morph_circuit *circuit);
/* Return whether no search for a path helps until paths become free. */
bool morph_circuit_in_vain(const struct morph_circuit *circuit);
/* Return whether a circuit is dark for no known reason, so that a repair reads its receiver. */
bool morph_light_may_return(struct morph_slice *slice);
/*
 * Return whether a broken circuit has a path. A path that a prepared transaction holds counts, too,
 * because a repair may revoke it. Claims nothing. The slice is idle. Caller holds fabric->lock; the
 * function drops it during a long search.
 */
bool morph_reroute_possible(struct morph_circuit *circuit);
/* Let other tasks take fabric->lock during a repair; return whether the repair may go on. */
bool morph_repair_pause(struct morph_slice *slice);
/* Return whether a spare is free for a failed rank that the policy permits to replace. */
bool morph_failover_has_spare(struct morph_slice *slice);
/*
 * Return whether the circuits of a failed rank have paths to a free spare, if the policy permits to
 * replace it. Resources that another slice borrows or has prepared count as free. The slice is
 * idle. Caller holds fabric->lock; the function drops it during long searches and after each
 * failing one.
 */
bool morph_failover_possible(struct morph_slice *slice);

/* ------------------------------------------------------------------ retry.c */

/* Hardware became usable: let degraded slices retry. Caller holds fabric->lock. */
void morph_repair_recover(struct morph_fabric *fabric, u32 freed);
/* The repair of a slice has ended. Caller holds fabric->lock, as for the next functions. */
void morph_retry_repaired(struct morph_slice *slice, bool whole);
/* Resources became free during a repair that has left its slice degraded. */
void morph_retry_missed(struct morph_slice *slice);
void morph_retry_crowded(struct morph_slice *last);
/* Let the worker report the slice to morph_subscriber.retried. Caller holds fabric->lock. */
void morph_retry_schedules(struct morph_slice *slice);
/* Continues the retry of a slice that has become idle. */
void morph_retry_idle(struct morph_slice *slice);
extern struct morph_slice_waiter morph_repair_waiter;
void morph_repair_recover_work(struct work_struct *work);

#endif /* MORPH_CORE_RECOVERY_RECOVERY_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Schedules: sequences of steps, each with its set of circuits. A schedule holds the resources
 * of all steps and lights one step after the other.
 *
 *   schedule.c  lifetime and queries
 *   load.c      conversion of a request to circuits with held resources
 *   circuits.c  memory, paths and numbers of these circuits
 *   path.c      paths of circuits, and the light of each step
 *   sweep.c     resources of circuits, and the changes of each step
 *   hold.c      resources held in the ledger
 *   claims.c    claims of circuits on these resources; suspension by repairs
 *   step.c      one step as a transaction
 *   run.c       barriers, time, deadlines, lighting ahead, and execution of a step
 *   act.c       requests of owners: start, call, wait, stop and unload
 *   repair.c    new paths after a repair
 *
 * A circuit of a schedule is a circuit of the slice, and is in slice->circuits while it is lit.
 * The schedule holds its resources all the time. When it is lit, its route claims them; when it
 * goes dark, the route returns them to the schedule. So a step changes only states and pins of
 * elements that no other slice may use.
 *
 * fabric->lock guards all fields that may change after loading. A thread enters the slice
 * before it executes a step, which excludes transactions and repairs.
 */
#ifndef MORPH_CORE_SCHEDULE_H
#define MORPH_CORE_SCHEDULE_H

#include <linux/hrtimer.h>
#include <linux/kref.h>

#include "core/base/base.h"
#include "core/ledger/ledger.h"
#include "core/recovery/recovery.h"
#include "core/txn/txn.h"

struct morph_txn;

/* The schedule layer's part of a slice. fabric->lock guards all fields. */
struct morph_slice_scheduling {
	struct morph_slice_recovery recovery;	/* first: structure of the layers below */
	struct list_head schedules;	/* of morph_schedule.node, ordered by number */
	u32 last_schedule;		/* last assigned number */
	u32 schedule_ids;		/* next number of a circuit of a schedule */
};

static inline struct morph_slice_scheduling *slice_scheduling(const struct morph_slice *slice)
{
	return container_of(slice_recovery(slice), struct morph_slice_scheduling, recovery);
}

/* The schedule layer's part of a circuit. fabric->lock guards all fields. */
struct morph_circuit_scheduling {
	struct morph_circuit_txns txns;	/* first: structure of the layers below */
	struct morph_schedule *schedule; /* schedule that lights it in some steps, or NULL */
	bool astray;			/* a repair has made its path unusable */
};

static inline struct morph_circuit_scheduling *
circuit_scheduling(const struct morph_circuit *circuit)
{
	return container_of(circuit_txns(circuit), struct morph_circuit_scheduling, txns);
}

/* A request to load a schedule, in kernel memory. */
struct morph_schedule_request {
	const struct morph_schedule_circuit *circuits;
	const u32 *guides;
	const u32 *held;
	const struct morph_schedule_step *steps;
	u32 circuits_count, guides_count, held_count, steps_count;
	u32 flags;
	u64 generation;
};

/* The step or circuit of a request that causes a refusal, or MORPH_ANY. */
struct morph_schedule_wrong {
	u32 step, circuit;
};

/*
 * The conditions under which a verdict is valid: the light of other slices, and the states of those
 * elements of the schedule that have several. Elements that no circuit uses keep their last state.
 */
struct morph_judged {
	u64 others;		/* light_seq of the ledger, without schedule->own_light */
	u64 beside;		/* hash of the states that other schedules have turned */
	u64 stance;		/* schedule->stance */
#define MORPH_NEVER_JUDGED	U64_MAX
};

/* A step, and its changes compared to the previous step. Lists contain circuits. */
struct morph_step {
	u32 held, count;	/* range of schedule->held */
	u32 drop, drops;	/* range of schedule->changes: circuits that go dark */
	u32 light, lights;	/* range of schedule->changes: circuits to light */
	u32 ahead;		/* number of the first of these that can be lit ahead */
	u32 rank, ranks;	/* range of schedule->ranks: those with changes */
	u32 advance;		/* enum morph_advance */
	u64 after_ns, deadline_ns;
	struct morph_judged judged;		/* verdict on the whole step */
	struct morph_judged judged_ahead;	/* on circuits lit ahead beside the previous step */
	struct morph_schedule_step_info info;
};

/* Lanes of a guide or a port that a schedule holds. */
struct morph_held_lanes {
	u32 index;
	u64 lanes;
	u64 ours;		/* of these, lanes claimed by this entry */
};

struct morph_held_element {
	u32 element;
	u32 users;		/* users in state @now in the sweep; then lit circuits */
	u8 state;		/* if the same in all steps */
	u8 now;
	bool alone;		/* has several states: no other user may join */
	bool pinned, marked;	/* set by this schedule, now */
};

/* Resources that a schedule holds in the ledger, each once. All arrays are in one block. */
struct morph_hold {
	struct morph_held_lanes *guides, *tx, *rx;
	struct morph_lanes_held *listed;	/* by entry of guides */
	struct morph_held_element *elements;
	u32 guides_count, tx_count, rx_count, elements_count;
	size_t bytes;		/* charged bytes */
	bool begun;		/* some of them may be held */
	bool taken;		/* all of them are held */
};

struct morph_trace;

/* Memory to undo what a path search writes into the ledger. */
struct morph_traces {
	struct optics_state *ledger;
	struct morph_trace *entries;
	u32 count, room;
	u32 wanted;		/* entries that a search needs */
	u32 mark;		/* last stamp of a search; 0: clear the stamps first */
};

struct morph_schedule {
	struct kref kref;
	struct morph_slice *slice;	/* work items and the transaction have references */
	u32 id;
	u32 flags;
	size_t bytes;			/* charged bytes */

	/* Constant after loading, except the measured costs of steps. */
	u32 circuits_count, steps_count, held_count, most;
	struct morph_circuit **circuits;
	struct morph_step *steps;
	u32 *held, *changes, *ranks;
	u32 *uses, *used_in;		/* by circuit: range of its steps in used_in */
	u32 *stamps, *rank_stamps;	/* by circuit, by rank: for the holder of the slice */
	u64 work;			/* work since fabric->lock was last dropped */
	struct morph_path_search *search;	/* while loading, for searches of several holds */
	struct morph_traces traces;		/* while loading, of the same; or in a repair */
	bool lanes_charged;
	u32 first_circuit;		/* number within the slice */

	/* Guarded by fabric->lock. */
	struct list_head node;		/* head: slice_scheduling(slice)->schedules */
	struct morph_hold hold;
	struct morph_txn *txn;		/* transaction of its steps */
	bool moved;			/* a repair has rerouted one of its circuits */
	bool crossed;			/* a repair has rerouted another circuit over its paths */
	bool lost;			/* some circuits have no path: counted in .lost */
	u32 moves;			/* total number of rerouted circuits */
	u64 own_light;			/* its own part of light_seq */
	u64 stance;			/* hash of the states of its elements */
	u64 dice;			/* random factor of that hash */

	/* Guarded by fabric->lock; waiting threads read the first four without it. */
	u32 state;			/* enum morph_schedule_state */
	u64 position;
	bool gone;
	u32 starts;			/* number of starts, to tell runs apart */
	u32 step;			/* lit step, or MORPH_ANY */
	u64 wanted;			/* position that a barrier or time wants */
	u64 lit_ns;			/* CLOCK_MONOTONIC: when the step was lit */
	u64 lit_seq;			/* fabric->seq at that time, or 0 */
	u64 due_ns;			/* when time begins the next step, or 0 */
	u64 deadline_ns;		/* latest start of the next step, or 0 */
	u64 mended_ns;			/* when a repair last extended that */
	bool is_ahead;			/* circuits of the next step are lit ahead */
	bool stepping;
	bool changing;			/* a transaction lights a step, or lights ahead */
	bool held_up;			/* a work item has found the slice busy */
	u32 callers;			/* threads that wait to enter the slice */
	struct morph_times times;	/* of the last step */
	struct morph_times ahead_times;	/* of lighting ahead */
	int error;
	u32 failed_step;
	u64 *arrived;			/* by rank: last position that it has finished */
	wait_queue_head_t changed;
	struct hrtimer timer;		/* for the time of the next step */
	struct hrtimer deadline;
	struct work_struct step_work, time_work, ahead_work, deadline_work;
};

/* --------------------------------------------------------------- schedule.c */

/* Register kinds, subscriptions and waiters. Only while the module loads. */
void morph_schedule_register(void);
/* Find a slice's schedule by number, with a reference, or NULL. Caller holds fabric->lock. */
struct morph_schedule *morph_schedule_find(struct morph_slice *slice, u32 id);
/* Find the first schedule with at least that number, likewise. */
struct morph_schedule *morph_schedule_next(struct morph_slice *slice, u32 id);
struct morph_schedule *morph_schedule_get(struct morph_schedule *schedule);
void morph_schedule_put(struct morph_schedule *schedule);
/*
 * Remove it from its slice; lit circuits stay without schedule. The caller has entered the slice
 * and holds fabric->lock; the function drops it at times.
 */
void morph_schedule_drop(struct morph_schedule *schedule);
void morph_schedule_drop_slice(struct morph_slice *slice);
/* Let other threads take fabric->lock. The caller holds it and has entered the slice. */
void morph_schedule_relock(const struct morph_schedule *schedule);
void morph_schedule_fill_info(struct morph_schedule *schedule, struct morph_schedule_info *info);
u32 morph_schedule_lit(const struct morph_schedule *schedule);
/* Report a new state to the owner. Caller holds fabric->lock. */
void morph_schedule_report(struct morph_schedule *schedule, u32 outcome, u32 step);

/* ------------------------------------------------------------------- load.c */

/* Load; *schedule gets a reference. Takes fabric->lock. */
int morph_schedule_load(struct morph_slice *slice, const struct morph_schedule_request *request,
			struct morph_schedule **schedule, struct morph_schedule_wrong *wrong,
			struct morph_refusal *refusal);
/* limit of schedule->work in one hold of fabric->lock, if the caller can drop it */
#define MORPH_SCHEDULE_MOST_WORK	36864u
#define MORPH_HOP_WORK		8u	/* of a hop that is claimed, and of an entry that is held */
#define MORPH_SCHEDULE_DROPS	32u	/* circuits that one hold parks, or frees */
/*
 * Drop fabric->lock for a while. Return 0, or the reason why loading must stop. Caller has entered
 * the slice and holds fabric->lock.
 */
int morph_schedule_yield(struct morph_schedule *schedule, struct morph_refusal *refusal);
/* The part of it that follows when the lock is taken again. */
int morph_schedule_check_yielded(struct morph_schedule *schedule, struct morph_refusal *refusal);

/* --------------------------------------------------------------- circuits.c */

/*
 * Charge for all circuits of a request at once, and create them dark. Caller has entered the slice
 * and holds fabric->lock; the function drops it at times.
 */
int morph_schedule_make_circuits(struct morph_schedule *schedule,
				 const struct morph_schedule_request *request,
				 struct morph_txn *scratch, struct morph_schedule_wrong *wrong);
/* Charge for the lanes of all circuits at once, and number them. No lock held. */
int morph_schedule_number_circuits(struct morph_schedule *schedule, struct morph_refusal *refusal);

/* ------------------------------------------------------------------- path.c */

/* One entry written into the ledger for the router; undone in reverse order. */
struct morph_trace {
	u64 *lanes;		/* NULL: the entry is for an element */
	u64 bits;
	u32 element;
	u8 state;
	bool marked;		/* element was marked, else pinned */
};

/*
 * Find a path for a new circuit, considering all circuits that share a step with it. Caller holds
 * fabric->lock. -EINPROGRESS: the search has paused, or schedule->traces has too little room.
 */
int morph_schedule_route(struct morph_schedule *schedule, struct morph_txn *scratch, u32 circuit);
/*
 * The same for a dark circuit in a repair, in a draft: on success the circuit gets the new path in
 * place of its old one. The caller has entered the slice. Takes fabric->lock.
 */
int morph_schedule_reroute(struct morph_schedule *schedule, struct morph_draft *draft,
			   const struct morph_change *change, u32 circuit);
/* Allocate schedule->traces.wanted entries; free them. No lock held. */
int morph_schedule_alloc_traces(struct morph_schedule *schedule, gfp_t gfp);
void morph_schedule_free_traces(struct morph_schedule *schedule);
/*
 * Judge the circuits of a step, all of them lit, with elements in their states. Uses the memory of
 * schedule->txn and fills its refusal; *wrong gets the failed circuit. The schedule holds its
 * resources. Caller holds fabric->lock.
 */
int morph_schedule_judge(struct morph_schedule *schedule, u32 step, u32 *wrong);
/* Judge the step again if light of other slices, or an element, has changed since. */
int morph_schedule_judge_again(struct morph_schedule *schedule, u32 step);
/* The same for circuits lit ahead beside the present step. Caller has entered the slice. */
int morph_schedule_judge_ahead(struct morph_schedule *schedule, u32 step);
void morph_schedule_unjudge(struct morph_schedule *schedule);

/* ------------------------------------------------------------------ sweep.c */

/* List the resources of all circuits, and check each step for conflicts. */
int morph_schedule_list(struct morph_schedule *schedule, struct morph_schedule_wrong *wrong,
			struct morph_refusal *refusal);

/* ------------------------------------------------------------------- hold.c */

/* Allocate and charge these numbers of entries. @refusal NULL: charge beyond the limit. */
int morph_schedule_hold_alloc(struct morph_schedule *schedule, u32 guides, u32 elements, u32 ports,
			      gfp_t gfp, struct morph_refusal *refusal);
/* Free the list of resources; the schedule holds none of them. No lock held. */
void morph_schedule_hold_free(struct morph_schedule *schedule);
/* Hold the listed resources. */
int morph_schedule_hold(struct morph_schedule *schedule, struct morph_schedule_wrong *wrong,
			struct morph_refusal *refusal);
/*
 * Release them, and free the list. The caller has entered the slice and holds fabric->lock; the
 * function drops it at times.
 */
void morph_schedule_unhold(struct morph_schedule *schedule);
/*
 * Hold the listed resources in place of @old, which the schedule holds, and free @old. On failure
 * the schedule still holds @old, and the list is freed. Context as above. Before that, without
 * fabric->lock, sort the entries of both.
 */
int morph_schedule_hold_replace(struct morph_schedule *schedule, struct morph_hold *old);
void morph_schedule_hold_sort(struct morph_schedule *schedule, struct morph_hold *old);

/* ----------------------------------------------------------------- claims.c */

/*
 * For all schedules of a slice: release all that no lit circuit claims; later hold the free part.
 * The caller holds fabric->lock from one call to the other.
 */
void morph_schedule_suspend(struct morph_slice *slice);
void morph_schedule_resume(struct morph_slice *slice);
void morph_schedule_hold_suspend(struct morph_schedule *schedule);
void morph_schedule_hold_restore(struct morph_schedule *schedule);
/* The same for all schedules of a slice, after a search for a repair. Caller holds fabric->lock. */
void morph_schedule_hold_all(struct morph_slice *slice);
/* Pass claims from the schedule to a circuit's route; pass them back. */
void morph_schedule_give(struct morph_circuit *circuit);
void morph_schedule_take(struct morph_circuit *circuit);
/* After a failed step: set elements that no lit circuit uses to the hardware's state. */
void morph_schedule_stand(struct morph_schedule *schedule);

/* ------------------------------------------------------------------- step.c */

/*
 * Darken some circuits and light others, or change nothing. Caller has entered the slice and holds
 * fabric->lock; the function drops it while the device works.
 */
int morph_schedule_change(struct morph_schedule *schedule, const u32 *drop, u32 drops,
			  const u32 *light, u32 lights);
/* Reset the transaction for the next step. Caller holds fabric->lock. */
void morph_step_renew(struct morph_txn *txn);
/* Settle the claims of a step that was published or rolled back. Caller holds fabric->lock. */
void morph_step_end(struct morph_txn *txn, bool published);
/* Darken all lit circuits. Context as for morph_schedule_change(). */
int morph_schedule_darken(struct morph_schedule *schedule);
/* Park elements that are not held any more. Context as above. */
void morph_schedule_park(struct morph_schedule *schedule);

/* -------------------------------------------------------------------- run.c */

void morph_schedule_run_init(struct morph_schedule *schedule);
/* Stop timers; work items that still run do nothing. Caller holds fabric->lock. */
void morph_schedule_run_stop(struct morph_schedule *schedule);
/* The fabric has unregistered: wake threads that wait for a step. Caller holds fabric->lock. */
void morph_schedule_wake(struct morph_slice *slice);
/* A repair has left it without paths. Caller holds fabric->lock. */
void morph_schedule_lose(struct morph_schedule *schedule, int error);
/* The repair of a slice has ended: execute waiting steps. Caller holds fabric->lock. */
void morph_schedule_go_on(struct morph_schedule *schedule);
/* Queues work items again that have found the slice busy. */
extern struct morph_slice_waiter morph_schedule_stepper;
/* morph_slice_enter() for a tenant's request, with a reason if it is not possible now. */
int morph_schedule_enter(struct morph_schedule *schedule, struct morph_refusal *refusal);
/* A rank has finished a position. Takes fabric->lock. */
int morph_schedule_arrive(struct morph_schedule *schedule, u32 rank, u64 position,
			  struct morph_refusal *refusal);

/* For act.c. Caller holds fabric->lock. */
u32 morph_run_next(const struct morph_schedule *schedule);
void morph_run_cancel_timers(struct morph_schedule *schedule);
void morph_run_state(struct morph_schedule *schedule, u32 state);
void morph_run_stop_at(struct morph_schedule *schedule, u32 step, int error);
/* Refuse a step that the state does not permit, or return 0. */
int morph_run_refuse(struct morph_schedule *schedule, struct morph_refusal *refusal);
int morph_run_check_paths(struct morph_schedule *schedule, u32 number,
			  struct morph_refusal *refusal);
int morph_run_light(struct morph_schedule *schedule, u32 number, const u32 *drop, u32 drops,
		    const u32 *light, u32 lights);
int morph_run_light_next(struct morph_schedule *schedule);

/* -------------------------------------------------------------------- act.c */

/* The operations of enum morph_schedule_verb. Take fabric->lock. */
int morph_schedule_start(struct morph_schedule *schedule, u32 step, struct morph_times *times,
			 struct morph_refusal *refusal);
int morph_schedule_advance(struct morph_schedule *schedule, u64 position,
			   struct morph_times *times, struct morph_refusal *refusal);
int morph_schedule_jump(struct morph_schedule *schedule, u32 number, u64 position,
			struct morph_times *times, struct morph_refusal *refusal);
int morph_schedule_wait(struct morph_schedule *schedule, u64 position,
			struct morph_refusal *refusal);
int morph_schedule_stop(struct morph_schedule *schedule, struct morph_times *times,
			struct morph_refusal *refusal);
int morph_schedule_unload(struct morph_schedule *schedule, struct morph_refusal *refusal);

/* ----------------------------------------------------------------- repair.c */

/* A repair has rerouted a circuit, perhaps over held resources. Caller holds fabric->lock. */
void morph_schedule_moved(struct morph_circuit *circuit);
/*
 * Adapt to new accelerators or failed hardware. Caller holds fabric->lock, has entered the slice;
 * the function drops the lock.
 */
void morph_schedule_mend(struct morph_slice *slice);
/*
 * A resource became healthy or free: find paths for schedules that have none, in slices without a
 * repair. If a change is running, wait for its end. Caller holds fabric->lock; the function drops
 * it.
 */
extern struct morph_slice_waiter morph_schedule_recoverer;
void morph_schedule_recover(struct morph_slice *slice);

#endif /* MORPH_CORE_SCHEDULE_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Schedules: what a slice's circuits are step by step, held at once and lit in turn.
 *
 *   schedule.c        their life, and how they are read
 *   load.c   from what is asked to circuits that are held
 *   path.c   their paths, and what each step changes
 *   hold.c   what a schedule holds in the ledger
 *   step.c   one step, as a transaction
 *   run.c    barrier, time, deadlines, lighting ahead, and the step itself
 *   act.c    start, call, wait, stop and unload: what owners ask for
 *   repair.c   after a repair: other paths for what has moved
 *
 * A circuit of a schedule is a circuit of the slice like others, listed while it is lit. What
 * it needs the schedule holds all the time; while it is lit its route claims it, and gives it
 * back to the schedule when it goes dark. So a step changes nothing in the ledger but states
 * and pins of elements that are the slice's alone.
 *
 * All under fabric->lock, but for what is constant once loaded. Steps are made by whoever has
 * entered the slice, so that neither transactions nor repairs come between.
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

/* What this layer keeps with a slice. Under fabric->lock. */
struct morph_slice_scheduling {
	struct morph_slice_recovery recovery;	/* first: the layers below */
	struct list_head schedules;	/* of morph_schedule.node, in the order of their numbers */
	u32 last_schedule;		/* number given */
	u32 schedule_ids;		/* the next number of a circuit of one */
};

static inline struct morph_slice_scheduling *slice_scheduling(const struct morph_slice *slice)
{
	return container_of(slice_recovery(slice), struct morph_slice_scheduling, recovery);
}

/* What this layer keeps with a circuit. Under fabric->lock. */
struct morph_circuit_scheduling {
	struct morph_circuit_txns txns;	/* first: the layers below */
	struct morph_schedule *schedule; /* that lights it in some steps, or NULL */
	bool astray;			/* a repair has left it a path that can't be */
};

static inline struct morph_circuit_scheduling *
circuit_scheduling(const struct morph_circuit *circuit)
{
	return container_of(circuit_txns(circuit), struct morph_circuit_scheduling, txns);
}

/* What is asked for, in kernel memory. */
struct morph_schedule_request {
	const struct morph_schedule_circuit *circuits;
	const u32 *guides;
	const u32 *held;
	const struct morph_schedule_step *steps;
	u32 circuits_count, guides_count, held_count, steps_count;
	u32 flags;
	u64 generation;
};

/* Which step or circuit of a request can't be, or MORPH_ANY. */
struct morph_schedule_wrong {
	u32 step, circuit;
};

/*
 * What a verdict holds for: others' light, and how elements of the schedule stand that have
 * several states. Those that no circuit uses stay as the last one left them.
 */
struct morph_judged {
	u64 others;		/* morph_schedule_others(), */
	u64 stance;		/* and schedule->stance, at that time */
#define MORPH_NEVER_JUDGED	U64_MAX
};

/* A step, and what it changes compared to the one before. Lists are of circuits. */
struct morph_step {
	u32 held, count;	/* in schedule->held */
	u32 drop, drops;	/* in schedule->changes: those that go */
	u32 light, lights;	/* likewise: those that come, */
	u32 ahead;		/* the first of which the step before leaves room for */
	u32 rank, ranks;	/* in schedule->ranks: which have a circuit that comes or goes */
	u32 advance;		/* enum morph_advance */
	u64 after_ns, deadline_ns;
	struct morph_judged judged;		/* as a whole, */
	struct morph_judged judged_ahead;	/* and what is lit ahead, beside the step before */
	struct morph_schedule_step_info info;
};

/* Lanes of a guide, or of a port, that a schedule holds. */
struct morph_held_lanes {
	u32 index;
	u64 lanes;
	u64 ours;		/* of these, what nobody else has claimed */
};

struct morph_held_element {
	u32 element;
	u8 state;		/* of one that has the same in all steps */
	bool alone;		/* it has several: nobody else may join it */
	bool pinned, marked;	/* by us, now */
};

/* What a schedule holds in the ledger. */
struct morph_hold {
	struct morph_held_lanes *guides, *tx, *rx;
	struct morph_held_element *elements;
	u32 guides_count, tx_count, rx_count, elements_count;
	size_t bytes;		/* charged */
	bool taken;
};

struct morph_schedule {
	struct kref kref;
	struct morph_slice *slice;	/* counted by works and by the transaction */
	u32 id;
	u32 flags;
	size_t bytes;			/* charged */

	/* constant once loaded, but for what steps have cost */
	u32 circuits_count, steps_count, held_count, most;
	struct morph_circuit **circuits;
	struct morph_step *steps;
	u32 *held, *changes, *ranks;
	u32 *uses, *used_in;		/* by circuit: where its steps begin in used_in; one more */
	u32 *stamps, *rank_stamps;	/* by circuit, by rank: for whoever has entered the slice */
	u64 work;			/* likewise: what was done since others had the lock */
	u32 first_circuit;		/* number within the slice */

	/* fabric->lock */
	struct list_head node;		/* head: slice_scheduling(slice)->schedules */
	struct morph_hold hold;
	struct morph_txn *txn;		/* of its steps */
	bool moved;			/* a repair has given a circuit another path, */
	bool crossed;			/* or another one, to which it may have to give way */
	bool lost;			/* and no paths are left for some of them: fabric->lost */
	u32 moves;			/* how many were given other paths, ever */
	u64 own_light;			/* its own part of fabric->light_seq */
	u64 stance;			/* how its elements stand, as a number: by element */
	u64 dice;			/* and state, with a factor that nobody can guess */

	/* fabric->lock; those who wait look at the first four without it */
	u32 state;			/* enum morph_schedule_state */
	u64 position;
	bool gone;
	u32 starts;			/* those who wait for one run are not answered by another */
	u32 step;			/* that is lit, or MORPH_ANY */
	u64 wanted;			/* position that a barrier or time asks for */
	u64 lit_ns;			/* CLOCK_MONOTONIC: when the step was */
	u64 lit_seq;			/* the fabric's, likewise; or 0 */
	u64 due_ns;			/* when time begins the next, or 0 */
	u64 deadline_ns;		/* when the next is to be lit, or 0 */
	u64 mended_ns;			/* when a repair has last put that off */
	bool is_ahead;			/* the next step's first circuits are lit */
	bool stepping;
	bool changing;			/* the transaction is under way: a step, or what is ahead */
	bool held_up;			/* a work has found the slice busy */
	u32 callers;			/* who wait to enter the slice for it */
	struct morph_times times;	/* of what was begun last, */
	struct morph_times ahead_times;	/* and of what was lit ahead */
	int error;
	u32 failed_step;
	u64 *arrived;			/* by rank: position that it has done with */
	wait_queue_head_t changed;
	struct hrtimer timer;		/* the next step's time */
	struct hrtimer deadline;
	struct work_struct step_work, time_work, ahead_work, deadline_work;
};

/* --------------------------------------------------------------- schedule.c */

/* Kinds of transactions, subscriptions and waiters. While the module starts. */
void morph_schedule_register(void);
/* The slice's schedule of that number, counted, or NULL. fabric->lock held. */
struct morph_schedule *morph_schedule_find(struct morph_slice *slice, u32 id);
/* The first whose number is at least that, likewise. */
struct morph_schedule *morph_schedule_next(struct morph_slice *slice, u32 id);
struct morph_schedule *morph_schedule_get(struct morph_schedule *schedule);
void morph_schedule_put(struct morph_schedule *schedule);
/* Take it out of its slice: what is lit stays, as circuits like others. fabric->lock held. */
void morph_schedule_drop(struct morph_schedule *schedule);
void morph_schedule_drop_slice(struct morph_slice *slice);
void morph_schedule_fill_info(struct morph_schedule *schedule, struct morph_schedule_info *info);
u32 morph_schedule_lit(const struct morph_schedule *schedule);
/* Its state is another one: tell owners. fabric->lock held. */
void morph_schedule_tell(struct morph_schedule *schedule, u32 outcome, u32 step);

/* ------------------------------------------------------------------- load.c */

/* Load; *schedule is counted. Takes the lock itself. */
int morph_schedule_load(struct morph_slice *slice, const struct morph_schedule_request *request,
			struct morph_schedule **schedule, struct morph_schedule_wrong *wrong,
			struct morph_refusal *refusal);
/* schedule->work that is done in one hold of fabric->lock by who can give way */
#define MORPH_SCHEDULE_MOST_WORK	65536u
/*
 * 0, or why loading is not to go on. The slice has been entered; fabric->lock held, dropped
 * meanwhile.
 */
int morph_schedule_give_way(struct morph_schedule *schedule, struct morph_refusal *refusal);

/* ------------------------------------------------------------------- path.c */

/*
 * Find a path for a circuit beside all circuits that some step holds with it. fabric->lock held.
 * The circuit has it then, in place of the one that it had, if any.
 */
int morph_schedule_route(struct morph_schedule *schedule, struct morph_txn *scratch, u32 circuit);
/*
 * Do all steps have room? Learns on the way what can be lit ahead. Nothing is claimed
 * afterwards. fabric->lock held, dropped meanwhile if @refusal is given, which is filled where that
 * is why it ends; nothing of the schedule is claimed or held.
 */
int morph_schedule_sweep(struct morph_schedule *schedule, struct morph_schedule_wrong *wrong,
			 struct optics_refusal *why, struct morph_refusal *refusal);
/* Is there room for a path beside all that is claimed? 0 or a negative errno. fabric->lock held. */
int morph_schedule_room(struct morph_fabric *fabric, const struct morph_route *route,
			struct optics_refusal *why);
/* Undo optics_claim() of a path: elements that nobody pins then count as parked. */
void morph_schedule_unclaim(struct morph_fabric *fabric, const struct morph_route *route);
/*
 * Judge the circuits of a step, all of them lit, with elements as they want them. Memory of
 * schedule->txn is used, and its refusal filled; *wrong: which of them can't be. fabric->lock
 * held; the schedule holds what it needs.
 */
int morph_schedule_judge(struct morph_schedule *schedule, u32 step, u32 *wrong);
/* As it is to be lit now, if anything has changed since: others' light, or elements. */
int morph_schedule_judge_again(struct morph_schedule *schedule, u32 step);
/* What is lit ahead of a step beside what is lit now: likewise. The slice has been entered. */
int morph_schedule_judge_ahead(struct morph_schedule *schedule, u32 step);
void morph_schedule_unjudge(struct morph_schedule *schedule);

/* ------------------------------------------------------------------- hold.c */

/* Hold what all circuits need that claim nothing now. After a sweep. fabric->lock held. */
int morph_schedule_hold(struct morph_schedule *schedule, gfp_t gfp, struct morph_refusal *refusal);
void morph_schedule_unhold(struct morph_schedule *schedule);
/*
 * Let go for the moment of all that no lit circuit claims, and hold what is left of it then:
 * all schedules of a slice. fabric->lock held from the one to the other.
 */
void morph_schedule_suspend(struct morph_slice *slice);
void morph_schedule_resume(struct morph_slice *slice);
void morph_schedule_hold_suspend(struct morph_schedule *schedule);
void morph_schedule_hold_restore(struct morph_schedule *schedule);
/* A circuit's route claims what the schedule holds for it; and gives it back. */
void morph_schedule_give(struct morph_circuit *circuit);
void morph_schedule_take(struct morph_circuit *circuit);
/* After a step that was not to be: what nothing lit crosses stands as hardware was told last. */
void morph_schedule_stand(struct morph_schedule *schedule);

/* ------------------------------------------------------------------- step.c */

/*
 * Darken some circuits and light others, or none of it. The slice has been entered, fabric->lock
 * held, dropped while the device works.
 */
int morph_schedule_change(struct morph_schedule *schedule, const u32 *drop, u32 drops,
			  const u32 *light, u32 lights);
/* What it says of the step before is forgotten. fabric->lock held. */
void morph_step_renew(struct morph_txn *txn);
/* The claims of a step are settled: it was published, or rolled back. fabric->lock held. */
void morph_step_end(struct morph_txn *txn, bool published);
/* Darken all that is lit. As morph_schedule_change(). */
int morph_schedule_darken(struct morph_schedule *schedule);
/* Park elements that are held no longer. Likewise. */
void morph_schedule_park(struct morph_schedule *schedule);

/* -------------------------------------------------------------------- run.c */

void morph_schedule_run_init(struct morph_schedule *schedule);
/* Timers and works have ended, or end without doing anything. fabric->lock held. */
void morph_schedule_run_stop(struct morph_schedule *schedule);
/* The fabric is gone: those who wait for a step of the slice find that out. fabric->lock held. */
void morph_schedule_wake(struct morph_slice *slice);
/* A repair has left it without paths. fabric->lock held. */
void morph_schedule_lose(struct morph_schedule *schedule, int error);
/* The repair of a slice has ended: steps that have waited for it go on. fabric->lock held. */
void morph_schedule_go_on(struct morph_schedule *schedule);
/* Works that have found the slice busy wait to be queued again. */
extern struct morph_slice_waiter morph_schedule_stepper;
/* morph_slice_enter() for what a tenant wants, which says why it can't be now. */
int morph_schedule_enter(struct morph_schedule *schedule, struct morph_refusal *refusal);
/* A rank has done with a position. Takes the lock itself. */
int morph_schedule_arrive(struct morph_schedule *schedule, u32 rank, u64 position,
			  struct morph_refusal *refusal);

/* For act.c; fabric->lock held. */
u32 morph_run_next(const struct morph_schedule *schedule);
void morph_run_cancel_timers(struct morph_schedule *schedule);
void morph_run_state(struct morph_schedule *schedule, u32 state);
void morph_run_stop_at(struct morph_schedule *schedule, u32 step, int error);
/* Why a step can't be asked for in the state that it is in, or 0. */
int morph_run_refuse(struct morph_schedule *schedule, struct morph_refusal *refusal);
int morph_run_check_ways(struct morph_schedule *schedule, u32 number,
			 struct morph_refusal *refusal);
int morph_run_light(struct morph_schedule *schedule, u32 number, const u32 *drop, u32 drops,
		    const u32 *light, u32 lights);
int morph_run_light_next(struct morph_schedule *schedule);

/* -------------------------------------------------------------------- act.c */

/* What enum morph_schedule_verb asks for. Take the lock themselves. */
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

/* A repair has led it elsewhere, perhaps over what a schedule holds. fabric->lock held. */
void morph_schedule_moved(struct morph_circuit *circuit);
/* Ranks have other accelerators, or hardware has failed. fabric->lock held, slice entered. */
void morph_schedule_mend(struct morph_slice *slice);
/*
 * Something became sound, or free: paths for schedules that have none, of a slice that needs no
 * repair; if a change is under way, when that has ended. fabric->lock held.
 */
extern struct morph_slice_waiter morph_schedule_recoverer;
void morph_schedule_recover(struct morph_slice *slice);

#endif /* MORPH_CORE_SCHEDULE_H */

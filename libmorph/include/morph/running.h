/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libmorph: schedules that run, rings, and a slice's state in memory. Included by <morph/morph.h>. */
#ifndef MORPH_RUNNING_H
#define MORPH_RUNNING_H

#include <morph/steps.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * DOC: Schedules that run
 *
 * Steps are loaded once, and held from then on; each is lit when a call, all ranks or time begin it:
 *
 *	morph_slice_schedule_load(slice, steps, &schedule);
 *	morph_slice_schedule_start(slice, schedule, 0, NULL);
 *	for (position = 2; position <= rounds; position++) {
 *		exchange();
 *		morph_slice_schedule_go(slice, schedule, MORPH_ANY, position, NULL);
 *	}
 *	morph_slice_schedule_unload(slice, schedule);
 *
 * Positions count the steps that were lit since the start, from 1. A call that names its position may be
 * repeated: what is lit already is not lit again. Like morph_txn_run(), none of these calls is repeated by the
 * library: EAGAIN (a repair moves circuits of the slice) and EINTR (a signal) are the caller's to answer.
 *
 * DOC: Rings
 *
 * A ring asks for steps through memory, with no call as long as the kernel's thread looks at it. The code that
 * writes into it is that of <morph/device.h>, here or on a device, or morph_queue_ask() and morph_queue_answer(),
 * which are that and wake the thread where it sleeps. A ring has one who asks and one who reads answers; it is
 * closed before its slice is.
 */

/* ---------------------------------------------------------------- schedules */

/**
 * struct morph_schedule_at - where a schedule is
 * @sz: size of this structure, set by the caller: MORPH_OPTS()
 * @position: position that is lit; 0: none
 * @step: the step that this is, or MORPH_ANY
 * @state: enum morph_schedule_state
 * @seq: the fabric's seq when it was lit
 * @times: where the time of the change went
 */
struct morph_schedule_at {
	size_t sz;
	uint64_t position;
	uint32_t step;
	uint32_t state;
	uint64_t seq;
	struct morph_times times;
};

/**
 * morph_slice_schedule_load() - hold what steps need, so that none fails for want of it
 * @slice: the slice
 * @steps: the steps; may be loaded again
 * @schedule: where to put the number of the schedule; it lives as long as the slice, or until it is unloaded
 *
 * Nothing is lit yet. Where something can't be, the sentence of the failure names the step and the circuit.
 *
 * Return: 0, -EINVAL (no steps) or as MORPH_SCHEDULE_LOAD: -ENOSPC, -EBUSY, -EHOSTUNREACH, -EDQUOT, -ESTALE...
 */
int morph_slice_schedule_load(struct morph_slice *slice, const struct morph_steps *steps,
			      uint32_t *schedule);

/**
 * morph_slice_schedule_start() - light a step of a schedule: position 1
 * @slice: the slice
 * @schedule: number of the schedule, which does not run
 * @step: the step
 * @at: where the schedule is then, or NULL; left alone on failure
 *
 * Return: 0, -ENOENT (no such schedule), -EINVAL (no such step), -EBUSY (it runs), -EAGAIN or another negative
 * errno.
 */
int morph_slice_schedule_start(struct morph_slice *slice, uint32_t schedule, uint32_t step,
			       struct morph_schedule_at *at);

/**
 * morph_slice_schedule_go() - light the next step, or any other
 * @slice: the slice
 * @schedule: number of the schedule
 * @step: MORPH_ANY: the next step. Else any step that a call begins; the schedule must run
 * @position: the position that it shall be; nothing happens if that is lit. 0: whichever it is
 * @at: where the schedule is then, or NULL; left alone on failure
 *
 * Circuits that both this step and the one that is lit hold stay lit. After it comes the step that
 * follows it.
 *
 * Return: 0, -ENOENT (no such schedule; the last step is lit), -EINVAL (no such step, or one that no
 * call begins; @position is not the next one), -EAGAIN or another negative errno.
 */
int morph_slice_schedule_go(struct morph_slice *slice, uint32_t schedule, uint32_t step,
			    uint64_t position, struct morph_schedule_at *at);

/**
 * morph_slice_schedule_arrive() - a rank has done with a position
 * @slice: the slice
 * @schedule: number of the schedule
 * @rank: the rank
 * @position: the position
 *
 * Does not wait for others. Who arrives last lights the next step, where a barrier begins that.
 *
 * Return: 0, -ENOENT (no such schedule or rank), -EINVAL (the position is not lit yet) or another negative errno.
 */
int morph_slice_schedule_arrive(struct morph_slice *slice, uint32_t schedule, uint32_t rank,
				uint64_t position);

/**
 * morph_slice_schedule_wait() - wait until a position is lit
 * @slice: the slice
 * @schedule: number of the schedule
 * @position: the position
 *
 * Return: 0, -ECANCELED (it has stopped, or was stopped or unloaded), -EINTR (a signal) or another negative
 * errno.
 */
int morph_slice_schedule_wait(struct morph_slice *slice, uint32_t schedule, uint64_t position);

/**
 * morph_slice_schedule_stop() - darken all circuits of a schedule
 * @slice: the slice
 * @schedule: number of the schedule, which stays loaded
 *
 * Return: 0, -ENOENT, -EAGAIN or another negative errno.
 */
int morph_slice_schedule_stop(struct morph_slice *slice, uint32_t schedule);

/**
 * morph_slice_schedule_unload() - darken all circuits of a schedule, and give back what it holds
 * @slice: the slice
 * @schedule: number of the schedule
 *
 * Return: 0, -ENOENT, -EAGAIN or another negative errno.
 */
int morph_slice_schedule_unload(struct morph_slice *slice, uint32_t schedule);

/**
 * morph_slice_schedule_info() - read a schedule
 * @slice: the slice
 * @schedule: its number
 * @out: object of type "schedule-state", with an object per step inside and what all its runs have cost
 *
 * Return: 0, -ENOENT or another negative errno.
 */
int morph_slice_schedule_info(struct morph_slice *slice, uint32_t schedule,
			      struct morph_object **out);

/**
 * morph_slice_schedules() - read all schedules of a slice
 * @slice: the slice
 * @out: objects of type "schedule-state", as of morph_slice_schedule_info(), each of its own instant
 *
 * Return: 0 or a negative errno.
 */
int morph_slice_schedules(struct morph_slice *slice, struct morph_list **out);

/* -------------------------------------------------------------------- rings */

/**
 * struct morph_queue_open_opts - how a ring shall be
 * @sz: size of this structure
 * @entries: of each kind, a power of two from 8 to 4096; 0 for 64
 * @idle_ns: how long the kernel's thread looks for entries after the last one before it sleeps, at most a
 *	     second; 0 for a millisecond
 * @rate: entries that are taken in a second, 0 for 1000000
 * @reserved: 0
 * @memory: memory of the caller's own, at the beginning of a page; NULL: the kernel's is mapped
 * @memory_bytes: how large that is: MORPH_RING_BYTES(entries) at least
 */
struct morph_queue_open_opts {
	size_t sz;
	uint32_t entries;
	uint32_t idle_ns;
	uint32_t rate;
	uint32_t reserved;
	void *memory;
	size_t memory_bytes;
};

/**
 * struct morph_queue_status - how a ring stands
 * @sz: size of this structure, set by the caller: MORPH_OPTS()
 * @state: enum morph_ring_state
 * @error: negative errno with which it stopped, or 0
 * @taken: entries that were taken
 * @sleeps: how often the kernel's thread went to sleep
 */
struct morph_queue_status {
	size_t sz;
	uint32_t state;
	int32_t error;
	uint64_t taken;
	uint64_t sleeps;
};

/**
 * struct morph_queue_answer - what an entry came to
 * @sz: size of this structure, set by the caller: MORPH_OPTS()
 * @tag: as it was asked with
 * @error: 0, or the negative errno that the call would have
 * @position: position of the schedule that is lit
 */
struct morph_queue_answer {
	size_t sz;
	uint32_t tag;
	int32_t error;
	uint64_t position;
};

/**
 * morph_slice_open_queue() - ask for the steps of a schedule through memory
 * @slice: the slice
 * @schedule: number of the schedule, which stays as long as the ring is open
 * @opts: how, or NULL
 * @out: the ring, closed by morph_queue_close()
 *
 * Memory of the caller's own is such as a device has registered already; it is pinned, and counts as locked. A
 * slice has sixteen rings at most.
 *
 * Return: 0, -ENOENT (no such schedule), -EDQUOT, -EINVAL, -E2BIG (unknown options) or another negative errno.
 */
int morph_slice_open_queue(struct morph_slice *slice, uint32_t schedule,
			   const struct morph_queue_open_opts *opts, struct morph_queue **out);

/**
 * morph_queue_close() - close a ring
 * @ring: the ring, or NULL; what was not answered may have been done or not
 *
 * Memory of the caller's own is written until its first word is MORPH_RING_GONE.
 */
void morph_queue_close(struct morph_queue *ring);

/**
 * morph_queue_base() - the memory of a ring, for struct morph_device_ring
 * @ring: the ring
 * @entries: where to put how many entries of each kind it has; or NULL
 *
 * Who uses it with <morph/device.h> does not use morph_queue_ask() and morph_queue_answer().
 *
 * Return: the memory, MORPH_RING_BYTES(entries) long. Never fails.
 */
void *morph_queue_base(struct morph_queue *ring, uint32_t *entries);

/**
 * morph_queue_wake() - have the kernel's thread look at entries again
 * @ring: the ring
 *
 * For who was told so by morph_device_asleep().
 *
 * Return: 0, -ENODEV (the slice is gone) or another negative errno.
 */
int morph_queue_wake(struct morph_queue *ring);

/**
 * morph_queue_state() - how a ring stands
 * @ring: the ring
 * @status: where to put it, or NULL
 *
 * Return: enum morph_ring_state or a negative errno.
 */
int morph_queue_state(struct morph_queue *ring, struct morph_queue_status *status);

/**
 * morph_queue_ask() - ask for something through a ring
 * @ring: the ring
 * @op: enum morph_ring_op
 * @rank: of MORPH_RING_ARRIVE; of MORPH_RING_JUMP the step; else 0
 * @position: that is to be lit, or that the rank has done with; 0: the next one, or MORPH_RING_NOP
 * @tag: what the answer is known by, below MORPH_RING_TAGS
 *
 * Never waits. Wakes the kernel's thread if it sleeps; where that fails the entry is there all the same.
 *
 * Return: 0, -EAGAIN (no place is free: answers are to be read first), -EINVAL (no such operation, a tag or
 * position that is too large, a rank or step without MORPH_RING_ARRIVE or MORPH_RING_JUMP) or another negative errno.
 */
int morph_queue_ask(struct morph_queue *ring, uint32_t op, uint32_t rank, uint64_t position,
		    uint32_t tag);

/**
 * morph_queue_answer() - read the next answer of a ring
 * @ring: the ring
 * @timeout_ns: how long to wait for it
 * @answer: where to put it
 *
 * Answers come in the order in which was asked.
 *
 * Return: 1; 0 when none came in time, or when nothing was asked; -EPROTO (the ring has stopped), -ENODEV (it is
 * gone) or another negative errno.
 */
int morph_queue_answer(struct morph_queue *ring, int64_t timeout_ns,
		       struct morph_queue_answer *answer);

/* ---------------------------------------------------------------- the state */

/**
 * struct morph_state_slice - a slice as it is
 * @sz: size of this structure, set by the caller: MORPH_OPTS()
 * @generation: of the slice
 * @position: position of the schedule that lit a step last
 * @schedule: that schedule, or 0
 * @step: that step, or MORPH_ANY
 * @ranks: ranks of the slice
 * @reserved: 0
 * @settle_ns: what a change takes until there is light
 * @relock_ns: and until receivers have locked
 */
struct morph_state_slice {
	size_t sz;
	uint64_t generation;
	uint64_t position;
	uint32_t schedule;
	uint32_t step;
	uint32_t ranks;
	uint32_t reserved;
	uint64_t settle_ns;
	uint64_t relock_ns;
};

/**
 * morph_slice_state_map() - have a slice's state in memory, to be read without a call
 * @slice: the slice
 * @out: the state, closed by morph_state_close() before the slice is
 *
 * Return: 0, -ENODEV, -EDQUOT or another negative errno.
 */
int morph_slice_state_map(struct morph_slice *slice, struct morph_state **out);

/**
 * morph_state_close() - unmap a slice's state
 * @state: the state, or NULL
 */
void morph_state_close(struct morph_state *state);

/**
 * morph_state_read() - what leads from one rank to another
 * @state: the state
 * @src: rank that sends
 * @dst: rank that receives
 * @pair: generation of what is lit between the two, guides on its way, its bandwidth
 *
 * Makes no call; all three are of the same instant. Light that is told is there: who reads it may send.
 *
 * Return: 0, -ENOENT (no such rank), or -EAGAIN when it was being written whenever it was looked at, for a second.
 */
int morph_state_read(const struct morph_state *state, uint32_t src, uint32_t dst,
		     struct morph_state_pair *pair);

/**
 * morph_state_slice() - generation, step and position of a slice
 * @state: the state
 * @out: where to put them
 *
 * Makes no call; all is of the same instant.
 *
 * Return: 0, or -EAGAIN as morph_state_read().
 */
int morph_state_slice(const struct morph_state *state, struct morph_state_slice *out);

#ifdef __cplusplus
}
#endif

#endif /* MORPH_RUNNING_H */

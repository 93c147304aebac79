/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libmorph: running schedules, queues, and a slice's state in memory. Included by <morph/morph.h>.
 */
#ifndef MORPH_RUNNING_H
#define MORPH_RUNNING_H

#include <morph/steps.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * DOC: Schedules that run
 *
 * Steps are loaded once, and the driver then holds their resources. A call, a barrier of ranks, or
 * time begins each step:
 *
 *	morph_slice_schedule_load(slice, steps, &schedule);
 *	morph_slice_schedule_start(slice, schedule, 0, NULL);
 *	for (position = 2; position <= rounds; position++) {
 *		exchange();
 *		morph_slice_schedule_go(slice, schedule, MORPH_ANY, position, NULL);
 *	}
 *	morph_slice_schedule_unload(slice, schedule);
 *
 * Positions count the steps lit since the start, from 1. A call that names its position may be
 * repeated: a lit step is not lit again. Like morph_txn_run(), the library never repeats these
 * calls. The caller handles EAGAIN (a repair moves circuits of the slice) and EINTR (a signal).
 *
 * DOC: Queues
 *
 * A program asks for steps through a queue in memory, without system calls while the kernel's
 * thread polls it. The functions of <morph/device.h> write to it, on the host or on a device.
 * morph_queue_ask() and morph_queue_answer() do the same and wake a sleeping thread. A queue has
 * one thread that asks and one that reads answers. Close it before its slice.
 */

/* ---------------------------------------------------------------- schedules */

/**
 * struct morph_schedule_at - the position of a schedule
 * @sz: size of this structure, set by the caller: MORPH_OPTS()
 * @position: position that is lit; 0: none
 * @step: its step, or MORPH_ANY
 * @state: enum morph_schedule_state
 * @seq: the fabric's seq when it was lit
 * @times: duration of each phase of the change
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
 * morph_slice_schedule_load() - load steps, and hold their resources
 * @slice: the slice
 * @steps: the steps; may be loaded again
 * @schedule: where to put the number of the schedule; it lives as long as the slice, or until it is
 *	unloaded
 *
 * Nothing is lit yet. On failure, the message names the step and the circuit.
 *
 * Return: 0, -EINVAL (no steps) or as MORPH_SCHEDULE_LOAD: -ENOSPC, -EBUSY, -EHOSTUNREACH, -EDQUOT,
 * -ESTALE...
 */
int morph_slice_schedule_load(struct morph_slice *slice, const struct morph_steps *steps,
			      uint32_t *schedule);

/**
 * morph_slice_schedule_start() - light a step of a schedule: position 1
 * @slice: the slice
 * @schedule: number of the schedule, which does not run
 * @step: the step
 * @at: where to put the new position, or NULL; unchanged on failure
 *
 * Return: 0, -ENOENT (no such schedule), -EINVAL (no such step), -EBUSY (it runs), -EAGAIN or
 * another negative errno.
 */
int morph_slice_schedule_start(struct morph_slice *slice, uint32_t schedule, uint32_t step,
			       struct morph_schedule_at *at);

/**
 * morph_slice_schedule_go() - light the next step, or any other
 * @slice: the slice
 * @schedule: number of the schedule
 * @step: MORPH_ANY: the next step. Else any step that a call begins; the schedule must run
 * @position: the position of the step; if it is lit already, nothing happens. 0: the next one
 * @at: where to put the new position, or NULL; unchanged on failure
 *
 * Circuits of both steps stay lit. The successor of @step comes next.
 *
 * Return: 0, -ENOENT (no such schedule; the last step is lit), -EINVAL (no such step, or one that
 * no call begins; @position is not the next one), -EAGAIN or another negative errno.
 */
int morph_slice_schedule_go(struct morph_slice *slice, uint32_t schedule, uint32_t step,
			    uint64_t position, struct morph_schedule_at *at);

/**
 * morph_slice_schedule_arrive() - report that a rank has finished a position
 * @slice: the slice
 * @schedule: number of the schedule
 * @rank: the rank
 * @position: the position
 *
 * Does not wait for other ranks. The last rank that arrives lights the next step, if a barrier
 * begins it.
 *
 * Return: 0, -ENOENT (no such schedule or rank), -EINVAL (the position is not lit yet) or another
 * negative errno.
 */
int morph_slice_schedule_arrive(struct morph_slice *slice, uint32_t schedule, uint32_t rank,
				uint64_t position);

/**
 * morph_slice_schedule_wait() - wait until a position is lit
 * @slice: the slice
 * @schedule: number of the schedule
 * @position: the position
 *
 * Return: 0, -ECANCELED (it has stopped, or was stopped or unloaded), -EINTR (a signal) or another
 * negative errno.
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
 * morph_slice_schedule_unload() - darken all circuits of a schedule, and release its resources
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
 * @out: object of type "schedule-state", with an object for each step and the cost of all its runs
 *
 * Return: 0, -ENOENT or another negative errno.
 */
int morph_slice_schedule_info(struct morph_slice *slice, uint32_t schedule,
			      struct morph_object **out);

/**
 * morph_slice_schedules() - read all schedules of a slice
 * @slice: the slice
 * @out: objects of type "schedule-state", as morph_slice_schedule_info(), each of its own moment
 *
 * Return: 0 or a negative errno.
 */
int morph_slice_schedules(struct morph_slice *slice, struct morph_list **out);

/* -------------------------------------------------------------------- rings */

/**
 * struct morph_queue_open_opts - options of a queue
 * @sz: size of this structure
 * @entries: of each kind, a power of two from 8 to 4096; 0 for 64
 * @idle_ns: how long the kernel's thread polls after the last entry before it sleeps, at most a
 *	second; 0 for a millisecond
 * @rate: entries per second, 0 for 1000000
 * @reserved: 0
 * @memory: memory of the caller, at the begin of a page; NULL: the kernel's memory is mapped
 * @memory_bytes: its size: at least MORPH_RING_BYTES(entries)
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
 * struct morph_queue_status - the state of a queue
 * @sz: size of this structure, set by the caller: MORPH_OPTS()
 * @state: enum morph_ring_state
 * @error: negative errno with which it stopped, or 0
 * @taken: entries that the kernel has taken
 * @sleeps: how often the kernel's thread slept
 * @base: memory of the queue, MORPH_RING_BYTES(@entries) long, for struct morph_device_ring
 * @entries: number of entries of each kind
 */
struct morph_queue_status {
	size_t sz;
	uint32_t state;
	int32_t error;
	uint64_t taken;
	uint64_t sleeps;
	void *base;
	uint32_t entries;
};

/**
 * struct morph_queue_answer - the answer to an entry
 * @sz: size of this structure, set by the caller: MORPH_OPTS()
 * @tag: the tag of the request
 * @error: 0, or the negative errno of the equivalent call
 * @position: position of the schedule that is lit
 */
struct morph_queue_answer {
	size_t sz;
	uint32_t tag;
	int32_t error;
	uint64_t position;
};

/**
 * morph_slice_open_queue() - open a queue for the steps of a schedule
 * @slice: the slice
 * @schedule: number of the schedule, which stays as long as the queue is open
 * @opts: options, or NULL
 * @out: the queue, closed by morph_queue_close()
 *
 * Memory of the caller may be registered with a device already. The kernel pins it and counts it as
 * locked. A slice has at most sixteen queues.
 *
 * Return: 0, -ENOENT (no such schedule), -EDQUOT, -EINVAL, -E2BIG (unknown options) or another
 * negative errno.
 */
int morph_slice_open_queue(struct morph_slice *slice, uint32_t schedule,
			   const struct morph_queue_open_opts *opts, struct morph_queue **out);

/**
 * morph_queue_close() - close a queue
 * @ring: the queue, or NULL; requests without an answer may have been executed or not
 *
 * The kernel writes to memory of the caller until its first word is MORPH_RING_GONE.
 */
void morph_queue_close(struct morph_queue *ring);

/**
 * morph_queue_wake() - wake the kernel's thread
 * @ring: the queue
 *
 * Call it when morph_device_asleep() asks for it.
 *
 * Return: 0, -ENODEV (the slice is gone) or another negative errno.
 */
int morph_queue_wake(struct morph_queue *ring);

/**
 * morph_queue_state() - read the state and the memory of a queue
 * @ring: the queue
 * @status: where to put it, or NULL
 *
 * With <morph/device.h>, do not use morph_queue_ask() and morph_queue_answer().
 *
 * Return: enum morph_ring_state or a negative errno.
 */
int morph_queue_state(struct morph_queue *ring, struct morph_queue_status *status);

/**
 * morph_queue_ask() - add a request to a queue
 * @ring: the queue
 * @op: enum morph_ring_op
 * @rank: rank for MORPH_RING_ARRIVE, step for MORPH_RING_JUMP; else 0
 * @position: position to light, or that the rank has finished; 0: the next one, or MORPH_RING_NOP
 * @tag: identifies the answer, below MORPH_RING_TAGS
 *
 * Never waits. Wakes the kernel's thread if it sleeps; if that fails, the request stays in the
 * queue.
 *
 * Return: 0, -EAGAIN (the queue is full: read answers first), -EINVAL (no such operation, a tag or
 * position that is too large, a rank or step without MORPH_RING_ARRIVE or MORPH_RING_JUMP) or
 * another negative errno.
 */
int morph_queue_ask(struct morph_queue *ring, uint32_t op, uint32_t rank, uint64_t position,
		    uint32_t tag);

/**
 * morph_queue_answer() - read the next answer of a queue
 * @ring: the queue
 * @timeout_ns: how long to wait for it
 * @answer: where to put it
 *
 * Answers come in the order of the requests.
 *
 * Return: 1; 0 if none came in time, or if there was no request; -EPROTO (the queue has stopped),
 * -ENODEV (it is gone) or another negative errno.
 */
int morph_queue_answer(struct morph_queue *ring, int64_t timeout_ns,
		       struct morph_queue_answer *answer);

/* ---------------------------------------------------------------- the state */

/**
 * struct morph_state_slice - the state of a slice
 * @sz: size of this structure, set by the caller: MORPH_OPTS()
 * @generation: of the slice
 * @position: position of the schedule that last lit a step
 * @schedule: that schedule, or 0
 * @step: that step, or MORPH_ANY
 * @ranks: ranks of the slice
 * @reserved: 0
 * @settle_ns: duration of a change until there is light
 * @relock_ns: further time until receivers have locked
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
 * morph_slice_state_map() - map a slice's state, to read it without system calls
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
 * morph_state_read() - read the light from one rank to another
 * @state: the state
 * @src: rank that sends
 * @dst: rank that receives
 * @pair: generation of the light between the two, guides of its path, its bandwidth
 *
 * Makes no system call; all three are of the same moment. If there is light, the caller may send.
 *
 * Return: 0, -ENOENT (no such rank), or -EAGAIN if the kernel was writing it at each attempt for a
 * second.
 */
int morph_state_read(const struct morph_state *state, uint32_t src, uint32_t dst,
		     struct morph_state_pair *pair);

/**
 * morph_state_slice() - read generation, step and position of a slice
 * @state: the state
 * @out: where to put them
 *
 * Makes no system call; all values are of the same moment.
 *
 * Return: 0, or -EAGAIN as morph_state_read().
 */
int morph_state_slice(const struct morph_state *state, struct morph_state_slice *out);

#ifdef __cplusplus
}
#endif

#endif /* MORPH_RUNNING_H */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libmorph: phases of a job, on a slice. Included by <morph/morph.h>. */
#ifndef MORPH_SLICE_PHASES_H
#define MORPH_SLICE_PHASES_H

#include <morph/running.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * DOC: Phases on a slice
 *
 * A job goes through phases that each need their own circuits between the ranks of its slice. The
 * phases are the steps of a schedule that is loaded once. One is lit at a time, in whatever order
 * ranks ask for them. Each rank is a process (or thread) with its own struct morph_slice_phases,
 * and its own file of the slice:
 *
 *	morph_slice_phases_load(slice, steps, NULL, &phasing);	one of the job's processes
 *	morph_slice_phases_join(slice, schedule, NULL, &phasing);	all others
 *
 *	morph_slice_phases_enter(phasing, GRADIENTS, -1);	returns when it is lit
 *	reduce();
 *	morph_slice_phases_leave(phasing, GRADIENTS);
 *	morph_slice_phases_announce(phasing, PIPELINE);	this rank needs the old phase no more
 *	compute();
 *	morph_slice_phases_enter(phasing, PIPELINE, -1);	is lit by now
 *
 * A phase stays lit until all ranks inside have left. A rank that has left and announced no other
 * phase is expected to return. An announcement by another rank does not take such a phase away;
 * entering another phase does. So circuits change in the window after the last announcement.
 * Another order, or a wrong announcement, costs time.
 *
 * Locks on the slice's node record the ranks in each phase (fcntl(), F_OFD_SETLK). The operating
 * system releases them when a process ends, together with children that it forked and that run no
 * other program. They work among processes that open the same node: in a container, bind-mount it
 * instead of making another. A rank inside a phase must not wait for one that waits to enter
 * another: both wait forever. Enter when all participants are ready, or with a timeout and go on
 * without light.
 *
 * If ranks enter a phase again and again, always before the last has left, they keep out ranks that
 * wait for another phase. A rank that has waited for some time asks. Ranks that are about to enter
 * together check for this, agree, and give way (morph_slice_phases_asked()).
 *
 * Children of a process must not use its phases.
 */

#define MORPH_PHASE_NONE UINT32_MAX /* no phase */

/**
 * struct morph_slice_phases_opts - options of phases
 * @sz: sizeof(struct morph_slice_phases_opts)
 * @locks: for unnamed slices: a file for locks that all ranks can open for reading and writing;
 *	NULL: the slice's node
 */
struct morph_slice_phases_opts {
	size_t sz;
	const char *locks;
};

/**
 * morph_slice_phases_load() - load phases into a slice
 * @slice: the slice, which must outlive them
 * @steps: a step for each phase, counted from 0, all begun by calls
 * @opts: options, or NULL
 * @out: the phases, freed by morph_slice_phases_free()
 *
 * Between any two phases, common circuits stay lit. The fastest change is to the next phase, and
 * from the last to the first, because the driver prepares it. Nothing is lit yet. The schedule is a
 * loop, whether @steps is or not.
 *
 * Return: 0, -EINVAL (no steps, or one that a barrier or time begins), -E2BIG (unknown options),
 * -ENOMEM, the error of open() for the locks, or as morph_slice_schedule_load().
 */
int morph_slice_phases_load(struct morph_slice *slice, const struct morph_steps *steps,
			    const struct morph_slice_phases_opts *opts,
			    struct morph_slice_phases **out);

/**
 * morph_slice_phases_join() - use phases that another process has loaded
 * @slice: the slice, opened by this process
 * @schedule: the number from morph_slice_phases_info() of that process
 * @opts: as morph_slice_phases_load()
 * @out: the phases, freed by morph_slice_phases_free()
 *
 * Return: 0, -ENOENT (no such schedule), -E2BIG, -ENOMEM, the error of open() for the locks, or
 * another negative errno.
 */
int morph_slice_phases_join(struct morph_slice *slice, uint32_t schedule,
			    const struct morph_slice_phases_opts *opts,
			    struct morph_slice_phases **out);

/**
 * morph_slice_phases_free() - leave all phases
 * @phasing: the phases, or NULL; they stay loaded, and lit
 */
void morph_slice_phases_free(struct morph_slice_phases *phasing);

/**
 * morph_slice_phases_unload() - darken phases and release their resources
 * @phasing: the phases; afterwards they, and those of all other ranks, can only be freed
 * @timeout_ns: how long to wait until all ranks have left
 *
 * Return: 0, -ETIMEDOUT, -ENOENT (unloaded already), or another negative errno.
 */
int morph_slice_phases_unload(struct morph_slice_phases *phasing, int64_t timeout_ns);

/**
 * morph_slice_phases_enter() - wait for the light of a phase
 * @phasing: the phases
 * @phase: the phase; a rank may enter it several times, and leaves it as often
 * @timeout_ns: how long to wait for ranks in another phase; a change in progress is always awaited
 *
 * A lit phase is entered at once. Another one is lit as soon as all ranks have left the lit one,
 * whatever was announced. The call waits for repairs of the slice. If hardware fails during the
 * change, the call retries for a fifth of a second, whatever the timeout, until the fault is known
 * and circuits are rerouted. Only the first call does so.
 *
 * Return: 0, -ETIMEDOUT (ranks are in another phase, or a repair continues), -ENOENT (no such
 * phase; unloaded), -ENODEV (the slice is gone), -EIO (a lit circuit has failed without a repair),
 * or the driver's error. On failure this rank is not in it. Events of the slice report later
 * failures.
 */
int morph_slice_phases_enter(struct morph_slice_phases *phasing, uint32_t phase,
			     int64_t timeout_ns);

/**
 * morph_slice_phases_leave() - stop using a phase's circuits
 * @phasing: the phases
 * @phase: the phase
 *
 * Never waits. The rank is expected to return to it, until it enters or announces another.
 *
 * Return: 0 or -ENOENT (it is not in it).
 */
int morph_slice_phases_leave(struct morph_slice_phases *phasing, uint32_t phase);

/**
 * enum morph_slice_phases_ask - the wait of a rank that others block
 * @MORPH_ASK_NOTHING: nothing
 * @MORPH_ASK_LIGHT: light of some phase
 * @MORPH_ASK_UNLOAD: that all ranks leave all phases; meanwhile no other one is lit
 */
enum morph_slice_phases_ask {
	MORPH_ASK_NOTHING,
	MORPH_ASK_LIGHT,
	MORPH_ASK_UNLOAD,
};

/**
 * morph_slice_phases_ask() - announce what this rank waits for
 * @phasing: the phases
 * @what: the wait, until the next call
 *
 * Never waits. For callers that poll with a timeout of 0. morph_slice_phases_enter() and
 * morph_slice_phases_unload() ask by themselves after 10 ms, until they return.
 *
 * Return: 0 or a negative errno.
 */
int morph_slice_phases_ask(struct morph_slice_phases *phasing, enum morph_slice_phases_ask what);

/**
 * morph_slice_phases_asked() - does a rank ask?
 * @phasing: the phases
 *
 * Never waits. A rank that is about to enter may give way: not enter until no rank asks any more,
 * or for a time. It must not do so alone if another rank inside the phase waits for it, because
 * then none of the three would continue. So all ranks that enter together agree first.
 *
 * Return: whether a rank asks, this one or another. Never fails.
 */
bool morph_slice_phases_asked(struct morph_slice_phases *phasing);

/**
 * morph_slice_phases_announce() - announce the phase that this rank enters next
 * @phasing: the phases
 * @phase: the phase; MORPH_PHASE_NONE: unknown
 *
 * Never waits, and changes no light: morph_slice_phases_provision() does. It holds until the rank
 * announces or enters another.
 *
 * Return: 0 or -ENOENT (no such phase).
 */
int morph_slice_phases_announce(struct morph_slice_phases *phasing, uint32_t phase);

/**
 * morph_slice_phases_provision() - light an announced phase ahead of time
 * @phasing: the phases
 * @timeout_ns: how long to wait for ranks that are in the lit phase or will return to it
 *
 * For idle windows: call it from a separate thread with its own joined phases, or from a rank
 * without other work.
 *
 * Return: 0 (it is lit), -ENODATA (no announcement), else as morph_slice_phases_enter().
 */
int morph_slice_phases_provision(struct morph_slice_phases *phasing, int64_t timeout_ns);

/**
 * struct morph_slice_phases_info - the schedule of phases, and counters of this process
 * @schedule: number of the loaded schedule, for other processes
 * @entered: entries into phases
 * @lit: entries into a lit phase
 * @late: entries that timed out
 * @provisioned: phases that were lit because of an announcement
 * @changes: changes of light by this process
 * @jumps: changes to a phase other than the next
 * @repairs: waits for a repair
 * @wait_ns: total time of entering
 */
struct morph_slice_phases_info {
	uint32_t schedule;
	uint64_t entered;
	uint64_t lit;
	uint64_t late;
	uint64_t provisioned;
	uint64_t changes;
	uint64_t jumps;
	uint64_t repairs;
	uint64_t wait_ns;
};

/**
 * morph_slice_phases_info() - read the schedule of phases and the counters
 * @phasing: the phases
 * @out: where to put them
 */
void morph_slice_phases_info(const struct morph_slice_phases *phasing,
			     struct morph_slice_phases_info *out);

#ifdef __cplusplus
}
#endif

#endif /* MORPH_SLICE_PHASES_H */

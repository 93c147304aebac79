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
 * A job goes through phases, each of which wants circuits of its own between the ranks of its slice. They are
 * the steps of a schedule, loaded once; of which one is lit at a time, in whatever order ranks ask for them. Each
 * rank is a process (or thread) with a struct morph_slice_phases of its own, over a file of the slice of its own:
 *
 *	morph_slice_phases_load(slice, steps, NULL, &phasing);	one of the job's processes
 *	morph_slice_phases_join(slice, schedule, NULL, &phasing);	all others
 *
 *	morph_slice_phases_enter(phasing, GRADIENTS, -1);	returns when it is lit
 *	reduce();
 *	morph_slice_phases_leave(phasing, GRADIENTS);
 *	morph_slice_phases_announce(phasing, PIPELINE);	this rank wants no more of what it was in
 *	compute();
 *	morph_slice_phases_enter(phasing, PIPELINE, -1);	is lit by now
 *
 * A phase that a rank is in stays lit until it has left. One that it has left, and not announced another after, it
 * comes back to: who has only announced another does not take it away; who enters another does. So circuits
 * change in the window after the last rank has announced, and what comes in another order, or was announced
 * wrongly, costs time.
 *
 * Who is in a phase is known by locks on the slice's node (fcntl(), F_OFD_SETLK), which the operating system
 * gives back when a process ends, however it does, and those that it has forked and that run nothing else. They hold among processes that open the same node: in a container it is
 * bound, not made anew. A rank that waits inside of a phase for one that waits to enter another waits for ever: ranks
 * enter when all that take part are ready to, or with a time after which they go on without.
 *
 * Ranks that enter a phase again and again, one always before the last has left, keep others out of theirs. Who has waited
 * for some time asks; those who are about to enter together look, agree, and give way (morph_slice_phases_asked()).
 *
 * What is made by one process is not used by its children.
 */

#define MORPH_PHASE_NONE UINT32_MAX /* no phase */

/**
 * struct morph_slice_phases_opts - how phases are made
 * @sz: sizeof(struct morph_slice_phases_opts)
 * @locks: a file that all ranks may open for reading and writing, for their locks; NULL: the slice's node.
 *	For slices without a name
 */
struct morph_slice_phases_opts {
	size_t sz;
	const char *locks;
};

/**
 * morph_slice_phases_load() - load phases into a slice
 * @slice: the slice, which must outlive them
 * @steps: a step for each phase, counted from 0, all begun by calls
 * @opts: how, or NULL
 * @out: the phases, freed by morph_slice_phases_free()
 *
 * From whichever phase to whichever other what both have stays lit. Light comes fastest from a phase to the one after
 * it, and from the last to the first, which the driver has made ready. Nothing is lit yet. It is a loop whether @steps
 * is or not.
 *
 * Return: 0, -EINVAL (no steps, or one that a barrier or time begins), -E2BIG (unknown options), -ENOMEM, what open() says
 * of the locks, or as morph_slice_schedule_load().
 */
int morph_slice_phases_load(struct morph_slice *slice, const struct morph_steps *steps,
			    const struct morph_slice_phases_opts *opts,
			    struct morph_slice_phases **out);

/**
 * morph_slice_phases_join() - use phases that another process has loaded
 * @slice: the slice, opened by this process
 * @schedule: the number that morph_slice_phases_info() tells there
 * @opts: as there
 * @out: the phases, freed by morph_slice_phases_free()
 *
 * Return: 0, -ENOENT (no such schedule), -E2BIG, -ENOMEM, what open() says of the locks, or another negative errno.
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
 * morph_slice_phases_unload() - darken phases, and give back what they hold
 * @phasing: the phases, which can only be freed afterwards, as those of all other ranks
 * @timeout_ns: how long to wait until no rank is in one
 *
 * Return: 0, -ETIMEDOUT, -ENOENT (unloaded already), or another negative errno.
 */
int morph_slice_phases_unload(struct morph_slice_phases *phasing, int64_t timeout_ns);

/**
 * morph_slice_phases_enter() - wait for the light of a phase
 * @phasing: the phases
 * @phase: which one; it may be entered several times, to be left as often
 * @timeout_ns: how long to wait for those that are in the way; a change that has begun is waited for
 *
 * What is lit stays until it is left. Else it is lit as soon as nobody is in the phase that is; what was
 * announced does not count. A repair of the slice is waited for; and a change that hardware fails in is tried again for
 * a fifth of a second, whatever the timeout, until what has failed is known and led round: once, not by each call.
 *
 * Return: 0, -ETIMEDOUT (ranks are in another phase, or the slice is still being repaired), -ENOENT (no such phase; unloaded),
 * -ENODEV (the slice is gone), -EIO (of what is lit a circuit has failed, and no repair has found another way), or what the
 * driver says of a step that can't be lit. On failure this rank is not in it. What fails later the slice's events tell.
 */
int morph_slice_phases_enter(struct morph_slice_phases *phasing, uint32_t phase,
			     int64_t timeout_ns);

/**
 * morph_slice_phases_leave() - nothing goes over a phase's circuits any more
 * @phasing: the phases
 * @phase: which one
 *
 * Never waits. The rank is taken to come back to it, until it enters or announces another.
 *
 * Return: 0 or -ENOENT (it is not in it).
 */
int morph_slice_phases_leave(struct morph_slice_phases *phasing, uint32_t phase);

/**
 * enum morph_slice_phases_ask - what a rank waits for that others keep from it
 * @MORPH_ASK_NOTHING: nothing
 * @MORPH_ASK_LIGHT: light of some phase
 * @MORPH_ASK_UNLOAD: that nobody is in any phase; meanwhile no other one is lit
 */
enum morph_slice_phases_ask {
	MORPH_ASK_NOTHING,
	MORPH_ASK_LIGHT,
	MORPH_ASK_UNLOAD,
};

/**
 * morph_slice_phases_ask() - say what this rank waits for
 * @phasing: the phases
 * @what: that, until it is called again
 *
 * Never waits. For who waits by calls of its own, with a timeout of 0: morph_slice_phases_enter() and morph_slice_phases_unload() ask by
 * themselves when they have waited for 10 ms, until they return.
 *
 * Return: 0 or a negative errno.
 */
int morph_slice_phases_ask(struct morph_slice_phases *phasing, enum morph_slice_phases_ask what);

/**
 * morph_slice_phases_asked() - does anybody ask?
 * @phasing: the phases
 *
 * Never waits. Whoever is about to enter may give way: not enter until nobody asks any more, or for a time. One rank
 * must not while another that is inside of the phase waits for it, or none of the three would go on: so all that enter
 * together agree on it first.
 *
 * Return: whether a rank does, this one or another. Never fails.
 */
bool morph_slice_phases_asked(struct morph_slice_phases *phasing);

/**
 * morph_slice_phases_announce() - say which phase this rank enters next
 * @phasing: the phases
 * @phase: which one; MORPH_PHASE_NONE: none that is known
 *
 * Never waits, and changes no light: morph_slice_phases_provision() does. It holds until the rank announces or enters another.
 *
 * Return: 0 or -ENOENT (no such phase).
 */
int morph_slice_phases_announce(struct morph_slice_phases *phasing, uint32_t phase);

/**
 * morph_slice_phases_provision() - light what was announced, ahead of its time
 * @phasing: the phases
 * @timeout_ns: how long to wait for those that are in the way, or that come back to what is
 *
 * For the idle window: from a thread of its own with phases of its own, that were joined there, or by who has nothing else to do.
 *
 * Return: 0 (it is lit), -ENODATA (nothing was announced), else as morph_slice_phases_enter().
 */
int morph_slice_phases_provision(struct morph_slice_phases *phasing, int64_t timeout_ns);

/**
 * struct morph_slice_phases_info - the number of phases, and what has come of them in this process
 * @schedule: the number of the schedule that was loaded, for other processes
 * @entered: times that a phase was entered
 * @lit: of these, such as found it lit
 * @late: times that a phase was not entered in time
 * @provisioned: phases that were lit because they were announced
 * @changes: times that light was changed from here
 * @jumps: of these, such as did not go to the phase after
 * @repairs: times that a repair was waited for
 * @wait_ns: how long it took to enter, in all
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
 * morph_slice_phases_info() - the schedule of phases, and what has come of them so far
 * @phasing: the phases
 * @out: where to put them
 */
void morph_slice_phases_info(const struct morph_slice_phases *phasing,
			     struct morph_slice_phases_info *out);

#ifdef __cplusplus
}
#endif

#endif /* MORPH_SLICE_PHASES_H */

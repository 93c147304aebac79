/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of <morph/phases.h> that only the library, its tests and its benches call. */
#ifndef LM_INTERNAL_PHASE_H
#define LM_INTERNAL_PHASE_H

#include <morph/morph.h>

/**
 * morph_phases_add_circuit() - a circuit that a group needs
 * @phases: the phases
 * @group: the group
 * @plane: transmit port of @src and receive port of @dst
 * @src: member that sends
 * @dst: member that receives
 *
 * Groups may need the same circuit, which is then lit for both.
 *
 * Return: 0, -ENOENT (no such group, member or plane), -EINVAL (from a rank to itself), -EEXIST (one of both ports has a
 * circuit of this group already), -EBUSY (an operation of the group was begun, or its circuits are being set), -E2BIG (more than 2^22 of
 * all groups) or -ENOMEM. On failure nothing has changed. O(circuits of the group).
 */
int morph_phases_add_circuit(struct morph_phases *phases, uint32_t group, uint32_t plane,
			     uint32_t src, uint32_t dst);

/**
 * morph_phases_iterate() - an iteration begins at a rank
 * @phases: the phases
 * @rank: the rank
 *
 * What it did since the last call is an iteration. Two that are alike, one after the other, take the place of what was
 * learned of this rank. Until the first call nothing is learned. O(stages).
 *
 * Return: 0 or -ENOENT (no such rank).
 */
int morph_phases_iterate(struct morph_phases *phases, uint32_t rank);

/**
 * morph_phases_stall_ns() - what changes of circuits cost a rank in an iteration
 * @phases: the phases
 * @rank: the rank
 * @change_ns: what a change takes, as of morph_delay_change_ns()
 * @switches: where to put how many times its ports get other circuits; or NULL
 *
 * The sum of what of each change is longer than the shortest window that was seen before it: what is left of it
 * when it is provisioned, at ranks that keep step. O(circuits of all stages).
 *
 * Return: nanoseconds, UINT64_MAX: so many or more; 0 while nothing is learned.
 */
uint64_t morph_phases_stall_ns(const struct morph_phases *phases, uint32_t rank, uint64_t change_ns,
			       uint32_t *switches);

/**
 * morph_phases_begin() - a rank wants to begin an operation
 * @phases: the phases
 * @rank: the rank
 * @group: the group
 * @counter: of the group's operations, the same at all members; at a rank it ascends within an iteration
 * @now_ns: when
 *
 * It goes on with the act that says so of the group. O(circuits of all groups that wait), as all calls that tell what happened.
 *
 * Return: 0, -ENOENT (no such rank, group or member), -EINVAL (the counter does not ascend, time goes back),
 * -EBUSY (it has an operation of this group under way) or -ENOTCONN (a member has left).
 */
int morph_phases_begin(struct morph_phases *phases, uint32_t rank, uint32_t group, uint64_t counter,
		       uint64_t now_ns);

/**
 * morph_phases_end() - a rank has ended an operation, or does not want it any more
 * @phases: the phases
 * @rank: the rank
 * @group: the group
 * @now_ns: when
 *
 * Return: 0, -ENOENT (no such rank, group or member, or it has no operation of it under way) or -EINVAL (time goes back).
 */
int morph_phases_end(struct morph_phases *phases, uint32_t rank, uint32_t group, uint64_t now_ns);

/**
 * morph_phases_announce() - a rank says in which group it will communicate next
 * @phases: the phases
 * @rank: the rank
 * @group: the group
 * @now_ns: when
 *
 * For programs that know better than what was learned: it takes the place of what was announced at this rank, and is forgotten
 * when the rank begins an operation of a group with circuits. Without effect unless MORPH_PHASE_PROVISIONED.
 *
 * Return: 0, -ENOENT, -EINVAL or -ENOTCONN, as morph_phases_begin().
 */
int morph_phases_announce(struct morph_phases *phases, uint32_t rank, uint32_t group,
			  uint64_t now_ns);

/**
 * morph_phases_provision() - a launcher says which group communicates next
 * @phases: the phases
 * @group: the group
 * @now_ns: when
 *
 * As if all members had announced it, once: its circuits are set as soon as none that is in the way is busy, unless its
 * next operation comes sooner. Without effect unless MORPH_PHASE_PROVISIONED.
 *
 * Return: 0, -ENOENT, -EINVAL (time goes back) or -ENOTCONN, as morph_phases_begin().
 */
int morph_phases_provision(struct morph_phases *phases, uint32_t group, uint64_t now_ns);

/**
 * morph_phases_leave() - a rank is gone
 * @phases: the phases
 * @rank: the rank
 * @now_ns: when
 *
 * What it had begun is ended there. Operations of its groups go on no more: other members that wait for one have to end
 * it, as they have to end what has gone on already, for its circuits are busy until then. O(members of its groups) besides.
 *
 * Return: 0, -ENOENT (no such rank), -EINVAL (time goes back) or -ENOTCONN (it has left before).
 */
int morph_phases_leave(struct morph_phases *phases, uint32_t rank, uint64_t now_ns);

/**
 * morph_phases_changed() - circuits of a group were set
 * @phases: the phases
 * @group: the group of an act MORPH_PHASE_CHANGE
 * @lit: they are lit; else they are dark, and whoever needs them asks again
 * @now_ns: when
 *
 * Return: 0, -ENOENT (no such group, or no act has said so) or -EINVAL (time goes back).
 */
int morph_phases_changed(struct morph_phases *phases, uint32_t group, bool lit, uint64_t now_ns);

/**
 * morph_phases_next() - what is to be done next
 * @phases: the phases
 * @out: where to put it
 *
 * Return: false when there is nothing more.
 */
bool morph_phases_next(struct morph_phases *phases, struct morph_phase_act *out);

/**
 * morph_phases_change() - a circuit of a change
 * @phases: the phases
 * @group: the group of an act MORPH_PHASE_CHANGE, until morph_phases_changed() is called
 * @goes: of those that go dark, else of those that are set
 * @number: which, below the act's number of them
 * @out: where to put it
 *
 * Return: 0 or -ENOENT.
 */
int morph_phases_change(const struct morph_phases *phases, uint32_t group, bool goes,
			uint32_t number, struct morph_phase_circuit *out);

/**
 * morph_phases_counts() - what has come of it since the beginning
 * @phases: the phases
 * @out: where to put it
 */
void morph_phases_counts(const struct morph_phases *phases, struct morph_phase_counts *out);

#endif /* LM_INTERNAL_PHASE_H */

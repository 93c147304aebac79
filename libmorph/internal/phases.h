/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Phases that are learned from the operations of groups of ranks. The MPI library links these
 * functions, and so do tests, benches and tools/repro. Programs call <morph/slice_phases.h>.
 */
#ifndef LM_INTERNAL_PHASE_H
#define LM_INTERNAL_PHASE_H

#include <morph/morph.h>

/*
 * An iteration of training goes through phases: sharded data are gathered, activations go down the
 * pipeline, gradients are summed. Each is of groups (communicators) that need circuits of their
 * own, and between two of them ports are idle for a while. A struct morph_phases says when circuits
 * change, so that this is when they do (Opus, arXiv 2602.12521).
 *
 * A trace of an iteration tells it which groups each rank works in, one after the other:
 *
 * 	morph_phases_learn(phases, trace, count);
 * 	for (number = 0; number < morph_phases_stages(phases, rank); number++)
 * 		morph_phases_stage(phases, rank, number, &stage);
 *
 * An operation is ready when all members of its group have begun it, with the same counter. It goes
 * on when all circuits of the group are lit. From then until the last member has ended it they are
 * busy, and no act ever takes a busy circuit, nor one that is being set. Whatever is needed for a
 * group is taken at once; and what is ready waits for nothing but for what is busy, being set, or
 * claimed by what was ready before. So each operation that is ready goes on in the end, in whatever
 * order ranks begin them, as long as those that go on are ended and changes are reported.
 *
 * A stage of a rank is what it does in one group, one operation after the other, before it turns to
 * another. Stages are learned from traces: two iterations that are alike, one after the other, are
 * believed. Then the end of the last operation of a stage announces the next at that rank; and when
 * all members of a group have announced it, or begun an operation, its circuits are set in the idle
 * window. What comes in another order, or not at all, finds its circuits when it is ready, and is
 * learned when it has come twice. It costs time and is counted, and nothing else happens. Groups
 * that have no circuits, such as those inside of a server, are no stages.
 *
 * Times are nanoseconds of one clock. Memory is taken when ranks, groups and circuits are
 * announced; then nothing is allocated but for these. Phases are used by one thread at a time. What
 * is told in the same order is answered alike.
 */

/**
 * enum morph_phase_mode - when circuits are asked for
 * @MORPH_PHASE_ON_DEMAND: when an operation is ready
 * @MORPH_PHASE_PROVISIONED: as soon as all members of a group have announced it, too
 * @MORPH_PHASE_UNCONTROLLED: never: all operations that are ready go on, as if all circuits were
 *   there
 */
enum morph_phase_mode {
	MORPH_PHASE_ON_DEMAND = 0,
	MORPH_PHASE_PROVISIONED = 1,
	MORPH_PHASE_UNCONTROLLED = 2,
};

/**
 * struct morph_phases_opts - how phases are made
 * @sz: sizeof(struct morph_phases_opts)
 * @planes: ports of each rank; 0: 1
 * @mode: enum morph_phase_mode
 * @scope: enum morph_delay_scope: what carries nothing while circuits change, and has to be idle
 *         for it
 * @stages: how many stages of an iteration are remembered of a rank, at most 65536; 0: 64. Of a
 *  rank that has more nothing is learned
 */
struct morph_phases_opts {
	size_t sz;
	uint32_t planes;
	uint32_t mode;
	uint32_t scope;
	uint32_t stages;
};

/**
 * morph_phases_new() - begin phases, in which no circuit is lit
 * @ctx: the context, which must outlive them
 * @ranks: how many ranks there are, at most 4096
 * @opts: how, or NULL
 *
 * Keeps less than 200 bytes for each stage of each rank that may be remembered.
 *
 * Return: the phases, freed by morph_phases_free(); NULL (no ranks or too many, more than 64
 * planes, too many stages, no such mode or scope, out of memory).
 */
struct morph_phases *morph_phases_new(struct morph_ctx *ctx, uint32_t ranks,
				      const struct morph_phases_opts *opts);

/* ------------------------------------------------------------------- groups */

/**
 * morph_phases_free() - free phases
 * @phases: the phases, or NULL
 */
void morph_phases_free(struct morph_phases *phases);

/**
 * morph_phases_add_group() - ranks that communicate
 * @phases: the phases
 * @members: ranks, each once
 * @count: how many, at least two
 *
 * A pipeline that sends between two neighbours has a group for each two of them. Groups may come at
 * any time.
 *
 * Return: its number, counted from 0; -EINVAL (too few members, or one twice), -ENOENT (no such
 * rank), -E2BIG (more than 65536) or -ENOMEM. On failure nothing has changed.
 */
int morph_phases_add_group(struct morph_phases *phases, const uint32_t *members, uint32_t count);

/**
 * morph_phases_add_ring() - circuits from each member of a group to the next
 * @phases: the phases
 * @group: the group
 * @plane: the plane
 * @order: all members, in the order of the ring
 *
 * Return: 0 or a negative errno: a member that is twice in the ring has two circuits at one port.
 * Of a ring that fails no circuit is there.
 */
int morph_phases_add_ring(struct morph_phases *phases, uint32_t group, uint32_t plane,
			  const uint32_t *order);

/* ----------------------------------------------------------------- learning */

/**
 * struct morph_phase_trace - an operation at a rank, as it was seen
 * @rank: the rank
 * @group: the group
 * @counter: of the group's operations, ascending
 * @begin_ns: when the rank began it
 * @end_ns: when it ended there
 */
struct morph_phase_trace {
	uint32_t rank;
	uint32_t group;
	uint64_t counter;
	uint64_t begin_ns;
	uint64_t end_ns;
};

/**
 * morph_phases_learn() - learn from an iteration that is over
 * @phases: the phases
 * @trace: its operations, those of a rank in the order in which it began them
 * @count: how many
 *
 * O(operations + stages of all ranks).
 *
 * Return: 0, -ENOENT (no such rank, group or member), -EINVAL (an operation ends before it begins,
 * or times or counters go back) or -EBUSY (an operation is under way). On failure what was learned
 * before stays.
 */
int morph_phases_learn(struct morph_phases *phases, const struct morph_phase_trace *trace,
		       size_t count);

/**
 * morph_phases_stages() - how many stages an iteration has at a rank
 * @phases: the phases
 * @rank: the rank
 *
 * Return: how many; 0 while nothing is learned, or there is no such rank.
 */
uint32_t morph_phases_stages(const struct morph_phases *phases, uint32_t rank);

/**
 * struct morph_stage - operations of a group, one after the other
 * @group: the group
 * @first: of the group's operations in the iteration, counted from 0, the first of the stage
 * @count: how many
 * @switches: ports of the rank get other circuits for it than they have from the stages before
 * @windows: how many idle windows before it were seen, of which the last eight are kept
 * @window_least_ns: the shortest of these
 * @window_ns: their median, the lower one of two
 */
struct morph_stage {
	uint32_t group;
	uint64_t first;
	uint64_t count;
	bool switches;
	uint64_t windows;
	uint64_t window_least_ns;
	uint64_t window_ns;
};

/**
 * morph_phases_stage() - a stage of a rank
 * @phases: the phases
 * @rank: the rank
 * @number: which, below morph_phases_stages(); after the last comes the first
 * @out: where to put it
 *
 * O(circuits of all stages).
 *
 * Return: 0 or -ENOENT.
 */
int morph_phases_stage(const struct morph_phases *phases, uint32_t rank, uint32_t number,
		       struct morph_stage *out);

/* ------------------------------------------------------------------ running */

/**
 * enum morph_phase_act_kind - what is to be done
 * @MORPH_PHASE_CHANGE: circuits that are in the way of a group go dark, and those that it lacks are
 *   set
 * @MORPH_PHASE_GO: the operation of the group goes on
 */
enum morph_phase_act_kind {
	MORPH_PHASE_CHANGE = 1,
	MORPH_PHASE_GO = 2,
};

/**
 * struct morph_phase_act - something that is to be done
 * @kind: enum morph_phase_act_kind
 * @group: of which group
 * @counter: which of its operations goes on
 * @comes: how many circuits are set
 * @goes: how many go dark before
 */
struct morph_phase_act {
	uint32_t kind;
	uint32_t group;
	uint64_t counter;
	uint32_t comes;
	uint32_t goes;
};

/**
 * struct morph_phase_circuit - a circuit
 * @plane: transmit port of @src and receive port of @dst
 * @src: rank that sends
 * @dst: rank that receives
 */
struct morph_phase_circuit {
	uint32_t plane;
	uint32_t src;
	uint32_t dst;
};

/**
 * struct morph_phase_counts - what has come of it
 * @operations: operations that were ready
 * @foreseen: of these, such as found circuits lit, or being set, because their group was announced
 * @unforeseen: such as lacked circuits that were not asked for yet
 * @waits: such as had to wait for circuits that were busy, being set for others, or claimed
 * @strays: times that a rank turned to another group than was announced there
 * @learned: times that two iterations of a rank alike took the place of what was learned of it
 * @changes: acts MORPH_PHASE_CHANGE
 * @set: circuits that were set
 * @dark: circuits that went dark for it
 * @failed: changes after which circuits were dark
 * @stall_ns: how long operations that were ready have waited for circuits, in all
 */
struct morph_phase_counts {
	uint64_t operations;
	uint64_t foreseen;
	uint64_t unforeseen;
	uint64_t waits;
	uint64_t strays;
	uint64_t learned;
	uint64_t changes;
	uint64_t set;
	uint64_t dark;
	uint64_t failed;
	uint64_t stall_ns;
};

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
 * Return: 0, -ENOENT (no such group, member or plane), -EINVAL (from a rank to itself), -EEXIST
 * (one of both ports has a circuit of this group already), -EBUSY (an operation of the group was
 * begun, or its circuits are being set), -E2BIG (more than 2^22 of all groups) or -ENOMEM. On
 * failure nothing has changed. O(circuits of the group).
 */
int morph_phases_add_circuit(struct morph_phases *phases, uint32_t group, uint32_t plane,
			     uint32_t src, uint32_t dst);

/**
 * morph_phases_iterate() - an iteration begins at a rank
 * @phases: the phases
 * @rank: the rank
 *
 * What it did since the last call is an iteration. Two that are alike, one after the other, take
 * the place of what was learned of this rank. Until the first call nothing is learned. O(stages).
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
 * The sum of what of each change is longer than the shortest window that was seen before it: what
 * is left of it when it is provisioned, at ranks that keep step. O(circuits of all stages).
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
 * @counter: of the group's operations, the same at all members; at a rank it ascends within an
 *           iteration
 * @now_ns: when
 *
 * It goes on with the act that says so of the group. O(circuits of all groups that wait), as all
 * calls that tell what happened.
 *
 * Return: 0, -ENOENT (no such rank, group or member), -EINVAL (the counter does not ascend, time
 * goes back), -EBUSY (it has an operation of this group under way) or -ENOTCONN (a member has
 * left).
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
 * Return: 0, -ENOENT (no such rank, group or member, or it has no operation of it under way) or
 * -EINVAL (time goes back).
 */
int morph_phases_end(struct morph_phases *phases, uint32_t rank, uint32_t group, uint64_t now_ns);

/**
 * morph_phases_announce() - a rank says in which group it will communicate next
 * @phases: the phases
 * @rank: the rank
 * @group: the group
 * @now_ns: when
 *
 * For programs that know better than what was learned: it takes the place of what was announced at
 * this rank, and is forgotten when the rank begins an operation of a group with circuits. Without
 * effect unless MORPH_PHASE_PROVISIONED.
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
 * As if all members had announced it, once: its circuits are set as soon as none that is in the way
 * is busy, unless its next operation comes sooner. Without effect unless MORPH_PHASE_PROVISIONED.
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
 * What it had begun is ended there. Operations of its groups go on no more: other members that wait
 * for one have to end it, as they have to end what has gone on already, for its circuits are busy
 * until then. O(members of its groups) besides.
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

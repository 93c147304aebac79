/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Phases that are learnt from the operations of groups of ranks. The MPI library, tests, benches
 * and tools/repro link these functions. Programs call <morph/slice_phases.h>.
 */
#ifndef LM_INTERNAL_PHASE_H
#define LM_INTERNAL_PHASE_H

#include <morph/morph.h>

/*
 * An iteration of training has phases: sharded data are gathered, activations go down the pipeline,
 * gradients are summed. Each phase uses groups (communicators) with circuits of their own. Ports
 * are idle for a while between two phases. A struct morph_phases changes circuits in these idle
 * windows (Opus, arXiv 2602.12521).
 *
 * A trace of an iteration has the groups that each rank works in, one after the other:
 *
 *	morph_phases_learn(phases, trace, count);
 *	for (number = 0; number < morph_phases_stages(phases, rank); number++)
 *		morph_phases_stage(phases, rank, number, &stage);
 *
 * An operation is ready when all members of its group have begun it with the same counter. It goes
 * on when all circuits of the group are lit. From then until the last member has ended it, these
 * circuits are busy. No act takes a busy circuit, or one that is being set. All circuits of a group
 * are taken at once. A ready operation waits only for circuits that are busy, being set, or claimed
 * by an operation that was ready before. So each ready operation goes on in the end, in whatever
 * order ranks begin them, if running operations end and changes are reported.
 *
 * A stage of a rank is its sequence of operations in one group, before it turns to another group.
 * Traces teach the stages: two consecutive equal iterations are believed. Then the end of the last
 * operation of a stage announces the next stage of that rank. When all members of a group have
 * announced it, or begun an operation, its circuits are set in the idle window. An operation out of
 * order gets its circuits when it is ready, and a new order is learnt when it comes twice. This
 * costs time and is counted, but has no other effect. Groups without circuits, such as those inside
 * a server, are not stages.
 *
 * Times are nanoseconds of one clock. Memory is allocated when ranks, groups and circuits are
 * added, and only then. One thread at a time can use phases. The same calls in the same order give
 * the same answers.
 */

/**
 * enum morph_phase_mode - when circuits are requested
 * @MORPH_PHASE_ON_DEMAND: when an operation is ready
 * @MORPH_PHASE_PROVISIONED: also as soon as all members of a group have announced it
 * @MORPH_PHASE_UNCONTROLLED: never: all ready operations go on, as if all circuits existed
 */
enum morph_phase_mode {
	MORPH_PHASE_ON_DEMAND = 0,
	MORPH_PHASE_PROVISIONED = 1,
	MORPH_PHASE_UNCONTROLLED = 2,
};

/**
 * struct morph_phases_opts - options of phases
 * @sz: sizeof(struct morph_phases_opts)
 * @planes: ports of each rank; 0: 1
 * @mode: enum morph_phase_mode
 * @scope: enum morph_delay_scope: what carries no data while circuits change, and must be idle for
 *	it
 * @stages: limit of the remembered stages of a rank, at most 65536; 0: 64. A rank with more stages
 *	learns nothing
 */
struct morph_phases_opts {
	size_t sz;
	uint32_t planes;
	uint32_t mode;
	uint32_t scope;
	uint32_t stages;
};

/**
 * morph_phases_new() - create phases without lit circuits
 * @ctx: the context, which must outlive them
 * @ranks: number of ranks, at most 4096
 * @opts: options, or NULL
 *
 * Uses less than 200 bytes for each stage of each rank.
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
 * morph_phases_add_group() - add a group of ranks that communicate
 * @phases: the phases
 * @members: ranks, each once
 * @count: how many, at least two
 *
 * A pipeline that sends between neighbours has a group for each pair. Groups can be added at any
 * time.
 *
 * Return: its number, counted from 0; -EINVAL (too few members, or one twice), -ENOENT (no such
 * rank), -E2BIG (more than 65536) or -ENOMEM. On failure nothing has changed.
 */
int morph_phases_add_group(struct morph_phases *phases, const uint32_t *members, uint32_t count);

/**
 * morph_phases_add_ring() - add circuits from each member of a group to the next
 * @phases: the phases
 * @group: the group
 * @plane: the plane
 * @order: all members, in the order of the ring
 *
 * Return: 0 or a negative errno. A member that is twice in the ring would have two circuits at one
 * port. A failed call adds no circuit.
 */
int morph_phases_add_ring(struct morph_phases *phases, uint32_t group, uint32_t plane,
			  const uint32_t *order);

/* ----------------------------------------------------------------- learning */

/**
 * struct morph_phase_trace - an observed operation of a rank
 * @rank: the rank
 * @group: the group
 * @counter: of the group's operations, ascending
 * @begin_ns: begin at the rank
 * @end_ns: end at the rank
 */
struct morph_phase_trace {
	uint32_t rank;
	uint32_t group;
	uint64_t counter;
	uint64_t begin_ns;
	uint64_t end_ns;
};

/**
 * morph_phases_learn() - learn from a complete iteration
 * @phases: the phases
 * @trace: its operations, those of a rank in the order in which it began them
 * @count: how many
 *
 * O(operations + stages of all ranks).
 *
 * Return: 0, -ENOENT (no such rank, group or member), -EINVAL (an operation ends before it begins,
 * or times or counters go back) or -EBUSY (an operation is running). On failure the learnt stages
 * are unchanged.
 */
int morph_phases_learn(struct morph_phases *phases, const struct morph_phase_trace *trace,
		       size_t count);

/**
 * morph_phases_stages() - count the stages of an iteration at a rank
 * @phases: the phases
 * @rank: the rank
 *
 * Return: the number of stages; 0 before anything is learnt, or for an unknown rank.
 */
uint32_t morph_phases_stages(const struct morph_phases *phases, uint32_t rank);

/**
 * struct morph_stage - consecutive operations of a group
 * @group: the group
 * @first: the stage's first operation among the group's operations in the iteration, counted from 0
 * @count: number of operations
 * @switches: ports of the rank get other circuits than in the stages before
 * @windows: number of observed idle windows before it, of which the last eight are kept
 * @window_least_ns: the shortest kept window
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
 * morph_phases_stage() - read a stage of a rank
 * @phases: the phases
 * @rank: the rank
 * @number: its number, below morph_phases_stages(); the first stage follows the last one
 * @out: the structure to fill
 *
 * O(circuits of all stages).
 *
 * Return: 0 or -ENOENT.
 */
int morph_phases_stage(const struct morph_phases *phases, uint32_t rank, uint32_t number,
		       struct morph_stage *out);

/* ------------------------------------------------------------------ running */

/**
 * enum morph_phase_act_kind - kinds of acts that the caller performs
 * @MORPH_PHASE_CHANGE: darken circuits that block a group, and set the circuits that it lacks
 * @MORPH_PHASE_GO: let the operation of the group go on
 */
enum morph_phase_act_kind {
	MORPH_PHASE_CHANGE = 1,
	MORPH_PHASE_GO = 2,
};

/**
 * struct morph_phase_act - an act that the caller performs
 * @kind: enum morph_phase_act_kind
 * @group: the group
 * @counter: the operation that goes on
 * @comes: number of circuits to set
 * @goes: number of circuits to darken first
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
 * struct morph_phase_counts - statistics
 * @operations: operations that were ready
 * @foreseen: of these, with circuits lit or being set, because their group was announced
 * @unforeseen: of these, with circuits that were not requested before
 * @waits: of these, that waited for circuits that were busy, being set for another operation, or
 *	claimed
 * @strays: times that a rank turned to another group than was announced
 * @learned: times that two equal iterations of a rank replaced its learnt stages
 * @changes: acts MORPH_PHASE_CHANGE
 * @set: circuits that were set
 * @dark: circuits that went dark for it
 * @failed: changes after which circuits were dark
 * @stall_ns: total time that ready operations have waited for circuits
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
 * morph_phases_add_circuit() - add a circuit that a group needs
 * @phases: the phases
 * @group: the group
 * @plane: transmit port of @src and receive port of @dst
 * @src: member that sends
 * @dst: member that receives
 *
 * Several groups can need the same circuit, which is then lit for all of them. O(circuits of the
 * group).
 *
 * Return: 0, -ENOENT (no such group, member or plane), -EINVAL (from a rank to itself), -EEXIST,
 * -EBUSY, -E2BIG (more than 2^22 of all groups) or -ENOMEM. If one of the ports has a circuit of
 * this group already, it is -EEXIST. If an operation of the group has begun, or its circuits are
 * being set, it is -EBUSY. On failure nothing has changed.
 */
int morph_phases_add_circuit(struct morph_phases *phases, uint32_t group, uint32_t plane,
			     uint32_t src, uint32_t dst);

/**
 * morph_phases_iterate() - begin an iteration at a rank
 * @phases: the phases
 * @rank: the rank
 *
 * The operations of the rank since the last call are an iteration. Two consecutive equal iterations
 * replace the learnt stages of this rank. Nothing is learnt before the first call. O(stages).
 *
 * Return: 0 or -ENOENT (no such rank).
 */
int morph_phases_iterate(struct morph_phases *phases, uint32_t rank);

/**
 * morph_phases_stall_ns() - compute the cost of circuit changes for a rank in an iteration
 * @phases: the phases
 * @rank: the rank
 * @change_ns: time of a change, as of morph_delay_change_ns()
 * @switches: set to the number of times that its ports get other circuits; or NULL
 *
 * The sum over all changes of the time that exceeds the shortest observed window before the change.
 * This is the rest of provisioned changes at ranks that keep step. O(circuits of all stages).
 *
 * Return: nanoseconds, UINT64_MAX: this much or more; 0 before anything is learnt.
 */
uint64_t morph_phases_stall_ns(const struct morph_phases *phases, uint32_t rank, uint64_t change_ns,
			       uint32_t *switches);

/**
 * morph_phases_begin() - report that a rank begins an operation
 * @phases: the phases
 * @rank: the rank
 * @group: the group
 * @counter: of the group's operations, the same at all members; at a rank it ascends within an
 *	iteration
 * @now_ns: present time
 *
 * The rank waits until an act MORPH_PHASE_GO of the group. O(circuits of all waiting groups), as
 * all calls that report events.
 *
 * Return: 0, -ENOENT (no such rank, group or member), -EINVAL (the counter does not ascend, time
 * goes back), -EBUSY (it has a running operation of this group) or -ENOTCONN (a member has left).
 */
int morph_phases_begin(struct morph_phases *phases, uint32_t rank, uint32_t group, uint64_t counter,
		       uint64_t now_ns);

/**
 * morph_phases_end() - report that a rank has ended or cancelled an operation
 * @phases: the phases
 * @rank: the rank
 * @group: the group
 * @now_ns: present time
 *
 * Return: 0, -ENOENT (no such rank, group or member, or no running operation) or -EINVAL (time goes
 * back).
 */
int morph_phases_end(struct morph_phases *phases, uint32_t rank, uint32_t group, uint64_t now_ns);

/**
 * morph_phases_announce() - announce the next group of a rank
 * @phases: the phases
 * @rank: the rank
 * @group: the group
 * @now_ns: present time
 *
 * For programs that know more than was learnt. It replaces the announcement of this rank, and ends
 * when the rank begins an operation of a group with circuits. No effect except with
 * MORPH_PHASE_PROVISIONED.
 *
 * Return: 0, -ENOENT, -EINVAL or -ENOTCONN, as morph_phases_begin().
 */
int morph_phases_announce(struct morph_phases *phases, uint32_t rank, uint32_t group,
			  uint64_t now_ns);

/**
 * morph_phases_provision() - announce the next group for all of its members
 * @phases: the phases
 * @group: the group
 * @now_ns: present time
 *
 * For launchers. As if all members had announced it once. Its circuits are set as soon as no
 * blocking circuit is busy, unless its next operation comes sooner. No effect except with
 * MORPH_PHASE_PROVISIONED.
 *
 * Return: 0, -ENOENT, -EINVAL (time goes back) or -ENOTCONN, as morph_phases_begin().
 */
int morph_phases_provision(struct morph_phases *phases, uint32_t group, uint64_t now_ns);

/**
 * morph_phases_leave() - remove a rank
 * @phases: the phases
 * @rank: the rank
 * @now_ns: present time
 *
 * Ends its operations. No operation of its groups goes on any more. Other members must end
 * operations that wait or run, because the circuits are busy until then. O(members of its groups)
 * in addition.
 *
 * Return: 0, -ENOENT (no such rank), -EINVAL (time goes back) or -ENOTCONN (it has left before).
 */
int morph_phases_leave(struct morph_phases *phases, uint32_t rank, uint64_t now_ns);

/**
 * morph_phases_changed() - report that the circuits of a group were set
 * @phases: the phases
 * @group: the group of an act MORPH_PHASE_CHANGE
 * @lit: they are lit; if not, they are dark, and the next operation requests them again
 * @now_ns: present time
 *
 * Return: 0, -ENOENT (no such group, or no such act) or -EINVAL (time goes back).
 */
int morph_phases_changed(struct morph_phases *phases, uint32_t group, bool lit, uint64_t now_ns);

/**
 * morph_phases_next() - read the next act
 * @phases: the phases
 * @out: the structure to fill
 *
 * Return: false if there is none.
 */
bool morph_phases_next(struct morph_phases *phases, struct morph_phase_act *out);

/**
 * morph_phases_change() - read a circuit of a change
 * @phases: the phases
 * @group: the group of an act MORPH_PHASE_CHANGE, until morph_phases_changed() is called
 * @goes: whether to read circuits to darken, else circuits to set
 * @number: its number, below the act's number of them
 * @out: the structure to fill
 *
 * Return: 0 or -ENOENT.
 */
int morph_phases_change(const struct morph_phases *phases, uint32_t group, bool goes,
			uint32_t number, struct morph_phase_circuit *out);

/**
 * morph_phases_counts() - read the statistics since the creation
 * @phases: the phases
 * @out: the structure to fill
 */
void morph_phases_counts(const struct morph_phases *phases, struct morph_phase_counts *out);

#endif /* LM_INTERNAL_PHASE_H */

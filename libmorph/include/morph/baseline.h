/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libmorph: schedules for comparison. Included by <morph/plan.h>. */
#ifndef MORPH_BASELINE_H
#define MORPH_BASELINE_H

#include <morph/schedule.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * DOC: Baselines
 *
 * Schedules without planning, to read and check like any other, and a schedule for changes that
 * take no time. The bound in struct morph_schedule_result limits the distance of a schedule from
 * the optimum. The ideal is a heuristic and no bound.
 */

/**
 * enum morph_baseline - schedules for comparison
 * @MORPH_BASELINE_SET_ONCE: circuits are set once, before the first round: the faster of
 *	MORPH_POLICY_ONE_SHOT and the one topology on which all rounds end first
 * @MORPH_BASELINE_EVERY_STEP: MORPH_POLICY_EACH_ROUND: each round has its own circuits
 * @MORPH_BASELINE_STATIC: the initially lit circuits stay. If there are none, a ring of the
 *	participating ranks is set on all planes, in one direction or in both, and stays
 * @MORPH_BASELINE_IDEAL: the fastest of those above if changes took no time
 * @MORPH_BASELINES: number of baselines
 *
 * morph_enum_name(MORPH_ENUM_BASELINE, value) returns the name.
 */
enum morph_baseline {
	MORPH_BASELINE_SET_ONCE = 0,
	MORPH_BASELINE_EVERY_STEP = 1,
	MORPH_BASELINE_STATIC = 2,
	MORPH_BASELINE_IDEAL = 3,
	MORPH_BASELINES = 4,
};

/**
 * morph_schedule_baseline() - make a schedule without planning
 * @schedule: the answer, which replaces the previous content. The ideal is a schedule for a delay
 *	without changes' durations
 * @collective: the collective with its rounds
 * @delay: durations of rounds and changes
 * @opts: as morph_schedule_plan(); the policy is ignored
 * @baseline: enum morph_baseline
 *
 * MORPH_INFEASIBLE for the static one: the lit circuits do not lead from all senders to their
 * receivers. MORPH_UNDECIDED: there are too many rounds and paths to try.
 *
 * Return: 0, whatever the verdict; -EINVAL (no such baseline), or as morph_schedule_plan().
 */
int morph_schedule_baseline(struct morph_schedule *schedule,
			    const struct morph_collective *collective,
			    const struct morph_delay *delay, const struct morph_schedule_opts *opts,
			    uint32_t baseline);

/* ---------------------------------------------------- when it pays to change circuits */

/**
 * struct morph_short_cut - halving on a ring, with its own circuits if they pay
 * @steps: steps of halving: the logarithm of the ranks
 * @first: first step with its own circuits, and all after it; @steps: none
 * @ns: time of all steps
 * @pays_bytes: bytes of each rank from which the last step has its own; UINT64_MAX: never, below
 *	2^50
 */
struct morph_short_cut {
	uint32_t steps;
	uint32_t first;
	uint64_t ns;
	uint64_t pays_bytes;
};

/**
 * morph_short_cut() - find the size from which changing a ring's circuits pays
 * @ctx: the context
 * @delay: durations of rounds and changes
 * @ranks: number of ranks, a power of two
 * @planes: ports of each rank, all of which change, in parallel unless the fabric stops
 * @bytes: initial bytes of each rank
 * @out: the answer
 *
 * For halving (reduce-scatter) with a lit ring on all planes: step i, from 0, sends half of the
 * rest 2^i ranks further. It has its own circuits if (2^i - 1) * (hop + bytes / planes / 2^(i + 1)
 * / bandwidth) is more than a change takes (Short-circuiting Rings, arXiv 2510.03491), and so do
 * all later steps. MORPH_POLICY_SEGMENTS also keeps such circuits for several steps or returns to
 * them, and takes no longer.
 *
 * Return: 0, or -EINVAL (ranks that are no power of two from 2 to 4096, no planes or more than 64,
 * no bandwidth).
 */
int morph_short_cut(struct morph_ctx *ctx, const struct morph_delay *delay, uint32_t ranks,
		    uint32_t planes, uint64_t bytes, struct morph_short_cut *out);

/**
 * struct morph_method - the result of a method for matchings of a matrix
 * @name: "rotation", "mesh", "longest", "greedy", "urgent", "solstice", "eclipse" or "birkhoff",
 *	never freed
 * @ns: arrival of all data; 0 if it has no plan
 * @turns: consecutive matchings, on the plane with most
 * @circuits: number of circuits set
 * @chosen: the plan is this one's
 * @why: the reason if it is not; never freed
 */
struct morph_method {
	const char *name;
	uint64_t ns;
	uint32_t turns;
	uint32_t circuits;
	bool chosen;
	const char *why;
};

/**
 * morph_matrix_methods() - list the result of each method of MORPH_POLICY_MATCHINGS for one round
 * @ctx: the context
 * @matrix: ranks * ranks numbers: bytes from the row's rank to the column's
 * @ranks: number of ranks
 * @delay: durations of rounds and changes
 * @opts: as for the schedule: its planes, policy and budget; nothing is lit
 * @methods: where to put the results
 * @room: number of entries
 *
 * Up to 64 ranks, all methods are tried, which may take a second. The plan is the best of all,
 * except for MORPH_POLICY_MATCHINGS without a budget, which leaves out the slowest methods, such as
 * Solstice and Eclipse.
 *
 * Return: their number; -EINVAL, -E2BIG, -EOVERFLOW, -ENOMEM, or as morph_opts_check().
 */
int morph_matrix_methods(struct morph_ctx *ctx, const uint64_t *matrix, uint32_t ranks,
			 const struct morph_delay *delay, const struct morph_schedule_opts *opts,
			 struct morph_method *methods, uint32_t room);

#ifdef __cplusplus
}
#endif

#endif /* MORPH_BASELINE_H */

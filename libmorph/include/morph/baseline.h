/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libmorph: what schedules are held against. Included by <morph/plan.h>. */
#ifndef MORPH_BASELINE_H
#define MORPH_BASELINE_H

#include <morph/schedule.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * DOC: Baselines
 *
 * What one would do without a planner, as schedules that can be looked at and checked like any other, and what one would do if
 * changes took no time. The bound of a schedule, in
 * struct morph_schedule_result, limits its distance from the best one. The ideal is no bound, for
 * it is found as the others are.
 */

/**
 * enum morph_baseline - what a schedule is compared with
 * @MORPH_BASELINE_SET_ONCE: circuits are set once, before the first round: MORPH_POLICY_ONE_SHOT,
 *	or the one topology on which all rounds
 *	end first, whichever is sooner
 * @MORPH_BASELINE_EVERY_STEP: MORPH_POLICY_EACH_ROUND: each round has circuits of its own
 * @MORPH_BASELINE_STATIC: what is lit at first stays; where nothing is, a ring of those that take part is set on all planes, in one direction or in both, and stays
 * @MORPH_BASELINE_IDEAL: the soonest of each round's own circuits and those above, if all changes took no time
 * @MORPH_BASELINES: how many there are
 *
 * morph_enum_name(MORPH_ENUM_BASELINE, value) gives the word.
 */
enum morph_baseline {
	MORPH_BASELINE_SET_ONCE = 0,
	MORPH_BASELINE_EVERY_STEP = 1,
	MORPH_BASELINE_STATIC = 2,
	MORPH_BASELINE_IDEAL = 3,
	MORPH_BASELINES = 4,
};

/**
 * morph_schedule_baseline() - what one would do without a planner
 * @schedule: the answer; what was in it is forgotten. Of the ideal it is one for a delay of which no change takes time
 * @collective: what is to be done, with its rounds
 * @delay: what rounds and changes take
 * @opts: as morph_schedule_plan(), but for the policy, which is not looked at
 * @baseline: enum morph_baseline
 *
 * MORPH_INFEASIBLE of the static one: circuits that are lit do not lead from all ranks that send to those that receive.
 * MORPH_UNDECIDED: rounds and ways are too many to be tried.
 *
 * Return: 0, whatever the verdict; -EINVAL (no such baseline), or as morph_schedule_plan().
 */
int morph_schedule_baseline(struct morph_schedule *schedule,
			    const struct morph_collective *collective,
			    const struct morph_delay *delay, const struct morph_schedule_opts *opts,
			    uint32_t baseline);

/* ---------------------------------------------------- when it pays to change circuits */

/**
 * struct morph_short_cut - halving on a ring, with circuits of its own where they pay
 * @steps: of halving: the logarithm of the ranks
 * @first: the first step that has circuits of its own, and all after it; @steps: none
 * @ns: what all steps take
 * @pays_bytes: from how many bytes of each rank on the last step has; UINT64_MAX: never, below 2^50
 */
struct morph_short_cut {
	uint32_t steps;
	uint32_t first;
	uint64_t ns;
	uint64_t pays_bytes;
};

/**
 * morph_short_cut() - from which size on does it pay to change a ring's circuits?
 * @ctx: the context
 * @delay: what rounds and changes take
 * @ranks: how many there are, a power of two
 * @planes: ports of each, all of which change, beside each other unless the fabric stops for it
 * @bytes: what each rank begins with
 * @out: the answer
 *
 * Of halving, that is of reduce-scatter, where a ring on all planes is lit: step i, from 0, sends half of what is left 2^i ranks on. It has circuits of
 * its own if (2^i - 1) * (hop + bytes / planes / 2^(i + 1) / bandwidth) is more than a change takes (Short-circuiting Rings, arXiv
 * 2510.03491), and from the first such step on all have. Plans that keep such circuits for several steps, or go back to them, take no longer:
 * MORPH_POLICY_SEGMENTS.
 *
 * Return: 0, or -EINVAL (ranks that are no power of two from 2 to 4096, no planes or more than 64, no bandwidth).
 */
int morph_short_cut(struct morph_ctx *ctx, const struct morph_delay *delay, uint32_t ranks,
		    uint32_t planes, uint64_t bytes, struct morph_short_cut *out);

/**
 * struct morph_method - what a way to find matchings of a matrix came to
 * @name: "rotation", "mesh", "longest", "greedy", "urgent", "solstice", "eclipse" or "birkhoff", never freed
 * @ns: when all has arrived; 0 where it has no plan
 * @turns: matchings, one after the other, of the plane that has most
 * @circuits: how many are set
 * @chosen: the plan is this one's
 * @why: why it is not; never freed
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
 * morph_matrix_methods() - by which method does MORPH_POLICY_MATCHINGS plan in one round, and what would others come to?
 * @ctx: the context
 * @matrix: ranks * ranks numbers: bytes that a rank, of the row, has for another
 * @ranks: how many there are
 * @delay: what rounds and changes take
 * @opts: as the schedule is planned: its planes, and how long is searched, by policy and budget; nothing is lit
 * @methods: where to put them
 * @room: for how many there is room
 *
 * Up to 64 ranks all are tried here, which may take a second. The plan is the best of all of them, too, but for MORPH_POLICY_MATCHINGS
 * without a budget: those that take longest to find, Solstice's and Eclipse's among them, are left out there.
 *
 * Return: how many there are; -EINVAL, -E2BIG, -EOVERFLOW, -ENOMEM, or as morph_opts_check().
 */
int morph_matrix_methods(struct morph_ctx *ctx, const uint64_t *matrix, uint32_t ranks,
			 const struct morph_delay *delay, const struct morph_schedule_opts *opts,
			 struct morph_method *methods, uint32_t room);

#ifdef __cplusplus
}
#endif

#endif /* MORPH_BASELINE_H */

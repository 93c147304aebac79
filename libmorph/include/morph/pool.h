/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libmorph: schedules on topologies that are given. Included by <morph/plan.h>. */
#ifndef MORPH_POOL_H
#define MORPH_POOL_H

#include <morph/schedule.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct morph_joint - circuits from one rank to another
 * @src: the rank that sends
 * @dst: the rank that receives
 * @circuits: how many, each on a plane of its own
 */
struct morph_joint {
	uint32_t src;
	uint32_t dst;
	uint32_t circuits;
};

/**
 * struct morph_pool - topologies that rounds may go on
 * @sz: sizeof(struct morph_pool)
 * @count: how many there are
 * @firsts: of each its first joint, and where those of the last end: one more than @count
 * @joints: one topology after the other; joints of the same two ranks are added up
 * @in_turn: round i goes on topology i; else whatever takes least, in any order
 */
struct morph_pool {
	size_t sz;
	uint32_t count;
	const uint32_t *firsts;
	const struct morph_joint *joints;
	bool in_turn;
};

/**
 * morph_schedule_plan_on() - find when circuits change between topologies that are given
 * @schedule: the answer; what was in it is forgotten. Its policy is MORPH_POLICY_SEGMENTS
 * @collective: what is to be done, with its rounds
 * @delay: what rounds and changes take
 * @opts: as morph_schedule_plan(), but for the policy, which is not looked at
 * @pool: the topologies
 *
 * As MORPH_POLICY_SEGMENTS, on these topologies, and what is lit at first, alone: exact for them where they
 * take all planes, but for routes: on planes that are left what was held before stays, of which it knows nothing. Where ranks are not
 * joined they go over several circuits. MORPH_INFEASIBLE: a topology has more circuits at a rank than there are planes, or a round has no way.
 * MORPH_UNDECIDED: there are too many ways to be tried.
 *
 * Return: 0, whatever the verdict; -EINVAL (no topologies, no such ranks, with @in_turn more or fewer topologies than rounds), or as
 * morph_schedule_plan().
 */
int morph_schedule_plan_on(struct morph_schedule *schedule,
			   const struct morph_collective *collective,
			   const struct morph_delay *delay, const struct morph_schedule_opts *opts,
			   const struct morph_pool *pool);

#ifdef __cplusplus
}
#endif

#endif /* MORPH_POOL_H */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of <morph/schedule.h> that only the library, its tests and its benches call. */
#ifndef LM_INTERNAL_SCHEDULE_H
#define LM_INTERNAL_SCHEDULE_H

#include <morph/plan.h>

/**
 * struct morph_alternative - what a policy came to
 * @policy: enum morph_policy
 * @verdict: enum morph_verdict
 * @ns: when all has arrived, nanoseconds from the start; 0 where it is not feasible
 * @changes: how many times at which circuits begin to be set
 * @circuits: how many circuits are set in all
 * @why: why it is not feasible, or was not tried to the end, owned by the schedule; "" where it is
 */
struct morph_alternative {
	uint32_t policy;
	uint32_t verdict;
	uint64_t ns;
	uint32_t changes;
	uint64_t circuits;
	const char *why;
};

/**
 * morph_schedule_alternative() - what was tried
 * @schedule: the schedule
 * @policy: enum morph_policy
 * @out: where to put what it came to
 *
 * Return: 0, or -ENOENT where that policy was not tried.
 */
int morph_schedule_alternative(const struct morph_schedule *schedule, uint32_t policy,
			       struct morph_alternative *out);

/**
 * morph_schedule_verdict() - what was found
 * @schedule: the schedule
 *
 * Return: enum morph_verdict, 0 of a schedule that was not planned.
 */
uint32_t morph_schedule_verdict(const struct morph_schedule *schedule);

/**
 * morph_schedule_policy() - by which policy it was found
 * @schedule: the schedule
 *
 * Return: enum morph_policy, none of them MORPH_POLICY_BEST but of a schedule that was not planned.
 */
uint32_t morph_schedule_policy(const struct morph_schedule *schedule);

/**
 * morph_schedule_why() - why there is none
 * @schedule: the schedule
 *
 * Return: a sentence, owned by @schedule; "" of a feasible one.
 */
const char *morph_schedule_why(const struct morph_schedule *schedule);

/**
 * morph_schedule_ns() - when all has arrived
 * @schedule: a feasible schedule
 * @bound: where to put a time that no schedule of these rounds on as many planes falls below; or
 * 	NULL
 *
 * Return: nanoseconds from the start, rounded up.
 */
uint64_t morph_schedule_ns(const struct morph_schedule *schedule, uint64_t *bound);

/**
 * morph_schedule_changes() - how often circuits change
 * @schedule: a feasible schedule
 * @circuits: where to put how many circuits are set in all, without those that stay on their plane
 * 	from one hold to the next; or NULL
 *
 * Return: how many times at which circuits begin to be set.
 */
uint32_t morph_schedule_changes(const struct morph_schedule *schedule, uint64_t *circuits);

/**
 * morph_schedule_holds() - how many holds there are
 * @schedule: a feasible schedule
 *
 * Return: how many.
 */
uint32_t morph_schedule_holds(const struct morph_schedule *schedule);

/**
 * morph_schedule_sends() - how many sends there are
 * @schedule: a feasible schedule
 *
 * Return: how many.
 */
uint32_t morph_schedule_sends(const struct morph_schedule *schedule);

/**
 * morph_schedule_circuit() - a circuit of a hold
 * @schedule: a feasible schedule
 * @hold: the hold
 * @number: which, below the number of its circuits, in the order of ranks that send
 * @src: where to put the rank that sends
 * @dst: where to put the rank that receives
 *
 * Return: 0 or -ENOENT.
 */
int morph_schedule_circuit(const struct morph_schedule *schedule, uint32_t hold, uint32_t number,
			   uint32_t *src, uint32_t *dst);

/**
 * morph_schedule_hop() - the hold of a hop
 * @schedule: a feasible schedule
 * @send: the send
 * @number: which hop, from 0 at the rank that sends
 *
 * Return: the hold's number, or UINT32_MAX.
 */
uint32_t morph_schedule_hop(const struct morph_schedule *schedule, uint32_t send, uint32_t number);

#endif /* LM_INTERNAL_SCHEDULE_H */

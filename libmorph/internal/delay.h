/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of <morph/delay.h> that only the library, its tests and its benches call. */
#ifndef LM_INTERNAL_DELAY_H
#define LM_INTERNAL_DELAY_H

#include <morph/plan.h>

/**
 * morph_delay_set_barrier() - what a barrier takes by the number of its ranks
 * @delay: the delay
 * @ranks: numbers of ranks, ascending
 * @ns: what it takes for as many; between two numbers on the line from one to the other, outside as
 * 	the nearest
 * @count: how many, at most 64; it takes the place of what MORPH_DELAY_BARRIER was
 *
 * Return: 0 or -EINVAL (no numbers or too many, one above 2^40, or ranks not ascending).
 */
int morph_delay_set_barrier(struct morph_delay *delay, const uint32_t *ranks, const uint64_t *ns,
			    size_t count);

/**
 * morph_delay_set_quantile() - at which quantile parts are taken
 * @delay: the delay
 * @permille: 1 to 1000; at first 990
 *
 * Return: 0 or -EINVAL.
 */
int morph_delay_set_quantile(struct morph_delay *delay, uint32_t permille);

/**
 * morph_delay_round_ns() - what a round takes
 * @delay: the delay
 * @bytes: what goes over the fullest circuit of the way
 * @hops: circuits of the way
 *
 * Return: nanoseconds, rounded up; UINT64_MAX: so many or more, or the bandwidth was not set.
 */
uint64_t morph_delay_round_ns(const struct morph_delay *delay, uint64_t bytes, uint32_t hops);

/**
 * morph_delay_set_link() - what a round takes on circuits that are lit
 * @delay: the delay
 * @round_ns: what each round takes besides, often called alpha
 * @hop_ns: what each hop takes besides, often called delta
 * @mbps: bandwidth of one port on one plane, in megabits per second
 *
 * Return: 0 or -EINVAL (no bandwidth, or more than 2^40; a time above 2^40).
 */
int morph_delay_set_link(struct morph_delay *delay, uint64_t round_ns, uint64_t hop_ns,
			 uint64_t mbps);

/**
 * morph_delay_set_scope() - say what carries nothing while circuits are changed
 * @delay: the delay
 * @scope: enum morph_delay_scope; at first MORPH_DELAY_PORT_SCOPE
 *
 * Return: 0 or -EINVAL.
 */
int morph_delay_set_scope(struct morph_delay *delay, uint32_t scope);

#endif /* LM_INTERNAL_DELAY_H */

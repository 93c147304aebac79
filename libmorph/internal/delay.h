/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of <morph/delay.h> that only the library, its tests and its benches call. */
#ifndef LM_INTERNAL_DELAY_H
#define LM_INTERNAL_DELAY_H

#include <morph/plan.h>

/**
 * morph_delay_set_barrier() - set the time of a barrier by its number of ranks
 * @delay: the delay
 * @ranks: numbers of ranks, ascending
 * @ns: time for each of these numbers; interpolated between them, and constant outside
 * @count: how many, at most 64; it replaces MORPH_DELAY_BARRIER
 *
 * Return: 0 or -EINVAL (no numbers or too many, one above 2^40, or ranks not ascending).
 */
int morph_delay_set_barrier(struct morph_delay *delay, const uint32_t *ranks, const uint64_t *ns,
			    size_t count);

/**
 * morph_delay_set_quantile() - set the quantile at which parts count
 * @delay: the delay
 * @permille: 1 to 1000 (default: 990)
 *
 * Return: 0 or -EINVAL.
 */
int morph_delay_set_quantile(struct morph_delay *delay, uint32_t permille);

/**
 * morph_delay_round_ns() - compute the time of a round
 * @delay: the delay
 * @bytes: bytes over the fullest circuit of the path
 * @hops: circuits of the path
 *
 * Return: nanoseconds, rounded up; UINT64_MAX: this much or more, or the bandwidth is not set.
 */
uint64_t morph_delay_round_ns(const struct morph_delay *delay, uint64_t bytes, uint32_t hops);

/**
 * morph_delay_set_link() - set the time of a round on lit circuits
 * @delay: the delay
 * @round_ns: additional time of each round, often called alpha
 * @hop_ns: additional time of each hop, often called delta
 * @mbps: bandwidth of one port on one plane, in megabits per second
 *
 * Return: 0 or -EINVAL (no bandwidth, or more than 2^40; a time above 2^40).
 */
int morph_delay_set_link(struct morph_delay *delay, uint64_t round_ns, uint64_t hop_ns,
			 uint64_t mbps);

/**
 * morph_delay_set_scope() - set what carries no data while circuits change
 * @delay: the delay
 * @scope: enum morph_delay_scope (default: MORPH_DELAY_PORT_SCOPE)
 *
 * Return: 0 or -EINVAL.
 */
int morph_delay_set_scope(struct morph_delay *delay, uint32_t scope);

#endif /* LM_INTERNAL_DELAY_H */

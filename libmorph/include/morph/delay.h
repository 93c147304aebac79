/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libmorph: what rounds of a collective and changes of circuits take. Included by <morph/plan.h>. */
#ifndef MORPH_DELAY_H
#define MORPH_DELAY_H

#include <morph/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * DOC: Delays
 *
 * Planners of schedules reckon with this: what one rank sends to another in a round takes
 *
 *	round + hops * hop + bytes / bandwidth
 *
 * where the bytes are those of all that goes over the fullest circuit of the way; and after circuits
 * were changed light is there when
 *
 *	drain + barrier(ranks) + program + ports * port + settle + relock
 *
 * have gone by. Each of these is a constant, see morph_delay_set(), or is known by its quantiles;
 * the
 * planner takes all parts at one quantile, as if they were late together. Ports of a plane are programmed one after the other: while
 * others of it are, one that is to change waits, whoever else goes on sending. All is at first 0, but for the bandwidth,
 * which has to be set. Inside, time is counted in whole picoseconds and rounded up, so that all who reckon
 * come to the same.
 *
 * A delay is used by one thread at a time.
 */

/**
 * morph_delay_new() - begin a delay
 * @ctx: the context, which must outlive it
 *
 * Return: the delay, freed by morph_delay_free(); NULL when out of memory.
 */
struct morph_delay *morph_delay_new(struct morph_ctx *ctx);

/**
 * morph_delay_free() - free a delay
 * @delay: the delay, or NULL
 */
void morph_delay_free(struct morph_delay *delay);

/**
 * enum morph_delay_scope - what carries nothing while circuits are changed
 * @MORPH_DELAY_PORT_SCOPE: the ports that get other circuits
 * @MORPH_DELAY_PLANE_SCOPE: the plane on which any circuit is changed
 * @MORPH_DELAY_FABRIC_SCOPE: all planes
 */
enum morph_delay_scope {
	MORPH_DELAY_PORT_SCOPE = 0,
	MORPH_DELAY_PLANE_SCOPE = 1,
	MORPH_DELAY_FABRIC_SCOPE = 2,
};

/**
 * struct morph_delay_opts - what rounds and changes take, as constants
 * @sz: sizeof(struct morph_delay_opts)
 * @mbps: bandwidth of one port on one plane, in megabits per second, from 1 to 2^40
 * @round_ns: what each round takes besides, often called alpha
 * @hop_ns: what each hop takes besides, often called delta
 * @drain_ns: of a change, as MORPH_DELAY_DRAIN
 * @barrier_ns: as MORPH_DELAY_BARRIER
 * @program_ns: as MORPH_DELAY_PROGRAM
 * @port_ns: as MORPH_DELAY_PORT
 * @settle_ns: as MORPH_DELAY_SETTLE
 * @relock_ns: as MORPH_DELAY_RELOCK
 * @scope: enum morph_delay_scope
 */
struct morph_delay_opts {
	size_t sz;
	uint64_t mbps;
	uint64_t round_ns;
	uint64_t hop_ns;
	uint64_t drain_ns;
	uint64_t barrier_ns;
	uint64_t program_ns;
	uint64_t port_ns;
	uint64_t settle_ns;
	uint64_t relock_ns;
	uint32_t scope;
};

/**
 * morph_delay_set() - set what rounds and changes take
 * @delay: the delay
 * @opts: all parts, which take the place of what was set or observed before
 *
 * Return: 0, -EINVAL (no bandwidth, or more than 2^40; a time above 2^40 ns; no such scope) or
 * -E2BIG (an option that this
 * library does not know). On failure the delay is as before.
 */
int morph_delay_set(struct morph_delay *delay, const struct morph_delay_opts *opts);

/**
 * enum morph_delay_part - parts of what a change takes
 * @MORPH_DELAY_DRAIN: until what is under way has arrived
 * @MORPH_DELAY_BARRIER: until all ranks that take part have said so
 * @MORPH_DELAY_PROGRAM: until elements and lasers are told, whatever changes
 * @MORPH_DELAY_PORT: for each port that gets another circuit, after those of the same plane that are programmed before it
 * @MORPH_DELAY_SETTLE: until light has its power
 * @MORPH_DELAY_RELOCK: until receivers have locked to it
 * @MORPH_DELAY_PARTS: how many parts there are
 */
enum morph_delay_part {
	MORPH_DELAY_DRAIN = 0,
	MORPH_DELAY_BARRIER = 1,
	MORPH_DELAY_PROGRAM = 2,
	MORPH_DELAY_PORT = 3,
	MORPH_DELAY_SETTLE = 4,
	MORPH_DELAY_RELOCK = 5,
	MORPH_DELAY_PARTS = 6,
};

/**
 * morph_delay_set_part() - set what a part of a change takes, by quantiles
 * @delay: the delay
 * @part: enum morph_delay_part
 * @ns: its quantiles, ascending: of count numbers number i is the (i + 1) / count quantile. One
 *	number is a constant
 * @count: how many, at most 64
 *
 * Return: 0 or -EINVAL (no such part, no numbers or too many, one above 2^40, or not ascending).
 */
int morph_delay_set_part(struct morph_delay *delay, uint32_t part, const uint64_t *ns,
			 size_t count);

/**
 * morph_delay_observe() - a change that was measured
 * @delay: the delay
 * @times: object of type "times", from a transaction of the driver: where its time went; or of type "schedule-step", of
 *	morph_slice_schedule_info(): what all its runs took, of which the mean is one change
 * @circuits: how many circuits it set; those that went dark are not among them
 *
 * The last 64 that were observed are the quantiles of what changes take: MORPH_DELAY_SETTLE and MORPH_DELAY_RELOCK as they are, and
 * of the rest, planning, programming, verifying and publishing, what grows with the circuits is MORPH_DELAY_PORT, by least
 * squares, and what is left is MORPH_DELAY_PROGRAM. These four take the place of what was set. Drain and barrier are
 * not the driver's, and stay. The driver keeps what runs of a step took together, but not each: quantiles of steps are those of their means, above which
 * single runs may be by far. The longest run is told as a whole, not in these parts, and is not looked at.
 *
 * Return: 0, or -EINVAL (no circuits, a step that was not lit yet, or a time above 2^40 ns).
 */
int morph_delay_observe(struct morph_delay *delay, const struct morph_object *times,
			uint32_t circuits);

/**
 * morph_delay_change_ns() - what a change takes
 * @delay: the delay
 * @ranks: how many take part in the barrier
 * @ports: how many ports get another circuit
 *
 * Return: nanoseconds, at the quantile that was set; 0 when no port does; UINT64_MAX: so many or more.
 */
uint64_t morph_delay_change_ns(const struct morph_delay *delay, uint32_t ranks, uint32_t ports);

#ifdef __cplusplus
}
#endif

#endif /* MORPH_DELAY_H */

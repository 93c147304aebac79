/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libmorph: durations of rounds and changes. Included by <morph/plan.h>. */
#ifndef MORPH_DELAY_H
#define MORPH_DELAY_H

#include <morph/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * DOC: Delays
 *
 * Planners of schedules use these durations. A transfer of a round takes
 *
 *	round + hops * hop + bytes / bandwidth
 *
 * where the bytes are those of the fullest circuit of the path. After a change of circuits, light
 * is there after
 *
 *	drain + barrier(ranks) + program + ports * port + settle + relock
 *
 * Each part is a constant, see morph_delay_set(), or known by its quantiles. The planner takes all
 * parts at one quantile, as if they were late together. A plane programs its ports one after
 * another: a port waits while others of its plane are being programmed, and other ports keep
 * sending. All parts are 0 at first, except for the bandwidth, which must be set. Times are counted
 * in whole picoseconds and rounded up, so that all ranks compute the same.
 *
 * One thread at a time uses a delay.
 */

/**
 * morph_delay_new() - make a delay
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
 * enum morph_delay_scope - parts that carry nothing during a change
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
 * struct morph_delay_opts - durations of rounds and changes, as constants
 * @sz: sizeof(struct morph_delay_opts)
 * @mbps: bandwidth of one port on one plane, in megabits per second, from 1 to 2^40
 * @round_ns: fixed time of each round, often called alpha
 * @hop_ns: fixed time of each hop, often called delta
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
 * morph_delay_set() - set the durations of rounds and changes
 * @delay: the delay
 * @opts: all parts, which replace those set or observed before
 *
 * Return: 0, -EINVAL (no bandwidth, or more than 2^40; a time above 2^40 ns; no such scope) or
 * -E2BIG (an unknown option). On failure the delay is as before.
 */
int morph_delay_set(struct morph_delay *delay, const struct morph_delay_opts *opts);

/**
 * enum morph_delay_part - parts of the duration of a change
 * @MORPH_DELAY_DRAIN: until data in flight has arrived
 * @MORPH_DELAY_BARRIER: until all participating ranks have reported
 * @MORPH_DELAY_PROGRAM: fixed part of programming elements and lasers
 * @MORPH_DELAY_PORT: for each port that gets another circuit, after earlier ones of the same plane
 * @MORPH_DELAY_SETTLE: until light has its power
 * @MORPH_DELAY_RELOCK: until receivers have locked
 * @MORPH_DELAY_PARTS: number of parts
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
 * morph_delay_set_part() - set a part of the duration of a change, by quantiles
 * @delay: the delay
 * @part: enum morph_delay_part
 * @ns: its quantiles, ascending: entry i of count is the (i + 1) / count quantile. One entry is a
 *	constant
 * @count: number of entries, at most 64
 *
 * Return: 0 or -EINVAL (no such part, no entries or too many, one above 2^40, or not ascending).
 */
int morph_delay_set_part(struct morph_delay *delay, uint32_t part, const uint64_t *ns,
			 size_t count);

/**
 * morph_delay_observe() - add a measured change
 * @delay: the delay
 * @times: object of type "times", from a transaction of the driver; or of type "schedule-step",
 *	from morph_slice_schedule_info(), whose mean over all runs is one change
 * @circuits: number of circuits that it set, without those that went dark
 *
 * The last 64 observations are the quantiles of changes. MORPH_DELAY_SETTLE and MORPH_DELAY_RELOCK
 * are taken as measured. Planning, programming, verifying and publishing are divided by least
 * squares: the part that grows with the circuits is MORPH_DELAY_PORT, the rest is
 * MORPH_DELAY_PROGRAM. These four replace earlier settings. Drain and barrier stay, because the
 * driver does not measure them. The driver keeps the sum over the runs of a step, not each run.
 * Quantiles of steps are therefore those of means, which single runs may exceed by far. The longest
 * run is ignored, because the driver does not divide it into parts.
 *
 * Return: 0, or -EINVAL (no circuits, a step that was not lit yet, or a time above 2^40 ns).
 */
int morph_delay_observe(struct morph_delay *delay, const struct morph_object *times,
			uint32_t circuits);

/**
 * morph_delay_change_ns() - compute the duration of a change
 * @delay: the delay
 * @ranks: number of ranks in the barrier
 * @ports: number of ports that get another circuit
 *
 * Return: nanoseconds, at the quantile that was set; 0 if no port does; UINT64_MAX: that or more.
 */
uint64_t morph_delay_change_ns(const struct morph_delay *delay, uint32_t ranks, uint32_t ports);

#ifdef __cplusplus
}
#endif

#endif /* MORPH_DELAY_H */

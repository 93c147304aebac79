/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Durations of rounds and changes, in whole picoseconds. */
#ifndef LM_SCHEDULE_DELAY_H
#define LM_SCHEDULE_DELAY_H

#include "../internal/planner.h"

#define MOST_QUANTILES 64
#define PS_PER_NS 1000
#define MOST_NS (1ULL << 40) /* a quarter of an hour */
#define PS_BITS_PER_BYTE 8000000 /* picoseconds per byte at one megabit per second */

/* A measured change. */
struct observation {
	uint64_t circuits;
	uint64_t software_ns, settle_ns, relock_ns;
};

struct morph_delay {
	struct morph_ctx *ctx;
	uint64_t round_ns, hop_ns, mbps;
	uint32_t scope, permille;
	uint32_t counts[MORPH_DELAY_PARTS];
	uint64_t parts[MORPH_DELAY_PARTS][MOST_QUANTILES];
	/* entries of barrier_ranks; 0: the barrier is a part like the others */
	uint32_t barriers;
	uint32_t barrier_ranks[MOST_QUANTILES];
	uint64_t barrier_ns[MOST_QUANTILES];
	uint64_t observed; /* number of observations */
	struct observation
		observations[MOST_QUANTILES]; /* the last ones: number n at n % MOST_QUANTILES */
};

/* The costs for one number of ranks at one quantile, as planners use them. */
struct costs {
	uint64_t round_ps, hop_ps;
	uint64_t mbps;
	uint64_t change_ps; /* fixed part of a change */
	uint64_t port_ps; /* for each port that gets another circuit */
	uint32_t scope; /* enum morph_delay_scope */
};

struct costs lm_delay_costs(const struct morph_delay *delay, uint32_t ranks);

/* Time on the wire, rounded up. */
static inline unsigned __int128 costs_wire_ps(const struct costs *costs, uint64_t bytes)
{
	return ((unsigned __int128)bytes * PS_BITS_PER_BYTE + costs->mbps - 1) / costs->mbps;
}

/* The same for planners, whose times have 64 bits: at most half a year. */
static inline uint64_t costs_bytes_ps(const struct costs *costs, uint64_t bytes)
{
	unsigned __int128 ps = costs_wire_ps(costs, bytes);

	return ps > UINT64_MAX ? UINT64_MAX : (uint64_t)ps;
}

/*
 * Time of a round, by the hops of its longest path and the bytes of its fullest circuit. With
 * @round_each_hop, each hop also takes the time of a round, as in PCCL (arXiv 2509.15450).
 * UINT64_MAX if it is longer.
 */
static inline uint64_t lm_round_ps(const struct costs *costs, bool round_each_hop, uint32_t hops,
				   uint64_t bytes)
{
	unsigned __int128 ps = (unsigned __int128)costs->hop_ps * hops +
			       (unsigned __int128)costs->round_ps * (round_each_hop ? hops : 1) +
			       costs_bytes_ps(costs, bytes);

	return ps > UINT64_MAX ? UINT64_MAX : (uint64_t)ps;
}

/* Rounded up, like all times that leave the planner. */
static inline uint64_t lm_edge_ns(uint64_t ps)
{
	return ps / PS_PER_NS + (ps % PS_PER_NS != 0);
}

/* Limit of times, so that two can be added without overflow. */
#define LONGEST_PS (1ULL << 62)

/* Time of a send over lit circuits, by the bytes of the fullest. */
static inline uint64_t costs_send_ps(const struct costs *costs, uint64_t bytes, uint32_t hops)
{
	uint64_t ps = lm_round_ps(costs, false, hops, bytes);

	return ps > LONGEST_PS ? LONGEST_PS : ps;
}

/* Time of setting this number of circuits. */
static inline uint64_t costs_change_ps(const struct costs *costs, uint64_t circuits)
{
	unsigned __int128 ps = (unsigned __int128)costs->port_ps * circuits + costs->change_ps;

	return ps > LONGEST_PS ? LONGEST_PS : (uint64_t)ps;
}

/*
 * The same for planners that model one plane of several that change alike. They change in parallel,
 * unless the fabric stops.
 */
static inline struct costs costs_of_planes(const struct costs *costs, uint32_t planes)
{
	struct costs all = *costs;

	if (costs->scope == MORPH_DELAY_FABRIC_SCOPE &&
	    __builtin_mul_overflow(costs->port_ps, planes, &all.port_ps))
		all.port_ps = UINT64_MAX;
	return all;
}

#endif /* LM_SCHEDULE_DELAY_H */

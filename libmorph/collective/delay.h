/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What rounds and changes take, in whole picoseconds. */
#ifndef LM_SCHEDULE_DELAY_H
#define LM_SCHEDULE_DELAY_H

#include "../internal/planner.h"

#define MOST_QUANTILES 64
#define PS_PER_NS 1000
#define MOST_NS (1ULL << 40) /* a quarter of an hour */
#define PS_BITS_PER_BYTE 8000000 /* picoseconds of a byte at a megabit per second */

/* A change that was measured. */
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
	uint32_t barriers; /* 0: the barrier is a part like others */
	uint32_t barrier_ranks[MOST_QUANTILES];
	uint64_t barrier_ns[MOST_QUANTILES];
	uint64_t observed; /* how many have been */
	struct observation
		observations[MOST_QUANTILES]; /* the last of them, number n at n % MOST_QUANTILES */
};

/* The same for one number of ranks at one quantile: what planners reckon with. */
struct costs {
	uint64_t round_ps, hop_ps;
	uint64_t mbps;
	uint64_t change_ps; /* of a change, whatever changes */
	uint64_t port_ps; /* besides, for each port that gets another circuit */
	uint32_t scope; /* enum morph_delay_scope */
};

struct costs lm_delay_costs(const struct morph_delay *delay, uint32_t ranks);

/* Time on the wire, rounded up. */
static inline unsigned __int128 costs_wire_ps(const struct costs *costs, uint64_t bytes)
{
	return ((unsigned __int128)bytes * PS_BITS_PER_BYTE + costs->mbps - 1) / costs->mbps;
}

/* The same for planners, whose times have 64 bits: half a year is the most. */
static inline uint64_t costs_bytes_ps(const struct costs *costs, uint64_t bytes)
{
	unsigned __int128 ps = costs_wire_ps(costs, bytes);

	return ps > UINT64_MAX ? UINT64_MAX : (uint64_t)ps;
}

/*
 * What a round takes whose longest way has so many hops, and whose fullest circuit carries so many bytes. With
 * @round_each_hop each hop takes what a round takes besides, as in PCCL (arXiv 2509.15450). UINT64_MAX for what is more.
 */
static inline uint64_t lm_round_ps(const struct costs *costs, bool round_each_hop, uint32_t hops,
				   uint64_t bytes)
{
	unsigned __int128 ps = (unsigned __int128)costs->hop_ps * hops +
			       (unsigned __int128)costs->round_ps * (round_each_hop ? hops : 1) +
			       costs_bytes_ps(costs, bytes);

	return ps > UINT64_MAX ? UINT64_MAX : (uint64_t)ps;
}

/* Rounded up, as all times that leave the planner. */
static inline uint64_t lm_edge_ns(uint64_t ps)
{
	return ps / PS_PER_NS + (ps % PS_PER_NS != 0);
}

/* No time is longer: two of them can be added without a thought. */
#define LONGEST_PS (1ULL << 62)

/* What a send takes over circuits that are lit, of which the fullest carries so many bytes. */
static inline uint64_t costs_send_ps(const struct costs *costs, uint64_t bytes, uint32_t hops)
{
	uint64_t ps = lm_round_ps(costs, false, hops, bytes);

	return ps > LONGEST_PS ? LONGEST_PS : ps;
}

/* What it takes to set so many circuits. */
static inline uint64_t costs_change_ps(const struct costs *costs, uint64_t circuits)
{
	unsigned __int128 ps = (unsigned __int128)costs->port_ps * circuits + costs->change_ps;

	return ps > LONGEST_PS ? LONGEST_PS : (uint64_t)ps;
}

/* The same for planners that know one plane, of so many that change alike: they do so beside each other, unless the fabric stops. */
static inline struct costs costs_of_planes(const struct costs *costs, uint32_t planes)
{
	struct costs all = *costs;

	if (costs->scope == MORPH_DELAY_FABRIC_SCOPE &&
	    __builtin_mul_overflow(costs->port_ps, planes, &all.port_ps))
		all.port_ps = UINT64_MAX;
	return all;
}

#endif /* LM_SCHEDULE_DELAY_H */

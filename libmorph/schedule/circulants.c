// SPDX-License-Identifier: LGPL-2.1-or-later
/* Collectives of shifts on circulants: see circulants.h. */
#include "circulants.h"

static int look_at(struct circulants_work *work, const struct circulants *circulants)
{
	struct morph_ctx *ctx = work->segments.ctx;

	if (circulants->ranks < 2 || circulants->ranks > MOST_RANKS)
		return lm_fail(ctx, EINVAL, "circulants require 2 to %u ranks, not %u", MOST_RANKS,
			       circulants->ranks);
	if (!circulants->costs->mbps)
		return lm_fail(ctx, EINVAL, "the bandwidth of ports was not set");
	for (uint32_t round = 0; round < circulants->rounds; round++) {
		uint32_t by = circulants->shifts[round].by;

		if (!by || by >= circulants->ranks)
			return lm_fail(ctx, EINVAL, "round %u shifts by 1 to %u ranks, not by %u",
				       round, circulants->ranks - 1, by);
	}
	return 0;
}

#define ROOM(work, array, wanted) \
	ARRAY_GROW((work)->segments.ctx, (work)->array, wanted, "plan on circulants")

/* A row for each shift in use. */
static int number_rows(struct circulants_work *work, const struct circulants *circulants)
{
	uint32_t ranks = circulants->ranks, count = 1;
	int ret = ROOM(work, rows, ranks);

	if (ret)
		return ret;
	memset(work->rows.list, 0, ranks * sizeof(*work->rows.list));
	for (uint32_t round = 0; round < circulants->rounds; round++) {
		uint16_t *row = &work->rows.list[circulants->shifts[round].by];

		if (!*row)
			*row = (uint16_t)count++;
	}
	ret = ROOM(work, hops, count * (ranks - 1));
	if (!ret)
		memset(work->hops.list, 0, count * (ranks - 1) * sizeof(*work->hops.list));
	return ret;
}

/*
 * Circulant k reaches k, 2k, 3k, ... in turn, until it returns; circulant -k reaches -k, -2k, -3k.
 */
static void count_hops(struct circulants_work *work, uint32_t ranks)
{
	const uint16_t *rows = work->rows.list;
	uint16_t *hops = work->hops.list;

	for (uint32_t k = 1; k <= ranks / 2; k++) {
		uint16_t *forth = hops + k - 1, *back = hops + ranks - k - 1;

		for (uint32_t at = k, count = 1; at; count++) {
			forth[(size_t)rows[at] * (ranks - 1)] = (uint16_t)count;
			back[(size_t)rows[ranks - at] * (ranks - 1)] = (uint16_t)count;
			at += k;
			at -= at >= ranks ? ranks : 0;
		}
	}
}

/*
 * The time of a round by its hops, as lm_round_ps(). The remainder of bits and bandwidth is carried
 * from one hop to the next, so that there is one division.
 */
static void price_hops(struct circulants_work *work, uint64_t bytes)
{
	const struct circulants *circulants = work->circulants;
	const struct costs *costs = circulants->costs;
	unsigned __int128 bits = (unsigned __int128)bytes * PS_BITS_PER_BYTE;
	uint64_t rest = (uint64_t)(bits % costs->mbps), left = 0;
	unsigned __int128 hop = bits / costs->mbps + costs->hop_ps, sum = 0;
	uint64_t *prices = work->prices.list;

	if (circulants->round_each_hop)
		hop += costs->round_ps;
	else
		sum = costs->round_ps;
	for (uint32_t hops = 1; hops < circulants->ranks; hops++) {
		sum += hop;
		left += rest;
		if (left >= costs->mbps) {
			left -= costs->mbps;
			sum++;
		}
		prices[hops] = sum + !!left > TOO_LONG_PS ? TOO_LONG_PS : (uint64_t)(sum + !!left);
	}
}

static uint64_t price(const struct segments_problem *problem, uint32_t round, uint64_t never,
		      uint64_t *row)
{
	struct circulants_work *work = problem->prices;
	const struct shift *shift = &work->circulants->shifts[round];
	const uint16_t *hops =
		work->hops.list + (size_t)work->rows.list[shift->by] * problem->topologies;

	if (!round || shift[-1].bytes != shift->bytes)
		price_hops(work, shift->bytes);
	work->prices.list[0] = never;
	for (uint32_t at = 0; at < problem->topologies; at++)
		row[at] = work->prices.list[hops[at]];
	/* There is a circulant for each shift. */
	return work->prices.list[1];
}

/* Any two circulants differ at all ports. */
static uint64_t change_ps(const struct circulants *circulants)
{
	const struct costs *costs = circulants->costs;
	unsigned __int128 ps =
		costs->change_ps + (unsigned __int128)costs->port_ps * circulants->ranks;

	return ps > NEVER_PS ? NEVER_PS : (uint64_t)ps;
}

/* Of a round, over all ranks. */
static uint64_t most_ps(const struct circulants *circulants, uint64_t bytes)
{
	uint64_t sum = 0;

	if (__builtin_mul_overflow(bytes, circulants->ranks, &sum))
		return NEVER_PS;
	return lm_round_ps(circulants->costs, circulants->round_each_hop, circulants->ranks, sum);
}

int lm_circulants_pose(struct circulants_work *work, const struct circulants *circulants,
		       struct segments_problem *problem)
{
	uint64_t most = 0; /* bytes of a round */
	int ret = look_at(work, circulants);

	if (!ret)
		ret = number_rows(work, circulants);
	if (!ret)
		ret = ROOM(work, prices, circulants->ranks);
	if (ret)
		return ret;
	for (uint32_t round = 0; round < circulants->rounds; round++)
		most = circulants->shifts[round].bytes > most ? circulants->shifts[round].bytes :
								most;
	count_hops(work, circulants->ranks);
	work->circulants = circulants;
	*problem = (struct segments_problem){ .rounds = circulants->rounds,
					      .topologies = circulants->ranks - 1,
					      .price = price,
					      .prices = work,
					      .change_ps = change_ps(circulants),
					      .most_ps = most_ps(circulants, most),
					      .changes = circulants->changes,
					      .resident = circulants->resident };
	return 0;
}

int lm_circulants_solve(struct circulants_work *work, const struct circulants *circulants,
			struct segments_plan *plan)
{
	struct segments_problem problem;
	int ret = lm_circulants_pose(work, circulants, &problem);

	return ret ? ret : lm_segments_solve(&work->segments, &problem, plan);
}

int lm_circulants_baselines(struct circulants_work *work, const struct circulants *circulants,
			    struct segments_baselines *baselines)
{
	struct segments_problem problem;
	int ret = lm_circulants_pose(work, circulants, &problem);

	return ret ? ret : lm_segments_baselines(&work->segments, &problem, 0, baselines);
}

uint64_t lm_circulants_bound_ps(const struct circulants *circulants, uint32_t ports)
{
	uint64_t ps = 0;

	for (uint32_t round = 0; round < circulants->rounds; round++) {
		uint64_t bytes = circulants->shifts[round].bytes;

		ps = lm_sum(ps, lm_round_ps(circulants->costs, circulants->round_each_hop, 1,
					    bytes / ports + !!(bytes % ports)));
	}
	return ps;
}

void lm_circulants_release(struct circulants_work *work)
{
	lm_segments_release(&work->segments);
	free(work->rows.list);
	free(work->hops.list);
	free(work->prices.list);
	*work = (struct circulants_work){ .segments = work->segments };
}

/* ------------------------------------------------------ short-circuited rings */

struct short_cuts lm_short_cuts(const struct costs *costs, uint32_t ranks, uint64_t bytes)
{
	const struct circulants ring = { .ranks = ranks, .costs = costs };
	struct short_cuts cuts = { .steps = (uint32_t)__builtin_ctz(ranks) };
	uint64_t change = change_ps(&ring);

	cuts.first = cuts.steps;
	for (uint32_t step = 0; step < cuts.steps; step++) {
		uint64_t sent = bytes >> (step + 1);
		uint64_t around = lm_round_ps(costs, false, 1U << step, sent << step);
		uint64_t straight = lm_round_ps(costs, false, 1, sent);

		if (cuts.first == cuts.steps && around - straight > change)
			cuts.first = step;
		cuts.ps = lm_sum(cuts.ps, step < cuts.first ? around : straight);
		if (step >= cuts.first)
			cuts.ps = lm_sum(cuts.ps, change);
	}
	return cuts;
}

bool lm_collective_shifts(const struct morph_collective *collective, uint32_t ports,
			  struct shift *shifts)
{
	uint32_t ranks = collective->ranks;

	for (uint32_t round = 0; round < collective->rounds.count; round++) {
		const struct round *of = &collective->rounds.list[round];
		const struct transfer *first = collective->transfers.list + of->first;
		uint32_t by;

		/* Ranks are consecutive, so each appears once. */
		if (of->count != ranks)
			return false;
		by = (first->dst + ranks - first->src) % ranks;
		for (uint32_t at = 0; at < ranks; at++) {
			const struct transfer *transfer = first + at;

			if (transfer->src != (first->src + at) % ranks ||
			    transfer->dst != (transfer->src + by) % ranks ||
			    transfer->bytes != first->bytes)
				return false;
		}
		shifts[round] = (struct shift){
			.by = by, .bytes = first->bytes / ports + (first->bytes % ports != 0)
		};
	}
	return true;
}

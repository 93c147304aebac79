// SPDX-License-Identifier: LGPL-2.1-or-later
/* Lower bounds for all schedules of a collective's rounds, whatever their circuits. */
#include "schedule.h"

#define MOST_CELLS (1ULL << 22) /* limit of ranks * chunks whose waits are followed */

static uint64_t alone_ps(const struct morph_schedule *schedule, uint64_t bytes)
{
	return costs_send_ps(&schedule->costs, (bytes + schedule->planes - 1) / schedule->planes,
			     1);
}

/* A transfer can begin when all of its data has arrived. */
static uint64_t ready_ps(const struct morph_collective *collective, const struct transfer *transfer,
			 const uint64_t *arrived)
{
	uint64_t ready = 0;

	for (uint32_t at = transfer->first; at < transfer->first + transfer->count; at++) {
		const struct chunk_run *run = &collective->runs.list[at];

		for (uint32_t chunk = run->first; chunk < run->first + run->count; chunk++) {
			uint64_t here =
				arrived[(size_t)transfer->src * collective->chunks.count + chunk];

			ready = here > ready ? here : ready;
		}
	}
	return ready;
}

static void arrive(const struct morph_collective *collective, const struct transfer *transfer,
		   uint64_t *arrived, uint64_t ends)
{
	for (uint32_t at = transfer->first; at < transfer->first + transfer->count; at++) {
		const struct chunk_run *run = &collective->runs.list[at];

		for (uint32_t chunk = run->first; chunk < run->first + run->count; chunk++) {
			uint64_t *here =
				&arrived[(size_t)transfer->dst * collective->chunks.count + chunk];

			*here = ends > *here ? ends : *here;
		}
	}
}

/*
 * The longest chain of transfers that wait for data of the one before. Data that arrives in a round
 * is sent from the next round on. So all transfers of a round are read before any of them arrives.
 */
static uint64_t chain_ps(const struct morph_schedule *schedule,
			 const struct morph_collective *collective, uint64_t *arrived,
			 uint64_t *ends)
{
	uint64_t last = 0;

	for (uint32_t round = 0; round < collective->rounds.count; round++) {
		const struct round *of = &collective->rounds.list[round];
		const struct transfer *transfers = &collective->transfers.list[of->first];

		for (uint32_t at = 0; at < of->count; at++) {
			ends[at] = ready_ps(collective, &transfers[at], arrived) +
				   alone_ps(schedule, transfers[at].bytes);
			last = ends[at] > last ? ends[at] : last;
		}
		for (uint32_t at = 0; at < of->count; at++)
			arrive(collective, &transfers[at], arrived, ends[at]);
	}
	return last;
}

uint32_t lm_widest_round(const struct morph_collective *collective)
{
	uint32_t widest = 0;

	for (uint32_t round = 0; round < collective->rounds.count; round++)
		if (collective->rounds.list[round].count > widest)
			widest = collective->rounds.list[round].count;
	return widest;
}

int lm_schedule_bound(struct morph_schedule *schedule, const struct morph_collective *collective)
{
	uint64_t cells = (uint64_t)collective->ranks * collective->chunks.count, chain = 0;
	uint64_t *arrived, *ends;
	int ret = 0;

	schedule->rounds = lm_collective_digest(collective);
	schedule->bound_kind = MORPH_BOUND_PORTS;
	schedule->bound_ps = 0;
	if (!collective->transfers.count)
		return 0;
	schedule->bound_ps = alone_ps(schedule, morph_collective_bytes(collective));
	if (cells <= MOST_CELLS) {
		arrived = calloc(cells + 1, sizeof(*arrived));
		ends = calloc(lm_widest_round(collective) + 1, sizeof(*ends));
		if (arrived && ends)
			chain = chain_ps(schedule, collective, arrived, ends);
		else
			ret = lm_no_memory(schedule->ctx, "plan a schedule");
		free(arrived);
		free(ends);
	}
	if (chain > schedule->bound_ps) {
		schedule->bound_kind = MORPH_BOUND_CHAIN;
		schedule->bound_ps = chain;
	}
	if (!schedule->residents) /* nothing is sent before a circuit is lit */
		schedule->bound_ps += costs_change_ps(&schedule->costs, 1);
	return ret;
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/* Recomputes the bounds of schedules. */
#include "schedule.h"

#define PORTS 1
#define CHAIN 2
#define MOST_CELLS (1ULL << 22)

/* The least time of a transfer: over all planes at once. */
static unsigned __int128 alone(const struct schedule_check *it, uint64_t bytes)
{
	uint32_t planes = it->schedule.planes;
	uint64_t share = bytes / planes + (bytes % planes != 0);

	return ck_wire_ps(&it->delay, share) + it->delay.round_ps + it->delay.hop_ps;
}

static uint64_t busiest(const struct collective *collective)
{
	uint64_t sent[MOST_RANKS] = { 0 }, received[MOST_RANKS] = { 0 }, most = 0;

	for (uint32_t at = 0; at < collective->transfers_count; at++) {
		const struct transfer *transfer = &collective->transfers[at];

		sent[transfer->src] += transfer->bytes;
		received[transfer->dst] += transfer->bytes;
		if (sent[transfer->src] > most)
			most = sent[transfer->src];
		if (received[transfer->dst] > most)
			most = received[transfer->dst];
	}
	return most;
}

/* Latest arrival of the data of a transfer at its source or destination. */
static unsigned __int128 *cell(const struct collective *collective, unsigned __int128 *arrived,
			       uint32_t rank, uint32_t chunk)
{
	return &arrived[(size_t)rank * collective->chunks_count + chunk];
}

static unsigned __int128 chain(const struct schedule_check *it, unsigned __int128 *arrived,
			       unsigned __int128 *waits)
{
	const struct collective *collective = &it->collective;
	unsigned __int128 last = 0;

	for (uint32_t round = 0; round < collective->rounds_count; round++) {
		const struct part *of = &collective->rounds[round];

		for (int arriving = 0; arriving < 2; arriving++)
			for (uint32_t at = of->first; at < of->first + of->count; at++) {
				const struct transfer *transfer = &collective->transfers[at];
				unsigned __int128 *wait = &waits[at - of->first];

				if (!arriving)
					*wait = 0;
				for (uint32_t run = transfer->runs.first;
				     run < transfer->runs.first + transfer->runs.count; run++)
					for (uint32_t next = 0; next < collective->runs[run].count;
					     next++) {
						uint32_t chunk = collective->runs[run].first + next;
						unsigned __int128 *from = cell(
							collective, arrived, transfer->src, chunk);
						unsigned __int128 *to = cell(collective, arrived,
									     transfer->dst, chunk);

						if (!arriving && *from > *wait)
							*wait = *from;
						if (arriving && *wait > *to)
							*to = *wait;
					}
				if (!arriving)
					*wait += alone(it, transfer->bytes);
				if (*wait > last)
					last = *wait;
			}
	}
	return last;
}

static int bound_by_chain(struct schedule_check *it, unsigned __int128 *bound)
{
	uint64_t cells = (uint64_t)it->collective.ranks * it->collective.chunks_count;
	unsigned __int128 *arrived, *waits;

	if (cells > MOST_CELLS)
		return ck_wrong(&it->check, EBADMSG, "too many chunks for that bound");
	arrived = calloc(cells + 1, sizeof(*arrived));
	waits = calloc((size_t)it->collective.transfers_count + 1, sizeof(*waits));
	*bound = arrived && waits ? chain(it, arrived, waits) : 0;
	free(arrived);
	free(waits);
	return arrived && waits ? 0 : ck_wrong(&it->check, ENOMEM, "out of memory");
}

int ck_schedule_bound(struct schedule_check *it)
{
	unsigned __int128 bound = 0;
	int ret = 0;

	if (it->schedule.bound_kind == CHAIN)
		ret = bound_by_chain(it, &bound);
	else if (it->schedule.bound_kind != PORTS)
		return ck_wrong(&it->check, EBADMSG, "bound %u does not exist",
				it->schedule.bound_kind);
	else if (it->collective.transfers_count)
		bound = alone(it, busiest(&it->collective));
	if (ret)
		return ret;
	if (it->collective.transfers_count && !it->schedule.residents)
		bound += it->delay.change_ps + (unsigned __int128)it->delay.port_ps;
	if (bound != it->schedule.bound)
		return ck_wrong(&it->check, EBADMSG, "the bound is %llu ps, not %llu",
				(unsigned long long)bound, (unsigned long long)it->schedule.bound);
	if (it->schedule.finish < bound)
		return ck_wrong(&it->check, EBADMSG,
				"the schedule ends after %llu ps, before its bound",
				(unsigned long long)it->schedule.finish);
	return 0;
}

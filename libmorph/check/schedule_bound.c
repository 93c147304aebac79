// SPDX-License-Identifier: LGPL-2.1-or-later
/* Recomputes the bounds of schedules. */
#include "schedule.h"

#define PORTS 1
#define CHAIN 2
#define CIRCUITS 3
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

/* Chunks from one rank to another. */
struct pairs {
	uint32_t senders, fewest; /* partners of one of the senders */
	uint64_t smallest; /* bytes */
	unsigned __int128 bytes;
};

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

/*
 * The mean over all transmit ports, if none has more than @turns circuits. Each circuit of a rank
 * is set, unless it was lit, and sends at least once. A rank with few circuits needs further hops
 * for its other partners: at most @turns circuits per plane lead on from each rank.
 */
static unsigned __int128 mean_of_ports(const struct schedule_check *it, const struct pairs *pairs,
				       uint32_t turns)
{
	const struct delay *delay = &it->delay;
	uint64_t most = (uint64_t)turns * it->schedule.planes;
	uint32_t lit = it->schedule.residents ? it->schedule.planes : 0;
	unsigned __int128 least = ~(unsigned __int128)0;

	for (uint32_t own = 1; own <= most && own <= pairs->fewest; own++) {
		uint64_t ahead = own, hops = 0, met = 0;
		unsigned __int128 takes = (unsigned __int128)delay->round_ps + delay->hop_ps;

		for (uint64_t far = 0; met < pairs->fewest; far++, ahead *= most) {
			uint64_t here = pairs->fewest - met < ahead ? pairs->fewest - met : ahead;

			hops += far * here;
			met += here;
		}
		takes *= own;
		if (own > lit)
			takes += (delay->change_ps + (unsigned __int128)delay->port_ps) *
				 (own - lit);
		takes += (unsigned __int128)hops * pairs->smallest * 8000000 / delay->mbps;
		least = takes < least ? takes : least;
	}
	return (pairs->bytes * 8000000 / delay->mbps + least * pairs->senders) /
	       ((uint64_t)it->schedule.ranks * it->schedule.planes);
}

/* Whatever the topologies: the port with the most circuits, or the mean of all ports. */
static unsigned __int128 fewest_circuits(const struct schedule_check *it, const struct pairs *pairs)
{
	const struct delay *delay = &it->delay;
	unsigned __int128 bound = ~(unsigned __int128)0;

	for (uint32_t turns = 1; (uint64_t)(turns - 1) * it->schedule.planes < pairs->fewest;
	     turns++) {
		unsigned __int128 mean = mean_of_ports(it, pairs, turns), port = delay->round_ps;

		port = (port + delay->hop_ps) * turns;
		port += (delay->change_ps + (unsigned __int128)delay->port_ps) *
			(turns - (it->schedule.residents ? 1 : 0));
		if (port >= bound)
			break;
		mean = port > mean ? port : mean;
		bound = mean < bound ? mean : bound;
	}
	return bound;
}

/* Chunks with bytes that begin at one rank and end at another. */
static void find_pairs(const struct collective *collective, bool *met, struct pairs *pairs)
{
	for (uint32_t at = 0; at < collective->chunks_count; at++) {
		const struct chunk *chunk = &collective->chunks[at];

		if (!chunk->bytes || chunk->begins == NONE || chunk->ends == NONE ||
		    chunk->begins == chunk->ends)
			continue;
		met[(size_t)chunk->begins * collective->ranks + chunk->ends] = true;
		pairs->bytes += chunk->bytes;
		if (chunk->bytes < pairs->smallest)
			pairs->smallest = chunk->bytes;
	}
	for (uint32_t rank = 0; rank < collective->ranks; rank++) {
		uint32_t partners = 0;

		for (uint32_t other = 0; other < collective->ranks; other++)
			partners += met[(size_t)rank * collective->ranks + other];
		pairs->senders += partners != 0;
		if (partners && partners < pairs->fewest)
			pairs->fewest = partners;
	}
}

static int bound_by_circuits(struct schedule_check *it, unsigned __int128 *bound)
{
	const struct collective *collective = &it->collective;
	struct pairs pairs = { .fewest = collective->ranks, .smallest = UINT64_MAX };
	bool *met = calloc((size_t)collective->ranks * collective->ranks + 1, sizeof(*met));

	if (!met)
		return ck_wrong(&it->check, ENOMEM, "out of memory");
	find_pairs(collective, met, &pairs);
	free(met);
	/* A schedule without ports has no bound; other checks refuse it. */
	if (pairs.senders && it->schedule.ranks && it->schedule.planes)
		*bound = fewest_circuits(it, &pairs);
	return 0;
}

int ck_schedule_bound(struct schedule_check *it)
{
	unsigned __int128 bound = 0;
	int ret = 0;

	if (it->schedule.bound_kind == CHAIN)
		ret = bound_by_chain(it, &bound);
	else if (it->schedule.bound_kind == CIRCUITS)
		ret = bound_by_circuits(it, &bound);
	else if (it->schedule.bound_kind != PORTS)
		return ck_wrong(&it->check, EBADMSG, "bound %u does not exist",
				it->schedule.bound_kind);
	else if (it->collective.transfers_count)
		bound = alone(it, busiest(&it->collective));
	if (ret)
		return ret;
	/* The bound by circuits contains all changes. */
	if (it->collective.transfers_count && !it->schedule.residents &&
	    it->schedule.bound_kind != CIRCUITS)
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

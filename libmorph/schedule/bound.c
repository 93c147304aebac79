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

/* ------------------------------------------------------------------ circuits */

/* The chunks from one rank to another, of whatever rounds. */
struct exchange {
	uint32_t ranks; /* ranks at which such chunks begin */
	uint32_t partners; /* the fewest ranks at which chunks of one such rank end */
	uint64_t least; /* bytes of the smallest */
	unsigned __int128 bytes; /* bytes of all */
};

/* Count a chunk and its pair. @met has a bit for each pair of ranks. O(1). */
static void add_chunk(struct exchange *all, const struct chunk *chunk, uint32_t ranks,
		      uint64_t *met, uint32_t *partners)
{
	size_t pair = (size_t)chunk->begins * ranks + chunk->ends;

	all->bytes += chunk->bytes;
	all->least = chunk->bytes < all->least ? chunk->bytes : all->least;
	partners[chunk->begins] += !(met[pair / 64] >> pair % 64 & 1);
	met[pair / 64] |= 1ULL << pair % 64;
}

/* Return 0 or a noted -ENOMEM. O(chunks + ranks^2 / 64). */
static int collect_pairs(struct morph_ctx *ctx, const struct morph_collective *collective,
			 struct exchange *all)
{
	uint32_t ranks = collective->ranks, *partners = calloc(ranks + 1, sizeof(*partners));
	uint64_t *met = calloc((size_t)ranks * ranks / 64 + 1, sizeof(*met));

	*all = (struct exchange){ .partners = ranks, .least = UINT64_MAX };
	if (!partners || !met) {
		free(partners);
		free(met);
		return lm_no_memory(ctx, "plan a schedule");
	}
	for (uint32_t at = 0; at < collective->chunks.count; at++) {
		const struct chunk *chunk = &collective->chunks.list[at];

		if (chunk->bytes && chunk->begins != chunk->ends &&
		    chunk->begins != MORPH_EACH_RANK && chunk->ends != MORPH_EACH_RANK)
			add_chunk(all, chunk, ranks, met, partners);
	}
	for (uint32_t rank = 0; rank < ranks; rank++) {
		all->ranks += partners[rank] > 0;
		if (partners[rank] && partners[rank] < all->partners)
			all->partners = partners[rank];
	}
	free(partners);
	free(met);
	return 0;
}

/*
 * Return the hops beyond the first to all partners of a rank with @degree circuits, if all other
 * ranks have at most @most. Each hop reaches at most @most times as many ranks (Moore).
 */
static uint64_t further_hops(uint32_t partners, uint32_t degree, uint32_t most)
{
	uint64_t sum = 0, reach = degree;

	for (uint32_t hops = 0, left = partners; left; hops++, reach *= most) {
		uint32_t here = reach < left ? (uint32_t)reach : left;

		sum += (uint64_t)hops * here;
		left -= here;
	}
	return sum;
}

/*
 * The least time that a rank adds to that of the bytes, for its circuits and for further hops. Each
 * circuit sends at least once. If circuits are lit at the start, one of each plane needs no change.
 */
static unsigned __int128 added_ps(const struct morph_schedule *schedule, const struct exchange *all,
				  uint32_t most)
{
	const struct costs *costs = &schedule->costs;
	uint32_t lit = schedule->residents ? schedule->planes : 0;
	unsigned __int128 least = 0;

	for (uint32_t degree = 1; degree <= all->partners && degree <= most; degree++) {
		unsigned __int128 bytes = further_hops(all->partners, degree, most);
		unsigned __int128 ps = bytes * all->least * PS_BITS_PER_BYTE / costs->mbps;

		ps += (unsigned __int128)costs_send_ps(costs, 0, 1) * degree;
		if (degree > lit)
			ps += (unsigned __int128)costs_change_ps(costs, 1) * (degree - lit);
		least = degree == 1 || ps < least ? ps : least;
	}
	return least;
}

/* The least time if no port has more than @turns circuits, averaged over all transmit ports. */
static unsigned __int128 average_ps(const struct morph_schedule *schedule,
				    const struct exchange *all, uint32_t turns)
{
	unsigned __int128 ps = all->bytes * PS_BITS_PER_BYTE / schedule->costs.mbps;

	ps += added_ps(schedule, all, turns * schedule->planes) * all->ranks;
	return ps / ((uint64_t)schedule->ranks * schedule->planes);
}

/* The least time of a port with this number of circuits. */
static unsigned __int128 turns_ps(const struct morph_schedule *schedule, uint32_t turns)
{
	unsigned __int128 sends = costs_send_ps(&schedule->costs, 0, 1);
	unsigned __int128 change = costs_change_ps(&schedule->costs, 1);

	return sends * turns + change * (turns - (schedule->residents > 0));
}

/*
 * A port with more circuits takes longer, and more circuits leave fewer hops. The larger of both
 * times is least where they cross. O(ranks * log(ranks)^2). Return 0 or a noted -ENOMEM.
 */
static int circuits_ps(const struct morph_schedule *schedule,
		       const struct morph_collective *collective, uint64_t *out)
{
	uint32_t least = 1, most;
	struct exchange all;
	unsigned __int128 ps, before;
	int ret = collect_pairs(schedule->ctx, collective, &all);

	*out = 0;
	if (ret || !all.ranks)
		return ret;
	most = (all.partners + schedule->planes - 1) / schedule->planes;
	while (least < most) {
		uint32_t turns = least + (most - least) / 2;

		if (turns_ps(schedule, turns) < average_ps(schedule, &all, turns))
			least = turns + 1;
		else
			most = turns;
	}
	ps = average_ps(schedule, &all, least);
	ps = ps > turns_ps(schedule, least) ? ps : turns_ps(schedule, least);
	before = least > 1 ? average_ps(schedule, &all, least - 1) : ps;
	ps = before < ps ? before : ps;
	*out = ps > LONGEST_PS ? LONGEST_PS : (uint64_t)ps;
	return 0;
}

/* --------------------------------------------------------------------- all */

int lm_schedule_bound(struct morph_schedule *schedule, const struct morph_collective *collective)
{
	uint64_t cells = (uint64_t)collective->ranks * collective->chunks.count, chain = 0;
	uint64_t *arrived, *ends, circuits = 0;
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
	if (!ret)
		ret = circuits_ps(schedule, collective, &circuits);
	if (circuits > schedule->bound_ps) {
		schedule->bound_kind = MORPH_BOUND_CIRCUITS;
		schedule->bound_ps = circuits;
	}
	return ret;
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/* Rounds in which a rank sends data that it also receives: see lm_find_exchange(). */
#include "../schedule/schedule.h"

/* Chunks that a rank sends or receives in a round. */
struct moved {
	uint32_t rank, first, end;
	bool out;
};

static int by_rank(const void *one, const void *other)
{
	const struct moved *a = one, *b = other;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return a->first < b->first ? -1 : a->first > b->first;
}

static uint32_t list_moved(const struct morph_collective *collective, const struct round *round,
			   struct moved *moved)
{
	uint32_t count = 0;

	for (uint32_t at = 0; at < round->count; at++) {
		const struct transfer *transfer = &collective->transfers.list[round->first + at];

		for (uint32_t run = 0; run < transfer->count; run++) {
			const struct chunk_run *chunks =
				&collective->runs.list[transfer->first + run];
			uint32_t end = chunks->first + chunks->count;

			moved[count++] = (struct moved){ transfer->src, chunks->first, end, true };
			moved[count++] = (struct moved){ transfer->dst, chunks->first, end, false };
		}
	}
	return count;
}

/* O(runs * log(runs)). */
static bool sends_what_comes(const struct morph_collective *collective, const struct round *round,
			     struct moved *moved)
{
	uint32_t count = list_moved(collective, round, moved), ends[2] = { 0 };

	qsort(moved, count, sizeof(*moved), by_rank);
	for (uint32_t at = 0; at < count; at++) {
		bool out = moved[at].out;

		if (!at || moved[at].rank != moved[at - 1].rank)
			ends[0] = ends[1] = 0;
		if (moved[at].first < ends[!out])
			return true;
		ends[out] = moved[at].end > ends[out] ? moved[at].end : ends[out];
	}
	return false;
}

/* Does a rank send or receive more often than it has ports? */
static bool takes_turns(const struct morph_collective *collective, const struct round *round,
			uint32_t ports, uint32_t *counts)
{
	uint32_t *receives = counts + collective->ranks;
	bool more = false;

	memset(counts, 0, 2 * (size_t)collective->ranks * sizeof(*counts));
	for (uint32_t at = round->first; !more && at < round->first + round->count; at++) {
		const struct transfer *transfer = &collective->transfers.list[at];

		more = ++counts[transfer->src] > ports || ++receives[transfer->dst] > ports;
	}
	return more;
}

static size_t most_runs(const struct morph_collective *collective)
{
	size_t most = 0;

	for (uint32_t round = 0; round < collective->rounds.count; round++) {
		const struct round *of = &collective->rounds.list[round];
		size_t runs = 0;

		for (uint32_t at = of->first; at < of->first + of->count; at++)
			runs += collective->transfers.list[at].count;
		most = runs > most ? runs : most;
	}
	return most;
}

int lm_find_exchange(struct morph_ctx *ctx, const struct morph_collective *collective,
		     uint32_t ports)
{
	uint32_t *counts = calloc(2 * (size_t)collective->ranks, sizeof(*counts));
	struct moved *moved = calloc(2 * most_runs(collective) + 1, sizeof(*moved));
	int ret = 0;

	if (!counts || !moved) {
		free(counts);
		free(moved);
		lm_no_memory(ctx, "plan a schedule");
		return -ENOMEM;
	}
	for (uint32_t round = 0; !ret && round < collective->rounds.count; round++) {
		const struct round *of = &collective->rounds.list[round];

		ret = takes_turns(collective, of, ports, counts) &&
		      sends_what_comes(collective, of, moved);
	}
	free(counts);
	free(moved);
	return ret;
}

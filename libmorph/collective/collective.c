// SPDX-License-Identifier: LGPL-2.1-or-later
/* Building and reading collectives: see <morph/collective.h>. */
#include "../util/mix.h"
#include "straggler.h"

#define MOST_CHUNKS (1U << 24)
#define MOST_BYTES (1ULL << 50) /* of a chunk */
#define MOST_ROUNDS (1U << 16)
#define MOST_TRANSFERS (1U << 26)
#define MOST_RUNS (1U << 28)

#define GROW(collective, array) \
	ARRAY_GROW((collective)->ctx, (collective)->array, 1, "add to a collective")

MORPH_API struct morph_collective *morph_collective_new(struct morph_ctx *ctx)
{
	struct morph_collective *collective = calloc(1, sizeof(*collective));

	if (!collective) {
		lm_no_memory(ctx, "begin a collective");
		return NULL;
	}
	collective->ctx = ctx;
	return collective;
}

MORPH_API void morph_collective_free(struct morph_collective *collective)
{
	if (!collective)
		return;
	free(collective->chunks.list);
	free(collective->rounds.list);
	free(collective->transfers.list);
	free(collective->runs.list);
	free(collective->loads);
	free(collective);
}

/* ----------------------------------------------------------------- building */

static int full(struct morph_collective *collective, const char *what, uint32_t most)
{
	return lm_fail(collective->ctx, E2BIG, "a collective has at most %u %s", most, what);
}

void lm_collective_clear(struct morph_collective *collective)
{
	collective->chunks.count = 0;
	collective->rounds.count = 0;
	collective->transfers.count = 0;
	collective->runs.count = 0;
	if (collective->loads)
		memset(collective->loads, 0, collective->ranks * sizeof(*collective->loads));
}

MORPH_API int morph_collective_begin(struct morph_collective *collective, uint32_t ranks)
{
	struct load *loads;

	if (!ranks)
		return lm_fail(collective->ctx, EINVAL, "a collective requires at least one rank");
	if (ranks > MOST_RANKS)
		return full(collective, "ranks", MOST_RANKS);
	loads = reallocarray(collective->loads, ranks, sizeof(*loads));
	if (!loads)
		return lm_no_memory(collective->ctx, "begin a collective");
	collective->loads = loads;
	collective->ranks = ranks;
	lm_collective_clear(collective);
	return 0;
}

int lm_collective_expect(struct morph_collective *collective, uint64_t transfers)
{
	return transfers > MOST_TRANSFERS ? full(collective, "transfers", MOST_TRANSFERS) : 0;
}

static int check_rank(struct morph_collective *collective, uint32_t rank)
{
	if (rank < collective->ranks)
		return 0;
	return lm_fail(collective->ctx, ENOENT, "no rank %u: the collective has %u ranks", rank,
		       collective->ranks);
}

MORPH_API int morph_collective_add_chunk(struct morph_collective *collective, uint32_t begins,
					 uint32_t ends, uint64_t bytes)
{
	int ret = begins == MORPH_EACH_RANK ? 0 : check_rank(collective, begins);

	if (!ret && ends != MORPH_EACH_RANK)
		ret = check_rank(collective, ends);
	if (ret)
		return ret;
	if (collective->chunks.count == MOST_CHUNKS)
		return full(collective, "chunks", MOST_CHUNKS);
	if (bytes > MOST_BYTES)
		return lm_fail(collective->ctx, E2BIG, "a chunk has at most %llu bytes, not %llu",
			       MOST_BYTES, (unsigned long long)bytes);
	ret = GROW(collective, chunks);
	if (ret)
		return ret;
	collective->chunks.list[collective->chunks.count] =
		(struct chunk){ .begins = begins, .ends = ends, .bytes = bytes };
	return (int)collective->chunks.count++;
}

MORPH_API int morph_collective_add_round(struct morph_collective *collective)
{
	int ret;

	if (collective->rounds.count == MOST_ROUNDS)
		return full(collective, "rounds", MOST_ROUNDS);
	ret = GROW(collective, rounds);
	if (ret)
		return ret;
	collective->rounds.list[collective->rounds.count] =
		(struct round){ .first = collective->transfers.count };
	return (int)collective->rounds.count++;
}

MORPH_API int morph_collective_add_transfer(struct morph_collective *collective, uint32_t src,
					    uint32_t dst, bool reduce)
{
	int ret = check_rank(collective, src);

	if (!ret)
		ret = check_rank(collective, dst);
	if (ret)
		return ret;
	if (src == dst)
		return lm_fail(collective->ctx, EINVAL, "a transfer from rank %u to itself", src);
	if (!collective->rounds.count)
		return lm_fail(collective->ctx, ENOENT,
			       "a transfer requires a round; add the round first");
	if (collective->transfers.count == MOST_TRANSFERS)
		return full(collective, "transfers", MOST_TRANSFERS);
	ret = GROW(collective, transfers);
	if (ret)
		return ret;
	collective->transfers.list[collective->transfers.count] = (struct transfer){
		.src = src, .dst = dst, .first = collective->runs.count, .reduce = reduce
	};
	collective->rounds.list[collective->rounds.count - 1].count++;
	return (int)collective->transfers.count++;
}

static uint64_t more_bytes(uint64_t bytes, uint64_t more)
{
	return __builtin_add_overflow(bytes, more, &bytes) ? UINT64_MAX : bytes;
}

static void count_load(struct morph_collective *collective, const struct transfer *transfer,
		       uint64_t bytes)
{
	struct load *src = &collective->loads[transfer->src];
	struct load *dst = &collective->loads[transfer->dst];

	src->sent = more_bytes(src->sent, bytes);
	dst->received = more_bytes(dst->received, bytes);
}

MORPH_API int morph_collective_add_run(struct morph_collective *collective, uint32_t first,
				       uint32_t count)
{
	struct transfer *transfer;
	uint64_t bytes = 0;
	int ret;

	if (!collective->transfers.count)
		return lm_fail(collective->ctx, ENOENT,
			       "chunks require a transfer; add the transfer first");
	if (!count)
		return lm_fail(collective->ctx, EINVAL, "a run requires at least one chunk");
	if (first >= collective->chunks.count || count > collective->chunks.count - first)
		return lm_fail(collective->ctx, ENOENT,
			       "no %u chunks from number %u: %u were added", count, first,
			       collective->chunks.count);
	if (collective->runs.count == MOST_RUNS)
		return full(collective, "runs", MOST_RUNS);
	ret = GROW(collective, runs);
	if (ret)
		return ret;
	transfer = &collective->transfers.list[collective->transfers.count - 1];
	for (uint32_t chunk = first; chunk < first + count; chunk++)
		bytes = more_bytes(bytes, collective->chunks.list[chunk].bytes);
	transfer->bytes = more_bytes(transfer->bytes, bytes);
	count_load(collective, transfer, bytes);
	collective->runs.list[collective->runs.count++] =
		(struct chunk_run){ .first = first, .count = count };
	transfer->count++;
	return 0;
}

/* ------------------------------------------------------------------ reading */

uint32_t morph_collective_ranks(const struct morph_collective *collective)
{
	return collective->ranks;
}

uint32_t morph_collective_busy(const struct morph_collective *collective)
{
	uint64_t busy[MOST_RANKS / 64] = { 0 };
	uint32_t count = 0;

	for (uint32_t at = 0; at < collective->transfers.count; at++) {
		const struct transfer *transfer = &collective->transfers.list[at];

		busy[transfer->src / 64] |= 1ULL << transfer->src % 64;
		busy[transfer->dst / 64] |= 1ULL << transfer->dst % 64;
	}
	for (uint32_t word = 0; word < MOST_RANKS / 64; word++)
		count += (uint32_t)__builtin_popcountll(busy[word]);
	return count;
}

uint32_t lm_straggler_bound(uint32_t ranks)
{
	uint64_t left = (uint64_t)ranks * (ranks - 1), pairs = ranks / 2 * 2;
	uint32_t least, rounds = 0;

	if (ranks < 2)
		return 0;
	least = ranks - 2 + 32 - (uint32_t)__builtin_clz(ranks - 1);
	for (uint64_t holders = 1; left; holders = holders < pairs ? 2 * holders : holders) {
		uint64_t arrivals = holders + 1 < pairs ? holders + 1 : pairs;

		left -= left < arrivals ? left : arrivals;
		rounds++;
	}
	return rounds > least ? rounds : least;
}

MORPH_API int morph_collective_info(const struct morph_collective *collective,
				    struct morph_collective_info *out)
{
	struct morph_collective_info info = { .sz = sizeof(info),
					      .ranks = collective->ranks,
					      .rounds = collective->rounds.count,
					      .chunks = collective->chunks.count };
	int ret = lm_opts_check(collective->ctx, out, sizeof(info), "morph_collective_info");

	if (ret)
		return ret;
	info.rounds_before_last = morph_collective_rounds_before(collective, info.ranks - 1);
	info.late_rounds_least = lm_straggler_bound(info.ranks);
	lm_answer_copy(out, &info, sizeof(info));
	return 0;
}

uint32_t morph_collective_chunks(const struct morph_collective *collective)
{
	return collective->chunks.count;
}

uint32_t morph_collective_rounds(const struct morph_collective *collective)
{
	return collective->rounds.count;
}

MORPH_API uint32_t morph_collective_transfers(const struct morph_collective *collective,
					      uint32_t round)
{
	return round < collective->rounds.count ? collective->rounds.list[round].count : 0;
}

int morph_collective_transfer(const struct morph_collective *collective, uint32_t round,
			      uint32_t number, struct morph_transfer *out)
{
	const struct transfer *transfer;

	if (number >= morph_collective_transfers(collective, round))
		return lm_fail(collective->ctx, ENOENT, "round %u has no transfer %u", round,
			       number);
	transfer = &collective->transfers.list[collective->rounds.list[round].first + number];
	*out = (struct morph_transfer){ .src = transfer->src,
					.dst = transfer->dst,
					.bytes = transfer->bytes,
					.reduce = transfer->reduce };
	return 0;
}

uint32_t lm_collective_members(const struct morph_collective *collective, uint32_t *members)
{
	uint32_t count = 0;

	memset(members, 0, collective->ranks * sizeof(*members));
	for (uint32_t at = 0; at < collective->transfers.count; at++) {
		members[collective->transfers.list[at].src] = 1;
		members[collective->transfers.list[at].dst] = 1;
	}
	for (uint32_t rank = 0; rank < collective->ranks; rank++)
		if (members[rank])
			members[count++] = rank;
	return count;
}

uint64_t lm_collective_digest(const struct morph_collective *collective)
{
	uint64_t digest = mix(collective->ranks);

	for (uint32_t round = 0; round < collective->rounds.count; round++) {
		const struct round *of = &collective->rounds.list[round];

		digest = mix(digest ^ of->count);
		for (uint32_t at = of->first; at < of->first + of->count; at++) {
			const struct transfer *transfer = &collective->transfers.list[at];
			uint64_t pair = (uint64_t)transfer->src << 32 | transfer->dst;

			digest = mix(digest ^ pair ^ transfer->bytes * 0x9e3779b97f4a7c15);
		}
	}
	return digest;
}

uint64_t morph_collective_bytes(const struct morph_collective *collective)
{
	uint64_t most = 0;

	for (uint32_t rank = 0; rank < collective->ranks; rank++) {
		const struct load *load = &collective->loads[rank];

		most = load->sent > most ? load->sent : most;
		most = load->received > most ? load->received : most;
	}
	return most;
}

uint32_t morph_collective_rounds_before(const struct morph_collective *collective, uint32_t rank)
{
	for (uint32_t number = 0; number < collective->rounds.count; number++) {
		const struct round *round = &collective->rounds.list[number];

		for (uint32_t at = round->first; at < round->first + round->count; at++)
			if (collective->transfers.list[at].src == rank ||
			    collective->transfers.list[at].dst == rank)
				return number;
	}
	return collective->rounds.count;
}

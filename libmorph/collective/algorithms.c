// SPDX-License-Identifier: LGPL-2.1-or-later
/* The algorithms of each collective, and how their rounds are written. */
#include "algorithms.h"

#define KIND(kind) (1U << (kind))
#define REDUCE_OR_GATHER \
	(KIND(MORPH_ALL_REDUCE) | KIND(MORPH_REDUCE_SCATTER) | KIND(MORPH_ALL_GATHER))

static const char *const kinds[] = {
	[MORPH_ALL_REDUCE] = "an all-reduce", [MORPH_REDUCE_SCATTER] = "a reduce-scatter",
	[MORPH_ALL_GATHER] = "an all-gather", [MORPH_ALL_TO_ALL] = "an all-to-all",
	[MORPH_BROADCAST] = "a broadcast",
};

struct algorithm {
	const char *name;
	uint32_t kinds;
	bool powers_of_two; /* has rounds for powers of two only */
	void (*write)(struct writer *writer);
};

static void write_bruck(struct writer *writer)
{
	if (writer->opts->kind == MORPH_ALL_GATHER)
		lm_write_bruck_gather(writer);
	else
		lm_write_shifts(writer);
}

static const struct algorithm algorithms[] = {
	[MORPH_RING] = { "a ring", REDUCE_OR_GATHER, false, lm_write_rings },
	[MORPH_RINGS] = { "rings", REDUCE_OR_GATHER, false, lm_write_rings },
	[MORPH_HALVING] = { "halving", REDUCE_OR_GATHER, true, lm_write_halving },
	[MORPH_HALVING_CYCLIC] = { "cyclic halving", REDUCE_OR_GATHER, true, lm_write_halving },
	[MORPH_DOUBLING] = { "doubling", KIND(MORPH_ALL_REDUCE), true, lm_write_doubling },
	[MORPH_SWING] = { "Swing", REDUCE_OR_GATHER, true, lm_write_halving },
	[MORPH_BRUCK] = { "Bruck's algorithm", KIND(MORPH_ALL_TO_ALL) | KIND(MORPH_ALL_GATHER),
			  false, write_bruck },
	[MORPH_SHIFT] = { "shifting", KIND(MORPH_ALL_TO_ALL), false, lm_write_shifts },
	[MORPH_PAIRWISE] = { "pairwise exchange", KIND(MORPH_ALL_TO_ALL), false,
			     lm_write_pairwise },
	[MORPH_TERNARY] = { "balanced ternary", KIND(MORPH_ALL_TO_ALL), false, lm_write_shifts },
	[MORPH_DIRECT] = { "sending directly",
			   REDUCE_OR_GATHER | KIND(MORPH_ALL_TO_ALL) | KIND(MORPH_BROADCAST), false,
			   lm_write_direct },
	[MORPH_BINOMIAL] = { "a binomial tree", KIND(MORPH_BROADCAST), false, lm_write_binomial },
	[MORPH_BINARY] = { "a binary tree", KIND(MORPH_BROADCAST), false, lm_write_binary },
	[MORPH_STRAGGLAR] = { "StragglAR", KIND(MORPH_ALL_REDUCE), false, lm_write_straggler },
};

const char *lm_collective_kind(uint32_t kind)
{
	return kind < ARRAY_SIZE(kinds) ? kinds[kind] : NULL;
}

/* ------------------------------------------------------------------ writing */

void *lm_writer_alloc(struct writer *writer, size_t count, size_t bytes)
{
	void *memory = writer->error ? NULL : calloc(count, bytes);

	if (!memory && !writer->error)
		writer->error = lm_no_memory(writer->collective->ctx, "build a collective");
	return memory;
}

/* Calls that add something return a number or an error. */
static void note(struct writer *writer, int ret)
{
	if (ret < 0)
		writer->error = ret;
}

void lm_write_chunk(struct writer *writer, uint32_t begins, uint32_t ends, uint64_t bytes)
{
	if (!writer->error)
		note(writer, morph_collective_add_chunk(writer->collective, begins, ends, bytes));
}

void lm_write_shares(struct writer *writer)
{
	uint32_t ranks = writer->opts->ranks;

	for (uint32_t rank = 0; rank < ranks; rank++)
		lm_write_chunk(writer, scatters(writer) ? MORPH_EACH_RANK : rank,
			       gathers(writer) ? MORPH_EACH_RANK : rank,
			       share_of(writer->opts->bytes, ranks));
}

static void finish_run(struct writer *writer)
{
	if (writer->run.count && !writer->error)
		note(writer, morph_collective_add_run(writer->collective, writer->run.first,
						      writer->run.count));
	writer->run.count = 0;
}

void lm_write_round(struct writer *writer)
{
	finish_run(writer);
	writer->round = true;
}

void lm_write_transfer(struct writer *writer, uint32_t src, uint32_t dst, bool reduce)
{
	finish_run(writer);
	writer->transfer = true;
	writer->src = src;
	writer->dst = dst;
	writer->reduce = reduce;
}

/* Write what waits for a chunk. */
static void begin_transfer(struct writer *writer)
{
	if (writer->round)
		note(writer, morph_collective_add_round(writer->collective));
	if (!writer->error)
		note(writer, morph_collective_add_transfer(writer->collective, writer->src,
							   writer->dst, writer->reduce));
	writer->round = false;
	writer->transfer = false;
}

void lm_write_run(struct writer *writer, uint32_t first, uint32_t count)
{
	if (writer->error)
		return;
	if (writer->transfer)
		begin_transfer(writer);
	if (writer->run.count && writer->run.first + writer->run.count == first) {
		writer->run.count += count;
		return;
	}
	finish_run(writer);
	writer->run = (struct chunk_run){ .first = first, .count = count };
}

/* ----------------------------------------------------------------- options */

static int check_algorithm(struct morph_ctx *ctx, const struct morph_collective_opts *opts)
{
	if (!lm_collective_kind(opts->kind))
		return lm_fail(ctx, EINVAL, "unknown kind of collective %u", opts->kind);
	if (opts->algorithm >= ARRAY_SIZE(algorithms) || !algorithms[opts->algorithm].write)
		return lm_fail(ctx, EINVAL, "unknown algorithm %u", opts->algorithm);
	if (!(algorithms[opts->algorithm].kinds & KIND(opts->kind)))
		return lm_fail(ctx, EINVAL, "%s does not support %s",
			       algorithms[opts->algorithm].name, kinds[opts->kind]);
	return 0;
}

static int check_numbers(struct morph_ctx *ctx, const struct morph_collective_opts *opts)
{
	const char *name = algorithms[opts->algorithm].name;

	if (algorithms[opts->algorithm].powers_of_two && opts->ranks & (opts->ranks - 1))
		return lm_fail(ctx, EINVAL, "%s requires a power of two of ranks, not %u", name,
			       opts->ranks);
	if (opts->kind == MORPH_BROADCAST && opts->root >= opts->ranks)
		return lm_fail(ctx, EINVAL, "the root must be one of %u ranks, not rank %u",
			       opts->ranks, opts->root);
	if (opts->radix == 1)
		return lm_fail(ctx, EINVAL, "the radix must be 2 or more");
	if (opts->matrix && opts->kind != MORPH_ALL_TO_ALL)
		return lm_fail(ctx, EINVAL, "a matrix requires an all-to-all, not %s",
			       kinds[opts->kind]);
	return 0;
}

MORPH_API int morph_collective_build(struct morph_collective *collective,
				     const struct morph_collective_opts *opts)
{
	struct morph_collective_opts mine;
	struct writer writer = { .collective = collective, .opts = &mine };
	int ret = lm_opts_check(collective->ctx, opts, sizeof(mine), "morph_collective_opts");

	lm_opts_copy(&mine, ret ? NULL : opts, sizeof(mine));
	if (!ret)
		ret = check_algorithm(collective->ctx, &mine);
	if (!ret)
		ret = morph_collective_begin(collective, mine.ranks);
	if (!ret)
		ret = check_numbers(collective->ctx, &mine);
	if (!ret) {
		algorithms[mine.algorithm].write(&writer);
		finish_run(&writer);
		ret = writer.error;
	}
	if (ret)
		lm_collective_clear(collective);
	return ret;
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/* MSCCL's XML: the places of a collective's chunks in the buffers of a program. */
#include "msccl_write.h"

#include <endian.h>

#include <morph/wire.h>

#define MOST_UNITS (1U << 20)

/* ------------------------------------------------------------------ what there is */

static uint64_t chunk_bytes(const struct view *view, uint32_t chunk)
{
	const uint32_t *words = &view->chunks[CHUNK * (size_t)chunk];

	return words[2] | (uint64_t)words[3] << 32;
}

int lm_msccl_take_apart(struct writer *writer, const struct morph_collective *collective)
{
	ssize_t bytes = morph_collective_write(collective, NULL, 0);
	struct view *view = &writer->view;

	view->words = malloc((size_t)bytes);
	if (!view->words)
		return lm_format_no_memory(writer->why);
	morph_collective_write(collective, view->words, (size_t)bytes);
	for (size_t at = 0; at < (size_t)bytes / 4; at++)
		view->words[at] = le32toh(view->words[at]);
	view->ranks = view->words[MORPH_WIRE_HEAD];
	view->chunks_count = view->words[MORPH_WIRE_HEAD + 1];
	view->rounds_count = view->words[MORPH_WIRE_HEAD + 2];
	view->transfers_count = view->words[MORPH_WIRE_HEAD + 3];
	view->runs_count = view->words[MORPH_WIRE_HEAD + 4];
	view->chunks = view->words + MORPH_WIRE_HEAD + 5;
	view->rounds = view->chunks + CHUNK * (size_t)view->chunks_count;
	view->transfers = view->rounds + ROUND * (size_t)view->rounds_count;
	view->runs = view->transfers + TRANSFER * (size_t)view->transfers_count;
	if (!view->ranks)
		return lm_format_fail(writer->why, EINVAL, "the collective has no ranks");
	return 0;
}

/* ------------------------------------------------------------------------- places */

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/*
 * The number of equal file chunks of each chunk; 0 if it has no bytes and other chunks have some.
 */
static int measure(struct writer *writer, uint32_t *total)
{
	const struct view *view = &writer->view;
	uint64_t unit = 0, units = 0;

	for (uint32_t chunk = 0; chunk < view->chunks_count; chunk++)
		unit = common_divisor(unit, chunk_bytes(view, chunk));
	for (uint32_t chunk = 0; chunk < view->chunks_count; chunk++) {
		uint64_t count = unit ? chunk_bytes(view, chunk) / unit : 1;

		units += count;
		if (units > MOST_UNITS)
			return lm_format_fail(
				writer->why, E2BIG,
				"the chunk sizes have %llu bytes as common divisor, and a chunk is more than %u times that size",
				(unsigned long long)unit, MOST_UNITS);
		writer->spots[chunk].units = (uint32_t)count;
	}
	*total = (uint32_t)units;
	return 0;
}

/* The common rank of all chunks, MORPH_EACH_RANK, or NEITHER. */
#define NEITHER (UINT32_MAX - 1)

static bool all_at(const struct view *view, uint32_t (*where)(const struct view *, uint32_t),
		   bool each)
{
	for (uint32_t chunk = 0; chunk < view->chunks_count; chunk++)
		if ((where(view, chunk) == MORPH_EACH_RANK) != each)
			return false;
	return true;
}

static bool all_begin_at_one(const struct view *view)
{
	for (uint32_t chunk = 1; chunk < view->chunks_count; chunk++)
		if (lm_msccl_begins(view, chunk) != lm_msccl_begins(view, 0))
			return false;
	return true;
}

/* The offset of each chunk in a buffer with an equal share for each key. False if shares differ. */
static bool share_out(struct writer *writer, uint32_t keys, uint32_t total,
		      uint32_t (*key)(const struct view *, uint32_t), uint32_t *filled,
		      uint32_t *offsets)
{
	const struct view *view = &writer->view;
	uint32_t share = total / keys;

	if (total % keys)
		return false;
	memset(filled, 0, keys * sizeof(*filled));
	for (uint32_t chunk = 0; chunk < view->chunks_count; chunk++) {
		uint32_t of = key(view, chunk);

		offsets[chunk] = of % view->ranks * share + filled[of];
		filled[of] += writer->spots[chunk].units;
		if (filled[of] > share)
			return false;
	}
	return true;
}

/* Key of a chunk by its pair of source and target rank, which can be the same. */
static uint32_t pair_of(const struct view *view, uint32_t chunk)
{
	return lm_msccl_begins(view, chunk) * view->ranks + lm_msccl_ends(view, chunk);
}

static uint32_t pair_back(const struct view *view, uint32_t chunk)
{
	return lm_msccl_ends(view, chunk) * view->ranks + lm_msccl_begins(view, chunk);
}

/* One place in one buffer for each chunk at each rank. */
static void lay_in_place(struct writer *writer, const uint32_t *offsets, const char *coll,
			 uint32_t in, uint32_t out)
{
	for (uint32_t chunk = 0; chunk < writer->view.chunks_count; chunk++)
		writer->spots[chunk].in = writer->spots[chunk].out = writer->spots[chunk].scratch =
			offsets[chunk];
	writer->coll = coll;
	writer->in_place = true;
	writer->in = in;
	writer->out = out;
}

/* Each buffer has a place for each chunk, although a rank uses only some. */
static void lay_apart(struct writer *writer, uint32_t total)
{
	uint32_t next = 0;

	for (uint32_t chunk = 0; chunk < writer->view.chunks_count; chunk++) {
		struct spot *spot = &writer->spots[chunk];

		spot->in = spot->out = spot->scratch = next;
		next += spot->units;
	}
	writer->coll = "custom";
	writer->in = writer->out = total;
}

static void find_places(struct writer *writer, uint32_t total, uint32_t *filled, uint32_t *offsets,
			uint32_t *outs)
{
	const struct view *view = &writer->view;
	bool each_begins = all_at(view, lm_msccl_begins, true),
	     one_begins = all_at(view, lm_msccl_begins, false);
	bool each_ends = all_at(view, lm_msccl_ends, true),
	     one_ends = all_at(view, lm_msccl_ends, false);
	uint32_t ranks = view->ranks;

	lay_apart(writer, total);
	for (uint32_t chunk = 0; chunk < view->chunks_count; chunk++)
		offsets[chunk] = writer->spots[chunk].in;
	if (!total || ranks == 1)
		return;
	if (each_begins && each_ends) {
		lay_in_place(writer, offsets, "allreduce", total, total);
	} else if (each_begins && one_ends) {
		if (share_out(writer, ranks, total, lm_msccl_ends, filled, offsets))
			lay_in_place(writer, offsets, "reduce_scatter", total, total / ranks);
	} else if (one_begins && each_ends && all_begin_at_one(view)) {
		lay_in_place(writer, offsets, "broadcast", total, total);
	} else if (one_begins && each_ends) {
		if (share_out(writer, ranks, total, lm_msccl_begins, filled, offsets))
			lay_in_place(writer, offsets, "allgather", total / ranks, total);
	} else if (one_begins && one_ends &&
		   share_out(writer, ranks * ranks, total, pair_of, filled, offsets) &&
		   share_out(writer, ranks * ranks, total, pair_back, filled, outs)) {
		for (uint32_t chunk = 0; chunk < view->chunks_count; chunk++) {
			writer->spots[chunk].in = offsets[chunk];
			writer->spots[chunk].out = outs[chunk];
		}
		writer->coll = "alltoall";
		writer->in = writer->out = total / ranks;
	}
}

int lm_msccl_place(struct writer *writer)
{
	size_t ranks = writer->view.ranks, chunks = writer->view.chunks_count;
	uint32_t *offsets = calloc(chunks + 1, sizeof(*offsets));
	uint32_t *outs = calloc(chunks + 1, sizeof(*outs));
	uint32_t *filled = calloc(ranks * ranks, sizeof(*filled));
	uint32_t total = 0;
	int ret = 0;

	writer->spots = calloc(chunks + 1, sizeof(*writer->spots));
	if (!writer->spots || !offsets || !outs || !filled)
		ret = lm_format_no_memory(writer->why);
	if (!ret)
		ret = measure(writer, &total);
	if (!ret)
		find_places(writer, total, filled, offsets, outs);
	free(offsets);
	free(outs);
	free(filled);
	return ret;
}

/* The buffer of a chunk at a rank, and its offset. */
char lm_msccl_buffer(const struct writer *writer, uint32_t chunk, uint32_t rank, uint32_t *offset)
{
	const struct spot *spot = &writer->spots[chunk];
	uint32_t begins = lm_msccl_begins(&writer->view, chunk),
		 ends = lm_msccl_ends(&writer->view, chunk);

	*offset = spot->in;
	if (writer->in_place)
		return writer->in < writer->out ? 'o' : 'i';
	if (begins == rank || begins == MORPH_EACH_RANK)
		return 'i';
	*offset = spot->out;
	if (ends == rank || ends == MORPH_EACH_RANK)
		return 'o';
	*offset = spot->scratch;
	return 's';
}

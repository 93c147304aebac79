// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Halving, doubling and similar algorithms, for powers of two. In step s of log2(ranks), each rank
 * has one partner. In halving, it sends the partner the chunks that the partner and its later
 * partners end with. Doubling is the reverse.
 */
#include "algorithms.h"

struct halving {
	struct writer *writer;
	uint32_t ranks, steps;
	bool *marked; /* positions of chunks */
	uint32_t *place; /* position of a rank's chunk: the bits of the rank reversed */
};

/* The receiver of the rank in the step. */
static uint32_t partner(const struct halving *halving, uint32_t rank, uint32_t step)
{
	uint32_t ranks = halving->ranks, far = 1;

	switch (halving->writer->opts->algorithm) {
	case MORPH_HALVING:
		return rank ^ 1U << step;
	case MORPH_HALVING_CYCLIC:
		return (rank + (1U << step)) % ranks;
	default: /* 1, -1, 3, -5, 11 ...: (1 - (-2)^(step + 1)) / 3; negated for odd ranks */
		for (uint32_t done = 0; done < step; done++)
			far = 1 - 2 * far;
		return (rank % 2 ? rank - far : rank + far) % ranks;
	}
}

/* The chunks that a rank needs before a step, for itself and its later partners. */
static void mark(struct halving *halving, uint32_t rank, uint32_t step)
{
	halving->marked[halving->place[rank]] = true;
	for (; step < halving->steps; step++)
		mark(halving, partner(halving, rank, step), step + 1);
}

static void write_step(struct halving *halving, uint32_t step, bool reduce)
{
	struct writer *writer = halving->writer;

	lm_write_round(writer);
	for (uint32_t rank = 0; rank < halving->ranks; rank++) {
		uint32_t other = partner(halving, rank, step);

		lm_write_transfer(writer, rank, other, reduce);
		mark(halving, reduce ? other : rank, step + 1);
		for (uint32_t chunk = 0; chunk < halving->ranks; chunk++) {
			if (halving->marked[chunk])
				lm_write_run(writer, chunk, 1);
			halving->marked[chunk] = false;
		}
	}
}

/*
 * The number of a chunk is its rank with reversed bits. Chunks that are sent together then form one
 * run, except in Swing.
 */
static void write_chunks(struct halving *halving)
{
	struct writer *writer = halving->writer;

	for (uint32_t rank = 0; rank < halving->ranks; rank++)
		for (uint32_t bit = 0; bit < halving->steps; bit++)
			halving->place[rank] |= (rank >> bit & 1) << (halving->steps - 1 - bit);
	/* Reversing the bits twice restores the number. */
	for (uint32_t chunk = 0; chunk < halving->ranks; chunk++)
		lm_write_chunk(writer, scatters(writer) ? MORPH_EACH_RANK : halving->place[chunk],
			       gathers(writer) ? MORPH_EACH_RANK : halving->place[chunk],
			       share_of(writer->opts->bytes, halving->ranks));
}

void lm_write_halving(struct writer *writer)
{
	struct halving halving = { .writer = writer, .ranks = writer->opts->ranks };

	halving.steps = (uint32_t)__builtin_ctz(halving.ranks);
	halving.marked = lm_writer_alloc(writer, halving.ranks, sizeof(*halving.marked));
	halving.place = lm_writer_alloc(writer, halving.ranks, sizeof(*halving.place));
	if (halving.place) {
		write_chunks(&halving);
		for (uint32_t step = 0; step < halving.steps && scatters(writer); step++)
			write_step(&halving, step, true);
		for (uint32_t step = halving.steps; step-- && gathers(writer);)
			write_step(&halving, step, false);
	}
	free(halving.marked);
	free(halving.place);
}

void lm_write_doubling(struct writer *writer)
{
	uint32_t ranks = writer->opts->ranks;

	lm_write_chunk(writer, MORPH_EACH_RANK, MORPH_EACH_RANK, writer->opts->bytes);
	for (uint32_t bit = 1; bit < ranks; bit *= 2) {
		lm_write_round(writer);
		for (uint32_t rank = 0; rank < ranks; rank++) {
			lm_write_transfer(writer, rank, rank ^ bit, true);
			lm_write_run(writer, 0, 1);
		}
	}
}

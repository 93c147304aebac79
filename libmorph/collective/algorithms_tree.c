// SPDX-License-Identifier: LGPL-2.1-or-later
/* Trees. Positions are ranks counted from the root. */
#include "algorithms.h"

static uint32_t rank_at(const struct writer *writer, uint32_t place)
{
	return (writer->opts->root + place) % writer->opts->ranks;
}

/* Each rank with the data sends it to one without. Their number doubles in each round. */
void lm_write_binomial(struct writer *writer)
{
	uint32_t ranks = writer->opts->ranks;

	lm_write_chunk(writer, writer->opts->root, MORPH_EACH_RANK, writer->opts->bytes);
	for (uint32_t have = 1; have < ranks; have *= 2) {
		lm_write_round(writer);
		for (uint32_t place = 0; place < have && place + have < ranks; place++) {
			lm_write_transfer(writer, rank_at(writer, place),
					  rank_at(writer, place + have), false);
			lm_write_run(writer, 0, 1);
		}
	}
}

static uint32_t depth(uint32_t place)
{
	return 31 - (uint32_t)__builtin_clz(place + 1);
}

/*
 * The children of position p are 2 * p + 1 and 2 * p + 2. A segment moves down one level per round.
 */
void lm_write_binary(struct writer *writer)
{
	uint32_t ranks = writer->opts->ranks, levels = depth(ranks - 1);
	uint32_t segments = writer->opts->segments ? writer->opts->segments : 1;

	writer->error = lm_collective_expect(writer->collective, (ranks - 1ULL) * segments);
	for (uint32_t segment = 0; segment < segments && !writer->error; segment++)
		lm_write_chunk(writer, writer->opts->root, MORPH_EACH_RANK,
			       share_of(writer->opts->bytes, segments));
	for (uint32_t round = 0; levels && round < levels + segments - 1 && !writer->error;
	     round++) {
		lm_write_round(writer);
		for (uint32_t child = 1; child < ranks; child++) {
			uint32_t parent = (child - 1) / 2, level = depth(parent);

			if (round < level || round - level >= segments)
				continue;
			lm_write_transfer(writer, rank_at(writer, parent), rank_at(writer, child),
					  false);
			lm_write_run(writer, round - level, 1);
		}
	}
}

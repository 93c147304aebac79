// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * StragglAR (Devraj et al., arXiv 2505.23523): all-reduce when the last rank is late. There is one
 * chunk for each other rank. While the last rank is late, the others sum their data on a ring, and
 * chunk g ends at rank g. Then the late rank meets the others in turn. Both sum their data of the
 * chunk of that rank. The chunk is then complete, and all ranks that have it pass it on.
 *
 * The authors give rules of pairs for powers of two. This file uses a finite field instead: the n
 * ranks are its n elements. The late rank is 0 and rank g is a^g, where the powers of a are all
 * other elements. In round t each x meets x + a^t, so the late rank meets rank t. Any log2(n)
 * consecutive powers of a are a base of the field as a vector space over bits.
 *
 * Chunk c begins at a^c in round c. In later rounds it is at a^c plus the span of the powers c + 1
 * ... t - 1. This set doubles in each round without overlap. After log2(n) - 1 rounds it has half
 * of all ranks. The next round gives the other half, because a^(c + log2(n)) needs a^c in that
 * base. So before round t, each rank other than 0 has exactly one of the last log2(n) chunks. With
 * its element in the base a^(t - log2(n)) ... a^(t - 1), it is the chunk of the first power. The
 * rank sends that chunk. When all chunks have begun, 0 sends the last one too, and so do ranks that
 * would send a later one. A chunk is complete log2(n) - 1 rounds after it begins. The total is n -
 * 2 + log2(n) rounds, which is the bound.
 */
#include "straggler.h"

/* Chunk g ends at rank g, so it begins at the rank after it. */
static void write_others(struct writer *writer)
{
	uint32_t others = writer->opts->ranks - 1;

	for (uint32_t round = 0; round + 1 < others; round++) {
		lm_write_round(writer);
		for (uint32_t rank = 0; rank < others; rank++) {
			lm_write_transfer(writer, rank, (rank + 1) % others, true);
			lm_write_run(writer, (rank + others - 1 - round) % others, 1);
		}
	}
}

/* ----------------------------------------------------------- powers of two */

struct field {
	uint32_t ranks, degree;
	uint32_t *power; /* element of a rank */
	uint32_t *rank; /* of an element; the late rank is 0 */
	bool *have; /* rank * chunks + chunk: complete there */
};

/* By a primitive polynomial of the degree; its bits from 1 on. */
static void make_powers(struct field *field)
{
	static const uint32_t polynomials[] = { 0,    0x3,   0x7,   0xb,   0x13,  0x25,	 0x43,
						0x89, 0x11d, 0x211, 0x409, 0x805, 0x1053 };
	uint32_t element = 1;

	for (uint32_t rank = 0; rank + 1 < field->ranks; rank++) {
		field->power[rank] = element;
		field->rank[element] = rank;
		element *= 2;
		if (element & field->ranks)
			element ^= polynomials[field->degree];
	}
	field->power[field->ranks - 1] = 0;
	field->rank[0] = field->ranks - 1;
}

/* The chunk that a rank sends in the round; below 0: it has none yet. */
static int64_t chunk_sent(const struct field *field, uint32_t rank, uint32_t round)
{
	uint32_t others = field->ranks - 1;
	int64_t chunk = round;

	if (rank != others) {
		/* Divide by a^(round - degree), so that the base is that of polynomials. */
		uint32_t shifted = (rank + others + field->degree - round % others) % others;

		chunk += __builtin_ctz(field->power[shifted]) - (int64_t)field->degree;
	}
	return chunk < others ? chunk : others - 1;
}

static void write_meeting(struct field *field, struct writer *writer, uint32_t src, uint32_t dst,
			  uint32_t round)
{
	uint32_t others = field->ranks - 1;
	int64_t chunk = chunk_sent(field, src, round);
	bool *has;

	if (chunk < 0)
		return;
	has = &field->have[(size_t)dst * others + (size_t)chunk];
	if (*has)
		return;
	*has = true;
	lm_write_transfer(writer, src, dst, false);
	lm_write_run(writer, (uint32_t)chunk, 1);
}

static void write_field_round(struct field *field, struct writer *writer, uint32_t round)
{
	uint32_t others = field->ranks - 1, met = field->power[round % others];

	lm_write_round(writer);
	if (round < others) {
		write_first(writer, round);
		field->have[(size_t)round * others + round] = true;
		field->have[(size_t)others * others + round] = true;
	}
	for (uint32_t src = 0; src < field->ranks; src++) {
		uint32_t dst = field->rank[field->power[src] ^ met];

		if (round >= others || (src != others && dst != others))
			write_meeting(field, writer, src, dst, round);
	}
}

static void write_powers_of_two(struct writer *writer)
{
	uint32_t ranks = writer->opts->ranks;
	struct field field = { .ranks = ranks, .degree = (uint32_t)__builtin_ctz(ranks) };

	field.power = lm_writer_alloc(writer, ranks, sizeof(*field.power));
	field.rank = lm_writer_alloc(writer, ranks, sizeof(*field.rank));
	field.have = lm_writer_alloc(writer, (size_t)ranks * ranks, sizeof(*field.have));
	if (field.have) {
		make_powers(&field);
		for (uint32_t round = 0; round + 2 < ranks + field.degree; round++)
			write_field_round(&field, writer, round);
	}
	free(field.power);
	free(field.rank);
	free(field.have);
}

void lm_write_straggler(struct writer *writer)
{
	uint32_t ranks = writer->opts->ranks;
	bool power = !(ranks & (ranks - 1));

	if (ranks < 2 || (!power && ranks > STRAGGLER_SEARCHED)) {
		writer->error =
			lm_fail(writer->collective->ctx, EINVAL,
				"StragglAR requires 2 to %d ranks, or a power of two, not %u",
				STRAGGLER_SEARCHED, ranks);
		return;
	}
	for (uint32_t chunk = 0; chunk + 1 < ranks; chunk++)
		lm_write_chunk(writer, MORPH_EACH_RANK, MORPH_EACH_RANK,
			       share_of(writer->opts->bytes, ranks - 1));
	write_others(writer);
	if (power)
		write_powers_of_two(writer);
	else
		lm_write_straggler_search(writer);
}

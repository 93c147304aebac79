// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * All-to-all: chunk source * ranks + distance goes from the source to the rank at that distance. A
 * chunk without bytes ends where it begins.
 *
 * Most algorithms treat ranks alike: the hops depend only on the distance. Such an algorithm is a
 * table of the hop for each round and each distance.
 */
#include "algorithms.h"

struct shifts {
	uint32_t ranks;
	uint32_t *hops; /* by distance, in this round; 0: no hop */
	uint32_t *gone; /* by distance, in earlier rounds */
	uint32_t *first; /* by hop: first index in sorted, and the end */
	uint32_t *sorted; /* distances, by hop */
};

static uint64_t bytes_of(const struct morph_collective_opts *opts, uint32_t src, uint32_t dst)
{
	if (opts->matrix)
		return opts->matrix[(size_t)src * opts->ranks + dst];
	return share_of(opts->bytes, opts->ranks);
}

static bool moves(const struct writer *writer, uint32_t chunk)
{
	const struct chunk *it = &writer->collective->chunks.list[chunk];

	return it->begins != it->ends;
}

static void write_chunks(struct writer *writer)
{
	const struct morph_collective_opts *opts = writer->opts;

	for (uint32_t src = 0; src < opts->ranks; src++)
		for (uint32_t distance = 0; distance < opts->ranks; distance++) {
			uint32_t dst = (src + distance) % opts->ranks;
			bool nothing = opts->matrix && !bytes_of(opts, src, dst);

			lm_write_chunk(writer, src, nothing ? src : dst, bytes_of(opts, src, dst));
		}
}

/* ------------------------------------------------------------ alike for all */

/* The digit of the distance that belongs to the round, for the radix. */
static uint32_t bruck_hop(const struct writer *writer, uint32_t distance, uint32_t round)
{
	uint32_t radix = writer->opts->radix ? writer->opts->radix : 2;
	uint64_t power = 1;

	for (; round && power < writer->opts->ranks; round--)
		power *= radix;
	return power < writer->opts->ranks ? (uint32_t)(distance / power % radix * power) : 0;
}

/* The digit in balanced ternary of the distance in the shorter direction; -1 is a hop backwards. */
static uint32_t ternary_hop(const struct writer *writer, uint32_t distance, uint32_t round)
{
	int32_t ranks = (int32_t)writer->opts->ranks, left = (int32_t)distance, power = 1, digit;

	if (left > ranks / 2)
		left -= ranks;
	for (;; round--, power *= 3) {
		digit = ((left % 3) + 4) % 3 - 1;
		if (!round)
			return (uint32_t)((digit * power + ranks) % ranks);
		left = (left - digit) / 3;
	}
}

static uint32_t hop(const struct writer *writer, uint32_t distance, uint32_t round)
{
	switch (writer->opts->algorithm) {
	case MORPH_BRUCK:
		return bruck_hop(writer, distance, round);
	case MORPH_TERNARY:
		return ternary_hop(writer, distance, round);
	case MORPH_SHIFT:
		return distance == round + 1 ? distance : 0;
	default:
		return round ? 0 : distance;
	}
}

/* Send chunks of equal hops together. False: all have arrived. */
static bool next_round(struct shifts *shifts, const struct writer *writer, uint32_t round)
{
	uint32_t *place = shifts->first;
	bool some = false;

	memset(place, 0, (shifts->ranks + 1) * sizeof(*place));
	for (uint32_t distance = 0; distance < shifts->ranks; distance++) {
		shifts->gone[distance] =
			(shifts->gone[distance] + shifts->hops[distance]) % shifts->ranks;
		some |= shifts->gone[distance] != distance;
		shifts->hops[distance] = hop(writer, distance, round);
		place[shifts->hops[distance] + 1]++;
	}
	for (uint32_t at = 0; at < shifts->ranks; at++)
		place[at + 1] += place[at];
	for (uint32_t distance = 0; distance < shifts->ranks; distance++)
		shifts->sorted[place[shifts->hops[distance]]++] = distance;
	memmove(place + 1, place, shifts->ranks * sizeof(*place));
	return some;
}

/* The rank at a distance in hops. */
static void write_hop(struct shifts *shifts, struct writer *writer, uint32_t rank, uint32_t far)
{
	uint32_t ranks = shifts->ranks;

	lm_write_transfer(writer, rank, (rank + far) % ranks, false);
	for (uint32_t at = shifts->first[far]; at < shifts->first[far + 1]; at++) {
		uint32_t distance = shifts->sorted[at];
		uint32_t src = (rank + ranks - shifts->gone[distance]) % ranks;

		if (moves(writer, src * ranks + distance))
			lm_write_run(writer, src * ranks + distance, 1);
	}
}

static void write_rounds(struct shifts *shifts, struct writer *writer)
{
	for (uint32_t round = 0; next_round(shifts, writer, round); round++) {
		lm_write_round(writer);
		for (uint32_t far = 1; far < shifts->ranks; far++)
			for (uint32_t rank = 0;
			     rank < shifts->ranks && shifts->first[far] < shifts->first[far + 1];
			     rank++)
				write_hop(shifts, writer, rank, far);
	}
}

void lm_write_shifts(struct writer *writer)
{
	struct shifts shifts = { .ranks = writer->opts->ranks };
	uint32_t *memory = lm_writer_alloc(writer, 4 * ((size_t)shifts.ranks + 1), sizeof(*memory));

	write_chunks(writer);
	if (!writer->error) {
		shifts.hops = memory;
		shifts.gone = memory + (shifts.ranks + 1);
		shifts.first = memory + 2 * (shifts.ranks + 1);
		shifts.sorted = memory + 3 * (shifts.ranks + 1);
		write_rounds(&shifts, writer);
	}
	free(memory);
}

/* ----------------------------------------------------------------- in pairs */

/*
 * The partner of a rank in a round. For powers of two, the round is the exclusive or of their
 * numbers. Otherwise, partners' numbers add up to the round, modulo an odd number, as in a
 * tournament. A rank that would meet itself meets the last one if the number of ranks is even, or
 * rests.
 */
static uint32_t opponent(uint32_t ranks, uint32_t rank, uint32_t round)
{
	uint32_t odd = ranks % 2 ? ranks : ranks - 1, other;

	if (!(ranks & (ranks - 1)))
		return rank ^ (round + 1);
	if (rank == odd)
		return round * (odd + 1) / 2 % odd;
	other = (round + odd - rank) % odd;
	return other == rank && odd < ranks ? odd : other;
}

void lm_write_pairwise(struct writer *writer)
{
	uint32_t ranks = writer->opts->ranks, rounds = ranks % 2 ? ranks : ranks - 1;

	write_chunks(writer);
	for (uint32_t round = 0; !writer->error && round < rounds; round++) {
		lm_write_round(writer);
		for (uint32_t rank = 0; rank < ranks; rank++) {
			uint32_t other = opponent(ranks, rank, round);
			uint32_t chunk = rank * ranks + (other + ranks - rank) % ranks;

			lm_write_transfer(writer, rank, other, false);
			if (other != rank && moves(writer, chunk))
				lm_write_run(writer, chunk, 1);
		}
	}
}

/* -------------------------------------------------------------- all-gather */

/* Each rank collects the data of the ranks before it, and sends it by powers of the radix. */
void lm_write_bruck_gather(struct writer *writer)
{
	uint32_t ranks = writer->opts->ranks;
	uint32_t radix = writer->opts->radix ? writer->opts->radix : 2;

	lm_write_shares(writer);
	for (uint64_t have = 1; have < ranks; have *= radix) {
		lm_write_round(writer);
		for (uint64_t far = have; far < ranks && far < have * radix; far += have) {
			uint64_t count = have < ranks - far ? have : ranks - far;

			for (uint32_t rank = 0; rank < ranks; rank++) {
				lm_write_transfer(writer, rank, (uint32_t)((rank + far) % ranks),
						  false);
				for (uint32_t at = 0; at < count; at++)
					lm_write_run(
						writer,
						(uint32_t)((rank + 1 + ranks - count + at) % ranks),
						1);
			}
		}
	}
}

/* ------------------------------------------------------------------ direct */

static void write_pairs(struct writer *writer, bool reduce)
{
	uint32_t ranks = writer->opts->ranks;

	lm_write_round(writer);
	for (uint32_t src = 0; src < ranks; src++)
		for (uint32_t dst = 0; dst < ranks; dst++) {
			if (src == dst)
				continue;
			lm_write_transfer(writer, src, dst, reduce);
			lm_write_run(writer, reduce ? dst : src, 1);
		}
}

static void write_star(struct writer *writer)
{
	const struct morph_collective_opts *opts = writer->opts;

	lm_write_chunk(writer, opts->root, MORPH_EACH_RANK, opts->bytes);
	lm_write_round(writer);
	for (uint32_t rank = 0; rank < opts->ranks; rank++) {
		if (rank == opts->root)
			continue;
		lm_write_transfer(writer, opts->root, rank, false);
		lm_write_run(writer, 0, 1);
	}
}

void lm_write_direct(struct writer *writer)
{
	if (writer->opts->kind == MORPH_ALL_TO_ALL) {
		lm_write_shifts(writer);
		return;
	}
	if (writer->opts->kind == MORPH_BROADCAST) {
		write_star(writer);
		return;
	}
	lm_write_shares(writer);
	if (scatters(writer))
		write_pairs(writer, true);
	if (gathers(writer))
		write_pairs(writer, false);
}

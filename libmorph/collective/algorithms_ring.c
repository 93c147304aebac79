// SPDX-License-Identifier: LGPL-2.1-or-later
/* Rings along dimensions. One dimension is the plain ring. */
#include "algorithms.h"

struct torus {
	uint32_t extent[3];
	uint32_t stride[3]; /* from a rank to its successor in the dimension */
	uint32_t block[3]; /* chunks with equal coordinates up to this dimension */
};

/* The two factors above 1 that differ least, the larger first. */
static bool even_sides(uint32_t product, uint32_t sides[2])
{
	uint32_t least = 0;

	for (uint32_t side = 2; side <= product / side; side++)
		if (product % side == 0)
			least = side;
	if (!least)
		return false;
	sides[0] = product / least;
	sides[1] = least;
	return true;
}

/* Rings with these extents have the fewest rounds: the sum of the extents, less one for each. */
bool lm_even_torus(uint32_t ranks, uint32_t dimensions, uint32_t extent[3])
{
	uint32_t least = UINT32_MAX, sides[2];

	if (dimensions == 2)
		return even_sides(ranks, extent);
	for (uint32_t third = 2; third * third <= ranks / third; third++) {
		if (ranks % third || !even_sides(ranks / third, sides) ||
		    sides[0] + sides[1] + third >= least)
			continue;
		least = sides[0] + sides[1] + third;
		memcpy(extent, sides, sizeof(sides));
		extent[2] = third;
	}
	return least < UINT32_MAX;
}

/* Use the given extents, or the most even ones. False: none exist, which is noted. */
static bool find_extents(struct torus *torus, struct writer *writer)
{
	const struct morph_collective_opts *opts = writer->opts;
	uint32_t extent[3];

	*torus = (struct torus){ .extent = { opts->ranks, 1, 1 } };
	if (opts->algorithm != MORPH_RINGS)
		return true;
	memcpy(extent, opts->extent, sizeof(extent));
	if (!extent[0] && !extent[1] && !extent[2] && opts->ranks > 1 &&
	    !lm_even_torus(opts->ranks, 2, extent)) {
		writer->error = lm_fail(writer->collective->ctx, EINVAL,
					"no torus of two dimensions has %u ranks", opts->ranks);
		return false;
	}
	for (int dim = 0; dim < 3; dim++)
		torus->extent[dim] = extent[dim] ? extent[dim] : 1;
	return true;
}

/* Return false, noted. */
static bool torus_init(struct torus *torus, struct writer *writer)
{
	const struct morph_collective_opts *opts = writer->opts;
	uint64_t stride = 1;

	if (!find_extents(torus, writer))
		return false;
	for (int dim = 0; dim < 3; dim++) {
		torus->stride[dim] = (uint32_t)stride;
		stride *= torus->extent[dim];
		if (stride > opts->ranks)
			break;
		torus->block[dim] = opts->ranks / (uint32_t)stride;
	}
	if (stride == opts->ranks)
		return true;
	writer->error = lm_fail(writer->collective->ctx, EINVAL,
				"extents of %u, %u and %u do not make %u ranks", opts->extent[0],
				opts->extent[1], opts->extent[2], opts->ranks);
	return false;
}

static uint32_t coordinate(const struct torus *torus, uint32_t rank, int dim)
{
	return rank / torus->stride[dim] % torus->extent[dim];
}

/*
 * The first chunk that the rank's ring along the dimension moves for position @at. The first
 * dimension is the most significant, so chunks with common coordinates are one run.
 */
static uint32_t first_of(const struct torus *torus, uint32_t rank, int dim, uint32_t at)
{
	uint32_t first = at * torus->block[dim];

	while (dim--)
		first += coordinate(torus, rank, dim) * torus->block[dim];
	return first;
}

static void write_chunks(struct writer *writer, const struct torus *torus)
{
	uint32_t ranks = writer->opts->ranks;

	for (uint32_t chunk = 0; chunk < ranks; chunk++) {
		uint32_t rank = 0;

		for (int dim = 0; dim < 3; dim++)
			rank += chunk / torus->block[dim] % torus->extent[dim] * torus->stride[dim];
		lm_write_chunk(writer, scatters(writer) ? MORPH_EACH_RANK : rank,
			       gathers(writer) ? MORPH_EACH_RANK : rank,
			       share_of(writer->opts->bytes, ranks));
	}
}

/* Each rank sends to the next: in a gathering its own data first, then what it received last. */
static void write_dimension(struct writer *writer, const struct torus *torus, int dim, bool reduce)
{
	uint32_t extent = torus->extent[dim];

	for (uint32_t round = 0; round + 1 < extent; round++) {
		lm_write_round(writer);
		for (uint32_t rank = 0; rank < writer->opts->ranks; rank++) {
			uint32_t at = coordinate(torus, rank, dim), next = (at + 1) % extent;
			uint32_t sent = (at + extent - round - reduce) % extent;
			uint32_t base = rank - at * torus->stride[dim];

			lm_write_transfer(writer, rank, base + next * torus->stride[dim], reduce);
			lm_write_run(writer, first_of(torus, rank, dim, sent), torus->block[dim]);
		}
	}
}

void lm_write_rings(struct writer *writer)
{
	struct torus torus;

	if (!torus_init(&torus, writer))
		return;
	write_chunks(writer, &torus);
	for (int dim = 0; dim < 3 && scatters(writer); dim++)
		write_dimension(writer, &torus, dim, true);
	for (int dim = 3; dim-- && gathers(writer);)
		write_dimension(writer, &torus, dim, false);
}

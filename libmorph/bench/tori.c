// SPDX-License-Identifier: LGPL-2.1-or-later
/* Slices that are tori. */
#include <string.h>

#include "../internal/planner.h"
#include "tori.h"

/* Four to a server, in a 2x2x4 grid of servers: profiles/README.md. */
uint32_t tori_chip(const uint32_t place[3])
{
	uint32_t server = 4 * place[2] + 2 * (place[1] / 2) + place[0] / 2;

	return 4 * server + 2 * (place[1] & 1) + (place[0] & 1);
}

void tori_place(uint32_t chip, uint32_t place[3])
{
	uint32_t server = chip / 4;

	place[0] = 2 * (server & 1) + (chip & 1);
	place[1] = 2 * (server >> 1 & 1) + (chip >> 1 & 1);
	place[2] = server >> 2;
}

/* Rank of a position in a box, row by row. */
static uint32_t rank_of(const struct tori_box *box, const uint32_t inside[3])
{
	return (inside[2] * box->extent[1] + inside[1]) * box->extent[0] + inside[0];
}

/* Light the circuits of one rank. The port depends on the direction. */
static int light_rank(struct morph_coverage *coverage, uint32_t slice, const struct tori_box *box,
		      const uint32_t inside[3])
{
	for (uint32_t way = 0; way < 6; way++) {
		uint32_t axis = way / 2, extent = box->extent[axis], there[3];
		int error;

		/* In a ring of two both directions are the same. */
		if (extent == 1 || (extent == 2 && (way & 1) != inside[axis]))
			continue;
		memcpy(there, inside, sizeof(there));
		there[axis] = (inside[axis] + (way & 1 ? extent - 1 : 1)) % extent;
		MORPH_OPTS(morph_coverage_circuit, circuit, .src = rank_of(box, inside),
			   .dst = rank_of(box, there), .plane = way + 1);
		error = morph_coverage_add_circuit(coverage, slice, &circuit);
		if (error)
			return error;
	}
	return 0;
}

int tori_light(struct morph_coverage *coverage, const struct tori_box *box)
{
	uint32_t count = box->extent[0] * box->extent[1] * box->extent[2];
	uint32_t chips[TORI_CHIPS] = { 0 }, inside[3];
	int slice, error = 0;

	for (uint32_t rank = 0; rank < count; rank++) {
		uint32_t place[3] = {
			box->at[0] + rank % box->extent[0],
			box->at[1] + rank / box->extent[0] % box->extent[1],
			box->at[2] + rank / box->extent[0] / box->extent[1],
		};

		chips[rank] = tori_chip(place);
	}
	slice = morph_coverage_add_slice(coverage, chips, count);
	for (uint32_t rank = 0; slice >= 0 && !error && rank < count; rank++) {
		inside[0] = rank % box->extent[0];
		inside[1] = rank / box->extent[0] % box->extent[1];
		inside[2] = rank / box->extent[0] / box->extent[1];
		error = light_rank(coverage, (uint32_t)slice, box, inside);
	}
	return error ? error : slice;
}

int tori_light_ring(struct morph_coverage *coverage)
{
	uint32_t chips[TORI_CHIPS];
	int slice, error = 0;

	for (uint32_t chip = 0; chip < TORI_CHIPS; chip++)
		chips[chip] = chip;
	slice = morph_coverage_add_slice(coverage, chips, TORI_CHIPS);
	for (uint32_t chip = 0; slice >= 0 && !error && chip < TORI_CHIPS; chip++) {
		MORPH_OPTS(morph_coverage_circuit, circuit, .src = chip,
			   .dst = (chip + 1) % TORI_CHIPS, .lanes = 1);

		error = morph_coverage_add_circuit(coverage, (uint32_t)slice, &circuit);
	}
	return error ? error : slice;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Circuits from each rank to its neighbours. */
#include "repro.h"
#include "shapes.h"

/*
 * The position of a rank in a row or a column. In a ring, it is at most two positions from the
 * next.
 */
static uint32_t place(const struct shape *shape, uint32_t at, uint32_t size)
{
	if (!shape->folded)
		return at;
	return 2 * at < size ? 2 * at : 2 * (size - at) - 1;
}

static bool is_joined(const struct shape *shape, uint32_t from, uint32_t to)
{
	uint32_t x = from % shape->sizes[0], y = from / shape->sizes[0];
	uint32_t to_x = to % shape->sizes[0], to_y = to / shape->sizes[0];
	uint32_t size = y == to_y ? shape->sizes[0] : shape->sizes[1];
	uint32_t at = place(shape, y == to_y ? x : y, size);
	uint32_t to_at = place(shape, y == to_y ? to_x : to_y, size);

	if (from == to || (x != to_x && y != to_y))
		return false;
	if (shape->wraps)
		return (at + 1) % size == to_at || (shape->both && (to_at + 1) % size == at);
	return at + 1 == to_at || (shape->both && to_at + 1 == at);
}

void shape_light(struct planned *planned, const struct shape *shape, uint32_t ports)
{
	struct morph_collective *collective = planned->collective;
	uint32_t ranks = shape->sizes[0] * shape->sizes[1];
	int wrong = morph_collective_begin(collective, ranks);

	wrong |= morph_collective_add_round(collective) < 0;
	for (uint32_t at = 0; at < ranks * ranks; at++) {
		int chunk;

		if (!is_joined(shape, at / ranks, at % ranks))
			continue;
		chunk = morph_collective_add_chunk(collective, at / ranks, at % ranks, 1);
		wrong |= morph_collective_add_transfer(collective, at / ranks, at % ranks, false) <
			 0;
		wrong |= morph_collective_add_run(collective, (uint32_t)chunk, 1) < 0;
	}
	if (wrong)
		repro_wrong("cannot light a %s", shape->what);
	planned_light(planned, ports);
}

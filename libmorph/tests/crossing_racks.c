// SPDX-License-Identifier: LGPL-2.1-or-later
#include "crossing_racks.h"

void hold_server(struct bench *bench, uint32_t rack, uint32_t server, uint32_t slice)
{
	for (uint32_t at = 0; at < 4; at++)
		assert_int_equal(morph_ledger_hold(bench->ledger, RACK_ALL * rack + 4 * server + at,
						   slice),
				 0);
}

/* Each server is free with the given probability. Returns the number of free servers. */
uint32_t fill(struct bench *bench, uint64_t *seed, uint32_t free_percent)
{
	uint32_t count = 0;

	for (uint32_t server = 0; server < RACKS * SERVERS; server++) {
		bool free = random_below(seed, 100) < free_percent;

		hold_server(bench, server / SERVERS, server % SERVERS, free ? 0 : 1);
		count += free;
	}
	return count;
}

void ask_crossing(struct bench *bench, uint32_t x, uint32_t y, uint32_t z)
{
	assert_int_equal(morph_request_set_tier(bench->request, MORPH_TIER_CROSSING), 0);
	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_TORUS, x, y, z), 0);
}

bool in_second(uint32_t accelerator)
{
	return accelerator >= RACK_ALL;
}

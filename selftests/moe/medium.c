// SPDX-License-Identifier: GPL-2.0-only
/*
 * The medium carries tokens only over light, as the receivers of the simulated hardware show it. It
 * asks neither the core nor the senders. Consecutive steps have different wavelengths, so light of
 * the earlier step cannot count as light of the current one.
 */
#include <stdio.h>
#include <string.h>

#include "moe.h"

bool medium_shines(const struct world *world, uint32_t src, uint32_t dst, uint64_t position)
{
	unsigned int planes = world->sim.info.planes, port, wanted;
	unsigned long long lit, locked;
	char path[96], line[512];
	bool shines = false;
	FILE *hardware;

	snprintf(path, sizeof(path), "/sys/kernel/debug/morph_sim/%s/hardware", world->sim.name);
	hardware = fopen(path, "r");
	if (!hardware)
		return false;
	wanted = world->accelerator[dst] * planes + plane_of(world, src);
	while (!shines && fgets(line, sizeof(line), hardware))
		if (sscanf(line, "receiver %u lit %llx locked %llx", &port, &lit, &locked) == 3 &&
		    port == wanted)
			shines = lit & locked & 1ull << lane_of(position);
	fclose(hardware);
	return shines;
}

void medium_carry(struct world *world, uint32_t src, uint32_t dst, uint64_t position,
		  struct inbox *into, const struct item *items, uint32_t count)
{
	/* The light must be there before and after the transfer. */
	bool before = medium_shines(world, src, dst, position);

	memcpy(into->items, items, count * sizeof(*items));
	if (before && medium_shines(world, src, dst, position)) {
		into->count = count;
		world->carried[src] += count;
	} else {
		into->count = 0;
		world->lost[src] += count;
	}
}

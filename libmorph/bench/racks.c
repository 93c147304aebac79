// SPDX-License-Identifier: LGPL-2.1-or-later
/* The generator of fragmented racks. */
#include <string.h>

#include "racks.h"
#include "random.h"

#define SIZES 4 /* of slices in equal shares: 1, 2, 4 and 8 servers */
#define FREE_PERMILLE 300

static uint16_t site(uint32_t x, uint32_t y, uint32_t z)
{
	return (uint16_t)(1U << (4 * z + 2 * y + x));
}

/* The aligned boxes of a size: their number, and one of them. */
static const uint32_t boxes[RACK_SIZES] = { 16, 8, 4, 2, 1 };

uint16_t racks_box(uint32_t size, uint32_t at)
{
	uint32_t x = at & 1, y = at >> 1 & 1, z = at >> 2;
	uint16_t sites = 0;

	if (at >= boxes[size])
		return 0;
	switch (size) {
	case 0:
		return site(x, y, z);
	case 1:
		return site(x, y, 2 * z) | site(x, y, 2 * z + 1);
	case 2:
		for (z = 0; z < 4; z++)
			sites |= site(x, y, z);
		return sites;
	case 3:
		for (z = 0; z < 4; z++)
			sites |= site(at, 0, z) | site(at, 1, z);
		return sites;
	default:
		return UINT16_MAX;
	}
}

void racks_begin(struct racks *racks, uint64_t seed)
{
	memset(racks, 0, sizeof(*racks));
	racks->random = seed;
}

/* A number for a slice: a new one, or that of an ended slice. */
static uint32_t new_slice(struct racks *racks)
{
	if (racks->slices_count < RACK_SLICES)
		return racks->slices_count++;
	for (uint32_t at = 0;; at++)
		if (racks->slices[at].gone)
			return at;
}

uint32_t racks_take(struct racks *racks, uint32_t size)
{
	for (uint32_t rack = 0; rack < RACKS; rack++) {
		for (uint32_t at = 0; at < boxes[size]; at++) {
			uint16_t sites = racks_box(size, at);
			uint32_t slice;

			if (racks->taken[rack] & sites)
				continue;
			slice = new_slice(racks);
			racks->taken[rack] |= sites;
			racks->slices[slice] = (struct racks_slice){ .rack = rack, .sites = sites };
			return slice;
		}
	}
	return RACKS_NONE;
}

void racks_give_back(struct racks *racks, uint32_t at)
{
	struct racks_slice *slice = &racks->slices[at];

	slice->gone = true;
	racks->taken[slice->rack] &= (uint16_t)~slice->sites;
}

uint32_t racks_free_sites(const struct racks *racks)
{
	uint32_t free = 0;

	for (uint32_t rack = 0; rack < RACKS; rack++)
		free += net_count(racks_free(racks, rack));
	return free;
}

void racks_vacate(struct racks *racks, uint32_t free_permille)
{
	while (racks_free_sites(racks) * 1000 < free_permille * RACKS * RACK_SITES) {
		uint32_t at = random_below(&racks->random, racks->slices_count);

		if (!racks->slices[at].gone)
			racks_give_back(racks, at);
	}
}

void racks_fill(struct racks *racks, uint64_t seed, uint32_t free_permille)
{
	uint8_t sizes[RACK_SLICES];
	uint32_t count = 0;

	racks_begin(racks, seed);
	for (uint8_t size = 0; size < SIZES; size++)
		for (uint32_t at = 0; at < (RACK_SLICES / SIZES) >> size; at++)
			sizes[count++] = size;
	for (uint32_t left = count; left > 1; left--) {
		uint32_t other = random_below(&racks->random, left);
		uint8_t size = sizes[left - 1];

		sizes[left - 1] = sizes[other];
		sizes[other] = size;
	}
	for (uint32_t at = 0; at < count; at++)
		racks_take(racks, sizes[at]);
	racks_vacate(racks, free_permille);
}

uint16_t racks_free(const struct racks *racks, uint32_t rack)
{
	return (uint16_t)~racks->taken[rack];
}

bool racks_has_box(const struct racks *racks, uint32_t rack)
{
	for (uint32_t at = 0; at < boxes[SIZES - 1]; at++)
		if (!(racks->taken[rack] & racks_box(SIZES - 1, at)))
			return true;
	return false;
}

/* Neighbours in the ring of four levels, and in the rings of two, which are one link. */
static uint16_t neighbours(uint32_t at)
{
	uint32_t x = at & 1, y = at >> 1 & 1, z = at >> 2;

	return site(!x, y, z) | site(x, !y, z) | site(x, y, (z + 1) % 4) | site(x, y, (z + 3) % 4);
}

static void open_links(uint32_t links, struct net *net)
{
	lm_net_init(net, RACK_SITES);
	for (uint32_t from = 0; from < RACK_SITES; from++)
		for (uint32_t left = neighbours(from); left; left &= left - 1)
			lm_net_set_room(net, from, net_first(left), links);
}

/* Slices take links, each in one of the bands. */
static void take_links(const struct racks *racks, uint32_t rack, uint32_t bands, struct net *nets)
{
	for (uint32_t at = 0; at < racks->slices_count; at++) {
		const struct racks_slice *slice = &racks->slices[at];

		if (slice->gone || slice->rack != rack)
			continue;
		for (uint32_t sites = slice->sites; sites; sites &= sites - 1) {
			uint32_t from = net_first(sites);
			uint32_t near = neighbours(from) & slice->sites;

			for (; near; near &= near - 1) {
				uint32_t to = net_first(near);
				uint64_t chance = (rack * RACK_SITES + from) * RACK_SITES + to;

				lm_net_take(&nets[random_below(&chance, bands)], from, to, 1);
			}
		}
	}
}

void racks_net(const struct racks *racks, uint32_t rack, uint32_t links, struct net *net)
{
	open_links(links, net);
	take_links(racks, rack, 1, net);
}

void racks_nets(const struct racks *racks, uint32_t rack, uint32_t bands, struct net *nets)
{
	for (uint32_t band = 0; band < bands; band++)
		open_links(1, &nets[band]);
	take_links(racks, rack, bands, nets);
}

void racks_walk_begin(struct racks_walk *walk, uint64_t seed)
{
	walk->seed = seed;
	walk->rack = RACKS;
}

uint32_t racks_walk_next(struct racks_walk *walk)
{
	for (;;) {
		if (walk->rack == RACKS) {
			racks_fill(&walk->racks, walk->seed++, FREE_PERMILLE);
			walk->rack = 0;
		}
		for (; walk->rack < RACKS; walk->rack++) {
			uint16_t free = racks_free(&walk->racks, walk->rack);

			if (net_count(free) >= 8 && !racks_has_box(&walk->racks, walk->rack))
				return walk->rack++;
		}
	}
}

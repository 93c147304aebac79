// SPDX-License-Identifier: LGPL-2.1-or-later
/* Tori that fill racks: rack beside rack, joined face to face. */
#include <string.h>

#include "crossing.h"

/* Whether every accelerator of the rack's torus is free. */
static bool is_free(const struct morph_ledger *ledger, uint32_t rack)
{
	const uint32_t *extent = ledger->sites.racks[rack].extent;

	for (uint32_t z = 0; z < extent[2]; z++)
		for (uint32_t y = 0; y < extent[1]; y++)
			for (uint32_t x = 0; x < extent[0]; x++)
				if (!lm_ledger_free(ledger, sites_accelerator(&ledger->sites, rack,
									      x, y, z)))
					return false;
	return true;
}

/* The number of free links of a rack. */
static uint32_t count_links(const struct crossing *crossing, uint32_t rack)
{
	uint32_t links = 0;

	for (uint32_t group = 0; group < crossing->first_gate; group++)
		links += crossing->pod.room[rack][group];
	return links;
}

/* Choose the @count free racks with most links; among equals in the order of ledger->rack_order. */
static bool choose_racks(const struct morph_ledger *ledger, uint32_t count,
			 uint32_t racks[CROSS_RACKS])
{
	const struct sites *sites = &ledger->sites;
	uint32_t links[CROSS_RACKS], chosen = 0;

	for (uint32_t at = 0; at < sites->racks_count; at++) {
		uint32_t rack = ledger->rack_order[at];
		uint32_t has = count_links(ledger->crossing, rack), to = chosen;

		if (memcmp(sites->racks[rack].extent, sites->racks[0].extent,
			   sizeof(sites->racks[0].extent)) ||
		    !is_free(ledger, rack))
			continue;
		for (; to && links[to - 1] < has; to--) {
			links[to] = links[to - 1];
			racks[to] = racks[to - 1];
		}
		links[to] = has;
		racks[to] = rack;
		chosen++;
	}
	return chosen >= count;
}

/* How many racks a request fills along each axis in this orientation. 0: it does not fill racks. */
static uint32_t count_racks(const struct morph_request *request, const uint32_t extent[3],
			    const uint8_t turn[3], uint32_t tiles[3])
{
	uint32_t count = 1;

	for (uint32_t axis = 0; axis < 3; axis++) {
		if (!extent[turn[axis]] || request->extent[axis] % extent[turn[axis]])
			return 0;
		tiles[axis] = request->extent[axis] / extent[turn[axis]];
		count *= tiles[axis];
	}
	return count;
}

static cross_server server_of(const struct sites *sites, uint32_t rack, const uint32_t cell[3])
{
	uint32_t accelerator = sites_accelerator(sites, rack, cell[0], cell[1], cell[2]);
	uint32_t host = sites->graph->accelerators[accelerator].host;

	return (cross_server)(rack * CROSS_SEATS + sites->host_seat[host]);
}

/* The servers of the parts in this orientation. False if a part would lie in several servers. */
static bool lay(const struct morph_ledger *ledger, const struct morph_request *request,
		const uint8_t turn[3], const uint32_t tiles[3], const uint32_t *racks,
		cross_server *servers)
{
	const struct sites *sites = &ledger->sites;
	const uint32_t *extent = sites->racks[0].extent;
	const uint16_t *parts = ledger->crossing->parts;
	bool laid[CROSS_SLOTS] = { false };

	for (uint32_t rank = 0; rank < request->ranks; rank++) {
		const uint32_t at[3] = { rank % request->extent[0],
					 rank / request->extent[0] % request->extent[1],
					 rank / request->extent[0] / request->extent[1] };
		uint32_t cell[3], tile = 0;
		cross_server server;

		for (uint32_t axis = 3; axis--;) {
			cell[turn[axis]] = at[axis] % extent[turn[axis]];
			tile = tile * tiles[axis] + at[axis] / extent[turn[axis]];
		}
		server = server_of(sites, racks[tile], cell);
		if (laid[parts[rank]] && servers[parts[rank]] != server)
			return false;
		laid[parts[rank]] = true;
		servers[parts[rank]] = server;
	}
	return true;
}

bool lm_crossing_whole(const struct morph_ledger *ledger, const struct morph_request *request,
		       cross_server *servers)
{
	static const uint8_t turns[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
					     { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
	uint32_t racks[CROSS_RACKS], tiles[3];

	for (uint32_t turn = 0; turn < ARRAY_SIZE(turns); turn++) {
		uint32_t count =
			count_racks(request, ledger->sites.racks[0].extent, turns[turn], tiles);

		if (count && count <= CROSS_RACKS && choose_racks(ledger, count, racks) &&
		    lay(ledger, request, turns[turn], tiles, racks, servers))
			return true;
	}
	return false;
}

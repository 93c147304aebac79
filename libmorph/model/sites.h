/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A fabric as placement sees it: servers with their accelerators, racks of servers, and the fibres
 * between servers. A walk of the model's graph finds them once; they never change.
 */
#ifndef LM_PLAN_SITES_H
#define LM_PLAN_SITES_H

#include "optics.h"

#define STRAND_GUIDES \
	5 /* limit: two stages of a circuit switch at either end, and the fibre between */
#define RACK_ACCELERATORS 256 /* limit */

/* One hop from a server to another: a fibre, or several with circuit switches between. */
struct strand {
	u32 from, to; /* hosts */
	u32 from_tile, to_tile; /* accelerators of the tiles where it begins and ends */
	u32 guides_count;
	u32 guides[STRAND_GUIDES]; /* coded as in struct optics_hop */
	u32 elements[STRAND_GUIDES]; /* between the guides: elements outside tiles */
	u32 states[STRAND_GUIDES];
};

/* The position of an accelerator in the torus of its rack. */
struct cell {
	u8 x, y, z;
};

struct rack {
	u32 hosts_first, hosts_count; /* in sites.rack_hosts */
	u32 extent[3]; /* of the torus of its accelerators, without spares */
};

struct sites {
	const struct optics_graph *graph;
	u32 racks_count;
	struct rack *racks;
	u32 *rack_hosts; /* hosts, rack by rack */
	u32 *host_rack;
	u32 *host_seat; /* number of the server in its rack */
	u32 *members_first; /* by host, and one more */
	u32 *members; /* accelerators, host by host */
	struct cell *cells; /* by accelerator */
	u32 *grid_first; /* by rack */
	u32 *grid; /* accelerators by cell: (z * extent y + y) * extent x + x */
	u32 strands_count;
	u32 *strands_first; /* by host that they leave, and one more */
	struct strand *strands; /* by host that they leave, then by host that they reach */
};

static inline u32 sites_accelerator(const struct sites *sites, u32 rack, u32 x, u32 y, u32 z)
{
	const u32 *extent = sites->racks[rack].extent;

	return sites->grid[sites->grid_first[rack] + (z * extent[1] + y) * extent[0] + x];
}

static inline bool sites_spare(const struct sites *sites, u32 accelerator)
{
	return sites->graph->accelerators[accelerator].flags & MORPH_ACCELERATOR_F_SPARE;
}

/*
 * Find all of this in O(fabric). Servers joined by single fibres are a rack. Returns 0, -ENOMEM, or
 * -E2BIG if a rack has more servers or accelerators than placement supports.
 */
int lm_sites_build(struct sites *sites, const struct optics_graph *graph);
void lm_sites_free(struct sites *sites);

/* Range of the hops from one host to another in the sorted list. O(log of its length). */
struct strand_range {
	u32 first, end;
};

struct strand_range lm_strands_between(const struct sites *sites, u32 from, u32 to);

#endif /* LM_PLAN_SITES_H */

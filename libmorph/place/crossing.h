/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tier across racks: a fabric's racks as a pod that slices are built in, and plans of them. */
#ifndef LM_PLAN_CROSSING_H
#define LM_PLAN_CROSSING_H

#include "cross.h"
#include "place.h"

/* Memory of the tier, and what it knows of a fabric. */
struct crossing {
	/* Of the fabric. */
	bool possible; /* racks are alike and not too large, and switches join their faces */
	uint8_t from[CROSS_GROUPS], to[CROSS_GROUPS]; /* seats that a group joins */
	uint32_t first_face; /* groups below join neighbours of a rack */
	uint32_t first_gate; /* those below are links of faces, those from here on seats */
	uint32_t limits[CROSS_SEATS]; /* light that gets into a seat at once, or out of it */
	uint32_t out[CROSS_RACKS][CROSS_GROUPS]; /* fibre out of a face, coded as in a strand */
	uint32_t in[CROSS_RACKS][CROSS_GROUPS]; /* the one into it */
	uint64_t leads[CROSS_RACKS][CROSS_GROUPS]; /* racks that both lead to */
	/* Of a search. */
	bool own; /* light keeps to tiles that nobody else has */
	uint16_t parts[MOST_RANKS], places[MOST_RANKS];
	uint16_t units[CROSS_SLOTS * CROSS_SLOTS]; /* circuits from part to part: from * parts + to */
	uint64_t given[CROSS_EDGES][2]; /* links that circuits of the plan have, there and back */
	struct cross_pod pod;
	struct cross_shape shape;
	struct cross cross;
};

/* Find the faces of a fabric's racks, and how much light gets into servers: O(strands). 0 or -ENOMEM. */
int lm_crossing_find(struct crossing *crossing, const struct sites *sites);

/*
 * What is free of a fabric, and the servers with @least ranks' room. @airy: no more than three
 * quarters of the light that gets into a server at most. O(servers * (ways from one to another) +
 * fibres of faces).
 */
void lm_crossing_room(const struct morph_ledger *ledger, const struct morph_request *request,
		      uint32_t least, bool airy, struct crossing *crossing);

/*
 * Servers, by part, of a torus that fills racks: those racks with most links of which all is free,
 * the parts where they are in the torus of the rack. So are slices of TPU v4 laid out (Jouppi et
 * al., ISCA 2023). False where there are not so many racks, or it does not fill them. After
 * lm_crossing_room(). O(racks squared + ranks).
 */
bool lm_crossing_whole(const struct morph_ledger *ledger, const struct morph_request *request,
		       cross_server *servers);

/* How many servers have so many accelerators free. */
void lm_crossing_rooms(const struct morph_ledger *ledger, uint32_t with[RACK_ACCELERATORS + 1]);

/* A plan that has its accelerators and fibres is feasible, and its figures are these. */
void lm_crossing_verdict(const struct morph_ledger *ledger, struct morph_plan *plan);

/*
 * What lm_cross_build() or lm_cross_lay() has found as a plan. -EAGAIN where that does not go through
 * the switches, for something inside is unusable; then crossing->pod leads there no more. -ENOMEM.
 */
int lm_crossing_fill(struct morph_ledger *ledger, struct morph_plan *plan);

static inline uint32_t crossing_host(const struct sites *sites, cross_server server)
{
	return sites
		->rack_hosts[sites->racks[server / CROSS_SEATS].hosts_first + server % CROSS_SEATS];
}

#endif /* LM_PLAN_CROSSING_H */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tier across racks: the racks of a fabric as a pod, and plans of the slices built there. */
#ifndef LM_PLAN_CROSSING_H
#define LM_PLAN_CROSSING_H

#include "cross.h"
#include "place.h"

/* Memory of the tier, and its knowledge of a fabric. */
struct crossing {
	/* Of the fabric. */
	bool possible; /* racks are alike and small enough, and switches join their faces */
	uint8_t from[CROSS_GROUPS], to[CROSS_GROUPS]; /* positions that a group joins */
	uint32_t first_face; /* groups below join neighbours within a rack */
	uint32_t first_gate; /* groups below join faces; groups from here on are gates */
	uint32_t limits[CROSS_SEATS]; /* light that enters or leaves a server at once */
	uint32_t out[CROSS_RACKS][CROSS_GROUPS]; /* fibre out of a face, coded with its direction */
	uint32_t in[CROSS_RACKS][CROSS_GROUPS]; /* the fibre into it */
	uint64_t leads[CROSS_RACKS][CROSS_GROUPS]; /* racks that both fibres lead to */
	/* Of a search. */
	bool own; /* light uses only tiles without another tenant */
	uint16_t parts[MOST_RANKS], places[MOST_RANKS];
	uint16_t units[CROSS_SLOTS * CROSS_SLOTS]; /* circuits between parts: from * parts + to */
	uint64_t given[CROSS_EDGES][2]; /* links that circuits of the plan use, in each direction */
	struct cross_pod pod;
	struct cross_shape shape;
	struct cross cross;
};

/*
 * Find the faces of a fabric's racks, and the light that enters servers. O(fibres). 0 or -ENOMEM.
 */
int lm_crossing_find(struct crossing *crossing, const struct sites *sites);

/*
 * Set the free links of a fabric, and the servers with @least free accelerators. @airy: use at most
 * three quarters of the light that enters a server. O(servers * (fibres to another one) + fibres of
 * faces).
 */
void lm_crossing_room(const struct morph_ledger *ledger, const struct morph_request *request,
		      uint32_t least, bool airy, struct crossing *crossing);

/*
 * The server of each part of a torus that fills racks. It takes the free racks with most links, and
 * gives each part its position in the rack's torus, as slices of TPU v4 are laid out (Jouppi et
 * al., ISCA 2023). False if too few racks are free or the torus does not fill racks. Call it after
 * lm_crossing_room(). O(racks squared + ranks).
 */
bool lm_crossing_whole(const struct morph_ledger *ledger, const struct morph_request *request,
		       cross_server *servers);

/* Set with[n] to the number of servers with n free accelerators. */
void lm_crossing_rooms(const struct morph_ledger *ledger, uint32_t with[RACK_ACCELERATORS + 1]);

/* Mark a plan that has accelerators and fibres as feasible, and set its figures. */
void lm_crossing_verdict(const struct morph_ledger *ledger, struct morph_plan *plan);

/*
 * Make a plan of the result of lm_cross_build() or lm_cross_lay(). -EAGAIN if an unusable element
 * inside a switch blocks a path; crossing->pod then lacks this lead. -ENOMEM.
 */
int lm_crossing_fill(struct morph_ledger *ledger, struct morph_plan *plan);

static inline uint32_t crossing_host(const struct sites *sites, cross_server server)
{
	return sites
		->rack_hosts[sites->racks[server / CROSS_SEATS].hosts_first + server % CROSS_SEATS];
}

#endif /* LM_PLAN_CROSSING_H */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The request that both libraries share. The client library makes and changes it; planners read it.
 * A field that is added or moved changes LM_REQUEST_LAYOUT, so that a planner refuses the requests
 * of a client library of another version.
 */
#ifndef LM_UTIL_REQUEST_H
#define LM_UTIL_REQUEST_H

#include "base.h"

#define MOST_CIRCUITS 65536
#define BANDS 16 /* wavelengths of a fibre, at most */
#define LM_REQUEST_LAYOUT 1

struct rank_pair {
	uint16_t src, dst;
};

struct morph_request {
	uint32_t layout; /* LM_REQUEST_LAYOUT */
	struct morph_ctx *ctx;
	/* What planners read. */
	uint32_t ranks;
	uint32_t extent[3]; /* of a torus; 0 where it is none */
	uint32_t circuits_count, circuits_room;
	struct rank_pair *circuits;
	uint64_t mbps, steps;
	uint32_t tier, objective, transit, servers;
	uint32_t bands; /* wavelengths of a fibre, of which a circuit takes one */
	bool simplex;
	/* What the kernel reads, with ranks and transit. */
	bool counted; /* the caller has set ranks */
	bool reserved;
	bool lends;
	uint32_t *accelerators; /* NULL: any */
	uint32_t *spares;
	uint32_t spares_count;
	uint32_t failover;
	uint32_t spare_policy;
	uint32_t mode;
	uint32_t controller; /* that the slice is assigned to, over netlink; 0: none */
	char name[MORPH_NAME_BYTES];
};

#endif /* LM_UTIL_REQUEST_H */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two ends of edges, of two kernels or of one. These fakes account for lanes as
 * kmod/core/slice/lanes.c does. A test makes them refuse requests, or lets another controller take
 * lanes first.
 */
#ifndef EDGE_SITES_H
#define EDGE_SITES_H

#include "fake.h"

#define LANES 0xffffull /* of a guide */
#define OURS 7 /* controller */
#define OTHERS 8
#define SLICE 9

/* A kernel's state of one end. */
struct site {
	struct fake *fake;
	struct morph_ctx *ctx;
	const char *uuid, *peer_uuid; /* NULL: the edge leads to none */
	uint32_t fabric, edge, guide, peer_edge;
	uint64_t epoch; /* of the controller */
	uint64_t ours; /* reserved */
	uint64_t bears; /* epoch of that */
	uint64_t theirs; /* reserved or lit by other tenants */
	uint64_t lit; /* by our slice */
	uint64_t prepared; /* by a change of our slice that is not lit */
	uint64_t had; /* before the call */
	uint32_t decides; /* about the slice that has the edge */
	uint32_t conflicts;
	bool marked; /* the guide is out of use */
	bool slice_gone;
};

extern struct site sites[2];

/* Requests to both sites. */
struct site_requests {
	uint32_t wanted; /* by the call that is made */
	uint32_t count; /* requests since then */
	uint32_t refused_at, refused_until; /* and all between the two */
	int error;
	const struct site *first; /* that is asked for lanes */
	/* requests to reserve at the second site, each of which may be overtaken */
	uint32_t reserved;
	uint32_t overtaken; /* number of these, from the first one on */
};

extern struct site_requests requests;

/* The number of lanes; the lanes of an end that can be reserved. */
uint32_t edge_weight(uint64_t lanes);
uint64_t site_may_have(const struct site *site);
/* No end may give up earlier lanes until both ends have the wanted lanes. */
void sites_check_kept(void);
/* The kernel's part, for fake->request. */
void sites_answer(struct fake *fake, const struct nlmsghdr *request);

#endif /* EDGE_SITES_H */

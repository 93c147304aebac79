/* SPDX-License-Identifier: GPL-2.0-only */
/* Half circuits: those that leave at an edge of the fabric, or come in at one. */
#ifndef MORPH_CORE_HALF_H
#define MORPH_CORE_HALF_H

#include "route.h"
#include "slice.h"

/* Half a circuit: the route leaves at an edge, or comes in at one. */
static inline bool morph_route_leaves(const struct morph_fabric *fabric,
				      const struct morph_route *route)
{
	return optics_end_is_edge(fabric->graph, route->path.rx);
}

static inline bool morph_route_comes_in(const struct morph_fabric *fabric,
					const struct morph_route *route)
{
	return optics_end_is_edge(fabric->graph, route->path.tx);
}

/* Where a circuit's end is now: an accelerator, or OPTICS_EDGE | edge, which is the same bit. */
static inline u32 morph_end_place(const struct morph_slice *slice, u32 rank)
{
	BUILD_BUG_ON(MORPH_RANK_EDGE != OPTICS_EDGE);
	return rank & MORPH_RANK_EDGE ? rank : slice->ranks[rank].accelerator;
}

/* The plane of a path's end; an edge has none. */
static inline u32 morph_end_plane(const struct optics_graph *graph, u32 end)
{
	return optics_end_is_edge(graph, end) ? MORPH_PLANE_ANY : end % graph->params.planes;
}

/* Lasers and elements of half a circuit that leaves: lit, or dark, as far as can be seen here. */
int morph_half_verify_leaving(struct morph_fabric *fabric, struct morph_txn *txn,
			      const struct morph_route *route, bool lit);
/* Is all dark that came in for a slice over edges? The device works, no lock held. */
int morph_half_verify_dark(struct morph_slice *slice);

#endif /* MORPH_CORE_HALF_H */

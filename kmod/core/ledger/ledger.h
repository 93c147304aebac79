/* SPDX-License-Identifier: GPL-2.0-only */
/* Resources that are held: routes with their claims, and half circuits. */
#ifndef MORPH_CORE_LEDGER_LEDGER_H
#define MORPH_CORE_LEDGER_LEDGER_H

#include "core/base/base.h"
#include "core/slice/slice.h"

/* Position of a route on one guide's list. */
struct morph_link {
	struct hlist_node node;		/* head: fabric->guide_routes[guide] */
	struct morph_route *route;
	u64 lanes_held;			/* while shadowed or held: what of the claim is ours */
	bool element_held;
	bool element_marked;		/* while held: OPTICS_HELD is ours, not to be joined */
};

enum morph_route_role {
	MORPH_ROUTE_IDLE,	/* claims nothing */
	MORPH_ROUTE_LIVE,	/* claims all of its path */
	MORPH_ROUTE_SHADOW,	/* claims what the route in its place has left of it */
	MORPH_ROUTE_PROTECTION,	/* claims nothing; a protection counts on it */
	MORPH_ROUTE_HELD,	/* of a reserved protection: claims what the slice's others left */
};

/* A path with the bookkeeping of its claims. Under fabric->lock. */
struct morph_route {
	struct optics_path path;	/* .hops points to hops below */
	struct optics_verdict verdict;
	struct morph_circuit *circuit;	/* NULL for a route of nobody's */
	struct morph_protection *protection;	/* for MORPH_ROUTE_PROTECTION and _HELD */
	u32 owner;			/* slice that edges are claimed for */
	u8 role;			/* enum morph_route_role */
	bool whole;			/* shadow: nothing of it was taken over */
	u64 tx_held, rx_held;		/* shadow, held: lanes of the ports that are ours */
	u64 lit_from_ns;		/* CLOCK_MONOTONIC: its laser was told to shine then */
	u32 capacity;
	struct morph_user *user;	/* charged; its slice's, which outlives it. Or NULL */
	struct morph_link *links;	/* capacity, behind the hops */
	struct optics_hop hops[];	/* capacity */
};

/* ------------------------------------------------------------------ claim.c */

struct morph_route *morph_route_alloc(u32 capacity, gfp_t gfp);
/* Memory of a route, as it is charged. */
size_t morph_route_bytes(u32 capacity);
void morph_route_free(struct morph_route *route);
/* One that the slice has kept, or NULL; and keep one that claims nothing. fabric->lock held. */
struct morph_route *morph_route_reuse(struct morph_slice *slice, u32 capacity);
void morph_route_keep(struct morph_slice *slice, struct morph_route *route);
/* Claim, checked against the ledger; or take back what was held before, unchecked. */
int morph_route_claim(struct morph_fabric *fabric, struct morph_route *route,
		      struct optics_refusal *why);
void morph_route_reclaim(struct morph_fabric *fabric, struct morph_route *route);
/* Claim what others have left of a route that was released: it may be wanted back. */
void morph_route_shadow(struct morph_fabric *fabric, struct morph_route *route);
/* Give back what is claimed, whole or as a shadow. */
void morph_route_release(struct morph_fabric *fabric, struct morph_route *route);
/*
 * A protection's route claims what nobody else has of it, and keeps others from joining elements
 * that it will have to turn. Returns the lanes of which it has something. Unhold undoes it.
 */
u32 morph_route_hold(struct morph_fabric *fabric, struct morph_route *route);
void morph_route_unhold(struct morph_fabric *fabric, struct morph_route *route);
/* Find routes and protections by guide. */
void morph_route_list(struct morph_fabric *fabric, struct morph_route *route);
void morph_route_unlist(struct morph_route *route);

/* Half circuits: those that leave at an edge of the fabric, or come in at one. */

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

#endif /* MORPH_CORE_LEDGER_LEDGER_H */

/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * optics: what is a legal circuit, and what does it cost.
 *
 * Pure C that builds both into morph.ko and into libmorph. No allocation, lock,
 * log, clock, global, recursion or floating point; stack frames stay under 512
 * bytes. The caller passes all memory and serialises: a graph is immutable and
 * may be shared freely, everything else is used by one caller at a time.
 * Functions return 0 or a negative errno; where a struct optics_refusal is
 * passed it then says which rule was broken, by what, and by how much.
 *
 *   graph.c     the profile, checked and turned into arrays       (immutable)
 *   blob.c      its head, checked as hostile input
 *   bound.c     what is left of a path at least, computed beforehand
 *   ledger.c    who pins which element state, which lanes are used (mutable)
 *   route.c     the router that failover needs: what to ask, what to answer
 *   search.c    its label search, towards the receiver
 *   toll.c      what is left from each place on the way, to direct it
 *   frontier.c  heap and table of both
 *   budget.c    loss, power, leakage
 *   validate.c  the independent judge: uses the types below and budget.c,
 *               never the router or the ledger
 *   text.c      reasons as sentences and errnos
 */
#ifndef MORPH_OPTICS_H
#define MORPH_OPTICS_H

#include "profile.h"
#include "shim.h"

#define OPTICS_NONE		0xffffffffu
#define OPTICS_EDGE		0x80000000u	/* | edge: no accelerator, but where light leaves */
#define OPTICS_MAX_HOPS		64u	/* guides in one path */
#define OPTICS_MAX_MDB		1000000	/* "no light": 1000 dB */

/* ------------------------------------------------------------------ refusals */

/*
 * enum optics_reason - which rule a request or a blob broke
 *
 * The numbers are those of enum morph_reason in uapi/linux/morph.h; a build-time
 * assertion in the core keeps them equal.
 */
enum optics_reason {
	OPTICS_OK = 0,
	OPTICS_BAD_PROFILE = 1,		/* -EINVAL: the blob; detail is a byte offset */
	OPTICS_BAD_PORT = 2,		/* -EINVAL: no such port, or the same at both ends */
	OPTICS_BAD_PATH = 3,		/* -EINVAL: guides and states do not join up */
	OPTICS_NO_ROUTE = 4,		/* -EHOSTUNREACH: proven, whoever holds what */
	OPTICS_BLOCKED = 5,		/* -EBUSY: routes exist, others hold them */
	OPTICS_GAVE_UP = 6,		/* -EAGAIN: the step budget ran out */
	OPTICS_LANES = 7,		/* -ENOSPC: too few lanes free; have, need */
	OPTICS_ELEMENT_PINNED = 8,	/* -EBUSY: pinned in another state */
	OPTICS_UNUSABLE = 9,		/* -EIO: failed or quarantined hardware */
	OPTICS_MARGIN = 10,		/* -ERANGE: margin; have, need in mdb */
	OPTICS_OVERLOAD = 11,		/* -ERANGE: too bright; have, need in mdbm */
	OPTICS_ISOLATION = 12,		/* -EXDEV: leakage; have, need in mdb */
	OPTICS_TRANSIT = 13,		/* -EXDEV: through a foreign tile, policy is own */
	OPTICS_PORT_BUSY = 14,		/* -EBUSY: a transmit or receive port is in use */
};

/* What a refusal points at; numbers are those of enum morph_part in the uapi. */
enum optics_part {
	OPTICS_PART_NONE = 0,
	OPTICS_PART_ACCELERATOR = 1,
	OPTICS_PART_LASER = 2,		/* index: accelerator * planes + plane */
	OPTICS_PART_RECEIVER = 3,	/* index: accelerator * planes + plane */
	OPTICS_PART_ELEMENT = 4,
	OPTICS_PART_GUIDE = 5,
	OPTICS_PART_EDGE = 6,
};

/**
 * struct optics_refusal - why not
 * @reason: enum optics_reason
 * @part: enum optics_part: the kind of thing that stands in the way
 * @index: which one
 * @item: index of the offending path in a set, or OPTICS_NONE
 * @have: what there is, in the unit of the reason
 * @need: what was needed
 */
struct optics_refusal {
	u32 reason;
	u32 part;
	u32 index;
	u32 item;
	s64 have;
	s64 need;
};

/* --------------------------------------------------------------------- graph */

/* One end of a guide, seen from the guide. */
struct optics_end {
	u32 index;	/* element; accelerator for TX and RX; edge */
	u8 port;	/* its port; plane for TX and RX */
	u8 type;	/* enum morph_end_type */
	u16 reserved;
};

struct optics_guide {
	struct optics_end end[2];
	u16 class;	/* enum morph_guide_class */
	u16 loss_mdb;
};

struct optics_kind {
	char name[16];
	u8 ports;
	u8 park;
	u16 states;
	u32 first_state;	/* into optics_graph.states */
	u32 loss_mdb;
	u32 extinction_mdb;
	u16 leaks[MORPH_MAX_PORTS];	/* port p: mask of ports some state joins to p */
	u16 side;			/* ports joined to others only, as those to these; or 0 */
	u64 joining;			/* mask of the states that join something */
};

struct optics_element {
	u32 kind;
	u32 tile;		/* accelerator, or OPTICS_NONE */
	u32 first_port;		/* into optics_graph.port_guide */
	u32 place;		/* see bound.c */
};

/* From one place to the next, as the router's bound sees it; see bound.c. */
struct optics_arc {
	u32 from;	/* place */
	u32 next;	/* arc to the same place, or OPTICS_NONE */
	s32 out;	/* cost up to the guide */
	s32 in;		/* cost of the guide, and the slack behind it */
};

struct optics_accelerator {
	u32 host;
	u16 x, y, z;
	u16 flags;
};

/* The numbers of the profile's header in host byte order; see profile.h. */
struct optics_params {
	char name[32];
	u32 checksum;
	u32 wavelengths;
	u32 planes;
	s32 laser_mdbm;
	s32 sensitivity_mdbm;
	s32 overload_mdbm;
	u32 margin_mdb;
	u32 isolation_mdb;
	s32 dark_mdbm;
	u32 window_mdb;
	u32 drift_mdb;
	u64 lane_mbps;
	u64 settle_ns;
	u64 relock_ns;
	u64 write_fixed_ns;
	u64 write_each_ns;
	u64 deadline_ns;
	u64 drift_period_ns;
};

/*
 * struct optics_graph - a checked profile as arrays
 *
 * Lives in one block of memory that the caller gave. Immutable once built.
 * A guide seen from a port is coded guide * 2 + end, where end is the end of the
 * guide that is attached to the port.
 */
struct optics_graph {
	struct optics_params params;
	u64 all_lanes;			/* mask of the lanes that exist */
	u32 kinds_count;
	u32 elements_count;
	u32 guides_count;
	u32 accelerators_count;
	u32 hosts_count;
	u32 edges_count;
	u32 ports_count;		/* accelerators_count * planes */
	u32 ends_count;			/* ports_count + edges_count */
	u32 places_count;
	u32 arcs_count;
	const struct optics_kind *kinds;
	const struct morph_profile_state *states;
	const struct optics_element *elements;
	const u32 *port_guide;		/* by element.first_port + port, or OPTICS_NONE */
	const struct optics_guide *guides;
	const struct optics_accelerator *accelerators;
	const struct morph_profile_host *hosts;
	const struct morph_profile_edge *edges;	/* still little-endian */
	const u32 *tx_guide;		/* by end of a circuit, see below; coded */
	const u32 *rx_guide;
	const s32 *slack;		/* by coded guide: for its far end; see bound.c */
	const struct optics_arc *arcs;
	const u32 *place_arcs;		/* by place: first arc that leads to it, or OPTICS_NONE */
};

/*
 * Where a circuit starts or ends: a port, accelerator * planes + plane, or past the
 * ports an edge, ports_count + edge. Light comes in at an edge as from a transmitter
 * and leaves there as into a receiver, so that half a circuit is a path like any.
 */
static inline bool optics_end_is_edge(const struct optics_graph *graph, u32 end)
{
	return end >= graph->ports_count;
}

static inline u32 optics_edge_end(const struct optics_graph *graph, u32 edge)
{
	return graph->ports_count + edge;
}

/* An end as an index of the ledger's owners: an accelerator, or past them an edge. */
static inline u32 optics_end_place(const struct optics_graph *graph, u32 end)
{
	if (optics_end_is_edge(graph, end))
		return graph->accelerators_count + (end - graph->ports_count);
	return end / graph->params.planes;
}

/* Least and greatest power per lane at which light passes an edge. */
static inline s32 optics_edge_least(const struct optics_graph *graph, u32 edge)
{
	return (s16)le16_to_cpu(graph->edges[edge].least_mdbm);
}

static inline s32 optics_edge_most(const struct optics_graph *graph, u32 edge)
{
	return (s16)le16_to_cpu(graph->edges[edge].most_mdbm);
}

/**
 * optics_graph_bytes() - check a profile's head and tell the memory its graph needs
 * @blob: the profile, 8-byte aligned
 * @bytes: its size
 * @refusal: filled on failure: OPTICS_BAD_PROFILE and the byte offset in @have
 *
 * Checks magic, version, sizes, checksum, limits and section bounds, so that no
 * later step can read outside the blob. O(bytes), for the checksum.
 *
 * Return: the size of the block for optics_graph_build(), or -EINVAL.
 */
s64 optics_graph_bytes(const void *blob, u64 bytes, struct optics_refusal *refusal);

/**
 * optics_graph_build() - check a profile whole and build its graph
 * @block: memory for the graph, 8-byte aligned, at least optics_graph_bytes() bytes
 * @blob: the profile; not referred to after return
 * @bytes: its size
 * @refusal: filled on failure
 *
 * O(size of the profile).
 *
 * Return: the graph at the head of @block, or NULL with @refusal filled.
 */
const struct optics_graph *optics_graph_build(void *block, const void *blob, u64 bytes,
					      struct optics_refusal *refusal);

/* The port that @state of @element joins to @port, or MORPH_PORT_NONE. O(1). */
static inline u8 optics_joined(const struct optics_graph *graph, u32 element, u32 state, u32 port)
{
	const struct optics_kind *kind = &graph->kinds[graph->elements[element].kind];

	return graph->states[kind->first_state + state].joins[port];
}

static inline u32 optics_park_state(const struct optics_graph *graph, u32 element)
{
	return graph->kinds[graph->elements[element].kind].park;
}

/* ---------------------------------------------------------------------- path */

/**
 * struct optics_hop - one guide of a path, and the element that follows it
 * @guide: the guide, coded guide * 2 + the end at which light enters it
 * @element: the element at its far end, or OPTICS_NONE after the last guide
 * @state: state of that element which lets the light through
 */
struct optics_hop {
	u32 guide;
	u32 element;
	u32 state;
};

/**
 * struct optics_path - light from a transmit port to a receive port, or half of its way
 * @tx: accelerator * planes + plane of the transmitter; or the edge it comes in at
 * @rx: accelerator * planes + plane of the receiver; or the edge it leaves at
 * @lanes: mask of the wavelengths it uses, the same on every guide
 * @loss_mdb: total loss, as optics_path_loss() computes it
 * @hops_count: entries of @hops in use
 * @hops: in the direction of light; memory belongs to the caller
 */
struct optics_path {
	u32 tx;
	u32 rx;
	u64 lanes;
	u32 loss_mdb;
	u32 hops_count;
	struct optics_hop *hops;
};

/* -------------------------------------------------------------------- ledger */

/* Health marks in optics_state: what may not be used by a new path. */
#define OPTICS_UNHEALTHY	0x1u	/* failed or quarantined */
#define OPTICS_CORDONED		0x2u	/* kept free by the operator */
/* Not of health: who holds an element so may want to turn it, and nobody else may join it. */
#define OPTICS_HELD		0x10u

/*
 * struct optics_state - the mutable state of a fabric, plain arrays
 *
 * Each array is the caller's; optics_state_bytes() and optics_state_init() lay
 * them out in one block. "Pinned" counts claims: a claimed element may only be
 * joined in its present state.
 */
struct optics_state {
	const struct optics_graph *graph;
	u8 *element_state;	/* state claimed, or last claimed, for the element */
	u8 *element_marks;	/* OPTICS_UNHEALTHY, OPTICS_CORDONED, OPTICS_HELD */
	u32 *element_pins;	/* claims on it; 0: free to take any state */
	u8 *guide_marks;
	u64 *guide_lanes;	/* lanes claimed */
	u64 *guide_reserved;	/* lanes, claimed or not, that no new path may have */
	const u64 *lifted;	/* by guide: which of these may be had all the same; or NULL */
	u8 tolerated;		/* marks that do not keep away who is there already */
	u64 *tx_lanes;		/* by end: lanes claimed on the transmitter, or coming in */
	u64 *rx_lanes;		/* by end: lanes claimed on the receiver, or going out */
	u64 *tx_dead;		/* by end: lanes whose laser may not be used */
	u64 *rx_dead;		/* by end: lanes whose receiver may not be used */
	u64 *tx_judged;		/* by end: of the validator alone, see struct optics_view */
	u32 *owner;		/* by accelerator, then by edge: the slice that holds it, 0: none */
	u32 *standing;		/* by place / 2: elements whose present state joins ports */
	u64 elements_visited;	/* gone on from or claimed: cost can be seen to follow change */
	u64 lanes_visited;	/* wavelengths looked at, guide by guide */
};

/* Bytes that optics_state_init() needs for @graph. */
u64 optics_state_bytes(const struct optics_graph *graph);

/* Lay out a state in @block (8-byte aligned): all parked, free, healthy. O(fabric), once. */
struct optics_state *optics_state_init(void *block, const struct optics_graph *graph);

/* Lanes of a guide that no new path may have. */
static inline u64 optics_guide_taken(const struct optics_state *state, u32 guide)
{
	u64 reserved = state->guide_reserved[guide];

	if (state->lifted)
		reserved &= ~state->lifted[guide];
	return state->guide_lanes[guide] | reserved;
}

/* Set the present state of an element; nobody writes optics_state.element_state but by this. */
static inline void optics_set_state(struct optics_state *state, u32 element, u32 to)
{
	const struct optics_element *at = &state->graph->elements[element];
	u64 joining = state->graph->kinds[at->kind].joining;
	u32 from = state->element_state[element];

	state->standing[at->place / 2] += (u32)(joining >> to & 1) - (u32)(joining >> from & 1);
	state->element_state[element] = (u8)to;
}

/**
 * optics_claim() - claim all that a path uses
 * @state: the ledger
 * @path: the path, already validated
 * @refusal: filled on failure; then nothing is claimed
 *
 * All or nothing. Elements are pinned in the state that the path names, lanes are
 * marked used on each guide and at both ports. O(hops), but for comparing the
 * path with itself.
 *
 * Return: 0, -EBUSY, -ENOSPC or -EIO.
 */
int optics_claim(struct optics_state *state, const struct optics_path *path,
		 struct optics_refusal *refusal);

/* Give back what optics_claim() took. Never fails. O(hops). */
void optics_release(struct optics_state *state, const struct optics_path *path);

/* ---------------------------------------------------------------------- route */

#define OPTICS_ROUTE_STEPS	16384u	/* default step budget */

/**
 * struct optics_route_request - a path wanted
 * @tx_accelerator: where light starts: an accelerator, or OPTICS_EDGE | edge
 * @rx_accelerator: where it shall arrive: likewise, but not both at an edge
 * @tx_planes: mask of transmit ports that may be used; an edge has none
 * @rx_planes: mask of receive ports that may be used; an edge has none
 * @lanes_allowed: mask of wavelengths that may be used
 * @lanes_count: how many are needed
 * @owner: the slice that asks; elements on tiles of other owners are foreign
 * @transit_own: only tiles of @owner, unowned tiles and no tile may be crossed
 * @avoid_guides: guides not to use, sorted ascending
 * @avoid_elements: elements not to use, sorted ascending
 * @avoid_guides_count: entries of @avoid_guides
 * @avoid_elements_count: entries of @avoid_elements
 * @ignore_claims: route as if nobody held anything, so that no tile is foreign:
 *                 tells "blocked" from "impossible"
 * @steps: step budget of one search, 0 for OPTICS_ROUTE_STEPS, at most 2^20; the bound
 *         has half as many to itself
 */
struct optics_route_request {
	u32 tx_accelerator;
	u32 rx_accelerator;
	u64 tx_planes;
	u64 rx_planes;
	u64 lanes_allowed;
	u32 lanes_count;
	u32 owner;
	bool transit_own;
	bool ignore_claims;
	const u32 *avoid_guides;
	const u32 *avoid_elements;
	u32 avoid_guides_count;
	u32 avoid_elements_count;
	u32 steps;
};

/* Bytes of work space for a search of @steps steps; follows the budget, not the fabric. */
u64 optics_route_bytes(u32 steps);

/**
 * optics_route() - find the path of least loss that is free now
 * @state: the ledger; not changed but for its counters
 * @request: what is wanted
 * @work: work space of optics_route_bytes(steps) bytes, 8-byte aligned; contents don't matter
 * @path: filled on success; @path->hops must have room for OPTICS_MAX_HOPS
 * @steps_used: steps taken, for statistics; may be NULL
 * @refusal: filled on failure
 *
 * A* (Hart, Nilsson and Raphael 1968) over (guide, direction) labels that carry the
 * set of wavelengths still free, with first-fit wavelength assignment. An element is
 * crossed in any state if it is unpinned, else only in the state it is pinned in. The
 * path has the least loss, and among equal loss it switches the fewest elements; among
 * these any may be taken. The bound that directs the search is that of the fabric
 * empty and healthy, see bound.c; the answer does not depend on it.
 *
 * O(steps log steps) whatever the size of the fabric: a step is a label placed, or a
 * place that the bound was computed for. Where the best paths are free, labels are
 * those along them and beside them. A path found needs one search, seldom two; to say
 * why there is none takes up to six. On failure the contents of @path are undefined.
 *
 * Reasons on failure: OPTICS_NO_ROUTE and OPTICS_BLOCKED are proven; of a blocked
 * request @refusal names what stands in the way on the best path that there would
 * be, of OPTICS_UNUSABLE the hardware but for which there would be one.
 *
 * Return: 0, -EHOSTUNREACH, -EBUSY, -ENOSPC, -EAGAIN (gave up), -EIO or -EINVAL.
 */
int optics_route(struct optics_state *state, const struct optics_route_request *request,
		 void *work, struct optics_path *path, u32 *steps_used,
		 struct optics_refusal *refusal);

/* --------------------------------------------------------------------- budget */

/* Sum of two powers given in mdbm: 10 log10(10^(a/10) + 10^(b/10)), by table, within 5 mdb. */
s32 optics_power_sum(s32 a_mdbm, s32 b_mdbm);

/* Total loss of the path's guides and elements, mdb. O(hops). */
u32 optics_path_loss(const struct optics_graph *graph, const struct optics_path *path);

/*
 * Power at the end of the path, per lane, mdbm: from a healthy laser, or the least that
 * the edge lets in where it starts at one; and how much more it may be.
 */
s32 optics_path_power(const struct optics_graph *graph, const struct optics_path *path);
u32 optics_path_spread(const struct optics_graph *graph, const struct optics_path *path);

/**
 * struct optics_leak - light that reaches a receiver, or an edge, by leakage
 * @rx: receive port, or the edge it leaves at
 * @tx: transmit port it came from, or the edge
 * @lanes: wavelengths of it that matter
 * @power_mdbm: power per lane at the receiver
 */
struct optics_leak {
	u32 rx;
	u32 tx;
	u64 lanes;
	s32 power_mdbm;
};

typedef void (*optics_leak_fn)(void *context, const struct optics_leak *leak);

/**
 * optics_leaks_from() - where light of a transmit port leaks to
 * @graph: the fabric
 * @element_state: by element, the state to assume
 * @path: a lit path
 * @floor_mdbm: ignore what is weaker
 * @emit: called for every receive port that light of @path reaches by leaving the
 *        path at one or two elements
 * @context: handed to @emit
 *
 * O(hops * ports * length of the stray paths).
 */
void optics_leaks_from(const struct optics_graph *graph, const u8 *element_state,
		       const struct optics_path *path, s32 floor_mdbm, optics_leak_fn emit,
		       void *context);

/**
 * optics_leaks_into() - which transmit ports would leak into a receiver
 * @graph: the fabric
 * @element_state: by element, the state to assume
 * @path: the path whose receiver it is
 * @floor_mdbm: ignore what is weaker
 * @emit: called for every transmit port
 * @context: handed to @emit
 *
 * The same walk from the receiving end: optics is reciprocal. @emit gets every
 * transmit port from which light would come, at the power of a healthy laser, in
 * all lanes of the path; the caller knows which of them are lit.
 */
void optics_leaks_into(const struct optics_graph *graph, const u8 *element_state,
		       const struct optics_path *path, s32 floor_mdbm, optics_leak_fn emit,
		       void *context);

/**
 * optics_leaks_at() - which transmit ports would leak into a receiver as things are
 * @graph: the fabric
 * @element_state: by element, the state it is in
 * @rx: the receiver
 * @lanes: handed through to @emit
 * @floor_mdbm: ignore what is weaker
 * @emit: called for every transmit port
 * @context: handed to @emit
 *
 * As optics_leaks_into(), for the light that reaches @rx through @element_state, so
 * that the path need not be known.
 */
void optics_leaks_at(const struct optics_graph *graph, const u8 *element_state, u32 rx,
		     u64 lanes, s32 floor_mdbm, optics_leak_fn emit, void *context);

/*
 * The transmit port, or edge, whose light @element_state leads to @rx, and the power
 * per lane at which a healthy laser's light arrives, or the least that comes in;
 * OPTICS_NONE and -OPTICS_MAX_MDB when nothing is joined to it. O(hops).
 */
s32 optics_signal_at(const struct optics_graph *graph, const u8 *element_state, u32 rx, u32 *tx);

/* ------------------------------------------------------------------- validate */

/**
 * struct optics_view - the fabric as it will be, for the validator
 * @graph: the fabric
 * @element_state: by element: state once the change is made
 * @element_marks: by element
 * @guide_marks: by guide
 * @tolerated: marks of either that do not keep away who is there already
 * @tx_lanes: by end: lanes lit once the change is made
 * @rx_lanes: by end: lanes in use by receivers once the change is made
 * @tx_dead: by end: lanes that may not be used
 * @rx_dead: by end: lanes that may not be used
 * @owner: by accelerator, then by edge: the slice that holds it
 * @tx_judged: by end: lanes of the paths that are being judged, where they are several; 0
 *	in between
 *
 * Arrays have the layout of struct optics_state; the core passes the ledger's own
 * after the claims of the change are in it.
 */
struct optics_view {
	const struct optics_graph *graph;
	const u8 *element_state;
	const u8 *element_marks;
	const u8 *guide_marks;
	u8 tolerated;
	const u64 *tx_lanes;
	const u64 *rx_lanes;
	const u64 *tx_dead;
	const u64 *rx_dead;
	const u32 *owner;
	u64 *tx_judged;
};

/* The view of a ledger as it is; it stays true to it, since it copies no array. */
static inline struct optics_view optics_state_view(const struct optics_state *state)
{
	return (struct optics_view){
		.graph = state->graph,
		.element_state = state->element_state,
		.element_marks = state->element_marks,
		.guide_marks = state->guide_marks,
		.tolerated = state->tolerated,
		.tx_lanes = state->tx_lanes,
		.rx_lanes = state->rx_lanes,
		.tx_dead = state->tx_dead,
		.rx_dead = state->rx_dead,
		.owner = state->owner,
		.tx_judged = state->tx_judged,
	};
}

/**
 * struct optics_verdict - what the validator found out about one path
 * @power_mdbm: power per lane at the receiver, or at the edge where light leaves
 * @spread_mdb: how much more it may be, where light comes in at an edge; else 0
 * @margin_mdb: above the receiver's sensitivity, or what the edge owes the peer
 * @isolation_mdb: signal over summed foreign leakage, the worst of this path as
 *                 victim and of every foreign receiver it leaks into;
 *                 OPTICS_MAX_MDB when there is none
 */
struct optics_verdict {
	s32 power_mdbm;
	u32 spread_mdb;
	s32 margin_mdb;
	s32 isolation_mdb;
};

/**
 * optics_validate() - judge new paths against the fabric as it will be
 * @view: the fabric with the change made
 * @paths: the new paths
 * @count: how many
 * @owner: the slice they belong to
 * @transit_own: whether they may cross no foreign tile
 * @verdicts: @count entries, filled; may be NULL
 * @refusal: filled on failure, with @item the first offending path
 *
 * Checks each path from first principles: it starts and ends at its ports, both
 * of accelerators that @owner holds, or one of them at an edge; each guide ends
 * where the next element starts; the element's state joins the two; states agree
 * with the view; nothing it uses is unhealthy; no lane of a guide is used by two
 * of @paths; loss, margin
 * and overload; leakage both ways. (A receiver's leaks are summed over all the
 * lanes that it shares with them, so never underrated.) Uses no router and no
 * ledger. The cost is that of the paths and their stray light, never of the
 * fabric.
 *
 * Return: 0, or the errno of enum optics_reason.
 */
int optics_validate(const struct optics_view *view, const struct optics_path *paths, u32 count,
		    u32 owner, bool transit_own, struct optics_verdict *verdicts,
		    struct optics_refusal *refusal);

/* A sentence for people, without full stop, the same in kernel and library. Never NULL. */
const char *optics_reason_text(u32 reason);

/* The errno, negative, that belongs to a reason. */
int optics_reason_errno(u32 reason);

#endif /* MORPH_OPTICS_H */

/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * optics: the rules of legal circuits, and their cost.
 *
 * Pure C, built into morph.ko and into libmorph. It uses no allocation, lock, log, clock,
 * global variable, recursion or floating point. Stack frames are smaller than 512 bytes.
 * The caller passes all memory and serialises. A graph is immutable, and callers may share
 * it; everything else has one user at a time. Functions return 0 or a negative errno. If
 * the caller passes a struct optics_refusal, an error fills it with the broken rule, the
 * part and the numbers.
 *
 *   graph.c     checks the profile and converts it to arrays (immutable)
 *   blob.c      checks its head as hostile input
 *   bound.c     lower bound of the remaining cost of a path, computed once
 *   ledger.c    claims of element states and lanes (mutable)
 *   route.c     the router of failover: its requests and answers
 *   search.c    its label search, towards the receiver
 *   toll.c      its estimates of the remaining cost from each place
 *   frontier.c  heap and hash table of both
 *   budget.c    loss, power, leakage
 *   validate.c  the independent validator: uses the types below and budget.c,
 *               never the router or the ledger
 *   text.c      sentences and errnos of reasons
 */
#ifndef MORPH_OPTICS_H
#define MORPH_OPTICS_H

#include "profile.h"
#include "shim.h"

#define OPTICS_NONE		0xffffffffu
#define OPTICS_EDGE		0x80000000u	/* | edge: an edge instead of an accelerator */
#define OPTICS_MAX_HOPS		64u	/* guides in one path */
#define OPTICS_MAX_MDB		1000000	/* "no light": 1000 dB */

/* ------------------------------------------------------------------ refusals */

/*
 * enum optics_reason - which rule a request or a blob broke
 *
 * The numbers equal those of enum morph_reason in uapi/linux/morph.h. A build-time
 * assertion in the core checks this.
 */
enum optics_reason {
	OPTICS_OK = 0,
	OPTICS_BAD_PROFILE = 1,		/* -EINVAL: the blob; detail is a byte offset */
	OPTICS_BAD_PORT = 2,		/* -EINVAL: no such port, or the same at both ends */
	OPTICS_BAD_PATH = 3,		/* -EINVAL: guides and states form no path */
	OPTICS_NO_ROUTE = 4,		/* -EHOSTUNREACH: proven, even without claims */
	OPTICS_BLOCKED = 5,		/* -EBUSY: paths exist, but are held */
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

/* The kind of part in a refusal. The numbers equal those of enum morph_part in the uapi. */
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
 * struct optics_refusal - the reason of a refusal
 * @reason: enum optics_reason
 * @part: enum optics_part: the kind of the obstacle
 * @index: its index
 * @item: index of the offending path in a set, or OPTICS_NONE
 * @have: available amount, in the unit of the reason
 * @need: required amount
 * @planes: planes of each accelerator, if the part is a laser or a receiver; else 0
 */
struct optics_refusal {
	u32 reason;
	u32 part;
	u32 index;
	u32 item;
	s64 have;
	s64 need;
	u32 planes;
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
	u16 leaks[MORPH_MAX_PORTS];	/* port p: mask of ports that some state joins to p */
	u16 side;			/* ports of one side if all joins cross sides; or 0 */
	u64 joining;			/* mask of the states that join something */
};

struct optics_element {
	u32 kind;
	u32 tile;		/* accelerator, or OPTICS_NONE */
	u32 first_port;		/* into optics_graph.port_guide */
	u32 place;		/* see bound.c */
};

/* An arc from one place to the next in the router's bound; see bound.c. */
struct optics_arc {
	u32 from;	/* place */
	u32 next;	/* arc to the same place, or OPTICS_NONE */
	s32 out;	/* cost up to the guide */
	s32 in;		/* cost of the guide, plus the slack behind it */
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
 * One block of memory of the caller contains it. Immutable once built.
 * The code of a guide at a port is guide * 2 + end, where end is the end of the guide
 * that is attached to the port.
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
 * An end of a circuit: a port (accelerator * planes + plane) or an edge (ports_count + edge).
 * An edge counts as the transmitter of light that arrives there, and as the receiver of
 * light that leaves there. So half a circuit is a normal path.
 */
static inline bool optics_end_is_edge(const struct optics_graph *graph, u32 end)
{
	return end >= graph->ports_count;
}

static inline u32 optics_edge_end(const struct optics_graph *graph, u32 edge)
{
	return graph->ports_count + edge;
}

/* The index of an end in optics_state.owner: accelerators, then edges. */
static inline u32 optics_end_place(const struct optics_graph *graph, u32 end)
{
	if (optics_end_is_edge(graph, end))
		return graph->accelerators_count + (end - graph->ports_count);
	return end / graph->params.planes;
}

/* Least and greatest permitted power per lane at an edge. */
static inline s32 optics_edge_least(const struct optics_graph *graph, u32 edge)
{
	return (s16)le16_to_cpu(graph->edges[edge].least_mdbm);
}

static inline s32 optics_edge_most(const struct optics_graph *graph, u32 edge)
{
	return (s16)le16_to_cpu(graph->edges[edge].most_mdbm);
}

/**
 * optics_graph_bytes() - check a profile's head and return the size of its graph
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
 * optics_graph_build() - check a whole profile and build its graph
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
 * struct optics_path - a path from a transmit port to a receive port, or half of one
 * @tx: accelerator * planes + plane of the transmitter; or the edge where light arrives
 * @rx: accelerator * planes + plane of the receiver; or the edge where light leaves
 * @lanes: mask of its wavelengths, the same on every guide
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

/* Health marks in optics_state: no new path may use the part. */
#define OPTICS_UNHEALTHY	0x1u	/* failed or quarantined */
#define OPTICS_CORDONED		0x2u	/* cordoned by the operator */
/* Not a health mark: a schedule that may turn the element holds it; no other path may join. */
#define OPTICS_HELD		0x10u

/*
 * struct optics_state - the mutable state of a fabric, plain arrays
 *
 * The arrays belong to the caller. optics_state_bytes() and optics_state_init() lay them out
 * in one block. A pin is a claim: other paths may join a pinned element only in its present
 * state.
 */
struct optics_state {
	const struct optics_graph *graph;
	u8 *element_state;	/* state claimed, or last claimed, for the element */
	u8 *element_marks;	/* OPTICS_UNHEALTHY, OPTICS_CORDONED, OPTICS_HELD */
	u32 *element_pins;	/* claims on it; 0: free to take any state */
	u8 *guide_marks;
	u64 *guide_lanes;	/* lanes claimed */
	u64 *guide_reserved;	/* lanes, claimed or not, that no new path may use */
	const u64 *lifted;	/* by guide: permitted exceptions of guide_reserved; or NULL */
	u8 tolerated;		/* marks that present users may ignore */
	u64 *tx_lanes;		/* by end: lanes claimed on the transmitter, or arriving */
	u64 *rx_lanes;		/* by end: lanes claimed on the receiver, or leaving */
	u64 *tx_dead;		/* by end: lanes whose laser may not be used */
	u64 *rx_dead;		/* by end: lanes whose receiver may not be used */
	u64 *tx_judged;		/* by end: only for the validator; see struct optics_view */
	u32 *owner;		/* by accelerator, then by edge: the slice that holds it, 0: none */
	u32 *standing;		/* by place / 2: elements whose present state joins ports */
	u64 elements_visited;	/* expanded, claimed or released; shows the cost of a change */
	u64 lanes_visited;	/* wavelengths examined, per guide */
};

/* Bytes that optics_state_init() needs for @graph. */
u64 optics_state_bytes(const struct optics_graph *graph);

/* Lay out a state in @block (8-byte aligned): all parked, free, healthy. O(fabric), once. */
struct optics_state *optics_state_init(void *block, const struct optics_graph *graph);

/*
 * Lay out a state in @block, without the content of its arrays. To copy a state, copy the bytes
 * from optics_state_arrays() to optics_state_bytes() of its block, at once or in parts. O(1).
 */
struct optics_state *optics_state_place(void *block, const struct optics_graph *graph);
u64 optics_state_arrays(const struct optics_graph *graph);

/* Lanes of a guide that no new path may use. */
static inline u64 optics_guide_taken(const struct optics_state *state, u32 guide)
{
	u64 reserved = state->guide_reserved[guide];

	if (state->lifted)
		reserved &= ~state->lifted[guide];
	return state->guide_lanes[guide] | reserved;
}

/* Set the state of an element. Only the next two functions write optics_state.element_state. */
static inline void optics_set_state(struct optics_state *state, u32 element, u32 to)
{
	const struct optics_element *at = &state->graph->elements[element];
	u64 joining = state->graph->kinds[at->kind].joining;
	u32 from = state->element_state[element];

	state->standing[at->place / 2] += (u32)(joining >> to & 1) - (u32)(joining >> from & 1);
	state->element_state[element] = (u8)to;
}

static inline void optics_park(struct optics_state *state, u32 element)
{
	const struct optics_kind *kind = &state->graph->kinds[state->graph->elements[element].kind];

	if (state->element_state[element] != kind->park)
		optics_set_state(state, element, kind->park);
}

/**
 * optics_claim() - claim all parts of a path
 * @state: the ledger
 * @path: the path, already validated
 * @refusal: filled on failure; nothing is claimed then
 *
 * Claims everything or nothing: pins elements in the states of the path, and marks lanes as
 * used on each guide and at both ports. O(hops), except for comparing the path with itself.
 *
 * Return: 0, -EBUSY, -ENOSPC or -EIO.
 */
int optics_claim(struct optics_state *state, const struct optics_path *path,
		 struct optics_refusal *refusal);

/*
 * Claim a path without checks: optics_claim() has claimed it, and since its release no other path
 * has taken a part of it. Never fails. O(hops).
 */
void optics_claim_again(struct optics_state *state, const struct optics_path *path);

/* Release the claims of optics_claim(). Never fails. O(hops). */
void optics_release(struct optics_state *state, const struct optics_path *path);
/* The same, and park the elements that no other claim pins. */
void optics_release_parked(struct optics_state *state, const struct optics_path *path);

/* ---------------------------------------------------------------------- route */

#define OPTICS_ROUTE_STEPS	16384u	/* default step budget */

/**
 * struct optics_route_request - a requested path
 * @tx_accelerator: start: an accelerator, or OPTICS_EDGE | edge
 * @rx_accelerator: end: likewise, but not both may be edges
 * @tx_planes: mask of permitted transmit ports; an edge has none
 * @rx_planes: mask of permitted receive ports; an edge has none
 * @lanes_allowed: mask of permitted wavelengths
 * @lanes_count: required number of wavelengths
 * @owner: the requesting slice; elements on tiles of other owners are foreign
 * @transit_own: do not cross foreign tiles
 * @avoid_guides: forbidden guides, sorted ascending
 * @avoid_elements: forbidden elements, sorted ascending
 * @avoid_guides_count: entries of @avoid_guides
 * @avoid_elements_count: entries of @avoid_elements
 * @ignore_claims: route as if nothing were held and no tile were foreign, to distinguish
 *                 "blocked" from "impossible"
 * @steps: step budget of one search, 0 for OPTICS_ROUTE_STEPS, at most 2^20; the bound
 *         gets half as many in addition
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

/* optics_route_continue() has paused. */
#define OPTICS_MORE		1

/* Bytes of work space for a search of @steps steps. They depend only on @steps. */
u64 optics_route_bytes(u32 steps);

/**
 * optics_route() - find the free path of least loss
 * @state: the ledger; only its counters change
 * @request: the request
 * @work: work space of optics_route_bytes(steps) bytes, 8-byte aligned, of any content
 * @path: filled on success; @path->hops must have room for OPTICS_MAX_HOPS
 * @steps_used: steps taken, for statistics; may be NULL
 * @refusal: filled on failure
 *
 * A* (Hart, Nilsson and Raphael 1968) over labels of a guide and a direction. A label has
 * the set of wavelengths that are still free; the assignment is first-fit. The path crosses
 * an unpinned element in any state, and a pinned one only in its state. It has the least
 * loss, and among those the fewest switched elements; further ties are arbitrary. The bound
 * of bound.c directs the search but does not change these properties.
 *
 * O(steps log steps), independent of the size of the fabric. A step is a label, or a place
 * for which the bound was computed. If the best paths are free, only labels along and beside
 * them are visited. A found path takes one search, seldom two; the reason of a failure takes
 * up to six. On failure the contents of @path are undefined.
 *
 * OPTICS_NO_ROUTE and OPTICS_BLOCKED are proven. For a blocked request, @refusal names the
 * obstacle on the best path. For OPTICS_UNUSABLE, it names the hardware without whose
 * failure a path would exist.
 *
 * Return: 0, -EHOSTUNREACH, -EBUSY, -ENOSPC, -EAGAIN (gave up), -EIO or -EINVAL.
 */
int optics_route(struct optics_state *state, const struct optics_route_request *request,
		 void *work, struct optics_path *path, u32 *steps_used,
		 struct optics_refusal *refusal);

/**
 * optics_route_start() - start a search of optics_route() that pauses
 * @state: the ledger; only its counters change
 * @request: the request; copied, except for the lists that it points to
 * @work: as for optics_route(); it holds the search, and nothing else does
 * @refusal: filled on failure
 *
 * To drop a search, reuse or free @work. @work must not move.
 *
 * Return: 0, -EINVAL or -ENOSPC.
 */
int optics_route_start(struct optics_state *state, const struct optics_route_request *request,
		       void *work, struct optics_refusal *refusal);

/**
 * optics_route_continue() - continue a search until its end or its next pause
 * @work: the work space with the search
 * @effort: pause at this effort; 0: do not pause
 * @path: filled on success; @path->hops must have room for OPTICS_MAX_HOPS
 * @steps_used: steps since the start, for statistics; may be NULL
 * @refusal: filled on failure
 *
 * The search counts an effort of 1 for each of these: a label or place that it takes off its heap,
 * a guide or arc that it examines, and a port at either end. A step that leads to no other counts
 * 2. The search pauses between two labels. So a call exceeds @effort by the guides of an element,
 * the arcs of a place, or the ports of both accelerators.
 *
 * If the ledger does not change between the calls, the results are those of optics_route(),
 * whatever the pauses. If it changes, the search stays within @work and ends within its budget,
 * but its results hold for neither ledger. The caller must know of the change and start again.
 *
 * Return: OPTICS_MORE at a pause; the search has ended after any other value, which is one that
 * optics_route() returns.
 */
int optics_route_continue(void *work, u32 effort, struct optics_path *path, u32 *steps_used,
			  struct optics_refusal *refusal);

/* --------------------------------------------------------------------- budget */

/* Sum of two powers in mdbm: 10 log10(10^(a/10) + 10^(b/10)), by table, within 5 mdb. */
s32 optics_power_sum(s32 a_mdbm, s32 b_mdbm);

/* A power in nanowatts, within 0.02 percent and rounding; at most 4 W. */
u32 optics_power_nw(s32 mdbm);

/* Total loss of the path's guides and elements, mdb. O(hops). */
u32 optics_path_loss(const struct optics_graph *graph, const struct optics_path *path);

/*
 * Power per lane at the end of the path, mdbm: from a healthy laser, or for a path from an
 * edge the least permitted power there. The spread is the possible excess over it.
 */
s32 optics_path_power(const struct optics_graph *graph, const struct optics_path *path);
u32 optics_path_spread(const struct optics_graph *graph, const struct optics_path *path);

/**
 * struct optics_leak - light that reaches a receiver, or an edge, by leakage
 * @rx: receive port, or the edge where it leaves
 * @tx: transmit port, or the edge where it arrives
 * @lanes: its relevant wavelengths
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
 * optics_leaks_from() - report the receivers that light of a path leaks into
 * @graph: the fabric
 * @element_state: by element, the state to assume
 * @path: a lit path
 * @floor_mdbm: ignore weaker light
 * @emit: called for every receive port that light of @path reaches by leaving the
 *        path at one or two elements
 * @context: handed to @emit
 *
 * O(hops * ports * length of the stray paths).
 *
 * Return: the number of guides that light and strays have passed, which is the effort.
 */
u32 optics_leaks_from(const struct optics_graph *graph, const u8 *element_state,
		      const struct optics_path *path, s32 floor_mdbm, optics_leak_fn emit,
		      void *context);

/**
 * optics_leaks_into() - report the transmit ports that would leak into a receiver
 * @graph: the fabric
 * @element_state: by element, the state to assume
 * @path: the path to this receiver
 * @floor_mdbm: ignore weaker light
 * @emit: called for every transmit port
 * @context: handed to @emit
 *
 * The same walk from the receiving end, because optics is reciprocal. @emit gets every
 * transmit port whose light would arrive, with the power of a healthy laser, in all lanes
 * of the path. The caller knows which of them are lit.
 *
 * Return: the effort.
 */
u32 optics_leaks_into(const struct optics_graph *graph, const u8 *element_state,
		      const struct optics_path *path, s32 floor_mdbm, optics_leak_fn emit,
		      void *context);

/**
 * optics_leaks_at() - report the transmit ports that leak into a receiver at present
 * @graph: the fabric
 * @element_state: by element, its present state
 * @rx: the receiver
 * @lanes: passed to @emit
 * @floor_mdbm: ignore weaker light
 * @emit: called for every transmit port
 * @context: handed to @emit
 *
 * Like optics_leaks_into(), but for the light that reaches @rx through @element_state. The
 * caller need not know the path.
 *
 * Return: the effort.
 */
u32 optics_leaks_at(const struct optics_graph *graph, const u8 *element_state, u32 rx,
		    u64 lanes, s32 floor_mdbm, optics_leak_fn emit, void *context);

/*
 * The transmit port or edge that @element_state joins to @rx, and the power per lane at
 * @rx: from a healthy laser, or the least permitted power at the edge. OPTICS_NONE and
 * -OPTICS_MAX_MDB if nothing is joined to @rx. O(hops).
 */
s32 optics_signal_at(const struct optics_graph *graph, const u8 *element_state, u32 rx, u32 *tx);

/* ------------------------------------------------------------------- validate */

/**
 * struct optics_view - the fabric after a change, for the validator
 * @graph: the fabric
 * @element_state: by element: state after the change
 * @element_marks: by element
 * @guide_marks: by guide
 * @tolerated: marks of both that present users may ignore
 * @tx_lanes: by end: lit lanes after the change
 * @rx_lanes: by end: lanes in use by receivers after the change
 * @tx_dead: by end: unusable lanes
 * @rx_dead: by end: unusable lanes
 * @owner: by accelerator, then by edge: the slice that holds it
 * @alone: no other owner has lanes at any end, so no light leaks to or from one
 * @tx_judged: by end: lanes of several paths during their validation; otherwise 0
 *
 * Arrays have the layout of struct optics_state. The core passes those of the ledger, after
 * it has added the claims of the change.
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
	bool alone;
	u64 *tx_judged;
};

/* The view of a ledger. It copies no array, so it follows all changes of the ledger. */
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
 * struct optics_verdict - the validator's findings about one path
 * @power_mdbm: power per lane at the receiver, or at the edge where light leaves
 * @spread_mdb: possible excess of the power, if light arrives at an edge; otherwise 0
 * @margin_mdb: above the receiver's sensitivity, or above the least power at the edge
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
 * optics_validate() - validate new paths in the fabric after a change
 * @view: the fabric after the change
 * @paths: the new paths
 * @count: number of paths
 * @owner: the slice of the paths
 * @transit_own: refuse paths across foreign tiles
 * @verdicts: @count entries, filled; may be NULL
 * @refusal: filled on failure, with @item the first offending path
 *
 * Checks each path from first principles, without the router or the ledger:
 *
 * * It starts and ends at its ports. Both belong to accelerators of @owner, or one is an edge.
 * * Each guide ends where the next element starts, and the element's state joins them.
 * * The states agree with the view, and no part is unhealthy.
 * * No two of @paths use the same lane of a guide.
 * * Loss, margin, overload, and leakage in both directions are within the limits. The leaks
 *   of a receiver are summed over all shared lanes, so the sum is never too small.
 *
 * The cost follows the paths and their stray light, not the fabric.
 *
 * Return: 0, or the errno of enum optics_reason.
 */
int optics_validate(const struct optics_view *view, const struct optics_path *paths, u32 count,
		    u32 owner, bool transit_own, struct optics_verdict *verdicts,
		    struct optics_refusal *refusal);

/**
 * optics_validate_part() - validate some of the new paths in the fabric after a change
 * @view: the fabric after the change, with all of @paths
 * @paths: the new paths
 * @count: number of paths
 * @first: the first path to judge; on return the next one, or @count
 * @effort: stop after a path with which the effort has reached this limit
 * @owner: the slice of the paths
 * @transit_own: refuse paths across foreign tiles
 * @verdicts: @count entries, filled for the judged paths; may be NULL
 * @refusal: filled on failure, with @item the offending path
 *
 * Like optics_validate(), in several calls that begin with @first 0. If the fabric does not change
 * between the calls, the verdict is the same. An effort of 1 is a guide that light or stray light
 * passes. The call with @first 0 also compares all paths with each other, before it judges one.
 *
 * Return: 0, or the errno of enum optics_reason.
 */
int optics_validate_part(const struct optics_view *view, const struct optics_path *paths,
			 u32 count, u32 *first, u32 effort, u32 owner, bool transit_own,
			 struct optics_verdict *verdicts, struct optics_refusal *refusal);

/* The sentence of a reason, without full stop, equal in kernel and library. Never NULL. */
const char *optics_reason_text(u32 reason);

/* The negative errno of a reason. */
int optics_reason_errno(u32 reason);

#endif /* MORPH_OPTICS_H */

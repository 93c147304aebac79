/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libmorph: requests. Included by <morph/morph.h>.
 *
 * DOC: Requests
 *
 * A request states how many accelerators a slice has, or which, the links between them, and the
 * policies of the slice. A planner finds accelerators for it (morph_place()), and the kernel
 * creates a slice of it (morph_slice_create()). Each reads what concerns it.
 */
#ifndef MORPH_REQUEST_H
#define MORPH_REQUEST_H

#include <morph/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * morph_request_new() - make a request
 * @ctx: the context, which must outlive it
 *
 * By default, a planner places one accelerator. A slice is created only from a request that gives
 * the number of accelerators, or lists them.
 *
 * Return: the request, freed by morph_request_free(); NULL when out of memory.
 */
struct morph_request *morph_request_new(struct morph_ctx *ctx);

/**
 * morph_request_free() - free a request
 * @request: the request, or NULL
 */
void morph_request_free(struct morph_request *request);

/**
 * morph_request_set_count() - ask for a number of accelerators, without links
 * @request: the request; what it asked for before is forgotten
 * @ranks: number of accelerators
 *
 * Return: 0, -EINVAL (none) or -E2BIG (more than 4096).
 */
int morph_request_set_count(struct morph_request *request, uint32_t ranks);

/**
 * enum morph_shape - links between the ranks of a slice
 * @MORPH_SHAPE_RING: from each rank to the next, and from the last to the first
 * @MORPH_SHAPE_MESH: between any two ranks
 * @MORPH_SHAPE_TORUS: rank (k * y + j) * x + i is at (i, j, k), and each dimension is a ring.
 *	A dimension of extent 2 has one link
 */
enum morph_shape {
	MORPH_SHAPE_RING = 1,
	MORPH_SHAPE_MESH = 2,
	MORPH_SHAPE_TORUS = 3,
};

/**
 * morph_request_set_shape() - ask for accelerators with the links of a shape
 * @request: the request; what it asked for before is forgotten
 * @shape: enum morph_shape
 * @x: number of ranks of a ring or mesh; extent of the first dimension of a torus
 * @y: extent of the second dimension; 1 for a ring or mesh
 * @z: extent of the third dimension; 1 for a ring or mesh
 *
 * Each link has a circuit in both directions, unless MORPH_REQUEST_SIMPLEX is set: set that option
 * before the shape.
 *
 * Return: 0, -EINVAL (an unknown shape, an extent of 0, a ring or mesh with several extents),
 * -E2BIG (more than 4096 ranks) or -ENOMEM.
 */
int morph_request_set_shape(struct morph_request *request, uint32_t shape, uint32_t x, uint32_t y,
			    uint32_t z);

/**
 * morph_request_add_circuit() - add a circuit between two ranks
 * @request: the request, after morph_request_set_count() or morph_request_set_shape()
 * @src: rank that sends
 * @dst: rank that receives
 *
 * Return: 0, -EINVAL (no such rank, or the same twice), -E2BIG (more than 65536) or -ENOMEM.
 */
int morph_request_add_circuit(struct morph_request *request, uint32_t src, uint32_t dst);

/**
 * morph_request_set_accelerators() - request these accelerators
 * @request: the request; its previous accelerators and links are dropped, unless it requested links
 *	between the same number of ranks
 * @accelerators: indices in the order of ranks; copied
 * @count: number of @accelerators
 *
 * Return: 0, -ENOMEM, or -EINVAL for none or for one that is named twice.
 */
int morph_request_set_accelerators(struct morph_request *request, const uint32_t *accelerators,
				   size_t count);

/**
 * enum morph_tier - how far apart the accelerators of a slice may lie
 * @MORPH_TIER_CONTIGUOUS: a box of the rack's torus, in any place and orientation
 * @MORPH_TIER_STITCHED: anywhere in one rack
 * @MORPH_TIER_CROSSING: in any racks that circuit switches join; a circuit passes at most one
 *	switch. This tier places tori whose parts fill servers, accelerators without links, and
 *	other requests in up to 1024 parts that each fit in a server
 */
enum morph_tier {
	MORPH_TIER_CONTIGUOUS = 1,
	MORPH_TIER_STITCHED = 2,
	MORPH_TIER_CROSSING = 3,
};

/**
 * enum morph_objective - what makes one placement better than another
 * @MORPH_OBJECTIVE_FRAGMENTATION: fewest free accelerators left in servers that are broken into,
 *	then in the fullest rack
 * @MORPH_OBJECTIVE_LOAD: fewest fibres
 * @MORPH_OBJECTIVE_BLAST: fewest servers, whose failure would hit the slice
 */
enum morph_objective {
	MORPH_OBJECTIVE_FRAGMENTATION = 0,
	MORPH_OBJECTIVE_LOAD = 1,
	MORPH_OBJECTIVE_BLAST = 2,
};

/**
 * enum morph_servers - may a slice have a part of a server?
 * @MORPH_SERVERS_SHARED: yes; for a torus that divides evenly into servers, the planner tries whole
 *	servers first
 * @MORPH_SERVERS_WHOLE: no, for systems that schedule whole hosts: a request must be a torus that
 *	divides evenly into the blocks of accelerators of servers
 */
enum morph_servers {
	MORPH_SERVERS_SHARED = 0,
	MORPH_SERVERS_WHOLE = 1,
};

#define MORPH_REQUEST_SIMPLEX 0x1u /* one circuit for each link of a shape */
#define MORPH_REQUEST_RESERVE_SPARE 0x2u /* reserve a spare and its lanes for this slice */
#define MORPH_REQUEST_LEND_SPARES 0x4u /* admit listed spares, lent until a failover takes them */

/**
 * struct morph_request_opts - how accelerators are chosen, and the policies of the slice
 * @sz: size of this structure
 * @mbps: least bandwidth of each circuit; 0: one lane
 * @steps: limit of a planner's search in one rack, and of its search across racks, in partial
 *	placements, routes and changes; 0: 2^20
 * @tier: enum morph_tier, the farthest that is accepted; nearer ones are tried first.
 *	0: MORPH_TIER_STITCHED
 * @objective: enum morph_objective; the others break ties, in their order
 * @servers: enum morph_servers. MORPH_SERVERS_WHOLE proves sooner that a request does not fit
 * @wavelengths: circuits that share a fibre, at most 16; 0: 1, a circuit takes its fibres whole
 * @transit: enum morph_transit. With MORPH_TRANSIT_OWN light crosses only servers in which no other
 *	tenant has an accelerator. In other servers light may end, but takes no fibre of a tile
 *	of another tenant
 * @failover: enum morph_failover
 * @spares: indices of the only accelerators that may replace one, copied; NULL: see @spare_policy
 * @spares_count: number of @spares
 * @spare_policy: MORPH_SPARES_HOST or MORPH_SPARES_ANY; ignored when @spares is set
 * @controller: number of the controller that the slice is assigned to; 0: none.
 *	morph_slice_create() ignores it: who opens a fabric's node assigns nothing
 * @mode: permission bits of the node of a named slice; 0: 0600
 * @name: 1 to 31 of [a-zA-Z0-9_.-], copied; the slice outlives its files. NULL or "": none
 * @flags: MORPH_REQUEST_SIMPLEX, MORPH_REQUEST_RESERVE_SPARE, MORPH_REQUEST_LEND_SPARES
 *
 * Planners read @mbps, @steps, @tier, @objective, @servers, @wavelengths and @transit. The kernel
 * reads @transit and the fields below it.
 *
 * With several @wavelengths the circuits of a fibre share its lanes evenly. The circuit of
 * wavelength w has the w-th share of adjacent lanes. A share is one lane if @wavelengths is the
 * number of lanes. Nothing converts wavelengths: a circuit keeps its wavelength on its whole
 * path. Its path does not depend on other circuits between the same servers. Use several
 * wavelengths where fibres end in demultiplexers. The elements of the installed profiles switch
 * all wavelengths together; there morph_txn_place() lights only plans in which no fibre is
 * shared, which morph_place() prefers. Placement across racks and morph_defrag_solve() require
 * 1.
 */
struct morph_request_opts {
	size_t sz;
	uint64_t mbps;
	uint64_t steps;
	uint32_t tier;
	uint32_t objective;
	uint32_t servers;
	uint32_t wavelengths;
	uint32_t transit;
	uint32_t failover;
	const uint32_t *spares;
	size_t spares_count;
	uint32_t spare_policy;
	uint32_t controller;
	uint32_t mode;
	uint32_t flags;
	const char *name;
};

/**
 * morph_request_set_opts() - set all options of a request
 * @request: the request
 * @opts: options, which replace those set before; NULL: all defaults
 *
 *	MORPH_OPTS(morph_request_opts, opts, .name = "job", .transit = MORPH_TRANSIT_OWN);
 *
 *	morph_request_set_opts(request, &opts);
 *
 * Return: 0, -EINVAL (an unknown value, a bad name or mode, a spare named twice), -ENAMETOOLONG,
 * -E2BIG (unknown options) or -ENOMEM. On failure the request keeps its options.
 */
int morph_request_set_opts(struct morph_request *request, const struct morph_request_opts *opts);

#ifdef __cplusplus
}
#endif

#endif /* MORPH_REQUEST_H */

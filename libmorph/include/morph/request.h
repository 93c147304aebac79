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
 * morph_request_new() - begin a request
 * @ctx: the context, which must outlive it
 *
 * A planner places a request for one accelerator unless it says more; a slice is created only of
 * a request that says how many accelerators, or which.
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
 * morph_request_set_count() - so many accelerators, without links
 * @request: the request; what it asked for before is forgotten
 * @ranks: how many
 *
 * Return: 0, -EINVAL (none) or -E2BIG (more than 4096).
 */
int morph_request_set_count(struct morph_request *request, uint32_t ranks);

/**
 * morph_request_set_torus() - a torus
 * @request: the request; what it asked for before is forgotten
 * @x: extent of the first dimension; 1 for none
 * @y: of the second
 * @z: of the third
 *
 * Rank (k * y + j) * x + i is at (i, j, k). Each dimension is a ring; two are joined once.
 *
 * Return: 0, -EINVAL (an extent is 0), -E2BIG (more than 4096 ranks) or -ENOMEM.
 */
int morph_request_set_torus(struct morph_request *request, uint32_t x, uint32_t y, uint32_t z);

/**
 * morph_request_set_ring() - a ring in the order of ranks
 * @request: the request; what it asked for before is forgotten
 * @ranks: how many
 *
 * Return: 0, -EINVAL (none), -E2BIG (more than 4096) or -ENOMEM.
 */
int morph_request_set_ring(struct morph_request *request, uint32_t ranks);

/**
 * morph_request_set_mesh() - a link between any two ranks
 * @request: the request; what it asked for before is forgotten
 * @ranks: how many
 *
 * Return: 0, -EINVAL (none), -E2BIG (more than 4096) or -ENOMEM.
 */
int morph_request_set_mesh(struct morph_request *request, uint32_t ranks);

/**
 * morph_request_add_circuit() - one more circuit, of any logical graph
 * @request: the request, whose ranks have been counted
 * @src: rank that sends
 * @dst: rank that receives
 *
 * Return: 0, -EINVAL (no such rank, or the same twice), -E2BIG (more than 65536) or -ENOMEM.
 */
int morph_request_add_circuit(struct morph_request *request, uint32_t src, uint32_t dst);

/**
 * morph_request_set_simplex() - links of shapes have one circuit, in the order of ranks
 * @request: the request; say so before the shape
 * @simplex: whether
 */
void morph_request_set_simplex(struct morph_request *request, bool simplex);

/**
 * morph_request_set_mbps() - least bandwidth of each circuit
 * @request: the request
 * @mbps: megabits per second; 0, as at first: one lane
 */
void morph_request_set_mbps(struct morph_request *request, uint64_t mbps);

/**
 * morph_request_set_wavelengths() - how many circuits a fibre takes
 * @request: the request
 * @wavelengths: how many, at most 16; 1, as at first: a circuit takes its fibres whole
 *
 * The lanes of a fibre are shared evenly: circuit of wavelength w has the w-th share of those that
 * stand side by side, one lane where @wavelengths is all that the profile has. Nothing converts:
 * a circuit keeps its wavelength on every fibre of its way. It has one, and a way, of its own,
 * whatever others between the same servers have.
 *
 * This is for fibres that end in demultiplexers. Elements of today's profiles lead all
 * wavelengths the same way; there morph_txn_place() lights plans in which no fibre is shared,
 * which is what morph_place() prefers where there are fibres enough. Circuit switches between
 * servers are one plan's. Across racks, and for morph_defrag_solve(), it has to be 1.
 *
 * Return: 0 or -EINVAL.
 */
int morph_request_set_wavelengths(struct morph_request *request, uint32_t wavelengths);

/**
 * enum morph_tier - how far apart the accelerators of a slice may lie
 * @MORPH_TIER_CONTIGUOUS: a box of the rack's torus, in any place and orientation
 * @MORPH_TIER_STITCHED: anywhere in one rack
 * @MORPH_TIER_CROSSING: in any racks that circuit switches join; a circuit passes one switch at most.
 *	Tori whose parts fill servers, accelerators without links, and whatever else can be had in up to
 *	1024 parts, each in a server that has room for it
 */
enum morph_tier {
	MORPH_TIER_CONTIGUOUS = 1,
	MORPH_TIER_STITCHED = 2,
	MORPH_TIER_CROSSING = 3,
};

/**
 * morph_request_set_tier() - the farthest that is accepted
 * @request: the request
 * @tier: enum morph_tier; at first MORPH_TIER_STITCHED. Nearer ones are tried first.
 *
 * Return: 0 or -EINVAL.
 */
int morph_request_set_tier(struct morph_request *request, uint32_t tier);

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
 * morph_request_set_objective() - choose what is best
 * @request: the request
 * @objective: enum morph_objective; ties are broken by the others, in their order
 *
 * Return: 0 or -EINVAL.
 */
int morph_request_set_objective(struct morph_request *request, uint32_t objective);

/**
 * morph_request_set_transit() - whose servers light may cross
 * @request: the request
 * @transit: enum morph_transit; MORPH_TRANSIT_OWN: only those where nobody else has an accelerator.
 *	A server in which others have some may then have ranks, but light ends there, and
 *	takes no fibre that begins or ends at a tile of theirs.
 *
 * Return: 0 or -EINVAL.
 */
int morph_request_set_transit(struct morph_request *request, uint32_t transit);

/**
 * enum morph_servers - may a slice have a part of a server?
 * @MORPH_SERVERS_SHARED: yes; a torus that is cut evenly into servers is looked for in whole ones first
 * @MORPH_SERVERS_WHOLE: no, as where hosts are scheduled whole: only tori that are cut evenly into
 *	the blocks of accelerators that servers have can be asked for
 */
enum morph_servers {
	MORPH_SERVERS_SHARED = 0,
	MORPH_SERVERS_WHOLE = 1,
};

/**
 * morph_request_set_servers() - whether servers are taken whole
 * @request: the request
 * @servers: enum morph_servers; at first MORPH_SERVERS_SHARED
 *
 * What can't be done in whole servers is proven sooner, for fewer places are to be looked at.
 *
 * Return: 0 or -EINVAL.
 */
int morph_request_set_servers(struct morph_request *request, uint32_t servers);

/**
 * morph_request_set_budget() - how long the search for one rack may take, and the one across racks
 * @request: the request
 * @steps: partial placements and routes, or changes, that are looked at; 0, as at first: 2^20
 */
void morph_request_set_budget(struct morph_request *request, uint64_t steps);

/* ------------------------------------------------------ policies of a slice */

/**
 * morph_request_set_accelerators() - ask for these accelerators
 * @request: the request
 * @accelerators: indices in the order of ranks; copied
 * @count: how many
 *
 * Return: 0, -ENOMEM, or -EINVAL for none or for one that is named twice.
 */
int morph_request_set_accelerators(struct morph_request *request, const uint32_t *accelerators,
				   size_t count);

/**
 * morph_request_set_failover() - what happens when an accelerator fails
 * @request: the request
 * @failover: enum morph_failover
 *
 * Return: 0, or -EINVAL for an unknown value.
 */
int morph_request_set_failover(struct morph_request *request, uint32_t failover);

/**
 * morph_request_set_spare_policy() - which spares may step in
 * @request: the request
 * @policy: MORPH_SPARES_HOST or MORPH_SPARES_ANY; a list is given by
 *          morph_request_set_spares()
 *
 * Return: 0, or -EINVAL for another value.
 */
int morph_request_set_spare_policy(struct morph_request *request, uint32_t policy);

/**
 * morph_request_set_spares() - only these spares may step in
 * @request: the request
 * @spares: indices of accelerators; copied
 * @count: how many
 *
 * Return: 0, -ENOMEM, or -EINVAL for none or for one that is named twice.
 */
int morph_request_set_spares(struct morph_request *request, const uint32_t *spares, size_t count);

/**
 * morph_request_set_reserved() - hold a spare, and the lanes to it, for this slice alone
 * @request: the request
 * @reserved: whether to
 */
void morph_request_set_reserved(struct morph_request *request, bool reserved);

/**
 * morph_request_set_controller() - assign the slice to a controller from its beginning
 * @request: the request
 * @controller: the controller's number; 0, the default: to none
 *
 * Without meaning to morph_slice_create(): who opens a fabric's node assigns nothing.
 */
void morph_request_set_controller(struct morph_request *request, uint32_t controller);

/**
 * morph_request_set_name() - give the slice a name, so that it outlives its files
 * @request: the request
 * @name: 1 to 31 of [a-zA-Z0-9_.-]; NULL or "": none
 * @mode: permission bits of its node, 0 for 0600
 *
 * Return: 0, or -EINVAL for another character, -ENAMETOOLONG, or -EINVAL for a mode
 * beyond 0777.
 */
int morph_request_set_name(struct morph_request *request, const char *name, uint32_t mode);

#ifdef __cplusplus
}
#endif

#endif /* MORPH_REQUEST_H */

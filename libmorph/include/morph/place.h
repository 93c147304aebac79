/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libmorph: where a slice goes. Included by <morph/plan.h>. */
#ifndef MORPH_PLACE_H
#define MORPH_PLACE_H

#include <morph/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * DOC: Placement
 *
 * A request says what is wanted: so many ranks, and the links between them. A ledger says what
 * is held of a fabric. morph_place() answers with a plan: the accelerator of each rank and the
 * fibres of each circuit between servers; or why there is none. Nothing here needs a kernel.
 *
 *	struct morph_request *request = morph_request_new(ctx);
 *	struct morph_plan *plan = morph_plan_new(ctx);
 *
 *	morph_request_set_torus(request, 2, 4, 4);
 *	if (!morph_place(ledger, request, plan) && morph_plan_verdict(plan) == MORPH_FEASIBLE)
 *		morph_ledger_take(ledger, plan, 7);
 *
 * Words: a circuit is simplex, a link is one circuit each way unless asked otherwise; each circuit
 * has a way of its own, across racks each link has one; a fibre takes one circuit, unless
 * morph_request_set_wavelengths() says otherwise. Light may
 * cross servers that belong to others. A *part* of a slice is what one server takes of it. A
 * torus whose extents allow it is cut into parts that fill a server, as in the Morphlux paper
 * (arXiv 2508.03674v3, 5.2), and stays so; other requests are cut as the search sees fit.
 *
 * A request, a ledger and a plan are each used by one thread at a time. The answer follows
 * from ledger and request alone, so that all who ask get the same.
 *
 * With a kernel, the ledger is read from it and the plan becomes a transaction:
 *
 *	morph_ledger_read(ledger, fabric, 0);
 *	morph_txn_set_profile(txn, morph_model_checksum(model));
 *	morph_txn_place(txn, ledger, request, plan);
 *
 * and then a slice of the plan's accelerators is created, in the order of ranks and with the
 * request's policy on transit, and the transaction is run on it.
 */

/* ----------------------------------------------------------------- requests */

/**
 * morph_request_new() - begin a request
 * @ctx: the context, which must outlive it
 *
 * Return: a request for one accelerator, freed by morph_request_free(); NULL when out of memory.
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

/* ------------------------------------------------------------------ ledgers */

/**
 * morph_ledger_new() - what is held of a fabric, nothing at first
 * @ctx: the context, which must outlive the ledger
 * @model: the fabric's model, held by the ledger
 * @out: the ledger, freed by morph_ledger_free()
 *
 * O(fabric).
 *
 * Return: 0, -ENOMEM, or -E2BIG (a rack of more than 64 servers or 256 accelerators).
 */
int morph_ledger_new(struct morph_ctx *ctx, struct morph_model *model, struct morph_ledger **out);

/**
 * morph_ledger_free() - free a ledger
 * @ledger: the ledger, or NULL
 */
void morph_ledger_free(struct morph_ledger *ledger);

/**
 * morph_ledger_hold() - an accelerator is a slice's
 * @ledger: the ledger
 * @accelerator: its index
 * @slice: number of the slice, 0: it is nobody's
 *
 * Return: 0 or -ENOENT.
 */
int morph_ledger_hold(struct morph_ledger *ledger, uint32_t accelerator, uint32_t slice);

/**
 * morph_ledger_mark() - hardware may not be used, or may again
 * @ledger: the ledger
 * @part: MORPH_PART_ACCELERATOR, MORPH_PART_ELEMENT or MORPH_PART_GUIDE
 * @index: its index
 * @unusable: whether it is cordoned, quarantined or failed
 *
 * Return: 0, -ENOENT or -EINVAL (another kind of part).
 */
int morph_ledger_mark(struct morph_ledger *ledger, uint32_t part, uint32_t index, bool unusable);

/**
 * morph_ledger_set_spare() - an accelerator is held back as a spare, or is not any more
 * @ledger: the ledger
 * @accelerator: its index
 * @spare: whether; at first as the profile says. Who replaces another changes roles with it.
 *
 * A spare is given to no slice. One of the profile's that is none any more is taken by stitched
 * slices; it has no place in the torus.
 *
 * Return: 0 or -ENOENT.
 */
int morph_ledger_set_spare(struct morph_ledger *ledger, uint32_t accelerator, bool spare);

/**
 * morph_ledger_take() - a plan is carried out
 * @ledger: the ledger
 * @plan: a feasible plan, for the ledger as it is
 * @slice: number of the slice, not 0
 *
 * Return: 0, -EINVAL (the plan is not feasible, or another fabric's) or -EBUSY (something that it
 * uses is held or unusable; nothing is taken).
 */
int morph_ledger_take(struct morph_ledger *ledger, const struct morph_plan *plan, uint32_t slice);

/**
 * morph_ledger_give() - what a plan took is free again
 * @ledger: the ledger
 * @plan: the plan, which morph_ledger_take() has taken
 *
 * Return: 0 or -EINVAL.
 */
int morph_ledger_give(struct morph_ledger *ledger, const struct morph_plan *plan);

/**
 * morph_ledger_read() - a ledger of what a fabric's kernel says
 * @ledger: the ledger; what was in it is forgotten
 * @fabric: number of the fabric
 * @controller: what this controller has reserved counts as free where no circuit of the kernel's
 *	list has it; 0: what is reserved is free for nobody
 *
 * Reads accelerators, guides, elements and unhealthy hardware over netlink, until they are all of
 * one moment. Accelerators that are held or being drained are their slices', or UINT32_MAX's for
 * those to whom slices are not told. What is not healthy, or cordoned, is marked; suspects too.
 * What a reserved slice keeps free inside servers is not told by the kernel: there it
 * may refuse what was planned.
 *
 * Return: 0, -ESTALE (the fabric has another profile than the ledger's model), -EAGAIN (the
 * fabric changed during each of eight tries), -EPROTO or -ENOENT (the kernel names hardware that
 * the profile does not have), -EPERM (of a controller only administrators are told), -ENOMEM, or
 * what the lists of <morph/admin.h> return; the ledger may then have parts of what was read.
 */
int morph_ledger_read(struct morph_ledger *ledger, uint32_t fabric, uint32_t controller);

/* -------------------------------------------------------------------- plans */

/**
 * morph_plan_new() - room for a plan
 * @ctx: the context, which must outlive it
 *
 * Return: the plan, freed by morph_plan_free(); NULL when out of memory.
 */
struct morph_plan *morph_plan_new(struct morph_ctx *ctx);

/**
 * morph_plan_free() - free a plan
 * @plan: the plan, or NULL
 */
void morph_plan_free(struct morph_plan *plan);

/**
 * morph_place() - find accelerators and fibres for a request
 * @ledger: what is held; not changed, but for memory that the search uses
 * @request: what is wanted
 * @plan: the answer; what was in it is forgotten
 *
 * Boxes first: O(places * orientations * ranks). Then stitched: parts that fill a server by
 * iterative deepening and negotiated congestion, with cuts to prove that there is none
 * (exponential in the parts at worst, see planner.rst); other requests, and tori for which there
 * are no whole servers, by growing from each server; up to 24 ranks are then tried everywhere, and of
 * more that there is no place is proven by too few free accelerators only. Racks are taken in the
 * order of the objective; the first that fits is it, but for racks that are hard to decide,
 * which come last. Where none does and the request accepts it, parts that fill a server are placed
 * across racks by annealing (O(changes); kept memory of some megabytes from the first time on),
 * which proves nothing unless too few servers are free. Nothing is allocated once plan and ledger
 * have seen a request as large.
 *
 * With several wavelengths each is a layer of its own, with the fibres on which it is dark, and
 * each circuit is routed in one of them; cuts and distances are of all layers together, and
 * where there is room but no wavelength, the search for routes is the proof.
 *
 * Return: 0, whatever the verdict; -EINVAL (the request can't be met by any fabric of this
 * model: what the text says) or -ENOMEM.
 */
int morph_place(struct morph_ledger *ledger, const struct morph_request *request,
		struct morph_plan *plan);

/**
 * morph_plan_verdict() - what was found
 * @plan: the plan
 *
 * Return: enum morph_verdict, 0 of a plan that morph_place() has not filled.
 */
uint32_t morph_plan_verdict(const struct morph_plan *plan);

/**
 * morph_plan_ranks() - number of ranks
 * @plan: a feasible plan
 *
 * Return: how many; 0 when the plan is none.
 */
uint32_t morph_plan_ranks(const struct morph_plan *plan);

/**
 * morph_plan_accelerator() - which accelerator a rank gets
 * @plan: a feasible plan
 * @rank: below morph_plan_ranks()
 *
 * Return: its index, or UINT32_MAX.
 */
uint32_t morph_plan_accelerator(const struct morph_plan *plan, uint32_t rank);

/**
 * morph_plan_describe() - all that a plan says, its certificate included
 * @plan: the plan, filled by morph_place()
 * @ledger: the ledger that it was made for
 * @out: object of type "plan": verdict, tier, figures with their bounds and what these rest upon,
 *	ranks, circuits with servers and fibres, fibres from server to server; or of each rack
 *	why it does not do
 *
 * Return: 0, -EINVAL (the plan is empty, or another fabric's) or -ENOMEM.
 */
int morph_plan_describe(const struct morph_plan *plan, const struct morph_ledger *ledger,
			struct morph_object **out);

/**
 * morph_txn_place() - place a slice so that it can be lit, and light it
 * @txn: the transaction, of a slice that will have the plan's accelerators in the order of its ranks
 * @ledger: what is held; afterwards as before
 * @request: what is wanted
 * @plan: where to put the answer; what it was before is forgotten
 *
 * As morph_place(), and where the answer is FEASIBLE the transaction gets a change for each circuit. One plan in eighty has no
 * ways inside servers, in a rack that is held to 70 %; then the slice is placed anew without the
 * fibres of the circuit that had none, up to 16 times, or as long as all plans together have 16384
 * circuits. Of 2000 slices that come to such a rack 25 have no ways by the first plan, and 3 by all
 * of them.
 *
 * Return: 0: the verdict is in @plan, and the transaction has its changes if it is FEASIBLE; else
 * what morph_place() returns, or -EBUSY for the first plan where none can be
 * lit; then the transaction is as before.
 */
int morph_txn_place(struct morph_txn *txn, struct morph_ledger *ledger,
		    const struct morph_request *request, struct morph_plan *plan);

#ifdef __cplusplus
}
#endif

#endif /* MORPH_PLACE_H */

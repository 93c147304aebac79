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
 *	MORPH_OPTS(morph_plan_info, info);
 *
 *	morph_request_set_shape(request, MORPH_SHAPE_TORUS, 2, 4, 4);
 *	if (!morph_place(ledger, request, plan) && !morph_plan_info(plan, &info) &&
 *	    info.verdict == MORPH_FEASIBLE)
 *		morph_ledger_take(ledger, plan, 7);
 *
 * Words: a circuit is simplex, a link is one circuit each way unless asked otherwise; each circuit
 * has a way of its own, across racks each link has one; a fibre takes one circuit, unless
 * morph_request_opts.wavelengths says otherwise. Light may
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
 *	MORPH_OPTS(morph_txn_opts, opts, .profile_checksum = morph_model_checksum(model));
 *	morph_txn_set_opts(txn, &opts);
 *	morph_txn_place(txn, ledger, request, plan);
 *
 * and then a slice of the plan's accelerators is created, in the order of ranks and with the
 * request's policy on transit, and the transaction is run on it.
 */

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
 * struct morph_plan_info - what was found
 * @sz: size of this structure, set by the caller: MORPH_OPTS()
 * @verdict: enum morph_verdict; 0 of a plan that morph_place() has not filled
 * @ranks: number of ranks of a feasible plan, else 0
 * @accelerators: the accelerator of each rank, @ranks of them; owned by the plan until it is filled
 *	again
 */
struct morph_plan_info {
	size_t sz;
	uint32_t verdict;
	uint32_t ranks;
	const uint32_t *accelerators;
};

/**
 * morph_plan_info() - read verdict and accelerators of a plan
 * @plan: the plan
 * @out: where to put them
 *
 * Return: 0, or -E2BIG (unknown results).
 */
int morph_plan_info(const struct morph_plan *plan, struct morph_plan_info *out);

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

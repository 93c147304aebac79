/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libmorph: placement of slices. Included by <morph/plan.h>. */
#ifndef MORPH_PLACE_H
#define MORPH_PLACE_H

#include <morph/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * DOC: Placement
 *
 * A request specifies a number of ranks and the links between them. A ledger records which
 * resources of a fabric are in use. morph_place() returns a plan with the accelerator of each rank
 * and the fibres of each circuit between servers, or the reason why no plan exists. Placement needs
 * no kernel.
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
 * A circuit is simplex. A link has one circuit in each direction, unless the request asks for
 * simplex links. Each circuit has its own route; across racks each link has one. A fibre carries
 * one circuit, unless morph_request_opts.wavelengths is greater than 1. Light can cross servers of
 * other tenants. A *part* of a slice is the set of its ranks in one server. A torus with suitable
 * extents is cut into parts that fill a server, as in the Morphlux paper (arXiv 2508.03674v3, 5.2).
 * The search chooses the parts of other requests.
 *
 * One thread at a time can use a request, a ledger or a plan. The answer depends only on ledger and
 * request, so all callers get the same one.
 *
 * With a kernel, read the ledger from it and turn the plan into a transaction:
 *
 *	morph_ledger_read(ledger, fabric, 0);
 *	MORPH_OPTS(morph_txn_opts, opts, .profile_checksum = checksum);
 *	morph_txn_set_opts(txn, &opts);
 *	morph_txn_place(txn, ledger, request, plan);
 *
 * Then create a slice with the plan's accelerators, in the order of ranks and with the request's
 * transit policy, and run the transaction on it.
 */

/* ------------------------------------------------------------------ ledgers */

/**
 * morph_ledger_new() - create a ledger of a fabric without slices
 * @ctx: the context, which must outlive the ledger
 * @model: the fabric's model; the ledger holds a reference
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
 * morph_ledger_hold() - record the slice that has an accelerator
 * @ledger: the ledger
 * @accelerator: its index
 * @slice: number of the slice; 0: none
 *
 * Return: 0 or -ENOENT.
 */
int morph_ledger_hold(struct morph_ledger *ledger, uint32_t accelerator, uint32_t slice);

/**
 * morph_ledger_mark() - record whether hardware is usable
 * @ledger: the ledger
 * @part: MORPH_PART_ACCELERATOR, MORPH_PART_ELEMENT or MORPH_PART_GUIDE
 * @index: its index
 * @unusable: whether it is cordoned, quarantined or failed
 *
 * Return: 0, -ENOENT or -EINVAL (another kind of part).
 */
int morph_ledger_mark(struct morph_ledger *ledger, uint32_t part, uint32_t index, bool unusable);

/**
 * morph_ledger_set_spare() - record whether an accelerator is a spare
 * @ledger: the ledger
 * @accelerator: its index
 * @spare: whether it is a spare (default: as in the profile). A replacement exchanges the roles of
 *	both accelerators.
 *
 * No slice gets a spare. A former spare of the profile has no position in the torus, so only
 * stitched slices can get it.
 *
 * Return: 0 or -ENOENT.
 */
int morph_ledger_set_spare(struct morph_ledger *ledger, uint32_t accelerator, bool spare);

/**
 * morph_ledger_take() - record a plan as carried out
 * @ledger: the ledger
 * @plan: a feasible plan for the ledger's present content
 * @slice: number of the slice, not 0
 *
 * Return: 0, -EINVAL (the plan is not feasible, or of another fabric) or -EBUSY (a resource of the
 * plan is in use or unusable; the ledger is unchanged).
 */
int morph_ledger_take(struct morph_ledger *ledger, const struct morph_plan *plan, uint32_t slice);

/**
 * morph_ledger_give() - free the resources of a plan
 * @ledger: the ledger
 * @plan: the plan, recorded by morph_ledger_take()
 *
 * Return: 0 or -EINVAL.
 */
int morph_ledger_give(struct morph_ledger *ledger, const struct morph_plan *plan);

/**
 * morph_ledger_read() - fill a ledger from the kernel
 * @ledger: the ledger; its earlier content is lost
 * @fabric: number of the fabric
 * @controller: lanes that this controller has reserved count as free if no circuit of the kernel's
 *	list has them; 0: no reserved lane is free
 *
 * Reads accelerators, guides, elements and unhealthy hardware over netlink, until all of them are
 * from the same moment. Accelerators in use or being drained belong to their slices, or to
 * UINT32_MAX if the caller cannot see slices. Unhealthy, suspect and cordoned hardware is marked.
 * The kernel does not report which resources a reserved spare keeps inside servers, so it can
 * refuse a plan there.
 *
 * Return: 0, -ESTALE (the profile differs from the ledger's model), -EAGAIN (the fabric changed
 * during each of eight attempts), -EPERM (only administrators can name a controller), -ENOMEM, or
 * an error of the lists of <morph/admin.h>. Hardware that the profile lacks gives -EPROTO or
 * -ENOENT. After an error the ledger can be incomplete.
 */
int morph_ledger_read(struct morph_ledger *ledger, uint32_t fabric, uint32_t controller);

/* -------------------------------------------------------------------- plans */

/**
 * morph_plan_new() - allocate a plan
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
 * @ledger: resources in use; changes only the memory of the search
 * @request: the request
 * @plan: the answer; its earlier content is lost
 *
 * The search tries racks in the order of the objective, and returns the first plan. Racks that are
 * hard to decide come last. In each rack it tries these methods:
 *
 * - boxes: O(places * orientations * ranks);
 * - parts that fill a server: iterative deepening and negotiated congestion, with cuts as proof
 *   (exponential in the parts in the worst case, see planner.rst);
 * - other requests, and tori without whole free servers: growing from each server. Up to 24 ranks
 *   are then searched exhaustively. For more ranks, only too few free accelerators are a proof.
 *
 * Across racks, if the request accepts this tier, annealing places parts that fill a server
 * (O(changes); some megabytes of memory from the first call on). Only too few free servers are a
 * proof.
 *
 * With several wavelengths, each wavelength is a layer with the fibres on which it is dark. Each
 * circuit is routed in one layer. Cuts and distances use all layers together. If capacity exists
 * but no wavelength, the search for routes is the proof.
 *
 * Allocates nothing once plan and ledger have seen a request as large.
 *
 * Return: 0, whatever the verdict; -EINVAL (no fabric of this model can satisfy the request; the
 * text has the reason) or -ENOMEM.
 */
int morph_place(struct morph_ledger *ledger, const struct morph_request *request,
		struct morph_plan *plan);

/**
 * struct morph_plan_info - verdict and accelerators of a plan
 * @sz: size of this structure, set by the caller: MORPH_OPTS()
 * @verdict: enum morph_verdict; 0 if morph_place() has not filled the plan
 * @ranks: number of ranks of a feasible plan, else 0
 * @accelerators: the accelerator of each rank, @ranks of them; owned by the plan until the next
 *	call fills it
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
 * @out: the structure to fill
 *
 * Return: 0, or -E2BIG (unknown results).
 */
int morph_plan_info(const struct morph_plan *plan, struct morph_plan_info *out);

/**
 * morph_plan_describe() - describe a plan completely
 * @plan: the plan, filled by morph_place()
 * @ledger: the ledger that it was made for
 * @out: object of type "plan": verdict, tier, figures with their bounds and the reasons of these,
 *	ranks, circuits with servers and fibres, and fibres between servers; or the reason of each
 *	rack
 *
 * Return: 0, -EINVAL (the plan is empty, or of another fabric) or -ENOMEM.
 */
int morph_plan_describe(const struct morph_plan *plan, const struct morph_ledger *ledger,
			struct morph_object **out);

/**
 * morph_txn_place() - place a slice with paths that can be lit
 * @txn: the transaction, of a slice that will have the plan's accelerators in the order of its
 *	ranks
 * @ledger: resources in use; unchanged afterwards
 * @request: the request
 * @plan: the answer; its earlier content is lost
 *
 * Calls morph_place(). For a feasible plan, it adds a change for each circuit to the transaction.
 * In a rack at 70 % load, one plan in eighty has no paths inside servers. Then the slice is placed
 * again without the fibres of the stuck circuit: up to 16 times, or until all plans together have
 * 16384 circuits. Of 2000 slices in such a rack, 25 have no paths with the first plan, and 3 with
 * any.
 *
 * Return: 0: @plan has the verdict, and if it is feasible the transaction has its changes; else the
 * errors of morph_place(), or -EBUSY for the first plan if no plan can be lit. After an error the
 * transaction is unchanged.
 */
int morph_txn_place(struct morph_txn *txn, struct morph_ledger *ledger,
		    const struct morph_request *request, struct morph_plan *plan);

#ifdef __cplusplus
}
#endif

#endif /* MORPH_PLACE_H */

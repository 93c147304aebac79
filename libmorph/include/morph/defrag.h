/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libmorph: room for a slice by moving light of those that run. Included by <morph/plan.h>. */
#ifndef MORPH_DEFRAG_H
#define MORPH_DEFRAG_H

#include <morph/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * DOC: Defragmentation
 *
 * Where morph_place() refuses a request for want of fibres, others' circuits may be in its way
 * that could as well go another. morph_defrag_solve() finds accelerators and fibres for the
 * request, the circuits of running slices that have to move for it, and the order in which each
 * of them is moved; or it proves that no rewiring makes room. Ranks keep their accelerators.
 *
 *	struct morph_defrag *defrag = morph_defrag_new(ctx);
 *	MORPH_OPTS(morph_defrag_result, result);
 *
 *	morph_ledger_read(ledger, fabric, 0);
 *	morph_defrag_read(defrag, ledger, fabric, 0);
 *	if (!morph_defrag_solve(defrag, ledger, request, NULL, &result) &&
 *	    result.verdict == MORPH_FEASIBLE)
 *		morph_defrag_light(defrag, ledger, &result);
 *
 * Each step is a transaction of one slice. A circuit is moved by lighting its new way beside the
 * old, which then goes out: its light is never gone. That takes free fibres, and at either end a
 * port that none of the slice's circuits uses; without the port it is dark while its path settles
 * and its receiver locks. Where circuits wait for each other's fibres in a circle, one is led aside
 * over free ones and comes back; where there are none, it goes out until there are. What each tenant
 * would notice is told. Time is what the profile says that light takes, one step after the other,
 * without that of software.
 *
 * A circuit whose fibres or switches are marked, or kept for a protection, stays where it is, and so
 * does all that the ledger holds besides the plans that were added. What a slice says of transit holds where its circuits
 * are led anew; they may cross again what they cross.
 *
 * An object is used by one thread at a time; the answer follows from its input alone.
 */

/**
 * morph_defrag_new() - room for the problem and its answer
 * @ctx: the context, which must outlive it
 *
 * Return: the object, some 5 MiB, freed by morph_defrag_free(); NULL when out of memory.
 */
struct morph_defrag *morph_defrag_new(struct morph_ctx *ctx);

/**
 * morph_defrag_free() - free it
 * @defrag: the object, or NULL; plans that were added are the caller's
 */
void morph_defrag_free(struct morph_defrag *defrag);

/**
 * morph_defrag_read() - the slices that run on a fabric
 * @defrag: the object; slices that were added before, and the answer, are forgotten
 * @ledger: becomes what the fabric's kernel says is held, as by morph_ledger_read()
 * @fabric: number of the fabric
 * @controller: whose slices and reservations may be used besides those that are no controller's;
 *	0: nobody's
 *
 * A slice stays as it is where it is not in order, is another controller's, lies in several racks,
 * has light over circuit switches or edges, or shares a fibre by wavelength with others.
 *
 * Return: 0 or as morph_ledger_read().
 */
int morph_defrag_read(struct morph_defrag *defrag, struct morph_ledger *ledger, uint32_t fabric,
		      uint32_t controller);

/**
 * enum morph_defrag_objective - what makes one answer better than another
 * @MORPH_DEFRAG_LIGHT: fewest circuits that go dark, then fewest that are moved
 * @MORPH_DEFRAG_MOVES: fewest circuits that are moved, then fewest that go dark
 */
enum morph_defrag_objective {
	MORPH_DEFRAG_LIGHT = 0,
	MORPH_DEFRAG_MOVES = 1,
};

/**
 * struct morph_defrag_opts - how to search
 * @sz: size of this structure
 * @objective: enum morph_defrag_objective
 * @steps: of the search in each rack; 0: 2^20
 */
struct morph_defrag_opts {
	size_t sz;
	uint32_t objective;
	uint64_t steps;
};

/**
 * struct morph_defrag_result - the answer as a whole
 * @sz: size of this structure, set by the caller: MORPH_OPTS()
 * @verdict: whether there is room after rewiring; infeasible only if no accelerators of any rack and
 *	no ways of all circuits together do
 * @steps: transactions, the one that lights the new slice among them
 * @moved: circuits of running slices that are moved, for a while or for good
 * @moved_least: so many go another way in the end in any answer; 0 where that was not proven
 * @dark: circuits that go dark meanwhile
 * @tenants: slices whose circuits are moved
 */
struct morph_defrag_result {
	size_t sz;
	enum morph_verdict verdict;
	uint32_t steps;
	uint32_t moved;
	uint32_t moved_least;
	uint32_t dark;
	uint32_t tenants;
};

/**
 * morph_defrag_solve() - make room for a request
 * @defrag: slices that run
 * @ledger: what is held; not changed, but for memory that the search uses
 * @request: what is wanted
 * @opts: how, or NULL
 * @out: the answer as a whole, or NULL
 *
 * Rack by rack, in the order of the request's objective. Ways of what runs and of what is to come
 * are negotiated together, which costs O(rounds * circuits * servers^2) for each embedding that is
 * looked at; those without any are proven to have none by lengths of links (Onaga, Kakusho and
 * Iri), which come from shares of circuits led to where least is too much (Fratta, Gerla and
 * Kleinrock), or by search, which is exponential at worst.
 *
 * Return: 0, whatever the verdict; -EINVAL (no fabric of this model does; a plan is another
 * fabric's, or not what the ledger holds: what the text says; unknown objective), -E2BIG (unknown
 * options or results) or -ENOMEM.
 */
int morph_defrag_solve(struct morph_defrag *defrag, struct morph_ledger *ledger,
		       const struct morph_request *request, const struct morph_defrag_opts *opts,
		       struct morph_defrag_result *out);

/**
 * morph_defrag_plan() - what the request gets, once all has been moved
 * @defrag: the object, solved
 *
 * Return: the plan, owned by @defrag; its verdict is that of the answer.
 */
const struct morph_plan *morph_defrag_plan(const struct morph_defrag *defrag);

/**
 * morph_defrag_keep() - keep free what the slices that run need when an accelerator fails
 * @defrag: the object, of slices that morph_defrag_read() has read
 * @ledger: the ledger that it has filled, which must outlive what is kept
 *
 * Each slice that its kernel repairs by itself (MORPH_FAILOVER_AUTOMATIC) is protected, one after
 * the other, and its protection is kept: slices that are placed in the ledger
 * from then on take no fibre that a spare of theirs would need. Spares on which the kernel's own
 * plans count come before nearer ones. So are slices that lie in several racks, or are another
 * controller's, which solving does not move; those of which not all is known are left out. Those
 * with a reserved spare need none of it: the kernel holds their fibres. Nothing is kept any more
 * after morph_defrag_read()
 * or morph_defrag_free(). Solving moves nothing onto what is kept, nor away
 * from it.
 *
 * Return: how many ranks have a spare that could be lit, -EPROTO (the ledger is not as it was read)
 * or -ENOMEM.
 */
int morph_defrag_keep(struct morph_defrag *defrag, struct morph_ledger *ledger);

/**
 * morph_defrag_light() - find ways inside servers for all steps
 * @defrag: the object, of slices that morph_defrag_read() has read; solved, with a feasible answer
 * @ledger: the ledger that it was solved for, as it was; not changed but for counters
 * @out: the answer as a whole once more, or NULL: a circuit for which there is no second way
 *	inside a server goes dark
 *
 * The router and the judge of the driver are asked for each step as the fabric will be by then.
 * Fibres may become others between the same servers.
 *
 * Return: 0, -EINVAL (no feasible answer; slices that were not read from a fabric), -EBUSY (no
 * ways were found for a step: the text names the circuit) or -ENOMEM; or as the judge refuses.
 */
int morph_defrag_light(struct morph_defrag *defrag, struct morph_ledger *ledger,
		       struct morph_defrag_result *out);

/**
 * morph_txn_add_step() - what a step changes, as changes of a transaction
 * @txn: the transaction, to be run on the slice that the answer names for the step
 * @defrag: the object, after morph_defrag_light()
 * @step: number of the step
 *
 * Steps are run one after the other, each when the one before has ended well. Where one fails,
 * all is as it was before it, and morph_txn_add_broken() lights what is out.
 *
 * Return: 0, -EINVAL (morph_defrag_light() has not succeeded), -ENOENT (there is no such step),
 * -E2BIG (more than 1024 changes) or -ENOMEM; the transaction is as it was then.
 */
int morph_txn_add_step(struct morph_txn *txn, const struct morph_defrag *defrag, uint32_t step);

/**
 * morph_txn_add_broken() - circuits that are out where a step has failed, to be lit again
 * @txn: the transaction, to be run on @slice, each change for itself
 * @defrag: the object, after morph_defrag_light()
 * @done: how many steps were run, the first ones
 * @slice: of which slice
 *
 * By whatever routes the driver finds. Without a broken circuit nothing is added.
 *
 * Return: 0, -EINVAL (so many steps can't have been run), -E2BIG (more than 1024 changes) or -ENOMEM;
 * the transaction is as it was then.
 */
int morph_txn_add_broken(struct morph_txn *txn, const struct morph_defrag *defrag, uint32_t done,
			 uint32_t slice);

/**
 * morph_defrag_describe() - the answer as an object
 * @defrag: the object, solved
 * @ledger: the ledger that it was solved for
 * @out: an object of type "defrag" with all that it says: verdict, steps, tenants, slices that
 *	stay, the request's plan; freed by morph_object_free()
 *
 * Return: 0, -EINVAL (not solved) or -ENOMEM.
 */
int morph_defrag_describe(const struct morph_defrag *defrag, const struct morph_ledger *ledger,
			  struct morph_object **out);

#ifdef __cplusplus
}
#endif

#endif /* MORPH_DEFRAG_H */

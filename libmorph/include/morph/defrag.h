/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libmorph: defragmentation, which moves running circuits for a new slice. Included by
 * <morph/plan.h>.
 */
#ifndef MORPH_DEFRAG_H
#define MORPH_DEFRAG_H

#include <morph/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * DOC: Defragmentation
 *
 * If morph_place() finds too few fibres, circuits of running slices can be in the way that could
 * use other fibres. morph_defrag_solve() finds accelerators and fibres for the request. It also
 * finds the circuits of running slices that must move, and the order of the moves. Otherwise it
 * proves that no rerouting helps. Ranks keep their accelerators.
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
 * Each step is a transaction of one slice. A move lights the new path of a circuit beside the old
 * one, which then goes dark, so the circuit stays lit. This needs free fibres, and at both ends a
 * port that no circuit of the slice uses. Without such a port the circuit is dark while its path
 * settles and its receiver locks. If circuits wait for each other's fibres in a circle, one of them
 * moves to free fibres for a while and returns. If none are free, it goes dark until its fibres
 * are.
 *
 * The answer lists the effects on each tenant. Its times are those that light takes by the profile,
 * one step after the other, without software.
 *
 * A circuit does not move if its fibres or switches are marked, or kept for a protection. All other
 * resources in use that do not belong to added plans stay as well. Rerouted circuits respect their
 * slice's transit policy, but can cross again the servers that they cross now.
 *
 * One thread at a time can use an object. The answer depends on its input alone.
 */

/**
 * morph_defrag_new() - allocate a problem and its answer
 * @ctx: the context, which must outlive it
 *
 * Return: the object, some 5 MiB, freed by morph_defrag_free(); NULL when out of memory.
 */
struct morph_defrag *morph_defrag_new(struct morph_ctx *ctx);

/**
 * morph_defrag_free() - free a problem
 * @defrag: the object, or NULL; the caller keeps the plans that it added
 */
void morph_defrag_free(struct morph_defrag *defrag);

/**
 * morph_defrag_read() - read the running slices of a fabric
 * @defrag: the object; slices added before, and the answer, are lost
 * @ledger: filled from the fabric's kernel, as by morph_ledger_read()
 * @fabric: number of the fabric
 * @controller: slices and reservations of this controller can be used, besides slices without a
 *	controller; 0: only the latter
 *
 * A slice does not move if it is degraded, belongs to another controller, lies in several racks,
 * has light over circuit switches or edges, or shares a fibre by wavelength.
 *
 * Return: 0 or as morph_ledger_read().
 */
int morph_defrag_read(struct morph_defrag *defrag, struct morph_ledger *ledger, uint32_t fabric,
		      uint32_t controller);

/**
 * enum morph_defrag_objective - what the solver minimises
 * @MORPH_DEFRAG_LIGHT: circuits that go dark, then circuits that move
 * @MORPH_DEFRAG_MOVES: circuits that move, then circuits that go dark
 */
enum morph_defrag_objective {
	MORPH_DEFRAG_LIGHT = 0,
	MORPH_DEFRAG_MOVES = 1,
};

/**
 * struct morph_defrag_opts - options of the search
 * @sz: size of this structure
 * @objective: enum morph_defrag_objective
 * @steps: limit of the search in each rack; 0: 2^20
 */
struct morph_defrag_opts {
	size_t sz;
	uint32_t objective;
	uint64_t steps;
};

/**
 * struct morph_defrag_result - summary of the answer
 * @sz: size of this structure, set by the caller: MORPH_OPTS()
 * @verdict: whether the request fits after rerouting; infeasible only if no accelerators of any
 *	rack have routes for all circuits together
 * @steps: transactions, including the one that lights the new slice
 * @moved: circuits of running slices that move, temporarily or permanently
 * @moved_least: lower bound of the circuits that end on another path; 0 if not proven
 * @dark: circuits that go dark temporarily
 * @tenants: slices whose circuits move
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
 * morph_defrag_solve() - find moves that make a request fit
 * @defrag: running slices
 * @ledger: resources in use; changes only the memory of the search
 * @request: the request
 * @opts: options, or NULL
 * @out: summary of the answer, or NULL
 *
 * Searches rack by rack, in the order of the request's objective. Routes of running and new
 * circuits are negotiated together: O(rounds * circuits * servers^2) for each embedding. Embeddings
 * without routes are refuted by lengths of links (Onaga, Kakusho and Iri), or by a search, which is
 * exponential in the worst case. The lengths come from fractional flows that minimise overloads
 * (Fratta, Gerla and Kleinrock).
 *
 * Return: 0, whatever the verdict; -EINVAL, -E2BIG (unknown options or results) or -ENOMEM. The
 * reasons of -EINVAL are an unknown objective, a request that no fabric of this model can satisfy,
 * and a plan of another fabric or not in the ledger. The text has the reason.
 */
int morph_defrag_solve(struct morph_defrag *defrag, struct morph_ledger *ledger,
		       const struct morph_request *request, const struct morph_defrag_opts *opts,
		       struct morph_defrag_result *out);

/**
 * morph_defrag_plan() - read the plan of the request after all moves
 * @defrag: the object, solved
 *
 * Return: the plan, owned by @defrag; it has the verdict of the answer.
 */
const struct morph_plan *morph_defrag_plan(const struct morph_defrag *defrag);

/**
 * morph_defrag_keep() - keep the fibres that running slices need after a failure
 * @defrag: the object, filled by morph_defrag_read()
 * @ledger: the ledger filled by the same call; it must outlive the kept fibres
 *
 * Protects each slice that its kernel repairs automatically (MORPH_FAILOVER_AUTOMATIC), one after
 * the other, and keeps the protection's fibres. Slices that are placed in the ledger from then on
 * take none of them. Spares in the kernel's own plans come before nearer ones. This includes slices
 * in several racks and of other controllers, which solving does not move. It excludes slices that
 * are not completely known, and slices with a reserved spare, for which the kernel holds the
 * fibres.
 *
 * morph_defrag_read() and morph_defrag_free() release the kept fibres. Solving moves nothing onto
 * them or away from them.
 *
 * Return: how many ranks have a spare that could be lit, -EPROTO (the ledger has changed since it
 * was read) or -ENOMEM.
 */
int morph_defrag_keep(struct morph_defrag *defrag, struct morph_ledger *ledger);

/**
 * morph_defrag_light() - find paths inside servers for all steps
 * @defrag: the object, filled by morph_defrag_read() and solved, with a feasible answer
 * @ledger: the ledger that it was solved for, unchanged; only counters change
 * @out: the new summary, or NULL: a circuit without a second path inside a server goes dark
 *
 * Runs the driver's router and validator for each step in the state that the fabric will then have.
 * Circuits can get other fibres between the same servers.
 *
 * Return: 0, -EINVAL (no feasible answer; slices that were not read from a fabric), -EBUSY (no
 * paths for a step: the text names the circuit), -ENOMEM, or the error of the validator.
 */
int morph_defrag_light(struct morph_defrag *defrag, struct morph_ledger *ledger,
		       struct morph_defrag_result *out);

/**
 * morph_txn_add_step() - add the changes of a step to a transaction
 * @txn: the transaction, to be run on the slice that the answer names for the step
 * @defrag: the object, after morph_defrag_light()
 * @step: number of the step
 *
 * Run the steps in order, each after the success of the one before. After a failure the fabric is
 * as before the failed step; morph_txn_add_broken() lights dark circuits again.
 *
 * Return: 0, -EINVAL (morph_defrag_light() has not succeeded), -ENOENT (unknown step) or -ENOMEM.
 * After an error the transaction is unchanged.
 */
int morph_txn_add_step(struct morph_txn *txn, const struct morph_defrag *defrag, uint32_t step);

/**
 * morph_txn_add_broken() - add circuits that earlier steps left dark
 * @txn: the transaction, to be run on @slice, each change for itself
 * @defrag: the object, after morph_defrag_light()
 * @done: number of steps that succeeded
 * @slice: number of the slice
 *
 * The driver finds the routes. Adds nothing if no circuit is dark.
 *
 * Return: 0, -EINVAL (@done exceeds the number of steps) or -ENOMEM. After an error the transaction
 * is unchanged.
 */
int morph_txn_add_broken(struct morph_txn *txn, const struct morph_defrag *defrag, uint32_t done,
			 uint32_t slice);

/**
 * morph_defrag_describe() - describe the answer completely
 * @defrag: the object, solved
 * @ledger: the ledger that it was solved for
 * @out: an object of type "defrag": verdict, steps, tenants, slices that stay, the request's plan;
 *	freed by morph_object_free()
 *
 * Return: 0, -EINVAL (not solved) or -ENOMEM.
 */
int morph_defrag_describe(const struct morph_defrag *defrag, const struct morph_ledger *ledger,
			  struct morph_object **out);

#ifdef __cplusplus
}
#endif

#endif /* MORPH_DEFRAG_H */

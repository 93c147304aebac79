/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libmorph: the spare and fibres that take over from each accelerator. Included by <morph/plan.h>.
 */
#ifndef MORPH_PROTECT_H
#define MORPH_PROTECT_H

#include <morph/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * DOC: Protection
 *
 * A protection states for each rank of a slice which spare takes over if its accelerator fails, and
 * which fibres its circuits then use. The driver finds such plans itself, on fibres that are dark
 * at the time. The planner finds them in advance, proves where none exist, and can keep the fibres
 * from slices that are placed later. morph_protection_apply() sets these spares in the driver,
 * which tries them first.
 *
 *	morph_ledger_take(ledger, plan, 7);
 *	if (!morph_protect(ledger, plan, protection))
 *		morph_protection_describe(protection, plan, ledger, &answer);
 *	...
 *	morph_protection_apply(protection, fabric, 7);
 *
 * One accelerator fails at a time. So protections share spares and fibres with each other, also
 * across slices, but not with light (shared protection, ITU-T G.808.3). Take all slices first, then
 * protect each and keep its protection.
 *
 * One thread at a time can use a protection together with its ledger. The answer depends on plan
 * and ledger alone. Find it again after a change of health, spares or the slice's circuits.
 */

/**
 * morph_protection_new() - allocate the protection of a slice
 * @ctx: the context, which must outlive it
 *
 * Return: the protection, freed by morph_protection_free(); NULL when out of memory.
 */
struct morph_protection *morph_protection_new(struct morph_ctx *ctx);

/**
 * morph_protection_free() - free a protection
 * @protection: the protection, not kept by a ledger, or NULL
 */
void morph_protection_free(struct morph_protection *protection);

/**
 * morph_protect() - find a spare for each rank
 * @ledger: the ledger, which has taken @plan; changes only the memory of the search
 * @plan: the slice's plan
 * @protection: the answer; its earlier content is lost
 *
 * Tries the healthy, unassigned spares of the rank's rack, in the order of the least number of
 * fibres that the circuits need to reach them. The circuits of the failed accelerator are dark, so
 * their fibres are free; all others stay. With MORPH_TRANSIT_OWN, light crosses only servers whose
 * accelerators all belong to the slice or are spares.
 *
 * Routes come from negotiated congestion, then from full search. If more circuits leave or enter
 * the spare's server than can pass, a cut proves it (Ford and Fulkerson, 1956). O(ranks * (fibres
 * of the rack + spares * work for the circuits of one rank)). The search is exponential in the
 * worst case and stops after 2^16 steps. A circuit to another rack keeps its part there, and the
 * link by which it leaves. If no spare reaches this link, the rank is undecided, because the
 * circuit might leave by another link. Allocates nothing once @protection has seen a slice as
 * large.
 *
 * Return: 0, whatever the verdict; -EINVAL (the plan is not feasible, shares fibres by wavelength,
 * is of another fabric, or is not taken), -EBUSY (a ledger keeps @protection) or -ENOMEM.
 */
int morph_protect(struct morph_ledger *ledger, const struct morph_plan *plan,
		  struct morph_protection *protection);

/**
 * morph_protection_describe() - describe a protection completely
 * @protection: the protection, filled by morph_protect()
 * @plan: the plan that it was found for
 * @ledger: the ledger that it was found for
 * @out: object of type "protection": verdict; for each rank its spare and its circuits with servers
 *	and fibres, or the reason against each spare
 *
 * Return: 0, -EINVAL (the protection is empty, or of another fabric) or -ENOMEM.
 */
int morph_protection_describe(const struct morph_protection *protection,
			      const struct morph_plan *plan, const struct morph_ledger *ledger,
			      struct morph_object **out);

/**
 * morph_protection_apply() - set the preferred spares of a slice in the driver
 * @protection: the protection, filled by morph_protect()
 * @fabric: the fabric
 * @slice: the slice, lit as in the protection's plan; it must allow the spares of its rack
 *
 * For administrators. An unprotected rank gets no preference. The driver plans the paths itself,
 * and again after every change of a resource that they need. If it finds no paths to a preferred
 * spare, or the spare is not free, it takes the next one. A replaced rank has no preference, so
 * find and apply its protection again.
 *
 * Return: 0, -EINVAL (the protection is empty) or as morph_admin_slice_set(); after an error no
 * preference changes.
 */
int morph_protection_apply(const struct morph_protection *protection, uint32_t fabric,
			   uint32_t slice);

#ifdef __cplusplus
}
#endif

#endif /* MORPH_PROTECT_H */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libmorph: which spare takes over from which accelerator, and by which fibres. Included by <morph/plan.h>. */
#ifndef MORPH_PROTECT_H
#define MORPH_PROTECT_H

#include <morph/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * DOC: Protection
 *
 * For each rank of a slice: if its accelerator failed, which spare would take its place, and by which
 * fibres would its circuits go? The driver finds such plans by itself, from what is dark at the
 * time. Here they are found beforehand, proven where there are none, and the fibres that they need
 * can be kept from slices that are placed later, so that the driver finds them dark. Once the slice
 * is lit the driver is told which spares these are, and tries them first.
 *
 *	morph_ledger_take(ledger, plan, 7);
 *	if (!morph_protect(ledger, plan, protection))
 *		morph_protection_describe(protection, plan, ledger, &answer);
 *	...
 *	morph_protection_apply(protection, fabric, 7);
 *
 * One accelerator fails at a time: protections share spares and fibres with one another, those of
 * other slices too, and none with light (shared protection, ITU-T G.808.3). All slices
 * are taken first, then each is protected and its protection kept.
 *
 * A protection is used by one thread at a time, together with its ledger; it follows from plan and
 * ledger alone. It says what was so when it was found: it is to be found anew when health, spares or
 * circuits of the slice have changed.
 */

/**
 * morph_protection_new() - room for the protection of a slice
 * @ctx: the context, which must outlive it
 *
 * Return: the protection, freed by morph_protection_free(); NULL when out of memory.
 */
struct morph_protection *morph_protection_new(struct morph_ctx *ctx);

/**
 * morph_protection_free() - free a protection
 * @protection: the protection, which no ledger keeps, or NULL
 */
void morph_protection_free(struct morph_protection *protection);

/**
 * morph_protect() - find who would take over from each rank
 * @ledger: the ledger, which has taken @plan; not changed, but for memory that the search uses
 * @plan: the slice's plan
 * @protection: the answer; what was in it is forgotten
 *
 * The sound spares of the rank's rack that are nobody's are tried in the order of the fibres that its
 * circuits need to get there at least. The circuits of the failed accelerator are dark then, so their
 * fibres are free; all others stay as they are. With MORPH_TRANSIT_OWN light crosses servers only of which
 * nobody else will have a part, for all of their accelerators are the slice's or spares.
 *
 * Routes are found by negotiated congestion, then by search of all ways; where more is wanted out of
 * the spare's server, or into it, than can get through, a cut proves that there are none (Ford and
 * Fulkerson, 1956). O(ranks * (strands of the
 * rack + spares * work for the circuits of one rank)); the search is exponential at worst, and given
 * up after 2^16 steps. A circuit that ends in another rack keeps what it has there, and the link by which
 * it leaves; where no spare leads there the rank is not decided, for it might leave elsewhere. Nothing is allocated once @protection has seen a slice as large.
 *
 * Return: 0, whatever the verdict; -EINVAL (the plan is not feasible, shares fibres by wavelength, is another fabric's, or not
 * taken), -EBUSY (@protection is kept by a ledger) or -ENOMEM.
 */
int morph_protect(struct morph_ledger *ledger, const struct morph_plan *plan,
		  struct morph_protection *protection);

/**
 * morph_protection_describe() - all that a protection says
 * @protection: the protection, filled by morph_protect()
 * @plan: the plan that it was found for
 * @ledger: the ledger that it was found for
 * @out: object of type "protection": verdict; of each rank its spare and its circuits with servers
 *	and fibres, or why each spare does not do
 *
 * Return: 0, -EINVAL (the protection is empty, or another fabric's) or -ENOMEM.
 */
int morph_protection_describe(const struct morph_protection *protection,
			      const struct morph_plan *plan, const struct morph_ledger *ledger,
			      struct morph_object **out);

/**
 * morph_protection_apply() - tell the driver which spares are to take over
 * @protection: the protection, filled by morph_protect()
 * @fabric: the fabric
 * @slice: the slice, lit as the protection's plan says; it must allow the spares of its rack
 *
 * As administrator. A rank that is not protected prefers none.
 * The driver plans the ways anew, and does so again whenever something that they need has changed;
 * a spare to which it finds none, or which is not free any more, gives way to the next. A rank that
 * was replaced prefers none: protections are to be found and told anew.
 *
 * Return: 0, -EINVAL (the protection is empty) or as morph_admin_slice_prefer(): then none is preferred anew.
 */
int morph_protection_apply(const struct morph_protection *protection, uint32_t fabric,
			   uint32_t slice);

#ifdef __cplusplus
}
#endif

#endif /* MORPH_PROTECT_H */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libmorph: which spare takes over from which accelerator, and by which fibres. Included by <morph/morph.h>. */
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
 *		morph_ledger_keep(ledger, protection);
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
 * morph_protection_verdict() - is each rank protected?
 * @protection: the protection
 *
 * Return: enum morph_verdict: MORPH_INFEASIBLE where one rank is proven not to be; 0 of a
 * protection that morph_protect() has not filled.
 */
uint32_t morph_protection_verdict(const struct morph_protection *protection);

/**
 * morph_protection_ranks() - number of ranks
 * @protection: the protection
 *
 * Return: how many; 0 of a protection that morph_protect() has not filled.
 */
uint32_t morph_protection_ranks(const struct morph_protection *protection);

/**
 * morph_protection_of() - is a rank protected?
 * @protection: the protection
 * @rank: below morph_protection_ranks()
 *
 * Return: enum morph_verdict: MORPH_INFEASIBLE where no spare does, which is proven of each, or where
 * there is none; 0 of a rank that does not exist.
 */
uint32_t morph_protection_of(const struct morph_protection *protection, uint32_t rank);

/**
 * morph_protection_spare() - who takes over from a rank
 * @protection: the protection
 * @rank: the rank
 *
 * Return: the spare's index, UINT32_MAX of a rank that is not protected.
 */
uint32_t morph_protection_spare(const struct morph_protection *protection, uint32_t rank);

/**
 * morph_protection_fibres() - how many fibres a rank's circuits take then
 * @protection: the protection
 * @rank: the rank
 *
 * Return: how many, those that its circuits have now among them; 0 of a rank that is not protected.
 */
uint32_t morph_protection_fibres(const struct morph_protection *protection, uint32_t rank);

/**
 * morph_protection_why() - why some rank is not protected
 * @protection: the protection
 *
 * Return: a sentence that names the first such rank and what is short, owned by @protection; ""
 * where all are.
 */
const char *morph_protection_why(const struct morph_protection *protection);

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
 * As administrator; a slice's owner has morph_slice_protect(). A rank that is not protected prefers none.
 * The driver plans the ways anew, and does so again whenever something that they need has changed;
 * a spare to which it finds none, or which is not free any more, gives way to the next. A rank that
 * was replaced prefers none: protections are to be found and told anew.
 *
 * Return: 0, -EINVAL (the protection is empty) or as morph_admin_slice_prefer(): then none is preferred anew.
 */
int morph_protection_apply(const struct morph_protection *protection, uint32_t fabric,
			   uint32_t slice);

/**
 * morph_slice_protect() - tell the driver which spares are to take over, as a slice's owner
 * @slice: the slice, lit as the protection's plan says; it must allow the spares of its rack
 * @protection: the protection, filled by morph_protect()
 *
 * As morph_protection_apply(), but rank by rank: those before one that is refused are told.
 *
 * Return: 0, -EINVAL (the protection is empty) or as morph_slice_prefer().
 */
int morph_slice_protect(struct morph_slice *slice, const struct morph_protection *protection);

/**
 * morph_ledger_keep() - keep the fibres of a protection dark
 * @ledger: the ledger that it was found for, as it was
 * @protection: the protection; it must stay until morph_ledger_unkeep()
 *
 * Ranks that are protected stay so: until morph_ledger_unkeep() no plan is placed on their fibres or
 * taken there, and defragmentation leaves what is lit there where it is. Protections of other slices may
 * share them. What is marked or loaded by its number is not looked at.
 *
 * Return: 0, -EINVAL (it is empty, or another fabric's) or -EBUSY (it is kept already; a spare is
 * none any more, or a fibre not dark: nothing is changed).
 */
int morph_ledger_keep(struct morph_ledger *ledger, struct morph_protection *protection);

/**
 * morph_ledger_unkeep() - let go of the fibres of a protection
 * @ledger: the ledger that keeps it
 * @protection: the protection
 *
 * Return: 0 or -EINVAL (this ledger does not keep it).
 */
int morph_ledger_unkeep(struct morph_ledger *ledger, struct morph_protection *protection);

#ifdef __cplusplus
}
#endif

#endif /* MORPH_PROTECT_H */

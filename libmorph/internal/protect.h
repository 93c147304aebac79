/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of <morph/protect.h> that only the library, its tests and its benches call. */
#ifndef LM_INTERNAL_PROTECT_H
#define LM_INTERNAL_PROTECT_H

#include <morph/plan.h>

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
 * Return: enum morph_verdict: MORPH_INFEASIBLE where no spare does, which is proven of each, or
 * where there is none; 0 of a rank that does not exist.
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
 * Ranks that are protected stay so: until morph_ledger_unkeep() no plan is placed on their fibres
 * or taken there, and defragmentation leaves what is lit there where it is. Protections of other
 * slices may share them. What is marked or loaded by its number is not looked at.
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

/**
 * morph_risk_solve() - solve a model of risk, as morph_risk_spares() does first
 * @risk: the model
 *
 * It takes the servers one after the other and keeps a row for each
 * combination of the servers to come that what they share has hit. O(combinations *
 * accelerators * accelerators of a server) for each server and each thing shared: two
 * combinations for supplies that contain one another, 2^8 for the fibres of a 2x2x4 torus.
 *
 * Return: 0, -E2BIG (more than 2^23 / accelerators combinations; the text tells at which
 * server) or -ENOMEM.
 */
int morph_risk_solve(struct morph_risk *risk);

#endif /* LM_INTERNAL_PROTECT_H */

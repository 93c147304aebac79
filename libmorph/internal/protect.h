/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of <morph/protect.h> that only the library, its tests and its benches call. */
#ifndef LM_INTERNAL_PROTECT_H
#define LM_INTERNAL_PROTECT_H

#include <morph/plan.h>

/**
 * morph_protection_verdict() - read whether all ranks are protected
 * @protection: the protection
 *
 * Return: enum morph_verdict: MORPH_INFEASIBLE if one rank is proven to have no spare; 0 of a
 * protection that morph_protect() has not filled.
 */
uint32_t morph_protection_verdict(const struct morph_protection *protection);

/**
 * morph_protection_ranks() - read the number of ranks
 * @protection: the protection
 *
 * Return: the number of ranks; 0 of a protection that morph_protect() has not filled.
 */
uint32_t morph_protection_ranks(const struct morph_protection *protection);

/**
 * morph_protection_of() - read whether a rank is protected
 * @protection: the protection
 * @rank: below morph_protection_ranks()
 *
 * Return: enum morph_verdict: MORPH_INFEASIBLE if there is no spare, or a proof against each one; 0
 * of a rank that does not exist.
 */
uint32_t morph_protection_of(const struct morph_protection *protection, uint32_t rank);

/**
 * morph_protection_spare() - read the spare of a rank
 * @protection: the protection
 * @rank: the rank
 *
 * Return: the spare's index, UINT32_MAX of a rank that is not protected.
 */
uint32_t morph_protection_spare(const struct morph_protection *protection, uint32_t rank);

/**
 * morph_protection_fibres() - count the fibres of a rank's circuits after its failure
 * @protection: the protection
 * @rank: the rank
 *
 * Return: the number of fibres, including present ones; 0 of a rank that is not protected.
 */
uint32_t morph_protection_fibres(const struct morph_protection *protection, uint32_t rank);

/**
 * morph_protection_why() - read why a rank is not protected
 * @protection: the protection
 *
 * Return: a sentence with the first such rank and the missing resource, owned by @protection; "" if
 * all ranks are protected.
 */
const char *morph_protection_why(const struct morph_protection *protection);

/**
 * morph_slice_protect() - set the preferred spares of a slice as its owner
 * @slice: the slice, lit as in the protection's plan; it must allow the spares of its rack
 * @protection: the protection, filled by morph_protect()
 *
 * As morph_protection_apply(), but rank by rank. If the driver refuses a rank, the ranks before it
 * keep their new preference.
 *
 * Return: 0, -EINVAL (the protection is empty) or as morph_slice_prefer().
 */
int morph_slice_protect(struct morph_slice *slice, const struct morph_protection *protection);

/**
 * morph_ledger_keep() - keep the fibres of a protection dark
 * @ledger: the ledger that it was found for, unchanged
 * @protection: the protection; it must stay until morph_ledger_unkeep()
 *
 * Protected ranks stay protected. Until morph_ledger_unkeep() no plan takes their fibres, and
 * defragmentation moves no circuit away from them. Protections of other slices can share them.
 * morph_ledger_mark() and morph_ledger_load() ignore kept fibres.
 *
 * Return: 0, -EINVAL (it is empty, or of another fabric) or -EBUSY (it is kept already; a spare is
 * no spare any more, or a fibre is not dark). After an error nothing changes.
 */
int morph_ledger_keep(struct morph_ledger *ledger, struct morph_protection *protection);

/**
 * morph_ledger_unkeep() - release the kept fibres of a protection
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
 * It takes one server after the other and keeps a row for each combination of later servers that a
 * shared part has taken down. O(combinations * accelerators * accelerators of a server) for each
 * server and each shared part: two combinations for supplies that contain one another, 2^8 for the
 * fibres of a 2x2x4 torus.
 *
 * Return: 0, -E2BIG (more than 2^23 / accelerators combinations; the text names the server) or
 * -ENOMEM.
 */
int morph_risk_solve(struct morph_risk *risk);

#endif /* LM_INTERNAL_PROTECT_H */

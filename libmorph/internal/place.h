/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of <morph/place.h> that only the library, its tests and its benches call. */
#ifndef LM_INTERNAL_PLACE_H
#define LM_INTERNAL_PLACE_H

#include <morph/plan.h>

/**
 * morph_ledger_load() - lanes of a guide are lit
 * @ledger: the ledger
 * @guide: its index
 * @lanes: mask of those in use
 *
 * Return: 0, -ENOENT or -EINVAL (lanes that the guide does not have).
 */
int morph_ledger_load(struct morph_ledger *ledger, uint32_t guide, uint64_t lanes);

/**
 * morph_plan_tier() - how far apart the accelerators lie
 * @plan: a feasible plan
 *
 * Return: enum morph_tier, or 0.
 */
uint32_t morph_plan_tier(const struct morph_plan *plan);

/**
 * morph_plan_fibres() - how many fibres the circuits take, each counted once for each circuit
 * @plan: a feasible plan
 * @bound: where to put how many any plan with these ranks on these accelerators takes at
 * 	least, by its distances, across racks one for each circuit between servers; or NULL
 *
 * Return: how many.
 */
uint32_t morph_plan_fibres(const struct morph_plan *plan, uint32_t *bound);

/**
 * morph_plan_servers() - how many servers the ranks lie in
 * @plan: a feasible plan
 * @bound: where to put how many any so many accelerators lie in at least, by what is free in
 * 	the servers of the rack, across racks in all; or NULL
 *
 * Return: how many.
 */
uint32_t morph_plan_servers(const struct morph_plan *plan, uint32_t *bound);

/**
 * morph_plan_why() - why there is no plan
 * @plan: the plan
 *
 * Return: a sentence that names what is short, owned by @plan; "" of a feasible plan.
 */
const char *morph_plan_why(const struct morph_plan *plan);

/**
 * morph_txn_add_plan() - light the circuits of a plan
 * @txn: the transaction, of a slice with the plan's accelerators in the order of its ranks
 * @plan: a feasible plan; some of its fibres may afterwards be others between the same servers
 * @ledger: the ledger that it was made for, before morph_ledger_take(); afterwards as before
 *
 * Each circuit becomes a change of the transaction, in the order of the request, with all of its
 * guides and lanes: on the plan's fibres, and inside servers by the router of the driver, through
 * what the ledger says is free there. What the driver's judge would refuse is refused here; the
 * kernel judges again. Where a circuit finds its way blocked, those that cross a server that it
 * crosses are taken back, and led again after it (rip up and reroute; Dees and Smith, DAC 1981). If
 * it was blocked three times it may take other free fibres between the same servers, over a switch
 * where the plan does, and the plan says so from then on; after the twelfth time that is all. Each
 * time costs O(circuits in these servers * steps log steps) with at most 2^14 steps, in most cases
 * a few dozen. What is more than the kernel takes in one transaction can be run as several:
 * morph_txn_split().
 *
 * Return: 0, -EINVAL (the plan is not feasible, or another fabric's), -EOPNOTSUPP (circuits
 * share a fibre in different wavelengths, which no element parts), -EBUSY (no ways were found
 * inside the servers: the text names the circuit), what the
 * judge says (-ERANGE, -EXDEV...) or -ENOMEM; then the transaction is as before.
 */
int morph_txn_add_plan(struct morph_txn *txn, struct morph_plan *plan, struct morph_ledger *ledger);

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

#endif /* LM_INTERNAL_PLACE_H */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of <morph/place.h> that only the library, its tests and its benches call. */
#ifndef LM_INTERNAL_PLACE_H
#define LM_INTERNAL_PLACE_H

#include <morph/plan.h>

/**
 * morph_ledger_load() - record lanes of a guide as in use
 * @ledger: the ledger
 * @guide: its index
 * @lanes: mask of lanes in use
 *
 * Return: 0, -ENOENT or -EINVAL (lanes that the guide does not have).
 */
int morph_ledger_load(struct morph_ledger *ledger, uint32_t guide, uint64_t lanes);

/**
 * morph_plan_tier() - read the tier of a plan
 * @plan: a feasible plan
 *
 * Return: enum morph_tier, or 0.
 */
uint32_t morph_plan_tier(const struct morph_plan *plan);

/**
 * morph_plan_fibres() - count fibres, once for each circuit
 * @plan: a feasible plan
 * @bound: set to a lower bound for all plans with these ranks on these accelerators: by distances,
 *	or across racks one for each circuit between servers; or NULL
 *
 * Return: the number of fibres.
 */
uint32_t morph_plan_fibres(const struct morph_plan *plan, uint32_t *bound);

/**
 * morph_plan_servers() - count the servers of a plan
 * @plan: a feasible plan
 * @bound: set to a lower bound for this number of accelerators, by the free ones of the rack's
 *	servers, or across racks of all servers; or NULL
 *
 * Return: the number of servers.
 */
uint32_t morph_plan_servers(const struct morph_plan *plan, uint32_t *bound);

/**
 * morph_plan_why() - read why there is no plan
 * @plan: the plan
 *
 * Return: a sentence with the missing resource, owned by @plan; "" of a feasible plan.
 */
const char *morph_plan_why(const struct morph_plan *plan);

/**
 * morph_txn_add_plan() - add the circuits of a plan to a transaction
 * @txn: the transaction, of a slice with the plan's accelerators in the order of its ranks
 * @plan: a feasible plan; afterwards some fibres can be others between the same servers
 * @ledger: the ledger that it was made for, before morph_ledger_take(); unchanged afterwards
 *
 * Each circuit becomes a change of the transaction, in the order of the request, with all of its
 * guides and lanes. It uses the plan's fibres. The driver's router finds the paths inside servers,
 * on the free resources of the ledger. The driver's validator checks the result, and the kernel
 * checks it again.
 *
 * If a circuit is blocked, the circuits in its servers are released and routed after it (rip up and
 * reroute; Dees and Smith, DAC 1981). After three attempts it can take other free fibres between
 * the same servers, over a switch if the plan does. The plan then has these fibres. After twelve
 * attempts the function fails. Each attempt costs O(circuits in these servers * steps log steps)
 * with at most 2^14 steps, mostly a few dozen. morph_txn_split() splits a transaction that is too
 * large for the kernel.
 *
 * Return: 0, -EINVAL (the plan is not feasible, or of another fabric), -EOPNOTSUPP, -EBUSY, the
 * error of the validator (-ERANGE, -EXDEV...) or -ENOMEM. If circuits share a fibre in different
 * wavelengths, which no element separates, it is -EOPNOTSUPP. If no paths were found inside the
 * servers, it is -EBUSY, and the text names the circuit. After an error the transaction is
 * unchanged.
 */
int morph_txn_add_plan(struct morph_txn *txn, struct morph_plan *plan, struct morph_ledger *ledger);

/**
 * morph_plan_verdict() - read the verdict of a plan
 * @plan: the plan
 *
 * Return: enum morph_verdict, 0 of a plan that morph_place() has not filled.
 */
uint32_t morph_plan_verdict(const struct morph_plan *plan);

/**
 * morph_plan_ranks() - read the number of ranks
 * @plan: a feasible plan
 *
 * Return: the number of ranks; 0 if the plan is not feasible.
 */
uint32_t morph_plan_ranks(const struct morph_plan *plan);

/**
 * morph_plan_accelerator() - read the accelerator of a rank
 * @plan: a feasible plan
 * @rank: below morph_plan_ranks()
 *
 * Return: its index, or UINT32_MAX.
 */
uint32_t morph_plan_accelerator(const struct morph_plan *plan, uint32_t rank);

#endif /* LM_INTERNAL_PLACE_H */

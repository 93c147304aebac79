/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of <morph/txn.h> that only the library, its tests and its benches call. */
#ifndef LM_INTERNAL_TXN_H
#define LM_INTERNAL_TXN_H

#include <morph/morph.h>

/**
 * morph_txn_clear() - forget a transaction's changes and settings
 * @txn: the transaction, as new afterwards
 */
void morph_txn_clear(struct morph_txn *txn);

/**
 * morph_txn_set_cookie() - name a transaction, so that a repeated call is harmless
 * @txn: the transaction
 * @cookie: the name, 0: none
 */
void morph_txn_set_cookie(struct morph_txn *txn, uint64_t cookie);

/**
 * morph_txn_step_cookie() - go on with a transaction that somebody else may have prepared
 * @slice: the slice
 * @cookie: as it was given to morph_txn_set_cookie() by whoever prepared it
 * @verb: as for morph_txn_step()
 * @lease_ns: as for morph_txn_step()
 * @out: as for morph_txn_step()
 *
 * Finds the last few ended transactions of a slice too. So a restarted coordinator reads its
 * progress with MORPH_TXN_QUERY.
 *
 * Return: as morph_txn_step().
 */
int morph_txn_step_cookie(struct morph_slice *slice, uint64_t cookie, uint32_t verb,
			  uint64_t lease_ns, struct morph_object **out);

/**
 * morph_slice_replan() - plan and run, with fresh snapshots when overtaken
 * @slice: the slice
 * @plan: makes the plan
 * @arg: handed to @plan
 * @attempts: how many snapshots at most, 0 for 8
 * @out: as in morph_txn_run(); NULL inside also when there was nothing to change
 *
 * Where the plan was overtaken (ESTALE) or the slice is under repair (EAGAIN), waits
 * a little, longer each time, reads the slice again and calls @plan again.
 *
 * Return: as morph_txn_run(); the last ESTALE or EAGAIN when attempts ran out.
 */
int morph_slice_replan(struct morph_slice *slice, morph_plan_fn plan, void *arg, uint32_t attempts,
		       struct morph_object **out);

#endif /* LM_INTERNAL_TXN_H */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of <morph/admin.h> that only the library, its tests and its benches call. */
#ifndef LM_INTERNAL_ADMIN_H
#define LM_INTERNAL_ADMIN_H

#include <morph/morph.h>

/**
 * morph_admin_slice_named() - read a named slice
 * @ctx: the context
 * @fabric: its fabric
 * @name: its name
 * @out: object of type "slice" with its ranks inside
 *
 * Return: 0 or a negative errno.
 */
int morph_admin_slice_named(struct morph_ctx *ctx, uint32_t fabric, const char *name,
			    struct morph_object **out);

/**
 * morph_admin_hardware_part() - read one piece of hardware, healthy or not
 * @ctx: the context
 * @fabric: its fabric
 * @part: enum morph_part
 * @index: which one
 * @out: object of type "hardware"
 *
 * Return: 0 or a negative errno.
 */
int morph_admin_hardware_part(struct morph_ctx *ctx, uint32_t fabric, uint32_t part, uint32_t index,
			      struct morph_object **out);

/**
 * morph_admin_quota() - read a user's limits, and what the user holds
 * @ctx: the context
 * @uid: user id, or MORPH_ANY for the default limits
 * @out: object of type "quota"
 *
 * Return: 0 or a negative errno.
 */
int morph_admin_quota(struct morph_ctx *ctx, uint32_t uid, struct morph_object **out);

/**
 * morph_admin_txn_step() - go on with a prepared transaction
 * @ctx: the context
 * @fabric: its fabric
 * @txn: its number
 * @verb: MORPH_TXN_COMMIT, MORPH_TXN_CONFIRM or MORPH_TXN_REVERT
 * @lease_ns: for MORPH_TXN_COMMIT: time within which the confirmation must come;
 *            0: keep
 * @out: object of type "txn"; may be NULL
 *
 * Return: 0, -ENOENT, -ETIME, -ECANCELED or another negative errno.
 */
int morph_admin_txn_step(struct morph_ctx *ctx, uint32_t fabric, uint32_t txn, uint32_t verb,
			 uint64_t lease_ns, struct morph_object **out);

#endif /* LM_INTERNAL_ADMIN_H */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libmorph: fabrics. Included by <morph/morph.h>. */
#ifndef MORPH_FABRIC_H
#define MORPH_FABRIC_H

#include <morph/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * morph_fabrics() - list all fabrics
 * @ctx: the context
 * @out: objects of type "fabric", in the order of their numbers
 *
 * The list comes from netlink or, if that is not available, from the device nodes that the caller
 * may open.
 *
 * Return: 0 (also for an empty list) or a negative errno.
 */
int morph_fabrics(struct morph_ctx *ctx, struct morph_list **out);

/**
 * morph_fabric_open() - open a fabric
 * @ctx: the context
 * @which: its number, name, UUID or the path of its node; NULL: the only one. "name:2" is the name
 *	2, which older drivers accept
 * @out: the fabric, closed by morph_fabric_close()
 *
 * Return: 0, -ENOENT (no such fabric; none at all), -EACCES, -ENOTUNIQ (@which is NULL and there
 * are several; or a name of several fabrics), or the error of open().
 */
int morph_fabric_open(struct morph_ctx *ctx, const char *which, struct morph_fabric **out);

/**
 * struct morph_grant_opts - the limits of a grant
 * @sz: size of this structure
 * @bytes: kernel memory; UINT64_MAX: no limit
 * @accelerators: accelerators; for this and the following fields, MORPH_ANY means no limit
 * @circuits: circuits
 * @lanes: lanes of circuits
 * @prepared: prepared transactions
 * @replacements: replacements of each slice in an hour
 *
 * Fields that are left out are 0: the grant may hold none of these.
 */
struct morph_grant_opts {
	size_t sz;
	uint64_t bytes;
	uint32_t accelerators;
	uint32_t circuits;
	uint32_t lanes;
	uint32_t prepared;
	uint32_t replacements;
};

/**
 * morph_fabric_close() - close a fabric
 * @fabric: the fabric, or NULL; its slices stay
 */
void morph_fabric_close(struct morph_fabric *fabric);

/**
 * morph_fabric_info() - read the present state of a fabric
 * @fabric: the fabric
 * @out: object of type "fabric"
 *
 * Return: 0, -ENODEV (it is gone) or a negative errno.
 */
int morph_fabric_info(struct morph_fabric *fabric, struct morph_object **out);

#ifdef __cplusplus
}
#endif

#endif /* MORPH_FABRIC_H */

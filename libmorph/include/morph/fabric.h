/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libmorph: fabrics. Included by <morph/morph.h>. */
#ifndef MORPH_FABRIC_H
#define MORPH_FABRIC_H

#include <morph/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * morph_devices() - the device nodes that are there
 * @ctx: the context
 * @out: objects of type "device": action "present", kind ("fabric" or "slice"),
 *       number, path; in the order of kind and number
 *
 * From udev; where udev does not run, from the nodes in /dev/morph.
 *
 * Return: 0 (also for an empty list) or a negative errno.
 */
int morph_devices(struct morph_ctx *ctx, struct morph_list **out);

/**
 * morph_fabrics() - the fabrics that are there
 * @ctx: the context
 * @out: objects of type "fabric", in the order of their numbers
 *
 * From netlink, or where that is not to be had from the device nodes; a node that
 * may not be opened is then left out.
 *
 * Return: 0 (also for an empty list) or a negative errno.
 */
int morph_fabrics(struct morph_ctx *ctx, struct morph_list **out);

/**
 * morph_fabric_open() - open a fabric
 * @ctx: the context
 * @which: its number, name, UUID or the path of its node; NULL: the only one
 * @out: the fabric, closed by morph_fabric_close()
 *
 * Return: 0, -ENOENT (no such fabric; none at all), -EACCES, -ENOTUNIQ (@which is
 * NULL and there are several; or a name that several bear), or what open() says.
 */
int morph_fabric_open(struct morph_ctx *ctx, const char *which, struct morph_fabric **out);

/**
 * morph_fabric_from_fd() - use an open fabric node
 * @ctx: the context
 * @fd: its fd, of which a duplicate is kept; the caller goes on owning @fd
 * @out: the fabric, closed by morph_fabric_close()
 *
 * Needs neither udev nor netlink: what a container is given is enough.
 *
 * Return: 0, -ENOTTY (the fd is of something else) or a negative errno.
 */
int morph_fabric_from_fd(struct morph_ctx *ctx, int fd, struct morph_fabric **out);

/**
 * struct morph_grant_opts - the limits of a grant
 * @sz: size of this structure
 * @bytes: kernel memory; UINT64_MAX: no limit
 * @accelerators: accelerators; of this and the following MORPH_ANY means: no limit
 * @circuits: circuits
 * @lanes: lanes of circuits
 * @prepared: prepared transactions
 * @replacements: replacements of each slice in an hour
 *
 * What is not named is 0: nothing of it may be held.
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
 * morph_fabric_grant() - open a fabric once more, with limits of its own
 * @fabric: the fabric
 * @opts: the limits
 * @out: the fabric, closed by morph_fabric_close()
 * @number: the grant's number, by which quotas and slices name it; may be NULL
 *
 * Slices that are created by @out are charged to the grant instead of a user. Hand its fd
 * (morph_fabric_get_fd()) to a tenant over a socket: it is all that the tenant needs, and
 * becomes a fabric by morph_fabric_from_fd(). The grant is gone with its last file and its
 * last slice.
 *
 * Return: 0, -EPERM (the caller lacks CAP_NET_ADMIN), -EDQUOT (the limit of bytes does not
 * even hold the file) or another negative errno.
 */
int morph_fabric_grant(struct morph_fabric *fabric, const struct morph_grant_opts *opts,
		       struct morph_fabric **out, uint32_t *number);

/**
 * morph_fabric_close() - close a fabric
 * @fabric: the fabric, or NULL; its slices stay
 */
void morph_fabric_close(struct morph_fabric *fabric);

/**
 * morph_fabric_get_fd() - the fd of a fabric's node
 * @fabric: the fabric
 *
 * Return: the fd, which the caller must not close.
 */
int morph_fabric_get_fd(const struct morph_fabric *fabric);

/**
 * morph_fabric_number() - the number of a fabric
 * @fabric: the fabric
 *
 * Return: N of /dev/morph/fabricN. Never fails.
 */
uint32_t morph_fabric_number(const struct morph_fabric *fabric);

/**
 * morph_fabric_info() - what a fabric is, now
 * @fabric: the fabric
 * @out: object of type "fabric"
 *
 * Return: 0, -ENODEV (it is gone) or a negative errno.
 */
int morph_fabric_info(struct morph_fabric *fabric, struct morph_object **out);

/**
 * morph_fabric_accelerators() - a fabric's accelerators, now
 * @fabric: the fabric
 * @out: objects of type "accelerator" in the order of their indices
 *
 * Read again, within bounds, when the fabric changed while reading.
 *
 * Return: 0, -ENODEV, -EAGAIN (it never held still) or a negative errno.
 */
int morph_fabric_accelerators(struct morph_fabric *fabric, struct morph_list **out);

/**
 * morph_fabric_guides() - a fabric's guides, now
 * @fabric: the fabric
 * @out: objects of type "guide" in the order of their indices
 *
 * Return: as morph_fabric_accelerators().
 */
int morph_fabric_guides(struct morph_fabric *fabric, struct morph_list **out);

/**
 * morph_fabric_elements() - a fabric's elements, now
 * @fabric: the fabric
 * @out: objects of type "element" in the order of their indices
 *
 * Return: as morph_fabric_accelerators().
 */
int morph_fabric_elements(struct morph_fabric *fabric, struct morph_list **out);

/**
 * morph_fabric_edges() - where a fabric's guides leave it, now
 * @fabric: the fabric
 * @out: objects of type "edge" in the order of their indices
 *
 * Return: 0 or a negative errno.
 */
int morph_fabric_edges(struct morph_fabric *fabric, struct morph_list **out);

#ifdef __cplusplus
}
#endif

#endif /* MORPH_FABRIC_H */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of <morph/fabric.h> that only the library, its tests and its benches call. */
#ifndef LM_INTERNAL_FABRIC_H
#define LM_INTERNAL_FABRIC_H

#include <morph/morph.h>

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

#endif /* LM_INTERNAL_FABRIC_H */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libmorph: slices. Included by <morph/morph.h>. */
#ifndef MORPH_SLICE_H
#define MORPH_SLICE_H

#include <morph/request.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------- slices */

/**
 * morph_slice_create() - get a slice
 * @fabric: the fabric
 * @request: what is wanted; may be used again
 * @out: the slice, closed by morph_slice_close()
 *
 * Return: 0, -EINVAL (neither count nor accelerators are set), or as MORPH_SLICE_CREATE:
 * -ENOSPC, -EBUSY, -EDQUOT, -EEXIST...
 */
int morph_slice_create(struct morph_fabric *fabric, const struct morph_request *request,
		       struct morph_slice **out);

/**
 * morph_slice_open() - open a named slice
 * @ctx: the context
 * @which: its name, its number, or the path of its node
 * @out: the slice, closed by morph_slice_close()
 *
 * A name is looked for among the nodes that the caller may open.
 *
 * Return: 0, -ENOENT, -EACCES, or what open() says.
 */
int morph_slice_open(struct morph_ctx *ctx, const char *which, struct morph_slice **out);

/**
 * morph_slice_from_fd() - use an open slice file
 * @ctx: the context
 * @fd: its fd, of which a duplicate is kept; the caller goes on owning @fd
 * @out: the slice, closed by morph_slice_close()
 *
 * A duplicate shares the event queue of @fd.
 *
 * Return: 0, -ENOTTY (the fd is of something else) or a negative errno.
 */
int morph_slice_from_fd(struct morph_ctx *ctx, int fd, struct morph_slice **out);

/**
 * morph_slice_close() - close a slice
 * @slice: the slice, or NULL; an unnamed one ends with its last fd
 */
void morph_slice_close(struct morph_slice *slice);

/**
 * morph_slice_get_fd() - the fd of a slice
 * @slice: the slice
 *
 * For poll() in the caller's own loop (readable: events wait; hung up: the slice
 * or the fabric is gone), and to be passed on to other processes.
 *
 * Return: the fd, which the caller must not close.
 */
int morph_slice_get_fd(const struct morph_slice *slice);

/**
 * morph_slice_read() - read a slice whole
 * @slice: the slice
 * @info: object of type "slice" with an object per rank inside; may be NULL
 * @circuits: objects of type "circuit", without their paths; may be NULL
 *
 * Both are of the same instant.
 *
 * Return: 0, -ENODEV or a negative errno.
 */
int morph_slice_read(struct morph_slice *slice, struct morph_object **info,
		     struct morph_list **circuits);

/**
 * morph_slice_prefer() - say which spare is tried first, should a rank's accelerator fail
 * @slice: the slice
 * @rank: which one
 * @spare: one of the spares that the slice allows, or MORPH_ANY: none before others
 *
 * It holds until the rank has another accelerator.
 *
 * Return: 0, -ENOENT (no such rank or accelerator), -EBUSY (the spare is held, not healthy,
 * or not among those that the slice allows) or another negative errno.
 */
int morph_slice_prefer(struct morph_slice *slice, uint32_t rank, uint32_t spare);

/**
 * morph_slice_delete() - end a named slice
 * @fabric: the fabric
 * @which: its name or its number
 * @force: even while it is open; its files answer ENODEV from then on
 *
 * Return: 0, -ENOENT, -EBUSY (open, and @force is false), -EPERM or another
 * negative errno.
 */
int morph_slice_delete(struct morph_fabric *fabric, const char *which, bool force);

#ifdef __cplusplus
}
#endif

#endif /* MORPH_SLICE_H */

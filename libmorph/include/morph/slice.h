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
 * @which: its name, its number, or the path of its node. "name:2" is the name 2, which older
 *	drivers accept
 * @out: the slice, closed by morph_slice_close()
 *
 * For a name, the call searches the nodes that the caller may open.
 *
 * Return: 0, -ENOENT, -EACCES, or the error of open().
 */
int morph_slice_open(struct morph_ctx *ctx, const char *which, struct morph_slice **out);

/**
 * morph_slice_from_fd() - use an open slice file
 * @ctx: the context
 * @fd: its fd, which the call duplicates; the caller still owns @fd
 * @out: the slice, closed by morph_slice_close()
 *
 * A duplicate shares the event queue of @fd.
 *
 * Return: 0, -ENOTTY (the fd belongs to another kind of file) or a negative errno.
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
 * For poll() in the caller's own loop (readable: events wait; hung up: the slice or the fabric is
 * gone), and to pass it to other processes.
 *
 * Return: the fd, which the caller must not close.
 */
int morph_slice_get_fd(const struct morph_slice *slice);

/**
 * morph_slice_read() - read a slice with its ranks and circuits
 * @slice: the slice
 * @info: object of type "slice" with an object for each rank; may be NULL
 * @circuits: objects of type "circuit", without their paths; may be NULL
 *
 * Both are of the same moment.
 *
 * Return: 0, -ENODEV or a negative errno.
 */
int morph_slice_read(struct morph_slice *slice, struct morph_object **info,
		     struct morph_list **circuits);

/**
 * morph_slice_prefer() - choose the spare to try first if a rank's accelerator fails
 * @slice: the slice
 * @rank: the rank
 * @spare: one of the spares that the slice allows, or MORPH_ANY: no preference
 *
 * It holds until the rank has another accelerator.
 *
 * Return: 0, -ENOENT (no such rank or accelerator), -EBUSY (the spare is held, not healthy, or not
 * among those that the slice allows) or another negative errno.
 */
int morph_slice_prefer(struct morph_slice *slice, uint32_t rank, uint32_t spare);

/**
 * morph_slice_delete() - end a named slice
 * @fabric: the fabric
 * @which: its name or its number, as for morph_slice_open()
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

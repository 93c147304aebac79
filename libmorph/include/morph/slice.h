/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libmorph: slices. Included by <morph/morph.h>. */
#ifndef MORPH_SLICE_H
#define MORPH_SLICE_H

#include <morph/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ----------------------------------------------------------- slice requests */

/**
 * morph_slice_request_new() - begin a request for a slice
 * @ctx: the context
 *
 * Defaults: unnamed, automatic failover, transit any, spares of the same host,
 * nothing reserved.
 *
 * Return: the request, freed by morph_slice_request_free(); NULL when out of memory.
 */
struct morph_slice_request *morph_slice_request_new(struct morph_ctx *ctx);

/**
 * morph_slice_request_free() - free a request
 * @request: the request, or NULL
 */
void morph_slice_request_free(struct morph_slice_request *request);

/**
 * morph_slice_request_set_count() - ask for so many accelerators
 * @request: the request
 * @count: how many; the kernel chooses them close to each other
 *
 * Return: 0, or -EINVAL for 0.
 */
int morph_slice_request_set_count(struct morph_slice_request *request, uint32_t count);

/**
 * morph_slice_request_set_accelerators() - ask for these accelerators
 * @request: the request
 * @accelerators: indices in the order of ranks; copied
 * @count: how many
 *
 * Return: 0, -ENOMEM, or -EINVAL for none or for one that is named twice.
 */
int morph_slice_request_set_accelerators(struct morph_slice_request *request,
					 const uint32_t *accelerators, size_t count);

/**
 * morph_slice_request_set_failover() - what happens when an accelerator fails
 * @request: the request
 * @failover: enum morph_failover
 *
 * Return: 0, or -EINVAL for an unknown value.
 */
int morph_slice_request_set_failover(struct morph_slice_request *request, uint32_t failover);

/**
 * morph_slice_request_set_transit() - may circuits cross other tenants' tiles
 * @request: the request
 * @transit: enum morph_transit
 *
 * Return: 0, or -EINVAL for an unknown value.
 */
int morph_slice_request_set_transit(struct morph_slice_request *request, uint32_t transit);

/**
 * morph_slice_request_set_spare_policy() - which spares may step in
 * @request: the request
 * @policy: MORPH_SPARES_HOST or MORPH_SPARES_ANY; a list is given by
 *          morph_slice_request_set_spares()
 *
 * Return: 0, or -EINVAL for another value.
 */
int morph_slice_request_set_spare_policy(struct morph_slice_request *request, uint32_t policy);

/**
 * morph_slice_request_set_spares() - only these spares may step in
 * @request: the request
 * @spares: indices of accelerators; copied
 * @count: how many
 *
 * Return: 0, -ENOMEM, or -EINVAL for none or for one that is named twice.
 */
int morph_slice_request_set_spares(struct morph_slice_request *request, const uint32_t *spares,
				   size_t count);

/**
 * morph_slice_request_set_reserved() - hold a spare, and the lanes to it, for this slice alone
 * @request: the request
 * @reserved: whether to
 */
void morph_slice_request_set_reserved(struct morph_slice_request *request, bool reserved);

/**
 * morph_slice_request_set_controller() - assign the slice to a controller from its beginning
 * @request: the request
 * @controller: the controller's number; 0, the default: to none
 *
 * Without meaning to morph_slice_create(): who opens a fabric's node assigns nothing.
 */
void morph_slice_request_set_controller(struct morph_slice_request *request, uint32_t controller);

/**
 * morph_slice_request_set_name() - give the slice a name, so that it outlives its files
 * @request: the request
 * @name: 1 to 31 of [a-zA-Z0-9_.-]; NULL or "": none
 * @mode: permission bits of its node, 0 for 0600
 *
 * Return: 0, or -EINVAL for another character, -ENAMETOOLONG, or -EINVAL for a mode
 * beyond 0777.
 */
int morph_slice_request_set_name(struct morph_slice_request *request, const char *name,
				 uint32_t mode);

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
int morph_slice_create(struct morph_fabric *fabric, const struct morph_slice_request *request,
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

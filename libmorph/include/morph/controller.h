/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libmorph: several controllers of one fabric, over netlink. Included by <morph/morph.h>.
 *
 * DOC: Controllers
 *
 * A controller is a program that decides about some slices of a fabric. The kernel records which
 * controller decides about which slice, its epoch and its lease, and the owners of lanes between
 * servers. Documentation/controllers.rst states the guarantees.
 *
 * A controller that starts, or takes over from another, reads the epoch with morph_admin_get() and
 * takes control with the next one. It reads the last decisions with morph_admin_list(), reserves
 * lanes, and gives back the rest with morph_controller_settle().
 *
 * All calls need CAP_NET_ADMIN in the initial user namespace and wait for no device. They return 0
 * or a negative errno. All may return -ENOENT (no such fabric, controller or guide, or the module
 * is not loaded), -EPERM and -ENOMEM.
 */
#ifndef MORPH_CONTROLLER_H
#define MORPH_CONTROLLER_H

#include <morph/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MORPH_TAKE_FORCE 0x1u /* even while the lease of the present epoch runs */
#define MORPH_TAKE_RENEW 0x2u /* renew the lease of the present epoch */

/**
 * morph_controller_take() - take control or renew its lease
 * @ctx: the context
 * @fabric: the fabric
 * @controller: its number, not 0
 * @epoch: greater than the one that the kernel knows; with MORPH_TAKE_RENEW the present one
 * @lease_ns: 1 ms to 1 hour, from now on; control ends with it unless it is renewed
 * @flags: 0; MORPH_TAKE_FORCE if the holder is known to be gone; MORPH_TAKE_RENEW
 * @out: object of type "controller" afterwards; may be NULL
 *
 * MORPH_TAKE_RENEW fails with -ESTALE if another program has taken control, and with -ETIME if the
 * lease has ended.
 *
 * Return: 0, -ESTALE (the epoch is not greater), -EBUSY (the present lease runs), -EINVAL (unknown
 * flags; a lease out of range), -ERANGE (number or epoch are 0), -ENOSPC (too many) or another
 * negative errno.
 */
int morph_controller_take(struct morph_ctx *ctx, uint32_t fabric, uint32_t controller,
			  uint64_t epoch, uint64_t lease_ns, uint32_t flags,
			  struct morph_object **out);

/**
 * morph_controller_drop() - remove a controller, its epoch and its reservations
 * @ctx: the context
 * @fabric: the fabric
 * @controller: its number
 *
 * Return: 0, -EBUSY (slices are assigned to it) or another negative errno.
 */
int morph_controller_drop(struct morph_ctx *ctx, uint32_t fabric, uint32_t controller);

/**
 * morph_controller_step() - continue a prepared transaction of a controller's slice
 * @ctx: the context
 * @fabric: its fabric
 * @txn: its number
 * @verb: as for morph_txn_step()
 * @lease_ns: as for morph_txn_step()
 * @controller: the controller
 * @epoch: its present epoch
 * @out: object of type "txn"; may be NULL
 *
 * morph_txn_opts has the token of a new transaction.
 *
 * Return: as morph_txn_step(), or -EPERM (not this controller's slice), -ESTALE (another epoch),
 * -ETIME (the lease of the controller or of the transaction has ended).
 */
int morph_controller_step(struct morph_ctx *ctx, uint32_t fabric, uint32_t txn, uint32_t verb,
			  uint64_t lease_ns, uint32_t controller, uint64_t epoch,
			  struct morph_object **out);

/**
 * morph_controller_reserve() - reserve lanes of a guide that leads to another server
 * @ctx: the context
 * @fabric: the fabric
 * @controller: the controller
 * @epoch: its present epoch
 * @guide: the guide
 * @count: number of lanes, in place of those that it has of this guide; 0: give them back
 * @among: mask of the lanes to choose from; 0: any
 * @out: object of type "reservation" afterwards; may be NULL
 *
 * Return: 0, -EBUSY (other controllers hold too many lanes), -EINVAL (the guide stays within a
 * server; too many lanes), -EIO (the guide is out of use), -ESTALE, -ETIME or another negative
 * errno. The guide's attribute lanes-free has the free lanes.
 */
int morph_controller_reserve(struct morph_ctx *ctx, uint32_t fabric, uint32_t controller,
			     uint64_t epoch, uint32_t guide, uint32_t count, uint64_t among,
			     struct morph_object **out);

/**
 * struct morph_controller_end - one end of an edge, in its own fabric
 * @ctx: the context of the fabric's kernel: that of the other end, or another one
 * @fabric: the fabric
 * @edge: number of the edge there; the object of type "edge" has its guide
 * @epoch: the controller's present epoch in this fabric
 */
struct morph_controller_end {
	struct morph_ctx *ctx;
	uint32_t fabric;
	uint32_t edge;
	uint64_t epoch;
};

/**
 * morph_controller_reserve_edge() - reserve the same lanes at both ends of an edge
 * @ends: the ends, in any order: each names the fabric and the edge of the other
 * @controller: the controller; its number is the same in both fabrics
 * @count: number of lanes, in place of those that it has there; 0: give back both ends
 * @among: mask of the lanes to choose from; 0: any
 * @lanes: mask of the lanes that both ends have afterwards; may be NULL
 *
 * A circuit between two fabrics has the same lanes in both, and each fabric reserves its own. The
 * call chooses among the lanes that are available at both ends. It prefers lanes reserved at both
 * ends, then lanes of circuits of the controller's slices, then lanes reserved at one end, then the
 * lowest. Neither end gives back lanes before both have the new ones. If an end refuses because
 * another controller was faster, the call reads the free lanes again, a few times.
 *
 * On failure both ends have their old lanes, with two exceptions. The message names the end:
 *
 * - The kernel refused to restore an end, or was not reached. This end may have more lanes than
 *   before.
 * - Both ends have the lanes in @lanes, but one of them could not give back its other lanes.
 *
 * The call restores lanes in the present epoch. With @count 0 it gives back one end even if the
 * other fails.
 *
 * A program that dies during the call leaves lanes reserved without use, but nothing lit.
 * morph_admin_list() then lists reservations of one end only. The same call repairs this, by any
 * program and with any @count; so does morph_controller_settle() with a later epoch.
 *
 * The call makes about twelve requests that wait for no device. If the edge has a slice of the
 * controller, one of them dumps the circuits of that slice. The call uses both contexts; each, as
 * always, is used by one thread at a time. It notes a failure in both, and the message names the
 * end.
 *
 * A refused reservation replaces the overload of a link by controllers that decide without
 * communication: Symphony, "Stable and Fault-Tolerant Decentralized Traffic Engineering" (arXiv
 * 2510.11937), of which only the abstract was available.
 *
 * Return: 0; -EINVAL (the ends do not name each other, and nothing was requested; too many lanes);
 * -EBUSY, -EIO, -ESTALE and -ETIME as morph_controller_reserve(); or another negative errno.
 */
int morph_controller_reserve_edge(const struct morph_controller_end ends[2], uint32_t controller,
				  uint32_t count, uint64_t among, uint64_t *lanes);

/**
 * morph_controller_settle() - give back what earlier epochs requested last
 * @ctx: the context
 * @fabric: the fabric
 * @controller: its number
 * @epoch: its present epoch
 * @out: object of type "controller" afterwards; may be NULL
 *
 * Return: 0, -ESTALE, -ETIME or another negative errno.
 */
int morph_controller_settle(struct morph_ctx *ctx, uint32_t fabric, uint32_t controller,
			    uint64_t epoch, struct morph_object **out);

#ifdef __cplusplus
}
#endif

#endif /* MORPH_CONTROLLER_H */

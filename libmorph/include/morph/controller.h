/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libmorph: several controllers of one fabric, over netlink. Included by <morph/morph.h>.
 *
 * DOC: Controllers
 *
 * A controller is a program that decides about some slices of a fabric. The kernel keeps
 * who decides about which slice, under which epoch and until when, and which lanes between
 * servers are whose; Documentation/controllers.rst has what it promises. A controller that
 * starts, or takes over from another, reads the epoch with morph_admin_get(), takes
 * control with the next one, reads with morph_admin_list() what was last
 * decided, reserves what it wants, and gives back the rest with morph_controller_settle().
 *
 * All calls need CAP_NET_ADMIN in the initial user namespace, wait for no device, and return
 * 0 or a negative errno; besides those that are named, -ENOENT (no such fabric, controller
 * or guide, or the module is not loaded), -EPERM and -ENOMEM.
 */
#ifndef MORPH_CONTROLLER_H
#define MORPH_CONTROLLER_H

#include <morph/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MORPH_TAKE_FORCE 0x1u /* even while the lease of the present epoch runs */

/**
 * morph_controller_take() - take control, for the first time or from whoever had it
 * @ctx: the context
 * @fabric: the fabric
 * @controller: its number, not 0
 * @epoch: greater than the one that the kernel knows
 * @lease_ns: 1 ms to 1 hour; control ends with it unless it is renewed
 * @flags: 0, or MORPH_TAKE_FORCE where the holder is known to be gone
 * @out: object of type "controller" afterwards; may be NULL
 *
 * Return: 0, -ESTALE (the epoch is no greater), -EBUSY (the present lease runs), -EINVAL (an
 * unknown flag; a lease out of range), -ERANGE (number or epoch are 0), -ENOSPC (there are
 * too many) or another negative errno.
 */
int morph_controller_take(struct morph_ctx *ctx, uint32_t fabric, uint32_t controller,
			  uint64_t epoch, uint64_t lease_ns, uint32_t flags,
			  struct morph_object **out);

/**
 * morph_controller_renew() - renew the lease of the present epoch
 * @ctx: the context
 * @fabric: the fabric
 * @controller: its number
 * @epoch: the present epoch
 * @lease_ns: from now on
 * @out: object of type "controller" afterwards; may be NULL
 *
 * Return: 0, -ESTALE (somebody else has taken control), -ETIME (the lease has run out) or
 * another negative errno.
 */
int morph_controller_renew(struct morph_ctx *ctx, uint32_t fabric, uint32_t controller,
			   uint64_t epoch, uint64_t lease_ns, struct morph_object **out);

/**
 * morph_controller_drop() - forget a controller, its epoch and its reservations
 * @ctx: the context
 * @fabric: the fabric
 * @controller: its number
 *
 * Return: 0, -EBUSY (slices are assigned to it) or another negative errno.
 */
int morph_controller_drop(struct morph_ctx *ctx, uint32_t fabric, uint32_t controller);

/**
 * morph_controller_assign() - give a slice to a controller
 * @ctx: the context
 * @fabric: its fabric
 * @slice: its number
 * @controller: the controller, or 0: to none
 * @out: object of type "slice" afterwards; may be NULL
 *
 * Return: 0 or a negative errno.
 */
int morph_controller_assign(struct morph_ctx *ctx, uint32_t fabric, uint32_t slice,
			    uint32_t controller, struct morph_object **out);

/**
 * morph_controller_step() - go on with a prepared transaction of a controller's slice
 * @ctx: the context
 * @fabric: its fabric
 * @txn: its number
 * @verb: as for morph_txn_step()
 * @lease_ns: as for morph_txn_step()
 * @controller: on whose behalf
 * @epoch: its present epoch
 * @out: object of type "txn"; may be NULL
 *
 * morph_txn_opts has the token of a new transaction.
 *
 * Return: as morph_txn_step(), or -EPERM (not this controller's slice), -ESTALE
 * (another epoch), -ETIME (the controller's lease has run out, or the transaction's).
 */
int morph_controller_step(struct morph_ctx *ctx, uint32_t fabric, uint32_t txn, uint32_t verb,
			  uint64_t lease_ns, uint32_t controller, uint64_t epoch,
			  struct morph_object **out);

/**
 * morph_controller_reserve() - reserve lanes of a guide that leads to another server
 * @ctx: the context
 * @fabric: the fabric
 * @controller: for whom
 * @epoch: its present epoch
 * @guide: the guide
 * @count: how many, instead of what it has of this guide; 0: give that back
 * @among: mask of the lanes to choose from; 0: any
 * @out: object of type "reservation" afterwards; may be NULL
 *
 * Return: 0, -EBUSY (others have reserved or lit too many of them; what nobody has is in the
 * guide's attribute lanes-free), -EINVAL (the guide stays within a server; more than there are
 * to choose from), -EIO (the guide is out of use), -ESTALE, -ETIME or another negative errno.
 */
int morph_controller_reserve(struct morph_ctx *ctx, uint32_t fabric, uint32_t controller,
			     uint64_t epoch, uint32_t guide, uint32_t count, uint64_t among,
			     struct morph_object **out);

/**
 * struct morph_controller_end - one end of an edge, in its own fabric
 * @ctx: the context of the fabric's kernel; that of the other end, or another one
 * @fabric: the fabric
 * @edge: the edge, by its number there; its guide is that of the object of type "edge"
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
 * @controller: for whom; its number is the same in both fabrics
 * @count: how many lanes, instead of what it has there; 0: give back both ends
 * @among: mask of the lanes to choose from; 0: any
 * @lanes: mask of the lanes that both ends have then; may be NULL
 *
 * A circuit between two fabrics has the same lanes in both, and each is reserved in its own. Of the
 * lanes that both may have these are taken first: those that are reserved at both, those that
 * circuits of the controller's slices have, those that are reserved at one, then the lowest. Neither
 * end gives back anything before both have what is wanted. Where one refuses because others have been
 * faster, what is free is read anew, a few times.
 *
 * On failure both ends have the lanes that they had before. There are two exceptions, and the text
 * names the end: where that could not be put back since the kernel refuses or is not reached, which
 * may leave an end with more than it had; and where both ends have the lanes, as @lanes
 * tells, but one of them could not give back what is beyond. What was put back was asked for in the
 * present epoch. With @count 0 one end is given back although the other cannot be.
 *
 * Who dies between the two ends, or between them and giving back, leaves lanes reserved that are in no
 * use, but nothing lit. They are the reservations that morph_admin_list() tells of one end and not
 * of the other. The same call heals it, by whomever, with any @count; so does morph_controller_settle()
 * with a later epoch.
 *
 * It costs about twelve requests, none of which waits for a device; one of them, where the edge has a
 * slice of the controller's, is a dump of that slice's circuits. Both contexts are in use meanwhile;
 * each, as ever, by one thread at a time. A failure is noted in both, and its text names the end at
 * which it was.
 *
 * A reservation that is refused stands in the place of a link that is overloaded, by controllers that
 * decide without talking to one another: Symphony, "Stable and Fault-Tolerant Decentralized Traffic
 * Engineering" (arXiv 2510.11937), of which only the abstract was at hand.
 *
 * Return: 0; -EINVAL (the ends do not name each other, and nothing was asked for; more than there are to
 * choose from); -EBUSY, -EIO, -ESTALE and -ETIME as morph_controller_reserve(); or another negative
 * errno.
 */
int morph_controller_reserve_edge(const struct morph_controller_end ends[2], uint32_t controller,
				  uint32_t count, uint64_t among, uint64_t *lanes);

/**
 * morph_controller_settle() - give back what was last asked for in earlier epochs
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

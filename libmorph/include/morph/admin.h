/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libmorph: administration, over netlink. Included by <morph/morph.h>.
 *
 * DOC: Administration
 *
 * All calls need the initial network namespace. Any user may read fabrics, accelerators, guides,
 * elements, unhealthy hardware and statistics. Everything else needs CAP_NET_ADMIN in the initial
 * user namespace. For calls that return a list, a @fabric of MORPH_ANY means all fabrics.
 *
 * No call waits for a device. Longer actions are queued: the reply has the number of a transaction,
 * and a monitor receives its end. To wait for it, call morph_monitor_new(), then the action, then
 * morph_monitor_wait_txn().
 *
 * All calls return 0 or a negative errno. All may return -ENOENT (the module is not loaded, or
 * there is no such object), -EPERM, -ENODEV (no such fabric) and -ENOMEM. Lists also return -EAGAIN
 * if all attempts of a dump were torn. After -ENOMEM the action may have happened, because the
 * answer may be what had no memory.
 */
#ifndef MORPH_ADMIN_H
#define MORPH_ADMIN_H

#include <morph/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --------------------------------------------------------------------- read */

/*
 * With MORPH_OBJECT_SLICE or MORPH_OBJECT_CIRCUIT: read through device nodes. The calls then need
 * neither netlink nor CAP_NET_ADMIN, and find only slices whose nodes the caller may open. Such
 * objects have no owner, mode, controller and quota, and circuits in lists have no path.
 */
#define MORPH_OWN 0x80000000u

/**
 * morph_admin_get() - read one object by its number
 * @ctx: the context
 * @type: MORPH_OBJECT_FABRIC, MORPH_OBJECT_ACCELERATOR, MORPH_OBJECT_GUIDE, MORPH_OBJECT_ELEMENT,
 *	MORPH_OBJECT_EDGE, MORPH_OBJECT_SLICE, MORPH_OBJECT_CIRCUIT, MORPH_OBJECT_TXN or
 *	MORPH_OBJECT_CONTROLLER; slices and circuits also with MORPH_OWN
 * @fabric: number of the fabric
 * @parent: of MORPH_OBJECT_CIRCUIT the slice; ignored for other types
 * @id: number of the object in the fabric, or in its slice; ignored for MORPH_OBJECT_FABRIC
 * @out: object of that type, freed by morph_object_free(). An object of type "slice" contains its
 *	ranks, one of type "txn" its changes, one of type "circuit" its path. Only administrators
 *	read the slice and the rank of an accelerator
 *
 * Return: 0, -EINVAL (another type) or a negative errno.
 */
int morph_admin_get(struct morph_ctx *ctx, uint32_t type, uint32_t fabric, uint32_t parent,
		    uint32_t id, struct morph_object **out);

/**
 * morph_admin_list() - read all objects of a type
 * @ctx: the context
 * @type: a type that morph_admin_get() reads, or MORPH_OBJECT_HARDWARE, MORPH_OBJECT_QUOTA,
 *	MORPH_OBJECT_STATS or MORPH_OBJECT_RESERVATION
 * @fabric: number of the fabric, or MORPH_ANY; ignored for MORPH_OBJECT_FABRIC and
 *	MORPH_OBJECT_QUOTA
 * @parent: of MORPH_OBJECT_CIRCUIT the slice, of MORPH_OBJECT_RESERVATION the controller;
 *	MORPH_ANY: all of them. Ignored for other types
 * @out: objects of that type, freed by morph_list_free()
 *
 * The list contains these objects:
 *
 * * transactions: those that run, and the last that ended;
 * * circuits: with their paths;
 * * hardware: only hardware that is cordoned or not healthy;
 * * quotas: the limits of all users and grants. The quota without uid and grant is the default.
 *
 * Return: 0, -EINVAL (another type) or a negative errno.
 */
int morph_admin_list(struct morph_ctx *ctx, uint32_t type, uint32_t fabric, uint32_t parent,
		     struct morph_list **out);

/* ---------------------------------------------------------------------- act */

#define MORPH_SET_USE 0x1u /* morph_accelerator_opts: change use */
#define MORPH_SET_PCI 0x2u /* morph_accelerator_opts: change pci */
#define MORPH_SET_FAILOVER 0x4u /* morph_slice_set_opts: change failover */
#define MORPH_SET_OWNER 0x8u /* morph_slice_set_opts: change owner */
#define MORPH_SET_MODE 0x10u /* morph_slice_set_opts: change mode */
#define MORPH_SET_CONTROLLER 0x20u /* morph_slice_set_opts: change controller */
#define MORPH_SET_PREFERENCES 0x40u /* morph_slice_set_opts: change preferences */

/**
 * struct morph_accelerator_opts - changes of an accelerator
 * @sz: size of this structure
 * @pci: PCI address as in lspci -D, "" for none; if MORPH_SET_PCI is set
 * @use: MORPH_USE_FREE or MORPH_USE_SPARE, if MORPH_SET_USE is set
 * @set: MORPH_SET_USE, MORPH_SET_PCI
 */
struct morph_accelerator_opts {
	size_t sz;
	const char *pci;
	uint32_t use;
	uint32_t set;
};

/**
 * morph_admin_accelerator_set() - change whether an accelerator is a spare,
 * or set its PCI address
 * @ctx: the context
 * @fabric: its fabric
 * @accelerator: its index
 * @opts: what to change
 * @out: object of type "accelerator" afterwards; may be NULL
 *
 * Return: 0, -EINVAL (nothing to change; an unknown bit), -EBUSY (held) or another
 * negative errno.
 */
int morph_admin_accelerator_set(struct morph_ctx *ctx, uint32_t fabric, uint32_t accelerator,
				const struct morph_accelerator_opts *opts,
				struct morph_object **out);

/**
 * morph_admin_slice_create() - create a named slice for a user
 * @ctx: the context
 * @fabric: the fabric
 * @request: what is wanted; must have a name
 * @owner: user id that it is charged to, and that owns its node
 * @out: object of type "slice"; may be NULL
 *
 * Return: 0, -EINVAL (no name; neither count nor accelerators) or as
 * morph_slice_create().
 */
int morph_admin_slice_create(struct morph_ctx *ctx, uint32_t fabric,
			     const struct morph_request *request, uint32_t owner,
			     struct morph_object **out);

/**
 * struct morph_preference - the spare to try first if a rank's accelerator fails
 * @rank: the rank
 * @spare: one of the spares that the slice allows, or MORPH_ANY: no preference
 */
struct morph_preference {
	uint32_t rank;
	uint32_t spare;
};

/**
 * struct morph_slice_set_opts - changes of a slice
 * @sz: size of this structure
 * @failover: enum morph_failover, if MORPH_SET_FAILOVER is set
 * @owner: user id, if MORPH_SET_OWNER is set
 * @mode: permission bits of its node, if MORPH_SET_MODE is set
 * @set: MORPH_SET_FAILOVER, MORPH_SET_OWNER, MORPH_SET_MODE, MORPH_SET_CONTROLLER,
 *	MORPH_SET_PREFERENCES
 * @controller: controller to assign the slice to, or 0: to none; if MORPH_SET_CONTROLLER is set
 * @preferences_count: how many @preferences, at least 1
 * @preferences: of these ranks, if MORPH_SET_PREFERENCES is set; other ranks keep theirs. A
 *	preference holds until the rank has another accelerator. All are set, or none
 */
struct morph_slice_set_opts {
	size_t sz;
	uint32_t failover;
	uint32_t owner;
	uint32_t mode;
	uint32_t set;
	uint32_t controller;
	uint32_t preferences_count;
	const struct morph_preference *preferences;
};

/**
 * morph_admin_slice_set() - change the settings of a slice
 * @ctx: the context
 * @fabric: its fabric
 * @slice: its number
 * @opts: what to change
 * @out: object of type "slice" afterwards; may be NULL
 *
 * A preferred spare must be free, healthy and among those that the slice allows; else -EBUSY.
 *
 * Return: 0, -EINVAL (nothing to change; an unknown bit; no preferences), -ENOENT (no such
 * controller, rank or accelerator) or another negative errno.
 */
int morph_admin_slice_set(struct morph_ctx *ctx, uint32_t fabric, uint32_t slice,
			  const struct morph_slice_set_opts *opts, struct morph_object **out);

/**
 * morph_admin_slice_delete() - end a slice
 * @ctx: the context
 * @fabric: its fabric
 * @slice: its number
 * @force: even while it is open
 *
 * Return: 0, -EBUSY or another negative errno.
 */
int morph_admin_slice_delete(struct morph_ctx *ctx, uint32_t fabric, uint32_t slice, bool force);

/**
 * morph_admin_circuit_apply() - change the circuits of a slice
 * @ctx: the context
 * @fabric: its fabric
 * @slice: its number
 * @txn: the changes; a dry run is answered at once, others are queued
 * @out: object of type "txn": id and outcome (running), for a dry run the verdict; may be NULL.
 *	Given on failure too, if the kernel answered
 *
 * A queued transaction may have failed by the time of the reply. The call then fails too.
 *
 * Return: 0, -EINVAL (no changes; each and prepare at once; the changes do not fit into one
 * message) or as morph_txn_run().
 */
int morph_admin_circuit_apply(struct morph_ctx *ctx, uint32_t fabric, uint32_t slice,
			      const struct morph_txn *txn, struct morph_object **out);

/**
 * morph_admin_hardware_set() - cordon or uncordon a piece of hardware
 * @ctx: the context
 * @fabric: its fabric
 * @part: enum morph_part
 * @index: which one
 * @cordoned: give it to no new circuit or slice
 * @out: object of type "hardware" afterwards; may be NULL
 *
 * Return: 0 or a negative errno.
 */
int morph_admin_hardware_set(struct morph_ctx *ctx, uint32_t fabric, uint32_t part, uint32_t index,
			     bool cordoned, struct morph_object **out);

/**
 * morph_admin_hardware_fail() - declare a piece of hardware failed
 * @ctx: the context
 * @fabric: its fabric
 * @part: enum morph_part
 * @index: which one
 * @out: object of type "hardware", with the number of the act, txn, if one was queued;
 *       may be NULL
 *
 * Return: 0 or a negative errno.
 */
int morph_admin_hardware_fail(struct morph_ctx *ctx, uint32_t fabric, uint32_t part, uint32_t index,
			      struct morph_object **out);

#define MORPH_TEST_ACCEPT 0x1u /* accept the present accelerator as the known one */

/**
 * morph_admin_hardware_test() - test hardware, and let it back into use if it passes
 * @ctx: the context
 * @fabric: its fabric
 * @part: enum morph_part
 * @index: which one
 * @flags: 0, or MORPH_TEST_ACCEPT for an accelerator that was exchanged for another
 * @out: object of type "hardware", with the number of the act, txn, if one was queued;
 *       may be NULL
 *
 * Return: 0, -EINVAL (an unknown flag), -EOPNOTSUPP (MORPH_TEST_ACCEPT, and it is no
 * accelerator) or another negative errno.
 */
int morph_admin_hardware_test(struct morph_ctx *ctx, uint32_t fabric, uint32_t part, uint32_t index,
			      uint32_t flags, struct morph_object **out);

/**
 * morph_admin_replace() - replace the accelerator behind a rank, now
 * @ctx: the context
 * @fabric: the fabric
 * @slice: the slice
 * @rank: the rank
 * @spare: the accelerator to take, or MORPH_ANY
 * @out: object of type "replace" with the number of the act that was queued, txn;
 *       may be NULL
 *
 * Return: 0, -ENOSPC (no spare) or another negative errno.
 */
int morph_admin_replace(struct morph_ctx *ctx, uint32_t fabric, uint32_t slice, uint32_t rank,
			uint32_t spare, struct morph_object **out);

#define MORPH_WHY_NOT_RING 0x1u /* morph_why_not_opts: also a ring over the accelerators */
#define MORPH_WHY_NOT_OWN 0x2u /* morph_why_not_opts: through the device node, without netlink */

/**
 * struct morph_why_not_opts - a request to evaluate
 * @sz: size of this structure
 * @accelerators: these, in the order of ranks; NULL: @count of the kernel's choice
 * @accelerators_count: number of @accelerators
 * @count: number of accelerators, if @accelerators is NULL
 * @transit: enum morph_transit
 * @flags: MORPH_WHY_NOT_RING | MORPH_WHY_NOT_OWN
 * @lanes_count: wavelengths of each circuit of the ring, 0 for 1
 */
struct morph_why_not_opts {
	size_t sz;
	const uint32_t *accelerators;
	size_t accelerators_count;
	uint32_t count;
	uint32_t transit;
	uint32_t flags;
	uint32_t lanes_count;
};

/**
 * morph_admin_why_not() - would a request be granted, and if not, what blocks it
 * @ctx: the context
 * @fabric: the fabric
 * @opts: the request
 * @out: object of type "why-not": reason ("none": it would be granted), what stands in
 *       the way, numbers, the kernel's sentence, or the accelerators it would give
 *
 * With MORPH_WHY_NOT_OWN the caller needs a fabric node that it may open. The answer counts the
 * caller's own quota, too, and names no accelerators.
 *
 * Return: 0 whatever the answer is, -EINVAL (neither count nor accelerators), -EOPNOTSUPP (both
 * flags, and the kernel is too old for that), or another negative errno.
 */
int morph_admin_why_not(struct morph_ctx *ctx, uint32_t fabric,
			const struct morph_why_not_opts *opts, struct morph_object **out);

#define MORPH_QUOTA_ACCELERATORS 0x1u /* morph_quota_opts: change accelerators */
#define MORPH_QUOTA_CIRCUITS 0x2u /* morph_quota_opts: change circuits */
#define MORPH_QUOTA_LANES 0x4u /* morph_quota_opts: change lanes */
#define MORPH_QUOTA_PREPARED 0x8u /* morph_quota_opts: change prepared */
#define MORPH_QUOTA_REPLACEMENTS 0x10u /* morph_quota_opts: change replacements */
#define MORPH_QUOTA_BYTES 0x20u /* morph_quota_opts: change bytes */

/**
 * struct morph_quota_opts - limits to change
 * @sz: size of this structure
 * @bytes: kernel memory
 * @accelerators: accelerators
 * @circuits: circuits
 * @lanes: lanes of circuits
 * @prepared: prepared transactions
 * @replacements: replacements of each slice in an hour that its owner asks for
 * @set: MORPH_QUOTA_*: which of them are meant
 * @grant: change those of this grant instead of a user's; 0: a user's, or the default
 */
struct morph_quota_opts {
	size_t sz;
	uint64_t bytes;
	uint32_t accelerators;
	uint32_t circuits;
	uint32_t lanes;
	uint32_t prepared;
	uint32_t replacements;
	uint32_t set;
	uint32_t grant;
};

/**
 * morph_admin_quota_set() - change the limits of a user or a grant, or the default
 * @ctx: the context
 * @uid: user id, or MORPH_ANY for the default, and where @opts names a grant
 * @opts: the limits
 * @out: object of type "quota" afterwards; may be NULL
 *
 * Return: 0, -EINVAL (nothing to change; an unknown bit) or another negative errno.
 */
int morph_admin_quota_set(struct morph_ctx *ctx, uint32_t uid, const struct morph_quota_opts *opts,
			  struct morph_object **out);

#ifdef __cplusplus
}
#endif

#endif /* MORPH_ADMIN_H */

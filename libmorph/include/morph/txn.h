/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libmorph: transactions. Included by <morph/morph.h>. */
#ifndef MORPH_TXN_H
#define MORPH_TXN_H

#include <morph/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MORPH_CIRCUIT_SRC_PLANE 0x1u /* morph_circuit_opts: src_plane is set */
#define MORPH_CIRCUIT_DST_PLANE 0x2u /* morph_circuit_opts: dst_plane is set */

/**
 * struct morph_circuit_opts - options of a circuit
 * @sz: size of this structure
 * @guides: the path, guides in the direction of light; NULL: the kernel routes
 * @guides_count: number of @guides
 * @lanes: mask of the wavelengths that may be used; 0: any
 * @lanes_count: number of wavelengths; 0: all of @lanes, or 1
 * @src_plane: transmit port, if MORPH_CIRCUIT_SRC_PLANE is set
 * @dst_plane: receive port, if MORPH_CIRCUIT_DST_PLANE is set
 * @flags: MORPH_CIRCUIT_SRC_PLANE, MORPH_CIRCUIT_DST_PLANE
 */
struct morph_circuit_opts {
	size_t sz;
	const uint32_t *guides;
	size_t guides_count;
	uint64_t lanes;
	uint32_t lanes_count;
	uint32_t src_plane;
	uint32_t dst_plane;
	uint32_t flags;
};

/**
 * morph_txn_new() - begin a transaction
 * @ctx: the context
 *
 * Nothing reaches the kernel before morph_txn_run() or morph_admin_circuit_apply().
 *
 * Return: the transaction, freed by morph_txn_free(); NULL when out of memory.
 */
struct morph_txn *morph_txn_new(struct morph_ctx *ctx);

/**
 * morph_txn_free() - free a transaction
 * @txn: the transaction, or NULL
 */
void morph_txn_free(struct morph_txn *txn);

/**
 * morph_txn_split() - divide a transaction that is too large
 * @txn: the transaction; it keeps the first changes, within the kernel's limit
 * @rest: where to put a transaction with the others, freed by morph_txn_free(); NULL if there are
 *	none
 *
 * A transaction takes any number of changes here. The kernel takes at most 1024 changes in one, and
 * a message at most 192 KiB. Light the circuits of a large plan in parts:
 *
 *	for (; txn && !error; morph_txn_free(txn), txn = rest)
 *		error = morph_txn_split(txn, &rest) ? : morph_txn_run(slice, txn, NULL);
 *
 * Each part is all or nothing, but all parts together are not: a failure in between leaves the
 * slice with some of its circuits. The rest has the settings of @txn, except the cookie, which
 * names one transaction, and the generation, which the first part changes. Numbers of changes
 * restart at 0.
 *
 * Return: 0 or -ENOMEM; then @txn is as before.
 */
int morph_txn_split(struct morph_txn *txn, struct morph_txn **rest);

/**
 * morph_txn_add() - light a new circuit
 * @txn: the transaction
 * @src_rank: rank that sends, or MORPH_RANK_EDGE | edge
 * @dst_rank: rank that receives, or MORPH_RANK_EDGE | edge
 * @opts: options, or NULL
 *
 * Return: the number of the change within the transaction, -EINVAL (both ranks are the same;
 * unknown flags; a plane beyond 65534), -E2BIG (unknown options) or -ENOMEM.
 */
int morph_txn_add(struct morph_txn *txn, uint32_t src_rank, uint32_t dst_rank,
		  const struct morph_circuit_opts *opts);

/**
 * morph_txn_remove() - darken a circuit
 * @txn: the transaction
 * @circuit: its number
 *
 * Return: the number of the change, or -ENOMEM.
 */
int morph_txn_remove(struct morph_txn *txn, uint32_t circuit);

/**
 * morph_txn_move() - reroute a circuit, make before break if lanes allow
 * @txn: the transaction
 * @circuit: its number
 * @opts: options, or NULL: the kernel chooses
 *
 * Return: as morph_txn_add().
 */
int morph_txn_move(struct morph_txn *txn, uint32_t circuit, const struct morph_circuit_opts *opts);

/**
 * morph_txn_count() - how many changes a transaction has
 * @txn: the transaction
 *
 * Return: the number. Never fails.
 */
size_t morph_txn_count(const struct morph_txn *txn);

/**
 * struct morph_txn_opts - how a transaction runs
 * @sz: size of this structure
 * @lease_ns: how long resources are held for a prepared transaction, 1 ms to 1 hour;
 *	morph_txn_step() lights it. 0: do not prepare
 * @epoch: present epoch of @controller
 * @controller: the controller that the slice is assigned to; 0: no controller.
 *	morph_txn_run() ignores it: a tenant's file needs no controller
 * @profile_checksum: checksum of the profile that the changes were planned for, see
 *	morph_model_info(): another profile is refused with ESTALE. 0: any profile
 * @flags: MORPH_TXN_DRY_RUN: only stage and validate. MORPH_TXN_EACH: each change is a transaction
 *	of its own. These two and a lease exclude each other
 * @reserved: 0
 */
struct morph_txn_opts {
	size_t sz;
	uint64_t lease_ns;
	uint64_t epoch;
	uint32_t controller;
	uint32_t profile_checksum;
	uint32_t flags;
	uint32_t reserved;
};

/**
 * morph_txn_set_opts() - set all options of a transaction
 * @txn: the transaction
 * @opts: options, which replace those set before; NULL: all defaults
 *
 * Return: 0, -EINVAL (unknown flags) or -E2BIG (unknown options). On failure the transaction keeps
 * its options.
 */
int morph_txn_set_opts(struct morph_txn *txn, const struct morph_txn_opts *opts);

/**
 * morph_txn_set_generation() - refuse with ESTALE when the slice has another generation
 * @txn: the transaction
 * @generation: the generation of the snapshot that the changes were made from;
 *              MORPH_GENERATION_ANY, the default: do not check
 */
void morph_txn_set_generation(struct morph_txn *txn, uint64_t generation);

/**
 * morph_txn_truncate() - forget the changes that were added last
 * @txn: the transaction
 * @count: how many changes stay
 */
void morph_txn_truncate(struct morph_txn *txn, size_t count);

/**
 * morph_txn_run() - change a slice's circuits
 * @slice: the slice
 * @txn: what to change; may be run again
 * @out: object of type "txn": outcome, seq, generation, id (when prepared), times,
 *       and an object per change with its circuit, planes, lanes, dark-ns, status,
 *       reason, part and index; may be NULL. Given on failure too, when the
 *       kernel answered. NULL inside when there is no memory for it, which
 *       takes nothing back
 *
 * Waits until the light is as asked, verified; or as before. With each, a failure
 * of one change is in that change's status.
 *
 * Return: 0, -EINVAL (no changes; two of dry run, each and prepare at once), -E2BIG (more than 1024
 * changes), or as MORPH_TXN_RUN.
 */
int morph_txn_run(struct morph_slice *slice, const struct morph_txn *txn,
		  struct morph_object **out);

/**
 * morph_txn_step() - continue a prepared transaction
 * @slice: the slice
 * @id: its number
 * @verb: enum morph_txn_verb
 * @lease_ns: for MORPH_TXN_COMMIT and MORPH_TXN_VERIFY: time within which the next step must come;
 *	0: the old length, from now on
 * @out: object of type "txn": id, outcome, seq, lease-ns, times; may be NULL, and NULL inside as
 *	with morph_txn_run()
 *
 * Return: 0, -ENOENT, -ETIME (the lease has ended), -ECANCELED (revoked), -EAGAIN (no light comes
 * in over an edge yet) or another negative errno.
 */
int morph_txn_step(struct morph_slice *slice, uint32_t id, uint32_t verb, uint64_t lease_ns,
		   struct morph_object **out);

/**
 * typedef morph_plan_fn - makes a plan from a fresh snapshot
 * @info: object of type "slice"
 * @circuits: its circuits
 * @txn: an empty transaction for the changes; its generation is set
 * @arg: the caller's
 *
 * Return: 0; 1 if there is nothing to change; or a negative errno, which ends the call.
 */
typedef int (*morph_plan_fn)(const struct morph_object *info, const struct morph_list *circuits,
			     struct morph_txn *txn, void *arg);

#define MORPH_RING_BOTH_WAYS 0x1u /* morph_ring_opts: circuits in both directions */

/**
 * struct morph_ring_opts - options of a ring
 * @sz: size of this structure
 * @ranks: ranks in the order of the ring; NULL: all, in their order
 * @ranks_count: number of @ranks
 * @lanes_count: wavelengths of each circuit, 0 for 1
 * @flags: MORPH_RING_BOTH_WAYS
 * @attempts: limit of retries if other changes come first, 0 for 8
 * @reserved: 0
 */
struct morph_ring_opts {
	size_t sz;
	const uint32_t *ranks;
	size_t ranks_count;
	uint32_t lanes_count;
	uint32_t flags;
	uint32_t attempts;
	uint32_t reserved;
};

/**
 * morph_slice_light_ring() - light a ring over a slice's ranks, in one transaction
 * @slice: the slice
 * @opts: options, or NULL
 * @out: object of type "txn"; may be NULL
 *
 * Existing circuits between the same ranks, with at least the same number of lanes, stay unchanged:
 * a second call changes nothing.
 *
 * Return: 0, -EINVAL (fewer than two ranks; a rank that is named twice), -ENOENT (no such rank) or
 * as morph_txn_run().
 */
int morph_slice_light_ring(struct morph_slice *slice, const struct morph_ring_opts *opts,
			   struct morph_object **out);

#ifdef __cplusplus
}
#endif

#endif /* MORPH_TXN_H */
